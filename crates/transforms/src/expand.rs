//! Expands CQL 6 transforms to their copies. A copy is the image of a filter under one of the transformations for which a keyword
//! stands, such as one rotation.

use shakmaty::Bitboard;

use super::{
    COPIES_MAX, Condition, Copy, Expanded, Filter, KeywordTransform, Number, NumberOrbit, Orbit, Placement,
    Position, Squares, Text,
    apply::{FILTERS_MAX, apply, drop_repetitions, filters_in_memory, size},
    lists::list,
};
use orbit_core::{
    board::Dihedral,
    diagnostic::{Diagnostic, Span},
};
use orbit_query::{
    Node,
    tree::{
        Any, ConditionKeyword, ConditionOp, Keyword, Kind, NoTransform, NumberKeyword, NumberOp, Ref,
        Rewrite, SquaresOp, TransformKind, Written,
    },
};

/// Returns a typed tree with every transform expanded to its copies.
///
/// # Errors
///
/// Fails if `rotate45` is applied to a designator that is not the whole board, or to `light` or `dark`. Also fails if a transform
/// makes more than [`COPIES_MAX`] copies, or if its copies contain too many filters.
pub fn expand(node: &Node) -> Result<Filter, Diagnostic> {
    Expander::default().any(node)
}

#[derive(Default)]
struct Expander {
    /// True inside `notransform`. Transforms inside it are also expanded, but outer transforms do not change them.
    fixed: bool,
}

impl Expander {
    fn shielded<T>(&mut self, fixed: bool, inside: impl FnOnce(&mut Expander) -> T) -> T {
        let outer = std::mem::replace(&mut self.fixed, fixed);
        let out = inside(self);
        self.fixed = outer;
        out
    }

    /// Returns the operand of a transform with its inner transforms expanded.
    fn base<F: Kind<Written>>(&mut self, of: &F) -> Result<F::In<Expanded>, Diagnostic> {
        self.shielded(false, |expander| of.rewritten(expander))
    }

    /// Returns the orbit (the list of distinct copies) of a filter under nested transform keywords, the outermost keyword first.
    fn orbit<W, F>(&mut self, kinds: &[TransformKind], of: &W, span: Span) -> Result<Orbit<F>, Diagnostic>
    where
        W: Kind<Written, In<Expanded> = F>,
        F: Kind<Expanded, In<Expanded> = F>,
    {
        let turns = kinds.contains(&TransformKind::Rotate45);
        if let Some(span) = turns.then(|| turn45_obstacle(of.node())).flatten() {
            return Err(Diagnostic::error(
                span,
                "`rotate45` turns directions only",
                "squares and square colours have no image under 45 degrees",
            ));
        }
        let base = self.base(of)?;
        let elements = combinations(kinds);
        if elements.saturating_mul(size(base.node())) > COPIES_MAX * 16 || elements > COPIES_MAX {
            let more = if elements > COPIES_MAX { "more than " } else { "" };
            let count = elements.min(COPIES_MAX);
            return Err(Diagnostic::error(
                span,
                format!("this orbit has {more}{count} copies to make"),
                "nest fewer transforms, or transform less at once",
            ));
        }
        let filters = (elements + 1).saturating_mul(filters_in_memory(base.node()));
        if filters > FILTERS_MAX {
            return Err(Diagnostic::error(
                span,
                format!("the copies of this orbit need {filters} filters, and at most {FILTERS_MAX} fit"),
                "nest fewer transforms: `flipcolor A or flipcolor B` takes the second into every copy of the first, \
                 `(flipcolor A) or (flipcolor B)` does not",
            ));
        }
        let mut copies = copies(&base, kinds);
        drop_repetitions(&mut copies);
        Ok(Orbit { base, copies, elements, span })
    }
}

/// Returns the copies of a filter under nested keywords. Each keyword stands for several transformations, such as the eight of
/// `flip`, and there is one copy for each way to choose a transformation of each keyword. The last keyword is applied first, and
/// the transformation of the first keyword varies slowest. Copies in which a designator lost all its squares are left out.
fn copies<F: Kind<Expanded, In<Expanded> = F>>(base: &F, kinds: &[TransformKind]) -> Vec<Copy<F>> {
    let mut copies = vec![Copy::new(Placement::IDENTITY, base.clone())];
    for &kind in kinds.iter().rev() {
        // Each transformation for which this keyword stands is applied to every copy made by the keywords after it.
        let transformed = elements(kind).into_iter().flat_map(|basic| {
            let image = move |copy: &Copy<F>| {
                let filter = apply(&copy.filter, basic)?;
                Some(Copy::new(copy.placement.then(basic), filter))
            };
            copies.iter().filter_map(image)
        });
        copies = transformed.collect();
    }
    copies
}

impl Rewrite<Written, Expanded> for Expander {
    type Stop = Diagnostic;

    fn mark(&mut self, _: &Span) -> bool {
        self.fixed
    }

