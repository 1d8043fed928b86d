//! Rejects numbers and strings that stand alone where a condition is needed, such as `3` or `"Carlsen"`.
//!
//! A lone number or string is not a condition. It is usually left over from a comparison, a range or a count that the user wrote
//! incorrectly.

use super::{
    parser::{C, N, ParseResult, Parser, T, typed},
    token::Tok,
    tree::{Control, GameText, Keyword, Node, NumberKeyword, Type},
};
use orbit_core::{
    board::PieceSet,
    diagnostic::{Diagnostic, Span},
};

/// A kind of filter that is not a condition by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alone {
    Number,
    Literal,
    /// The number 1 or -1, written as `white` or `black`.
    Side,
    /// A computed value, such as `max(...)` or `fen`. The user usually meant a comparison, or wants the value listed with each hit.
    Value,
}

fn alone(node: &Node) -> Option<Alone> {
    match node {
        Node::Number(f) => match f.op() {
            N::Int(_) => Some(Alone::Number),
            N::Neg(of) if matches!(of.op(), N::Int(_)) => Some(Alone::Number),
            N::Control(Control::Braces { last, .. }) => alone(&last.clone().into()),
            N::ColorValue(_) => Some(Alone::Side),
            // CQL accepts `flip {Ra1 5}`, in which the number 5 is the value of the braces.
            N::Form(NumberKeyword::Number(Keyword::Transform(_, of) | Keyword::NoTransform(of))) => {
                if matches!(of.op(), N::Control(Control::Braces { .. })) {
                    None
                } else {
                    alone(&of.clone().into())
                }
            }
            N::Max(_) | N::Min(_) => Some(Alone::Value),
            _ => None,
        },
        Node::Text(f) => match f.op() {
            T::Literal(_) => Some(Alone::Literal),
            T::Control(Control::Braces { last, .. }) => alone(&last.clone().into()),
            T::Game(
                GameText::Fen
                | GameText::Written(_)
                | GameText::CurrentTransform(_)
                | GameText::Extremum { .. },
            ) => Some(Alone::Value),
            _ => None,
        },
        // The filter `typename S` or `piecename S` without a comparison.
        Node::Condition(f)
            if matches!(f.op(), C::ContentIs { contents: PieceSet::ALL, spelt: Some(_), .. }) =>
        {
            Some(Alone::Value)
        }
        _ => None,
    }
}

/// Returns true if a text is a number from 1400 to 2199, which is probably a year.
fn is_year(text: &str) -> bool {
    text.parse().is_ok_and(|year: u32| (1400..2200).contains(&year))
}

impl Parser {
    /// Returns an error if `node` is a number or a string instead of a condition. `before` is the preceding filter, of which `node`
    /// was probably meant to be a part.
    pub(super) fn refuse_alone(&self, before: Option<&Node>, node: &Node) -> ParseResult<()> {
        let Some(alone) = alone(node) else { return Ok(()) };
        let span = node.span();
        let text = self.quoted(span);
        let message = match alone {
            Alone::Number => format!("the number {text} as a condition"),
            Alone::Literal => format!("the text {text} as a condition"),
            Alone::Side | Alone::Value => format!("`{text}` as a condition"),
        };
        let fault = Diagnostic::error(span, message, "no position is matched against it");
        Err(match self.remedy(alone, before, span) {
            Some(help) => fault.help(help),
            None => fault,
        })
    }

    /// Returns an error if the last filter of a query is a number or a string instead of a condition. If it is a computed value, or
    /// a string literal that is the whole query, adds only a warning, because orbit lists the value for each hit.
    pub(super) fn refuse_alone_at_end(&mut self, before: Option<&Node>, node: &Node) -> ParseResult<()> {
        match alone(node) {
            Some(Alone::Value) => {}
            Some(Alone::Literal) if before.is_none() => {}
            _ => return self.refuse_alone(before, node),
        }
        let text = self.quoted(node.span());
        let remark =
            Diagnostic::warning(node.span(), format!("`{text}` as a condition"), "CQL 6.2 refuses this")
                .help(match (alone(node), before) {
                    (Some(Alone::Literal), None) => {
                        format!("it matches every position, which is listed with it; a player is asked for by `player {text}`")
                    }
                    _ => "its value is listed here, and it matches where it has one".into(),
                });
        self.remarks.push(remark);
        Ok(())
    }

    /// Returns an error if a repetition count with blanks, such as `{3 9}`, follows. This is the syntax of CQL 6.0. The parser has
    /// already read the `{`.
    pub(super) fn refuse_count_with_blanks(&self, open: Span) -> ParseResult<()> {
        let counts: Vec<String> = (0..)
            .map_while(|ahead| match self.peek(ahead) {
                Tok::Int(count) => Some(count.to_string()),
                _ => None,
            })
            .collect();
        if counts.len() < 2 || !matches!(self.peek(counts.len()), Tok::Sign("}")) {
            return Ok(());
        }
        let span = open.to(self.peek_span(counts.len()));
        Err(Diagnostic::error(span, "only numbers in braces", "no position is matched against them").help(
            format!("to repeat what stands before them write `{{{}}}`, without blanks", counts.join(",")),
        ))
    }

    fn remedy(&self, alone: Alone, before: Option<&Node>, span: Span) -> Option<String> {
        let text = self.quoted(span);
        if text == "fen" && matches!(self.tok(), Tok::Int(_)) {
            return Some("the ranks of a board stand in quotation marks: `fen \"8/8/8/8/8/8/8/8\"`".into());
        }
        if alone == Alone::Side {
            return Some(match self.tok() {
                Tok::Str(name) => format!("to look for a name write `player {text} \"{name}\"`"),
                Tok::Word(word) if word == "elo" => {
                    format!("the colour stands behind its filter: `elo {text}`")
                }
                _ => format!("to ask for the side to move write `sidetomove == {text}`"),
            });
        }
        if self.is_sign(",") {
            return Some("counts and lists of squares have no blanks, `check{2,3}` and `R[a1,h8]`".into());
        }
        let before = before.map(|node| (typed(node).0, self.quoted(node.span())));
        let Some((ty, before)) = before else {
            return match alone {
                Alone::Value => Some(format!("to compare write `{text} == ...`")),
                Alone::Number if is_year(text) => Some(format!("a year is compared: `year == {text}`")),
                _ => None,
            };
        };
        match (alone, ty) {
            (Alone::Number, Type::Num | Type::Set) => Some(match *self.tok() {
                Tok::Int(last) => {
                    format!("a range is two comparisons: `{before} >= {text} {before} <= {last}`")
                }
                _ => format!("to compare write `{before} == {text}`, or with `<=`, `>=`"),
            }),
            (Alone::Number, Type::Position) if before == "child" => {
                Some(format!("the number of a child stands in parentheses: `child({text})`"))
            }
            (_, Type::Str) => Some(format!("to compare write `{before} == {text}`")),
            (Alone::Value, _) => Some(format!("to compare write `{text} == ...`")),
            _ => None,
        }
    }

    fn quoted(&self, span: Span) -> &str {
        &self.text[span.start..span.end]
    }
}
