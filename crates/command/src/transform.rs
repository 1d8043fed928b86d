//! Implements `orbit transform`, which transforms positions.

use std::io::IsTerminal as _;
use std::time::Instant;

use clap::ValueEnum;
use orbit_core::board::{Bitboard, Color, Square};
use orbit_core::diagnostic::{Diagnostic, Severity, Span};
use orbit_core::fen::{FenError, FenRecord, Leniency, RookLetters};
use orbit_core::positions::names::{self, Shifts, TransformStep};
use orbit_core::positions::{Setup, Symmetry, SymmetryGroup, canonical, without_impossible_rights};
use orbit_query::tree::{Any, Pieces, SquaresOp};
use orbit_search::report::words::push_squares;

use super::common::{counted, grouped};
use super::failure::{Exit, Failure};
use super::query_text::QueryText;
use super::transform_lines::{LinesOut, TransformLines};

const USAGE: &str = "orbit transform [OPTIONS] TRANSFORM[,TRANSFORM...] [FEN]...\n       \
orbit transform [OPTIONS] TRANSFORM[,TRANSFORM...] --squares SQUARES";

fn after_help() -> String {
    format!(
        "Transforms, applied from left to right:\n{}\n\n\
CQL and chessops use the same two words for opposite reflections. The spelling decides which one is meant: \
`flipVertical` and `flip-vertical` are those of chessops (1 <-> 8), `flipvertical` is that of CQL (a <-> h). A \
warning says which one was taken.\n\n\
A FEN may end after any field; without a side to move, White is to move. An EPD may be given as well: its operations \
are copied unchanged. The fields of Crazyhouse (pockets, `~` after promoted pieces) and of Three-Check (remaining \
checks) are read and written. Castling rights and the en passant square move with the squares, even to where they are \
impossible: --legal drops those.\n\n\
Exit code: 0 if all positions were read, even if lines of standard input were wrong: these lines are listed and \
counted on stderr; 2 if an argument is wrong; 3 if standard input was not read to its end.\n\n\
Examples:
  orbit transform flip-ranks,rotate90 '4k3/8/8/8/8/8/8/R3K3 w Q - 0 1'
  orbit transform flip-colors < positions.fen > for-black.fen
  orbit transform --canonical all < positions.fen | sort | uniq -c
  orbit transform --symmetries --show 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR'
  orbit transform --cql5 shift:2:1 --squares b3,c4",
        names::HELP
    )
}

#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE, after_help = after_help())]
pub(super) struct Args {
    /// The transforms, separated by commas, then the positions as FENs.
    ///
    /// Without positions, or for `-`, one position is read from each line of standard input. The transforms may be left
    /// out if --canonical, --symmetries, --legal or --show is given.
    #[arg(value_name = "TRANSFORMS FEN")]
    words: Vec<String>,
    /// Transform a set of squares, written as in CQL, instead of positions: `a1,b3`, `[a-h2,c4]`.
    #[arg(long, value_name = "SQUARES", conflicts_with_all = ["canonical", "symmetries", "legal"])]
    squares: Option<String>,
    /// Shift as CQL 5 does: squares on the edge that the shift leaves stay in the set; for --squares.
    #[arg(long)]
    cql5: bool,
    /// Replace each position by its canonical form, which it shares with all its images.
    ///
    /// The images are the position rotated and reflected (`dihedral`), with the colours swapped (`color`), or both (`all`).
    /// Two positions are images of each other exactly if their canonical forms are equal. The transforms are applied first.
    #[arg(long, value_name = "GROUP", value_enum)]
    canonical: Option<GroupName>,
    /// Print, after each position, the symmetries of the group that leave its board unchanged.
    #[arg(long, value_name = "GROUP", value_enum, num_args = 0..=1, require_equals = true,
          default_missing_value = "all", conflicts_with = "canonical")]
    symmetries: Option<GroupName>,
    /// Drop impossible castling rights and en passant squares.
    ///
    /// A castling right needs its king and rook, an en passant square a pawn that has just passed over it.
    #[arg(long)]
    legal: bool,
    /// Draw a board before each position.
    #[arg(long)]
    show: bool,
    /// Print all wrong lines of standard input on stderr, not only the first 20.
    #[arg(short, long)]
    verbose: bool,
    /// Print no summary on stderr.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GroupName {
    /// The eight rotations and reflections of the board.
    Dihedral,
    /// Swapping the colours, with the ranks reflected.
    #[value(alias = "colour")]
    Color,
    /// Both.
    All,
}

