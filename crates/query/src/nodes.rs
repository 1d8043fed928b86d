//! Reads filters whose value is a position of the game, and their operators: `parent`, `child(n)`, `P:F`, `P<Q`, `P & Q`.

use super::{
    parser::{C, N, P, ParseResult, Parser, S, T, filter, mismatch, name_of, typed, wanted},
    token::Tok,
    tree::{
        Cmp, Elsewhere, GameCondition, GameNumber, GamePosition, GameSquares, GameText, Holds, Node, Number,
        NumberOp, Position, PositionOrder, Type, VarId,
    },
    valued::{kind_of, valued},
};
use orbit_core::diagnostic::Diagnostic;

impl Parser {
    /// Converts the filter `node` to a position. If it has another type, returns an error that states that `user` needs a position.
    fn want_position(&self, node: Node, user: &str) -> ParseResult<Position> {
        match node {
            Node::Position(position) => Ok(position),
            other => Err(wanted(Type::Position, typed(&other), user)),
        }
    }

    /// Reads the rest of `P:F` if a `:` follows a position. The precedence of `:` is higher than that of all operators: `P:T[i]` is
    /// `(P:T)[i]`, and `a:b:c` is `a:(b:c)`.
    pub(super) fn elsewhere(&mut self, left: Node) -> ParseResult<Node> {
        if !self.is_sign(":") {
            return Ok(left);
        }
        let at = match left {
            Node::Position(at) => at,
            other => return Ok(other),
        };
        self.bump();
        self.descend()?;
        let of = valued(self.unindexed()?);
        self.ascend();
        let span = at.span().to(of.span());
        Ok(match of {
            Node::Condition(of) => filter(C::Game(GameCondition::At { at, of }), span),
            Node::Squares(of) => filter(S::Game(GameSquares::Elsewhere(Elsewhere::At { at, of })), span),
            Node::Number(of) => filter(N::Game(GameNumber::Elsewhere(Elsewhere::At { at, of })), span),
            Node::Text(of) => filter(T::Game(GameText::Elsewhere(Elsewhere::At { at, of })), span),
            Node::Position(of) => filter(P::Game(GamePosition::Elsewhere(Elsewhere::At { at, of })), span),
        })
    }

    /// Reads the rest of `P & Q`. The current token is `&`.
    pub(super) fn same_contents(&mut self, left: Node) -> ParseResult<Node> {
        self.bump();
        let right = self.attack()?;
        let span = left.span().to(right.span());
        match (left, right) {
            (Node::Position(left), Node::Position(right)) => {
                Ok(filter(S::Game(GameSquares::SameContents(left, right)), span))
            }
            (left, right) => Err(mismatch(
                "&",
                typed(&left),
                typed(&right),
                "both sides must be sets of squares, or both positions",
            )
            .help("`and` combines conditions of any type; to ask of a set at a position write `P:S`")),
        }
    }

    /// Reads a comparison operator and the position to its right, with which `left` is compared.
    pub(super) fn position_relation(&mut self, left: Node) -> ParseResult<Node> {
        let by = match self.tok() {
            Tok::Sign("==") => PositionOrder::Number(Cmp::Eq),
            Tok::Sign("!=") => PositionOrder::Number(Cmp::Ne),
            Tok::Sign("<") => PositionOrder::Number(Cmp::Lt),
            Tok::Sign("<=") => PositionOrder::Number(Cmp::Le),
            Tok::Sign(">") => PositionOrder::Number(Cmp::Gt),
            Tok::Sign(">=") => PositionOrder::Number(Cmp::Ge),
            Tok::Sign("[<]") => PositionOrder::Before,
            Tok::Sign("[<=]") => PositionOrder::NotAfter,
            Tok::Sign("[>]") => PositionOrder::After,
            Tok::Sign("[>=]") => PositionOrder::NotBefore,
            _ => return Ok(left),
        };
        let sign = self.sign_text();
        self.bump();
        self.descend()?;
        let right = self.relation()?;
        self.ascend();
        let span = left.span().to(right.span());
        match (left, right) {
            (Node::Position(left), Node::Position(right)) => {
                Ok(filter(P::Game(GamePosition::Compare { by, left, right }), span))
            }
            (left, right) => {
                let is_find = matches!(&left, Node::Position(f) if matches!(f.op(), P::Find { .. }));
                let fault =
                    mismatch(sign, typed(&left), typed(&right), "a position is compared with another one");
                Err(match kind_of(&right) {
                    Type::Num if is_find => {
                        fault.help("`find all F` and `find count F` are numbers: `find all check > 2`")
                    }
                    _ => fault.help("`P:F` is the value of a filter at a position: `parent:ply == 3`"),
                })
            }
        }
    }

