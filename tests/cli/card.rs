//! Tests the benchmark `card`, which measures a graphics card: every row must be printed with the right values, the two output
//! files must agree, and no measurement may be lost.
//!
//! Cargo does not build benchmarks for tests. So this test program also compiles the benchmark's files, and runs as the benchmark
//! if [`AS_CARD_PROGRAM`] is set.

mod floors;
mod instructions;
mod parts;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::adapter::needs_adapter;
use crate::common::waiting::{Process, until};

/// The environment variable that makes this test program run as the benchmark `card`, instead of running its tests.
pub const AS_CARD_PROGRAM: &str = "ORBIT_TEST_AS_CARD_PROGRAM";

const TARGET: &str = "shift flip flipcolor {Nd4 kf3}";

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary has a path"));
    // `cargo bench` passes the argument `--bench` to the program.
    command.env(AS_CARD_PROGRAM, "1").args(args).arg("--bench").current_dir(folder).stdin(Stdio::null());
    command
}

fn spawn(folder: &Path, args: &[&str], output: fn() -> Stdio) -> Process {
    let child = command(folder, args).stdout(output()).stderr(output()).spawn();
    Process::new(child.expect("the binary was built"))
}

fn orbit(folder: &Path, args: &[&str]) -> Output {
    spawn(folder, args, Stdio::piped).output(&args.join(" "))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn document(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("card.json")).expect("there is a document");
    serde_json::from_str(&text).expect("the document is JSON")
}

fn rows(document: &Value) -> &Vec<Value> {
    document["rows"].as_array().expect("there are rows")
}

fn of_kind<'a>(document: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    rows(document).iter().filter(move |row| row["kind"] == kind)
}

/// Writes a file with two named queries, so that a test can falsify a query's answer by name. Returns the path.
fn two_queries(folder: &Path) -> String {
    let file = folder.join("two.txt");
    std::fs::write(&file, format!("copies\t{TARGET}\nchecks\tcheck\n")).unwrap();
    file.to_str().unwrap().into()
}

/// Finds the section of the table that begins with `part`. Returns the row of this section that begins with `name`.
fn line<'a>(table: &'a str, part: &str, name: &str) -> &'a str {
    let from = table.find(part).unwrap_or_else(|| panic!("no part {part} in\n{table}"));
    let part = table[from..].split("\n\n").next().unwrap();
    let mut found = part.lines().filter(|line| line.trim_start().starts_with(&format!("{name} ")));
    let line = found.next().unwrap_or_else(|| panic!("no {name} in\n{part}"));
    assert!(found.next().is_none() || part.starts_with("resident"), "{name} twice in\n{part}");
    line
}

