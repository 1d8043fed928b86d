//! The value of an expanded filter on one position.

use std::{cell::OnceCell, collections::BTreeSet};

use shakmaty::{Bitboard, Color, Square};

use super::{
    copies::Filter,
    facts,
    geometry::{square, xy},
    lines,
    moves::{Placement, Rules, Step},
    pure,
};
use crate::{
    board::{Code, PieceSet},
    engine::{Outcome, Spot},
    query::tree::{Arith, Cmp, Dirs, GameResult, Op, PureKind, Special, Tally, Type, VarId},
};

/// What a filter yields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Value {
    Bool(bool),
    Set(Bitboard),
    Num(Option<i32>),
    Str(Option<Vec<u8>>),
}

impl Value {
    /// The value of a filter of this type that fails.
    fn failed(ty: Type) -> Value {
        match ty {
            Type::Bool => Value::Bool(false),
            Type::Set => Value::Set(Bitboard::EMPTY),
            Type::Num | Type::Position => Value::Num(None),
            Type::Str => Value::Str(None),
        }
    }

    fn matches(&self) -> bool {
        match self {
            Value::Bool(hit) => *hit,
            Value::Set(squares) => squares.any(),
            Value::Num(value) => value.is_some(),
            Value::Str(value) => value.is_some(),
        }
    }
}

impl Filter {
    /// The operation whose value is the filter's: the last one in braces.
    fn last_op(&self) -> &Op {
        match self {
            Filter::Plain { op: Op::Compound | Op::NoTransform, args, .. } => {
                args.last().expect("braces hold a filter").last_op()
            }
            Filter::Plain { op, .. } => op,
            Filter::Orbit { .. } => &Op::Bool(true),
        }
    }

    /// What stands in braces around nothing else.
    pub(super) fn unbraced(&self) -> &Filter {
        match self {
            Filter::Plain { op: Op::Compound, args, .. } if args.len() == 1 => args[0].unbraced(),
            _ => self,
        }
    }
}

/// One evaluation of one query on one position: variables begin without value.
pub(super) struct Evaluation<'a> {
    /// All positions of the game.
    line: &'a [Spot<'a>],
    at: usize,
    spot: &'a Spot<'a>,
    placement: Placement,
    rules: OnceCell<Rules>,
    vars: Vec<Option<Value>>,
}

