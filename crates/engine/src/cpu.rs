//! The fast CPU engine. It evaluates a plan on many positions at the same time.
//!
//! A *slot* is the number of a position within its block. A *group* is eight segments of 32 slots, that is, 256
//! positions. The engine replays the moves of a group and writes the planes of each board (bitboards that together
//! encode the piece on each square) straight into the registers of the plan. A register holds one 64-bit word for each
//! position of the group. Each step of the plan then runs over whole registers, and the compiler turns this into vector
//! code. This module depends on plans and reels (packed games), but not on queries.

#[cfg(target_arch = "x86_64")]
mod emit;
#[cfg(not(target_arch = "x86_64"))]
#[path = "cpu/without_emit.rs"]
mod emit;
mod glance;
mod guard;
mod kernels;
mod machine;
mod moves;
mod prepared;
mod registers;
mod screen;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use shakmaty::Bitboard;

use super::{
    Answers, BlockRequest, CopyDetail, CopyHits, Engine, EngineError, EngineInfo, Hits, Interrupt, Values,
    Wants,
    carry::{SlotColumn, clear_after},
    context::Context,
    operations::BlockRuns,
    slots_of,
};
use guard::Guard;
pub use orbit_core::isa::Isa;
use orbit_core::sync::lock;
use orbit_plan::{CopiesPlan, Plan, Plans, RunValues, SharedPlan};
use orbit_reel::{Block, lanes::LANES};
pub use prepared::MachineCode;
use prepared::{Prepared, segments};
use registers::GROUP;
use screen::Screening;

/// The CPU engine, prepared for one or more queries.
#[derive(Debug)]
pub struct Cpu {
    plans: Arc<Plans>,
    isa: Isa,
    code: MachineCode,
    hits: Prepared<SharedPlan>,
    screen: Option<Screening>,
    guard: Option<Guard>,
    /// For each query, the plan that computes its values. It is prepared when it is first needed.
    values: Vec<OnceLock<Prepared<Plan>>>,
    /// For each query, the plans that find the transformed patterns (copies) that match at a hit, indexed by
    /// [`Apart`](orbit_plan::Apart). Each is prepared when it is first needed.
    copies: Vec<[OnceLock<Prepared<CopiesPlan>>; 2]>,
    /// The values that each query keeps from game to game. Empty if all queries treat each game independently.
    runs: Mutex<Arc<Vec<RunValues>>>,
    /// Buffers of word columns, kept for reuse. Each inner list comes from the context of one block.
    spare: Mutex<Vec<Vec<Vec<u64>>>>,
}

impl Cpu {
    /// Creates an engine that uses the best instruction set that the processor supports.
    pub fn new(plans: Arc<Plans>) -> Cpu {
        Cpu::with_isa(plans, Isa::detected())
    }

    /// Creates an engine that uses the given instruction set.
    pub fn with_isa(plans: Arc<Plans>, isa: Isa) -> Cpu {
        Cpu::with(plans, isa, MachineCode::default())
    }

    /// Creates an engine that uses the given instruction set. `code` specifies when plans are compiled to machine code.
    pub fn with(plans: Arc<Plans>, isa: Isa, code: MachineCode) -> Cpu {
        let hits = Prepared::new(plans.hits(0..plans.len()), isa, code);
        let screen = Screening::new(&plans, isa, code);
        let guard = Guard::new(&plans, hits.plan.program.own_cost(), isa, code);
        let (values, copies) = (plans.unmade(), plans.unmade());
        let runs = Mutex::new(Arc::new(plans.runs()));
        Cpu { plans, isa, code, hits, screen, guard, values, copies, runs, spare: Mutex::default() }
    }

    /// Returns the values that each query keeps from game to game. Empty if all queries treat each game independently.
    pub fn runs(&self) -> Arc<Vec<RunValues>> {
        lock(&self.runs).clone()
    }

    /// Returns the total number of entries in all dictionaries that keep their entries from game to game.
    pub(super) fn kept_entries(&self) -> usize {
        lock(&self.runs).iter().flat_map(|run| run.dictionaries.values()).map(BTreeMap::len).sum()
    }

    /// Sets the values that each query keeps from game to game.
    pub fn set_runs(&self, runs: Arc<Vec<RunValues>>) {
        *lock(&self.runs) = runs;
    }

    /// Evaluates a query that keeps values from game to game on one block. Returns its answers and, for each game, the
    /// kept values at the beginning of the game.
    pub(super) fn scan_by_game(
        &self,
        block: &Block,
        request: &BlockRequest<'_>,
    ) -> Result<(Vec<Answers>, Vec<RunValues>), EngineError> {
        self.whole(|| self.scan_block(0, block, request, true))
    }

