//! The reference engine over whole blocks, position by position.

use super::{Reference, ReferenceError};
use crate::{
    engine::{
        Answer, Answers, CopyDetail, CopyHits, Engine, EngineError, Hits, Outputs, Request, Spot, Values,
    },
    query::{Query, Type},
    reel::{
        Block, SEGMENT_SLOTS,
        replay::{Slot, for_each_slot},
    },
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Bulk {
    queries: Vec<(Reference, Type)>,
}

impl Bulk {
    /// An engine for some queries, which it evaluates one after the other.
    ///
    /// # Errors
    ///
    /// See [`ReferenceError`].
    pub fn new<'a>(queries: impl IntoIterator<Item = &'a Query>) -> Result<Bulk, ReferenceError> {
        let queries = queries.into_iter().map(|query| Ok((Reference::new(query)?, query.body.ty())));
        Ok(Bulk { queries: queries.collect::<Result<_, _>>()? })
    }

    fn hits(&self, query: usize, block: &Block, outputs: Outputs) -> Hits {
        let (reference, ty) = &self.queries[query];
        let mut hits = Hits::new(block);
        hits.make_room(block, outputs, *ty);
        each(block, |slot, game, at| {
            let answer = reference.answer(game, at);
            hits.bits[slot / SEGMENT_SLOTS] |= u32::from(answer.is_hit()) << (slot % SEGMENT_SLOTS);
            match (&mut hits.values, answer) {
                (Values::Sets(out), Answer::Set(squares)) => out[slot] = squares.0,
                (Values::Numbers(out), Answer::Num(value)) => out[slot] = value.unwrap_or(0),
                _ => {}
            }
        });
        hits
    }

    fn detail(&self, query: usize, block: &Block, hits: &Hits, detail: CopyDetail) -> CopyHits {
        let (reference, _) = &self.queries[query];
        let mut found = CopyHits::new(reference.copies(), detail, hits);
        each(block, |slot, game, at| {
            if hits.contains(slot) {
                let matching = reference.copy_hits(game, at).into_iter().zip(0..);
                found.push(matching.filter_map(|(hit, copy)| hit.then_some(copy)));
            }
        });
        found
    }
}

/// Visits each slot of a block, with the positions of its game and its place among them.
fn each(block: &Block, mut visit: impl FnMut(usize, &[Spot], usize)) {
    let mut slots = Vec::new();
    for_each_slot(block, |slot| {
        let ends = slot.last;
        slots.push(slot);
        if ends {
            let game = block.game(slots[0].game);
            let spot = |(slot, node): (&Slot, u32)| {
                let Slot { position, ply, initial, terminal, .. } = *slot;
                let parent = game.parent_of(node).map(|parent| parent as usize);
                Spot { position, ply, initial, terminal, parent, arrival: game.move_to(node), game: &game }
            };
            let nodes: Vec<Spot> = slots.iter().zip(0..).map(spot).collect();
            (0..nodes.len()).for_each(|at| visit(slots[at].slot, &nodes, at));
            slots.clear();
        }
    });
}

impl Engine for Bulk {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn queries(&self) -> usize {
        self.queries.len()
    }

    fn scan(&self, blocks: &[&Block], request: &Request<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let answers = |(index, block): (usize, &&Block)| {
            let queries = request.outputs.iter().enumerate();
            let answers = queries.map(|(query, &outputs)| {
                let mut hits = self.hits(query, block, outputs);
                request.select(index, block, query, &mut hits);
                let copies = outputs.detail().map(|detail| self.detail(query, block, &hits, detail));
                Answers::of(hits, copies)
            });
            answers.collect()
        };
        Ok(blocks.iter().enumerate().map(answers).collect())
    }

    fn copies(&self, query: usize) -> usize {
        self.queries[query].0.copies()
    }
}
