//! Tests `orbit positions`, `orbit index --positions` and `orbit scan --at`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use orbit_reel::Reel;
use orbit_visits::PositionTable;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{SAMPLE, run_in};

const NAJDORF: &str = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6";
const OPEN: &str = "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq -";

#[track_caller]
fn orbit(folder: &Path, code: i32, args: &[&str]) -> (String, String) {
    let (found, stdout, stderr) = run_in(folder, args);
    assert_eq!(found, Some(code), "{args:?}: {stderr}");
    (stdout, stderr)
}

/// Returns a folder with a reel (packed games) of some sample games and the reel's position table.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(SAMPLE).unwrap();
    let ends: Vec<usize> = text.match_indices("[Event ").map(|(at, _)| at).collect();
    fs::write(folder.path().join("a.pgn"), &text[..ends[300]]).unwrap();
    fs::write(folder.path().join("b.pgn"), &text[ends[300]..ends[400]]).unwrap();
    let (_, stderr) = orbit(folder.path(), 0, &["index", "--positions", "a.pgn", "-o", "a.reel"]);
    assert!(stderr.contains("a.reel.positions: ") && stderr.contains(" distinct positions of "), "{stderr}");
    folder
}

#[test]
fn a_position_is_looked_up_in_text_and_json() {
    let folder = folder();
    let (text, stderr) = orbit(folder.path(), 0, &["positions", "a.reel", NAJDORF]);
    assert!(stderr.contains("a.reel.positions: 0 of "), "{stderr}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "rnbqkb1r/1p2pppp/p2p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq -");
    assert!(
        lines[1].starts_with("games   ") && lines[3].starts_with("first   ") && lines.len() == 5,
        "{text}"
    );
    let (json, _) = orbit(folder.path(), 0, &["positions", "-q", "--json", "a.reel", NAJDORF]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(lines[1], format!("games   {}", json["games"]));
    assert!(json["first"]["date"].as_str() <= json["last"]["date"].as_str(), "{json}");
    // The command must print the same output when it reads the PGN, without the table.
    let (again, _) = orbit(folder.path(), 0, &["positions", "a.pgn", lines[0]]);
    assert_eq!(again, text);
    let none = "8/8/8/4k3/4P3/4K3/8/8 w - -";
    let (text, _) = orbit(folder.path(), 0, &["positions", "-q", "a.reel", none]);
    assert_eq!(text, format!("{none}\nno game has this position\n"));
    orbit(folder.path(), 1, &["positions", "-q", "--fail-if-none", "a.reel", none]);
    for (wrong, why) in [("e4 e9", "`e9` is no move"), ("e4 e4", "`e4` is no legal move"), ("8/8 w", "")] {
        let (_, stderr) = orbit(folder.path(), 2, &["positions", "a.reel", wrong]);
        assert!(stderr.contains(why), "{stderr}");
    }
}

#[test]
fn a_search_at_a_position_is_the_same_with_and_without_a_table() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let asks: &[&[&str]] = &[
        &["--at", NAJDORF],
        &["--at", OPEN, "--format", "jsonl"],
        &["--at", "e4 c5", "--stats", "next"],
        &["--at", "e4", "--stats", "next:2", "-w", "year>=2010 and result!=1/2-1/2"],
        &["--at", "d4 Nf6", "--player", "Carlsen", "--stats", "next"],
        &["--at", "d4 Nf6", "--sort", "date", "--limit", "3"],
        &["--at", "d4 Nf6", "--count"],
        &["--at", "d4 Nf6", "--stats", "year"],
        &["--at", "d4 Nf6", "--unique=moves", "--format", "csv"],
        &["--at", "8/8/8/4k3/4P3/4K3/8/8 w - -"],
    ];
    let all = |reel: &str| -> Vec<String> {
        let one = |ask: &&[&str]| orbit(folder.path(), 0, &[&["scan", "-q"], *ask, &[reel]].concat()).0;
        asks.iter().map(one).collect()
    };
    let with = all("a.reel");
    assert!(with[..9].iter().all(|text| text.lines().count() >= 1), "{with:?}");
    fs::rename(path("a.reel.positions"), path("kept")).unwrap();
    assert_eq!(with, all("a.reel"));
    // The table covers the games before the append, and is still used for them.
    fs::rename(path("kept"), path("a.reel.positions")).unwrap();
    orbit(folder.path(), 0, &["index", "-q", "--append", "b.pgn", "-o", "a.reel"]);
    let (_, stderr) = orbit(folder.path(), 0, &["scan", asks[0][0], asks[0][1], "a.reel"]);
    assert!(stderr.contains("1 of them appended since it was written"), "{stderr}");
    let appended = all("a.reel");
    assert_ne!(appended, with);
    fs::rename(path("a.reel.positions"), path("kept")).unwrap();
    assert_eq!(appended, all("a.reel"));
    // `--at` also compares castling rights, so the position is not found if one right is missing.
    let lost = OPEN.replace("KQkq", "Qkq");
    let (text, _) = orbit(folder.path(), 0, &["scan", "-q", "--format", "plain", "--at", &lost, "a.reel"]);
    assert_eq!(text, "");
}

#[test]
fn an_explorer_is_the_same_with_and_without_a_table() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let asks: &[&[&str]] = &[
        &["a.reel", "start"],
        &["--json", "--top-games", "50", "--recent-games", "50", "a.reel", NAJDORF],
        &["--since", "2010", "--until", "2015-06", "--ratings", "2200,2500", "a.reel", "e4 c5"],
        &["--player", "Carlsen, Magnus", "--json", "a.reel", "d4 Nf6"],
        &["a.reel", OPEN],
        &["a.reel", "8/8/8/4k3/4P3/4K3/8/8 w - -"],
    ];
    let all = || -> Vec<(String, String)> {
        asks.iter().map(|ask| orbit(folder.path(), 0, &[&["explore"], *ask].concat())).collect()
    };
    let texts = |all: &[(String, String)]| all.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>();
    let with = all();
    for (_, stderr) in &with {
        assert!(stderr.contains("a.reel.positions: ") && stderr.contains(" blocks are read\n"), "{stderr}");
    }
    fs::rename(path("a.reel.positions"), path("kept")).unwrap();
    let without = all();
    assert_eq!(texts(&with), texts(&without));
    assert!(without.iter().all(|(_, stderr)| !stderr.contains("blocks are read")), "{without:?}");
    fs::write(path("a.reel.positions"), &fs::read(path("kept")).unwrap()[..1000]).unwrap();
    let damaged = all();
    assert_eq!(texts(&damaged), texts(&without));
    assert!(damaged.iter().all(|(_, stderr)| stderr.contains("is damaged: ")), "{damaged:?}");
}

