//! The instructions of flat programs, the form into which queries that keep state through a game are compiled.

use super::{
    EntryInstr, FlatChain, FlatMove, KeyOrder, MoveInstr, RayInstr, TextInstr,
    registers::{Label, RegisterWord},
};
use crate::{columns::TagText, op::Op};
use orbit_core::board::PieceSet;
use orbit_query::tree::{Arith, Cmp};

/// A program that runs at each node of a game; the module `flat` of this crate compiles it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FlatProgram {
    /// The code that runs at each node; it ends with [`Instr::End`].
    pub code: Vec<Instr>,
    /// The words of [`Instr::Const`].
    pub constants: Vec<u64>,
    /// The moves that [`Instr::Fits`] tests.
    pub edges: Vec<FlatEdge>,
    /// The tests of [`MoveInstr::Played`].
    pub moves: Vec<FlatMove>,
    /// The chains that [`Instr::Chain`] searches for.
    pub chains: Vec<FlatChain>,
    /// For each operand, true if it is a mask.
    pub masks: Vec<bool>,
    /// The number of variables. They are the first registers.
    pub vars: usize,
    /// The number of registers.
    pub words: usize,
    /// The register of the result. If a mask is wanted, it is true where the register is not 0; otherwise the result is the word
    /// in the register.
    pub result: RegisterWord,
    /// True if the result is a mask.
    pub is_mask: bool,
    /// The tests by which targets of `echo` are found.
    pub pairs: Vec<PairSearch>,
    /// The tests of [`Instr::SeekMove`].
    pub seeks: Vec<MoveSeek>,
    /// The number of searches that remember their results.
    pub sites: usize,
    /// True if the program needs to know which piece of the game stands on a square.
    pub pieces: bool,
    /// The strings of the program: see [`LITERALS`](super::LITERALS).
    pub texts: Vec<String>,
    /// The strings that are constant in a game.
    pub of_games: Vec<TagText>,
    /// The regular expressions.
    pub patterns: Vec<String>,
    /// The dictionaries, each as the order of its keys.
    pub dictionaries: Vec<KeyOrder>,
    /// The number of loops over keys.
    pub key_loops: usize,
}

/// A test of a move that was played.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlatEdge {
    /// The set that must contain a square that the move leaves.
    pub from: Option<RegisterWord>,
    /// The set that must contain a square that the move reaches, or with `capture` the square on which it captures.
    pub to: Option<RegisterWord>,
    /// True if the move must be a capture.
    pub capture: bool,
    /// The pieces to which the move must promote.
    pub promotion: Option<PieceSet>,
    /// The register of a string; the move must promote to a piece that one of its letters names.
    pub letters: Option<RegisterWord>,
}

/// A test of the moves that leave a node. A filter can match at the node only if one of the moves passes; a node without such a
/// move is skipped.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct MoveSeek {
    /// The set that must contain a square that the move leaves.
    pub from: Option<RegisterWord>,
    /// The set that must contain a square that the move reaches.
    pub to: Option<RegisterWord>,
    /// The piece that must move.
    pub piece: Option<RegisterWord>,
    /// The variables that the filter reads. If one of them is unbound, no node is skipped.
    pub vars: Vec<u16>,
}

/// Tests that a pair of positions must pass before the body of an `echo` is evaluated. The body begins with the same tests, so a
/// pair that fails here would fail there, before anything is kept.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PairSearch {
    /// The tests, all of which a pair must pass; those of the source alone come first.
    pub tests: Vec<PairTest>,
    /// The index of the first of four operands with the planes of the board.
    pub planes: Option<u16>,
}

/// One test of a pair of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum PairTest {
    /// A mask is true at the source if `source` is true, otherwise at the target.
    Mask { mask: u16, source: bool },
    /// One mask is true at the source, or another one is true at the target.
    Either { source: u16, target: u16 },
    /// The number of the source compares in this way with that of the target.
    Order(Cmp),
    /// Two sets are equal, or differ.
    Sets { equal: bool, left: PairWord, right: PairWord },
    /// Two numbers, both of which have a value, compare in this way.
    Compare { cmp: Cmp, left: PairWord, right: PairWord },
}

/// A word that belongs to a pair of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum PairWord {
    /// A word at the source.
    Source(u16),
    /// A word at the target.
    Target(u16),
    /// The same word for all pairs.
    Constant(u64),
    /// The squares with equal contents, or with `others` all other squares; with `count` their number.
    Same { others: bool, count: bool },
    /// The intersection of a set at the source with one at the target.
    Both { source: u16, target: u16 },
    /// The square of the piece that a variable holds, at the source or the target.
    Piece { var: u16, source: bool },
}

