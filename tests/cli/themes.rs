//! Tests themes: the catalogue, theme files, and `orbit batch`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use orbit_chess::{DatabaseOptions, Query};
use orbit_core::diagnostic::Severity;
use orbit_engine::{Engine, PreparedQuery, Wants};
use orbit_plan::PlanOptions;
use orbit_reel::GameRow;
use orbit_search::executor::EngineChoice;
use orbit_search::themes::{self, CATALOGUE, Theme};
use serde_json::Value;
use shakmaty::{CastlingMode, Chess, fen::Fen};

use crate::common::{corpus, data, pgn_blocks};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");

fn orbit(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).output().expect("the binary was built")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

/// Runs `orbit batch`, and returns its output.
fn batch(args: &[&str]) -> String {
    let out = orbit(Path::new(env!("CARGO_MANIFEST_DIR")), &[&["batch", "-q"], args].concat());
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout).to_owned()
}

fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(csv.as_bytes()).deserialize().map(|row| row.unwrap()).collect()
}

fn number(row: &BTreeMap<String, String>, name: &str) -> u64 {
    row[name].parse().unwrap()
}

#[test]
fn the_catalogue_is_whole() {
    let themes = themes::built_in();
    assert!(themes.len() >= 45, "{} themes", themes.len());
    let groups: BTreeSet<&str> = themes.iter().map(|theme| &*theme.group).collect();
    assert!(groups.len() >= 5, "{groups:?}");
    let names: BTreeSet<&str> = themes.iter().map(|theme| &*theme.name).collect();
    let titles: BTreeSet<&str> = themes.iter().map(|theme| &*theme.title).collect();
    assert_eq!((names.len(), titles.len()), (themes.len(), themes.len()));
    for theme in &themes {
        let Theme { name, description, source, hits, misses, .. } = theme;
        assert!(description.ends_with('.') && description.len() > 20, "{name}: {description}");
        let is_book = source.ends_with(')') && source.rsplit('(').next().unwrap().len() == 5;
        assert!(is_book || source.starts_with("Wikipedia, article “"), "{name}: {source}");
        assert!(hits.len() >= 2 && !misses.is_empty(), "{name} has too few positions");
        assert!(theme.parsed.remarks.iter().all(|remark| remark.severity == Severity::Note), "{name}");
    }
}

/// Returns a theme's example as a game. An example is a FEN, possibly followed by a comma and moves.
fn game_of(example: &str) -> String {
    let (fen, moves) = example.split_once(',').unwrap_or((example, ""));
    format!("[FEN \"{fen}\"]\n\n{moves} *\n\n")
}

/// Returns a flag for each example: true if an engine finds a hit of the theme's query in the example.
fn answers(theme: &Theme, examples: &[String], engine: &dyn Engine) -> Vec<bool> {
    let text: String = examples.iter().map(|example| game_of(example)).collect();
    let blocks = pgn_blocks(&text);
    let answers: Vec<bool> = blocks
        .iter()
        .flat_map(|block| {
            let hits = engine.answer(block, Wants::HITS).unwrap().hits;
            let is_hit = |game: GameRow<'_>| hits.count_in(game.slots()) > 0;
            let answers: Vec<bool> = block.games().map(is_hit).collect();
            assert!(block.games().all(|game| !game.is_cut()), "{}: a move cannot be played", theme.name);
            answers
        })
        .collect();
    assert_eq!(answers.len(), examples.len(), "{}", theme.name);
    answers
}

#[test]
fn positions_hit_and_miss_as_the_catalogue_says() {
    for theme in themes::built_in() {
        let prepared = PreparedQuery::new(theme.parsed.query.clone(), PlanOptions::default()).unwrap();
        let (cpu, reference) = (prepared.cpu().unwrap(), prepared.reference().unwrap());
        for engine in [&cpu as &dyn Engine, &reference] {
            for (fens, expected) in [(&theme.hits, true), (&theme.misses, false)] {
                for (fen, answer) in fens.iter().zip(answers(&theme, fens, engine)) {
                    assert_eq!(answer, expected, "{} on {fen} ({})", theme.name, engine.info().name);
                }
            }
        }
    }
}

