//! What is known of the positions of segments from their keys and moves, without replay.
//!
//! A piece stands in some position of a segment only where it stands in the key, or where a move of the segment puts it;
//! and it stands in all of them where it stands in the key on a square that no move touches. Where a game or a side line
//! begins inside a segment, what stands at its beginning counts as put there. Numbers of pieces follow from the keys of a
//! segment and of the next one, since pieces only ever leave the board, promotions aside; where a game ends in between,
//! from counting captures.
//!
//! Eight segments are taken at once, one in each lane. What is called in loops is inlined, so that a caller compiled for
//! wider vectors gets its own copy.

use super::lanes::LANES;
use super::replay::next_start;
use super::{Block, SEGMENT_SLOTS};
use crate::board::{Board, Code, MoveKind, PackedMove};

/// How many pieces [`Moved`] looks at.
pub const PIECES: usize = 4;

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
}

/// What is known of a segment in which games or side lines begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Begun {
    /// All bits where there is one beginning, and it is the standard position; else none.
    pub standard: u64,
    /// All bits where there are others; else none.
    pub other: u64,
    /// How many men White and Black may have lost before the first beginning.
    pub lost: [u64; 2],
    /// How many pawns of White and Black may have been promoted before the first beginning.
    pub promoted: [u64; 2],
}

impl Moved {
    /// The moves of segments from `first` on, of a block that has as many as there are lanes, and the squares on which
    /// they put the pieces with some codes. A code of 16 stands for no piece.
    ///
    /// # Panics
    ///
    /// When there are fewer segments.
    #[inline(always)]
    pub fn of(block: &Block, first: usize, codes: [u64; PIECES]) -> Moved {
        let mut padded = [PackedMove::NULL; LANES * SEGMENT_SLOTS];
        let rest = &block.moves[first * SEGMENT_SLOTS..];
        let moves: &[PackedMove; LANES * SEGMENT_SLOTS] = match rest.first_chunk() {
            Some(whole) => whole,
            None => {
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            }
        };
        let words: &[[[u16; 4]; SEGMENT_SLOTS / 4]; LANES] = bytemuck::cast_ref(moves);
        let mut out = Moved { arrivals: [[0; LANES]; PIECES], touched: [0; LANES], special: [0; LANES] };
        for four in 0..SEGMENT_SLOTS / 4 {
            let mut left = [0u64; LANES];
            for n in 0..LANES {
                let [a, b, c, d] = words[n][four].map(u64::from);
                left[n] = a | b << 16 | c << 32 | d << 48;
            }
            for k in 0..4 {
                for n in 0..LANES {
                    let mv = left[n] >> (16 * k);
                    let (from, to, code) = (mv & 63, mv >> 6 & 63, mv >> 12 & 15);
                    let bit = 1u64 << to;
                    // Codes 0, 7, 8 and 15: the role is 0 or 7.
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
                    let (king, rook) = castled(mv);
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
                    let board = next_start(block, mv.is_start_table(), &mut start).board;
                    for code in codes.into_iter().filter(|&code| code < 16) {
                        arrive(code as u8, having(&board, code));
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

    /// What is known of the `n`-th of the segments if games begin in it.
    pub fn begun(&self, block: &Block, first: usize, n: usize) -> Begun {
        let segment = first + n;
        let moves = &block.moves[segment * SEGMENT_SLOTS..];
        let is_start = |at: &usize| moves.get(*at).is_some_and(|mv| mv.is_start());
        let mut starts = (0..SEGMENT_SLOTS).filter(|at| self.special[n] >> at & 1 != 0).filter(is_start);
        let Some(end) = starts.next() else { return Begun::default() };
        let is_standard = !moves[end].is_start_table() && starts.next().is_none();
        let mut begun = Begun::default();
        if !is_standard {
            begun.other = u64::MAX;
            return begun;
        }
        begun.standard = u64::MAX;
        let [p0, p1, p2, _] = block.keys[segment].board.planes;
        let mut occupied = p0 | p1 | p2;
        for &mv in &moves[..end] {
            let (from, to) = (mv.from() as u32, mv.to() as u32);
            match mv.kind() {
                MoveKind::Piece(Code(code)) => {
                    let color = usize::from(code / BLACK);
                    begun.lost[1 - color] += occupied >> to & 1;
                    occupied = occupied & !(1 << from) | 1 << to;
                    let is_last = to >> 3 == if color == 0 { 7 } else { 0 };
                    let is_near = (from >> 3).abs_diff(to >> 3) == 1 && (from & 7).abs_diff(to & 7) < 2;
                    let may_be = is_last && is_near && code & 7 != PAWN && code & 7 != KING;
                    begun.promoted[color] += u64::from(may_be);
                }
                MoveKind::Castle => {
                    let (king, rook) = castled(mv);
                    occupied = occupied & !(1 << from | 1 << to) | king | rook;
                }
                MoveKind::EnPassant => {
                    begun.lost[usize::from(to >= 32)] += 1;
                    occupied = occupied & !(1 << from | 1 << (from & 56 | to & 7)) | 1 << to;
                }
                MoveKind::Null | MoveKind::Start => {}
            }
        }
        begun
    }
}

/// Where king and rook stand once they have castled.
fn castled(mv: PackedMove) -> (u64, u64) {
    let (from, to) = (mv.from() as u32, mv.to() as u32);
    let rank = from & 56;
    let (king, rook) = if to > from { (rank + 6, rank + 5) } else { (rank + 2, rank + 3) };
    (1 << king, 1 << rook)
}

/// The squares of a board whose content has a code.
fn having(board: &Board, code: u64) -> u64 {
    let same = |plane: u64, bit: usize| plane ^ (code >> bit & 1).wrapping_sub(1);
    let [p0, p1, p2, p3] = board.planes;
    same(p0, 0) & same(p1, 1) & same(p2, 2) & same(p3, 3)
}
