//! FEN as text, with the fields of variants, read and written at millions a second.
//!
//! A reader of our own, since [`shakmaty::fen`] does not say where a FEN is wrong, fills up fields that are
//! missing, and refuses EPD. What both accept they read alike, and write alike: tests compare.

mod read;
mod write;

use std::fmt;
use std::num::NonZeroU32;

use shakmaty::{RemainingChecks, Setup};

use crate::board::Bitboard;
use crate::diagnostic::{Diagnostic, Span};

/// Pieces as 2 * role + colour.
const LETTERS: &[u8; 12] = b"pPnNbBrRqQkK";

/// One line of FEN or EPD.
///
/// Read are placement (`~` after promoted pieces, pockets as `[QNp]` or as a ninth rank), side to move,
/// castling (`KQkq` or files), en passant square, remaining checks (`2+3`, or checks given `+1+0`, after the en
/// passant square or at the end), both counters. Fields from the right may be missing, blanks may be
/// underscores. What follows is kept as it is: operations of an EPD.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FenRecord<'l> {
    /// The position. Fields that are missing are those of `8/8/8/8/8/8/8/8 w - - 0 1`.
    pub setup: Setup,
    /// How many of the six fields of plain chess there are.
    fields: usize,
    /// Operations of an EPD, as they are.
    pub operations: &'l [u8],
}

type Read<T> = Result<T, Diagnostic>;

impl FenRecord<'static> {
    /// A FEN of all six fields.
    pub fn new(setup: Setup) -> FenRecord<'static> {
        FenRecord { setup, fields: 6, operations: &[] }
    }
}

impl<'l> FenRecord<'l> {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its place.
    ///
    /// ```
    /// use orbit_chess::positions::FenRecord;
    /// let error = FenRecord::read(b"8/8/8/44/8/8/7/8 w - -").unwrap_err();
    /// assert_eq!(error.message, "rank 2 has 7 squares");
    /// assert_eq!(error.span.start, 13);
    /// ```
    pub fn read(line: &'l [u8]) -> Read<FenRecord<'l>> {
        let start = line.iter().position(|&byte| !is_blank(byte)).ok_or_else(|| {
            wrong(0, 1, "the FEN is empty", "expected eight ranks such as `8/8/8/8/8/8/8/4K2k`")
        })?;
        let mut setup = Setup::empty();
        let mut words = Words { line, at: read::placement(line, start, &mut setup)? };
        let mut fields = 1;
        if let Some(at) = words.next() {
            setup.turn = read::turn(line, at)?;
            fields = 2;
        }
        if let Some(at) = words.next() {
            setup.castling_rights = read::castling(line, at, &setup.board)?;
            fields = 3;
        }
        if let Some(at) = words.next() {
            setup.ep_square = read::passed(line, at)?;
            fields = 4;
        }
        let mut operations = line.len();
        while let Some((start, end)) = words.next() {
            let word = &line[start..end];
            match word[0] {
                _ if fields != 5 && setup.remaining_checks.is_none() && word.contains(&b'+') => {
                    setup.remaining_checks = Some(read::checks(line, (start, end))?);
                }
                b'0'..=b'9' if fields == 4 => {
                    setup.halfmoves = read::number(line, (start, end))?;
                    fields = 5;
                }
                b'0'..=b'9' if fields == 5 => {
                    let number = read::number(line, (start, end))?;
                    setup.fullmoves = NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
                    fields = 6;
                }
                b'A'..=b'Z' | b'a'..=b'z' => {
                    operations = start;
                    break;
                }
                _ => {
                    let label = "expected a counter, remaining checks such as `3+3`, or operations of an EPD";
                    return Err(wrong(start, end, "this field is out of place", label));
                }
            }
        }
        Ok(FenRecord { setup, fields, operations: line[operations..].trim_ascii_end() })
    }

    /// Appends the line: as many fields as were read, remaining checks after the en passant square as
    /// `3+3`, operations as they were.
    ///
    /// A FEN cannot tell rights of rooks off the back ranks: they are left out, and the answer is `false`.
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        let setup = &self.setup;
        write::placement(setup, out);
        if self.fields >= 2 {
            out.extend_from_slice(if setup.turn.is_white() { b" w" } else { b" b" });
        }
        if self.fields >= 3 {
            write::castling(setup, out);
        }
        if self.fields >= 4 {
            match setup.ep_square {
                None => out.extend_from_slice(b" -"),
                Some(square) => {
                    out.extend_from_slice(&[b' ', b'a' + square.file() as u8, b'1' + square.rank() as u8])
                }
            }
        }
        if let Some(checks) = setup.remaining_checks {
            let digit = |checks: RemainingChecks| b'0' + u8::from(checks);
            out.extend_from_slice(&[b' ', digit(checks.white), b'+', digit(checks.black)]);
        }
        if self.fields >= 5 {
            out.push(b' ');
            out.extend_from_slice(itoa::Buffer::new().format(setup.halfmoves).as_bytes());
        }
        if self.fields >= 6 {
            out.push(b' ');
            out.extend_from_slice(itoa::Buffer::new().format(setup.fullmoves.get()).as_bytes());
        }
        if !self.operations.is_empty() {
            out.push(b' ');
            out.extend_from_slice(self.operations);
        }
        (setup.castling_rights & !Bitboard::BACKRANKS).is_empty()
    }
}

impl fmt::Display for FenRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

fn wrong(start: usize, end: usize, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Span::new(start, end), message, label)
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'_' | b'\t' | b'\r' | b'\n')
}

/// The words of a line; each `next` gives the range of one.
struct Words<'l> {
    line: &'l [u8],
    at: usize,
}

impl Words<'_> {
    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        let rest = &self.line[self.at..];
        let start = self.at + rest.iter().position(|&byte| !is_blank(byte))?;
        let len = self.line[start..].iter().position(|&byte| is_blank(byte));
        self.at = len.map_or(self.line.len(), |len| start + len);
        Some((start, self.at))
    }
}
