//! Writes the output of `orbit batch`: the numbers of hits of themes, or the themes themselves.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use orbit_core::text::clipped;
use orbit_core::visible::{EscapeContext, escape};
use orbit_search::report::{TextTable, grouped};
use orbit_search::stats::{Counts, GroupKey, GroupRow, Grouping, ScoreOf, Share, ShareDifference};
use orbit_search::themes::Theme;
use serde::Serialize;

use super::failure::Failure;
use super::sink::Sink;
use super::table_format::TableFormat;
use super::terminal;

/// The maximum number of groups of games that a text table shows as columns.
const COLUMNS_MAX: usize = 10;

/// The maximum width of the name of a group in a table. Longer names are cut.
const HEADING_MAX: usize = 16;

/// The names of the columns in CSV: those that identify a row, then the fields of [`ThemeCount`].
const COLUMNS: [&str; 23] = [
    "theme",
    "title",
    "group",
    "grouping",
    "key",
    "games_hit",
    "games",
    "positions_hit",
    "positions",
    "share_games",
    "share_games_low",
    "share_games_high",
    "share_positions",
    "score_of",
    "score_hit",
    "score_all",
    "difference",
    "difference_low",
    "difference_high",
    "side_wins",
    "side_draws",
    "side_losses",
    "side_score",
];

/// The counts of all themes, by the same groupings for every theme.
pub(super) struct Matrix<'a> {
    pub(super) themes: &'a [Theme],
    pub(super) counts: &'a [Counts],
    pub(super) groupings: &'a [Grouping],
}

/// The counts of one theme in one group of games, as a row of CSV or JSON. Shares and scores are from 0 to 1, rounded to six
/// places.
#[derive(Serialize)]
struct ThemeCount {
    games_hit: u64,
    games: u64,
    positions_hit: u64,
    positions: u64,
    share_games: Option<f64>,
    share_games_low: Option<f64>,
    share_games_high: Option<f64>,
    share_positions: Option<f64>,
    score_of: ScoreOf,
    score_hit: Option<f64>,
    score_all: Option<f64>,
    /// The share of games with hits in this group, minus the share in the first group of the grouping.
    difference: Option<f64>,
    difference_low: Option<f64>,
    difference_high: Option<f64>,
    /// The results of the games with hits, for the side that has the pattern. `None` unless the query determines that side.
    side_wins: Option<u64>,
    side_draws: Option<u64>,
    side_losses: Option<u64>,
    side_score: Option<f64>,
}

impl ThemeCount {
    fn from_row(row: &GroupRow) -> ThemeCount {
        let games = |end: fn(&Share) -> f64| row.games().as_ref().map(end).map(rounded);
        ThemeCount {
            games_hit: row.hit.games,
            games: row.all.games,
            positions_hit: row.hit.positions,
            positions: row.all.positions,
            share_games: games(|share| share.value),
            share_games_low: games(|share| share.low),
            share_games_high: games(|share| share.high),
            share_positions: row.positions().map(|share| rounded(share.value)),
            score_of: row.score_of,
            score_hit: row.hit.score().map(rounded),
            score_all: row.all.score().map(rounded),
            difference: None,
            difference_low: None,
            difference_high: None,
            side_wins: row.sides.map(|sides| sides.wins),
            side_draws: row.sides.map(|sides| sides.draws),
            side_losses: row.sides.map(|sides| sides.losses),
            side_score: row.sides.and_then(|sides| sides.score()).map(rounded),
        }
    }

    /// Returns the row of counts for a group, with the difference between its share of games with hits and that of the first group
    /// of the grouping.
    fn beside(row: &GroupRow, first: Option<&GroupRow>) -> ThemeCount {
        let difference =
            first.filter(|first| first.keys != row.keys).and_then(|first| difference(row, first));
        let end = |end: fn(&ShareDifference) -> f64| difference.as_ref().map(end).map(rounded);
        ThemeCount {
            difference: end(|difference| difference.value),
            difference_low: end(|difference| difference.low),
            difference_high: end(|difference| difference.high),
            ..ThemeCount::from_row(row)
        }
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

fn difference(row: &GroupRow, other: &GroupRow) -> Option<ShareDifference> {
    Some(ShareDifference::between(row.games()?, other.games()?))
}

/// The output as JSON.
#[derive(Serialize)]
struct BatchDocument<'a> {
    games: u64,
    positions: u64,
    themes: Vec<ThemeCounts<'a>>,
}

#[derive(Serialize)]
struct ThemeCounts<'a> {
    theme: &'a str,
    title: &'a str,
    group: &'a str,
    query: &'a str,
    #[serde(flatten)]
    count: ThemeCount,
    groupings: BTreeMap<String, Vec<GroupCounts>>,
}

