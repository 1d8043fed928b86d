//! Scripts that come with CQL 6.2, on real games.
//!
//! They are not part of the project: `ORBIT_SCRIPTS` names a folder with them and with `games.tsv`, which has for each script
//! and each set of games how many games CQL 6.2 finds, a digest of their numbers, and the numbers themselves if they are few.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use orbit_chess::internals::{
    choice::Choice,
    database::{Database, DatabaseOptions},
    engine::Outputs,
    query,
    reel::GameRow,
    scan::{BlockAnswers, EngineChoice, EngineOptions, Scan},
};
use sha2::{Digest, Sha256};

use crate::common::{by_length, corpus, harness::SCRIPTS};

/// What CQL 6.2 finds.
struct Row {
    script: String,
    set: String,
    games: usize,
    /// `-` where it is not known.
    digest: String,
    /// None where they are many.
    list: Option<BTreeSet<u32>>,
}

fn folder() -> PathBuf {
    SCRIPTS.met(std::env::var_os("ORBIT_SCRIPTS").map(PathBuf::from))
}

/// The rows of one set of games that CQL 6.2 can read.
fn rows(set: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("games.tsv")).unwrap();
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let &[script, set, games, digest, _, list] = &columns[..] else { panic!("{line}") };
        let games = games.parse().ok()?;
        let list: BTreeSet<u32> = list.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let list = (list.len() == games).then_some(list);
        Some(Row { script: script.into(), set: set.into(), games, digest: digest.into(), list })
    };
    let rows: Vec<Row> = text.lines().skip(1).filter_map(row).filter(|row| row.set == set).collect();
    assert!(rows.len() > 20, "{set} has {} rows", rows.len());
    rows
}

/// Which games a script is asked of.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    All,
    /// So many, and those that are read with them.
    First(u32),
}

/// The numbers of the games that a script finds, and that of the last game that it was asked of.
fn found(script: &str, games: &Path, extent: Extent) -> Result<(BTreeSet<u32>, u32), String> {
    let text = std::fs::read_to_string(folder().join(format!("{script}.cql"))).unwrap();
    let parsed = query::parse(&text).map_err(|error| error.render(&text, script, false))?;
    let mut options = DatabaseOptions::default();
    (options.parse.variations, options.parse.annotations) = (parsed.query.variations, true);
    let end = match extent {
        Extent::All => u32::MAX,
        Extent::First(count) => {
            options.pgn.chunk_bytes = 64 << 10;
            count
        }
    };
    let mut engine = EngineOptions::default();
    engine.engine = EngineChoice::Auto;
    let scan = Scan::with_query(parsed, &engine).map_err(|error| error.to_string())?.threads(1);
    let database = Database::open(&[games.to_owned()], options).unwrap();
    let (mut out, mut last) = (BTreeSet::new(), 0);
    let choice = Choice::default();
    scan.for_each_block(
        database,
        &[Outputs::BITS],
        &choice,
        |found, _| (numbers(&found), found.block.games().last().map_or(0, |game| game.number())),
        |_, (numbers, last_of_block)| {
            out.extend(numbers);
            last = last_of_block;
            if last < end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    )
    .map_err(|error| error.to_string())?;
    Ok((out, last))
}

/// The games of a block that are found.
fn numbers(found: &BlockAnswers<'_>) -> Vec<u32> {
    let answers = &found.answers[0];
    let is_found = |game: &GameRow| match &answers.games {
        Some(told) => told[game.index()].is_found,
        None => answers.hits.count_in(game.slots()) > 0,
    };
    found.block.games().filter(is_found).map(|game| game.number()).collect()
}

/// One number a line.
fn digest(numbers: &BTreeSet<u32>) -> String {
    let lines = numbers.iter().fold(String::new(), |mut out, number| {
        writeln!(out, "{number}").unwrap();
        out
    });
    Sha256::digest(&lines).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// What is wrong with the answer to a row.
fn fault(row: &Row, path: &Path, extent: Extent) -> Option<String> {
    let (found, last) = match found(&row.script, path, extent) {
        Ok(found) => found,
        Err(error) => return Some(error),
    };
    let due = row.list.as_ref().map(|list| list.range(..=last).copied().collect::<BTreeSet<u32>>());
    if let Some(due) = due.filter(|due| *due != found) {
        let [more, less] = [found.difference(&due), due.difference(&found)]
            .map(|numbers| numbers.take(10).collect::<Vec<_>>());
        let counts = (found.len(), due.len());
        return Some(format!("{counts:?} games; only ours {more:?}, only CQL's {less:?}"));
    }
    if extent != Extent::All {
        return None;
    }
    if found.len() != row.games {
        return Some(format!("{} games, CQL finds {}", found.len(), row.games));
    }
    (row.digest != "-" && digest(&found) != row.digest).then(|| String::from("other games"))
}

fn check(set: &str, games: &str, extent: impl Fn(&Row) -> Option<Extent> + Sync) {
    let path = corpus().join(games);
    let rows: Vec<(Row, Extent)> =
        rows(set).into_iter().filter_map(|row| extent(&row).map(|extent| (row, extent))).collect();
    assert!(rows.len() > 4);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let faults = std::sync::Mutex::new(Vec::new());
    let work = || {
        while let Some((row, extent)) = rows.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            if let Some(fault) = fault(row, &path, *extent) {
                faults.lock().unwrap().push(format!("{} on {set}: {fault}", row.script));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} of {} scripts:\n{}", faults.len(), rows.len(), faults.join("\n"));
}

#[test]
fn scripts_find_the_studies_of_cql() {
    check("sample", "dev-studies-annotated/cql/sample.pgn", |_| Some(Extent::All));
}

#[test]
fn scripts_find_the_problems_of_cql() {
    let next = std::sync::atomic::AtomicUsize::new(0);
    check("fen", "fen.pgn", |_| {
        let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        number.is_multiple_of(by_length(1, 8)).then_some(Extent::All)
    });
}

/// Scripts that take more than twenty seconds on all tournament games: they are asked of some.
const SLOW: [&str; 7] = [
    "8piecesinline",
    "bristol-universal",
    "chameleon",
    "followpath",
    "queenknightpromotion",
    "staircase-sort",
    "two-piece-cycle",
];

#[test]
fn scripts_find_the_tournament_games_of_cql() {
    check("otb", "otb.pgn", |row| match SLOW.contains(&&*row.script) {
        true => Some(Extent::First(300)),
        false => Some(by_length(Extent::All, Extent::First(300))),
    });
}
