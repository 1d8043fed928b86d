//! Counts hits by properties such as year, opening, rating, ply and copy, and in cross tables of two properties.
//!
//! A [`Stats`] counts the games and positions of one block (a group of games), on any thread. The [`Counts`] of blocks can be added
//! in any order, and their [`GroupRow`]s are written as text, CSV or JSON. Nothing here depends on queries, files or terminals.
//! Invariant: counts are sums over games; they depend neither on threads nor on the division of a database into blocks.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use orbit_database::{BlockStream, StreamOptions};
//! use orbit_search::choice::Choice;
//! use orbit_engine::Wants;
//! use orbit_search::found::Names;
//! use orbit_search::executor::{EngineOptions, Executor};
//! use orbit_search::stats::{GroupKey, Grouping, Stats};
//!
//! let games = b"[Date \"1997.05.11\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n[Date \"1998.??.??\"]\n\n1. d4 *\n".to_vec();
//! let database = BlockStream::from_pgn_bytes("games", games, StreamOptions::default());
//! let stats = Stats::new(Grouping::list("year,ply:2")?);
//! let mut counts = stats.none();
//! let parsed = orbit_query::parse("Nf3").map_err(|fault| fault.to_string())?;
//! Executor::with_query(parsed, &EngineOptions::default())?.for_each_block(
//!     database,
//!     &[Wants::HITS],
//!     &Choice::default(),
//!     &Names::default(),
//!     |result, _| stats.count(&result.first()),
//!     |_, more| {
//!         counts.add(more).expect("two years");
//!         ControlFlow::Continue(())
//!     },
//! )?;
//! let years = counts.rows(&"year".parse()?);
//! assert_eq!(years[0].keys[0], GroupKey::Number(1997));
//! assert_eq!((years[0].hit.games, years[0].hit.positions, years[0].all.positions), (1, 2, 5));
//! assert_eq!(years[1].hit.games, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod codes;
mod columns;
mod data;
mod grouping;
mod many;
mod matrix;
mod people;
mod played;
mod records;
mod rows;
mod sides;
mod table;

use std::collections::BTreeSet;
use std::fmt;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize, Serializer};
use shakmaty::ByColor;

use self::codes::GroupCode;
use self::columns::{GroupColumn, HitAt, PositionAt};
use self::played::StoredFacts;
use crate::found::Found;
use crate::report::{Distribution, grouped};
use orbit_core::board::Color;
use orbit_core::game::Mention;
use orbit_core::game::measures::thousandths_text;
use orbit_engine::Wants;
use orbit_engine::{HitValues, Hits, Outcome, Values, any_side};

pub use grouping::{By, Grouping, GroupingError};
pub use many::ManyCounts;
pub use matrix::{ThemeCounts, ThemeLabel, ThemeMatrix};
pub(crate) use played::sides_of;
pub use played::{BestGame, MoveTally};
pub use rows::{GroupRow, MoveRow, ScoreOf, Share, ShareDifference};
pub(crate) use sides::PatternSides;
pub use sides::SideResults;
pub use table::TableLimits;

/// The maximum number of groups in a grouping. Each group takes about 100 bytes of memory, and a group of
/// moves about 2 KB.
pub const GROUPS_MAX: usize = 5_000_000;

/// The error for a grouping with too many groups, such as one for almost every game.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "there are more than {} groups by `{grouping}`; choose a coarser grouping, fewer games (--where), or write the \
     hits as a table (-o hits.csv) for a database to group", grouped(*max as u64)
)]
pub struct TooManyGroups {
    /// The grouping.
    pub grouping: String,
    /// The maximum number of groups in the grouping.
    pub max: usize,
}