    /// Reads `child`, `child(n)`.
    pub(super) fn child(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let index = if self.eat_sign("(") {
            let index = self.inside(Parser::node)?;
            let index = self.want_number(index, "`child`")?;
            self.expect_sign(")", "after the number of the child")?;
            index
        } else {
            Number::new(NumberOp::Int(0), span)
        };
        Ok(filter(P::Game(GamePosition::Child(index)), span.to(self.last_span())))
    }

    /// Reads `position n`.
    pub(super) fn position_of(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let number = self.sum()?;
        let number = self.want_number(number, "`position`")?;
        let span = span.to(number.span());
        Ok(filter(P::Game(GamePosition::Numbered(number)), span))
    }

    /// Reads `initialposition`.
    pub(super) fn initial_position(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        Ok(filter(P::Game(GamePosition::Numbered(Number::new(NumberOp::Int(0), span))), span))
    }

    /// Reads `lca(P Q)`, `distance(P Q)`, `ancestor(P Q)`, `descendant(P Q)`.
    pub(super) fn of_two_positions(&mut self, word: &str) -> ParseResult<Node> {
        let span = self.bump();
        self.expect_sign("(", &format!("after `{word}`"))?;
        let [first, second] = [self.position_in(word)?, self.position_in(word)?];
        let end = self.expect_sign(")", "after two positions")?;
        let span = span.to(end);
        Ok(match word {
            "lca" => filter(P::Game(GamePosition::LastCommonAncestor(first, second)), span),
            "distance" => filter(N::Game(GameNumber::Distance(first, second)), span),
            "ancestor" => filter(C::Game(GameCondition::Ancestor { ancestor: first, of: second }), span),
            _ => filter(C::Game(GameCondition::Ancestor { ancestor: second, of: first }), span),
        })
    }

    fn position_in(&mut self, word: &str) -> ParseResult<Position> {
        let node = self.inside(Parser::node)?;
        self.want_position(node, &format!("`{word}`"))
    }

    /// Reads `consecutivemoves [quiet] [range] (v w)`.
    pub(super) fn consecutive_moves(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let quiet = self.eat_word("quiet");
        let range = self.range(|parser| parser.is_sign("("))?.map(super::ranges::Range::into_numbers);
        self.expect_sign("(", "before two position variables")?;
        let [first, second] = [self.position_variable()?, self.position_variable()?];
        let end = self.expect_sign(")", "after two position variables")?;
        let op = GameNumber::ConsecutiveMoves { first, second, quiet, range };
        Ok(filter(N::Game(op), span.to(end)))
    }

    fn position_variable(&mut self) -> ParseResult<VarId> {
        let at = self.span();
        let fault = |found: String| {
            Diagnostic::error(at, found, "expected a variable that holds a position")
                .help("`echo(s t) {s < t consecutivemoves(s t)}` compares the positions of a game")
        };
        let Tok::Word(name) = self.tok().clone() else {
            return Err(fault(format!("found {}", self.found())));
        };
        let Some(var) = self.lookup(&name) else { return Err(fault(format!("`{name}` is no variable"))) };
        let holds = self.vars[var.0 as usize].holds;
        if holds != Holds::Position {
            return Err(fault(format!("`{name}` holds {}", name_of(holds.ty()))));
        }
        self.bump();
        Ok(var)
    }
}
