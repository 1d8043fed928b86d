//! Tests the output of games with hits: the games are written to files, and the files are read back.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::common::marks::{is_marked, marks};
use crate::common::{corpus, scan};
use orbit_chess::{DatabaseOptions, Query};
use orbit_core::files::OutputFile;
use orbit_database::{BlockStream, StreamOptions, TextError};
use orbit_engine::Wants;
use orbit_pgn::annotate;
use orbit_reel::{Block, EncodedBlock, ReelSource, ReelWriter};
use orbit_search::choice::Choice;
use orbit_search::found::Names;
use orbit_search::report::{PgnWriter, game_pgn, game_text};

fn open(paths: &[impl AsRef<Path>]) -> BlockStream {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
    let mut options = StreamOptions { keep_text: true, ..StreamOptions::default() };
    options.pgn.chunk_bytes = 64 << 10;
    options.pgn.hash = true;
    BlockStream::open(&paths, options).unwrap()
}

/// Returns the plies of the hits in each game with hits, and the number of all games.
fn hits(query: &str, paths: &[impl AsRef<Path>]) -> (Vec<Vec<u32>>, u64) {
    let mut games: Vec<(u32, Vec<u32>)> = Vec::new();
    let paths = paths.iter().map(|path| path.as_ref().to_owned());
    let database = DatabaseOptions::new().substitute_reels(false).open(paths).unwrap();
    for hit in database.scan(&Query::parse(query).unwrap()).hits().unwrap() {
        match games.last_mut().filter(|game| game.0 == hit.game().number()) {
            Some(game) => game.1.push(hit.ply()),
            None => games.push((hit.game().number(), vec![hit.ply()])),
        }
    }
    let games_read = database.summary().unwrap().totals.games();
    (games.into_iter().map(|game| game.1).collect(), games_read)
}

/// A game with hits that was written to a file.
struct Written {
    source: u32,
    offset: usize,
    text: Vec<u8>,
    commented: Vec<u8>,
}

fn write(query: &str, database: BlockStream, out: &Path) -> Result<Vec<Written>, TextError> {
    let mut texts = database.texts();
    let mut writer = PgnWriter::new(OutputFile::create(out).unwrap());
    let mut written = Ok(Vec::new());
    let scan = scan(query).threads(2);
    let summary = scan.for_each_block(
        database,
        &[Wants::HITS],
        &Choice::default(),
        &Names::default(),
        |mut result, _| result.answers.remove(0).hits,
        |taken, hits| {
            for game in taken.block.games() {
                let slots = hits.slots(game.slots());
                let comments: Vec<(u32, &str)> =
                    slots.map(|slot| ((slot - game.first_slot()) as u32, "MARK")).collect();
                if comments.is_empty() {
                    continue;
                }
                let text = match game_text(&mut texts, &taken, &game) {
                    Ok(text) => text,
                    Err(error) => {
                        written = Err(error);
                        return ControlFlow::Break(());
                    }
                };
                let commented = annotate(&text, &comments);
                writer.write(&commented).unwrap();
                if let Ok(written) = &mut written {
                    let (source, offset) = (game.source(), game.offset() as usize);
                    written.push(Written { source, offset, text, commented });
                }
            }
            ControlFlow::Continue(())
        },
    );
    summary.unwrap();
    if written.is_ok() {
        writer.finish().unwrap().finish().unwrap();
    }
    written
}

/// Writes the games with hits and reads them back. Returns the numbers of games and of positions with hits.
fn round_trip(query: &str, paths: &[PathBuf], out: &Path) -> (usize, usize) {
    let (found, _) = hits(query, paths);
    let written = write(query, open(paths), out).unwrap();
    let (again, games) = hits(query, &[out]);
    assert!(found == again, "{query}: {paths:?}");
    assert_eq!(games, found.len() as u64, "{query}: {paths:?}");
    for (written, plies) in written.iter().zip(&found) {
        let shown = String::from_utf8_lossy(&written.commented);
        assert_eq!(marks(&written.commented), plies.len(), "{shown}");
        assert!(is_marked(&written.commented, &written.text), "{shown}");
        let source = fs::read(&paths[written.source as usize]).unwrap();
        assert!(source[written.offset..].starts_with(&written.text), "{shown}");
    }
    (found.len(), found.iter().map(Vec::len).sum())
}

