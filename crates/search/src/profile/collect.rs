//! Computes the sums for a profile from a player's games and the games of other players.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::{ENDINGS, THEMES};
use crate::choice::Player;
use crate::found::{BlockResult, Found};
use crate::run::{Collector, Part, PartError, SpellingsCollector, SpellingsPart};
use crate::stats::{MoveTally, PatternSides, SideResults, sides_of};
use orbit_core::board::Color;
use orbit_core::game::{Measures, Opening, Rating, time_control};
use orbit_database::MemoryBudget;
use orbit_engine::{Outcome, Wants};
use orbit_reel::{GameMeasures, GameRow};

/// The number of half-moves from the start of a game in which clocks are examined: 30 moves by each side.
const CLOCK_PLIES: u32 = 60;
/// A side is in time trouble when its clock shows less than the starting time divided by this number.
const SHORT_PART: i64 = 10;

/// A collector for the sums of a player's profile. The selection of games must not include a player, because games of other players
/// are also examined.
#[derive(Clone, Debug)]
pub struct ProfileCollector {
    player: Player,
    spellings: SpellingsCollector,
    reads_comments: bool,
}

/// The player's results in a set of games, and the results predicted by the ratings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// The number of games, including those without a result.
    pub games: u64,
    /// The results from the player's perspective.
    pub results: SideResults,
    /// The number of games with a result and known ratings of both sides.
    pub rated: u64,
    /// The player's score in the `rated` games, in half points: 2 for a win, 1 for a draw.
    pub half_points: u64,
    /// The score predicted by the ratings in the `rated` games, in millionths of a point.
    pub expected_millionths: u64,
}

/// The player's results in the games that reach a position, and a hash by which sets of games are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PositionRecord {
    /// The results.
    pub record: Record,
    /// The wrapping sum of the hashes of the games' numbers in the database. It does not depend on the order of the games.
    pub games_hash: u64,
}

/// The number of games in which a theme occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ThemeTally {
    /// The number of the player's games with the theme.
    pub player: u64,
    /// The number of the player's games in which the pattern of the player's side matched, if the theme tells the patterns of both
    /// sides apart.
    pub own: u64,
    /// The number of the player's games in which the pattern of the opponent's side matched, if the theme tells the patterns of
    /// both sides apart.
    pub opponent: u64,
    /// The number of other players' games with the theme.
    pub others: u64,
    /// True if the theme shows whether the pattern that matched is White's or Black's.
    pub tells_sides: bool,
}

/// Sums over the player's games with clock times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ClockTally {
    /// The number of games with clock times of either side.
    pub games: u64,
    /// The number of games in which the player's clock times are known and the tag `TimeControl` gives the starting time, and the
    /// same number for the opponent's clock times.
    pub known: [u64; 2],
    /// The number of games counted in `known` in which the player was in time trouble, and the same number for the opponent.
    pub short: [u64; 2],
    /// The results of games in which the player was in time trouble.
    pub record: Record,
}

/// The thresholds in tables of losses, in thousandths of a pawn. For each, the moves that lose at least as much are counted.
pub(super) const LOSSES: [i64; 3] = [500, 1_000, 2_000];

/// The number of remaining-time classes, for which losses are summed separately: at least half of the starting time, at least a
/// tenth, less than a tenth, and unknown.
pub(super) const REMAINING_TIMES: usize = 4;

/// Sums over the moves of one side for which the loss of evaluation is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LossTally {
    /// The number of moves.
    pub moves: u64,
    /// The sum of the losses, in thousandths of a pawn.
    pub lost: u64,
    /// The number of moves that lost at least half a pawn, at least one, and at least two.
    pub at_least: [u64; LOSSES.len()],
}

/// Sums over the player's games with evaluations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LossTallies {
    /// The number of games in which the loss of at least one move is known.
    pub games: u64,
    /// The sums over the moves of the player and of the opponents, for each of the `REMAINING_TIMES` classes of remaining time.
    pub moves: [[LossTally; REMAINING_TIMES]; 2],
}

