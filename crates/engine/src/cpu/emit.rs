//! Compiles the programs of a plan to machine code.
//!
//! A program is a list of steps on registers, and a register holds one 64-bit word for each of the 256 positions of a
//! *group*. The interpreter (the *kernels*) reads and writes memory for each step. The compiler instead turns
//! consecutive steps into a *region*, one loop over the words of a group. The loop keeps intermediate results in vector
//! registers and stores only the results that are read outside the region. Loops over short tables are unrolled, with
//! the rows of the table as constants. Steps that no vector unit supports, such as legal moves, are left to the
//! kernels, which run between the regions. Machine code and kernels compute the same words.
//!
//! A region is compiled in four phases. Steps become nodes of a graph (`lower`, `graph`). Bitwise functions that
//! together fit in one instruction are joined (`fuse`). Nodes become instructions on vector registers (`allocate`). The
//! instructions are encoded as bytes (`assembler`) in executable memory (`code`). At run time, `answers` converts the
//! results of the code to words. The only unsafe code is in `code` and in the call of an AVX2 function in `answers`.

mod allocate;
mod answers;
mod assembler;
mod code;
mod fuse;
mod graph;
mod lower;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{
    kernels,
    registers::{GROUP, RegisterMachine, SpilledVector},
};
use allocate::RegionCode;
use answers::answers;
use assembler::{ANSWER_BYTES, Assembler, Inst, Width};
use code::{MachineFunction, MachineFunctions};
use graph::Graph;
use lower::{Flat, Scalars, Sinks};
use orbit_core::isa::Isa;
use orbit_plan::{Program, Reg, Step};

/// The approximate maximum number of instructions in a region. The code of a few such regions fits in the processor's
/// L1 cache. A value that several regions use is stored in memory between them.
const REGION_WEIGHT: usize = 1200;

/// The minimum weight of a region, in estimated instructions. Steps with a smaller total weight are left to the interpreter's
/// kernels.
const REGION_WEIGHT_MIN: usize = 4;

/// The maximum number of machine instructions (estimated) in a table loop that is unrolled, summed over all rows of the
/// table. Larger loops are left to the interpreter's kernels.
const LOOP_WEIGHT_MAX: usize = 7000;

/// A program compiled to machine code.
#[derive(Debug)]
pub(super) struct Native {
    code: MachineFunctions,
    items: Vec<Item>,
    width: Width,
    slots: usize,
    lines: usize,
}

#[derive(Debug)]
enum Item {
    /// Steps of the program that the interpreter's kernels run.
    Steps(Range<usize>),
    /// A compiled region (steps that run as one loop), and the queries whose answers it writes.
    Region(MachineFunction, Vec<usize>),
}

/// Compiles a program. `kept` lists the registers that are read after the program. Returns `None` if no part of the
/// program is worth compiling, if the instruction set is not supported, or if the system provides no executable memory.
pub(super) fn compile(program: &Program, kept: &[Reg], isa: Isa) -> Option<Native> {
    let width = match isa {
        Isa::Base => return None,
        Isa::Avx2(_) => Width::Ymm,
        Isa::Avx512(_) => Width::Zmm,
    };
    compiled(program, kept, width, width.registers())
}

