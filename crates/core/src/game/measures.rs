//! Reads the data that programs write into comments: the player's clock, the time spent on a move, and an evaluation.
//!
//! lichess, chess.com and electronic boards write commands into comments: `{ [%eval 0.17] [%clk 0:00:30] }`. This module reads
//! these commands as python-chess does. If a comment has several commands of one kind, the first well-formed one counts. Other
//! commands (`%cal`, `%csl`, `%evp`) are ignored. Programs for engine matches, such as cutechess, begin a comment with the
//! evaluation, the depth and the time: `{+0.30/18 10s}`. Their evaluation is from the point of view of the side that moved.
//!
//! Source: S. Edwards, "Portable Game Notation: Additional Proposed Tags" (`%clk`, `%emt`); lichess's exports (`%eval`).

use crate::board::Color;

/// A kind of number that a position can have, such as the clock time. The numbers are read from the comments of a game, or computed
/// from them, and are stored in thousandths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Measure {
    /// The remaining seconds of the player who just moved.
    Clock,
    /// The seconds spent on the move.
    Spent,
    /// White's advantage in pawns, according to an engine.
    Eval,
    /// The loss of a move in pawns, for the player who made it.
    Loss,
}

impl Measure {
    /// All measures.
    pub const ALL: [Measure; 4] = [Measure::Clock, Measure::Spent, Measure::Eval, Measure::Loss];

    /// Returns the name used for the measure in the options `--where`, `--stats`, `--columns` and `--sort`.
    pub const fn name(self) -> &'static str {
        match self {
            Measure::Clock => "clock",
            Measure::Spent => "spent",
            Measure::Eval => "eval",
            Measure::Loss => "loss",
        }
    }

    /// Returns the unit in which outputs show the values of this measure.
    pub const fn unit(self) -> &'static str {
        match self {
            Measure::Clock | Measure::Spent => "seconds",
            Measure::Eval | Measure::Loss => "pawns",
        }
    }

    /// Returns the resolution of this measure: the smallest difference that two of its values can have, in thousandths.
    pub const fn resolution(self) -> u32 {
        match self {
            Measure::Clock | Measure::Spent => 1,
            Measure::Eval | Measure::Loss => 10,
        }
    }

    /// Returns the measure whose name is `name`, in lower case, or `None` if no measure has this name.
    pub fn named(name: &str) -> Option<Measure> {
        Measure::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// Returns the lower bounds, in thousandths, of the ranges into which statistics group the values.
    pub const fn borders(self) -> &'static [i64] {
        match self {
            Measure::Clock => &[
                0, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000,
                7_200_000,
            ],
            Measure::Spent => &[
                0, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_200_000,
            ],
            Measure::Eval => {
                &[-10_000, -5_000, -3_000, -2_000, -1_000, -500, 500, 1_000, 2_000, 3_000, 5_000, 10_000]
            }
            Measure::Loss => &[0, 100, 200, 500, 1_000, 2_000, 3_000, 5_000, 10_000],
        }
    }
}

/// An engine's evaluation of a position, from White's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eval {
    /// Hundredths of a pawn.
    Centipawns(i64),
    /// The side that mates, and the number of moves until mate. The number is 0 if the position is a mate.
    Mate(Color, u32),
}

impl Eval {
    /// The greatest loss of a move, in thousandths of a pawn.
    pub const LOSS_MAX: i64 = 2 * LOSS_LIMIT;

    /// Returns the evaluation in thousandths of a pawn. A mate by White is `i64::MAX`, and a mate by Black is `i64::MIN`.
    pub fn thousandths(self) -> i64 {
        match self {
            Eval::Centipawns(number) => number.saturating_mul(10),
            Eval::Mate(Color::White, _) => i64::MAX,
            Eval::Mate(Color::Black, _) => i64::MIN,
        }
    }

    /// Returns the loss of a move in thousandths of a pawn, for the player `mover`. `self` is the evaluation before the move, and
    /// `next` the one after it. The result is never negative: a move that improves the evaluation for its player loses nothing.
    ///
    /// Evaluations beyond ten pawns, mates included, count as ten pawns, as in lichess's average centipawn loss. So a move in a
    /// position that is won or lost anyway loses little.
    pub fn loss_of(self, mover: Color, next: Eval) -> i64 {
        let [before, after] = [self, next].map(|eval| eval.thousandths().clamp(-LOSS_LIMIT, LOSS_LIMIT));
        mover.fold_wb(before - after, after - before).max(0)
    }
}

