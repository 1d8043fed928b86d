//! Recognises moves in algebraic notation such as `Nxf3+`, which is not CQL, and suggests CQL for the same moves.

use shakmaty::san::{San, SanPlus};
use shakmaty::{CastlingSide, Chess, Color, Move as Played, Position as _, Role};

use orbit_core::diagnostic::{Diagnostic, Span};

/// The maximum number of consecutive moves that are translated.
const ROW_MAX: usize = 400;

/// The help text for several consecutive moves.
pub(super) const ROW_HELP: &str = "this asks for the moves at the start of a game, without `initial` anywhere in it; capital letters are White's pieces, \
     small ones Black's";

/// The characters at which a move in algebraic notation ends.
const ENDS: &str = "(){}[],;\"&|";

/// A move in algebraic notation, split into its parts.
#[derive(Default)]
struct WrittenMove<'a> {
    piece: &'a str,
    /// The file and the rank from which the piece moves; empty if they are not written.
    from: (&'a str, &'a str),
    captures: bool,
    to: &'a str,
    promotion: &'a str,
    /// The sign `+` or `#`, or an empty text if neither is written.
    check: &'a str,
}

/// If the error `fault` in a query is at a move in algebraic notation, returns a better error. Otherwise returns `None`.
pub(super) fn meant(text: &str, fault: &Diagnostic) -> Option<Diagnostic> {
    if let Some(row) = row(text) {
        let span = Span::new(text.len() - text.trim_start().len(), text.trim_end().len());
        let message = "moves in algebraic notation, one after the other";
        return Some(Diagnostic::error(span, message, format!("write `{row}`")).help(ROW_HELP));
    }
    let (span, written) = around(text, fault.span.start)?;
    let (message, cql) = match written.trim_end_matches(['+', '#']) {
        "O-O" | "0-0" => ("castling", String::from("--(o-o)")),
        "O-O-O" | "0-0-0" => ("castling", String::from("--(o-o-o)")),
        _ => ("a move", WrittenMove::read(written)?.in_cql()),
    };
    let help = match message {
        "castling" => "with `wtm` before it White castles, with `btm` Black",
        _ => {
            "these are White's pieces, Black's are small letters; `--` is any move, `[x]` a capture, and what stands in \
              parentheses holds behind the move"
        }
    };
    Some(
        Diagnostic::error(
            span,
            format!("`{written}` is {message} in algebraic notation"),
            format!("write `{cql}`"),
        )
        .help(help),
    )
}

/// Translates the first moves of a game, such as `1. e4 e5 2. Nf3`, into CQL. Move numbers are optional, but a single move must have
/// one. Returns `None` if there are no moves, or if they are not legal.
pub(super) fn row(text: &str) -> Option<String> {
    let mut position = Chess::default();
    let mut out = String::from("initial path");
    let (mut moves, mut has_number) = (0, false);
    for word in text.split_whitespace() {
        let written = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_numbered = written.len() < word.len() && written.starts_with('.');
        has_number |= is_numbered;
        let written = if is_numbered { written.trim_start_matches('.') } else { word };
        if is_numbered && written.is_empty() {
            continue;
        }
        let san = written.trim_end_matches(['!', '?']).replace('0', "O");
        let san: SanPlus = san.parse().ok()?;
        let played = san.san.to_move(&position).ok()?;
        out.push(' ');
        out.push_str(&in_path(&san.san, played, position.turn()));
        position.play_unchecked(played);
        moves += 1;
        if moves > ROW_MAX {
            return None;
        }
    }
    (moves > usize::from(!has_number)).then_some(out)
}

/// Returns a move as a constituent of a `path` filter.
fn in_path(san: &San, played: Played, turn: Color) -> String {
    if let Played::Castle { .. } = played {
        return match played.castling_side() {
            Some(CastlingSide::QueenSide) => "--(o-o-o)".into(),
            _ => "--(o-o)".into(),
        };
    }
    let letter = |role: Role| turn.fold_wb(role.upper_char(), role.char());
    let from = match san {
        San::Normal { role, file, rank, .. } if *role != Role::Pawn && (file.is_some() || rank.is_some()) => {
            played.from().map_or(String::new(), |from| from.to_string())
        }
        San::Normal { role: Role::Pawn, .. } if played.is_capture() => {
            played.from().map_or(String::new(), |from| from.to_string())
        }
        _ => String::new(),
    };
    let sign = if played.is_capture() { "[x]" } else { "--" };
    let promotion = played.promotion().map_or(String::new(), |role| format!("={}", letter(role)));
    format!("{}{from}{sign}{}{promotion}", letter(played.role()), played.to())
}

/// Returns the text around the byte `at`, up to the nearest blanks or parentheses on each side, and its span. A move number at
/// the start is left out.
fn around(text: &str, at: usize) -> Option<(Span, &str)> {
    let ends = |letter: char| letter.is_whitespace() || (ENDS.contains(letter));
    let before = text.get(..at)?;
    let start = before
        .rfind(ends)
        .map_or(0, |place| place + before[place..].chars().next().map_or(0, char::len_utf8));
    let word = text[start..].split(ends).next()?;
    let numbered = word.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches('.');
    let is_numbered = word.len() > numbered.len() && word[..word.len() - numbered.len()].ends_with('.');
    let written = if is_numbered { numbered } else { word };
    let start = start + word.len() - written.len();
    (!written.is_empty()).then(|| (Span::new(start, start + written.len()), written))
}

