//! Answers that are carried along games as they are: no program runs over the positions for them.

use orbit_chess::internals::{
    engine::{Answers, Engine, Outputs, PreparedQuery, Request, cpu::Cpu, plans},
    plan::Options,
    query,
    reel::Block,
};

use crate::common::{by_length, some_and_small};

/// Queries that match elsewhere each.
const CARRIED: [&str; 4] = ["--(check)", "find mate", "line --> check --> not check", "find <-- [x]"];

/// The hits of queries that are answered together on each block, and whether they are carried as they are.
fn hits(blocks: &[&Block], texts: &[&str], direct: bool) -> (Vec<Vec<Vec<u32>>>, bool) {
    let prepare = |text: &&str| {
        let parsed = query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        PreparedQuery::new(parsed.query, Options { direct, ..Options::default() }).unwrap()
    };
    let prepared: Vec<PreparedQuery> = texts.iter().map(prepare).collect();
    let plans = plans(&prepared).unwrap();
    let is_carried = plans.hits(0..texts.len()).carried.is_some();
    let outputs = vec![Outputs::BITS; texts.len()];
    let answers = Cpu::new(plans).scan(blocks, &Request::all(&outputs)).unwrap();
    let bits = |answers: Vec<Answers>| answers.into_iter().map(|answer| answer.hits.bits).collect();
    (answers.into_iter().map(bits).collect(), is_carried)
}

#[test]
fn carried_answers_are_taken_as_they_are() {
    let blocks = some_and_small(true, 1, by_length(1, 5));
    let blocks: Vec<&Block> = blocks.iter().collect();
    for texts in [&CARRIED[..1], &CARRIED[1..2], &CARRIED[2..3], &CARRIED[3..], &CARRIED] {
        let (with, without) = (hits(&blocks, texts, true), hits(&blocks, texts, false));
        assert!(with.1 && !without.1, "{texts:?}");
        assert!(with.0 == without.0, "{texts:?}");
        for (query, text) in texts.iter().enumerate() {
            let count =
                |answers: &Vec<Vec<u32>>| answers[query].iter().map(|bits| bits.count_ones()).sum::<u32>();
            let count: u32 = with.0.iter().map(count).sum();
            assert!(count > 10, "{text}: {count} hits");
        }
    }
}

#[test]
fn what_is_computed_is_not_taken_as_it_is() {
    let blocks = some_and_small(true, 1, by_length(1, 5));
    let blocks: Vec<&Block> = blocks.iter().collect();
    for texts in [
        &["check", "--(check)"][..],
        &["true", "find mate"],
        &["find mate check"],
        &["2 <= find all check"],
        &["not find mate"],
    ] {
        let (with, without) = (hits(&blocks, texts, true), hits(&blocks, texts, false));
        assert!(!with.1 && !without.1, "{texts:?}");
        assert!(with.0 == without.0, "{texts:?}");
    }
}
