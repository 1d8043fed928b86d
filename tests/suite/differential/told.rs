//! Runs generated queries from each group in [`Kind`] as a search does, and compares all results with those of the reference
//! engine: hits, values, comments, messages, tags, sort keys and spans.

use super::{Rng, difference, game_queries::GameQueries, game_queries::kinds::Kind, games::games};
use crate::told::{Told, told};
use orbit_search::executor::EngineChoice;

/// The number of queries that are compared in each group of generated queries. A query counts only if it has a plan (code for the
/// fast engines) and hits.
const COMPARED_DUE: usize = 100;
/// The maximum number of seeds that are tried for each group of generated queries.
const SEEDS_MAX: u64 = 600;

/// Compares the results of `reference` (`slow`) and `auto` (`fast`) for the same blocks (groups of games), and returns the first
/// difference.
fn fault(slow: &[Told], fast: &[Told]) -> Option<String> {
    if slow.len() != fast.len() {
        return Some("the numbers of blocks differ".into());
    }
    slow.iter().zip(fast).find_map(|(slow, fast)| {
        let hits = difference(["reference", "auto"], &slow.hits, &fast.hits, &slow.block);
        let parts = [
            ("comments", slow.commentary != fast.commentary),
            ("ranks", slow.ranks != fast.ranks),
            ("spans", slow.spans != fast.spans),
        ];
        let differing = parts.iter().find(|(_, differ)| *differ);
        hits.or_else(|| differing.map(|(what, _)| format!("{what} differ: {slow:?}, {fast:?}")))
    })
}

/// Compares the engines on generated queries from a group until enough queries have been compared. Returns the numbers of comments,
/// sort keys and spans that were compared.
fn compare_kind(kind: Kind) -> [usize; 3] {
    let (mut compared, mut refused, mut seed) = (0, 0, 0);
    let mut seen = [0; 3];
    while compared < COMPARED_DUE && seed < SEEDS_MAX {
        let mut rng = Rng::new(7000 + seed);
        let variations = seed.is_multiple_of(3);
        seed += 1;
        let (games, _) = games(&mut rng, variations);
        let text = GameQueries::new(&mut rng, &games).of_kind(kind, variations).text();
        let pgn: String = games.iter().map(|game| format!("{}\n", game.pgn)).collect();
        let pgn = pgn.into_bytes();
        let Some(slow) = told(&text, pgn.clone(), EngineChoice::Reference) else {
            refused += 1;
            continue;
        };
        let fast = told(&text, pgn, EngineChoice::Auto).unwrap_or_else(|| panic!("{text}"));
        if let Some(fault) = fault(&slow, &fast) {
            panic!("seed {seed}: {text}\n  {fault}");
        }
        let has_hits = slow.iter().any(|told| told.hits.count() > 0);
        if !has_hits || fast.iter().any(|told| !told.is_planned) {
            continue;
        }
        compared += 1;
        for told in &slow {
            let of_game = |game: &orbit_engine::GameCommentary| game.comments.len() + game.tags.len();
            seen[0] +=
                told.commentary.games.iter().map(of_game).sum::<usize>() + told.commentary.messages.len();
            seen[1] += told.ranks.len();
            seen[2] += told.spans.iter().flatten().count();
        }
    }
    assert!(compared >= COMPARED_DUE, "{kind:?}: {compared} of {seed} are compared, {refused} refused");
    seen
}

#[test]
fn queries_that_sort_tell_the_same() {
    let [_, ranks, _] = compare_kind(Kind::Sort);
    assert!(ranks > 200, "{ranks} ranks");
}

#[test]
fn queries_with_variables_at_other_positions_tell_the_same() {
    let [_, _, spans] = compare_kind(Kind::Elsewhere);
    assert!(spans > 200, "{spans} spans");
}

#[test]
fn queries_with_nested_loops_tell_the_same() {
    compare_kind(Kind::Nested);
}

#[test]
fn queries_with_comments_tell_the_same() {
    let [comments, ..] = compare_kind(Kind::Comment);
    assert!(comments > 1000, "{comments} comments");
}
