//! Translates plans to WGSL, the shader language of WebGPU.
//!
//! A kernel consists of files from `shaders/`, a few constants, and the query's function `evaluate`. The function has
//! one assignment for each step of the program and no branches; it has loops only where a loop of the plan is too long
//! to be unrolled. The [`Variant`] selects among files that compute the same results in different ways. Drivers
//! optimise shaders, so programs are translated without optimisation. This makes it easy to compare the code with the
//! output of `orbit explain --plan`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::Range;

use super::{Variant, pipelines::UsedPipelines, ways::ColumnWay};
use orbit_core::board::{Position, attacks};
use orbit_plan::{
    CarryId, ChainOp, Cmp, ColumnOperand, DIR_STEPS, Id, NO_VALUE, Op, OperationChain, Program, Read, Reduce,
    Reg, RegisterInput, Scalar, Special, Stage, StageCarry, StageFound, Step, Term,
};
use orbit_reel::SEGMENT_SLOTS;

const BITBOARD: &str = orbit_shaders::BITBOARD;
const BITBOARD_WIDE: &str = orbit_shaders::BITBOARD_WIDE;
const BITS: &str = orbit_shaders::BITS;
const BY_SEGMENT: &str = orbit_shaders::BY_SEGMENT;
const BY_WORD: &str = orbit_shaders::BY_WORD;
const REPLAY: &str = orbit_shaders::REPLAY;
const LEGAL: &str = orbit_shaders::LEGAL;
const PURE: &str = orbit_shaders::PURE;
const EDGES: &str = orbit_shaders::EDGES;
const HITS: &str = orbit_shaders::HITS;
const HITS_ALONE: &str = orbit_shaders::HITS_ALONE;
const HITS_PAIRS: &str = orbit_shaders::HITS_PAIRS;
const WORDS: &str = orbit_shaders::WORDS;

/// A compute shader that evaluates a plan, with a description of the data that it reads in addition to positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The text of the shader.
    pub wgsl: String,
    /// The table rows of all loops, concatenated.
    pub tables: Vec<u64>,
    /// The number of outputs for each slot (position). An output is one bit for a query, or one word.
    pub outputs: usize,
    /// The time that the kernel takes at each slot (position), in plan steps of about two instructions. Its stages do not count.
    pub cost: u64,
    /// The maximum number of loop iterations at one slot (position).
    pub turns: u64,
    /// The variant in which the kernel is written and run.
    pub variant: Variant,
    /// The number of words for each segment (32 positions), summed over all columns that the kernel reads from stages
    /// (parts of a program that run before the rest).
    pub(super) carried_words: usize,
    /// The per-position columns, propagated along games, that the kernel reads.
    pub(super) reads: Vec<Read>,
    /// The stages (parts of the program) that run before the kernel.
    pub(super) stages: Vec<StageKernels>,
    /// The byte range of `wgsl` that is specific to the query.
    own: Range<usize>,
    /// The compiled pipelines of the kernel: see [`Device::pipeline`](super::device::Device::pipeline).
    pub(super) pipelines: UsedPipelines,
}

/// The kernels of a [`Stage`], a part of a program that runs at all positions before the rest of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct StageKernels {
    /// The masks and words that this stage (a part of the program that runs before the rest) computes.
    pub(super) found: Vec<StageFound>,
    /// The columns that are computed along games, from the results of this stage (a part of the program that runs before the
    /// rest) and from earlier columns.
    pub(super) carries: Vec<StageCarry>,
    /// The columns of earlier stages (parts of the program that run before it) that this stage reads.
    pub(super) reads: Vec<Read>,
    /// The kernel that computes one bit for each slot (position): for each mask in `found`, then for each condition in `edges`.
    pub(super) masks: Option<Kernel>,
    /// The kernel that computes one word for each slot (position), for each entry of `found` that is not a mask.
    pub(super) sets: Option<Kernel>,
    /// The conditions on moves that the device evaluates at the position before the move.
    pub(super) edges: Vec<CarryId>,
    /// True if the device can compute all columns in `carries`, except those that depend only on the moves of games.
    pub(super) on_device: bool,
    /// The pipelines that compute the columns in `carries`. Each is keyed by the index of its column.
    pub(super) pipelines: UsedPipelines,
}

