//! Checks names and documentation: each type name must have only one meaning, and a comment must begin with its
//! subject.

use std::collections::{BTreeMap, BTreeSet};

use super::{assert_none, places, read, sources, tokens};

/// Words that begin a relative clause without a noun, as in "What a query finds".
const RELATIVES: [&str; 8] = ["What", "Whether", "How", "Where", "Which", "Why", "Who", "Of"];

/// The percentage of documentation comments that may begin with one of these words.
const RELATIVES_MAX: usize = 3;

/// Names of types that may be defined in several files. Each subcommand has a type `Args`. The other types have a
/// second definition for builds without the GPU engine or without machine code.
const SHARED: [&str; 7] = ["Args", "Gpu", "GpuDevice", "Kernel", "Native", "Resident", "Work"];

/// Returns the line number and the text of the first line of every documentation comment.
fn documentation(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if let Some(comment) = comment.filter(|_| !goes_on) {
            out.push((number, comment.trim_start()));
        }
        goes_on = comment.is_some();
    }
    out
}

/// Returns true if a comment begins with a relative clause without a noun.
fn begins_with_a_relative(comment: &str) -> bool {
    let word = comment.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    RELATIVES.contains(&word)
}

/// Returns the names of the types that a file defines outside its tests.
fn types(text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    let named = |kind: &str| places(&tokens, kind).into_iter().filter_map(|at| tokens.get(at + 1));
    let names =
        ["struct", "enum", "trait", "union"].into_iter().flat_map(named).map(|token| token.word.clone());
    names.filter(|name| name.starts_with(char::is_uppercase)).collect()
}

#[test]
fn documentation_begins_with_its_subject() {
    let wrong = "/// What it finds.\n/// Of that.\nfn a() {}\n//! Whether.\n/// Whatever it is.\n// How.\n///  Of it.";
    let found: Vec<_> =
        documentation(wrong).into_iter().filter(|(_, text)| begins_with_a_relative(text)).collect();
    assert_eq!(found, [(1, "What it finds."), (4, "Whether."), (7, "Of it.")]);
    let (mut all, mut relative) = (0, Vec::new());
    for path in sources() {
        for (line, comment) in documentation(&read(&path)) {
            all += 1;
            if begins_with_a_relative(comment) {
                relative.push(format!("{path}:{line}: {comment}"));
            }
        }
    }
    if relative.len() * 100 >= all * RELATIVES_MAX {
        assert_none(relative);
    }
}

#[test]
fn type_names_mean_one_thing() {
    let wrong = "pub struct A;\n enum B {}\npub(super) trait C {}\nfn union(a: B) {}\n#[cfg(test)]\nmod t { struct D; }";
    assert_eq!(types(wrong), ["A", "B", "C"].map(String::from).into());
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in sources() {
        for name in types(&read(&path)) {
            files.entry(name.to_owned()).or_default().push(path.clone());
        }
    }
    let shared =
        files.into_iter().filter(|(name, files)| files.len() > 1 && !SHARED.contains(&name.as_str()));
    assert_none(shared.map(|(name, files)| format!("{name}: {}", files.join(", "))).collect());
}
