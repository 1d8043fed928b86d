//! Recognises common mistakes in a query, and suggests the CQL that was probably meant.
//!
//! The functions here examine only text that is an error in any case, so they never change the meaning of a query.

use shakmaty::Square;

use super::{
    cql5,
    parser::{N, ParseResult, Parser, T, typed},
    token::Tok,
    tree::{Cmp, Node, Pieces, Type},
    words::{self, transform},
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// Operators of other languages, each with the corresponding operator of CQL and an explanation.
const FOREIGN: &[(&str, &str, &str)] = &[
    ("&&", "and", "`&` is the intersection of two sets of squares"),
    ("||", "or", "`|` is the union of two sets of squares"),
    ("!", "not", "`!=` compares, and `~` is the complement of a set of squares"),
];

/// Words of CQL 5.1, 5.2 and 6.0, each with its CQL 6.2 replacement and an example.
const SUCCESSORS: &[(&str, &str, &str)] = &[
    ("next", "line", "`line --> check --> not check`"),
    ("nextstar", "line", "`line --> check --> true*`"),
    ("next2", "line", "`line --> check --> not check`"),
    ("previous2", "line", "`line <-- check <-- not check`"),
    ("sequence", "line", "`line --> check --> not check`"),
    ("nextmove", "--", "`--(check)` is a move behind which check is given"),
    ("relation", "echo", "`echo (s t) {s < t s:P == t:P}` compares two positions of a game"),
    ("powerdifference", "power", "`power A - power a > 3`"),
    ("darksquares", "dark", "`dark B` are the bishops on dark squares"),
    ("lightsquares", "light", "`light B` are the bishops on light squares"),
    ("castling", "castle", "`castle` is the last move, `--(castle)` the next one"),
];

/// Words that users expect in CQL, each with the filter that they probably mean.
const MEANT: &[(&str, &str)] = &[
    ("back", "`find <-- check` searches backwards"),
    ("backwards", "`find <-- check` searches backwards"),
    ("captures", "a capture is `[x]`: `N[x]q`"),
    ("takes", "a capture is `[x]`: `N[x]q`"),
    ("def", "`function f(x) {x attacks k}` defines a filter"),
    ("print", "`comment(\"ply \" ply)` writes into the games that match"),
    ("ep", "a move en passant is `--(enpassant)`"),
    ("e.p.", "a move en passant is `--(enpassant)`"),
    ("en", "a move en passant is `--(enpassant)`"),
    ("promotion", "a promotion is `--=A`, one to a knight `--=N`"),
    ("draw", "`result 1/2-1/2` finds the positions of drawn games"),
    ("pieces", "the number of pieces is `#[Aa]`: `#[Aa] <= 7`"),
    ("piececount", "the number of pieces is `#[Aa]`: `#[Aa] <= 7`"),
    ("men", "the number of pieces is `#[Aa]`: `#[Aa] <= 7`"),
    ("material", "`{#A == 3 R P #a == 2 r}` is king, rook and pawn against king and rook"),
];

/// Quotation marks other than `"`.
const QUOTES: &str = "“”„‟«»‘’‚‛";

/// The maximum number of words in a suggested player name.
const NAME_WORDS_MAX: usize = 4;

/// The characters that can be a piece symbol before squares.
const PIECES: &str = "KQRBNPkqrbnpAa_♔♕♖♗♘♙♚♛♜♝♞♟△▲◭□";

/// If a word such as `KRPkr` or `KRPKR` names the pieces of both sides, returns a query for exactly this material.
pub(super) fn material(word: &str) -> Option<String> {
    let second_king = word.match_indices(['K', 'k']).nth(1)?.0;
    let (white, black) = word.split_at(second_king);
    let is_side = |side: &str| {
        side.starts_with(['K', 'k']) && side[1..].chars().all(|c| "QRBNP".contains(c.to_ascii_uppercase()))
    };
    if !white.starts_with('K') || !is_side(white) || !is_side(black) {
        return None;
    }
    let count = |side: &str, pieces: &str, all: char| {
        let mut text = format!("#{all} == {}", side.len());
        for piece in pieces.chars() {
            match side[1..].chars().filter(|c| c.eq_ignore_ascii_case(&piece)).count() {
                0 => {}
                1 => text += &format!(" {piece}"),
                several => text += &format!(" #{piece} == {several}"),
            }
        }
        text
    };
    Some(format!("{{{} {}}}", count(white, "QRBNP", 'A'), count(black, "qrbnp", 'a')))
}

/// Returns the error for a common mistake at the start of `text`, or `None`. `text` begins at byte `at` of the query.
/// `is_rectangle` returns true if a text is a rectangle of squares.
pub(super) fn at_start(text: &str, at: usize, is_rectangle: fn(&str) -> bool) -> Option<Diagnostic> {
    let first = text.chars().next()?;
    if QUOTES.contains(first) {
        let span = Span::new(at, at + first.len_utf8());
        return Some(
            Diagnostic::error(span, format!("`{first}` is no quotation mark of CQL"), "write `\"`")
                .help("word processors replace `\"` by such marks"),
        );
    }
    for (sign, word, help) in FOREIGN {
        if text.starts_with(sign) && !text.starts_with("!=") {
            let span = Span::new(at, at + sign.len());
            let fault =
                Diagnostic::error(span, format!("`{sign}` is no operator of CQL"), format!("write `{word}`"));
            return Some(fault.help(*help));
        }
    }
    listed_range(text, at, is_rectangle)
}

/// Returns the error for an invalid list of squares in brackets, such as `R[a1-h8]`, a range from one square to another.
fn listed_range(text: &str, at: usize, is_rectangle: fn(&str) -> bool) -> Option<Diagnostic> {
    let pieces = text.chars().take_while(|c| PIECES.contains(*c)).take(1).map(char::len_utf8).sum();
    if !text[pieces..].starts_with('[') {
        return None;
    }
    // The pieces can also be a list in brackets, as in `[RQ][a1-h8]`.
    let inner = &text[pieces + 1..];
    let letters: usize = inner.chars().take_while(|c| PIECES.contains(*c)).map(char::len_utf8).sum();
    let open = if inner[letters..].starts_with("][") { pieces + letters + 2 } else { pieces };
    let list = &text[open + 1..];
    let list = &list[..list.find(']')?];
    for (place, part) in parts(list) {
        if let Some((first, last)) = part.split_once('-').filter(|(a, b)| a.len() == 2 && b.len() == 2)
            && let (Some(first), Some(last)) = (square(first.as_bytes()), square(last.as_bytes()))
        {
            let start = at + open + 1 + place;
            return Some(squares_from_to("", first, last, Span::new(start, start + part.len())));
        }
    }
    let end = open + 1 + list.len() + 1;
    files_in_brackets(&text[..open], list, &text[end..], at).or_else(|| {
        let names: Vec<&str> =
            list.split(|c: char| c == ',' || c.is_whitespace()).filter(|name| !name.is_empty()).collect();
        let is_regular = parts(list).all(|(_, part)| !part.is_empty() && !part.contains(char::is_whitespace));
        if is_regular || names.is_empty() || !names.iter().all(|name| is_rectangle(name)) {
            return None;
        }
        let squares = match names[..] {
            [one] => one.to_string(),
            _ => format!("[{}]", names.join(",")),
        };
        let label = format!("write `{}{squares}`", &text[..open]);
        Some(Diagnostic::error(Span::new(at, at + end), "commas separate the squares of a list", label))
    })
}

/// Returns the error for files in brackets where squares are needed, as in `k[g-h]8`. The caller has split the designator into the
/// pieces before the bracket, the list inside it, and everything after it.
fn files_in_brackets(pieces: &str, list: &str, after: &str, at: usize) -> Option<Diagnostic> {
    let is_files = |part: &str| match part.as_bytes() {
        [b'a'..=b'h'] => true,
        [first @ b'a'..=b'h', b'-', last @ b'a'..=b'h'] => first < last,
        _ => false,
    };
    if pieces.is_empty() || !parts(list).all(|(_, part)| is_files(part)) {
        return None;
    }
    let ranks = match after.as_bytes() {
        [b'1'..=b'8', b'-', b'1'..=b'8', ..] => &after[..3],
        [b'1'..=b'8', ..] => &after[..1],
        _ => "1-8",
    };
    let squares: Vec<String> = parts(list).map(|(_, part)| format!("{part}{ranks}")).collect();
    let squares = if squares.len() == 1 { squares[0].clone() } else { format!("[{}]", squares.join(",")) };
    let span = Span::new(at, at + pieces.len() + list.len() + 2);
    let message = format!("`[{list}]` are files without ranks");
    Some(Diagnostic::error(span, message, format!("write `{pieces}{squares}`")))
}

/// Splits a list at its commas. Yields the byte offset of each part, and the part without the blanks around it.
fn parts(list: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut place = 0;
    list.split(',').map(move |part| {
        let start = place + part.len() - part.trim_start().len();
        place += part.len() + 1;
        (start, part.trim())
    })
}

fn square(name: &[u8]) -> Option<Square> {
    match name {
        [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => {
            Some(Square::new(u32::from(rank - b'1') * 8 + u32::from(file - b'a')))
        }
        _ => None,
    }
}

/// Returns the error for `Ra1-h8`.
fn squares_from_to(pieces: &str, first: Square, last: Square, span: Span) -> Diagnostic {
    let axis = |a: char, b: char| if a == b { a.to_string() } else { format!("{}-{}", a.min(b), a.max(b)) };
    let files = axis(first.file().char(), last.file().char());
    let ranks = axis(first.rank().char(), last.rank().char());
    Diagnostic::error(
        span,
        format!("`{pieces}{first}-{last}` goes from square to square"),
        format!("write the files, then the ranks: `{pieces}{files}{ranks}`"),
    )
    .help(format!("a move is `{pieces}{first}--{last}`"))
}

fn is_literal(node: &Node) -> bool {
    matches!(node, Node::Number(f) if matches!(f.op(), N::Int(_)))
}

impl Parser {
    /// Returns the error for a sign that cannot begin a filter. The sign is the current token.
    pub(super) fn slip_of_sign(&self, sign: &str) -> Diagnostic {
        let span = self.span();
        match sign {
            "-=" => Diagnostic::error(span, "`-=` behind a filter", "it subtracts from a variable: `x -= 1`")
                .help("what a pawn becomes touches its move: `P--=N`"),
            _ => Diagnostic::error(span, format!("found `{sign}`"), "expected a filter here"),
        }
    }

    /// Returns the error for a comma in place of a filter.
    pub(super) fn slip_of_comma(&self) -> Diagnostic {
        let fault = Diagnostic::error(self.span(), "found `,`", "expected a filter here");
        let (mut closed, mut at) = (0u32, self.at);
        let open = loop {
            let Some(before) = at.checked_sub(1) else { break None };
            at = before;
            match self.tokens[at].tok {
                Tok::Sign(")" | "}" | "]") => closed += 1,
                Tok::Sign("(" | "{" | "[") if closed == 0 => break Some(at),
                Tok::Sign("(" | "{" | "[") => closed -= 1,
                _ => {}
            }
        };
        let is_list = |open: usize| matches!(self.tokens[open].tok, Tok::Sign("("));
        fault.help(match open {
            Some(open) if is_list(open) => {
                let first = self.tokens[open.saturating_sub(1)].span;
                let rest = &self.text[first.start..];
                let list = &rest[..rest.find(')').map_or(rest.len(), |close| close + 1)];
                let apart: Vec<&str> = list.split(',').map(str::trim).collect();
                format!("blanks separate the filters of a list: `{}`", apart.join(" "))
            }
            Some(_) => "counts and lists of squares have no blanks, `check{2,3}` and `R[a1,h8]`".into(),
            None => "blanks separate filters, which must all match: `check wtm`".into(),
        })
    }

    /// Returns an error if a query ends with `#`, which the user probably meant as the sign for mate. The parser has already read
    /// the `#`.
    pub(super) fn refuse_mate_sign(&self, span: Span) -> ParseResult<()> {
        if *self.tok() != Tok::End {
            return Ok(());
        }
        Err(Diagnostic::error(span, "nothing stands behind `#`", "it counts the squares of a set: `#A`")
            .help("mate is the filter `mate`, and a move that mates `--(mate)`"))
    }

    /// Returns an error if the current token is a closing bracket without an opening one.
    pub(super) fn refuse_closing(&self) -> ParseResult<()> {
        let (open, close) = match self.tok() {
            Tok::Sign(")") => ("(", ")"),
            Tok::Sign("}") => ("{", "}"),
            Tok::Sign("]") => ("[", "]"),
            _ => return Ok(()),
        };
        let label = format!("leave it out, or open it with `{open}`");
        Err(Diagnostic::error(self.span(), format!("`{close}` closes nothing"), label))
    }

    /// Rejects `Ra1-h8`. The parser has already read everything before the `-`.
    pub(super) fn refuse_range_of_squares(&self) -> ParseResult<()> {
        let (Tok::Sign("-"), Tok::Designator { pieces: Pieces::UNNAMED, squares: last }) =
            (self.tok(), self.peek(1))
        else {
            return Ok(());
        };
        let Some(Tok::Designator { squares: first, .. }) = self.before() else { return Ok(()) };
        let end = self.peek_span(1);
        let text = &self.text[self.last_span().start..self.last_span().end];
        if let (Some(first), Some(last)) = (first.single_square(), last.single_square())
            && !self.spaced()
            && end.start == self.span().end
            && let Some(pieces) = text.strip_suffix(&first.to_string())
        {
            return Err(squares_from_to(pieces, first, last, self.last_span().to(end)));
        }
        Ok(())
    }

    /// Rejects `R = 2`, by which the user means `R == 2`.
    pub(super) fn refuse_single_equals(&self) -> ParseResult<()> {
        if !self.is_sign("=") {
            return Ok(());
        }
        let fault = Diagnostic::error(self.span(), "`=` after a filter", "to compare write `==`");
        let before = self.last_dash.filter(|dash| dash.end == self.last_span().end);
        Err(match before {
            Some(dash) => {
                let moves = &self.text[dash.start..dash.end];
                fault.help(format!("what a pawn becomes touches its move: `{moves}=Q`"))
            }
            None => fault.help("`=` assigns a variable: `x = R`"),
        })
    }

    /// Rejects `R attack by k`.
    pub(super) fn refuse_attack_by(&self) -> ParseResult<()> {
        if !self.is_word("by") {
            return Ok(());
        }
        let span = self.last_span().to(self.span());
        let text = self.text[span.start..span.end].to_string();
        if text.starts_with("attacked") {
            return Ok(());
        }
        Err(Diagnostic::error(span, format!("`{text}` is no operator of CQL"), "write `attackedby`")
            .help("`R attacks k`: rooks that attack the king; `R attackedby k`: rooks that it attacks"))
    }

    /// Rejects `:shift` outside of a CQL 5 list. The current token is the `:`.
    pub(super) fn refuse_keyword_of_cql_5(&self) -> ParseResult<()> {
        let Tok::Word(word) = self.peek(1) else { return Ok(()) };
        let span = self.span().to(self.peek_span(1));
        if !cql5::is_keyword(word) || span.end - span.start != word.len() + 1 {
            return Ok(());
        }
        let help = if transform(word).is_some() {
            format!("CQL 6 writes a transform before its filter, without `:`: `{word} {{Ra1 kh8}}`")
        } else if words::is_reserved(word) {
            format!("CQL 6 writes `{word}`, without `:`")
        } else {
            String::from("in CQL 5 the list is the whole query")
        };
        let label = format!("a list of CQL 5 is `(position Ra1 kh8 :{word})`");
        Err(Diagnostic::error(span, format!("`:{word}` outside of a list of CQL 5"), label).help(help))
    }

    /// Rejects a text without quotation marks, as in `player Carlsen`. The filter before the text begins at `span`.
    pub(super) fn refuse_bare_text(&self, span: Span) -> ParseResult<()> {
        let Tok::Word(word) = self.tok() else { return Ok(()) };
        let declared = self.assigns_next()
            || self.was_assigned(word)
            || matches!(self.peek(1), Tok::Sign("[element]"))
            || self.find_dictionary(word).is_some();
        if words::is_reserved(word) || declared || self.lookup(word).is_some() {
            return Ok(());
        }
        let filter = &self.text[span.start..self.last_span().end];
        Err(Diagnostic::error(self.span(), format!("`{word}` is no filter"), format!("write `\"{word}\"`"))
            .help(format!("text stands in quotation marks: `{filter} \"{word}\"`")))
    }

    /// Returns the help for an unknown word that looks like a player name or an opening code. Returns `None` for other words.
    pub(super) fn name_of_something(&self, word: &str) -> Option<String> {
        if matches!(word.as_bytes(), [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9']) {
            return Some(format!("an opening is asked for by its code in quotation marks: `eco \"{word}\"`"));
        }
        let is_name = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
        if !is_name(word) || word.chars().count() < 3 {
            return None;
        }
        // Consecutive words are treated as one name.
        let behind = (1..NAME_WORDS_MAX)
            .take_while(|ahead| matches!(self.peek(*ahead), Tok::Word(next) if is_name(next)));
        let span = behind.last().map_or(self.span(), |last| self.span().to(self.peek_span(last)));
        Some(format!("a player is asked for by `player \"{}\"`", &self.text[span.start..span.end]))
    }

    /// Returns the help for a range after `in`, as in `year in 2000 2010`. The current token is the second number.
    pub(super) fn range_of(&self, left: &Node, right: &Node) -> Option<String> {
        let Tok::Int(last) = self.tok() else { return None };
        let [left, first] = [left, right].map(|node| &self.text[node.span().start..node.span().end]);
        (typed(right).0 == Type::Num)
            .then(|| format!("a range is two comparisons: `{left} >= {first} {left} <= {last}`"))
    }

    /// Returns the help for a comparison of a string with a number. Returns `None` for other comparisons.
    pub(super) fn text_and_number(&self, cmp: Cmp, left: &Node, right: &Node) -> Option<String> {
        let ([(Type::Str, text), (Type::Num, number)], true) = ([left, right].map(typed), is_literal(right))
        else {
            return None;
        };
        if matches!(left, Node::Text(f) if matches!(f.op(), T::Literal(_))) {
            return None;
        }
        let ([text, number], sign) =
            ([text, number].map(|span| &self.text[span.start..span.end]), cmp.sign());
        Some(if text == "date" {
            format!("the year of a game is a number: `year {sign} {number}`")
        } else {
            format!("a text is compared with a text: `{text} {sign} \"{number}\"`")
        })
    }

    /// Returns the error for a parameter of `cql(...)` that is written among the filters.
    pub(super) fn slip_of_parameter(&self, word: &str) -> Diagnostic {
        let values = (1..).take_while(|ahead| matches!(self.peek(*ahead), Tok::Int(_) | Tok::Str(_)));
        let span = values.last().map_or(self.span(), |last| self.span().to(self.peek_span(last)));
        let text = &self.text[span.start..span.end];
        let message = format!("`{word}` is a parameter of `cql(...)`");
        Diagnostic::error(span, message, "it stands at the start of a query")
            .help(format!("for example `cql({text}) true`"))
    }

    /// Returns the error for an unknown word, with a guess at its meaning. Returns `None` if there is no guess.
    pub(super) fn slip_of_word(&self, word: &str) -> Option<Diagnostic> {
        let span = self.span();
        if let Some((_, successor, example)) = SUCCESSORS.iter().find(|(old, ..)| *old == word) {
            let fault = Diagnostic::error(
                span,
                format!("`{word}` is a word of CQL 5 and 6.0"),
                format!("CQL 6.2 has `{successor}`"),
            );
            return Some(fault.help(*example));
        }
        let is_dotted = word == "e" && self.peek(1) == &Tok::Sign(".");
        let meant = MEANT.iter().find(|(other, ..)| *other == word || *other == "e.p." && is_dotted);
        if let Some((other, help)) = meant {
            let fault =
                Diagnostic::error(span, format!("`{other}` is no word of CQL"), "no filter or variable");
            return Some(fault.help(*help));
        }
        if cql5::is_transform(word) {
            return Some(
                Diagnostic::error(span, format!("`{word}` is a transform of CQL 5"), "CQL 6 has no such transform").help(
                    format!(
                        "in CQL 5 it is `(position ... :{word})`; `flip` of CQL 6 makes all turns and reflections, \
                         `shift` all shifts"
                    ),
                ),
            );
        }
        let square = match word.as_bytes() {
            [piece, square @ ..] if square.len() == 2 && PIECES.contains(char::from(*piece)) => square,
            square => square,
        };
        let label = match square {
            [b'a'..=b'h', b'0' | b'9'] => "the ranks are 1 to 8",
            [b'i' | b'j', b'0'..=b'9'] if word.len() == 3 => "the files are a to h",
            [b'A'..=b'H', b'1'..=b'8'] => "the files are small letters, a to h",
            _ => return None,
        };
        let name = String::from_utf8_lossy(square);
        Some(Diagnostic::error(span, format!("`{name}` is no square"), label))
    }
}

#[cfg(test)]
mod tests {
    use super::SUCCESSORS;
    use crate::parse;

    /// Mistakes, each with the query that the message suggests. The suggestion must itself be a valid query.
    const SUGGESTIONS: [(&str, &str); 39] = [
        ("flip count Ra1 3", "flip count Ra1 == 3"),
        ("white elo > 2500", "elo white"),
        ("white \"Carlsen\"", "player white \"Carlsen\""),
        ("black", "sidetomove == black"),
        ("find 2-5 check", "find 2 5 check"),
        ("flip 2-5 Ra1", "flip 2 5 Ra1"),
        ("line 2-5 --> check", "line 2 5 --> check"),
        ("path 2-5 --", "path 2 5 --"),
        ("up 2-5 R", "up 2 5 R"),
        ("R[a1 h1]", "R[a1,h1]"),
        ("[RQ][a1 , h1-2,]", "[RQ][a1,h1-2]"),
        ("A[a1,]", "Aa1"),
        ("k[g-h]8", "kg-h8"),
        ("k[g,h]7-8", "k[g7-8,h7-8]"),
        ("R[a-b]", "Ra-b1-8"),
        ("between(K, k)", "between(K k)"),
        ("max(1,2) > ply", "max(1 2)"),
        ("distance(parent, child)", "distance(parent child)"),
        ("comment(\"x\", ply)", "comment(\"x\" ply)"),
        ("child 1:check", "child(1)"),
        ("currentmove N -- f3", "currentmove N--"),
        ("countmoves P -- > 3", "countmoves P--"),
        ("cql check", "cql() check"),
        ("matchcount 3", "cql(matchcount 3) true"),
        ("find back check", "find <-- check"),
        ("wtm e.p.", "--(enpassant)"),
        ("N captures q", "N[x]q"),
        ("year in 2000 2010", "year >= 2000 year <= 2010"),
        ("date > 2000", "year > 2000"),
        ("site == 3", "site == \"3\""),
        ("path piecepath --", "path piecepath focus A --"),
        ("KRPkr", "{#A == 3 R P #a == 2 r}"),
        ("KNNKP", "{#A == 3 #N == 2 #a == 2 p}"),
        ("material", "{#A == 3 R P #a == 2 r}"),
        ("en passant", "--(enpassant)"),
        ("promotion", "--=A"),
        ("draw", "result 1/2-1/2"),
        ("pieces <= 7", "#[Aa] <= 7"),
        ("piececount <= 7", "#[Aa] <= 7"),
    ];

    #[test]
    fn examples_for_old_words_are_queries() {
        for (word, successor, help) in SUCCESSORS {
            let example = help.split('`').nth(1).unwrap();
            assert!(parse(example).is_ok(), "{word}: {example}");
            let fault = parse(&format!("{word} check")).unwrap_err();
            assert!(
                fault.label.contains(&format!("`{successor}`")),
                "{word}: {} {}",
                fault.message,
                fault.label
            );
            assert_eq!(fault.help.as_deref(), Some(*help), "{word}");
        }
    }

    #[test]
    fn messages_suggest_queries() {
        let mut wrong = Vec::new();
        for (mistake, due) in SUGGESTIONS {
            assert!(parse(due).is_ok(), "{due}");
            let Err(fault) = parse(mistake) else {
                wrong.push(format!("{mistake}: no error"));
                continue;
            };
            let said = format!("{} {}", fault.label, fault.help.clone().unwrap_or_default());
            if !said.contains(&format!("`{due}")) {
                wrong.push(format!("{mistake}: {}: {said}", fault.message));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// Queries that do not mean what they seem to mean, each with a part of the warning.
    #[test]
    fn filters_that_were_meant_as_one_are_remarked() {
        for (query, part) in [
            ("move Nf3", "`move` and `Nf3` are two filters"),
            ("move N to f3", "`move` and `N` are two filters"),
            ("eco B", "`eco \"B\"`"),
            ("path N -- f3", "`N` and `--` are two filters"),
            ("path -- f3", "`--` and `f3` are two filters"),
            ("N--f3=Q", "never"),
            ("P--f3=Q", "never"),
            ("legal -- (check)", "two filters"),
            ("countmoves legal -- (check)", "two filters"),
        ] {
            let remarks = parse(query).expect(query).remarks;
            let said: Vec<String> = remarks
                .into_iter()
                .map(|remark| {
                    format!("{} {} {}", remark.message, remark.label, remark.help.unwrap_or_default())
                })
                .collect();
            assert!(said.iter().any(|said| said.contains(part)), "{query}: {said:?}");
        }
        for query in [
            "move from N",
            "eco \"B\"",
            "path N--f3",
            "path -- Nf3",
            "path Kg1 -- check",
            "P--f8=Q",
            "p--a-h1=N",
        ] {
            assert!(parse(query).expect(query).remarks.is_empty(), "{query}");
        }
    }

    /// The error for an unclosed parenthesis points to that parenthesis.
    #[test]
    fn open_parentheses_are_named() {
        for (query, at) in [
            ("comment(\"x\" check", 7),
            ("function f(x y) {x & y} f(K k", 25),
            ("between(K k", 7),
            ("max(1 2", 3),
            ("str(ply", 3),
            ("makesquare(1 2", 10),
        ] {
            let fault = parse(query).expect_err(query);
            assert_eq!((fault.message.as_str(), fault.span.start), ("`(` is not closed", at), "{query}");
        }
    }
}
