//! Writes a report as a single HTML file.
//!
//! The file is self-contained, and its content security policy prevents it from loading any other file. The policy allows a single
//! script, which copies FENs; the content is the same without scripts. The page shows only [`Findings`], and also contains them as
//! JSON. Every chart has a table with its numbers. Invariant: equal findings produce equal bytes.

mod charts;
mod copies;
mod games;
mod misses;
mod sample;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::findings::{FEW_GAMES, Findings, ResultCount};
use super::{NumberSummary, heat::HeatMap, summary::grouped, svg};

const STYLE: &str = include_str!("page/style.css");
/// The script that copies FENs to the clipboard.
const SCRIPT: &str = include_str!("page/copy.js");
/// The page's content security policy. It allows only the script with this SHA-256 hash; a test checks that the hash is right.
const POLICY: &str = "default-src 'none'; script-src 'sha256-HEGdPd+7yvizZARsXwKnUc95Nev0JxaP8ogh9uQge1A='; style-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'none'";
/// The maximum length, in characters, of a query that is used as the headline.
const HEADLINE_MAX: usize = 80;
/// The maximum number of sources that are listed by name.
const SOURCES_MAX: usize = 12;

impl Findings {
    /// Returns the findings as a self-contained HTML page.
    pub fn page(&self) -> String {
        page(self)
    }

    /// Returns a heat map as SVG. It shows the number of hits for each place of the query's copies on the board or, if the copies
    /// do not differ in place, for each square in the query's value. Returns `None` if they do not differ and the value is not a
    /// set of squares.
    pub fn heat_map(&self) -> Option<String> {
        let places = self.orbit.as_ref().and_then(|orbit| orbit.heat.as_ref());
        places.or(self.squares.as_ref()).map(svg::heat_map_file)
    }
}

/// Returns the HTML page of a report.
pub fn page(findings: &Findings) -> String {
    let title = if findings.title.trim().is_empty() { "Report" } else { &findings.title };
    document(title, &header(findings, title), &sections(findings), findings)
}

/// Returns a page that consists of sections and contains `data` as JSON. The table of contents follows the first section.
pub(crate) fn document(
    title: &str,
    header: &Markup,
    sections: &[PageSection],
    data: &impl Serialize,
) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content={ "orbit " (env!("CARGO_PKG_VERSION")) };
                title { (title) }
                style { (PreEscaped(svg::PALETTE)) (PreEscaped(STYLE)) }
            }
            body {
                (svg::definitions())
                (header)
                main {
                    @for (index, section) in sections.iter().enumerate() {
                        section id=(section.id) aria-labelledby={ (section.id) "-name" } {
                            h2.unseen[index == 0] id={ (section.id) "-name" } { (section.name) }
                            (section.body)
                        }
                        // The first section has the main figures, so it precedes the table of contents, even on a phone.
                        @if index == 0 { (contents(&sections[1..])) }
                    }
                }
                script type="application/json" id="findings" { (PreEscaped(json(data))) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    // HTML may not contain most control characters. Tags of games may.
    let is_refused = |letter: char| letter < ' ' && !matches!(letter, '\t' | '\n' | '\r');
    page.into_string().replace(is_refused, "\u{fffd}") + "\n"
}

/// Returns the page header. It shows the query once: as the headline if the query is short and the page has no other title, and
/// otherwise below the headline.
fn header(findings: &Findings, title: &str) -> Markup {
    let query = findings.query.trim();
    let is_named = title != "Report" && !query.starts_with(title);
    let is_headline =
        !is_named && !query.contains('\n') && query.chars().count() <= HEADLINE_MAX && !query.is_empty();
    html! {
        header {
            @if is_named || is_headline {
                p.kicker { (KICKER) @if let Some(date) = &findings.date { " · " time { (date) } } }
            } @else {
                h1 { (KICKER) }
                @if let Some(date) = &findings.date { p.kicker { time { (date) } } }
            }
            @if is_named { h1 dir="auto" { (title) } }
            @if is_headline {
                h1.query dir="auto" { code { (query) } }
            } @else {
                pre.query tabindex="0" aria-label="The query" { code { (findings.query) } }
            }
            @if !findings.sentence.is_empty() { p.sentence dir="auto" { (findings.sentence) "." } }
            @if !findings.chosen.is_empty() { p.chosen dir="auto" { "Only " (findings.chosen) } }
        }
    }
}

const KICKER: &str = "Chess positions that match a pattern";

fn contents(sections: &[PageSection]) -> Markup {
    html! {
        nav aria-label="Contents" {
            ul {
                @for section in sections {
                    li { a href={ "#" (section.id) } { (section.name) } }
                }
            }
        }
    }
}

/// Returns data as JSON in which `<` is escaped, so that an HTML parser cannot find the end of the script in it.
fn json(data: &impl Serialize) -> String {
    serde_json::to_string(data).expect("plain data can be written").replace('<', "\\u003c")
}

/// A section of a page: the id of its element, its heading, and its content.
pub(crate) struct PageSection {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) body: Markup,
}

