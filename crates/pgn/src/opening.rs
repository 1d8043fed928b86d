//! Decides from the beginning of a text whether the text contains games.
//!
//! The movetext reader is lenient: it would read `2. Definitions` in prose as a game without moves. Therefore this module rejects
//! texts that are not PGN at all. It examines only the head of the text. PGN begins with a tag pair, a move or a result, perhaps
//! after comments. Prose may also come first if a tag pair or numbered moves follow, because a piece cut out of a file may begin
//! inside a comment, which looks like prose.

use super::lex::{self, BOM, MovetextWord, at_line_start, is_blank, is_eol};
use super::san::SanShape;

const NO_GAMES: &str =
    "it is no PGN, FEN or EPD: it begins with no tag pair, move or position; check the path";
const JSON: &str = "it is JSON, no PGN, FEN or EPD: make a PGN file of its games first";
const BINARY: &str =
    "it is no PGN, FEN or EPD: it has bytes that no text has; check the path, or export its games as PGN";

/// The kind of a text, judged by its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FirstBytes {
    /// The text has games, whatever follows.
    Games,
    /// Undecided: the text so far has, for instance, only comments. If the text ends here, it is accepted.
    Comments,
    /// The text so far is prose, but a tag pair may follow. If the text ends here, it is refused.
    Prose,
    /// The text is not PGN.
    Other,
    /// The text is JSON.
    Json,
    /// The text is binary data.
    Binary,
}

impl FirstBytes {
    /// Returns the reason for refusing a text that ends here, or `None` if it is accepted.
    pub(super) fn refusal(self) -> Option<&'static str> {
        match self {
            FirstBytes::Games | FirstBytes::Comments => None,
            FirstBytes::Prose | FirstBytes::Other => Some(NO_GAMES),
            FirstBytes::Json => Some(JSON),
            FirstBytes::Binary => Some(BINARY),
        }
    }
}

/// Classifies the complete lines at the beginning of a text.
pub(super) fn opening(head: &[u8]) -> FirstBytes {
    use FirstBytes::{Comments, Games};
    let (mut at, mut is_numbered, mut has_signs) = (0, false, false);
    loop {
        let rest = &head[at..];
        at = match rest {
            [] => return Comments,
            // A game text may contain NULs, but not after signs that have no meaning in PGN.
            [0, ..] if has_signs => return with_nul(head, at),
            [b'{' | b'[', ..] if is_json(rest) => return FirstBytes::Json,
            [byte, ..] if is_blank(*byte) || is_eol(*byte) => at + 1,
            _ if rest.starts_with(BOM) => at + BOM.len(),
            [b'{', ..] => match lex::comment_end(head, at + 1, head.len()) {
                Some(end) => end + usize::from(head[end] == b'}'),
                None => return Comments,
            },
            [b';', ..] => lex::line_end(head, at),
            [b'%' | b'#', ..] if at_line_start(head, at) => lex::line_end(head, at),
            [b'[', ..] if is_tag(head, at) => return with_tag(head, at, Comments),
            // Annotations and `*` do not show whether the text is PGN, since other texts also begin with these signs.
            [b'[', ..] => lex::line_end(head, at),
            [b'(' | b')' | b']' | b'}' | b'*', ..] => at + 1,
            [b'$', ..] => lex::word_end(head, at + 1),
            _ => {
                let stop = lex::word_end(head, at);
                match MovetextWord::from_bytes(&head[at..stop]) {
                    MovetextWord::Result(_) | MovetextWord::Null => return Games,
                    MovetextWord::Mark => {
                        has_signs |= lex::glyph(&head[at..stop]).is_none();
                        stop
                    }
                    MovetextWord::Number { length, .. } => match next_word(head, at + length) {
                        Some(word) if is_like_a_move(word) => return Games,
                        Some(_) => return preface(head),
                        None => {
                            is_numbered = true;
                            at + length
                        }
                    },
                    MovetextWord::Other if SanShape::parse(&head[at..stop]).is_some() => return Games,
                    MovetextWord::Other if is_numbered && names_square(&head[at..stop]) => return Games,
                    MovetextWord::Other => return preface(head),
                }
            }
        };
    }
}

