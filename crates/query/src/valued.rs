//! Turns conditions into strings where a string is needed: letters of pieces, and comparisons of strings.

use super::tree::{
    Condition, ConditionKeyword, ConditionOp as C, Control, NoTransform, Node, Text, TextOp as T, Type,
};

/// Returns a filter that has a value. A comparison of strings becomes its left side, and the letter of a piece becomes a string.
/// Any other filter stays as it is.
pub(super) fn valued(node: Node) -> Node {
    match node {
        node if !node.yields_text() => node,
        Node::Condition(condition) => text(condition).into(),
        other => other,
    }
}

fn text(condition: Condition) -> Text {
    let span = condition.span();
    let op = match condition.into_op() {
        C::ContentIs { contents, of, spelt: Some(spelt) } => T::ContentName { contents, spelt, of },
        C::TextCompare(cmp, left, right) => T::Compare(cmp, left, right),
        C::Form(ConditionKeyword::NoTransform(of)) => T::Form(NoTransform(text(of))),
        C::Braces(mut all) => match all.pop() {
            Some(Node::Condition(last)) => T::Control(Control::Braces { first: all, last: text(last) }),
            _ => unreachable!("the last filter in braces yields a string"),
        },
        _ => unreachable!("only these yield a string"),
    };
    Text::new(op, span)
}

/// Returns the type that a filter has in the grammar, in which conditions that yield strings count as strings.
pub(super) fn kind_of(node: &Node) -> Type {
    if node.yields_text() { Type::Str } else { node.ty() }
}
