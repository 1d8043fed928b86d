//! The source from which facts about a game are read.

use crate::board::Position;

/// The header of a game: its tags and its start position.
pub trait GameHeader {
    /// Returns all tags in the order of the file, as name and value, bytes unchanged.
    fn tags(&self) -> impl Iterator<Item = (&[u8], &[u8])>;

    /// Returns the position at ply 0.
    fn start(&self) -> Position;

    /// Returns the value of the first tag with exactly this name: the rule of CQL.
    fn tag_as_cql(&self, name: &str) -> Option<&[u8]> {
        self.tags().find(|(found, _)| *found == name.as_bytes()).map(|(_, value)| value)
    }

    /// Returns the value of the first tag of that name, whatever the case of its letters: the rule everywhere else.
    fn tag_named(&self, name: &str) -> Option<&[u8]> {
        self.tags().find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }
}
