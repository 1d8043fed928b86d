//! Tests `orbit index`, `orbit info`, `orbit show` and other commands on the command line.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use orbit_query::words::{self, WordStatus};

const PGN: &str = "[Event \"one\"]\n[White \"A \\\"B\\\"\"]\n[Date \"1999.01.02\"]\n[WhiteElo \"2500\"]\n\n\
1. e4 e5 2. Nf3 1-0\n\n\
[Event \"two\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n\
[Event \"three\"]\n[SetUp \"1\"]\n[FEN \"8/P6k/8/8/8/8/7K/8 w - - 0 1\"]\n\n1. a8=Q Kh6 2. Qb9 1/2-1/2\n\n";

fn orbit(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).output().expect("the binary was built")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn indexed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.pgn"), PGN).unwrap();
    let out = orbit(folder.path(), &["index", "a.pgn", "-o", "a.reel", "--problems", "problems.txt", "-v"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(out.stdout.is_empty());
    let stderr = text(&out.stderr);
    assert!(stderr.contains("3 games (1 whole, 1 cut, 1 skipped), 7 positions"), "{stderr}");
    assert!(stderr.contains("1 skipped: variant atomic is not supported"), "{stderr}");
    let problems = std::fs::read_to_string(folder.path().join("problems.txt")).unwrap();
    assert_eq!(problems.lines().count(), 2);
    assert!(problems.starts_with("a.pgn: game 2, byte "), "{problems}");
    assert!(problems.lines().all(|line| stderr.contains(line)), "{stderr}");
    folder
}

#[test]
fn info_says_what_a_reel_holds() {
    let folder = indexed();
    let out = orbit(folder.path(), &["info", "a.reel", "--verify"]);
    assert_eq!(out.status.code(), Some(0));
    assert!(text(&out.stdout).contains("verified"));
    let out = orbit(folder.path(), &["info", "a.reel", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["positions"], 7);
    assert_eq!(json["games"], serde_json::json!({ "all": 3, "whole": 1, "cut": 1, "skipped": 1 }));
    assert_eq!(json["elos"], serde_json::json!([2500, 2500]));
    assert_eq!(json["sources"][0]["games"], 3);
    let sections = json["sections"].as_object().unwrap();
    let sum: u64 = sections.values().map(|bytes| bytes.as_u64().unwrap()).sum();
    assert_eq!(sum, std::fs::metadata(folder.path().join("a.reel")).unwrap().len());
}

#[test]
fn show_prints_the_same_from_reel_and_pgn() {
    let folder = indexed();
    for game in ["1", "1:0", "1:2", "3", "3:1"] {
        let [reel, pgn] = ["a.reel", "a.pgn"].map(|name| orbit(folder.path(), &["show", name, game]));
        assert_eq!(reel.status.code(), Some(0), "{}", text(&reel.stderr));
        assert_eq!(text(&reel.stdout), text(&pgn.stdout));
    }
    let out = orbit(folder.path(), &["show", "a.reel", "3:1"]);
    let shown = text(&out.stdout);
    assert!(shown.contains("1. >a8=Q< Kh6 1/2-1/2"), "{shown}");
    assert!(shown.contains("; cut: Qb9 is no move"), "{shown}");
    assert!(shown.ends_with("Q7/7k/8/8/8/8/7K/8 b - - 0 1\n"), "{shown}");
    let out = orbit(folder.path(), &["show", "a.pgn", "1:2", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["moves"], serde_json::json!(["e4", "e5", "Nf3"]));
    assert_eq!(json["tags"][1], serde_json::json!(["White", "A \"B\""]));
}

#[test]
fn what_cannot_be_done_is_said_and_exits_with_2() {
    let folder = indexed();
    std::fs::write(folder.path().join("a.reel.positions"), b"no reel").unwrap();
    std::fs::write(folder.path().join("newer.reel"), b"\x89REEL\r\n\x1a\x07\0\0\0".repeat(10)).unwrap();
    for (args, part) in [
        (&["show", "a.reel", "2"][..], "game 2 was skipped: variant Atomic is not supported"),
        (&["show", "a.reel", "4"], "has 3 games: there is no game 4"),
        (&["show", "a.pgn", "4"], "has 3 games: there is no game 4"),
        (&["show", "a.reel", "1:4"], "has 3 plies: there is no ply 4"),
        (&["show", "a.reel", "0"], "write GAME or GAME:PLY, from game 1"),
        (&["info", "a.pgn"], "is no reel, and `orbit info` describes reels"),
        (
            &["info", "a.reel.positions"],
            "is a position table, and `orbit info` describes reels: `orbit info a.reel`",
        ),
        (&["info", "newer.reel"], "format version 7, but this program reads"),
        (&["info", "none.reel"], "none.reel: No such file or directory (os error 2): check the path"),
        (&["index", "a.pgn", "-o", "a.pgn"], "a.pgn is an input, or another output, of this command"),
        (
            &["index", "a.pgn", "-o", "-"],
            "a reel cannot be written to standard output: give the name of a file",
        ),
        (&["index", "--positions", "a.pgn", "-o", "-"], "a reel cannot be written to standard output"),
        (&["index", "none.pgn", "-o", "b.reel"], "none.pgn does not exist"),
        (&["index", "a.pgn", "-o", "none/b.reel"], "none/b.reel"),
    ] {
        let out = orbit(folder.path(), args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(text(&out.stderr).contains(part), "{args:?}: {}", text(&out.stderr));
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("a.pgn")).unwrap(), PGN);
}

#[test]
fn a_source_that_ends_too_early_exits_with_3() {
    let folder = indexed();
    let packed = zstd::bulk::compress(PGN.repeat(1000).as_bytes(), 3).unwrap();
    std::fs::write(folder.path().join("b.pgn.zst"), &packed[..packed.len() / 2]).unwrap();
    let out = orbit(folder.path(), &["index", "b.pgn.zst", "-o", "b.reel"]);
    assert_eq!(out.status.code(), Some(3), "{}", text(&out.stderr));
    let out = orbit(folder.path(), &["info", "b.reel"]);
    assert!(text(&out.stdout).contains("not read beyond byte"), "{}", text(&out.stdout));
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_indexing_and_leaves_nothing() {
    use crate::common::{folders::names, waiting::Process};
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .current_dir(folder.path())
        .args(["index", "-", "-o", "a.reel"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut process = Process::new(child);
    process.until("a temporary file", || {
        let found = names(folder.path());
        if found.is_empty() { Err(found) } else { Ok(()) }
    });
    // Standard input stays open. The thread that reads it is now blocked, because neither bytes nor the end of the input arrives.
    process.falls_asleep();
    process.interrupt();
    assert_eq!(process.end("orbit index").code(), Some(130));
    assert_eq!(names(folder.path()), [] as [&str; 0]);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_success() {
    let folder = indexed();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(folder.path()).args(["info", "a.reel"]).stdin(Stdio::null()).stdout(writer);
    let out = command.output().unwrap();
    assert_eq!((out.status.code(), text(&out.stderr)), (Some(0), ""));
}

/// Returns the bytes of a reel's blocks (groups of games), without the header and the directory, which contains the source names.
fn blocks(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    let directory = u64::from_le_bytes(bytes[24..32].try_into().unwrap()) as usize;
    bytes[64..directory].to_vec()
}

/// Returns a few MiB of games, enough for several blocks.
fn large_pgn() -> Vec<u8> {
    let sample = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn")).unwrap();
    sample.repeat(5)
}

#[test]
fn reels_do_not_depend_on_compression_stdin_or_threads() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let pgn = large_pgn();
    std::fs::write(at("a.pgn"), &pgn).unwrap();
    std::fs::write(at("a.zst"), zstd::encode_all(&pgn[..], 3).unwrap()).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&pgn).unwrap();
    std::fs::write(at("a.gz"), gz.finish().unwrap()).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz2.write_all(&pgn).unwrap();
    std::fs::write(at("a.bz2"), bz2.finish().unwrap()).unwrap();
    let out = orbit(folder.path(), &["index", "a.pgn", "-o", "a.reel", "--threads", "1"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let expected = blocks(&at("a.reel"));
    assert!(expected.len() > 3 << 19, "{} bytes", expected.len());
    for (name, threads) in [("a.pgn", "2"), ("a.zst", "1"), ("a.zst", "2"), ("a.gz", "2"), ("a.bz2", "2")] {
        let out = orbit(folder.path(), &["index", name, "-o", "b.reel", "--threads", threads]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        assert!(blocks(&at("b.reel")) == expected, "{name} with {threads} threads");
    }
    for name in ["a.pgn", "a.gz"] {
        let out = Command::new(env!("CARGO_BIN_EXE_orbit"))
            .current_dir(folder.path())
            .args(["index", "-", "-o", "c.reel"])
            .stdin(std::fs::File::open(at(name)).unwrap())
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        assert!(blocks(&at("c.reel")) == expected, "{name} on standard input");
    }
}

fn files_below(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, out) } else { out.push(path) }
    }
}

#[test(part = 3)]
fn every_file_of_the_corpus_is_indexed_and_counted() {
    let corpus = crate::common::corpus();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&corpus).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, &mut files);
        }
    }
    assert_eq!(files.len(), 953);
    let folder = tempfile::tempdir().unwrap();
    let mut games = 0;
    for file in &files {
        let out = orbit(folder.path(), &["index", file.to_str().unwrap(), "-o", "one.reel"]);
        assert_eq!(out.status.code(), Some(0), "{}: {}", file.display(), text(&out.stderr));
        let out = orbit(folder.path(), &["info", "one.reel", "--json", "--verify"]);
        let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(json["games"]["all"], json["sources"][0]["games"], "{}", file.display());
        games += json["games"]["all"].as_u64().unwrap();
    }
    let names: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let mut args = vec!["index", "-o", "all.reel"];
    args.extend(names);
    let out = orbit(folder.path(), &args);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let out = orbit(folder.path(), &["info", "all.reel", "--json", "--verify"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["games"]["all"], games, "all files at once");
}

/// CQL 5 position lists are recognised by their form. `--dialect` selects the dialect explicitly, and `orbit convert` converts
/// lists to CQL 6.
#[test]
fn both_dialects_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let list = "(position ♘d4 ♚f3 :shift :flip :flipcolor)";
    std::fs::write(folder.path().join("one.pgn"), "[FEN \"8/8/8/8/8/1n6/8/K6k w - - 0 1\"]\n\n*\n").unwrap();
    std::fs::write(folder.path().join("list.cql"), format!("; a knight gives check\n{list}\n")).unwrap();
    std::fs::write(folder.path().join("many.txt"), format!("fork\t{list}\nplain\tN attacks k\n")).unwrap();
    let count = |args: &[&str]| {
        let out = orbit(folder.path(), args);
        assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
        text(&out.stdout).to_string()
    };
    let one = "games hit 1\npositions hit 1\n";
    assert_eq!(count(&["scan", "--count", list, "one.pgn"]), one);
    assert_eq!(count(&["scan", "--count", "--dialect", "cql5", list, "one.pgn"]), one);
    assert_eq!(count(&["scan", "--count", "-f", "list.cql", "one.pgn"]), one);
    let many = count(&["scan", "--queries", "many.txt", "one.pgn"]);
    assert!(many.contains("1             1  fork") && many.contains("0             0  plain"), "{many}");
    let converted = count(&["convert", "-f", "list.cql"]);
    assert_eq!(converted, "flipcolor shift flip {Nd4 kf3}\n");
    assert_eq!(count(&["scan", "--count", converted.trim(), "one.pgn"]), one);
    let deep = format!("(position {}Rb2{})", "Ra1 :not (".repeat(90), ")".repeat(90));
    for (args, said) in [
        (&["scan", "--dialect", "cql6", list, "one.pgn"][..], "`(position ...)` is CQL 5"),
        (&["scan", "--dialect", "cql5", "flip Ra1", "one.pgn"], "this is no list of CQL 5"),
        (&["scan", "--dialect", "cql5", "--queries", "many.txt", "one.pgn"], "many.txt, line 2"),
        (&["explain", "--dialect", "cql6", list], "`(position ...)` is CQL 5"),
        (&["convert", &deep], "too deep"),
        (&["convert", "flip Ra1"], "only lists of CQL 5 are converted"),
        (&["convert", "(position Ra9)"], "`a9` is no set of squares"),
        (&["convert", "(position Pc2 Rc1 :shift)", "--copies", "10"], "squares at the edge stay behind"),
    ] {
        let out = orbit(folder.path(), args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(text(&out.stderr).contains(said), "{args:?}: {}", text(&out.stderr));
    }
    let out = orbit(folder.path(), &["convert", "(position Pc2 Rc1 :shiftvertical)"]);
    assert!(text(&out.stderr).contains("written out as 7 copies"), "{}", text(&out.stderr));
    let out = orbit(folder.path(), &["explain", "(position Pc2 Rc1 .a1 :shiftvertical)"]);
    assert!(text(&out.stderr).contains("stay behind in shifts of CQL 5"), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("`.` is an empty square in CQL 5"), "{}", text(&out.stderr));
    assert!(text(&out.stdout).contains("edge squares stay"), "{}", text(&out.stdout));
}

/// Returns the messages that a shell or formatter prints when it checks a file; `None` if the program is not installed.
fn judged(program: &str, args: &[&str], folder: &Path) -> Option<String> {
    let out = Command::new(program).args(args).current_dir(folder).stdin(Stdio::null()).output();
    match out {
        Ok(out) => Some(format!("{}{}", text(&out.stderr), if out.status.success() { "" } else { "failed" })),
        Err(_) => None,
    }
}

#[test]
fn completions_are_scripts_of_their_shells() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let out = orbit(folder.path(), &["completions", shell]);
        assert_eq!(out.status.code(), Some(0));
        let script = text(&out.stdout);
        for word in ["orbit", "transform", "fail-if-none", "problems"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        std::fs::write(folder.path().join(shell), script).unwrap();
        assert!(
            matches!(judged(shell, &["-n", shell], folder.path()).as_deref(), None | Some("")),
            "{shell}"
        );
    }
    // The script does what a shell does on Tab: it sets the variables for the words typed so far, the last of which is
    // incomplete, and requests completions.
    let ask = "source ./bash; COMP_WORDS=(orbit sc); COMP_CWORD=1; _orbit orbit sc orbit; echo \"${COMPREPLY[*]}\" >&2";
    if let Some(said) = judged("bash", &["-c", ask], folder.path()) {
        assert_eq!(said.trim(), "scan");
    }
}

/// If an argument is a query that begins with a quotation mark, shells complete its last word. Other arguments in quotation marks
/// are not completed.
#[test]
fn completions_go_into_a_query() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        std::fs::write(folder.path().join(shell), orbit(folder.path(), &["completions", shell]).stdout)
            .unwrap();
    }
    for (words, before, found) in [
        ("scan \"'shift flipcol\"", "scan", "shift flipcolor"),
        ("scan -e '\"{shift passedp'", "-e", "{shift passedpawns"),
        ("explain \"'wtm castl\"", "explain", "wtm castle,wtm castling"),
        ("scan --player \"'flipcol\"", "--player", ""),
        ("show \"'flipcol\"", "show", ""),
    ] {
        let ask = format!(
            "source ./bash; COMP_WORDS=(orbit {words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); \
             _orbit_in_query orbit x {before}; IFS=,; echo \"${{COMPREPLY[*]}}\" >&2"
        );
        if let Some(said) = judged("bash", &["-c", &ask], folder.path()) {
            assert_eq!(said.trim(), found, "bash: {words}");
        }
    }
    for (line, found) in [
        ("orbit scan 'shift flipcol", "shift flipcolor"),
        ("orbit scan -e \"{shift passedp", "{shift passedpawns"),
        ("orbit scan --player 'flipcol", ""),
    ] {
        let escaped = line.replace('\\', "\\\\").replace('\'', "\\'");
        let ask = format!("source ./fish; complete -C '{escaped}' >&2");
        if let Some(said) = judged("fish", &["-N", "-c", &ask], folder.path()) {
            assert_eq!(said.trim(), found, "fish: {line}");
        }
    }
    // Running zsh would need a terminal. So this only checks that arguments with a query call the completion function.
    let zsh = std::fs::read_to_string(folder.path().join("zsh")).unwrap();
    let asked: Vec<&str> = zsh.lines().filter(|line| line.contains(":_orbit_in_query'")).collect();
    for argument in
        ["-e+[", "--query=[", "*::words -- The query", "::query -- The query", "::query -- The list"]
    {
        assert!(asked.iter().any(|line| line.contains(argument)), "zsh: {argument}: {asked:#?}");
    }
}

