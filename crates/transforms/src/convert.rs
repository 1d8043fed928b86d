//! Converts CQL 5 position lists to CQL 6 queries.
//!
//! A transform is kept if CQL 6 has a transform of the same name with the same copies (transformed filters), which is checked by
//! comparing all copies. Otherwise the copies are written out one by one. This happens if a shift of CQL 5 leaves squares in place
//! at the edge of the board, or if CQL 6 has no such transform.

use std::{collections::HashSet, convert::Infallible};

use shakmaty::Bitboard;

use super::{
    AsText, Condition, Copy, Expanded, Filter, FilterRef, Number, NumberOrbit, Orbit, Position, Squares,
    Text, apply::structure, expand,
};
use crate::OutermostOrbit as _;
use orbit_core::{
    board::{Code, PieceSet},
    diagnostic::{Diagnostic, Span},
};
use orbit_query::{
    Node, TypedQuery,
    tree::{
        self, Any, Arith, ConditionKeyword, ConditionOp, Dirs, Kind, ListTransform, NumberOp, OneOrMore,
        Pieces, Ref, Rewrite, SquaresOp, TransformKind, contents_where, rewrite,
    },
};

/// The result of converting a query with CQL 5 position lists, such as `(position Nd4 :flip)`, to CQL 6.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Converted {
    /// The CQL 6 query. It matches the same positions as the original query.
    pub text: String,
    /// The position lists whose copies (transformed filters) had to be written out one by one.
    pub written_out: Vec<WrittenOut>,
}

/// A CQL 5 position list whose copies (transformed filters) are written out one by one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenOut {
    /// The place of the list in the query text.
    pub span: Span,
    /// The number of copies of the list.
    pub copies: usize,
    /// The reason why no CQL 6 transform makes the same copies.
    pub reason: String,
}

/// Converts a query with CQL 5 position lists to CQL 6. At most `copies_max` copies are written out in total.
///
/// # Errors
///
/// Fails if more copies would have to be written out, or if a list cannot be expanded. The text may exceed the limits on query
/// length and depth, which [`orbit_query::parse`] checks.
///
/// ```
/// use orbit_transforms::to_cql6;
/// use orbit_query::parse;
/// let query = parse("(position Nd4 kf3 :shift :flip)").unwrap().query;
/// assert_eq!(to_cql6(&query, 100).unwrap().text, "shift flip {Nd4 kf3}");
/// ```
pub fn to_cql6(query: &TypedQuery, copies_max: usize) -> Result<Converted, Diagnostic> {
    let mut converter = Converter { copies_max, written_out: Vec::new() };
    let text = converter.text(&query.body)?;
    Ok(Converted { text, written_out: converter.written_out })
}

struct Converter {
    copies_max: usize,
    written_out: Vec<WrittenOut>,
}

impl Converter {
    /// Returns the CQL 6 text of a filter that is not inside a position list with transforms.
    fn text(&mut self, node: &Node) -> Result<String, Diagnostic> {
        let Any::Condition(condition) = node else { return Ok(written(&expand(node)?)) };
        Ok(match condition.op() {
            ConditionOp::Form(ConditionKeyword::Lists(transforms, inner)) => {
                self.list(node, transforms, inner)?
            }
            ConditionOp::Braces(all) => {
                let parts: Vec<String> = all.iter().map(|part| self.tight(part)).collect::<Result<_, _>>()?;
                format!("{{{}}}", parts.join(" "))
            }
            ConditionOp::Or(a, b) => format!("{} or {}", self.tight(a)?, self.tight(b)?),
            ConditionOp::Not(of) => format!("not {}", self.tight(of)?),
            _ => written(&expand(node)?),
        })
    }

    /// Like [`Self::text`], but the text is in parentheses unless it is a single word or already in brackets.
    fn tight(&mut self, node: &Node) -> Result<String, Diagnostic> {
        let text = self.text(node)?;
        let single = node.node().is_braces() || node.node().children().is_empty();
        Ok(if single { text } else { format!("({text})") })
    }

    fn list(
        &mut self,
        node: &Node,
        transforms: &[ListTransform],
        inner: &Node,
    ) -> Result<String, Diagnostic> {
        let Some(orbit) = expand(node)?.outermost().filter(|orbit| !orbit.copies.is_empty()) else {
            // In every copy, a designator lost all its squares. So no copy exists, and the list never matches. CQL 6 has no
            // designator without squares, so `false` is written.
            return Ok("false".into());
        };
        match as_transforms(inner, transforms, &orbit) {
            Ok(words) => {
                let body = self.tight(inner)?;
                Ok(if words.is_empty() { body } else { format!("{} {body}", words.join(" ")) })
            }
            Err(reason) => self.write_out(&orbit, reason),
        }
    }

