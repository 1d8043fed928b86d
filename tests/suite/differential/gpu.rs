//! Runs generated queries, and compares `gpu` with `cpu`. The test in the parent module compares `cpu` with `reference`.
//!
//! Both tests use the same seeds, queries and positions. Each query first runs on `cpu` alone, to determine its hit rate and the
//! operations in its plans. Only a limited share of the queries may match almost nowhere or almost everywhere. After the required
//! number of queries, further queries are used only if they contain an operation that is still rare. A long run is divided into
//! parts, each with its own seeds, and these rules hold for each part.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use orbit_core::board::Position;
use orbit_engine::{
    Engine, EngineError, PreparedQuery, Wants,
    gpu::{GpuError, Variant},
};
use orbit_plan::{Made, Op, Program, Step};
use orbit_query::TypedQuery;
use orbit_reel::Block;

use super::{Case, case, catching, difference, is_balanced, real_positions};
use crate::common::{
    harness::GPU,
    length::{Length, PARTS, length},
};
use crate::runners::{self, Runner};

/// The minimum numbers of queries in each part of the seeds, and the number of seeds that run together.
struct Due {
    /// The number of queries that are compared before the search for rare operations begins.
    queries: usize,
    /// The minimum number of queries that must use each operation. It is 0 for the sample (the short form of the test), which
    /// need not contain every operation.
    occurrences: usize,
    /// The number of seeds that run together.
    seeds_at_once: u64,
}

const OF_A_PART: Due = Due { queries: 175, occurrences: 2, seeds_at_once: 250 };
const OF_A_SAMPLE: Due = Due { queries: 60, occurrences: 0, seeds_at_once: 100 };

/// The maximum percentage of queries that match almost nowhere or almost everywhere.
const UNBALANCED_PERCENT: usize = 40;

/// The maximum number of steps in a compiled plan, and the maximum number of these steps that are loops or compute moves. A
/// software driver needs minutes to compile longer plans.
const STEPS_MAX: usize = 500;
const LOOPS_MAX: usize = 8;

/// The maximum number of seeds that are tried in a sample and in each part of a long run.
const SEEDS_MAX: u64 = 150_000;

/// Returns the name of an operation in a plan. Operations that are compiled in different ways get different names.
fn operation(op: Op) -> String {
    match op {
        Op::Pawn { white, .. } => format!("Pawn white {white}"),
        Op::PureMen { mate, .. } => format!("PureMen mate {mate}"),
        Op::Slide { dir, .. } => format!("Slide {dir}"),
        Op::Compare(cmp, ..) => format!("Compare {cmp:?}"),
        Op::Legal { left: true, .. } => "Legal left".into(),
        Op::Legal { pseudo, only, .. } => format!("Legal pseudo {pseudo} {only:?}"),
        Op::LegalCount { pseudo, only, .. } => format!("LegalCount pseudo {pseudo} {only:?}"),
        other => first_word(&format!("{other:?}")),
    }
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric()).collect()
}

