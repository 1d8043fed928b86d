//! `orbit index`.

use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use orbit_chess::database::{Database, DatabaseOptions, Summary};
use orbit_chess::reel::{EncodedBlock, MAGIC, Reel, ReelSource, ReelWriter};

use super::common::{Interrupt, Progress, grouped, print_failures, reason_lines, threads, totals_line};
use super::problems::Problems;
use super::{Exit, Failure};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// PGN, EPD or FEN files (plain, .zst, .gz, .bz2), folders of such files, reels, or `-` for
    /// standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The reel to write. It appears under this name only when it is complete.
    #[arg(short, long, value_name = "FILE.reel")]
    output: PathBuf,
    /// Threads to read with [default: one a core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// List every game that was cut, skipped or repaired in a file.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// List them on stderr as well.
    #[arg(short, long)]
    verbose: bool,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let begun = Instant::now();
    refuse_to_replace(&args.output)?;
    let interrupt = Interrupt::install()?;
    let mut options = DatabaseOptions::default();
    options.interrupt = interrupt.flag.clone();
    let database = Database::open(&args.paths, options)?;
    let mut problems = Problems::create(args.problems.as_deref(), args.verbose, &database)?;
    let mut writer = ReelWriter::create(&args.output)?;
    interrupt.remove(writer.temporary_path().to_owned());
    let progress = Progress::new();
    let mut fault = None;
    let summary = database.for_each_block(threads(args.threads), EncodedBlock::new, |taken, encoded| {
        progress.update(&taken);
        let written = problems.list(&taken, &progress).and_then(|()| Ok(writer.append(&encoded)?));
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                fault = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    drop(progress);
    let summary = summary.map_err(Failure::Midway)?;
    if let Some(fault) = fault {
        return Err(fault);
    }
    problems.finish()?;
    if interrupt.is_set() {
        eprintln!("interrupted; {} was not written", args.output.display());
        return Ok(Exit::Interrupted);
    }
    let (totals, sections) = writer.finish(&sources(&summary))?;
    let seconds = begun.elapsed().as_secs_f64();
    eprintln!("{}", totals_line(&totals));
    reason_lines(&totals).iter().for_each(|line| eprintln!("{line}"));
    eprintln!(
        "{}: {} bytes, {:.2} a position; {seconds:.2} s, {} positions/s",
        args.output.display(),
        grouped(sections.total()),
        sections.total() as f64 / totals.positions.max(1) as f64,
        grouped((totals.positions as f64 / seconds) as u64),
    );
    Ok(print_failures(&summary))
}

/// A slip of the keyboard must not replace a PGN by its index.
fn refuse_to_replace(path: &Path) -> Result<(), Failure> {
    let mut head = Vec::new();
    match File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut head)) {
        Ok(1..) if !Reel::sniff(&head) => Err(Failure::Other(format!(
            "{} exists and is no reel; give another name, or remove it first",
            path.display()
        ))),
        _ => Ok(()),
    }
}

fn sources(summary: &Summary) -> Vec<ReelSource> {
    let sources = summary.sources.iter().map(|source| {
        let failure = source.failure.as_ref();
        let failure = failure.map(|(offset, reason)| format!("not read beyond byte {offset}: {reason}"));
        ReelSource { name: source.name.clone(), bytes: source.bytes, games: source.games, failure }
    });
    sources.collect()
}
