//! What a filter stands in: some filters mean another thing in a target of `--`, in a constituent of a `line`, or in a
//! `path`.

use super::{edges::Selected, eval::Evaluation, walks::Walk};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// In the target of a `--`: what of the move `from` and `to` name.
    pub(super) selected: Option<Selected>,
    /// In a constituent of a `line` that is asked of one move: the position that it leads to.
    pub(super) tied: Option<usize>,
    /// In a `path`: how far it has come.
    pub(super) walk: Option<Walk>,
}

impl Evaluation<'_> {
    /// What a function yields in a scope that differs from the one here.
    pub(super) fn scoped<T>(
        &mut self,
        change: impl FnOnce(&mut Scope),
        evaluate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.scope.clone();
        change(&mut self.scope);
        let value = evaluate(self);
        self.scope = outer;
        value
    }

    /// What a function yields outside of the target of a `--`.
    pub(super) fn unselected<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.scoped(|scope| scope.selected = None, evaluate)
    }

    /// What a function yields where a `move` is asked of all moves.
    pub(super) fn untied<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.scoped(|scope| scope.tied = None, evaluate)
    }

    /// What a function yields at a position that a filter before a colon names.
    pub(super) fn apart<T>(&mut self, at: usize, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        self.untied(|apart| apart.unselected(|apart| apart.there(at, evaluate)))
    }
}
