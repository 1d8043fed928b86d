//! Finds games by how many of their positions match: `cql(matchcount 2 5)`, `cql(sort matchcount)`.

use std::sync::Mutex;

use orbit_core::sync::lock;
use orbit_engine::{Answers, GameAnswer, Hits, PreparedQuery, Rank, SortValue};
use orbit_query::tree::Header;
use orbit_reel::Block;

/// The number of matching positions in each game, for some blocks (groups of games) and all queries of a scan.
pub(super) struct MatchCounts<'a> {
    queries: &'a [PreparedQuery],
    /// For each block and query, a list with the number of matching positions and the rank of each game in the block. The list is
    /// empty if the query does not depend on the number of matching positions.
    games: Vec<Vec<Mutex<Vec<GameAnswer>>>>,
}

impl<'a> MatchCounts<'a> {
    pub(super) fn new(queries: &'a [PreparedQuery], blocks: usize) -> MatchCounts<'a> {
        let of_block = |_| queries.iter().map(|_| Mutex::default()).collect();
        MatchCounts { queries, games: (0..blocks).map(of_block).collect() }
    }

    /// Counts the matching positions of a query in each game and removes the hits in games that are not found. `hits` must be
    /// complete, so selections such as `first` must be applied later.
    pub(super) fn count(&self, index: usize, block: &Block, query: usize, hits: &mut Hits) {
        let header = &self.queries[query].query.header;
        if !counts(header) {
            return;
        }
        let fits = |count: u32| {
            header.match_count.map_or(count > 0, |(least, most)| (least..=most).contains(&count))
        };
        let is_asked_of =
            |number: u32| header.games.is_none_or(|(first, last)| (first..=last).contains(&number));
        let games = block.games().map(|game| {
            let range = game.slots();
            let count = hits.count_in(range.clone()) as u32;
            let answer = GameAnswer {
                is_found: fits(count) && is_asked_of(game.number()),
                match_count: count,
                rank: rank(header, count),
            };
            if !answer.is_found {
                hits.clear(range);
            }
            answer
        });
        *lock(&self.games[index][query]) = games.collect();
    }

    /// Writes the counts of matching positions into the answers for each game of a block.
    pub(super) fn tell(&self, index: usize, answers: &mut [Answers]) {
        for ((answers, counted), prepared) in answers.iter_mut().zip(&self.games[index]).zip(self.queries) {
            if !counts(&prepared.query.header) {
                continue;
            }
            let mut counted = std::mem::take(&mut *lock(counted));
            if let Some(told) = &answers.games {
                // Games are sorted by `sort` values first, then by number of matching positions.
                for (counted, told) in counted.iter_mut().zip(told) {
                    let by_count = std::mem::replace(&mut counted.rank, told.rank.clone());
                    counted.rank.extend(&by_count);
                }
            }
            if let Some(commentary) = &mut answers.commentary {
                commentary.games.retain(|game| counted[game.index as usize].is_found);
            }
            answers.games = Some(counted);
        }
    }
}

/// Returns whether a query depends on the number of matching positions in each game.
fn counts(header: &Header) -> bool {
    header.match_count.is_some() || header.sort_match_count
}

fn rank(header: &Header, count: u32) -> Rank {
    let mut rank = Rank::default();
    if header.sort_match_count {
        rank.push(Some(&SortValue::Number(count.min(i32::MAX as u32) as i32)), false);
    }
    rank
}
