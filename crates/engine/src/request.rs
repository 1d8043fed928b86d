//! What a run asks an engine for, and what it gets.

use super::{Commentary, CopyHits, GameAnswer, GameEnds, Hits, Interrupt, Spans, Wants};
use orbit_reel::{Block, GameRow};

/// Which hits are to be kept.
pub trait Select: Sync {
    /// Takes hits of a query away. `index` is the place of the block among those that are evaluated together.
    fn select(&self, index: usize, block: &Block, query: usize, hits: &mut Hits);
}

impl<F: Fn(usize, &Block, usize, &mut Hits) + Sync> Select for F {
    fn select(&self, index: usize, block: &Block, query: usize, hits: &mut Hits) {
        self(index, block, query, hits);
    }
}

/// What is wanted of some queries on some blocks.
#[derive(Clone, Copy)]
pub struct BlockRequest<'a> {
    /// Of each query, in their order.
    pub outputs: &'a [Wants],
    /// Which hits are kept; `None` for all. Values and copies are those of hits that are kept.
    pub select: Option<&'a dyn Select>,
    /// In which games a query can match at all, as far as that is known; `None` for all. Engines that evaluate a query
    /// game by game pass over the others.
    pub games: Option<&'a (dyn Fn(usize, usize, usize) -> bool + Sync)>,
    /// The number of the last game of the database, if a query asks for it.
    pub last_game: Option<u32>,
    /// The switch that ends the evaluation early; `None` for none.
    pub interrupt: Option<&'a Interrupt>,
}

impl<'a> BlockRequest<'a> {
    /// Asks for something at all hits.
    pub fn all(outputs: &'a [Wants]) -> BlockRequest<'a> {
        BlockRequest { outputs, select: None, games: None, last_game: None, interrupt: None }
    }

    /// The switch that ends the evaluation.
    pub(super) fn switch(&self) -> Interrupt {
        self.interrupt.cloned().unwrap_or_default()
    }

    /// Whether a query may match in a game of the block at place `index`.
    pub(super) fn may_match(&self, index: usize, query: usize, game: usize) -> bool {
        self.games.is_none_or(|games| games(index, query, game))
    }

    /// Takes the hits away that are not to be kept.
    pub(super) fn select(&self, index: usize, block: &Block, query: usize, hits: &mut Hits) {
        if let Some(select) = self.select {
            select.select(index, block, query, hits);
        }
    }
}

/// What a query answers on one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers {
    /// The hits, with the values at these if they were wanted.
    pub hits: Hits,
    /// The copies that match at these hits, as far as they were wanted.
    pub copies: Option<CopyHits>,
    /// What it says of each game of the block, of a query that is asked of whole games. Other queries find the games in
    /// which there is a hit.
    pub games: Option<Vec<GameAnswer>>,
    /// What the query writes, if that was wanted and the engine can tell it.
    pub commentary: Option<Commentary>,
    /// What its hits consist of, if that was wanted and the engine can tell it; of hits that were not kept as well.
    pub spans: Option<Spans>,
}

impl Answers {
    /// The answer of a query that says nothing of whole games.
    pub fn new(hits: Hits, copies: Option<CopyHits>) -> Answers {
        Answers { hits, copies, games: None, commentary: None, spans: None }
    }

    /// Whether a game of the block is found.
    pub fn finds(&self, game: &GameRow) -> bool {
        match &self.games {
            Some(games) => games[game.index()].is_found,
            None => self.hits.slots(game.slots()).next().is_some(),
        }
    }

    /// Lets what was told of the games that are found decide in which order they come, before anything else that does.
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

    /// How many games of the block are found, whose games end at `ends`.
    pub fn games_found(&self, ends: &GameEnds) -> u64 {
        match &self.games {
            Some(games) => games.iter().filter(|game| game.is_found).count() as u64,
            None => self.hits.games(ends),
        }
    }
}
