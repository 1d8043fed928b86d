//! Lowers filters whose value is a number. Each becomes a word, and the mask of positions at which the number has a value.

use shakmaty::{Bitboard, Color};

use super::{
    DIR_STEPS,
    columns::TagColumn,
    dag::{Carried, Id, NO_VALUE, Op},
    lower::Lower,
    sets::contents,
};
use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{
    Arith, Cmp, Control, Kind as _, NumberOp as N, OneOrMore, PositionOp, SquaresOp, contents_where,
};
use orbit_transforms::{Number, Position, Squares};

/// The steps of a knight (files, ranks).
const KNIGHT_STEPS: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

impl Lower {
    /// Lowers a number. Returns its word, and the mask of positions at which it has a value.
    pub(super) fn number(&mut self, f: &Number) -> (Id, Id) {
        let always = self.dag.mask(true);
        match f.op() {
            N::Int(value) => (self.dag.number(*value), always),
            N::Cardinality(of) => {
                let set = self.squares(of);
                (self.dag.add(Op::Count(set)), always)
            }
            N::AttackCount(x, y) => (self.attack_count(x, y), always),
            N::RayCount { dirs, attack, sets } => (self.ray_count(sets, dirs.0, *attack), always),
            N::Power(of) => (self.power(of), always),
            N::Rank(of) => self.of_square(of, |lower, set| lower.dag.add(Op::Rank(set))),
            N::File(of) => self.of_square(of, |lower, set| lower.dag.add(Op::File(set))),
            N::ContentType { signed, of } => self.of_square(of, |lower, set| lower.content(set, *signed)),
            N::Arith(arith, a, b) => self.arithmetic(*arith, a, b),
            N::Neg(of) => {
                let (a, ok) = self.number(of);
                let zero = self.dag.number(0);
                (self.dag.add(Op::Sub(zero, a)), ok)
            }
            N::Abs(of) => {
                let (a, ok) = self.number(of);
                let zero = self.dag.number(0);
                let minus = self.dag.add(Op::Sub(zero, a));
                let negative = self.dag.add(Op::Compare(Cmp::Lt, a, zero));
                (self.select(negative, minus, a), ok)
            }
            N::Sqrt(of) => {
                let (a, ok) = self.number(of);
                let zero = self.dag.number(0);
                let possible = self.dag.add(Op::Compare(Cmp::Ge, a, zero));
                let root = self.dag.add(Op::Sqrt(a));
                (root, self.and(ok, possible))
            }
            N::InRange { lo, hi, of } => self.in_range(lo, hi, of),
            N::Max(all) => self.extremum(all, true),
            N::Min(all) => self.extremum(all, false),
            N::Compare(cmp, a, b) => {
                let (left, ok, holds) = self.compared(*cmp, a, b);
                (left, self.and(ok, holds))
            }
            N::ColorValue(color) => (self.dag.number(sign(*color)), always),
            N::SideToMove => {
                let white = self.dag.add(Op::WhiteToMove);
                let (one, minus) = (self.dag.number(1), self.dag.number(-1));
                (self.select(white, one, minus), always)
            }
            N::Ply => (self.dag.add(Op::Ply), always),
            N::MoveNumber => (self.move_number(), always),
            N::GameNumber => self.column_number(TagColumn::GameNumber),
            N::Year => self.column_number(TagColumn::Year),
            N::Elo(color) => self.column_number(TagColumn::Elo(*color)),
            N::LegalCount(of) => {
                let (from, to) = (self.squares(&of.from), self.squares(&of.to));
                (self.dag.add(Op::LegalCount { from, to, pseudo: of.pseudo, only: of.only }), always)
            }
            N::Find { back, counted, of, .. } => self.find_count(of, *back, *counted),
            N::Control(Control::Var(var)) => match self.cells.number(*var) {
                Some(&number) => (number, always),
                None => self.no_number(),
            },
            N::Control(Control::If { condition, then, other }) => {
                let (mask, then, other) =
                    self.branches(condition.node(), |lower| lower.number(then), |lower| lower.number(other));
                self.either(mask, then, other)
            }
            N::Control(Control::Braces { first, last }) => {
                let (all, (number, ok)) = self.braces(first, |lower| lower.number(last));
                (number, self.and(ok, all))
            }
            N::Game(op) => self.game_number(op),
            N::Form(orbit) => self.number_of(orbit),
        }
    }

