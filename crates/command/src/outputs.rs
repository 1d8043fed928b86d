//! Writes hits to the outputs of a search: standard output and files, each in one format.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use orbit_core::text::shell_word;
use orbit_database::{GameTexts, StreamedBlock};
use orbit_engine::Wants;
use orbit_search::choice::Order;
use orbit_search::report::findings::Findings;
use orbit_search::report::{
    Column, Columns, Extras, Format, FormatName, HitTotals, Layout, MOVES_MAX, RUNS_MAX, Report, Rows,
    Stitcher,
};
use orbit_search::run::{
    Collectors, Comment, GamesCollector, GamesPart, HeldGame, ListPart, ListReach, ListsCollector,
    OrderedCollector,
};
use orbit_search::{Chosen, UnknownName};

use serde_json::{Value, json};

use super::common::{ProgressDisplay, choice, ending};
use super::failure::Failure;
use super::games::GameOutputs;
use super::pictures::{self, Picture};
use super::sink::{OutputFiles, Sink};
use super::terminal::{self, Stdout, has_colors_on_stdout};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Print hits in this format; the formats are described below [default: text].
    #[arg(short = 'F', long, value_parser = choice::<FormatName>())]
    format: Option<FormatName>,
    /// Write hits to a file, in the format that its extension implies.
    ///
    /// A .pgn file contains the games that hit, a .txt, .jsonl, .csv, .epd, .fen or .parquet file the hits, an .html file a
    /// report, an .svg file a heat map. Reports and heat maps show all hits, including those that --limit or --sample leave
    /// out. .zst may follow the names of .pgn, .txt, .jsonl, .csv, .epd and .fen files. Parquet needs a program built with
    /// `--features parquet`.
    ///
    /// This option may be given several times. Hits are then printed only if --format names a format that no file has, or
    /// with `-o -`, which means standard output. A file gets its name when it is complete.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write one row for each hit, or one for each game that hits (its first hit), in tables and lists of positions.
    ///
    /// Tables and lists of positions are jsonl, csv, parquet, epd and fen.
    #[arg(long, value_parser = choice::<Rows>(), default_value_t)]
    rows: Rows,
    /// Write these columns to tables, such as `game,white,black,move,fen`.
    ///
    /// Tables are jsonl, csv and parquet. docs/output.md describes all columns.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = column)]
    columns: Vec<Column>,
    /// Give the report this title, instead of the first line of the query.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Write a comment at each hit of the games that are written as PGN.
    ///
    /// `--comment=TEXT` writes TEXT. `--comment` alone writes the first copy that matches, as CQL, and how many other
    /// copies match.
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    comment: Option<String>,
    /// List all hits of a game in text, not only the first 12, and all moves of a hit.
    #[arg(long)]
    pub(super) all_plies: bool,
    /// Leave out the moves and positions of which hits consist.
    ///
    /// A hit of `line`, `path`, `find`, `echo`, `--`, `[x]` or `move` consists of moves and positions, its span: text has a
    /// line for it, jsonl the field `span`, csv and parquet columns, a report arrows. Finding them takes time at each hit
    /// that is listed.
    #[arg(long)]
    pub(super) no_spans: bool,
}

impl OutputArgs {
    /// Returns the output paths that end in a slash; they name folders.
    pub(super) fn folders(&self) -> Vec<&Path> {
        self.files.iter().map(PathBuf::as_path).filter(|path| is_folder(path)).collect()
    }

    pub(super) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Returns the options that make the command line write this report to a file, such as `-o report.html`.
    pub(super) fn of_page(&self) -> String {
        let mut options = String::from("-o report.html");
        if let Some(title) = &self.title {
            options += &format!(" --title={}", shell_word(title));
        }
        if self.no_spans {
            options += " --no-spans";
        }
        options
    }

    /// Returns the facts about games and hits that the chosen columns need.
    pub(super) fn wants(&self) -> Wants {
        Columns::new(&self.columns).wants()
    }
}

/// The outputs of a search that the arguments select.
pub(super) struct OutputChoice<'a> {
    args: &'a OutputArgs,
    /// The format of the hits on standard output. If it is `None`, hits are printed as text, but only if there are no output files.
    pub(super) format: Option<FormatName>,
    /// The files to write.
    pub(super) files: Vec<&'a Path>,
}

