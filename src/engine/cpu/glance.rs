//! What is known of segments at a glance: wider bounds than those of [`Moved`](crate::reel::bounds::Moved), from
//! comparisons of all moves of a segment with patterns. They pass over most segments, so that only few are looked at
//! more closely.

use crate::{
    board::{Board, Code, PieceSet, Position},
    plan::{Bound, BoundRead, Reg, Screen},
    reel::Block,
};

/// Screens that depend on more squares of a piece are not glanced at: a comparison is needed for each.
const SQUARES_MAX: u32 = 12;

const STANDARD: Board = Position::standard().board;

const PAWN: u8 = 1;
const ROOK: u8 = 4;
const KING: u8 = 6;
const BLACK: u8 = 8;

/// What is read at a glance.
#[derive(Clone, Debug)]
pub(super) struct Glance {
    pub(super) reads: Vec<(Seen, Reg)>,
}

/// What a glance tells of a segment.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    /// The words of the patterns that moves have, together.
    Patterns(Vec<Pattern>),
    /// The same, and another word if a game begins in the segment.
    Arrivals { patterns: Vec<Pattern>, at_first: u64 },
    /// The number of moves before a beginning in the segment, or half of it.
    Moves { half: bool },
    /// Mask: one game begins in the segment.
    Standard,
    /// Mask: more than one begins in it.
    Other,
}

/// A pattern of moves, of which at most 16 are looked for together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pattern {
    /// Bits of a [`PackedMove`](crate::board::PackedMove).
    pub(super) bits: u16,
    /// How they are set where it has the pattern.
    pub(super) set: u16,
    /// What is told of it.
    pub(super) word: u64,
}

impl Glance {
    /// What to look at for a screen, if it depends on few squares.
    pub(super) fn new(screen: &Screen) -> Option<Glance> {
        let reads = screen.loads().filter(|(read, _)| !matches!(read.bound, Bound::Next(_)));
        let reads: Option<Vec<(Seen, Reg)>> =
            reads.map(|(read, reg)| Some((Seen::new(read)?, reg))).collect();
        Some(Glance { reads: reads? })
    }

    /// Whether all games of a block but the first begin from the standard position, and none has side lines: others need
    /// a closer look.
    pub(super) fn can_look_at(block: &Block) -> bool {
        block.starts.is_empty()
    }
}

impl Seen {
    fn new(BoundRead { bound, bits }: BoundRead) -> Option<Seen> {
        Some(match bound {
            Bound::Arrivals(code) => {
                Seen::Arrivals { patterns: arrivals(code, bits)?, at_first: STANDARD.having(code).0 }
            }
            // A pattern that all moves have.
            Bound::Touched => Seen::Patterns(vec![Pattern { bits: 0, set: 0, word: u64::MAX }]),
            Bound::Promotions(set) => Seen::Patterns(promotions(set)),
            // A move captures once; each side plays every other one.
            Bound::Losses(set) => Seen::Moves { half: set.0 & (1 << PAWN | 1 << (PAWN | BLACK)) == 0 },
            Bound::Standard => Seen::Standard,
            Bound::Other => Seen::Other,
            Bound::Next(_) => unreachable!("planes are read from keys"),
        })
    }
}

/// The patterns of moves that put a piece on some squares, and perhaps of more castling and captures in passing.
fn arrivals(Code(code): Code, squares: u64) -> Option<Vec<Pattern>> {
    if squares.count_ones() > SQUARES_MAX {
        return None;
    }
    let squares_of = (0..64).filter(|square| squares >> square & 1 != 0);
    let to =
        |square: u16| Pattern { bits: 0xffc0, set: u16::from(code) << 12 | square << 6, word: 1 << square };
    let mut patterns: Vec<Pattern> = squares_of.map(to).collect();
    let (is_black, role) = (code & BLACK != 0, code & !BLACK);
    let (home, passing) = if is_black { (7, 2) } else { (0, 5) };
    let on = |files: u64, rank: u16| squares & files << (8 * rank);
    let castled = match role {
        KING => on(0b0100_0100, home),
        ROOK => on(0b0010_1000, home),
        _ => 0,
    };
    if castled != 0 {
        patterns.push(Pattern { bits: 0xf038, set: home << 3, word: castled });
    }
    if role == PAWN && on(0xff, passing) != 0 {
        patterns.push(Pattern { bits: 0xfe00, set: 7 << 12 | passing << 9, word: on(0xff, passing) });
    }
    Some(patterns)
}

/// The patterns of moves of some pieces of one side from the last rank but one to the last.
pub(super) fn promotions(set: PieceSet) -> Vec<Pattern> {
    let ranks = if set.0 & PieceSet::BLACK.0 != 0 { 1 << 3 } else { 7 << 9 | 6 << 3 };
    let codes = (1..15).filter(|&code| set.contains(Code(code)));
    let pattern = |code| Pattern { bits: 0xfe38, set: u16::from(code) << 12 | ranks, word: u64::MAX };
    codes.map(pattern).collect()
}