/// Returns all sections with content, in order of importance.
fn sections(findings: &Findings) -> Vec<PageSection> {
    let mut out = vec![PageSection { id: "summary", name: "Summary", body: summary(findings) }];
    let has_hits = findings.totals.positions_hit > 0 || findings.totals.games_hit > 0;
    if !has_hits {
        out.push(PageSection { id: "misses", name: "Nothing hits", body: misses::section(findings) });
    }
    if !findings.sample.is_empty() {
        out.push(PageSection { id: "sample", name: "A sample of the hits", body: sample::section(findings) });
    }
    if !findings.games.is_empty() {
        out.push(PageSection { id: "games", name: "The games", body: games::section(findings) });
    }
    if let Some(values) = &findings.values {
        out.push(PageSection { id: "values", name: "Values", body: charts::values(values) });
    }
    let name = if findings.orbit.is_some() { "The pattern and its copies" } else { "The pattern" };
    out.extend(copies::section(findings).map(|body| PageSection { id: "pattern", name, body }));
    let maps = maps(findings);
    if has_hits && !maps.is_empty() {
        out.push(PageSection { id: "board", name: "Where on the board", body: charts::heat_maps(&maps) });
    }
    if !findings.histograms.is_empty() || !findings.tables.is_empty() {
        let body = html! {
            @if !findings.histograms.is_empty() { (charts::histograms(&findings.histograms)) }
            (charts::group_tables(&findings.tables))
        };
        out.push(PageSection { id: "groups", name: "In which games", body });
    }
    out.push(PageSection { id: "about", name: "About this report", body: about(findings) });
    out
}

/// Returns the heat maps, each with the id of its table. If there are separate maps for the colours, they replace the combined map.
fn maps(findings: &Findings) -> Vec<(String, &HeatMap)> {
    let orbit = findings.orbit.as_ref();
    let places = orbit.map_or((None, &[][..]), |orbit| (orbit.heat.as_ref(), &orbit.heat_by_color));
    let squares = (findings.squares.as_ref(), &findings.squares_by_color[..]);
    let mut out = Vec::new();
    for (id, (both, apart)) in [("heat", places), ("squares", squares)] {
        match apart {
            [] => out.extend(both.map(|map| (id.to_owned(), map))),
            apart => out.extend(apart.iter().enumerate().map(|(k, map)| (format!("{id}-{k}"), map))),
        }
    }
    out
}

fn summary(findings: &Findings) -> Markup {
    let totals = &findings.totals;
    html! {
        dl.tiles {
            (tile("Positions hit", totals.positions_hit, totals.positions, "positions"))
            (tile("Games hit", totals.games_hit, totals.games, "games"))
            @if let Some(orbit) = findings.orbit.as_ref().filter(|orbit| orbit.copies_total > 1) {
                (tile("Copies hit", orbit.copies_hit, orbit.copies_total, "distinct copies"))
            }
            @if !findings.results.is_empty() { (results_tile(&findings.results)) }
            @if let Some(all) = findings.values.as_ref().and_then(|values| values.groups.first()) {
                (value_tile(&all.summary))
            }
        }
    }
}

