//! Requests to game databases, and their results: lists, counts, statistics, reports, jobs, and conversations with `orbit serve`.
//!
//! Programs should use the crate `orbit-chess`, which exports the parts of this crate that they need.

#![deny(unsafe_code, missing_docs)]

pub mod choice;
pub mod executor;
pub mod explore;
pub mod found;
pub mod job;
pub mod library;
pub mod profile;
pub mod report;
pub mod request;
pub mod run;
pub mod serve;
pub mod stats;
pub mod themes;

pub use choice::{Choice, Condition, Measure, Order, Player, Ratings, Side, SortKey};
pub use executor::EngineChoice;
pub use found::BlockResult;
pub use library::{
    CancelToken, Database, DatabaseError, DatabaseOptions, GameRef, Hit, HitIter, HitSpan, MatchedCopy,
    Progress, Query, QueryError, Residence, Scan, board_svg,
};
#[cfg(feature = "arrow")]
pub use library::{Table, TableColumns};
pub use orbit_core::board::{Bitboard, Color, Position, Role, Square};
pub use orbit_core::diagnostic::{Diagnostic, Severity};
pub use orbit_core::game::PlayerName;
pub use orbit_core::named::{Named, UnknownName};
pub use orbit_database::{MemoryBudget, PlaceCache, Summary};
pub use orbit_engine::gpu::GpuOptions;
pub use orbit_engine::verify::Sample;
pub use orbit_engine::{Answer, SpanKind, Wants};
pub use orbit_pgn::Outcome;
pub use orbit_query::{Dialect, Type};
pub use orbit_reel::Alike;
#[cfg(feature = "arrow")]
pub use report::PositionRows;
pub use report::findings::Findings;
pub use report::{Column, HitTotals, Rows};
pub use request::{Chosen, REQUEST_SCHEMA, Request, RequestError};
pub use run::{Collector, Part, PartError};
pub use stats::{Counts, Grouping};
pub use themes::{CATALOGUE, Theme, ThemesError, load as load_themes};
