//! Defines the trait [`GameHeader`], through which facts about a game are read.

use crate::board::Position;

/// The header of a game: its tags and its start position.
pub trait GameHeader {
    /// Returns the tags as pairs of name and value, in the order of the file and with unchanged bytes.
    fn tags(&self) -> impl Iterator<Item = (&[u8], &[u8])>;

    /// Returns the position with which the game begins.
    fn start(&self) -> Position;

    /// Returns the value of the first tag with exactly this name. This is CQL's rule for tag names.
    fn tag_as_cql(&self, name: &str) -> Option<&[u8]> {
        self.tags().find(|(found, _)| *found == name.as_bytes()).map(|(_, value)| value)
    }

    /// Returns the value of the first tag with this name, ignoring case. All code except the query language follows this rule.
    fn tag_named(&self, name: &str) -> Option<&[u8]> {
        self.tags().find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }
}
