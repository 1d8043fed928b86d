//! A database that is kept in memory after it was read. Also creates streams that read a database again from its beginning.
//!
//! The blocks in memory keep the game numbers that they received when the database was read. A run over them yields the same
//! blocks, totals and sources as a run over the files. Several runs can share them.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{
    BlockStream, Input, OpenedFiles, SourceSummary, StreamError, StreamOptions, StreamedBlock, Summary, Turns,
};
use orbit_pgn::{Sources, file_of};
use orbit_reel::{Block, GameSet, Totals};

/// A database in memory: all its blocks, and the summary of reading them.
#[derive(Clone, Debug)]
pub struct Held(Arc<HeldInner>);

#[derive(Debug)]
struct HeldInner {
    blocks: Vec<StreamedBlock>,
    /// True if side lines were kept when the database was read into memory. `annotations` is true if comments were kept.
    variations: bool,
    annotations: bool,
    summary: Summary,
    bytes: u64,
    numbers: Range<u64>,
}

/// The result of reading a database into memory: the whole database, or as much as fits within the memory limit.
#[derive(Clone, Debug)]
pub enum HeldReading {
    /// The whole database was read.
    Whole(Held),
    /// The database needs more memory than the limit allows, so reading stopped.
    Partial {
        /// The totals of the part that was read.
        totals: Totals,
        /// The number of bytes of input that were read, before decompression.
        bytes: u64,
    },
}

impl Held {
    /// Reads a database into at most `bytes_max` bytes of memory. `watch` is called for each block. An interrupt ends the reading
    /// as if the memory limit had been reached.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BlockStream::for_each_block`].
    pub fn read(
        database: BlockStream,
        threads: usize,
        bytes_max: u64,
        mut watch: impl FnMut(&StreamedBlock),
    ) -> Result<HeldReading, StreamError> {
        let (variations, annotations) = (database.keeps_variations(), database.keeps_annotations());
        let (mut blocks, mut bytes) = (Vec::new(), 0);
        let summary = database.for_each_block(
            threads,
            |_| (),
            |streamed, ()| {
                watch(&streamed);
                bytes += memory(&streamed);
                if bytes > bytes_max {
                    return ControlFlow::Break(());
                }
                blocks.push(streamed);
                ControlFlow::Continue(())
            },
        )?;
        if !summary.finished {
            return Ok(HeldReading::Partial { totals: summary.totals, bytes: summary.bytes });
        }
        let numbers = Block::hold_all(blocks.iter().map(|streamed| &*streamed.block));
        Ok(HeldReading::Whole(Held(Arc::new(HeldInner {
            blocks,
            variations,
            annotations,
            summary,
            bytes,
            numbers,
        }))))
    }

    /// Returns a stream over the blocks in memory.
    pub fn stream(&self) -> BlockStream {
        let bytes_total = Some(self.bytes_read());
        // The counts start at 0, because the stream counts a source's games as it returns their blocks.
        let uncounted = |source: &SourceSummary| SourceSummary { games: 0, ..source.clone() };
        let sources = self.0.summary.sources.iter().map(uncounted).collect();
        let mut options = StreamOptions::default();
        (options.parse.variations, options.parse.annotations) = (self.0.variations, self.0.annotations);
        let mut database = BlockStream { sources, bytes_total, ..BlockStream::empty(options) };
        database.inputs.push_back(Input::Held { held: self.clone(), next: 0 });
        database
    }

    /// Returns the blocks, in order.
    pub fn blocks(&self) -> &[StreamedBlock] {
        &self.0.blocks
    }

    /// Returns the totals over all blocks: games, positions and problems.
    pub fn totals(&self) -> &Totals {
        &self.0.summary.totals
    }

    /// Returns the summary of reading the database into memory.
    pub fn summary(&self) -> &Summary {
        &self.0.summary
    }

    /// Returns the approximate size of the blocks in memory, in bytes.
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Returns the numbers of the blocks: see [`Block::number_held`].
    pub fn numbers(&self) -> Range<u64> {
        self.0.numbers.clone()
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.0.summary.bytes
    }

    /// Returns the number of side lines that reels left out. A reel stores one number for all its games, so the number is not
    /// available for single blocks.
    pub(super) fn side_lines_of_reels(&self) -> u64 {
        let of_blocks: u64 = self.blocks().iter().map(|streamed| streamed.side_lines).sum();
        self.0.summary.side_lines.saturating_sub(of_blocks)
    }