/// Returns the PGN files in a corpus folder and its subfolders, in order.
fn pgn_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(pgn_files(&path));
        } else if path.extension().is_some_and(|end| end == "pgn") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test(part = 1)]
fn hits_of_real_files_are_read_again() {
    let corpus = corpus();
    let folder = tempfile::tempdir().unwrap();
    let query = "shift flip flipcolor {Nd4 kf3}";
    for name in ["hits.pgn", "hits.pgn.zst"] {
        let counts = round_trip(query, &[corpus.join("otb.pgn")], &folder.path().join(name));
        assert_eq!(counts, (4042, 7485), "games and positions");
    }
    for (package, step) in [("dev-studies-annotated", 7), ("dev-online-eval-clk", 3)] {
        let files: Vec<PathBuf> = pgn_files(&corpus.join(package)).into_iter().step_by(step).collect();
        for query in [query, "{initial or terminal}"] {
            let (games, _) = round_trip(query, &files, &folder.path().join("hits.pgn"));
            assert!(games > 100, "{package}: {games}");
        }
    }
}

const GAMES: &str = "\
preface\n\n[Event \"a\"]\n[White \"é\"]\n\n1. e4! $1 {good} (1. d4) e5 2. Nf3 ; fine\nNc6 1-0 {after}\n\n\
[Event \"b\"]\r\n\r\n1.d4 d5 2.c4 *\r\n\r\n\r\n\
[White \"c\"]\n\n1. e4 Ke4\n\n1. c4 e5 2. g3\n";

/// A folder with a file of games, its compressed copy, and a reel (packed games) of both.
struct Indexed {
    folder: tempfile::TempDir,
    plain: PathBuf,
    packed: PathBuf,
    reel: PathBuf,
}

impl Indexed {
    fn new() -> Indexed {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (plain, packed, reel) = (path("games.pgn"), path("more.pgn.zst"), path("all.reel"));
        fs::write(&plain, GAMES.repeat(1000)).unwrap();
        fs::write(&packed, zstd::encode_all(GAMES.repeat(1000).as_bytes(), 1).unwrap()).unwrap();
        index(&[&plain, &packed], &reel, |source| source);
        Indexed { folder, plain, packed, reel }
    }
}

fn index(paths: &[impl AsRef<Path>], reel: &Path, change: impl Fn(ReelSource) -> ReelSource) {
    let mut writer = ReelWriter::create(reel).unwrap();
    let summary = open(paths).for_each_block(1, EncodedBlock::new, |streamed, block| {
        writer.append(&block, &streamed.totals).unwrap();
        ControlFlow::Continue(())
    });
    let sources: Vec<ReelSource> =
        summary.unwrap().sources.iter().map(|source| change(source.to_reel_source())).collect();
    writer.finish(&sources).unwrap();
}

const QUERY: &str = "{terminal or initial or {Pe4 btm}}";

#[test]
fn a_reel_gives_the_text_of_its_sources() {
    let Indexed { folder, plain, packed, reel } = Indexed::new();
    let (from_files, from_reel) = (folder.path().join("1.pgn"), folder.path().join("2.pgn"));
    let written = write(QUERY, open(&[&plain, &packed]), &from_files).unwrap();
    write(QUERY, open(&[&reel]), &from_reel).unwrap();
    assert_eq!(written.len(), 8000);
    let bytes = fs::read(&from_files).unwrap();
    assert!(bytes == fs::read(&from_reel).unwrap());
    let first = String::from_utf8_lossy(&bytes).split("\n\n[").next().unwrap().to_owned();
    let movetext = "{MARK} 1. e4! $1 {MARK} {good} (1. d4) e5 2. Nf3 {MARK} ; fine\nNc6 {MARK} 1-0 {after}";
    assert_eq!(first, format!("[Event \"a\"]\n[White \"é\"]\n\n{movetext}"));
    assert_eq!(hits(QUERY, &[plain, packed]).0, hits(QUERY, &[from_files]).0);
}

