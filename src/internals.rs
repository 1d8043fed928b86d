//! What the crate is made of, for the command `orbit`, tests, benchmarks and fuzz targets. Any version may change it.
//!
//! The modules are crates of `crates`, or modules of `orbit_core` and `orbit_search`; ARCHITECTURE.md says what each does. What a program needs is at the root of the crate.

pub use orbit_core::{board, diagnostic, fen, files, game, isa, named, positions, sync, text, visible};
pub use orbit_search::{choice, job, report, request, run, scan, serve, session, stats, themes};
pub use {
    orbit_database as database, orbit_engine as engine, orbit_pgn as pgn, orbit_plan as plan,
    orbit_query as query, orbit_reel as reel, orbit_transforms as orbit, orbit_witness as second_reader,
};
