//! Ranges before a filter: `flip 2 3 F`, `find n F`, `up lo hi S`.
//!
//! A bound is a literal or a variable that holds a number. Literals are part of the operation; a range with a
//! variable becomes operands, which no transform changes.

use super::{
    lexer::Tok,
    parser::Parser,
    tree::{Node, Op, Tally, Type},
};

/// One end of a range.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Literal(i32, Node),
    /// A variable that holds a number.
    Variable(Node),
}

impl Bound {
    fn into_node(self) -> Node {
        match self {
            Bound::Literal(_, node) | Bound::Variable(node) => node,
        }
    }
}

/// A range as it is written.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub lo: Bound,
    pub hi: Bound,
}

/// What a range becomes.
#[derive(Clone, Debug)]
pub(super) enum Within {
    /// Both ends are known.
    Known(i32, i32),
    /// The operands that are its ends.
    Read(Node, Node),
}

impl Range {
    pub fn within(self) -> Within {
        match (&self.lo, &self.hi) {
            (&Bound::Literal(lo, _), &Bound::Literal(hi, _)) => Within::Known(lo, hi),
            _ => Within::Read(self.lo.into_node(), self.hi.into_node()),
        }
    }
}

impl Within {
    /// How copies or positions are counted within the range.
    pub fn tally(&self) -> Tally {
        match *self {
            Within::Known(lo, hi) => Tally::Range(lo, hi),
            Within::Read(..) => Tally::Count,
        }
    }

    /// The count of copies or positions, if the range has it.
    pub fn around(self, count: Node) -> Node {
        match self {
            Within::Known(..) => count,
            Within::Read(lo, hi) => {
                let span = count.span;
                Node::new(Op::InRange, Type::Num, span, vec![lo, hi, count])
            }
        }
    }
}

impl Parser {
    /// One or two bounds behind which `follows` holds: two if that can be, and else one. Nothing is taken if
    /// it holds behind neither: then the number is a filter, or begins it.
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

    fn bound(&mut self) -> Option<Bound> {
        let span = self.span();
        if let Some(value) = self.signed_int() {
            let node = Node::new(Op::Int(value), Type::Num, span.to(self.last_span()), vec![]);
            return Some(Bound::Literal(value, node));
        }
        let Tok::Word(name) = self.tok() else { return None };
        let var = self.lookup(name).filter(|var| self.vars[var.0 as usize].ty == Type::Num)?;
        if self.assigns_next() {
            return None;
        }
        self.bump();
        Some(Bound::Variable(Node::new(Op::Var(var), Type::Num, span, vec![])))
    }

    /// Whether the current word is assigned by the sign behind it.
    pub(super) fn assigns_next(&self) -> bool {
        matches!(self.peek(1), Tok::Sign("=" | "+=" | "-=" | "*=" | "/=" | "%=" | "|=" | "&=" | "=?"))
    }
}
