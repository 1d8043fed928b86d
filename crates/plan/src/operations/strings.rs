//! The instructions of flat programs that create and read strings.
//!
//! In a register, a number represents the string. Equal strings have equal numbers. The number of a string of one byte is that
//! byte. The number of the empty string is [`EMPTY`], and the numbers of a program's literals begin at [`LITERALS`]. All other
//! strings have larger numbers. A string without a value has the number [`NO_VALUE`](crate::NO_VALUE).

use super::registers::{Label, RegisterWord};
use orbit_core::board::PieceSet;
use orbit_query::tree::{Cmp, Spelt};

/// The number that represents the empty string.
pub const EMPTY: u64 = 256;

/// The number that represents the first string literal of a program. The other literals have the numbers after it.
pub const LITERALS: u64 = 257;

/// An instruction that creates, reads or compares strings. `to` is the register of the result or, for a jump, the target label.
/// If an operand has no value, the result has none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum TextInstr {
    /// Concatenates two strings.
    Joined {
        to: RegisterWord,
        a: RegisterWord,
        b: RegisterWord,
    },
    /// Extracts the substring between two indices. `from` defaults to the start of the string, and `end` to its end.
    Slice {
        to: RegisterWord,
        of: RegisterWord,
        from: Option<RegisterWord>,
        end: Option<RegisterWord>,
    },
    /// Replaces the part of a string between two indices with another string.
    Spliced {
        to: RegisterWord,
        of: RegisterWord,
        with: RegisterWord,
        from: Option<RegisterWord>,
        end: Option<RegisterWord>,
    },
    /// Extracts the byte at an index.
    Letter {
        to: RegisterWord,
        of: RegisterWord,
        at: RegisterWord,
    },
    /// Converts a string to upper case, or to lower case if `upper` is false.
    InCase {
        to: RegisterWord,
        of: RegisterWord,
        upper: bool,
    },
    /// Creates a string of one byte from a code between 1 and 255.
    OfCode {
        to: RegisterWord,
        code: RegisterWord,
    },
    /// Creates the letter for the content of the only square in a set, if this content is in `contents`.
    Content {
        to: RegisterWord,
        set: RegisterWord,
        contents: PieceSet,
        spelt: Spelt,
    },
    /// Loads a string that is the same throughout a game. `text` is its index in
    /// [`FlatProgram::of_games`](super::FlatProgram::of_games).
    OfGame {
        to: RegisterWord,
        text: u16,
    },
    /// Extracts the first part of a string that matches a regular expression. If there is one, stores the groups of the match.
    Match {
        to: RegisterWord,
        of: RegisterWord,
        pattern: u16,
    },
    /// Finds the next match of a regular expression in a string, at or after the index in `from`. Stores the groups of the match,
    /// and the index from which the search goes on. Jumps to `done` after the last match.
    NextMatch {
        of: RegisterWord,
        from: RegisterWord,
        pattern: u16,
        done: Label,
    },
    /// Removes the groups of the last match.
    ForgetGroups,
    /// Stores the text of a group of the last match, or no value if the group is not part of the match. Ends the evaluation of the
    /// game with an error if the last match has no such group.
    Group {
        to: RegisterWord,
        group: u32,
    },
    /// Stores the index at which a group of the last match begins. Otherwise like [`TextInstr::Group`].
    GroupStart {
        to: RegisterWord,
        group: u32,
    },
    /// Writes the current position as FEN.
    Fen {
        to: RegisterWord,
    },
    /// Writes a number in decimal digits.
    Digits {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Creates a string with the names of the squares in a set.
    Names {
        to: RegisterWord,
        set: RegisterWord,
    },
    /// Creates a string such as `Nf3`: the piece on the only square of a set, and the name of the square. For any other set, the
    /// string is empty.
    Man {
        to: RegisterWord,
        set: RegisterWord,
    },
    Length {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Stores the index at which a string first occurs in another string.
    IndexOf {
        to: RegisterWord,
        needle: RegisterWord,
        text: RegisterWord,
    },
    /// Parses a string as a number.
    ToNumber {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Stores the code of the only byte in a string.
    CodeOf {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Parses a string as the name of a square.
    SquareOf {
        to: RegisterWord,
        of: RegisterWord,
    },
    /// Jumps to `no` unless two strings have values and are in the relation `cmp`. Compares their bytes if `as_bytes` is true, and
    /// their letters otherwise.
    UnlessCompare {
        cmp: Cmp,
        a: RegisterWord,
        b: RegisterWord,
        as_bytes: bool,
        no: Label,
    },
    /// Jumps to `no` unless a string is a substring of another string.
    UnlessIn {
        needle: RegisterWord,
        text: RegisterWord,
        no: Label,
    },
}

impl TextInstr {
    /// Returns the label to which the instruction may jump, if it has one.
    pub(super) fn label(&mut self) -> Option<&mut Label> {
        match self {
            TextInstr::UnlessCompare { no, .. } | TextInstr::UnlessIn { no, .. } => Some(no),
            TextInstr::NextMatch { done, .. } => Some(done),
            _ => None,
        }
    }
}
