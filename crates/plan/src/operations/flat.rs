//! The instructions of flat programs. Queries that store values along a game are compiled to such programs. A *node* is a position
//! of the game, identified by its number.
//!
//! An `echo` compares pairs of positions; the first position of a pair is its *source*, and the second its *target*.

use super::{
    EntryInstr, FlatChain, FlatMove, KeyOrder, MoveInstr, RayInstr, TextInstr,
    registers::{Label, RegisterWord},
};
use crate::{columns::TagText, op::Op};
use orbit_core::board::PieceSet;
use orbit_query::tree::{Arith, Cmp, Dictionary, DictionaryId, Holds, Var, VarId};

/// A program that runs at each node of a game. The module `flat` of this crate compiles such programs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FlatProgram {
    /// The code that runs at each node. It ends with [`Instr::End`].
    pub code: Vec<Instr>,
    /// The words that [`Instr::Const`] loads.
    pub constants: Vec<u64>,
    /// The tests of moves that [`Instr::Fits`] performs.
    pub edges: Vec<FlatEdge>,
    /// The tests of moves that [`MoveInstr::Played`] performs.
    pub moves: Vec<FlatMove>,
    /// The chains that [`Instr::Chain`] searches for.
    pub chains: Vec<FlatChain>,
    /// For each operand, true if the program reads it as a mask.
    pub masks: Vec<bool>,
    /// The number of variables. They occupy the first registers.
    pub vars: usize,
    /// The number of registers.
    pub words: usize,
    /// The register of the result. If the result is a mask, any value but 0 means true.
    pub result: RegisterWord,
    /// True if the result is a mask.
    pub is_mask: bool,
    /// The tests that find the targets of `echo`.
    pub pairs: Vec<PairSearch>,
    /// The tests that [`Instr::SeekMove`] and [`PairSearch`] use.
    pub seeks: Vec<MoveSeek>,
    /// The number of searches in the code whose results are stored, so that later searches can reuse them.
    pub sites: usize,
    /// True if the program distinguishes individual pieces of the game, and not only their kinds.
    pub pieces: bool,
    /// The strings of the program: see [`LITERALS`](super::LITERALS).
    pub texts: Vec<String>,
    /// The strings that are the same throughout a game, such as tags.
    pub of_games: Vec<TagText>,
    /// The regular expressions.
    pub patterns: Vec<String>,
    /// The order of each dictionary's keys.
    pub dictionaries: Vec<KeyOrder>,
    /// The number of loops over dictionary keys.
    pub key_loops: usize,
    /// The variables and dictionaries that keep their values from game to game; `None` if there are none.
    pub run: Option<FlatRun>,
    /// The expected run time of the program at one position, in instructions.
    pub time: u64,
}

/// The variables and dictionaries of a program that keep their values from one game to the next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FlatRun {
    /// The number of the query to which these variables and dictionaries belong.
    pub query: usize,
    /// Each variable, and the kind of its values.
    pub vars: Vec<(VarId, Holds)>,
    /// Each dictionary, and the kinds of its keys and values. The kinds are `None` if the query writes no entry of the dictionary.
    pub dictionaries: Vec<(DictionaryId, Option<[Holds; 2]>)>,
}

impl FlatRun {
    /// Returns the variables and dictionaries of a query that outlive games, or `None` if there are none.
    pub(crate) fn from_query(query: usize, vars: &[Var], dictionaries: &[Dictionary]) -> Option<FlatRun> {
        let vars = vars.iter().zip(0..).filter(|(var, _)| var.life.outlives_games());
        let dictionaries = dictionaries.iter().zip(0..).filter(|(of, _)| of.life.outlives_games());
        let run = FlatRun {
            query,
            vars: vars.map(|(var, id)| (VarId(id), var.holds)).collect(),
            dictionaries: dictionaries
                .map(|(of, id)| (DictionaryId(id), of.keys.zip(of.values).map(|(key, value)| [key, value])))
                .collect(),
        };
        (!run.vars.is_empty() || !run.dictionaries.is_empty()).then_some(run)
    }
}

