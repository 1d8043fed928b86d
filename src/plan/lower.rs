//! Expanded filters to the graph.
//!
//! Everything is evaluated everywhere: a short-circuit becomes an intersection of masks, an `if` a
//! selection, "no value" a mask beside the number. Variables become the words assigned to them.

use shakmaty::Bitboard;

use super::{
    columns::{Column, Text, TextTest},
    dag::{ColumnId, Dag, Id, LoopId, Op, Options, Reduce},
};
use crate::{
    board::{Code, PieceSet},
    orbit::{Filter, Plain},
    query::{
        Op as Q, Type,
        tree::{Cmp, PawnKind, PinPart, VarId},
    },
};

/// Light squares; a1 is dark.
pub(super) const LIGHT: u64 = 0x55aa_55aa_55aa_55aa;

/// The direction opposite to `dir`.
const fn opposite(dir: u8) -> u8 {
    (dir + 4) % 8
}

/// The value of a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    Bool(Id),
    Set(Id),
    Num { number: Id, ok: Id },
}

impl Value {
    /// The word of a set or number.
    pub(super) fn word(self) -> Option<Id> {
        match self {
            Value::Set(set) => Some(set),
            Value::Num { number, .. } => Some(number),
            Value::Bool(_) => None,
        }
    }
}

/// Lowering in progress.
pub(super) struct Lower {
    pub dag: Dag,
    pub options: Options,
    pub columns: Vec<Column>,
    /// What each variable holds here.
    pub vars: Vec<Option<Value>>,
    /// Where the filter at hand is evaluated at all; only assignments care.
    pub(super) guard: Id,
    /// Parameters that stand for square masks while a table's body is lowered, in the order in
    /// which the body asks for them.
    pub slots: Option<Slots>,
    pub notes: Vec<super::OrbitNote>,
}

/// See [`Lower::slots`].
pub(super) struct Slots {
    pub table: LoopId,
    /// For each designator or shade of the body in child order: its parameter, or the mask that it
    /// has in all rows.
    pub masks: Vec<Slot>,
    pub next: usize,
}

#[derive(Clone, Copy)]
pub(super) enum Slot {
    Same(u64),
    Param(u32),
}

impl Lower {
    pub fn new(options: Options, vars: usize) -> Lower {
        let mut dag = Dag::new(options);
        let guard = dag.mask(true);
        Lower {
            dag,
            options,
            columns: Vec::new(),
            vars: vec![None; vars],
            guard,
            slots: None,
            notes: Vec::new(),
        }
    }

    /// Begins another query, with so many variables. What was planned of queries before is not noted in its plan.
    pub(super) fn begin(&mut self, vars: usize) {
        self.vars = vec![None; vars];
        self.notes.clear();
    }

    // ---- helpers

    pub fn and(&mut self, a: Id, b: Id) -> Id {
        self.dag.add(Op::And(a, b))
    }

    pub fn or(&mut self, a: Id, b: Id) -> Id {
        self.dag.add(Op::Or(a, b))
    }

    pub fn not(&mut self, a: Id) -> Id {
        self.dag.add(Op::Not(a))
    }

    pub(super) fn select(&mut self, mask: Id, a: Id, b: Id) -> Id {
        self.dag.add(Op::Select { mask, a, b })
    }

    fn step(&mut self, a: Id, dx: i8, dy: i8) -> Id {
        self.dag.add(Op::Step(a, dx, dy))
    }

    pub(super) fn pieces_where(&mut self, test: impl Fn(Code) -> bool) -> Id {
        let set = Q::contents_where(test);
        self.dag.pieces(set)
    }

    pub(super) fn column(&mut self, column: Column) -> ColumnId {
        let index = self.columns.iter().position(|known| *known == column).unwrap_or_else(|| {
            self.columns.push(column);
            self.columns.len() - 1
        });
        ColumnId(index as u32)
    }

