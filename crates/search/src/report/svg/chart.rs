//! Heat maps and bar charts.

use maud::{Markup, PreEscaped, html};
use unicode_width::UnicodeWidthStr as _;

use super::picture;
use crate::report::{
    findings::{Histogram, HistogramRow},
    heat::{Grid, HeatMap, LEVELS, short},
    summary::grouped,
};
use orbit_core::text::clipped;

/// The maximum number of bars in a chart. The chart's table shows all rows.
pub const ROWS_MAX: usize = 100;
/// The maximum width of a rotated label below a bar, in text columns.
const LABEL_WIDTH_MAX: usize = 9;

/// Returns a heat map with labels for files and ranks, and a scale. `style` is CSS that is embedded in the picture, which is needed
/// outside a page.
pub fn heat_map(map: &HeatMap, id: &str, style: Option<&str>) -> Markup {
    let side = map.grid.side() as i32;
    let cell = if map.grid == Grid::Squares { 42 } else { 23 };
    let width = side * cell;
    let inside = html! {
        @if let Some(style) = style {
            style { (PreEscaped(style)) }
        }
        g font-size="12" text-anchor="middle" {
            @for row in 0..map.grid.side() {
                @for column in 0..map.grid.side() {
                    (heat_cell(map, column, row, cell))
                }
            }
        }
        @if map.grid == Grid::Offsets {
            // Draws a frame around the middle cell, which counts the hits of unshifted copies.
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
                text class=(ink) x=(f64::from(x) + f64::from(cell - 1) / 2.0) y=(y + cell / 2 + 4) { (if count == 0 { "·".to_owned() } else { short(count) }) }
            }
        }
    }
}

/// Returns the steps of the scale. The first and the last step are labelled with their counts.
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

// The right, top and bottom edges of the plotting area of a bar chart. The left edge depends on the labels of the grid lines.
pub(super) const RIGHT: f64 = 384.0;
pub(super) const TOP: f64 = 16.0;
pub(super) const BOTTOM: f64 = 190.0;
/// The height of the strip with one bar for the number of games or positions in each group.
const STRIP: f64 = 22.0;
/// The minimum bar width for which the numbers of games or positions are written below the bars. If the bars are narrower, these
/// numbers are drawn as a strip of small bars.
const NUMBERED_WIDTH_MIN: f64 = 44.0;
/// The width of a letter at a font size of 12 units.
const LETTER: f64 = 6.8;

/// The horizontal positions of the bars in a chart, and of the numbers on the axis.
pub(super) struct Plane {
    /// The left end of the axis.
    pub(super) left: f64,
    /// The left and right end of each bar.
    pub(super) places: Vec<(f64, f64)>,
    /// The numbers on the axis and their positions, if groups are ranges of numbers. If it is `None`, each bar is labelled with the
    /// name of its group.
    pub(super) ticks: Option<Vec<(i64, f64)>>,
}

/// Draws the shares in a histogram as bars with confidence intervals, at most [`ROWS_MAX`]. Numeric groups are drawn to scale on a
/// numeric axis, so missing numbers leave a gap.
pub fn bars(histogram: &Histogram, id: &str) -> Markup {
    let rows = &histogram.rows[..histogram.rows.len().min(ROWS_MAX)];
    let (top, step) = scale(rows);
    let lines: Vec<f64> = (0..=(top / step).round() as u32).map(|k| f64::from(k) * step).collect();
    let room = lines.iter().map(|share| tick(*share, step).width()).max().unwrap_or(1);
    let groups: Vec<_> = rows.iter().map(|row| row.first.zip(row.last)).collect();
    let plane = Plane::from_groups(&groups, room);
    let is_turned = plane.ticks.is_none() && is_turned(rows, plane.widest());
    let is_numbered = plane.places.iter().all(|(from, to)| to - from >= NUMBERED_WIDTH_MIN);
    let below = if is_turned { 60.0 } else { 24.0 };
    let has_strip = !is_numbered && differ(histogram, rows);
    let inside = html! {
        @for share in &lines { (plane.line(height(*share, top), *share == 0.0, &tick(*share, step))) }
        @for (row, place) in rows.iter().zip(&plane.places) { (bar(histogram, row, *place, top)) }
        @if plane.ticks.is_some() {
            (plane.numbers(rows.iter().map(|row| row.label.as_str())))
        } @else {
            (names(rows, &plane, is_turned))
        }
        @if is_numbered { (counts_below(histogram, rows, &plane)) }
        @if has_strip { (strip(histogram, rows, &plane, BOTTOM + below)) }
    };
    let title = format!("Share of {} that hit, by {}", histogram.unit.name(), histogram.name);
    let below = below + if has_strip { STRIP + 22.0 } else { 0.0 } + if is_numbered { 15.0 } else { 0.0 };
    picture(id, "bars", (0, 0, 400, (BOTTOM + below) as i32), &title, &range_words(histogram, rows), inside)
}

