//! What a filter stands in: some filters mean another thing in a target of `--`, in a constituent of a `line`, or in a
//! `path`.

use super::{memory::PathProgress, played::Selected};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// In the target of a `--`: what of the move `from` and `to` name.
    pub(super) selected: Option<Selected>,
    /// In a constituent of a `line` that is asked of one move: the position that it leads to.
    pub(super) tied: Option<usize>,
    /// In a `path`: how far it has come.
    pub(super) walk: Option<PathProgress>,
}
