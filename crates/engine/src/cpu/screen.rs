//! Skips segments whose positions cannot match.
//!
//! A *segment* is 32 consecutive positions, stored as its first position and its moves. A *screen* is a program that
//! computes from these, without replaying the moves, whether any of the positions may match.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use super::emit::Native;
use super::glance::Glance;
use super::kernels;
use super::prepared::{MachineCode, Prepared, segments};
use super::registers::{GROUP, Loads, RegisterMachine};
use orbit_core::board::Code;
use orbit_core::isa::Isa;
use orbit_plan::{Bound, Plans, Reg, Screen};
use orbit_reel::{Block, MATERIAL_SEGMENTS, Material};

/// The minimum percentage of segments that a screen must skip to be worth its cost. Screens that compute bounds on
/// piece counts cost more, so they must skip more.
const WORTH: usize = 50;
const WORTH_WITH_NUMBERS: usize = 93;

/// The minimum percentage of segments that a screen (a program that finds segments to skip) must skip to be worth its
/// cost if it reads only cached piece counts. Such a screen costs almost nothing, because the counts are computed only
/// once.
const WORTH_OF_MATERIAL: usize = 20;

/// The number of blocks for which a screen or a guard pauses after a block in which it excluded too few segments or
/// positions. If it still excludes too few after a pause, the next pause is about twice as long, up to `REST_MAX`
/// blocks.
const REST_FIRST: u32 = 15;
const REST_MAX: u32 = 255;

/// A screen (a program that finds segments to skip), and statistics about the segments that it skips.
#[derive(Debug)]
pub(super) struct Screening {
    plans: Arc<Plans>,
    code: MachineCode,
    screen: Prepared<Screen>,
    loads: Loads,
    glance: Option<Glance>,
    /// The screen (a program that finds segments to skip) that reads only piece counts. It is created when a block is
    /// searched for the second time.
    of_material: OnceLock<Option<OfMaterial>>,
    rest: Rest,
    passed: AtomicU64,
    all: AtomicU64,
}

/// A screen (a program that finds segments to skip) that reads only piece counts.
#[derive(Debug)]
struct OfMaterial {
    screen: Prepared<Screen>,
    /// The piece counts that the screen reads for each group of segments. Each comes with the register into which it is
    /// loaded.
    reads: Vec<(PieceCount, Reg)>,
    rest: Rest,
}

/// The smallest or largest number of pieces of one kind in the positions of a group of segments.
#[derive(Clone, Copy, Debug)]
enum PieceCount {
    Fewest(Code),
    Most(Code),
}

/// The pauses of a screen or a guard, which begin when it excludes too little: the number of blocks left in the current
/// pause, and the length of the next pause.
#[derive(Debug)]
pub(super) struct Rest {
    left: AtomicU32,
    next: AtomicU32,
}

impl Default for Rest {
    fn default() -> Rest {
        Rest { left: AtomicU32::new(0), next: AtomicU32::new(REST_FIRST) }
    }
}

impl Rest {
    /// Returns true if the screen or guard pauses for the next block. If so, the number of blocks left in the pause
    /// decreases by one.
    pub(super) fn takes_one(&self) -> bool {
        self.left.try_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Begins a pause if fewer than `worth` percent of `all` segments (for a guard: positions) were skipped. `left` is
    /// the number of segments that were not skipped.
    pub(super) fn begin_unless(&self, left: usize, all: usize, worth: usize) {
        if (all - left) * 100 >= all * worth {
            self.next.store(REST_FIRST, Relaxed);
        } else if self.left.load(Relaxed) == 0 {
            // Other threads may be screening blocks at the same time, but if a pause has already begun, no thread
            // begins another.
            let rest = self.next.load(Relaxed);
            self.left.store(rest, Relaxed);
            self.next.store(REST_MAX.min(2 * rest + 1), Relaxed);
        }
    }
}

impl Screening {
    /// Creates a screen (a program that finds segments to skip) for all queries together. Returns `None` if the queries
    /// have no condition that allows segments to be skipped.
    pub(super) fn new(plans: &Arc<Plans>, isa: Isa, code: MachineCode) -> Option<Screening> {
        let screen = plans.screen(0..plans.len())?;
        Some(Screening {
            plans: Arc::clone(plans),
            code,
            loads: Loads::new(&screen),
            glance: Glance::new(&screen),
            screen: Prepared::new(screen, isa, code),
            of_material: OnceLock::new(),
            rest: Rest::default(),
            passed: AtomicU64::new(0),
            all: AtomicU64::new(0),
        })
    }

    /// Returns the number of segments skipped so far and the total number of segments so far.
    pub(super) fn passed_over(&self) -> (u64, u64) {
        (self.passed.load(Relaxed), self.all.load(Relaxed))
    }