#[test]
fn a_reel_that_was_moved_with_its_sources_finds_them() {
    let Indexed { folder, plain, reel, .. } = Indexed::new();
    let moved = tempfile::tempdir().unwrap();
    for path in [&plain, &reel] {
        fs::copy(path, moved.path().join(path.file_name().unwrap())).unwrap();
    }
    let reel = moved.path().join("all.reel");
    index(&[&plain], &reel, |source| ReelSource { name: String::from("games.pgn"), ..source });
    drop(folder);
    assert_eq!(write(QUERY, open(&[reel]), &moved.path().join("hits.pgn")).unwrap().len(), 4000);
}

/// Reading backwards in a compressed source must return the same text as reading forwards.
#[test]
fn games_are_found_in_any_order() {
    let indexed = Indexed::new();
    let mut taken = Vec::new();
    let database = open(&[&indexed.reel]);
    let mut texts = database.texts();
    let all = database.for_each_block(
        1,
        |_| (),
        |block, ()| {
            taken.push(block);
            ControlFlow::Continue(())
        },
    );
    all.unwrap();
    let games: Vec<_> =
        taken.iter().flat_map(|taken| taken.block.games().map(move |game| (taken, game))).collect();
    let mut text = |index: usize| {
        let (taken, game) = &games[index];
        texts.text(taken, game).unwrap().unwrap_or_else(|| panic!("game {index} has a text"))
    };
    let forwards: Vec<Vec<u8>> = (0..games.len()).map(&mut text).collect();
    assert_eq!(forwards.len(), 8000);
    for index in (0..games.len()).rev().step_by(397) {
        assert_eq!(text(index), forwards[index]);
    }
}

/// After a game's text has been read, its buffer is shrunk to the size of the game. Neither the text after the last game nor the
/// text that was read to find its end stays in memory.
#[test]
fn the_text_of_a_game_takes_no_more_room_than_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let (pgn, reel) = (folder.path().join("games.pgn"), folder.path().join("games.reel"));
    fs::write(&pgn, GAMES).unwrap();
    let text_bytes = |is_grown: bool| -> Vec<(usize, usize)> {
        let length = if is_grown { 8 << 20 } else { GAMES.len() as u64 };
        fs::File::options().append(true).open(&pgn).unwrap().set_len(length).unwrap();
        index(&[&pgn], &reel, |source| source);
        let mut options = StreamOptions::default();
        options.pgn.game_bytes_max = 100_000;
        let database = BlockStream::open(std::slice::from_ref(&reel), options).unwrap();
        let mut texts = database.texts();
        let mut out = Vec::new();
        let all = database.for_each_block(
            1,
            |_| (),
            |taken, ()| {
                for game in taken.block.games() {
                    let text = texts.text(&taken, &game).unwrap().unwrap_or_default();
                    out.push((text.len(), text.capacity()));
                }
                ControlFlow::Continue(())
            },
        );
        all.unwrap();
        out
    };
    let alone = text_bytes(false);
    assert!(
        alone.len() > 3 && alone.iter().all(|&(bytes, room)| bytes > 0 && room < bytes + 64),
        "{alone:?}"
    );
    let grown = text_bytes(true);
    assert_eq!(grown[..alone.len() - 1], alone[..alone.len() - 1]);
    assert!(grown.iter().all(|&(bytes, _)| bytes < 110_000), "{grown:?}");
}

