//! Search chess games for patterns, no matter where the pieces stand on the board and how the pattern is mirrored or rotated.
//!
//! The pattern is a query in CQL, the Chess Query Language. A *transform* such as `flip` or `shift` generates all distinct copies
//! of the pattern to which it is applied. By default, a transform matches where at least one of its copies matches. A position at
//! which the query matches is a *hit*.
//!
//! # Open once, ask often
//!
//! A [`Database`] opens PGN files (plain or compressed), folders, EPD lists and reels. A [`Query`] is prepared once and runs on any
//! database. [`Database::scan`] begins a request. The last method in the chain of calls determines the result: hits, counts,
//! statistics, or the result of a collector.
//!
//! ```
//! use orbit_chess::{Database, Query};
//!
//! let database = Database::open(["games/sample.pgn"])?;
//! let knights = Query::parse("shift flip flipcolor {Nd4 kf3}")?;
//! for hit in database.scan(&knights).first_per_game().limit(10).hits()? {
//!     let game = hit.game();
//!     println!("{} {:?} - {:?}", game.number(), game.white(), game.black());
//!     println!("{} {:?} {}", hit.label(), hit.san_before(), hit.fen());
//! }
//! // The same database answers the next query; the files are not read again.
//! let mates = database.scan(&Query::parse("mate")?).count()?;
//! assert!(mates[0].games > 10);
//! # Ok::<(), orbit_chess::DatabaseError>(())
//! ```
//!
//! A database that fits into [`DatabaseOptions::resident_bytes_max`] stays in memory; a larger one is read again for each request.
//! The results are the same in both cases. [`Database::residence`] returns whether its blocks are in memory or only in the files.
//! Several threads can run requests at the same time. [`Scan::progress`] reports the progress of a request, and a [`CancelToken`]
//! stops it.
//!
//! # The contents of a hit
//!
//! A [`Hit`] and its [`GameRef`] can be kept, sent to other threads, and used after the database is dropped. The moves around the
//! hit, its position and its FEN (with the move counters from the game) are computed only when their methods are called.
//!
//! ```
//! use orbit_chess::{Answer, DatabaseOptions, Query};
//!
//! let games = b"[White \"Anand\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *".to_vec();
//! let database = DatabaseOptions::new().open_bytes("games", games)?;
//! let hit = database.scan(&Query::parse("flipcolor {B attacks n}")?).hits()?.remove(0);
//! assert_eq!((hit.game().white().as_deref(), hit.ply()), (Some("Anand"), 5));
//! assert_eq!((hit.label(), hit.san_before(), hit.san_after()), ("3.".into(), Some("Bb5".into()), Some("a6".into())));
//! assert_eq!(hit.fen(), "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3");
//! // The query's value is a set of squares, and its first copy matches.
//! assert!(matches!(hit.value(), Answer::Set(squares) if squares == hit.squares() && squares.count() == 1));
//! assert_eq!(hit.copy().map(|copy| (copy.index, copy.text)), Some((0, "B attacks n")));
//! # Ok::<(), orbit_chess::DatabaseError>(())
//! ```
//!
//! [`Scan::hits`] collects hits, [`Scan::for_each`] passes them to a closure, and [`Scan::iter`] iterates over them while a thread
//! searches. [`Database::game`] returns any game by its number, even from files that are too large for memory.
//!
//! # Statistics
//!
//! ```
//! use orbit_chess::{Database, Query};
//!
//! let database = Database::open(["games/sample.pgn"])?;
//! let counts = database.scan(&Query::parse("flipcolor {Bh7 kg8}")?).statistics("year,result")?;
//! for row in counts.rows(&"result".parse()?) {
//!     println!("{:?}: {} of {} games", row.keys[0], row.hit.games, row.all.games);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Your own computations
//!
//! [`Scan::fold`] computes a value from the hits, on all threads:
//!
//! ```
//! use orbit_chess::{Database, Query};
//!
//! let database = Database::open(["games/sample.pgn"])?;
//! let checks: Query = "check".parse()?;
//! let longest = database.scan(&checks).fold(|| 0, |longest, hit| longest.max(hit.game().plies()), |a, b| a.max(b))?;
//! assert!(longest > 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Collector`] can do more: it also receives the results of several queries, the games without hits, and whole blocks (groups
//! of games). It declares the data that it [`Wants`], examines a block, and returns a [`Part`], which is merged with the part for
//! the next block. `examples/collector.rs` counts on which squares kings are mated.
//!
//! # Engines
//!
//! [`EngineChoice::Auto`] uses a graphics card if there is one (software adapters do not count) and the database has enough
//! positions; otherwise it uses the processor. All engines return the same results, and [`Scan::verify`] lets a second engine check
//! them.
//!
//! # Errors
//!
//! A [`QueryError`] displays the query and marks the place of the error. All other errors are of type [`DatabaseError`]; the module
//! [`errors`] defines the errors of individual steps that it can contain. A game or a file that cannot be read to its end is not an
//! error: the [`Summary`] of a request counts such games and files.
//!
//! # The steps of a search
//!
//! ```text
//! PGN bytes -> games -> moves + key positions = the reel --.
//!                                                          +-> engine -> hits -> report
//! query text -> typed tree -> orbit copies -> plan --------'
//! ```
//!
//! The *plan* and the *reel* separate these steps: code to the right of the plan does not depend on the query language, code to the
//! left of it does not depend on any engine, and code to the right of the reel does not depend on PGN.

