//! Arithmetic: `+ - * / %` of numbers, and `+` of strings.

use super::{
    parser::{N, ParseResult, Parser, T, filter, mismatch, typed},
    token::Tok,
    tree::{Arith, GameText, Node, Type},
    valued::{kind_of, valued},
};

impl Parser {
    /// Reads a sum: terms joined by `+` and `-`. The operands of assignments, `max` and `abs` are sums, too.
    pub fn sum(&mut self) -> ParseResult<Node> {
        let left = self.product()?;
        self.sum_from(left)
    }

    /// Reads the rest of a sum after `left`, its first term.
    pub(super) fn sum_from(&mut self, mut left: Node) -> ParseResult<Node> {
        loop {
            if kind_of(&left) == Type::Bool {
                return Ok(left);
            }
            let op = match self.tok() {
                Tok::Sign("+") => Arith::Add,
                Tok::Sign("-") => Arith::Sub,
                _ => return Ok(left),
            };
            self.refuse_range_of_squares()?;
            if self.ends && (!takes_arithmetic(op, kind_of(&left)) || self.repeats_next()) {
                return Ok(left);
            }
            let Some(right) = self.number_or_suffix(Parser::product, kind_of(&left))? else {
                return Ok(left);
            };
            left = self.arithmetic(op, left, right)?;
        }
    }

    fn product(&mut self) -> ParseResult<Node> {
        let mut left = self.set_expression()?;
        loop {
            if kind_of(&left) == Type::Bool && matches!(self.tok(), Tok::Sign("*" | "/" | "%")) {
                return Ok(left);
            }
            let op = match self.tok() {
                Tok::Sign("*") => Arith::Mul,
                Tok::Sign("/") => Arith::Div,
                Tok::Sign("%") => Arith::Rem,
                _ => return Ok(left),
            };
            if self.ends && (!takes_arithmetic(op, kind_of(&left)) || self.repeats_next()) {
                return Ok(left);
            }
            let Some(right) = self.number_or_suffix(Parser::set_expression, kind_of(&left))? else {
                return Ok(left);
            };
            left = self.arithmetic(op, left, right)?;
        }
    }

    /// Reads the right operand of the arithmetic operator at the current token. In a path, a `+` or `*` after a number can also be
    /// a suffix, which repeats the filter before it. If no number follows the sign, it is a suffix, and the method returns `None`.
    fn number_or_suffix(
        &mut self,
        level: fn(&mut Parser) -> ParseResult<Node>,
        left: Type,
    ) -> ParseResult<Option<Node>> {
        let may_repeat = self.in_path && left == Type::Num && (self.is_sign("+") || self.is_sign("*"));
        let before = may_repeat.then(|| self.clone());
        self.link()?;
        let right = self.operand(level);
        let Some(before) = before else { return right.map(Some) };
        match right {
            Ok(right) if kind_of(&right) == Type::Num => Ok(Some(right)),
            _ => {
                // Tokens that were read still count towards the limits. Otherwise, the time would double with each level of such
                // operands.
                let (links, calls) = (self.links, self.state.tokens_called);
                *self = before;
                (self.links, self.state.tokens_called) = (links, calls);
                Ok(None)
            }
        }
    }

    fn arithmetic(&mut self, op: Arith, left: Node, right: Node) -> ParseResult<Node> {
        let sign = match op {
            Arith::Add => "+",
            Arith::Sub => "-",
            Arith::Mul => "*",
            Arith::Div => "/",
            Arith::Rem => "%",
        };
        let span = left.span().to(right.span());
        let (left, right) = match (valued(left), valued(right)) {
            (Node::Number(left), Node::Number(right)) => return Ok(filter(N::Arith(op, left, right), span)),
            (Node::Text(left), Node::Text(right)) if op == Arith::Add => {
                return Ok(filter(T::Game(GameText::Joined(left, right)), span));
            }
            (left, right) => (typed(&left), typed(&right)),
        };
        let wrong = || mismatch(sign, left, right, "both sides must be numbers");
        if self.in_chain && left.0 == Type::Num && matches!(op, Arith::Add | Arith::Mul) {
            let help = format!(
                "behind a number `{sign}` adds or multiplies; `{{{sign}}}` repeats what stands before it"
            );
            return Err(wrong().help(help));
        }
        Err(match (left.0, right.0) {
            (Type::Str, Type::Str) => {
                mismatch(sign, left, right, "strings are joined by `+`, and know no other arithmetic")
            }
            (Type::Str, Type::Num) | (Type::Num, Type::Str) => {
                wrong().help("`str` makes a string of a number, `int` a number of a string")
            }
            (Type::Set, _) | (_, Type::Set) => wrong().help("`#` counts the squares of a set: `#R + #r`"),
            _ => wrong(),
        })
    }

    /// Reads the right operand of an arithmetic operator.
    fn operand(&mut self, level: fn(&mut Parser) -> ParseResult<Node>) -> ParseResult<Node> {
        let outer = std::mem::replace(&mut self.level, level);
        let node = level(self)?;
        self.level = outer;
        Ok(node)
    }
}

/// Returns true if an arithmetic operator accepts a left operand of this type.
fn takes_arithmetic(op: Arith, left: Type) -> bool {
    left == Type::Num || left == Type::Str && op == Arith::Add
}
