//! Checks project rules that the compiler does not check: the imports between modules, the lengths of files, the words that they
//! may contain, and the paths that documents name.

mod arrows;
mod documents;
mod exports;
mod listing;
mod names;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

use self::arrows::CRATES;

const LINES_MAX: usize = 800;

/// The units that each unit may import, with the reason. A unit is a module with all modules below it, except those that are
/// units themselves. The unit `engine` is `crates/engine/src/lib.rs`. A crate's manifest limits its imports of other crates; this
/// table limits the imports between modules in crates with several units. docs/dev/imports.md shows the table.
const ARROWS: &[(&str, &[&str], &str)] = &[
    ("board", &[], "all other modules use it"),
    ("visible", &[], "escapes the characters that must not be shown"),
    ("isa", &[], "detects the instruction sets of the processor"),
    ("sync", &[], "locks that ignore poisoning, and values that wait for another thread"),
    ("interrupt", &[], "a switch that ends a search early"),
    ("record", &[], "the data of a game other than its moves"),
    ("regexes", &["interrupt"], "a search counts its steps, and stops at an interrupt"),
    ("files", &["sync"], "writes output files, whatever they contain"),
    ("diagnostic", &["visible"], "messages about a text, with the places of the errors"),
    ("text", &[], "decodes the bytes of all games in the same way"),
    ("named", &["diagnostic"], "choices with names, and suggestions for misspelt names"),
    ("fen", &["board"], "reads and writes positions as text"),
    ("game", &["board", "diagnostic", "fen", "text"], "reads headers, and suggests names for misspelt tags"),
    (
        "positions",
        &["board", "diagnostic", "fen"],
        "transforms positions, and reports errors in the names of transforms",
    ),
    (
        "engine",
        &[
            "board",
            "diagnostic",
            "files",
            "game",
            "interrupt",
            "isa",
            "plan",
            "query",
            "record",
            "reel",
            "regexes",
            "text",
        ],
        "defines the interface of all engines; flat programs read tags as strings; compiled kernels are stored in files",
    ),
    (
        "engine::prepared",
        &["diagnostic", "engine", "engine::cpu", "engine::gpu", "engine::reference", "plan", "query"],
        "a prepared query contains a query in every form that an engine can read",
    ),
    (
        "engine::wants",
        &["engine", "game"],
        "says which data a search must read; a measure determines the comments that it needs",
    ),
    ("engine::columns", &["engine", "game", "plan", "reel", "text"], "turns tags into columns of a plan"),
    (
        "engine::cpu",
        &["board", "engine", "engine::columns", "engine::context", "isa", "plan", "reel", "sync"],
        "runs plans, so it must not import `query`",
    ),
    (
        "engine::gpu",
        &["board", "engine", "engine::columns", "engine::context", "files", "plan", "reel", "sync"],
        "runs plans, so it must not import `query`; compiled kernels are stored in files",
    ),
    (
        "engine::context",
        &["engine", "engine::columns", "plan", "reel"],
        "the data of a block that several outputs share",
    ),
    (
        "engine::fallback",
        &["engine", "engine::gpu", "reel"],
        "uses the graphics card until it fails, then the processor",
    ),
    (
        "engine::comments",
        &["engine", "engine::cpu", "plan", "query", "reel"],
        "a plan finds the comments of hits, or the alternatives that the reference engine evaluates for them",
    ),
    (
        "engine::narrowed",
        &["engine", "engine::cpu", "engine::reference", "plan", "query", "reel"],
        "a plan selects the games that the reference engine searches",
    ),
    (
        "engine::lasting",
        &["engine", "engine::cpu", "engine::reference", "query", "reel"],
        "a plan finds the games that the reference engine evaluates",
    ),
    (
        "engine::settled",
        &["engine", "engine::reference", "reel"],
        "the reference engine reports the errors of queries",
    ),
    ("engine::texts", &["engine", "engine::reference", "reel"], "the reference engine computes the strings"),
    (
        "engine::verify",
        &["engine", "pgn", "reel", "sync"],
        "packs games again for the engine that checks the answers",
    ),
    (
        "engine::reference",
        &["engine", "engine::comments", "query", "reel", "reference", "sync"],
        "passes the games of blocks to `reference`, and collects its answers",
    ),
    (
        "reference",
        &["board", "diagnostic", "files", "interrupt", "query", "record", "regexes", "sync", "text"],
        "must not import `game`, because it reads tags independently; errors have a place in the query, and queries can read files",
    ),
    (
        "executor",
        &[
            "board",
            "choice",
            "database",
            "diagnostic",
            "engine",
            "engine::cpu",
            "engine::fallback",
            "engine::gpu",
            "engine::lasting",
            "engine::narrowed",
            "engine::reference",
            "engine::settled",
            "engine::texts",
            "engine::verify",
            "found",
            "named",
            "transforms",
            "plan",
            "query",
            "reel",
            "sync",
        ],
        "runs queries",
    ),
    (
        "found",
        &["board", "engine", "reel", "transforms"],
        "the answers that are passed to choices, lists, counts and collectors",
    ),
    (
        "library",
        &[
            "board",
            "choice",
            "database",
            "diagnostic",
            "engine",
            "engine::gpu",
            "engine::verify",
            "files",
            "found",
            "game",
            "transforms",
            "pgn",
            "plan",
            "query",
            "reel",
            "report",
            "request",
            "run",
            "executor",
            "stats",
            "sync",
            "text",
            "themes",
            "visits",
        ],
        "the public interface of the crate; a database keeps its tables of positions open",
    ),
    (
        "job",
        &["database", "files", "found", "pgn", "reel", "request", "run", "executor", "text"],
        "writes the parts of a run, and reads them again",
    ),
    (
        "serve",
        &[
            "choice",
            "diagnostic",
            "engine",
            "engine::gpu",
            "engine::reference",
            "explore",
            "files",
            "found",
            "transforms",
            "pgn",
            "query",
            "reel",
            "report",
            "request",
            "run",
            "library",
            "stats",
            "sync",
            "text",
            "themes",
            "visible",
        ],
        "opens databases under names, also those in archives, and answers requests about them as JSON",
    ),
    (
        "explore",
        &[
            "board", "choice", "database", "engine", "found", "game", "reel", "report", "run", "stats",
            "visible", "visits",
        ],
        "collects the moves played in a position, and writes them",
    ),
    (
        "profile",
        &[
            "board",
            "choice",
            "database",
            "diagnostic",
            "engine",
            "found",
            "game",
            "plan",
            "query",
            "reel",
            "report",
            "run",
            "stats",
            "themes",
            "visible",
            "visits",
        ],
        "computes the statistics of a player, and writes them",
    ),
    ("themes", &["diagnostic", "query"], "reads queries with names"),
    (
        "report",
        &[
            "board",
            "database",
            "engine",
            "fen",
            "found",
            "game",
            "named",
            "pgn",
            "reel",
            "text",
            "transforms",
            "visible",
        ],
        "shows hits",
    ),
    (
        "choice",
        &["board", "diagnostic", "engine", "fen", "found", "game", "named", "reel"],
        "selects games by their hits, tags and comments; positions are given as FEN",
    ),
    (
        "stats",
        &["board", "diagnostic", "engine", "found", "game", "reel", "report", "text", "visible", "visits"],
        "counts hits by tags, plies, values and copies",
    ),
    (
        "run",
        &[
            "board",
            "choice",
            "database",
            "engine",
            "found",
            "game",
            "pgn",
            "query",
            "reel",
            "report",
            "executor",
            "stats",
            "sync",
            "text",
            "transforms",
        ],
        "turns hits into lists, counts and findings",
    ),
    (
        "request",
        &[
            "choice",
            "diagnostic",
            "engine",
            "engine::verify",
            "game",
            "named",
            "query",
            "reel",
            "report",
            "executor",
            "stats",
            "text",
            "themes",
        ],
        "combines the options of all these modules",
    ),
];

