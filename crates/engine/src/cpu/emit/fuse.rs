//! Joins nodes that compute bitwise functions, as long as the joined function still fits in one instruction.

use super::{
    assembler::Width,
    graph::{Graph, GraphValue, Logic, WordNode},
    lower::Sinks,
};

/// Joins nodes (operations) of a graph if one instruction can compute them together. Returns the nodes that are still
/// needed, each after its operands.
pub(super) fn fused(graph: &mut Graph, sinks: &Sinks, width: Width) -> Vec<GraphValue> {
    let mut uses = uses(graph, sinks);
    for k in 0..graph.nodes.len() {
        let WordNode::Logic(logic) = &graph.nodes[k] else { continue };
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
        graph.nodes[k] = WordNode::Logic(logic);
    }
    (0..graph.nodes.len()).filter(|&k| uses[k] > 0).map(|k| GraphValue(k as u32)).collect()
}

/// Returns the operands of a node (an operation). A value that is an operand twice is listed twice.
pub(super) fn operands(node: &WordNode) -> Vec<GraphValue> {
    match node {
        WordNode::Column(_) | WordNode::Word(_) => Vec::new(),
        WordNode::Logic(logic) => logic.leaves.clone(),
        WordNode::Up(a, _)
        | WordNode::Down(a, _)
        | WordNode::Around(a, _)
        | WordNode::Count(a)
        | WordNode::Sums(a) => vec![*a],
        WordNode::Add(a, b) | WordNode::Sub(a, b) | WordNode::Equal(a, b) | WordNode::Greater(a, b) => {
            vec![*a, *b]
        }
        WordNode::Meets(terms) => terms.iter().flat_map(|&(word, keep, _)| [word, keep]).collect(),
    }
}

/// Returns, for each node (operation), the number of times that it is read by operations that are needed.
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

/// Decreases the use counts of the operands of `value` if no node reads `value` any longer.
fn drop_unused(graph: &Graph, value: GraphValue, uses: &mut [usize]) {
    if uses[value.index()] > 0 {
        return;
    }
    for operand in operands(graph.node(value)) {
        uses[operand.index()] -= 1;
        drop_unused(graph, operand, uses);
    }
}

/// Merges the bitwise function `logic` with the function `inner` that computes one of its leaves (input words). Returns `None` if
/// the merged function would not fit in one instruction.
fn joined(graph: &Graph, logic: &Logic, inner: GraphValue, uses: usize, width: Width) -> Option<Logic> {
    let WordNode::Logic(of) = graph.node(inner) else { return None };
    let is_opposite = of.leaves.len() == 1;
    if uses > 1 && !is_opposite {
        return None;
    }
    let mut leaves: Vec<GraphValue> = logic.leaves.iter().copied().filter(|&leaf| leaf != inner).collect();
    leaves.extend(of.leaves.iter().filter(|leaf| !logic.leaves.contains(leaf)));
    let most = match width {
        Width::Ymm => 2,
        Width::Zmm => 3,
    };
    let words = leaves.iter().filter(|&&leaf| matches!(graph.node(leaf), WordNode::Word(_))).count();
    if leaves.len() > most || words > 1 {
        return None;
    }
    let value = |bit: &dyn Fn(GraphValue) -> bool| {
        logic.value(&|leaf| if leaf == inner { of.value(bit) } else { bit(leaf) })
    };
    let joined = Logic::new(value, &leaves);
    (joined.leaves.len() > 1 && (width == Width::Zmm || uses == 1 || is_one_instruction(&joined)))
        .then_some(joined)
}

/// Returns true if AVX2 computes this function of two words in one instruction.
fn is_one_instruction(logic: &Logic) -> bool {
    matches!(logic.table, AND | OR | XOR | FIRST_ALONE | SECOND_ALONE)
}

/// The truth tables of functions of two words, in the form of [`Logic::table`](Logic).
pub(super) const AND: u8 = 0xc0;
pub(super) const OR: u8 = 0xfc;
pub(super) const XOR: u8 = 0x3c;
pub(super) const FIRST_ALONE: u8 = 0x30;
pub(super) const SECOND_ALONE: u8 = 0x0c;
