//! From a typed tree with transforms in it to one in which every transform is the list of its
//! distinct copies: its orbit.
//!
//! Copies are counted here, before anything is simplified: "distinct" is a matter of structure, and
//! `flip (a1|h8)` has four copies where `flip [a1,h8]` has two. A copy remembers by which
//! [`Placement`] it came from the filter as written, so that a plan can treat all shifts of one
//! filter together.
//!
//! Source: CQL 6.2, transform filters. The transforms of CQL 5 lists are in `lists`.

mod anchor;
mod convert;
mod lists;
mod pattern;
mod text;
mod warnings;

use std::collections::HashSet;

use shakmaty::{Bitboard, Color};

use crate::{
    board::{self, Code, Dihedral, PieceSet},
    diagnostic::{Diagnostic, Span},
    query::{
        Node, Op, Type,
        tree::{Dirs, GameResult, Pieces, Tally, TransformKind},
    },
};

pub use anchor::{Anchors, anchors};
pub use convert::{Converted, WrittenOut, to_cql6};
use lists::{Composite, expand_list};
pub use pattern::{Pattern, matched, pattern};
pub use text::{AsText, small_board};
pub use warnings::warnings;

/// The largest number of copies of one transform, nested ones included.
pub const COPIES_MAX: usize = 100_000;

/// A filter whose transforms are expanded.
#[derive(Clone, Debug)]
pub enum Filter {
    /// Any filter but a transform.
    Plain(Plain),
    /// A transform.
    Orbit(Orbit),
}

/// A filter that is no transform; `op` is never [`Op::Transform`], [`Op::ListTransforms`] or
/// [`Op::NoTransform`].
#[derive(Clone, Debug)]
pub struct Plain {
    /// What it does.
    pub op: Op,
    /// The type of its value.
    pub ty: Type,
    /// Its operands.
    pub args: Vec<Filter>,
    /// Set under `notransform`: outer transforms leave it alone.
    pub fixed: bool,
}

/// The distinct copies of a filter.
#[derive(Clone, Debug)]
pub struct Orbit {
    /// What becomes of the copies' values.
    pub tally: Tally,
    /// The type of the orbit's value.
    pub ty: Type,
    /// The filter as written, inner transforms expanded.
    pub base: Box<Filter>,
    /// The copies, in order of declaration, each the first of its kind. May be empty.
    pub copies: Vec<Copy>,
    /// Copies before empty ones and repetitions were dropped.
    pub elements: usize,
    /// Set under `notransform`: outer transforms leave it alone. Its copies are not marked.
    pub fixed: bool,
    /// Where the transform stands in the query.
    pub span: Span,
}

/// One distinct copy.
#[derive(Clone, Debug)]
pub struct Copy {
    /// How it came from the base.
    pub placement: Placement,
    /// The transformed filter.
    pub filter: Filter,
}

/// A composition of transforms: first a turn or reflection, colours and directions, then a shift.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Placement {
    /// The symmetry of the board (a colour swap includes [`Dihedral::ReflectRanks`]).
    pub dihedral: Dihedral,
    /// Whether White and Black change places.
    pub swap_colors: bool,
    /// By how many eighths of a turn `rotate45` turns directions.
    pub turn45: u8,
    /// The shift (files, ranks), or `None` where shifts were composed in a way that is no single
    /// shift, because squares were lost on the way out and back.
    pub shift: Option<(i8, i8)>,
    /// Whether squares at the edge stayed behind, as in the shifts of CQL 5, so that the shift of CQL 6
    /// makes another copy.
    pub smeared: bool,
}

impl Placement {
    /// The filter as written.
    pub const IDENTITY: Placement = Placement {
        dihedral: Dihedral::Identity,
        swap_colors: false,
        turn45: 0,
        shift: Some((0, 0)),
        smeared: false,
    };

    /// The shift of CQL 6 that makes the copy from the unshifted filter, if there is one.
    pub fn plain_shift(self) -> Option<(i8, i8)> {
        self.shift.filter(|_| !self.smeared)
    }

    /// The same without its shift.
    #[must_use]
    pub fn unshifted(self) -> Placement {
        Placement { shift: Some((0, 0)), smeared: false, ..self }
    }

    /// The turn or reflection alone, without the one that belongs to a colour swap.
    pub fn turned(self) -> Dihedral {
        if self.swap_colors { self.dihedral.after(Dihedral::ReflectRanks) } else { self.dihedral }
    }

