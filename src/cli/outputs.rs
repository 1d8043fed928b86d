//! Where hits are written to: standard output, files, in one format each.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use clap::ValueEnum;
use orbit_chess::choice::{Order, Top};
use orbit_chess::database::{Database, Room, Taken};
use orbit_chess::engine::Outputs as Wanted;
use orbit_chess::report::{Format, Found, Layout, OutputFile, Report, Rows, Stitcher, Tally};
use orbit_chess::study::Study;

#[cfg(feature = "parquet")]
use orbit_chess::report::ParquetWriter;

use super::Failure;
use super::choosing::ChoosingArgs;
use super::common::{Interrupt, Progress, create_output, ending};
use super::games::{Comment, Games, Target};
use super::pictures::{self, Picture};
use super::terminal::Stdout;

/// Plies in a line of text without `--all-plies`.
const PLIES_MAX: usize = 12;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// How hits are printed [default: text].
    #[arg(long, value_enum)]
    pub(super) format: Option<FormatName>,
    /// Write to a file what its name ends in: the games that hit as .pgn; hits as .txt, .jsonl, .csv, .epd or .fen;
    /// each perhaps with .zst after it; hits as .parquet (in programs built with it), a report as .html, a heat map as
    /// .svg (both of all that hits, whatever is listed). May be given several times. Nothing is printed then without
    /// --format. A file appears under its name only when it is complete.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Whether tables (jsonl, csv, parquet, epd, fen) have a row for each position that hits or, with its first hit,
    /// for each game.
    #[arg(long, value_enum, default_value_t = RowsName::Hits)]
    rows: RowsName,
    /// Put a comment at each hit into games that are written as PGN: TEXT, or without it the copy that hit
    /// (the first in the order of the orbit) and how many others did.
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    comment: Option<String>,
    /// List every ply of a game in text, however many hit.
    #[arg(long)]
    pub(super) all_plies: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum FormatName {
    Text,
    Pgn,
    Jsonl,
    Csv,
    Epd,
    Fen,
    Plain,
    Values,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum RowsName {
    Hits,
    Games,
}

impl OutputArgs {
    /// The files that are written.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Whether a file lists hits or games.
    pub(super) fn lists_to_files(&self) -> bool {
        self.files_have(|_| true)
    }

    /// Whether games are written as PGN, so that their text is needed.
    pub(super) fn write_games(&self) -> bool {
        self.have(|name| name == FormatName::Pgn)
    }

    /// Whether hits or games are written in a format that passes a test; Parquet counts as CSV.
    fn have(&self, test: impl Fn(FormatName) -> bool) -> bool {
        let shown = self.format.or(self.files.is_empty().then_some(FormatName::Text));
        shown.is_some_and(&test) || self.files_have(test)
    }

    fn files_have(&self, test: impl Fn(FormatName) -> bool) -> bool {
        self.files.iter().any(|path| match wish(path) {
            Ok(Wish::Hits(name)) => test(name),
            Ok(Wish::Parquet) => test(FormatName::Csv),
            _ => false,
        })
    }

    /// Refuses options that change nothing in what is written.
    /// `lists` is whether there can be a list on standard output.
    pub(super) fn refuse_idle(&self, lists: bool) -> Result<(), Failure> {
        use FormatName::{Csv, Epd, Fen, Jsonl, Text};
        let lists_in = |is_wanted: fn(FormatName) -> bool| match lists {
            true => self.have(is_wanted),
            false => self.files_have(is_wanted),
        };
        let is_idle =
            self.rows != RowsName::Hits && !lists_in(|name| matches!(name, Jsonl | Csv | Epd | Fen));
        let why = if is_idle {
            "--rows is for tables of hits: choose --format jsonl, csv, epd or fen, or write such a file with -o"
        } else if self.all_plies && !lists_in(|name| name == Text) {
            "--all-plies is for lists as text: choose --format text, or write a .txt file with -o"
        } else if self.comment.is_some() && !self.write_games() {
            "--comment is put into games: write them with --format pgn or -o FILE.pgn"
        } else {
            return Ok(());
        };
        Err(Failure::Other(why.into()))
    }

    fn rows(&self) -> Rows {
        match self.rows {
            RowsName::Hits => Rows::Hits,
            RowsName::Games => Rows::Games,
        }
    }

    /// `None` for games as they are.
    fn format_of(&self, name: FormatName, layout: Layout, chooses: bool) -> Option<Format> {
        let rows = self.rows();
        Some(match name {
            FormatName::Text => {
                Format::Text { plies_max: if self.all_plies { usize::MAX } else { PLIES_MAX }, layout }
            }
            FormatName::Pgn => return None,
            FormatName::Jsonl => Format::JsonLines(rows),
            FormatName::Csv => Format::Csv(rows),
            FormatName::Epd => Format::Epd(rows),
            FormatName::Fen => Format::Fen(rows),
            FormatName::Plain => Format::Plain,
            FormatName::Values => Format::Values { all: !chooses },
        })
    }
}

/// What a file's name asks for.
enum Wish {
    Hits(FormatName),
    Picture(Picture),
    Parquet,
}

fn wish(path: &Path) -> Result<Wish, Failure> {
    let is_packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("zst"));
    match ending(path).as_str() {
        // Parquet is packed inside, and pictures are for browsers, which unpack nothing.
        "parquet" | "html" | "svg" if is_packed => Err(unknown_ending(path)),
        "pgn" => Ok(Wish::Hits(FormatName::Pgn)),
        "txt" => Ok(Wish::Hits(FormatName::Text)),
        "jsonl" | "ndjson" => Ok(Wish::Hits(FormatName::Jsonl)),
        "csv" => Ok(Wish::Hits(FormatName::Csv)),
        "epd" => Ok(Wish::Hits(FormatName::Epd)),
        "fen" => Ok(Wish::Hits(FormatName::Fen)),
        "parquet" if cfg!(feature = "parquet") => Ok(Wish::Parquet),
        "parquet" => Err(Failure::Other(format!(
            "{}: this program was built without Parquet; build it with `--features parquet`, or write .csv",
            path.display()
        ))),
        "html" => Ok(Wish::Picture(Picture::Page)),
        "svg" => Ok(Wish::Picture(Picture::Svg)),
        _ => Err(unknown_ending(path)),
    }
}

