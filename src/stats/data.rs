//! Counts as data: groups in their order, so that equal counts are equal bytes.

use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::game::Mention;
use crate::report::Distribution;

use super::{Counts, Grouping, Key, ScoreOf, Stats, Table, Tally};

/// Tells numbers, texts and what is not known apart, which [`Key`] by itself does not: that is for readers.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Key")]
enum KeyData {
    Whole,
    Number(i64),
    Thousandths(i64),
    Text(String),
    Player(Mention),
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct Group(#[serde(with = "KeyData")] Key, #[serde(with = "KeyData")] Key, Tally);

#[derive(Serialize, Deserialize)]
struct ValueGroup(#[serde(with = "KeyData")] Key, #[serde(with = "KeyData")] Key, Distribution);

#[derive(Serialize, Deserialize)]
struct CountsData {
    /// As they are written, first those that were asked for.
    groupings: Vec<String>,
    asked: usize,
    groups_max: usize,
    score_of: ScoreOf,
    tells_values: bool,
    total: [Tally; 2],
    values: Distribution,
    /// For each grouping the groups of all games, and of those that hit.
    tables: Vec<([Vec<Group>; 2], Vec<ValueGroup>)>,
    met: BTreeSet<[String; 2]>,
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counts { stats, total, values, tables, met } = self;
        let table = |table: &Table| ([groups(&table.all), groups(&table.hit)], value_groups(&table.values));
        let data = CountsData {
            groupings: stats.groupings.iter().map(Grouping::to_string).collect(),
            asked: stats.asked,
            groups_max: stats.groups_max,
            score_of: stats.score_of,
            tells_values: stats.tells_values,
            total: *total,
            values: values.clone(),
            tables: tables.iter().map(table).collect(),
            met: met.clone(),
        };
        data.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Counts, D::Error> {
        let data = CountsData::deserialize(deserializer)?;
        let groupings = data.groupings.iter().map(|text| text.parse::<Grouping>());
        let groupings: Arc<[Grouping]> = groupings.collect::<Result<_, _>>().map_err(D::Error::custom)?;
        if data.asked > groupings.len() || data.tables.len() != groupings.len() {
            return Err(D::Error::custom("there is not a table for each grouping"));
        }
        let table = |([all, hit], values): ([Vec<Group>; 2], Vec<ValueGroup>)| Table {
            all: Arc::new(tallies(all)),
            hit: tallies(hit),
            values: values.into_iter().map(|ValueGroup(a, b, values)| ([a, b], values)).collect(),
        };
        Ok(Counts {
            stats: Stats {
                groupings,
                asked: data.asked,
                groups_max: data.groups_max,
                score_of: data.score_of,
                tells_values: data.tells_values,
            },
            total: data.total,
            values: data.values,
            tables: data.tables.into_iter().map(table).collect(),
            met: data.met,
        })
    }
}

fn groups(tallies: &HashMap<[Key; 2], Tally>) -> Vec<Group> {
    let mut groups: Vec<_> = tallies.iter().collect();
    groups.sort_unstable_by_key(|(keys, _)| *keys);
    groups.into_iter().map(|([a, b], tally)| Group(a.clone(), b.clone(), *tally)).collect()
}

fn value_groups(values: &HashMap<[Key; 2], Distribution>) -> Vec<ValueGroup> {
    let mut groups: Vec<_> = values.iter().collect();
    groups.sort_unstable_by_key(|(keys, _)| *keys);
    groups.into_iter().map(|([a, b], values)| ValueGroup(a.clone(), b.clone(), values.clone())).collect()
}

fn tallies(groups: Vec<Group>) -> HashMap<[Key; 2], Tally> {
    groups.into_iter().map(|Group(a, b, tally)| ([a, b], tally)).collect()
}
