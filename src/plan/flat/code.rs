//! The instructions of flat programs.

use crate::{
    board::PieceSet,
    query::tree::{Arith, Cmp, Sibling},
};

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Word(pub u16);

/// A place in the code: where an instruction goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label(pub u32);

/// See the module above.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FlatProgram {
    /// What runs at each node; it ends with [`Instr::End`].
    pub code: Vec<Instr>,
    /// The words of [`Instr::Const`].
    pub constants: Vec<u64>,
    /// The moves that [`Instr::Fits`] tests.
    pub edges: Vec<FlatEdge>,
    /// What [`Instr::Chain`] searches.
    pub chains: Vec<FlatChain>,
    /// Of each operand, whether it is a mask.
    pub masks: Vec<bool>,
    /// How many variables there are: the first registers.
    pub vars: usize,
    /// How many registers there are.
    pub words: usize,
    /// What is wanted: whether this register is not 0, or the word in it.
    pub result: Word,
    /// Whether the result is a mask.
    pub is_mask: bool,
    /// Whether it asks which piece of the game stands where.
    pub pieces: bool,
}

/// A test of a move that was played.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlatEdge {
    /// The set in which a square that it leaves must lie.
    pub from: Option<Word>,
    /// The set in which a square that it reaches must lie, or with `capture` the one on which it captures.
    pub to: Option<Word>,
    /// It is a capture.
    pub capture: bool,
    /// It is a promotion to one of these kinds of pieces.
    pub promotion: Option<PieceSet>,
}

/// A `line` or `path`. Its constituents are pieces of code that the search runs when it wants them: each ends with
/// [`Instr::End`] or [`Instr::Fail`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatChain {
    /// Its place among the chains of the program.
    pub place: u16,
    /// Its constituents.
    pub steps: Vec<FlatStep>,
    /// In which order they may come.
    pub ops: Vec<FlatOp>,
    /// For each operation, whether the chain may end there.
    pub may_end: Vec<bool>,
    /// Whether it is a path; else it is a line, whose constituents take positions.
    pub is_path: bool,
    /// Whether a path asks for a move before anything else.
    pub begins_with_move: bool,
    /// A line against the moves.
    pub back: bool,
    /// A line that skips the positions of the other side to move.
    pub single_color: bool,
    /// Which children may be stepped to.
    pub sibling: Option<Sibling>,
    /// The first chain in the order of the search, not the longest one.
    pub first_match: bool,
    /// What it has found begins no other one.
    pub nestban: bool,
    /// The last position is wanted, not the value.
    pub end: bool,
    /// The range in which the value must lie.
    pub range: Option<[Word; 2]>,
    /// Whose moves count.
    pub focus: Option<FlatFocus>,
    /// The number that is to be largest, and the code that leaves it there.
    pub largest: Option<(Label, Word)>,
    /// The first of the registers that tell the constituents of a path where it begins, how many moves count so far,
    /// and how many do not.
    pub of_path: Word,
    /// What one search knows of those before.
    pub memory: Memory,
}

/// A constituent of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlatStep {
    /// The code that leaves the sets of the move, run before it.
    pub sides: Option<Label>,
    /// The move that it takes; none of a filter.
    pub edge: Option<u16>,
    /// The first of the registers that tell what of the move was selected, as of [`Instr::Fits`].
    pub selected: Word,
    /// The code of the filters, run behind the move.
    pub behind: Option<Label>,
}

/// What may come next in a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlatOp {
    /// A constituent, then the next operation.
    One(u16),
    /// Either of two; the first is tried first.
    Fork(u16, u16),
    /// Another one.
    Jump(u16),
    /// The end.
    Accept,
}

impl FlatOp {
    pub(super) fn is_end(&self) -> bool {
        matches!(self, FlatOp::Accept)
    }
}

/// Whose moves count in a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlatFocus {
    /// Those of the side to move at the start.
    SideToMove,
    /// Those of the pieces that stand on a set at the start; with `capture` also those that capture one of them.
    Pieces {
        /// The set.
        set: Word,
        /// Also captures.
        capture: bool,
    },
}

/// What the search for a chain may remember.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Memory {
    /// Nothing: its constituents keep state, so all ways are tried in turn.
    #[default]
    Nothing,
    /// The best way on from each node, as long as it has one start.
    OfStart,
    /// The same for all starts, as long as some variables and registers hold the same.
    OfWords {
        /// The variables.
        vars: Vec<u16>,
        /// The registers.
        words: Vec<Word>,
    },
}

