//! Reads variables: assignments, uses, and the other filters about variables.

use super::{
    parser::{C, N, P, ParseResult, Parser, S, T, filter, name_of, typed, wanted},
    state::NAMES_MAX,
    strings::StringPart,
    token::Tok,
    tree::{
        Arith, Assigned, Cmp, Control, GameCondition, GameNumber, GameSquares, GameText, Holds, Life, Node,
        Number, Squares, Text, Type, Var, VarId, Written,
    },
    valued::valued,
    words::{Updated, updated},
};
use orbit_core::diagnostic::{Diagnostic, Span};

impl Parser {
    /// Returns the variable with this name. The parameters of the current function call come first, then the variables in scope,
    /// the innermost scope first.
    pub(super) fn lookup(&self, name: &str) -> Option<VarId> {
        let names = self.scope.iter().chain(&self.state.parameters).rev();
        names.into_iter().find(|(known, _)| known == name).map(|(_, var)| *var)
    }

    /// Creates a variable and adds its name to the current scope.
    pub(super) fn declare(&mut self, name: &str, holds: Holds, span: Span) -> ParseResult<VarId> {
        let var = self.fresh(name, holds, span)?;
        self.scope.push((name.to_string(), var));
        Ok(var)
    }

    /// Creates a variable without adding its name to the scope.
    pub(super) fn fresh(&mut self, name: &str, holds: Holds, span: Span) -> ParseResult<VarId> {
        if self.vars.len() == NAMES_MAX {
            return Err(Diagnostic::error(span, "too many variables", format!("at most {NAMES_MAX}")));
        }
        self.refuse_taken(name, span)?;
        let var = VarId(self.vars.len() as u32);
        self.vars.push(Var { name: name.to_string(), holds, life: Life::Game, atomic: false });
        Ok(var)
    }

    /// Returns true if the text so far uses a variable without assigning it.
    pub(super) fn is_unassigned(&self, var: VarId) -> bool {
        self.state.unassigned.iter().any(|(known, _)| *known == var)
    }

    /// Returns the variable with this name. If there is none, creates one and records that it is not yet assigned, because the text
    /// may assign it later.
    fn named_ahead(&mut self, name: &str, span: Span) -> ParseResult<VarId> {
        if let Some(var) = self.lookup(name) {
            return Ok(var);
        }
        let var = self.declare(name, Holds::Squares, span)?;
        self.state.unassigned.push((var, span));
        Ok(var)
    }

    /// Returns the variable `name`, and creates it if it does not exist. Its values must be of the kind `holds`.
    pub(super) fn holder(&mut self, name: &str, holds: Holds, span: Span) -> ParseResult<VarId> {
        let Some(var) = self.lookup(name) else { return self.declare(name, holds, span) };
        if self.is_unassigned(var) {
            self.state.unassigned.retain(|(known, _)| *known != var);
            self.vars[var.0 as usize].holds = holds;
        }
        let known = &self.vars[var.0 as usize];
        if known.holds != holds {
            return Err(match (known.holds, holds) {
                (Holds::Piece, _) => Diagnostic::error(
                    span,
                    format!("`{name}` holds a piece, not {}", name_of(holds.ty())),
                    "another piece is assigned by `piece`",
                )
                .help(format!("for example: `piece {name} = Ra1`")),
                (_, Holds::Piece) => Diagnostic::error(
                    span,
                    format!("`{name}` holds {}, not a piece", name_of(known.holds.ty())),
                    "a variable keeps the type of its first value",
                ),
                _ => Diagnostic::error(
                    span,
                    format!("`{name}` holds {}, not {}", name_of(known.holds.ty()), name_of(holds.ty())),
                    "a variable keeps the type of its first value",
                ),
            });
        }
        if holds == Holds::Position && known.life != Life::Game {
            return Err(Diagnostic::error(
                span,
                format!("`{name}` cannot hold a position"),
                "a position belongs to its game, and a persistent variable outlasts it",
            ));
        }
        Ok(var)
    }

