//! Inserts comments into the text of a game. All other text is unchanged.

use super::edit::{CommentSlots, Edit, edited};

/// Returns the text of one game with comments on its nodes. A node is a position of the game, numbered as
/// [`SideLine`](super::SideLine) describes; in the main line, the number of a node is its ply. The comment on a node is written as
/// ` {comment}` after the move that leads to the node, and after the glyphs (`!?`, `$1`) that follow the move. A comment on node 0
/// is written before the first move and its number. All other bytes are unchanged, and the text still contains the same game. Nodes
/// that the text does not have are ignored. Each comment is converted with [`comment_text`] before it is written.
///
/// # Panics
///
/// Panics if the comments are not ordered by node.
///
/// ```
/// use orbit_pgn::annotate;
///
/// let text = annotate(b"1.e4!$1 e5 {x} (1... c5) 1-0", &[(0, "start"), (1, "{Pe4}"), (2, "b"), (3, "c")]);
/// assert_eq!(text, b"{start} 1.e4!$1 {(Pe4)} e5 {b} {x} (1... c5 {c}) 1-0");
/// ```
pub fn annotate(text: &[u8], comments: &[(u32, impl AsRef<str>)]) -> Vec<u8> {
    assert!(comments.is_sorted_by_key(|comment| comment.0), "nodes ascend");
    let slots = CommentSlots::from_text(text);
    let mut edits: Vec<Edit> = Vec::with_capacity(comments.len());
    for (node, comment) in comments {
        let comment = comment_text(comment.as_ref()).into_bytes();
        edits.extend(slots.of_node(*node).map(|slot| Edit::Comment(slot, comment)));
    }
    edited(text, edits)
}

/// Converts a text to a valid PGN comment: braces become parentheses, since a closing brace would end the comment, and control
/// characters become blanks.
pub fn comment_text(text: &str) -> String {
    let plain = |letter: char| match letter {
        '{' => '(',
        '}' => ')',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    text.chars().map(plain).collect()
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
        // The first side line here is illegal, so the reader leaves it out, and its positions get no node numbers.
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
