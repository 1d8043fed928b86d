//! The base of all other crates: boards, FEN, facts about games, players' names, regular expressions, diagnostics, and output
//! files.

#![deny(unsafe_code, missing_docs)]

pub mod board;
pub mod diagnostic;
pub mod fen;
pub mod files;
pub mod game;
pub mod interrupt;
pub mod isa;
pub mod named;
pub mod positions;
pub mod record;
pub mod regexes;
pub mod sync;
pub mod text;
pub mod visible;