/// The sums for a profile over some blocks (groups of games).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProfilePart {
    /// The spellings of the player's name.
    pub spellings: SpellingsPart,
    /// The number of games of other players.
    pub others: u64,
    /// The results as White and as Black.
    pub records: [Record; 2],
    /// Sums over the player's games as White and as Black, from which years, ratings and performances are computed.
    pub tallies: [MoveTally; 2],
    /// The results as White and as Black, by opening family. The key is `None` for games whose opening is not named.
    pub openings: [BTreeMap<Option<String>, Record>; 2],
    /// The results as White and as Black, by the opening names of positions that occurred in the games.
    pub positions: [BTreeMap<String, PositionRecord>; 2],
    /// The number of games with each of [`THEMES`].
    pub themes: Vec<ThemeTally>,
    /// The results of games that reached each of [`ENDINGS`], followed by the results of games that reached any of them.
    pub endings: Vec<Record>,
    /// The sums from which the figures about time trouble are computed.
    pub clocks: ClockTally,
    /// The sums for losses of evaluation.
    pub losses: LossTallies,
}

impl ProfileCollector {
    /// Creates a collector for a player. `reads_comments` is true if the database keeps comments, which contain the clock times.
    pub fn new(player: Player, reads_comments: bool) -> ProfileCollector {
        let spellings = SpellingsCollector::new(player.name.clone());
        ProfileCollector { player, spellings, reads_comments }
    }

    /// Returns whether comments are read.
    pub fn reads_comments(&self) -> bool {
        self.reads_comments
    }

    /// Returns the player.
    pub fn player(&self) -> &Player {
        &self.player
    }
}

impl Collector for ProfileCollector {
    type Part = ProfilePart;

    fn wants(&self) -> Wants {
        Wants::HITS | Wants::TAGS | Wants::SIDES | Wants::COMMENTS.when(self.reads_comments)
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> ProfilePart {
        let first = result.first();
        let mut sides = self.player.sides(&result.block);
        for game in result.block.games().filter(|game| !first.counts(game)) {
            sides[game.index()] = None;
        }
        let mut part = ProfilePart {
            spellings: self.spellings.of_block(&result.block, &sides),
            ..ProfilePart::default()
        };
        part.themes =
            (0..THEMES.len()).map(|theme| ThemeTally::from_block(&result.of_query(theme), &sides)).collect();
        let endings: Vec<Found> =
            (0..ENDINGS.len()).map(|ending| result.of_query(THEMES.len() + ending)).collect();
        part.endings = vec![Record::default(); ENDINGS.len() + 1];
        for game in result.block.games().filter(|game| first.counts(game)) {
            match sides[game.index()] {
                Some(side) => part.add_game(&first, &game, side, &endings),
                None => part.others += 1,
            }
        }
        part
    }

    fn could_make(&self, part: &ProfilePart) -> bool {
        let is_empty = part.themes.is_empty() && part.endings.is_empty();
        is_empty || (part.themes.len(), part.endings.len()) == (THEMES.len(), ENDINGS.len() + 1)
    }
}

impl Record {
    /// Returns the record of a single game in which the player has the side `side`.
    pub(super) fn from_game(game: &GameRow, side: Color) -> Record {
        let results = SideResults::from_outcome(game.outcome(), sides_of(side));
        let mut record = Record { games: 1, results, ..Record::default() };
        let rating = |side: Color| side.fold_wb(Rating::White, Rating::Black).of_game(game);
        if let (Some(own), Some(opponent)) = (rating(side), rating(!side))
            && game.outcome() != Outcome::Unknown
        {
            record.rated = 1;
            record.half_points = 2 * results.wins + results.draws;
            record.expected_millionths = (expected_score(opponent - own) * 1e6).round() as u64;
        }
        record
    }