impl From<GroupName> for SymmetryGroup {
    fn from(name: GroupName) -> SymmetryGroup {
        match name {
            GroupName::Dihedral => SymmetryGroup::Dihedral,
            GroupName::Color => SymmetryGroup::Color,
            GroupName::All => SymmetryGroup::All,
        }
    }
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let (steps, positions) = args.steps()?;
    let mut sink = LinesOut::new();
    if let Some(squares) = &args.squares {
        if let Some(word) = positions.first() {
            return Err(Failure::Other(format!("--squares takes no positions: leave out `{word}`")));
        }
        show_squares(squares, &steps, args.show, &mut sink)?;
        sink.finish()?;
        return Ok(Exit::Done);
    }
    let mut run = TransformRun { steps: &steps, args: &args, counts: TransformCounts::default() };
    let mut exit = Exit::Done;
    if positions.is_empty() {
        refuse_terminal()?;
        exit = run.stdin(&mut sink)?;
    }
    for word in positions {
        if word == "-" {
            exit = run.stdin(&mut sink)?;
            continue;
        }
        run.record(word.as_bytes(), &mut sink).map_err(|error| wrong_word(word, error))?;
    }
    sink.finish()?;
    run.counts.print_notes();
    Ok(exit)
}

impl Args {
    /// Returns whether an option is given that makes sense without transforms.
    fn wants_no_transform(&self) -> bool {
        self.canonical.is_some() || self.symmetries.is_some() || self.legal || self.show
    }

    /// Parses the transforms, and prints warnings about them. Also returns the words after them, which are positions.
    fn steps(&self) -> Result<(Vec<TransformStep>, &[String]), Failure> {
        let is_position = |word: &String| word == "-" || word.contains('/');
        let (text, positions) = match self.words.split_first() {
            Some((text, positions)) if !is_position(text) => (text, positions),
            _ if self.wants_no_transform() => return Ok((Vec::new(), &self.words)),
            _ => {
                return Err(Failure::Other(
                    "the transform is missing: write `orbit transform flip-colors FEN`, or see `orbit transform --help` \
                     for the names"
                        .into(),
                ));
            }
        };
        let text = QueryText::named(text, "transform".into());
        let shifts = if self.cql5 { Shifts::Cql5 } else { Shifts::Cql6 };
        let steps = names::parse(&text.text, shifts).map_err(|error| text.failure(&error))?;
        for step in &steps {
            let (tried, what) = match self.squares {
                Some(_) => (step.transform.squares(Bitboard::EMPTY).map(|_| ()), "a set of squares"),
                None => (step.transform.setup(&Setup::empty()).map(|_| ()), "positions"),
            };
            tried.map_err(|error| {
                let message = format!("this does not apply to {what}");
                text.failure(&Diagnostic::error(step.span, message, error.to_string()))
            })?;
        }
        let warnings: Vec<Diagnostic> =
            steps.iter().filter_map(|step| step.warning.clone()).take(1).collect();
        text.print_remarks(&warnings, Severity::Note);
        Ok((steps, positions))
    }
}

/// Fails if standard input is a terminal. A user who forgot the positions would otherwise see nothing happen; an explicit `-` skips
/// this check.
fn refuse_terminal() -> Result<(), Failure> {
    match std::io::stdin().is_terminal() {
        false => Ok(()),
        true => Err(Failure::Other(String::from(
            "there are no positions: write FENs, in quotes, after the transforms, or pipe lines to standard input (`-` \
             reads lines that you type)",
        ))),
    }
}

/// Transforms a set of squares and prints the result, for `--squares`.
fn show_squares(
    squares: &str,
    steps: &[TransformStep],
    draws: bool,
    sink: &mut LinesOut,
) -> Result<(), Failure> {
    let bracketed = if squares.starts_with('[') { squares.to_string() } else { format!("[{squares}]") };
    let text = QueryText::named(&bracketed, "--squares".into());
    let mut set = read_squares(&bracketed).map_err(|error| text.failure(&error))?;
    for step in steps {
        set = step.transform.squares(set).expect("it was tried before");
    }
    if draws {
        draw(sink.text(), |square| if set.contains(square) { b'1' } else { b'.' });
    }
    push_squares(sink.text(), set);
    sink.text().push(b'\n');
    Ok(())
}

/// Parses a list of squares, which is written like a piece designator without pieces.
fn read_squares(text: &str) -> Result<Bitboard, Diagnostic> {
    let body = orbit_query::parse(text)?.query.body;
    match &body {
        Any::Squares(f) if let SquaresOp::Designator { pieces: Pieces::UNNAMED, squares } = f.op() => {
            Ok(*squares)
        }
        Any::Squares(f) if let SquaresOp::Constant(squares) = f.op() => Ok(*squares),
        _ => {
            let label = "expected squares such as `a1,b3` or `[a-h2,c4]`";
            Err(Diagnostic::error(Span::new(0, text.len()), "this is no list of squares", label))
        }
    }
}

/// The leniency with which lines are read: positions of all variants are accepted, and EPD lines with operations.
const LENIENCY: Leniency = Leniency { variants: true, operations: true, ..Leniency::NONE };

