//! Implements `orbit index`, which converts games to reels, orbit's database files.

mod shards;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use orbit_core::files::refuse_clashes;
use orbit_database::{AlreadyHeld, BlockStream, StreamOptions, StreamedBlock, Summary};
use orbit_reel::{
    Alike, Block, EncodedBlock, GameHash, GameSet, MAGIC, Manifest, Reel, ReelSource, ReelWriter,
    SectionBytes, Shard, Totals,
};
use orbit_search::report::{totals_fields, totals_lines};
use orbit_search::run::ProblemsPart;
use orbit_visits::table_path;

use super::common::{
    CtrlC, ProgressArgs, ProgressDisplay, bytes, choice, from_one, grouped, print_failures, threads,
    totals_line, unfinished,
};
use super::failure::{Exit, Failure};
use super::positions;
use super::problems::Problems;
use super::reading::{self, UnpackArgs, print_substitutes};
use super::sink::OutputFiles;
use super::terminal::Remark;

const AFTER_HELP: &str = "\
Appending:
  --append adds games to the end of a reel and leaves the games before them as they are. If it
  fails or is interrupted, the reel stays as it was. An input whose content is in the reel already
  is skipped, whatever its name, and so is an input that is given twice; URLs and standard input
  are not compared. A file that has changed since it was added is refused. Only one `orbit index`
  can write to a reel at a time.
  Each append writes a new directory of the reel; the old one stays in the file as unused bytes,
  which `orbit info` counts. `orbit index all.reel -o new.reel` makes a reel without them.

Duplicates:
  --no-duplicates drops a game if an earlier game has the same start position, moves, result and
  tags, and with --variations the same side lines, comments and glyphs. --no-duplicates=moves
  compares the start position and the moves of the main line alone: collections hold many games
  twice, with names and events written differently. A dropped game keeps its number and is counted
  as skipped. This needs 24 to 48 bytes of memory for each game, including those that are in the
  reel already.

Shards:
  --shards writes a folder of reels and a manifest, orbit-manifest.json, which names them with
  their sizes, games, positions, dates, ratings and checksums. Such a folder is a database wherever
  games are read: `orbit scan QUERY db/` finds what it finds in one reel, with the same numbers of
  games. A job has a part for each reel: see `orbit job`. A shard that is missing, cut or exchanged
  is an error.

Exit code: 0 if the reel was written or there was nothing to append; 2 if it was not written; 3 if
a source was not read to its end (the reel contains what was read); 4 if the system refuses memory
(it was not written); 130 after Ctrl-C.

Examples:
  orbit index games/ -o all.reel
  orbit index --append twic1500.pgn -o all.reel
  orbit index --append --no-duplicates downloads/ -o all.reel
  orbit index --shards 256M games/ -o db/
  orbit index --positions games/ -o all.reel
  zstdcat big.pgn.zst | orbit index - -o big.reel
  orbit index --no-duplicates a.reel b.reel -o both.reel";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// PGN, EPD or FEN files (plain, .zst, .gz, .bz2), .zip archives and folders of such files, reels, or `-` for
    /// standard input.
    ///
    /// A build with the feature `https` also reads URLs of such files, and one with the feature `sevenz` also .7z archives.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write this reel, whose name ends in .reel; with --shards, this new folder. The file gets its name when it is
    /// complete.
    #[arg(short, long, value_name = "FILE.reel")]
    output: PathBuf,
    /// Add games to the reel instead of replacing it; files that it already contains are skipped.
    #[arg(long)]
    append: bool,
    /// Write a folder of reels of about this size, such as `256M`, and a manifest.
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "append")]
    shards: Option<u64>,
    /// Drop games that are equal to an earlier game.
    ///
    /// `--no-duplicates` compares everything that the reel stores of a game, `--no-duplicates=moves` only the moves.
    #[arg(long, value_name = "WHAT", value_parser = choice::<Alike>(), num_args = 0..=1, require_equals = true, default_missing_value = "tags")]
    no_duplicates: Option<Alike>,
    /// Keep side lines (variations), comments and glyphs, so that `--variations` can search the reel.
    ///
    /// Side lines without a legal move, and those at the place where a game was cut, are left out. --append keeps side
    /// lines if the reel does.
    #[arg(long)]
    variations: bool,
    /// Write a table of the positions of main lines beside the reel: all.reel.positions beside all.reel.
    ///
    /// With this table, `orbit positions` and `orbit scan --at` find a position without reading the whole reel. --append
    /// with --positions writes a new table; without --positions, the old table still covers the games before the append. A
    /// table takes at most 8 bytes for each distinct position and 4 for each position of a game.
    #[arg(long)]
    positions: bool,
    /// Use N threads [default: one for each core].
    #[arg(short = 'j', long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    unpack: UnpackArgs,
    /// Write to FILE a list of the games that were cut, skipped or repaired.
    ///
    /// A game that cannot be read to its end is cut; the moves before the fault are kept. A game is skipped if none of its
    /// positions can be read, and trimmed if side lines were left out or cut. Each line of the list names the source, the
    /// game, the byte, the ply and the reason.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// Print on stderr which games were cut, skipped or repaired.
    #[arg(short, long)]
    verbose: bool,
    /// Print no progress, no summary and no notes on skipped inputs.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

