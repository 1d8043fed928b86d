//! Runs generated queries on positions that are generated to fit them, and compares `cpu` with `reference` and `gpu` with `cpu`.
//!
//! All queries and positions are computed from seeds, and a failure message contains the seed that reproduces the failure. The
//! number of seeds is fixed. `ORBIT_FUZZ_SECONDS=600` continues with more seeds for 600 seconds.

mod game_queries;
mod games;
mod generate;
#[cfg(feature = "gpu")]
mod gpu;
mod metamorphic;
pub mod positions;
pub mod rng;
mod term;
mod told;

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use orbit_core::board::Position;
use orbit_engine::{
    Answers, BlockRequest, Engine, Hits, PreparedQuery, Values, Wants,
    cpu::{Cpu, Isa, MachineCode},
    reference::Bulk,
};
use orbit_plan::{OrbitNote, PlanOptions};
use orbit_query::{
    TypedQuery,
    tree::{self, ConditionOp, Counted, NumberOp, PositionOp, Ref, SquaresOp, TextOp, Written},
};
use orbit_reel::{Block, replay::for_each_slot};

use crate::{
    common::{
        block_of_games, blocks_of, corpus_if_any, every_nth_game,
        length::{Length, PARTS, length},
    },
    runners,
};
pub use games::query_texts;
pub use generate::Generator;
pub use rng::Rng;
use term::Term;

/// The number of queries that are generated in each part of a long run, including rejected ones. After these, the test adds only
/// queries with filters and planning strategies that are still rare in the part.
const QUERIES_DUE: u64 = 1500;
/// The number of queries that are generated in the sample, which is the short form of the test. The sample need not contain every
/// operation.
const SAMPLE_DUE: u64 = 800;
/// The minimum numbers of queries that must contain each filter and that must be planned with each strategy, in each part of a long
/// run.
const FILTERS_DUE: u64 = 1;
const STRATEGIES_DUE: u64 = 8;
/// The maximum number of seeds that are tried in a part of a long run.
const SEEDS_MAX: u64 = 100_000;

/// Counts of the generated queries and of their results.
#[derive(Default, Debug)]
struct Seen {
    queries: u64,
    /// The number of queries that both engines reject, for example because of `rotate45` over squares or because a transform
    /// generates too many copies (transformed patterns).
    refused: u64,
    /// The number of generated queries that the parser rejects.
    unread: u64,
    positions: u64,
    hits: u64,
    /// The number of queries that match at 5 % to 95 % of the positions.
    balanced: u64,
    copies: u64,
    ops: BTreeMap<String, u64>,
    notes: BTreeMap<&'static str, u64>,
    faults: Vec<String>,
}

impl Seen {
    fn add(&mut self, other: Seen) {
        self.queries += other.queries;
        self.refused += other.refused;
        self.unread += other.unread;
        self.positions += other.positions;
        self.hits += other.hits;
        self.balanced += other.balanced;
        self.copies += other.copies;
        for (op, count) in other.ops {
            *self.ops.entry(op).or_default() += count;
        }
        for (note, count) in other.notes {
            *self.notes.entry(note).or_default() += count;
        }
        self.faults.extend(other.faults);
    }

    fn note_query(&mut self, query: &TypedQuery) {
        query.body.walk(&mut |node| {
            *self.ops.entry(operation(node)).or_default() += 1;
        });
    }

    fn note_plan(&mut self, notes: &[OrbitNote]) {
        for note in notes {
            for (name, count) in [
                ("anchors", note.anchors),
                ("grids", note.grids),
                ("pointwise", note.pointwise),
                ("tables", note.tables),
                ("unrolled", note.unrolled),
            ] {
                *self.notes.entry(name).or_default() += u64::from(count > 0);
            }
        }
    }
}

