//! Compares the program with the results of CQL 6.2 for 823 queries about games, on a few games.
//!
//! Each row of `tests/data/game-vectors.tsv` contains id, query, file and answer. The first letter of the id is the kind of
//! answer: `b` for the positions that match, `n` for numbers, `s` for sets (only nonempty ones), `t` for strings, `p` for
//! position numbers, `g` for the games that the query finds, in output order, and `e` for a query that is rejected.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use orbit_database::{BlockStream, StreamOptions};
use orbit_engine::{Answer, Answers, BlockRequest, Engine, EngineError, Rank, Wants};
use orbit_reel::Block;
use orbit_search::{
    choice::{Choice, Order},
    executor::{Card, EngineChoice, EngineOptions, Executor},
    found::{BlockResult, Found, Names},
    report::words::push_squares,
};

use crate::{
    common::{
        data,
        harness::{self, GPU},
    },
    runners::Runner,
};

/// A row of `game-vectors.tsv`, or of `games.tsv`, which has the same columns.
pub(super) struct Row {
    pub(super) id: String,
    pub(super) query: String,
    pub(super) file: String,
    pub(super) due: String,
}

/// Returns the rows of a table.
pub(super) fn rows(table: &str) -> Vec<Row> {
    let row = |line: &str| {
        let columns: Vec<String> = line.split('\t').map(String::from).collect();
        let [id, query, file, due] = columns.try_into().expect("four columns");
        Row { id, query, file, due: due.trim().into() }
    };
    let text = data(table);
    let is_row = |line: &&str| !line.starts_with("# ") && !line.starts_with("id\t");
    let rows: Vec<Row> = text.lines().filter(is_row).map(row).collect();
    let due = match table {
        "game-vectors.tsv" => 823,
        "games.tsv" => 73,
        other => panic!("{other} is no table"),
    };
    assert_eq!(rows.len(), due);
    rows
}

/// Runs the query of a row on some blocks (groups of games). Returns the engine's result in the notation of the table.
pub(super) fn printed(row: &Row, engine: &dyn Engine, blocks: &[Block]) -> Result<String, EngineError> {
    let mut all = Answered { row, out: Vec::new(), games: Vec::new() };
    let games: usize = blocks.iter().map(Block::games_len).sum();
    let request = BlockRequest { last_game: Some(games as u32), ..BlockRequest::all(&[Wants::VALUES]) };
    for block in blocks {
        all.add(block, &engine.scan(&[block], &request)?.remove(0).remove(0));
    }
    Ok(all.finish())
}

/// The graphics card, which all rows share.
static CARD: LazyLock<Card> = LazyLock::new(Card::default);

/// Returns an engine's result for the query of a row, in the notation of the table.
pub(super) fn answer(row: &Row, engine: EngineChoice) -> Result<String, String> {
    answer_on(row, data(&format!("games/{}", row.file)), engine)
}

/// Returns an engine's result for the query of a row on the games in `pgn`, instead of those in the row's file.
pub(super) fn answer_on(row: &Row, pgn: String, engine: EngineChoice) -> Result<String, String> {
    let parsed = orbit_query::parse(&row.query).map_err(|error| format!("does not parse: {error}"))?;
    let mut options = StreamOptions::default();
    (options.parse.variations, options.parse.annotations) = (parsed.query.variations, true);
    let database = BlockStream::from_pgn_bytes(&row.file, pgn.into_bytes(), options);
    let mut engine_options = EngineOptions::default();
    (engine_options.engine, engine_options.card) = (engine, CARD.clone());
    let scan = Executor::with_query(parsed, &engine_options).map_err(|error| error.to_string())?;
    let mut all = Answered { row, out: Vec::new(), games: Vec::new() };
    scan.threads(1)
        .for_each_block(
            database,
            &[Wants::VALUES | Wants::RANKS],
            &Choice::default(),
            &Names::default(),
            |found: BlockResult<'_>, _| found.answers,
            |streamed, mut answers| {
                all.add(&streamed.block, &answers.remove(0));
                ControlFlow::Continue(())
            },
        )
        .map_err(|error| error.to_string())?;
    Ok(all.finish())
}

struct Answered<'a> {
    row: &'a Row,
    out: Vec<String>,
    /// The sort keys and the number of each game that the query finds.
    games: Vec<(Rank, u32)>,
}

