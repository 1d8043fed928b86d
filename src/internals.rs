//! What the crate is made of, for the command `orbit`, tests, benchmarks and fuzz targets. Any version may change it.
//!
//! The modules are those of `src`; ARCHITECTURE.md says what each does. What a program needs is at the root of the crate.

macro_rules! modules {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        $($(#[doc = $doc])+ pub mod $name { pub use crate::$name::*; })+
    };
}

modules! {
    /// Packed positions and moves, square sets under transforms, attacks, legal moves.
    board,
    /// Which games count, which of their hits, and which come first.
    choice,
    /// PGN and reels as one ordered stream of blocks; games by number.
    database,
    /// Messages about a text, with a span and a remedy.
    diagnostic,
    /// From a query and a reel to hits.
    engine,
    /// Positions as text.
    fen,
    /// Files that are written: temporary names, locks, what may be replaced.
    files,
    /// What a game says of itself: tags, ratings, dates, players.
    game,
    /// A search in numbered parts, and their files.
    job,
    /// Choices that have names.
    named,
    /// Transforms to lists of distinct copies.
    orbit,
    /// Files, folders and streams to games.
    pgn,
    /// Copies to straight code over 64-bit words.
    plan,
    /// Square sets, boards and positions turned, mirrored, shifted.
    positions,
    /// Text to a typed tree.
    query,
    /// Games to blocks, blocks to bytes and back.
    reel,
    /// Hits to bytes.
    report,
    /// The one form of a question to a database.
    request,
    /// Answers to lists, counts and findings, by collectors.
    run,
    /// The choice of the engine, and the loop over blocks.
    scan,
    /// The same games by pgn-reader and shakmaty, to check the reading of games.
    second_reader,
    /// Databases that stay in memory, and a conversation about them in JSON.
    serve,
    /// Hits counted by groups.
    stats,
    /// Locks, whether or not a thread panicked while it held them.
    sync,
    /// Bytes of games to text.
    text,
    /// Queries that have names.
    themes,
    /// Letters that are escaped before a terminal gets them.
    visible,
}
