//! The registers of a thread, and what is beside them.

use super::glance::{self, MovePattern};
use orbit_core::board::{Board, PieceSet, Position, State};
use orbit_core::isa::Isa;
use orbit_plan::{Bound, Program, Reg, Screen};
use orbit_reel::{
    SEGMENT_SLOTS,
    bounds::PIECES,
    lanes::{LANES, LaneColumn, LaneMoves, LaneStates},
    replay::{Masks, SegmentColumns},
};

/// Positions in a group: eight segments. 256 words are 2 KiB a register: the registers of most plans
/// stay in the first-level cache, and the cost of choosing a kernel is spread over 256 positions.
pub(super) const GROUP: usize = LANES * SEGMENT_SLOTS;

/// A register: a word for each position of a group. Aligned to cache lines: a vector of 64 bytes that
/// lies across two of them takes twice as long.
pub(super) type WordColumn = Box<WordRegisters>;

#[repr(align(64))]
#[derive(Clone, Debug)]
pub(super) struct WordRegisters(pub(super) LaneColumn);

fn column() -> WordColumn {
    Box::new(WordRegisters([[0; LANES]; SEGMENT_SLOTS]))
}

/// The widest vector that machine code puts aside.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpilledVector(#[expect(dead_code, reason = "machine code alone reads it")] [u64; 8]);

/// Registers and what is beside them.
#[derive(Debug)]
pub(super) struct RegisterMachine {
    pub(super) isa: Isa,
    pub(super) regs: Vec<WordColumn>,
    /// Where a step writes, before it changes places with its register.
    pub(super) spare: Option<WordColumn>,
    pub(super) scalars: Vec<u64>,
    /// For each loop that is open, the step that began it and the row that it is in.
    pub(super) rows: Vec<(usize, usize)>,
    /// Turn, rights and en passant of each position; kept only where the program looks at them.
    pub(super) states: LaneStates,
    pub(super) moves: Box<LaneMoves>,
    pub(super) masks: [Masks; LANES],
    /// For each of several queries its mask, a word for each segment.
    pub(super) answers: Vec<[u32; LANES]>,
    /// Half-moves played; kept only where the program reads them.
    pub(super) plies: [[u32; LANES]; SEGMENT_SLOTS],
    /// The game of each slot; kept only where the program reads columns of games.
    pub(super) games: [[u32; LANES]; SEGMENT_SLOTS],
    pub(super) segment: SegmentColumns,
    /// How often a program ran since this was last set to 0.
    pub(super) runs: u64,
    /// Where machine code puts what its registers cannot hold.
    #[cfg(target_arch = "x86_64")]
    pub(super) scratch: Vec<SpilledVector>,
    /// The answers of a region of machine code.
    #[cfg(target_arch = "x86_64")]
    pub(super) answer_bytes: Vec<u8>,
}

impl RegisterMachine {
    pub(super) fn new(program: &Program, isa: Isa) -> RegisterMachine {
        RegisterMachine {
            isa,
            regs: vec![column(); program.registers],
            spare: Some(column()),
            scalars: program.scalars.clone(),
            rows: Vec::new(),
            states: [[0; LANES]; SEGMENT_SLOTS],
            moves: LaneMoves::new_boxed(),
            masks: [Masks::default(); LANES],
            answers: vec![[0; LANES]; program.answers()],
            plies: [[0; LANES]; SEGMENT_SLOTS],
            games: [[0; LANES]; SEGMENT_SLOTS],
            segment: SegmentColumns::new(),
            runs: 0,
            #[cfg(target_arch = "x86_64")]
            scratch: Vec::new(),
            #[cfg(target_arch = "x86_64")]
            answer_bytes: Vec::new(),
        }
    }

    /// A position of those that were loaded: row `i / LANES`, lane `i % LANES`.
    pub(super) fn position(&self, i: usize) -> Position {
        let planes = std::array::from_fn(|k| self.regs[k].0.as_flattened()[i]);
        Position { board: Board { planes }, state: State(self.states.as_flattened()[i]) }
    }
}

/// What a screen reads of segments, and the registers where it goes.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    /// The planes of the next segment's key.
    pub(super) next: [Option<Reg>; 4],
    /// What moves do; nothing if that is not read.
    pub(super) parts: Vec<LoadMoves>,
    /// Masks of segments in which games begin.
    pub(super) standard: Option<Reg>,
    pub(super) other: Option<Reg>,
    /// The patterns of moves by which pawns may become certain pieces.
    pub(super) promotions: Vec<(Vec<MovePattern>, Reg)>,
    /// The pieces of which it is read how many are taken.
    pub(super) losses: Vec<(PieceSet, Reg)>,
}

/// What moves do, for as many pieces as are looked at together.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadMoves {
    /// The codes of the pieces, 16 for none.
    pub(super) codes: [u64; PIECES],
    /// The registers of those that there are.
    pub(super) regs: Vec<Reg>,
    pub(super) touched: Option<Reg>,
}

impl Loads {
    pub(super) fn new(screen: &Screen) -> Loads {
        let mut loads = Loads::default();
        let (mut pieces, mut first) = (Vec::new(), LoadMoves::default());
        for (read, reg) in screen.loads() {
            match read.bound {
                Bound::Arrivals(code) => pieces.push((u64::from(code.0), reg)),
                Bound::Touched => first.touched = Some(reg),
                Bound::Next(k) => loads.next[usize::from(k)] = Some(reg),
                Bound::Standard => loads.standard = Some(reg),
                Bound::Other => loads.other = Some(reg),
                Bound::Promotions(set) => loads.promotions.push((glance::promotions(set), reg)),
                Bound::Losses(set) => loads.losses.push((set, reg)),
                Bound::Fewest(_) | Bound::Most(_) => unreachable!("screens of material read them"),
            }
        }
        let is_read = !pieces.is_empty() || first.touched.is_some();
        for pieces in pieces.chunks(PIECES).chain((pieces.is_empty() && is_read).then_some(&[][..])) {
            let mut part = std::mem::take(&mut first);
            part.codes = std::array::from_fn(|at| pieces.get(at).map_or(16, |&(code, _)| code));
            part.regs = pieces.iter().map(|&(_, reg)| reg).collect();
            loads.parts.push(part);
        }
        loads
    }

    /// Whether planes of the next key are read, as they are where numbers of pieces are bounded.
    pub(super) fn reads_next(&self) -> bool {
        self.next.iter().any(Option::is_some)
    }
}