impl Answered<'_> {
    fn add(&mut self, block: &Block, answers: &Answers) {
        let names = Names::default();
        for game in block.games() {
            let told = answers.games.as_ref().map(|games| &games[game.index()]);
            let is_found = told.map_or(answers.hits.count_in(game.slots()) > 0, |told| told.is_found);
            if is_found {
                let found = Found::new(block, answers, &names);
                self.games.push((Order::ByQuery.rank(&game, &found), game.number()));
            }
            for slot in answers.hits.slots(game.slots()) {
                let mut place = format!("{}:{}", game.number(), slot - game.first_slot());
                let text = answers.hits.text(slot).map(encoded);
                match (self.row.id.as_bytes()[0], answers.hits.answer(slot), text) {
                    (b'b', ..) => {}
                    // A filter can match with an empty set as its value. Empty sets are omitted.
                    (b's', Answer::Set(set), _) if set.is_empty() => continue,
                    (b'n' | b'p' | b's', Answer::Num(Some(value)), _) => write!(place, ":{value}").unwrap(),
                    (b's', Answer::Set(set), _) => {
                        let mut text = Vec::new();
                        push_squares(&mut text, set);
                        write!(place, ":{}", String::from_utf8(text).unwrap()).unwrap();
                    }
                    (b't', _, Some(text)) => write!(place, ":{text}").unwrap(),
                    (_, other, text) => write!(place, ":{other:?}{}", text.unwrap_or_default()).unwrap(),
                }
                self.out.push(place);
            }
        }
    }

    fn finish(mut self) -> String {
        if self.row.id.starts_with('g') {
            // If the query has no `sort`, all sort keys (ranks) are equal, so the games are ordered by number.
            self.games.sort();
            self.out = self.games.iter().map(|(_, game)| format!("{game}:")).collect();
        }
        self.out.join(" ")
    }
}

/// Encodes a string: each byte that is not a letter, a digit or a common sign is written as `%` and two hexadecimal digits.
fn encoded(text: &[u8]) -> String {
    text.iter().fold(String::new(), |mut out, &byte| {
        match byte {
            b'!' | b'#'..=b'$' | b'&'..=b'~' => out.push(byte as char),
            _ => write!(out, "%{byte:02X}").unwrap(),
        }
        out
    })
}

/// Returns a few words of the result that are wrong, and a few that are missing.
fn difference(found: &str, due: &str) -> String {
    let words = |text: &str| text.split(' ').map(String::from).collect::<BTreeSet<String>>();
    let (found, due) = (words(found), words(due));
    let some = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
        let only: Vec<&String> = a.difference(b).collect();
        let shown: Vec<&str> = only.iter().take(8).map(|word| word.as_str()).collect();
        format!("{}{}", shown.join(" "), if only.len() > 8 { " ..." } else { "" })
    };
    format!("  not due {}\n  missing {}", some(&found, &due), some(&due, &found))
}

/// Returns the rows of `game-vectors.tsv` as tests of one engine.
fn table(engine: EngineChoice) -> Vec<harness::Row> {
    let row = |row: Row| harness::Row::new(row.id.clone(), move || check(&row, engine));
    rows("game-vectors.tsv").into_iter().map(row).collect()
}

/// Asserts that an engine gives the expected answer of a row, or that it rejects a query that it does not support.
pub(super) fn check(row: &Row, engine: EngineChoice) {
    if engine == EngineChoice::Gpu {
        GPU.met(Runner::gpu(0));
    }
    let due = row.due.as_str();
    match answer(row, engine) {
        Err(_) if due == "ERROR" => {}
        // Some queries have no plan, and some adapters end long loops early.
        Err(error) if engine != EngineChoice::Reference && is_refusal(&error) => {}
        Err(error) => panic!("{}\n  {error}\n  due     {}", row.query, &due[..due.len().min(120)]),
        Ok(found) => assert!(found == due, "{}\n{}", row.query, difference(&found, due)),
    }
}

fn is_refusal(error: &str) -> bool {
    error.contains("cannot run this query") || error.contains("ends loops after")
}

#[table]
fn reference_answers_as_cql() -> Vec<harness::Row> {
    table(EngineChoice::Reference)
}

#[table]
fn cpu_answers_as_cql() -> Vec<harness::Row> {
    table(EngineChoice::Cpu)
}

#[table(in_parts)]
fn gpu_answers_as_cql() -> Vec<harness::Row> {
    table(EngineChoice::Gpu)
}
