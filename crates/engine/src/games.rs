//! The answers that a query gives about whole games, in addition to its answers about positions.

use serde::{Deserialize, Serialize};

use super::SortValue;

/// The answer of a query for one game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameAnswer {
    /// True if the query finds the game. A query such as `cql(matchcount 0)` finds games in which no position matches.
    pub is_found: bool,
    /// The number of positions of the game at which the query matches, including hits that the request does not keep.
    pub match_count: u32,
    /// The game's place in the order defined by the query's `sort` filters. If the query does not sort, or if
    /// [`Wants::RANKS`](super::Wants::RANKS) was not requested, all games have the same rank.
    pub rank: Rank,
}

impl GameAnswer {
    /// Creates the answer of a query that finds every game with a matching position. `match_count` is the number of
    /// matching positions in the game.
    pub fn from_count(match_count: u32) -> GameAnswer {
        GameAnswer { is_found: match_count > 0, match_count, ..GameAnswer::default() }
    }
}

/// A sort key: ranks are compared byte by byte, and the smaller rank comes first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Rank(Vec<u8>);

impl Rank {
    /// Appends a value, which breaks ties between ranks that are equal so far. A missing value sorts last, whether the
    /// order is ascending or descending.
    pub fn push(&mut self, value: Option<&SortValue>, smallest_first: bool) {
        let Some(value) = value else {
            self.0.push(1);
            return;
        };
        self.0.push(0);
        let begin = self.0.len();
        match value {
            SortValue::Number(number) => self.0.extend((number ^ i32::MIN).to_be_bytes()),
            SortValue::Text(text) => {
                // The end of a string must sort before any byte of a longer string. So the end is encoded as the bytes
                // 0, 0, and a zero byte of the string as 0, 1.
                text.iter().for_each(|&byte| match byte {
                    0 => self.0.extend([0, 1]),
                    byte => self.0.push(byte),
                });
                self.0.extend([0, 0]);
            }
        }
        if !smallest_first {
            self.0[begin..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    /// Appends another rank, which breaks ties between ranks that are equal so far.
    pub fn extend(&mut self, next: &Rank) {
        self.0.extend_from_slice(&next.0);
    }
}

impl From<u64> for Rank {
    fn from(rank: u64) -> Rank {
        Rank(rank.to_be_bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_ordered_as_their_values() {
        let texts: [&[u8]; 7] = [b"", b"\0", b"\0\0", b"\0\x01", b"a", b"a\0b", b"ab"];
        let numbers = [i32::MIN, -2, -1, 0, 1, 255, 256, i32::MAX];
        let texts = texts.iter().map(|text| SortValue::Text(text.to_vec())).collect::<Vec<_>>();
        let numbers = numbers.map(SortValue::Number).to_vec();
        for values in [texts, numbers] {
            for smallest_first in [false, true] {
                let mut pairs: Vec<(Rank, usize)> = Vec::new();
                for (index, value) in values.iter().enumerate() {
                    for second in 0..2 {
                        let mut rank = Rank::default();
                        rank.push(Some(value), smallest_first);
                        rank.push(Some(&SortValue::Number(second)), true);
                        pairs.push((rank, 2 * index + second as usize));
                    }
                }
                let mut none = Rank::default();
                none.push(None, smallest_first);
                pairs.sort();
                let last = pairs.last().unwrap().0.clone();
                assert!(last < none);
                let order: Vec<usize> = pairs.into_iter().map(|(_, index)| index).collect();
                let mut due: Vec<usize> = (0..2 * values.len()).collect();
                if !smallest_first {
                    due.sort_by_key(|index| (std::cmp::Reverse(index / 2), index % 2));
                }
                assert_eq!(order, due);
            }
        }
    }
}
