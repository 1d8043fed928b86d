//! Reads keyword filters, that is, filters that begin with a word of CQL.

use shakmaty::{Bitboard, Square};

use super::{
    Dialect,
    parser::{C, N, P, ParseResult, Parser, S, T, filter, transformed},
    ranges::{CountMode, Range, Within},
    token::Tok,
    tree::{
        ConditionKeyword, Dirs, GameSquares, Keyword, Kind as _, NoTransform, Node, Number, NumberKeyword,
        Of, OneOrMore, Pieces, PinPart, Ref, Spelt, Squares, Text, TransformKind, Type, Written,
    },
    valued::kind_of,
    words::{self, WordReading, WordStatus, WordValue, directions, transform},
};
use orbit_core::{
    board::{Code, PieceSet},
    diagnostic::{Diagnostic, Span},
};

impl Parser {
    /// Reads a filter that begins with `word`, which is the current token.
    pub(super) fn word(&mut self, word: &str) -> ParseResult<Node> {
        match words::reading(word) {
            Some(WordReading::Transform(_)) => self.transform_word(word),
            Some(WordReading::Direction(dirs)) => self.direction(dirs),
            Some(WordReading::Filter(read)) => read(self, word),
            Some(WordReading::BeforeText(read)) if matches!(self.peek(1), Tok::Str(_)) => read(self, word),
            _ => self.name(word),
        }
    }

    /// Reads a filter that consists of one word, the current token.
    pub(super) fn leaf<O>(&mut self, op: O) -> Node
    where
        Of<O, Written>: Into<Node>,
    {
        let span = self.bump();
        filter(op, span)
    }

    pub(super) fn not(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let of = self.not_operand()?;
        self.refuse_alone(None, &of)?;
        let span = span.to(of.span());
        self.note_kept_assignment(span, &of);
        Ok(filter(C::Not(of), span))
    }

    /// Adds a warning about a filter such as `not x=3`: it fails, but `x` keeps its new value.
    fn note_kept_assignment(&mut self, span: Span, of: &Node) {
        let Node::Condition(f) = of else { return };
        let C::Assign(var, _) = f.op() else { return };
        let name = &self.vars[var.0 as usize].name;
        let remark = Diagnostic::warning(
            span,
            format!("`{name}` is assigned under `not`"),
            "the value stays, whether or not this matches",
        );
        let help = format!("to compare write `not {name} == ...`; to assign, leave `not` out");
        self.remarks.push(remark.help(help));
    }

