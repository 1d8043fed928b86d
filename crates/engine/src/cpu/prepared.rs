//! A prepared plan: a plan, the register machines that run it, and its machine code once it has run for a while.
//!
//! The *stages* of a program are the parts of it that run before the rest, over the whole block.

use std::sync::{
    Mutex, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use super::emit::{self, Native};
use super::machine::SideInputs;
use super::registers::RegisterMachine;
use crate::context::Context;
use orbit_core::isa::Isa;
use orbit_core::sync::lock;
use orbit_plan::{CopiesPlan, Output, Plan, Program, Reg, Screen, SharedPlan, Stage, TagColumn};
use orbit_reel::{Block, lanes::LANES};

/// The minimum cost of a program for which machine code pays off. The cost is the number of steps, and a step in a loop
/// counts once for each row of the loop's table.
const DEAR: u64 = 8;

/// The total number of steps after which a program is compiled: the cost of the program times the number of groups of
/// 256 positions on which it has run or is about to run. The interpreter runs this many steps in about the time that
/// compiling takes (0.1 ms for any program, and 1 µs for each of its steps). So a shorter search loses nothing, and a
/// longer one loses little.
const STEPS_FIRST: u64 = 16_384;

/// The policy for compiling plans to machine code. It does not affect the answers. Plans are never compiled if the
/// architecture is not x86-64, if the processor has no AVX2, or if the system provides no executable memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MachineCode {
    /// Plans are never compiled; the interpreter runs all steps.
    Never,
    /// Expensive plans are compiled after they have run for a while.
    #[default]
    WhenDear,
    /// All plans are compiled before they first run.
    Always,
}

/// A plan, its machine code, and the idle register machines, which threads borrow to run it.
#[derive(Debug)]
pub(super) struct Prepared<P> {
    pub(super) plan: P,
    pub(super) isa: Isa,
    code: MachineCode,
    /// The number of groups of 256 positions on which the plan has run.
    groups: AtomicU64,
    natives: OnceLock<Natives>,
    idle: Mutex<Vec<Machines>>,
}

/// The machine code of a program and of each of its stages (the parts of the program that run before the rest); `None`
/// for a part that is not compiled.
#[derive(Debug)]
pub(super) struct Natives {
    pub(super) main: Option<Native>,
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

/// A plan of any kind, as the CPU engine runs it: a program, and the registers that contain its results.
pub(super) trait PlanCode {
    fn program(&self) -> &Program;
    fn columns(&self) -> &[TagColumn];
    /// Returns the registers that are read after the program has run.
    fn kept(&self) -> Vec<Reg>;
}

impl PlanCode for SharedPlan {
    fn program(&self) -> &Program {
        &self.program
    }

    fn columns(&self) -> &[TagColumn] {
        &self.columns
    }

    fn kept(&self) -> Vec<Reg> {
        Vec::new()
    }
}

impl PlanCode for Plan {
    fn program(&self) -> &Program {
        &self.program
    }

    fn columns(&self) -> &[TagColumn] {
        &self.columns
    }

    fn kept(&self) -> Vec<Reg> {
        match self.output {
            Output::Bool => vec![self.hit],
            Output::Set(reg) | Output::Num(reg) => vec![self.hit, reg],
        }
    }
}

impl PlanCode for CopiesPlan {
    fn program(&self) -> &Program {
        &self.program
    }

    fn columns(&self) -> &[TagColumn] {
        &self.columns
    }

    fn kept(&self) -> Vec<Reg> {
        self.words.clone()
    }
}

impl PlanCode for Screen {
    fn program(&self) -> &Program {
        &self.program
    }

    fn columns(&self) -> &[TagColumn] {
        &[]
    }

    fn kept(&self) -> Vec<Reg> {
        vec![self.mask]
    }
}

/// The register machines that run a plan: one for the program, and one for each of its stages (the parts of the program
/// that run before the rest).
#[derive(Debug)]
pub(super) struct Machines {
    pub(super) main: RegisterMachine,
    stages: Vec<RegisterMachine>,
}

impl Machines {
    fn new(program: &Program, isa: Isa) -> Machines {
        let stages = program.stages.iter().map(|stage| RegisterMachine::new(&stage.program, isa)).collect();
        Machines { main: RegisterMachine::new(program, isa), stages }
    }

