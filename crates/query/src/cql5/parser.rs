//! The parser for CQL 5 lists, and its access to tokens. The functions in [`super::lists`] read the contents of a list.

use super::{
    Cql5Result,
    lexer::{Cql5Tok, Cql5Token, lex},
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// The way in which the items of a list are combined: all of them must match, or at least one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    All,
    Any,
}

pub(crate) struct Cql5Parser<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Cql5Token<'a>>,
    pub(super) at: usize,
    pub(super) depth: u32,
    pub(super) remarks: Vec<Diagnostic>,
}

impl<'a> Cql5Parser<'a> {
    pub(super) fn new(text: &'a str) -> Cql5Result<Cql5Parser<'a>> {
        Ok(Cql5Parser { text, tokens: lex(text)?, at: 0, depth: 0, remarks: Vec::new() })
    }

    pub(super) fn tok(&self) -> Cql5Tok<'a> {
        self.tokens[self.at].tok
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    pub(super) fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub(super) fn bump(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    /// Returns a description of the current token for a message.
    pub(super) fn found(&self) -> String {
        match self.tok() {
            Cql5Tok::Open => "a list".into(),
            Cql5Tok::Close => "`)`".into(),
            Cql5Tok::Keyword { negated, name } => format!("`{}:{name}`", if negated { "!" } else { "" }),
            Cql5Tok::Text(text) => format!("`{text}`"),
            Cql5Tok::End => "the end of the query".into(),
        }
    }
}
