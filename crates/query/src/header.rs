//! The header `cql(...)` at the start of a query file.

use super::{
    lexer::lex,
    parser::{C, N, ParseResult, Parser, filter},
    token::skip_blank,
    tree::{self, Cmp, Comments, Node, Number},
    words::{self, Parameter},
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// The location of a header in the text: its end, and the part between its parentheses.
pub(super) struct HeaderText {
    pub end: usize,
    inside: Span,
}

/// Finds a header at the start of a query. The header is removed before the lexer runs, because the file names in it need not be
/// valid tokens.
pub(super) fn find(text: &str) -> ParseResult<Option<HeaderText>> {
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
                return Ok(Some(HeaderText { end: open + at + 1, inside }));
            }
            _ => {}
        }
    }
    Err(Diagnostic::error(Span::new(open, open + 1), "the header is not closed", "close it with `)`"))
}

/// The contents of a header.
#[derive(Debug, Default)]
pub(super) struct HeaderRequest {
    /// Filters from the header, which must match in addition to the filters of the query.
    pub filters: Vec<Node>,
    /// True if side lines (variations) are searched too.
    pub variations: bool,
    /// All other settings of the header.
    pub header: tree::Header,
}

impl HeaderText {
    /// Reads the parameters of the header. For each parameter that only concerns files or output, adds a note.
    pub fn read(&self, text: &str, remarks: &mut Vec<Diagnostic>) -> ParseResult<HeaderRequest> {
        let mut inside = HeaderWords { text, at: self.inside.start, end: self.inside.end };
        let HeaderRequest { mut filters, mut variations, mut header } = HeaderRequest::default();
        while let Some((word, span)) = inside.next() {
            match words::parameter(word) {
                Some(Parameter::Input | Parameter::Output) => {
                    let (value, at) = inside.value(word, span)?;
                    let name = if word == "input" { &mut header.input } else { &mut header.output };
                    *name = Some(unquoted(value).to_string());
                    remarks.push(without_effect(word, span.to(at), "files and output are"));
                }
                Some(Parameter::MatchString) => {
                    let (value, at) = inside.value(word, span)?;
                    header.match_string = Some(unquoted(value).to_string());
                    remarks.push(without_effect(word, span.to(at), "files and output are"));
                }
                Some(Parameter::Quiet | Parameter::Silent) => {
                    let comments = if word == "quiet" { Comments::Quiet } else { Comments::Silent };
                    // If several parameters (`quiet`, `silent`) restrict comments, the first one applies.
                    if header.comments == Comments::default() {
                        header.comments = comments;
                    }
                    remarks.push(without_effect(word, span, "output is"));
                }
                Some(Parameter::MatchCount) => header.match_count = Some(inside.counts(word, span)?),
                Some(Parameter::Sort) => {
                    let (word, at) = inside.value(word, span)?;
                    if word != "matchcount" {
                        return Err(Diagnostic::error(
                            at,
                            format!("`sort {word}` in the header"),
                            "expected `sort matchcount 1 100`; other sorts are filters",
                        ));
                    }
                    header.match_count = Some(inside.counts(word, at)?);
                    header.sort_match_count = true;
                }
                Some(Parameter::Result) => {
                    let (value, at) = inside.value(word, span)?;
                    let here = |error| Diagnostic { span: at, ..error };
                    let mut parser = Parser::new(value, lex(value).map_err(here)?);
                    let result = parser.result_value().map_err(here)?;
                    filters.push(filter(C::Result(result), span.to(at)));
                }
                Some(Parameter::Games) => {
                    let (lo, at) = inside.number(word, span)?;
                    let (hi, at) = inside.peek_number().map_or((lo, at), |found| {
                        inside.next();
                        found
                    });
                    filters.extend(game_range(lo, hi, span.to(at)));
                    header.narrow_games((lo.max(0).unsigned_abs(), hi.max(0).unsigned_abs()));
                }
                Some(Parameter::Variations) => variations = true,
                None => {
                    return Err(Diagnostic::error(
                        span,
                        format!("`{word}` is no parameter of a header"),
                        format!("expected {}", words::parameters()),
                    ));
                }
            }
        }
        Ok(HeaderRequest { filters, variations, header })
    }
}

/// Returns a note that a header parameter has no effect, because a command-line option controls the setting.
fn without_effect(word: &str, span: Span, what: &str) -> Diagnostic {
    let label = format!("{what} chosen on the command line");
    Diagnostic::note(span, format!("`{word}` in the header has no effect"), label)
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').map_or(value, |inner| inner.strip_suffix('"').unwrap_or(inner))
}

fn game_range(lo: i32, hi: i32, span: Span) -> [Node; 2] {
    [(Cmp::Ge, lo), (Cmp::Le, hi)].map(|(cmp, bound)| {
        let [number, bound] = [N::GameNumber, N::Int(bound)].map(|op| Number::new(op, span));
        filter(N::Compare(cmp, number, bound), span)
    })
}

struct HeaderWords<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> HeaderWords<'a> {
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

    fn value(&mut self, word: &str, span: Span) -> ParseResult<(&'a str, Span)> {
        self.next().ok_or_else(|| Diagnostic::error(span, format!("`{word}` lacks its value"), "add it"))
    }

    fn number(&mut self, word: &str, span: Span) -> ParseResult<(i32, Span)> {
        let (value, at) = self.value(word, span)?;
        let number = value.parse().map_err(|_| {
            Diagnostic::error(at, format!("`{value}` is no number"), format!("expected `{word} 1 100`"))
        })?;
        Ok((number, at))
    }

    /// Reads the one or two numbers of a header parameter. A negative number is an error.
    fn counts(&mut self, word: &str, span: Span) -> ParseResult<(u32, u32)> {
        let first = self.number(word, span)?;
        let second = self.peek_number().unwrap_or(first);
        if self.peek_number().is_some() {
            self.next();
        }
        match (u32::try_from(first.0), u32::try_from(second.0)) {
            (Ok(lo), Ok(hi)) if lo <= hi => Ok((lo, hi)),
            _ => Err(Diagnostic::error(
                first.1.to(second.1),
                format!("the range {} {} of `{word}`", first.0, second.0),
                "expected two numbers from 0 on, the lower first",
            )),
        }
    }

    fn peek_number(&self) -> Option<(i32, Span)> {
        let (word, at) = HeaderWords { ..*self }.next()?;
        Some((word.parse().ok()?, at))
    }
}
