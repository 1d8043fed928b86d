//! The games that are distributed with orbit: plain moves without annotations.

#![no_std]

/// `sample.pgn`.
pub const SAMPLE: &[u8] = include_bytes!("sample.pgn");
