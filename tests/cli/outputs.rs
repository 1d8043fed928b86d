//! Tests the outputs of a scan: the selection of games, tables, files and pictures, and the output paths.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::corpus;
use serde_json::Value;

const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";

fn scan(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orbit")).arg("scan").args(args).env_remove("NO_COLOR").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn stdout(args: &[&str]) -> String {
    let output = scan(args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn sample() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn")
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn objects(jsonl: &str) -> Vec<Value> {
    jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The sum of the matching copies (transformed patterns) over all hits must equal the sum of the hits over all copies, which
/// `--copies` reports.
#[test(part = 3)]
fn copies_of_hits_are_those_that_are_counted() {
    for (query, copies) in [
        (QUERY, 672),
        ("notransform flip {Nd4 kf3}", 1),
        ("flip {notransform Rd1}", 1),
        ("flip 2 8 Rd1", 8),
        ("flip count check", 1),
        ("flip count Ra1", 4),
        ("flip 2 4 Ra1", 4),
        ("{Nf3 kg8}", 1),
    ] {
        let counted =
            &objects(&stdout(&[query, sample(), "-q", "--copies", "--format", "jsonl"]))[0]["copies"];
        let counted = counted.as_array().unwrap();
        assert_eq!(counted.len(), copies, "{query}");
        let mut sums = vec![0; copies];
        let (mut none, mut several) = (0, 0);
        for row in objects(&stdout(&[query, sample(), "-q", "--format", "jsonl"])) {
            let found = row["copies"].as_u64().unwrap_or(0);
            several += found;
            match row["copy"].as_u64() {
                Some(copy) => {
                    sums[copy as usize - 1] += 1;
                    assert_eq!(row["pattern"], counted[copy as usize - 1]["text"], "{query}");
                }
                None => none += 1,
            }
            assert_eq!(row["copy"].is_u64(), found > 0, "{query}: {row}");
        }
        let total: u64 = counted.iter().map(|copy| copy["positions"].as_u64().unwrap()).sum();
        assert_eq!(several, total, "{query}");
        assert!(total > 0, "{query}");
        for (sum, copy) in sums.iter().zip(counted) {
            assert!(*sum <= copy["positions"].as_u64().unwrap(), "{query}");
        }
        assert_eq!(none > 0, query.contains("count"), "{query}");
        let heat = &objects(&stdout(&[query, sample(), "-q", "--heat", "--format", "jsonl"]))[0];
        if let Some(kinds) = heat["symmetries"].as_array() {
            let hits: u64 = kinds.iter().map(|kind| kind["positions"].as_u64().unwrap()).sum();
            assert_eq!(hits, total, "{query}");
        }
    }
}

/// All output files of a run must have the same contents as standard output in the same format.
#[test]
fn files_say_what_standard_output_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let files = ["h.txt", "h.jsonl", "h.csv", "h.epd", "h.fen", "h.jsonl.zst", "h.svg", "h.html"].map(path);
    let mut args = vec![QUERY, sample(), "--quiet"];
    files.iter().for_each(|file| args.extend(["-o", file]));
    assert_eq!(stdout(&args), "", "nothing is printed beside files");
    assert_eq!(names(folder.path()).len(), files.len(), "{:?}", names(folder.path()));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    for (name, format) in
        [("h.txt", "text"), ("h.jsonl", "jsonl"), ("h.csv", "csv"), ("h.epd", "epd"), ("h.fen", "fen")]
    {
        assert_eq!(read(name), stdout(&[QUERY, sample(), "--quiet", "--format", format]), "{format}");
    }
    let packed = fs::File::open(folder.path().join("h.jsonl.zst")).unwrap();
    assert_eq!(text(&zstd::decode_all(packed).unwrap()), read("h.jsonl"));
    let objects = objects(&read("h.jsonl"));
    let fens: Vec<&str> = objects.iter().map(|object| object["fen"].as_str().unwrap()).collect();
    assert!(fens.len() > 300, "{}", fens.len());
    assert_eq!(read("h.fen").lines().collect::<Vec<_>>(), fens);
    let mut table = csv::Reader::from_path(folder.path().join("h.csv")).unwrap();
    let heads = table.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), objects.len());
    for (record, object) in records.iter().zip(&objects) {
        for (name, cell) in heads.iter().zip(record) {
            match &object[name] {
                Value::Null if name == "white" => assert_eq!(cell, object["tags"]["White"].as_str().unwrap()),
                Value::Null => {}
                Value::String(text) => assert_eq!(cell, text, "{name}"),
                Value::Bool(true) => assert_eq!(cell, "", "{name}"),
                Value::Array(squares) => {
                    let squares: Vec<&str> = squares.iter().map(|square| square.as_str().unwrap()).collect();
                    assert_eq!(cell, squares.join(" "), "{name}");
                }
                // Another test compares the squares in `matched`, so here only the numbers of pieces are compared.
                Value::Object(pieces) => assert_eq!(cell.split(' ').count(), pieces.len(), "{name}"),
                other => assert_eq!(cell, other.to_string(), "{name}"),
            }
        }
    }
    // A single-threaded run must print the same bytes as the run with the default number of threads.
    let again = stdout(&[QUERY, sample(), "--quiet", "--format", "jsonl", "--threads", "1"]);
    assert!(again == read("h.jsonl"));
}

