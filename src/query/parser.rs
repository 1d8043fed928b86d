//! Tokens to typed tree, by recursive descent: the expression grammar.
//!
//! Types are known as soon as a filter has been read, and the grammar needs them (`==` compares
//! sets, numbers or strings), so there is no untyped tree in between. Keyword filters are in
//! [`super::filters`].

use shakmaty::Color;

use super::{
    lexer::{Tok, Token, lex, unsupported},
    tree::{Arith, Cmp, Node, Op, Query, Tally, Type, Var, VarId},
    words,
};
use crate::diagnostic::{Diagnostic, Span};

/// How deep filters may stand inside one another.
const DEPTH_MAX: u32 = 200;

/// How many operators of one query may lean on a left operand that is an operation itself: each of
/// them makes the tree one level deeper.
const LINKS_MAX: u32 = 1000;

pub(super) type Parsed<T> = Result<T, Diagnostic>;

pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    links: u32,
    /// Whether an operator ends the filter at hand if that cannot take it, since what stands around may.
    ends: bool,
    /// What the argument of a transform, of a loop or of `find` is read by: the loosest rule, but behind an
    /// operator of arithmetic the rule of its operands.
    level: fn(&mut Parser) -> Parsed<Node>,
    pub(super) text: String,
    pub vars: Vec<Var>,
    /// Names in scope, innermost last.
    pub scope: Vec<(String, VarId)>,
    pub remarks: Vec<Diagnostic>,
}

impl Parser {
    pub fn new(text: &str) -> Parsed<Parser> {
        let tokens = lex(text)?;
        let (vars, scope, remarks) = (Vec::new(), Vec::new(), Vec::new());
        let text = text.to_string();
        let level = Parser::node;
        Ok(Parser { tokens, at: 0, depth: 0, links: 0, ends: false, level, text, vars, scope, remarks })
    }

    /// All filters up to the end of the text, as one.
    pub fn program(mut self, mut filters: Vec<Node>) -> Parsed<(Query, Vec<Diagnostic>)> {
        while *self.tok() != Tok::End {
            filters.push(self.node()?);
        }
        if filters.is_empty() {
            return Err(Diagnostic::error(self.span(), "the query is empty", "expected a filter")
                .help("for example: orbit scan 'flip {Ra1 kh8}' games.pgn"));
        }
        let body = compound(filters);
        Ok((Query { body, vars: self.vars }, self.remarks))
    }

    // ---- token access

    pub fn tok(&self) -> &Tok {
        &self.tokens[self.at].tok
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The span of the token before the current one.
    pub fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// Whether blank space stands before the current token.
    pub fn spaced(&self) -> bool {
        self.tokens[self.at].spaced
    }

    pub fn peek(&self, ahead: usize) -> &Tok {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].tok
    }

