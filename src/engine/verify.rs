//! One engine checked by another while it runs.

use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

use super::{Engine, EngineError, Hits, Values, Want};
use crate::{
    pgn::Game,
    reel::{Block, BlockBuilder, GameRow, SEGMENT_SLOTS},
};

/// How much is recomputed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sample {
    /// Everything.
    All,
    /// At least so many segments of 32 positions, chosen evenly over the database without knowing its
    /// size, and all of the games that they are part of.
    Segments(usize),
}

/// Hands out what `engine` answers, once `other` has answered the same.
pub struct Verified {
    engine: Box<dyn Engine>,
    other: Box<dyn Engine>,
    sample: Sample,
    /// The hashes of the segments that were chosen, as many as are wanted, the largest on top. A
    /// segment is chosen if its hash is below: of any prefix of the database the lowest are in it.
    chosen: Mutex<BinaryHeap<u64>>,
    checked: Mutex<u64>,
}

impl Verified {
    /// An engine and the one that checks it.
    pub fn new(engine: Box<dyn Engine>, other: Box<dyn Engine>, sample: Sample) -> Verified {
        Verified { engine, other, sample, chosen: Mutex::default(), checked: Mutex::new(0) }
    }

    fn check(&self, block: &Block, hits: &Hits, want: Want) -> Result<(), EngineError> {
        let (games, part) = match self.sample {
            Sample::All => (block.games().collect(), None),
            Sample::Segments(wanted) => {
                let games = self.choose(block, wanted);
                if games.is_empty() {
                    return Ok(());
                }
                let part = block_of(block, &games);
                (games, Some(part))
            }
        };
        let part = part.as_ref().unwrap_or(block);
        let theirs = self.other.scan(part, want)?;
        for (game, copy) in games.iter().zip(part.games()) {
            for ply in 0..game.positions() {
                let (slot, other) = (game.first_slot() + ply, copy.first_slot() + ply);
                if value(hits, slot) != value(&theirs, other) {
                    return Err(EngineError::Differ {
                        engine: self.engine.name(),
                        other: self.other.name(),
                        game: game.number(),
                        ply,
                        answers: format!("{:?} and {:?}", value(hits, slot), value(&theirs, other)),
                    });
                }
            }
        }
        *self.checked.lock().unwrap_or_else(PoisonError::into_inner) += part.slots() as u64;
        Ok(())
    }

    /// The games of the segments that are chosen.
    fn choose<'a>(&self, block: &'a Block, wanted: usize) -> Vec<GameRow<'a>> {
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut games: Vec<usize> = Vec::new();
        for segment in 0..block.segments() {
            let hash = mix(u64::from(block.games_before) << 32 | segment as u64);
            if chosen.len() >= wanted {
                if chosen.peek().is_none_or(|&largest| hash >= largest) {
                    continue;
                }
                chosen.pop();
            }
            chosen.push(hash);
            let last = ((segment + 1) * SEGMENT_SLOTS).min(block.slots()) - 1;
            let range = block.game_of_slot(segment * SEGMENT_SLOTS)..=block.game_of_slot(last);
            games.extend(range);
        }
        games.dedup();
        games.into_iter().map(|game| block.game(game)).collect()
    }
}

/// A block of some games of another one, made from their moves and tags; they keep their numbers.
fn block_of(block: &Block, games: &[GameRow<'_>]) -> Block {
    let mut builder = BlockBuilder::new();
    for game in games {
        builder.push(
            0,
            &Game {
                number: game.number() - block.games_before,
                start: Some(game.start()),
                moves: game.moves().to_vec(),
                tags: game.tags_owned(),
                outcome: game.outcome(),
                ..Game::default()
            },
        );
    }
    let mut out = builder.finish();
    out.games_before = block.games_before;
    out
}

/// What an engine says of a slot: whether it hits, and the value as far as it has one.
fn value(hits: &Hits, slot: usize) -> (bool, i64) {
    let hit = hits.contains(slot);
    let value = match &hits.values {
        Values::Numbers(numbers) if hit => numbers[slot].into(),
        Values::Sets(sets) => sets[slot] as i64,
        _ => 0,
    };
    (hit, value)
}

/// Spreads numbers evenly. Source: the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(number: u64) -> u64 {
    let a = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let b = (a ^ a >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let c = (b ^ b >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    c ^ c >> 31
}

impl Engine for Verified {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn notice(&self) -> Option<String> {
        self.engine.notice()
    }

    fn verified(&self) -> Option<(u64, &'static str)> {
        Some((*self.checked.lock().unwrap_or_else(PoisonError::into_inner), self.other.name()))
    }

    fn scan(&self, block: &Block, want: Want) -> Result<Hits, EngineError> {
        let hits = self.engine.scan(block, want)?;
        self.check(block, &hits, want)?;
        Ok(hits)
    }

    fn scan_many(&self, blocks: &[&Block], want: Want) -> Result<Vec<Hits>, EngineError> {
        let all = self.engine.scan_many(blocks, want)?;
        blocks.iter().zip(&all).try_for_each(|(block, hits)| self.check(block, hits, want))?;
        Ok(all)
    }

    fn blocks_at_once(&self) -> usize {
        self.engine.blocks_at_once()
    }

    fn copies(&self) -> usize {
        self.engine.copies()
    }

    fn copy_counts(&self, block: &Block, hits: &Hits, counts: &mut [u64]) -> Result<(), EngineError> {
        let mut ours = vec![0; counts.len()];
        self.engine.copy_counts(block, hits, &mut ours)?;
        if self.sample == Sample::All {
            let mut theirs = vec![0; counts.len()];
            self.other.copy_counts(block, hits, &mut theirs)?;
            if let Some(copy) = (0..ours.len()).find(|&copy| ours[copy] != theirs[copy]) {
                return Err(EngineError::CountsDiffer {
                    engine: self.engine.name(),
                    other: self.other.name(),
                    copy: copy + 1,
                    counts: (ours[copy], theirs[copy]),
                });
            }
        }
        counts.iter_mut().zip(ours).for_each(|(count, more)| *count += more);
        Ok(())
    }
}
