//! Reads filters that write text into games or print it, and `sort`, which determines the order of the games.

use super::{
    parser::{C, N, ParseResult, Parser, T, filter, name_of, typed},
    state::NAMES_MAX,
    token::Tok,
    tree::{GameCondition, GameNumber, GameText, Node, Number, Ref, Sort, SortId},
    valued::valued,
};
use orbit_core::diagnostic::{Diagnostic, Span};

impl Parser {
    /// Reads `comment(a b ...)`, `comment a`.
    pub(super) fn comment(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let of = self.joined()?;
        Ok(filter(C::Game(GameCondition::Comment(of)), span.to(self.last_span())))
    }

    /// Reads a comment `/// a b ...`, which ends with the line or with the enclosing filter.
    pub(super) fn line_comment(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let end = self.text[span.end..].find('\n').map_or(self.text.len(), |len| span.end + len);
        let outer = std::mem::replace(&mut self.state.joins, true);
        let reach = self.stop_at_byte(end);
        let mut of = Vec::new();
        while !matches!(self.tok(), Tok::End | Tok::Sign(")" | "}" | "]")) {
            of.push(valued(self.inside(Parser::node)?));
        }
        self.reach(reach);
        self.state.joins = outer;
        Ok(filter(C::Game(GameCondition::Comment(of)), span.to(self.last_span())))
    }

    /// Reads `message [quiet] (a b ...)`.
    pub(super) fn message(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let quiet = self.eat_word("quiet");
        let of = self.joined()?;
        Ok(filter(C::Game(GameCondition::Message { quiet, of }), span.to(self.last_span())))
    }

    /// Reads `sort [quiet] [min | max] ["name"] F`.
    pub(super) fn sort(&mut self) -> ParseResult<Node> {
        let span = self.bump();
        let (mut quiet, mut smallest) = (false, false);
        loop {
            if self.eat_word("quiet") {
                quiet = true;
            } else if (self.is_word("min") || self.is_word("max")) && *self.peek(1) != Tok::Sign("(") {
                smallest = self.is_word("min");
                self.bump();
            } else {
                break;
            }
        }
        let name = match self.tok().clone() {
            Tok::Str(name) => {
                self.bump();
                Some(name)
            }
            _ if smallest => {
                return Err(Diagnostic::error(
                    self.span(),
                    format!("found {}", self.found()),
                    "`sort min` needs a name: `sort min \"moves\" ply`",
                ));
            }
            _ => None,
        };
        let of = valued(self.argument()?);
        let at = of.span();
        if smallest && of.any(is_echo) {
            return Err(Diagnostic::error(
                span,
                "`sort min` of an `echo`",
                "an `echo` has its largest value only: write `sort` without `min`",
            ));
        }
        let whole = span.to(at);
        match of {
            Node::Number(of) => self.sorted(name, smallest, quiet, of, whole),
            Node::Squares(of) => {
                let count = Number::new(N::Cardinality(of), at);
                self.sorted(name, smallest, quiet, count, whole)
            }
            Node::Text(of) => {
                let sort = self.sort_by(name, [smallest, quiet, true], whole)?;
                Ok(filter(T::Game(GameText::Sort { sort, of }), whole))
            }
            other => {
                let (found, at) = typed(&other);
                Err(Diagnostic::error(
                    at,
                    format!("`sort` by {}", name_of(found)),
                    "games are sorted by a number, a string, or the size of a set of squares",
                )
                .help("`sort` takes all to its right; parentheses end it: `(sort \"n\" #A) and check`"))
            }
        }
    }

    fn sorted(
        &mut self,
        name: Option<String>,
        smallest: bool,
        quiet: bool,
        of: Number,
        span: Span,
    ) -> ParseResult<Node> {
        let sort = self.sort_by(name, [smallest, quiet, false], span)?;
        Ok(filter(N::Game(GameNumber::Sort { sort, of }), span))
    }

    /// Returns the sort (a value by which games are sorted) with a given name. Creates the sort if the name is new. All `sort`
    /// filters with the same name share one sort.
    fn sort_by(
        &mut self,
        name: Option<String>,
        [smallest, quiet, of_text]: [bool; 3],
        span: Span,
    ) -> ParseResult<SortId> {
        let sorts = &mut self.state.sorts;
        let name = name.unwrap_or_else(|| format!("<sort-id-{}>", sorts.len() + 1));
        if let Some(index) = sorts.iter().position(|sort| sort.name == name) {
            let known = &sorts[index];
            if (known.smallest, known.of_text) != (smallest, of_text) {
                let other = if known.of_text == of_text { "in the other order" } else { "of another type" };
                return Err(Diagnostic::error(
                    span,
                    format!("`sort` by `{name}` stands twice, once {other}"),
                    "values of one name are compared with each other",
                ));
            }
            // If several `sort` filters have the same name, the `quiet` of the first one applies.
            return Ok(SortId(index as u32));
        }
        if sorts.len() == NAMES_MAX {
            return Err(Diagnostic::error(span, "too many sorts", format!("at most {NAMES_MAX}")));
        }
        sorts.push(Sort { name, smallest, quiet, of_text });
        Ok(SortId(sorts.len() as u32 - 1))
    }
}

fn is_echo(filter: Ref<super::tree::Written>) -> bool {
    match filter {
        Ref::Condition(f) => matches!(f.op(), C::Game(GameCondition::Echo(_))),
        Ref::Number(f) => matches!(f.op(), N::Game(GameNumber::Echo(_))),
        _ => false,
    }
}
