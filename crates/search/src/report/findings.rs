//! What a scan found, as plain data: everything that a report shows.
//!
//! A page, a picture and a JSON object are made of the same [`Findings`], so that they agree. A
//! run fills them; this module knows nothing of runs.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::heat::HeatMap;
use super::numbers::NumberSummary;
use orbit_core::{
    board::{Bitboard, Dihedral, Square},
    text::shortened,
};
use orbit_transforms::{AsText, CopyPlaces, Filter, Orbit, Pattern, Placement};

/// Copies listed at most; there may be 100,000.
const COPIES_MAX: usize = 100;
/// A group of fewer games says little.
pub const FEW_GAMES: u64 = 50;
/// Letters of a copy's text at most: one with orbits in it may be as long as all their copies.
pub(crate) const TEXT_MAX: usize = 300;

/// Positions that a report shows at most.
pub const SAMPLE_MAX: usize = 24;

/// The reason why a query has no heat map, and a remedy.
pub const NO_HEAT_MAP: &str = "no heat map: the query's copies do not differ in where they stand, and its value is no set of \
                               squares; write it under `shift`, or as a set such as `k attackedby N`";

/// Everything that a report shows.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Findings {
    /// What the report is called; without a name it is called a report.
    pub title: String,
    /// The day on which it was made, if it shall say so: without it equal findings make equal bytes.
    pub date: Option<String>,
    /// The text of the query.
    pub query: String,
    /// Which games and hits count, if not all: `games with elo>=2600`.
    pub chosen: String,
    /// What the query demands of the board, before transforms.
    pub pattern: PatternBoard,
    /// The engine that answered, in words.
    pub engine: String,
    /// The names of the database's sources.
    pub sources: Vec<String>,
    /// How much was searched and how much hit.
    pub totals: HitCounts,
    /// The outermost transform, if the query is one.
    pub orbit: Option<OrbitFindings>,
    /// For a query whose value is a set of squares: in how many positions each square was in it.
    pub squares: Option<HeatMap>,
    /// The same for the squares on which white pieces stand, black pieces, and no piece, in this order and without those that
    /// have none; empty if there is one of these alone.
    pub squares_by_color: Vec<HeatMap>,
    /// For a query whose value is a number: how the values are spread.
    pub values: Option<ValueFindings>,
    /// Groups of games or positions, each with its share of hits.
    pub histograms: Vec<Histogram>,
    /// Some of the positions that hit.
    pub sample: Vec<SampleHit>,
    /// How the sample was drawn, in words: `24 of 4,071 hits, seed 1`.
    pub sample_note: String,
    /// What similar queries hit, if nothing hits and this was tried.
    pub misses: Option<Misses>,
}

/// What queries hit that are similar to one without hits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Misses {
    /// The games searched, from the first one on.
    pub games: u64,
    /// Their positions.
    pub positions: u64,
    /// Whether these are all games.
    pub is_whole: bool,
    /// The queries, in the order in which they were tried.
    pub tried: Vec<Miss>,
}

/// A query that is similar to one without hits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Miss {
    /// How it differs, in words: ``without `kh8` ``.
    pub change: String,
    /// Its text.
    pub query: String,
    /// Games with a hit.
    pub games_hit: u64,
    /// Positions that hit.
    pub positions_hit: u64,
}

/// Games and positions, and how many of them hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HitCounts {
    /// Games searched.
    pub games: u64,
    /// Games with a hit.
    pub games_hit: u64,
    /// Positions searched.
    pub positions: u64,
    /// Positions that hit.
    pub positions_hit: u64,
}

/// Hits by copy of an orbit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OrbitFindings {
    /// Distinct copies.
    pub copies_total: u64,
    /// Copies that hit anywhere.
    pub copies_hit: u64,
    /// The copies that hit, most frequent first, then in the order of the orbit; 100 at most.
    pub copies: Vec<CopyFindings>,
    /// Hits by turn or reflection, the filter as written first.
    pub symmetries: Vec<TransformSum>,
    /// Hits by whether the colours were swapped.
    pub colors: Vec<TransformSum>,
    /// Hits by place, if the copies stand in more than one.
    pub heat: Option<HeatMap>,
    /// The same for the copies with colours as written, and for those with colours swapped; empty if only one of the two hits.
    pub heat_by_color: Vec<HeatMap>,
}

/// One copy and its hits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CopyFindings {
    /// Its number in the orbit, from 1.
    pub copy: u64,
    /// The copy as CQL, shortened if it is very long.
    pub text: String,
    /// How it came from the filter as written.
    pub transform: String,
    /// The square on which it stands, if it has a place of its own.
    pub anchor: Option<String>,
    /// Without one, by how much it was shifted: files, ranks.
    pub offset: Option<[i8; 2]>,
    /// Positions that it hits.
    pub positions: u64,
    /// What it demands of the board.
    pub pattern: PatternBoard,
}

