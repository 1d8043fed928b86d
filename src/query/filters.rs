//! The keyword filters: everything in CQL that begins with a word.

use shakmaty::{Bitboard, Square};

use super::{
    Dialect,
    lexer::{Tok, unsupported},
    parser::{Parsed, Parser, binary, name_of, transform_type, unary, unbuilt_sign},
    ranges::{Range, Within},
    tree::{Dirs, Node, Op, Pieces, PinPart, Tally, TransformKind, Type, Var, VarId},
    words::{self, Reading, Status, compound_assignment, directions, transform},
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
    pub(super) fn leaf(&mut self, op: Op, ty: Type) -> Node {
        let span = self.bump();
        Node::new(op, ty, span, vec![])
    }

    pub(super) fn not(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let arg = self.not_operand()?;
        Ok(unary(Op::Not, Type::Bool, span, arg))
    }

    pub(super) fn notransform(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let arg = self.node()?;
        let ty = arg.ty;
        Ok(unary(Op::NoTransform, ty, span, arg))
    }

    /// `typename` and `piecename`.
    pub(super) fn letter(&mut self, word: &str) -> Parsed<Node> {
        let span = self.span();
        let mut node = self.of_set(Op::ContentIs(PieceSet::ALL), Type::Str)?;
        node.args.push(Node::new(Op::Bool(word == "piecename"), Type::Bool, span, vec![]));
        Ok(node)
    }

    pub(super) fn elo(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let side = self.color();
        Ok(Node::new(Op::Elo(side), Type::Num, span.to(self.last_span()), vec![]))
    }

    pub(super) fn player(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let side = self.color();
        self.text(Op::Player(side), span)
    }

    /// `tag "Annotator"`.
    pub(super) fn any_tag(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let name = self.literal("the name of a tag", "tag \"Annotator\"")?;
        Ok(Node::new(Op::Tag(name), Type::Str, span.to(self.last_span()), vec![]))
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
            Tok::Sign("=?") => return Err(unbuilt_sign(self.peek_span(1), "=?")),
            Tok::Sign("[element]") => {
                self.bump();
                self.bump();
                return self.square_loop(span, word.to_string(), false);
            }
            _ => {}
        }
        if let Some(var) = self.lookup(word) {
            self.bump();
            let ty = self.vars[var.0 as usize].ty;
            return Ok(Node::new(Op::Var(var), ty, span, vec![]));
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

    // ---- transforms

    pub(super) fn transform_word(&mut self, word: &str) -> Parsed<Node> {
        let kind = transform(word).expect("callers name a transform");
        let span = self.bump();
        let (tally, within) = self.tally(kind)?;
        if tally == Tally::Any {
            self.transform_trap(word, span);
        }
        let mut arg = self.argument()?;
        let what = if tally == Tally::Count && within.is_none() { "count" } else { "" };
        self.swallowed(word, what, tally != Tally::Any, span, &arg);
        // Transforms fuse, and the range of the inner one governs all copies.
        let mut fused = None;
        if tally == Tally::Any
            && arg.op == Op::InRange
            && let [_, _, Node { op: Op::Transform(..), .. }] = &arg.args[..]
        {
            let count = arg.args.pop().expect("there are three");
            fused = Some(std::mem::replace(&mut arg, count));
        }
        let ty = transform_type(tally, arg.ty);
        let node = unary(Op::Transform(kind, tally), ty, span, arg);
        Ok(match (within, fused) {
            (Some(within), _) => within.around(node),
            (None, Some(mut range)) => {
                range.span = node.span;
                range.args.push(node);
                range
            }
            (None, None) => node,
        })
    }

    fn tally(&mut self, kind: TransformKind) -> Parsed<(Tally, Option<Within>)> {
        if self.is_word("count") {
            let span = self.bump();
            if kind == TransformKind::ReverseColor {
                return Err(Diagnostic::error(
                    span,
                    "`reversecolor` takes no `count`",
                    "it has a single copy",
                ));
            }
            return Ok((Tally::Count, None));
        }
        let Some(range) = self.range(Parser::begins_filter) else { return Ok((Tally::Any, None)) };
        if kind == TransformKind::ReverseColor {
            return Err(Diagnostic::error(
                self.last_span(),
                "`reversecolor` takes no range",
                "it has a single copy",
            ));
        }
        let within = range.within();
        Ok((within.tally(), Some(within)))
    }

    pub(super) fn begins_filter(&self) -> bool {
        match self.tok() {
            Tok::End => false,
            Tok::Sign(sign) => ["(", "{", ".", "[]", "~", "#", "[forall]"].contains(sign),
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
        let takes = match &arg.op {
            Op::Compare(_) | Op::SetEq { .. } => "comparison",
            Op::And | Op::Or => "`and` or `or`",
            _ => "",
        };
        let comparison = takes == "comparison";
        if !takes.is_empty() && (!comparison || counted) && arg.args.len() == 2 {
            let operand = arg.args[0].span;
            // Parentheses around the whole argument say that it was meant so.
            if arg.span.start == operand.start || comparison && arg.args[0].op == Op::Cardinality {
                let what = if count.is_empty() { word.to_string() } else { format!("{word} {count}") };
                self.remarks.push(
                    Diagnostic::warning(
                        span.to(arg.span),
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
        let arg = self.primary()?;
        self.want(&arg, Type::Set, "a direction")?;
        Ok(match within {
            Within::Known(lo, hi) => {
                unary(Op::Direction { dirs, lo: lo as i8, hi: hi as i8 }, Type::Set, span, arg)
            }
            Within::Read(lo, hi) => {
                let span = span.to(arg.span);
                Node::new(Op::DirectionWithin { dirs }, Type::Set, span, vec![lo, hi, arg])
            }
        })
    }

    pub(super) fn shade(&mut self, light: bool) -> Parsed<Node> {
        let span = self.bump();
        let arg = self.primary()?;
        self.want(&arg, Type::Set, "a square colour")?;
        Ok(unary(Op::Shade { light }, Type::Set, span, arg))
    }

    pub(super) fn between(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let sets = self.set_list("between")?;
        if sets.len() != 2 {
            return Err(Diagnostic::error(
                span.to(self.last_span()),
                format!("`between` with {} sets", sets.len()),
                "expected two: `between(K k)`",
            ));
        }
        Ok(Node::new(Op::Between, Type::Set, span.to(self.last_span()), sets))
    }

    fn set_list(&mut self, user: &str) -> Parsed<Vec<Node>> {
        self.expect_sign("(", &format!("after `{user}`"))?;
        let mut sets = Vec::new();
        while !self.is_sign(")") {
            let set = self.inside(Parser::arrows)?;
            self.want(&set, Type::Set, &format!("`{user}`"))?;
            sets.push(set);
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
        if sets.len() < 2 {
            return Err(Diagnostic::error(
                span.to(self.last_span()),
                format!("`ray` with {} set", sets.len()),
                "expected at least two: `ray(R k)`",
            ));
        }
        let dirs = if dirs == 0 { Dirs::ALL } else { Dirs(dirs) };
        Ok(Node::new(Op::Ray { dirs, attack }, Type::Set, span.to(self.last_span()), sets))
    }

    pub(super) fn pin(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let mut parts: [Option<Node>; 3] = [None, None, None];
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
            self.want(&set, Type::Set, "`pin`")?;
            parts[index] = Some(set);
            value.get_or_insert(part);
        }
        let span = span.to(self.last_span());
        let everything = || Node::new(Op::Squares(Bitboard::FULL), Type::Set, span, vec![]);
        // Kings as a constant set expression: no designator, so no transform can empty it. Both
        // colours, so a colour swap would change nothing.
        let kings = || {
            let kings = PieceSet::only(Code(6)).union(PieceSet::only(Code(14)));
            let pieces = Pieces { all_white: false, all_black: false, list: kings };
            let node = Node::new(Op::Designator { pieces, squares: Bitboard::FULL }, Type::Set, span, vec![]);
            unary(Op::NoTransform, Type::Set, span, node)
        };
        let [from, through, to] = parts;
        let args = vec![
            from.unwrap_or_else(everything),
            through.unwrap_or_else(everything),
            to.unwrap_or_else(kings),
        ];
        Ok(Node::new(Op::Pin { value: value.unwrap_or(PinPart::Through) }, Type::Set, span, args))
    }

    // ---- numbers

    pub(super) fn of_set(&mut self, op: Op, ty: Type) -> Parsed<Node> {
        let span = self.span();
        let Tok::Word(word) = self.tok().clone() else { unreachable!("callers stand on a word") };
        self.bump();
        let arg = self.arrows()?;
        self.want(&arg, Type::Set, &format!("`{word}`"))?;
        Ok(unary(op, ty, span, arg))
    }

    pub(super) fn of_number(&mut self, op: Op) -> Parsed<Node> {
        let span = self.bump();
        let arg = self.sum()?;
        self.want(&arg, Type::Num, "this function")?;
        Ok(unary(op, Type::Num, span, arg))
    }

    pub(super) fn extremum(&mut self, op: Op) -> Parsed<Node> {
        let span = self.bump();
        self.expect_sign("(", "after `max` or `min`")?;
        let mut args = Vec::new();
        while !self.is_sign(")") {
            let arg = self.inside(Parser::sum)?;
            self.want(&arg, Type::Num, "`max` or `min`")?;
            args.push(arg);
        }
        self.bump();
        let span = span.to(self.last_span());
        if args.len() < 2 {
            return Err(Diagnostic::error(
                span,
                "`max` and `min` compare at least two numbers",
                format!("found {}", args.len()),
            ));
        }
        Ok(Node::new(op, Type::Num, span, args))
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
            let op = Op::Squares(Bitboard::from(square));
            return Ok(Node::new(op, Type::Set, span.to(self.last_span()), vec![]));
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
            self.want(&arg, Type::Num, "`makesquare`")?;
            args.push(arg);
        }
        self.bump();
        let span = span.to(self.last_span());
        if args.len() != 2 {
            return Err(Diagnostic::error(
                span,
                "`makesquare` takes a file and a rank",
                "expected two numbers",
            ));
        }
        Ok(Node::new(Op::MakeSquare, Type::Set, span, args))
    }

    // ---- control, variables, loops

    pub(super) fn condition(&mut self) -> Parsed<Node> {
        let span = self.bump();
        let mut args = vec![self.node()?];
        self.eat_word("then");
        args.push(self.node()?);
        if self.eat_word("else") {
            args.push(self.node()?);
        }
        let ty = match &args[1..] {
            [then, other] if then.ty == other.ty && then.ty != Type::Str => then.ty,
            _ => Type::Bool,
        };
        Ok(Node::new(Op::If, ty, span.to(self.last_span()), args))
    }

    pub(super) fn lookup(&self, name: &str) -> Option<VarId> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, var)| *var)
    }

    fn declare(&mut self, name: &str, ty: Type, span: Span) -> Parsed<VarId> {
        if self.vars.len() == VARS_MAX {
            return Err(Diagnostic::error(span, "too many variables", format!("at most {VARS_MAX}")));
        }
        let var = VarId(self.vars.len() as u32);
        self.vars.push(Var { name: name.to_string(), ty });
        self.scope.push((name.to_string(), var));
        Ok(var)
    }

    fn assignment(&mut self, name: &str) -> Parsed<Node> {
        let span = self.bump();
        let Tok::Sign(sign) = *self.tok() else { unreachable!("callers saw an assignment") };
        self.bump();
        let known = self.lookup(name);
        let mut value = self.sum()?;
        if !matches!(value.ty, Type::Set | Type::Num) {
            let kind = name_of(value.ty);
            return Err(Diagnostic::error(
                value.span,
                format!("`{name}` cannot hold {kind}"),
                "variables hold sets of squares or numbers",
            ));
        }
        if let Some(op) = compound_assignment(sign) {
            let Some(var) = known else {
                return Err(Diagnostic::error(span, format!("`{name}` has no value yet"), "assign it first"));
            };
            let ty = if matches!(op, Op::Arith(_)) { Type::Num } else { Type::Set };
            self.want(&value, ty, &format!("`{sign}`"))?;
            let old = Node::new(Op::Var(var), self.vars[var.0 as usize].ty, span, vec![]);
            self.want(&old, ty, &format!("`{sign}`"))?;
            value = binary(op, ty, old, value);
        }
        let var = match known {
            Some(var) => var,
            None => self.declare(name, value.ty, span)?,
        };
        let ty = self.vars[var.0 as usize].ty;
        if ty != value.ty {
            return Err(Diagnostic::error(
                span.to(value.span),
                format!("`{name}` holds {}, not {}", name_of(ty), name_of(value.ty)),
                "a variable keeps the type of its first value",
            ));
        }
        Ok(unary(Op::Assign(var), Type::Bool, span, value))
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
        let domain = self.arrows()?;
        self.want(&domain, Type::Set, "a square loop")?;
        if self.lookup(&name).is_some() {
            return Err(Diagnostic::error(
                span,
                format!("`{name}` is already in use"),
                "a loop needs a variable of its own",
            ));
        }
        let var = self.declare(&name, Type::Set, span)?;
        let body = self.argument()?;
        self.scope.retain(|(_, known)| *known != var);
        Ok(if all {
            binary_at(Op::SquareAll { var }, Type::Bool, span, domain, body)
        } else {
            binary_at(Op::SquareLoop { var }, Type::Set, span, domain, body)
        })
    }
}

fn binary_at(op: Op, ty: Type, at: Span, left: Node, right: Node) -> Node {
    let mut node = binary(op, ty, left, right);
    node.span = at.to(node.span);
    node
}
