//! What `line` and `path` have in common, and what they remember in a game.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{
    eval::Evaluation,
    found::{Note, Noted},
    program::Program,
    search::Search,
    walks::Walk,
};
use crate::{
    diagnostic::{Diagnostic, Span},
    query::tree::Chain,
};

/// What the chains of a query remember in one game. Each copy of a chain is known by its place in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    programs: HashMap<usize, Option<Rc<Compiled>>>,
    /// `nestban`: the positions at which a chain cannot begin any more.
    banned: HashMap<usize, HashSet<usize>>,
    /// The path that succeeded last.
    pub(super) last_walk: Option<Walk>,
    /// The longest runs that `consecutivemoves` has found on two ways.
    runs: [Vec<usize>; 2],
}

/// A chain that is ready to be searched for.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) program: Program,
    /// All ways have to be walked.
    pub(super) keeps_state: bool,
}

impl Chains {
    /// Keeps a pair of runs if it is longer than any before.
    pub(super) fn keep_longest(&mut self, runs: [Vec<usize>; 2]) {
        if runs[0].len() > self.runs[0].len() {
            self.runs = runs;
        }
    }

    /// Comments on the moves of the longest runs, which belong to the whole game.
    pub(super) fn notes(&self) -> Vec<Note> {
        let moves = self.runs.iter().flat_map(|run| run.iter().zip(1..));
        moves
            .map(|(&at, k)| Note { at, what: Noted::Automatic(format!("x-move[{k}]").into_bytes()) })
            .collect()
    }
}

impl Evaluation<'_> {
    /// The program of the chain of a filter.
    pub(super) fn compiled<T>(
        &mut self,
        key: usize,
        chain: &Chain<T>,
        span: Span,
        keeps_state: impl FnOnce() -> bool,
    ) -> Option<Rc<Compiled>> {
        let nodes = self.nodes.len();
        let compile =
            || Some(Rc::new(Compiled { program: Program::new(chain, nodes)?, keeps_state: keeps_state() }));
        let compiled = self.state.chains.programs.entry(key).or_insert_with(compile).clone();
        if compiled.is_none() {
            let message = format!("counted repeats lead to more than {} constituents", Program::OPS_MAX);
            let help = "repeat fewer times, or with `*` or `+`";
            self.state.fail(Diagnostic::error(span, message, "repeated here").help(help));
        }
        compiled
    }

    /// Ends the run: a search has too much to try.
    pub(super) fn search_too_long(&mut self, name: &str, span: Span) {
        let number = self.here.spot.game.number();
        let message =
            format!("this `{name}` has more than {} ways to be tried in game {number}", Search::STEPS_MAX);
        let help = "nest fewer repeats, or assign no variables in it: without them equal ways are tried once";
        self.state.fail(Diagnostic::error(span, message, "searched here").help(help));
    }

    /// Whether `nestban` forbids a chain to begin here.
    pub(super) fn is_banned(&self, key: usize) -> bool {
        self.state.chains.banned.get(&key).is_some_and(|banned| banned.contains(&self.here.at))
    }

    /// No chain of this filter begins there any more.
    pub(super) fn ban(&mut self, key: usize, nodes: impl IntoIterator<Item = usize>) {
        self.state.chains.banned.entry(key).or_default().extend(nodes);
    }

    /// Comments on both ends of a chain that begins here.
    pub(super) fn note_ends(&mut self, name: &str, length: i32, end: usize, value: &str) {
        let start = self.here.at;
        let place = self.position_text(start, Noted::Automatic);
        self.note_automatic(end, format!("End {name} of length {length} that starts at {place}{value}"));
        let place = self.position_text(end, Noted::Automatic);
        self.note_automatic(start, format!("Start {name} that ends at {place}"));
    }
}

/// How a filter is known as long as a game is evaluated.
pub(super) fn key<T>(filter: &T) -> usize {
    std::ptr::from_ref(filter).addr()
}
