//! Counts the hits of many themes in groups, for `orbit batch`, `orbit serve` and Python.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::records::rounded;
use super::{Counts, GroupKey, GroupRow, Grouping, ScoreOf, Share, ShareDifference};

/// The column names in CSV: those that identify a row, then the fields of [`ThemeCount`].
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

/// The name, title, group and query of a theme.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ThemeLabel {
    /// The name.
    pub theme: String,
    /// The name that people read.
    pub title: String,
    /// The group of the theme, or an empty string if it has none.
    pub group: String,
    /// The text of the query.
    pub query: String,
}

/// The counts of themes, in total and by group. All themes are counted in one set of games and by one list of groupings.
/// `Serialize` writes the JSON of `orbit batch --format json`. The rows of a theme are computed on demand, because with many themes
/// and groups, all rows would need gigabytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThemeMatrix {
    groupings: Vec<Grouping>,
    labels: Vec<ThemeLabel>,
    /// The counts of each theme.
    counts: Vec<Counts>,
    /// The groups of each grouping, in order.
    keys: Vec<Vec<GroupKey>>,
}

/// The counts of one theme.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThemeCounts {
    /// The names of the theme.
    pub label: ThemeLabel,
    /// The counts in all games.
    pub total: GroupRow,
    /// The groups of each grouping. Groups by name or opening are sorted by number of games; all other groups are in their natural
    /// order.
    pub groups: Vec<Vec<GroupRow>>,
}

impl ThemeMatrix {
    /// Creates the matrix from the counts of each theme, which must have these groupings.
    ///
    /// # Panics
    ///
    /// Panics if the numbers of labels and counts differ.
    pub fn new(labels: Vec<ThemeLabel>, counts: Vec<Counts>, groupings: &[Grouping]) -> ThemeMatrix {
        assert_eq!(labels.len(), counts.len(), "each theme has a label and counts");
        let keys = groupings.iter().map(|by| keys(widest(&counts).map(|index| &counts[index]), by)).collect();
        ThemeMatrix { groupings: groupings.to_vec(), labels, counts, keys }
    }

    /// Returns the groupings.
    pub fn groupings(&self) -> &[Grouping] {
        &self.groupings
    }

    /// Returns the label of each theme, in the order in which the themes were given.
    pub fn labels(&self) -> &[ThemeLabel] {
        &self.labels
    }

    /// Returns the counts of a theme, given its index.
    ///
    /// # Panics
    ///
    /// Panics if there is no such theme.
    pub fn theme(&self, index: usize) -> ThemeCounts {
        let counts = &self.counts[index];
        let groups = self.groupings.iter().zip(&self.keys);
        ThemeCounts {
            label: self.labels[index].clone(),
            total: counts.total(),
            groups: groups.map(|(by, keys)| in_order(counts.rows(by), keys)).collect(),
        }
    }

    /// Returns the counts of all themes, in the order in which the themes were given.
    pub fn themes(&self) -> impl Iterator<Item = ThemeCounts> + '_ {
        (0..self.labels.len()).map(|index| self.theme(index))
    }

    /// Returns the number of rows: one for each combination of theme, grouping and group.
    pub fn rows(&self) -> usize {
        self.keys.iter().map(Vec::len).sum::<usize>() * self.labels.len()
    }

    /// Returns the counts of the theme whose search covered the most positions. It is one that searches side lines, if any theme
    /// does.
    pub fn widest(&self) -> Option<ThemeCounts> {
        widest(&self.counts).map(|index| self.theme(index))
    }

    /// Returns the counts as CSV. Each theme has a row for its total, and a row for each group.
    pub fn csv(&self) -> Vec<u8> {
        let mut out = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        let in_memory = "memory takes everything";
        out.write_record(COLUMNS).expect(in_memory);
        for ThemeCounts { label, total, groups } in self.themes() {
            let ThemeLabel { theme, title, group, .. } = &label;
            let total = ThemeCount::from_row(&total);
            out.serialize((theme, title, group, "total", GroupKey::Whole, total)).expect(in_memory);
            for (place, (grouping, rows)) in self.groupings.iter().zip(groups).enumerate() {
                for (row, record) in rows.iter().zip(self.records(place, &rows)) {
                    let about = (theme, title, group, grouping.to_string(), &row.keys[0]);
                    out.serialize((about, record)).expect(in_memory);
                }
            }
        }
        out.into_inner().expect(in_memory)
    }

    /// Returns the records of a theme's groups. `place` is the index of the grouping. If no game is in two groups, each group is
    /// compared with the first group of the grouping, which does not depend on the theme.
    fn records(&self, place: usize, rows: &[GroupRow]) -> impl Iterator<Item = ThemeCount> {
        let first = self.keys[place].first().filter(|_| self.groupings[place].first.divides_games());
        let first = rows.first().filter(|row| first == Some(&row.keys[0]));
        rows.iter().map(move |row| ThemeCount::beside(row, first))
    }

    fn record<'a>(&self, theme: &'a ThemeCounts) -> CountsRecord<'a> {
        let mut groupings = BTreeMap::new();
        for (place, (by, rows)) in self.groupings.iter().zip(&theme.groups).enumerate() {
            let keys = rows.iter().map(|row| &row.keys[0]);
            let groups = keys.zip(self.records(place, rows)).map(|(key, count)| GroupRecord { key, count });
            groupings.insert(by.to_string(), groups.collect());
        }
        CountsRecord { label: &theme.label, count: ThemeCount::from_row(&theme.total), groupings }
    }
}