/// An instruction. `to` is the register for the result, or the label of a jump. Instructions for numbers also work on positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum Instr {
    /// Ends the work on the node.
    End,
    /// Ends a constituent of a chain that does not match.
    Fail,
    /// Ends the game: the query has run into an error.
    Fault,
    /// Continues at a label.
    Jump(Label),
    /// Jumps to `no` unless a mask is true here.
    Unless {
        mask: u16,
        no: Label,
    },
    /// A constant.
    Const {
        to: RegisterWord,
        constant: u16,
    },
    /// Loads the word of an operand here.
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
    /// Jumps to `no` unless a relation holds between two words, as numbers.
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
    /// The rank of the only square of a set, or its file.
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
    /// 32-bit arithmetic; the result has no value if an operand has none.
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
    /// Ends the game with an error if a variable is unbound.
    Holds {
        var: u16,
    },
    /// Ends the game with an error if the variable of a loop is already bound.
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
    /// Jumps to `no` unless a variable is bound, or with `bound` false unless it is unbound.
    UnlessBound {
        var: u16,
        bound: bool,
        no: Label,
    },
    /// Counts an iteration of a loop; ends the game with an error if there are too many.
    Repeat,
    /// Takes the lowest square from a set; jumps to `done` if the set is empty.
    Take {
        to: RegisterWord,
        set: RegisterWord,
        done: Label,
    },
    /// The current node.
    Here {
        to: RegisterWord,
    },
    /// Makes another node current.
    Go {
        to: RegisterWord,
    },
    /// The next node; jumps to `done` after the last one.
    Next {
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// The first node from this one on at which a mask is true; jumps to `done` after the last one.
    Seek {
        node: RegisterWord,
        last: RegisterWord,
        mask: u16,
        done: Label,
    },
    /// The first node from this one on at which a move is played that passes a test; jumps to `done` after the last one.
    SeekMove {
        seek: u16,
        node: RegisterWord,
        last: RegisterWord,
        done: Label,
    },
    /// The first node from this one on at which the square of a piece equals a set; jumps to `done` after the last one.
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
    /// The next node that, as target of the given source, passes the tests of a pair; after node -1, the first such node. Jumps
    /// to `done` after the last one.
    NextPair {
        pairs: u16,
        source: RegisterWord,
        node: RegisterWord,
        done: Label,
    },
    /// If the result of a search from here on is remembered, writes the result and jumps to `done`. The key is a piece.
    Recall {
        site: u16,
        key: Option<RegisterWord>,
        last: RegisterWord,
        to: RegisterWord,
        done: Label,
    },
    /// Remembers the result of a search from a node on.
    Remember {
        site: u16,
        key: Option<RegisterWord>,
        from: RegisterWord,
        last: RegisterWord,
        found: RegisterWord,
    },
    /// The last node that follows from this one; for the root, the last node of the game.
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
    /// The child with a number, if there is one.
    Child {
        to: RegisterWord,
        number: RegisterWord,
    },
    /// The node with a number, if the game has one.
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
    /// Jumps to `no` unless one node is a proper ancestor of the other.
    UnlessBefore {
        a: RegisterWord,
        b: RegisterWord,
        no: Label,
    },
    /// The squares with equal contents at two nodes, by the planes of the board, which are operands from `planes` on.
    Same {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
        planes: u16,
    },
    /// Jumps to `no` unless the move that led to a node passes a test. Writes the part of the move that passes to three
    /// registers: the node, the squares that the move left, and those that it reached.
    Fits {
        edge: u16,
        child: RegisterWord,
        selected: RegisterWord,
        no: Label,
    },
    /// The squares that `from` or `to` means. If a part of the move was selected, these are the squares of that part.
    Own {
        to: RegisterWord,
        selected: RegisterWord,
        reached: bool,
    },
    /// The value of the best chain that begins here, or its last position.
    Chain {
        to: RegisterWord,
        chain: u16,
    },
    /// Jumps to `no` if this node belongs to a chain found earlier, whose `nestban` forbids that another one begins here.
    UnlessFree {
        chain: u16,
        no: Label,
    },
    /// The piece of the game on the only square of a set, if there is one.
    PieceOn {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// The square of a piece here; the empty set if the piece was captured.
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
    /// Returns the label to which the instruction may jump.
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
