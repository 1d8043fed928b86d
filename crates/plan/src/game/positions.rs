//! Lowers positions of a game to the graph. This includes position numbers, comparisons of positions, and filters that are
//! evaluated at other positions.

use crate::{
    dag::{Id, NO_VALUE, Op},
    lower::Lower,
    operations::{GameOp, Leaf},
};
use orbit_query::tree::{Cmp, GamePosition, PositionOp, PositionOrder};
use orbit_transforms::{Expanded, Number, Position};

/// Returns true if the filter is the current position.
fn is_here(position: &Position) -> bool {
    matches!(position.op(), PositionOp::Game(GamePosition::Current))
}

impl Lower {
    pub(crate) fn game_position(&mut self, op: &GamePosition<Expanded>) -> (Id, Id) {
        match op {
            GamePosition::Current => (self.leaf(Leaf::Number), self.dag.mask(true)),
            GamePosition::Parent => {
                let parent = self.leaf(Leaf::Parent);
                self.unpacked_number(parent)
            }
            GamePosition::Child(n) => self.numbered(GameOp::Child, n),
            GamePosition::Numbered(n) => self.numbered(GameOp::Numbered, n),
            GamePosition::LastCommonAncestor(a, b) => self.of_two(GameOp::Fork, a, b),
            GamePosition::Compare { by, left, right } => {
                let (left_number, left_ok) = self.position(left);
                let holds = self.ordered(*by, left, right);
                (left_number, self.and(left_ok, holds))
            }
            GamePosition::Elsewhere(of) => {
                let word = self.elsewhere_word(of, |lower, f| lower.position(f));
                self.unpacked_number(word)
            }
            GamePosition::LineEnd(line) => self.line(line, true),
            GamePosition::PathEnd(path) => self.path(path, true),
            GamePosition::Entry { .. } | GamePosition::PathStart | GamePosition::PathLast => {
                unreachable!("the planner has refused the query")
            }
        }
    }

    fn numbered(&mut self, op: GameOp, n: &Number) -> (Id, Id) {
        let number = self.number(n);
        let number = self.packed_number(number);
        let word = self.dag.game(op, vec![number]);
        self.unpacked_number(word)
    }

    fn packed_position(&mut self, position: &Position) -> Id {
        if is_parent(position) {
            return self.leaf(Leaf::Parent);
        }
        let position = self.position(position);
        self.packed_number(position)
    }

    /// Returns the number or position that an operation computes from two positions, and the mask of positions at which the result
    /// has a value.
    pub(super) fn of_two(&mut self, op: GameOp, a: &Position, b: &Position) -> (Id, Id) {
        let operands = vec![self.packed_position(a), self.packed_position(b)];
        let word = self.dag.game(op, operands);
        self.unpacked_number(word)
    }

    /// Returns the mask of positions at which `a` is an ancestor of `b` and not the same position.
    pub(super) fn is_before(&mut self, a: &Position, b: &Position) -> Id {
        let operands = vec![self.packed_position(a), self.packed_position(b)];
        self.dag.game(GameOp::Before, operands)
    }

    /// Returns the mask of positions at which both operands have values and are in the given order.
    fn ordered(&mut self, by: PositionOrder, left: &Position, right: &Position) -> Id {
        match by {
            PositionOrder::Number(cmp) => {
                let ((a, a_ok), (b, b_ok)) = (self.position(left), self.position(right));
                let holds = self.dag.add(Op::Compare(cmp, a, b));
                let both = self.and(a_ok, b_ok);
                self.and(holds, both)
            }
            PositionOrder::Before => self.is_before(left, right),
            PositionOrder::After => self.is_before(right, left),
            PositionOrder::NotAfter => {
                let (before, same) =
                    (self.is_before(left, right), self.ordered(PositionOrder::Number(Cmp::Eq), left, right));
                self.or(before, same)
            }
            PositionOrder::NotBefore => self.ordered(PositionOrder::NotAfter, right, left),
        }
    }

    /// Returns the squares that have the same content at two positions.
    pub(super) fn same_contents(&mut self, a: &Position, b: &Position) -> Id {
        let mut differ = self.dag.word(0);
        for plane in 0..4 {
            let plane = self.dag.add(Op::Plane(plane));
            let [a, b] = [a, b].map(|position| {
                if is_here(position) {
                    return plane;
                }
                let position = self.packed_position(position);
                let none = self.dag.word(0);
                self.dag.game(GameOp::WordAt, vec![position, plane, none])
            });
            let (only_a, only_b) = (self.dag.add(Op::AndNot(a, b)), self.dag.add(Op::AndNot(b, a)));
            let either = self.or(only_a, only_b);
            differ = self.or(differ, either);
        }
        let (a_ok, b_ok) = (self.position(a).1, self.position(b).1);
        let both = self.and(a_ok, b_ok);
        self.dag.add(Op::AndNot(both, differ))
    }

    /// Evaluates `mask` at another position, the value of `at`. Returns the mask of positions at which the result is true.
    pub(super) fn mask_at(&mut self, at: &Position, mask: impl FnOnce(&mut Lower) -> Id) -> Id {
        let position = self.packed_position(at);
        let mask = self.apart(mask);
        if is_parent(at) {
            return self.dag.game(GameOp::MaskOfParent, vec![mask]);
        }
        self.dag.game(GameOp::MaskAt, vec![position, mask])
    }

    /// Evaluates `word` at another position, the value of `at`. The result is `none` if there is no such position.
    pub(super) fn word_at(&mut self, at: &Position, none: u64, word: impl FnOnce(&mut Lower) -> Id) -> Id {
        let position = self.packed_position(at);
        let word = self.apart(word);
        let none = self.dag.word(none);
        self.dag.game(GameOp::WordAt, vec![position, word, none])
    }

    /// Returns the value of a number or position filter that is evaluated at another position, packed into one word.
    pub(super) fn elsewhere_word<F>(
        &mut self,
        of: &orbit_query::tree::Elsewhere<Expanded, F>,
        number: impl FnOnce(&mut Lower, &F) -> (Id, Id),
    ) -> Id {
        use orbit_query::tree::Elsewhere;
        let none = NO_VALUE as u64;
        match of {
            Elsewhere::At { at, of } => self.word_at(at, none, |lower| {
                let number = number(lower, of);
                lower.packed_number(number)
            }),
            Elsewhere::Edge { edge, target } => self.edge_word(edge, none, |lower| number(lower, target)),
        }
    }
}

fn is_parent(position: &Position) -> bool {
    matches!(position.op(), PositionOp::Game(GamePosition::Parent))
}
