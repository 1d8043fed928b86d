//! Some games of a block as one of their sides sees them.

use super::block::Block;
use super::builder::BlockBuilder;
use orbit_core::board::Color;

impl Block {
    /// The games of which a side is given, in their order and with their numbers. Where that is Black, the sides have
    /// changed places, so that White is the side that was given: see [`Game::colors_swapped`](orbit_pgn::Game::colors_swapped).
    #[must_use]
    pub fn seen_by(&self, sides: &[Option<Color>]) -> Block {
        let mut builder = BlockBuilder::with_source_games(&self.source_games);
        for row in self.games() {
            match sides[row.index()] {
                None => {}
                Some(Color::White) => builder.push_row(row),
                Some(Color::Black) => builder.push_row_as(row, &row.to_game().colors_swapped()),
            }
        }
        Block { games_before: self.games_before, ..builder.finish() }
    }
}