    pub(super) fn peek_span(&self, ahead: usize) -> Span {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].span
    }

    /// The token before the current one.
    pub(super) fn before(&self) -> Option<&Tok> {
        self.at.checked_sub(1).map(|at| &self.tokens[at].tok)
    }

    pub fn bump(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn rewind(&mut self, at: usize) {
        self.at = at;
    }

    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self.tok(), Tok::Sign(s) if *s == sign)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.tok(), Tok::Word(w) if w == word)
    }

    pub fn eat_sign(&mut self, sign: &str) -> bool {
        let hit = self.is_sign(sign);
        if hit {
            self.bump();
        }
        hit
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let hit = self.is_word(word);
        if hit {
            self.bump();
        }
        hit
    }

    pub fn expect_sign(&mut self, sign: &'static str, why: &str) -> Parsed<Span> {
        if self.is_sign(sign) {
            return Ok(self.bump());
        }
        Err(Diagnostic::error(
            self.span(),
            format!("found {}", self.found()),
            format!("expected `{sign}` {why}"),
        ))
    }

    /// Names the current token for a message.
    pub fn found(&self) -> String {
        match self.tok() {
            Tok::End => "the end of the query".into(),
            Tok::Designator { .. } => "a piece designator".into(),
            Tok::Word(word) => format!("`{word}`"),
            Tok::Int(value) => format!("`{value}`"),
            Tok::Str(_) => "a string".into(),
            Tok::Sign(sign) => format!("`{sign}`"),
        }
    }

    /// A decimal number, with a sign if one stands directly before it.
    pub fn signed_int(&mut self) -> Option<i32> {
        if let Tok::Int(value) = *self.tok() {
            self.bump();
            return Some(value);
        }
        if self.is_sign("-")
            && let Tok::Int(value) = *self.peek(1)
            && !self.tokens[self.at + 1].spaced
        {
            self.bump();
            self.bump();
            return Some(-value);
        }
        None
    }

    // ---- the ladder of precedence, loosest first

    /// Goes one level deeper; the caller comes back with `depth -= 1`.
    fn descend(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Diagnostic::error(
                self.span(),
                "filters are nested too deep",
                format!("at most {DEPTH_MAX} levels"),
            ));
        }
        Ok(())
    }

    /// Any filter: the loosest rule.
    pub fn node(&mut self) -> Parsed<Node> {
        self.descend()?;
        let level = std::mem::replace(&mut self.level, Parser::node);
        let mut parts = vec![self.and_chain()?];
        while self.eat_word("or") {
            parts.push(self.and_chain()?);
        }
        self.depth -= 1;
        self.level = level;
        Ok(balanced(&Op::Or, Type::Bool, parts))
    }

    /// The argument of a transform, of a loop or of `find`: any filter, but an operator that it cannot take ends
    /// it, and belongs to what stands around. So `flip count Ra1 * 2` is `(flip count Ra1) * 2`, and
    /// `8 - shift count pa7 > 0` compares the difference.
    pub fn argument(&mut self) -> Parsed<Node> {
        let outer = std::mem::replace(&mut self.ends, true);
        let node = (self.level)(self)?;
        self.ends = outer;
        Ok(node)
    }

    /// The right operand of an operator of arithmetic.
    fn operand(&mut self, level: fn(&mut Parser) -> Parsed<Node>) -> Parsed<Node> {
        let outer = std::mem::replace(&mut self.level, level);
        let node = level(self)?;
        self.level = outer;
        Ok(node)
    }

    /// A filter in brackets, where nothing around can take an operator.
    pub fn inside(&mut self, read: impl FnOnce(&mut Parser) -> Parsed<Node>) -> Parsed<Node> {
        let outer =
            (std::mem::replace(&mut self.ends, false), std::mem::replace(&mut self.level, Parser::node));
        let node = read(self)?;
        (self.ends, self.level) = outer;
        Ok(node)
    }

    fn and_chain(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.not_operand()?];
        while self.eat_word("and") {
            parts.push(self.not_operand()?);
        }
        Ok(balanced(&Op::And, Type::Bool, parts))
    }

    /// What `not` takes: tighter than `and`, looser than `in` and comparisons.
    pub fn not_operand(&mut self) -> Parsed<Node> {
        let left = self.relation()?;
        let taken = !self.ends || matches!(left.ty, Type::Set | Type::Str);
        if !self.is_word("in") || !taken {
            return Ok(left);
        }
        self.bump();
        let right = self.relation()?;
        match (left.ty, right.ty) {
            (Type::Set, Type::Set) => Ok(binary(Op::Subset, Type::Bool, left, right)),
            (Type::Str, Type::Str) => self.string_in(left, right),
            _ => {
                Err(self.mismatch("in", &left, &right, "both sides must be sets of squares, or both strings"))
            }
        }
    }

    fn relation(&mut self) -> Parsed<Node> {
        let left = self.sum()?;
        self.refuse_single_equals()?;
        // A condition cannot be compared, but what it stands in may be a number:
        // `flip count {Ra1 or Rh1} == 4` compares the count.
        if left.ty == Type::Bool {
            return Ok(left);
        }
        if left.ty == Type::Position && matches!(self.tok(), Tok::Sign("==" | "!=" | "<" | "<=" | ">" | ">="))
        {
            return Err(unsupported(self.span(), "comparing positions of the game")
                .help("`find all F` and `find count F` are numbers: `find all check > 2`"));
        }
        let cmp = match self.tok() {
            Tok::Sign("==") => Cmp::Eq,
            Tok::Sign("!=") => Cmp::Ne,
            Tok::Sign("<") => Cmp::Lt,
            Tok::Sign("<=") => Cmp::Le,
            Tok::Sign(">") => Cmp::Gt,
            Tok::Sign(">=") => Cmp::Ge,
            Tok::Sign("~~") => return Err(unbuilt_sign(self.span(), "~~")),
            _ => return Ok(left),
        };
        self.bump();
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Diagnostic::error(self.span(), "comparisons are chained too long", "write fewer"));
        }
        let right = self.relation()?;
        self.depth -= 1;
        self.compare(cmp, left, right)
    }

    fn compare(&mut self, cmp: Cmp, left: Node, right: Node) -> Parsed<Node> {
        let equality = matches!(cmp, Cmp::Eq | Cmp::Ne);
        match (left.ty, right.ty) {
            (Type::Set, Type::Set) if equality => {
                Ok(binary(Op::SetEq { equal: cmp == Cmp::Eq }, Type::Bool, left, right))
            }
            (Type::Set, Type::Set) => Err(self
                .mismatch(cmp.sign(), &left, &right, "sets have no order")
                .help("compare their sizes: `#a < #b`")),
            (Type::Set, Type::Num) => self.compare(cmp, cardinality(left), right),
            (Type::Num, Type::Set) => self.compare(cmp, left, cardinality(right)),
            (Type::Num, Type::Num) => {
                let ty = if cmp == Cmp::Ne { Type::Bool } else { Type::Num };
                Ok(binary(Op::Compare(cmp), ty, left, right))
            }
            (Type::Str, Type::Str) => self.string_compare(cmp, left, right),
            _ => Err(self.mismatch(
                cmp.sign(),
                &left,
                &right,
                "both sides must be numbers, sets of squares or strings",
            )),
        }
    }

    /// The additive level: what an assignment, `max` and `abs` take.
    pub fn sum(&mut self) -> Parsed<Node> {
        let mut left = self.product()?;
        loop {
            if left.ty == Type::Bool {
                return Ok(left);
            }
            let op = match self.tok() {
                Tok::Sign("+") => Arith::Add,
                Tok::Sign("-") => Arith::Sub,
                _ => return Ok(left),
            };
            self.refuse_range_of_squares()?;
            if self.ends && !takes_arithmetic(op, left.ty) {
                return Ok(left);
            }
            self.link()?;
            let right = self.operand(Parser::product)?;
            left = self.arithmetic(op, left, right)?;
        }
    }

    fn product(&mut self) -> Parsed<Node> {
        let mut left = self.arrows()?;
        loop {
            if left.ty == Type::Bool && matches!(self.tok(), Tok::Sign("*" | "/" | "%")) {
                return Ok(left);
            }
            let op = match self.tok() {
                Tok::Sign("*") => Arith::Mul,
                Tok::Sign("/") => Arith::Div,
                Tok::Sign("%") => Arith::Rem,
                Tok::Sign(sign @ ("--" | "[x]")) => return Err(unbuilt_sign(self.span(), sign)),
                Tok::Sign(sign @ ("?" | "[<]" | "[>]" | "[<=]" | "[>=]" | ":")) => {
                    self.refuse_keyword_of_cql_5()?;
                    return Err(unbuilt_sign(self.span(), sign));
                }
                _ => return Ok(left),
            };
            if self.ends && !takes_arithmetic(op, left.ty) {
                return Ok(left);
            }
            self.link()?;
            let right = self.operand(Parser::arrows)?;
            left = self.arithmetic(op, left, right)?;
        }
    }

    /// Takes an operator whose left operand may be an operation of the same kind.
    fn link(&mut self) -> Parsed<()> {
        self.links += 1;
        let at = self.bump();
        if self.links > LINKS_MAX {
            return Err(Diagnostic::error(at, "too many operators", format!("at most {LINKS_MAX} of these")));
        }
        Ok(())
    }

    fn arithmetic(&mut self, op: Arith, left: Node, right: Node) -> Parsed<Node> {
        let sign = match op {
            Arith::Add => "+",
            Arith::Sub => "-",
            Arith::Mul => "*",
            Arith::Div => "/",
            Arith::Rem => "%",
        };
        match (left.ty, right.ty) {
            (Type::Num, Type::Num) => Ok(binary(Op::Arith(op), Type::Num, left, right)),
            (Type::Str, Type::Str) => Err(unsupported(left.span.to(right.span), "joining strings with `+`")),
            (Type::Set, _) | (_, Type::Set) => Err(self
                .mismatch(sign, &left, &right, "both sides must be numbers")
                .help("`#` counts the squares of a set: `#R + #r`")),
            _ => Err(self.mismatch(sign, &left, &right, "both sides must be numbers")),
        }
    }

    /// A set expression: `->` and `<-` chains. What `#`, `power` and loop domains take.
    pub fn arrows(&mut self) -> Parsed<Node> {
        let first = self.union()?;
        let forward = match self.tok() {
            Tok::Sign("->" | "<-") if self.ends && first.ty != Type::Set => return Ok(first),
            Tok::Sign("->") => true,
            Tok::Sign("<-") => false,
            _ => return Ok(first),
        };
        let mut chain = vec![first];
        loop {
            match (forward, self.tok()) {
                (true, Tok::Sign("->")) | (false, Tok::Sign("<-")) => {}
                (_, Tok::Sign("->" | "<-")) => {
                    return Err(Diagnostic::error(
                        self.span(),
                        "`->` and `<-` are mixed in one chain",
                        "write all arrows the same way, or use parentheses",
                    ));
                }
                _ => break,
            }
            self.bump();
            chain.push(self.union()?);
        }
        for part in &chain {
            self.want(part, Type::Set, "an arrow")?;
        }
        let span = chain[0].span.to(self.last_span());
        let op = match (chain.len(), forward) {
            (2, true) => Op::Attacks,
            (2, false) => Op::AttackedBy,
            _ => Op::Xray { forward },
        };
        Ok(Node::new(op, Type::Set, span, chain))
    }

    fn union(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.intersection()?];
        while self.takes_sets(&parts) && self.eat_sign("|") {
            parts.push(self.intersection()?);
            self.want_sets("|", &parts)?;
        }
        Ok(balanced(&Op::Union, Type::Set, parts))
    }

    fn intersection(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.attack()?];
        while self.takes_sets(&parts) && self.eat_sign("&") {
            parts.push(self.attack()?);
            self.want_sets("&", &parts)?;
        }
        Ok(balanced(&Op::Intersect, Type::Set, parts))
    }

    /// Whether an operator on sets belongs to what was read, right or wrong.
    fn takes_sets(&self, parts: &[Node]) -> bool {
        !self.ends || parts.iter().all(|part| part.ty == Type::Set)
    }

    /// Checks the operands of `|` or `&`, of which the last was just read.
    fn want_sets(&self, sign: &str, parts: &[Node]) -> Parsed<()> {
        let [first, .., right] = parts else { return Ok(()) };
        if first.ty == Type::Set && right.ty == Type::Set {
            return Ok(());
        }
        let before = &parts[parts.len() - 2];
        let left = Node::new(Op::Bool(true), first.ty, first.span.to(before.span), vec![]);
        let word = if sign == "&" { "and" } else { "or" };
        Err(self
            .mismatch(sign, &left, right, "both sides must be sets of squares")
            .help(format!("`{word}` combines conditions of any type")))
    }

    /// What `~` takes: primaries joined by `attacks` and `attackedby`.
    pub fn attack(&mut self) -> Parsed<Node> {
        let mut left = self.primary()?;
        loop {
            if self.ends && left.ty != Type::Set {
                return Ok(left);
            }
            let op = if self.is_word("attacks") || self.is_word("attack") {
                Op::Attacks
            } else if self.is_word("attackedby") {
                Op::AttackedBy
            } else if self.is_word("attacked") && matches!(self.peek(1), Tok::Word(w) if w == "by") {
                self.bump();
                Op::AttackedBy
            } else {
                return Ok(left);
            };
            self.link()?;
            self.refuse_attack_by()?;
            let right = self.primary()?;
            self.want(&left, Type::Set, "`attacks`")?;
            self.want(&right, Type::Set, "`attacks`")?;
            left = binary(op, Type::Set, left, right);
        }
    }

    // ---- primaries

    /// A tight operand: one filter without operators.
    pub fn primary(&mut self) -> Parsed<Node> {
        self.descend()?;
        let node = self.primary_inner();
        self.depth -= 1;
        node
    }

    fn primary_inner(&mut self) -> Parsed<Node> {
        let span = self.span();
        if let Some(value) = self.signed_int() {
            return Ok(Node::new(Op::Int(value), Type::Num, span.to(self.last_span()), vec![]));
        }
        match self.tok().clone() {
            Tok::Designator { pieces, squares } => {
                self.bump();
                Ok(Node::new(Op::Designator { pieces, squares }, Type::Set, span, vec![]))
            }
            Tok::Str(text) => {
                self.bump();
                Ok(Node::new(Op::Str(text), Type::Str, span, vec![]))
            }
            Tok::Word(word) => self.word(&word),
            Tok::Sign(sign) => self.sign(sign),
            Tok::End => Err(Diagnostic::error(span, "the query ends too early", "expected a filter here")),
            Tok::Int(_) => unreachable!("signed_int takes every integer"),
        }
    }

    fn sign(&mut self, sign: &'static str) -> Parsed<Node> {
        let span = self.span();
        match sign {
            "(" => {
                if matches!(self.peek(1), Tok::Word(word) if word == "position" || word == "match") {
                    return Err(list_of_cql_5(span.to(self.tokens[self.at + 1].span)));
                }
                self.bump();
                let mut inner = self.inside(Parser::node)?;
                if self.is_sign(")") {
                    inner.span = span.to(self.bump());
                    return Ok(inner);
                }
                Err(Diagnostic::error(
                    self.span(),
                    format!("found {}", self.found()),
                    "expected `)`: parentheses hold exactly one filter",
                )
                .help("braces hold several filters that must all match: `{Ra1 kh8}`"))
            }
            "{" => {
                self.bump();
                let mut filters = Vec::new();
                while !self.is_sign("}") {
                    if *self.tok() == Tok::End {
                        return Err(Diagnostic::error(span, "`{` is not closed", "close it with `}`"));
                    }
                    filters.push(self.inside(Parser::node)?);
                }
                let end = self.bump();
                if filters.is_empty() {
                    return Err(Diagnostic::error(span.to(end), "empty braces", "expected a filter inside"));
                }
                let mut node = compound(filters);
                node.span = span.to(end);
                Ok(node)
            }
            "." => {
                self.bump();
                Ok(Node::new(Op::Squares(shakmaty::Bitboard::FULL), Type::Set, span, vec![]))
            }
            "[]" => {
                self.bump();
                Ok(Node::new(Op::Squares(shakmaty::Bitboard::EMPTY), Type::Set, span, vec![]))
            }
            "~" => {
                self.bump();
                let arg = self.attack()?;
                self.want(&arg, Type::Set, "`~`")?;
                Ok(unary(Op::Complement, Type::Set, span, arg))
            }
            "#" => {
                self.bump();
                let arg = self.arrows()?;
                if arg.ty == Type::Str {
                    return Err(unsupported(span, "the length of a string"));
                }
                self.want(&arg, Type::Set, "`#`")?;
                Ok(unary(Op::Cardinality, Type::Num, span, arg))
            }
            "-" => {
                self.bump();
                let arg = self.primary()?;
                self.want(&arg, Type::Num, "`-`")?;
                Ok(unary(Op::Neg, Type::Num, span, arg))
            }
            "[forall]" => {
                self.bump();
                let name = self.loop_variable()?;
                self.expect_sign("[element]", "after the variable of a loop")?;
                self.square_loop(span, name, true)
            }
            "--" | "[x]" | "-->" | "<--" => Err(unbuilt_sign(self.span(), sign)),
            "[" => Err(Diagnostic::error(
                span,
                "`[` begins neither a list of pieces nor a list of squares",
                "expected `[RN]`, `[a1,h8]` or both: `[RN][a1,h8]`",
            )
            .help(
                "a designator has no blanks between pieces and squares, and files need ranks: `[RN]a-d1-2`",
            )),
            ":" => {
                self.refuse_keyword_of_cql_5()?;
                Err(Diagnostic::error(span, "found `:`", "expected a filter here"))
            }
            "==" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "*" | "/" | "%" => Err(Diagnostic::error(
                span,
                format!("`{sign}` after a condition"),
                "expected a number, a set of squares or a string on its left",
            )),
            _ => Err(Diagnostic::error(span, format!("found `{sign}`"), "expected a filter here")),
        }
    }

    // ---- typing helpers

    pub fn want(&self, node: &Node, ty: Type, user: &str) -> Parsed<()> {
        if node.ty == ty {
            return Ok(());
        }
        Err(Diagnostic::error(
            node.span,
            format!("{user} needs {}", name_of(ty)),
            format!("this is {}", name_of(node.ty)),
        ))
    }

    fn mismatch(&self, sign: &str, left: &Node, right: &Node, rule: &str) -> Diagnostic {
        Diagnostic::error(
            left.span.to(right.span),
            format!("`{sign}` between {} and {}", name_of(left.ty), name_of(right.ty)),
            rule,
        )
    }
}

