//! Search chess games for patterns, wherever and however they stand on the board.
//!
//! The straight line through the crate:
//!
//! ```text
//! PGN bytes -> games -> moves + key positions = the reel --.
//!                                                          +-> engine -> hits -> report
//! query text -> typed tree -> orbit copies -> plan --------'
//! ```
//!
//! Nothing right of the *plan* knows the language, nothing left of it knows an engine, and nothing
//! right of the *reel* knows PGN.
//!
//! [`scan`] runs queries, such as [`themes`], on one of the engines of [`engine`]; [`run`] makes of their hits what a user gets.

#![deny(unsafe_code, missing_docs)]

pub use scan::EngineChoice;
pub use session::{
    Cancel, GameRef, Hit, MatchedCopy, Progress, Query, QueryError, Residence, Search, Session, SessionError,
    SessionOptions,
};

pub mod board;
pub mod choice;
pub mod database;
pub mod diagnostic;
pub mod engine;
pub mod fen;
pub mod files;
pub mod game;
pub mod orbit;
pub mod pgn;
pub mod plan;
pub mod positions;
pub mod query;
pub mod reel;
pub mod report;
pub mod run;
pub mod scan;
pub mod session;
pub mod stats;
pub mod text;
pub mod themes;
pub mod visible;
