//! Shows a sample of the hits as diagrams.

use maud::{Markup, html};

use super::number;
use crate::report::{
    findings::{Findings, SampleHit, SampleMoves},
    svg::BoardDrawing,
};
use orbit_core::board::{Bitboard, Square};
use orbit_core::fen::{FenRecord, Leniency};

/// The maximum number of hits that are visible at first; the reader can expand the rest.
const SHOWN_MAX: usize = 6;

pub(super) fn section(findings: &Findings) -> Markup {
    let (shown, more) = findings.sample.split_at(findings.sample.len().min(SHOWN_MAX));
    // If the query has a single copy, its text would only repeat the query.
    let has_copies = findings.orbit.as_ref().is_some_and(|orbit| orbit.copies_total > 1);
    html! {
        @if !findings.sample_note.is_empty() { p { (findings.sample_note) } }
        (list(shown, 0, has_copies))
        @if !more.is_empty() {
            details.more {
                summary { (more.len()) " more" span.unseen { " hits" } }
                (list(more, SHOWN_MAX, has_copies))
            }
        }
    }
}

fn list(hits: &[SampleHit], first: usize, has_copies: bool) -> Markup {
    html! {
        ol.sample start=(first + 1) {
            @for (k, hit) in hits.iter().enumerate() { li { (diagram(first + k, hit, has_copies)) } }
        }
    }
}

/// Returns the id of the element that shows the hit with this index.
pub(super) fn place_of(index: usize) -> String {
    format!("sample-{index}")
}

fn diagram(index: usize, hit: &SampleHit, has_copies: bool) -> Markup {
    let title = format!("{} - {}, {}", known(&hit.white), known(&hit.black), place(hit));
    let id = format!("hit-{index}");
    let arrows: Vec<[Square; 2]> = hit.span.iter().flat_map(|span| &span.arrows).map(|pair| pair.0).collect();
    let picture = BoardDrawing {
        id: &id,
        title: &title,
        placement: &hit.fen,
        lit: hit.lit.0,
        area: Bitboard::EMPTY,
        arrows: &arrows,
        has_names: true,
        is_flipped: hit.is_flipped,
    };
    html! {
        figure id=(place_of(index)) {
            (picture.picture())
            figcaption {
                p.players { bdi { (known(&hit.white)) } " – " bdi { (known(&hit.black)) } " " span.result { (hit.result) } }
                p { bdi { (known(&hit.event)) } @if !hit.date.is_empty() { ", " (hit.date) } }
                p {
                    strong { (place(hit)) }
                    @if let Some(side) = to_move(&hit.fen) { ", " (side) " to move" }
                    @if let Some(next) = hit.next.as_ref().filter(|_| hit.moves.after.is_empty()) {
                        ", next " strong { (next) }
                    }
                }
                (moves(hit))
                @if let Some(span) = &hit.span {
                    @if !span.moves.is_empty() { p { (span.kind) " " strong { (span.moves) } } }
                }
                @if let Some(copy) = hit.copy.as_ref().filter(|_| has_copies) { p { code { (copy) } } }
                @if let Some(value) = &hit.value { p { "value " code { (value) } } }
                @for sort in &hit.sorts { p { bdi { (sort.name) } " " code { (sort.value) } } }
                p.source {
                    "game " (number(hit.game)) ", ply " (number(u64::from(hit.ply)))
                    @if !hit.line.is_empty() { ", node " (number(u64::from(hit.node))) }
                    " · " bdi { (hit.source) }
                }
                p.actions {
                    button type="button" data-fen=(hit.fen) hidden { "Copy FEN" span.unseen { " of " (title) } }
                    @if let Some((url, host)) = link(hit) {
                        a href=(url) rel="noopener noreferrer" { "Game on " (host) }
                    }
                    @if let Some(url) = analysis(&hit.fen) {
                        a.analysis href=(url) rel="noopener noreferrer" { "Analyse on lichess.org" }
                    }
                }
                details {
                    summary { "FEN" span.unseen { " of " (title) } }
                    code { (hit.fen) }
                }
            }
        }
    }
}

/// Returns the moves around the hit's position, with a bar that marks the position.
fn moves(hit: &SampleHit) -> Markup {
    let SampleMoves { before, after } = &hit.moves;
    let played = before.split_last().map(|(last, earlier)| (earlier, last));
    html! {
        @if !before.is_empty() || !after.is_empty() {
            p.moves {
                @if let Some((earlier, last)) = played {
                    @for mv in earlier { (mv) " " }
                    strong { (last) } " "
                }
                span.here title="the position shown" { "│" }
                @if let Some((next, later)) = after.split_first() {
                    " " strong { (next) }
                    @for mv in later { " " (mv) }
                } @else {
                    " (no move follows)"
                }
            }
        }
    }
}

/// Returns the address of a lichess analysis board for the position. The page only links to it and loads nothing from it. Returns
/// `None` if the FEN is not valid.
fn analysis(fen: &str) -> Option<String> {
    FenRecord::read(fen.as_bytes(), Leniency::NONE).ok()?;
    let is_plain = fen.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b' '));
    // If rooks castle from unusual squares, the castling rights contain file letters. Lichess analyses such positions as Chess960.
    let castling = fen.split(' ').nth(2).unwrap_or("-");
    let is_usual = castling.bytes().all(|letter| b"KQkq-".contains(&letter));
    let variant = if is_usual { "" } else { "chess960/" };
    is_plain.then(|| format!("https://lichess.org/analysis/{variant}{}", fen.replace(' ', "_")))
}

/// Returns a name, or `?` as in PGN if the name is empty.
fn known(name: &str) -> &str {
    if name.trim().is_empty() { "?" } else { name }
}

/// Describes where a hit is: `after 23. Nxf6+`, or `at the start`. A hit in the side line that begins with
/// 21.Bh7 is `after 23... Kxh7 (21.Bh7)`.
fn place(hit: &SampleHit) -> String {
    let san = hit.san.as_ref().map_or(String::new(), |san| format!(" {san}"));
    match &*hit.line {
        _ if hit.ply == 0 => "at the start".into(),
        "" => format!("after {}{san}", hit.label),
        line => format!("after {}{san} ({line})", hit.label),
    }
}

fn to_move(fen: &str) -> Option<&'static str> {
    let record = FenRecord::read(fen.as_bytes(), Leniency::NONE).ok()?;
    Some(if record.setup.turn.is_white() { "White" } else { "Black" })
}

/// Returns a link and its host. Only `https` links are accepted, because game tags are not trusted.
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
    fn positions_are_analysed_by_their_fen() {
        for (fen, address) in [
            ("8/8/8/8/3N4/5k2/8/4K3 b - - 0 1", Some("8/8/8/8/3N4/5k2/8/4K3_b_-_-_0_1")),
            (
                "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w HAha e6 0 2",
                Some("chess960/rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR_w_HAha_e6_0_2"),
            ),
            ("no fen", None),
            ("8/8/8/8/8/8/8/8[Q] w - - 0 1", None),
        ] {
            let address = address.map(|rest| format!("https://lichess.org/analysis/{rest}"));
            assert_eq!(analysis(fen), address, "{fen}");
        }
    }

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
