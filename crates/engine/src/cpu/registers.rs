//! The registers with which one thread runs a program, and the other data that the program's steps use.
//!
//! A *screen* is a program that finds the segments (runs of 32 positions) that can be skipped.

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

/// The number of positions in a group: eight segments of 32. A register of 256 words takes 2 KiB, so the registers of
/// most plans stay in the L1 cache. The interpreter dispatches each step only once for 256 positions.
pub(super) const GROUP: usize = LANES * SEGMENT_SLOTS;

/// A register: one word for each of the 256 positions of a group. It is aligned to cache lines, because a 64-byte
/// vector that spans two cache lines takes twice as long to access.
pub(super) type WordColumn = Box<WordRegisters>;

#[repr(align(64))]
#[derive(Clone, Debug)]
pub(super) struct WordRegisters(pub(super) LaneColumn);

fn column() -> WordColumn {
    Box::new(WordRegisters([[0; LANES]; SEGMENT_SLOTS]))
}

/// One entry of the scratch memory of machine code. It is as wide as the widest vector.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpilledVector(#[expect(dead_code, reason = "machine code alone reads it")] [u64; 8]);

/// The registers of a program, and all other data that its steps use.
#[derive(Debug)]
pub(super) struct RegisterMachine {
    pub(super) isa: Isa,
    pub(super) regs: Vec<WordColumn>,
    /// A spare column, to which a step writes its result. The column then becomes the step's register, and the
    /// register's old column becomes the spare.
    pub(super) spare: Option<WordColumn>,
    pub(super) scalars: Vec<u64>,
    /// For each loop that is running, the index of the first step inside it and the index of its current row.
    pub(super) rows: Vec<(usize, usize)>,
    /// The side to move, castling rights and en passant square of each position. They are filled only if the program
    /// reads them.
    pub(super) states: LaneStates,
    pub(super) moves: Box<LaneMoves>,
    pub(super) masks: [Masks; LANES],
    /// For each query, the mask of its hits, as bits: one word for each segment (32 positions).
    pub(super) answers: Vec<[u32; LANES]>,
    /// The ply (half-moves played) of each position, filled only if the program reads it.
    pub(super) plies: [[u32; LANES]; SEGMENT_SLOTS],
    /// The index of each position's game in the block, filled only if the program reads per-game columns.
    pub(super) games: [[u32; LANES]; SEGMENT_SLOTS],
    pub(super) segment: SegmentColumns,
    /// The number of groups of 256 positions on which the program has run since this counter was last reset.
    pub(super) runs: u64,
    /// The memory to which machine code spills values.
    #[cfg(target_arch = "x86_64")]
    pub(super) scratch: Vec<SpilledVector>,
    /// The bytes to which machine code writes the answers of queries.
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

    /// Returns the loaded position with index `i`: row `i / LANES`, lane `i % LANES`.
    pub(super) fn position(&self, i: usize) -> Position {
        let planes = std::array::from_fn(|k| self.regs[k].0.as_flattened()[i]);
        Position { board: Board { planes }, state: State(self.states.as_flattened()[i]) }
    }
}

/// The facts about segments that a screen (a program that finds segments to skip) reads, and the registers into which
/// they are loaded.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    /// The registers for the planes of the key position (the first position) of the next segment.
    pub(super) next: [Option<Reg>; 4],
    /// The registers that receive facts about the moves of the segment, such as the squares on which a piece arrives.
    /// The list is empty if the screen reads no such facts.
    pub(super) parts: Vec<LoadMoves>,
    /// The register for the mask of the segments in which exactly one game begins, from the standard position.
    pub(super) standard: Option<Reg>,
    pub(super) other: Option<Reg>,
    /// For each set of pieces that the screen asks about: the patterns of the moves that may promote a pawn to one of
    /// these pieces, and the register that receives the result.
    pub(super) promotions: Vec<(Vec<MovePattern>, Reg)>,
    /// The sets of pieces whose captures are counted, with the registers that receive the counts.
    pub(super) losses: Vec<(PieceSet, Reg)>,
}

/// The facts about moves that a screen (a program that finds segments to skip) reads for one batch of pieces. The
/// pieces of a batch are processed together.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadMoves {
    /// The codes of the pieces in the batch; 16 stands for no piece.
    pub(super) codes: [u64; PIECES],
    /// The register for each of these pieces.
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

    /// Returns true if the screen (a program that finds segments to skip) reads the planes of the next segment's first
    /// position. Bounds on piece counts need them.
    pub(super) fn reads_next(&self) -> bool {
        self.next.iter().any(Option::is_some)
    }
}
