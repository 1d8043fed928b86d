//! The request that an engine receives together with blocks, and the answers that it returns.
//!
//! A *copy* is one of the distinct patterns that the outermost transform of a query generates.

use super::{Commentary, CopyHits, GameAnswer, GameEnds, Hits, Interrupt, Spans, Wants};
use orbit_reel::{Block, GameRow};

/// A rule that selects the hits to keep, for example the first hit of each game.
pub trait Select: Sync {
    /// Removes the unwanted hits of a query in a block. `index` is the index of the block in the request.
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
    /// The outputs that are requested for each query, in the order of the queries.
    pub outputs: &'a [Wants],
    /// The rule that selects the hits to keep; `None` keeps all hits. Values and matching copies (transformed patterns) are
    /// computed only at hits that are kept.
    pub select: Option<&'a dyn Select>,
    /// A function that returns true if a query may match in a game. Its arguments are the index of the block in the
    /// request, the number of the query and the index of the game in the block. `None` if nothing is known. Engines
    /// that evaluate a query game by game skip the games for which the function returns false.
    pub games: Option<&'a (dyn Fn(usize, usize, usize) -> bool + Sync)>,
    /// The number of the database's last game, if a query reads it.
    pub last_game: Option<u32>,
    /// The interrupt (a switch that ends the evaluation early), if there is one.
    pub interrupt: Option<&'a Interrupt>,
}

impl<'a> BlockRequest<'a> {
    /// Creates a request for the given outputs at all hits.
    pub fn all(outputs: &'a [Wants]) -> BlockRequest<'a> {
        BlockRequest { outputs, select: None, games: None, last_game: None, interrupt: None }
    }

    /// Returns the request's interrupt, the switch that ends the evaluation early. If the request has none, returns one
    /// that is never set.
    pub(super) fn switch(&self) -> Interrupt {
        self.interrupt.cloned().unwrap_or_default()
    }

    /// Returns true if a query may match in a game. `index` is the index of the game's block in the request.
    pub(super) fn may_match(&self, index: usize, query: usize, game: usize) -> bool {
        self.games.is_none_or(|games| games(index, query, game))
    }

    /// Removes the unwanted hits of a query.
    pub(super) fn select(&self, index: usize, block: &Block, query: usize, hits: &mut Hits) {
        if let Some(select) = self.select {
            select.select(index, block, query, hits);
        }
    }
}

/// The answers of a query on one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers {
    /// The hits, with their values if these were requested.
    pub hits: Hits,
    /// The copies (transformed patterns) that match at the hits, if they were requested.
    pub copies: Option<CopyHits>,
    /// For a query about whole games, the answer for each game of the block. `None` for any other query, which finds
    /// the games that have a hit.
    pub games: Option<Vec<GameAnswer>>,
    /// The output of the query, if it was requested and the engine can compute it.
    pub commentary: Option<Commentary>,
    /// The spans of the hits, if they were requested and the engine can compute them. They may include spans of hits
    /// that were not kept.
    pub spans: Option<Spans>,
}

impl Answers {
    /// Creates the answers of a query that is not about whole games.
    pub fn new(hits: Hits, copies: Option<CopyHits>) -> Answers {
        Answers { hits, copies, games: None, commentary: None, spans: None }
    }

    /// Returns true if the query finds a game of the block.
    pub fn finds(&self, game: &GameRow) -> bool {
        match &self.games {
            Some(games) => games[game.index()].is_found,
            None => self.hits.any_in(game.slots()),
        }
    }

    /// Returns the copies (transformed patterns) that match at each hit; `None` if there is only one copy, or if they
    /// were not requested.
    pub fn hit_copies(&self) -> Option<&CopyHits> {
        self.copies.as_ref().filter(|copies| copies.tells_copies())
    }

    /// Returns the record of the sides whose pieces form the pattern of a matching copy at each hit; `None` if it does
    /// not exist. See [`CopyHits::sides`].
    pub fn hit_sides(&self) -> Option<&CopyHits> {
        self.copies.as_ref().filter(|copies| copies.tells_sides())
    }

    /// Adds the sort keys in `told` to the ranks of the games. The new keys are compared before those that the ranks
    /// already contain.
    pub fn sort_by(&mut self, block: &Block, told: Vec<GameAnswer>) {
        let of_game = |game: GameRow| GameAnswer::from_count(self.hits.count_in(game.slots()) as u32);
        let games = self.games.get_or_insert_with(|| block.games().map(of_game).collect());
        for (game, told) in games.iter_mut().zip(told) {
            let rest = std::mem::replace(&mut game.rank, told.rank);
            game.rank.extend(&rest);
        }
    }

    /// Returns the number of games of the block that the query finds. `ends` are the ends of the games.
    pub fn count_games(&self, ends: &GameEnds) -> u64 {
        match &self.games {
            Some(games) => games.iter().filter(|game| game.is_found).count() as u64,
            None => self.hits.games(ends),
        }
    }
}