fn as_diagnostic(error: FenError) -> Diagnostic {
    Diagnostic::error(Span::new(error.start, error.end), error.message, error.label)
}

/// Returns a failure that explains why an argument is not a position.
fn wrong_word(word: &str, mut error: Diagnostic) -> Failure {
    if !word.contains('/') {
        error = error.help("a FEN holds blanks: put quotes around it");
        if std::path::Path::new(word).exists() {
            error = error.help(format!("{word} is a file: write `< {word}` to read positions from it"));
        }
    }
    QueryText::named(word, "FEN".into()).failure(&error)
}

/// Counts that appear in the final notes.
#[derive(Default)]
struct TransformCounts {
    positions: u64,
    /// The number of positions whose castling rights a FEN cannot express.
    untold: u64,
    /// The number of lines with EPD operations.
    operations: u64,
}

impl TransformCounts {
    fn print_notes(&self) {
        if self.untold > 0 {
            message!(
                "note: {} lost castling rights: king and rook now stand where a FEN cannot express the rights, off the \
                 first and last rank",
                counted(self.untold as usize, "position", "positions")
            );
        }
        if self.operations > 0 {
            message!(
                "note: the EPD operations of {} were copied unchanged: moves and squares in them were not transformed",
                counted(self.operations as usize, "line", "lines")
            );
        }
    }
}

struct TransformRun<'a> {
    steps: &'a [TransformStep],
    args: &'a Args,
    counts: TransformCounts,
}

impl TransformRun<'_> {
    /// Reads, transforms and writes one position.
    #[inline]
    fn record(&mut self, line: &[u8], sink: &mut LinesOut) -> Result<(), Diagnostic> {
        let mut record = FenRecord::read(line, LENIENCY).map_err(as_diagnostic)?;
        self.counts.positions += 1;
        for step in self.steps {
            record.setup = step.transform.setup(&record.setup).expect("it was tried before");
        }
        if let Some(group) = self.args.canonical {
            record.setup = canonical(&record.setup, group.into()).0;
        }
        if self.args.legal {
            record.setup = without_impossible_rights(&record.setup);
        }
        if self.args.show {
            draw_position(&record.setup, sink.text());
        }
        self.counts.operations += u64::from(!record.operations.is_empty() && !self.steps.is_empty());
        self.counts.untold += u64::from(!record.write(RookLetters::XFen, sink.text()));
        if let Some(group) = self.args.symmetries {
            sink.text().push(b'\t');
            let fixed = |symmetry: &Symmetry| symmetry.fixes(&record.setup.board);
            let names: Vec<String> = SymmetryGroup::from(group)
                .symmetries()
                .filter(fixed)
                .map(|symmetry| symmetry.to_string())
                .collect();
            sink.text().extend_from_slice(names.join(" ").as_bytes());
        }
        sink.text().push(b'\n');
        Ok(())
    }

    /// Reads, transforms and writes all lines of standard input.
    fn stdin(&mut self, sink: &mut LinesOut) -> Result<Exit, Failure> {
        let begun = Instant::now();
        let before = self.counts.positions;
        let mut lines = TransformLines::new(std::io::stdin().lock(), self.args.verbose);
        let read = lines.for_each(|line| {
            let read = self.record(line, sink);
            sink.flush_if_full().map(|()| read)
        });
        // Even after a read error, the lines before it are printed.
        let exit = match read {
            Err(failure) => return Err(failure),
            Ok(None) => Exit::Done,
            Ok(Some(error)) => {
                message!("warning: standard input was not read to its end: {error}");
                Exit::SourceFailed
            }
        };
        let wrong = lines.print_unlisted();
        if !self.args.quiet {
            let seconds = begun.elapsed().as_secs_f64();
            let positions = self.counts.positions - before;
            message!(
                "{} positions, {} wrong lines; {seconds:.3} s, {} positions/s",
                grouped(positions),
                grouped(wrong),
                grouped((positions as f64 / seconds) as u64)
            );
        }
        Ok(exit)
    }
}

/// Draws eight lines with one letter per square, rank 8 first.
fn draw(out: &mut Vec<u8>, letter: impl Fn(Square) -> u8) {
    for rank in (0..8).rev() {
        for file in 0..8 {
            out.extend_from_slice(&[
                letter(Square::new(8 * rank + file)),
                if file < 7 { b' ' } else { b'\n' },
            ]);
        }
    }
}

fn draw_position(setup: &Setup, out: &mut Vec<u8>) {
    draw(out, |square| setup.board.piece_at(square).map_or(b'.', |piece| piece.char() as u8));
    let turn = if setup.turn == Color::White { "White" } else { "Black" };
    out.extend_from_slice(format!("{turn} to move\n").as_bytes());
}
