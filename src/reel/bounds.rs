//! What is known of the positions of segments from their keys and moves, without replay.
//!
//! A piece stands in some position of a segment only where it stands in the key, or where a move of the segment puts it;
//! and it stands in all of them where it stands in the key on a square that no move touches. Where a game or a side line
//! begins inside a segment, what stands at its beginning counts as put there. Numbers of pieces follow from the keys of a
//! segment and of the next one, since pieces only ever leave the board, promotions aside; where a game ends in between,
//! from the number of moves that are left to capture.
//!
//! Eight segments are taken at once, one in each lane. What is called in loops is inlined, so that a caller compiled for
//! wider vectors gets its own copy.

use super::lanes::LANES;
use super::replay::next_start;
use super::{Block, SEGMENT_SLOTS};
use crate::board::{Board, Code, MoveKind, PackedMove, Position};

/// How many pieces [`Moved`] looks at.
pub const PIECES: usize = 4;

/// Of the moves of eight segments.
const BYTES: usize = LANES * SEGMENT_SLOTS * size_of::<PackedMove>();

const STANDARD: Board = Position::standard().board;

const PAWN: u8 = 1;
const ROOK: u8 = 4;
const KING: u8 = 6;
const BLACK: u8 = 8;

/// What the moves of eight segments do.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// For some pieces, the squares on which moves put them.
    pub arrivals: [[u64; LANES]; PIECES],
    /// The squares that moves leave or reach, and perhaps more.
    pub touched: [u64; LANES],
    /// The moves that are no moves of a piece, a bit for each.
    special: [u64; LANES],
    /// Those of them after which a game or a side line begins.
    starts: [u64; LANES],
}

/// What is known of eight segments because games or side lines begin in them; zero where none does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Begun {
    /// All bits where there is one beginning, and it is the standard position.
    pub standard: [u64; LANES],
    /// All bits where there are others.
    pub other: [u64; LANES],
    /// How many moves a side may have played before the beginning, where there is one.
    pub moves: [u64; LANES],
}

impl Moved {
    /// The moves of segments from `first` on, of a block that has as many as there are lanes, and the squares on which
    /// they put the pieces with some codes. A code of 16 stands for no piece.
    ///
    /// # Panics
    ///
    /// When there are fewer segments.
    #[expect(clippy::needless_range_loop, reason = "plain loops over lanes become vector code")]
    #[inline(always)]
    pub fn of(block: &Block, first: usize, codes: [u64; PIECES]) -> Moved {
        let mut padded = [0; BYTES];
        let rest: &[u8] = bytemuck::cast_slice(&block.moves[first * SEGMENT_SLOTS..]);
        let bytes: &[u8; BYTES] = match rest.first_chunk() {
            Some(whole) => whole,
            None => {
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            }
        };
        // Four moves in each.
        let words: &[[[u8; 8]; SEGMENT_SLOTS / 4]; LANES] = bytemuck::cast_ref(bytes);
        let mut out = Moved {
            arrivals: [[0; LANES]; PIECES],
            touched: [0; LANES],
            special: [0; LANES],
            starts: [0; LANES],
        };
        for four in 0..SEGMENT_SLOTS / 4 {
            let mut left = [0u64; LANES];
            for n in 0..LANES {
                left[n] = u64::from_ne_bytes(words[n][four]);
            }
            for k in 0..4 {
                for n in 0..LANES {
                    let mv = left[n] >> (16 * if cfg!(target_endian = "little") { k } else { 3 - k });
                    let (from, to, code) = (mv & 63, mv >> 6 & 63, mv >> 12 & 15);
                    let bit = 1u64 << to;
                    // Codes 0, 7, 8 and 15: the role is 0 or 7.
                    let special = u64::from((code + 1) & 6 == 0);
                    out.special[n] |= special << (4 * four + k);
                    out.starts[n] |= u64::from(code == 15) << (4 * four + k);
                    out.touched[n] |= bit | 1 << from;
                    for piece in 0..PIECES {
                        out.arrivals[piece][n] |= if code == codes[piece] { bit } else { 0 };
                    }
                }
            }
        }
        out
    }

    /// Adds what castling, captures in passing and beginnings change in the `n`-th of the segments.
    pub fn add_special(&mut self, block: &Block, first: usize, n: usize, codes: [u64; PIECES]) {
        let segment = first + n;
        let mut start = block.keys[segment].first_start as usize;
        let mut arrive = |code: u8, squares: u64| {
            for (arrivals, _) in self.arrivals.iter_mut().zip(codes).filter(|&(_, of)| of == u64::from(code))
            {
                arrivals[n] |= squares;
            }
        };
        let mut special = self.special[n];
        while special != 0 {
            let mv = block.moves.get(segment * SEGMENT_SLOTS + special.trailing_zeros() as usize);
            special &= special - 1;
            let Some(&mv) = mv else { break };
            let (from, to) = (mv.from() as u32, mv.to() as u32);
            let rank = from & 56;
            match mv.kind() {
                MoveKind::Castle => {
                    let (king, rook) = mv.castled();
                    let (king, rook) = (1 << king as u32, 1 << rook as u32);
                    let color = if rank == 0 { 0 } else { BLACK };
                    arrive(KING | color, king);
                    arrive(ROOK | color, rook);
                    self.touched[n] |= king | rook;
                }
                MoveKind::EnPassant => {
                    arrive(PAWN | if to < 32 { BLACK } else { 0 }, 1 << to);
                    self.touched[n] |= 1 << (rank | to & 7);
                }
                MoveKind::Start => {
                    let board = match mv.is_start_table() {
                        true => next_start(block, true, &mut start).board,
                        false => STANDARD,
                    };
                    for code in codes.into_iter().filter(|&code| code < 16) {
                        arrive(code as u8, board.having(Code(code as u8)).0);
                    }
                    let key = &block.keys[segment].board;
                    let differ = key.planes.iter().zip(board.planes).fold(0, |all, (a, b)| all | a ^ b);
                    self.touched[n] |= differ;
                }
                MoveKind::Null | MoveKind::Piece(_) => {}
            }
        }
    }

    /// Whether the `n`-th of the segments has moves that are no moves of a piece.
    pub fn is_special(&self, n: usize) -> bool {
        self.special[n] != 0
    }

    /// Whether games or side lines begin in the `n`-th of the segments.
    pub fn is_start(&self, n: usize) -> bool {
        self.starts[n] != 0
    }

    /// Adds what is known of the `n`-th of the segments, in which games or side lines begin.
    pub fn add_begun(&self, block: &Block, first: usize, n: usize, begun: &mut Begun) {
        let (segment, starts) = (first + n, self.starts[n]);
        let moves = &block.moves[segment * SEGMENT_SLOTS..];
        let end = starts.trailing_zeros() as usize;
        if starts & starts.wrapping_sub(1) != 0 || moves.get(end).is_none_or(|mv| mv.is_start_table()) {
            begun.other[n] = u64::MAX;
            return;
        }
        begun.standard[n] = u64::MAX;
        begun.moves[n] = end.div_ceil(2) as u64;
    }
}
