//! Choosing among what a query hits: which games count, which hits of a game, and which games come first.
//!
//! A [`Choice`] is applied to the hits of a block on any thread. An [`Order`] ranks games, a [`Top`] keeps the best of
//! them. The invariant: what is chosen depends on the games and their hits alone, never on threads, blocks or
//! files.

mod condition;
mod order;

pub use condition::{Condition, ConditionError};
pub use order::{Order, SortKey, Top, chance};

use crate::engine::Hits;
use crate::reel::Block;
use crate::run::needs::Needs;

/// Which games count, and which of their hits.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// What must be true of a game; all of them.
    pub conditions: Vec<Condition>,
    /// Whether only the first hit of each game counts.
    pub first: bool,
}

impl Choice {
    /// What has to be known of games to choose among them.
    pub fn needs(&self) -> Needs {
        self.conditions.iter().map(Condition::needs).collect()
    }

    /// For each game of a block, whether it counts; `None` if all do.
    pub fn games(&self, block: &Block) -> Option<Vec<bool>> {
        let holds = |game| self.conditions.iter().all(|condition| condition.holds(&game));
        (!self.conditions.is_empty()).then(|| block.games().map(holds).collect())
    }

    /// Takes away the hits that do not count. `games` is what [`Choice::games`] gave for this block.
    pub fn apply(&self, block: &Block, games: Option<&[bool]>, hits: &mut Hits) {
        if games.is_none() && !self.first {
            return;
        }
        for game in block.games() {
            let (first, end) = (game.first_slot(), game.end_slot());
            if games.is_some_and(|games| !games[game.index()]) {
                hits.clear(first..end);
            } else if self.first {
                let hit = hits.slots(first..end).next();
                hit.iter().for_each(|hit| hits.clear(hit + 1..end));
            }
        }
    }
}
