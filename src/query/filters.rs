//! The keyword filters: everything in CQL that begins with a word.

use shakmaty::{Bitboard, Square};

use super::{
    Dialect,
    parser::{C, N, P, Parsed, Parser, S, T, filter, name_of, transformed, typed, wanted},
    ranges::{Counting, Range, Within},
    token::{Tok, unsupported},
    tree::{
        Assigned, ConditionKeyword, Control, Dirs, GameSquares, Holds, Keyword, Kind as _, Life, NoTransform,
        Node, Number, NumberKeyword, Of, OneOrMore, Pieces, PinPart, Ref, Spelt, Squares, TransformKind,
        Type, Var, VarId, Written,
    },
    words::{self, Reading, Status, Updated, directions, transform, updated},
};
use crate::{
    board::{Code, PieceSet},
    diagnostic::{Diagnostic, Span},
    query::assigned::VARS_MAX,
};

impl Parser {
    /// A filter that begins with `word`, which is the current token.
    pub(super) fn word(&mut self, word: &str) -> Parsed<Node> {
        match words::reading(word) {
            Some(Reading::Transform(_)) => self.transform_word(word),
            Some(Reading::Direction(dirs)) => self.direction(dirs),
            Some(Reading::Filter(read)) => read(self, word),
            _ => self.name(word),
        }
    }

    /// The filter that is the current word alone.
    pub(super) fn leaf<O>(&mut self, op: O) -> Node
    where
        Of<O, Written>: Into<Node>,
    {
        let span = self.bump();
        filter(op, span)
    }

    pub(super) fn not(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let of = self.not_operand()?;
        let span = span.to(of.span());
        Ok(filter(C::Not(of), span))
    }

    pub(super) fn notransform(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let of = self.node()?;
        let span = span.to(of.span());
        Ok(match of {
            Node::Condition(of) => filter(C::Form(ConditionKeyword::NoTransform(of)), span),
            Node::Squares(of) => filter(S::Form(Keyword::NoTransform(of)), span),
            Node::Number(of) => filter(N::Form(NumberKeyword::Number(Keyword::NoTransform(of))), span),
            Node::Text(of) => filter(T::Form(NoTransform(of)), span),
            Node::Position(of) => filter(P::Form(NoTransform(of)), span),
        })
    }

    /// `typename` and `piecename`.
    pub(super) fn letter(&mut self, word: &str) -> Parsed<Node> {
        let spelt = if word == "piecename" { Spelt::Piece } else { Spelt::Type };
        self.of_set(|of| C::ContentIs { contents: PieceSet::ALL, of, spelt: Some(spelt) })
    }

    pub(super) fn elo(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let side = self.color();
        Ok(filter(N::Elo(side), span.to(self.last_span())))
    }

    pub(super) fn player(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let side = self.color();
        self.text(T::Player(side), span)
    }

    /// `tag "Annotator"`.
    pub(super) fn any_tag(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let name = self.literal("the name of a tag", "tag \"Annotator\"")?;
        Ok(filter(T::Tag(name), span.to(self.last_span())))
    }

    fn name(&mut self, word: &str) -> Parsed<Node> {
        let span = self.span();
        if let Some(subject) = words::unbuilt(word) {
            return Err(unsupported(span, &subject));
        }
        if word == "cql" {
            return Err(Diagnostic::error(span, "`cql(...)` inside a query", "it may only begin one"));
        }
        if words::is_inside(word) {
            return Err(Diagnostic::error(span, format!("found `{word}`"), "expected a filter before it"));
        }
        match self.peek(1) {
            Tok::Sign("=" | "+=" | "-=" | "*=" | "/=" | "%=" | "|=" | "&=") => return self.assignment(word),
            Tok::Sign("=?") => return Err(self.unbuilt_sign(self.peek_span(1), "=?")),
            Tok::Sign("[element]") => {
                self.bump();
                self.bump();
                return self.square_loop(span, word.to_string(), false);
            }
            _ => {}
        }
        if let Some(var) = self.lookup(word) {
            self.bump();
            return Ok(self.variable(var, span));
        }
        if let Some(Status::Refused(why)) = words::find(Dialect::Cql6, word).map(|known| known.status) {
            return Err(Diagnostic::error(span, format!("`{word}` is no filter"), why));
        }
        if let Some(slip) = self.slip_of_word(word) {
            return Err(slip);
        }
        let mut error = Diagnostic::error(span, format!("unknown word `{word}`"), "no filter or variable");
        if word.chars().all(|c| "KQRBNPkqrbnpAa_".contains(c)) {
            error = error.help(format!("several pieces are written in brackets: `[{word}]`"));
        } else if let Some(hint) = words::nearest(Dialect::Cql6, word) {
            error = error.help(format!("did you mean `{hint}`?"));
        }
        Err(error)
    }

