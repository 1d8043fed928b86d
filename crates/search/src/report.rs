//! Writes hits in formats for people, for programs, and for comparing runs.
//!
//! A [`Format`] converts one block (a group of games) and its hits to a [`Report`], on any thread. A [`Stitcher`] writes the
//! reports of a run one after the other. Nothing here depends on queries or plans. Only [`heat`] and `text` write terminal colours,
//! and only [`game_text`] reads files. Invariant: the output depends only on the blocks and hits, never on threads or time.

mod around;
#[cfg(feature = "arrow")]
mod arrow;
mod columns;
mod comments;
mod csv;
mod epd;
pub mod findings;
mod games;
pub mod heat;
mod jsonl;
mod labels;
mod movetext;
mod numbers;
pub mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod plain;
mod row;
mod spans;
mod stitch;
mod summary;
pub mod svg;
mod text;
mod text_table;
mod walk;
pub mod words;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::found::Found;
use orbit_core::named::choices;
use orbit_engine::Values;
use orbit_engine::Wants;
use orbit_reel::GameRow;

pub use around::moves_around;
#[cfg(feature = "arrow")]
pub(crate) use arrow::{ArrowBlock, ArrowRows, HitRows};
#[cfg(feature = "arrow")]
pub use arrow::{ArrowTable, PositionRows};
pub use columns::{Column, ColumnType, Columns, Extras, SCHEMA};
pub use comments::CommentStyle;
pub use games::{PgnSeparator, PgnWriter, game_pgn, game_text};
pub use movetext::{MoveToken, movetext};
pub use numbers::{Bin, Distribution, NumberSummary};
pub use orbit_transforms::Frame;
#[cfg(feature = "parquet")]
pub use parquet::ParquetWriter;
pub use row::{Row, Rows, fen_at};
pub use spans::{ARROWS_MAX, SpanMoves};
pub use stitch::Stitcher;
pub use summary::{
    HitTotals, Phases, behind_sentence, copy_lines, grouped, kind_name, reason_lines, side_lines_line,
    summary_lines, totals_fields, totals_line, totals_lines,
};
pub(crate) use text::listed;
pub use text::{Layout, MOVES_MAX, RUNS_MAX};
pub use text_table::TextTable;
pub use walk::NodeWalk;

/// The formats of hits, by their names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormatName {
    /// [`Format::Text`].
    Text,
    /// The found games as PGN, in the original text of their sources.
    Pgn,
    /// [`Format::JsonLines`].
    Jsonl,
    /// [`Format::Csv`].
    Csv,
    /// [`Format::Epd`].
    Epd,
    /// [`Format::Fen`].
    Fen,
    /// [`Format::Plain`].
    Plain,
    /// [`Format::Values`].
    Values,
}

choices! { FormatName, "format",
    FormatName::Text => "text", "";
    FormatName::Pgn => "pgn", "";
    FormatName::Jsonl => "jsonl", "";
    FormatName::Csv => "csv", "";
    FormatName::Epd => "epd", "";
    FormatName::Fen => "fen", "";
    FormatName::Plain => "plain", "";
    FormatName::Values => "values", "";
}

/// The format of hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One line for each game with hits, for people to read. Consecutive hits with the same value form a run.
    Text {
        /// The maximum number of runs in a line. If there are more, the line ends with the number of further runs.
        runs_max: usize,
        /// The widths of columns.
        layout: Layout,
        /// The maximum number of moves that are shown of a hit's span (the moves that matched), or `None` to show no spans.
        moves_max: Option<usize>,
        /// True if the moves that led to hits are coloured.
        styled: bool,
        /// True if long event names are shortened so that lines fit a terminal.
        cut: bool,
    },
    /// One JSON object per line for each row.
    JsonLines {
        /// The kind of rows.
        rows: Rows,
        /// The fields.
        columns: Columns,
    },
    /// CSV with a header line.
    Csv {
        /// The kind of rows.
        rows: Rows,
        /// The columns.
        columns: Columns,
    },
    /// The cells of each row in binary form, for [`ParquetWriter`].
    #[cfg(feature = "parquet")]
    Parquet {
        /// The kind of rows.
        rows: Rows,
        /// The columns.
        columns: Columns,
    },
    /// The position of each row as EPD, with the known facts about the game as operations.
    Epd(Rows),
    /// The position of each row.
    Fen(Rows),
    /// A line `game node` for each hit. The node is the number of the position in the game; on the main line, it equals the ply.
    Plain,
    /// A line `game node value` for each hit. For a query that is a condition, the value is `true`.
    Values {
        /// For a query whose value is a set of squares: true to list all positions, even those where the set is empty.
        all: bool,
    },
    /// No output. Games and positions are only counted.
    Nothing,
}

/// The output for one block in some format.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The text, in whole lines.
    pub text: Vec<u8>,
    /// The games that have hits or lines of text, in order.
    pub games: Vec<ReportedGame>,
}