impl StageKernels {
    fn new(stage: &Stage, columns: usize, variant: Variant) -> StageKernels {
        let regs = |masks: bool| {
            let words = stage.found.iter().filter(move |word| word.is_mask == masks);
            words.map(|word| word.reg).collect::<Vec<Reg>>()
        };
        let printer = || Printer::new(&stage.program, columns, variant);
        let (masks, sets) = (regs(true), regs(false));
        let ways = stage.carried.iter().map(|carry| Some((carry, ColumnWay::from_carry(carry)?)));
        let ways: Option<Vec<_>> = ways.filter(|_| !variant.host_carry).collect();
        let on_device = !variant.host_carry && ways.is_some();
        let (mut edges, mut tests) = (Vec::new(), Vec::new());
        for (carry, way) in ways.into_iter().flatten() {
            if let ColumnWay::Edge(test) = way {
                let printer = printer();
                let operands = carry.operands.iter().map(|operand| match *operand {
                    ColumnOperand::Constant(word) => printer.word(word),
                    ColumnOperand::Carried(_) => unreachable!("it is tested beside what the stage finds"),
                    ColumnOperand::Found(word, _) => {
                        let found = stage.found.iter().find(|found| found.word == word && !found.is_mask);
                        format!("r{}", found.expect("a stage finds it").reg.0)
                    }
                });
                tests.push(printer.edge(&test, operands));
                edges.push(carry.id);
            }
        }
        let (has_masks, has_sets) = (masks.len() + tests.len() > 0, !sets.is_empty());
        StageKernels {
            found: stage.found.clone(),
            carries: stage.carried.clone(),
            reads: stage.program.reads.clone(),
            masks: has_masks.then(|| Kernel::bits(&masks, &tests, printer())),
            sets: has_sets.then(|| Kernel::registers(&sets, printer())),
            edges,
            on_device,
            pipelines: UsedPipelines::default(),
        }
    }

    /// Returns the per-position columns that depend only on the moves of games. The processor computes them even if the device
    /// computes all other columns.
    pub(super) fn told(&self) -> impl Iterator<Item = &StageCarry> {
        let is_told = |carry: &&StageCarry| ColumnWay::from_carry(carry) == Some(ColumnWay::Told);
        self.carries.iter().filter(is_told)
    }

    /// Returns true if a column is computed from words that this stage stores. Conditions on moves do not count,
    /// because the kernel of the stage evaluates them and has these words in registers.
    pub(super) fn reads_sets(&self) -> bool {
        let sets = |carry: &StageCarry| {
            let (_, word) = ColumnWay::from_carry(carry).map_or((&[][..], None), |way| way.operands(carry));
            matches!(word, Some(ColumnOperand::Found(..)))
        };
        self.carries.iter().any(sets)
    }

    fn all(program: &Program, columns: usize, variant: Variant) -> Vec<StageKernels> {
        program.stages.iter().map(|stage| StageKernels::new(stage, columns, variant)).collect()
    }
}

/// Returns the approximate time that an operation takes on a card, in steps of two instructions. `benches/kernels.tsv` has the
/// instructions of whole kernels.
fn steps_on_device(op: &Op) -> u64 {
    match op {
        Op::PureMen { .. } => 3000,
        op if op.takes_whole_positions() => 1000,
        _ => 1,
    }
}

impl Kernel {
    /// Returns the part of the shader that is specific to the query: the function `evaluate`.
    pub fn evaluate(&self) -> &str {
        self.wgsl[self.own.clone()].trim_end()
    }

