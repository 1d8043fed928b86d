//! Reads real files. Reading must not panic, every file must be readable, and the totals must equal known values.

use orbit_core::board::PackedMove;
use orbit_pgn::GameStatus;

use super::*;

#[test]
fn totals_of_the_known_files() {
    let corpus = corpus();
    for (name, count, positions) in [("otb.pgn", 11_372, 1_004_819), ("fen.pgn", 9_847, 80_012)] {
        let games = games_of_file(&corpus.join(name));
        let not_whole: Vec<_> = games.iter().filter(|game| game.status != GameStatus::Whole).collect();
        assert_eq!(not_whole, [] as [&Game; 0], "{name}");
        let sum: usize = games.iter().map(|game| game.moves.len() + 1).sum();
        assert_eq!((games.len(), sum), (count, positions), "{name}");
    }
}

#[derive(Default, PartialEq, Eq, Debug)]
struct Totals {
    files: usize,
    games: usize,
    whole: usize,
    cut: usize,
    skipped: usize,
    positions: usize,
    nulls: usize,
    without_moves: usize,
    outcomes: [usize; 4],
}

/// Compares the totals of the packages with known values. A difference means that the definition of a game or of a move has
/// changed.
#[test]
fn totals_of_every_package() {
    let mut all = Totals::default();
    for (name, path) in corpus_files() {
        all.files += 1;
        for game in games_of_file(&path) {
            all.games += 1;
            all.outcomes[game.outcome as usize] += 1;
            match &game.status {
                GameStatus::Whole => all.whole += 1,
                GameStatus::Cut(fault) => {
                    all.cut += 1;
                    assert_eq!(fault.ply as usize, game.moves.len(), "{name}");
                    assert!(fault.offset >= game.offset && !fault.reason.is_empty(), "{name}");
                }
                GameStatus::Skipped(_) => {
                    all.skipped += 1;
                    assert!(game.moves.is_empty() && game.start.is_none(), "{name}");
                    continue;
                }
            }
            all.positions += game.moves.len() + 1;
            all.nulls += game.moves.iter().filter(|mv| **mv == PackedMove::NULL).count();
            all.without_moves += usize::from(game.moves.is_empty());
        }
    }
    let wanted = Totals {
        files: 953,
        games: 107_542,
        whole: 106_752,
        cut: 156,
        skipped: 634,
        positions: 5_826_858,
        nulls: 28,
        without_moves: 5_141,
        outcomes: [32_520, 33_667, 23_691, 17_664],
    };
    assert_eq!(all, wanted);
}
