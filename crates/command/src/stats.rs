//! Implements `orbit scan --stats`, which counts games and positions by group.

use std::io::Write;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use orbit_core::text::shell_word;
use orbit_engine::Wants;
use orbit_search::stats::{By, Counts, Grouping, Stats, TableLimits};

use super::failure::Failure;
use super::sink::{OutputFiles, Sink, named};
use super::table_format::TableFormat;
use super::terminal::is_stdout;

/// The maximum number of groups in a text table if neither `top=N` nor `least=N` is given.
const ROWS_MAX: usize = 20;

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Statistics")]
pub(super) struct StatsArgs {
    /// Count games and positions by groups, such as `year` or `elo:100`, instead of listing hits.
    ///
    /// For each group, orbit prints the number of its games and positions, and how many of them hit. Groups are made by
    /// `year`, `decade`, `eco` (or `eco:1`, `eco:2`: the first one or two characters), `opening` (the tag), `opening-name`
    /// and `opening-eco` (determined from the moves, with the names of lichess), `result`, `source` (the file), `folder`,
    /// `elo:100` (in steps of 100; also `meanelo`, `whiteelo`, `blackelo`, `elodiff`), `ply:10`, `move:10`, `event`,
    /// `site`, `round`, `white`, `black`, `player`, `title`, `white-title`, `black-title`, `time-control` (bullet, blitz,
    /// rapid, ...), `termination`, with --player `opponent`, `side`, `playerelo`, `opponentelo`; `timecontrol`, `variant`,
    /// `tag:Name` (any other tag), `copy` or `value`; if the hits of the query consist of moves (`line`, `path`, `find`,
    /// `echo`, `--`, `[x]`, `move`), also by `length` (the number of these moves) and `san` (the first of them, or the move
    /// that led to what was found).
    ///
    /// `position` makes groups of equal positions, even if different moves led to them.
    ///
    /// `next` and `previous` make groups by the move that follows a hit and the move that led to it, `next:3` a tree of the
    /// next three moves. Under transforms, the moves are transformed back to the query as it is written; `next:played`
    /// shows them as they were played.
    ///
    /// Comments also make groups of positions: `clock` (seconds left to the player who just moved), `spent` (seconds that
    /// the move took), `eval` (pawns by which White is ahead) and `loss` (pawns that the move lost), in classes or in
    /// steps, such as `clock:10` and `eval:0.5`.
    ///
    /// A query whose value is a number gets a second table for each grouping: the mean of its values, their quantiles, and
    /// how they are spread.
    ///
    /// `year,eco` makes two tables, `year*result` one table of years by results. In tables of text whose
    /// groups are names, openings, copies or moves, `top=10` among them lists only 10 groups, and `least=5` only groups with
    /// at least 5 games that hit. This option may be given several times. Hits are listed as well only if --format is given.
    #[arg(short, long, value_name = "GROUPINGS")]
    stats: Vec<String>,
    /// Write statistics in this format [default: the ending of the name of --stats-output, else text].
    #[arg(long, value_enum, value_name = "FORMAT", requires = "stats")]
    stats_format: Option<TableFormat>,
    /// Write statistics to a file whose name ends in .txt, .csv or .json.
    ///
    /// The name may end in .zst after that. The file gets its name when it is complete.
    #[arg(long, value_name = "FILE", requires = "stats")]
    stats_output: Option<PathBuf>,
}

/// The groupings of `--stats`, and the output for the counts.
pub(super) struct Statistics {
    stats: Stats,
    limits: TableLimits,
    format: TableFormat,
    sink: Sink,
}

impl StatsArgs {
    pub(super) fn file(&self) -> Option<&Path> {
        named(self.stats_output.as_deref())
    }

    /// Returns the facts about games and hits that the groupings need. If the groupings cannot be parsed, no facts are needed,
    /// because the error is reported later.
    pub(super) fn wants(&self) -> Wants {
        let groupings = parse(&self.stats.join(",")).map_or(Vec::new(), |(groupings, _)| groupings);
        groupings.iter().flat_map(Grouping::properties).map(|by| by.wants()).collect()
    }