impl FlatChain {
    /// The places in the code that it names.
    pub(super) fn labels(&mut self) -> impl Iterator<Item = &mut Label> {
        let steps = self.steps.iter_mut().flat_map(|step| [&mut step.sides, &mut step.behind]);
        steps.flatten().chain(self.largest.as_mut().map(|(code, _)| code))
    }
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
        to: Word,
        constant: u16,
    },
    /// The word of an operand here.
    Load {
        to: Word,
        operand: u16,
    },
    Copy {
        to: Word,
        from: Word,
    },
    And {
        to: Word,
        a: Word,
        b: Word,
    },
    Or {
        to: Word,
        a: Word,
        b: Word,
    },
    AndNot {
        to: Word,
        a: Word,
        b: Word,
    },
    /// Goes on at `no` if a set is empty.
    UnlessAny {
        set: Word,
        no: Label,
    },
    /// Goes on at `no` if a number has no value.
    UnlessValue {
        number: Word,
        no: Label,
    },
    /// Goes on at `no` unless a relation holds of two words, as numbers.
    UnlessCompare {
        cmp: Cmp,
        a: Word,
        b: Word,
        no: Label,
    },
    /// The number of squares.
    Count {
        to: Word,
        set: Word,
    },
    /// The rank, or the file, of the only square of a set.
    Place {
        to: Word,
        set: Word,
        rank: bool,
    },
    /// The square of a file and a rank.
    Square {
        to: Word,
        file: Word,
        rank: Word,
    },
    /// 32-bit arithmetic; without a value if an operand has none.
    Arith {
        to: Word,
        arith: Arith,
        a: Word,
        b: Word,
    },
    Neg {
        to: Word,
        of: Word,
    },
    Abs {
        to: Word,
        of: Word,
    },
    Sqrt {
        to: Word,
        of: Word,
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
        from: Word,
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
        to: Word,
        set: Word,
        done: Label,
    },
    /// The current node.
    Here {
        to: Word,
    },
    /// Another node becomes the current one.
    Go {
        to: Word,
    },
    /// The next node; goes on at `done` behind the last one.
    Next {
        node: Word,
        last: Word,
        done: Label,
    },
    /// The last node that follows from this one; of the root the last of the game.
    Last {
        to: Word,
    },
    /// The number of the last node of the game.
    LastOfGame {
        to: Word,
    },
    Parent {
        to: Word,
    },
    /// The first child, if there is one.
    FirstChild {
        to: Word,
    },
    /// The next child of the same parent, if there is one.
    NextChild {
        to: Word,
        of: Word,
    },
    /// The child with that number.
    Child {
        to: Word,
        number: Word,
    },
    /// The node with that number, if the game has one.
    Numbered {
        to: Word,
        number: Word,
    },
    /// The last common ancestor.
    Fork {
        to: Word,
        a: Word,
        b: Word,
    },
    Distance {
        to: Word,
        a: Word,
        b: Word,
    },
    /// Goes on at `no` unless one node is a proper ancestor of another one.
    UnlessBefore {
        a: Word,
        b: Word,
        no: Label,
    },
    /// The squares with equal contents, of planes that are operands from `planes` on.
    Same {
        to: Word,
        a: Word,
        b: Word,
        planes: u16,
    },
    /// Goes on at `no` unless the move that led to a node passes a test. What of it passes is told in three registers:
    /// the node, the squares that it left and those that it reached.
    Fits {
        edge: u16,
        child: Word,
        selected: Word,
        no: Label,
    },
    /// What `from` or `to` means: of a move of which a part was selected, that part.
    Own {
        to: Word,
        selected: Word,
        reached: bool,
    },
    /// The value of the best chain that begins here, or its end.
    Chain {
        to: Word,
        chain: u16,
    },
    /// Goes on at `no` if a chain was found here before that begins no other one.
    UnlessFree {
        chain: u16,
        no: Label,
    },
    /// The piece of the game on the only square of a set, if there is one.
    PieceOn {
        to: Word,
        set: Word,
    },
    /// The square of a piece here, none if it was captured.
    PieceSquare {
        to: Word,
        piece: Word,
    },
}

impl Instr {
    /// Where it may go on, but for the next instruction.
    pub(super) fn label(&mut self) -> Option<&mut Label> {
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
            Instr::Take { done, .. } | Instr::Next { done, .. } => Some(done),
            _ => None,
        }
    }
}
