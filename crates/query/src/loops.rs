//! Reads `if`, loops over squares, pieces and conditions, and `echo`.

use super::{
    parser::{C, N, P, ParseResult, Parser, S, T, filter},
    token::Tok,
    tree::{
        Control, Echo, GameCondition, GameNumber, GameSquares, GameText, Holds, Node, Squares, Type, VarId,
    },
    valued::{kind_of, valued},
};
use orbit_core::diagnostic::{Diagnostic, Span};

impl Parser {
    /// Reads `if c [then] t [else e]`.
    pub(super) fn condition(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let condition = self.node()?;
        self.refuse_alone(None, &condition)?;
        self.eat_word("then");
        let mut then = self.node()?;
        let mut other = if self.eat_word("else") { Some(self.node()?) } else { None };
        let span = span.to(self.last_span());
        if kind_of(&then) == Type::Str && other.as_ref().map(kind_of) == Some(Type::Str) {
            (then, other) = (valued(then), other.map(valued));
        }
        Ok(match (then, other) {
            (Node::Squares(then), Some(Node::Squares(other))) => {
                filter(S::Control(Control::If { condition, then, other }), span)
            }
            (Node::Number(then), Some(Node::Number(other))) => {
                filter(N::Control(Control::If { condition, then, other }), span)
            }
            (Node::Text(then), Some(Node::Text(other))) => {
                filter(T::Control(Control::If { condition, then, other }), span)
            }
            (Node::Position(then), Some(Node::Position(other))) => {
                filter(P::Control(Control::If { condition, then, other }), span)
            }
            (then, other) => filter(C::If { condition, then, other }, span),
        })
    }

    /// Reads the body of a loop, in which the loop's variable is in scope.
    pub(super) fn with_variable(
        &mut self,
        name: &str,
        holds: Holds,
        span: Span,
    ) -> ParseResult<(VarId, Node)> {
        let var = self.loop_variable_of(name, holds, span)?;
        let body = self.argument()?;
        self.refuse_alone(None, &body)?;
        self.scope.retain(|(_, known)| *known != var);
        Ok((var, body))
    }

    fn loop_variable_of(&mut self, name: &str, holds: Holds, span: Span) -> ParseResult<VarId> {
        if self.lookup(name).is_some() {
            return Err(Diagnostic::error(
                span,
                format!("`{name}` is already in use"),
                "a loop needs a variable of its own",
            ));
        }
        self.declare(name, holds, span)
    }

    pub(super) fn loop_variable(&mut self) -> ParseResult<String> {
        match self.tok().clone() {
            Tok::Designator { .. } => Err(Diagnostic::error(
                self.span(),
                "a piece designator as a loop variable",
                "expected a name that is no designator, such as `s`",
            )),
            _ => self.new_name("the loop's variable"),
        }
    }