fn unknown_ending(path: &Path) -> Failure {
    Failure::Other(format!(
        "{}: the name must end in .pgn, .txt, .jsonl, .csv, .epd, .fen (perhaps with .zst after it), .html or .svg: \
         that says what is written",
        path.display()
    ))
}

/// What has to be found and made for the outputs, on any thread.
pub(super) struct Formats {
    formats: Vec<Format>,
    /// Reports of whole blocks are not wanted where games are held until the end.
    are_held: bool,
    comments_name_copies: bool,
    writes_games: bool,
    sorts_by_tag: bool,
    sorts_by_value: bool,
    /// What reports took for a hit, at most so far; 0 before the first.
    hit_bytes: AtomicU64,
}

/// What reports are taken to need for a hit before there is one: a JSON object with its tags.
const HIT_BYTES: u64 = 512;

impl Formats {
    pub(super) fn outputs(&self) -> Wanted {
        let wants_values = self.formats.iter().any(|format| format.outputs().contains(Wanted::VALUES));
        if wants_values || self.sorts_by_value || self.comments_name_copies {
            Wanted::VALUES
        } else {
            Wanted::BITS
        }
    }

    pub(super) fn reads_tags(&self) -> bool {
        // What is fetched from a source is compared with all that is known of the game.
        self.writes_games || self.sorts_by_tag || self.formats.iter().any(|format| format.reads_tags())
    }

    pub(super) fn names_copies(&self) -> bool {
        self.comments_name_copies || self.formats.iter().any(|format| format.names_copies())
    }

    /// The reports of a block, once there is room for them.
    pub(super) fn reports(&self, found: &Found, room: &Room) -> Vec<Report> {
        if self.are_held {
            return Vec::new();
        }
        let lists_all = self.formats.iter().any(|format| matches!(format, Format::Values { all: true }));
        let hits = if lists_all { found.block.slots() as u64 } else { found.hits.count() };
        let known = self.hit_bytes.load(Ordering::Relaxed);
        let hit_bytes = if known == 0 { HIT_BYTES * self.formats.len() as u64 } else { known };
        room.reserve(hits * hit_bytes);
        let reports: Vec<Report> =
            self.formats.iter().map(|format| format.report(found, 0..found.block.games_len())).collect();
        let bytes = reports.iter().map(|report| report.text.capacity() as u64).sum();
        room.correct(hits * hit_bytes, bytes);
        // One large hit counts for a while, and not until the end of the run.
        self.hit_bytes.store(bytes.div_ceil(hits.max(1)).max(known - known / 8), Ordering::Relaxed);
        reports
    }
}

/// One place that hits are written to.
struct Output {
    format: Format,
    stitcher: Stitcher,
    sink: Sink,
}

