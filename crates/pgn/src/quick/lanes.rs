//! Arithmetic on vectors of 64-bit numbers, with which generic code can read one token or several tokens at once.

use super::words::WORDS;

/// A vector of 64-bit numbers, which are called lanes. As a condition, a lane is true if all its bits are set, and false if it is
/// 0.
pub(super) trait Lanes: Copy {
    /// The proof that the processor has the instructions of this type.
    type With: Copy;

    const COUNT: usize;

    /// Loads [`Lanes::COUNT`] numbers, starting at the index `at`.
    fn load(with: Self::With, numbers: &[u64; WORDS], at: usize) -> Self;
    fn store(self, numbers: &mut [u64; WORDS], at: usize);
    /// Sets all lanes to one number.
    fn all(self, number: u64) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// Shifts each lane left by the number of bits in the same lane of `bits`. The result is undefined for more than 63 bits.
    fn left_by(self, bits: Self) -> Self;
    /// Shifts each lane right by the number of bits in the same lane of `bits`. The result is undefined for more than 63 bits.
    fn right_by(self, bits: Self) -> Self;
    /// Sets each lane to true where the two numbers are equal, otherwise to false.
    fn equal(self, other: Self) -> Self;
    /// Selects each lane from `yes` where `self` is true, and from `no` where it is false.
    fn pick(self, yes: Self, no: Self) -> Self;

    #[inline(always)]
    fn left<const BITS: u64>(self) -> Self {
        self.left_by(self.all(BITS))
    }

    #[inline(always)]
    fn right<const BITS: u64>(self) -> Self {
        self.right_by(self.all(BITS))
    }
}

/// Defines operations on two vectors. Each is a single instruction.
#[cfg(target_arch = "x86_64")]
macro_rules! pairwise {
    ($($name:ident: $instruction:ident,)*) => {
        $(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: a value of this type exists only where the processor has the instructions of the type.
                Self(unsafe { $instruction(self.0, other.0) })
            }
        )*
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use pairwise;

impl Lanes for u64 {
    type With = ();

    const COUNT: usize = 1;

    #[inline(always)]
    fn load((): (), numbers: &[u64; WORDS], at: usize) -> u64 {
        numbers[at]
    }

    #[inline(always)]
    fn store(self, numbers: &mut [u64; WORDS], at: usize) {
        numbers[at] = self;
    }

    #[inline(always)]
    fn all(self, number: u64) -> u64 {
        number
    }

    #[inline(always)]
    fn and(self, other: u64) -> u64 {
        self & other
    }

    #[inline(always)]
    fn or(self, other: u64) -> u64 {
        self | other
    }

    #[inline(always)]
    fn xor(self, other: u64) -> u64 {
        self ^ other
    }

    #[inline(always)]
    fn add(self, other: u64) -> u64 {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn sub(self, other: u64) -> u64 {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn left_by(self, bits: u64) -> u64 {
        self << (bits & 63)
    }

    #[inline(always)]
    fn right_by(self, bits: u64) -> u64 {
        self >> (bits & 63)
    }

    #[inline(always)]
    fn equal(self, other: u64) -> u64 {
        u64::from(self != other).wrapping_sub(1)
    }

    #[inline(always)]
    fn pick(self, yes: u64, no: u64) -> u64 {
        self & yes | !self & no
    }
}