#[test]
fn positions_of_the_catalogue_can_be_played() {
    for theme in themes::built_in() {
        for fen in theme.hits.iter().chain(&theme.misses) {
            let (fen, _) = fen.split_once(',').unwrap_or((fen, ""));
            let setup: Fen = fen.parse().unwrap();
            let played = setup.into_position::<Chess>(CastlingMode::Standard);
            played.unwrap_or_else(|error| panic!("{}: {fen}: {error}", theme.name));
        }
    }
}

/// Writes files to a folder, and loads the themes from the first file.
fn load(files: &[(&str, &str)]) -> Result<Vec<Theme>, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let loaded = themes::load(&folder.path().join(files[0].0));
    let prefix = format!("{}/", folder.path().display());
    loaded.map_err(|error| error.to_string().replace(&prefix, ""))
}

fn names(themes: &[Theme]) -> Vec<&str> {
    themes.iter().map(|theme| &*theme.name).collect()
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() {
    let theme = |name: &str, query: &str| format!("[[theme]]\nname = '{name}'\nquery = '{query}'\n");
    let twice = theme("a", "check") + &theme("b", "mate") + &theme("a", "Ra1");
    let (a, long) = (theme("a", "check"), "n".repeat(41));
    let deep: Vec<(String, String)> =
        (0..20).map(|k| (format!("{k}.toml"), format!("include = ['{}.toml']", k + 1))).collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(name, text)| (&**name, &**text)).collect();
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("t.toml", "")], "t.toml holds no theme: write one"),
        (&[("t.toml", "x = ")], "t.toml:1:5: "),
        (&[("t.toml", "theme = 1")], "t.toml:1:9: invalid type: integer"),
        (&[("t.toml", "[[theme]]\nname = 'a'\n")], "t.toml:1:1: missing field `query`"),
        (&[("t.toml", "[[theme]]\nquery = 'a'\n")], "t.toml:1:1: missing field `name`"),
        (&[("t.toml", "\n[[theme]]\nname = 'a'\nqeury = 'check'\n")], "t.toml:4:1: unknown field `qeury`"),
        (&[("t.toml", "[[themes]]\n")], "t.toml:1:3: unknown field `themes`"),
        (&[("t.toml", &theme("Big A", "check"))], "t.toml:2:8: `Big A` is no name of a theme"),
        (&[("t.toml", &theme("", "check"))], "t.toml:2:8: `` is no name"),
        (&[("t.toml", &theme(&long, "check"))], "t.toml:2:8: `nnn"),
        (
            &[("t.toml", &twice)],
            "t.toml:8:8: there are two themes `a`: the theme at t.toml:2:8 has this name; give one",
        ),
        (&[("t.toml", &theme("a", "flip {R[a8-1]}"))], "t.toml:3:19: rank range runs backwards"),
        (
            &[("t.toml", &theme("a", "(position :skip)"))],
            "t.toml:3:20: the keyword `:skip` is not supported yet",
        ),
        (
            &[("t.toml", "[[theme]]\nname = 'a'\nquery = '''\ncheck\nR[a8-1]\n'''\n")],
            "t.toml:5:4: rank range runs backwards",
        ),
        (
            &[("t.toml", "[[theme]]\nname = 'a'\nquery = \"\\u0052[a8-1]\"\n")],
            "t.toml:3:9, query of a:1:4: rank range",
        ),
        (&[("t.toml", "include = ['no.toml']")], "t.toml:1:12: the themes no.toml cannot be read"),
        (
            &[("t.toml", "include = ['t.toml']")],
            "t.toml:1:12: a file of themes includes itself: t.toml -> t.toml: take",
        ),
        (
            &[("t.toml", "include = ['x/u.toml']"), ("x/u.toml", "\ninclude = ['../t.toml']")],
            "x/u.toml:2:12: a file of themes includes itself: t.toml -> x/u.toml -> x/../t.toml: take",
        ),
        (
            &[("t.toml", "include = ['u.toml']\n[[theme]]\nname = 'a'\nquery = 'mate'"), ("u.toml", &a)],
            "t.toml:3:8: there are two themes `a`: the theme at u.toml:2:8",
        ),
        (&[("t.toml", "include = ['u.toml']"), ("u.toml", "x")], "u.toml:1:2: "),
        (&deep, "15.toml:1:12: more than 16 files of themes include one another"),
    ];
    for (files, message) in cases {
        let error = load(files).expect_err(message);
        assert!(error.starts_with(message), "{error}\nand not\n{message}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("latin.toml"), b"# M\xfcller").unwrap();
    for (name, message) in
        [("latin.toml", "not UTF-8"), ("none.toml", "cannot be read"), ("", "cannot be read")]
    {
        let error = themes::load(&folder.path().join(name)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let long = folder.path().join("long.toml");
    std::fs::write(&long, "#".repeat((16 << 20) + 1)).unwrap();
    assert!(themes::load(&long).unwrap_err().to_string().contains("longer than 16 MiB"));
}

#[test]
fn files_include_others_and_the_catalogue() {
    let theme = |name: &str| format!("[[theme]]\nname = '{name}'\nquery = 'check'\n");
    let (a, b, c) = (theme("a"), theme("b"), theme("c"));
    let main = format!("include = ['x/b.toml', 'c.toml']\n{a}");
    let (b, c) = (format!("include = ['../c.toml']\n{b}"), c);
    let files = [("t.toml", &*main), ("x/b.toml", &*b), ("c.toml", &*c)];
    // A file that is included twice is loaded only once.
    let loaded = load(&files).unwrap();
    assert_eq!(names(&loaded), ["c", "b", "a"]);
    assert_eq!((&*loaded[0].title, &*loaded[0].group), ("c", ""));
    let built_in = themes::built_in();
    let with_catalogue = load(&[("t.toml", &format!("include = ['catalogue']\n{a}"))]).unwrap();
    assert_eq!(names(&with_catalogue)[..built_in.len()], names(&built_in));
    assert_eq!(with_catalogue.last().unwrap().name, "a");
    // The built-in themes must equal those in the theme files on disk.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("themes");
    assert_eq!(names(&themes::load(&folder.join("catalogue.toml")).unwrap()), names(&built_in));
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".toml").map(String::from))
        // The manifest of the crate with the themes is not a theme file.
        .filter(|name| name != "Cargo")
        .collect();
    let groups = built_in.iter().map(|theme| theme.group.clone()).chain([CATALOGUE.into()]);
    assert_eq!(files, groups.collect());
}

/// Returns the numbers of games and positions at which a query matches, counted hit by hit in a separate search.
fn counted(query: &str, path: &Path, choice: EngineChoice) -> (u64, u64) {
    let database = DatabaseOptions::new().substitute_reels(false).open([path]).unwrap();
    let (mut games, mut positions, mut last) = (0, 0, None);
    for hit in database.scan(&Query::parse(query).unwrap()).engine(choice).places_only().hits().unwrap() {
        positions += 1;
        games += u64::from(last.replace(hit.game().number()) != Some(hit.game().number()));
    }
    (games, positions)
}

fn batch_is_single_scans(path: &Path) {
    let found = rows(&batch(&[CATALOGUE, path.to_str().unwrap(), "--format", "csv"]));
    let themes = themes::built_in();
    assert_eq!(found.len(), themes.len());
    let mut hitting = 0;
    for (row, theme) in found.iter().zip(&themes) {
        let counts = (number(row, "games_hit"), number(row, "positions_hit"));
        assert_eq!((&row["theme"], &row["group"]), (&theme.name, &theme.group));
        assert_eq!(counts, counted(&theme.query, path, EngineChoice::Cpu), "{}", theme.name);
        hitting += u32::from(counts.0 > 0);
    }
    assert!(hitting > 50, "{hitting} themes hit in {}", path.display());
}

#[test]
fn a_batch_counts_what_single_scans_count() {
    batch_is_single_scans(Path::new(SAMPLE));
}

#[test(part = 1)]
fn a_batch_counts_what_single_scans_count_in_master_games() {
    let folder = corpus();
    batch_is_single_scans(&folder.join("otb.pgn"));
}

#[test]
fn groups_of_games_are_those_of_a_query_about_them() {
    let args = [CATALOGUE, SAMPLE, "--group", "tactics", "--by", "result,year,ply:40", "--format", "csv"];
    let found = rows(&batch(&args));
    let themes: Vec<Theme> =
        themes::built_in().into_iter().filter(|theme| theme.group == "tactics").collect();
    for theme in &themes {
        let of = |grouping: &'static str| {
            found.iter().filter(move |row| row["theme"] == theme.name && row["grouping"] == grouping)
        };
        for result in ["1-0", "1/2-1/2", "0-1"] {
            let row = of("result").find(|row| row["key"] == result).unwrap();
            let query = format!("{{result {result} {}}}", theme.query);
            let counts = (number(row, "games_hit"), number(row, "positions_hit"));
            assert_eq!(counts, counted(&query, Path::new(SAMPLE), EngineChoice::Cpu), "{query}");
        }
        let total = of("total").next().unwrap();
        for grouping in ["result", "year", "ply:40"] {
            for (column, is_sum) in
                [("positions", true), ("positions_hit", true), ("games", grouping != "ply:40")]
            {
                let sum: u64 = of(grouping).map(|row| number(row, column)).sum();
                assert_eq!(sum == number(total, column), is_sum, "{} by {grouping}: {column}", theme.name);
            }
        }
    }
    assert!(found.len() > 9 * themes.len());
    let args = [CATALOGUE, SAMPLE, "--group", "tactics", "--where", "result=1-0", "--format", "csv"];
    for row in rows(&batch(&args)) {
        let all = found.iter().find(|all| all["theme"] == row["theme"] && all["key"] == "1-0").unwrap();
        assert!(
            row.iter().all(|(name, cell)| ["grouping", "key"].contains(&&**name) || *cell == all[name]),
            "{row:?}"
        );
    }
}

