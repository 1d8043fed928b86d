//! Comparisons of strings, and of the letters of pieces, which become tests of what stands on a square.
//!
//! `typename` and `piecename` are conditions, true where there is a letter, which the grammar takes for strings; a
//! comparison with a literal narrows the contents. All else that takes a string makes one of them
//! ([`super::valued`]).

use super::{
    parser::{C, ParseResult, Parser, T, filter},
    tree::{Cmp, Node, Spelt, Squares, contents_where},
};
use orbit_core::{board::PieceSet, diagnostic::Span};

impl Parser {
    pub(super) fn string_in(&mut self, left: Node, right: Node) -> ParseResult<Node> {
        let span = left.span().to(right.span());
        if let (Some((of, spelt)), Some(text)) = (letter_of(&left), literal(&right)) {
            return Ok(letter_test(of, spelt, None, span, |letter| text.contains(letter)));
        }
        if let (Some(text), Some((of, spelt))) = (literal(&left), letter_of(&right)) {
            return Ok(letter_test(of, spelt, None, span, |letter| letter.contains(text)));
        }
        let left = self.want_text(left, "`in`")?;
        let right = self.want_text(right, "`in`")?;
        Ok(filter(C::TextIn(left, right), span))
    }

    pub(super) fn string_compare(&mut self, cmp: Cmp, left: Node, right: Node) -> ParseResult<Node> {
        let span = left.span().to(right.span());
        let letters = letter_of(&left).zip(literal(&right)).is_some()
            || literal(&left).zip(letter_of(&right)).is_some();
        // Where there is no letter, `!=` holds.
        if letters && cmp == Cmp::Ne {
            let equal = self.string_compare(Cmp::Eq, left, right)?;
            return Ok(filter(C::Not(equal), span));
        }
        if let (Some((of, spelt)), Some(text)) = (letter_of(&left), literal(&right)) {
            return Ok(letter_test(of, spelt, Some(spelt), span, |letter| cmp.holds(letter.cmp(text))));
        }
        // What is on the left is the value, so that only of equal ones it may be the letter.
        if let (Cmp::Eq, Some(text), Some((of, spelt))) = (cmp, literal(&left), letter_of(&right)) {
            return Ok(letter_test(of, spelt, Some(spelt), span, |letter| letter == text));
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
            C::ContentIs { contents: PieceSet::ALL, of, spelt: Some(spelt) } => Some((of, *spelt)),
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

/// The condition that a letter passes a test; with `yields` it has the letter for a value.
fn letter_test(
    of: &Squares,
    spelt: Spelt,
    yields: Option<Spelt>,
    span: Span,
    mut test: impl FnMut(&str) -> bool,
) -> Node {
    let contents = contents_where(|code| test(spelt.letter(code).encode_utf8(&mut [0; 4])));
    filter(C::ContentIs { contents, of: of.clone(), spelt: yields }, span)
}
