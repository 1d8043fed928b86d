//! A switch that ends an evaluation early.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells engines to give up. They look at it every few thousand steps and between pieces of a block; one that finds it set
/// ends with [`EngineError::Interrupted`](super::EngineError::Interrupted). The default is never set.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    /// A switch that is set once a flag is.
    pub fn from_flag(flag: Arc<AtomicBool>) -> Interrupt {
        Interrupt::from_test(move || flag.load(Ordering::Relaxed))
    }

    /// A switch that asks a function at each look. The function answers `true` for good once it has done so.
    pub fn from_test(is_set: impl Fn() -> bool + Send + Sync + 'static) -> Interrupt {
        Interrupt(Some(Arc::new(is_set)))
    }

    /// Looks at the switch.
    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|is_set| is_set())
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}
