//! Lowers expanded filters to the graph.
//!
//! A plan evaluates all filters at every position. Where CQL would skip a filter, the plan evaluates it anyway and intersects the
//! masks. An `if` becomes a selection between two words. A number that may have no value becomes two words, the number and a mask.
//! A variable becomes the word that is assigned to it. This file lowers conditions, and contains the functions that all kinds of
//! filters share. Each of the other kinds has its own file.

use super::{
    columns::{TagColumn, TagText, TextTest},
    dag::{ColumnId, Dag, Id, LoopId, Op, PlanOptions, Reduce},
};
use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{
    Any, Assigned, Cell, CellValues, Cells, Cmp, ConditionOp as C, Control, Kind as _, NumberOp, PinPart,
    PositionOp, Ref, SquaresOp, VarId, contents_where,
};
use orbit_transforms::AsOrbit as _;
use orbit_transforms::{Condition, Filter, FilterRef, NumberOrbit, Squares};

/// The light squares; a1 is dark.
pub(super) const LIGHT: u64 = 0x55aa_55aa_55aa_55aa;

/// The value of a filter, as nodes of the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LoweredValue {
    Bool(Id),
    Set(Id),
    Num { number: Id, ok: Id },
}

impl LoweredValue {
    /// Returns the word of a set or a number. Returns `None` for a condition.
    pub(super) fn word(self) -> Option<Id> {
        match self {
            LoweredValue::Set(set) => Some(set),
            LoweredValue::Num { number, .. } => Some(number),
            LoweredValue::Bool(_) => None,
        }
    }
}

/// The possible values of a string filter. Each is paired with the mask of positions at which the filter has this value.
pub(super) type MaskedTexts = Vec<(Id, TagText)>;

/// The types of variable values while a query is lowered: most are graph nodes.
#[derive(Clone, Debug)]
pub(super) enum Words {}

impl CellValues for Words {
    type Squares = Id;
    type Number = Id;
    type Text = MaskedTexts;
    type Position = Id;
}

/// Returns true if a filter depends on positions other than the current one. Its operands are not examined.
pub(super) fn finds(filter: FilterRef) -> bool {
    match filter {
        Ref::Condition(f) => matches!(f.op(), C::Game(_)),
        Ref::Squares(f) => matches!(f.op(), SquaresOp::Game(_)),
        Ref::Number(f) => matches!(f.op(), NumberOp::Find { .. } | NumberOp::Game(_)),
        Ref::Position(f) => matches!(f.op(), PositionOp::Find { .. } | PositionOp::Game(_)),
        Ref::Text(_) => false,
    }
}

/// Returns true if a filter or a filter inside it depends on positions other than the current one.
fn finds_in(filter: FilterRef) -> bool {
    filter.any(&mut finds)
}

/// The state while filters are lowered: the graph, the words of variables, and the context of the current filter.
pub(super) struct Lower {
    pub dag: Dag,
    pub options: PlanOptions,
    pub columns: Vec<TagColumn>,
    /// The current word of each variable.
    pub cells: Cells<Words>,
    /// The mask of positions at which the filter being lowered is evaluated. Assignments use it, because they take effect only
    /// there.
    pub(super) guard: Id,
    /// While the loop over the rows of a table is lowered, the parameters that replace the square masks in the body of this loop.
    /// `None` otherwise.
    pub slots: Option<VariableSlots>,
    pub notes: Vec<super::OrbitNote>,
    /// Inside the target of a `--`, the values of `from` and `to`. `None` elsewhere.
    pub(super) owned: Option<TargetSquares>,
    /// The number of the query that is lowered.
    pub(super) query: usize,
    /// The first construct that no plan can express, if there is one. The graph then contains meaningless nodes in place of the
    /// construct.
    pub(super) refused: Option<&'static str>,
}

/// The values of `from` and `to` inside the target of a `--`.
#[derive(Clone, Copy, Debug)]
pub(super) struct TargetSquares {
    pub(super) from: Id,
    pub(super) to: Id,
}

/// The parameters of a table's loop that replace the square masks in its body; see [`Lower::slots`].
pub(super) struct VariableSlots {
    pub table: LoopId,
    /// One entry for each designator or square colour in the body, in the order in which they are visited. The entry is a parameter
    /// or, if the mask is the same in all rows, the mask itself.
    pub masks: Vec<VariableSlot>,
    pub next: usize,
}

#[derive(Clone, Copy)]
pub(super) enum VariableSlot {
    Same(u64),
    Param(u32),
}

impl Lower {
    pub fn new(options: PlanOptions, vars: usize) -> Lower {
        let mut dag = Dag::new(options);
        let guard = dag.mask(true);
        Lower {
            dag,
            options,
            columns: Vec::new(),
            cells: Cells::unbound(vars),
            guard,
            slots: None,
            notes: Vec::new(),
            owned: None,
            query: 0,
            refused: None,
        }
    }