#![deny(unsafe_code, missing_docs)]

pub use orbit_core::board::{Bitboard, Color, Position, Role, Square};
pub use orbit_core::diagnostic::{Diagnostic, Severity, Span};
pub use orbit_core::files::{Clash, OutputError};
pub use orbit_core::game::{Nearness, PlayerName};
pub use orbit_core::named::{Named, UnknownName};
pub use orbit_database::{Agreement, MemoryBudget, PlaceCache, SourceSummary, StreamError, Summary};
pub use orbit_engine::gpu::GpuOptions;
pub use orbit_engine::verify::Sample;
pub use orbit_engine::{Answer, EngineError, SpanKind, Wants};
pub use orbit_pgn::{Options as PgnOptions, Outcome, WebOptions};
pub use orbit_query::{Dialect, Type};
pub use orbit_reel::Alike;
pub use orbit_search::choice::{
    Choice, Condition, ExactPosition, Measure, Order, Player, Ratings, Side, SortKey,
};
pub use orbit_search::executor::EngineChoice;
pub use orbit_search::found::BlockResult;
pub use orbit_search::library::{
    CancelToken, Database, DatabaseError, DatabaseOptions, GameRef, Hit, HitIter, HitSpan, MatchedCopy,
    Progress, Query, QueryError, Residence, Scan, board_svg,
};
#[cfg(feature = "arrow")]
pub use orbit_search::library::{Table, TableColumns};
#[cfg(feature = "arrow")]
pub use orbit_search::report::PositionRows;
pub use orbit_search::report::findings::Findings;
pub use orbit_search::report::{Column, HitTotals, Rows};
pub use orbit_search::request::{Chosen, REQUEST_SCHEMA, Request, RequestError};
pub use orbit_search::run::{Collector, Part, PartError};
pub use orbit_search::stats::{Counts, Grouping, ThemeMatrix};
pub use orbit_search::themes::{CATALOGUE, Theme, ThemesError, load as load_themes};

/// Boards, moves and board symmetries: see [`Position`].
pub mod board {
    pub use orbit_core::board::{Board, Code, Dihedral, MoveKind, PackedMove, PieceSet, State};
}

/// Blocks (groups of games) and an engine's results for a block, as a [`Collector`] receives them.
pub mod blocks {
    pub use orbit_database::{GameTexts, StreamedBlock};
    pub use orbit_engine::{
        Answers, Commentary, CopyDetail, CopyHits, FindSpan, GameAnswer, GameCommentary, GameEnds, HitValues,
        Hits, MatchSpan, Rank, SortValue, Spans, Values,
    };
    pub use orbit_pgn::{Freshness, Stamp};
    pub use orbit_reel::{
        Block, Duplicate, GameRow, Key, LineRow, Material, Numbers, Problem, ProblemKind, ReelSource,
        SourceGames, Start, Strings, TagName, TagValue, Totals,
    };
    pub use orbit_search::found::{Found, Names};
    pub use orbit_search::report::Row;
    pub use orbit_search::run::{CannotSplit, TakeError};
    pub use orbit_transforms::{CopyDifference, Designators, Frame, Likeness, Placement};
}

/// The errors that [`DatabaseError`] and other errors of this crate contain, and the errors from parsing names and conditions.
pub mod errors {
    pub use orbit_core::game::NoName;
    pub use orbit_database::{Difference, TextError};
    pub use orbit_engine::gpu::{GpuError, UnknownVariant};
    pub use orbit_engine::reference::ReferenceError;
    pub use orbit_pgn::PgnError;
    pub use orbit_reel::{FilePart, ManifestError, ReelError};
    pub use orbit_search::choice::{ConditionError, NoRatings};
    pub use orbit_search::stats::{GroupingError, TooManyGroups};
    pub use orbit_search::themes::ThemeFault;
}

/// The parts of [`Findings`], the content of a report.
pub mod findings {
    pub use orbit_search::report::findings::{
        CopyFindings, GroupTable, Histogram, HistogramRow, HitCounts, ListedGame, Miss, Misses,
        OrbitFindings, PatternBoard, ResultCount, SampleHit, SampleMoves, SampleSpan, SortedBy, SquareNames,
        SquarePair, TransformSum, Unit, ValueFindings, ValueGroup,
    };
    pub use orbit_search::report::heat::{Grid, HeatMap, Palette};
}

/// Games as they are written in PGN, and facts about them: see [`GameRow`](blocks::GameRow).
pub mod games {
    pub use orbit_core::game::{Eco, Eval, GameHeader, Measures, Opening};
    pub use orbit_pgn::{Annotation, AnnotationKind, Game, GameStatus, ReadFault, SideLine, Tag};
}

/// Options of the GPU engine: see [`GpuOptions`].
pub mod gpu {
    pub use orbit_engine::gpu::{AdapterChoice, AdapterReport, GpuLimits, PipelineCache, Variant};
}

/// Groupings and the rows of statistics: see [`Counts`].
pub mod stats {
    pub use orbit_core::game::{Mention, Rating};
    pub use orbit_search::report::{Bin, Distribution, NumberSummary};
    pub use orbit_search::stats::{
        BestGame, By, GroupKey, GroupRow, ManyCounts, MoveRow, MoveTally, ScoreOf, Share, ShareDifference,
        SideResults, Stats, TableLimits, Tally, ThemeCounts, ThemeLabel,
    };
}
