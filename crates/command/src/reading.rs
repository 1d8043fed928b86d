//! Opens the games of a command, and defines the arguments for reading them. These arguments control the use of reels (orbit
//! database files) in place of PGN files, the removal of duplicate games, and the memory for `.zst` files.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
#[cfg(feature = "https")]
use std::time::Duration;

use orbit_database::{BlockStream, StreamOptions, Summary};
use orbit_engine::Wants;
use orbit_query::TypedQuery;
use orbit_reel::Alike;
use orbit_search::Request;
use orbit_search::report::{behind_sentence, grouped};

use super::common::{CtrlC, ProgressArgs, bytes, choice, from_one, print_failures, totals_line};
use super::failure::{Exit, Failure};

/// Opens the games of a command. Unless `quiet` is true, also prints the notes of [`print_substitutes`].
pub(super) fn open(paths: &[PathBuf], options: StreamOptions, quiet: bool) -> Result<BlockStream, Failure> {
    let database = BlockStream::open(paths, options)?;
    print_substitutes(&database, quiet);
    Ok(database)
}

/// The memory that packed files get.
#[derive(Debug, clap::Args)]
pub(super) struct UnpackArgs {
    /// Set how much memory may be used to unpack a .zst file; files made by `zstd --long=31` need 2G.
    #[arg(long, value_name = "BYTES", default_value = "128M", value_parser = bytes)]
    zstd_window: u64,
    /// Wait at most this long for a server on the web to answer, or to send the next bytes.
    #[cfg(feature = "https")]
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    timeout: Duration,
}

/// Parses a positive number of seconds, such as `30` or `0.5`.
#[cfg(feature = "https")]
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a number of seconds, such as 30 or 0.5".into())
}

impl UnpackArgs {
    pub(super) fn options(&self, interrupt: &CtrlC) -> StreamOptions {
        let mut options = StreamOptions { interrupt: interrupt.flag.clone(), ..StreamOptions::default() };
        options.pgn.zstd_window_max = self.zstd_window;
        #[cfg(feature = "https")]
        (options.pgn.web.timeout = self.timeout);
        options
    }
}

/// Arguments about reading games: reels in place of PGN files, side lines, files of queries, and duplicates.
#[derive(Debug, clap::Args)]
pub(super) struct ReadingArgs {
    /// Read a PGN file itself even if an up-to-date reel of it is in the same folder.
    ///
    /// Without this option, `orbit scan 'mate' games.pgn` reads games.reel if it was made from games.pgn and games.pgn has
    /// not changed since. This is faster and gives the same answers.
    #[arg(long)]
    no_reel: bool,
    /// Search side lines (variations) as well.
    ///
    /// Without this option, only queries that begin with `cql(variations)` search side lines. A reel contains side lines if
    /// it was made by `orbit index --variations`.
    #[arg(long)]
    variations: bool,
    /// Let queries use the files below FOLDER: `readfile` reads them, `writefile` writes .cqo and .cql files.
    ///
    /// Without this option, a query that reads or writes files ends with an error.
    #[arg(long = "files", value_name = "FOLDER")]
    script_files: Option<PathBuf>,
    /// Leave out games that are equal to an earlier game, and count them.
    ///
    /// `--unique` alone leaves out a game if an earlier one has the same start position, moves, result and tags, and with
    /// --variations the same side lines and comments, as `orbit index --no-duplicates` does. `--unique=moves` compares only
    /// the start position and the moves of the main line: collections contain many games twice, with names and events
    /// written differently. The first game stays, even if it does not meet --where. This needs 24 to 48 bytes of memory for
    /// each game.
    #[arg(long, value_name = "WHAT", value_parser = choice::<Alike>(), num_args = 0..=1, require_equals = true, default_missing_value = "tags")]
    unique: Option<Alike>,
    #[command(flatten)]
    unpack: UnpackArgs,
}

