//! Tests conditions on clock times and evaluations: all outputs must agree, for PGN, for reels (packed games) and for searches in
//! parts.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{run, run_in, stdout};

const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/games/measures.pgn");
const QUERY: &str = "Nf3 btm";
const COLUMNS: &str = "game,ply,san,clock,spent,eval,eval_mate,loss";

fn lines(args: &[&str]) -> Vec<String> {
    stdout(&[&["scan", "-q"], args].concat()).lines().map(str::to_owned).collect()
}

fn reel(folder: &Path, name: &str, more: &[&str]) -> String {
    let path = folder.join(name).to_str().unwrap().to_owned();
    let (code, _, stderr) = run(&[&["index", "-q", GAMES, "-o", &path], more].concat());
    assert_eq!(code, Some(0), "{stderr}");
    path
}

/// Engine match programs write evaluations from the viewpoint of the side that has just moved.
#[test]
fn comments_of_engine_matches_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("match.pgn");
    let text = "{+9.99/9 9s} 1. e4 {book} e5 {-0.28/22 0.58s} 2. Nf3 {+0.30/18 10s} Nc6 {0.00/15 0.4s} 3. Bb5 {+M5/5 0.050s} a6 \
                {-M4/9 0.1s, White mates} *\n";
    fs::write(&games, text).unwrap();
    let columns = "ply,spent,eval,eval_mate,loss";
    let found = lines(&["--columns", columns, "--format", "csv", "true", games.to_str().unwrap()]);
    let due = ["0,,,,", "1,,,,", "2,0.58,0.28,,", "3,10,0.3,,0", "4,0.4,0,,0", "5,0.05,,5,0", "6,0.1,,4,0"];
    assert_eq!(found[1..], due);
}

/// If a condition restricts the hits, every output must contain exactly the hits that meet it.
#[test]
fn every_output_has_the_hits_that_meet_a_condition() {
    let folder = tempfile::tempdir().unwrap();
    let with = reel(folder.path(), "with.reel", &["--variations"]);
    for condition in ["clock<30", "eval>=2", "spent>=2.5", "loss>=0.5"] {
        let all = lines(&["--columns", COLUMNS, "--format", "jsonl", QUERY, GAMES]);
        let all: Vec<Value> = all.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        // The test evaluates the condition a second time, on the columns of the output.
        let meets = |row: &Value| match condition {
            "clock<30" => row["clock"].as_f64().is_some_and(|clock| clock < 30.0),
            "eval>=2" => {
                let is_mate = row["eval_mate"].as_i64().is_some_and(|moves| moves > 0);
                row["eval"].as_f64().is_some_and(|eval| eval >= 2.0) || is_mate
            }
            "spent>=2.5" => row["spent"].as_f64().is_some_and(|spent| spent >= 2.5),
            _ => row["loss"].as_f64().is_some_and(|loss| loss >= 0.5),
        };
        // Mates in 0 are excluded, because `eval_mate` does not say which side has mated.
        let is_zero = |row: &Value| row["eval_mate"] == 0;
        let due: Vec<&Value> = all.iter().filter(|row| meets(row) && !is_zero(row)).collect();
        assert!(due.len() > 100 && due.len() < all.len(), "{condition}: {}", due.len());
        for games in [GAMES, &with] {
            let ask = |more: &[&str]| lines(&[&["-w", condition], more, &[QUERY, games]].concat());
            let found = ask(&["--format", "jsonl", "--columns", COLUMNS]);
            let found: Vec<Value> = found.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
            let rows: Vec<&Value> = found.iter().filter(|row| !is_zero(row)).collect();
            assert!(rows == due, "{condition}: {} rows, {} due", rows.len(), due.len());
            let mut numbers: Vec<u64> = found.iter().map(|row| row["game"].as_u64().unwrap()).collect();
            let hits = numbers.len();
            numbers.dedup();
            let counted = ask(&["--count", "--format", "csv"]);
            let counted: Vec<&str> = counted[1].split(',').collect();
            assert_eq!(counted[..2], [numbers.len().to_string(), hits.to_string()], "{condition}");
            let plain: Vec<String> =
                found.iter().map(|row| format!("{} {}", row["game"], row["ply"])).collect();
            assert_eq!(ask(&["--format", "plain"]), plain);
            assert_eq!(ask(&["--format", "epd"]).len(), hits);
            let pgn = ask(&["--format", "pgn"]);
            assert_eq!(pgn.iter().filter(|line| line.starts_with("[White ")).count(), numbers.len());
            let stats = ask(&["--stats", "result,clock", "--stats-format", "json"]).join("\n");
            let stats: Value = serde_json::from_str(&stats).unwrap();
            assert_eq!(stats["total"]["positions_hit"], hits);
            assert_eq!(stats["total"]["games_hit"], numbers.len());
            // The number of games also includes games without a hit.
            assert_eq!(stats["total"]["games"], 220);
            let page = folder.path().join("page.html").to_str().unwrap().to_owned();
            ask(&["-o", &page]);
            assert!(fs::read_to_string(&page).unwrap().contains(&format!(
                "at positions with {}",
                condition.replace('<', "&lt;").replace('>', "&gt;")
            )));
            // If a condition uses clock times, the default columns include them.
            let head = ask(&["--format", "csv", "--limit", "1"]);
            assert!(head[0].ends_with(",clock,spent,eval,eval_mate,loss"), "{}", head[0]);
            let first = ask(&["--first", "--format", "plain"]);
            assert_eq!(first.len(), numbers.len());
        }
    }
}