/// The counts in a report must equal those that the command prints.
#[test]
fn a_page_counts_as_the_scan_does() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    stdout(&[QUERY, sample(), "--quiet", "-o", page.to_str().unwrap(), "--where", "year>=2014"]);
    let html = fs::read_to_string(&page).unwrap();
    let start = html.find("id=\"findings\">").unwrap() + "id=\"findings\">".len();
    let end = start + html[start..].find("</script>").unwrap();
    let findings: Value = serde_json::from_str(&html[start..end]).unwrap();
    let run = |args: &[&str]| -> Value {
        let mut all = vec![QUERY, sample(), "--quiet", "--where", "year>=2014", "--format", "jsonl"];
        all.extend(args);
        serde_json::from_str(&stdout(&all)).unwrap()
    };
    let count = run(&["--count"]);
    let totals = &findings["totals"];
    assert_eq!(
        (&totals["games_hit"], &totals["positions_hit"]),
        (&count["games_hit"], &count["positions_hit"])
    );
    assert!(totals["games"].as_u64() < count["games"].as_u64());
    let copies = run(&["--copies"]);
    let counts: Vec<u64> =
        copies["copies"].as_array().unwrap().iter().map(|copy| copy["positions"].as_u64().unwrap()).collect();
    assert_eq!(findings["orbit"]["copies_total"], counts.len());
    assert_eq!(findings["orbit"]["copies_hit"], counts.iter().filter(|count| **count > 0).count());
    for copy in findings["orbit"]["copies"].as_array().unwrap() {
        assert_eq!(copy["positions"], counts[copy["copy"].as_u64().unwrap() as usize - 1]);
    }
    let cells = findings["orbit"]["heat"]["counts"].as_array().unwrap();
    assert_eq!(cells.len(), 64);
    assert_eq!(cells.iter().map(|cell| cell.as_u64().unwrap()).sum::<u64>(), counts.iter().sum::<u64>());
    assert_eq!(findings["sample"].as_array().unwrap().len(), 24);
    for hit in findings["sample"].as_array().unwrap() {
        assert_eq!(hit["lit"].as_array().unwrap().len(), 2, "a knight and a king: {hit}");
    }
}

