//! Implements [`GameFacts`], the interface through which filters read data about a game, for the games of a reel.

use super::GameRow;
use orbit_core::record::{Annotation, GameFacts, Outcome};

impl GameFacts for GameRow<'_> {
    fn number(&self) -> u32 {
        GameRow::number(self)
    }

    fn outcome(&self) -> Outcome {
        GameRow::outcome(self)
    }

    fn tag(&self, name: &str) -> Option<&[u8]> {
        GameRow::tag(self, name)
    }

    fn is_swapped(&self) -> bool {
        GameRow::is_swapped(self)
    }

    fn annotations(&self) -> &[Annotation] {
        GameRow::annotations(self)
    }
}
