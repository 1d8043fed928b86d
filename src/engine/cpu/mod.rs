//! The fast engine without a GPU: plans over batches of positions in columns.
//!
//! A group is eight segments, 256 positions. Their planes are replayed straight into registers, and
//! every step of the plan then runs over a whole register at a time, which the compiler turns into
//! vector code for whatever the processor offers. Knows plans and reels, nothing of queries.

#[cfg(target_arch = "x86_64")]
mod emit;
#[cfg(not(target_arch = "x86_64"))]
#[path = "without_emit.rs"]
mod emit;
mod glance;
mod isa;
mod kernels;
mod machine;
mod moves;
mod registers;
mod screen;

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use shakmaty::Bitboard;

use super::{
    Answers, CopyDetail, CopyHits, Engine, EngineError, Hits, Outputs, Request, Values, context::Context,
    slots_of,
};
use crate::{
    plan::{Column, CopiesPlan, Output, Plan, Plans, Program, Reg, SharedPlan, Stage},
    reel::{Block, SEGMENT_SLOTS, lanes::LANES},
};
use emit::Native;
pub use isa::Isa;
use machine::Beside;
use registers::{GROUP, Machine};
use screen::Screening;

/// Whether plans become machine code. It changes no answer. There is none where the architecture is not x86-64, the
/// processor has no AVX2, or the system gives no memory that can be executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MachineCode {
    /// Kernels run each step of a plan.
    Never,
    /// Plans that are dear are compiled when they have run for a while.
    #[default]
    WhenDear,
    /// All plans are compiled at once.
    Always,
}

/// See the module.
#[derive(Debug)]
pub struct Cpu {
    plans: Arc<Plans>,
    isa: Isa,
    code: MachineCode,
    hits: Prepared<SharedPlan>,
    screen: Option<Screening>,
    /// Of each query, made when they are first wanted.
    values: Vec<OnceLock<Prepared<Plan>>>,
    copies: Vec<OnceLock<Prepared<CopiesPlan>>>,
    /// Columns of words that no thread uses at the moment, those of a block together.
    spare: Mutex<Vec<Vec<Vec<u64>>>>,
}

/// A plan and the machines that no thread uses at the moment.
#[derive(Debug)]
struct Prepared<P> {
    plan: P,
    isa: Isa,
    code: MachineCode,
    /// On how many groups of positions it ran.
    groups: AtomicU64,
    natives: OnceLock<Natives>,
    idle: Mutex<Vec<Machines>>,
}

/// The machine code of a program and of its stages, where there is some.
#[derive(Debug)]
struct Natives {
    main: Option<Native>,
    stages: Vec<Option<Native>>,
}

impl Natives {
    fn new(program: &Program, kept: &[Reg], isa: Isa) -> Natives {
        let stage = |Stage { program, found, .. }: &Stage| {
            let kept: Vec<Reg> = found.iter().map(|found| found.reg).collect();
            emit::compile(program, &kept, isa)
        };
        Natives {
            main: emit::compile(program, kept, isa),
            stages: program.stages.iter().map(stage).collect(),
        }
    }
}

/// What plans of all kinds have.
trait Code {
    fn program(&self) -> &Program;
    fn columns(&self) -> &[Column];
    /// The registers that are read when the program has run.
    fn kept(&self) -> Vec<Reg>;
}

impl Code for SharedPlan {
    fn program(&self) -> &Program {
        &self.program
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn kept(&self) -> Vec<Reg> {
        Vec::new()
    }
}

impl Code for Plan {
    fn program(&self) -> &Program {
        &self.program
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn kept(&self) -> Vec<Reg> {
        match self.output {
            Output::Bool => vec![self.hit],
            Output::Set(reg) | Output::Num(reg) => vec![self.hit, reg],
        }
    }
}

impl Code for CopiesPlan {
    fn program(&self) -> &Program {
        &self.program
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn kept(&self) -> Vec<Reg> {
        self.words.clone()
    }
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

    /// Runs those stages of a program over a block whose answers are not known yet.
    fn carry(&mut self, program: &Program, natives: Option<&Natives>, context: &mut Context<'_>) {
        for (k, (Stage { program: stage, found: words, carried }, machine)) in
            program.stages.iter().zip(&mut self.stages).enumerate()
        {
            let native = natives.and_then(|natives| natives.stages[k].as_ref());
            if context.carry_found(carried) {
                continue;
            }
            let block = context.block;
            let mut found: Vec<_> = words.iter().map(|word| context.column(word.is_mask)).collect();
            let before = context.carried(&stage.reads);
            let beside = Beside { columns: context.columns(), carried: &before };
            for segments in segments(block).chunks(LANES) {
                machine.load(stage, block, segments, beside);
                machine.run(stage, native);
                let first = segments[0] as usize;
                for (word, column) in words.iter().zip(&mut found) {
                    machine.column(word.reg, first, column);
                }
            }
            context.add_found(words, carried, found);
        }
    }
}

impl<P: Code> Prepared<P> {
    fn new(plan: P, isa: Isa, code: MachineCode) -> Prepared<P> {
        let (groups, natives, idle) = (AtomicU64::new(0), OnceLock::new(), Mutex::new(Vec::new()));
        Prepared { plan, isa, code, groups, natives, idle }
    }

