//! Loads the data of a block into the registers of a program, and stores the results.
//!
//! A *slot* is the number of a position within its block, and 32 consecutive slots form a *segment*. A *stage* is a
//! part of a plan that runs before the rest of it.

use super::emit::Native;
use super::kernels;
use super::registers::RegisterMachine;
use crate::{HitValues, Values, carry::SlotColumn, columns::GameColumn, within};
use orbit_core::isa::Isa;
use orbit_plan::{Output, Plan, Program, Reg, RegisterInput};
use orbit_reel::{
    Block, SEGMENT_SLOTS,
    lanes::{LANES, LaneColumn},
    replay::{Masks, number_plies},
};

/// The inputs of a program other than positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideInputs<'a> {
    /// The columns with one value for each game.
    pub(super) columns: &'a [GameColumn],
    /// The columns with one value for each position, which stages (parts of the program that run before the rest)
    /// computed from other positions of the game.
    pub(super) carried: &'a [&'a SlotColumn],
}

impl RegisterMachine {
    /// Loads all inputs of a program for a group of at most eight segments. If the program reads positions, the
    /// segments are replayed.
    pub(super) fn load(
        &mut self,
        program: &Program,
        block: &Block,
        segments: &[u32],
        beside: SideInputs<'_>,
    ) {
        if program.positions {
            kernels::replay(self.isa, self, block, segments, program.whole_positions);
        } else {
            for (masks, &segment) in self.masks.iter_mut().zip(segments) {
                let valid = within(u32::MAX, segment as usize, &(0..block.slots()));
                *masks = Masks { valid, ..Masks::default() };
            }
        }
        let reads_plies = program.inputs.iter().any(|(input, _)| *input == RegisterInput::Ply);
        for (n, segment) in segments.iter().map(|&segment| segment as usize).enumerate() {
            let (key, masks) = (&block.keys[segment], self.masks[n]);
            if reads_plies {
                let mut plies = [0; SEGMENT_SLOTS];
                number_plies(&mut plies, block, key, &block.moves[segment * SEGMENT_SLOTS..], masks);
                self.plies.iter_mut().zip(plies).for_each(|(row, ply)| row[n] = ply);
            }
            if !beside.columns.is_empty() {
                let mut game = key.first_game;
                for (i, row) in self.games.iter_mut().enumerate() {
                    row[n] = game;
                    game += masks.last >> i & 1;
                }
            }
        }
        self.load_inputs(program, beside.columns);
        for (column, reg) in carried_inputs(program, beside.carried) {
            load_carried(self.isa, &mut self.regs[reg.0 as usize].0, column, segments);
        }
    }

    /// Loads the positions in individual slots: at most [`GROUP`](super::registers::GROUP), in ascending order. Entry
    /// `k` of the list is loaded into row `k / LANES`, lane `k % LANES` of each register.
    pub(super) fn gather(
        &mut self,
        program: &Program,
        block: &Block,
        slots: &[usize],
        beside: SideInputs<'_>,
    ) {
        self.masks = [Masks::default(); LANES];
        let mut replayed = None;
        for (k, &slot) in slots.iter().enumerate() {
            let (seg, i) = (slot / SEGMENT_SLOTS, slot % SEGMENT_SLOTS);
            if replayed != Some(seg) {
                self.segment.replay(block, seg);
                replayed = Some(seg);
            }
            let segment = &self.segment;
            let (row, n) = (k / LANES, k % LANES);
            for (reg, plane) in self.regs.iter_mut().zip(&segment.planes) {
                reg.0[row][n] = plane[i];
            }
            self.states[row][n] = segment.states[i];
            self.plies[row][n] = segment.plies[i];
            let ended = segment.masks.last & ((1 << i) - 1);
            self.games[row][n] = block.keys[seg].first_game + ended.count_ones();
            let (from, to) = (&segment.masks, &mut self.masks[n]);
            to.initial |= (from.initial >> i & 1) << row;
            to.terminal |= (from.terminal >> i & 1) << row;
            to.white |= (from.white >> i & 1) << row;
        }
        self.load_inputs(program, beside.columns);
        for (column, reg) in carried_inputs(program, beside.carried) {
            let out = self.regs[reg.0 as usize].0.as_flattened_mut();
            for (out, &slot) in out.iter_mut().zip(slots) {
                *out = carried_word(column, slot);
            }
        }
    }