#[test]
fn choosing_chooses() {
    let plain = |args: &[&str]| {
        let mut all = vec![QUERY, sample(), "--quiet", "--format", "plain"];
        all.extend(args);
        stdout(&all).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = plain(&[]);
    let game = |line: &String| line.split(' ').next().unwrap().to_owned();
    let games = |lines: &[String]| {
        let mut games: Vec<String> = lines.iter().map(game).collect();
        games.dedup();
        games
    };
    let first: Vec<String> = all
        .iter()
        .enumerate()
        .filter(|(k, line)| *k == 0 || game(&all[k - 1]) != game(line))
        .map(|(_, line)| line.clone())
        .collect();
    assert_eq!(plain(&["--first"]), first);
    assert_eq!(games(&plain(&["--skip", "3", "--limit", "4"])), games(&all)[3..7]);
    assert_eq!(games(&plain(&["--skip", "100000"])), [] as [&str; 0]);
    // The two conditions, written in CQL, must find the same hits.
    let where_white = plain(&["--where", "result=1-0", "--where", "year>2013"]);
    let with_cql = stdout(&[
        "{result 1-0 year > 2013 shift flip flipcolor {Nd4 kf3}}",
        sample(),
        "--quiet",
        "--format",
        "plain",
    ]);
    assert_eq!(where_white, with_cql.lines().collect::<Vec<_>>());
    assert!(!where_white.is_empty() && where_white.len() < all.len());
    let sampled = plain(&["--sample", "10"]);
    assert_eq!(games(&sampled).len(), 10);
    assert_ne!(sampled, plain(&["--sample", "10", "--seed", "1"]));
    let none = scan(&[QUERY, sample(), "--where", "white=Nobody", "--fail-if-none"]);
    assert_eq!(none.status.code(), Some(1), "{}", text(&none.stderr));
}

/// Samples and orders must not depend on the number of threads, the engine, or the division of games into files.
#[test(part = 3)]
fn samples_and_orders_are_the_same_everywhere() {
    let corpus = corpus();
    let folder = tempfile::tempdir().unwrap();
    let whole = corpus.join("otb.pgn");
    let bytes = fs::read(&whole).unwrap();
    let starts: Vec<usize> = memchr::memmem::find_iter(&bytes, b"\n[Event \"").map(|at| at + 1).collect();
    let mut cuts: Vec<usize> = (1..10).map(|part| starts[part * starts.len() / 10]).collect();
    cuts.push(bytes.len());
    let mut from = 0;
    let mut parts = Vec::new();
    for (part, end) in cuts.into_iter().enumerate() {
        let path = folder.path().join(format!("{part}.pgn"));
        fs::write(&path, &bytes[from..end]).unwrap();
        parts.push(path.to_str().unwrap().to_owned());
        from = end;
    }
    let reel = folder.path().join("otb.reel");
    let index = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .arg("index")
        .arg(&whole)
        .arg("-o")
        .arg(&reel)
        .output()
        .unwrap();
    assert!(index.status.success());
    let whole = whole.to_str().unwrap();
    for choosing in [
        &["--sample", "20", "--seed", "7"][..],
        &["--sort", "elo", "--limit", "20"],
        &["--sort", "date", "--reverse", "--limit", "20", "--skip", "5"],
        &["--sort", "value", "--limit", "20"],
    ] {
        for query in ["shift flip flipcolor {Nd4 kf3}", "flip flipcolor #(P attackedby n) > 1"] {
            let run = |more: &[&str]| {
                let mut args = vec![query, "--quiet", "--format", "plain"];
                args.extend(choosing);
                args.extend(more);
                stdout(&args)
            };
            let expected = run(&[whole, "--threads", "1"]);
            assert!(expected.lines().count() >= 20, "{choosing:?} {query}: {expected}");
            assert_eq!(run(&[whole, "--threads", "2"]), expected, "{choosing:?} {query}");
            assert_eq!(run(&[reel.to_str().unwrap()]), expected, "{choosing:?} {query}");
            let ten: Vec<&str> = parts.iter().map(String::as_str).collect();
            assert_eq!(run(&ten), expected, "ten files: {choosing:?} {query}");
            if std::env::var_os("ORBIT_GPU_REQUIRED").is_some() {
                assert_eq!(run(&[whole, "--engine", "gpu"]), expected, "gpu: {choosing:?} {query}");
            }
            // The column widths of the format `text` do not depend on the files in these runs, so their lines can be compared.
            let lines = |more: &[&str]| {
                let mut args = vec![query, "--quiet", "--format", "text"];
                args.extend(choosing);
                args.extend(more);
                stdout(&args)
            };
            assert_eq!(lines(&ten), lines(&[whole]), "{choosing:?} {query}");
        }
    }
}

#[test]
fn a_tag_that_no_game_has_is_told_where_nothing_fits() {
    let told = |condition: &str| {
        let output = scan(&["Nf3", sample(), "--count", "--where", condition]);
        assert!(output.status.success());
        text(&output.stderr)
    };
    let hint = "`tag:MyOwnTag=1` needs a tag `MyOwnTag`: check its spelling, and whether the games have it";
    assert!(told("tag:MyOwnTag=1").contains(hint), "{}", told("tag:MyOwnTag=1"));
    // The sample's games have no tag Opening.
    for condition in ["opening~Najdorf", "tag:Opening=Najdorf"] {
        let stderr = told(condition);
        let hint = "compares a tag: `opening-name` compares the opening that orbit recognises by the moves";
        assert!(stderr.contains(&format!("`{condition}` {hint}")), "{stderr}");
    }
    for fine in ["white~NobodyOfThisName", "tag:MyOwnTag!=1"] {
        assert!(!told(fine).contains("needs a tag"), "{fine}: {}", told(fine));
    }
}

/// The reader closes the pipe for messages early, as in `orbit scan ... 2>&1 | head`.
#[test]
fn messages_that_nobody_reads_harm_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hits.csv");
    let file = file.to_str().unwrap();
    for (args, code) in [
        (&["scan", QUERY, sample(), "--progress", "json", "-v", "-o", file][..], 0),
        (&["scan", "Nf3", sample(), "--sort", "value", "--count"], 2),
        (&["batch", "catalogue", sample()], 0),
        (&["scan", "{Nf3", sample()], 2),
        (&["scan", "Nf3", "nosuch.pgn"], 2),
        (&["info", "nosuch.reel"], 2),
        (&["nosuch"], 2),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        let mut orbit =
            command.args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("orbit is built");
        drop(orbit.stderr.take());
        assert_eq!(orbit.wait().unwrap().code(), Some(code), "{args:?}");
    }
    assert!(fs::metadata(file).unwrap().len() > 1_000);
}

