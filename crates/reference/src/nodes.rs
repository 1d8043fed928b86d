//! Evaluates filters that return positions, and filters that compare positions. A *node* is a position of the game, identified by
//! its number.

use shakmaty::{Bitboard, Color, Piece, Square};

use super::{copies::ExplicitForm, eval::Evaluation, memory::MoveRun, played::PlayedMove};
use orbit_core::diagnostic::Span;
use orbit_query::tree::{Number, Position, PositionOrder, VarId};

/// The properties of a move that `consecutivemoves` compares.
#[derive(PartialEq)]
struct Shift {
    step: Option<(Square, Square)>,
    man: Option<Piece>,
}

impl Evaluation<'_> {
    /// Evaluates a position filter. Returns its value as a node (a position number), or `None` if it has no value.
    pub(super) fn node(&mut self, of: &Position<ExplicitForm>) -> Option<usize> {
        self.position(of).and_then(|at| usize::try_from(at).ok())
    }

    pub(super) fn parent(&self) -> Option<i32> {
        self.tree().parent(self.here.at).map(numbered)
    }

    /// Evaluates `child(n)`.
    pub(super) fn child(&mut self, n: &Number<ExplicitForm>) -> Option<i32> {
        let n = usize::try_from(self.number(n)?).ok()?;
        self.tree().children(self.here.at).get(n).copied().map(numbered)
    }

    /// Evaluates `position n`.
    pub(super) fn numbered(&mut self, n: &Number<ExplicitForm>) -> Option<i32> {
        let n = usize::try_from(self.number(n)?).ok()?;
        (n < self.nodes.len()).then_some(numbered(n))
    }

    fn both(&mut self, a: &Position<ExplicitForm>, b: &Position<ExplicitForm>) -> Option<(usize, usize)> {
        let (a, b) = (self.node(a), self.node(b));
        Some((a?, b?))
    }

    pub(super) fn last_common_ancestor(
        &mut self,
        a: &Position<ExplicitForm>,
        b: &Position<ExplicitForm>,
        span: Span,
    ) -> Option<i32> {
        let (a, b) = self.both(a, b)?;
        self.state.step_nodes(a, span);
        self.tree().last_common_ancestor(a, b).map(numbered)
    }

    pub(super) fn distance(
        &mut self,
        a: &Position<ExplicitForm>,
        b: &Position<ExplicitForm>,
        span: Span,
    ) -> Option<i32> {
        let (a, b) = self.both(a, b)?;
        self.state.step_nodes(a, span);
        let fork = self.tree().last_common_ancestor(a, b)?;
        let below = |at: usize| self.nodes[at].ply - self.nodes[fork].ply;
        Some((below(a) + below(b)) as i32)
    }

    pub(super) fn is_ancestor(
        &mut self,
        ancestor: &Position<ExplicitForm>,
        of: &Position<ExplicitForm>,
    ) -> bool {
        self.both(ancestor, of).is_some_and(|(ancestor, of)| self.tree().is_proper_ancestor(ancestor, of))
    }

    /// Compares two positions. A comparison that is true has the left position as its value, which is returned.
    pub(super) fn compared_positions(
        &mut self,
        by: PositionOrder,
        left: &Position<ExplicitForm>,
        right: &Position<ExplicitForm>,
    ) -> Option<i32> {
        let (left, right) = self.both(left, right)?;
        let holds = match by {
            PositionOrder::Number(cmp) => cmp.holds(left.cmp(&right)),
            PositionOrder::Before => self.tree().is_proper_ancestor(left, right),
            PositionOrder::NotAfter => left == right || self.tree().is_proper_ancestor(left, right),
            PositionOrder::After => self.tree().is_proper_ancestor(right, left),
            PositionOrder::NotBefore => left == right || self.tree().is_proper_ancestor(right, left),
        };
        holds.then_some(numbered(left))
    }

    /// Returns the squares with the same contents in two positions. The set is empty if one of the positions does not exist.
    pub(super) fn same_contents(
        &mut self,
        a: &Position<ExplicitForm>,
        b: &Position<ExplicitForm>,
    ) -> Bitboard {
        let Some((a, b)) = self.both(a, b) else { return Bitboard::EMPTY };
        let (a, b) = (&self.nodes[a].position.board, &self.nodes[b].position.board);
        Square::ALL.into_iter().filter(|&s| a.at(s) == b.at(s)).collect()
    }

    pub(super) fn is_mainline(&self) -> bool {
        self.depth() == 0
    }

    pub(super) fn depth(&self) -> i32 {
        self.tree().depth(self.here.at) as i32
    }

    fn mover(&self, at: usize) -> Color {
        !self.nodes[at].position.state.turn()
    }

    /// Returns true if the moves from the root to the current position include no null move, and no move by White that begins a
    /// side line.
    pub(super) fn is_virtual_mainline(&mut self, span: Span) -> bool {
        self.state.step_nodes(self.here.at, span);
        self.tree().line_to(self.here.at).all(|at| {
            let null = self.tree().played(at).is_some_and(|played| played.null);
            !(null || self.tree().is_secondary(at) && self.mover(at).is_white())
        })
    }

    /// Returns true if exactly one of the moves from the root to the current position is a move by White that begins a side line.
    pub(super) fn is_try(&mut self, span: Span) -> bool {
        self.state.step_nodes(self.here.at, span);
        let alternatives = self.tree().line_to(self.here.at);
        alternatives.filter(|&at| self.tree().is_secondary(at) && self.mover(at).is_white()).count() == 1
    }

    /// Returns the length of the longest sequence of moves that occurs on the ways to both of two positions. The ways start from
    /// the last common ancestor. The positions are the values of two variables, and neither may be an ancestor of the other.
    pub(super) fn consecutive_moves(
        &mut self,
        first: VarId,
        second: VarId,
        quiet: bool,
        range: Option<&[Number<ExplicitForm>; 2]>,
        span: Span,
    ) -> Option<i32> {
        let range = match range {
            Some(range) => Some(self.range(range)?),
            None => None,
        };
        let (a, b) = (self.position_of(first, span), self.position_of(second, span));
        let (a, b) = (a? as usize, b? as usize);
        self.state.step_nodes(a.max(b), span);
        let fork = self.tree().last_common_ancestor(a, b)?;
        if fork == a || fork == b {
            return None;
        }
        let (way, other) = (self.way_down(fork, a), self.way_down(fork, b));
        let (moves, of_other) = (self.moves_on(&way), self.moves_on(&other));
        let goes_on = |compared: usize| {
            self.state.step_nodes(compared, span);
            self.state.fault.is_none()
        };
        let (i, j, length) = longest_common_run(&moves, &of_other, goes_on);
        let is_in_range = range.is_none_or(|[lo, hi]| (lo..=hi).contains(&(length as i32)));
        if length == 0 || !is_in_range {
            return None;
        }
        if !quiet {
            let run =
                |var, nodes: &[usize]| MoveRun { name: self.name(var).to_owned(), nodes: nodes.to_vec() };
            let pair = [run(first, &way[i..i + length]), run(second, &other[j..j + length])];
            self.state.chains.keep_longest(pair);
        }
        Some(length as i32)
    }

    /// Returns the positions on the way from a position down to one of its descendants, without the first.
    pub(super) fn way_down(&self, from: usize, to: usize) -> Vec<usize> {
        let mut way: Vec<usize> = self.tree().line_to(to).take_while(|&at| at != from).collect();
        way.reverse();
        way
    }

    /// Returns the move that led to each position of a way, as its squares and its piece, so that moves on two ways can be
    /// compared.
    fn moves_on(&self, way: &[usize]) -> Vec<Shift> {
        let shift = |played: &PlayedMove| Shift { step: played.step, man: played.man };
        way.iter().filter_map(|&at| self.tree().played(at).map(shift)).collect()
    }

    /// Returns the bounds of a range, or `None` if one of them has no value.
    pub(super) fn range(&mut self, [lo, hi]: &[Number<ExplicitForm>; 2]) -> Option<[i32; 2]> {
        let (lo, hi) = (self.number(lo), self.number(hi));
        Some([lo?, hi?])
    }
}