/// Shells complete the keywords of the query language that need no quotation marks.
#[test]
fn completions_hold_the_words_of_the_language() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let out = orbit(folder.path(), &["completions", shell]);
        let script = text(&out.stdout);
        let mut count = 0;
        for word in words::groups().flat_map(|group| &group.words) {
            let is_plain =
                |spelling: &&&str| spelling.len() > 1 && spelling.bytes().all(|b| b.is_ascii_lowercase());
            for spelling in word.spellings.iter().filter(is_plain) {
                let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                let is_whole = |(at, _): (usize, &str)| {
                    !is_letter(script.as_bytes()[at - 1])
                        && !is_letter(script.as_bytes()[at + spelling.len()])
                };
                assert!(
                    script.match_indices(spelling).any(is_whole),
                    "{shell} does not complete `{spelling}`"
                );
                count += 1;
            }
        }
        assert!(count > 250, "{count} words");
        std::fs::write(folder.path().join(shell), script).unwrap();
    }
    let ask = "source ./bash; COMP_WORDS=(orbit help language passedp); COMP_CWORD=3; _orbit orbit passedp language; \
               echo \"${COMPREPLY[*]}\" >&2";
    if let Some(said) = judged("bash", &["-c", ask], folder.path()) {
        assert_eq!(said.trim(), "passedpawns");
    }
}