    fn then(self, basic: Basic) -> Placement {
        match basic {
            Basic::Symmetry(d) => {
                Placement { dihedral: d.after(self.dihedral), shift: self.shift.map(|v| d.step(v)), ..self }
            }
            Basic::Colors => {
                let swapped = Placement { swap_colors: !self.swap_colors, ..self };
                swapped.then(Basic::Symmetry(Dihedral::ReflectRanks))
            }
            Basic::Turn45(k) => Placement { turn45: (self.turn45 + k) % 8, ..self },
            Basic::Shift(v) => Placement { shift: self.shift.and_then(|old| compose_shifts(old, v)), ..self },
            Basic::Composite(Composite { placement, .. }) => {
                let turned = Placement { swap_colors: self.swap_colors != placement.swap_colors, ..self };
                let turned = turned.then(Basic::Symmetry(placement.dihedral));
                let shift = turned.shift.zip(placement.shift).and_then(|(a, b)| compose_shifts(a, b));
                Placement { shift, ..turned }
            }
        }
    }
}

/// Shifts along one axis add up only if they go the same way.
fn compose_shifts(a: (i8, i8), b: (i8, i8)) -> Option<(i8, i8)> {
    let axis = |a: i8, b: i8| (a.signum() * b.signum() >= 0 && (a + b).abs() <= 7).then_some(a + b);
    Some((axis(a.0, b.0)?, axis(a.1, b.1)?))
}

impl Orbit {
    /// The filter as written, transformed by all of a placement but its shift.
    pub fn unshifted(&self, placement: Placement) -> Filter {
        let mut filter = (*self.base).clone();
        let mut dihedral = placement.dihedral;
        if placement.swap_colors {
            apply(&mut filter, Basic::Colors);
            dihedral = dihedral.after(Dihedral::ReflectRanks);
        }
        apply(&mut filter, Basic::Turn45(placement.turn45));
        apply(&mut filter, Basic::Symmetry(dihedral));
        filter
    }
}

impl Filter {
    /// The outermost transform, if there is one: `notransform` around it hides it.
    pub fn outermost(&self) -> Option<&Orbit> {
        match self {
            Filter::Orbit(orbit) if !orbit.fixed => Some(orbit),
            _ => None,
        }
    }

    /// Whether every hit is a match of the outermost transform's only copy, or there is no such transform. Where copies
    /// are counted there are hits at which none matches.
    pub fn has_one_copy(&self) -> bool {
        self.outermost().is_none_or(|orbit| orbit.copies.len() == 1 && orbit.tally == Tally::Any)
    }

    /// Calls `visit` on every plain filter, parents first, the copies of nested orbits in order.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Plain)) {
        match self {
            Filter::Plain(plain) => {
                visit(plain);
                plain.args.iter().for_each(|arg| arg.walk(visit));
            }
            Filter::Orbit(orbit) => orbit.copies.iter().for_each(|copy| copy.filter.walk(visit)),
        }
    }

    /// Calls `visit` on every plain filter that outer transforms change, as [`Filter::walk`] does.
    pub fn walk_unshielded<'a>(&'a self, visit: &mut dyn FnMut(&'a Plain)) {
        match self {
            Filter::Plain(plain) if plain.fixed => {}
            Filter::Plain(plain) => {
                visit(plain);
                plain.args.iter().for_each(|arg| arg.walk_unshielded(visit));
            }
            Filter::Orbit(orbit) if orbit.fixed => {}
            Filter::Orbit(orbit) => orbit.copies.iter().for_each(|copy| copy.filter.walk_unshielded(visit)),
        }
    }

    /// Whether any plain filter in it, nested copies included, passes a test.
    pub fn any(&self, mut test: impl FnMut(&Plain) -> bool) -> bool {
        let mut hit = false;
        self.walk(&mut |plain| hit |= test(plain));
        hit
    }
}

/// What one transform keyword does to a filter in one of its elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Basic {
    Symmetry(Dihedral),
    Colors,
    Turn45(u8),
    Shift((i8, i8)),
    Composite(Composite),
}

fn elements(kind: TransformKind) -> Vec<Basic> {
    use Dihedral::*;
    let symmetries = |list: &[Dihedral]| list.iter().copied().map(Basic::Symmetry).collect();
    match kind {
        TransformKind::Flip => symmetries(&Dihedral::ALL),
        TransformKind::FlipVertical => symmetries(&[Identity, ReflectFiles]),
        TransformKind::FlipHorizontal => symmetries(&[Identity, ReflectRanks]),
        TransformKind::Rotate90 => symmetries(&[Identity, Rotate90Ccw, Rotate180, Rotate270Ccw]),
        TransformKind::Rotate45 => (0..8).map(Basic::Turn45).collect(),
        TransformKind::FlipColor => vec![Basic::Symmetry(Identity), Basic::Colors],
        TransformKind::ReverseColor => vec![Basic::Colors],
        TransformKind::Shift => shifts(-7..=7, -7..=7),
        TransformKind::ShiftHorizontal => shifts(-7..=7, 0..=0),
        TransformKind::ShiftVertical => shifts(0..=0, -7..=7),
    }
}

