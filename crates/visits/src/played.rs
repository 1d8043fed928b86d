//! Finds the games in which a position occurs, and the next move of each game, almost without reading the games.
//!
//! A table of positions does not contain moves. But if a game continues after a slot, the next slot has the position after the
//! move. So only the first game with a given move is read from the reel. The other games with this move are those whose next slot
//! has the same next position. The reel is therefore read once for each different move, not once for each game.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::facts::TabledFacts;
use super::format::TableError;
use super::games::steps_while;
use super::key::counted;
use super::read::{PositionTable, block_of};
use orbit_core::board::{PackedMove, Position};
use orbit_reel::replay::position_at;
use orbit_reel::{Block, Reel};

/// A game in which a given position occurs.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PlayedGame {
    /// The index of the block in the reel.
    pub block: usize,
    /// The index of the game in the block.
    pub game: usize,
    /// The facts about the game.
    pub facts: TabledFacts,
    /// The move played at the last occurrence of the position, not counting one at the end of the game. `None` if the position
    /// occurs only at the end of the game.
    pub mv: Option<PackedMove>,
    /// True if the game begins with the moves in `way`, an argument of [`PositionTable::for_each_game_at`].
    pub is_by_way: bool,
}

/// A function that returns the block of the reel with a given index if it is in memory, and otherwise `None`.
pub type HeldBlocks<'h> = &'h dyn Fn(usize) -> Option<Arc<Block>>;

/// Reads the blocks of a reel that a request needs in addition to the reel's table. Only the last block read is cached.
pub(super) struct ReadBlocks<'r> {
    reel: &'r Reel,
    held: HeldBlocks<'r>,
    last: Option<(usize, Arc<Block>)>,
    numbers: BTreeSet<usize>,
}

impl<'r> ReadBlocks<'r> {
    pub(super) fn new(reel: &'r Reel, held: HeldBlocks<'r>) -> ReadBlocks<'r> {
        ReadBlocks { reel, held, last: None, numbers: BTreeSet::new() }
    }

    /// Returns the indices of the blocks that had to be read from the reel because they were not in memory.
    pub(super) fn into_numbers(self) -> BTreeSet<usize> {
        self.numbers
    }

    pub(super) fn get(&mut self, index: usize) -> Result<Arc<Block>, TableError> {
        match &self.last {
            Some((last, block)) if *last == index => Ok(Arc::clone(block)),
            _ => {
                let block = match (self.held)(index) {
                    Some(block) if block.has_lines() => Arc::new(block.main_lines(false).into_owned()),
                    Some(block) => block,
                    None => {
                        self.numbers.insert(index);
                        Arc::new(block_of(self.reel, index, false)?)
                    }
                };
                self.last = Some((index, Arc::clone(&block)));
                Ok(block)
            }
        }
    }
}

impl PositionTable {
    /// Calls `visit` for each game in which a position occurs, in reel order. `way` contains moves from the usual start position to
    /// the position, or is empty. `held` returns the blocks that are in memory. Returns the indices of the blocks that were read
    /// from the reel.
    ///
    /// # Errors
    ///
    /// Fails if a part of the table or of the reel cannot be read or is damaged. `visit` may have been called for some games before
    /// the error.
    pub fn for_each_game_at(
        &self,
        (reel, held): (&Reel, HeldBlocks),
        position: &Position,
        way: &[PackedMove],
        mut visit: impl FnMut(PlayedGame),
    ) -> Result<BTreeSet<usize>, TableError> {
        let mut blocks = ReadBlocks::new(reel, held);
        let Some(slots) = self.slots_of(&counted(position), &mut blocks)? else { return Ok(blocks.numbers) };
        let by_way = self.starts_of_way(way, &slots, &mut blocks)?;
        let mut by_way = by_way.iter().peekable();
        let mut moves = PlayedAt { slots: &slots, codes: vec![0; slots.len()], played: Vec::new() };
        let mut at = 0;
        while let Some(&slot) = slots.get(at) {
            let index = self.block_of_slot(slot)?;
            let (of_block, games) = (self.slots_of_block(index), self.games(index)?);
            let mut game = 0;
            while let Some(&slot) = slots.get(at).filter(|slot| of_block.contains(slot)) {
                let first =
                    |game: usize| games.get(game).map(|game| of_block.start + u64::from(game.first_slot));
                while first(game + 1).is_some_and(|next| next <= slot) {
                    game += 1;
                }
                let of_game = first(game).unwrap_or(slot)..first(game + 1).unwrap_or(of_block.end);
                let entry = games.get(game).filter(|_| of_game.contains(&slot));
                let entry = entry.ok_or_else(|| self.damaged("a visit is of no game"))?;
                let mut mv = None;
                while slots.get(at).is_some_and(|slot| of_game.contains(slot)) {
                    if slots[at] + 1 < of_game.end {
                        mv = Some(self.move_at(at, &mut moves, (index, of_block.start), &mut blocks)?);
                    }
                    at += 1;
                }
                while by_way.next_if(|start| **start < of_game.start).is_some() {}
                visit(PlayedGame {
                    block: index,
                    game,
                    facts: entry.facts.facts(entry.date.date()),
                    mv,
                    is_by_way: entry.facts.usual_start == 1
                        && by_way.peek() == Some(&&of_game.start)
                        && of_game.start + (way.len() as u64) < of_game.end,
                });
            }
        }
        Ok(blocks.numbers)
    }

