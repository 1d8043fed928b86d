//! Writes counts as CSV and JSON, for programs. `docs/statistics.md` describes the fields.

use std::io::{self, Write};

use serde::ser::{SerializeMap, SerializeTuple as _};
use serde::{Serialize, Serializer};

use super::{By, Counts, GroupKey, GroupRow, Grouping, MoveTally, ScoreOf, Share, SideResults};
use crate::report::{Bin, Distribution, NumberSummary};
use orbit_core::visible::{EscapeContext, escape};

/// One row of CSV or JSON. Shares and scores are between 0 and 1, rounded to six decimal places.
#[derive(Serialize)]
struct RowRecord<'a> {
    /// The grouping. It is `None` in JSON, where rows are listed under the name of their grouping.
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<&'a str>,
    key: &'a GroupKey,
    key2: &'a GroupKey,
    games: u64,
    games_hit: u64,
    positions: u64,
    positions_hit: u64,
    share_games: Option<f64>,
    share_games_low: Option<f64>,
    share_games_high: Option<f64>,
    share_positions: Option<f64>,
    share_positions_low: Option<f64>,
    share_positions_high: Option<f64>,
    score_of: ScoreOf,
    score_hit: Option<f64>,
    score_all: Option<f64>,
    pattern: Option<&'a str>,
}

/// Additional columns for a query whose value is a number. They are empty for groups without hits.
#[derive(Serialize)]
struct ValuesRecord {
    value_mean: Option<f64>,
    value_min: Option<i32>,
    value_p10: Option<f64>,
    value_p25: Option<f64>,
    value_median: Option<f64>,
    value_p75: Option<f64>,
    value_p90: Option<f64>,
    value_max: Option<i32>,
}

/// Additional columns with the results of the sides whose pattern matched. They exist only if the query determines these sides.
#[derive(Serialize)]
struct SidesRecord {
    side_wins: u64,
    side_draws: u64,
    side_losses: u64,
    side_score: Option<f64>,
}

impl SidesRecord {
    fn from_results(results: &SideResults) -> SidesRecord {
        let SideResults { wins, draws, losses } = *results;
        let side_score = results.score().map(rounded);
        SidesRecord { side_wins: wins, side_draws: draws, side_losses: losses, side_score }
    }
}

/// The last columns: the results of the games with hits, for the side in `score_of`, and the share of the group's hits among all
/// hits.
#[derive(Serialize)]
struct ResultsRecord {
    wins: u64,
    draws: u64,
    losses: u64,
    hits_share: Option<f64>,
}

impl ResultsRecord {
    /// Creates the record of a row. `hits` is the number of all hits.
    fn new(row: &GroupRow, hits: u64) -> ResultsRecord {
        let SideResults { wins, draws, losses } = row.hit.ends();
        ResultsRecord { wins, draws, losses, hits_share: row.hits_share(hits).map(rounded) }
    }
}

/// Additional columns for groups of moves. They are empty for other groups.
#[derive(Default, Serialize)]
struct MovesRecord<'a> {
    move_share: Option<f64>,
    move_share_low: Option<f64>,
    move_share_high: Option<f64>,
    mover_wins: Option<u64>,
    mover_draws: Option<u64>,
    mover_losses: Option<u64>,
    mover_score: Option<f64>,
    mover_score_low: Option<f64>,
    mover_score_high: Option<f64>,
    mover_rating: Option<u64>,
    mover_performance: Option<i64>,
    year_first: Option<u16>,
    year_last: Option<u16>,
    best_rating: Option<u32>,
    best_white: Option<&'a str>,
    best_black: Option<&'a str>,
    best_year: Option<u16>,
    best_source: Option<&'a str>,
    best_game: Option<u32>,
}

