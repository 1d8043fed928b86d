//! Tests reports that the command writes: a browser must show the same numbers that the command prints.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::browser::{between, browser, render, render_at, table, words};
use crate::frames::fits;
use crate::{QUERY, common, embedded, is_well_made, shows_its_json};

/// The maximum page size in bytes. Larger pages would be slow to send and to open. The list of games, limited to 1,000 games,
/// takes up most of a page.
const BYTES_MAX: usize = 1_300_000;

fn scan(query: &str, games: &Path, more: &[&str]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    let output = command.args(["scan", query, "--quiet"]).arg(games).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn json(out: &[u8]) -> Value {
    serde_json::from_slice(out).unwrap()
}

/// Returns the report of a search, as HTML and as JSON. Checks that it is small and contains no path of this machine.
fn report(query: &str, games: &Path) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    scan(query, games, &["-o", file.to_str().unwrap()]);
    let html = std::fs::read_to_string(&file).unwrap();
    for place in [games.parent().unwrap(), folder.path()] {
        assert!(!html.contains(place.to_str().unwrap()), "{query}: {place:?}");
    }
    assert!(html.len() < BYTES_MAX, "{query}: {} bytes", html.len());
    is_well_made(&html);
    let findings = json(embedded(&html).as_bytes());
    (html, findings)
}

fn sample() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("games/sample.pgn")
}

