//! Queries over whole games and queries over main lines alone, in one run.
//!
//! Blocks hold side lines then. Queries over main lines get each block without them, and what they find is put
//! where it stands in the whole block.

use std::borrow::Cow;

use super::{Answers, Engine, EngineError, Hits, Request, Values};
use crate::reel::{Block, SEGMENT_SLOTS};

/// See the module.
pub struct Mixed {
    whole: Group,
    main: Group,
}

/// An engine for some of the queries.
pub struct Group {
    /// The engine.
    pub engine: Box<dyn Engine>,
    /// The numbers of its queries among all.
    pub queries: Vec<usize>,
}

impl Mixed {
    /// An engine for the queries over whole games and one for those over main lines. Each query is in one of the two.
    pub fn new(whole: Group, main: Group) -> Mixed {
        Mixed { whole, main }
    }

    fn group_of(&self, query: usize) -> (&Group, usize) {
        let place = |group: &Group| group.queries.iter().position(|&other| other == query);
        match place(&self.whole) {
            Some(own) => (&self.whole, own),
            None => (&self.main, place(&self.main).expect("each query is in one group")),
        }
    }
}

impl Group {
    /// What the queries of the group answer on some blocks.
    fn scan(&self, blocks: &[&Block], request: &Request<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let outputs: Vec<_> = self.queries.iter().map(|&query| request.outputs[query]).collect();
        let select = |index: usize, block: &Block, own: usize, hits: &mut Hits| {
            request.select(index, block, self.queries[own], hits);
        };
        self.engine.scan(blocks, &Request { outputs: &outputs, select: Some(&select) })
    }
}

impl Engine for Mixed {
    fn name(&self) -> &'static str {
        self.whole.engine.name()
    }

    fn queries(&self) -> usize {
        self.whole.queries.len() + self.main.queries.len()
    }

    fn scan(&self, blocks: &[&Block], request: &Request<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let main_lines: Vec<Cow<'_, Block>> = blocks.iter().map(|block| block.main_lines()).collect();
        let whole = self.whole.scan(blocks, request)?;
        let main = self.main.scan(&main_lines.iter().map(Cow::as_ref).collect::<Vec<_>>(), request)?;
        let answers = blocks.iter().zip(&main_lines).zip(whole.into_iter().zip(main));
        let of_block = answers.map(|((block, main_lines), (whole, main))| {
            let put_back = |answers: Answers| {
                let hits = put_back(answers.hits, main_lines, block);
                Answers { hits, ..answers }
            };
            let main = main.into_iter().map(put_back);
            let queries = self.whole.queries.iter().chain(&self.main.queries);
            let mut all: Vec<_> = queries.zip(whole.into_iter().chain(main)).collect();
            all.sort_by_key(|(query, _)| **query);
            all.into_iter().map(|(_, answers)| answers).collect()
        });
        Ok(of_block.collect())
    }

    fn notice(&self) -> Option<String> {
        self.whole.engine.notice().or_else(|| self.main.engine.notice())
    }

    fn persistent(&self) -> Vec<(String, Vec<u8>)> {
        [&self.whole, &self.main].iter().flat_map(|group| group.engine.persistent()).collect()
    }

    fn verified(&self) -> Option<(u64, &'static str)> {
        let (whole, main) = (self.whole.engine.verified()?, self.main.engine.verified()?);
        Some((whole.0 + main.0, whole.1))
    }

    fn blocks_at_once(&self) -> usize {
        self.whole.engine.blocks_at_once().max(self.main.engine.blocks_at_once())
    }

    fn copies(&self, query: usize) -> usize {
        let (group, own) = self.group_of(query);
        group.engine.copies(own)
    }
}

/// Puts what was found in the main lines of a block where it stands in the whole block.
fn put_back(found: Hits, main_lines: &Block, block: &Block) -> Hits {
    let mut hits = Hits { main_lines: true, ..Hits::new(block) };
    hits.values = match found.values {
        Values::None => Values::None,
        Values::Numbers(_) => Values::Numbers(vec![0; block.slots()]),
        Values::Sets(_) => Values::Sets(vec![0; block.slots()]),
        Values::Texts(_) => Values::Texts(vec![None; block.slots()]),
    };
    for (from, to) in main_lines.games().zip(block.games()) {
        let (first, end, to) = (from.first_slot(), from.end_slot(), to.first_slot());
        for slot in found.slots(first..end) {
            let slot = slot - first + to;
            hits.bits[slot / SEGMENT_SLOTS] |= 1 << (slot % SEGMENT_SLOTS);
        }
        let range = to..to + end - first;
        match (&mut hits.values, &found.values) {
            (Values::Numbers(out), Values::Numbers(found)) => out[range].copy_from_slice(&found[first..end]),
            (Values::Sets(out), Values::Sets(found)) => out[range].copy_from_slice(&found[first..end]),
            (Values::Texts(out), Values::Texts(found)) => out[range].clone_from_slice(&found[first..end]),
            _ => {}
        }
    }
    hits
}
