//! The order in which games are listed. [`TopGames`] keeps the best of many games in bounded memory.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::hash::Hasher as _;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use twox_hash::XxHash3_64;

use crate::found::Found;
use orbit_core::game::{Date, Measure, Rating};
use orbit_core::named::choices;
use orbit_engine::Wants;
use orbit_engine::{Hits, Rank, Values};
use orbit_reel::{GameMeasures, GameRow};

/// The key by which games are sorted. Games with unknown keys come last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SortKey {
    /// The greatest query value among the hits in the game. The value of a set is its number of squares.
    Value,
    /// The higher of the two ratings.
    Elo,
    /// The date.
    Date,
    /// The number of moves in the longest span in the game. A span consists of the moves and positions that belong to a hit.
    Length,
    /// The greatest value of a measure, such as the clock, among the hits in the game; with `reverse`, the least value.
    Measure(Measure),
}

choices! { SortKey, "order",
    SortKey::Value => "value", "The greatest value at a hit of the game: a number, or how many squares the query finds";
    SortKey::Elo => "elo", "The higher of the two ratings";
    SortKey::Date => "date", "The date of the game";
    SortKey::Length => "length", "The moves of the longest span of a hit: of a line, a path, a move, or the way to what was found";
    SortKey::Measure(Measure::Clock) => "clock", "The seconds left to the player who made the move that led to a hit";
    SortKey::Measure(Measure::Spent) => "spent", "The seconds that this move took";
    SortKey::Measure(Measure::Eval) => "eval", "The pawns by which White is ahead at a hit";
    SortKey::Measure(Measure::Loss) => "loss", "The pawns that the move that led to a hit lost";
}

/// A ranking of games. Games with equal keys are ranked in database order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The order by a key, greatest first.
    Sorted {
        /// The key.
        key: SortKey,
        /// True if games with the least key come first.
        reverse: bool,
    },
    /// A random order. It depends only on the seed and on the content of each game: the start, the moves, the side lines if they
    /// are searched, and the result. It does not depend on where the game is stored, so a sample does not change when the same
    /// games are divided into other files. A sample contains identical games only once: see [`TopGames::distinct`].
    Sampled {
        /// The seed. Each seed selects a different sample.
        seed: u64,
    },
    /// The order that the query requests with `sort` and `cql(sort matchcount)`.
    ByQuery,
}

impl Order {
    /// Returns the facts about games and hits that are needed for ranking.
    pub fn wants(self) -> Wants {
        match self {
            Order::Sorted { key: SortKey::Elo | SortKey::Date, .. } => Wants::TAGS,
            Order::Sorted { key: SortKey::Value, .. } => Wants::VALUES,
            Order::Sorted { key: SortKey::Length, .. } => Wants::SPANS,
            Order::Sorted { key: SortKey::Measure(measure), .. } => Wants::from_measure(measure),
            Order::ByQuery => Wants::RANKS,
            Order::Sampled { .. } => Wants::HITS,
        }
    }

    /// Creates an empty list for the best `max` games in this order. A sample contains identical games only once.
    pub(crate) fn top<T>(self, max: usize) -> TopGames<T> {
        match self {
            Order::Sorted { .. } | Order::ByQuery => TopGames::new(max),
            Order::Sampled { .. } => TopGames::distinct(max),
        }
    }

    /// Returns the rank of a found game. Lower ranks come first.
    pub fn rank(self, game: &GameRow, found: &Found) -> Rank {
        match self {
            Order::Sampled { seed } => chance(game, seed).into(),
            Order::Sorted { key, reverse } => match (key.rank(game, found, reverse), reverse) {
                (None, _) => u64::MAX.into(),
                (Some(key), false) => (u64::MAX - 1 - key).into(),
                (Some(key), true) => key.into(),
            },
            Order::ByQuery => found.of_game(game).map_or(Rank::default(), |told| told.rank.clone()),
        }
    }
}

impl Order {
    /// Returns the slot of the hit that represents a game in lists, where a slot is the index of a position in its block (a group
    /// of games). When games are sorted by greatest value, this is the hit with the greatest value; otherwise, it is the first hit.
    pub(crate) fn slot(self, hits: &Hits, game: &GameRow) -> usize {
        let best = match self {
            Order::Sorted { key: SortKey::Value, reverse: false } => best(hits, game.slots()),
            _ => None,
        };
        best.or_else(|| hits.slots(game.slots()).next()).unwrap_or(game.first_slot())
    }
}

