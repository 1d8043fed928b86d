//! Regular expressions of ECMAScript that match bytes: a byte is the character with its number.
//!
//! orbit has its own implementation because every search must end. A search counts its steps and gives up after a maximum number,
//! at the same step on every computer. The parser of queries has already checked that the expressions are valid.

mod machine;
mod syntax;

pub use machine::{Captures, CompiledPattern, TooLong};

#[cfg(test)]
mod tests;
