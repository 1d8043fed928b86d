//! Code shared by `line` and `path`. A *chain* is the sequence of constituents of a `line` or `path` filter. The search matches it
//! against positions or moves of the game.

use std::rc::Rc;

use super::{
    eval::Evaluation,
    found::Noted,
    memory::CompiledChain,
    program::ChainProgram,
    search::{Goal, SearchTooLong},
};
use orbit_core::diagnostic::{Diagnostic, Span};
use orbit_query::tree::Chain;

/// A match of a chain, with its value (the length, or the number that `max` maximizes) and its last position.
pub(super) struct Chained {
    pub(super) value: i32,
    pub(super) end: usize,
}

impl Evaluation<'_> {
    /// Returns the compiled program for the chain of a filter. Chains are compiled on first use.
    pub(super) fn compiled<T>(
        &mut self,
        key: usize,
        chain: &Chain<T>,
        span: Span,
        keeps_state: impl FnOnce() -> bool,
    ) -> Option<Rc<CompiledChain>> {
        let nodes = self.nodes.len();
        let compile = || {
            Some(Rc::new(CompiledChain {
                program: ChainProgram::new(chain, nodes)?,
                keeps_state: keeps_state(),
            }))
        };
        let compiled = self.state.chains.programs.entry(key).or_insert_with(compile).clone();
        if compiled.is_none() {
            let message = format!("counted repeats lead to more than {} constituents", ChainProgram::OPS_MAX);
            let help = "repeat fewer times, or with `*` or `+`";
            self.state.fail(Diagnostic::error(span, message, "repeated here").help(help));
        }
        compiled
    }

    /// Returns the result of a search for a `line` or a `path`. If the search exceeded its limit, records an error, which ends the
    /// evaluation. `name` is `line` or `path`, for the error message.
    pub(super) fn goal(
        &mut self,
        found: Result<Option<Goal>, SearchTooLong>,
        name: &str,
        span: Span,
    ) -> Option<Goal> {
        found.unwrap_or_else(|error| {
            self.state.fail(error.fault(name, self.here.spot.game.number(), span));
            None
        })
    }

    /// Returns true if `nestban` forbids the chain to begin at the current position.
    pub(super) fn is_banned(&self, key: usize) -> bool {
        self.state.chains.banned.get(&key).is_some_and(|banned| banned.contains(&self.here.at))
    }

    /// Forbids a filter's chain to begin at the given positions.
    pub(super) fn ban(&mut self, key: usize, nodes: impl IntoIterator<Item = usize>) {
        self.state.chains.banned.entry(key).or_default().extend(nodes);
    }

    /// Adds comments at the first and last positions of a chain that begins at the current position.
    pub(super) fn note_ends(&mut self, name: &str, length: i32, end: usize, value: &str) {
        let start = self.here.at;
        let place = self.position_text(start, Noted::Automatic);
        self.note_automatic(end, format!("End {name} of length {length} that starts at {place}{value}"));
        let place = self.position_text(end, Noted::Automatic);
        self.note_automatic(start, format!("Start {name} that ends at {place}"));
    }
}

/// Returns a key that identifies a filter during the evaluation of a game. The key is the address of the filter.
pub(super) fn key<T>(filter: &T) -> usize {
    std::ptr::from_ref(filter).addr()
}
