//! Ranges before a filter: `flip 2 3 F`, `find n F`, `up lo hi S`.
//!
//! A bound is a literal or a variable that holds a number. Literals become part of the operation; a range with a variable becomes
//! operands, which no transform changes.

use super::{
    parser::{N, Parser},
    token::Tok,
    tree::{Control, Counted, Holds, Number},
};

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
    /// Both bounds are known.
    Known(i32, i32),
    /// The bounds are operands.
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

/// The way in which copies or positions are counted.
#[derive(Clone, Debug)]
pub(super) enum CountMode {
    /// `count`.
    Count,
    /// A range.
    Range(Within),
}

impl CountMode {
    /// Returns the part of the mode that belongs to the operation.
    pub fn counted(&self) -> Counted {
        match *self {
            CountMode::Range(Within::Known(lo, hi)) => Counted::Range(lo, hi),
            CountMode::Count | CountMode::Range(Within::Read(..)) => Counted::All,
        }
    }

    /// Returns the count of copies or positions, restricted to the range if the bounds are operands.
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
    /// Reads one or two bounds after which `follows` holds: two if possible, else one. If it holds after neither, nothing is read:
    /// then the number is a filter, or begins one.
    pub(super) fn range(&mut self, follows: impl Fn(&Parser) -> bool) -> Option<Range> {
        let before = self.position();
        let lo = self.bound()?;
        let between = self.position();
        if let Some(hi) = self.bound() {
            if follows(self) {
                return Some(Range { lo, hi });
            }
            self.rewind(between);
        }
        if follows(self) {
            return Some(Range { hi: lo.clone(), lo });
        }
        self.rewind(before);
        None
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

    /// Returns true if the current word is assigned to by the sign after it.
    pub(super) fn assigns_next(&self) -> bool {
        matches!(self.tok(), Tok::Word(_))
            && matches!(self.peek(1), Tok::Sign("=" | "+=" | "-=" | "*=" | "/=" | "%=" | "|=" | "&=" | "=?"))
    }
}