impl Args {
    /// Returns the options for opening the inputs. `keeps` is true if side lines are to be kept.
    fn options(&self, keeps: bool, interrupt: &CtrlC) -> StreamOptions {
        let mut options = self.unpack.options(interrupt);
        options.pgn.hash = true;
        (options.parse.variations, options.parse.annotations) = (keeps, keeps);
        options
    }
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let begun = Instant::now();
    // A reel may be rebuilt from itself, so the output may be one of the inputs. The list of problems may not; it is compared with
    // the inputs once these are known.
    let table = (args.positions && args.shards.is_none()).then(|| table_path(&args.output));
    refuse_clashes(&args.paths, &table)?;
    let outputs = std::iter::once(&args.output).chain(&args.problems).chain(&table);
    refuse_clashes(std::iter::empty::<&Path>(), outputs)?;
    if let Some(shard_bytes) = args.shards {
        return shards::run(&args, shard_bytes, begun);
    }
    refuse_shard(&args.output)?;
    refuse_all_but_reels(&args.output, &args.paths)?;
    refuse_ending(&args.output)?;
    let interrupt = CtrlC::install()?;
    let mut writer = match args.append {
        true => ReelWriter::append_to(&args.output)?,
        false => ReelWriter::create(&args.output)?,
    };
    let keeps = writer.reel().map_or(args.variations, Reel::keeps_variations);
    if args.variations && !keeps {
        return Err(Failure::Other(format!(
            "{} contains only the main lines of its games: append without --variations, or make it again with --variations",
            args.output.display()
        )));
    }
    let options = args.options(keeps, &interrupt);
    writer.keep_variations(keeps);
    writer.temporary_path().into_iter().for_each(|path| unfinished().add(path));
    let (database, is_partly_held) = open(&args, writer.reel(), options.clone())?;
    // A skipped file of which the reel contains only a part counts as a file that is not read to its end.
    let ended = |exit| if is_partly_held && matches!(exit, Exit::Done) { Exit::SourceFailed } else { exit };
    let Some(mut database) = database else {
        if !args.quiet {
            message!("nothing to append: {} contains all inputs already", args.output.display());
        }
        write_tables(&args, [&args.output], &interrupt)?;
        return Ok(if interrupt.is_set() { Exit::Interrupted } else { ended(Exit::Done) });
    };
    if let Some(alike) = args.no_duplicates {
        database = database.without_duplicates(seen(&args, alike, writer.reel(), options)?);
    }
    let mut problems = Problems::create(args.problems.as_deref(), args.verbose, OutputFiles::new(&database))?;
    let progress = ProgressDisplay::from_args(&args.progress, args.quiet);
    let append =
        |streamed: &StreamedBlock, encoded: &EncodedBlock| Ok(writer.append(encoded, &streamed.totals)?);
    let summary = write(append, database, &mut problems, &progress, threads(args.threads))?;
    problems.finish()?;
    if interrupt.is_set() {
        let what = if writer.reel().is_some() { "nothing was appended to" } else { "nothing was written to" };
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
            message!(
                "nothing to append: {} contains already all that can be read of the inputs",
                args.output.display()
            );
        }
        return Ok(ended(print_failures(&summary)));
    }
    writer.pass_over(summary.side_lines);
    let (totals, sections) = writer.finish(&sources)?;
    progress.done();
    if !args.quiet {
        let seconds = begun.elapsed().as_secs_f64();
        report((&args.output, keeps), &summary, is_appended.then_some(&totals), &sections, seconds);
    }
    write_tables(&args, [&args.output], &interrupt)?;
    Ok(if interrupt.is_set() { Exit::Interrupted } else { ended(print_failures(&summary)) })
}

