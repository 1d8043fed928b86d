//! Defines the findings of a scan, the plain data that a report shows.
//!
//! The HTML page, the picture and the JSON object are all written from the same [`Findings`], so they agree. The findings are
//! filled in during a run, but this module does not depend on runs.

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

/// The maximum number of transformed copies that are listed. An orbit, the set of distinct copies of a filter, can have 100,000.
const COPIES_MAX: usize = 100;
/// The minimum number of games in a group. Smaller groups are marked, because their shares are not reliable.
pub const FEW_GAMES: u64 = 50;
/// The maximum number of characters in the text of a copy. If a copy contains further transforms, its full text lists all copies
/// that these produce, so it can be very long.
pub(crate) const TEXT_MAX: usize = 300;

/// The maximum number of positions that a report shows.
pub const SAMPLE_MAX: usize = 24;

/// The maximum number of games that a report lists.
pub const GAMES_MAX: usize = 1_000;

/// The message for a query that has no heat map, with the reason and a remedy.
pub const NO_HEAT_MAP: &str = "no heat map: the query's copies do not differ in where they stand, and its value is no set of \
                               squares; write it under `shift`, or as a set such as `k attackedby N`";

/// Everything that a report shows.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Findings {
    /// The title of the report. If it is empty, the report is titled "Report".
    pub title: String,
    /// The date of the report, or `None` to show no date. A report without a date depends only on the findings.
    pub date: Option<String>,
    /// The text of the query.
    pub query: String,
    /// The query as an English sentence, as `orbit explain` prints it, or an empty string if there is none.
    pub sentence: String,
    /// A description of the selected games and hits, such as `games with elo>=2600`. It is empty if all are selected.
    pub chosen: String,
    /// The pattern of the query as a board, before transforms.
    pub pattern: PatternBoard,
    /// A description of the engine that searched the games.
    pub engine: String,
    /// The names of the database's sources.
    pub sources: Vec<String>,
    /// The numbers of searched games and positions, and the numbers of games and positions with hits.
    pub totals: HitCounts,
    /// The results of games with hits, in the order `1-0`, `0-1`, `1/2-1/2`, `*`. Results that do not occur are left out.
    pub results: Vec<ResultCount>,
    /// The hits of each copy that the outermost transform makes of the query, or `None` if there is no transform.
    pub orbit: Option<OrbitFindings>,
    /// For a query whose value is a set of squares: the number of positions at which each square is in the set.
    pub squares: Option<HeatMap>,
    /// The counts of `squares`, divided into squares with white pieces, with black pieces and without a piece, in this order. Maps
    /// whose counts are all 0 are left out; if only one map would be left, the list is empty.
    pub squares_by_color: Vec<HeatMap>,
    /// For a query whose value is a number: the distribution of its values.
    pub values: Option<ValueFindings>,
    /// Groups of games or positions, each with its share of hits.
    pub histograms: Vec<Histogram>,
    /// The `--stats` tables whose groups are names, such as moves or openings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<GroupTable>,
    /// A sample of the positions with hits.
    pub sample: Vec<SampleHit>,
    /// A description of how the sample was drawn: `24 of 4,071 hits, seed 1`.
    pub sample_note: String,
    /// The found games in search order, at most [`GAMES_MAX`].
    pub games: Vec<ListedGame>,
    /// The number of found games. A query such as `cql(matchcount 0) ...` finds games without hits.
    pub games_found: u64,
    /// The hits of similar queries, if this query has no hits and similar queries were run.
    pub misses: Option<Misses>,
    /// The command line that repeats this search, without output options, or an empty string if it is unknown. See
    /// [`Request::command_line`](crate::Request::command_line).
    pub command: String,
    /// The options that make `command` write this report.
    pub command_outputs: String,
}

