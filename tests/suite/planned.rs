//! Compares plans for queries about games with the results of CQL 6.2, and with the reference engine on real games.

use std::collections::BTreeSet;

use orbit_database::StreamOptions;
use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;
use orbit_query::{
    Dialect,
    words::{self, WordStatus},
};

use crate::{
    common::{corpus_blocks, data, every_nth_game, length::stride, pgn_blocks_with},
    game_vectors::{Row, printed, rows},
    golden,
    runners::{NONE, Runner},
};

/// Returns queries with names: those for which the results of CQL 6.2 on real games are known, and the example of each keyword
/// about games.
fn named_queries() -> Vec<(String, String)> {
    let golden = |table: &str, header: &str| -> Vec<(String, String)> {
        let rows = golden::all_rows(table).into_iter();
        rows.map(|row| (format!("golden {}", row.id), format!("{header}{}", row.query))).collect()
    };
    let mut out = golden("golden-game-otb.tsv", "");
    out.extend(golden("golden-game-variations.tsv", "cql(variations) "));
    for group in words::groups().filter(|group| group.dialect == Dialect::Cql6) {
        for word in
            group.words.iter().filter(|word| matches!(word.status, WordStatus::Here | WordStatus::Within(_)))
        {
            let query = orbit_query::parse(word.example)
                .unwrap_or_else(|error| panic!("{}: {error}", word.example))
                .query;
            if query.body.any(|filter| filter.is_of_game()) || query.keeps_state.is_some() {
                out.push((format!("word {}", word.spellings[0]), word.example.to_owned()));
            }
        }
    }
    out
}

/// Checks that `tests/data/planned.txt` is up to date. For each query, it records, in the words of `orbit explain`, if `cpu` and
/// `gpu` have a plan or `reference` interprets the query. If this changes, the test fails until the list is updated.
#[test]
fn what_is_interpreted_is_listed() {
    let told = |(name, text): &(String, String)| {
        let query = orbit_query::parse(text).unwrap().query;
        let prepared = PreparedQuery::new(query, PlanOptions::default()).unwrap();
        let how = match prepared.planner.refusal() {
            None => "planned",
            Some(why) => {
                assert!(
                    text.get(why.span.start..why.span.end).is_some_and(|at| !at.is_empty()),
                    "{text}: {why}"
                );
                "interpreted"
            }
        };
        format!("{how}\t{name}\t{}\n", text.replace('\n', " "))
    };
    let found: String = named_queries().iter().map(told).collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/planned.txt");
        return std::fs::write(path, found).unwrap();
    }
    let (listed, lines) =
        (data("planned.txt"), |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>());
    let (found, listed) = (lines(&found), lines(&listed));
    let changed: Vec<&String> = found.difference(&listed).collect();
    assert!(
        found == listed,
        "tests/data/planned.txt says otherwise of\n{changed:#?}: run this test once with UPDATE_GOLDEN=1, if that is meant"
    );
}

/// The minimum number of rows whose queries have a plan. It ensures that queries do not lose their plans by accident.
const PLANNED_MIN: usize = 580;

#[test]
fn plans_answer_as_cql() {
    let runners = [Runner::cpu(0), Runner::cpu(NONE)];
    let (mut planned, mut faults) = (0, Vec::new());
    let mut rows = rows("game-vectors.tsv");
    // Only rows with answers per position are compared.
    rows.retain(|row| row.id.starts_with(['b', 'n', 's', 'p']));
    for row in rows {
        let Ok(parsed) = orbit_query::parse(&row.query) else { continue };
        if runners[0].refuses(&row.query) {
            continue;
        }
        planned += 1;
        let mut options = StreamOptions::default();
        options.parse.variations = parsed.query.variations;
        let blocks = pgn_blocks_with(&data(&format!("games/{}", row.file)), options);
        for runner in &runners {
            let found = printed(&row, &*runner.engine(&parsed.query).unwrap(), &blocks);
            let found = found.unwrap_or_else(|error| panic!("{}, {}: {error}", row.id, runner.name));
            if found != row.due {
                let Row { id, query, due, .. } = &row;
                faults.push(format!("{id}, {}: {query}\n  found {found}\n  due   {due}", runner.name));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(planned >= PLANNED_MIN, "{planned} rows are planned");
}

/// Queries whose parts also occur in `game-vectors.tsv`, but in other combinations.
const QUERIES: [&str; 24] = [
    "--(check)",
    "Q--q",
    "(A attacks q)--(not check)",
    "countmoves --(#a > 8)",
    "A[x].(to & a-h5-8)",
    "K--(from)",
    "R--(to)",
    "--(parent:check)",
    "currentmove n--(check)",
    "P--=A",
    "parent:parent:(#A - #a)",
    "#(parent & currentposition)",
    "position (ply / 2):power A",
    "distance(currentposition find <-- check)",
    "move to . capture N",
    "move previous from P to a-h4",
    "line 2 6 --> wtm* --> check --> {not check}+",
    "line --> true{2,} --> (check --> true)? --> move capture .",
    "line singlecolor nestban --> (#A > #a){2,}",
    "line <-- check <-- not check* <-- {A[x]a}",
    "path -- check? [x] {1,3} (-- check --)*",
    "path focus R nestban -- {2,} check",
    "path focus capture Q -- *  -- check",
    "flipcolor path max #(a attacks A) singlecolor N-- {1,4} check",
];

/// The reference engine is slow, so there are only a few games.
#[test]
fn plans_answer_as_the_reference_engine_on_real_games() {
    let blocks = corpus_blocks("otb.pgn");
    let stride = stride(40, 400);
    let sample = every_nth_game(&blocks, 5 + stride.first, stride.step);
    let mut due = 0;
    for text in QUERIES {
        assert!(!Runner::cpu(0).refuses(text), "{text}");
        let reference =
            Runner::reference().answers(text, &sample).unwrap_or_else(|error| panic!("{text}: {error}"));
        let hits = reference.iter().filter(|answer| answer.is_hit()).count();
        due += hits;
        for runner in [Runner::cpu(0), Runner::cpu(NONE)].into_iter().chain(Runner::gpu(0)) {
            let found = runner.answers(text, &sample).unwrap();
            let place = (0..sample.slots()).find(|&slot| found[slot] != reference[slot]);
            if let Some(slot) = place {
                panic!("{text}, {}: slot {slot}: {:?}, due {:?}", runner.name, found[slot], reference[slot]);
            }
        }
    }
    assert!(due > 10_000, "{due} hits");
}