impl<'a> OutputChoice<'a> {
    /// Determines the outputs from the arguments. `-o -` means standard output. Without it, nothing is printed in a format that is
    /// also written to a file. In a job, a path that ends in a slash is the job folder, not an output.
    pub(super) fn new(args: &'a OutputArgs, is_job: bool) -> OutputChoice<'a> {
        let is_stdout = |path: &Path| path.as_os_str() == "-";
        let paths = args.files.iter().map(PathBuf::as_path);
        let prints = paths.clone().any(is_stdout);
        let files = paths.filter(|path| !(is_stdout(path) || is_job && is_folder(path))).collect();
        let given = OutputChoice { args, format: args.format, files };
        let format = match args.format {
            None if prints => Some(FormatName::Text),
            Some(format) if !prints && given.files_have(|name| name == format) => None,
            format => format,
        };
        OutputChoice { format, ..given }
    }

    /// Returns whether any output file lists hits or games.
    pub(super) fn lists_to_files(&self) -> bool {
        self.files_have(|_| true)
    }

    /// Returns the output formats and their options as JSON, without file names.
    pub(super) fn in_json(&self) -> Result<Value, Failure> {
        let format = |path: &&Path| {
            Ok(match wish(path)? {
                FileContent::Hits(name) => name.to_string(),
                FileContent::Picture(_) => String::from("picture"),
                FileContent::Parquet => String::from("parquet"),
            })
        };
        Ok(json!({
            "format": self.format,
            "files": self.files.iter().map(format).collect::<Result<Vec<String>, Failure>>()?,
            "rows": self.args.rows,
            "columns": self.args.columns,
            "comment": self.args.comment,
            "title": self.args.title,
            "all_plies": self.args.all_plies,
            "spans": !self.args.no_spans,
        }))
    }

    /// Returns the comment that is added at each hit in PGN output.
    fn comment(&self) -> Comment {
        match self.args.comment.as_deref() {
            None => Comment::None,
            Some("") => Comment::Copy,
            Some(text) => Comment::Text(text.to_owned()),
        }
    }

    /// Returns whether games are written as PGN.
    fn write_games(&self) -> bool {
        self.have(|name| name == FormatName::Pgn)
    }

    fn write_page(&self) -> bool {
        self.files.iter().any(|path| matches!(wish(path), Ok(FileContent::Picture(Picture::Page))))
    }

    /// Returns whether hits or games are written in a format for which `test` returns true. Parquet counts as CSV.
    fn have(&self, test: impl Fn(FormatName) -> bool) -> bool {
        let shown = self.format.or(self.files.is_empty().then_some(FormatName::Text));
        shown.is_some_and(&test) || self.files_have(test)
    }

    fn files_have(&self, test: impl Fn(FormatName) -> bool) -> bool {
        self.files.iter().any(|path| match wish(path) {
            Ok(FileContent::Hits(name)) => test(name),
            Ok(FileContent::Parquet) => test(FormatName::Csv),
            _ => false,
        })
    }

    /// Fails if an option affects none of the outputs. `lists` is true if hits may be listed on standard output.
    pub(super) fn refuse_idle(&self, lists: bool) -> Result<(), Failure> {
        use FormatName::{Csv, Epd, Fen, Jsonl, Text};
        let lists_in = |is_wanted: fn(FormatName) -> bool| match lists {
            true => self.have(is_wanted),
            false => self.files_have(is_wanted),
        };
        let is_idle =
            self.args.rows != Rows::Hits && !lists_in(|name| matches!(name, Jsonl | Csv | Epd | Fen));
        let why = if is_idle {
            "--rows is for tables of hits: choose --format jsonl, csv, epd or fen, or write such a file with -o"
        } else if !self.args.columns.is_empty() && !lists_in(|name| matches!(name, Jsonl | Csv)) {
            "--columns is for tables of hits: choose --format jsonl or csv, or write a .jsonl, .csv or .parquet file with -o"
        } else if self.args.all_plies && !lists_in(|name| name == Text) {
            "--all-plies is for lists as text: choose --format text, or write a .txt file with -o"
        } else if self.args.comment.is_some() && !self.write_games() {
            "--comment needs games to write into: choose --format pgn, or write a .pgn file with -o"
        } else if self.args.title.is_some() && !self.write_page() {
            "--title is for reports: write an .html file with -o"
        } else {
            return Ok(());
        };
        Err(Failure::Other(why.into()))
    }

    /// Returns the selected columns, or those of `usual` if none were selected.
    fn columns_or(&self, usual: impl FnOnce() -> Columns) -> Columns {
        if self.args.columns.is_empty() { usual() } else { Columns::new(&self.args.columns) }
    }

    /// Returns the columns for CSV and Parquet output.
    fn table_columns(&self, extras: Extras) -> Columns {
        self.columns_or(|| Columns::with_table_defaults(extras))
    }

    /// Returns the format of a list of hits, or `None` for PGN, which is a list of games.
    fn format_of(&self, name: FormatName, layout: Layout, chooses: bool, extras: Extras) -> Option<Format> {
        let rows = self.args.rows;
        let at_most = |usual: usize| if self.args.all_plies { usize::MAX } else { usual };
        Some(match name {
            FormatName::Text => Format::Text {
                runs_max: at_most(RUNS_MAX),
                layout,
                moves_max: extras.spans.then(|| at_most(MOVES_MAX)),
                styled: false,
                cut: false,
            },
            FormatName::Pgn => return None,
            FormatName::Jsonl => {
                Format::JsonLines { rows, columns: self.columns_or(|| Columns::with_object_defaults(extras)) }
            }
            FormatName::Csv => Format::Csv { rows, columns: self.table_columns(extras) },
            FormatName::Epd => Format::Epd(rows),
            FormatName::Fen => Format::Fen(rows),
            FormatName::Plain => Format::Plain,
            FormatName::Values => Format::Values { all: !chooses },
        })
    }
}

/// Returns the table column with this name.
fn column(name: &str) -> Result<Column, String> {
    name.parse().map_err(|unknown: UnknownName| format!("there is no such column; {}", unknown.remedy()))
}

/// Returns whether the name of an output ends in a slash.
fn is_folder(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(std::path::is_separator)
}

/// The kind of content that a file extension implies.
enum FileContent {
    Hits(FormatName),
    Picture(Picture),
    Parquet,
}

fn wish(path: &Path) -> Result<FileContent, Failure> {
    let is_packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("zst"));
    match ending(path).as_str() {
        // Parquet files have their own compression. Pictures are for browsers, which do not decompress `.zst` files.
        "parquet" | "html" | "svg" if is_packed => Err(unknown_ending(path)),
        "pgn" => Ok(FileContent::Hits(FormatName::Pgn)),
        "txt" => Ok(FileContent::Hits(FormatName::Text)),
        "jsonl" | "ndjson" => Ok(FileContent::Hits(FormatName::Jsonl)),
        "csv" => Ok(FileContent::Hits(FormatName::Csv)),
        "epd" => Ok(FileContent::Hits(FormatName::Epd)),
        "fen" => Ok(FileContent::Hits(FormatName::Fen)),
        "parquet" if cfg!(feature = "parquet") => Ok(FileContent::Parquet),
        "parquet" => Err(Failure::Other(format!(
            "{}: this program was built without Parquet: build it with `--features parquet`, or write a .csv file",
            path.display()
        ))),
        "html" => Ok(FileContent::Picture(Picture::Page)),
        "svg" => Ok(FileContent::Picture(Picture::Svg)),
        _ => Err(unknown_ending(path)),
    }
}

