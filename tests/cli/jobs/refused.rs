//! Tests that files from another job, or from another part, are rejected with a suggested remedy.

use std::fs;
use std::path::Path;

use orbit_pgn::READER_VERSION;
use orbit_search::job::{Job, JobPart};

use super::{REELS, done, orbit, reels};

/// Plans a job over all reels.
fn planned(inputs: &Path, folder: &str) {
    let out = format!("{folder}/");
    done(inputs, &[&["job", "plan", "-o", &out, "-F", "plain", "check"], &REELS[..]].concat());
}

#[track_caller]
fn refuses(folder: &Path, args: &[&str], code: i32, text: &str) {
    let (found, stdout, stderr) = orbit(folder, args);
    assert_eq!((found, &*stdout), (code, ""), "{args:?}: {stderr}");
    assert!(stderr.contains(text), "{args:?}: {stderr}");
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_job_has_one_folder() {
    let inputs = reels();
    let inputs = inputs.path();
    planned(inputs, "out");
    let before = fs::read(inputs.join("out/job.json")).unwrap();
    // Planning the same job again changes nothing.
    planned(inputs, "out");
    assert!(fs::read(inputs.join("out/job.json")).unwrap() == before);
    // Only the names of output files may change. Parts that are complete stay valid.
    let plan = |file| [&["job", "plan", "-o", "named/", "-o", file, "check"], &REELS[..]].concat();
    done(inputs, &plan("first.csv"));
    done(inputs, &["job", "part", "-q", "named"]);
    done(inputs, &plan("second.csv"));
    done(inputs, &["job", "merge", "named"]);
    assert!(inputs.join("second.csv").exists() && !inputs.join("first.csv").exists());
    let plan = |args: &[&'static str]| [&["job", "plan"], args, &REELS[..]].concat();
    refuses(
        inputs,
        &plan(&["-o", "out/", "mate"]),
        2,
        "out/ contains another job already: give the name of another",
    );
    refuses(inputs, &plan(&["-o", "out/", "-F", "plain", "check", "--parts", "2"]), 2, "another job already");
    refuses(
        inputs,
        &plan(&["-o", "out", "check"]),
        2,
        "name one folder for the job, with a slash at its end",
    );
    refuses(inputs, &plan(&["-o", "a/", "-o", "b/", "check"]), 2, "name one folder for the job");
    refuses(inputs, &plan(&["-o", "a.reel/", "check"]), 2, "a.reel");
    refuses(inputs, &plan(&["-o", "new/", "chek"]), 2, "chek");
    assert!(!inputs.join("new").exists());
}

#[test]
fn what_is_no_job_is_refused() {
    let inputs = reels();
    let inputs = inputs.path();
    for command in [
        &["job", "part", "1", "out"][..],
        &["job", "merge", "out"],
        &["job", "status", "out"],
        &["job", "slurm", "out"],
    ] {
        refuses(inputs, command, 2, "out contains no job (job.json is not there)");
    }
    planned(inputs, "out");
    refuses(inputs, &["job", "part", "7", "out"], 2, "there is no part 7: the parts are 1 to 6");
    refuses(inputs, &["job", "part", "one", "out"], 2, "`one` chooses no parts");
    let job = inputs.join("out/job.json");
    let text = fs::read_to_string(&job).unwrap();
    edit(&job, concat!("\"orbit\": \"", env!("CARGO_PKG_VERSION")), "\"orbit\": \"0.0.9");
    refuses(
        inputs,
        &["job", "part", "1", "out"],
        2,
        "it was planned by orbit 0.0.9): plan the job again, in a new folder",
    );
    // Jobs in older formats have different fields, so a job's version must be read before its other fields.
    let older = concat!(
        "{\"schema\": 1, \"orbit\": \"",
        env!("CARGO_PKG_VERSION"),
        "\", \"question\": {\"queries\": [\"check\"]}}"
    );
    for text in [older.to_owned(), text.replacen("\"schema\": 3", "\"schema\": 1", 1)] {
        fs::write(&job, text).unwrap();
        let reason = concat!(
            "it has format 1, of orbit ",
            env!("CARGO_PKG_VERSION"),
            ", and this version has format 3): plan the job again"
        );
        refuses(inputs, &["job", "status", "out"], 2, reason);
    }
    fs::write(&job, &text).unwrap();
    edit(&job, &format!("\"reader_version\": {READER_VERSION}"), "\"reader_version\": 2");
    for command in [&["job", "part", "1", "out"][..], &["job", "merge", "out"]] {
        let reason =
            "it was planned by a version of orbit that reads games by other rules): plan the job again";
        refuses(inputs, command, 2, reason);
    }
    fs::write(&job, &text).unwrap();
    edit(&job, "\"count\": false", "\"count\": true");
    refuses(inputs, &["job", "merge", "out"], 2, "its hash is wrong");
    fs::write(&job, &text[..text.len() / 2]).unwrap();
    refuses(inputs, &["job", "status", "out"], 2, "is no job of this version of orbit");
    // The hash in the job file does not cover the arguments, which are compared separately.
    fs::write(&job, &text).unwrap();
    edit(&job, "\"plain\"", "\"fen\"");
    refuses(inputs, &["job", "part", "1", "out"], 2, "the options are others than when it was planned");
    fs::write(&job, &text).unwrap();
    edit(&job, "      \"check\"", "      \"mate\"");
    refuses(inputs, &["job", "part", "1", "out"], 2, "the queries are others than when it was planned");
}

/// A job must be rejected if its sources lack a block (group of games) to which it refers, even if the hash in the job file is
/// right.
#[test]
fn blocks_that_are_not_there_are_refused() {
    let inputs = reels();
    let inputs = inputs.path();
    planned(inputs, "out");
    let job = Job::read(&inputs.join("out")).unwrap();
    let text = inputs.join("text.pgn");
    fs::write(&text, "1. e4 e5 1-0\n").unwrap();
    done(inputs, &["job", "plan", "-o", "text/", "-F", "plain", "check", "text.pgn"]);
    let of_text = Job::read(&inputs.join("text")).unwrap();
    for (name, job, blocks) in [("beyond", job, (0, 1 << 40)), ("of-text", of_text, (0, 1))] {
        let parts = vec![JobPart { number: 1, blocks: Some(blocks), positions: None }];
        Job::new(job.folder, job.question, None, parts).write(&inputs.join(name)).unwrap();
        refuses(inputs, &["job", "part", "1", name], 2, "the blocks are others than when it was planned");
    }
}

#[test]
fn other_sources_are_refused() {
    let inputs = reels();
    let inputs = inputs.path();
    planned(inputs, "out");
    done(inputs, &["job", "part", "-q", "out"]);
    done(inputs, &["index", "-q", "--append", "a.pgn", "-o", "b.reel"]);
    for command in [&["job", "part", "--again", "1", "out"][..], &["job", "merge", "out"]] {
        refuses(inputs, command, 2, "the sources are others than when it was planned");
    }
    fs::write(inputs.join("query.cql"), "check").unwrap();
    done(inputs, &["job", "plan", "-o", "file/", "-f", "query.cql", "a.reel"]);
    fs::write(inputs.join("query.cql"), "mate").unwrap();
    refuses(inputs, &["job", "part", "1", "file"], 2, "the queries are others than when it was planned");
}

#[test]
fn parts_that_are_missing_or_damaged_are_named() {
    let inputs = reels();
    let inputs = inputs.path();
    planned(inputs, "out");
    refuses(
        inputs,
        &["job", "merge", "out"],
        3,
        "6 of 6 parts cannot be merged (part 1: missing, part 2: missing",
    );
    done(inputs, &["job", "part", "-q", "out"]);
    let expected = done(inputs, &["job", "merge", "out"]);
    let part = |number: usize| inputs.join(format!("out/parts/{number:05}.part"));
    let whole = fs::read(part(2)).unwrap();
    // A change of any byte is detected.
    for at in (0..whole.len()).step_by(whole.len() / 40 + 1).chain([whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(part(2), bytes).unwrap();
        let (code, status, _) = orbit(inputs, &["job", "status", "out"]);
        assert_eq!(code, 3, "{at}");
        assert!(status.contains("part 2: damaged"), "{at}: {status}");
    }
    for length in [0, 15, 16, whole.len() / 2, whole.len() - 1] {
        fs::write(part(2), &whole[..length]).unwrap();
        refuses(inputs, &["job", "merge", "out"], 3, "1 of 6 parts cannot be merged (part 2: damaged");
    }
    // The file of part 3 is complete, but has the name of part 2.
    fs::copy(part(3), part(2)).unwrap();
    fs::remove_file(part(5)).unwrap();
    refuses(
        inputs,
        &["job", "merge", "out"],
        3,
        "part 2: of another job, part 5: missing): `orbit job part /",
    );
    let json: serde_json::Value =
        serde_json::from_str(&orbit(inputs, &["job", "status", "--json", "out"]).1).unwrap();
    assert_eq!(json["complete"], serde_json::json!([1, 3, 4, 6]));
    assert_eq!(json["missing"], serde_json::json!([5]));
    assert_eq!(json["bad"], serde_json::json!([{ "part": 2, "why": "of another job" }]));
    done(inputs, &["job", "part", "-q", "out"]);
    assert_eq!(done(inputs, &["job", "merge", "out"]), expected);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let inputs = reels();
    let inputs = inputs.path();
    planned(inputs, "out");
    // A file replaces the folder, because even an administrator cannot write into it then.
    fs::remove_dir(inputs.join("out/parts")).unwrap();
    fs::write(inputs.join("out/parts"), "").unwrap();
    refuses(inputs, &["job", "part", "1", "out"], 2, "00001.part cannot be written");
    let (code, _, stderr) = orbit(inputs, &["job", "plan", "-o", "a.reel/sub/", "check", "b.reel"]);
    assert!(code == 2 && stderr.contains("cannot be"), "{stderr}");
}

/// A reel that is damaged fails the parts that need it, and no others.
#[test]
fn a_damaged_reel_does_not_prevent_other_parts() {
    let inputs = reels();
    let inputs = inputs.path();
    planned(inputs, "out");
    let path = inputs.join("c.reel");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 0x10;
    fs::write(&path, bytes).unwrap();
    refuses(inputs, &["job", "part", "-q", "out"], 3, "c.reel");
    let (code, status, _) = orbit(inputs, &["job", "status", "out"]);
    assert_eq!((code, &*status), (3, "5 of 6 parts are complete\nmissing: 3\n"));
}

/// An error in a game shows its place in the query, as a search without a job does.
#[test]
fn an_error_of_the_query_shows_its_place() {
    let inputs = reels();
    let inputs = inputs.path();
    let query = ["-q", "-c", "readfile(\"x\") mate", "a.reel"];
    let [plainly, resumed] = [&["scan"][..], &["scan", "--resume", "out"]].map(|command| {
        let (code, _, stderr) = orbit(inputs, &[command, &query[..]].concat());
        (code, stderr)
    });
    assert_eq!(plainly, resumed);
    assert!(plainly.0 == 2 && plainly.1.contains("--files FOLDER"), "{plainly:?}");
}

/// A later run could not detect that standard input has other games.
#[test]
fn standard_input_cannot_be_resumed() {
    let inputs = reels();
    let inputs = inputs.path();
    refuses(inputs, &["scan", "--resume", "out", "mate", "-"], 2, "files that can be read again");
    assert!(!inputs.join("out").exists());
    done(inputs, &["job", "plan", "-o", "stream/", "mate", "-"]);
    refuses(inputs, &["job", "slurm", "stream"], 2, "save the games to a file");
}

/// Everything after `--` is a query or a file, even if it looks like the option.
#[test]
fn a_file_can_have_the_name_of_the_option() {
    let inputs = reels();
    let inputs = inputs.path();
    fs::copy(inputs.join("a.pgn"), inputs.join("--resume")).unwrap();
    let printed = done(inputs, &["scan", "-q", "-c", "true", "a.pgn"]);
    for option in [&["--resume", "one"][..], &["--resume=two"]] {
        let args = [&["scan", "-q", "-c", "true"], option, &["--", "--resume"]].concat();
        assert_eq!(done(inputs, &args), printed);
    }
}
