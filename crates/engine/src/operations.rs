//! Computes columns of a block from other columns, with data from earlier or later positions of each game.
//!
//! A *column* has an entry for each slot, that is, for each position of the block. A block contains whole games, and a
//! position has a higher number than the position before it (its *parent*), even in side lines (variations). So a
//! single loop over the slots propagates data from all children to their parents if it runs in reverse order, and from
//! parents to children if it runs in order. This module depends on plans and reels (packed games), but not on queries.
//! The engines `cpu` and `gpu` both use it.

mod flat;
mod focus;
mod moves;
mod pairs;
mod reach;
mod runs;
mod tree;
mod walk;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::Range;

use super::{
    Interrupt,
    carry::{SlotColumn, clear_after, first_set, has},
    slots_of,
};
use moves::{BlockMoves, Entered};
use orbit_plan::{GameOp, Leaf, NO_VALUE};
use orbit_reel::{Block, SEGMENT_SLOTS};
pub(super) use runs::BlockRuns;
use tree::{BlockTree, NodeRange};

/// The moves and line trees of the games in a block, built when they are first needed.
#[derive(Debug)]
pub(super) struct BlockGames<'a> {
    block: &'a Block,
    moves: OnceCell<BlockMoves>,
    tree: OnceCell<BlockTree>,
    /// True if the evaluation must end: a query has run into an error in one of the games, or the interrupt was set.
    stopped: Cell<bool>,
    interrupt: Interrupt,
    /// The number of positions visited since the interrupt was last checked.
    unlooked: Cell<usize>,
    /// The values that queries keep from game to game.
    runs: BlockRuns,
}

/// The number of positions between two checks of the interrupt. Visiting a position takes less than twenty nanoseconds.
const POSITIONS_A_LOOK: usize = 1 << 20;

impl<'a> BlockGames<'a> {
    /// Creates the data of a block's games, which is computed when it is first needed.
    pub(super) fn new(block: &'a Block, interrupt: Interrupt) -> BlockGames<'a> {
        let (moves, tree) = (OnceCell::new(), OnceCell::new());
        let (stopped, unlooked, runs) = (Cell::new(false), Cell::new(0), BlockRuns::default());
        BlockGames { block, moves, tree, stopped, interrupt, unlooked, runs }
    }

    /// Sets the values that queries keep from game to game.
    pub(super) fn with_runs(self, runs: BlockRuns) -> BlockGames<'a> {
        BlockGames { runs, ..self }
    }

    /// Returns the values that queries keep from game to game.
    pub(super) fn runs(&self) -> &BlockRuns {
        &self.runs
    }

    pub(super) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Returns true if the evaluation must end: a query has run into an error in one of the games, or the interrupt was
    /// set.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    fn stop(&self) {
        self.stopped.set(true);
    }

    /// Adds to the number of visited positions, and checks the interrupt at intervals. Other work counts as the number
    /// of positions that could be visited in the same time. Returns true if the evaluation must end; its results are
    /// then discarded.
    pub(super) fn count(&self, positions: usize) -> bool {
        let unlooked = self.unlooked.get().saturating_add(positions);
        self.unlooked.set(unlooked);
        if unlooked >= POSITIONS_A_LOOK {
            self.look();
        }
        self.is_stopped()
    }

    #[cold]
    fn look(&self) {
        self.unlooked.set(0);
        if self.interrupt.is_set() {
            self.stop();
        }
    }

    fn moves(&self) -> &BlockMoves {
        self.moves.get_or_init(|| BlockMoves::new(self.block))
    }

    fn tree(&self) -> &BlockTree {
        self.tree.get_or_init(|| BlockTree::new(self.block))
    }

    /// Calls `visit` with the nodes (positions) of each game until all games are done or the evaluation must end.
    fn each(&self, visit: impl FnMut(NodeRange<'_>)) {
        let tree = self.tree();
        let games = self.block.games().map(|game| tree.nodes(game));
        games.take_while(|nodes| !self.count(nodes.len())).for_each(visit);
    }
}