impl<'a> Evaluation<'a> {
    /// At position `at` of a game.
    pub(super) fn new(line: &'a [Spot<'a>], at: usize, vars: usize) -> Evaluation<'a> {
        let spot = &line[at];
        let placement = Placement::new(&spot.position);
        Evaluation { line, at, spot, placement, rules: OnceCell::new(), vars: vec![None; vars] }
    }

    /// Whether a filter matches.
    pub(super) fn matches(&mut self, filter: &Filter) -> bool {
        self.value(filter).matches()
    }

    /// The value of a filter.
    pub(super) fn value(&mut self, filter: &Filter) -> Value {
        match filter {
            Filter::Plain { op, ty, args } => self.plain(op, *ty, args),
            Filter::Orbit { tally, ty, copies } => self.orbit(*tally, *ty, copies),
        }
    }

    /// Every copy is evaluated, in order: they may assign variables.
    fn orbit(&mut self, tally: Tally, ty: Type, copies: &[Filter]) -> Value {
        let values: Vec<Value> = copies.iter().map(|copy| self.value(copy)).collect();
        let hits = values.iter().filter(|value| value.matches()).count() as i32;
        match tally {
            Tally::Count => Value::Num(Some(hits)),
            Tally::Range(lo, hi) => Value::Num((lo..=hi).contains(&hits).then_some(hits)),
            Tally::Any => match ty {
                Type::Set => Value::Set(values.into_iter().map(as_set).fold(Bitboard::EMPTY, |a, b| a | b)),
                Type::Num => Value::Num(values.into_iter().filter_map(as_num).max()),
                Type::Bool | Type::Str | Type::Position => Value::Bool(hits > 0),
            },
        }
    }

    fn plain(&mut self, op: &Op, ty: Type, args: &[Filter]) -> Value {
        match ty {
            _ if is_control(op) => self.control(op, ty, args),
            _ if let Op::Find { back, tally } = *op => Value::Num(self.find(back, tally, &args[0])),
            Type::Set => Value::Set(self.squares(op, args)),
            Type::Bool => Value::Bool(self.test(op, args)),
            Type::Num => Value::Num(self.number(op, args)),
            Type::Str => Value::Str(self.text(op)),
            Type::Position => unreachable!("{op:?} is no position"),
        }
    }

    /// The ply of the nearest position that matches, or at how many positions a filter does.
    fn find(&self, back: bool, tally: Tally, filter: &Filter) -> Option<i32> {
        let candidates: Vec<usize> =
            if back { (0..=self.at).rev().collect() } else { (self.at..self.line.len()).collect() };
        let mut hits = candidates
            .into_iter()
            .filter(|&at| Evaluation::new(self.line, at, self.vars.len()).matches(filter));
        match tally {
            Tally::Any => hits.next().map(|at| self.line[at].ply as i32),
            Tally::Count => Some(hits.count() as i32),
            Tally::Range(lo, hi) => Some(hits.count() as i32).filter(|count| (lo..=hi).contains(count)),
        }
    }

    /// Filters that hand on the value of another one.
    fn control(&mut self, op: &Op, ty: Type, args: &[Filter]) -> Value {
        match op {
            Op::Var(id) => self.vars[id.0 as usize].clone().unwrap_or(Value::failed(ty)),
            Op::NoTransform => self.value(&args[0]),
            Op::Compound => {
                let (last, earlier) = args.split_last().expect("braces hold a filter");
                for filter in earlier {
                    if !self.matches(filter) {
                        return Value::failed(ty);
                    }
                }
                if ty == Type::Bool { Value::Bool(self.matches(last)) } else { self.value(last) }
            }
            Op::If => {
                let branch = if self.matches(&args[0]) { args.get(1) } else { args.get(2) };
                match branch {
                    None => Value::Bool(true),
                    Some(branch) if ty == Type::Bool => Value::Bool(self.matches(branch)),
                    Some(branch) => self.value(branch),
                }
            }
            _ => unreachable!("{op:?} hands on no value"),
        }
    }

    fn squares(&mut self, op: &Op, args: &[Filter]) -> Bitboard {
        match op {
            Op::Designator { pieces, squares } => {
                squares.into_iter().filter(|&s| self.holds(s, pieces.accepts())).collect()
            }
            Op::Squares(squares) => *squares,
            Op::SquareLoop { var } => self.square_loop(*var, &args[0], &args[1]),
            Op::MakeSquare => {
                let (file, rank) = (self.num(&args[0]), self.num(&args[1]));
                make_square(file, rank).map_or(Bitboard::EMPTY, Bitboard::from)
            }
            Op::DirectionWithin { dirs } => {
                let (lo, hi) = (self.num(&args[0]), self.num(&args[1]));
                let from = self.set(&args[2]);
                // No board has more steps.
                let (Some(lo), Some(hi)) = (lo, hi) else { return Bitboard::EMPTY };
                let range = lo.clamp(-8, 8)..=hi.clamp(-8, 8);
                range
                    .map(|n| lines::direction(*dirs, n as i8, n as i8, from))
                    .fold(Bitboard::EMPTY, |a, b| a | b)
            }
            Op::Pawns(kind) => lines::pawns(&self.placement, *kind),
            Op::Pure { kind, mate } => self.pure(*kind, *mate),
            Op::Legal { pseudo, only, .. } => {
                self.moves(*pseudo, *only, args).into_iter().map(|(_, to)| to).collect()
            }
            _ => {
                let sets: Vec<Bitboard> = args.iter().map(|arg| self.set(arg)).collect();
                self.squares_of_sets(op, &sets)
            }
        }
    }

    fn squares_of_sets(&self, op: &Op, sets: &[Bitboard]) -> Bitboard {
        let board = &self.placement;
        match op {
            Op::Union => sets[0] | sets[1],
            Op::Intersect => sets[0] & sets[1],
            Op::Complement => !sets[0],
            Op::Attacks => lines::attackers(board, sets[0], sets[1]),
            Op::AttackedBy => lines::attacked(board, sets[0], sets[1]),
            Op::Xray { forward: true } => lines::ray(board, Dirs::ALL, true, sets).first,
            Op::Xray { forward: false } => {
                let from_attacker: Vec<Bitboard> = sets.iter().rev().copied().collect();
                lines::ray(board, Dirs::ALL, true, &from_attacker).last
            }
            Op::Between => lines::between(sets[0], sets[1]),
            Op::Ray { dirs, attack } => lines::ray(board, *dirs, *attack, sets).last,
            Op::Pin { value } => lines::pin(board, *value, sets[0], sets[1], sets[2]),
            Op::Direction { dirs, lo, hi } => lines::direction(*dirs, *lo, *hi, sets[0]),
            Op::Shade { light } => lines::shade(*light, sets[0]),
            _ => unreachable!("{op:?} is no set"),
        }
    }

    fn test(&mut self, op: &Op, args: &[Filter]) -> bool {
        match op {
            Op::Bool(value) => *value,
            Op::And => self.matches(&args[0]) && self.matches(&args[1]),
            Op::Or => self.matches(&args[0]) || self.matches(&args[1]),
            Op::Not => !self.matches(&args[0]),
            Op::Subset => {
                let (inner, outer) = (self.set(&args[0]), self.set(&args[1]));
                (inner & !outer).is_empty()
            }
            Op::SetEq { equal } => *equal == (self.set(&args[0]) == self.set(&args[1])),
            Op::SquareAll { var } => self.square_all(*var, &args[0], &args[1]),
            Op::Check => self.rules().check,
            Op::Mate => self.is_over(true),
            Op::Stalemate => self.is_over(false),
            Op::Initial => self.spot.initial,
            Op::Terminal => self.spot.terminal,
            Op::ToMove(color) => self.placement.turn == *color,
            Op::Result(result) => self.result() == Some(*result),
            Op::Assign(var) => self.assign(*var, &args[0]),
            Op::ContentIs(contents) => {
                self.set(&args[0]).single_square().is_some_and(|s| self.holds(s, *contents))
            }
            // `a != b` is `not (a == b)`, also where there is nothing to compare.
            Op::Compare(Cmp::Ne) => self.compared(Cmp::Eq, args).is_none(),
            Op::Compare(cmp) => self.compared(*cmp, args).is_some(),
            Op::StrCompare(cmp) => match self.strings(args) {
                (Some(left), Some(right)) => cmp.holds(left.cmp(&right)),
                _ => *cmp == Cmp::Ne,
            },
            Op::StrIn => match self.strings(args) {
                (Some(needle), Some(text)) => facts::occurs_in(&needle, &text),
                _ => false,
            },
            _ => unreachable!("{op:?} is no test"),
        }
    }

    fn number(&mut self, op: &Op, args: &[Filter]) -> Option<i32> {
        match op {
            Op::Int(value) => Some(*value),
            Op::Cardinality => Some(self.set(&args[0]).count() as i32),
            Op::AttackCount => {
                let (x, y) = (self.set(&args[0]), self.set(&args[1]));
                Some(lines::attack_count(&self.placement, x, y))
            }
            Op::RayCount { dirs, attack } => {
                let sets: Vec<Bitboard> = args.iter().map(|arg| self.set(arg)).collect();
                Some(lines::ray_count(&self.placement, *dirs, *attack, &sets))
            }
            Op::Power => Some(self.power(&args[0])),
            Op::Rank => self.set(&args[0]).single_square().map(|s| xy(s).1 + 1),
            Op::File => self.set(&args[0]).single_square().map(|s| xy(s).0 + 1),
            Op::ContentType { signed } => {
                self.set(&args[0]).single_square().map(|s| self.content_type(s, *signed))
            }
            Op::Arith(arith) => {
                let (left, right) = (self.num(&args[0]), self.num(&args[1]));
                arithmetic(*arith, left?, right?)
            }
            Op::Neg => self.num(&args[0]).map(i32::wrapping_neg),
            Op::Abs => self.num(&args[0]).map(i32::wrapping_abs),
            Op::Sqrt => self.num(&args[0]).filter(|&n| n >= 0).map(i32::isqrt),
            Op::InRange => {
                let bounds = (self.num(&args[0]), self.num(&args[1]));
                let (Some(lo), Some(hi)) = bounds else { return None };
                self.num(&args[2]).filter(|n| (lo..=hi).contains(n))
            }
            Op::Max => self.nums(args).into_iter().flatten().max(),
            Op::Min => self.nums(args).into_iter().flatten().min(),
            Op::Compare(cmp) => self.compared(*cmp, args),
            Op::Legal { pseudo, only, .. } => Some(self.moves(*pseudo, *only, args).len() as i32),
            Op::ColorValue(color) => Some(color.fold_wb(1, -1)),
            Op::SideToMove => Some(self.placement.turn.fold_wb(1, -1)),
            Op::Ply => Some(self.spot.ply as i32),
            Op::MoveNumber => Some(self.move_number()),
            Op::GameNumber => Some(self.spot.game.number() as i32),
            Op::Year => facts::year(self.spot.game),
            Op::Elo(color) => facts::elo(self.spot.game, *color),
            _ => unreachable!("{op:?} is no number"),
        }
    }

    fn text(&self, op: &Op) -> Option<Vec<u8>> {
        match op {
            Op::Str(text) => Some(text.clone().into_bytes()),
            Op::Tag(name) => facts::tag(self.spot.game, name),
            Op::Player(color) => facts::player(self.spot.game, *color),
            _ => unreachable!("{op:?} is no string"),
        }
    }

    fn set(&mut self, filter: &Filter) -> Bitboard {
        as_set(self.value(filter))
    }

    fn num(&mut self, filter: &Filter) -> Option<i32> {
        as_num(self.value(filter))
    }

    fn nums(&mut self, filters: &[Filter]) -> Vec<Option<i32>> {
        filters.iter().map(|filter| self.num(filter)).collect()
    }

    fn string(&mut self, filter: &Filter) -> Option<Vec<u8>> {
        match self.value(filter) {
            Value::Str(value) => value,
            other => unreachable!("{other:?} where a string is due"),
        }
    }

    /// Two strings; a text that is compared with a name is spelt as names are.
    fn strings(&mut self, args: &[Filter]) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let names =
            args.iter().any(|arg| matches!(arg.last_op(), Op::Player(_)) || arg.last_op().is_name_tag());
        let mut strings = args.iter().map(|arg| {
            let is_text = names && matches!(arg.last_op(), Op::Str(_));
            self.string(arg).map(|value| if is_text { facts::spelt(&value) } else { value })
        });
        let first = strings.next().flatten();
        (first, strings.next().flatten())
    }

    /// The left value if the relation holds.
    fn compared(&mut self, cmp: Cmp, args: &[Filter]) -> Option<i32> {
        let (left, right) = (self.num(&args[0]), self.num(&args[1]));
        let (left, right) = (left?, right?);
        cmp.holds(left.cmp(&right)).then_some(left)
    }

    fn assign(&mut self, var: VarId, filter: &Filter) -> bool {
        let value = self.value(filter);
        if value == Value::Num(None) {
            return false;
        }
        self.vars[var.0 as usize] = Some(value);
        true
    }

    fn square_loop(&mut self, var: VarId, domain: &Filter, body: &Filter) -> Bitboard {
        let mut out = Bitboard::EMPTY;
        for s in self.set(domain) {
            self.vars[var.0 as usize] = Some(Value::Set(Bitboard::from(s)));
            if self.matches(body) {
                out.add(s);
            }
        }
        self.vars[var.0 as usize] = None;
        out
    }

    fn square_all(&mut self, var: VarId, domain: &Filter, body: &Filter) -> bool {
        let mut all = true;
        for s in self.set(domain) {
            self.vars[var.0 as usize] = Some(Value::Set(Bitboard::from(s)));
            all = self.matches(body);
            if !all {
                break;
            }
        }
        self.vars[var.0 as usize] = None;
        all
    }

    /// From and to of the moves that a `legal` or `pseudolegal` filter selects.
    fn moves(&mut self, pseudo: bool, only: Special, args: &[Filter]) -> BTreeSet<(Square, Square)> {
        let (from, to) = (self.set(&args[0]), self.set(&args[1]));
        let pseudolegal: Vec<Step>;
        let steps = if pseudo {
            pseudolegal = self.placement.pseudolegal_moves();
            &pseudolegal
        } else {
            &self.rules().legal
        };
        steps
            .iter()
            .filter(|step| step.is(only) && from.contains(step.from) && to.contains(step.to))
            .map(|step| (step.from, step.to))
            .collect()
    }

    /// Whether the side to move is in mate, or without `mate` in stalemate.
    fn is_over(&self, mate: bool) -> bool {
        let rules = self.rules();
        rules.has_king && rules.check == mate && rules.legal.is_empty()
    }

    fn pure(&self, kind: PureKind, mate: bool) -> Bitboard {
        if self.is_over(mate) { pure::men(&self.placement, kind, mate) } else { Bitboard::EMPTY }
    }

    fn rules(&self) -> &Rules {
        self.rules.get_or_init(|| Rules::of(&self.spot.position))
    }

    fn content(&self, s: Square) -> Code {
        self.placement.at(s).map_or(Code::EMPTY, Code::of)
    }

    fn holds(&self, s: Square, contents: PieceSet) -> bool {
        contents.contains(self.content(s))
    }

    fn power(&mut self, filter: &Filter) -> i32 {
        self.set(filter)
            .into_iter()
            .map(|s| [0, 1, 3, 3, 5, 9, 0][self.content_type(s, false) as usize])
            .sum()
    }

    /// 0 for an empty square, 1..=6 from pawn to king, negative for Black if signed.
    fn content_type(&self, s: Square, signed: bool) -> i32 {
        let Some(piece) = self.placement.at(s) else { return 0 };
        let role = piece.role as i32;
        if signed && piece.color == Color::Black { -role } else { role }
    }

    /// 1 at the start of the game, one more after each move of Black. Sides alternate, so the
    /// half-moves played tell who began.
    fn move_number(&self) -> i32 {
        let black_to_move = self.placement.turn == Color::Black;
        let black_began = black_to_move != (self.spot.ply % 2 == 1);
        1 + (self.spot.ply as i32 + i32::from(black_began)) / 2
    }

    fn result(&self) -> Option<GameResult> {
        match self.spot.game.outcome() {
            Outcome::WhiteWins => Some(GameResult::WhiteWins),
            Outcome::BlackWins => Some(GameResult::BlackWins),
            Outcome::Draw => Some(GameResult::Draw),
            Outcome::Unknown => None,
        }
    }
}

fn is_control(op: &Op) -> bool {
    matches!(op, Op::Var(_) | Op::If | Op::Compound | Op::NoTransform)
}

fn as_set(value: Value) -> Bitboard {
    match value {
        Value::Set(squares) => squares,
        other => unreachable!("{other:?} where a set is due"),
    }
}

fn as_num(value: Value) -> Option<i32> {
    match value {
        Value::Num(value) => value,
        other => unreachable!("{other:?} where a number is due"),
    }
}

fn make_square(file: Option<i32>, rank: Option<i32>) -> Option<Square> {
    square(file?.checked_sub(1)?, rank?.checked_sub(1)?)
}

/// 32-bit arithmetic that wraps. Division truncates; by zero it has no value.
fn arithmetic(arith: Arith, left: i32, right: i32) -> Option<i32> {
    match arith {
        Arith::Add => Some(left.wrapping_add(right)),
        Arith::Sub => Some(left.wrapping_sub(right)),
        Arith::Mul => Some(left.wrapping_mul(right)),
        Arith::Div => (right != 0).then(|| left.wrapping_div(right)),
        Arith::Rem => (right != 0).then(|| left.wrapping_rem(right)),
    }
}