    /// Returns the source of the shader to compile. `some_slots` is true if the shader evaluates only some slots
    /// (positions) of a segment, and `several_kings` if a side may have several kings.
    pub(super) fn text(&self, some_slots: bool, several_kings: bool) -> Cow<'_, str> {
        let mut text = Cow::Borrowed(self.wgsl.as_str());
        for (_, from, to) in [(some_slots, ALL_SLOTS, SOME_SLOTS), (several_kings, ONE_KING, SEVERAL_KINGS)]
            .iter()
            .filter(|form| form.0)
        {
            text = Cow::Owned(text.replacen(from, to, 1));
        }
        text
    }

    /// Returns the kernels of all stages (the parts of the program that run before the rest), and then this kernel.
    pub fn all(&self) -> impl Iterator<Item = &Kernel> {
        let stages = self.stages.iter().flat_map(|stage| stage.masks.iter().chain(&stage.sets));
        stages.chain([self])
    }

    /// Returns the shaders that compute columns from the results of stages (parts of a program that run before the rest), on
    /// the device.
    #[doc(hidden)]
    pub fn carriers(&self) -> Vec<String> {
        let carries = self.stages.iter().filter(|stage| stage.on_device).flat_map(|stage| &stage.carries);
        let ways = carries.filter_map(|carry| Some((ColumnWay::from_carry(carry)?, carry)));
        ways.filter(|(way, _)| way.is_on_device()).map(|(way, carry)| way.shader(carry)).collect()
    }

    /// Creates a kernel for the first pass, which computes one bit for each slot (position). `hits` are the registers that contain
    /// the masks, and `columns` is the number of per-game columns.
    pub fn hits(program: &Program, hits: &[Reg], columns: usize, variant: Variant) -> Kernel {
        let stages = StageKernels::all(program, columns, variant);
        let printer = Printer::new(program, columns, variant);
        Kernel { stages, ..Kernel::bits(hits, &[], printer) }
    }

    /// Creates a kernel that computes one bit for each slot (position). `edges` are the expressions of conditions on the move
    /// played from a slot. Their bits follow those of `hits`.
    fn bits(hits: &[Reg], edges: &[String], mut out: Printer<'_>) -> Kernel {
        let queries = hits.len() + edges.len() + out.program.answers();
        if !edges.is_empty() {
            out.text += EDGES;
            out.text.push('\n');
            out.own = out.text.len();
        }
        let fields: Vec<String> = (0..queries).map(|k| format!("q{k}: u32")).collect();
        out.text += &format!("struct Found {{ {} }}\n\n", fields.join(", "));
        out.text += "fn evaluate(at: At, slot: u32, before: Found) -> Found {\n    var found = before;\n";
        out.body();
        for (k, reg) in hits.iter().enumerate() {
            writeln!(out.text, "    found.q{k} |= (low_word(r{}) & 1u) << slot;", reg.0).expect(STRINGS);
        }
        if !edges.is_empty() {
            out.text += "    let edge = edge_of(at);\n";
        }
        for (k, edge) in (hits.len()..).zip(edges) {
            writeln!(out.text, "    found.q{k} |= select(0u, 1u, {edge}) << slot;").expect(STRINGS);
        }
        out.text += "    return found;\n}\n\nfn store(segment: u32, found: Found) {\n";
        for k in 0..queries {
            let place = format!("hits[{k}u * params.segments + segment]");
            writeln!(out.text, "    {place} = kept({k}u * params.segments + segment) | found.q{k};")
                .expect(STRINGS);
        }
        out.text += "}\n\n";
        if out.variant.lanes == 1 {
            return out.finish(&[HITS, HITS_ALONE], queries);
        }
        let both: Vec<String> = (0..queries).map(|k| format!("a.q{k} | b.q{k}")).collect();
        out.text += "fn joined(a: Found, b: Found) -> Found {\n";
        writeln!(out.text, "    return Found({});\n}}\n", both.join(", ")).expect(STRINGS);
        out.finish(&[HITS, HITS_PAIRS], queries)
    }

    /// Creates a kernel for the second pass, which returns the contents of some registers for each hit.
    pub fn words(program: &Program, words: &[Reg], columns: usize, variant: Variant) -> Kernel {
        let stages = StageKernels::all(program, columns, variant);
        let printer = Printer::new(program, columns, variant);
        Kernel { stages, ..Kernel::registers(words, printer) }
    }

    fn registers(words: &[Reg], mut out: Printer<'_>) -> Kernel {
        writeln!(out.text, "const WORDS = {}u;\n", words.len()).expect(STRINGS);
        out.text += "fn evaluate(at: At, first: u32) {\n";
        out.body();
        for (k, reg) in words.iter().enumerate() {
            writeln!(out.text, "    words[first + {k}u] = r{};", reg.0).expect(STRINGS);
        }
        out.text += "}\n\n";
        out.finish(&[WORDS], words.len())
    }
}

const STRINGS: &str = "writing to a string does not fail";

pub(super) struct Printer<'a> {
    program: &'a Program,
    variant: Variant,
    text: String,
    tables: Vec<u64>,
    /// The offset in `text` at which the code that is specific to the query begins.
    own: usize,
    /// For each loop that is being generated, the location of its current row.
    rows: Vec<OpenRow<'a>>,
    /// For each column that stages (parts of a program that run before the rest) propagate along games, the total
    /// number of words for each segment (32 positions) in the columns before it. The last entry is the total of all
    /// columns.
    carried: Vec<usize>,
    /// The number of operations in unrolled loops so far.
    unrolled: u64,
    /// The number of loop iterations so far.
    turns: u64,
    /// The product of the iteration counts of the loops around the code that is being generated.
    times: u64,
    /// The number of variables generated so far for sets of squares that are shifted sideways, that is, by a number of
    /// files.
    beside: usize,
}

