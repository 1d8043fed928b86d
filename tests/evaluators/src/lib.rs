//! Evaluators that were written from the rules alone, for tests. They share no code with orbit, and are slow and simple. They are a
//! crate of their own because the compiler optimises this crate, but not the tests.

pub mod chains;
pub mod cql5;
pub mod pgn;
