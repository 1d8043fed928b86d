//! `orbit index`.

use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use orbit_chess::database::{self, AlreadyHeld, Database, DatabaseOptions, Summary};
use orbit_chess::files::refuse_clashes;
use orbit_chess::reel::{
    EncodedBlock, GameHash, GameSet, MAGIC, Reel, ReelSource, ReelWriter, SectionBytes, Totals,
};
use orbit_chess::run::ProblemsPart;

use super::common::{
    Interrupt, Progress, ProgressArgs, grouped, print_failures, reason_lines, threads, totals_line,
};
use super::problems::Problems;
use super::reading::UnpackArgs;
use super::{Exit, Failure};

const AFTER_HELP: &str = "\
Appending:
  --append leaves what a reel holds as it is and writes after it. Until all of it is on disk the
  reel is the old one, whatever happens. Files and reels whose content it holds already, under
  whatever name, are skipped, and so is what is given twice; a file that it holds with another
  content is refused. Two appends at once exclude each other. Each append leaves the directory
  before it as dead bytes, which `orbit info` counts; `orbit index all.reel -o new.reel` leaves
  them out.

Duplicates:
  --no-duplicates drops games that equal an earlier one: the same start position, moves, result
  and tag pairs. They keep their numbers and are counted as skipped. It takes 24 to 48 bytes of
  memory a game, those that the reel holds already included.

Exit code: 0 if the reel was written or there was nothing to append; 2 if it could not be; 3 if a
source was not read to its end (the reel holds what was read); 130 after Ctrl-C.

Examples:
  orbit index games/ -o all.reel
  orbit index --append twic1500.pgn -o all.reel
  orbit index --append --no-duplicates downloads/ -o all.reel
  zstdcat big.pgn.zst | orbit index - -o big.reel
  orbit index --no-duplicates a.reel b.reel -o both.reel";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// PGN, EPD or FEN files (plain, .zst, .gz, .bz2), folders of such files, reels, or `-` for
    /// standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The reel to write, whose name ends in .reel. It appears under this name only when it is complete.
    #[arg(short, long, value_name = "FILE.reel")]
    output: PathBuf,
    /// Add to the reel, if there is one, what it does not hold yet.
    #[arg(long)]
    append: bool,
    /// Drop games that equal an earlier one.
    #[arg(long)]
    no_duplicates: bool,
    /// Threads to read with [default: one a core].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    unpack: UnpackArgs,
    /// List every game that was cut, skipped or repaired in a file.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// List them on stderr as well.
    #[arg(short, long)]
    verbose: bool,
    /// No summary, no word on what is skipped, no progress.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let begun = Instant::now();
    // A reel may be made from itself; the list of problems is kept apart from what is read when that is known.
    let outputs = std::iter::once(&args.output).chain(&args.problems);
    refuse_clashes(std::iter::empty::<&Path>(), outputs)?;
    refuse_all_but_reels(&args.output)?;
    refuse_ending(&args.output)?;
    let interrupt = Interrupt::install()?;
    let mut options = DatabaseOptions::default();
    options.interrupt = interrupt.flag.clone();
    options.pgn.hash = true;
    args.unpack.apply(&mut options);
    let mut writer = match args.append {
        true => ReelWriter::append_to(&args.output)?,
        false => ReelWriter::create(&args.output)?,
    };
    writer.temporary_path().into_iter().for_each(|path| interrupt.unfinished.add(path));
    let Some(mut database) = open(&args, writer.reel(), &options)? else {
        if !args.quiet {
            message!("{} holds all of it already", args.output.display());
        }
        return Ok(Exit::Done);
    };
    if args.no_duplicates {
        database = database.without_duplicates(seen(&args, writer.reel(), options)?);
    }
    let mut problems = Problems::create(args.problems.as_deref(), args.verbose, &database, &interrupt)?;
    let progress = Progress::of(&args.progress, args.quiet);
    let summary = write(&mut writer, database, &mut problems, &progress, threads(args.threads))?;
    problems.finish()?;
    if interrupt.is_set() {
        let what = if writer.reel().is_some() { "nothing was appended to" } else { "there is no new" };
        message!("interrupted; {what} {}", args.output.display());
        return Ok(Exit::Interrupted);
    }
    let sources_before = writer.reel().map_or(0, |reel| reel.sources().len());
    let is_appended = writer.reel().is_some();
    let sources: Vec<ReelSource> =
        summary.sources[sources_before..].iter().map(|source| source.to_reel_source()).collect();
    let fails =
        |reel: &Reel| !sources.is_empty() && sources.iter().all(|source| fails_as_before(source, reel));
    if writer.reel().is_some_and(fails) {
        if !args.quiet {
            message!("{} holds all that can be read already", args.output.display());
        }
        return Ok(print_failures(&summary));
    }
    writer.pass_over(summary.side_lines);
    let (totals, sections) = writer.finish(&sources)?;
    progress.done();
    if !args.quiet {
        let seconds = begun.elapsed().as_secs_f64();
        report(&args.output, &summary, is_appended.then_some(&totals), &sections, seconds);
    }
    Ok(print_failures(&summary))
}