enum Sink {
    Stdout(Stdout),
    /// The reader of standard output closed the pipe.
    Closed,
    File(OutputFile),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<OutputFile>>),
}

impl Output {
    fn write(&mut self, report: &Report, progress: &Progress) -> Result<ControlFlow<()>, Failure> {
        let stitcher = &mut self.stitcher;
        match &mut self.sink {
            Sink::Closed => Ok(ControlFlow::Break(())),
            Sink::File(file) => stitcher.write(report, file).map_err(Failure::File),
            #[cfg(feature = "parquet")]
            Sink::Parquet(table) => stitcher.write(report, table).map_err(Failure::File),
            Sink::Stdout(out) => {
                let written = progress.beside_stdout(|| {
                    let flow = stitcher.write(report, out)?;
                    out.flush().map(|()| flow)
                });
                match written {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        self.sink = Sink::Closed;
                        Ok(ControlFlow::Break(()))
                    }
                    written => written.map_err(Failure::Stdout),
                }
            }
        }
    }

    /// Writes what stands before all hits.
    fn begin(&mut self) -> Result<(), Failure> {
        let head = self.format.head();
        match &mut self.sink {
            Sink::Stdout(out) => match out.write_all(&head) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    self.sink = Sink::Closed;
                    Ok(())
                }
                written => written.map_err(Failure::Stdout),
            },
            Sink::File(file) => file.write_all(&head).map_err(Failure::File),
            // Parquet has its columns in its own way.
            _ => Ok(()),
        }
    }
}

/// All places, and what is written to them.
pub(super) struct Outputs {
    outputs: Vec<Output>,
    pictures: Vec<(Picture, OutputFile)>,
    /// Games that do not come as they stand in the database are held until the end, with a report for each output.
    held: Option<(Order, Top<Held>)>,
    games: Games,
}

/// A game that is held: a report for each output, and its text if games are written.
type Held = (Vec<Report>, Vec<u8>);

impl Outputs {
    /// Begins all files. `lists` is whether there can be a list on standard output.
    pub(super) fn create(
        args: &OutputArgs,
        choosing: &ChoosingArgs,
        lists: bool,
        database: &Database,
        interrupt: &Interrupt,
    ) -> Result<Outputs, Failure> {
        let sources: Vec<String> = database.sources().iter().map(|source| source.name.clone()).collect();
        let comment = Comment::of(args.comment.as_deref());
        let mut games = Games::new(database.texts(), comment, choosing.skip(), choosing.games_max());
        let order = choosing.order();
        let chooses = choosing.chooses();
        let layout = if order.is_some() { Layout::Fixed } else { Layout::Fitted };
        let output = |format: Format, sink| {
            let has_headings = matches!(format, Format::Text { .. }) && sources.len() > 1 && order.is_none();
            let stitcher = Stitcher::new(has_headings.then(|| sources.clone()), choosing.games_max());
            Output { format, stitcher: stitcher.skipping(choosing.skip()), sink }
        };
        let mut outputs = Vec::new();
        let shown = args.format.or(args.files.is_empty().then_some(FormatName::Text)).filter(|_| lists);
        let format = shown.map_or(Some(Format::Nothing), |name| args.format_of(name, layout, chooses));
        if format.is_none() {
            games.add(Target::Stdout(Stdout::new()));
        }
        outputs.push(output(format.unwrap_or(Format::Nothing), Sink::Stdout(Stdout::new())));
        let mut pictures = Vec::new();
        for path in &args.files {
            let wish = wish(path)?;
            let file = create_output(path, database, interrupt)?;
            match wish {
                Wish::Hits(name) => match args.format_of(name, layout, chooses) {
                    Some(format) => outputs.push(output(format, Sink::File(file))),
                    None => games.add(Target::File(file)),
                },
                Wish::Picture(picture) => pictures.push((picture, file)),
                #[cfg(feature = "parquet")]
                Wish::Parquet => {
                    let table = ParquetWriter::new(file).map_err(Failure::File)?;
                    outputs.push(output(Format::Csv(args.rows()), Sink::Parquet(Box::new(table))));
                }
                #[cfg(not(feature = "parquet"))]
                Wish::Parquet => unreachable!("it was refused"),
            }
        }
        outputs.iter_mut().try_for_each(Output::begin)?;
        let kept = choosing.games_max().map_or(u64::MAX, |max| max.saturating_add(choosing.skip()));
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        let held = order.map(|order| (order, order.top(kept)));
        Ok(Outputs { outputs, pictures, held, games })
    }

