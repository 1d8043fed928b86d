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
    /// The register of the result. If the result is a mask, any value but 0 means true.
    pub result: RegisterWord,
    /// True if the result is a mask.
    pub is_mask: bool,
    /// The tests that find the targets of `echo`.
    pub pairs: Vec<PairSearch>,
    /// The tests that [`Instr::SeekMove`] and [`PairSearch`] use.
    pub seeks: Vec<MoveSeek>,
    /// The number of searches in the code whose results are stored.
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
    /// The expected run time at a position, in instructions.
    pub time: u64,
}

/// A test of a move that was played. A field that is `None` or false accepts every move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlatEdge {
    /// If present, the move must leave a square of this set.
    pub from: Option<RegisterWord>,
    /// If present, the move must reach a square of this set. If `capture` is true, it must capture on a square of this set instead.
    pub to: Option<RegisterWord>,
    /// True if the move must be a capture.
    pub capture: bool,
    /// If present, the move must promote to one of these pieces.
    pub promotion: Option<PieceSet>,
    /// If present, the register of a string. The move must promote to a piece whose letter is in the string.
    pub letters: Option<RegisterWord>,
}

/// A test of the moves from a node. The filter for which a search looks can match at the node only if one of these moves passes, so
/// the search skips all other nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct MoveSeek {
    /// If present, the move must leave a square of this set.
    pub from: Option<RegisterWord>,
    /// If present, the move must reach a square of this set.
    pub to: Option<RegisterWord>,
    /// The piece that must move.
    pub piece: Option<RegisterWord>,
    /// The variables that the filter reads. If one of them is unbound, no node is skipped.
    pub vars: Vec<u16>,
}

/// Tests that the source and the target of an `echo` must pass before the body is evaluated. They are derived from the beginning of
/// the body: if a pair fails here, the body would fail as well, before it stores anything.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PairSearch {
    /// The tests, all of which must succeed. Tests that concern only the source come first.
    pub tests: Vec<PairTest>,
    /// The index of the first of four operands with the bit planes of the board.
    pub planes: Option<u16>,
    /// The index of a move test ([`MoveSeek`]). It must be passed by a move that is played at the target, the second position of
    /// the pair.
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
    /// The squares that have the same content in both positions or, if `others` is true, all other squares. If `count` is true,
    /// their number.
    Same { others: bool, count: bool },
    /// The intersection of a set at the source with a set at the target.
    Both { source: u16, target: u16 },
    /// The square of the piece in a variable, at the source or, if `source` is false, at the target.
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
    /// Computes an operation of the graph. The operand ids in `op` are register numbers.
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
    /// Advances to the next node. Jumps to `done` after the last node.
    Next {
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// Advances `node` to the first node at which a mask is true, possibly `node` itself. Jumps to `done` if there is none up to
    /// `last`.
    Seek {
        node: RegisterWord,
        last: RegisterWord,
        mask: u16,
        done: Label,
    },
    /// Advances `node` to the first node from which a move is played that passes a test, possibly `node` itself. Jumps to `done` if
    /// there is none up to `last`.
    SeekMove {
        seek: u16,
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// Advances `node` to the first node at which the square of a piece equals a set, possibly `node` itself. Jumps to `done` if
    /// there is none up to `last`.
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
    /// Advances `node` to the next node that forms a pair with `source` and passes the pair's tests. A value of -1 advances to the
    /// first such node. Jumps to `done` after the last one.
    NextPair {
        pairs: u16,
        source: RegisterWord,
        node: RegisterWord,
        done: Label,
    },
    /// If the result of a search from the current position has been stored, loads it and jumps to `done`. The optional key is the
    /// piece on which the result depends.
    Recall {
        site: u16,
        key: Option<RegisterWord>,
        last: RegisterWord,
        to: RegisterWord,
        done: Label,
    },
    /// Stores the result of a search from a node, for [`Instr::Recall`].
    Remember {
        site: u16,
        key: Option<RegisterWord>,
        from: RegisterWord,
        last: RegisterWord,
        found: RegisterWord,
    },
    /// Stores the last node in the current node's subtree. For the root, this is the last node of the game.
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
    /// Jumps to `no` unless node `a` is a proper ancestor of node `b`.
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
    /// `selected` on: the node, and the origin and target squares of the move. If the move is castling and only the king's or the
    /// rook's part passes, only the squares of that part are stored.
    Fits {
        edge: u16,
        child: RegisterWord,
        selected: RegisterWord,
        no: Label,
    },
    /// Stores the value of `from` or `to`. If [`Instr::Fits`] has stored the current node in the register `selected`, the value is
    /// the squares that it stored. Otherwise it is the squares of the move that led to the current node.
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
