//! The instructions of flat programs that follow lines on the board, or compute attacks.

use super::registers::RegisterWord;
use orbit_query::tree::PinPart;

/// The four operands that contain the bit planes of the board.
pub type Planes = [u16; 4];

/// An instruction that follows lines on the board. `to` is the register of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the sentences say what the operands are")]
pub enum RayInstr {
    /// Stores the squares of the last set that a line from the first set reaches. The line passes through a square of each set in
    /// between, and its other squares are empty. The sets are in `sets` consecutive registers, beginning with `first`. `dirs` has a
    /// bit for each direction.
    Ray { to: RegisterWord, first: RegisterWord, sets: u8, dirs: u8, slider: SliderAt, planes: Planes },
    /// Stores the squares of `x` whose pieces attack a square of `y`.
    Attackers { to: RegisterWord, x: RegisterWord, y: RegisterWord, planes: Planes },
    /// Stores the squares of `y` that pieces on `x` attack.
    Attacked { to: RegisterWord, x: RegisterWord, y: RegisterWord, planes: Planes },
    /// Stores one square of every pin, selected by `part`. The slider, the pinned piece and the square behind it must be in the
    /// three sets, in this order.
    Pin { to: RegisterWord, sets: [RegisterWord; 3], part: PinPart, planes: Planes },
    /// Stores the squares that lie between a square of `a` and a square of `b`.
    Between { to: RegisterWord, a: RegisterWord, b: RegisterWord },
}

/// The end of a line of squares at which a piece must stand that can slide along the line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SliderAt {
    /// The end in the first set.
    First,
    /// The end in the last set.
    Last,
    /// Neither end: no sliding piece is required.
    None,
}