    /// Reads `x = F`, `x += F` and the other assignments. The current token is the name.
    pub(super) fn assignment(&mut self, name: &str) -> ParseResult<Node> {
        let span = self.bump();
        self.refuse_taken(name, span)?;
        let sign = self.sign_text();
        self.bump();
        let value = valued(self.sum()?);
        let (kind, at) = typed(&value);
        if sign == "=?" {
            let of = self.want_squares(value, "`=?`")?;
            let var = self.holder(name, Holds::Squares, span.to(at))?;
            return Ok(filter(C::Game(GameCondition::AssignSome { var, of }), span.to(at)));
        }
        let Some((value, holds)) = assigned(value) else {
            return Err(Diagnostic::error(
                at,
                format!("`{name}` cannot hold {}", name_of(kind)),
                "variables hold sets of squares, numbers, strings or positions",
            ));
        };
        let Some(by) = updated(sign) else {
            let var = self.holder(name, holds, span.to(at))?;
            return Ok(filter(C::Assign(var, value), span.to(at)));
        };
        // A persistent variable has a value even before it is assigned.
        let has_value =
            |var: &VarId| !self.is_unassigned(*var) || self.vars[var.0 as usize].life != Life::Game;
        if self.lookup(name).filter(has_value).is_none() {
            return Err(Diagnostic::error(span, format!("`{name}` has no value yet"), "assign it first"));
        }
        let var = self.holder(name, holds, span.to(at))?;
        let value = self.update(&format!("`{sign}`"), by, (self.variable(var, span), value))?;
        Ok(filter(C::Assign(var, value), span.to(at)))
    }

    /// Returns the new value of a variable after an assignment such as `x += 1`.
    fn update(
        &self,
        sign: &str,
        by: Updated,
        (old, value): (Node, Assigned<Written>),
    ) -> ParseResult<Assigned<Written>> {
        let span = old.span();
        match (by, value) {
            (Updated::Number(arith), Assigned::Number(value)) => {
                let old = self.want_number(old, sign)?;
                let span = span.to(value.span());
                Ok(Assigned::Number(Number::new(N::Arith(arith, old, value), span)))
            }
            (Updated::Number(Arith::Add), Assigned::Text(value)) => {
                let old = self.want_text(old, sign)?;
                let span = span.to(value.span());
                Ok(Assigned::Text(Text::new(T::Game(GameText::Joined(old, value)), span)))
            }
            (Updated::Squares(join), Assigned::Squares(value)) => {
                let old = self.want_squares(old, sign)?;
                let span = span.to(value.span());
                Ok(Assigned::Squares(Squares::new(join(old, value), span)))
            }
            (by, value) => {
                let wants = if let Updated::Number(_) = by { Type::Num } else { Type::Set };
                let found = match value {
                    Assigned::Squares(f) => (Type::Set, f.span()),
                    Assigned::Number(f) => (Type::Num, f.span()),
                    Assigned::Text(f) => (Type::Str, f.span()),
                    Assigned::Position(f) => (Type::Position, f.span()),
                };
                Err(wanted(wants, found, sign))
            }
        }
    }

    /// Returns a filter whose value is the value of a variable.
    pub(super) fn variable(&self, var: VarId, span: Span) -> Node {
        match self.vars[var.0 as usize].holds {
            Holds::Squares => filter(S::Control(Control::Var(var)), span),
            Holds::Piece => filter(S::Game(GameSquares::Piece(var)), span),
            Holds::Number => filter(N::Control(Control::Var(var)), span),
            Holds::Text => filter(T::Control(Control::Var(var)), span),
            Holds::Position => filter(P::Control(Control::Var(var)), span),
        }
    }

    /// Reads `persistent [quiet] x = F`, `persistent [quiet] x`.
    pub(super) fn persistent(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let quiet = self.eat_word("quiet");
        let at = self.span();
        let assigns = self.assigns_next();
        let name = self.new_name("a variable")?;
        let known = self.lookup(&name);
        let var = self.named_ahead(&name, at)?;
        let life = Life::Run { quiet };
        if known.is_some() && self.vars[var.0 as usize].life != life {
            return Err(Diagnostic::error(
                at,
                format!("`{name}` is already in use, and lives as long as a game"),
                "the first use of a variable says that it is persistent",
            ));
        }
        self.vars[var.0 as usize].life = life;
        if assigns {
            self.rewind(self.position() - 1);
            let assignment = self.assignment(&name)?;
            let span = span.to(assignment.span());
            return Ok(assignment.at(span));
        }
        Ok(filter(C::Bool(true), span.to(at)))
    }

