//! Tests complete error messages of the parser, with the caret that marks the place and the suggested remedy.
//!
//! `tests/data/errors.txt` contains queries, each after `> ` and followed by its message. `errors-cql5.txt` contains CQL 5 lists
//! in the same form. `UPDATE_GOLDEN=1` rewrites both files.

use std::{fmt::Write as _, path::PathBuf};

use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;

use crate::common::data;

/// Returns the messages about a query: the error, the remarks, or `fine` if there are neither.
fn printed(text: &str) -> String {
    let said = match orbit_query::parse(text) {
        Err(error) => vec![error],
        Ok(parsed) => match PreparedQuery::new(parsed.query, PlanOptions::default()) {
            Err(error) => vec![error],
            Ok(prepared) => [parsed.remarks, prepared.planner.warnings()].concat(),
        },
    };
    let mut out = String::new();
    for diagnostic in &said {
        writeln!(out, "{}", diagnostic.render(text, "query", false)).unwrap();
    }
    if said.is_empty() {
        out += "fine\n";
    }
    // Blanks at the ends of lines are ignored.
    out.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

#[test]
fn messages_are_as_agreed() {
    check("errors.txt", 80);
}

#[test]
fn messages_about_lists_are_as_agreed() {
    check("errors-cql5.txt", 80);
}

fn check(name: &str, at_least: usize) {
    let table = data(name);
    let queries: Vec<String> = table
        .lines()
        .filter_map(|line| line.strip_prefix("> "))
        .map(|query| query.replace("\\n", "\n"))
        .collect();
    assert!(queries.len() >= at_least, "{} queries", queries.len());
    let mut ours = String::new();
    for query in &queries {
        writeln!(ours, "> {}\n{}", query.replace('\n', "\\n"), printed(query)).unwrap();
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        std::fs::write(path, &ours).unwrap();
        return;
    }
    let differing: Vec<String> = ours
        .split("\n> ")
        .zip(table.split("\n> "))
        .filter(|(found, expected)| found.trim() != expected.trim())
        .map(|(found, expected)| format!("found\n> {found}\nexpected\n> {expected}"))
        .collect();
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

/// The message about a misspelt keyword must suggest the keyword that was probably meant.
#[test]
fn misspelt_words_get_a_suggestion() {
    for (text, meant) in [
        ("flipcolour Ra1", "flipcolor"),
        ("fliphorizntal Ra1", "fliphorizontal"),
        ("Shift R", "shift"),
        ("atacks", "attacks"),
        ("stalmate", "stalemate"),
        ("passedpawn", "passedpawns"),
        ("betwen(R r)", "between"),
        ("pseudolegel --", "pseudolegal"),
        ("northest R", "northeast"),
        ("movenumbr > 3", "movenumber"),
        ("(position :fliphorizntal)", ":fliphorizontal"),
        ("(position :atackcount R k 1)", ":attackcount"),
        ("(position :Shift)", ":shift"),
        ("(position :flipcolour)", ":flipcolor"),
    ] {
        let error = orbit_query::parse(text).expect_err(text);
        assert_eq!(error.help, Some(format!("did you mean `{meant}`?")), "{text}");
    }
}

/// The time to read a query grows with its length alone, however its operands and parentheses are nested.
#[test]
fn deeply_nested_queries_are_refused_at_once() {
    let sums = format!("path -- {}zzz", "ply + path -- ".repeat(60));
    let parentheses = format!("line --> {}", "(".repeat(900_000));
    let closed = format!("line --> {}check{}", "(".repeat(300_000), ")".repeat(300_000));
    for text in [sums, parentheses, closed] {
        orbit_query::parse(&text).expect_err("this is no query");
    }
}
