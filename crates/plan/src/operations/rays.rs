//! The instructions of flat programs about lines and attacks.

use super::registers::RegisterWord;

/// The operands that are the planes of the board.
pub type Planes = [u16; 4];

/// An instruction that follows the lines of the board. `to` is the register for the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum RayInstr {
    /// The squares of the last set that a line reaches from the first set, through a square of each set between them and otherwise
    /// over empty squares. The sets are in `sets` registers from `first` on, and `dirs` has a bit for each direction.
    Ray { to: RegisterWord, first: RegisterWord, sets: u8, dirs: u8, slider: SliderAt, planes: Planes },
    /// The squares of `x` whose pieces attack a square of `y`.
    Attackers { to: RegisterWord, x: RegisterWord, y: RegisterWord, planes: Planes },
    /// The squares of `y` that pieces on `x` attack.
    Attacked { to: RegisterWord, x: RegisterWord, y: RegisterWord, planes: Planes },
    /// The squares between a square of `a` and one of `b`.
    Between { to: RegisterWord, a: RegisterWord, b: RegisterWord },
}

/// The end of a line at which a piece must stand that slides in the line's direction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SliderAt {
    /// The first set.
    First,
    /// The last set.
    Last,
    /// Neither.
    None,
}