    /// Writes the copies (transformed filters) of a CQL 5 position list as alternatives. `reason` tells why no CQL 6 transform
    /// makes these copies.
    fn write_out(&mut self, orbit: &Orbit, reason: String) -> Result<String, Diagnostic> {
        let copies = leaves(orbit);
        let before: usize = self.written_out.iter().map(|list| list.copies).sum();
        if before + copies > self.copies_max {
            return Err(Diagnostic::error(
                orbit.span,
                "this list has no transform of CQL 6 that makes its copies",
                reason,
            )
            .help(format!(
                "written out one by one these are {copies} copies, and the limit is {}: raise it with `--copies`",
                self.copies_max
            )));
        }
        self.written_out.push(WrittenOut { span: orbit.span, copies, reason });
        let choices = orbit.copies.iter().map(|copy| {
            let text = written(&copy.filter);
            if copy.filter.node().is_braces() { text } else { format!("({text})") }
        });
        Ok(choices.collect::<Vec<_>>().join(" or "))
    }
}

/// Returns the number of copies in an orbit (the list of copies that a transform makes). The copies of nested orbits are counted
/// separately.
fn leaves<F: Kind<Expanded>>(orbit: &Orbit<F>) -> usize {
    fn nested(filter: FilterRef) -> usize {
        match filter {
            Ref::Condition(f) if let ConditionOp::Form(orbit) = f.op() => leaves(orbit),
            _ => filter.children().into_iter().map(nested).sum(),
        }
    }
    orbit.copies.iter().map(|copy| nested(copy.filter.node()).max(1)).sum()
}

/// Returns the CQL 6 keywords that make the same copies of the contents of a position list as the list's own CQL 5 transforms, or
/// the reason why there are none.
fn as_transforms(
    inner: &Node,
    transforms: &[ListTransform],
    orbit: &Orbit,
) -> Result<Vec<&'static str>, String> {
    let structures = |copies: &[Copy]| copies.iter().map(|copy| structure(copy.filter.node())).collect();
    let wanted: HashSet<Vec<u64>> = structures(&orbit.copies);
    if let (1, false, Ok(plain)) = (wanted.len(), holds_lists(inner), expand(inner))
        && wanted.contains(&structure(plain.node()))
        && !holds_counts(inner)
    {
        return Ok(Vec::new());
    }
    if holds_lists(inner) {
        return Err("lists with transforms of their own stand in it".into());
    }
    if holds_counts(inner) {
        return Err(
            "CQL 6 counts attacks and lines by sums of directions, which transforms would turn".into()
        );
    }
    let keywords: Vec<(TransformKind, &str)> =
        transforms.iter().map(|&transform| keyword(transform)).collect::<Result<_, _>>()?;
    // The swap of colours is applied last.
    let (mut colors, others): (Vec<_>, Vec<_>) =
        keywords.into_iter().partition(|(kind, _)| *kind == TransformKind::FlipColor);
    colors.extend(others);
    let mut query = inner.clone();
    for &(kind, _) in colors.iter().rev() {
        let op = ConditionOp::Form(ConditionKeyword::Transform(kind, query));
        query = tree::Condition::new(op, orbit.span).into();
    }
    let made: HashSet<Vec<u64>> = match expand(&query).ok().and_then(|filter| filter.outermost()) {
        Some(made) => structures(&made.copies),
        None => return Err("CQL 6 refuses the transforms".into()),
    };
    if made == wanted {
        return Ok(colors.into_iter().map(|(_, word)| word).collect());
    }
    let left_behind = orbit.copies.iter().any(|copy| copy.placement.smeared);
    Err(match left_behind {
        true => "squares at the edge stay behind, and CQL 6 has no such shift".into(),
        false => "in CQL 6 these transforms make other copies".into(),
    })
}

fn holds_lists(node: &Node) -> bool {
    node.any(|node| {
        matches!(node, Ref::Condition(f) if matches!(f.op(), ConditionOp::Form(ConditionKeyword::Lists(..))))
    })
}

fn holds_counts(node: &Node) -> bool {
    node.any(|node| {
        matches!(node, Ref::Number(f) if matches!(f.op(), NumberOp::AttackCount(..) | NumberOp::RayCount { .. }))
    })
}

