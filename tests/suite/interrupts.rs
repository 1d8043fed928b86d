//! Tests that engines stop when interrupted, and that they check the interrupt often enough. Also tests the limit on evaluation
//! steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orbit_database::StreamOptions;
use orbit_engine::{BlockRequest, Engine, EngineError, Interrupt, PreparedQuery, Wants};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use crate::{
    common::{corpus_blocks, every_nth_game, harness::GPU, pgn_blocks, pgn_blocks_with},
    runners::{Runner, TIGHT, device_options, open_device},
};

/// The maximum number of times that an engine may check the interrupt after it was set.
const AFTERWARDS_MAX: u64 = 8;

/// Returns an interrupt that is set from its `look`-th check on, and a counter of the checks.
fn set_at(look: u64) -> (Interrupt, Arc<AtomicU64>) {
    let looks = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&looks);
    (Interrupt::from_test(move || counted.fetch_add(1, Ordering::Relaxed) + 1 >= look), looks)
}

/// The minimum length, in half-moves, of games for which the reference engine is not tested, because it checks the interrupt at
/// each position.
const LONG: usize = 1_000;

/// Queries, each with the number of half-moves in its game, the minimum number of steps, and the requested outputs.
const ROWS: &[(&str, usize, u64, Wants)] = &[
    // Filters and loops within one position.
    ("{initial nn=0 while (nn<50000) nn+=1 nn>0}", 1, 50_000, Wants::HITS),
    ("initial and square xx in A square yy in A square zz in A (xx & yy & zz & e5)", 1, 30_000, Wants::HITS),
    // A `line` whose filters assign a variable.
    ("initial line --> ({xx=ply true}* --> {xx=ply true}*){2}", 40, 30_000, Wants::HITS),
    // Searches in a string of a megabyte.
    (
        "{initial tt=\"ab\" while (#tt<1000000) tt=tt+tt nn=0 while (nn<100) {nn+=1 indexof(\"x\" tt)} nn>0}",
        1,
        100_000,
        Wants::HITS,
    ),
    // A regular expression that takes many steps.
    ("initial and (\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\" ~~ \"(a*)*c\")", 1, 5_000_000, Wants::HITS),
    // A long game, with the values and the matching copies (transformed patterns) at hits.
    ("shift {Nf3 ng8}", 60_000, 60_000, Wants::HITS),
    ("A attacks A", 60_000, 60_000, Wants::VALUES),
    ("shift flip {Nf3 n}", 60_000, 60_000, Wants::COPY_COUNTS),
];

/// Returns the maximum number of steps between two checks of the interrupt by an engine.
fn steps_a_look(engine: &str, query: &str) -> u64 {
    match engine {
        _ if query.contains("~~") => 1 << 16,
        "reference" => 1 << 10,
        _ => 1 << 14,
    }
}

#[test]
fn engines_look_and_end() {
    for &(text, moves, steps, outputs) in ROWS {
        let game = ["Nf3", "Nf6", "Ng1", "Ng8"].into_iter().cycle().take(moves).collect::<Vec<_>>().join(" ");
        let block = pgn_blocks(&format!("{game} *\n")).remove(0);
        let prepared =
            PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap();
        let reference = (moves < LONG).then(|| Box::new(prepared.reference().unwrap()) as Box<dyn Engine>);
        let cpu = prepared.cpu().ok().map(|cpu| Box::new(cpu) as Box<dyn Engine>);
        for engine in reference.into_iter().chain(cpu) {
            let scan = |look: u64| {
                let (interrupt, looks) = set_at(look);
                let wanted = [outputs];
                let request = BlockRequest { interrupt: Some(&interrupt), ..BlockRequest::all(&wanted) };
                let answer = engine.scan(&[&block], &request);
                (answer, looks.load(Ordering::Relaxed))
            };
            let (name, (answer, looks)) = (engine.info().name, scan(u64::MAX));
            assert!(!matches!(answer, Err(EngineError::Interrupted)), "{text}, {name}");
            assert!(
                looks >= steps / steps_a_look(name, text),
                "{text}, {name}: {looks} looks in {steps} steps"
            );
            for look in [1, looks / 2, looks] {
                let (answer, looks) = scan(look);
                assert!(matches!(answer, Err(EngineError::Interrupted)), "{text}, {name}, look {look}");
                assert!(looks <= look + AFTERWARDS_MAX, "{text}, {name}, look {look}: {looks} looks");
            }
        }
    }
}

