//! Queries that need different engines, in one run: those over whole games and those over main lines alone, those that
//! plans can say and those that the reference engine alone evaluates.
//!
//! Where one query is asked of side lines, blocks hold them. Queries over main lines get each block without them, and what
//! they find is put where it stands in the whole block.

use std::borrow::Cow;

use super::{Answers, Engine, EngineError, Hits, Request, Values};
use crate::reel::{Block, SEGMENT_SLOTS};

/// See the module.
pub struct Mixed {
    groups: Vec<Group>,
}

/// An engine for some of the queries.
pub struct Group {
    /// The engine.
    pub engine: Box<dyn Engine>,
    /// The numbers of its queries among all.
    pub queries: Vec<usize>,
    /// Whether the queries are asked of main lines alone, and blocks hold side lines.
    pub main_lines: bool,
}

impl Mixed {
    /// Each query is in one of the groups, of which there is at least one.
    pub fn new(groups: Vec<Group>) -> Mixed {
        Mixed { groups }
    }

    fn engines(&self) -> impl Iterator<Item = &dyn Engine> {
        self.groups.iter().map(|group| &*group.engine)
    }

    fn group_of(&self, query: usize) -> (&Group, usize) {
        let place = |group: &Group| group.queries.iter().position(|&other| other == query);
        let mut places = self.groups.iter().filter_map(|group| Some((group, place(group)?)));
        places.next().expect("each query is in one group")
    }
}

impl Group {
    /// What the queries of the group answer on some blocks, each with the number of its query.
    fn scan(
        &self,
        blocks: &[&Block],
        request: &Request<'_>,
    ) -> Result<Vec<Vec<(usize, Answers)>>, EngineError> {
        if !self.main_lines {
            return self.scan_blocks(blocks, request);
        }
        let cut: Vec<Cow<'_, Block>> = blocks.iter().map(|block| block.main_lines(true)).collect();
        let mut all = self.scan_blocks(&cut.iter().map(Cow::as_ref).collect::<Vec<_>>(), request)?;
        for ((block, cut), answers) in blocks.iter().zip(&cut).zip(&mut all) {
            for (_, answers) in answers {
                answers.hits = put_back(&answers.hits, cut, block);
            }
        }
        Ok(all)
    }

    fn scan_blocks(
        &self,
        blocks: &[&Block],
        request: &Request<'_>,
    ) -> Result<Vec<Vec<(usize, Answers)>>, EngineError> {
        let outputs: Vec<_> = self.queries.iter().map(|&query| request.outputs[query]).collect();
        let select = |index: usize, block: &Block, own: usize, hits: &mut Hits| {
            request.select(index, block, self.queries[own], hits);
        };
        let of_these = Request { outputs: &outputs, select: Some(&select), games: None, ..*request };
        let all = self.engine.scan(blocks, &of_these);
        let all = all.map_err(|error| match error {
            EngineError::Query { query, game, place, diagnostic } => {
                EngineError::Query { query: self.queries[query], game, place, diagnostic }
            }
            other => other,
        })?;
        let numbered = |answers: Vec<Answers>| self.queries.iter().copied().zip(answers).collect();
        Ok(all.into_iter().map(numbered).collect())
    }
}

impl Engine for Mixed {
    fn name(&self) -> &'static str {
        let names: Vec<&str> = self.engines().map(Engine::name).collect();
        let is = |name| names.contains(&name);
        match (is("gpu"), is("gpu, then cpu"), is("cpu"), is("reference")) {
            (true, _, _, true) => "gpu and reference",
            (_, true, _, true) => "gpu, then cpu, and reference",
            (_, _, true, true) => "cpu and reference",
            _ => self.groups[0].engine.name(),
        }
    }

    fn queries(&self) -> usize {
        self.groups.iter().map(|group| group.queries.len()).sum()
    }

    fn scan(&self, blocks: &[&Block], request: &Request<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let mut all: Vec<Vec<(usize, Answers)>> = blocks.iter().map(|_| Vec::new()).collect();
        for group in &self.groups {
            let found = group.scan(blocks, request)?;
            all.iter_mut().zip(found).for_each(|(all, found)| all.extend(found));
        }
        let in_order = |mut answers: Vec<(usize, Answers)>| {
            answers.sort_by_key(|(query, _)| *query);
            answers.into_iter().map(|(_, answers)| answers).collect()
        };
        Ok(all.into_iter().map(in_order).collect())
    }

    fn notice(&self) -> Option<String> {
        self.engines().find_map(Engine::notice)
    }

    fn persistent(&self) -> Vec<(String, Vec<u8>)> {
        self.engines().flat_map(Engine::persistent).collect()
    }

    fn verified(&self) -> Option<(u64, &'static str)> {
        let all = self.engines().filter_map(Engine::verified);
        all.reduce(|sum, (positions, _)| (sum.0 + positions, sum.1))
    }

    fn in_order(&self) -> bool {
        self.engines().any(Engine::in_order)
    }

    fn blocks_at_once(&self) -> usize {
        self.engines().map(Engine::blocks_at_once).max().unwrap_or(1)
    }

    fn copies(&self, query: usize) -> usize {
        let (group, own) = self.group_of(query);
        group.engine.copies(own)
    }
}

/// Puts what was found in the main lines of a block where it stands in the whole block.
fn put_back(found: &Hits, main_lines: &Block, block: &Block) -> Hits {
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
