//! The list of found games.

use std::collections::HashMap;

use maud::{Markup, html};

use super::sample::place_of;
use super::{number, table};
use crate::report::findings::{Findings, ListedGame};
use crate::report::grouped;

/// Returns the section with the game list, which is hidden until the reader expands it. Games in the sample link to their boards.
pub(super) fn section(findings: &Findings) -> Markup {
    let games = &findings.games;
    let boards: HashMap<u64, usize> =
        findings.sample.iter().enumerate().map(|(index, hit)| (hit.game, index)).collect();
    let has_sources = findings.sources.len() > 1;
    let is_sorted = games.iter().any(|game| !game.sorts.is_empty());
    let mut head =
        vec!["game", "players", "result", "date", "event or site", "hits", "moves that led to them"];
    if is_sorted {
        head.insert(1, "sorted by");
    }
    if has_sources {
        head.push("source");
    }
    let rows = html! {
        @for game in games { (row(game, boards.get(&game.game).copied(), is_sorted, has_sources)) }
    };
    let more = findings.games_found.saturating_sub(games.len() as u64);
    html! {
        details.games {
            summary {
                @if more > 0 { "The first " (grouped(games.len() as u64)) " of " (grouped(findings.games_found)) " games found" }
                @else if games.len() == 1 { "The game found" }
                @else { "All " (grouped(games.len() as u64)) " games found" }
            }
            (table("games-table", "Games found", &head, rows))
            @if more > 0 { p { "The list ends here: " (grouped(more)) " more games were found." } }
        }
    }
}

fn row(game: &ListedGame, board: Option<usize>, is_sorted: bool, has_sources: bool) -> Markup {
    html! {
        tr {
            th scope="row" {
                @match board {
                    Some(index) => a href={ "#" (place_of(index)) } { (number(game.game)) },
                    None => (number(game.game)),
                }
            }
            @if is_sorted {
                td.words {
                    @for (k, sort) in game.sorts.iter().enumerate() {
                        @if k > 0 { ", " }
                        bdi { (sort.name) } " " (sort.value)
                    }
                }
            }
            td.words { bdi { (game.players) } }
            td { (game.result) }
            td { (game.date) }
            td.words { bdi { (game.event) } }
            td { (number(game.hits)) }
            td.moves {
                (game.moves)
                @for span in &game.spans { " " div { (span) } }
            }
            @if has_sources { td.words { bdi { (game.source) } } }
        }
    }
}