/// The hits of queries that are similar to a query without hits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Misses {
    /// The number of games in which the similar queries were searched. These may be all games of the search or only the first ones.
    pub games: u64,
    /// The number of positions in the games in which the similar queries were searched.
    pub positions: u64,
    /// True if the similar queries were searched in all games.
    pub is_whole: bool,
    /// The similar queries, in the order in which they were run.
    pub tried: Vec<Miss>,
}

/// A query that is similar to a query without hits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Miss {
    /// The change to the query, in words: ``without `kh8` ``.
    pub change: String,
    /// The text of the query.
    pub query: String,
    /// The number of games with a hit.
    pub games_hit: u64,
    /// The number of hits.
    pub positions_hit: u64,
}

/// The numbers of games and positions that were searched, and the numbers of games and positions with hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HitCounts {
    /// The number of games searched.
    pub games: u64,
    /// The number of games with a hit.
    pub games_hit: u64,
    /// The number of positions searched.
    pub positions: u64,
    /// The number of hits.
    pub positions_hit: u64,
}

/// The number of games with hits that have a certain result.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ResultCount {
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    /// The number of games.
    pub games: u64,
}

/// The hits of each copy in an orbit, the set of distinct transformed copies of a filter.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OrbitFindings {
    /// The number of distinct copies that the transforms make of the filter.
    pub copies_total: u64,
    /// The number of transformed copies that hit at least one position.
    pub copies_hit: u64,
    /// The transformed copies with hits, at most 100. Copies with more hits come first; copies with equal counts keep the order of
    /// the orbit, the set of all copies.
    pub copies: Vec<CopyFindings>,
    /// The hits for each rotation or reflection. The untransformed filter comes first.
    pub symmetries: Vec<TransformSum>,
    /// The hits of copies with the original colours, and those of copies with swapped colours.
    pub colors: Vec<TransformSum>,
    /// The hits by the place of the transformed copy on the board, if copies are at different places.
    pub heat: Option<HeatMap>,
    /// The hits by the place of the copy on the board, separately for copies with the original colours and with swapped colours.
    /// The list is empty unless copies of both kinds have hits.
    pub heat_by_color: Vec<HeatMap>,
}

/// A transformed copy of the filter, and its hits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CopyFindings {
    /// The number of the copy in the orbit (the set of all copies), from 1.
    pub copy: u64,
    /// The copy as CQL, shortened if it is very long.
    pub text: String,
    /// The transform that turns the original filter into the copy.
    pub transform: String,
    /// The square on which the copy's first piece stands: the image of the filter's first piece designator that names a single
    /// square. It is `None` unless every copy has such a square.
    pub anchor: Option<String>,
    /// The shift of the copy in files and ranks. It is `None` if there is an `anchor`, or if no single shift produces the copy.
    pub offset: Option<[i8; 2]>,
    /// The number of positions that match the copy.
    pub positions: u64,
    /// The pattern of the copy as a board.
    pub pattern: PatternBoard,
}

/// The hits of all copies that one transform produces. A position that matches several copies is counted once for each.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TransformSum {
    /// The transform: `turned 90`.
    pub transform: String,
    /// The number of copies that the transform makes.
    pub copies: u64,
    /// The number of positions that match a copy, added up over all copies that the transform makes.
    pub positions: u64,
}

/// A filter drawn as a board. Conditions that cannot be drawn are listed as text; see [`Pattern`].
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PatternBoard {
    /// The placement field of a FEN, which may contain `A`, `a` and `_` in addition to piece letters.
    pub placement: String,
    /// The squares that the conditions in `rest` name.
    pub area: SquareNames,
    /// The conditions that cannot be drawn.
    pub rest: Vec<String>,
}

/// A set of squares. In JSON, it is a list of square names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SquareNames(pub Bitboard);

/// The numeric values of a query at its hits.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ValueFindings {
    /// For each range of values, the share of all positions whose value is in the range.
    pub steps: Histogram,
    /// Summaries of the values: first over all hits, then for groups of hits.
    pub groups: Vec<ValueGroup>,
}

