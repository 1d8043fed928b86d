//! Evaluates a cheap condition first, and the queries only at the positions at which the condition holds.

use std::sync::Arc;

use super::{
    DENSE, pieces,
    prepared::{MachineCode, Prepared},
    screen::Rest,
};
use crate::{context::Context, slots_of};
use orbit_core::isa::Isa;
use orbit_plan::{Plans, SharedPlan};
use orbit_reel::{Block, SEGMENT_SLOTS, lanes::LANES};

/// The minimum percentage of positions that the condition must exclude. With a lower percentage, gathering the
/// remaining positions costs more than it saves.
const WORTH: usize = 100 - 100 / DENSE;

/// A condition that holds wherever a query matches, and a record of how many positions it excludes.
#[derive(Debug)]
pub(super) struct Guard {
    condition: Prepared<SharedPlan>,
    rest: Rest,
}

impl Guard {
    /// Creates the guard for all queries together. Returns `None` if they have no cheap common condition.
    pub(super) fn new(plans: &Arc<Plans>, isa: Isa, code: MachineCode) -> Option<Guard> {
        let condition = plans.guard(0..plans.len())?;
        Some(Guard { condition: Prepared::new(condition, isa, code), rest: Rest::default() })
    }

    /// Returns the slots of the given segments at which the condition holds, in ascending order. Returns `None` if
    /// there are too many of them to gather, or if there were too many in recent blocks.
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
        self.rest.begin_unless(left, all, WORTH);
        ((all - left) * 100 >= all * WORTH).then(|| slots_of(&bits, 0..block.slots()).collect())
    }
}

/// Returns the number of positions in the given segments.
fn looked_at(block: &Block, segments: &[u32]) -> usize {
    let ends = segments.iter().map(|&segment| (segment as usize + 1) * SEGMENT_SLOTS);
    ends.map(|end| SEGMENT_SLOTS - end.saturating_sub(block.slots())).sum()
}
