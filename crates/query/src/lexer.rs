//! Splits the text of a CQL 6 query into tokens.
//!
//! At each byte, the longest possible token is read. A piece designator such as `[RN]a-d1-2` is one token without blanks; `Ra` is a
//! name, not a rook and a file. The rules are those of CQL 6.2.

use shakmaty::{Bitboard, Piece};

use super::{
    slips,
    token::{QUERY_BYTES_MAX, Tok, Token, square_list},
    tree::Pieces,
    words,
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// Brackets and separators, which are not words of the language.
const BRACKETS: [&str; 7] = ["(", ")", "{", "}", "[", "]", ","];

/// Splits a query into tokens, the last of which is [`Tok::End`].
///
/// # Errors
///
/// Fails if a character begins no token, if a string or a comment is not closed, or if a designator is wrong.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, Diagnostic> {
    if text.len() > QUERY_BYTES_MAX {
        return Err(Diagnostic::error(
            Span::new(0, 0),
            format!("the query is {} bytes long", text.len()),
            format!("at most {QUERY_BYTES_MAX} bytes are read"),
        ));
    }
    let mut lexer = Lexer { text, at: 0, indices: 0 };
    let mut tokens: Vec<Token> = Vec::new();
    loop {
        let before = lexer.at;
        let apart = lexer.skip_blank()?;
        let start = lexer.at;
        let tok = match tokens.last() {
            Some(Token { tok, .. }) if start == before && lexer.begins_index(tok) => {
                lexer.indices += 1;
                lexer.bracket("[")
            }
            _ => lexer.next()?,
        };
        let end = tok == Tok::End;
        tokens.push(Token {
            tok,
            span: Span::new(start, lexer.at),
            spaced: start > before || start == 0,
            apart,
        });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The number of indices, as in `D[K]`, that are still open. Inside an index, a `]` may come directly after a designator.
    indices: u32,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Skips blanks and comments. Returns true if they contain a blank line.
    fn skip_blank(&mut self) -> Result<bool, Diagnostic> {
        let (mut apart, mut line_ends) = (false, 0);
        loop {
            let rest = self.rest();
            if let Some(c) = rest.chars().next().filter(|c| c.is_whitespace() || *c == '\u{feff}') {
                self.at += c.len_utf8();
                line_ends += u32::from(c == '\n');
                apart |= line_ends > 1;
                continue;
            }
            line_ends = 0;
            if rest.starts_with("///") && !rest.starts_with("////") {
                return Ok(apart);
            } else if rest.starts_with("//") || rest.starts_with(';') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let Some(close) = rest.find("*/") else {
                    return Err(Diagnostic::error(
                        Span::new(self.at, self.at + 2),
                        "comment is not closed",
                        "begins here; close it with `*/`",
                    ));
                };
                self.at += close + 2;
            } else {
                return Ok(apart);
            }
        }
    }

    fn next(&mut self) -> Result<Tok, Diagnostic> {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(Tok::End) };
        if first == '"' {
            return self.string();
        }
        if first == '\\' {
            return self.escape();
        }
        if first.is_ascii_digit() {
            return self.integer();
        }
        if let Some(slip) = slips::at_start(self.rest(), start, is_rectangle) {
            return Err(slip);
        }
        if let Some(len) = piece_variable(self.rest()) {
            self.at += len;
            return Ok(Tok::Word("piece".into()));
        }
        if let Some((tok, len)) = designator(self.rest(), start, self.indices > 0)? {
            self.at += len;
            return Ok(tok);
        }
        if let Some(castling) = castling(self.rest()) {
            self.at += castling.len();
            return Ok(Tok::Word(castling.into()));
        }
        if first.is_ascii_alphabetic() || first == '_' || first == '$' {
            let len = self.rest().bytes().take_while(|&b| is_word(b)).count();
            let word = self.rest()[..len].to_string();
            files_without_ranks(self.rest(), start)?;
            self.at += len;
            return Ok(Tok::Word(word));
        }
        if let Some(&(spelling, usual)) = words::signs().iter().find(|sign| self.rest().starts_with(sign.0)) {
            self.at += spelling.len();
            let is_word = usual.starts_with(|first: char| first.is_ascii_alphabetic());
            return Ok(if is_word { Tok::Word(usual.into()) } else { Tok::Sign(usual) });
        }
        if let Some(bracket) = BRACKETS.into_iter().find(|bracket| self.rest().starts_with(bracket)) {
            self.indices -= u32::from(bracket == "]" && self.indices > 0);
            return Ok(self.bracket(bracket));
        }
        Err(Diagnostic::error(
            Span::new(start, start + first.len_utf8()),
            format!("unexpected character `{}`", first.escape_debug()),
            "begins no filter, name or operator",
        ))
    }

    fn bracket(&mut self, bracket: &'static str) -> Tok {
        self.at += bracket.len();
        Tok::Sign(bracket)
    }

    /// Returns true if a `[` directly after the token `before` begins an index, as in `D[k]` and `s[1]`. After a word of the
    /// language, as in `light[BN]`, the `[` begins a designator instead.
    fn begins_index(&self, before: &Tok) -> bool {
        let named = match before {
            Tok::Word(word) => !words::is_reserved(word),
            Tok::Str(_) | Tok::Group { .. } | Tok::Sign("]") => true,
            _ => false,
        };
        let rest = self.rest();
        named && rest.starts_with('[') && !words::signs().iter().any(|(sign, _)| rest.starts_with(sign))
    }

    fn string(&mut self) -> Result<Tok, Diagnostic> {
        let start = self.at;
        match self.rest()[1..].find('"') {
            Some(len) => {
                self.at += len + 2;
                Ok(Tok::Str(self.text[start + 1..start + 1 + len].to_string()))
            }
            None => Err(Diagnostic::error(
                Span::new(start, start + 1),
                "string is not closed",
                "begins here; close it with `\"`",
            )),
        }
    }

    fn escape(&mut self) -> Result<Tok, Diagnostic> {
        let value = match self.rest().as_bytes().get(1) {
            Some(b'n') => "\n",
            Some(b't') => "\t",
            Some(b'r') => "\r",
            Some(b'"') => "\"",
            Some(b'\\') => "\\",
            _ => return self.group(),
        };
        self.at += 2;
        Ok(Tok::Str(value.to_string()))
    }

    fn group(&mut self) -> Result<Tok, Diagnostic> {
        let at = self.at;
        let after = &self.rest()[1..];
        let start = after.starts_with('-');
        let digits = &after[usize::from(start)..];
        let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
        let Ok(number) = digits.parse() else {
            return Err(Diagnostic::error(
                Span::new(at, at + 1),
                "`\\` outside of quotation marks",
                "expected `\\n`, `\\t`, `\\r`, `\\\"`, `\\\\`, or the number of a group: `\\1`, `\\-1`",
            ));
        };
        self.at += 1 + usize::from(start) + digits.len();
        Ok(Tok::Group { start, number })
    }

    fn integer(&mut self) -> Result<Tok, Diagnostic> {
        let start = self.at;
        let len = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += len;
        self.text[start..self.at].parse().map(Tok::Int).map_err(|_| {
            Diagnostic::error(Span::new(start, self.at), "number is too large", "the largest is 2147483647")
        })
    }
}