/// Applies a change to the files of an [`Indexed`] folder, and then writes the games of its reel that have hits. Returns the number
/// of written games.
fn after(change: impl Fn(&Indexed)) -> Result<usize, TextError> {
    let indexed = Indexed::new();
    change(&indexed);
    let out = indexed.folder.path().join("hits.pgn");
    let written = write(QUERY, open(&[&indexed.reel]), &out);
    let left: Vec<_> =
        fs::read_dir(indexed.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let is_written = left.iter().any(|name| name.to_string_lossy().starts_with("hits"));
    assert_eq!(is_written, written.is_ok(), "{left:?}");
    written.map(|written| written.len())
}

#[test]
fn sources_that_changed_are_told() {
    let changed = |text: &str| text.replace("Nf3", "Nh3").repeat(1000);
    assert_eq!(after(|_| {}).unwrap(), 8000);
    let touched = after(|now| fs::write(&now.plain, GAMES.repeat(1000)).unwrap());
    assert_eq!(touched.unwrap(), 8000);
    for longer in [true, false] {
        let error = after(|now| fs::write(&now.plain, changed(if longer { GAMES } else { "Nf3" })).unwrap());
        let error = error.unwrap_err();
        assert!(matches!(&error, TextError::Changed { name, .. } if name.ends_with("games.pgn")), "{error}");
    }
    let error = after(|now| fs::remove_file(&now.packed).unwrap()).unwrap_err();
    assert!(matches!(&error, TextError::Missing { name, .. } if name.ends_with("more.pgn.zst")), "{error}");
    assert!(error.to_string().contains("all.reel was made"), "{error}");
}

/// If a reel has no stamps (sizes and times) of its sources, each game's text must be compared with the game in the reel.
#[test]
fn a_game_that_is_another_one_is_told() {
    for (from, to) in [
        ("Nf3", "Nh3"),
        ("\"b\"", "\"x\""),
        ("d5 2.c4 *", "d5 2.c4 *\n\n[Event \"d\"] *"),
        ("Nc6 1-0", "Nc6 0-1"),
    ] {
        let error = after(|now| {
            let paths = [now.plain.clone(), now.packed.clone()];
            index(&paths, &now.reel, |source| ReelSource { stamp: Default::default(), ..source });
            fs::write(&now.plain, GAMES.repeat(500) + &GAMES.replace(from, to).repeat(500)).unwrap();
        });
        let error = error.unwrap_err();
        assert!(matches!(error, TextError::Moved { number: 2001..2006, .. }), "{from}: {error}");
    }
    let annotated = after(|now| {
        let paths = [now.plain.clone(), now.packed.clone()];
        index(&paths, &now.reel, |source| ReelSource { stamp: Default::default(), ..source });
        fs::write(&now.plain, GAMES.replace("good", "best").repeat(1000)).unwrap();
    });
    assert_eq!(annotated.unwrap(), 8000);
}

#[test]
fn text_is_kept_only_if_it_is_wanted() {
    let mut options = StreamOptions::default();
    for keep_text in [false, true] {
        options.keep_text = keep_text;
        let database = BlockStream::from_pgn_bytes("memory", GAMES.into(), options.clone());
        let folder = tempfile::tempdir().unwrap();
        let written = write(QUERY, database, &folder.path().join("hits.pgn"));
        match written {
            Ok(written) => assert_eq!((keep_text, written.len()), (true, 4)),
            Err(error) => assert!(!keep_text && matches!(error, TextError::NotKept { number: 1 }), "{error}"),
        }
    }
}

/// Returns the blocks (groups of games) of a PGN text, and the blocks of the PGN that is written from those blocks without the
/// original text.
fn written_from_blocks(bytes: &[u8]) -> (Vec<Block>, Vec<Block>) {
    let blocks = |bytes: Vec<u8>| {
        let mut blocks = Vec::new();
        let database = BlockStream::from_pgn_bytes("test", bytes, StreamOptions::default());
        let summary = database.for_each_block(2, Block::clone, |_, block| {
            blocks.push(block);
            ControlFlow::Continue(())
        });
        summary.unwrap();
        blocks
    };
    let before = blocks(bytes.to_vec());
    let mut writer = PgnWriter::new(Vec::new());
    before.iter().flat_map(Block::games).for_each(|game| writer.write(&game_pgn(&game)).unwrap());
    let after = blocks(writer.finish().unwrap());
    (before, after)
}

/// Checks that PGN written from blocks is read back as the same games, with the added tags at the start or at the end. Returns
/// the number of games.
fn check_from_blocks(name: &str, bytes: &[u8]) -> usize {
    let (before, after) = written_from_blocks(bytes);
    let (before, after) = (before.iter().flat_map(Block::games), after.iter().flat_map(Block::games));
    let (before, after): (Vec<_>, Vec<_>) = (before.collect(), after.collect());
    assert_eq!(before.len(), after.len(), "{name}");
    for (before, after) in before.iter().zip(&after) {
        let number = before.number();
        assert_eq!(before.start(), after.start(), "{name}, game {number}");
        assert_eq!(before.moves(), after.moves(), "{name}, game {number}");
        assert_eq!(before.outcome(), after.outcome(), "{name}, game {number}");
        assert!(!after.is_cut(), "{name}, game {number}");
        let tags: Vec<_> = after.tags().collect();
        let wanted: Vec<_> = before.tags().collect();
        assert!(tags.starts_with(&wanted) || tags.ends_with(&wanted), "{name}, game {number}: {tags:?}");
        assert!(tags.len() <= wanted.len() + 2, "{name}, game {number}: {tags:?}");
    }
    before.len()
}

#[test]
fn games_are_written_from_blocks_alone() {
    let lists = "rnbqkbnr/pppp1ppp/8/8/3Pp3/8/PPP1PPPP/RNBQKBNR b KQkq d3 id \"a \\ b\"; hmvc 0; fmvn 7;\n\
        8/8/8/8/8/8/8/4R2K b - - id \"one\"; id \"two\";\n\
        1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 3 9\n";
    assert_eq!(check_from_blocks("list", lists.as_bytes()), 3);
    let (_, after) = written_from_blocks(lists.as_bytes());
    let game = after[0].game(0);
    assert_eq!(game.tag("SetUp"), Some(&b"1"[..]));
    assert_eq!(game.tag("FEN"), Some(&b"rnbqkbnr/pppp1ppp/8/8/3Pp3/8/PPP1PPPP/RNBQKBNR b KQkq d3 0 7"[..]));
    assert_eq!(check_from_blocks("games", GAMES.as_bytes()), 4);
    let odd = "[Event \"a\"] [Event \"b\"]\n[Site \"say \\\"x\\\" \\\\\"]\n\n1. e4 e5 2. Ke2 -- 3. Ke1 Qh4 4. -- Qxf2#\n\n*\n";
    assert_eq!(check_from_blocks("odd", odd.as_bytes()), 1);
}

#[test]
fn games_of_real_files_are_written_from_blocks_alone() {
    let corpus = corpus();
    let files = pgn_files(&corpus).into_iter().filter(|path| path.parent() != Some(&corpus));
    let checked: usize = files
        .step_by(5)
        .map(|path| check_from_blocks(&path.display().to_string(), &fs::read(&path).unwrap()))
        .sum();
    assert!(checked > 10_000, "{checked}");
}

/// The second game begins in the middle of a line. If its text were copied alone, its second tag would begin a third game.
#[test]
fn a_game_that_cannot_stand_by_itself_is_written_from_its_block() {
    let folder = tempfile::tempdir().unwrap();
    let (path, reel, out) =
        (folder.path().join("a.pgn"), folder.path().join("a.reel"), folder.path().join("out.pgn"));
    fs::write(&path, "1. e4 e5 * }[White \"b\"]\n[Event \"a\"]\n\n1. d4 {x} d5 *\n").unwrap();
    index(&[&path], &reel, |source| source);
    for database in [path.clone(), reel] {
        let written = write("{initial or terminal}", open(&[database]), &out).unwrap();
        let found = hits("{initial or terminal}", &[&path]);
        assert_eq!(hits("{initial or terminal}", &[&out]), found);
        assert_eq!(written.len(), found.0.len());
    }
}
