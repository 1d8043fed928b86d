//! The kernels: loops that run one step of a program over whole registers.
//!
//! A register holds one 64-bit word for each position of a group. Each function in `for_each_isa!` is compiled several
//! times, once for each instruction set. All functions that [`run`] calls in its loops are inlined into it, so that
//! they are vectorised for the same instruction set.
//!
//! A *segment* is a run of 32 positions. A *chain* is a step that combines several terms, each a register with a shift
//! and a mask.

use std::ops::Range;

use super::glance::{Glance, GlanceResult, MovePattern, found};
use super::moves::{moves, no_moves};
use super::registers::{GROUP, Loads, RegisterMachine, WordColumn};
use orbit_core::board::{
    attacks,
    moves::{ARRIVALS, ORIGINS, PAIRS},
    pure,
};
use orbit_core::isa::{Isa, for_each_isa};
use orbit_plan::{
    ChainOp, Cmp, DIR_STEPS, Id, NO_VALUE, Op, OperationChain, Program, Reduce, Reg, Step, TRUE, Term,
};
use orbit_reel::{
    Block, Material,
    bounds::{Begun, Ends, Moved, SegmentMoves, moves_of, start_mask},
    lanes::{LANES, LaneColumn},
};

for_each_isa! {
    /// Replays at most [`LANES`] segments of a block and writes their positions to the first four registers, which hold
    /// the planes of the boards. If `states` is true, also writes castling rights, en passant squares and the side to
    /// move.
    pub(super) fn replay(machine: &mut RegisterMachine, block: &Block, segments: &[u32], states: bool) {
        let [p0, p1, p2, p3, ..] = &mut machine.regs[..] else { unreachable!("planes take four registers") };
        let planes = [p0, p1, p2, p3].map(|plane| &mut plane.0);
        let states = states.then_some(&mut machine.states);
        machine.masks = machine.moves.replay(block, segments, planes, states);
    }
}

for_each_isa! {
    /// Loads the exact bounds on at most [`GROUP`] segments (32 positions each) of a block into the registers that a
    /// screen (a program that finds segments to skip) reads. Afterwards, each of these registers contains one word for
    /// each segment.
    pub(super) fn bound(machine: &mut RegisterMachine, block: &Block, segments: &[u32], loads: &Loads) {
        for (row, segments) in segments.chunks(LANES).enumerate() {
            key_planes(machine, block, (row, segments), loads);
            let moves = moves_of(block, segments);
            for part in &loads.parts {
                let mut moved = Moved::from_moves(&moves, part.codes);
                for (n, &segment) in segments.iter().enumerate() {
                    if moved.is_special(n) {
                        moved.add_special(block, segment, n, part.codes);
                    }
                }
                let mut load = |reg: Reg, words: [u64; LANES]| machine.regs[reg.0 as usize].0[row] = words;
                part.regs.iter().zip(moved.arrivals).for_each(|(&reg, arrivals)| load(reg, arrivals));
                part.touched.into_iter().for_each(|reg| load(reg, moved.touched));
            }
            if loads.standard.is_some() || loads.other.is_some() {
                let Begun { standard, other } = Begun::from_moves(&moves);
                for (reg, words) in [(loads.standard, standard), (loads.other, other)] {
                    reg.iter().for_each(|reg| machine.regs[reg.0 as usize].0[row] = words);
                }
            }
            for (patterns, reg) in &loads.promotions {
                machine.regs[reg.0 as usize].0[row] = having(&moves, patterns);
            }
            if !loads.losses.is_empty() {
                let mut planes = [[0; LANES]; 4];
                for (k, plane) in planes.iter_mut().enumerate() {
                    *plane = machine.regs[k].0[row];
                }
                let ends = Ends::from_moves(&moves, &planes);
                for &(set, reg) in &loads.losses {
                    machine.regs[reg.0 as usize].0[row] = ends.losses(set);
                }
            }
        }
    }
}

