//! The tree of a game's lines. A *node* is a position of the game, identified by its number.

use super::{Spot, men::PieceMap, played::PlayedMove};

/// The data derived from the moves of a game: the tree, the effect of each move, and the piece on each square. Nodes are numbered
/// in preorder: a parent comes before its children, and a subtree is a range of numbers.
#[derive(Debug)]
pub(super) struct GameTree {
    nodes: Vec<GameNode>,
}

#[derive(Debug)]
struct GameNode {
    parent: Option<usize>,
    children: Vec<usize>,
    /// The index of the node among the children of its parent.
    sibling: usize,
    /// The last node of the subtree. A node without children is its own last node.
    last: usize,
    /// The number of moves from the root to the node that start a side line.
    depth: usize,
    played: Option<PlayedMove>,
    men: PieceMap,
}

impl GameTree {
    pub(super) fn new(spots: &[Spot]) -> GameTree {
        let mut nodes: Vec<GameNode> = Vec::with_capacity(spots.len());
        for (at, spot) in spots.iter().enumerate() {
            let node = match spot.parent {
                Some(parent) => GameTree::child(&nodes, spots, parent, at),
                None => GameNode {
                    parent: None,
                    children: Vec::new(),
                    sibling: 0,
                    last: at,
                    depth: 0,
                    played: None,
                    men: PieceMap::at_start(&spot.position),
                },
            };
            if let Some(parent) = spot.parent {
                nodes[parent].children.push(at);
            }
            nodes.push(node);
        }
        for at in (0..nodes.len()).rev() {
            if let Some(parent) = nodes[at].parent {
                nodes[parent].last = nodes[parent].last.max(nodes[at].last);
            }
        }
        GameTree { nodes }
    }

    fn child(nodes: &[GameNode], spots: &[Spot], parent: usize, at: usize) -> GameNode {
        let before = &nodes[parent];
        let sibling = before.children.len();
        let played = spots[at].arrival.map(|arrival| PlayedMove::new(&spots[parent].position, arrival));
        let men = match &played {
            Some(played) => before.men.after(played),
            None => before.men.clone(),
        };
        GameNode {
            parent: Some(parent),
            children: Vec::new(),
            sibling,
            last: at,
            depth: before.depth + usize::from(sibling > 0),
            played,
            men,
        }
    }

    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        self.nodes[at].parent
    }

    pub(super) fn children(&self, at: usize) -> &[usize] {
        &self.nodes[at].children
    }

    pub(super) fn is_secondary(&self, at: usize) -> bool {
        self.nodes[at].sibling > 0
    }

    /// Returns the last node of the subtree of `at`. The subtree consists of all nodes from `at` to that node.
    pub(super) fn last(&self, at: usize) -> usize {
        self.nodes[at].last
    }

    pub(super) fn depth(&self, at: usize) -> usize {
        self.nodes[at].depth
    }

    /// Returns the move that led to a node, or `None` for the root.
    pub(super) fn played(&self, at: usize) -> Option<&PlayedMove> {
        self.nodes[at].played.as_ref()
    }

    /// Returns the numbers of the pieces on the squares at a node.
    pub(super) fn men(&self, at: usize) -> &PieceMap {
        &self.nodes[at].men
    }

    /// Returns a position and its ancestors, nearest first.
    pub(super) fn line_to(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |&at| self.parent(at))
    }

    pub(super) fn is_proper_ancestor(&self, ancestor: usize, of: usize) -> bool {
        ancestor < of && of <= self.last(ancestor)
    }

    pub(super) fn last_common_ancestor(&self, a: usize, b: usize) -> Option<usize> {
        self.line_to(a).find(|&at| at == b || self.is_proper_ancestor(at, b))
    }
}