/// The scalars that contain the words of the current row of a loop.
#[derive(Clone, Copy)]
struct OpenRow<'a> {
    table: usize,
    first: u32,
    width: u32,
    /// The words of the table's row; `None` if the loop is not unrolled.
    values: Option<&'a [u64]>,
}

/// The declarations for a kernel that evaluates all slots (positions) of a segment in one dispatch, and for one that evaluates only
/// some slots.
const ALL_SLOTS: &str = "const SOME_SLOTS = false;\n";
const SOME_SLOTS: &str = "const SOME_SLOTS = true;\n";

/// The declarations for a kernel for games in which no side has several kings, and for a kernel for all other games.
/// Code that lists the moves of several kings is long, and hardly any game needs it.
const ONE_KING: &str = "const SEVERAL_KINGS = false;\n";
const SEVERAL_KINGS: &str = "const SEVERAL_KINGS = true;\n";

/// The maximum number of operations in one unrolled loop, summed over its rows, and in all unrolled loops of a kernel.
/// Unrolling avoids slow reads of rows from a buffer, but drivers compile long kernels slowly.
const UNROLLED_MAX: u64 = 512;
const UNROLLED_TOGETHER_MAX: u64 = 1024;

impl<'a> Printer<'a> {
    fn new(program: &'a Program, columns: usize, variant: Variant) -> Printer<'a> {
        let mut places = vec![0];
        for read in &program.reads {
            let words = if read.is_mask { 1 } else { 2 * SEGMENT_SLOTS };
            places.push(places[places.len() - 1] + words);
        }
        let bitboard = if variant.wide { BITBOARD_WIDE } else { BITBOARD };
        let layout = if variant.transposed { BY_WORD } else { BY_SEGMENT };
        let mut text = format!("{bitboard}\n{BITS}\n{REPLAY}\n{layout}\n");
        if program.whole_positions {
            text += LEGAL;
            text.push('\n');
        }
        let has_pure_men = |step: &Step| matches!(step, Step::Do { op: Op::PureMen { .. }, .. });
        if program.steps.iter().any(has_pure_men) {
            text += PURE;
            text.push('\n');
        }
        let Position { board, state } = Position::STANDARD;
        for (k, plane) in board.planes.into_iter().enumerate() {
            let plane = word(plane, variant.wide);
            writeln!(text, "const STANDARD_{k} = {plane};").expect(STRINGS);
        }
        writeln!(text, "const STANDARD_STATE = {:#x}u;", state.0).expect(STRINGS);
        let Variant { workgroup, lanes, segments, .. } = variant;
        for (name, number) in [("WORKGROUP", workgroup), ("LANES", lanes), ("SEGMENTS", segments)] {
            writeln!(text, "const {name} = {number}u;").expect(STRINGS);
        }
        writeln!(text, "const WHOLE_POSITIONS = {};", program.whole_positions).expect(STRINGS);
        text += if lanes == 1 { ALL_SLOTS } else { SOME_SLOTS };
        text += ONE_KING;
        writeln!(text, "const COLUMN_WORDS = {}u;\n", 2 * columns).expect(STRINGS);
        let own = text.len();
        Printer {
            program,
            variant,
            text,
            tables: Vec::new(),
            own,
            rows: Vec::new(),
            carried: places,
            unrolled: 0,
            turns: 0,
            times: 1,
            beside: 0,
        }
    }

    fn finish(mut self, main: &[&str], outputs: usize) -> Kernel {
        let own = self.own..self.text.len();
        self.text.extend(main.iter().copied());
        Kernel {
            wgsl: self.text,
            tables: self.tables,
            outputs,
            cost: self.program.own_cost_by(steps_on_device),
            turns: self.turns,
            variant: self.variant,
            carried_words: self.carried[self.carried.len() - 1],
            reads: self.program.reads.clone(),
            stages: Vec::new(),
            own,
            pipelines: UsedPipelines::default(),
        }
    }

    /// Generates code for the inputs of the program, and then for all of its steps.
    fn body(&mut self) {
        let inputs: HashMap<Reg, RegisterInput> =
            self.program.inputs.iter().map(|&(input, reg)| (reg, input)).collect();
        for reg in (0..self.program.registers as u32).map(Reg) {
            let line = match inputs.get(&reg) {
                Some(input) => format!("let r{} = {};", reg.0, self.input_text(*input)),
                None => format!("var r{}: Bits;", reg.0),
            };
            self.line(&line);
        }
        self.steps(0..self.program.steps.len());
    }

    fn steps(&mut self, range: Range<usize>) {
        let program = self.program;
        let mut at = range.start;
        while at < range.end {
            if let Step::Begin { end, .. } = program.steps[at] {
                self.repeat(at..end);
                at = end;
            } else {
                self.step(&program.steps[at]);
            }
            at += 1;
        }
    }

    fn input_text(&self, input: RegisterInput) -> String {
        match input {
            RegisterInput::Plane(k) => format!("at.board.p{k}"),
            RegisterInput::WhiteToMove => "mask((at.state & 1u) == 0u)".into(),
            RegisterInput::Initial => "mask(at.ply == 0u)".into(),
            RegisterInput::Terminal => "mask(is_last_of_line(at))".into(),
            RegisterInput::Ply => "small(at.ply)".into(),
            RegisterInput::Carried(id) => {
                let place = self.carried[id];
                let words = self.carried[id + 1] - place;
                format!("carried_{}(at, {place}u)", if words == 1 { "mask" } else { "word" })
            }
            RegisterInput::GameMask(column) => format!("column_mask(at, {}u)", column.0),
            RegisterInput::GameNumber(column) => format!("column_number(at, {}u)", column.0),
        }
    }

    fn line(&mut self, line: &str) {
        let open = self.rows.iter().filter(|row| row.values.is_none()).count();
        let indent = 4 * (1 + open);
        writeln!(self.text, "{:indent$}{line}", "").expect(STRINGS);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Do { dst, op } => {
                self.turns = self.turns.saturating_add(self.times.saturating_mul(turns(op)));
                let value = operation(op, self.variant.wide);
                self.line(&format!("r{} = {value};", dst.0));
            }
            Step::Splat { dst, scalar } => {
                let value = self.scalar(scalar);
                self.line(&format!("r{} = {value};", dst.0));
            }
            Step::AndScalar { dst, a, scalar } => {
                let value = self.scalar(scalar);
                self.line(&format!("r{} = r{} & {value};", dst.0, a.0));
            }
            Step::OrScalar { dst, a, scalar } => {
                let value = self.scalar(scalar);
                self.line(&format!("r{} = r{} | {value};", dst.0, a.0));
            }
            Step::Chain { dst, ref chain } => {
                let (mut terms, rest) = self.files_first(chain);
                terms.extend(rest.into_iter().map(|term| self.term(chain.op, term)));
                let sign = match chain.op {
                    ChainOp::Or => " | ",
                    ChainOp::And | ChainOp::Meet => " & ",
                    ChainOp::Sum => " + ",
                };
                self.line(&format!("r{} = {};", dst.0, terms.join(sign)));
            }
            Step::Answer { query, mask } => {
                self.line(&format!("found.q{query} |= (low_word(r{}) & 1u) << slot;", mask.0));
            }
            Step::Begin { .. } | Step::End { .. } => unreachable!("loops are printed whole"),
        }
    }

