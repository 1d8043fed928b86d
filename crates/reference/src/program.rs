//! Compiles the chain of a `line` or `path` to a program. The program determines the constituents that may come next. Fewer
//! repetitions are tried first.

use orbit_query::tree::{
    Any, Chain, ConditionOp, GameCondition, GameNumber, GamePosition, GameText, NumberOp, PositionOp, Ref,
    TextOp,
};

use super::copies::ExplicitForm;

/// An operation of the program to which a chain is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProgramOp {
    /// The constituent (filter or move of the chain) with this number must match before the next operation runs.
    One(usize),
    /// Either of two operations may follow. They are tried in order.
    Fork(usize, usize),
    /// The chain may end here.
    Accept,
}

/// A chain of constituents, compiled to a program.
#[derive(Clone, Debug)]
pub(super) struct ChainProgram {
    ops: Vec<ProgramOp>,
    /// For each operation, true if the chain may end there without another constituent.
    may_end: Vec<bool>,
}

impl ChainProgram {
    /// The maximum number of operations. It limits nested counted repetitions.
    pub(super) const OPS_MAX: usize = 20_000;

    /// Compiles a chain for a game with `nodes` positions. Returns `None` if the program would be too long.
    pub(super) fn new<T>(chain: &Chain<T>, nodes: usize) -> Option<ChainProgram> {
        let mut ops = Vec::new();
        emit(chain, 0, u32::try_from(nodes).unwrap_or(u32::MAX), &mut ops)?;
        ops.push(ProgramOp::Accept);
        let may_end = may_end(&ops);
        Some(ChainProgram { ops, may_end })
    }

    pub(super) fn op(&self, pc: usize) -> ProgramOp {
        self.ops[pc]
    }

    pub(super) fn may_end(&self, pc: usize) -> bool {
        self.may_end[pc]
    }
}

/// Compiles a chain whose first constituent has the number `first`. Returns the number of constituents in the chain.
///
/// No match is longer than the game. So a maximum repetition count beyond the length of the game is treated as no maximum. A
/// minimum beyond it is reduced to one more than the number of positions, which still cannot be reached. Repetitions of a possibly
/// empty constituent are not affected, because one empty repetition is equivalent to many.
fn emit<T>(chain: &Chain<T>, first: usize, nodes: u32, ops: &mut Vec<ProgramOp>) -> Option<usize> {
    if ops.len() > ChainProgram::OPS_MAX {
        return None;
    }
    match chain {
        Chain::One(_) => {
            ops.push(ProgramOp::One(first));
            Some(1)
        }
        Chain::Sequence(all) => {
            all.iter().try_fold(0, |before, chain| Some(before + emit(chain, first + before, nodes, ops)?))
        }
        Chain::Repeat { of, min, max } => {
            let min = (*min).min(nodes.saturating_add(1));
            let mut count = 0;
            of.each(&mut |_| count += 1);
            for _ in 0..min {
                emit(of, first, nodes, ops)?;
            }
            match max.filter(|&max| max <= nodes) {
                None => {
                    let fork = ops.len();
                    ops.push(ProgramOp::Accept);
                    emit(of, first, nodes, ops)?;
                    ops.push(ProgramOp::Fork(fork, fork));
                    ops[fork] = ProgramOp::Fork(ops.len(), fork + 1);
                }
                Some(max) => {
                    let mut forks = Vec::new();
                    for _ in min..max {
                        forks.push(ops.len());
                        ops.push(ProgramOp::Accept);
                        emit(of, first, nodes, ops)?;
                    }
                    let end = ops.len();
                    forks.into_iter().for_each(|fork| ops[fork] = ProgramOp::Fork(end, fork + 1));
                }
            }
            Some(count)
        }
    }
}

/// Returns, for each operation, true if the end of the program can be reached without matching another constituent.
fn may_end(ops: &[ProgramOp]) -> Vec<bool> {
    let mut may_end: Vec<bool> = ops.iter().map(|op| *op == ProgramOp::Accept).collect();
    // Repetitions without a maximum jump backwards, so one iteration is not enough. Each iteration completes at least one further
    // nesting level.
    let mut is_known = false;
    while !is_known {
        is_known = true;
        for pc in (0..ops.len()).rev() {
            if let ProgramOp::Fork(a, b) = ops[pc]
                && !may_end[pc]
                && (may_end[a] || may_end[b])
            {
                (may_end[pc], is_known) = (true, false);
            }
        }
    }
    may_end
}

/// Returns true if a filter of a chain keeps state: its value may depend on earlier evaluations in the chain, or the number or
/// order of its evaluations matters. The search must then try all ways to match the chain.
pub(super) fn keeps_state<'a>(filters: impl IntoIterator<Item = &'a Any<ExplicitForm>>) -> bool {
    let (mut keeps, mut sets_path, mut reads_path) = (false, false, false);
    for filter in filters {
        filter.walk(&mut |filter| {
            keeps |= is_state(filter);
            sets_path |= matches!(game_number(filter), Some(GameNumber::Path(_)))
                || matches!(game_position(filter), Some(GamePosition::PathEnd(_)));
            reads_path |=
                matches!(game_number(filter), Some(GameNumber::PathCount | GameNumber::PathCountUnfocused))
                    || matches!(game_position(filter), Some(GamePosition::PathStart));
        });
    }
    keeps || sets_path && reads_path
}

