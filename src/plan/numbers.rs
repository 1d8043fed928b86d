//! Filters that are numbers, to the graph: a word, and a mask that says where there is a value.

use shakmaty::{Bitboard, Color};

use super::{
    DIR_STEPS,
    columns::Column,
    dag::{Id, NO_VALUE, Op},
    lower::{Lower, Value, contents},
};
use crate::{
    board::{Code, PieceSet},
    orbit::{Filter, Plain},
    query::{
        Op as Q,
        tree::{Arith, Cmp},
    },
};

/// A knight's steps (files, ranks).
const KNIGHT_STEPS: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

impl Lower {
    pub(super) fn number_filter(&mut self, f: &Plain) -> Value {
        let args = &f.args;
        let always = self.dag.mask(true);
        let (number, ok) = match &f.op {
            Q::Int(value) => (self.dag.number(*value), always),
            Q::Cardinality => {
                let set = self.set(&args[0]);
                (self.dag.add(Op::Count(set)), always)
            }
            Q::AttackCount => (self.attack_count(&args[0], &args[1]), always),
            Q::RayCount { dirs, attack } => (self.ray_count(args, dirs.0, *attack), always),
            Q::Power => (self.power(&args[0]), always),
            Q::Rank | Q::File | Q::ContentType { .. } => {
                let set = self.set(&args[0]);
                let single = self.dag.add(Op::Single(set));
                let number = match &f.op {
                    Q::Rank => self.dag.add(Op::Rank(set)),
                    Q::File => self.dag.add(Op::File(set)),
                    Q::ContentType { signed } => self.content(set, *signed),
                    _ => unreachable!("matched above"),
                };
                (number, single)
            }
            Q::Arith(arith) => self.arithmetic(*arith, args),
            Q::Neg => {
                let (a, ok) = self.number(&args[0]);
                let zero = self.dag.number(0);
                (self.dag.add(Op::Sub(zero, a)), ok)
            }
            Q::Abs => {
                let (a, ok) = self.number(&args[0]);
                let zero = self.dag.number(0);
                let minus = self.dag.add(Op::Sub(zero, a));
                let negative = self.dag.add(Op::Compare(Cmp::Lt, a, zero));
                (self.select(negative, minus, a), ok)
            }
            Q::Sqrt => {
                let (a, ok) = self.number(&args[0]);
                let zero = self.dag.number(0);
                let possible = self.dag.add(Op::Compare(Cmp::Ge, a, zero));
                let root = self.dag.add(Op::Sqrt(a));
                (root, self.and(ok, possible))
            }
            Q::InRange => self.in_range(args),
            Q::Max | Q::Min => self.extremum(args, f.op == Q::Max),
            Q::Compare(_) => self.compare(f),
            Q::ColorValue(color) => (self.dag.number(sign(*color)), always),
            Q::SideToMove => {
                let white = self.dag.add(Op::WhiteToMove);
                let (one, minus) = (self.dag.number(1), self.dag.number(-1));
                (self.select(white, one, minus), always)
            }
            Q::Ply => (self.dag.add(Op::Ply), always),
            Q::MoveNumber => (self.move_number(), always),
            Q::GameNumber => self.game_number(Column::GameNumber),
            Q::Year => self.game_number(Column::Year),
            Q::Elo(color) => self.game_number(Column::Elo(*color)),
            Q::Legal { pseudo, only, .. } => {
                let (from, to) = (self.set(&args[0]), self.set(&args[1]));
                (self.dag.add(Op::LegalCount { from, to, pseudo: *pseudo, only: *only }), always)
            }
            Q::Var(var) => return self.variable(*var),
            Q::If => return self.condition(args),
            Q::Compound => return self.compound(args),
            other => panic!("{other:?} is no number filter"),
        };
        Value::Num { number, ok }
    }

    /// The number of pairs of squares of `x` and `y` of which the first attacks the second. Different
    /// pieces reach different squares by one step, and by sliding one way, since the nearer one is in the
    /// way of the other; so squares are counted way by way.
    fn attack_count(&mut self, x: &Filter, y: &Filter) -> Id {
        let may = contents(x);
        let (x, y) = (self.set(x), self.set(y));
        let mut reached = Vec::new();
        let diagonal: Vec<(i8, i8)> = DIR_STEPS.into_iter().filter(|(dx, dy)| dx * dy != 0).collect();
        let pawns = |dy: i8| diagonal.iter().copied().filter(move |step| step.1 == dy).collect::<Vec<_>>();
        let leaps = [
            (Q::contents_where(|code| code.0 & 7 == 2), KNIGHT_STEPS.to_vec()),
            (Q::contents_where(|code| code.0 & 7 == 6), DIR_STEPS.to_vec()),
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
            let pieces = Q::contents_where(|code| [role, 5].contains(&(code.0 & 7)));
            if let Some(movers) = self.those_among(may, pieces, x) {
                let empty = self.dag.pieces(PieceSet::EMPTY);
                reached.push(self.dag.add(Op::Slide { set: movers, empty, dir }));
            }
        }
        self.sum_of_counts(reached, y)
    }

