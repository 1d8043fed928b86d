//! Checks the documents: every link must lead to an existing file and heading, lines must be short, the book must contain every
//! page, and `.ci/run` must run the commands of the README.

use std::{collections::BTreeSet, path::Path};

use super::{assert_none, files, read, root};

const COLUMNS_MAX: usize = 100;

fn documents() -> Vec<String> {
    let found: Vec<String> = files().into_iter().filter(|path| path.ends_with(".md")).collect();
    assert!(found.len() > 30, "{found:?}");
    found
}

/// Checks that a document contains `text` between the two comments that contain `name`. `UPDATE_GOLDEN=1` writes the text there.
pub(super) fn shows(document: &str, name: &str, text: &str) {
    let begin = format!("<!-- {name}: written by tests/suite/tidy -->\n");
    let end = format!("<!-- end of {name} -->\n");
    let kept = read(document);
    let (before, rest) = kept.split_once(&begin).expect("the text begins");
    let (found, after) = rest.split_once(&end).expect("the text ends");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(root().join(document), [before, &begin, text, &end, after].concat()).unwrap();
        return;
    }
    assert!(found == text, "{document} shows something else: run the tests once with UPDATE_GOLDEN=1");
}

/// Returns the lines of a document outside code blocks, with line numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        (!inside && !is_fence).then_some((at + 1, line))
    })
}

/// Returns the anchors that GitHub and mdBook create for the headings in a document.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (_, line) in prose(text) {
        let Some(title) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#')) else { continue };
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let anchor: String = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let again = (1..).map(|number| format!("{anchor}-{number}"));
        let fresh = std::iter::once(anchor.clone()).chain(again).find(|anchor| !out.contains(anchor));
        out.extend(fresh);
    }
    out
}

/// Returns the targets of a document's links and images, with line numbers.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (number, line) in prose(text) {
        // Text between backquotes is not a link.
        let line: String =
            line.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "" }).collect();
        for (begin, end) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            let found = line.split(begin).skip(1).filter_map(|rest| rest.split_once(end));
            out.extend(found.map(|(target, _)| (number, target.to_owned())));
        }
    }
    out
}

/// Returns the links in a document whose targets do not exist or are outside the book.
fn broken(document: &str, text: &str) -> Vec<String> {
    let folder = Path::new(document).parent().unwrap();
    let docs = root().join("docs").canonicalize().unwrap();
    let mut wrong = Vec::new();
    for (number, target) in targets(text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let file = if path.is_empty() { document.into() } else { folder.join(path) };
        let is_inside = || root().join(&file).canonicalize().is_ok_and(|file| file.starts_with(&docs));
        if !path.is_empty() && !root().join(&file).exists() {
            wrong.push(format!("{document}:{number}: there is no {target}"));
        } else if document.starts_with("docs/") && !path.is_empty() && !is_inside() {
            wrong.push(format!("{document}:{number}: {target} is no page of the book"));
        } else if !anchor.is_empty() {
            let there = if path.is_empty() { text.to_owned() } else { read(&file) };
            if !anchors(&there).contains(anchor) {
                wrong.push(format!("{document}:{number}: {} has no heading #{anchor}", file.display()));
            }
        }
    }
    wrong
}

#[test]
fn links_lead_to_files_and_headings() {
    let text = "# It's `a` b\n[x](#its-a-b) [y](#no) `[z](no.md)`\n```\n[z](no.md)\n```\n[u](no.md) <img src=\"no.svg\">\n\
                [v](README.md#no)\n## C\n## C\n[w](#c-1) [h](https://example.org/#x)";
    let found = broken("x.md", text);
    assert_eq!(found.len(), 4, "{found:#?}");
    assert_eq!(broken("docs/x.md", "[x](../README.md) [y](guide.md)").len(), 1);
    let links: usize = documents().iter().map(|document| targets(&read(document)).len()).sum();
    assert!(links > 100, "only {links} links were found");
    assert_none(documents().iter().flat_map(|document| broken(document, &read(document))).collect());
}

/// Documents whose line lengths are not checked, because most of their lines are generated.
const LONG: [&str; 3] = ["docs/conformance.md", "docs/language.md", "docs/themes.md"];

