//! The instructions of flat programs that make and read strings.
//!
//! A register holds the number of a string, and equal strings have equal numbers: a string of one byte is that byte, the
//! empty one [`EMPTY`], the literals of a program follow from [`LITERALS`] on, and all others those. A string that has
//! no value is [`NO_VALUE`](crate::NO_VALUE).

use super::registers::{Label, Word};
use orbit_core::board::PieceSet;
use orbit_query::tree::{Cmp, Spelt};

/// The number of the empty string.
pub const EMPTY: u64 = 256;

/// The number of the first string that a program has.
pub const LITERALS: u64 = 257;

/// One instruction. `to` is the register that gets the result, or where the code goes on. Strings without a value make
/// strings and numbers without a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum TextInstr {
    /// One string behind another one.
    Joined {
        to: Word,
        a: Word,
        b: Word,
    },
    /// The part between two places, of which one may be the end.
    Slice {
        to: Word,
        of: Word,
        from: Option<Word>,
        end: Option<Word>,
    },
    /// A string with another one in place of the part between two places.
    Spliced {
        to: Word,
        of: Word,
        with: Word,
        from: Option<Word>,
        end: Option<Word>,
    },
    /// The byte at a place.
    Letter {
        to: Word,
        of: Word,
        at: Word,
    },
    /// In large letters, or small ones.
    InCase {
        to: Word,
        of: Word,
        upper: bool,
    },
    /// The byte of a code from 1 to 255.
    OfCode {
        to: Word,
        code: Word,
    },
    /// The letter of what stands on the only square of a set, if that is one of some.
    Content {
        to: Word,
        set: Word,
        contents: PieceSet,
        spelt: Spelt,
    },
    /// A string that is constant in a game, by its place in [`FlatProgram::of_games`](super::FlatProgram::of_games).
    OfGame {
        to: Word,
        text: u16,
    },
    /// The part of a string that a regular expression matches first.
    Match {
        to: Word,
        of: Word,
        pattern: u16,
    },
    /// The position here.
    Fen {
        to: Word,
    },
    /// The digits of a number.
    Digits {
        to: Word,
        of: Word,
    },
    /// The names of squares.
    Names {
        to: Word,
        set: Word,
    },
    /// What stands on the only square of a set, and the name of the square; else the empty string.
    Man {
        to: Word,
        set: Word,
    },
    Length {
        to: Word,
        of: Word,
    },
    /// Where a string first stands in another one.
    IndexOf {
        to: Word,
        needle: Word,
        text: Word,
    },
    /// The number that it spells.
    ToNumber {
        to: Word,
        of: Word,
    },
    /// The code of its only byte.
    CodeOf {
        to: Word,
        of: Word,
    },
    /// The square that it names.
    SquareOf {
        to: Word,
        of: Word,
    },
    /// Goes on at `no` unless a relation holds of two strings that have values: as letters, or as bytes.
    UnlessCompare {
        cmp: Cmp,
        a: Word,
        b: Word,
        as_bytes: bool,
        no: Label,
    },
    /// Goes on at `no` unless a string is part of another one.
    UnlessIn {
        needle: Word,
        text: Word,
        no: Label,
    },
}

impl TextInstr {
    /// Where it may go on, but for the next instruction.
    pub(super) fn label(&mut self) -> Option<&mut Label> {
        match self {
            TextInstr::UnlessCompare { no, .. } | TextInstr::UnlessIn { no, .. } => Some(no),
            _ => None,
        }
    }
}