    /// Loads all inputs of a program except the planes of boards and the columns that stages computed.
    fn load_inputs(&mut self, program: &Program, columns: &[GameColumn]) {
        let isa = self.isa;
        for &(input, reg) in &program.inputs {
            let out = &mut self.regs[reg.0 as usize].0;
            match input {
                RegisterInput::Plane(_) | RegisterInput::Carried(_) => {}
                RegisterInput::WhiteToMove => kernels::spread(isa, self.masks.map(|mask| mask.white), out),
                RegisterInput::Ply => {
                    for (row, plies) in out.iter_mut().zip(&self.plies) {
                        *row = plies.map(u64::from);
                    }
                }
                RegisterInput::Initial => kernels::spread(isa, self.masks.map(|mask| mask.initial), out),
                RegisterInput::Terminal => kernels::spread(isa, self.masks.map(|mask| mask.terminal), out),
                RegisterInput::GameMask(c) => by_game(out, &self.games, &columns[c.0 as usize].mask),
                RegisterInput::GameNumber(c) => by_game(out, &self.games, &columns[c.0 as usize].number),
            }
        }
    }

    /// Runs a program on the loaded data, as machine code if it was compiled.
    pub(super) fn run(&mut self, program: &Program, native: Option<&Native>) {
        self.runs += 1;
        match native {
            Some(native) => native.run(program, self),
            None => kernels::run(self.isa, program, 0..program.steps.len(), self),
        }
    }

    /// Writes the mask in a register to `out` as bits: one word for each segment of the group, until `out` is full.
    pub(super) fn bits(&self, reg: Reg, out: &mut [u32]) {
        let words = kernels::bits(self.isa, &self.regs[reg.0 as usize]);
        for ((out, word), masks) in out.iter_mut().zip(words).zip(&self.masks) {
            *out = word & masks.valid;
        }
    }