    /// The next square mask of a table's body, or the given one outside tables.
    fn mask_slot(&mut self, mask: u64) -> Id {
        let Some(slots) = &mut self.slots else { return self.dag.word(mask) };
        let slot = slots.masks[slots.next];
        slots.next += 1;
        let table = slots.table;
        match slot {
            Slot::Same(mask) => self.dag.word(mask),
            Slot::Param(k) => self.dag.add(Op::Param(table, k)),
        }
    }

    // ---- values

    /// The mask of positions at which a filter matches.
    pub fn truth(&mut self, filter: &Filter) -> Id {
        if let Filter::Orbit(orbit) = filter
            && let Some(mask) = self.orbit_truth(orbit)
        {
            return mask;
        }
        if let Filter::Plain(Plain { op: Q::Pin { .. }, args, .. }) = filter {
            // Where something is pinned, something pins it.
            let pinned = self.pin(args, PinPart::Through);
            return self.dag.add(Op::NonEmpty(pinned));
        }
        let value = self.value(filter);
        self.truth_of(value)
    }

    pub fn truth_of(&mut self, value: Value) -> Id {
        match value {
            Value::Bool(mask) => mask,
            Value::Set(set) => self.dag.add(Op::NonEmpty(set)),
            Value::Num { ok, .. } => ok,
        }
    }

    pub fn set(&mut self, filter: &Filter) -> Id {
        match self.value(filter) {
            Value::Set(set) => set,
            other => panic!("the parser promised a set, not {other:?}"),
        }
    }

    pub(super) fn number(&mut self, filter: &Filter) -> (Id, Id) {
        match self.value(filter) {
            Value::Num { number, ok } => (number, ok),
            other => panic!("the parser promised a number, not {other:?}"),
        }
    }

    pub fn value(&mut self, filter: &Filter) -> Value {
        match filter {
            Filter::Orbit(orbit) => self.orbit_value(orbit),
            Filter::Plain(plain) => self.plain(plain),
        }
    }

    fn plain(&mut self, f: &Plain) -> Value {
        if let Q::Find { back, tally } = f.op {
            return self.find(&f.args[0], back, tally);
        }
        match f.ty {
            Type::Set => self.set_filter(f),
            Type::Num | Type::Position => self.number_filter(f),
            Type::Bool => Value::Bool(self.bool_filter(f)),
            Type::Str => Value::Bool(self.string_truth(f)),
        }
    }

    pub(super) fn variable(&self, var: VarId) -> Value {
        self.vars[var.0 as usize].expect("assignment before reading was checked")
    }

    // ---- sets