    /// The machine code of the plan, if it has some by now.
    fn natives(&self) -> Option<&Natives> {
        let program = self.plan.program();
        let is_due = match self.code {
            MachineCode::Never => false,
            MachineCode::WhenDear => self.natives.get().is_some() || self.is_worth_code(program.cost()),
            MachineCode::Always => true,
        };
        is_due.then(|| self.natives.get_or_init(|| Natives::new(program, &self.plan.kept(), self.isa)))
    }

    /// Whether a plan of some steps has run long enough to be compiled.
    fn is_worth_code(&self, cost: u64) -> bool {
        cost >= DEAR && self.groups.load(Ordering::Relaxed).saturating_mul(cost) >= STEPS_FIRST
    }

    /// Lends a machine for the plan to `work`, together with what it reads beside the positions of a block.
    fn with_machine<T>(
        &self,
        context: &mut Context<'_>,
        work: impl FnOnce(&P, &mut Machine, Option<&Native>, Beside<'_>) -> T,
    ) -> T {
        let program = self.plan.program();
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let machines = idle().pop();
        let mut machines = machines.unwrap_or_else(|| Machines::new(program, self.isa));
        context.add_columns(self.plan.columns());
        let natives = self.natives();
        machines.carry(program, natives, context);
        let carried = context.carried(&program.reads);
        let beside = Beside { columns: context.columns(), carried: &carried };
        let native = natives.and_then(|natives| natives.main.as_ref());
        let out = work(&self.plan, &mut machines.main, native, beside);
        self.groups.fetch_add(std::mem::take(&mut machines.main.runs), Ordering::Relaxed);
        idle().push(machines);
        out
    }
}

impl Cpu {
    /// An engine for the best instructions that the processor has.
    pub fn new(plans: Arc<Plans>) -> Cpu {
        Cpu::with_isa(plans, Isa::detected())
    }

    /// The same, for a choice of instructions.
    pub fn with_isa(plans: Arc<Plans>, isa: Isa) -> Cpu {
        Cpu::with(plans, isa, MachineCode::default())
    }

    /// The same, with or without machine code.
    pub fn with(plans: Arc<Plans>, isa: Isa, code: MachineCode) -> Cpu {
        let hits = Prepared::new(plans.hits(0..plans.len()), isa, code);
        let screen = plans.screen(0..plans.len()).map(|screen| Screening::new(screen, isa));
        let queries = 0..plans.len();
        let (values, copies) =
            (queries.clone().map(|_| OnceLock::new()).collect(), queries.map(|_| OnceLock::new()).collect());
        Cpu { plans, isa, code, hits, screen, values, copies, spare: Mutex::default() }
    }

    /// Of how many segments no position was looked at, and how many there were, over all scans.
    pub fn passed_over(&self) -> (u64, u64) {
        self.screen.as_ref().map_or((0, 0), Screening::passed_over)
    }

    /// Whether hits are found by machine code by now, or what is known of other positions before them.
    pub fn is_compiled(&self) -> bool {
        let natives = self.hits.natives.get();
        natives.is_some_and(|natives| {
            natives.main.iter().chain(natives.stages.iter().flatten()).next().is_some()
        })
    }

    fn values(&self, query: usize) -> &Prepared<Plan> {
        self.values[query].get_or_init(|| Prepared::new(self.plans.values(query), self.isa, self.code))
    }

    fn copies(&self, query: usize) -> &Prepared<CopiesPlan> {
        self.copies[query].get_or_init(|| Prepared::new(self.plans.copies(query), self.isa, self.code))
    }

