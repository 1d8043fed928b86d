//! Allocates vector registers: turns the nodes of a region's graph into instructions on a limited number of registers.
//!
//! Nodes are processed in order. When no register is free, the value whose next use is farthest away is evicted. Later
//! uses read it from memory: from its column, from the pool of constants, or from scratch memory, where the eviction
//! stored it.
//!
//! A *region* is a run of consecutive steps of a program that are compiled as one loop.

use std::collections::{BTreeSet, HashMap};

use super::{
    assembler::{Inst, VectorOp, VectorOperand, Width},
    fuse::{AND, FIRST_ALONE, OR, SECOND_ALONE, XOR, operands},
    graph::{Graph, GraphValue, LEAVES, Logic, WordNode},
    lower::Sinks,
};
use orbit_plan::TRUE;

/// The code of one region.
#[derive(Debug)]
pub(super) struct RegionCode {
    pub(super) insts: Vec<Inst>,
    pub(super) pool: Vec<u64>,
    /// The size of the scratch memory that the code needs, in vectors.
    pub(super) slots: u32,
    /// The queries whose answers the code writes. Each query has one line (a row of bytes) for its answers.
    pub(super) answers: Vec<usize>,
}

/// Returns the instructions for the nodes of a graph, evaluated in the order `order`. They use only the first
/// `registers` vector registers. At least six registers are needed.
pub(super) fn body(
    graph: &Graph,
    order: &[GraphValue],
    sinks: &Sinks,
    width: Width,
    registers: usize,
) -> RegionCode {
    let mut allocator = RegisterAllocator::new(graph, order, sinks, width);
    allocator.held.truncate(registers);
    for (place, &value) in (0..).zip(order) {
        allocator.place = place;
        if allocator.is_computed(value) {
            allocator.compute(value);
            allocator.put_early(value);
            allocator.release(value);
        }
    }
    allocator.put_late();
    let RegisterAllocator { insts, pool, slots, .. } = allocator;
    RegionCode { insts, pool, slots, answers: sinks.answers.iter().map(|&(query, _)| query).collect() }
}

/// The memory location from which a value can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Home {
    /// The column of one register of the register machine: one word for each position of a group.
    Column(u32),
    Scratch(u32),
    Pool(u32),
}

/// The destination of a value that is needed after the region: a register of the register machine, or a line of the
/// answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ValueSink {
    Store(u32),
    Answer(u32),
}

struct RegisterAllocator<'a> {
    graph: &'a Graph,
    width: Width,
    insts: Vec<Inst>,
    pool: Vec<u64>,
    pooled: HashMap<u64, u32>,
    /// The index of the current node (an operation of the region) in the order of evaluation.
    place: u32,
    /// For each value, the operations that have yet to read it, as indices in the order of evaluation, in descending
    /// order.
    readers: Vec<Vec<u32>>,
    register_of: Vec<Option<u8>>,
    homes: Vec<Option<Home>>,
    /// The value that each vector register holds.
    held: Vec<Option<GraphValue>>,
    /// The vector registers that the current instruction needs, so they must not be evicted.
    pinned: Vec<u8>,
    slots: u32,
    free_slots: Vec<u32>,
    /// The registers of the register machine that the region writes.
    written: BTreeSet<u32>,
    /// The destinations of the values that are stored as soon as they are computed.
    early: HashMap<GraphValue, Vec<ValueSink>>,
    /// The values that are stored only at the end of the region, with their destinations, in order.
    late: Vec<(GraphValue, ValueSink)>,
}

/// The mask register to which comparisons write.
const MASK: u8 = 1;

