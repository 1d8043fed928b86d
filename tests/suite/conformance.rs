//! Compares the program with the documents that define the transforms, statement by statement.
//!
//! `tests/data/conformance.tsv` contains the paraphrased statements, each with a check. This test runs the checks and compares
//! the resulting page with `docs/conformance.md`. `UPDATE_GOLDEN=1` rewrites that document.
//!
//! A *copy* is one of the patterns that a transform generates.

use std::{fmt::Write as _, path::PathBuf};

use orbit_core::board::{Bitboard, Position};
use orbit_engine::{Answer, Engine, PreparedQuery, Wants};
use orbit_plan::PlanOptions;
use orbit_query::TypedQuery;
use orbit_reel::Block;
use orbit_search::executor::EngineChoice;
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{AsText, expand};

use crate::{
    common::{block_of, data, pgn_blocks, position},
    game_vectors::{Row, answer_on},
};

/// A statement from a document: its text, its check, and a remark if the document is wrong or ambiguous.
struct Statement<'a> {
    says: &'a str,
    check: Check<'a>,
    remark: &'a str,
}

/// The check of a statement. The last field is the expected result, except in `Same` and `Test`.
#[derive(Clone, Copy)]
enum Check<'a> {
    /// A query, a position as FEN, and the query's value at the position.
    Value(&'a str, &'a str, &'a str),
    /// A query, a game, and the query's value at the game's first position.
    Found(&'a str, &'a str, &'a str),
    /// A query, a list of games, and the numbers of the games that the query finds, in output order.
    Games(&'a str, &'a str, &'a str),
    /// A query, and the number of its distinct copies (transformed patterns).
    Count(&'a str, &'a str),
    /// A query, and all its distinct copies (transformed patterns).
    Copies(&'a str, &'a str),
    /// A query, and one of its distinct copies (transformed patterns).
    Contains(&'a str, &'a str),
    /// Two queries that match at the same positions of real games.
    Same(&'a str, &'a str),
    /// A test file, and the name of a test in it that covers the statement.
    Test(&'a str, &'a str),
}

fn statement(line: &str) -> Statement<'_> {
    let columns: Vec<&str> = line.split('\t').collect();
    let &[says, kind, subject, place, expected, remark] = columns.as_slice() else {
        panic!("{} columns: {line}", columns.len());
    };
    let check = match kind {
        "value" => Check::Value(subject, place, expected),
        "found" => Check::Found(subject, place, expected),
        "games" => Check::Games(subject, place, expected),
        "count" => Check::Count(subject, expected),
        "copies" => Check::Copies(subject, expected),
        "contains" => Check::Contains(subject, expected),
        "same" => Check::Same(subject, place),
        "test" => Check::Test(subject, place),
        other => panic!("there is no check called {other}"),
    };
    Statement { says, check, remark }
}

fn parsed(text: &str) -> TypedQuery {
    orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).query
}

fn start(fen: &str) -> Position {
    if fen == "startpos" { Position::STANDARD } else { position(fen) }
}

/// Returns the query's value at the first position of a block (group of games). `reference` and `cpu` must agree on it.
fn value(text: &str, block: &Block) -> String {
    let prepared = PreparedQuery::new(parsed(text), PlanOptions::default()).unwrap();
    let print = |engine: &dyn Engine| match engine.answer(block, Wants::VALUES).unwrap().hits.answer(0) {
        Answer::Bool(hit) => if hit { "T" } else { "F" }.to_string(),
        Answer::Num(value) => value.map_or("none".into(), |value| value.to_string()),
        Answer::Set(squares) => squares_text(squares),
    };
    let reference = print(&prepared.reference().unwrap());
    if prepared.planner.refusal().is_none() {
        assert_eq!(print(&prepared.cpu().unwrap()), reference, "{text}");
    }
    reference
}

/// Returns the numbers of the games that a query finds, in output order.
fn games_found(text: &str, games: &str) -> String {
    let game = |game| format!("[Event \"x\"]\n{game}\n\n");
    let pgn: String = games.split(" | ").map(game).collect();
    let [id, file, due] = ["g", "games", ""].map(String::from);
    let row = Row { id, query: text.into(), file, due };
    let found = [EngineChoice::Reference, EngineChoice::Auto]
        .map(|engine| answer_on(&row, pgn.clone(), engine).unwrap_or_else(|error| panic!("{text}: {error}")));
    assert_eq!(found[0], found[1], "{text}");
    found[0].replace(':', "").replace(' ', ", ")
}

fn squares_text(squares: Bitboard) -> String {
    let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
    if names.len() == 1 { names.concat() } else { format!("[{}]", names.join(",")) }
}