/// A test of a move that was played. A field that is `None` or false accepts every move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlatEdge {
    /// The register of the squares that the move may leave.
    pub from: Option<RegisterWord>,
    /// The register of the squares that the move may reach or, if `capture` is true, on which it may capture.
    pub to: Option<RegisterWord>,
    /// True if the move must be a capture.
    pub capture: bool,
    /// The pieces to which the move may promote. If present, the move must be a promotion.
    pub promotion: Option<PieceSet>,
    /// The register of a string with the letters of the pieces to which the move may promote. If present, the move must be a
    /// promotion.
    pub letters: Option<RegisterWord>,
}

/// A test of the moves that are played from a node (a position of the game). The filter for which a search looks can match at the
/// node only if one of these moves passes, so the search skips all other nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct MoveSeek {
    /// The register of the squares that the move may leave. `None` allows all squares.
    pub from: Option<RegisterWord>,
    /// The register of the squares that the move may reach. `None` allows all squares.
    pub to: Option<RegisterWord>,
    /// The register of the piece that must move. `None` allows every piece.
    pub piece: Option<RegisterWord>,
    /// The variables that the searched filter reads. If one of them is unbound, no node is skipped.
    pub vars: Vec<u16>,
}

/// Tests that the source and the target of an `echo` must pass before the body is evaluated. They are derived from the beginning of
/// the body: if a pair fails here, the body would fail as well, before it stores anything.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PairSearch {
    /// The tests that a pair of positions must pass. Tests that concern only the source, the first position, come first.
    pub tests: Vec<PairTest>,
    /// The index of the first of four operands with the bit planes of the board. `None` if no test compares two boards.
    pub planes: Option<u16>,
    /// The index of a move test ([`MoveSeek`]). A move that is played at the target, the second position of the pair, must pass
    /// this test. `None` if there is no test.
    pub moves: Option<u16>,
}

/// One test of a pair of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum PairTest {
    /// A mask is true at the source (the first position of the pair) or, if `source` is false, at the target (the second).
    Mask { mask: u16, source: bool },
    /// A mask is true at the source (the first position of the pair), or another mask is true at the target (the second).
    Either { source: u16, target: u16 },
    /// The numbers of the source and the target, the two positions of the pair, are in the given relation.
    Order(Cmp),
    /// Two sets are equal, or differ if `equal` is false.
    Sets { equal: bool, left: PairWord, right: PairWord },
    /// Two numbers have values and are in the given relation.
    Compare { cmp: Cmp, left: PairWord, right: PairWord },
}

/// A word that is computed for a pair of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum PairWord {
    /// The word of an operand at the source, the first position of the pair.
    Source(u16),
    /// The word of an operand at the target, the second position of the pair.
    Target(u16),
    /// A constant, the same word for all pairs.
    Constant(u64),
    /// The squares that have the same content at the source and at the target or, if `others` is true, all other squares. If
    /// `count` is true, the number of these squares.
    Same { others: bool, count: bool },
    /// The intersection of a set at the source (the first position of the pair) with a set at the target (the second).
    Both { source: u16, target: u16 },
    /// The square of the piece in a variable, at the source (the first position of the pair) or, if `source` is false, at the
    /// target (the second).
    Piece { var: u16, source: bool },
}