/// An operand of an operation on columns.
#[derive(Clone, Copy, Debug)]
pub(super) enum OperandSource<'a> {
    /// The same word for every slot.
    Constant(u64),
    /// A column, with an entry for each slot (position).
    Column(&'a SlotColumn),
}

impl<'a> OperandSource<'a> {
    /// Returns the word at a slot (position). For a mask, the word is all ones or zero.
    pub(super) fn word(&self, slot: usize) -> u64 {
        match self {
            OperandSource::Constant(word) => *word,
            OperandSource::Column(SlotColumn::Words(words)) => words[slot],
            OperandSource::Column(SlotColumn::Bits(bits)) => u64::from(has(bits, slot)).wrapping_neg(),
        }
    }

    /// Returns true if the operand, interpreted as a mask, is true at a slot (position).
    pub(super) fn holds(&self, slot: usize) -> bool {
        match self {
            OperandSource::Constant(word) => *word != 0,
            OperandSource::Column(SlotColumn::Bits(bits)) => has(bits, slot),
            OperandSource::Column(SlotColumn::Words(words)) => words[slot] != 0,
        }
    }

    /// Returns the first slot of a range at which the operand, interpreted as a mask, is true.
    fn first_in(&self, slots: Range<usize>) -> Option<usize> {
        match self {
            OperandSource::Column(SlotColumn::Bits(bits)) => first_set(bits, slots),
            _ => slots.into_iter().find(|&slot| self.holds(slot)),
        }
    }

    /// Writes the word of each slot (position) to `out`, which must have one entry for each slot.
    pub(super) fn copy_words(&self, out: &mut [u64]) {
        match self {
            OperandSource::Column(SlotColumn::Words(words)) => out.copy_from_slice(words),
            _ => out.iter_mut().enumerate().for_each(|(slot, word)| *word = self.word(slot)),
        }
    }

    /// Returns the operand as a mask: one word for each segment, with one bit for each of its 32 positions.
    pub(super) fn bits(&self, block: &Block) -> Cow<'a, [u32]> {
        match self {
            OperandSource::Column(SlotColumn::Bits(bits)) => Cow::Borrowed(bits),
            OperandSource::Constant(word) => {
                Cow::Owned(vec![if *word == 0 { 0 } else { u32::MAX }; block.segments()])
            }
            OperandSource::Column(SlotColumn::Words(_)) => {
                let mut bits = MaskBuilder::new(block);
                (0..block.slots()).filter(|&slot| self.holds(slot)).for_each(|slot| bits.set(slot));
                Cow::Owned(bits.0)
            }
        }
    }
}

/// A mask under construction: one word for each segment, with one bit for each of its 32 positions.
struct MaskBuilder(Vec<u32>);

impl MaskBuilder {
    fn new(block: &Block) -> MaskBuilder {
        MaskBuilder(vec![0; block.segments()])
    }

    /// Creates a mask that is true at all positions of a block.
    fn full(block: &Block) -> MaskBuilder {
        let mut bits = vec![u32::MAX; block.segments()];
        clear_after(&mut bits, block.slots());
        MaskBuilder(bits)
    }

    fn set(&mut self, slot: usize) {
        self.0[slot / SEGMENT_SLOTS] |= 1 << (slot % SEGMENT_SLOTS);
    }

    fn clear(&mut self, slot: usize) {
        self.0[slot / SEGMENT_SLOTS] &= !(1 << (slot % SEGMENT_SLOTS));
    }

    fn put(&mut self, slot: usize, value: bool) {
        self.0[slot / SEGMENT_SLOTS] |= u32::from(value) << (slot % SEGMENT_SLOTS);
    }
}

/// Returns the mask that is true where all of the given masks are true.
fn meet<'a>(masks: &[OperandSource<'a>], block: &Block) -> Cow<'a, [u32]> {
    let [first, rest @ ..] = masks else { return Cow::Owned(vec![u32::MAX; block.segments()]) };
    let mut all = first.bits(block);
    for mask in rest {
        all.to_mut().iter_mut().zip(&*mask.bits(block)).for_each(|(word, mask)| *word &= mask);
    }
    all
}