fn game_number(filter: Ref<'_, ExplicitForm>) -> Option<&GameNumber<ExplicitForm>> {
    match filter {
        Ref::Number(f) if let NumberOp::Game(op) = f.op() => Some(op),
        _ => None,
    }
}

fn game_position(filter: Ref<'_, ExplicitForm>) -> Option<&GamePosition<ExplicitForm>> {
    match filter {
        Ref::Position(f) if let PositionOp::Game(op) = f.op() => Some(op),
        _ => None,
    }
}

fn is_state(filter: Ref<'_, ExplicitForm>) -> bool {
    match filter {
        Ref::Condition(f) => match f.op() {
            ConditionOp::Assign(..) => true,
            ConditionOp::Game(op) => matches!(
                op,
                GameCondition::BindPiece { .. }
                    | GameCondition::AssignSome { .. }
                    | GameCondition::SetEntry { .. }
                    | GameCondition::SetSlice { .. }
                    | GameCondition::Unbind(_)
                    | GameCondition::Forget { .. }
                    | GameCondition::WhileMatch { .. }
                    | GameCondition::Message { .. }
                    | GameCondition::SetTag { .. }
                    | GameCondition::WriteFile { .. }
            ),
            _ => false,
        },
        Ref::Text(f) => matches!(f.op(), TextOp::Game(GameText::Sort { .. } | GameText::Match { .. })),
        Ref::Number(_) => match game_number(filter) {
            Some(GameNumber::Line(line)) => line.nestban,
            Some(GameNumber::Path(path)) => path.nestban,
            Some(GameNumber::Sort { .. }) => true,
            _ => false,
        },
        Ref::Position(_) => match game_position(filter) {
            Some(GamePosition::LineEnd(line)) => line.nestban,
            Some(GamePosition::PathEnd(path)) => path.nestban,
            Some(GamePosition::PathLast) => true,
            _ => false,
        },
        Ref::Squares(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> Chain<()> {
        Chain::One(())
    }

    fn repeat(of: Chain<()>, min: u32, max: Option<u32>) -> Chain<()> {
        Chain::Repeat { of: Box::new(of), min, max }
    }

    /// Returns all possible numbers of constituents in a match of the program, up to `length_max`.
    fn lengths(chain: &Chain<()>, nodes: usize, length_max: usize) -> Vec<usize> {
        let program = ChainProgram::new(chain, nodes).unwrap();
        let mut places = vec![0];
        let mut accepted = Vec::new();
        for length in 0..=length_max {
            let (mut open, mut seen, mut next) = (places, Vec::new(), Vec::new());
            while let Some(pc) = open.pop() {
                if seen.contains(&pc) {
                    continue;
                }
                seen.push(pc);
                match program.op(pc) {
                    ProgramOp::One(_) => next.push(pc + 1),
                    ProgramOp::Fork(a, b) => open.extend([a, b]),
                    ProgramOp::Accept => accepted.push(length),
                }
            }
            places = next;
        }
        accepted
    }

    #[test]
    fn repeats_accept_what_they_count() {
        assert_eq!(lengths(&repeat(one(), 2, Some(4)), 9, 6), [2, 3, 4]);
        assert_eq!(lengths(&repeat(one(), 2, None), 9, 5), [2, 3, 4, 5]);
        assert_eq!(lengths(&repeat(repeat(one(), 2, Some(2)), 0, Some(2)), 9, 6), [0, 2, 4]);
        let optional = || repeat(one(), 0, None);
        let group = Chain::Sequence(vec![optional(), optional()]);
        assert_eq!(lengths(&repeat(group, 3, Some(3)), 9, 4), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn repeats_beyond_the_game_are_without_end() {
        // In a game with three positions, five repetitions are equivalent to any larger number.
        assert_eq!(lengths(&repeat(one(), 1, Some(5)), 3, 6), [1, 2, 3, 4, 5, 6]);
        assert_eq!(lengths(&repeat(one(), 1_000_000, None), 3, 5), [4, 5]);
        assert!(ChainProgram::new(&repeat(repeat(one(), 400, Some(400)), 400, Some(400)), 400).is_none());
    }

    #[test]
    fn constituents_have_their_numbers_in_every_repetition() {
        let chain =
            Chain::Sequence(vec![one(), repeat(Chain::Sequence(vec![one(), one()]), 2, Some(2)), one()]);
        let program = ChainProgram::new(&chain, 9).unwrap();
        let numbers =
            program.ops.iter().filter_map(|op| if let ProgramOp::One(n) = op { Some(*n) } else { None });
        assert_eq!(numbers.collect::<Vec<_>>(), [0, 1, 2, 1, 2, 3]);
        assert!(program.may_end(6) && !program.may_end(5));
    }
}