/// Returns the name of the operation of a node in a query tree. Variants of an operation that behave differently get different
/// names.
pub fn operation(node: Ref<Written>) -> String {
    use tree::{ConditionKeyword as CK, Keyword as K, NumberKeyword as NK};
    let transform = |kind: &tree::TransformKind| format!("{kind:?} Any");
    match node {
        _ if node.is_braces() => "Compound".into(),
        _ if node.shields() => "NoTransform".into(),
        Ref::Condition(f) => match f.op() {
            ConditionOp::If { .. } => "If".into(),
            ConditionOp::ContentIs { .. } => "ContentIs".into(),
            ConditionOp::Assign(..) => "Assign".into(),
            ConditionOp::SetEq { equal, .. } => format!("SetEq {{ equal: {equal} }}"),
            ConditionOp::Differ(..) => "Compare(Ne)".into(),
            ConditionOp::TextCompare(cmp, ..) => format!("StrCompare({cmp:?})"),
            ConditionOp::TextIn(..) => "StrIn".into(),
            ConditionOp::Form(CK::Transform(kind, _)) => transform(kind),
            ConditionOp::Form(CK::Lists(..)) => "ListTransforms".into(),
            op => named(node, op),
        },
        Ref::Squares(f) => match f.op() {
            SquaresOp::Designator { .. } => "Designator".into(),
            SquaresOp::Constant(_) => "Squares".into(),
            SquaresOp::Xray { forward, .. } => format!("Xray {{ forward: {forward} }}"),
            SquaresOp::Ray { attack, .. } => format!("Ray attack {attack}"),
            SquaresOp::Pin { value, .. } => format!("Pin {{ value: {value:?} }}"),
            SquaresOp::Shade { light, .. } => format!("Shade {{ light: {light} }}"),
            SquaresOp::Legal(moves) => legal(moves, false),
            SquaresOp::Control(control) => controlled(control),
            SquaresOp::Form(K::Transform(kind, _)) => transform(kind),
            op => named(node, op),
        },
        Ref::Number(f) => match f.op() {
            NumberOp::Int(_) => "Int".into(),
            NumberOp::ContentType { signed, .. } => format!("ContentType {{ signed: {signed} }}"),
            NumberOp::Arith(arith, ..) => format!("Arith({arith:?})"),
            NumberOp::Compare(cmp, ..) => format!("Compare({cmp:?})"),
            NumberOp::LegalCount(moves) => legal(moves, true),
            NumberOp::Find { back, counted: Counted::Range(..), .. } => format!("Find back {back} range"),
            NumberOp::Find { back, .. } => format!("Find back {back} Count"),
            NumberOp::Control(control) => controlled(control),
            NumberOp::Form(NK::Number(K::Transform(kind, _))) => transform(kind),
            NumberOp::Form(NK::Counted(kind, Counted::Range(..), _)) => format!("{kind:?} range"),
            NumberOp::Form(NK::Counted(kind, ..)) => format!("{kind:?} Count"),
            op => named(node, op),
        },
        Ref::Text(f) => match f.op() {
            TextOp::Literal(_) => "Str".into(),
            TextOp::Compare(cmp, ..) => format!("StrCompare({cmp:?})"),
            TextOp::Control(control) => controlled(control),
            op => named(node, op),
        },
        Ref::Position(f) => match f.op() {
            PositionOp::Find { back, .. } => format!("Find back {back} Any"),
            PositionOp::Control(control) => controlled(control),
            op => named(node, op),
        },
    }
}

/// Returns the name of an operation without its operands, which its debug output also contains.
fn named(node: Ref<Written>, op: &impl std::fmt::Debug) -> String {
    let text = format!("{op:?}");
    match text.find(['(', ' ']) {
        Some(end) if !node.children().is_empty() => text[..end].into(),
        _ => text,
    }
}

fn controlled<F>(control: &tree::Control<Written, F>) -> String {
    match control {
        tree::Control::Var(_) => "Var".into(),
        tree::Control::If { .. } => "If".into(),
        tree::Control::Braces { .. } => "Compound".into(),
    }
}

fn legal(moves: &tree::Moves<Written>, count: bool) -> String {
    format!("Legal {{ pseudo: {}, count: {count}, only: {:?} }}", moves.pseudo, moves.only)
}