#[test]
fn a_table_that_is_not_of_the_reel_is_not_used_and_told() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let ask = ["positions", "a.reel", NAJDORF];
    let (right, _) = orbit(folder.path(), 0, &ask);
    let whole = fs::read(path("a.reel.positions")).unwrap();
    fs::write(path("a.reel.positions"), &whole[..whole.len() / 2]).unwrap();
    let (text, stderr) = orbit(folder.path(), 0, &ask);
    assert_eq!(text, right);
    assert!(
        stderr.contains("warning: a.reel.positions is damaged: ") && stderr.contains("it is not used"),
        "{stderr}"
    );
    orbit(folder.path(), 0, &["index", "-q", "b.pgn", "-o", "b.reel"]);
    fs::write(path("b.reel.positions"), &whole).unwrap();
    let (_, stderr) = orbit(folder.path(), 0, &["scan", "--at", "e4", "b.reel"]);
    assert!(stderr.contains("warning: b.reel.positions is not of this reel: "), "{stderr}");
    let (_, stderr) = orbit(folder.path(), 0, &["positions", "--novelties", "b.reel"]);
    assert!(stderr.contains("note: b.reel.positions is not of this reel: "), "{stderr}");
    orbit(folder.path(), 0, &["positions", "-q", "--write", "a.reel"]);
    assert!(fs::read(path("a.reel.positions")).unwrap() == whole);
    // With `--positions`, an append writes the table even if there is nothing to append.
    fs::remove_file(path("a.reel.positions")).unwrap();
    let (_, stderr) = orbit(folder.path(), 0, &["positions", "--novelties", "a.reel"]);
    assert!(
        stderr.contains("note: a.reel has no table of positions, so all games are read several times"),
        "{stderr}"
    );
    assert!(stderr.contains("`orbit positions --write a.reel` writes a table"), "{stderr}");
    orbit(folder.path(), 0, &["index", "-q", "--append", "--positions", "a.pgn", "-o", "a.reel"]);
    assert!(fs::read(path("a.reel.positions")).unwrap() == whole);
}