/// A group. It is serialized as a number, as a string, or as null if the property is unknown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GroupKey {
    /// The group of all games or positions. It is the second key in a grouping by a single property.
    Whole,
    /// A number, such as a year, the lower end of a rating range, or the number of a transformed copy, from 1.
    Number(i64),
    /// A fractional number, in thousandths: 500 means 0.5.
    Thousandths(i64),
    /// A string, such as a name.
    Text(String),
    /// A player with a FIDE number, until [`ManyCounts::into_counts`] merges the spellings of names and replaces this key by the
    /// chosen spelling, a `Text`.
    Player(Mention),
    /// The property is unknown, because the game does not state it.
    Unknown,
}

impl fmt::Display for GroupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GroupKey::Whole => Ok(()),
            GroupKey::Number(number) => number.fmt(f),
            GroupKey::Thousandths(number) => f.write_str(&thousandths_text(*number)),
            GroupKey::Text(text) | GroupKey::Player(Mention { name: text, .. }) => f.write_str(text),
            GroupKey::Unknown => f.write_str("?"),
        }
    }
}

impl Serialize for GroupKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            GroupKey::Number(number) => serializer.serialize_i64(*number),
            GroupKey::Thousandths(number) if number % 1000 == 0 => serializer.serialize_i64(number / 1000),
            GroupKey::Thousandths(number) => serializer.serialize_f64(*number as f64 / 1000.0),
            GroupKey::Text(text) | GroupKey::Player(Mention { name: text, .. }) => {
                serializer.serialize_str(text)
            }
            GroupKey::Whole | GroupKey::Unknown => serializer.serialize_none(),
        }
    }
}

/// The numbers of games and positions, and the results of the games, either over all counted games or in one group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// The number of games with at least one counted position.
    pub games: u64,
    /// The number of counted positions.
    pub positions: u64,
    /// The number of counted games with a known result.
    pub results: u64,
    /// The points of one side in games with a known result: 2 for a win, 1 for a draw. [`GroupRow::score_of`] says which side.
    pub half_points: u64,
    /// The number of games that this side won.
    pub wins: u64,
    /// The results of the counted games for the side whose pattern matched: see [`SideResults`].
    pub sides: SideResults,
}

impl Tally {
    /// Creates the tally of one game. `outcome` is the result for the side that the query treats as White.
    fn from_outcome(outcome: Outcome, positions: u64) -> Tally {
        let (results, half_points) = match outcome {
            Outcome::Unknown => (0, 0),
            Outcome::BlackWins => (1, 0),
            Outcome::Draw => (1, 1),
            Outcome::WhiteWins => (1, 2),
        };
        Tally { games: 1, positions, results, half_points, wins: half_points / 2, ..Tally::default() }
    }

    /// Sets the results for the sides whose pattern matched.
    fn with_sides(self, sides: SideResults) -> Tally {
        Tally { sides, ..self }
    }

    fn add(&mut self, other: &Tally) {
        self.games += other.games;
        self.positions += other.positions;
        self.results += other.results;
        self.half_points += other.half_points;
        self.wins += other.wins;
        self.sides.add(&other.sides);
    }

    /// Returns whether the tally is consistent: no number is above `most`, there are no more results than games, and the results
    /// can be wins, draws and losses that add up to the points.
    fn is_sound(&self, most: u64) -> bool {
        let Tally { games, positions, results, half_points, wins, sides } = *self;
        let fits = games <= most && positions <= most && results <= games && wins <= results;
        let draws = wins.checked_mul(2).and_then(|won| half_points.checked_sub(won));
        fits && draws.is_some_and(|draws| draws <= results - wins) && sides.is_sound(results)
    }

    /// Returns the results of one side in the counted games. [`GroupRow::score_of`] says which side.
    pub fn ends(&self) -> SideResults {
        let draws = self.half_points - 2 * self.wins;
        SideResults { wins: self.wins, draws, losses: self.results - self.wins - draws }
    }

    /// Returns the mean score in games with a known result, from 0 to 1, or `None` if there are no such games.
    /// [`GroupRow::score_of`] says whose score it is.
    pub fn score(&self) -> Option<f64> {
        (self.results > 0).then(|| self.half_points as f64 / 2.0 / self.results as f64)
    }
}

