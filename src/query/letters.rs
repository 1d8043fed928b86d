//! Comparisons of strings, and of the letters of pieces, which become tests of what stands on a square.
//!
//! `typename` and `piecename` are conditions, true where there is a letter, which the grammar takes for strings until
//! a comparison with a literal has narrowed the contents. All else that takes a string makes one of them
//! ([`super::valued`]).

use super::{
    parser::{C, Parsed, Parser, T, filter},
    tree::{Cmp, Node, Spelt, Squares, contents_where},
};
use crate::{board::Code, diagnostic::Span};

impl Parser {
    pub(super) fn string_in(&mut self, left: Node, right: Node) -> Parsed<Node> {
        let span = left.span().to(right.span());
        if let (Some((of, spelt)), Some(text)) = (letter_of(&left), literal(&right)) {
            return Ok(letter_test(of, spelt, span, |letter| text.contains(letter)));
        }
        if let (Some(text), Some((of, spelt))) = (literal(&left), letter_of(&right)) {
            return Ok(letter_test(of, spelt, span, |letter| letter.contains(text)));
        }
        let left = self.want_text(left, "`in`")?;
        let right = self.want_text(right, "`in`")?;
        Ok(filter(C::TextIn(left, right), span))
    }

    pub(super) fn string_compare(&mut self, cmp: Cmp, left: Node, right: Node) -> Parsed<Node> {
        let span = left.span().to(right.span());
        let letters = letter_of(&left).zip(literal(&right)).is_some()
            || literal(&left).zip(letter_of(&right)).is_some();
        // Where there is no letter, `!=` holds.
        if letters && cmp == Cmp::Ne {
            let equal = self.string_compare(Cmp::Eq, left, right)?;
            return Ok(filter(C::Not(equal), span));
        }
        if let (Some((of, spelt)), Some(text)) = (letter_of(&left), literal(&right)) {
            return Ok(letter_test(of, spelt, span, |letter| cmp.holds(letter.cmp(text))));
        }
        if let (Some(text), Some((of, spelt))) = (literal(&left), letter_of(&right)) {
            return Ok(letter_test(of, spelt, span, |letter| cmp.holds(text.cmp(letter))));
        }
        let left = self.want_text(left, "a comparison of strings")?;
        let right = self.want_text(right, "a comparison of strings")?;
        Ok(filter(C::TextCompare(cmp, left, right), span))
    }
}

/// The letter of which piece a filter is, and how it is written.
fn letter_of(node: &Node) -> Option<(&Squares, Spelt)> {
    match node {
        Node::Condition(f) => match f.op() {
            C::ContentIs { of, spelt: Some(spelt), .. } => Some((of, *spelt)),
            _ => None,
        },
        _ => None,
    }
}

fn literal(node: &Node) -> Option<&str> {
    match node {
        Node::Text(f) => match f.op() {
            T::Literal(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// The condition that a letter passes a test.
fn letter_test(of: &Squares, spelt: Spelt, span: Span, mut test: impl FnMut(&str) -> bool) -> Node {
    let contents = contents_where(|code| test(&letter(code, spelt)));
    filter(C::ContentIs { contents, of: of.clone(), spelt: None }, span)
}

fn letter(code: Code, spelt: Spelt) -> String {
    match code.piece() {
        None => "_".into(),
        Some(piece) if spelt == Spelt::Piece => piece.char().to_string(),
        Some(piece) => piece.role.upper_char().to_string(),
    }
}
