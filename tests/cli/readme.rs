//! Runs every command in the README, the guide, the tutorial and the cookbook, and compares its output with the output
//! in the document.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::program::{QUERY, stdout};

/// Returns the commands in the console blocks of a document, each with the output lines below it.
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

/// Returns the output of a command: its data or, if there are none, its messages.
fn printed(command: &str) -> String {
    printed_in(Path::new(env!("CARGO_MANIFEST_DIR")), command)
}

/// Returns the output of a command that runs in a folder.
pub fn printed_in(place: &Path, command: &str) -> String {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_orbit"));
    let folder = binary.parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", command])
        .env("PATH", format!("{}:{path}", folder.display()))
        .current_dir(place)
        .output()
        .unwrap();
    let bytes = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let text = String::from_utf8(bytes).unwrap();
    text.trim_end().to_owned() + "\n"
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

/// Each recipe in the cookbook must run, print what the page shows, and be in the list of recipes.
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

/// The picture in the README must be the one that its command draws.
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
