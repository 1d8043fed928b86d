//! Checks names and documentation: each type name must have only one meaning, constructors and module files must have the usual
//! names, and comments must begin with their subjects.

use std::collections::{BTreeMap, BTreeSet};

use super::exports::{items, types_in};
use super::{assert_none, files, places, read, sources, tokens};

/// Words that begin a relative clause without a noun, as in "What a query finds".
const RELATIVES: [&str; 8] = ["What", "Whether", "How", "Where", "Which", "Why", "Who", "Of"];

/// The maximum percentage of documentation comments that begin with one of the [`RELATIVES`].
const RELATIVES_MAX: usize = 3;

/// Type names that may be defined in several files. Each subcommand has a type `Args`. The other types have a second definition
/// for builds without the GPU engine or without machine code.
const SHARED: [&str; 7] = ["Args", "Gpu", "GpuDevice", "Kernel", "Native", "Resident", "Work"];

/// Names of aliases for the kinds of filters. `query` defines them for a tree in any form, `transforms` for a tree whose
/// transforms are expanded; the compiler distinguishes the forms.
const ALIASES: [&str; 5] = ["Condition", "Number", "Position", "Squares", "Text"];

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

fn begins_with_a_relative(comment: &str) -> bool {
    let word = comment.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    RELATIVES.contains(&word)
}

/// Returns the names of the types, including public aliases, that a file defines outside its tests.
fn types(text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    let after = |kind: &str, words: usize| places(&tokens, kind).into_iter().map(move |at| at + words);
    let named = ["struct", "enum", "trait", "union"].into_iter().flat_map(|kind| after(kind, 1));
    let names = named.chain(after("pub type", 2)).filter_map(|at| Some(tokens.get(at)?.word.clone()));
    names.filter(|name| name.starts_with(char::is_uppercase)).collect()
}

/// Returns a file's functions `of` and `of_...` that return their own type. By the project rules, constructors are called `new`,
/// `from_...` or `with_...`.
fn constructors(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for item in items(text.parse().unwrap()) {
        let Some((ty, _)) = item.implemented() else { continue };
        for function in items(item.body) {
            let words: Vec<String> = (0..function.head.len()).map(|at| function.word(at)).collect();
            let name = words.iter().skip_while(|word| *word != "fn").nth(1);
            let Some(name) = name.filter(|name| *name == "of" || name.starts_with("of_")) else { continue };
            let returned = function.head.iter().rposition(|tree| tree.to_string() == "-");
            let returned = returned.map_or(BTreeSet::new(), |at| types_in(&function.head[at..]));
            if returned.contains("Self") || returned.contains(&ty) {
                out.push(format!("{ty}::{name}"));
            }
        }
    }
    out
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
    let wrong = "pub struct A;\n enum B {}\npub(super) trait C { type F; }\npub type E = A;\n#[cfg(test)]\nmod t { struct D; }";
    assert_eq!(types(wrong), ["A", "B", "C", "E"].map(String::from).into());
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in sources() {
        for name in types(&read(&path)) {
            files.entry(name.to_owned()).or_default().push(path.clone());
        }
    }
    let excepted = |name: &str| SHARED.contains(&name) || ALIASES.contains(&name);
    let shared = files.into_iter().filter(|(name, files)| files.len() > 1 && !excepted(name));
    assert_none(shared.map(|(name, files)| format!("{name}: {}", files.join(", "))).collect());
}

#[test]
fn constructors_have_the_usual_names() {
    let wrong = "impl A { fn of(x: B) -> Self {} pub const fn of_b(f: impl Fn(B) -> A) -> Option<A> {} fn of_c() -> B {} }
        impl<'a> From<B> for C<'a> { fn of_d(self) -> C<'a> {} fn new() -> C {} fn offer() -> C {} }";
    assert_eq!(constructors(wrong), ["A::of", "A::of_b", "C::of_d"]);
    let wrong = sources().into_iter().flat_map(|path| {
        let found = constructors(&read(&path));
        found.into_iter().map(move |name| format!("{path}: {name}"))
    });
    assert_none(wrong.collect());
}

#[test]
fn modules_are_files_beside_their_folders() {
    let is_source = |path: &&String| ["crates/", "src/"].iter().any(|folder| path.starts_with(folder));
    let wrong = files().iter().filter(is_source).filter(|path| path.ends_with("/mod.rs")).cloned().collect();
    assert_none(wrong);
}