impl Plane {
    /// Computes the horizontal positions of the bars for some groups. A group is a range of numbers, or `None` if it is not
    /// numeric. `letters` is the length of the longest label to the left of the plotting area.
    pub(super) fn from_groups(groups: &[Option<(i64, i64)>], letters: usize) -> Plane {
        let left = letters as f64 * LETTER + 12.0;
        let known = || groups.iter().flatten();
        let (first, last) = (known().map(|ends| ends.0).min(), known().map(|ends| ends.1).max());
        if let (Some(first), Some(last), 2..) = (first, last, known().count()) {
            return Plane::to_scale(groups, (first, last), left);
        }
        let width = (RIGHT - left) / groups.len().max(1) as f64;
        let places = (0..groups.len()).map(|k| (left + width * k as f64, left + width * (k + 1) as f64));
        Plane { left, places: places.collect(), ticks: None }
    }

    /// Places groups of numbers on the axis to scale. Groups that are not numeric follow at the right end, after a gap.
    fn to_scale(groups: &[Option<(i64, i64)>], (first, last): (i64, i64), left: f64) -> Plane {
        let others = groups.iter().filter(|group| group.is_none()).count() as f64;
        let other_width = (40.0 / others.max(1.0)).min(24.0);
        let right = RIGHT - if others > 0.0 { others * other_width + 10.0 } else { 0.0 };
        let units = last as f64 - first as f64 + 1.0;
        let unit = (right - left) / units;
        let at = |number: f64| left + unit * (number - first as f64);
        let mut next = right + 10.0;
        let place = |group: &Option<(i64, i64)>| match *group {
            Some((first, last)) => (at(first as f64), at(last as f64 + 1.0)),
            None => {
                next += other_width;
                (next - other_width, next)
            }
        };
        let places = groups.iter().map(place).collect();
        // The label of a single number is centred below its bar. Wider groups are labelled at both ends.
        let is_wide = groups.iter().flatten().any(|(first, last)| last > first);
        let digits = [first, last].map(|end| end.to_string().len()).into_iter().max().unwrap_or(1) as f64;
        let room = ((right - left) / (digits * LETTER + 12.0)).max(1.0);
        let between = nice_step(units / room);
        let mut ticks = Vec::new();
        let mut number = first.div_euclid(between).saturating_mul(between);
        while number <= last.saturating_add(i64::from(is_wide)) && ticks.len() < ROWS_MAX {
            if number >= first {
                ticks.push((number, at(number as f64 + if is_wide { 0.0 } else { 0.5 })));
            }
            number = number.saturating_add(between);
        }
        Plane { left, places, ticks: Some(ticks) }
    }

    /// Returns a labelled horizontal line across the chart.
    pub(super) fn line(&self, y: f64, is_axis: bool, name: &str) -> Markup {
        html! {
            line class=(if is_axis { "axis" } else { "grid" }) x1=(fixed(self.left)) x2=(RIGHT) y1=(fixed(y)) y2=(fixed(y)) {}
            text x=(fixed(self.left - 6.0)) y=(fixed(y + 4.0)) font-size="12" text-anchor="end" { (name) }
        }
    }

    /// Returns the numbers on the axis, and the labels of groups that are not numeric.
    pub(super) fn numbers<'a>(&self, names: impl Iterator<Item = &'a str>) -> Markup {
        let ticks = self.ticks.as_deref().unwrap_or_default();
        // The groups that are not numeric follow the last number.
        let end = ticks.last().map_or(RIGHT, |tick| tick.1);
        html! {
            @for (number, x) in ticks {
                line class="axis" x1=(fixed(*x)) x2=(fixed(*x)) y1=(BOTTOM) y2=(BOTTOM + 4.0) {}
                text class="tick" x=(fixed(*x)) y=(BOTTOM + 17.0) font-size="12" text-anchor="middle" { (number) }
            }
            @for (name, (from, to)) in names.zip(&self.places).filter(|(name, (from, _))| *from > end && is_no_number(name)) {
                text x=(fixed((from + to) / 2.0)) y=(BOTTOM + 17.0) font-size="12" text-anchor="middle" {
                    (clipped(name, 3))
                }
            }
        }
    }

    fn widest(&self) -> f64 {
        self.places.iter().map(|(from, to)| to - from).fold(0.0, f64::max)
    }
}

