//! Lists of CQL 5 as queries of CQL 6.
//!
//! Transforms stay transforms where those of CQL 6 make the same copies, which is compared copy by copy.
//! Where squares at the edge stay behind, or where CQL 6 has no such transform, the copies are written out.

use std::collections::HashSet;

use shakmaty::Bitboard;

use super::{AsText, Filter, Orbit, Plain, expand, structure};
use crate::{
    board::{Code, PieceSet},
    diagnostic::{Diagnostic, Span},
    query::{
        Node, Op, Query, Type,
        tree::{Arith, Dirs, ListTransform, Pieces, Tally, TransformKind},
    },
};

/// A list of CQL 5 in CQL 6.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Converted {
    /// The query of CQL 6, which matches where the list does.
    pub text: String,
    /// The transforms that had to be written out: where they stand in the list, in how many copies, and why.
    pub written_out: Vec<WrittenOut>,
}

/// A list whose copies are written out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenOut {
    /// Where the list stands.
    pub span: Span,
    /// How many copies it has.
    pub copies: usize,
    /// Why no transform of CQL 6 makes them.
    pub reason: String,
}

/// Writes a list of CQL 5 as CQL 6, with at most `copies_max` copies written out in all.
///
/// # Errors
///
/// Copies that CQL 6 has no transform for, if there are more; lists that cannot be expanded. Whether the text is
/// within the limits of length and depth that queries are read with is for [`crate::query::parse`] to say.
///
/// ```
/// use orbit_chess::{orbit::to_cql6, query::parse};
/// let query = parse("(position Nd4 kf3 :shift :flip)").unwrap().query;
/// assert_eq!(to_cql6(&query, 100).unwrap().text, "shift flip {Nd4 kf3}");
/// ```
pub fn to_cql6(query: &Query, copies_max: usize) -> Result<Converted, Diagnostic> {
    let mut converter = Converter { copies_max, written_out: Vec::new() };
    let text = converter.text(&query.body)?;
    Ok(Converted { text, written_out: converter.written_out })
}

struct Converter {
    copies_max: usize,
    written_out: Vec<WrittenOut>,
}

impl Converter {
    /// A filter that stands in no list with transforms.
    fn text(&mut self, node: &Node) -> Result<String, Diagnostic> {
        Ok(match &node.op {
            Op::ListTransforms(transforms) => self.list(node, transforms)?,
            Op::Compound => {
                let parts: Vec<String> =
                    node.args.iter().map(|arg| self.tight(arg)).collect::<Result<_, _>>()?;
                format!("{{{}}}", parts.join(" "))
            }
            Op::Or => format!("{} or {}", self.tight(&node.args[0])?, self.tight(&node.args[1])?),
            Op::Not => format!("not {}", self.tight(&node.args[0])?),
            _ => written(&expand(node)?),
        })
    }

    /// The same, in parentheses unless it is one word or bracketed already.
    fn tight(&mut self, node: &Node) -> Result<String, Diagnostic> {
        let text = self.text(node)?;
        let single = match &node.op {
            Op::Compound => true,
            Op::ListTransforms(_) | Op::Or | Op::Not => false,
            _ => node.args.is_empty(),
        };
        Ok(if single { text } else { format!("({text})") })
    }

    fn list(&mut self, node: &Node, transforms: &[ListTransform]) -> Result<String, Diagnostic> {
        let orbit = match expand(node)? {
            Filter::Orbit(orbit) => orbit,
            Filter::Plain(_) => unreachable!("a list with transforms is an orbit"),
        };
        if orbit.copies.is_empty() {
            // CQL 6 has no designator without squares that would remove a copy.
            return Ok("false".into());
        }
        match as_transforms(node, transforms, &orbit) {
            Ok((words, inner)) => {
                let body = self.tight(inner)?;
                Ok(if words.is_empty() { body } else { format!("{} {body}", words.join(" ")) })
            }
            Err(reason) => self.write_out(node, &orbit, reason),
        }
    }

