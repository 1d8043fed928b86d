//! `orbit completions`.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::terminal::Stdout;
use super::{Cli, Exit, Failure, help};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orbit completions bash > ~/.local/share/bash-completion/completions/orbit
  orbit completions zsh > ~/.zfunc/_orbit
  orbit completions fish > ~/.config/fish/completions/orbit.fish")]
pub(super) struct Args {
    /// The shell whose completion script is printed.
    shell: Shell,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    // Written as a whole: clap_complete panics where stdout is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::with_commands(Cli::command()), "orbit", &mut script);
    if args.shell == Shell::Fish {
        script.extend(help::for_fish().into_bytes());
    }
    Stdout::new().write_all(&script).map_err(Failure::Stdout)?;
    Ok(Exit::Done)
}
