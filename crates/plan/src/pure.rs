//! Lowers pure mates and stalemates to the graph.
//!
//! One operation finds the men that take part in the mate or stalemate. Operations on sets then test whether enough men take
//! part.

use super::{
    dag::{Id, Op},
    lower::Lower,
};
use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{PureKind, contents_where};

impl Lower {
    /// Returns the men that take part in a mate or stalemate of this kind. At positions without one, the set is empty.
    pub(super) fn pure(&mut self, kind: PureKind, mate: bool) -> Id {
        let within = self.no_moves(mate);
        let men = self.dag.add(Op::PureMen { within, mate });
        let wanted = match kind {
            PureKind::Pure => return men,
            PureKind::Model => {
                let white = self.dag.add(Op::WhiteToMove);
                let [by_white, by_black] = [0, 8].map(|color| {
                    let officers = contents_where(|Code(code)| matches!(code ^ color, 2..=5));
                    self.dag.pieces(officers)
                });
                self.select(white, by_black, by_white)
            }
            PureKind::Ideal => self.dag.pieces(PieceSet::WHITE.union(PieceSet::BLACK)),
        };
        let idle = self.dag.add(Op::AndNot(wanted, men));
        let some_idle = self.dag.add(Op::NonEmpty(idle));
        self.dag.add(Op::AndNot(men, some_idle))
    }
}