#[test]
fn help_explains_the_words_of_the_language() {
    let folder = tempfile::tempdir().unwrap();
    let said = |args: &[&str]| {
        let out = orbit(folder.path(), &[&["help"], args].concat());
        assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
        text(&out.stdout).to_owned()
    };
    // Every keyword must have a page for each of its spellings, and the overview must list the keywords that orbit added.
    let overview = said(&["language"]);
    for group in words::groups() {
        assert!(overview.contains(group.title), "{}", group.title);
        for word in &group.words {
            assert!(overview.contains(word.spellings[0]) || matches!(word.status, WordStatus::Refused(_)));
        }
    }
    let page = said(&["language", "✵"]);
    for part in [
        "✵ (CQL 6: Transforms)",
        "  ✵ [count | RANGE] F\n",
        "also written  flip, flipdihedral, dihedral",
        "flip {Ra1 kh8}",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // A keyword that exists in both dialects has two pages. If the argument has a colon, only the CQL 5 page is shown.
    assert!(said(&["language", "shift"]).contains("\n\n:shift (CQL 5: transforms)\n"));
    assert!(said(&["language", ":shift"]).starts_with(":shift (CQL 5: transforms)\n"));
    assert!(said(&["language", ":skip"]).contains("  status        not supported yet\n"));
    assert!(said(&["language", "any"]).contains("Not a word of orbit: "));
    assert!(said(&["language", "->"]).contains("  S -> S [-> S ...]\n"));
    assert!(said(&["language", "--", "--"]).starts_with("-- (CQL 6: Moves)\n"));
    let out = orbit(folder.path(), &["help", "language", "passedpwns"]);
    let message = "error: there is no word `passedpwns` in the query language; did you mean `passedpawns`?\n";
    assert_eq!((out.status.code(), text(&out.stderr)), (Some(2), message));
    // `orbit help` with the name of a command must print the same text as the command with `--help`.
    for command in ["scan", "help", "man"] {
        assert_eq!(said(&[command]), text(&orbit(folder.path(), &[command, "--help"]).stdout), "{command}");
    }
    assert_eq!(said(&[]), text(&orbit(folder.path(), &["--help"]).stdout));
    let out = orbit(folder.path(), &["help", "sacn"]);
    assert!(text(&out.stderr).starts_with("error: there is no command `sacn`: the commands are scan, "));
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let out = orbit(folder.path(), &["man", "--dir", "."]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let mut pages: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    assert!(
        pages.len() > 10 && pages[0] == "orbit-batch.1" && pages.contains(&"orbit.1".into()),
        "{pages:?}"
    );
    for page in &pages {
        let file = std::fs::read(folder.path().join(page)).unwrap();
        let name = page.strip_suffix(".1").unwrap();
        let command = name.strip_prefix("orbit-").map_or(vec!["man"], |command| vec!["man", command]);
        let printed = orbit(folder.path(), &command);
        assert!(printed.status.success() && printed.stdout == file, "{page}");
        let lines = text(&file);
        assert!(lines.contains(".SH DETAILS\n.nf\n") && lines.contains("Examples:\n"), "{page}");
        // The formatter warns about unknown macros.
        let warnings = judged("groff", &["-man", "-ww", "-Tutf8", "-z", page], folder.path());
        assert!(matches!(warnings.as_deref(), None | Some("")), "{page}: {warnings:?}");
    }
    for (args, message) in [
        (&["man", "sacn"][..], "error: there is no command `sacn`: the commands are scan, "),
        (&["man", "--dir", "no"], "error: no/orbit.1 cannot be written"),
    ] {
        let out = orbit(folder.path(), args);
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).starts_with(message), "{}", text(&out.stderr));
    }
}

