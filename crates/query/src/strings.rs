//! Parses string operators and string filters: `[i:j]`, `~~`, `int`, `ascii`, `uppercase`, `indexof`, `max`, `min` and the operands
//! of `str`, `comment` and `message`.

use super::{
    parser::{N, ParseResult, Parser, T, filter, name_of, typed},
    token::Tok,
    tree::{GameNumber, GameText, Node, Number, Of, OneOrMore, Text, Type, Written},
    valued::{kind_of, valued},
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// The part of a string that `[...]` selects.
pub(super) enum StringPart {
    /// One letter, `[i]`.
    Letter(Number),
    /// A range of letters, `[i:j]`.
    Slice(Option<Number>, Option<Number>),
}

impl StringPart {
    pub fn apply(self, of: Text, span: Span) -> Node {
        let op = match self {
            StringPart::Letter(at) => GameText::Letter { of, at },
            StringPart::Slice(from, to) => GameText::Slice { of, from, to },
        };
        filter(T::Game(op), span)
    }
}

impl Parser {
    /// Reads `[i]` or `[i:j]` after the string `of`. The current token is the `[`.
    pub(super) fn index(&mut self, of: Node) -> ParseResult<Node> {
        let of = self.want_text(of, "`[`")?;
        let span = of.span();
        let part = self.bounds()?;
        Ok(part.apply(of, span.to(self.last_span())))
    }

    /// Reads `[i]`, `[i:j]`, `[i:]`, `[:j]`, `[:]`.
    pub(super) fn bounds(&mut self) -> ParseResult<StringPart> {
        self.bump();
        let bound = |parser: &mut Parser, end: &str| {
            if parser.is_sign(end) {
                return Ok(None);
            }
            let bound = parser.inside(Parser::sum)?;
            parser.want_number(bound, "a part of a string").map(Some)
        };
        let from = bound(self, ":")?;
        let part = if self.eat_sign(":") {
            StringPart::Slice(from, bound(self, "]")?)
        } else {
            match from {
                Some(at) => StringPart::Letter(at),
                None => StringPart::Slice(None, None),
            }
        };
        self.expect_sign("]", "behind the part of a string")?;
        Ok(part)
    }

    /// Reads the rest of `s ~~ "re"`. `left` is the string.
    pub(super) fn regex_match(&mut self, left: Node) -> ParseResult<Node> {
        let text = self.want_text(left, "`~~`")?;
        self.bump();
        let at = self.span();
        let Tok::Str(pattern) = self.tok().clone() else {
            return Err(Diagnostic::error(
                at,
                format!("found {}", self.found()),
                "expected a regular expression in quotation marks",
            )
            .help("for example: `player white ~~ \"^Carlsen\"`"));
        };
        let pattern = self.state.patterns.read(&pattern, at)?;
        self.bump();
        let span = text.span().to(at);
        Ok(filter(T::Game(GameText::Match { text, pattern }), span))
    }

    /// Reads a word and the string to which it applies, as in `uppercase s`. Operators after the string are not part of it.
    pub(super) fn of_text<O>(&mut self, op: impl FnOnce(Text) -> O) -> ParseResult<Node>
    where
        Of<O, Written>: Into<Node>,
    {
        let user = self.found();
        let span = self.bump();
        let of = self.primary()?;
        let of = self.want_text(of, &user)?;
        let span = span.to(of.span());
        Ok(filter(op(of), span))
    }

    /// Reads `int s`.
    pub(super) fn int(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let of = self.sum()?;
        let of = self.want_text(of, "`int`")?;
        let span = span.to(of.span());
        Ok(filter(N::Game(GameNumber::ToNumber(of)), span))
    }

    /// Reads `uppercase s`, `lowercase s`.
    pub(super) fn case(&mut self, word: &str) -> ParseResult<Node> {
        let upper = word == "uppercase";
        self.of_text(|of| T::Game(GameText::Case { upper, of }))
    }

    /// Reads `ascii n`, `ascii "c"`.
    pub(super) fn ascii(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let of = self.sum()?;
        let span = span.to(of.span());
        match valued(of) {
            Node::Number(of) => Ok(filter(T::Game(GameText::OfCode(of)), span)),
            Node::Text(of) => Ok(filter(N::Game(GameNumber::CodeOf(of)), span)),
            other => Err(Diagnostic::error(
                other.span(),
                format!("`ascii` of {}", name_of(other.ty())),
                "expected a number or a string of one letter",
            )),
        }
    }

    /// Reads `indexof(a b)`.
    pub(super) fn index_of(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        self.expect_sign("(", "after `indexof`")?;
        let text = |parser: &mut Parser| {
            let text = parser.inside(Parser::sum)?;
            parser.want_text(text, "`indexof`")
        };
        let [part, whole] = [text(self)?, text(self)?];
        let span = span.to(self.expect_sign(")", "behind the two strings of `indexof`")?);
        Ok(filter(N::Game(GameNumber::IndexOf(part, whole)), span))
    }

    /// Reads `max(a b ...)` or `min(a b ...)`. The operands are numbers or strings.
    pub(super) fn extremum(&mut self, largest: bool) -> ParseResult<Node> {
        let span = self.bump();
        let open = self.expect_sign("(", "after `max` or `min`")?;
        let mut args: Vec<Node> = Vec::new();
        while !self.closes(open)? {
            let arg = valued(self.inside(Parser::sum)?);
            let texts = args.first().is_some_and(|first| kind_of(first) == Type::Str);
            match (&arg, args.is_empty()) {
                (Node::Number(_) | Node::Text(_), true) => {}
                (Node::Number(_), false) if !texts => {}
                (Node::Text(_), false) if texts => {}
                _ => {
                    let (found, at) = typed(&arg);
                    let wanted = if texts { "a string" } else { "a number" };
                    return Err(Diagnostic::error(
                        at,
                        format!("`max` or `min` needs {wanted}"),
                        format!("this is {}", name_of(found)),
                    ));
                }
            }
            args.push(arg);
        }
        let span = span.to(self.bump());
        if args.len() < 2 {
            return Err(Diagnostic::error(
                span,
                "`max` and `min` compare at least two numbers",
                format!("found {}", args.len()),
            ));
        }
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        for arg in args {
            match arg {
                Node::Number(number) => numbers.push(number),
                other => texts.push(self.want_text(other, "`max` or `min`")?),
            }
        }
        Ok(match OneOrMore::new(numbers) {
            Some(of) if largest => filter(N::Max(of), span),
            Some(of) => filter(N::Min(of), span),
            None => filter(T::Game(GameText::Extremum { largest, of: texts }), span),
        })
    }

    /// Reads `str(a b ...)`, `str a`.
    pub(super) fn str(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let of = self.joined()?;
        Ok(filter(T::Game(GameText::Written(of)), span.to(self.last_span())))
    }

    /// Reads the operands of `str`, `comment` and `message`: several filters in parentheses, or a single one without parentheses. A
    /// single filter ends where the argument of a transform would end.
    pub(super) fn joined(&mut self) -> ParseResult<Vec<Node>> {
        let outer = std::mem::replace(&mut self.state.joins, true);
        let mut all = Vec::new();
        let open = self.span();
        if self.eat_sign("(") {
            while !self.closes(open)? {
                all.push(valued(self.inside(Parser::node)?));
            }
            self.bump();
        } else {
            all.push(valued(self.argument()?));
        }
        self.state.joins = outer;
        Ok(all)
    }
}
