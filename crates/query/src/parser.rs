//! The expression grammar of CQL 6. It turns tokens into the typed tree by recursive descent.
//!
//! The grammar depends on the types of filters: for example, `==` compares sets, numbers or strings. The parser knows the type of
//! a filter as soon as it has read the filter, so it builds the typed tree directly, without an untyped tree first.
//! [`super::filters`] reads the filters that begin with a keyword.

use std::rc::Rc;

use shakmaty::Color;

use super::{
    state::ParserState,
    token::{Tok, Token},
    tree::{
        Cmp, ConditionKeyword, ConditionOp, Control, GameNumber, GameText, Keyword, Kind as _, Node, Number,
        NumberKeyword, NumberOp, Of, OneOrMore, PositionOp, Squares, SquaresOp, Text, TextOp, TransformKind,
        Type, TypedQuery, Var, VarId, Written,
    },
    valued::{kind_of, valued},
};
use orbit_core::diagnostic::{Diagnostic, Span};

const DEPTH_MAX: u32 = 200;

/// The maximum number of left-associative operators, such as `+`, in a query. Each such operator makes the tree one level deeper.
const LINKS_MAX: u32 = 1000;

pub(super) type ParseResult<T> = Result<T, Diagnostic>;

// Short names for the operations of the tree that the parser builds.
pub(super) type C = ConditionOp<Written>;
pub(super) type S = SquaresOp<Written>;
pub(super) type N = NumberOp<Written>;
pub(super) type T = TextOp<Written>;
pub(super) type P = PositionOp<Written>;

#[derive(Clone)]
pub(super) struct Parser {
    pub(super) tokens: Rc<[Token]>,
    pub(super) at: usize,
    /// True while the parser reads a constituent (a filter or a move) of a line or a path, except inside brackets.
    pub(super) in_chain: bool,
    /// True while the parser reads a constituent (a filter or a move) of a path, except inside brackets.
    pub(super) in_path: bool,
    /// The index of the token at which the parser stops. This is the last token, or the first token after the blank line that
    /// ends a path.
    pub(super) end: usize,
    pub(super) depth: u32,
    pub(super) links: u32,
    /// True if an operator that the current filter cannot accept may apply to an enclosing filter. Such an operator ends the
    /// current filter.
    pub(super) ends: bool,
    /// The grammar rule for the argument of a transform, of a loop or of `find`. Normally, this is the rule with the lowest
    /// precedence. After an arithmetic operator, it is the rule for the operands of that operator.
    pub(super) level: fn(&mut Parser) -> ParseResult<Node>,
    /// The span of the move filter `L--R` or `L[x]R` that was read last.
    pub(super) last_dash: Option<Span>,
    pub(super) text: String,
    pub vars: Vec<Var>,
    /// The names in scope, with their variables. The innermost scope comes last.
    pub scope: Vec<(String, VarId)>,
    pub(super) state: ParserState,
    pub remarks: Vec<Diagnostic>,
}

impl Parser {
    pub fn new(text: &str, tokens: impl Into<Rc<[Token]>>) -> Parser {
        let (vars, scope, remarks) = (Vec::new(), Vec::new(), Vec::new());
        let (text, tokens) = (text.to_string(), tokens.into());
        let level = Parser::node;
        let end = tokens.len() - 1;
        Parser {
            tokens,
            at: 0,
            end,
            depth: 0,
            links: 0,
            ends: false,
            in_chain: false,
            in_path: false,
            level,
            last_dash: None,
            text,
            vars,
            scope,
            state: ParserState::default(),
            remarks,
        }
    }

