//! Defines parts, which are results of searching some of the blocks (groups of games), in a form that can be stored and merged.

use serde::{Serialize, de::DeserializeOwned};

use crate::stats::TooManyGroups;

/// The greatest count that a part can have. It is about 30 times the number of positions in 7 billion games, and a million such
/// counts can be added up without an overflow.
pub const PART_COUNT_MAX: u64 = 1 << 44;
/// The greatest count in the part of one block, which is a group of games whose positions have 32-bit numbers. The counts of any
/// possible number of blocks can be added up without an overflow.
pub const BLOCK_COUNT_MAX: u64 = 1 << 36;

/// The message of the error that a count is above its limit.
pub(crate) const COUNT_FAULT: &str = "a count is greater than any database can have";

/// The results that a collector computed from consecutive blocks of a database. The parts of neighbouring ranges are merged in the
/// order of the database, and a part can be written to bytes and read back. So the work on a database can be divided in the same
/// way among threads, among runs that continue each other, and among machines.
///
/// The default is the part for no blocks. Merging is associative, and merging with the default part changes nothing.
pub trait Part: Default + Send + Serialize + DeserializeOwned {
    /// Merges this part with the part for the blocks that follow.
    ///
    /// # Errors
    ///
    /// Fails if the parts come from different collectors, or they need more memory together than is allowed.
    fn merge(&mut self, next: Self) -> Result<(), PartError>;

    /// Checks a part that was read from bytes, which may have been altered: no count may be above `most`, and the numbers must be
    /// consistent. Parts without counts need no check.
    ///
    /// # Errors
    ///
    /// Returns a description of the error.
    fn check(&self, _most: u64) -> Result<(), &'static str> {
        Ok(())
    }

    /// Returns the part as bytes. Equal parts give equal bytes.
    fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("parts are sequences of known lengths, numbers and texts")
    }

    /// Reads the bytes that [`Part::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not such a part, or its numbers are impossible.
    fn from_bytes(bytes: &[u8]) -> Result<Self, PartError> {
        match postcard::take_from_bytes::<Self>(bytes) {
            Ok((part, [])) => match part.check(PART_COUNT_MAX) {
                Ok(()) => Ok(part),
                Err(fault) => Err(PartError::Unreadable(fault.to_owned())),
            },
            Ok((_, rest)) => Err(PartError::Unreadable(format!("{} bytes follow it", rest.len()))),
            Err(error) => Err(PartError::Unreadable(error.to_string())),
        }
    }
}

/// The reason why parts cannot be merged or read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// Statistics have too many groups.
    #[error(transparent)]
    TooManyGroups(#[from] TooManyGroups),
    /// The parts come from runs that differ, for example in their groupings.
    #[error(
        "parts of runs with different {0} cannot be merged: make all parts of a result by the same command"
    )]
    Differ(&'static str),
    /// The bytes are not a part.
    #[error("these bytes are no part of such a run ({0}): make the part again")]
    Unreadable(String),
}

/// Merging with `None` changes nothing.
impl<P: Part> Part for Option<P> {
    fn merge(&mut self, next: Self) -> Result<(), PartError> {
        match (&mut *self, next) {
            (_, None) => Ok(()),
            (Some(part), Some(next)) => part.merge(next),
            (None, next) => {
                *self = next;
                Ok(())
            }
        }
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        self.iter().try_for_each(|part| part.check(most))
    }
}

/// The list contains one part for each of several collectors. Merging with the empty list changes nothing.
impl<P: Part> Part for Vec<P> {
    fn merge(&mut self, next: Self) -> Result<(), PartError> {
        if self.is_empty() {
            *self = next;
            return Ok(());
        }
        if self.len() != next.len() && !next.is_empty() {
            return Err(PartError::Differ("outputs"));
        }
        self.iter_mut().zip(next).try_for_each(|(part, next)| part.merge(next))
    }

    fn check(&self, most: u64) -> Result<(), &'static str> {
        self.iter().try_for_each(|part| part.check(most))
    }
}