    fn set_filter(&mut self, f: &Plain) -> Value {
        let args = &f.args;
        let set = match &f.op {
            Q::Designator { pieces, squares } => {
                let on = self.mask_slot(squares.0);
                let pieces = self.dag.pieces(pieces.accepts());
                self.and(pieces, on)
            }
            Q::Squares(squares) => self.dag.word(squares.0),
            Q::Union => {
                let (a, b) = (self.set(&args[0]), self.set(&args[1]));
                self.or(a, b)
            }
            Q::Intersect => {
                let (a, b) = (self.set(&args[0]), self.set(&args[1]));
                self.and(a, b)
            }
            Q::Complement => {
                let a = self.set(&args[0]);
                self.not(a)
            }
            Q::Attacks => {
                let may = contents(&args[0]);
                let (x, y) = (self.set(&args[0]), self.set(&args[1]));
                self.attackers(x, may, y)
            }
            Q::AttackedBy => {
                let may = contents(&args[1]);
                let (y, x) = (self.set(&args[0]), self.set(&args[1]));
                let reached = self.attacked(x, may);
                self.and(y, reached)
            }
            Q::Xray { forward } => self.xray(args, *forward),
            Q::Between => self.between(args),
            Q::Ray { dirs, attack } => self.ray(args, dirs.0, *attack),
            Q::Pin { value } => self.pin(args, *value),
            Q::Direction { dirs, lo, hi } => {
                let set = self.set(&args[0]);
                self.dag.add(Op::Walk { set, dirs: dirs.0, lo: *lo, hi: *hi })
            }
            Q::DirectionWithin { dirs } => self.walk_within(args, dirs.0),
            Q::Shade { light } => {
                let on = self.mask_slot(if *light { LIGHT } else { !LIGHT });
                let set = self.set(&args[0]);
                self.and(set, on)
            }
            Q::Pawns(kind) => self.pawns(*kind),
            Q::Pure { kind, mate } => self.pure(*kind, *mate),
            Q::MakeSquare => {
                let ((file, a), (rank, b)) = (self.number(&args[0]), self.number(&args[1]));
                let square = self.dag.add(Op::MakeSquare { file, rank });
                let ok = self.and(a, b);
                self.and(square, ok)
            }
            Q::SquareLoop { var } => self.square_loop(*var, &args[0], &args[1], false).1,
            Q::Legal { pseudo, only, .. } => {
                let (from, to) = (self.set(&args[0]), self.set(&args[1]));
                self.dag.add(Op::Legal { from, to, pseudo: *pseudo, only: *only })
            }
            Q::Var(var) => return self.variable(*var),
            Q::If => return self.condition(args),
            Q::Compound => return self.compound(args),
            other => panic!("{other:?} is no set filter"),
        };
        Value::Set(set)
    }

    /// Squares of `x` whose piece, one of `may`, attacks a square of `y`.
    pub(super) fn attackers(&mut self, x: Id, may: PieceSet, y: Id) -> Id {
        let mut parts = Vec::new();
        let movers = |lower: &mut Lower, role: u8| lower.movers(may, &[role]);
        if let Some(knights) = movers(self, 2) {
            let near = self.dag.add(Op::Knight(y));
            parts.push(self.and(near, knights));
        }
        if let Some(kings) = movers(self, 6) {
            let near = self.dag.add(Op::King(y));
            parts.push(self.and(near, kings));
        }
        for white in [true, false] {
            let code = Code(if white { 1 } else { 9 });
            if may.contains(code) {
                // A white pawn attacks y from where a black pawn on y would attack.
                let near = self.dag.add(Op::Pawn { set: y, white: !white });
                let pawns = self.dag.pieces(PieceSet::only(code));
                parts.push(self.and(near, pawns));
            }
        }
        let empty = self.dag.pieces(PieceSet::EMPTY);
        for (dirs, role) in [([0, 2, 4, 6], 4), ([1, 3, 5, 7], 3)] {
            if let Some(sliders) = self.movers(may, &[role, 5]) {
                let seen = dirs.iter().map(|&dir| self.dag.add(Op::Slide { set: y, empty, dir })).collect();
                let seen = self.dag.any_of(seen);
                parts.push(self.and(seen, sliders));
            }
        }
        let all = self.dag.any_of(parts);
        self.and(all, x)
    }

    /// Squares that pieces on `x`, all of them among `may`, attack.
    pub(super) fn attacked(&mut self, x: Id, may: PieceSet) -> Id {
        let mut parts = Vec::new();
        if let Some(knights) = self.movers(may, &[2]) {
            let knights = self.and(knights, x);
            parts.push(self.dag.add(Op::Knight(knights)));
        }
        if let Some(kings) = self.movers(may, &[6]) {
            let kings = self.and(kings, x);
            parts.push(self.dag.add(Op::King(kings)));
        }
        for white in [true, false] {
            let code = Code(if white { 1 } else { 9 });
            if may.contains(code) {
                let pawns = self.dag.pieces(PieceSet::only(code));
                let set = self.and(pawns, x);
                parts.push(self.dag.add(Op::Pawn { set, white }));
            }
        }
        let empty = self.dag.pieces(PieceSet::EMPTY);
        for (dirs, role) in [([0, 2, 4, 6], 4), ([1, 3, 5, 7], 3)] {
            if let Some(sliders) = self.movers(may, &[role, 5]) {
                let set = self.and(sliders, x);
                parts.extend(dirs.map(|dir| self.dag.add(Op::Slide { set, empty, dir })));
            }
        }
        self.dag.any_of(parts)
    }

