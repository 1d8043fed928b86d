//! The computation of a region as a graph. Its nodes are operations on words that a vector unit supports.
//!
//! Each node comes after its operands. Equal operations on equal operands are one node.
//!
//! A *region* is a run of consecutive steps of a program that are compiled as one loop. The *leaves* of a function are
//! its input words.

use std::collections::HashMap;

use orbit_core::board::attacks;
use orbit_plan::TRUE;

/// The value that a node (an operation of the graph) computes. The number is the index of the node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct GraphValue(pub(super) u32);

impl GraphValue {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node of the graph: an operation on words.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum WordNode {
    /// The contents of a register of the register machine at the start of the region (steps that are compiled as one loop).
    Column(u32),
    /// A constant word, the same at every position.
    Word(u64),
    /// A bitwise function of one to three words.
    Logic(Logic),
    Up(GraphValue, u8),
    Down(GraphValue, u8),
    /// The word rotated left.
    Around(GraphValue, u8),
    Add(GraphValue, GraphValue),
    Sub(GraphValue, GraphValue),
    /// The number of set bits.
    Count(GraphValue),
    /// The sum of the word's eight bytes.
    Sums(GraphValue),
    /// A mask: all ones where both words are equal.
    Equal(GraphValue, GraphValue),
    /// A mask: all ones where the first word is greater than the second. Both are signed numbers.
    Greater(GraphValue, GraphValue),
    /// A mask: all ones where every term holds. A term with the flag false holds if its two words have a common bit; a
    /// term with the flag true holds if they have none.
    Meets(Vec<(GraphValue, GraphValue, bool)>),
}

/// A bitwise function of up to three leaves `a`, `b` and `c`. Bit `4 * a + 2 * b + c` of the table is the value of the function for
/// these bits. If there are fewer leaves, the function does not depend on the missing ones.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Logic {
    pub(super) table: u8,
    pub(super) leaves: Vec<GraphValue>,
}

/// The truth tables of the functions that return the first, second or third leaf.
pub(super) const LEAVES: [u8; 3] = [0xf0, 0xcc, 0xaa];

impl Logic {
    /// Builds a function from distinct leaves. Leaves on which the function does not depend are dropped.
    pub(super) fn new(value: impl Fn(&dyn Fn(GraphValue) -> bool) -> bool, leaves: &[GraphValue]) -> Logic {
        let mut leaves: Vec<GraphValue> = leaves.to_vec();
        let table_of = |leaves: &[GraphValue]| {
            (0..8u8).fold(0, |table, bits| {
                let bit = |leaf: GraphValue| {
                    let k = leaves.iter().position(|&it| it == leaf);
                    k.is_some_and(|k| LEAVES[k] >> bits & 1 != 0)
                };
                table | u8::from(value(&bit)) << bits
            })
        };
        let mut table = table_of(&leaves);
        for k in (0..leaves.len()).rev() {
            // A leaf is dropped if its bit never changes the value of the function.
            let by = [4, 2, 1][k];
            if (table & LEAVES[k]) >> by == table & !LEAVES[k] {
                leaves.remove(k);
                table = table_of(&leaves);
            }
        }
        Logic { table, leaves }
    }

    /// Returns the value of the function for single bits. `bit` returns the bit of each leaf.
    pub(super) fn value(&self, bit: &dyn Fn(GraphValue) -> bool) -> bool {
        let place = self.leaves.iter().zip([4, 2, 1]).map(|(&leaf, place)| if bit(leaf) { place } else { 0 });
        self.table >> place.sum::<u8>() & 1 != 0
    }
}

/// A graph under construction.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<WordNode>,
    /// For each value, a word that contains every bit that may be set in the value. All other bits are known to be 0.
    bounds: Vec<u64>,
    known: HashMap<WordNode, GraphValue>,
    /// True if the vector unit can rotate words, count bits and write mask registers, as AVX-512 does.
    is_wide: bool,
}

impl Graph {
    pub(super) fn new(is_wide: bool) -> Graph {
        Graph { nodes: Vec::new(), bounds: Vec::new(), known: HashMap::new(), is_wide }
    }

    pub(super) fn node(&self, value: GraphValue) -> &WordNode {
        &self.nodes[value.index()]
    }

