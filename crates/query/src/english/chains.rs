//! Describes moves and sequences: lines and paths.

use shakmaty::Role;

use super::{Teller, nouns};
use crate::tree::{
    Chain, ConditionOp, Edge, Focus, Kind as _, Line, Number, NumberOp, Path, PathStep, Promotion, Ref,
    Sibling, SquaresOp, Written,
};

impl Teller<'_> {
    /// Describes a move from the current position, or the move that led to the current position. Returns `None` if part of the move
    /// filter cannot be described.
    pub(super) fn edge_here(&self, edge: &Edge<Written>) -> Option<String> {
        let when = if edge.entering { "last" } else { "next" };
        Some(format!("{} {when}", self.edge(edge, "a piece")?))
    }

    /// Describes a move. If the query does not restrict the moving piece, it is described as `any`.
    fn edge(&self, edge: &Edge<Written>, any: &str) -> Option<String> {
        let who = edge.from.as_ref().map_or(Some(any.into()), |from| self.noun(from))?;
        let verb = match (edge.capture, edge.entering) {
            (true, false) => "captures",
            (true, true) => "captured",
            (false, false) => "moves",
            (false, true) => "moved",
        };
        let whither = match (&edge.to, edge.capture) {
            (None, true) => " a piece".into(),
            (None, false) => String::new(),
            (Some(to), true) => format!(" {}", self.noun(to)?),
            (Some(to), false) => format!(" to {}", nouns::target(to)?),
        };
        let what = match &edge.promotion {
            None => String::new(),
            Some(Promotion::Letters(_)) => return None,
            Some(Promotion::Pieces(pieces)) => {
                let verb = if edge.entering { "became" } else { "becomes" };
                format!(" and {verb} a {}", nouns::kinds(*pieces)?)
            }
        };
        Some(format!("{who} {verb}{whither}{what}"))
    }

    /// Describes a line: positions that follow each other.
    pub(super) fn line(&self, line: &Line<Written>) -> Option<String> {
        let count = count(line.range.as_ref())?;
        let which = match line.sibling {
            Some(Sibling::Secondary) => return None,
            Some(Sibling::Primary) => " by first moves",
            None => "",
        };
        let color = if line.single_color { " with the same side to move" } else { "" };
        let comma = if count.is_empty() && color.is_empty() { "" } else { "," };
        let order = if line.back { "one before the other" } else { "one after the other" };
        let steps = told(&line.chain, &|step| {
            let filter = step.filter.node();
            match filter {
                Ref::Condition(f) if matches!(f.op(), ConditionOp::Bool(true)) => Some("any position".into()),
                _ => Some(self.clause(filter)),
            }
        })?;
        let ban = if line.nestban { "; positions of such a line begin no other" } else { "" };
        Some(format!("in {count}positions{color}{comma} {order}{which}: {steps}{ban}"))
    }

    /// Describes a path: moves that follow each other.
    pub(super) fn path(&self, path: &Path<Written>) -> Option<String> {
        if path.range.is_some() || path.max.is_some() {
            return None;
        }
        let (whose, any) = match &path.focus {
            None => (String::new(), "a piece"),
            Some(Focus::SideToMove) => (" of the side to move".into(), "one of its pieces"),
            Some(Focus::Pieces { capture, of }) => {
                let pieces = match of.op() {
                    SquaresOp::Designator { pieces, squares }
                        if nouns::single(*pieces).is_none_or(|one| one.role != Role::King) =>
                    {
                        nouns::plural(*pieces, *squares)?
                    }
                    _ => self.noun(of)?,
                };
                let captures = if *capture { " and captures" } else { "" };
                (
                    format!("{captures} of {pieces} of this position, whatever moves are between"),
                    "one of them",
                )
            }
        };
        let which = if path.primary { " by first moves" } else { "" };
        let steps = told(&path.chain, &|step| {
            Some(match step {
                PathStep::Filter(filter) => format!("there {}", self.clause(filter.node())),
                PathStep::Edge { edge, targets } => {
                    let edge = self.edge(edge, any)?;
                    let targets: Vec<String> =
                        targets.iter().map(|target| self.clause(target.node())).collect();
                    match &targets[..] {
                        [] => edge,
                        targets => format!("{edge}, after which {}", super::listed(targets, "and")),
                    }
                }
            })
        })?;
        let ban = if path.nestban { "; positions of such a path begin no other" } else { "" };
        Some(format!("in moves one after the other{whose}{which}: {steps}{ban}"))
    }
}

/// Returns the text for the number of positions that a range allows, such as `3 to 5 `. Without a range, the text is empty. Returns
/// `None` if a bound is not a literal.
fn count(range: Option<&[Number<Written>; 2]>) -> Option<String> {
    match range.map(|[low, high]| (low.op(), high.op())) {
        None => Some(String::new()),
        Some((NumberOp::Int(low), NumberOp::Int(high))) => Some(format!("{} ", nouns::range(*low, *high))),
        Some(_) => None,
    }
}

/// Describes the constituents (filters or moves) of a chain, in order. `tell` describes one constituent.
fn told<T>(chain: &Chain<T>, tell: &dyn Fn(&T) -> Option<String>) -> Option<String> {
    match chain {
        Chain::One(one) => tell(one),
        Chain::Sequence(all) => {
            let mut whole = String::new();
            for part in all {
                let part = told(part, tell)?;
                whole.push_str(match (whole.is_empty(), part.starts_with("there ")) {
                    (true, _) => "",
                    (false, true) => "; ",
                    (false, false) => "; then ",
                });
                whole.push_str(&part);
            }
            Some(whole)
        }
        Chain::Repeat { of, min, max } => {
            let times = match (*min, *max) {
                (0, None) => "any number of times".into(),
                (1, None) => "once or more".into(),
                (min, None) => format!("{min} times or more"),
                (0, Some(1)) => "at most once".into(),
                (0, Some(max)) => format!("at most {max} times"),
                (min, Some(max)) if min == max => format!("{min} times"),
                (min, Some(max)) => format!("{min} to {max} times"),
            };
            let inner = told(of, tell)?;
            Some(match **of {
                Chain::Sequence(ref all) if all.len() > 1 => format!("{times} ({inner})"),
                _ => format!("{times} {inner}"),
            })
        }
    }
}