/// Recognizes the words `o-o` and `o-o-o` at the start of a text.
fn castling(text: &str) -> Option<&'static str> {
    let follows =
        |word: &&str| text.strip_prefix(*word).is_some_and(|rest| !rest.bytes().next().is_some_and(is_word));
    ["o-o-o", "o-o"].into_iter().find(follows)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Returns the length of `◭` or `[Aa]` in bytes, if `text` begins with it and the name of a piece variable follows, as in `◭X`.
/// In `◭a1` and `◭a-h2`, squares follow instead, so these are designators.
fn piece_variable(text: &str) -> Option<usize> {
    let sign = ["◭", "[Aa]"].into_iter().find(|sign| text.starts_with(sign))?;
    let after = &text.as_bytes()[sign.len()..];
    let name = &after[..after.iter().take_while(|&&byte| is_word(byte)).count()];
    let is_range = name.len() == 1 && after.get(1) == Some(&b'-') && matches!(name[0], b'a'..=b'h');
    let is_square = matches!(name, [b'a'..=b'h', b'1'..=b'8']);
    let is_name = name.first().is_some_and(|first| !first.is_ascii_digit());
    (is_name && !is_range && !is_square).then_some(sign.len())
}

/// Reads one piece symbol. Returns the pieces and the number of bytes. The last value is true if the symbol is not an ASCII
/// letter.
fn piece_symbol(text: &str) -> Option<(Pieces, usize, bool)> {
    let c = text.chars().next()?;
    Some((words::piece(c)?, c.len_utf8(), !c.is_ascii()))
}