/// Interprets a word as the number of a node (position) of a game. Returns `None` if the game has no such node.
fn node_at(word: u64, nodes: NodeRange<'_>) -> Option<usize> {
    usize::try_from(word as i64).ok().filter(|&node| node < nodes.len())
}

/// Encodes a number, or the lack of a number, as a word.
fn number(value: Option<i64>) -> u64 {
    value.unwrap_or(NO_VALUE) as u64
}

/// Computes a column from the columns in `operands` by a game operation, which combines values from several positions
/// of each game. `words` creates a column of zero words.
pub(super) fn make(
    op: &GameOp,
    operands: &[OperandSource<'_>],
    games: &BlockGames<'_>,
    words: impl FnOnce() -> Vec<u64>,
) -> SlotColumn {
    let block = games.block;
    if let GameOp::Flat(program) = op {
        return flat::run(program, operands, games, words);
    }
    if !op.is_mask() {
        let mut out = words();
        make_words(op, operands, games, &mut out);
        return SlotColumn::Words(out);
    }
    let mut out = MaskBuilder::new(block);
    match (op, operands) {
        (GameOp::Leaf(leaf), _) => leaf_mask(*leaf, games, &mut out),
        (GameOp::Entered(test), _) => out = Entered::new(test, operands).mask(games.moves(), games.tree()),
        (GameOp::AnyChild, _) => out.0 = games.tree().to_parents(None).steps(&meet(operands, block)),
        (GameOp::MaskOfParent, [mask]) => out.0 = games.tree().to_children().steps(&mask.bits(block)),
        (GameOp::AnyWalk(walk), _) => out = walk::found(walk, operands, games),
        (GameOp::MaskAt, [at, mask]) => games.each(|nodes| {
            for node in 0..nodes.len() {
                let slot = nodes.slot(node);
                let there = node_at(at.word(slot), nodes);
                out.put(slot, there.is_some_and(|there| mask.holds(nodes.slot(there))));
            }
        }),
        (GameOp::Before, [a, b]) => games.each(|nodes| {
            for node in 0..nodes.len() {
                let slot = nodes.slot(node);
                let both = node_at(a.word(slot), nodes).zip(node_at(b.word(slot), nodes));
                if both.is_some_and(|(a, b)| games.count(nodes.between(a, b))) {
                    return;
                }
                out.put(slot, both.is_some_and(|(a, b)| nodes.is_before(a, b)));
            }
        }),
        _ => unreachable!("no other operation makes masks"),
    }
    SlotColumn::Bits(out.0)
}

fn make_words(op: &GameOp, operands: &[OperandSource<'_>], games: &BlockGames<'_>, out: &mut [u64]) {
    let block = games.block;
    match (op, operands) {
        (GameOp::Leaf(leaf), _) => leaf_words(*leaf, games, out),
        (GameOp::Own { test, to }, _) => {
            Entered::new(test, operands).own_words(games.moves(), games.tree(), *to, out);
        }
        (GameOp::CountChildren, _) => {
            let (tree, counts) = (games.tree(), meet(operands, block));
            slots_of(&counts, 0..block.slots())
                .filter(|&slot| !tree.is_root(slot))
                .for_each(|slot| out[tree.parent(slot)] += 1);
        }
        (GameOp::FirstChild, [mask, word, none]) => games.each(|nodes| {
            (0..nodes.len()).for_each(|node| out[nodes.slot(node)] = none.word(nodes.slot(node)));
            // Nodes are visited in reverse order, so the word of the first child overwrites those of the others.
            for node in (1..nodes.len()).rev() {
                let slot = nodes.slot(node);
                if mask.holds(slot) {
                    out[nodes.slot(nodes.parent(node))] = word.word(slot);
                }
            }
        }),
        (GameOp::UnionChildren, [word]) => games.each(|nodes| {
            for node in 1..nodes.len() {
                out[nodes.slot(nodes.parent(node))] |= word.word(nodes.slot(node));
            }
        }),
        (GameOp::WordAt, [at, word, none]) => games.each(|nodes| {
            for node in 0..nodes.len() {
                let slot = nodes.slot(node);
                out[slot] = match node_at(at.word(slot), nodes) {
                    Some(there) => word.word(nodes.slot(there)),
                    None => none.word(slot),
                };
            }
        }),
        (GameOp::Numbered, [at]) => games.each(|nodes| {
            for node in 0..nodes.len() {
                let slot = nodes.slot(node);
                out[slot] = number(node_at(at.word(slot), nodes).map(|there| there as i64));
            }
        }),
        (GameOp::Child, [place]) => games.each(|nodes| {
            let mut children = vec![Vec::new(); nodes.len()];
            (1..nodes.len()).for_each(|node| children[nodes.parent(node)].push(node));
            for (node, children) in children.iter().enumerate() {
                let slot = nodes.slot(node);
                let place = usize::try_from(place.word(slot) as i64).ok();
                let child = place.and_then(|place| children.get(place));
                out[slot] = number(child.map(|&child| child as i64));
            }
        }),
        (GameOp::Fork | GameOp::Distance, [a, b]) => games.each(|nodes| {
            for node in 0..nodes.len() {
                let slot = nodes.slot(node);
                let both = node_at(a.word(slot), nodes).zip(node_at(b.word(slot), nodes));
                if both.is_some_and(|(a, b)| games.count(nodes.between(a, b))) {
                    return;
                }
                let (fork, distance) = both.map(|(a, b)| nodes.fork(a, b)).unzip();
                let value = if *op == GameOp::Fork { fork } else { distance };
                out[slot] = number(value.map(|value| value as i64));
            }
        }),
        (GameOp::Walk(walk), _) => walk::numbers(walk, operands, games, out),
        _ => unreachable!("no other operation makes words"),
    }
}

fn leaf_mask(leaf: Leaf, games: &BlockGames<'_>, out: &mut MaskBuilder) {
    match leaf {
        Leaf::Mainline | Leaf::VirtualMainline | Leaf::Try => {
            let moves = games.moves();
            games.each(|nodes| {
                let mut ways = vec![moves::RootWay::default(); nodes.len()];
                for node in 0..nodes.len() {
                    let slot = nodes.slot(node);
                    if node > 0 {
                        let parent = ways[nodes.parent(node)];
                        ways[node] = parent.then(moves.to(slot), nodes.is_secondary(node));
                    }
                    let way = ways[node];
                    out.put(
                        slot,
                        match leaf {
                            Leaf::Mainline => way.depth == 0,
                            Leaf::VirtualMainline => way.virtual_mainline(),
                            _ => way.tries == 1,
                        },
                    );
                }
            });
        }
        Leaf::Sibling(sibling) => games.each(|nodes| {
            for node in 1..nodes.len() {
                out.put(nodes.slot(node), nodes.is_sibling(node, sibling));
            }
        }),
        _ => {
            let moves = games.moves();
            games.each(|nodes| {
                for node in 1..nodes.len() {
                    let mv = moves.to(nodes.slot(node));
                    out.put(
                        nodes.slot(node),
                        match leaf {
                            Leaf::Arrived(special) => mv.is(special),
                            _ => mv.is_null(),
                        },
                    );
                }
            });
        }
    }
}

fn leaf_words(leaf: Leaf, games: &BlockGames<'_>, out: &mut [u64]) {
    match leaf {
        Leaf::Number => games.each(|nodes| {
            (0..nodes.len()).for_each(|node| out[nodes.slot(node)] = node as u64);
        }),
        Leaf::Parent => games.each(|nodes| {
            for node in 0..nodes.len() {
                let parent = (node > 0).then(|| nodes.parent(node) as i64);
                out[nodes.slot(node)] = number(parent);
            }
        }),
        Leaf::Depth => games.each(|nodes| {
            for node in 1..nodes.len() {
                let parent = out[nodes.slot(nodes.parent(node))];
                out[nodes.slot(node)] = parent + u64::from(nodes.is_secondary(node));
            }
        }),
        _ => {
            let moves = games.moves();
            games.each(|nodes| {
                for node in 1..nodes.len() {
                    out[nodes.slot(node)] = moves.to(nodes.slot(node)).squares(leaf);
                }
            });
        }
    }
}