    /// The error for a sign that asks for what is not built.
    pub(super) fn unbuilt_sign(&self, span: Span, sign: &str) -> Diagnostic {
        unsupported(span, &words::unbuilt(sign).expect("the table says that it is not built"))
    }

    // ---- transforms

    pub(super) fn transform_word(&mut self, word: &str) -> Parsed<Node> {
        let kind = transform(word).expect("callers name a transform");
        let span = self.bump();
        let counting = self.counting(kind)?;
        if counting.is_none() {
            self.transform_trap(word, span);
        }
        let arg = self.argument()?;
        let what = if let Some(Counting::Count) = counting { "count" } else { "" };
        self.swallowed(word, what, counting.is_some(), span, &arg);
        let span = span.to(arg.span());
        let Some(counting) = counting else { return Ok(transformed(kind, arg, span)) };
        let count = N::Form(NumberKeyword::Counted(kind, counting.counted(), arg));
        Ok(counting.around(Number::new(count, span)).into())
    }

    fn counting(&mut self, kind: TransformKind) -> Parsed<Option<Counting>> {
        if self.is_word("count") {
            let span = self.bump();
            if kind == TransformKind::ReverseColor {
                return Err(Diagnostic::error(
                    span,
                    "`reversecolor` takes no `count`",
                    "it has a single copy",
                ));
            }
            return Ok(Some(Counting::Count));
        }
        let Some(range) = self.range(Parser::begins_filter) else { return Ok(None) };
        if kind == TransformKind::ReverseColor {
            return Err(Diagnostic::error(
                self.last_span(),
                "`reversecolor` takes no range",
                "it has a single copy",
            ));
        }
        Ok(Some(Counting::Range(range.within())))
    }

    pub(super) fn begins_filter(&self) -> bool {
        match self.tok() {
            Tok::End => false,
            Tok::Sign(sign) => {
                ["(", "{", ".", "[]", "~", "#", "[forall]", "--", "[x]"].contains(sign)
            }
            Tok::Word(word) => !words::is_inside(word),
            _ => true,
        }
    }

    /// `shift horizontal X`: two words where one was probably meant.
    fn transform_trap(&mut self, word: &str, span: Span) {
        let Tok::Word(next) = self.tok() else { return };
        let joined = format!("{word}{next}");
        if matches!(next.as_str(), "horizontal" | "vertical") && transform(&joined).is_some() {
            let next = next.clone();
            let span = span.to(self.span());
            self.remarks.push(
                Diagnostic::warning(
                    span,
                    format!("`{word} {next}` is `{word}` around the direction filter `{next}`"),
                    "two filters",
                )
                .help(format!("the transform is one word: `{joined}`")),
            );
        }
    }

    /// Remarks on what a transform took in: it takes everything to its right.
    fn swallowed(&mut self, word: &str, count: &str, counted: bool, span: Span, arg: &Node) {
        let takes = match arg {
            Node::Number(f) if matches!(f.op(), N::Compare(..)) => "comparison",
            Node::Condition(f) => match f.op() {
                C::Differ(..) | C::SetEq { .. } => "comparison",
                C::And(..) | C::Or(..) => "`and` or `or`",
                _ => "",
            },
            _ => "",
        };
        let comparison = takes == "comparison";
        if !takes.is_empty()
            && (!comparison || counted)
            && let [left, _] = arg.node().children()[..]
        {
            let counts = matches!(left, Ref::Number(f) if matches!(f.op(), N::Cardinality(_)));
            // Parentheses around the whole argument say that it was meant so.
            if arg.span().start == left.mark().start || comparison && counts {
                let what = if count.is_empty() { word.to_string() } else { format!("{word} {count}") };
                self.remarks.push(
                    Diagnostic::warning(
                        span.to(arg.span()),
                        format!("`{what}` takes the {takes} to its right into every copy"),
                        "all of this is transformed",
                    )
                    .help(if comparison {
                        format!("to compare the number of copies write `({what} ...) == n`")
                    } else {
                        format!("to end the transform earlier write `({word} ...) and ...`")
                    }),
                );
            }
        }
        let axes = match word {
            "flipvertical" => {
                Some(("a<->h, in the vertical line between d and e", "fliphorizontal", "1<->8"))
            }
            "fliphorizontal" => {
                Some(("1<->8, in the horizontal line between 4 and 5", "flipvertical", "a<->h"))
            }
            _ => None,
        };
        if let Some((axis, other, other_axis)) = axes {
            self.remarks.push(
                Diagnostic::note(span, format!("`{word}` mirrors {axis}"), "CQL names the mirror's axis")
                    .help(format!("for {other_axis} write `{other}`")),
            );
        }
    }

