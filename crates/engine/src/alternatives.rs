//! Finds, for each hit of a query, the first alternative that matches there.
//!
//! The *alternatives* of a query are the operands of its outermost `or`s. At a hit, only the first alternative that
//! matches writes output, such as a comment. A plan finds this alternative quickly, so the slow reference engine
//! evaluates only this one.

use std::sync::Arc;

use super::{BlockRequest, Engine as _, EngineError, HitValues, Hits, Interrupt, Values, Wants, cpu::Cpu};
use orbit_plan::{PlanOptions, Planner, Plans};
use orbit_query::TypedQuery;
use orbit_reel::Block;

/// A search for the first alternative that matches at each hit of a query.
#[derive(Debug)]
pub struct Alternatives {
    /// The engine that evaluates [`TypedQuery::first_alternative`].
    cpu: Cpu,
}

impl Alternatives {
    /// Creates a search for a query. Returns `None` if [`TypedQuery::first_alternative`] does, for example because the
    /// query has too few alternatives. Also returns `None` if the search would need a flat program, which evaluates
    /// only one position at a time.
    pub fn new(query: &TypedQuery) -> Option<Alternatives> {
        let planner = Planner::new(&query.first_alternative()?, PlanOptions::default()).ok()?;
        if planner.is_program() {
            return None;
        }
        Some(Alternatives { cpu: Cpu::new(Arc::new(Plans::new(vec![Arc::new(planner)]).ok()?)) })
    }

    /// Returns, for each hit of a block, the number of the first alternative that matches there, counted from 0.
    /// `last_game` is the number of the database's last game, if it is known.
    ///
    /// # Errors
    ///
    /// Fails if the search is interrupted.
    pub fn first(
        &self,
        block: &Block,
        hits: &Hits,
        (last_game, interrupt): (Option<u32>, &Interrupt),
    ) -> Result<HitValues<i32>, EngineError> {
        if hits.count() == 0 {
            return Ok(HitValues::default());
        }
        let at_hits = |_: usize, _: &Block, _: usize, all: &mut Hits| all.bits.clone_from(&hits.bits);
        let request = BlockRequest {
            select: Some(&at_hits),
            last_game,
            interrupt: Some(interrupt),
            ..BlockRequest::all(&[Wants::VALUES])
        };
        let mut values =
            self.cpu.scan(&[block], &request)?.into_iter().flatten().map(|found| found.hits.values);
        match values.next() {
            Some(Values::Numbers(numbers)) => Ok(numbers),
            _ => unreachable!("the only query has numbers as values"),
        }
    }
}