    fn of_condition(&mut self, part: &ConditionKeyword, span: &Span) -> Result<Condition, Diagnostic> {
        let orbit = match part {
            ConditionKeyword::NoTransform(of) => {
                return self.shielded(true, |expander| expander.condition(of));
            }
            ConditionKeyword::Lists(transforms, of) => list(self.base(of)?, transforms, *span)?,
            ConditionKeyword::Transform(kind, of) => {
                let (mut kinds, mut of) = (vec![*kind], of);
                while let Any::Condition(inner) = of
                    && let ConditionOp::Form(ConditionKeyword::Transform(kind, inner)) = inner.op()
                {
                    kinds.push(*kind);
                    of = inner;
                }
                self.orbit(&kinds, of, *span)?
            }
        };
        Ok(Condition::new(ConditionOp::Form(orbit), self.fixed))
    }

    fn of_squares(
        &mut self,
        part: &Keyword<orbit_query::tree::Squares>,
        span: &Span,
    ) -> Result<Squares, Diagnostic> {
        let (kind, mut of) = match part {
            Keyword::NoTransform(of) => return self.shielded(true, |expander| expander.squares(of)),
            Keyword::Transform(kind, of) => (kind, of),
        };
        let mut kinds = vec![*kind];
        while let SquaresOp::Form(Keyword::Transform(kind, inner)) = of.op() {
            kinds.push(*kind);
            of = inner;
        }
        let orbit = self.orbit(&kinds, of, *span)?;
        Ok(Squares::new(SquaresOp::Form(orbit), self.fixed))
    }

    fn of_number(&mut self, part: &NumberKeyword, span: &Span) -> Result<Number, Diagnostic> {
        let (mut kinds, mut part) = (Vec::new(), part);
        // A transform without a count or a range is combined with a transform directly inside it. The inner transform then
        // determines how the values of all copies are combined.
        let orbit = loop {
            match part {
                NumberKeyword::Number(Keyword::NoTransform(of)) => {
                    return self.shielded(true, |expander| expander.number(of));
                }
                NumberKeyword::Counted(kind, counted, of) => {
                    kinds.push(*kind);
                    break NumberOrbit::Counted(*counted, self.orbit(&kinds, of, *span)?);
                }
                NumberKeyword::Number(Keyword::Transform(kind, of)) => {
                    kinds.push(*kind);
                    match of.op() {
                        NumberOp::Form(inner) if of.node().is_transform() => part = inner,
                        _ => break NumberOrbit::Largest(self.orbit(&kinds, of, *span)?),
                    }
                }
            }
        };
        Ok(Number::new(NumberOp::Form(orbit), self.fixed))
    }

    fn of_text(&mut self, part: &NoTransform<orbit_query::tree::Text>, _: &Span) -> Result<Text, Diagnostic> {
        self.shielded(true, |expander| expander.text(&part.0))
    }

    fn of_position(
        &mut self,
        part: &NoTransform<orbit_query::tree::Position>,
        _: &Span,
    ) -> Result<Position, Diagnostic> {
        self.shielded(true, |expander| expander.position(&part.0))
    }
}

fn elements(kind: TransformKind) -> Vec<KeywordTransform> {
    use Dihedral::*;
    let symmetries = |list: &[Dihedral]| list.iter().copied().map(KeywordTransform::Symmetry).collect();
    match kind {
        TransformKind::Flip => symmetries(&Dihedral::ALL),
        TransformKind::FlipVertical => symmetries(&[Identity, ReflectFiles]),
        TransformKind::FlipHorizontal => symmetries(&[Identity, ReflectRanks]),
        TransformKind::Rotate90 => symmetries(&[Identity, Rotate90Ccw, Rotate180, Rotate270Ccw]),
        TransformKind::Rotate45 => (0..8).map(KeywordTransform::Turn45).collect(),
        TransformKind::FlipColor => vec![KeywordTransform::Symmetry(Identity), KeywordTransform::Colors],
        TransformKind::ReverseColor => vec![KeywordTransform::Colors],
        TransformKind::Shift => shifts(-7..=7, -7..=7),
        TransformKind::ShiftHorizontal => shifts(-7..=7, 0..=0),
        TransformKind::ShiftVertical => shifts(0..=0, -7..=7),
    }
}

/// Returns all shifts of the given ranges, ordered by files and then by ranks.
fn shifts(files: std::ops::RangeInclusive<i8>, ranks: std::ops::RangeInclusive<i8>) -> Vec<KeywordTransform> {
    files.flat_map(|dx| ranks.clone().map(move |dy| KeywordTransform::Shift((dx, dy)))).collect()
}

/// Returns the number of ways to choose one transformation of each keyword, but at most [`COPIES_MAX`] + 1.
fn combinations(kinds: &[TransformKind]) -> usize {
    let all = kinds.iter().fold(1, |all: usize, &kind| all.saturating_mul(elements(kind).len()));
    all.min(COPIES_MAX + 1)
}

/// Returns the query span of the first filter that `rotate45` cannot turn.
fn turn45_obstacle(node: Ref<Written>) -> Option<Span> {
    if node.shields() {
        return None;
    }
    if let Ref::Squares(f) = node {
        match f.op() {
            SquaresOp::Designator { squares, .. } if *squares != Bitboard::FULL => return Some(f.span()),
            SquaresOp::Shade { .. } => return Some(f.span()),
            _ => {}
        }
    }
    node.children().into_iter().find_map(turn45_obstacle)
}
