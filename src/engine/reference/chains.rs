//! Chains of positions and of moves: `line` and `path`.

use super::{copies::Explicit, eval::Evaluation};
use crate::query::tree::{Line, Path};

impl Evaluation<'_> {
    pub(super) fn line_length(&mut self, _line: &Line<Explicit>) -> Option<i32> {
        None
    }

    pub(super) fn line_end(&mut self, _line: &Line<Explicit>) -> Option<i32> {
        None
    }

    pub(super) fn path_value(&mut self, _path: &Path<Explicit>) -> Option<i32> {
        None
    }

    pub(super) fn path_end(&mut self, _path: &Path<Explicit>) -> Option<i32> {
        None
    }

    pub(super) fn path_count(&self) -> Option<i32> {
        None
    }

    pub(super) fn path_count_unfocused(&self) -> Option<i32> {
        None
    }

    pub(super) fn path_start(&self) -> Option<i32> {
        None
    }

    pub(super) fn path_last(&self) -> Option<i32> {
        None
    }
}
