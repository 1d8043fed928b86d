//! The instructions of flat programs that make and read strings.
//!
//! A register holds the number of a string, and equal strings have equal numbers: a string of one byte is that byte, the
//! empty one [`EMPTY`], the literals of a program follow from [`LITERALS`] on, and all others those. A string that has
//! no value is [`NO_VALUE`](crate::NO_VALUE).

use super::registers::{Label, RegisterWord};
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
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
    },
    /// The part between two places, of which one may be the end.
    Slice {
        to: RegisterWord,
        of: RegisterWord,
        from: Option<RegisterWord>,
        end: Option<RegisterWord>,
    },
    /// A string with another one in place of the part between two places.
    Spliced {
        to: RegisterWord,
        of: RegisterWord,
        with: RegisterWord,
        from: Option<RegisterWord>,
        end: Option<RegisterWord>,
    },
    /// The byte at a place.
    Letter {
        to: RegisterWord,
        of: RegisterWord,
        at: RegisterWord,
    },
    /// In large letters, or small ones.
    InCase {
        to: RegisterWord,
        of: RegisterWord,
        upper: bool,
    },
    /// The byte of a code from 1 to 255.
    OfCode {
        to: RegisterWord,
        code: RegisterWord,
    },
    /// The letter of what stands on the only square of a set, if that is one of some.
    Content {
        to: RegisterWord,
        set: RegisterWord,
        contents: PieceSet,
        spelt: Spelt,
    },
    /// A string that is constant in a game, by its place in [`FlatProgram::of_games`](super::FlatProgram::of_games).
    OfGame {
        to: RegisterWord,
        text: u16,
    },
    /// The part of a string that a regular expression matches first.
    Match {
        to: RegisterWord,
        of: RegisterWord,
        pattern: u16,
    },
    /// The position here.
    Fen {
        to: RegisterWord,
    },
    /// The digits of a number.
    Digits {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// The names of squares.
    Names {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// What stands on the only square of a set, and the name of the square; else the empty string.
    Man {
        to: RegisterWord,
        set: RegisterWord,
    },
    Length {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Where a string first stands in another one.
    IndexOf {
        to: RegisterWord,
        needle: RegisterWord,
        text: RegisterWord,
    },
    /// The number that it spells.
    ToNumber {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// The code of its only byte.
    CodeOf {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// The square that it names.
    SquareOf {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Goes on at `no` unless a relation holds of two strings that have values: as letters, or as bytes.
    UnlessCompare {
        cmp: Cmp,
        a: RegisterWord,
        b: RegisterWord,
        as_bytes: bool,
        no: Label,
    },
    /// Goes on at `no` unless a string is part of another one.
    UnlessIn {
        needle: RegisterWord,
        text: RegisterWord,
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
