//! The instructions of flat programs that examine moves: moves that were played, and moves that are possible.

use super::{FlatMachine, Stopped, first_child};
use crate::operations::{moves::MoveTo, node_at, tree::NodeRange};
use orbit_core::board::moves::{ARRIVALS, MoveRequest, ORIGINS, PAIRS, View};
use orbit_plan::{FlatMove, Leaf, LegalValue, MoveInstr, MoveValue, RegisterWord};

impl FlatMachine<'_> {
    /// Runs an instruction that examines moves, at the node (position) `at`.
    pub(super) fn look_at_moves(
        &mut self,
        nodes: NodeRange<'_>,
        instr: MoveInstr,
        at: usize,
    ) -> Result<(), Stopped> {
        match instr {
            MoveInstr::Played { to, of } => {
                let squares = self.played(nodes, self.program.moves[usize::from(of)], at)?;
                self.set(to, squares);
            }
            MoveInstr::Legal { to, from, squares, pseudo, only, value } => {
                let position = self.boards.at(nodes, self.games, at);
                let view = View::new(position.board.planes, position.state);
                let [from, squares] = [from, squares].map(|word| self.get(word));
                let asked = only.asked(pseudo);
                let word = match value {
                    LegalValue::Left => legal::<ORIGINS>(&view, asked, from, squares),
                    LegalValue::Reached => legal::<ARRIVALS>(&view, asked, from, squares),
                    LegalValue::Count => legal::<PAIRS>(&view, asked, from, squares),
                };
                self.set(to, word?);
            }
            MoveInstr::CommonRun { to, a, b } => {
                let both = node_at(self.get(a), nodes).zip(node_at(self.get(b), nodes));
                self.look_between(nodes, both)?;
                let run = both.map_or(Ok(None), |(a, b)| self.common_run(nodes, a, b))?;
                self.set_value(to, run);
            }
        }
        Ok(())
    }

    /// Returns the union of the squares of all moves that are played from a node and pass a test. If the test asks for
    /// no squares, the result is 1 if there is such a move, otherwise 0.
    fn played(&self, nodes: NodeRange<'_>, test: FlatMove, at: usize) -> Result<u64, Stopped> {
        let leads_to = |child: usize| {
            let mv = self.games.moves().to(nodes.slot(child));
            let is_child = test.sibling.is_none_or(|sibling| nodes.is_sibling(child, sibling));
            if !is_child || !self.passes(test, mv) {
                return 0;
            }
            match test.value {
                MoveValue::From => mv.squares(Leaf::MovedFrom),
                MoveValue::To => mv.squares(Leaf::MovedTo),
                MoveValue::Capture => mv.squares(Leaf::Captured),
                MoveValue::Whether | MoveValue::Count => 1,
            }
        };
        if test.previous {
            return Ok(if at > 0 { leads_to(at) } else { 0 });
        }
        let tied = test.tied.and_then(|tied| node_at(self.get(tied), nodes));
        if let Some(child) = tied.filter(|&child| child > 0 && nodes.parent(child) == at) {
            return Ok(leads_to(child));
        }
        let next =
            |&node: &usize| self.family.next.get(node).map(|&next| next as usize).filter(|&next| next > 0);
        let mut children = std::iter::successors(first_child(nodes, at), next);
        children.try_fold(0, |set, child| self.look_at(1).map(|()| set | leads_to(child)))
    }

    fn passes(&self, test: FlatMove, mv: MoveTo) -> bool {
        let meets = |set: Option<RegisterWord>, leaf: Leaf| {
            set.is_none_or(|set| self.get(set) & mv.squares(leaf) != 0)
        };
        meets(test.from, Leaf::MovedFrom)
            && meets(test.to, Leaf::MovedTo)
            && meets(test.capture, Leaf::Captured)
            && meets(test.passing, Leaf::EnPassant)
            && test.promotion.is_none_or(|pieces| mv.promotes_to(pieces))
            && mv.is(test.only)
            && (!test.null || mv.is_null())
    }

    /// Returns the length of the longest sequence of moves that occurs on both paths from the last common ancestor of
    /// two nodes to these nodes. Returns `None` if the paths have no move in common.
    fn common_run(&self, nodes: NodeRange<'_>, a: usize, b: usize) -> Result<Option<i32>, Stopped> {
        let (fork, _) = nodes.fork(a, b);
        if fork == a || fork == b {
            return Ok(None);
        }
        let moves_down_to = |node: usize| {
            let up = std::iter::successors(Some(node), |&node| Some(nodes.parent(node)));
            up.take_while(|&node| node != fork).map(|node| self.games.moves().to(nodes.slot(node)).shift())
        };
        let other: Vec<_> = moves_down_to(b).collect();
        // For each move of the other path, the length of the longest common sequence that ends with this move and with
        // the current move.
        let mut runs = vec![0; other.len()];
        let mut longest = 0;
        for shift in moves_down_to(a) {
            self.look_at(other.len())?;
            let mut before = 0;
            for (run, there) in runs.iter_mut().zip(&other) {
                let ends_here = if shift == *there { before + 1 } else { 0 };
                before = std::mem::replace(run, ends_here);
                longest = longest.max(ends_here);
            }
        }
        Ok((longest > 0).then_some(longest))
    }
}

/// Returns the squares or the number of the legal (or pseudolegal) moves from squares of `from` to squares of `to`.
/// `WHAT` selects the result. Positions in which a side has several kings are left to the reference engine.
fn legal<const WHAT: u8>(view: &View, asked: MoveRequest, from: u64, to: u64) -> Result<u64, Stopped> {
    if view.has_several_kings() {
        return Err(Stopped);
    }
    let ordinary = match asked {
        MoveRequest { ordinary: false, .. } => 0,
        MoveRequest { pseudo: true, .. } => view.ordinary::<WHAT, true>(from, to),
        MoveRequest { pseudo: false, .. } => view.ordinary::<WHAT, false>(from, to),
    };
    if view.is_special() == 0 || from == 0 {
        return Ok(ordinary);
    }
    Ok(view.special::<WHAT>(asked, from, to, ordinary))
}
