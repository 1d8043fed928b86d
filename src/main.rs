//! The `orbit` command.

mod cli;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// A program ends with a message where it gets no memory; the Python package leaves that to Python.
#[global_allocator]
static ALLOCATOR: cli::memory::Allocator = cli::memory::Allocator;

fn main() -> ExitCode {
    cli::memory::reserve_stack();
    cli::allocator::keep_freed_memory();
    cli::memory::end_panics_of_memory();
    cli::drivers::quiet();
    let program = std::env::current_exe().map_or_else(|_| OsString::from("orbit"), PathBuf::into_os_string);
    ExitCode::from(cli::run(cli::Cli::of(vec![program], std::env::args_os().collect())))
}
