//! Reads ranges before a filter: `flip 2 3 F`, `find n F`, `up lo hi S`.
//!
//! A bound is a literal or a variable that holds a number. A range of literals becomes part of the operation. A range with a
//! variable becomes operands, which no transform changes.

use super::{
    parser::{N, ParseResult, Parser},
    token::Tok,
    tree::{Control, Counted, Holds, Number},
};
use orbit_core::diagnostic::{Diagnostic, Span};

/// The largest number of bytes after a range that a message repeats.
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

/// A range as it is written.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub lo: RangeEnd,
    pub hi: RangeEnd,
}

/// The two forms of a range in the tree.
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

/// The way in which matching copies or positions are counted.
#[derive(Clone, Debug)]
pub(super) enum CountMode {
    /// `count`.
    Count,
    /// A range.
    Range(Within),
}

impl CountMode {
    /// Returns the mode as the operation stores it. A range with operands is stored outside the operation, so the operation
    /// itself counts all matches.
    pub fn counted(&self) -> Counted {
        match *self {
            CountMode::Range(Within::Known(lo, hi)) => Counted::Range(lo, hi),
            CountMode::Count | CountMode::Range(Within::Read(..)) => Counted::All,
        }
    }

    /// Returns the count of copies or positions. If the bounds of the range are operands, the count is restricted to that range.
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
    /// Reads one or two bounds, if `follows` is true at the token after them: two if possible, else one. If `follows` is true
    /// after neither, reads nothing and returns `None`, because the number is then a filter or begins one.
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

    /// Refuses `2-5`, which is the range from 2 to -5, and was meant as `2 5`. The range begins at `start` and was read.
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