/// Returns the CQL 6 keyword that corresponds to a CQL 5 transform, or the reason why there is none. The keyword may still make
/// other copies than the transform.
fn keyword(transform: ListTransform) -> Result<(TransformKind, &'static str), String> {
    let none = |word: &str| Err(format!("CQL 6 has no `{word}`"));
    Ok(match transform {
        ListTransform::Flip => (TransformKind::Flip, "flip"),
        ListTransform::FlipHorizontal => (TransformKind::FlipHorizontal, "fliphorizontal"),
        ListTransform::FlipVertical => (TransformKind::FlipVertical, "flipvertical"),
        ListTransform::FlipColor => (TransformKind::FlipColor, "flipcolor"),
        ListTransform::Shift => (TransformKind::Shift, "shift"),
        ListTransform::ShiftHorizontal => (TransformKind::ShiftHorizontal, "shifthorizontal"),
        ListTransform::ShiftVertical => (TransformKind::ShiftVertical, "shiftvertical"),
        ListTransform::FlipDiagonal => return none("flipdiagonal"),
        ListTransform::FlipOffDiagonal => return none("flipoffdiagonal"),
        ListTransform::ShiftMainDiagonal => return none("shiftmaindiagonal"),
        ListTransform::ShiftOffDiagonal => return none("shiftoffdiagonal"),
        ListTransform::ShiftDiagonal => return none("shiftdiagonal"),
    })
}

/// Returns a filter with expanded transforms as CQL 6 text, in which the copies of each transform are written as alternatives.
fn written(filter: &Filter) -> String {
    let Ok(filter) = Explicit.any(filter);
    AsText(&filter).to_string()
}

/// A rewriter that replaces each transform by its copies, written as alternatives. Counts that CQL 6 cannot express become sums of
/// counts that it can express.
struct Explicit;

impl Explicit {
    fn orbit<F: Kind<Expanded, In<Expanded> = F>>(
        &mut self,
        orbit: &Orbit<F>,
    ) -> Result<Orbit<F>, Infallible> {
        let copies = orbit
            .copies
            .iter()
            .map(|copy| copy.filter.rewritten(self).map(|filter| Copy::new(copy.placement, filter)));
        let copies = copies.collect::<Result<_, Infallible>>()?;
        Ok(Orbit { copies, base: orbit.base.clone(), ..*orbit })
    }
}

impl Rewrite<Expanded, Expanded> for Explicit {
    type Stop = Infallible;

    fn mark(&mut self, _: &bool) -> bool {
        false
    }

    fn number(&mut self, filter: &Number) -> Result<Number, Infallible> {
        Ok(match filter.op() {
            NumberOp::AttackCount(x, y) => attack_count(x, y),
            NumberOp::RayCount { dirs, attack, sets } => ray_count(sets, *dirs, *attack),
            _ => return rewrite::number(filter, self),
        })
    }

    fn of_condition(&mut self, orbit: &Orbit, _: &bool) -> Result<Condition, Infallible> {
        let copies = orbit.copies.iter().map(|copy| self.any(&copy.filter));
        Ok(any_of(&copies.collect::<Result<Vec<_>, _>>()?))
    }

    fn of_squares(&mut self, orbit: &Orbit<Squares>, _: &bool) -> Result<Squares, Infallible> {
        Ok(Squares::new(SquaresOp::Form(self.orbit(orbit)?), false))
    }

    fn of_number(&mut self, orbit: &NumberOrbit, _: &bool) -> Result<Number, Infallible> {
        let orbit = match orbit {
            NumberOrbit::Largest(orbit) => NumberOrbit::Largest(self.orbit(orbit)?),
            NumberOrbit::Counted(counted, orbit) => NumberOrbit::Counted(*counted, self.orbit(orbit)?),
        };
        Ok(Number::new(NumberOp::Form(orbit), false))
    }

    fn of_text(&mut self, part: &Infallible, _: &bool) -> Result<Text, Infallible> {
        match *part {}
    }

    fn of_position(&mut self, part: &Infallible, _: &bool) -> Result<Position, Infallible> {
        match *part {}
    }
}

fn new(op: SquaresOp<Expanded>) -> Squares {
    Squares::new(op, false)
}

fn any_of(choices: &[Filter]) -> Condition {
    let op = match choices {
        [] => ConditionOp::Bool(false),
        [Any::Condition(one)] => return one.clone(),
        [one] => ConditionOp::Braces(vec![one.clone()]),
        several => {
            let (left, right) = several.split_at(several.len().div_ceil(2));
            ConditionOp::Or(choice(left), choice(right))
        }
    };
    Condition::new(op, false)
}

