//! The transforms of CQL 5 position lists, such as `(position Nd4 :flip)`.
//!
//! Each keyword in a list represents a set of transformations. A list with several keywords represents all compositions, in any
//! order, of one transformation of each keyword. Two compositions count as one if they map squares in the same way ([`SquareMap`]).
//! So `:shift` and `:flip` have 1,568 compositions, and not twice 1,800 (225 shifts times 8 symmetries, in two orders).
//!
//! Source: CQL 5 manual, position list: transforms.

use std::collections::HashSet;

use super::{
    COPIES_MAX, Copy, Filter, KeywordTransform, Orbit, Placement,
    apply::{Composite, FILTERS_MAX, apply, drop_repetitions, filters_in_memory, size, structure},
};
use orbit_core::{
    board::{Dihedral, SquareMap},
    diagnostic::{Diagnostic, Span},
};
use orbit_query::tree::{Kind as _, ListTransform};

/// The maximum number of compositions to compute before a position list is refused.
const COMPOSITIONS_MAX: usize = 2_000_000;

/// The maximum total number of filters in all copies of a position list, including copies that are dropped because they lose all
/// squares.
const FILTERS_TRIED_MAX: usize = 16_000_000;

impl Composite {
    const IDENTITY: Composite = Composite { map: SquareMap::IDENTITY, placement: Placement::IDENTITY };

    fn symmetry(d: Dihedral) -> Composite {
        let placement = Placement { dihedral: d, ..Placement::IDENTITY };
        Composite { map: SquareMap::symmetry(d), placement }
    }

    fn shift(v: (i8, i8)) -> Composite {
        let placement = Placement { shift: Some(v), ..Placement::IDENTITY };
        Composite { map: SquareMap::edge_shift(v), placement }
    }

    /// Returns the colour swap, which includes the reflection of ranks.
    fn colors() -> Composite {
        let mut reflected = Composite::symmetry(Dihedral::ReflectRanks);
        reflected.placement.swap_colors = true;
        reflected
    }

    fn after(self, first: Composite) -> Composite {
        Composite {
            map: self.map.after(first.map),
            placement: first.placement.then(KeywordTransform::Composite(self)),
        }
    }
}

/// Returns the transformations that a keyword represents.
fn elements(transform: ListTransform) -> Vec<Composite> {
    use Dihedral::*;
    let with_identity = |d| vec![Composite::IDENTITY, Composite::symmetry(d)];
    let along = |step: (i8, i8)| (-7..=7).map(move |k| Composite::shift((k * step.0, k * step.1)));
    match transform {
        ListTransform::Flip => Dihedral::ALL.map(Composite::symmetry).to_vec(),
        ListTransform::FlipHorizontal => with_identity(ReflectRanks),
        ListTransform::FlipVertical => with_identity(ReflectFiles),
        ListTransform::FlipDiagonal => with_identity(ReflectMain),
        ListTransform::FlipOffDiagonal => with_identity(ReflectAnti),
        ListTransform::FlipColor => vec![Composite::IDENTITY, Composite::colors()],
        ListTransform::Shift => {
            (-7..=7).flat_map(|dx| (-7..=7).map(move |dy| Composite::shift((dx, dy)))).collect()
        }
        ListTransform::ShiftHorizontal => along((1, 0)).collect(),
        ListTransform::ShiftVertical => along((0, 1)).collect(),
        ListTransform::ShiftMainDiagonal => along((1, 1)).collect(),
        ListTransform::ShiftOffDiagonal => along((1, -1)).collect(),
        ListTransform::ShiftDiagonal => along((1, 1)).chain(along((1, -1))).collect(),
    }
}

/// Returns the distinct compositions, in any order, of one transformation of each keyword. A colour swap is always applied last.
/// Returns `None` if there are too many compositions. The function goes through all sets of keywords. In each set, each keyword
/// takes its turn as the outermost one: its transformations are composed with all compositions of the other keywords in the set.
fn composites(transforms: &[ListTransform]) -> Option<Vec<Composite>> {
    let geometric: Vec<ListTransform> =
        transforms.iter().copied().filter(|&t| t != ListTransform::FlipColor).collect();
    let mut of_set = vec![vec![Composite::IDENTITY]];
    let mut tried = 0;
    for set in 1..1usize << geometric.len() {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for (k, &outermost) in geometric.iter().enumerate().filter(|(k, _)| set >> k & 1 != 0) {
            for element in elements(outermost) {
                let others = &of_set[set & !(1 << k)];
                tried += others.len();
                if tried > COMPOSITIONS_MAX {
                    return None;
                }
                let made = others.iter().map(|&other| element.after(other));
                found.extend(made.filter(|composite| seen.insert(composite.map)));
            }
        }
        of_set.push(found);
    }
    let mut all = of_set.pop().expect("the empty set is there");
    if transforms.contains(&ListTransform::FlipColor) {
        let swapped: Vec<Composite> = all.iter().map(|&one| Composite::colors().after(one)).collect();
        all.extend(swapped);
    }
    Some(all)
}

