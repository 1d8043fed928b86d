//! Comments put into the text of a game, and nothing else of it changed.

use super::ParseOptions;
use super::extent::line_end;
use super::lex::{is_blank, is_eol};
use super::parse::Parser;
use super::tokenizer::Event;

/// Puts comments into the text of one game, each as ` {comment}` after the move that leads to its ply and
/// the glyphs (`!?`, `$1`) that follow that move; those on ply 0 stand before the first move and its
/// number. All other bytes stay as they are, and the game is read as it was. A ply that the text has not is
/// passed over. The comments become what [`comment_text`] makes of them.
///
/// # Panics
///
/// When the plies do not ascend.
///
/// ```
/// use orbit_chess::internals::pgn::annotate;
///
/// let text = annotate(b"1.e4!$1 e5 {x} 1-0", &[(0, "start"), (1, "{Pe4}"), (2, "b")]);
/// assert_eq!(text, b"{start} 1.e4!$1 {(Pe4)} e5 {b} {x} 1-0");
/// ```
pub fn annotate(text: &[u8], comments: &[(u32, impl AsRef<str>)]) -> Vec<u8> {
    assert!(comments.is_sorted_by_key(|comment| comment.0), "plies ascend");
    let places = places(text);
    let mut out = Vec::with_capacity(text.len() + 64 * comments.len());
    let mut at = 0;
    for (ply, comment) in comments {
        let Some(place) = places.get(*ply as usize) else { continue };
        out.extend_from_slice(&text[at..place.at]);
        at = place.at;
        if place.after_tags {
            out.extend_from_slice(line_end(text));
            out.extend_from_slice(line_end(text));
        } else if out.last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            out.push(b' ');
        }
        out.push(b'{');
        out.extend_from_slice(comment_text(comment.as_ref()).as_bytes());
        out.push(b'}');
        if text.get(at).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            out.push(b' ');
        }
    }
    out.extend_from_slice(&text[at..]);
    out
}

/// A text as it may stand in a comment of PGN: braces become parentheses, since a brace would end the
/// comment, and control characters become blanks.
pub fn comment_text(text: &str) -> String {
    let plain = |letter: char| match letter {
        '{' => '(',
        '}' => ')',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    text.chars().map(plain).collect()
}

/// Where a comment goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    at: usize,
    /// Nothing but tags stands before, and nothing after.
    after_tags: bool,
}

/// Where a comment on each ply goes, in ascending order.
fn places(text: &[u8]) -> Vec<Place> {
    let options = ParseOptions { tags: false, ..ParseOptions::default() };
    let mut start = None;
    let mut ends = Vec::new();
    Parser::new(&options).first_game(text, &mut |event, movetext, moves| {
        // What is left open goes on to the end: a comment before it is none of its words.
        let open = if let Event::Fault(at, _) = event { Some(*at) } else { None };
        start = start.or(movetext).or(open);
        if let Event::Word(word) = event
            && moves > ends.len()
        {
            ends.push(Place { at: past_glyphs(text, word.end), after_tags: false });
        }
    });
    let start = Place { at: start.unwrap_or(text.len()), after_tags: start.is_none() };
    std::iter::once(start).chain(ends).collect()
}

/// Where the numeric glyphs that stand after a move end.
fn past_glyphs(text: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let blanks = rest.iter().take_while(|&&byte| is_blank(byte) || is_eol(byte)).count();
        let digits = rest.iter().skip(blanks + 1).take_while(|byte| byte.is_ascii_digit()).count();
        if rest.get(blanks) != Some(&b'$') || digits == 0 {
            return at;
        }
        at += blanks + 1 + digits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, plies: &[u32], expected: &str) {
        let comments: Vec<(u32, String)> = plies.iter().map(|&ply| (ply, ply.to_string())).collect();
        let found = annotate(text.as_bytes(), &comments);
        assert_eq!(String::from_utf8(found).unwrap(), expected);
    }

    #[test]
    fn comments_stand_after_moves_and_their_glyphs() {
        check("1. e4 e5 *", &[1, 2], "1. e4 {1} e5 {2} *");
        check("1.e4!?e5 *", &[1], "1.e4!?e5 *");
        check("1. e4!? $1$13\r\n$2 e5*", &[1, 2], "1. e4!? $1$13\r\n$2 {1} e5 {2} *");
        check("1. e4{a}(1. d4)e5", &[1, 2], "1. e4 {1} {a}(1. d4)e5 {2}");
        check(
            "1. e4 ;best\n$ e5 ; so\n%1. d4\nNf3",
            &[1, 2, 3],
            "1. e4 {1} ;best\n$ e5 {2} ; so\n%1. d4\nNf3 {3}",
        );
        check("1. e4 d5 2. exd5 Qxd51-0", &[4, 4], "1. e4 d5 2. exd5 Qxd5 {4} {4} 1-0");
        check("1. e4 -- 2. Nf3\n\n\n1-0", &[2, 3], "1. e4 -- {2} 2. Nf3 {3}\n\n\n1-0");
        check("1. e4 e5 2. Ke3 Nc6 {open", &[1, 2, 3], "1. e4 {1} e5 {2} 2. Ke3 Nc6 {open");
    }

    #[test]
    fn comments_on_the_start_stand_before_the_movetext() {
        check("[Event \"a\"]\n\n{a} (1. c4) 1.\ne4 *", &[0], "[Event \"a\"]\n\n{a} (1. c4) {0} 1.\ne4 *");
        check("[Event \"a\"]\n[1. c4] e4 *", &[0, 1], "[Event \"a\"]\n[ {0} 1. c4 {1} ] e4 *");
        check("[Event \"a\"]1.e4 *", &[0], "[Event \"a\"] {0} 1.e4 *");
        check("[Event \"a\"]\r\n\r\n*", &[0], "[Event \"a\"]\r\n\r\n{0} *");
        check(
            "[Event \"a\"]\r\n[Site \"b\"]",
            &[0, 0],
            "[Event \"a\"]\r\n[Site \"b\"]\r\n\r\n{0}\r\n\r\n{0}",
        );
        check("[Event \"a\"]\n\n{open\n\n1. e4", &[0], "[Event \"a\"]\n\n{0} {open\n\n1. e4");
        check("[Event \"a\"]\n\n(1. e4\n", &[0], "[Event \"a\"]\n\n{0} (1. e4\n");
        check("[Event \"a\"]\n\n1. Ke3 e5", &[0, 1], "[Event \"a\"]\n\n{0} 1. Ke3 e5");
    }

    #[test]
    fn a_comment_cannot_end_itself() {
        assert_eq!(comment_text("flip {Nd4\r\nkf3}\0 ×2"), "flip (Nd4  kf3)  ×2");
        check("1. e4 *\n\n[Event \"b\"]\n\n1. d4 *", &[1], "1. e4 {1} *\n\n[Event \"b\"]\n\n1. d4 *");
    }
}