    /// The squares of those pieces of the given roles that are among `may`; none if there are none.
    pub(super) fn movers(&mut self, may: PieceSet, roles: &[u8]) -> Option<Id> {
        let set = Q::contents_where(|code| may.contains(code) && roles.contains(&(code.0 & 7)));
        (set != PieceSet::NONE).then(|| self.dag.pieces(set))
    }

    /// Pieces that slide in direction `dir`.
    fn sliders(&mut self, dir: u8) -> Id {
        self.pieces_where(|code| slides(code, dir))
    }

    fn slide(&mut self, set: Id, dir: u8) -> Id {
        let empty = self.dag.pieces(PieceSet::EMPTY);
        self.dag.add(Op::Slide { set, empty, dir })
    }

    fn xray(&mut self, args: &[Filter], forward: bool) -> Id {
        let sets: Vec<Id> = args.iter().map(|arg| self.set(arg)).collect();
        let last = sets.len() - 1;
        let first = &args[if forward { 0 } else { last }];
        let rays = (0..8)
            .filter(|&dir| may_slide(contents(first), dir))
            .map(|dir| {
                let sliders = self.sliders(dir);
                if forward {
                    // From the end of the line back to the slider that begins it.
                    let back = sets[..last].iter().rev().fold(sets[last], |at, &set| {
                        let seen = self.slide(at, opposite(dir));
                        self.and(seen, set)
                    });
                    self.and(back, sliders)
                } else {
                    let start = self.and(sets[last], sliders);
                    sets[..last].iter().rev().fold(start, |at, &set| {
                        let seen = self.slide(at, dir);
                        self.and(seen, set)
                    })
                }
            })
            .collect();
        self.dag.any_of(rays)
    }

    fn ray(&mut self, args: &[Filter], dirs: u8, attack: bool) -> Id {
        let sets: Vec<Id> = args.iter().map(|arg| self.set(arg)).collect();
        let rays = (0..8)
            .filter(|&dir| dirs >> dir & 1 != 0 && (!attack || may_slide(contents(&args[0]), dir)))
            .map(|dir| {
                let mut at = sets[0];
                if attack {
                    let sliders = self.sliders(dir);
                    at = self.and(at, sliders);
                }
                sets[1..].iter().fold(at, |at, &set| {
                    let seen = self.slide(at, dir);
                    self.and(seen, set)
                })
            })
            .collect();
        self.dag.any_of(rays)
    }

    fn between(&mut self, args: &[Filter]) -> Id {
        let (x, y) = (self.set(&args[0]), self.set(&args[1]));
        let parts = (0..8u8)
            .map(|dir| {
                let from_x = self.dag.add(Op::Walk { set: x, dirs: 1 << dir, lo: 1, hi: 7 });
                let from_y = self.dag.add(Op::Walk { set: y, dirs: 1 << opposite(dir), lo: 1, hi: 7 });
                self.and(from_x, from_y)
            })
            .collect();
        self.dag.any_of(parts)
    }