for_each_isa! {
    /// Loads the cheap bounds (see the module `glance`) on at most [`GROUP`] segments (32 positions each) of a block
    /// into the registers that a screen (a program that finds segments to skip) reads. Afterwards, each of these
    /// registers contains one word for each segment.
    pub(super) fn glance(machine: &mut RegisterMachine, block: &Block, segments: &[u32], loads: &Loads, glance: &Glance) {
        for (row, segments) in segments.chunks(LANES).enumerate() {
            key_planes(machine, block, (row, segments), loads);
            let moves = moves_of(block, segments);
            let mut starts = [0; LANES];
            for n in 0..LANES {
                starts[n] = start_mask(&moves[n]);
            }
            for (seen, reg) in &glance.reads {
                let words = &mut machine.regs[reg.0 as usize].0[row];
                match seen {
                    GlanceResult::Patterns(patterns) => *words = having(&moves, patterns),
                    &GlanceResult::Arrivals { at_first } => {
                        for n in 0..LANES {
                            words[n] = mask_of(starts[n] != 0) & at_first;
                        }
                    }
                    GlanceResult::All => *words = [u64::MAX; LANES],
                    GlanceResult::Moves { half } => {
                        for n in 0..LANES {
                            let moves = starts[n].trailing_zeros();
                            words[n] = u64::from(if *half { moves.div_ceil(2) } else { moves });
                        }
                    }
                    GlanceResult::Standard => {
                        for n in 0..LANES {
                            words[n] = mask_of(starts[n].is_power_of_two());
                        }
                    }
                    GlanceResult::Other => {
                        for n in 0..LANES {
                            words[n] = mask_of(starts[n] & starts[n].wrapping_sub(1) != 0);
                        }
                    }
                }
            }
            for lookup in &glance.arrivals {
                let found = lookup.found(machine.isa, &moves);
                for (k, (pattern, reg)) in lookup.patterns.iter().enumerate() {
                    add_found(&mut machine.regs[reg.0 as usize].0[row], found, k, pattern);
                }
            }
        }
    }
}

#[inline(always)]
fn mask_of(is_set: bool) -> u64 {
    if is_set { TRUE } else { 0 }
}

/// Returns, for each segment, the union of the words (`MovePattern::word`) of all patterns that match a move of the
/// segment.
#[inline(always)]
fn having(moves: &SegmentMoves, patterns: &[MovePattern]) -> [u64; LANES] {
    let found = found(moves, patterns.iter().copied());
    let mut words = [0; LANES];
    for (k, pattern) in patterns.iter().enumerate() {
        add_found(&mut words, found, k, pattern);
    }
    words
}

/// Adds the word of pattern `k` to the word of each segment in which the pattern matches a move, that is, if bit `k` of
/// the segment's entry in `found` is set.
#[inline(always)]
fn add_found(words: &mut [u64; LANES], found: [u64; LANES], k: usize, pattern: &MovePattern) {
    // Compilers vectorise this loop only if neither operand is read through a reference.
    let (word, mut out) = (pattern.word, *words);
    for n in 0..LANES {
        out[n] |= mask_of(found[n] >> k & 1 != 0) & word;
    }
    *words = out;
}

/// Loads the planes of the key positions (the first positions) of at most [`LANES`] segments. Also loads the key
/// positions of the next segments if the screen reads them.
#[inline(always)]
fn key_planes(machine: &mut RegisterMachine, block: &Block, (row, segments): (usize, &[u32]), loads: &Loads) {
    let planes_after = |after: usize| {
        let mut planes = [[0; LANES]; 4];
        for (n, &segment) in segments.iter().enumerate() {
            let Some(key) = block.keys.get(segment as usize + after) else { break };
            planes.iter_mut().zip(key.board.planes).for_each(|(plane, of_key)| plane[n] = of_key);
        }
        planes
    };
    for (k, plane) in planes_after(0).into_iter().enumerate() {
        machine.regs[k].0[row] = plane;
    }
    if loads.reads_next() {
        for (reg, plane) in loads.next.iter().zip(planes_after(1)) {
            reg.iter().for_each(|reg| machine.regs[reg.0 as usize].0[row] = plane);
        }
    }
}

for_each_isa! {
    pub(super) fn material(block: &Block) -> Material {
        Material::from_block(block)
    }
}

