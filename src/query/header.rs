//! The `cql( ... )` header that begins a query file.

use super::{
    lexer::lex,
    parser::{C, N, Parsed, Parser, filter},
    token::{skip_blank, unsupported},
    tree::{Cmp, Node, Number},
    words::{self, Parameter},
};
use crate::diagnostic::{Diagnostic, Span};

/// A header: where it ends in the text, and what it says in bytes `inside`.
pub(super) struct Header {
    pub end: usize,
    inside: Span,
}

/// Finds a header at the start of a query. File names in it follow no rule of the language, so it
/// is cut out before the text is lexed.
pub(super) fn find(text: &str) -> Parsed<Option<Header>> {
    let start = text.len() - skip_blank(text).len();
    let rest = &text[start..];
    let Some(after) = rest.strip_prefix("cql") else { return Ok(None) };
    let blank = after.len() - after.trim_start().len();
    if !after.trim_start().starts_with('(') {
        return Ok(None);
    }
    let open = start + 3 + blank;
    let mut quoted = false;
    for (at, c) in text[open..].char_indices() {
        match c {
            '"' => quoted = !quoted,
            ')' if !quoted => {
                let inside = Span::new(open + 1, open + at);
                return Ok(Some(Header { end: open + at + 1, inside }));
            }
            _ => {}
        }
    }
    Err(Diagnostic::error(Span::new(open, open + 1), "the header is not closed", "close it with `)`"))
}

/// What a header asks for.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Filters that must match as well.
    pub filters: Vec<Node>,
    /// Whether side lines are searched.
    pub variations: bool,
}

impl Header {
    /// Reads the parameters; those that name files or output become notes.
    pub fn read(&self, text: &str, remarks: &mut Vec<Diagnostic>) -> Parsed<Asked> {
        let mut inside = Words { text, at: self.inside.start, end: self.inside.end };
        let Asked { mut filters, mut variations } = Asked::default();
        while let Some((word, span)) = inside.next() {
            match words::parameter(word) {
                Some(Parameter::Value) => {
                    let value = inside.value(word, span)?;
                    remarks.push(Diagnostic::note(
                        span.to(value.1),
                        format!("`{word}` in the header has no effect"),
                        "files and output are chosen on the command line",
                    ));
                }
                Some(Parameter::Switch) => remarks.push(Diagnostic::note(
                    span,
                    format!("`{word}` in the header has no effect"),
                    "output is chosen on the command line",
                )),
                Some(Parameter::Result) => {
                    let (value, at) = inside.value(word, span)?;
                    let mut parser = Parser::new(value, lex(value)?);
                    let result = parser.result_value().map_err(|e| Diagnostic { span: at, ..e })?;
                    filters.push(filter(C::Result(result), span.to(at)));
                }
                Some(Parameter::Games) => {
                    let (lo, at) = inside.number(word, span)?;
                    let (hi, at) = inside.peek_number().map_or((lo, at), |found| {
                        inside.next();
                        found
                    });
                    filters.extend(game_range(lo, hi, span.to(at)));
                }
                Some(Parameter::Variations) => variations = true,
                Some(Parameter::Unbuilt) => {
                    return Err(unsupported(span, &format!("the header parameter `{word}`")));
                }
                None => {
                    return Err(Diagnostic::error(
                        span,
                        format!("`{word}` is no parameter of a header"),
                        format!("expected {}", words::parameters()),
                    ));
                }
            }
        }
        Ok(Asked { filters, variations })
    }
}

fn game_range(lo: i32, hi: i32, span: Span) -> [Node; 2] {
    [(Cmp::Ge, lo), (Cmp::Le, hi)].map(|(cmp, bound)| {
        let [number, bound] = [N::GameNumber, N::Int(bound)].map(|op| Number::new(op, span));
        filter(N::Compare(cmp, number, bound), span)
    })
}

struct Words<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<(&'a str, Span)> {
        let rest = &self.text[self.at..self.end];
        let start = self.at + rest.len() - rest.trim_start().len();
        let rest = &self.text[start..self.end];
        if rest.is_empty() {
            return None;
        }
        let len = match rest.strip_prefix('"') {
            Some(inner) => inner.find('"').map_or(rest.len(), |close| close + 2),
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        self.at = start + len;
        Some((&rest[..len], Span::new(start, start + len)))
    }

    fn value(&mut self, word: &str, span: Span) -> Parsed<(&'a str, Span)> {
        self.next().ok_or_else(|| Diagnostic::error(span, format!("`{word}` lacks its value"), "add it"))
    }

    fn number(&mut self, word: &str, span: Span) -> Parsed<(i32, Span)> {
        let (value, at) = self.value(word, span)?;
        let number = value.parse().map_err(|_| {
            Diagnostic::error(at, format!("`{value}` is no number"), format!("expected `{word} 1 100`"))
        })?;
        Ok((number, at))
    }

    fn peek_number(&self) -> Option<(i32, Span)> {
        let (word, at) = Words { ..*self }.next()?;
        Some((word.parse().ok()?, at))
    }
}
