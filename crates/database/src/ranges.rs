//! Restricts a database of reels to a range of its blocks, while games keep their numbers in the whole database. Also returns
//! marks, such as names and sizes of the inputs, by which a database is recognised later.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::{BlockStream, Input, StreamedBlock};
use orbit_pgn::Stamp;
use orbit_reel::{Reel, Totals};

/// An input, with a mark that distinguishes it from other files with the same name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceMark {
    /// The path, as given or as found in a folder.
    pub name: String,
    /// The size, if it is known.
    pub bytes: Option<u64>,
    /// The checksum of a reel's header or of a manifest, or the modification time of any other file. It is empty for streams.
    pub mark: String,
}

impl BlockStream {
    /// Returns the number of positions in each block, reel by reel in database order. Returns `None` if there are inputs other than
    /// reels, because their games are numbered only after all text before them has been read.
    pub fn positions_of_blocks(&self) -> Option<Vec<Vec<u64>>> {
        let of_input = |input: &Input| match input {
            Input::Reel { reel, next, end, .. } => {
                Some((*next..*end).map(|index| reel.block_positions(index)).collect())
            }
            Input::Pgn { .. } | Input::Passed { .. } | Input::Block(_) | Input::Held { .. } => None,
        };
        self.inputs.iter().map(of_input).collect()
    }

    /// Restricts the stream to a range of blocks, which are numbered from 0 across all reels. Games and sources keep their numbers.
    ///
    /// # Panics
    ///
    /// Panics if there are inputs other than reels, or fewer blocks.
    #[must_use]
    pub fn only_blocks(mut self, range: Range<usize>) -> BlockStream {
        let mut before = 0;
        let mut games_before = u64::from(self.games_before);
        let mut first = None;
        for input in &mut self.inputs {
            let Input::Reel { reel, next, end, .. } = input else {
                panic!("only blocks of reels have numbers")
            };
            let blocks = reel.blocks();
            let within = |block: usize| block.clamp(before, before + blocks) - before;
            (*next, *end) = (within(range.start), within(range.end));
            if next < end && first.is_none() {
                first = Some(games_before + u64::from(reel.games_before(*next)));
            }
            before += blocks;
            games_before += u64::from(reel.games_before(blocks));
        }
        assert!(range.start <= range.end && range.end <= before, "there are {before} blocks, not {range:?}");
        // If there are too many games, the error is returned when they are numbered.
        let number = |games: u64| u32::try_from(games).unwrap_or(u32::MAX);
        self.last_game = Some(number(games_before));
        self.games_before = number(first.unwrap_or(games_before));
        self.inputs.retain(|input| matches!(input, Input::Reel { next, end, .. } if next < end));
        let bytes = self.inputs.iter().map(|input| match input {
            Input::Reel { reel, next, end, .. } => (*next..*end).map(|index| reel.block_bytes(index)).sum(),
            _ => 0,
        });
        self.bytes_total = Some(bytes.sum());
        self
    }

    /// Restricts the stream to some blocks of each reel. `choose` is called with each reel, and returns the indices of the blocks
    /// to keep in ascending order, or `None` to keep all blocks. Games and sources keep their numbers.
    #[must_use]
    pub fn choose_blocks(mut self, mut choose: impl FnMut(&Reel) -> Option<Vec<usize>>) -> BlockStream {
        for input in std::mem::take(&mut self.inputs) {
            let Input::Reel { reel, base, next, end } = &input else {
                self.inputs.push_back(input);
                continue;
            };
            let Some(blocks) = choose(reel) else {
                self.inputs.push_back(input);
                continue;
            };
            let mut at = *next;
            let passed = |from, to| Input::Passed { games: reel.games_before(to) - reel.games_before(from) };
            for run in blocks.chunk_by(|a, b| a + 1 == *b) {
                let (first, after) = (run[0].max(at), (run[run.len() - 1] + 1).min(*end));
                if first < after {
                    self.inputs.push_back(passed(at, first));
                    let reel = Arc::clone(reel);
                    self.inputs.push_back(Input::Reel { reel, base: *base, next: first, end: after });
                    at = after;
                }
            }
            let passed_bytes: u64 = (*next..*end)
                .filter(|block| blocks.binary_search(block).is_err())
                .map(|block| reel.block_bytes(block))
                .sum();
            self.bytes_total = self.bytes_total.map(|bytes| bytes.saturating_sub(passed_bytes));
            self.inputs.push_back(passed(at, *end));
        }
        self
    }

    /// Returns the flag that stops the stream when it becomes true.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.options.interrupt)
    }

    /// Returns marks that identify this database: first those of reel folders, and then those of the inputs in order.
    pub fn marks(&self) -> Vec<SourceMark> {
        let mut marks = self.folders.clone();
        for input in &self.inputs {
            match input {
                Input::Reel { reel, .. } => marks.push(SourceMark {
                    name: reel.path().display().to_string(),
                    bytes: Some(reel.bytes()),
                    mark: format!("header {:08x}", reel.header_crc()),
                }),
                Input::Pgn { sources, .. } => marks.extend(sources.sources().iter().map(|source| {
                    let path = source.path.as_ref().filter(|_| source.bytes.is_some());
                    let modified = path.and_then(|path| Stamp::at(path).ok()?.modified_ns);
                    SourceMark {
                        name: source.name.clone(),
                        bytes: source.bytes,
                        mark: modified.map_or(String::new(), |ns| format!("modified {ns}")),
                    }
                })),
                Input::Passed { .. } | Input::Block(_) | Input::Held { .. } => {}
            }
        }
        marks
    }
}

impl StreamedBlock {
    /// Creates a streamed block from the stored results of a job part. The block has totals, but no games.
    pub fn from_part(totals: Totals, side_lines: u64, bytes: u64) -> StreamedBlock {
        StreamedBlock {
            block: Arc::default(),
            totals,
            side_lines,
            agreement: Default::default(),
            bytes,
            bytes_total: None,
            text: Vec::new(),
        }
    }
}