/// A chart shows at most a hundred bars. If there are more years, the page shows decades instead.
#[test]
fn pages_show_decades_of_many_years() {
    let folder = tempfile::tempdir().unwrap();
    for (years, name, groups) in [(100, "year", 100), (101, "decade", 11)] {
        let games: String =
            (0..years).map(|year| format!("[Date \"{}.??.??\"]\n\n1. e4 *\n\n", 1900 + year)).collect();
        let [pgn, html] = ["years.pgn", "years.html"].map(|name| folder.path().join(name));
        fs::write(&pgn, games).unwrap();
        stdout(&["Pe4", pgn.to_str().unwrap(), "-q", "-o", html.to_str().unwrap()]);
        let html = fs::read_to_string(html).unwrap();
        let json = html.split_once("id=\"findings\">").unwrap().1.split_once("</script>").unwrap().0;
        let histogram = &objects(json)[0]["histograms"][0];
        assert_eq!(histogram["name"], name);
        assert_eq!(histogram["rows"].as_array().unwrap().len(), groups);
        let last = if years == 100 { "1999" } else { "2000-2009" };
        assert_eq!(histogram["rows"][groups - 1]["label"], last);
    }
}

#[test]
fn heat_is_where_hits_are() {
    let out = stdout(&[QUERY, sample(), "--quiet", "--heat"]);
    assert!(out.contains("of 672 copies hit"), "{out}");
    assert!(out.contains("colours swapped") && out.contains("as written"), "{out}");
    let rows =
        out.lines().filter(|line| line.trim_start().starts_with(|first: char| ('1'..='8').contains(&first)));
    assert!(rows.count() >= 8, "{out}");
    assert!(!out.contains('\u{1b}'), "no colours where nobody looks");
    let none = stdout(&["check", sample(), "--quiet", "--heat"]);
    assert!(none.starts_with("no heat map"), "{none}");
    let svg = tempfile::tempdir().unwrap();
    let path = svg.path().join("x.svg");
    let failed = scan(&["check", sample(), "--quiet", "-o", path.to_str().unwrap()]);
    assert_eq!(failed.status.code(), Some(2));
    assert!(text(&failed.stderr).contains("no heat map"), "{}", text(&failed.stderr));
    assert_eq!(names(svg.path()), [] as [&str; 0]);
}

