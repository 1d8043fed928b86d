//! Detects the instruction sets of the processor. The macro `for_each_isa` compiles one function body for several instruction sets
//! and selects a version at run time.

/// An instruction set that this processor has. The variants for x86-64 exist in every build, but are never created on other
/// processors.
///
/// Only [`Isa::available`] and [`Isa::detected`] create values of this type, so a value proves that the processor can run code
/// compiled for its instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isa {
    /// The baseline of the architecture.
    Base,
    /// The baseline plus 32-byte vectors and instructions that count one bits and leading or trailing zeros.
    Avx2(Avx2),
    /// The instructions of [`Isa::Avx2`], 64-byte vectors, and instructions that permute the bytes of a vector.
    Avx512(Avx512),
}

/// A proof that the processor has `avx2`, `bmi1`, `bmi2`, `lzcnt` and `popcnt`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Avx2(());

/// A proof that the processor has the instructions of [`Avx2`] and the AVX-512 sets `f`, `bw`, `cd`, `dq`, `vl`, `vbmi`, `vbmi2`
/// and `vpopcntdq`, as processors since Ice Lake and Zen 4 do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Avx512(());

impl Isa {
    /// Returns all instruction sets that this processor supports, best last.
    pub fn available() -> Vec<Isa> {
        #[allow(unused_mut, reason = "other architectures have one")]
        let mut all = vec![Isa::Base];
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
            let avx512 = has!("avx512f")
                && has!("avx512bw")
                && has!("avx512cd")
                && has!("avx512dq")
                && has!("avx512vl")
                && has!("avx512vbmi")
                && has!("avx512vbmi2")
                && has!("avx512vpopcntdq");
            if avx2 {
                all.push(Isa::Avx2(Avx2(())));
            }
            if avx2 && avx512 {
                all.push(Isa::Avx512(Avx512(())));
            }
        }
        all
    }

    /// Returns the best instruction set of this processor.
    pub fn detected() -> Isa {
        static BEST: std::sync::LazyLock<Isa> =
            std::sync::LazyLock::new(|| *Isa::available().last().expect("there is a base"));
        *BEST
    }

    /// Returns the name of the set: `base`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Base => "base",
            Isa::Avx2(_) => "avx2",
            Isa::Avx512(_) => "avx512",
        }
    }
}

/// Defines a function whose first argument is an [`Isa`]. The body is compiled once for each instruction set, and the argument
/// selects the version that runs. Functions called in loops of the body must be inlined, since a function that is not inlined is
/// compiled only for the baseline.
#[macro_export]
macro_rules! for_each_isa {
    ($(#[$doc:meta])* pub(super) fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? $body:block) => {
        $(#[$doc])*
        pub(super) fn $name(isa: $crate::isa::Isa, $($arg: $ty),*) $(-> $out)? {
            #[inline(always)]
            fn base($($arg: $ty),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2($($arg: $ty),*) $(-> $out)? { base($($arg),*) }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx512($($arg: $ty),*) $(-> $out)? { base($($arg),*) }

            match isa {
                #[cfg(target_arch = "x86_64")]
                #[expect(unsafe_code, reason = "code for other instruction sets")]
                // SAFETY: an `Isa` exists only where the processor has its instructions.
                $crate::isa::Isa::Avx2(_) => unsafe { avx2($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                #[expect(unsafe_code, reason = "code for other instruction sets")]
                // SAFETY: as for AVX2, an `Isa` exists only where the processor has its instructions.
                $crate::isa::Isa::Avx512(_) => unsafe { avx512($($arg),*) },
                _ => base($($arg),*),
            }
        }
    };
}
pub use for_each_isa;
