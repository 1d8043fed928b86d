//! Runs scripts that come with CQL 6.2 on real games.
//!
//! The scripts are not part of the project. `ORBIT_SCRIPTS` names a folder that contains them and the table `games.tsv`. For each
//! script and each set of games, this table has the number of games that CQL 6.2 finds, a digest of their numbers, and the
//! numbers themselves if they are few. If a row has neither the digest nor the numbers, `tests/data/script-games.tsv` has the
//! numbers.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use orbit_database::{BlockStream, StreamOptions};
use orbit_engine::Wants;
use orbit_reel::GameRow;
use orbit_search::{
    choice::Choice,
    executor::{EngineChoice, EngineOptions, Executor},
    found::{BlockResult, Names},
};
use sha2::{Digest, Sha256};

use crate::common::{
    corpus, data,
    harness::{self, SCRIPTS},
    length::{length, stride},
};

/// The games that CQL 6.2 finds with a script.
struct Row {
    script: String,
    set: String,
    games: usize,
    /// The digest of the numbers of the games that CQL 6.2 finds; `-` if it is unknown.
    digest: String,
    /// The numbers of the games that CQL 6.2 finds; `None` if there are too many to list.
    list: Option<BTreeSet<u32>>,
}

fn folder() -> PathBuf {
    SCRIPTS.met(std::env::var_os("ORBIT_SCRIPTS").map(PathBuf::from))
}

/// Returns the rows for one set of games, limited to scripts that CQL 6.2 accepts.
fn rows(folder: &Path, set: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(folder.join("games.tsv")).unwrap();
    let ours = data("script-games.tsv");
    let ours = |script: &str| ours.lines().find_map(|line| line.strip_prefix(script)?.strip_prefix('\t'));
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let &[script, set, games, digest, _, list] = &columns[..] else { panic!("{line}") };
        let games = games.parse().ok()?;
        let list = if digest == "-" { ours(script).unwrap_or_default() } else { list };
        let list: BTreeSet<u32> = list.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let list = (list.len() == games).then_some(list);
        assert!(digest != "-" || list.is_some(), "{script}: tests/data/script-games.tsv has {games} games");
        Some(Row { script: script.into(), set: set.into(), games, digest: digest.into(), list })
    };
    let rows: Vec<Row> = text.lines().skip(1).filter_map(row).filter(|row| row.set == set).collect();
    assert!(rows.len() > 20, "{set} has {} rows", rows.len());
    rows
}

/// The games on which a script runs.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    All,
    /// At least this number of games from the beginning. The block (group of games) that contains the last of them is searched to
    /// its end.
    First(u32),
}

/// Returns the numbers of the games that a script finds, and the number of the last searched game.
fn found(script: &str, games: &Path, extent: Extent) -> Result<(BTreeSet<u32>, u32), String> {
    let text = std::fs::read_to_string(folder().join(format!("{script}.cql"))).unwrap();
    let parsed = orbit_query::parse(&text).map_err(|error| error.render(&text, script, false))?;
    let mut options = StreamOptions::default();
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
    let scan = Executor::with_query(parsed, &engine).map_err(|error| error.to_string())?.threads(1);
    let database = BlockStream::open(&[games.to_owned()], options).unwrap();
    let (mut out, mut last) = (BTreeSet::new(), 0);
    let choice = Choice::default();
    scan.for_each_block(
        database,
        &[Wants::HITS],
        &choice,
        &Names::default(),
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

/// Returns the numbers of the games of a block that the script finds.
fn numbers(found: &BlockResult<'_>) -> Vec<u32> {
    let answers = &found.answers[0];
    let is_found = |game: &GameRow| match &answers.games {
        Some(told) => told[game.index()].is_found,
        None => answers.hits.count_in(game.slots()) > 0,
    };
    found.block.games().filter(is_found).map(|game| game.number()).collect()
}

fn digest(numbers: &BTreeSet<u32>) -> String {
    let lines = numbers.iter().fold(String::new(), |mut out, number| {
        writeln!(out, "{number}").unwrap();
        out
    });
    Sha256::digest(&lines).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a message if the program's result for a row is wrong.
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

/// Returns the rows for a set of games as tests, except rows for which `extent` returns `None`.
fn table(
    set: &'static str,
    games: &'static str,
    extent: fn(&Row, usize) -> Option<Extent>,
) -> Vec<harness::Row> {
    // Without the scripts, there is a single test, which is ignored or, if the scripts are required, fails.
    let Some(folder) = std::env::var_os("ORBIT_SCRIPTS").map(PathBuf::from) else {
        return vec![harness::Row::new(set, || _ = folder())];
    };
    let rows = rows(&folder, set).into_iter().enumerate();
    let row = |(number, row): (usize, Row)| {
        let extent = extent(&row, number)?;
        Some(harness::Row::new(row.script.clone(), move || {
            let fault = fault(&row, &corpus().join(games), extent);
            assert!(fault.is_none(), "{}", fault.unwrap_or_default());
        }))
    };
    rows.filter_map(row).collect()
}

#[table]
fn scripts_find_the_studies_of_cql() -> Vec<harness::Row> {
    table("sample", "dev-studies-annotated/cql/sample.pgn", |_, _| Some(Extent::All))
}

#[table]
fn scripts_find_the_problems_of_cql() -> Vec<harness::Row> {
    table("fen", "fen.pgn", |_, number| {
        let stride = stride(1, 8);
        (number % stride.step == stride.first).then_some(Extent::All)
    })
}

/// Scripts that need more than twenty seconds for all tournament games, so they run only on some of the games.
const SLOW: [&str; 7] = [
    "8piecesinline",
    "bristol-universal",
    "chameleon",
    "followpath",
    "queenknightpromotion",
    "staircase-sort",
    "two-piece-cycle",
];

#[table]
fn scripts_find_the_tournament_games_of_cql() -> Vec<harness::Row> {
    table("otb", "otb.pgn", |row, number| {
        let is_whole = length().is_long(number) && !SLOW.contains(&&*row.script);
        Some(if is_whole { Extent::All } else { Extent::First(300) })
    })
}