/// The hits of all copies that came about in one way. A position that several copies hit counts once for
/// each.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TransformSum {
    /// The way: `turned 90`.
    pub transform: String,
    /// Copies that came about like this.
    pub copies: u64,
    /// The sum of the positions that they hit.
    pub positions: u64,
}

/// A filter as a board and a rest in words; see [`Pattern`].
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PatternBoard {
    /// The placement field of a FEN, with `A`, `a` and `_` beside the letters of pieces.
    pub placement: String,
    /// Squares that the rest names.
    pub area: SquareNames,
    /// Conditions that cannot be drawn.
    pub rest: Vec<String>,
}

/// A set of squares; a list of names in JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SquareNames(pub Bitboard);

/// The values of a query at its hits, which are numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ValueFindings {
    /// The share of all positions whose value lies in a step, for each step.
    pub steps: Histogram,
    /// All hits, and then groups of them.
    pub groups: Vec<ValueGroup>,
}

/// The values of some hits in few numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ValueGroup {
    /// What the hits are grouped by; empty for all.
    pub grouping: String,
    /// The name of the group.
    pub label: String,
    /// The first number that lies in it, if it is a group of numbers; so with `last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
    /// The last number that lies in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<i64>,
    /// Games with a hit.
    pub games: u64,
    /// How many hits there are.
    pub positions: u64,
    /// Their values.
    #[serde(flatten)]
    pub summary: NumberSummary,
}

/// Groups of games or positions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Histogram {
    /// What they are grouped by: `year`.
    pub name: String,
    /// What shares are shares of.
    pub unit: Unit,
    /// The groups in the order in which they are shown.
    pub rows: Vec<HistogramRow>,
}

/// What a share counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Games that hit, of all games of the group.
    Games,
    /// Positions that hit, of all positions of the group.
    Positions,
}

/// One group.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HistogramRow {
    /// Its name: `2015`, `2400-2499`.
    pub label: String,
    /// The first number that lies in it, if it is a group of numbers; so with `last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
    /// The last number that lies in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<i64>,
    /// What was searched and what hit.
    #[serde(flatten)]
    pub counts: HitCounts,
    /// The share that hits, 0 to 1; `None` in an empty group.
    pub share: Option<f64>,
    /// The lower end of the share's 95 % interval.
    pub low: Option<f64>,
    /// The upper end of the share's 95 % interval.
    pub high: Option<f64>,
}

/// One position that hits, and its game.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SampleHit {
    /// The number of the game over all sources, from 1.
    pub game: u64,
    /// The name of its source.
    pub source: String,
    /// The name of White, `?` if it is not known; so with the tags below.
    pub white: String,
    /// The name of Black.
    pub black: String,
    /// The event.
    pub event: String,
    /// The date as the game has it.
    pub date: String,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    /// Half-moves before the position.
    pub ply: u32,
    /// The number of the position in its game; in the main line, the ply.
    pub node: u32,
    /// The side line that it lies in; empty in the main line.
    pub line: String,
    /// The number of the move that led to the position: `23...`, or `start`.
    pub label: String,
    /// That move, as SAN.
    pub san: Option<String>,
    /// The position.
    pub fen: String,
    /// The move that follows, as SAN.
    pub next: Option<String>,
    /// The moves around the position.
    pub moves: SampleMoves,
    /// The squares that the pattern matched.
    pub lit: SquareNames,
    /// The moves of which it consists, if its filter is one of moves.
    pub span: Option<SampleSpan>,
    /// Where the game can be seen, if that is known. Links that do not begin with `https://` are not shown.
    pub url: Option<String>,
    /// The value of the query, if it is more than a condition.
    pub value: Option<String>,
    /// The copy that hit, as CQL.
    pub copy: Option<String>,
}

/// The moves around a position, in SAN, with numbers where PGN has them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SampleMoves {
    /// Those before it; the last one led to it.
    pub before: Vec<String>,
    /// Those after it, in its line; the first has a number.
    pub after: Vec<String>,
}

/// The moves of which a hit consists.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SampleSpan {
    /// The filter that matched: `line`.
    pub kind: String,
    /// The moves as PGN writes them, perhaps shortened: `23. Bxh7+ Kxh7 24. Ng5+`.
    pub moves: String,
    /// How many there are.
    pub length: usize,
    /// The first moves from square to square, as far as they can be drawn.
    pub arrows: Vec<SquarePair>,
}

/// Two squares; a list of their names in JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SquarePair(pub [Square; 2]);

impl OrbitFindings {
    /// Sums up how many positions each copy of an orbit hits.
    ///
    /// # Panics
    ///
    /// When there is not one count for each copy.
    pub fn new(orbit: &Orbit, counts: &[u64]) -> OrbitFindings {
        assert_eq!(orbit.copies.len(), counts.len(), "a count for each copy");
        let places = orbit_transforms::places(orbit);
        let mut hit: Vec<usize> = (0..counts.len()).filter(|&k| counts[k] > 0).collect();
        let copies_hit = hit.len() as u64;
        hit.sort_by_key(|&k| (Reverse(counts[k]), k));
        hit.truncate(COPIES_MAX);
        OrbitFindings {
            copies_total: orbit.copies.len() as u64,
            copies_hit,
            copies: hit.into_iter().map(|k| copy_findings(orbit, &places, k, counts[k])).collect(),
            symmetries: transform_sums(orbit, counts, |p| (p.turned(), p.turn45), symmetry_name),
            colors: transform_sums(orbit, counts, |p| p.swap_colors, color_name),
            heat: HeatMap::of_places(&places, counts),
            heat_by_color: heat_by_color(orbit, &places, counts),
        }
    }
}