    /// Generates the code of a loop. `range` contains all of its steps.
    fn repeat(&mut self, range: Range<usize>) {
        let program = self.program;
        let Step::Begin { table, first, acc, reduce, .. } = program.steps[range.start] else {
            unreachable!("a loop begins with it")
        };
        let Step::End { word: found, .. } = program.steps[range.end] else {
            unreachable!("a loop ends with it")
        };
        let rows = &program.tables[table];
        let width = rows.first().map_or(0, Vec::len);
        let (acc, body) = (acc.0, range.start + 1..range.end);
        let reduction = match reduce {
            Reduce::Or => format!("r{acc} |= r{};", found.0),
            Reduce::Max => format!("r{acc} = larger(r{acc}, r{});", found.0),
            Reduce::Count => format!("r{acc} = tally(r{acc}, r{});", found.0),
        };
        let neutral = if reduce == Reduce::Max { self.word(NO_VALUE as u64) } else { "NONE".into() };
        self.line(&format!("r{acc} = {neutral};"));
        let row = OpenRow { table, first: first.0, width: width as u32, values: None };
        if self.writes_out(&body, rows.len()) {
            for (k, values) in rows.iter().enumerate() {
                self.line(&format!("// row {k} of {}", rows.len()));
                self.rows.push(OpenRow { values: Some(values), ..row });
                self.steps(body.clone());
                self.line(&reduction);
                self.rows.pop();
            }
            return;
        }
        let base = self.tables.len();
        self.tables.extend(rows.iter().flatten());
        self.line(&format!("for (var i{table} = 0u; i{table} < {}u; i{table}++) {{", rows.len()));
        self.rows.push(row);
        if width > 0 {
            self.line(&format!("let t{table} = {base}u + {width}u * i{table};"));
        }
        let times = self.times;
        self.times = times.saturating_mul(rows.len() as u64);
        // After the last row, the condition of the loop is tested one final time, which counts as an iteration.
        self.turns = self.turns.saturating_add(self.times).saturating_add(times);
        self.steps(body);
        self.times = times;
        self.line(&reduction);
        self.rows.pop();
        self.line("}");
    }