    /// The copies, one or the other.
    fn write_out(&mut self, node: &Node, orbit: &Orbit, reason: String) -> Result<String, Diagnostic> {
        let copies = leaves(orbit);
        let before: usize = self.written_out.iter().map(|list| list.copies).sum();
        if before + copies > self.copies_max {
            return Err(Diagnostic::error(
                node.span,
                "this list has no transform of CQL 6 that makes its copies",
                reason,
            )
            .help(format!(
                "written out one by one they are {copies}; at most {} are, unless more are asked for with `--copies`",
                self.copies_max
            )));
        }
        self.written_out.push(WrittenOut { span: node.span, copies, reason });
        let choices = orbit.copies.iter().map(|copy| {
            let text = written(&copy.filter);
            let braced = matches!(&copy.filter, Filter::Plain(Plain { op: Op::Compound, .. }));
            if braced { text } else { format!("({text})") }
        });
        Ok(choices.collect::<Vec<_>>().join(" or "))
    }
}

/// The copies of an orbit, those of nested ones one by one.
fn leaves(orbit: &Orbit) -> usize {
    fn nested(filter: &Filter) -> usize {
        match filter {
            Filter::Orbit(orbit) => leaves(orbit),
            Filter::Plain(plain) => plain.args.iter().map(nested).sum(),
        }
    }
    orbit.copies.iter().map(|copy| nested(&copy.filter).max(1)).sum()
}