for_each_isa! {
    /// Converts the mask in a register to bits: one word for each segment, with bit `i` for the position `i` of the
    /// segment.
    pub(super) fn bits(column: &WordColumn) -> [u32; LANES] {
        bits_of(column)
    }
}

#[inline(always)]
fn bits_of(column: &WordColumn) -> [u32; LANES] {
    let mut out = [0u64; LANES];
    for (i, row) in column.0.iter().enumerate() {
        for n in 0..LANES {
            // Each word is all ones or zero, so any of its bits can be used.
            out[n] |= row[n] & (1 << i);
        }
    }
    out.map(|word| word as u32)
}

for_each_isa! {
    /// Converts bits, given as one word for each segment, to a mask in a register, which holds a word of all ones or
    /// zero for each position.
    pub(super) fn spread(bits: [u32; LANES], out: &mut LaneColumn) {
        for (i, row) in out.iter_mut().enumerate() {
            for n in 0..LANES {
                row[n] = (u64::from(bits[n]) >> i & 1).wrapping_neg();
            }
        }
    }
}

for_each_isa! {
    /// Runs a range of a program's steps on the loaded data. Each loop must be entirely inside or entirely outside the
    /// range.
    pub(super) fn run(program: &Program, steps: Range<usize>, machine: &mut RegisterMachine) {
        run_steps(program, steps, machine);
    }
}

#[inline(always)]
fn run_steps(program: &Program, steps: Range<usize>, machine: &mut RegisterMachine) {
    let mut at = steps.start;
    while at < steps.end {
        let step = &program.steps[at];
        at += 1;
        let (dst, a, scalar) = match *step {
            Step::Chain { dst, ref chain } => {
                let mut out = machine.spare.take().expect("it is put back");
                run_chain(chain, machine, words_mut(&mut out));
                machine.spare = Some(std::mem::replace(&mut machine.regs[dst.0 as usize], out));
                continue;
            }
            Step::Do { dst, op } => {
                // The result is written to the spare column, which is then swapped with the column of `dst`.
                let mut out = machine.spare.take().expect("it is put back");
                apply(op, machine, words_mut(&mut out));
                machine.spare = Some(std::mem::replace(&mut machine.regs[dst.0 as usize], out));
                continue;
            }
            Step::AndScalar { dst, a, scalar } | Step::OrScalar { dst, a, scalar } => (dst, a, scalar),
            Step::Splat { dst, scalar } => {
                let word = machine.scalars[scalar.0 as usize];
                machine.regs[dst.0 as usize].0.as_flattened_mut().fill(word);
                continue;
            }
            Step::Answer { query, mask } => {
                machine.answers[query] = bits_of(&machine.regs[mask.0 as usize]);
                continue;
            }
            Step::Begin { .. } | Step::End { .. } => {
                at = control(program, machine, step, at);
                continue;
            }
        };
        let word = machine.scalars[scalar.0 as usize];
        let [out, a] = machine
            .regs
            .get_disjoint_mut([dst.0 as usize, a.0 as usize])
            .expect("a step never writes a register that it reads");
        let (out, a) = (words_mut(out), words(a));
        if matches!(step, Step::AndScalar { .. }) {
            map1(out, a, |a| a & word);
        } else {
            map1(out, a, |a| a | word);
        }
    }
}

#[inline(always)]
fn words(column: &WordColumn) -> &[u64; GROUP] {
    column.0.as_flattened().first_chunk().expect("a register has a word for each position of a group")
}

#[inline(always)]
fn words_mut(column: &mut WordColumn) -> &mut [u64; GROUP] {
    column.0.as_flattened_mut().first_chunk_mut().expect("a register has a word for each position of a group")
}

#[inline(always)]
fn map1(out: &mut [u64; GROUP], a: &[u64; GROUP], f: impl Fn(u64) -> u64) {
    for i in 0..GROUP {
        out[i] = f(a[i]);
    }
}

#[inline(always)]
fn map2(out: &mut [u64; GROUP], a: &[u64; GROUP], b: &[u64; GROUP], f: impl Fn(u64, u64) -> u64) {
    for i in 0..GROUP {
        out[i] = f(a[i], b[i]);
    }
}

