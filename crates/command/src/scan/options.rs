//! Derives the options of a search from its arguments, before any file is opened.

use std::num::NonZeroUsize;

use orbit_core::diagnostic::Severity;
use orbit_database::{BlockStream, StreamOptions};
use orbit_engine::Wants;
use orbit_engine::verify::Sample;
use orbit_query::TypedQuery;
use orbit_search::choice::Order;
use orbit_search::executor::{EngineChoice, EngineOptions, Executor};
use orbit_search::report::FormatName;
use orbit_search::{Chosen, Request};
use orbit_witness::Readers;
use serde_json::{Value, json};

use super::{Args, SampleArg};
use crate::common::{CtrlC, ProgressArgs, ProgressDisplay, fast_engine};
use crate::failure::Failure;
use crate::outputs::OutputChoice;
use crate::table_format::TableFormat;

/// The purpose for which a search is prepared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScanPurpose {
    /// Games are searched, and hits are written.
    Search,
    /// A job is planned, or a part of it is computed.
    Part,
    /// The parts of a job are merged; their games have already been searched.
    Merge,
}

/// The engine that computes a part of a job, in place of the one with which the job was planned. All engines give the same answers.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct EngineOfPart {
    /// Use a different engine from that of the plan; all engines give the same answers.
    ///
    /// A job that was planned with `--engine reference` is computed by that engine.
    #[arg(long, value_parser = fast_engine())]
    engine: Option<EngineChoice>,
    /// Choose the graphics card, as in `orbit scan`.
    #[arg(long, value_name = "CARD")]
    gpu: Option<String>,
}

/// Options that do not affect the results of a search. So parts of a job may be computed with options that differ from the plan's.
#[derive(Clone, Debug)]
pub(crate) struct RunOptions {
    pub(crate) purpose: ScanPurpose,
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) quiet: bool,
    pub(crate) progress: ProgressArgs,
    pub(crate) engine: EngineOfPart,
}

impl RunOptions {
    /// Reads the options from the arguments of a search.
    pub(crate) fn new(args: &Args, purpose: ScanPurpose) -> RunOptions {
        let Args { threads, quiet, progress, .. } = *args;
        RunOptions { purpose, threads, quiet, progress, engine: EngineOfPart::default() }
    }

    pub(super) fn progress(&self) -> ProgressDisplay {
        ProgressDisplay::from_args(&self.progress, self.quiet)
    }
}

/// The arguments of a search, and the options that are derived from them.
pub(super) struct ScanOptions<'a> {
    pub(super) args: &'a Args,
    pub(super) run: RunOptions,
    pub(super) outputs: OutputChoice<'a>,
    /// The selection of games, hits and engine.
    pub(super) request: Request,
    pub(super) chosen: Chosen,
}

