//! Heat maps and histograms, each with its table.

use maud::{Markup, html};

use super::{number, table_behind};
use crate::report::{
    findings::{Histogram, HistogramRow},
    heat::{Grid, HeatMap},
    summary::grouped,
    svg,
};

/// Heat maps under the names that their tables have.
pub(super) fn heat_maps(maps: &[(&str, &HeatMap)]) -> Markup {
    html! {
        div.charts {
            @for (id, map) in maps {
                figure {
                    figcaption { (map.label) }
                    (svg::heat_map(map, &format!("{id}-map"), None))
                    (heat_table(id, map))
                }
            }
        }
    }
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

/// Histograms; the n-th table, from 0, is called `histogram-n`.
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
                    (histogram_table(&format!("histogram-{k}"), histogram))
                }
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