/// A summary of the values of some hits.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ValueGroup {
    /// The name of the grouping, or an empty string for all hits.
    pub grouping: String,
    /// The name of the group.
    pub label: String,
    /// The lower end of the group, if it is a range of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
    /// The upper end of the group, if it is a range of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<i64>,
    /// The number of games with a hit.
    pub games: u64,
    /// The number of hits.
    pub positions: u64,
    /// A summary of the values at the group's hits.
    #[serde(flatten)]
    pub summary: NumberSummary,
}

/// Groups of games or positions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Histogram {
    /// The name of the grouping, such as `year`.
    pub name: String,
    /// The unit of shares: games or positions.
    pub unit: Unit,
    /// The groups in the order in which they are shown.
    pub rows: Vec<HistogramRow>,
}

/// A table of groups, with the same cells as the text output of `--stats`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GroupTable {
    /// The name of the grouping, such as `next`.
    pub name: String,
    /// The headings of the columns.
    pub headings: Vec<String>,
    /// The groups and the total. A row with a single cell says how many groups were left out.
    pub rows: Vec<Vec<String>>,
}

/// The unit in which a share is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// The share of the group's games that have hits.
    Games,
    /// The share of the group's positions that have hits.
    Positions,
}

/// One group of a [`Histogram`].
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HistogramRow {
    /// The name of the group, such as `2015` or `2400-2499`.
    pub label: String,
    /// The lower end of the group, if it is a range of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<i64>,
    /// The upper end of the group, if it is a range of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<i64>,
    /// The numbers of games and positions that were searched, and the numbers of games and positions with hits.
    #[serde(flatten)]
    pub counts: HitCounts,
    /// The share of games or positions with hits, from 0 to 1, or `None` for an empty group.
    pub share: Option<f64>,
    /// The lower end of the share's 95 % confidence interval.
    pub low: Option<f64>,
    /// The upper end of the share's 95 % confidence interval.
    pub high: Option<f64>,
}

/// A position with a hit, and facts about its game.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SampleHit {
    /// The game's number across all sources, from 1.
    pub game: u64,
    /// The name of the source that contains the game.
    pub source: String,
    /// The name of White. An unknown name, event or date is `?`.
    pub white: String,
    /// The name of Black.
    pub black: String,
    /// The event.
    pub event: String,
    /// The date, as the game's tag states it.
    pub date: String,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    /// The number of half-moves before the position.
    pub ply: u32,
    /// The number of the position in its game. On the main line, it equals the number of half-moves before the position.
    pub node: u32,
    /// The name of the position's side line, or an empty string on the main line.
    pub line: String,
    /// The number of the move that led to the position: `23...`, or `start`.
    pub label: String,
    /// The move that led to the position, in SAN, or `None` at the start.
    pub san: Option<String>,
    /// The position.
    pub fen: String,
    /// True if the board is drawn from Black's side, because the selected player had Black.
    pub is_flipped: bool,
    /// The next move after the position, in SAN, or `None` at the end of the line.
    pub next: Option<String>,
    /// The moves around the position.
    pub moves: SampleMoves,
    /// The squares that the pattern matched.
    pub lit: SquareNames,
    /// The moves of the hit's span (the moves that matched), for queries that match moves.
    pub span: Option<SampleSpan>,
    /// The address at which the game can be viewed, if it is known. Only addresses that begin with `https://` are shown.
    pub url: Option<String>,
    /// The value of the query, or `None` for a query that is only a condition.
    pub value: Option<String>,
    /// The values by which the query sorts the game, or an empty list if the query does not sort the sample.
    pub sorts: Vec<SortedBy>,
    /// The transformed copy of the query that matched, as CQL.
    pub copy: Option<String>,
}

/// A value by which a query sorts a game.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SortedBy {
    /// The name that the query gives to the value, or `sort` if it gives none.
    pub name: String,
    /// The value: a number or a string.
    pub value: String,
}

