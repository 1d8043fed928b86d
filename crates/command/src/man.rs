//! Implements `orbit man`, which prints or writes manual pages.

use std::io;
use std::path::PathBuf;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::Cli;
use super::failure::{Exit, Failure};
use super::sink::Sink;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orbit man | man -l -
  orbit man scan | man -l -
  orbit man --dir ~/.local/share/man/man1")]
pub(super) struct Args {
    /// The command whose manual page is printed [default: the page of orbit itself].
    #[arg(conflicts_with = "dir")]
    command: Option<String>,
    /// Write all manual pages (orbit.1, orbit-scan.1, ...) to an existing folder.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let mut orbit = Cli::command();
    orbit.build();
    match args.dir {
        Some(dir) => {
            for command in std::iter::once(&orbit).chain(orbit.get_subcommands()) {
                let file = dir.join(Man::new(command.clone()).get_filename());
                Sink::create(&file)?.write_whole(&page(command))?;
            }
        }
        None => Sink::open(None)?.write_whole(&page(find(&orbit, args.command.as_deref())?))?,
    }
    Ok(Exit::Done)
}

/// Returns the manual page of a command. The text below the options keeps its line breaks.
fn page(command: &Command) -> Vec<u8> {
    let man = Man::new(command.clone());
    let render = |out: &mut Vec<u8>| -> io::Result<()> {
        man.render_title(out)?;
        man.render_name_section(out)?;
        man.render_synopsis_section(out)?;
        man.render_description_section(out)?;
        man.render_options_section(out)?;
        if command.has_subcommands() {
            man.render_subcommands_section(out)?;
        }
        let mut extra = Vec::new();
        man.render_extra_section(&mut extra)?;
        let extra = String::from_utf8_lossy(&extra).replacen(".SH EXTRA\n", ".SH DETAILS\n.nf\n", 1);
        out.extend_from_slice(extra.trim_end().as_bytes());
        out.extend_from_slice(b"\n.fi\n");
        if command.get_version().is_some() {
            man.render_version_section(out)?;
        }
        Ok(())
    };
    let mut out = Vec::new();
    render(&mut out).expect("a vector takes all that is written to it");
    out
}

fn find<'a>(orbit: &'a Command, name: Option<&str>) -> Result<&'a Command, Failure> {
    let Some(name) = name else { return Ok(orbit) };
    orbit.find_subcommand(name).ok_or_else(|| {
        let names: Vec<&str> = orbit.get_subcommands().map(Command::get_name).collect();
        Failure::Other(format!("there is no command `{name}`: the commands are {}", names.join(", ")))
    })
}
