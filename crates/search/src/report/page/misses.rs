//! The section that a page shows for a query without hits.

use maud::{Markup, html};

use super::{number, table};
use crate::report::findings::{Findings, Miss, Misses};
use crate::report::summary::grouped;

/// Returns the section for a query without hits: what was searched, how many hits similar queries have, and what the user can try
/// instead.
pub(super) fn section(findings: &Findings) -> Markup {
    let totals = &findings.totals;
    html! {
        @if totals.games == 0 {
            p { "No game was searched" @if !findings.chosen.is_empty() { ": no game meets the conditions" } "." }
        } @else {
            p {
                "None of the " (grouped(totals.positions)) " positions of " (games(totals.games))
                " matches the query."
            }
            @if let Some(misses) = findings.misses.as_ref().filter(|misses| !misses.tried.is_empty()) {
                (tried(misses))
            }
        }
        h3 { "What may help" }
        ul.help {
            @if !findings.chosen.is_empty() { li { "Search all games: the conditions leave some of them out." } }
            @if findings.orbit.is_none() {
                li {
                    "Put " code { "flipcolor" } " before the query to find the same with colours swapped, " code { "flip" }
                    " to find it turned and mirrored, " code { "shift" } " to find it elsewhere on the board."
                }
            }
            li { "Ask for less, and add one condition after the other: the one that leaves nothing is the one to look at." }
            li { code { "orbit explain" } " shows how the query is understood; " code { "orbit scan --count" } " counts hits." }
        }
    }
}

fn games(count: u64) -> String {
    if count == 1 { "one game".into() } else { format!("{} games", grouped(count)) }
}

fn tried(misses: &Misses) -> Markup {
    let rows = html! { @for miss in &misses.tried { (row(miss)) } };
    let extent = if misses.is_whole { "the same games" } else { "the first games" };
    let hit = misses.tried.iter().filter(|miss| miss.positions_hit > 0).count();
    html! {
        h3 { "The nearest misses" }
        p {
            "These queries are similar. They were asked of " (extent) ": "
            (games(misses.games)) ", " (grouped(misses.positions)) " positions. "
            @if hit == 0 { "None of them hits either." } @else { (hit) " of " (misses.tried.len()) " hit." }
        }
        (table("tried", "Hits of similar queries", &["query", "games", "positions"], rows))
    }
}

fn row(miss: &Miss) -> Markup {
    html! {
        tr {
            th scope="row" class=(if miss.positions_hit > 0 { "words found" } else { "words" }) { (miss.change) " " code { (miss.query) } }
            td { (number(miss.games_hit)) }
            td { (number(miss.positions_hit)) }
        }
    }
}