/// The inputs, of those to append what the reel does not hold; `None` if it holds them all.
fn open(args: &Args, reel: Option<&Reel>, options: &DatabaseOptions) -> Result<Option<Database>, Failure> {
    if !args.append {
        return Ok(Some(Database::open(&args.paths, options.clone())?));
    }
    let additions = database::additions(reel, &args.paths)?;
    refuse_clashes(additions.already_held.iter().map(|held| &held.path), &args.problems)?;
    if !args.quiet {
        additions.already_held.iter().for_each(|held| message!("{}", held_line(held, &args.output)));
    }
    if additions.paths.is_empty() {
        return Ok(None);
    }
    let mut options = options.clone();
    options.pgn.folders = args.paths.iter().filter(|path| path.is_dir()).cloned().collect();
    Ok(Some(match reel {
        Some(reel) => Database::open_after(reel, &additions.paths, options)?,
        None => Database::open(&additions.paths, options)?,
    }))
}

/// Whether nothing could be read of a source, as when the same was tried before.
fn fails_as_before(source: &ReelSource, reel: &Reel) -> bool {
    let is_same =
        |old: &ReelSource| old.is_nothing() && old.name == source.name && old.failure == source.failure;
    source.is_nothing() && reel.sources().iter().any(is_same)
}

/// Why an input is not appended.
fn held_line(held: &AlreadyHeld, output: &Path) -> String {
    let (path, output) = (held.path.display().to_string(), output.display());
    let source = &held.source;
    match (held.is_input, *source == path) {
        (true, true) => format!("{path}: skipped, it was given before"),
        (true, false) => format!("{path}: skipped, it was given before, as {source}"),
        (false, true) => format!("{path}: skipped, {output} holds it already"),
        (false, false) => format!("{path}: skipped, {output} holds it already, as {source}"),
    }
}

/// The games that the reel holds already.
fn seen(args: &Args, reel: Option<&Reel>, options: DatabaseOptions) -> Result<GameSet, Failure> {
    let mut seen = GameSet::default();
    if let Some(reel) = reel {
        let database = Database::from_reel(Reel::open(reel.path())?, options);
        let summary =
            database.for_each_block(threads(args.threads), GameHash::of_block, |streamed, hashes| {
                seen.insert_block(&streamed.block, &hashes);
                ControlFlow::Continue(())
            });
        summary?;
    }
    Ok(seen)
}

/// Writes all blocks of the database.
fn write(
    writer: &mut ReelWriter,
    database: Database,
    problems: &mut Problems,
    progress: &Progress,
    threads: usize,
) -> Result<Summary, Failure> {
    let mut fault = None;
    let sources = database.source_names();
    let summary = database.for_each_block(threads, EncodedBlock::new, |streamed, encoded| {
        progress.update(&streamed);
        let listed = problems.are_wanted().then(|| ProblemsPart::of(&streamed.block, &sources));
        let written = problems.list(listed, progress).and_then(|()| Ok(writer.append(&encoded)?));
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                fault = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    progress.clear();
    // Nothing was written: this is not a source that could be read in part.
    let summary = summary?;
    fault.map_or(Ok(summary), Err)
}

/// Says what was read, and what the reel is now; `all` are the sums of a reel that was added to.
fn report(output: &Path, summary: &Summary, all: Option<&Totals>, sections: &SectionBytes, seconds: f64) {
    let totals = &summary.totals;
    message!("{}", totals_line(totals));
    reason_lines(totals).iter().for_each(|line| message!("{line}"));
    if summary.side_lines > 0 {
        let side_lines = grouped(summary.side_lines);
        message!("{side_lines} side lines were left out: a reel holds the main lines of its games");
    }
    if let Some(all) = all {
        message!("appended; {} in all: {}", output.display(), totals_line(all));
    }
    message!(
        "{}: {} bytes, {:.2} a position; {seconds:.2} s, {} positions/s",
        output.display(),
        grouped(sections.total()),
        sections.total() as f64 / all.unwrap_or(totals).positions.max(1) as f64,
        grouped((totals.positions as f64 / seconds) as u64),
    );
}

/// A name must not promise what is not written. A reel that is there may be called anything.
fn refuse_ending(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        None | Some("reel") => Ok(()),
        Some(_) if path.is_file() => Ok(()),
        Some(end) => Err(Failure::Other(format!(
            "{}: a reel is written, not .{end}; the name must end in .reel, or in nothing",
            path.display()
        ))),
    }
}

/// A slip of the keyboard must not replace a PGN by its index.
fn refuse_all_but_reels(path: &Path) -> Result<(), Failure> {
    // A pipe would keep us waiting; the writer refuses it.
    if !path.is_file() {
        return Ok(());
    }
    let mut head = Vec::new();
    match File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut head)) {
        Ok(1..) if !Reel::sniff(&head) => Err(Failure::Other(format!(
            "{} exists and is no reel; give another name, or remove it first",
            path.display()
        ))),
        _ => Ok(()),
    }
}
