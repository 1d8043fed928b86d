//! `echo`: pairs of positions of a game.

use super::{
    copies::{Explicit, Filter},
    eval::Evaluation,
};
use crate::query::tree::{Cell, Echo, Number};

impl Evaluation<'_> {
    pub(super) fn echo_condition(&mut self, echo: &Echo<Explicit, Filter>) -> bool {
        let found = self.echoes(echo, |this, body| this.matches(body).then_some(()));
        !found.is_empty()
    }

    pub(super) fn echo_number(&mut self, echo: &Echo<Explicit, Number<Explicit>>) -> Option<i32> {
        self.echoes(echo, |this, body| this.number(body)).into_iter().max()
    }

    /// What the body yields at the other positions of the game, in the order of their numbers. All are visited.
    fn echoes<F, T>(
        &mut self,
        echo: &Echo<Explicit, F>,
        mut evaluate: impl FnMut(&mut Self, &F) -> Option<T>,
    ) -> Vec<T> {
        let source = self.here.at;
        self.state.cells.bind(echo.source, Cell::Position(source as i32));
        let mut out = Vec::new();
        for target in 0..self.nodes.len() {
            if target == source && !echo.in_all {
                continue;
            }
            self.state.cells.bind(echo.target, Cell::Position(target as i32));
            out.extend(self.there(target, |there| evaluate(there, &echo.body)));
        }
        self.state.cells.bind(echo.source, Cell::Unbound);
        self.state.cells.bind(echo.target, Cell::Unbound);
        out
    }
}
