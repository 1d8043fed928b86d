//! Reads comparisons of strings. The comparison of a piece's letter with a literal becomes a test of a square's content.
//!
//! The grammar treats `typename` and `piecename` as strings. In the tree, they are conditions, which are true if there is a letter.
//! A comparison with a literal restricts the contents of the square. Every other filter with a string operand converts these
//! conditions to strings ([`super::valued`]).

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
        // `!=` is also true if there is no letter, so it is the negation of `==`.
        if letters && cmp == Cmp::Ne {
            let equal = self.string_compare(Cmp::Eq, left, right)?;
            return Ok(filter(C::Not(equal), span));
        }
        if let (Some((of, spelt)), Some(text)) = (letter_of(&left), literal(&right)) {
            return Ok(letter_test(of, spelt, Some(spelt), span, |letter| cmp.holds(letter.cmp(text))));
        }
        // The value of a comparison is its left side. A letter on the right can be the value only for `==`, where both sides are
        // equal.
        if let (Cmp::Eq, Some(text), Some((of, spelt))) = (cmp, literal(&left), letter_of(&right)) {
            return Ok(letter_test(of, spelt, Some(spelt), span, |letter| letter == text));
        }
        let left = self.want_text(left, "a comparison of strings")?;
        let right = self.want_text(right, "a comparison of strings")?;
        Ok(filter(C::TextCompare(cmp, left, right), span))
    }
}

/// If a filter is `typename S` or `piecename S`, returns the set S and the spelling of the letter.
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

/// Returns a condition that is true if a square's letter passes a test. If `yields` is present, the condition has the letter as its
/// value, in that spelling.
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