    fn pin(&mut self, args: &[Filter], value: PinPart) -> Id {
        let sets: Vec<Id> = args.iter().map(|arg| self.set(arg)).collect();
        let may = |arg: usize, wanted: PieceSet| PieceSet(contents(&args[arg]).0 & wanted.0);
        let mut parts = Vec::new();
        for own in [PieceSet::WHITE, PieceSet::BLACK] {
            let enemy = if own == PieceSet::WHITE { PieceSet::BLACK } else { PieceSet::WHITE };
            let pinning = may(0, own);
            if may(1, enemy) == PieceSet::NONE || may(2, enemy.union(PieceSet::EMPTY)) == PieceSet::NONE {
                continue;
            }
            let own = self.dag.pieces(own);
            let enemy_or_empty = self.dag.pieces(enemy.union(PieceSet::EMPTY));
            let enemy = self.dag.pieces(enemy);
            for dir in (0..8).filter(|&dir| may_slide(pinning, dir)) {
                let sliders = self.sliders(dir);
                let pinners = self.and(sets[0], sliders);
                let pinners = self.and(pinners, own);
                let targets = self.and(sets[2], enemy_or_empty);
                let ahead = self.slide(pinners, dir);
                let behind = self.slide(targets, opposite(dir));
                let pinned = self.and(ahead, behind);
                let pinned = self.and(pinned, enemy);
                let pinned = self.and(pinned, sets[1]);
                parts.push(match value {
                    PinPart::Through => pinned,
                    PinPart::From => {
                        let back = self.slide(pinned, opposite(dir));
                        self.and(back, pinners)
                    }
                    PinPart::To => {
                        let on = self.slide(pinned, dir);
                        self.and(on, targets)
                    }
                });
            }
        }
        self.dag.any_of(parts)
    }

    fn pawns(&mut self, kind: PawnKind) -> Id {
        let sides = [(1u8, 9u8, 64u8), (9, 1, 4)];
        let mut parts = Vec::new();
        for (own, enemy, towards_us) in sides {
            let pawns = self.dag.pieces(PieceSet::only(Code(own)));
            parts.push(match kind {
                PawnKind::Passed => {
                    let enemies = self.dag.pieces(PieceSet::only(Code(enemy)));
                    let (left, right) = (self.step(enemies, -1, 0), self.step(enemies, 1, 0));
                    let wide = self.dag.any_of(vec![enemies, left, right]);
                    let stopped = self.dag.add(Op::Walk { set: wide, dirs: towards_us, lo: 1, hi: 7 });
                    self.dag.add(Op::AndNot(pawns, stopped))
                }
                PawnKind::Doubled => {
                    let others = self.dag.add(Op::Walk { set: pawns, dirs: 4 | 64, lo: 1, hi: 7 });
                    self.and(pawns, others)
                }
                PawnKind::Connected | PawnKind::Isolated => {
                    let files = self.dag.add(Op::FillFiles(pawns));
                    let (left, right) = (self.step(files, -1, 0), self.step(files, 1, 0));
                    let beside = self.or(left, right);
                    if kind == PawnKind::Connected {
                        self.and(pawns, beside)
                    } else {
                        self.dag.add(Op::AndNot(pawns, beside))
                    }
                }
            });
        }
        self.dag.any_of(parts)
    }

    /// The domain of a square loop, and the squares of it for which the body matches. `all` stops
    /// at the first one for which it does not, which only assignments can tell.
    fn square_loop(&mut self, var: VarId, domain: &Filter, body: &Filter, all: bool) -> (Id, Id) {
        let domain = self.set(domain);
        if self.assigns_outer(body) {
            let outer = self.guard;
            let mut going = outer;
            let mut parts = Vec::new();
            for square in 0..64u32 {
                let here = self.dag.word(1 << square);
                let inside = self.and(domain, here);
                let inside = self.dag.add(Op::NonEmpty(inside));
                self.guard = self.and(going, inside);
                self.vars[var.0 as usize] = Some(Value::Set(here));
                let hit = self.truth(body);
                parts.push(self.and(hit, here));
                if all {
                    let missed = self.dag.add(Op::AndNot(inside, hit));
                    going = self.dag.add(Op::AndNot(going, missed));
                }
            }
            (self.guard, self.vars[var.0 as usize]) = (outer, None);
            let hits = self.dag.any_of(parts);
            return (domain, self.and(hits, domain));
        }
        let table = self.dag.open_loop((0..64).map(|s| vec![1u64 << s]).collect());
        let here = self.dag.add(Op::Param(table, 0));
        let kept = self.vars.clone();
        self.vars[var.0 as usize] = Some(Value::Set(here));
        let hit = self.truth(body);
        self.vars = kept;
        let part = self.and(hit, here);
        let hits = self.dag.close_loop(table, Reduce::Or, part);
        (domain, self.and(hits, domain))
    }

