//! `orbit man`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use orbit_chess::report::OutputFile;

use super::{Cli, Exit, Failure};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orbit man | man -l -
  orbit man scan | man -l -
  orbit man --dir ~/.local/share/man/man1")]
pub(super) struct Args {
    /// The command whose page is printed [default: the page of orbit itself].
    #[arg(conflicts_with = "dir")]
    command: Option<String>,
    /// Write all pages into a folder, which must be there: orbit.1, orbit-scan.1, ...
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let mut orbit = Cli::command().disable_help_subcommand(true);
    orbit.build();
    match args.dir {
        Some(dir) => {
            for command in std::iter::once(&orbit).chain(orbit.get_subcommands()) {
                let man = Man::new(command.clone());
                let fault = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
                let mut file =
                    OutputFile::create(&dir.join(man.get_filename())).map_err(|error| fault(&error))?;
                man.render(&mut file).map_err(|error| fault(&error))?;
                file.finish().map_err(|error| fault(&error))?;
            }
        }
        None => {
            let page = Man::new(find(&orbit, args.command.as_deref())?.clone());
            let mut text = Vec::new();
            page.render(&mut text).and_then(|()| io::stdout().write_all(&text)).map_err(Failure::Stdout)?;
        }
    }
    Ok(Exit::Done)
}

fn find<'a>(orbit: &'a Command, name: Option<&str>) -> Result<&'a Command, Failure> {
    let Some(name) = name else { return Ok(orbit) };
    orbit.find_subcommand(name).ok_or_else(|| {
        let names: Vec<&str> = orbit.get_subcommands().map(Command::get_name).collect();
        Failure::Other(format!("there is no command `{name}`; there are {}", names.join(", ")))
    })
}