    /// Reads `atomic x = F`.
    pub(super) fn atomic(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        if !self.assigns_next() {
            return Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                "expected an assignment: `atomic x = ply`",
            ));
        }
        let name = self.new_name("a variable")?;
        self.rewind(self.position() - 1);
        let assignment = self.assignment(&name)?;
        if let Some(var) = self.lookup(&name) {
            self.vars[var.0 as usize].atomic = true;
        }
        let span = span.to(assignment.span());
        Ok(assignment.at(span))
    }

    /// Reads `isbound x`, `isunbound x`.
    pub(super) fn is_bound(&mut self, word: &str) -> ParseResult<Node> {
        let span = self.bump();
        let at = self.span();
        let name = self.new_name("a variable")?;
        self.refuse_taken(&name, at)?;
        let var = self.named_ahead(&name, at)?;
        let op = GameCondition::IsBound { var, bound: word == "isbound" };
        Ok(filter(C::Game(op), span.to(at)))
    }

    /// Reads `unbind x`, `unbind D`, `unbind D[k]`.
    pub(super) fn unbind(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let at = self.span();
        let name = self.new_name("a variable or dictionary")?;
        if let Some(dictionary) = self.find_dictionary(&name) {
            let key = if self.is_sign("[") { Some(self.key(dictionary)?) } else { None };
            let op = GameCondition::Forget { dictionary, key };
            return Ok(filter(C::Game(op), span.to(self.last_span())));
        }
        let Some(var) = self.lookup(&name).filter(|var| !self.is_unassigned(*var)) else {
            return Err(Diagnostic::error(
                at,
                format!("`{name}` has no value yet"),
                "expected a variable that was assigned, or a dictionary",
            ));
        };
        Ok(filter(C::Game(GameCondition::Unbind(var)), span.to(at)))
    }

    /// Reads `assert F`. If F is only a variable, the filter asserts that the variable has a value.
    pub(super) fn assert(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let (at, from) = (self.span(), self.position());
        let var = if let Tok::Word(name) = self.tok() { self.lookup(name) } else { None };
        let of = self.argument()?;
        self.refuse_alone(None, &of)?;
        let alone = var.filter(|_| self.position() == from + 1);
        let of = alone.map_or(of, |var| filter(C::Game(GameCondition::IsBound { var, bound: true }), at));
        let span = span.to(of.span());
        Ok(filter(C::Game(GameCondition::Assert(of)), span))
    }

    /// Reads `x[i]` or `x[i:j]`, or an assignment to such a part. The current token is the `[`.
    pub(super) fn text_variable_part(&mut self, var: VarId, span: Span) -> ParseResult<Node> {
        let part = self.bounds()?;
        if !self.eat_sign("=") {
            let text = Text::new(T::Control(Control::Var(var)), span);
            return Ok(part.apply(text, span.to(self.last_span())));
        }
        let value = self.sum()?;
        let value = self.want_text(value, "a part of a string")?;
        let span = span.to(value.span());
        let (letter, from, to) = match part {
            StringPart::Letter(at) => {
                let of = Text::new(T::Control(Control::Var(var)), span);
                let letter = StringPart::Letter(at.clone()).apply(of, span);
                (Some(letter), Some(at.clone()), Some(behind(at, var)))
            }
            StringPart::Slice(from, to) => (None, from, to),
        };
        let set = filter(C::Game(GameCondition::SetSlice { var, from, to, value }), span);
        Ok(match letter {
            // If the string is too short to contain the letter, `letter` has no value, so the assignment fails.
            Some(letter) => filter(C::Braces(vec![letter, set]), span),
            None => set,
        })
    }
}

/// Returns the end of the slice that contains only the letter at index `at` of the string in `var`. For the last letter, whose
/// index is -1, the end is the length of the string.
fn behind(at: Number, var: VarId) -> Number {
    let span = at.span();
    let number = |op| Number::new(op, span);
    match at.op() {
        N::Int(-1) => {
            let text = Text::new(T::Control(Control::Var(var)), span);
            number(N::Game(GameNumber::Length(text)))
        }
        N::Int(value) => number(N::Int(value.saturating_add(1))),
        _ => {
            let text = Text::new(T::Control(Control::Var(var)), span);
            let last = number(N::Compare(Cmp::Eq, at.clone(), number(N::Int(-1))));
            number(N::Control(Control::If {
                condition: last.into(),
                then: number(N::Game(GameNumber::Length(text))),
                other: number(N::Arith(Arith::Add, at, number(N::Int(1)))),
            }))
        }
    }
}

/// Converts a filter to a value that a variable can hold. Also returns the kind of the value. Returns `None` for a condition.
pub(super) fn assigned(value: Node) -> Option<(Assigned<Written>, Holds)> {
    Some(match valued(value) {
        Node::Squares(value) => (Assigned::Squares(value), Holds::Squares),
        Node::Number(value) => (Assigned::Number(value), Holds::Number),
        Node::Text(value) => (Assigned::Text(value), Holds::Text),
        Node::Position(value) => (Assigned::Position(value), Holds::Position),
        Node::Condition(_) => return None,
    })
}
