//! Heat maps and bar charts.

use maud::{Markup, PreEscaped, html};
use unicode_width::UnicodeWidthStr as _;

use super::picture;
use crate::report::{
    findings::{Histogram, HistogramRow},
    heat::{Grid, HeatMap, LEVELS, short},
    summary::grouped,
};
use crate::text::clipped;

/// Bars of a chart at most; its table has all rows.
pub const ROWS_MAX: usize = 100;
/// What of a name fits below a bar.
const LABEL_WIDTH_MAX: usize = 9;

/// A heat map with the names of its lines and a scale. `style` is put inside, for a picture that stands alone.
pub fn heat_map(map: &HeatMap, id: &str, style: Option<&str>) -> Markup {
    let side = map.grid.side() as i32;
    let cell = if map.grid == Grid::Squares { 42 } else { 23 };
    let width = side * cell;
    let inside = html! {
        @if let Some(style) = style {
            style { (PreEscaped(style)) }
        }
        @for row in 0..map.grid.side() {
            @for column in 0..map.grid.side() {
                (heat_cell(map, column, row, cell))
            }
        }
        @if map.grid == Grid::Offsets {
            // The copies that were not shifted.
            rect class="whisker" x=(7 * cell) y=(7 * cell) width=(cell - 1) height=(cell - 1) {}
        }
        @for k in 0..map.grid.side() {
            @let middle = k as i32 * cell + cell / 2;
            text x=(middle) y=(width + 15) font-size="12" text-anchor="middle" { (map.grid.column_name(k)) }
            text x="-7" y=(width - middle + 4) font-size="12" text-anchor="end" { (map.grid.row_name(k)) }
        }
        (heat_scale(map, width))
    };
    let what = match map.grid {
        Grid::Squares => "a board, White's side down",
        Grid::Offsets => "shifts by files from left to right and by ranks from below",
    };
    let words = format!("Heat map on {what}; the most in one cell is {}.", grouped(map.most()));
    picture(id, "heat", (-26, -1, width + 28, width + 48), &map.label, &words, inside)
}

fn heat_cell(map: &HeatMap, column: usize, row: usize, cell: i32) -> Markup {
    let count = map.at(column, row);
    let level = map.level(count);
    let (x, y) = (column as i32 * cell, (map.grid.side() - 1 - row) as i32 * cell);
    let ink = match level {
        0 => "on-none",
        1..=4 => "on-few",
        _ => "on-many",
    };
    html! {
        g {
            title { (map.grid.cell_name(column, row)) ": " (grouped(count)) }
            rect class={ "level-" (level) } x=(x) y=(y) width=(cell - 1) height=(cell - 1) {}
            @if map.grid == Grid::Squares {
                text class=(ink) x=(f64::from(x) + f64::from(cell - 1) / 2.0) y=(y + cell / 2 + 4) font-size="12"
                    text-anchor="middle" { (if count == 0 { "·".to_owned() } else { short(count) }) }
            }
        }
    }
}

/// The steps of the scale, with what the least and the greatest stand for.
fn heat_scale(map: &HeatMap, width: i32) -> Markup {
    let most = map.most();
    let step = 16;
    let left = width - step * i32::from(LEVELS) - 40;
    html! {
        text x=(left - 6) y=(width + 41) font-size="12" text-anchor="end" { (if most == 0 { 0 } else { 1 }) }
        @for level in 1..=LEVELS {
            rect class={ "level-" (level) } x=(left + step * i32::from(level - 1)) y=(width + 30)
                width=(step) height="13" {}
        }
        text x=(left + step * i32::from(LEVELS) + 6) y=(width + 41) font-size="12" { (short(most)) }
    }
}

// The plane of a bar chart: where its axes are.
const LEFT: f64 = 46.0;
const RIGHT: f64 = 396.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 186.0;

/// The shares of a histogram as bars, each with its interval. At most [`ROWS_MAX`] are drawn.
pub fn bars(histogram: &Histogram, id: &str) -> Markup {
    let rows = &histogram.rows[..histogram.rows.len().min(ROWS_MAX)];
    let (top, step) = scale(rows);
    let width = (RIGHT - LEFT) / rows.len().max(1) as f64;
    let is_turned = is_turned(rows, width);
    let inside = html! {
        @for k in 0..=(top / step).round() as u32 {
            @let share = f64::from(k) * step;
            @let y = height(share, top);
            line class=(if k == 0 { "axis" } else { "grid" }) x1=(LEFT) x2=(RIGHT) y1=(fixed(y)) y2=(fixed(y)) {}
            text x=(LEFT - 6.0) y=(fixed(y + 4.0)) font-size="12" text-anchor="end" { (tick(share, step)) }
        }
        @for (k, row) in rows.iter().enumerate() {
            (bar(histogram, row, LEFT + width * k as f64, width, top))
        }
        (names(rows, width, is_turned))
    };
    let title = format!("Share of {} that hit, by {}", histogram.unit.name(), histogram.name);
    let below = if is_turned { 60 } else { 24 };
    picture(id, "bars", (0, 0, 400, BOTTOM as i32 + below), &title, &range_words(histogram, rows), inside)
}