    /// Prepares for another query, which has `vars` variables. Removes the notes about the orbits of earlier queries.
    pub(super) fn begin(&mut self, vars: usize) {
        self.cells = Cells::unbound(vars);
        self.notes.clear();
    }

    /// Records that no plan can express a construct.
    pub(super) fn refuse(&mut self, what: &'static str) {
        self.refused.get_or_insert(what);
    }

    // ---- helper functions

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

    pub(super) fn step(&mut self, a: Id, dx: i8, dy: i8) -> Id {
        self.dag.add(Op::Step(a, dx, dy))
    }

    pub(super) fn pieces_where(&mut self, test: impl Fn(Code) -> bool) -> Id {
        let set = contents_where(test);
        self.dag.pieces(set)
    }

    pub(super) fn column(&mut self, column: TagColumn) -> ColumnId {
        let index = self.columns.iter().position(|known| *known == column).unwrap_or_else(|| {
            self.columns.push(column);
            self.columns.len() - 1
        });
        ColumnId(index as u32)
    }

    /// Inside a table, returns the parameter or constant for the next square mask of the body. Outside of tables, returns `mask`.
    pub(super) fn mask_slot(&mut self, mask: u64) -> Id {
        let Some(slots) = &mut self.slots else { return self.dag.word(mask) };
        let slot = slots.masks[slots.next];
        slots.next += 1;
        let table = slots.table;
        match slot {
            VariableSlot::Same(mask) => self.dag.word(mask),
            VariableSlot::Param(k) => self.dag.add(Op::Param(table, k)),
        }
    }

    // ---- values

    /// Returns the mask of positions at which a filter matches.
    pub fn truth(&mut self, filter: FilterRef) -> Id {
        match filter {
            Ref::Condition(f) => self.condition(f),
            Ref::Squares(f) => match f.op() {
                SquaresOp::Form(orbit) => self.any_copy(orbit),
                // The set of pinned squares is non-empty if and only if a pin exists.
                SquaresOp::Pin { from, through, to, .. } => {
                    let pinned = self.pin([from, through, to], PinPart::Through);
                    self.dag.add(Op::NonEmpty(pinned))
                }
                SquaresOp::Game(op) => self.game_squares_truth(op),
                // The value of the braces may be the set of a `--` filter. The braces may then match although the set is empty.
                SquaresOp::Control(Control::Braces { first, last }) if finds_in(filter) => {
                    let (all, last) = self.braces(first, |lower| lower.truth(last.node()));
                    self.and(all, last)
                }
                SquaresOp::Control(Control::If { condition, then, other }) if finds_in(filter) => {
                    let (mask, then, other) = self.branches(
                        condition.node(),
                        |lower| lower.truth(then.node()),
                        |lower| lower.truth(other.node()),
                    );
                    self.select(mask, then, other)
                }
                _ => {
                    let set = self.squares(f);
                    self.dag.add(Op::NonEmpty(set))
                }
            },
            Ref::Number(f) => match f.op() {
                NumberOp::Game(op) => self.game_number_truth(op),
                NumberOp::Form(NumberOrbit::Largest(orbit)) => self.any_copy(orbit),
                _ => self.number(f).1,
            },
            Ref::Text(f) => self.text_truth(f),
            Ref::Position(f) => self.position(f).1,
        }
    }

    pub fn truth_of(&mut self, value: LoweredValue) -> Id {
        match value {
            LoweredValue::Bool(mask) => mask,
            LoweredValue::Set(set) => self.dag.add(Op::NonEmpty(set)),
            LoweredValue::Num { ok, .. } => ok,
        }
    }

    /// Lowers the value of a query.
    pub fn value(&mut self, filter: &Filter) -> LoweredValue {
        match filter {
            Any::Condition(f) => LoweredValue::Bool(self.condition(f)),
            Any::Squares(f) => LoweredValue::Set(self.squares(f)),
            Any::Number(f) => {
                let (number, ok) = self.number(f);
                LoweredValue::Num { number, ok }
            }
            Any::Text(f) => LoweredValue::Bool(self.text_truth(f)),
            Any::Position(f) => {
                let (number, ok) = self.position(f);
                LoweredValue::Num { number, ok }
            }
        }
    }

    // ---- loops