fn unknown_ending(path: &Path) -> Failure {
    Failure::Other(format!(
        "{}: the ending of the name chooses the format: give a name that ends in .pgn, .txt, .jsonl, .csv, .epd or \
         .fen (.zst may follow), .parquet, .html or .svg",
        path.display()
    ))
}

/// One output of hits.
struct HitOutput {
    format: Format,
    stitcher: Stitcher,
    sink: Sink,
}

impl HitOutput {
    fn write(&mut self, report: &Report, progress: &ProgressDisplay) -> Result<ControlFlow<()>, Failure> {
        let HitOutput { stitcher, sink, .. } = self;
        let flow = progress.beside_stdout(|| sink.put(|mut out| stitcher.write(report, &mut out)))?;
        Ok(flow.unwrap_or(ControlFlow::Break(())))
    }
}

/// All outputs of a search.
pub(super) struct Outputs {
    outputs: Vec<HitOutput>,
    pictures: Vec<(Picture, Sink)>,
    games: GameOutputs,
    /// The order of games, if it is not database order.
    order: Option<Order>,
    skip: u64,
    games_max: Option<u64>,
}

impl Outputs {
    /// Starts all output files. `lists` is true if a list may be printed on standard output. `is_sorted` is true if the query
    /// determines the order of the listed games.
    pub(super) fn create(
        choice: &OutputChoice,
        chosen: &Chosen,
        (lists, is_sorted): (bool, bool),
        extras: Extras,
        begun: OutputFiles,
    ) -> Result<Outputs, Failure> {
        let sources = begun.database.source_names();
        let (skip, games_max) = (chosen.skip, chosen.games_max);
        let mut games = GameOutputs::new(choice.comment(), skip, games_max);
        // An order from the arguments takes precedence over that of the query.
        let by_query = (is_sorted && (lists || choice.lists_to_files())).then_some(Order::ByQuery);
        let order = chosen.order.or(by_query);
        let chooses = !chosen.is_all();
        let layout = if order.is_some() { Layout::Fixed } else { Layout::Fitted };
        let output = |format: Format, sink| {
            let has_headings = matches!(format, Format::Text { .. }) && sources.len() > 1 && order.is_none();
            let stitcher = Stitcher::new(has_headings.then(|| sources.clone()), games_max);
            HitOutput { format, stitcher: stitcher.skipping(skip), sink }
        };
        let mut outputs = Vec::new();
        let shown = choice.format.or(choice.files.is_empty().then_some(FormatName::Text)).filter(|_| lists);
        let format =
            shown.map_or(Some(Format::Nothing), |name| choice.format_of(name, layout, chooses, extras));
        if format.is_none() {
            games.add(begun.stdout(Stdout::new()));
        }
        let (format, stdout) = match format.unwrap_or(Format::Nothing) {
            Format::Text { runs_max, layout, moves_max, .. } => {
                let styled = begun.are_written && has_colors_on_stdout();
                let cut = terminal::is_stdout();
                (Format::Text { runs_max, layout, moves_max, styled, cut }, Stdout::with_colors())
            }
            format => (format, Stdout::new()),
        };
        outputs.push(output(format, begun.stdout(stdout)));
        let mut pictures = Vec::new();
        for path in &choice.files {
            let wish = wish(path)?;
            let sink = begun.begin(path)?;
            match wish {
                FileContent::Hits(name) => match choice.format_of(name, layout, chooses, extras) {
                    Some(format) => outputs.push(output(format, sink)),
                    None => games.add(sink),
                },
                FileContent::Picture(picture) => pictures.push((picture, sink)),
                #[cfg(feature = "parquet")]
                FileContent::Parquet => {
                    let columns = choice.table_columns(extras);
                    outputs.push(output(
                        Format::Parquet { rows: choice.args.rows, columns },
                        sink.parquet(columns)?,
                    ));
                }
                #[cfg(not(feature = "parquet"))]
                FileContent::Parquet => unreachable!("it was refused"),
            }
        }
        for HitOutput { format, sink, .. } in &mut outputs {
            sink.put(|out| out.write_all(&format.head()))?;
        }
        Ok(Outputs { outputs, pictures, games, order, skip, games_max })
    }