    /// Lowers a position filter. Returns the ply of the position, and the mask of positions at which the filter has a value.
    pub(super) fn position(&mut self, f: &Position) -> (Id, Id) {
        match f.op() {
            PositionOp::Find { back, of, .. } => {
                let hit = self.apart(|lower| lower.truth(of.node()));
                let ok = self.dag.carry(Carried::Any, *back, hit);
                (self.dag.carry(Carried::Nearest, *back, hit), ok)
            }
            PositionOp::Control(Control::Var(var)) => match self.cells.position(*var) {
                Some(&ply) => (ply, self.dag.mask(true)),
                None => self.no_number(),
            },
            PositionOp::Control(Control::If { condition, then, other }) => {
                let (mask, then, other) = self.branches(
                    condition.node(),
                    |lower| lower.position(then),
                    |lower| lower.position(other),
                );
                self.either(mask, then, other)
            }
            PositionOp::Control(Control::Braces { first, last }) => {
                let (all, (ply, ok)) = self.braces(first, |lower| lower.position(last));
                (ply, self.and(ok, all))
            }
            PositionOp::Game(op) => self.game_position(op),
            PositionOp::Form(never) => match *never {},
        }
    }

    pub(super) fn no_number(&mut self) -> (Id, Id) {
        (self.dag.number(0), self.dag.mask(false))
    }

    /// Returns the first number where the mask is true, and the second number elsewhere.
    fn either(&mut self, mask: Id, (a, a_ok): (Id, Id), (b, b_ok): (Id, Id)) -> (Id, Id) {
        (self.select(mask, a, b), self.select(mask, a_ok, b_ok))
    }

    /// Lowers a number that is computed from a set, and that has a value only if the set consists of exactly one square.
    fn of_square(&mut self, of: &Squares, number: impl FnOnce(&mut Lower, Id) -> Id) -> (Id, Id) {
        let set = self.squares(of);
        let single = self.dag.add(Op::Single(set));
        (number(self, set), single)
    }

    /// Returns the number of pairs (square of `x`, square of `y`) in which the piece on the first square attacks the second. The
    /// attacked squares are counted separately for each direction. Within one direction, no square is attacked twice: pieces that
    /// step reach different squares from different squares, and of two sliding pieces, the nearer one blocks the other.
    fn attack_count(&mut self, x: &Squares, y: &Squares) -> Id {
        let may = contents(x);
        let (x, y) = (self.squares(x), self.squares(y));
        let mut reached = Vec::new();
        let diagonal: Vec<(i8, i8)> = DIR_STEPS.into_iter().filter(|(dx, dy)| dx * dy != 0).collect();
        let pawns = |dy: i8| diagonal.iter().copied().filter(move |step| step.1 == dy).collect::<Vec<_>>();
        let leaps = [
            (contents_where(|code| code.0 & 7 == 2), KNIGHT_STEPS.to_vec()),
            (contents_where(|code| code.0 & 7 == 6), DIR_STEPS.to_vec()),
            (PieceSet::only(Code(1)), pawns(1)),
            (PieceSet::only(Code(9)), pawns(-1)),
        ];
        for (pieces, steps) in leaps {
            if let Some(movers) = self.those_among(may, pieces, x) {
                reached.extend(steps.into_iter().map(|(dx, dy)| self.dag.add(Op::Step(movers, dx, dy))));
            }
        }
        for dir in 0..8 {
            let role = if dir % 2 == 0 { 4 } else { 3 };
            let pieces = contents_where(|code| [role, 5].contains(&(code.0 & 7)));
            if let Some(movers) = self.those_among(may, pieces, x) {
                let empty = self.dag.pieces(PieceSet::EMPTY);
                reached.push(self.dag.add(Op::Slide { set: movers, empty, dir }));
            }
        }
        self.sum_of_counts(reached, y)
    }

    /// Returns the squares of a set on which one of `pieces` stands. `may` contains every piece that can stand on a square of the
    /// set. Returns `None` if `may` contains none of `pieces`.
    fn those_among(&mut self, may: PieceSet, pieces: PieceSet, set: Id) -> Option<Id> {
        let pieces = PieceSet(pieces.0 & may.0);
        (pieces != PieceSet::NONE).then(|| {
            let pieces = self.dag.pieces(pieces);
            self.and(pieces, set)
        })
    }

