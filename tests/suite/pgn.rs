//! Tests the public API of `orbit_pgn`, with files as they are found in the wild.
//!
//! `ORBIT_CORPUS` names the folder with the real files: packages of PGN files, and `otb.pgn` and `fen.pgn`. If the variable is
//! not set, the tests that need them are ignored.

mod annotate;
mod archives;
mod cases;
mod corpus;
mod damage;
mod inputs;
mod invariance;
mod members;
mod plain;
mod readers;
mod splitter;
mod strict;
mod trees;
#[cfg(feature = "https")]
mod web;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use orbit_pgn::{Game, Options, ParseOptions, ReadFault, Sources};

use crate::common::{corpus, corpus_if_any};

/// Returns the files of all PGN packages in the corpus folder, sorted by path. Each is a pair of its path relative to that folder
/// and its full path.
fn corpus_files() -> Vec<(String, PathBuf)> {
    let root = corpus();
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.parent() != Some(&root) {
                files.push((path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), path));
            }
        }
    }
    files.sort();
    files
}

/// Returns true if a note concerns the end of the file rather than the game before it.
fn is_of_end(note: &ReadFault) -> bool {
    note.reason.ends_with(": the file may be cut off")
}

/// Calls a function with each game of all sources. If a source is read in chunks, its game numbers continue from chunk to chunk.
fn each_game(mut sources: Sources, on_game: &mut dyn FnMut(u32, &Game)) -> Sources {
    let mut seen = std::collections::BTreeMap::<u32, u32>::new();
    while let Some(chunk) = sources.next_chunk() {
        let before = seen.clone();
        assert!(chunk.texts.is_sorted_by(|a, b| a.source < b.source), "one part of a source");
        chunk.parse(&ParseOptions::default(), &mut |source, game| {
            let mut game = game.clone();
            game.number += before.get(&source).copied().unwrap_or(0);
            let count = seen.entry(source).or_default();
            *count += 1;
            assert_eq!(game.number, *count);
            on_game(source, &game);
        });
    }
    sources
}

/// Returns all games of a PGN text, read with the given chunk size and maximum game size.
fn games_with(bytes: &[u8], chunk_bytes: usize, game_bytes_max: usize) -> Vec<Game> {
    let mut options = Options::default();
    options.chunk_bytes = chunk_bytes;
    options.game_bytes_max = game_bytes_max;
    let mut games = Vec::new();
    let sources = Sources::from_bytes_with("test", bytes.to_vec(), options);
    each_game(sources, &mut |_, game| games.push(game.clone()));
    games
}

/// Returns all games of a PGN text.
fn games(bytes: &[u8]) -> Vec<Game> {
    games_with(bytes, 1 << 20, 64 << 20)
}

/// Returns all games of a file. Panics unless the file is read to its end.
fn games_of_file(path: &Path) -> Vec<Game> {
    let mut games = Vec::new();
    let sources = Sources::open(&[path.to_owned()], Options::default()).unwrap();
    let sources = each_game(sources, &mut |_, game| games.push(game.clone()));
    assert_eq!(sources.failures(), []);
    games
}

/// Compresses bytes like the program `zstd`, with a checksum.
fn zst(bytes: &[u8]) -> Vec<u8> {
    let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    packer.include_checksum(true).unwrap();
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn bzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}
