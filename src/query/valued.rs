//! Letters of pieces as strings.

use super::tree::{
    Condition, ConditionKeyword, ConditionOp as C, Control, GameText, NoTransform, Node, Text, TextOp as T,
};

/// A filter with its value: the letter of a piece as a string, any other filter as it is.
pub(super) fn valued(node: Node) -> Node {
    match node {
        node if !node.names_piece() => node,
        Node::Condition(condition) => named(condition).into(),
        other => other,
    }
}

fn named(condition: Condition) -> Text {
    let span = condition.span();
    let op = match condition.into_op() {
        C::ContentIs { of, spelt: Some(spelt), .. } => T::Game(GameText::ContentName { spelt, of }),
        C::Form(ConditionKeyword::NoTransform(of)) => T::Form(NoTransform(named(of))),
        C::Braces(mut all) => match all.pop() {
            Some(Node::Condition(last)) => T::Control(Control::Braces { first: all, last: named(last) }),
            _ => unreachable!("the last filter in braces names a piece"),
        },
        _ => unreachable!("only these name a piece"),
    };
    Text::new(op, span)
}
