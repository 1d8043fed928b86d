//! Lowers operations of the game language (filters about moves and other positions) to the graph, one function for each kind of
//! value.

use crate::{
    dag::{Id, Op, TRUE},
    lower::Lower,
    operations::{GameOp, Leaf},
};
use orbit_query::tree::{
    Elsewhere, GameCondition as C, GameNumber as N, GameSquares as S, Kind as _, MoveOf, Sibling,
};
use orbit_transforms::{Expanded, Number, Squares};

impl Lower {
    /// Returns the mask of positions at which a condition about moves or other positions of the game is true.
    pub(crate) fn game_condition(&mut self, op: &C<Expanded>) -> Id {
        match op {
            C::At { at, of } => self.mask_at(at, |lower| lower.condition(of)),
            C::Edge { edge, target } => self.edge_truth(edge, |lower| lower.target(target.as_ref())),
            C::Move(of) => self.move_truth(of),
            C::Sibling(Sibling::Primary) => self.leaf(Leaf::Sibling(Sibling::Primary)),
            C::Sibling(Sibling::Secondary) => self.leaf(Leaf::Sibling(Sibling::Secondary)),
            C::Arrived(special) => self.leaf(Leaf::Arrived(*special)),
            C::NullMove => self.leaf(Leaf::NullMove),
            C::Mainline => self.leaf(Leaf::Mainline),
            C::Variation => {
                let mainline = self.leaf(Leaf::Mainline);
                self.not(mainline)
            }
            C::VirtualMainline => self.leaf(Leaf::VirtualMainline),
            C::Try => self.leaf(Leaf::Try),
            C::Ancestor { ancestor, of } => self.is_before(ancestor, of),
            C::Comment(of) => {
                // A plan writes no comments, but the filters in a comment may assign variables.
                for filter in of {
                    self.truth(filter.node());
                }
                self.dag.word(TRUE)
            }
            _ => unreachable!("the planner has refused the query"),
        }
    }

    /// Lowers a set filter about moves or other positions of the game.
    pub(crate) fn game_squares(&mut self, op: &S<Expanded>) -> Id {
        match op {
            S::Elsewhere(Elsewhere::At { at, of }) => self.word_at(at, 0, |lower| lower.squares(of)),
            S::Elsewhere(Elsewhere::Edge { edge, target }) => self.edge_word(edge, 0, |lower| {
                let set = lower.squares(target);
                (set, lower.dag.mask(true))
            }),
            S::From => self.moved_squares(false),
            S::To => self.moved_squares(true),
            S::EnPassantSquare => self.leaf(Leaf::EnPassant),
            S::Move(of) => self.move_squares(of),
            S::SameContents(a, b) => self.same_contents(a, b),
            _ => unreachable!("the planner has refused the query"),
        }
    }

    /// Returns the mask of positions at which a set filter about moves or other positions of the game has a non-empty value. As a
    /// condition, a `--` filter uses the first move after which its target is non-empty.
    pub(crate) fn game_squares_truth(&mut self, op: &S<Expanded>) -> Id {
        let some = |of: &Squares| {
            let of = of.clone();
            move |lower: &mut Lower| lower.truth(of.node())
        };
        match op {
            S::Elsewhere(Elsewhere::At { at, of }) => self.mask_at(at, some(of)),
            S::Elsewhere(Elsewhere::Edge { edge, target }) => self.edge_truth(edge, some(target)),
            S::Move(of) => self.move_truth(of),
            _ => {
                let set = self.game_squares(op);
                self.dag.add(Op::NonEmpty(set))
            }
        }
    }

    /// Lowers a number filter about moves or other positions of the game. Returns the number, and the mask of positions at which it
    /// has a value.
    pub(crate) fn game_number(&mut self, op: &N<Expanded>) -> (Id, Id) {
        let always = self.dag.mask(true);
        match op {
            N::Elsewhere(of) => {
                let word = self.elsewhere_word(of, |lower, f| lower.number(f));
                self.unpacked_number(word)
            }
            N::CountMoves { edge, target } => (self.count_moves(edge, target.as_ref()), always),
            N::Move(of) if matches!(of.of, MoveOf::Legal | MoveOf::Pseudolegal) => {
                (self.legal_number(of), always)
            }
            N::Line(line) => self.line(line, false),
            N::Path(path) => self.path(path, false),
            N::PositionId => (self.leaf(Leaf::Number), always),
            N::Depth => (self.leaf(Leaf::Depth), always),
            N::Distance(a, b) => self.of_two(GameOp::Distance, a, b),
            N::Sort { of, .. } => self.number(of),
            N::LastGameNumber => self.column_number(crate::TagColumn::LastGameNumber),
            _ => unreachable!("the planner has refused the query"),
        }
    }

    /// Returns the mask of positions at which a number filter about moves or other positions of the game has a value.
    pub(crate) fn game_number_truth(&mut self, op: &N<Expanded>) -> Id {
        let some = |of: &Number| {
            let of = of.clone();
            move |lower: &mut Lower| lower.truth(of.node())
        };
        match op {
            N::Elsewhere(Elsewhere::At { at, of }) => self.mask_at(at, some(of)),
            N::Elsewhere(Elsewhere::Edge { edge, target }) => self.edge_truth(edge, some(target)),
            N::Sort { of, .. } => self.truth(of.node()),
            _ => self.game_number(op).1,
        }
    }
}
