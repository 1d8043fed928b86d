//! The fast engine without a GPU: a plan over batches of positions in columns.
//!
//! A batch is eight segments, 256 positions. Their planes are replayed straight into registers, and
//! every step of the plan then runs over a whole register at a time, which the compiler turns into
//! vector code for whatever the processor offers. Knows plans and reels, nothing of queries.

mod isa;
mod kernels;
mod machine;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use shakmaty::Bitboard;

use super::{
    Batch, CopyHits, Engine, EngineError, Hits, Tell, TellCopies, Values, Want, carry,
    columns::{GameColumn, game_columns},
    slots_of,
};
use crate::{
    plan::{Column, CopiesPlan, Plan, Planner, Program, SharedPlan, Stage},
    reel::{Block, SEGMENT_SLOTS, lanes::LANES},
};
pub use isa::Isa;
use machine::{BATCH, Beside, Machine};

/// See the module.
#[derive(Debug)]
pub struct Cpu {
    planner: Arc<Planner>,
    isa: Isa,
    hits: Prepared,
    values: OnceLock<Prepared>,
    copies: OnceLock<CopiesPlan>,
}

/// A plan and the machines that no thread uses at the moment.
#[derive(Debug)]
struct Prepared<P = Plan> {
    plan: P,
    isa: Isa,
    idle: Mutex<Vec<Machines>>,
}

/// A machine for a program, and one for each of its stages.
#[derive(Debug)]
struct Machines {
    main: Machine,
    stages: Vec<Machine>,
}

impl Machines {
    fn new(program: &Program, isa: Isa) -> Machines {
        let stages = program.stages.iter().map(|stage| Machine::new(&stage.program, isa)).collect();
        Machines { main: Machine::new(program, isa), stages }
    }

    /// Runs the stages of a program over a block: what they carry.
    fn carry(&mut self, program: &Program, block: &Block, columns: &[GameColumn]) -> Vec<carry::Column> {
        let mut carried = Vec::new();
        for (Stage { program, carried: carries }, machine) in program.stages.iter().zip(&mut self.stages) {
            let mut found: Vec<_> =
                carries.iter().map(|carry| carry::Column::found(carry.what, block)).collect();
            for first in batches(block) {
                machine.load(program, block, first, Beside { columns, carried: &carried });
                machine.run(program);
                for (carry, column) in carries.iter().zip(&mut found) {
                    machine.column(carry.reg, first, column);
                }
            }
            carried
                .extend(found.into_iter().zip(carries).map(|(column, carry)| column.carried(carry, block)));
        }
        carried
    }
}

impl<P> Prepared<P> {
    fn new(plan: P, isa: Isa) -> Prepared<P> {
        Prepared { plan, isa, idle: Mutex::new(Vec::new()) }
    }

    /// Lends a machine for `program`, the plan's, to `work`, together with what it reads beside the positions
    /// of a block.
    fn with_machine<T>(
        &self,
        program: &Program,
        columns: &[Column],
        block: &Block,
        work: impl FnOnce(&mut Machine, Beside<'_>) -> T,
    ) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let machines = idle().pop();
        let mut machines = machines.unwrap_or_else(|| Machines::new(program, self.isa));
        let columns = game_columns(columns, block);
        let carried = machines.carry(program, block, &columns);
        let out = work(&mut machines.main, Beside { columns: &columns, carried: &carried });
        idle().push(machines);
        out
    }
}

impl Cpu {
    /// An engine for one query, for the best instructions that the processor has.
    pub fn new(planner: Arc<Planner>) -> Cpu {
        Cpu::with_isa(planner, Isa::detected())
    }

    /// The same, for a choice of instructions.
    pub fn with_isa(planner: Arc<Planner>, isa: Isa) -> Cpu {
        let hits = Prepared::new(planner.hits(), isa);
        Cpu { planner, isa, hits, values: OnceLock::new(), copies: OnceLock::new() }
    }

    fn values(&self) -> &Prepared {
        self.values.get_or_init(|| Prepared::new(self.planner.values(), self.isa))
    }

    /// Visits the hits of a block in order, with the words that tell the copies apart.
    fn each_hit(&self, block: &Block, hits: &Hits, mut visit: impl FnMut(&CopiesPlan, &[u64])) {
        let copies = self.copies.get_or_init(|| self.planner.each_copy());
        if hits.bits.iter().all(|&bits| bits == 0) {
            return;
        }
        let program = &copies.program;
        let columns = game_columns(&copies.columns, block);
        let mut machines = Machines::new(program, self.isa);
        let carried = machines.carry(program, block, &columns);
        let machine = &mut machines.main;
        let mut words = vec![0; copies.words.len()];
        for first in batches(block) {
            let hits = &hits.bits[first..(first + LANES).min(block.segments())];
            if hits.iter().all(|&bits| bits == 0) {
                continue;
            }
            machine.load(program, block, first, Beside { columns: &columns, carried: &carried });
            machine.run(program);
            for (n, &bits) in hits.iter().enumerate() {
                for i in Bitboard(bits.into()) {
                    for (word, &reg) in words.iter_mut().zip(&copies.words) {
                        *word = machine.word(reg, i as usize, n);
                    }
                    visit(copies, &words);
                }
            }
        }
    }