    // ---- geometry

    fn direction(&mut self, dirs: Dirs) -> Parsed<Node> {
        let span = self.bump();
        let at = self.span();
        let within = self.range(|_| true).map_or(Within::Known(1, 7), Range::within);
        if let Within::Known(lo, hi) = within
            && (lo > hi || lo < -7 || hi > 7)
        {
            return Err(Diagnostic::error(
                at.to(self.last_span()),
                format!("direction range {lo} {hi}"),
                "expected two numbers from -7 to 7, the lower first",
            ));
        }
        let of = self.primary()?;
        let of = self.want_squares(of, "a direction")?;
        let span = span.to(of.span());
        Ok(match within {
            Within::Known(lo, hi) => filter(S::Direction { dirs, lo: lo as i8, hi: hi as i8, of }, span),
            Within::Read(lo, hi) => filter(S::DirectionWithin { dirs, lo, hi, of }, span),
        })
    }

    pub(super) fn shade(&mut self, light: bool) -> Parsed<Node> {
        let span = self.bump();
        let of = self.primary()?;
        let of = self.want_squares(of, "a square colour")?;
        let span = span.to(of.span());
        Ok(filter(S::Shade { light, of }, span))
    }

    pub(super) fn between(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let sets = self.set_list("between")?;
        let span = span.to(self.last_span());
        let [x, y] = <[Squares; 2]>::try_from(sets).map_err(|sets| {
            Diagnostic::error(
                span,
                format!("`between` with {} sets", sets.len()),
                "expected two: `between(K k)`",
            )
        })?;
        Ok(filter(S::Between(x, y), span))
    }

    fn set_list(&mut self, user: &str) -> Parsed<Vec<Squares>> {
        self.expect_sign("(", &format!("after `{user}`"))?;
        let mut sets = Vec::new();
        while !self.is_sign(")") {
            let set = self.inside(Parser::arrows)?;
            sets.push(self.want_squares(set, &format!("`{user}`"))?);
        }
        self.bump();
        Ok(sets)
    }

    pub(super) fn ray(&mut self, mut attack: bool) -> Parsed<Node> {
        let span = self.bump();
        let mut dirs = 0;
        while let Tok::Word(word) = self.tok().clone() {
            if word == "attack" {
                attack = true;
            } else if let Some(more) = directions(&word) {
                if dirs & more.0 != 0 {
                    return Err(Diagnostic::error(
                        self.span(),
                        format!("direction `{word}` is named twice"),
                        "name each direction once",
                    ));
                }
                dirs |= more.0;
            } else {
                break;
            }
            self.bump();
        }
        let sets = self.set_list("ray")?;
        let (span, count) = (span.to(self.last_span()), sets.len());
        let Some(sets) = OneOrMore::new(sets).filter(|sets| !sets.rest.is_empty()) else {
            return Err(Diagnostic::error(
                span,
                format!("`ray` with {count} set"),
                "expected at least two: `ray(R k)`",
            ));
        };
        let dirs = if dirs == 0 { Dirs::ALL } else { Dirs(dirs) };
        Ok(filter(S::Ray { dirs, attack, sets }, span))
    }