/// Runs the first or the last step of a loop, which controls the iteration. Returns the index of the next step.
#[inline(always)]
fn control(program: &Program, machine: &mut RegisterMachine, step: &Step, next: usize) -> usize {
    match *step {
        Step::Begin { table, first, acc, reduce, .. } => {
            let neutral = if reduce == Reduce::Max { NO_VALUE as u64 } else { 0 };
            machine.regs[acc.0 as usize].0.as_flattened_mut().fill(neutral);
            machine.rows.push((next, 0));
            load_row(machine, first.0 as usize, &program.tables[table][0]);
            next
        }
        Step::End { begin, acc, word, reduce } => {
            let [acc, word] = machine
                .regs
                .get_disjoint_mut([acc.0 as usize, word.0 as usize])
                .expect("a loop's body is not its own result");
            let (acc, word) = (words_mut(acc), words(word));
            for i in 0..GROUP {
                acc[i] = match reduce {
                    Reduce::Or => acc[i] | word[i],
                    Reduce::Max => (acc[i] as i64).max(word[i] as i64) as u64,
                    Reduce::Count => acc[i].wrapping_sub(word[i]),
                };
            }
            let Step::Begin { table, first, .. } = program.steps[begin] else {
                unreachable!("an end knows its beginning")
            };
            let rows = &program.tables[table];
            let (body, row) = machine.rows.last_mut().expect("a loop that ends has begun");
            *row += 1;
            let (body, row) = (*body, *row);
            match rows.get(row) {
                Some(params) => {
                    load_row(machine, first.0 as usize, params);
                    body
                }
                None => {
                    machine.rows.pop();
                    next
                }
            }
        }
        _ => next,
    }
}

#[inline(always)]
fn load_row(machine: &mut RegisterMachine, first: usize, params: &[u64]) {
    machine.scalars[first..first + params.len()].copy_from_slice(params);
}

fn mask(value: bool) -> u64 {
    u64::from(value).wrapping_neg()
}

#[inline(always)]
fn number(word: u64) -> i32 {
    word as i32
}

#[inline(always)]
fn packed(number: i32) -> u64 {
    i64::from(number) as u64
}

/// The kind of shift that the terms of a chain need. A term is a register with a mask and a shift, and a chain combines
/// terms, for example with `or`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TermKind {
    Plain,
    Masked,
    Up,
    Down,
    /// Rotates the words. This is used if some terms shift left and others right, or if the processor rotates as fast
    /// as it shifts.
    Around,
}

/// Combines the terms of a chain (registers, each with a mask and a shift) on whole registers: four terms at a time,
/// then two, then one.
#[inline(always)]
fn run_chain(chain: &OperationChain<Reg>, machine: &RegisterMachine, out: &mut [u64; GROUP]) {
    match chain.op {
        ChainOp::Or => gather(chain, machine, out, 0, |acc, term, not| acc | (term ^ not)),
        ChainOp::And => gather(chain, machine, out, TRUE, |acc, term, not| acc & (term ^ not)),
        ChainOp::Sum => gather(chain, machine, out, 0, |acc, term, _| acc + u64::from(term.count_ones())),
        ChainOp::Meet if chain.terms.iter().all(|term| !term.not) => {
            gather(chain, machine, out, TRUE, |acc, term, _| if term != 0 { acc } else { 0 })
        }
        ChainOp::Meet => gather(chain, machine, out, TRUE, |acc, term, not| acc & (mask(term != 0) ^ not)),
    }
}

#[inline(always)]
fn gather(
    chain: &OperationChain<Reg>,
    machine: &RegisterMachine,
    out: &mut [u64; GROUP],
    neutral: u64,
    add: impl Fn(u64, u64, u64) -> u64 + Copy,
) {
    // These are plain loops because a closure would be compiled separately, for the base instruction set.
    let (fours, rest) = chain.terms.as_chunks();
    let (twos, ones) = rest.as_chunks();
    let mut begin = Some(neutral);
    for terms in fours {
        add_terms::<4>(terms, machine, out, begin.take(), kind(terms, machine), add);
    }
    for terms in twos {
        add_terms::<2>(terms, machine, out, begin.take(), kind(terms, machine), add);
    }
    for term in ones {
        add_terms::<1>(&[*term], machine, out, begin.take(), kind(&[*term], machine), add);
    }
}