#[test]
fn csv_json_and_text_agree() {
    let args = |format| {
        [CATALOGUE, SAMPLE, "--by", "year,result", "--only", "fianchetto,french-chain", "--format", format]
    };
    let (csv, json, table) = (rows(&batch(&args("csv"))), batch(&args("json")), batch(&args("text")));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["games"].as_u64(), json["positions"].as_u64()), (Some(1000), Some(87_461)));
    let mut rows = csv.iter();
    let mut same = |about: &Value, grouping: &str, value: &Value| {
        let row = rows.next().unwrap();
        assert_eq!((about["theme"].as_str(), &*row["grouping"]), (Some(&*row["theme"]), grouping));
        let key = &value["key"];
        assert_eq!(
            row["key"],
            key.as_str().map_or_else(|| key.as_i64().map_or(String::new(), |k| k.to_string()), String::from)
        );
        for (name, cell) in row.iter().skip_while(|(name, _)| *name != "games_hit") {
            if let Some(number) = value.get(name).and_then(Value::as_f64) {
                assert_eq!(cell.parse(), Ok(number), "{name}");
            }
        }
        assert_eq!(number(row, "games_hit"), value["games_hit"].as_u64().unwrap());
    };
    for theme in json["themes"].as_array().unwrap() {
        same(theme, "total", theme);
        for grouping in ["year", "result"] {
            theme["groupings"][grouping]
                .as_array()
                .unwrap()
                .iter()
                .for_each(|row| same(theme, grouping, row));
        }
    }
    assert!(rows.next().is_none());
    let won = csv.iter().find(|row| row["theme"] == "french-chain" && row["key"] == "1-0").unwrap();
    let share: f64 = won["share_games"].parse().unwrap();
    assert_eq!(share, (number(won, "games_hit") as f64 / number(won, "games") as f64 * 1e6).round() / 1e6);
    let line = table.lines().filter(|line| line.starts_with("  french-chain")).nth(1).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some(&*format!("{:.1}", 100.0 * share)), "{table}");
}

