//! More filters under all shifts of a tile at once: attacks between designators, numbers of squares, and
//! sets of squares.
//!
//! All come from one thought: whether something holds of the square `s + shift` is, for all shifts of a
//! tile, the set of squares of which it holds, moved by the way from `s` to the anchor.

use shakmaty::{Bitboard, Square};

use super::{
    dag::{Id, Op},
    lower::Lower,
    sets::contents,
    tiles::{Anchor, Shifted, ignores_shifts},
};
use crate::{
    board::{PieceSet, full_lines},
    orbit::{FilterRef, Number, Squares},
    query::tree::{Cmp, ConditionOp, Control, Kind as _, NumberOp, Ref, SquaresOp, contents_where},
};

/// Designators that attack each other on more pairs of squares are left to tables.
const PAIRS_MAX: usize = 32;
/// So are sets that may hold more squares.
const SQUARES_MAX: u32 = 16;

/// A designator that shifts move: its pieces and squares.
fn designator(set: &Squares) -> Option<(PieceSet, Bitboard)> {
    match set.op() {
        SquaresOp::Designator { pieces, squares } if !set.mark => Some((pieces.accepts(), *squares)),
        _ => None,
    }
}

/// The same, if none of its lines is full.
fn loose_designator(set: &Squares) -> Option<(PieceSet, Bitboard)> {
    designator(set).filter(|(_, squares)| full_lines(*squares) == (0, 0))
}

/// An attack whose truth can be had for all shifts of a tile.
pub(super) enum Attack<'a> {
    /// A designator attacks a set that shifts leave alone.
    On { from: (PieceSet, Bitboard), to: &'a Squares },
    /// A set that shifts leave alone attacks a designator.
    By { from: &'a Squares, to: (PieceSet, Bitboard) },
    /// A designator attacks another.
    Between { from: (PieceSet, Bitboard), to: (PieceSet, Bitboard) },
}

impl<'a> Attack<'a> {
    /// `x attacks y`.
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

/// How something on one square may attack another.
struct Line {
    from: Square,
    to: Square,
    /// Pieces that leap.
    leapers: PieceSet,
    /// Pieces that need a free way.
    sliders: PieceSet,
}

/// The pairs of squares on which one of `pieces` can attack.
fn lines(pieces: PieceSet, from: Bitboard, to: Bitboard) -> impl Iterator<Item = Line> {
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
        is_line.then_some(Line { from: a, to: b, leapers, sliders })
    })
}

/// `#set cmp number`, whichever side the number stands on.
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

/// The set of `#set`, if that is no `notransform`.
fn cardinality(f: &Number) -> Option<&Squares> {
    match f.op() {
        NumberOp::Cardinality(set) if !f.mark => Some(set),
        _ => None,
    }
}

/// A comparison with a number of squares whose truth can be had for all shifts of a tile.
pub(super) struct Comparison<'a> {
    set: Set<'a>,
    /// The squares that the set may hold before any shift.
    squares: Bitboard,
    cmp: Cmp,
    number: i64,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(filter: FilterRef<'a>) -> Option<Comparison<'a>> {
        let (set, cmp, number) = counted(filter)?;
        let (set, squares) = few_squares(set)?;
        Some(Comparison { set, squares, cmp, number })
    }
}

/// Whether so many copies are counted faster one by one: three steps a copy, and about four a square for all together.
pub(super) fn counts_dearly(filter: FilterRef, copies: usize) -> bool {
    let mut squares = 0;
    filter.walk_unshielded(&mut |filter| {
        let set = counted(filter).map(|(set, ..)| set).filter(|set| !ignores_shifts(set.node()));
        squares += set.and_then(few_squares).map_or(0, |(_, squares)| squares.count());
    });
    4 * squares > 3 * copies
}

/// A set of which each square can be asked for by itself, under all shifts of a tile.
pub(super) enum Set<'a> {
    /// One word tells of all shifts.
    Plain(PlainSet<'a>),
    Union(Box<Set<'a>>, Box<Set<'a>>),
    Intersect(Box<Set<'a>>, Box<Set<'a>>),
    /// The last filter of braces, and what stands before it.
    Braces(Vec<Shifted<'a>>, Box<Set<'a>>),
}

