//! Converts the moves of a game to lines whose positions are numbered as in CQL.

use orbit_core::board::PackedMove;
use orbit_pgn::SideLine;

/// A position of a game.
#[derive(Default)]
struct PlayedNode {
    parent: usize,
    /// The move that leads to the position.
    mv: Option<PackedMove>,
    /// The next positions. The first continues the line, and each of the others begins a side line.
    children: Vec<usize>,
}

/// A game as a tree of positions, which are numbered in text order.
pub(super) struct WitnessTree {
    nodes: Vec<PlayedNode>,
}

impl WitnessTree {
    /// Creates a tree with only the start position, node 0.
    pub(super) fn new() -> WitnessTree {
        WitnessTree { nodes: vec![PlayedNode::default()] }
    }

    /// Adds a position after the position `parent`, and returns its number. The first position added after `parent` continues the
    /// line; each further one begins a side line.
    pub(super) fn push(&mut self, parent: usize, mv: PackedMove) -> usize {
        let node = self.nodes.len();
        self.nodes.push(PlayedNode { parent, mv: Some(mv), children: Vec::new() });
        self.nodes[parent].children.push(node);
        node
    }

    /// Returns the position before another one.
    pub(super) fn parent(&self, node: usize) -> usize {
        self.nodes[node].parent
    }

    /// Returns the moves of the main line, and the side lines, with positions numbered as in CQL. The positions of a line have
    /// consecutive numbers, followed by the side lines that branch off from it: side lines of its last position come first, side
    /// lines of its first position last.
    pub(super) fn lines(&self) -> (Vec<PackedMove>, Vec<SideLine>) {
        let mut numbers = vec![0; self.nodes.len()];
        let mut next = 1;
        let mut main = Vec::new();
        let mut lines = Vec::new();
        // The side lines still to be numbered, the next one last. Each entry has the parent, the index among the parent's side
        // lines, and the first node.
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        self.follow(0, &mut numbers, &mut next, &mut main, &mut open);
        while let Some((parent, place, first)) = open.pop() {
            numbers[first] = next;
            next += 1;
            let mut moves: Vec<PackedMove> = self.nodes[first].mv.into_iter().collect();
            self.follow(first, &mut numbers, &mut next, &mut moves, &mut open);
            lines.push(SideLine { parent: numbers[parent], sibling: place as u32, moves });
        }
        (main, lines)
    }

    /// Numbers the positions after a node in its line. Pushes the side lines of this line to `open` so that side lines of the last
    /// position are popped first.
    fn follow(
        &self,
        from: usize,
        numbers: &mut [u32],
        next: &mut u32,
        moves: &mut Vec<PackedMove>,
        open: &mut Vec<(usize, usize, usize)>,
    ) {
        let mut node = from;
        loop {
            let children = &self.nodes[node].children;
            let side = children.iter().enumerate().skip(1).rev();
            open.extend(side.map(|(place, &child)| (node, place, child)));
            let Some(&child) = children.first() else { return };
            numbers[child] = *next;
            *next += 1;
            moves.extend(self.nodes[child].mv);
            node = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;
    use orbit_core::board::Code;

    /// Returns a move that can be recognised by its target square, which is `number`.
    fn mv(number: u32) -> PackedMove {
        PackedMove::piece(Square::A1, Square::new(number), Code(1))
    }

    /// A side line: its parent, its index among the side lines of the parent, and its nodes in the order of the text.
    type Row = (u32, u32, Vec<u32>);

    fn lines(tree: &WitnessTree) -> (Vec<u32>, Vec<Row>) {
        let targets = |moves: &[PackedMove]| moves.iter().map(|mv| mv.to() as u32).collect::<Vec<u32>>();
        let (main, lines) = tree.lines();
        let lines = lines.iter().map(|line| (line.parent, line.sibling, targets(&line.moves))).collect();
        (targets(&main), lines)
    }

    /// Creates a tree from the parents of its nodes, in text order.
    fn tree(parents: &[usize]) -> WitnessTree {
        let mut tree = WitnessTree::new();
        for (&parent, number) in parents.iter().zip(1..) {
            tree.push(parent, mv(number));
        }
        tree
    }

    #[test]
    fn a_game_without_side_lines_is_its_main_line() {
        assert_eq!(lines(&tree(&[])), (vec![], vec![]));
        assert_eq!(lines(&tree(&[0, 1, 2])), (vec![1, 2, 3], vec![]));
    }

    /// In `1. e4 e5 (1... c5 2. Nf3 (2. Nc3)) 2. Nf3 (2. f4)`, the move 2. f4 gets a smaller number than 1... c5, since it branches
    /// off later.
    #[test]
    fn the_deepest_branching_position_comes_first() {
        // The nodes in the order of the text: 1 e4, 2 e5, 3 c5, 4 Nf3, 5 Nc3, 6 Nf3, 7 f4.
        let game = tree(&[0, 1, 1, 3, 3, 2, 2]);
        // CQL gives these positions other numbers: e4 1, e5 2, Nf3 3, f4 4, c5 5, Nf3 6, Nc3 7.
        let wanted = vec![(2, 1, vec![7]), (1, 1, vec![3, 4]), (5, 1, vec![5])];
        assert_eq!(lines(&game), (vec![1, 2, 6], wanted));
    }

    /// Tests the game `1. e4 (1. d4 d5 (1... Nf6)) (1. c4) e5 (1... c5) (1... e6 2. d4)`.
    #[test]
    fn side_lines_of_one_position_come_in_the_order_of_the_text() {
        // The nodes in the order of the text: 1 e4, 2 d4, 3 d5, 4 Nf6, 5 c4, 6 e5, 7 c5, 8 e6, 9 d4.
        let game = tree(&[0, 0, 2, 2, 0, 1, 1, 1, 8]);
        // CQL gives these positions other numbers: e4 1, e5 2, c5 3, e6 4, d4 5, d4 6, d5 7, Nf6 8, c4 9.
        let wanted =
            vec![(1, 1, vec![7]), (1, 2, vec![8, 9]), (0, 1, vec![2, 3]), (6, 1, vec![4]), (0, 2, vec![5])];
        assert_eq!(lines(&game), (vec![1, 6], wanted));
    }

    /// A side line for the first move of another side line branches off from the same position as that side line.
    #[test]
    fn a_side_line_of_a_first_move_is_its_sibling() {
        // This tree is that of `1. e4 (1. d4 (1. c4)) (1. f4) e5`.
        let game = tree(&[0, 0, 0, 0, 1]);
        let wanted = vec![(0, 1, vec![2]), (0, 2, vec![3]), (0, 3, vec![4])];
        assert_eq!(lines(&game), (vec![1, 5], wanted));
    }

    #[test]
    fn a_deep_tree_takes_no_stack() {
        let mut tree = WitnessTree::new();
        let mut node = 0;
        for _ in 0..100_000 {
            tree.push(node, mv(1));
            node = tree.push(node, mv(2));
        }
        assert_eq!(tree.lines().1.len(), 100_000);
    }
}
