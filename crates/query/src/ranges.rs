//! Reads ranges before a filter: `flip 2 3 F`, `find n F`, `up lo hi S`.
//!
//! A bound is a literal or a variable that holds a number. If both bounds are literals, they are stored in the operation. Otherwise
//! both become operands of the operation, which no transform changes.

use super::{
    parser::{N, ParseResult, Parser},
    token::Tok,
    tree::{Control, Counted, Holds, Number},
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// The maximum number of bytes after a range that an error message quotes.
const REST_MAX: usize = 60;

/// One end of a range.
#[derive(Clone, Debug)]
pub(super) enum RangeEnd {
    Literal(i32, Number),
    /// A variable that holds a number.
    Variable(Number),
}

impl RangeEnd {
    fn into_number(self) -> Number {
        match self {
            RangeEnd::Literal(_, number) | RangeEnd::Variable(number) => number,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Range {
    pub lo: RangeEnd,
    pub hi: RangeEnd,
}

/// The bounds of a range. The tree stores them as integers if both are literals, and as operands otherwise.
#[derive(Clone, Debug)]
pub(super) enum Within {
    /// Both bounds are literals.
    Known(i32, i32),
    /// At least one bound is a variable, so both bounds are stored as operands.
    Read(Number, Number),
}

impl Range {
    /// Returns the bounds as operands.
    pub fn into_numbers(self) -> [Number; 2] {
        [self.lo.into_number(), self.hi.into_number()]
    }

    pub fn within(self) -> Within {
        match (&self.lo, &self.hi) {
            (&RangeEnd::Literal(lo, _), &RangeEnd::Literal(hi, _)) => Within::Known(lo, hi),
            _ => Within::Read(self.lo.into_number(), self.hi.into_number()),
        }
    }
}

/// The word or range that turns a filter into a count, whose value is the number of matching copies (transformed filters) or
/// matching positions.
#[derive(Clone, Debug)]
pub(super) enum CountMode {
    /// `count`.
    Count,
    /// A range.
    Range(Within),
}

impl CountMode {
    /// Returns the way in which the operation counts. The operation applies a range only if both bounds are literals. Otherwise it
    /// counts all matches, and [`Self::around`] adds an operation that applies the range.
    pub fn counted(&self) -> Counted {
        match *self {
            CountMode::Range(Within::Known(lo, hi)) => Counted::Range(lo, hi),
            CountMode::Count | CountMode::Range(Within::Read(..)) => Counted::All,
        }
    }

    /// Returns `count`, the number of matching copies (transformed filters) or positions. If a bound of the range is a variable,
    /// wraps `count` in an operation that has no value outside the range.
    pub fn around(self, count: Number) -> Number {
        match self {
            CountMode::Range(Within::Read(lo, hi)) => {
                let span = count.span();
                Number::new(N::InRange { lo, hi, of: count }, span)
            }
            CountMode::Count | CountMode::Range(Within::Known(..)) => count,
        }
    }
}

impl Parser {
    /// Reads a range of two bounds or, if that is impossible, of one. A range is accepted only if `follows` returns true at the
    /// token after it. Otherwise the number is the beginning of a filter; the method then reads nothing and returns `None`.
    pub(super) fn range(&mut self, follows: impl Fn(&Parser) -> bool) -> ParseResult<Option<Range>> {
        let (before, start) = (self.position(), self.span());
        let Some(lo) = self.bound() else { return Ok(None) };
        let between = self.position();
        if let Some(hi) = self.bound() {
            if follows(self) {
                self.refuse_dash_of_range(&lo, &hi, start)?;
                return Ok(Some(Range { lo, hi }));
            }
            self.rewind(between);
        }
        if follows(self) {
            return Ok(Some(Range { hi: lo.clone(), lo }));
        }
        self.rewind(before);
        Ok(None)
    }

    /// Rejects `2-5`, which CQL reads as the range from 2 to -5, while the user meant `2 5`. The parser has already read the range,
    /// which begins at `start`.
    fn refuse_dash_of_range(&self, lo: &RangeEnd, hi: &RangeEnd, start: Span) -> ParseResult<()> {
        let (&RangeEnd::Literal(lo, _), &RangeEnd::Literal(hi, _)) = (lo, hi) else { return Ok(()) };
        let span = start.to(self.last_span());
        let text = &self.text[span.start..span.end];
        if lo <= hi || text.contains(char::is_whitespace) {
            return Ok(());
        }
        let filter = &self.text[..start.start];
        let word = filter.split_whitespace().next_back().unwrap_or_default();
        let rest = Some(self.text[span.end..].trim()).filter(|rest| rest.len() < REST_MAX).unwrap_or("...");
        let better = format!("{lo} {} {rest}", hi.unsigned_abs());
        Err(Diagnostic::error(
            span,
            format!("`{text}` is no range"),
            "it is read as two numbers, the second negative",
        )
        .help(format!("a blank separates the numbers: `{word} {better}`")))
    }

    fn bound(&mut self) -> Option<RangeEnd> {
        let span = self.span();
        if let Some(value) = self.signed_int() {
            let number = Number::new(N::Int(value), span.to(self.last_span()));
            return Some(RangeEnd::Literal(value, number));
        }
        let Tok::Word(name) = self.tok() else { return None };
        let var = self
            .lookup(name)
            .filter(|var| self.vars[var.0 as usize].holds == Holds::Number && !self.is_unassigned(*var))?;
        if self.assigns_next() {
            return None;
        }
        self.bump();
        Some(RangeEnd::Variable(Number::new(N::Control(Control::Var(var)), span)))
    }

    /// Returns true if the current token is a word and the token after it assigns to that word.
    pub(super) fn assigns_next(&self) -> bool {
        matches!(self.tok(), Tok::Word(_))
            && matches!(self.peek(1), Tok::Sign("=" | "+=" | "-=" | "*=" | "/=" | "%=" | "|=" | "&=" | "=?"))
    }
}
