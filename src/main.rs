//! The `orbit` command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// An allocator that ends the program with a message if the system is out of memory. The Python package does not use it, because
/// Python handles this case itself.
#[global_allocator]
static ALLOCATOR: orbit_command::memory::Allocator = orbit_command::memory::Allocator;

fn main() -> ExitCode {
    orbit_command::memory::reserve_stack();
    orbit_command::allocator::keep_freed_memory();
    orbit_command::memory::end_panics_of_memory();
    orbit_command::drivers::quiet();
    let program = std::env::current_exe().map_or_else(|_| OsString::from("orbit"), PathBuf::into_os_string);
    ExitCode::from(orbit_command::run(orbit_command::Cli::parse(
        vec![program],
        std::env::args_os().collect(),
    )))
}
