//! A second reader of games, written apart from [`pgn`](orbit_pgn), to check it.
//!
//! ```text
//! text -> pgn-reader -> words -> shakmaty -> games --.
//!                                                    +-> equal | equal by rules | a difference
//! text -> pgn: tokenizer -> resolver -> games -------'
//! ```
//!
//! [`read`] reads a chunk with both readers. Where pgn-reader and shakmaty are too strict for a text, plain code reads it
//! once more as [`pgn`](orbit_pgn) says that games are, and notes by which [`Rule`] it parts from them; shakmaty plays
//! the moves. What is not equal then is a [`Difference`].

#![deny(unsafe_code, missing_docs)]

mod compare;
mod lists;
mod plain;
mod play;
mod rules;
mod start;
mod tree;
mod visit;
mod words;

pub use compare::{Agreement, Difference, Readers, Reread, SAMPLE, read};
pub use rules::Rule;
