//! Adds the comments and tags that a query produces to the text of a game.

use serde::{Deserialize, Serialize};

use super::edit::{CommentSlots, Edit, edited, places};
use super::extent::line_end;
use super::lex::{ByteRange, is_name};
use super::parse::TextPlaces;

/// The changes to make to the text of a game. Comments and tag values are bytes in the encoding of the game. A node is a position
/// of the game; nodes are numbered as [`SideLine`](super::SideLine) describes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Amendment {
    /// New comments, each with its node (the number of a position). The list is ordered by node and has at most one comment for
    /// each node. A new comment is written after the last comment that the node already has.
    pub comments: Vec<(u32, Vec<u8>)>,
    /// The nodes whose existing comments are removed.
    pub removed: Vec<u32>,
    /// Tags to add. A tag replaces an existing tag with the same name. If several tags in the list have the same name, the last one
    /// counts.
    pub tags: Vec<(String, Vec<u8>)>,
}

/// Returns the text of one game with the changes of `amendment`. Glyphs written as signs (`!?`) become numbers (`$5`). A Black move
/// that no longer directly follows White's move gets its move number. All other bytes are unchanged. Nodes that the text does not
/// have are ignored, and so are tags whose names PGN does not allow. Braces and control characters in comments are replaced, since
/// PGN does not allow them there.
///
/// # Panics
///
/// Panics if the comments are not ordered by node, or if a node has two of them.
///
/// ```
/// use orbit_pgn::{Amendment, amend};
///
/// let comments = vec![(1, b"CQL".to_vec()), (2, b"CQL".to_vec())];
/// let amendment = Amendment { comments, ..Amendment::default() };
/// let text = amend(b"1. e4! {best} e5 2. Nf3 *", &amendment);
/// assert_eq!(text, b"1. e4 $1 {best CQL} 1... e5 {CQL} 2. Nf3 *");
/// ```
pub fn amend(text: &[u8], amendment: &Amendment) -> Vec<u8> {
    let places = places(text);
    let mut edits = tags(text, &places, &amendment.tags);
    edits.extend(glyphs(text, &places));
    edits.extend(comments(text, &places, amendment));
    let numbers = numbers(text, &places, &edits);
    edits.extend(numbers);
    edited(text, edits)
}

/// Returns the edits that insert move numbers. PGN requires a number before each Black move that does not directly follow White's
/// move.
fn numbers(text: &[u8], places: &TextPlaces, edits: &[Edit]) -> Vec<Edit> {
    let mut put: Vec<usize> = Vec::new();
    let mut removed: Vec<ByteRange> = Vec::new();
    for edit in edits {
        match edit {
            Edit::Comment(..) => put.push(edit.range().start),
            Edit::Remove(range) => removed.push(range.clone()),
            Edit::Replace(..) => {}
        }
    }
    put.sort_unstable();
    removed.sort_unstable_by_key(|range| range.start);
    let mut before = places.movetext.unwrap_or(0);
    let mut numbers = Vec::new();
    for word in &places.words {
        let between = before.min(word.start)..word.start;
        let is_put =
            put.get(put.partition_point(|at| *at < between.start)).is_some_and(|at| *at < between.end);
        if word.halves % 2 == 1
            && !ends_with_number(&text[between.clone()])
            && (is_put || holds(text, &between, &removed))
        {
            let number = format!("{}... ", word.halves / 2 + 1);
            numbers.push(Edit::Replace(word.start..word.start, number.into_bytes()));
        }
        before = word.end;
    }
    numbers
}

/// Returns whether a range contains anything but blanks and removed text.
fn holds(text: &[u8], range: &ByteRange, removed: &[ByteRange]) -> bool {
    let mut at = range.start;
    let inside = removed[removed.partition_point(|removed| removed.start < range.start)..].iter();
    for removed in inside.take_while(|removed| removed.start < range.end) {
        if !text[at..removed.start].trim_ascii().is_empty() {
            return true;
        }
        at = removed.end;
    }
    !text[at.min(range.end)..range.end].trim_ascii().is_empty()
}

