//! Compiles `--`: tests of played moves whose operands or targets depend on variables.

use super::compile::{CompileResult, Compiler};
use crate::{FlatEdge, Instr, Label, RegisterWord};
use orbit_core::board::PieceSet;
use orbit_query::tree::{
    ConditionOp as C, Control, Edge, Elsewhere, GameCondition, GameNumber, GameSquares, Kind as _, MoveOf,
    NumberOp as N, Promotion, Ref, SquaresOp as S, VarId,
};
use orbit_transforms::{Expanded, Filter, FilterRef, Squares};

impl Compiler<'_> {
    /// Compiles a loop over the moves that pass the test `edge`, in order. `behind` compiles code that runs after each of these
    /// moves. To try the next move, this code jumps to the label that `behind` receives. After the loop, the previous position is
    /// current again.
    pub(super) fn each_edge(
        &mut self,
        edge: &Edge<Expanded>,
        behind: impl FnOnce(&mut Self, Label) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let done = this.label();
            this.edge_loop(edge, done, |this, next, _| behind(this, next))?;
            this.place(done);
            Ok(())
        })
    }

    /// Compiles a test of moves. The code jumps to `no` unless a move passes the test and `behind` matches after this move.
    pub(super) fn unless_edge(
        &mut self,
        edge: &Edge<Expanded>,
        no: Label,
        behind: impl FnOnce(&mut Self, Label) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let found = this.label();
            this.edge_loop(edge, no, |this, next, here| {
                behind(this, next)?;
                this.emit(Instr::Go { to: here })?;
                this.emit(Instr::Jump(found))
            })?;
            this.emit(Instr::Jump(no))?;
            this.place(found);
            Ok(())
        })
    }

    /// Compiles the value of a `--` filter's target. `behind` compiles the target: its code stores the value in `to` or, if the
    /// target does not match, jumps to the label that `behind` receives. The result is the target's value after the first move that
    /// passes the test and after which the target matches. Without such a move, the result is `none`.
    pub(super) fn edge_value(
        &mut self,
        edge: &Edge<Expanded>,
        to: RegisterWord,
        none: u64,
        behind: impl FnOnce(&mut Self, Label) -> CompileResult,
    ) -> CompileResult {
        self.or_else(to, none, |this, no| this.unless_edge(edge, no, behind))
    }

    /// Compiles the loop over the moves that pass the test `edge`. If no move can pass, the code jumps to `none`. After the last
    /// move, execution continues after the loop.
    fn edge_loop(
        &mut self,
        edge: &Edge<Expanded>,
        none: Label,
        behind: impl FnOnce(&mut Self, Label, RegisterWord) -> CompileResult,
    ) -> CompileResult {
        let [here, child] = [self.word()?, self.word()?];
        // Three consecutive registers: see `Instr::Fits`.
        let selected = self.word()?;
        for _ in 0..2 {
            self.word()?;
        }
        self.emit(Instr::Here { to: here })?;
        let lead = self.relaxed(edge, None)?;
        self.unless_led(lead, none)?;
        let before = if edge.entering {
            let parent = self.word()?;
            self.emit(Instr::Copy { to: child, from: here })?;
            self.emit(Instr::Parent { to: parent })?;
            self.emit(Instr::UnlessValue { number: parent, no: none })?;
            self.emit(Instr::Go { to: parent })?;
            parent
        } else {
            self.emit(Instr::FirstChild { to: child })?;
            self.emit(Instr::UnlessValue { number: child, no: none })?;
            here
        };
        let (from, to) = self.selecting(None, |this| {
            Ok::<_, &'static str>((this.side(edge.from.as_ref())?, this.side(edge.to.as_ref())?))
        })?;
        let letters = self.selecting(None, |this| this.letters(edge))?;
        let shape = FlatEdge { from, to, capture: edge.capture, promotion: pieces(edge), letters };
        let index = u16::try_from(self.edges.len()).map_err(|_| "so many moves")?;
        self.edges.push(shape);
        let (next, done) = (self.label(), self.label());
        let again = self.label_here();
        self.emit(Instr::Fits { edge: index, child, selected, no: next })?;
        self.emit(Instr::Go { to: child })?;
        self.selecting(Some(selected), |this| behind(this, next, here))?;
        self.place(next);
        if !edge.entering {
            self.emit(Instr::NextChild { to: child, of: child })?;
            self.emit(Instr::UnlessValue { number: child, no: done })?;
            self.emit(Instr::Go { to: before })?;
            self.emit(Instr::Jump(again))?;
        }
        self.place(done);
        self.emit(Instr::Go { to: here })
    }

    /// Returns the register of the string that lists, as letters, the pieces to which a pawn may promote. Returns `None` if there
    /// is no such string.
    fn letters(&mut self, edge: &Edge<Expanded>) -> CompileResult<Option<RegisterWord>> {
        let Some(Promotion::Letters(text)) = &edge.promotion else { return Ok(None) };
        let word = self.word()?;
        self.text(text, word)?;
        Ok(Some(word))
    }

    fn side(&mut self, side: Option<&Squares>) -> CompileResult<Option<RegisterWord>> {
        let Some(side) = side else { return Ok(None) };
        let set = self.word()?;
        self.squares(side, set)?;
        Ok(Some(set))
    }
}