impl<'a> MovesRecord<'a> {
    fn from_row(row: &'a GroupRow) -> Option<MovesRecord<'a>> {
        let moves = row.moves.as_ref()?;
        let tally: &MoveTally = &moves.tally;
        let (share, score, best) = (row.move_share(), moves.score(), tally.best.as_ref());
        let part = |share: Option<Share>, part: fn(&Share) -> f64| share.as_ref().map(part).map(rounded);
        let SideResults { wins, draws, losses } = tally.results;
        Some(MovesRecord {
            move_share: part(share, |share| share.value),
            move_share_low: part(share, |share| share.low),
            move_share_high: part(share, |share| share.high),
            mover_wins: Some(wins),
            mover_draws: Some(draws),
            mover_losses: Some(losses),
            mover_score: part(score, |score| score.value),
            mover_score_low: part(score, |score| score.low),
            mover_score_high: part(score, |score| score.high),
            mover_rating: tally.rating(),
            mover_performance: tally.performance(),
            year_first: tally.years.map(|[first, _]| first),
            year_last: tally.years.map(|[_, last]| last),
            best_rating: best.map(|best| best.rating),
            best_white: best.and_then(|best| best.players[0].as_deref()),
            best_black: best.and_then(|best| best.players[1].as_deref()),
            best_year: best.and_then(|best| best.year),
            best_source: best.map(|best| best.source.as_str()),
            best_game: best.map(|best| best.number),
        })
    }
}

/// The columns of [`RowRecord`] in CSV. The optional columns of [`ValuesRecord`] with the histogram, of [`SidesRecord`] and of
/// [`MovesRecord`] follow them, and then the columns of [`ResultsRecord`].
const COLUMNS: [&str; 17] = [
    "grouping",
    "key",
    "key2",
    "games",
    "games_hit",
    "positions",
    "positions_hit",
    "share_games",
    "share_games_low",
    "share_games_high",
    "share_positions",
    "share_positions_low",
    "share_positions_high",
    "score_of",
    "score_hit",
    "score_all",
    "pattern",
];
const VALUE_COLUMNS: [&str; 9] = [
    "value_mean",
    "value_min",
    "value_p10",
    "value_p25",
    "value_median",
    "value_p75",
    "value_p90",
    "value_max",
    "value_histogram",
];

const RESULT_COLUMNS: [&str; 4] = ["wins", "draws", "losses", "hits_share"];
const SIDE_COLUMNS: [&str; 4] = ["side_wins", "side_draws", "side_losses", "side_score"];
const MOVE_COLUMNS: [&str; 19] = [
    "move_share",
    "move_share_low",
    "move_share_high",
    "mover_wins",
    "mover_draws",
    "mover_losses",
    "mover_score",
    "mover_score_low",
    "mover_score_high",
    "mover_rating",
    "mover_performance",
    "year_first",
    "year_last",
    "best_rating",
    "best_white",
    "best_black",
    "best_year",
    "best_source",
    "best_game",
];

impl ValuesRecord {
    fn from_values(values: &Distribution) -> ValuesRecord {
        let summary = values.summary();
        let number = |read: fn(&NumberSummary) -> f64| summary.as_ref().map(read);
        ValuesRecord {
            value_mean: number(|summary| summary.mean),
            value_min: summary.map(|summary| summary.min),
            value_p10: number(|summary| summary.p10),
            value_p25: number(|summary| summary.p25),
            value_median: number(|summary| summary.median),
            value_p75: number(|summary| summary.p75),
            value_p90: number(|summary| summary.p90),
            value_max: summary.map(|summary| summary.max),
        }
    }
}

/// A row in JSON.
#[derive(Serialize)]
struct JsonRecord<'a> {
    #[serde(flatten)]
    record: RowRecord<'a>,
    #[serde(flatten)]
    values: Option<ValuesRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_histogram: Option<Vec<Bin>>,
    #[serde(flatten)]
    sides: Option<SidesRecord>,
    #[serde(flatten)]
    moves: Option<MovesRecord<'a>>,
    #[serde(flatten)]
    results: ResultsRecord,
}

impl<'a> JsonRecord<'a> {
    /// Creates the record of a row. `total` is the row for all games, and `step` is the bin width of histograms of values.
    fn new(row: &'a GroupRow, pattern: Option<&'a str>, (total, step): (&GroupRow, i64)) -> JsonRecord<'a> {
        JsonRecord {
            record: RowRecord::new(None, row, pattern),
            values: row.values.as_ref().map(ValuesRecord::from_values),
            value_histogram: row.values.as_ref().map(|values| values.bins(step)),
            sides: row.sides.as_ref().map(SidesRecord::from_results),
            moves: MovesRecord::from_row(row),
            results: ResultsRecord::new(row, total.hit.positions),
        }
    }
}

/// A row of CSV, including the optional columns of its table.
struct CsvRecord<'a> {
    record: RowRecord<'a>,
    values: Option<(ValuesRecord, String)>,
    sides: Option<SidesRecord>,
    moves: Option<MovesRecord<'a>>,
    results: ResultsRecord,
}

impl Serialize for CsvRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let CsvRecord { record, values, sides, moves, results } = self;
        let more = [values.is_some(), sides.is_some(), moves.is_some()];
        let mut tuple = serializer.serialize_tuple(2 + more.into_iter().filter(|is| *is).count())?;
        tuple.serialize_element(record)?;
        values.iter().try_for_each(|values| tuple.serialize_element(values))?;
        sides.iter().try_for_each(|sides| tuple.serialize_element(sides))?;
        moves.iter().try_for_each(|moves| tuple.serialize_element(moves))?;
        tuple.serialize_element(results)?;
        tuple.end()
    }
}

pub(super) fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

impl<'a> RowRecord<'a> {
    fn new(grouping: Option<&'a str>, row: &'a GroupRow, pattern: Option<&'a str>) -> RowRecord<'a> {
        let value = |share: Option<Share>| share.map(|share| rounded(share.value));
        let low = |share: Option<Share>| share.map(|share| rounded(share.low));
        let high = |share: Option<Share>| share.map(|share| rounded(share.high));
        let (games, positions) = (row.games(), row.positions());
        RowRecord {
            grouping,
            key: &row.keys[0],
            key2: &row.keys[1],
            games: row.all.games,
            games_hit: row.hit.games,
            positions: row.all.positions,
            positions_hit: row.hit.positions,
            share_games: value(games),
            share_games_low: low(games),
            share_games_high: high(games),
            share_positions: value(positions),
            share_positions_low: low(positions),
            share_positions_high: high(positions),
            score_of: row.score_of,
            score_hit: row.hit.score().map(rounded),
            score_all: row.all.score().map(rounded),
            pattern,
        }
    }
}

/// Returns the text of the transformed copy that a row counts, or `None` if groups are not copies.
pub(super) fn pattern<'a>(grouping: &Grouping, row: &GroupRow, copies: &'a [String]) -> Option<&'a str> {
    let place = grouping.properties().position(|by| *by == By::Copy)?;
    let GroupKey::Number(copy) = row.keys[place] else { return None };
    copies.get(usize::try_from(copy - 1).ok()?).map(String::as_str)
}