/// Returns the names of the operations of a compiled plan, including its inputs and loops.
fn operations(program: &Program) -> BTreeSet<String> {
    let inputs =
        program.inputs.iter().map(|(input, _)| format!("Input {}", first_word(&format!("{input:?}"))));
    let mut out: BTreeSet<String> = inputs.collect();
    for stage in &program.stages {
        out.extend(operations(&stage.program));
        // Operations about games are not counted here, because the tests in `gpu_games` cover them.
        out.extend(stage.carried.iter().filter_map(|it| match &it.what {
            Made::Along { what, back } => Some(format!("Carry {what:?} back {back}")),
            Made::Game(_) => None,
        }));
    }
    // For each open loop, the scalars that hold the current row of the loop's table. All other scalars are constant within the
    // loops.
    let mut rows: Vec<std::ops::Range<u32>> = Vec::new();
    for step in &program.steps {
        let from =
            |scalar: u32| if rows.iter().any(|row| row.contains(&scalar)) { "row" } else { "constant" };
        out.insert(match step {
            Step::Do { op, .. } => operation(*op),
            Step::Splat { scalar, .. } => format!("Splat {}", from(scalar.0)),
            Step::AndScalar { scalar, .. } => format!("AndScalar {}", from(scalar.0)),
            Step::OrScalar { scalar, .. } => format!("OrScalar {}", from(scalar.0)),
            Step::Chain { chain, .. } => {
                for term in &chain.terms {
                    out.insert(format!("Chain {:?} {}", chain.op, from(term.keep.0)));
                    out.extend(term.not.then(|| format!("Chain {:?} not", chain.op)));
                    out.extend((term.by > 0).then(|| format!("Chain {:?} up", chain.op)));
                    out.extend((term.by < 0).then(|| format!("Chain {:?} down", chain.op)));
                }
                continue;
            }
            Step::Begin { table, first, reduce, .. } => {
                let width = program.tables[*table].first().map_or(0, Vec::len) as u32;
                rows.push(first.0..first.0 + width);
                match rows.len() {
                    1 => format!("Loop {reduce:?}"),
                    _ => "Inner loop".into(),
                }
            }
            Step::Answer { .. } => continue,
            Step::End { .. } => {
                rows.pop();
                continue;
            }
        });
    }
    out
}

/// Returns true if a software driver compiles a program quickly.
pub(super) fn is_short(program: &Program) -> bool {
    let is_loop = |step: &&Step| match step {
        Step::Begin { .. } => true,
        Step::Do { op, .. } => op.takes_whole_positions(),
        _ => false,
    };
    let (chains, terms) = program.chains();
    program.stages.iter().all(|stage| is_short(&stage.program))
        && program.steps.len() - chains + terms <= STEPS_MAX
        && program.steps.iter().filter(is_loop).count() <= LOOPS_MAX
}

/// Returns all names that [`operations`] can return.
fn all_operations() -> Vec<String> {
    let mut out: Vec<String> = "And|Or|AndNot|Xor|Not|Select|Step|FillRanks|FillFiles|\
        Knight|King|Pawn white true|Pawn white false|Walk|NonEmpty|Single|\
        Count|Rank|File|Content|MakeSquare|Add|Sub|Mul|Div|Rem|Sqrt|Max|NoMoves|PureMen mate true|PureMen mate false|Compare Eq|Compare Ne|\
        Compare Lt|Compare Le|Compare Gt|Compare Ge|Splat row|Splat constant|AndScalar row|AndScalar constant|\
        OrScalar row|OrScalar constant|Loop Or|Loop Max|Loop Count|Inner loop|Input Plane|Input WhiteToMove|Input Initial|Input Terminal|Input Ply|Input Carried|Input GameMask|\
        Input GameNumber"
        .split('|')
        .map(String::from)
        .collect();
    out.extend((0..8).map(|dir| format!("Slide {dir}")));
    for what in ["Any", "Count", "Nearest", "Union"] {
        out.extend([false, true].map(|back| format!("Carry {what} back {back}")));
    }
    for op in ["Or", "And"] {
        out.extend(["row", "constant", "not", "up", "down"].map(|way| format!("Chain {op} {way}")));
    }
    out.extend(["Meet row", "Meet constant", "Meet not", "Sum constant"].map(|way| format!("Chain {way}")));
    for moves in ["Legal", "LegalCount"] {
        for pseudo in [false, true] {
            let kinds = ["Any", "Castle", "KingSide", "QueenSide", "EnPassant"];
            out.extend(kinds.map(|only| format!("{moves} pseudo {pseudo} {only}")));
        }
    }
    out
}

/// A query that can be compared.
struct Candidate {
    seed: u64,
    case: Case,
    /// True if not only the hits are compared, but also values and the numbers of matching copies (transformed patterns). These
    /// comparisons need two more kernels.
    values: bool,
    balanced: bool,
    /// The operations of all plans that are compiled to kernels.
    operations: BTreeSet<String>,
}