/// The heat map of the copies with colours as written, and that of the others; nothing if only one of the two hits.
fn heat_by_color(orbit: &Orbit, places: &CopyPlaces, counts: &[u64]) -> Vec<HeatMap> {
    let of = |is_swapped: bool| {
        let copies = orbit.copies.iter().zip(counts);
        let counts: Vec<u64> = copies
            .map(|(copy, &count)| if copy.placement.swap_colors == is_swapped { count } else { 0 })
            .collect();
        let map = HeatMap::of_places(places, &counts).filter(|_| counts.iter().any(|&count| count > 0))?;
        Some(HeatMap { label: format!("{}, {}", map.label, color_name(&is_swapped)), ..map })
    };
    of(false).zip(of(true)).map_or(Vec::new(), |(written, swapped)| vec![written, swapped])
}

/// Sums by what copies have in common, in its order.
fn transform_sums<K: Ord>(
    orbit: &Orbit,
    counts: &[u64],
    key: impl Fn(Placement) -> K,
    name: impl Fn(&K) -> String,
) -> Vec<TransformSum> {
    let mut sums: BTreeMap<K, (u64, u64)> = BTreeMap::new();
    for (copy, &count) in orbit.copies.iter().zip(counts) {
        let (copies, positions) = sums.entry(key(copy.placement)).or_default();
        *copies += 1;
        *positions = positions.saturating_add(count);
    }
    let sum = |(key, (copies, positions))| TransformSum { transform: name(&key), copies, positions };
    sums.into_iter().map(sum).collect()
}

fn symmetry_name(&(dihedral, turn45): &(Dihedral, u8)) -> String {
    Placement { dihedral, turn45, ..Placement::IDENTITY }.to_string()
}

fn color_name(is_swapped: &bool) -> String {
    if *is_swapped { "colours swapped" } else { "colours as written" }.to_owned()
}

fn copy_findings(orbit: &Orbit, places: &CopyPlaces, index: usize, positions: u64) -> CopyFindings {
    let copy = &orbit.copies[index];
    let (anchor, offset) = match places {
        CopyPlaces::Squares(squares) => (Some(squares[index].to_string()), None),
        CopyPlaces::Offsets(offsets) => (None, offsets[index].map(|(dx, dy)| [dx, dy])),
    };
    CopyFindings {
        copy: index as u64 + 1,
        text: shortened(&AsText(&copy.filter).to_string(), TEXT_MAX),
        transform: copy.placement.to_string(),
        anchor,
        offset,
        positions,
        pattern: PatternBoard::from_filter(&copy.filter),
    }
}

impl PatternBoard {
    /// The board of a filter.
    pub fn from_filter(filter: &Filter) -> PatternBoard {
        let Pattern { placement, area, rest } = orbit_transforms::pattern(filter);
        let mut seen = HashSet::new();
        let rest = rest
            .into_iter()
            .filter(|part| seen.insert(part.clone()))
            .map(|part| shortened(&part, TEXT_MAX))
            .collect();
        PatternBoard { placement, area: SquareNames(area), rest }
    }
}

impl Serialize for SquareNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.into_iter().map(|square| square.to_string()))
    }
}

impl<'de> Deserialize<'de> for SquareNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SquareNames, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        let squares = names.iter().map(|name| name.parse::<Square>());
        squares.collect::<Result<_, _>>().map(SquareNames).map_err(D::Error::custom)
    }
}

impl Serialize for SquarePair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.map(|square| square.to_string()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SquarePair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SquarePair, D::Error> {
        let [from, to] = <[String; 2]>::deserialize(deserializer)?;
        let square = |name: &str| name.parse::<Square>().map_err(D::Error::custom);
        Ok(SquarePair([square(&from)?, square(&to)?]))
    }
}

impl HitCounts {
    /// What was searched and what hit, in one unit.
    pub fn in_unit(self, unit: Unit) -> (u64, u64) {
        match unit {
            Unit::Games => (self.games, self.games_hit),
            Unit::Positions => (self.positions, self.positions_hit),
        }
    }
}

impl HistogramRow {
    /// Whether it has so few games that it says little.
    pub fn is_few(&self) -> bool {
        self.counts.games < FEW_GAMES
    }
}

impl ValueGroup {
    /// Whether it has so few games that it says little.
    pub fn is_few(&self) -> bool {
        self.games < FEW_GAMES
    }
}

impl Unit {
    /// Its name: `games`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Games => "games",
            Unit::Positions => "positions",
        }
    }
}