/// Returns the pieces to which the move must promote. Returns `None` if promotion is not tested, or if a string determines the
/// pieces.
pub(super) fn pieces(edge: &Edge<Expanded>) -> Option<PieceSet> {
    match edge.promotion {
        Some(Promotion::Pieces(pieces)) => Some(pieces),
        _ => None,
    }
}

/// Returns the operand that a filter evaluates first, if this operand must match for the filter to match.
pub(super) fn first_operand(filter: FilterRef<'_>) -> Option<FilterRef<'_>> {
    match filter {
        Ref::Condition(f) => match f.op() {
            C::Braces(all) => all.first().map(Filter::node),
            C::And(first, _) => Some(first.node()),
            _ => None,
        },
        Ref::Squares(f) => match f.op() {
            S::Control(Control::Braces { first, .. }) => first.first().map(Filter::node),
            _ => None,
        },
        Ref::Number(f) => match f.op() {
            N::Control(Control::Braces { first, .. }) => first.first().map(Filter::node),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the test of moves in a `--` filter. Returns `None` for any other filter.
pub(super) fn edge_of(filter: FilterRef<'_>) -> Option<&Edge<Expanded>> {
    match filter {
        Ref::Condition(f) => match f.op() {
            C::Game(GameCondition::Edge { edge, .. }) => Some(edge),
            _ => None,
        },
        Ref::Squares(f) => match f.op() {
            S::Game(GameSquares::Elsewhere(Elsewhere::Edge { edge, .. })) => Some(edge),
            _ => None,
        },
        Ref::Number(f) => match f.op() {
            N::Game(GameNumber::Elsewhere(Elsewhere::Edge { edge, .. })) => Some(edge),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the sets in which the origin and target squares of a move must be for it to pass a test. `None` means any square.
pub(super) fn sides(edge: &Edge<Expanded>) -> [Option<&Squares>; 2] {
    // For a capture, `to` is the square of the captured piece, which need not be the target square of the move.
    [edge.from.as_ref(), edge.to.as_ref().filter(|_| !edge.capture)]
}

/// If a filter can match only where a certain move is played, returns the sets of this move's possible origin and target squares.
pub(super) fn move_tested(filter: FilterRef<'_>) -> [Option<&Squares>; 2] {
    let first = std::iter::successors(Some(filter), |&filter| first_operand(filter)).last();
    let of = match first {
        Some(Ref::Condition(f)) if let C::Game(GameCondition::Move(of)) = f.op() => of,
        Some(Ref::Squares(f)) if let S::Game(GameSquares::Move(of)) = f.op() => of,
        Some(first)
            if let Some(edge) = edge_of(first)
                && !edge.entering =>
        {
            return sides(edge);
        }
        _ => return [None; 2],
    };
    match of.of {
        MoveOf::Played => [of.from.as_ref(), of.to.as_ref()],
        _ => [None; 2],
    }
}

/// If a set can contain only the square of a piece in a variable, returns the variable.
pub(super) fn piece_of(set: &Squares) -> Option<VarId> {
    match set.op() {
        S::Game(GameSquares::Piece(var)) => Some(*var),
        S::Intersect(a, b) => piece_of(a).or_else(|| piece_of(b)),
        _ => None,
    }
}