#[test]
fn what_cannot_be_written_is_told_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (file, part) in [
        (path("hits.doc"), "give a name that ends in"),
        (path("no/hits.csv"), "cannot be written"),
        (path("hits.csv.gz"), "give a name that ends in"),
        (String::from("/dev/full/hits.csv"), "cannot be written"),
    ] {
        let output = scan(&[QUERY, sample(), "-o", &file]);
        assert_eq!(output.status.code(), Some(2), "{file}");
        assert!(text(&output.stderr).contains(part), "{file}: {}", text(&output.stderr));
    }
    assert_eq!(names(folder.path()), [] as [&str; 0]);
    // The searched file must not be replaced by the games found in it, or by any other output.
    let (copy, reel, other) = (path("copy.pgn"), path("copy.reel"), path("other.pgn"));
    fs::write(&other, "1. e4 e5 *\n").unwrap();
    fs::copy(sample(), &copy).unwrap();
    let index = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .args(["index", "copy.pgn", "-o", "copy.reel"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(index.status.success());
    let before = (fs::read(&copy).unwrap(), fs::read(&reel).unwrap());
    for args in [
        &["scan", QUERY, &copy, "-o", &copy][..],
        &["scan", QUERY, &copy, "--stats", "result", "--stats-output", &copy],
        &["scan", QUERY, &copy, "--stats", "result", "--stats-output", &reel],
        &["scan", QUERY, &copy, "--problems", &copy],
        &["scan", QUERY, &reel, "--problems", &reel],
        &["scan", QUERY, &reel, "-o", &copy],
        &["batch", "catalogue", &copy, "-o", &copy],
        &["batch", "catalogue", &copy, "--problems", &copy],
        &["index", &copy, "-o", &path("new.reel"), "--problems", &copy],
        &["index", "--append", &other, "-o", &reel, "--problems", &reel],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_orbit")).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("write to another file"), "{args:?}: {}", text(&output.stderr));
        assert!((fs::read(&copy).unwrap(), fs::read(&reel).unwrap()) == before, "{args:?}");
    }
    assert_eq!(names(folder.path()), ["copy.pgn", "copy.reel", "other.pgn"]);
    for (args, part) in [
        (&["--where", "white>Carlsen"][..], "compares numbers and dates"),
        (&["--sort", "elo", "--sample", "3"], "--sort and --sample exclude each other"),
        (&["--sample", "3", "--limit", "3"], "leave out --limit"),
        (&["--reverse"], "give --sort with it"),
        (&["--first", "--best"], "--first and --best exclude each other"),
        (&["--count", "--sort", "elo"], "--sort chooses which games are listed"),
        (&["--count", "--sample", "3"], "--sample chooses which games are listed"),
    ] {
        let mut all = vec![QUERY, sample()];
        all.extend(args);
        let output = scan(&all);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(part), "{args:?}: {}", text(&output.stderr));
    }
}

/// Corpus files of different kinds: tournament games, problems, server games with clocks and evaluations, and studies.
const ROUND_TRIPS: [&str; 4] = ["otb.pgn", "fen.pgn", "dev-online-eval-clk", "dev-studies-annotated"];

/// Returns true if the text `marked` is `plain` with comments inserted. A comment may have a blank before or after it.
fn is_marked(marked: &[u8], plain: &[u8], comment: &str) -> bool {
    let mark = format!("{{{comment}}}").into_bytes();
    let (mut i, mut j, mut after) = (0, 0, false);
    while i < marked.len() {
        let is_mark = |at: usize| marked.get(at..).is_some_and(|rest| rest.starts_with(&mark));
        if is_mark(i) {
            (i, after) = (i + mark.len(), true);
        } else if marked[i] == b' ' && is_mark(i + 1) && plain.get(j) != Some(&b' ') {
            i += 1;
        } else if plain.get(j) == Some(&marked[i]) {
            after &= marked[i] == b' ';
            (i, j) = (i + 1, j + 1);
        } else if marked[i] == b' ' && (after || is_mark(i + 1)) {
            (i, after) = (i + 1, false);
        } else {
            return false;
        }
    }
    j == plain.len()
}