/// The bound to which [`Eval::loss_of`] clamps evaluations, in thousandths of a pawn. Source: lichess, `Eval.Cp.CEILING`.
const LOSS_LIMIT: i64 = 10_000;

/// The measures of a position: clock times and evaluations. A measure that the game does not contain is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Measures {
    /// The remaining milliseconds of the player who just moved.
    pub clock: Option<i64>,
    /// The milliseconds spent on the move.
    pub spent: Option<i64>,
    /// The evaluation.
    pub eval: Option<Eval>,
    /// The loss of the move in thousandths of a pawn: see [`Eval::loss_of`].
    pub loss: Option<i64>,
}

impl Measures {
    /// Returns one measure in thousandths. Mates have the values that [`Eval::thousandths`] returns.
    pub fn get(&self, measure: Measure) -> Option<i64> {
        match measure {
            Measure::Clock => self.clock,
            Measure::Spent => self.spent,
            Measure::Eval => self.eval.map(Eval::thousandths),
            Measure::Loss => self.loss,
        }
    }
}

/// The values of the commands in one comment, such as `[%clk 0:00:30]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Commands {
    /// The player's clock in milliseconds, from a command such as `[%clk 1:02:03.4]`.
    pub clock: Option<i64>,
    /// The time spent on the move in milliseconds, from a command such as `[%emt 0:00:05]`.
    pub elapsed: Option<i64>,
    /// The evaluation, from a command such as `[%eval 0.17]`, `[%eval -1.5,20]` or `[%eval #-3]`.
    pub eval: Option<EvalCommand>,
}

/// An evaluation as written in a comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvalCommand {
    /// Hundredths of a pawn, from White's point of view.
    Centipawns(i64),
    /// Mate in this many moves: by White if the number is positive, by Black if it is negative. 0 means that the side to move is
    /// mated.
    Mate(i64),
    /// Hundredths of a pawn, from the point of view of the player who just moved.
    OfMover(i64),
    /// Mate in this many moves: by the player who just moved if the flag is true, otherwise by the opponent.
    MateOfMover(bool, u32),
}

impl EvalCommand {
    /// Returns whether the evaluation is from the point of view of the player who just moved.
    pub fn is_of_mover(self) -> bool {
        matches!(self, EvalCommand::OfMover(_) | EvalCommand::MateOfMover(..))
    }

    /// Returns the evaluation from White's point of view. `turn` is the side to move in the position.
    pub fn with_turn(self, turn: Color) -> Eval {
        match self {
            EvalCommand::Centipawns(number) => Eval::Centipawns(number),
            EvalCommand::OfMover(number) => {
                Eval::Centipawns(if turn == Color::Black { number } else { -number })
            }
            EvalCommand::MateOfMover(is_winning, moves) => {
                Eval::Mate(if is_winning { !turn } else { turn }, moves)
            }
            EvalCommand::Mate(0) => Eval::Mate(!turn, 0),
            EvalCommand::Mate(moves) => {
                let side = if moves > 0 { Color::White } else { Color::Black };
                Eval::Mate(side, u32::try_from(moves.unsigned_abs()).unwrap_or(u32::MAX))
            }
        }
    }
}

impl Commands {
    /// Reads the commands in a comment. `comment` is the text between the delimiters.
    pub fn from_comment(comment: &[u8]) -> Commands {
        let mut commands = Commands::default();
        for at in memchr::memmem::find_iter(comment, b"[%") {
            let rest = &comment[at + 2..];
            let operand = |name: &[u8]| {
                let rest = rest.strip_prefix(name)?;
                let (blank, rest) = rest.split_first()?;
                matches!(blank, b'\t'..=b'\r' | b' ').then_some(rest)
            };
            if let Some(text) = operand(b"clk") {
                commands.clock = commands.clock.or_else(|| time(text));
            } else if let Some(text) = operand(b"emt") {
                commands.elapsed = commands.elapsed.or_else(|| time(text));
            } else if let Some(text) = operand(b"eval") {
                commands.eval = commands.eval.or_else(|| eval(text));
            }
        }
        if let Some((eval, elapsed)) = engine_match(comment) {
            commands.eval = commands.eval.or(Some(eval));
            commands.elapsed = commands.elapsed.or(Some(elapsed));
        }
        commands
    }

