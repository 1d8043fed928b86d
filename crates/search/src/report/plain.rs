//! The plain formats `game node` and `game node value`, which can be compared byte by byte.

use super::words::{push_number, push_squares, push_text};
use orbit_core::board::Bitboard;
use orbit_engine::{Hits, Values};
use orbit_reel::GameRow;

/// The start of each line about a game: the game number and a blank, such as `1042 `. The second field is its length.
struct Prefix([u8; 12], usize);

impl Prefix {
    fn from_game(game: &GameRow) -> Prefix {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(game.number()).as_bytes();
        let mut prefix = Prefix([b' '; 12], digits.len() + 1);
        prefix.0[..digits.len()].copy_from_slice(digits);
        prefix
    }

    fn push(&self, node: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0[..self.1]);
        push_number(out, node);
    }
}

/// Appends `game node` for each hit of a game. Returns the number of hits.
pub(super) fn nodes(game: &GameRow, hits: &Hits, out: &mut Vec<u8>) -> usize {
    let first = game.first_slot();
    let (prefix, mut count) = (Prefix::from_game(game), 0);
    for slot in hits.slots(first..game.end_slot()) {
        prefix.push(slot - first, out);
        out.push(b'\n');
        count += 1;
    }
    count
}

/// Appends `game node value` for each hit of a game. If `lists_all` is true and the query's value is a set of squares, appends such
/// a line for every position of the game. Returns the number of hits.
pub(super) fn values(game: &GameRow, hits: &Hits, lists_all: bool, out: &mut Vec<u8>) -> usize {
    let (first, end) = (game.first_slot(), game.end_slot());
    let prefix = Prefix::from_game(game);
    if let Values::Sets(sets) = &hits.values
        && lists_all
    {
        for slot in first..end {
            prefix.push(slot - first, out);
            out.push(b' ');
            push_squares(out, Bitboard(sets.at(slot)));
            out.push(b'\n');
        }
        return hits.slots(first..end).count();
    }
    let mut count = 0;
    for slot in hits.slots(first..end) {
        prefix.push(slot - first, out);
        match &hits.values {
            Values::Numbers(numbers) => {
                out.push(b' ');
                push_number(out, numbers[slot]);
            }
            Values::Sets(sets) => {
                out.push(b' ');
                push_squares(out, Bitboard(sets[slot]));
            }
            Values::Texts(_) => {
                out.push(b' ');
                push_text(out, hits.text(slot).unwrap_or_default());
            }
            Values::None => out.extend_from_slice(b" true"),
        }
        out.push(b'\n');
        count += 1;
    }
    count
}
