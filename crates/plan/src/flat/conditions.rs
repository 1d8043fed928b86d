//! Compiles conditions. The code after a condition runs only if the condition is true. Otherwise the condition jumps to a label.

use super::{
    compile::{CompileResult, Compiler},
    sizes,
};
use crate::{Instr, Label, RegisterWord};
use orbit_core::board::PieceSet;
use orbit_query::tree::{
    Any, Assigned, Cmp, ConditionOp as C, Control, GameCondition as G, GameSquares, Kind, Number, NumberOp,
    PositionOp, PositionOrder, Ref, SquaresOp, VarId,
};
use orbit_transforms::{Condition, Expanded, Filter, FilterRef, Orbit, Position, Squares};

/// A loop over the squares of a set, or over the pieces on them.
#[derive(Clone, Copy)]
pub(super) struct SquareLoop<'f> {
    pub(super) var: VarId,
    pub(super) domain: &'f Squares,
    pub(super) body: FilterRef<'f>,
    /// The register with the squares that the loop has yet to visit.
    pub(super) set: RegisterWord,
    /// True if the variable is bound to the piece on each square, not to the square itself.
    pub(super) pieces: bool,
}

impl Compiler<'_> {
    /// Compiles a condition. The code jumps to `no` if the condition is false.
    pub(super) fn condition(&mut self, f: &Condition, no: Label) -> CompileResult {
        match f.op() {
            C::And(a, b) => self.unless_all([a, b], no),
            C::Braces(all) => self.unless_all(all, no),
            C::Or(a, b) => {
                let (second, done) = (self.label(), self.label());
                self.unless(a.node(), second)?;
                self.emit(Instr::Jump(done))?;
                self.place(second);
                self.unless(b.node(), no)?;
                self.place(done);
                Ok(())
            }
            C::Not(of) => {
                let fails = self.label();
                self.unless(of.node(), fails)?;
                self.emit(Instr::Jump(no))?;
                self.place(fails);
                Ok(())
            }
            C::If { condition, then, other } => {
                let (otherwise, done) = (self.label(), self.label());
                self.unless(condition.node(), otherwise)?;
                self.unless(then.node(), no)?;
                self.emit(Instr::Jump(done))?;
                self.place(otherwise);
                if let Some(other) = other {
                    self.unless(other.node(), no)?;
                }
                self.place(done);
                Ok(())
            }
            C::Subset(a, b) => self.two_sets(a, b, |this, [a, b]| {
                let (outside, inside) = (this.word()?, this.label());
                this.emit(Instr::AndNot { to: outside, a, b })?;
                this.emit(Instr::UnlessAny { set: outside, no: inside })?;
                this.emit(Instr::Jump(no))?;
                this.place(inside);
                Ok(())
            }),
            C::SetEq { equal, left, right } => self.two_sets(left, right, |this, [a, b]| {
                let cmp = if *equal { Cmp::Eq } else { Cmp::Ne };
                this.emit(Instr::UnlessCompare { cmp, a, b, no })
            }),
            C::ContentIs { contents, of, .. } => self.content_is(*contents, of, no),
            C::Assign(var, value) => self.assign(*var, value, no),
            C::SquareAll { var, domain, body } => self.scratch(|this| {
                let set = this.word()?;
                this.squares(domain, set)?;
                this.all_over(SquareLoop { var: *var, domain, body: body.node(), set, pieces: false }, no)
            }),
            C::Differ(a, b) => self.two_numbers(a, b, |this, [a, b]| {
                let (differ, done) = (this.label(), this.label());
                // `!=` is also true if one of the numbers has no value.
                for number in [a, b] {
                    this.emit(Instr::UnlessValue { number, no: differ })?;
                }
                this.emit(Instr::UnlessCompare { cmp: Cmp::Ne, a, b, no })?;
                this.emit(Instr::Jump(done))?;
                this.place(differ);
                this.place(done);
                Ok(())
            }),
            C::TextCompare(cmp, a, b) => self.compared_texts(*cmp, a, b, no),
            C::TextIn(a, b) => self.text_in(a, b, no),
            C::Game(op) => self.game_condition(op, no),
            C::Form(orbit) => {
                // Every copy (transformed filter) must be evaluated, since it may assign variables.
                self.count_copies(orbit, |this, count| this.emit(Instr::UnlessAny { set: count, no }))
            }
            _ => Err("a condition that depends on variables"),
        }
    }

    fn game_condition(&mut self, op: &G<Expanded>, no: Label) -> CompileResult {
        match op {
            G::At { at, of } => self.at_position(at, no, |this, no| this.unless(of.node(), no)),
            G::Edge { edge, target } => self.unless_edge(edge, no, |this, no| match target {
                Some(target) => this.unless(target.node(), no),
                None => Ok(()),
            }),
            G::Move(of) => self.unless_move(of, no),
            G::Ancestor { ancestor, of } => self.two_positions(ancestor, of, |this, [a, b]| {
                this.unless_order(PositionOrder::Before, a, b, no)
            }),
            G::Echo(echo) => self.echo(echo, no),
            G::BindPiece { var, of } => self.scratch(|this| {
                let piece = this.word()?;
                this.squares(of, piece)?;
                this.pieces = true;
                this.emit(Instr::PieceOn { to: piece, set: piece })?;
                this.emit(Instr::UnlessValue { number: piece, no })?;
                this.emit(Instr::Bind { var: this.var(*var), from: piece })
            }),
            G::PieceAll { var, domain, body } => self.scratch(|this| {
                let set = this.word()?;
                this.squares(domain, set)?;
                this.all_over(SquareLoop { var: *var, domain, body: body.node(), set, pieces: true }, no)
            }),
            G::AssignSome { var, of } => self.scratch(|this| {
                let set = this.word()?;
                this.squares(of, set)?;
                this.emit(Instr::UnlessAny { set, no })?;
                this.emit(Instr::Bind { var: this.var(*var), from: set })
            }),
            G::Unbind(var) => self.emit(Instr::Unbind { var: self.var(*var) }),
            G::IsBound { var, bound } => {
                self.emit(Instr::UnlessBound { var: self.var(*var), bound: *bound, no })
            }
            G::Assert(of) => {
                let (fails, done) = (self.label(), self.label());
                self.unless(of.node(), fails)?;
                self.emit(Instr::Jump(done))?;
                self.place(fails);
                self.emit(Instr::Fault)?;
                self.place(done);
                Ok(())
            }
            G::Abort => self.emit(Instr::Fault),
            G::Loop(of) => self.repeat(of, no),
            G::While { condition, body } => {
                let done = self.label();
                let again = self.label_here();
                self.unless(condition.node(), done)?;
                self.emit(Instr::Repeat)?;
                let next = self.label();
                self.unless(body.node(), next)?;
                self.place(next);
                self.emit(Instr::Jump(again))?;
                self.place(done);
                Ok(())
            }
            G::WhileMatch { text, pattern, body } => self.each_match(text, pattern, body, no),
            G::Equal(Any::Squares(a), Any::Squares(b)) => {
                self.two_sets(a, b, |this, [a, b]| this.emit(Instr::UnlessCompare { cmp: Cmp::Eq, a, b, no }))
            }
            // `equal` treats two missing numbers as equal. A missing number is always the same word, so comparing the words is
            // correct.
            G::Equal(Any::Number(a), Any::Number(b)) => self
                .two_numbers(a, b, |this, [a, b]| this.emit(Instr::UnlessCompare { cmp: Cmp::Eq, a, b, no })),
            G::Equal(Any::Position(a), Any::Position(b)) => self.two_positions(a, b, |this, [a, b]| {
                this.emit(Instr::UnlessCompare { cmp: Cmp::Eq, a, b, no })
            }),
            G::Equal(Any::Text(a), Any::Text(b)) => self.equal_texts(a, b, no),
            G::SetEntry { dictionary, key, value } => self.set_entry(*dictionary, [key, value], no),
            G::Forget { dictionary, key } => self.forget(*dictionary, key.as_ref(), no),
            G::KeyLoop { dictionary, var, body } => self.key_loop(*dictionary, *var, body),
            G::SetSlice { var, from, to, value } => {
                self.set_slice(*var, [from.as_ref(), to.as_ref()], value, no)
            }
            G::Comment(of) => of.iter().try_for_each(|filter| self.said(filter)),
            _ => Err("a condition of the game language that depends on variables"),
        }
    }

    /// Compiles one argument of a `comment` filter. A plan writes no comments, so only the side effects of the argument matter. An
    /// argument that is only a variable has none and needs no code.
    fn said(&mut self, filter: &Filter) -> CompileResult {
        let mut variable = false;
        super::names::used(filter.node(), &mut |_| variable = true);
        let alone = variable && filter.node().children().is_empty();
        if alone || self.is_harmless(filter.node()) || self.is_leaf(filter.node()) {
            return Ok(());
        }
        let done = self.label();
        self.unless(filter.node(), done)?;
        self.place(done);
        Ok(())
    }

    /// Compiles `loop F`, which repeats F until F fails.
    fn repeat(&mut self, of: &Filter, no: Label) -> CompileResult {
        self.unless(of.node(), no)?;
        self.emit(Instr::Repeat)?;
        let done = self.label();
        let again = self.label_here();
        self.unless(of.node(), done)?;
        self.emit(Instr::Repeat)?;
        self.emit(Instr::Jump(again))?;
        self.place(done);
        Ok(())
    }

    fn content_is(&mut self, contents: PieceSet, of: &Squares, no: Label) -> CompileResult {
        self.scratch(|this| {
            let [set, rank, holds] = [this.word()?, this.word()?, this.word()?];
            this.squares(of, set)?;
            // If the set does not consist of exactly one square, it has no rank, and the condition fails.
            this.emit(Instr::Place { to: rank, set, rank: true })?;
            this.emit(Instr::UnlessValue { number: rank, no })?;
            let pieces = this.lower.dag.pieces(contents);
            this.load(holds, pieces)?;
            this.emit(Instr::And { to: holds, a: holds, b: set })?;
            this.emit(Instr::UnlessAny { set: holds, no })
        })
    }

    fn assign(&mut self, var: VarId, value: &Assigned<Expanded>, no: Label) -> CompileResult {
        self.scratch(|this| {
            let word = this.word()?;
            match value {
                Assigned::Squares(f) => this.squares(f, word)?,
                Assigned::Number(f) => {
                    this.number(f, word)?;
                    this.emit(Instr::UnlessValue { number: word, no })?;
                }
                Assigned::Position(f) => {
                    this.position(f, word)?;
                    this.emit(Instr::UnlessValue { number: word, no })?;
                }
                Assigned::Text(f) => {
                    this.text(f, word)?;
                    this.emit(Instr::UnlessValue { number: word, no })?;
                }
            }
            this.emit(Instr::Bind { var: this.var(var), from: word })
        })
    }

    // ---- loops

    /// Compiles a loop that binds a variable to each square of a set in turn, or to the piece on that square, and runs the code of
    /// `body`. The variable is unbound afterwards. If `fails` is present, the code may jump there as soon as it is known that the
    /// body matches for no square.
    pub(super) fn each_square(
        &mut self,
        of: SquareLoop,
        fails: Option<Label>,
        body: impl FnOnce(&mut Self, RegisterWord) -> CompileResult,
    ) -> CompileResult {
        let SquareLoop { var: id, set, pieces, .. } = of;
        let (known, times) = (self.known.len(), self.times);
        self.scratch(|this| {
            let var = this.var(id);
            this.emit(Instr::Free { var })?;
            let (here, held) = (this.word()?, this.word()?);
            let done = this.label();
            this.unless_fixed(of, fails.is_some(), fails.unwrap_or(done), done)?;
            this.times *= sizes::squares(of.domain);
            let again = this.label_here();
            this.emit(Instr::Take { to: here, set, done })?;
            if pieces {
                this.pieces = true;
                this.emit(Instr::PieceOn { to: held, set: here })?;
                this.emit(Instr::UnlessValue { number: held, no: again })?;
                this.emit(Instr::Bind { var, from: held })?;
            } else {
                this.emit(Instr::Bind { var, from: here })?;
            }
            this.bound(&[id], |this| body(this, here))?;
            this.emit(Instr::Jump(again))?;
            this.known.truncate(known);
            this.times = times;
            this.place(done);
            this.emit(Instr::Unbind { var })
        })
    }

    /// Compiles a body that runs for each square of a set, or for the piece on that square. The code jumps to `no` as soon as the
    /// body fails.
    fn all_over(&mut self, of: SquareLoop, no: Label) -> CompileResult {
        let (fails, done) = (self.label(), self.label());
        self.each_square(of, Some(fails), |this, _| this.unless(of.body, fails))?;
        self.emit(Instr::Jump(done))?;
        self.place(fails);
        self.emit(Instr::Unbind { var: self.var(of.var) })?;
        self.emit(Instr::Jump(no))?;
        self.place(done);
        Ok(())
    }

    /// Compiles code that evaluates all copies (transformed filters) and counts those that match. `then` compiles code that uses
    /// the count.
    pub(super) fn count_copies<F: Kind<Expanded>>(
        &mut self,
        orbit: &Orbit<F>,
        then: impl FnOnce(&mut Self, RegisterWord) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let count = this.counter()?;
            for (_, copy) in orbit.in_turn() {
                let no = this.label();
                this.unless(copy.filter.node(), no)?;
                this.increment(count)?;
                this.place(no);
            }
            then(this, count)
        })
    }

    // ---- pairs of operands

    /// Returns a register with the value of a filter: the register of a variable, or a new one that `fill` fills. The filters
    /// `later` are evaluated before the register is read. If one of them changes the variable, the variable's own register cannot
    /// be used.
    pub(super) fn register<'f>(
        &mut self,
        of: FilterRef,
        later: impl IntoIterator<Item = FilterRef<'f>>,
        fill: impl FnOnce(&mut Self, RegisterWord) -> CompileResult,
    ) -> CompileResult<RegisterWord> {
        if let Some(var) = variable(of)
            && later.into_iter().all(|later| self.is_leaf(later) || keeps(later, var))
        {
            self.holds(var)?;
            return Ok(RegisterWord(self.var(var)));
        }
        let word = self.word()?;
        fill(self, word)?;
        Ok(word)
    }

    pub(super) fn two_sets(
        &mut self,
        a: &Squares,
        b: &Squares,
        then: impl FnOnce(&mut Self, [RegisterWord; 2]) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let first = this.register(a.node(), Some(b.node()), |this, word| this.squares(a, word))?;
            let second = this.register(b.node(), None, |this, word| this.squares(b, word))?;
            then(this, [first, second])
        })
    }

    pub(super) fn two_numbers(
        &mut self,
        a: &Number<Expanded>,
        b: &Number<Expanded>,
        then: impl FnOnce(&mut Self, [RegisterWord; 2]) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let first = this.register(a.node(), Some(b.node()), |this, word| this.number(a, word))?;
            let second = this.register(b.node(), None, |this, word| this.number(b, word))?;
            then(this, [first, second])
        })
    }

    /// Compiles two filters whose values are positions. `then` receives the registers with the numbers of these positions. For a
    /// filter without a value, the register contains a number that no position has.
    pub(super) fn two_positions(
        &mut self,
        a: &Position,
        b: &Position,
        then: impl FnOnce(&mut Self, [RegisterWord; 2]) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let first = this.register(a.node(), Some(b.node()), |this, word| this.position(a, word))?;
            let second = this.register(b.node(), None, |this, word| this.position(b, word))?;
            then(this, [first, second])
        })
    }
}

fn variable(filter: FilterRef) -> Option<VarId> {
    match filter {
        Ref::Squares(f) if let SquaresOp::Control(Control::Var(var)) = f.op() => Some(*var),
        Ref::Number(f) if let NumberOp::Control(Control::Var(var)) = f.op() => Some(*var),
        Ref::Position(f) if let PositionOp::Control(Control::Var(var)) = f.op() => Some(*var),
        _ => None,
    }
}

/// Returns true if the evaluation of a filter cannot change a variable.
pub(super) fn keeps(filter: FilterRef, var: VarId) -> bool {
    let mut changes = |filter: FilterRef| {
        let mut names = false;
        super::names::used(filter, &mut |used| names |= used == var);
        let is_piece =
            matches!(filter, Ref::Squares(f) if matches!(f.op(), SquaresOp::Game(GameSquares::Piece(_))));
        names && variable(filter).is_none() && !is_piece
    };
    !filter.any(&mut changes)
}
