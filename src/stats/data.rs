//! Counts as data: groups in their order, so that equal counts are equal bytes.

use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Counts, Grouping, Key, Stats, Table, Tally};

/// Tells numbers, texts and what is not known apart, which [`Key`] by itself does not: that is for readers.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Key")]
enum KeyData {
    Whole,
    Number(i64),
    Text(String),
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct Group(#[serde(with = "KeyData")] Key, #[serde(with = "KeyData")] Key, Tally);

#[derive(Serialize, Deserialize)]
struct CountsData {
    /// As they are written, first those that were asked for.
    groupings: Vec<String>,
    asked: usize,
    groups_max: usize,
    total: [Tally; 2],
    /// For each grouping the groups of all games, and of those that hit.
    tables: Vec<[Vec<Group>; 2]>,
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counts { stats, total, tables } = self;
        let data = CountsData {
            groupings: stats.groupings.iter().map(Grouping::to_string).collect(),
            asked: stats.asked,
            groups_max: stats.groups_max,
            total: *total,
            tables: tables.iter().map(|table| [groups(&table.all), groups(&table.hit)]).collect(),
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
        let table = |[all, hit]: [Vec<Group>; 2]| Table { all: Arc::new(tallies(all)), hit: tallies(hit) };
        Ok(Counts {
            stats: Stats { groupings, asked: data.asked, groups_max: data.groups_max },
            total: data.total,
            tables: data.tables.into_iter().map(table).collect(),
        })
    }
}

fn groups(tallies: &HashMap<[Key; 2], Tally>) -> Vec<Group> {
    let mut groups: Vec<_> = tallies.iter().collect();
    groups.sort_unstable_by_key(|(keys, _)| *keys);
    groups.into_iter().map(|([a, b], tally)| Group(a.clone(), b.clone(), *tally)).collect()
}

fn tallies(groups: Vec<Group>) -> HashMap<[Key; 2], Tally> {
    groups.into_iter().map(|Group(a, b, tally)| ([a, b], tally)).collect()
}
