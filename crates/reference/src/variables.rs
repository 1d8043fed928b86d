//! Evaluates filters that assign and read variables, and loops over squares.

use shakmaty::{Bitboard, Square};

use super::{
    copies::{ExplicitForm, PlainFilter},
    eval::Evaluation,
    strings::clamped,
    value::Evaluated,
};
use orbit_core::diagnostic::{Diagnostic, Span};
use orbit_query::tree::{Assigned, Cell, Number, Squares, Text, VarId};

impl Evaluation<'_> {
    pub(super) fn name(&self, var: VarId) -> &str {
        &self.declared.vars[var.0 as usize].name
    }

    /// Ends the search with the error for reading a variable before it has a value.
    pub(super) fn is_unbound(&mut self, var: VarId, span: Span) {
        let name = self.name(var);
        let fault = Diagnostic::error(span, format!("variable `{name}` holds nothing"), "read here")
            .help(format!("assign it before, or ask `isbound {name}`"));
        self.state.fail(fault);
    }

    pub(super) fn squares_of(&mut self, var: VarId, span: Span) -> Bitboard {
        let squares = self.state.cells.squares(var).copied();
        if squares.is_none() {
            self.is_unbound(var, span);
        }
        squares.unwrap_or(Bitboard::EMPTY)
    }

    /// Returns the number in a variable. If the variable holds a piece, this is the piece's number.
    pub(super) fn number_of_var(&mut self, var: VarId, span: Span) -> Option<i32> {
        let number = self.state.cells.number(var).copied();
        if number.is_none() {
            self.is_unbound(var, span);
        }
        number
    }

    pub(super) fn text_of(&mut self, var: VarId, span: Span) -> Option<Vec<u8>> {
        let text = self.state.cells.text(var).cloned();
        if text.is_none() {
            self.is_unbound(var, span);
        }
        text
    }

    pub(super) fn position_of(&mut self, var: VarId, span: Span) -> Option<i32> {
        let position = self.state.cells.position(var).copied();
        if position.is_none() {
            self.is_unbound(var, span);
        }
        position
    }

    /// Returns the value to assign, if there is one. A set filter always has a value.
    fn assigned(&mut self, value: &Assigned<ExplicitForm>) -> Option<Cell<Evaluated>> {
        match value {
            Assigned::Squares(f) => Some(Cell::Squares(self.squares(f))),
            Assigned::Number(f) => self.number(f).map(Cell::Number),
            Assigned::Text(f) => self.text(f).map(Cell::Text),
            Assigned::Position(f) => self.position(f).map(Cell::Position),
        }
    }

    pub(super) fn assign(&mut self, var: VarId, value: &Assigned<ExplicitForm>) -> bool {
        let cell = self.assigned(value).filter(|_| self.state.fault.is_none());
        let has_value = cell.is_some();
        if let Some(cell) = cell {
            self.state.cells.bind(var, cell);
        }
        has_value
    }

    pub(super) fn assign_some(&mut self, var: VarId, of: &Squares<ExplicitForm>) -> bool {
        let squares = self.squares(of);
        if squares.any() && self.state.fault.is_none() {
            self.state.cells.bind(var, Cell::Squares(squares));
        }
        squares.any()
    }

    pub(super) fn unbind(&mut self, var: VarId) -> bool {
        self.state.cells.bind(var, Cell::Unbound);
        true
    }

    /// Evaluates `x[i:j]="..."`, which replaces a part of the string in `x`.
    pub(super) fn set_slice(
        &mut self,
        var: VarId,
        from: Option<&Number<ExplicitForm>>,
        to: Option<&Number<ExplicitForm>>,
        value: &Text<ExplicitForm>,
        span: Span,
    ) -> bool {
        let from = from.map(|from| self.number(from));
        let to = to.map(|to| self.number(to));
        let (value, text) = (self.text(value), self.text_of(var, span));
        let (Some(value), Some(mut text)) = (value, text) else { return false };
        let Some(range) = clamped(text.len(), from, to) else { return false };
        text.splice(range, value);
        self.state.cells.bind(var, Cell::Text(text));
        true
    }

    /// Returns true if a loop may assign its variable. If the variable already has a value, ends the search with an error and
    /// returns false.
    pub(super) fn may_loop(&mut self, var: VarId, span: Span) -> bool {
        if self.state.cells.is_bound(var) {
            let name = self.name(var);
            let fault =
                Diagnostic::error(span, format!("variable `{name}` is in use already"), "bound again here")
                    .help("give the variable of this loop another name");
            self.state.fail(fault);
        }
        self.state.fault.is_none()
    }

    /// Returns the squares of a set, each with the value that it gives to a loop variable.
    pub(super) fn squares_to_try(
        &mut self,
        domain: &Squares<ExplicitForm>,
    ) -> Vec<(Square, Cell<Evaluated>)> {
        let squares = self.squares(domain);
        squares.into_iter().map(|s| (s, Cell::Squares(Bitboard::from(s)))).collect()
    }

    /// Evaluates the loop body once for each square of `domain`, with the variable set to the value paired with the square. Returns
    /// the squares for which the body matches.
    pub(super) fn loop_over(
        &mut self,
        var: VarId,
        domain: Vec<(Square, Cell<Evaluated>)>,
        body: &PlainFilter,
        span: Span,
    ) -> Bitboard {
        let mut out = Bitboard::EMPTY;
        if !self.may_loop(var, span) {
            return out;
        }
        for (s, cell) in domain {
            self.state.cells.bind(var, cell);
            if self.matches(body) {
                out.add(s);
            }
        }
        self.state.cells.bind(var, Cell::Unbound);
        out
    }

    /// Returns true if the loop body matches for all squares. Stops at the first square for which it does not.
    pub(super) fn all_over(
        &mut self,
        var: VarId,
        domain: Vec<(Square, Cell<Evaluated>)>,
        body: &PlainFilter,
        span: Span,
    ) -> bool {
        if !self.may_loop(var, span) {
            return false;
        }
        let all = domain.into_iter().all(|(_, cell)| {
            self.state.cells.bind(var, cell);
            self.matches(body)
        });
        self.state.cells.bind(var, Cell::Unbound);
        all
    }
}
