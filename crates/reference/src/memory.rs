//! The data that `line` and `path` store during the evaluation of a game.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{
    found::{Note, Noted},
    program::ChainProgram,
};

/// The data of all chains in a query during one game. A chain is identified by its address, so it has separate data in each copy
/// (transformed filter) of its filter.
#[derive(Clone, Debug, Default)]
pub(super) struct ChainMemory {
    pub(super) programs: HashMap<usize, Option<Rc<CompiledChain>>>,
    /// For each chain, the positions at which `nestban` forbids the chain to begin.
    pub(super) banned: HashMap<usize, HashSet<usize>>,
    /// The last path that matched.
    pub(super) last_walk: Option<PathProgress>,
    /// The longest common sequence of moves that `consecutivemoves` has found, once for each of its two variables.
    runs: [MoveRun; 2],
}

/// A sequence of moves that `consecutivemoves` found on the way to the position in a variable: the variable's name, and the
/// positions after the moves.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveRun {
    pub(super) name: String,
    pub(super) nodes: Vec<usize>,
}

/// A chain compiled to a program.
#[derive(Clone, Debug)]
pub(super) struct CompiledChain {
    pub(super) program: ChainProgram,
    /// True if a filter in the chain keeps state. The search must then try all ways to match the chain.
    pub(super) keeps_state: bool,
}

impl ChainMemory {
    /// Stores the two runs that a `consecutivemoves` has found (equal moves on the ways to two positions), if they are longer than
    /// all earlier ones.
    pub(super) fn keep_longest(&mut self, runs: [MoveRun; 2]) {
        if runs[0].nodes.len() > self.runs[0].nodes.len() {
            self.runs = runs;
        }
    }

    /// Returns the comments on the moves of the longest sequences that `consecutivemoves` has found. They are written once per
    /// game.
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

/// The progress of a search for a path or, after the path has matched, the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathProgress {
    pub(super) start: usize,
    /// The number of moves so far that the path counts. It counts all moves or, if it has a `focus`, only moves of the pieces in
    /// focus and, with `capture`, captures of them.
    pub(super) count: i32,
    pub(super) unfocused: i32,
    /// The last position of the best way to match the path that has been found so far. After the match, it is the last position of
    /// the path.
    pub(super) last: Option<usize>,
}
