//! A report as one HTML file.
//!
//! The file stands alone: it asks for nothing from anywhere, runs no script, and its policy forbids both. What
//! it shows is [`Findings`] and nothing else, and these are in it as JSON as well. Behind every chart there is a
//! table. The invariant: equal findings make equal bytes.

mod charts;
mod copies;
mod sample;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{findings::Findings, summary::grouped, svg};

const STYLE: &str = include_str!("page/style.css");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Sources that are listed by name.
const SOURCES_MAX: usize = 12;

/// The page of a report.
pub fn page(findings: &Findings) -> String {
    let sections = sections(findings);
    let title = if findings.title.trim().is_empty() { "Report" } else { &findings.title };
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
                header {
                    p.kicker {
                        "Chess positions that match a pattern"
                        @if let Some(date) = &findings.date { " · " time { (date) } }
                    }
                    h1 dir="auto" { (title) }
                    pre.query tabindex="0" aria-label="The query" { code { (findings.query) } }
                    @if !findings.chosen.is_empty() { p.chosen dir="auto" { "Only " (findings.chosen) } }
                }
                nav aria-label="Contents" {
                    ul {
                        @for section in &sections {
                            li { a href={ "#" (section.id) } { (section.name) } }
                        }
                    }
                }
                main {
                    @for section in &sections {
                        section id=(section.id) aria-labelledby={ (section.id) "-name" } {
                            h2 id={ (section.id) "-name" } { (section.name) }
                            (section.body)
                        }
                    }
                }
                script type="application/json" id="findings" { (PreEscaped(json(findings))) }
            }
        }
    };
    page.into_string() + "\n"
}

/// The findings as JSON that no HTML parser takes for the end of a script.
fn json(findings: &Findings) -> String {
    serde_json::to_string(findings).expect("plain data can be written").replace('<', "\\u003c")
}

struct Section {
    id: &'static str,
    name: &'static str,
    body: Markup,
}

/// The sections that have something to show.
fn sections(findings: &Findings) -> Vec<Section> {
    let mut out = vec![
        Section { id: "summary", name: "Summary", body: summary(findings) },
        Section { id: "pattern", name: "The pattern and its copies", body: copies::section(findings) },
    ];
    let maps = [
        findings.orbit.as_ref().and_then(|orbit| orbit.heat.as_ref()).map(|map| ("heat", map)),
        findings.squares.as_ref().map(|map| ("squares", map)),
    ];
    let maps: Vec<_> = maps.into_iter().flatten().collect();
    if !maps.is_empty() {
        out.push(Section { id: "board", name: "Where on the board", body: charts::heat_maps(&maps) });
    }
    if !findings.histograms.is_empty() {
        let body = charts::histograms(&findings.histograms);
        out.push(Section { id: "groups", name: "In which games", body });
    }
    if !findings.sample.is_empty() {
        out.push(Section { id: "sample", name: "A sample of the hits", body: sample::section(findings) });
    }
    out.push(Section { id: "about", name: "About this report", body: about(findings) });
    out
}

fn summary(findings: &Findings) -> Markup {
    let totals = &findings.totals;
    html! {
        dl.tiles {
            (tile("Positions hit", totals.positions_hit, totals.positions, "positions"))
            (tile("Games hit", totals.games_hit, totals.games, "games"))
            @if let Some(orbit) = &findings.orbit {
                (tile("Copies hit", orbit.copies_hit, orbit.copies_total, "distinct copies"))
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

/// A number for people, with the same for programs beside it.
fn number(number: u64) -> Markup {
    html! { data value=(number) { (grouped(number)) } }
}

/// A table that scrolls inside its box, behind a word that opens it.
fn table_behind(id: &str, caption: &str, head: &[&str], rows: Markup) -> Markup {
    html! {
        details {
            summary { "Table" span.unseen { ": " (caption) } }
            (table(id, caption, head, rows))
        }
    }
}

/// A table that scrolls inside its box.
fn table(id: &str, caption: &str, head: &[&str], rows: Markup) -> Markup {
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
            dt { "Engine" }
            dd { (findings.engine) }
            dt { "Intervals" }
            dd {
                "The whiskers in the charts, and the columns “from” and “to” in the tables, show the 95 % interval of "
                "each share. The whiskers of small groups may be longer than their chart."
            }
            dt { "Copies" }
            dd {
                "A transform makes distinct copies of a pattern. A position that several copies match counts as one "
                "position hit, and as one hit of each of these copies."
            }
            dt { "Data" }
            dd { "This file contains all its numbers as JSON, in the element " code { "findings" } "." }
        }
    }
}
