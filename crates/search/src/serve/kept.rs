//! Keeps the hits of a query, so that any page of them can be written.
//!
//! For each block (a group of games) with hits, the results of the search are kept; the block itself is shared with the database.
//! Rows are written on request, by the code that also writes tables for `orbit scan`.

use std::ops::Range;
use std::sync::OnceLock;

use super::fault::{ErrorCode, Fault};
use crate::found::{BlockResult, Found, Names};
use crate::library::Query;
use crate::report::{Column, Columns, Extras, Format, Layout, Rows};
use orbit_engine::Wants;
use orbit_engine::reference::SpanFinder;
use orbit_engine::{EngineError, FindSpan, Interrupt};
use orbit_reel::Block;
use orbit_transforms::Likeness;

/// The maximum number of runs (consecutive hits with the same value) in a line of text, and the maximum number of moves that are
/// shown of a hit.
const TEXT_MAX: usize = 12;

/// The maximum length of the rows of a page, in bytes.
const PAGE_BYTES_MAX: usize = 64 << 20;
/// The number of games whose rows are written at once for a page.
const PAGE_GAMES: usize = 64;

/// All kept hits of a query, in list order.
#[derive(Debug)]
pub struct KeptHits {
    query: Query,
    sources: Vec<String>,
    extras: Extras,
    /// True if game comments were kept.
    has_comments: bool,
    /// True if games are not listed in database order.
    is_ordered: bool,
    blocks: Vec<BlockResult<'static>>,
    games: Vec<KeptGame>,
    rows: u64,
    bytes: u64,
    names: OnceLock<Names>,
    spans: OnceLock<Option<SpanFinder>>,
}

/// A listed game.
#[derive(Clone, Copy, Debug)]
struct KeptGame {
    block: u32,
    index: u32,
    /// The number of rows of all games before this game.
    rows_before: u64,
}

/// The index of a game's block among the kept blocks, the index of the game in that block, and the game's number of hits.
pub(super) type GameIndex = (u32, u32, u64);

/// The games to list, and their blocks.
pub(super) struct ListedGames {
    pub(super) blocks: Vec<BlockResult<'static>>,
    /// The memory that the blocks need, in bytes.
    pub(super) bytes: u64,
    pub(super) places: Vec<GameIndex>,
    /// True if the games are not in database order.
    pub(super) is_ordered: bool,
}

impl KeptHits {
    /// Creates an empty list of hits.
    pub(super) fn new(query: &Query, sources: Vec<String>, extras: Extras, has_comments: bool) -> KeptHits {
        KeptHits {
            query: query.clone(),
            sources,
            extras,
            has_comments,
            is_ordered: false,
            blocks: Vec::new(),
            games: Vec::new(),
            rows: 0,
            bytes: 0,
            names: OnceLock::new(),
            spans: OnceLock::new(),
        }
    }