#[derive(Serialize)]
struct GroupCounts {
    key: GroupKey,
    #[serde(flatten)]
    count: ThemeCount,
}

impl Matrix<'_> {
    pub(super) fn write(&self, format: TableFormat, sink: Sink) -> Result<(), Failure> {
        sink.write_whole(&match format {
            TableFormat::Text => self.text().into_bytes(),
            TableFormat::Csv => self.csv(),
            TableFormat::Json => json(&self.document()),
        })
    }

    fn text(&self) -> String {
        if self.groupings.is_empty() {
            return self.totals().text();
        }
        let tables = self.groupings.iter().map(|grouping| self.table(grouping));
        tables.collect::<Vec<_>>().join("\n")
    }

    /// Returns a table with one line for each theme.
    fn totals(&self) -> TextTable {
        let header = ["theme", "games hit", "share", "positions hit", "share"];
        let percent =
            |share: Option<Share>| share.map_or("-".into(), |share| format!("{:.2} %", 100.0 * share.value));
        self.grid(header.map(String::from).to_vec(), None, |counts| {
            let row = counts.total();
            let (games, positions) = (grouped(row.hit.games), grouped(row.hit.positions));
            vec![games, percent(row.games()), positions, percent(row.positions())]
        })
    }

    /// Returns a table with one line for each theme and one column for each group of games.
    fn table(&self, grouping: &Grouping) -> String {
        let groups = self.groups(grouping);
        let mut shown: Vec<&GroupRow> = groups.iter().collect();
        if shown.len() > COLUMNS_MAX {
            let mut sizes: Vec<(Reverse<u64>, usize)> =
                groups.iter().enumerate().map(|(place, row)| (Reverse(row.all.games), place)).collect();
            sizes.sort_unstable();
            let mut places: Vec<usize> = sizes[..COLUMNS_MAX].iter().map(|&(_, place)| place).collect();
            places.sort_unstable();
            shown = places.into_iter().map(|place| &groups[place]).collect();
        }
        let share = |row: &GroupRow| match row.hit.games {
            0 => String::from("-"),
            _ => row.games().map_or(String::new(), |share| format!("{:.1}", 100.0 * share.value)),
        };
        let names = shown.iter().map(|row| heading(&row.keys[0]));
        // If there are exactly two groups, a last column shows the difference between them.
        let is_pair = shown.len() == 2;
        let last = ["all".into()].into_iter().chain(is_pair.then(|| String::from("second - first (95 %)")));
        let header: Vec<String> = std::iter::once("theme".into()).chain(names).chain(last).collect();
        let all = self.widest().map_or(0, |counts| counts.total().all.games);
        let sizes = shown.iter().map(|row| grouped(row.all.games)).chain([grouped(all)]);
        let grid = self.grid(header, Some(sizes.collect()), |counts| {
            let rows = by_key(counts, grouping);
            let found: Vec<Option<&GroupRow>> = shown.iter().map(|group| rows.get(&group.keys[0])).collect();
            let cells = found.iter().map(|row| row.map_or(String::new(), share));
            let compared = match &found[..] {
                [Some(first), Some(second)] => difference(second, first),
                _ => None,
            };
            let compared = compared.map_or(String::new(), |ShareDifference { value, low, high }| {
                format!("{:+.1} ({:+.1} to {:+.1})", 100.0 * value, 100.0 * low, 100.0 * high)
            });
            cells.chain([share(&counts.total())]).chain(is_pair.then_some(compared)).collect()
        });
        let mut out = format!("games hit, in percent of the games, by {grouping}\n{}", grid.text());
        if shown.len() < groups.len() {
            let more = grouped((groups.len() - shown.len()) as u64);
            out.push_str(&format!(
                "... and {more} more columns, with fewer games: --format csv has them all\n"
            ));
        }
        out
    }

    /// Returns the counts of the theme whose search covered the most positions. If some themes search side lines, this is one of
    /// those.
    fn widest(&self) -> Option<&Counts> {
        self.counts.iter().rev().max_by_key(|counts| counts.total().all.positions)
    }

    /// Returns the groups of a grouping. All themes are searched in the same games, so every theme has the same groups. Groups by
    /// name or opening are ordered by their numbers of games; all other groups are in their natural order.
    fn groups(&self, grouping: &Grouping) -> Vec<GroupRow> {
        let mut groups = self.widest().map_or(Vec::new(), |counts| counts.rows(grouping));
        if grouping.first.is_ranked() {
            groups.sort_by(|a, b| (b.all.games, &a.keys).cmp(&(a.all.games, &b.keys)));
        }
        groups
    }

    /// Returns a table with a line for each theme. The themes of a group are below the group's name. `sizes` are the numbers of
    /// games in each column; if they are given, they form the first line.
    fn grid(
        &self,
        headings: Vec<String>,
        sizes: Option<Vec<String>>,
        cells: impl Fn(&Counts) -> Vec<String>,
    ) -> TextTable {
        let mut grid = TextTable::new(headings).first_left(true);
        sizes.into_iter().for_each(|sizes| grid.push("games".into(), sizes));
        for (group, members) in by_group(self.themes) {
            grid.push(group.to_owned(), []);
            for place in members {
                grid.push(format!("  {}", self.themes[place].name), cells(&self.counts[place]));
            }
        }
        grid
    }

    fn csv(&self) -> Vec<u8> {
        let mut out = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        let in_memory = "memory takes everything";
        out.write_record(COLUMNS).expect(in_memory);
        let groups: Vec<Vec<GroupRow>> =
            self.groupings.iter().map(|grouping| self.groups(grouping)).collect();
        for (theme, counts) in self.themes.iter().zip(self.counts) {
            let Theme { name, title, group, .. } = theme;
            let total = ThemeCount::from_row(&counts.total());
            out.serialize((name, title, group, "total", GroupKey::Whole, total)).expect(in_memory);
            for (grouping, groups) in self.groupings.iter().zip(&groups) {
                let rows = by_key(counts, grouping);
                let first = groups.first().and_then(|group| rows.get(&group.keys[0]));
                for row in groups.iter().filter_map(|group| rows.get(&group.keys[0])) {
                    let about = (name, title, group, grouping.to_string(), &row.keys[0]);
                    out.serialize((about, ThemeCount::beside(row, first))).expect(in_memory);
                }
            }
        }
        out.into_inner().expect(in_memory)
    }

    fn document(&self) -> BatchDocument<'_> {
        let all = self.widest().map(|counts| counts.total().all).unwrap_or_default();
        let of_grouping = |counts: &Counts, grouping: &Grouping| {
            let rows = by_key(counts, grouping);
            let groups = self.groups(grouping);
            let first = groups.first().and_then(|group| rows.get(&group.keys[0]));
            let groups = groups.iter().filter_map(|group| rows.get(&group.keys[0]));
            let count = |row: &GroupRow| GroupCounts {
                key: row.keys[0].clone(),
                count: ThemeCount::beside(row, first),
            };
            groups.map(count).collect()
        };
        let themes = self.themes.iter().zip(self.counts).map(|(theme, counts)| ThemeCounts {
            theme: &theme.name,
            title: &theme.title,
            group: &theme.group,
            query: theme.query.trim(),
            count: ThemeCount::from_row(&counts.total()),
            groupings: self.groupings.iter().map(|by| (by.to_string(), of_grouping(counts, by))).collect(),
        });
        BatchDocument { games: all.games, positions: all.positions, themes: themes.collect() }
    }
}