    pub(super) fn add(&mut self, other: &Record) {
        self.games += other.games;
        self.results.add(&other.results);
        self.rated += other.rated;
        self.half_points += other.half_points;
        self.expected_millionths += other.expected_millionths;
    }
}

impl PositionRecord {
    fn add(&mut self, other: &PositionRecord) {
        self.record.add(&other.record);
        self.games_hash = self.games_hash.wrapping_add(other.games_hash);
    }
}

/// Returns the expected score against an opponent who is rated `higher` points higher.
///
/// Source: A. E. Elo, "The Rating of Chessplayers, Past and Present" (1978), with the logistic curve that FIDE's tables
/// approximate.
fn expected_score(higher: i64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(higher as f64 / 400.0))
}

impl ThemeTally {
    /// Counts the games with a theme in a block. `sides` is the player's side in each game.
    fn from_block(found: &Found, sides: &[Option<Color>]) -> ThemeTally {
        let mut tally = ThemeTally { tells_sides: found.copy_sides().is_some(), ..ThemeTally::default() };
        let pattern = PatternSides::from_found(found);
        for game in found.block.games().filter(|game| found.counts(game)) {
            let hits = found.answers.hits.count_in(game.slots());
            match sides[game.index()].filter(|_| hits > 0) {
                Some(side) => {
                    let have = pattern.from(game.first_slot(), hits);
                    tally.player += 1;
                    tally.own += u64::from(*have.get(side));
                    tally.opponent += u64::from(*have.get(!side));
                }
                None => tally.others += u64::from(hits > 0),
            }
        }
        tally
    }

    fn add(&mut self, other: &ThemeTally) {
        self.player += other.player;
        self.own += other.own;
        self.opponent += other.opponent;
        self.others += other.others;
        self.tells_sides |= other.tells_sides;
    }
}

impl ProfilePart {
    /// Adds a game in which the player has the side `side`. `endings` are the answers to the queries of [`ENDINGS`].
    fn add_game(&mut self, found: &Found, game: &GameRow, side: Color, endings: &[Found]) {
        let (record, at) = (Record::from_game(game, side), side.fold_wb(0, 1));
        self.records[at].add(&record);
        self.tallies[at].add(MoveTally::from_game(found, game, side));
        let passed: Vec<&str> =
            Opening::passed(game.start(), game.moves()).map(|opening| &*opening.name).collect();
        let family = passed.last().map(|name| family(name).to_owned());
        self.openings[at].entry(family).or_default().add(&record);
        let games_hash = XxHash3_64::oneshot(&game.number().to_le_bytes());
        for name in BTreeSet::from_iter(passed) {
            let of_game = PositionRecord { record, games_hash };
            self.positions[at].entry(name.to_owned()).or_default().add(&of_game);
        }
        let (last, each) = self.endings.split_last_mut().expect("there is a record of any ending");
        let mut reached = each
            .iter_mut()
            .zip(endings)
            .filter(|(_, ending)| ending.answers.hits.any_in(game.slots()))
            .peekable();
        if reached.peek().is_some() {
            last.add(&record);
        }
        reached.for_each(|(sum, _)| sum.add(&record));
        let measures = GameMeasures::from_game(game);
        if !measures.are_none() {
            self.clocks.add_game(game, &measures, side, &record);
            self.losses.add_game(game, &measures, side);
        }
    }
}

/// Returns the family of an opening, such as `Sicilian Defense` for `Sicilian Defense: Najdorf Variation`.
fn family(name: &str) -> &str {
    name.split_once(':').map_or(name, |(family, _)| family)
}

