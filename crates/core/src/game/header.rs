//! What facts are read from.

use crate::board::Position;

/// The header of a game: its tags and the position that it begins with.
pub trait GameHeader {
    /// All tags in the order of the file, name and value, bytes as found.
    fn tags(&self) -> impl Iterator<Item = (&[u8], &[u8])>;

    /// The position at ply 0.
    fn start(&self) -> Position;

    /// The value of the first tag whose name is spelt so: the rule of CQL.
    fn tag_as_cql(&self, name: &str) -> Option<&[u8]> {
        self.tags().find(|(found, _)| *found == name.as_bytes()).map(|(_, value)| value)
    }

    /// The value of the first tag of that name, whatever the case of its letters: the rule of everything else.
    fn tag_named(&self, name: &str) -> Option<&[u8]> {
        self.tags().find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }
}
