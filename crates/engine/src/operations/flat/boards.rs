//! The positions of a game. All of them are replayed when the first one is needed.

use crate::operations::{BlockGames, tree::NodeRange};
use orbit_core::board::Position;
use orbit_reel::{SEGMENT_SLOTS, replay::SegmentColumns};

/// The positions of the current game, about 40 bytes for each node; empty until one of them is needed.
#[derive(Default)]
pub(super) struct Boards {
    of: Vec<Position>,
}

impl Boards {
    /// Prepares for a new game.
    pub(super) fn begin(&mut self) {
        self.of.clear();
    }

    pub(super) fn at(&mut self, nodes: NodeRange<'_>, games: &BlockGames<'_>, node: usize) -> Position {
        if self.of.is_empty() {
            let slots = nodes.slot(0)..nodes.slot(nodes.len());
            let mut columns = SegmentColumns::new();
            for segment in nodes.segments() {
                columns.replay(games.block, segment);
                let first = segment * SEGMENT_SLOTS;
                let here = (first..first + SEGMENT_SLOTS).filter(|slot| slots.contains(slot));
                self.of.extend(here.map(|slot| columns.position(slot - first)));
            }
        }
        self.of[node]
    }
}
