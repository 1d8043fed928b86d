//! Prepares the input games, and records facts about them.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use orbit_database::{BlockStream, StreamOptions};
use orbit_reel::Block;
use tempfile::TempDir;

use crate::process;

/// The minimum number of positions. Searching them takes longer than starting a process, and, at 32 bytes each, they do not fit
/// in any cache.
const POSITIONS_MIN: u64 = 16_000_000;
/// The number of bytes at the beginning of the PGN file in which the first ten games are looked for.
const HEAD_BYTES: u64 = 1 << 20;

/// A reel and its size.
pub struct Games {
    /// The name of the games, which messages show and which [`Counts`] uses as a key.
    pub name: &'static str,
    pub reel: PathBuf,
    pub games: u64,
    pub positions: u64,
}

impl Games {
    fn index(name: &'static str, source: &Path, reel: PathBuf) -> Games {
        process::index(&[source], &reel, 2);
        let info = process::info(&reel);
        let number = |value: &serde_json::Value| value.as_u64().expect("`orbit info` counts");
        Games { name, games: number(&info["games"]["all"]), positions: number(&info["positions"]), reel }
    }
}

/// All inputs. The files written for them are deleted on drop.
pub struct Inputs {
    folder: TempDir,
    /// The path of a PGN file with at least [`POSITIONS_MIN`] positions, whose games have no annotations.
    pub pgn: PathBuf,
    pub pgn_bytes: u64,
    /// The number of times that `pgn` repeats the given file.
    pub repeats: u64,
    /// The same games as a reel.
    pub games: Games,
    pub annotated: Option<PathBuf>,
    pub distinct: Option<Games>,
    blocks: OnceCell<Vec<Block>>,
}

impl Inputs {
    /// Repeats the given games until there are at least [`POSITIONS_MIN`] positions, and indexes them.
    pub fn prepare() -> Inputs {
        eprintln!("preparing the games ...");
        let given = |name| std::env::var_os(name).map(PathBuf::from);
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("games/sample.pgn");
        let source = given("ORBIT_BENCH_PGN").unwrap_or(sample);
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let repeats = POSITIONS_MIN.div_ceil(positions(&source)).max(1);
        let pgn = if repeats == 1 { source } else { repeated(&source, repeats, folder.path()) };
        let games = Games::index("the games", &pgn, folder.path().join("games.reel"));
        let distinct = given("ORBIT_BENCH_DISTINCT")
            .map(|path| Games::index("distinct games", &path, folder.path().join("distinct.reel")));
        Inputs {
            pgn_bytes: fs::metadata(&pgn).expect("the PGN is there").len(),
            pgn,
            repeats,
            games,
            annotated: given("ORBIT_BENCH_ANNOTATED"),
            distinct,
            blocks: OnceCell::new(),
            folder,
        }
    }

    /// Returns the path for a new file in a folder that is deleted at the end.
    pub fn temporary(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the first blocks of the reel (packed games), loaded into memory: those with the first `positions` positions, or
    /// all blocks.
    pub fn blocks(&self, positions: u64) -> Vec<&Block> {
        let blocks = self.blocks.get_or_init(|| {
            let mut out = Vec::new();
            open(&self.games.reel)
                .for_each_block(1, Block::clone, |_, block| {
                    out.push(block);
                    ControlFlow::Continue(())
                })
                .expect("a reel that was just made is sound");
            out
        });
        let mut before = 0;
        let wanted = |block: &&Block| {
            let wanted = before < positions;
            before += block.slots() as u64;
            wanted
        };
        blocks.iter().take_while(wanted).collect()
    }

    /// Writes a PGN file with the first ten games.
    pub fn ten_games(&self) -> PathBuf {
        let mut head = Vec::new();
        let file = File::open(&self.pgn).expect("the PGN is there");
        file.take(HEAD_BYTES).read_to_end(&mut head).expect("it can be read");
        let begins = |at: &usize| head[*at..].starts_with(b"[Event ");
        let end = (0..head.len()).filter(begins).nth(10).unwrap_or(head.len());
        let path = self.temporary("ten.pgn");
        fs::write(&path, &head[..end]).expect("the temporary folder can be written to");
        path
    }
}

fn open(path: &Path) -> BlockStream {
    BlockStream::open(&[path.to_owned()], StreamOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn positions(path: &Path) -> u64 {
    let mut sum = 0;
    let add = |_, slots| {
        sum += slots as u64;
        ControlFlow::Continue(())
    };
    open(path).for_each_block(2, Block::slots, add).expect("PGN gives blocks");
    assert!(sum > 0, "{}: there is no game to measure with", path.display());
    sum
}

fn repeated(source: &Path, repeats: u64, folder: &Path) -> PathBuf {
    let mut text = fs::read(source).expect("the games can be read");
    text.extend(b"\n\n");
    let path = folder.join("games.pgn");
    let mut file = File::create(&path).expect("the temporary folder can be written to");
    (0..repeats).for_each(|_| file.write_all(&text).expect("the temporary folder has room"));
    path
}

/// The number of hits that the first run of each query found in each set of games.
#[derive(Default)]
pub struct Counts(RefCell<HashMap<(String, String), u64>>);

impl Counts {
    /// Compares a query's number of hits with that of earlier runs on the same games.
    ///
    /// # Panics
    ///
    /// Panics if an earlier run found a different number of hits, because then no measurement can be trusted.
    pub fn agree(&self, games: &str, query: &str, hits: u64) {
        let known = *self.0.borrow_mut().entry((games.into(), query.into())).or_insert(hits);
        assert_eq!(hits, known, "{query} on {games}: the last run counts {hits} hits, others {known}");
    }
}