    /// Adds the commands of a later comment on the same position. If both comments contain a command of one kind, the value of the
    /// earlier comment is kept.
    pub fn or(self, next: Commands) -> Commands {
        Commands {
            clock: self.clock.or(next.clock),
            elapsed: self.elapsed.or(next.elapsed),
            eval: self.eval.or(next.eval),
        }
    }
}

/// Reads a time followed by a bracket, such as `1:02:03.4]`. Returns milliseconds; smaller fractions of a second are dropped.
fn time(text: &[u8]) -> Option<i64> {
    let (hours, text) = digits(text);
    let (minutes, text) = digits(text.strip_prefix(b":")?);
    let (seconds, text) = digits(text.strip_prefix(b":")?);
    let (fraction, text) = text.strip_prefix(b".").map_or((&b""[..], text), digits);
    text.strip_prefix(b"]")?;
    let seconds = number(hours)?
        .checked_mul(3600)?
        .checked_add(number(minutes)?.checked_mul(60)?)?
        .checked_add(number(seconds)?)?;
    seconds.checked_mul(1000)?.checked_add(thousandths(fraction))
}

/// Reads an evaluation followed by a bracket, such as `0.17]`, `-1,20]` or `#-3]`.
fn eval(text: &[u8]) -> Option<EvalCommand> {
    let (is_mate, text) = text.strip_prefix(b"#").map_or((false, text), |text| (true, text));
    let (is_negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let signed = |number: i64| if is_negative { -number } else { number };
    let (whole, rest) = digits(text);
    let (found, rest) = if is_mate {
        (EvalCommand::Mate(signed(number(whole)?)), rest)
    } else {
        let (fraction, rest) = rest.strip_prefix(b".").map_or((&b""[..], rest), digits);
        let is_number = match fraction.len() {
            0 => !whole.is_empty(),
            1 | 2 => true,
            _ => false,
        };
        if !is_number || whole.len() > EVAL_DIGITS_MAX {
            return None;
        }
        let whole = if whole.is_empty() { 0 } else { number(whole)? };
        (EvalCommand::Centipawns(signed(whole * 100 + thousandths(fraction) / 10)), rest)
    };
    // The depth of the search, a number after a comma, is ignored.
    let rest = match rest.strip_prefix(b",").map(digits) {
        Some(([], _)) => return None,
        Some((_, rest)) => rest,
        None => rest,
    };
    rest.strip_prefix(b"]").map(|_| found)
}

/// Reads the evaluation and the time at the start of a comment such as `+0.30/18 10s` or `-M4/9 0.1s, White mates`. Returns the
/// time in milliseconds. Source: cutechess, `MoveEvaluation`.
fn engine_match(comment: &[u8]) -> Option<(EvalCommand, i64)> {
    let text = comment.trim_ascii_start();
    let (is_negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (eval, text) = if let Some(text) = text.strip_prefix(b"M") {
        let (moves, text) = digits(text);
        (EvalCommand::MateOfMover(!is_negative, u32::try_from(number(moves)?).ok()?), text)
    } else {
        let (whole, text) = digits(text);
        let (fraction, text) = digits(text.strip_prefix(b".")?);
        if !(1..=EVAL_DIGITS_MAX).contains(&whole.len()) || fraction.len() != 2 {
            return None;
        }
        let size = number(whole)? * 100 + thousandths(fraction) / 10;
        (EvalCommand::OfMover(if is_negative { -size } else { size }), text)
    };
    let (depth, text) = digits(text.strip_prefix(b"/")?);
    let (whole, text) = digits(text.strip_prefix(b" ").filter(|_| !depth.is_empty())?);
    let (fraction, text) = text.strip_prefix(b".").map_or((&b""[..], text), digits);
    let text = text.strip_prefix(b"s")?;
    let is_end = text.first().is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b';'));
    let elapsed = number(whole)?.checked_mul(1000)?.checked_add(thousandths(fraction))?;
    is_end.then_some((eval, elapsed))
}

