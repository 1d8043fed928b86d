//! Expands transforms. In the resulting typed tree, every transform is replaced by its *orbit*, the list of its distinct copies.
//!
//! Two copies are distinct if their structures differ: `flip (a1|h8)` has four copies, and `flip [a1,h8]` has two. Therefore copies
//! are counted here, before any simplification. A copy stores the [`Placement`] that made it from the filter as written, so a plan
//! (a compiled query) can handle all shifts of one filter together.
//!
//! Source: CQL 6.2, transform filters. The transforms of CQL 5 lists are in `lists`.

#![deny(unsafe_code, missing_docs)]

mod apply;
mod convert;
mod expand;
mod frame;
mod likeness;
mod lists;
mod pattern;
mod places;
mod text;
mod turn;
mod warnings;

use std::convert::Infallible;

use shakmaty::{ByColor, Color};

use orbit_core::{board::Dihedral, diagnostic::Span};
use orbit_query::tree::{self, Any, ConditionOp, Counted, Extension, Form, Kind, NumberOp, Ref, SquaresOp};

pub use apply::member;
use apply::{Composite, KeywordTransform, apply};
pub use convert::{Converted, WrittenOut, to_cql6};
pub use expand::expand;
pub use frame::Frame;
pub use likeness::{CopyDifference, Likeness};
pub use pattern::{Designators, Pattern, matched, pattern};
pub use places::{CopyPlaces, places};
pub use text::{AsText, small_board};
pub use warnings::warnings;

/// The maximum number of copies of one transform, including copies of nested transforms.
pub const COPIES_MAX: usize = 100_000;

/// The form of a tree whose transforms are expanded. Each filter has a mark, which is true inside `notransform`: outer transforms
/// do not change a marked filter. If a marked filter is an orbit, its copies are not marked.
#[derive(Clone, Copy, Debug)]
pub enum Expanded {}

impl Form for Expanded {
    type Mark = bool;
    type OfCondition = Orbit;
    type OfSquares = Orbit<Squares>;
    type OfNumber = NumberOrbit;
    type OfText = Infallible;
    type OfPosition = Infallible;
}

/// A filter whose transforms are expanded.
pub type Filter = Any<Expanded>;
/// A reference to a filter whose transforms are expanded.
pub type FilterRef<'a> = Ref<'a, Expanded>;
/// A condition whose transforms are expanded.
pub type Condition = tree::Condition<Expanded>;
/// A set of squares whose transforms are expanded.
pub type Squares = tree::Squares<Expanded>;
/// A number whose transforms are expanded.
pub type Number = tree::Number<Expanded>;
/// A string whose transforms are expanded.
pub type Text = tree::Text<Expanded>;
/// A position of the game whose transforms are expanded.
pub type Position = tree::Position<Expanded>;

/// The distinct copies of a filter.
#[derive(Clone, Debug)]
pub struct Orbit<F = Filter> {
    /// The filter as written, with only its inner transforms expanded.
    pub base: F,
    /// The distinct copies, in the order in which the keywords make them. Of several equal copies, the first is kept. The list may
    /// be empty.
    pub copies: Vec<Copy<F>>,
    /// The number of copies that the keywords make before impossible and repeated ones are left out.
    pub elements: usize,
    /// The place of the transform in the query.
    pub span: Span,
}

/// An orbit whose value is a number.
#[derive(Clone, Debug)]
pub enum NumberOrbit {
    /// The largest of the copies' values.
    Largest(Orbit<Number>),
    /// The number of copies that match.
    Counted(Counted, Orbit),
}