    /// Reads all filters up to the end of the text. Returns a query that requires these filters and those in `filters`.
    pub fn program(&mut self, mut filters: Vec<Node>) -> ParseResult<TypedQuery> {
        while !self.at_end()? {
            self.refuse_closing()?;
            let filter = self.node()?;
            if self.at_end()? {
                self.refuse_alone_at_end(filters.last(), &filter)?;
            } else {
                self.refuse_alone(filters.last(), &filter)?;
            }
            filters.push(filter);
            self.note_blank(filters.last());
        }
        let Some(last) = filters.pop() else {
            return Err(Diagnostic::error(self.span(), "the query is empty", "expected a filter")
                .help("for example: orbit scan 'flip {Ra1 kh8}' games.pgn"));
        };
        let body = valued(compound(filters, last));
        self.finish(body)
    }

    /// Reads the declarations at the current token. Returns true if the text ends after them.
    pub(super) fn at_end(&mut self) -> ParseResult<bool> {
        while self.declaration()? {}
        Ok(*self.tok() == Tok::End)
    }

    // ---- precedence levels, loosest first

    /// Enters a deeper level of nesting. The caller must leave the level again, with [`Self::ascend`] or `depth -= 1`.
    pub(super) fn descend(&mut self) -> ParseResult<()> {
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

    /// Reads any filter, including filters joined by `or`, the operator with the lowest precedence.
    pub fn node(&mut self) -> ParseResult<Node> {
        self.descend()?;
        let level = std::mem::replace(&mut self.level, Parser::node);
        let (first, mut rest) = (self.and_chain()?, Vec::new());
        while self.eat_word("or") {
            if rest.is_empty() {
                self.refuse_alone(None, &first)?;
            }
            let next = self.and_chain()?;
            self.refuse_alone(None, &next)?;
            rest.push(next);
        }
        self.ascend();
        self.level = level;
        Ok(balanced(first, rest, &|left, right| either(C::Or, left, right)))
    }

    /// Leaves a level of nesting that [`Self::descend`] entered.
    pub(super) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Reads the argument of a transform, of a loop or of `find`. The argument may be any filter. An operator that the argument
    /// cannot accept ends the argument, and applies to the enclosing filter. For example, `flip count Ra1 * 2` means
    /// `(flip count Ra1) * 2`, and `8 - shift count pa7 > 0` compares the difference.
    pub fn argument(&mut self) -> ParseResult<Node> {
        let outer = std::mem::replace(&mut self.ends, true);
        let node = (self.level)(self)?;
        self.ends = outer;
        Ok(node)
    }

    /// Reads a filter of any kind that is a constituent of a line or a path. If a sign such as `+` or `*` after the filter cannot
    /// be an operator, it is a suffix that repeats the constituent.
    pub(super) fn constituent(&mut self, read: fn(&mut Parser) -> ParseResult<Node>) -> ParseResult<Node> {
        self.within(true, true, read)
    }

    /// Reads a constituent (a move or a filter) of a path.
    pub(super) fn constituent_of_path(&mut self) -> ParseResult<Node> {
        let outer = std::mem::replace(&mut self.in_path, true);
        let node = self.within(true, true, Parser::node);
        self.in_path = outer;
        node
    }

    /// Reads the filter inside brackets. Operators inside the brackets never apply to a filter outside.
    pub fn inside(&mut self, read: impl FnOnce(&mut Parser) -> ParseResult<Node>) -> ParseResult<Node> {
        let outer = std::mem::replace(&mut self.in_path, false);
        let node = self.within(false, false, read);
        self.in_path = outer;
        node
    }

    /// Calls `read` with the given flags `ends` and `in_chain`, and with the grammar rule that reads any filter as an argument.
    /// Restores the previous values afterwards.
    fn within(
        &mut self,
        ends: bool,
        in_chain: bool,
        read: impl FnOnce(&mut Parser) -> ParseResult<Node>,
    ) -> ParseResult<Node> {
        let outer = (
            std::mem::replace(&mut self.ends, ends),
            std::mem::replace(&mut self.in_chain, in_chain),
            std::mem::replace(&mut self.level, Parser::node),
        );
        let node = read(self)?;
        (self.ends, self.in_chain, self.level) = outer;
        Ok(node)
    }

    fn and_chain(&mut self) -> ParseResult<Node> {
        let (first, mut rest) = (self.not_operand()?, Vec::new());
        while self.eat_word("and") {
            if rest.is_empty() {
                self.refuse_alone(None, &first)?;
            }
            let next = self.not_operand()?;
            self.refuse_alone(None, &next)?;
            rest.push(next);
        }
        Ok(balanced(first, rest, &|left, right| either(C::And, left, right)))
    }

    /// Reads the operand of `not`. The precedence of `not` is higher than that of `and`, and lower than that of `in` and
    /// comparisons.
    pub fn not_operand(&mut self) -> ParseResult<Node> {
        let left = self.relation()?;
        let taken = !self.ends || matches!(kind_of(&left), Type::Set | Type::Str);
        if !self.is_word("in") || !taken {
            return Ok(left);
        }
        self.bump();
        let right = self.relation()?;
        let span = left.span().to(right.span());
        match (left, right) {
            (Node::Squares(left), Node::Squares(right)) => Ok(filter(C::Subset(left, right), span)),
            (left, right) if [&left, &right].map(kind_of) == [Type::Str; 2] => self.string_in(left, right),
            (left, right) => {
                let fault = mismatch(
                    "in",
                    typed(&left),
                    typed(&right),
                    "both sides must be sets of squares, or both strings",
                );
                Err(match self.range_of(&left, &right) {
                    Some(help) => fault.help(help),
                    None => fault,
                })
            }
        }
    }

    pub(super) fn relation(&mut self) -> ParseResult<Node> {
        let left = self.sum()?;
        self.refuse_single_equals()?;
        // A condition cannot be compared, but the enclosing filter may be a number. In `flip count {Ra1 or Rh1} == 4`, the
        // comparison applies to the count.
        if kind_of(&left) == Type::Bool {
            return Ok(left);
        }
        if kind_of(&left) == Type::Position {
            return self.position_relation(left);
        }
        let cmp = match self.tok() {
            Tok::Sign("==") => Cmp::Eq,
            Tok::Sign("!=") => Cmp::Ne,
            Tok::Sign("<") => Cmp::Lt,
            Tok::Sign("<=") => Cmp::Le,
            Tok::Sign(">") => Cmp::Gt,
            Tok::Sign(">=") => Cmp::Ge,
            Tok::Sign("~~") => return self.regex_match(left),
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

    fn compare(&mut self, cmp: Cmp, left: Node, right: Node) -> ParseResult<Node> {
        let equality = matches!(cmp, Cmp::Eq | Cmp::Ne);
        let span = left.span().to(right.span());
        match (left, right) {
            (Node::Squares(left), Node::Squares(right)) if equality => {
                Ok(filter(C::SetEq { equal: cmp == Cmp::Eq, left, right }, span))
            }
            (left @ Node::Squares(_), right @ Node::Squares(_)) => {
                Err(mismatch(cmp.sign(), typed(&left), typed(&right), "sets have no order")
                    .help("compare their sizes: `#a < #b`"))
            }
            (Node::Squares(left), right @ Node::Number(_)) => self.compare(cmp, cardinality(left), right),
            (left @ Node::Number(_), Node::Squares(right)) => self.compare(cmp, left, cardinality(right)),
            (Node::Number(left), Node::Number(right)) => Ok(match cmp {
                Cmp::Ne => filter(C::Differ(left, right), span),
                _ => filter(N::Compare(cmp, left, right), span),
            }),
            (left, right) if [&left, &right].map(kind_of) == [Type::Str; 2] => {
                self.string_compare(cmp, left, right)
            }
            (left, right) => {
                let fault = mismatch(
                    cmp.sign(),
                    typed(&left),
                    typed(&right),
                    "both sides must be numbers, sets of squares or strings",
                );
                Err(match self.text_and_number(cmp, &left, &right) {
                    Some(help) => fault.help(help),
                    None => fault,
                })
            }
        }
    }

    /// Reads a left-associative operator. Returns an error if the query has too many of them.
    pub(super) fn link(&mut self) -> ParseResult<()> {
        self.links += 1;
        let at = self.bump();
        if self.links > LINKS_MAX {
            return Err(Diagnostic::error(at, "too many operators", format!("at most {LINKS_MAX} of these")));
        }
        Ok(())
    }

    pub(super) fn sign_text(&self) -> &'static str {
        match self.tok() {
            Tok::Sign(sign) => sign,
            _ => "",
        }
    }

    /// Reads a set expression, such as the operand of `#` or `power`, or the set of a loop. If `--` follows, the set is the origin
    /// of a move filter, which is then read as a whole.
    pub fn set_expression(&mut self) -> ParseResult<Node> {
        let left = self.arrows()?;
        self.with_dash(left)
    }

    /// Reads sets joined by `->` or `<-`. These can also be operands of `--`.
    pub fn arrows(&mut self) -> ParseResult<Node> {
        let first = self.union()?;
        let forward = match self.tok() {
            Tok::Sign("->" | "<-") if self.ends && kind_of(&first) != Type::Set => return Ok(first),
            Tok::Sign("->") => true,
            Tok::Sign("<-") => false,
            _ => return Ok(first),
        };
        let mut rest = Vec::new();
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
            rest.push(self.union()?);
        }
        let span = first.span().to(self.last_span());
        let first = self.want_squares(first, "an arrow")?;
        let rest = rest.into_iter().map(|part| self.want_squares(part, "an arrow"));
        let op = match <[Squares; 1]>::try_from(rest.collect::<ParseResult<Vec<_>>>()?) {
            Ok([second]) if forward => S::Attacks(first, second),
            Ok([second]) => S::AttackedBy(first, second),
            Err(rest) => S::Xray { forward, sets: OneOrMore { first, rest } },
        };
        Ok(filter(op, span))
    }

    fn union(&mut self) -> ParseResult<Node> {
        let first = self.intersection()?;
        self.joined_sets("|", first, Parser::intersection, S::Union)
    }

    fn intersection(&mut self) -> ParseResult<Node> {
        let mut first = self.attack()?;
        if kind_of(&first) == Type::Position && self.is_sign("&") {
            first = self.same_contents(first)?;
        }
        self.joined_sets("&", first, Parser::attack, S::Intersect)
    }

    /// Reads the remaining operands of a set operator, after `first`. If `first` is not a set and [`Self::ends`] is true, the
    /// operator applies to an enclosing filter instead, and nothing is read.
    fn joined_sets(
        &mut self,
        sign: &'static str,
        first: Node,
        next: fn(&mut Parser) -> ParseResult<Node>,
        join: fn(Squares, Squares) -> S,
    ) -> ParseResult<Node> {
        if !self.is_sign(sign) || self.ends && kind_of(&first) != Type::Set {
            return Ok(first);
        }
        let word = if sign == "&" { "and" } else { "or" };
        let wrong = |left, right: &Node| {
            mismatch(sign, left, typed(right), "both sides must be sets of squares")
                .help(format!("`{word}` combines conditions of any type"))
        };
        let (mut left, mut sets) = (typed(&first), Vec::new());
        let first = match first {
            Node::Squares(first) => first,
            _ => {
                self.bump();
                return Err(wrong(left, &next(self)?));
            }
        };
        while self.eat_sign(sign) {
            match next(self)? {
                Node::Squares(right) => {
                    left.1 = first.span().to(right.span());
                    sets.push(right);
                }
                right => return Err(wrong(left, &right)),
            }
        }
        let join = |left: Squares, right: Squares| {
            let span = left.span().to(right.span());
            Squares::new(join(left, right), span)
        };
        Ok(balanced(first, sets, &join).into())
    }

    /// Reads an operand of `~`: filters without other operators, joined by `attacks` and `attackedby`.
    pub fn attack(&mut self) -> ParseResult<Node> {
        let mut left = self.primary()?;
        loop {
            if self.ends && kind_of(&left) != Type::Set {
                return Ok(left);
            }
            let attacks = self.is_word("attacks") || self.is_word("attack");
            if self.is_word("attacked") && matches!(self.peek(1), Tok::Word(w) if w == "by") {
                self.bump();
            } else if !attacks && !self.is_word("attackedby") {
                return Ok(left);
            }
            self.link()?;
            self.refuse_attack_by()?;
            let right = self.primary()?;
            let first = self.want_squares(left, "`attacks`")?;
            let second = self.want_squares(right, "`attacks`")?;
            let span = first.span().to(second.span());
            let op = if attacks { S::Attacks(first, second) } else { S::AttackedBy(first, second) };
            left = filter(op, span);
        }
    }

    // ---- primaries

    /// Reads one filter without operators around it. If the filter is a string, this includes the `[...]` and `~~` that follow
    /// it.
    pub fn primary(&mut self) -> ParseResult<Node> {
        self.descend()?;
        let mut node = self.unindexed()?;
        while kind_of(&node) == Type::Str {
            node = match self.tok() {
                Tok::Sign("[") => self.index(node)?,
                Tok::Sign("~~") => self.regex_match(node)?,
                _ => break,
            };
        }
        self.ascend();
        Ok(node)
    }

    /// Reads one filter without operators, and without the `[...]` or `~~` after it. In `P:T[i]`, these apply to the whole of
    /// `P:T`.
    pub(super) fn unindexed(&mut self) -> ParseResult<Node> {
        let node = self.primary_inner()?;
        self.elsewhere(node)
    }

    fn primary_inner(&mut self) -> ParseResult<Node> {
        let span = self.span();
        if let Some(value) = self.signed_int() {
            return Ok(filter(N::Int(value), span.to(self.last_span())));
        }
        match self.tok().clone() {
            Tok::Designator { pieces, squares } => {
                self.bump();
                Ok(filter(S::Designator { pieces, squares }, span))
            }
            Tok::Str(text) => {
                self.bump();
                Ok(filter(T::Literal(text), span))
            }
            Tok::Word(word) => self.word(&word),
            Tok::Sign(sign) => self.sign(sign),
            Tok::Group { start, number } => {
                self.bump();
                Ok(if start {
                    filter(N::Game(GameNumber::GroupStart(number)), span)
                } else {
                    filter(T::Game(GameText::Group(number)), span)
                })
            }
            Tok::End if self.at_blank_line() => Err(Diagnostic::error(
                self.last_span(),
                "the line ends too early",
                "expected a filter behind this",
            )
            .help("`///` ends with its line, and `path` at a blank line")),
            Tok::End => Err(Diagnostic::error(span, "the query ends too early", "expected a filter here")),
            Tok::Int(_) => unreachable!("signed_int takes every integer"),
        }
    }

    fn sign(&mut self, sign: &'static str) -> ParseResult<Node> {
        let span = self.span();
        match sign {
            "(" => {
                let list = match self.peek(1) {
                    Tok::Word(word) if word == "position" => self.is_list_of_cql_5(2),
                    Tok::Word(word) => word == "match",
                    _ => false,
                };
                if list {
                    return Err(list_of_cql_5(span.to(self.peek_span(1))));
                }
                self.bump();
                let inner = self.inside(Parser::node)?;
                if self.is_sign(")") {
                    return Ok(inner.at(span.to(self.bump())));
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
                self.refuse_count_with_blanks(span)?;
                let mut filters = Vec::new();
                while !self.after_declarations()?.is_sign("}") {
                    if *self.tok() == Tok::End {
                        return Err(Diagnostic::error(span, "`{` is not closed", "close it with `}`"));
                    }
                    let filter = self.inside(Parser::node)?;
                    // The last filter before the `}` is the value of the braces, so it alone may be a number or a string.
                    if !self.is_sign("}") {
                        self.refuse_alone(filters.last(), &filter)?;
                    }
                    filters.push(filter);
                    self.note_blank(filters.last());
                }
                let end = self.bump();
                let Some(last) = filters.pop() else {
                    return Err(Diagnostic::error(span.to(end), "empty braces", "expected a filter inside"));
                };
                Ok(compound(filters, last).at(span.to(end)))
            }
            "." => {
                self.bump();
                Ok(filter(S::Constant(shakmaty::Bitboard::FULL), span))
            }
            "[]" => {
                self.bump();
                Ok(filter(S::Constant(shakmaty::Bitboard::EMPTY), span))
            }
            "~" => {
                self.bump();
                let of = self.attack()?;
                let of = self.want_squares(of, "`~`")?;
                let span = span.to(of.span());
                Ok(filter(S::Complement(of), span))
            }
            "#" => {
                self.bump();
                if let Some(size) = self.dictionary_size(span) {
                    return Ok(size);
                }
                self.refuse_mate_sign(span)?;
                let mut of = self.set_expression()?;
                if kind_of(&of) == Type::Str {
                    of = self.sum_from(of)?;
                }
                let span = span.to(of.span());
                let of = match valued(of) {
                    Node::Text(of) => return Ok(filter(N::Game(GameNumber::Length(of)), span)),
                    of => self.want_squares(of, "`#`")?,
                };
                Ok(filter(N::Cardinality(of), span))
            }
            "-" => {
                self.bump();
                let of = self.primary()?;
                let of = self.want_number(of, "`-`")?;
                let span = span.to(of.span());
                Ok(filter(N::Neg(of), span))
            }
            "[forall]" => {
                self.bump();
                if self.eat_word("piece") {
                    return self.piece_loop(span, true);
                }
                let name = self.loop_variable()?;
                self.expect_sign("[element]", "after the variable of a loop")?;
                self.square_loop(span, name, true)
            }
            "///" => self.line_comment(),
            "--" | "[x]" => self.dash(None, false),
            "-->" | "<--" => Err(Diagnostic::error(
                span,
                format!("`{sign}` without `line`"),
                "positions in a row are asked for by `line --> check --> mate`",
            )),
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
                Err(Diagnostic::error(
                    span,
                    "found `:`",
                    "expected a position of the game on its left: `parent:check`",
                ))
            }
            "," => Err(self.slip_of_comma()),
            "==" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "*" | "/" | "%" => Err(Diagnostic::error(
                span,
                format!("`{sign}` after a condition"),
                "expected a number, a set of squares or a string on its left",
            )),
            _ => Err(self.slip_of_sign(sign)),
        }
    }

    /// Returns true if the token after `(position`, which is `ahead` tokens away, shows that this is a CQL 5 list. Any other token
    /// begins the number of a position.
    fn is_list_of_cql_5(&self, ahead: usize) -> bool {
        matches!(self.peek(ahead), Tok::Designator { .. } | Tok::Sign(":" | ")") | Tok::End)
    }

    // ---- typing helpers

    /// Converts the filter `node` to a set of squares. If it has another type, returns an error that states that `user` needs a
    /// set.
    pub fn want_squares(&self, node: Node, user: &str) -> ParseResult<Squares> {
        match node {
            Node::Squares(squares) => Ok(squares),
            other => Err(wanted(Type::Set, typed(&other), user)),
        }
    }

    /// Converts the filter `node` to a string. If it has another type, returns an error that states that `user` needs a string.
    pub fn want_text(&self, node: Node, user: &str) -> ParseResult<Text> {
        match valued(node) {
            Node::Text(text) => Ok(text),
            other => Err(wanted(Type::Str, typed(&other), user)),
        }
    }

    /// Converts the filter `node` to a number. If it has another type, returns an error that states that `user` needs a number.
    pub fn want_number(&self, node: Node, user: &str) -> ParseResult<Number> {
        match node {
            Node::Number(number) => Ok(number),
            other => Err(wanted(Type::Num, typed(&other), user)),
        }
    }
}

/// Returns the error for a filter that has the type `found` instead of `ty`, the type that `user` needs.
pub(super) fn wanted(ty: Type, (found, at): (Type, Span), user: &str) -> Diagnostic {
    Diagnostic::error(at, format!("{user} needs {}", name_of(ty)), format!("this is {}", name_of(found)))
}

/// Returns the type and the span of a filter.
pub(super) fn typed(node: &Node) -> (Type, Span) {
    (kind_of(node), node.span())
}

pub(super) fn mismatch(sign: &str, left: (Type, Span), right: (Type, Span), rule: &str) -> Diagnostic {
    Diagnostic::error(
        left.1.to(right.1),
        format!("`{sign}` between {} and {}", name_of(left.0), name_of(right.0)),
        rule,
    )
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

/// Builds a filter from an operation, whose Rust type determines the kind of the filter (condition, set, number, ...).
pub(super) fn filter<O>(op: O, span: Span) -> Node
where
    Of<O, Written>: Into<Node>,
{
    Of::new(op, span).into()
}

fn either(join: fn(Node, Node) -> C, left: Node, right: Node) -> Node {
    let span = left.span().to(right.span());
    filter(join(left, right), span)
}

/// Joins the operands of an associative operation into a balanced tree, so that long lists do not overflow the stack. Returns a
/// single operand unchanged.
pub(super) fn balanced<F>(first: F, mut rest: Vec<F>, join: &impl Fn(F, F) -> F) -> F {
    let mut right = rest.split_off(rest.len() / 2).into_iter();
    match right.next() {
        Some(middle) => join(balanced(first, rest, join), balanced(middle, right.collect(), join)),
        None => first,
    }
}

pub(super) fn cardinality(set: Squares) -> Node {
    let span = set.span();
    filter(N::Cardinality(set), span)
}

/// Joins filters into one filter in braces, which has the kind of the last filter. Returns a single filter unchanged.
pub(super) fn compound(mut first: Vec<Node>, last: Node) -> Node {
    let Some(start) = first.first().map(Node::span) else { return last };
    let span = start.to(last.span());
    match last {
        Node::Squares(last) => filter(S::Control(Control::Braces { first, last }), span),
        Node::Number(last) => filter(N::Control(Control::Braces { first, last }), span),
        Node::Text(last) => filter(T::Control(Control::Braces { first, last }), span),
        Node::Position(last) => filter(P::Control(Control::Braces { first, last }), span),
        last @ Node::Condition(_) => {
            first.push(last);
            filter(C::Braces(first), span)
        }
    }
}

/// Builds a transform that does not count its copies (the transformed filters). If `of` is also a transform, both form a single
/// orbit, that is, one set of copies. A `count` or a range of the inner transform then applies to all copies of the orbit.
pub(super) fn transformed(kind: TransformKind, of: Node, span: Span) -> Node {
    let of = match of {
        Node::Squares(of) => return filter(S::Form(Keyword::Transform(kind, of)), span),
        Node::Number(of) => of,
        other => return filter(C::Form(ConditionKeyword::Transform(kind, other)), span),
    };
    let around = |of| Number::new(N::Form(NumberKeyword::Number(Keyword::Transform(kind, of))), span);
    let at = of.span();
    match of.into_op() {
        N::InRange { lo, hi, of } if of.node().is_transform() => {
            filter(N::InRange { lo, hi, of: around(of) }, span)
        }
        op => around(Number::new(op, at)).into(),
    }
}

fn list_of_cql_5(span: Span) -> Diagnostic {
    Diagnostic::error(span, "a list of CQL 5 inside a query of CQL 6", "the dialects are not mixed").help(
        "in CQL 5 the list is the whole query, with transforms and conditions inside: `(position Ra1 :wtm :flip)`",
    )
}

pub(super) fn color_word(word: &str) -> Option<Color> {
    match word {
        "white" => Some(Color::White),
        "black" => Some(Color::Black),
        _ => None,
    }
}