impl ClockTally {
    fn add_game(&mut self, game: &GameRow, measures: &GameMeasures, side: Color, record: &Record) {
        let last = CLOCK_PLIES.min(game.plies() as u32);
        let least = |mover: Color| {
            let nodes = (1..=last).filter(|&node| mover_of(game, node) == mover);
            nodes.filter_map(|node| measures.at(node).clock).min()
        };
        let clocks = [side, !side].map(least);
        if clocks == [None; 2] {
            return;
        }
        self.games += 1;
        let Some(base) = time_control::base_of_game(game) else { return };
        for (at, clock) in clocks.into_iter().enumerate() {
            let Some(clock) = clock else { continue };
            let is_short = clock < base / SHORT_PART;
            self.known[at] += 1;
            self.short[at] += u64::from(is_short);
            if is_short && at == 0 {
                self.record.add(record);
            }
        }
    }

    fn add(&mut self, other: &ClockTally) {
        self.games += other.games;
        for at in 0..2 {
            self.known[at] += other.known[at];
            self.short[at] += other.short[at];
        }
        self.record.add(&other.record);
    }
}

/// Returns the side whose move led to a position on the main line.
fn mover_of(game: &GameRow, node: u32) -> Color {
    let first = game.start().state.turn();
    if node % 2 == 1 { first } else { !first }
}

impl LossTally {
    fn add(&mut self, other: &LossTally) {
        self.moves += other.moves;
        self.lost += other.lost;
        self.at_least.iter_mut().zip(other.at_least).for_each(|(sum, more)| *sum += more);
    }

    pub(super) fn sum(tallies: &[LossTally]) -> LossTally {
        let mut sum = LossTally::default();
        tallies.iter().for_each(|tally| sum.add(tally));
        sum
    }
}

impl LossTallies {
    fn add_game(&mut self, game: &GameRow, measures: &GameMeasures, side: Color) {
        let base = time_control::base_of_game(game);
        let mut is_known = false;
        for node in 1..=game.plies() as u32 {
            let Measures { clock, loss: Some(loss), .. } = measures.at(node) else { continue };
            is_known = true;
            let remaining = match clock.zip(base) {
                Some((clock, base)) if clock >= base / 2 => 0,
                Some((clock, base)) if clock >= base / SHORT_PART => 1,
                Some(_) => 2,
                None => 3,
            };
            let at_least = LOSSES.map(|least| u64::from(loss >= least));
            self.moves[usize::from(mover_of(game, node) != side)][remaining].add(&LossTally {
                moves: 1,
                lost: loss.unsigned_abs(),
                at_least,
            });
        }
        self.games += u64::from(is_known);
    }

    fn add(&mut self, other: &LossTallies) {
        self.games += other.games;
        let tallies = self.moves.as_flattened_mut().iter_mut();
        tallies.zip(other.moves.as_flattened()).for_each(|(sum, more)| sum.add(more));
    }
}

impl Part for ProfilePart {
    fn merge(&mut self, next: ProfilePart) -> Result<(), PartError> {
        self.spellings.merge(next.spellings)?;
        self.others += next.others;
        self.records.iter_mut().zip(&next.records).for_each(|(sum, more)| sum.add(more));
        self.tallies.iter_mut().zip(next.tallies).for_each(|(sum, more)| sum.add(more));
        let openings = self.openings.iter_mut().zip(next.openings);
        openings.for_each(|(sums, more)| add_all(sums, more, Record::add));
        let positions = self.positions.iter_mut().zip(next.positions);
        positions.for_each(|(sums, more)| add_all(sums, more, PositionRecord::add));
        self.themes.resize(self.themes.len().max(next.themes.len()), ThemeTally::default());
        self.themes.iter_mut().zip(&next.themes).for_each(|(sum, more)| sum.add(more));
        self.endings.resize(self.endings.len().max(next.endings.len()), Record::default());
        self.endings.iter_mut().zip(&next.endings).for_each(|(sum, more)| sum.add(more));
        self.clocks.add(&next.clocks);
        self.losses.add(&next.losses);
        Ok(())
    }
}

fn add_all<K: Ord, V: Default>(sums: &mut BTreeMap<K, V>, more: BTreeMap<K, V>, add: impl Fn(&mut V, &V)) {
    more.into_iter().for_each(|(key, value)| add(sums.entry(key).or_default(), &value));
}
