//! What `line` and `path` remember in a game.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{
    found::{Note, Noted},
    program::ChainProgram,
};

/// What the chains of a query remember in one game. Each copy of a chain is known by its place in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct ChainMemory {
    pub(super) programs: HashMap<usize, Option<Rc<CompiledChain>>>,
    /// `nestban`: the positions at which a chain cannot begin any more.
    pub(super) banned: HashMap<usize, HashSet<usize>>,
    /// The path that succeeded last.
    pub(super) last_walk: Option<PathProgress>,
    /// The longest runs that `consecutivemoves` has found on two ways.
    runs: [MoveRun; 2],
}

/// Positions that moves lead to one after the other on the way to the position of a variable.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveRun {
    /// The name of the variable.
    pub(super) name: String,
    pub(super) nodes: Vec<usize>,
}

/// A chain that is ready to be searched for.
#[derive(Clone, Debug)]
pub(super) struct CompiledChain {
    pub(super) program: ChainProgram,
    /// All ways have to be walked.
    pub(super) keeps_state: bool,
}

impl ChainMemory {
    /// Keeps a pair of runs if it is longer than any before.
    pub(super) fn keep_longest(&mut self, runs: [MoveRun; 2]) {
        if runs[0].nodes.len() > self.runs[0].nodes.len() {
            self.runs = runs;
        }
    }

    /// Comments on the moves of the longest runs, which belong to the whole game.
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

/// How far a path has come, or came when it succeeded.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathProgress {
    pub(super) start: usize,
    /// The moves that count.
    pub(super) count: i32,
    /// The moves between them that do not.
    pub(super) unfocused: i32,
    /// The end of the best way so far, or of the path.
    pub(super) last: Option<usize>,
}