    /// Returns the segments of a block that may contain hits (matches), in ascending order.
    pub(super) fn segments(&self, block: &Block) -> Vec<u32> {
        let left = self.looked_at(block, self.by_material(block, segments(block)));
        self.passed.fetch_add((block.segments() - left.len()) as u64, Relaxed);
        self.all.fetch_add(block.segments() as u64, Relaxed);
        left
    }

    /// Returns the segments that may contain hits according to their piece counts. These counts are cached for blocks
    /// that are searched more than once. For other blocks, all segments are returned.
    fn by_material(&self, block: &Block, all: Vec<u32>) -> Vec<u32> {
        if !block.is_searched_again() {
            return all;
        }
        let made = || {
            Some(OfMaterial::new(
                self.plans.material_screen(0..self.plans.len())?,
                self.screen.isa,
                self.code,
            ))
        };
        let Some(screening) = self.of_material.get_or_init(made) else { return all };
        if screening.rest.takes_one() {
            return all;
        }
        let material = block.material(|block| kernels::material(self.screen.isa, block));
        let left = screening.segments(material, &all);
        screening.rest.begin_unless(left.len(), all.len(), WORTH_OF_MATERIAL);
        left
    }

    /// Returns the segments that may contain hits according to their first positions and their moves. Returns all
    /// segments while screening is paused, after it skipped too few segments in a recent block.
    fn looked_at(&self, block: &Block, all: Vec<u32>) -> Vec<u32> {
        if all.is_empty() || self.rest.takes_one() {
            return all;
        }
        let (screen, loads) = (&self.screen, &self.loads);
        let left = screen.lend(all.len().div_ceil(GROUP), |machines, natives| {
            let (machine, native) = (&mut machines.main, natives.and_then(|natives| natives.main.as_ref()));
            let mut left = all.clone();
            if let Some(glance) = self.glance.as_ref().filter(|_| Glance::can_look_at(block)) {
                left = kept(&screen.plan, machine, native, &left, |machine, segments| {
                    kernels::glance(screen.isa, machine, block, segments, loads, glance);
                });
            }
            kept(&screen.plan, machine, native, &left, |machine, segments| {
                kernels::bound(screen.isa, machine, block, segments, loads);
            })
        });
        let worth = if self.loads.reads_next() { WORTH_WITH_NUMBERS } else { WORTH };
        self.rest.begin_unless(left.len(), all.len(), worth);
        left
    }
}

impl OfMaterial {
    fn new(screen: Screen, isa: Isa, code: MachineCode) -> OfMaterial {
        let count = |bound| match bound {
            Bound::Fewest(code) => PieceCount::Fewest(code),
            Bound::Most(code) => PieceCount::Most(code),
            _ => unreachable!("nothing else is known of material"),
        };
        let reads = screen.loads().map(|(read, reg)| (count(read.bound), reg)).collect();
        OfMaterial { screen: Prepared::new(screen, isa, code), reads, rest: Rest::default() }
    }

    /// Returns the segments in `all` that may contain hits according to the cached piece counts in `material`.
    fn segments(&self, material: &Material, all: &[u32]) -> Vec<u32> {
        let groups: Vec<u32> = (0..material.groups() as u32).collect();
        let left = self.screen.lend(groups.len().div_ceil(GROUP), |machines, natives| {
            let native = natives.and_then(|natives| natives.main.as_ref());
            kept(&self.screen.plan, &mut machines.main, native, &groups, |machine, groups| {
                let from = groups[0] as usize;
                for &(count, reg) in &self.reads {
                    let words = machine.regs[reg.0 as usize].0.as_flattened_mut();
                    let (PieceCount::Fewest(code) | PieceCount::Most(code)) = count;
                    let of_words = words.iter_mut().zip(&material.numbers(code)[from..]);
                    match count {
                        PieceCount::Fewest(_) => {
                            of_words.for_each(|(word, numbers)| *word = numbers.fewest())
                        }
                        PieceCount::Most(_) => of_words.for_each(|(word, numbers)| *word = numbers.most()),
                    }
                }
            })
        });
        let mut may_hold = vec![false; groups.len()];
        left.iter().for_each(|&group| may_hold[group as usize] = true);
        all.iter().copied().filter(|&segment| may_hold[segment as usize / MATERIAL_SEGMENTS]).collect()
    }
}

/// Returns those segments, or groups of segments, in `all` that a screen (a program that finds segments to skip) does
/// not skip. `load` loads the facts that the screen reads about a batch of segments.
fn kept(
    screen: &Screen,
    machine: &mut RegisterMachine,
    native: Option<&Native>,
    all: &[u32],
    load: impl Fn(&mut RegisterMachine, &[u32]),
) -> Vec<u32> {
    let mut left = Vec::new();
    for some in all.chunks(GROUP) {
        load(machine, some);
        machine.run(&screen.program, native);
        let words = machine.regs[screen.mask.0 as usize].0.as_flattened();
        left.extend(some.iter().zip(words).filter(|&(_, &word)| word != 0).map(|(&at, _)| at));
    }
    left
}