/// Returns all names that [`operation`] can return. A new operation must be added here and to the generator.
fn all_kinds() -> Vec<String> {
    let mut out: Vec<String> = "Designator|Squares|Union|Intersect|Complement|Attacks|AttackedBy|\
        Xray { forward: true }|Xray { forward: false }|Between|Ray attack true|Ray attack false|\
        Pin { value: From }|Pin { value: Through }|Pin { value: To }|Direction|DirectionWithin|Shade { light: true }|\
        Shade { light: false }|Pawns(Passed)|Pawns(Isolated)|Pawns(Doubled)|Pawns(Connected)|MakeSquare|\
        SquareLoop|SquareAll|Var|If|Compound|NoTransform|Bool(true)|Bool(false)|And|Or|Not|Subset|\
        SetEq { equal: true }|SetEq { equal: false }|Check|Mate|Stalemate|Initial|Terminal|ToMove(White)|\
        ToMove(Black)|Result(WhiteWins)|Result(BlackWins)|Result(Draw)|Assign|ContentIs|ContentName|Int|Cardinality|\
        Power|Rank|File|ContentType { signed: true }|ContentType { signed: false }|Arith(Add)|Arith(Sub)|\
        Arith(Mul)|Arith(Div)|Arith(Rem)|Neg|Abs|Sqrt|InRange|Max|Min|Compare(Eq)|Compare(Ne)|Compare(Lt)|\
        Compare(Le)|Compare(Gt)|Compare(Ge)|ColorValue(White)|ColorValue(Black)|SideToMove|Ply|MoveNumber|\
        GameNumber|Year|Elo(None)|Elo(Some(White))|Elo(Some(Black))|Str|Tag(\"White\")|Tag(\"Black\")|\
        Tag(\"Annotator\")|Player(None)|Player(Some(White))|Player(Some(Black))|StrCompare(Eq)|\
        StrCompare(Ne)|StrCompare(Lt)|StrCompare(Le)|StrCompare(Gt)|StrCompare(Ge)|StrIn"
        .split('|')
        .map(String::from)
        .collect();
    for kind in ["Pure", "Model", "Ideal"] {
        out.extend([false, true].map(|mate| format!("Pure {{ kind: {kind}, mate: {mate} }}")));
    }
    for way in ["Find back false", "Find back true"] {
        out.extend(["Any", "Count", "range"].map(|counting| format!("{way} {counting}")));
    }
    for transform in [
        "Flip",
        "FlipVertical",
        "FlipHorizontal",
        "Rotate90",
        "Rotate45",
        "FlipColor",
        "Shift",
        "ShiftHorizontal",
        "ShiftVertical",
    ] {
        out.extend(["Any", "Count", "range"].map(|counting| format!("{transform} {counting}")));
    }
    out.push("ReverseColor Any".into());
    for pseudo in [false, true] {
        for count in [false, true] {
            for only in ["Any", "Castle", "KingSide", "QueenSide", "EnPassant"] {
                out.push(format!("Legal {{ pseudo: {pseudo}, count: {count}, only: {only} }}"));
            }
        }
    }
    out
}

/// The result of comparing two engines on one query, or the reason why they were not compared.
enum Outcome {
    /// The engines agree. The number counts the positions at which the query matches.
    Same(Box<PreparedQuery>, u64),
    Refused,
    Differ(String),
}

fn compare(query: &TypedQuery, block: &Block, options: PlanOptions) -> Outcome {
    catching(|| compare_engines(query, block, options)).unwrap_or_else(Outcome::Differ)
}

fn catching<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        format!("panic: {}", text.unwrap_or_default())
    })
}