/// The rules for counting hits: the groupings, the maximum number of groups, and the scores and values that are counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stats {
    /// The groupings: first those that the user requested, then others that are needed for these, such as the groupings by the
    /// single properties of a cross table.
    groupings: Arc<[Grouping]>,
    /// The number of groupings that the user requested.
    asked: usize,
    groups_max: usize,
    /// The side or player whose score is counted in groups that are not themselves players.
    score_of: ScoreOf,
    /// True to count the distribution of numeric values at hits.
    tells_values: bool,
    /// True to count the scores of the sides whose pattern matched, for queries that determine these sides.
    tells_sides: bool,
}

/// The counts for some blocks. Counts can be added in any order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    stats: Stats,
    /// The tallies of all selected games and of the games with hits.
    total: [Tally; 2],
    /// The distribution of the query's values at all hits, if it is counted.
    values: Distribution,
    /// The table of each grouping.
    tables: Vec<TallyTable>,
    /// The pairs of similar names of players who met in a game, if groups are players. The names of such a pair belong to different
    /// people.
    met: BTreeSet<[String; 2]>,
    /// True if the query determines the sides whose pattern matched.
    tells_sides: bool,
}

/// The tallies of one grouping, for each pair of groups. In `all`, a property that only hits have, such as the copy that matched,
/// has a single group. So `all` does not depend on the query, and queries that search the same games share it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct TallyTable {
    all: Arc<HashMap<[GroupKey; 2], Tally>>,
    hit: HashMap<[GroupKey; 2], Tally>,
    /// For each group, the distribution of the query's values at its hits, if it is counted.
    values: HashMap<[GroupKey; 2], Distribution>,
    /// The total number of distinct values in `values`.
    distinct: usize,
    /// Additional sums over the games with hits, if groups are moves.
    moves: HashMap<[GroupKey; 2], MoveTally>,
}

impl TallyTable {
    fn new(
        all: HashMap<[GroupKey; 2], Tally>,
        hit: HashMap<[GroupKey; 2], Tally>,
        values: HashMap<[GroupKey; 2], Distribution>,
        moves: HashMap<[GroupKey; 2], MoveTally>,
    ) -> TallyTable {
        let distinct = values.values().map(Distribution::distinct).sum();
        TallyTable { all: Arc::new(all), hit, values, distinct, moves }
    }
}

/// A selected game of a block.
struct CountedGame {
    index: usize,
    first_slot: usize,
    /// The number of the game's positions that were searched.
    positions: usize,
    /// True if `positions` includes those in side lines.
    has_lines: bool,
    /// The result for the side that the query treats as White.
    outcome: Outcome,
    hits: u64,
    /// The number of hits in all games before this game in the block.
    hits_before: usize,
}

impl Stats {
    /// Creates rules that count by all of these groupings at once.
    pub fn new(groupings: Vec<Grouping>) -> Stats {
        let asked = groupings.len();
        let mut all = groupings;
        // A player's games may be under several spellings. To recognize these, the names of all players are needed.
        if all.iter().flat_map(Grouping::properties).any(By::is_of_names) && !all.contains(&By::Player.into())
        {
            all.push(By::Player.into());
        }
        for by in 0..asked {
            let margins: Vec<Grouping> = match &all[by].second {
                Some(_) => all[by].properties().cloned().map(Grouping::from).collect(),
                None => Vec::new(),
            };
            for margin in margins {
                if !all.contains(&margin) {
                    all.push(margin);
                }
            }
        }
        Stats {
            groupings: all.into(),
            asked,
            groups_max: GROUPS_MAX,
            score_of: ScoreOf::White,
            tells_values: false,
            tells_sides: false,
        }
    }