fn range_words(histogram: &Histogram, rows: &[HistogramRow]) -> String {
    let shared = rows.iter().filter_map(|row| Some((row.share?, &row.label)));
    let (least, most) = (shared.clone().min_by(by_share), shared.max_by(by_share));
    match (least, most) {
        (Some(least), Some(most)) => format!(
            "{} groups; the least is {} ({}), the most {} ({}).",
            grouped(histogram.rows.len() as u64),
            percent(least.0),
            least.1,
            percent(most.0),
            most.1
        ),
        _ => "No group holds anything.".into(),
    }
}

fn by_share(a: &(f64, &String), b: &(f64, &String)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0)
}

/// The upper end of a share axis and the step of its lines: all shares fit, and the intervals of groups that
/// are not small.
pub fn scale(rows: &[HistogramRow]) -> (f64, f64) {
    let positions: u64 = rows.iter().fold(0, |sum, row| sum.saturating_add(row.counts.positions));
    let shares = rows.iter().filter_map(|row| row.share);
    let large = rows.iter().filter(|row| row.counts.positions >= positions / 50);
    let most = shares.chain(large.filter_map(|row| row.high)).filter(|share| share.is_finite());
    let most = most.fold(0.0, f64::max).clamp(0.0, 1.0);
    // Where nothing hits, any axis will do.
    let most = if most > 0.0 { most } else { 0.01 };
    let power = 10f64.powf((most / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0].map(|k| k * power).into_iter().find(|step| step * 5.0 >= most * 0.999);
    let step = step.unwrap_or(10.0 * power);
    ((most / step - 0.001).ceil() * step, step)
}

fn height(share: f64, top: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * (share / top).clamp(0.0, 1.0)
}

fn bar(histogram: &Histogram, row: &HistogramRow, left: f64, width: f64, top: f64) -> Markup {
    let (all, hit) = row.counts.of(histogram.unit);
    let Some(share) = row.share else { return html! {} };
    let y = height(share, top);
    let gap = (width * 0.18).min(6.0);
    let middle = left + width / 2.0;
    let cap = (width * 0.2).min(4.0);
    let end = |y: f64| format!("M{} {}h{}", fixed(middle - cap), fixed(y), fixed(2.0 * cap));
    html! {
        g {
            title { (row.label) ": " (percent(share)) ", " (grouped(hit)) " of " (grouped(all)) " "
                (histogram.unit.name()) }
            rect class="bar" x=(fixed(left + gap / 2.0)) y=(fixed(y)) width=(fixed(width - gap))
                height=(fixed(BOTTOM - y)) {}
            @if let (Some(low), Some(high)) = (row.low, row.high) {
                @let is_cut = high > top;
                @let (low, high) = (height(low, top), height(high, top));
                path class=(if width < 6.0 { "whisker thin" } else { "whisker" })
                    d={ "M" (fixed(middle)) " " (fixed(low)) "V" (fixed(high)) (end(low))
                        @if !is_cut { (end(high)) } } {}
            }
        }
    }
}

/// Columns that the longest name takes.
fn longest(rows: &[HistogramRow]) -> usize {
    rows.iter().map(|row| row.label.width()).max().unwrap_or(0)
}

/// Bars from one name to the next so that names do not touch.
fn every(rows: &[HistogramRow], width: f64) -> usize {
    ((longest(rows) as f64 * 6.8 + 8.0) / width).ceil().max(1.0) as usize
}

/// Whether names are turned: long ones that do not fit below their bars.
fn is_turned(rows: &[HistogramRow], width: f64) -> bool {
    every(rows, width) > 1 && longest(rows) > 4
}

/// The names of as many groups as fit.
fn names(rows: &[HistogramRow], width: f64, is_turned: bool) -> Markup {
    // Turned names stand as close as lines of text.
    let every = if is_turned { (13.0 / width).ceil().max(1.0) as usize } else { every(rows, width) };
    html! {
        @for (k, row) in rows.iter().enumerate().step_by(every) {
            @let x = LEFT + width * (k as f64 + 0.5);
            @if is_turned {
                text font-size="11" text-anchor="end"
                    transform={ "translate(" (fixed(x + 3.0)) " " (BOTTOM + 10.0) ") rotate(-40)" } {
                    (clipped(&row.label, LABEL_WIDTH_MAX))
                }
            } @else {
                text x=(fixed(x)) y=(BOTTOM + 16.0) font-size="12" text-anchor="middle" { (row.label) }
            }
        }
    }
}

/// A coordinate.
fn fixed(value: f64) -> String {
    format!("{value:.1}")
}

/// The name of a line of the share axis, short enough for its margin.
fn tick(share: f64, step: f64) -> String {
    let decimals = (-(step * 100.0).log10().floor()).max(0.0) as usize;
    match decimals {
        _ if share == 0.0 => "0".into(),
        0..=3 => format!("{:.decimals$}%", share * 100.0),
        _ => format!("{:.1e}%", share * 100.0).replace(".0", ""),
    }
}

/// A share with three digits that count: `12.5%`, `3.52%`, `0.035%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = match percent {
        _ if percent >= 99.95 => 0,
        _ if percent >= 9.995 => 1,
        _ if percent >= 0.9995 => 2,
        _ if percent >= 0.0995 => 3,
        _ if percent > 0.0 && percent < 0.0001 => return "<0.0001%".into(),
        _ if percent > 0.0 => 4,
        _ => 0,
    };
    format!("{percent:.decimals$}%")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::findings::{HitCounts, Unit};

    fn row(label: &str, hit: u64, of: u64) -> HistogramRow {
        let counts = HitCounts { games: of, games_hit: hit, positions: of, positions_hit: hit };
        let share = (of > 0).then(|| hit as f64 / of as f64);
        HistogramRow { label: label.into(), counts, share, low: share.map(|s| s / 2.0), high: share }
    }

    fn histogram(rows: Vec<HistogramRow>) -> Histogram {
        Histogram { name: "year".into(), unit: Unit::Games, rows }
    }

    #[test]
    fn shares_have_three_digits() {
        for (share, text) in [
            (0.0, "0%"),
            (1.0, "100%"),
            (0.125, "12.5%"),
            (0.0352, "3.52%"),
            (0.00352, "0.352%"),
            (0.000_352, "0.0352%"),
            (1e-9, "<0.0001%"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn names_of_lines_are_short() {
        let cases = [
            (0.0, 0.1, "0"),
            (0.3, 0.1, "30%"),
            (0.005, 0.005, "0.5%"),
            (3e-7, 1e-7, "3e-5%"),
            (1.5e-7, 5e-8, "1.5e-5%"),
        ];
        for (share, step, name) in cases {
            assert_eq!(tick(share, step), name);
        }
    }

    #[test]
    fn axes_end_above_the_largest_share() {
        for (share, top, step) in [
            (0.035, 0.04, 0.01),
            (0.5, 0.5, 0.1),
            (1.0, 1.0, 0.2),
            (0.0007, 0.0008, 0.0002),
            (0.0, 0.01, 0.002),
            (3e-9, 3e-9, 1e-9),
        ] {
            let mut only = row("x", 0, 1);
            (only.share, only.high) = (Some(share), Some(share));
            let found = scale(&[only]);
            assert!(
                (found.0 - top).abs() < top / 1e6 && (found.1 - step).abs() < step / 1e6,
                "{share}: {found:?}"
            );
        }
        // The wide interval of a small group does not make all others small.
        let mut small = row("small", 0, 1);
        small.high = Some(0.8);
        assert!(scale(&[small, row("large", 20, 1_000)]).0 < 0.03);
        assert_eq!(scale(&[]).0, scale(&[row("x", 0, 1)]).0);
    }

    #[test]
    fn a_bar_is_as_high_as_its_share() {
        let text = bars(&histogram(vec![row("1999", 50, 100), row("2000", 0, 0), row("2001", 25, 100)]), "h");
        let text = text.into_string();
        let plane = BOTTOM - TOP;
        assert!(text.contains(&format!(r#"y="{TOP:.1}" width="110.7" height="{plane:.1}""#)), "{text}");
        assert!(text.contains(&format!(
            r#"y="{:.1}" width="110.7" height="{:.1}""#,
            TOP + plane / 2.0,
            plane / 2.0
        )));
        assert_eq!(text.matches("class=\"bar\"").count(), 2, "an empty group has no share");
        assert!(text.contains("<title>1999: 50.0%, 50 of 100 games</title>"));
        assert!(text.contains("the least is 25.0% (2001), the most 50.0% (1999)"));
        assert!(bars(&histogram(vec![]), "h").into_string().contains("No group holds anything"));
    }

    #[test]
    fn odd_numbers_stay_inside() {
        let mut odd = row("x", u64::MAX, u64::MAX);
        for share in [f64::NAN, f64::INFINITY, -1.0, 7.0] {
            (odd.share, odd.low, odd.high) = (Some(share), Some(share), Some(share));
            let text = bars(&histogram(vec![odd.clone(); 300]), "h").into_string();
            assert_eq!(text.matches("class=\"bar\"").count(), ROWS_MAX);
        }
    }

    #[test]
    fn a_heat_map_shows_every_count_where_it_belongs() {
        let mut counts = [0; 64];
        (counts[0], counts[62]) = (7, 1_234);
        let text = heat_map(&HeatMap::of_squares(&counts), "m", None).into_string();
        assert!(text.contains(r#"<title>a1: 7</title><rect class="level-1" x="0" y="294""#), "{text}");
        assert!(text.contains(r#"<title>g8: 1,234</title><rect class="level-8" x="252" y="0""#), "{text}");
        assert!(text.contains(">1.2k</text>"));
        assert_eq!(text.matches("<title>").count(), 64);
    }
}
