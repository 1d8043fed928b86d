//! Checks the table of allowed imports as a whole: it must have no unused entries and no cycles, and must equal the table in
//! docs/dev/imports.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{
    ARROWS, EXCEPT, ROOTS, Token, documents::shows, module, paths, read, sources, tokens, tree, unit,
};

/// The crates, each with its folder, its name in paths, and the unit that consists of the whole crate (`None` if the crate has
/// several units).
pub(super) const CRATES: &[(&str, &str, Option<&str>)] = &[
    ("command", "orbit_command", Some("command")),
    ("core", "orbit_core", None),
    ("database", "orbit_database", Some("database")),
    ("engine", "orbit_engine", Some("engine")),
    ("pgn", "orbit_pgn", Some("pgn")),
    ("plan", "orbit_plan", Some("plan")),
    ("query", "orbit_query", Some("query")),
    ("reel", "orbit_reel", Some("reel")),
    ("reference", "orbit_reference", Some("reference")),
    ("search", "orbit_search", None),
    ("transforms", "orbit_transforms", Some("transforms")),
    ("visits", "orbit_visits", Some("visits")),
    ("witness", "orbit_witness", Some("witness")),
];

/// The imports of every module, as paths with re-exports resolved.
struct Imports {
    modules: BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
}

impl Imports {
    /// Computes the imports of files, given as path and source text.
    fn from_files(files: &[(String, String)]) -> Imports {
        let texts: BTreeMap<Vec<String>, Vec<Token>> =
            files.iter().map(|(file, text)| (module(file), tokens(text))).collect();
        // For each re-exported name, the path of its definition: `pub use child::Name` creates the name `folder::Name`.
        let mut exported: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for (module, text) in &texts {
            for path in relative_uses(module, text) {
                let is_child = path.len() > module.len() + 1 && texts.contains_key(&path[..=module.len()]);
                if is_child && let Some(name) = path.last() {
                    exported.insert([&module[..], std::slice::from_ref(name)].concat(), path);
                }
            }
        }
        let resolved = |path: &str| {
            let mut path: Vec<String> = path.split("::").map(String::from).collect();
            // A name may be re-exported several times, from folder to folder.
            for _ in 0..4 {
                let found = (1..=path.len()).rev().find_map(|end| Some((end, exported.get(&path[..end])?)));
                let Some((end, origin)) = found else { break };
                path = [origin, &path[end..]].concat();
            }
            path
        };
        let imports = |(module, text): (&Vec<String>, &Vec<Token>)| {
            (module.clone(), paths(module, text).iter().map(|path| resolved(path)).collect())
        };
        Imports { modules: texts.iter().map(imports).collect() }
    }

    /// Returns the imports between the modules of each folder.
    fn folders(&self) -> BTreeMap<&[String], BTreeSet<(&str, &str)>> {
        let mut out: BTreeMap<&[String], BTreeSet<(&str, &str)>> = BTreeMap::new();
        for (module, imports) in &self.modules {
            for path in imports {
                let common = module.iter().zip(path).take_while(|(a, b)| a == b).count();
                let (Some(from), Some(to)) = (module.get(common), path.get(common)) else { continue };
                if common > 0 && self.modules.contains_key(&path[..=common]) {
                    out.entry(&module[..common]).or_default().insert((from, to));
                }
            }
        }
        out
    }

    /// Returns the cycles: groups of modules in one folder that import each other, directly or indirectly. A cycle is described
    /// by the folder and the module names.
    fn circles(&self) -> Vec<String> {
        let mut out = Vec::new();
        for (folder, arrows) in self.folders() {
            let names: BTreeSet<&str> = arrows.iter().flat_map(|&(from, to)| [from, to]).collect();
            let reached: BTreeMap<&str, BTreeSet<&str>> =
                names.iter().map(|&name| (name, reached(&arrows, name))).collect();
            let circle = |name: &&str| {
                let others = reached[name].iter().filter(|other| reached[**other].contains(name));
                others.copied().collect::<BTreeSet<&str>>()
            };
            let circles: BTreeSet<BTreeSet<&str>> = names.iter().map(circle).collect();
            for circle in circles.into_iter().filter(|circle| circle.len() > 1) {
                out.push(format!("{}: {}", folder.join("::"), Vec::from_iter(circle).join(", ")));
            }
        }
        out.sort();
        out
    }
}

