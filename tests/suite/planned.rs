//! Plans of the game language beside what CQL 6.2 answers, and beside the reference engine on real games.

use orbit_chess::internals::{
    database::DatabaseOptions,
    engine::{Answer, Outputs, Values},
    query,
    reel::Block,
};

#[cfg(feature = "gpu")]
use orbit_chess::internals::engine::{EngineError, gpu::GpuError};

use crate::{
    common::{by_length, corpus_blocks, data, every_nth_game, pgn_blocks_with},
    runners::{NONE, Runner},
};

/// A row of `game-vectors.tsv`: id, query, file, and for each position with a value `game:position[:value]`.
struct Row {
    id: String,
    query: String,
    file: String,
    due: String,
}

/// Rows whose answers stand at positions.
fn rows() -> Vec<Row> {
    let row = |line: &str| {
        let columns: Vec<String> = line.split('\t').map(String::from).collect();
        let [id, query, file, due] = columns.try_into().expect("four columns");
        Row { id, query, file, due: due.trim().into() }
    };
    let rows = data("game-vectors.tsv")
        .lines()
        .map(row)
        .filter(|row| row.id.starts_with(['b', 'n', 's', 'p']))
        .collect::<Vec<_>>();
    assert_eq!(rows.len(), 741);
    rows
}

/// What a runner says, in the notation of the table.
fn printed(row: &Row, runner: &Runner, blocks: &[Block]) -> Option<String> {
    let query = query::parse(&row.query).expect("it was parsed before").query;
    let engine = runner.engine(&query).unwrap();
    let mut out = Vec::new();
    for block in blocks {
        let hits = match engine.answer(block, Outputs::VALUES) {
            Ok(answers) => answers.hits,
            // A loop that is too long for a card.
            #[cfg(feature = "gpu")]
            Err(EngineError::Gpu(GpuError::TooLong { .. })) => return None,
            Err(error) => panic!("{}, {}: {error}", row.id, runner.name),
        };
        for game in block.games() {
            for slot in hits.slots(game.first_slot()..game.end_slot()) {
                let place = format!("{}:{}", game.number(), slot - game.first_slot());
                match (row.id.as_bytes()[0], &hits.values) {
                    (b'b', _) => out.push(place),
                    (_, Values::Numbers(numbers)) => out.push(format!("{place}:{}", numbers[slot])),
                    // A condition may hold where the set is empty.
                    (_, Values::Sets(sets)) if sets[slot] == 0 => {}
                    (_, Values::Sets(sets)) => {
                        out.push(format!(
                            "{place}:{}",
                            crate::runners::print(Answer::Set(sets[slot].into()), "set")
                        ));
                    }
                    _ => out.push(place),
                }
            }
        }
    }
    Some(out.join(" "))
}

/// Rows that plans answer; those that they leave to the reference engine are no fewer by accident.
const PLANNED_MIN: usize = 580;

#[test]
fn plans_answer_as_cql() {
    let runners: Vec<Runner> =
        [Runner::cpu(0), Runner::cpu(NONE)].into_iter().chain(Runner::gpu(0)).collect();
    let (mut planned, mut faults) = (0, Vec::new());
    for row in rows() {
        let Ok(parsed) = query::parse(&row.query) else { continue };
        if runners[0].refuses(&row.query) {
            continue;
        }
        planned += 1;
        let mut options = DatabaseOptions::default();
        options.parse.variations = parsed.query.variations;
        let blocks = pgn_blocks_with(&data(&format!("games/{}", row.file)), options);
        for runner in &runners {
            let Some(found) = printed(&row, runner, &blocks) else { continue };
            if found != row.due {
                let Row { id, query, due, .. } = &row;
                faults.push(format!("{id}, {}: {query}\n  found {found}\n  due   {due}", runner.name));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(planned >= PLANNED_MIN, "{planned} rows are planned");
}

/// Queries whose parts the table has, put together in other ways.
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

/// Runs the reference engine, so few games are enough.
#[test]
fn plans_answer_as_the_reference_engine_on_real_games() {
    let blocks = corpus_blocks("otb.pgn");
    let sample = every_nth_game(&blocks, 5, by_length(40, 400));
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
