//! Tests the commands and options for graphics cards: `orbit devices`, `--engine gpu`, `--verify`, `--queries` and
//! `orbit bench`. They run with a software adapter, without an adapter, and without a Vulkan loader.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::adapter::{has_adapter, needs_adapter};
use crate::serve::Server;

const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";
const SAMPLE: &str = "games/sample.pgn";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the program with environment variables that prevent it from finding an adapter or a Vulkan loader.
fn orbit_where(args: &[&str], variables: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    for (name, value) in variables {
        command.env(name, value);
    }
    command.current_dir(root()).args(args).stdin(Stdio::null()).output().expect("the binary was built")
}

fn orbit(args: &[&str]) -> Output {
    orbit_where(args, &[])
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn stdout(args: &[&str]) -> String {
    let out = orbit(args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout).into()
}

fn json_of(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).expect("JSON")
}

const NO_DRIVER: [(&str, &str); 2] =
    [("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")];

/// Checks that the program works without a driver, or with a broken Vulkan loader. A request for a card is an error that suggests
/// a remedy; everything else works.
fn works_without_a_card(variables: &[(&str, &Path)]) {
    let out = orbit_where(&["devices"], variables);
    assert_eq!(out.status.code(), Some(0));
    assert!(text(&out.stdout).starts_with("no graphics adapter found"), "{}", text(&out.stdout));
    let out = orbit_where(&["scan", "--engine", "gpu", "--count", QUERY, SAMPLE], variables);
    assert_eq!(out.status.code(), Some(2));
    let stderr = text(&out.stderr);
    assert!(stderr.contains("error: no GPU adapter found; install"), "{stderr}");
    assert!(stderr.contains("--engine cpu") && out.stdout.is_empty(), "{stderr}");
    let out = orbit_where(&["scan", "--count", QUERY, SAMPLE], variables);
    assert_eq!((out.status.code(), text(&out.stdout)), (Some(0), "games hit 354\npositions hit 633\n"));
    let bench = ["bench", "--runs", "1", "--positions", "1K"];
    let out = orbit_where(&bench, variables);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("no GPU adapter found"));
}

/// All kernel variants must find the same number of hits. The error for an unknown variant must list the variants.
#[test]
fn variants_of_kernels_are_chosen_by_name() {
    let names = [
        "default",
        "lanes2,transposed,wg128,u64,segments4",
        "lanes2,transposed,wg128,segments4",
        "wg256,looped",
    ];
    let query = "flip {xray (R n k) Pa2}";
    let expected = stdout(&["scan", "--engine", "cpu", "--count", query, SAMPLE]);
    for name in names {
        let shader = stdout(&["explain", "--wgsl", "--gpu-variant", name, query]);
        assert_eq!(shader.contains("for ("), name.contains("looped"), "{name}: {shader}");
        let is_wide = shader.split_whitespace().any(|word| word.contains("0x") && word.contains("lu"));
        assert_eq!(is_wide, name.contains("u64"), "{name}: {shader}");
        if has_adapter() {
            let out = orbit(&["scan", "--engine", "gpu", "--gpu-variant", name, "--count", query, SAMPLE]);
            // Not every adapter has 64-bit integers.
            if name.contains("u64") && out.status.code() == Some(2) {
                assert!(text(&out.stderr).contains("integers of 64 bits"), "{}", text(&out.stderr));
                continue;
            }
            assert_eq!((out.status.code(), text(&out.stdout)), (Some(0), expected.as_str()), "{name}");
        }
    }
    let out = orbit(&["scan", "--gpu-variant", "wg65", QUERY, SAMPLE]);
    assert_eq!(out.status.code(), Some(2));
    let stderr = text(&out.stderr);
    assert!(stderr.contains("`wg65` is no kernel variant") && stderr.contains("wg64"), "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_machine_without_a_driver_is_told_so() {
    works_without_a_card(&NO_DRIVER.map(|(name, value)| (name, Path::new(value))));
}

#[test]
#[cfg(target_os = "linux")]
fn a_machine_without_a_loader_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    // Empty files replace the Vulkan loader, so loading it fails.
    for name in ["libvulkan.so", "libvulkan.so.1"] {
        std::fs::write(folder.path().join(name), b"").unwrap();
    }
    works_without_a_card(&[("LD_LIBRARY_PATH", folder.path())]);
}

