//! The instructions of flat programs.

use super::{
    EntryInstr, FlatChain, FlatMove, KeyOrder, MoveInstr, TextInstr,
    registers::{Label, RegisterWord},
};
use crate::{columns::TagText, op::Op};
use orbit_core::board::PieceSet;
use orbit_query::tree::{Arith, Cmp};

/// See the module above.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FlatProgram {
    /// What runs at each node; it ends with [`Instr::End`].
    pub code: Vec<Instr>,
    /// The words of [`Instr::Const`].
    pub constants: Vec<u64>,
    /// The moves that [`Instr::Fits`] tests.
    pub edges: Vec<FlatEdge>,
    /// The tests of [`MoveInstr::Played`].
    pub moves: Vec<FlatMove>,
    /// What [`Instr::Chain`] searches.
    pub chains: Vec<FlatChain>,
    /// Of each operand, whether it is a mask.
    pub masks: Vec<bool>,
    /// How many variables there are: the first registers.
    pub vars: usize,
    /// How many registers there are.
    pub words: usize,
    /// What is wanted: whether this register is not 0, or the word in it.
    pub result: RegisterWord,
    /// Whether the result is a mask.
    pub is_mask: bool,
    /// How targets of `echo` are found.
    pub pairs: Vec<PairSearch>,
    /// The tests of [`Instr::SeekMove`].
    pub seeks: Vec<MoveSeek>,
    /// How many searches remember what they found.
    pub sites: usize,
    /// Whether it asks which piece of the game stands where.
    pub pieces: bool,
    /// The strings that it has: see [`LITERALS`](super::LITERALS).
    pub texts: Vec<String>,
    /// The strings that are constant in a game.
    pub of_games: Vec<TagText>,
    /// The regular expressions.
    pub patterns: Vec<String>,
    /// The dictionaries, by how their keys follow each other.
    pub dictionaries: Vec<KeyOrder>,
    /// How many loops over keys there are.
    pub key_loops: usize,
}

/// A test of a move that was played.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlatEdge {
    /// The set in which a square that it leaves must lie.
    pub from: Option<RegisterWord>,
    /// The set in which a square that it reaches must lie, or with `capture` the one on which it captures.
    pub to: Option<RegisterWord>,
    /// It is a capture.
    pub capture: bool,
    /// It is a promotion to one of these kinds of pieces.
    pub promotion: Option<PieceSet>,
    /// It is a promotion to a piece that a letter of a string names.
    pub letters: Option<RegisterWord>,
}

/// A test of the moves that leave a node: a filter can match there only if one of them passes. A node without one is passed over.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct MoveSeek {
    /// The set in which a square that it leaves lies.
    pub from: Option<RegisterWord>,
    /// The set in which a square that it reaches lies.
    pub to: Option<RegisterWord>,
    /// The piece that moves.
    pub piece: Option<RegisterWord>,
    /// Variables that the filter reads. If one of them holds nothing, no node is passed over.
    pub vars: Vec<u16>,
}

/// What pairs of positions must pass for the body of an `echo` to be evaluated. The tests are what the body begins with,
/// so a pair that fails would fail there, and nothing is kept.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PairSearch {
    /// All must hold; those of sources alone come first.
    pub tests: Vec<PairTest>,
    /// The first of four operands with the planes of the board.
    pub planes: Option<u16>,
}

/// One test of a pair of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum PairTest {
    /// A mask at the source, or at the target.
    Mask { mask: u16, source: bool },
    /// One mask at the source, or another one at the target.
    Either { source: u16, target: u16 },
    /// How the number of the source compares with that of the target.
    Order(Cmp),
    /// Whether two sets are equal.
    Sets { equal: bool, left: PairWord, right: PairWord },
    /// How two numbers compare, both of which have a value.
    Compare { cmp: Cmp, left: PairWord, right: PairWord },
}

/// A word that belongs to a pair of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum PairWord {
    /// Of the source.
    Source(u16),
    /// Of the target.
    Target(u16),
    /// Of all.
    Constant(u64),
    /// The squares with equal contents, or the others; with `count` their number.
    Same { others: bool, count: bool },
    /// What a set of the source and one of the target have in common.
    Both { source: u16, target: u16 },
    /// The square of the piece that a variable holds, at the source or the target.
    Piece { var: u16, source: bool },
}