/// Returns the cheapest kind of shift that gives the right result for all given terms. A chain stores terms that need
/// one kind of shift next to each other.
#[inline(always)]
fn kind(terms: &[Term<Reg>], machine: &RegisterMachine) -> TermKind {
    let up = terms.iter().any(|term| term.by > 0);
    let down = terms.iter().any(|term| term.by < 0);
    match (up, down) {
        (false, false) if terms.iter().all(|term| machine.scalars[term.keep.0 as usize] == TRUE) => {
            TermKind::Plain
        }
        (false, false) => TermKind::Masked,
        // A processor with AVX-512 rotates by any number of bits in one instruction.
        _ if matches!(machine.isa, Isa::Avx512(_)) => TermKind::Around,
        (true, false) => TermKind::Up,
        (false, true) => TermKind::Down,
        (true, true) => TermKind::Around,
    }
}

/// Combines terms of one kind with the words computed so far, or with `begin` for the first terms. The mask is applied
/// after the shift, so that a processor with three-operand logic can mask and combine in one instruction.
#[inline(always)]
fn add_terms<const N: usize>(
    terms: &[Term<Reg>; N],
    machine: &RegisterMachine,
    out: &mut [u64; GROUP],
    begin: Option<u64>,
    kind: TermKind,
    add: impl Fn(u64, u64, u64) -> u64,
) {
    let src = terms.map(|term| words(&machine.regs[term.src.0 as usize]));
    let not = terms.map(|term| mask(term.not));
    let by = terms.map(|term| u32::from(term.by.unsigned_abs()) & 63);
    // A rotation gives the same result as a shift here, because the mask keeps none of the bits that wrap around.
    let around = terms.map(|term| (i32::from(term.by) & 63) as u32);
    let mut keep = [0; N];
    for k in 0..N {
        keep[k] = machine.scalars[terms[k].keep.0 as usize].rotate_left(around[k]);
    }
    macro_rules! each {
        (|$k:ident, $word:ident| $term:expr, $not:expr) => {
            write(out, begin, |mut acc: u64, i: usize| {
                for $k in 0..N {
                    let $word = src[$k][i];
                    acc = add(acc, $term, $not);
                }
                acc
            })
        };
        (|$k:ident, $word:ident| $term:expr) => {
            match terms.iter().any(|term| term.not) {
                false => each!(|$k, $word| $term, 0),
                true => each!(|$k, $word| $term, not[$k]),
            }
        };
    }
    match kind {
        TermKind::Plain => each!(|k, word| word),
        TermKind::Masked => each!(|k, word| word & keep[k]),
        TermKind::Up => each!(|k, word| word << by[k] & keep[k]),
        TermKind::Down => each!(|k, word| word >> by[k] & keep[k]),
        TermKind::Around => each!(|k, word| word.rotate_left(around[k]) & keep[k]),
    }
}

#[inline(always)]
fn write(out: &mut [u64; GROUP], begin: Option<u64>, all: impl Fn(u64, usize) -> u64) {
    match begin {
        Some(neutral) => {
            for (i, out) in out.iter_mut().enumerate() {
                *out = all(neutral, i);
            }
        }
        None => {
            for (i, out) in out.iter_mut().enumerate() {
                *out = all(*out, i);
            }
        }
    }
}