    pub(super) fn pin(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let mut parts: [Option<Squares>; 3] = [None, None, None];
        let mut value = None;
        loop {
            let (index, part) = match self.tok() {
                Tok::Word(word) if word == "from" => (0, PinPart::From),
                Tok::Word(word) if word == "through" => (1, PinPart::Through),
                Tok::Word(word) if word == "to" => (2, PinPart::To),
                _ => break,
            };
            let at = self.bump();
            if parts[index].is_some() {
                return Err(Diagnostic::error(at, "a part of `pin` is written twice", "write each once"));
            }
            let set = self.primary()?;
            parts[index] = Some(self.want_squares(set, "`pin`")?);
            value.get_or_insert(part);
        }
        let span = span.to(self.last_span());
        let everything = || Squares::new(S::Constant(Bitboard::FULL), span);
        // Kings as a constant set expression: no designator, so no transform can empty it. Both
        // colours, so a colour swap would change nothing.
        let kings = || {
            let kings = PieceSet::only(Code(6)).union(PieceSet::only(Code(14)));
            let pieces = Pieces { all_white: false, all_black: false, list: kings };
            let kings = Squares::new(S::Designator { pieces, squares: Bitboard::FULL }, span);
            Squares::new(S::Form(Keyword::NoTransform(kings)), span)
        };
        let [from, through, to] = parts;
        let pin = S::Pin {
            value: value.unwrap_or(PinPart::Through),
            from: from.unwrap_or_else(everything),
            through: through.unwrap_or_else(everything),
            to: to.unwrap_or_else(kings),
        };
        Ok(filter(pin, span))
    }

    // ---- numbers

    pub(super) fn of_set<O>(&mut self, op: impl FnOnce(Squares) -> O) -> Parsed<Node>
    where
        Of<O, Written>: Into<Node>,
    {
        let user = self.found();
        let span = self.bump();
        let of = self.set_expression()?;
        let of = self.want_squares(of, &user)?;
        let span = span.to(of.span());
        Ok(filter(op(of), span))
    }

    pub(super) fn of_number(&mut self, op: fn(Number) -> N) -> Parsed<Node> {
        let span = self.bump();
        let of = self.sum()?;
        let of = self.want_number(of, "this function")?;
        let span = span.to(of.span());
        Ok(filter(op(of), span))
    }

    pub(super) fn extremum(&mut self, op: fn(OneOrMore<Number>) -> N) -> Parsed<Node> {
        let span = self.bump();
        self.expect_sign("(", "after `max` or `min`")?;
        let mut args = Vec::new();
        while !self.is_sign(")") {
            let arg = self.inside(Parser::sum)?;
            args.push(self.want_number(arg, "`max` or `min`")?);
        }
        self.bump();
        let span = span.to(self.last_span());
        let count = args.len();
        match OneOrMore::new(args) {
            Some(args) if count > 1 => Ok(filter(op(args), span)),
            _ => Err(Diagnostic::error(
                span,
                "`max` and `min` compare at least two numbers",
                format!("found {count}"),
            )),
        }
    }