    /// Returns true if a loop is unrolled, that is, if its body is generated once for each row.
    fn writes_out(&mut self, body: &Range<usize>, rows: usize) -> bool {
        let all = length(self.program, body.clone()).saturating_mul(rows as u64);
        if self.variant.looped || all > UNROLLED_MAX {
            return false;
        }
        // A loop inside an unrolled loop has already been counted as a part of that loop.
        if self.rows.iter().any(|row| row.values.is_some()) {
            return true;
        }
        let together = self.unrolled + all;
        let fits = together <= UNROLLED_TOGETHER_MAX;
        if fits {
            self.unrolled = together;
        }
        fits
    }

    pub(super) fn word(&self, value: u64) -> String {
        word(value, self.variant.wide)
    }

    fn term(&self, op: ChainOp, term: &Term<Reg>) -> String {
        let keep = self.scalar(term.keep);
        let kept =
            if keep == "ALL" { format!("r{}", term.src.0) } else { format!("(r{} & {keep})", term.src.0) };
        let moved = shifted(&kept, term.by.into());
        let value = match op {
            ChainOp::Or | ChainOp::And => moved,
            ChainOp::Meet => format!("non_empty({moved})"),
            ChainOp::Sum => format!("count({moved})"),
        };
        if term.not { format!("~{value}") } else { value }
    }

    /// Generates code for the terms of an `or` that shift the same set by files and ranks. The set is first shifted by files, only
    /// once for all terms that need this shift. The result is then shifted by ranks, which needs no mask. Returns the generated
    /// terms, and the terms that remain.
    fn files_first<'c>(&mut self, chain: &'c OperationChain<Reg>) -> (Vec<String>, Vec<&'c Term<Reg>>) {
        // The terms, grouped by set and ranks.
        let mut moved: BTreeMap<(u32, i8), BTreeMap<i8, &Term<Reg>>> = BTreeMap::new();
        let mut rest = Vec::new();
        for term in &chain.terms {
            let keep = self.value(term.keep).filter(|_| chain.op == ChainOp::Or && !term.not);
            let files_ranks = keep.and_then(|keep| translation(keep, term.by));
            let known =
                files_ranks.map(|(files, ranks)| (moved.entry((term.src.0, ranks)).or_default(), files));
            match known {
                Some((known, files)) if !known.contains_key(&files) => drop(known.insert(files, term)),
                _ => rest.push(term),
            }
        }
        // The ranks, grouped by set and files.
        let mut together: BTreeMap<(u32, Vec<i8>), Vec<i8>> = BTreeMap::new();
        for (&(src, ranks), files) in &moved {
            together.entry((src, files.keys().copied().collect())).or_default().push(ranks);
        }
        let mut out = Vec::new();
        for ((src, files), ranks) in together {
            if files.len() * ranks.len() == 1 || files == [0] {
                rest.extend(ranks.iter().flat_map(|&ranks| moved[&(src, ranks)].values().copied()));
                continue;
            }
            let beside = files.iter().map(|&files| beside(&format!("r{src}"), files, self.variant.wide));
            let beside = beside.collect::<Vec<_>>().join(" | ");
            let name = format!("f{}", self.beside);
            self.beside += 1;
            self.line(&format!("let {name} = {beside};"));
            out.extend(ranks.into_iter().map(|ranks| shifted(&name, 8 * i32::from(ranks))));
        }
        (out, rest)
    }

    /// Returns the value of a scalar, or `None` if the scalar comes from a table in a buffer.
    fn value(&self, scalar: Scalar) -> Option<u64> {
        let row = self.rows.iter().find(|row| (row.first..row.first + row.width).contains(&scalar.0));
        match row {
            Some(OpenRow { values, first, .. }) => values.map(|values| values[(scalar.0 - first) as usize]),
            None => Some(self.program.scalars[scalar.0 as usize]),
        }
    }

    fn scalar(&self, scalar: Scalar) -> String {
        if let Some(value) = self.value(scalar) {
            return self.word(value);
        }
        let row = self.rows.iter().find(|row| (row.first..row.first + row.width).contains(&scalar.0));
        let row = row.expect("it is of a table that is read");
        format!("tables[t{} + {}u]", row.table, scalar.0 - row.first)
    }
}

