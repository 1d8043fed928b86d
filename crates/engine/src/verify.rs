//! Checks the answers of one engine with another engine while a search runs.
//!
//! A *segment* is a run of 32 positions. A *copy* is one of the distinct patterns that a transform generates.

use std::collections::BinaryHeap;
use std::sync::Mutex;

use super::carry::has;
use super::{Answers, BlockRequest, Engine, EngineError, EngineInfo, Hits, Values, Wants, place};
use orbit_core::sync::{into_inner, lock};
use orbit_pgn::Game;
use orbit_reel::{Block, BlockBuilder, GameRow, SEGMENT_SLOTS};

/// The part of the database that the second engine recomputes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sample {
    /// All positions.
    All,
    /// At least this number of segments (32 positions each), and the whole games to which they belong. The segments are
    /// chosen uniformly from the database, although its size is not known in advance.
    Segments(usize),
}

/// An engine that returns the answers of `engine`. It returns an error instead if `other` gives different answers.
pub struct Verified {
    engine: Box<dyn Engine>,
    other: Box<dyn Engine>,
    sample: Sample,
    /// The hashes of the chosen segments, with the largest on top. The heap holds no more hashes than the sample
    /// requests. A segment is chosen if its hash is less than the largest one, so the heap always contains the lowest
    /// hashes of all blocks seen so far.
    chosen: Mutex<BinaryHeap<u64>>,
    checked: Mutex<u64>,
}

impl Verified {
    /// Combines `engine` with `other`, the engine that checks its answers.
    pub fn new(engine: Box<dyn Engine>, other: Box<dyn Engine>, sample: Sample) -> Verified {
        Verified { engine, other, sample, chosen: Mutex::default(), checked: Mutex::new(0) }
    }

    /// Evaluates a block with the other engine, and returns an error if its answers differ from `ours`.
    fn check(
        &self,
        block: &Block,
        ours: &[Checked],
        outputs: &[Wants],
        request: &BlockRequest<'_>,
    ) -> Result<(), EngineError> {
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
        let pairs = || games.iter().zip(part.games()).flat_map(|(game, copy)| pairs_of(*game, copy));
        let before = HitRecorder::new(1, ours.len());
        let keep = |_: usize, _: &Block, query: usize, hits: &mut Hits| {
            before.record(0, query, hits);
            let kept = &ours[query].answers.hits;
            let dropped = pairs().filter(|(slot, _)| !kept.contains(*slot));
            dropped.for_each(|(_, copy)| hits.clear(copy..copy + 1));
        };
        // A block that contains only the chosen games assigns other slots to their positions, so the copies (matching
        // patterns) of its hits cannot be compared with those of the whole block.
        let no_copies: Vec<Wants> = outputs.iter().map(|outputs| outputs.without_copies()).collect();
        let outputs = if self.sample == Sample::All { outputs } else { &no_copies };
        let asked = BlockRequest { outputs, select: Some(&keep), games: None, ..*request };
        let theirs = self.other.scan(&[part], &asked)?;
        let theirs = before.with(theirs).remove(0);
        for (query, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            for (slot, copy) in pairs() {
                if ours.value(slot) != theirs.value(copy) {
                    return Err(self.differ(block, slot, ours.value(slot), theirs.value(copy)));
                }
            }
            if self.sample == Sample::All && outputs[query].detail().is_some() {
                self.check_copies(block, &ours.answers, &theirs.answers)?;
            }
        }
        *lock(&self.checked) += part.slots() as u64;
        Ok(())
    }

    fn differ(&self, block: &Block, slot: usize, ours: (bool, i64), theirs: (bool, i64)) -> EngineError {
        let game = block.game(block.game_of_slot(slot));
        EngineError::Differ {
            engine: self.engine.info().name,
            other: self.other.info().name,
            game: game.number(),
            place: place(&game, slot),
            answers: format!("{ours:?} and {theirs:?}"),
        }
    }

    fn check_copies(&self, block: &Block, ours: &Answers, theirs: &Answers) -> Result<(), EngineError> {
        let (Some(our_copies), Some(their_copies)) = (&ours.copies, &theirs.copies) else { return Ok(()) };
        // Messages number copies from 1.
        let numbered = |copies: &[u32]| copies.iter().map(|copy| copy + 1).collect::<Vec<u32>>();
        for (slot, hit) in ours.hits.slots(0..block.slots()).zip(0..our_copies.len()) {
            let (ours, theirs) = (our_copies.at_hit(hit), their_copies.at_hit(hit));
            if ours != theirs {
                let game = block.game(block.game_of_slot(slot));
                let (game, place) = (game.number(), place(&game, slot));
                let (engine, other) = (self.engine.info().name, self.other.info().name);
                return Err(EngineError::CopiesDiffer {
                    engine,
                    other,
                    game,
                    place,
                    copies: format!("{:?} and {:?}", numbered(ours), numbered(theirs)),
                });
            }
        }
        let mut sums = our_copies.sums().iter().zip(their_copies.sums()).enumerate();
        sums.find(|(_, (ours, theirs))| ours != theirs).map_or(Ok(()), |(copy, (&ours, &theirs))| {
            Err(EngineError::CountsDiffer {
                engine: self.engine.info().name,
                other: self.other.info().name,
                copy: copy + 1,
                counts: (ours, theirs),
            })
        })
    }

