//! Reads the suffixes that repeat a constituent of a line or a path: `*`, `+`, `?`, `{2}`, `{2,3}`.

use super::{
    parser::{ParseResult, Parser},
    token::Tok,
    tree::Chain,
    words,
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// A suffix such as `*` or `{2}`, which repeats a part of a line or path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    min: u32,
    max: Option<u32>,
    /// True if the suffix is written `+`.
    pub plus: bool,
    /// True if the suffix is written in braces, as in `{2}`.
    pub braces: bool,
    pub at: Span,
}

impl Repeat {
    pub fn repeat<T>(self, chain: Chain<T>) -> Chain<T> {
        Chain::Repeat { of: Box::new(chain), min: self.min, max: self.max }
    }
}

impl Parser {
    /// Returns true if `{n}`, `{n,}`, `{,m}`, `{n,m}`, `{+}` or `{*}` follows, without blanks inside.
    pub(super) fn at_repeat(&self) -> bool {
        if !self.is_sign("{") || self.spaced_ahead(1) {
            return false;
        }
        if matches!(self.peek(1), Tok::Sign("+" | "*")) {
            return matches!(self.peek(2), Tok::Sign("}")) && !self.spaced_ahead(2);
        }
        let mut at = 1;
        while matches!(self.peek(at), Tok::Int(_) | Tok::Sign(",")) && !self.spaced_ahead(at) {
            at += 1;
        }
        at > 1 && matches!(self.peek(at), Tok::Sign("}")) && !self.spaced_ahead(at)
    }

    /// Returns true if the current token is a `+` or `*` without an operand after it. It is then a suffix that repeats what
    /// precedes it, even after a number.
    pub(super) fn repeats_next(&self) -> bool {
        self.is_sign("+") | self.is_sign("*")
            && match self.peek(1) {
                Tok::End => true,
                Tok::Word(word) => words::is_inside(word),
                Tok::Sign(sign) => !["(", "{", ".", "[]", "~", "#", "-", "[forall]"].contains(sign),
                _ => false,
            }
    }

    /// Reads a suffix, if one follows.
    pub(super) fn repeat(&mut self) -> ParseResult<Option<Repeat>> {
        let at = self.span();
        let plain = |min, max, plus| Some(Repeat { min, max, plus, braces: false, at });
        let repeat = match self.tok() {
            Tok::Sign("*") => plain(0, None, false),
            Tok::Sign("+") => plain(1, None, true),
            Tok::Sign("?") => plain(0, Some(1), false),
            Tok::Sign("{") if self.at_repeat() => return self.repeat_in_braces().map(Some),
            _ => return Ok(None),
        };
        self.bump();
        Ok(repeat)
    }

    fn repeat_in_braces(&mut self) -> ParseResult<Repeat> {
        let open = self.bump();
        let sign = self.sign_text();
        if let "+" | "*" = sign {
            self.bump();
            let at = open.to(self.bump());
            let plus = sign == "+";
            return Ok(Repeat { min: u32::from(plus), max: None, plus, braces: false, at });
        }
        let min = self.count();
        let comma = self.eat_sign(",");
        let max = self.count();
        let well_formed = self.is_sign("}");
        let at = open.to(self.bump());
        let fault = |message: &str, label: &str| Err(Diagnostic::error(at, message, label));
        match (min, comma, max) {
            _ if !well_formed => fault("this is no count", "expected `{2}`, `{2,}`, `{,3}` or `{2,3}`"),
            (None, true, None) => {
                fault("`{,}` says nothing", "write `{*}`, `{+}` or a number beside the comma")
            }
            (Some(min), true, Some(max)) if min > max => {
                fault(&format!("the count {min} to {max} runs backwards"), "write the lower number first")
            }
            (min, true, max) => Ok(Repeat { min: min.unwrap_or(0), max, plus: false, braces: true, at }),
            (min, false, _) => Ok(Repeat {
                min: min.unwrap_or(0),
                max: Some(min.unwrap_or(0)),
                plus: false,
                braces: true,
                at,
            }),
        }
    }

    fn count(&mut self) -> Option<u32> {
        let Tok::Int(value) = *self.tok() else { return None };
        self.bump();
        u32::try_from(value).ok()
    }

    /// Returns true if the `}` that is `close` tokens ahead ends a suffix such as `{2,3}`.
    pub(super) fn repeat_ends_at(&self, close: usize) -> bool {
        let inside = (0..close).rev().take_while(|&at| {
            matches!(self.peek(at), Tok::Int(_) | Tok::Sign("," | "+" | "*")) && !self.spaced_ahead(at)
        });
        let inside = inside.count();
        inside > 0 && matches!(self.peek(close - inside - 1), Tok::Sign("{"))
    }
}