#[test(part = 1)]
fn a_card_is_measured_in_one_run() {
    needs_adapter();
    let folder = tempfile::tempdir().unwrap();
    let args = ["--positions", "200K", "--budget", "60m", "--runs", "1", "--output", "run"];
    let out = orbit(folder.path(), &args);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let run = folder.path().join("run");
    let document = document(&run);
    let table = std::fs::read_to_string(run.join("card.txt")).unwrap();
    assert!(table == text(&out.stdout), "what is printed is the file");
    let left: Vec<_> = std::fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");

    assert_eq!((&document["ended"], &document["agree"]), (&"finished".into(), &true.into()));
    assert_eq!((&document["wrong"], &document["skipped"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    assert!(document["positions"].as_u64().unwrap() >= 200_000);
    for field in ["begun", "orbit"] {
        assert!(document[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
    }
    assert!(document["device"]["driver"].is_string() && document["machine"]["cores"].as_u64().unwrap() > 0);

    // All kinds of rows must be present, ordered by importance.
    let mut order: Vec<&str> = rows(&document).iter().map(|row| row["kind"].as_str().unwrap()).collect();
    order.dedup();
    let expected =
        ["device", "upload", "device_memory", "device_instructions", "cpu_memory", "variant", "games"];
    assert_eq!(order[..expected.len()], expected);
    let kinds: BTreeSet<&str> = order.into_iter().collect();
    let along = ["along", "along_by_host", "along_streamed"];
    let others =
        ["replay", "resident", "shared", "streamed", "session", "cpu", "crossover"].into_iter().chain(along);
    assert_eq!(kinds, expected.into_iter().chain(others).collect());
    for (kind, by_host) in along.into_iter().zip([false, true, false]) {
        let mut rows = of_kind(&document, kind).inspect(|row| assert!(row["hits"] != 0, "{row}"));
        assert!(rows.all(|row| row["variant"].as_str().unwrap().contains("hostcarry") == by_host), "{kind}");
        assert_eq!(of_kind(&document, kind).count(), 6, "{kind}");
    }
    for row in rows(&document) {
        assert!(row.get("error").is_none(), "{row}");
        assert!(row["kind"] == "crossover" || row["took_s"].as_f64().unwrap() >= 0.0);
        let has_answer = !["device", "upload", "games", "crossover"].contains(&row["kind"].as_str().unwrap());
        assert_eq!(row.get("agree"), has_answer.then_some(&Value::Bool(true)), "{row}");
    }
    let ways: Vec<&str> = of_kind(&document, "upload").map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(ways, ["write_buffer", "belt", "mapped"]);
    let queries: BTreeSet<&str> =
        of_kind(&document, "resident").map(|row| row["name"].as_str().unwrap()).collect();
    let streamed: BTreeSet<&str> =
        of_kind(&document, "streamed").map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!((queries.len(), &queries), (12, &streamed));
    let target = of_kind(&document, "resident").find(|row| row["query"] == TARGET).unwrap();
    assert_eq!(target["copies"], 672);
    // The query has 633 hits in the 87,461 positions of the sample games. The benchmark repeats these games in whole blocks
    // (groups of games), so the proportion must be the same.
    assert_eq!(target["hits"].as_u64().unwrap() * 87_461, 633 * document["positions"].as_u64().unwrap());
    let variants: BTreeSet<&str> =
        of_kind(&document, "variant").map(|row| row["variant"].as_str().unwrap()).collect();
    assert!(
        variants.contains("default") && variants.contains("transposed") && variants.len() > 5,
        "{variants:?}"
    );
    let fastest = document["fastest"].as_str().unwrap();
    assert!(variants.contains(fastest), "{fastest}");
    for kind in ["resident", "streamed", "shared"] {
        assert!(of_kind(&document, kind).any(|row| row["variant"] == fastest), "{kind} {fastest}");
    }
    assert!(of_kind(&document, "resident").any(|row| row["variant"] == "default"));

    // Each share in a row must be the row's speed divided by a measured floor (speed limit of the device).
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
    let number = |row: &Value, field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field} of {row}"));
    let read = of_kind(&document, "device_memory").find(|row| row["name"] == "read").unwrap();
    let instructions = of_kind(&document, "device_instructions").next().unwrap();
    let best_upload = of_kind(&document, "upload").map(|row| number(row, "bytes_s")).fold(0.0, f64::max);
    for row in of_kind(&document, "resident") {
        let rate = row["kernel_positions_s"].as_f64().unwrap_or(number(row, "positions_s"));
        close(number(row, "share_bytes"), rate * number(row, "position_bytes") / number(read, "bytes_s"));
        close(number(row, "ns"), 1e9 / number(row, "positions_s"));
        assert!((3.5..6.0).contains(&number(row, "position_bytes")), "{row}");
        if row["variant"].as_str().unwrap().contains("u64") {
            assert!(row["share_instructions"].is_null(), "no table has its instructions: {row}");
            continue;
        }
        let each = number(row, "position_instructions");
        assert!((30.0..1e4).contains(&each), "{row}");
        close(number(row, "share_instructions"), rate * each / number(instructions, "instructions_s"));
        let roof = (number(read, "bytes_s") / number(row, "position_bytes"))
            .min(number(instructions, "instructions_s") / each);
        close(number(row, "roof_positions_s"), roof);
    }
    for row in of_kind(&document, "along").chain(of_kind(&document, "along_by_host")) {
        assert!(row["share_bytes"].is_null() && row["share_instructions"].is_null(), "it has stages: {row}");
    }
    // The first search of a session uploads the games to the card, and later searches must not upload them again.
    let sent: Vec<u64> = of_kind(&document, "session").map(|row| row["bytes"].as_u64().unwrap()).collect();
    assert!(sent.len() == 12 && sent[0] > 0 && sent[1..].iter().all(|&bytes| bytes == 0), "{sent:?}");
    assert!(of_kind(&document, "session").all(|row| row["bytes_again"] == 0));
    for row in of_kind(&document, "streamed") {
        close(number(row, "share_upload"), number(row, "bytes_s") / best_upload);
    }

    // The table must show the same rates as the JSON document, but rounded.
    for (kind, part) in [
        ("resident", "resident:"),
        ("streamed", "streamed:"),
        ("session", "session:"),
        ("cpu", "the processor"),
    ] {
        for row in of_kind(&document, kind).filter(|row| kind != "resident" || row["variant"] == "default") {
            let line = line(&table, part, row["name"].as_str().unwrap());
            let rate = format!(" {:.3} ", number(row, "positions_s") / 1e9);
            let ns = format!(" {:.4} ", number(row, "ns"));
            assert!(line.contains(&rate) && line.contains(&ns) && line.ends_with("yes"), "{row}\n{line}");
        }
    }
    for row in of_kind(&document, "crossover") {
        let line =
            line(&table, "from how many positions on the card is faster", row["name"].as_str().unwrap());
        let times = &row["sizes"][2];
        let times = format!("{:.2}/{:.2}", number(times, "cpu_s"), number(times, "card_s"));
        assert!(line.contains(&times), "{row}\n{line}");
    }

    let roofs = of_kind(&document, "resident").filter(|row| row["query"] == TARGET);
    let roof = roofs.filter_map(|row| row["roof_positions_s"].as_f64()).fold(0.0, f64::max);
    close(document["targets"][1]["target"].as_f64().unwrap(), (0.6 * roof).min(50e9));

    let is_software = document["software"] == true;
    assert_eq!(table.starts_with("SOFTWARE ADAPTER, NOT A GPU"), is_software, "{table}");
    assert_eq!(document["called"] == "software adapter, not a GPU", is_software);
    let targets = document["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 4);
    for target in targets {
        assert!(target["measured"].as_f64().unwrap() > 0.0);
        assert!(target["target"].as_f64().unwrap() <= 50e9);
        assert_eq!(target["met"].is_null(), is_software, "nothing is judged on an adapter in software");
    }
    assert_eq!(table.contains("not judged: this is no GPU"), is_software);
    assert_eq!(document["auto"]["takes_this_device"] == false, is_software);
    assert_eq!(document["auto"]["positions_a_thread_today"], 50_000_000);
}

/// If a query's answer is falsified, the query's row, both output files and the exit code must report it. Everything else must
/// still be measured.
#[test(part = 0)]
fn a_wrong_answer_is_told() {
    needs_adapter();
    let folder = tempfile::tempdir().unwrap();
    let queries = two_queries(folder.path());
    let args = [
        "--positions",
        "1K",
        "--runs",
        "1",
        "--queries",
        &queries,
        "--output",
        "run",
        "--spoil",
        "checks",
        "--budget",
        "60m",
    ];
    let out = orbit(folder.path(), &args);
    let stderr = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("differ from the processor's answers"), "{stderr}");
    assert!(
        stderr.contains("resident checks (default)") && !stderr.contains("resident copies (default),"),
        "{stderr}"
    );
    let document = document(&folder.path().join("run"));
    assert_eq!((&document["agree"], &document["ended"]), (&false.into(), &"finished".into()));
    for row in rows(&document) {
        let name = row["name"].as_str().unwrap();
        let is_spoiled = name.ends_with("checks") || name == "2 queries";
        if let Some(agree) = row.get("agree") {
            assert_eq!(*agree, !is_spoiled, "{row}");
            let differing = row.get("positions_differing").and_then(Value::as_u64);
            // The combined answers of several queries are checked three times: on the card, with blocks streamed to the card, and
            // on the processor.
            assert_eq!(differing, is_spoiled.then_some(if name == "2 queries" { 3 } else { 1 }), "{row}");
        }
        assert!(row["kind"] != "crossover" || !is_spoiled, "a rate of a wrong answer is no rate: {row}");
    }
    let table = std::fs::read_to_string(folder.path().join("run/card.txt")).unwrap();
    assert!(line(&table, "resident:", "checks").ends_with("NO: DIFFERS FROM THE CPU"), "{table}");
    assert!(line(&table, "resident:", "copies").ends_with("yes"), "{table}");
    assert!(table.contains("rows differ from the processor or failed"), "{table}");
}

/// Kills a run after it has measured at least twelve rows. Returns its folder and its JSON document, or `None` if the run ended
/// too early.
fn killed_midway() -> Option<(TempDir, Value)> {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--positions", "200K", "--runs", "1", "--output", "run"];
    let mut process = spawn(folder.path(), &args, Stdio::null);
    let run = folder.path().join("run");
    until("twelve rows, or the end of the run", || {
        let has_ended = process.try_wait().unwrap().is_some();
        // At any moment, the file must be missing or a complete document.
        let found = std::fs::read_to_string(run.join("card.json")).map_or(0, |text| {
            let found: Value = serde_json::from_str(&text).expect("half a document");
            rows(&found).len()
        });
        if has_ended || found >= 12 { Ok(()) } else { Err(format!("{found} rows")) }
    });
    drop(process);
    let document = document(&run);
    document["ended"].is_null().then_some((folder, document))
}

/// A killed run must leave readable files with the rows that it had already measured.
#[test]
fn a_killed_run_leaves_its_rows() {
    needs_adapter();
    // On a busy machine, a run may end before it is killed, so there are three attempts.
    let killed = (0..3).find_map(|_| killed_midway());
    let (folder, document) = killed.expect("a run tells its rows before it ends");
    let run = folder.path().join("run");
    assert!(rows(&document).len() >= 12);
    let table = std::fs::read_to_string(run.join("card.txt")).unwrap();
    assert!(table.contains("not finished, or stopped from outside"), "{table}");
    for row in rows(&document).iter().filter(|row| row["kind"] == "upload") {
        let rate = format!("{:.2}", row["bytes_s"].as_f64().unwrap() / 1e9);
        assert!(line(&table, "uploads:", row["name"].as_str().unwrap()).contains(&rate), "{table}");
    }
}

/// A run must end when its time budget is used up, and both files must list everything that was not measured.
#[test]
fn a_budget_that_is_too_small_says_what_is_missing() {
    needs_adapter();
    let folder = tempfile::tempdir().unwrap();
    let out = orbit(folder.path(), &["--positions", "20M", "--budget", "3s", "--output", "run"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let run = folder.path().join("run");
    let document = document(&run);
    assert!(document["ended"].is_string(), "{}", document["ended"]);
    let skipped = document["skipped"].as_array().unwrap();
    let named = |list: &[Value], kind: &str| {
        let of = list.iter().filter(|it| it["kind"] == kind);
        of.map(|it| it["name"].as_str().unwrap().to_string()).collect::<BTreeSet<_>>()
    };
    for kind in ["resident", "streamed"] {
        let there = named(rows(&document), kind);
        let missing = named(skipped, kind);
        assert_eq!(there.union(&missing).count(), 12, "{kind}: {there:?} {missing:?}");
    }
    assert!(!named(skipped, "streamed").is_empty(), "all of it in three seconds");
    let table = std::fs::read_to_string(run.join("card.txt")).unwrap();
    assert!(table == text(&out.stdout), "what is printed is the file");
    for it in skipped {
        let (kind, name, why) = (&it["kind"], &it["name"], &it["why"]);
        let said =
            format!("  {} {}: {}", kind.as_str().unwrap(), name.as_str().unwrap(), why.as_str().unwrap());
        assert!(table.contains(&said), "no {said:?} in\n{table}");
        assert!(said.contains("budget"), "{said}");
    }
}

/// The program must run on its own, without games, a home folder or environment variables. It creates and names its output folder
/// itself.
#[test(part = 0)]
fn it_runs_from_an_empty_folder() {
    needs_adapter();
    let folder = tempfile::tempdir().unwrap();
    let mut command =
        command(folder.path(), &["--positions", "1K", "--runs", "1", "--budget", "60s", "--json"]);
    for (name, _) in std::env::vars_os() {
        // The environment variables with which drivers are found are kept.
        if !name.to_string_lossy().starts_with("VK_") && !name.to_string_lossy().starts_with("LD_") {
            command.env_remove(name);
        }
    }
    let out = command.output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let made: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(made[0].starts_with("card-20") && made[0].len() > "card-2026-01-01-".len(), "{made:?}");
    let printed: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(printed == document(&folder.path().join(&made[0])), "what is printed is the file");
}

/// If a user tries to measure a card with the command `orbit`, the message must refer to the benchmark, whatever options follow.
#[test]
fn the_command_names_the_program() {
    let folder = tempfile::tempdir().unwrap();
    for args in [&["--card"][..], &["--json", "--card"], &["--card", "--output", "run", "--budget", "90s"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        let out = command.arg("bench").args(args).current_dir(folder.path()).output().unwrap();
        let stderr = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("`cargo bench --features full --bench card`"), "{stderr}");
        assert!(stderr.contains("benches/README.md") && out.stdout.is_empty(), "{stderr}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_card_nothing_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let none = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name, "/nonexistent"));
    let out = command(folder.path(), &["--output", "run"]).envs(none).output().unwrap();
    let stderr = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("error: no GPU adapter found, so there is no card to measure; install"),
        "{stderr}"
    );
    assert!(stderr.contains("`libvulkan.so.1`") && stderr.contains("orbit devices"), "{stderr}");
    assert!(out.stdout.is_empty() && !folder.path().join("run").exists());
    let out = orbit(folder.path(), &["--gpu", "none", "--output", "run"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("--gpu none asks for none"), "{}", text(&out.stderr));
    for budget in ["0", "8h", "-1s", "99999999999999999999m"] {
        let out = orbit(folder.path(), &[&format!("--budget={budget}")]);
        assert_eq!(out.status.code(), Some(2), "{budget}");
        assert!(text(&out.stderr).contains("such as 90s or 8m"), "{}", text(&out.stderr));
    }
    for positions in ["65G", "18446744073709551615"] {
        let out = orbit(folder.path(), &["--positions", positions]);
        assert_eq!(out.status.code(), Some(2), "{positions}");
        assert!(text(&out.stderr).contains("at most 64G positions"), "{}", text(&out.stderr));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// An earlier run must never be overwritten, and a folder without write permission must be reported before anything is measured.
#[test]
fn folders_are_looked_at_first() {
    needs_adapter();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("kept")).unwrap();
    std::fs::write(folder.path().join("kept/card.txt"), "a run of before\n").unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    for (output, said) in
        [("kept", "is there already"), ("file", "cannot be made"), ("file/below", "cannot be made")]
    {
        let out = orbit(folder.path(), &["--positions", "1K", "--output", output]);
        let stderr = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(said) && stderr.contains("--output"), "{stderr}");
        assert!(out.stdout.is_empty() && !stderr.contains("measuring"), "{stderr}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("kept/card.txt")).unwrap(), "a run of before\n");
}
