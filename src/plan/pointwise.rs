//! More filters under all shifts of a tile at once: attacks between designators, numbers of squares, and
//! sets of squares.
//!
//! All come from one thought: whether something holds of the square `s + shift` is, for all shifts of a
//! tile, the set of squares of which it holds, moved by the way from `s` to the anchor.

use shakmaty::{Bitboard, Square};

use super::{
    dag::{Id, Op},
    lower::{Lower, contents},
    tiles::{Anchor, collapsible, ignores_shifts},
};
use crate::{
    board::{PieceSet, full_lines},
    orbit::{Filter, Plain},
    query::{Op as Q, tree::Cmp},
};

/// Designators that attack each other on more pairs of squares are left to tables.
const PAIRS_MAX: usize = 32;
/// So are sets that may hold more squares.
const SQUARES_MAX: u32 = 16;

/// A designator that shifts move, none of whose lines is full.
fn loose_designator(filter: &Filter) -> Option<(PieceSet, Bitboard)> {
    let Filter::Plain(Plain { op: Q::Designator { pieces, squares }, fixed: false, .. }) = filter else {
        return None;
    };
    (full_lines(*squares) == (0, 0)).then(|| (pieces.accepts(), *squares))
}

/// The attacker and the attacked of `x attacks y` and `y attackedby x`.
pub(super) fn attack(f: &Plain) -> Option<(&Filter, &Filter)> {
    match (&f.op, &f.args[..]) {
        (Q::Attacks, [x, y]) | (Q::AttackedBy, [y, x]) => Some((x, y)),
        _ => None,
    }
}

/// Whether the truth of an attack can be had for all shifts of a tile.
pub(super) fn collapsible_attack((x, y): (&Filter, &Filter)) -> bool {
    let is_designator =
        |f: &Filter| matches!(f, Filter::Plain(Plain { op: Q::Designator { .. }, fixed: false, .. }));
    match (ignores_shifts(x), ignores_shifts(y)) {
        (true, true) => true,
        (true, false) => is_designator(y),
        (false, true) => is_designator(x),
        (false, false) => {
            let (Some((pieces, from)), Some((_, to))) = (loose_designator(x), loose_designator(y)) else {
                return false;
            };
            lines(pieces, from, to).count() <= PAIRS_MAX
        }
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
        let leapers = Q::contents_where(|code| pieces.contains(code) && may(code.0, code.0 & 7));
        let sliders = Q::contents_where(|code| pieces.contains(code) && a != b && slides(code.0 & 7));
        let is_line = leapers != PieceSet::NONE || sliders != PieceSet::NONE;
        is_line.then_some(Line { from: a, to: b, leapers, sliders })
    })
}

/// `#set cmp number`, whichever side the number stands on.
fn counted(f: &Plain) -> Option<(&Filter, Cmp, i64)> {
    let (Q::Compare(cmp), [a, b]) = (&f.op, &f.args[..]) else { return None };
    let set = |f: &'_ Filter| matches!(f, Filter::Plain(Plain { op: Q::Cardinality, .. }));
    let int = |f: &Filter| match f {
        Filter::Plain(Plain { op: Q::Int(value), .. }) => Some(i64::from(*value)),
        _ => None,
    };
    let turned = match cmp {
        Cmp::Lt => Cmp::Gt,
        Cmp::Le => Cmp::Ge,
        Cmp::Gt => Cmp::Lt,
        Cmp::Ge => Cmp::Le,
        Cmp::Eq | Cmp::Ne => *cmp,
    };
    let (count, cmp, number) = match (int(a), int(b)) {
        (None, Some(number)) if set(a) => (a, *cmp, number),
        (Some(number), None) if set(b) => (b, turned, number),
        _ => return None,
    };
    let Filter::Plain(Plain { args, fixed: false, .. }) = count else { return None };
    Some((&args[0], cmp, number))
}

/// Whether the truth of a comparison can be had for all shifts of a tile.
pub(super) fn collapsible_count(f: &Plain) -> bool {
    counted(f).is_some_and(|(set, ..)| squares_of(set).is_some())
}

/// Whether so many copies are counted faster one by one: three steps a copy, and about four a square for all together.
pub(super) fn counts_dearly(filter: &Filter, copies: usize) -> bool {
    let mut squares = 0;
    filter.walk_unshielded(&mut |plain| {
        let counted = counted(plain).filter(|(set, ..)| !ignores_shifts(set));
        squares += counted.and_then(|(set, ..)| squares_of(set)).map_or(0, Bitboard::count);
    });
    4 * squares > 3 * copies
}

/// The squares that a set may hold before any shift, if they are few and each can be asked for by itself.
pub(super) fn squares_of(set: &Filter) -> Option<Bitboard> {
    bound(set).filter(|squares| squares.count() as u32 <= SQUARES_MAX)
}