/// Files that declare modules but are in no unit, so they may import every module.
const ROOTS: [&str; 4] = ["crates/core/src/lib.rs", "crates/search/src/lib.rs", "src/lib.rs", "src/main.rs"];

/// Imports that are forbidden although [`ARROWS`] allows imports from the unit.
const EXCEPT: &[(&str, &str, &str)] = &[
    ("reference", "board::Dihedral", "it has its own transform arithmetic"),
    ("reference", "board::SquareMap", "it has its own transform arithmetic"),
    ("reference", "board::shift", "it has its own transform arithmetic"),
    ("reference", "board::translate", "it has its own transform arithmetic"),
    ("reference", "board::full_lines", "it has its own transform arithmetic"),
    ("reference", "board::attacks", "it uses the attacks of shakmaty"),
    ("reference", "board::legal", "it uses the moves of shakmaty"),
    ("reference", "board::moves", "it uses the moves of shakmaty"),
    ("witness", "board::legal", "it uses the moves of shakmaty"),
    ("witness", "board::moves", "it uses the moves of shakmaty"),
    ("witness", "board::attacks", "it uses the attacks of shakmaty"),
    ("witness", "board::san", "shakmaty parses the moves"),
    ("transforms", "query::parse", "it uses the typed tree of a query, not its text"),
    ("plan", "query::parse", "it uses the typed tree of a query, not its text"),
    ("engine", "query::parse", "it uses the typed tree of a query, not its text"),
    ("reference", "query::parse", "it uses the typed tree of a query, not its text"),
];

