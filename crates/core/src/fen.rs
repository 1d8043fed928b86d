//! Reads and writes FEN and EPD. One reader serves all callers. Its argument [`Leniency`] selects the extensions of the standard
//! that it accepts.
//!
//! | reader | input | function, and its leniency |
//! |---|---|---|
//! | `orbit transform` | a FEN or EPD; faults are reported with their places | [`FenRecord::read`]: variants, operations |
//! | the reader of games | the tag `FEN`, positions in lists | [`FenRecord::read`]: unclear rights, any text after the position |
//! | the reader of position lists | a line with a position, counters and operations | [`ListLine`], [`is_position`] |
//! | the tags of a reel, the numbering of moves | the counters | [`counters`] |
//! | boards to search for or to draw, with letters that are not pieces | the squares | [`ranks()`] |
//!
//! This module works on squares and positions, and does not depend on games, queries or files. Invariant: reading the text of
//! [`FenRecord::write`] returns the position that was written. The exceptions are castling rights that no FEN can express; `write`
//! reports them.
//!
//! The reader of [`shakmaty::fen`] is not used: it does not report the place of an error, fills in missing fields, and refuses EPD.
//! Tests verify that shakmaty and this module agree on all lines that both accept.

mod error;
mod list;
mod ranks;
mod read;
mod rights;
mod write;

use shakmaty::Setup;

pub use error::{FenError, Field};
pub use list::{ListLine, counters, is_position};
pub use ranks::{RankText, Symbol, ranks};
pub use rights::possible_en_passant;
pub use write::{RookLetters, board_text};

/// The letters of pieces, indexed by 2 * role + colour.
const LETTERS: &[u8; 12] = b"pPnNbBrRqQkK";

/// A FEN or the beginning of an EPD.
///
/// Its fields are placement (`~` after promoted pieces), side to move, castling (`KQkq` or files), en passant square and two
/// counters. The last fields may be missing, underscores may replace blanks, and the side to move may be a capital letter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenRecord<'l> {
    /// The position. Missing fields have the values of `8/8/8/8/8/8/8/8 w - - 0 1`.
    pub setup: Setup,
    /// The number of fields that the line has, at most the six fields of standard chess.
    fields: usize,
    /// The castling field as written; empty if the line has none.
    pub castling: &'l [u8],
    /// The en passant field as written; empty if the line has none.
    pub en_passant: &'l [u8],
    /// The operations of an EPD, unchanged.
    pub operations: &'l [u8],
}

/// The extensions that a reader of FEN accepts beyond the fields of standard chess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leniency {
    /// Accepts the fields of chess variants: pockets as `[QNp]` or as a ninth rank, and the remaining checks (`2+3`) or the
    /// checks given (`+1+0`) after the en passant square or at the end.
    pub variants: bool,
    /// Accepts EPD operations after the other fields.
    pub operations: bool,
    /// Treats an unreadable castling or en passant field as `-`; otherwise it is an error.
    pub unclear_rights: bool,
    /// Ignores everything after the en passant field.
    pub any_rest: bool,
}

impl Leniency {
    /// Accepts the fields of standard chess and nothing else.
    pub const NONE: Leniency =
        Leniency { variants: false, operations: false, unclear_rights: false, any_rest: false };
}

impl FenRecord<'static> {
    /// Makes a FEN with all six fields.
    pub fn new(setup: Setup) -> FenRecord<'static> {
        FenRecord { setup, fields: 6, castling: b"", en_passant: b"", operations: b"" }
    }

    /// Creates a FEN that has only the first four fields, without the counters.
    pub fn without_counters(setup: Setup) -> FenRecord<'static> {
        FenRecord { fields: 4, ..FenRecord::new(setup) }
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'_' | b'\t' | b'\r' | b'\n' | b'\x0c')
}

/// An iterator over the fields of a line, which are separated by blanks. Yields the start and end offsets of each field.
struct FenWords<'l> {
    line: &'l [u8],
    at: usize,
}

impl Iterator for FenWords<'_> {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        let rest = &self.line[self.at..];
        let start = self.at + rest.iter().position(|&byte| !is_blank(byte))?;
        let len = self.line[start..].iter().position(|&byte| is_blank(byte));
        self.at = len.map_or(self.line.len(), |len| start + len);
        Some((start, self.at))
    }
}