/// The error for a sign that asks for what is not built.
pub(super) fn unbuilt_sign(span: Span, sign: &str) -> Diagnostic {
    unsupported(span, &words::unbuilt(sign).expect("the table says that it is not built"))
}

/// Whether an operation of arithmetic can have a left operand of a type.
fn takes_arithmetic(op: Arith, left: Type) -> bool {
    left == Type::Num || left == Type::Str && op == Arith::Add
}

pub(super) fn name_of(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "a condition",
        Type::Set => "a set of squares",
        Type::Num => "a number",
        Type::Str => "a string",
        Type::Position => "a position",
    }
}

pub(super) fn unary(op: Op, ty: Type, at: Span, arg: Node) -> Node {
    let span = at.to(arg.span);
    Node::new(op, ty, span, vec![arg])
}

pub(super) fn binary(op: Op, ty: Type, left: Node, right: Node) -> Node {
    let span = left.span.to(right.span);
    Node::new(op, ty, span, vec![left, right])
}

/// Operands of an associative operation as a tree that is no deeper than it must be, so that long
/// lists stay within the stack. A single operand stays itself.
fn balanced(op: &Op, ty: Type, mut parts: Vec<Node>) -> Node {
    if parts.len() == 1 {
        return parts.pop().expect("it has one element");
    }
    let right = parts.split_off(parts.len().div_ceil(2));
    binary(op.clone(), ty, balanced(op, ty, parts), balanced(op, ty, right))
}