/// Writes the position tables of finished reels, if `--positions` is given.
fn write_tables(
    args: &Args,
    reels: impl IntoIterator<Item = impl AsRef<Path>>,
    interrupt: &CtrlC,
) -> Result<(), Failure> {
    let wanted = reels.into_iter().filter(|_| args.positions);
    wanted
        .into_iter()
        .try_for_each(|reel| positions::write(reel.as_ref(), args.threads, args.quiet, interrupt))
}

/// Opens the inputs. When games are appended, inputs whose content the reel already has are left out. Returns `None` if that
/// applies to all inputs. Also returns true if the reel contains only a part of an input that is left out.
fn open(
    args: &Args,
    reel: Option<&Reel>,
    mut options: StreamOptions,
) -> Result<(Option<BlockStream>, bool), Failure> {
    if !args.append {
        return Ok((Some(reading::open(&args.paths, options, args.quiet)?), false));
    }
    let additions = orbit_database::additions(reel, &args.paths)?;
    refuse_clashes(additions.already_held.iter().map(|held| &held.path), &args.problems)?;
    if !args.quiet {
        additions.notes.iter().for_each(|note| message!("note: {note}"));
        additions.already_held.iter().for_each(|held| message!("{}", held_line(held, &args.output)));
    }
    let is_partly_held = additions.already_held.iter().any(|held| held.failure.is_some());
    if additions.paths.is_empty() {
        return Ok((None, is_partly_held));
    }
    // Paths that are not in `kept` are folders and archives; the files in them took their place.
    let kept: HashSet<&PathBuf> = additions.paths.iter().collect();
    options.pgn.folders = args.paths.iter().filter(|path| !kept.contains(path)).cloned().collect();
    let Some(reel) = reel else {
        return Ok((Some(reading::open(&additions.paths, options, args.quiet)?), is_partly_held));
    };
    let database = BlockStream::open_after(reel, &additions.paths, options)?;
    print_substitutes(&database, args.quiet);
    Ok((Some(database), is_partly_held))
}

/// Returns true if a source could not be read at all and the reel records the same failure from an earlier attempt.
fn fails_as_before(source: &ReelSource, reel: &Reel) -> bool {
    let is_same =
        |old: &ReelSource| old.is_nothing() && old.name == source.name && old.failure == source.failure;
    source.is_nothing() && reel.sources().iter().any(is_same)
}

/// Returns the message for an input that is not appended because the reel or an earlier input has the same content.
fn held_line(held: &AlreadyHeld, output: &Path) -> String {
    let (path, output) = (held.path.display().to_string(), output.display());
    let source = &held.source;
    if let Some(failure) = &held.failure {
        return format!("{path}: skipped: {output} contains what can be read of it: {failure}");
    }
    match (held.is_input, *source == path) {
        (true, true) => format!("{path}: skipped: it is given before"),
        (true, false) => format!("{path}: skipped: its content is given before, as {source}"),
        (false, true) => format!("{path}: skipped: {output} contains it already"),
        (false, false) => format!("{path}: skipped: {output} contains it already, as {source}"),
    }
}

/// Returns the set of the games that the reel already has, with which new games are compared. Without a reel, the set is empty.
fn seen(args: &Args, alike: Alike, reel: Option<&Reel>, options: StreamOptions) -> Result<GameSet, Failure> {
    let mut seen = GameSet::new(alike);
    if let Some(reel) = reel {
        let database = BlockStream::from_reel(Reel::open(reel.path())?, options);
        let hashes = |block: &Block| GameHash::from_block(block, alike);
        let summary = database.for_each_block(threads(args.threads), hashes, |streamed, hashes| {
            seen.insert_block(&streamed.block, &hashes);
            ControlFlow::Continue(())
        });
        summary?;
    }
    Ok(seen)
}