/// A found game, as lists show it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ListedGame {
    /// The game's number across all sources, from 1.
    pub game: u64,
    /// The name of the source that contains the game.
    pub source: String,
    /// The players with their ratings or, for a game without players, its title.
    pub players: String,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    /// The date, as the game's tag states it, or an empty string if it is unknown.
    pub date: String,
    /// The event or, if that is unknown, the site. It is empty if both are unknown, or if it already serves as the title.
    pub event: String,
    /// The number of hits.
    pub hits: u64,
    /// The moves that led to the hits, each with the query's value at the hit, in the form of the terminal output.
    pub moves: String,
    /// For each hit, the number of the move that led to it, followed by the moves that matched (the hit's span).
    pub spans: Vec<String>,
    /// The values by which the query sorts the game, or an empty list if the query does not sort the list.
    pub sorts: Vec<SortedBy>,
}

/// The moves around a position, in SAN, with move numbers as in PGN.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SampleMoves {
    /// The moves before the position; the last of them led to the position.
    pub before: Vec<String>,
    /// The moves after the position, in its line. The first one has a move number.
    pub after: Vec<String>,
}

/// The moves of a hit's span, the moves that the query matched.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SampleSpan {
    /// The filter that matched: `line`.
    pub kind: String,
    /// The moves as in PGN, possibly shortened: `23. Bxh7+ Kxh7 24. Ng5+`.
    pub moves: String,
    /// The number of moves.
    pub length: usize,
    /// The moves that are drawn as arrows on the board; see [`SpanMoves::arrows`](super::SpanMoves::arrows).
    pub arrows: Vec<SquarePair>,
}

/// Two squares. In JSON, they are a list of two square names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SquarePair(pub [Square; 2]);

impl OrbitFindings {
    /// Summarizes the hits of an orbit, the set of distinct copies that a transform makes. `counts` has the number of matching
    /// positions for each copy.
    ///
    /// # Panics
    ///
    /// Panics if the number of counts differs from the number of copies.
    #[doc(hidden)]
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
            heat: HeatMap::from_places(&places, counts),
            heat_by_color: heat_by_color(orbit, &places, counts),
        }
    }
}

/// Returns two heat maps: one for copies with the original colours, one for copies with swapped colours. Returns no maps unless
/// copies of both kinds have hits.
fn heat_by_color(orbit: &Orbit, places: &CopyPlaces, counts: &[u64]) -> Vec<HeatMap> {
    let of = |is_swapped: bool| {
        let copies = orbit.copies.iter().zip(counts);
        let counts: Vec<u64> = copies
            .map(|(copy, &count)| if copy.placement.swap_colors == is_swapped { count } else { 0 })
            .collect();
        let map = HeatMap::from_places(places, &counts).filter(|_| counts.iter().any(|&count| count > 0))?;
        Some(HeatMap { label: format!("{}, {}", map.label, color_name(&is_swapped)), ..map })
    };
    of(false).zip(of(true)).map_or(Vec::new(), |(written, swapped)| vec![written, swapped])
}

/// For each `key`, adds up the matching positions of all copies with this key. The key is computed from the placement of a copy,
/// and the sums are in key order.
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
    /// Draws a filter as a board.
    #[doc(hidden)]
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
    /// Returns the number of searched games or positions, and the number of games or positions with hits.
    pub fn in_unit(self, unit: Unit) -> (u64, u64) {
        match unit {
            Unit::Games => (self.games, self.games_hit),
            Unit::Positions => (self.positions, self.positions_hit),
        }
    }
}

impl HistogramRow {
    /// Returns whether the group has fewer than [`FEW_GAMES`] games.
    pub fn is_few(&self) -> bool {
        self.counts.games < FEW_GAMES
    }
}

impl ValueGroup {
    /// Returns whether the group has fewer than [`FEW_GAMES`] games.
    pub fn is_few(&self) -> bool {
        self.games < FEW_GAMES
    }
}

impl Unit {
    /// Returns the name: `games`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Games => "games",
            Unit::Positions => "positions",
        }
    }
}