fn cardinality(set: Node) -> Node {
    let span = set.span;
    Node::new(Op::Cardinality, Type::Num, span, vec![set])
}

/// Several filters as one; a single one stays itself.
pub(super) fn compound(mut filters: Vec<Node>) -> Node {
    if filters.len() == 1 {
        return filters.pop().expect("it has one element");
    }
    let ty = filters.last().expect("callers refuse empty lists").ty;
    let span = filters[0].span.to(filters[filters.len() - 1].span);
    Node::new(Op::Compound, ty, span, filters)
}

fn list_of_cql_5(span: Span) -> Diagnostic {
    Diagnostic::error(span, "a list of CQL 5 inside a query of CQL 6", "the dialects are not mixed").help(
        "in CQL 5 the list is the whole query, with transforms and conditions inside: `(position Ra1 :wtm :flip)`",
    )
}

/// The type of a transform's value.
pub(super) fn transform_type(tally: Tally, arg: Type) -> Type {
    match (tally, arg) {
        (Tally::Any, Type::Set) => Type::Set,
        (Tally::Any, Type::Num) => Type::Num,
        (Tally::Any, _) => Type::Bool,
        _ => Type::Num,
    }
}

pub(super) fn color_word(word: &str) -> Option<Color> {
    match word {
        "white" => Some(Color::White),
        "black" => Some(Color::Black),
        _ => None,
    }
}