    /// Enables counting the distribution of values at hits, for a query whose value is a number.
    #[must_use]
    pub fn with_values(self) -> Stats {
        Stats { tells_values: true, ..self }
    }

    /// Enables counting the results for the sides whose pattern matched, for queries that determine these sides.
    #[must_use]
    pub fn with_sides(self) -> Stats {
        Stats { tells_sides: true, ..self }
    }

    /// Returns true after [`Stats::with_sides`].
    pub fn tells_sides(&self) -> bool {
        self.tells_sides
    }

    /// Returns true after [`Stats::with_values`].
    pub fn tells_values(&self) -> bool {
        self.tells_values
    }

    /// Counts scores for the selected player, whom the query treats as White. [`Found::sides`] contains the player's side in each
    /// game.
    #[must_use]
    pub fn for_player(self) -> Stats {
        Stats { score_of: ScoreOf::Player, ..self }
    }

    /// Sets the maximum number of groups in a grouping. The default is [`GROUPS_MAX`].
    #[must_use]
    pub fn groups_max(self, groups_max: usize) -> Stats {
        Stats { groups_max, ..self }
    }

    /// Returns the groupings that the user requested.
    pub fn groupings(&self) -> &[Grouping] {
        &self.groupings[..self.asked]
    }

    /// Returns the facts about games and hits that are needed for counting.
    pub fn wants(&self) -> Wants {
        Wants::SIDES.when(self.tells_sides)
            | Wants::VALUES.when(self.tells_values)
            | self.properties().map(By::wants).collect::<Wants>()
    }

    fn properties(&self) -> impl Iterator<Item = &By> {
        self.groupings.iter().flat_map(Grouping::properties)
    }

    /// Returns empty counts.
    pub fn none(&self) -> Counts {
        let tables = self.groupings.iter().map(|_| TallyTable::default()).collect();
        let (stats, values) = (self.clone(), Distribution::default());
        let met = BTreeSet::new();
        Counts { stats, total: Default::default(), values, tables, met, tells_sides: false }
    }

    /// Counts the selected games of one block, and their positions, by all groupings.
    ///
    /// # Panics
    ///
    /// Panics if the hits belong to another block, or if a grouping needs all matching copies of the query and these are unknown
    /// ([`CopyDetail::All`](orbit_engine::CopyDetail::All)).
    pub fn count(&self, found: &Found) -> Counts {
        self.count_with(&self.columns(found), found, CountedGames::All)
    }

    fn columns(&self, found: &Found) -> HashMap<&By, GroupColumn> {
        let mut columns = HashMap::new();
        for by in self.properties() {
            columns.entry(by).or_insert_with(|| GroupColumn::new(by, found));
        }
        columns
    }

    fn count_with(&self, columns: &HashMap<&By, GroupColumn>, found: &Found, which: CountedGames) -> Counts {
        let hits = &found.answers.hits;
        assert!(
            found.answers.hit_copies().is_some() || !self.wants().contains(Wants::ALL_COPIES),
            "groups by copy need the copies of hits"
        );
        let sides = PatternSides::from_found(found);
        let games = games(found, which);
        let mut total = [Tally::default(); 2];
        for game in &games {
            if which == CountedGames::All {
                total[0].add(&Tally::from_outcome(game.outcome, game.positions as u64));
            }
            if game.hits > 0 {
                let sides = sides.in_hits(game.hits_before, game.hits);
                let sides = SideResults::from_outcome(game.outcome, sides);
                total[1].add(&Tally::from_outcome(game.outcome, game.hits).with_sides(sides));
            }
        }
        let numbers = match &hits.values {
            Values::Numbers(numbers) if self.tells_values => Some(numbers),
            _ => None,
        };
        let mut values = Distribution::default();
        if let Some(numbers) = numbers {
            let slots = |game: &CountedGame| hits.slots(game.first_slot..game.first_slot + game.positions);
            games.iter().flat_map(slots).for_each(|slot| values.add(numbers[slot], 1));
        }
        let tables = self.groupings.iter().map(|grouping| {
            let second = grouping.second.as_ref().map_or(&GroupColumn::Whole, |by| &columns[by]);
            let columns = [&columns[&grouping.first], second];
            let (all, hit) = (HashMap::new(), HashMap::new());
            let (values, moves, scratch) = (HashMap::new(), HashMap::new(), Scratch::default());
            let mut counter = GroupCounter {
                found,
                columns,
                hits,
                numbers,
                sides: &sides,
                which,
                all,
                hit,
                values,
                moves,
                scratch,
            };
            games.iter().for_each(|game| counter.count(game));
            counter.table()
        });
        let tables = tables.collect();
        let met = match (columns.get(&By::Player), which) {
            (Some(players), CountedGames::All) => people::met(players, games.iter().map(|game| game.index)),
            _ => BTreeSet::new(),
        };
        Counts { stats: self.clone(), total, values, tables, met, tells_sides: found.copy_sides().is_some() }
    }
}

