//! Joins functions of bits to larger ones, as far as the vector unit has them in one instruction.

use super::{
    assembler::Width,
    graph::{Graph, Logic, Node, Value},
    lower::Sinks,
};

/// Joins nodes, and returns those that are still needed, operands first.
pub(super) fn fused(graph: &mut Graph, sinks: &Sinks, width: Width) -> Vec<Value> {
    let mut uses = uses(graph, sinks);
    for k in 0..graph.nodes.len() {
        let Node::Logic(logic) = &graph.nodes[k] else { continue };
        if uses[k] == 0 {
            continue;
        }
        let mut logic = logic.clone();
        while let Some((joined, inner)) = logic
            .leaves
            .iter()
            .find_map(|&inner| Some((joined(graph, &logic, inner, uses[inner.index()], width)?, inner)))
        {
            logic.leaves.iter().for_each(|leaf| uses[leaf.index()] -= 1);
            joined.leaves.iter().for_each(|leaf| uses[leaf.index()] += 1);
            logic = joined;
            drop_unused(graph, inner, &mut uses);
        }
        graph.nodes[k] = Node::Logic(logic);
    }
    (0..graph.nodes.len()).filter(|&k| uses[k] > 0).map(|k| Value(k as u32)).collect()
}

/// The operands of a node, those that occur twice as often.
pub(super) fn operands(node: &Node) -> Vec<Value> {
    match node {
        Node::Column(_) | Node::Word(_) => Vec::new(),
        Node::Logic(logic) => logic.leaves.clone(),
        Node::Up(a, _) | Node::Down(a, _) | Node::Around(a, _) | Node::Count(a) | Node::Sums(a) => vec![*a],
        Node::Add(a, b) | Node::Sub(a, b) | Node::Equal(a, b) | Node::Greater(a, b) => vec![*a, *b],
        Node::Meets(terms) => terms.iter().flat_map(|&(word, keep, _)| [word, keep]).collect(),
    }
}

/// How often each node is read by nodes that are needed.
fn uses(graph: &Graph, sinks: &Sinks) -> Vec<usize> {
    let mut uses = vec![0; graph.nodes.len()];
    let roots = sinks.stores.iter().map(|&(_, value)| value);
    roots.chain(sinks.answers.iter().map(|&(_, value)| value)).for_each(|root| uses[root.index()] += 1);
    for k in (0..graph.nodes.len()).rev() {
        if uses[k] > 0 {
            operands(&graph.nodes[k]).into_iter().for_each(|operand| uses[operand.index()] += 1);
        }
    }
    uses
}

/// If nobody reads a node any more, it reads nobody.
fn drop_unused(graph: &Graph, value: Value, uses: &mut [usize]) {
    if uses[value.index()] > 0 {
        return;
    }
    for operand in operands(graph.node(value)) {
        uses[operand.index()] -= 1;
        drop_unused(graph, operand, uses);
    }
}

/// A function with one of its leaves, `inner`, replaced by what that is made of, if that costs no instruction more.
fn joined(graph: &Graph, logic: &Logic, inner: Value, uses: usize, width: Width) -> Option<Logic> {
    let Node::Logic(of) = graph.node(inner) else { return None };
    let is_opposite = of.leaves.len() == 1;
    if uses > 1 && !is_opposite {
        return None;
    }
    let mut leaves: Vec<Value> = logic.leaves.iter().copied().filter(|&leaf| leaf != inner).collect();
    leaves.extend(of.leaves.iter().filter(|leaf| !logic.leaves.contains(leaf)));
    let most = match width {
        Width::Ymm => 2,
        Width::Zmm => 3,
    };
    let words = leaves.iter().filter(|&&leaf| matches!(graph.node(leaf), Node::Word(_))).count();
    if leaves.len() > most || words > 1 {
        return None;
    }
    let value = |bit: &dyn Fn(Value) -> bool| {
        logic.value(&|leaf| if leaf == inner { of.value(bit) } else { bit(leaf) })
    };
    let joined = Logic::new(value, &leaves);
    (joined.leaves.len() > 1 && (width == Width::Zmm || uses == 1 || is_one_instruction(&joined)))
        .then_some(joined)
}

/// Whether AVX2 has an instruction for a function of two words.
fn is_one_instruction(logic: &Logic) -> bool {
    matches!(logic.table, AND | OR | XOR | FIRST_ALONE | SECOND_ALONE)
}

/// The tables of functions of two words.
pub(super) const AND: u8 = 0xc0;
pub(super) const OR: u8 = 0xfc;
pub(super) const XOR: u8 = 0x3c;
pub(super) const FIRST_ALONE: u8 = 0x30;
pub(super) const SECOND_ALONE: u8 = 0x0c;