/// Returns whether a tag pair, `[Name "` or `[Name value]`, begins at `at`.
fn is_tag(text: &[u8], at: usize) -> bool {
    let line = &text[..lex::line_end(text, at)];
    lex::quoted_tag(line, at).or_else(|| lex::bare_tag(line, at, false)).is_some()
}

/// Classifies a text with a tag pair at `at`. The section headers of settings files look like tag pairs: `[branch "main"]` or
/// `[Desktop Entry]` is followed by lines such as `name = value`. So the line after the tag pair must be examined. Returns
/// `unclear` if the head has no such line.
fn with_tag(head: &[u8], at: usize, unclear: FirstBytes) -> FirstBytes {
    let line = &head[..lex::line_end(head, at)];
    if lex::quoted_tag(line, at).is_some_and(|name| line[name.start].is_ascii_uppercase()) {
        return FirstBytes::Games;
    }
    let next = head[line.len()..].trim_ascii_start();
    match next.is_empty() {
        true => unclear,
        false if is_setting(&next[..lex::line_end(next, 0)]) => FirstBytes::Other,
        false => FirstBytes::Games,
    }
}

/// Returns whether a line has the form `name = value`.
fn is_setting(line: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let name = &line[..line.iter().take_while(|byte| is_name(byte)).count()];
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && line[name.len()..].trim_ascii_start().starts_with(b"=")
        && SanShape::parse(name).is_none()
}

/// Classifies a text that has a NUL after signs that have no meaning in PGN. It is binary data, unless only blanks follow or one of
/// its lines begins with a tag pair.
fn with_nul(head: &[u8], at: usize) -> FirstBytes {
    let is_end = head[at..].iter().all(|&byte| is_blank(byte) || is_eol(byte));
    if is_end { FirstBytes::Comments } else { preface(head) }
}

