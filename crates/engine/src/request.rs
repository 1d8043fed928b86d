//! A request to an engine, and its answers.

use super::{Commentary, CopyHits, GameAnswer, GameEnds, Hits, Interrupt, Spans, Wants};
use orbit_reel::{Block, GameRow};

/// A selection of the hits to keep.
pub trait Select: Sync {
    /// Removes hits of a query. `index` is the place of the block among those that are evaluated together.
    fn select(&self, index: usize, block: &Block, query: usize, hits: &mut Hits);
}

impl<F: Fn(usize, &Block, usize, &mut Hits) + Sync> Select for F {
    fn select(&self, index: usize, block: &Block, query: usize, hits: &mut Hits) {
        self(index, block, query, hits);
    }
}

/// A request for the answers of some queries on some blocks.
#[derive(Clone, Copy)]
pub struct BlockRequest<'a> {
    /// The wanted outputs of each query, in the order of queries.
    pub outputs: &'a [Wants],
    /// The selection of hits to keep; `None` keeps all. Values and copies are computed for kept hits only.
    pub select: Option<&'a dyn Select>,
    /// The test whether a query may match in a game, given the place of the block, the query and the game; `None` if
    /// nothing is known. Engines that evaluate a query game by game skip games in which it cannot match.
    pub games: Option<&'a (dyn Fn(usize, usize, usize) -> bool + Sync)>,
    /// The number of the last game of the database, if a query reads it.
    pub last_game: Option<u32>,
    /// The switch that ends the evaluation early; `None` for none.
    pub interrupt: Option<&'a Interrupt>,
}

impl<'a> BlockRequest<'a> {
    /// Requests the outputs at all hits.
    pub fn all(outputs: &'a [Wants]) -> BlockRequest<'a> {
        BlockRequest { outputs, select: None, games: None, last_game: None, interrupt: None }
    }

    /// Returns the switch that ends the evaluation.
    pub(super) fn switch(&self) -> Interrupt {
        self.interrupt.cloned().unwrap_or_default()
    }

    /// Returns whether a query may match in a game of the block at place `index`.
    pub(super) fn may_match(&self, index: usize, query: usize, game: usize) -> bool {
        self.games.is_none_or(|games| games(index, query, game))
    }

    /// Removes the hits that are not to be kept.
    pub(super) fn select(&self, index: usize, block: &Block, query: usize, hits: &mut Hits) {
        if let Some(select) = self.select {
            select.select(index, block, query, hits);
        }
    }
}

/// The answers of a query on one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers {
    /// The hits, with their values if these were wanted.
    pub hits: Hits,
    /// The copies that match at these hits, as far as they were wanted.
    pub copies: Option<CopyHits>,
    /// The answer for each game of the block, for a query about whole games. Other queries find the games that have a
    /// hit.
    pub games: Option<Vec<GameAnswer>>,
    /// The output of the query, if it was wanted and the engine can compute it.
    pub commentary: Option<Commentary>,
    /// The spans of the hits, if they were wanted and the engine can compute them. Hits that were not kept may be
    /// included.
    pub spans: Option<Spans>,
}

impl Answers {
    /// Creates the answers of a query that has no answers for whole games.
    pub fn new(hits: Hits, copies: Option<CopyHits>) -> Answers {
        Answers { hits, copies, games: None, commentary: None, spans: None }
    }

    /// Returns whether a game of the block is found.
    pub fn finds(&self, game: &GameRow) -> bool {
        match &self.games {
            Some(games) => games[game.index()].is_found,
            None => self.hits.slots(game.slots()).next().is_some(),
        }
    }

    /// Adds ranks that decide the order of the games before the ranks that these already have.
    pub fn sort_by(&mut self, block: &Block, told: Vec<GameAnswer>) {
        let of_game = |game: GameRow| {
            let match_count = self.hits.count_in(game.slots()) as u32;
            GameAnswer { is_found: match_count > 0, match_count, ..GameAnswer::default() }
        };
        let games = self.games.get_or_insert_with(|| block.games().map(of_game).collect());
        for (game, told) in games.iter_mut().zip(told) {
            let rest = std::mem::replace(&mut game.rank, told.rank);
            game.rank.extend(&rest);
        }
    }

    /// Returns the number of games of the block that are found. `ends` are the ends of the games.
    pub fn games_found(&self, ends: &GameEnds) -> u64 {
        match &self.games {
            Some(games) => games.iter().filter(|game| game.is_found).count() as u64,
            None => self.hits.games(ends),
        }
    }
}
