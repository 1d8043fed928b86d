//! Reports: title, sentence, results, and which positions they show.

use std::fs;
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
    let json = html.split_once("id=\"findings\">").unwrap().1.split_once("</script>").unwrap().0;
    let findings = serde_json::from_str(json).unwrap();
    (html, findings)
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

/// The sample has the first games of the order, each by the hit that gives it its place.
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
    // A board with Black at the bottom draws its own names of files and ranks.
    let drawn = html.matches("<text x=\"22.5\" y=\"375\">h</text>").count();
    assert_eq!(drawn, flipped);
    assert!(!report(&["check"]).0.contains("<text x=\"22.5\" y=\"375\">h</text>"));
}

/// The query hits at the start of the game; the page shows the position that it found.
#[test]
fn a_page_shows_what_was_found_from_the_start() {
    let (_, findings) = report(&["initial find mate"]);
    let hits = findings["sample"].as_array().unwrap();
    assert!(!hits.is_empty());
    for hit in hits {
        assert!(hit["ply"].as_u64().unwrap() > 0 && hit["san"].as_str().unwrap().ends_with('#'), "{hit}");
    }
}
