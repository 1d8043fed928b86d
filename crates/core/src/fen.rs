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
//! Knows squares and positions, nothing of games, queries or files. The invariant: what [`FenRecord::write`] writes is
//! read as the same position, but for castling rights that no FEN can tell, of which it says so.
//!
//! A reader of our own, since [`shakmaty::fen`] does not say where a FEN is wrong, fills up fields that are
//! missing, and refuses EPD. What both accept they read alike, and write alike: tests compare.

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

/// Pieces as 2 * role + colour.
const LETTERS: &[u8; 12] = b"pPnNbBrRqQkK";

/// A FEN or the beginning of an EPD.
///
/// Its fields are placement (`~` after promoted pieces), side to move, castling (`KQkq` or files), en passant square and
/// two counters. Fields from the right may be missing, blanks may be underscores, sides to move capitals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenRecord<'l> {
    /// The position. Fields that are missing are those of `8/8/8/8/8/8/8/8 w - - 0 1`.
    pub setup: Setup,
    /// How many of the six fields of plain chess there are.
    fields: usize,
    /// The castling field as it is written; empty where it is missing.
    pub castling: &'l [u8],
    /// The en passant field as it is written; empty where it is missing.
    pub en_passant: &'l [u8],
    /// Operations of an EPD, as they are.
    pub operations: &'l [u8],
}

/// What a reader takes beyond the fields of plain chess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leniency {
    /// The fields of variants: pockets as `[QNp]` or as a ninth rank, remaining checks (`2+3`, or checks given `+1+0`)
    /// after the en passant square or at the end.
    pub variants: bool,
    /// Operations of an EPD after the other fields.
    pub operations: bool,
    /// A castling field or en passant field that cannot be read stands for none; without this it is a fault.
    pub unclear_rights: bool,
    /// What follows the en passant field is passed over, whatever it is.
    pub any_rest: bool,
}

impl Leniency {
    /// The fields of plain chess and nothing else.
    pub const NONE: Leniency =
        Leniency { variants: false, operations: false, unclear_rights: false, any_rest: false };
}

impl FenRecord<'static> {
    /// A FEN of all six fields.
    pub fn new(setup: Setup) -> FenRecord<'static> {
        FenRecord { setup, fields: 6, castling: b"", en_passant: b"", operations: b"" }
    }

    /// The first four fields, without counters.
    pub fn without_counters(setup: Setup) -> FenRecord<'static> {
        FenRecord { fields: 4, ..FenRecord::new(setup) }
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'_' | b'\t' | b'\r' | b'\n' | b'\x0c')
}

/// The words of a line; each `next` gives the range of one.
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
