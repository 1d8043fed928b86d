//! The line trees (main lines and variations) of the games in a block. A *node* is a position of a game, identified by
//! its number in the game.
//!
//! A *slot* is the number of a position within its block.

use std::ops::Range;

use super::MaskBuilder;
use crate::{
    carry::{has, slots},
    slots_of,
};
use orbit_plan::Sibling;
use orbit_reel::{Block, GameRow, SEGMENT_SLOTS};

/// The nodes (positions) of one game. Their slots in the block are consecutive.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeRange<'a> {
    /// The index of the game in its block.
    pub(super) game: usize,
    first: usize,
    len: usize,
    /// The parent of each node (the position before it), if the game has side lines. `None` in other games, where the
    /// parent is the previous node.
    parents: Option<&'a [u32]>,
}

impl NodeRange<'_> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn has_lines(&self) -> bool {
        self.parents.is_some()
    }

    pub(super) fn slot(&self, node: usize) -> usize {
        self.first + node
    }

    /// Returns the nodes (positions) at which a mask is true.
    pub(super) fn nodes(&self, mask: &MaskBuilder) -> impl Iterator<Item = usize> {
        let first = self.first;
        slots_of(&mask.0, first..first + self.len).map(move |slot| slot - first)
    }

    /// Returns the segments that contain slots of the game.
    pub(super) fn segments(&self) -> Range<usize> {
        self.first / SEGMENT_SLOTS..(self.first + self.len).div_ceil(SEGMENT_SLOTS)
    }

    /// Returns the parent of a node (the position before it). The node must not be the root.
    pub(super) fn parent(&self, node: usize) -> usize {
        match self.parents {
            Some(parents) => parents[node] as usize,
            None => node - 1,
        }
    }

    /// Returns true if a node (position) is an alternative to the first child of its parent. The first child always has
    /// the number after its parent's.
    pub(super) fn is_secondary(&self, node: usize) -> bool {
        self.parent(node) + 1 != node
    }

    pub(super) fn is_sibling(&self, node: usize, sibling: Sibling) -> bool {
        self.is_secondary(node) == (sibling == Sibling::Secondary)
    }

    /// Returns the maximum number of positions that must be visited to find how two nodes are related: if one comes
    /// before the other, or where their lines part.
    pub(super) fn between(&self, a: usize, b: usize) -> usize {
        if self.has_lines() { a.max(b) } else { 1 }
    }

    /// Returns true if the position `ancestor` comes before `node` in the game, on the line that leads to it.
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

    /// Returns the last common ancestor of two nodes, and the number of moves on the path between the nodes.
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

/// The line trees of all games in a block, as masks and lists of slots.
#[derive(Debug)]
pub(super) struct BlockTree {
    /// The mask of slots (positions) whose parent is the previous slot.
    follows: Vec<u32>,
    /// The mask of the slots that hold the first position of a side line.
    branches: Vec<u32>,
    /// The slots in `branches` in ascending order, each with the slot of its parent.
    links: Vec<(usize, usize)>,
    /// If the block has side lines, the number of each slot's parent in its game (0 for roots). Otherwise empty.
    parents: Vec<u32>,
}

impl BlockTree {
    pub(super) fn new(block: &Block) -> BlockTree {
        let (mut follows, mut branches) = (MaskBuilder::full(block), MaskBuilder::new(block));
        let (mut links, mut parents) = (Vec::new(), Vec::new());
        for game in block.games() {
            let first = game.first_slot();
            follows.clear(first);
            if block.has_lines() {
                parents.extend((0..game.positions() as u32).map(|node| node.saturating_sub(1)));
            }
            for line in game.lines() {
                let slot = first + line.first_node() as usize;
                follows.clear(slot);
                branches.set(slot);
                links.push((slot, first + line.parent() as usize));
                parents[slot] = line.parent();
            }
        }
        BlockTree { follows: follows.0, branches: branches.0, links, parents }
    }