/// Returns the query that a seed generates; `None` if there is nothing to compare.
fn candidate(seed: u64, real: &[Position]) -> Option<Candidate> {
    let case = case(seed, real)?;
    let prepared = PreparedQuery::new(case.query.clone(), runners::without(case.mask)).ok()?;
    if prepared.planner.refusal().is_some() {
        return None;
    }
    let hits = prepared.cpu().unwrap().answer(&case.block, Wants::HITS).ok()?.hits.count();
    let values = (seed / PARTS as u64).is_multiple_of(2);
    let mut programs = vec![prepared.planner.hits().program];
    if values && hits > 0 {
        programs.extend([prepared.planner.values().program, prepared.planner.each_copy().program]);
    }
    if !programs.iter().all(is_short) {
        return None;
    }
    let operations = programs.iter().flat_map(operations).collect();
    Some(Candidate { seed, values, balanced: is_balanced(hits, &case.block), operations, case })
}

/// Runs a query on `gpu` and `cpu`. Returns a message if the results differ or an engine fails.
pub(super) fn fault(
    query: &TypedQuery,
    block: &Block,
    mask: u32,
    values: bool,
    variant: Variant,
) -> Option<String> {
    let compare = || -> Result<Option<String>, String> {
        let gpu = Runner::variant(mask, variant).expect("there was an adapter before").engine(query)?;
        let cpu = Runner::cpu(mask).engine(query)?;
        let want = if values { Wants::VALUES } else { Wants::HITS };
        let scan = |engine: &dyn Engine, want| engine.answer(block, want).map_err(|error| error.to_string());
        let (slow, fast) = match gpu.answer(block, want) {
            // On a software adapter, the engine rejects queries for which the adapter's results would be wrong.
            Err(EngineError::Gpu(GpuError::TooLong { .. })) => return Ok(None),
            fast => (scan(&*cpu, want)?.hits, fast.map_err(|error| error.to_string())?.hits),
        };
        if let Some(fault) = difference(["cpu", "gpu"], &slow, &fast, block) {
            return Ok(Some(fault));
        }
        if !values {
            return Ok(None);
        }
        if cpu.info().copies[0] != gpu.info().copies[0] {
            return Ok(Some(format!("copies: cpu {}, gpu {}", cpu.info().copies[0], gpu.info().copies[0])));
        }
        let (slow, fast) = match gpu.answer(block, Wants::ALL_COPIES) {
            Err(EngineError::Gpu(GpuError::TooLong { .. })) => return Ok(None),
            fast => (scan(&*cpu, Wants::ALL_COPIES)?, fast.map_err(|error| error.to_string())?),
        };
        let (Some(slow), Some(fast)) = (slow.copies, fast.copies) else {
            return Ok(Some("an engine tells nothing of copies".into()));
        };
        let hit = (0..slow.len()).find(|&hit| slow.at_hit(hit) != fast.at_hit(hit));
        let differs = hit
            .map(|hit| format!("at hit {hit} cpu finds {:?}, gpu {:?}", slow.at_hit(hit), fast.at_hit(hit)));
        Ok(differs.or_else(|| (slow != fast).then(|| "the counts of copies differ".into())))
    };
    catching(compare).and_then(|found| found).unwrap_or_else(Some)
}

/// One in this many queries also runs with kernels of another variant, a different one each time.
const VARIANT_EVERY: u64 = 8;

/// Compares the results of `gpu` and `cpu` for a case. If they differ, returns a message about the smallest query with different
/// results. The case also runs with the kernel variant in which the processor, not the device, computes the columns (a bit or a
/// value per position) that carry results along games.
fn explain(candidate: &Candidate, variants: &[Variant]) -> Option<String> {
    let Candidate { seed, case: Case { term, query, block, mask }, values, operations, .. } = candidate;
    let carries = operations.iter().any(|name| name.starts_with("Carry "));
    let by_host = carries.then(|| "hostcarry".parse().expect("it is a variant"));
    let number = seed / PARTS as u64;
    let others = number.is_multiple_of(VARIANT_EVERY).then(|| {
        // Neighbouring variants are similar, so the next query uses a variant far away in the list.
        variants[(seed / VARIANT_EVERY * 37) as usize % variants.len()]
    });
    let mut kernels = [Variant::default()].into_iter().chain(by_host).chain(others);
    let (variant, first) = kernels
        .find_map(|variant| fault(query, block, *mask, *values, variant).map(|first| (variant, first)))?;
    let small = term.clone().shrink(&mut |text| {
        orbit_query::parse(text)
            .is_ok_and(|parsed| fault(&parsed.query, block, *mask, *values, variant).is_some())
    });
    let text = small.text();
    let query = orbit_query::parse(&text).expect("it was read while shrinking").query;
    let fault = fault(&query, block, *mask, *values, variant).unwrap_or(first);
    Some(format!("seed {seed}, {variant}, {:?}\n  {text}\n  {fault}", runners::without(*mask)))
}

