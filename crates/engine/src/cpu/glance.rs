//! Computes cheap bounds for a segment, such as the squares on which a piece may arrive, by comparing all of its moves
//! with patterns. Such a comparison is a *glance* at the segment.
//!
//! A *segment* is 32 consecutive positions, stored as the first position (the *key*) and the moves. A *screen* uses
//! such bounds to skip segments in which no position can match. The bounds of a glance are wider than those of
//! [`Moved`](orbit_reel::bounds::Moved), but cheaper to compute. They already exclude most segments, so the exact
//! bounds are computed only for the few that remain.

use orbit_core::board::{Board, Code, PieceSet, Position};
use orbit_core::isa::Isa;
use orbit_plan::{Bound, BoundRead, Reg, Screen};
use orbit_reel::{Block, SEGMENT_SLOTS, bounds::SegmentMoves, lanes::LANES};

/// The maximum number of squares for which a glance (a comparison of all moves with patterns) detects arrivals of one kind of
/// piece. Each square needs its own pattern. If a screen depends on more squares, no glance is used.
const SQUARES_MAX: u32 = 12;

const STANDARD: Board = Position::STANDARD.board;

const PAWN: u8 = 1;
const ROOK: u8 = 4;
const KING: u8 = 6;
const BLACK: u8 = 8;

/// The cheap bounds that a screen (a program that finds segments to skip) reads about each segment. They are computed
/// by comparing the moves of the segment with patterns.
#[derive(Clone, Debug)]
pub(super) struct Glance {
    pub(super) reads: Vec<(GlanceResult, Reg)>,
    /// The patterns of moves that bring pieces to certain squares, as lookup tables.
    pub(super) arrivals: Vec<PatternTables>,
}

/// A bound that a glance (a comparison of all moves of a segment with patterns) computes for each segment, such as the
/// squares on which a piece may arrive.
#[derive(Clone, Debug)]
pub(super) enum GlanceResult {
    /// The union of the words ([`MovePattern::word`]) of all patterns that match a move of the segment.
    Patterns(Vec<MovePattern>),
    /// The squares on which pieces may arrive. They are the union of the words of the patterns in [`Glance::arrivals`]
    /// that match a move. If a game begins in the segment of 32 positions, they include `at_first`, the squares of
    /// these pieces in the standard position.
    Arrivals { at_first: u64 },
    /// A word with all bits set, a bound that excludes nothing.
    All,
    /// The maximum number of pieces that one side can lose in the segment before a game ends there. It is the number of
    /// moves before the first end of a game or, if `half` is true, half of this number, rounded up.
    Moves { half: bool },
    /// A mask that is true if exactly one game begins in the segment (32 positions).
    Standard,
    /// A mask that is true if more than one game begins in the segment (32 positions).
    Other,
}

/// A pattern for packed moves. A move is compared with up to 16 patterns at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MovePattern {
    /// The bits of a [`PackedMove`](orbit_core::board::PackedMove) that the pattern compares.
    pub(super) bits: u16,
    /// The required values of these bits.
    pub(super) set: u16,
    /// The word that the pattern adds to the result if a move matches it, for example the square on which a piece
    /// arrives.
    pub(super) word: u64,
}

/// Lookup tables for at most 16 patterns. They cannot represent patterns that depend on the origin of a move.
#[derive(Clone, Debug)]
pub(super) struct PatternTables {
    /// The patterns, each with the register to which its word ([`MovePattern::word`]) is added if a move matches it.
    pub(super) patterns: Vec<(MovePattern, Reg)>,
    /// The patterns that allow each destination square and, in the second table, each move code. Bit `k` stands for
    /// pattern `k`.
    #[cfg(target_arch = "x86_64")]
    by_square: [u16; 64],
    #[cfg(target_arch = "x86_64")]
    by_code: [u16; 32],
}

impl Glance {
    /// Creates the glance (the comparison of moves with patterns) for a screen, or returns `None` if the screen depends on too
    /// many squares.
    pub(super) fn new(screen: &Screen) -> Option<Glance> {
        let (mut reads, mut patterns) = (Vec::new(), Vec::new());
        for (BoundRead { bound, bits }, reg) in screen.loads() {
            if let Bound::Arrivals(code) = bound {
                patterns.extend(arrivals(code, bits)?.into_iter().map(|pattern| (pattern, reg)));
            }
            reads.extend(GlanceResult::new(bound).map(|seen| (seen, reg)));
        }
        Some(Glance { reads, arrivals: patterns.chunks(16).map(PatternTables::new).collect() })
    }