/// Returns the smallest of 1, 2, 5, 10, 20, 50 and so on that is at least `least`.
fn nice_step(least: f64) -> i64 {
    let mut steps = (0..18).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)));
    steps.find(|step| *step as f64 >= least).unwrap_or(i64::MAX)
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

/// Returns the upper end of the share axis, and the distance between its grid lines. Shares and intervals of small groups may
/// exceed the upper end; all others are below it.
pub fn scale(rows: &[HistogramRow]) -> (f64, f64) {
    let has_large = rows.iter().any(|row| !row.is_few() && row.share.is_some());
    let counted = rows.iter().filter(|row| !has_large || !row.is_few());
    let most = counted.flat_map(|row| [row.share, row.high]).flatten().filter(|share| share.is_finite());
    let most = most.fold(0.0, f64::max).clamp(0.0, 1.0);
    // If there are no hits, any positive number results in a usable scale.
    let most = if most > 0.0 { most } else { 0.01 };
    let power = 10f64.powf((most / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0].map(|k| k * power).into_iter().find(|step| step * 5.0 >= most * 0.999);
    let step = step.unwrap_or(10.0 * power);
    ((most / step - 0.001).ceil() * step, step)
}

/// Returns whether a bar or an interval extends beyond the upper end of the axis.
pub fn is_cut(histogram: &Histogram) -> bool {
    let rows = &histogram.rows[..histogram.rows.len().min(ROWS_MAX)];
    let (top, _) = scale(rows);
    rows.iter().any(|row| leaves(row, top))
}

fn leaves(row: &HistogramRow, top: f64) -> bool {
    row.share.into_iter().chain(row.high).any(|share| share > top * 1.000_001)
}

fn height(share: f64, top: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * (share / top).clamp(0.0, 1.0)
}

fn bar(histogram: &Histogram, row: &HistogramRow, (left, right): (f64, f64), top: f64) -> Markup {
    let (all, hit) = row.counts.in_unit(histogram.unit);
    let Some(share) = row.share else { return html! {} };
    let width = right - left;
    let y = height(share, top);
    let gap = (width * 0.18).min(6.0);
    let middle = left + width / 2.0;
    let cap = (width * 0.2).min(4.0);
    let end = |y: f64| format!("M{} {}h{}", fixed(middle - cap), fixed(y), fixed(2.0 * cap));
    let leaves = leaves(row, top);
    html! {
        g class=[row.is_few().then_some("few")] {
            title { (row.label) ": " (percent(share)) ", " (grouped(hit)) " of " (grouped(all)) " "
                (histogram.unit.name()) }
            rect class="bar" x=(fixed(left + gap / 2.0)) y=(fixed(y)) width=(fixed((width - gap).max(0.8)))
                height=(fixed(BOTTOM - y)) {}
            @if let (Some(low), Some(high)) = (row.low, row.high) {
                @let (low, high) = (height(low, top), height(high, top));
                // An interval that is shorter than the line width is not drawn.
                @if low - high > 1.0 {
                    path class=(if width < 6.0 { "whisker thin" } else { "whisker" })
                        d={ "M" (fixed(middle)) " " (fixed(low)) "V" (fixed(high)) (end(low))
                            @if !leaves { (end(high)) } } {}
                }
            }
            @if leaves {
                @let reach = (width * 0.45).clamp(1.5, 4.0);
                path class="cut" d={ "M" (fixed(middle - reach)) " " (fixed(TOP - 1.0)) "h" (fixed(2.0 * reach))
                    "l" (fixed(-reach)) " -7z" } {}
            }
        }
    }
}

fn is_no_number(name: &str) -> bool {
    !name.contains(|letter: char| letter.is_ascii_digit())
}

/// Returns whether the numbers of games or positions differ between groups. If all are equal, a strip of bars would show nothing.
fn differ(histogram: &Histogram, rows: &[HistogramRow]) -> bool {
    let mut all = rows.iter().map(|row| row.counts.in_unit(histogram.unit).0);
    let first = all.next();
    all.any(|count| Some(count) != first)
}

/// Writes the number of games or positions in each group below the group's label.
fn counts_below(histogram: &Histogram, rows: &[HistogramRow], plane: &Plane) -> Markup {
    html! {
        @for (row, (from, to)) in rows.iter().zip(&plane.places) {
            text class="count" x=(fixed((from + to) / 2.0)) y=(BOTTOM + 32.0) font-size="11" text-anchor="middle" {
                "n = " (short(row.counts.in_unit(histogram.unit).0))
            }
        }
    }
}

/// Draws the number of games or positions in each group as a strip of bars.
fn strip(histogram: &Histogram, rows: &[HistogramRow], plane: &Plane, y: f64) -> Markup {
    let of = |row: &HistogramRow| row.counts.in_unit(histogram.unit).0;
    let most = rows.iter().map(of).max().unwrap_or(0).max(1);
    let bottom = y + 16.0 + STRIP;
    html! {
        text x=(fixed(plane.left)) y=(fixed(y + 11.0)) font-size="11" {
            "n: the " (histogram.unit.name()) " of each group, at most " (grouped(most))
        }
        line class="axis" x1=(fixed(plane.left)) x2=(RIGHT) y1=(fixed(bottom)) y2=(fixed(bottom)) {}
        @for (row, (from, to)) in rows.iter().zip(&plane.places) {
            @let tall = STRIP * of(row) as f64 / most as f64;
            @if of(row) > 0 {
                rect class="count" x=(fixed(*from)) y=(fixed(bottom - tall.max(0.5))) width=(fixed((to - from).max(0.8)))
                    height=(fixed(tall.max(0.5))) {}
            }
        }
    }
}

/// Returns the width of the longest label, in text columns.
fn longest(rows: &[HistogramRow]) -> usize {
    rows.iter().map(|row| row.label.width()).max().unwrap_or(0)
}

/// Returns the interval, in bars, at which labels can be placed without touching each other.
fn every(rows: &[HistogramRow], width: f64) -> usize {
    ((longest(rows) as f64 * LETTER + 8.0) / width).ceil().max(1.0) as usize
}

/// Returns whether labels are rotated because they are too long to fit below their bars.
fn is_turned(rows: &[HistogramRow], width: f64) -> bool {
    every(rows, width) > 1 && longest(rows) > 4
}

/// Returns the labels of the groups. Some are left out if labels would overlap.
fn names(rows: &[HistogramRow], plane: &Plane, is_turned: bool) -> Markup {
    let width = plane.widest();
    // Rotated labels need only as much space as lines of text.
    let every = if is_turned { (13.0 / width).ceil().max(1.0) as usize } else { every(rows, width) };
    html! {
        @for (row, (from, to)) in rows.iter().zip(&plane.places).step_by(every) {
            @let x = (from + to) / 2.0;
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

pub(super) fn fixed(value: f64) -> String {
    format!("{value:.1}")
}

/// Formats the label of a grid line of the share axis. It is short enough for the margin.
fn tick(share: f64, step: f64) -> String {
    let decimals = (-(step * 100.0).log10().floor()).max(0.0) as usize;
    match decimals {
        _ if share == 0.0 => "0".into(),
        0..=3 => format!("{:.decimals$}%", share * 100.0),
        _ => format!("{:.1e}%", share * 100.0).replace(".0", ""),
    }
}

/// Formats a share as a percentage with three significant digits: `12.5%`, `3.52%`, `0.035%`.
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
        let number = label.parse().ok();
        let low = share.map(|s| s / 2.0);
        HistogramRow { label: label.into(), first: number, last: number, counts, share, low, high: share }
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
        // The wide interval of a small group must not compress the bars of large groups.
        let mut small = row("small", 0, 1);
        small.high = Some(0.8);
        let rows = vec![small, row("large", 20, 1_000)];
        assert!(scale(&rows).0 < 0.03);
        // The interval that extends beyond the axis is marked, and its bar is faded.
        let text = bars(&histogram(rows), "h").into_string();
        assert_eq!((text.matches("class=\"cut\"").count(), text.matches("class=\"few\"").count()), (1, 1));
        assert_eq!(scale(&[]).0, scale(&[row("x", 0, 1)]).0);
    }

    #[test]
    fn a_bar_is_as_high_as_its_share() {
        let text = bars(&histogram(vec![row("1999", 50, 100), row("2000", 0, 0), row("2001", 25, 100)]), "h");
        let text = text.into_string();
        let plane = BOTTOM - TOP;
        let heights = [plane, plane / 2.0].map(|tall| format!(r#"height="{tall:.1}""#));
        for (y, tall) in [TOP, TOP + plane / 2.0].into_iter().zip(heights) {
            assert!(text.contains(&format!(r#"y="{y:.1}""#)) && text.contains(&tall), "{text}");
        }
        assert_eq!(text.matches("class=\"bar\"").count(), 2, "an empty group has no share");
        assert!(text.contains("<title>1999: 50.0%, 50 of 100 games</title>"));
        assert!(text.contains("the least is 25.0% (2001), the most 50.0% (1999)"));
        assert!(bars(&histogram(vec![]), "h").into_string().contains("No group holds anything"));
    }

    /// Returns the ends of the bars of a chart, from left to right.
    fn ends(text: &str) -> Vec<(f64, f64)> {
        let bars = text.split("<rect class=\"bar\" x=\"").skip(1);
        let number = |part: &str| part.split('"').next().unwrap().parse::<f64>().unwrap();
        bars.map(|bar| (number(bar), number(bar.split("width=\"").nth(1).unwrap())))
            .map(|(x, width)| (x, x + width))
            .collect()
    }

    #[test]
    fn a_gap_in_years_is_a_gap_on_the_axis() {
        let years = [2001, 2002, 2010, 2026];
        let rows = years.map(|year| row(&year.to_string(), 5, 100)).to_vec();
        let middles: Vec<f64> = ends(&bars(&histogram(rows.clone()), "h").into_string())
            .iter()
            .map(|(from, to)| (from + to) / 2.0)
            .collect();
        let year = (middles[3] - middles[0]) / 25.0;
        for (middle, k) in middles.iter().zip([0.0, 1.0, 9.0, 25.0]) {
            assert!((middle - middles[0] - k * year).abs() < 0.2, "{middles:?}");
        }
        // Games without a year are drawn apart from the others, and the gap between the years remains.
        let mut rows = rows;
        rows.push(row("?", 5, 100));
        let places = ends(&bars(&histogram(rows), "h").into_string());
        assert!((places[1].0 - places[0].0) * 8.0 - (places[2].0 - places[1].0) < 0.5, "{places:?}");
        assert!(places[4].0 - places[3].1 > 8.0, "{places:?}");
    }

    #[test]
    fn names_of_numbers_stand_where_the_numbers_are() {
        let mut rows: Vec<HistogramRow> =
            (14..29u64).map(|k| row(&(100 * k).to_string(), k, 1_000)).collect();
        rows.iter_mut().for_each(|row| row.last = row.first.map(|first| first + 99));
        let ends = |rows: &[HistogramRow]| rows.iter().map(|row| row.first.zip(row.last)).collect::<Vec<_>>();
        let plane = Plane::from_groups(&ends(&rows), 4);
        let ticks = plane.ticks.as_ref().unwrap();
        let numbers: Vec<i64> = ticks.iter().map(|tick| tick.0).collect();
        assert_eq!(numbers, [1400, 1600, 1800, 2000, 2200, 2400, 2600, 2800]);
        for (tick, place) in ticks.iter().zip(plane.places.iter().step_by(2)) {
            assert!((tick.1 - place.0).abs() < 1e-6);
        }
        // The distances between numbers are very large.
        let rows = [i64::MIN / 2, 0, i64::MAX / 2].map(|number| row(&number.to_string(), 1, 100));
        assert!(Plane::from_groups(&ends(&rows), 4).ticks.unwrap().len() < 10);
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
        let text = heat_map(&HeatMap::from_squares(&counts), "m", None).into_string();
        assert!(text.contains(r#"<title>a1: 7</title><rect class="level-1" x="0" y="294""#), "{text}");
        assert!(text.contains(r#"<title>g8: 1,234</title><rect class="level-8" x="252" y="0""#), "{text}");
        assert!(text.contains(">1.2k</text>"));
        assert_eq!(text.matches("<title>").count(), 64);
    }
}