/// A set made of designators alone.
pub(super) enum PlainSet<'a> {
    /// No shift changes anything in it.
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
    fn new(set: &'a Squares) -> Option<Set<'a>> {
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

    fn bound(&self) -> Bitboard {
        match self {
            Set::Plain(set) => set.bound(),
            Set::Union(a, b) => a.bound() | b.bound(),
            Set::Intersect(a, b) => a.bound() & b.bound(),
            Set::Braces(_, last) => last.bound(),
        }
    }
}

/// A set and the squares that it may hold before any shift, if they are few and each can be asked for by itself.
pub(super) fn few_squares(set: &Squares) -> Option<(Set<'_>, Bitboard)> {
    let set = Set::new(set)?;
    let squares = set.bound();
    (squares.count() as u32 <= SQUARES_MAX).then_some((set, squares))
}

impl Lower {
    /// For every shift of a tile, whether an attack is there.
    pub(super) fn shifted_attack(&mut self, attack: &Attack, anchor: Anchor) -> Id {
        let ((pieces, from), (attacked, to)) = match *attack {
            Attack::On { from: (may, squares), to } => {
                let (pieces, to) = (self.dag.pieces(may), self.squares(to));
                let attackers = self.attackers(pieces, may, to);
                return self.shifted_hits(attackers, squares, anchor);
            }
            Attack::By { from, to: (attacked, to) } => {
                let attacked = self.dag.pieces(attacked);
                let may = contents(from);
                let from = self.squares(from);
                let reached = self.attacked(from, may);
                let both = self.and(attacked, reached);
                return self.shifted_hits(both, to, anchor);
            }
            Attack::Between { from, to } => (from, to),
        };
        let attacked = self.dag.pieces(attacked);
        let mut words = Vec::new();
        for line in lines(pieces, from, to) {
            let mut movers = Vec::new();
            if line.leapers != PieceSet::NONE {
                let leapers = self.dag.pieces(line.leapers);
                movers.push(self.seen_from(leapers, line.from, anchor));
            }
            if line.sliders != PieceSet::NONE {
                let sliders = self.dag.pieces(line.sliders);
                let mut word = self.seen_from(sliders, line.from, anchor);
                for square in shakmaty::attacks::between(line.from, line.to) {
                    let empty = self.dag.pieces(PieceSet::EMPTY);
                    let free = self.seen_from(empty, square, anchor);
                    word = self.and(word, free);
                }
                movers.push(word);
            }
            let movers = self.dag.any_of(movers);
            let target = self.seen_from(attacked, line.to, anchor);
            words.push(self.and(movers, target));
        }
        self.dag.any_of(words)
    }

    /// For every shift of a tile, whether a comparison with a number of squares holds.
    pub(super) fn shifted_comparison(&mut self, comparison: &Comparison, anchor: Anchor) -> Id {
        let &Comparison { ref set, squares, cmp, number } = comparison;
        let words: Vec<Id> = squares.into_iter().map(|square| self.holds_at(set, square, anchor)).collect();
        // Entry k: at least k of the words so far. More than one beyond the number nobody asks for.
        let levels = usize::try_from(number + 2).unwrap_or(0);
        let mut at_least = vec![self.dag.mask(true)];
        for word in words {
            if at_least.len() < levels {
                at_least.push(self.dag.mask(false));
            }
            for k in (1..at_least.len()).rev() {
                let more = self.and(at_least[k - 1], word);
                at_least[k] = self.or(at_least[k], more);
            }
        }
        let mut reaches = |number: i64| match usize::try_from(number) {
            Ok(number) => at_least.get(number).copied().unwrap_or_else(|| self.dag.mask(false)),
            Err(_) => self.dag.mask(true),
        };
        let (here, beyond) = (reaches(number), reaches(number + 1));
        match cmp {
            Cmp::Ge => here,
            Cmp::Gt => beyond,
            Cmp::Lt => self.not(here),
            Cmp::Le => self.not(beyond),
            Cmp::Eq => self.dag.add(Op::AndNot(here, beyond)),
            Cmp::Ne => {
                let equal = self.dag.add(Op::AndNot(here, beyond));
                self.not(equal)
            }
        }
    }

    /// The squares that a set holds under any shift of a tile that is in `valid`; before any shift these are some of
    /// `squares`.
    pub(super) fn shifted_set(&mut self, set: &Set, squares: Bitboard, valid: Id, anchor: Anchor) -> Id {
        let words = squares.into_iter().map(|square| {
            let word = self.holds_at(set, square, anchor);
            let word = self.and(word, valid);
            self.moved(word, square.file() as i8 - anchor.x, square.rank() as i8 - anchor.y)
        });
        let words = words.collect();
        self.dag.any_of(words)
    }

    /// For every shift of a tile, whether the shifted set holds the shifted square.
    fn holds_at(&mut self, set: &Set, square: Square, anchor: Anchor) -> Id {
        match set {
            Set::Plain(set) => {
                let word = self.content_at(set, square);
                self.seen_from(word, square, anchor)
            }
            Set::Union(a, b) => {
                let (a, b) = (self.holds_at(a, square, anchor), self.holds_at(b, square, anchor));
                self.or(a, b)
            }
            Set::Intersect(a, b) => {
                let (a, b) = (self.holds_at(a, square, anchor), self.holds_at(b, square, anchor));
                self.and(a, b)
            }
            Set::Braces(conditions, last) => {
                let word = self.holds_at(last, square, anchor);
                conditions.iter().fold(word, |word, condition| {
                    let truth = self.shifted_truth(condition, anchor);
                    self.and(word, truth)
                })
            }
        }
    }

    /// The squares that would be in a set if its designators named them as they name `square`.
    fn content_at(&mut self, set: &PlainSet, square: Square) -> Id {
        match set {
            PlainSet::Still(set) => self.squares(set),
            PlainSet::Designator(pieces, squares) => {
                self.dag.pieces(if squares.contains(square) { *pieces } else { PieceSet::NONE })
            }
            PlainSet::Union(a, b) => {
                let (a, b) = (self.content_at(a, square), self.content_at(b, square));
                self.or(a, b)
            }
            PlainSet::Intersect(a, b) => {
                let (a, b) = (self.content_at(a, square), self.content_at(b, square));
                self.and(a, b)
            }
        }
    }

    /// A set as it is seen from a square of the unshifted filter: moved from there to the anchor.
    fn seen_from(&mut self, set: Id, square: Square, anchor: Anchor) -> Id {
        self.moved(set, anchor.x - square.file() as i8, anchor.y - square.rank() as i8)
    }
}
