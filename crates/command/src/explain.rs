//! Implements `orbit explain`, which shows how orbit understands and evaluates a query.

use std::ops::ControlFlow;
use std::path::PathBuf;

use orbit_core::diagnostic::Severity;
use orbit_database::{BlockStream, StreamOptions};
use orbit_engine::{
    Answers, BlockRequest, EngineError, PreparedQuery, Values, Wants,
    cpu::Isa,
    gpu::{self, Kernel, Variant},
};
use orbit_plan::{GameOp, Made, OrbitNote, Plan, PlanOptions};
use orbit_query::{
    Type, english,
    tree::{Counted, Kind as _, Ref, Written},
};
use orbit_reel::Block;
use orbit_search::executor::{EngineChoice, EngineOptions, Executor, check_engine};
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{AsText, Copy, Orbit, OrbitRef, small_board};
use serde_json::{Value, json};

use super::board::BoardArgs;
use super::common::{Out, counted, grouped};
use super::failure::{Exit, Failure};
use super::query_text::{DialectArgs, QueryText};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orbit explain 'shift flip flipcolor {Nd4 kf3}' --boards
  orbit explain 'flip count {Ra1 or Rh1}' --fen '4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1'
  orbit explain -f query.cql --plan")]
pub(super) struct Args {
    /// The query: CQL 6.2, or a position list of CQL 5.
    #[arg(required_unless_present_any = ["given", "file", "placement"], conflicts_with_all = ["given", "file", "placement"])]
    query: Option<String>,
    /// Take QUERY as the query, whatever it begins with.
    #[arg(short = 'e', long = "query", value_name = "QUERY", allow_hyphen_values = true,
          conflicts_with_all = ["file", "placement"])]
    given: Option<String>,
    /// Read the query from a file.
    #[arg(short, long, value_name = "FILE.cql")]
    file: Option<PathBuf>,
    #[command(flatten)]
    dialect: DialectArgs,
    /// Show at most N of the copies that the outermost transform makes.
    #[arg(long, value_name = "N", default_value_t = 10)]
    copies: usize,
    /// Draw each of these copies as a small board.
    #[arg(long)]
    boards: bool,
    /// List the steps of the evaluation, and count their registers.
    #[arg(long)]
    plan: bool,
    /// Print the part of the shader (in WGSL) that evaluates the query on a graphics card.
    #[arg(long)]
    wgsl: bool,
    /// Choose how that shader is written, such as `transposed,u64`.
    #[arg(long, value_name = "VARIANT", default_value_t, hide = true)]
    gpu_variant: Variant,
    /// Evaluate the query on this position, and show its value and the copies that match.
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    board: BoardArgs,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let given = args.given.as_deref().or(args.query.as_deref());
    let query = QueryText::alone(args.file.as_deref(), args.board.query()?, given)?;
    let parsed = query.parse(args.dialect)?;
    let prepared =
        PreparedQuery::new(parsed.query, PlanOptions::default()).map_err(|error| query.failure(&error))?;
    query.print_remarks(&parsed.remarks, Severity::Note);
    query.print_remarks(&prepared.planner.warnings(), Severity::Note);
    if args.wgsl || args.plan {
        check_engine(&prepared, EngineChoice::Cpu).map_err(|error| query.failure(&error))?;
    }
    let kernel = args.wgsl.then(|| gpu::kernel(&prepared.planner.hits(), args.gpu_variant)).transpose();
    let kernel = kernel.map_err(EngineError::from)?;
    let explanation = Explanation::new(&query.text, &prepared, args.fen.as_deref(), kernel)?;
    let mut out = Out::new();
    if args.json {
        out.json(&explanation.json(args.copies))?;
    } else {
        explanation.lines(&args).into_iter().try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// The facts that are printed about a query.
struct Explanation<'a> {
    text: &'a str,
    prepared: &'a PreparedQuery,
    /// The plan (the query as straight-line code); `None` if no plan can express the query.
    plan: Option<Plan>,
    /// The GPU kernel, if its shader is to be printed.
    kernel: Option<Kernel>,
    /// The transforms in the query, outermost first. Each has its text, a note about fused transforms, and its orbit, which is the
    /// set of copies that it makes. A chain of fused transforms counts as one.
    orbits: Vec<(&'a str, String, Orbit)>,
    /// True if the first transform in `orbits` applies to the whole query.
    whole: bool,
    evaluated: Option<EvaluatedPosition>,
}

struct EvaluatedPosition {
    hit: bool,
    value: String,
    /// The indices of the matching copies, among all copies that the outermost transform makes.
    copies: Vec<usize>,
}

impl<'a> Explanation<'a> {
    fn new(
        text: &'a str,
        prepared: &'a PreparedQuery,
        fen: Option<&str>,
        kernel: Option<Kernel>,
    ) -> Result<Explanation<'a>, Failure> {
        let mut orbits = Vec::new();
        let body = &prepared.query.body;
        collect_orbits(body.node(), text, &mut orbits);
        let whole = body.node().is_transform();
        let evaluated = fen.map(|fen| evaluate(prepared, fen)).transpose()?;
        // If the value of a query is a number or a position, the plan that finds hits only tests that the value exists, which is
        // often trivially true. So the plan that computes the value is shown.
        let plan = || match body.ty() {
            Type::Num | Type::Position => prepared.planner.values(),
            Type::Bool | Type::Set | Type::Str => prepared.planner.hits(),
        };
        let plan = prepared.planner.refusal().is_none().then(plan);
        Ok(Explanation { text, prepared, plan, kernel, orbits, whole, evaluated })
    }

    fn lines(&self, args: &Args) -> Vec<String> {
        let mut lines = vec![
            format!("{}.", self.sentence()),
            String::new(),
            format!("query   {}", one_line(self.text)),
            format!("value   {}", self.prepared.query.body.ty().described()),
        ];
        lines.push("tree".into());
        tree_lines(self.prepared.query.body.node(), self.text, 1, &mut lines);
        for (text, gathered, orbit) in &self.orbits {
            lines.push(format!(
                "orbit   {}: {} combinations, {} distinct copies{}",
                one_line(text),
                grouped(orbit.elements as u64),
                grouped(orbit.copies.len() as u64),
                gathered
            ));
        }
        if let (Some((_, _, orbit)), true) = (self.orbits.first(), self.whole) {
            self.copy_lines(orbit, args, &mut lines);
        }
        lines.extend(self.plan_lines(args));
        if let Some(kernel) = &self.kernel {
            lines.push(format!(
                "wgsl    {} bytes with what all shaders share",
                grouped(kernel.wgsl.len() as u64)
            ));
            let kernels = kernel.all().flat_map(|kernel| kernel.evaluate().lines());
            lines.extend(kernels.map(str::to_string));
        }
        if let Some(evaluated) = &self.evaluated {
            lines.push(format!("--fen   {}", evaluated.value));
            if let (Some((_, _, orbit)), true) = (self.orbits.first(), self.whole) {
                lines.push(format!("        {} of the copies match", evaluated.copies.len()));
                for &index in evaluated.copies.iter().take(args.copies) {
                    lines.push(format!("        {}", copy_line(index, &orbit.copies[index])));
                }
            }
        }
        lines
    }

    /// Describes the query in English, including the number of copies that its outermost transform makes.
    fn sentence(&self) -> String {
        let mut sentence = english::sentence(&self.prepared.query, self.text);
        if let (Some((_, _, orbit)), true) = (self.orbits.first(), self.whole) {
            let copies = orbit.copies.len();
            sentence.push_str(&format!(": {}", counted(copies, "copy", "copies")));
        }
        sentence
    }

    /// Returns lines that describe the evaluation of the query, or the reason why no plan can express it.
    fn plan_lines(&self, args: &Args) -> Vec<String> {
        let Some(plan) = &self.plan else {
            let mut lines =
                vec![String::from("plan    none: only the reference engine runs this query, game by game")];
            lines.extend(self.reason().map(|reason| format!("        {reason}")));
            return lines;
        };
        if !args.plan {
            return Vec::new();
        }
        let mut lines = vec![format!("plan    {}", size_text(plan))];
        lines.extend(note_lines(&plan.notes).into_iter().map(|line| format!("        {line}")));
        lines.extend(plan.program.to_string().lines().map(|line| format!("        {line}")));
        lines
    }

    /// Returns the filter that no plan can express, and the reason, for example `find all x: the engines ...`. Returns `None` if a
    /// plan can express the query.
    fn reason(&self) -> Option<String> {
        let refusal = self.prepared.planner.refusal()?;
        let filter = self.text.get(refusal.span.start..refusal.span.end).unwrap_or_default();
        Some(format!("`{}`: {}", one_line(filter), refusal.message))
    }

    fn copy_lines(&self, orbit: &Orbit, args: &Args, lines: &mut Vec<String>) {
        let shown = args.copies.min(orbit.copies.len());
        if shown == 0 {
            return;
        }
        let of = if shown < orbit.copies.len() {
            format!(" (the first {shown} of {}; --copies N shows more)", grouped(orbit.copies.len() as u64))
        } else {
            String::new()
        };
        lines.push(format!("copies{of}"));
        for (index, copy) in orbit.copies.iter().enumerate().take(shown) {
            lines.push(format!("  {}", copy_line(index, copy)));
            if args.boards {
                lines.extend(small_board(&copy.filter).map(|rank| format!("         {rank}")));
            }
        }
    }

    fn json(&self, copies: usize) -> Value {
        let orbits = self.orbits.iter().map(|(text, _, orbit)| {
            json!({ "text": text, "combinations": orbit.elements, "copies": orbit.copies.len() })
        });
        let top = self.orbits.first().filter(|_| self.whole);
        let listed = top.into_iter().flat_map(|(_, _, orbit)| orbit.copies.iter().take(copies)).enumerate();
        let listed = listed.map(|(index, copy)| {
            json!({ "copy": index + 1, "text": AsText(&copy.filter).to_string(), "from": copy.placement.to_string() })
        });
        json!({
            "query": self.text,
            "sentence": self.sentence(),
            "type": self.prepared.query.body.ty().described(),
            "orbits": orbits.collect::<Vec<_>>(),
            "copies": listed.collect::<Vec<_>>(),
            "engines": self.prepared.engines(),
            "reason": self.reason(),
            "plan": self.plan.as_ref().map(|plan| json!({
                "steps": plan.program.steps.len(),
                "chains": plan.program.chains().0,
                "instructions": Isa::detected().name(),
                "registers": plan.program.registers,
                "strategies": note_lines(&plan.notes),
            })),
            "wgsl": self.kernel.as_ref().map(|kernel| &kernel.wgsl),
            "evaluated": self.evaluated.as_ref().map(|it| json!({
                "hit": it.hit,
                "value": it.value,
                "copies": it.copies.iter().map(|index| index + 1).collect::<Vec<_>>(),
            })),
        })
    }
}

