//! Moves back to positions.
//!
//! [`segment`] is the hot loop of every engine that runs on the CPU: it writes 32 positions as
//! columns and looks at nothing but the segment's key, its moves and the start table.

use std::ops::Range;

use super::{Block, Key, SEGMENT_SLOTS};
use crate::board::{Board, PackedMove, Position, State};

/// Where one segment is written: element `i` of each array is slot `i` of the segment.
pub struct SegmentOut<'a> {
    /// The four planes of [`Board`].
    pub planes: [&'a mut [u64; SEGMENT_SLOTS]; 4],
    /// The bits of [`State`].
    pub states: &'a mut [u32; SEGMENT_SLOTS],
    /// Half-moves played.
    pub plies: &'a mut [u32; SEGMENT_SLOTS],
}

/// What is known of the slots of a segment in one bit each, bit `i` for slot `i`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Masks {
    /// Slots that hold a position: all but the tail of a block's last segment.
    pub valid: u32,
    /// First positions of their games.
    pub initial: u32,
    /// Last positions of their games.
    pub terminal: u32,
}

/// Replays segment `seg` of a block from its key. Slots beyond the block are written as zeros.
///
/// # Panics
///
/// When there is no such segment.
#[inline]
pub fn segment(block: &Block, seg: usize, out: &mut SegmentOut<'_>) -> Masks {
    let key = &block.keys[seg];
    match block.moves[seg * SEGMENT_SLOTS..].first_chunk() {
        Some(moves) => full_segment(block, key, moves, out),
        None => last_segment(block, key, &block.moves[seg * SEGMENT_SLOTS..], out),
    }
}

/// Replays a segment that is not full.
#[cold]
fn last_segment(block: &Block, key: &Key, moves: &[PackedMove], out: &mut SegmentOut<'_>) -> Masks {
    let mut padded = [PackedMove::NULL; SEGMENT_SLOTS];
    padded[..moves.len()].copy_from_slice(moves);
    let mut masks = full_segment(block, key, &padded, out);
    out.planes.iter_mut().for_each(|plane| plane[moves.len()..].fill(0));
    out.states[moves.len()..].fill(0);
    out.plies[moves.len()..].fill(0);
    masks.valid = (1 << moves.len()) - 1;
    masks.initial &= masks.valid;
    masks
}

#[inline]
fn full_segment(
    block: &Block,
    key: &Key,
    moves: &[PackedMove; SEGMENT_SLOTS],
    out: &mut SegmentOut<'_>,
) -> Masks {
    let [o0, o1, o2, o3] = out.planes.each_mut();
    let mut at = Replay::new(key.position());
    let (mut ply, mut start, mut terminal) = (key.ply, key.first_start as usize, 0u32);
    for i in 0..SEGMENT_SLOTS {
        let Replay { planes, state, .. } = at;
        [o0[i], o1[i], o2[i], o3[i]] = planes;
        out.states[i] = state;
        out.plies[i] = ply;
        let mv = moves[i];
        ply = ply.wrapping_add(1);
        if !at.play_piece(mv) {
            let mut position = at.position();
            if mv.is_start() {
                terminal |= 1 << i;
                ply = 0;
                position = next_start(block, mv.is_start_table(), &mut start);
            } else {
                position.play(mv);
            }
            at = Replay::new(position);
        }
    }
    Masks { valid: u32::MAX, initial: terminal << 1 | u32::from(key.ply == 0), terminal }
}

/// A position in registers, with the squares at which castling rights can be lost.
#[derive(Clone, Copy)]
struct Replay {
    planes: [u64; 4],
    state: u32,
    /// The rooks that may castle.
    rooks: u64,
    /// All ones while any right is left, else 0.
    rights: u64,
}

impl Replay {
    #[inline]
    fn new(position: Position) -> Replay {
        let rooks = position.state.castling_rooks().0;
        let rights = if position.state.0 >> 16 != 0 { u64::MAX } else { 0 };
        Replay { planes: position.board.planes, state: position.state.0, rooks, rights }
    }

    #[inline]
    fn position(&self) -> Position {
        Position { board: Board { planes: self.planes }, state: State(self.state) }
    }

    /// Does what [`Position::play`] does, for moves of [`MoveKind::Piece`](crate::board::MoveKind);
    /// any other is left unplayed and the answer is false. Two branches, both seldom taken.
    #[inline(always)]
    fn play_piece(&mut self, mv: PackedMove) -> bool {
        let bits = mv.0 as u32;
        let (from, to, code) = (bits & 63, bits >> 6 & 63, bits >> 12);
        if PackedMove::PIECE_CODES >> code & 1 == 0 {
            return false;
        }
        let [p0, p1, p2, p3] = self.planes;
        let (from_bit, to_bit) = (1u64 << from, 1u64 << to);
        if (from_bit | to_bit) & self.rooks | from_bit & !p0 & p1 & p2 & self.rights != 0 {
            let mut position = self.position();
            position.play(mv);
            *self = Replay::new(position);
            return true;
        }
        let pawn = (p0 & !p1 & !p2) >> from & 1;
        // The square passed over if a pawn moved 16 squares, else 64.
        let double = pawn as u32 & u32::from(from.abs_diff(to) == 16);
        let passed = 64 ^ (64 ^ ((from + to) / 2)) & double.wrapping_neg();
        self.state = (self.state & !0xff00 | passed << 8) ^ 1;
        let (keep, code) = (!(from_bit | to_bit), code as u64);
        self.planes = [
            p0 & keep | (code & 1) << to,
            p1 & keep | (code >> 1 & 1) << to,
            p2 & keep | (code >> 2 & 1) << to,
            p3 & keep | (code >> 3) << to,
        ];
        true
    }
}

