//! Tests `find`. Some tests are rows with a query, games and values. Others compare `find` inside transforms with a separate
//! evaluation of each copy (transformed pattern).

use std::sync::Arc;

use orbit_database::StreamOptions;
use orbit_engine::{PreparedQuery, Wants};
use orbit_plan::PlanOptions;

use crate::{
    common::{corpus_blocks, data, every_nth_game, harness, pgn_blocks, pgn_blocks_with},
    game_vectors::{Row, printed, rows},
    runners::{ENGINES, Runner, answer},
};

#[table]
fn every_row_on_every_runner() -> Vec<harness::Row> {
    let on_engines = |(number, row): (usize, Row)| {
        let row = Arc::new(row);
        ENGINES.map(|engine| {
            let (name, row) = (format!("{}::{engine}", row.id), Arc::clone(&row));
            harness::Row::new(name, move || check(&row, engine, number))
        })
    };
    rows("games.tsv").into_iter().enumerate().flat_map(|(number, row)| on_engines((number, row))).collect()
}

fn check(row: &Row, engine: &str, number: usize) {
    let Row { id, query: text, due, .. } = row;
    let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{id}: {error}")).query;
    let mut options = StreamOptions::default();
    options.parse.variations = query.variations;
    let blocks = pgn_blocks_with(&data(&format!("games/{}", row.file)), options);
    let by_host = if engine == "gpu" { Runner::host_carry() } else { None };
    for runner in Runner::needed(engine, number).into_iter().chain(by_host) {
        let found = printed(row, &*runner.engine(&query).unwrap(), &blocks).unwrap();
        assert_eq!(found, *due, "{}: {text}", runner.name);
    }
}

/// Compares `find` inside transforms with the reference engine, which tries every copy (transformed pattern) at every position of
/// real games. For example, one query counts the squares that a white queen ever occupies.
#[test]
fn orbits_of_what_is_found_on_real_games() {
    let blocks = corpus_blocks("otb.pgn");
    let sample = every_nth_game(&blocks, 3, 11);
    assert!(sample.games_len() >= 1000, "{}", sample.games_len());
    for text in [
        "initial shift count find ♕a1",
        "initial ✵count find {♕a1 ♛h8}",
        "initial shift flipcolor count find {Nd4 kf3}",
        "terminal flip find <-- {Ra1 Kc1}",
        "initial shift count {find {Rd1 not find <-- Kg1} find Qd8}",
    ] {
        let query = orbit_query::parse(text).unwrap().query;
        let mut answers = Runner::engines().into_iter().map(|runner| {
            let hits = runner.engine(&query).unwrap().answer(&sample, Wants::VALUES).unwrap().hits;
            (0..sample.slots()).map(|slot| answer(&hits, slot, query.body.ty())).collect::<Vec<_>>()
        });
        let first = answers.next().unwrap();
        assert!(first.iter().any(|answer| answer.is_hit()), "{text}");
        assert!(answers.all(|other| other == first), "{text}");
    }
}

/// Searches games of all lengths in several blocks (groups of games). One game is longer than a batch of positions, and has short
/// games before and after it.
#[test(part = 3)]
fn games_of_any_length_are_carried_through() {
    let long: String = (0..400).map(|k| format!("{}. Nf3 Nf6 {}. Ng1 Ng8 ", 2 * k + 1, 2 * k + 2)).collect();
    let pgn = format!(
        "[White \"a\"]\n\n1. e4 *\n\n[White \"b\"]\n\n{long} 801. e4 *\n\n[White \"c\"]\n\n1. d4 d5 *\n\n"
    );
    let blocks = pgn_blocks(&pgn.repeat(3));
    let rows = [
        ("{initial find Pe4}", 6),
        ("find Pe4", 3 * (2 + 1602)),
        ("find <-- Nf3", 3 * 1601),
        ("(find count Nf3) >= 800", 6),
        ("{terminal find <-- 402 {ng8 Ng1}}", 3),
    ];
    for (number, (text, hits)) in rows.into_iter().enumerate() {
        let others = Runner::host_carry().into_iter().chain(Runner::tight_gpu());
        for runner in Runner::all(number).into_iter().chain(others) {
            let engine = runner.engine(&orbit_query::parse(text).unwrap().query).unwrap();
            let found: u64 =
                blocks.iter().map(|block| engine.answer(block, Wants::HITS).unwrap().hits.count()).sum();
            assert_eq!(found, hits, "{text}, {}", runner.name);
        }
    }
}

/// The outputs of a query (hits, values, matching copies of the pattern) must share the results of a `find` only if they need the
/// same search.
#[test]
fn what_outputs_carry_is_their_own() {
    let games = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 *\n\n1. d4 Nf6 2. c4 g6 3. Nc3 Bg7 4. e4 d6 5. Nf3 *";
    let blocks = pgn_blocks(games);
    let wanted = Wants::VALUES | Wants::ALL_COPIES;
    let mut several = 0;
    for text in [
        "flipcolor find Nf3",
        "flipcolor count find {Nf3 find Pe4}",
        "shift {find <-- Nf3 find 1 9 Pe4}",
        "flip flipcolor find all {Nf3 or find <-- Pe4}",
        "flipcolor ((shift count find Nc3) + find count Pe4)",
    ] {
        let query = orbit_query::parse(text).unwrap().query;
        let answers = |runner: &Runner, block| {
            let answers = runner.engine(&query).unwrap().answer(block, wanted).unwrap();
            let values: Vec<_> =
                (0..block.slots()).map(|slot| answer(&answers.hits, slot, query.body.ty())).collect();
            (answers.hits.bits.clone(), values, answers.copies)
        };
        for block in &blocks {
            let expected = answers(&Runner::reference(), block);
            several +=
                expected.2.as_ref().map_or(0, |copies| copies.sums().iter().filter(|sum| **sum > 0).count());
            for runner in Runner::engines() {
                assert_eq!(answers(&runner, block), expected, "{text}, {}", runner.name);
            }
        }
    }
    assert!(several > 10, "{several} copies match");
}

/// A `find` with a condition inside shifts stores one bit per copy (transformed condition), packed in words. Only a `find` with
/// numbers or sets needs a column (a value per position) for each copy.
#[test]
fn too_many_columns_are_refused_and_conditions_need_few() {
    let prepared =
        |text: &str| PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default());
    let error = prepared("flip shift find all {Nd4 kf3}").expect_err("336 copies");
    assert!(error.message.contains("336 numbers and sets at other positions"), "{error}");
    for text in ["flip shift flipcolor find {Nd4 kf3}", "shift count find {square s in N {s attacks k}}"] {
        assert!(prepared(text).is_ok(), "{text}");
    }
}
