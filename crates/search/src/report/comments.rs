//! Builds the comments and tags that a query adds to the text of a game.

use orbit_engine::{GameCommentary, SortValue};
use orbit_pgn::Amendment;

/// The approximate maximum number of bytes that a query may write at one node (a position of a game). Source: CQL 6.2.
const NODE_BYTES_MAX: usize = 4500;
/// The text that replaces further comments at a node once they would exceed [`NODE_BYTES_MAX`].
const TRUNCATED: &[u8] = b"[cql truncate]...";

/// The kinds of comments that are added to games.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommentStyle {
    /// True if comments are added. `tags` and `removes` take effect even if this is false.
    pub comments: bool,
    /// True if the game number is written at the start of the game.
    pub numbers: bool,
    /// True if the number of matching positions is written at the start of the game.
    pub matches: bool,
    /// For each `sort` value, the name under which it is written at the start of the game, or `None` if it is not written.
    pub sorts: Vec<Option<String>>,
    /// True if the tags that the query sets are written to the text.
    pub tags: bool,
    /// True if the comments that the query removes are left out of the text.
    pub removes: bool,
}

impl CommentStyle {
    /// Returns the changes to the text of a game. Returns `None` if `comments` is false and neither tags nor removed comments
    /// require a change. `number` is the game's number across all sources.
    pub fn amendment(&self, number: u32, commentary: &GameCommentary) -> Option<Amendment> {
        let GameCommentary { tags, removed, .. } = commentary;
        let amendment = Amendment {
            comments: if self.comments { self.comments(number, commentary) } else { Vec::new() },
            removed: if self.removes { removed.clone() } else { Vec::new() },
            tags: if self.tags { tags.clone() } else { Vec::new() },
        };
        (self.comments || amendment != Amendment::default()).then_some(amendment)
    }

    /// Returns the comments to write into a game, one for each node, in node order.
    fn comments(&self, number: u32, commentary: &GameCommentary) -> Vec<(u32, Vec<u8>)> {
        let mut nodes = NodeTexts::default();
        if self.numbers {
            nodes.push(0, format!("Game number {number}").as_bytes());
        }
        commentary.comments.iter().for_each(|(node, text)| nodes.push(*node, text));
        for (name, value) in self.sorts.iter().zip(&commentary.sorts) {
            if let Some(name) = name {
                nodes.push(0, &[name.as_bytes(), b": ", &shown(value.as_ref())].concat());
            }
        }
        if self.matches {
            nodes.push(0, format!("matchcount: {}", commentary.matches).as_bytes());
        }
        nodes.joined()
    }
}

fn shown(value: Option<&SortValue>) -> Vec<u8> {
    match value {
        None => b"none".to_vec(),
        Some(SortValue::Number(number)) => number.to_string().into_bytes(),
        Some(SortValue::Text(text)) => text.clone(),
    }
}

/// The strings that become comments, for each node of a game, sorted by node.
#[derive(Default)]
struct NodeTexts(Vec<(u32, Vec<Vec<u8>>)>);

impl NodeTexts {
    /// Adds a string to the comment at a node, unless the comment already contains the string.
    fn push(&mut self, node: u32, text: &[u8]) {
        let at = self.0.binary_search_by_key(&node, |(node, _)| *node).unwrap_or_else(|at| {
            self.0.insert(at, (node, Vec::new()));
            at
        });
        let texts = &mut self.0[at].1;
        let bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
        let is_full = texts.last().is_some_and(|last| last == TRUNCATED);
        if is_full || texts.iter().any(|other| other == text) {
            return;
        }
        texts.push(if bytes + text.len() > NODE_BYTES_MAX { TRUNCATED } else { text }.to_vec());
    }

    fn joined(self) -> Vec<(u32, Vec<u8>)> {
        let joined = self.0.into_iter().map(|(node, texts)| (node, texts.join(&b' ')));
        joined.filter(|(_, text)| !text.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbit_pgn::amend;

    const GAME: &[u8] = b"[White \"a\"]\n\n1. e4! e5 {old} (1... c5) *";

    fn style() -> CommentStyle {
        let sorts = vec![Some("n".into()), None];
        CommentStyle { comments: true, numbers: true, matches: false, sorts, tags: true, removes: true }
    }

    fn commentary() -> GameCommentary {
        let comments = [(2, "b"), (0, "a"), (1, "x"), (2, "b"), (3, "side {1}"), (0, "c")];
        GameCommentary {
            index: 0,
            matches: 3,
            comments: comments.map(|(node, text)| (node, text.into())).to_vec(),
            sorts: vec![Some(SortValue::Number(-4)), Some(SortValue::Text(b"q".to_vec()))],
            sorts_at: vec![1, 0],
            tags: vec![("Foo".into(), b"1".to_vec())],
            removed: vec![2],
        }
    }

    fn written(style: &CommentStyle, commentary: &GameCommentary) -> String {
        let amendment = style.amendment(7, commentary);
        let text = amendment.map_or(GAME.to_vec(), |amendment| amend(GAME, &amendment));
        String::from_utf8(text).unwrap()
    }

    #[track_caller]
    fn check(style: &CommentStyle, expected: &str) {
        assert_eq!(written(style, &commentary()), expected);
    }

    #[test]
    fn a_game_gets_what_a_query_writes() {
        check(
            &style(),
            "[White \"a\"]\n[Foo \"1\"]\n\n{Game number 7 a c n: -4} 1. e4 $1 {x} 1... e5 {b} (1... c5 {side (1)}) *",
        );
        let bare = CommentStyle {
            numbers: false,
            matches: true,
            sorts: vec![],
            tags: false,
            removes: false,
            ..style()
        };
        check(
            &bare,
            "[White \"a\"]\n\n{a c matchcount: 3} 1. e4 $1 {x} 1... e5 {old b} (1... c5 {side (1)}) *",
        );
    }

    #[test]
    fn a_silent_query_changes_nothing_but_what_it_is_asked_to() {
        let silent = CommentStyle { comments: false, ..style() };
        check(&silent, "[White \"a\"]\n[Foo \"1\"]\n\n1. e4 $1 e5 (1... c5) *");
        check(&CommentStyle { tags: false, removes: false, ..silent }, std::str::from_utf8(GAME).unwrap());
    }

    #[test]
    fn the_texts_of_a_node_have_a_limit() {
        let comments = (0..1000).map(|number| (1, format!("text {number}").into_bytes())).collect();
        let found = written(&style(), &GameCommentary { comments, ..GameCommentary::default() });
        assert!(found.contains("text 450 ") && !found.contains("text 600"), "{found}");
        assert_eq!(found.matches("[cql truncate]...}").count(), 1, "{found}");
        assert!((4400..4800).contains(&found.len()), "{}", found.len());
    }
}