/// The number of iterations of the loop in `square_root`, including the last, in which the loop ends.
const ROOT_TURNS: u64 = 16 + 1;
/// The maximum number of iterations of all loops in `moves_of`, for neighbouring invocations that run in lockstep. The terms are:
/// the pieces of a side with several kings; the moves of each of these pieces; en passant; and castling.
const MOVES_TURNS: u64 = (64 + 1) + 64 * (27 + 1) + (2 + 1) + (2 + 1);
/// The maximum number of iterations of all loops in `pure_men`. The terms are: the attacking men; the directions,
/// twice; the men that give check (at most one in each direction, and eight knights); and the directions of each of
/// these men.
const PURE_TURNS: u64 = (64 + 1) + 2 * (8 + 1) + (16 + 1) + 16 * (8 + 1);

/// Returns the maximum number of loop iterations that an operation runs.
fn turns(op: Op) -> u64 {
    match op {
        Op::Sqrt(_) => ROOT_TURNS,
        Op::NoMoves(_) | Op::Legal { .. } | Op::LegalCount { .. } => MOVES_TURNS,
        Op::PureMen { .. } => PURE_TURNS,
        _ => 0,
    }
}

/// Estimates the number of simple operations in a range of steps if all of its loops are unrolled.
fn length(program: &Program, range: Range<usize>) -> u64 {
    let (mut length, mut times) = (0u64, vec![1u64]);
    for step in &program.steps[range] {
        let now = *times.last().expect("a loop that ends has begun");
        let more = match step {
            Step::Begin { table, .. } => {
                times.push(now.saturating_mul(program.tables[*table].len() as u64));
                1
            }
            Step::End { .. } => {
                times.pop();
                1
            }
            Step::Chain { chain, .. } => chain.terms.len() as u64,
            Step::Do { op: Op::Slide { .. }, .. } => 8,
            Step::Do { op: Op::Walk { dirs, lo, hi, .. }, .. } => {
                u64::from(dirs.count_ones()) * u64::from(hi.abs_diff(*lo) + 1)
            }
            // These operations contain loops of their own, so each counts as much as the longest loop that is unrolled.
            Step::Do { op, .. } if turns(*op) > 0 => UNROLLED_MAX,
            _ => 1,
        };
        length = length.saturating_add(now.saturating_mul(more));
    }
    length
}

fn word(word: u64, wide: bool) -> String {
    match word {
        0 => "NONE".into(),
        u64::MAX => "ALL".into(),
        word if wide => format!("{word:#x}lu"),
        word => format!("Bits({:#x}u, {:#x}u)", word as u32, word >> 32),
    }
}

/// Returns an expression for `value` shifted left by `by`, or right if `by` is negative. `by` must be between -63 and
/// 63.
fn shifted(value: &str, by: i32) -> String {
    let name = if by < 0 { "shr" } else { "shl" };
    match by.unsigned_abs() {
        0 => value.into(),
        by @ 1..=31 => format!("{name}({value}, {by}u)"),
        by => format!("{name}_far({value}, {}u)", by - 32),
    }
}

/// Returns the files and ranks by which a shift moves squares. Returns `None` unless `keep` contains exactly the
/// squares that stay on the board.
fn translation(keep: u64, by: i8) -> Option<(i8, i8)> {
    let by_files = (-7..=7i8).filter(|files| (by - files) % 8 == 0);
    let mut both =
        by_files.map(|files| (files, (by - files) / 8)).filter(|(_, ranks)| ranks.unsigned_abs() <= 7);
    both.find(|&(files, ranks)| {
        attacks::translation(files, ranks).0 == keep || (files == 0 && keep == u64::MAX)
    })
}

/// Returns an expression for `value` moved by a number of files within each rank.
fn beside(value: &str, files: i8, wide: bool) -> String {
    // The files to which squares move.
    let to =
        (0..8u64).filter(|file| (0..8).contains(&(*file as i8 - files))).fold(0, |to, file| to | 1 << file);
    let to = word(to * 0x0101_0101_0101_0101, wide);
    let by =
        if wide { format!("{}u", files.unsigned_abs()) } else { format!("Bits({}u)", files.unsigned_abs()) };
    match files {
        0 => value.into(),
        1.. => format!("(({value} << {by}) & {to})"),
        _ => format!("(({value} >> {by}) & {to})"),
    }
}