/// Returns the orbit of a CQL 5 position list: the distinct images of its contents under its transforms.
pub(super) fn list(base: Filter, transforms: &[ListTransform], span: Span) -> Result<Orbit, Diagnostic> {
    let too_many = || {
        Diagnostic::error(
            span,
            "the transforms of this list make too many copies",
            "write fewer of them, or transform less at once",
        )
    };
    let fits = |all: &Vec<Composite>| {
        all.len() <= COPIES_MAX && all.len().saturating_mul(size(base.node())) <= FILTERS_TRIED_MAX
    };
    let composites = composites(transforms).filter(fits).ok_or_else(too_many)?;
    let mut orbit = Orbit { base, copies: Vec::new(), elements: composites.len(), span };
    let (mut filters, mut in_memory) = (0, filters_in_memory(orbit.base.node()));
    for composite in composites {
        let Some(filter) = apply(&orbit.base, KeywordTransform::Composite(composite)) else { continue };
        filters += size(filter.node());
        in_memory += filters_in_memory(filter.node());
        if filters > COPIES_MAX * 16 || in_memory > FILTERS_MAX {
            return Err(too_many());
        }
        orbit.copies.push(Copy::new(composite.placement, filter));
    }
    drop_repetitions(&mut orbit.copies);
    let smeared: Vec<bool> = orbit.copies.iter().map(|copy| !is_plain_shift(&orbit, copy)).collect();
    for (copy, smeared) in orbit.copies.iter_mut().zip(smeared) {
        copy.placement.smeared = smeared;
    }
    Ok(orbit)
}

/// Returns true if a CQL 6 shift makes the same copy. This is so if the shift of CQL 5 left no square in place at the edge of the
/// board.
fn is_plain_shift(orbit: &Orbit, copy: &Copy) -> bool {
    let Some(shift) = copy.placement.shift else { return true };
    let plain =
        orbit.unshifted(copy.placement).and_then(|plain| apply(&plain, KeywordTransform::Shift(shift)));
    plain.is_some_and(|plain| structure(plain.node()) == structure(copy.filter.node()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ListTransform::*;

    fn count(transforms: &[ListTransform]) -> usize {
        composites(transforms).unwrap().len()
    }

    #[test]
    fn compositions_are_counted_by_what_they_do() {
        assert_eq!(count(&[]), 1);
        assert_eq!(count(&[Flip]), 8);
        assert_eq!(count(&[FlipDiagonal]), 2);
        assert_eq!(count(&[FlipHorizontal, FlipVertical]), 4);
        assert_eq!(count(&[FlipDiagonal, FlipHorizontal]), 5, "both orders; no turn by 180 degrees");
        assert_eq!(count(&[Shift]), 225);
        assert_eq!(count(&[ShiftHorizontal]), 15);
        assert_eq!(count(&[ShiftDiagonal]), 29);
        // There are fifteen shifts along an axis and their fifteen mirror images. Two of these maps occur twice: a shift by seven
        // steps in either direction maps the line at the edge to all eight lines and every other line to none, so it equals its
        // mirror image.
        let axis = 2 * 15 - 2;
        assert_eq!(count(&[Shift, Flip]), 2 * axis * axis);
        assert_eq!(count(&[Flip, Shift, FlipColor]), 4 * axis * axis);
        // Four of the eight symmetries exchange files and ranks. For these, the shift has another effect before the symmetry than
        // after it.
        assert_eq!(count(&[ShiftHorizontal, Flip]), axis * 2 + (2 * axis * 2 - 4));
    }

    /// Checks that the order of the keywords does not matter.
    #[test]
    fn any_order_makes_the_same_compositions() {
        for transforms in [
            [ShiftHorizontal, FlipDiagonal],
            [Shift, Flip],
            [ShiftMainDiagonal, FlipVertical],
            [ShiftVertical, ShiftDiagonal],
            [FlipColor, ShiftVertical],
        ] {
            let maps = |list: &[ListTransform]| -> HashSet<(SquareMap, bool)> {
                let all = composites(list).unwrap();
                all.iter().map(|one| (one.map, one.placement.swap_colors)).collect()
            };
            let [a, b] = transforms;
            assert_eq!(maps(&[a, b]), maps(&[b, a]), "{a:?} {b:?}");
        }
    }

    #[test]
    fn too_many_compositions_are_refused() {
        let all = [
            Flip,
            FlipDiagonal,
            Shift,
            ShiftHorizontal,
            ShiftVertical,
            ShiftMainDiagonal,
            ShiftOffDiagonal,
            ShiftDiagonal,
        ];
        assert!(composites(&all).is_none());
    }
}
