//! Moves back to positions.
//!
//! [`segment`] and the columns' `replay` are the hot loop of every engine that runs on
//! the CPU: they write 32 positions as columns and look at nothing but the segment's key, its moves
//! and the start table. They are inlined, so that a caller compiled for wider vectors or newer
//! instructions gets its own copy.

use super::{Block, Key, SEGMENT_SLOTS};
use crate::board::{Board, PackedMove, Position, State};

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
    pub const fn new() -> SegmentColumns {
        SegmentColumns {
            planes: [[0; SEGMENT_SLOTS]; 4],
            states: [0; SEGMENT_SLOTS],
            plies: [0; SEGMENT_SLOTS],
            masks: Masks { valid: 0, initial: 0, terminal: 0 },
        }
    }

    /// Replays segment `seg` of a block into the columns. Slots beyond the block become zeros.
    ///
    /// # Panics
    ///
    /// When there is no such segment.
    #[inline(always)]
    pub fn replay(&mut self, block: &Block, seg: usize) {
        self.masks = replay_segment(block, seg, self);
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

/// The positions of `N` segments as columns: `planes[k][n][i]` is plane `k` of slot `i` of the
/// `n`-th segment, and `planes[k].as_flattened()` one column of `32 * N` slots. (Arrays and not
/// vectors: with one base address for all of them replay keeps its position in registers.)
#[derive(Clone, Debug)]
pub struct Columns<const N: usize> {
    /// The four planes of [`Board`].
    pub planes: [[[u64; SEGMENT_SLOTS]; N]; 4],
    /// The bits of [`State`].
    pub states: [[u32; SEGMENT_SLOTS]; N],
    /// Half-moves played.
    pub plies: [[u32; SEGMENT_SLOTS]; N],
    /// Which slots are positions, first and last ones.
    pub masks: [Masks; N],
}

impl<const N: usize> Columns<N> {
    /// Columns to write to. They are large: 1,292 bytes a segment.
    pub fn new_boxed() -> Box<Columns<N>> {
        Box::new(Columns {
            planes: [[[0; SEGMENT_SLOTS]; N]; 4],
            states: [[0; SEGMENT_SLOTS]; N],
            plies: [[0; SEGMENT_SLOTS]; N],
            masks: [Masks::default(); N],
        })
    }

    /// Replays the segments from `first` on, as many as the block has and the columns hold, and
    /// returns their number. Slots beyond the block become zeros, and so do masks.
    #[inline(always)]
    pub fn replay(&mut self, block: &Block, first: usize) -> usize {
        let len = block.segments().saturating_sub(first).min(N);
        for n in 0..len {
            self.masks[n] = replay_segment(block, first + n, &mut Nth { columns: self, n });
        }
        for n in len..N {
            self.planes.iter_mut().for_each(|plane| plane[n].fill(0));
            self.states[n].fill(0);
            self.plies[n].fill(0);
            self.masks[n] = Masks::default();
        }
        len
    }
}

/// Where one segment is written.
trait Out {
    /// Writes one slot.
    fn put(&mut self, i: usize, planes: (u64, u64, u64, u64), state: u32);
    /// Where half-moves are written.
    fn plies(&mut self) -> &mut [u32; SEGMENT_SLOTS];
}

impl Out for SegmentColumns {
    #[inline(always)]
    fn put(&mut self, i: usize, planes: (u64, u64, u64, u64), state: u32) {
        let [o0, o1, o2, o3] = &mut self.planes;
        (o0[i], o1[i], o2[i], o3[i]) = planes;
        self.states[i] = state;
    }

    #[inline(always)]
    fn plies(&mut self) -> &mut [u32; SEGMENT_SLOTS] {
        &mut self.plies
    }
}

struct Nth<'a, const N: usize> {
    columns: &'a mut Columns<N>,
    n: usize,
}

impl<const N: usize> Out for Nth<'_, N> {
    #[inline(always)]
    fn put(&mut self, i: usize, planes: (u64, u64, u64, u64), state: u32) {
        let [o0, o1, o2, o3] = &mut self.columns.planes;
        (o0[self.n][i], o1[self.n][i], o2[self.n][i], o3[self.n][i]) = planes;
        self.columns.states[self.n][i] = state;
    }

    #[inline(always)]
    fn plies(&mut self) -> &mut [u32; SEGMENT_SLOTS] {
        &mut self.columns.plies[self.n]
    }
}

/// Where one segment is written, if not to columns of this module: element `i` of each array is slot
/// `i` of the segment.
pub struct SegmentOut<'a> {
    /// The four planes of [`Board`].
    pub planes: [&'a mut [u64; SEGMENT_SLOTS]; 4],
    /// The bits of [`State`].
    pub states: &'a mut [u32; SEGMENT_SLOTS],
    /// Half-moves played.
    pub plies: &'a mut [u32; SEGMENT_SLOTS],
}

impl Out for SegmentOut<'_> {
    #[inline(always)]
    fn put(&mut self, i: usize, planes: (u64, u64, u64, u64), state: u32) {
        let [o0, o1, o2, o3] = &mut self.planes;
        (o0[i], o1[i], o2[i], o3[i]) = planes;
        self.states[i] = state;
    }

    #[inline(always)]
    fn plies(&mut self) -> &mut [u32; SEGMENT_SLOTS] {
        self.plies
    }
}