/// The games of a block that are counted for a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CountedGames {
    /// All selected games.
    All,
    /// Only games with hits, because the counts of another query already contain the groups of all games.
    Hit,
}

/// Returns the games to count.
fn games(found: &Found, which: CountedGames) -> Vec<CountedGame> {
    let hits = &found.answers.hits;
    if which == CountedGames::Hit && hits.bits.iter().all(|&bits| bits == 0) {
        return Vec::new();
    }
    let mut hits_before = 0;
    let mut games = Vec::new();
    for row in found.block.games() {
        let in_game = hits.count_in(row.slots());
        if found.counts(&row) && (in_game > 0 || which == CountedGames::All) {
            let has_lines = !hits.main_lines && row.has_lines();
            games.push(CountedGame {
                index: row.index(),
                first_slot: row.first_slot(),
                positions: if has_lines { row.positions() } else { row.plies() + 1 },
                has_lines,
                outcome: seen_from(row.outcome(), found.side(&row)),
                hits: in_game,
                hits_before,
            });
        }
        hits_before += in_game as usize;
    }
    games
}

/// Returns a game result as seen from `side`, as if this side were White.
fn seen_from(outcome: Outcome, side: Color) -> Outcome {
    if side.is_white() { outcome } else { outcome.colors_swapped() }
}

/// Counts a block's games by one grouping.
struct GroupCounter<'a> {
    found: &'a Found<'a>,
    columns: [&'a GroupColumn; 2],
    hits: &'a Hits,
    /// The query's values at hits, or `None` if their distribution is not counted.
    numbers: Option<&'a HitValues<i32>>,
    sides: &'a PatternSides<'a>,
    which: CountedGames,
    all: HashMap<[GroupCode; 2], Tally>,
    hit: HashMap<[GroupCode; 2], Tally>,
    values: HashMap<[GroupCode; 2], Distribution>,
    moves: HashMap<[GroupCode; 2], MoveTally>,
    scratch: Scratch,
}

/// Buffers that are reused for each game.
#[derive(Default)]
struct Scratch {
    codes: [Vec<GroupCode>; 2],
    /// For each hit, its groups, the sides whose pattern matched there, and, if groups are moves, the side that plays the moves.
    pairs: Vec<([GroupCode; 2], ByColor<bool>, Option<Color>)>,
    runs: Vec<PositionRun>,
}

/// A run: consecutive positions in a line that are in the same groups.
#[derive(Clone, Copy)]
struct PositionRun {
    groups: [GroupCode; 2],
    positions: u64,
    hits: u64,
    /// The sides whose pattern matched at any hit of the run.
    sides: ByColor<bool>,
}

