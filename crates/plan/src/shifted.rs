//! Finds the filters that can be evaluated for all shifts of a tile (64 shifts) together, and splits them into their parts.
//!
//! This file only analyses the filters. `tiles.rs` and `pointwise.rs` lower the parts.

use orbit_transforms::AsOrbit as _;
use shakmaty::{Bitboard, Square};

use orbit_core::board::{PieceSet, full_lines};
use orbit_query::tree::{
    Cmp, ConditionOp, Control, Kind as _, NumberOp, PositionOp, Ref, SquaresOp, TextOp, contents_where,
};
use orbit_transforms::{Expanded, FilterRef, Number, Squares};

/// The maximum number of square pairs, one square from each of two designators, between which an attack is possible. A filter with
/// more pairs becomes a table.
const PAIRS_MAX: usize = 32;
/// The maximum number of squares that a set may contain if it is to be evaluated for all shifts together. A filter with a larger
/// set becomes a table.
const SQUARES_MAX: u32 = 16;

/// A filter that can be evaluated for all shifts of a tile (64 shifts) together.
pub(super) enum Shifted<'a> {
    /// A filter that no shift changes.
    Still(FilterRef<'a>),
    /// A designator: its pieces and squares.
    Designator(PieceSet, Bitboard),
    /// The intersection of a designator with a set that no shift changes.
    Restricted(PieceSet, Bitboard, &'a Squares),
    Attack(Attack<'a>),
    Comparison(ShiftedComparison<'a>),
    Not(Box<Shifted<'a>>),
    All(Vec<Shifted<'a>>),
    Any(Vec<Shifted<'a>>),
    If {
        condition: Box<Shifted<'a>>,
        then: Box<Shifted<'a>>,
        other: Option<Box<Shifted<'a>>>,
    },
    /// `find` with an operand that can be evaluated for all shifts together.
    Found {
        back: bool,
        of: Box<Shifted<'a>>,
    },
}

impl<'a> Shifted<'a> {
    /// Splits a filter into parts that are evaluated for all shifts of a tile (64 shifts) together. Returns `None` if a part of the
    /// filter cannot be evaluated in this way.
    pub(super) fn new(filter: FilterRef<'a>) -> Option<Shifted<'a>> {
        if ignores_shifts(filter) {
            return Some(Shifted::Still(filter));
        }
        match filter {
            Ref::Condition(f) => match f.op() {
                ConditionOp::Not(of) => Some(Shifted::Not(Box::new(Shifted::new(of.node())?))),
                ConditionOp::And(..) | ConditionOp::Braces(_) => Shifted::parts(filter).map(Shifted::All),
                ConditionOp::Or(..) => Shifted::parts(filter).map(Shifted::Any),
                ConditionOp::If { .. } => Shifted::branches(filter),
                ConditionOp::Differ(..) => ShiftedComparison::new(filter).map(Shifted::Comparison),
                _ => None,
            },
            Ref::Squares(f) => match f.op() {
                SquaresOp::Designator { pieces, squares } => {
                    Some(Shifted::Designator(pieces.accepts(), *squares))
                }
                SquaresOp::Intersect(a, b) => restricted(a, b).or_else(|| restricted(b, a)),
                SquaresOp::Attacks(x, y) | SquaresOp::AttackedBy(y, x) => {
                    Attack::new(x, y).map(Shifted::Attack)
                }
                SquaresOp::Union(..) => Shifted::parts(filter).map(Shifted::Any),
                SquaresOp::Control(of) => Shifted::control(filter, of),
                _ => None,
            },
            Ref::Number(f) => match f.op() {
                NumberOp::Compare(..) => ShiftedComparison::new(filter).map(Shifted::Comparison),
                NumberOp::Control(of) => Shifted::control(filter, of),
                _ => None,
            },
            Ref::Text(f) => match f.op() {
                TextOp::Control(of) => Shifted::control(filter, of),
                _ => None,
            },
            Ref::Position(f) => match f.op() {
                PositionOp::Find { back, of, .. } => {
                    Some(Shifted::Found { back: *back, of: Box::new(Shifted::new(of.node())?) })
                }
                PositionOp::Control(of) => Shifted::control(filter, of),
                _ => None,
            },
        }
    }

    fn parts(filter: FilterRef<'a>) -> Option<Vec<Shifted<'a>>> {
        filter.children().into_iter().map(Shifted::new).collect()
    }

    fn control<F>(filter: FilterRef<'a>, of: &Control<Expanded, F>) -> Option<Shifted<'a>> {
        match of {
            Control::Var(_) => None,
            Control::If { .. } => Shifted::branches(filter),
            Control::Braces { .. } => Shifted::parts(filter).map(Shifted::All),
        }
    }

    fn branches(filter: FilterRef<'a>) -> Option<Shifted<'a>> {
        let mut parts = Shifted::parts(filter)?.into_iter().map(Box::new);
        let (condition, then) = (parts.next()?, parts.next()?);
        Some(Shifted::If { condition, then, other: parts.next() })
    }
}

/// Returns the pieces and squares of a designator whose squares are shifted. Returns `None` for any other set.
fn designator(set: &Squares) -> Option<(PieceSet, Bitboard)> {
    match set.op() {
        SquaresOp::Designator { pieces, squares } if !set.mark => Some((pieces.accepts(), *squares)),
        _ => None,
    }
}

/// Does the same as [`designator`], but returns `None` if the designator contains a full rank or file.
fn loose_designator(set: &Squares) -> Option<(PieceSet, Bitboard)> {
    designator(set).filter(|(_, squares)| full_lines(*squares) == (0, 0))
}

/// An attack that can be evaluated for all shifts of a tile (64 shifts) together.
pub(super) enum Attack<'a> {
    /// A designator attacks a set that no shift changes.
    On { from: (PieceSet, Bitboard), to: &'a Squares },
    /// A set that no shift changes attacks a designator.
    By { from: &'a Squares, to: (PieceSet, Bitboard) },
    /// A designator attacks another designator.
    Between { from: (PieceSet, Bitboard), to: (PieceSet, Bitboard) },
}

impl<'a> Attack<'a> {
    /// Splits `x attacks y` into its parts. Returns `None` if it cannot be evaluated for all shifts together.
    pub(super) fn new(x: &'a Squares, y: &'a Squares) -> Option<Attack<'a>> {
        if ignores_shifts(y.node()) {
            return Some(Attack::On { from: designator(x)?, to: y });
        }
        if ignores_shifts(x.node()) {
            return Some(Attack::By { from: x, to: designator(y)? });
        }
        let (from, to) = (loose_designator(x)?, loose_designator(y)?);
        (lines(from.0, from.1, to.1).count() <= PAIRS_MAX).then_some(Attack::Between { from, to })
    }
}

/// Two squares, and the pieces that can attack the second square from the first.
pub(super) struct AttackLine {
    pub(super) from: Square,
    pub(super) to: Square,
    /// The pieces that attack `to` from `from`, whatever stands in between.
    pub(super) leapers: PieceSet,
    /// The pieces that attack `to` from `from` only if the squares in between are empty.
    pub(super) sliders: PieceSet,
}

/// Returns the pairs of squares, one in `from` and one in `to`, between which one of `pieces` can attack.
pub(super) fn lines(pieces: PieceSet, from: Bitboard, to: Bitboard) -> impl Iterator<Item = AttackLine> {
    let pairs = from.into_iter().flat_map(move |a| to.into_iter().map(move |b| (a, b)));
    pairs.filter_map(move |(a, b)| {
        let (dx, dy) = (b.file() as i8 - a.file() as i8, b.rank() as i8 - a.rank() as i8);
        let steps = (dx.abs(), dy.abs());
        let may = |code: u8, role: u8| match (role, steps) {
            (1, (1, 1)) => (dy == 1) == (code < 8),
            (2, (1, 2) | (2, 1)) => true,
            (6, (0 | 1, 0 | 1)) => a != b,
            _ => false,
        };
        let slides = |role: u8| match role {
            3 => steps.0 == steps.1,
            4 => steps.0 == 0 || steps.1 == 0,
            5 => steps.0 == steps.1 || steps.0 == 0 || steps.1 == 0,
            _ => false,
        };
        let leapers = contents_where(|code| pieces.contains(code) && may(code.0, code.0 & 7));
        let sliders = contents_where(|code| pieces.contains(code) && a != b && slides(code.0 & 7));
        let is_line = leapers != PieceSet::NONE || sliders != PieceSet::NONE;
        is_line.then_some(AttackLine { from: a, to: b, leapers, sliders })
    })
}

/// Splits `#set cmp number` into its parts. The number may be on either side. Returns `None` for any other filter.
fn counted(filter: FilterRef<'_>) -> Option<(&Squares, Cmp, i64)> {
    let (cmp, a, b) = match filter {
        Ref::Condition(f) if let ConditionOp::Differ(a, b) = f.op() => (Cmp::Ne, a, b),
        Ref::Number(f) if let NumberOp::Compare(cmp, a, b) = f.op() => (*cmp, a, b),
        _ => return None,
    };
    let turned = match cmp {
        Cmp::Lt => Cmp::Gt,
        Cmp::Le => Cmp::Ge,
        Cmp::Gt => Cmp::Lt,
        Cmp::Ge => Cmp::Le,
        Cmp::Eq | Cmp::Ne => cmp,
    };
    match (a.op(), b.op()) {
        (_, NumberOp::Int(number)) => Some((cardinality(a)?, cmp, i64::from(*number))),
        (NumberOp::Int(number), _) => Some((cardinality(b)?, turned, i64::from(*number))),
        _ => None,
    }
}

/// Returns the set in `#set`. Returns `None` for any other number, and for a filter under `notransform`.
fn cardinality(f: &Number) -> Option<&Squares> {
    match f.op() {
        NumberOp::Cardinality(set) if !f.mark => Some(set),
        _ => None,
    }
}

/// A comparison of a set's square count with a number, if it can be evaluated for all shifts of a tile together.
pub(super) struct ShiftedComparison<'a> {
    pub(super) set: Set<'a>,
    /// All squares that `set` can contain, in any position, before a shift moves them.
    pub(super) squares: Bitboard,
    pub(super) cmp: Cmp,
    pub(super) number: i64,
}

impl<'a> ShiftedComparison<'a> {
    pub(super) fn new(filter: FilterRef<'a>) -> Option<ShiftedComparison<'a>> {
        let (set, cmp, number) = counted(filter)?;
        let (set, squares) = few_squares(set)?;
        Some(ShiftedComparison { set, squares, cmp, number })
    }
}

/// Returns true if it is faster to count squares separately for each copy (transformed filter) than for all shifts together. The
/// former takes about three steps per copy, the latter about four steps per square.
pub(super) fn counts_dearly(filter: FilterRef, copies: usize) -> bool {
    let mut squares = 0;
    filter.walk_unshielded(&mut |filter| {
        let set = counted(filter).map(|(set, ..)| set).filter(|set| !ignores_shifts(set.node()));
        squares += set.and_then(few_squares).map_or(0, |(_, squares)| squares.count());
    });
    4 * squares > 3 * copies
}

/// A set that is computed one square at a time, each square for all shifts of a tile together.
pub(super) enum Set<'a> {
    /// A set for which a single word contains the results under all shifts.
    Plain(PlainSet<'a>),
    Union(Box<Set<'a>>, Box<Set<'a>>),
    Intersect(Box<Set<'a>>, Box<Set<'a>>),
    /// Filters in braces. The last one is the set; the others must match.
    Braces(Vec<Shifted<'a>>, Box<Set<'a>>),
}

/// A set that consists only of designators, and of sets that no shift changes.
pub(super) enum PlainSet<'a> {
    /// A set that no shift changes.
    Still(&'a Squares),
    Designator(PieceSet, Bitboard),
    Union(Box<PlainSet<'a>>, Box<PlainSet<'a>>),
    Intersect(Box<PlainSet<'a>>, Box<PlainSet<'a>>),
}

impl<'a> PlainSet<'a> {
    fn new(set: &'a Squares) -> Option<PlainSet<'a>> {
        if ignores_shifts(set.node()) {
            return Some(PlainSet::Still(set));
        }
        if let Some((pieces, squares)) = loose_designator(set) {
            return Some(PlainSet::Designator(pieces, squares));
        }
        let part = |set| PlainSet::new(set).map(Box::new);
        match set.op() {
            _ if set.mark => None,
            SquaresOp::Union(a, b) => Some(PlainSet::Union(part(a)?, part(b)?)),
            SquaresOp::Intersect(a, b) => Some(PlainSet::Intersect(part(a)?, part(b)?)),
            _ => None,
        }
    }

    fn bound(&self) -> Bitboard {
        match self {
            PlainSet::Still(_) => Bitboard::FULL,
            PlainSet::Designator(_, squares) => *squares,
            PlainSet::Union(a, b) => a.bound() | b.bound(),
            PlainSet::Intersect(a, b) => a.bound() & b.bound(),
        }
    }
}

impl<'a> Set<'a> {
    pub(super) fn new(set: &'a Squares) -> Option<Set<'a>> {
        let part = |set| Set::new(set).map(Box::new);
        let braced = set.node().any(&mut FilterRef::is_braces);
        match set.op() {
            SquaresOp::Union(a, b) if braced => Some(Set::Union(part(a)?, part(b)?)),
            SquaresOp::Intersect(a, b) if braced => Some(Set::Intersect(part(a)?, part(b)?)),
            SquaresOp::Control(Control::Braces { first, last })
                if !set.mark && !ignores_shifts(set.node()) =>
            {
                let conditions = first.iter().map(|filter| Shifted::new(filter.node()));
                Some(Set::Braces(conditions.collect::<Option<_>>()?, part(last)?))
            }
            _ => PlainSet::new(set).map(Set::Plain),
        }
    }

    /// Returns all squares that the set can contain, in any position, before a shift moves them.
    pub(super) fn bound(&self) -> Bitboard {
        match self {
            Set::Plain(set) => set.bound(),
            Set::Union(a, b) => a.bound() | b.bound(),
            Set::Intersect(a, b) => a.bound() & b.bound(),
            Set::Braces(_, last) => last.bound(),
        }
    }
}

/// Splits a set into its parts. Also returns the squares that the set may contain before any shift. Returns `None` if the set
/// cannot be split or may contain too many squares.
pub(super) fn few_squares(set: &Squares) -> Option<(Set<'_>, Bitboard)> {
    let set = Set::new(set)?;
    let squares = set.bound();
    (squares.count() as u32 <= SQUARES_MAX).then_some((set, squares))
}

/// Returns the intersection of a designator whose squares are shifted with a set that no shift changes. Returns `None` for any
/// other operands.
fn restricted<'a>(designator: &Squares, others: &'a Squares) -> Option<Shifted<'a>> {
    match designator.op() {
        SquaresOp::Designator { pieces, squares } if !designator.mark && ignores_shifts(others.node()) => {
            Some(Shifted::Restricted(pieces.accepts(), *squares, others))
        }
        _ => None,
    }
}

/// Returns true if a filter contains anything besides designators and logic.
pub(super) fn is_pointwise(filter: FilterRef) -> bool {
    let mut found = false;
    filter.walk_unshielded(&mut |filter| {
        found |= match filter {
            Ref::Condition(f) => matches!(f.op(), ConditionOp::Differ(..)),
            Ref::Squares(f) => matches!(f.op(), SquaresOp::Attacks(..) | SquaresOp::AttackedBy(..)),
            Ref::Number(f) => matches!(f.op(), NumberOp::Compare(..) | NumberOp::Find { .. }),
            Ref::Position(f) => matches!(f.op(), PositionOp::Find { .. }),
            Ref::Text(_) => false,
        };
    });
    found
}

/// Returns true if no shift changes any part of a filter.
pub(super) fn ignores_shifts(filter: FilterRef) -> bool {
    let mut moves = false;
    filter.walk_unshielded(&mut |filter| {
        moves |= match filter {
            Ref::Squares(f) => match f.op() {
                SquaresOp::Designator { squares, .. } => *squares != Bitboard::FULL,
                SquaresOp::Shade { .. } => true,
                _ => false,
            },
            _ => false,
        }
    });
    !moves
}