/// The lines of one game in a [`Report`], and the number of its hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReportedGame {
    /// The end of the game's lines, as an offset in the text.
    pub end: usize,
    /// The number of hits.
    pub hits: u32,
    /// True if the query finds the game. A game that is not found can have lines: see [`Format::Values`].
    pub is_found: bool,
    /// The game's source, as an index into the sources of the database.
    pub source: u32,
    /// The number of the source's first game, counted across all sources.
    pub first_of_source: u32,
}

impl Format {
    /// Returns the text that precedes all reports: the header line for CSV, otherwise nothing.
    pub fn head(self) -> Vec<u8> {
        if let Format::Csv { columns, .. } = self { csv::head(columns) } else { Vec::new() }
    }

    /// Returns the report on a range of games, given by their indices in the block.
    ///
    /// # Panics
    ///
    /// Panics if the hits belong to another block, or the games do not exist.
    pub fn report(self, found: &Found, games: Range<usize>) -> Report {
        let mut report = Report::default();
        let (block, hits) = (found.block, &found.answers.hits);
        let lists_all = self == Format::Values { all: true } && matches!(hits.values, Values::Sets(_));
        if let Format::Text { runs_max, layout, moves_max, styled, cut } = self {
            let limits = text::TextLimits { runs_max, moves_max, styled, cut };
            text::write(found, games, limits, layout, &mut report);
            return report;
        }
        // Most blocks have no hits, so the function returns early for them.
        let is_any_found =
            found.answers.games.as_ref().is_some_and(|told| told.iter().any(|told| told.is_found));
        if hits.bits.iter().all(|&bits| bits == 0) && !is_any_found && !lists_all {
            return report;
        }
        for game in games.map(|index| block.game(index)) {
            let out = &mut report.text;
            let lists_all = lists_all && found.counts(&game);
            let is_found = found.answers.finds(&game);
            if !lists_all && !is_found {
                continue;
            }
            let count = match self {
                Format::Plain => plain::nodes(&game, hits, out),
                Format::Values { .. } => plain::values(&game, hits, lists_all, out),
                Format::JsonLines { rows, columns } => jsonl::write(found, &game, rows, columns, out),
                Format::Csv { rows, columns } => csv::write(found, &game, rows, columns, out),
                #[cfg(feature = "parquet")]
                Format::Parquet { rows, columns } => parquet::write(found, &game, rows, columns, out),
                Format::Epd(rows) => epd::write_epd(found, &game, rows, out),
                Format::Fen(rows) => epd::write_fen(found, &game, rows, out),
                Format::Text { .. } | Format::Nothing => hits.count_in(game.slots()) as usize,
            };
            report.end_game(&game, count, is_found);
        }
        report
    }

    /// Returns the facts about games and hits that this format needs.
    pub fn wants(self) -> Wants {
        match self {
            Format::Text { moves_max, .. } => {
                Wants::TAGS | Wants::VALUES | Wants::SPANS.when(moves_max.is_some())
            }
            Format::JsonLines { columns, .. } | Format::Csv { columns, .. } => columns.wants(),
            #[cfg(feature = "parquet")]
            Format::Parquet { columns, .. } => columns.wants(),
            Format::Epd(_) | Format::Fen(_) => Wants::TAGS,
            Format::Values { .. } => Wants::VALUES,
            Format::Plain | Format::Nothing => Wants::HITS,
        }
    }
}

impl Report {
    /// Checks a report that was read from a file: the ends of games are in ascending order and within the text.
    ///
    /// # Errors
    ///
    /// Returns a description of the first error.
    pub fn check(&self) -> Result<(), &'static str> {
        let is_sorted = self.games.is_sorted_by_key(|game| game.end);
        let is_within = self.games.last().is_none_or(|game| game.end <= self.text.len());
        if is_sorted && is_within { Ok(()) } else { Err("a game of a list ends outside its text") }
    }

    /// Appends the report on the next games.
    pub fn append(&mut self, next: Report) {
        let before = self.text.len();
        self.text.extend_from_slice(&next.text);
        let moved = next.games.into_iter().map(|game| ReportedGame { end: before + game.end, ..game });
        self.games.extend(moved);
    }

    /// Keeps only the first `games` games.
    pub fn truncate(&mut self, games: usize) {
        self.games.truncate(games);
        self.text.truncate(self.games.last().map_or(0, |game| game.end));
    }

    /// Marks the end of the text about a game. `hits` is the number of hits in the game.
    pub fn end_game(&mut self, game: &GameRow, hits: usize, is_found: bool) {
        self.games.push(ReportedGame {
            end: self.text.len(),
            hits: hits as u32,
            is_found,
            source: game.source(),
            // The subtraction wraps: in a damaged reel, game numbers can be inconsistent, but such games are never listed.
            first_of_source: game.number().wrapping_add(1).wrapping_sub(game.number_in_source()),
        });
    }
}
