//! The order in which copies (transformed filters) are evaluated. It matters for filters that assign variables, since a copy can
//! read values that earlier copies assigned.

use shakmaty::Color;

use super::{AsOrbit as _, FilterRef};
use orbit_query::tree::{ConditionOp, GameResult, NumberOp, Ref, SquaresOp, TextOp};

/// Encodes the parts of a filter that transforms can change, in operand order. The encodings of two copies of one filter compare as
/// [`in_turn`](super::Orbit::in_turn) requires. A list ends with a zero, which orders it before every longer list that begins with
/// it.
pub(super) fn turn(filter: FilterRef) -> Vec<u8> {
    let mut out = Vec::new();
    write(filter, &mut out);
    out
}

fn write(filter: FilterRef, out: &mut Vec<u8>) {
    if filter.orbit().is_none() {
        write_own(filter, out);
        return filter.each_child(&mut |child| write(child, out));
    }
    // The children of a transform are its copies.
    let mut copies = Vec::new();
    filter.each_child(&mut |copy| copies.push(turn(copy)));
    copies.sort_unstable();
    for copy in copies {
        out.push(1);
        out.extend(copy);
    }
    out.push(0);
}

/// Encodes the part of a filter that a transform can change, if it has one, so that copies can be ordered. The filter's operands
/// are encoded separately.
fn write_own(filter: FilterRef, out: &mut Vec<u8>) {
    let color = |c: Color| u8::from(c.is_black());
    match filter {
        Ref::Squares(f) => match f.op() {
            SquaresOp::Designator { pieces, squares } => {
                out.extend(squares.into_iter().map(|square| square as u8 + 1));
                out.extend([0, u8::from(!pieces.all_white), u8::from(!pieces.all_black)]);
                out.extend((0..16).filter(|code| pieces.list.0 >> code & 1 != 0).map(|code| code + 1));
                out.push(0);
            }
            SquaresOp::Direction { dirs, .. }
            | SquaresOp::DirectionWithin { dirs, .. }
            | SquaresOp::Ray { dirs, .. } => {
                // Each step becomes a number from -9 (one step south-west) to 9 (one step north-east).
                let mut steps: Vec<i8> = dirs.steps().map(|(x, y)| x + 8 * y).collect();
                steps.sort_unstable();
                out.extend(steps.into_iter().map(|step| (step + 10) as u8));
                out.push(0);
            }
            SquaresOp::Shade { light, .. } => out.push(u8::from(*light)),
            _ => {}
        },
        Ref::Condition(f) => match f.op() {
            ConditionOp::ToMove(c) => out.push(color(*c)),
            ConditionOp::Result(result) => out.push(u8::from(*result == GameResult::BlackWins)),
            _ => {}
        },
        Ref::Number(f) => match f.op() {
            NumberOp::ColorValue(c) | NumberOp::Elo(Some(c)) => out.push(color(*c)),
            _ => {}
        },
        Ref::Text(f) => match f.op() {
            TextOp::Player(Some(c)) => out.push(color(*c)),
            TextOp::Tag(name) => out.push(u8::from(name == "Black")),
            _ => {}
        },
        Ref::Position(_) => {}
    }
}