#[test]
fn threads_and_packing_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let reel = folder.path().join("sample.reel");
    assert!(orbit(folder.path(), &["index", SAMPLE, "-o", "sample.reel"]).status.success());
    let args = |path, threads| {
        batch(&[CATALOGUE, path, "--by", "eco,ply:20", "--format", "json", "--threads", threads])
    };
    let one = args(SAMPLE, "1");
    assert_eq!(one, args(SAMPLE, "3"));
    assert_eq!(one, args(reel.to_str().unwrap(), "2"));
}

#[test]
fn themes_are_chosen_listed_and_shown() {
    let listed = batch(&["--list", "--group", "symmetry", "--only", "windmill", "--format", "csv"]);
    let found: Vec<String> = rows(&listed).into_iter().map(|row| row["theme"].clone()).collect();
    assert_eq!(found, ["windmill", "mirrored-position", "mirrored-pawns"]);
    let list = batch(&["--list"]);
    let shown = batch(&["--show", "bad-bishop"]);
    for theme in themes::built_in() {
        assert!(list.contains(&format!("  {}: {}\n      {}\n", theme.name, theme.title, theme.description)));
        if theme.name == "bad-bishop" {
            let lines =
                theme.query.trim().lines().chain(theme.hits.iter().chain(&theme.misses).map(String::as_str));
            assert!(lines.chain([&*theme.title, &*theme.source]).all(|line| shown.contains(line)), "{shown}");
        }
    }
    let json: Value = serde_json::from_str(&batch(&["--show", "stalemate", "--format", "json"])).unwrap();
    assert_eq!((&json["query"], &json["group"]), (&"stalemate".into(), &"endings".into()));
}

