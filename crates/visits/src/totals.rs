//! Totals over the games in which a frequent position occurs. With them, the position's visits need not be read.
//!
//! The table stores one sum for all games that are equal in everything that an opening explorer distinguishes: the move, the month,
//! the rating group, the speed, the mode, the result, and whether the game reached the position by the usual moves. It also stores
//! the top games of each list. For requests that the totals cannot answer exactly, the visits are read.

use std::collections::{BTreeMap, BTreeSet};

use super::bits::{BitReader, BitWriter};
use super::facts::{PackedFacts, RATING_GROUPS, TabledFacts};
use super::format::{DateOrder, TableError, checked, unchecked};
use super::played::{HeldBlocks, PlayedGame, ReadBlocks};
use super::read::{PositionTable, block_of};
use orbit_core::board::{PackedMove, Position};
use orbit_core::game::Date;
use orbit_core::record::Outcome;
use orbit_reel::Reel;
use orbit_reel::replay::position_at;

/// The maximum number of games in a list of games with one rating group, speed and mode.
pub const LISTED_GAMES: usize = 16;
/// The number of games that are compared to find the moves by which most games reach a position.
const SAMPLE: usize = 9;
const RATING_MAX: u64 = 9999;
const PLACE_BITS: u32 = u32::BITS;
const RATING_BITS: u32 = RATING_MAX.ilog2() + 1;

/// Totals over the games in which a position occurs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PositionTotals {
    /// The most frequent moves, in a sample of games, from the usual start position to this position.
    pub way: Vec<PackedMove>,
    /// The sums, each over games with equal facts, equal moves and the same way to the position.
    pub sums: Vec<GameSum>,
    /// The top-ranked games, with one entry for each rating group, speed and mode.
    pub lists: Vec<RankedGames>,
    /// The indices of the blocks of the reel that were read.
    pub read: BTreeSet<usize>,
}

/// A sum over games with equal facts, equal moves in the position and the same way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct GameSum {
    /// The facts that all the games share. The date has no day, and both ratings are the lowest rating of the games' rating group.
    pub facts: TabledFacts,
    /// The move that these games played in the position, as in [`PlayedGame::mv`].
    pub mv: Option<PackedMove>,
    /// True if the games reach the position by the moves in [`PositionTotals::way`].
    pub is_by_way: bool,
    /// The number of games.
    pub games: u64,
    /// The number of known ratings and the sum of the ratings, for White and Black.
    pub ratings: [[u64; 2]; 2],
    /// The index of the game in the reel if the sum has only one game; otherwise 0.
    pub place: u32,
}

/// The top-ranked games with a known result in one rating group, speed and mode.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct RankedGames {
    /// The facts that all the games share: the speed, the mode, and a rating that represents their rating group.
    pub facts: TabledFacts,
    /// At most [`LISTED_GAMES`] games in the order of [`TabledFacts::rank_by_rating`].
    pub top: Vec<(u64, RankedGame)>,
    /// At most [`LISTED_GAMES`] games in the order of [`TabledFacts::rank_by_date`].
    pub recent: Vec<(u64, RankedGame)>,
}

/// A game in one of the lists of [`RankedGames`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RankedGame {
    /// The facts about the game. Each known rating is replaced by the mean rating. A single known rating is stored as White's.
    pub facts: TabledFacts,
    /// The index of the game in the reel, counted from 0.
    pub place: u32,
    /// The move that the game played in the position, as in [`PlayedGame::mv`].
    pub mv: Option<PackedMove>,
}

/// Inserts a game into a list, which is ordered by rank, if its rank is among the `max` highest.
pub fn offer<T>(list: &mut Vec<(u64, T)>, max: usize, rank: u64, game: impl FnOnce() -> T) {
    // In a large database, most games rank lower than all games of a full list, so they are rejected before anything else is done.
    if list.len() == max && list.last().is_none_or(|(last, _)| *last > rank) {
        return;
    }
    let at = list.partition_point(|(other, _)| *other > rank);
    if at < max {
        list.insert(at, (rank, game()));
        list.truncate(max);
    }
}