/// A reference to an orbit (the copies that a transform makes) of any kind: condition, set or number.
#[derive(Clone, Copy, Debug)]
pub enum OrbitRef<'a> {
    /// A condition: true if a copy matches.
    Any(&'a Orbit),
    /// A set: the union of the sets that the copies have as their values.
    Union(&'a Orbit<Squares>),
    /// A number: the largest of the numbers that the copies have as their values.
    Largest(&'a Orbit<Number>),
    /// A number: the number of copies that match.
    Counted(Counted, &'a Orbit),
}

/// One distinct copy.
#[derive(Clone, Debug)]
pub struct Copy<F = Filter> {
    /// The composition of transforms that made the copy from the filter as written.
    pub placement: Placement,
    /// The transformed filter.
    pub filter: F,
    /// The sides for which the copy is the pattern: Black if the transforms swapped the colours, otherwise White. If equal copies
    /// arise with and without a swap, the copy belongs to both sides.
    pub sides: ByColor<bool>,
}

impl<F> Copy<F> {
    fn new(placement: Placement, filter: F) -> Copy<F> {
        let sides = ByColor { black: placement.swap_colors, white: !placement.swap_colors };
        Copy { placement, filter, sides }
    }
}

impl<F: Kind<Expanded>> Orbit<F> {
    /// Returns the copies with their indices, in the order in which they must be evaluated if the filter assigns variables. Two
    /// copies are ordered by the first part in which they differ:
    ///
    /// * designators are ordered by their squares, as ascending lists, then by their pieces, White's first;
    /// * directions are ordered by the squares to which they lead;
    /// * dark squares come before light ones, and White comes before Black.
    pub fn in_turn(&self) -> Vec<(usize, &Copy<F>)> {
        let mut copies: Vec<(usize, &Copy<F>)> = self.copies.iter().enumerate().collect();
        copies.sort_by_cached_key(|(_, copy)| turn::turn(copy.filter.node()));
        copies
    }
}

impl<F: Kind<Expanded>> Extension<Expanded> for Orbit<F> {
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(FilterRef<'a>)) {
        self.copies.iter().for_each(|copy| visit(copy.filter.node()));
    }
}

impl Extension<Expanded> for NumberOrbit {
    fn each_child<'a>(&'a self, visit: &mut dyn FnMut(FilterRef<'a>)) {
        match self {
            NumberOrbit::Largest(orbit) => orbit.each_child(visit),
            NumberOrbit::Counted(_, orbit) => orbit.each_child(visit),
        }
    }
}

/// A composition of transforms: a symmetry of the board, a swap of colours and a turn of directions, followed by a shift.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Placement {
    /// The symmetry of the board. If colours are swapped, it includes [`Dihedral::ReflectRanks`].
    pub dihedral: Dihedral,
    /// True if White and Black are swapped.
    pub swap_colors: bool,
    /// The angle by which `rotate45` turns directions, in eighths of a full turn.
    pub turn45: u8,
    /// The shift (files, ranks). It is `None` if shifts were composed that equal no single shift, because squares that leave the
    /// board do not return.
    pub shift: Option<(i8, i8)>,
    /// True if squares stayed in a set although they were shifted, as squares on the trailing edge of the board do in CQL 5. A CQL
    /// 6 shift would then make a different copy.
    pub smeared: bool,
}

impl Placement {
    /// The placement of the filter as written, without any transform.
    pub const IDENTITY: Placement = Placement {
        dihedral: Dihedral::Identity,
        swap_colors: false,
        turn45: 0,
        shift: Some((0, 0)),
        smeared: false,
    };

    /// Returns the CQL 6 shift that makes the copy with this placement from the unshifted filter, if there is one.
    pub fn plain_shift(self) -> Option<(i8, i8)> {
        self.shift.filter(|_| !self.smeared)
    }

    /// Returns this placement without its shift.
    #[must_use]
    pub fn unshifted(self) -> Placement {
        Placement { shift: Some((0, 0)), smeared: false, ..self }
    }

    /// Returns the rotation or reflection, without the reflection of ranks that comes with a colour swap.
    pub fn turned(self) -> Dihedral {
        if self.swap_colors { self.dihedral.after(Dihedral::ReflectRanks) } else { self.dihedral }
    }

    fn then(self, basic: KeywordTransform) -> Placement {
        match basic {
            KeywordTransform::Symmetry(d) => {
                Placement { dihedral: d.after(self.dihedral), shift: self.shift.map(|v| d.step(v)), ..self }
            }
            KeywordTransform::Colors => {
                let swapped = Placement { swap_colors: !self.swap_colors, ..self };
                swapped.then(KeywordTransform::Symmetry(Dihedral::ReflectRanks))
            }
            KeywordTransform::Turn45(k) => Placement { turn45: (self.turn45 + k) % 8, ..self },
            KeywordTransform::Shift(v) => {
                Placement { shift: self.shift.and_then(|old| compose_shifts(old, v)), ..self }
            }
            KeywordTransform::Composite(Composite { placement, .. }) => {
                let turned = Placement { swap_colors: self.swap_colors != placement.swap_colors, ..self };
                let turned = turned.then(KeywordTransform::Symmetry(placement.dihedral));
                let shift = turned.shift.zip(placement.shift).and_then(|(a, b)| compose_shifts(a, b));
                Placement { shift, ..turned }
            }
        }
    }
}

/// Returns the single shift that equals two successive shifts, or `None` if there is none. Along each axis, both shifts must have
/// the same direction, since squares that leave the board do not return.
fn compose_shifts(a: (i8, i8), b: (i8, i8)) -> Option<(i8, i8)> {
    let axis = |a: i8, b: i8| (a.signum() * b.signum() >= 0 && (a + b).abs() <= 7).then_some(a + b);
    Some((axis(a.0, b.0)?, axis(a.1, b.1)?))
}

impl<F: Kind<Expanded, In<Expanded> = F>> Orbit<F> {
    /// Returns the filter as written, transformed by everything in a placement except its shift. Returns `None` if a designator
    /// lost all its squares.
    pub fn unshifted(&self, placement: Placement) -> Option<F> {
        let mut dihedral = placement.dihedral;
        let mut filter = self.base.clone();
        if placement.swap_colors {
            filter = apply(&filter, KeywordTransform::Colors)?;
            dihedral = dihedral.after(Dihedral::ReflectRanks);
        }
        filter = apply(&filter, KeywordTransform::Turn45(placement.turn45))?;
        apply(&filter, KeywordTransform::Symmetry(dihedral))
    }

    /// Returns the orbit with only those copies that are patterns of `side`.
    #[must_use]
    pub fn for_side(&self, side: Color) -> Orbit<F> {
        let of_side = |copy: &&Copy<F>| *copy.sides.get(side);
        Orbit {
            base: self.base.clone(),
            copies: self.copies.iter().filter(of_side).cloned().collect(),
            elements: self.elements,
            span: self.span,
        }
    }

    /// Returns the orbit with copies of type [`Filter`], which can be a condition, a set or a number.
    fn with_any_filter(&self) -> Orbit {
        let copy = |copy: &Copy<F>| Copy {
            placement: copy.placement,
            filter: copy.filter.node().cloned(),
            sides: copy.sides,
        };
        Orbit {
            base: self.base.node().cloned(),
            copies: self.copies.iter().map(copy).collect(),
            elements: self.elements,
            span: self.span,
        }
    }
}

impl<'a> OrbitRef<'a> {
    /// Returns the filter as written, with only its inner transforms expanded.
    pub fn base(self) -> FilterRef<'a> {
        match self {
            OrbitRef::Any(orbit) | OrbitRef::Counted(_, orbit) => orbit.base.node(),
            OrbitRef::Union(orbit) => orbit.base.node(),
            OrbitRef::Largest(orbit) => orbit.base.node(),
        }
    }

    /// Returns the number of distinct copies.
    pub fn copies(self) -> usize {
        match self {
            OrbitRef::Any(orbit) | OrbitRef::Counted(_, orbit) => orbit.copies.len(),
            OrbitRef::Union(orbit) => orbit.copies.len(),
            OrbitRef::Largest(orbit) => orbit.copies.len(),
        }
    }

    /// Returns the orbit with copies of type [`Filter`], which can be a condition, a set or a number.
    pub fn cloned(self) -> Orbit {
        match self {
            OrbitRef::Any(orbit) | OrbitRef::Counted(_, orbit) => orbit.clone(),
            OrbitRef::Union(orbit) => orbit.with_any_filter(),
            OrbitRef::Largest(orbit) => orbit.with_any_filter(),
        }
    }
}

/// Methods that return the outermost transform of a filter, and its copies.
pub trait OutermostOrbit {
    /// Returns the outermost transform, if the filter is a transform. A transform inside `notransform` is not returned.
    fn outermost_orbit(&self) -> Option<OrbitRef<'_>>;

    /// Returns the outermost transform with its copies as filters of any kind, if the filter is a transform.
    fn outermost(&self) -> Option<Orbit>;

    /// Returns the placement of each copy of the outermost transform. If there is no transform, returns the placement of the filter
    /// itself.
    fn placements(&self) -> Vec<Placement>;

    /// Returns the sides of each copy of the outermost transform. Returns `None` unless the transform swaps colours, that is, some
    /// copies are patterns only of White and some only of Black. Also returns `None` if copies are counted, since a count is not a
    /// pattern of a side.
    fn copy_sides(&self) -> Option<Vec<ByColor<bool>>>;

    /// Returns true if there is no outermost transform, or if this transform has exactly one copy and every hit is a match of that
    /// copy. Returns false if copies are counted, since a count can be a hit although no copy matches.
    fn has_one_copy(&self) -> bool;
}

impl OutermostOrbit for Filter {
    fn outermost_orbit(&self) -> Option<OrbitRef<'_>> {
        self.node().orbit().filter(|_| !*self.node().mark())
    }

    fn outermost(&self) -> Option<Orbit> {
        self.outermost_orbit().map(OrbitRef::cloned)
    }

    fn placements(&self) -> Vec<Placement> {
        fn of<F>(orbit: &Orbit<F>) -> Vec<Placement> {
            orbit.copies.iter().map(|copy| copy.placement).collect()
        }
        match self.outermost_orbit() {
            None => vec![Placement::IDENTITY],
            Some(OrbitRef::Any(orbit) | OrbitRef::Counted(_, orbit)) => of(orbit),
            Some(OrbitRef::Union(orbit)) => of(orbit),
            Some(OrbitRef::Largest(orbit)) => of(orbit),
        }
    }

    fn copy_sides(&self) -> Option<Vec<ByColor<bool>>> {
        fn of<F>(orbit: &Orbit<F>) -> Vec<ByColor<bool>> {
            orbit.copies.iter().map(|copy| copy.sides).collect()
        }
        let sides = match self.outermost_orbit()? {
            OrbitRef::Any(orbit) => of(orbit),
            OrbitRef::Union(orbit) => of(orbit),
            OrbitRef::Largest(orbit) => of(orbit),
            OrbitRef::Counted(..) => return None,
        };
        let has_alone = |color: Color| sides.iter().any(|sides| *sides.get(color) && !sides.get(!color));
        Color::ALL.into_iter().all(has_alone).then_some(sides)
    }

    fn has_one_copy(&self) -> bool {
        self.outermost_orbit()
            .is_none_or(|orbit| orbit.copies() == 1 && !matches!(orbit, OrbitRef::Counted(..)))
    }
}

