//! The context of a filter: some filters have another meaning in a target of `--`, in a constituent of a `line`, or in
//! a `path`.

use super::{memory::PathProgress, played::Selected};

/// The context in which a filter is evaluated.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// In the target of a `--`: the part of the move that `from` and `to` name.
    pub(super) selected: Option<Selected>,
    /// In a constituent of a `line` that is tried by one move: the position to which that move leads.
    pub(super) tied: Option<usize>,
    /// In a `path`: its progress.
    pub(super) walk: Option<PathProgress>,
}