/// Returns the modules that a module imports, directly or indirectly.
fn reached<'a>(arrows: &BTreeSet<(&str, &'a str)>, from: &str) -> BTreeSet<&'a str> {
    let next = |from: &str| arrows.iter().filter(|arrow| arrow.0 == from).map(|arrow| arrow.1).collect();
    let mut open: Vec<&str> = next(from);
    let mut out = BTreeSet::new();
    while let Some(name) = open.pop() {
        if out.insert(name) {
            open.extend(next(name));
        }
    }
    out
}

/// Returns the paths in a module's `use` items that begin with one of its child modules.
fn relative_uses(module: &[String], tokens: &[Token]) -> Vec<Vec<String>> {
    let mut found = BTreeSet::new();
    for at in (0..tokens.len()).filter(|&at| tokens[at].word == "use") {
        let is_relative = |first: &Token| !["crate", "super", "self", "::"].contains(&first.word.as_str());
        if tokens.get(at + 1).is_some_and(is_relative) {
            tree(&tokens[at + 1..], module.to_vec(), &mut found);
        }
    }
    found.iter().map(|path| path.split("::").map(String::from).collect()).collect()
}

fn all() -> Vec<(String, String)> {
    let files = sources().into_iter().filter(|file| !ROOTS.contains(&file.as_str()));
    files.map(|file| (file.clone(), read(&file))).collect()
}

#[test]
fn circles_are_found() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let files = [
        file("crates/core/src/a/mod.rs", "mod x; mod y; mod z; pub use z::{Deep, inner::Deeper};"),
        file("crates/core/src/a/x.rs", "use super::y::Y; use crate::a::W;"),
        file("crates/core/src/a/y.rs", "use super::Deep;"),
        file("crates/core/src/a/z.rs", "fn f() { super::x::g() }"),
        file("crates/core/src/a/w.rs", "use super::x::X;"),
    ];
    assert_eq!(Imports::from_files(&files).circles(), ["a: x, y, z"]);
    assert_eq!(Imports::from_files(&files[..3]).circles(), [""; 0]);
}

#[test]
fn folders_have_no_circles() {
    let found = Imports::from_files(&all()).circles();
    assert_eq!(found, [""; 0], "modules of one folder that import each other");
}

/// Returns the unit that consists of a path's whole crate, if there is one.
fn crate_of(path: &str) -> Option<&'static str> {
    CRATES.iter().filter_map(|it| it.2).find(|root| path.split("::").next() == Some(root))
}

#[test]
fn every_allowed_arrow_is_used() {
    let mut used = BTreeSet::new();
    for (file, text) in all() {
        let module = module(&file);
        let Some(from) = unit(&module.join("::")) else { continue };
        let imported = |path: &String| unit(path).or_else(|| crate_of(path)).map(|to| (from, to));
        used.extend(paths(&module, &tokens(&text)).iter().filter_map(imported));
    }
    let allowed = ARROWS.iter().flat_map(|(from, to, _)| to.iter().map(move |to| (*from, *to)));
    let unused: Vec<_> = allowed.filter(|arrow| !used.contains(arrow)).collect();
    assert_eq!(unused, [], "allowed arrows that nobody uses");
}

fn table() -> String {
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let mut out = String::from("| module | may import | why |\n|---|---|---|\n");
    for (module, imports, why) in ARROWS {
        let imports = match imports {
            [] => "no module of orbit".into(),
            names => quoted(names),
        };
        writeln!(out, "| `{module}` | {imports} | {why} |").unwrap();
    }
    out += "\nThese imports are forbidden although a row or a `Cargo.toml` would allow them:\n\n";
    for (module, item, why) in EXCEPT {
        writeln!(out, "- `{module}` never imports `{item}`: {why}.").unwrap();
    }
    out
}

#[test]
fn the_page_of_imports_shows_the_table() {
    shows("docs/dev/imports.md", "imports", &table());
}
