//! Comments put into the text of a game, and nothing else of it changed.

use super::ParseOptions;
use super::extent::line_end;
use super::lex::{is_blank, is_eol};
use super::parse::Parser;

/// Puts comments into the text of one game, each as ` {comment}` after the move that leads to its node and
/// the glyphs (`!?`, `$1`) that follow that move; those on node 0 stand before the first move and its
/// number. Nodes are numbered as [`SideLine`](super::SideLine) says: those of the main line are its plies. All other bytes
/// stay as they are, and the game is read as it was. A node that the text has not is passed over. The comments become
/// what [`comment_text`] makes of them.
///
/// # Panics
///
/// When the nodes do not ascend.
///
/// ```
/// use orbit_chess::internals::pgn::annotate;
///
/// let text = annotate(b"1.e4!$1 e5 {x} (1... c5) 1-0", &[(0, "start"), (1, "{Pe4}"), (2, "b"), (3, "c")]);
/// assert_eq!(text, b"{start} 1.e4!$1 {(Pe4)} e5 {b} {x} (1... c5 {c}) 1-0");
/// ```
pub fn annotate(text: &[u8], comments: &[(u32, impl AsRef<str>)]) -> Vec<u8> {
    assert!(comments.is_sorted_by_key(|comment| comment.0), "nodes ascend");
    let places = places(text);
    let place = |node: u32| places.get(node as usize).copied().flatten();
    let placed = comments.iter().filter_map(|(node, comment)| Some((place(*node)?, comment)));
    let mut comments: Vec<(Place, _)> = placed.collect();
    // Side lines have higher nodes than what follows them in the text.
    comments.sort_by_key(|(place, _)| place.at);
    let mut out = Vec::with_capacity(text.len() + 64 * comments.len());
    let mut at = 0;
    for (place, comment) in comments {
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
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || place.in_side_line && *byte == b')';
        if text.get(at).is_some_and(|byte| !is_end(byte)) {
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
    in_side_line: bool,
}

/// Where a comment on each node goes.
fn places(text: &[u8]) -> Vec<Option<Place>> {
    let options = ParseOptions { tags: false, variations: true, ..ParseOptions::default() };
    let found = Parser::new(&options).first_game(text);
    let start = found.movetext;
    let start = Place { at: start.unwrap_or(text.len()), after_tags: start.is_none(), in_side_line: false };
    let mut places = vec![Some(start)];
    for (node, end, in_side_line) in found.words {
        let node = node as usize;
        places.resize(places.len().max(node + 1), None);
        places[node] = Some(Place { at: past_glyphs(text, end), after_tags: false, in_side_line });
    }
    places
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
    fn comments_stand_in_side_lines() {
        check(
            "1. e4 (1. d4 d5 (1... Nf6$1 2. c4)) (1. c4) e5 (1... c5!?) 2. Nf3 *",
            &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
            "{0} 1. e4 {1} (1. d4 {5} d5 {6} (1... Nf6$1 {7} 2. c4 {8})) (1. c4 {9}) e5 {2} (1... c5!? {4}) 2. Nf3 {3} *",
        );
        // What is left out has no nodes.
        check(
            "1. e4 (1. e5 e6) e5 (1... c5 2. Ke3) (1... d5)",
            &[1, 3, 4],
            "1. e4 {1} (1. e5 e6) e5 (1... c5 {3} 2. Ke3) (1... d5 {4})",
        );
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