/// Games with hits that were written as PGN must have hits at the same plies when searched again, from PGN and from reels (packed
/// games), with comments and without.
#[test(part = 0)]
fn games_that_hit_make_the_round_trip() {
    let corpus = corpus();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let hits = |lines: String| -> Vec<(usize, String)> {
        // In the written files, game numbers count only the games with hits.
        let (mut number, mut last) = (0, String::new());
        lines
            .lines()
            .map(|line| {
                let (game, ply) = line.split_once(' ').unwrap();
                number += usize::from(game != last);
                last = game.to_owned();
                (number, ply.to_owned())
            })
            .collect()
    };
    for name in ROUND_TRIPS {
        let source = corpus.join(name);
        let source = source.to_str().unwrap();
        let reel = path("source.reel");
        let index =
            Command::new(env!("CARGO_BIN_EXE_orbit")).args(["index", source, "-o", &reel]).output().unwrap();
        assert!(index.status.success(), "{}", text(&index.stderr));
        for query in [QUERY, "{wtm check}"] {
            let plain = ["--quiet", "--format", "plain"];
            let expected = hits(stdout(&[query, source, plain[0], plain[1], plain[2]]));
            assert!(expected.len() > 5, "{name}: {query}");
            let (as_they_are, marked, packed, copies) =
                (path("plain.pgn"), path("marked.pgn"), path("packed.pgn.zst"), path("copies.pgn"));
            for from in [source, &reel] {
                stdout(&[query, from, "--quiet", "-o", &as_they_are]);
                stdout(&[query, from, "--quiet", "-o", &marked, "-o", &packed, "--comment=HERE"]);
                stdout(&[query, from, "--quiet", "-o", &copies, "--comment"]);
                for written in [&as_they_are, &marked, &packed, &copies] {
                    let again = hits(stdout(&[query, written, plain[0], plain[1], plain[2]]));
                    assert!(again == expected, "{from} {query} {written}");
                }
                let (plain_text, marked_text) = (fs::read(&as_they_are).unwrap(), fs::read(&marked).unwrap());
                assert!(is_marked(&marked_text, &plain_text, "HERE"), "{from} {query}");
                assert!(!is_marked(&marked_text, &plain_text[..plain_text.len() - 1], "HERE"));
                assert_eq!(memchr::memmem::find_iter(&marked_text, b"{HERE}").count(), expected.len());
                if !name.ends_with(".pgn") {
                    continue;
                }
                // Every game that was written without comments must occur in the source, byte for byte.
                let source_text = fs::read(source).unwrap();
                let mut at = 0;
                for game in games(&plain_text) {
                    let found = memchr::memmem::find(&source_text[at..], game);
                    at += found.unwrap_or_else(|| panic!("{from} {query}: {}", text(game)));
                }
            }
            // The studies are excluded from this comparison, because their own comments look like the comments that the program
            // inserts.
            if name.ends_with(".pgn") {
                let copies = fs::read(&copies).unwrap();
                assert_eq!(memchr::memmem::find(&copies, b"{(N").is_some(), query == QUERY, "{name}");
            }
        }
    }
}

/// Splits the text of written games into single games. Each game begins with the same tag as the first one.
fn games(text: &[u8]) -> Vec<&[u8]> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(memchr::memmem::find_iter(text, b"\n[Event \"").map(|at| at + 1))
        .chain([text.len()])
        .collect();
    starts.windows(2).map(|pair| text[pair[0]..pair[1]].trim_ascii_end()).collect()
}

#[test]
fn a_source_that_changed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (source, reel, out) = (path("games.pgn"), path("games.reel"), path("out.pgn"));
    fs::copy(sample(), &source).unwrap();
    let index =
        Command::new(env!("CARGO_BIN_EXE_orbit")).args(["index", &source, "-o", &reel]).output().unwrap();
    assert!(index.status.success(), "{}", text(&index.stderr));
    let changed = fs::read_to_string(&source).unwrap().replacen("1. ", "1.  ", 1);
    fs::write(&source, changed).unwrap();
    let output = scan(&[QUERY, &reel, "-o", &out]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("changed since"), "{}", text(&output.stderr));
    fs::remove_file(&source).unwrap();
    let output = scan(&[QUERY, &reel, "-o", &out]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is not there any more"), "{}", text(&output.stderr));
    // Outputs that do not need the games' text must still work, and no incomplete file may be left behind.
    assert!(stdout(&[QUERY, &reel, "--quiet", "--count"]).contains("games hit 354"));
    assert_eq!(names(folder.path()), ["games.reel"]);
    let comment = scan(&[QUERY, sample(), "--comment"]);
    assert!(
        text(&comment.stderr).contains("--comment needs games to write into"),
        "{}",
        text(&comment.stderr)
    );
}

/// Games must also be written if they come from standard input, which can be read only once, or from position lists, which are
/// not PGN.
#[test]
fn games_are_written_from_streams_and_lists() {
    use std::io::Write as _;
    let run = |bytes: &[u8], args: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_orbit"))
            .arg("scan")
            .args(args)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        output.stdout
    };
    let bytes = fs::read(sample()).unwrap();
    let args = [QUERY, "-", "--quiet", "--format", "pgn", "--limit", "7", "--skip", "2"];
    assert_eq!(
        text(&run(&bytes, &args)),
        stdout(&[QUERY, sample(), args[2], args[3], args[4], args[5], args[6], args[7], args[8]])
    );
    let epd = b"8/8/8/8/3N4/5k2/8/K7 w - - hmvc 3; fmvn 40; id \"one\";\n8/8/8/8/8/5k2/8/K7 w - -\n";
    let written = run(epd, &[QUERY, "-", "--quiet", "--format", "pgn", "--comment=x"]);
    let written = text(&written);
    assert!(written.contains("[FEN \"8/8/8/8/3N4/5k2/8/K7 w - - 3 40\"]"), "{written}");
    assert!(written.contains("[Event \"one\"]") && written.trim_end().ends_with("{x} *"), "{written}");
}

