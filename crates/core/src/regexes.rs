//! Regular expressions of ECMAScript that work on bytes. Each byte is the character with that number.
//!
//! This is an implementation of our own, because every search must end: it counts its steps and gives up after too
//! many, at the same step on every computer. Query parsing has already checked that the texts are valid regular
//! expressions.

mod machine;
mod syntax;

pub use machine::{Captures, CompiledPattern, TooLong};

#[cfg(test)]
mod tests;
