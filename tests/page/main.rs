//! The HTML report: without a browser, and in one.

#[macro_use]
extern crate attribute;

mod browser;
#[path = "../common/mod.rs"]
mod common;
mod made;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use browser::{between, browser, render, table, words};
use orbit_chess::internals::report::{
    findings::Findings,
    page::page,
    svg::{PALETTE, heat_map_file, percent},
};
use serde_json::Value;

fn main() -> ExitCode {
    common::harness::main()
}

const QUERY: &str = "shift flip flipcolor {Nd4 kf3}";

/// The JSON that a page holds.
fn embedded(html: &str) -> &str {
    let found = between(html, "<script type=\"application/json\" id=\"findings\">", "</script>");
    assert_eq!(found.len(), 1);
    found[0]
}

/// Whether a page holds findings, byte for byte but for the sign that could end a script.
fn holds(html: &str, findings: &Findings) -> bool {
    embedded(html).replace("\\u003c", "<") == serde_json::to_string(findings).unwrap()
}

/// Numbers as pages show them.
fn grouped(number: &Value) -> String {
    orbit_chess::internals::report::grouped(number.as_u64().unwrap())
}

fn shared(share: &Value) -> String {
    share.as_f64().map_or("-".into(), percent)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every number that a page shows is that of the JSON in it.
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
    if !orbit["copies"].as_array().is_none_or(Vec::is_empty) {
        let wanted = orbit["copies"].as_array().unwrap().iter().map(|copy| {
            let [number, positions] = ["copy", "positions"].map(|name| grouped(&copy[name]));
            [number, positions, text(&copy["text"]), text(&copy["transform"]), place(copy)].to_vec()
        });
        assert_eq!(table(html, "copies"), wanted.collect::<Vec<_>>());
    }
    for name in ["symmetries", "colors"] {
        let sums = orbit[name].as_array().unwrap();
        if sums.len() > 1 {
            let wanted = sums
                .iter()
                .map(|sum| [text(&sum["transform"]), grouped(&sum["copies"]), grouped(&sum["positions"])]);
            let shown =
                table(html, name).into_iter().map(|row| [row[0].clone(), row[1].clone(), row[2].clone()]);
            assert_eq!(shown.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
        }
    }
    for (id, map) in [("heat", &orbit["heat"]), ("squares", &json["squares"])] {
        if !map.is_null() {
            shows_map(html, id, map);
        }
    }
    shows_sample(html, json["sample"].as_array().unwrap());
    for (k, histogram) in json["histograms"].as_array().unwrap().iter().enumerate() {
        let rows = histogram["rows"].as_array().unwrap().iter().map(|row| {
            let counts = ["games", "games_hit", "positions", "positions_hit"].map(|name| grouped(&row[name]));
            let shares = ["share", "low", "high"].map(|name| shared(&row[name]));
            [vec![text(&row["label"])], counts.to_vec(), shares.to_vec()].concat()
        });
        assert_eq!(table(html, &format!("histogram-{k}")), rows.collect::<Vec<_>>());
    }
}

/// Every hit of the sample is told with its game and place.
fn shows_sample(html: &str, sample: &[Value]) {
    let list = between(html, "<ol class=\"sample\">", "</ol>");
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
        for part in [&hit["next"], &hit["value"], &hit["copy"], &hit["span"]["moves"]]
            .into_iter()
            .filter(|part| !part.is_null())
        {
            assert!(caption.contains(&text(part)), "{part}: {caption}");
        }
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

/// The table of a heat map has its rows from above, the JSON from below.
fn shows_map(html: &str, id: &str, map: &Value) {
    let side = map["side"].as_u64().unwrap() as usize;
    let counts: Vec<String> = map["counts"].as_array().unwrap().iter().map(grouped).collect();
    let wanted: Vec<&[String]> = counts.chunks(side).rev().collect();
    let shown = table(html, id);
    assert_eq!(shown.iter().map(|row| &row[1..]).collect::<Vec<_>>(), wanted, "{id}");
    // The picture has the same numbers, told to who points at a cell.
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

/// Parts that a page must have whatever it shows, and those that it must not have.
fn is_well_made(html: &str) {
    assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{}", &html[..80]);
    assert!(html.contains("content=\"default-src 'none'; style-src 'unsafe-inline'"));
    assert_eq!(html.matches("<script").count(), 1, "the data is the only script, and that does not run");
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
    // Every picture has a name; every table a caption and heads with a scope.
    assert_eq!(html.matches("role=\"img\"").count() + 1, html.matches("<svg").count());
    assert_eq!(html.matches("<table").count(), html.matches("<caption>").count());
    assert_eq!(html.matches("<th ").count(), html.matches("<th scope=").count());
    assert!(!html.contains("<th>"));
}

#[test]
fn a_page_shows_the_numbers_of_its_json() {
    for findings in [made::rich(QUERY), made::rich("shift {R[a1,a2] kb1-2}"), made::empty()] {
        let html = page(&findings);
        is_well_made(&html);
        shows_its_json(&html);
        assert!(holds(&html, &findings));
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
    assert_eq!(html.matches("href=\"https://lichess.org/").count(), 4);
}

#[test]
fn boards_light_what_matched() {
    let html = page(&made::rich(QUERY));
    // The pattern, 24 copies and six hits.
    assert_eq!(html.matches("class=\"board\"").count(), 31);
    assert_eq!(html.matches("class=\"lit\"").count(), 7);
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

/// Contrast as the W3C's guidelines define it. Source: <https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio>.
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
        // The scale goes one way.
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

#[test]
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
        fits(browser, findings);
    }
}

/// The report of a search by the command: a browser shows the numbers that the command prints.
#[test]
fn a_browser_shows_the_report_of_a_search() {
    let browser = browser();
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.html");
    let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("games/sample.pgn");
    let corpus = common::corpus_if_any().map(|folder| folder.join("otb.pgn"));
    for games in [Some(sample), corpus].into_iter().flatten() {
        let scan = |more: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
            let output = command.args(["scan", QUERY, "--quiet"]).arg(&games).args(more).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        scan(&["-o", report.to_str().unwrap()]);
        let shown = render(browser, &std::fs::read_to_string(&report).unwrap(), &[]);
        assert_eq!(shown.console, Vec::<String>::new());
        shows_its_json(&shown.dom);
        let findings: Value = serde_json::from_str(embedded(&shown.dom)).unwrap();
        let printed: Value = serde_json::from_slice(&scan(&["--heat", "--format", "jsonl"])).unwrap();
        assert_eq!(findings["orbit"]["heat"], printed["maps"][0]);
        assert_eq!(findings["squares"], printed["maps"][1]);
        assert_eq!(findings["orbit"]["symmetries"], printed["symmetries"]);
        let count: Value = serde_json::from_slice(&scan(&["--count", "--format", "jsonl"])).unwrap();
        assert_eq!(findings["totals"], count);
    }
}

/// A page in frames as narrow as phones, in which no script may run: nothing is wider than the frame, and all
/// is there.
fn fits(browser: &str, findings: &Findings) {
    let frames = r#"<!DOCTYPE html><pre id="answer">nothing</pre><script>
        const page = PAGE, answer = [];
        const widths = [320, 360, 768];
        for (const width of widths) {
            const frame = document.createElement("iframe");
            frame.style = `width: ${width}px; height: 800px; border: 0`;
            frame.sandbox = "allow-same-origin";
            frame.srcdoc = page;
            frame.onload = () => {
                const inside = frame.contentDocument;
                inside.querySelectorAll("details").forEach(details => details.open = true);
                let wide = [], count = 0, drawn = 0, lit = 0, smallest = 99, cut = [];
                const box = element => element.getBoundingClientRect();
                for (const element of inside.body.querySelectorAll("*")) {
                    const { left, right, width: breadth } = box(element);
                    count += 1;
                    if (element.tagName == "use" && breadth > 5) drawn += 1;
                    const scrolls = element.closest(".scroll table, pre code, .unseen, defs");
                    if (!scrolls && (right > width + 0.5 || left < -0.5)) wide.push(element.outerHTML.slice(0, 80));
                }
                for (const board of inside.querySelectorAll(".sample svg")) {
                    const holds = lamp => [...board.querySelectorAll("use")].some(piece => {
                        const middle = (box(piece).left + box(piece).right) / 2, foot = box(piece).bottom - 1;
                        return box(piece).width < box(board).width / 8 && box(lamp).left < middle
                            && middle < box(lamp).right && box(lamp).top < foot && foot < box(lamp).bottom;
                    });
                    lit += [...board.querySelectorAll(".lit")].filter(holds).length;
                }
                for (const text of inside.querySelectorAll("svg text")) {
                    const svg = text.ownerSVGElement;
                    const size = text.getAttribute("font-size") * box(svg).width / svg.viewBox.baseVal.width;
                    smallest = Math.min(smallest, size);
                    const [a, b] = [box(text), box(svg)];
                    if (a.left < b.left - 1 || a.right > b.right + 1 || a.bottom > b.bottom + 1) cut.push(text.textContent);
                }
                answer.push({ width, count, drawn, lit, smallest, cut: cut.slice(0, 5), wide: wide.slice(0, 5), page: inside.documentElement.scrollWidth, seen: frame.contentWindow.innerWidth,
                    text: inside.body.innerText.length,
                    html: inside.documentElement.outerHTML });
                if (answer.length == widths.length) document.getElementById("answer").textContent = JSON.stringify(answer);
            };
            document.body.append(frame);
        }
        </script>"#;
    let quoted = serde_json::to_string(&page(findings)).unwrap().replace('<', "\\u003c");
    let shown = render(
        browser,
        &frames.replace("PAGE", &quoted),
        &["--hide-scrollbars", "--virtual-time-budget=10000"],
    );
    let answer = words(between(&shown.dom, "<pre id=\"answer\">", "</pre>")[0]);
    let answer: Value =
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer} {:?}", shown.console));
    for mut frame in answer.as_array().unwrap().clone() {
        shows_its_json(frame["html"].take().as_str().unwrap());
        assert_eq!(frame["wide"], Value::Array(vec![]), "{frame}");
        assert_eq!((&frame["page"], &frame["seen"]), (&frame["width"], &frame["width"]), "{frame}");
        assert!(frame["count"].as_u64().unwrap() > 100 && frame["text"].as_u64().unwrap() > 500, "{frame}");
        assert!(frame["drawn"].as_u64().unwrap() > 0, "{frame}");
        // Of the seven squares that are lit in the sample one is empty.
        let lit = if findings.sample.is_empty() { 0 } else { 6 };
        assert_eq!(frame["lit"], lit, "{frame}");
        assert_eq!(frame["cut"], Value::Array(vec![]), "{frame}");
        assert!(frame["smallest"].as_f64().unwrap() >= 7.5, "{frame}");
    }
}

/// What the tests above look for is seen where it is.
#[test]
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
