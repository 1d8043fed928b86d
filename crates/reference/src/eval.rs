//! Evaluates a filter whose transforms have been expanded, at one position.

use std::{cell::OnceCell, collections::BTreeSet, rc::Rc};

use shakmaty::{Bitboard, Color, Square};

use super::{
    Spot,
    copies::{Copies, ExplicitForm, NumberCopies, PlainFilter},
    facts,
    geometry::{square, xy},
    lines,
    moves::{LegalMoves, ReducedMove, SquareArray},
    pure,
    scope::Scope,
    state::{Datum, Declared, VariableState},
    tree::GameTree,
    value::Value,
};
use orbit_core::{
    board::{Code, PieceSet},
    interrupt::Interrupt,
    record::Outcome,
};
use orbit_query::{
    answer::SpanKind,
    tree::{
        Any, Arith, Cmp, Condition, ConditionOp as C, Control, Counted, Dirs, Elsewhere, GameResult,
        GameSquares, Kind, Moves, NoTransform, Number, NumberOp as N, Position, PositionOp, PureKind, Ref,
        Squares, SquaresOp as S, Text, TextOp, VarId,
    },
};

/// The state of evaluating one query on one game.
pub(super) struct Evaluation<'a> {
    pub(super) nodes: &'a [Spot<'a>],
    /// The position at which filters are evaluated.
    pub(super) here: Here<'a>,
    /// The positions at which filters have been evaluated, with their cached data. The list is empty until a filter is evaluated
    /// away from the current position.
    visited: Vec<Option<Here<'a>>>,
    pub(super) declared: &'a Declared,
    /// The tree of lines in the game. It is built when it is first needed.
    tree: OnceCell<GameTree>,
    /// The context of the current filter, such as the part of a move that an enclosing filter has selected.
    pub(super) scope: Scope,
    pub(super) state: VariableState,
}

/// A position of a game, with data computed once for all filters at this position.
#[derive(Clone)]
pub(super) struct Here<'a> {
    pub(super) at: usize,
    pub(super) spot: &'a Spot<'a>,
    pub(super) placement: Rc<SquareArray>,
    /// The squares of each [`Code`].
    contents: Rc<OnceCell<[Bitboard; 16]>>,
    rules: Rc<OnceCell<LegalMoves>>,
}

impl<'a> Here<'a> {
    fn new(nodes: &'a [Spot<'a>], at: usize) -> Here<'a> {
        let spot = &nodes[at];
        let placement = Rc::new(SquareArray::new(&spot.position));
        Here { at, spot, placement, contents: Rc::default(), rules: Rc::default() }
    }
}

