//! The parser's access to tokens. It reads the tokens of the query text, or of a function's body, one after the other, up to the
//! token at which it has to stop.

use std::rc::Rc;

use super::{
    parser::{ParseResult, Parser},
    token::{Tok, Token},
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// A list of tokens and a position in it, to which the parser returns after reading another list.
pub(super) struct Checkpoint {
    tokens: Rc<[Token]>,
    at: usize,
    end: usize,
}

impl Parser {
    pub fn tok(&self) -> &Tok {
        self.peek(0)
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Returns true if an assignment `name = ...` begins at the current token or after it.
    pub(super) fn assigns_ahead(&self, name: &str) -> bool {
        assigns(&self.tokens[self.at..], name)
    }

    /// Returns true if there is an assignment `name = ...` before the current token.
    pub(super) fn was_assigned(&self, name: &str) -> bool {
        assigns(&self.tokens[..self.at], name)
    }

    /// Returns the span of the token before the current one.
    pub fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// Returns true if blank space precedes the current token.
    pub fn spaced(&self) -> bool {
        self.tokens[self.at].spaced
    }

    pub fn peek(&self, ahead: usize) -> &Tok {
        let at = self.at + ahead;
        &self.tokens[if at < self.end { at } else { self.tokens.len() - 1 }].tok
    }

    /// Returns true if blank space precedes the token `ahead` tokens after the current one.
    pub(super) fn spaced_ahead(&self, ahead: usize) -> bool {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].spaced
    }

    pub(super) fn peek_span(&self, ahead: usize) -> Span {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].span
    }

    /// Returns the token before the current one.
    pub(super) fn before(&self) -> Option<&Tok> {
        self.at.checked_sub(1).map(|at| &self.tokens[at].tok)
    }

    pub fn bump(&mut self) -> Span {
        let span = self.span();
        if self.at < self.end {
            self.at += 1;
        }
        span
    }

    /// Calls `read` on another list of tokens, which must end with [`Tok::End`]. The parser then returns to its current token.
    pub(super) fn with_tokens<R>(&mut self, tokens: Rc<[Token]>, read: impl FnOnce(&mut Parser) -> R) -> R {
        let end = tokens.len() - 1;
        let place = self.put_aside(Checkpoint { tokens, at: 0, end });
        let read = read(self);
        self.put_aside(place);
        read
    }

    fn put_aside(&mut self, place: Checkpoint) -> Checkpoint {
        Checkpoint {
            tokens: std::mem::replace(&mut self.tokens, place.tokens),
            at: std::mem::replace(&mut self.at, place.at),
            end: std::mem::replace(&mut self.end, place.end),
        }
    }

    /// Copies the tokens `from..to`, and appends an end token.
    pub(super) fn taken(&self, from: usize, to: usize) -> Rc<[Token]> {
        let end = Token { tok: Tok::End, ..self.tokens[to].clone() };
        self.tokens[from..to].iter().cloned().chain([end]).collect()
    }

    /// Makes the parser stop at a byte of the text. Returns the previous end, which [`Parser::reach`] restores.
    pub(super) fn stop_at_byte(&mut self, byte: usize) -> usize {
        let (outer, ahead) = (self.end, &self.tokens[self.at..self.end]);
        self.end = self.at + ahead.iter().take_while(|token| token.span.start < byte).count();
        outer
    }

    /// Makes the parser stop at the blank line that ends a path. Returns the previous end, which [`Parser::reach`] restores. The
    /// current token must be the first one of the path.
    pub(super) fn stop_at_blank_line(&mut self) -> usize {
        let (outer, mut depth) = (self.end, 0u32);
        for at in self.at..self.end {
            if depth == 0 && self.tokens[at].apart {
                self.end = at;
                break;
            }
            match self.tokens[at].tok {
                Tok::Sign("(" | "{") => depth += 1,
                Tok::Sign(")" | "}") if depth == 0 => break,
                Tok::Sign(")" | "}") => depth -= 1,
                _ => {}
            }
        }
        outer
    }

    /// Returns true if a blank line precedes the current token.
    pub(super) fn is_apart(&self) -> bool {
        self.tokens[self.at].apart
    }

    pub(super) fn reach(&mut self, end: usize) {
        self.end = end;
    }

    /// Returns true if the parser has reached a blank line that ends the path, and the text continues after it.
    pub(super) fn at_blank_line(&self) -> bool {
        self.at == self.end && self.end + 1 < self.tokens.len()
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn rewind(&mut self, at: usize) {
        self.at = at;
    }

    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self.tok(), Tok::Sign(s) if *s == sign)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.tok(), Tok::Word(w) if w == word)
    }

    pub fn eat_sign(&mut self, sign: &str) -> bool {
        let hit = self.is_sign(sign);
        if hit {
            self.bump();
        }
        hit
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let hit = self.is_word(word);
        if hit {
            self.bump();
        }
        hit
    }

    pub fn expect_sign(&mut self, sign: &'static str, why: &str) -> ParseResult<Span> {
        if self.is_sign(sign) {
            return Ok(self.bump());
        }
        Err(Diagnostic::error(
            self.span(),
            format!("found {}", self.found()),
            format!("expected `{sign}` {why}"),
        ))
    }

    /// Returns true if the current token closes the list that begins with the `(` at `open`. Returns an error if the query ends
    /// before that.
    pub(super) fn closes(&self, open: Span) -> ParseResult<bool> {
        if *self.tok() == Tok::End {
            return Err(Diagnostic::error(open, "`(` is not closed", "close it with `)`"));
        }
        Ok(self.is_sign(")"))
    }

    /// Returns a description of the current token for a message.
    pub fn found(&self) -> String {
        match self.tok() {
            Tok::End if self.at_blank_line() => "the end of the line".into(),
            Tok::End => "the end of the query".into(),
            Tok::Group { .. } => "a group of a match".into(),
            Tok::Designator { .. } => "a piece designator".into(),
            Tok::Word(word) => format!("`{word}`"),
            Tok::Int(value) => format!("`{value}`"),
            Tok::Str(_) => "a string".into(),
            Tok::Sign(sign) => format!("`{sign}`"),
        }
    }

    /// Reads a decimal number, with a sign if one comes directly before the number.
    pub fn signed_int(&mut self) -> Option<i32> {
        if let Tok::Int(value) = *self.tok() {
            self.bump();
            return Some(value);
        }
        if self.is_sign("-")
            && let Tok::Int(value) = *self.peek(1)
            && !self.tokens[self.at + 1].spaced
        {
            self.bump();
            self.bump();
            return Some(-value);
        }
        None
    }
}

fn assigns(tokens: &[Token], name: &str) -> bool {
    tokens.windows(2).any(|pair| {
        matches!(pair, [Token { tok: Tok::Word(word), .. }, Token { tok: Tok::Sign("="), .. }] if word == name)
    })
}
