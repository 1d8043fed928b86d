//! Finds out which comments a query writes at its hits, if they depend only on which of its filters match.
//!
//! Such a query writes one of a few lists of comments at each hit. For example, `{mate comment("mate")} or flipcolor {Qd1
//! comment("home")}` has five lists: one for the first alternative (operand of `or`), and one for each set of copies of the second
//! that can match. A plan computes the number of the list at each hit, so no hit has to be evaluated again for its comments.

use super::{Filter, Planner};
use orbit_query::{
    TypedQuery,
    tree::{Any, Arith, ConditionOp, Control, GameCondition, NumberOp, SquaresOp, TextOp},
};
use orbit_transforms::{Condition, Number, Orbit, expand};

/// The minimum number of alternatives for which a plan determines the one that must be evaluated. Fewer alternatives are evaluated
/// faster one after the other.
const ALTERNATIVES_MIN: usize = 4;

/// The maximum number of lists of comments of a query.
const LISTS_MAX: u32 = 1 << 20;

/// The lists of comments that a filter can write at a hit. They are numbered from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CommentLists {
    /// One list, which is empty.
    Empty,
    /// One list, with one comment.
    One(Box<[u8]>),
    /// One list, which is unknown. To find it, the alternative of the query to which it belongs must be evaluated.
    Unknown,
    /// The lists of several filters that are all evaluated, each with its number of lists. A list of the whole consists of one list
    /// of each filter. Its number is a number in mixed radix, and the least significant digit belongs to the first filter.
    Each(Vec<(u32, CommentLists)>),
    /// The lists of several filters of which one writes comments, each with its number of lists. The lists of the first filter come
    /// first.
    Either(Vec<(u32, CommentLists)>),
}

impl CommentLists {
    /// Calls `write` with each comment of a list.
    pub fn write(&self, mut number: u32, write: &mut dyn FnMut(&[u8])) {
        match self {
            CommentLists::Empty | CommentLists::Unknown => {}
            CommentLists::One(text) => write(text),
            CommentLists::Each(parts) => {
                for (count, part) in parts {
                    part.write(number % count, write);
                    number /= count;
                }
            }
            CommentLists::Either(parts) => {
                let (at, number) = place(parts, number);
                parts.get(at).into_iter().for_each(|(_, part)| part.write(number, write));
            }
        }
    }

    /// Returns true if all comments of a list are known, so that nothing has to be evaluated for them.
    pub fn is_known(&self, number: u32) -> bool {
        match self {
            CommentLists::Unknown => false,
            CommentLists::Either(parts) => {
                let (at, number) = place(parts, number);
                parts.get(at).is_none_or(|(_, part)| part.is_known(number))
            }
            CommentLists::Empty | CommentLists::One(_) | CommentLists::Each(_) => true,
        }
    }

    /// Returns the number of the alternative to which a list belongs, counted from 0.
    pub fn alternative(&self, number: u32) -> usize {
        match self {
            CommentLists::Either(parts) => place(parts, number).0,
            _ => 0,
        }
    }
}

/// Returns the index of the part to which a list belongs, and the number of the list among those of this part.
fn place(parts: &[(u32, CommentLists)], mut number: u32) -> (usize, u32) {
    let at = parts.iter().position(|(count, _)| {
        let is_here = number < *count;
        number -= if is_here { 0 } else { *count };
        is_here
    });
    (at.unwrap_or(parts.len()), number)
}

/// The lists of comments of a filter, and a filter whose value is the number of the list at a position where the filter matches.
struct NumberedLists {
    number: Number,
    count: u32,
    lists: CommentLists,
}

impl NumberedLists {
    fn single(lists: CommentLists) -> NumberedLists {
        NumberedLists { number: int(0), count: 1, lists }
    }

    /// Returns the lists of several filters that are all evaluated. Returns `None` if there are too many.
    fn each(filters: impl IntoIterator<Item = Option<NumberedLists>>) -> Option<NumberedLists> {
        let (mut number, mut count, mut lists) = (int(0), 1_u32, Vec::new());
        for filter in filters {
            let filter = filter?;
            number = match (count, filter.count) {
                (_, 1) => number,
                (1, _) => filter.number,
                _ => arith(Arith::Add, number, arith(Arith::Mul, filter.number, int(count))),
            };
            count = count.checked_mul(filter.count).filter(|&count| count <= LISTS_MAX)?;
            if filter.lists != CommentLists::Empty {
                lists.push((filter.count, filter.lists));
            }
        }
        let lists = if lists.is_empty() { CommentLists::Empty } else { CommentLists::Each(lists) };
        Some(NumberedLists { number, count, lists })
    }

    /// Returns the lists of several filters of which one writes comments: the first one whose condition matches, otherwise `last`.
    /// Returns `None` if there are too many.
    fn either(first: Vec<(Filter, NumberedLists)>, last: NumberedLists) -> Option<NumberedLists> {
        let (mut count, mut lists) = (0_u32, Vec::new());
        let mut add = |filter: NumberedLists| {
            let number = match (count, filter.count) {
                (0, _) => filter.number,
                (_, 1) => int(count),
                _ => arith(Arith::Add, filter.number, int(count)),
            };
            lists.push((filter.count, filter.lists));
            count = count.checked_add(filter.count).filter(|&count| count <= LISTS_MAX)?;
            Some(number)
        };
        let first: Vec<(Filter, Number)> = first
            .into_iter()
            .map(|(condition, filter)| Some((condition, add(filter)?)))
            .collect::<Option<_>>()?;
        let number = first.into_iter().rfold(add(last)?, |other, (condition, then)| {
            Number::new(NumberOp::Control(Control::If { condition, then, other }), false)
        });
        Some(NumberedLists { number, count, lists: CommentLists::Either(lists) })
    }
}

