//! The values of filters and variables in the reference engine.

use shakmaty::Bitboard;

use orbit_query::tree::{Cell, CellValues};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Value {
    Bool(bool),
    Set(Bitboard),
    Num(Option<i32>),
    Str(Option<Vec<u8>>),
    Position(Option<i32>),
}

/// Selects the types in which this engine stores variables: computed values, not nodes of a plan (compiled query).
#[derive(Clone, Debug)]
pub(super) enum Evaluated {}

impl CellValues for Evaluated {
    type Squares = Bitboard;
    type Number = i32;
    type Text = Vec<u8>;
    /// The number of a node.
    type Position = i32;
}

/// Returns the text for a set of squares, such as `[a1,b2]`. A single square has no brackets.
pub(super) fn squares_text(squares: Bitboard) -> Vec<u8> {
    let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
    match &names[..] {
        [one] => one.clone().into_bytes(),
        _ => format!("[{}]", names.join(",")).into_bytes(),
    }
}

pub(super) fn cell_text(cell: &Cell<Evaluated>) -> Vec<u8> {
    match cell {
        Cell::Unbound => Vec::new(),
        Cell::Squares(squares) => squares_text(*squares),
        Cell::Number(number) | Cell::Position(number) => number.to_string().into_bytes(),
        Cell::Text(text) => text.clone(),
    }
}
