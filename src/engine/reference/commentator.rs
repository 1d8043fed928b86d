//! What a query writes about games that another engine has found.

use super::{Reference, ReferenceError, RunState, bulk::each_game, games::GameBlock};
use crate::{
    engine::{Commentary, EngineError, Interrupt, Wants},
    query::Query,
    reel::{Block, GameRow},
};

/// Evaluates a query on games that are known to be found, for what it writes about them: the other engines do not know.
/// The query must ask of each game by itself.
#[derive(Debug)]
pub struct Commentator {
    query: Query,
    reference: Reference,
    /// Whether it prints messages, and so must see all games.
    prints: bool,
}

impl Commentator {
    /// Expands a query.
    ///
    /// # Errors
    ///
    /// See [`ReferenceError`].
    pub fn new(query: &Query) -> Result<Commentator, ReferenceError> {
        let prints = query.prints_messages();
        Ok(Commentator { query: query.clone(), reference: Reference::new(query)?, prints })
    }

    /// What the query writes about the games of a block that are found. `number` is its number among the queries of the
    /// run.
    ///
    /// # Errors
    ///
    /// What goes wrong in the query.
    pub fn write(
        &self,
        block: &Block,
        number: usize,
        is_found: impl Fn(&GameRow) -> bool,
        interrupt: &Interrupt,
    ) -> Result<Commentary, EngineError> {
        let mut all =
            GameBlock::new(block, &self.query, &self.reference, Wants::COMMENTARY, None, interrupt.clone());
        let mut run = RunState::new(&self.query);
        let is_wanted = |index: usize| self.prints || is_found(&block.game(index));
        each_game(block, is_wanted, |slots, game, spots| all.add(slots, game, spots, &mut run))
            .map_err(|fault| fault.of_query(number, interrupt))?;
        let mut commentary = all.into_commentary();
        commentary.games.retain(|game| is_found(&block.game(game.index as usize)));
        Ok(commentary)
    }
}
