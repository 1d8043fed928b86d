//! The memory of `line` and `path` during a game.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{
    found::{Note, Noted},
    program::ChainProgram,
};

/// The memory of a query's chains during one game. Each copy of a chain is identified by its address.
#[derive(Clone, Debug, Default)]
pub(super) struct ChainMemory {
    pub(super) programs: HashMap<usize, Option<Rc<CompiledChain>>>,
    /// The positions at which `nestban` forbids a chain to begin.
    pub(super) banned: HashMap<usize, HashSet<usize>>,
    /// The path that succeeded last.
    pub(super) last_walk: Option<PathProgress>,
    /// The longest runs that `consecutivemoves` has found, one for each of the two variables.
    runs: [MoveRun; 2],
}

/// A run of consecutive positions on the path to the position of a variable.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveRun {
    /// The name of the variable.
    pub(super) name: String,
    pub(super) nodes: Vec<usize>,
}

/// A compiled chain.
#[derive(Clone, Debug)]
pub(super) struct CompiledChain {
    pub(super) program: ChainProgram,
    /// True if the filters of the chain keep state, so that all ways have to be tried.
    pub(super) keeps_state: bool,
}

impl ChainMemory {
    /// Keeps a pair of runs if it is longer than any before.
    pub(super) fn keep_longest(&mut self, runs: [MoveRun; 2]) {
        if runs[0].nodes.len() > self.runs[0].nodes.len() {
            self.runs = runs;
        }
    }

    /// Returns comments on the moves of the longest runs, which belong to the whole game.
    pub(super) fn notes(&self) -> Vec<Note> {
        let moves = self.runs.iter().flat_map(|run| run.nodes.iter().zip(1..).map(move |it| (&run.name, it)));
        moves
            .map(|(name, (&at, k))| Note {
                at,
                what: Noted::Automatic(format!("{name}-move[{k}]").into_bytes()),
            })
            .collect()
    }
}

/// The progress of a path, or its final state after it succeeded.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathProgress {
    pub(super) start: usize,
    /// The number of moves that count.
    pub(super) count: i32,
    /// The number of moves between them that do not count.
    pub(super) unfocused: i32,
    /// The end of the best way so far, or of the finished path.
    pub(super) last: Option<usize>,
}