/// Queries for a graphics card: with hits alone, with values, with copies, and with stages (parts that run first). Their work is
/// divided among many uploads and dispatches.
const ON_CARD: [(&str, Wants); 4] = [
    ("Ra1", Wants::HITS),
    ("A attacks A", Wants::VALUES),
    ("shift flip {Nd4 Pe4}", Wants::ALL_COPIES),
    ("find <-- count Nf3 > 2", Wants::VALUES),
];

/// Before each upload and each group of dispatches, the interrupt is checked. After it has been set, the card gets no more work.
#[test]
fn a_card_gets_no_more_work_after_an_interrupt() {
    GPU.met(Runner::tight_gpu());
    let game = ["Nf3", "Nf6", "Ng1", "Ng8"].into_iter().cycle().take(3_000).collect::<Vec<_>>().join(" ");
    let blocks = pgn_blocks(&format!("{game} *\n\n").repeat(40));
    let blocks: Vec<&Block> = blocks.iter().collect();
    let device = open_device(device_options(TIGHT));
    for (text, outputs) in ON_CARD {
        let gpu = prepared(text).gpu(&device).unwrap();
        let scan = |look: u64| {
            let ((interrupt, looks), wanted, before) = (set_at(look), [outputs], device.submissions());
            let request = BlockRequest { interrupt: Some(&interrupt), ..BlockRequest::all(&wanted) };
            let answer = gpu.scan(&blocks, &request);
            (answer, looks.load(Ordering::Relaxed), device.submissions() - before)
        };
        let (answer, looks, submissions) = scan(u64::MAX);
        assert!(answer.is_ok() && submissions >= 8, "{text}: {submissions} submissions");
        assert!(looks >= submissions, "{text}: {looks} looks, {submissions} submissions");
        for look in [1, looks / 2, looks] {
            let (answer, looks, submissions) = scan(look);
            assert!(matches!(answer, Err(EngineError::Interrupted)), "{text}, look {look}");
            assert!(looks <= look + AFTERWARDS_MAX, "{text}, look {look}: {looks} looks");
            assert!(submissions < look, "{text}, look {look}: {submissions} submissions");
        }
    }
}

/// For each side, moves that lead back to the start position.
type Tours = [&'static [&'static str]; 2];

const SHUFFLE: Tours = [&["Nf3", "Ng1"], &["Nf6", "Ng8"]];

/// Moves of the knights. After each move, they protect other pieces than before.
const WALKS: Tours = [
    &["Nf3", "Ne5", "Nc4", "Ne3", "Nd5", "Nf4", "Nd3", "Nc5", "Ne4", "Ng5", "Nf3", "Ng1"],
    &["Nc6", "Nd4", "Nb5", "Nd6", "Nb5", "Nd4", "Nc6", "Nb8", "Na6", "Nb8"],
];

/// Queries that search many other positions from each position of a game. A row has the tours of the game, the number of
/// half-moves, and the minimum number of checks by `cpu`: one per million positions.
const FAR: [(&str, Tours, usize, u64); 4] = [
    // For each set of pieces in the `focus`, all positions are visited once.
    ("path focus ([Nn] | (A attackedby N) | (a attackedby n)) --{1,60}", WALKS, 4_000, 6),
    // From each position, the positions up to the end of its path are visited.
    ("(path lastposition --*):terminal", SHUFFLE, 5_000, 10),
    // From each position, the positions up to a common ancestor are visited.
    ("cql(variations) distance(position 0 currentposition) > 3000", SHUFFLE, 5_000, 10),
    // From each position, all positions that may form a pair with it are visited.
    ("echo (aa bb) #(aa & bb) == 3", SHUFFLE, 5_000, 20),
];

#[test]
fn what_looks_far_from_each_position_is_interrupted() {
    for (text, [white, black], moves, looks_min) in FAR {
        let mut game = String::from("Nh3 (Na3) Nh6 Ng1 Ng8");
        for (white, black) in white.iter().cycle().zip(black.iter().cycle()).take(moves / 2) {
            game += &format!(" {white} {black}");
        }
        let query = orbit_query::parse(text).unwrap().query;
        let mut options = StreamOptions::default();
        options.parse.variations = query.variations;
        let block = pgn_blocks_with(&format!("{game} *\n"), options).remove(0);
        assert!(block.problems().is_empty() && block.slots() > moves, "{text}: {:?}", block.problems());
        let cpu = PreparedQuery::new(query, PlanOptions::default()).unwrap().cpu().unwrap();
        let scan = |look: u64| {
            let ((interrupt, looks), wanted) = (set_at(look), [Wants::HITS]);
            let answer = cpu
                .scan(&[&block], &BlockRequest { interrupt: Some(&interrupt), ..BlockRequest::all(&wanted) });
            (answer, looks.load(Ordering::Relaxed))
        };
        let (answer, looks) = scan(u64::MAX);
        assert!(answer.is_ok() && looks >= looks_min, "{text}: {looks} looks");
        let (answer, after) = scan(looks / 2);
        assert!(matches!(answer, Err(EngineError::Interrupted)), "{text}");
        assert!(after <= looks / 2 + AFTERWARDS_MAX, "{text}: {after} looks, of {looks}");
    }
}

