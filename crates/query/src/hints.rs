//! Adds notes on conditions that hold at every position, and on moves in algebraic notation. In both cases the user probably meant
//! something else.
//!
//! The check covers the top-level conditions of the query, including the alternatives of an `or` and the operands of transforms and
//! of `find`. A condition gets a note if it is a set of squares that names no piece, or a number computed only from literals.
//! Filters inside other filters get no note, because they may be useful there.

use super::{
    notation,
    parser::{C, N, P, S},
    tree::{Arith, Control, Kind as _, Node, Number, Ref, Squares, Written},
};
use orbit_core::{
    board::PieceSet,
    diagnostic::{Diagnostic, Span},
};

type HintFilter<'a> = Ref<'a, Written>;

/// Returns the first note on a query, or `None` if there is nothing to note.
pub(super) fn of(body: &Node, text: &str) -> Option<Diagnostic> {
    let mut conditions = Vec::new();
    flatten(body.node(), &mut conditions);
    let written = |filter: HintFilter| text.get(filter.mark().start..filter.mark().end).unwrap_or_default();
    let span = conditions.first()?.mark().to(*conditions.last()?.mark());
    if conditions.len() > 1
        && conditions.iter().all(|filter| is_designator(*filter))
        && let Some(row) = notation::row(text.get(span.start..span.end)?)
    {
        let message = "the query asks for pieces and squares of one position, not for moves";
        let note = Diagnostic::hint(span, message, format!("for these moves write `{row}`"));
        return Some(note.help(notation::ROW_HELP));
    }
    let (place, filter, always) = (0..)
        .zip(&conditions)
        .find_map(|(place, filter)| always(*filter).map(|(of, why)| (place, of, why)))?;
    let before = usize::checked_sub(place, 1).map(|before| conditions[before]);
    match always {
        Always::Squares => {
            Some(squares(before.map(|before| (written(before), before)), written(filter), *filter.mark()))
        }
        Always::Number => Some(number(written(filter), *filter.mark())),
    }
}

/// The reason why a condition holds at every position.
enum Always {
    Squares,
    Number,
}

/// If a condition holds at every position, returns the filter that is the cause: the condition itself, an alternative of an `or`,
/// or the operand of a transform or of `find`.
fn always(filter: HintFilter) -> Option<(HintFilter, Always)> {
    match filter {
        Ref::Squares(f) if is_never_empty(f) => return Some((filter, Always::Squares)),
        Ref::Number(f) if is_reckoned(f) => return Some((filter, Always::Number)),
        Ref::Condition(f) => {
            if let C::Or(left, right) = f.op() {
                return always(left.node()).or_else(|| always(right.node()));
            }
        }
        Ref::Position(f) => {
            if let P::Find { of, .. } = f.op() {
                return always(of.node());
            }
        }
        _ => {}
    }
    match filter.keyword()? {
        (operand, false) => always(operand),
        (_, true) => None,
    }
}

/// Returns true if a set is non-empty in every position, like `e4`, `a-h1-8` and `e4|K`. The set `.` is excluded, because users
/// write it on purpose.
fn is_never_empty(of: &Squares) -> bool {
    match of.op() {
        S::Designator { pieces, squares } => pieces.accepts() == PieceSet::ALL && !squares.is_empty(),
        S::Union(left, right) => is_never_empty(left) || is_never_empty(right),
        _ => false,
    }
}

/// Returns true if a number is computed only from literals, like `1-0` and `1/2-1/2`. Division by zero is excluded, because it has
/// no value.
fn is_reckoned(of: &Number) -> bool {
    match of.op() {
        N::Int(_) => true,
        N::Neg(of) => is_reckoned(of),
        N::Arith(Arith::Div | Arith::Rem, left, right) => {
            is_reckoned(left) && matches!(right.op(), N::Int(by) if *by != 0)
        }
        N::Arith(_, left, right) => is_reckoned(left) && is_reckoned(right),
        _ => false,
    }
}

fn is_designator(filter: HintFilter) -> bool {
    matches!(filter, Ref::Squares(f) if matches!(f.op(), S::Designator { .. }))
}

/// Splits a conjunction into its conditions, and adds them to `out`.
fn flatten<'a>(filter: HintFilter<'a>, out: &mut Vec<HintFilter<'a>>) {
    match filter {
        Ref::Condition(f) => match f.op() {
            C::Braces(all) => return all.iter().for_each(|one| flatten(one.node(), out)),
            C::And(left, right) => return [left, right].into_iter().for_each(|one| flatten(one.node(), out)),
            _ => {}
        },
        Ref::Squares(f) => {
            if let S::Control(Control::Braces { first, last }) = f.op() {
                first.iter().for_each(|one| flatten(one.node(), out));
                return flatten(last.node(), out);
            }
        }
        Ref::Number(f) => {
            if let N::Control(Control::Braces { first, last }) = f.op() {
                first.iter().for_each(|one| flatten(one.node(), out));
                return flatten(last.node(), out);
            }
        }
        _ => {}
    }
    out.push(filter);
}

/// Returns the note on a set of squares. `before` is the preceding condition, with its text.
fn squares(before: Option<(&str, HintFilter)>, text: &str, span: Span) -> Diagnostic {
    let is_one = text.len() == 2;
    let squares = if is_one { "the square" } else { "the squares" };
    let message = format!("`{text}` matches every position");
    let label = format!("{squares}, whatever stands there");
    // A character other than a letter, a digit, a bracket, a comma or a hyphen is an operator, so the text combines several sets.
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"[],-".contains(&byte)) {
        return Diagnostic::hint(span, message, label)
            .help("name the pieces that stand there: `Pe4`, `A[e4,e5]`");
    }
    let is_kind = |text: &str| text.chars().count() == 1 || text.starts_with('[');
    if let Some((piece, node)) = before
        && is_designator(node)
        && is_kind(piece)
        && node.mark().end <= span.start
    {
        return Diagnostic::hint(node.mark().to(span), message, label)
            .help(format!("without a blank it is one filter, a piece on its square: `{piece}{text}`"));
    }
    let (piece, name) =
        if is_one && !text.ends_with(['1', '8']) { ("P", "a white pawn") } else { ("A", "a white piece") };
    Diagnostic::hint(span, message, label).help(format!(
        "`{piece}{text}` asks for {name} there, `{piece}--{text}` for its move to there, `--{text}` for any move to there"
    ))
}

/// Returns the note on a number that always has a value.
fn number(text: &str, span: Span) -> Diagnostic {
    let help = match text {
        "0-0" | "0-0-0" => format!("castling is the move `--({})`", text.replace('0', "o")),
        "1-0" | "0-1" | "1/2-1/2" => format!("the result of the game is `result {text}`"),
        _ => String::from("numbers are compared with what is counted: `#A >= 10`, `year == 2015`"),
    };
    Diagnostic::hint(span, format!("`{text}` matches every position"), "a number, reckoned from numbers")
        .help(help)
}