#[test]
fn devices_say_what_they_are() {
    needs_adapter();
    let found = json_of(&["devices", "--json"]);
    let listed = stdout(&["devices"]);
    for adapter in found["adapters"].as_array().unwrap() {
        let name = adapter["name"].as_str().unwrap();
        assert!(listed.contains(name), "{listed}");
        assert!(adapter["binding_bytes_max"].as_u64().unwrap() >= 1 << 27);
        let is_software = adapter["software"].as_bool().unwrap();
        assert_eq!(is_software, name.contains("llvmpipe") || name.contains("SwiftShader"), "{name}");
        if is_software {
            assert!(listed.contains("software, not a graphics card"), "{listed}");
        }
    }
    let out = orbit(&["scan", "--engine", "gpu", "--gpu", "no such card", QUERY, SAMPLE]);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        text(&out.stderr).contains("no graphics adapter matches `no such card`; there are 0 "),
        "{}",
        text(&out.stderr)
    );
    let out = orbit(&["scan", "--engine", "gpu", "--gpu", "none", QUERY, SAMPLE]);
    assert!(text(&out.stderr).contains("exclude each other"), "{}", text(&out.stderr));
}

/// In every format, the engines `gpu` and `cpu` must print the same output, for games in PGN and in a reel (packed games), with a
/// high and with a very low memory limit.
#[test]
fn gpu_prints_what_cpu_prints() {
    needs_adapter();
    let folder = tempfile::tempdir().unwrap();
    let reel: PathBuf = folder.path().join("a.reel");
    let reel = reel.to_str().unwrap();
    assert_eq!(orbit(&["index", SAMPLE, "-o", reel]).status.code(), Some(0));
    let queries =
        [QUERY, "#(shift {N attacks q})", "flip {Kg1 P[f2,g2,h2]}", "elo > 2000 movenumber < 12 check"];
    for (query, format) in queries.iter().zip(["text", "values", "jsonl", "plain"]) {
        let cpu = stdout(&["scan", "--format", format, "--engine", "cpu", query, SAMPLE]);
        assert!(cpu.lines().count() > 100 || *query == queries[3], "{query}");
        let gpu = |more: &[&str], path: &str| {
            let args = ["scan", "--format", format, "--engine", "gpu", query, path];
            stdout(&[&args, more].concat())
        };
        assert!(gpu(&[], SAMPLE) == cpu, "{query}");
        assert!(gpu(&["--gpu-memory", "1M"], SAMPLE) == cpu, "{query}");
        assert!(gpu(&["--threads", "1"], SAMPLE) == cpu, "{query}");
        if format != "jsonl" {
            assert!(gpu(&["--threads", "3"], reel) == cpu, "{query}");
        }
    }
    let copies = |engine| stdout(&["scan", "--copies", "--engine", engine, QUERY, SAMPLE]);
    assert_eq!(copies("gpu"), copies("cpu"));
    let limited = |engine| stdout(&["scan", "--limit", "3", "--engine", engine, QUERY, SAMPLE]);
    assert_eq!(limited("gpu"), limited("cpu"));
}

/// `--engine` sets the engine for `orbit repl`, and for requests to `orbit serve` that name no engine. Responses contain the engine
/// and the number of bytes that games occupy on the card.
#[test]
fn databases_that_stay_open_have_an_engine() {
    needs_adapter();
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&["--engine", "gpu", SAMPLE]);
    let described = |server: &mut Server| server.answer("version", json!({}))["databases"][0].clone();
    let before = described(&mut server);
    assert_eq!((&before["engine"], &before["card"]), (&json!("gpu"), &json!(0)));
    let mut resident = 0;
    let requests = [
        ("count", json!({ "query": ["mate", "check"] })),
        ("query", json!({ "query": "mate" })),
        ("statistics", json!({ "query": "mate", "groupings": "year" })),
        ("write", json!({ "query": "mate", "path": folder.path().join("mates.pgn") })),
        ("write", json!({ "query": "mate", "path": folder.path().join("mates.html") })),
    ];
    for (request, mut fields) in requests {
        let answer = server.answer(request, fields.clone());
        assert_eq!(answer["engine"], "gpu", "{answer}");
        resident = answer["card"]["resident"].as_u64().unwrap();
        assert!(resident > 0 && answer["card"]["uploaded"].is_u64(), "{answer}");
        fields["engine"] = "cpu".into();
        let answer = server.answer(request, fields);
        assert_eq!((&answer["engine"], &answer["card"]), (&json!("cpu"), &Value::Null), "{answer}");
    }
    assert_eq!(described(&mut server)["card"], resident);
    server.finish();
    let mut server = Server::start(&[SAMPLE]);
    assert_eq!(described(&mut server)["engine"], "auto");
    server.finish();
    for command in ["serve", "repl"] {
        let out = orbit(&[command, "--engine", "gpu", "--gpu", "none", SAMPLE]);
        assert!(text(&out.stderr).contains("exclude each other"), "{}", text(&out.stderr));
    }
    let mut repl = Command::new(env!("CARGO_BIN_EXE_orbit"));
    repl.current_dir(root()).args(["repl", "--engine", "gpu", SAMPLE]);
    let mut repl = repl.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    repl.stdin.take().unwrap().write_all(b"mate\n").unwrap();
    let out = repl.wait_with_output().unwrap();
    assert!(
        text(&out.stdout).lines().next().is_some_and(|line| line.contains("gpu")),
        "{}",
        text(&out.stdout)
    );
}

