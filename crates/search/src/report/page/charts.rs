//! Heat maps and histograms, each with a table of its numbers.

use maud::{Markup, html};

use super::{number, table, table_behind};
use crate::report::{
    NumberSummary,
    findings::{FEW_GAMES, GroupTable, Histogram, HistogramRow, ValueFindings, ValueGroup},
    heat::{Grid, HeatMap},
    summary::grouped,
    svg,
};

/// The minimum number of cells with hits for which a map is drawn. Fewer cells are shown as a list.
const MAP_MIN: usize = 3;

/// Draws heat maps, each with a table of its counts. `maps` contains each map with the id of its table. Maps with few cells become
/// sentences that list the cells.
pub(super) fn heat_maps(maps: &[(String, &HeatMap)]) -> Markup {
    let (drawn, listed): (Vec<_>, Vec<_>) = maps.iter().partition(|(_, map)| map.cells_hit() >= MAP_MIN);
    html! {
        @for (_, map) in listed.iter().filter(|(_, map)| map.cells_hit() > 0) {
            p { (map.label) ": " (cells_in_words(map)) "." }
        }
        @if !drawn.is_empty() {
            div.charts {
                @for (id, map) in drawn {
                    figure {
                        figcaption { (map.label) }
                        (svg::heat_map(map, &format!("{id}-map"), None))
                        (heat_table(id, map))
                    }
                }
            }
        }
    }
}

/// Lists the cells with hits and their counts: `h7 12, h2 3`.
fn cells_in_words(map: &HeatMap) -> String {
    let side = map.grid.side();
    let cells = map.counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let words =
        cells.map(|(at, &count)| format!("{} {}", map.grid.cell_name(at % side, at / side), grouped(count)));
    words.collect::<Vec<_>>().join(", ")
}

fn heat_table(id: &str, map: &HeatMap) -> Markup {
    let side = map.grid.side();
    let columns: Vec<String> = (0..side).map(|column| map.grid.column_name(column)).collect();
    let corner = match map.grid {
        Grid::Squares => "rank",
        Grid::Offsets => "ranks, files",
    };
    let head: Vec<&str> = [corner].into_iter().chain(columns.iter().map(String::as_str)).collect();
    table_behind(
        id,
        &map.label,
        &head,
        html! {
            @for row in (0..side).rev() {
                tr {
                    th scope="row" { (map.grid.row_name(row)) }
                    @for column in 0..side { td { (number(map.at(column, row))) } }
                }
            }
        },
    )
}

/// Returns the distribution of values, and the values by group. The table has the id `values-table`.
pub(super) fn values(values: &ValueFindings) -> Markup {
    let head = ["", "group", "positions", "mean", "least", "10 %", "25 %", "median", "75 %", "90 %", "most"];
    let caption =
        "Values at the positions that hit: the mean, and the number below which a share of them lies";
    let rows = html! {
        @for ValueGroup { grouping, label, positions, summary, .. } in &values.groups {
            tr {
                td { (grouping) }
                th scope="row" { bdi { (label) } }
                td { (number(*positions)) }
                @for cell in cells(summary) { td { (cell) } }
            }
        }
    };
    html! {
        @if values.steps.rows.len() > 1 {
            div.charts.wide {
                figure {
                    figcaption { "Share of positions with each value" }
                    (svg::bars(&values.steps, "bars-values"))
                }
            }
        } @else if let Some(row) = values.steps.rows.first() {
            p { "The value is " (row.label) " at every position that hits." }
        }
        @if values.steps.rows.len() > 1 { (means(values)) }
        (table_behind("values-table", caption, &head, rows))
    }
}

