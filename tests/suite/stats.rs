//! Tests statistics, which count games and positions by groups. They are compared with small tables counted by hand, with a
//! second count from JSON Lines output, and with the moves replayed by shakmaty. Also tests the formatting of tables.

mod by_hand;
pub(crate) mod next;
mod openings;
mod second;
mod sides;
mod written;

use std::ops::ControlFlow;
use std::path::Path;

use orbit_database::{BlockStream, MemoryBudget, StreamOptions};
use orbit_engine::Wants;
use orbit_search::choice::Choice;
use orbit_search::found::{BlockResult, Found, Names};
use orbit_search::stats::{Counts, Grouping, Stats};

use crate::common::scan;

/// Three games from the standard start position and one that starts at move 29. White wins one, loses one and draws one, and the
/// third game has no result.
const PGN: &str = "\
[Event \"Open\"]\n[Date \"1997.05.11\"]\n[White \"A\"]\n[Black \"B\"]\n[WhiteElo \"2700\"]\n[BlackElo \"2501\"]\n\
[ECO \"C65\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n\n\
[Event \"Open\"]\n[Date \"????.??.??\"]\n[UTCDate \"1999.??.??\"]\n[White \"B\"]\n[Black \"A\"]\n[WhiteElo \"-\"]\n\
[BlackElo \"2450\"]\n[ECO \"c60/01\"]\n\n1. Nf3 Nf6 0-1\n\n\
[Event \"?\"]\n[Date \"????.??.??\"]\n[White \" A \"]\n[Black \"A\"]\n[WhiteElo \"0\"]\n[ECO \"?\"]\n\n1. d4 *\n\n\
[Event \"M\u{fc}, \u{7}\"]\n[Date \"1997.??.??\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K1N1 b - - 7 29\"]\n\
[WhiteElo \"2600\"]\n[BlackElo \"2700\"]\n\n29... Kd7 30. Nf3 Kd6 31. e4 1/2-1/2\n\n";

/// A query that matches at plies 3 to 5 of the first game of [`PGN`], plies 1 and 2 of the second, and plies 2 to 4 of
/// the fourth.
const KNIGHT: &str = "{Nf3 not initial}";

/// Returns options for reading a database in chunks of `chunk_bytes` bytes.
fn options(chunk_bytes: usize) -> StreamOptions {
    let mut options = StreamOptions::default();
    options.pgn.chunk_bytes = chunk_bytes;
    options
}

fn pgn(chunk_bytes: usize) -> BlockStream {
    BlockStream::from_pgn_bytes("test", PGN.into(), options(chunk_bytes))
}

fn file(path: &Path, chunk_bytes: usize) -> BlockStream {
    BlockStream::open(&[path.to_owned()], options(chunk_bytes)).unwrap()
}

/// Returns the statistics of a query's hits by the given groupings. If `event` is given, only games with this value of the tag
/// `Event` are counted.
fn counted(
    query: &str,
    groupings: &str,
    database: BlockStream,
    threads: usize,
    event: Option<&str>,
) -> Counts {
    let stats = Stats::new(Grouping::list(groupings).unwrap());
    let scan = scan(query).threads(threads);
    let mut sum = stats.none();
    let work = |result: BlockResult<'_>, _: &MemoryBudget| {
        let (block, answers) = (&result.block, &result.answers[0]);
        let chosen = event.map(|event| {
            block.games().map(|game| game.tag("Event") == Some(event.as_bytes())).collect::<Vec<bool>>()
        });
        let names = &Names::default();
        stats.count(&Found { games: chosen.as_deref(), ..Found::new(block, answers, names) })
    };
    let values = if stats.wants().contains(Wants::VALUES) { Wants::VALUES } else { Wants::HITS };
    let copies = if stats.wants().contains(Wants::ALL_COPIES) { Wants::ALL_COPIES } else { Wants::HITS };
    let take = |_, counts| {
        sum.add(counts).unwrap();
        ControlFlow::Continue(())
    };
    scan.for_each_block(database, &[values | copies], &Choice::default(), &Names::default(), work, take)
        .unwrap();
    sum
}

/// Returns the counts for a query in [`PGN`].
fn counts(query: &str, groupings: &str) -> Counts {
    counted(query, groupings, pgn(1 << 20), 1, None)
}