    pub(super) fn notransform(&mut self) -> ParseResult<Node> {
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

    /// Reads `typename` or `piecename` and its operand, a set.
    pub(super) fn letter(&mut self, word: &str) -> ParseResult<Node> {
        let spelt = if word == "piecename" { Spelt::Piece } else { Spelt::Type };
        self.of_set(|of| C::ContentIs { contents: PieceSet::ALL, of, spelt: Some(spelt) })
    }

    pub(super) fn elo(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let side = self.color();
        Ok(filter(N::Elo(side), span.to(self.last_span())))
    }

    pub(super) fn player(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let side = self.color();
        self.text(T::Player(side), span)
    }

    /// Reads a filter such as `tag "Annotator"`, whose value is the value of that tag.
    pub(super) fn any_tag(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let name = self.literal("the name of a tag", "tag \"Annotator\"")?;
        Ok(filter(T::Tag(name), span.to(self.last_span())))
    }

    fn name(&mut self, word: &str) -> ParseResult<Node> {
        let span = self.span();
        let has_parentheses = self.text[span.end..].trim_start().starts_with('(');
        if word == "cql" && self.position() == 0 && !has_parentheses {
            return Err(Diagnostic::error(span, "`cql` without parentheses", "write `cql()`")
                .help("they hold the parameters of a query, and may be empty: `cql() check`"));
        }
        if word == "cql" {
            return Err(Diagnostic::error(span, "`cql(...)` inside a query", "it may only begin one"));
        }
        if words::is_inside(word) {
            let found = words::find(Dialect::Cql6, word).filter(|known| known.value == WordValue::NoValue);
            let label = found.map_or("expected a filter before it".into(), |known| {
                format!("it belongs to another filter: `{}`", known.form(word))
            });
            return Err(Diagnostic::error(span, format!("found `{word}`"), label));
        }
        if let Some(node) = self.known_name(word)? {
            return Ok(node);
        }
        if let Some(WordStatus::Refused(why)) = words::find(Dialect::Cql6, word).map(|known| known.status) {
            return Err(Diagnostic::error(span, format!("`{word}` is no filter"), why));
        }
        if words::parameter(word).is_some() {
            return Err(self.slip_of_parameter(word));
        }
        if let Some(slip) = self.slip_of_word(word) {
            return Err(slip);
        }
        let mut error = Diagnostic::error(span, format!("unknown word `{word}`"), "no filter or variable");
        if let Some(query) = super::slips::material(word) {
            error = error.help(format!("exactly this material is `{query}`"));
        } else if word.chars().all(|c| "KQRBNPkqrbnpAa_".contains(c)) {
            error = error.help(format!("several pieces are written in brackets: `[{word}]`"));
        } else if let Some(range) = whole_line(word) {
            error = error.help(format!("a file or a rank is a range of squares: write `{range}`"));
        } else if self.assigns_ahead(word) {
            error = error.help("it is assigned further on, and may be read behind its first assignment");
        } else if let Some(hint) = words::nearest(Dialect::Cql6, word) {
            error = error.help(format!("did you mean `{hint}`?"));
        } else if let Some(help) = self.name_of_something(word) {
            error = error.help(help);
        }
        Err(error)
    }

    // ---- transforms

    pub(super) fn transform_word(&mut self, word: &str) -> ParseResult<Node> {
        let kind = transform(word).expect("callers name a transform");
        let span = self.bump();
        let counting = self.counting(kind)?;
        if counting.is_none() {
            self.transform_trap(word, span);
        }
        let arg = self.argument()?;
        let what = if let Some(CountMode::Count) = counting { "count" } else { "" };
        self.swallowed(word, what, counting.is_some(), span, &arg);
        let span = span.to(arg.span());
        let Some(counting) = counting else { return Ok(transformed(kind, arg, span)) };
        self.refuse_alone(None, &arg)?;
        let count = N::Form(NumberKeyword::Counted(kind, counting.counted(), arg));
        Ok(counting.around(Number::new(count, span)).into())
    }

    fn counting(&mut self, kind: TransformKind) -> ParseResult<Option<CountMode>> {
        if self.is_word("count") {
            let span = self.bump();
            if kind == TransformKind::ReverseColor {
                return Err(Diagnostic::error(
                    span,
                    "`reversecolor` takes no `count`",
                    "it has a single copy",
                ));
            }
            return Ok(Some(CountMode::Count));
        }
        let Some(range) = self.range(Parser::begins_filter)? else { return Ok(None) };
        if kind == TransformKind::ReverseColor {
            return Err(Diagnostic::error(
                self.last_span(),
                "`reversecolor` takes no range",
                "it has a single copy",
            ));
        }
        Ok(Some(CountMode::Range(range.within())))
    }

    pub(super) fn begins_filter(&self) -> bool {
        match self.tok() {
            Tok::End => false,
            Tok::Sign(sign) => ["(", "{", ".", "[]", "~", "#", "[forall]", "--", "[x]"].contains(sign),
            Tok::Word(word) => !words::is_inside(word),
            _ => true,
        }
    }

    /// Adds a warning about two words such as `shift horizontal`, which were probably meant as the single word `shifthorizontal`.
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

    /// Adds a warning if an operator is part of a transform's argument, although it was probably meant to apply to the whole
    /// transform. The argument of a transform extends as far to the right as possible.
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
            // If parentheses enclose the whole argument, the user made the operators part of it on purpose, so there is no warning.
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

    fn direction(&mut self, dirs: Dirs) -> ParseResult<Node> {
        let span = self.bump();
        let at = self.span();
        let within = self.range(|_| true)?.map_or(Within::Known(1, 7), Range::within);
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

    pub(super) fn shade(&mut self, light: bool) -> ParseResult<Node> {
        let span = self.bump();
        let of = self.primary()?;
        let of = self.want_squares(of, "a square colour")?;
        let span = span.to(of.span());
        Ok(filter(S::Shade { light, of }, span))
    }

    pub(super) fn between(&mut self) -> ParseResult<Node> {
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

    fn set_list(&mut self, user: &str) -> ParseResult<Vec<Squares>> {
        let open = self.expect_sign("(", &format!("after `{user}`"))?;
        let mut sets = Vec::new();
        while !self.closes(open)? {
            let set = self.inside(Parser::arrows)?;
            sets.push(self.want_squares(set, &format!("`{user}`"))?);
        }
        self.bump();
        Ok(sets)
    }

    pub(super) fn ray(&mut self, mut attack: bool) -> ParseResult<Node> {
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

    pub(super) fn pin(&mut self) -> ParseResult<Node> {
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
        // Transforms change designators, so the default target, the kings, is put under `notransform`. It names the kings of both
        // colours, so it is correct even after a swap of colours.
        let kings = || {
            let kings = PieceSet::only(Code(6)).union(PieceSet::only(Code(14)));
            let pieces = Pieces::listed(kings);
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

    pub(super) fn of_set<O>(&mut self, op: impl FnOnce(Squares) -> O) -> ParseResult<Node>
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

    pub(super) fn of_number(&mut self, op: fn(Number) -> N) -> ParseResult<Node> {
        let span = self.bump();
        let of = self.sum()?;
        let of = self.want_number(of, "this function")?;
        let span = span.to(of.span());
        Ok(filter(op(of), span))
    }

    pub(super) fn makesquare(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let open = self.span();
        if !self.eat_sign("(") {
            let name = self.sum()?;
            let name = self.want_text(name, "`makesquare` without parentheses")?;
            return Ok(self.square_of(name, span));
        }
        let mut args = Vec::new();
        while !self.closes(open)? {
            let arg = self.inside(Parser::sum)?;
            if let (true, Type::Str) = (args.is_empty(), kind_of(&arg)) {
                let name = self.want_text(arg, "`makesquare`")?;
                self.expect_sign(")", "after the name of the square")?;
                return Ok(self.square_of(name, span));
            }
            args.push(self.want_number(arg, "`makesquare`")?);
        }
        self.bump();
        let span = span.to(self.last_span());
        let [file, rank] = <[Number; 2]>::try_from(args).map_err(|_| {
            Diagnostic::error(span, "`makesquare` takes a file and a rank", "expected two numbers")
        })?;
        Ok(filter(S::MakeSquare { file, rank }, span))
    }
}

impl Parser {
    /// Builds `makesquare` with the name of a square. If the name is a literal, the result is a constant.
    fn square_of(&mut self, name: Text, span: Span) -> Node {
        let span = span.to(self.last_span());
        let T::Literal(literal) = name.op() else {
            return filter(S::Game(GameSquares::SquareOf(name)), span);
        };
        let square = literal.parse::<Square>().map_or(Bitboard::EMPTY, Bitboard::from);
        if square.is_empty() {
            let message = format!("`{literal}` is no square");
            let remark = Diagnostic::warning(name.span(), message, "it never matches; squares are a1 to h8");
            self.remarks.push(remark);
        }
        filter(S::Constant(square), span)
    }
}

/// Returns the designator that was probably meant by `Pd` or `R7`, that is, pieces on a whole file or rank.
fn whole_line(word: &str) -> Option<String> {
    let (pieces, line) = word.split_at_checked(word.len().checked_sub(1)?)?;
    if !pieces.chars().all(|c| "KQRBNPkqrbnpAa".contains(c)) {
        return None;
    }
    let squares = match line.as_bytes() {
        [b'a'..=b'h'] => format!("{line}1-8"),
        [b'1'..=b'8'] => format!("a-h{line}"),
        _ => return None,
    };
    Some(if pieces.len() > 1 { format!("[{pieces}]{squares}") } else { format!("{pieces}{squares}") })
}