    /// Chooses segments of a block for the sample, and returns the games to which they belong.
    fn choose<'a>(&self, block: &'a Block, wanted: usize) -> Vec<GameRow<'a>> {
        let mut chosen = lock(&self.chosen);
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

/// Builds a block from the moves and tags of some games of another block. The games keep their numbers.
fn block_of(block: &Block, games: &[GameRow<'_>]) -> Block {
    let mut builder = BlockBuilder::new();
    for game in games {
        builder.push(0, &Game { number: game.number() - block.games_before, ..game.to_game() });
    }
    let mut out = builder.finish();
    out.games_before = block.games_before;
    out
}

/// Returns each slot of a game, paired with the slot of the same position in `copy`, the same game in another block.
fn pairs_of(game: GameRow<'_>, copy: GameRow<'_>) -> impl Iterator<Item = (usize, usize)> {
    let (from, to) = (game.first_slot(), copy.first_slot());
    (0..game.positions()).map(move |node| (from + node, to + node))
}

/// A recorder of all hits. It runs before the request's selection removes some of them.
struct HitRecorder {
    /// For each block and each query, all hits of the query in the block: one word for each segment (32 positions).
    bits: Vec<Vec<Mutex<Vec<u32>>>>,
}

/// The answers of one query on one block, together with all hits, including those that were removed.
struct Checked {
    /// All hits: one word for each segment.
    bits: Vec<u32>,
    /// The answers, with only the hits that the request selects.
    answers: Answers,
}

impl HitRecorder {
    fn new(blocks: usize, queries: usize) -> HitRecorder {
        let of_block = || (0..queries).map(|_| Mutex::default()).collect();
        HitRecorder { bits: (0..blocks).map(|_| of_block()).collect() }
    }

    fn record(&self, block: usize, query: usize, hits: &Hits) {
        lock(&self.bits[block][query]).clone_from(&hits.bits);
    }

    /// Combines the recorded hits of each block and query with its answers.
    fn with(self, answers: Vec<Vec<Answers>>) -> Vec<Vec<Checked>> {
        let checked = |(bits, answers): (Mutex<Vec<u32>>, Answers)| {
            let bits = into_inner(bits);
            Checked { bits, answers }
        };
        let blocks = self.bits.into_iter().zip(answers);
        blocks.map(|(bits, answers)| bits.into_iter().zip(answers).map(checked).collect()).collect()
    }
}

impl Checked {
    /// Returns true if a slot (position) is a hit, and the value of the query there. The value is 0 if the hit was removed or if
    /// values were not requested.
    fn value(&self, slot: usize) -> (bool, i64) {
        let hit = has(&self.bits, slot);
        let kept = self.answers.hits.contains(slot);
        let value = match &self.answers.hits.values {
            Values::Numbers(numbers) if kept => numbers[slot].into(),
            Values::Sets(sets) if kept => sets[slot] as i64,
            _ => 0,
        };
        (hit, value)
    }
}

/// Returns a hash of a number. The hashes are evenly distributed. Source: the finalizer of SplitMix64 (Steele, Lea,
/// Flood 2014).
fn mix(number: u64) -> u64 {
    let a = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let b = (a ^ a >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let c = (b ^ b >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    c ^ c >> 31
}

impl Engine for Verified {
    fn info(&self) -> EngineInfo {
        let (own, other) = (self.engine.info(), self.other.info());
        let checked = *lock(&self.checked);
        let in_order = own.in_order || other.in_order;
        EngineInfo { in_order, verified: Some((checked, other.name)), ..own }
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        // Two engines could agree by chance on the number of hits of each copy (transformed pattern). So not only these
        // numbers but also the copies that match at each hit are compared.
        let all = self.sample == Sample::All;
        let widened = request.outputs.iter().map(|&outputs| match outputs.detail() {
            Some(_) if all => outputs | Wants::ALL_COPIES,
            _ => outputs,
        });
        let outputs: Vec<Wants> = widened.collect();
        let before = HitRecorder::new(blocks.len(), outputs.len());
        let select = |index: usize, block: &Block, query: usize, hits: &mut Hits| {
            before.record(index, query, hits);
            request.select(index, block, query, hits);
        };
        let asked = BlockRequest { outputs: &outputs, select: Some(&select), ..*request };
        let ours = self.engine.scan(blocks, &asked)?;
        let ours = before.with(ours);
        blocks.iter().zip(&ours).try_for_each(|(block, ours)| self.check(block, ours, &outputs, request))?;
        let answers = |of_block: Vec<Checked>| of_block.into_iter().map(|checked| checked.answers).collect();
        Ok(ours.into_iter().map(answers).collect())
    }
}