/// Reads the pieces of a designator at the start of `text`. `at` is the byte offset of `text` in the query.
fn pieces(text: &str, at: usize) -> Result<Option<(Pieces, usize)>, Diagnostic> {
    let bracketed = text.starts_with('[');
    let mut len = usize::from(bracketed);
    let mut out: Option<Pieces> = None;
    let mut unicode_seen: Vec<&str> = Vec::new();
    let mut ascii_seen = false;
    while let Some((symbol, bytes, unicode)) = piece_symbol(&text[len..]) {
        let spelling = &text[len..len + bytes];
        if unicode {
            if unicode_seen.contains(&spelling) {
                return Err(Diagnostic::error(
                    Span::new(at + len, at + len + bytes),
                    format!("`{spelling}` stands twice in one list"),
                    "name each piece once",
                ));
            }
            unicode_seen.push(spelling);
        } else if !unicode_seen.is_empty() && !bracketed {
            break; // in ♖a1 the `a` is a file
        } else {
            ascii_seen = true;
        }
        out = Some(out.map_or(symbol, |old| old.union(symbol)));
        len += bytes;
        if !bracketed && ascii_seen {
            break;
        }
    }
    if bracketed {
        if !text[len..].starts_with(']') {
            return Ok(None);
        }
        len += 1;
        if ascii_seen && !unicode_seen.is_empty() {
            return Err(Diagnostic::error(
                Span::new(at, at + len),
                "letters and figurines are mixed in one list",
                "write all pieces the same way",
            ));
        }
    }
    Ok(out.map(|pieces| (pieces, len)))
}

/// Reads a rectangle of squares: `file[-file] rank[-rank]`.
fn square_range(text: &str, at: usize) -> Result<Option<(Bitboard, usize)>, Diagnostic> {
    let b = text.as_bytes();
    let is_file = |i: usize| b.get(i).is_some_and(|c| (b'a'..=b'h').contains(c));
    let is_rank = |i: usize| b.get(i).is_some_and(|c| (b'1'..=b'8').contains(c));
    if !is_file(0) {
        return Ok(None);
    }
    let (mut len, mut files) = (1, (b[0], b[0]));
    if b.get(1) == Some(&b'-') && is_file(2) {
        (len, files) = (3, (b[0], b[2]));
    }
    if !is_rank(len) {
        return Ok(None);
    }
    let rank_at = len;
    let mut ranks = (b[len], b[len]);
    len += 1;
    if b.get(len) == Some(&b'-') && is_rank(len + 1) {
        ranks.1 = b[len + 1];
        len += 2;
    }
    let backwards = |what: &str, from: usize, to: usize, lo: u8, hi: u8| {
        Diagnostic::error(
            Span::new(at + from, at + to),
            format!("{what} range runs backwards"),
            format!("write the lower {what} first: `{}-{}`", char::from(hi), char::from(lo)),
        )
    };
    if files.0 > files.1 {
        return Err(backwards("file", 0, 3, files.0, files.1));
    }
    if ranks.0 > ranks.1 {
        return Err(backwards("rank", rank_at, len, ranks.0, ranks.1));
    }
    let mut squares = 0u64;
    for file in files.0 - b'a'..=files.1 - b'a' {
        for rank in ranks.0 - b'1'..=ranks.1 - b'1' {
            squares |= 1 << (rank * 8 + file);
        }
    }
    Ok(Some((Bitboard(squares), len)))
}