/// Returns whether the last token of a text is a move number: `12`, `12.`, `...`.
fn ends_with_number(text: &[u8]) -> bool {
    let last = text.trim_ascii().rsplit(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    last.ends_with(b".") || !last.is_empty() && last.iter().all(u8::is_ascii_digit)
}

/// Converts a text to a valid PGN comment: braces become parentheses, since a closing brace would end the comment, and control
/// characters become blanks.
fn comment_bytes(text: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| match *byte {
        b'{' => b'(',
        b'}' => b')',
        byte if byte.is_ascii_control() => b' ',
        byte => byte,
    };
    text.iter().map(plain).collect()
}

fn comments(text: &[u8], places: &TextPlaces, amendment: &Amendment) -> Vec<Edit> {
    let new = &amendment.comments;
    assert!(new.windows(2).all(|pair| pair[0].0 < pair[1].0), "nodes ascend");
    let slots = CommentSlots::new(text, places);
    let mut edits = Vec::with_capacity(new.len());
    let is_removed = |node: u32| amendment.removed.contains(&node);
    let removed = places.comments.iter().filter(|(node, _)| is_removed(*node));
    edits.extend(removed.map(|(_, inside)| Edit::Remove(whole(text, inside))));
    let mut kept: Vec<(u32, &ByteRange)> =
        places.comments.iter().filter(|(node, _)| !is_removed(*node)).map(|(node, at)| (*node, at)).collect();
    kept.sort_by_key(|(node, at)| (*node, at.start));
    for (node, comment) in new {
        let comment = comment_bytes(comment);
        let last = kept[..kept.partition_point(|(other, _)| other <= node)].last();
        match last.filter(|(other, _)| other == node) {
            Some((_, inside)) => edits.push(longer(text, inside, &comment)),
            None => edits.extend(slots.of_node(*node).map(|slot| Edit::Comment(slot, comment))),
        }
    }
    edits
}

/// Extends the range of a comment's text to include the braces, or the semicolon.
fn whole(text: &[u8], inside: &ByteRange) -> ByteRange {
    inside.start - 1..inside.end + usize::from(is_in_braces(text, inside))
}

fn is_in_braces(text: &[u8], inside: &ByteRange) -> bool {
    text[inside.start - 1] == b'{'
}

/// Returns the edit that appends `more` to the comment `inside`.
fn longer(text: &[u8], inside: &ByteRange, more: &[u8]) -> Edit {
    let old = &text[inside.clone()];
    let blank: &[u8] = if old.last().is_none_or(u8::is_ascii_whitespace) { b"" } else { b" " };
    if is_in_braces(text, inside) {
        return Edit::Replace(inside.end..inside.end, [blank, more].concat());
    }
    // A semicolon comment ends with its line, so nothing can be appended to it. It becomes a comment in braces or, if it contains
    // `}`, a second comment in braces follows it on the next line.
    Edit::Replace(
        whole(text, inside),
        match old.contains(&b'}') {
            true => [b";", old, line_end(text), b"{", more, b"}"].concat(),
            false => [b"{", old, blank, more, b"}"].concat(),
        },
    )
}

/// Returns the edits that replace glyphs written as signs (`!?`) with their numbers (`$5`).
fn glyphs<'a>(text: &'a [u8], places: &'a TextPlaces) -> impl Iterator<Item = Edit> + 'a {
    let signs = places.glyphs.iter().filter(|(_, at)| text[at.start] != b'$');
    signs.map(|(glyph, at)| {
        let is_apart = at.start.checked_sub(1).is_none_or(|before| text[before].is_ascii_whitespace());
        let is_last = text.get(at.end).is_none_or(|byte| !byte.is_ascii_digit());
        let [before, after] = [is_apart, is_last].map(|is_so| if is_so { "" } else { " " });
        Edit::Replace(at.clone(), format!("{before}${glyph}{after}").into_bytes())
    })
}

fn tags(text: &[u8], places: &TextPlaces, new: &[(String, Vec<u8>)]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut added = Vec::new();
    for (at, (name, value)) in new.iter().enumerate().filter(|(_, (name, _))| is_tag_name(name.as_bytes())) {
        if new[at + 1..].iter().any(|(later, _)| later == name) {
            continue;
        }
        let is_it =
            |(old, _): &&(ByteRange, ByteRange)| text[old.clone()].eq_ignore_ascii_case(name.as_bytes());
        match places.tags.iter().find(is_it) {
            Some((_, old)) => edits.push(Edit::Replace(old.clone(), escaped(value))),
            None => added.push([b"[", name.as_bytes(), b" \"", &escaped(value), b"\"]"].concat()),
        }
    }
    if added.is_empty() {
        return edits;
    }
    let end = line_end(text);
    let last = places.tags.last().map(|(_, value)| value.end);
    let behind = last.and_then(|from| Some(from + text[from..].iter().position(|byte| *byte == b']')? + 1));
    edits.push(match behind {
        Some(at) => {
            Edit::Replace(at..at, added.iter().flat_map(|tag| [end, tag]).flatten().copied().collect())
        }
        None => {
            let lines = added.iter().flat_map(|tag| [&tag[..], end]).flatten().copied();
            Edit::Replace(0..0, lines.chain(end.iter().copied()).collect())
        }
    });
    edits
}

/// Returns whether PGN allows `name` as a tag name.
pub fn is_tag_name(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().copied().all(is_name)
}

/// Escapes a tag value, so it can be written in quotation marks on one line.
fn escaped(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for &byte in value {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(if byte.is_ascii_control() { b' ' } else { byte });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, comments: &[u32], removed: &[u32], expected: &str) {
        let comments: Vec<(u32, Vec<u8>)> =
            comments.iter().map(|&node| (node, node.to_string().into_bytes())).collect();
        let found = amend(text.as_bytes(), &Amendment { comments, removed: removed.to_vec(), tags: vec![] });
        assert_eq!(String::from_utf8(found).unwrap(), expected);
    }

    #[test]
    fn new_text_follows_what_stands_at_a_node() {
        check(
            "[A \"\"]\n\n{Start} 1. e4 {a} (1. d4 {b}) {c} e5 *",
            &[0, 1, 2, 3],
            &[],
            "[A \"\"]\n\n{Start 0} 1. e4 {a} (1. d4 {b 3}) {c 1} 1... e5 {2} *",
        );
        check("1. e4 {} e5 { so } *", &[1, 2], &[], "1. e4 {1} 1... e5 { so 2} *");
        check("1. e4 ; best\ne5 ; a }\n*", &[1, 2], &[], "1. e4 { best 1}\n1... e5 ; a }\n{2}\n*");
        check("1. e4 ({x} 1. d4) e5 *", &[3], &[], "1. e4 ({x} 1. d4 {3}) 1... e5 *");
        check("*", &[0], &[], "{0} *");
    }

    #[test]
    fn comments_are_taken_out() {
        check("1. e4 {a} e5 {b} {c} *", &[2], &[2, 1], "1. e4 e5 {2} *");
        check("1. e4{a}e5;b\n*", &[], &[1, 2], "1. e4 e5\n*");
        check("[A \"\"]\n\n{a} 1. e4 *", &[0], &[0], "[A \"\"]\n\n{0} 1. e4 *");
    }

    #[test]
    fn signs_become_numbers() {
        check(
            "1. e4! e5 ?! {x} 2. Nf3 $13 !? Nc6 *",
            &[2, 3],
            &[],
            "1. e4 $1 e5 $6 {x 2} 2. Nf3 $13 $5 {3} 2... Nc6 *",
        );
        check("1. e4!{x}e5 (1...c5??) 2. Ke3!! *", &[], &[], "1. e4 $1{x}1... e5 (1...c5 $4) 2. Ke3!! *");
    }

    #[test]
    fn moves_of_black_get_numbers() {
        let fen = "[FEN \"7k/P7/8/8/8/8/p6K/8 b - - 0 30\"]\n\n";
        check(
            &format!("{fen}30... a1=N 31. a8=Q+ Kg7 *"),
            &[0, 1, 2],
            &[],
            &format!("{fen}{{0}} 30... a1=N {{1}} 31. a8=Q+ {{2}} 31... Kg7 *"),
        );
        check(
            "1. e4 {a} 1... e5 (1... c5 2. Nf3 Nc6) 2. Nf3 (2. f4 {b} exf4) Nc6 *",
            &[1, 3],
            &[],
            "1. e4 {a 1} 1... e5 (1... c5 2. Nf3 Nc6) 2. Nf3 {3} (2. f4 {b} 2... exf4) 2... Nc6 *",
        );
    }

    #[track_caller]
    fn check_tags(text: &str, tags: &[(&str, &str)], expected: &str) {
        let tags: Vec<(String, Vec<u8>)> =
            tags.iter().map(|(name, value)| ((*name).into(), value.as_bytes().to_vec())).collect();
        let found = amend(text.as_bytes(), &Amendment { tags, ..Amendment::default() });
        assert_eq!(String::from_utf8(found).unwrap(), expected);
    }

    #[test]
    fn tags_are_added_and_replaced() {
        let both = [("Foo", "1"), ("Site", "a \"b\" \\"), ("Foo", "2"), ("no name", "x")];
        check_tags(
            "[Event \"e\"]\r\n[Site \"?\"]\r\n\r\n*",
            &both,
            "[Event \"e\"]\r\n[Site \"a \\\"b\\\" \\\\\"]\r\n[Foo \"2\"]\r\n\r\n*",
        );
        check_tags("1. e4 *", &[("Foo", "2\n")], "[Foo \"2 \"]\n\n1. e4 *");
    }
}