/// Methods that view a filter of any type as an orbit, the list of copies that a transform makes.
pub trait AsOrbit<'a>: Sized {
    /// Returns the filter as an orbit, if it is a transform.
    fn orbit(self) -> Option<OrbitRef<'a>>;

    /// Calls `visit` for this filter and for all filters inside it that outer transforms change. Filters are visited before their
    /// operands.
    fn walk_unshielded(self, visit: &mut dyn FnMut(FilterRef<'a>));
}

impl<'a> AsOrbit<'a> for FilterRef<'a> {
    fn orbit(self) -> Option<OrbitRef<'a>> {
        match self {
            Ref::Condition(f) if let ConditionOp::Form(orbit) = f.op() => Some(OrbitRef::Any(orbit)),
            Ref::Squares(f) if let SquaresOp::Form(orbit) = f.op() => Some(OrbitRef::Union(orbit)),
            Ref::Number(f) if let NumberOp::Form(orbit) = f.op() => Some(match orbit {
                NumberOrbit::Largest(orbit) => OrbitRef::Largest(orbit),
                NumberOrbit::Counted(counted, orbit) => OrbitRef::Counted(*counted, orbit),
            }),
            _ => None,
        }
    }

    fn walk_unshielded(self, visit: &mut dyn FnMut(FilterRef<'a>)) {
        if !*self.mark() {
            visit(self);
            self.each_child(&mut |child| child.walk_unshielded(visit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbit_query::parse;

    fn copies(text: &str) -> usize {
        let orbit = expand(&parse(text).unwrap().query.body).unwrap().outermost();
        orbit.unwrap_or_else(|| panic!("{text} is no transform")).copies.len()
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
    fn copies_are_evaluated_by_the_first_member_that_differs() {
        let in_turn = |text: &str| {
            let orbit = expand(&parse(text).unwrap().query.body).unwrap().outermost().unwrap();
            orbit.in_turn().iter().map(|(_, copy)| AsText(&copy.filter).to_string()).collect::<Vec<_>>()
        };
        for (text, due) in [
            ("flip a2", &["b1", "g1", "a2", "h2", "a7", "h7", "b8", "g8"][..]),
            (
                "shiftvertical [a1,b2]",
                &["[a1,b2]", "b1", "[a2,b3]", "[a3,b4]", "[a4,b5]", "[a5,b6]", "[a6,b7]", "[a7,b8]", "a8"],
            ),
            ("flipcolor kb7", &["Kb2", "kb7"]),
            ("flipcolor a", &["A", "a"]),
            ("flipcolor light a", &["dark A", "light a"]),
            ("flipcolor up a", &["down A", "up a"]),
            ("flipcolor btm", &["wtm", "btm"]),
            ("rotate90 right 1 k", &["down 1 1 k", "left 1 1 k", "right 1 1 k", "up 1 1 k"]),
        ] {
            assert_eq!(in_turn(text), due, "{text}");
        }
    }

    /// Returns a letter for each copy: `W` for White's pattern, `B` for Black's, `=` for a pattern of both sides.
    fn sides(text: &str) -> Option<String> {
        let sides = expand(&parse(text).unwrap().query.body).unwrap().copy_sides()?;
        let letter = |sides: &ByColor<bool>| match sides {
            ByColor { white: true, black: false } => 'W',
            ByColor { white: false, black: true } => 'B',
            _ => '=',
        };
        Some(sides.iter().map(letter).collect())
    }

    #[test]
    fn copies_are_of_the_side_whose_pattern_they_are() {
        for (text, due) in [
            ("flipcolor Bh7", Some("WB")),
            ("flipcolor power A", Some("WB")),
            ("flipcolor flipvertical Bh7", Some("WWBB")),
            ("flipvertical flipcolor Bh7", Some("WBWB")),
            ("flipcolor {Ra1 check}", Some("WB")),
            // The two transforms are combined into one with two copies: `Ra1` for White and `ra8` for Black.
            ("flipcolor {flipcolor Ra1}", Some("WB")),
            // Every copy is a rook of either colour on a square of the file, which is a pattern of both sides.
            ("shiftvertical flipcolor [Rr]a4", None),
            ("flipcolor [Rr]", None),
            ("{flipcolor Ra1 check}", None),
            ("flip Ra1", None),
            ("reversecolor Ra1", None),
            ("Ra1", None),
            ("flipcolor count Ra1", None),
            ("flipcolor 1 2 Ra1", None),
            ("notransform flipcolor Ra1", None),
        ] {
            assert_eq!(sides(text).as_deref(), due, "{text}");
        }
        // A copy with both squares is a pattern of White or of Black. If a shift moved one square off the board, the copy may be a
        // pattern of both.
        let of_pair = sides("shift flipcolor [Aa][a1,h2]").unwrap();
        assert!(['W', 'B', '='].into_iter().all(|letter| of_pair.contains(letter)), "{of_pair}");
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