fn compare_engines(query: &TypedQuery, block: &Block, options: PlanOptions) -> Outcome {
    let reference = Bulk::new([query]);
    let prepared = PreparedQuery::new(query.clone(), options);
    let (reference, prepared) = match (reference, prepared) {
        (Ok(reference), Ok(prepared)) => (reference, prepared),
        (Err(_), Err(_)) => return Outcome::Refused,
        (Err(error), Ok(_)) if error.to_string().contains("more than") => return Outcome::Refused,
        (Ok(_), Err(error)) if error.message.contains("copies to make") => return Outcome::Refused,
        (Err(error), Ok(_)) => return Outcome::Differ(format!("only reference refuses: {error}")),
        (Ok(_), Err(error)) => return Outcome::Differ(format!("only plan refuses: {error}")),
    };
    if prepared.planner.refusal().is_some() {
        return Outcome::Refused;
    }
    let plans = || prepared.plans().unwrap();
    let cpu = Cpu::with(plans(), Isa::detected(), MachineCode::Always);
    let wanted = Wants::VALUES | Wants::ALL_COPIES;
    // Some variables keep their values from game to game. `again` gives them the values from before the first game, and is called
    // before each further scan.
    let again = || cpu.set_runs(Arc::new(prepared.plans().unwrap().runs()));
    let (slow, fast) = (answers(&reference, block, wanted), answers(&cpu, block, wanted));
    let told = (slow.copies.expect("copies are wanted"), fast.copies.expect("copies are wanted"));
    let (slow, fast) = (slow.hits, fast.hits);
    if let Some(fault) = difference(["reference", "cpu"], &slow, &fast, block) {
        return Outcome::Differ(fault);
    }
    for isa in Isa::available() {
        for code in [MachineCode::Never, MachineCode::Always] {
            if isa == Isa::detected() && code == MachineCode::Always {
                continue;
            }
            let other = answers(&Cpu::with(plans(), isa, code), block, wanted);
            if (&other.hits, other.copies.as_ref()) != (&fast, Some(&told.1)) {
                return Outcome::Differ(format!("cpu differs for {}, machine code {code:?}", isa.name()));
            }
        }
    }
    again();
    if answers(&cpu, block, Wants::HITS).hits.bits != fast.bits {
        return Outcome::Differ("the bits change with the values wanted".into());
    }
    if reference.info().copies[0] != cpu.info().copies[0] {
        return Outcome::Differ(format!(
            "copies: reference {}, cpu {}",
            reference.info().copies[0],
            cpu.info().copies[0]
        ));
    }
    let counts = |engine: &dyn Engine| {
        let copies = answers(engine, block, Wants::COPY_COUNTS).copies;
        copies.map_or(Vec::new(), |copies| copies.sums().to_vec())
    };
    again();
    let counts = (counts(&Bulk::new([query]).unwrap()), counts(&cpu));
    if counts.0 != counts.1 {
        let copy = (0..counts.0.len()).find(|&k| counts.0[k] != counts.1[k]).expect("they differ");
        let (a, b) = (counts.0[copy], counts.1[copy]);
        return Outcome::Differ(format!("copy {copy} is counted {a} times by reference, {b} times by cpu"));
    }
    if told.0 != told.1 {
        let hit =
            (0..told.0.len()).find(|&hit| told.0.at_hit(hit) != told.1.at_hit(hit)).expect("they differ");
        let (a, b) = (told.0.at_hit(hit), told.1.at_hit(hit));
        return Outcome::Differ(format!("at hit {hit} reference finds copies {a:?}, cpu {b:?}"));
    }
    let told = told.1;
    let mut sums = vec![0; cpu.info().copies[0]];
    for hit in 0..told.len() {
        let copies = told.at_hit(hit);
        copies.iter().for_each(|&copy| sums[copy as usize] += 1);
        if (told.lowest(hit), told.count(hit)) != (copies.first().copied(), copies.len()) {
            return Outcome::Differ(format!(
                "at hit {hit} the lowest copy or their number is not of {copies:?}"
            ));
        }
    }
    if sums != counts.1 || told.sums() != counts.1 {
        return Outcome::Differ("the copies of each hit do not sum up to the counts of the copies".into());
    }
    let hits = fast.count();
    Outcome::Same(Box::new(prepared), hits)
}

/// Returns the answers to a query on a block, as if the block were the whole database.
fn answers(engine: &dyn Engine, block: &Block, wanted: Wants) -> Answers {
    let (outputs, last_game) = ([wanted], Some(block.games_len() as u32));
    let request = BlockRequest { last_game, ..BlockRequest::all(&outputs) };
    engine.scan(&[block], &request).unwrap().remove(0).remove(0)
}

/// Returns a message about the first slot (position) at which the results of two engines differ.
fn difference(engines: [&str; 2], slow: &Hits, fast: &Hits, block: &Block) -> Option<String> {
    if slow.bits.len() != fast.bits.len() {
        return Some("the numbers of segments differ".into());
    }
    let mut fault = None;
    for_each_slot(block, |slot| {
        let k = slot.slot;
        let (a, b) = (slow.contains(k), fast.contains(k));
        let same = a == b
            && match (&slow.values, &fast.values) {
                (Values::None, Values::None) => true,
                (Values::Sets(x), Values::Sets(y)) => x.get(k) == y.get(k),
                (Values::Numbers(x), Values::Numbers(y)) => x.get(k) == y.get(k),
                // Only `reference` computes strings, so a missing string is not a difference.
                (Values::Texts(_), Values::None) => true,
                (Values::Texts(_), Values::Texts(_)) => slow.text(k) == fast.text(k),
                _ => false,
            };
        if !same && fault.is_none() {
            let value = |hits: &Hits| match &hits.values {
                Values::None | Values::Texts(_) => hits.contains(k).to_string(),
                Values::Sets(sets) => format!("{:#x}", sets.at(k)),
                Values::Numbers(_) if !hits.contains(k) => "no value".into(),
                Values::Numbers(numbers) => numbers[k].to_string(),
            };
            let fen = fen(&slot.position);
            fault = Some(format!(
                "{} {}, {} {} on {fen} (slot {k}, ply {}, initial {}, terminal {})",
                engines[0],
                value(slow),
                engines[1],
                value(fast),
                slot.ply,
                slot.initial,
                slot.terminal
            ));
        }
    });
    // The hit bits after the last slot belong to no position, but must also be equal.
    fault.or_else(|| (slow.bits != fast.bits).then(|| "bits beyond the last slot differ".into()))
}