/// In the reference engine, an annotation at a position counts as one step, as does the position itself.
#[test]
fn comments_and_glyphs_are_counted() {
    for (text, annotations) in [
        ("{ply==1 nn=0 while (nn<100) {nn+=1 originalcomment \"zz\" or true} nn>0}", "{a} ".repeat(50_000)),
        ("{ply==1 nn=0 while (nn<100) {nn+=1 originalcomment \"?\" or true} nn>0}", "$1 ".repeat(50_000)),
        (
            "{ply==1 nn=0 while (nn<100) {nn+=1 originalcomment \"zz\" or true} nn>0}",
            format!("{{a{}b}}", " ".repeat(1 << 20)),
        ),
    ] {
        let mut options = StreamOptions::default();
        options.parse.annotations = true;
        let block = pgn_blocks_with(&format!("Nf3 {annotations} Nf6 Ng1 *\n"), options).remove(0);
        let prepared =
            PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap();
        let ((interrupt, looks), wanted) = (set_at(u64::MAX), [Wants::HITS]);
        let request = BlockRequest { interrupt: Some(&interrupt), ..BlockRequest::all(&wanted) };
        let answers = prepared.reference().unwrap().scan(&[&block], &request).unwrap();
        assert_eq!(answers[0][0].hits.count(), 1, "{text}");
        let looks = looks.load(Ordering::Relaxed);
        assert!(looks > 50, "{text}: {looks} looks");
    }
}

/// Queries whose evaluation takes very long, mostly hours, even on a game of forty half-moves. Each has the name of the repeated
/// operation.
const ENDLESS: [(&str, &str); 11] = [
    ("positions that are found", "find all find all find all find all find all find all find all check"),
    ("the first position that is found", "find find find find find find find find find find check"),
    (
        "squares of positions by themselves",
        "square xx in . square yy in . square zz in . square ww in . xx & yy & zz & ww",
    ),
    (
        "the squares of a direction",
        "square xx in . square yy in . square zz in . up up up up down down down down xx & yy & zz",
    ),
    (
        "numbers at pairs of positions",
        "sort echo(aa bb) echo(cc dd) echo(ee ff) echo(gg hh) echo(ii jj) ply+1",
    ),
    (
        "numbers of positions that are found",
        "find all ((find all (find all (find all (find all ply)))+1)>99)",
    ),
    ("repeats of repeats", "line --> ((((R{1,9}){1,9}){1,9}){1,9})"),
    ("moves on a path", "path (((([Aa]--{1,9}){1,9}){1,9}){1,9})"),
    (
        "searches with a regular expression",
        "initial nn=0 while (nn<200) {nn+=1 \"aaaaaaaaaaaaaaab\" ~~ \"(a*)*c\"} true",
    ),
    (
        "groups of a regular expression",
        "initial tt=\"ab\" while (#tt<1000000) tt=tt+tt while (tt~~\"(?=(.*))\") true",
    ),
    (
        "strings",
        "initial tt=\"ab\" while (#tt<8000000) tt=tt+tt nn=0 while (nn<20) {nn+=1 indexof(tt+\"c\" tt+tt)} true",
    ),
];

/// The reference engine aborts queries that exceed the step limit. The message locates the abort in the game and in the query.
#[test]
fn steps_end_what_takes_long() {
    const STEPS_MAX: u64 = 30_000;
    let game = ["Nf3", "Nf6", "Ng1", "Ng8"].into_iter().cycle().take(40).collect::<Vec<_>>().join(" ");
    let block = pgn_blocks(&format!("{game} *\n")).remove(0);
    // The engine checks the interrupt every 1,024 steps, and also at each position.
    let looks_max = block.slots() as u64 + STEPS_MAX / 1024 + AFTERWARDS_MAX;
    for (name, text) in ENDLESS {
        let prepared =
            PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap();
        let reference = prepared.reference().unwrap().with_steps_max(STEPS_MAX);
        let ((interrupt, _), wanted) = (set_at(looks_max), [Wants::VALUES]);
        let request = BlockRequest { interrupt: Some(&interrupt), ..BlockRequest::all(&wanted) };
        match reference.scan(&[&block], &request) {
            Err(EngineError::Query { place, diagnostic, .. }) => {
                assert_eq!(diagnostic.message, "the query takes too many steps in one game", "{name}");
                let span = diagnostic.span;
                assert!(span.start < span.end && span.end <= text.len(), "{name}: {span:?}");
                assert!(!place.is_empty(), "{name}");
            }
            Err(error) => panic!("{name}: {error}"),
            Ok(_) => panic!("{name}: it ends"),
        }
    }
}

