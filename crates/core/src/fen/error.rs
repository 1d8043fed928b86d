//! What is wrong with a FEN.

/// A field of a FEN or EPD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Field {
    /// All of it: there is nothing.
    Whole,
    /// What stands on the board, and pockets.
    Placement,
    /// The side to move.
    Turn,
    /// Castling rights.
    Castling,
    /// The en passant square.
    EnPassant,
    /// Counters, remaining checks, and what is none of the fields.
    Rest,
}

/// The first thing that is wrong with a FEN, and its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}: {label}")]
#[non_exhaustive]
pub struct FenError {
    /// The field that is wrong.
    pub field: Field,
    /// The first byte of what is wrong.
    pub start: usize,
    /// The byte after what is wrong; one past the end of the line where something is missing there.
    pub end: usize,
    /// What was found.
    pub message: String,
    /// What was expected.
    pub label: &'static str,
}

impl FenError {
    pub(super) fn new(
        field: Field,
        (start, end): (usize, usize),
        message: impl Into<String>,
        label: &'static str,
    ) -> FenError {
        FenError { field, start, end, message: message.into(), label }
    }
}