    /// Replaces the kept blocks and the listed games.
    pub(super) fn list(&mut self, ListedGames { blocks, bytes, places, is_ordered }: ListedGames) {
        self.rows = 0;
        let game = |(block, index, hits): GameIndex| {
            self.rows += hits;
            KeptGame { block, index, rows_before: self.rows - hits }
        };
        self.games = places.into_iter().map(game).collect();
        self.bytes = bytes + size_of_val(&self.games[..]) as u64;
        (self.blocks, self.is_ordered) = (blocks, is_ordered);
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of listed games.
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// Returns the approximate memory that the hits need, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the set of optional facts that the rows have.
    pub fn extras(&self) -> Extras {
        self.extras
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let filter = self.query.filter();
            let likeness = self.extras.likeness.then(|| Likeness::new(filter)).flatten();
            Names { likeness, ..Names::new(filter, self.sources.clone()) }
        })
    }

    /// Returns up to `rows` rows as JSON objects, starting at the index `from`. The objects have the given columns, or the default
    /// columns.
    ///
    /// # Errors
    ///
    /// Fails if an error occurs while spans (the moves and positions that matched) are computed, if a column needs comments that
    /// were not kept, or if the rows are too long together.
    pub fn page(&self, from: u64, rows: u64, columns: Option<&[Column]>) -> Result<Vec<String>, Fault> {
        let (page, is_whole) = self.page_begin(from, rows, columns)?;
        match is_whole {
            true => Ok(page),
            false => Err(Fault::new(
                ErrorCode::Request,
                format!(
                    "these rows have more than {} MiB: ask for fewer rows or columns",
                    PAGE_BYTES_MAX >> 20
                ),
            )),
        }
    }

    /// Returns the rows of a page, up to the one with which they exceed the maximum length of a page. Also returns whether all rows
    /// of the page are within this length. At least one row is returned, if the page has one.
    pub(super) fn page_begin(
        &self,
        from: u64,
        rows: u64,
        columns: Option<&[Column]>,
    ) -> Result<(Vec<String>, bool), Fault> {
        let columns = columns.map_or_else(|| Columns::with_object_defaults(self.extras), Columns::new);
        if columns.wants().contains(Wants::COMMENTS) && !self.has_comments {
            let why = "clocks and evaluations were not kept with these hits: name their columns in the request that searches";
            return Err(Fault::new(ErrorCode::Request, why));
        }
        let wanted = from.min(self.rows)..from.saturating_add(rows).min(self.rows);
        if wanted.is_empty() {
            return Ok((Vec::new(), true));
        }
        let first = self.games.partition_point(|game| game.rows_before <= wanted.start) - 1;
        let end = self.games.partition_point(|game| game.rows_before < wanted.end);
        let format = Format::JsonLines { rows: Rows::Hits, columns };
        let mut before = (wanted.start - self.games[first].rows_before) as usize;
        let (mut page, mut bytes) = (Vec::new(), 0);
        for from in (first..end).step_by(PAGE_GAMES) {
            let text = self.write(from..end.min(from + PAGE_GAMES), format)?.concat();
            let text = String::from_utf8(text).expect("JSON is text");
            for line in text.lines().skip(before).take((wanted.end - wanted.start) as usize - page.len()) {
                bytes += line.len();
                page.push(line.to_owned());
                if bytes > PAGE_BYTES_MAX {
                    return Ok((page, false));
                }
            }
            // Only the first game has rows before the page.
            before = 0;
        }
        Ok((page, true))
    }

    /// Returns all rows in a format, including the header.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`KeptHits::page`].
    pub fn file(&self, format: Format) -> Result<Vec<u8>, Fault> {
        let mut out = format.head();
        out.extend(self.write(0..self.games.len(), format)?.concat());
        Ok(out)
    }

    /// Returns the text of some games: for each game, the lines that `orbit scan` prints.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`KeptHits::page`].
    pub fn lines(&self, games: Range<usize>, styled: bool) -> Result<Vec<Vec<u8>>, Fault> {
        let layout = if self.is_ordered { Layout::Fixed } else { Layout::Fitted };
        let moves_max = self.extras.spans.then_some(TEXT_MAX);
        self.write(games, Format::Text { runs_max: TEXT_MAX, layout, moves_max, styled, cut: true })
    }

    /// Returns a listed game: its block, its index in the block, and the nodes (position numbers) of its hits. Returns `None` if
    /// there is no such game.
    pub fn game(&self, listed: usize) -> Option<(&Block, usize, Vec<u32>)> {
        let game = self.games.get(listed)?;
        let kept = &self.blocks[game.block as usize];
        let row = kept.block.game(game.index as usize);
        let first = row.first_slot();
        let nodes =
            kept.answers[0].hits.slots(first..row.end_slot()).map(|slot| (slot - first) as u32).collect();
        Some((&kept.block, game.index as usize, nodes))
    }

    /// Writes some of the listed games in a format. Returns one text per game.
    fn write(&self, games: Range<usize>, format: Format) -> Result<Vec<Vec<u8>>, Fault> {
        let listed = &self.games[games.start.min(self.games.len())..games.end.min(self.games.len())];
        let mut order: Vec<usize> = (0..listed.len()).collect();
        // Games of the same block are written by one call, because the widths of text columns depend on all of them.
        order.sort_by_key(|&at| (listed[at].block, listed[at].index));
        let mut out = vec![Vec::new(); listed.len()];
        for of_block in order.chunk_by(|&a, &b| listed[a].block == listed[b].block) {
            let indices: Vec<usize> = of_block.iter().map(|&at| listed[at].index as usize).collect();
            let texts =
                self.write_block(&self.blocks[listed[of_block[0]].block as usize], &indices, format)?;
            of_block.iter().zip(texts).for_each(|(&at, text)| out[at] = text);
        }
        Ok(out)
    }

    /// Writes some games of a block in a format. `games` contains their indices in ascending order.
    fn write_block(
        &self,
        kept: &BlockResult,
        games: &[usize],
        format: Format,
    ) -> Result<Vec<Vec<u8>>, Fault> {
        let (fault, never) = (OnceLock::new(), Interrupt::default());
        let late = match (&kept.answers[0].spans, self.finder()?) {
            (None, Some(finder)) => Some(finder.late(0, &fault, &never)),
            _ => None,
        };
        let found = kept.first();
        let late = late.as_ref().map(|spans| spans as &dyn FindSpan);
        let found = Found { spans: found.spans.or(late), names: self.names(), ..found };
        let is_text = matches!(format, Format::Text { .. }) && !self.is_ordered;
        let texts = match (is_text, games.first(), games.last()) {
            // The widths of text columns depend on all games that are written together, so all found games in this range are
            // written.
            (true, Some(&first), Some(&last)) => {
                let report = format.report(&found, first..last + 1);
                let starts = std::iter::once(0).chain(report.games.iter().map(|game| game.end));
                starts.zip(&report.games).map(|(start, game)| report.text[start..game.end].to_vec()).collect()
            }
            _ => games.iter().map(|&game| format.report(&found, game..game + 1).text).collect(),
        };
        match fault.into_inner() {
            Some(error) => Err(Fault::from_engine(error, self.query.text())),
            None => Ok(texts),
        }
    }

    /// Returns a finder of spans (the moves and positions that matched). Returns `None` if spans are not wanted or the search
    /// already found them.
    fn finder(&self) -> Result<Option<&SpanFinder>, Fault> {
        if let Some(finder) = self.spans.get() {
            return Ok(finder.as_ref());
        }
        let is_wanted = self.extras.spans && self.blocks.iter().all(|block| block.answers[0].spans.is_none());
        let finder = is_wanted.then(|| SpanFinder::new(&self.query.prepared().query, None)).transpose();
        let finder =
            finder.map_err(|error| Fault::from_engine(EngineError::from(error), self.query.text()))?;
        Ok(self.spans.get_or_init(|| finder).as_ref())
    }
}
