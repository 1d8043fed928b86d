//! Runs the program `orbit` in a Python process that does nothing else.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with the arguments `words` and returns its exit code. Help and wrong arguments end the process instead.
/// `program` is the command that starts the program, as words; generated scripts contain it. The program handles Ctrl-C and uses
/// stdin, stdout and stderr.
#[pyfunction]
pub fn run_program(py: Python<'_>, program: Vec<OsString>, words: Vec<OsString>) -> u8 {
    py.detach(|| {
        orbit_command::allocator::keep_freed_memory();
        orbit_command::drivers::quiet();
        orbit_command::run(orbit_command::Cli::parse(program, words))
    })
}
