//! Shows the pattern and its transformed copies as boards, and the number of hits for each transform.

use maud::{Markup, html};

use super::{number, table, table_behind};
use crate::report::{
    findings::{CopyFindings, Findings, OrbitFindings, PatternBoard, TransformSum},
    summary::grouped,
    svg::{BoardDrawing, percent},
};
use orbit_core::board::Bitboard;

/// The maximum number of transformed copies that are shown as boards.
const BOARDS_MAX: usize = 12;

/// Returns a section that draws the original pattern and any transformed copies, or `None` if nothing can be drawn.
pub(super) fn section(findings: &Findings) -> Option<Markup> {
    let orbit = findings.orbit.as_ref().filter(|orbit| orbit.copies_total > 1);
    (orbit.is_some() || is_drawn(&findings.pattern)).then(|| pattern(findings, orbit))
}

/// Returns whether the board of a pattern would show anything.
fn is_drawn(pattern: &PatternBoard) -> bool {
    !pattern.area.0.is_empty()
        || pattern.placement.contains(|letter: char| letter.is_alphabetic() || letter == '_')
}

fn pattern(findings: &Findings, orbit: Option<&OrbitFindings>) -> Markup {
    html! {
        div.beside {
            figure.pattern {
                @if is_drawn(&findings.pattern) {
                    (board("query", "The pattern as written", &findings.pattern, true))
                }
                figcaption { "The pattern as written" (rest(&findings.pattern)) }
            }
            @if let Some(orbit) = orbit {
                div {
                    p {
                        "The transforms make " (copies_word(orbit.copies_total)) " of the pattern. Copies that hit at least once: "
                        (grouped(orbit.copies_hit)) "."
                    }
                    (sums("symmetries", "Hits by turn or reflection", &orbit.symmetries))
                    (sums("colors", "Hits by colours", &orbit.colors))
                }
            } @else {
                p {
                    @if findings.orbit.is_some() { "The transform changes nothing: there is one copy, the pattern as written." }
                    @else { "No transform applies to the whole query, so there is one copy: the pattern as written." }
                }
            }
        }
        @if let Some(orbit) = orbit {
            @if !orbit.copies.is_empty() { (copies(orbit)) }
        }
    }
}

fn copies_word(count: u64) -> String {
    if count == 1 { "one distinct copy".into() } else { format!("{} distinct copies", grouped(count)) }
}

fn board(id: &str, title: &str, pattern: &PatternBoard, has_names: bool) -> Markup {
    let (placement, area) = (&pattern.placement, pattern.area.0);
    let (lit, is_flipped) = (Bitboard::EMPTY, false);
    BoardDrawing { id, title, placement, lit, area, arrows: &[], has_names, is_flipped }.picture()
}

/// Returns the conditions of a pattern that its board does not show.
fn rest(pattern: &PatternBoard) -> Markup {
    html! {
        @if !pattern.rest.is_empty() {
            ul.rest aria-label="Further conditions" { @for part in &pattern.rest { li { code { (part) } } } }
        }
    }
}

/// Returns a table with bars for the hits of each transform. Returns nothing if there is only one transform, since all hits would
/// be in one row.
fn sums(id: &str, caption: &str, sums: &[TransformSum]) -> Markup {
    let all: u64 = sums.iter().fold(0, |all, sum| all.saturating_add(sum.positions));
    let most = sums.iter().map(|sum| sum.positions).max().unwrap_or(0).max(1);
    let rows = html! {
        @for sum in sums {
            tr {
                th scope="row" { (sum.transform) }
                td { (number(sum.copies)) }
                td { (number(sum.positions)) }
                td.meter {
                    span style={ "width:" (format!("{:.1}", 60.0 * sum.positions as f64 / most as f64)) "%" } {}
                    (percent(sum.positions as f64 / all.max(1) as f64))
                }
            }
        }
    };
    html! {
        @if sums.len() > 1 { (table(id, caption, &["transform", "copies", "hits", "share of hits"], rows)) }
    }
}

fn copies(orbit: &OrbitFindings) -> Markup {
    let shown = orbit.copies.len().min(BOARDS_MAX);
    let listed = orbit.copies.len() as u64;
    let caption = if listed < orbit.copies_hit {
        format!(
            "The {} copies that hit most often, of {} that hit",
            grouped(listed),
            grouped(orbit.copies_hit)
        )
    } else {
        "All copies that hit".into()
    };
    html! {
        h3 { @if shown > 1 { "The copies that hit most often" } @else { "The copy that hits" } }
        ul.copies {
            @for copy in &orbit.copies[..shown] {
                li {
                    figure {
                        @if is_drawn(&copy.pattern) { (board(&format!("copy-{}", copy.copy), &copy.text, &copy.pattern, false)) }
                        figcaption {
                            strong { (number(copy.positions)) }
                            code { (copy.text) }
                            span { (copy.transform) }
                        }
                    }
                }
            }
        }
        (table_behind("copies", &caption, &["copy", "positions", "as CQL", "transform", "place"], html! {
            @for copy in &orbit.copies { (copy_row(copy)) }
        }))
    }
}

fn copy_row(copy: &CopyFindings) -> Markup {
    let place = match (&copy.anchor, copy.offset) {
        (Some(square), _) => square.clone(),
        (None, Some([files, ranks])) => format!("{files:+} {ranks:+}"),
        (None, None) => "-".into(),
    };
    html! {
        tr {
            th scope="row" { (number(copy.copy)) }
            td { (number(copy.positions)) }
            td.words { code { (copy.text) } }
            td.words { (copy.transform) }
            td { (place) }
        }
    }
}
