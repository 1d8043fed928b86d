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
use orbit_query::tree::{Arith, Cmp};

/// A program that runs at each node of a game. The module `flat` of this crate compiles such programs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FlatProgram {
    /// The code that runs at each node. It ends with [`Instr::End`].
    pub code: Vec<Instr>,
    /// The words of [`Instr::Const`].
    pub constants: Vec<u64>,
    /// The tests of [`Instr::Fits`].
    pub edges: Vec<FlatEdge>,
    /// The tests of [`MoveInstr::Played`].
    pub moves: Vec<FlatMove>,
    /// The chains that [`Instr::Chain`] searches for.
    pub chains: Vec<FlatChain>,
    /// For each operand, true if the program reads it as a mask.
    pub masks: Vec<bool>,
    /// The number of variables. Their registers are the first ones.
    pub vars: usize,
    /// The number of registers.
    pub words: usize,
    /// The register of the result. A result that is a mask is true where this register is not 0.
    pub result: RegisterWord,
    /// True if the result is a mask.
    pub is_mask: bool,
    /// The tests that find the targets of `echo`.
    pub pairs: Vec<PairSearch>,
    /// The tests that [`Instr::SeekMove`] and [`PairSearch`] use.
    pub seeks: Vec<MoveSeek>,
    /// The number of searches in the code whose results are stored.
    pub sites: usize,
    /// True if the program must know which piece of the game stands on a square.
    pub pieces: bool,
    /// The strings of the program: see [`LITERALS`](super::LITERALS).
    pub texts: Vec<String>,
    /// The strings that are constant in a game.
    pub of_games: Vec<TagText>,
    /// The regular expressions.
    pub patterns: Vec<String>,
    /// The order of the keys of each dictionary.
    pub dictionaries: Vec<KeyOrder>,
    /// The number of loops over keys of dictionaries.
    pub key_loops: usize,
    /// The time that the program is expected to take at a position, in instructions.
    pub time: u64,
}

/// A test of a move that was played. A field that is `None` or false accepts every move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlatEdge {
    /// If present, the move must leave a square of this set.
    pub from: Option<RegisterWord>,
    /// If present, the move must reach a square of this set or, if `capture` is true, capture on a square of it.
    pub to: Option<RegisterWord>,
    /// True if the move must be a capture.
    pub capture: bool,
    /// If present, the move must promote to one of these pieces.
    pub promotion: Option<PieceSet>,
    /// If present, the register of a string. The move must promote to a piece whose letter is in the string.
    pub letters: Option<RegisterWord>,
}

/// A test of the moves from a node. A filter can match at the node only if one of the moves passes, so a search can skip all other
/// nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct MoveSeek {
    /// If present, the move must leave a square of this set.
    pub from: Option<RegisterWord>,
    /// If present, the move must reach a square of this set.
    pub to: Option<RegisterWord>,
    /// The piece that must move.
    pub piece: Option<RegisterWord>,
    /// The variables that the filter reads. If one of them is unbound, the search skips no node.
    pub vars: Vec<u16>,
}

/// Tests that a pair of positions, the source and the target of an `echo`, must pass before the body is evaluated. They repeat
/// tests with which the body begins, so for a pair that fails here, the body would fail before it stores anything.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PairSearch {
    /// The tests, all of which must succeed. Tests that concern only the source come first.
    pub tests: Vec<PairTest>,
    /// The index of the first of four operands with the planes of the board.
    pub planes: Option<u16>,
    /// The index of a test of moves ([`MoveSeek`]). A move that is played at the target, the second position of the pair, must pass
    /// it.
    pub moves: Option<u16>,
}

/// One test of a pair of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum PairTest {
    /// A mask is true at the source or, if `source` is false, at the target.
    Mask { mask: u16, source: bool },
    /// A mask is true at the source, or another mask is true at the target.
    Either { source: u16, target: u16 },
    /// The numbers of the nodes of the source and of the target are in the given relation.
    Order(Cmp),
    /// Two sets are equal, or differ if `equal` is false.
    Sets { equal: bool, left: PairWord, right: PairWord },
    /// Two numbers have values and are in the given relation.
    Compare { cmp: Cmp, left: PairWord, right: PairWord },
}

/// A word that belongs to a pair of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum PairWord {
    /// The word of an operand at the source, the first position of the pair.
    Source(u16),
    /// The word of an operand at the target, the second position of the pair.
    Target(u16),
    /// A constant, the same word for all pairs.
    Constant(u64),
    /// The squares that have the same content in both positions. If `others` is true, all other squares instead. If `count` is
    /// true, the number of these squares.
    Same { others: bool, count: bool },
    /// The intersection of a set at the source with a set at the target.
    Both { source: u16, target: u16 },
    /// The square of the piece in a variable, at the source or, if `source` is false, at the target.
    Piece { var: u16, source: bool },
}