/// Collects the orbits (sets of copies) of all transforms in the tree. Transforms are expanded one at a time; a chain of fused
/// transforms counts as one.
fn collect_orbits<'a>(mut node: Ref<'a, Written>, text: &'a str, out: &mut Vec<(&'a str, String, Orbit)>) {
    if node.is_transform() {
        let filter = orbit_transforms::expand(&node.cloned()).ok();
        if let Some(orbit) = filter.as_ref().and_then(|filter| filter.outermost_orbit()) {
            let span = node.mark();
            let text = text.get(span.start..span.end).unwrap_or_default();
            out.push((text, gathered_text(orbit), orbit.cloned()));
        }
        while let Some(inner) = node.fused() {
            node = inner;
        }
    }
    node.each_child(&mut |child| collect_orbits(child, text, out));
}

fn evaluate(prepared: &PreparedQuery, fen: &str) -> Result<EvaluatedPosition, Failure> {
    let wrong = |reason: &str| Failure::Other(format!("--fen {fen:?}: {reason}"));
    let database = BlockStream::from_pgn_bytes("--fen", fen.as_bytes().to_vec(), StreamOptions::default());
    let mut block = None;
    database.for_each_block(1, Block::clone, |_, made| {
        block = Some(made);
        ControlFlow::Break(())
    })?;
    let block =
        block.ok_or_else(|| wrong("no position found; a FEN looks like `4k3/8/8/8/8/8/8/4K2R w K - 0 1`"))?;
    if block.slots() != 1 {
        let reason = block.problems().first().map_or("expected one position", |problem| &problem.reason);
        return Err(wrong(reason));
    }
    let wanted = [Wants::VALUES | Wants::ALL_COPIES];
    let mut options = EngineOptions::default();
    if prepared.planner.refusal().is_some() {
        options.engine = EngineChoice::Reference;
    }
    let executor = Executor::new(vec![prepared.clone()], &options)?;
    // The position is the only game, so it is also the last one.
    let request = BlockRequest { last_game: Some(1), ..BlockRequest::all(&wanted) };
    let mut answers = executor.engine().scan(&[&block], &request)?.remove(0);
    let Answers { hits, copies, .. } = answers.remove(0);
    let hit = hits.contains(0);
    let value = match &hits.values {
        Values::Numbers(numbers) if hit => numbers[0].to_string(),
        Values::Numbers(_) => "no value".into(),
        Values::Sets(sets) => set_text(sets.at(0)),
        Values::Texts(_) => match hits.text(0) {
            Some(text) => String::from_utf8_lossy(text).into_owned(),
            None => "no value".into(),
        },
        Values::None => hit.to_string(),
    };
    let copies = copies.filter(|_| hit).map_or(Vec::new(), |copies| copies.at_hit(0).to_vec());
    Ok(EvaluatedPosition { hit, value, copies: copies.into_iter().map(|copy| copy as usize).collect() })
}

