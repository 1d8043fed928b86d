//! Tests guards: cheap conditions that are evaluated first, so that the rest of a query runs only where they hold.

use orbit_engine::{PreparedQuery, Wants};
use orbit_plan::PlanOptions;

use crate::{
    common::{Samples, corpus_blocks},
    flat::compared,
};

/// Queries with a condition that is far cheaper than the whole query. Most of these conditions hold at few positions.
const GUARDED: &[&str] = &[
    "flipcolor {btm mate square all x in (_|A) attackedby k (#(A attacks x)<=1)}",
    "check square x in a-h1-8 {x attackedby A 2<=#(A attacks x) #(a attacks x)==1}",
    "{square all x in a (#(A attacks x)<=1)} and check",
    "flipcolor {Kg1 kg8 square x in . {2<=#(A attacks x) 3<=#(a attacks x)}}",
    "{check not square x in a-h1-8 {3<=#(A attacks x)}}",
    // If only the cheap part of the operand of `not` were negated, instead of the whole operand, this query would match nowhere.
    "{check not {btm 2<=#square x in a-h1-8 {3<=#(A attacks x)}}}",
    "mate {1<=#square x in a-h1-8 {3<=#(A attacks x)} or Qh7}",
    "{{check square x in a-h1-8 {4<=#(A attacks x)}} or {castle square x in a-h1-8 {3<=#(a attacks x)}}}",
    // Queries with a filter that depends only on the loop square.
    "{ply<12 square all x in a-h1-8 {f=makesquare(file x 9-rank x) typename f==typename x}}",
    // A condition that is true almost everywhere.
    "{K square x in a-h1-8 {4<=#(A attacks x) 3<=#(a attacks x)}}",
    // Queries that also contain a search or a condition on tags.
    "{check find {mate} square x in a-h1-8 {3<=#(A attacks x)}}",
    "{check year>1900 square x in a-h1-8 {3<=#(A attacks x)}}",
];

/// Queries without a condition that is far cheaper than the whole query.
const PLAIN: &[&str] =
    &["check", "shift flip flipcolor {Nd4 kf3}", "square x in a-h1-8 {3<=#(A attacks x)}", "mate"];

fn has_guard(text: &str) -> bool {
    let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).query;
    let prepared = PreparedQuery::new(parsed, PlanOptions::default()).unwrap();
    let plans = prepared.plans().unwrap_or_else(|error| panic!("{text}: {error:?}"));
    plans.guard(0..1).is_some()
}

#[test]
fn conditions_are_found_where_they_save_work() {
    let without: Vec<&&str> = GUARDED.iter().filter(|text| !has_guard(text)).collect();
    assert!(without.is_empty(), "{without:#?}");
    let with: Vec<&&str> = PLAIN.iter().filter(|text| has_guard(text)).collect();
    assert!(with.is_empty(), "{with:#?}");
}

#[test(part = 3)]
fn guarded_queries_answer_as_the_reference_engine() {
    let samples = Samples::from_blocks(&corpus_blocks("otb.pgn"), 5, 40, 80);
    let without = samples.without_hits(GUARDED, compared);
    assert!(without.len() <= 2, "no hits of {without:#?}");
}

#[test]
fn several_queries_share_a_condition() {
    let texts = ["check", GUARDED[1], GUARDED[4]];
    let queries = texts.map(|text| {
        let parsed = orbit_query::parse(text).unwrap().query;
        PreparedQuery::new(parsed, PlanOptions::default()).unwrap()
    });
    let plans = orbit_engine::plans(&queries).unwrap();
    assert!(plans.guard(0..3).is_some());
    let engine = orbit_engine::cpu::Cpu::new(plans);
    let blocks = corpus_blocks("otb.pgn");
    let block = crate::common::every_nth_game(&blocks, 100, 40);
    use orbit_engine::{BlockRequest, Engine as _};
    let together = engine.scan(&[&block], &BlockRequest::all(&[Wants::HITS; 3])).unwrap();
    for (prepared, found) in queries.iter().zip(&together[0]) {
        let alone = prepared.reference().unwrap().answer(&block, Wants::HITS).unwrap();
        assert_eq!(found.hits.bits, alone.hits.bits);
    }
}
