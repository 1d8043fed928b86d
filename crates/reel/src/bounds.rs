//! Bounds on the positions of segments, computed from the key positions and the moves, without replay.
//!
//! A segment consists of 32 consecutive positions; the first one is its key position. A piece can be on a square in some position
//! of a segment only if it is there in the key position or if a move of the segment puts it there. It is there in all positions if
//! it is there in the key position and no move leaves or reaches the square. If a game or a side line begins within a segment, the
//! pieces of its first position count as put on their squares by a move. The bounds on piece counts are computed from the key of
//! the segment and from the next key: only promotions add pieces of a kind, and all other changes remove pieces. If a game ends in
//! between, the captures in its last moves are used instead of the next key.
//!
//! Eight segments are processed together, one in each lane (64-bit word) of a vector. Functions called in loops are inlined, so a
//! caller compiled for wider vectors gets its own version.

pub use super::start_codes::start_mask;

use super::lanes::LANES;
use super::replay::next_start;
use super::{Block, SEGMENT_SLOTS};
use orbit_core::board::{Board, Code, MoveKind, PackedMove, PieceSet, Position};

/// The number of pieces that a [`Moved`] can track. Each is a piece code, that is, a role and a colour.
pub const PIECES: usize = 4;

const STANDARD: Board = Position::STANDARD.board;

const PIECE_CODES: u64 = PackedMove::PIECE_CODES as u64;

const PAWN: u8 = 1;
const ROOK: u8 = 4;
const KING: u8 = 6;
const BLACK: u8 = 8;

/// The moves of eight segments.
pub type SegmentMoves = [[PackedMove; SEGMENT_SLOTS]; LANES];

/// The squares that are left and reached by the moves of eight segments (32 positions each).
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// For each tracked piece code, the squares to which moves bring a piece with this code.
    pub arrivals: [[u64; LANES]; PIECES],
    /// For each segment, a superset of the squares that its moves leave or reach.
    pub touched: [u64; LANES],
    /// For each segment, a mask of the slots with moves that are not of kind [`MoveKind::Piece`].
    special: [u64; LANES],
}

/// The starts of games and side lines in eight segments, each of 32 positions. For a segment without a start, all words are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Begun {
    /// All ones if the segment has exactly one start, which begins a game from the standard position.
    pub standard: [u64; LANES],
    /// All ones if the segment has several starts, or exactly one that begins a side line or a game from another position.
    pub other: [u64; LANES],
}

/// For each of eight segments and each side, the changes in the number of men (pieces and pawns) caused by the moves before the
/// first end of a line in the segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ends {
    /// The number of men of each side that are captured.
    captured: [[u64; LANES]; 2],
    /// An upper bound on the number of promotions by each side.
    promoted: [[u64; LANES]; 2],
}

impl Moved {
    /// Computes the squares to which the moves of eight segments bring the pieces with the given codes. The code 16 stands for no
    /// piece.
    #[expect(clippy::needless_range_loop, reason = "plain loops over lanes become vector code")]
    #[inline(always)]
    pub fn from_moves(moves: &SegmentMoves, codes: [u64; PIECES]) -> Moved {
        // Each 64-bit word contains four moves.
        let words: &[[[u8; 8]; SEGMENT_SLOTS / 4]; LANES] = bytemuck::cast_ref(moves);
        let mut out = Moved { arrivals: [[0; LANES]; PIECES], touched: [0; LANES], special: [0; LANES] };
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
                    // Castling, en passant captures, null moves and start marks are special. Their codes are 0, 7, 8 and 15, whose
                    // low three bits (the role in all other codes) are 0 or 7.
                    let special = u64::from((code + 1) & 6 == 0);
                    out.special[n] |= special << (4 * four + k);
                    out.touched[n] |= bit | 1 << from;
                    for piece in 0..PIECES {
                        out.arrivals[piece][n] |= if code == codes[piece] { bit } else { 0 };
                    }
                }
            }
        }
        out
    }

    /// Adds the effects of castling, en passant captures and starts in the `n`-th of the eight segments.
    pub fn add_special(&mut self, block: &Block, segment: u32, n: usize, codes: [u64; PIECES]) {
        let segment = segment as usize;
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

    /// Returns true if the `n`-th segment has moves that are not of kind [`MoveKind::Piece`].
    pub fn is_special(&self, n: usize) -> bool {
        self.special[n] != 0
    }
}