fn write(
    mut append: impl FnMut(&StreamedBlock, &EncodedBlock) -> Result<(), Failure>,
    database: BlockStream,
    problems: &mut Problems,
    progress: &ProgressDisplay,
    threads: usize,
) -> Result<Summary, Failure> {
    let mut fault = None;
    let sources = database.source_names();
    let summary = database.for_each_block(threads, EncodedBlock::new, |streamed, encoded| {
        progress.update(&streamed);
        let listed = problems.are_wanted().then(|| ProblemsPart::from_block(&streamed.block, &sources));
        let written = problems.list(listed, progress).and_then(|()| append(&streamed, &encoded));
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                fault = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    progress.clear();
    // An error during reading or writing fails the whole command, and no reel is written.
    let summary = summary?;
    fault.map_or(Ok(summary), Err)
}

/// Prints a summary of the games and the size of the reel. After an append, `all` holds the totals of the whole reel.
fn report(
    (output, variations): (&Path, bool),
    summary: &Summary,
    all: Option<&Totals>,
    sections: &SectionBytes,
    seconds: f64,
) {
    let totals = &summary.totals;
    totals_lines(totals).into_iter().for_each(|line| Remark::from(line).print());
    if summary.side_lines > 0 {
        let side_lines = grouped(summary.side_lines);
        let why = match variations {
            false => "--variations keeps side lines",
            true => "--problems FILE lists why",
        };
        let are = if summary.side_lines == 1 { "side line was" } else { "side lines were" };
        message!("{side_lines} {are} left out: {why}");
    }
    if let Some(all) = all {
        let contains = format!("appended; {} now contains {}", output.display(), totals_line(all));
        Remark::from((contains, totals_fields(all))).print();
    }
    message!(
        "{}: {} bytes, {:.2} a position; {seconds:.2} s, {} positions/s",
        output.display(),
        grouped(sections.total()),
        sections.total() as f64 / all.unwrap_or(totals).positions.max(1) as f64,
        grouped((totals.positions as f64 / seconds) as u64),
    );
}

/// Fails if the name has the extension of another format, such as `.pgn`. The name of an existing file is accepted, since reels may
/// have any name.
fn refuse_ending(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        None | Some("reel") => Ok(()),
        Some(_) if path.is_file() => Ok(()),
        Some(end) => Err(Failure::Other(format!(
            "{}: `orbit index` writes reels, not .{end} files: give a name that ends in .reel",
            path.display()
        ))),
    }
}

/// Fails if the path is a reel of a folder of reels. Such a folder is unreadable if one of its reels changes.
fn refuse_shard(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let manifest = Manifest::locate(folder).ok().flatten().and_then(|path| Manifest::read(&path).ok());
    let is_shard = |shard: &Shard| path.file_name().is_some_and(|name| name == OsStr::new(&shard.file));
    match manifest.is_some_and(|manifest| manifest.shards.iter().any(is_shard)) {
        true => Err(Failure::Other(format!(
            "{} is one of the reels in {}, and a change would make them unreadable: give another name",
            path.display(),
            folder.display()
        ))),
        false => Ok(()),
    }
}

/// Fails if the path is an existing file that is not a reel, so that a mistyped command does not overwrite a PGN file. Also fails
/// for `-`, since a reel is not written sequentially.
fn refuse_all_but_reels(path: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Err(Failure::Other(
            "a reel cannot be written to standard output: give the name of a file".into(),
        ));
    }
    // Opening a pipe may block. The reel writer rejects pipes later.
    if !path.is_file() {
        return Ok(());
    }
    let mut head = Vec::new();
    match File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut head)) {
        Ok(1..) if !Reel::sniff(&head) => {
            refuse_clashes(inputs, [path])?;
            Err(Failure::Other(format!(
                "{} exists and is no reel: give another name, or remove it first",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}