    pub(super) fn collectors(&self) -> Collectors {
        let formats = self.outputs.iter().map(|output| output.format).collect();
        let reach = || ListReach::new(self.skip, self.games_max);
        let comment = self.games.are_wanted().then(|| self.games.comment().clone());
        if let Some(order) = self.order {
            // The games that `--skip` leaves out are the first in the order, so they must be kept until the end as well.
            let held = reach().games_max().and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
            let ordered = Some(OrderedCollector::new(order, held, formats, comment));
            return Collectors { ordered, ..Collectors::default() };
        }
        Collectors {
            lists: self.count_games().then(|| ListsCollector::new(formats, reach())),
            games: comment.map(|comment| GamesCollector::new(comment, reach())),
            ..Collectors::default()
        }
    }

    /// Writes the lists and games of the next block (a group of whole games). Returns `Break` if no more games are needed.
    pub(super) fn take(
        &mut self,
        streamed: &StreamedBlock,
        lists: Option<Vec<ListPart>>,
        games: Option<GamesPart>,
        texts: &mut GameTexts,
        progress: &ProgressDisplay,
    ) -> Result<ControlFlow<()>, Failure> {
        for game in games.into_iter().flat_map(|part| part.games) {
            self.games.take(streamed, game, texts, progress)?;
        }
        // In database order, games are written immediately. In any other order, they are kept until the end.
        let Some(lists) = lists else { return Ok(ControlFlow::Continue(())) };
        let mut all = ControlFlow::Break(());
        for (output, list) in self.outputs.iter_mut().zip(&lists) {
            if output.write(&list.report, progress)?.is_continue() {
                all = ControlFlow::Continue(());
            }
        }
        Ok(all)
    }

