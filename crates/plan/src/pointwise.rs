//! Evaluates attacks between designators, square counts, and sets of squares under all shifts of a tile (64 shifts) together. All
//! of them are evaluated in the same way. Take the set of squares for which a condition is true, and move this set by the step that
//! leads from a square `s` to the anchor of the tile. Each bit of the result then represents one shift of the tile. It is set if
//! the condition is true for the square `s + shift`.

use shakmaty::{Bitboard, Square};

use super::{
    dag::{Id, Op},
    lower::Lower,
    sets::contents,
    shifted::{Attack, PlainSet, Set, ShiftedComparison, lines},
    tiles::Anchor,
};
use orbit_core::board::PieceSet;
use orbit_query::tree::Cmp;

impl Lower {
    /// Returns a word with a bit for each shift of a tile (8 by 8 shifts). The bit is set if the attack occurs under this shift.
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

    /// Returns a word with a bit for each shift of a tile (8 by 8 shifts). The bit is set if the comparison of a square count with
    /// a number is true under this shift.
    pub(super) fn shifted_comparison(&mut self, comparison: &ShiftedComparison, anchor: Anchor) -> Id {
        let &ShiftedComparison { ref set, squares, cmp, number } = comparison;
        let words: Vec<Id> = squares.into_iter().map(|square| self.holds_at(set, square, anchor)).collect();
        let planes = self.added(vec![words]);
        let mut reaches = |number: i64| match usize::try_from(number) {
            Ok(number) => self.at_least(&planes, number),
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

    /// Returns the union of the values that a set has under the shifts in `valid`. `squares` contains all squares that the set may
    /// contain before any shift.
    pub(super) fn shifted_set(&mut self, set: &Set, squares: Bitboard, valid: Id, anchor: Anchor) -> Id {
        let words = squares.into_iter().map(|square| {
            let word = self.holds_at(set, square, anchor);
            let word = self.and(word, valid);
            self.moved(word, square.file() as i8 - anchor.x, square.rank() as i8 - anchor.y)
        });
        let words = words.collect();
        self.dag.any_of(words)
    }

    /// Returns a word with a bit for each shift of a tile (8 by 8 shifts). The bit is set if the shifted set contains the shifted
    /// square.
    pub(super) fn holds_at(&mut self, set: &Set, square: Square, anchor: Anchor) -> Id {
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

    /// Evaluates a set after replacing the squares of each designator: with all squares if the designator names `square`, otherwise
    /// with none.
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

    /// Moves a set by the step that leads from `square` to the anchor of a tile (8 by 8 shifts). `square` is a square of the filter
    /// before any shift.
    fn seen_from(&mut self, set: Id, square: Square, anchor: Anchor) -> Id {
        self.moved(set, anchor.x - square.file() as i8, anchor.y - square.rank() as i8)
    }
}
