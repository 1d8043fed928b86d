//! Errors in a FEN.

/// A field of a FEN or EPD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Field {
    /// The whole FEN: it is empty.
    Whole,
    /// The placement, and pockets.
    Placement,
    /// The side to move.
    Turn,
    /// Castling rights.
    Castling,
    /// The en passant square.
    EnPassant,
    /// Counters, remaining checks, and everything that is no field.
    Rest,
}

/// The first error in a FEN, and its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}: {label}")]
#[non_exhaustive]
pub struct FenError {
    /// The field with the error.
    pub field: Field,
    /// The first byte of the error.
    pub start: usize,
    /// The byte after the error; one past the end of the line if something is missing there.
    pub end: usize,
    /// The text that was found.
    pub message: String,
    /// The text that was expected.
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
