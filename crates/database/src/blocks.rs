//! Prepares blocks (groups of whole games). This work does not depend on game numbers, so any thread can do it at any time.

use std::sync::Arc;

use super::numbers::{Numbered, RunningNumbers};
use super::{StreamError, StreamOptions, StreamedBlock, held};
use orbit_pgn::Chunk;
use orbit_reel::{Alike, Block, BlockBuilder, Contents, GameHash, Reel, Totals};
use orbit_witness::{Difference, Reread};

/// The input from which a thread builds or reads a block.
pub(super) enum BlockWork {
    Chunk { chunk: Chunk, base: u32 },
    Reel { reel: Arc<Reel>, base: u32, index: usize },
    Block(Box<Block>),
    Held(Box<StreamedBlock>),
}

pub(super) struct BlockTask {
    pub(super) work: BlockWork,
    pub(super) bytes: u64,
    /// The number of games that were skipped between the previous block and this one.
    pub(super) passed: u32,
}

/// A block that was built or read, but has not been passed to the caller yet.
pub(super) struct PreparedBlock {
    pub(super) streamed: StreamedBlock,
    pub(super) numbered: Numbered,
    /// The number of games that were skipped between the previous block and this one.
    pub(super) passed: u32,
    /// The hashes of the block's games, if duplicates are dropped.
    pub(super) hashes: Vec<GameHash>,
    /// A game of the block for which two PGN readers returned different results, if there is one. Such a block must not be used.
    pub(super) difference: Option<Difference>,
}

/// Blocks that are processed together. A `failure` ends the stream after these blocks.
pub(super) struct BlockGroup {
    pub(super) prepared: Vec<PreparedBlock>,
    pub(super) failure: Option<StreamError>,
}

impl BlockGroup {
    pub(super) fn prepare(
        tasks: Vec<BlockTask>,
        options: &StreamOptions,
        bytes_total: Option<u64>,
        alike: Option<Alike>,
    ) -> BlockGroup {
        let mut group = BlockGroup { prepared: Vec::new(), failure: None };
        for task in tasks {
            match prepare(task, options, bytes_total) {
                Ok(mut prepared) => {
                    if let Some(alike) = alike {
                        prepared.hashes = GameHash::from_block(&prepared.streamed.block, alike);
                    }
                    group.prepared.push(prepared);
                }
                Err(failure) => {
                    group.failure = Some(failure);
                    break;
                }
            }
        }
        group
    }

    pub(super) fn number(&mut self, numbers: &mut RunningNumbers) {
        for (index, prepared) in self.prepared.iter_mut().enumerate() {
            let PreparedBlock { streamed, numbered, passed, .. } = prepared;
            if let Err(failure) = numbers.assign(&mut streamed.block, *numbered, *passed) {
                self.failure = Some(failure);
                self.prepared.truncate(index);
                break;
            }
            let PreparedBlock { streamed, hashes, difference, .. } = prepared;
            if let Some(difference) = difference.take() {
                self.failure = Some(numbers.place(&streamed.block, difference));
                self.prepared.truncate(index);
                break;
            }
            if numbers.drop_duplicates(&mut streamed.block, hashes) {
                streamed.totals = Totals::from_block(&streamed.block);
            }
        }
    }
}

/// Builds the block of a task from PGN text, or reads it from a reel or from memory.
pub(super) fn prepare(
    task: BlockTask,
    options: &StreamOptions,
    bytes_total: Option<u64>,
) -> Result<PreparedBlock, StreamError> {
    let parse = &options.parse;
    let mut text = Vec::new();
    let (mut reread, passed) = (Reread::default(), task.passed);
    let (mut block, base, numbered) = match task.work {
        BlockWork::Held(streamed) => {
            let streamed =
                if parse.variations { *streamed } else { held::main_lines(*streamed, parse.annotations) };
            let streamed = StreamedBlock { bytes: task.bytes, bytes_total, ..streamed };
            return Ok(PreparedBlock {
                streamed,
                numbered: Numbered::Wholly,
                passed: task.passed,
                hashes: Vec::new(),
                difference: None,
            });
        }
        BlockWork::Chunk { chunk, base } => {
            let block;
            (block, reread) = build(&chunk, options);
            if options.keep_text {
                text = chunk.texts;
            }
            (block, base, Numbered::Nowhere)
        }
        BlockWork::Reel { reel, base, index } => {
            let contents = Contents { tags: parse.tags, annotations: parse.annotations };
            (reel.block_with(index, contents)?, base, Numbered::InSource)
        }
        BlockWork::Block(block) => (*block, 0, Numbered::InSource),
    };
    if !parse.variations {
        block = block.into_main_lines(parse.annotations);
    }
    block.source_games_mut().iter_mut().for_each(|part| part.source += base);
    text.iter_mut().for_each(|part| part.source += base);
    let totals = Totals::from_block(&block);
    let Reread { side_lines, agreement, mut difference } = reread;
    difference.iter_mut().for_each(|difference| difference.source += base);
    let block = Arc::new(block);
    let streamed =
        StreamedBlock { block, totals, side_lines, agreement, bytes: task.bytes, bytes_total, text };
    Ok(PreparedBlock { streamed, numbered, passed, hashes: Vec::new(), difference })
}

/// Builds a block from a chunk of PGN. Also returns the result of reading the chunk with a second reader, if the options request
/// one.
pub(super) fn build(chunk: &Chunk, options: &StreamOptions) -> (Block, Reread) {
    let mut builder = BlockBuilder::new();
    // The parser keeps comments only together with side lines. If side lines are not wanted, they are removed afterwards.
    let mut parse = options.parse.clone();
    parse.variations |= parse.annotations;
    let mut side_lines = 0;
    let mut push = |source: u32, game: &orbit_pgn::Game| {
        side_lines += game.lines.len() as u64;
        builder.push(source, game);
    };
    let mut reread = if options.readers.read_again(chunk) {
        orbit_witness::read(chunk, &parse, options.readers, &mut push)
    } else {
        Reread { side_lines: chunk.parse(&parse, &mut push), ..Reread::default() }
    };
    if !options.parse.variations {
        reread.side_lines += side_lines;
    }
    (builder.finish(), reread)
}