/// Returns true if a text is a rectangle of squares: a square such as `e4`, or ranges such as `a-h1-2`.
fn is_rectangle(text: &str) -> bool {
    matches!(square_range(text, 0), Ok(Some((_, len))) if len == text.len())
}

fn squares(text: &str, at: usize) -> Result<Option<(Bitboard, usize)>, Diagnostic> {
    if !text.starts_with('[') {
        return square_range(text, at);
    }
    square_list(text, at, 1, square_range)
}

/// Returns true if a designator may end before `text`, because `text` does not continue it.
fn may_end(text: &str, in_index: bool) -> bool {
    if text.starts_with("[x]") || in_index && text.starts_with(']') {
        return true;
    }
    !text.bytes().next().is_some_and(|b| is_word(b) || b == b'[' || b == b']')
}

/// Reads the longest piece designator at the start of `text`. Returns `None` if there is none.
fn designator(text: &str, at: usize, in_index: bool) -> Result<Option<(Tok, usize)>, Diagnostic> {
    let mut best: Option<(Tok, usize)> = None;
    let mut offer = |pieces, squares, len: usize| {
        if may_end(&text[len..], in_index) && best.as_ref().is_none_or(|(_, old)| len > *old) {
            best = Some((Tok::Designator { pieces, squares }, len));
        }
    };
    if let Some((squares, len)) = squares(text, at)? {
        offer(Pieces::UNNAMED, squares, len);
    }
    if let Some((pieces, len)) = pieces(text, at)? {
        if let Some((squares, more)) = squares(&text[len..], at + len)? {
            offer(pieces, squares, len + more);
        }
        if !files_follow(&text[..len], &text[len..]) {
            offer(pieces, Bitboard::FULL, len);
        }
    }
    Ok(best)
}

/// Returns true for files without ranks, such as `a-h` or `b-d`. The first letter could also be a piece, but a `-` after a piece
/// would have no meaning, because designators cannot be subtracted.
fn files_follow(piece: &str, rest: &str) -> bool {
    let b = rest.as_bytes();
    let file = |i: usize| b.get(i).is_some_and(|c| (b'a'..=b'h').contains(c));
    matches!(piece, "a" | "b")
        && b.first() == Some(&b'-')
        && file(1)
        && !b.get(2).is_some_and(|&c| is_word(c))
}

/// Rejects files without ranks, as in `Rd-e`, because CQL requires both.
fn files_without_ranks(text: &str, at: usize) -> Result<(), Diagnostic> {
    let b = text.as_bytes();
    let file = |i: usize| b.get(i).is_some_and(|c| (b'a'..=b'h').contains(c));
    let start = usize::from(Piece::from_char(char::from(b[0])).is_some() && file(1));
    let dash = start + 1;
    if file(start)
        && b.get(dash) == Some(&b'-')
        && file(dash + 1)
        && !b.get(dash + 2).is_some_and(|&c| is_word(c))
    {
        let (first, last) = (b[start].min(b[dash + 1]), b[start].max(b[dash + 1]));
        let files = format!("{}{}-{}", &text[..start], char::from(first), char::from(last));
        return Err(Diagnostic::error(
            Span::new(at, at + dash + 2),
            "files without ranks",
            format!("write the ranks too: `{files}1-8`"),
        ));
    }
    Ok(())
}
