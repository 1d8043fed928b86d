//! Reads games by number. The result must not depend on a sidecar, a file that records where the games of a PGN file begin.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use orbit_chess::{DatabaseOptions, GameRef};
use orbit_database::{BlockStream, PlaceCache, StreamOptions};
use orbit_reel::{Block, EncodedBlock, ReelSource, ReelWriter, Totals};

use super::SAMPLE;
use crate::common::blocks_of;

/// Returns a string with all data of a game, or with the reason why the game was skipped.
fn told(block: &Block, number: u32) -> String {
    let mut before = block.games_before;
    for (stretch, part) in (0..).zip(block.source_games()) {
        if number > before && number <= before + part.games {
            let problems = block.problems().iter();
            let problems =
                problems.filter(|fault| (fault.stretch, fault.number) == (stretch, number - before));
            let problems: Vec<_> =
                problems.map(|fault| (fault.kind, fault.offset, fault.ply, &fault.reason)).collect();
            let place = (number, part.source, part.games_before + number - before);
            let game = block.games().find(|game| game.number() == number).map(|game| {
                assert_eq!((game.number_in_source(), game.source()), (place.2, place.1));
                (game.offset(), game.tags_owned(), game.moves(), game.outcome(), game.start())
            });
            return format!("{place:?} {game:?} {problems:?}");
        }
        before += part.games;
    }
    panic!("no game {number}");
}

fn options(cache: Option<&PlaceCache>, chunk_bytes: usize) -> StreamOptions {
    let mut options = StreamOptions::default();
    options.pgn.chunk_bytes = chunk_bytes;
    options.places = cache.cloned();
    options
}

/// Reads all games in the files, and returns a string with all data of each (see [`told`]).
fn every(paths: &[PathBuf]) -> Vec<String> {
    let mut out = Vec::new();
    let database = BlockStream::open(paths, options(None, 50_000)).unwrap();
    let take = |taken: orbit_database::StreamedBlock, ()| {
        let games = taken.block.games_before + 1..=taken.block.games_before + taken.block.games_read();
        out.extend(games.map(|number| told(&taken.block, number)));
        ControlFlow::Continue(())
    };
    database.for_each_block(1, |_| (), take).unwrap();
    out
}

/// Returns one game, and the number of bytes that were read to find it.
fn one(paths: &[PathBuf], number: u32, cache: &PlaceCache) -> (Option<String>, u64) {
    let database = BlockStream::open(paths, options(Some(cache), 30_000)).unwrap();
    let found = database.block_of_game(number, 2).unwrap();
    (found.block.map(|block| told(&block, number)), found.summary.bytes)
}

fn cache(folder: &Path) -> PlaceCache {
    let mut cache = PlaceCache::new(folder.join("cache"));
    cache.bytes_min = 0;
    cache
}

/// Sets a file's modification time back. No sidecar is written for a file that was modified too recently.
fn age(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
}

fn write(path: PathBuf, bytes: &[u8]) -> PathBuf {
    fs::write(&path, bytes).unwrap();
    age(&path);
    path
}

/// Returns about 200 KB of PGN with games that are skipped or cut short.
fn text(name: &str) -> String {
    let games = (0..2500).map(|number| match number % 5 {
        0 => format!("[Event \"{name} {number}\"]\n[Variant \"Atomic\"]\n\n1. e4 e5 *\n\n"),
        1 => format!("[Event \"{name} {number}\"]\n\n1. e4 e5 2. Ke3 *\n\n"),
        2 => format!("1. d4 {{{name} {number}}} d5 2. c4 1-0\n\n"),
        _ => format!(
            "[Event \"{name} {number}\"]\n[White \"A\"]\n\n1. Nf3 d5 (1... Nf6 2. g3) 2. g3 c5 1/2-1/2\n\n"
        ),
    });
    games.collect()
}