/// Compiles a program to code of the given vector width, which the processor must support. The code uses only the first
/// `registers` vector registers.
fn compiled(program: &Program, kept: &[Reg], width: Width, registers: usize) -> Option<Native> {
    let parts = parts(program);
    if !parts.iter().any(|part| matches!(part, ProgramPart::Region(_))) {
        return None;
    }
    let mut live = vec![false; program.registers];
    kept.iter().for_each(|reg| live[reg.0 as usize] = true);
    let mut assembler = Assembler::new(width);
    let (mut items, mut slots, mut lines) = (Vec::new(), 0, 0);
    for part in parts.iter().rev() {
        match part {
            ProgramPart::Steps(range) => {
                items.push(Item::Steps(range.clone()));
                let steps = &program.steps[range.clone()];
                // All rows of a loop write the same registers, and a row may read a value that an earlier row wrote. So
                // a register that a loop writes may still be live before the write.
                let is_straight = !steps.iter().any(|step| matches!(step, Step::Begin { .. }));
                steps.iter().rev().for_each(|step| pass(step, is_straight, &mut live));
            }
            ProgramPart::Region(steps) => {
                let RegionCode { insts, pool, slots: used, answers } = region(steps, &live, width, registers);
                let begin = assembler.function(&insts, &pool, (GROUP * size_of::<u64>()) as u32);
                let columns = insts.iter().filter_map(|inst| match inst {
                    Inst::Address(column) => Some(*column as usize + 1),
                    _ => None,
                });
                let (columns, used) = (columns.max().unwrap_or(0), used as usize);
                (slots, lines) = (slots.max(used), lines.max(answers.len()));
                let function = MachineFunction { begin, columns, slots: used, lines: answers.len() };
                items.push(Item::Region(function, answers));
                steps.iter().rev().for_each(|flat| pass(flat.step, true, &mut live));
            }
        }
    }
    items.reverse();
    Some(Native { code: MachineFunctions::new(&assembler.finish())?, items, width, slots, lines })
}

/// Compiles a region (steps that run as one loop). `live` marks the registers that are read after the region.
fn region(steps: &[Flat<'_>], live: &[bool], width: Width, registers: usize) -> RegionCode {
    let mut graph = Graph::new(width == Width::Zmm);
    let sinks: Sinks = lower::lowered(&mut graph, steps, |register| live[register as usize]);
    let order = fuse::fused(&mut graph, &sinks, width);
    allocate::body(&graph, &order, &sinks, width, registers)
}

/// Updates `live`, which marks the registers that are live after a step, so that it marks those that are live before
/// the step. `is_straight` is true if the step is not part of a loop.
fn pass(step: &Step, is_straight: bool, live: &mut [bool]) {
    if let Some(written) = lower::written(step).filter(|_| is_straight) {
        live[written.0 as usize] = false;
    }
    lower::reads(step, &mut |read| live[read.0 as usize] = true);
}

/// Consecutive steps of a program: either all of them are run by the kernels, or all are compiled to machine code.
enum ProgramPart<'a> {
    /// Steps that the kernels run.
    Steps(Range<usize>),
    /// Steps that become machine code.
    Region(Vec<Flat<'a>>),
}

/// Divides a program into parts that the interpreter runs and parts that become machine code.
fn parts(program: &Program) -> Vec<ProgramPart<'_>> {
    let mut parts = ProgramParts { done: Vec::new(), open: Vec::new(), weight: 0, is_fixed: false };
    let scalars = Scalars::new(&program.scalars);
    let mut at = 0;
    while let Some(step) = program.steps.get(at) {
        match step {
            Step::Begin { end, .. } => {
                if loop_weight(program, at, *end).is_some_and(|weight| weight <= LOOP_WEIGHT_MAX) {
                    write_out(program, at, *end, &scalars, &mut parts);
                } else {
                    parts.push_steps(at..end + 1);
                }
                at = end + 1;
            }
            step if lower::is_said(step) => {
                parts.push(Flat { at, step, scalars: scalars.clone() }, false);
                at += 1;
            }
            _ => {
                parts.push_steps(at..at + 1);
                at += 1;
            }
        }
    }
    parts.close();
    parts.done
}

/// Returns the estimated number of machine instructions of a loop, summed over all rows of its table. Returns `None` if
/// the loop contains a step that cannot be compiled.
fn loop_weight(program: &Program, begin: usize, end: usize) -> Option<usize> {
    let Step::Begin { table, .. } = program.steps[begin] else {
        unreachable!("a loop begins with its beginning")
    };
    let (mut weight, mut at) = (1usize, begin + 1);
    while at < end {
        let step = &program.steps[at];
        if let Step::Begin { end: inner, .. } = *step {
            weight = weight.saturating_add(loop_weight(program, at, inner)?);
            at = inner + 1;
        } else {
            weight = weight.saturating_add(lower::is_said(step).then(|| lower::weight(step))?);
            at += 1;
        }
    }
    Some(weight.saturating_mul(program.tables[table].len()))
}

