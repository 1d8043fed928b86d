//! Suggests similar queries for a query without hits: queries with one condition fewer, or with added transforms.
//!
//! Each suggestion is an edited version of the query text, which the user can run exactly as shown.

use std::collections::HashSet;

use shakmaty::Bitboard;

use super::tree::{ConditionOp, Ref, SquaresOp, Written};
use super::{Dialect, Parsed, body_start, parse};
use orbit_core::diagnostic::Span;

/// The maximum number of conditions for which queries are suggested: the query without the condition, and the condition alone.
const TERMS_MAX: usize = 8;
/// The maximum length of a query, in bytes, for which similar queries are suggested.
const TEXT_MAX: usize = 2_000;

/// A suggested query that is similar to the query that the user wrote.
#[derive(Clone, Debug)]
pub struct Weaker {
    /// The difference from the given query, in words.
    pub change: String,
    /// The text of the similar query.
    pub text: String,
    /// The similar query, parsed.
    pub parsed: Parsed,
}

/// The conditions of a query, with the operator that joins them.
enum Junction<'a> {
    /// The conditions of `{a b c}`, or of several filters without braces.
    Braces(Vec<Ref<'a, Written>>),
    /// `a and b and c`, `a & b & c`: one entry for each condition. The operators have two operands, so an entry also contains the
    /// operation, such as `a and b`, of which the condition is an operand.
    Pairs(Vec<OperandPair<'a>>),
}

/// A condition, the operation (`and` or `&`) of which it is an operand, and the other operand of this operation.
struct OperandPair<'a> {
    term: Ref<'a, Written>,
    whole: Span,
    other: Span,
    /// True if `other` is itself an operation with the same operator as `whole`.
    is_pair: bool,
}

/// Returns at most 20 queries that are similar to a query of CQL 6, in this order:
///
/// 1. for each of up to eight conditions, the query without that condition;
/// 2. if there are more than two conditions, each condition alone;
/// 3. for `a & b` of two sets, both sets in braces;
/// 4. if the query has no transforms, the query with added transforms.
///
/// The result is empty for a query in CQL 5, a query with an error, or a very long query.
///
/// ```
/// let similar = orbit_query::weaker("flip {Ka1 kh8}");
/// let texts: Vec<&str> = similar.iter().map(|query| query.text.as_str()).collect();
/// assert_eq!(texts, ["flip {kh8}", "flip {Ka1}"]);
/// ```
pub fn weaker(text: &str) -> Vec<Weaker> {
    let text = text.trim();
    let Ok(parsed) = parse(text) else { return Vec::new() };
    if text.len() > TEXT_MAX || Dialect::detect(text) == Dialect::Cql5 {
        return Vec::new();
    }
    let inner = innermost(&parsed);
    let (whole, joined) = (*inner.mark(), joined(inner));
    let mut out = Candidates { seen: HashSet::from([text.to_owned()]), found: Vec::new() };
    let of = |span: Span| text.get(span.start..span.end).unwrap_or_default();
    let replaced = |span: Span, by: &str| tidied(&text[..span.start], by, &text[span.end..]);
    let terms: Vec<Span> = match &joined {
        Junction::Braces(all) => all.iter().map(|term| *term.mark()).collect(),
        Junction::Pairs(all) => all.iter().map(|pair| *pair.term.mark()).collect(),
    };
    let is_sound = terms.iter().all(|span| text.get(span.start..span.end).is_some());
    if is_sound && terms.len() > 1 {
        for (index, term) in terms.iter().enumerate().take(TERMS_MAX) {
            let without = match &joined {
                Junction::Braces(_) => replaced(*term, ""),
                Junction::Pairs(all) => {
                    let OperandPair { whole, other, is_pair, .. } = all[index];
                    // If the operand that remains contains an operator, it is put in the parentheses that enclosed both operands.
                    match is_pair && of(whole).starts_with('(') {
                        true => replaced(whole, &format!("({})", of(other))),
                        false => replaced(whole, of(other)),
                    }
                }
            };
            out.add(format!("without {}", of(*term)), without);
        }
        let alone = terms.iter().take(TERMS_MAX).filter(|_| terms.len() > 2);
        alone.for_each(|term| out.add(format!("{} alone", of(*term)), replaced(whole, of(*term))));
        if matches!(inner, Ref::Squares(f) if matches!(f.op(), SquaresOp::Intersect(..))) {
            let all: Vec<&str> = terms.iter().map(|term| of(*term)).collect();
            let braces = format!("{{{}}}", all.join(" "));
            out.add("all at once: & asks for squares in common".into(), replaced(whole, &braces));
        }
    }
    // Transforms are suggested only if a designator names squares. A designator that names only pieces matches the same positions
    // after a turn or a shift.
    let is_part = |op: &SquaresOp<Written>| matches!(op, SquaresOp::Designator { squares, .. } if *squares != Bitboard::FULL);
    let names_squares = |node: Ref<'_, Written>| matches!(node, Ref::Squares(f) if is_part(f.op()));
    if parsed.query.body.any(names_squares) && !parsed.query.body.any(|node| node.is_transform()) {
        let (head, body) = text.split_at(body_start(text).unwrap_or(0));
        let body = if text.starts_with('{') && text.len() == whole.end {
            body.to_owned()
        } else {
            format!("{{{body}}}")
        };
        for (change, transforms) in [
            ("colours swapped as well", "flipcolor"),
            ("turned and mirrored as well", "flip flipcolor"),
            ("anywhere on the board", "shift flip flipcolor"),
        ] {
            out.add(change.into(), format!("{head}{transforms} {body}"));
        }
    }
    out.found
}

