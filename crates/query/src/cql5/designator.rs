//! Piece designators in the syntax of CQL 5.
//!
//! Several signs have a different meaning in CQL 6. In CQL 5, `.` is an empty square, `△` and `▲` are queens and rooks, and
//! `[ah12]` is the range that CQL 6 writes as `a-h1-2`.
//!
//! Source: the section on piece designators in the CQL 5 manual.

use shakmaty::Bitboard;

use crate::{
    parser::S,
    token::{blanks, square_list},
    tree::{Pieces, Squares},
};
use orbit_core::diagnostic::{Diagnostic, Span};

use super::{Cql5Result, keywords::piece as symbol};

/// Reads a text that must be exactly one designator. `at` is the byte offset of the text in the query.
///
/// # Errors
///
/// Returns an error at the first part of the text that does not belong to a designator.
pub(super) fn read(text: &str, at: usize) -> Cql5Result<Squares> {
    let node =
        |pieces, squares| Squares::new(S::Designator { pieces, squares }, Span::new(at, at + text.len()));
    let squares_alone = squares(text, at);
    if let Ok(Some((on, len))) = squares_alone
        && len == text.len()
    {
        return Ok(node(Pieces::UNNAMED, on));
    }
    // A text such as `[ba]` was not read as squares, because the files are in the wrong order, but it can be two pieces. If it is
    // neither, the error about the squares is returned.
    let (pieces, len) = pieces(text, at).map_err(|error| squares_alone.err().unwrap_or(error))?;
    let rest = &text[len..];
    if rest.is_empty() {
        return Ok(node(pieces, Bitboard::FULL));
    }
    match squares(rest, at + len)? {
        Some((on, more)) if more == rest.len() => Ok(node(pieces, on)),
        found => Err(wrong_squares(text, at, len, found.map_or(0, |(_, more)| more))),
    }
}

/// Reads one piece, or several pieces in brackets. Also returns the number of bytes that were read.
fn pieces(text: &str, at: usize) -> Cql5Result<(Pieces, usize)> {
    let Some(inside) = text.strip_prefix('[') else {
        let c = text.chars().next().expect("a token is not empty");
        return symbol(c).map(|pieces| (pieces, c.len_utf8())).ok_or_else(|| no_piece(text, c, at, 0));
    };
    let (mut out, mut len) = (Pieces::NONE, 1);
    for c in inside.chars() {
        match symbol(c) {
            _ if c == ']' => return Ok((out, len + 1)),
            Some(pieces) => out = out.union(pieces),
            None if c.is_whitespace() => {}
            None => return Err(no_piece(text, c, at, len)),
        }
        len += c.len_utf8();
    }
    Err(Diagnostic::error(Span::new(at, at + 1), "`[` is not closed", "close it with `]`"))
}

/// If a symbol exists only in CQL 6, returns a message that names the CQL 5 equivalent.
fn of_cql_6(c: char) -> Option<&'static str> {
    Some(match c {
        '_' | '□' => "an empty square is `.` in CQL 5",
        '◭' => "any piece is `◑` or `U` in CQL 5",
        '▦' => "any square is `?` in CQL 5",
        '✵' => "turns and reflections are asked for by `:flip` in CQL 5",
        '⬓' => "swapped colours are asked for by `:flipcolor` in CQL 5",
        '{' | '}' => "lists stand in parentheses in CQL 5: `(position Ra1 kh8)`",
        '&' => "all of a list must match: leave the `&` out",
        '|' => "write the choices as lists: `:or ((position Ra1) (position Rh1))`",
        '~' => "write what must not be as a list: `:not (position Ra1)`",
        '#' => "a number of pieces is `:piececount P >2` in CQL 5",
        _ => return None,
    })
}

fn no_piece(text: &str, c: char, at: usize, k: usize) -> Diagnostic {
    let span = Span::new(at + k, at + k + c.len_utf8());
    if let Some(help) = of_cql_6(c) {
        return Diagnostic::error(span, format!("`{c}` is CQL 6"), "this is a list of CQL 5").help(help);
    }
    if text.starts_with('[') {
        return Diagnostic::error(
            Span::new(at, at + text.len()),
            format!("`{text}` is neither a list of pieces nor one of squares"),
            "expected `[♖♗]` or `[a1,h8]`, or one behind the other",
        )
        .help("squares are a file and a rank, or ranges of them: `[a-h1-2,f6]`");
    }
    Diagnostic::error(
        Span::new(at, at + text.len()),
        format!("`{text}` is no piece designator"),
        "expected a piece, squares, a keyword with its colon or a list",
    )
}