    /// The squares of a set that hold one of some pieces; `None` if none may.
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

    /// The number of lines through these sets. One way, each last square ends one line at most.
    fn ray_count(&mut self, args: &[Filter], dirs: u8, attack: bool) -> Id {
        let occupied = self.dag.pieces(PieceSet::WHITE.union(PieceSet::BLACK));
        let empty = self.dag.pieces(PieceSet::EMPTY);
        let sets: Vec<Id> = args
            .iter()
            .map(|arg| {
                let set = self.set(arg);
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

    pub(super) fn power(&mut self, arg: &Filter) -> Id {
        let may = contents(arg);
        let set = self.set(arg);
        // All pieces of these contents: nothing has to be cut.
        let is_whole =
            matches!(arg, Filter::Plain(Plain { op: Q::Designator { squares: Bitboard::FULL, .. }, .. }));
        // 9, 5, 3 and 1 in binary digits, the highest first: queens, rooks, minor pieces, all but kings.
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

    pub(super) fn arithmetic(&mut self, arith: Arith, args: &[Filter]) -> (Id, Id) {
        let ((a, a_ok), (b, b_ok)) = (self.number(&args[0]), self.number(&args[1]));
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

    pub(super) fn compare(&mut self, f: &Plain) -> (Id, Id) {
        let Q::Compare(cmp) = f.op else { panic!("{:?} is no comparison", f.op) };
        let ((a, a_ok), (b, b_ok)) = (self.number(&f.args[0]), self.number(&f.args[1]));
        let holds = self.dag.add(Op::Compare(cmp, a, b));
        let ok = self.and(a_ok, b_ok);
        if cmp == Cmp::Ne {
            // Also where a side has no value.
            let no_value = self.not(ok);
            return (a, self.or(no_value, holds));
        }
        (a, self.and(ok, holds))
    }

    /// A direction whose range is read: the steps one by one.
    pub(super) fn walk_within(&mut self, args: &[Filter], dirs: u8) -> Id {
        let ((lo, a), (hi, b)) = (self.number(&args[0]), self.number(&args[1]));
        let set = self.set(&args[2]);
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

    /// A number where it lies between two others.
    fn in_range(&mut self, args: &[Filter]) -> (Id, Id) {
        let ((lo, lo_ok), (hi, hi_ok)) = (self.number(&args[0]), self.number(&args[1]));
        let (number, ok) = self.number(&args[2]);
        let above = self.dag.add(Op::Compare(Cmp::Ge, number, lo));
        let below = self.dag.add(Op::Compare(Cmp::Le, number, hi));
        let ok = [lo_ok, hi_ok, above, below].into_iter().fold(ok, |all, mask| self.and(all, mask));
        (number, ok)
    }

    /// The largest or smallest of the operands that have a value.
    pub(super) fn extremum(&mut self, args: &[Filter], largest: bool) -> (Id, Id) {
        let (mut best, mut best_ok) = self.number(&args[0]);
        for arg in &args[1..] {
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

    /// 1 + (ply + b) / 2, b = 1 where Black began.
    pub(super) fn move_number(&mut self) -> Id {
        let ply = self.dag.add(Op::Ply);
        let white = self.dag.add(Op::WhiteToMove);
        let (one, two) = (self.dag.number(1), self.dag.number(2));
        let zero = self.dag.number(0);
        let odd = self.dag.add(Op::Rem(ply, two));
        let odd = self.dag.add(Op::Compare(Cmp::Eq, odd, one));
        let even = self.not(odd);
        // After an odd number of moves White is to move if Black began.
        let black_began = self.select(white, odd, even);
        let b = self.select(black_began, one, zero);
        let sum = self.dag.add(Op::Add(ply, b));
        let half = self.dag.add(Op::Div(sum, two));
        self.dag.add(Op::Add(half, one))
    }

    pub(super) fn game_number(&mut self, column: Column) -> (Id, Id) {
        let column = self.column(column);
        (self.dag.add(Op::GameNumber(column)), self.dag.add(Op::GameMask(column)))
    }

    // ---- numbers through loops

    /// A number as one word, [`NO_VALUE`] where it has none.
    pub fn packed_number(&mut self, value: Value) -> Id {
        let Value::Num { number, ok } = value else { panic!("{value:?} is no number") };
        let none = self.dag.word(NO_VALUE as u64);
        self.select(ok, number, none)
    }

    pub fn unpacked_number(&mut self, word: Id) -> Value {
        let none = self.dag.word(NO_VALUE as u64);
        let ok = self.dag.add(Op::Compare(Cmp::Gt, word, none));
        Value::Num { number: word, ok }
    }
}

fn sign(color: Color) -> i32 {
    if color.is_white() { 1 } else { -1 }
}
