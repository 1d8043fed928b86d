//! Tests queries that the reference engine evaluates only in games that meet a necessary condition of the query. The results are
//! compared with those for all games.

use std::collections::BTreeSet;

use orbit_engine::{BlockRequest, Engine, GameEnds, PreparedQuery, Wants, narrowed::Narrowed};
use orbit_plan::PlanOptions;
use orbit_query::necessary;
use orbit_reel::Block;

use crate::common::{data, length::stride, some_and_small};

/// Queries whose necessary conditions hold in few games. They are tested in addition to the queries of `game-vectors.tsv`.
const RARE: &[&str] = &[
    "x=0 {check mate}",
    "initial find {piece X=K mate}",
    "line --> check --> {x=1 check} --> check",
    "line --> {x=1 check} --> stalemate? --> {Q[x]a}*",
    "path {x=1 Qa1} -- (-- stalemate)* -- check {0,3}",
    "path focus Q -- check {4,}",
    "{square s in Qa1 {piece X in s true}}",
    "echo(s t) {s<t t:mate stalemate}",
    "echo(s t) {mate (s&t)==.}",
    "flip {x=1 Qa1--}",
    "shift {x=1 initial find 2 9 {Qa1 ka2}}",
    "flipcolor {x=1 (Rh8 | {piece X in Nh8 true}) & Rh8}",
    "sort \"n\" {mate #a}",
    "cql(matchcount 2 99) x=1 Qa8",
    "if mate then x=1 else stalemate",
    "x=1 3<=find 3 9 {Qh1 check}",
    "not not {x=1 mate}",
    "move from {piece X in Nh8 true}",
    "N[x]q(x=1 mate)",
];

/// Returns some games from the repository, with or without side lines.
fn blocks(variations: bool) -> Vec<Block> {
    some_and_small(variations, 3, stride(5, 23))
}

#[test(part = 2)]
fn games_that_are_passed_over_hold_no_hit() {
    let table = data("game-vectors.tsv");
    let of_table: BTreeSet<&str> = table.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    let texts = of_table.iter().map(|&text| (text, true)).chain(RARE.iter().map(|&text| (text, false)));
    let blocks = [false, true].map(blocks);
    let (mut number, mut narrowed, mut passed_over) = (0, 0, 0);
    for (text, of_table) in texts {
        let Ok(parsed) = orbit_query::parse(text) else { continue };
        let Some(condition) = necessary(&parsed.query) else { continue };
        let blocks: Vec<&Block> = blocks[usize::from(parsed.query.variations)].iter().collect();
        let prepared = PreparedQuery::new(parsed.query, PlanOptions::default()).unwrap();
        // Queries of the table that have a plan (code for the fast engines) are tested only if their number is a multiple of
        // four.
        number += 1;
        if of_table && prepared.planner.refusal().is_none() && number % 4 > 0 {
            continue;
        }
        let outputs = [Wants::VALUES];
        let request = BlockRequest::all(&outputs);
        // A run-time error ends the run over all games. The run over the games that meet the necessary condition may skip the game
        // with the error, so nothing is compared.
        let Ok(all) = prepared.reference().unwrap().scan(&blocks, &request) else { continue };
        let engine = Narrowed::new(std::slice::from_ref(&prepared)).unwrap();
        let some = engine.scan(&blocks, &request).unwrap();
        for ((block, all), some) in blocks.iter().zip(all).zip(some) {
            assert_eq!(all[0].hits.bits, some[0].hits.bits, "{text}");
            let found = |answers: &orbit_engine::Answers| answers.count_games(&GameEnds::from_block(block));
            assert_eq!(found(&all[0]), found(&some[0]), "{text}");
        }
        if engine.narrowed() == 0 {
            continue;
        }
        narrowed += 1;
        let condition = PreparedQuery::new(condition, PlanOptions::default()).unwrap();
        let hits = condition.cpu().unwrap().hits(&blocks).unwrap().remove(0);
        let games = |(block, hits): (&&Block, _)| {
            let hits: &orbit_engine::Hits = hits;
            block.games_len() as u64 - hits.games(&GameEnds::from_block(block))
        };
        passed_over += blocks.iter().zip(&hits).map(games).sum::<u64>();
    }
    assert!(narrowed >= 40 && passed_over >= 1_000, "{narrowed} queries pass over {passed_over} games");
}
