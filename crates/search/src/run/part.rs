//! Parts: what was collected of some blocks, as data.

use serde::{Serialize, de::DeserializeOwned};

use crate::stats::TooManyGroups;

/// The greatest count that a part can have: some 30 times the positions of 7 billion games. A million such parts add up without
/// an overflow.
pub const PART_COUNT_MAX: u64 = 1 << 44;
/// The same of the part of one block, whose positions have numbers of 32 bits. As many blocks as there can be add up.
pub const BLOCK_COUNT_MAX: u64 = 1 << 36;

/// Says that a count is above its limit.
pub(crate) const COUNT_FAULT: &str = "a count is greater than any database can have";

/// What a collector made of neighbouring blocks of a database. Parts of neighbours merge, in the order of the database, and
/// a part can be written to bytes and read again: threads, a run that is resumed, and machines that share a
/// database do the same.
///
/// The default is the part of no blocks. Merging is associative, and the part of no blocks changes nothing.
pub trait Part: Default + Send + Serialize + DeserializeOwned {
    /// Adds the part of the blocks that follow.
    ///
    /// # Errors
    ///
    /// The parts are of collectors that differ, or together larger than memory is meant for.
    fn merge(&mut self, next: Self) -> Result<(), PartError>;

    /// Checks a part that was read from bytes, which may have been altered: no count is above `most`, and its numbers fit each
    /// other. Without counts there is nothing to check.
    ///
    /// # Errors
    ///
    /// The fault.
    fn check(&self, _most: u64) -> Result<(), &'static str> {
        Ok(())
    }

    /// The part as bytes, the same ones for equal parts.
    fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("parts are sequences of known lengths, numbers and texts")
    }

    /// Reads what [`Part::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// The bytes are not those of such a part, or its numbers cannot be.
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

/// Why parts cannot be merged or read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// Statistics have too many groups.
    #[error(transparent)]
    TooManyGroups(#[from] TooManyGroups),
    /// The parts do not fit each other.
    #[error(
        "parts of runs with different {0} cannot be merged: make all parts of a result by the same command"
    )]
    Differ(&'static str),
    /// Bytes that are no part.
    #[error("these bytes are no part of such a run ({0}): make the part again")]
    Unreadable(String),
}

/// Without a part on one side there is the other one.
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

/// One for each of several collectors, or none at all.
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