fn bound(set: &Filter) -> Option<Bitboard> {
    if ignores_shifts(set) {
        return Some(Bitboard::FULL);
    }
    if let Some((_, squares)) = loose_designator(set) {
        return Some(squares);
    }
    let Filter::Plain(Plain { op, args, fixed: false, .. }) = set else { return None };
    match op {
        Q::Union => Some(bound(&args[0])? | bound(&args[1])?),
        Q::Intersect => Some(bound(&args[0])? & bound(&args[1])?),
        Q::Compound => {
            let (last, conditions) = args.split_last()?;
            conditions.iter().all(collapsible).then(|| bound(last))?
        }
        _ => None,
    }
}

impl Lower {
    /// For every shift of a tile, whether `x` attacks `y`.
    pub(super) fn shifted_attack(&mut self, (x, y): (&Filter, &Filter), anchor: Anchor) -> Id {
        let may = contents(x);
        let designator = |filter: &Filter| match filter {
            Filter::Plain(Plain { op: Q::Designator { pieces, squares }, .. }) => {
                (pieces.accepts(), *squares)
            }
            _ => unreachable!("collapsible saw a designator"),
        };
        if ignores_shifts(y) {
            let (pieces, squares) = designator(x);
            let (pieces, y) = (self.dag.pieces(pieces), self.set(y));
            let attackers = self.attackers(pieces, may, y);
            return self.shifted_hits(attackers, squares, anchor);
        }
        let (attacked, to) = designator(y);
        let attacked = self.dag.pieces(attacked);
        if ignores_shifts(x) {
            let x = self.set(x);
            let reached = self.attacked(x, may);
            let both = self.and(attacked, reached);
            return self.shifted_hits(both, to, anchor);
        }
        let (pieces, from) = designator(x);
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
    pub(super) fn shifted_count(&mut self, f: &Plain, anchor: Anchor) -> Id {
        let (set, cmp, number) = counted(f).expect("collapsible saw one");
        let words: Vec<Id> = squares_of(set)
            .expect("collapsible saw few squares")
            .into_iter()
            .map(|square| self.holds_at(set, square, anchor))
            .collect();
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

    /// The squares that a set holds under any shift of a tile that is in `valid`.
    pub(super) fn shifted_set(&mut self, set: &Filter, valid: Id, anchor: Anchor) -> Id {
        let squares = squares_of(set).expect("the caller asked");
        let words = squares.into_iter().map(|square| {
            let word = self.holds_at(set, square, anchor);
            let word = self.and(word, valid);
            self.moved(word, square.file() as i8 - anchor.x, square.rank() as i8 - anchor.y)
        });
        let words = words.collect();
        self.dag.any_of(words)
    }

    /// For every shift of a tile, whether the shifted set holds the shifted square.
    fn holds_at(&mut self, set: &Filter, square: Square, anchor: Anchor) -> Id {
        let Filter::Plain(Plain { op, args, .. }) = set else {
            let word = self.content_at(set, square);
            return self.seen_from(word, square, anchor);
        };
        match op {
            Q::Compound if !ignores_shifts(set) => {
                let (last, conditions) = args.split_last().expect("braces hold a filter");
                let word = self.holds_at(last, square, anchor);
                conditions.iter().fold(word, |word, condition| {
                    let truth = self.shifted_truth(condition, anchor);
                    self.and(word, truth)
                })
            }
            Q::Union | Q::Intersect if set.any(|plain| matches!(plain.op, Q::Compound)) => {
                let (a, b) =
                    (self.holds_at(&args[0], square, anchor), self.holds_at(&args[1], square, anchor));
                if *op == Q::Union { self.or(a, b) } else { self.and(a, b) }
            }
            _ => {
                let word = self.content_at(set, square);
                self.seen_from(word, square, anchor)
            }
        }
    }

    /// The squares that would be in a set if its designators named them as they name `square`.
    fn content_at(&mut self, set: &Filter, square: Square) -> Id {
        if ignores_shifts(set) {
            return self.set(set);
        }
        if let Some((pieces, squares)) = loose_designator(set) {
            let pieces = if squares.contains(square) { pieces } else { PieceSet::NONE };
            return self.dag.pieces(pieces);
        }
        let Filter::Plain(Plain { op, args, .. }) = set else { unreachable!("bound saw a plain filter") };
        let (a, b) = (self.content_at(&args[0], square), self.content_at(&args[1], square));
        if *op == Q::Union { self.or(a, b) } else { self.and(a, b) }
    }

    /// A set as it is seen from a square of the unshifted filter: moved from there to the anchor.
    fn seen_from(&mut self, set: Id, square: Square, anchor: Anchor) -> Id {
        self.moved(set, anchor.x - square.file() as i8, anchor.y - square.rank() as i8)
    }
}