/// Returns the distinct copies (transformed patterns) of a query as CQL 6 text.
fn copies(text: &str) -> Vec<String> {
    let orbit = expand(&parsed(text).body).unwrap().outermost();
    let orbit = orbit.unwrap_or_else(|| panic!("{text} has no transform"));
    orbit.copies.iter().map(|copy| AsText(&copy.filter).to_string()).collect()
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort_unstable();
    list
}

fn hits(text: &str, blocks: &[Block]) -> Vec<Vec<u32>> {
    let engine = PreparedQuery::new(parsed(text), PlanOptions::default()).unwrap().cpu().unwrap();
    blocks.iter().map(|block| engine.answer(block, Wants::HITS).unwrap().hits.bits).collect()
}

/// Runs the check of a statement, and returns the actual result for the page.
fn answer(check: Check<'_>, games: &[Block]) -> String {
    match check {
        Check::Value(text, fen, expected) => {
            let found = value(text, &block_of(&[start(fen)]));
            assert_eq!(found, expected, "{text} on {fen}");
            format!("`{text}` on `{fen}`: {}", in_words(&found))
        }
        Check::Found(text, game, expected) => {
            let found = value(text, &pgn_blocks(&format!("[Event \"x\"]\n\n{game}\n"))[0]);
            assert_eq!(found, expected, "{text} in {game}");
            format!("`{text}` at the start of `{game}`: {found}")
        }
        Check::Games(text, games, expected) => {
            let found = games_found(text, games);
            assert_eq!(found, expected, "{text} in {games}");
            let games = games.split(" | ").collect::<Vec<_>>().join("`, `");
            format!("`{text}` in `{games}`: games {found}")
        }
        Check::Count(text, expected) => {
            let found = copies(text).len().to_string();
            assert_eq!(found, expected, "{text}");
            format!("`{text}`: {found} distinct copies")
        }
        Check::Copies(text, expected) => {
            let found = copies(text);
            let wanted: Vec<String> = expected.split("; ").map(String::from).collect();
            assert_eq!(sorted(found.clone()), sorted(wanted), "{text}");
            format!("`{text}`: `{}`", found.join("`, `"))
        }
        Check::Contains(text, expected) => {
            let found = copies(text);
            assert!(found.iter().any(|copy| copy == expected), "{text}: {expected} is not among {found:?}");
            format!("`{text}`: one of its {} copies is `{expected}`", found.len())
        }
        Check::Same(a, b) => {
            let (found, other) = (hits(a, games), hits(b, games));
            let count: u32 = found.iter().flatten().map(|bits| bits.count_ones()).sum();
            assert!(count > 0, "{a} hits nowhere");
            assert_eq!(found, other, "{a} and {b}");
            format!("`{a}` and `{b}` hit the same {count} positions of `games/sample.pgn`")
        }
        Check::Test(file, name) => {
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
            let is_there =
                ["test", "table"].iter().any(|kind| text.contains(&format!("#[{kind}]\nfn {name}()")));
            assert!(is_there, "{file} has no test {name}");
            format!("`{name}` in `{file}`")
        }
    }
}

fn in_words(value: &str) -> &str {
    match value {
        "T" => "matches",
        "F" => "does not match",
        other => other,
    }
}

fn page() -> (String, usize) {
    let games = pgn_blocks(&std::fs::read_to_string("games/sample.pgn").unwrap());
    let mut out = String::from(
        "# Conformance\n\nThis page compares `orbit` with the documents that define transforms such as `flip`: the manuals of CQL \
         and the documentation of the library chessops. Each row of the tables contains a statement from one of these documents, \
         in our own words, and the result of `orbit`. `tests/suite/conformance.rs` checks the statements and writes this page. If \
         a statement is checked by another test, the row names this test. A *copy* is a pattern that a transform makes of a \
         query, and the *orbit* of a query is the set of its copies. In the results, T means that the query matches, and F that \
         it does not.\n",
    );
    let mut count = 0;
    for line in data("conformance.tsv").lines() {
        if let Some(title) = line.strip_prefix("# ") {
            write!(out, "\n## {title}\n\n| statement | answer |\n|---|---|\n").unwrap();
            continue;
        }
        let Statement { says, check, remark } = statement(line);
        let answer = answer(check, &games).replace('|', "\\|");
        let remark = if remark.is_empty() { String::new() } else { format!(" *{remark}*") };
        writeln!(out, "| {says} | {answer}.{remark} |").unwrap();
        count += 1;
    }
    out += "\n[language.md](language.md) lists all words of the language, including those that `orbit` does not support.\n";
    (out, count)
}

#[test]
fn every_statement_holds_and_the_page_says_so() {
    let (page, count) = page();
    assert!(count >= 121, "{count} statements");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/conformance.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, page).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == page, "docs/conformance.md is not what it says: run the tests once with UPDATE_GOLDEN=1");
}
