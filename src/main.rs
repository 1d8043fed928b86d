//! The `orbit` command.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(cli::Cli::of(std::env::args_os().collect()))
}