/// Words that must not occur, because they are not about the project. The second string names the only file in which the word may
/// occur, if any.
const FORBIDDEN: &[(&str, &str)] = &[
    ("/work/", ""),
    ("/tmp/", ""),
    ("/home/", ""),
    ("shared/", ".ci/run"),
    ("this session", ""),
    ("issue #", ""),
    ("TODO", ""),
    ("FIXME", ""),
    ("todo!(", ""),
    ("dbg!(", ""),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    String::from_utf8_lossy(&fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .into_owned()
}

/// Returns the project's files, except those that git ignores.
fn files() -> Vec<String> {
    let list =
        Command::new("git").args(["ls-files", "-co", "--exclude-standard"]).current_dir(root()).output();
    let found: Vec<String> = match list {
        Ok(list) if list.status.success() => {
            String::from_utf8(list.stdout).unwrap().lines().map(String::from).collect()
        }
        // A source archive has no git repository, so all files below its folder are listed.
        _ => below(Path::new("")),
    };
    let found: Vec<String> = found.into_iter().filter(|path| root().join(path).is_file()).collect();
    assert!(
        found.iter().any(|path| path == "tests/suite/tidy.rs"),
        "the list of files does not hold this one"
    );
    found
}

fn below(folder: &Path) -> Vec<String> {
    let mut out = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = folder.join(entry.unwrap().file_name());
        match root().join(&path).is_dir() {
            true if path == Path::new("target") || path == Path::new(".git") => {}
            true => out.extend(below(&path)),
            false => out.push(path.to_str().unwrap().to_owned()),
        }
    }
    out
}

/// Returns the source files. A file called `tests.rs` is the test module of its folder.
fn sources() -> Vec<String> {
    let is_source = |path: &String| {
        (path.starts_with("src/") || path.starts_with("crates/"))
            && path.ends_with(".rs")
            && !path.ends_with("/tests.rs")
    };
    files().into_iter().filter(is_source).collect()
}

/// A token of a source text (a word, a sign or a bracket), and its line.
struct Token {
    word: String,
    line: usize,
}

/// Returns the tokens of a source text, except comments, literals and test modules.
fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let stream = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
    flatten(stream, &mut out);
    out
}