    pub(super) fn groupings(&self) -> &[String] {
        &self.stats
    }

    /// Returns the options that make the command line add these tables to a report.
    pub(super) fn of_page(&self) -> String {
        self.stats.iter().map(|groupings| format!(" --stats {}", shell_word(groupings))).collect()
    }

    /// Returns true if all groupings are by moves before or after hits, so that games without hits do not count.
    pub(super) fn are_of_moves(&self) -> bool {
        let of_moves = |all: Vec<Grouping>| all.iter().flat_map(Grouping::properties).all(By::is_of_moves);
        !self.are_wanted() || parse(&self.stats.join(",")).is_ok_and(|(all, _)| of_moves(all))
    }

    /// Returns whether `--stats` was given.
    pub(super) fn are_wanted(&self) -> bool {
        !self.stats.is_empty()
    }
}

impl Statistics {
    /// Creates the counters and the output file, if `--stats` was given.
    pub(super) fn new(args: &StatsArgs, begun: OutputFiles) -> Result<Option<Statistics>, Failure> {
        if !args.are_wanted() {
            return Ok(None);
        }
        let (groupings, limits) = parse(&args.stats.join(","))?;
        let sink = begun.open(args.file())?;
        let format = TableFormat::from_option(args.stats_format, "--stats-format", args.file())?;
        Ok(Some(Statistics { stats: Stats::new(groupings), limits, format, sink }))
    }

    pub(super) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns the limits on the number of groups in text tables.
    pub(super) fn limits(&self) -> TableLimits {
        self.limits
    }

    pub(super) fn have_file(&self) -> bool {
        self.sink.path().is_some()
    }

    /// Writes all counts. `copies` contains the transformed copies of the query as CQL, in order of copy number.
    pub(super) fn finish(self, counts: &Counts, copies: &[String]) -> Result<(), Failure> {
        let Statistics { limits, format, mut sink, .. } = self;
        let is_file = sink.path().is_some();
        let cut = !is_file && is_stdout();
        let write = |out: &mut dyn Write| match format {
            TableFormat::Text => counts.write_text(limits, copies, cut, out),
            TableFormat::Csv => counts.write_csv(copies, out),
            TableFormat::Json => counts.write_json(copies, out),
        };
        if is_file {
            sink.put(write)?;
            return sink.finish();
        }
        let mut text = Vec::new();
        write(&mut text).expect("memory takes everything");
        sink.write_whole(&text)
    }

    /// Returns the path of the output file, for the message that it was not finished.
    pub(super) fn abandoned(&self) -> Option<&Path> {
        self.sink.path()
    }
}

/// Parses the groupings and the limits of text tables.
fn parse(text: &str) -> Result<(Vec<Grouping>, TableLimits), Failure> {
    let (mut top, mut least) = (None, None);
    let mut words = Vec::new();
    for word in text.split(',').map(str::trim) {
        let number = |number: &str, what: &str, example: &str| {
            let fault = || format!("`{word}`: expected a number of {what} from 1, as in `{example}`");
            number.parse::<NonZeroU64>().map(Some).map_err(|_| Failure::Other(fault()))
        };
        match word.split_once('=') {
            Some(("by", word)) => words.push(word),
            Some(("top", rows)) => top = number(rows, "groups", "top=10")?,
            Some(("least", games)) => least = number(games, "games", "least=5")?,
            _ => words.push(word),
        }
    }
    if words.is_empty() {
        let message = format!("--stats: `{text}` limits tables: name a grouping too, as in `san,{text}`");
        return Err(Failure::Other(message));
    }
    let groupings =
        Grouping::list(&words.join(",")).map_err(|error| Failure::Other(format!("--stats: {error}")))?;
    let rows_max = match top {
        Some(rows) => usize::try_from(rows.get()).unwrap_or(usize::MAX),
        None if least.is_some() => usize::MAX,
        None => ROWS_MAX,
    };
    Ok((groupings, TableLimits { rows_max, games_min: least.map_or(0, NonZeroU64::get) }))
}