/// Returns whether a text begins with JSON. JSON is recognised as an object with at least one name, a list of several values, or a
/// list of one value that no tag pair follows.
fn is_json(text: &[u8]) -> bool {
    let string_end = |from: usize| {
        let mut at = from;
        loop {
            match text.get(at)? {
                b'"' => return Some(at + 1),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    };
    let past_blanks =
        |from: usize| from + text[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let at = past_blanks(1);
    if text[0] == b'{' {
        let name = (text.get(at) == Some(&b'"')).then(|| string_end(at + 1)).flatten();
        return name.is_some_and(|end| text.get(past_blanks(end)) == Some(&b':'));
    }
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Vec<serde::de::IgnoredAny>>();
    match values.next() {
        Some(Ok(list)) => !list.is_empty() && text.get(past_blanks(values.byte_offset())) != Some(&b'['),
        Some(Err(error)) => error.is_eof() && text.contains(&b','),
        None => false,
    }
}

/// Returns the token after a move number, or `None` if a bracket, parenthesis, brace, `;`, `$`, `*` or the end of the line follows
/// the number.
fn next_word(text: &[u8], from: usize) -> Option<&[u8]> {
    let skipped = text[from..].iter().take_while(|&&byte| is_blank(byte) || byte == b'.').count();
    let at = from + skipped;
    let is_word = text.get(at).is_some_and(|&byte| !is_eol(byte) && !b"{}()[];$*".contains(&byte));
    is_word.then(|| &text[at..lex::word_end(text, at)])
}

/// Returns whether a token may follow a move number at the beginning of a text.
fn is_like_a_move(word: &[u8]) -> bool {
    names_square(word)
        || matches!(
            MovetextWord::from_bytes(word),
            MovetextWord::Result(_) | MovetextWord::Number { .. } | MovetextWord::Mark
        )
}

/// Returns whether a token may be a move in some language: it names a square, or it is castling.
fn names_square(word: &[u8]) -> bool {
    let is_square = |pair: &[u8]| matches!(pair, [b'a'..=b'h', b'1'..=b'8']);
    SanShape::parse(word).is_some() || word.len() <= 8 && word.windows(2).any(is_square)
}

/// Classifies a text that begins with prose. The text counts as games if a line begins with a tag pair, or if a line has a numbered
/// move and more movetext. Prose with example games and binary data do not count.
fn preface(head: &[u8]) -> FirstBytes {
    let (mut at, mut has_nul) = (0, false);
    while at < head.len() {
        at = match head[at] {
            0 => {
                has_nul = true;
                at + 1
            }
            byte if is_blank(byte) || is_eol(byte) => at + 1,
            byte if byte.is_ascii_control() => return FirstBytes::Binary,
            b'`' if head[at..].starts_with(b"```") => return FirstBytes::Other,
            b'[' if at_line_start(head, at) && is_tag(head, at) => {
                return with_tag(head, at, FirstBytes::Prose);
            }
            _ => {
                let stop = lex::word_end(head, at).max(at + 1);
                let word = &head[at..stop];
                if word.iter().any(|&byte| byte.is_ascii_control() && !is_blank(byte)) {
                    return FirstBytes::Binary;
                }
                match MovetextWord::from_bytes(word) {
                    MovetextWord::Number { length, dotted: true, .. }
                        if !has_nul && has_moves(head, at + length) =>
                    {
                        return FirstBytes::Games;
                    }
                    _ => stop,
                }
            }
        };
    }
    if has_nul { FirstBytes::Binary } else { FirstBytes::Prose }
}

/// Returns whether a move number is followed on its line by a move and more movetext. `from` is the index after the number.
fn has_moves(head: &[u8], from: usize) -> bool {
    let blanks = |from: usize| from + head[from..].iter().take_while(|&&byte| is_blank(byte)).count();
    let at = blanks(from);
    if head.get(at).is_none_or(|&byte| is_eol(byte) || b"{}()[];$*".contains(&byte)) {
        return false;
    }
    let stop = lex::word_end(head, at);
    if !names_square(&head[at..stop]) {
        return false;
    }
    let next = blanks(stop);
    match head.get(next) {
        None => false,
        Some(byte) if is_eol(*byte) => false,
        Some(b'{' | b'$') => true,
        Some(_) => {
            let word = &head[next..lex::word_end(head, next).max(next + 1)];
            names_square(word)
                || matches!(
                    MovetextWord::from_bytes(word),
                    MovetextWord::Result(_) | MovetextWord::Number { dotted: true, .. }
                )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the first lines of a text are classified as the whole text is, unless they are comments, prose or binary data.
    /// Otherwise the result would depend on the number of bytes read so far.
    #[test]
    fn what_lines_say_stays() {
        let texts = [
            "{ one\n two }\n; three\n\n[Event \"x\"]\n1. e4\n",
            "[Event x]\n\n1. e4\n",
            "# a\nGames of the club\nfollow\n[White \"x\"]\n",
            "# a\nThe\n```\n[White \"x\"]\n",
            "1.\n{ one }\ne4 e5\nThe end\n",
            "(\n)\n2. Definitions\n[A \"b\"]\n",
            "[\n\n[Event \"x\"]\n",
            "[Desktop Entry]\nType=Application\n",
            "[white x]\n\n[black y]\n1. e4\n",
            "{\n\"id\"\n:\n1}\n",
            "[\n1,\n2]\n",
        ];
        for text in texts {
            let whole = opening(text.as_bytes());
            for (end, _) in text.match_indices('\n') {
                match opening(&text.as_bytes()[..=end]) {
                    FirstBytes::Comments | FirstBytes::Prose | FirstBytes::Binary => {}
                    found => assert_eq!(found, whole, "{text:?} {end}"),
                }
            }
        }
    }

    #[test]
    fn games_are_told_from_other_texts() {
        let late = format!("{}\n[Event \"x\"]", "word ".repeat(4000));
        for text in [
            "",
            " \r\n\u{feff}\n",
            "{ a comment alone }\n; and another\n% one more\n",
            "{ a comment without end",
            "[Event \"x\"]",
            "[ White \"x\"]",
            "[Event x]\n",
            "1. e4 e5",
            "1.e4 e6",
            "e4 e5 *",
            "1 e4 e5",
            "12... Kg8",
            "1. Sf3 d5",
            "1. 0-0",
            "1.\ne4",
            "*",
            "1-0",
            "$1 { b3 } b3",
            "{ before } 1. d4",
            "# positions\n1. d4",
            "From: somebody\n\nGames of the club.\n\n[Event \"x\"]\n",
            "some garbage at the beginning\n  [Event \"x\"]\n",
            "clk 0:00:30] } 12... Nf6 { [%eval 0.2] } 13. O-O\n",
            "the bishop is good } 12. Nf3 Nf6 13. O-O\n",
            "Kasparov - Topalov, Wijk aan Zee 1999\n1. e4 d6 2. d4 Nf6\n",
            "1.\nSf3 d5",
            "\0\0\0[Event \"x\"]\n",
            "1.\0\n[Site \"x\"]\n",
            "e41-0\0\n\n[Event \"x\"]\n",
            ",\0\n\n[Event \"x\"]\n",
            "{ a comment }\n\0\0\0",
            "{\"Sic!\" he said: } 1. e4",
            "{} { } 1. e4",
            "[]\n[Event \"x\"]\n",
            "[1. e4 e5] 1. d4",
            "[white x]\n[black y]\n\n1. e4",
            "[white \"x\"]\n[black \"y\"]\n\n1. e4",
            "[white \"x\"]\n\n1. e4 e5",
            &late,
        ] {
            let found = opening(text.as_bytes());
            assert!(matches!(found, FirstBytes::Games | FirstBytes::Comments), "{text:?}: {found:?}");
        }
        for text in [
            "# orbit\n\nSearches games.\n\n```\n[Event \"x\"]\n```\n",
            "\x7fELF\x02\x01\x01\0\0\0 1. e4",
            "\x7fELF\x02\x01\x01\n[Event \"x\"]",
            "The\n\n2. Definitions. e4",
            "2. Definitions.",
            "[package]\nname = \"orbit\"\n",
            "game,source,ply\n1,a.pgn,3\n",
            "{\"a\": {\"b\": 1}, \"c\": 2}",
            "#!/bin/bash\nset -e\n",
            "//! Moves such as 1. e4.\n",
            "<html><body>[Event \"x\"]",
            "See 3. d4 for more.\n",
            "{\"moves\": \"e4 e5\"}\n{\"moves\": \"d4\"}\n",
            "\u{feff}\n{\n  \"a \\\" b\" :\n [1]\n}\n",
            "[{\"moves\": \"1. e4 e5\"}]",
            "[\n  {\n    \"moves\": \"1. e4 e5\"\n  }\n]\n",
            "[\"1. e4 e5 2. Nf3\", \"1. d4 d5\"]",
            "[\n\"1. e4 e5 2. Nf3 Nc6\",\n",
            "[1, 2, 3]",
            "[[\"e4\", \"e5\"]]",
            "[null]",
            "{\"a\":{}}",
            "\0\0\x2c\0\x2e\x01\0b2\0",
            "\x2c\0\x2e\0 1. e4",
            "SQLite format 3\0 [Event \"x\"]",
            "a\0[Event \"x\"]\n",
            "[core]\n\tbare = false\n[branch \"main\"]\n\tremote = origin\n",
            "[branch \"main\"]\n\tremote = origin\n",
            "[Desktop Entry]\nName=Chess\n",
            "[workspace]\nmembers = [\"a\"]\n\n[package]\nversion = \"1.0\"\n",
        ] {
            let found = opening(text.as_bytes());
            assert!(found.refusal().is_some(), "{text:?}: {found:?}");
        }
    }
}