/// Unrolls a loop: adds its steps to `parts` once for each row of its table.
fn write_out<'a>(
    program: &'a Program,
    begin: usize,
    end: usize,
    scalars: &Scalars<'a>,
    parts: &mut ProgramParts<'a>,
) {
    let Step::Begin { table, first, .. } = program.steps[begin] else {
        unreachable!("a loop begins with its beginning")
    };
    let flat = |at: usize, scalars: &Scalars<'a>, parts: &mut ProgramParts<'a>| {
        parts.push(Flat { at, step: &program.steps[at], scalars: scalars.clone() }, true);
    };
    flat(begin, scalars, parts);
    for row in &program.tables[table] {
        let scalars = scalars.in_row(first, row);
        let mut at = begin + 1;
        while at < end {
            if let Step::Begin { end: inner, .. } = program.steps[at] {
                write_out(program, at, inner, &scalars, parts);
                at = inner + 1;
            } else {
                flat(at, &scalars, parts);
                at += 1;
            }
        }
        flat(end, &scalars, parts);
    }
}

/// The state while a program is divided into parts.
struct ProgramParts<'a> {
    done: Vec<ProgramPart<'a>>,
    /// The steps of the open region, to which further steps may be added.
    open: Vec<Flat<'a>>,
    weight: usize,
    /// True if the interpreter's kernels cannot run the open region, because it contains steps of an unrolled loop or continues the
    /// region before it.
    is_fixed: bool,
}

impl<'a> ProgramParts<'a> {
    fn push(&mut self, flat: Flat<'a>, in_loop: bool) {
        if self.weight > REGION_WEIGHT {
            self.is_fixed = true;
            self.close();
        }
        self.weight += lower::weight(flat.step);
        self.is_fixed |= in_loop;
        self.open.push(flat);
    }

    fn push_steps(&mut self, range: Range<usize>) {
        self.close();
        match self.done.last_mut() {
            Some(ProgramPart::Steps(before)) if before.end == range.start => before.end = range.end,
            _ => self.done.push(ProgramPart::Steps(range)),
        }
    }

    /// Ends the open region, to which steps were added. If it is too short to be worth compiling, its steps are left to
    /// the interpreter's kernels.
    fn close(&mut self) {
        let steps = std::mem::take(&mut self.open);
        let is_region = self.is_fixed || self.weight >= REGION_WEIGHT_MIN;
        (self.weight, self.is_fixed) = (0, false);
        match (steps.first(), steps.last()) {
            (Some(first), Some(last)) if !is_region => {
                let range = first.at..last.at + 1;
                self.push_steps(range);
            }
            (Some(_), _) => self.done.push(ProgramPart::Region(steps)),
            _ => {}
        }
    }
}

impl Native {
    /// Runs the compiled program on the data in the registers of `machine`. `program` must be the program that was
    /// compiled.
    pub(super) fn run(&self, program: &Program, machine: &mut RegisterMachine) {
        if machine.scratch.len() < self.slots {
            machine.scratch.resize(self.slots, SpilledVector::default());
        }
        if machine.answer_bytes.len() < self.lines * ANSWER_BYTES {
            machine.answer_bytes.resize(self.lines * ANSWER_BYTES, 0);
        }
        for item in &self.items {
            match item {
                Item::Steps(range) => kernels::run(machine.isa, program, range.clone(), machine),
                Item::Region(function, queries) => {
                    self.code.call(
                        function,
                        &mut machine.regs,
                        &mut machine.scratch,
                        &mut machine.answer_bytes,
                    );
                    let (bytes, _) = machine.answer_bytes.as_chunks();
                    answers(machine.isa, bytes, self.width, queries, &mut machine.answers);
                }
            }
        }
    }
}
