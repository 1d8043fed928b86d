//! Whether a text begins as games do.
//!
//! Movetext is read leniently, so that `2. Definitions` in prose would be a game without a move. What is no PGN at all
//! is told apart here, by the head of the text alone: a tag pair, a move or a result comes first, after nothing but
//! comments, or a tag pair or numbered moves come after prose. A piece cut out of a file begins inside a comment, and such
//! a comment reads as prose.

use super::lex::{self, BOM, Word, at_line_start, is_blank, is_eol};
use super::san::Shape;

/// Why such a text is not read.
pub(super) const NO_GAMES: &str =
    "it is no PGN, FEN or EPD: it begins with no tag pair, move or position; check the path";

/// What the beginning of a text says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Opening {
    /// Games may follow, whatever the rest says.
    Games,
    /// Nothing yet; if this is all, games may be in it.
    Comments,
    /// Prose, in which a tag pair may still come; if this is all, it is no PGN.
    Prose,
    /// It is no PGN.
    Other,
}

/// Tells what whole lines at the beginning of a text say.
pub(super) fn opening(head: &[u8]) -> Opening {
    use Opening::{Comments, Games};
    let (mut at, mut is_numbered) = (0, false);
    loop {
        let rest = &head[at..];
        at = match rest {
            [] => return Comments,
            [byte, ..] if is_blank(*byte) || is_eol(*byte) => at + 1,
            _ if rest.starts_with(BOM) => at + BOM.len(),
            [b'{', ..] => match lex::comment_end(head, at + 1, head.len()) {
                Some(end) => end + usize::from(head[end] == b'}'),
                None => return Comments,
            },
            [b';', ..] => lex::line_end(head, at),
            [b'%' | b'#', ..] if at_line_start(head, at) => lex::line_end(head, at),
            [b'[', ..] if is_tag(head, at) => return Games,
            // Annotations and results alone say nothing.
            [b'[', ..] => lex::line_end(head, at),
            [b'(' | b')' | b']' | b'}' | b'*', ..] => at + 1,
            [b'$', ..] => lex::word_end(head, at + 1),
            _ => {
                let stop = lex::word_end(head, at);
                match Word::of(&head[at..stop]) {
                    Word::Result(_) | Word::Null => return Games,
                    Word::Mark => stop,
                    Word::Number { length, .. } => match next_word(head, at + length) {
                        Some(word) if is_like_a_move(word) => return Games,
                        Some(_) => return preface(head),
                        None => {
                            is_numbered = true;
                            at + length
                        }
                    },
                    Word::Other if Shape::parse(&head[at..stop]).is_some() => return Games,
                    Word::Other if is_numbered && names_square(&head[at..stop]) => return Games,
                    Word::Other => return preface(head),
                }
            }
        };
    }
}

/// Whether `[Name "` or `[Name value]` stands here.
fn is_tag(text: &[u8], at: usize) -> bool {
    let line = &text[..lex::line_end(text, at)];
    lex::quoted_tag(line, at).or_else(|| lex::bare_tag(line, at, false)).is_some()
}

/// What follows a move number, unless that is a bracket or the end of the line.
fn next_word(text: &[u8], from: usize) -> Option<&[u8]> {
    let skipped = text[from..].iter().take_while(|&&byte| is_blank(byte) || byte == b'.').count();
    let at = from + skipped;
    let is_word = text.get(at).is_some_and(|&byte| !is_eol(byte) && !b"{}()[];$*".contains(&byte));
    is_word.then(|| &text[at..lex::word_end(text, at)])
}

/// What may follow a move number at the beginning of a text.
fn is_like_a_move(word: &[u8]) -> bool {
    names_square(word) || matches!(Word::of(word), Word::Result(_) | Word::Number { .. } | Word::Mark)
}

/// A move in any language names a square or castles.
fn names_square(word: &[u8]) -> bool {
    let is_square = |pair: &[u8]| matches!(pair, [b'a'..=b'h', b'1'..=b'8']);
    Shape::parse(word).is_some() || word.len() <= 8 && word.windows(2).any(is_square)
}

/// What prose says: whether a tag pair begins a line after it, or a move with its number and more movetext follow. What
/// shows games as examples is no such prose, nor is what no text holds.
fn preface(head: &[u8]) -> Opening {
    let mut at = 0;
    while at < head.len() {
        at = match head[at] {
            byte if is_blank(byte) || is_eol(byte) => at + 1,
            byte if byte.is_ascii_control() => return Opening::Other,
            b'`' if head[at..].starts_with(b"```") => return Opening::Other,
            b'[' if at_line_start(head, at) && is_tag(head, at) => return Opening::Games,
            _ => {
                let stop = lex::word_end(head, at).max(at + 1);
                let word = &head[at..stop];
                if word.iter().any(|&byte| byte.is_ascii_control() && !is_blank(byte)) {
                    return Opening::Other;
                }
                match Word::of(word) {
                    Word::Number { length, dotted: true, .. } if has_moves(head, at + length) => {
                        return Opening::Games;
                    }
                    _ => stop,
                }
            }
        };
    }
    Opening::Prose
}

/// Whether a move stands behind a number, and more movetext behind the move, on the same line.
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
                || matches!(Word::of(word), Word::Result(_) | Word::Number { dotted: true, .. })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was said of some lines holds whatever follows, so that the sizes in which a text is read do not matter.
    #[test]
    fn what_lines_say_stays() {
        let texts = [
            "{ one\n two }\n; three\n\n[Event \"x\"]\n1. e4\n",
            "[Event x]\n\n1. e4\n",
            "# a\nGames of the club\nfollow\n[White \"x\"]\n",
            "# a\nThe\n```\n[White \"x\"]\n",
            "1.\n{ one }\ne4 e5\nThe end\n",
            "(\n)\n2. Definitions\n[A \"b\"]\n",
        ];
        for text in texts {
            let whole = opening(text.as_bytes());
            for (end, _) in text.match_indices('\n') {
                match opening(&text.as_bytes()[..=end]) {
                    found @ (Opening::Games | Opening::Other) => assert_eq!(found, whole, "{text:?} {end}"),
                    Opening::Comments | Opening::Prose => {}
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
            &late,
        ] {
            let found = opening(text.as_bytes());
            assert!(matches!(found, Opening::Games | Opening::Comments), "{text:?}: {found:?}");
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
        ] {
            let found = opening(text.as_bytes());
            assert!(matches!(found, Opening::Prose | Opening::Other), "{text:?}: {found:?}");
        }
    }
}
