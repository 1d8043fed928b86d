//! Writes the list of source files in `docs/dev/files.md`, which shows each file's first sentence, and the list of crates in
//! `docs/dev/modules.md`, which shows their sizes.

use std::fmt::Write as _;

use super::{MODULES, assert_none, documents::shows, files, read, sources};

/// The folders whose files are listed, each with its title.
const FOLDERS: [(&str, &str); 17] = [
    ("src/", "The program and the library"),
    ("crates/core/", "`core`: the base"),
    ("crates/pgn/", "`pgn`: reading games"),
    ("crates/reel/", "`reel`: orbit's own file of games"),
    ("crates/database/", "`database`: streams of blocks"),
    ("crates/visits/", "`visits`: tables of positions"),
    ("crates/witness/", "`witness`: the second reader"),
    ("crates/query/", "`query`: the query language"),
    ("crates/transforms/", "`transforms`: copies of queries"),
    ("crates/plan/", "`plan`: queries as straight-line code"),
    ("crates/engine/", "`engine`: the fast engines"),
    ("shaders/", "Shaders"),
    ("crates/reference/", "`reference`: the slow engine"),
    ("crates/search/", "`search`: searches and their outputs"),
    ("crates/command/", "`command`: the command line"),
    ("python/", "The Python package"),
    ("benches/", "Benchmarks"),
];

/// Returns the first sentence of the comment at the head of a file, without links; `None` if there is no such comment.
fn first_sentence(path: &str, text: &str) -> Option<String> {
    let prefix = if path.ends_with(".rs") { "//!" } else { "//" };
    let head: Vec<&str> = match path.ends_with(".py") {
        true => text.strip_prefix("\"\"\"")?.split("\"\"\"").next()?.lines().collect(),
        false => text.lines().map_while(|line| line.strip_prefix(prefix)).collect(),
    };
    let paragraph: Vec<&str> =
        head.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
    let paragraph = without_links(&paragraph.join(" "));
    let sentence = paragraph.split(". ").next()?.trim_end_matches(['.', ':']);
    (!sentence.is_empty()).then(|| format!("{sentence}.").replace('|', "\\|"))
}

/// Removes the brackets and targets of links: ``[`Plan`](super::Plan)`` becomes `` `Plan` ``.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else { break };
        write!(out, "{before}`{name}`").unwrap();
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    out + rest
}

fn is_listed(path: &str) -> bool {
    [".rs", ".wgsl", ".py"].iter().any(|ending| path.ends_with(ending))
        && !path.ends_with("/tests.rs")
        && !path.contains("/tests/")
}

/// Returns the number of lines of a source file before its tests.
fn code_lines(text: &str) -> usize {
    let code = text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(code, _)| code);
    code.lines().count()
}

/// The sizes on the page may be off by a tenth, so that few changes alter the page.
#[test]
fn the_page_of_modules_shows_the_size_of_each_crate() {
    let page = read(MODULES);
    let (mut table, mut is_near) = (String::from("\n| folder | thousands of lines |\n|---|---|\n"), true);
    let is_rust = |folder: &&str| folder.starts_with("src/") || folder.starts_with("crates/");
    for folder in FOLDERS.into_iter().map(|(folder, _)| folder).filter(is_rust) {
        let inside = sources().into_iter().filter(|path| path.starts_with(folder));
        let lines: usize = inside.map(|path| code_lines(&read(&path))).sum();
        let begin = format!("| `{}` | ", folder.trim_end_matches('/'));
        let shown = page.lines().find_map(|line| line.strip_prefix(&begin)?.strip_suffix(" |")?.parse().ok());
        let thousands = lines as f64 / 1000.0;
        is_near &= shown.is_some_and(|shown: f64| (shown - thousands).abs() <= thousands.max(1.0) / 10.0);
        writeln!(table, "{begin}{thousands:.1} |").unwrap();
    }
    if !is_near {
        shows(MODULES, "sizes", &(table + "\n"));
    }
}

#[test]
fn lines_of_tests_are_not_counted() {
    assert_eq!(code_lines("fn a() {}\n\n#[cfg(test)]\nmod tests;\n"), 4);
    assert_eq!(code_lines("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    use super::a;\n}\n"), 2);
}

#[test]
fn the_page_of_files_shows_every_first_sentence() {
    let all = files();
    let (mut page, mut without) = (String::new(), Vec::new());
    for (folder, title) in FOLDERS {
        write!(page, "\n## {title}\n\n| file | what it does |\n|---|---|\n").unwrap();
        for path in all.iter().filter(|path| path.starts_with(folder) && is_listed(path)) {
            match first_sentence(path, &read(path)) {
                Some(sentence) => writeln!(page, "| `{path}` | {sentence} |").unwrap(),
                None => without.push(format!("{path} does not begin with a sentence about it")),
            }
        }
    }
    assert_none(without);
    shows("docs/dev/files.md", "files", &page);
}

#[test]
fn first_sentences_have_no_links() {
    let text = "//! The steps of [`Plan`](super::Plan), and [`Op`]. More.\n//!\n//! Even more.\n\nuse x;";
    assert_eq!(first_sentence("a.rs", text).as_deref(), Some("The steps of `Plan`, and `Op`."));
    assert_eq!(first_sentence("a.rs", "use x;"), None);
    assert_eq!(
        first_sentence("a.wgsl", "// Reads moves:\n// one\n//\n// two").as_deref(),
        Some("Reads moves: one.")
    );
    assert_eq!(first_sentence("a.py", "\"\"\"Boards.\"\"\"\nimport x").as_deref(), Some("Boards."));
}
