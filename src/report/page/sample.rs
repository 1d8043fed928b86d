//! Some of the hits as diagrams.

use maud::{Markup, html};

use super::number;
use crate::board::{Bitboard, Square};
use crate::fen::{FenRecord, Leniency};
use crate::report::{
    findings::{Findings, SampleHit},
    svg::Diagram,
};

pub(super) fn section(findings: &Findings) -> Markup {
    html! {
        @if !findings.sample_note.is_empty() { p { (findings.sample_note) } }
        ol.sample {
            @for (k, hit) in findings.sample.iter().enumerate() { li { (diagram(k, hit)) } }
        }
    }
}

fn diagram(index: usize, hit: &SampleHit) -> Markup {
    let title = format!("{} - {}, {}", known(&hit.white), known(&hit.black), place(hit));
    let id = format!("hit-{index}");
    let arrows: Vec<[Square; 2]> = hit.span.iter().flat_map(|span| &span.arrows).map(|pair| pair.0).collect();
    let picture = Diagram {
        id: &id,
        title: &title,
        placement: &hit.fen,
        lit: hit.lit.0,
        area: Bitboard::EMPTY,
        arrows: &arrows,
        has_names: true,
    };
    html! {
        figure {
            (picture.picture())
            figcaption {
                p.players { bdi { (known(&hit.white)) } " – " bdi { (known(&hit.black)) } " " span.result { (hit.result) } }
                p { bdi { (known(&hit.event)) } @if !hit.date.is_empty() { ", " (hit.date) } }
                p {
                    strong { (place(hit)) }
                    @if let Some(side) = to_move(&hit.fen) { ", " (side) " to move" }
                    @if let Some(next) = &hit.next { ", next " strong { (next) } }
                }
                @if let Some(span) = &hit.span {
                    @if !span.moves.is_empty() { p { (span.kind) " " strong { (span.moves) } } }
                }
                @if let Some(copy) = &hit.copy { p { code { (copy) } } }
                @if let Some(value) = &hit.value { p { "value " code { (value) } } }
                p.source {
                    @if let Some((url, host)) = link(hit) {
                        a href=(url) rel="noopener noreferrer" { "Game on " (host) } " · "
                    }
                    "game " (number(hit.game)) ", ply " (number(u64::from(hit.ply)))
                    @if !hit.line.is_empty() { ", node " (number(u64::from(hit.node))) }
                    " · " bdi { (hit.source) }
                }
                details {
                    summary { "FEN" span.unseen { " of " (title) } }
                    code { (hit.fen) }
                }
            }
        }
    }
}

/// A name, or the sign that PGN has for none.
fn known(name: &str) -> &str {
    if name.trim().is_empty() { "?" } else { name }
}

/// `after 23...`, in a side line `after 23... (21.Bh7)`, or where the game begins.
fn place(hit: &SampleHit) -> String {
    match &*hit.line {
        _ if hit.ply == 0 => "at the start".into(),
        "" => format!("after {}", hit.label),
        line => format!("after {} ({line})", hit.label),
    }
}

fn to_move(fen: &str) -> Option<&'static str> {
    let record = FenRecord::read(fen.as_bytes(), Leniency::NONE).ok()?;
    Some(if record.setup.turn.is_white() { "White" } else { "Black" })
}

/// A link and the name of where it leads. Tags of games come from anywhere: only `https` is followed.
fn link(hit: &SampleHit) -> Option<(&str, &str)> {
    let url = hit.url.as_deref()?;
    let host = url.strip_prefix("https://")?.split(['/', '?', '#']).next()?;
    let is_host = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
    (!host.is_empty() && host.chars().all(is_host)).then_some((url, host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_links_are_followed() {
        for (url, host) in [
            ("https://lichess.org/abc#12", Some("lichess.org")),
            ("http://lichess.org/abc", None),
            ("javascript:alert(1)", None),
            ("https://lichess.org@evil.example/", None),
            ("https:///x", None),
        ] {
            let hit = SampleHit { url: Some(url.into()), ..SampleHit::default() };
            assert_eq!(link(&hit).map(|found| found.1), host, "{url}");
        }
    }
}