/// Converts the number of a node to `i32`, the type of numbers in filters.
fn numbered(at: usize) -> i32 {
    at as i32
}

/// Finds the longest run of items that occurs in both lists. Returns its index in each list, and its length. Of equally long runs,
/// returns the first. After each item of `a`, `goes_on` is called with the number of comparisons made for this item. The search
/// ends if it returns false.
fn longest_common_run<T: PartialEq>(
    a: &[T],
    b: &[T],
    mut goes_on: impl FnMut(usize) -> bool,
) -> (usize, usize, usize) {
    let mut longest = (0, 0, 0);
    for i in 0..a.len() {
        let mut compared = 0;
        for j in 0..b.len() {
            let length = a[i..].iter().zip(&b[j..]).take_while(|(a, b)| a == b).count();
            compared += length + 1;
            if length > longest.2 {
                longest = (i, j, length);
            }
        }
        if !goes_on(compared) {
            break;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::longest_common_run;

    #[test]
    fn the_first_of_the_longest_runs_is_found() {
        assert_eq!(longest_common_run(&[1, 2, 3, 4], &[9, 2, 3, 8, 2, 3], |_| true), (1, 1, 2));
        assert_eq!(longest_common_run(&[1, 2], &[3], |_| true), (0, 0, 0));
        assert_eq!(longest_common_run(&[1, 2, 2], &[2, 2], |_| false), (0, 0, 0));
    }
}
