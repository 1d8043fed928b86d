//! The reference engine on those games alone in which a query can match.
//!
//! A condition that plans can say, and that holds wherever the query matches, is looked for first. In a game without it the
//! query matches nowhere, and the game is passed over.

use std::sync::Arc;

use super::{
    Answers, BlockRequest, Engine, EngineError, EngineInfo, Hits, PreparedQuery, Wants, cpu::Cpu,
    reference::Bulk,
};
use orbit_plan::{PlanOptions, Planner, Plans};
use orbit_query::{TypedQuery, necessary};
use orbit_reel::Block;

/// See the module.
pub struct Narrowed {
    engine: Bulk,
    /// Looks for the conditions.
    cpu: Cpu,
    /// For each query which of the conditions is its own.
    conditions: Vec<Option<usize>>,
}

impl Narrowed {
    /// An engine for some queries.
    ///
    /// # Errors
    ///
    /// What the reference engine refuses.
    pub fn new(queries: &[PreparedQuery]) -> Result<Narrowed, EngineError> {
        let mut planners = Vec::new();
        let condition = |prepared: &PreparedQuery| {
            let planner = planner(&prepared.query)?;
            planners.push(Arc::new(planner));
            Some(planners.len() - 1)
        };
        let conditions = queries.iter().map(condition).collect();
        let cpu =
            Cpu::new(Arc::new(Plans::new(planners).expect("conditions that no plan says were left out")));
        Ok(Narrowed { engine: Bulk::new(queries.iter().map(|prepared| &prepared.query))?, cpu, conditions })
    }

    /// How many of the queries are asked of some games alone.
    pub fn narrowed(&self) -> usize {
        self.conditions.iter().flatten().count()
    }
}

/// A plan that finds a hit in every game in which a query matches; none if such a plan is not known, or if games must
/// be evaluated whether or not the query matches in them.
fn planner(query: &TypedQuery) -> Option<Planner> {
    let planner = Planner::new(&necessary(query)?, PlanOptions::default()).ok()?;
    planner.refusal().is_none().then_some(planner)
}

impl Engine for Narrowed {
    fn info(&self) -> EngineInfo {
        self.engine.info()
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let queries = self.cpu.info().queries();
        let bits = vec![Wants::HITS; queries];
        let narrow = BlockRequest { interrupt: request.interrupt, ..BlockRequest::all(&bits) };
        let answers = match queries {
            0 => Vec::new(),
            _ => match self.cpu.scan(blocks, &narrow) {
                // The reference engine says what goes wrong.
                Err(EngineError::Stopped) => return self.engine.scan(blocks, request),
                answers => answers?,
            },
        };
        let hits = |all: Vec<Answers>| all.into_iter().map(|answers| answers.hits).collect();
        let found: Vec<Vec<Hits>> = answers.into_iter().map(hits).collect();
        let can_match = |index: usize, query: usize, game: usize| match self.conditions[query] {
            None => true,
            Some(condition) => {
                let row = blocks[index].game(game);
                found[index][condition].count_in(row.slots()) > 0
            }
        };
        self.engine.scan(blocks, &BlockRequest { games: Some(&can_match), ..*request })
    }
}
