//! The reference engine over whole blocks, position by position.

use super::{Reference, ReferenceError};
use crate::{
    engine::{Answer, CopyHits, Engine, EngineError, Hits, Spot, Tell, TellCopies, Values, Want},
    query::{Query, Type},
    reel::{
        Block, SEGMENT_SLOTS,
        replay::{Slot, for_each_slot},
    },
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Bulk {
    reference: Reference,
    ty: Type,
}

impl Bulk {
    /// An engine for one query.
    ///
    /// # Errors
    ///
    /// See [`ReferenceError`].
    pub fn new(query: &Query) -> Result<Bulk, ReferenceError> {
        Ok(Bulk { reference: Reference::new(query)?, ty: query.body.ty() })
    }

    /// Visits each slot of a block, with the positions of its game and its place among them.
    fn each(&self, block: &Block, mut visit: impl FnMut(usize, &[Spot], usize)) {
        let mut slots = Vec::new();
        for_each_slot(block, |slot| {
            let ends = slot.terminal;
            slots.push(slot);
            if ends {
                let game = block.game(slots[0].game);
                let spot = |slot: &Slot| {
                    let Slot { position, ply, initial, terminal, .. } = *slot;
                    Spot { position, ply, initial, terminal, game: &game }
                };
                let line: Vec<Spot> = slots.iter().map(spot).collect();
                (0..line.len()).for_each(|at| visit(slots[at].slot, &line, at));
                slots.clear();
            }
        });
    }
}

impl Engine for Bulk {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn scan(&self, block: &Block, want: Want) -> Result<Hits, EngineError> {
        let mut hits = Hits::new(block, want, self.ty);
        self.each(block, |slot, game, at| {
            let answer = self.reference.answer(game, at);
            hits.bits[slot / SEGMENT_SLOTS] |= u32::from(answer.is_hit()) << (slot % SEGMENT_SLOTS);
            match (&mut hits.values, answer) {
                (Values::Sets(out), Answer::Set(squares)) => out[slot] = squares.0,
                (Values::Numbers(out), Answer::Num(value)) => out[slot] = value.unwrap_or(0),
                _ => {}
            }
        });
        Ok(hits)
    }

    fn copies(&self) -> usize {
        self.reference.copies()
    }

    fn copy_counts(&self, block: &Block, hits: &Hits, counts: &mut [u64]) -> Result<(), EngineError> {
        self.each(block, |slot, game, at| {
            if hits.contains(slot) {
                for (count, hit) in counts.iter_mut().zip(self.reference.copy_hits(game, at)) {
                    *count += u64::from(hit);
                }
            }
        });
        Ok(())
    }
}

impl TellCopies for Bulk {
    fn copy_hits(&self, block: &Block, hits: &Hits, tell: Tell) -> CopyHits {
        let mut found = CopyHits::new(self.reference.copies(), tell, hits);
        self.each(block, |slot, game, at| {
            if hits.contains(slot) {
                let matching = self.reference.copy_hits(game, at).into_iter().zip(0..);
                found.push(matching.filter_map(|(hit, copy)| hit.then_some(copy)));
            }
        });
        found
    }
}