/// For each grouping whose groups are ranges of numbers, returns a chart of the query's values by group.
fn means(values: &ValueFindings) -> Markup {
    let is_numbers = |group: &&ValueGroup| group.first.is_some();
    let mut names: Vec<&str> =
        values.groups.iter().filter(is_numbers).map(|group| group.grouping.as_str()).collect();
    names.dedup();
    let of = |name: &str| values.groups.iter().filter(|group| group.grouping == name).collect::<Vec<_>>();
    let charts: Vec<_> =
        names.into_iter().map(|name| (name, of(name))).filter(|(_, groups)| groups.len() > 2).collect();
    html! {
        @if !charts.is_empty() {
            div.charts {
                @for (name, groups) in &charts {
                    figure {
                        figcaption { "Mean value, and the middle half of the values, by " (name) }
                        (svg::means(groups, name, &format!("means-{name}")))
                        @if groups.iter().any(|group| group.is_few()) {
                            p.marks { "Faded: fewer than " (FEW_GAMES) " games." }
                        }
                    }
                }
            }
        }
    }
}

fn cells(summary: &NumberSummary) -> [String; 8] {
    let NumberSummary { mean, min, p10, p25, median, p75, p90, max } = *summary;
    let short = |number: f64| format!("{number:.1}").trim_end_matches(".0").to_owned();
    let ends = [min, max].map(|end| end.to_string());
    let [min, max] = ends;
    [format!("{mean:.2}"), min, short(p10), short(p25), short(median), short(p75), short(p90), max]
}

/// Returns the histograms. Their tables have the ids `histogram-0`, `histogram-1` and so on.
pub(super) fn histograms(histograms: &[Histogram]) -> Markup {
    html! {
        div.charts {
            @for (k, histogram) in histograms.iter().enumerate() {
                figure {
                    figcaption {
                        "Share of " (histogram.unit.name()) " that hit, by " (histogram.name)
                        @if histogram.rows.len() > svg::ROWS_MAX {
                            " (the first " (svg::ROWS_MAX) " of " (grouped(histogram.rows.len() as u64)) ")"
                        }
                    }
                    (svg::bars(histogram, &format!("bars-{k}")))
                    (marks(histogram))
                    (histogram_table(&format!("histogram-{k}"), histogram))
                }
            }
        }
    }
}

/// Returns the tables of groups. They have the ids `groups-0`, `groups-1` and so on.
pub(super) fn group_tables(tables: &[GroupTable]) -> Markup {
    html! {
        @for (k, GroupTable { name, headings, rows }) in tables.iter().enumerate() {
            @let head: Vec<&str> = headings.iter().map(String::as_str).collect();
            (table(&format!("groups-{k}"), &format!("Hits by {name}"), &head, html! {
                @for row in rows {
                    tr {
                        @for (at, cell) in row.iter().enumerate() {
                            @if at == 0 {
                                th scope="row" { bdi { (cell) } }
                            } @else {
                                td { (cell) }
                            }
                        }
                    }
                }
            }))
        }
    }
}

/// Returns a legend for the marks in a chart, or nothing if it has none.
fn marks(histogram: &Histogram) -> Markup {
    let (is_cut, has_few) = (svg::is_cut(histogram), histogram.rows.iter().any(HistogramRow::is_few));
    html! {
        @if is_cut || has_few {
            p.marks {
                @if has_few { "Faded: fewer than " (FEW_GAMES) " games. " }
                @if is_cut { "▲ The interval goes on beyond the chart." }
            }
        }
    }
}

fn histogram_table(id: &str, histogram: &Histogram) -> Markup {
    let caption = format!("Hits by {}, and the share of {}", histogram.name, histogram.unit.name());
    let head = [&histogram.name, "games", "games hit", "positions", "positions hit", "share", "from", "to"];
    table_behind(id, &caption, &head, html! { @for row in &histogram.rows { (histogram_row(row)) } })
}

fn histogram_row(row: &HistogramRow) -> Markup {
    let share = |share: Option<f64>| share.map_or("-".to_owned(), svg::percent);
    html! {
        tr {
            th scope="row" { bdi { (row.label) } }
            td { (number(row.counts.games)) }
            td { (number(row.counts.games_hit)) }
            td { (number(row.counts.positions)) }
            td { (number(row.counts.positions_hit)) }
            td { (share(row.share)) }
            td { (share(row.low)) }
            td { (share(row.high)) }
        }
    }
}
