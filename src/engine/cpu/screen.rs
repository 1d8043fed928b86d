//! Passing over segments whose positions cannot match.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::glance::Glance;
use super::isa::Isa;
use super::kernels;
use super::registers::{GROUP, Loads, Machine};
use crate::{plan::Screen, reel::Block};

/// Where fewer hundredths of the segments are passed over, looking costs more than it saves; numbers of pieces cost more.
const WORTH: usize = 50;
const WORTH_WITH_NUMBERS: usize = 93;

/// How many blocks are not looked at after one where it did not pay.
const REST: u32 = 15;

/// A screen, and how well it does.
#[derive(Debug)]
pub(super) struct Screening {
    screen: Screen,
    loads: Loads,
    glance: Option<Glance>,
    isa: Isa,
    idle: Mutex<Vec<Machine>>,
    /// How many blocks are not to be looked at.
    rest: AtomicU32,
    passed: AtomicU64,
    all: AtomicU64,
}

impl Screening {
    pub(super) fn new(screen: Screen, isa: Isa) -> Screening {
        let loads = Loads::new(&screen);
        let (idle, rest) = (Mutex::default(), AtomicU32::new(0));
        let (passed, all) = (AtomicU64::new(0), AtomicU64::new(0));
        let glance = Glance::new(&screen);
        Screening { screen, loads, glance, isa, idle, rest, passed, all }
    }

    /// Of how many segments, of all that were asked for, no position was looked at.
    pub(super) fn passed_over(&self) -> (u64, u64) {
        (self.passed.load(Relaxed), self.all.load(Relaxed))
    }

    /// The segments of a block that may hold hits, ascending; `None` where it does not pay to look.
    pub(super) fn segments(&self, block: &Block) -> Option<Vec<u32>> {
        let all = block.segments();
        self.all.fetch_add(all as u64, Relaxed);
        if self.rest.try_update(Relaxed, Relaxed, |rest| rest.checked_sub(1)).is_ok() {
            return None;
        }
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let machine = idle().pop();
        let mut machine = machine.unwrap_or_else(|| Machine::new(&self.screen.program, self.isa));
        let mut left: Vec<u32> = (0..all as u32).collect();
        if let Some(glance) = self.glance.as_ref().filter(|_| Glance::can_look_at(block)) {
            left = self.kept(&mut machine, &left, |machine, segments| {
                kernels::glance(self.isa, machine, block, segments, &self.loads, glance);
            });
        }
        left = self.kept(&mut machine, &left, |machine, segments| {
            kernels::bound(self.isa, machine, block, segments, &self.loads);
        });
        idle().push(machine);
        let passed = all - left.len();
        self.passed.fetch_add(passed as u64, Relaxed);
        let worth = if self.loads.reads_next() { WORTH_WITH_NUMBERS } else { WORTH };
        if passed * 100 < all * worth {
            self.rest.store(REST, Relaxed);
        }
        Some(left)
    }

    /// Those of some segments that may hold hits, by what is loaded of them.
    fn kept(&self, machine: &mut Machine, segments: &[u32], load: impl Fn(&mut Machine, &[u32])) -> Vec<u32> {
        let mut left = Vec::new();
        for segments in segments.chunks(GROUP) {
            load(machine, segments);
            machine.run(&self.screen.program, None);
            let words = machine.regs[self.screen.mask.0 as usize].0.as_flattened();
            left.extend(segments.iter().zip(words).filter(|&(_, &word)| word != 0).map(|(&at, _)| at));
        }
        left
    }
}