/// Conditions and statistics about clock times must give the same output in a job as in a single run.
#[test]
fn parts_of_a_job_have_clocks() {
    let folder = tempfile::tempdir().unwrap();
    let with = reel(folder.path(), "with.reel", &["--variations"]);
    let args = ["-w", "clock<60", "--stats", "clock,eval:0.5", "--stats-format", "csv", QUERY, &with];
    let due = lines(&args);
    let job = folder.path().join("job/").to_str().unwrap().to_owned();
    assert_eq!(run(&[&["job", "plan"], &args[..], &["-o", &job]].concat()).0, Some(0));
    assert_eq!(run(&["job", "part", "-q", "1", &job]).0, Some(0));
    let (code, merged, stderr) = run(&["job", "merge", &job]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(merged.lines().collect::<Vec<_>>(), due);
}

#[test]
fn a_reel_without_comments_says_how_to_make_one_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let bare = reel(folder.path(), "bare.reel", &[]);
    for args in [["-w", "clock<30"], ["--stats", "eval"], ["--stats", "loss"], ["--columns", "spent"]] {
        let format: &[&str] = if args[0] == "--columns" { &["--format", "csv"] } else { &[] };
        let (code, _, stderr) = run(&[&["scan"], &args[..], format, &[QUERY, &bare]].concat());
        assert_eq!(code, Some(2), "{stderr}");
        assert!(
            stderr.contains("contains no comments") && stderr.contains("orbit index --variations"),
            "{stderr}"
        );
    }
    // Groupings and conditions that use only tags work even if the reel has no comments.
    lines(&["--stats", "time-control,title,termination", "-w", "time-control=blitz", QUERY, &bare]);
    // A reel without comments does not replace the file beside it.
    fs::copy(GAMES, folder.path().join("games.pgn")).unwrap();
    assert_eq!(run_in(folder.path(), &["index", "-q", "games.pgn", "-o", "games.reel"]).0, Some(0));
    let (code, beside, stderr) =
        run_in(folder.path(), &["scan", "--count", "-w", "clock<30", QUERY, "games.pgn"]);
    assert_eq!(
        (code, beside),
        (Some(0), stdout(&["scan", "-q", "--count", "-w", "clock<30", QUERY, GAMES])),
        "{stderr}"
    );
}

#[test]
fn conditions_that_are_none_say_what_they_lack() {
    for (condition, message) in [
        ("clock<soon", "`soon` is no number: `clock` is compared with a number of seconds"),
        ("eval>=1.2345", "`1.2345` is no number: `eval` is compared with a number of pawns"),
        ("eval~2", "`eval` is a number: compare it with"),
        ("time-control=fast", "`fast` is no class of time controls; write one of ultrabullet, bullet, blitz"),
        ("time-control<blitz", "`time-control` is neither a number nor a date"),
        ("cloc<30", "did you mean `clock`?"),
    ] {
        let (code, _, stderr) = run(&["scan", "-w", condition, QUERY, GAMES]);
        assert_eq!(code, Some(2), "{condition}");
        assert!(stderr.contains(message), "{condition}: {stderr}");
    }
    let sample = crate::program::SAMPLE;
    let (code, _, stderr) = run(&["scan", "--count", "-w", "clock<30", "mate", sample]);
    assert_eq!(code, Some(0));
    assert!(stderr.contains("counts if it meets clock<30") && stderr.contains("[%clk 0:00:30]"), "{stderr}");
}

/// Games are sorted by the key's largest value at any of their hits or, with `--reverse`, by the smallest. Games without a value
/// come last.
#[test]
fn games_are_sorted_by_clocks_and_evaluations() {
    for key in ["clock", "spent", "eval", "loss"] {
        for reverse in [false, true] {
            let more: &[&str] = if reverse { &["--reverse"] } else { &[] };
            let args = ["--sort", key, "--format", "jsonl", "--columns", COLUMNS, QUERY, GAMES];
            let rows = lines(&[&args[..], more].concat());
            let rows: Vec<Value> = rows.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
            let number = |row: &Value| match (key, row["eval_mate"].as_f64()) {
                // For a mate in 0, the row does not say which side has mated, so the game is excluded.
                ("eval", Some(0.0)) => Some(f64::NAN),
                ("eval", Some(moves)) => Some(moves.signum() * f64::INFINITY),
                _ => row[key].as_f64(),
            };
            let ranks = rows.chunk_by(|a, b| a["game"] == b["game"]).map(|game| {
                let numbers: Vec<f64> = game.iter().filter_map(number).collect();
                let best = if reverse { f64::min } else { f64::max };
                let is_told = !numbers.iter().any(|number| number.is_nan());
                (is_told, numbers.into_iter().reduce(best))
            });
            let ranks: Vec<Option<f64>> = ranks.filter(|rank| rank.0).map(|rank| rank.1).collect();
            let unknown = ranks.iter().position(Option::is_none).unwrap();
            assert!(unknown > 50 && ranks[unknown..].iter().all(Option::is_none), "{key} {ranks:?}");
            let known: Vec<f64> = ranks.iter().flatten().copied().collect();
            let is_due =
                known.windows(2).all(|two| if reverse { two[0] <= two[1] } else { two[0] >= two[1] });
            assert!(is_due, "{key}, reverse {reverse}: {known:?}");
        }
    }
}
