//! Conditions that hold at every position, and rows of moves, as notes on what was probably meant.
//!
//! The typed tree decides: a condition of the whole query that is squares without a piece, or a number that is reckoned
//! from numbers alone. What stands in another filter is never looked at, since it may say something there.

use super::{
    notation,
    parser::{C, N, S},
    tree::{Control, Node, Ref, Squares},
};
use crate::{
    board::PieceSet,
    diagnostic::{Diagnostic, Span},
};

/// One note on a query that was read.
pub(super) fn of(body: &Node, text: &str) -> Option<Diagnostic> {
    let mut conditions = Vec::new();
    flatten(body.clone(), &mut conditions);
    let written = |node: &Node| text.get(node.span().start..node.span().end).unwrap_or_default();
    let span = conditions.first()?.span().to(conditions.last()?.span());
    if conditions.len() > 1
        && conditions.iter().all(is_designator)
        && let Some(row) = notation::row(text.get(span.start..span.end)?)
    {
        let message = "the query asks for pieces and squares of one position, not for moves";
        return Some(
            Diagnostic::hint(span, message, format!("for these moves write `{row}`"))
                .help(notation::ROW_HELP),
        );
    }
    let place = conditions.iter().position(|node| always(node).is_some())?;
    let node = &conditions[place];
    let before = place.checked_sub(1).map(|before| &conditions[before]);
    match always(node)? {
        Always::Squares => {
            Some(squares(before.map(|node| (written(node), node)), written(node), node.span()))
        }
        Always::Number => Some(number(written(node), node.span())),
    }
}

/// Something that holds at every position.
enum Always {
    Squares,
    Number,
}

fn always(node: &Node) -> Option<Always> {
    match node {
        Node::Squares(f) => is_never_empty(f).then_some(Always::Squares),
        Node::Number(_) => {
            let mut is_reckoned = true;
            node.walk(&mut |part| {
                is_reckoned &=
                    matches!(part, Ref::Number(f) if matches!(f.op(), N::Int(_) | N::Neg(_) | N::Arith(..)));
            });
            is_reckoned.then_some(Always::Number)
        }
        _ => None,
    }
}

/// `e4`, `a-h1-8`, `e4|K`: some square is in it, whatever stands on the board. `.` says so itself.
fn is_never_empty(of: &Squares) -> bool {
    match of.op() {
        S::Designator { pieces, squares } => pieces.accepts() == PieceSet::ALL && !squares.is_empty(),
        S::Union(left, right) => is_never_empty(left) || is_never_empty(right),
        _ => false,
    }
}

fn is_designator(node: &Node) -> bool {
    matches!(node, Node::Squares(f) if matches!(f.op(), S::Designator { .. }))
}

/// All conditions that must hold.
fn flatten(node: Node, out: &mut Vec<Node>) {
    match node {
        Node::Condition(f) if matches!(f.op(), C::Braces(_) | C::And(..)) => match f.into_op() {
            C::Braces(all) => all.into_iter().for_each(|node| flatten(node, out)),
            C::And(left, right) => [left, right].into_iter().for_each(|node| flatten(node, out)),
            _ => {}
        },
        Node::Squares(f) if matches!(f.op(), S::Control(Control::Braces { .. })) => {
            if let S::Control(Control::Braces { first, last }) = f.into_op() {
                first.into_iter().chain([last.into()]).for_each(|node| flatten(node, out));
            }
        }
        Node::Number(f) if matches!(f.op(), N::Control(Control::Braces { .. })) => {
            if let N::Control(Control::Braces { first, last }) = f.into_op() {
                first.into_iter().chain([last.into()]).for_each(|node| flatten(node, out));
            }
        }
        other => out.push(other),
    }
}

/// The note on squares, behind the condition that stands before them.
fn squares(before: Option<(&str, &Node)>, text: &str, span: Span) -> Diagnostic {
    let is_one = text.len() == 2;
    let squares = if is_one { "the square" } else { "the squares" };
    let message = format!("`{text}` matches every position");
    let label = format!("{squares}, whatever stands there");
    // Text that is no designator is put together from several.
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"[],-".contains(&byte)) {
        return Diagnostic::hint(span, message, label)
            .help("name the pieces that stand there: `Pe4`, `A[e4,e5]`");
    }
    let is_kind = |text: &str| text.chars().count() == 1 || text.starts_with('[');
    if let Some((piece, node)) = before
        && is_designator(node)
        && is_kind(piece)
        && node.span().end <= span.start
    {
        return Diagnostic::hint(node.span().to(span), message, label)
            .help(format!("without a blank it is one filter, a piece on its square: `{piece}{text}`"));
    }
    let (piece, name) =
        if is_one && !text.ends_with(['1', '8']) { ("P", "a white pawn") } else { ("A", "a white piece") };
    Diagnostic::hint(span, message, label).help(format!(
        "`{piece}{text}` asks for {name} there, `{piece}--{text}` for its move to there, `--{text}` for any move to there"
    ))
}

/// The note on a sum of numbers.
fn number(text: &str, span: Span) -> Diagnostic {
    let help = match text {
        "0-0" | "0-0-0" => format!("castling is the move `--({})`", text.replace('0', "o")),
        "1-0" | "0-1" | "1/2-1/2" => format!("the result of the game is `result {text}`"),
        _ => String::from("numbers are compared with what is counted: `#A >= 10`, `year == 2015`"),
    };
    Diagnostic::hint(span, format!("`{text}` matches every position"), "a number, reckoned from numbers")
        .help(help)
}
