//! Regular expressions of ECMAScript that work on bytes: each byte counts as the character with its number.
//!
//! This is our own implementation, because every search must end: a search counts its steps and gives up after too many, at the
//! same step on every computer. The parser of queries has already checked that the expressions are valid.

mod machine;
mod syntax;

pub use machine::{Captures, CompiledPattern, TooLong};

#[cfg(test)]
mod tests;