fn flatten(stream: TokenStream, out: &mut Vec<Token>) {
    let token = |word: &str, span: Span| Token { word: word.to_owned(), line: span.start().line };
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(word) => out.push(token(&word.to_string(), word.span())),
            TokenTree::Literal(_) => {}
            TokenTree::Punct(sign) if sign.as_char() == '#' && trees.peek().is_some_and(is_cfg_test) => {
                let ends = |tree: &TokenTree| match tree {
                    TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                    TokenTree::Punct(sign) => sign.as_char() == ';',
                    _ => false,
                };
                trees.find(ends);
            }
            TokenTree::Punct(sign) => {
                let is_colon =
                    |tree: &TokenTree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == ':');
                let begins = sign.as_char() == ':' && sign.spacing() == Spacing::Joint;
                let is_path = begins && trees.next_if(is_colon).is_some();
                let word = if is_path { "::".into() } else { sign.to_string() };
                out.push(token(&word, sign.span()));
            }
            TokenTree::Group(group) => {
                let [open, close] = match group.delimiter() {
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::None => ["", ""],
                };
                out.push(token(open, group.span_open()));
                flatten(group.stream(), out);
                out.push(token(close, group.span_close()));
            }
        }
    }
}

/// Returns true if an attribute is `cfg(test)`.
fn is_cfg_test(attribute: &TokenTree) -> bool {
    matches!(attribute, TokenTree::Group(group) if group.stream().to_string().replace(' ', "") == "cfg(test)")
}

/// Returns the indices at which the tokens of `wanted` occur consecutively in `tokens`.
fn places(tokens: &[Token], wanted: &str) -> Vec<usize> {
    let wanted: Vec<String> = self::tokens(wanted).into_iter().map(|token| token.word).collect();
    let is_there = |found: &[Token]| found.iter().zip(&wanted).all(|(token, word)| token.word == *word);
    let windows = tokens.windows(wanted.len()).enumerate();
    windows.filter(|(_, found)| is_there(found)).map(|(at, _)| at).collect()
}

/// Returns lines of a source text in the form `number: text`.
fn numbered(text: &str, lines: BTreeSet<usize>) -> Vec<String> {
    let line = |number: usize| text.lines().nth(number - 1).unwrap_or_default().trim();
    lines.into_iter().map(|number| format!("{number}: {}", line(number))).collect()
}

/// Returns all paths in a file that begin with `crate`, `super` or a crate of the project. Modules have the names that [`module`]
/// returns.
fn paths(module: &[String], tokens: &[Token]) -> BTreeSet<String> {
    let is_module = |root: &&str| module.first().is_some_and(|first| first == root);
    let own: Vec<String> =
        CRATES.iter().filter_map(|it| it.2).find(is_module).into_iter().map(String::from).collect();
    let mut out = BTreeSet::new();
    for at in 0..tokens.len() {
        let word = tokens[at].word.as_str();
        let is_path = tokens.get(at + 1).is_some_and(|next| next.word == "::")
            && (at == 0 || tokens[at - 1].word != "::");
        let base = match word {
            "crate" => own.clone(),
            "super" => module[..module.len().saturating_sub(1)].to_vec(),
            name => match CRATES.iter().find(|it| it.1 == name) {
                Some(it) => it.2.into_iter().map(String::from).collect(),
                None => continue,
            },
        };
        if is_path {
            tree(&tokens[at + 2..], base, &mut out);
        }
    }
    out
}