fn choice(choices: &[Filter]) -> Filter {
    match choices {
        [one] => one.clone(),
        several => any_of(several).into(),
    }
}

fn sum_of(numbers: &[Number]) -> Number {
    let op = match numbers {
        [] => NumberOp::Int(0),
        [one] => return one.clone(),
        several => {
            let (left, right) = several.split_at(several.len().div_ceil(2));
            NumberOp::Arith(Arith::Add, sum_of(left), sum_of(right))
        }
    };
    Number::new(op, false)
}

fn count(set: Squares) -> Number {
    Number::new(NumberOp::Cardinality(set), false)
}

fn is_one_square(set: &Squares) -> bool {
    matches!(set.op(), SquaresOp::Designator { squares, .. } if squares.single_square().is_some())
}

/// Returns a set restricted to the squares whose content is in `contents`. Returns `None` if no content is left for a designator.
fn restricted(set: &Squares, contents: PieceSet) -> Option<Squares> {
    let SquaresOp::Designator { pieces, squares } = set.op() else {
        let those = new(SquaresOp::Designator { pieces: Pieces::listed(contents), squares: Bitboard::FULL });
        return Some(new(SquaresOp::Intersect(set.clone(), those)));
    };
    let list = PieceSet(pieces.accepts().0 & contents.0);
    (list != PieceSet::NONE).then(|| {
        let pieces = if list == pieces.accepts() { *pieces } else { Pieces::listed(list) };
        new(SquaresOp::Designator { pieces, squares: *squares })
    })
}

/// Returns a filter for the number of attacks: pairs of a square in `x` and a square in `y` that the piece on the first square
/// attacks. The filter is a sum over the directions and steps in which pieces move. No pair is counted twice, since two pieces
/// never reach the same square in the same direction or by the same step.
fn attack_count(x: &Squares, y: &Squares) -> Number {
    if is_one_square(y) {
        return count(new(SquaresOp::Attacks(x.clone(), y.clone())));
    }
    if is_one_square(x) {
        return count(new(SquaresOp::AttackedBy(y.clone(), x.clone())));
    }
    let mut numbers = Vec::new();
    let step = |of: Squares, dir: u8, far: i8| {
        new(SquaresOp::Direction { dirs: Dirs(1 << dir), lo: far, hi: far, of })
    };
    let mut reached = |set: Squares| numbers.push(count(new(SquaresOp::Intersect(set, y.clone()))));
    let roles = |roles: &[u8]| contents_where(|code| roles.contains(&(code.0 & 7)));
    if let Some(knights) = restricted(x, roles(&[2])) {
        for (across, along) in [(0, 2), (0, 6), (4, 2), (4, 6)] {
            reached(step(step(knights.clone(), along, 2), across, 1));
            reached(step(step(knights.clone(), along, 1), across, 2));
        }
    }
    if let Some(kings) = restricted(x, roles(&[6])) {
        (0..8).for_each(|dir| reached(step(kings.clone(), dir, 1)));
    }
    for (pawn, dirs) in [(1, [1, 3]), (9, [5, 7])] {
        if let Some(pawns) = restricted(x, PieceSet::only(Code(pawn))) {
            dirs.into_iter().for_each(|dir| reached(step(pawns.clone(), dir, 1)));
        }
    }
    for dir in 0..8u8 {
        let sliders = if dir % 2 == 0 { [4, 5] } else { [3, 5] };
        if let Some(sliders) = restricted(x, roles(&sliders)) {
            let sets = OneOrMore { first: sliders, rest: vec![y.clone()] };
            numbers.push(count(new(SquaresOp::Ray { dirs: Dirs(1 << dir), attack: true, sets })));
        }
    }
    sum_of(&numbers)
}

/// Returns a filter for the number of lines of squares that `:ray` counts. The filter is a sum over directions. In each direction,
/// at most one line ends on each square of the last set.
fn ray_count(sets: &OneOrMore<Squares>, dirs: Dirs, attack: bool) -> Number {
    let occupied = PieceSet::WHITE.union(PieceSet::BLACK);
    let Ok(sets) = sets.try_map(|set| restricted(set, occupied).ok_or(())) else {
        return Number::new(NumberOp::Int(0), false);
    };
    let ways = (0..8).filter(|dir| dirs.0 >> dir & 1 != 0);
    let ways =
        ways.map(|dir| count(new(SquaresOp::Ray { dirs: Dirs(1 << dir), attack, sets: sets.clone() })));
    sum_of(&ways.collect::<Vec<_>>())
}
