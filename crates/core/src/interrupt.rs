//! A switch that ends a search early.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch with which a caller stops the engines. Engines check it every few thousand steps and between parts of a block (a group
/// of whole games). Once it is set, they return the error `Interrupted`. The default switch is never set.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    /// Creates a switch that is set when a flag becomes true.
    pub fn from_flag(flag: Arc<AtomicBool>) -> Interrupt {
        Interrupt::from_test(move || flag.load(Ordering::Relaxed))
    }

    /// Creates a switch that calls `is_set` at each check. Once the function has returned `true`, it must keep returning `true`.
    pub fn from_test(is_set: impl Fn() -> bool + Send + Sync + 'static) -> Interrupt {
        Interrupt(Some(Arc::new(is_set)))
    }

    /// Returns whether the switch is set.
    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|is_set| is_set())
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}
