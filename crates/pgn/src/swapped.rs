//! Swaps the two sides of a game.

use super::game::{Game, Tag};
use orbit_core::board::Position;

impl Game {
    /// Returns the game with the sides swapped: its positions, moves, side lines and result, and the tags of one side, such as
    /// `White` and `WhiteElo`. Comments are unchanged.
    #[must_use]
    pub fn colors_swapped(mut self) -> Game {
        self.start = Some(self.start.unwrap_or(Position::STANDARD).colors_swapped());
        let moves = self.moves.iter_mut().chain(self.lines.iter_mut().flat_map(|line| &mut line.moves));
        moves.for_each(|mv| *mv = mv.colors_swapped());
        self.positions.iter_mut().for_each(|position| *position = position.colors_swapped());
        self.tags.iter_mut().for_each(swap_tag);
        self.outcome = self.outcome.colors_swapped();
        self.is_swapped = !self.is_swapped;
        self
    }
}

/// Swaps the sides in a tag: in names that begin with `White` or `Black`, and in the value of `Result`.
fn swap_tag(tag: &mut Tag) {
    let begins = |side: &[u8]| tag.name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(side));
    let other: Option<&[u8]> = match () {
        () if begins(b"White") => Some(b"Black"),
        () if begins(b"Black") => Some(b"White"),
        () => None,
    };
    if let Some(other) = other {
        tag.name.splice(..5, other.iter().copied());
    }
    if tag.name.eq_ignore_ascii_case(b"Result") {
        match &*tag.value {
            b"1-0" => tag.value = b"0-1".to_vec(),
            b"0-1" => tag.value = b"1-0".to_vec(),
            _ => {}
        }
    }
}