/// Calls a function for each item, on two threads. The results are in the order of the items.
fn on_two_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let out = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((index, item)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    let result = work(item);
                    out.lock().unwrap().insert(index, result);
                }
            });
        }
    });
    out.into_inner().unwrap().into_values().collect()
}

#[test]
fn gpu_agrees_with_cpu_on_generated_queries() {
    GPU.met(Runner::gpu(0));
    let real = real_positions();
    let due = if length() == Length::Sample { OF_A_SAMPLE } else { OF_A_PART };
    length().parts().for_each(|part| compare_part(part as u64, &due, &real));
}

fn compare_part(part: u64, due: &Due, real: &[Position]) {
    let variants = Runner::every_variant();
    let &Due { queries: due, occurrences, seeds_at_once } = due;
    let mut seen: BTreeMap<String, usize> = all_operations().into_iter().map(|name| (name, 0)).collect();
    let known = seen.len();
    let (mut queries, mut balanced, mut extra, mut next) = (0, 0, 0, 0);
    let mut faults = Vec::new();
    while faults.is_empty()
        && next < SEEDS_MAX
        && (queries < due || seen.values().any(|&count| count < occurrences))
    {
        let seeds: Vec<u64> = (next..next + seeds_at_once).map(|k| k * PARTS as u64 + part).collect();
        next += seeds_at_once;
        let mut chosen = on_two_threads(&seeds, |&seed| candidate(seed, real));
        chosen.retain(|candidate| {
            let Some(candidate) = candidate else { return false };
            let is_rare = |name: &String| seen.get(name).is_none_or(|&count| count < occurrences);
            let is_taken = if queries < due {
                candidate.balanced || queries - balanced < due * UNBALANCED_PERCENT / 100
            } else {
                candidate.operations.iter().any(is_rare)
            };
            if is_taken {
                // Queries that are added for rare operations may have any hit rate.
                extra += usize::from(queries >= due);
                balanced += usize::from(queries < due && candidate.balanced);
                queries += 1;
                for name in &candidate.operations {
                    *seen.entry(name.clone()).or_default() += 1;
                }
            }
            is_taken
        });
        let chosen: Vec<Candidate> = chosen.into_iter().flatten().collect();
        faults
            .extend(on_two_threads(&chosen, |candidate| explain(candidate, &variants)).into_iter().flatten());
    }
    let rarest = seen.iter().min_by_key(|(_, count)| **count).expect("there are operations");
    eprintln!(
        "part {part}: {queries} queries of {next} seeds, {balanced} balanced, {extra} for rare operations; of {known} \
         operations the rarest is {} with {}",
        rarest.0, rarest.1
    );
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    // The generator is also tested: every operation must occur, and the queries must match at some positions, but not at every
    // position.
    let rare: Vec<_> = seen.iter().filter(|(_, count)| **count < occurrences).collect();
    assert!(rare.is_empty(), "operations that occur in less than {occurrences} queries: {rare:?}");
    let listed = all_operations();
    let others: Vec<_> = seen.keys().filter(|&name| !listed.contains(name)).collect();
    assert!(others.is_empty(), "operations that are not listed: {others:?}");
    assert!(2 * balanced >= queries - extra, "{balanced} of {} are balanced", queries - extra);
}
