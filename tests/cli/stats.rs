//! Tests `orbit scan --stats` end to end.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";

fn scan(folder: &Path, args: &[&str]) -> Output {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(folder).args(["scan", "-q"]).args(args).args([QUERY, sample]);
    command.stdin(Stdio::null()).output().expect("the binary was built")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

fn stdout(args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = scan(folder.path(), args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout).to_owned()
}

#[test]
fn statistics_replace_the_list() {
    let plain = stdout(&["--stats", "year,result"]);
    assert!(
        plain.starts_with(" year  games hit") && plain.ends_with("54.4 %  56.4 % (+176 =107 -124)\n"),
        "{plain}"
    );
    assert_eq!(stdout(&["--stats", "by=year", "--stats", "result"]), plain);
    let both = stdout(&["--format", "plain", "--stats", "year,result"]);
    assert_eq!(both.strip_suffix(&plain), Some(stdout(&["--format", "plain"]).as_str()));
    assert_eq!(stdout(&["--stats", "white,top=3"]).lines().count(), 6);
}

/// Games and positions must be counted as by `--count`, whichever hits are listed.
#[test]
fn statistics_are_of_all_games_that_count() {
    let json = |args: &[&str]| -> Value {
        let out = stdout(&[&["--stats", "result,copy,value", "--stats-format", "json"][..], args].concat());
        serde_json::from_str(out.lines().last().unwrap()).unwrap()
    };
    let whole = json(&[]);
    let count: Value = serde_json::from_str(&stdout(&["--count", "--format", "jsonl"])).unwrap();
    for name in ["games", "games_hit", "positions", "positions_hit"] {
        assert_eq!(whole["total"][name], count[name], "{name}");
    }
    assert_eq!(json(&["--threads", "1"]), whole);
    assert_eq!(json(&["--engine", "reference"]), whole);
    assert_eq!(json(&["--format", "plain", "--limit", "2"]), whole);
    let drawn = json(&["--where", "result=1/2-1/2"]);
    let rows = whole["groupings"]["result"].as_array().unwrap();
    let mut row = rows.iter().find(|row| row["key"] == "1/2-1/2").unwrap().clone();
    // With this condition, all hits are in the group of draws, so its share of the hits is 1.
    row["hits_share"] = Value::from(1.0);
    assert_eq!(drawn["groupings"]["result"].as_array().unwrap(), std::slice::from_ref(&row));
    assert_eq!(drawn["total"]["games"], row["games"]);
}

#[test]
fn files_are_written_as_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    for (name, begins) in [("a.csv", "grouping,key,"), ("a.json", "{\"total\":"), ("a.txt", " year  games")] {
        let out = scan(folder.path(), &["--stats", "year", "--stats-output", name]);
        assert_eq!((out.status.code(), text(&out.stdout)), (Some(0), ""), "{}", text(&out.stderr));
        assert!(std::fs::read_to_string(folder.path().join(name)).unwrap().starts_with(begins), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (args, message) in [
        (&["--stats", "yeer"][..], "error: --stats: there is no grouping `yeer` (did you mean `year`?)"),
        (&["--stats", "year,top=0"], "error: `top=0`: expected a number of groups"),
        (
            &["--stats", "top=5"],
            "error: --stats: `top=5` limits tables: name a grouping too, as in `san,top=5`",
        ),
        (
            &["--stats", "loss:0.005"],
            "error: --stats: `loss:0.005`: a step is a number from 0.001 to 1000000, as in `clock:10` or `eval:0.5`; of \
             `eval` and `loss` a multiple of 0.01",
        ),
        (&["--stats", "year", "--stats-output", "no/such.csv"], "error: no/such.csv cannot be written"),
        (&["--stats-format", "csv"], "error: the following required arguments were not provided"),
    ] {
        let out = scan(folder.path(), args);
        assert_eq!((out.status.code(), text(&out.stdout)), (Some(2), ""), "{args:?}");
        assert!(text(&out.stderr).starts_with(message), "{}", text(&out.stderr));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Both players of the first game have the same name, and those of the second game the same FIDE number. Each game has two
/// players.
#[test]
fn the_players_of_a_game_are_two_groups() {
    let folder = tempfile::tempdir().unwrap();
    let game = |white: &str, black: &str, numbers: &str| {
        format!("[White \"{white}\"]\n[Black \"{black}\"]\n{numbers}[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n")
    };
    let numbers = "[WhiteFideId \"77\"]\n[BlackFideId \"77\"]\n";
    for (name, game) in [
        ("names.pgn", game("Muster, Max", "Muster, Max", "[WhiteFideId \"77\"]\n")),
        ("numbers.pgn", game("Muster, Max", "Muster, M.", numbers)),
        ("words.pgn", game("Muster, Max", "Max Meier", numbers)),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, game.repeat(3)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        command.args(["scan", "-q", "--stats", "player", "--stats-format", "json", "wtm"]).arg(&path);
        let out = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{name}: {}", text(&out.stderr));
        let json: Value = serde_json::from_slice(&out.stdout).unwrap();
        let rows = json["groupings"]["player"].as_array().unwrap();
        let games: Vec<_> = rows.iter().map(|row| row["games_hit"].as_u64()).collect();
        assert_eq!(games, [Some(3), Some(3)], "{name}: {rows:?}");
    }
}

/// Text tables of files have the usual limits, and show the files with the most games in the order of the files.
#[test]
fn tables_of_files_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (10..40).map(|number| format!("{number}.pgn")).collect();
    for (name, games) in names.iter().zip([1, 3, 2].into_iter().cycle()) {
        std::fs::write(folder.path().join(name), "1. e4 *\n\n".repeat(games)).unwrap();
    }
    let listed = |groupings: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        command.current_dir(folder.path()).args(["scan", "-q", "--stats", groupings, "initial", "."]);
        let out = command.stdin(Stdio::null()).output().unwrap();
        let out = text(&out.stdout).to_owned();
        let is_file = |word: &&str| word.ends_with(".pgn");
        (
            out.lines()
                .filter_map(|line| line.split_whitespace().find(is_file).map(str::to_owned))
                .collect::<Vec<_>>(),
            out,
        )
    };
    let (all, _) = listed("source,least=1");
    assert_eq!(all.len(), 30);
    let with = |rest: &[usize]| -> Vec<String> {
        all.iter()
            .enumerate()
            .filter(|(at, _)| rest.contains(&(at % 3)))
            .map(|(_, name)| name.clone())
            .collect()
    };
    let (usual, out) = listed("source");
    assert_eq!(usual, with(&[1, 2]));
    assert!(out.contains("... and 10 more"), "{out}");
    assert_eq!(listed("source,top=10").0, with(&[1]));
    assert_eq!(listed("source,least=3").0, with(&[1]));
}

/// The summary of a numeric query's values must equal one computed from the rows of hits.
#[test]
fn values_are_told_in_few_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        let out = command.current_dir(folder.path()).args(["scan", "-q"]).args(args);
        let out = out.args(["power A - power a", sample]).stdin(Stdio::null()).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
        text(&out.stdout).to_owned()
    };
    let mut values: std::collections::BTreeMap<String, Vec<i64>> = Default::default();
    for line in run(&["--format", "jsonl"]).lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let value = row["value"].as_i64().unwrap();
        for group in [row["result"].as_str().unwrap(), "total"] {
            values.entry(group.to_owned()).or_default().push(value);
        }
    }
    values.values_mut().for_each(|values| values.sort_unstable());
    let json: Value = serde_json::from_str(&run(&["--stats", "result", "--stats-format", "json"])).unwrap();
    let groups = json["groupings"]["result"].as_array().unwrap();
    assert!(groups.len() >= 3 && values.len() == groups.len() + 1);
    for row in groups.iter().chain([&json["total"]]) {
        let values = &values[row["key"].as_str().unwrap_or("total")];
        let quantile = |share: f64| {
            let place = (values.len() - 1) as f64 * share;
            let [below, above] = [place.floor(), place.ceil()].map(|place| values[place as usize] as f64);
            below + (above - below) * place.fract()
        };
        let mean = values.iter().sum::<i64>() as f64 / values.len() as f64;
        for (name, due) in [
            ("value_mean", mean),
            ("value_min", quantile(0.0)),
            ("value_p10", quantile(0.1)),
            ("value_p25", quantile(0.25)),
            ("value_median", quantile(0.5)),
            ("value_p75", quantile(0.75)),
            ("value_p90", quantile(0.9)),
            ("value_max", quantile(1.0)),
        ] {
            let found = row[name].as_f64().unwrap();
            assert!((found - due).abs() < 1e-6, "{name} of {}: {found}, not {due}", row["key"]);
        }
        for bin in row["value_histogram"].as_array().unwrap() {
            let [from, to] = ["from", "to"].map(|end| bin[end].as_i64().unwrap());
            let due = values.iter().filter(|value| (from..=to).contains(value)).count();
            assert_eq!(bin["positions"], due);
        }
    }
    let csv = run(&["--stats", "result", "--stats-format", "csv"]);
    assert!(csv.lines().next().unwrap().ends_with(",pattern,value_mean,value_min,value_p10,value_p25,value_median,value_p75,value_p90,value_max,value_histogram,wins,draws,losses,hits_share"));
    let plain = run(&["--stats", "result"]);
    assert!(plain.contains("median") && plain.contains('█'), "{plain}");
    assert!(!stdout(&["--stats", "result"]).contains("median"));
}