fn sidecars(cache: &PlaceCache) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(&cache.folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Reads the last game, which writes the sidecar (the file with game offsets), and then several other games with its help.
fn check(paths: &[PathBuf], cache: &PlaceCache, is_noted: bool) {
    let expected = every(paths);
    let last = expected.len() as u32;
    let (found, read) = one(paths, last, cache);
    assert_eq!(found.as_ref(), expected.last());
    assert!(read > 0);
    assert_eq!(!sidecars(cache).is_empty(), is_noted);
    let numbers = (1..=last).filter(|number| number % 97 == 0 || *number <= 3 || number + 3 > last);
    for number in numbers {
        let (found, read) = one(paths, number, cache);
        assert_eq!(found.as_ref(), Some(&expected[number as usize - 1]));
        assert_eq!(read == 0, is_noted, "game {number}: {read} bytes");
    }
    // To find out that no game follows the last one, all files are read once more. After that, the sidecar is known to be
    // complete.
    for is_known in [false, true] {
        let (found, read) = one(paths, last + 1, cache);
        assert_eq!(found, None);
        assert!(is_known || read > 0 || !is_noted, "{is_known} {read}");
    }
}

#[test]
fn games_are_found_by_a_sidecar_as_by_reading_all() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path().join("one.pgn"), text("one").as_bytes());
    check(&[one], &cache(folder.path()), true);
    // Small files share blocks (groups of games) with large files. Position lists (EPD) have their own reader.
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| write(folder.path().join(name), text.as_bytes());
    let many = [
        file("a.pgn", "1. e4 *\n"),
        file("b.epd", &"4k3/8/8/8/8/8/8/4K2R w K - hmvc 7;\n".repeat(3000)),
        file("c.pgn", &text("c")),
        file("d.pgn", "\u{feff}[Event \"x\"]\n\n1. e4 *\n"),
        file("e.pgn", ""),
        file("f.pgn", &text("f")),
    ];
    check(&many, &cache(folder.path()), true);
    check(&[folder.path().to_owned()], &cache(&folder.path().join("cache of the folder")), true);
}

#[test]
fn packed_files_are_read_from_their_beginnings() {
    let folder = tempfile::tempdir().unwrap();
    let packed = zstd::encode_all(text("packed").as_bytes(), 1).unwrap();
    let packed = write(folder.path().join("packed.pgn.zst"), &packed);
    check(std::slice::from_ref(&packed), &cache(folder.path()), false);
    // Games before the compressed file are found with the plain file's sidecar (the file with game offsets).
    let plain = write(folder.path().join("plain.pgn"), text("plain").as_bytes());
    let (paths, cache) = ([plain, packed], cache(folder.path()));
    let expected = every(&paths);
    assert_eq!(one(&paths, 4000, &cache).0.as_ref(), Some(&expected[3999]));
    for (number, is_noted) in [(1, true), (2000, true), (4000, false)] {
        let (found, read) = one(&paths, number, &cache);
        assert_eq!(found.as_ref(), Some(&expected[number as usize - 1]));
        assert_eq!(read == 0, is_noted, "game {number}");
    }
}

#[test]
fn reels_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let reel = folder.path().join("sample.reel");
    let mut writer = ReelWriter::create(&reel).unwrap();
    blocks_of(Path::new(SAMPLE))
        .iter()
        .for_each(|block| writer.append(&EncodedBlock::new(block), &Totals::from_block(block)).unwrap());
    writer.finish(&[ReelSource { name: "sample.pgn".into(), ..ReelSource::default() }]).unwrap();
    let file = |name: &str| write(folder.path().join(name), text(name).as_bytes());
    let paths = [reel.clone(), file("a.pgn"), reel.clone(), file("b.pgn"), reel];
    let (expected, cache) = (every(&paths), cache(folder.path()));
    // The last game is in a reel (packed games). It must be found whatever the sidecars record about the text before the reel.
    for _ in 0..3 {
        for number in (1..=expected.len() as u32).step_by(37) {
            let found = one(&paths, number, &cache).0;
            assert_eq!(found.as_ref(), Some(&expected[number as usize - 1]), "game {number}");
        }
    }
    let (found, read) = one(&paths, expected.len() as u32 - 2510, &cache);
    assert_eq!((found.is_some(), read), (true, 0));
}

#[test]
fn a_sidecar_of_other_content_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    let before = text("games");
    let path = write(folder.path().join("games.pgn"), before.as_bytes());
    let paths = [path.clone()];
    assert!(one(&paths, 2000, &cache).0.is_some());
    assert_eq!(one(&paths, 2000, &cache).1, 0);
    // The changed file has the same size and time, but one more game at the beginning.
    let after = before.replacen("1. e4 e5 2. Ke3 *\n\n", "1. e4 *\n\n1. d4 *\n\n", 1);
    let after = after.replacen("[Event \"games 0\"]", "[Event \"g\"]", 1);
    let after = format!("{}{}", "\n".repeat(before.len() - after.len()), after);
    assert_eq!(after.len(), before.len());
    write(path, after.as_bytes());
    let expected = every(&paths);
    assert_eq!(expected.len(), 2501);
    for _ in 0..2 {
        assert_eq!(one(&paths, 2000, &cache).0.as_ref(), Some(&expected[1999]));
    }
    assert_eq!(one(&paths, 2000, &cache).1, 0, "it was noted anew");
}