    /// Runs a scan. If it fails, the values that queries keep from game to game are reset to those from before the
    /// scan.
    fn whole<T>(&self, scan: impl FnOnce() -> Result<T, EngineError>) -> Result<T, EngineError> {
        let before = self.runs();
        let out = scan();
        if out.is_err() {
            self.set_runs(before);
        }
        out
    }

    /// Returns two totals over all scans: the number of segments (32 positions each) that the engine skipped without replaying
    /// them, and the number of all segments.
    pub fn passed_over(&self) -> (u64, u64) {
        self.screen.as_ref().map_or((0, 0), Screening::passed_over)
    }

    /// Returns true if the plan that computes hits, or one of its stages (the parts of the plan that run before the rest), has
    /// already been compiled to machine code.
    pub fn is_compiled(&self) -> bool {
        self.hits.is_compiled()
    }

    fn values(&self, query: usize) -> &Prepared<Plan> {
        self.values[query].get_or_init(|| Prepared::new(self.plans.values(query), self.isa, self.code))
    }

    fn copies(&self, query: usize, detail: CopyDetail) -> &Prepared<CopiesPlan> {
        let apart = detail.apart();
        let prepared = || Prepared::new(self.plans.copies(query, apart), self.isa, self.code);
        self.copies[query][apart as usize].get_or_init(prepared)
    }

    fn scan_block(
        &self,
        index: usize,
        block: &Block,
        request: &BlockRequest<'_>,
        by_game: bool,
    ) -> Result<(Vec<Answers>, Vec<RunValues>), EngineError> {
        let spare = || lock(&self.spare);
        let words = spare().pop().unwrap_or_default();
        let runs = BlockRuns::new(self.runs(), by_game);
        let mut context = Context::new(block, words, request).with_runs(runs);
        let mut all = self.hits(&mut context);
        if context.is_stopped() || context.interrupt().is_set() {
            return Err(ended(&context));
        }
        let [after, at_games] = context.runs().take();
        self.set_runs(Arc::new(after));
        for (query, (hits, &outputs)) in all.iter_mut().zip(request.outputs).enumerate() {
            request.select(index, block, query, hits);
            hits.set_kind(outputs, self.plans.ty(query));
            if hits.values != Values::None && hits.bits.iter().any(|&bits| bits != 0) {
                self.add_values(query, &mut context, hits);
            }
        }
        let detail = |(query, (hits, &outputs)): (usize, (Hits, &Wants))| {
            let copies = outputs.detail().map(|detail| self.detail(query, &mut context, &hits, detail));
            Answers::new(hits, copies)
        };
        let answers = all.into_iter().zip(request.outputs).enumerate().map(detail).collect();
        if context.is_stopped() || context.interrupt().is_set() {
            return Err(ended(&context));
        }
        spare().push(context.into_spare());
        Ok((answers, at_games))
    }

    /// Returns the hits (matching positions) of each query in one block.
    fn hits(&self, context: &mut Context<'_>) -> Vec<Hits> {
        let (block, interrupt) = (context.block, context.interrupt().clone());
        let mut all = vec![Hits::new(block); self.plans.len()];
        let always = &self.hits.plan.always;
        if always.iter().all(|&always| always) {
            all.iter_mut().for_each(|hits| fill(&mut hits.bits, block.slots()));
            return all;
        }
        let segments = match &self.screen {
            Some(screen) if self.hits.plan.carried.is_none() => screen.segments(block),
            _ => segments(block),
        };
        if let Some(slots) = self.guard.as_ref().and_then(|guard| guard.slots(context, &segments)) {
            self.hits.with_machine(context, slots.len().div_ceil(GROUP), |plan, machine, native, beside| {
                for slots in pieces(&slots, GROUP, &interrupt) {
                    machine.gather(&plan.program, block, slots, beside);
                    machine.run(&plan.program, native);
                    machine.gathered_answers(slots, all.iter_mut().map(|hits| &mut hits.bits[..]));
                }
            });
            return all;
        }
        let groups = segments.len().div_ceil(LANES);
        self.hits.with_machine(context, groups, |plan, machine, native, beside| {
            if let Some(places) = &plan.carried {
                for (hits, &place) in all.iter_mut().zip(places) {
                    copy(beside.carried[place], &mut hits.bits, block.slots());
                }
                return;
            }
            for segments in pieces(&segments, LANES, &interrupt) {
                machine.load(&plan.program, block, segments, beside);
                machine.run(&plan.program, native);
                machine.answers(segments, all.iter_mut().map(|hits| &mut hits.bits[..]));
            }
        });
        all
    }

