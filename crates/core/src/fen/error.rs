//! Errors in a FEN.

/// A field of a FEN or EPD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Field {
    /// The whole FEN, if it is empty.
    Whole,
    /// The placement of the pieces, including the pockets of a variant.
    Placement,
    /// The side to move.
    Turn,
    /// Castling rights.
    Castling,
    /// The en passant square.
    EnPassant,
    /// Counters, remaining checks, and any text outside the fields.
    Rest,
}

/// The first error in a FEN, and its place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}: {label}")]
#[non_exhaustive]
pub struct FenError {
    /// The field with the error.
    pub field: Field,
    /// The offset of the first faulty byte in the line.
    pub start: usize,
    /// The offset after the last faulty byte. If the FEN ends too early, this is one more than the length of the line.
    pub end: usize,
    /// A description of the faulty text: `rank 2 has 7 squares`.
    pub message: String,
    /// The text that was expected, in words.
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
