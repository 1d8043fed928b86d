//! Checks that every variable is assigned before it is read.
//!
//! CQL stops a run at the first read of an unassigned variable. Here a query in which that could
//! happen at any position is refused before it runs, so that no engine needs a notion of
//! "unassigned".

use super::tree::{Node, Op, Query, Type, VarId};
use crate::diagnostic::Diagnostic;

/// Variables are bits of a word.
pub(super) const VARS_MAX: usize = 64;

/// What is assigned once a filter has been evaluated.
#[derive(Clone, Copy)]
struct After {
    /// If it matched.
    matched: u64,
    /// Whether it matched or not.
    always: u64,
}

/// Checks a whole query.
///
/// # Errors
///
/// The first variable that may be read before it is assigned.
pub(super) fn check(query: &Query) -> Result<(), Diagnostic> {
    visit(&query.body, 0, query).map(|_| ())
}

fn bit(var: VarId) -> u64 {
    1 << var.0
}

fn visit(node: &Node, before: u64, query: &Query) -> Result<After, Diagnostic> {
    let same = |set| After { matched: set, always: set };
    match &node.op {
        Op::Var(var) => {
            if before & bit(*var) == 0 {
                let name = &query.vars[var.0 as usize].name;
                return Err(Diagnostic::error(
                    node.span,
                    format!("`{name}` may be read before it is assigned"),
                    "not assigned on every way to here",
                )
                .help("variables that carry a value from one position to the next are not supported yet"));
            }
            Ok(same(before))
        }
        Op::Assign(var) => {
            let rhs = visit(&node.args[0], before, query)?;
            let always = if node.args[0].ty == Type::Set { rhs.always | bit(*var) } else { rhs.always };
            Ok(After { matched: rhs.always | bit(*var), always })
        }
        Op::Compound | Op::And => {
            let first = visit(&node.args[0], before, query)?;
            let mut matched = first.matched;
            for arg in &node.args[1..] {
                matched = visit(arg, matched, query)?.matched;
            }
            Ok(After { matched, always: first.always })
        }
        Op::Or => {
            let left = visit(&node.args[0], before, query)?;
            let right = visit(&node.args[1], left.always, query)?;
            Ok(After { matched: left.matched & right.matched, always: left.always })
        }
        Op::Not => Ok(same(visit(&node.args[0], before, query)?.always)),
        Op::If => {
            let cond = visit(&node.args[0], before, query)?;
            let then = visit(&node.args[1], cond.matched, query)?;
            let Some(arg) = node.args.get(2) else { return Ok(same(cond.always)) };
            let other = visit(arg, cond.always, query)?;
            Ok(After { matched: then.matched & other.matched, always: then.always & other.always })
        }
        Op::SquareLoop { var } | Op::SquareAll { var } => {
            let domain = visit(&node.args[0], before, query)?.always;
            visit(&node.args[1], domain | bit(*var), query)?;
            Ok(same(domain))
        }
        Op::Find { .. } => {
            if let Some(var) = shared_variable(&node.args[0], before) {
                let name = &query.vars[var.0 as usize].name;
                return Err(Diagnostic::error(
                    node.span,
                    format!("`{name}` is used both inside and outside of `find`"),
                    "not supported yet",
                )
                .help("filters inside `find` see other positions; give them variables of their own"));
            }
            visit(&node.args[0], 0, query).map(|_| same(before))
        }
        // An orbit may be empty, so nothing inside is sure to be evaluated.
        Op::Transform(..) => visit(&node.args[0], before, query).map(|_| same(before)),
        _ => {
            let mut set = before;
            for arg in &node.args {
                set = visit(arg, set, query)?.always;
            }
            Ok(same(set))
        }
    }
}

/// A variable of a filter that has a value before it.
fn shared_variable(filter: &Node, before: u64) -> Option<VarId> {
    let mut shared = None;
    filter.walk(&mut |node| {
        if let Op::Var(var) | Op::Assign(var) | Op::SquareLoop { var } | Op::SquareAll { var } = node.op
            && before & bit(var) != 0
        {
            shared = Some(var);
        }
    });
    shared
}