    pub(super) fn nodes(&self, game: GameRow<'_>) -> NodeRange<'_> {
        let slots = slots(game);
        let parents = self.parents.get(slots.clone()).filter(|_| game.has_lines());
        NodeRange { game: game.index(), first: slots.start, len: slots.len(), parents }
    }

    /// Returns true if the position in a slot is a child of the kind `sibling`: a first child or an alternative. The
    /// position must not be a root.
    pub(super) fn is_sibling(&self, slot: usize, sibling: Sibling) -> bool {
        has(&self.branches, slot) == (sibling == Sibling::Secondary)
    }

    /// Returns true if a slot holds the first position of a game.
    pub(super) fn is_root(&self, slot: usize) -> bool {
        !has(&self.follows, slot) && !has(&self.branches, slot)
    }

    /// Returns the slot of a position's parent. The position must not be a root.
    pub(super) fn parent(&self, slot: usize) -> usize {
        if self.links.is_empty() || !has(&self.branches, slot) {
            return slot - 1;
        }
        self.links[self.links.partition_point(|(branch, _)| *branch < slot)].1
    }

    /// Returns the mask of the positions that are children of the kind `sibling` (first children or alternatives). If
    /// `sibling` is `None`, both kinds are included.
    pub(super) fn children(&self, sibling: Option<Sibling>) -> impl Iterator<Item = u32> {
        let words = self.follows.iter().zip(&self.branches);
        words.map(move |(follows, branches)| match sibling {
            None => follows | branches,
            Some(Sibling::Primary) => *follows,
            Some(Sibling::Secondary) => *branches,
        })
    }

    /// Returns the steps from children to their parents. `sibling` restricts the children to first children or to
    /// alternatives.
    pub(super) fn to_parents(&self, sibling: Option<Sibling>) -> Flow<'_> {
        let mut links: Vec<Link> = self.links.iter().map(|&(from, to)| Link { from, to }).collect();
        links.sort_unstable_by_key(|link| link.to);
        let follows = if sibling == Some(Sibling::Secondary) { None } else { Some(&self.follows[..]) };
        if sibling == Some(Sibling::Primary) {
            links.clear();
        }
        Flow { back: false, follows, links }
    }

    /// Returns the steps from parents to all of their children.
    pub(super) fn to_children(&self) -> Flow<'_> {
        let links = self.links.iter().map(|&(to, from)| Link { from, to }).collect();
        Flow { back: true, follows: Some(&self.follows), links }
    }
}

/// Steps along the moves of a block. They map a mask to the mask of the positions one step away: the parents or, if
/// `back` is true, the children.
#[derive(Debug)]
pub(super) struct Flow<'a> {
    back: bool,
    /// The mask of slots whose parent is the previous slot; `None` if the only steps are those between side lines and their
    /// parents.
    follows: Option<&'a [u32]>,
    /// The steps of side lines, in the order of the slots to which they lead.
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    from: usize,
    to: usize,
}

impl Flow<'_> {
    fn follows(&self, at: usize) -> u32 {
        self.follows.and_then(|follows| follows.get(at)).copied().unwrap_or(0)
    }

    /// Returns the slots of segment `at` that are one step away from a mask. `mask` returns the words of that mask.
    #[inline(always)]
    pub(super) fn step(&self, mask: impl Fn(usize) -> u32, at: usize) -> u32 {
        let follows = self.follows(at);
        let mut out = if self.back {
            let before = if at == 0 { 0 } else { mask(at - 1) };
            (mask(at) << 1 | before >> 31) & follows
        } else {
            let after = self.follows(at + 1);
            let after = if after & 1 == 0 { 0 } else { mask(at + 1) };
            (mask(at) & follows) >> 1 | after << 31
        };
        let first = self.links.partition_point(|link| link.to / SEGMENT_SLOTS < at);
        for link in self.links[first..].iter().take_while(|link| link.to / SEGMENT_SLOTS == at) {
            let from = mask(link.from / SEGMENT_SLOTS) >> (link.from % SEGMENT_SLOTS) & 1;
            out |= from << (link.to % SEGMENT_SLOTS);
        }
        out
    }

    /// Returns the mask of all slots (positions) that are one step away from `mask`.
    pub(super) fn steps(&self, mask: &[u32]) -> Vec<u32> {
        (0..mask.len()).map(|at| self.step(|at| mask[at], at)).collect()
    }

    /// Extends the slots `reached` of segment `at` by repeatedly making `stride` steps, as long as they lead to slots
    /// of `through`. The result stays inside the segment and does not enter side lines.
    #[inline(always)]
    pub(super) fn fill(&self, mut reached: u32, through: u32, at: usize, stride: u32) -> u32 {
        let follows = self.follows(at);
        // A slot is open if it is in `through` and if all `stride` steps that lead to it stay inside the segment and
        // inside the line.
        let open = (0..stride).fold(through, |open, step| {
            open & if self.back { follows << step } else { follows >> (step + 1) }
        });
        let mut open = open;
        for by in (0..5).map(|k| stride << k).take_while(|by| *by < 32) {
            let shifted = |word: u32| if self.back { word << by } else { word >> by };
            reached |= open & shifted(reached);
            open &= shifted(open);
        }
        reached
    }
}
