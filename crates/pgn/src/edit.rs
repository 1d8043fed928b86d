//! Edits the text of a game: inserts, removes and replaces parts. All other text is unchanged.

use super::ParseOptions;
use super::extent::line_end;
use super::lex::ByteRange;
use super::parse::{GameParser, TextPlaces};

/// The place for a new comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CommentSlot {
    at: usize,
    /// True if the game's text contains only tags. A comment is then inserted at the end of the text.
    after_tags: bool,
    in_side_line: bool,
}

/// The places where new comments on the nodes (positions) of a game can be inserted. A comment on a node is written after the move
/// that leads to the node and after the glyphs of this move. A comment on node 0 is written before the first move and its number.
pub(super) struct CommentSlots(Vec<Option<CommentSlot>>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Edit {
    /// Inserts a comment at a place.
    Comment(CommentSlot, Vec<u8>),
    /// Replaces a range by other bytes.
    Replace(ByteRange, Vec<u8>),
    /// Removes a range. If there are blanks on both sides of the range, one of them is also removed. If there is none on either
    /// side, one is inserted.
    Remove(ByteRange),
}

/// Reads the first game of a text, and returns the ranges of its tags, moves, comments and glyphs.
pub(super) fn places(text: &[u8]) -> TextPlaces {
    let options = ParseOptions { tags: false, variations: true, ..ParseOptions::default() };
    GameParser::new(&options).first_game(text)
}

impl CommentSlots {
    /// Returns the places for comments in the first game of a text.
    pub(super) fn from_text(text: &[u8]) -> CommentSlots {
        CommentSlots::new(text, &places(text))
    }

    /// Returns the places for comments in a game. `places` contains the ranges of the game's parts.
    pub(super) fn new(text: &[u8], places: &TextPlaces) -> CommentSlots {
        let at = places.movetext.unwrap_or(text.len());
        let start = CommentSlot { at, after_tags: places.movetext.is_none(), in_side_line: false };
        let mut slots = vec![Some(start)];
        for word in &places.words {
            let node = word.node as usize;
            slots.resize(slots.len().max(node + 1), None);
            slots[node] =
                Some(CommentSlot { at: word.end, after_tags: false, in_side_line: word.in_side_line });
        }
        CommentSlots(slots)
    }

    /// Returns the place for a comment on a node (position), or `None` if the text has no such node.
    pub(super) fn of_node(&self, node: u32) -> Option<CommentSlot> {
        self.0.get(node as usize).copied().flatten()
    }
}

impl Edit {
    /// Returns the range of the text that the edit changes. The range is empty if the edit only inserts.
    pub(super) fn range(&self) -> ByteRange {
        match self {
            Edit::Comment(slot, _) => slot.at..slot.at,
            Edit::Replace(range, _) | Edit::Remove(range) => range.clone(),
        }
    }
}

/// Returns the text with all edits applied. The edits must not overlap. Edits at the same place are applied in the given order.
pub(super) fn edited(text: &[u8], mut edits: Vec<Edit>) -> Vec<u8> {
    edits.sort_by_key(|edit| (edit.range().start, edit.range().end));
    let mut out = Vec::with_capacity(text.len() + 64 * edits.len());
    let mut at = 0;
    for (index, edit) in edits.iter().enumerate() {
        let range = edit.range();
        out.extend_from_slice(&text[at..range.start]);
        at = range.end;
        match edit {
            Edit::Replace(_, with) => out.extend_from_slice(with),
            Edit::Remove(_) => {
                let before = out.last().is_none_or(u8::is_ascii_whitespace);
                match text.get(at).map(u8::is_ascii_whitespace) {
                    Some(true) if before => at += 1,
                    // A blank keeps the tokens before and after the removed text apart.
                    Some(false) if !before => out.push(b' '),
                    _ => {}
                }
            }
            Edit::Comment(slot, comment) => {
                put(&mut out, text, *slot, comment);
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || slot.in_side_line && *byte == b')';
                let goes_on = edits.get(index + 1).is_some_and(|next| next.range().start == at);
                if !goes_on && text.get(at).is_some_and(|byte| !is_end(byte)) {
                    out.push(b' ');
                }
            }
        }
    }
    out.extend_from_slice(&text[at..]);
    out
}

fn put(out: &mut Vec<u8>, text: &[u8], slot: CommentSlot, comment: &[u8]) {
    if slot.after_tags {
        out.extend_from_slice(line_end(text));
        out.extend_from_slice(line_end(text));
    } else if out.last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
        out.push(b' ');
    }
    out.push(b'{');
    out.extend_from_slice(comment);
    out.push(b'}');
}
