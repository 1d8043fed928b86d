//! The nodes of a game.

use super::moves::MoveTo;
use crate::{engine::carry::slots, plan::Sibling, reel::Block};

/// The nodes of one game: their slots follow each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nodes<'a> {
    first: usize,
    len: usize,
    /// The parent of each node, in a game with side lines; none of others, where it is the node before.
    parents: Option<&'a [u32]>,
}

impl<'a> Nodes<'a> {
    /// So many nodes from a slot on.
    pub(super) fn new(first: usize, len: usize, parents: Option<&'a [u32]>) -> Nodes<'a> {
        Nodes { first, len, parents }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether the game has side lines.
    pub(super) fn has_lines(&self) -> bool {
        self.parents.is_some()
    }

    pub(super) fn slot(&self, node: usize) -> usize {
        self.first + node
    }

    /// The parent of a node that has one.
    pub(super) fn parent(&self, node: usize) -> usize {
        match self.parents {
            Some(parents) => parents[node] as usize,
            None => node - 1,
        }
    }

    /// Whether a node is an alternative to the first child of its parent: that one follows its parent.
    pub(super) fn is_secondary(&self, node: usize) -> bool {
        self.parent(node) + 1 != node
    }

    pub(super) fn is_sibling(&self, node: usize, sibling: Sibling) -> bool {
        self.is_secondary(node) == (sibling == Sibling::Secondary)
    }

    /// Whether one node is a proper ancestor of another one.
    pub(super) fn is_before(&self, ancestor: usize, mut node: usize) -> bool {
        if self.parents.is_none() {
            return ancestor < node;
        }
        while node > ancestor {
            node = self.parent(node);
            if node == ancestor {
                return true;
            }
        }
        false
    }

    /// The last common ancestor of two nodes, and how many moves lie between them.
    pub(super) fn fork(&self, mut a: usize, mut b: usize) -> (usize, usize) {
        if self.parents.is_none() {
            return (a.min(b), a.abs_diff(b));
        }
        let mut distance = 0;
        while a != b {
            let later = if a > b { &mut a } else { &mut b };
            *later = self.parent(*later);
            distance += 1;
        }
        (a, distance)
    }
}

/// For each slot, the number of its parent in its game; of roots 0.
pub(super) fn parents(block: &Block) -> Vec<u32> {
    let mut out = Vec::with_capacity(block.slots());
    for game in block.games() {
        let first = out.len();
        out.extend((0..game.positions() as u32).map(|node| node.saturating_sub(1)));
        for line in game.lines() {
            out[first + line.first_node() as usize] = line.parent();
        }
    }
    out
}

/// Calls `visit` with the nodes of each game of a block, whose parents these are if it has side lines.
pub(super) fn each_game(block: &Block, parents: &[u32], mut visit: impl FnMut(Nodes<'_>)) {
    for game in block.games() {
        let slots = slots(game);
        let parents = parents.get(slots.clone()).filter(|_| game.has_lines());
        visit(Nodes::new(slots.start, slots.len(), parents));
    }
}

/// What the way from the root to a node is like.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    /// The side lines that it leads into.
    pub(super) depth: u32,
    /// Those of them that White began.
    pub(super) tries: u32,
    has_null_move: bool,
}

impl Way {
    /// With one more move.
    pub(super) fn then(self, mv: MoveTo, is_secondary: bool) -> Way {
        Way {
            depth: self.depth + u32::from(is_secondary),
            tries: self.tries + u32::from(is_secondary && mv.is_by_white()),
            has_null_move: self.has_null_move || mv.is_null(),
        }
    }

    pub(super) fn virtual_mainline(self) -> bool {
        self.tries == 0 && !self.has_null_move
    }
}