#[test]
fn reels_of_a_folder_have_a_table_each() {
    let folder = folder();
    orbit(folder.path(), 0, &["index", "-q", "--positions", "--shards", "64K", "a.pgn", "-o", "db"]);
    let files = fs::read_dir(folder.path().join("db")).unwrap();
    let tables =
        files.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "positions"));
    let tables: Vec<_> = tables.map(|file| file.unwrap().path()).collect();
    assert!(!tables.is_empty());
    let read = || tables.iter().map(|table| fs::read(table).unwrap()).collect::<Vec<_>>();
    let whole = read();
    tables.iter().for_each(|table| fs::write(table, "").unwrap());
    let (_, stderr) = orbit(folder.path(), 0, &["positions", "--write", "db"]);
    assert!(read() == whole && stderr.lines().count() == tables.len(), "{stderr}");
    let (of_folder, stderr) = orbit(folder.path(), 0, &["positions", "--novelties", "db"]);
    assert!(stderr.contains("`orbit index --positions db -o all.reel` makes one"), "{stderr}");
    assert!(of_folder == orbit(folder.path(), 0, &["positions", "-q", "--novelties", "a.reel"]).0);
    fs::create_dir(folder.path().join("none")).unwrap();
    fs::copy(folder.path().join("b.pgn"), folder.path().join("none/b.pgn")).unwrap();
    let (_, stderr) = orbit(folder.path(), 2, &["positions", "--write", "none"]);
    assert!(stderr.contains("none has no reel: `orbit index --positions` makes one"), "{stderr}");
    for ask in [&["positions", "-q"][..], &["scan", "-q", "--at"]] {
        let words = |database: &'static str| match ask[0] {
            "scan" => [ask, &[NAJDORF, database]].concat(),
            _ => [ask, &[database, NAJDORF]].concat(),
        };
        assert_eq!(orbit(folder.path(), 0, &words("db")), orbit(folder.path(), 0, &words("a.reel")));
    }
}

#[test]
fn novelties_are_listed() {
    let folder = folder();
    let (text, _) = orbit(folder.path(), 0, &["positions", "--novelties", "a.reel"]);
    let (json, _) = orbit(folder.path(), 0, &["positions", "--novelties", "--json", "a.reel"]);
    let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(text.lines().count(), rows.len());
    // Without a table, the games are read several times.
    fs::copy(folder.path().join("a.pgn"), folder.path().join("c.pgn")).unwrap();
    let (of_text, stderr) = orbit(folder.path(), 0, &["positions", "--novelties", "c.pgn"]);
    assert!(
        of_text == text && stderr.contains("note: c.pgn is no reel with a table of positions"),
        "{stderr}"
    );
    assert!(rows.len() > 200, "{}", rows.len());
    assert!(
        rows.iter().filter(|row| row["before"].as_array().is_some_and(|all| !all.is_empty())).count() > 100
    );
}