    /// Returns the block that contains a game. `number` is the game's number across all sources, including skipped games. Returns
    /// `None` if there is no such game.
    pub fn block_of_game(&self, number: u32) -> Option<&StreamedBlock> {
        let blocks = self.blocks();
        let index = blocks.partition_point(|streamed| streamed.block.games_before < number).checked_sub(1)?;
        let found = &blocks[index];
        (number - found.block.games_before <= found.block.games_read()).then_some(found)
    }
}

impl BlockStream {
    /// Returns a new stream over the same database, from its beginning. The files are opened again; standard input and pipes cannot
    /// be read twice. The set of earlier games that was passed to [`BlockStream::without_duplicates`] is dropped.
    #[must_use]
    pub fn unread(&self) -> BlockStream {
        BlockStream {
            inputs: self.inputs.iter().map(Input::unread).collect(),
            sources: self.sources.clone(),
            options: self.options.clone(),
            notes: self.notes.clone(),
            opened: OpenedFiles::default(),
            substitutes: self.substitutes.clone(),
            passed_over: self.passed_over.clone(),
            outdated: self.outdated.clone(),
            seen: self.options.unique.map(GameSet::new),
            folders: self.folders.clone(),
            ..*self
        }
    }

    /// Stops the stream when the flag becomes true, like [`StreamOptions::interrupt`].
    #[must_use]
    pub fn interrupted_by(mut self, flag: &Arc<AtomicBool>) -> BlockStream {
        self.options.interrupt = Arc::clone(flag);
        self
    }

    /// Sets the threads that the stream uses. If `turns` is given, the stream shares these threads with other streams. Otherwise it
    /// has threads of its own, which all work at the same time.
    #[must_use]
    pub fn in_turn(mut self, turns: Option<&Turns>) -> BlockStream {
        self.options.share = turns.map(|turns| Arc::new(turns.share()));
        self
    }

    /// Returns whether the whole database can be read a second time. Standard input and pipes cannot. Web files count as not
    /// repeatable, because another download would take as long and might return a different file.
    pub fn is_repeatable(&self) -> bool {
        let is_known = |sources: &Sources| {
            sources.sources().iter().all(|source| source.bytes.is_some() && !source.is_remote)
        };
        self.inputs
            .iter()
            .all(|input| if let Input::Pgn { sources, .. } = input { is_known(sources) } else { true })
    }

    /// Returns the files that contain the games: the inputs, the reels that are read instead of them, and the files from which
    /// these reels were built. A member of an archive is represented by its archive.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let of_sources = self.sources.iter().flat_map(|source| {
            let made_from = source.reel.as_deref().and_then(|reel| source.to_reel_source().locate(reel));
            let files = [Some(PathBuf::from(&source.name)), source.reel.clone(), made_from];
            files.into_iter().flatten().map(|file| file_of(&file).to_owned())
        });
        of_sources.chain(self.reels().map(|reel| reel.path().to_owned()))
    }

    /// Returns the files that are read, as they were given. A member of an archive is represented by its archive.
    pub fn files_read(&self) -> impl Iterator<Item = PathBuf> {
        let of_sources = self.sources.iter().filter_map(|source| match &source.reel {
            Some(reel) => Some(reel.clone()),
            None => source.path.as_ref().map(|_| file_of(Path::new(&source.name)).to_owned()),
        });
        of_sources.chain(self.reels().map(|reel| reel.path().to_owned()))
    }
}

impl Input {
    /// Returns the input, set back to its beginning.
    fn unread(&self) -> Input {
        match self {
            Input::Pgn { sources, base } => Input::Pgn { sources: Box::new(sources.unread()), base: *base },
            Input::Reel { reel, base, .. } => {
                Input::Reel { reel: Arc::clone(reel), base: *base, next: 0, end: reel.blocks() }
            }
            Input::Passed { games } => Input::Passed { games: *games },
            Input::Block(block) => Input::Block(block.clone()),
            Input::Held { held, .. } => Input::Held { held: held.clone(), next: 0 },
        }
    }
}

/// Returns a block without its side lines. Annotations are removed too, unless `annotations` is true.
pub fn main_lines(streamed: StreamedBlock, annotations: bool) -> StreamedBlock {
    let Cow::Owned(block) = streamed.block.main_lines(annotations) else { return streamed };
    let side_lines = streamed.side_lines + streamed.totals.side_lines;
    StreamedBlock { totals: Totals::from_block(&block), block: Arc::new(block), side_lines, ..streamed }
}

/// Returns the size of a block in memory, in bytes, including the text that is kept with it.
fn memory(streamed: &StreamedBlock) -> u64 {
    let text: usize = streamed.text.iter().map(|part| part.bytes.len()).sum();
    streamed.block.memory_bytes() + text as u64
}