/// If `text` begins with one of `letters`, removes this letter and returns it. Otherwise returns an empty text.
fn taken<'a>(text: &mut &'a str, letters: &str) -> &'a str {
    let len = text.chars().next().filter(|letter| letters.contains(*letter)).map_or(0, char::len_utf8);
    let (first, rest) = text.split_at(len);
    *text = rest;
    first
}

impl WrittenMove<'_> {
    /// Reads a move in algebraic notation. Returns `None` if the text is not such a move. A text such as `Nf3` is also a
    /// designator, and therefore valid CQL; it gives `None`, too.
    fn read(written: &str) -> Option<WrittenMove<'_>> {
        const FILES: &str = "abcdefgh";
        const RANKS: &str = "12345678";
        let mut rest = written;
        let piece = taken(&mut rest, "KQRBN");
        let mut square = (taken(&mut rest, FILES), taken(&mut rest, RANKS));
        let sign = taken(&mut rest, "x");
        let mut from = ("", "");
        let next = (taken(&mut rest, FILES), taken(&mut rest, RANKS));
        if next != ("", "") {
            from = std::mem::replace(&mut square, next);
        } else if !sign.is_empty() {
            return None;
        }
        let to = (square.0.len() == 1 && square.1.len() == 1)
            .then(|| &written[offset(written, square.0)..][..2])?;
        let equals = taken(&mut rest, "=");
        let promotion = taken(&mut rest, "QRBN");
        let check = taken(&mut rest, "+#");
        let glyphs = rest.trim_start_matches(['+', '!', '?']);
        let is_whole = glyphs.is_empty() && (equals.is_empty() || !promotion.is_empty());
        let is_named = !piece.is_empty() || from != ("", "") || sign.is_empty();
        let is_pawns = piece.is_empty() || promotion.is_empty();
        let says_more =
            from != ("", "") || [sign, promotion, check, rest].iter().any(|part| !part.is_empty());
        (is_whole && is_named && is_pawns && says_more).then_some(WrittenMove {
            piece,
            from,
            captures: sign == "x",
            to,
            promotion,
            check,
        })
    }

    fn in_cql(&self) -> String {
        let piece = if self.piece.is_empty() { "P" } else { self.piece };
        let from = match self.from {
            ("", "") => String::new(),
            ("", rank) => format!("a-h{rank}"),
            (file, "") => format!("{file}1-8"),
            (file, rank) => format!("{file}{rank}"),
        };
        let sign = if self.captures { "[x]" } else { "--" };
        let promotion =
            if self.promotion.is_empty() { String::new() } else { format!("={}", self.promotion) };
        let behind = match self.check {
            "+" => "(check)",
            "#" => "(mate)",
            _ => "",
        };
        format!("{piece}{from}{sign}{}{promotion}{behind}", self.to)
    }
}

/// Returns the offset of `part` in `text`. `part` must be a slice of `text`.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn moves_in_notation_are_told_in_cql() {
        for (written, cql) in [
            ("1. e4", "initial path P--e4"),
            ("1.Nf3", "initial path N--f3"),
            ("Nxf3", "N[x]f3"),
            ("Nf3+", "N--f3(check)"),
            ("wtm 12.Qxh7#", "Q[x]h7(mate)"),
            ("exd5", "Pe1-8[x]d5"),
            ("e8=Q+", "P--e8=Q(check)"),
            ("dxe8=N+", "Pd1-8[x]e8=N(check)"),
            ("Nbd7", "Nb1-8--d7"),
            ("R1xe2", "Ra-h1[x]e2"),
            ("Qh4xe1", "Qh4[x]e1"),
            ("Nb1xf3!?", "Nb1[x]f3"),
            ("O-O", "--(o-o)"),
            ("{wtm O-O-O+}", "--(o-o-o)"),
        ] {
            let fault = parse(written).expect_err(written);
            assert!(fault.message.contains("in algebraic notation"), "{written}: {}", fault.message);
            assert_eq!(fault.label, format!("write `{cql}`"), "{written}");
            parse(cql).unwrap_or_else(|fault| panic!("{cql}: {}", fault.message));
        }
    }

    #[test]
    fn other_faults_stay_as_they_are() {
        for written in [
            "N",
            "Nf3 +",
            "power A +",
            "Nf9",
            "xf3",
            "wrong",
            "e4 +",
            "R[x",
            "exd9",
            "Ra1-h8",
            "e2-e4",
            "Kxe8=Q",
            "Nf3=",
            "",
        ] {
            if let Err(fault) = parse(written) {
                assert!(!fault.message.contains("notation"), "{written}: {}", fault.message);
            }
        }
    }
}
