//! Numbers of 64 bits side by side: one number, or a vector of several.

use super::words::WORDS;

/// Some numbers of 64 bits. True is a number with all bits set, false is 0.
pub(super) trait Lanes: Copy {
    /// A token that exists only if the processor has the instructions of this type.
    type With: Copy;

    /// The number of lanes.
    const COUNT: usize;

    /// Loads [`Lanes::COUNT`] numbers from an index on.
    fn load(with: Self::With, numbers: &[u64; WORDS], at: usize) -> Self;
    fn store(self, numbers: &mut [u64; WORDS], at: usize);
    /// Sets all lanes to one number.
    fn all(self, number: u64) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// Shifts left; undefined for more than 63 bits.
    fn left_by(self, bits: Self) -> Self;
    /// Shifts right; undefined for more than 63 bits.
    fn right_by(self, bits: Self) -> Self;
    /// Compares the lanes for equality.
    fn equal(self, other: Self) -> Self;
    /// Selects `yes` in lanes where this is true, else `no`.
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

/// Defines operations on two vectors that are one instruction each.
#[cfg(target_arch = "x86_64")]
macro_rules! pairwise {
    ($($name:ident: $instruction:ident,)*) => {
        $(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: a value exists only where the processor has these instructions.
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
