//! Computes positions from moves.
//!
//! [`SegmentColumns::replay`] writes the 32 positions of a segment, with their states, plies and masks, as columns. It reads only
//! the segment's key, its moves and the start table, the block's list of start positions. [`super::lanes`] replays the boards of
//! eight segments at once.

use super::{Block, Key, SEGMENT_SLOTS};
use orbit_core::board::{Board, PackedMove, Position, State};

/// Properties of the 32 slots (positions) of a segment. Each is a mask with one bit per slot: bit `i` is for slot `i`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Masks {
    /// The slots that have a position: all except those after the last game of a block.
    pub valid: u32,
    /// The slots of the first positions of games.
    pub initial: u32,
    /// The slots of the last positions of lines, that is, of main lines and side lines.
    pub terminal: u32,
    /// The slots of the last positions of games.
    pub last: u32,
    /// The slots with White to move.
    pub white: u32,
}

impl Masks {
    /// Creates the masks of a segment (32 slots) whose first `slots` slots have positions. `begins` is true if a game begins at the
    /// first slot. `lines` contains each slot that a side line follows.
    #[inline(always)]
    pub(super) fn new(slots: usize, begins: bool, terminal: u32, lines: u32, white: u32) -> Masks {
        let valid = u32::MAX >> (SEGMENT_SLOTS - slots);
        let last = terminal & !lines;
        let initial = (last << 1 | u32::from(begins)) & valid;
        Masks { valid, initial, terminal, last, white: white & valid }
    }
}

/// The positions of one segment, as columns.
#[derive(Clone, Debug)]
pub struct SegmentColumns {
    /// The four planes of [`Board`].
    pub planes: [[u64; SEGMENT_SLOTS]; 4],
    /// The bits of [`State`].
    pub states: [u32; SEGMENT_SLOTS],
    /// The number of half-moves played before each position.
    pub plies: [u32; SEGMENT_SLOTS],
    /// The masks of the slots.
    pub masks: Masks,
}

impl SegmentColumns {
    /// Makes empty columns.
    pub const fn new() -> SegmentColumns {
        SegmentColumns {
            planes: [[0; SEGMENT_SLOTS]; 4],
            states: [0; SEGMENT_SLOTS],
            plies: [0; SEGMENT_SLOTS],
            masks: Masks { valid: 0, initial: 0, terminal: 0, last: 0, white: 0 },
        }
    }

    /// Replays segment `seg` (32 positions) of a block into the columns. Slots after the end of the block are filled with zeros.
    ///
    /// # Panics
    ///
    /// Panics if there is no such segment.
    pub fn replay(&mut self, block: &Block, seg: usize) {
        let key = &block.keys[seg];
        let rest = &block.moves[seg * SEGMENT_SLOTS..];
        let Some(moves) = rest.first_chunk() else {
            let mut padded = [PackedMove::NULL; SEGMENT_SLOTS];
            padded[..rest.len()].copy_from_slice(rest);
            self.full_segment(block, key, &padded, rest.len());
            self.planes.iter_mut().for_each(|plane| plane[rest.len()..].fill(0));
            self.states[rest.len()..].fill(0);
            self.plies[rest.len()..].fill(0);
            return;
        };
        self.full_segment(block, key, moves, SEGMENT_SLOTS);
    }

    fn full_segment(&mut self, block: &Block, key: &Key, moves: &[PackedMove; SEGMENT_SLOTS], slots: usize) {
        let passed = passed(moves);
        let Board { planes: [mut p0, mut p1, mut p2, mut p3] } = key.board;
        let mut state = key.state.0;
        let (mut rooks, mut codes) = watch(key.state);
        let (mut start, mut white) = (key.first_start as usize, 0u32);
        let (mut terminal, mut lines) = (0u32, 0u32);
        for i in 0..SEGMENT_SLOTS {
            let [o0, o1, o2, o3] = &mut self.planes;
            (o0[i], o1[i], o2[i], o3[i]) = (p0, p1, p2, p3);
            self.states[i] = state;
            white |= (!state & 1) << i;
            let bits = u32::from(moves[i].0);
            let (from, to, code) = (bits & 63, bits >> 6 & 63, bits >> 12);
            let moved = 1u64 << from | 1u64 << to;
            if codes >> code & 1 != 0 || moved & rooks != 0 {
                let position = Position { board: Board { planes: [p0, p1, p2, p3] }, state: State(state) };
                let next = event(block, position, moves[i], &mut start);
                Position { board: Board { planes: [p0, p1, p2, p3] }, state: State(state) } = next;
                (rooks, codes) = watch(next.state);
                terminal |= u32::from(moves[i].is_start()) << i;
                lines |= u32::from(moves[i] == PackedMove::START_LINE) << i;
                continue;
            }
            let code = u64::from(code);
            p0 = p0 & !moved | (code & 1) << to;
            p1 = p1 & !moved | (code >> 1 & 1) << to;
            p2 = p2 & !moved | (code >> 2 & 1) << to;
            p3 = p3 & !moved | (code >> 3) << to;
            state = (state & !0xff00 | u32::from(passed[i])) ^ 1;
        }
        self.masks = Masks::new(slots, key.ply == 0, terminal, lines, white);
        number_plies(&mut self.plies, block, key, moves, self.masks);
    }

    /// Returns the position of one slot.
    #[inline]
    pub fn position(&self, i: usize) -> Position {
        Position { board: Board { planes: self.planes.map(|plane| plane[i]) }, state: State(self.states[i]) }
    }
}

impl Default for SegmentColumns {
    fn default() -> SegmentColumns {
        SegmentColumns::new()
    }
}

