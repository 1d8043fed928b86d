//! Replays eight segments (32 positions each) together, one in each lane of a vector of eight 64-bit words.
//!
//! A position depends on the previous one, but segments do not depend on each other. First, the changes made by all moves are
//! computed: the squares to empty and, for each bit plane, the squares to set. After that, each plane of a position takes only
//! `plane & !emptied | set`. The few special moves are then computed one by one, and replace the changes computed first.
//!
//! Everything here is inlined, so a caller compiled for wider vectors gets its own version.
//!
//! A *slot* is the index of a position in its segment.

use super::replay::{Masks, next_start};
use super::{Block, SEGMENT_SLOTS};
use orbit_core::board::{MoveKind, PackedMove, Position, State};

/// The number of segments (32 positions each) that are replayed together.
pub const LANES: usize = 8;

/// A 64-bit word for each slot of eight segments: `[i][n]` is slot `i` of the `n`-th segment.
pub type LaneColumn = [[u64; LANES]; SEGMENT_SLOTS];

/// The bits of the [`State`] at each slot of eight segments: `[i][n]` is slot `i` of the `n`-th segment.
pub type LaneStates = [[u32; LANES]; SEGMENT_SLOTS];

/// The changes to the board that the moves of eight segments (32 positions each) make.
#[repr(align(64))]
#[derive(Clone, Debug)]
pub struct LaneMoves {
    /// For each slot, the squares that are emptied by the move played from its position. They are emptied before other squares are
    /// set.
    emptied: LaneColumn,
    /// For each bit plane of the board and each slot, the squares whose bits are set by the move played from its position.
    set: [LaneColumn; 4],
    /// The states at the beginning of games and side lines. Each state is stored one slot before the first slot of the game or
    /// line.
    begun: LaneStates,
}

impl LaneMoves {
    /// Allocates buffers for the moves of eight segments. They are boxed because they occupy 11 KiB.
    pub fn new_boxed() -> Box<LaneMoves> {
        const NONE: LaneColumn = [[0; LANES]; SEGMENT_SLOTS];
        Box::new(LaneMoves { emptied: NONE, set: [NONE; 4], begun: [[0; LANES]; SEGMENT_SLOTS] })
    }

    /// Replays at most [`LANES`] segments of a block. Writes the four bit planes of each position and, if `states` is given, its
    /// state. Returns the masks of each segment. Slots after the end of the block have undefined contents.
    ///
    /// # Panics
    ///
    /// Panics if there is no such segment, or there are more segments than lanes.
    #[inline(always)]
    pub fn replay(
        &mut self,
        block: &Block,
        segments: &[u32],
        planes: [&mut LaneColumn; 4],
        states: Option<&mut LaneStates>,
    ) -> [Masks; LANES] {
        let mut moves = [[0u16; LANES]; SEGMENT_SLOTS];
        let mut special = [0u32; LANES];
        for (n, &segment) in segments.iter().enumerate() {
            let rest = &block.moves[segment as usize * SEGMENT_SLOTS..];
            match rest.first_chunk() {
                Some(whole) => special[n] = transpose(whole, n, &mut moves),
                None => {
                    let mut padded = [PackedMove::NULL; SEGMENT_SLOTS];
                    padded[..rest.len()].copy_from_slice(rest);
                    special[n] = transpose(&padded, n, &mut moves);
                }
            }
        }
        self.common_moves(&moves);
        let mut masks = [Masks::default(); LANES];
        for (n, &segment) in segments.iter().enumerate() {
            let key = &block.keys[segment as usize];
            let mut lane = Lane { block, start: key.first_start as usize, terminal: 0, lines: 0, white: 0 };
            lane.white = white_slots(0, key.state.0 & 1);
            let mut left = special[n];
            while left != 0 {
                let i = left.trailing_zeros() as usize;
                left &= left - 1;
                self.special_move(i, n, PackedMove(moves[i][n]), &mut lane);
            }
            let slots = (block.moves.len() - segment as usize * SEGMENT_SLOTS).min(SEGMENT_SLOTS);
            masks[n] = Masks::new(slots, key.ply == 0, lane.terminal, lane.lines, lane.white);
        }
        if let Some(states) = states {
            self.states(block, segments, &moves, states);
        }
        for (k, out) in planes.into_iter().enumerate() {
            let mut plane = [0; LANES];
            for (word, &segment) in plane.iter_mut().zip(segments) {
                *word = block.keys[segment as usize].board.planes[k];
            }
            for (i, out) in out.iter_mut().enumerate() {
                *out = plane;
                for (n, word) in plane.iter_mut().enumerate() {
                    *word = *word & !self.emptied[i][n] | self.set[k][i][n];
                }
            }
        }
        masks
    }