#[test]
fn a_damaged_sidecar_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    let paths = [write(folder.path().join("games.pgn"), text("games").as_bytes())];
    let expected = one(&paths, 1700, &cache).0;
    let [sidecar] = &sidecars(&cache)[..] else { panic!("one sidecar") };
    let whole = fs::read(sidecar).unwrap();
    assert!(whole.len() < 2000, "{} bytes", whole.len());
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(sidecar, damaged).unwrap();
        let (found, read) = one(&paths, 1700, &cache);
        assert_eq!(found, expected);
        assert!(read > 0, "byte {at}");
        fs::write(sidecar, &whole[..at]).unwrap();
        assert_eq!(one(&paths, 1700, &cache).0, expected);
    }
}

#[test]
fn where_nothing_can_be_noted_games_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [write(folder.path().join("games.pgn"), text("games").as_bytes())];
    // The sidecar folder cannot be created, because a file has its name.
    let cache = cache(folder.path());
    fs::write(&cache.folder, "").unwrap();
    assert!((0..2).all(|_| one(&paths, 1700, &cache).0.is_some()));
    // No sidecar is written for a file that was modified a moment ago, because a further change might not alter its modification
    // time.
    fs::remove_file(&cache.folder).unwrap();
    fs::write(&paths[0], text("new")).unwrap();
    assert!(one(&paths, 1700, &cache).0.is_some());
    assert!(sidecars(&cache).is_empty());
    // The message about a skipped file must appear every time, even if the games are found with the sidecar.
    age(&paths[0]);
    let prose = folder.path().join("a.pgn");
    write(prose, "To whom it may concern: this is a letter.\n".repeat(9).as_bytes());
    let folders = [folder.path().to_owned()];
    for _ in 0..2 {
        let database = BlockStream::open(&folders, options(Some(&cache), 30_000)).unwrap();
        let found = database.block_of_game(1700, 1).unwrap();
        assert!(found.block.is_some() && found.summary.skipped().count() == 1);
    }
}

#[test]
fn a_database_has_games_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [write(folder.path().join("games.pgn"), text("games").as_bytes())];
    let open = |bytes| {
        let options = DatabaseOptions::new().resident_bytes_max(bytes).places(Some(cache(folder.path())));
        options.open(&paths).unwrap()
    };
    let (held, streamed) = (open(1 << 30), open(0));
    let told = |game: GameRef| (game.number(), game.sans(), game.tag("event"), game.pgn());
    for number in [0, 1, 2, 3, 4, 1111, 2500, 2501, u32::MAX] {
        let (a, b) = (held.game(number).unwrap(), streamed.game(number).unwrap());
        assert_eq!(a.is_none(), number % 5 == 1 || number == 0 || number > 2500, "game {number}");
        assert_eq!(a.map(told), b.map(told), "game {number}");
    }
    assert_eq!(streamed.game(4).unwrap().unwrap().tag("event").as_deref(), Some("games 3"));
}

#[test]
fn the_command_shows_a_game_alike_the_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path().join("games.pgn"), text("games").repeat(40).as_bytes());
    let caches = folder.path().join("caches");
    let show = |place: &str| {
        let mut orbit = Command::new(env!("CARGO_BIN_EXE_orbit"));
        orbit.env("XDG_CACHE_HOME", &caches).env("HOME", &caches).env("LOCALAPPDATA", &caches);
        let output = orbit.args(["show", "--json"]).arg(&path).arg(place).output().unwrap();
        (output.status.code(), output.stdout, output.stderr)
    };
    for place in ["60000:1", "59999", "100000", "60001", "100001"] {
        let first = show(place);
        assert_eq!(show(place), first);
    }
    let found = walk(&caches);
    assert_eq!(found, 1, "sidecars");
}

fn walk(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}

/// A pipe in the place of a sidecar is not waited for: all games are read instead.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_sidecar_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [write(folder.path().join("a.pgn"), text("a").as_bytes())];
    let cache = cache(folder.path());
    let expected = every(&paths);
    one(&paths, 2_500, &cache);
    let [sidecar] = &sidecars(&cache)[..] else { panic!("one sidecar is written") };
    let (_, with_sidecar) = one(&paths, 2_400, &cache);
    fs::remove_file(sidecar).unwrap();
    assert!(Command::new("mkfifo").arg(sidecar).status().unwrap().success());
    let (found, read) = one(&paths, 2_400, &cache);
    assert_eq!(found.as_ref(), expected.get(2_399));
    assert!(read > with_sidecar, "{read} bytes, {with_sidecar} with the sidecar");
}