/// Computes the en passant bits of [`State`] after each of 32 moves: the square that a pawn passed over in a double step, or 64.
/// All squares are computed at once, in 16-bit lanes. This leaves little work for the sequential loop, in which each position
/// depends on the previous one.
#[inline(always)]
fn passed(moves: &[PackedMove; SEGMENT_SLOTS]) -> [u16; SEGMENT_SLOTS] {
    let mut out = [0; SEGMENT_SLOTS];
    // `array::from_fn` was neither inlined nor vectorised here, and took two fifths of the total time.
    for (passed, mv) in out.iter_mut().zip(moves) {
        let (from, to) = (mv.0 & 63, mv.0 >> 6 & 63);
        let double = mv.0 & 0x7000 == 0x1000 && (from + 16 == to || to + 16 == from);
        *passed = if double { (from + to) << 7 } else { 64 << 8 };
    }
    out
}

/// Computes the plies of a segment. They count up from the ply of the key position. After the last slot of a line, they continue
/// from the first ply of the next line.
pub fn number_plies(
    plies: &mut [u32; SEGMENT_SLOTS],
    block: &Block,
    key: &Key,
    moves: &[PackedMove],
    masks: Masks,
) {
    let mut count = |from: usize, ply: u32| {
        plies[from..].iter_mut().zip(0..).for_each(|(to, i)| *to = ply.wrapping_add(i));
    };
    count(0, key.ply);
    let mut starts = block.starts.get(key.first_start as usize..).unwrap_or_default().iter();
    let mut terminal = masks.terminal;
    while terminal != 0 {
        let last = terminal.trailing_zeros() as usize;
        let start = if moves[last].is_start_table() { starts.next() } else { None };
        count(last + 1, start.map_or(0, |start| start.ply));
        terminal &= terminal - 1;
    }
}

/// Returns the squares and the move codes that need [`event`]: a move from or to one of these squares, or with one of these codes,
/// must be played by that function. Each game has only a few such moves.
#[inline(always)]
fn watch(state: State) -> (u64, u32) {
    const SPECIAL: u32 = 0xffff & !PackedMove::PIECE_CODES;
    const KINGS: u32 = 1 << 6 | 1 << 14;
    match state.0 >> 16 {
        0 => (0, SPECIAL),
        _ => (state.castling_rooks().0, SPECIAL | KINGS),
    }
}

/// Plays a move of any kind, or sets up the first position of a game or line.
#[inline(never)]
fn event(block: &Block, mut position: Position, mv: PackedMove, start: &mut usize) -> Position {
    if mv.is_start() {
        return next_start(block, mv.is_start_table(), start);
    }
    position.play(mv);
    position
}

/// Returns the first position of the game or side line that begins after a start code (a mark that replaces a move). `from_table`
/// is true if this position is an entry of the block's start table, and `next` is the index of the entry. If the table has no such
/// entry, returns the standard position; this happens only if a block's moves were manipulated.
#[cold]
pub(super) fn next_start(block: &Block, from_table: bool, next: &mut usize) -> Position {
    if !from_table {
        return Position::STANDARD;
    }
    *next += 1;
    block.starts.get(*next - 1).map_or(Position::STANDARD, |start| start.position)
}

/// Returns the position of one slot.
pub fn position_at(block: &Block, slot: usize) -> Position {
    let segment = slot / SEGMENT_SLOTS;
    let key = &block.keys[segment];
    let mut start = key.first_start as usize;
    let moves = &block.moves[segment * SEGMENT_SLOTS..slot];
    moves.iter().fold(key.position(), |position, &mv| event(block, position, mv, &mut start))
}

/// One position of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The index of the slot in the block.
    pub slot: usize,
    /// The position.
    pub position: Position,
    /// The number of half-moves played before the position.
    pub ply: u32,
    /// The index, in the block, of the position's game.
    pub game: usize,
    /// True if this is the first position of its game.
    pub initial: bool,
    /// True if this is the last position of its main line or side line.
    pub terminal: bool,
    /// True if this is the last position of its game.
    pub last: bool,
}

/// Calls `f` for each slot (position) of a block in order.
pub fn for_each_slot(block: &Block, f: impl FnMut(Slot)) {
    for_each_slot_of(block, |_| true, f);
}

/// Calls `f` in order for each slot of the games for which `wanted` returns true. The argument of `wanted` is the index of a game.
/// Segments without a wanted game are not replayed.
pub fn for_each_slot_of(block: &Block, mut wanted: impl FnMut(usize) -> bool, mut f: impl FnMut(Slot)) {
    let mut columns = SegmentColumns::new();
    let mut replayed = None;
    for game in block.games() {
        if !wanted(game.index()) {
            continue;
        }
        for slot in game.slots() {
            let (seg, i) = (slot / SEGMENT_SLOTS, slot % SEGMENT_SLOTS);
            if replayed != Some(seg) {
                columns.replay(block, seg);
                replayed = Some(seg);
            }
            let masks = columns.masks;
            f(Slot {
                slot,
                position: columns.position(i),
                ply: columns.plies[i],
                game: game.index(),
                initial: masks.initial >> i & 1 != 0,
                terminal: masks.terminal >> i & 1 != 0,
                last: masks.last >> i & 1 != 0,
            });
        }
    }
}

/// Replays a block from its first slot, and compares each key position with the position replayed at its slot.
///
/// # Errors
///
/// Returns the index of the first segment whose key differs.
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
                let first_game = key.first_game.wrapping_add(u32::from(mv.is_game_start()));
                let entry = block.starts.get(key.first_start as usize).filter(|_| mv.is_start_table());
                let ply = entry.map_or(0, |start| start.ply);
                key = Key { board, state, ply, first_game, first_start: start as u32 };
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