impl<'a> Evaluation<'a> {
    /// Creates the evaluation state for a game, with `at` as the current position and all variables unbound.
    pub(super) fn new(
        nodes: &'a [Spot<'a>],
        at: usize,
        declared: &'a Declared,
        interrupt: &Interrupt,
    ) -> Evaluation<'a> {
        Evaluation {
            nodes,
            here: Here::new(nodes, at),
            visited: Vec::new(),
            declared,
            tree: OnceCell::new(),
            scope: Scope::default(),
            state: VariableState::new(declared, interrupt),
        }
    }

    pub(super) fn tree(&self) -> &GameTree {
        self.tree.get_or_init(|| GameTree::new(self.nodes))
    }

    /// Calls `evaluate` with another position as the current one. Then restores the current position.
    pub(super) fn there<T>(&mut self, at: usize, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.visited.resize(self.nodes.len(), None);
        let there = self.visited[at].get_or_insert_with(|| Here::new(self.nodes, at)).clone();
        let here = std::mem::replace(&mut self.here, there);
        let value = evaluate(self);
        self.here = here;
        value
    }

    /// Calls `evaluate` with a changed scope. Then restores the scope.
    pub(super) fn scoped<T>(
        &mut self,
        change: impl FnOnce(&mut Scope),
        evaluate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.scope.clone();
        change(&mut self.scope);
        let value = evaluate(self);
        self.scope = outer;
        value
    }

    /// Calls `evaluate` as if no `--` had selected part of a move.
    pub(super) fn unselected<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.scoped(|scope| scope.selected = None, evaluate)
    }

    /// Calls `evaluate` in a scope in which `move` tests all moves, even inside a constituent that is evaluated for one particular
    /// move.
    pub(super) fn untied<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.scoped(|scope| scope.tied = None, evaluate)
    }

    /// Calls `evaluate` with `at` as the current position, and without the context of the current filter. This is how `P:F`
    /// evaluates F.
    pub(super) fn apart<T>(&mut self, at: usize, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.untied(|apart| apart.unselected(|apart| apart.there(at, evaluate)))
    }

    /// Returns true if a filter matches. If it does not, removes the notes (comments and spans) that it has added. Other effects
    /// are not undone.
    pub(super) fn matches(&mut self, filter: &impl Kind<ExplicitForm>) -> bool {
        let filter = filter.node();
        self.state.step(*filter.mark());
        self.noted(|this| match filter {
            Ref::Condition(f) => this.test(f).then_some(()),
            Ref::Squares(f) => this.has_squares(f).then_some(()),
            Ref::Number(f) => this.number(f).map(drop),
            Ref::Text(f) => this.text(f).map(drop),
            Ref::Position(f) => this.position(f).map(drop),
        })
        .is_some()
    }

    pub(super) fn value(&mut self, filter: &PlainFilter) -> Value {
        match filter {
            Any::Condition(f) => Value::Bool(self.matches(f)),
            Any::Squares(f) => Value::Set(self.squares(f)),
            Any::Number(f) => Value::Num(self.number(f)),
            Any::Text(f) => Value::Str(self.text(f)),
            Any::Position(f) => Value::Position(self.position(f)),
        }
    }

    /// Calls `evaluate` and returns its value. If it has none, or if the search must end, removes the notes that `evaluate` has
    /// added.
    fn noted<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.state.notes.len();
        let value = if self.state.fault.is_none() { evaluate(self) } else { None };
        let value = value.filter(|_| self.state.fault.is_none());
        if value.is_none() {
            self.state.notes.truncate(before);
        }
        value
    }

    /// Returns true if a set filter matches. Most set filters match if their set is not empty. A filter that returns the set of a
    /// `--` can match even if the set is empty; see [`Evaluation::elsewhere_matches`].
    fn has_squares(&mut self, f: &Squares<ExplicitForm>) -> bool {
        match f.op() {
            S::Game(GameSquares::Elsewhere(of)) => self.elsewhere_matches(of),
            S::Control(of @ (Control::If { .. } | Control::Braces { .. })) => match self.handed_on(of) {
                HandedOn::Filter(f) => self.matches(f),
                HandedOn::Var(_) | HandedOn::Nothing => false,
            },
            S::Form(Copies::NoTransform(of)) => self.matches(of),
            S::Form(Copies::Orbit(copies)) => self.count_matching(copies) > 0,
            S::Game(GameSquares::Entry { dictionary, key }) => self.entry(*dictionary, key).is_some(),
            _ => self.squares(f).any(),
        }
    }

    /// Returns the value of a set filter, and a flag that is true if the filter matches. The filter is evaluated once.
    pub(super) fn squares_and_match(&mut self, f: &Squares<ExplicitForm>) -> (Bitboard, bool) {
        match f.op() {
            S::Control(of @ (Control::If { .. } | Control::Braces { .. })) => match self.handed_on(of) {
                HandedOn::Filter(f) => self.squares_and_match(f),
                HandedOn::Var(_) | HandedOn::Nothing => (Bitboard::EMPTY, false),
            },
            S::Form(Copies::NoTransform(of)) => self.squares_and_match(of),
            S::Game(GameSquares::Elsewhere(Elsewhere::Edge { edge, target })) => {
                self.edge_squares_and_match(edge, target)
            }
            S::Game(GameSquares::Entry { dictionary, key }) => match self.entry(*dictionary, key) {
                Some(Datum::Squares(squares)) => (Bitboard(squares), true),
                entry => (Bitboard::EMPTY, entry.is_some()),
            },
            _ => {
                let squares = self.squares(f);
                (squares, squares.any())
            }
        }
    }

    /// Returns true if a filter does not match. Removes its notes even if it matches.
    fn fails(&mut self, filter: &PlainFilter) -> bool {
        let before = self.state.notes.len();
        let matches = self.matches(filter);
        self.state.notes.truncate(before);
        !matches
    }

    // ---- copies of a transform: all of them are evaluated, in order, since they may assign variables

    fn count_matching<F: Kind<ExplicitForm>>(&mut self, copies: &[F]) -> i32 {
        let mut is_first = true;
        let mut count = 0;
        for copy in copies {
            let begin = self.notes_begin();
            let matches = self.matches(copy);
            self.first_copy(begin, matches, &mut is_first);
            count += i32::from(matches);
        }
        count
    }

    fn number_of(&mut self, copies: &NumberCopies) -> Option<i32> {
        match copies {
            NumberCopies::Largest(Copies::Orbit(copies)) => {
                let (mut is_first, mut largest) = (true, None);
                for copy in copies {
                    let begin = self.notes_begin();
                    let number = self.number(copy);
                    self.first_copy(begin, number.is_some(), &mut is_first);
                    largest = largest.max(number);
                }
                largest
            }
            NumberCopies::Largest(Copies::NoTransform(of)) => self.number(of),
            NumberCopies::Counted(counted, copies) => within(self.count_matching(copies), *counted),
        }
    }

    // ---- other positions

    /// Returns the current position and its ancestors, nearest first.
    fn before(&self) -> Vec<usize> {
        std::iter::successors(Some(self.here.at), |&at| self.nodes[at].parent).collect()
    }

    /// Returns the current position and its descendants, in numerical order.
    fn after(&self) -> Vec<usize> {
        let mut is_after = vec![false; self.nodes.len()];
        is_after[self.here.at] = true;
        for (at, spot) in self.nodes.iter().enumerate() {
            is_after[at] |= spot.parent.is_some_and(|parent| is_after[parent]);
        }
        (0..self.nodes.len()).filter(|&at| is_after[at]).collect()
    }

    /// Returns the positions at which a filter matches, from the current position to the end or, with `back`, to the start. If
    /// `first` is true, stops at the first match. Variables keep their values between the positions.
    fn found(&mut self, back: bool, filter: &PlainFilter, first: bool) -> Vec<usize> {
        self.state.step_nodes(self.nodes.len(), *filter.node().mark());
        let candidates = if back { self.before() } else { self.after() };
        let mut out = Vec::new();
        for at in candidates {
            if self.state.fault.is_some() {
                break;
            }
            if self.untied(|this| this.there(at, |there| there.matches(filter))) {
                out.push(at);
            }
            if first && !out.is_empty() {
                break;
            }
        }
        out
    }

    fn nearest(&mut self, back: bool, quiet: bool, filter: &PlainFilter) -> Option<i32> {
        let begin = self.notes_begin();
        let &at = self.found(back, filter, true).first()?;
        self.note_span(begin, SpanKind::Find, &[self.here.at, at]);
        if !quiet {
            self.note_automatic(at, "Found");
        }
        Some(at as i32)
    }

    fn found_count(
        &mut self,
        back: bool,
        quiet: bool,
        counted: Counted,
        filter: &PlainFilter,
    ) -> Option<i32> {
        let begin = self.notes_begin();
        let all = self.found(back, filter, false);
        let count = within(all.len() as i32, counted)?;
        if !all.is_empty() {
            let nodes: Vec<usize> = std::iter::once(self.here.at).chain(all.iter().copied()).collect();
            self.note_span(begin, SpanKind::Find, &nodes);
        }
        if !quiet {
            for (at, number) in all.into_iter().zip(1..) {
                self.note_automatic(at, format!("Found {number} of {count}"));
            }
        }
        Some(count)
    }

    // ---- filters whose value is that of another filter

    /// Returns true if all filters match. Stops at the first that does not.
    fn all(&mut self, filters: &[PlainFilter]) -> bool {
        filters.iter().all(|filter| self.matches(filter))
    }

    /// Returns the filter or variable that determines the value of `of`, or [`HandedOn::Nothing`] if there is none.
    fn handed_on<'f, F>(&mut self, of: &'f Control<ExplicitForm, F>) -> HandedOn<'f, F> {
        let before = self.state.notes.len();
        match of {
            Control::Var(var) => HandedOn::Var(*var),
            Control::If { condition, then, other } => {
                HandedOn::Filter(if self.matches(condition) { then } else { other })
            }
            Control::Braces { first, last } => {
                if self.all(first) {
                    HandedOn::Filter(last)
                } else {
                    self.state.notes.truncate(before);
                    HandedOn::Nothing
                }
            }
        }
    }

    // ---- sets

    pub(super) fn squares(&mut self, f: &Squares<ExplicitForm>) -> Bitboard {
        self.state.step(f.mark);
        if self.state.fault.is_some() {
            return Bitboard::EMPTY;
        }
        match f.op() {
            S::Designator { pieces, squares } => *squares & self.holding(pieces.accepts()),
            S::Constant(squares) => *squares,
            S::SquareLoop { var, domain, body } => {
                let squares = self.squares_to_try(domain);
                self.loop_over(*var, squares, body, f.mark)
            }
            S::MakeSquare { file, rank } => {
                let (file, rank) = (self.number(file), self.number(rank));
                make_square(file, rank).map_or(Bitboard::EMPTY, Bitboard::from)
            }
            S::DirectionWithin { dirs, lo, hi, of } => {
                let (lo, hi) = (self.number(lo), self.number(hi));
                let from = self.squares(of);
                // Seven steps are the most that stay on the board, so larger bounds can be reduced to eight.
                let (Some(lo), Some(hi)) = (lo, hi) else { return Bitboard::EMPTY };
                let range = lo.clamp(-8, 8)..=hi.clamp(-8, 8);
                range
                    .map(|n| lines::direction(*dirs, n as i8, n as i8, from))
                    .fold(Bitboard::EMPTY, |a, b| a | b)
            }
            S::Pawns(kind) => lines::pawns(&self.here.placement, *kind),
            S::Pure { kind, mate } => self.pure(*kind, *mate),
            S::Legal(of) => self.moves(of).into_iter().map(|(_, to)| to).collect(),
            S::Union(a, b) => self.squares(a) | self.squares(b),
            S::Intersect(a, b) => self.squares(a) & self.squares(b),
            S::Complement(of) => !self.squares(of),
            S::Attacks(x, y) => {
                let (x, y) = (self.squares(x), self.squares(y));
                lines::attackers(&self.here.placement, x, y)
            }
            S::AttackedBy(y, x) => {
                let (y, x) = (self.squares(y), self.squares(x));
                lines::attacked(&self.here.placement, y, x)
            }
            S::Xray { forward: true, sets } => {
                let sets = self.sets(sets.iter());
                lines::ray(&self.here.placement, Dirs::ALL, true, &sets).first
            }
            S::Xray { forward: false, sets } => {
                let mut from_attacker = self.sets(sets.iter());
                from_attacker.reverse();
                lines::ray(&self.here.placement, Dirs::ALL, true, &from_attacker).last
            }
            S::Between(x, y) => {
                let (x, y) = (self.squares(x), self.squares(y));
                lines::between(x, y)
            }
            S::Ray { dirs, attack, sets } => {
                let sets = self.sets(sets.iter());
                lines::ray(&self.here.placement, *dirs, *attack, &sets).last
            }
            S::Pin { value, from, through, to } => {
                let (from, through, to) = (self.squares(from), self.squares(through), self.squares(to));
                lines::pin(&self.here.placement, *value, from, through, to)
            }
            S::Direction { dirs, lo, hi, of } => lines::direction(*dirs, *lo, *hi, self.squares(of)),
            S::Shade { light, of } => lines::shade(*light, self.squares(of)),
            S::Control(of) => match self.handed_on(of) {
                HandedOn::Filter(f) => self.squares(f),
                HandedOn::Var(var) => self.squares_of(var, f.mark),
                HandedOn::Nothing => Bitboard::EMPTY,
            },
            S::Game(op) => self.game_squares(op, f.mark),
            S::Form(Copies::NoTransform(of)) => self.squares(of),
            S::Form(Copies::Orbit(copies)) => {
                let (mut is_first, mut all) = (true, Bitboard::EMPTY);
                for copy in copies {
                    let begin = self.notes_begin();
                    let squares = self.squares(copy);
                    self.first_copy(begin, squares.any(), &mut is_first);
                    all |= squares;
                }
                all
            }
        }
    }

    fn sets<'f>(&mut self, of: impl Iterator<Item = &'f Squares<ExplicitForm>>) -> Vec<Bitboard> {
        of.map(|set| self.squares(set)).collect()
    }

    // ---- conditions

    fn test(&mut self, f: &Condition<ExplicitForm>) -> bool {
        match f.op() {
            C::Bool(value) => *value,
            C::And(a, b) => self.matches(a) && self.matches(b),
            C::Or(a, b) => self.matches(a) || self.matches(b),
            C::Not(of) => self.fails(of),
            C::Braces(filters) => self.all(filters),
            C::If { condition, then, other } => {
                if self.matches(condition) {
                    self.matches(then)
                } else {
                    other.as_ref().is_none_or(|other| self.matches(other))
                }
            }
            C::Subset(a, b) => {
                let (inner, outer) = (self.squares(a), self.squares(b));
                (inner & !outer).is_empty()
            }
            C::SetEq { equal, left, right } => *equal == (self.squares(left) == self.squares(right)),
            C::SquareAll { var, domain, body } => {
                let squares = self.squares_to_try(domain);
                self.all_over(*var, squares, body, f.mark)
            }
            C::Check => self.rules().check,
            C::Mate => self.is_over(true),
            C::Stalemate => self.is_over(false),
            C::Initial => self.here.spot.initial,
            C::Terminal => self.here.spot.terminal,
            C::ToMove(color) => self.here.placement.turn == *color,
            C::Result(result) => self.result() == Some(*result),
            C::Assign(var, value) => self.assign(*var, value),
            C::ContentIs { contents, of, .. } => {
                self.squares(of).single_square().is_some_and(|s| self.holds(s, *contents))
            }
            // `a != b` means `not (a == b)`. It is also true if one side has no value.
            C::Differ(a, b) => self.compared(Cmp::Eq, a, b).is_none(),
            C::TextCompare(cmp, a, b) => match self.strings(a, b) {
                (Some(left), Some(right)) => cmp.holds(facts::order(&left, &right)),
                _ => *cmp == Cmp::Ne,
            },
            C::TextIn(a, b) => match self.strings(a, b) {
                (Some(needle), Some(text)) => facts::occurs_in(&needle, &text),
                _ => false,
            },
            C::Game(op) => self.game_condition(op, f.mark),
            C::Form(Copies::NoTransform(of)) => self.test(of),
            C::Form(Copies::Orbit(copies)) => self.count_matching(copies) > 0,
        }
    }

    // ---- numbers

    pub(super) fn number(&mut self, f: &Number<ExplicitForm>) -> Option<i32> {
        self.state.step(f.mark);
        self.noted(|this| this.number_of_op(f))
    }

    fn number_of_op(&mut self, f: &Number<ExplicitForm>) -> Option<i32> {
        match f.op() {
            N::Int(value) => Some(*value),
            N::Cardinality(of) => Some(self.squares(of).count() as i32),
            N::AttackCount(x, y) => {
                let (x, y) = (self.squares(x), self.squares(y));
                Some(lines::attack_count(&self.here.placement, x, y))
            }
            N::RayCount { dirs, attack, sets } => {
                let sets = self.sets(sets.iter());
                Some(lines::ray_count(&self.here.placement, *dirs, *attack, &sets))
            }
            N::Power(of) => {
                let set = self.squares(of);
                Some(self.power(set))
            }
            N::Rank(of) => self.squares(of).single_square().map(|s| xy(s).1 + 1),
            N::File(of) => self.squares(of).single_square().map(|s| xy(s).0 + 1),
            N::ContentType { signed, of } => {
                self.squares(of).single_square().map(|s| self.content_type(s, *signed))
            }
            N::Arith(arith, a, b) => {
                let (left, right) = (self.number(a), self.number(b));
                arithmetic(*arith, left?, right?)
            }
            N::Neg(of) => self.number(of).map(i32::wrapping_neg),
            N::Abs(of) => self.number(of).map(i32::wrapping_abs),
            N::Sqrt(of) => self.number(of).filter(|&n| n >= 0).map(i32::isqrt),
            N::InRange { lo, hi, of } => {
                let bounds = (self.number(lo), self.number(hi));
                let (Some(lo), Some(hi)) = bounds else { return None };
                self.number(of).filter(|n| (lo..=hi).contains(n))
            }
            N::Max(all) => self.numbers(all.iter()).into_iter().flatten().max(),
            N::Min(all) => self.numbers(all.iter()).into_iter().flatten().min(),
            N::Compare(cmp, a, b) => self.compared(*cmp, a, b),
            N::LegalCount(of) => Some(self.moves(of).len() as i32),
            N::ColorValue(color) => Some(color.fold_wb(1, -1)),
            N::SideToMove => Some(self.here.placement.turn.fold_wb(1, -1)),
            N::Ply => Some(self.here.spot.ply as i32),
            N::MoveNumber => Some(self.move_number()),
            N::GameNumber => Some(self.here.spot.game.number() as i32),
            N::Year => facts::year(self.here.spot.game),
            N::Elo(color) => facts::elo(self.here.spot.game, *color),
            N::Find { back, quiet, counted, of } => self.found_count(*back, *quiet, *counted, of),
            N::Control(of) => match self.handed_on(of) {
                HandedOn::Filter(f) => self.number(f),
                HandedOn::Var(var) => self.number_of_var(var, f.mark),
                HandedOn::Nothing => None,
            },
            N::Game(op) => self.game_number(op, f.mark),
            N::Form(copies) => self.number_of(copies),
        }
    }

    fn numbers<'f>(&mut self, of: impl Iterator<Item = &'f Number<ExplicitForm>>) -> Vec<Option<i32>> {
        of.map(|number| self.number(number)).collect()
    }

    /// Compares two numbers. A comparison that is true has the left number as its value, which is returned.
    fn compared(&mut self, cmp: Cmp, a: &Number<ExplicitForm>, b: &Number<ExplicitForm>) -> Option<i32> {
        let begin = self.notes_begin();
        let (left, right) = (self.number(a), self.number(b));
        self.forget_found(begin);
        let (left, right) = (left?, right?);
        cmp.holds(left.cmp(&right)).then_some(left)
    }

    // ---- strings and positions

    pub(super) fn text(&mut self, f: &Text<ExplicitForm>) -> Option<Vec<u8>> {
        self.state.step(f.mark);
        let text = self.noted(|this| this.text_of_op(f));
        // The caller reads or copies the string, so its length counts towards the step limit.
        self.state.step_bytes(text.as_ref().map_or(0, Vec::len), f.mark);
        text
    }

    fn text_of_op(&mut self, f: &Text<ExplicitForm>) -> Option<Vec<u8>> {
        match f.op() {
            TextOp::Literal(text) => Some(text.clone().into_bytes()),
            TextOp::Tag(name) => facts::tag(self.here.spot.game, name),
            TextOp::Player(color) => facts::player(self.here.spot.game, *color),
            TextOp::ContentName { contents, spelt, of } => {
                let square = self.squares(of).single_square().filter(|&s| self.holds(s, *contents));
                square.map(|square| self.content_name(*spelt, square))
            }
            TextOp::Compare(cmp, a, b) => match self.strings(a, b) {
                (Some(left), Some(right)) => cmp.holds(facts::order(&left, &right)).then_some(left),
                _ => None,
            },
            TextOp::Control(of) => match self.handed_on(of) {
                HandedOn::Filter(f) => self.text(f),
                HandedOn::Var(var) => self.text_of(var, f.mark),
                HandedOn::Nothing => None,
            },
            TextOp::Game(op) => self.game_text(op, f.mark),
            TextOp::Form(NoTransform(of)) => self.text(of),
        }
    }

    /// Evaluates the two strings of a comparison. If one is a player's name and the other is a literal, the literal is normalised
    /// like a name.
    fn strings(
        &mut self,
        a: &Text<ExplicitForm>,
        b: &Text<ExplicitForm>,
    ) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let names = [a, b].into_iter().any(|text| match last_op(text) {
            TextOp::Player(_) => true,
            TextOp::Tag(name) => name == "White" || name == "Black",
            _ => false,
        });
        let mut string = |text: &Text<ExplicitForm>| {
            let is_text = names && matches!(last_op(text), TextOp::Literal(_));
            self.text(text).map(|value| if is_text { facts::spelt(&value) } else { value })
        };
        (string(a), string(b))
    }

    /// Returns the value of a position filter: the number of a position in the game.
    pub(super) fn position(&mut self, f: &Position<ExplicitForm>) -> Option<i32> {
        self.state.step(f.mark);
        self.noted(|this| this.position_of_op(f))
    }

    fn position_of_op(&mut self, f: &Position<ExplicitForm>) -> Option<i32> {
        match f.op() {
            PositionOp::Find { back, quiet, of } => self.nearest(*back, *quiet, of),
            PositionOp::Control(of) => match self.handed_on(of) {
                HandedOn::Filter(f) => self.position(f),
                HandedOn::Var(var) => self.position_of(var, f.mark),
                HandedOn::Nothing => None,
            },
            PositionOp::Game(op) => self.game_position(op, f.mark),
            PositionOp::Form(NoTransform(of)) => self.position(of),
        }
    }

    // ---- the position

    /// Returns the origin and destination squares of the moves that a `legal` or `pseudolegal` filter selects.
    fn moves(&mut self, of: &Moves<ExplicitForm>) -> BTreeSet<(Square, Square)> {
        let (from, to) = (self.squares(&of.from), self.squares(&of.to));
        let pseudolegal: Vec<ReducedMove>;
        let steps = if of.pseudo {
            pseudolegal = self.here.placement.pseudolegal_moves();
            &pseudolegal
        } else {
            &self.rules().legal
        };
        steps
            .iter()
            .filter(|step| step.is(of.only) && from.contains(step.from) && to.contains(step.to))
            .map(|step| (step.from, step.to))
            .collect()
    }

    /// Returns true if the side to move is mated or, if `mate` is false, stalemated.
    fn is_over(&self, mate: bool) -> bool {
        let rules = self.rules();
        rules.has_king && rules.check == mate && rules.legal.is_empty()
    }

    fn pure(&self, kind: PureKind, mate: bool) -> Bitboard {
        if self.is_over(mate) { pure::men(&self.here.placement, kind, mate) } else { Bitboard::EMPTY }
    }

    pub(super) fn rules(&self) -> &LegalMoves {
        self.here.rules.get_or_init(|| LegalMoves::from_position(&self.here.spot.position))
    }

    fn content(&self, s: Square) -> Code {
        self.here.placement.at(s).map_or(Code::EMPTY, Code::from_piece)
    }

    fn holds(&self, s: Square, contents: PieceSet) -> bool {
        contents.contains(self.content(s))
    }

    /// Returns the squares whose content is in `contents`.
    fn holding(&self, contents: PieceSet) -> Bitboard {
        let squares = self.here.contents.get_or_init(|| self.here.placement.by_code());
        // `contents` has a bit for each code of a square's content, so it can be iterated like a set of squares.
        let codes = Bitboard(contents.0.into()).into_iter();
        codes.fold(Bitboard::EMPTY, |all, code| all | squares[code as usize])
    }

    fn power(&mut self, set: Bitboard) -> i32 {
        set.into_iter().map(|s| [0, 1, 3, 3, 5, 9, 0][self.content_type(s, false) as usize]).sum()
    }

    /// Returns the content of a square as a number: 0 for an empty square, 1 to 6 for pawn to king. If `signed` is true, the number
    /// of a black piece is negative.
    fn content_type(&self, s: Square, signed: bool) -> i32 {
        let Some(piece) = self.here.placement.at(s) else { return 0 };
        let role = piece.role as i32;
        if signed && piece.color == Color::Black { -role } else { role }
    }

    /// Returns the move number. It is 1 at the start of the game, and increases after each Black move. The number of half-moves
    /// played and the side to move show which side began.
    pub(super) fn move_number(&self) -> i32 {
        let black_to_move = self.here.placement.turn == Color::Black;
        let black_began = black_to_move != (self.here.spot.ply % 2 == 1);
        let black_began = black_began != self.here.spot.game.is_swapped();
        1 + (self.here.spot.ply as i32 + i32::from(black_began)) / 2
    }

    fn result(&self) -> Option<GameResult> {
        match self.here.spot.game.outcome() {
            Outcome::WhiteWins => Some(GameResult::WhiteWins),
            Outcome::BlackWins => Some(GameResult::BlackWins),
            Outcome::Draw => Some(GameResult::Draw),
            Outcome::Unknown => None,
        }
    }
}