    /// Whether a filter assigns a variable that has a value already: then its repetitions depend on
    /// one another.
    pub fn assigns_outer(&self, filter: &Filter) -> bool {
        match filter {
            Filter::Plain(plain) => {
                matches!(plain.op, Q::Assign(var) if self.vars[var.0 as usize].is_some())
                    || plain.args.iter().any(|arg| self.assigns_outer(arg))
            }
            Filter::Orbit(orbit) => self.assigns_outer(&orbit.base),
        }
    }

    // ---- several filters

    pub(super) fn compound(&mut self, args: &[Filter]) -> Value {
        let outer = self.guard;
        let (last, first) = args.split_last().expect("a compound has a filter");
        let mut all = self.dag.mask(true);
        for arg in first {
            let hit = self.truth(arg);
            all = self.and(all, hit);
            self.guard = self.and(outer, all);
        }
        let value = match last {
            // A boolean context inside lets an orbit be collapsed.
            Filter::Orbit(orbit) if orbit.ty == Type::Bool => Value::Bool(self.truth(last)),
            _ => self.value(last),
        };
        self.guard = outer;
        match value {
            Value::Bool(mask) => Value::Bool(self.and(mask, all)),
            Value::Set(set) => Value::Set(self.and(set, all)),
            Value::Num { number, ok } => Value::Num { number, ok: self.and(ok, all) },
        }
    }

    /// A compound of which only the truth is wanted.
    fn compound_truth(&mut self, args: &[Filter]) -> Id {
        let outer = self.guard;
        let mut all = self.dag.mask(true);
        for arg in args {
            let hit = self.truth(arg);
            all = self.and(all, hit);
            self.guard = self.and(outer, all);
        }
        self.guard = outer;
        all
    }

    pub(super) fn condition(&mut self, args: &[Filter]) -> Value {
        let outer = self.guard;
        let cond = self.truth(&args[0]);
        self.guard = self.and(outer, cond);
        let then = self.value(&args[1]);
        self.guard = self.dag.add(Op::AndNot(outer, cond));
        let other = self.value(&args[2]);
        self.guard = outer;
        match (then, other) {
            (Value::Set(a), Value::Set(b)) => Value::Set(self.select(cond, a, b)),
            (Value::Num { number: a, ok: a_ok }, Value::Num { number: b, ok: b_ok }) => {
                Value::Num { number: self.select(cond, a, b), ok: self.select(cond, a_ok, b_ok) }
            }
            _ => panic!("the parser promised two branches of one type"),
        }
    }

    fn condition_truth(&mut self, args: &[Filter]) -> Id {
        let outer = self.guard;
        let cond = self.truth(&args[0]);
        self.guard = self.and(outer, cond);
        let then = self.truth(&args[1]);
        self.guard = self.dag.add(Op::AndNot(outer, cond));
        let other = match args.get(2) {
            Some(arg) => self.truth(arg),
            None => self.dag.mask(true),
        };
        self.guard = outer;
        self.select(cond, then, other)
    }

    fn assign(&mut self, var: VarId, arg: &Filter) -> Id {
        let new = self.value(arg);
        let slot = var.0 as usize;
        let old = self.vars[slot];
        let guard = self.guard;
        let (value, ok) = match (new, old) {
            (Value::Set(new), Some(Value::Set(old))) => {
                (Value::Set(self.select(guard, new, old)), self.dag.mask(true))
            }
            (Value::Num { number, ok }, Some(Value::Num { number: old, .. })) => {
                let set = self.and(guard, ok);
                let number = self.select(set, number, old);
                (Value::Num { number, ok: self.dag.mask(true) }, ok)
            }
            (Value::Num { number, ok }, _) => (Value::Num { number, ok: self.dag.mask(true) }, ok),
            (value, _) => (value, self.dag.mask(true)),
        };
        self.vars[slot] = Some(value);
        ok
    }