/// The JSON document with all counts. `copies` contains the transformed copies of the query as CQL.
struct StatisticsDocument<'a> {
    counts: &'a Counts,
    copies: &'a [String],
}

/// The object `groupings` of the JSON document, which maps the name of each grouping to its rows.
struct Groupings<'a>(&'a StatisticsDocument<'a>);

impl Serialize for StatisticsDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        let (total, step) = (self.counts.total(), self.counts.value_step());
        map.serialize_entry("total", &JsonRecord::new(&total, None, (&total, step)))?;
        map.serialize_entry("groupings", &Groupings(self))?;
        map.end()
    }
}

impl Serialize for Groupings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let StatisticsDocument { counts, copies } = *self.0;
        let (total, step) = (counts.total(), counts.value_step());
        serializer.collect_map(counts.stats().groupings().iter().map(|grouping| {
            let rows = counts.rows(grouping);
            (grouping.to_string(), RecordRows { grouping, rows, total: &total, copies, step })
        }))
    }
}

struct RecordRows<'a> {
    grouping: &'a Grouping,
    rows: Vec<GroupRow>,
    total: &'a GroupRow,
    copies: &'a [String],
    /// The bin width in histograms of values.
    step: i64,
}

impl Serialize for RecordRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record =
            |row| JsonRecord::new(row, pattern(self.grouping, row, self.copies), (self.total, self.step));
        serializer.collect_seq(self.rows.iter().map(record))
    }
}

impl Counts {
    /// Writes one JSON object and a line feed. The object has `total`, a row for all games, and `groupings`, which maps the name of
    /// each grouping to an array of rows. `copies` contains the transformed copies of the query as CQL, in order of copy number.
    ///
    /// # Errors
    ///
    /// Returns the errors of the writer.
    pub fn write_json(&self, copies: &[String], mut out: impl Write) -> io::Result<()> {
        let text = serde_json::to_string(&StatisticsDocument { counts: self, copies })?;
        writeln!(out, "{}", escape(&text, EscapeContext::Json))
    }

    /// Writes CSV: a header, one row for all games, whose grouping is `total`, and the rows of each grouping. `copies` contains
    /// the transformed copies of the query as CQL, in order of copy number.
    ///
    /// # Errors
    ///
    /// Returns the errors of the writer.
    pub fn write_csv(&self, copies: &[String], out: impl Write) -> io::Result<()> {
        let mut out = csv::WriterBuilder::new().has_headers(false).from_writer(out);
        let (total, step) = (self.total(), self.value_step());
        let values = VALUE_COLUMNS.iter().filter(|_| total.values.is_some());
        let sides = SIDE_COLUMNS.iter().filter(|_| total.sides.is_some());
        let has_moves = self.stats().groupings().iter().flat_map(Grouping::properties).any(By::is_of_moves);
        let moves = MOVE_COLUMNS.iter().filter(|_| has_moves);
        out.write_record(COLUMNS.iter().chain(values).chain(sides).chain(moves).chain(&RESULT_COLUMNS))?;
        let mut write = |record: RowRecord, row: &GroupRow| {
            let of_values = |values| (ValuesRecord::from_values(values), histogram(values, step));
            out.serialize(CsvRecord {
                record,
                values: row.values.as_ref().map(of_values),
                sides: row.sides.as_ref().map(SidesRecord::from_results),
                moves: has_moves.then(|| MovesRecord::from_row(row).unwrap_or_default()),
                results: ResultsRecord::new(row, total.hit.positions),
            })
        };
        write(RowRecord::new(Some("total"), &total, None), &total)?;
        for grouping in self.stats().groupings() {
            let name = grouping.to_string();
            for row in self.rows(grouping) {
                write(RowRecord::new(Some(&name), &row, pattern(grouping, &row, copies)), &row)?;
            }
        }
        out.flush()
    }

    /// Returns the width of the bins into which the query's values are sorted. It is the same for all groups.
    fn value_step(&self) -> i64 {
        self.total().values.map_or(1, |values| values.step())
    }
}

/// Returns the counts of values by bin. Each bin is represented by its smallest number: `-5:12 0:340`.
fn histogram(values: &Distribution, step: i64) -> String {
    let bins = values.bins(step).into_iter().filter(|bin| bin.positions > 0);
    bins.map(|bin| format!("{}:{}", bin.from, bin.positions)).collect::<Vec<_>>().join(" ")
}