impl GroupCounter<'_> {
    fn count(&mut self, game: &CountedGame) {
        let is_of_hits = self.columns.iter().any(|column| column.is_of_hits());
        self.scratch.runs.clear();
        if game.has_lines && self.columns.iter().any(|column| column.is_of_plies()) {
            let row = self.found.block.game(game.index);
            self.count_line(game, 0..row.plies() + 1, 0);
            for line in row.lines() {
                self.count_line(
                    game,
                    line.first_node() as usize..line.end_node() as usize,
                    line.ply() as usize,
                );
            }
            // Runs in several lines can have the same groups. They are sorted so that a game is counted only once in each group.
            self.scratch.runs.sort_unstable_by_key(|run| run.groups);
        } else {
            self.count_line(game, 0..game.positions, 0);
            if self.columns.iter().any(|column| column.comes_again()) {
                self.scratch.runs.sort_unstable_by_key(|run| run.groups);
            }
        }
        for same in self.scratch.runs.chunk_by(|a, b| a.groups == b.groups) {
            let (positions, hits) =
                same.iter().fold((0, 0), |sum, run| (sum.0 + run.positions, sum.1 + run.hits));
            let groups = same[0].groups;
            let outcome = outcome(self.found, self.columns, game, groups);
            if self.which == CountedGames::All {
                self.all.entry(groups).or_default().add(&Tally::from_outcome(outcome, positions));
            }
            if hits > 0 && !is_of_hits {
                let sides = any_side(same.iter().map(|run| run.sides));
                let tally = Tally::from_outcome(outcome, hits)
                    .with_sides(SideResults::from_outcome(game.outcome, sides));
                self.hit.entry(groups).or_default().add(&tally);
            }
        }
        if is_of_hits && game.hits > 0 {
            self.count_hits(game);
        }
    }

    /// Counts the positions of a line as runs of consecutive positions in the same groups. `nodes` are the numbers of the line's
    /// positions in the game, and `ply` is the ply of the first one.
    fn count_line(&mut self, game: &CountedGame, nodes: Range<usize>, ply: usize) {
        let Scratch { codes, runs, .. } = &mut self.scratch;
        let (mut node, before) = (nodes.start, ply);
        while node < nodes.end {
            let ply = before + node - nodes.start;
            let place = PositionAt { game: game.index, slot: game.first_slot + node, ply };
            let run = self.columns.map(|column| column.run_end(place)).into_iter().min().unwrap_or(ply);
            let end = nodes.end.min(run.saturating_sub(ply).saturating_add(node));
            let hits = match end - node {
                whole if whole == game.positions => game.hits,
                _ => self.hits.count_in(game.first_slot + node..game.first_slot + end),
            };
            for (column, codes) in self.columns.iter().zip(&mut *codes) {
                column.codes(place, codes);
            }
            let sides = self.sides.from(game.first_slot + node, hits);
            let positions = (end - node) as u64;
            runs.extend(pairs(codes).map(|groups| PositionRun { groups, positions, hits, sides }));
            if let Some(numbers) = self.numbers.filter(|_| hits > 0)
                && !self.columns.iter().any(|column| column.is_of_hits())
            {
                for pair in pairs(codes) {
                    let values = self.values.entry(pair).or_default();
                    let slots = self.hits.slots(game.first_slot + node..game.first_slot + end);
                    slots.for_each(|slot| values.add(numbers[slot], 1));
                }
            }
            node = end;
        }
    }

    /// Counts each hit separately, because hits can have different groups.
    fn count_hits(&mut self, game: &CountedGame) {
        let Scratch { codes, pairs: found, .. } = &mut self.scratch;
        found.clear();
        let slots = self.hits.slots(game.first_slot..game.first_slot + game.positions);
        let row = self.found.block.game(game.index);
        let is_of_moves = self.columns.iter().any(|column| column.is_of_moves());
        let is_of_spans = is_of_moves || self.columns.iter().any(|column| column.is_of_spans());
        let facts = is_of_moves.then(|| StoredFacts::new(self.found, &row));
        for (index, slot) in (game.hits_before..).zip(slots) {
            let node = slot - game.first_slot;
            let span = if is_of_spans { self.found.span(&row, node as u32) } else { None };
            let hit = HitAt { slot, index, found: self.found, game: &row, span: span.as_deref() };
            let ply = if game.has_lines { row.ply_of(node as u32) as usize } else { node };
            let mut mover = None;
            for (column, codes) in self.columns.iter().zip(&mut *codes) {
                let plays = column.codes_of_hit(PositionAt { game: game.index, slot, ply }, hit, codes);
                mover = mover.or(plays);
            }
            let at_hit = self.sides.in_hits(index, 1);
            found.extend(pairs(codes).map(|pair| {
                let copy = self.columns.iter().zip(pair).find_map(|(column, code)| column.copy(code));
                let of_copy = copy.and_then(|copy| self.sides.of_copy(copy));
                (pair, of_copy.unwrap_or(at_hit), mover)
            }));
            if let Some(numbers) = self.numbers {
                pairs(codes).for_each(|pair| self.values.entry(pair).or_default().add(numbers[slot], 1));
            }
        }
        found.sort_unstable_by_key(|(pair, ..)| *pair);
        for same in found.chunk_by(|a, b| a.0 == b.0) {
            let groups = same[0].0;
            let sides = any_side(same.iter().map(|(_, sides, _)| *sides));
            let tally =
                Tally::from_outcome(outcome(self.found, self.columns, game, groups), same.len() as u64);
            let tally = tally.with_sides(SideResults::from_outcome(game.outcome, sides));
            self.hit.entry(groups).or_default().add(&tally);
            if let Some(facts) = &facts {
                let plays = |side| same.iter().any(|(.., mover)| *mover == Some(side));
                let movers = ByColor { white: plays(Color::White), black: plays(Color::Black) };
                self.moves.entry(groups).or_default().add_game(facts, movers);
            }
        }
    }

    /// Returns the counts, with keys that are valid outside the block.
    fn table(self) -> TallyTable {
        let [first, second] = self.columns;
        let all = self.all.into_iter().map(|([a, b], tally)| ([first.key(a), second.key(b)], tally));
        let hit = self.hit.into_iter();
        let hit = hit.map(|([a, b], tally)| ([first.key_of_hit(a), second.key_of_hit(b)], tally));
        let values = self.values.into_iter();
        let values = values.map(|([a, b], all)| ([first.key_of_hit(a), second.key_of_hit(b)], all));
        let moves = self.moves.into_iter();
        let moves = moves.map(|([a, b], tally)| ([first.key_of_hit(a), second.key_of_hit(b)], tally));
        TallyTable::new(all.collect(), hit.collect(), values.collect(), moves.collect())
    }
}