/// Ascending, files before ranks.
fn shifts(files: std::ops::RangeInclusive<i8>, ranks: std::ops::RangeInclusive<i8>) -> Vec<Basic> {
    files.flat_map(|dx| ranks.clone().map(move |dy| Basic::Shift((dx, dy)))).collect()
}

/// Expands every transform of a typed tree.
///
/// # Errors
///
/// `rotate45` around a designator that is not the whole board or around `light`/`dark`; more than
/// [`COPIES_MAX`] copies.
pub fn expand(node: &Node) -> Result<Filter, Diagnostic> {
    match &node.op {
        Op::NoTransform => {
            let mut filter = expand(&node.args[0])?;
            shield(&mut filter);
            Ok(filter)
        }
        Op::Transform(kind, tally) => expand_transform(node, *kind, *tally),
        Op::ListTransforms(transforms) => expand_list(node, transforms),
        op => {
            let args = node.args.iter().map(expand).collect::<Result<_, _>>()?;
            Ok(Filter::Plain(Plain { op: op.clone(), ty: node.ty, args, fixed: false }))
        }
    }
}

/// Puts a filter under `notransform`. Transforms inside it have done their work by now.
fn shield(filter: &mut Filter) {
    match filter {
        Filter::Plain(plain) => {
            plain.fixed = true;
            plain.args.iter_mut().for_each(shield);
        }
        Filter::Orbit(orbit) => orbit.fixed = true,
    }
}

fn expand_transform(node: &Node, kind: TransformKind, tally: Tally) -> Result<Filter, Diagnostic> {
    // Directly nested transforms fuse as long as the outer one has neither count nor range.
    let (mut kinds, mut tally, mut inner) = (vec![kind], tally, &node.args[0]);
    while let (Tally::Any, Op::Transform(next, next_tally)) = (tally, &inner.op) {
        kinds.push(*next);
        tally = *next_tally;
        inner = &inner.args[0];
    }
    if let Some(span) = kinds.contains(&TransformKind::Rotate45).then(|| turn45_obstacle(inner)).flatten() {
        return Err(Diagnostic::error(
            span,
            "`rotate45` turns directions only",
            "squares and square colours have no image under 45 degrees",
        ));
    }
    let base = expand(inner)?;
    let sequences = products(&kinds);
    if sequences.len().saturating_mul(size(&base)) > COPIES_MAX * 16 || sequences.len() > COPIES_MAX {
        let more = if sequences.len() > COPIES_MAX { "more than " } else { "" };
        let count = sequences.len().min(COPIES_MAX);
        return Err(Diagnostic::error(
            node.span,
            format!("this orbit has {more}{count} copies to make"),
            "nest fewer transforms, or transform less at once",
        ));
    }
    let mut orbit = Orbit {
        tally,
        ty: node.ty,
        base: Box::new(base.clone()),
        copies: Vec::new(),
        elements: sequences.len(),
        fixed: false,
        span: node.span,
    };
    for sequence in &sequences {
        let mut copy = Copy { placement: Placement::IDENTITY, filter: base.clone() };
        let alive = sequence.iter().rev().all(|&basic| {
            copy.placement = copy.placement.then(basic);
            apply(&mut copy.filter, basic)
        });
        if alive {
            orbit.copies.push(copy);
        }
    }
    drop_repetitions(&mut orbit.copies);
    Ok(Filter::Orbit(orbit))
}

/// All ways to take one element of each transform; each sequence has the outermost first.
fn products(kinds: &[TransformKind]) -> Vec<Vec<Basic>> {
    let mut sequences: Vec<Vec<Basic>> = vec![vec![]];
    for &kind in kinds {
        let basics = elements(kind);
        if sequences.len().saturating_mul(basics.len()) > COPIES_MAX {
            // The caller reports the number; its exact size does not matter.
            sequences.resize(COPIES_MAX + 1, vec![]);
            return sequences;
        }
        sequences = sequences
            .iter()
            .flat_map(|head| basics.iter().map(move |&b| head.iter().copied().chain([b]).collect()))
            .collect();
    }
    sequences
}

