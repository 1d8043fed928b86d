//! The operations of the plan's graph, and the indices in it.

use orbit_query::tree::{Cmp, Special};

/// The index of a node in a plan's graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub u32);

/// The index of a loop in a plan's graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(pub u32);

/// The index of a per-game column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ColumnId(pub u32);

/// The index of an operation along games, which reads words at all positions of a game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CarryId(pub u32);

/// The mask for true.
pub const TRUE: u64 = !0;

/// Represents "no value" in a word that holds a number, a position or a string. It is below every `i32`.
pub const NO_VALUE: i64 = i64::MIN;

/// One operation. Numbers are computed in `i32` and wrap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "operands are documented on each variant")]
pub enum Op {
    /// The same word for every position.
    Const(u64),
    /// Bit plane 0..=3 of the board.
    Plane(u8),
    /// Mask: White is to move.
    WhiteToMove,
    /// Mask: the position is the first one of its game.
    Initial,
    /// Mask: the position is the last one of its game.
    Terminal,
    /// Number: half-moves played.
    Ply,
    /// Mask: the entry of the column for this game is true, or has a value.
    GameMask(ColumnId),
    /// Number: the entry of the column for this game.
    GameNumber(ColumnId),
    /// The result of an operation along games at this position.
    Carried(CarryId),
    /// A parameter of a loop; its value changes with each row.
    Param(LoopId, u32),
    /// Intersection.
    And(Id, Id),
    /// Union.
    Or(Id, Id),
    /// The squares of the first set that are not in the second set.
    AndNot(Id, Id),
    /// Symmetric difference.
    Xor(Id, Id),
    /// Complement.
    Not(Id),
    /// `a` if the mask is true, otherwise `b`.
    Select {
        mask: Id,
        a: Id,
        b: Id,
    },
    /// The squares of a set, moved by (files, ranks). Squares that leave the board are dropped.
    Step(Id, i8, i8),
    /// All squares of every rank that has a square in the set.
    FillRanks(Id),
    /// All squares of every file that has a square in the set.
    FillFiles(Id),
    /// Squares a knight's move away.
    Knight(Id),
    /// Squares a king's move away.
    King(Id),
    /// Squares that pawns of one colour attack.
    Pawn {
        set: Id,
        white: bool,
    },
    /// Squares reached in direction 0..=7 over empty squares, including the first occupied square.
    Slide {
        set: Id,
        empty: Id,
        dir: u8,
    },
    /// Squares that are `lo..=hi` steps away in one of the directions. Squares in between may be occupied.
    Walk {
        set: Id,
        dirs: u8,
        lo: i8,
        hi: i8,
    },
    /// Mask: the set is not empty.
    NonEmpty(Id),
    /// Mask: the set is one square.
    Single(Id),
    /// Number of squares.
    Count(Id),
    /// Number: the rank 1..=8 of the set's lowest square; used for sets of one square.
    Rank(Id),
    /// Number: the file 1..=8 of the set's lowest square.
    File(Id),
    /// Number: the code of the content of the set's only square: 0, 1..=6, 9..=14.
    Content(Id),
    /// The square of a file and rank; the empty set if one is outside 1..=8.
    MakeSquare {
        file: Id,
        rank: Id,
    },
    Add(Id, Id),
    Sub(Id, Id),
    Mul(Id, Id),
    /// Quotient, truncated; 0 if the divisor is 0.
    Div(Id, Id),
    /// Remainder, with the sign of the dividend; 0 if the divisor is 0.
    Rem(Id, Id),
    /// Integer part of the square root; 0 for a negative number.
    Sqrt(Id),
    /// The larger number, compared as `i64`.
    Max(Id, Id),
    /// Mask: the relation holds, with numbers compared as `i64`.
    Compare(Cmp, Id, Id),
    /// Mask: the positions of `within` at which the side to move has a king but no legal move.
    NoMoves(Id),
    /// The squares of the men that take part in a pure mate, at the positions of `within`, which must all be mates. If `mate` is
    /// false, the same holds for stalemates.
    PureMen {
        within: Id,
        mate: bool,
    },
    /// Arrival squares of moves between the given squares; with `left`, the squares that those moves leave.
    Legal {
        from: Id,
        to: Id,
        pseudo: bool,
        only: Special,
        left: bool,
    },
    /// Number of moves between the given squares. Moves with the same departure and arrival squares count as one.
    LegalCount {
        from: Id,
        to: Id,
        pseudo: bool,
        only: Special,
    },
    /// The result of a loop.
    Loop(LoopId),
}

impl Op {
    /// Returns the same operation on other operands.
    #[must_use]
    pub fn map(mut self, mut to: impl FnMut(Id) -> Id) -> Op {
        use Op::*;
        match &mut self {
            Const(_) | Plane(_) | WhiteToMove | Initial | Terminal | Ply | GameMask(_) | GameNumber(_)
            | Carried(_) | Param(..) | Loop(_) => {}
            Not(a)
            | Step(a, ..)
            | FillRanks(a)
            | FillFiles(a)
            | Knight(a)
            | King(a)
            | NonEmpty(a)
            | Single(a)
            | Count(a)
            | Rank(a)
            | File(a)
            | Content(a)
            | Sqrt(a)
            | NoMoves(a) => *a = to(*a),
            Pawn { set, .. } | Walk { set, .. } => *set = to(*set),
            PureMen { within, .. } => *within = to(*within),
            And(a, b)
            | Or(a, b)
            | AndNot(a, b)
            | Xor(a, b)
            | Add(a, b)
            | Sub(a, b)
            | Mul(a, b)
            | Div(a, b)
            | Rem(a, b)
            | Max(a, b)
            | Compare(_, a, b) => (*a, *b) = (to(*a), to(*b)),
            Slide { set, empty, .. } => (*set, *empty) = (to(*set), to(*empty)),
            MakeSquare { file, rank } => (*file, *rank) = (to(*file), to(*rank)),
            Legal { from, to: squares, .. } | LegalCount { from, to: squares, .. } => {
                (*from, *squares) = (to(*from), to(*squares));
            }
            Select { mask, a, b } => (*mask, *a, *b) = (to(*mask), to(*a), to(*b)),
        }
        self
    }

    /// Returns true if the operation needs the whole position (with the side to move and the rights), not only its operands.
    #[must_use]
    pub const fn takes_whole_positions(self) -> bool {
        matches!(self, Op::NoMoves(_) | Op::PureMen { .. } | Op::Legal { .. } | Op::LegalCount { .. })
    }

    /// Returns the operands. They do not include the body of a loop.
    pub fn args(self) -> impl Iterator<Item = Id> {
        let mut out = [None; 3];
        let mut count = 0;
        let _ = self.map(|id| {
            out[count] = Some(id);
            count += 1;
            id
        });
        out.into_iter().flatten()
    }
}