/// Queries with nested loops over squares or pieces. Each is compiled to a flat program (the form for queries with state).
const NESTED: &[&str] = &[
    "square x in [qrnb] {square y in [QRBN] {y attacks x square z in [QRBN] {z attacks x not y == z z attacks k}}}",
    "square x in [qrnbp] {square y in [QRB] {pin from y through x to k square z in [QRB] {pin from z through x to q y != z}}}",
    "square x in A {square y in a {x attacks y square z in A {z attacks y z != x}}}",
    "square x in A {square y in a {square z in . {between(x y) & z z attackedby x}}}",
    "piece X in [QRB] {piece Y in a {pin from X through Y}}",
    "piece X in [Aa] {square y in [QRBqrb] {pin from y through X}}",
    "#(piece X in A {piece Y in a {X attacks Y}})",
    "square x in A {square y in a {x attacks y}}",
    "flip flipcolor {square x in Ra1-4 {square y in ka5-8 {x attacks y}}}",
    "shift {square x in Pa2 {square y in pb3 {x attacks y}}}",
    "path -- (square x in A {square y in a {x attacks y}}) --",
];

/// Queries in which a filter of an inner loop does not depend on the loop's square, each with an equivalent query in which this
/// filter was moved out of the loop by hand.
const OUTSIDE: &[(&str, &str)] = &[
    (
        "square x in A {square y in a {square z in A {z attacks y x attacks y z!=x}}}",
        "square x in A {square y in a {x attacks y square z in A {z attacks y z!=x}}}",
    ),
    (
        "piece X in A {square y in a {square z in a {power X>2 y attacks z}}}",
        "piece X in A {power X>2 square y in a {square z in a {y attacks z}}}",
    ),
    (
        "piece X in A {square all y in a {X attacks y power X>2}}",
        "piece X in A {#a==0 or {power X>2 square all y in a {X attacks y}}}",
    ),
];

/// The minimum number of steps of the reference engine, which is large enough to make the interval between checks negligible.
const NESTED_STEPS: u64 = 100_000;

fn prepared(text: &str) -> PreparedQuery {
    PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap()
}

/// Returns how often an engine checks the interrupt.
fn looks(engine: &dyn Engine, block: &Block) -> u64 {
    let (interrupt, looks) = set_at(u64::MAX);
    let request = BlockRequest { interrupt: Some(&interrupt), ..BlockRequest::all(&[Wants::HITS]) };
    engine.scan(&[block], &request).unwrap();
    looks.load(Ordering::Relaxed)
}

#[test]
fn filters_that_do_not_depend_on_a_loop_are_evaluated_outside() {
    let block = every_nth_game(&corpus_blocks("otb.pgn"), 40, 20);
    for &(text, by_hand) in OUTSIDE {
        let [iterations, due] = [text, by_hand].map(|text| {
            let prepared = prepared(text);
            assert!(prepared.planner.is_program(), "{text}");
            looks(&prepared.cpu().unwrap(), &block)
        });
        assert!(iterations <= due, "{text}: {iterations} checks, {due} if a person takes the filter out");
    }
}

/// Compares the number of loop iterations in a plan with the number of steps of the reference engine, which are filter
/// evaluations.
#[test]
fn nested_loops_take_no_more_steps_than_in_the_reference_engine() {
    let block = every_nth_game(&corpus_blocks("otb.pgn"), 40, 100);
    let looks = |engine: &dyn Engine| looks(engine, &block);
    // The engine also checks the interrupt without counting a step, about once per position. These checks are subtracted.
    let idle = looks(&prepared("check").reference().unwrap());
    for number in crate::common::length::trials(NESTED.len(), 2) {
        let text = NESTED[number];
        let prepared = prepared(text);
        assert!(prepared.planner.is_program(), "{text}");
        let steps = (looks(&prepared.reference().unwrap()) - idle) * steps_a_look("reference", text);
        let iterations = looks(&prepared.cpu().unwrap()) * steps_a_look("cpu", text);
        assert!(steps >= NESTED_STEPS, "{text}: {steps} steps");
        assert!(
            iterations <= steps,
            "{text}: {iterations} iterations, {steps} steps of the reference engine"
        );
    }
}