fn fen(position: &Position) -> String {
    shakmaty::fen::Fen::try_from_setup(position.to_setup()).map_or_else(|_| "?".into(), |fen| fen.to_string())
}

/// The case that a seed produces.
struct Case {
    term: Term,
    query: TypedQuery,
    block: Block,
    /// The optimisations that are disabled, as bits.
    mask: u32,
}

/// Returns the query that a seed generates, and the block (group of games) on which it runs. Returns `None` if the parser rejects
/// the query.
fn case(seed: u64, real: &[Position]) -> Option<Case> {
    let mut rng = Rng::new(seed);
    let term = Generator::new(&mut rng).query();
    let query = orbit_query::parse(&term.text()).ok()?.query;
    let count = *rng.pick(&[20, 60, 110]);
    let block = block_of_games(positions::games(&mut rng, &query, real, count));
    let mask = if rng.percent(50) { 0 } else { rng.below(runners::NONE as usize + 1) as u32 };
    Some(Case { term, query, block, mask })
}

fn is_balanced(hits: u64, block: &Block) -> bool {
    (5..=95).contains(&(100 * hits / block.slots() as u64))
}

/// Compares the engines on the query that a seed generates, on the block generated for it, and counts the outcome in `seen`.
fn run(seed: u64, real: &[Position], seen: &mut Seen) {
    let Some(Case { term, query, block, mask }) = case(seed, real) else {
        seen.unread += 1;
        return;
    };
    let options = runners::without(mask);
    match compare(&query, &block, options) {
        Outcome::Refused => seen.refused += 1,
        Outcome::Same(prepared, hits) => {
            seen.queries += 1;
            seen.positions += block.slots() as u64;
            seen.hits += hits;
            seen.balanced += u64::from(is_balanced(hits, &block));
            seen.copies += prepared.planner.copies() as u64;
            seen.note_query(&query);
            seen.note_plan(&prepared.planner.hits().notes);
        }
        Outcome::Differ(_) => {
            let small = shrink(term, &block, options);
            let text = small.text();
            let query = orbit_query::parse(&text).expect("it was read while shrinking").query;
            let fault = match compare(&query, &block, options) {
                Outcome::Differ(fault) => fault,
                _ => "differs no more".into(),
            };
            seen.faults.push(format!("seed {seed}, {options:?}\n  {text}\n  {fault}"));
        }
    }
}

fn shrink(term: Term, block: &Block, options: PlanOptions) -> Term {
    term.shrink(&mut |text| {
        orbit_query::parse(text)
            .is_ok_and(|parsed| matches!(compare(&parsed.query, block, options), Outcome::Differ(_)))
    })
}

/// Returns positions of real games if they are available, and random positions otherwise.
fn real_positions() -> Vec<Position> {
    let mut rng = Rng::new(1);
    let mut out = positions::random_games(&mut rng, 400);
    for name in ["otb.pgn", "fen.pgn"] {
        let Some(corpus) = corpus_if_any() else { break };
        let blocks = blocks_of(&corpus.join(name));
        let games: usize = blocks.iter().map(Block::games_len).sum();
        for_each_slot(&every_nth_game(&blocks, 7, games / 60), |slot| {
            if slot.slot % 5 == 0 {
                out.push(slot.position);
            }
        });
    }
    out
}

impl Seen {
    fn is_rare(&self, op: &str) -> bool {
        self.ops.get(op).is_none_or(|&count| count < FILTERS_DUE)
    }

    fn rare_filters(&self) -> Vec<String> {
        all_kinds().into_iter().filter(|op| self.is_rare(op)).collect()
    }

    fn rare_strategies(&self) -> Vec<&'static str> {
        let is_rare = |name: &&str| self.notes.get(name).is_none_or(|&count| count < STRATEGIES_DUE);
        ["anchors", "grids", "tables", "unrolled"].into_iter().filter(is_rare).collect()
    }
}