/// `auto` never selects a software adapter, however large the search is.
#[test]
fn auto_stays_off_software_adapters() {
    let out = orbit(&["scan", "--count", QUERY, SAMPLE]);
    assert!(text(&out.stderr).contains("(cpu, "), "{}", text(&out.stderr));
}

#[test]
fn verification_is_reported() {
    let mut engines = vec![("cpu", "reference"), ("reference", "cpu")];
    if has_adapter() {
        engines.push(("gpu", "cpu"));
    }
    for (engine, other) in engines {
        let out = orbit(&["scan", "--engine", engine, "--verify=50", "--count", QUERY, SAMPLE]);
        assert_eq!(text(&out.stdout), "games hit 354\npositions hit 633\n");
        let stderr = text(&out.stderr);
        assert!(stderr.contains(&format!("positions recomputed by {other}: no difference")), "{stderr}");
    }
    let out = orbit(&["scan", "--verify", "--count", "N attacks k", SAMPLE]);
    assert!(text(&out.stderr).contains("87,461 positions recomputed by reference"), "{}", text(&out.stderr));
    let out = orbit(&["scan", "--verify=some", QUERY, SAMPLE]);
    assert!(text(&out.stderr).contains("expected a number of segments"), "{}", text(&out.stderr));
}

#[test]
fn many_queries_are_counted_in_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("themes.txt");
    std::fs::write(&file, format!("# themes\nknight\t{QUERY}\n\ncheck\n")).unwrap();
    let file = file.to_str().unwrap();
    let mut engines = vec!["auto", "cpu"];
    if has_adapter() {
        engines.push("gpu");
    }
    for engine in engines {
        let args = ["scan", "--engine", engine, "--queries", file, SAMPLE];
        let table = stdout(&args);
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1..], [["354", "633", "knight"], ["863", "4,797", "check"]]);
        let lines = stdout(&[&args[..], &["--format", "jsonl"]].concat());
        let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        assert_eq!(first["positions_hit"], 633);
        assert_eq!(first["query"], QUERY);
    }
    std::fs::write(folder.path().join("bad.txt"), "check\nbad\tNd9\n").unwrap();
    let bad = folder.path().join("bad.txt");
    let out = orbit(&["scan", "--queries", bad.to_str().unwrap(), SAMPLE]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("bad.txt, line 2"), "{}", text(&out.stderr));
    std::fs::write(folder.path().join("none.txt"), "# nothing\n").unwrap();
    let none = folder.path().join("none.txt");
    let out = orbit(&["scan", "--queries", none.to_str().unwrap(), SAMPLE]);
    assert!(text(&out.stderr).contains("contains no query"), "{}", text(&out.stderr));
}

#[test]
fn explain_prints_the_shader() {
    let shown = stdout(&["explain", "--wgsl", "shift {Nd4 kf3}"]);
    assert!(shown.contains("fn evaluate(at: At, slot: u32, before: Found) -> Found {"), "{shown}");
    assert!(!shown.contains("@compute"), "{shown}");
    let whole = json_of(&["explain", "--wgsl", "--json", "shift {Nd4 kf3}"]);
    assert!(whole["wgsl"].as_str().unwrap().contains("@compute"));
}

#[test(part = 2)]
fn bench_compares_and_checks() {
    let run = json_of(&["bench", "--runs", "1", "--positions", "200K", "--json"]);
    assert!(run["positions"].as_u64().unwrap() >= 200_000);
    let queries = run["queries"].as_array().unwrap();
    let knight = queries.iter().find(|row| row["query"] == QUERY).unwrap();
    assert_eq!((&knight["positions_hit_once"], &knight["copies"]), (&633.into(), &672.into()));
    for row in queries {
        assert_eq!(row["agree"], true);
        assert!(row["cpu_1_positions_s"].as_f64().unwrap() > 0.0);
    }
    if has_adapter() {
        let is_software = run["card"]["adapter"]["software"].as_bool().unwrap();
        assert_eq!(run["card"]["called"] == "GPU", !is_software);
        assert!(run["card"]["upload_bytes_s"]["mapped"].as_f64().unwrap() > 0.0);
        assert!(queries.iter().all(|row| row["card"]["streamed_positions_s"].as_f64().unwrap() > 0.0));
        assert!(queries.iter().all(|row| row["card"]["wgsl_bytes"].as_u64().unwrap() < 65_536));
        let shown = stdout(&["bench", "--runs", "1", "--positions", "1K"]);
        assert_eq!(shown.contains("software adapter, not a GPU"), is_software, "{shown}");
    }
}
