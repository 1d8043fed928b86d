//! Tests the HTML report, with and without a browser.

#[macro_use]
extern crate attribute;

mod browser;
#[path = "../common/mod.rs"]
mod common;
mod frames;
mod made;
mod searches;

use std::collections::HashMap;
use std::process::ExitCode;

use browser::{between, browser, render, table, words};
use frames::fits;
use orbit_search::report::{
    findings::Findings,
    page::page,
    svg::{PALETTE, heat_map_file, percent},
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

fn main() -> ExitCode {
    common::harness::main()
}

const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";

/// Returns the JSON that a page contains.
fn embedded(html: &str) -> &str {
    let found = between(html, "<script type=\"application/json\" id=\"findings\">", "</script>");
    assert_eq!(found.len(), 1);
    found[0]
}

/// Returns true if a page contains the findings as JSON, byte for byte except for `<`, which could end a script and is escaped.
fn holds(html: &str, findings: &Findings) -> bool {
    embedded(html).replace("\\u003c", "<") == serde_json::to_string(findings).unwrap()
}

/// Returns a number as pages show it.
fn grouped(number: &Value) -> String {
    orbit_search::report::grouped(number.as_u64().unwrap())
}

fn shared(share: &Value) -> String {
    share.as_f64().map_or("-".into(), percent)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks that a page shows the values of its embedded JSON.
fn shows_its_json(html: &str) {
    let json: Value = serde_json::from_str(embedded(html)).unwrap();
    let tiles: Vec<String> = between(html, "<dd>", "</dd>").into_iter().map(words).collect();
    let totals = &json["totals"];
    for (name, unit) in [("games", " games"), ("positions", " positions")] {
        let (all, hit) = (&totals[name], &totals[format!("{name}_hit")]);
        let start = format!("{}of {}{unit}", grouped(hit), grouped(all));
        assert!(tiles.iter().any(|tile| tile.starts_with(&start)), "{start}: {tiles:?}");
    }
    let orbit = &json["orbit"];
    let has_copies = orbit["copies_total"].as_u64().is_some_and(|copies| copies > 1);
    if has_copies && !orbit["copies"].as_array().is_none_or(Vec::is_empty) {
        let wanted = orbit["copies"].as_array().unwrap().iter().map(|copy| {
            let [number, positions] = ["copy", "positions"].map(|name| grouped(&copy[name]));
            [number, positions, text(&copy["text"]), text(&copy["transform"]), place(copy)].to_vec()
        });
        assert_eq!(table(html, "copies"), wanted.collect::<Vec<_>>());
    }
    for name in ["symmetries", "colors"] {
        let Some(sums) = orbit[name].as_array() else { continue };
        if sums.len() > 1 {
            let wanted = sums
                .iter()
                .map(|sum| [text(&sum["transform"]), grouped(&sum["copies"]), grouped(&sum["positions"])]);
            let shown =
                table(html, name).into_iter().map(|row| [row[0].clone(), row[1].clone(), row[2].clone()]);
            assert_eq!(shown.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
        }
    }
    shows_maps(html, "heat", &orbit["heat"], &orbit["heat_by_color"]);
    shows_maps(html, "squares", &json["squares"], &json["squares_by_color"]);
    shows_misses(html, &json);
    shows_sample(html, json["sample"].as_array().unwrap(), has_copies);
    shows_games(html, &json);
    if let Some(groups) = json["values"]["groups"].as_array() {
        let wanted = groups.iter().map(|group| {
            let [grouping, label] = ["grouping", "label"].map(|name| text(&group[name]));
            let mean = format!("{:.2}", group["value_mean"].as_f64().unwrap());
            let [least, most] = ["value_min", "value_max"].map(|name| group[name].to_string());
            [grouping, label, grouped(&group["positions"]), mean, least, most].to_vec()
        });
        let shown = table(html, "values-table");
        let shown = shown.iter().map(|row| [0, 1, 2, 3, 4, 10].map(|column| row[column].clone()).to_vec());
        assert_eq!(shown.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    }
    for (k, histogram) in json["histograms"].as_array().unwrap().iter().enumerate() {
        let rows = histogram["rows"].as_array().unwrap().iter().map(|row| {
            let counts = ["games", "games_hit", "positions", "positions_hit"].map(|name| grouped(&row[name]));
            let shares = ["share", "low", "high"].map(|name| shared(&row[name]));
            [vec![text(&row["label"])], counts.to_vec(), shares.to_vec()].concat()
        });
        assert_eq!(table(html, &format!("histogram-{k}")), rows.collect::<Vec<_>>());
    }
    for (k, groups) in json["tables"].as_array().into_iter().flatten().enumerate() {
        let rows = groups["rows"].as_array().unwrap().iter();
        let rows = rows.map(|row| row.as_array().unwrap().iter().map(text).collect::<Vec<_>>());
        assert_eq!(table(html, &format!("groups-{k}")), rows.collect::<Vec<_>>());
    }
}

/// Checks a heat map, or the two maps, one per colour, that replace it. A map with hits in only one or two cells must not be on
/// the page.
fn shows_maps(html: &str, id: &str, map: &Value, by_color: &Value) {
    let apart = by_color.as_array().into_iter().flatten().enumerate();
    let apart: Vec<_> = apart.map(|(k, map)| (format!("{id}-{k}"), map)).collect();
    let both = (!map.is_null() && apart.is_empty()).then(|| (id.to_owned(), map));
    assert_eq!(
        html.contains(&format!("<table id=\"{id}\">")),
        both.as_ref().is_some_and(|(_, map)| is_drawn(map))
    );
    for (id, map) in both.into_iter().chain(apart).filter(|(_, map)| is_drawn(map)) {
        shows_map(html, &id, map);
    }
}

fn is_drawn(map: &Value) -> bool {
    map["counts"].as_array().unwrap().iter().filter(|count| count.as_u64() > Some(0)).count() > 2
}

/// Checks that a page without hits says so and shows the hits of similar queries.
fn shows_misses(html: &str, json: &Value) {
    let is_hit = json["totals"]["games_hit"].as_u64() > Some(0);
    assert_eq!(html.contains("<section id=\"misses\""), !is_hit);
    if let Some(tried) = json["misses"]["tried"].as_array() {
        let wanted = tried.iter().map(|miss| {
            let [games, positions] = ["games_hit", "positions_hit"].map(|name| grouped(&miss[name]));
            [format!("{} {}", text(&miss["change"]), text(&miss["query"])), games, positions].to_vec()
        });
        assert_eq!(table(html, "tried"), wanted.collect::<Vec<_>>());
    }
}

/// Checks that every hit of the sample is shown with its game and its place in the game.
fn shows_sample(html: &str, sample: &[Value], has_copies: bool) {
    let list = between(html, "<ol class=\"sample\" start=", "</ol>");
    let shown: Vec<&str> = list.iter().flat_map(|list| between(list, "<li>", "</li>")).collect();
    assert_eq!(shown.len(), sample.len());
    for (shown, hit) in shown.iter().zip(sample) {
        let caption = words(between(shown, "<figcaption>", "</figcaption>")[0]);
        let game = format!("game {}, ply {} ", grouped(&hit["game"]), grouped(&hit["ply"]));
        let [white, black] = ["white", "black"].map(|side| match text(&hit[side]) {
            none if none.is_empty() => "?".into(),
            name => name,
        });
        let players = format!("{white} – {black} {}", text(&hit["result"]));
        for part in [game.as_str(), &players, &text(&hit["fen"]), &text(&hit["source"])] {
            assert!(caption.contains(part), "{part}: {caption}");
        }
        // A single copy (transformed pattern) is the query itself, so it is not shown.
        let copy = if has_copies { &hit["copy"] } else { &Value::Null };
        let parts = [&hit["next"], &hit["value"], copy, &hit["span"]["moves"]];
        let moves = ["before", "after"].into_iter().flat_map(|side| hit["moves"][side].as_array().unwrap());
        for part in parts.into_iter().filter(|part| !part.is_null()).chain(moves) {
            assert!(caption.contains(&text(part)), "{part}: {caption}");
        }
        // The button copies the position of its row.
        let buttons: Vec<String> = between(shown, "data-fen=\"", "\"").into_iter().map(words).collect();
        assert_eq!(buttons, [hit["fen"].as_str().unwrap()]);
        if let Some(last) = hit["moves"]["before"].as_array().unwrap().last() {
            assert!(
                shown.contains(&format!("<strong>{}</strong> <span class=\"here\"", text(last))),
                "{shown}"
            );
        }
    }
}

/// Checks the list of games in a report, and the links from it to the boards of the sample.
fn shows_games(html: &str, json: &Value) {
    let games = json["games"].as_array().unwrap();
    assert_eq!(html.contains("<section id=\"games\""), !games.is_empty());
    if games.is_empty() {
        return;
    }
    let (is_sorted, has_sources) = (
        games.iter().any(|game| game["sorts"] != Value::Array(Vec::new())),
        json["sources"].as_array().unwrap().len() > 1,
    );
    let wanted = games.iter().map(|game| {
        let list = |field: &str| game[field].as_array().unwrap().clone();
        let sorts = list("sorts").into_iter();
        let sorts = sorts.map(|sort| format!("{} {}", text(&sort["name"]), text(&sort["value"])));
        let spans = list("spans").into_iter();
        let moves = spans.fold(text(&game["moves"]), |moves, span| format!("{moves} {}", text(&span)));
        let mut row = vec![grouped(&game["game"])];
        row.extend(is_sorted.then(|| sorts.collect::<Vec<_>>().join(", ")));
        row.extend(["players", "result", "date", "event"].map(|field| text(&game[field])));
        row.extend([grouped(&game["hits"]), moves.trim().to_owned()]);
        row.extend(has_sources.then(|| text(&game["source"])));
        row
    });
    assert_eq!(table(html, "games-table"), wanted.collect::<Vec<_>>());
    let rest = json["games_found"].as_u64().unwrap() - games.len() as u64;
    assert_eq!(html.contains("<p>The list ends here: "), rest > 0);
    let sample = json["sample"].as_array().unwrap();
    for (index, hit) in sample.iter().enumerate() {
        let is_listed = games.iter().any(|game| game["game"] == hit["game"]);
        assert_eq!(html.contains(&format!("<a href=\"#sample-{index}\">")), is_listed, "{hit}");
    }
}

fn place(copy: &Value) -> String {
    match (&copy["anchor"], &copy["offset"]) {
        (Value::String(square), _) => square.clone(),
        (_, Value::Array(steps)) => {
            format!("{:+} {:+}", steps[0].as_i64().unwrap(), steps[1].as_i64().unwrap())
        }
        _ => "-".into(),
    }
}

/// Checks the table of a heat map. Its rows start at the top of the board, whereas those in the JSON start at the bottom.
fn shows_map(html: &str, id: &str, map: &Value) {
    let side = map["side"].as_u64().unwrap() as usize;
    let counts: Vec<String> = map["counts"].as_array().unwrap().iter().map(grouped).collect();
    let wanted: Vec<&[String]> = counts.chunks(side).rev().collect();
    let shown = table(html, id);
    assert_eq!(shown.iter().map(|row| &row[1..]).collect::<Vec<_>>(), wanted, "{id}");
    // The cell titles in the picture must have the same counts as the table.
    let picture = between(html, &format!("aria-labelledby=\"{id}-map-title {id}-map-desc\">"), "</svg>")[0];
    let mut told: Vec<String> = between(picture, "<g><title>", "</title>")
        .iter()
        .map(|title| title.rsplit(": ").next().unwrap().to_owned())
        .collect();
    told.reverse();
    let mut wanted: Vec<String> = counts.chunks(side).rev().flatten().cloned().collect();
    wanted.reverse();
    let by_rows = |list: &[String]| list.chunks(side).rev().flatten().cloned().collect::<Vec<_>>();
    assert_eq!(by_rows(&told), wanted, "{id}");
}

/// Checks that the page contains the mandatory parts and no forbidden ones.
fn is_well_made(html: &str) {
    assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{}", &html[..80]);
    let script = between(html, "<script>", "</script>");
    let hash = base64(&Sha256::digest(script[0]));
    let policy =
        format!("content=\"default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'");
    assert!(
        html.contains(&policy),
        "the hash in crates/search/src/report/page.rs is not that of the script: sha256-{hash}"
    );
    assert_eq!(html.matches("<script").count(), 2, "the data, and the script that copies FENs");
    for address in ["src=", "<link", "@import", "url(", "<img", "<iframe", " onclick", "javascript:"] {
        assert!(!html.contains(address), "{address}");
    }
    let mut ids = HashMap::new();
    between(html, " id=\"", "\"").into_iter().for_each(|id| *ids.entry(id).or_insert(0) += 1);
    ids.iter().for_each(|(id, times)| assert_eq!(*times, 1, "{id}"));
    for named in between(html, "aria-labelledby=\"", "\"").into_iter().flat_map(|names| names.split(' ')) {
        assert!(ids.contains_key(named), "{named}");
    }
    for target in between(html, "href=\"#", "\"") {
        assert!(ids.contains_key(target), "#{target}");
    }
    // Every picture must have a name. Every table must have a caption, and its headings must have a scope.
    assert_eq!(html.matches("role=\"img\"").count() + 1, html.matches("<svg").count());
    assert_eq!(html.matches("<table").count(), html.matches("<caption>").count());
    assert_eq!(html.matches("<th ").count(), html.matches("<th scope=").count());
    assert!(!html.contains("<th>"));
    // Links must not reveal the page from which they are followed.
    let links = between(html, "<a ", ">").into_iter().filter(|link| link.contains("href=\"https:"));
    links.for_each(|link| assert!(link.contains("rel=\"noopener noreferrer\""), "{link}"));
}

/// Returns bytes as base64. Source: RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| {
        let number = (0..3).fold(0u32, |sum, k| sum << 8 | u32::from(*bytes.get(k).unwrap_or(&0)));
        let letter = |k: usize| char::from(LETTERS[(number >> (18 - 6 * k)) as usize % 64]);
        (0..4).map(|k| if k <= bytes.len() { letter(k) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn base64_is_that_of_the_standard() {
    for (bytes, text) in [("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
        assert_eq!(base64(bytes.as_bytes()), text);
    }
}

#[test]
fn a_page_shows_the_numbers_of_its_json() {
    let nothing = Findings::default();
    for findings in [made::rich(QUERY), made::rich("shift {R[a1,a2] kb1-2}"), made::empty(), nothing] {
        let html = page(&findings);
        is_well_made(&html);
        shows_its_json(&html);
        assert!(holds(&html, &findings));
        assert_eq!(html.contains("<details class=\"games\"><summary>"), !findings.games.is_empty());
        assert!(html == page(&findings), "equal findings make equal bytes");
    }
}

#[test]
fn names_are_text_whatever_they_hold() {
    let html = page(&made::rich(QUERY));
    for part in
        ["Knights &amp; &lt;kings&gt;", "O'Kelly &lt;de Galway&gt;", "&lt;/script&gt;&lt;script&gt;alert(1)"]
    {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("<de Galway") && !html.contains("<script>alert"));
    assert!(!html.contains("href=\"http://"), "only encrypted links");
    assert_eq!(html.matches("href=\"https://lichess.org/abcd").count(), 4);
    assert_eq!(
        html.matches("href=\"https://lichess.org/analysis/").count(),
        5,
        "all FENs but one that is none"
    );
}

#[test]
fn boards_light_what_matched() {
    let html = page(&made::rich(QUERY));
    // The page has boards for the pattern, for 12 copies and for six hits.
    assert_eq!(html.matches("class=\"board\"").count(), 19);
    assert_eq!(html.matches("class=\"lit\"").count(), 7);
    // The labels of files and ranks are defined once and reused by the boards. The class `names` determines their colour.
    assert_eq!(html.matches("<use href=\"#board-names\">").count(), 7);
    assert!(
        html.contains("<g id=\"board-names\"><g class=\"names\"") && PALETTE.contains("svg text, .names {")
    );
    let first = between(&html, "aria-labelledby=\"hit-0-title hit-0-desc\">", "</svg>")[0];
    assert!(first.contains("; lit: f6 g8; arrows: g8-h8 f6-h7 a1-b1</desc>"), "{first}");
    assert_eq!(
        (first.matches("class=\"arrow first\"").count(), first.matches("class=\"arrow\"").count()),
        (1, 2)
    );
}

#[test]
fn a_table_is_read_as_it_stands() {
    let html = "<table id=\"t\"><tbody><tr><th scope=\"row\">a &lt;b&gt;</th><td><data>1</data>,\n 2</td></tr></tbody></table>";
    assert_eq!(table(html, "t"), [["a <b>", "1, 2"]]);
}

/// Returns the contrast ratio of two colours by the W3C's definition. Source:
/// <https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio>.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let luminance = |color: [f64; 3]| {
        let [r, g, b] = color.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn colors(css: &str) -> HashMap<String, [f64; 3]> {
    let lines =
        css.lines().filter_map(|line| line.trim().strip_prefix("--")?.strip_suffix(';')?.split_once(": #"));
    let channel =
        |hex: &str, k: usize| f64::from(u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).unwrap()) / 255.0;
    lines.map(|(name, hex)| (name.to_owned(), [0, 1, 2].map(|k| channel(hex, k)))).collect()
}

#[test]
fn text_can_be_read_in_light_and_dark() {
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    let (light, dark) = PALETTE.split_once("@media").unwrap();
    for palette in [colors(light), colors(dark)] {
        let ratio = |a: &str, b: &str| contrast(palette[a], palette[b]);
        let mut pairs =
            vec![("ink", "paper"), ("faint", "paper"), ("ink", "level-0"), ("on-none", "level-0")];
        let levels: Vec<String> = (1..=8).map(|level| format!("level-{level}")).collect();
        pairs.extend(levels[..4].iter().map(|level| ("on-few", level.as_str())));
        pairs.extend(levels[4..].iter().map(|level| ("on-many", level.as_str())));
        for (text, ground) in pairs {
            assert!(ratio(text, ground) >= 4.5, "{text} on {ground}: {}", ratio(text, ground));
        }
        for (mark, ground) in [
            ("bar", "paper"),
            ("lit-ring", "lit"),
            ("lit-ring", "light-square"),
            ("area", "light-square"),
            ("arrow", "light-square"),
            ("arrow-edge", "arrow"),
        ] {
            assert!(ratio(mark, ground) >= 3.0, "{mark} on {ground}: {}", ratio(mark, ground));
        }
        // The levels of a heat map must be ordered by their contrast with the page.
        let from_paper: Vec<f64> = levels.iter().map(|level| ratio(level, "paper")).collect();
        assert!(from_paper.is_sorted(), "{from_paper:?}");
    }
}

#[test]
fn a_heat_map_is_a_file_of_its_own() {
    let findings = made::rich(QUERY);
    let file = heat_map_file(findings.orbit.unwrap().heat.as_ref().unwrap());
    assert!(file.starts_with(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\""
    ));
    assert!(file.contains(".level-8 {") && file.ends_with("</svg>\n"));
}

#[test(part = 2)]
fn a_browser_shows_the_page() {
    let browser = browser();
    let all = [made::rich(QUERY), made::rich("shift {R[a1,a2] kb1-2}"), made::empty()];
    for (k, findings) in all.iter().enumerate() {
        let html = page(findings);
        if let Some(folder) = browser::kept() {
            std::fs::write(folder.join(format!("page-{k}.html")), &html).unwrap();
        }
        let shown = render(browser, &html, &[]);
        assert_eq!(shown.console, Vec::<String>::new());
        shows_its_json(&shown.dom);
        assert!(holds(&shown.dom, findings));
        let boards = |html: &str| html.matches("class=\"board\"").count();
        assert_eq!(boards(&shown.dom), boards(&html));
        // The boards of the sample have seven highlighted squares, one of which is empty.
        fits(browser, &html, Some(if findings.sample.is_empty() { 0 } else { 6 }));
    }
}

/// Checks that the tests of this file would notice the faults that they look for, when these are put into a page.
#[test(part = 1)]
fn a_browser_tells_what_is_wrong() {
    let browser = browser();
    let html = page(&made::rich(QUERY));
    for (what, part) in [
        ("a script", "<script>document.title = 'run'</script></body>"),
        ("an image from elsewhere", "<img alt=\"\" src=\"https://example.invalid/x.png\"></body>"),
    ] {
        let broken = html.replace("</body>", part);
        assert_ne!(broken, html);
        let shown = render(browser, &broken, &[]);
        assert!(
            shown.console.iter().any(|line| line.contains("Content Security Policy")),
            "{what}: {:?}",
            shown.console
        );
        assert!(!shown.dom.contains("<title>run"));
    }
}