fn size(filter: &Filter) -> usize {
    match filter {
        Filter::Plain(plain) => 1 + plain.args.iter().map(size).sum::<usize>(),
        Filter::Orbit(orbit) => 1 + orbit.copies.iter().map(|copy| size(&copy.filter)).sum::<usize>(),
    }
}

/// The first thing in a filter that `rotate45` cannot turn.
fn turn45_obstacle(node: &Node) -> Option<Span> {
    match &node.op {
        Op::NoTransform => None,
        Op::Designator { squares, .. } if *squares != Bitboard::FULL => Some(node.span),
        Op::Shade { .. } => Some(node.span),
        _ => node.args.iter().find_map(turn45_obstacle),
    }
}

/// Transforms a filter in place. `false`: a designator lost its last square, or a nested orbit its
/// last copy, and with it the whole copy is gone.
fn apply(filter: &mut Filter, basic: Basic) -> bool {
    match filter {
        Filter::Plain(plain) if plain.fixed => true,
        Filter::Plain(plain) => {
            apply_member(&mut plain.op, basic) && plain.args.iter_mut().all(|arg| apply(arg, basic))
        }
        Filter::Orbit(orbit) if orbit.fixed => true,
        Filter::Orbit(orbit) => {
            orbit.copies.retain_mut(|copy| {
                copy.placement = copy.placement.then(basic);
                // Whether squares stayed behind is not asked for nested copies.
                copy.placement.smeared |= matches!(basic, Basic::Composite(_));
                apply(&mut copy.filter, basic)
            });
            drop_repetitions(&mut orbit.copies);
            !orbit.copies.is_empty()
        }
    }
}

/// Transforms what a node itself holds.
fn apply_member(op: &mut Op, basic: Basic) -> bool {
    if let Op::Designator { pieces, squares } = op {
        match basic {
            Basic::Symmetry(d) => *squares = d.apply(*squares),
            Basic::Shift(v) => *squares = board::shift(*squares, v),
            Basic::Colors => {
                *pieces = swap_pieces(*pieces);
                *squares = Dihedral::ReflectRanks.apply(*squares);
            }
            Basic::Turn45(_) => {}
            Basic::Composite(composite) => {
                *squares = composite.map.apply(*squares);
                if composite.placement.swap_colors {
                    *pieces = swap_pieces(*pieces);
                }
            }
        }
        return squares.any();
    }
    match basic {
        Basic::Symmetry(d) => apply_symmetry(op, d),
        Basic::Turn45(k) => {
            if let Op::Direction { dirs, .. } | Op::DirectionWithin { dirs } | Op::Ray { dirs, .. } = op {
                *dirs = Dirs(dirs.0.rotate_left(u32::from(k)));
            }
        }
        Basic::Shift((dx, dy)) => {
            if let Op::Shade { light } = op {
                *light ^= (dx + dy) % 2 != 0;
            }
        }
        Basic::Colors => {
            apply_symmetry(op, Dihedral::ReflectRanks);
            apply_colors(op);
        }
        // CQL 5 has no directions and no square colours.
        Basic::Composite(composite) if composite.placement.swap_colors => apply_colors(op),
        Basic::Composite(_) => {}
    }
    true
}

fn apply_symmetry(op: &mut Op, d: Dihedral) {
    match op {
        Op::Direction { dirs, .. } | Op::DirectionWithin { dirs } | Op::Ray { dirs, .. } => {
            let images = dirs.steps().map(|step| d.step(step));
            *dirs = Dirs(images.fold(0, |out, step| {
                let index = Dirs::STEPS.iter().position(|&s| s == step);
                out | 1 << index.expect("a symmetry maps the eight steps to themselves")
            }));
        }
        Op::Shade { light } => *light ^= d.swaps_shades(),
        _ => {}
    }
}

fn apply_colors(op: &mut Op) {
    match op {
        Op::ToMove(color) | Op::ColorValue(color) => *color = !*color,
        Op::Elo(Some(color)) | Op::Player(Some(color)) => *color = !*color,
        Op::Result(result) => {
            *result = match result {
                GameResult::WhiteWins => GameResult::BlackWins,
                GameResult::BlackWins => GameResult::WhiteWins,
                GameResult::Draw => GameResult::Draw,
            }
        }
        Op::Tag(name) => match name.as_str() {
            "White" => *name = "Black".into(),
            "Black" => *name = "White".into(),
            _ => {}
        },
        _ => {}
    }
}