/// An interrupted run must leave no files, neither outputs nor temporary files.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_file() {
    use std::io::{BufRead as _, BufReader, Write as _};
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let files = ["h.pgn", "h.csv", "h.html", "h.jsonl.zst"].map(path);
    let mut args = vec!["scan", QUERY, "-", "--format", "plain", "--quiet"];
    files.iter().for_each(|file| args.extend(["-o", file]));
    let mut child = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .args(&args)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let games = fs::read(sample()).unwrap();
    let feed = std::thread::spawn(move || while stdin.write_all(&games).is_ok() {});
    // The first hits have been printed, so the output files are being written now.
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    assert!(names(folder.path()).len() == files.len(), "{:?}", names(folder.path()));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    std::io::copy(&mut out, &mut std::io::sink()).unwrap();
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(names(folder.path()), [] as [&str; 0], "{}", text(&output.stderr));
}

/// Output files must be written completely even if the reader of standard output closes the pipe.
#[cfg(unix)]
#[test]
fn a_broken_pipe_ends_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("hits.csv");
    for format in ["plain", "jsonl", "pgn", "csv"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_orbit"))
            .args(["scan", QUERY, sample(), "--quiet", "--format", format, "-o"])
            .arg(&csv)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{format}: {}", text(&output.stderr));
        assert_eq!(csv::Reader::from_path(&csv).unwrap().records().count(), 633, "{format}");
        assert_eq!(names(folder.path()), ["hits.csv"]);
    }
    // The statistics file must also be complete.
    let stats = folder.path().join("stats.csv");
    for format in ["plain", "pgn"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_orbit"))
            .args([
                "scan",
                QUERY,
                sample(),
                "--quiet",
                "--format",
                format,
                "--stats",
                "year",
                "--stats-output",
            ])
            .arg(&stats)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert!(child.wait().unwrap().success(), "{format}");
        assert!(csv::Reader::from_path(&stats).unwrap().records().count() > 5);
        fs::remove_file(&stats).unwrap();
        assert_eq!(names(folder.path()), ["hits.csv"]);
    }
}

/// The output file is a link to a device on which every write fails, as on a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["h.csv", "h.pgn", "h.html", "h.jsonl.zst"] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let output = scan(&[QUERY, sample(), "--quiet", "-o", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", text(&output.stderr));
        let message = text(&output.stderr);
        assert!(message.contains(name) && message.contains("make room"), "{name}: {message}");
    }
    let stats = folder.path().join("stats.csv");
    std::os::unix::fs::symlink("/dev/full", &stats).unwrap();
    let output =
        scan(&[QUERY, sample(), "--quiet", "--stats", "year", "--stats-output", stats.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("make room"), "{}", text(&output.stderr));
}