fn int(value: u32) -> Number {
    Number::new(NumberOp::Int(value as i32), false)
}

fn arith(op: Arith, a: Number, b: Number) -> Number {
    Number::new(NumberOp::Arith(op, a, b), false)
}

/// Returns the lists of comments of a query, and the planner of a query whose value at each hit is the number of the list. Without a
/// planner, there is only one list.
///
/// Returns `None` if the query must be evaluated to find its comments, or if the number would need a flat program, which evaluates
/// only one position at a time. The query must [write at hits](TypedQuery::writes_at_hits).
pub fn comment_lists(query: &TypedQuery) -> Option<(CommentLists, Option<Planner>)> {
    if query.writes_marks_alone() {
        return Some((CommentLists::Empty, None));
    }
    let body = expand(&query.body).ok()?;
    let writer = Writer { query };
    let found = writer.known(&body).or_else(|| writer.alternatives())?;
    if found.count == 1 {
        return Some((found.lists, None));
    }
    // A condition is evaluated without the filters before it, which may set variables.
    if query.reads_variables() {
        return None;
    }
    Some((found.lists, Some(Planner::from_part(query, Any::Number(found.number))?)))
}

/// The rules by which a query writes comments.
struct Writer<'a> {
    query: &'a TypedQuery,
}

impl Writer<'_> {
    /// Returns the lists of the outermost alternatives, including those that must be evaluated. Returns `None` if there are too few
    /// alternatives.
    fn alternatives(&self) -> Option<NumberedLists> {
        // The reference engine counts the alternatives of the written query.
        let all = self.query.body.alternatives();
        if all.len() < ALTERNATIVES_MIN {
            return None;
        }
        let mut numbered = Vec::with_capacity(all.len());
        for filter in all {
            let filter = expand(filter).ok()?;
            let lists = self.known(&filter).unwrap_or_else(|| NumberedLists::single(CommentLists::Unknown));
            numbered.push((filter, lists));
        }
        let (_, last) = numbered.pop()?;
        NumberedLists::either(numbered, last)
    }

    /// Returns the lists of comments of a filter. Returns `None` if the filter must be evaluated to find its comments.
    fn known(&self, filter: &Filter) -> Option<NumberedLists> {
        if !self.query.sorts.is_empty() {
            return None;
        }
        if self.is_quiet(filter) {
            return Some(NumberedLists::single(CommentLists::Empty));
        }
        let before = match filter {
            Any::Condition(f) => return self.condition(f),
            Any::Squares(f) => match f.op() {
                SquaresOp::Control(Control::Braces { first, last }) => {
                    self.is_quiet(&Any::Squares(last.clone())).then_some(first)
                }
                _ => None,
            },
            Any::Number(f) => match f.op() {
                NumberOp::Control(Control::Braces { first, last }) => {
                    self.is_quiet(&Any::Number(last.clone())).then_some(first)
                }
                _ => None,
            },
            Any::Text(_) | Any::Position(_) => None,
        };
        NumberedLists::each(before?.iter().map(|filter| self.known(filter)))
    }

    fn is_quiet(&self, filter: &Filter) -> bool {
        !filter.any(|filter| self.query.is_written(filter))
    }

    fn condition(&self, f: &Condition) -> Option<NumberedLists> {
        match f.op() {
            ConditionOp::Game(GameCondition::Comment(parts)) => {
                let text = parts.iter().map(literal).collect::<Option<Vec<&str>>>()?.concat();
                Some(NumberedLists::single(CommentLists::One(text.into_bytes().into())))
            }
            ConditionOp::And(a, b) => NumberedLists::each([a, b].map(|filter| self.known(filter))),
            ConditionOp::Braces(all) => NumberedLists::each(all.iter().map(|filter| self.known(filter))),
            ConditionOp::Or(a, b) => {
                let mut all = [a.alternatives(), b.alternatives()].concat();
                let last = self.known(all.pop()?)?;
                let first = all.into_iter().map(|filter| Some((filter.clone(), self.known(filter)?)));
                NumberedLists::either(first.collect::<Option<_>>()?, last)
            }
            ConditionOp::If { condition, then, other } if self.is_quiet(condition) => {
                let nothing = Some(NumberedLists::single(CommentLists::Empty));
                let other = other.as_ref().map_or(nothing, |other| self.known(other))?;
                NumberedLists::either(vec![(condition.clone(), self.known(then)?)], other)
            }
            ConditionOp::Form(orbit) => self.orbit(orbit),
            _ => None,
        }
    }

    /// Returns the lists of an orbit. Each of its copies that matches writes its comments.
    fn orbit(&self, orbit: &Orbit) -> Option<NumberedLists> {
        let copies = orbit.in_turn();
        if let [(_, only)] = &copies[..] {
            return self.known(&only.filter);
        }
        let if_it_matches = |filter: &Filter| {
            let nothing = NumberedLists::single(CommentLists::Empty);
            NumberedLists::either(vec![(filter.clone(), self.known(filter)?)], nothing)
        };
        NumberedLists::each(copies.iter().map(|(_, copy)| if_it_matches(&copy.filter)))
    }
}

/// Returns the string if the filter is a literal string.
fn literal(filter: &Filter) -> Option<&str> {
    match filter {
        Any::Text(f) => match f.op() {
            TextOp::Literal(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