impl ReadingArgs {
    /// Copies these arguments into a request.
    pub(super) fn put(&self, request: &mut Request) {
        (request.variations, request.unique) = (self.variations, self.unique);
    }

    /// Returns the folder of `--files`, the only folder that queries may access.
    pub(super) fn script_files(&self) -> Option<&Path> {
        self.script_files.as_deref()
    }

    /// Returns a line with the number of games that `--unique` dropped. Returns `None` without `--unique`.
    pub(super) fn unique_line(&self, summary: &Summary) -> Option<String> {
        let what = match self.unique? {
            Alike::Tags => "equal an earlier game",
            Alike::Moves => "have the moves of an earlier game",
        };
        let games: u64 = summary.sources.iter().map(|source| source.duplicates).sum();
        Some(format!("{} games were left out, which {what}", grouped(games)))
    }

    /// Returns the options for opening the games that `queries` search. Also sets in each query whether it searches side lines.
    /// `wants` lists the facts about games that are needed for other purposes.
    pub(super) fn options<'a>(
        &self,
        queries: impl IntoIterator<Item = &'a mut TypedQuery>,
        wants: Wants,
        interrupt: &CtrlC,
    ) -> StreamOptions {
        let mut options = self.unpack.options(interrupt);
        (options.substitute_reels, options.unique) = (!self.no_reel, self.unique);
        let parse = &mut options.parse;
        parse.annotations = wants.contains(Wants::COMMENTS);
        for query in queries {
            query.variations |= self.variations;
            query.header.files.clone_from(&self.script_files);
            parse.variations |= query.variations;
            parse.annotations |= query.reads_comments();
        }
        options
    }
}

/// The options of a command that reads all games once and takes no query.
#[derive(Debug, clap::Args)]
pub(super) struct PassArgs {
    /// Read a PGN file itself even if an up-to-date reel of it is in the same folder.
    #[arg(long, hide_short_help = true)]
    no_reel: bool,
    #[command(flatten)]
    unpack: UnpackArgs,
    /// Use N threads [default: one for each core].
    #[arg(short = 'j', long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    pub(super) threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(super) progress: ProgressArgs,
    /// Print no summary and no notes.
    #[arg(short, long)]
    pub(super) quiet: bool,
}

impl PassArgs {
    pub(super) fn options(&self, interrupt: &CtrlC) -> StreamOptions {
        StreamOptions { substitute_reels: !self.no_reel, ..self.unpack.options(interrupt) }
    }

    /// Prints the number of games and positions, and the sources that were only partly read. Returns the command's outcome.
    pub(super) fn end(&self, summary: &Summary, interrupt: &CtrlC) -> Exit {
        self.end_with(&totals_line(&summary.totals), summary, interrupt)
    }

    /// Like [`PassArgs::end`], but prints `line` instead of the number of games and positions.
    pub(super) fn end_with(&self, line: &str, summary: &Summary, interrupt: &CtrlC) -> Exit {
        if !self.quiet {
            message!("{line}");
        }
        match print_failures(summary) {
            _ if interrupt.is_set() => Exit::Interrupted,
            exit => exit,
        }
    }
}

/// Prints notes about files that are not read although they are in a given folder or archive, and about reels: those that are read
/// instead of PGN files, those that could be but are not, outdated reels, and reels with extra bytes at the end.
pub(super) fn print_substitutes(database: &BlockStream, quiet: bool) {
    if quiet {
        return;
    }
    database.notes().iter().for_each(|note| message!("note: {note}"));
    database.passed_over().iter().for_each(|passed_over| message!("{passed_over}"));
    for (reel, bytes) in database.bytes_behind_reels() {
        message!("note: {}: {}", reel.display(), behind_sentence(bytes));
    }
    database.outdated().iter().for_each(|outdated| message!("{outdated}"));
    database.substitutes().iter().for_each(|substitute| message!("{substitute}"));
}