    /// Computes the values of a query at its hits, in a second pass over the block. If there are few hits, only their positions
    /// are evaluated, gathered into groups of 256. If there are many, all positions are evaluated.
    fn add_values(&self, query: usize, context: &mut Context<'_>, hits: &mut Hits) {
        let (block, interrupt) = (context.block, context.interrupt().clone());
        let Hits { bits, values, .. } = hits;
        let count: usize = bits.iter().map(|bits| bits.count_ones() as usize).sum();
        let is_dense = count * DENSE > block.slots();
        let groups = if is_dense { block.segments().div_ceil(LANES) } else { count.div_ceil(GROUP) };
        self.values(query).with_machine(context, groups, |plan, machine, native, beside| {
            if is_dense {
                for segments in pieces(&segments(block), LANES, &interrupt) {
                    machine.load(&plan.program, block, segments, beside);
                    machine.run(&plan.program, native);
                    machine.store_hits(plan, segments[0] as usize, bits, values);
                }
                return;
            }
            let slots: Vec<usize> = slots_of(bits, 0..block.slots()).collect();
            for slots in pieces(&slots, GROUP, &interrupt) {
                machine.gather(&plan.program, block, slots, beside);
                machine.run(&plan.program, native);
                machine.store(plan, slots, values);
            }
        });
    }

    /// Returns the copies (transformed patterns) of the query's outermost transform that match at each of the given hits.
    fn detail(&self, query: usize, context: &mut Context<'_>, hits: &Hits, detail: CopyDetail) -> CopyHits {
        let (block, interrupt) = (context.block, context.interrupt().clone());
        let mut found = CopyHits::new(self.plans.copy_count(query), detail, hits);
        if hits.bits.iter().all(|&bits| bits == 0) {
            return found;
        }
        let hits = |segment: u32| hits.bits[segment as usize];
        let mut segments = segments(block);
        segments.retain(|&segment| hits(segment) != 0);
        let groups = segments.len().div_ceil(LANES);
        self.copies(query, detail).with_machine(context, groups, |plan, machine, native, beside| {
            let mut words = vec![0; plan.words.len()];
            for segments in pieces(&segments, LANES, &interrupt) {
                machine.load(&plan.program, block, segments, beside);
                machine.run(&plan.program, native);
                for (n, bits) in segments.iter().map(|&segment| hits(segment)).enumerate() {
                    for i in Bitboard(bits.into()) {
                        for (word, &reg) in words.iter_mut().zip(&plan.words) {
                            *word = machine.word(reg, i as usize, n);
                        }
                        found.push_words(plan, &words);
                    }
                }
            }
        });
        found
    }
}

impl Engine for Cpu {
    fn info(&self) -> EngineInfo {
        let in_order = !lock(&self.runs).is_empty();
        EngineInfo { in_order, ..EngineInfo::plain("cpu", self.plans.copy_counts()) }
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let answers = |(index, block): (usize, &&Block)| Ok(self.scan_block(index, block, request, false)?.0);
        self.whole(|| blocks.iter().enumerate().map(answers).collect())
    }
}

/// The number of portions of work (see [`pieces`]) between two checks of the interrupt. One portion takes less than a
/// millisecond.
const PIECES_A_LOOK: usize = 16;

/// Divides a list into portions of `size` entries. The iterator ends early if the interrupt is set.
fn pieces<'a, T>(list: &'a [T], size: usize, interrupt: &Interrupt) -> impl Iterator<Item = &'a [T]> {
    let goes_on = |(number, _): &(usize, _)| !number.is_multiple_of(PIECES_A_LOOK) || !interrupt.is_set();
    list.chunks(size).enumerate().take_while(goes_on).map(|(_, piece)| piece)
}

/// Returns the error for a block whose evaluation ended early: `Interrupted` if the interrupt is set, otherwise
/// `Stopped`, because a query ran into an error in a game.
fn ended(context: &Context<'_>) -> EngineError {
    if context.interrupt().is_set() { EngineError::Interrupted } else { EngineError::Stopped }
}

/// If more than one in `DENSE` positions is a hit, the second pass evaluates all positions instead of gathering the
/// hits. Gathering one position costs about as much as replaying a few.
const DENSE: usize = 4;

/// Sets the first `slots` bits, and clears the rest.
fn fill(bits: &mut [u32], slots: usize) {
    bits.fill(u32::MAX);
    clear_after(bits, slots);
}

/// Copies the first `slots` bits of a column, and clears the rest.
fn copy(column: &SlotColumn, bits: &mut [u32], slots: usize) {
    let SlotColumn::Bits(from) = column else { unreachable!("masks are carried as bits") };
    bits.copy_from_slice(from);
    clear_after(bits, slots);
}
