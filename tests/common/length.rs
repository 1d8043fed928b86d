//! Determines the length of tests that look for rare faults.
//!
//! Such a test has many *trials*. They are numbered from 0, and a number means the same trial in every run. If no
//! variable is set, the test runs a sample of the trials. With `ORBIT_LONG=all` it runs all of them. With any other
//! value of `ORBIT_LONG`, it runs one of four parts. `ORBIT_LONG_PART` chooses the part. If it is not set, the part is
//! the number of commits modulo 4, so four consecutive commits run all trials once.

use std::process::Command;
use std::sync::OnceLock;

use super::harness;

/// The number of parts into which long tests are divided.
pub const PARTS: usize = 4;

/// The share of a test's trials that a run executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    Sample,
    /// The trials whose number modulo [`PARTS`] is this remainder.
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

/// Returns the number of commits modulo [`PARTS`], or 0 if the number is not known, as in a shallow clone.
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
    /// Returns those trials of `0..all` that a run executes. A sample consists of the first `sample` trials.
    pub fn trials(self, all: usize, sample: usize) -> impl Iterator<Item = usize> {
        let stride = self.stride(1, 1);
        let end = if self == Length::Sample { sample } else { all };
        (stride.first..end).step_by(stride.step)
    }

    /// Returns the parts that a run executes, for tests in which a trial depends on the earlier trials of its part. A
    /// sample is the beginning of part 0.
    pub fn parts(self) -> std::ops::Range<usize> {
        match self {
            Length::Sample => 0..1,
            Length::Part(part) => part..part + 1,
            Length::All => 0..PARTS,
        }
    }

    /// Returns the indices of the items of a list that a run uses: every `all`-th item, or every `sample`-th item for a
    /// sample.
    pub fn stride(self, all: usize, sample: usize) -> Stride {
        match self {
            Length::Sample => Stride { first: 0, step: sample },
            Length::Part(part) => Stride { first: part * all, step: PARTS * all },
            Length::All => Stride { first: 0, step: all },
        }
    }

    /// Returns the minimum that a test requires for a count over all trials of a run: `all` for a run of all trials, a
    /// quarter of that for one part, and `sample` for a sample.
    pub fn least(self, all: usize, sample: usize) -> usize {
        match self {
            Length::Sample => sample,
            Length::Part(_) => all / PARTS,
            Length::All => all,
        }
    }

    /// Returns true if a run executes the long form of the trial with this number. A sample executes its short form.
    pub fn is_long(self, number: usize) -> bool {
        match self {
            Length::Sample => false,
            Length::Part(part) => number % PARTS == part,
            Length::All => true,
        }
    }

    /// Returns true if a run executes the trial with this number. A sample and a run of all trials do; a run of one
    /// part does only if the trial belongs to that part.
    pub fn makes(self, number: usize) -> bool {
        self == Length::Sample || self.is_long(number)
    }
}

/// The indices of the items that are selected from a list.
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

/// Returns the trials that this run executes (see [`Length::trials`]).
pub fn trials(all: usize, sample: usize) -> impl Iterator<Item = usize> {
    length().trials(all, sample)
}

/// Returns the indices of the items that this run uses (see [`Length::stride`]).
pub fn stride(all: usize, sample: usize) -> Stride {
    length().stride(all, sample)
}

/// Ends the trial with this number if it belongs to another part. Runs other than [`Length::Part`] execute every such
/// trial. This function is for trials that use a software driver, which are expensive only in large numbers.
pub fn only_in_its_part(number: usize) {
    if !length().makes(number) {
        harness::leave_to_another_part();
    }
}

/// Returns the minimum that a test requires for a count in this run (see [`Length::least`]).
pub fn least(all: usize, sample: usize) -> usize {
    length().least(all, sample)
}