    /// Reads `square [all] x in S F`.
    pub(super) fn square_word(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let all = self.eat_word("all");
        let name = self.loop_variable()?;
        if !self.eat_word("in") && !self.eat_sign("[element]") {
            return Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                "expected `in`: `square s in R {up 1 s & _}`",
            ));
        }
        self.square_loop(span, name, all)
    }

    fn domain(&mut self, user: &str) -> ParseResult<Squares> {
        let domain = self.set_expression()?;
        self.want_squares(domain, user)
    }

    /// Reads the set and the body of a loop over squares.
    pub(super) fn square_loop(&mut self, span: Span, name: String, all: bool) -> ParseResult<Node> {
        let domain = self.domain("a square loop")?;
        let (var, body) = self.with_variable(&name, Holds::Squares, span)?;
        let span = span.to(body.span());
        Ok(if all {
            filter(C::SquareAll { var, domain, body }, span)
        } else {
            filter(S::SquareLoop { var, domain, body }, span)
        })
    }

    /// Reads an assignment `piece X = S` or a loop `piece [all] X in S F`.
    pub(super) fn piece_word(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let all = self.eat_word("all");
        self.piece_loop(span, all)
    }

    /// Reads the rest of a `piece` filter. The parser has already read `piece` and an optional `all`.
    pub(super) fn piece_loop(&mut self, span: Span, all: bool) -> ParseResult<Node> {
        let at = self.span();
        let name = self.new_name("a piece")?;
        if !all && self.eat_sign("=") {
            let of = self.sum()?;
            let of = self.want_squares(of, "a piece")?;
            let span = span.to(of.span());
            let var = self.holder(&name, Holds::Piece, at)?;
            return Ok(filter(C::Game(GameCondition::BindPiece { var, of }), span));
        }
        if !self.eat_word("in") && !self.eat_sign("[element]") {
            return Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                "expected `=` or `in`: `piece X = Ra1`, `piece X in R {find X & h8}`",
            ));
        }
        let domain = self.domain("a loop over pieces")?;
        let (var, body) = self.with_variable(&name, Holds::Piece, at)?;
        let span = span.to(body.span());
        Ok(if all {
            filter(C::Game(GameCondition::PieceAll { var, domain, body }), span)
        } else {
            filter(S::Game(GameSquares::PieceLoop { var, domain, body }), span)
        })
    }

    /// Reads `pieceid X`, `pieceid S`.
    pub(super) fn piece_id(&mut self) -> ParseResult<Node> {
        self.of_set(|of| N::Game(GameNumber::PieceId(of)))
    }

    /// Reads `loop F`.
    pub(super) fn loop_word(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let body = self.argument()?;
        self.refuse_alone(None, &body)?;
        let span = span.to(body.span());
        Ok(filter(C::Game(GameCondition::Loop(body)), span))
    }

    /// Reads `while (c) F`, `while (s ~~ "re") F`.
    pub(super) fn while_word(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        self.expect_sign("(", "before the condition of `while`")?;
        let condition = self.inside(Parser::node)?;
        self.refuse_alone(None, &condition)?;
        self.expect_sign(")", "behind the condition of `while`")?;
        let body = self.argument()?;
        let span = span.to(body.span());
        let matches =
            matches!(&condition, Node::Text(f) if matches!(f.op(), T::Game(GameText::Match { .. })));
        let op = match condition {
            Node::Text(text) if matches => match text.into_op() {
                T::Game(GameText::Match { text, pattern }) => {
                    GameCondition::WhileMatch { text, pattern, body }
                }
                _ => unreachable!("it is a match"),
            },
            condition => GameCondition::While { condition, body },
        };
        Ok(filter(C::Game(op), span))
    }

    /// Reads `echo [quiet] (s t) [in all] F`.
    pub(super) fn echo(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let quiet = self.eat_word("quiet");
        self.expect_sign("(", "before the two positions of `echo`")?;
        let [source, target] = [self.echo_variable()?, self.echo_variable()?];
        self.expect_sign(")", "behind the two positions of `echo`")?;
        let in_all = self.is_word("in") && matches!(self.peek(1), Tok::Word(word) if word == "all");
        if in_all {
            self.bump();
            self.bump();
        }
        let body = self.argument()?;
        self.scope.retain(|(_, known)| ![source, target].contains(known));
        let span = span.to(body.span());
        Ok(match body {
            Node::Number(body) => {
                let echo = Echo { source, target, in_all, quiet, body };
                filter(N::Game(GameNumber::Echo(echo)), span)
            }
            body => {
                let echo = Echo { source, target, in_all, quiet, body };
                filter(C::Game(GameCondition::Echo(echo)), span)
            }
        })
    }

    fn echo_variable(&mut self) -> ParseResult<VarId> {
        let at = self.span();
        let name = self.new_name("a position, as in `echo (s t) F`")?;
        self.loop_variable_of(&name, Holds::Position, at)
    }

    /// Reads `equal(F G)`.
    pub(super) fn equal(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        self.expect_sign("(", "after `equal`")?;
        let left = self.inside(Parser::node).map(valued)?;
        let right = self.inside(Parser::node).map(valued)?;
        let span = span.to(self.expect_sign(")", "behind the two filters of `equal`")?);
        Ok(filter(C::Game(GameCondition::Equal(left, right)), span))
    }

    /// Reads `cql_assertvariations "message"`.
    pub(super) fn assert_variations(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let message = self.literal("a message", "cql_assertvariations \"side lines are needed\"")?;
        let span = span.to(self.last_span());
        if self.state.variations {
            return Ok(filter(C::Bool(true), span));
        }
        let message = match message.trim() {
            "" => String::from("side lines are not searched"),
            _ => message,
        };
        Err(Diagnostic::error(span, message, "the query needs side lines")
            .help("begin it with `cql(variations)`"))
    }
}
