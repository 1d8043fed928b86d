//! The strings that are constant in a game, as queries read them.

use orbit_core::game::{player_as_cql, tag_as_cql, tags};
use orbit_plan::TagText;
use orbit_reel::GameRow;

/// Returns a string that is constant in a game, if it has a value.
pub(super) fn text_of_game(text: &TagText, game: &GameRow) -> Option<Vec<u8>> {
    match text {
        TagText::Literal(text) => Some(text.clone().into_bytes()),
        TagText::Name(text) => Some(tags::name_as_cql(text.as_bytes())),
        TagText::Tag(name) => tag_as_cql(game, name),
        TagText::Player(side) => player_as_cql(game, *side),
    }
}