/// Returns the prose lines that are too long, except tables, links on their own lines, and blocks indented by four blanks.
fn long(document: &str, text: &str) -> Vec<String> {
    let is_free = |line: &str| {
        let line = line.trim_start();
        line.starts_with('|') || line.starts_with("- [") || line.starts_with('<')
    };
    let too_long =
        |line: &str| line.chars().count() > COLUMNS_MAX && !line.starts_with("    ") && !is_free(line);
    let found = prose(text).filter(|(_, line)| too_long(line));
    found.map(|(number, _)| format!("{document}:{number}: more than {COLUMNS_MAX} columns")).collect()
}

#[test]
fn lines_of_documents_are_short() {
    let line = "word ".repeat(COLUMNS_MAX / 5 + 1);
    let text = format!("{line}\n| {line} |\n    {line}\n```\n{line}\n```\n- {line}");
    assert_eq!(long("x.md", &text).len(), 2);
    let ours = documents();
    let ours =
        ours.iter().filter(|path| !LONG.contains(&path.as_str()) && !path.starts_with("benches/runs/"));
    assert_none(ours.flat_map(|document| long(document, &read(document))).collect());
}

/// Every document for users or developers must be a page of the book, exactly once.
#[test]
fn the_book_has_every_page() {
    let summary = read("docs/SUMMARY.md");
    let mut pages: Vec<String> =
        targets(&summary).into_iter().map(|(_, target)| format!("docs/{target}")).collect();
    pages.sort();
    let mut ours: Vec<String> = documents()
        .into_iter()
        .filter(|path| path.starts_with("docs/") && path != "docs/SUMMARY.md")
        .collect();
    ours.sort();
    assert_eq!(pages, ours, "docs/SUMMARY.md names other pages than docs has");
}

/// Returns the command lines in a document: the contents of its `sh` blocks, with continued lines joined.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines =
        blocks.flat_map(|block| block.replace("\\\n", " ").lines().map(String::from).collect::<Vec<_>>());
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

/// Returns the commands in a document that are missing from a script.
fn not_run(document: &str, script: &str) -> Vec<String> {
    let run: Vec<String> = script
        .replace("\\\n", " ")
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    commands(document)
        .into_iter()
        .filter(|command| {
            !run.iter().any(|line| {
                line.strip_prefix(command.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '>']))
            })
        })
        .collect()
}

#[test]
fn what_the_readme_says_is_run() {
    let document = "a\n```sh\n# why\ncargo x \\\n  y\ncargo z\n```\n```text\nno\n```";
    assert_eq!(not_run(document, "cargo x y >file\ncargo zz\n"), ["cargo z"]);
    let (readme, script) = (read("README.md"), read(".ci/run"));
    let commands = commands(&readme);
    assert!(commands.first().is_some_and(|line| line.contains("games/sample.pgn")), "{commands:?}");
    assert!(commands.get(1).is_some_and(|line| line.starts_with("cargo test")), "{commands:?}");
    assert_none(
        not_run(&readme, &script).into_iter().map(|line| format!(".ci/run does not run: {line}")).collect(),
    );
}

/// Returns the numbers of the lines with code blocks that would be tests, if the documentation of their crate were tested.
fn examples(text: &str) -> Vec<usize> {
    let mut is_inside = false;
    let begins_example = |line: &str| {
        let comment = line.trim_start().strip_prefix("///").or(line.trim_start().strip_prefix("//!"));
        let Some(kind) = comment.and_then(|comment| comment.trim().strip_prefix("```")) else { return false };
        is_inside = !is_inside;
        is_inside && kind != "text"
    };
    let lines = text.lines().map(begins_example).zip(1..);
    lines.filter_map(|(is_example, line)| is_example.then_some(line)).collect()
}

/// Examples in the documentation are tested. A crate without examples switches these tests off, because even their absence takes
/// time.
#[test]
fn crates_without_tests_of_examples_have_no_examples() {
    assert_eq!(examples("/// ```\n/// a\n/// ```\n//! ```text\n//! ```\n    /// ```rust\n"), [1, 6]);
    let mut wrong = Vec::new();
    for manifest in files().into_iter().filter(|path| path.ends_with("Cargo.toml")) {
        if read(&manifest).contains("doctest = false") {
            let folder = manifest.trim_end_matches("Cargo.toml");
            let sources =
                files().into_iter().filter(|path| path.starts_with(folder) && path.ends_with(".rs"));
            wrong.extend(sources.flat_map(|path| {
                examples(&read(&path)).into_iter().map(move |line| format!("{path}:{line}: not tested"))
            }));
        }
    }
    assert_none(wrong);
}
