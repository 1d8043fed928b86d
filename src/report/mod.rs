//! Hits to bytes: for people, for programs, for comparison.
//!
//! A [`Format`] turns one block and its hits into a [`Report`], on any thread; a [`Stitcher`] puts
//! the reports of a run one after the other. Nothing here knows queries, plans or terminals, and only
//! [`OutputFile`] knows files. The invariant: the bytes depend on the blocks and hits alone, never on who wrote them when.

mod jsonl;
pub mod labels;
mod output;
mod plain;
mod stitch;
mod summary;
mod text;
pub mod words;

use crate::engine::{Hits, Values, Want};
use crate::reel::{Block, GameRow};

pub use output::{OutputError, OutputFile};
pub use stitch::Stitcher;
pub use summary::{Phases, Tally, copy_lines, grouped, kind_name, reason_lines, summary_lines, totals_line};

/// How hits are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One line for each game with hits, for reading. At most so many plies are listed.
    Text {
        /// Longer lists end with how many more there are.
        plies_max: usize,
    },
    /// One JSON object a line for each position that hits.
    JsonLines,
    /// `game ply` for each position that hits.
    Plain,
    /// `game ply value` for each position at which the query has a value. A set always has one; a
    /// condition has the value `true` where it holds.
    Values,
    /// Nothing; games and positions are counted.
    Nothing,
}

/// What a format made of one block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The text, whole lines.
    pub text: Vec<u8>,
    /// The games that have hits or lines, in order.
    pub games: Vec<ReportedGame>,
}

/// Where one game stands in a [`Report`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportedGame {
    /// Where its lines end in the text.
    pub end: usize,
    /// Positions that hit.
    pub hits: u32,
    /// The game's source, as an index into the sources of the database.
    pub source: u32,
    /// The number over all sources that the source's first game has.
    pub first_of_source: u32,
}

impl Format {
    /// What an engine has to bring for this format.
    pub fn want(self) -> Want {
        match self {
            Format::Text { .. } | Format::JsonLines | Format::Values => Want::Values,
            Format::Plain | Format::Nothing => Want::Bits,
        }
    }

    /// Writes the hits of a block. `sources` are the names of the database's sources.
    ///
    /// # Panics
    ///
    /// When the hits are not those of this block.
    pub fn report(self, block: &Block, hits: &Hits, sources: &[String]) -> Report {
        let mut report = Report::default();
        if let Format::Text { plies_max } = self {
            text::write(block, hits, plies_max, &mut report);
            return report;
        }
        // Of most blocks most games have no hit at all.
        if hits.bits.iter().all(|&bits| bits == 0) && !self.lists_all(hits) {
            return report;
        }
        for game in block.games() {
            let range = game.first_slot()..game.end_slot();
            let count = match self {
                Format::Plain => plain::plies(&game, hits, &mut report.text),
                Format::Values => plain::values(&game, hits, &mut report.text),
                Format::JsonLines => jsonl::write(&game, hits, sources, &mut report.text),
                Format::Text { .. } | Format::Nothing => hits.count_in(range) as usize,
            };
            if count > 0 || self.lists_all(hits) {
                report.end_game(&game, count);
            }
        }
        report
    }

    /// Whether tags are printed.
    pub fn reads_tags(self) -> bool {
        matches!(self, Format::Text { .. } | Format::JsonLines)
    }

    /// Whether positions that do not hit are listed too.
    fn lists_all(self, hits: &Hits) -> bool {
        self == Format::Values && matches!(hits.values, Values::Sets(_))
    }
}

impl Report {
    fn end_game(&mut self, game: &GameRow, hits: usize) {
        self.games.push(ReportedGame {
            end: self.text.len(),
            hits: hits as u32,
            source: game.source(),
            first_of_source: game.number() + 1 - game.number_in_source(),
        });
    }
}
