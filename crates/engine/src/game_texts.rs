//! Texts with one value for each game, such as tags, in the form in which queries compare them.

use orbit_core::game::{player_as_cql, tag_as_cql, tags};
use orbit_plan::TagText;
use orbit_reel::GameRow;

/// Returns the value of a text, such as a tag, for a game, or `None` if the game has no such value.
pub(super) fn text_of_game(text: &TagText, game: &GameRow) -> Option<Vec<u8>> {
    match text {
        TagText::Literal(text) => Some(text.clone().into_bytes()),
        TagText::Name(text) => Some(tags::name_as_cql(text.as_bytes())),
        TagText::Tag(name) => tag_as_cql(game, name),
        TagText::Player(side) => player_as_cql(game, *side),
    }
}