/// The maximum number of digits before the decimal point of an evaluation, as in python-chess.
const EVAL_DIGITS_MAX: usize = 10;

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// Reads digits as a number. Returns `None` if there are no digits, or if the number exceeds 64 bits.
fn number(digits: &[u8]) -> Option<i64> {
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Converts the digits after a decimal point to thousandths.
fn thousandths(fraction: &[u8]) -> i64 {
    (0..3).fold(0, |sum, at| sum * 10 + fraction.get(at).map_or(0, |digit| i64::from(digit - b'0')))
}

/// Reads a number with at most three decimals, such as `30`, `-0.5` or `+1.25`. Returns it in thousandths.
pub fn thousandths_of(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes() {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        rest => (1, rest),
    };
    let (whole, rest) = digits(rest);
    let (fraction, rest) = rest.strip_prefix(b".").map_or((&b""[..], rest), digits);
    let is_number = rest.is_empty() && fraction.len() <= 3 && !(whole.is_empty() && fraction.is_empty());
    let whole = if whole.is_empty() { Some(0) } else { number(whole) };
    let sum = whole.filter(|_| is_number)?.checked_mul(1000)?.checked_add(thousandths(fraction))?;
    Some(sign * sum)
}

/// Writes thousandths as a number without trailing zeros: `0.17`, `30`, `-0.5`.
pub fn thousandths_text(number: i64) -> String {
    let (sign, size) = (if number < 0 { "-" } else { "" }, number.unsigned_abs());
    let (whole, rest) = (size / 1000, size % 1000);
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{}", format!("{rest:03}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measures_of(comment: &str) -> (Option<i64>, Option<i64>, Option<EvalCommand>) {
        let Commands { clock, elapsed, eval } = Commands::from_comment(comment.as_bytes());
        (clock, elapsed, eval)
    }

    #[test]
    fn commands_are_read() {
        use EvalCommand::{Centipawns, Mate, MateOfMover, OfMover};
        for (comment, found) in [
            ("[%eval 0.17] [%clk 0:00:30]", (Some(30_000), None, Some(Centipawns(17)))),
            ("good [%clk 1:02:03.4][%emt 0:00:05] move", (Some(3_723_400), Some(5_000), None)),
            ("[%eval #-3]", (None, None, Some(Mate(-3)))),
            ("[%eval #+12,30]", (None, None, Some(Mate(12)))),
            ("[%eval -1.5,20]", (None, None, Some(Centipawns(-150)))),
            ("[%eval .5]", (None, None, Some(Centipawns(50)))),
            ("[%eval 29,24]", (None, None, Some(Centipawns(2900)))),
            ("[%clk\n0:00:07.]", (Some(7_000), None, None)),
            ("[%csl Ga1][%cal Gb1b2] [%clk 0:10:00]", (Some(600_000), None, None)),
            ("[%clk 10:00] [%clk 0:00:09]", (Some(9_000), None, None)),
            ("[%clk 0:00:09] [%clk 0:00:08]", (Some(9_000), None, None)),
            ("+0.30/18 10s", (None, Some(10_000), Some(OfMover(30)))),
            (" -0.28/22 0.58s", (None, Some(580), Some(OfMover(-28)))),
            ("0.00/15 0.4s, draw", (None, Some(400), Some(OfMover(0)))),
            ("+M5/5 0.050s", (None, Some(50), Some(MateOfMover(true, 5)))),
            ("-M4/9 0.1s, n=12", (None, Some(100), Some(MateOfMover(false, 4)))),
            ("+0.30/18 10s [%eval 0.17] [%emt 0:00:05]", (None, Some(5_000), Some(Centipawns(17)))),
        ] {
            assert_eq!(measures_of(comment), found, "{comment}");
        }
        for comment in [
            "",
            "[%clk]",
            "[%clk ]",
            "[%clk 0:00]",
            "[%clk 0:00:30",
            "[%clk  0:00:30]",
            "[%clkx 0:00:30]",
            "[%clk -0:00:30]",
            "[%clk 99999999999999999999:00:00]",
            "[%clk 9223372036854775807:00:00]",
            "[%eval 0.175]",
            "[%eval .]",
            "[%eval ]",
            "[%eval 1,]",
            "[%eval 1,x]",
            "[%eval #]",
            "[%eval #-]",
            "[%eval 12345678901]",
            "[%eval 1 ]",
            "%clk 0:00:30",
            "[% clk 0:00:30]",
            "[%emt 5]",
            "book",
            "+0.30/18",
            "+0.30/18 10",
            "+0.30/ 10s",
            "+0.3/18 10s",
            "0/18 10s",
            "+M/5 0.1s",
            "M5 0.1s",
            "+0.30/18 10sec",
            "was +0.30/18 10s",
            "12345678901.00/1 1s",
            "+M99999999999/1 1s",
            "+0.30/18 99999999999999999999s",
        ] {
            assert_eq!(measures_of(comment), (None, None, None), "{comment}");
        }
    }

    #[test]
    fn a_loss_is_that_of_the_mover() {
        let (pawns, mate) = (Eval::Centipawns, |side| Eval::Mate(side, 3));
        for (before, after, white, black) in [
            (pawns(30), pawns(-120), 1_500, 0),
            (pawns(-120), pawns(30), 0, 1_500),
            (pawns(45), pawns(45), 0, 0),
            (pawns(2_000), pawns(1_100), 0, 0),
            (pawns(1_250), pawns(900), 1_000, 0),
            (mate(Color::White), pawns(300), 7_000, 0),
            (pawns(0), mate(Color::White), 0, 10_000),
            (mate(Color::White), mate(Color::Black), 20_000, 0),
            (mate(Color::Black), mate(Color::Black), 0, 0),
        ] {
            assert_eq!(before.loss_of(Color::White, after), white, "{before:?} {after:?}");
            assert_eq!(before.loss_of(Color::Black, after), black, "{before:?} {after:?}");
        }
    }

    #[test]
    fn whoever_is_to_move_after_mate_is_mated() {
        let mate = EvalCommand::Mate(0);
        assert_eq!(mate.with_turn(Color::Black), Eval::Mate(Color::White, 0));
        assert_eq!(mate.with_turn(Color::White), Eval::Mate(Color::Black, 0));
        assert_eq!(EvalCommand::Mate(-3).with_turn(Color::White), Eval::Mate(Color::Black, 3));
        // After White's move, Black is to move.
        assert_eq!(EvalCommand::OfMover(30).with_turn(Color::Black), Eval::Centipawns(30));
        assert_eq!(EvalCommand::OfMover(30).with_turn(Color::White), Eval::Centipawns(-30));
        let wins = EvalCommand::MateOfMover(true, 5);
        assert_eq!(wins.with_turn(Color::Black), Eval::Mate(Color::White, 5));
        let loses = EvalCommand::MateOfMover(false, 5);
        assert_eq!(loses.with_turn(Color::Black), Eval::Mate(Color::Black, 5));
    }

    /// Checks that random bytes are read as comments without a panic, and that written values are read back unchanged.
    #[test]
    fn any_bytes_are_read() {
        let mut random = fastrand::Rng::with_seed(17);
        let letters = b"[%clkemtva #-+.,:]0123456789 \n\xff\xe4";
        let mut known = 0;
        for _ in 0..200_000 {
            let mut text: Vec<u8> =
                (0..random.usize(..24)).map(|_| letters[random.usize(..letters.len())]).collect();
            let starts: [&[u8]; 4] = [b"[%clk ", b"[%emt ", b"[%eval ", b""];
            text.splice(..0, starts[random.usize(..4)].iter().copied());
            known += usize::from(Commands::from_comment(&text) != Commands::default());
        }
        assert!(known > 500, "{known}");
        for _ in 0..20_000 {
            let (clock, spent) = (random.i64(0..40_000_000), random.i64(0..40_000_000));
            let eval = match random.bool() {
                true => EvalCommand::Centipawns(random.i64(-20_000..20_000)),
                false => EvalCommand::Mate(random.i64(-99..99)),
            };
            let time = |ms: i64| {
                let (s, ms) = (ms / 1000, ms % 1000);
                format!("{}:{:02}:{:02}.{ms:03}", s / 3600, s / 60 % 60, s % 60)
            };
            let said = match eval {
                EvalCommand::Centipawns(number) => thousandths_text(number * 10),
                EvalCommand::Mate(moves) => format!("#{moves}"),
                _ => unreachable!("none is made"),
            };
            let comment = format!("x [%eval {said}] [%clk {}] [%emt {}]", time(clock), time(spent));
            assert_eq!(measures_of(&comment), (Some(clock), Some(spent), Some(eval)), "{comment}");
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..20_000 {
            let number = random.i64(-10_000_000..10_000_000);
            assert_eq!(thousandths_of(&thousandths_text(number)), Some(number));
        }
        for (text, number) in [("30", 30_000), ("+1.5", 1_500), ("-.25", -250), ("5.", 5_000), ("0.001", 1)] {
            assert_eq!(thousandths_of(text), Some(number), "{text}");
        }
        for text in ["", "-", ".", "1.2345", "1e3", "x", "1:30", "9223372036854775807", "1 "] {
            assert_eq!(thousandths_of(text), None, "{text}");
        }
    }
}
