//! Runs every command in the user documentation. If a document shows a command's output, the outputs are compared; otherwise the
//! exit code must be 0 or 1.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use crate::{
    common::archives::{Member, zip},
    program::{QUERY, SAMPLE, stdout},
};

/// Substrings of commands that cannot run in this test, each with the reason.
const SKIPPED: [(&str, &str); 6] = [
    ("https://", "it needs the network"),
    ("orbit serve --listen", "it runs until a signal ends it"),
    ("orbit serve --http", "it runs until a signal ends it"),
    (" job ", "it needs a planned job, as the tests in tests/cli/jobs have"),
    ("--engine gpu", "it needs a graphics card"),
    ("orbit bench", "it takes minutes"),
];

/// Returns the commands in a document's console blocks, each with the output lines below it.
pub fn examples(document: &str) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in document.lines() {
        match (inside, line.strip_prefix("$ ")) {
            (false, _) => inside = line == "```console",
            (true, Some(command)) => out.push((command.into(), String::new())),
            (true, None) if line == "```" => inside = false,
            (true, None) => {
                let shown = &mut out.last_mut().expect("a console block begins with a command").1;
                *shown += line;
                shown.push('\n');
            }
        }
    }
    out
}

/// Returns the `orbit` commands in a document's other code blocks, which show no output.
fn other_commands(document: &str) -> Vec<&str> {
    let mut block = None;
    let mut out = Vec::new();
    for line in document.lines() {
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
        } else if block.map_or(line.starts_with("    "), |language| language != "console") {
            let line = line.trim_start();
            let command = line.strip_prefix("$ ").unwrap_or(line);
            let words = command.split(['|', '}']).map(str::trim_start);
            out.extend(words.filter(|word| word.starts_with("orbit ")).map(|_| command));
        }
    }
    out
}

/// Returns the documents for users.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["docs", "docs/cookbook"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let pages = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.chain([root.join("README.md")]).collect()
}

/// Creates the files that the documents' commands refer to.
fn write_files(folder: &Path) {
    let games = [fs::read(SAMPLE).unwrap(), fs::read("tests/data/games/measures.pgn").unwrap()].concat();
    let names = ["games.pgn", "ours.pgn", "theirs.pgn", "twic1500.pgn"];
    for name in names.into_iter().chain(["games/sample.pgn", "twic/games.pgn", "downloads/games.pgn"]) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &games).unwrap();
    }
    fs::write(folder.join("lichess.pgn.zst"), zstd::encode_all(&games[..], 1).unwrap()).unwrap();
    fs::write(folder.join("twic1600.zip"), zip(&[Member::stored("twic1600.pgn", &games)])).unwrap();
    fs::write(folder.join("script.cql"), "cql(input games.pgn) check").unwrap();
    fs::write(folder.join("themes.txt"), "knight\tNd4\n").unwrap();
    for reel in ["all.reel", "games.reel"] {
        let made = run_in(folder, &format!("orbit index --positions games/ -o {reel}"));
        assert!(made.status.success(), "{made:?}");
    }
}

/// Returns a command's standard output or, if that is empty, its messages.
fn printed(command: &str) -> String {
    printed_in(Path::new(env!("CARGO_MANIFEST_DIR")), command)
}

/// Returns the output of a command run in a folder.
pub fn printed_in(place: &Path, command: &str) -> String {
    let output = run_in(place, command);
    let bytes = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let text = String::from_utf8(bytes).unwrap();
    text.trim_end().to_owned() + "\n"
}

/// Runs a command in a folder.
fn run_in(place: &Path, command: &str) -> Output {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_orbit"));
    let folder = binary.parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    Command::new("sh")
        .args(["-c", command])
        .env("PATH", format!("{}:{path}", folder.display()))
        .current_dir(place)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn the_readme_shows_what_is_printed() {
    check("README.md", 4);
}

#[test]
fn the_tutorial_shows_what_is_printed() {
    check("docs/tutorial.md", 6);
}

#[test]
fn the_guide_shows_what_is_printed() {
    check("docs/guide.md", 6);
}

#[test]
fn the_page_about_explorers_shows_what_is_printed() {
    check("docs/explorer.md", 1);
}

#[test]
fn the_page_about_players_shows_what_is_printed() {
    check("docs/player.md", 2);
}

/// Documented commands without output must succeed: the exit code is 0, or 1 if nothing is found.
#[test]
fn commands_without_output_succeed() {
    let wrong = "    $ orbit a\n```console\n$ orbit b\n```\n```text\norbit c\ncurl | orbit d\n an orbit e\n```\norbit f\n";
    assert_eq!(other_commands(wrong), ["orbit a", "orbit c", "curl | orbit d"]);
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let (mut failed, mut ran, mut skipped) = (Vec::new(), 0, [0; SKIPPED.len()]);
    for document in documents() {
        for command in other_commands(&fs::read_to_string(&document).unwrap()) {
            if let Some(at) = SKIPPED.iter().position(|(part, _)| command.contains(part)) {
                skipped[at] += 1;
                continue;
            }
            let output = run_in(folder.path(), command);
            if !matches!(output.status.code(), Some(0 | 1)) {
                let message = String::from_utf8_lossy(&output.stderr);
                failed.push(format!("{}: {command}\n{message}", document.display()));
            }
            ran += 1;
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(ran >= 40, "{ran} commands");
    assert!(!skipped.contains(&0), "a line of the list of skipped commands fits no command: {skipped:?}");
}

/// Each cookbook recipe must run, print what the page shows, and be in the list of recipes.
#[test]
fn the_cookbook_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Recipes write files, so they run in a temporary folder.
    let folder = tempfile::tempdir().unwrap();
    for file in ["games/sample.pgn", "tests/data/games/measures.pgn"] {
        let copy = folder.path().join(file);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(root.join(file), copy).unwrap();
    }
    // Long questions are wrapped over several lines.
    let list = fs::read_to_string(root.join("docs/cookbook.md")).unwrap();
    let list = list.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut recipes = 0;
    for entry in fs::read_dir(root.join("docs/cookbook")).unwrap() {
        let path = entry.unwrap().path();
        let page = fs::read_to_string(&path).unwrap();
        for recipe in page.split("\n## ").skip(1) {
            let (question, _) = recipe.split_once('\n').unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(list.contains(&format!("[{question}](cookbook/{name}#")), "the list lacks: {question}");
            let examples = examples(recipe);
            assert!(!examples.is_empty(), "{question}: there is no command");
            for (command, shown) in examples {
                assert_eq!(printed_in(folder.path(), &command), shown, "{command}");
            }
            recipes += 1;
        }
    }
    assert_eq!(recipes, list.matches(" - [").count(), "recipes of the pages, and of the list");
    assert!(recipes >= 40, "{recipes} recipes");
}

/// The picture in the README must equal the output of the command that the README shows for it.
#[test]
fn the_picture_is_what_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = folder.path().join("knight.svg");
    stdout(&["scan", "--heat", "-o", drawn.to_str().unwrap(), QUERY, "games/sample.pgn"]);
    let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/knight.svg");
    assert_eq!(std::fs::read_to_string(drawn).unwrap(), std::fs::read_to_string(shown).unwrap());
}

fn check(document: &str, at_least: usize) {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(document)).unwrap();
    let examples = examples(&text);
    assert!(examples.len() >= at_least, "{} examples", examples.len());
    for (command, shown) in examples {
        assert!(command.starts_with("orbit "), "{command}");
        assert_eq!(printed(&command), shown, "{command}");
    }
}