    fn add_values(&self, block: &Block, hits: &mut Hits) {
        let Hits { bits, values } = hits;
        let plan = &self.values().plan;
        let count: usize = bits.iter().map(|bits| bits.count_ones() as usize).sum();
        self.values().with_machine(&plan.program, &plan.columns, block, |machine, beside| {
            if count * DENSE > block.slots() {
                for first in batches(block) {
                    machine.load(&plan.program, block, first, beside);
                    machine.run(&plan.program);
                    machine.store_hits(plan, first, bits, values);
                }
                return;
            }
            for slots in slots_of(bits, 0..block.slots()).collect::<Vec<usize>>().chunks(BATCH) {
                machine.gather(&plan.program, block, slots, beside);
                machine.run(&plan.program);
                machine.store(plan, slots, values);
            }
        });
    }
}

impl Engine for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    /// Values are computed in a second pass: over the slots that hit, gathered into full batches, or, where
    /// many do, over all. Elsewhere a set is empty and a number has no value.
    fn scan(&self, block: &Block, want: Want) -> Result<Hits, EngineError> {
        let mut hits = Hits::new(block, want, self.planner.ty());
        let plan = &self.hits.plan;
        if plan.always_hits {
            fill(&mut hits.bits, block.slots());
        } else {
            self.hits.with_machine(&plan.program, &plan.columns, block, |machine, beside| {
                for first in batches(block) {
                    machine.load(&plan.program, block, first, beside);
                    machine.run(&plan.program);
                    machine.bits(plan.hit, &mut hits.bits[first..]);
                }
            });
        }
        if hits.values != Values::None {
            self.add_values(block, &mut hits);
        }
        Ok(hits)
    }

    fn copies(&self) -> usize {
        self.planner.copies()
    }

    fn copy_counts(&self, block: &Block, hits: &Hits, counts: &mut [u64]) -> Result<(), EngineError> {
        self.each_hit(block, hits, |copies, words| copies.add_counts(words, counts));
        Ok(())
    }
}

impl TellCopies for Cpu {
    fn copy_hits(&self, block: &Block, hits: &Hits, tell: Tell) -> CopyHits {
        let mut found = CopyHits::new(self.planner.copies(), tell, hits);
        self.each_hit(block, hits, |copies, words| found.push(copies.matching(words)));
        found
    }
}

/// Where more than one slot in so many hits, all are evaluated once more: to gather a slot costs as much as
/// to replay a few.
const DENSE: usize = 4;

/// Sets the bits of the first slots.
fn fill(bits: &mut [u32], slots: usize) {
    bits.fill(u32::MAX);
    if let (Some(last), tail @ 1..) = (bits.last_mut(), slots % SEGMENT_SLOTS) {
        *last = (1 << tail) - 1;
    }
}

/// Several queries on the CPU.
#[derive(Debug)]
pub struct CpuBatch {
    hits: Prepared<SharedPlan>,
}

impl CpuBatch {
    /// An engine for several queries, for the best instructions that the processor has.
    pub fn new(planners: &[&Planner]) -> CpuBatch {
        CpuBatch { hits: Prepared::new(Planner::shared(planners), Isa::detected()) }
    }

    fn scan(&self, block: &Block, out: &mut [Vec<Hits>]) {
        let plan = &self.hits.plan;
        let mut all: Vec<Vec<u32>> = vec![vec![0; block.segments()]; plan.queries];
        self.hits.with_machine(&plan.program, &plan.columns, block, |machine, beside| {
            for first in batches(block) {
                machine.load(&plan.program, block, first, beside);
                machine.run(&plan.program);
                for (query, bits) in all.iter_mut().enumerate() {
                    machine.answer(query, &mut bits[first..]);
                }
            }
        });
        for (hits, bits) in out.iter_mut().zip(all) {
            hits.push(Hits { bits, values: Values::None });
        }
    }
}

impl Batch for CpuBatch {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn queries(&self) -> usize {
        self.hits.plan.queries
    }

    fn scan_many(&self, blocks: &[&Block]) -> Result<Vec<Vec<Hits>>, EngineError> {
        let mut out = vec![Vec::with_capacity(blocks.len()); self.queries()];
        blocks.iter().for_each(|block| self.scan(block, &mut out));
        Ok(out)
    }
}

/// The first segment of each batch of a block.
fn batches(block: &Block) -> impl Iterator<Item = usize> {
    (0..block.segments()).step_by(LANES)
}