impl Begun {
    /// Finds the starts of games and side lines in eight segments.
    #[inline(always)]
    pub fn from_moves(moves: &SegmentMoves) -> Begun {
        let mut out = Begun::default();
        for n in 0..LANES {
            let starts = start_mask(&moves[n]);
            let first = moves[n][starts.trailing_zeros() as usize % SEGMENT_SLOTS];
            let mask = match starts.is_power_of_two() && !first.is_start_table() {
                true => &mut out.standard,
                false => &mut out.other,
            };
            mask[n] = if starts != 0 { u64::MAX } else { 0 };
        }
        out
    }
}

impl Ends {
    /// Computes, for each of eight segments, the changes caused by the moves before another game or a side line begins in the
    /// segment. `planes` are the bit planes of the boards at the beginning of the segments.
    #[expect(clippy::needless_range_loop, reason = "plain loops over lanes become vector code")]
    #[inline(always)]
    pub fn from_moves(moves: &SegmentMoves, planes: &[[u64; LANES]; 4]) -> Ends {
        let mut out = Ends::default();
        let (mut occupied, mut has_ended) = ([0; LANES], [0u64; LANES]);
        for n in 0..LANES {
            occupied[n] = planes[0][n] | planes[1][n] | planes[2][n];
        }
        for i in 0..SEGMENT_SLOTS {
            let mut these = [0u64; LANES];
            for n in 0..LANES {
                these[n] = moves[n][i].0.into();
            }
            for n in 0..LANES {
                let mv = these[n];
                let (from, to, code) = (mv & 63, mv >> 6 & 63, mv >> 12);
                has_ended[n] |= u64::from(code == 15);
                let is_piece = PIECE_CODES >> code & 1;
                // If a black piece moves, the captured man is White's.
                let is_black = code >> 3;
                let passing = u64::from(code == 7);
                let passing_white = passing & to >> 5;
                let captures = occupied[n] >> to & is_piece & !has_ended[n];
                let by_black = captures & is_black | passing & !(to >> 5) & !has_ended[n];
                let by_white = captures & !is_black | passing_white & !has_ended[n];
                out.captured[0][n] += by_black & 1;
                out.captured[1][n] += by_white & 1;
                let ranks = mv & (7 << 9 | 7 << 3);
                out.promoted[0][n] += u64::from(ranks == 7 << 9 | 6 << 3) & is_piece & !has_ended[n];
                out.promoted[1][n] += u64::from(ranks == 1 << 3) & is_piece & !has_ended[n];
                let castled = if to > from { 0b0110_0000 } else { 0b0000_1100 } << (from & 56);
                let reached = if code == 0 { castled } else { 1 << to };
                let left = 1 << from | 1 << to | passing << (from & 56 | to & 7);
                // A null move is encoded as a1 to a1, and changes nothing.
                let (reached, left) = if code == 8 { (0, 0) } else { (reached, left) };
                occupied[n] = occupied[n] & !left | reached;
            }
        }
        out
    }

    /// Returns, for each of the eight segments, the maximum decrease in the number of pieces of the kinds in `set`. All kinds in
    /// the set must belong to one side.
    #[inline(always)]
    pub fn losses(&self, set: PieceSet) -> [u64; LANES] {
        let (black, codes) = match set.0 & PieceSet::BLACK.0 {
            0 => (0, [PAWN, KING]),
            _ => (1, [PAWN | BLACK, KING | BLACK]),
        };
        let mut out = self.captured[black];
        // A promotion decreases the number only if the set contains the pawn, and not all pieces to which it can promote.
        let [pawn, king] = codes.map(Code);
        let others = if black == 0 { PieceSet::WHITE } else { PieceSet::BLACK }.0 & !set.0 & !(1 << king.0);
        if set.contains(pawn) && others != 0 {
            out.iter_mut().zip(self.promoted[black]).for_each(|(out, promoted)| *out += promoted);
        }
        out
    }
}

/// Returns the moves of at most [`LANES`] segments of a block. Unused lanes get null moves.
///
/// # Panics
///
/// Panics if there is no such segment, or if there are more segments than lanes.
#[inline(always)]
pub fn moves_of(block: &Block, segments: &[u32]) -> SegmentMoves {
    let mut moves = [[PackedMove::NULL; SEGMENT_SLOTS]; LANES];
    for (n, &segment) in segments.iter().enumerate() {
        let rest = &block.moves[segment as usize * SEGMENT_SLOTS..];
        match rest.first_chunk() {
            Some(whole) => moves[n] = *whole,
            None => moves[n][..rest.len()].copy_from_slice(rest),
        }
    }
    moves
}
