//! Recognises moves in algebraic notation such as `Nxf3+`, which is not CQL, and suggests CQL for the same moves.

use shakmaty::san::{San, SanPlus};
use shakmaty::{CastlingSide, Chess, Color, Move as Played, Position as _, Role};

use orbit_core::diagnostic::{Diagnostic, Span};

/// The maximum number of consecutive moves that are translated.
const ROW_MAX: usize = 400;

/// The help text for several consecutive moves.
pub(super) const ROW_HELP: &str = "this asks for the moves at the start of a game, without `initial` anywhere in it; capital letters are White's pieces, \
     small ones Black's";

/// The CQL text that comes before Black's first move if White's first move is not given.
const AFTER_WHITE: &str = "initial path --";

/// The text that is added to the help if the first given move is Black's.
const BLACK_BEGINS: &str = "; the first `--` is White's move";

/// The characters that end a move in algebraic notation.
const ENDS: &str = "(){}[],;\"&|";

/// A move in algebraic notation, split into its parts.
#[derive(Default)]
struct WrittenMove<'a> {
    piece: &'a str,
    /// The origin file and rank of the piece, each empty if it is not written.
    from: (&'a str, &'a str),
    captures: bool,
    to: &'a str,
    promotion: &'a str,
    /// The sign at the end of the move, `+` or `#`, or an empty text.
    check: &'a str,
}

/// If the error `fault` was caused by a move in algebraic notation, returns a better error. Otherwise returns `None`.
pub(super) fn meant(text: &str, fault: &Diagnostic) -> Option<Diagnostic> {
    if let Some(row) = row(text) {
        let span = Span::new(text.len() - text.trim_start().len(), text.trim_end().len());
        let message = "moves in algebraic notation, one after the other";
        let more = if row.starts_with(AFTER_WHITE) { BLACK_BEGINS } else { "" };
        let help = format!("{ROW_HELP}{more}");
        return Some(Diagnostic::error(span, message, format!("write `{row}`")).help(help));
    }
    let (span, written, side) = around(text, fault.span.start)?;
    let (message, cql) = match written.trim_end_matches(['+', '#']) {
        "O-O" | "0-0" => ("castling", String::from("--(o-o)")),
        "O-O-O" | "0-0-0" => ("castling", String::from("--(o-o-o)")),
        _ => ("a move", WrittenMove::read(written, side.is_some())?.in_cql(side.unwrap_or(Color::White))),
    };
    let help = match message {
        "castling" => "with `wtm` before it White castles, with `btm` Black",
        _ if side == Some(Color::Black) => {
            "these are Black's pieces, White's are capital letters; `--` is any move, `[x]` a capture, and what stands in \
              parentheses holds behind the move"
        }
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

/// Removes a move number such as `12.` from the start of a word. Returns the rest of the word, and the side to move, if there is a
/// number: two or more dots mean Black.
fn split_number(word: &str) -> (&str, Option<Color>) {
    let dotted = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let written = dotted.trim_start_matches(['.', '…']);
    let dots = &dotted[..dotted.len() - written.len()];
    match dots {
        _ if dotted.len() == word.len() => (word, None),
        "" => (word, None),
        "." => (written, Some(Color::White)),
        _ => (written, Some(Color::Black)),
    }
}

/// Translates the first moves of a game, such as `1. e4 e5 2. Nf3`, into CQL. Move numbers are optional, but a single move must have
/// one. The first move may be Black's: `1...c5`. Returns `None` if there are no moves, or if they are not legal.
pub(super) fn row(text: &str) -> Option<String> {
    let mut position = Chess::default();
    let mut out = String::from("initial path");
    let (mut moves, mut has_number) = (0, false);
    for word in text.split_whitespace() {
        let (written, side) = split_number(word);
        let is_numbered = side.is_some();
        if side == Some(Color::Black) && !has_number && moves == 0 {
            if !word.starts_with("1.") && !word.starts_with("1…") {
                return None;
            }
            position = position.swap_turn().ok()?;
            out = AFTER_WHITE.into();
        }
        has_number |= is_numbered;
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

/// Returns the CQL text of a move for use in a `path` filter.
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

/// Returns the word around the byte `at`, with its span. The word ends at blanks and parentheses. A move number at its start is
/// removed, and determines the side to move, which is also returned. If the word is only a move number, returns the text after it.
fn around(text: &str, at: usize) -> Option<(Span, &str, Option<Color>)> {
    let ends = |letter: char| letter.is_whitespace() || (ENDS.contains(letter));
    let before = text.get(..at)?;
    let start = before
        .rfind(ends)
        .map_or(0, |place| place + before[place..].chars().next().map_or(0, char::len_utf8));
    let word = text[start..].split(ends).next()?;
    let (mut written, side) = split_number(word);
    let mut start = start + word.len() - written.len();
    if written.is_empty() {
        let rest = text[start..].trim_start();
        start = text.len() - rest.len();
        written = rest.trim_end();
    }
    (!written.is_empty()).then(|| (Span::new(start, start + written.len()), written, side))
}

/// If `text` begins with one of `letters`, removes this letter and returns it. Otherwise returns an empty text.
fn taken<'a>(text: &mut &'a str, letters: &str) -> &'a str {
    let len = text.chars().next().filter(|letter| letters.contains(*letter)).map_or(0, char::len_utf8);
    let (first, rest) = text.split_at(len);
    *text = rest;
    first
}

impl WrittenMove<'_> {
    /// Reads a move in algebraic notation. Returns `None` if the text is not such a move. Also returns `None` for a text such as
    /// `Nf3` without a move number, because it is a designator and therefore valid CQL.
    fn read(written: &str, is_numbered: bool) -> Option<WrittenMove<'_>> {
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
        let says_more = is_numbered
            || from != ("", "")
            || [sign, promotion, check, rest].iter().any(|part| !part.is_empty());
        (is_whole && is_named && is_pawns && says_more).then_some(WrittenMove {
            piece,
            from,
            captures: sign == "x",
            to,
            promotion,
            check,
        })
    }

    fn in_cql(&self, side: Color) -> String {
        let piece = if self.piece.is_empty() { "P" } else { self.piece };
        let cased = |piece: &str| side.fold_wb(piece.to_owned(), piece.to_ascii_lowercase());
        let from = match self.from {
            ("", "") => String::new(),
            ("", rank) => format!("a-h{rank}"),
            (file, "") => format!("{file}1-8"),
            (file, rank) => format!("{file}{rank}"),
        };
        let sign = if self.captures { "[x]" } else { "--" };
        let promotion =
            if self.promotion.is_empty() { String::new() } else { format!("={}", cased(self.promotion)) };
        let behind = match self.check {
            "+" => "(check)",
            "#" => "(mate)",
            _ => "",
        };
        format!("{}{from}{sign}{}{promotion}{behind}", cased(piece), self.to)
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
            ("1...c5", "initial path -- p--c5"),
            ("1... c5 2. Nf3 2... d6", "initial path -- p--c5 N--f3 p--d6"),
            ("1…e5", "initial path -- p--e5"),
            ("wtm 12.Qxh7#", "Q[x]h7(mate)"),
            ("wtm 12.e4", "P--e4"),
            ("12...Qxh7", "q[x]h7"),
            ("7...c5", "p--c5"),
            ("5... Nf6", "n--f6"),
            ("40...exd1=Q+", "pe1-8[x]d1=q(check)"),
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
