//! Tests transforms of square sets, boards and positions.
//!
//! * `against_chessops`: comparison with the results of chessops for 10,000 random positions.
//! * `chessops`: the functions of chessops, implemented with those of orbit.
//! * `documentation`: every statement and sample in the chessops documentation, and the table of square sets in the CQL 5 manual.
//! * `fen`: reading and writing FEN, compared with shakmaty; errors and their spans; random bytes.
//! * `whole`: colours, symmetry, canonical form, and pieces that are moved off the board.

mod against_chessops;
mod chessops;
mod documentation;
mod fen;
mod random;
mod whole;

use orbit_core::board::{Bitboard, Square};
use orbit_core::fen::{FenError, FenRecord, Leniency};
use orbit_core::positions::{Setup, Transform, names};

/// Returns the set that a string describes.
fn set(text: &str) -> Bitboard {
    text.split_whitespace().map(|square| square.parse::<Square>().unwrap()).collect()
}

/// Returns the transform of the given name.
fn named(name: &str) -> Transform {
    let steps = names::parse(name, names::Shifts::Cql6).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(steps.len(), 1, "{name}");
    steps[0].transform
}

/// Parses a FEN or EPD, which may have the additional fields of variants.
fn read(line: &[u8]) -> Result<FenRecord<'_>, FenError> {
    FenRecord::read(line, Leniency { variants: true, operations: true, ..Leniency::NONE })
}

fn setup(fen: &str) -> Setup {
    read(fen.as_bytes()).unwrap_or_else(|error| panic!("{fen}: {error}")).setup
}

/// Returns a position after a sequence of transforms, as a FEN.
fn moved(names: &str, fen: &str) -> String {
    let mut record = read(fen.as_bytes()).unwrap_or_else(|error| panic!("{fen}: {error}"));
    for step in names::parse(names, names::Shifts::Cql6).unwrap() {
        record.setup = step.transform.setup(&record.setup).unwrap();
    }
    record.to_string()
}