    fn sum_of_counts(&mut self, sets: Vec<Id>, within: Id) -> Id {
        let counts = sets.into_iter().map(|set| {
            let both = self.and(set, within);
            self.dag.add(Op::Count(both))
        });
        let counts = counts.collect();
        self.dag.sum_of(counts)
    }

    /// Returns the number of lines that begin in the first set of `of`, pass through the sets in between, and end in the last set.
    /// In a given direction, a square is the end of at most one line, so the function adds up the numbers of end squares in all
    /// directions.
    fn ray_count(&mut self, of: &OneOrMore<Squares>, dirs: u8, attack: bool) -> Id {
        let occupied = self.dag.pieces(PieceSet::WHITE.union(PieceSet::BLACK));
        let empty = self.dag.pieces(PieceSet::EMPTY);
        let sets: Vec<Id> = of
            .iter()
            .map(|set| {
                let set = self.squares(set);
                self.and(set, occupied)
            })
            .collect();
        let mut ends = Vec::new();
        for dir in (0..8).filter(|dir| dirs >> dir & 1 != 0) {
            let mut at = sets[0];
            if attack {
                let role = if dir % 2 == 0 { 4 } else { 3 };
                let sliders = self.pieces_where(|code| [role, 5].contains(&(code.0 & 7)));
                at = self.and(at, sliders);
            }
            for &set in &sets[1..] {
                let seen = self.dag.add(Op::Slide { set: at, empty, dir });
                at = self.and(seen, set);
            }
            ends.push(at);
        }
        self.sum_of_counts(ends, occupied)
    }

    pub(super) fn power(&mut self, of: &Squares) -> Id {
        let may = contents(of);
        let set = self.squares(of);
        // If a designator names all squares, its pieces need no intersection with its squares.
        let is_whole = matches!(of.op(), SquaresOp::Designator { squares: Bitboard::FULL, .. });
        // The piece values 9, 5, 3 and 1 are summed bit by bit, the highest bit first. Each entry lists the roles whose value has
        // this bit.
        let mut sum = self.dag.number(0);
        for roles in [&[5u8][..], &[4], &[2, 3], &[1, 2, 3, 4, 5]] {
            sum = self.dag.add(Op::Add(sum, sum));
            if let Some(pieces) = self.movers(may, roles) {
                let here = if is_whole { pieces } else { self.and(pieces, set) };
                let count = self.dag.add(Op::Count(here));
                sum = self.dag.add(Op::Add(sum, count));
            }
        }
        sum
    }

    pub(super) fn content(&mut self, set: Id, signed: bool) -> Id {
        let code = self.dag.add(Op::Content(set));
        let seven = self.dag.word(7);
        let role = self.and(code, seven);
        if !signed {
            return role;
        }
        let white = self.dag.number(7);
        let black = self.dag.add(Op::Compare(Cmp::Gt, code, white));
        let zero = self.dag.number(0);
        let minus = self.dag.add(Op::Sub(zero, role));
        self.select(black, minus, role)
    }

    pub(super) fn arithmetic(&mut self, arith: Arith, a: &Number, b: &Number) -> (Id, Id) {
        let ((a, a_ok), (b, b_ok)) = (self.number(a), self.number(b));
        let ok = self.and(a_ok, b_ok);
        let op = match arith {
            Arith::Add => Op::Add(a, b),
            Arith::Sub => Op::Sub(a, b),
            Arith::Mul => Op::Mul(a, b),
            Arith::Div | Arith::Rem => {
                let zero = self.dag.number(0);
                let possible = self.dag.add(Op::Compare(Cmp::Ne, b, zero));
                let op = if arith == Arith::Div { Op::Div(a, b) } else { Op::Rem(a, b) };
                return (self.dag.add(op), self.and(ok, possible));
            }
        };
        (self.dag.add(op), ok)
    }

    /// Lowers a comparison of two numbers. Returns the left number, the mask of positions at which both numbers have a value, and
    /// the mask of positions at which the relation `cmp` is true for their words.
    fn compared(&mut self, cmp: Cmp, a: &Number, b: &Number) -> (Id, Id, Id) {
        let ((a, a_ok), (b, b_ok)) = (self.number(a), self.number(b));
        let holds = self.dag.add(Op::Compare(cmp, a, b));
        (a, self.and(a_ok, b_ok), holds)
    }

    /// Lowers `!=`, which is also true where one of the numbers has no value.
    pub(super) fn differ(&mut self, a: &Number, b: &Number) -> Id {
        let (_, ok, holds) = self.compared(Cmp::Ne, a, b);
        let no_value = self.not(ok);
        self.or(no_value, holds)
    }