    /// Returns whether all output is in vain: no output is a file, and every pipe has been closed by its reader.
    pub(super) fn are_closed(&self) -> bool {
        let games = self.games.sinks();
        let is_closed = |output: &HitOutput| match &output.sink {
            Sink::Stdout(_) => output.format == Format::Nothing && games.iter().any(Sink::is_closed),
            sink => sink.is_closed(),
        };
        self.pictures.is_empty() && self.outputs.iter().all(is_closed) && games.iter().all(Sink::is_closed)
    }

    /// Writes the games that were kept until the end, and renames all files to their final names.
    pub(super) fn finish(&mut self, held: Vec<HeldGame>, progress: &ProgressDisplay) -> Result<(), Failure> {
        for HeldGame { reports, text } in held {
            if let Some(text) = text {
                progress.beside_stdout(|| self.games.write(text.text()))?;
            }
            for (output, report) in self.outputs.iter_mut().zip(&reports) {
                let _ = output.write(report, progress)?;
            }
        }
        for output in &mut self.outputs {
            std::mem::replace(&mut output.sink, Sink::Closed).finish()?;
        }
        self.games.finish()
    }

    pub(super) fn have_heat_map(&self) -> bool {
        self.pictures.iter().any(|(picture, _)| *picture == Picture::Svg)
    }

    /// Returns whether an HTML report is written.
    pub(super) fn have_page(&self) -> bool {
        self.pictures.iter().any(|(picture, _)| *picture == Picture::Page)
    }

    /// Returns whether there are reports or heat maps.
    pub(super) fn have_pictures(&self) -> bool {
        !self.pictures.is_empty()
    }

    /// Writes the reports and heat maps.
    pub(super) fn draw(&mut self, findings: &Findings) -> Result<(), Failure> {
        let mut pictures = self.pictures.drain(..);
        pictures.try_for_each(|(picture, sink)| pictures::write(picture, findings, sink))
    }

    /// Returns the paths of unfinished output files.
    pub(super) fn abandoned(&self) -> impl Iterator<Item = &Path> {
        let outputs = self.outputs.iter().map(|output| &output.sink);
        let pictures = self.pictures.iter().map(|(_, sink)| sink);
        outputs.chain(self.games.sinks()).chain(pictures).filter_map(Sink::path)
    }

    /// Returns whether the listed games and positions are counted separately from all hits. They are if an output lists hits, or if
    /// the number of listed games is limited.
    fn count_games(&self) -> bool {
        let is_limited = self.skip > 0 || self.games_max.is_some();
        is_limited || self.outputs.iter().any(|output| output.format != Format::Nothing)
    }

    /// Returns the numbers of listed games and positions. `hit` contains the total numbers of games and positions with hits.
    pub(super) fn listed(&self, hit: HitTotals) -> HitTotals {
        if self.count_games() { self.outputs[0].stitcher.hit_totals() } else { hit }
    }
}
