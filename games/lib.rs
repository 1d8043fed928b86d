//! Games that come with orbit: plain moves, no annotations.

#![no_std]

/// `sample.pgn`.
pub const SAMPLE: &[u8] = include_bytes!("sample.pgn");
