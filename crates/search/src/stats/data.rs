//! Stores counts in a form that can be read back. Groups are sorted, so equal counts yield equal bytes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::SerializeTuple as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::report::Distribution;
use orbit_core::game::Mention;

use super::{By, Counts, GroupKey, Grouping, MoveTally, ScoreOf, Stats, Tally, TallyTable, rows};

/// The maximum absolute value of a number in a key. It is greater than any year, rating or number of thousandths of a second.
const KEY_MAX: u64 = 1 << 52;

/// The stored form of a [`GroupKey`], which distinguishes numbers, strings and unknown values. The serialized form of `GroupKey`
/// itself is for people and does not distinguish them.
#[derive(Serialize, Deserialize)]
#[serde(remote = "GroupKey")]
enum KeyData {
    Whole,
    Number(i64),
    Thousandths(i64),
    Text(String),
    Player(Mention),
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct Group(#[serde(with = "KeyData")] GroupKey, #[serde(with = "KeyData")] GroupKey, Tally);

#[derive(Serialize, Deserialize)]
struct ValueBucket(#[serde(with = "KeyData")] GroupKey, #[serde(with = "KeyData")] GroupKey, Distribution);

#[derive(Serialize, Deserialize)]
struct MoveGroup(#[serde(with = "KeyData")] GroupKey, #[serde(with = "KeyData")] GroupKey, MoveTally);

#[derive(Serialize, Deserialize)]
struct CountsData {
    /// The groupings as text, starting with those that the user requested.
    groupings: Vec<String>,
    asked: usize,
    groups_max: usize,
    score_of: ScoreOf,
    tells_values: bool,
    /// The fields `tells_sides` of [`Stats`] and of [`Counts`]: whether the scores of the sides whose pattern matched are
    /// requested, and whether the query determines these sides.
    tells_sides: [bool; 2],
    total: [Tally; 2],
    values: Distribution,
    /// For each grouping, the groups of all games, the groups of games with hits, and the values at hits by group.
    tables: Vec<([Vec<Group>; 2], Vec<ValueBucket>)>,
    met: BTreeSet<[String; 2]>,
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counts { stats, total, values, tables, met, tells_sides } = self;
        let moves = are_of_moves(&stats.groupings).then(|| {
            let moves = tables.iter().map(|table| sorted(&table.moves));
            let group = |([a, b], tally): (&[GroupKey; 2], &MoveTally)| {
                MoveGroup(a.clone(), b.clone(), tally.clone())
            };
            moves.map(|groups| groups.into_iter().map(group).collect()).collect::<Vec<Vec<MoveGroup>>>()
        });
        let table =
            |table: &TallyTable| ([groups(&table.all), groups(&table.hit)], value_groups(&table.values));
        let data = CountsData {
            groupings: stats.groupings.iter().map(Grouping::to_string).collect(),
            asked: stats.asked,
            groups_max: stats.groups_max,
            score_of: stats.score_of,
            tells_values: stats.tells_values,
            tells_sides: [stats.tells_sides, *tells_sides],
            total: *total,
            values: values.clone(),
            tables: tables.iter().map(table).collect(),
            met: met.clone(),
        };
        let mut tuple = serializer.serialize_tuple(1 + usize::from(moves.is_some()))?;
        tuple.serialize_element(&data)?;
        if let Some(moves) = moves {
            tuple.serialize_element(&moves)?;
        }
        tuple.end()
    }
}

/// Returns whether any grouping is by moves before or after hits. If so, the data ends with a list of move tallies.
fn are_of_moves(groupings: &[Grouping]) -> bool {
    groupings.iter().flat_map(Grouping::properties).any(By::is_of_moves)
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Counts, D::Error> {
        deserializer.deserialize_tuple(2, CountsVisitor)
    }
}

struct CountsVisitor;

impl<'de> Visitor<'de> for CountsVisitor {
    type Value = Counts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counts by groupings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Counts, A::Error> {
        let missing = || A::Error::custom("the counts end early");
        let data: CountsData = all.next_element()?.ok_or_else(missing)?;
        let groupings = data.groupings.iter().map(|text| text.parse::<Grouping>());
        let groupings: Arc<[Grouping]> = groupings.collect::<Result<_, _>>().map_err(A::Error::custom)?;
        let mut moves: Vec<Vec<MoveGroup>> = Vec::new();
        if are_of_moves(&groupings) {
            moves = all.next_element()?.ok_or_else(missing)?;
        }
        moves.resize_with(groupings.len(), Vec::new);
        if data.asked > groupings.len() || data.tables.len() != groupings.len() {
            return Err(A::Error::custom("there is not a table for each grouping"));
        }
        type Groups = (([Vec<Group>; 2], Vec<ValueBucket>), Vec<MoveGroup>);
        let table = |(([all, hit], values), moves): Groups| {
            let values = values.into_iter().map(|ValueBucket(a, b, values)| ([a, b], values));
            let moves = moves.into_iter().map(|MoveGroup(a, b, tally)| ([a, b], tally));
            TallyTable::new(tallies(all), tallies(hit), values.collect(), moves.collect())
        };
        Ok(Counts {
            stats: Stats {
                groupings,
                asked: data.asked,
                groups_max: data.groups_max,
                score_of: data.score_of,
                tells_values: data.tells_values,
                tells_sides: data.tells_sides[0],
            },
            total: data.total,
            values: data.values,
            tables: data.tables.into_iter().zip(moves).map(table).collect(),
            met: data.met,
            tells_sides: data.tells_sides[1],
        })
    }
}

impl Counts {
    /// Checks counts that were read from bytes. `all` are the counts that contain the groups of all games: if several queries
    /// search the same games, only the counts of one query contain these.
    pub(super) fn check(&self, all: &Counts, most: u64) -> Result<(), &'static str> {
        let Counts { stats, total, values, tables, .. } = self;
        if all.stats != *stats {
            return Err("the counts of queries are not by the same groupings");
        }
        check_hits(&total[1], &all.total[0], most)?;
        if !values.counts_at_most(total[1].positions) {
            return Err("there are more values than hits");
        }
        let ends = values.ends();
        for ((table, of_all), grouping) in tables.iter().zip(&all.tables).zip(&*stats.groupings) {
            let keys = table.all.keys().chain(table.hit.keys()).chain(table.values.keys()).flatten();
            if keys.into_iter().any(|key| !is_possible(key)) {
                return Err("a group stands for a number that cannot be");
            }
            if table.all.values().any(|tally| !tally.is_sound(most)) {
                return Err(FAULT);
            }
            for (keys, hit) in &table.hit {
                let of_all = of_all.all.get(&rows::base(grouping, keys)).copied().unwrap_or_default();
                check_hits(hit, &of_all, most)?;
                check_hits(hit, &total[1], most)?;
            }
            for (keys, moves) in &table.moves {
                let hit = table.hit.get(keys).copied().unwrap_or_default();
                if !moves.is_sound(hit.games, hit.results) {
                    return Err(FAULT);
                }
            }
            let is_within = |of_group: &Distribution| {
                let inner = of_group.ends();
                inner.is_none_or(|(min, max)| ends.is_some_and(|ends| ends.0 <= min && max <= ends.1))
            };
            if table.values.values().any(|of_group| !is_within(of_group) || !of_group.counts_at_most(most)) {
                return Err("the values of a group are not among all values");
            }
        }
        Ok(())
    }
}

/// Checks that a group's tally of hits is possible: it must not exceed `all`, the tally of a larger set of games and positions.
fn check_hits(hit: &Tally, all: &Tally, most: u64) -> Result<(), &'static str> {
    let is_part = hit.games <= all.games && hit.positions <= all.positions;
    if is_part && hit.is_sound(most) && all.is_sound(most) { Ok(()) } else { Err(FAULT) }
}

const FAULT: &str = "the counts of a group do not fit each other";

/// Returns whether this is a possible key of a group. The absolute value of a number is at most [`KEY_MAX`].
fn is_possible(key: &GroupKey) -> bool {
    match key {
        GroupKey::Number(number) | GroupKey::Thousandths(number) => number.unsigned_abs() <= KEY_MAX,
        GroupKey::Whole | GroupKey::Text(_) | GroupKey::Player(_) | GroupKey::Unknown => true,
    }
}

fn sorted<T>(groups: &HashMap<[GroupKey; 2], T>) -> Vec<(&[GroupKey; 2], &T)> {
    let mut groups: Vec<_> = groups.iter().collect();
    groups.sort_unstable_by_key(|(keys, _)| *keys);
    groups
}

fn groups(tallies: &HashMap<[GroupKey; 2], Tally>) -> Vec<Group> {
    let group = |([a, b], tally): (&[GroupKey; 2], &Tally)| Group(a.clone(), b.clone(), *tally);
    sorted(tallies).into_iter().map(group).collect()
}

fn value_groups(values: &HashMap<[GroupKey; 2], Distribution>) -> Vec<ValueBucket> {
    let group = |([a, b], of): (&[GroupKey; 2], &Distribution)| ValueBucket(a.clone(), b.clone(), of.clone());
    sorted(values).into_iter().map(group).collect()
}

fn tallies(groups: Vec<Group>) -> HashMap<[GroupKey; 2], Tally> {
    groups.into_iter().map(|Group(a, b, tally)| ([a, b], tally)).collect()
}