    // ---- booleans

    fn bool_filter(&mut self, f: &Plain) -> Id {
        let args = &f.args;
        match &f.op {
            Q::Bool(value) => self.dag.mask(*value),
            Q::Compound => self.compound_truth(args),
            Q::And => self.compound_truth(args),
            Q::Or => {
                let outer = self.guard;
                let a = self.truth(&args[0]);
                self.guard = self.dag.add(Op::AndNot(outer, a));
                let b = self.truth(&args[1]);
                self.guard = outer;
                self.or(a, b)
            }
            Q::Not => {
                let a = self.truth(&args[0]);
                self.not(a)
            }
            Q::If => self.condition_truth(args),
            Q::Subset => {
                let (a, b) = (self.set(&args[0]), self.set(&args[1]));
                let outside = self.dag.add(Op::AndNot(a, b));
                self.is_empty(outside)
            }
            Q::SetEq { equal } => {
                let (a, b) = (self.set(&args[0]), self.set(&args[1]));
                let (only_a, only_b) = (self.dag.add(Op::AndNot(a, b)), self.dag.add(Op::AndNot(b, a)));
                let differ = self.or(only_a, only_b);
                if *equal { self.is_empty(differ) } else { self.dag.add(Op::NonEmpty(differ)) }
            }
            Q::Check => self.check(),
            Q::Mate => self.no_moves(true),
            Q::Stalemate => self.no_moves(false),
            Q::Initial => self.dag.add(Op::Initial),
            Q::Terminal => self.dag.add(Op::Terminal),
            Q::ToMove(color) => {
                let white = self.dag.add(Op::WhiteToMove);
                if color.is_white() { white } else { self.not(white) }
            }
            Q::Result(result) => {
                let column = self.column(Column::Result(*result));
                self.dag.add(Op::GameMask(column))
            }
            Q::Assign(var) => self.assign(*var, &args[0]),
            Q::ContentIs(contents) => {
                let set = self.set(&args[0]);
                let single = self.dag.add(Op::Single(set));
                let squares = self.dag.pieces(*contents);
                let inside = self.and(set, squares);
                let inside = self.dag.add(Op::NonEmpty(inside));
                self.and(single, inside)
            }
            Q::SquareAll { var } => {
                let (domain, hits) = self.square_loop(*var, &args[0], &args[1], true);
                let missed = self.dag.add(Op::AndNot(domain, hits));
                self.is_empty(missed)
            }
            Q::Compare(_) => {
                let (_, ok) = self.compare(f);
                ok
            }
            Q::StrCompare(cmp) => {
                let (guard, texts) = self.texts(args);
                let [a, b] = texts;
                let hit = self.text_test(TextTest::Compare(*cmp, a, b));
                if *cmp == Cmp::Ne {
                    let no_value = self.not(guard);
                    return self.or(no_value, hit);
                }
                self.and(guard, hit)
            }
            Q::StrIn => {
                let (guard, texts) = self.texts(args);
                let [a, b] = texts;
                let hit = self.text_test(TextTest::In(a, b));
                self.and(guard, hit)
            }
            other => panic!("{other:?} is no condition"),
        }
    }

    fn is_empty(&mut self, set: Id) -> Id {
        let some = self.dag.add(Op::NonEmpty(set));
        self.not(some)
    }

    /// Positions without a legal move, in check or not.
    pub(super) fn no_moves(&mut self, in_check: bool) -> Id {
        let check = self.check();
        let within = if in_check { check } else { self.not(check) };
        self.dag.add(Op::NoMoves(within))
    }

