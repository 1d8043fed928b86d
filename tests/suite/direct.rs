//! Tests queries whose results are exactly the bits that a stage (the part of a plan that runs first) computes along games. For
//! these queries, no further program runs over the positions.

use orbit_engine::{Answers, BlockRequest, Engine, PreparedQuery, Wants, cpu::Cpu, plans};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use crate::common::{length::stride, some_and_small};

/// Queries that consist only of a search through other positions of the game.
const CARRIED: [&str; 4] = ["--(check)", "find mate", "line --> check --> not check", "find <-- [x]"];

/// Queries that compute a value from matches at other positions, without reading any square of the current position.
const COMPUTED: [&str; 4] = [
    "not find mate",
    "2 <= find all check",
    "find check find <-- [x]",
    "(shift flip flipcolor count find {Nd4 kf3}) >= 2",
];

/// The results of queries that run together, and two properties of their plan.
struct Found {
    /// The hits of each query on each block (group of games).
    hits: Vec<Vec<Vec<u32>>>,
    /// True if the results are exactly the bits of a stage (a part of the plan that runs first), so that no further program runs.
    is_carried: bool,
    /// True if the plan's program reads positions; false if it reads only the results of stages.
    positions: bool,
}

fn found(blocks: &[&Block], texts: &[&str], direct: bool) -> Found {
    let prepare = |text: &&str| {
        let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        PreparedQuery::new(parsed.query, PlanOptions { direct, ..PlanOptions::default() }).unwrap()
    };
    let prepared: Vec<PreparedQuery> = texts.iter().map(prepare).collect();
    let plans = plans(&prepared).unwrap();
    let plan = plans.hits(0..texts.len());
    let (is_carried, positions) = (plan.carried.is_some(), plan.program.positions);
    let outputs = vec![Wants::HITS; texts.len()];
    let answers = Cpu::new(plans).scan(blocks, &BlockRequest::all(&outputs)).unwrap();
    let bits = |answers: Vec<Answers>| answers.into_iter().map(|answer| answer.hits.bits).collect();
    Found { hits: answers.into_iter().map(bits).collect(), is_carried, positions }
}

/// Returns the results with and without the optimisation `direct`, after checking that both have the same hits.
fn compared(blocks: &[&Block], texts: &[&str]) -> (Found, Found) {
    let (with, without) = (found(blocks, texts, true), found(blocks, texts, false));
    assert!(with.hits == without.hits, "{texts:?}");
    (with, without)
}

/// Compares the hits with and without the optimisation `direct`, for each query alone and for all queries together. Each query must
/// have hits. `holds` checks the properties of both plans.
fn each_and_all(texts: &[&str], holds: impl Fn(&Found, &Found) -> bool) {
    let blocks = some_and_small(true, 1, stride(1, 5));
    let blocks: Vec<&Block> = blocks.iter().collect();
    for texts in texts.chunks(1).chain([texts]) {
        let (with, without) = compared(&blocks, texts);
        assert!(holds(&with, &without), "{texts:?}");
        for (query, text) in texts.iter().enumerate() {
            let of_query = with.hits.iter().flat_map(|of_block| &of_block[query]);
            let count: u32 = of_query.map(|bits| bits.count_ones()).sum();
            assert!(count > 10, "{text}: {count} hits");
        }
    }
}

#[test]
fn carried_answers_are_taken_as_they_are() {
    each_and_all(&CARRIED, |with, without| with.is_carried && !without.is_carried);
}

#[test]
fn what_is_computed_is_not_taken_as_it_is() {
    let blocks = some_and_small(true, 1, stride(1, 5));
    let blocks: Vec<&Block> = blocks.iter().collect();
    for texts in [&["check", "--(check)"][..], &["true", "find mate"], &["find mate check"]] {
        let (with, without) = compared(&blocks, texts);
        assert!(!with.is_carried && !without.is_carried, "{texts:?}");
    }
}

#[test]
fn what_reads_no_square_looks_at_no_position() {
    each_and_all(&COMPUTED, |with, without| {
        !with.is_carried && !without.is_carried && !with.positions && without.positions
    });
}

#[test]
fn what_reads_something_of_a_position_looks_at_it() {
    let blocks = some_and_small(true, 1, stride(1, 5));
    let blocks: Vec<&Block> = blocks.iter().collect();
    for text in
        ["find mate check", "find mate wtm", "find mate initial", "find mate elo>2000", "find mate ply>3"]
    {
        let (with, _) = compared(&blocks, &[text]);
        assert!(with.positions, "{text}");
    }
}
