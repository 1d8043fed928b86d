//! Implements `orbit scan`, which finds the positions that a query matches.

mod command_line;
mod counts;
mod misses;
mod options;
mod queries;
mod ready;
mod run;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use orbit_database::Summary;
use orbit_engine::EngineError;
use orbit_engine::verify::Sample;
use orbit_search::Request;
use orbit_search::executor::{EngineChoice, Executor, ScanError};
use orbit_search::report::{Phases, side_lines_line, summary_lines};

use self::options::ScanOptions;
pub(super) use self::options::{EngineOfPart, RunOptions, ScanPurpose};
pub(super) use self::ready::{JobInputs, PreparedScan};
use self::run::ScanRun;
use super::board::BoardArgs;
use super::choosing::{ChoosingArgs, choose_similar, hints, measure_hints};
use super::common::{CtrlC, GpuArgs, ProgressArgs, agreement_line, choice, counted, from_one, grouped};
use super::failure::{Exit, Failure};
use super::outputs::OutputArgs;
use super::query_text::{DialectArgs, QueryText};
use super::reading::ReadingArgs;
use super::stats::StatsArgs;
use super::terminal::Remark;

const USAGE: &str = "orbit scan [OPTIONS] QUERY PATH...\n       orbit scan [OPTIONS] -f FILE.cql PATH...\n       orbit scan [OPTIONS] --theme NAME PATH...\n       orbit scan [OPTIONS] -e QUERY PATH...\n       \
orbit scan [OPTIONS] --board FEN PATH...\n       orbit scan [OPTIONS] --similar FEN PATH...\n       orbit scan [OPTIONS] --at POSITION PATH...\n       orbit scan [OPTIONS] --queries FILE PATH...";

const AFTER_HELP: &str = "\
Terms:
  hit     a position at which the query is true, has a number, or finds a square
  game that hits
          a game with a hit
  copy    one of the distinct patterns that a transform of the query (flip, shift, ...) makes
  ply     the number of half-moves played before a position; 0 is the start of the game
  node    a position of a game with side lines (--variations). Nodes are numbered from 0: the main
          line, in which a node is a ply, then the side lines, first those that leave it last
  reel    a file that `orbit index` makes from PGN; orbit searches it faster than PGN

Formats:
  text    a line for each game that hits: its number, players, result, year and event; the move that
          led to each hit (`23... Kh8` is Black's 23rd move, `start` the position before the first
          move), what the query finds there (`king on g8`, `value 5`), and the move that follows
          (`next Rxf6`); in parentheses, the number of hits. `5... Bb4 to 10... a6` are hits at all
          positions from the first to the last; `+7` are hits that are left out. A hit in a side
          line is shown in parentheses, after the moves that lead into it:
          `(12...b5 14.Qh5: 15. Nf3)` is White's 15th move in a side line that begins with 14.Qh5,
          within the side line that begins with 12...b5. `12...b5[2]` is the second side line that
          leaves its position with 12...b5. If hits consist of moves (see Spans), lines below the
          game show these moves after the name of the hit: at most 12, with an ellipsis for the
          others; --all-plies shows all of them
  pgn     the games that hit, with the text of their source; --comment marks the hits in it
  jsonl   a JSON object for each hit
  csv     a table with a header line and a row for each hit, with the fields of jsonl as columns. A
          .parquet file has the same columns. docs/output.md has each column; the most used are
          game, source, white, black, date (2015-03-07), year, ply, move (`23. Nxf6+`), san, fen,
          next, value (a number), squares, matched (where the pieces of the query stand), copy,
          pattern and transform (the first copy that matches). --columns chooses some of them
  epd     the position of each hit; operations give the next move, the game and the ply, in a side
          line also the line and the node, and the move that led there
  fen     the position of each hit
  plain   `game ply` for each hit; in side lines `game node`
  values  `game ply value`, in side lines `game node value`, for each position at which the query
          has a value: a number; a set of squares as `[a1,h1]`, `a1` or `[]`; `true` where a
          condition holds
  Characters that could control a terminal (control characters, changes of writing direction,
  characters without width) are escaped: as `\\x1b` or `\\u{202e}` in text, as `\\u001b` in JSON. pgn
  and csv escape them only on a terminal: files and pipes get the bytes of the source.