    /// Lowers a loop over the squares of a set. Returns the set, and its squares for which the body matches. If `all` is true, the
    /// loop stops at the first square for which the body does not match. This affects only assignments in the body.
    pub(super) fn square_loop(
        &mut self,
        var: VarId,
        domain: &Squares,
        body: FilterRef,
        all: bool,
    ) -> (Id, Id) {
        let domain = self.squares(domain);
        if self.assigns_outer(body) {
            let outer = self.guard;
            let mut going = outer;
            let mut parts = Vec::new();
            for square in 0..64u32 {
                let here = self.dag.word(1 << square);
                let inside = self.and(domain, here);
                let inside = self.dag.add(Op::NonEmpty(inside));
                self.guard = self.and(going, inside);
                self.cells.bind(var, Cell::Squares(here));
                let hit = self.truth(body);
                parts.push(self.and(hit, here));
                if all {
                    let missed = self.dag.add(Op::AndNot(inside, hit));
                    going = self.dag.add(Op::AndNot(going, missed));
                }
            }
            self.guard = outer;
            self.cells.bind(var, Cell::Unbound);
            let hits = self.dag.any_of(parts);
            return (domain, self.and(hits, domain));
        }
        let table = self.dag.open_loop((0..64).map(|s| vec![1u64 << s]).collect());
        let here = self.dag.add(Op::Param(table, 0));
        let kept = self.cells.clone();
        self.cells.bind(var, Cell::Squares(here));
        let hit = self.truth(body);
        self.cells = kept;
        let part = self.and(hit, here);
        let hits = self.dag.close_loop(table, Reduce::Or, part);
        let hits = self.dag.written_out(hits);
        (domain, self.and(hits, domain))
    }

    /// Returns true if a filter assigns to a variable that already has a value. If the filter is repeated, each repetition then
    /// depends on the previous one.
    pub fn assigns_outer(&self, filter: FilterRef) -> bool {
        if let Some(orbit) = filter.orbit() {
            return self.assigns_outer(orbit.base());
        }
        if let Ref::Condition(f) = filter
            && let C::Assign(var, _) = f.op()
            && self.cells.is_bound(*var)
        {
            return true;
        }
        filter.children().into_iter().any(|child| self.assigns_outer(child))
    }

    // ---- several filters

