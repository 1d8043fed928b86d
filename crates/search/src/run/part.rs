//! Defines parts: results of searching some of the blocks (groups of games) that can be stored and merged.

use serde::{Serialize, de::DeserializeOwned};

use crate::stats::TooManyGroups;

/// The maximum count in a part. It is about 30 times the number of positions in 7 billion games, and a million such counts can be
/// added up without overflow.
pub const PART_COUNT_MAX: u64 = 1 << 44;
/// The maximum count in the part for one block, a group of games whose positions have 32-bit numbers. The counts of any possible
/// number of blocks can be added up without overflow.
pub const BLOCK_COUNT_MAX: u64 = 1 << 36;

/// The error message for a count above the maximum.
pub(crate) const COUNT_FAULT: &str = "a count is greater than any database can have";

/// The result that a collector computed from consecutive blocks of a database. Parts of adjacent ranges are merged in database
/// order, and a part can be serialized to bytes. So the same mechanism divides the work among threads, among runs that continue
/// each other, and among machines.
///
/// The default value is the part for no blocks. Merging is associative, and merging with the default value changes nothing.
pub trait Part: Default + Send + Serialize + DeserializeOwned {
    /// Merges this part with the part for the next blocks.
    ///
    /// # Errors
    ///
    /// Fails if the parts are from different collectors, or the merged part would exceed the memory limit.
    fn merge(&mut self, next: Self) -> Result<(), PartError>;

    /// Checks a part that was read from bytes, which may be corrupt: no count may exceed `most`, and the numbers must be
    /// consistent. Parts without counts need no check.
    ///
    /// # Errors
    ///
    /// Returns a description of the error.
    fn check(&self, _most: u64) -> Result<(), &'static str> {
        Ok(())
    }

    /// Serializes the part to bytes. Equal parts yield equal bytes.
    fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("parts are sequences of known lengths, numbers and texts")
    }

    /// Reads a part from the bytes that [`Part::to_bytes`] returned.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a part of this type, or its numbers are impossible.
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
    /// The parts are from different kinds of runs, for example with different groupings.
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

/// A list has one part for each of several collectors. Merging with the empty list changes nothing.
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