/// The filter or variable that determines the value of another filter.
enum HandedOn<'f, F> {
    /// The value of this filter.
    Filter(&'f F),
    /// The value of this variable.
    Var(VarId),
    /// There is no value, because an earlier filter in the braces does not match.
    Nothing,
}

/// Returns a number of copies or positions, or `None` if it is outside the range that the query accepts.
fn within(count: i32, counted: Counted) -> Option<i32> {
    match counted {
        Counted::All => Some(count),
        Counted::Range(lo, hi) => (lo..=hi).contains(&count).then_some(count),
    }
}

/// Returns the operation that produces the value of a string filter. In braces, this is the operation of the last filter.
fn last_op(text: &Text<ExplicitForm>) -> &TextOp<ExplicitForm> {
    match text.op() {
        TextOp::Control(Control::Braces { last, .. }) | TextOp::Form(NoTransform(last)) => last_op(last),
        op => op,
    }
}

fn make_square(file: Option<i32>, rank: Option<i32>) -> Option<Square> {
    square(file?.checked_sub(1)?, rank?.checked_sub(1)?)
}

/// Computes wrapping 32-bit arithmetic. Division truncates, and division by zero has no value.
fn arithmetic(arith: Arith, left: i32, right: i32) -> Option<i32> {
    match arith {
        Arith::Add => Some(left.wrapping_add(right)),
        Arith::Sub => Some(left.wrapping_sub(right)),
        Arith::Mul => Some(left.wrapping_mul(right)),
        Arith::Div => (right != 0).then(|| left.wrapping_div(right)),
        Arith::Rem => (right != 0).then(|| left.wrapping_rem(right)),
    }
}