    /// Returns true if glances (comparisons of moves with patterns) give valid bounds for a block: all games but the
    /// first begin from the standard position, and no game has side lines.
    pub(super) fn can_look_at(block: &Block) -> bool {
        block.starts.is_empty()
    }
}

impl GlanceResult {
    /// Returns the cheap bound that a glance computes in place of an exact bound. Returns `None` for the bit planes of
    /// the next segment's first position, because they are read directly from this position.
    fn new(bound: Bound) -> Option<GlanceResult> {
        Some(match bound {
            Bound::Arrivals(code) => GlanceResult::Arrivals { at_first: STANDARD.having(code).0 },
            Bound::Touched => GlanceResult::All,
            Bound::Promotions(set) => GlanceResult::Patterns(promotions(set)),
            // A move captures at most one piece. The two sides move alternately, so at most every other move captures a
            // piece of a given side. But a set that contains pawns can lose one on every move, because the side of
            // these pawns may promote one on its own moves.
            Bound::Losses(set) => {
                GlanceResult::Moves { half: set.0 & (1 << PAWN | 1 << (PAWN | BLACK)) == 0 }
            }
            Bound::Standard => GlanceResult::Standard,
            Bound::Other => GlanceResult::Other,
            Bound::Next(_) => return None,
            Bound::Fewest(_) | Bound::Most(_) => unreachable!("screens of material read them"),
        })
    }
}

impl PatternTables {
    fn new(patterns: &[(MovePattern, Reg)]) -> PatternTables {
        #[cfg(target_arch = "x86_64")]
        let having = |mask: u16, bits: usize| {
            (0..).zip(patterns).fold(0, |all, (k, (pattern, _))| {
                all | u16::from(bits as u16 & pattern.bits & mask == pattern.set & mask) << k
            })
        };
        PatternTables {
            patterns: patterns.to_vec(),
            #[cfg(target_arch = "x86_64")]
            by_square: std::array::from_fn(|square| having(0x0fc0, square << 6)),
            #[cfg(target_arch = "x86_64")]
            by_code: std::array::from_fn(|code| having(0xf000, code << 12)),
        }
    }

    /// Returns one word for each of eight segments. Bit `k` of the word is set if pattern `k` matches at least one move
    /// of the segment.
    #[inline(always)]
    pub(super) fn found(&self, isa: Isa, moves: &SegmentMoves) -> [u64; LANES] {
        match isa {
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "compilers do not find these instructions by themselves")]
            // SAFETY: a value of `Isa` exists only if the processor has its instructions.
            Isa::Avx512(_) => unsafe { self.looked_up(moves) },
            _ => found(moves, self.patterns.iter().map(|&(pattern, _)| pattern)),
        }
    }

    /// Computes the same result as the function [`found`], but with vector instructions that look up 32 table entries
    /// at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn looked_up(&self, moves: &SegmentMoves) -> [u64; LANES] {
        use std::arch::x86_64::{
            __m512i, _mm512_and_si512, _mm512_or_si512, _mm512_permutex2var_epi16, _mm512_permutexvar_epi16,
            _mm512_shuffle_i64x2, _mm512_srli_epi16, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
        };
        let [low, high]: [__m512i; 2] = bytemuck::cast(self.by_square);
        let codes: __m512i = bytemuck::cast(self.by_code);
        let words = |n: usize| {
            let moves: __m512i = bytemuck::cast(moves[n]);
            // The instruction selects an entry by the lowest bits of each number. It ignores the higher bits.
            let squares = _mm512_permutex2var_epi16(low, _mm512_srli_epi16::<6>(moves), high);
            _mm512_and_si512(squares, _mm512_permutexvar_epi16(_mm512_srli_epi16::<12>(moves), codes))
        };
        // Joins two vectors into one. In each of them, the first quarter is combined with the second by a bitwise or,
        // and the third with the fourth.
        let halved =
            |a, b| _mm512_or_si512(_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b));
        let four = |first: usize| {
            let two = |n: usize| halved(words(n), words(n + 2));
            halved(two(first), two(first + 4))
        };
        let (even, odd) = (four(0), four(1));
        let eight = _mm512_or_si512(_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd));
        let mut out: [u64; LANES] = bytemuck::cast(eight);
        for word in &mut out {
            *word |= *word >> 32;
            *word = (*word | *word >> 16) & 0xffff;
        }
        out
    }
}

