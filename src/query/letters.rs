//! Comparisons of strings, and of the letters of pieces, which become tests of what stands on a square.

use super::{
    lexer::unsupported,
    parser::{Parsed, Parser, binary},
    tree::{Cmp, Node, Op, Type},
};
use crate::{board::Code, diagnostic::Span};

impl Parser {
    pub(super) fn string_in(&mut self, left: Node, right: Node) -> Parsed<Node> {
        let span = left.span.to(right.span);
        match (&left.op, &right.op) {
            (Op::ContentIs(_), Op::Str(text)) => {
                Ok(letter_test(left.clone(), span, |letter| text.contains(letter)))
            }
            (Op::Str(text), Op::ContentIs(_)) => {
                Ok(letter_test(right.clone(), span, |letter| letter.contains(text.as_str())))
            }
            _ if names_piece(&left) || names_piece(&right) => {
                Err(unsupported(span, "comparing a piece name with anything but a literal"))
            }
            _ => Ok(binary(Op::StrIn, Type::Bool, left, right)),
        }
    }

    pub(super) fn string_compare(&mut self, cmp: Cmp, left: Node, right: Node) -> Parsed<Node> {
        let span = left.span.to(right.span);
        match (&left.op, &right.op) {
            // Where there is no letter, `!=` holds.
            (Op::ContentIs(_), Op::Str(_)) | (Op::Str(_), Op::ContentIs(_)) if cmp == Cmp::Ne => {
                let equal = self.string_compare(Cmp::Eq, left, right)?;
                Ok(Node::new(Op::Not, Type::Bool, span, vec![equal]))
            }
            (Op::ContentIs(_), Op::Str(text)) => {
                Ok(letter_test(left.clone(), span, |letter| cmp.holds(letter.cmp(text))))
            }
            (Op::Str(text), Op::ContentIs(_)) => {
                Ok(letter_test(right.clone(), span, |letter| cmp.holds(text.as_str().cmp(letter))))
            }
            _ if names_piece(&left) || names_piece(&right) => {
                Err(unsupported(span, "comparing a piece name with anything but a literal"))
            }
            _ => Ok(binary(Op::StrCompare(cmp), Type::Bool, left, right)),
        }
    }
}

/// `typename` and `piecename` are read as [`Op::ContentIs`] of everything, with type Str; the marker
/// of `typename` is that colours are folded. A comparison narrows the contents.
fn letter_test(node: Node, span: Span, mut test: impl FnMut(&str) -> bool) -> Node {
    let signed = matches!(node.args.get(1).map(|n| &n.op), Some(Op::Bool(true)));
    let contents = Op::contents_where(|code| test(&letter(code, signed)));
    let args = node.args.into_iter().take(1).collect();
    Node::new(Op::ContentIs(contents), Type::Bool, span, args)
}

/// Whether the value of a string filter is the letter of a piece: directly, or as the last filter
/// in braces or behind `notransform`.
fn names_piece(node: &Node) -> bool {
    match &node.op {
        Op::ContentIs(_) => true,
        Op::Compound | Op::NoTransform => node.args.last().is_some_and(names_piece),
        _ => false,
    }
}

fn letter(code: Code, signed: bool) -> String {
    match code.piece() {
        None => "_".into(),
        Some(piece) if signed => piece.char().to_string(),
        Some(piece) => piece.role.upper_char().to_string(),
    }
}

/// Turns what is left of `typename` and `piecename` (a test for a value, no comparison around it)
/// into a boolean: a square content has a letter if the set is one square.
pub(super) fn settle_letters(node: &mut Node) {
    node.args.iter_mut().for_each(settle_letters);
    if node.ty != Type::Str {
        return;
    }
    match &node.op {
        Op::ContentIs(_) => {
            node.ty = Type::Bool;
            node.args.truncate(1);
        }
        Op::Compound | Op::NoTransform => node.ty = node.args[node.args.len() - 1].ty,
        _ => {}
    }
}
