//! Tests reports: the title, the sentence below it, the results, and the selection of shown positions.

use std::collections::HashMap;
use std::fs;
use std::mem;
use std::process::Command;

use serde_json::Value;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");

fn stdout(args: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_orbit")).arg("scan").args(args).output().unwrap();
    assert!(run.status.success(), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

/// Returns a report as HTML, and its findings.
fn report(args: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    stdout(&[args, &[SAMPLE, "--quiet", "-o", page.to_str().unwrap()]].concat());
    let html = fs::read_to_string(&page).unwrap();
    let findings = findings_of(&html);
    (html, findings)
}

/// Returns the findings in a page.
fn findings_of(html: &str) -> Value {
    let json = html.split_once("id=\"findings\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_page_has_a_title_and_the_sentence_of_explain() {
    let (html, findings) = report(&["check", "--title", "Checks & <more>"]);
    assert!(html.contains("<title>Checks &amp; &lt;more&gt;</title>"));
    assert!(html.contains("<h1 dir=\"auto\">Checks &amp; &lt;more&gt;</h1>"));
    let explained = Command::new(env!("CARGO_BIN_EXE_orbit")).args(["explain", "check"]).output().unwrap();
    let sentence = findings["sentence"].as_str().unwrap();
    assert!(!sentence.is_empty() && html.contains(&format!("{sentence}.</p>")));
    assert!(String::from_utf8(explained.stdout).unwrap().contains(&format!("{sentence}.")));
    assert_eq!(report(&["check"]).1["title"], "check");
}

#[test]
fn a_page_has_the_results_of_the_games_that_hit() {
    let (html, findings) = report(&["Qh5"]);
    let count = |result: &str| {
        let query = format!("Qh5 result \"{result}\"");
        let count: Value =
            serde_json::from_str(&stdout(&[&query, SAMPLE, "-q", "--count", "--format", "jsonl"])).unwrap();
        count["games_hit"].as_u64().unwrap()
    };
    let results = findings["results"].as_array().unwrap();
    for result in ["1-0", "1/2-1/2", "0-1"] {
        let found = results.iter().find(|found| found["result"] == result);
        assert_eq!(found.map_or(0, |found| found["games"].as_u64().unwrap()), count(result), "{result}");
    }
    assert!(count("1-0") > 0 && count("1-0") < findings["totals"]["games_hit"].as_u64().unwrap());
    assert!(html.contains("White won, drawn, Black won"));
}

/// The sample of a report consists of the first games in the search order. Each game is shown at the hit that determines its
/// place in this order.
#[test]
fn a_page_takes_its_sample_in_the_order_of_the_search() {
    let args = ["power A", "--where", "year>=2014", "--sort", "value"];
    let (html, findings) = report(&args);
    let rows = stdout(&[&args[..], &[SAMPLE, "-q", "--best", "-n", "24", "-F", "jsonl"]].concat());
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let hits = findings["sample"].as_array().unwrap();
    assert_eq!(hits.len(), 24);
    for (hit, row) in hits.iter().zip(&rows) {
        assert_eq!((&hit["game"], &hit["node"]), (&row["game"], &row["ply"]));
        assert_eq!(hit["value"].as_str().unwrap(), row["value"].to_string());
    }
    assert!(html.contains("The first 24 of the ") && !html.contains("at random"));
}

#[test]
fn a_page_is_seen_from_the_side_of_the_player() {
    let (html, findings) = report(&["check", "--player", "Carlsen,M"]);
    let hits = findings["sample"].as_array().unwrap();
    let flipped = hits.iter().filter(|hit| hit["is_flipped"] == true).count();
    assert!(flipped > 0 && flipped < hits.len(), "{flipped} of {}", hits.len());
    // A board shown from Black's side has its own labels for files and ranks.
    let drawn = html.matches("<text x=\"22.5\" y=\"375\">h</text>").count();
    assert_eq!(drawn, flipped);
    assert!(!report(&["check"]).0.contains("<text x=\"22.5\" y=\"375\">h</text>"));
}

/// The query matches at the start of the game, but the page must show the position that `find` found.
#[test]
fn a_page_shows_what_was_found_from_the_start() {
    let (_, findings) = report(&["initial find mate"]);
    let hits = findings["sample"].as_array().unwrap();
    assert!(!hits.is_empty());
    for hit in hits {
        assert!(hit["ply"].as_u64().unwrap() > 0 && hit["san"].as_str().unwrap().ends_with('#'), "{hit}");
    }
}

/// The list of games on the page must equal the list on standard output: each game with its number, players, result and hits.
#[test]
fn a_page_lists_the_games_that_hit() {
    let queries = [
        "shift flip flipcolor {Nd4 kf3}",
        "line --> check --> check --> check",
        "cql(matchcount 0) mate",
        "power A > 38",
    ];
    for args in queries.map(|query| [query, "--where", "year>=2014"]) {
        let (html, findings) = report(&args);
        let printed = stdout(&[&args[..], &[SAMPLE, "-q"]].concat());
        let mut lines = printed.lines();
        let games = findings["games"].as_array().unwrap();
        assert_eq!(findings["games_found"], games.len());
        for game in games {
            let line = lines.next().unwrap();
            let text = |field: &str| game[field].as_str().unwrap();
            assert!(
                line.trim_start().starts_with(&format!("{}  {}", game["game"], text("players"))),
                "{line}"
            );
            assert!(line.ends_with(&format!("  {}  ({})", text("moves"), game["hits"])), "{line}");
            assert!(
                line.contains(&format!("  {}  ", text("result"))) && line.contains(text("event")),
                "{line}"
            );
            for span in game["spans"].as_array().unwrap() {
                let line = lines.next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(line, span.as_str().unwrap());
            }
        }
        assert_eq!((lines.next(), games.is_empty()), (None, false));
        let summary = match games.len() {
            1 => "The game found".to_owned(),
            many => format!("All {many} games found"),
        };
        assert!(html.contains(&format!("<details class=\"games\"><summary>{summary}</summary>")), "{args:?}");
        // The number of a game that is in the sample links to the game's board.
        let boards: HashMap<u64, usize> = (0..)
            .zip(findings["sample"].as_array().unwrap())
            .map(|(index, hit)| (hit["game"].as_u64().unwrap(), index))
            .collect();
        for game in games {
            let number = game["game"].as_u64().unwrap();
            let link = boards.get(&number).map(|index| format!("<a href=\"#sample-{index}\">{number}</a>"));
            let cell = link.unwrap_or_else(|| number.to_string());
            assert!(html.contains(&format!("<tr><th scope=\"row\">{cell}</th>")), "{cell}");
        }
    }
}

/// The list of games in a report is cut at its limit and is in search order, whatever the number of threads.
#[test]
fn a_long_list_ends_with_the_number_of_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let [games, page] =
        ["twice.pgn", "page.html"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    // The comments make the games so long that a block (group of games) contains fewer games than the list.
    let comment = format!("\n\n{{{}}} 1. ", "-".repeat(1500));
    let sample = fs::read_to_string(SAMPLE).unwrap().replace("\n\n1. ", &comment);
    fs::write(&games, format!("{sample}\n{sample}")).unwrap();
    for order in [&[][..], &["--sort", "date"], &["--sort", "elo", "--reverse"]] {
        let mut pages = ["1", "3"].map(|threads| {
            stdout(&[&["true", &games, "-q", "-j", threads, "-o", &page], order].concat());
            fs::read_to_string(&page).unwrap()
        });
        assert!(pages[0] == pages[1], "{order:?}");
        let html = mem::take(&mut pages[0]);
        assert!(html.contains("<summary>The first 1,000 of 2,000 games found</summary>"));
        assert!(html.contains("<p>The list ends here: 1,000 more games were found.</p>"));
        let listed = findings_of(&html)["games"]
            .as_array()
            .unwrap()
            .iter()
            .map(|game| game["game"].to_string())
            .collect::<Vec<_>>();
        let printed = stdout(
            &[
                &["true", &games, "-q", "-n", "1000", "-F", "csv", "--rows", "games", "--columns", "game"],
                order,
            ]
            .concat(),
        );
        assert_eq!(listed, printed.lines().skip(1).collect::<Vec<_>>(), "{order:?}");
    }
}

/// If the groups of a grouping are names, they have no chart. The report then shows the table that `--stats` prints.
#[test]
fn groups_of_names_are_tables() {
    let args = [
        "flipcolor {Bb5 nc6 pd7 btm}",
        "--stats",
        "next:2,year,opening-name,next*year,source,result,least=3",
    ];
    let (html, findings) = report(&args);
    let printed = stdout(&[&args[..], &["-q", SAMPLE]].concat());
    let printed: Vec<&str> = printed.split("\n\n").collect();
    let tables = findings["tables"].as_array().unwrap();
    assert_eq!(
        tables.iter().map(|table| &table["name"]).collect::<Vec<_>>(),
        ["next:2", "opening-name", "source"]
    );
    for ((k, table), printed) in tables.iter().enumerate().zip([printed[0], printed[2], printed[4]]) {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lines = std::iter::once(&table["headings"]).chain(table["rows"].as_array().unwrap());
        let shown: Vec<Vec<String>> = lines
            .map(|cells| {
                cells.as_array().unwrap().iter().flat_map(|cell| words(cell.as_str().unwrap())).collect()
            })
            .collect();
        assert_eq!(shown, printed.lines().map(words).collect::<Vec<_>>());
        assert!(html.contains(&format!("<table id=\"groups-{k}\">")));
    }
    assert!(!report(&["mate", "--stats", "year"]).0.contains("groups-0"));
}

/// The command that a page shows must produce the same page again, even in another folder and if the query is spelled
/// differently.
#[cfg(unix)]
#[test]
fn a_page_has_the_command_that_makes_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::copy(SAMPLE, path("the games.pgn")).unwrap();
    fs::write(path("q.cql"), "// a 'comment'\nflipcolor\n{Bh7 kg8}\n").unwrap();
    let lines: [&[&str]; 10] = [
        &["check", "-n", "5", "--no-reel", "-j", "2", "--title", "It's <all>"],
        &["-e", "--(o-o)", "--first", "--no-spans", "-w", "elo>=2500", "-w", "event~'x' or year>2000"],
        &["-f", &path("q.cql"), "--seed", "7"],
        &["--theme", "greek-gift", "--unique"],
        &["--board", "8/8/8/8/3N4/5k2/8/8", "--flipcolor", "--shift"],
        &["--similar", "8/8/8/4k3/4P3/4K3/8/8", "--flipcolor"],
        &["--at", "e4 c5 Nf3", "--sample", "3"],
        &["--at", "e4 c5 Nf3", "--stats", "next:2,year,least=3"],
        &["mate", "--player", "Carlsen", "--as", "white", "--sort", "date", "--reverse"],
        &["sort \"men\" #A > 12", "--engine", "reference", "--best"],
    ];
    for args in lines {
        stdout(&[args, &[&path("the games.pgn"), "-q", "-o", &path("first.html")]].concat());
        let first = fs::read_to_string(path("first.html")).unwrap();
        let findings = findings_of(&first);
        let text = |field: &str| findings[field].as_str().unwrap().to_owned();
        let line = text("command");
        assert!(line.starts_with("orbit scan ") && line.ends_with(" 'the games.pgn'"), "{line}");
        let outputs = text("command_outputs");
        let outputs = outputs.strip_prefix("-o report.html").unwrap();
        let script = format!("orbit() {{ \"$ORBIT\" \"$@\"; }}\n{line} -q -o again.html{outputs}");
        let mut again = Command::new("sh");
        again.args(["-c", &script]).current_dir(folder.path()).env("ORBIT", env!("CARGO_BIN_EXE_orbit"));
        let run = again.output().unwrap();
        assert!(run.status.success(), "{script}: {}", String::from_utf8_lossy(&run.stderr));
        assert!(fs::read_to_string(path("again.html")).unwrap() == first, "{line}");
    }
}

/// The `sort` filter of a query determines the sample of a report, the hit that represents each game, and the order of the list.
#[test]
fn a_page_shows_what_the_query_sorts_by() {
    for (query, sign) in [("check sort \"men\" #A", -1), ("check sort min \"men\" #A", 1)] {
        let (html, findings) = report(&[query]);
        let rows = stdout(&[query, SAMPLE, "-q", "-F", "jsonl", "--columns", "game,ply,value"]);
        let cells = |row: &str| {
            let row: Value = serde_json::from_str(row).unwrap();
            ["game", "ply", "value"].map(|column| row[column].as_i64().unwrap())
        };
        let mut rows: Vec<[i64; 3]> = rows.lines().map(cells).collect();
        // Among hits of a game with equal values, the first one represents the game. Among games with equal values, the first
        // game comes first.
        rows.sort_by_key(|&[game, ply, value]| (game, sign * value, ply));
        rows.dedup_by_key(|row| row[0]);
        rows.sort_by_key(|&[game, _, value]| (sign * value, game));
        let sorts = |value: i64| serde_json::json!([{ "name": "men", "value": value.to_string() }]);
        let (hits, games) = (findings["sample"].as_array().unwrap(), findings["games"].as_array().unwrap());
        assert_eq!((hits.len(), games.len()), (24, rows.len()));
        for (hit, &[game, ply, value]) in hits.iter().zip(&rows) {
            assert_eq!((hit["game"].as_i64(), hit["ply"].as_i64()), (Some(game), Some(ply)), "{query}");
            assert_eq!(hit["sorts"], sorts(value));
        }
        for (game, &[number, _, value]) in games.iter().zip(&rows) {
            assert_eq!((game["game"].as_i64(), &game["sorts"]), (Some(number), &sorts(value)));
        }
        assert!(html.contains("in the order of the query, with one position of each"));
        assert!(html.contains(&format!("<p><bdi>men</bdi> <code>{}</code></p>", rows[0][2])));
    }
    // A `sort` filter without a name is called `sort`. The option `--sort` overrides the query.
    assert_eq!(report(&["check sort #A"]).1["games"][0]["sorts"][0]["name"], "sort");
    let (html, findings) = report(&["check sort #A", "--sort", "date"]);
    assert!(html.contains("in the order of the search"));
    assert_eq!(findings["games"][0]["sorts"], serde_json::json!([]));
}