/// An instruction. `to` is the register of the result or, for a jump, the target label. Instructions for numbers also work on
/// positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum Instr {
    /// Ends the program at this node.
    End,
    /// Ends a constituent of a chain that does not match.
    Fail,
    /// Ends the evaluation of the game with an error in the query.
    Fault,
    /// Continues at a label.
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
    /// Loads an operand's word at the current position.
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
    /// Jumps to `no` unless two numbers are in a relation.
    UnlessCompare {
        cmp: Cmp,
        a: RegisterWord,
        b: RegisterWord,
        no: Label,
    },
    /// Computes an operation of the graph. In `op`, the ids of operands are numbers of registers.
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
    /// Computes the square with a file and a rank.
    Square {
        to: RegisterWord,
        file: RegisterWord,
        rank: RegisterWord,
    },
    /// Computes 32-bit arithmetic. The result has no value if an operand has none.
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
    /// Jumps to `no` if a variable is not bound or, if `bound` is false, if it is bound.
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
    /// Advances to the next node. Jumps to `done` after the last node.
    Next {
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// Advances `node` to the first node, beginning with `node` itself, at which a mask is true. Jumps to `done` if there is none
    /// up to `last`.
    Seek {
        node: RegisterWord,
        last: RegisterWord,
        mask: u16,
        done: Label,
    },
    /// Advances `node` to the first node, beginning with `node` itself, from which a move is played that passes a test. Jumps to
    /// `done` if there is none up to `last`.
    SeekMove {
        seek: u16,
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// Advances `node` to the first node, beginning with `node` itself, at which the square of a piece equals a set. Jumps to
    /// `done` if there is none up to `last`.
    SeekPiece {
        piece: RegisterWord,
        set: RegisterWord,
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// Stores the code of the content of the only square in a set.
    Content {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// Advances to the next node that passes the tests of a pair together with `source`. From node -1, it advances to the first
    /// such node. Jumps to `done` after the last one.
    NextPair {
        pairs: u16,
        source: RegisterWord,
        node: RegisterWord,
        done: Label,
    },
    /// If the result of a search from the current position is stored, loads it and jumps to `done`. Otherwise has no effect. The
    /// optional key is the piece on which the result depends.
    Recall {
        site: u16,
        key: Option<RegisterWord>,
        last: RegisterWord,
        to: RegisterWord,
        done: Label,
    },
    /// Stores the result of a search that began at a node.
    Remember {
        site: u16,
        key: Option<RegisterWord>,
        from: RegisterWord,
        last: RegisterWord,
        found: RegisterWord,
    },
    /// Stores the last node of the subtree of the current node. For the root, this is the last node of the game.
    Last {
        to: RegisterWord,
    },
    Parent {
        to: RegisterWord,
    },
    /// Stores the first child, or no value if there is none.
    FirstChild {
        to: RegisterWord,
    },
    /// Stores the next child of the same parent, or no value if there is none.
    NextChild {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Stores the child with a given number, or no value if there is none.
    Child {
        to: RegisterWord,
        number: RegisterWord,
    },
    /// Stores the node with a given number, or no value if the game has no such node.
    Numbered {
        to: RegisterWord,
        number: RegisterWord,
    },
    /// Stores the last common ancestor of two nodes.
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
    /// Jumps to `no` unless node `a` is an ancestor of node `b` and not the same node.
    UnlessBefore {
        a: RegisterWord,
        b: RegisterWord,
        no: Label,
    },
    /// Computes the squares that have the same content at two nodes. `planes` is the index of the first of four operands that
    /// contain the bit planes of the board.
    Same {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
        planes: u16,
    },
    /// Jumps to `no` unless the move that led to a node passes a test. If it passes, stores three values in the registers from
    /// `selected` on: the node, the squares that the move left, and the squares that it reached. If only the king's or the rook's
    /// move of castling passes, stores only its squares.
    Fits {
        edge: u16,
        child: RegisterWord,
        selected: RegisterWord,
        no: Label,
    },
    /// Stores the value of `from` or `to`. If [`Instr::Fits`] has stored the current node in the register `selected`, the value is
    /// the squares that it stored; otherwise it is the squares of the move that led to the node.
    Own {
        to: RegisterWord,
        selected: RegisterWord,
        reached: bool,
    },
    /// Stores the value of the best match of a `line` or `path` that begins at the current position, or the last position of that
    /// match.
    Chain {
        to: RegisterWord,
        chain: u16,
    },
    /// Jumps to `no` if the current position belongs to an earlier match of a `line` or `path` whose `nestban` forbids other
    /// matches to begin here.
    UnlessFree {
        chain: u16,
        no: Label,
    },
    /// Stores the piece of the game that stands on the only square of a set, or no value if there is none.
    PieceOn {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// Stores the square of a piece at the current position, or the empty set if the piece was captured.
    PieceSquare {
        to: RegisterWord,
        piece: RegisterWord,
    },
    /// An instruction about strings.
    Text(TextInstr),
    /// An instruction about dictionaries.
    Entry(EntryInstr),
    /// An instruction about moves.
    Move(MoveInstr),
    /// An instruction about lines and attacks.
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