    /// Returns the number of groups of 256 positions on which the program has run since the last call. If a stage (a
    /// part of the program that runs before the rest) has run on more groups, returns the number for this stage.
    fn take_runs(&mut self) -> u64 {
        let machines = self.stages.iter_mut().chain([&mut self.main]);
        machines.map(|machine| std::mem::take(&mut machine.runs)).max().unwrap_or(0)
    }

    /// Runs the stages of a program (the parts that run before the rest of it) over the whole block, unless their results
    /// are already known.
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
            let beside = SideInputs { columns: context.columns(), carried: &before };
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

impl<P: PlanCode> Prepared<P> {
    pub(super) fn new(plan: P, isa: Isa, code: MachineCode) -> Prepared<P> {
        let (groups, natives, idle) = (AtomicU64::new(0), OnceLock::new(), Mutex::new(Vec::new()));
        Prepared { plan, isa, code, groups, natives, idle }
    }

    /// Returns the machine code of the plan. Compiles the plan first if compiling has become worthwhile, and returns
    /// `None` if it is not worthwhile yet. `ahead` is the number of groups of 256 positions on which the plan is about
    /// to run.
    fn natives(&self, ahead: usize) -> Option<&Natives> {
        let program = self.plan.program();
        let is_due = match self.code {
            MachineCode::Never => false,
            MachineCode::WhenDear => {
                self.natives.get().is_some() || self.is_worth_code(program.cost(), ahead)
            }
            MachineCode::Always => true,
        };
        is_due.then(|| self.natives.get_or_init(|| Natives::new(program, &self.plan.kept(), self.isa)))
    }

    /// Returns true if a plan of this cost runs long enough for compiling to pay off. `ahead` is the number of groups
    /// of 256 positions on which it is about to run.
    fn is_worth_code(&self, cost: u64, ahead: usize) -> bool {
        let groups = self.groups.load(Ordering::Relaxed).saturating_add(ahead as u64);
        cost >= DEAR && groups.saturating_mul(cost) >= STEPS_FIRST
    }

    /// Calls `work` with an idle set of register machines, or with a new set. Afterwards, the set is kept for later
    /// calls. `work` runs the plan on about `groups` groups of positions.
    pub(super) fn lend<T>(
        &self,
        groups: usize,
        work: impl FnOnce(&mut Machines, Option<&Natives>) -> T,
    ) -> T {
        let idle = || lock(&self.idle);
        let machines = idle().pop();
        let mut machines = machines.unwrap_or_else(|| Machines::new(self.plan.program(), self.isa));
        let out = work(&mut machines, self.natives(groups));
        self.groups.fetch_add(machines.take_runs(), Ordering::Relaxed);
        idle().push(machines);
        out
    }

    /// Returns true if the program or one of its stages has been compiled to machine code.
    pub(super) fn is_compiled(&self) -> bool {
        let natives = self.natives.get();
        natives.is_some_and(|natives| {
            natives.main.iter().chain(natives.stages.iter().flatten()).next().is_some()
        })
    }

    /// Runs the plan's stages, and then calls `work` with a register machine for the plan and the columns that it reads.
    /// `work` runs the plan on about `groups` groups of positions.
    pub(super) fn with_machine<T>(
        &self,
        context: &mut Context<'_>,
        groups: usize,
        work: impl FnOnce(&P, &mut RegisterMachine, Option<&Native>, SideInputs<'_>) -> T,
    ) -> T {
        let program = self.plan.program();
        context.add_columns(self.plan.columns());
        self.lend(groups, |machines, natives| {
            machines.carry(program, natives, context);
            let carried = context.carried(&program.reads);
            let beside = SideInputs { columns: context.columns(), carried: &carried };
            let native = natives.and_then(|natives| natives.main.as_ref());
            work(&self.plan, &mut machines.main, native, beside)
        })
    }
}

/// Returns the indices of all segments (32 positions each) of a block.
pub(super) fn segments(block: &Block) -> Vec<u32> {
    (0..block.segments() as u32).collect()
}
