//! Tests two optimisations of flat programs (the form for queries with state): a `find` skips to the next move that can match,
//! and a chain (`line` or `path`) starts only where a move can match. The results are compared with those of the reference engine
//! on real games and on games with side lines (variations).

use orbit_engine::{Engine as _, EngineError, PreparedQuery, Wants};
use orbit_plan::PlanOptions;

use crate::{
    common::{Samples, corpus_blocks, every_nth_game},
    flat::{program_compared, tree_blocks},
};

/// Queries whose `find` or chain begins with a move that must satisfy a condition, for example on its squares or its piece. Each
/// has hits in real games.
const QUERIES: &[&str] = &[
    // Squares and pieces in variables.
    "{initial square V in a-h4-5 {5<=find all --V}}",
    "{initial square V in a-h1-2 {find V--(terminal or check)}}",
    "{ss=[f3,c3,f6,c6] initial piece X in [Nn] find X--ss}",
    "{initial start=currentposition piece X in [Nn] find X--start:X}",
    "{initial piece X in [Rr] find X--[f1,f8,d1,d8]}",
    "{initial piece X in [Kk] find X--[g1,g8]}",
    "{initial piece X in [Bb] find X[x]A}",
    "{initial piece X in [Nn] {find X&c-f3-6--}}",
    "{initial piece X in P {find X--=Q}}",
    "{initial square V in a-h7-8 {find [Rr]--V}}",
    "{ss=e4 find all {--ss check}}",
    "{if ply>20 ss=d5 else ss=e5 find {--ss}}",
    "{initial piece X in [Qq] {find <-- X--}}",
    // A captured piece has no square.
    "{ss=A&a initial piece X in [Qq] {find X==ss}}",
    // A pawn that is captured en passant is not on the capture's destination square.
    "{initial ss=e5 find [x]ss}",
    "{initial square V in a-h5 {find P[x]V}}",
    // Strings that name the piece to which a pawn promotes.
    "{tt=\"Q\" find --=tt}",
    "{tt=\"N\" not find --=tt}",
    "{tt=\"Qq\" path P--=tt --}",
    "{tt=\"R\" path p--=tt}",
    // Chains that can begin with one of several constituents.
    "{ss=[e4,d4] path --ss --}",
    "{ss=e4 path (P--ss)? --e5 --}",
    "{ss=e4 path (P--ss)* N--f3 --}",
    "{ss=c5 path (--ss check)? --}",
    "{ss=e4 nn=0 path (nn+=1 --ss) --{1,3}}",
    "{ss=d4 line --> move to ss --> true* --> check}",
    "{ss=d4 line --> (check)? --> move to ss}",
    "{ss=[Nn] line <-- ss attacks [Kk] <-- true}",
];

/// Nested loops over squares. An ordinary plan, without a flat program, would need a table with a row for each combination of three
/// or more squares.
const NESTED: &[&str] = &[
    "square x in [qrnb] {square y in [QRBN] {y attacks x square z in [QRBN] {z attacks x not y == z z attacks k}}}",
    "square x in [qrnbp] {square y in [QRB] {pin from y through x to k square z in [QRB] {y!=z z attacks x}}}",
    "flipcolor {square x in N {square y in q {x attacks y square z in [rk] {x attacks z}}}}",
    "square all x in Q {square y in r {x attacks y square z in B {z attacks x}}}",
    "check square x in A {square y in a {x attacks y not square z in a {z attacks y}}}",
    "#(square x in A {square y in a {x attacks y square z in A {z attacks y x!=z}}})",
];

/// Queries that, in every game, read a variable that has no value.
const FAULTY: &[&str] = &[
    "{if ply>2000 ss=A find a1--ss}",
    "{if ply>2000 piece X=K find X--h8}",
    "{if ply>2000 tt=\"Q\" find --=tt}",
    "{if ply>2000 ss=A path a1--ss}",
    "{if ply>2000 tt=\"Q\" path --=tt}",
];

/// Queries that read tags or match regular expressions, and also use variables.
const STRINGS: &[&str] = &[
    "{tt=tag \"White\" #tt>12}",
    "{tt=player black if check tt+=\"+\" #tt>14}",
    "{tt=tag \"Event\" nn=ply%4 tt[nn]==\"a\" true}",
    "{tt=tag \"White\" if check tt=tag \"NoSuchTag\" #tt>9}",
    "{tt=tag \"Date\" uu=tt ~~ \"^\\d+\" int uu>1990}",
    "{tt=fen uu=tt ~~ \"^[^/]*\" uu ~~ \"rnb?\" true}",
    "{tt=fen tt ~~ \"K[^/]*$\" false or tt ~~ \"p{3,}\" true}",
    "{tt=tag \"White\" uu=tag \"Black\" tt ~~ \"^[A-M]\" uu ~~ \"^[N-Z]\" true}",
    "{tt=\"\" if check tt=\"aab\" uu=tt ~~ \"a*\" #uu==2}",
    "{tt=typename to tt ~~ \"[QR]\" tt ~~ \"Q\" true}",
    "{tt=typename to tt ~~ \"[QR]\" tt ~~ \"R\" true}",
    "{hhdb prize == 1} or check",
    "find {tag \"White\" ~~ \"^A\" check}",
];

#[test(part = 1)]
fn searches_answer_as_the_reference_engine() {
    let samples = Samples::from_blocks(&corpus_blocks("otb.pgn"), 7, 60, 120);
    let without = samples.without_hits(QUERIES, program_compared);
    assert!(without.len() <= 4, "no hits of {without:?}");
}

#[test(part = 2)]
fn searches_answer_as_the_reference_engine_in_side_lines() {
    let blocks = tree_blocks();
    let mut hits = 0;
    for text in QUERIES {
        let text = format!("cql(variations) {text}");
        hits += blocks.iter().map(|block| program_compared(&text, block)).sum::<usize>();
    }
    assert!(hits > 500, "{hits} hits");
}

#[test(part = 0)]
fn nested_loops_answer_as_the_reference_engine() {
    let samples = Samples::from_blocks(&corpus_blocks("otb.pgn"), 3, 12, 30);
    let without = samples.without_hits(NESTED, program_compared);
    assert!(without.len() <= 1, "no hits of {without:?}");
}

#[test]
fn what_holds_nothing_is_an_error_wherever_moves_go() {
    let block = every_nth_game(&corpus_blocks("otb.pgn"), 50, 6);
    for text in FAULTY {
        let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).query;
        let prepared = PreparedQuery::new(parsed, PlanOptions::default()).unwrap();
        assert!(prepared.planner.refusal().is_none(), "no plan says {text}");
        let due = prepared.reference().unwrap().answer(&block, Wants::HITS).unwrap_err();
        assert!(matches!(due, EngineError::Query { .. }), "{text}: {due}");
        let found = prepared.cpu().unwrap().answer(&block, Wants::HITS).unwrap_err();
        assert_eq!(found, EngineError::Stopped, "{text}");
    }
}

#[test]
fn tags_and_matches_are_those_of_the_reference_engine() {
    let samples = Samples::from_blocks(&corpus_blocks("otb.pgn"), 7, 30, 90);
    let without = samples.without_hits(STRINGS, program_compared);
    assert!(without.len() <= 2, "no hits of {without:#?}");
}