/// Returns one word for each of eight segments. Bit `k` of the word is set if pattern `k` matches at least one move of
/// the segment. There may be at most 16 patterns.
#[inline(always)]
pub(super) fn found(moves: &SegmentMoves, patterns: impl Iterator<Item = MovePattern>) -> [u64; LANES] {
    // The inner loop runs over consecutive moves in memory, because compilers vectorise such loops most reliably.
    let mut found = [[0u16; SEGMENT_SLOTS]; LANES];
    for (at, MovePattern { bits, set, .. }) in patterns.enumerate() {
        let bit = 1 << at;
        for (found, mv) in found.as_flattened_mut().iter_mut().zip(moves.as_flattened()) {
            *found |= if mv.0 & bits == set { bit } else { 0 };
        }
    }
    let mut all = [0; LANES];
    for n in 0..LANES {
        all[n] = found[n].iter().fold(0, |all, found| all | found).into();
    }
    all
}

/// Returns the patterns of moves that bring a piece to one of the given squares. Castling and en passant each have one
/// pattern for several squares. Returns `None` if there are too many squares.
fn arrivals(Code(code): Code, squares: u64) -> Option<Vec<MovePattern>> {
    if squares.count_ones() > SQUARES_MAX {
        return None;
    }
    let squares_of = (0..64).filter(|square| squares >> square & 1 != 0);
    let to = |square: u16| MovePattern {
        bits: 0xffc0,
        set: u16::from(code) << 12 | square << 6,
        word: 1 << square,
    };
    let mut patterns: Vec<MovePattern> = squares_of.map(to).collect();
    let (is_black, role) = (code & BLACK != 0, code & !BLACK);
    let (home, passing) = if is_black { (7, 2) } else { (0, 5) };
    let on = |files: u64, rank: u16| squares & files << (8 * rank);
    let castled = match role {
        KING => on(0b0100_0100, home),
        ROOK => on(0b0010_1000, home),
        _ => 0,
    };
    if castled != 0 {
        // In a packed castling move, the destination is the rook's square. Moves are legal, so this square is on the
        // rank of the king.
        patterns.push(MovePattern { bits: 0xfe00, set: home << 9, word: castled });
    }
    if role == PAWN && on(0xff, passing) != 0 {
        patterns.push(MovePattern { bits: 0xfe00, set: 7 << 12 | passing << 9, word: on(0xff, passing) });
    }
    Some(patterns)
}

/// Returns the patterns of moves by one side that may be promotions to one of the given pieces. A packed promotion
/// contains the code of the new piece, so it looks like a move of this piece from the side's seventh rank to the last.
pub(super) fn promotions(set: PieceSet) -> Vec<MovePattern> {
    let ranks = if set.0 & PieceSet::BLACK.0 != 0 { 1 << 3 } else { 7 << 9 | 6 << 3 };
    let codes = (1..15).filter(|&code| set.contains(Code(code)));
    let pattern = |code| MovePattern { bits: 0xfe38, set: u16::from(code) << 12 | ranks, word: u64::MAX };
    codes.map(pattern).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbit_core::board::PackedMove;

    #[test]
    fn what_is_looked_up_is_what_is_compared() {
        // Compares every pattern of arrivals, sixteen at a time, with every possible value of a packed move.
        let patterns: Vec<(MovePattern, Reg)> = (1..15)
            .flat_map(|code| {
                [0xffff, 0xffff << 16, 0xffff << 32, 0xffff << 48].map(|bits| (Code(code), bits))
            })
            .flat_map(|(code, bits)| {
                arrivals(code, bits & 0xfff0_0fff_fff0_0fff).expect("twelve squares are few")
            })
            .map(|pattern| (pattern, Reg(0)))
            .collect();
        assert!(patterns.len() > 600);
        let all: Vec<PackedMove> = (0..=u16::MAX).map(PackedMove).collect();
        // Builds segments whose moves have widely spaced values.
        let moves = |first: usize| {
            let mut moves = [[PackedMove::NULL; SEGMENT_SLOTS]; LANES];
            moves
                .as_flattened_mut()
                .iter_mut()
                .enumerate()
                .for_each(|(i, mv)| *mv = all[(first + 257 * i) % all.len()]);
            moves
        };
        for isa in Isa::available() {
            let mut seen = 0;
            for (at, patterns) in patterns.chunks(16).enumerate() {
                let lookup = PatternTables::new(patterns);
                for first in 0..257 {
                    let moves = moves(first + 1024 * at);
                    let expected = moves.map(|segment| {
                        let has = |&(MovePattern { bits, set, .. }, _): &(MovePattern, Reg)| {
                            segment.iter().any(|mv| mv.0 & bits == set)
                        };
                        (0..).zip(patterns).fold(0u64, |all, (k, pattern)| all | u64::from(has(pattern)) << k)
                    });
                    assert_eq!(lookup.found(isa, &moves), expected, "{}", isa.name());
                    seen += expected.iter().map(|word| word.count_ones()).sum::<u32>();
                }
            }
            assert!(seen > 1000);
        }
    }
}
