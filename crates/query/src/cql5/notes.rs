//! Adds notes about parts of a CQL 5 list that would have a different meaning in CQL 6.

use shakmaty::Bitboard;

use crate::{
    parser::{C, S},
    tree::{ConditionKeyword, Kind as _, ListTransform, Node, Ref, Written},
};
use orbit_core::{
    board::{self, SquareMap},
    diagnostic::Diagnostic,
};

/// The signs with different meanings in the dialects, each with its meaning in CQL 5 and in CQL 6.
const SIGNS: [(char, &str, &str); 3] = [
    ('△', "white queens and rooks", "in CQL 6 it is any white piece"),
    ('▲', "black queens and rooks", "in CQL 6 it is any black piece"),
    ('.', "an empty square", "in CQL 6 it is any square; an empty one is `_` there"),
];

/// Adds a note for each sign that has a different meaning in CQL 6, and one note if shifting the list would produce different
/// results in CQL 6.
pub(super) fn dialects(body: &Node, text: &str, remarks: &mut Vec<Diagnostic>) {
    for (sign, meaning, elsewhere) in SIGNS {
        let mut first = None;
        body.walk(&mut |node| {
            let span = *node.mark();
            let is_sign = designated(node).is_some()
                && text.get(span.start..span.end).is_some_and(|text| text.contains(sign));
            first = first.or(is_sign.then_some(span));
        });
        if let Some(span) = first {
            remarks.push(Diagnostic::note(span, format!("`{sign}` is {meaning} in CQL 5"), elsewhere));
        }
    }
    if let Some(node) = left_behind(body.node(), &[]) {
        remarks.push(
            Diagnostic::note(
                *node.mark(),
                "squares at the edge of the board stay behind in shifts of CQL 5",
                "in CQL 6 they move away and do not stay",
            )
            .help("`orbit convert` writes the list as CQL 6"),
        );
    }
}

/// Returns the squares of a designator. Returns `None` for other filters.
fn designated(node: Ref<Written>) -> Option<Bitboard> {
    match node {
        Ref::Squares(f) => match f.op() {
            S::Designator { squares, .. } => Some(*squares),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the first designator with squares that stay in place when its list is shifted, as edge squares do in CQL 5. `steps`
/// contains the shifts of the lists that contain `node`.
fn left_behind<'a>(node: Ref<'a, Written>, steps: &[(i8, i8)]) -> Option<Ref<'a, Written>> {
    if let Some(squares) = designated(node) {
        return steps.iter().any(|&step| smears(squares, step)).then_some(node);
    }
    let mut steps = steps.to_vec();
    if let Ref::Condition(f) = node
        && let C::Form(ConditionKeyword::Lists(transforms, _)) = f.op()
    {
        steps.extend(single_steps(transforms));
    }
    node.children().into_iter().find_map(|child| left_behind(child, &steps))
}

fn smears(squares: Bitboard, step: (i8, i8)) -> bool {
    SquareMap::edge_shift(step).apply(squares) != board::shift(squares, step)
}

/// Returns the directions, as steps of one file or rank, in which the shifts among `transforms` can move a square. A flip among the
/// transforms can turn a step into another direction.
fn single_steps(transforms: &[ListTransform]) -> Vec<(i8, i8)> {
    use ListTransform::*;
    let turns = transforms.iter().any(|t| matches!(t, Flip | FlipDiagonal | FlipOffDiagonal));
    let (mut files, mut ranks) = (false, false);
    for transform in transforms {
        match transform {
            Shift | ShiftMainDiagonal | ShiftOffDiagonal | ShiftDiagonal => (files, ranks) = (true, true),
            ShiftHorizontal => (files, ranks) = (true, ranks || turns),
            ShiftVertical => (files, ranks) = (files || turns, true),
            _ => {}
        }
    }
    let mut steps = Vec::new();
    if files {
        steps.extend([(1, 0), (-1, 0)]);
    }
    if ranks {
        steps.extend([(0, 1), (0, -1)]);
    }
    steps
}