/// The keywords of CQL 6 that make the copies of a list, and the filter that they are applied to; or why
/// there are none.
fn as_transforms<'a>(
    node: &'a Node,
    transforms: &[ListTransform],
    orbit: &Orbit,
) -> Result<(Vec<&'static str>, &'a Node), String> {
    let inner = &node.args[0];
    let wanted: HashSet<Vec<u64>> = orbit.copies.iter().map(|copy| structure(&copy.filter)).collect();
    if let (1, false, Ok(plain)) = (wanted.len(), holds_lists(inner), expand(inner))
        && wanted.contains(&structure(&plain))
        && !holds_counts(inner)
    {
        return Ok((Vec::new(), inner));
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
    // Swapped colours come last.
    let (mut colors, others): (Vec<_>, Vec<_>) =
        keywords.into_iter().partition(|(kind, _)| *kind == TransformKind::FlipColor);
    colors.extend(others);
    let mut query = inner.clone();
    for &(kind, _) in colors.iter().rev() {
        query = Node::new(Op::Transform(kind, Tally::Any), Type::Bool, node.span, vec![query]);
    }
    let made: HashSet<Vec<u64>> = match expand(&query) {
        Ok(Filter::Orbit(made)) => made.copies.iter().map(|copy| structure(&copy.filter)).collect(),
        _ => return Err("CQL 6 refuses the transforms".into()),
    };
    if made == wanted {
        return Ok((colors.into_iter().map(|(_, word)| word).collect(), inner));
    }
    let left_behind = orbit.copies.iter().any(|copy| copy.placement.smeared);
    Err(match left_behind {
        true => "squares at the edge stay behind, and CQL 6 has no such shift".into(),
        false => "in CQL 6 these transforms make other copies".into(),
    })
}

fn holds_lists(node: &Node) -> bool {
    matches!(node.op, Op::ListTransforms(_)) || node.args.iter().any(holds_lists)
}

fn holds_counts(node: &Node) -> bool {
    matches!(node.op, Op::AttackCount | Op::RayCount { .. }) || node.args.iter().any(holds_counts)
}

/// The keyword of CQL 6 that may make the same copies.
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

/// An expanded filter as CQL 6, orbits as choices.
fn written(filter: &Filter) -> String {
    AsText(&explicit(filter)).to_string()
}

fn explicit(filter: &Filter) -> Filter {
    match filter {
        Filter::Orbit(orbit) => {
            any_of(orbit.copies.iter().map(|copy| explicit(&copy.filter)).collect::<Vec<_>>().as_slice())
        }
        Filter::Plain(plain) => {
            let args: Vec<Filter> = plain.args.iter().map(explicit).collect();
            match &plain.op {
                Op::AttackCount => attack_count(&args[0], &args[1]),
                Op::RayCount { dirs, attack } => ray_count(args, *dirs, *attack),
                op => new(op.clone(), plain.ty, args),
            }
        }
    }
}

fn new(op: Op, ty: Type, args: Vec<Filter>) -> Filter {
    Filter::Plain(Plain { op, ty, args, fixed: false })
}

fn any_of(choices: &[Filter]) -> Filter {
    match choices {
        [] => new(Op::Bool(false), Type::Bool, vec![]),
        [one] => one.clone(),
        several => {
            let (left, right) = several.split_at(several.len().div_ceil(2));
            new(Op::Or, Type::Bool, vec![any_of(left), any_of(right)])
        }
    }
}

fn sum_of(numbers: &[Filter]) -> Filter {
    match numbers {
        [] => new(Op::Int(0), Type::Num, vec![]),
        [one] => one.clone(),
        several => {
            let (left, right) = several.split_at(several.len().div_ceil(2));
            new(Op::Arith(Arith::Add), Type::Num, vec![sum_of(left), sum_of(right)])
        }
    }
}

fn count(set: Filter) -> Filter {
    new(Op::Cardinality, Type::Num, vec![set])
}

/// The pieces and squares of a designator: the arguments of the numbers of CQL 5.
fn parts(filter: &Filter) -> (Pieces, Bitboard) {
    match filter {
        Filter::Plain(Plain { op: Op::Designator { pieces, squares }, .. }) => (*pieces, *squares),
        _ => unreachable!("CQL 5 counts designators"),
    }
}

/// A designator cut with some contents; `None` if nothing is left.
fn restricted(filter: &Filter, contents: PieceSet) -> Option<Filter> {
    let (pieces, squares) = parts(filter);
    let list = PieceSet(pieces.accepts().0 & contents.0);
    (list != PieceSet::NONE).then(|| {
        let pieces = if list == pieces.accepts() {
            pieces
        } else {
            Pieces { all_white: false, all_black: false, list }
        };
        new(Op::Designator { pieces, squares }, Type::Set, vec![])
    })
}

/// The number of pairs as a sum over the ways in which pieces move: one way, no two pieces reach the same
/// square.
fn attack_count(x: &Filter, y: &Filter) -> Filter {
    if parts(y).1.single_square().is_some() {
        return count(new(Op::Attacks, Type::Set, vec![x.clone(), y.clone()]));
    }
    if parts(x).1.single_square().is_some() {
        return count(new(Op::AttackedBy, Type::Set, vec![y.clone(), x.clone()]));
    }
    let mut numbers = Vec::new();
    let step = |set: Filter, dir: u8, far: i8| {
        new(Op::Direction { dirs: Dirs(1 << dir), lo: far, hi: far }, Type::Set, vec![set])
    };
    let mut reached = |set: Filter| {
        numbers.push(count(new(Op::Intersect, Type::Set, vec![set, y.clone()])));
    };
    let roles = |roles: &[u8]| Op::contents_where(|code| roles.contains(&(code.0 & 7)));
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
            let ray = Op::Ray { dirs: Dirs(1 << dir), attack: true };
            numbers.push(count(new(ray, Type::Set, vec![sliders, y.clone()])));
        }
    }
    sum_of(&numbers)
}

/// The number of lines as a sum over directions: in one of them each last square ends one line at most.
fn ray_count(sets: Vec<Filter>, dirs: Dirs, attack: bool) -> Filter {
    let occupied = PieceSet::WHITE.union(PieceSet::BLACK);
    let sets: Option<Vec<Filter>> = sets.iter().map(|set| restricted(set, occupied)).collect();
    let Some(sets) = sets else { return new(Op::Int(0), Type::Num, vec![]) };
    let ways = (0..8).filter(|dir| dirs.0 >> dir & 1 != 0).map(|dir| {
        let ray = Op::Ray { dirs: Dirs(1 << dir), attack };
        count(new(ray, Type::Set, sets.clone()))
    });
    sum_of(&ways.collect::<Vec<_>>())
}