/// Returns the error for a text that begins with pieces but does not continue with valid squares. The first `len` bytes are the
/// pieces, and only the next `more` bytes are squares.
fn wrong_squares(text: &str, at: usize, len: usize, more: usize) -> Diagnostic {
    let (pieces, rest) = text.split_at(len);
    let after = &rest[more..];
    let behind = Span::new(at + len + more, at + text.len());
    if after.starts_with(['&', '|']) || ["->", "→", "<-", "←"].iter().any(|arrow| after.starts_with(arrow))
    {
        return Diagnostic::error(behind, format!("`{after}` is CQL 6"), "this is a list of CQL 5")
            .help("all of a list must match; `:or` takes lists of choices, `:attackcount R k 1 unlimited` asks for attacks");
    }
    if more > 0 && (symbol_or_bracket(after)) {
        let (first, second) = text.split_at(len + more);
        return Diagnostic::error(
            behind,
            format!("`{second}` directly behind `{first}`"),
            format!("two designators have a blank between them: `{first} {second}`"),
        );
    }
    if let Ok(Some((_, all))) = element(rest, at + len)
        && all == rest.len()
    {
        return Diagnostic::error(
            Span::new(at + len, at + text.len()),
            "several squares without brackets",
            format!("write `{pieces}[{rest}]`"),
        );
    }
    if pieces.chars().count() == 1 && rest.chars().all(|c| symbol(c).is_some()) {
        return Diagnostic::error(
            Span::new(at, at + text.len()),
            format!("`{text}` is no piece designator"),
            format!(
                "several pieces are written in brackets, `[{text}]`, or with blanks if all must be there"
            ),
        );
    }
    Diagnostic::error(
        Span::new(at + len, at + text.len()),
        format!("`{rest}` is no set of squares"),
        "expected a square such as `b3`, or a list in brackets: `[a1,c4]`, `[a-h1-2]`",
    )
}

fn symbol_or_bracket(text: &str) -> bool {
    text.starts_with('[') || text.chars().next().is_some_and(|c| symbol(c).is_some())
}

/// Reads squares at the start of a text: a single square, in which `?` matches any file or rank, or a list in brackets. Also
/// returns the number of bytes that were read.
fn squares(text: &str, at: usize) -> Cql5Result<Option<(Bitboard, usize)>> {
    if !text.starts_with('[') {
        let single = |k: usize, from: u8| {
            let c = text.as_bytes().get(k).copied()?;
            if c == b'?' { Some(0xff) } else { (from..from + 8).contains(&c).then(|| 1u8 << (c - from)) }
        };
        return Ok(single(0, b'a').zip(single(1, b'1')).map(|(files, ranks)| (rectangle(files, ranks), 2)));
    }
    let len = 1 + blanks(&text[1..]);
    if text[len..].starts_with(']') {
        return Ok(Some((Bitboard::EMPTY, len + 1)));
    }
    square_list(text, at, len, element)
}

/// Reads one element of a list of squares: files followed by ranks. The files can be a single file, `?`, or a range with or
/// without a hyphen. The ranks are written in the same way.
fn element(text: &str, at: usize) -> Cql5Result<Option<(Bitboard, usize)>> {
    let Some((files, len)) = lines(text, at, b'a', "file")? else { return Ok(None) };
    let Some((ranks, more)) = lines(&text[len..], at + len, b'1', "rank")? else {
        if text[len..].is_empty() || text[len..].starts_with([',', ']']) {
            return files_alone(text, at, len);
        }
        return Ok(None);
    };
    Ok(Some((rectangle(files, ranks), len + more)))
}

/// Rejects files without ranks. If the file letters are also piece letters, as in `[ab]`, there is no error.
fn files_alone(text: &str, at: usize, len: usize) -> Cql5Result<Option<(Bitboard, usize)>> {
    let part = &text[..len];
    if part.chars().all(|c| symbol(c).is_some()) {
        return Ok(None);
    }
    Err(Diagnostic::error(
        Span::new(at, at + len),
        "files without ranks",
        format!("write the ranks too: `{part}1-8`"),
    ))
}