/// Returns an expression for `value` moved by `dx` files and `dy` ranks, without the squares that leave the board.
/// Returns `None` if all squares leave it.
fn translated(value: &str, dx: i8, dy: i8, wide: bool) -> Option<String> {
    if dx.unsigned_abs() > 7 || dy.unsigned_abs() > 7 {
        return None;
    }
    let (stay, by) = attacks::translation(dx, dy);
    // Squares that leave the board at the top or bottom are shifted out of the word, so they need no mask.
    let kept = if dx == 0 { value.to_string() } else { format!("{value} & {}", word(stay, wide)) };
    Some(shifted(&kept, by))
}

fn operation(op: Op, wide: bool) -> String {
    let r = |id: Id| format!("r{}", id.0);
    let call1 = |name: &str, a: Id| format!("{name}({})", r(a));
    let call2 = |name: &str, a: Id, b: Id| format!("{name}({}, {})", r(a), r(b));
    match op {
        Op::And(a, b) => format!("{} & {}", r(a), r(b)),
        Op::Or(a, b) => format!("{} | {}", r(a), r(b)),
        Op::AndNot(a, b) => format!("{} & ~{}", r(a), r(b)),
        Op::Xor(a, b) => format!("{} ^ {}", r(a), r(b)),
        Op::Not(a) => format!("~{}", r(a)),
        Op::Select { mask, a, b } => format!("choose({}, {}, {})", r(mask), r(a), r(b)),
        Op::Step(a, dx, dy) => translated(&r(a), dx, dy, wide).unwrap_or_else(|| "NONE".into()),
        Op::FillRanks(a) => call1("fill_ranks", a),
        Op::FillFiles(a) => call1("fill_files", a),
        Op::Knight(a) => call1("knight", a),
        Op::King(a) => call1("king", a),
        Op::Pawn { set, white } => call1(if white { "pawn_white" } else { "pawn_black" }, set),
        Op::Slide { set, empty, dir } => call2(&format!("slide{dir}"), set, empty),
        Op::Walk { set, dirs, lo, hi } => walk(&r(set), dirs, lo, hi, wide),
        Op::NonEmpty(a) => call1("non_empty", a),
        Op::Single(a) => call1("single", a),
        Op::Count(a) => call1("count", a),
        Op::Rank(a) => call1("rank_of", a),
        Op::File(a) => call1("file_of", a),
        Op::Content(a) => format!("small(content(at.board, {}))", r(a)),
        Op::MakeSquare { file, rank } => call2("make_square", file, rank),
        Op::Add(a, b) => call2("add", a, b),
        Op::Sub(a, b) => call2("sub", a, b),
        Op::Mul(a, b) => call2("mul", a, b),
        Op::Div(a, b) => call2("div", a, b),
        Op::Rem(a, b) => call2("rem", a, b),
        Op::Sqrt(a) => call1("square_root", a),
        Op::Max(a, b) => call2("larger", a, b),
        Op::Compare(cmp, a, b) => match cmp {
            Cmp::Eq => call2("eq", a, b),
            Cmp::Ne => call2("ne", a, b),
            Cmp::Lt => call2("lt", a, b),
            Cmp::Le => call2("le", a, b),
            Cmp::Gt => call2("lt", b, a),
            Cmp::Ge => call2("le", b, a),
        },
        Op::NoMoves(a) => format!("no_moves(at, {})", r(a)),
        Op::PureMen { within, mate } => format!("pure_men(at, {}, {mate})", r(within)),
        Op::Legal { from, to, pseudo, only, left } => {
            let part = if left { "origins" } else { "squares" };
            format!("moves_of(at, {}, {}, {pseudo}, {}, false).{part}", r(from), r(to), special(only))
        }
        Op::LegalCount { from, to, pseudo, only } => {
            format!("small(moves_of(at, {}, {}, {pseudo}, {}, false).pairs)", r(from), r(to), special(only))
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

fn walk(value: &str, dirs: u8, lo: i8, hi: i8, wide: bool) -> String {
    let dirs = DIR_STEPS.into_iter().enumerate().filter(|(dir, _)| dirs >> dir & 1 != 0);
    let steps = dirs.flat_map(|(_, (dx, dy))| (lo..=hi).map(move |far| (dx * far, dy * far)));
    let parts: Vec<String> = steps.filter_map(|(dx, dy)| translated(value, dx, dy, wide)).collect();
    if parts.is_empty() { "NONE".into() } else { parts.join(" | ") }
}

fn special(only: Special) -> &'static str {
    match only {
        Special::Any => "ANY",
        Special::Castle => "ONLY_CASTLE",
        Special::KingSide => "ONLY_KING_SIDE",
        Special::QueenSide => "ONLY_QUEEN_SIDE",
        Special::EnPassant => "ONLY_EN_PASSANT",
    }
}
