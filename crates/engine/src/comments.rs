//! Finds the comments that a query writes at each hit, if they depend only on which of its filters match; see
//! [`orbit_plan::CommentLists`].

use std::sync::Arc;

use super::{BlockRequest, Engine as _, EngineError, HitValues, Hits, Interrupt, Values, Wants, cpu::Cpu};
use orbit_plan::{CommentLists, Plans, comment_lists};
use orbit_query::TypedQuery;
use orbit_reel::Block;

/// A search for the comments that a query writes at each hit.
#[derive(Debug)]
pub struct CommentSearch {
    lists: CommentLists,
    /// The engine that computes the number of the list at each hit; `None` if there is only one list.
    cpu: Option<Cpu>,
}

/// The comments that a query writes at the hits of a block.
#[derive(Debug)]
pub struct KnownComments<'a> {
    lists: &'a CommentLists,
    /// The number of the list at each hit; `None` if there is only one list.
    numbers: Option<HitValues<i32>>,
}

impl CommentSearch {
    /// Creates a search for a query that [writes at hits](TypedQuery::writes_at_hits). Returns `None` if [`comment_lists`] does.
    pub fn new(query: &TypedQuery) -> Option<CommentSearch> {
        let (lists, planner) = comment_lists(query)?;
        let cpu = match planner {
            Some(planner) => Some(Cpu::new(Arc::new(Plans::new(vec![Arc::new(planner)]).ok()?))),
            None => None,
        };
        Some(CommentSearch { lists, cpu })
    }

    /// Returns the comments at the hits of a block. `last_game` is the number of the database's last game, if it is known.
    ///
    /// # Errors
    ///
    /// Fails if the search is interrupted.
    pub fn at(
        &self,
        block: &Block,
        hits: &Hits,
        (last_game, interrupt): (Option<u32>, &Interrupt),
    ) -> Result<KnownComments<'_>, EngineError> {
        let lists = &self.lists;
        let Some(cpu) = self.cpu.as_ref().filter(|_| hits.count() > 0) else {
            return Ok(KnownComments { lists, numbers: None });
        };
        let at_hits = |_: usize, _: &Block, _: usize, all: &mut Hits| all.bits.clone_from(&hits.bits);
        let request = BlockRequest {
            select: Some(&at_hits),
            last_game,
            interrupt: Some(interrupt),
            ..BlockRequest::all(&[Wants::VALUES])
        };
        let answers = cpu.scan(&[block], &request)?.remove(0).remove(0);
        let Values::Numbers(numbers) = answers.hits.values else { unreachable!("the values are numbers") };
        Ok(KnownComments { lists, numbers: Some(numbers) })
    }
}

impl KnownComments<'_> {
    fn number(&self, slot: usize) -> u32 {
        self.numbers.as_ref().map_or(0, |numbers| numbers[slot] as u32)
    }

    /// Calls `write` with each known comment of a hit, in the order in which the query writes them.
    pub fn write(&self, slot: usize, write: &mut dyn FnMut(&[u8])) {
        self.lists.write(self.number(slot), write);
    }

    /// Returns true if all comments of a hit are known.
    pub fn is_known(&self, slot: usize) -> bool {
        self.lists.is_known(self.number(slot))
    }

    /// Returns the number of the alternative that matches at a hit, counted from 0. The query must have hits whose comments are not
    /// known.
    pub fn alternative(&self, slot: usize) -> usize {
        self.lists.alternative(self.number(slot))
    }
}