/// Formats a set of squares: `[a1,h8]`, `a1`, `[]`.
fn set_text(set: u64) -> String {
    let squares: Vec<String> =
        orbit_core::board::Bitboard(set).into_iter().map(|square| square.to_string()).collect();
    match &squares[..] {
        [one] => one.clone(),
        all => format!("[{}]", all.join(",")),
    }
}

fn tree_lines(node: Ref<Written>, text: &str, depth: usize, lines: &mut Vec<String>) {
    let kind = node.ty().name();
    let source = one_line(text.get(node.mark().start..node.mark().end).unwrap_or_default());
    lines.push(format!("{:7} {kind:10}{:2$}{source}", "", "", 2 * depth));
    // A board has 64 designators, one for each square. They are not listed, since the text of the board shows them.
    let children = node.children();
    if children.len() <= 16 {
        children.into_iter().for_each(|child| tree_lines(child, text, depth + 1, lines));
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

fn gathered_text(orbit: OrbitRef) -> String {
    match orbit {
        OrbitRef::Counted(Counted::All, _) => "; the value is how many match".into(),
        OrbitRef::Counted(Counted::Range(lo, hi), _) => format!("; {lo} to {hi} of them must match"),
        OrbitRef::Union(_) => "; the value is the union of theirs".into(),
        OrbitRef::Largest(_) => "; the value is the largest of theirs".into(),
        OrbitRef::Any(_) => "; one must match".into(),
    }
}

fn copy_line(index: usize, copy: &Copy) -> String {
    format!("{:>5}  {:32} {}", index + 1, AsText(&copy.filter).to_string(), copy.placement)
}

fn size_text(plan: &Plan) -> String {
    let program = &plan.program;
    let chains = match program.chains() {
        (0, _) => String::new(),
        (chains, terms) => format!(" ({chains} of them chains of {terms} terms)"),
    };
    let steps: usize = program.stages.iter().map(|stage| stage.program.steps.len()).sum();
    let stages = match program.stages.len() {
        0 => String::new(),
        1 => format!(", and before them {steps} steps whose answers are carried along games"),
        stages => {
            format!(
                ", and before them {steps} steps in {stages} stages whose answers are carried along games"
            )
        }
    };
    format!(
        "{} steps{chains} on {} registers, {} game columns{stages}{}",
        grouped(program.steps.len() as u64),
        program.registers,
        plan.columns.len(),
        flat_text(plan)
    )
}

/// Describes the flat programs of a plan. A flat program is a list of instructions that runs through the positions of a game in
/// order. It keeps state from one position to the next, and reads the results of earlier stages of the plan.
fn flat_text(plan: &Plan) -> String {
    let carried = plan.program.stages.iter().flat_map(|stage| &stage.carried);
    let flat = carried.filter_map(|carry| match &carry.what {
        Made::Game(GameOp::Flat(program)) => Some(program),
        _ => None,
    });
    let text = flat.map(|program| {
        format!(
            ", and a program of {} instructions that keeps state along each game, on {} columns",
            grouped(program.code.len() as u64),
            program.masks.len()
        )
    });
    text.collect()
}

/// Returns lines that describe how the orbits (sets of pattern copies) of a query are evaluated. Equal notes share one line, with
/// their count.
fn note_lines(notes: &[OrbitNote]) -> Vec<String> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for note in notes {
        let line = note_text(note);
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, count)) => *count += 1,
            None => lines.push((line, 1)),
        }
    }
    let times = |(line, count)| if count == 1 { line } else { format!("{line} ({count} times)") };
    lines.into_iter().map(times).collect()
}

fn note_text(note: &OrbitNote) -> String {
    let mut parts = Vec::new();
    if note.anchored > 0 {
        parts.push(format!("{} copies in {} words, a bit for each shift", note.anchored, note.anchors));
    }
    if note.gridded > 0 {
        parts.push(format!(
            "{} copies in {} words, several for each group of shifts",
            note.gridded, note.grids
        ));
    }
    if note.pointwise > 0 {
        parts.push(format!("with attacks, counts, sets or other positions in {} of them", note.pointwise));
    }
    if note.in_tables > 0 {
        parts.push(format!("{} copies as rows of {} tables", note.in_tables, note.tables));
    }
    if note.unrolled > 0 {
        parts.push(format!("{} copies written out", note.unrolled));
    }
    if parts.is_empty() { "an orbit without copies".into() } else { parts.join(", ") }
}