    /// Returns the move played at a visit (an occurrence of the position). If no earlier visit has this move, the move is read from
    /// the reel, and all later visits with it are found.
    fn move_at(
        &self,
        at: usize,
        moves: &mut PlayedAt,
        (index, first_slot): (usize, u64),
        blocks: &mut ReadBlocks,
    ) -> Result<PackedMove, TableError> {
        if let Some(known) = usize::from(moves.codes[at]).checked_sub(1) {
            return Ok(moves.played[known]);
        }
        let wrong = || self.damaged("a visit is of no position of the reel");
        let block = blocks.get(index)?;
        let slot = (moves.slots[at] - first_slot) as usize;
        if slot + 1 >= block.slots() {
            return Err(wrong());
        }
        let game = block.game(block.game_of_slot(slot));
        let mv = game.move_from((slot - game.first_slot()) as u32).ok_or_else(wrong)?;
        let after = self.slots_of(&counted(&position_at(&block, slot + 1)), blocks)?.ok_or_else(wrong)?;
        moves.played.push(mv);
        let code = u8::try_from(moves.played.len()).map_err(|_| wrong())?;
        for_each_common(&moves.slots[at..], &after, 1, |found| moves.codes[at + found] = code);
        if moves.codes[at] == code { Ok(mv) } else { Err(wrong()) }
    }

    /// Returns the slots at which a position occurs in the reel. Table entries with a matching key are compared with a board of the
    /// reel, if possible with one in the block that was read last.
    fn slots_of(&self, wanted: &Position, blocks: &mut ReadBlocks) -> Result<Option<Vec<u64>>, TableError> {
        for (page, entries) in self.entries_with_key_of(wanted)? {
            for slots in entries {
                let slots = self.slots_in(page, slots)?;
                let near = blocks.last.as_ref().map(|(last, _)| self.slots_of_block(*last));
                let near = near.and_then(|near| {
                    let slot = *slots.get(slots.partition_point(|slot| *slot < near.start))?;
                    near.contains(&slot).then_some(slot)
                });
                let Some(slot) = near.or(slots.first().copied()) else { continue };
                let index = self.block_of_slot(slot)?;
                let block = blocks.get(index)?;
                let slot = (slot - self.slots_of_block(index).start) as usize;
                if slot >= block.slots() {
                    return Err(self.damaged("a visit is of no position of the reel"));
                }
                if counted(&position_at(&block, slot)) == *wanted {
                    return Ok(Some(slots));
                }
            }
        }
        Ok(None)
    }

    /// Returns, in ascending order, the slots from which the moves `way` lead to a visit in `last`. The result is meaningful only
    /// for slots at which a game begins from the usual start position, which the caller must check: other slots may be in the
    /// middle of a game, and the moves may go beyond its end.
    ///
    /// The table has no moves, but positions are enough: different moves in a position lead to different positions. The positions
    /// before the first and the second half-move, which have the longest lists of visits, need not be looked up: after two
    /// half-moves, the board shows the move of each side.
    fn starts_of_way(
        &self,
        way: &[PackedMove],
        last: &[u64],
        blocks: &mut ReadBlocks,
    ) -> Result<Vec<u64>, TableError> {
        if way.is_empty() {
            return Ok(Vec::new());
        }
        let mut position = Position::STANDARD;
        let before = way.iter().map(|mv| {
            let before = position;
            position.play(*mv);
            before
        });
        let before: Vec<Position> = before.collect();
        let plies = before.len() as u64;
        let mut starts: Vec<u64> = last.iter().filter_map(|slot| slot.checked_sub(plies)).collect();
        // The positions are checked from last to first: the last ones occur in few games, and short lists are searched fast.
        for (plies, position) in before.iter().enumerate().skip(FORCED_PLIES).rev() {
            let visits = self.slots_of(&counted(position), blocks)?.unwrap_or_default();
            let mut kept = Vec::new();
            for_each_common(&starts, &visits, plies as u64, |found| kept.push(starts[found]));
            starts = kept;
        }
        Ok(starts)
    }
}

/// The number of half-moves from the usual start position after which the board alone still shows which moves were played.
const FORCED_PLIES: usize = 2;

/// The moves played at the visits (occurrences) of a position, as far as they are known.
struct PlayedAt<'s> {
    slots: &'s [u64],
    /// For each occurrence of the position, one more than the index of the move played, or 0 if the move is not known yet.
    codes: Vec<u8>,
    played: Vec<PackedMove>,
}

/// Calls `visit` with the index of each of the `slots` that is `distance` before one of the slots `after`. Both lists are in
/// ascending order.
fn for_each_common(slots: &[u64], after: &[u64], distance: u64, mut visit: impl FnMut(usize)) {
    let (mut at, mut other) = (0, 0);
    while let Some(slot) = slots.get(at) {
        other += steps_while(&after[other..], |after| *after < slot + distance);
        let Some(&found) = after.get(other) else { return };
        if found == slot + distance {
            visit(at);
            at += 1;
        } else {
            at += steps_while(&slots[at..], |slot| *slot < found.saturating_sub(distance));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_slots_are_found_at_any_distance() {
        let lists: [&[u64]; 6] =
            [&[], &[0], &[5], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[3, 90, 91, 300], &[1, 4, 91, 92, 301]];
        for (slots, after) in lists.iter().flat_map(|slots| lists.map(|after| (*slots, after))) {
            for distance in 0..4 {
                let mut found = Vec::new();
                for_each_common(slots, after, distance, |at| found.push(at));
                let due = (0..slots.len()).filter(|&at| after.contains(&(slots[at] + distance)));
                assert_eq!(found, due.collect::<Vec<_>>(), "{slots:?} {after:?} {distance}");
            }
        }
    }
}