Spans:
  A hit of `line`, `path`, `--`, `[x]`, `move`, `find` or `echo` consists of positions and moves,
  its span. The span of a line consists of the positions of its constituents and all moves between
  them; that of a path, of its start, the moves that count, and the positions after them; that of
  `--`, `[x]` and `move`, of the first move that fits; that of `find`, of the hit and the position
  found; that of `echo`, of both positions. If a query has several such filters, lines and paths
  take precedence over moves, and moves over positions found. Among equal filters, and among the
  copies of a transform, the first that matched is used. A filter that is negated or is a part of
  another such filter has no span. But `--(F)` continues with a line, path or move of F. For `find`
  and `echo`, text shows the moves that led to the position found

Exit code: 0 if the search succeeded, with or without hits; 1 if nothing hits and --fail-if-none is
given; 2 if the query, an option or an output is wrong; 3 if a source was not read to its end; 4
if the system refuses memory; 130 after Ctrl-C.

Examples:
  orbit scan 'shift flip flipcolor {Nd4 kf3}' games.pgn
  orbit scan 'mate flip {Rd8 kg8}' twic/ lichess.pgn.zst
  orbit scan --theme greek-gift games.pgn
  orbit scan --stats year,eco,year*result 'flipcolor {Bh7 kg8}' games.pgn
  orbit scan --format jsonl -f windmill.cql all.reel | jq .fen
  orbit scan -w 'elo>=2600' --columns white,black,move,next -o hits.csv -o - 'stalemate' all.reel
  orbit scan 'flipcolor {Bh7 kg8 btm check}' games.pgn -o checks.pgn --comment -o checks.html
  orbit scan --where white~carlsen --sort date --limit 10 'stalemate' games.pgn
  orbit scan --stats year,eco,elo:100 --stats-output years.csv 'passedpawns' games.reel
  zstdcat big.pgn.zst | orbit scan --count 'Q attackedby q' -
  orbit scan --board '8/8/8/8/3N4/5k2/8/8' --shift --flip --flipcolor games.pgn
  orbit scan --similar '8/8/8/4k3/4P3/4K3/8/8' --shift --flipcolor games.pgn
  orbit scan --at 'e4 c5 Nf3 d6 d4' --stats next -w 'elo>=2600' all.reel";