    pub(super) fn makesquare(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let parenthesised = self.eat_sign("(");
        if let Tok::Str(name) = self.tok().clone() {
            let at = self.bump();
            if parenthesised {
                self.expect_sign(")", "after the name of the square")?;
            }
            let square: Square = name
                .parse()
                .map_err(|_| Diagnostic::error(at, format!("`{name}` is no square"), "expected a1 to h8"))?;
            return Ok(filter(S::Constant(Bitboard::from(square)), span.to(self.last_span())));
        }
        if !parenthesised {
            return Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                "expected `(file rank)` or a string: `makesquare(5 4)`, `makesquare \"e4\"`",
            ));
        }
        let mut args = Vec::new();
        while !self.is_sign(")") {
            let arg = self.inside(Parser::sum)?;
            args.push(self.want_number(arg, "`makesquare`")?);
        }
        self.bump();
        let span = span.to(self.last_span());
        let [file, rank] = <[Number; 2]>::try_from(args).map_err(|_| {
            Diagnostic::error(span, "`makesquare` takes a file and a rank", "expected two numbers")
        })?;
        Ok(filter(S::MakeSquare { file, rank }, span))
    }

    // ---- control, variables, loops

    pub(super) fn condition(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let condition = self.node()?;
        self.eat_word("then");
        let then = self.node()?;
        let other = if self.eat_word("else") { Some(self.node()?) } else { None };
        let span = span.to(self.last_span());
        Ok(match (then, other) {
            (Node::Squares(then), Some(Node::Squares(other))) => {
                filter(S::Control(Control::If { condition, then, other }), span)
            }
            (Node::Number(then), Some(Node::Number(other))) => {
                filter(N::Control(Control::If { condition, then, other }), span)
            }
            (Node::Position(then), Some(Node::Position(other))) => {
                filter(P::Control(Control::If { condition, then, other }), span)
            }
            (then, other) => filter(C::If { condition, then, other }, span),
        })
    }

    pub(super) fn lookup(&self, name: &str) -> Option<VarId> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, var)| *var)
    }

    fn declare(&mut self, name: &str, holds: Holds, span: Span) -> Parsed<VarId> {
        if self.vars.len() == VARS_MAX {
            return Err(Diagnostic::error(span, "too many variables", format!("at most {VARS_MAX}")));
        }
        let var = VarId(self.vars.len() as u32);
        self.vars.push(Var { name: name.to_string(), holds, life: Life::Game, atomic: false });
        self.scope.push((name.to_string(), var));
        Ok(var)
    }

    fn assignment(&mut self, name: &str) -> Parsed<Node> {
        let span = self.bump();
        let sign = self.sign_text();
        self.bump();
        let known = self.lookup(name);
        let value = self.sum()?;
        let (kind, at) = typed(&value);
        let mut value = match value {
            Node::Squares(value) => Assigned::Squares(value),
            Node::Number(value) => Assigned::Number(value),
            _ => {
                return Err(Diagnostic::error(
                    at,
                    format!("`{name}` cannot hold {}", name_of(kind)),
                    "variables hold sets of squares or numbers",
                ));
            }
        };
        if let Some(by) = updated(sign) {
            let Some(var) = known else {
                return Err(Diagnostic::error(span, format!("`{name}` has no value yet"), "assign it first"));
            };
            value = self.update(&format!("`{sign}`"), by, (self.variable(var, span), value))?;
        }
        let holds = if kind == Type::Set { Holds::Squares } else { Holds::Number };
        let var = match known {
            Some(var) => var,
            None => self.declare(name, holds, span)?,
        };
        let known = self.vars[var.0 as usize].holds;
        if known != holds {
            return Err(Diagnostic::error(
                span.to(at),
                format!("`{name}` holds {}, not {}", name_of(known.ty()), name_of(holds.ty())),
                "a variable keeps the type of its first value",
            ));
        }
        Ok(filter(C::Assign(var, value), span.to(at)))
    }

    /// `x += 1`: the new value of a variable.
    fn update(
        &self,
        sign: &str,
        by: Updated,
        (old, value): (Node, Assigned<Written>),
    ) -> Parsed<Assigned<Written>> {
        let span = old.span();
        match (by, value) {
            (Updated::Number(arith), Assigned::Number(value)) => {
                let old = self.want_number(old, sign)?;
                let span = span.to(value.span());
                Ok(Assigned::Number(Number::new(N::Arith(arith, old, value), span)))
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

    /// What a variable holds.
    pub(super) fn variable(&self, var: VarId, span: Span) -> Node {
        match self.vars[var.0 as usize].holds {
            Holds::Squares => filter(S::Control(Control::Var(var)), span),
            Holds::Piece => filter(S::Game(GameSquares::Piece(var)), span),
            Holds::Number => filter(N::Control(Control::Var(var)), span),
            Holds::Text => filter(T::Control(Control::Var(var)), span),
            Holds::Position => filter(P::Control(Control::Var(var)), span),
        }
    }

    pub(super) fn loop_variable(&mut self) -> Parsed<String> {
        match self.tok().clone() {
            Tok::Word(name) if !words::is_reserved(&name) => {
                self.bump();
                Ok(name)
            }
            Tok::Designator { .. } => Err(Diagnostic::error(
                self.span(),
                "a piece designator as a loop variable",
                "expected a name that is no designator, such as `s`",
            )),
            _ => Err(Diagnostic::error(
                self.span(),
                format!("found {}", self.found()),
                "expected the name of the loop's variable",
            )),
        }
    }

    pub(super) fn square_word(&mut self) -> Parsed<Node> {
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

    /// The domain and body of a square loop.
    pub(super) fn square_loop(&mut self, span: Span, name: String, all: bool) -> Parsed<Node> {
        let domain = self.set_expression()?;
        let domain = self.want_squares(domain, "a square loop")?;
        if self.lookup(&name).is_some() {
            return Err(Diagnostic::error(
                span,
                format!("`{name}` is already in use"),
                "a loop needs a variable of its own",
            ));
        }
        let var = self.declare(&name, Holds::Squares, span)?;
        let body = self.argument()?;
        self.scope.retain(|(_, known)| *known != var);
        let span = span.to(body.span());
        Ok(if all {
            filter(C::SquareAll { var, domain, body }, span)
        } else {
            filter(S::SquareLoop { var, domain, body }, span)
        })
    }
}