    /// What each query answers on one block.
    fn scan_block(
        &self,
        index: usize,
        block: &Block,
        request: &Request<'_>,
    ) -> Result<Vec<Answers>, EngineError> {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let words = spare().pop().unwrap_or_default();
        let mut context = Context::new(block, words);
        let mut all = self.hits(&mut context);
        if context.is_stopped() {
            return Err(EngineError::Stopped);
        }
        for (query, (hits, &outputs)) in all.iter_mut().zip(request.outputs).enumerate() {
            request.select(index, block, query, hits);
            hits.make_room(block, outputs, self.plans.ty(query));
            if hits.values != Values::None && hits.bits.iter().any(|&bits| bits != 0) {
                self.add_values(query, &mut context, hits);
            }
        }
        let detail = |(query, (hits, &outputs)): (usize, (Hits, &Outputs))| {
            let copies = outputs.detail().map(|detail| self.detail(query, &mut context, &hits, detail));
            Answers::of(hits, copies)
        };
        let answers = all.into_iter().zip(request.outputs).enumerate().map(detail).collect();
        spare().push(context.into_spare());
        Ok(answers)
    }

    /// The hits of each query.
    fn hits(&self, context: &mut Context<'_>) -> Vec<Hits> {
        let block = context.block;
        let mut all = vec![Hits::new(block); self.plans.len()];
        let always = &self.hits.plan.always;
        if always.iter().all(|&always| always) {
            all.iter_mut().for_each(|hits| fill(&mut hits.bits, block.slots()));
            return all;
        }
        self.hits.with_machine(context, |plan, machine, native, beside| {
            let left = self.screen.as_ref().and_then(|screen| screen.segments(block));
            let segments = left.unwrap_or_else(|| segments(block));
            for segments in segments.chunks(LANES) {
                machine.load(&plan.program, block, segments, beside);
                machine.run(&plan.program, native);
                for (query, hits) in all.iter_mut().enumerate() {
                    machine.answer(query, segments, &mut hits.bits);
                }
            }
        });
        all
    }

    /// Values are computed in a second pass: over the slots that hit, gathered into full batches, or, where
    /// many do, over all. Elsewhere a set is empty and a number has no value.
    fn add_values(&self, query: usize, context: &mut Context<'_>, hits: &mut Hits) {
        let block = context.block;
        let Hits { bits, values, .. } = hits;
        let count: usize = bits.iter().map(|bits| bits.count_ones() as usize).sum();
        self.values(query).with_machine(context, |plan, machine, native, beside| {
            if count * DENSE > block.slots() {
                for segments in segments(block).chunks(LANES) {
                    machine.load(&plan.program, block, segments, beside);
                    machine.run(&plan.program, native);
                    machine.store_hits(plan, segments[0] as usize, bits, values);
                }
                return;
            }
            for slots in slots_of(bits, 0..block.slots()).collect::<Vec<usize>>().chunks(GROUP) {
                machine.gather(&plan.program, block, slots, beside);
                machine.run(&plan.program, native);
                machine.store(plan, slots, values);
            }
        });
    }

    /// The copies that match at some hits.
    fn detail(&self, query: usize, context: &mut Context<'_>, hits: &Hits, detail: CopyDetail) -> CopyHits {
        let block = context.block;
        let mut found = CopyHits::new(self.plans.copy_count(query), detail, hits);
        if hits.bits.iter().all(|&bits| bits == 0) {
            return found;
        }
        self.copies(query).with_machine(context, |plan, machine, native, beside| {
            let mut words = vec![0; plan.words.len()];
            let hits = |segment: u32| hits.bits[segment as usize];
            let mut segments = segments(block);
            segments.retain(|&segment| hits(segment) != 0);
            for segments in segments.chunks(LANES) {
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
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn queries(&self) -> usize {
        self.plans.len()
    }

    fn scan(&self, blocks: &[&Block], request: &Request<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let blocks = blocks.iter().enumerate();
        blocks.map(|(index, block)| self.scan_block(index, block, request)).collect()
    }

    fn copies(&self, query: usize) -> usize {
        self.plans.copy_count(query)
    }
}

/// Where more than one slot in so many hits, all are evaluated once more: to gather a slot costs as much as
/// to replay a few.
const DENSE: usize = 4;

/// Steps of a program, those of loops as often as they have rows, from which on machine code pays.
const DEAR: u64 = 8;

/// Steps, counted for each group on which they ran, that kernels run before a program is compiled. They take about as
/// long as compiling: 0.1 ms for any program, and 1 us for each of its steps. So a search that ends before loses nothing,
/// and one that goes on loses little.
const STEPS_FIRST: u64 = 16_384;

/// Sets the bits of the first slots.
fn fill(bits: &mut [u32], slots: usize) {
    bits.fill(u32::MAX);
    if let (Some(last), tail @ 1..) = (bits.last_mut(), slots % SEGMENT_SLOTS) {
        *last = (1 << tail) - 1;
    }
}

/// All segments of a block.
fn segments(block: &Block) -> Vec<u32> {
    (0..block.segments() as u32).collect()
}