impl SortKey {
    /// Returns the sort key of a game, or `None` if it is unknown. The key is at most 2^33.
    fn rank(self, game: &GameRow, found: &Found, reverse: bool) -> Option<u64> {
        let hits = &found.answers.hits;
        let slots = hits.slots(game.slots());
        match self {
            SortKey::Value => slots.filter_map(|slot| value(&hits.values, slot)).max(),
            SortKey::Length => {
                let node = |slot| (slot - game.first_slot()) as u32;
                let length = |slot| Some(found.span(game, node(slot))?.length() as u64);
                slots.filter_map(length).max()
            }
            SortKey::Measure(measure) => {
                let told = GameMeasures::from_game(game);
                let number = |slot| told.at((slot - game.first_slot()) as u32).get(measure);
                let numbers = slots.filter_map(number);
                let number = if reverse { numbers.min() } else { numbers.max() };
                number.map(|number| (number.clamp(MEASURE_MIN, -MEASURE_MIN) - MEASURE_MIN) as u64)
            }
            SortKey::Elo => Rating::Higher.of_game(game).map(i64::unsigned_abs),
            SortKey::Date => Date::from_game(game).map(|date| {
                let [year, month, day] = date.parts().map(|part| u64::from(part.unwrap_or(0)));
                (year * 100 + month) * 100 + day
            }),
        }
    }
}

/// The least measure that a sort key can represent; the greatest is its negation. Measures outside this range are clamped and
/// therefore have equal keys. For clocks, in thousandths of a second, the maximum is about 49 days. The only evaluations outside
/// the range are mates.
const MEASURE_MIN: i64 = -(1 << 32);

/// Returns the query's value at a slot (the index of a position in the block) as a sort key. Greater values have greater keys.
fn value(values: &Values, slot: usize) -> Option<u64> {
    match values {
        Values::None | Values::Texts(_) => None,
        Values::Sets(sets) => Some(sets[slot].count_ones().into()),
        Values::Numbers(numbers) => Some((i64::from(numbers[slot]) - i64::from(i32::MIN)) as u64),
    }
}

/// Returns the first of the hits with the greatest value in a range of slots (indices of positions in the block). Returns `None` if
/// hits have no values.
pub(super) fn best(hits: &Hits, slots: Range<usize>) -> Option<usize> {
    let keyed = hits.slots(slots).filter_map(|slot| Some((value(&hits.values, slot)?, Reverse(slot))));
    keyed.max().map(|(_, Reverse(slot))| slot)
}

/// Returns a pseudo-random number that depends only on the seed and the content of the game: see [`Order::Sampled`].
pub fn chance(game: &GameRow, seed: u64) -> u64 {
    let mut hasher = XxHash3_64::with_seed(seed);
    let start = game.start();
    hasher.write(bytemuck::bytes_of(&start.board));
    hasher.write(bytemuck::bytes_of(&start.state));
    hasher.write(bytemuck::cast_slice(game.moves()));
    hasher.write(&[game.outcome() as u8]);
    for line in game.lines() {
        hasher.write(&line.parent().to_le_bytes());
        hasher.write(bytemuck::bytes_of(&line.edge()));
        hasher.write(bytemuck::cast_slice(line.moves()));
    }
    hasher.finish()
}

/// The games with the best ranks, at most `max`. All lists that are not in database order are built with this type.
///
/// Among games with equal ranks, the game with the lower number wins. A sample keeps only the first game offered with each rank, so
/// games must be offered in database order. The list never holds more than `max` entries: [`TopGames::offer`] creates an entry only
/// if it is kept, and drops the worst entry of a full list. Only [`TopGames::try_map`] can fail, if its callback does.
#[derive(Clone, Debug)]
pub struct TopGames<T> {
    max: usize,
    /// The ranks of the kept games, if no two games may have the same rank.
    ranks: Option<HashSet<Rank>>,
    /// The kept entries. The worst one is at the top of the heap.
    kept: BinaryHeap<RankEntry<T>>,
}

#[derive(Clone, Debug)]
struct RankEntry<T> {
    place: (Rank, u32),
    what: T,
}

impl<T> PartialEq for RankEntry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl<T> Eq for RankEntry<T> {}

impl<T> PartialOrd for RankEntry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for RankEntry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place.cmp(&other.place)
    }
}

impl<T> TopGames<T> {
    /// Creates an empty list of at most `max` games.
    pub fn new(max: usize) -> TopGames<T> {
        TopGames { max, ranks: None, kept: BinaryHeap::new() }
    }

    /// Creates an empty list that keeps only the first game with each rank.
    pub fn distinct(max: usize) -> TopGames<T> {
        TopGames { ranks: Some(HashSet::new()), ..TopGames::new(max) }
    }

    /// Creates an entry with `make` and adds it to the list, if a game with this rank and number is among the best so far.
    pub fn offer(&mut self, rank: impl Into<Rank>, number: u32, make: impl FnOnce() -> T) {
        let place = (rank.into(), number);
        if self.ranks.as_ref().is_some_and(|ranks| ranks.contains(&place.0)) {
            return;
        }
        if self.kept.len() < self.max {
            self.ranks.iter_mut().for_each(|ranks| _ = ranks.insert(place.0.clone()));
            self.kept.push(RankEntry { place, what: make() });
        } else if let Some(mut worst) = self.kept.peek_mut()
            && place < worst.place
        {
            if let Some(ranks) = &mut self.ranks {
                ranks.remove(&worst.place.0);
                ranks.insert(place.0.clone());
            }
            *worst = RankEntry { place, what: make() };
        }
    }