    /// Lowers a direction whose range contains variables. Every possible number of steps is computed, and the results within the
    /// range are selected.
    pub(super) fn walk_within(&mut self, [lo, hi]: [&Number; 2], of: &Squares, dirs: u8) -> Id {
        let ((lo, a), (hi, b)) = (self.number(lo), self.number(hi));
        let set = self.squares(of);
        let steps = (-7..=7i8).map(|n| {
            let number = self.dag.number(i32::from(n));
            let above = self.dag.add(Op::Compare(Cmp::Ge, number, lo));
            let below = self.dag.add(Op::Compare(Cmp::Le, number, hi));
            let inside = self.and(above, below);
            let reached = self.dag.add(Op::Walk { set, dirs, lo: n, hi: n });
            self.and(reached, inside)
        });
        let steps = steps.collect();
        let all = self.dag.any_of(steps);
        let ok = self.and(a, b);
        self.and(all, ok)
    }

    /// Returns the number `of`, restricted to a range: it has a value only where it lies between `lo` and `hi`.
    fn in_range(&mut self, lo: &Number, hi: &Number, of: &Number) -> (Id, Id) {
        let ((lo, lo_ok), (hi, hi_ok)) = (self.number(lo), self.number(hi));
        let (number, ok) = self.number(of);
        let above = self.dag.add(Op::Compare(Cmp::Ge, number, lo));
        let below = self.dag.add(Op::Compare(Cmp::Le, number, hi));
        let ok = [lo_ok, hi_ok, above, below].into_iter().fold(ok, |all, mask| self.and(all, mask));
        (number, ok)
    }

    /// Returns the largest or the smallest operand at each position. Operands without a value are skipped.
    pub(super) fn extremum(&mut self, of: &OneOrMore<Number>, largest: bool) -> (Id, Id) {
        let (mut best, mut best_ok) = self.number(&of.first);
        for arg in &of.rest {
            let (number, ok) = self.number(arg);
            let cmp = if largest { Cmp::Gt } else { Cmp::Lt };
            let better = self.dag.add(Op::Compare(cmp, number, best));
            let none_yet = self.not(best_ok);
            let better = self.or(better, none_yet);
            let take = self.and(better, ok);
            best = self.select(take, number, best);
            best_ok = self.or(best_ok, ok);
        }
        (best, best_ok)
    }

    /// Returns the move number, 1 + (ply + b) / 2. Here b is 1 if Black made the first move of the original game, before any swap
    /// of colours.
    pub(super) fn move_number(&mut self) -> Id {
        let ply = self.dag.add(Op::Ply);
        let white = self.dag.add(Op::WhiteToMove);
        let (one, two) = (self.dag.number(1), self.dag.number(2));
        let zero = self.dag.number(0);
        let odd = self.dag.add(Op::Rem(ply, two));
        let odd = self.dag.add(Op::Compare(Cmp::Eq, odd, one));
        let even = self.not(odd);
        // If Black began, White is to move after an odd number of half-moves.
        let black_began = self.select(white, odd, even);
        let white_began = self.not(black_began);
        let swapped = self.column(TagColumn::Swapped);
        let swapped = self.dag.add(Op::GameMask(swapped));
        let black_began = self.select(swapped, white_began, black_began);
        let b = self.select(black_began, one, zero);
        let sum = self.dag.add(Op::Add(ply, b));
        let half = self.dag.add(Op::Div(sum, two));
        self.dag.add(Op::Add(half, one))
    }

    pub(super) fn column_number(&mut self, column: TagColumn) -> (Id, Id) {
        let column = self.column(column);
        (self.dag.add(Op::GameNumber(column)), self.dag.add(Op::GameMask(column)))
    }

    // ---- numbers in loops

    /// Packs a number and its mask into one word. The word is [`NO_VALUE`] where the number has no value.
    pub fn packed_number(&mut self, (number, ok): (Id, Id)) -> Id {
        let none = self.dag.word(NO_VALUE as u64);
        self.select(ok, number, none)
    }

    pub fn unpacked_number(&mut self, word: Id) -> (Id, Id) {
        let none = self.dag.word(NO_VALUE as u64);
        let ok = self.dag.add(Op::Compare(Cmp::Gt, word, none));
        (word, ok)
    }
}

fn sign(color: Color) -> i32 {
    if color.is_white() { 1 } else { -1 }
}