    /// Computes the changes made by all moves, as if every move were of kind [`MoveKind::Piece`].
    #[inline(always)]
    fn common_moves(&mut self, moves: &[[u16; LANES]; SEGMENT_SLOTS]) {
        let moves = moves.as_flattened();
        let emptied = self.emptied.as_flattened_mut();
        let [s0, s1, s2, s3] = self.set.each_mut().map(|set| set.as_flattened_mut());
        for p in 0..LANES * SEGMENT_SLOTS {
            let mv = u64::from(moves[p]);
            let (from, to, code) = (mv & 63, mv >> 6 & 63, mv >> 12);
            emptied[p] = 1 << from | 1 << to;
            s0[p] = (code & 1) << to;
            s1[p] = (code >> 1 & 1) << to;
            s2[p] = (code >> 2 & 1) << to;
            s3[p] = (code >> 3 & 1) << to;
        }
    }

    /// Writes the states of positions.
    #[inline(always)]
    fn states(
        &self,
        block: &Block,
        segments: &[u32],
        moves: &[[u16; LANES]; SEGMENT_SLOTS],
        out: &mut LaneStates,
    ) {
        let mut states = [0; LANES];
        for (state, &segment) in states.iter_mut().zip(segments) {
            *state = block.keys[segment as usize].state.0;
        }
        for i in 0..SEGMENT_SLOTS {
            out[i] = states;
            for n in 0..LANES {
                let mv = PackedMove(moves[i][n]);
                let after = State(states[n]).after(mv).0;
                states[n] = if mv.is_start() { self.begun[i][n] } else { after };
            }
        }
    }

    /// Replaces the changes that [`LaneMoves::common_moves`] computed for a special move. Since moves are legal, the rank shows the
    /// colour of the moving side.
    #[inline(always)]
    fn special_move(&mut self, i: usize, n: usize, mv: PackedMove, lane: &mut Lane<'_>) {
        let (from, to) = (mv.from() as u32, mv.to() as u32);
        let rank = from & 56;
        let (emptied, set) = match mv.kind() {
            MoveKind::Null => (0, [0; 4]),
            MoveKind::Castle => {
                let (king, rook) = mv.castled();
                let (king, rook) = (1u64 << king as u32, 1u64 << rook as u32);
                let black = if rank == 0 { 0 } else { king | rook };
                (1 << from | 1 << to | king | rook, [0, king, king | rook, black])
            }
            MoveKind::EnPassant => {
                let taken = 1u64 << (rank | to & 7);
                let pawn = 1u64 << to;
                (1 << from | pawn | taken, [pawn, 0, 0, if to < 32 { pawn } else { 0 }])
            }
            MoveKind::Start => {
                let Position { board, state } = next_start(lane.block, mv.is_start_table(), &mut lane.start);
                lane.terminal |= 1 << i;
                lane.lines |= u32::from(mv == PackedMove::START_LINE) << i;
                self.begun[i][n] = state.0;
                let after = (u32::MAX << i) << 1;
                lane.white = lane.white & !after | white_slots(i as u32 + 1, state.0 & 1) & after;
                (u64::MAX, board.planes)
            }
            MoveKind::Piece(_) => return,
        };
        self.emptied[i][n] = emptied;
        for (column, set) in self.set.iter_mut().zip(set) {
            column[i][n] = set;
        }
    }
}

/// The state of the segment in one lane while its special moves are played.
struct Lane<'a> {
    block: &'a Block,
    /// The index of the next entry of the block's table of start positions.
    start: usize,
    terminal: u32,
    lines: u32,
    white: u32,
}

/// Returns the slots with White to move, provided that the sides alternate. `black` is 1 if Black is to move at slot `first`.
#[inline(always)]
fn white_slots(first: u32, black: u32) -> u32 {
    if (first ^ black) & 1 == 0 { 0x5555_5555 } else { 0xaaaa_aaaa }
}

/// Writes the moves of a segment into lane `n`, and returns a mask of the special moves.
#[inline(always)]
fn transpose(moves: &[PackedMove; SEGMENT_SLOTS], n: usize, out: &mut [[u16; LANES]; SEGMENT_SLOTS]) -> u32 {
    let mut special = 0;
    for i in 0..SEGMENT_SLOTS {
        // Castling, en passant captures, null moves and start marks are special. Their codes are 0, 7, 8 and 15, whose low three
        // bits (the role in all other codes) are 0 or 7.
        let role = u32::from(moves[i].0) >> 12 & 7;
        special |= u32::from((role + 1) & 6 == 0) << i;
        out[i][n] = moves[i].0;
    }
    special
}