impl Serialize for ThemeMatrix {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let all = widest(&self.counts).map(|index| self.counts[index].total().all).unwrap_or_default();
        MatrixRecord { games: all.games, positions: all.positions, themes: RecordsOf(self) }.serialize(to)
    }
}

/// Returns the index of the theme whose search covered the most positions.
fn widest(counts: &[Counts]) -> Option<usize> {
    (0..counts.len()).rev().max_by_key(|&index| counts[index].total().all.positions)
}

/// Returns the groups of a grouping in order. All themes are searched in the same games, so they all have the same groups.
fn keys(widest: Option<&Counts>, grouping: &Grouping) -> Vec<GroupKey> {
    let mut rows = widest.map_or(Vec::new(), |counts| counts.rows(grouping));
    if grouping.first.is_ranked() {
        rows.sort_by(|a, b| (b.all.games, &a.keys).cmp(&(a.all.games, &b.keys)));
    }
    rows.into_iter().map(|GroupRow { keys: [key, _], .. }| key).collect()
}

fn in_order(rows: Vec<GroupRow>, keys: &[GroupKey]) -> Vec<GroupRow> {
    let mut rows: HashMap<GroupKey, GroupRow> =
        rows.into_iter().map(|row| (row.keys[0].clone(), row)).collect();
    keys.iter().filter_map(|key| rows.remove(key)).collect()
}

/// The counts of all themes as JSON.
#[derive(Serialize)]
struct MatrixRecord<'a> {
    games: u64,
    positions: u64,
    themes: RecordsOf<'a>,
}

/// The records of all themes. Each record is created only when it is written.
struct RecordsOf<'a>(&'a ThemeMatrix);

impl Serialize for RecordsOf<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut records = to.serialize_seq(Some(self.0.labels.len()))?;
        self.0.themes().try_for_each(|theme| records.serialize_element(&self.0.record(&theme)))?;
        records.end()
    }
}

#[derive(Serialize)]
struct CountsRecord<'a> {
    #[serde(flatten)]
    label: &'a ThemeLabel,
    #[serde(flatten)]
    count: ThemeCount,
    groupings: BTreeMap<String, Vec<GroupRecord<'a>>>,
}

#[derive(Serialize)]
struct GroupRecord<'a> {
    key: &'a GroupKey,
    #[serde(flatten)]
    count: ThemeCount,
}

/// The counts of one theme in one group of games, as a row of CSV or JSON. Shares and scores are between 0 and 1, rounded to six
/// decimal places.
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
    /// The share of games with hits in this group, minus the share in the grouping's first group.
    difference: Option<f64>,
    difference_low: Option<f64>,
    difference_high: Option<f64>,
    /// The results of games with hits for the side whose pattern matched, or `None` if the query does not determine this side.
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

    /// Returns the row for a group, with the difference between its share of games with hits and that of the grouping's first
    /// group.
    fn beside(row: &GroupRow, first: Option<&GroupRow>) -> ThemeCount {
        let difference =
            first.filter(|first| first.keys != row.keys).and_then(|first| row.difference_from(first));
        let end = |end: fn(&ShareDifference) -> f64| difference.as_ref().map(end).map(rounded);
        ThemeCount {
            difference: end(|difference| difference.value),
            difference_low: end(|difference| difference.low),
            difference_high: end(|difference| difference.high),
            ..ThemeCount::from_row(row)
        }
    }
}