/// Returns the game result for the side or player whose score a pair of groups shows. If one of the groups is a player, the result
/// is for this player.
fn outcome(found: &Found, columns: [&GroupColumn; 2], game: &CountedGame, groups: [GroupCode; 2]) -> Outcome {
    let sides = columns.iter().zip(groups).find_map(|(column, code)| column.sides(game.index, code));
    let played = || found.block.game(game.index).outcome();
    match sides {
        None => game.outcome,
        Some([_, false]) => played(),
        Some([false, true]) => played().colors_swapped(),
        // A player who has both sides of a game scores one of two points, as in a draw.
        Some([true, true]) if played() == Outcome::Unknown => Outcome::Unknown,
        Some([true, true]) => Outcome::Draw,
    }
}

/// Iterates over all pairs of a group from the first list and a group from the second.
fn pairs([first, second]: &[Vec<GroupCode>; 2]) -> impl Iterator<Item = [GroupCode; 2]> {
    first.iter().flat_map(|&a| second.iter().map(move |&b| [a, b]))
}

impl Counts {
    /// Adds the counts of other blocks.
    ///
    /// # Errors
    ///
    /// Fails if a grouping exceeds the maximum number of groups.
    ///
    /// # Panics
    ///
    /// Panics if the counts have different groupings.
    pub fn add(&mut self, other: Counts) -> Result<(), TooManyGroups> {
        assert!(self.stats == other.stats, "counts by other groupings do not add up");
        for (sum, more) in self.total.iter_mut().zip(&other.total) {
            sum.add(more);
        }
        self.values.merge(&other.values);
        self.tells_sides |= other.tells_sides;
        self.met.extend(other.met);
        for ((sum, more), grouping) in self.tables.iter_mut().zip(other.tables).zip(&*self.stats.groupings) {
            let all = Arc::unwrap_or_clone(more.all);
            for (keys, values) in more.values {
                let of_group = sum.values.entry(keys).or_default();
                sum.distinct -= of_group.distinct();
                of_group.merge(&values);
                sum.distinct += of_group.distinct();
            }
            more.moves.into_iter().for_each(|(keys, tally)| sum.moves.entry(keys).or_default().add(tally));
            if sum.distinct > self.stats.groups_max {
                let (grouping, max) = (grouping.to_string(), self.stats.groups_max);
                return Err(TooManyGroups { grouping, max });
            }
            for (sum, more) in [(Arc::make_mut(&mut sum.all), all), (&mut sum.hit, more.hit)] {
                for (keys, tally) in more {
                    sum.entry(keys).or_default().add(&tally);
                }
                if sum.len() > self.stats.groups_max {
                    let (grouping, max) = (grouping.to_string(), self.stats.groups_max);
                    return Err(TooManyGroups { grouping, max });
                }
            }
        }
        Ok(())
    }