/// `orbit batch` must show the score of the matching side (the side whose pieces form the pattern) only for themes that use
/// `flipcolor`, and this score must equal that of a scan.
#[test]
fn a_batch_tells_the_side_that_has_the_pattern() {
    let folder = tempfile::tempdir().unwrap();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");
    let orbit = |args: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_orbit")).current_dir(folder.path()).args(args).output();
        let out = out.unwrap();
        assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
        text(&out.stdout).to_owned()
    };
    let theme = |name: &str, query: &str| format!("[[theme]]\nname = '{name}'\nquery = '{query}'\n");
    let themes = theme("either", QUERY) + &theme("white", "shift flip {Nd4 kf3}");
    std::fs::write(folder.path().join("mine.toml"), themes).unwrap();
    let batch = |format| orbit(&["batch", "-q", "mine.toml", sample, "--by", "result", "--format", format]);
    let of_batch: Value = serde_json::from_str(&batch("json")).unwrap();
    let of_scan = stdout(&["--stats", "result", "--stats-format", "json"]);
    let of_scan: Value = serde_json::from_str(&of_scan).unwrap();
    let [either, white] = [0, 1].map(|theme| &of_batch["themes"][theme]);
    for name in ["side_wins", "side_draws", "side_losses", "side_score"] {
        assert!(of_scan["total"][name].is_number() && white[name].is_null(), "{name}: {of_batch}");
        assert_eq!(either[name], of_scan["total"][name], "{name}");
        for row in of_scan["groupings"]["result"].as_array().unwrap() {
            let groups = either["groupings"]["result"].as_array().unwrap();
            let group = groups.iter().find(|group| group["key"] == row["key"]).unwrap();
            assert_eq!(group[name], row[name], "{name} of {}", row["key"]);
        }
    }
    let csv = batch("csv");
    assert!(
        csv.lines().next().unwrap().ends_with(",difference_high,side_wins,side_draws,side_losses,side_score")
    );
    assert_eq!(csv.lines().filter(|line| line.ends_with(",,,,")).count(), 4, "{csv}");
}