fn results_tile(results: &[ResultCount]) -> Markup {
    let games = |wanted: &str| {
        number(results.iter().find(|count| count.result == wanted).map_or(0, |count| count.games))
    };
    html! {
        div {
            dt { "Results of these games" }
            dd {
                (games("1-0")) " – " (games("1/2-1/2")) " – " (games("0-1"))
                small {
                    "White won, drawn, Black won"
                    @if results.iter().any(|count| count.result == "*") { "; " (games("*")) " unknown" }
                }
            }
        }
    }
}

fn value_tile(all: &NumberSummary) -> Markup {
    html! {
        div {
            @if all.min == all.max {
                dt { "Value" }
                dd { (all.min) small { "at every position that hits" } }
            } @else {
                dt { "Mean value" }
                dd { (format!("{:.2}", all.mean)) small { "median " (all.median) ", from " (all.min) " to " (all.max) } }
            }
        }
    }
}

fn tile(name: &str, part: u64, all: u64, unit: &str) -> Markup {
    html! {
        div {
            dt { (name) }
            dd {
                (number(part))
                small {
                    "of " (number(all)) " " (unit)
                    @if all > 0 { ", " (svg::percent(part as f64 / all as f64)) }
                }
            }
        }
    }
}

/// Formats a number with separators for people. The plain number is in an attribute, for programs that read the page.
fn number(number: u64) -> Markup {
    html! { @if number < 1_000 { (number) } @else { data value=(number) { (grouped(number)) } } }
}

/// Returns a table that is hidden until the reader expands it.
fn table_behind(id: &str, caption: &str, head: &[&str], rows: Markup) -> Markup {
    html! {
        details {
            summary { "Table" span.unseen { ": " (caption) } }
            (table(id, caption, head, rows))
        }
    }
}

/// Returns a table that scrolls within its box.
pub(crate) fn table(id: &str, caption: &str, head: &[&str], rows: Markup) -> Markup {
    html! {
        div.scroll role="region" aria-label=(caption) tabindex="0" {
            table id=(id) {
                caption { (caption) }
                thead { tr { @for name in head { th scope="col" { (name) } } } }
                tbody { (rows) }
            }
        }
    }
}

fn about(findings: &Findings) -> Markup {
    let shown = findings.sources.len().min(SOURCES_MAX);
    let more = (findings.sources.len() - shown) as u64;
    html! {
        dl.about {
            dt { "Database" }
            @for source in &findings.sources[..shown] { dd { bdi { (source) } } }
            @if shown == 0 { dd { "no source" } }
            @if more > 0 { dd { "and " (grouped(more)) " more sources" } }
            @if !findings.command.is_empty() {
                dt { "Command" }
                dd {
                    pre.command { code { (findings.command) } }
                    @if !findings.command_outputs.is_empty() {
                        "With " code { (findings.command_outputs) } " it writes this page."
                    }
                }
            }
            dt { "Engine" }
            dd { (findings.engine) }
            @if !findings.histograms.is_empty() {
                dt { "Intervals" }
                dd {
                    "The whiskers in the charts, and the columns “from” and “to” in the tables, show the 95 % interval of "
                    "each share. A triangle above a whisker says that the interval goes on beyond the chart. Groups of fewer "
                    "than " (FEW_GAMES) " games are faded."
                }
            }
            @if findings.orbit.as_ref().is_some_and(|orbit| orbit.copies_total > 1) {
                dt { "Copies" }
                dd {
                    "A transform makes distinct copies of a pattern. A position that several copies match counts as one "
                    "position hit, and as one hit of each of these copies."
                }
            }
            dt { "Data" }
            dd { "This file contains all its numbers as JSON, in the element " code { "findings" } "." }
        }
    }
}
