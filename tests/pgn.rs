//! Files as found in the wild to games.

use std::path::{Path, PathBuf};

use orbit_chess::pgn::{Game, Options, ParseOptions, Sources, Status};

/// The folder of real files, named by `ORBIT_CORPUS`; tests that need it are skipped without.
fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("ORBIT_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: ORBIT_CORPUS names no folder");
    }
    folder
}

/// All games of all sources, numbers running on over the parts of a source.
fn read(mut sources: Sources, on_game: &mut dyn FnMut(u32, &Game)) -> Sources {
    let mut before = (0, 0);
    let mut last = (0, 0);
    while let Some(chunk) = sources.next_chunk() {
        for part in &chunk.parts {
            assert!(!part.bytes.is_empty());
        }
        chunk.parse(&ParseOptions::default(), &mut |source, game| {
            if source != last.0 {
                before = (source, 0);
            } else if game.number == 1 {
                before = (source, last.1);
            }
            let mut game = game.clone();
            game.number += before.1;
            last = (source, game.number);
            on_game(source, &game);
        });
    }
    sources
}

fn read_file(path: &Path) -> Vec<Game> {
    let mut games = Vec::new();
    let sources = Sources::open(&[path.to_owned()], Options::default()).unwrap();
    let sources = read(sources, &mut |_, game| games.push(game.clone()));
    assert_eq!(sources.failures(), []);
    games
}

#[test]
fn totals_of_the_known_files() {
    let Some(corpus) = corpus() else { return };
    for (name, games_wanted, positions_wanted) in [("otb.pgn", 11_372, 1_004_819), ("fen.pgn", 9_847, 80_012)]
    {
        let start = std::time::Instant::now();
        let games = read_file(&corpus.join(name));
        let time = start.elapsed();
        let mut positions = 0;
        for game in &games {
            match &game.status {
                Status::Skipped(fault) => println!("{name} {}: skipped {fault:?}", game.number),
                status => {
                    positions += 1 + game.moves.len();
                    if *status != Status::Whole {
                        println!("{name} {}: {status:?}", game.number);
                    }
                }
            }
        }
        println!("{name}: {} games, {positions} positions, {time:?}", games.len());
        assert_eq!((games.len(), positions), (games_wanted, positions_wanted), "{name}");
    }
}