/// Runs one operation on whole registers, and writes the result to `out`.
#[inline(always)]
fn apply(op: Op, machine: &RegisterMachine, out: &mut [u64; GROUP]) {
    let r = |id: Id| words(&machine.regs[id.0 as usize]);
    match op {
        Op::And(a, b) => map2(out, r(a), r(b), |a, b| a & b),
        Op::Or(a, b) => map2(out, r(a), r(b), |a, b| a | b),
        Op::AndNot(a, b) => map2(out, r(a), r(b), |a, b| a & !b),
        Op::Xor(a, b) => map2(out, r(a), r(b), |a, b| a ^ b),
        Op::Not(a) => map1(out, r(a), |a| !a),
        Op::Select { mask, a, b } => {
            let (m, a, b) = (r(mask), r(a), r(b));
            for i in 0..GROUP {
                out[i] = a[i] & m[i] | b[i] & !m[i];
            }
        }
        Op::Step(a, dx, dy) => {
            out.fill(0);
            translate_into(out, r(a), dx, dy);
        }
        Op::FillRanks(a) => map1(out, r(a), attacks::fill_ranks),
        Op::FillFiles(a) => map1(out, r(a), attacks::fill_files),
        Op::Knight(a) => map1(out, r(a), attacks::knight),
        Op::King(a) => map1(out, r(a), attacks::king),
        Op::Pawn { set, white: true } => map1(out, r(set), attacks::pawn::<true>),
        Op::Pawn { set, white: false } => map1(out, r(set), attacks::pawn::<false>),
        Op::Slide { set, empty, dir } => slide(out, r(set), r(empty), dir),
        Op::Walk { set, dirs, lo, hi } => walk(out, r(set), dirs, lo, hi),
        Op::NonEmpty(a) => map1(out, r(a), |a| mask(a != 0)),
        Op::Single(a) => map1(out, r(a), |a| mask(a != 0 && a & a.wrapping_sub(1) == 0)),
        Op::Count(a) => map1(out, r(a), |a| u64::from(a.count_ones())),
        Op::Rank(a) => map1(out, r(a), |a| u64::from(a.trailing_zeros() >> 3) + 1),
        Op::File(a) => map1(out, r(a), |a| u64::from(a.trailing_zeros() & 7) + 1),
        Op::Content(a) => {
            let a = r(a);
            for i in 0..GROUP {
                out[i] = (0..4).fold(0, |code, k| {
                    code | u64::from(machine.regs[k].0.as_flattened()[i] & a[i] != 0) << k
                });
            }
        }
        Op::MakeSquare { file, rank } => map2(out, r(file), r(rank), |file, rank| {
            let (x, y) = (number(file).wrapping_sub(1), number(rank).wrapping_sub(1));
            let inside = (x as u32) < 8 && (y as u32) < 8;
            mask(inside) & 1 << (8 * (y as u64 & 7) + (x as u64 & 7))
        }),
        Op::Add(a, b) => map2(out, r(a), r(b), |a, b| packed(number(a).wrapping_add(number(b)))),
        Op::Sub(a, b) => map2(out, r(a), r(b), |a, b| packed(number(a).wrapping_sub(number(b)))),
        Op::Mul(a, b) => map2(out, r(a), r(b), |a, b| packed(number(a).wrapping_mul(number(b)))),
        Op::Div(a, b) => map2(out, r(a), r(b), |a, b| match number(b) {
            0 => 0,
            b => packed(number(a).wrapping_div(b)),
        }),
        Op::Rem(a, b) => map2(out, r(a), r(b), |a, b| match number(b) {
            0 => 0,
            b => packed(number(a).wrapping_rem(b)),
        }),
        Op::Sqrt(a) => map1(out, r(a), |a| packed(number(a).max(0).isqrt())),
        Op::Max(a, b) => map2(out, r(a), r(b), |a, b| (a as i64).max(b as i64) as u64),
        Op::Compare(cmp, a, b) => compare(out, r(a), r(b), cmp),
        Op::NoMoves(a) => no_moves(machine, r(a), out),
        Op::PureMen { within, mate } => {
            let within = r(within);
            for i in 0..GROUP {
                out[i] = if within[i] == 0 { 0 } else { pure::men(&machine.position(i), mate) };
            }
        }
        Op::Legal { from, to, pseudo, only, left } => {
            let asked = only.asked(pseudo);
            match (left, pseudo) {
                (false, false) => moves::<ARRIVALS, false>(machine, asked, r(from), r(to), out),
                (false, true) => moves::<ARRIVALS, true>(machine, asked, r(from), r(to), out),
                (true, false) => moves::<ORIGINS, false>(machine, asked, r(from), r(to), out),
                (true, true) => moves::<ORIGINS, true>(machine, asked, r(from), r(to), out),
            }
        }
        Op::LegalCount { from, to, pseudo, only } => {
            let asked = only.asked(pseudo);
            match pseudo {
                false => moves::<PAIRS, false>(machine, asked, r(from), r(to), out),
                true => moves::<PAIRS, true>(machine, asked, r(from), r(to), out),
            }
        }
        Op::Const(_)
        | Op::Plane(_)
        | Op::WhiteToMove
        | Op::Initial
        | Op::Terminal
        | Op::Ply
        | Op::GameMask(_)
        | Op::GameNumber(_)
        | Op::Carried(_)
        | Op::Param(..)
        | Op::Loop(_) => unreachable!("inputs and loops are no steps"),
    }
}