/// One instruction. `to` is the register that gets the result, or where the code goes on; what an instruction says of
/// numbers holds of positions as well.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum Instr {
    /// The node is done.
    End,
    /// A constituent of a chain does not match.
    Fail,
    /// The query has run into an error.
    Fault,
    /// Goes on elsewhere.
    Jump(Label),
    /// Goes on at `no` unless a mask holds here.
    Unless {
        mask: u16,
        no: Label,
    },
    /// A constant.
    Const {
        to: RegisterWord,
        constant: u16,
    },
    /// The word of an operand here.
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
    /// Goes on at `no` if a set is empty.
    UnlessAny {
        set: RegisterWord,
        no: Label,
    },
    /// Goes on at `no` if a number has no value.
    UnlessValue {
        number: RegisterWord,
        no: Label,
    },
    /// Goes on at `no` unless a relation holds of two words, as numbers.
    UnlessCompare {
        cmp: Cmp,
        a: RegisterWord,
        b: RegisterWord,
        no: Label,
    },
    /// An operation of the graph; the ids of its operands are registers.
    Do {
        to: RegisterWord,
        op: Op,
    },
    /// The number of squares.
    Count {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// The rank, or the file, of the only square of a set.
    Place {
        to: RegisterWord,
        set: RegisterWord,
        rank: bool,
    },
    /// The square of a file and a rank.
    Square {
        to: RegisterWord,
        file: RegisterWord,
        rank: RegisterWord,
    },
    /// 32-bit arithmetic; without a value if an operand has none.
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
    /// The error that a variable holds nothing, if it is so.
    Holds {
        var: u16,
    },
    /// The error that the variable of a loop is in use already, if it is so.
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
    /// Goes on at `no` unless it is as asked whether a variable is bound.
    UnlessBound {
        var: u16,
        bound: bool,
        no: Label,
    },
    /// Counts a repetition of a loop; the error that there are too many, if it is so.
    Repeat,
    /// Takes the lowest square from a set; goes on at `done` if there is none.
    Take {
        to: RegisterWord,
        set: RegisterWord,
        done: Label,
    },
    /// The current node.
    Here {
        to: RegisterWord,
    },
    /// Another node becomes the current one.
    Go {
        to: RegisterWord,
    },
    /// The next node; goes on at `done` behind the last one.
    Next {
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// The first node from this one on at which a mask holds; goes on at `done` behind the last one.
    Seek {
        node: RegisterWord,
        last: RegisterWord,
        mask: u16,
        done: Label,
    },
    /// The first node from this one on that a move leaves which passes a test; goes on at `done` behind the last one.
    SeekMove {
        seek: u16,
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// The first node from this one on at which the square of a piece is a set; goes on at `done` behind the last one.
    SeekPiece {
        piece: RegisterWord,
        set: RegisterWord,
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// The code of the piece on the only square of a set.
    Content {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// The next node that makes a pair with a source, the first one behind node -1; goes on at `done` behind the last
    /// one.
    NextPair {
        pairs: u16,
        source: RegisterWord,
        node: RegisterWord,
        done: Label,
    },
    /// What a search from here on has found, if it is known: then goes on at `done`. The key is a piece.
    Recall {
        site: u16,
        key: Option<RegisterWord>,
        last: RegisterWord,
        to: RegisterWord,
        done: Label,
    },
    /// Remembers what a search from a node on has found.
    Remember {
        site: u16,
        key: Option<RegisterWord>,
        from: RegisterWord,
        last: RegisterWord,
        found: RegisterWord,
    },
    /// The last node that follows from this one; of the root the last of the game.
    Last {
        to: RegisterWord,
    },
    Parent {
        to: RegisterWord,
    },
    /// The first child, if there is one.
    FirstChild {
        to: RegisterWord,
    },
    /// The next child of the same parent, if there is one.
    NextChild {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// The child with that number.
    Child {
        to: RegisterWord,
        number: RegisterWord,
    },
    /// The node with that number, if the game has one.
    Numbered {
        to: RegisterWord,
        number: RegisterWord,
    },
    /// The last common ancestor.
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
    /// Goes on at `no` unless one node is a proper ancestor of another one.
    UnlessBefore {
        a: RegisterWord,
        b: RegisterWord,
        no: Label,
    },
    /// The squares with equal contents, of planes that are operands from `planes` on.
    Same {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
        planes: u16,
    },
    /// Goes on at `no` unless the move that led to a node passes a test. What of it passes is told in three registers:
    /// the node, the squares that it left and those that it reached.
    Fits {
        edge: u16,
        child: RegisterWord,
        selected: RegisterWord,
        no: Label,
    },
    /// What `from` or `to` means: of a move of which a part was selected, that part.
    Own {
        to: RegisterWord,
        selected: RegisterWord,
        reached: bool,
    },
    /// The value of the best chain that begins here, or its end.
    Chain {
        to: RegisterWord,
        chain: u16,
    },
    /// Goes on at `no` if a chain was found here before that begins no other one.
    UnlessFree {
        chain: u16,
        no: Label,
    },
    /// The piece of the game on the only square of a set, if there is one.
    PieceOn {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// The square of a piece here, none if it was captured.
    PieceSquare {
        to: RegisterWord,
        piece: RegisterWord,
    },
    /// An instruction of strings.
    Text(TextInstr),
    /// An instruction of dictionaries.
    Entry(EntryInstr),
    /// An instruction of moves.
    Move(MoveInstr),
}

impl Instr {
    /// Where it may go on, but for the next instruction.
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
