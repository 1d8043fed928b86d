//! Finds the places on the board of an orbit's copies.
//!
//! An orbit is the list of copies that a transform makes of a filter. Many copies differ only in their place on the board. To count
//! hits by place, each copy gets a place: the image of a square named in the filter, or else the distance by which the filter was
//! shifted.

use crate::AsOrbit as _;
use shakmaty::{Bitboard, Square};

use super::{FilterRef, Orbit};
use orbit_query::tree::{Kind as _, Ref, SquaresOp};

/// The places of an orbit's copies, in the order of the copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CopyPlaces {
    /// For each copy, the image of the filter's first one-square designator.
    Squares(Vec<Square>),
    /// For each copy, its shift (files, ranks), both from -7 to 7, or `None` for a composition of shifts that equals no single
    /// shift. This variant is used if the filter has no one-square designator, or if the image of the first one is not a single
    /// square in some copy.
    Offsets(Vec<Option<(i8, i8)>>),
}

/// Returns the places of an orbit's copies.
///
/// Designators inside `notransform` do not move, and designators inside nested transforms have several images. Neither can
/// determine a place.
///
/// ```
/// use orbit_core::board::Square;
/// use orbit_transforms::{OutermostOrbit as _, CopyPlaces};
///
/// let query = orbit_query::parse("flipcolor {Nd4 kf3}").unwrap().query;
/// let orbit = orbit_transforms::expand(&query.body).unwrap().outermost().unwrap();
/// assert_eq!(orbit_transforms::places(&orbit), CopyPlaces::Squares(vec![Square::D4, Square::D5]));
/// ```
pub fn places(orbit: &Orbit) -> CopyPlaces {
    let offsets = || CopyPlaces::Offsets(orbit.copies.iter().map(|copy| copy.placement.shift).collect());
    let Some(first) =
        designators(orbit.base.node()).iter().position(|squares| squares.single_square().is_some())
    else {
        return offsets();
    };
    // Each copy has the same designators, in the same order, as the filter as written.
    let images = orbit.copies.iter().map(|copy| designators(copy.filter.node())[first].single_square());
    images.collect::<Option<Vec<_>>>().map_or_else(offsets, CopyPlaces::Squares)
}

/// Returns the squares of the designators that transforms move, in text order. Designators inside nested transforms are left out.
fn designators(filter: FilterRef) -> Vec<Bitboard> {
    let mut out = Vec::new();
    collect(filter, &mut out);
    out
}

fn collect(filter: FilterRef, out: &mut Vec<Bitboard>) {
    if *filter.mark() || filter.orbit().is_some() {
        return;
    }
    if let Ref::Squares(f) = filter
        && let SquaresOp::Designator { squares, .. } = f.op()
    {
        out.push(*squares);
    }
    filter.each_child(&mut |child| collect(child, out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutermostOrbit as _;
    use crate::{Copy, expand};
    use orbit_core::board::translate;
    use orbit_query::parse;

    fn orbit(text: &str) -> Orbit {
        expand(&parse(text).unwrap().query.body).unwrap().outermost().expect(text)
    }

    fn squares(text: &str) -> Vec<String> {
        match places(&orbit(text)) {
            CopyPlaces::Squares(squares) => squares.iter().map(Square::to_string).collect(),
            CopyPlaces::Offsets(offsets) => panic!("{text} has offsets: {offsets:?}"),
        }
    }

    fn offsets(text: &str) -> Vec<Option<(i8, i8)>> {
        match places(&orbit(text)) {
            CopyPlaces::Offsets(offsets) => offsets,
            CopyPlaces::Squares(squares) => panic!("{text} has squares: {squares:?}"),
        }
    }

    #[test]
    fn a_place_is_the_image_of_the_first_single_square() {
        for (text, wanted) in [
            ("flip {Nd4 kf3}", "d4 e4 e5 d5 d5 e4 d4 e5"),
            ("flip {Nb1 kf3}", "b1 h2 g8 a7 b8 g1 a2 h7"),
            ("flipcolor {Nd4 kf3}", "d4 d5"),
            ("reversecolor {Nd4 kf3}", "d5"),
            ("shifthorizontal {kg3 Nf4}", "b3 c3 d3 e3 f3 g3 h3"),
            ("shifthorizontal {Nf4 kg3}", "a4 b4 c4 d4 e4 f4 g4"),
            ("shiftvertical {R[a1,a2] k kb3}", "b2 b3 b4 b5 b6 b7 b8"),
            ("flipcolor {(notransform Ka1) kb3}", "b3 b6"),
            ("shifthorizontal N->kg3", "a3 b3 c3 d3 e3 f3 g3 h3"),
            ("flip R", ""),
        ] {
            let found =
                if wanted.is_empty() { offsets(text).len().to_string() } else { squares(text).join(" ") };
            assert_eq!(found, if wanted.is_empty() { "1" } else { wanted }, "{text}");
        }
    }

    /// Computes the image of a square from the copy's placement, for comparison with the copy itself.
    fn by_placement(copy: &Copy, square: Square) -> Option<Square> {
        let turned = copy.placement.dihedral.apply(Bitboard::from(square));
        translate(turned, copy.placement.shift.unwrap()).single_square()
    }

    #[test]
    fn the_knight_of_a_shifted_pattern_visits_every_square() {
        for (text, copies) in
            [("shift {Nd4 kf3}", 42), ("flip shift {Nd4 kf3}", 336), ("shift flip flipcolor {Nd4 kf3}", 672)]
        {
            let orbit = orbit(text);
            let CopyPlaces::Squares(found) = places(&orbit) else { panic!("{text} has a single square") };
            assert_eq!(found.len(), copies, "{text}");
            for (copy, square) in orbit.copies.iter().zip(&found) {
                assert_eq!(by_placement(copy, Square::D4), Some(*square), "{text}: {:?}", copy.placement);
            }
            let all: Bitboard = found.into_iter().collect();
            // The king is two files to the right of the knight and a rank below it. So the knight can only be on files a to f and
            // ranks 2 to 8, unless the pattern is also turned.
            assert_eq!(all.count(), if copies == 42 { 42 } else { 64 }, "{text}");
        }
    }

    #[test]
    fn without_a_single_square_there_are_offsets() {
        let found = offsets("shift {R[a1,a2] k}");
        assert!(found.contains(&Some((0, 0))) && found.contains(&Some((7, 6))), "{found:?}");
        assert!(!found.contains(&Some((-1, 0))), "all of the rook's squares left the board: {found:?}");
        assert_eq!(offsets("flip {R[a1,a2]}"), [Some((0, 0)); 8]);
        assert_eq!(offsets("shifthorizontal count flip {Ra1 kb3}").len(), 13, "inner orbits have no place");
    }

    #[test]
    fn shifts_one_after_the_other_have_places_too() {
        let orbit = orbit("shifthorizontal shifthorizontal {R[c3,h3] kd3}");
        assert!(orbit.copies.iter().any(|copy| copy.placement.shift.is_none()), "some are no single shift");
        let CopyPlaces::Squares(found) = places(&orbit) else { panic!("d3 is a single square") };
        assert!(found.iter().all(|square| square.rank() == shakmaty::Rank::Third), "{found:?}");
    }
}
