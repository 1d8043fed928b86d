//! The operations of the plan's graph, and the types of the indices in the graph.

use orbit_query::tree::{Cmp, Special};

/// The index of a node in the plan's graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub u32);

/// The index of a loop in the plan's graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(pub u32);

/// The index of a per-game column, which has one entry for each game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ColumnId(pub u32);

/// The index of an operation along games. Such an operation reads words at all positions of a game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CarryId(pub u32);

/// The mask for true.
pub const TRUE: u64 = !0;

/// Represents "no value" in a word for a number, a position or a string. It is less than every `i32`.
pub const NO_VALUE: i64 = i64::MIN;

/// One operation of the graph. Arithmetic is wrapping `i32` arithmetic.
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
    /// Mask: the position is the last one of its line, that is, of the main line or a side line.
    Terminal,
    /// Number: the number of half-moves played before the position.
    Ply,
    /// Mask: the entry of the column for this game is true or, in a column of numbers, has a value.
    GameMask(ColumnId),
    /// Number: the column's entry for this game.
    GameNumber(ColumnId),
    /// The result, at this position, of an operation that reads all positions of the game.
    Carried(CarryId),
    /// A parameter of a loop. Each row of the loop has its own value.
    Param(LoopId, u32),
    /// The intersection of two sets or masks.
    And(Id, Id),
    /// The union of two sets or masks.
    Or(Id, Id),
    /// The squares of the first set that are not in the second set.
    AndNot(Id, Id),
    /// The symmetric difference.
    Xor(Id, Id),
    /// The complement.
    Not(Id),
    /// `a` if the mask is true, otherwise `b`.
    Select {
        mask: Id,
        a: Id,
        b: Id,
    },
    /// The squares of a set, moved by (files, ranks). Squares that would leave the board are dropped.
    Step(Id, i8, i8),
    /// All squares of each rank that has a square in the set.
    FillRanks(Id),
    /// All squares of each file that has a square in the set.
    FillFiles(Id),
    /// The squares that are a knight's move away from some square of the set.
    Knight(Id),
    /// The squares that are a king's move away from some square of the set.
    King(Id),
    /// The squares that pawns of one colour would attack from the squares of the set.
    Pawn {
        set: Id,
        white: bool,
    },
    /// The squares that sliding pieces on the set reach in direction 0..=7: all empty squares up to the first occupied square,
    /// and that square.
    Slide {
        set: Id,
        empty: Id,
        dir: u8,
    },
    /// The squares that are `lo..=hi` steps away from the set in one of the directions. Squares in between need not be empty.
    Walk {
        set: Id,
        dirs: u8,
        lo: i8,
        hi: i8,
    },
    /// Mask: the set is not empty.
    NonEmpty(Id),
    /// Mask: the set consists of exactly one square.
    Single(Id),
    /// Number: the number of squares in the set.
    Count(Id),
    /// Number: the rank 1..=8 of the set's lowest square. Used only for sets of one square.
    Rank(Id),
    /// Number: the file 1..=8 of the set's lowest square.
    File(Id),
    /// Number: the code of the content of the set's only square: 0, 1..=6, 9..=14.
    Content(Id),
    /// The square with this file and rank, or the empty set if one of them is outside 1..=8.
    MakeSquare {
        file: Id,
        rank: Id,
    },
    Add(Id, Id),
    Sub(Id, Id),
    Mul(Id, Id),
    /// The quotient, truncated towards zero, or 0 if the divisor is 0.
    Div(Id, Id),
    /// The remainder with the sign of the dividend, or 0 if the divisor is 0.
    Rem(Id, Id),
    /// The integer part of the square root, or 0 for a negative number.
    Sqrt(Id),
    /// The larger of two numbers, compared as `i64`.
    Max(Id, Id),
    /// Mask: the two numbers, compared as `i64`, are in the given relation.
    Compare(Cmp, Id, Id),
    /// Mask: the operand, a mask, is true, and the side to move has a king but no legal move.
    NoMoves(Id),
    /// The squares of the men that take part in a pure mate, at the positions in the mask `within`. All these positions must be
    /// mates. If `mate` is false, they must be stalemates, and the result is the men of a pure stalemate.
    PureMen {
        within: Id,
        mate: bool,
    },
    /// The target squares of the legal moves from a square in `from` to a square in `to`. If `pseudo` is true, pseudolegal moves
    /// count as well. If `left` is true, the result consists of the origin squares instead.
    Legal {
        from: Id,
        to: Id,
        pseudo: bool,
        only: Special,
        left: bool,
    },
    /// The number of legal (or pseudolegal) moves from a square in `from` to a square in `to`. Moves with equal origin and target
    /// squares, such as different promotions, count once.
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
    /// Returns the operation with its operands replaced. `to` maps each operand to its replacement.
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

    /// Returns true if the operation reads the whole position, including the side to move, castling rights and en passant rights,
    /// and not only its operands.
    #[must_use]
    pub const fn takes_whole_positions(self) -> bool {
        matches!(self, Op::NoMoves(_) | Op::PureMen { .. } | Op::Legal { .. } | Op::LegalCount { .. })
    }

    /// Returns the operands. The body of a loop does not count as an operand.
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
