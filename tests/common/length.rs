//! Determines how much work those tests do that look for rare faults.
//!
//! Such a test consists of many *trials*, numbered pieces of work. A number means the same trial in every run. By default, a run
//! executes only a sample of the trials, and of the tests that are expensive as a whole only a quarter, unless tests are named on
//! the command line. With `ORBIT_LONG=all`, it executes all trials. With any other value of `ORBIT_LONG`, it
//! executes one of four parts. `ORBIT_LONG_PART` selects the part. If it is not set, the part is the number of commits modulo 4,
//! so four consecutive commits run all trials once.

use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::harness;

/// The number of parts into which long tests are divided.
pub const PARTS: usize = 4;

/// The share of a test's trials (numbered pieces of work) that a run executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    Sample,
    /// The trials (numbered pieces of work) whose number modulo [`PARTS`] is this remainder.
    Part(usize),
    All,
}

/// Returns the length of this run.
pub fn length() -> Length {
    static LENGTH: OnceLock<Length> = OnceLock::new();
    *LENGTH.get_or_init(|| match std::env::var("ORBIT_LONG") {
        Err(_) => Length::Sample,
        Ok(text) if text == "all" => Length::All,
        Ok(_) => {
            let part = std::env::var("ORBIT_LONG_PART").map_or_else(
                |_| part_of_commit(),
                |text| {
                    text.parse().ok().filter(|part| *part < PARTS).expect("ORBIT_LONG_PART is 0, 1, 2 or 3")
                },
            );
            eprintln!("long trials: part {part} of 0 to {}", PARTS - 1);
            Length::Part(part)
        }
    })
}

/// Returns the number of commits modulo [`PARTS`], or 0 if that number is unknown, as in a shallow clone.
fn part_of_commit() -> usize {
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(args).output().ok()?;
        String::from_utf8(output.stdout).ok().map(|text| text.trim().to_string())
    };
    let is_whole = git(&["rev-parse", "--is-shallow-repository"]).is_some_and(|text| text == "false");
    let commits = git(&["rev-list", "--count", "HEAD"]).and_then(|text| text.parse::<usize>().ok());
    commits.filter(|_| is_whole).map_or(0, |commits| commits % PARTS)
}

impl Length {
    /// Returns the numbers below `all` of the trials (pieces of work) that a run executes. A sample consists of the first
    /// `sample` trials.
    pub fn trials(self, all: usize, sample: usize) -> impl Iterator<Item = usize> {
        let stride = self.stride(1, 1);
        let end = if self == Length::Sample { sample } else { all };
        (stride.first..end).step_by(stride.step)
    }

    /// Returns the parts that a run executes, for tests in which a trial (a piece of work) depends on earlier trials of its part.
    /// A sample is the beginning of part 0.
    pub fn parts(self) -> std::ops::Range<usize> {
        match self {
            Length::Sample => 0..1,
            Length::Part(part) => part..part + 1,
            Length::All => 0..PARTS,
        }
    }

    /// Returns the indices of the list items that a run uses. A run of all trials uses every `all`-th item, a run of one part uses
    /// a quarter of these items, and a sample uses every `sample`-th item.
    pub fn stride(self, all: usize, sample: usize) -> Stride {
        match self {
            Length::Sample => Stride { first: 0, step: sample },
            Length::Part(part) => Stride { first: part * all, step: PARTS * all },
            Length::All => Stride { first: 0, step: all },
        }
    }

    /// Returns the minimum that a test may require of a count over all its trials (pieces of work): `all` if the run executes all
    /// trials, a quarter of that for one part, and `sample` for a sample.
    pub fn least(self, all: usize, sample: usize) -> usize {
        match self {
            Length::Sample => sample,
            Length::Part(_) => all / PARTS,
            Length::All => all,
        }
    }

    /// Returns true if a run executes the long form of trial (piece of work) `number`. A sample executes its short form.
    pub fn is_long(self, number: usize) -> bool {
        match self {
            Length::Sample => false,
            Length::Part(part) => number % PARTS == part,
            Length::All => true,
        }
    }

    /// Returns true if a run executes trial (piece of work) `number`. A run of all trials always does. A run of one part does so
    /// only if the trial is in that part, and a sample only if it is in part 0.
    pub fn makes(self, number: usize) -> bool {
        match self {
            Length::Sample => number.is_multiple_of(PARTS),
            Length::Part(_) | Length::All => self.is_long(number),
        }
    }
}

/// The indices of selected list items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stride {
    pub first: usize,
    pub step: usize,
}

impl Stride {
    pub fn of<I: Iterator>(self, things: I) -> impl Iterator<Item = I::Item> {
        things.skip(self.first).step_by(self.step)
    }
}

/// Returns the numbers of the trials (pieces of work) that this run executes (see [`Length::trials`]).
pub fn trials(all: usize, sample: usize) -> impl Iterator<Item = usize> {
    length().trials(all, sample)
}

/// Returns the indices of the list items that this run uses (see [`Length::stride`]).
pub fn stride(all: usize, sample: usize) -> Stride {
    length().stride(all, sample)
}

/// True if tests are named on the command line.
static ARE_NAMED: AtomicBool = AtomicBool::new(false);

/// Notes that tests are named on the command line. A sample then executes all of them.
pub fn choose_names() {
    ARE_NAMED.store(true, Ordering::Relaxed);
}

/// Ends the current test, whose number is `number`, as ignored if this run does not execute it (see [`Length::makes`]). Such tests,
/// for example those with a software driver, are expensive, at least in large numbers.
pub fn only_in_its_part(number: usize) {
    let is_named = length() == Length::Sample && ARE_NAMED.load(Ordering::Relaxed);
    if !is_named && !length().makes(number) {
        harness::leave_to_another_part();
    }
}

/// Returns the minimum that a test may require of a count, depending on the number of trials that this run executes (see
/// [`Length::least`]).
pub fn least(all: usize, sample: usize) -> usize {
    length().least(all, sample)
}
