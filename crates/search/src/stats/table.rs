//! Formats counts as aligned tables for people.

use std::cmp::Reverse;
use std::io::{self, Write};

use hashbrown::HashMap;

use super::records::pattern;
use super::{By, Counts, GroupKey, GroupRow, Grouping, MoveRow, Share, SideResults};
use crate::report::findings::GroupTable;
use crate::report::{NumberSummary, TextTable, grouped};
use orbit_core::text::clipped;
use orbit_core::visible;

/// The maximum width of a name in a table of groups. On a terminal, longer names are truncated.
const KEY_WIDTH_MAX: usize = 40;
/// The maximum number of columns in a cross table whose columns are sorted by the number of games with hits.
const COLUMNS_MAX: usize = 8;

/// Limits on the groups in a text table, for groups that are names, openings, copies or moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableLimits {
    /// The maximum number of groups. Those with the most games with hits are listed.
    pub rows_max: usize,
    /// The minimum number of games with hits. Groups that have fewer are not listed.
    pub games_min: u64,
}

impl From<usize> for TableLimits {
    /// Creates a limit only on the number of groups.
    fn from(rows_max: usize) -> TableLimits {
        TableLimits { rows_max, games_min: 0 }
    }
}

impl Counts {
    /// Writes a table for each grouping, with empty lines between tables. A grouping by one property has a line for each group; a
    /// grouping by two properties is a cross table of games with hits. If groups are names, openings or copies, only groups within
    /// the limits are listed, followed by the number of omitted groups. `copies` contains the transformed copies of the query as
    /// CQL, in order of copy number. If `cut` is true, long names are truncated to fit a terminal. Column headings are always
    /// truncated.
    ///
    /// # Errors
    ///
    /// Returns the errors of the writer.
    pub fn write_text(
        &self,
        limits: impl Into<TableLimits>,
        copies: &[String],
        cut: bool,
        mut out: impl Write,
    ) -> io::Result<()> {
        let limits = limits.into();
        for (index, grouping) in self.stats().groupings().iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            match &grouping.second {
                None => {
                    out.write_all(self.list(grouping, limits, copies, cut).text().as_bytes())?;
                    if self.stats().tells_values() {
                        writeln!(out)?;
                        out.write_all(self.values(grouping, limits, cut).text().as_bytes())?;
                    }
                }
                Some(second) => {
                    writeln!(out, "games hit by {} (down) and {second} (across)", grouping.first)?;
                    out.write_all(self.matrix(grouping, second, limits, cut).text().as_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Returns the tables for all groupings by one property whose groups are names, openings, copies or moves. Reports have a chart
    /// of results. The parameters are those of [`Counts::write_text`].
    pub fn tables(&self, limits: TableLimits, copies: &[String]) -> Vec<GroupTable> {
        let of_names = |grouping: &&Grouping| {
            let by = &grouping.first;
            grouping.second.is_none() && (by.is_named() || by.is_ranked()) && *by != By::Result
        };
        let table = |grouping: &Grouping| {
            let table = self.list(grouping, limits, copies, false);
            let mut lines = table.lines().map(<[String]>::to_vec);
            let headings = lines.next().unwrap_or_default();
            GroupTable { name: grouping.to_string(), headings, rows: lines.collect() }
        };
        self.stats().groupings().iter().filter(of_names).map(table).collect()
    }

    /// Returns the table for one property, with a line for each group and a line for the total.
    fn list(&self, grouping: &Grouping, limits: TableLimits, copies: &[String], cut: bool) -> TextTable {
        let by = &grouping.first;
        let (rows, more) = split(self.rows(grouping), by, limits);
        let total = self.total();
        if by.is_of_moves() {
            return moves(by, &rows, more, &total, cut);
        }
        let score_of = rows.first().map_or(total.score_of, |row| row.score_of);
        let has_copies = *by == By::Copy;
        let name = by.to_string();
        let mut header: Vec<&str> = vec![
            &name,
            "games hit",
            "games",
            "share",
            "positions hit",
            "positions",
            "share",
            score_of.heading(),
            "of all",
        ];
        header.extend(total.sides.map(|_| "matching side's score"));
        header.extend(has_copies.then_some("pattern"));
        let mut grid = grid(by, header.into_iter().map(String::from).collect()).last_left(has_copies);
        for row in &rows {
            let pattern = pattern(grouping, row, copies).map(|pattern| visible::line(pattern).into_owned());
            grid.push(label(&row.keys[0], cut), numbers(row).into_iter().chain(pattern));
        }
        more.into_iter().for_each(|more| grid.remark(more));
        let mut sums = numbers(&total);
        if score_of != total.score_of {
            // The score in each row is that of the group's player. The total has no single player, so it has no score.
            sums[SCORES].fill(String::new());
        }
        grid.push("total".into(), sums);
        grid
    }

    /// Returns the table that summarizes the query's values at the hits of each group, with a line for each group and a line for
    /// all hits.
    fn values(&self, grouping: &Grouping, limits: TableLimits, cut: bool) -> TextTable {
        let by = &grouping.first;
        let (rows, more) = split(self.rows(grouping), by, limits);
        let total = self.total();
        let all = total.values.clone().unwrap_or_default();
        let (step, bins) = (all.step(), all.bins(all.step()));
        let ends = bins.first().zip(bins.last());
        let spread = ends.map_or(String::from("spread"), |(first, last)| match step {
            1 => format!("{} to {}", first.from, last.to),
            step => format!("{} to {} by {step}", first.from, last.to),
        });
        let header = ["values", "mean", "min", "10 %", "25 %", "median", "75 %", "90 %", "max"];
        let header = std::iter::once(by.to_string()).chain(header.map(String::from)).chain([spread]);
        let mut grid = grid(by, header.collect()).last_left(true);
        let cells =
            |row: &GroupRow| value_cells(row, step, bins.first().map_or(0, |bin| bin.from), bins.len());
        rows.iter().for_each(|row| grid.push(label(&row.keys[0], cut), cells(row)));
        more.into_iter().for_each(|more| grid.remark(more));
        grid.push("total".into(), cells(&total));
        grid
    }

    /// Returns the cross table of two properties, which has the numbers of games with hits, and row and column totals.
    fn matrix(&self, grouping: &Grouping, second: &By, limits: TableLimits, cut: bool) -> TextTable {
        let margin = |by: &By| self.rows(&by.clone().into());
        let (rows, more) = split(margin(&grouping.first), &grouping.first, limits);
        let across = TableLimits { rows_max: limits.rows_max.min(COLUMNS_MAX), ..limits };
        let (columns, more_columns) = split(margin(second), second, across);
        let cells = self.rows(grouping).into_iter().map(|row| (row.keys, row.hit.games));
        let cells: HashMap<[GroupKey; 2], u64> = cells.collect();
        let names = columns.iter().map(|column| label(&column.keys[0], true));
        let header = std::iter::once(grouping.first.to_string()).chain(names);
        let mut grid = grid(&grouping.first, header.chain([String::from("total")]).collect());
        for row in &rows {
            let [key, _] = &row.keys;
            let cell = |column: &GroupRow| cells.get(&[key.clone(), column.keys[0].clone()]).copied();
            let games = columns.iter().map(|column| cell(column).map_or(String::new(), grouped));
            grid.push(label(key, cut), games.chain([grouped(row.hit.games)]));
        }
        more.into_iter().for_each(|more| grid.remark(more));
        let sums =
            columns.iter().chain([&self.total()]).map(|row| grouped(row.hit.games)).collect::<Vec<_>>();
        grid.push("total".into(), sums);
        more_columns.iter().for_each(|more| grid.remark(format!("{more} across")));
        grid
    }
}

/// Returns the table of moves, with a line for each move and a line for all hits. Columns without values are left out.
fn moves(by: &By, rows: &[GroupRow], more: Option<String>, total: &GroupRow, cut: bool) -> TextTable {
    let cells: Vec<Vec<String>> = rows.iter().map(|row| move_cells(row, cut)).collect();
    let is_known = |&column: &usize| column < 3 || cells.iter().any(|cells| !cells[column].is_empty());
    let columns: Vec<usize> = (0..MOVE_HEADINGS.len()).filter(is_known).collect();
    let headings = columns.iter().map(|&column| MOVE_HEADINGS[column].to_owned());
    let headings = std::iter::once(by.to_string()).chain(headings);
    let mut grid = grid(by, headings.collect()).last_left(columns.ends_with(&[MOVE_HEADINGS.len() - 1]));
    for (row, cells) in rows.iter().zip(cells) {
        grid.push(label(&row.keys[0], cut), columns.iter().map(|&column| cells[column].clone()));
    }
    more.into_iter().for_each(|more| grid.remark(more));
    grid.push("total".into(), [grouped(total.hit.games), String::new(), grouped(total.hit.positions)]);
    grid
}

/// The headings in the table of moves. The first three columns are never left out.
const MOVE_HEADINGS: [&str; 10] = [
    "games hit",
    "share",
    "positions hit",
    "mover's score",
    "won, drawn, lost",
    "rating",
    "performance",
    "years",
    "matching side's score",
    "game of the highest rating",
];

/// Returns an empty table whose first column has the groups. Names are left-aligned, and numbers right-aligned.
fn grid(by: &By, headings: Vec<String>) -> TextTable {
    TextTable::new(headings).first_left(by.is_named())
}

/// Returns the groups to show, and a line about omitted groups if there are any.
fn split(mut rows: Vec<GroupRow>, by: &By, limits: TableLimits) -> (Vec<GroupRow>, Option<String>) {
    if !by.is_limited() {
        return (rows, None);
    }
    let all = rows.len();
    // If groups are sequences of moves, a sequence never has fewer games than its continuations. So no continuation is shown
    // without the moves before it.
    rows.retain(|row| row.hit.games >= limits.games_min);
    if rows.len() > limits.rows_max {
        let mut ranks: Vec<(Reverse<u64>, usize)> =
            rows.iter().enumerate().map(|(place, row)| (Reverse(row.hit.games), place)).collect();
        ranks.sort_unstable();
        let mut is_shown = vec![false; rows.len()];
        ranks[..limits.rows_max].iter().for_each(|&(_, place)| is_shown[place] = true);
        let mut is_shown = is_shown.into_iter();
        rows.retain(|_| is_shown.next() == Some(true));
    }
    let more = all - rows.len();
    (rows, (more > 0).then(|| format!("... and {} more", grouped(more as u64))))
}

/// The indices of those cells in a row of the table that show scores.
const SCORES: std::ops::Range<usize> = 6..8;

fn numbers(row: &GroupRow) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let score = |score: Option<f64>| score.map_or(String::new(), percent);
    let games = row.games().map_or(String::new(), |Share { value, low, high }| {
        format!("{} ({:.1}-{:.1})", percent(value), 100.0 * low, 100.0 * high)
    });
    let positions = row.positions().map_or(String::new(), |share| format!("{:.2} %", 100.0 * share.value));
    let sides = row.sides.map(|results| side_cell(&results));
    let mut cells = vec![
        grouped(row.hit.games),
        grouped(row.all.games),
        games,
        grouped(row.hit.positions),
        grouped(row.all.positions),
        positions,
        score(row.hit.score()),
        score(row.all.score()),
    ];
    cells.extend(sides);
    cells
}

fn move_cells(row: &GroupRow, cut: bool) -> Vec<String> {
    let Some(moves @ MoveRow { tally, .. }) = &row.moves else {
        return vec![String::new(); MOVE_HEADINGS.len()];
    };
    let share = row.move_share().map_or(String::new(), |share| format!("{:.1} %", 100.0 * share.value));
    let score = moves.score().map_or(String::new(), |Share { value, low, high }| {
        format!("{:.1} % ({:.1}-{:.1})", 100.0 * value, 100.0 * low, 100.0 * high)
    });
    let number = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
    let years = match tally.years {
        Some([first, last]) if first < last => format!("{first}-{last}"),
        years => years.map_or(String::new(), |[year, _]| year.to_string()),
    };
    let best = tally.best.as_ref().map_or(String::new(), |best| {
        let [white, black] = best.players.each_ref().map(|name| name.as_deref().unwrap_or("?"));
        let year = best.year.map_or(String::new(), |year| format!(" {year}"));
        let players = format!("{white} - {black}");
        let players = visible::line(&players);
        let players = if cut { clipped(&players, KEY_WIDTH_MAX) } else { players.into_owned() };
        format!("{players}{year} ({})", best.rating)
    });
    let mut cells = vec![grouped(row.hit.games), share, grouped(row.hit.positions), score];
    cells.extend([ends(&tally.results), number(tally.rating().map(|rating| rating as i64))]);
    cells.extend([number(tally.performance()), years]);
    cells.extend([row.sides.map_or(String::new(), |results| side_cell(&results)), best]);
    cells
}

/// Formats wins, draws and losses: `+8 =3 -1`.
fn ends(results: &SideResults) -> String {
    let [wins, draws, losses] = [results.wins, results.draws, results.losses].map(grouped);
    format!("+{wins} ={draws} -{losses}")
}

/// Returns the cell with the score of the sides whose pattern matched, or an empty cell if there are no games.
fn side_cell(results: &SideResults) -> String {
    results.score().map_or(String::new(), |score| format!("{:.1} % ({})", 100.0 * score, ends(results)))
}

/// Returns the cells about the values at a group's hits: a summary, and a bar for each of `steps` bins, the first of which begins
/// at the number `from`.
fn value_cells(row: &GroupRow, step: i64, from: i64, steps: usize) -> Vec<String> {
    let values = row.values.clone().unwrap_or_default();
    let mut out = vec![grouped(values.count())];
    let Some(summary) = values.summary() else { return out };
    let NumberSummary { mean, min, p10, p25, median, p75, p90, max } = summary;
    let short = |number: f64| {
        let text = format!("{number:.1}");
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    out.extend([format!("{mean:.2}"), min.to_string(), short(p10), short(p25), short(median), short(p75)]);
    out.extend([short(p90), max.to_string()]);
    let mut heights = vec![0; steps];
    for bin in values.bins(step) {
        heights[((bin.from - from) / step) as usize] = bin.positions;
    }
    let most = heights.iter().copied().max().unwrap_or(0).max(1);
    let bar = |height: u64| match height {
        0 => ' ',
        height => BARS[((height * BARS.len() as u64).div_ceil(most) as usize).clamp(1, BARS.len()) - 1],
    };
    out.push(heights.into_iter().map(bar).collect::<String>().trim_end().to_owned());
    out
}

/// The characters that draw a histogram on one line, from the smallest count to the largest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns the name of a group as a single line.
fn label(key: &GroupKey, cut: bool) -> String {
    let name = key.to_string();
    let name = visible::line(&name);
    if cut { clipped(&name, KEY_WIDTH_MAX) } else { name.into_owned() }
}