/// Parses a path or one tree of a `use` item, and adds its paths to `out`. Returns the number of parsed tokens.
fn tree(tokens: &[Token], mut path: Vec<String>, out: &mut BTreeSet<String>) -> usize {
    let word = |at: usize| tokens.get(at).map(|token| token.word.as_str());
    let mut at = 0;
    loop {
        match word(at) {
            Some("{") => {
                at += 1;
                while word(at).is_some_and(|word| word != "}") {
                    at += tree(&tokens[at..], path.clone(), out);
                    if word(at) == Some(",") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            Some("super") => drop(path.pop()),
            Some("self") => {}
            Some(word) if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                path.push(word.to_owned());
            }
            _ => {}
        }
        at += 1;
        if word(at) != Some("::") {
            out.insert(path.join("::"));
            return if word(at) == Some("as") { at + 2 } else { at };
        }
        at += 1;
    }
}

/// Returns a source file's module path: for `crates/engine/src/cpu.rs`, `engine::cpu`.
fn module(path: &str) -> Vec<String> {
    let (folder, path) = path.strip_prefix("crates/").unwrap().split_once("/src/").unwrap();
    let path = path.strip_suffix(".rs").unwrap();
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let inside = path.split('/').filter(|part| *part != "lib");
    root_of(|it| it.0 == folder).into_iter().chain(inside).map(String::from).collect()
}

/// Returns the unit that consists of a whole crate, if the crate has only one unit.
fn root_of(is_it: impl Fn(&(&str, &str, Option<&'static str>)) -> bool) -> Option<&'static str> {
    CRATES.iter().find(|it| is_it(it)).and_then(|it| it.2)
}

/// Returns the innermost unit that contains a path, which is the one with the longest name.
fn unit(path: &str) -> Option<&'static str> {
    let inside =
        |unit: &&str| path == *unit || path.strip_prefix(*unit).is_some_and(|rest| rest.starts_with("::"));
    ARROWS.iter().map(|arrow| arrow.0).filter(inside).max_by_key(|unit| unit.len())
}

fn misplaced(file: &str, text: &str) -> Vec<String> {
    let module = module(file);
    let name = module.join("::");
    let from = unit(&name);
    if from.is_none() && !is_crate(&module) {
        return vec![format!("{file}: its module is not in the table")];
    }
    let allowed = ARROWS.iter().find(|arrow| Some(arrow.0) == from).map(|arrow| arrow.1);
    let mut wrong = Vec::new();
    for path in paths(&module, &tokens(text)) {
        let parts: Vec<String> = path.split("::").map(String::from).collect();
        match (unit(&path), allowed) {
            // A capitalised name is a type that is exported at the root of a crate.
            (None, _) if !is_crate(&parts) && !parts[0].starts_with(char::is_uppercase) => {
                wrong.push(format!("{file}: `{path}` lies in no module of the table"))
            }
            (Some(to), Some(allowed)) if Some(to) != from && !allowed.contains(&to) => {
                wrong.push(format!("{file}: `{name}` may not import `{path}`"));
            }
            (None, Some(allowed)) if !allowed.contains(&parts[0].as_str()) => {
                wrong.push(format!("{file}: `{name}` may not import `{path}`"));
            }
            _ => {}
        }
        for (unit, item, why) in EXCEPT {
            let is_there = name == *unit || name.starts_with(&format!("{unit}::"));
            if is_there && (path == *item || path.starts_with(&format!("{item}::"))) {
                wrong.push(format!("{file}: `{unit}` may not import `{path}`: {why}"));
            }
        }
    }
    wrong
}

/// Returns true if a module is in a crate that is a single unit. The manifest of such a crate limits its imports.
fn is_crate(module: &[String]) -> bool {
    CRATES.iter().any(|it| it.2.is_some_and(|root| module.first().is_some_and(|first| first == root)))
}

fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn imports_go_one_way() {
    let mut arrows = 0;
    let mut wrong = Vec::new();
    for file in sources().iter().filter(|file| !ROOTS.contains(&file.as_str())) {
        let text = read(file);
        arrows += paths(&module(file), &tokens(&text)).len();
        wrong.extend(misplaced(file, &text));
    }
    assert!(arrows > 100, "only {arrows} imports were found");
    assert_none(wrong);
}

#[test]
fn a_wrong_import_is_found_however_it_is_written() {
    let wrong = [
        ("crates/engine/src/cpu/kernels.rs", "use orbit_query::Query;"),
        ("crates/engine/src/cpu/kernels.rs", "use orbit_query::{self as q};"),
        ("crates/engine/src/cpu/kernels.rs", "fn f() { orbit_query::f(\"\"); }"),
        ("crates/engine/src/cpu/mod.rs", "use super::{Hits, reference::Bulk};"),
        ("crates/reference/src/eval.rs", "use orbit_core::board::{Code, Dihedral};"),
        ("crates/reference/src/eval.rs", "let c = 'x'; let d = '\"'; orbit_plan::TRUE"),
        (
            "crates/core/src/board/mv.rs",
            "#[cfg(test)] mod tests { use crate::fen; }\nuse crate::game::Tags as G;",
        ),
        ("crates/core/src/text.rs", "/* crate::board */ let s = r#\"\"\"#; crate::board::Hits"),
        ("crates/core/src/text.rs", "/* /* */ */ f(br##\"a\"#b\"##, matches!(x, crate::board::Hits { .. }))"),
        ("crates/core/src/nowhere.rs", ""),
        ("crates/search/src/themes.rs", "use crate::everything::All;"),
        ("crates/transforms/src/text.rs", "use orbit_query::parse;"),
    ];
    for (file, text) in wrong {
        assert_eq!(misplaced(file, text).len(), 1, "{file}: {text}");
    }
    let right = [
        (
            "crates/engine/src/cpu/kernels.rs",
            "use super::Machine; use super::super::Hits; use orbit_plan::Plan;",
        ),
        ("crates/core/src/board/mv.rs", "// crate::fen\n/// crate::fen\nlet s = \"crate::fen\";"),
        ("crates/core/src/board/mv.rs", "#[cfg(test)]\nmod tests { fn f() { { crate::fen::x() } } }"),
        ("crates/reel/src/block.rs", "use super::{Strings, board::*}; pub(crate) fn f() {}"),
    ];
    for (file, text) in right {
        assert_none(misplaced(file, text));
    }
}

#[test]
fn files_are_short() {
    let rust = files().into_iter().filter(|path| path.ends_with(".rs"));
    let lengths = rust.map(|path| (read(&path).lines().count(), path));
    assert_none(
        lengths
            .filter(|&(lines, _)| lines > LINES_MAX)
            .map(|(lines, path)| format!("{path}: {lines} lines, at most {LINES_MAX}"))
            .collect(),
    );
}

fn unwraps(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    numbered(text, places(&tokens, ".unwrap()").into_iter().map(|at| tokens[at].line).collect())
}

#[test]
fn the_library_does_not_unwrap() {
    let wrong = "f();\nx.unwrap();\n#[cfg(test)]\nmod t { y.unwrap() }\n// z.unwrap()\nx\n.unwrap\n()";
    assert_eq!(unwraps(wrong), ["2: x.unwrap();", "7: .unwrap"]);
    let wrong = sources().into_iter().flat_map(|path| {
        unwraps(&read(&path)).into_iter().map(move |line| format!("{path}:{line}; say why it cannot fail"))
    });
    assert_none(wrong.collect());
}

/// Ways to print text. Only one file of the program may use them.
const PRINTERS: [&str; 6] = ["stdout()", "stderr()", "print!", "println!", "eprint!", "eprintln!"];
const PRINTING: &str = "crates/command/src/terminal.rs";

/// Returns every line that prints text without escaping it, in the form `line: text`.
fn prints(path: &str, text: &str) -> Vec<String> {
    if path == PRINTING {
        return Vec::new();
    }
    let tokens = tokens(text);
    // The target of a progress bar has the name of the stream (`stderr()`), but does not print by itself.
    let is_target = |at: usize| at > 1 && tokens[at - 2].word == "ProgressDrawTarget";
    let found = PRINTERS.iter().flat_map(|printer| places(&tokens, printer)).filter(|&at| !is_target(at));
    let lines = numbered(text, found.map(|at| tokens[at].line).collect());
    lines.into_iter().map(|line| format!("{path}:{line}")).collect()
}

#[test]
fn one_file_prints() {
    let wrong = "let mut out = io::stdout().lock();\nprintln!(\"a\");\nwriteln!(std::io::stderr(), \"a\");";
    assert_eq!(prints("crates/command/src/x.rs", wrong).len(), 3);
    let right = "bar.set_draw_target(ProgressDrawTarget::stderr());\nmessage!(\"stdout()\");\n// println!";
    assert_none(prints("crates/command/src/x.rs", right));
    assert_none(sources().iter().flat_map(|path| prints(path, &read(path))).collect());
    assert!(read(PRINTING).contains("io::stdout()"));
}

/// Returns the forbidden words in a file.
fn forbidden(path: &str, text: &str) -> Vec<String> {
    let words = FORBIDDEN.iter().filter(|(word, only)| path != *only && text.contains(word));
    words.map(|(word, _)| format!("{path}: `{word}`")).collect()
}

#[test]
fn the_project_speaks_of_itself_alone() {
    assert_eq!(forbidden("src/x.rs", "see /tmp/x").len(), 1);
    assert_eq!(forbidden("src/x.rs", "../shared/x").len(), 1);
    assert_eq!(forbidden(".ci/run", "../shared/x").len(), 0);
    let here = "tests/suite/tidy.rs";
    let wrong =
        files().into_iter().filter(|path| path != here).flat_map(|path| forbidden(&path, &read(&path)));
    assert_none(wrong.collect());
}

/// Returns the strings in backquotes that look like paths of this project.
fn named_paths(text: &str) -> Vec<&str> {
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let top: Vec<String> =
        files().iter().filter_map(|path| Some(path.split_once('/')?.0.to_owned() + "/")).collect();
    prose
        .into_iter()
        .flat_map(|prose| prose.split('`').skip(1).step_by(2))
        .filter(|word| {
            let file =
                ["Cargo.toml", "README.md", "CHANGELOG.md", "ARCHITECTURE.md", "LICENSE"].contains(word);
            let inside = top.iter().any(|folder| word.starts_with(folder.as_str()));
            !word.contains([' ', '*', '<']) && (file || inside)
        })
        .collect()
}

#[test]
fn documents_name_files_that_exist() {
    assert_eq!(
        named_paths("`src/no.rs` and `Kg1 Rf1` and ```\n`src/x`\n``` `tests/`"),
        ["src/no.rs", "tests/"]
    );
    let mut wrong = Vec::new();
    let others = ["ARCHITECTURE.md", "CHANGELOG.md", "README.md", "benches/README.md", "fuzz/README.md"];
    let documents: Vec<String> =
        files().into_iter().filter(|path| path.starts_with("docs/") && path.ends_with(".md")).collect();
    assert!(documents.len() > 10, "{documents:?}");
    for document in others.into_iter().chain(documents.iter().map(String::as_str)) {
        let text = read(document);
        let named = named_paths(&text);
        assert!(document != MODULES || named.len() > 20, "{MODULES} names {named:?} only");
        let missing = named.into_iter().filter(|path| !root().join(path).exists());
        wrong.extend(missing.map(|path| format!("{document}: there is no {path}")));
    }
    assert_none(wrong);
}

/// The document that describes every folder with source files.
const MODULES: &str = "docs/dev/modules.md";

#[test]
fn every_module_is_named() {
    let text = read(MODULES);
    let folders: BTreeSet<PathBuf> =
        sources().iter().map(|path| Path::new(path).parent().unwrap().to_owned()).collect();
    let folders = folders.into_iter().filter(|folder| !folder.ends_with("src"));
    let missing = folders.filter(|folder| !text.contains(folder.to_str().unwrap()));
    assert_none(missing.map(|folder| format!("{MODULES} does not name {}", folder.display())).collect());
}