    fn check(&mut self) -> Id {
        // The king and his enemies are chosen first, so that lines are followed once.
        let white = self.dag.add(Op::WhiteToMove);
        let [king, enemies] = [(6, PieceSet::BLACK), (14, PieceSet::WHITE)]
            .map(|(king, enemies)| [PieceSet::only(Code(king)), enemies].map(|set| self.dag.pieces(set)))
            .into_iter()
            .reduce(|[a, b], [c, d]| [self.select(white, a, c), self.select(white, b, d)])
            .expect("there are two sides");
        let pieces = Q::contents_where(|code| matches!(code.0 & 7, 2..=6));
        let attackers = self.attackers(enemies, pieces, king);
        let near = [true, false].map(|white| self.dag.add(Op::Pawn { set: king, white }));
        let near = self.select(white, near[0], near[1]);
        let pawns = self.pieces_where(|code| code.0 & 7 == 1);
        let pawns = self.and(pawns, enemies);
        let pawns = self.and(pawns, near);
        let attackers = self.or(attackers, pawns);
        self.dag.add(Op::NonEmpty(attackers))
    }

    fn text_test(&mut self, test: TextTest) -> Id {
        let column = self.column(Column::Text(test));
        self.dag.add(Op::GameMask(column))
    }

    fn string_truth(&mut self, f: &Plain) -> Id {
        let (guard, text) = self.text(&Filter::Plain(f.clone()));
        let hit = self.text_test(TextTest::HasValue(text));
        self.and(guard, hit)
    }

    /// Two strings and the mask under which they have their values.
    fn texts(&mut self, args: &[Filter]) -> (Id, [Text; 2]) {
        let ((a_ok, a), (b_ok, b)) = (self.text(&args[0]), self.text(&args[1]));
        (self.and(a_ok, b_ok), [a, b])
    }

    fn text(&mut self, filter: &Filter) -> (Id, Text) {
        let Filter::Plain(f) = filter else { panic!("a transform is never a string") };
        let always = self.dag.mask(true);
        match &f.op {
            Q::Str(text) => (always, Text::Literal(text.clone())),
            Q::Tag(name) => (always, Text::Tag(name.clone())),
            Q::Player(color) => (always, Text::Player(*color)),
            Q::Compound => {
                let (last, first) = f.args.split_last().expect("a compound has a filter");
                let guard = self.compound_truth(first);
                let (ok, text) = self.text(last);
                (self.and(guard, ok), text)
            }
            other => panic!("{other:?} is no string filter"),
        }
    }
}

/// Whether a piece slides in direction `dir`.
fn slides(code: Code, dir: u8) -> bool {
    let role = if dir.is_multiple_of(2) { 4 } else { 3 };
    [role, 5].contains(&(code.0 & 7))
}

/// Whether one of the contents slides in direction `dir`.
fn may_slide(contents: PieceSet, dir: u8) -> bool {
    Q::contents_where(|code| contents.contains(code) && slides(code, dir)) != PieceSet::NONE
}

/// The contents that may stand on squares of a set filter's value: a superset.
pub(super) fn contents(filter: &Filter) -> PieceSet {
    let Filter::Plain(f) = filter else {
        let Filter::Orbit(orbit) = filter else { unreachable!("two kinds of filter") };
        return orbit.copies.iter().fold(PieceSet::NONE, |all, copy| all.union(contents(&copy.filter)));
    };
    match &f.op {
        Q::Designator { pieces, .. } => pieces.accepts(),
        Q::Squares(squares) if *squares == Bitboard::EMPTY => PieceSet::NONE,
        Q::Intersect => PieceSet(contents(&f.args[0]).0 & contents(&f.args[1]).0),
        Q::Union => contents(&f.args[0]).union(contents(&f.args[1])),
        Q::Attacks | Q::AttackedBy | Q::Shade { .. } | Q::SquareLoop { .. } => contents(&f.args[0]),
        Q::Compound => contents(f.args.last().expect("a compound has a filter")),
        _ => PieceSet::ALL,
    }
}
