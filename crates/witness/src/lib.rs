//! A second reader of games, written independently of [`pgn`](orbit_pgn) to check it.
//!
//! ```text
//! text -> pgn-reader -> words -> shakmaty -> games --.
//!                                                    +-> equal | equal by rules | a difference
//! text -> pgn: tokenizer -> resolver -> games -------'
//! ```
//!
//! [`read`] reads a chunk with both readers. If pgn-reader and shakmaty are too strict for a text, simple code in this crate reads
//! the text again by the rules of [`pgn`](orbit_pgn), and records each [`Rule`] that explains a difference. In both cases shakmaty
//! plays the moves. Games that still differ are reported as a [`Difference`].

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
