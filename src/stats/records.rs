//! Counts for programs: CSV and JSON, with the names of `docs/statistics.md`.

use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{By, Counts, GroupRow, Grouping, Key, Share};
use crate::visible::{Context, escape};

/// One row. Shares and scores are from 0 to 1, rounded to six places.
#[derive(Serialize)]
struct Record<'a> {
    /// In JSON rows stand below the name of their grouping.
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<&'a str>,
    key: &'a Key,
    key2: &'a Key,
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
    white_score_hit: Option<f64>,
    white_score_all: Option<f64>,
    pattern: Option<&'a str>,
}

fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

impl<'a> Record<'a> {
    fn new(grouping: Option<&'a str>, row: &'a GroupRow, pattern: Option<&'a str>) -> Record<'a> {
        let value = |share: Option<Share>| share.map(|share| rounded(share.value));
        let low = |share: Option<Share>| share.map(|share| rounded(share.low));
        let high = |share: Option<Share>| share.map(|share| rounded(share.high));
        let (games, positions) = (row.games(), row.positions());
        Record {
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
            white_score_hit: row.hit.white_score().map(rounded),
            white_score_all: row.all.white_score().map(rounded),
            pattern,
        }
    }
}

/// The text of the copy that a row is about, if it is about one.
pub(super) fn pattern<'a>(grouping: &Grouping, row: &GroupRow, copies: &'a [String]) -> Option<&'a str> {
    let place = grouping.properties().position(|by| *by == By::Copy)?;
    let Key::Number(copy) = row.keys[place] else { return None };
    copies.get(usize::try_from(copy - 1).ok()?).map(String::as_str)
}

/// What was counted, with the texts of the copies.
struct Document<'a> {
    counts: &'a Counts,
    copies: &'a [String],
}

/// The rows below the names of their groupings.
struct Groupings<'a>(&'a Document<'a>);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("total", &Record::new(None, &self.counts.total(), None))?;
        map.serialize_entry("groupings", &Groupings(self))?;
        map.end()
    }
}

impl Serialize for Groupings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Document { counts, copies } = *self.0;
        serializer.collect_map(counts.stats().groupings().iter().map(|grouping| {
            let rows = counts.rows(grouping);
            (grouping.to_string(), Rows { grouping, rows, copies })
        }))
    }
}

struct Rows<'a> {
    grouping: &'a Grouping,
    rows: Vec<GroupRow>,
    copies: &'a [String],
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = |row| Record::new(None, row, pattern(self.grouping, row, self.copies));
        serializer.collect_seq(self.rows.iter().map(record))
    }
}

impl Counts {
    /// Writes one JSON object and a line feed: `total`, a row of everything, and `groupings`, which has
    /// an array of rows under the name of each. `copies` are the texts of the copies, by their numbers.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_json(&self, copies: &[String], mut out: impl Write) -> io::Result<()> {
        let text = serde_json::to_string(&Document { counts: self, copies })?;
        writeln!(out, "{}", escape(&text, Context::Json))
    }

    /// Writes CSV: names of columns, a row of everything, whose grouping is `total`, and the rows of
    /// each grouping. `copies` are the texts of the copies, by their numbers.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_csv(&self, copies: &[String], out: impl Write) -> io::Result<()> {
        let mut out = csv::Writer::from_writer(out);
        out.serialize(Record::new(Some("total"), &self.total(), None))?;
        for grouping in self.stats().groupings() {
            let name = grouping.to_string();
            for row in self.rows(grouping) {
                out.serialize(Record::new(Some(&name), &row, pattern(grouping, &row, copies)))?;
            }
        }
        out.flush()
    }
}
