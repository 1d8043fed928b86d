//! The fast engine without a GPU: a plan over batches of positions in columns.
//!
//! A batch is eight segments, 256 positions. Their planes are replayed straight into registers, and
//! every step of the plan then runs over a whole register at a time, which the compiler turns into
//! vector code for whatever the processor offers. Knows plans and reels, nothing of queries.

mod kernels;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{
    Batch, Engine, EngineError, Hits, Values, Want,
    columns::{GameColumn, game_columns},
};
use crate::{
    plan::{CopiesPlan, Input, Output, Plan, Planner, Program, Reg, SharedPlan},
    reel::{
        Block, SEGMENT_SLOTS,
        replay::{self, Masks, SegmentColumns, SegmentOut},
    },
};
use kernels::{BATCH, Column};

const BATCH_SEGMENTS: usize = BATCH / SEGMENT_SLOTS;

/// See the module.
#[derive(Debug)]
pub struct Cpu {
    planner: Arc<Planner>,
    hits: Prepared,
    values: OnceLock<Prepared>,
    copies: OnceLock<CopiesPlan>,
}

/// A plan and the machines that no thread uses at the moment.
#[derive(Debug)]
struct Prepared<P = Plan> {
    plan: P,
    idle: Mutex<Vec<Machine>>,
}

impl<P> Prepared<P> {
    fn new(plan: P) -> Prepared<P> {
        Prepared { plan, idle: Mutex::new(Vec::new()) }
    }

    /// Lends a machine for `program`, the plan's, to `work`.
    fn with_machine<T>(&self, program: &Program, work: impl FnOnce(&mut Machine) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let machine = idle().pop();
        let mut machine = machine.unwrap_or_else(|| Machine::new(program));
        let out = work(&mut machine);
        idle().push(machine);
        out
    }
}

impl Cpu {
    /// An engine for one query.
    pub fn new(planner: Arc<Planner>) -> Cpu {
        let hits = Prepared::new(planner.hits());
        Cpu { planner, hits, values: OnceLock::new(), copies: OnceLock::new() }
    }

    fn values(&self) -> &Prepared {
        self.values.get_or_init(|| Prepared::new(self.planner.values()))
    }
}

impl Engine for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    /// Values are computed in a second pass over the slots that hit, gathered into full batches:
    /// elsewhere a set is empty and a number has no value.
    fn scan(&self, block: &Block, want: Want) -> Result<Hits, EngineError> {
        let mut hits = Hits::new(block, want, self.planner.ty());
        let plan = &self.hits.plan;
        self.hits.with_machine(&plan.program, |machine| {
            let columns = game_columns(&plan.columns, block);
            for first in batches(block) {
                let masks = machine.load(&plan.program, block, first, &columns);
                machine.run(&plan.program);
                for (k, mask) in masks.iter().enumerate() {
                    hits.bits[first + k] = machine.bits(plan.hit, k) & mask.valid;
                }
            }
        });
        if hits.values != Values::None {
            let slots: Vec<usize> = hits.slots(0..block.slots()).collect();
            let plan = &self.values().plan;
            self.values().with_machine(&plan.program, |machine| {
                let columns = game_columns(&plan.columns, block);
                for slots in slots.chunks(BATCH) {
                    machine.gather(&plan.program, block, slots, &columns);
                    machine.run(&plan.program);
                    machine.store(plan, slots, &mut hits.values);
                }
            });
        }
        Ok(hits)
    }

    fn copies(&self) -> usize {
        self.planner.copies()
    }

    fn copy_counts(&self, block: &Block, hits: &Hits, counts: &mut [u64]) -> Result<(), EngineError> {
        let copies = self.copies.get_or_init(|| self.planner.each_copy());
        let program = &copies.program;
        let columns = game_columns(&copies.columns, block);
        let mut machine = Machine::new(program);
        let mut words = vec![0; copies.words.len()];
        for first in batches(block).filter(|&first| any_hit(block, hits, first)) {
            let masks = machine.load(program, block, first, &columns);
            machine.run(program);
            for lane in 0..masks.len() * SEGMENT_SLOTS {
                if hits.bits[first + lane / SEGMENT_SLOTS] >> (lane % SEGMENT_SLOTS) & 1 != 0 {
                    for (word, reg) in words.iter_mut().zip(&copies.words) {
                        *word = machine.regs[reg.0 as usize][lane];
                    }
                    copies.add_counts(&words, counts);
                }
            }
        }
        Ok(())
    }
}