impl<'a> ScanOptions<'a> {
    pub(super) fn new(args: &'a Args, run: RunOptions) -> Result<ScanOptions<'a>, Failure> {
        let outputs = OutputChoice::new(&args.outputs, run.purpose != ScanPurpose::Search);
        let request = args.request()?;
        let chosen = request.check()?;
        Ok(ScanOptions { args, run, outputs, request, chosen })
    }

    /// Returns whether counts are printed instead of hits.
    pub(super) fn counts(&self) -> bool {
        self.args.count || self.args.heat || self.args.copies.is_some()
    }

    /// Returns whether hits are listed rather than only counted.
    pub(super) fn lists(&self) -> bool {
        !self.counts() && (!self.args.stats.are_wanted() || self.outputs.format.is_some())
    }

    /// Returns whether problems are listed.
    pub(super) fn lists_problems(&self) -> bool {
        self.args.problems.is_some() || self.args.verbose
    }

    /// Returns true if games without hits cannot affect the output. Such games need not be read.
    pub(super) fn reads_hits_alone(&self, scan: &Executor, database: &BlockStream) -> bool {
        let is_searched_twice = self.args.verify.is_some() || scan.searches_variations();
        self.args.stats.are_of_moves()
            && !self.counts()
            && !self.lists_problems()
            && !is_searched_twice
            && !database.keeps_variations()
    }

    /// Returns the outputs as JSON, without file names. Results of job parts depend on these outputs.
    pub(super) fn output(&self) -> Result<Value, Failure> {
        Ok(json!({
            "count": self.args.count,
            "copies": self.args.copies.is_some(),
            "heat": self.args.heat,
            "problems": self.lists_problems(),
            "lists": self.outputs.in_json()?,
            "stats": self.args.stats.groupings(),
            "files": self.args.beside.script_files().map(|folder| format!("{folder:?}")),
        }))
    }

    /// Returns the facts about games and hits that the selection of games, the statistics and the columns need. Facts that only the
    /// query needs are not included.
    pub(super) fn wants(&self) -> Wants {
        self.chosen.wants() | self.args.stats.wants() | self.args.outputs.wants()
    }

    /// Fails if `--best`, `--sort` or `--sample` has no effect.
    pub(super) fn refuse_orders(&self, scan: &Executor) -> Result<(), Failure> {
        self.chosen.check_query(scan.ty(), scan.has_spans())?;
        if self.chosen.order.is_none() || self.lists() || self.outputs.lists_to_files() {
            return Ok(());
        }
        let option = match self.chosen.order {
            Some(Order::Sampled { .. }) => "--sample",
            _ if self.args.board.is_similar() => "--similar",
            _ => "--sort",
        };
        let why = format!(
            "{option} chooses which games are listed, but --count, --copies, --heat, and --stats without --format, list no games: \
             leave out one of these options"
        );
        Err(Failure::Other(why))
    }

    /// Fails if `--limit` or `--skip` is given but no games are listed. Statistics always cover all games.
    pub(super) fn refuse_limits(&self) -> Result<(), Failure> {
        let is_limited =
            self.chosen.order.is_none() && (self.request.limit.is_some() || self.request.skip > 0);
        let is_idle = self.args.stats.are_wanted() && !self.lists() && !self.outputs.lists_to_files();
        if !is_limited || !is_idle || self.args.count {
            return Ok(());
        }
        let option = if self.request.skip > 0 { "--skip" } else { "--limit" };
        Err(Failure::Other(format!(
            "{option} chooses which games are listed, but --stats without --format lists no games, and statistics are of all \
             games: leave out {option}, or choose --format text to list the games as well"
        )))
    }

    /// Fails if the output format cannot show counts.
    pub(super) fn refuse_formats(&self) -> Result<(), Failure> {
        use FormatName::{Csv, Jsonl, Text};
        if !self.counts() || matches!(self.outputs.format, None | Some(Text | Jsonl | Csv)) {
            return Ok(());
        }
        let why = "--count, --copies and --heat print text, CSV or one JSON object: choose --format text, csv or jsonl";
        Err(Failure::Other(why.into()))
    }

    /// Returns the format of counts.
    pub(super) fn table_format(&self) -> TableFormat {
        match self.outputs.format {
            Some(FormatName::Jsonl) => TableFormat::Json,
            Some(FormatName::Csv) => TableFormat::Csv,
            _ => TableFormat::Text,
        }
    }

    /// Returns the lowest severity at which remarks on queries are printed.
    pub(super) fn least_remark(&self) -> Severity {
        match (self.args.verbose, self.run.quiet) {
            (true, _) => Severity::Note,
            (false, true) => Severity::Warning,
            (false, false) => Severity::Hint,
        }
    }

    /// Returns the options for opening the games that some queries search: see
    /// [`ReadingArgs::options`](crate::reading::ReadingArgs::options).
    pub(super) fn stream<'q>(
        &self,
        queries: impl IntoIterator<Item = &'q mut TypedQuery>,
        wants: Wants,
        interrupt: &CtrlC,
    ) -> StreamOptions {
        let mut options = self.args.beside.options(queries, wants, interrupt);
        options.readers = match (self.args.engine, &self.args.verify) {
            (EngineChoice::Reference, _) => Readers::Second,
            (_, Some(SampleArg(Sample::All))) => Readers::Both,
            (_, Some(SampleArg(Sample::Segments(_)))) => Readers::Sampled,
            (_, None) => Readers::First,
        };
        // A reel (an orbit database file) does not record which PGN reader its games come from, so reels are used only if the first
        // reader is requested.
        options.substitute_reels &= options.readers == Readers::First;
        options
    }

    /// Returns the options for the engine. `positions` is the number of positions to search, if it is known.
    pub(super) fn engine_options(&self, positions: u64) -> Result<EngineOptions, Failure> {
        let (engine, card) = self.engine();
        let mut options = self.args.gpu.engine_options(engine, card, positions)?;
        options.verify = self.args.verify.map(|sample| sample.0);
        Ok(options)
    }

    /// Returns the engine, and the graphics card if it is not the one that the arguments name.
    fn engine(&self) -> (EngineChoice, Option<&str>) {
        let EngineOfPart { engine, gpu } = &self.run.engine;
        match (self.run.purpose, self.args.engine) {
            // Merging parts runs no query, so it needs no graphics card.
            (ScanPurpose::Merge, EngineChoice::Gpu) => (EngineChoice::Cpu, Some("none")),
            (ScanPurpose::Merge, planned) => (planned, Some("none")),
            // The reference engine cannot be replaced, since it also requires that another reader reads the games.
            (_, EngineChoice::Reference) => (EngineChoice::Reference, None),
            (_, planned) => (engine.unwrap_or(planned), gpu.as_deref()),
        }
    }
}