fn by_key(counts: &Counts, grouping: &Grouping) -> HashMap<GroupKey, GroupRow> {
    counts.rows(grouping).into_iter().map(|row| (row.keys[0].clone(), row)).collect()
}

/// Returns the groups of themes in the order of their first appearance, each with the indices of its themes.
fn by_group(themes: &[Theme]) -> Vec<(&str, Vec<usize>)> {
    let mut out: Vec<(&str, Vec<usize>)> = Vec::new();
    for (place, theme) in themes.iter().enumerate() {
        match out.iter_mut().find(|(group, _)| *group == theme.group) {
            Some((_, members)) => members.push(place),
            None => out.push((&theme.group, vec![place])),
        }
    }
    out
}

/// Returns the name of a group of games, escaped for a terminal and cut to the width of a column.
fn heading(key: &GroupKey) -> String {
    clipped(&escape(&key.to_string(), EscapeContext::Line), HEADING_MAX)
}

/// A theme in the form in which it is written as JSON.
#[derive(Serialize)]
struct ThemeRecord<'a> {
    theme: &'a str,
    title: &'a str,
    group: &'a str,
    query: &'a str,
    description: &'a str,
    source: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hits: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    misses: &'a [String],
}

impl<'a> ThemeRecord<'a> {
    fn from_theme(theme: &'a Theme) -> ThemeRecord<'a> {
        ThemeRecord {
            theme: &theme.name,
            title: &theme.title,
            group: &theme.group,
            query: theme.query.trim(),
            description: &theme.description,
            source: &theme.source,
            hits: &theme.hits,
            misses: &theme.misses,
        }
    }
}

/// Writes the list of themes, without the positions of their examples.
pub(super) fn list(themes: &[Theme], format: TableFormat, sink: Sink) -> Result<(), Failure> {
    let brief = |theme| ThemeRecord { hits: &[], misses: &[], ..ThemeRecord::from_theme(theme) };
    sink.write_whole(&match format {
        TableFormat::Json => json(&themes.iter().map(brief).collect::<Vec<_>>()),
        TableFormat::Csv => {
            let mut out = csv::Writer::from_writer(Vec::new());
            themes.iter().for_each(|theme| out.serialize(brief(theme)).expect("memory takes everything"));
            out.into_inner().expect("memory takes everything")
        }
        TableFormat::Text => {
            let mut out = String::new();
            for (group, members) in by_group(themes) {
                out.push_str(&format!("{group}\n"));
                for Theme { name, title, description, .. } in members.into_iter().map(|place| &themes[place])
                {
                    out.push_str(&format!("  {name}: {title}\n"));
                    if !description.is_empty() {
                        out.push_str(&format!("      {description}\n"));
                    }
                }
            }
            shown(&out)
        }
    })
}

/// Writes everything about one theme.
pub(super) fn show(theme: &Theme, format: TableFormat, sink: Sink) -> Result<(), Failure> {
    match format {
        TableFormat::Json => sink.write_whole(&json(&ThemeRecord::from_theme(theme))),
        TableFormat::Csv => list(std::slice::from_ref(theme), format, sink),
        TableFormat::Text => sink.write_whole(&shown(&whole(theme))),
    }
}

fn whole(theme: &Theme) -> String {
    let Theme { name, title, group, description, source, .. } = theme;
    let mut out = String::new();
    for (label, text) in
        [("theme", name), ("title", title), ("group", group), ("about", description), ("source", source)]
    {
        if !text.is_empty() {
            out.push_str(&format!("{label:<8}{text}\n"));
        }
    }
    let (query, hits, misses) = (theme.query.trim(), theme.hits.join("\n"), theme.misses.join("\n"));
    for (label, lines) in [("query", query), ("hits", &hits), ("misses", &misses)] {
        for (place, line) in lines.lines().enumerate() {
            out.push_str(&format!("{:<8}{line}\n", if place == 0 { label } else { "" }));
        }
    }
    out
}

/// Escapes a string, since a file of themes may come from anywhere.
fn shown(text: &str) -> Vec<u8> {
    escape(text, EscapeContext::Lines).into_owned().into_bytes()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    format!("{}\n", terminal::json(value)).into_bytes()
}
