//! What is known of a block beside its positions, computed once for all queries and outputs of a request.

use std::collections::HashMap;

use super::{
    Interrupt,
    carry::{SlotColumn, carried_bits, carried_words},
    columns::{GameColumn, game_column},
};
use crate::operations::{self, BlockGames, OperandSource};
use orbit_plan::{CarryId, ColumnOperand, Id, Made, Read, StageCarry, StageFound, TagColumn};
use orbit_reel::Block;

/// See the module. Columns and carried answers have the numbers that the plans of the request share.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) block: &'a Block,
    /// What the tags of games say.
    columns: Vec<GameColumn>,
    /// What stages found, as masks or as words.
    found: HashMap<(Id, bool), SlotColumn>,
    /// What was carried along games.
    carried: HashMap<CarryId, SlotColumn>,
    /// The moves and trees of the games.
    games: BlockGames<'a>,
    /// Columns of words of an earlier block. New ones would be taken from the system and given back block by block.
    spare: Vec<Vec<u64>>,
}

impl<'a> Context<'a> {
    /// Nothing yet, with the memory of an earlier block.
    pub(super) fn new(block: &'a Block, spare: Vec<Vec<u64>>, interrupt: Interrupt) -> Context<'a> {
        let (columns, found, carried) = (Vec::new(), HashMap::new(), HashMap::new());
        Context { block, columns, found, carried, games: BlockGames::new(block, interrupt), spare }
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
    pub(super) fn column(&mut self, is_mask: bool) -> SlotColumn {
        if is_mask {
            SlotColumn::Bits(vec![0; self.block.segments()])
        } else {
            SlotColumn::Words(zeros(&mut self.spare, self.block))
        }
    }

    /// Computes those columns of a plan that no plan before had: plans that share a graph only ever add columns.
    pub(super) fn add_columns(&mut self, columns: &[TagColumn]) {
        let more = columns.iter().skip(self.columns.len());
        self.columns.extend(more.map(|column| game_column(column, self.block)));
    }

    /// The switch that ends the evaluation.
    pub(super) fn interrupt(&self) -> &Interrupt {
        self.games.interrupt()
    }

    /// Tells whether a query has run into an error in one of the games, or was interrupted.
    pub(super) fn is_stopped(&self) -> bool {
        self.games.is_stopped()
    }

    /// The columns of all plans so far.
    pub(super) fn columns(&self) -> &[GameColumn] {
        &self.columns
    }

    /// What a program reads of what stages carry.
    ///
    /// # Panics
    ///
    /// If one of these was not carried yet.
    pub(super) fn carried(&self, reads: &[Read]) -> Vec<&SlotColumn> {
        reads.iter().map(|read| &self.carried[&read.id]).collect()
    }

    /// Makes what a stage is to carry, as far as what it is made of was found, and returns whether that is all.
    pub(super) fn carry_found(&mut self, carries: &[StageCarry]) -> bool {
        for carry in carries {
            if !self.carried.contains_key(&carry.id)
                && let Some(column) = self.make(carry)
            {
                self.carried.insert(carry.id, column);
            }
        }
        carries.iter().all(|carry| self.carried.contains_key(&carry.id))
    }

    /// Adds what a stage found, a column for each of its words, and carries it along games.
    pub(super) fn add_found(&mut self, stage: &[StageFound], carries: &[StageCarry], found: Vec<SlotColumn>) {
        for (word, found) in stage.iter().zip(found) {
            self.found.insert((word.word, word.is_mask), found);
        }
        self.carry_found(carries);
        // Masks are small, and other plans may ask for them.
        for word in stage.iter().filter(|word| !word.is_mask) {
            if let Some(SlotColumn::Words(words)) = self.found.remove(&(word.word, false)) {
                self.spare.push(words);
            }
        }
    }

    /// The result of an operation on columns, or anything if the evaluation is to end; nothing if one of them was not found yet.
    fn make(&mut self, carry: &StageCarry) -> Option<SlotColumn> {
        let operand = |operand: &ColumnOperand| {
            Some(match *operand {
                ColumnOperand::Constant(word) => OperandSource::Constant(word),
                ColumnOperand::Carried(id) => OperandSource::Column(self.carried.get(&id)?),
                ColumnOperand::Found(word, is_mask) => {
                    OperandSource::Column(self.found.get(&(word, is_mask))?)
                }
            })
        };
        let operands: Vec<OperandSource<'_>> = carry.operands.iter().map(operand).collect::<Option<_>>()?;
        if self.games.count(self.block.slots()) {
            return Some(self.column(carry.what.is_mask()));
        }
        let mut words = || zeros(&mut self.spare, self.block);
        Some(match (&carry.what, &operands[..]) {
            (Made::Along { what, back }, [of]) if what.of_masks() => {
                carried_bits(&of.bits(self.block), (*what, *back), self.block, words)
            }
            (Made::Along { back, .. }, [of]) => {
                let mut all = words();
                of.copy_words(&mut all);
                carried_words(all, *back, self.block)
            }
            (Made::Along { .. }, _) => unreachable!("one word is gathered"),
            (Made::Game(op), operands) => operations::make(op, operands, &self.games, words),
        })
    }
}

/// A column of words that are 0.
fn zeros(spare: &mut Vec<Vec<u64>>, block: &Block) -> Vec<u64> {
    let mut words = spare.pop().unwrap_or_default();
    words.clear();
    words.resize(block.slots(), 0);
    words
}