/// Returns the facts by which an explorer selects games, apart from the date, as a nine-bit number.
fn kind_of(facts: &TabledFacts) -> u64 {
    let packed = PackedFacts::new(facts);
    let group = facts.rating_group().and_then(|low| RATING_GROUPS.iter().position(|group| *group == low));
    let group = group.map_or(0, |group| group as u64 + 1);
    group << 5 | u64::from(packed.speed) << 2 | u64::from(packed.mode)
}

/// Returns the facts about games of one kind, as numbered by [`kind_of`]. If `rating` is `None`, the lowest rating of the kind's
/// rating group is used.
fn facts_of(kind: u64, outcome: u8, date: Option<Date>, rating: Option<u16>) -> TabledFacts {
    let group = (kind >> 5).checked_sub(1).and_then(|group| RATING_GROUPS.get(group as usize));
    let low = group.map_or(0, |low| (*low).max(1) as u16);
    let (speed, mode) = ((kind >> 2 & 7) as u8, (kind & 3) as u8);
    PackedFacts { ratings: [rating.unwrap_or(low); 2], outcome, speed, mode, usual_start: 0 }.facts(date)
}

/// The facts, the move and the way to the position that all games of a sum share, packed into the number that the table stores.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SumKey(u64);

const MOVE_BITS: u32 = 8;
const OUTCOME_BITS: u32 = 2;
const MONTH_BITS: u32 = 24;

impl SumKey {
    fn new(game: &PlayedGame, code: u64) -> SumKey {
        let month = u64::from(DateOrder::from_date(game.facts.date).month());
        let key = kind_of(&game.facts) << MONTH_BITS | month;
        let key = (key << 1 | u64::from(game.is_by_way)) << OUTCOME_BITS | game.facts.outcome as u64;
        SumKey(key << MOVE_BITS | code)
    }

    fn sum(self, moves: &[PackedMove]) -> Option<GameSum> {
        let (code, rest) = (self.0 & 0xff, self.0 >> MOVE_BITS);
        let (outcome, rest) = ((rest & 3) as u8, rest >> OUTCOME_BITS);
        let (is_by_way, rest) = (rest & 1 == 1, rest >> 1);
        let date = DateOrder::from_month((rest & 0xff_ffff) as u32).date();
        Some(GameSum {
            facts: facts_of(rest >> MONTH_BITS, outcome, date, None),
            mv: move_of(code, moves)?,
            is_by_way,
            games: 0,
            ratings: [[0; 2]; 2],
            place: 0,
        })
    }
}

/// Returns the move for which a code stands. The code is one more than the move's index in `moves`, or 0 for no move. Returns
/// `None` if the code is invalid.
fn move_of(code: u64, moves: &[PackedMove]) -> Option<Option<PackedMove>> {
    match (code as usize).checked_sub(1) {
        None => Some(None),
        Some(index) => moves.get(index).map(|mv| Some(*mv)),
    }
}

/// Computes totals over the games in which a position occurs.
#[derive(Default)]
struct TotalsBuilder {
    moves: Vec<PackedMove>,
    sums: BTreeMap<SumKey, (u64, [[u64; 2]; 2], u32)>,
    lists: BTreeMap<u64, RankedGames>,
}

impl TotalsBuilder {
    /// Adds a game with the given index in the reel. Returns `None` if there are too many different moves.
    fn add(&mut self, game: &PlayedGame, place: u32) -> Option<()> {
        let code = match game.mv {
            None => 0,
            Some(mv) => {
                let index = self.moves.iter().position(|known| *known == mv).unwrap_or_else(|| {
                    self.moves.push(mv);
                    self.moves.len() - 1
                });
                index as u64 + 1
            }
        };
        if code >> MOVE_BITS != 0 {
            return None;
        }
        let (games, ratings, last) = self.sums.entry(SumKey::new(game, code)).or_default();
        (*games, *last) = (*games + 1, place);
        for (sum, rating) in ratings.iter_mut().zip(game.facts.ratings) {
            if let Some(rating) = rating {
                *sum = [sum[0] + 1, sum[1] + u64::from(rating)];
            }
        }
        if game.facts.outcome != Outcome::Unknown {
            let RankedGames { top, recent, .. } = self.lists.entry(kind_of(&game.facts)).or_default();
            let listed = || RankedGame { facts: game.facts, place, mv: game.mv };
            if let Some(rank) = game.facts.rank_by_rating(place) {
                offer(top, LISTED_GAMES, rank, listed);
            }
            if let Some(rank) = game.facts.rank_by_date(place) {
                offer(recent, LISTED_GAMES, rank, listed);
            }
        }
        Some(())
    }

