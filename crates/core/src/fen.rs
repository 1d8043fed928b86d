//! FEN and EPD as text: one reader, whose leniencies have names, and one writer.
//!
//! | who reads | what | with |
//! |---|---|---|
//! | `orbit transform` | a FEN or EPD, faults with their places | [`FenRecord::read`]: variants, operations |
//! | games of PGN | the tag `FEN`, and the positions of lists | [`FenRecord::read`]: rights that make no sense, any rest |
//! | lists of positions | what is a position of a line and what is an operation | [`ListLine`], [`is_position`] |
//! | a reel's tags, numbers of moves | the counters | [`counters`] |
//! | boards to search for and to draw, with letters of their own | the squares | [`ranks()`] |
//!
//! Knows squares and positions, nothing of games, queries or files. The invariant: text written by [`FenRecord::write`] is read
//! as the same position, except for castling rights that no FEN can express, which it reports.
//!
//! This is a reader of our own, since [`shakmaty::fen`] does not report the place of an error, fills in missing fields, and
//! refuses EPD. Tests verify that both read and write the lines that both accept in the same way.

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
/// counters. Fields may be missing from the right, underscores may replace blanks, and the side to move may be a capital.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenRecord<'l> {
    /// The position. Missing fields are those of `8/8/8/8/8/8/8/8 w - - 0 1`.
    pub setup: Setup,
    /// The number of fields present, of the six fields of standard chess.
    fields: usize,
    /// The castling field as it is written; empty if it is missing.
    pub castling: &'l [u8],
    /// The en passant field as it is written; empty if it is missing.
    pub en_passant: &'l [u8],
    /// The operations of an EPD, unchanged.
    pub operations: &'l [u8],
}

/// The extensions that a reader accepts beyond the fields of standard chess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leniency {
    /// The fields of variants: pockets as `[QNp]` or as a ninth rank, remaining checks (`2+3`, or checks given `+1+0`)
    /// after the en passant square or at the end.
    pub variants: bool,
    /// Operations of an EPD after the other fields.
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

    /// Makes a FEN with the first four fields, without counters.
    pub fn without_counters(setup: Setup) -> FenRecord<'static> {
        FenRecord { fields: 4, ..FenRecord::new(setup) }
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'_' | b'\t' | b'\r' | b'\n' | b'\x0c')
}

/// Iterates over the words of a line; yields the range of each.
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
