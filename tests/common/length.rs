//! The length of tests that look for rare faults.
//!
//! Such a test has many *trials*: numbers from 0 on, each of which gives the same trial in every run. Without a variable it
//! makes a sample of them. `ORBIT_LONG=all` makes all of them. With any other `ORBIT_LONG`, a run makes one of four parts:
//! `ORBIT_LONG_PART` says which, else the number of commits modulo 4, so that four commits make all of them once.

use std::process::Command;
use std::sync::OnceLock;

use super::harness;

/// The number of parts into which long tests are divided.
pub const PARTS: usize = 4;

/// The share of the trials that a run makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    Sample,
    /// The trials whose number is this modulo [`PARTS`].
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

/// Returns the number of commits modulo [`PARTS`]; 0 where it is not known, as in a shallow clone.
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
    /// Returns the trials of `0..all` that a run makes: in a sample the first `sample` of them.
    pub fn trials(self, all: usize, sample: usize) -> impl Iterator<Item = usize> {
        let stride = self.stride(1, 1);
        let end = if self == Length::Sample { sample } else { all };
        (stride.first..end).step_by(stride.step)
    }

    /// Returns the parts that a run makes, for tests whose trials depend on those before them in their part. A sample is the
    /// beginning of part 0.
    pub fn parts(self) -> std::ops::Range<usize> {
        match self {
            Length::Sample => 0..1,
            Length::Part(part) => part..part + 1,
            Length::All => 0..PARTS,
        }
    }

    /// Returns the items of a list that a run takes: every `all`-th one, or in a sample every `sample`-th.
    pub fn stride(self, all: usize, sample: usize) -> Stride {
        match self {
            Length::Sample => Stride { first: 0, step: sample },
            Length::Part(part) => Stride { first: part * all, step: PARTS * all },
            Length::All => Stride { first: 0, step: all },
        }
    }

    /// Returns the least number that a run must reach if all trials reach `all` and a sample reaches `sample`.
    pub fn least(self, all: usize, sample: usize) -> usize {
        match self {
            Length::Sample => sample,
            Length::Part(_) => all / PARTS,
            Length::All => all,
        }
    }

    /// Returns whether a run makes the long form of the trial of this number, which a sample makes in a short form.
    pub fn is_long(self, number: usize) -> bool {
        match self {
            Length::Sample => false,
            Length::Part(part) => number % PARTS == part,
            Length::All => true,
        }
    }

    /// Returns whether a run makes the trial of this number, which one part makes and a sample always makes.
    pub fn makes(self, number: usize) -> bool {
        self == Length::Sample || self.is_long(number)
    }
}

/// The indices of the items that are taken from a list.
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

/// Returns the trials of this run: see [`Length::trials`].
pub fn trials(all: usize, sample: usize) -> impl Iterator<Item = usize> {
    length().trials(all, sample)
}

/// Returns the items of a list that this run takes: see [`Length::stride`].
pub fn stride(all: usize, sample: usize) -> Stride {
    length().stride(all, sample)
}

/// Ends the trial of a number that another part makes. Runs other than [`Length::Part`] make the trial: trials that take a driver
/// in software are expensive only in large numbers.
pub fn only_in_its_part(number: usize) {
    if !length().makes(number) {
        harness::leave_to_another_part();
    }
}

/// Returns a number that this run must reach: see [`Length::least`].
pub fn least(all: usize, sample: usize) -> usize {
    length().least(all, sample)
}
