//! Tests that every output of a job equals that of a single run, byte for byte.

use std::fs;
use std::path::Path;

use super::{REELS, done, files, orbit, parts, reels};
#[cfg(feature = "gpu")]
use crate::adapter::needs_adapter;

const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";

/// Returns command lines, each with the number of parts into which its job divides the six blocks (groups of games) if three
/// parts are requested.
fn rows() -> Vec<(Vec<&'static str>, usize)> {
    let split: &[&[&str]] = &[
        &["-F", "text", QUERY],
        &["-F", "pgn", QUERY],
        &["-F", "jsonl", QUERY],
        &["-F", "csv", QUERY],
        &["-F", "epd", QUERY],
        &["-F", "fen", QUERY],
        &["-F", "plain", QUERY],
        &["-F", "values", "k attackedby N"],
        &["-F", "text", "--limit", "7", "--skip", "3", QUERY],
        &["-F", "pgn", "--limit", "40", "--skip", "60", QUERY],
        &["-F", "jsonl", "--limit", "95", "check"],
        &["--all-plies", "--skip", "100", "check"],
        &["--columns", "game,source,white,move,fen", "-F", "csv", "--rows", "games", QUERY],
        &["--count", QUERY],
        &["--count", "--limit", "4", QUERY],
        &["--count", "--limit", "100", "--skip", "88", "-F", "jsonl", "check"],
        &["--copies", QUERY],
        &["--copies=3", "-F", "csv", QUERY],
        &["--heat", QUERY],
        &["--heat", "-F", "jsonl", "k attackedby N"],
        &["--stats", "year,eco,year*result", QUERY],
        &["--stats", "source,copy", "-F", "jsonl", "--limit", "5", QUERY],
        &["--stats", "value:2", "--stats-format", "json", "#(Q attackedby q)"],
        &["--stats", "year,ply:10", "--stats-output", "years.csv", "#(Q attackedby q)"],
        &["-o", "h.txt", "-o", "h.csv", "-o", "h.jsonl", "-o", "h.pgn", "-o", "h.epd.zst", QUERY],
        &["-o", "page.html", "-o", "map.svg", QUERY],
        &["-o", "page.html", "-o", "h.pgn", "-o", "-", "--comment", "--limit", "5", QUERY],
        &["-o", "page.html", "mate flip {Rd1 kh8 qa1 Qa2 ra8}"],
        &["--first", "-F", "csv", "check"],
        &["--best", "-F", "csv", "k attackedby N"],
        &["--sample", "20", "--seed", "4", "-F", "jsonl", "check"],
        &["--sample", "20", "-F", "pgn", "--comment", "check"],
        &["--sort", "date", "--limit", "30", "--skip", "2", "-F", "text", "check"],
        &["--sort", "value", "--reverse", "-F", "csv", "k attackedby N"],
        &["--sort", "length", "--limit", "9", "line --> check --> check"],
        &["cql() sort #(Q attackedby q)", "--limit", "20"],
        &["--where", "result=1-0", "--where", "year>=2012", QUERY],
        &["--player", "Carlsen", "check", "-F", "jsonl"],
        &["--player", "Carlsen", "check", "--stats", "player,opponent,side"],
        &["--problems", "problems.txt", "--limit", "100", "-F", "plain", "check"],
        &["--fail-if-none", "mate flip {Rd1 kh8 qa1 Qa2 ra8}"],
        &["line --> check --> not check", "-F", "jsonl", "--limit", "50"],
        &["--stats", "length,san", "line --> check --> check"],
        &["--stats", "next:2,previous*year", QUERY],
        &["--at", "d4 Nf6 c4", "--stats", "next", "-F", "plain"],
        &[
            "--stats",
            "next,next:played",
            "--stats-output",
            "next.csv",
            "--player",
            "Carlsen",
            "flipcolor Nd5",
        ],
        &["lastgamenumber==540 gamenumber>lastgamenumber-95", "-F", "plain", "--first"],
        &["gamenumber>=85 gamenumber<=95 check", "-F", "text"],
        &["--similar", "8/8/8/4k3/4P3/4K3/8/8", "--shift"],
        &["--engine", "reference", "--limit", "9", "-F", "plain", QUERY],
        &["-f", "query.cql"],
        &["--queries", "queries.txt"],
        &["--queries", "queries.txt", "-F", "csv"],
        &["--(o-o)", "-F", "plain", "--limit", "40"],
        &["-e", "--(o-o)", "-F", "plain"],
    ];
    let whole: &[&[&str]] = &[
        &["persistent X X+=1 X>50 check", "-F", "plain"],
        &["--unique", QUERY, "-F", "plain"],
        &["--unique=moves", "--count", "check", "-F", "jsonl"],
    ];
    let with = |rows: &[&[&'static str]], parts| {
        rows.iter().map(move |row| (row.to_vec(), parts)).collect::<Vec<_>>()
    };
    let tables: &[&[&str]] = &[
        &["-o", "h.parquet", QUERY],
        &["-o", "h.parquet", "--rows", "games", "--columns", "game,white,value", "#(Q attackedby q)"],
        &["-o", "h.parquet", "--sort", "value", "--limit", "9", "k attackedby N"],
    ];
    let tables = if cfg!(feature = "parquet") { tables } else { &[] };
    [with(split, 3), with(tables, 3), with(whole, 1)].concat()
}

/// Creates a folder with all inputs, in which one way to run a job is tested. Returns its path.
fn prepare(inputs: &Path, name: &str) -> std::path::PathBuf {
    let folder = inputs.join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

#[test(part = 2)]
fn a_merged_job_is_one_run() {
    let inputs = reels();
    let inputs = inputs.path();
    fs::write(inputs.join("query.cql"), "mate flip {Rd8 kg8}").unwrap();
    fs::write(inputs.join("queries.txt"), "one\tcheck\ntwo\tmate\nstalemate\n").unwrap();
    let paths: Vec<String> = REELS.iter().map(|reel| format!("../{reel}")).collect();
    let mut hits = 0;
    for (row, wanted) in rows() {
        let row: Vec<String> = row
            .iter()
            .map(|word| if word.starts_with("quer") { format!("../{word}") } else { (*word).to_owned() })
            .collect();
        let args: Vec<&str> = row.iter().chain(&paths).map(String::as_str).collect();
        let (once, job) = (prepare(inputs, "once"), prepare(inputs, "job"));
        let (code, stdout, stderr) = orbit(&once, &[&["scan", "-q"], &args[..]].concat());
        assert!(code == 0 || args.contains(&"--fail-if-none") && code == 1, "{args:?}: {stderr}");
        done(&job, &[&["job", "plan", "-q", "--parts", "3", "-o", "out/"], &args[..]].concat());
        assert_eq!(parts(&job, "out"), wanted, "{args:?}");
        // The parts are computed in reverse order, from another working folder.
        for number in (1..=wanted).rev() {
            done(inputs, &["job", "part", "-q", "-j", "1", &number.to_string(), "job/out"]);
        }
        let merged = orbit(inputs, &["job", "merge", "job/out"]);
        assert_eq!((merged.0, &merged.2), (code, &stderr), "{args:?}");
        assert!(merged.1 == stdout, "{args:?}: `scan` printed\n{stdout}\n`job merge` printed\n{}", merged.1);
        assert!(files(&once) == files(&job), "{args:?}: files differ");
        hits += stdout.len();
    }
    assert!(hits > 100_000, "{hits} bytes are too few to compare");
}

#[test]
fn text_files_are_one_part() {
    let inputs = reels();
    let inputs = inputs.path();
    let args = ["-F", "text", QUERY, "a.pgn", "b.reel", "c.pgn", "--no-reel"];
    let planned = done(inputs, &[&["job", "plan", "-o", "out/"], &args[..]].concat());
    assert!(
        planned.contains("out/job.json: 1 part\none part only: the numbers of games of PGN files"),
        "{planned}"
    );
    done(inputs, &["job", "part", "-q", "out"]);
    assert_eq!(done(inputs, &["job", "merge", "out"]), done(inputs, &[&["scan", "-q"], &args[..]].concat()));
    // Reels beside the files replace the files, so the search can be divided.
    done(inputs, &["job", "plan", "-q", "-o", "two/", QUERY, "a.pgn", "b.pgn"]);
    assert_eq!(parts(inputs, "two"), 2);
}

#[test]
fn a_search_is_resumed() {
    let inputs = reels();
    let inputs = inputs.path();
    let args = [&["-F", "csv", "-o", "hits.csv", "-o", "-", QUERY], &REELS[..]].concat();
    let printed = done(inputs, &[&["scan", "-q"], &args[..]].concat());
    let written = fs::read(inputs.join("hits.csv")).unwrap();
    fs::remove_file(inputs.join("hits.csv")).unwrap();
    assert_eq!(done(inputs, &[&["scan", "-q", "--resume", "out"], &args[..]].concat()), printed);
    assert!(fs::read(inputs.join("hits.csv")).unwrap() == written);
    // A complete part is not computed again, whatever the spelling and the options of the command.
    fs::remove_file(inputs.join("out/parts/00003.part")).unwrap();
    let (code, stdout, stderr) = orbit(inputs, &[&["scan", "-j", "1", "--resume=out/"], &args[..]].concat());
    assert_eq!((code, &stdout), (0, &printed), "{stderr}");
    assert!(stderr.contains("part 3 of 6") && !stderr.contains("part 2 of 6"), "{stderr}");
    // Part files do not contain the names of output files, so the search can be resumed with a different output file.
    let elsewhere = [&["-F", "csv", "-o", "again.csv", "-o", "-", QUERY], &REELS[..]].concat();
    fs::remove_file(inputs.join("hits.csv")).unwrap();
    let (code, stdout, stderr) = orbit(inputs, &[&["scan", "--resume", "out"], &elsewhere[..]].concat());
    assert_eq!((code, &stdout), (0, &printed), "{stderr}");
    assert!(!stderr.contains("of 6"), "{stderr}");
    assert!(fs::read(inputs.join("again.csv")).unwrap() == written && !inputs.join("hits.csv").exists());
    let (code, _, stderr) = orbit(inputs, &[&["scan", "--resume", "out", "--first"], &args[..]].concat());
    assert_eq!(code, 2);
    assert!(stderr.contains("the options are others than when it was planned"), "{stderr}");
}

#[test]
fn each_part_shows_its_progress() {
    let inputs = reels();
    let inputs = inputs.path();
    let events = |args: &[&str]| {
        let (code, _, stderr) = orbit(inputs, &[args, &["--progress", "json"]].concat());
        assert_eq!(code, 0, "{stderr}");
        // Merging also prints progress events, but with `null` as the total number of bytes, so they are not counted.
        let is_of_part = |line: &&str| line.contains(r#""event":"progress""#) && !line.contains("null");
        stderr.lines().filter(is_of_part).count()
    };
    done(inputs, &[&["job", "plan", "-q", "-o", "out/", QUERY], &REELS[..]].concat());
    // Each part has one block and prints one progress event for it.
    assert_eq!(events(&["job", "part", "-q", "out"]), 6);
    assert_eq!(events(&[&["scan", "-q", "--resume", "again", "--count", QUERY], &REELS[..]].concat()), 6);
}

/// All engines must produce the same part file. A job that was planned for the reference engine runs on that engine.
#[cfg(feature = "gpu")]
#[test]
fn parts_may_be_computed_by_other_engines() {
    needs_adapter();
    let inputs = reels();
    let inputs = inputs.path();
    for (job, engine) in [("auto", "auto"), ("card", "gpu"), ("slow", "reference")] {
        let (out, none) = (format!("{job}/"), ["--again", "-q"]);
        let args = [&["--engine", engine, "-F", "jsonl", QUERY], &REELS[..2]].concat();
        done(inputs, &[&["job", "plan", "-o", &out], &args[..]].concat());
        done(inputs, &[&["job", "part"], &none[..], &["--engine", "cpu", job]].concat());
        let by_cpu = files(&inputs.join(job).join("parts"));
        assert_eq!(by_cpu.len(), 2);
        done(inputs, &[&["job", "part"], &none[..], &["--engine", "gpu", "--gpu", "0", job]].concat());
        assert!(by_cpu == files(&inputs.join(job).join("parts")), "{job}");
        assert_eq!(
            done(inputs, &["job", "merge", job]),
            done(inputs, &[&["scan", "-q"], &args[..]].concat())
        );
        let (code, _, stderr) =
            orbit(inputs, &["job", "part", "--again", "--engine", "gpu", "--gpu", "no such card", "1", job]);
        // The reference engine needs no card.
        assert_eq!(
            (code, stderr.contains("no such card")),
            if job == "slow" { (0, false) } else { (2, true) },
            "{stderr}"
        );
    }
}

#[test]
fn scripts_for_slurm_compute_and_merge() {
    let inputs = reels();
    let inputs = inputs.path();
    let args = [&["-F", "jsonl", QUERY], &REELS[..]].concat();
    let job = "it's a job";
    done(inputs, &[&["job", "plan", "-o", "it's a job/"], &args[..]].concat());
    assert_eq!(
        done(inputs, &["job", "slurm", job, "--array", "4"]),
        ["parts.sh", "merge.sh", "submit.sh"].map(|name| format!("{job}/{name}\n")).concat()
    );
    let shell = |script: &str, task: &str, check: bool| {
        let mut command = std::process::Command::new("sh");
        command.current_dir(inputs).args(check.then_some("-n")).arg(inputs.join(job).join(script));
        let out = command.env("SLURM_ARRAY_TASK_ID", task).output().unwrap();
        assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
    };
    ["parts.sh", "merge.sh", "submit.sh"].iter().for_each(|script| shell(script, "1", true));
    ["3", "1", "4", "2"].iter().for_each(|task| shell("parts.sh", task, false));
    shell("merge.sh", "", false);
    let merged = fs::read_to_string(inputs.join(job).join("merged.out")).unwrap();
    assert_eq!(merged, done(inputs, &[&["scan", "-q"], &args[..]].concat()));
}

/// The commands in docs/jobs.md must print the output shown there.
#[test]
fn the_document_shows_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("twic")).unwrap();
    for name in ["a", "b", "c", "d", "e", "f"] {
        fs::copy(crate::program::SAMPLE, folder.path().join(format!("twic/{name}.pgn"))).unwrap();
    }
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/jobs.md")).unwrap();
    let examples = crate::readme::examples(&text);
    assert!(examples.len() >= 6, "{} examples", examples.len());
    for (command, shown) in examples {
        let printed = crate::readme::printed_in(folder.path(), &command);
        assert_eq!(printed.trim_end(), shown.trim_end(), "{command}");
    }
}
