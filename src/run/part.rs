//! Parts: what was collected of some blocks, as data.

use serde::{Serialize, de::DeserializeOwned};

use crate::stats::TooManyGroups;

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

    /// The part as bytes, the same ones for equal parts.
    fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("parts are sequences of known lengths, numbers and texts")
    }

    /// Reads what [`Part::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// The bytes are not those of such a part.
    fn from_bytes(bytes: &[u8]) -> Result<Self, PartError> {
        match postcard::take_from_bytes(bytes) {
            Ok((part, [])) => Ok(part),
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
}
