//! Combines several engines in one search. This is necessary because some queries can be expressed as plans and others
//! are evaluated only by the reference engine, and because some queries read side lines and others only main lines.
//!
//! If any query reads side lines (variations), the blocks contain side lines. Queries that read only main lines then
//! receive a copy of each block without its side lines, and their hits are moved to the slots of the whole block.

use std::borrow::Cow;

use super::cards::CardUse;
use super::{Answers, BlockRequest, Engine, EngineError, EngineInfo, Hits};
use orbit_reel::Block;

/// An engine that divides queries into groups and passes each group to its own engine.
pub struct Mixed {
    groups: Vec<EngineGroup>,
}

/// A group of queries and the engine that evaluates them.
pub struct EngineGroup {
    /// The engine that evaluates the queries.
    pub engine: Box<dyn Engine>,
    /// The indices of the group's queries in the list of all queries.
    pub queries: Vec<usize>,
    /// True if the queries read only main lines, while the blocks contain side lines.
    pub main_lines: bool,
}

impl Mixed {
    /// Combines groups of queries. There must be at least one group, and each query must be in exactly one group.
    pub fn new(groups: Vec<EngineGroup>) -> Mixed {
        Mixed { groups }
    }
}

impl EngineGroup {
    /// Evaluates the queries of the group on the given blocks. Returns the index of each query with its answers.
    fn scan(
        &self,
        blocks: &[&Block],
        request: &BlockRequest<'_>,
    ) -> Result<Vec<Vec<(usize, Answers)>>, EngineError> {
        if !self.main_lines {
            return self.scan_blocks(blocks, request);
        }
        let cut: Vec<Cow<'_, Block>> = blocks.iter().map(|block| block.main_lines(true)).collect();
        let mut all = self.scan_blocks(&cut.iter().map(Cow::as_ref).collect::<Vec<_>>(), request)?;
        for ((block, cut), answers) in blocks.iter().zip(&cut).zip(&mut all) {
            for (_, answers) in answers {
                let places = block.games().map(|game| (game.first_slot(), false));
                answers.hits = Hits { main_lines: true, ..answers.hits.put_back(cut, block, places) };
                answers.copies = answers.copies.take().map(|copies| copies.at(&answers.hits));
            }
        }
        Ok(all)
    }

    fn scan_blocks(
        &self,
        blocks: &[&Block],
        request: &BlockRequest<'_>,
    ) -> Result<Vec<Vec<(usize, Answers)>>, EngineError> {
        let outputs: Vec<_> = self.queries.iter().map(|&query| request.outputs[query]).collect();
        let select = |index: usize, block: &Block, own: usize, hits: &mut Hits| {
            request.select(index, block, self.queries[own], hits);
        };
        let of_these = BlockRequest { outputs: &outputs, select: Some(&select), games: None, ..*request };
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
    fn info(&self) -> EngineInfo {
        let all: Vec<EngineInfo> = self.groups.iter().map(|group| group.engine.info()).collect();
        let mut copies = vec![1; self.groups.iter().map(|group| group.queries.len()).sum()];
        for (group, info) in self.groups.iter().zip(&all) {
            group.queries.iter().zip(&info.copies).for_each(|(&query, &count)| copies[query] = count);
        }
        let verified = all.iter().filter_map(|info| info.verified);
        EngineInfo {
            name: name_of(&all),
            copies,
            in_order: all.iter().any(|info| info.in_order),
            blocks_at_once: all.iter().map(|info| info.blocks_at_once).max().unwrap_or(1),
            notice: all.iter().find_map(|info| info.notice.clone()),
            card: all.iter().filter_map(|info| info.card).reduce(|sum, one| CardUse {
                uploaded: sum.uploaded + one.uploaded,
                resident: sum.resident.max(one.resident),
            }),
            verified: verified.reduce(|sum, (positions, _)| (sum.0 + positions, sum.1)),
            persistent: all.into_iter().flat_map(|info| info.persistent).collect(),
        }
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
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
}

/// Returns the name that users see for the combination of the groups' engines.
fn name_of(groups: &[EngineInfo]) -> &'static str {
    let is = |name| groups.iter().any(|info| info.name == name);
    match (is("gpu"), is("gpu, then cpu"), is("cpu"), is("reference")) {
        (true, _, _, true) => "gpu and reference",
        (_, true, _, true) => "gpu, then cpu, and reference",
        (_, _, true, true) => "cpu and reference",
        _ => groups[0].name,
    }
}
