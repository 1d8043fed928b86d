//! Spans: the positions and moves that make up a hit (match) of a filter such as `line`, `path`, `--`, `find` or
//! `echo`.
//!
//! Spans never change the positions at which a query matches. They are computed only for hits, and only on request.

use std::{fmt, sync::Arc};

use super::{Answers, MatchSpan};
use orbit_reel::{Block, GameRow};

/// A span finder for one query's hits in one block.
pub trait FindSpan: fmt::Debug + Send + Sync {
    /// Returns the span of the hit at a node (position) of a game, or `None` if no filter with a span matched.
    /// `answers` are the query's answers on the block.
    fn span(&self, answers: &Answers, game: &GameRow, node: u32) -> Option<Arc<MatchSpan>>;
}

/// The hits of one game: the numbers of their positions in ascending order, each with its span.
pub(super) type GameSpans = Vec<(u32, Option<Arc<MatchSpan>>)>;

/// Returns the span of the hit at a node (position), if there is one.
pub(super) fn of_hit(spans: &GameSpans, node: u32) -> Option<Arc<MatchSpan>> {
    let at = spans.binary_search_by_key(&node, |(node, _)| *node).ok()?;
    spans[at].1.clone()
}

/// The spans that an engine computed together with the hits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spans {
    /// The games with hits, by their indices in the block, in ascending order.
    games: Vec<(u32, GameSpans)>,
}

impl Spans {
    /// Collects the spans of all hits of a block, with `by` as their finder.
    pub fn told(by: &dyn FindSpan, answers: &Answers, block: &Block) -> Spans {
        let mut out = Spans::default();
        for game in block.games() {
            let first = game.first_slot();
            let node = |slot| (slot - first) as u32;
            let told = |slot| (node(slot), by.span(answers, &game, node(slot)));
            out.push(game.index(), answers.hits.slots(game.slots()).map(told).collect());
        }
        out
    }

    /// Converts spans that were found in a part of a block to spans of the whole block. `index` maps the index of a
    /// game to its index in the whole block. The order of games must not change.
    pub fn put_back(&mut self, index: impl Fn(u32) -> u32) {
        self.games.iter_mut().for_each(|(game, _)| *game = index(*game));
    }

    /// Adds the spans of the hits of the next game.
    pub(super) fn push(&mut self, game: usize, hits: GameSpans) {
        if !hits.is_empty() {
            self.games.push((game as u32, hits));
        }
    }
}

impl FindSpan for Spans {
    fn span(&self, _: &Answers, game: &GameRow, node: u32) -> Option<Arc<MatchSpan>> {
        let at = self.games.binary_search_by_key(&(game.index() as u32), |(game, _)| *game).ok()?;
        of_hit(&self.games[at].1, node)
    }
}
