//! Guards, which are cheap conditions that the engine evaluates first. It then evaluates the queries only at the
//! positions where the condition holds.

use std::sync::Arc;

use super::{
    pieces,
    prepared::{MachineCode, Prepared},
    screen::Rest,
};
use crate::{context::Context, slots_of};
use orbit_core::isa::Isa;
use orbit_plan::{Plans, SharedPlan};
use orbit_reel::{Block, SEGMENT_SLOTS, lanes::LANES};

/// A deliberately high estimate of the cost of gathering one position, that is, of loading it alone instead of with its
/// segment. The unit is the cost of one program step for one position.
const GATHERING: u64 = 3000;

/// A condition that holds at every match of the queries, and a record of how many positions it excludes.
#[derive(Debug)]
pub(super) struct Guard {
    condition: Prepared<SharedPlan>,
    rest: Rest,
    /// The minimum percentage of positions that the condition must exclude. If it excludes fewer, gathering the
    /// remaining positions costs more than the guard saves.
    worth: usize,
}

impl Guard {
    /// Creates a guard (a condition that is tested first) for all queries together. `cost` is the cost of their common
    /// plan in steps. Returns `None` if the queries have no cheap common condition.
    pub(super) fn new(plans: &Arc<Plans>, cost: u64, isa: Isa, code: MachineCode) -> Option<Guard> {
        let condition = Prepared::new(plans.guard(0..plans.len())?, isa, code);
        Some(Guard { condition, rest: Rest::default(), worth: worth(cost) })
    }

    /// Returns the slots (positions) of the given segments at which the guard's condition holds, in ascending order.
    /// Returns `None` if there are so many that gathering them does not pay off, or if there were too many in recent
    /// blocks.
    pub(super) fn slots(&self, context: &mut Context<'_>, segments: &[u32]) -> Option<Vec<usize>> {
        if self.rest.takes_one() {
            return None;
        }
        let (block, interrupt) = (context.block, context.interrupt().clone());
        let (mut bits, groups) = (vec![0; block.segments()], segments.len().div_ceil(LANES));
        self.condition.with_machine(context, groups, |plan, machine, native, beside| {
            for segments in pieces(segments, LANES, &interrupt) {
                machine.load(&plan.program, block, segments, beside);
                machine.run(&plan.program, native);
                machine.answers(segments, [&mut bits[..]].into_iter());
            }
        });
        let (left, all) =
            (bits.iter().map(|bits| bits.count_ones() as usize).sum(), looked_at(block, segments));
        self.rest.begin_unless(left, all, self.worth);
        ((all - left) * 100 >= all * self.worth).then(|| slots_of(&bits, 0..block.slots()).collect())
    }
}

/// Returns the minimum percentage of positions that a condition must exclude to make gathering the remaining positions
/// worthwhile. `cost` is the number of steps of the plan.
fn worth(cost: u64) -> usize {
    (100 * GATHERING).div_ceil(GATHERING.saturating_add(cost)) as usize
}

/// Returns the number of positions in the given segments.
fn looked_at(block: &Block, segments: &[u32]) -> usize {
    let ends = segments.iter().map(|&segment| (segment as usize + 1) * SEGMENT_SLOTS);
    ends.map(|end| SEGMENT_SLOTS - end.saturating_sub(block.slots())).sum()
}

#[cfg(test)]
mod tests {
    use super::worth;

    #[test]
    fn dear_plans_gather_more_positions() {
        assert_eq!([1000, 3000, 27_000, u64::MAX].map(worth), [75, 50, 10, 1]);
    }
}