    fn encode(&self, way: &[PackedMove]) -> Vec<u8> {
        let mut out = BitWriter::default();
        for list in [way, self.moves.as_slice()] {
            out.put_gamma(list.len() as u64 + 1);
            list.iter().for_each(|mv| out.put(mv.0.into(), u16::BITS));
        }
        out.put_gamma(self.sums.len() as u64 + 1);
        let mut before = 0;
        for (SumKey(key), (games, ratings, place)) in &self.sums {
            out.put_gamma(key - before + 1);
            before = *key;
            out.put_gamma(*games);
            if *games == 1 {
                out.put((*place).into(), PLACE_BITS);
            }
            for [known, sum] in ratings {
                out.put_gamma(games - known + 1);
                out.put(*sum, sum_bits(*known));
            }
        }
        out.put_gamma(self.lists.len() as u64 + 1);
        for (kind, RankedGames { top, recent, .. }) in &self.lists {
            out.put(*kind, u16::BITS);
            for list in [top, recent] {
                out.put_gamma(list.len() as u64 + 1);
                list.iter().for_each(|(_, game)| self.put_listed(&mut out, game));
            }
        }
        checked(&out.finish())
    }

    fn put_listed(&self, out: &mut BitWriter, game: &RankedGame) {
        let index = game.mv.and_then(|mv| self.moves.iter().position(|known| *known == mv));
        out.put(DateOrder::from_date(game.facts.date).number().into(), u32::BITS);
        out.put(game.facts.mean_rating().unwrap_or(0).into(), RATING_BITS);
        out.put(game.facts.are_both_rated().into(), 1);
        out.put(game.facts.outcome as u64, OUTCOME_BITS);
        out.put(game.place.into(), PLACE_BITS);
        out.put(index.map_or(0, |index| index as u64 + 1), MOVE_BITS);
    }
}

/// Returns the number of bits needed for the sum of `ratings` ratings.
fn sum_bits(ratings: u64) -> u32 {
    u64::BITS - ratings.saturating_mul(RATING_MAX).leading_zeros()
}

/// Decodes the totals of a position. Returns `None` if the bytes are not valid.
fn decode(bytes: &[u8]) -> Option<PositionTotals> {
    let mut reader = BitReader::new(unchecked(bytes)?);
    let mut lists = [(); 2].map(|()| Vec::new());
    for list in &mut lists {
        for _ in 1..reader.take_gamma() {
            list.push(PackedMove(reader.take(u16::BITS) as u16));
            (!reader.is_past_end()).then_some(())?;
        }
    }
    let [way, moves] = lists;
    let mut totals = PositionTotals { way, ..PositionTotals::default() };
    let mut key = 0u64;
    for _ in 1..reader.take_gamma() {
        key = key.checked_add(reader.take_gamma() - 1)?;
        let mut sum = SumKey(key).sum(&moves)?;
        sum.games = reader.take_gamma();
        if sum.games == 1 {
            sum.place = reader.take(PLACE_BITS) as u32;
        }
        for [known, ratings] in &mut sum.ratings {
            *known = sum.games.checked_sub(reader.take_gamma() - 1)?;
            *ratings = reader.take(sum_bits(*known));
        }
        (!reader.is_past_end()).then_some(())?;
        totals.sums.push(sum);
    }
    for _ in 1..reader.take_gamma() {
        let kind = reader.take(u16::BITS);
        let mut listed = RankedGames { facts: facts_of(kind, 0, None, None), ..RankedGames::default() };
        for _ in 1..reader.take_gamma() {
            let game = listed_game(&mut reader, kind, &moves)?;
            listed.top.push((game.facts.rank_by_rating(game.place)?, game));
        }
        for _ in 1..reader.take_gamma() {
            let game = listed_game(&mut reader, kind, &moves)?;
            listed.recent.push((game.facts.rank_by_date(game.place)?, game));
        }
        (!reader.is_past_end()).then_some(())?;
        totals.lists.push(listed);
    }
    Some(totals)
}