/// The position that a start code leads to. Past the table (after the last game of a block whose
/// moves were tampered with) it is the standard one.
#[cold]
fn next_start(block: &Block, from_table: bool, next: &mut usize) -> Position {
    if !from_table {
        return Position::standard();
    }
    *next += 1;
    block.starts.get(*next - 1).copied().unwrap_or_else(Position::standard)
}

/// One segment's positions as columns.
#[derive(Clone, Debug)]
pub struct SegmentColumns {
    /// The four planes of [`Board`].
    pub planes: [[u64; SEGMENT_SLOTS]; 4],
    /// The bits of [`State`].
    pub states: [u32; SEGMENT_SLOTS],
    /// Half-moves played.
    pub plies: [u32; SEGMENT_SLOTS],
    /// Which slots are positions, first and last ones.
    pub masks: Masks,
}

impl SegmentColumns {
    /// Columns to write to.
    pub fn new() -> SegmentColumns {
        SegmentColumns {
            planes: [[0; SEGMENT_SLOTS]; 4],
            states: [0; SEGMENT_SLOTS],
            plies: [0; SEGMENT_SLOTS],
            masks: Masks::default(),
        }
    }

    /// Replays a segment into the columns.
    #[inline]
    pub fn replay(&mut self, block: &Block, seg: usize) {
        let mut out =
            SegmentOut { planes: self.planes.each_mut(), states: &mut self.states, plies: &mut self.plies };
        self.masks = segment(block, seg, &mut out);
    }

    /// The position of one slot.
    pub fn position(&self, i: usize) -> Position {
        Position { board: Board { planes: self.planes.map(|plane| plane[i]) }, state: State(self.states[i]) }
    }
}

impl Default for SegmentColumns {
    fn default() -> SegmentColumns {
        SegmentColumns::new()
    }
}

/// The positions of several segments as columns: slot `i` of the `n`-th segment is element
/// `n * 32 + i`.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The four planes of [`Board`].
    pub planes: [Vec<u64>; 4],
    /// The bits of [`State`].
    pub states: Vec<u32>,
    /// Half-moves played.
    pub plies: Vec<u32>,
    /// One element for each segment.
    pub masks: Vec<Masks>,
}

impl Columns {
    /// Columns for up to `segments` segments.
    pub fn with_capacity(segments: usize) -> Columns {
        let slots = segments * SEGMENT_SLOTS;
        Columns {
            planes: std::array::from_fn(|_| vec![0; slots]),
            states: vec![0; slots],
            plies: vec![0; slots],
            masks: vec![Masks::default(); segments],
        }
    }

    /// Replays the segments of a range into the front of the columns, which grow when there are
    /// too few; what lies behind them is left as it was.
    pub fn replay(&mut self, block: &Block, range: Range<usize>) {
        if self.masks.len() < range.len() {
            *self = Columns::with_capacity(range.len());
        }
        let [p0, p1, p2, p3] = self.planes.each_mut().map(|plane| plane.as_chunks_mut().0);
        let states = self.states.as_chunks_mut().0;
        let plies = self.plies.as_chunks_mut().0;
        for (n, seg) in range.enumerate() {
            let mut out = SegmentOut {
                planes: [&mut p0[n], &mut p1[n], &mut p2[n], &mut p3[n]],
                states: &mut states[n],
                plies: &mut plies[n],
            };
            self.masks[n] = segment(block, seg, &mut out);
        }
    }
}

/// One position of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Index in the block.
    pub slot: usize,
    /// The position.
    pub position: Position,
    /// Half-moves played.
    pub ply: u32,
    /// Index of its game in the block.
    pub game: usize,
    /// Whether it is the first position of its game.
    pub initial: bool,
    /// Whether it is the last position of its game.
    pub terminal: bool,
}

/// Calls `f` for every slot of a block in order, each segment replayed from its own key.
pub fn for_each_slot(block: &Block, mut f: impl FnMut(Slot)) {
    let mut columns = SegmentColumns::new();
    for seg in 0..block.segments() {
        columns.replay(block, seg);
        let masks = columns.masks;
        let mut game = block.keys[seg].first_game as usize;
        for i in 0..masks.valid.count_ones() as usize {
            let terminal = masks.terminal >> i & 1 != 0;
            f(Slot {
                slot: seg * SEGMENT_SLOTS + i,
                position: columns.position(i),
                ply: columns.plies[i],
                game,
                initial: masks.initial >> i & 1 != 0,
                terminal,
            });
            game += usize::from(terminal);
        }
    }
}

/// Replays a block from its first slot and compares every key with what is reached; returns the
/// first segment whose key differs.
///
/// # Errors
///
/// The index of that segment.
pub fn check_keys(block: &Block) -> Result<(), usize> {
    let Some(mut key) = block.keys.first().copied() else { return Ok(()) };
    if (key.ply, key.first_game, key.first_start) != (0, 0, 0) {
        return Err(0);
    }
    for (seg, moves) in block.moves.chunks(SEGMENT_SLOTS).enumerate() {
        if block.keys.get(seg) != Some(&key) {
            return Err(seg);
        }
        moves.iter().for_each(|&mv| {
            if mv.is_start() {
                let mut start = key.first_start as usize;
                let Position { board, state } = next_start(block, mv.is_start_table(), &mut start);
                let (first_game, first_start) = (key.first_game.wrapping_add(1), start as u32);
                key = Key { board, state, ply: 0, first_game, first_start };
            } else {
                let mut position = key.position();
                position.play(mv);
                let Position { board, state } = position;
                key = Key { board, state, ply: key.ply.wrapping_add(1), ..key };
            }
        });
    }
    Ok(())
}
