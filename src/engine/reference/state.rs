//! What an evaluation keeps from filter to filter and from position to position of a game.

use super::eval::Evaluated;
use crate::{diagnostic::Diagnostic, query::tree::Cells};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// What variables hold.
    pub(super) cells: Cells<Evaluated>,
    /// Why the run cannot go on, once that is so: then filters fail, and loops end.
    pub(super) fault: Option<Diagnostic>,
}

impl State {
    /// At the start of a game.
    pub(super) fn new(vars: usize) -> State {
        State { cells: Cells::unbound(vars), fault: None }
    }
}