    fn put(&mut self, node: WordNode) -> GraphValue {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let bounds = |value: GraphValue| self.bounds[value.index()];
        let bounds = match &node {
            WordNode::Word(word) => *word,
            WordNode::Logic(logic) => {
                (0..8u8).filter(|bits| logic.table >> bits & 1 != 0).fold(0, |all, bits| {
                    let can = logic.leaves.iter().zip(LEAVES).fold(TRUE, |can, (&leaf, set)| {
                        match (set >> bits & 1 != 0, self.node(leaf)) {
                            (true, _) => can & bounds(leaf),
                            (false, WordNode::Word(word)) => can & !word,
                            (false, _) => can,
                        }
                    });
                    all | can
                })
            }
            WordNode::Up(a, by) => bounds(*a) << by,
            WordNode::Down(a, by) => bounds(*a) >> by,
            WordNode::Around(a, by) => bounds(*a).rotate_left((*by).into()),
            WordNode::Count(_) => 127,
            WordNode::Sums(_) => 0x7ff,
            WordNode::Add(a, b) if a == b => bounds(*a) << 1,
            WordNode::Add(a, b) => match bounds(*a).checked_add(bounds(*b)) {
                Some(sum) => TRUE >> sum.leading_zeros().min(63),
                None => TRUE,
            },
            WordNode::Column(_)
            | WordNode::Sub(..)
            | WordNode::Equal(..)
            | WordNode::Greater(..)
            | WordNode::Meets(_) => TRUE,
        };
        let value = GraphValue(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.bounds.push(bounds);
        self.known.insert(node, value);
        value
    }

    pub(super) fn bounds(&self, value: GraphValue) -> u64 {
        self.bounds[value.index()]
    }

    /// Returns the value of a node if it is known to be constant.
    fn constant(&self, value: GraphValue) -> Option<u64> {
        match self.node(value) {
            WordNode::Word(word) => Some(*word),
            _ if self.bounds(value) == 0 => Some(0),
            _ => None,
        }
    }

    pub(super) fn column(&mut self, register: u32) -> GraphValue {
        self.put(WordNode::Column(register))
    }

    pub(super) fn word(&mut self, word: u64) -> GraphValue {
        self.put(WordNode::Word(word))
    }

    /// Adds a bitwise function of two words to the graph. `bits` and `words` are this function on single bits and on
    /// whole words.
    fn logic(
        &mut self,
        a: GraphValue,
        b: GraphValue,
        bits: impl Fn(bool, bool) -> bool,
        words: impl Fn(u64, u64) -> u64,
    ) -> GraphValue {
        match [a, b].map(|it| self.constant(it)) {
            [Some(x), Some(y)] => return self.word(words(x, y)),
            [x, y] => {
                // If one word is all ones or zero, the result is the other word, its complement, or a constant.
                for (known, other, first) in [(x, b, true), (y, a, false)] {
                    let Some(word) = known.filter(|&word| word == 0 || word == TRUE) else { continue };
                    let of = |it: bool| if first { bits(word != 0, it) } else { bits(it, word != 0) };
                    match (of(false), of(true)) {
                        (false, false) => return self.word(0),
                        (true, true) => return self.word(TRUE),
                        (false, true) => return other,
                        (true, false) => {
                            let logic = Logic::new(|bit| !bit(other), &[other]);
                            return self.put_logic(logic);
                        }
                    }
                }
            }
        }
        let logic = Logic::new(|bit| bits(bit(a), bit(b)), &if a == b { vec![a] } else { vec![a, b] });
        self.put_logic(logic)
    }

    fn put_logic(&mut self, logic: Logic) -> GraphValue {
        match (logic.leaves.as_slice(), logic.table) {
            ([], table) => self.word(if table == 0 { 0 } else { TRUE }),
            (&[only], 0xf0) => only,
            // The complement of a complement is the word itself.
            (&[only], _) => match self.node(only) {
                WordNode::Logic(Logic { leaves, .. }) if leaves.len() == 1 => leaves[0],
                _ => self.put(WordNode::Logic(logic)),
            },
            _ => self.put(WordNode::Logic(logic)),
        }
    }

    pub(super) fn and(&mut self, a: GraphValue, b: GraphValue) -> GraphValue {
        for (it, mask) in [(a, b), (b, a)] {
            if let Some(mask) = self.constant(mask) {
                if self.bounds(it) & !mask == 0 {
                    return it;
                }
                if self.bounds(it) & mask == 0 {
                    return self.word(0);
                }
            }
        }
        self.logic(a, b, |a, b| a & b, |a, b| a & b)
    }

    pub(super) fn or(&mut self, a: GraphValue, b: GraphValue) -> GraphValue {
        self.logic(a, b, |a, b| a | b, |a, b| a | b)
    }

    pub(super) fn xor(&mut self, a: GraphValue, b: GraphValue) -> GraphValue {
        self.logic(a, b, |a, b| a ^ b, |a, b| a ^ b)
    }

    pub(super) fn and_not(&mut self, a: GraphValue, b: GraphValue) -> GraphValue {
        self.logic(a, b, |a, b| a & !b, |a, b| a & !b)
    }

    pub(super) fn not(&mut self, a: GraphValue) -> GraphValue {
        let all = self.word(TRUE);
        self.xor(a, all)
    }

    /// Selects `a` where the mask is true, otherwise `b`.
    pub(super) fn select(&mut self, mask: GraphValue, a: GraphValue, b: GraphValue) -> GraphValue {
        let (a, b) = (self.and(a, mask), self.and_not(b, mask));
        self.or(a, b)
    }

    /// Shifts a word left by `by` bits, or right if `by` is negative.
    pub(super) fn shift(&mut self, a: GraphValue, by: i32) -> GraphValue {
        let amount = by.unsigned_abs();
        match (self.constant(a), by) {
            (_, 0) => a,
            (Some(_), ..=-64 | 64..) => self.word(0),
            (Some(word), 1..) => self.word(word << amount),
            (Some(word), _) => self.word(word >> amount),
            (None, ..=-64 | 64..) => self.word(0),
            // A shift by one bit becomes an addition, because processors have more units for addition than for shifts.
            (None, 1) => self.put(WordNode::Add(a, a)),
            (None, 1..) => self.put(WordNode::Up(a, amount as u8)),
            (None, _) => self.put(WordNode::Down(a, amount as u8)),
        }
    }

    pub(super) fn around(&mut self, a: GraphValue, by: u8) -> GraphValue {
        if let Some(word) = self.constant(a) {
            return self.word(word.rotate_left(by.into()));
        }
        if self.is_wide {
            return self.put(WordNode::Around(a, by));
        }
        let (up, down) = (self.shift(a, by.into()), self.shift(a, i32::from(by) - 64));
        self.or(up, down)
    }

    pub(super) fn add(&mut self, a: GraphValue, b: GraphValue) -> GraphValue {
        match [a, b].map(|it| self.constant(it)) {
            [Some(a), Some(b)] => self.word(a.wrapping_add(b)),
            [Some(0), _] => b,
            [_, Some(0)] => a,
            _ => self.put(WordNode::Add(a, b)),
        }
    }

    pub(super) fn sub(&mut self, a: GraphValue, b: GraphValue) -> GraphValue {
        match [a, b].map(|it| self.constant(it)) {
            [Some(a), Some(b)] => self.word(a.wrapping_sub(b)),
            [_, Some(0)] => a,
            _ => self.put(WordNode::Sub(a, b)),
        }
    }

    /// Returns the number of set bits.
    pub(super) fn count(&mut self, a: GraphValue) -> GraphValue {
        if let Some(word) = self.constant(a) {
            return self.word(word.count_ones().into());
        }
        if self.is_wide {
            return self.put(WordNode::Count(a));
        }
        // Counts the bits that are set: adds neighbouring bits, then pairs, then groups of four, and finally all bytes.
        // Source: Warren, Hacker's Delight, section 5-1.
        let [twos, fours, eights] =
            [0x5555_5555_5555_5555, 0x3333_3333_3333_3333, 0x0f0f_0f0f_0f0f_0f0f].map(|word| self.word(word));
        let half = self.shift(a, -1);
        let half = self.and(half, twos);
        let a = self.sub(a, half);
        let (low, high) = (self.and(a, fours), self.shift(a, -2));
        let high = self.and(high, fours);
        let a = self.add(low, high);
        let high = self.shift(a, -4);
        let a = self.add(a, high);
        let a = self.and(a, eights);
        self.put(WordNode::Sums(a))
    }

    pub(super) fn equal(&mut self, a: GraphValue, b: GraphValue) -> GraphValue {
        match [a, b].map(|it| self.constant(it)) {
            [Some(a), Some(b)] => self.word(if a == b { TRUE } else { 0 }),
            // Only the last operand of an instruction may be in memory, so a constant comes last.
            [Some(_), None] => self.put(WordNode::Equal(b, a)),
            _ => self.put(WordNode::Equal(a, b)),
        }
    }

    pub(super) fn greater(&mut self, a: GraphValue, b: GraphValue) -> GraphValue {
        match [a, b].map(|it| self.constant(it)) {
            [Some(a), Some(b)] => self.word(if a as i64 > b as i64 { TRUE } else { 0 }),
            _ => self.put(WordNode::Greater(a, b)),
        }
    }

    /// Computes a mask that is true where every term holds; [`WordNode::Meets`] defines the terms.
    pub(super) fn meets(&mut self, terms: &[(GraphValue, GraphValue, bool)]) -> GraphValue {
        let mut left = Vec::new();
        for &(word, keep, not) in terms {
            let both = self.constant(word).zip(self.constant(keep)).map(|(word, keep)| word & keep);
            let never = self.constant(keep).is_some_and(|keep| self.bounds(word) & keep == 0);
            match both.or(never.then_some(0)) {
                Some(known) if (known == 0) != not => return self.word(0),
                Some(_) => {}
                None => left.push((word, keep, not)),
            }
        }
        if self.is_wide {
            return if left.is_empty() { self.word(TRUE) } else { self.put(WordNode::Meets(left)) };
        }
        let (mut all, none) = (self.word(TRUE), self.word(0));
        for (word, keep, not) in left {
            let cut = self.and(word, keep);
            let empty = self.equal(cut, none);
            all = if not { self.and(all, empty) } else { self.and_not(all, empty) };
        }
        all
    }

    /// Computes a mask that is true where the set is not empty.
    pub(super) fn any(&mut self, a: GraphValue) -> GraphValue {
        let all = self.word(TRUE);
        self.meets(&[(a, all, false)])
    }

    /// Moves squares by `dx` files and `dy` ranks. Squares that would leave the board are dropped.
    pub(super) fn translate(&mut self, a: GraphValue, dx: i8, dy: i8) -> GraphValue {
        if dx.unsigned_abs() > 7 || dy.unsigned_abs() > 7 {
            return self.word(0);
        }
        let (stay, by) = attacks::translation(dx, dy);
        self.moved(a, stay, by)
    }

    /// Computes `a & keep`, shifted left by `by` bits (right if negative). No bit of `keep` may be shifted out. `keep` is applied
    /// after the shift, so that several masks can share one shifted word.
    pub(super) fn moved(&mut self, a: GraphValue, keep: u64, by: i32) -> GraphValue {
        let moved = self.shift(a, by);
        let keep = if by >= 0 { keep << (by & 63) } else { keep >> (-by & 63) };
        let keep = self.word(keep);
        self.and(moved, keep)
    }

    /// Returns the squares that a piece slides over from `a` in a direction, as long as they are in `empty`, and the
    /// first square that is not empty.
    pub(super) fn slide(&mut self, a: GraphValue, empty: GraphValue, dir: u8) -> GraphValue {
        let (dx, dy) = orbit_plan::DIR_STEPS[usize::from(dir)];
        // A step from a square that is not on the edge never wraps around the board. So a fill that passes only over
        // such squares does not wrap either.
        let (_, by) = attacks::translation(dx, dy);
        let wrapped = match dx {
            1 => 0x0101_0101_0101_0101,
            -1 => 0x8080_8080_8080_8080,
            _ => 0u64,
        };
        let inside = self.word(!wrapped);
        let mut open = self.and(empty, inside);
        let mut fill = a;
        for times in [1, 2, 4] {
            let further = self.shift(fill, by * times);
            let further = self.and(further, open);
            fill = self.or(fill, further);
            if times < 4 {
                let next = self.shift(open, by * times);
                open = self.and(open, next);
            }
        }
        self.translate(fill, dx, dy)
    }
}