    /// Adds the entries of `next`. Its games must follow the games of this list in the database.
    pub fn merge(&mut self, next: TopGames<T>) {
        let mut entries = next.kept.into_vec();
        entries.sort_unstable_by_key(|entry| entry.place.1);
        for RankEntry { place: (rank, number), what } in entries {
            self.offer(rank, number, || what);
        }
    }

    /// Returns the entries, best first.
    fn sorted(&self) -> Vec<&RankEntry<T>> {
        let mut entries: Vec<&RankEntry<T>> = self.kept.iter().collect();
        entries.sort_unstable_by(|a, b| a.place.cmp(&b.place));
        entries
    }

    /// Returns whether two lists can be merged: they have the same limit, and both or neither of them require distinct ranks.
    pub fn is_like(&self, other: &TopGames<T>) -> bool {
        self.max == other.max && self.ranks.is_some() == other.ranks.is_some()
    }

    /// Returns whether a game with this rank and number would be kept if it were offered now.
    pub fn admits(&self, rank: &Rank, number: u32) -> bool {
        let is_new = self.ranks.as_ref().is_none_or(|ranks| !ranks.contains(rank));
        let is_better =
            || self.kept.peek().is_some_and(|worst| (rank, number) < (&worst.place.0, worst.place.1));
        is_new && (self.kept.len() < self.max || is_better())
    }

    /// If the list is full, returns the rank and number of its worst game. Games that rank below it would not be kept.
    pub fn end(&self) -> Option<(&Rank, u32)> {
        let worst = self.kept.peek().filter(|_| self.kept.len() >= self.max)?;
        Some((&worst.place.0, worst.place.1))
    }

    /// Keeps only the entries for which `test` returns true.
    pub fn retain(&mut self, mut test: impl FnMut(&Rank, u32) -> bool) {
        self.kept.retain(|entry| test(&entry.place.0, entry.place.1));
        let kept = &self.kept;
        self.ranks
            .iter_mut()
            .for_each(|ranks| *ranks = kept.iter().map(|entry| entry.place.0.clone()).collect());
    }

    /// Iterates over the entries in arbitrary order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().map(|entry| &entry.what)
    }

    /// Converts every entry.
    pub fn map<U>(self, mut make: impl FnMut(T) -> U) -> TopGames<U> {
        let TopGames { max, ranks, kept } = self;
        let kept = kept.into_iter().map(|RankEntry { place, what }| RankEntry { place, what: make(what) });
        TopGames { max, ranks, kept: kept.collect() }
    }

    /// Converts every entry with a fallible function.
    ///
    /// # Errors
    ///
    /// Returns the first error of `make`.
    pub fn try_map<U, E>(self, mut make: impl FnMut(T) -> Result<U, E>) -> Result<TopGames<U>, E> {
        let TopGames { max, ranks, kept } = self;
        let mut entries = kept.into_vec();
        entries.sort_unstable_by_key(|entry| entry.place.1);
        let kept =
            entries.into_iter().map(|RankEntry { place, what }| Ok(RankEntry { place, what: make(what)? }));
        Ok(TopGames { max, ranks, kept: kept.collect::<Result<_, E>>()? })
    }

    /// Returns the entries in listing order, without the first `skip`. The best entry comes first, except that a sample is listed
    /// in database order.
    pub fn list(self, skip: u64) -> impl Iterator<Item = T> {
        let mut kept = self.kept.into_sorted_vec();
        if self.ranks.is_some() {
            kept.sort_by_key(|entry| entry.place.1);
        }
        kept.into_iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).map(|entry| entry.what)
    }
}

/// Two lists are equal if they have the same entries and the same settings.
impl<T: PartialEq> PartialEq for TopGames<T> {
    fn eq(&self, other: &TopGames<T>) -> bool {
        let (ours, theirs) = (self.sorted(), other.sorted());
        let same = |(a, b): (&&RankEntry<T>, &&RankEntry<T>)| a.place == b.place && a.what == b.what;
        self.is_like(other) && ours.len() == theirs.len() && ours.iter().zip(&theirs).all(same)
    }
}

/// A list is serialized as its settings and its entries, best first: `(max, is_distinct, [(rank, number, what)])`.
impl<T: Serialize> Serialize for TopGames<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kept =
            self.sorted().into_iter().map(|RankEntry { place: (rank, number), what }| (rank, number, what));
        (self.max, self.ranks.is_some(), kept.collect::<Vec<_>>()).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TopGames<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TopGames<T>, D::Error> {
        let (max, is_distinct, kept) = <(usize, bool, Vec<(Rank, u32, T)>)>::deserialize(deserializer)?;
        let mut top = if is_distinct { TopGames::distinct(max) } else { TopGames::new(max) };
        kept.into_iter().for_each(|(rank, number, what)| top.offer(rank, number, || what));
        Ok(top)
    }
}
