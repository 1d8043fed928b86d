//! What the fuzz targets do. Each function takes any bytes and panics if the library breaks a
//! promise; it returns whether the bytes were good for more than a refusal. `tests/suite/fuzz_smoke.rs` of the project runs them on seeds with a stable compiler.

use std::{fs, ops::ControlFlow};

use orbit_chess::internals::{
    database::{Database, DatabaseOptions},
    engine::{Engine as _, EngineError, PreparedQuery, Wants},
    plan::Options,
    query,
    reel::{Block, BlockBuilder, EncodedBlock, Reel, ReelSource, ReelWriter, replay},
};

/// Longer queries teach nothing new and take long.
const QUERY_BYTES_MAX: usize = 400;

/// How many filters of a query may be asked in a game: a query may repeat without an end.
const STEPS_MAX: u64 = 100_000;

/// Parses, expands and plans a query, and runs it on a short game: errors are fine, panics are not,
/// and the two engines must agree where the query has a plan.
pub fn query(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    if text.len() > QUERY_BYTES_MAX {
        return false;
    }
    let parsed = match query::parse(text) {
        Ok(parsed) => parsed,
        Err(diagnostic) => {
            diagnostic.render(text, "query", false);
            return false;
        }
    };
    let Ok(prepared) = PreparedQuery::new(parsed.query, Options::default()) else { return false };
    let Ok(reference) = prepared.reference() else { return false };
    if reference.info().copies[0] > 300 {
        return false;
    }
    let reference = reference.with_steps_max(STEPS_MAX);
    let block = &blocks(b"1. e4 c5 2. Nf3 d6 1/2-1/2", DatabaseOptions::default())[0];
    let slow = reference.answer(block, Wants::VALUES);
    if prepared.planner.refusal().is_some() {
        let is_fine = matches!(slow, Ok(_) | Err(EngineError::Query { .. }));
        assert!(is_fine, "{text}: {:?}", slow.err());
        return true;
    }
    let fast = prepared.cpu().unwrap().answer(block, Wants::VALUES);
    if matches!(slow, Err(EngineError::Query { .. })) {
        return true;
    }
    let (fast, slow) = (fast.expect("cpu runs what it has planned"), slow.expect("it was accepted"));
    assert_eq!(fast.hits.bits, slow.hits.bits, "{text}");
    assert_eq!(prepared.cpu().unwrap().info().copies[0], reference.info().copies[0], "{text}");
    true
}

/// Reads any bytes as PGN: never panics, and games do not depend on the size of chunks.
pub fn pgn(data: &[u8]) -> bool {
    let mut small = DatabaseOptions::default();
    small.pgn.chunk_bytes = 1;
    let (whole, pieces) = (blocks(data, DatabaseOptions::default()), blocks(data, small));
    assert_eq!(games(&whole), games(&pieces), "games depend on the size of chunks");
    let mut trees = DatabaseOptions::default();
    (trees.parse.variations, trees.parse.annotations) = (true, true);
    let trees = blocks(data, trees);
    for (block, plain) in trees.iter().zip(&whole) {
        assert_eq!(replay::check_keys(block), Ok(()));
        assert_eq!(block.clone().into_main_lines(false), *plain, "main lines depend on side lines");
    }
    assert_eq!(trees.len(), whole.len());
    whole.iter().any(|block| block.slots() > block.games_len())
}

/// Reads any bytes as a reel: an error or blocks, never a panic.
pub fn reel(data: &[u8]) -> bool {
    let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    fs::write(file.path(), data).expect("it can be written");
    read(file.path())
}

/// Makes a reel of some games, alters one byte of it as the data say, and reads it. Every byte
/// stands under a checksum: something must be refused.
pub fn reel_mutated(data: &[u8]) -> bool {
    let Some((head, games)) = data.split_first_chunk::<5>() else { return false };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("games.reel");
    let mut options = DatabaseOptions::default();
    (options.parse.variations, options.parse.annotations) = (true, true);
    write(&path, &blocks(games, options));
    assert!(read(&path), "a new reel was refused");

    let mut bytes = fs::read(&path).expect("the reel was just written");
    let at = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize % bytes.len();
    if head[4] == 0 {
        bytes.truncate(at);
    } else {
        bytes[at] ^= head[4];
    }
    fs::write(&path, bytes).expect("it was written before");
    assert!(!read(&path), "byte {at}, altered by {}, was not noticed", head[4]);
    true
}

fn blocks(data: &[u8], options: DatabaseOptions) -> Vec<Block> {
    let mut out = Vec::new();
    let database = Database::from_pgn_bytes("data", data.to_vec(), options);
    let take = |taken: orbit_chess::internals::database::StreamedBlock, ()| {
        out.push(std::sync::Arc::unwrap_or_clone(taken.block));
        ControlFlow::Continue(())
    };
    database.for_each_block(1, |_| (), take).expect("PGN gives blocks, whatever it is");
    out
}

/// Everything about all games, block by block, as text.
fn games(blocks: &[Block]) -> Vec<String> {
    let mut out = Vec::new();
    for block in blocks {
        for game in block.games() {
            let numbers = (game.number(), game.number_in_source(), game.offset(), game.outcome());
            let tags: Vec<_> = game.tags().collect();
            out.push(format!("{numbers:?} {:?} {:?} {tags:?}", game.start(), game.moves()));
        }
        for problem in block.problems() {
            let number = block.number_in_source(problem);
            let orbit_chess::internals::reel::Problem { kind, offset, ply, reason, .. } = problem;
            out.push(format!("{number:?} {kind:?} {offset} {ply} {reason}"));
        }
    }
    // Problems stand behind the games of their block, wherever that ends.
    out.sort();
    out
}

fn write(path: &std::path::Path, blocks: &[Block]) {
    let mut writer = ReelWriter::create(path).expect("the folder can be written to");
    let empty = BlockBuilder::new().finish();
    for block in blocks.iter().chain([&empty]) {
        writer.append(&EncodedBlock::new(block)).expect("there is room");
    }
    let source = ReelSource { name: String::from("data"), ..ReelSource::default() };
    writer.finish(&[source]).expect("there is room");
}

/// Whether a reel and all its blocks can be read.
fn read(path: &std::path::Path) -> bool {
    let Ok(reel) = Reel::open(path) else { return false };
    let good = (0..reel.blocks()).filter(|&index| reel.block(index).is_ok()).count();
    good == reel.blocks()
}