/// Replays segment `seg` of a block from its key. Slots beyond the block become zeros. Six base
/// addresses are more than registers hold: [`Columns`] is a little faster.
///
/// # Panics
///
/// When there is no such segment.
#[inline(always)]
pub fn segment(block: &Block, seg: usize, out: &mut SegmentOut<'_>) -> Masks {
    replay_segment(block, seg, out)
}

#[inline(always)]
fn replay_segment(block: &Block, seg: usize, out: &mut impl Out) -> Masks {
    let key = &block.keys[seg];
    match block.moves[seg * SEGMENT_SLOTS..].first_chunk() {
        Some(moves) => full_segment(block, key, moves, out),
        None => last_segment(block, key, &block.moves[seg * SEGMENT_SLOTS..], out),
    }
}

/// Replays a segment that is not full.
#[cold]
#[inline(never)]
fn last_segment(block: &Block, key: &Key, moves: &[PackedMove], out: &mut impl Out) -> Masks {
    let mut padded = [PackedMove::NULL; SEGMENT_SLOTS];
    padded[..moves.len()].copy_from_slice(moves);
    let mut masks = full_segment(block, key, &padded, out);
    (moves.len()..SEGMENT_SLOTS).for_each(|i| out.put(i, (0, 0, 0, 0), 0));
    out.plies()[moves.len()..].fill(0);
    masks.valid = (1 << moves.len()) - 1;
    masks.initial &= masks.valid;
    masks
}

/// The en passant bits of [`State`] after each of 32 moves: the square that a pawn passes over in a
/// double step, else 64. Computed for all at once, in lanes of 16 bits, so that little is left for
/// the chain in which each position waits for the one before.
#[inline(always)]
fn passed(moves: &[PackedMove; SEGMENT_SLOTS]) -> [u16; SEGMENT_SLOTS] {
    let mut out = [0; SEGMENT_SLOTS];
    // Not `array::from_fn`, which is neither inlined here nor vectorised: it took 2/5 of the time.
    for (passed, mv) in out.iter_mut().zip(moves) {
        let (from, to) = (mv.0 & 63, mv.0 >> 6 & 63);
        let double = mv.0 & 0x7000 == 0x1000 && (from + 16 == to || to + 16 == from);
        *passed = if double { (from + to) << 7 } else { 64 << 8 };
    }
    out
}

#[inline(always)]
fn full_segment(block: &Block, key: &Key, moves: &[PackedMove; SEGMENT_SLOTS], out: &mut impl Out) -> Masks {
    let passed = passed(moves);
    let Board { planes: [mut p0, mut p1, mut p2, mut p3] } = key.board;
    let mut state = key.state.0;
    let (mut rooks, mut codes) = watch(key.state);
    let (mut start, mut terminal) = (key.first_start as usize, 0u32);
    for i in 0..SEGMENT_SLOTS {
        out.put(i, (p0, p1, p2, p3), state);
        let bits = u32::from(moves[i].0);
        let (from, to, code) = (bits & 63, bits >> 6 & 63, bits >> 12);
        let moved = 1u64 << from | 1u64 << to;
        if codes >> code & 1 != 0 || moved & rooks != 0 {
            let position = Position { board: Board { planes: [p0, p1, p2, p3] }, state: State(state) };
            let next = event(block, position, moves[i], &mut start);
            Position { board: Board { planes: [p0, p1, p2, p3] }, state: State(state) } = next;
            (rooks, codes) = watch(next.state);
            terminal |= u32::from(moves[i].is_start()) << i;
            continue;
        }
        let code = u64::from(code);
        p0 = p0 & !moved | (code & 1) << to;
        p1 = p1 & !moved | (code >> 1 & 1) << to;
        p2 = p2 & !moved | (code >> 2 & 1) << to;
        p3 = p3 & !moved | (code >> 3) << to;
        state = (state & !0xff00 | u32::from(passed[i])) ^ 1;
    }
    number_plies(out.plies(), key.ply, terminal);
    Masks { valid: u32::MAX, initial: terminal << 1 | u32::from(key.ply == 0), terminal }
}

/// Counts on from the first ply, and from 0 after each terminal slot.
#[inline(always)]
fn number_plies(plies: &mut [u32; SEGMENT_SLOTS], first: u32, mut terminal: u32) {
    plies.iter_mut().zip(0..).for_each(|(ply, i)| *ply = first.wrapping_add(i));
    while terminal != 0 {
        let begin = terminal.trailing_zeros() as usize + 1;
        plies[begin..].iter_mut().zip(0..).for_each(|(ply, i)| *ply = i);
        terminal &= terminal - 1;
    }
}

/// The moves that do more than put a piece elsewhere, a few in each game: those that touch one of
/// these squares, and those whose code is in this set.
#[inline(always)]
fn watch(state: State) -> (u64, u32) {
    const SPECIAL: u32 = 0xffff & !PackedMove::PIECE_CODES;
    const KINGS: u32 = 1 << 6 | 1 << 14;
    match state.0 >> 16 {
        0 => (0, SPECIAL),
        _ => (state.castling_rooks().0, SPECIAL | KINGS),
    }
}

/// Plays any move, or begins a game.
#[inline(never)]
fn event(block: &Block, mut position: Position, mv: PackedMove, start: &mut usize) -> Position {
    if mv.is_start() {
        return next_start(block, mv.is_start_table(), start);
    }
    position.play(mv);
    position
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
