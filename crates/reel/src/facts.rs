//! Implements [`GameFacts`] for the games of a reel. Filters read data about games through this trait.

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