/// Moves the squares of `a` by `dx` files and `dy` ranks, and adds them to `out`.
#[inline(always)]
fn translate_into(out: &mut [u64; GROUP], a: &[u64; GROUP], dx: i8, dy: i8) {
    if dx.unsigned_abs() > 7 || dy.unsigned_abs() > 7 {
        return;
    }
    let (stay, by) = attacks::translation(dx, dy);
    let amount = by.unsigned_abs();
    if by >= 0 {
        for i in 0..GROUP {
            out[i] |= (a[i] & stay) << amount;
        }
    } else {
        for i in 0..GROUP {
            out[i] |= (a[i] & stay) >> amount;
        }
    }
}

#[inline(always)]
fn slide(out: &mut [u64; GROUP], a: &[u64; GROUP], empty: &[u64; GROUP], dir: u8) {
    match dir {
        0 => map2(out, a, empty, attacks::slide::<0>),
        1 => map2(out, a, empty, attacks::slide::<1>),
        2 => map2(out, a, empty, attacks::slide::<2>),
        3 => map2(out, a, empty, attacks::slide::<3>),
        4 => map2(out, a, empty, attacks::slide::<4>),
        5 => map2(out, a, empty, attacks::slide::<5>),
        6 => map2(out, a, empty, attacks::slide::<6>),
        _ => map2(out, a, empty, attacks::slide::<7>),
    }
}

#[inline(always)]
fn walk(out: &mut [u64; GROUP], a: &[u64; GROUP], dirs: u8, lo: i8, hi: i8) {
    out.fill(0);
    for (dir, (dx, dy)) in DIR_STEPS.into_iter().enumerate() {
        if dirs >> dir & 1 == 0 {
            continue;
        }
        if (lo, hi) == (1, 7) {
            whole_ray(out, a, dir as u8);
            continue;
        }
        for distance in lo..=hi {
            translate_into(out, a, dx * distance, dy * distance);
        }
    }
}

/// Adds to `out` all squares in a direction from the squares of `a`, regardless of pieces in between.
#[inline(always)]
fn whole_ray(out: &mut [u64; GROUP], a: &[u64; GROUP], dir: u8) {
    #[inline(always)]
    fn add<const DIR: u8>(out: &mut [u64; GROUP], a: &[u64; GROUP]) {
        for i in 0..GROUP {
            out[i] |= attacks::slide::<DIR>(a[i], TRUE);
        }
    }
    match dir {
        0 => add::<0>(out, a),
        1 => add::<1>(out, a),
        2 => add::<2>(out, a),
        3 => add::<3>(out, a),
        4 => add::<4>(out, a),
        5 => add::<5>(out, a),
        6 => add::<6>(out, a),
        _ => add::<7>(out, a),
    }
}

#[inline(always)]
fn compare(out: &mut [u64; GROUP], a: &[u64; GROUP], b: &[u64; GROUP], cmp: Cmp) {
    match cmp {
        Cmp::Eq => map2(out, a, b, |a, b| mask(a == b)),
        Cmp::Ne => map2(out, a, b, |a, b| mask(a != b)),
        Cmp::Lt => map2(out, a, b, |a, b| mask((a as i64) < b as i64)),
        Cmp::Le => map2(out, a, b, |a, b| mask(a as i64 <= b as i64)),
        Cmp::Gt => map2(out, a, b, |a, b| mask(a as i64 > b as i64)),
        Cmp::Ge => map2(out, a, b, |a, b| mask(a as i64 >= b as i64)),
    }
}
