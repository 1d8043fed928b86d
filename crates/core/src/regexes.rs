//! Matches ECMAScript regular expressions against bytes. Each byte is read as the character whose code point is its value.
//!
//! orbit has its own implementation because every search must end. A search counts its steps and gives up after a maximum number,
//! at the same step on every computer. The query parser has already checked that the expressions are valid.

mod machine;
mod syntax;

pub use machine::{Captures, CompiledPattern, OPS_MAX, ProgramTooLarge, TooLong};

#[cfg(test)]
mod tests;