/// The distinct similar queries found so far, all of which are valid.
struct Candidates {
    seen: HashSet<String>,
    found: Vec<Weaker>,
}

impl Candidates {
    fn add(&mut self, change: String, text: String) {
        if let (true, Ok(parsed)) = (self.seen.insert(text.clone()), parse(&text)) {
            self.found.push(Weaker { change, text, parsed });
        }
    }
}

/// Removes the transforms and braces that enclose the whole query, and returns the filter inside them.
fn innermost(parsed: &Parsed) -> Ref<'_, Written> {
    let mut node = super::tree::Kind::node(&parsed.query.body);
    loop {
        match &node.children()[..] {
            [only] if node.is_transform() || node.is_braces() => node = *only,
            _ => return node,
        }
    }
}

fn joined(node: Ref<'_, Written>) -> Junction<'_> {
    if node.is_braces() {
        return Junction::Braces(node.children());
    }
    let mut out = Vec::new();
    pairs(node, kind(node), &mut out);
    Junction::Pairs(out)
}

/// Returns a number that identifies the operator (`and` or `&`) with which a filter joins two conditions. Returns 0 for other
/// filters.
fn kind(node: Ref<'_, Written>) -> u8 {
    match node {
        Ref::Condition(f) if matches!(f.op(), ConditionOp::And(..)) => 1,
        Ref::Squares(f) if matches!(f.op(), SquaresOp::Intersect(..)) => 2,
        _ => 0,
    }
}

/// Collects the operands of nested filters with the operator `joined_by`, from left to right.
fn pairs<'a>(node: Ref<'a, Written>, joined_by: u8, out: &mut Vec<OperandPair<'a>>) {
    if joined_by == 0 {
        return;
    }
    let children = node.children();
    let [left, right] = children[..] else { return };
    for (one, other) in [(left, right), (right, left)] {
        if kind(one) == joined_by {
            pairs(one, joined_by, out);
        } else {
            let is_pair = kind(other) == joined_by;
            out.push(OperandPair { term: one, whole: *node.mark(), other: *other.mark(), is_pair });
        }
    }
}

/// Joins three parts of a query text. If the middle one is empty, removes the blanks that become unnecessary.
fn tidied(before: &str, part: &str, after: &str) -> String {
    if !part.is_empty() {
        return format!("{before}{part}{after}");
    }
    let opens = before.ends_with('{') || before.is_empty();
    let closes = after.trim_start().starts_with('}') || after.trim_start().is_empty();
    let before = if closes || after.starts_with(char::is_whitespace) { before.trim_end() } else { before };
    let after = if opens || closes { after.trim_start() } else { after };
    format!("{before}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(query: &str) -> Vec<String> {
        weaker(query).into_iter().map(|query| query.text).collect()
    }

    #[test]
    fn each_condition_is_left_out_once() {
        for (query, expected) in [
            (
                "{Ka1 kh8 check}",
                &[
                    "{kh8 check}",
                    "{Ka1 check}",
                    "{Ka1 kh8}",
                    "Ka1",
                    "kh8",
                    "check",
                    "flipcolor {Ka1 kh8 check}",
                    "flip flipcolor {Ka1 kh8 check}",
                    "shift flip flipcolor {Ka1 kh8 check}",
                ][..],
            ),
            ("flip flipcolor {Ka1 kh8}", &["flip flipcolor {kh8}", "flip flipcolor {Ka1}"]),
            ("mate flip Ka1", &["flip Ka1", "mate"]),
            ("mate and check", &["check", "mate"]),
            ("flip ((mate or check) and Ka1)", &["flip Ka1", "flip (mate or check)"]),
            (
                "flip (Ka1 & kh8 & Qb8)",
                &[
                    "flip (kh8 & Qb8)",
                    "flip (Ka1 & Qb8)",
                    "flip (Ka1 & kh8)",
                    "flip Ka1",
                    "flip kh8",
                    "flip Qb8",
                    "flip {Ka1 kh8 Qb8}",
                ],
            ),
            ("stalemate", &[]),
            ("x = 3 x > power A", &["x = 3"]),
            ("(position Ka1 kh8)", &[]),
            ("no query {", &[]),
        ] {
            assert_eq!(texts(query), expected, "{query}");
        }
    }

    #[test]
    fn there_are_few_however_many_conditions_a_query_has() {
        let query = format!("{{{}}}", ["Ka1"; 50].join(" "));
        assert!(texts(&query).len() <= 20);
        assert!(texts(&format!("{{{}}}", ["Ka1"; 900].join(" "))).is_empty());
        let distinct: Vec<String> = ('a'..='h').map(|file| format!("P{file}2")).collect();
        assert!(texts(&distinct.join(" ")).len() <= 20);
    }
}