impl<'a> RegisterAllocator<'a> {
    fn new(graph: &'a Graph, order: &[GraphValue], sinks: &Sinks, width: Width) -> RegisterAllocator<'a> {
        let count = graph.nodes.len();
        let mut allocator = RegisterAllocator {
            graph,
            width,
            insts: Vec::new(),
            pool: Vec::new(),
            pooled: HashMap::new(),
            place: 0,
            readers: vec![Vec::new(); count],
            register_of: vec![None; count],
            homes: vec![None; count],
            held: vec![None; width.registers()],
            pinned: Vec::new(),
            slots: 0,
            free_slots: Vec::new(),
            written: sinks.stores.iter().map(|&(register, _)| register).collect(),
            early: HashMap::new(),
            late: Vec::new(),
        };
        // A column that the region also reads is written only after all operations, so that each read still sees the
        // old value.
        let columns: BTreeSet<u32> = order.iter().filter_map(|&value| allocator.column(value)).collect();
        let stores = sinks.stores.iter().map(|&(register, value)| (value, ValueSink::Store(register)));
        let answers = (0..).zip(&sinks.answers).map(|(line, &(_, value))| (value, ValueSink::Answer(line)));
        for (value, sink) in stores.chain(answers) {
            let is_read = matches!(sink, ValueSink::Store(register) if columns.contains(&register));
            if is_read || !allocator.is_computed(value) {
                allocator.late.push((value, sink));
            } else {
                allocator.early.entry(value).or_default().push(sink);
            }
        }
        for (place, &(value, _)) in allocator.late.iter().enumerate().rev() {
            allocator.readers[value.index()].push((order.len() + place) as u32);
        }
        for (place, &value) in order.iter().enumerate().rev() {
            for operand in operands(graph.node(value)) {
                let readers = &mut allocator.readers[operand.index()];
                if readers.last() != Some(&(place as u32)) {
                    readers.push(place as u32);
                }
            }
        }
        for &value in order {
            allocator.homes[value.index()] = match *graph.node(value) {
                WordNode::Word(word) => Some(Home::Pool(allocator.pooled(word))),
                WordNode::Column(register) if !allocator.is_computed(value) => Some(Home::Column(register)),
                _ => None,
            };
        }
        allocator
    }

    fn column(&self, value: GraphValue) -> Option<u32> {
        match self.graph.node(value) {
            WordNode::Column(register) => Some(*register),
            _ => None,
        }
    }

    /// Returns true if an instruction computes the value or loads it in advance. Other values are read from memory when
    /// they are used. A column that the region also writes is loaded in advance, before the region overwrites it.
    fn is_computed(&self, value: GraphValue) -> bool {
        match self.graph.node(value) {
            WordNode::Word(_) => false,
            WordNode::Column(register) => self.written.contains(register),
            _ => true,
        }
    }

    /// Returns the index of a constant word in the pool, and adds the word if necessary.
    fn pooled(&mut self, word: u64) -> u32 {
        let next = self.pool.len() as u32;
        let place = *self.pooled.entry(word).or_insert(next);
        if place == next {
            self.pool.push(word);
        }
        place
    }

    fn put(&mut self, op: VectorOp, to: u8, a: u8, b: VectorOperand, imm: u8) {
        self.insts.push(Inst::Vector { op, to, a, b, imm, within: 0 });
    }

    /// Returns a free vector register. If all are in use, the value whose next use is farthest away is evicted first.
    fn free_register(&mut self) -> u8 {
        let registers = (0u8..).zip(&self.held).filter(|(register, _)| !self.pinned.contains(register));
        let mut registers = registers.map(|(register, held)| (register, *held));
        if let Some((free, _)) = registers.clone().find(|(_, held)| held.is_none()) {
            return free;
        }
        let next = |value: GraphValue| self.readers[value.index()].last().copied().unwrap_or(u32::MAX);
        let held = registers.by_ref().filter_map(|(register, held)| Some((register, held?)));
        let (far, value) =
            held.max_by_key(|&(_, value)| next(value)).expect("an instruction needs a few registers of many");
        if self.homes[value.index()].is_none() {
            let slot = self.free_slots.pop().unwrap_or(self.slots);
            self.slots = self.slots.max(slot + 1);
            self.homes[value.index()] = Some(Home::Scratch(slot));
            self.put(VectorOp::Store, far, 0, VectorOperand::Scratch(slot), 0);
        }
        self.register_of[value.index()] = None;
        self.held[usize::from(far)] = None;
        far
    }

    fn hold(&mut self, value: GraphValue, register: u8) {
        self.register_of[value.index()] = Some(register);
        self.held[usize::from(register)] = Some(value);
        self.pinned.push(register);
    }

    /// Returns the operand that reads a value from memory. Only the next instruction can use the operand, because it
    /// may depend on the address in `rax`.
    fn at_home(&mut self, value: GraphValue) -> VectorOperand {
        match self.homes[value.index()].expect("a value that no register holds lies in memory") {
            Home::Column(register) => {
                self.insts.push(Inst::Address(register));
                VectorOperand::Column
            }
            Home::Scratch(slot) => VectorOperand::Scratch(slot),
            Home::Pool(place) => VectorOperand::Pool(place),
        }
    }

    /// Returns the register that holds a value. If no register holds it, the value is loaded first.
    fn register(&mut self, value: GraphValue) -> u8 {
        if let Some(register) = self.register_of[value.index()] {
            self.pinned.push(register);
            return register;
        }
        let register = self.free_register();
        let home = self.at_home(value);
        let repeats = matches!(home, VectorOperand::Pool(_)) && self.width == Width::Zmm;
        self.put(if repeats { VectorOp::Spread } else { VectorOp::Load }, register, 0, home, 0);
        self.hold(value, register);
        register
    }

    /// Returns true if a value should be read straight from memory, because no register holds it and it is a constant
    /// word or is read for the last time.
    fn is_in_memory(&self, value: GraphValue) -> bool {
        let is_word = matches!(self.graph.node(value), WordNode::Word(_));
        let has_home = self.homes[value.index()].is_some();
        self.register_of[value.index()].is_none() && has_home && (is_word || self.dies(value))
    }

    /// Returns true if the current instruction is the last one that reads a value.
    fn dies(&self, value: GraphValue) -> bool {
        self.readers[value.index()].len() == 1
    }

    /// Returns the register for the result of the current instruction. If the instruction is the last to read one of
    /// its operands, the result reuses that operand's register.
    fn result(&mut self, value: GraphValue) -> u8 {
        let dying = operands(self.graph.node(value)).into_iter().find_map(|operand| {
            let register = self.register_of[operand.index()].filter(|_| self.dies(operand))?;
            Some((operand, register))
        });
        let register = match dying {
            Some((operand, register)) => {
                self.register_of[operand.index()] = None;
                register
            }
            None => self.free_register(),
        };
        self.hold(value, register);
        register
    }

    /// Writes an instruction with two operands, the second of which may be in memory. Its result is `value`.
    fn two(&mut self, op: VectorOp, value: GraphValue, a: GraphValue, b: GraphValue) -> u8 {
        let first = self.register(a);
        let b_in_memory = self.is_in_memory(b);
        let second = if b_in_memory { None } else { Some(VectorOperand::In(self.register(b))) };
        let to = self.result(value);
        let second = second.unwrap_or_else(|| self.at_home(b));
        self.put(op, to, first, second, 0);
        to
    }

    /// Writes an instruction for a commutative operation. If only the first operand is in memory, the operands are
    /// exchanged.
    fn either(&mut self, op: VectorOp, value: GraphValue, a: GraphValue, b: GraphValue) -> u8 {
        let (a, b) = if self.is_in_memory(a) && !self.is_in_memory(b) { (b, a) } else { (a, b) };
        self.two(op, value, a, b)
    }

    fn one(&mut self, op: VectorOp, value: GraphValue, a: GraphValue, by: u8) {
        // With AVX2, a shift cannot read its operand from memory.
        let in_memory = self.width == Width::Zmm && self.is_in_memory(a);
        let operand = if in_memory { None } else { Some(VectorOperand::In(self.register(a))) };
        let to = self.result(value);
        let operand = operand.unwrap_or_else(|| self.at_home(a));
        self.put(op, to, 0, operand, by);
    }

    fn compute(&mut self, value: GraphValue) {
        let graph = self.graph;
        match graph.node(value) {
            WordNode::Word(_) => unreachable!("words are read where they are needed"),
            &WordNode::Column(register) => {
                let to = self.free_register();
                self.insts.push(Inst::Address(register));
                self.put(VectorOp::Load, to, 0, VectorOperand::Column, 0);
                self.hold(value, to);
            }
            WordNode::Logic(logic) => self.logic(value, logic),
            &WordNode::Up(a, by) => self.one(VectorOp::Up, value, a, by),
            &WordNode::Down(a, by) => self.one(VectorOp::Down, value, a, by),
            &WordNode::Around(a, by) => self.one(VectorOp::Around, value, a, by),
            &WordNode::Count(a) => self.one(VectorOp::Count, value, a, 0),
            &WordNode::Add(a, b) => {
                self.either(VectorOp::Add, value, a, b);
            }
            &WordNode::Sub(a, b) => {
                self.two(VectorOp::Sub, value, a, b);
            }
            &WordNode::Sums(a) => {
                let first = self.register(a);
                let to = self.result(value);
                let none = VectorOperand::Pool(self.pooled(0));
                self.put(VectorOp::Sums, to, first, none, 0);
            }
            &WordNode::Equal(a, b) => self.compared(VectorOp::Equal, value, a, b),
            &WordNode::Greater(a, b) => self.compared(VectorOp::Greater, value, a, b),
            WordNode::Meets(terms) => self.meets(value, terms),
        }
    }

    fn compared(&mut self, op: VectorOp, value: GraphValue, a: GraphValue, b: GraphValue) {
        if self.width == Width::Ymm {
            self.two(op, value, a, b);
            return;
        }
        let first = self.register(a);
        let second = match self.is_in_memory(b) {
            true => self.at_home(b),
            false => VectorOperand::In(self.register(b)),
        };
        self.put(op, MASK, first, second, 0);
        self.masks(value);
    }

    /// Writes the instruction that expands the bits of the mask register to words, each all ones or 0. Its result is
    /// `value`.
    fn masks(&mut self, value: GraphValue) {
        let to = self.result(value);
        self.put(VectorOp::Masks, to, 0, VectorOperand::In(MASK), 0);
    }

    fn meets(&mut self, value: GraphValue, terms: &[(GraphValue, GraphValue, bool)]) {
        for (k, &(word, keep, not)) in terms.iter().enumerate() {
            // Both operands may be in memory, but the instruction can read only one operand from there.
            let (word, keep) = if self.is_in_memory(word) { (keep, word) } else { (word, keep) };
            let all = matches!(self.graph.node(keep), WordNode::Word(TRUE));
            let (word, keep) = match self.graph.node(word) {
                WordNode::Word(TRUE) => (keep, keep),
                _ if all => (word, word),
                _ => (word, keep),
            };
            let a = self.register(word);
            let b = match word != keep && self.is_in_memory(keep) {
                true => self.at_home(keep),
                false => VectorOperand::In(self.register(keep)),
            };
            let (op, within) =
                (if not { VectorOp::Misses } else { VectorOp::Meets }, if k == 0 { 0 } else { MASK });
            self.insts.push(Inst::Vector { op, to: MASK, a, b, imm: 0, within });
            self.pinned.clear();
        }
        self.masks(value);
    }

    fn logic(&mut self, value: GraphValue, logic: &Logic) {
        let &Logic { table, ref leaves } = logic;
        if let &[a, b] = leaves.as_slice() {
            let simple = |table: u8| {
                Some(match table {
                    AND => (VectorOp::And, a, b),
                    OR => (VectorOp::Or, a, b),
                    XOR => (VectorOp::Xor, a, b),
                    FIRST_ALONE => (VectorOp::AndNot, b, a),
                    SECOND_ALONE => (VectorOp::AndNot, a, b),
                    _ => return None,
                })
            };
            match (simple(table), self.width) {
                (Some((op, a, b)), _) => {
                    self.simple(op, value, a, b);
                    return;
                }
                (None, Width::Zmm) => {}
                (None, Width::Ymm) => {
                    let (op, a, b) = simple(!table).expect("a function or its opposite is one instruction");
                    let to = self.simple(op, value, a, b);
                    return self.turn(to, to);
                }
            }
        }
        if let (&[a], Width::Ymm) = (leaves.as_slice(), self.width) {
            let from = self.register(a);
            let to = self.result(value);
            return self.turn(to, from);
        }
        self.ternary(value, logic);
    }

    fn simple(&mut self, op: VectorOp, value: GraphValue, a: GraphValue, b: GraphValue) -> u8 {
        match op {
            VectorOp::AndNot => self.two(op, value, a, b),
            _ => self.either(op, value, a, b),
        }
    }

    /// Sets `to` to the complement of `from`. AVX2 has no complement instruction, so `from` is XORed with all ones.
    fn turn(&mut self, to: u8, from: u8) {
        let all = VectorOperand::Pool(self.pooled(TRUE));
        self.put(VectorOp::Xor, to, from, all, 0);
    }

    /// Writes a ternary logic instruction (AVX-512), which computes any bitwise function of up to three leaves (input words). The
    /// instruction overwrites its first operand.
    fn ternary(&mut self, value: GraphValue, logic: &Logic) {
        let leaves = &logic.leaves;
        let is_word = |leaf: &GraphValue| matches!(self.graph.node(*leaf), WordNode::Word(_));
        let in_memory = leaves.iter().copied().filter(|&leaf| self.is_in_memory(leaf));
        // Only one operand of the instruction may be in memory. All others must be in registers.
        let third = in_memory.max_by_key(is_word).unwrap_or_else(|| {
            let lives = |leaf: &&GraphValue| !self.dies(**leaf);
            *leaves.iter().find(lives).unwrap_or(&leaves[leaves.len() - 1])
        });
        let third_in_memory = self.is_in_memory(third);
        let mut others: Vec<GraphValue> = leaves.iter().copied().filter(|&leaf| leaf != third).collect();
        for &leaf in &others {
            self.register(leaf);
        }
        if !third_in_memory {
            self.register(third);
        }
        // The instruction overwrites its first operand, so this should be a value that is not read again.
        others.sort_by_key(|&leaf| self.dies(leaf));
        let (first, second) = match *others.as_slice() {
            [second, first] => (Some(first), Some(second)),
            [second] => (None, Some(second)),
            _ => (None, None),
        };
        let to = match first {
            Some(first) if self.dies(first) => {
                let register = self.register(first);
                self.register_of[first.index()] = None;
                register
            }
            Some(first) => {
                let (from, to) = (self.register(first), self.free_register());
                self.put(VectorOp::Load, to, 0, VectorOperand::In(from), 0);
                to
            }
            None => self.free_register(),
        };
        let a = second.map_or(to, |second| self.register(second));
        self.hold(value, to);
        let b = if third_in_memory { self.at_home(third) } else { VectorOperand::In(self.register(third)) };
        let places = [first, second, Some(third)];
        let imm = (0..8u8).fold(0, |table, bits| {
            let bit = |leaf: GraphValue| {
                let place = places.iter().position(|&place| place == Some(leaf));
                place.is_some_and(|place| LEAVES[place] >> bits & 1 != 0)
            };
            table | u8::from(logic.value(&bit)) << bits
        });
        self.put(VectorOp::Ternary, to, a, b, imm);
    }

    /// Stores a newly computed value to its destinations in `early`. The value need not wait for the end of the region,
    /// because the region does not read the old contents of these destinations.
    fn put_early(&mut self, value: GraphValue) {
        let register = self.register_of[value.index()].expect("it was just computed");
        for sink in self.early.remove(&value).unwrap_or_default() {
            self.put_away(register, sink);
            if let ValueSink::Store(column) = sink {
                // No other value is stored to this column, so later uses can read the value from it.
                self.homes[value.index()].get_or_insert(Home::Column(column));
            }
        }
    }

    fn put_away(&mut self, from: u8, sink: ValueSink) {
        match sink {
            ValueSink::Store(register) => {
                self.insts.push(Inst::Address(register));
                self.put(VectorOp::Store, from, 0, VectorOperand::Column, 0);
            }
            ValueSink::Answer(line) => self.insts.push(Inst::Answer { line, from }),
        }
    }

    fn put_late(&mut self) {
        for (value, sink) in std::mem::take(&mut self.late) {
            let from = self.register(value);
            self.put_away(from, sink);
            self.pinned.clear();
            self.readers[value.index()].pop();
            self.forget_unread(value);
        }
    }

    /// Frees the registers of values that no later operation reads.
    fn release(&mut self, value: GraphValue) {
        self.pinned.clear();
        for operand in operands(self.graph.node(value)) {
            let readers = &mut self.readers[operand.index()];
            if readers.last() == Some(&self.place) {
                readers.pop();
            }
            self.forget_unread(operand);
        }
        self.forget_unread(value);
    }

    fn forget_unread(&mut self, value: GraphValue) {
        let k = value.index();
        if !self.readers[k].is_empty() {
            return;
        }
        if let Some(register) = self.register_of[k].take() {
            self.held[usize::from(register)] = None;
        }
        if let Some(Home::Scratch(slot)) = self.homes[k].take() {
            self.free_slots.push(slot);
        }
    }
}
