//! Tests a build without the GPU engine: all queries run on the processor, and a request for a card is an error that suggests a
//! remedy.

use std::process::{Command, Output};

const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";
const SAMPLE: &str = "games/sample.pgn";
const COUNTS: &str = "games hit 354\npositions hit 633\n";

fn orbit(args: &[&str]) -> (Option<i32>, String, String) {
    let root = env!("CARGO_MANIFEST_DIR");
    let command = Command::new(env!("CARGO_BIN_EXE_orbit")).current_dir(root).args(args).output();
    let Output { status, stdout, stderr } = command.expect("the binary was built");
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    (status.code(), stdout, stderr)
}

#[test]
fn the_processor_answers_without_a_word_of_cards() {
    for engine in ["auto", "cpu", "reference"] {
        let (code, stdout, stderr) = orbit(&["scan", "--engine", engine, "--count", QUERY, SAMPLE]);
        assert_eq!((code, stdout.as_str()), (Some(0), COUNTS), "{stderr}");
        let used = if engine == "auto" { "cpu" } else { engine };
        assert!(stderr.contains(&format!("({used}, ")), "{stderr}");
        assert!(!stderr.contains("GPU") && !stderr.contains("warning"), "{stderr}");
    }
    let (code, stdout, stderr) = orbit(&["scan", "--verify=50", "--gpu", "0", "--count", QUERY, SAMPLE]);
    assert_eq!((code, stdout.as_str()), (Some(0), COUNTS), "{stderr}");
    assert!(stderr.contains("positions recomputed by reference: no difference"), "{stderr}");
}

#[test]
fn a_card_that_is_asked_for_is_missing() {
    let commands: [&[&str]; 5] = [
        &["scan", "--engine", "gpu", "--count", QUERY, SAMPLE],
        &["scan", "--engine", "gpu", "--gpu", "0", "--gpu-memory", "1M", QUERY, SAMPLE],
        &["batch", "--engine", "gpu", "themes/catalogue.toml", SAMPLE],
        &["devices"],
        &["explain", "--wgsl", "--json", QUERY],
    ];
    for args in commands {
        let (code, stdout, stderr) = orbit(args);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{args:?}: {stderr}");
        for word in ["error: this orbit was built without the GPU engine", "cargo install", "--engine cpu"] {
            assert!(stderr.contains(word), "{args:?}: {stderr}");
        }
    }
}

#[test]
fn benches_of_the_processor_say_what_is_left_out() {
    let (code, stdout, stderr) = orbit(&["bench", "--runs", "1", "--positions", "1K", "--json"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("warning: this orbit was built without the GPU engine"), "{stderr}");
    let run: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert!(run["card"].is_null() && run["queries"].as_array().unwrap().len() > 10, "{stdout}");
}

#[test]
fn version_and_help_say_so() {
    let (_, version, _) = orbit(&["--version"]);
    assert_eq!(version, format!("orbit {} (without the GPU engine)\n", env!("CARGO_PKG_VERSION")));
    let (_, help, _) = orbit(&["--help"]);
    assert!(help.contains("built without the GPU engine"), "{help}");
}