/// Reads files (`from` is `a`) or ranks (`from` is `1`). Returns them as the bits of a byte, with the number of bytes that were
/// read.
fn lines(text: &str, at: usize, from: u8, what: &str) -> Cql5Result<Option<(u8, usize)>> {
    let b = text.as_bytes();
    let is_line = |k: usize| b.get(k).is_some_and(|c| (from..from + 8).contains(c));
    if b.first() == Some(&b'?') {
        return Ok(Some((0xff, 1)));
    }
    if !is_line(0) {
        return Ok(None);
    }
    let second = match (b.get(1), is_line(1), is_line(2)) {
        (Some(b'-'), _, true) => 2,
        (_, true, _) => 1,
        _ => 0,
    };
    let (first, last) = (b[0], b[second]);
    if first > last {
        return Err(Diagnostic::error(
            Span::new(at, at + second + 1),
            format!("{what} range runs backwards"),
            format!("write the lower {what} first: `{}-{}`", char::from(last), char::from(first)),
        ));
    }
    let bits = (first - from..=last - from).fold(0, |bits, k| bits | 1 << k);
    Ok(Some((bits, second + 1)))
}

fn rectangle(files: u8, ranks: u8) -> Bitboard {
    let rows = (0..8).filter(|k| ranks >> k & 1 != 0).fold(0u64, |rows, k| rows | 1 << (8 * k));
    Bitboard(rows * u64::from(files))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbit_core::board::PieceSet;

    fn designator(text: &str) -> (PieceSet, Bitboard) {
        match read(text, 0).unwrap_or_else(|error| panic!("{text}: {error}")).op() {
            S::Designator { pieces, squares } => (pieces.accepts(), *squares),
            op => panic!("{text}: {op:?}"),
        }
    }

    fn set(names: &str) -> Bitboard {
        names.split(' ').map(|name| name.parse::<shakmaty::Square>().unwrap()).collect()
    }

    fn holds(text: &str, letters: &str) {
        let wanted = crate::tree::contents_where(|code| {
            letters.contains(code.piece().map_or('_', |piece| piece.char()))
        });
        assert_eq!(designator(text).0, wanted, "{text}");
    }

    /// Source: the section on piece designators in the CQL 5 manual.
    #[test]
    fn signs_have_the_meaning_of_cql_5() {
        for (text, letters) in [
            ("♖", "R"),
            ("R", "R"),
            ("♛", "q"),
            ("b", "b"),
            ("○", "KQRBNP"),
            ("A", "KQRBNP"),
            ("●", "kqrbnp"),
            ("a", "kqrbnp"),
            ("◑", "KQRBNPkqrbnp"),
            ("U", "KQRBNPkqrbnp"),
            ("△", "QR"),
            ("M", "QR"),
            ("▲", "qr"),
            ("m", "qr"),
            ("▽", "BN"),
            ("I", "BN"),
            ("▼", "bn"),
            ("i", "bn"),
            (".", "_"),
            ("?", "_KQRBNPkqrbnp"),
            ("[○●]", "KQRBNPkqrbnp"),
            ("[♗♝]", "Bb"),
            ("[RnM.]", "RnQ_"),
            ("[ab]", "kqrbnp"),
        ] {
            holds(text, letters);
            assert_eq!(designator(text).1, Bitboard::FULL, "{text}");
        }
        for (text, letters) in
            [("b3", "_KQRBNPkqrbnp"), ("bb3", "b"), ("aa1", "kqrbnp"), (".a1", "_"), ("[ba]a3", "kqrbnp")]
        {
            holds(text, letters);
        }
    }

    #[test]
    fn squares_are_lists_of_ranges_with_or_without_hyphens() {
        for (text, squares) in [
            ("♕b3", "b3"),
            ("♕[c2,h2]", "c2 h2"),
            ("♕[ c2 , h2 ]", "c2 h2"),
            ("♕[ac1]", "a1 b1 c1"),
            ("♕[a-c1]", "a1 b1 c1"),
            ("♕[fh68]", "f6 g6 h6 f7 g7 h7 f8 g8 h8"),
            ("♕[f-h6-8]", "f6 g6 h6 f7 g7 h7 f8 g8 h8"),
            ("♕[ab1,f6]", "a1 b1 f6"),
            ("♕a?", "a1 a2 a3 a4 a5 a6 a7 a8"),
            ("♕?1", "a1 b1 c1 d1 e1 f1 g1 h1"),
            ("♕[?1]", "a1 b1 c1 d1 e1 f1 g1 h1"),
            ("[♕♖][a18]", "a1 a2 a3 a4 a5 a6 a7 a8"),
        ] {
            assert_eq!(designator(text).1, set(squares), "{text}");
        }
        assert_eq!(designator("♕[]").1, Bitboard::EMPTY);
        assert_eq!(designator("♕[ ]").1, Bitboard::EMPTY);
        assert_eq!(designator("[]").1, Bitboard::EMPTY);
        assert_eq!(designator("♕??").1, Bitboard::FULL);
    }
}
