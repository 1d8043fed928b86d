//! The instructions of flat programs that make and read strings.
//!
//! A register holds the number of a string, and equal strings have equal numbers. The number of a string of one byte is that
//! byte, that of the empty string is [`EMPTY`], and those of a program's literals begin at [`LITERALS`]; all other strings come
//! after these. A string that has no value is [`NO_VALUE`](crate::NO_VALUE).

use super::registers::{Label, RegisterWord};
use orbit_core::board::PieceSet;
use orbit_query::tree::{Cmp, Spelt};

/// The number of the empty string.
pub const EMPTY: u64 = 256;

/// The number of the first literal of a program.
pub const LITERALS: u64 = 257;

/// An instruction. `to` is the register for the result, or the label of a jump. A string without a value gives a result without a
/// value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum TextInstr {
    /// The concatenation of two strings.
    Joined {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
    },
    /// The part between two indices; either may be left out for the beginning or the end.
    Slice {
        to: RegisterWord,
        of: RegisterWord,
        from: Option<RegisterWord>,
        end: Option<RegisterWord>,
    },
    /// A string in which the part between two indices is replaced by another string.
    Spliced {
        to: RegisterWord,
        of: RegisterWord,
        with: RegisterWord,
        from: Option<RegisterWord>,
        end: Option<RegisterWord>,
    },
    /// The byte at an index.
    Letter {
        to: RegisterWord,
        of: RegisterWord,
        at: RegisterWord,
    },
    /// The string in upper case, or in lower case.
    InCase {
        to: RegisterWord,
        of: RegisterWord,
        upper: bool,
    },
    /// The byte with a code from 1 to 255.
    OfCode {
        to: RegisterWord,
        code: RegisterWord,
    },
    /// The letter for the content of the only square of a set, if that content is one of `contents`.
    Content {
        to: RegisterWord,
        set: RegisterWord,
        contents: PieceSet,
        spelt: Spelt,
    },
    /// A string that is constant in a game, by its index in [`FlatProgram::of_games`](super::FlatProgram::of_games).
    OfGame {
        to: RegisterWord,
        text: u16,
    },
    /// The first part of a string that a regular expression matches.
    Match {
        to: RegisterWord,
        of: RegisterWord,
        pattern: u16,
    },
    /// The current position as FEN.
    Fen {
        to: RegisterWord,
    },
    /// A number in decimal digits.
    Digits {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// The names of squares.
    Names {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// The piece on the only square of a set, followed by the name of the square; for any other set the empty string.
    Man {
        to: RegisterWord,
        set: RegisterWord,
    },
    Length {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// The index at which a string first occurs in another one.
    IndexOf {
        to: RegisterWord,
        needle: RegisterWord,
        text: RegisterWord,
    },
    /// The number that a string spells.
    ToNumber {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// The code of a string's only byte.
    CodeOf {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// The square that a string names.
    SquareOf {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Jumps to `no` unless a relation holds between two strings that have values, compared as letters or as bytes.
    UnlessCompare {
        cmp: Cmp,
        a: RegisterWord,
        b: RegisterWord,
        as_bytes: bool,
        no: Label,
    },
    /// Jumps to `no` unless a string is a substring of another one.
    UnlessIn {
        needle: RegisterWord,
        text: RegisterWord,
        no: Label,
    },
}

impl TextInstr {
    /// Returns the label to which the instruction may jump.
    pub(super) fn label(&mut self) -> Option<&mut Label> {
        match self {
            TextInstr::UnlessCompare { no, .. } | TextInstr::UnlessIn { no, .. } => Some(no),
            _ => None,
        }
    }
}