#[test]
fn a_wrong_command_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.toml"), "[[theme]]\nname = 'a'\nquery = 'R[a8-1]'\n").unwrap();
    for (args, message) in [
        (&["bad.toml", SAMPLE][..], "--> bad.toml:3:13"),
        (&["none.toml", SAMPLE], "the themes none.toml cannot be read"),
        (&[CATALOGUE], "there are no games to search"),
        (&[], "<THEMES>"),
        (
            &[CATALOGUE, SAMPLE, "--only", "wind-mill"],
            "there is no theme `wind-mill`: did you mean `windmill`?",
        ),
        (&[CATALOGUE, SAMPLE, "--group", "xyz"], "there is no group of themes `xyz`"),
        (&["--show", "windmil"], "did you mean `windmill`?"),
        (&[CATALOGUE, SAMPLE, "--by", "yeer"], "did you mean `year`?"),
        (&[CATALOGUE, SAMPLE, "--by", "value"], "`value` is no grouping for themes"),
        (&[CATALOGUE, SAMPLE, "--by", "year*result"], "`year*result` is no grouping for themes"),
        (&[CATALOGUE, SAMPLE, "--by", "next:2"], "`orbit scan --theme NAME --stats next:2 games.pgn`"),
        (&[CATALOGUE, SAMPLE, "-o", "no/x.csv"], "no/x.csv cannot be written"),
        (&[CATALOGUE, SAMPLE, "--engine", "gpu", "--gpu", "none"], "exclude each other"),
        (&[CATALOGUE, "none.pgn"], "none.pgn"),
    ] {
        let out = orbit(folder.path(), &[&["batch"], args].concat());
        assert_eq!(out.status.code(), Some(2), "{args:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(message), "{args:?}: {}", text(&out.stderr));
        assert!(out.stdout.is_empty());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_answer_goes_into_a_file_and_nothing_found_can_be_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["batch", CATALOGUE, SAMPLE, "--group", "mates", "--format", "csv"];
    let out = orbit(folder.path(), &[&args[..], &["-o", "mates.csv"]].concat());
    assert_eq!((out.status.code(), out.stdout.len()), (Some(0), 0));
    assert!(text(&out.stderr).contains("15 themes in one pass"), "{}", text(&out.stderr));
    let file = std::fs::read_to_string(folder.path().join("mates.csv")).unwrap();
    assert_eq!(file, batch(&args[1..]));
    let none = ["batch", CATALOGUE, SAMPLE, "--only", "bodens-mate", "--fail-if-none"];
    assert_eq!(orbit(folder.path(), &none).status.code(), Some(1));
    let some = ["batch", CATALOGUE, SAMPLE, "--only", "bodens-mate,fianchetto", "--fail-if-none"];
    assert_eq!(orbit(folder.path(), &some).status.code(), Some(0));
}

/// A row of theme-verdicts.tsv: a hit of a theme, and a human verdict on whether the theme's name fits it.
#[derive(serde::Deserialize)]
struct Verdict {
    theme: String,
    /// `now`, or `before` for a hit that was found only by an earlier version of the theme's query.
    found: String,
    file: String,
    game: String,
    date: String,
    ply: u32,
    verdict: String,
    reason: String,
}

fn verdicts() -> Vec<Verdict> {
    let text = data("theme-verdicts.tsv");
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').quoting(false).from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// Returns the number of a theme's hits that have a verdict, the number of these hits to which the theme's name fits, and a
/// description of the searched games.
fn precision_of(name: &str, verdicts: &[Verdict]) -> (usize, usize, &'static str) {
    let judged: Vec<&Verdict> =
        verdicts.iter().filter(|row| row.theme == name && row.found == "now").collect();
    let firsts: Vec<(usize, usize)> = data("theme-precision.tsv")
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|cells| cells[0] == name)
        .map(|cells| (cells[1].parse().unwrap(), cells[2].parse().unwrap()))
        .collect();
    match (firsts[..].first(), judged.first()) {
        (Some(&(judged, right)), None) if firsts.len() == 1 => (judged, right, "first of 11,372"),
        (None, Some(first)) => {
            let right = judged.iter().filter(|row| row.verdict == "right").count();
            let games = if first.file == "otb.pgn" { "sample of 11,372" } else { "sample of 45,925" };
            (judged.len(), right, games)
        }
        _ => panic!("{name} has one row of theme-precision.tsv or rows of theme-verdicts.tsv, not both"),
    }
}

/// Returns a table of the themes in a group: the searched games, the number of hits with a verdict, and the number of these hits
/// to which the name fits.
fn precision(themes: &[&Theme], verdicts: &[Verdict]) -> String {
    let mut out = String::from("| theme | games | judged | right |\n|---|---|---|---|\n");
    for Theme { name, .. } in themes {
        let (judged, right, games) = precision_of(name, verdicts);
        writeln!(out, "| `{name}` | {games} | {judged} | {right} |").unwrap();
    }
    out
}

#[test]
fn the_page_prints_the_counts_of_the_verdicts() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/themes.md");
    let page = std::fs::read_to_string(path).unwrap();
    let verdicts = verdicts();
    let names: BTreeSet<String> = themes::built_in().into_iter().map(|theme| theme.name).collect();
    let (mut hits, mut judged) = (BTreeSet::new(), BTreeMap::<&str, [usize; 2]>::new());
    for Verdict { theme, found, file, game, date, ply, verdict, reason } in &verdicts {
        let row = format!("{theme}, {game}, ply {ply}");
        assert!(names.contains(theme) && ["now", "before"].contains(&&**found), "{row}: {found}");
        assert!(
            ["right", "wrong", "arguable"].contains(&&**verdict) && !reason.is_empty(),
            "{row}: {verdict}"
        );
        assert!(hits.insert((theme, file, game, date, ply)), "{row} is judged twice");
        if found == "now" {
            let [all, right] = judged.entry(theme).or_default();
            (*all, *right) = (*all + 1, *right + usize::from(verdict == "right"));
        }
    }
    assert!(judged.len() > 20, "{} themes are judged by the moves that follow", judged.len());
    for (theme, [all, right]) in judged {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{theme}` |"))).unwrap();
        assert!(
            row.ends_with(&format!(" | {all} | {right} |")),
            "{row}, and {right} of {all} by the verdicts"
        );
        assert!(all <= 50, "{theme}: {all} hits");
    }
}

/// Returns the theme catalogue as a page of the documentation.
fn page() -> String {
    let themes = themes::built_in();
    let mut out = format!(
        "# The catalogue of themes\n\nA *theme* is a query with a name. This page lists the {} built-in themes. `orbit batch \
         catalogue` counts their hits, and `orbit batch --show NAME` prints one theme. Each theme has examples of positions at \
         which it matches, and of positions at which it just fails to match. If moves follow the FEN of an example, the example \
         consists of this position and all positions that the moves reach. `tests/cli/themes.rs` writes this page from the files \
         in `themes/`.\n\n\
         For each theme, a sample of hits was judged: is the position what a chess player means by the name of the theme? The \
         tables show the number of judged hits and the number of right ones among them. The column *games* says which hits were \
         judged. *First of 11,372* means that, of 11,372 games between masters over the board, the first 20 games with hits \
         were taken (or all games with hits, if there are fewer), and the first hit of each game was judged. These hits were \
         judged by eye, and for some themes also by a separate rule with python-chess (`tests/tools/themes.py`).\n\n\
         *Sample of 11,372* and *sample of 45,925* in the column *games* mean that 50 random games with hits were taken (or all \
         games with hits, if there are fewer), and the first hit of each game was judged. `orbit scan --first --unique=moves \
         --sample 50 --seed 1` draws the sample. It is drawn from the 11,372 master games or, for themes that are rare in them, \
         from a collection of 45,925 games that includes the master games: games over the board, by correspondence, between \
         programs and online. Each hit was judged by the position and the ten half-moves that follow: python-chess determined \
         the facts (mate, captures, the material after each move), and then a person judged the hit by eye. \
         `tests/data/theme-verdicts.tsv` contains the verdicts (right, wrong, arguable) and their reasons; only the verdict \
         *right* counts.\n\n\
         One person gave all verdicts, and the share of right hits among 50 is only an estimate for all hits. If a query tests \
         the fact on which the verdict depends, as the queries for mates, material and shut-in bishops do, its hits are right \
         almost by definition.\n",
        themes.len()
    );
    let verdicts = verdicts();
    let mut group = "";
    for theme in &themes {
        if theme.group != group {
            group = &theme.group;
            write!(out, "\n## {group}\n").unwrap();
            let themes: Vec<&Theme> = themes.iter().filter(|theme| theme.group == group).collect();
            write!(out, "\n{}", precision(&themes, &verdicts)).unwrap();
        }
        let Theme { name, title, description, source, query, hits, misses, .. } = theme;
        write!(
            out,
            "\n### {title}\n\n`{name}`. {description} *{source}.*\n\n```text\n{}\n```\n\n\
             Example of a match: `{}`. Example without a match: `{}`.\n",
            query.trim(),
            hits[0],
            misses[0]
        )
        .unwrap();
    }
    out
}

#[test]
fn the_page_shows_the_catalogue() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/themes.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, page()).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == page(), "docs/themes.md is not what it says: run the tests once with UPDATE_GOLDEN=1");
}

#[test]
fn a_theme_is_searched_by_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let query = themes::named("greek-gift").unwrap().query;
    let [by_name, by_text] = [["--theme", "greek-gift"], ["-e", &query]].map(|asked| {
        let out = orbit(folder, &[&["scan", "-q"], &asked[..], &[SAMPLE]].concat());
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        text(&out.stdout).to_owned()
    });
    assert_eq!(by_name, by_text);
    assert_eq!(by_name.lines().count(), 4, "two games, each with its moves: {by_name}");
}

#[test]
fn what_was_meant_with_themes_and_games_is_offered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (args, part) in [
        (&["scan", "--theme", "greek-gitf", SAMPLE][..], "did you mean `greek-gift`?"),
        (&["scan", "--theme", "a,b", SAMPLE], "`orbit batch catalogue --only a,b games.pgn`"),
        (&["batch", "games/sample.pgn"], "write `orbit batch catalogue games/sample.pgn`"),
        (&["batch", "games"], "write `orbit batch catalogue games`"),
        (&["info", "games/sample.pgn"], "`orbit scan --count true games/sample.pgn`"),
    ] {
        let out = orbit(folder, args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(text(&out.stderr).contains(part), "{args:?}: {}", text(&out.stderr));
    }
}
