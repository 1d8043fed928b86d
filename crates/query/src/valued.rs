//! Converts conditions to strings where a string is needed. The conditions are piece letters and comparisons of strings.

use super::tree::{
    Condition, ConditionKeyword, ConditionOp as C, Control, NoTransform, Node, Text, TextOp as T, Type,
};

/// Converts a condition that can be used as a string to that string: the left side of a comparison, or a piece's letter. Returns
/// any other filter unchanged.
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

/// Returns the type of a filter in the grammar. A condition that can be used as a string has the type of a string.
pub(super) fn kind_of(node: &Node) -> Type {
    if node.yields_text() { Type::Str } else { node.ty() }
}
