//! The context of a filter. Some filters have a different meaning in the target of a `--`, in a constituent of a `line`, or in a
//! `path`.

use super::{memory::PathProgress, played::Selected};

/// The context in which a filter is evaluated.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// In the target of a `--`, the part of the move that the `--` has selected. `from` and `to` are the squares of this part.
    pub(super) selected: Option<Selected>,
    /// In a constituent of a `line` that is evaluated for one particular move, the position after that move.
    pub(super) tied: Option<usize>,
    /// In a `path`, the progress of the path's search.
    pub(super) walk: Option<PathProgress>,
}