    /// Writes the answers of each query for the loaded segments: one word of `out` for each segment.
    pub(super) fn answers<'a>(&self, segments: &[u32], out: impl ExactSizeIterator<Item = &'a mut [u32]>) {
        assert_eq!(out.len(), self.answers.len(), "one for each query");
        let valid = self.masks.map(|masks| masks.valid);
        let first = segments[0] as usize;
        // The segments are in ascending order. If they are also consecutive, their words are written together.
        let is_run = segments[segments.len() - 1] as usize == first + LANES - 1 && segments.len() == LANES;
        for (out, &answer) in out.zip(&self.answers) {
            let mut words = answer;
            words.iter_mut().zip(valid).for_each(|(word, valid)| *word &= valid);
            match out[first..].first_chunk_mut() {
                Some(run) if is_run => *run = words,
                _ => segments.iter().zip(words).for_each(|(&segment, word)| out[segment as usize] = word),
            }
        }
    }

    /// Adds the hits of each query among the gathered slots (positions) to `out`.
    pub(super) fn gathered_answers<'a>(
        &self,
        slots: &[usize],
        out: impl ExactSizeIterator<Item = &'a mut [u32]>,
    ) {
        assert_eq!(out.len(), self.answers.len(), "one for each query");
        for (out, answer) in out.zip(&self.answers) {
            for (k, &slot) in slots.iter().enumerate() {
                let hit = answer[k % LANES] >> (k / LANES) & 1;
                out[slot / SEGMENT_SLOTS] |= hit << (slot % SEGMENT_SLOTS);
            }
        }
    }

    /// Writes the contents of a register to a column of bits or words. The loaded group of positions begins at the start of segment
    /// `first` (32 positions) of the block.
    pub(super) fn column(&self, reg: Reg, first: usize, out: &mut SlotColumn) {
        match out {
            SlotColumn::Bits(bits) => self.bits(reg, &mut bits[first..]),
            SlotColumn::Words(words) => {
                let out = words[first * SEGMENT_SLOTS..].chunks_mut(SEGMENT_SLOTS).take(LANES);
                for (n, out) in out.enumerate() {
                    for (i, word) in out.iter_mut().enumerate() {
                        *word = self.word(reg, i, n);
                    }
                }
            }
        }
    }

    /// Returns the word of a register for position `i` of the `n`-th loaded segment.
    pub(super) fn word(&self, reg: Reg, i: usize, n: usize) -> u64 {
        self.regs[reg.0 as usize].0[i][n]
    }

    /// Stores the values that `plan` computed at the gathered slots (positions).
    pub(super) fn store(&self, plan: &Plan, slots: &[usize], values: &mut Values) {
        let words = |reg: Reg| slots.iter().zip(self.regs[reg.0 as usize].0.as_flattened());
        match (values, plan.output) {
            (Values::Numbers(out), Output::Num(reg)) => {
                words(reg).for_each(|(&slot, &word)| out.push(slot, word as i32));
            }
            (Values::Sets(out), Output::Set(reg)) => {
                words(reg).for_each(|(&slot, &word)| out.push(slot, word));
            }
            // A condition has no value to store.
            _ => {}
        }
    }

    /// Stores the values at the hits in the loaded group, which begins at the start of segment `first` (32 positions).
    pub(super) fn store_hits(&self, plan: &Plan, first: usize, hits: &[u32], values: &mut Values) {
        match (values, plan.output) {
            (Values::Numbers(out), Output::Num(reg)) => {
                self.each_hit(reg, first, hits, out, |word| word as i32);
            }
            (Values::Sets(out), Output::Set(reg)) => self.each_hit(reg, first, hits, out, |word| word),
            // A condition has no value to store.
            _ => {}
        }
    }

    fn each_hit<T: Copy>(
        &self,
        reg: Reg,
        first: usize,
        hits: &[u32],
        out: &mut HitValues<T>,
        value: impl Fn(u64) -> T,
    ) {
        for (n, &hits) in hits[first..].iter().take(LANES).enumerate() {
            out.push_segment(first + n, hits, |i| value(self.word(reg, i, n)));
        }
    }
}

/// Returns the columns from stages (parts of the program that run before the rest) that a program reads, each with the
/// register that receives it.
fn carried_inputs<'a>(
    program: &Program,
    carried: &'a [&'a SlotColumn],
) -> impl Iterator<Item = (&'a SlotColumn, Reg)> {
    program.inputs.iter().filter_map(|&(input, reg)| match input {
        RegisterInput::Carried(place) => Some((carried[place], reg)),
        _ => None,
    })
}

/// Loads the entries of a stage's column for the slots of the given segments.
fn load_carried(isa: Isa, out: &mut LaneColumn, column: &SlotColumn, segments: &[u32]) {
    match column {
        SlotColumn::Bits(bits) => {
            let mut lanes = [0; LANES];
            lanes.iter_mut().zip(segments).for_each(|(lane, &segment)| *lane = bits[segment as usize]);
            kernels::spread(isa, lanes, out);
        }
        SlotColumn::Words(words) => {
            for (n, &segment) in segments.iter().enumerate() {
                for (row, word) in out.iter_mut().zip(&words[segment as usize * SEGMENT_SLOTS..]) {
                    row[n] = *word;
                }
            }
        }
    }
}

/// Returns the word of a stage's column at one slot. For a mask, the word is all ones or zero.
fn carried_word(column: &SlotColumn, slot: usize) -> u64 {
    match column {
        SlotColumn::Bits(bits) => {
            u64::from(bits[slot / SEGMENT_SLOTS] >> (slot % SEGMENT_SLOTS) & 1).wrapping_neg()
        }
        SlotColumn::Words(words) => words[slot],
    }
}

/// Sets the word of each position to the word of its game. `words` contains one word for each game.
fn by_game(out: &mut LaneColumn, games: &[[u32; LANES]; SEGMENT_SLOTS], words: &[u64]) {
    for (row, games) in out.iter_mut().zip(games) {
        *row = games.map(|game| words.get(game as usize).copied().unwrap_or(0));
    }
}