/// An instruction. `to` is the register of the result or, for a jump, the target label. Instructions for numbers also work on
/// positions, which are represented by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum Instr {
    /// Ends the program at this node.
    End,
    /// Ends the code of a `line` or `path` constituent that does not match.
    Fail,
    /// Ends the evaluation of the game, because there is an error in the query.
    Fault,
    /// Jumps to a label.
    Jump(Label),
    /// Jumps to `no` unless a mask is true at the current position.
    Unless {
        mask: u16,
        no: Label,
    },
    /// Loads a constant.
    Const {
        to: RegisterWord,
        constant: u16,
    },
    /// Loads the word that an operand (a column computed before the program runs) has at the current position.
    Load {
        to: RegisterWord,
        operand: u16,
    },
    Copy {
        to: RegisterWord,
        from: RegisterWord,
    },
    And {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
    },
    Or {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
    },
    AndNot {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
    },
    /// Jumps to `no` if a set is empty.
    UnlessAny {
        set: RegisterWord,
        no: Label,
    },
    /// Jumps to `no` if a number has no value.
    UnlessValue {
        number: RegisterWord,
        no: Label,
    },
    /// Jumps to `no` unless two numbers are in the relation `cmp`.
    UnlessCompare {
        cmp: Cmp,
        a: RegisterWord,
        b: RegisterWord,
        no: Label,
    },
    /// Computes an operation ([`Op`]) of the plan's graph. The operand ids in `op` are register numbers.
    Do {
        to: RegisterWord,
        op: Op,
    },
    /// Computes the number of squares in a set.
    Count {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// Computes the rank of the only square of a set, or its file if `rank` is false.
    Place {
        to: RegisterWord,
        set: RegisterWord,
        rank: bool,
    },
    /// Computes a square from its file and rank.
    Square {
        to: RegisterWord,
        file: RegisterWord,
        rank: RegisterWord,
    },
    /// Computes a 32-bit arithmetic operation. The result has no value if an operand has none.
    Arith {
        to: RegisterWord,
        arith: Arith,
        a: RegisterWord,
        b: RegisterWord,
    },
    Neg {
        to: RegisterWord,
        of: RegisterWord,
    },
    Abs {
        to: RegisterWord,
        of: RegisterWord,
    },
    Sqrt {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Ends the evaluation of the game with an error if a variable is not bound.
    Holds {
        var: u16,
    },
    /// Ends the evaluation of the game with an error if the variable of a loop is already bound.
    Free {
        var: u16,
    },
    Bind {
        var: u16,
        from: RegisterWord,
    },
    Unbind {
        var: u16,
    },
    /// Jumps to `no` unless a variable is bound. If `bound` is false, jumps if it is bound.
    UnlessBound {
        var: u16,
        bound: bool,
        no: Label,
    },
    /// Counts an iteration of a loop. After too many iterations, ends the evaluation of the game with an error.
    Repeat,
    /// Removes the lowest square from a set and stores it in `to`. Jumps to `done` if the set is empty.
    Take {
        to: RegisterWord,
        set: RegisterWord,
        done: Label,
    },
    /// Stores the current node.
    Here {
        to: RegisterWord,
    },
    /// Makes another node current.
    Go {
        to: RegisterWord,
    },
    /// Advances `node`, the number of a position, to the next position of the game. Jumps to `done` after the position `last`.
    Next {
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// Advances `node`, the number of a position, to the first position at which a mask is true. This can be `node` itself. Jumps
    /// to `done` if there is no such position up to `last`.
    Seek {
        node: RegisterWord,
        last: RegisterWord,
        mask: u16,
        done: Label,
    },
    /// Advances `node`, the number of a position, to the first position from which a move is played that passes a test. This can be
    /// `node` itself. Jumps to `done` if there is no such position up to `last`.
    SeekMove {
        seek: u16,
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// Advances `node`, the number of a position, to the first position at which the square of a piece equals a set. This can be
    /// `node` itself. Jumps to `done` if there is no such position up to `last`.
    SeekPiece {
        piece: RegisterWord,
        set: RegisterWord,
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// Stores the piece code on the only square in a set.
    Content {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// Advances `node` to the number of the next position that forms a pair with `source` and passes the tests of the pair. A value
    /// of -1 advances to the first such position. Jumps to `done` after the last one.
    NextPair {
        pairs: u16,
        source: RegisterWord,
        node: RegisterWord,
        done: Label,
    },
    /// If the result of a search from the current position has been stored, loads it and jumps to `done`. If the result depends on
    /// a piece, `key` is the register of this piece.
    Recall {
        site: u16,
        key: Option<RegisterWord>,
        last: RegisterWord,
        to: RegisterWord,
        done: Label,
    },
    /// Stores the result of a search from the position `from`, so that [`Instr::Recall`] can load it.
    Remember {
        site: u16,
        key: Option<RegisterWord>,
        from: RegisterWord,
        last: RegisterWord,
        found: RegisterWord,
    },
    /// Stores the last position that is the current one or follows from it. For the start of the game, this is the last position of
    /// the game.
    Last {
        to: RegisterWord,
    },
    Parent {
        to: RegisterWord,
    },
    /// Stores the first child of the current position, or no value if there is none.
    FirstChild {
        to: RegisterWord,
    },
    /// Stores the next child of the parent of position `of` (its next sibling), or no value if there is none.
    NextChild {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Stores the child of the current position that has a given number, counted from 0, or no value if there is none.
    Child {
        to: RegisterWord,
        number: RegisterWord,
    },
    /// Stores the position with a given number, or no value if the game has no such position.
    Numbered {
        to: RegisterWord,
        number: RegisterWord,
    },
    /// Stores the last common ancestor of two positions of the game.
    Fork {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
    },
    Distance {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
    },
    /// Jumps to `no` unless position `a` is a proper ancestor of position `b`.
    UnlessBefore {
        a: RegisterWord,
        b: RegisterWord,
        no: Label,
    },
    /// Computes the squares that have the same content at two positions. `planes` is the index of the first of four operands that
    /// contain the bit planes of the board.
    Same {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
        planes: u16,
    },
    /// Jumps to `no` unless the move that led to the position `child` passes a test. If it passes, stores three values in the
    /// registers from `selected` on: the number of this position, and the origin and target squares of the move. If the move is
    /// castling and only the king's or the rook's part passes, only the squares of that part are stored.
    Fits {
        edge: u16,
        child: RegisterWord,
        selected: RegisterWord,
        no: Label,
    },
    /// Stores the value of `from` or, if `reached` is true, of `to`. If [`Instr::Fits`] has stored the current position in the
    /// register `selected`, the value is the squares that it stored. Otherwise it is the squares of the move that led to the
    /// current position.
    Own {
        to: RegisterWord,
        selected: RegisterWord,
        reached: bool,
    },
    /// Searches for the best match of a `line` or `path` that begins at the current position. Stores its value or its last
    /// position.
    Chain {
        to: RegisterWord,
        chain: u16,
    },
    /// Jumps to `no` if the current position is part of an earlier match of a `line` or `path` with `nestban`, so that no other
    /// match may begin here.
    UnlessFree {
        chain: u16,
        no: Label,
    },
    /// Stores the number of the piece that stands on the only square of a set, or no value if there is none.
    PieceOn {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// Stores the square of a piece at the current position, or the empty set if the piece was captured.
    PieceSquare {
        to: RegisterWord,
        piece: RegisterWord,
    },
    /// A string instruction.
    Text(TextInstr),
    /// A dictionary instruction.
    Entry(EntryInstr),
    /// An instruction that reads moves.
    Move(MoveInstr),
    /// An instruction that follows lines or computes attacks.
    Rays(RayInstr),
}

impl Instr {
    /// Returns the label to which the instruction may jump, if it has one.
    pub(crate) fn label(&mut self) -> Option<&mut Label> {
        match self {
            Instr::Jump(to) => Some(to),
            Instr::Unless { no, .. }
            | Instr::UnlessAny { no, .. }
            | Instr::UnlessValue { no, .. }
            | Instr::UnlessCompare { no, .. }
            | Instr::UnlessBound { no, .. }
            | Instr::UnlessBefore { no, .. }
            | Instr::UnlessFree { no, .. }
            | Instr::Fits { no, .. } => Some(no),
            Instr::Take { done, .. }
            | Instr::Next { done, .. }
            | Instr::Seek { done, .. }
            | Instr::SeekMove { done, .. }
            | Instr::SeekPiece { done, .. }
            | Instr::NextPair { done, .. }
            | Instr::Recall { done, .. } => Some(done),
            Instr::Text(instr) => instr.label(),
            Instr::Entry(instr) => instr.label(),
            _ => None,
        }
    }
}