#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The query, unless an option replaces it, then the files to search.
    ///
    /// With -f, -e, --theme, --board, --similar, --at or --queries, give only files.
    ///
    /// The query is CQL 6.2 or a position list of CQL 5. A path is a PGN, EPD or FEN file (plain, .zst, .gz or .bz2), a
    /// .zip archive or a folder of such files, a reel, or `-` for standard input. A build with the feature `https` also
    /// reads the URL of such a file, and one with the feature `sevenz` also a .7z archive. `games.zip/member.pgn` is one
    /// member of an archive.
    #[arg(value_name = "QUERY PATH")]
    words: Vec<OsString>,
    /// Take QUERY as the query, whatever it begins with; all other arguments are files to search.
    #[arg(short = 'e', long = "query", value_name = "QUERY", allow_hyphen_values = true,
          conflicts_with_all = ["file", "board", "similar"])]
    query: Option<String>,
    /// Read the query from a file.
    #[arg(short, long, value_name = "FILE.cql")]
    file: Option<PathBuf>,
    /// Count the hits of many queries, read from a file, in one pass over the games.
    ///
    /// Each line of the file is a query, or a name, a tab and a query. Empty lines and lines that begin with `#` are
    /// skipped. For each query, orbit prints the numbers of games and positions that hit.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "file", "board", "similar", "count", "copies", "heat", "verify", "stats",
          "conditions", "whose", "first", "best", "skip", "limit", "sort", "sample", "seed", "rows", "comment", "all_plies"])]
    queries: Option<PathBuf>,
    /// Search for a built-in theme, such as `greek-gift`, instead of a query.
    ///
    /// `orbit batch --list` lists all themes, `orbit batch --show NAME` prints one with its query.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["query", "file", "board", "similar", "queries", "dialect"])]
    theme: Option<String>,
    /// List the games that reach exactly this position, instead of a query.
    ///
    /// POSITION is a FEN, `start`, or moves from the usual start position: `e4 c5 Nf3`. Castling rights must be equal, and the en
    /// passant square if a pawn can capture there, as for repetitions. If a reel has a table of positions (`orbit index
    /// --positions`), only its blocks with such games are read, unless the outputs need other games.
    #[arg(long, value_name = "POSITION", conflicts_with_all = ["query", "file", "board", "similar", "theme", "queries", "dialect"])]
    at: Option<String>,
    #[command(flatten)]
    dialect: DialectArgs,
    /// Print the numbers of games and positions that hit, instead of the hits.
    #[arg(short, long, conflicts_with = "similar")]
    count: bool,
    /// Print the N copies that hit most often, instead of the hits.
    ///
    /// The copies are those that the outermost transform of the query makes. `--copies` alone prints 20 of them,
    /// `--copies=5` prints 5.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20",
          conflicts_with_all = ["count", "limit", "skip", "similar"])]
    copies: Option<usize>,
    /// Print where on the board the hits are, instead of the hits.
    ///
    /// Prints the number of hits for each turn, reflection and colour swap, and a heat map: of the square on which the
    /// first piece of the copy stands, of how far the copy was shifted, or of the squares that the query finds.
    #[arg(long, conflicts_with_all = ["count", "limit", "skip", "similar"])]
    heat: bool,
    /// Choose the engine that evaluates the query; all engines give the same answers.
    ///
    /// With `reference`, games of PGN come from a second reader of games, which uses pgn-reader and shakmaty.
    #[arg(long, value_parser = choice::<EngineChoice>(), default_value_t)]
    engine: EngineChoice,
    #[command(flatten)]
    gpu: GpuArgs,
    /// Also read games with a second reader and evaluate positions on a second engine, and stop if results differ.
    ///
    /// `--verify` alone checks all games and positions; `--verify=N` checks N segments of 32 positions, spread over the
    /// games, and the reading of one MiB of PGN in 16. PGN files are read even if there are reels beside them. The summary
    /// names the rules by which the readers differ; any other difference is an error.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    verify: Option<SampleArg>,
    /// Use N threads [default: one for each core].
    #[arg(short = 'j', long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,
    /// Run the search as a job in FOLDER/, which continues after an interruption.
    ///
    /// If you repeat the command, it computes only the missing parts, and prints what a single run would have printed. See
    /// `orbit job`.
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    /// Print neither a summary nor progress.
    #[arg(short, long)]
    quiet: bool,
    /// Exit with code 1 if nothing hits.
    #[arg(long)]
    fail_if_none: bool,
    /// Write to FILE a list of the games that were cut, skipped or repaired.
    ///
    /// A game that cannot be read to its end is cut; the moves before the fault are kept. A game is skipped if none of its
    /// positions can be read, and trimmed if side lines were left out or cut. Each line of the list names the source, the
    /// game, the byte, the ply and the reason.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// Print on stderr which games were cut, skipped or repaired, and notes about the query.
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    beside: ReadingArgs,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    choosing: ChoosingArgs,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    stats: StatsArgs,
}

#[derive(Clone, Copy, Debug)]
struct SampleArg(Sample);

impl FromStr for SampleArg {
    type Err = String;

    fn from_str(text: &str) -> Result<SampleArg, String> {
        match (text, text.parse()) {
            ("all", _) => Ok(SampleArg(Sample::All)),
            (_, Ok(segments)) => Ok(SampleArg(Sample::Segments(segments))),
            _ => Err("expected a number of segments of 32 positions, or `all`".into()),
        }
    }
}

impl Args {
    /// Returns the folder of `--resume`, which contains the search's job.
    pub(super) fn resumed(&self) -> Option<&Path> {
        self.resume.as_deref()
    }

    /// Returns the output paths that name folders.
    pub(super) fn folders(&self) -> Vec<&Path> {
        self.outputs.folders()
    }

