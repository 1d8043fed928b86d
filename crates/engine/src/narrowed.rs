//! Restricts the slow reference engine to the games in which a query can match.
//!
//! If possible, a fast engine first searches for a simpler condition that holds wherever the query matches. If the
//! condition holds nowhere in a game, the query cannot match there, and the reference engine skips the game.

use std::sync::Arc;

use super::{
    Answers, BlockRequest, Engine, EngineError, EngineInfo, Hits, PreparedQuery, Wants, cpu::Cpu,
    reference::Bulk,
};
use orbit_plan::{PlanOptions, Planner, Plans};
use orbit_query::{TypedQuery, necessary};
use orbit_reel::Block;

/// An engine that searches for simpler conditions with the fast engine `cpu`, and evaluates the queries with the
/// reference engine in the games that remain.
pub struct Narrowed {
    engine: Bulk,
    /// The engine whose queries are the conditions.
    cpu: Cpu,
    /// For each query, the index of the condition in `cpu` that is true wherever the query matches; `None` if there is none.
    conditions: Vec<Option<usize>>,
}

impl Narrowed {
    /// Creates an engine for the given queries.
    ///
    /// # Errors
    ///
    /// Fails if the reference engine does not accept a query.
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

    /// Returns the number of queries for which a simpler condition excludes games.
    pub fn narrowed(&self) -> usize {
        self.conditions.iter().flatten().count()
    }
}

/// Returns the planner of a condition that matches in every game in which the query matches. Returns `None` if no such
/// condition is known, or if the query must be evaluated even in games in which it cannot match.
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
                // The fast engine ran into an error while it searched for the conditions. The reference engine then
                // evaluates all games, and finds the position of the error.
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
