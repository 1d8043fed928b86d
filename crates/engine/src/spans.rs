//! Spans: the positions and moves that make up a hit (match), such as those of a line, a path, a move or a found
//! position.
//!
//! Spans never change the positions at which a query matches. They are computed only for hits, and only on request.

use std::{fmt, sync::Arc};

use super::{CopyHits, Hits, MatchSpan};
use orbit_reel::{Block, GameRow};

/// A finder of the spans of one query's hits in one block.
pub trait FindSpan: fmt::Debug {
    /// Returns the span of the hit at a node of a game, or `None` if no filter that has a span matched. `found`
    /// contains the hits of the query and, if they are known, the copies that match at them.
    fn span(&self, found: (&Hits, Option<&CopyHits>), game: &GameRow, node: u32) -> Option<Arc<MatchSpan>>;
}

/// The hits of one game: the numbers of their positions in ascending order, each with its span.
pub(super) type GameSpans = Vec<(u32, Option<Arc<MatchSpan>>)>;

/// Returns the span of the hit at a node, if there is one.
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
    /// Returns the spans of all hits in a block, as found by `by`.
    pub fn told(by: &dyn FindSpan, (hits, copies): (&Hits, Option<&CopyHits>), block: &Block) -> Spans {
        let mut out = Spans::default();
        for game in block.games() {
            let first = game.first_slot();
            let node = |slot| (slot - first) as u32;
            let told = |slot| (node(slot), by.span((hits, copies), &game, node(slot)));
            out.push(game.index(), hits.slots(first..game.end_slot()).map(told).collect());
        }
        out
    }

    /// Adds the spans of the hits of the next game.
    pub(super) fn push(&mut self, game: usize, hits: GameSpans) {
        if !hits.is_empty() {
            self.games.push((game as u32, hits));
        }
    }
}

impl FindSpan for Spans {
    fn span(&self, _: (&Hits, Option<&CopyHits>), game: &GameRow, node: u32) -> Option<Arc<MatchSpan>> {
        let at = self.games.binary_search_by_key(&(game.index() as u32), |(game, _)| *game).ok()?;
        of_hit(&self.games[at].1, node)
    }
}