/// Several queries on the CPU.
#[derive(Debug)]
pub struct CpuBatch {
    hits: Prepared<SharedPlan>,
}

impl CpuBatch {
    /// An engine for several queries.
    pub fn new(planners: &[&Planner]) -> CpuBatch {
        CpuBatch { hits: Prepared::new(Planner::shared(planners)) }
    }

    fn scan(&self, block: &Block, out: &mut [Vec<Hits>]) {
        let plan = &self.hits.plan;
        let columns = game_columns(&plan.columns, block);
        let mut all: Vec<Vec<u32>> = plan.hits.iter().map(|_| vec![0; block.segments()]).collect();
        self.hits.with_machine(&plan.program, |machine| {
            for first in batches(block) {
                let masks = machine.load(&plan.program, block, first, &columns);
                machine.run(&plan.program);
                for (bits, &reg) in all.iter_mut().zip(&plan.hits) {
                    for (k, mask) in masks.iter().enumerate() {
                        bits[first + k] = machine.bits(reg, k) & mask.valid;
                    }
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
        self.hits.plan.hits.len()
    }

    fn scan_many(&self, blocks: &[&Block]) -> Result<Vec<Vec<Hits>>, EngineError> {
        let mut out = vec![Vec::with_capacity(blocks.len()); self.queries()];
        blocks.iter().for_each(|block| self.scan(block, &mut out));
        Ok(out)
    }
}

/// The first segment of each batch of a block.
fn batches(block: &Block) -> impl Iterator<Item = usize> {
    (0..block.segments()).step_by(BATCH_SEGMENTS)
}

/// Whether the batch that begins at segment `first` has a hit.
fn any_hit(block: &Block, hits: &Hits, first: usize) -> bool {
    let last = (first + BATCH_SEGMENTS).min(block.segments());
    hits.bits[first..last].iter().any(|&bits| bits != 0)
}

/// Registers and what is beside them.
#[derive(Debug)]
struct Machine {
    regs: Vec<Column>,
    /// Where a step writes, before it changes places with its register.
    spare: Column,
    scalars: Vec<u64>,
    /// For each loop that is open, the step that began it and the row that it is in.
    rows: Vec<(usize, usize)>,
    states: Vec<u32>,
    plies: Vec<u32>,
    /// The game of each slot; kept only where the program reads columns of games.
    games: Vec<u32>,
    segment: SegmentColumns,
}

impl Machine {
    fn new(program: &Program) -> Machine {
        Machine {
            regs: vec![kernels::column(); program.registers],
            spare: kernels::column(),
            scalars: program.scalars.clone(),
            rows: Vec::new(),
            states: vec![0; BATCH],
            plies: vec![0; BATCH],
            games: vec![0; BATCH],
            segment: SegmentColumns::new(),
        }
    }

    /// Replays a batch of segments, from `first` on, and loads everything that the program reads.
    /// Returns the masks of the segments that are there.
    fn load(&mut self, program: &Program, block: &Block, first: usize, columns: &[GameColumn]) -> Vec<Masks> {
        let last = (first + BATCH_SEGMENTS).min(block.segments());
        let [p0, p1, p2, p3, ..] = &mut self.regs[..] else { unreachable!("planes take four registers") };
        let mut planes = [p0, p1, p2, p3].map(|column| column.as_chunks_mut::<SEGMENT_SLOTS>().0.iter_mut());
        let mut states = self.states.as_chunks_mut::<SEGMENT_SLOTS>().0.iter_mut();
        let mut plies = self.plies.as_chunks_mut::<SEGMENT_SLOTS>().0.iter_mut();
        let mut next = || {
            Some(SegmentOut {
                planes: {
                    let [a, b, c, d] = &mut planes;
                    [a.next()?, b.next()?, c.next()?, d.next()?]
                },
                states: states.next()?,
                plies: plies.next()?,
            })
        };
        let masks: Vec<Masks> = (first..last)
            .map(|seg| replay::segment(block, seg, &mut next().expect("a batch has room for its segments")))
            .collect();
        if !columns.is_empty() {
            for (k, mask) in masks.iter().enumerate() {
                let mut game = block.keys[first + k].first_game;
                for (i, slot) in self.games[k * SEGMENT_SLOTS..][..SEGMENT_SLOTS].iter_mut().enumerate() {
                    *slot = game;
                    game += mask.terminal >> i & 1;
                }
            }
        }
        self.load_inputs(program, &masks, columns);
        masks
    }

    /// The same for single slots, at most [`BATCH`] of them, ascending.
    fn gather(&mut self, program: &Program, block: &Block, slots: &[usize], columns: &[GameColumn]) {
        let mut masks = vec![Masks::default(); BATCH_SEGMENTS];
        let mut replayed = None;
        for (lane, &slot) in slots.iter().enumerate() {
            let (seg, i) = (slot / SEGMENT_SLOTS, slot % SEGMENT_SLOTS);
            if replayed != Some(seg) {
                self.segment.replay(block, seg);
                replayed = Some(seg);
            }
            let segment = &self.segment;
            for (reg, plane) in self.regs.iter_mut().zip(&segment.planes) {
                reg[lane] = plane[i];
            }
            self.states[lane] = segment.states[i];
            self.plies[lane] = segment.plies[i];
            let ended = segment.masks.terminal & ((1 << i) - 1);
            self.games[lane] = block.keys[seg].first_game + ended.count_ones();
            let (mask, bit) = (&mut masks[lane / SEGMENT_SLOTS], lane % SEGMENT_SLOTS);
            mask.initial |= (segment.masks.initial >> i & 1) << bit;
            mask.terminal |= (segment.masks.terminal >> i & 1) << bit;
        }
        self.load_inputs(program, &masks, columns);
    }

    /// Loads what the program reads beside the planes, from what was replayed.
    fn load_inputs(&mut self, program: &Program, masks: &[Masks], columns: &[GameColumn]) {
        for &(input, reg) in &program.inputs {
            let out = &mut self.regs[reg.0 as usize];
            match input {
                Input::Plane(_) => {}
                Input::WhiteToMove => {
                    for (slot, state) in out.iter_mut().zip(&self.states) {
                        *slot = u64::from(state & 1).wrapping_sub(1);
                    }
                }
                Input::Ply => {
                    for (slot, ply) in out.iter_mut().zip(&self.plies) {
                        *slot = u64::from(*ply);
                    }
                }
                Input::Initial => spread(out, masks, |mask| mask.initial),
                Input::Terminal => spread(out, masks, |mask| mask.terminal),
                Input::GameMask(c) => by_game(out, &self.games, &columns[c.0 as usize].mask),
                Input::GameNumber(c) => by_game(out, &self.games, &columns[c.0 as usize].number),
            }
        }
    }

    fn run(&mut self, program: &Program) {
        kernels::run(program, self);
    }

    /// The mask register of segment `k` of the batch as bits.
    fn bits(&self, reg: Reg, k: usize) -> u32 {
        let slots = &self.regs[reg.0 as usize][k * SEGMENT_SLOTS..][..SEGMENT_SLOTS];
        slots.iter().enumerate().fold(0, |bits, (i, &slot)| bits | ((slot & 1) as u32) << i)
    }

    /// Takes the values of gathered slots.
    fn store(&self, plan: &Plan, slots: &[usize], values: &mut Values) {
        match (values, plan.output) {
            (Values::Numbers(out), Output::Num(reg)) => {
                for (&slot, &word) in slots.iter().zip(&self.regs[reg.0 as usize]) {
                    out[slot] = word as i32;
                }
            }
            (Values::Sets(out), Output::Set(reg)) => {
                for (&slot, &word) in slots.iter().zip(&self.regs[reg.0 as usize]) {
                    out[slot] = word;
                }
            }
            _ => {}
        }
    }
}

/// Turns bits, a word for each segment, into masks.
fn spread(out: &mut Column, masks: &[Masks], of: fn(&Masks) -> u32) {
    for (slots, mask) in out.chunks_mut(SEGMENT_SLOTS).zip(masks) {
        let bits = of(mask);
        for (i, slot) in slots.iter_mut().enumerate() {
            *slot = u64::from(bits >> i & 1).wrapping_neg();
        }
    }
}

/// Gives every slot the word of its game.
fn by_game(out: &mut Column, games: &[u32], words: &[u64]) {
    for (slot, &game) in out.iter_mut().zip(games) {
        *slot = words.get(game as usize).copied().unwrap_or(0);
    }
}
