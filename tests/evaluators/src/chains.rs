//! Evaluates `line` and `path` as the language description defines them: it tries every walk through the tree of a game.

pub mod game;
pub mod query;
pub mod read;
pub mod walks;