    pub(super) fn formats(&self) -> Formats {
        Formats {
            formats: self.outputs.iter().map(|output| output.format).collect(),
            are_held: self.held.is_some(),
            comments_name_copies: self.games.name_copies(),
            writes_games: self.games.are_wanted(),
            sorts_by_tag: self.held.as_ref().is_some_and(|(order, _)| order.reads_tags()),
            sorts_by_value: self.held.as_ref().is_some_and(|(order, _)| order.reads_values()),
            hit_bytes: AtomicU64::new(0),
        }
    }

    /// Takes what was found in the next block, and the reports of it; breaks when no more games are wanted.
    pub(super) fn take(
        &mut self,
        taken: &Taken,
        found: &Found,
        reports: &[Report],
        progress: &Progress,
    ) -> Result<ControlFlow<()>, Failure> {
        if self.held.is_some() {
            return self.hold(taken, found).map(ControlFlow::Continue);
        }
        self.games.take(taken, found, progress)?;
        let mut all = ControlFlow::Break(());
        for (output, report) in self.outputs.iter_mut().zip(reports) {
            if output.write(report, progress)?.is_continue() {
                all = ControlFlow::Continue(());
            }
        }
        Ok(all)
    }

    /// Keeps the games of a block that are among the best so far.
    fn hold(&mut self, taken: &Taken, found: &Found) -> Result<(), Failure> {
        let Outputs { outputs, held: Some((order, top)), games, .. } = self else { return Ok(()) };
        let mut fault = None;
        for game in found.block.games().filter(|game| found.is_hit(game)) {
            let one = game.index()..game.index() + 1;
            top.offer(order.rank(&game, found.hits), game.number(), || {
                let text = games.text(taken, &game, found).unwrap_or_else(|failure| {
                    fault = Some(failure);
                    Vec::new()
                });
                (outputs.iter().map(|output| output.format.report(found, one.clone())).collect(), text)
            });
        }
        fault.map_or(Ok(()), Err)
    }

    /// Whether nobody reads what is written.
    pub(super) fn are_closed(&self) -> bool {
        let is_closed = |output: &Output| match output.sink {
            Sink::Closed => true,
            Sink::Stdout(_) => output.format == Format::Nothing && self.games.are_closed(),
            _ => false,
        };
        self.pictures.is_empty() && !self.games.are_wanted() && self.outputs.iter().all(is_closed)
    }

    /// Writes the games that were held, and gives all files their names. What was listed.
    pub(super) fn finish(&mut self, progress: &Progress) -> Result<(), Failure> {
        if let Some((order, top)) = self.held.take() {
            for (reports, text) in order.list(top) {
                progress.beside_stdout(|| self.games.write(&text))?;
                for (output, report) in self.outputs.iter_mut().zip(&reports) {
                    let _ = output.write(report, progress)?;
                }
            }
        }
        for output in &mut self.outputs {
            match std::mem::replace(&mut output.sink, Sink::Closed) {
                Sink::File(file) => file.finish()?,
                #[cfg(feature = "parquet")]
                Sink::Parquet(table) => table.finish().map_err(Failure::File)?.finish()?,
                Sink::Stdout(_) | Sink::Closed => {}
            }
        }
        self.games.finish()
    }

    /// Whether a heat map is to be drawn.
    pub(super) fn have_heat_map(&self) -> bool {
        self.pictures.iter().any(|(picture, _)| *picture == Picture::Svg)
    }

    /// Whether a study is wanted.
    pub(super) fn have_pictures(&self) -> bool {
        !self.pictures.is_empty()
    }

    /// Writes the pictures.
    pub(super) fn draw(&mut self, study: &Study, query: &str) -> Result<(), Failure> {
        let mut pictures = self.pictures.drain(..);
        pictures.try_for_each(|(picture, file)| pictures::write(picture, study, query, file))
    }

    /// The files that are not finished.
    pub(super) fn abandoned(&self) -> impl Iterator<Item = &Path> {
        let hits = self.outputs.iter().filter_map(|output| match &output.sink {
            Sink::File(file) => Some(file.path()),
            #[cfg(feature = "parquet")]
            Sink::Parquet(table) => Some(table.out().path()),
            Sink::Stdout(_) | Sink::Closed => None,
        });
        let games = self.games.files().map(OutputFile::path);
        hits.chain(games).chain(self.pictures.iter().map(|(_, file)| file.path()))
    }

    /// The games and positions that were listed.
    pub(super) fn listed(&self) -> Tally {
        self.outputs[0].stitcher.tally()
    }
}
