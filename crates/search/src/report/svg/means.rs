//! Charts that compare a query's values between groups of hits.

use maud::{Markup, html};
use unicode_width::UnicodeWidthStr as _;

use super::chart::{BOTTOM, Plane, ROWS_MAX, TOP, fixed};
use super::picture;
use crate::report::findings::ValueGroup;
use crate::report::summary::grouped;

/// Returns a chart of a query's values in each group of hits. Groups that are ranges of numbers are drawn on a numeric axis. A box
/// shows the middle half of the values, and a line the mean. At most [`ROWS_MAX`] groups are drawn. Groups with few games are
/// faded.
pub fn means(groups: &[&ValueGroup], name: &str, id: &str) -> Markup {
    let groups = &groups[..groups.len().min(ROWS_MAX)];
    let (lines, step) = lines(groups);
    let names: Vec<String> = lines.iter().map(|value| tick(*value, step)).collect();
    let ends: Vec<_> = groups.iter().map(|group| group.first.zip(group.last)).collect();
    let plane = Plane::from_groups(&ends, names.iter().map(|name| name.width()).max().unwrap_or(1));
    let (low, high) = (lines.first().copied().unwrap_or(0.0), lines.last().copied().unwrap_or(1.0));
    let height = |value: f64| BOTTOM - (BOTTOM - TOP) * ((value - low) / (high - low)).clamp(0.0, 1.0);
    let inside = html! {
        @for (value, name) in lines.iter().zip(&names) { (plane.line(height(*value), *value == 0.0, name)) }
        @for (group, (left, right)) in groups.iter().zip(&plane.places) {
            (bar(group, (*left, *right), [group.summary.p25, group.summary.mean, group.summary.p75].map(height)))
        }
        (plane.numbers(groups.iter().map(|group| group.label.as_str())))
    };
    let title = format!("Values by {name}");
    let words =
        format!("{} groups; a line for the mean, a box for the middle half of the values.", groups.len());
    picture(id, "bars", (0, 0, 400, BOTTOM as i32 + 24), &title, &words, inside)
}

fn bar(group: &ValueGroup, (left, right): (f64, f64), [p25, mean, p75]: [f64; 3]) -> Markup {
    let width = right - left;
    let gap = (width * 0.18).min(6.0);
    let summary = &group.summary;
    html! {
        g class=[group.is_few().then_some("few")] {
            title {
                (group.label) ": mean " (format!("{:.2}", summary.mean)) ", the middle half from " (summary.p25) " to "
                (summary.p75) ", " (grouped(group.positions)) " positions"
            }
            rect class="bar" x=(fixed(left + gap / 2.0)) y=(fixed(p75)) width=(fixed((width - gap).max(0.8)))
                height=(fixed((p25 - p75).max(1.0))) {}
            path class="whisker" d={ "M" (fixed(left + gap / 2.0)) " " (fixed(mean)) "h" (fixed((width - gap).max(0.8))) } {}
        }
    }
}

/// Returns the values at which grid lines are drawn, and the distance between them. The lines cover the range of all boxes and
/// means.
fn lines(groups: &[&ValueGroup]) -> (Vec<f64>, f64) {
    let values =
        || groups.iter().flat_map(|group| [group.summary.p25, group.summary.mean, group.summary.p75]);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let (low, high) =
        if low < high { (low, high) } else { (low.min(0.0).min(high), low.min(0.0).max(high) + 1.0) };
    let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
    let power = 10f64.powf(((high - low) / 4.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    let step = steps.into_iter().find(|step| step * 5.0 >= high - low).unwrap_or(10.0 * power);
    let (first, last) = ((low / step + 1e-9).floor() as i64, (high / step - 1e-9).ceil() as i64);
    ((first..=last.max(first + 1)).map(|k| k as f64 * step).collect(), step)
}

fn tick(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.decimals$}");
    if value == 0.0 { "0".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Distribution;

    fn group(year: i64, numbers: &[i32]) -> ValueGroup {
        let mut all = Distribution::default();
        numbers.iter().for_each(|&number| all.add(number, 1));
        ValueGroup {
            grouping: "year".into(),
            label: year.to_string(),
            first: Some(year),
            last: Some(year),
            games: 50,
            positions: numbers.len() as u64,
            summary: all.summary().unwrap(),
        }
    }

    #[test]
    fn lines_hold_all_boxes() {
        for (numbers, first, last) in [
            (&[-3, 0, 0, 4][..], -1.0, 1.0),
            (&[3, 3], 0.0, 4.0),
            (&[0], 0.0, 1.0),
            (&[-1_000, 1_000, 5], -600.0, 600.0),
        ] {
            let (lines, _) = lines(&[&group(2_000, numbers)]);
            assert_eq!((lines[0], *lines.last().unwrap()), (first, last), "{lines:?}");
            assert!(lines.len() < 12, "{lines:?}");
        }
    }

    #[test]
    fn a_box_is_the_middle_half() {
        let groups = [group(2_000, &[0, 0, 10, 10]), group(2_010, &[0, 5, 5, 10])];
        let text = means(&[&groups[0], &groups[1]], "year", "m").into_string();
        let plane = BOTTOM - TOP;
        assert!(text.contains(&format!(r#" y="{TOP:.1}" width="#)), "{text}");
        assert!(text.contains(&format!(r#" height="{plane:.1}"></rect>"#)), "{text}");
        assert!(
            text.contains("<title>2010: mean 5.00, the middle half from 3.75 to 6.25, 4 positions</title>"),
            "{text}"
        );
    }
}