fn listed_game(reader: &mut BitReader, kind: u64, moves: &[PackedMove]) -> Option<RankedGame> {
    let date = DateOrder::from_number(reader.take(u32::BITS) as u32).date();
    let mean = reader.take(RATING_BITS) as u16;
    let is_of_both = reader.take(1) == 1;
    let outcome = reader.take(OUTCOME_BITS) as u8;
    let place = reader.take(PLACE_BITS) as u32;
    let mv = move_of(reader.take(MOVE_BITS), moves)?;
    let mut facts = facts_of(kind, outcome, date, Some(mean));
    facts.ratings[1] = facts.ratings[1].filter(|_| is_of_both);
    (!reader.is_past_end()).then_some(RankedGame { facts, place, mv })
}

impl PositionTable {
    /// Returns the totals of a position, or `None` if the table has none. `held` returns blocks that are in memory.
    ///
    /// # Errors
    ///
    /// Fails if a part of the table or of the reel cannot be read or is damaged.
    pub fn totals(
        &self,
        (reel, held): (&Reel, HeldBlocks),
        position: &Position,
    ) -> Result<Option<PositionTotals>, TableError> {
        let of_key = self.totals_with_key_of(position);
        if of_key.is_empty() {
            return Ok(None);
        }
        let mut blocks = ReadBlocks::new(reel, held);
        let Some(found) = self.find_in(position, &mut |block| blocks.get(block))? else { return Ok(None) };
        let name = found.slots().name();
        let Some(entry) = of_key.iter().find(|entry| entry.slot == name) else { return Ok(None) };
        let bytes = self.bytes_at(entry.offset, entry.bytes)?;
        let totals = decode(&bytes)
            .ok_or_else(|| self.damaged("the totals of a position do not have their checksum"))?;
        let games: u64 = totals.sums.iter().map(|sum| sum.games).sum();
        match games == found.games {
            true => Ok(Some(PositionTotals { read: blocks.into_numbers(), ..totals })),
            false => Err(self.damaged("the totals of a position have another number of games")),
        }
    }

    /// Computes the totals of the position at a slot of the reel, and returns them as bytes.
    pub(super) fn totals_of_slot(&self, reel: &Reel, slot: u64) -> Result<Vec<u8>, TableError> {
        let wrong = || self.damaged("a position has more moves than there can be");
        let index = self.block_of_slot(slot)?;
        let block = block_of(reel, index, false)?;
        let position = position_at(&block, (slot - self.slots_of_block(index).start) as usize);
        let way = self.usual_way(reel, &position)?;
        let mut totals = TotalsBuilder::default();
        let mut is_sound = Some(());
        self.for_each_game_at((reel, &|_| None), &position, &way, |game| {
            let place = reel.games_before(game.block) + game.game as u32;
            is_sound = is_sound.and_then(|()| totals.add(&game, place));
        })?;
        is_sound.ok_or_else(wrong)?;
        Ok(totals.encode(&way))
    }

    /// Returns the most frequent moves, in a sample of games, from the usual start position to a position.
    fn usual_way(&self, reel: &Reel, position: &Position) -> Result<Vec<PackedMove>, TableError> {
        let Some(found) = self.find(reel, position)? else { return Ok(Vec::new()) };
        let slots = self.slots(&found)?;
        let mut ways: BTreeMap<Vec<u16>, usize> = BTreeMap::new();
        for slot in slots.iter().step_by(slots.len().div_ceil(SAMPLE)) {
            let index = self.block_of_slot(*slot)?;
            let block = block_of(reel, index, false)?;
            let slot = (slot - self.slots_of_block(index).start) as usize;
            let game = block.game(block.game_of_slot(slot));
            if game.start() == Position::STANDARD {
                let way = game.moves().iter().take(slot - game.first_slot()).map(|mv| mv.0);
                *ways.entry(way.collect()).or_default() += 1;
            }
        }
        let usual = ways.into_iter().max_by_key(|(_, games)| *games);
        Ok(usual.map_or(Vec::new(), |(way, _)| way.into_iter().map(PackedMove).collect()))
    }
}