fn swap_pieces(pieces: Pieces) -> Pieces {
    let mut list = PieceSet::NONE;
    for code in (0..15).map(Code).filter(|&code| pieces.list.contains(code)) {
        let swapped = if code == Code::EMPTY { code } else { Code(code.0 ^ 8) };
        list = list.union(PieceSet::only(swapped));
    }
    Pieces { all_white: pieces.all_black, all_black: pieces.all_white, list }
}

/// Keeps the first copy of every structure.
fn drop_repetitions(copies: &mut Vec<Copy>) {
    let mut seen = HashSet::new();
    copies.retain(|copy| seen.insert(structure(&copy.filter)));
}

/// What tells two copies of one filter apart: their transformable members in child order, nested
/// orbits as sorted lists. All else is the same by construction.
fn structure(filter: &Filter) -> Vec<u64> {
    let mut out = Vec::new();
    write_structure(filter, &mut out);
    out
}

fn write_structure(filter: &Filter, out: &mut Vec<u64>) {
    match filter {
        Filter::Plain(plain) => {
            out.extend(member(&plain.op).into_iter().flatten());
            for arg in &plain.args {
                write_structure(arg, out);
            }
        }
        Filter::Orbit(orbit) => {
            let mut members: Vec<_> = orbit.copies.iter().map(|copy| structure(&copy.filter)).collect();
            members.sort_unstable();
            out.push(members.len() as u64);
            for member in members {
                out.push(member.len() as u64);
                out.extend(member);
            }
        }
    }
}

/// The transformable member of an operation, if it has one.
pub(crate) fn member(op: &Op) -> Option<Vec<u64>> {
    let color = |c: Color| c as u64;
    Some(match op {
        Op::Designator { pieces, squares } => vec![
            squares.0,
            u64::from(pieces.all_white) | u64::from(pieces.all_black) << 1 | u64::from(pieces.list.0) << 2,
        ],
        Op::Direction { dirs, .. } | Op::DirectionWithin { dirs } | Op::Ray { dirs, .. } => {
            vec![u64::from(dirs.0)]
        }
        Op::Shade { light } => vec![u64::from(*light)],
        Op::ToMove(c) | Op::ColorValue(c) => vec![color(*c)],
        Op::Elo(c) | Op::Player(c) => vec![c.map_or(2, color)],
        Op::Result(r) => vec![*r as u64],
        Op::Tag(name) => vec![match name.as_str() {
            "White" => 0,
            "Black" => 1,
            _ => 2,
        }],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse;

    fn copies(text: &str) -> usize {
        match expand(&parse(text).unwrap().query.body).unwrap() {
            Filter::Orbit(orbit) => orbit.copies.len(),
            Filter::Plain(_) => panic!("{text} is no transform"),
        }
    }

    #[test]
    fn orbit_sizes_of_the_specification() {
        for (text, size) in [
            ("shift a1", 64),
            ("shift {a1 a8}", 8),
            ("shifthorizontal {Ka1 kg1}", 2),
            ("shift a1-8", 8),
            ("shift a-h2", 8),
            ("shift [a-h2,c4]", 72),
            ("shift {[a-h2,c4] a1-8}", 76),
            ("shifthorizontal [a-h2,c4]", 9),
            ("shift .", 1),
            ("shift {Nd4 kf3}", 42),
            ("shift flip {Nd4 kf3}", 336),
            ("shift flip flipcolor {Nd4 kf3}", 672),
            ("shift {P[a2,b2,c2] p[a3]}", 56),
            ("shift shift count {[a-b8,a-h3-5,c1]}", 454),
            ("flip [a1,h8]", 2),
            ("flip (a1|h8)", 4),
            ("flip {a1 h8}", 4),
            ("flip R", 1),
            ("flipcolor a4", 2),
            ("flipcolor [Rr]", 1),
            ("flipcolor A", 2),
            ("reversecolor Ra1", 1),
            ("rotate45 up 1 K", 8),
            ("shift flip count Ra1", 64),
            ("flip count shift Ra1", 1),
        ] {
            assert_eq!(copies(text), size, "{text}");
        }
    }

    #[test]
    fn rotate45_refuses_squares() {
        for text in ["rotate45 Ra1", "rotate45 light .", "rotate45 flip {up K a1-4}"] {
            let error = expand(&parse(text).unwrap().query.body).unwrap_err();
            assert!(error.message.contains("rotate45"), "{text}");
        }
        assert_eq!(copies("rotate45 count a-h1-8"), 1);
    }
}