/// Returns true if the query uses an operation or a planning strategy that is still too rare.
fn has_rare(case: &Case, seen: &Seen, strategies: &[&str]) -> bool {
    let mut rare = false;
    case.query.body.walk(&mut |node| rare |= seen.is_rare(&operation(node)));
    let plan = || PreparedQuery::new(case.query.clone(), runners::without(case.mask)).ok();
    rare || !strategies.is_empty()
        && plan().filter(|prepared| prepared.planner.refusal().is_none()).is_some_and(|prepared| {
            let mut of_case = Seen::default();
            of_case.note_plan(&prepared.planner.hits().notes);
            strategies.iter().any(|name| of_case.notes.get(name).is_some_and(|&count| count > 0))
        })
}

/// Tries more seeds of a part until every filter and every planning strategy has occurred often enough.
fn run_rare(mut seed: u64, real: &[Position], seen: &mut Seen) {
    let end = seed + SEEDS_MAX * PARTS as u64;
    while seen.faults.is_empty() && seed < end {
        let (filters, strategies) = (seen.rare_filters(), seen.rare_strategies());
        if filters.is_empty() && strategies.is_empty() {
            break;
        }
        if case(seed, real).is_some_and(|case| has_rare(&case, seen, &strategies)) {
            run(seed, real, seen);
        }
        seed += PARTS as u64;
    }
}

/// Runs seeds on two threads until the required number is reached or the time is up. The seeds are divided into parts by their
/// remainder modulo [`PARTS`], and the parts run one after the other.
fn run_all(first_seed: u64) -> Seen {
    let seconds = std::env::var("ORBIT_FUZZ_SECONDS").ok().map(|text| text.parse().expect("seconds"));
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let real = real_positions();
    let due = if length() == Length::Sample { SAMPLE_DUE } else { QUERIES_DUE };
    let mut all = Seen::default();
    for part in length().parts() {
        let seed = |k: u64| first_seed + k * PARTS as u64 + part as u64;
        let next = AtomicU64::new(0);
        let total = Mutex::new(Seen::default());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut seen = Seen::default();
                    loop {
                        let k = next.fetch_add(1, Ordering::Relaxed);
                        let enough = k >= due && end.is_none_or(|end| Instant::now() >= end);
                        if enough || seen.faults.len() >= 10 {
                            break;
                        }
                        run(seed(k), &real, &mut seen);
                    }
                    total.lock().unwrap().add(seen);
                });
            }
        });
        let mut seen = total.into_inner().unwrap();
        if length() != Length::Sample {
            run_rare(seed(due), &real, &mut seen);
            let rare = (seen.rare_filters(), seen.rare_strategies());
            let is_enough = !seen.faults.is_empty() || (rare.0.is_empty() && rare.1.is_empty());
            assert!(is_enough, "too rare among {SEEDS_MAX} seeds of part {part}: {rare:?}");
        }
        all.add(seen);
    }
    all
}

#[test]
fn cpu_agrees_with_reference_on_generated_queries() {
    let first = std::env::var("ORBIT_FUZZ_SEED").ok().map_or(0, |text| text.parse().expect("a seed"));
    let seen = run_all(first);
    eprintln!(
        "{} queries on {} positions, {} hits, {} balanced, {} copies, {} refused, {} unread; plans {:?}",
        seen.queries,
        seen.positions,
        seen.hits,
        seen.balanced,
        seen.copies,
        seen.refused,
        seen.unread,
        seen.notes
    );
    assert!(seen.faults.is_empty(), "{} faults:\n{}", seen.faults.len(), seen.faults.join("\n"));
    // The generator is also tested: most queries must be valid and must match at some positions, but not at every position; and
    // every filter and every planning strategy must occur.
    let read = seen.queries + seen.refused + seen.unread;
    assert!(10 * seen.queries > 7 * read, "{} of {read} queries are compared", seen.queries);
    assert!(4 * seen.balanced > seen.queries, "{} of {} are balanced", seen.balanced, seen.queries);
    let known = all_kinds();
    let unknown: Vec<&String> =
        seen.ops.keys().filter(|op| !known.contains(op) && !op.starts_with("Tag(")).collect();
    assert!(unknown.is_empty(), "filters that are not listed: {unknown:?}");
}

#[test]
fn terms_shrink_to_what_fails() {
    let mut rng = Rng::new(5);
    let mut found = 0;
    for _ in 0..200 {
        let term = Generator::new(&mut rng).query();
        if term.text().contains("sqrt") {
            found += 1;
            let small = term.shrink(&mut |text| text.contains("sqrt"));
            let text = small.text();
            assert!(text.contains("sqrt") && text.len() < 60, "{text}");
        }
    }
    assert!(found > 0);
}