/// The output in one format must not depend on the other formats that the run writes.
#[test]
fn every_format_shows_the_same_games() {
    let folder = tempfile::tempdir().unwrap();
    let games: String =
        [(2000, "2001.01.01"), (2500, "1999.01.01"), (2250, "2020.05.05"), (2600, "1990.??.??")]
            .iter()
            .enumerate()
            .map(|(k, (elo, date))| {
                format!(
                    "[Event \"{k}\"]\n[Date \"{date}\"]\n[WhiteElo \"{elo}\"]\n\
                 [FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - {k} 2{k}\"]\n\n1. e{} *\n\n",
                    3 + k % 2
                )
            })
            .collect();
    let path = folder.path().join("games.pgn");
    fs::write(&path, games).unwrap();
    let path = path.to_str().unwrap();
    for choosing in
        [&["--sort", "elo", "--limit", "2"][..], &["--sort", "date"], &["--sample", "2"], &["--first"]]
    {
        let run = |format: &str| {
            let mut args = vec!["P", path, "--quiet", "--format", format];
            args.extend(choosing);
            stdout(&args)
        };
        let objects = objects(&run("jsonl"));
        let list = |name: &str| {
            objects.iter().map(|object| object[name].as_str().unwrap()).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(run("fen").trim_end(), list("fen"), "{choosing:?}");
        let plies: Vec<String> =
            objects.iter().map(|object| format!("{} {}", object["game"], object["ply"])).collect();
        assert_eq!(run("plain").trim_end(), plies.join("\n"), "{choosing:?}");
        let values: Vec<String> = plies
            .iter()
            .zip(&objects)
            .map(|(ply, object)| format!("{ply} {}", object["squares"][0].as_str().unwrap()))
            .collect();
        assert_eq!(run("values").trim_end(), values.join("\n"), "{choosing:?}");
        // If the position list (FEN) is read again, the positions keep their move counters.
        let list = folder.path().join("list.fen");
        fs::write(&list, run("fen")).unwrap();
        assert_eq!(stdout(&["P", list.to_str().unwrap(), "--quiet", "--format", "fen"]), run("fen"));
    }
    let by_elo = stdout(&["P", path, "--quiet", "--format", "plain", "--first", "--sort", "elo"]);
    assert_eq!(by_elo, "4 0\n2 0\n3 0\n1 0\n");
    // Sampling treats equal games as one game.
    let twice = folder.path().join("twice.pgn");
    fs::write(&twice, fs::read_to_string(path).unwrap().repeat(3)).unwrap();
    let sample =
        stdout(&["P", twice.to_str().unwrap(), "--quiet", "--format", "plain", "--first", "--sample", "9"]);
    assert_eq!(sample, "1 0\n2 0\n", "two of the four games differ in nothing but their tags from others");
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    for (args, part) in [
        (&["stalemate", "--sort", "value"][..], "needs a query whose value is a number or a set of squares"),
        (&[QUERY, "--count", "--format", "pgn"], "choose --format text, csv or jsonl"),
        (&[QUERY, "--heat", "--format", "epd"], "choose --format text, csv or jsonl"),
        (&["check", "-o", "/nowhere/x.svg"], "cannot be written"),
        (&["check", "--rows", "games"], "--rows is for tables"),
        (&["check", "--rows", "games", "--format", "jsonl", "--count"], "--rows is for tables"),
        (&["check", "--all-plies", "--stats", "year"], "--all-plies is for lists"),
        (&["check", "--rows", "games", "--format", "plain", "-o", "/nowhere/x.pgn"], "--rows is for tables"),
        (&["check", "--all-plies", "--format", "csv"], "--all-plies is for lists"),
        (&["check", "--all-plies", "-o", "/nowhere/x.html"], "--all-plies is for lists"),
        (&["check", "--comment", "-o", "/nowhere/x.csv"], "--comment needs games to write into"),
        (
            &["check", "--stats", "year", "--limit", "3"],
            "--limit chooses which games are listed, but --stats",
        ),
        (
            &["check", "--stats", "year", "--skip", "3", "-n", "3"],
            "leave out --skip, or choose --format text",
        ),
        (&["check", "--stats", "year", "-n", "3", "-o", "/nowhere/x.html"], "--limit chooses which games"),
        (&["--similar", "8/8/8/8/8/8/8/K7", "--stats", "year"], "--similar chooses which games are listed"),
    ] {
        let mut all = args.to_vec();
        all.push(sample());
        let output = scan(&all);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(part), "{args:?}: {}", text(&output.stderr));
    }
    for args in [&["-F", "plain"][..], &["--count"], &["-o", "-"]] {
        let output = scan(&[&["mate", "--stats", "year", "-n", "3", sample()], args].concat());
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    }
    let folder = tempfile::tempdir().unwrap();
    let (query, hits) = (folder.path().join("q.cql"), folder.path().join("h.csv"));
    fs::write(&query, "stalemate").unwrap();
    let (query, hits) = (query.to_str().unwrap(), hits.to_str().unwrap());
    for args in [
        &["-f", query, sample(), "--problems", query][..],
        &["stalemate", sample(), "-o", hits, "-o", hits],
        &["stalemate", sample(), "-o", hits, "--problems", hits],
        &["stalemate", sample(), "-o", hits, "--stats", "year", "--stats-output", hits],
    ] {
        let output = scan(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains("write to another file"), "{args:?}: {}", text(&output.stderr));
    }
    assert_eq!(fs::read_to_string(query).unwrap(), "stalemate");
    let heat: Value =
        serde_json::from_str(&stdout(&[QUERY, sample(), "--quiet", "--heat", "--format", "jsonl"])).unwrap();
    assert_eq!(heat["maps"].as_array().unwrap().len(), 2);
}
