//! What is known of a block beside its positions, computed once for all queries and outputs of a request.

use std::collections::HashMap;

use super::{
    carry::{SlotColumn, carried_bits, carried_words},
    columns::{GameColumn, game_column},
};
use crate::{
    plan::{Carried, CarryId, Column, Id, StageCarry},
    reel::Block,
};

/// See the module. Columns and carried answers have the numbers that the plans of the request share.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) block: &'a Block,
    /// What the tags of games say.
    columns: Vec<GameColumn>,
    /// Where masks that stages compute are true, a word for each segment.
    found: HashMap<Id, Vec<u32>>,
    /// What was carried along games.
    carried: HashMap<CarryId, SlotColumn>,
    /// Columns of words of an earlier block. New ones would be taken from the system and given back block by block.
    spare: Vec<Vec<u64>>,
}

impl<'a> Context<'a> {
    /// Nothing yet, with the memory of an earlier block.
    pub(super) fn new(block: &'a Block, spare: Vec<Vec<u64>>) -> Context<'a> {
        Context { block, columns: Vec::new(), found: HashMap::new(), carried: HashMap::new(), spare }
    }

    /// Memory for the next block.
    pub(super) fn into_spare(self) -> Vec<Vec<u64>> {
        let carried = self.carried.into_values().filter_map(|column| match column {
            SlotColumn::Bits(_) => None,
            SlotColumn::Words(words) => Some(words),
        });
        self.spare.into_iter().chain(carried).collect()
    }

    /// An empty column for what a stage finds.
    pub(super) fn column(&mut self, what: Carried) -> SlotColumn {
        if what.of_masks() {
            SlotColumn::Bits(vec![0; self.block.segments()])
        } else {
            SlotColumn::Words(zeros(&mut self.spare, self.block))
        }
    }

    /// Computes those columns of a plan that no plan before had: plans that share a graph only ever add columns.
    pub(super) fn add_columns(&mut self, columns: &[Column]) {
        let more = columns.iter().skip(self.columns.len());
        self.columns.extend(more.map(|column| game_column(column, self.block)));
    }

    /// The columns of all plans so far.
    pub(super) fn columns(&self) -> &[GameColumn] {
        &self.columns
    }

    /// What some stages carry, in the order in which the programs after them number it.
    ///
    /// # Panics
    ///
    /// If one of them was not carried yet.
    pub(super) fn carried<'b>(&self, carries: impl IntoIterator<Item = &'b StageCarry>) -> Vec<&SlotColumn> {
        carries.into_iter().map(|carry| &self.carried[&carry.id]).collect()
    }

    /// Carries what was found for an earlier plan, and returns whether that is all that a stage is to carry.
    pub(super) fn carry_found(&mut self, carries: &[StageCarry]) -> bool {
        for carry in carries {
            if !self.carried.contains_key(&carry.id)
                && let Some(found) = self.found.get(&carry.word)
            {
                let words = || zeros(&mut self.spare, self.block);
                self.carried.insert(carry.id, carried_bits(found, carry, self.block, words));
            }
        }
        carries.iter().all(|carry| self.carried.contains_key(&carry.id))
    }

    /// Adds what a stage found, a column for each of its carries, and carries it along games.
    pub(super) fn add_found(&mut self, carries: &[StageCarry], found: Vec<SlotColumn>) {
        for (carry, found) in carries.iter().zip(found) {
            match found {
                SlotColumn::Bits(bits) => drop(self.found.insert(carry.word, bits)),
                SlotColumn::Words(words) => {
                    self.carried.insert(carry.id, carried_words(words, carry, self.block));
                }
            }
        }
        self.carry_found(carries);
    }
}

/// A column of words that are 0.
fn zeros(spare: &mut Vec<Vec<u64>>, block: &Block) -> Vec<u64> {
    let mut words = spare.pop().unwrap_or_default();
    words.clear();
    words.resize(block.slots(), 0);
    words
}
