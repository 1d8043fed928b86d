//! Selects games of a block, and swaps the colours of each game that is to be seen from Black's side.

use super::block::Block;
use super::builder::BlockBuilder;
use orbit_core::board::Color;

impl Block {
    /// Returns a block with those games for which `sides` contains a side; `sides` has one entry for each game. Order and numbers
    /// of the games are unchanged. If the side is Black, the colours are swapped, so the given side is always White in the result;
    /// see [`Game::colors_swapped`](orbit_pgn::Game::colors_swapped).
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