    /// Lowers filters in braces. `last` lowers the last filter, which is evaluated where all of `first` match. Returns the mask
    /// of these positions, and the result of `last`.
    pub(super) fn braces<'a, T>(
        &mut self,
        first: impl IntoIterator<Item = &'a Filter>,
        last: impl FnOnce(&mut Lower) -> T,
    ) -> (Id, T) {
        let outer = self.guard;
        let mut all = self.dag.mask(true);
        for filter in first {
            let hit = self.truth(filter.node());
            all = self.and(all, hit);
            self.guard = self.and(outer, all);
        }
        let value = last(self);
        self.guard = outer;
        (all, value)
    }

    /// Lowers an `if`. Each branch is evaluated only where the condition selects it. Returns the mask of the condition, and the
    /// results of both branches.
    pub(super) fn branches<T>(
        &mut self,
        condition: FilterRef,
        then: impl FnOnce(&mut Lower) -> T,
        other: impl FnOnce(&mut Lower) -> T,
    ) -> (Id, T, T) {
        let outer = self.guard;
        let mask = self.truth(condition);
        self.guard = self.and(outer, mask);
        let then = then(self);
        self.guard = self.dag.add(Op::AndNot(outer, mask));
        let other = other(self);
        self.guard = outer;
        (mask, then, other)
    }

    /// Returns the mask of positions at which all the filters match.
    pub(super) fn all<'a>(&mut self, filters: impl IntoIterator<Item = &'a Filter>) -> Id {
        self.braces(filters, |_| ()).0
    }

    /// Assigns a value to a variable at the positions at which the assignment is evaluated. Returns the mask of positions at
    /// which the value exists.
    fn assign(&mut self, var: VarId, value: &Assigned<orbit_transforms::Expanded>) -> Id {
        match value {
            Assigned::Squares(f) => {
                let mut set = self.squares(f);
                if let Some(&old) = self.cells.squares(var) {
                    set = self.select(self.guard, set, old);
                }
                self.cells.bind(var, Cell::Squares(set));
                self.dag.mask(true)
            }
            Assigned::Number(f) => {
                let (mut number, ok) = self.number(f);
                if let Some(&old) = self.cells.number(var) {
                    let taken = self.and(self.guard, ok);
                    number = self.select(taken, number, old);
                }
                self.cells.bind(var, Cell::Number(number));
                ok
            }
            Assigned::Text(f) => {
                let (texts, ok) = self.assigned_text(var, f);
                self.cells.bind(var, Cell::Text(texts));
                ok
            }
            Assigned::Position(f) => {
                let (mut ply, ok) = self.position(f);
                if let Some(&old) = self.cells.position(var) {
                    let taken = self.and(self.guard, ok);
                    ply = self.select(taken, ply, old);
                }
                self.cells.bind(var, Cell::Position(ply));
                ok
            }
        }
    }

    // ---- conditions

    /// Returns the mask of positions at which a condition is true.
    pub(super) fn condition(&mut self, f: &Condition) -> Id {
        match f.op() {
            C::Bool(value) => self.dag.mask(*value),
            C::Braces(all) => self.all(all),
            C::And(a, b) => self.all([a, b]),
            C::Or(a, b) => {
                let outer = self.guard;
                let a = self.truth(a.node());
                self.guard = self.dag.add(Op::AndNot(outer, a));
                let b = self.truth(b.node());
                self.guard = outer;
                self.or(a, b)
            }
            C::Not(of) => {
                let of = self.truth(of.node());
                self.not(of)
            }
            C::If { condition, then, other } => {
                let (mask, then, other) = self.branches(
                    condition.node(),
                    |lower| lower.truth(then.node()),
                    |lower| match other {
                        Some(other) => lower.truth(other.node()),
                        None => lower.dag.mask(true),
                    },
                );
                self.select(mask, then, other)
            }
            C::Subset(a, b) => {
                let (a, b) = (self.squares(a), self.squares(b));
                let outside = self.dag.add(Op::AndNot(a, b));
                self.is_empty(outside)
            }
            C::SetEq { equal, left, right } => {
                let (a, b) = (self.squares(left), self.squares(right));
                let (only_a, only_b) = (self.dag.add(Op::AndNot(a, b)), self.dag.add(Op::AndNot(b, a)));
                let differ = self.or(only_a, only_b);
                if *equal { self.is_empty(differ) } else { self.dag.add(Op::NonEmpty(differ)) }
            }
            C::Check => self.check(),
            C::Mate => self.no_moves(true),
            C::Stalemate => self.no_moves(false),
            C::Initial => self.dag.add(Op::Initial),
            C::Terminal => self.dag.add(Op::Terminal),
            C::ToMove(color) => {
                let white = self.dag.add(Op::WhiteToMove);
                if color.is_white() { white } else { self.not(white) }
            }
            C::Result(result) => {
                let column = self.column(TagColumn::Result(*result));
                self.dag.add(Op::GameMask(column))
            }
            C::Assign(var, value) => self.assign(*var, value),
            C::ContentIs { contents, of, .. } => {
                let set = self.squares(of);
                self.content_is(*contents, set)
            }
            C::SquareAll { var, domain, body } => {
                let (domain, hits) = self.square_loop(*var, domain, body.node(), true);
                let missed = self.dag.add(Op::AndNot(domain, hits));
                self.is_empty(missed)
            }
            C::Differ(a, b) => self.differ(a, b),
            C::TextCompare(cmp, a, b) => {
                let [a, b] = self.compared_texts(a, b);
                self.text_pairs(&a, &b, *cmp == Cmp::Ne, |a, b| TextTest::Compare(*cmp, a, b))
            }
            C::TextIn(a, b) => {
                let [a, b] = self.compared_texts(a, b);
                self.text_pairs(&a, &b, false, TextTest::In)
            }
            C::Game(op) => self.game_condition(op),
            C::Form(orbit) => self.any_copy(orbit),
        }
    }

    fn is_empty(&mut self, set: Id) -> Id {
        let some = self.dag.add(Op::NonEmpty(set));
        self.not(some)
    }

    /// Returns the mask of positions at which the side to move has no legal move. If `in_check` is true, the side must also be in
    /// check; otherwise it must not be in check.
    pub(super) fn no_moves(&mut self, in_check: bool) -> Id {
        let check = self.check();
        let within = if in_check { check } else { self.not(check) };
        self.dag.add(Op::NoMoves(within))
    }

    fn check(&mut self) -> Id {
        // The king and the opposing pieces are first selected by the side to move, so that only the attacks on one king must be
        // computed.
        let white = self.dag.add(Op::WhiteToMove);
        let [king, enemies] = [(6, PieceSet::BLACK), (14, PieceSet::WHITE)]
            .map(|(king, enemies)| [PieceSet::only(Code(king)), enemies].map(|set| self.dag.pieces(set)))
            .into_iter()
            .reduce(|[a, b], [c, d]| [self.select(white, a, c), self.select(white, b, d)])
            .expect("there are two sides");
        let pieces = contents_where(|code| matches!(code.0 & 7, 2..=6));
        let attackers = self.attackers(enemies, pieces, king);
        let near = [true, false].map(|white| self.dag.add(Op::Pawn { set: king, white }));
        let near = self.select(white, near[0], near[1]);
        let pawns = self.pieces_where(|code| code.0 & 7 == 1);
        let pawns = self.and(pawns, enemies);
        let pawns = self.and(pawns, near);
        let attackers = self.or(attackers, pawns);
        self.dag.add(Op::NonEmpty(attackers))
    }
}
