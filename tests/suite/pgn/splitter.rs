//! Compares the number of games that the library finds in PGN files with a count that was written apart from it.

use super::*;
use evaluators::pgn::count;

/// The files in which the library finds a different number of games for known reasons: the path, the library's count, and this
/// module's count.
const DIFFERENCES: &[(&str, usize, usize)] = &[];

#[test]
fn both_counts_agree_on_every_file() {
    let mut differences = Vec::new();
    for (name, path) in corpus_files() {
        let bytes = std::fs::read(&path).unwrap();
        let ours = games_of_file(&path).len();
        let other = count(&bytes);
        if ours != other {
            differences.push((name, ours, other));
        }
    }
    let differences: Vec<_> = differences.iter().map(|(name, a, b)| (name.as_str(), *a, *b)).collect();
    assert_eq!(differences, DIFFERENCES);
}

#[test]
fn the_other_counter_counts() {
    for (text, games) in [
        ("", 0),
        ("e4 e5", 1),
        ("{only a comment}", 0),
        ("[Event \"a\"]\n[Event \"b\"]\n", 2),
        ("[White \"a\"]\n\n1. e4 *\n\n[White \"b\"]\n\n1. d4 *\n", 2),
        ("1. e4 *\n\n1. d4 *\n", 2),
        ("1. e4 e5\n\n1. d4 d5\n", 2),
        ("1. e4 {\n[Event \"a\"]\n", 2),
    ] {
        assert_eq!(count(text.as_bytes()), games, "{text:?}");
        assert_eq!(games_with(text.as_bytes(), 1, 1 << 20).len(), games, "{text:?}");
    }
}