#[test]
fn a_browser_shows_the_report_of_a_search() {
    let browser = browser();
    let corpus = common::corpus_if_any().map(|folder| folder.join("otb.pgn"));
    for games in [Some(sample()), corpus].into_iter().flatten() {
        let (html, findings) = report(QUERY, &games);
        let shown = render(browser, &html, &[]);
        assert_eq!(shown.console, Vec::<String>::new());
        shows_its_json(&shown.dom);
        let printed = json(&scan(QUERY, &games, &["--heat", "--format", "jsonl"]));
        assert_eq!(findings["orbit"]["heat"], printed["maps"][0]);
        assert_eq!(findings["squares"], printed["maps"][1]);
        assert_eq!(findings["orbit"]["symmetries"], printed["symmetries"]);
        // A report lists at most a hundred copies.
        let (listed, hit) = (&findings["orbit"]["copies"], &findings["orbit"]["copies_hit"]);
        assert!(hit.as_u64() > Some(100) && listed.as_array().unwrap().len() == 100, "{hit}");
        let count = json(&scan(QUERY, &games, &["--count", "--format", "jsonl"]));
        assert_eq!(findings["totals"], count);
        // The counts for the two colours must add up to the counts for both colours.
        for (apart, both) in [("heat_by_color", "heat"), ("squares_by_color", "squares")] {
            let of = |map: &Value| {
                map["counts"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>()
            };
            let (all, parts) = if both == "heat" {
                (&findings["orbit"][both], &findings["orbit"][apart])
            } else {
                (&findings[both], &findings[apart])
            };
            let parts: Vec<Vec<u64>> = parts.as_array().unwrap().iter().map(of).collect();
            assert_eq!(parts.len(), 2, "{both}");
            let sums: Vec<u64> =
                (0..parts[0].len()).map(|cell| parts.iter().map(|part| part[cell]).sum()).collect();
            assert_eq!(sums, of(all), "{both}");
        }
    }
}

/// The page must have the sections that suit the query, and must fit on a phone.
#[test(part = 2)]
fn reports_fit_their_queries_and_phones() {
    let browser = browser();
    for (query, sections) in [
        (QUERY, &["summary", "sample", "games", "pattern", "board", "groups", "about"][..]),
        ("power A - power a", &["summary", "sample", "games", "values", "about"]),
        ("stalemate", &["summary", "sample", "games", "groups", "about"]),
        (
            "flipcolor line --> check --> check --> check",
            &["summary", "sample", "games", "values", "groups", "about"],
        ),
        ("Ka1 & kh8 & Qb8 & Rc8", &["summary", "misses", "pattern", "about"]),
    ] {
        let (html, findings) = report(query, &sample());
        let found = between(&html, "<section id=\"", "\"");
        assert_eq!(found, sections, "{query}");
        // The query must be shown only once, either as the headline or in its own box.
        let body = html.split_once("<body>").unwrap().1;
        let header = between(body, "<header>", "</header>")[0];
        let shown = between(header, "<code>", "</code>").into_iter().map(words);
        assert_eq!(shown.filter(|shown| shown == query).count(), 1, "{header}");
        if let Some(values) = findings["values"]["steps"]["rows"].as_array() {
            assert!(values.len() == 1 || html.contains("aria-labelledby=\"bars-values-title"), "{query}");
        }
        shows_its_json(&html);
        fits(browser, &html, None);
    }
    // Each grouping by number ranges must have a chart.
    let (html, _) = report("power A - power a", &sample());
    let charts = between(&html, "aria-labelledby=\"means-", "-title");
    assert_eq!(charts, ["year", "ply"]);
}

/// A row's button must copy the same FEN that the search prints.
#[test]
fn buttons_copy_the_fen_of_the_row() {
    let browser = browser();
    let (html, findings) = report(QUERY, &sample());
    let rows = String::from_utf8(scan(QUERY, &sample(), &["--format", "jsonl"])).unwrap();
    let rows: Vec<Value> = rows.lines().map(|line| json(line.as_bytes())).collect();
    let hits = findings["sample"].as_array().unwrap();
    let fens: Vec<&str> = hits
        .iter()
        .map(|hit| {
            let row = rows.iter().find(|row| row["game"] == hit["game"] && row["ply"] == hit["ply"]).unwrap();
            assert_eq!(row["next"].as_str().unwrap_or_default(), hit["next"].as_str().unwrap_or_default());
            row["fen"].as_str().unwrap()
        })
        .collect();
    assert_eq!(fens.len(), 24);
    let written: Vec<String> = between(&html, "data-fen=\"", "\"").into_iter().map(words).collect();
    assert_eq!(written, fens);
    // The clipboard is replaced inside a frame, so that the page around the frame receives the copied text. Without a clipboard,
    // the page uses another way to copy, and shows if it worked.
    let around = r#"<!DOCTYPE html><meta charset="utf-8"><pre id="answer">nothing</pre><script>
        const frame = document.createElement("iframe"), copied = [];
        frame.srcdoc = PAGE;
        frame.onload = async () => {
            const inside = frame.contentWindow;
            Object.defineProperty(inside.navigator, "clipboard", { configurable: true, value: {
                writeText: async text => { copied.push(text); } } });
            const buttons = [...inside.document.querySelectorAll("button[data-fen]")];
            const hidden = buttons.filter(button => button.hidden).length;
            for (const button of buttons) button.click();
            await new Promise(done => setTimeout(done, 100));
            const says = [...new Set(buttons.map(button => button.textContent))];
            document.getElementById("answer").textContent = JSON.stringify({ copied, hidden, says });
        };
        document.body.append(frame);
        </script>"#;
    let quoted = serde_json::to_string(&html).unwrap().replace('<', "\\u003c");
    let shown = render(browser, &around.replace("PAGE", &quoted), &["--virtual-time-budget=10000"]);
    let answer = words(between(&shown.dom, "<pre id=\"answer\">", "</pre>")[0]);
    let answer: Value =
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {:?}", shown.console));
    assert_eq!(answer["hidden"], 0, "{answer}");
    assert_eq!(answer["copied"], serde_json::json!(fens), "{answer}");
    assert_eq!(answer["says"], serde_json::json!(["Copied"]), "{answer}");
}

/// If there are no hits, the page shows the hit counts of similar queries. These counts must equal those of searches for the
/// similar queries.
#[test]
fn the_nearest_misses_are_counted() {
    for (query, least) in [("{Ka1 Ka2}", 5), ("Ka1 & kh8 & Qb8 & Rc8", 9), ("flip {mate stalemate}", 2)] {
        let (html, findings) = report(query, &sample());
        assert!(html.contains("None of the 87,461 positions of 1,000 games matches the query."), "{query}");
        let tried = findings["misses"]["tried"].as_array().unwrap();
        assert!(tried.len() >= least, "{query}: {tried:?}");
        assert_eq!(findings["misses"]["positions"], findings["totals"]["positions"]);
        let mut hit = 0;
        for (miss, row) in tried.iter().zip(table(&html, "tried")) {
            let text = miss["query"].as_str().unwrap();
            let count = json(&scan(text, &sample(), &["--count", "--format", "jsonl"]));
            assert_eq!(
                (&miss["games_hit"], &miss["positions_hit"]),
                (&count["games_hit"], &count["positions_hit"]),
                "{text}"
            );
            assert_eq!(row[0], format!("{} {text}", miss["change"].as_str().unwrap()));
            hit += u32::from(miss["positions_hit"].as_u64() > Some(0));
        }
        assert!(hit > 0, "{query}: {tried:?}");
    }
    // A report with hits runs no other queries, and a query without parts has no similar queries.
    assert_eq!(report("mate", &sample()).1["misses"], Value::Null);
    assert_eq!(report("mate stalemate and false", &sample()).1["misses"]["is_whole"], true);
}

/// The list of games must open without a script. Its links must lead to boards, including collapsed ones.
#[test]
fn the_list_leads_to_boards() {
    let browser = browser();
    let (html, findings) = report("flipcolor {Bh7 kg8}", &sample());
    let around = r##"<!DOCTYPE html><meta charset="utf-8"><pre id="answer">nothing</pre><script>
        const frame = document.createElement("iframe");
        frame.sandbox = "allow-same-origin";
        frame.style = "width: 800px; height: 600px";
        frame.srcdoc = PAGE;
        frame.onload = async () => {
            const inside = frame.contentDocument, list = inside.querySelector("details.games");
            const height = () => list.getBoundingClientRect().height;
            const answer = { open: list.open, folded: height(), rows: list.querySelectorAll("tbody tr").length };
            const summary = list.querySelector("summary");
            summary.focus();
            answer.focus = inside.activeElement == summary;
            summary.click();
            await new Promise(done => setTimeout(done, 100));
            answer.unfolded = height();
            const links = [...list.querySelectorAll("a")], board = link => inside.querySelector(link.hash);
            answer.links = links.map(link => [link.textContent, board(link).querySelector(".source").textContent]);
            document.getElementById("answer").textContent = JSON.stringify(answer);
        };
        document.body.append(frame);
        </script>"##;
    let quoted = serde_json::to_string(&html).unwrap().replace('<', "\\u003c");
    let shown = render(browser, &around.replace("PAGE", &quoted), &["--virtual-time-budget=10000"]);
    let answer = words(between(&shown.dom, "<pre id=\"answer\">", "</pre>")[0]);
    let answer: Value =
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {:?}", shown.console));
    assert_eq!((answer["open"].as_bool(), answer["focus"].as_bool()), (Some(false), Some(true)), "{answer}");
    assert_eq!(answer["rows"], findings["games"].as_array().unwrap().len());
    let [folded, unfolded] = ["folded", "unfolded"].map(|name| answer[name].as_f64().unwrap());
    assert!(folded < 50.0 && unfolded > folded + 200.0, "{answer}");
    let links = answer["links"].as_array().unwrap();
    assert_eq!(links.len(), findings["sample"].as_array().unwrap().len());
    for link in links {
        assert!(
            link[1].as_str().unwrap().starts_with(&format!("game {}, ", link[0].as_str().unwrap())),
            "{link}"
        );
    }
    // A link to a collapsed board expands the board.
    let last = format!("sample-{}", links.len() - 1);
    for (id, is_open) in [("sample-0", false), (&last, true)] {
        let shown = render_at(browser, &html, id, &["--virtual-time-budget=5000"]);
        assert_eq!(shown.dom.contains("<details class=\"more\" open=\"\">"), is_open, "{id}");
    }
}