/// If a process is killed while it writes a position table, either the old table or the complete new one must remain.
#[test]
fn a_run_that_is_killed_leaves_the_old_table_or_the_new_one() {
    let folder = folder();
    let table = folder.path().join("a.reel.positions");
    // The old table covers the games before the append, and the new one all games.
    let old = fs::read(&table).unwrap();
    orbit(folder.path(), 0, &["index", "-q", "--append", "b.pgn", "-o", "a.reel"]);
    let spawn = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        command.current_dir(folder.path()).args(["positions", "-q", "--write", "-j", "1", "a.reel"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let begun = Instant::now();
    assert!(spawn().wait().unwrap().success());
    let taken = begun.elapsed();
    let new = fs::read(&table).unwrap();
    assert!(new != old);
    let (mut killed, mut kept) = (0, 0);
    for round in 0..12u32 {
        fs::write(&table, &old).unwrap();
        let mut victim = spawn();
        std::thread::sleep(taken * round / 12);
        killed += u32::from(victim.try_wait().unwrap().is_none());
        victim.kill().unwrap();
        victim.wait().unwrap();
        let left = fs::read(&table).unwrap();
        assert!(left == old || left == new, "{round}");
        kept += u32::from(left == old);
        let reel = Reel::open(&folder.path().join("a.reel")).unwrap();
        let blocks = PositionTable::open(&reel).unwrap().unwrap().blocks();
        assert_eq!(blocks == reel.blocks(), left == new);
    }
    assert!(killed > 0 && kept > 0 && taken > Duration::ZERO, "{killed} killed, {kept} kept");
    orbit(folder.path(), 0, &["positions", "-q", "--write", "a.reel"]);
    assert!(fs::read(&table).unwrap() == new);
    let left = fs::read_dir(folder.path()).unwrap();
    let left =
        left.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().contains(".tmp")).count();
    assert_eq!(left, 0, "the next run removes what is left");
}

#[test]
fn a_reel_is_whole_though_its_table_cannot_be_written() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::remove_file(path("a.reel.positions")).unwrap();
    fs::create_dir(path("a.reel.positions")).unwrap();
    let (_, stderr) = orbit(folder.path(), 2, &["index", "--positions", "a.pgn", "-o", "a.reel"]);
    assert!(stderr.contains("a.reel.positions cannot be written ("), "{stderr}");
    assert!(stderr.contains("the reel can be searched without it"), "{stderr}");
    let (_, stderr) = orbit(folder.path(), 0, &["scan", "--at", NAJDORF, "a.reel"]);
    assert!(stderr.contains("warning: a.reel.positions: it is no file; it is not used"), "{stderr}");
    orbit(folder.path(), 0, &["info", "--verify", "a.reel"]);
}

/// Groups of games count all games, even those in blocks that the table shows to be without the position.
#[test]
fn statistics_with_a_table_count_all_games_of_a_group() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let early = "[Date \"1990.01.01\"]\n\n1. e4 e5 2. Nf3 *\n\n".repeat(40_000);
    let late = "[Date \"2000.01.01\"]\n\n1. e4 c5 2. Nf3 *\n\n".repeat(5);
    fs::write(folder.join("a.pgn"), early + &late).unwrap();
    orbit(folder, 0, &["index", "--positions", "a.pgn", "-o", "a.reel"]);
    assert!(Reel::open(&folder.join("a.reel")).unwrap().blocks() > 1);
    let groupings = ["year", "next:2,year", "next,year,top=10", "next:2*year", "next:2", "next,top=10"];
    let tables = || groupings.map(|by| orbit(folder, 0, &["scan", "--at", "e4 c5", "--stats", by, "a.reel"]));
    let with_table = tables();
    fs::remove_file(folder.join("a.reel.positions")).unwrap();
    let without = tables();
    for ((with_table, without), by) in with_table.iter().zip(&without).zip(groupings) {
        assert_eq!(with_table.0, without.0, "{by}");
    }
    // The table saves reading only if groups are by moves alone.
    let reads_all = with_table.map(|(_, stderr)| !stderr.contains("blocks are read"));
    assert_eq!(reads_all, [true, true, true, true, false, false]);
}
