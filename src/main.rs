//! The `orbit` command.

mod cli;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::allocator::keep_freed_memory();
    cli::drivers::quiet();
    let program = std::env::current_exe().map_or_else(|_| OsString::from("orbit"), PathBuf::into_os_string);
    ExitCode::from(cli::run(cli::Cli::of(vec![program], std::env::args_os().collect())))
}