#[test]
fn progress_is_told_to_programs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.pgn"), PGN).unwrap();
    let lines = |how: &str| -> Vec<serde_json::Value> {
        let out = orbit(folder.path(), &["index", "a.pgn", "-o", "a.reel", "--progress", how]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        let lines = text(&out.stderr).lines().filter(|line| line.starts_with('{'));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert!(lines("none").is_empty() && lines("bar").is_empty());
    let lines = lines("json");
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["progress", "done"]);
    let bytes = PGN.len();
    let done = serde_json::json!({
        "event": "done", "bytes": bytes, "bytes_total": bytes, "games": 3, "positions": 7
    });
    assert_eq!(lines[1], done);
    let out = orbit(folder.path(), &["scan", "--count", "-q", "--progress", "json", "Nf3 or Qa8", "a.pgn"]);
    let last: serde_json::Value = serde_json::from_str(text(&out.stderr).lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["games_hit"]), (&"done".into(), &2.into()));
}

/// With `--verify`, two parsers read the games from the named file or stream itself, not from a reel (packed games) beside it.
#[test]
fn verification_reads_games_twice() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = "[White \"a\"]\n\n1. e4 e5 1-0\n\n[White \"b\"]\n\ng1f3 g8f6 *\n";
    std::fs::write(folder.path().join("a.pgn"), pgn).unwrap();
    assert_eq!(orbit(folder.path(), &["index", "a.pgn", "-o", "a.reel"]).status.code(), Some(0));
    let line = "verified: 2 games read by both readers, 1 differs by a rule: coordinates 1";
    for args in [
        &["--engine", "cpu", "--verify"][..],
        &["--engine", "cpu", "--verify=1"],
        &["--engine", "reference"],
        &["--engine", "reference", "--verify"],
    ] {
        let out = orbit(folder.path(), &[&["scan", "--count", "initial", "a.pgn"], args].concat());
        assert_eq!(text(&out.stdout), "games hit 2\npositions hit 2\n", "{args:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(line), "{args:?}: {}", text(&out.stderr));
        assert!(!text(&out.stderr).contains("a.reel"), "{args:?}: {}", text(&out.stderr));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    let stream = std::fs::File::open(folder.path().join("a.pgn")).unwrap();
    let out = command.args(["scan", "--verify", "--count", "initial", "-"]).stdin(stream).output().unwrap();
    assert!(text(&out.stderr).contains(line), "{}", text(&out.stderr));
    let plain = "[White \"a\"]\n\n1. e4 e5 1-0\n";
    std::fs::write(folder.path().join("plain.pgn"), plain).unwrap();
    std::fs::write(folder.path().join("queries.txt"), "initial\n").unwrap();
    let args = ["scan", "--engine", "reference", "--queries", "queries.txt", "plain.pgn"];
    let out = orbit(folder.path(), &args);
    assert!(text(&out.stderr).contains("verified: 1 game"), "{}", text(&out.stderr));
    // The second parser cannot read games from a reel.
    let out = orbit(folder.path(), &["scan", "--verify", "--count", "initial", "a.reel"]);
    assert!(!text(&out.stderr).contains("both readers"), "{}", text(&out.stderr));
}