    /// Sets whether the query determines the sides whose pattern matched. This must be set explicitly, because the counts of a
    /// database without games do not show it.
    #[must_use]
    pub fn telling_sides(self, tells_sides: bool) -> Counts {
        Counts { tells_sides, ..self }
    }

    /// Returns the rules by which hits were counted.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns one row for all selected games.
    pub fn total(&self) -> GroupRow {
        let [all, hit] = self.total;
        let values = self.stats.tells_values.then(|| self.values.clone());
        let sides = self.tells_sides.then_some(hit.sides);
        let (keys, score_of) = ([GroupKey::Whole, GroupKey::Whole], self.stats.score_of);
        GroupRow { keys, all, hit, score_of, sides, values, moves: None }
    }

    /// Returns the groups of a grouping, or of one property of a cross table. Numbers and results are in their natural order.
    /// Names, openings and copies are sorted by the number of games with hits. Only hits have a value or a copy. For a group of
    /// values or copies, [`GroupRow::all`] therefore counts all games.
    ///
    /// # Panics
    ///
    /// Panics if the grouping was not counted.
    pub fn rows(&self, grouping: &Grouping) -> Vec<GroupRow> {
        let index = self.stats.groupings.iter().position(|other| other == grouping);
        let table = &self.tables[index.expect("a grouping that was counted")];
        let mut rows = rows::group_rows(table, grouping, self);
        match &grouping.second {
            None if matches!(grouping.first, By::Next { plies: 2.., .. }) => rows = rows::sort_tree(rows),
            None => rows.sort_by(|a, b| rows::order(&grouping.first, a, b)),
            Some(second) => {
                let ranks = [&grouping.first, second].map(|by| self.ranks(by));
                let rank = |row: &GroupRow| [0, 1].map(|k| ranks[k].get(&row.keys[k]).copied());
                rows.sort_by_cached_key(rank);
            }
        }
        rows
    }

    /// For each group of a property, returns its place in the order in which the rows of the property are listed.
    fn ranks(&self, by: &By) -> HashMap<GroupKey, usize> {
        let rows = self.rows(&by.clone().into());
        rows.into_iter().enumerate().map(|(rank, GroupRow { keys: [key, _], .. })| (key, rank)).collect()
    }
}
