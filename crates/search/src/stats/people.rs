//! Merges the groups of players, so that all spellings of a name are one group.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hashbrown::HashMap;

use super::columns::GroupColumn;
use super::grouping::{By, Grouping};
use super::{Counts, GroupKey, TallyTable};
use orbit_core::game::{Mention, are_alike, who_is_who};

/// Returns the pairs of similar names, and of names with the same FIDE number, that occur as the two players of one game. Such
/// names belong to different people, so their groups are not merged.
pub(super) fn met(players: &GroupColumn, games: impl Iterator<Item = usize>) -> BTreeSet<[String; 2]> {
    let mut pairs = BTreeSet::new();
    let mut letters: HashMap<&str, u64> = HashMap::new();
    for game in games {
        let Some([(white, of_white), (black, of_black)]) = players.opponents(game) else { continue };
        // Similar names have the same surname, so comparing the first letters of words quickly rules out most pairs.
        let [a, b] = [white, black].map(|name| *letters.entry(name).or_insert_with(|| beginnings(name)));
        let is_one_number = of_white.is_some() && of_white == of_black;
        if is_one_number || white == black || a & b != 0 && are_alike(white, black) {
            let [one, other] = if white < black { [white, black] } else { [black, white] };
            pairs.insert([one.to_owned(), other.to_owned()]);
        }
    }
    pairs
}

/// Returns a set with one bit for each letter with which a word of the name begins. If the name is not ASCII, all bits are set.
fn beginnings(name: &str) -> u64 {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let bits = words.fold(0, |bits, word| bits | 1 << (word.as_bytes()[0].to_ascii_lowercase() & 63));
    if name.is_ascii() { bits } else { u64::MAX }
}

/// Merges the groups for all spellings of a player's name into one group. The first entry of `counts` contains the groups of all
/// games.
pub(super) fn take_together(counts: &mut [Counts]) {
    let Some(first) = counts.first_mut() else { return };
    let met = std::mem::take(&mut first.met);
    let by_player = first.stats.groupings.iter().position(|grouping| *grouping == By::Player.into());
    let Some(by_player) = by_player else { return };
    let mut mentions: BTreeMap<Mention, u64> = BTreeMap::new();
    for counts in &*counts {
        for (keys, tally) in &*counts.tables[by_player].all {
            if let Some(mention) = mention(&keys[0]) {
                let games = mentions.entry(mention).or_default();
                *games = tally.games.max(*games);
            }
        }
    }
    let have_met = |a: &str, b: &str| {
        let pair = if a < b { [a, b] } else { [b, a] };
        !met.is_empty() && met.contains(&pair.map(str::to_owned))
    };
    let names = who_is_who(&mentions, have_met);
    for counts in counts {
        let groupings = Arc::clone(&counts.stats.groupings);
        for (table, grouping) in counts.tables.iter_mut().zip(&*groupings) {
            if grouping.properties().any(By::is_of_names) {
                rename(table, grouping, &names);
            }
        }
    }
}

fn mention(key: &GroupKey) -> Option<Mention> {
    match key {
        GroupKey::Text(name) => Some(Mention { name: name.clone(), number: None }),
        GroupKey::Player(mention) => Some(mention.clone()),
        _ => None,
    }
}

fn rename(table: &mut TallyTable, grouping: &Grouping, names: &HashMap<Mention, String>) {
    let mut are_names = grouping.properties().map(By::is_of_names);
    let are_names = [are_names.next(), are_names.next()].map(|is| is == Some(true));
    let renamed = |keys: [GroupKey; 2]| {
        let [first, second] = keys;
        let key = |key: GroupKey, is_name: bool| {
            let name = mention(&key).filter(|_| is_name).and_then(|mention| names.get(&mention));
            name.map_or(key, |name| GroupKey::Text(name.clone()))
        };
        [key(first, are_names[0]), key(second, are_names[1])]
    };
    let all = std::mem::take(&mut table.all);
    let mut sums = HashMap::new();
    for (keys, tally) in Arc::unwrap_or_clone(all) {
        sums.entry(renamed(keys)).or_insert_with(super::Tally::default).add(&tally);
    }
    table.all = Arc::new(sums);
    for (keys, tally) in std::mem::take(&mut table.hit) {
        table.hit.entry(renamed(keys)).or_default().add(&tally);
    }
    for (keys, values) in std::mem::take(&mut table.values) {
        table.values.entry(renamed(keys)).or_default().merge(&values);
    }
    for (keys, moves) in std::mem::take(&mut table.moves) {
        table.moves.entry(renamed(keys)).or_default().add(moves);
    }
}
