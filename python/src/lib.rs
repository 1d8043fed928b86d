//! The native module of the Python package `orbit_chess`. It provides the databases, queries and hits of the library, and the
//! program `orbit`. Long operations release the interpreter's lock.
//!
//! Convenience functions are written in Python; this module only converts values and returns Arrow capsules. The invariant: a
//! thread that waits for a search lets other Python threads run, and notices signals.

#![deny(missing_docs)]

mod database;
mod errors;
mod game;
mod program;
mod query;
mod request;
mod stream;
mod wait;

use pyo3::prelude::*;

/// The native part of `orbit_chess`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::database::{Database, board_svg};
    #[pymodule_export]
    use super::game::{Game, Hit};
    #[pymodule_export]
    use super::program::run_program;
    #[pymodule_export]
    use super::query::{Query, load_themes};
    #[pymodule_export]
    use super::request::{Request, RequestOptions};
    #[pymodule_export]
    use super::stream::{Hits, Stream};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}
