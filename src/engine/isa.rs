//! Instruction sets: one body of code, compiled for several of them and chosen while running.

/// An instruction set that this processor has.
///
/// A value can only be had from [`Isa::available`] and [`Isa::detected`]: that is what makes it safe
/// to run code compiled for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isa(Level);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    /// What every processor of the architecture has.
    Base,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// All that this processor has, the best one last.
    pub fn available() -> Vec<Isa> {
        #[allow(unused_mut, reason = "other architectures have one")]
        let mut all = vec![Isa(Level::Base)];
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
            let avx512 = has!("avx512f")
                && has!("avx512bw")
                && has!("avx512cd")
                && has!("avx512dq")
                && has!("avx512vl")
                && has!("avx512vpopcntdq");
            if avx2 {
                all.push(Isa(Level::Avx2));
            }
            if avx2 && avx512 {
                all.push(Isa(Level::Avx512));
            }
        }
        all
    }

    /// The best one.
    pub fn detected() -> Isa {
        static BEST: std::sync::LazyLock<Isa> =
            std::sync::LazyLock::new(|| *Isa::available().last().expect("there is a base"));
        *BEST
    }

    /// `base`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Base => "base",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        }
    }

    /// Whether it turns words by any number of bits in one instruction.
    pub(super) fn turns_words(self) -> bool {
        match self.0 {
            Level::Base => false,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => false,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => true,
        }
    }

    pub(super) fn level(self) -> Level {
        self.0
    }
}

/// Defines a function that takes an [`Isa`] first and runs its body compiled for that. What the body
/// calls in its loops must be inlined into it.
macro_rules! for_each_isa {
    ($(#[$doc:meta])* pub(super) fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? $body:block) => {
        $(#[$doc])*
        pub(super) fn $name(isa: $crate::engine::isa::Isa, $($arg: $ty),*) $(-> $out)? {
            #[inline(always)]
            fn base($($arg: $ty),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2($($arg: $ty),*) $(-> $out)? { base($($arg),*) }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx512($($arg: $ty),*) $(-> $out)? { base($($arg),*) }

            use $crate::engine::isa::Level;
            match isa.level() {
                Level::Base => base($($arg),*),
                #[cfg(target_arch = "x86_64")]
                #[expect(unsafe_code, reason = "code for other instruction sets")]
                // SAFETY: an `Isa` exists only where the processor has its instructions.
                Level::Avx2 => unsafe { avx2($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                #[expect(unsafe_code, reason = "code for other instruction sets")]
                // SAFETY: the same.
                Level::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}
pub(super) use for_each_isa;