    /// Returns the query, and the paths that follow it.
    fn query(&self) -> Result<QueryText, Failure> {
        match (&self.theme, self.board()?) {
            (Some(name), _) => QueryText::from_theme(name, &self.words),
            (None, Some(text)) if self.at.is_some() => QueryText::at(text, &self.words),
            (None, board) => QueryText::take(self.query.as_deref(), self.file.as_deref(), board, &self.words),
        }
    }

    /// Returns the query from `--board`, `--similar` or `--at`, if one of them is given.
    fn board(&self) -> Result<Option<String>, Failure> {
        match &self.at {
            None => self.board.query(),
            Some(at) => {
                let asked = Request { at: Some(at.clone()), ..Request::default() };
                Ok(asked.texts()?.pop())
            }
        }
    }

    /// Returns a request with the arguments that select games, hits and the engine.
    fn request(&self) -> Result<Request, Failure> {
        let mut request = Request { dialect: self.dialect.choice(), ..Request::default() };
        (request.engine, request.verify) = (Some(self.engine), self.verify.map(|sample| sample.0));
        self.beside.put(&mut request);
        self.choosing.put(&mut request);
        request.at.clone_from(&self.at);
        if self.board.is_similar() {
            choose_similar(&mut request)?;
        }
        Ok(request)
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let interrupt = CtrlC::install()?;
    PreparedScan::new(args, RunOptions::new(args, ScanPurpose::Search), &interrupt)?.run(&interrupt, None)
}

fn print_summary(
    options: &ScanOptions,
    search: &ScanRun,
    scan: &Executor,
    phases: Phases,
    summary: &Summary,
    is_interrupted: bool,
) {
    let listed = search.sinks.outputs.listed(search.hit_totals());
    let stop = match (is_interrupted, summary.finished) {
        (true, _) => "interrupted after ",
        (false, false) => {
            message!("stopped at the limit of {}", counted(listed.games as usize, "game", "games"));
            "read until then, in blocks of many games: "
        }
        (false, true) => "",
    };
    let hits = if summary.finished { search.hit_totals() } else { listed };
    let lines = summary_lines(&search.totals(), hits, phases, !summary.finished, &scan.engine_and_threads());
    let side_lines = side_lines_line(summary.side_lines, scan.searches_variations());
    let lines = lines.into_iter().map(Remark::from).chain(side_lines.map(Remark::from));
    let before = std::iter::once(stop).chain(std::iter::repeat(""));
    before.zip(lines).for_each(|(before, line)| line.behind(before).print());
    options.args.beside.unique_line(summary).iter().for_each(|line| message!("{line}"));
    search.spellings(summary.finished).iter().for_each(Remark::print);
    let choice = search.choice();
    let positions = choice.positions_in_words();
    if !positions.is_empty() {
        message!("a position that hits counts if it meets {positions}");
        if hits.positions == 0 && summary.finished {
            measure_hints(choice).for_each(|hint| message!("{hint}"));
        }
    }
    if let Some(games) = search.passing() {
        message!("{} of these games meet the conditions of --where", grouped(games));
        if games == 0 && summary.finished {
            hints(choice).for_each(|hint| message!("{hint}"));
        }
    }
    if options.counts() && options.outputs.lists_to_files() {
        message!("note: the files of -o contain the hits; `--format csv` prints the counts as a table");
    }
    if summary.finished {
        search.missed().iter().for_each(|line| message!("{line}"));
    }
    if listed != hits && options.lists() {
        message!("listed: {} games, {} positions", grouped(listed.games), grouped(listed.positions));
    }
    if let Some((positions, other)) = scan.engine().info().verified {
        message!("{} positions recomputed by {other}: no difference", grouped(positions));
    }
    agreement_line(&summary.agreement).iter().for_each(|line| message!("{line}"));
}

/// Converts an error to a failure. For an error in the query, the message shows its place in the text.
pub(super) fn failure(query: &QueryText, error: ScanError) -> Failure {
    match error {
        ScanError::Query(diagnostic) => query.failure(&diagnostic),
        ScanError::Engine(EngineError::Query { game, place, diagnostic, .. }) => {
            query.failure_in_game(&diagnostic, &format!("game {game}, {place}"))
        }
        other => other.into(),
    }
}
