//! The data of a block other than its positions: columns of tag values and results of stages (parts of a plan that run
//! before the rest). These data are computed once and shared by all queries and outputs of a request. Tag columns have
//! one entry for each game. Columns that were propagated along games from the results of stages have one entry for each
//! position.

use std::collections::HashMap;

use super::{
    BlockRequest, Interrupt,
    carry::{SlotColumn, carried_bits, carried_words},
    columns::{GameColumn, game_column},
};
use crate::operations::{self, BlockGames, BlockRuns, OperandSource};
use orbit_plan::{CarryId, ColumnOperand, Id, Made, Read, StageCarry, StageFound, TagColumn};
use orbit_reel::Block;

/// The columns and stage results of one block.
///
/// A *column* holds one value for each game or for each slot (position). A *stage* is a part of a plan that runs over
/// the whole block before the rest of the plan. All plans of a request number their columns and results together, so
/// they can share them.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) block: &'a Block,
    /// The number of the database's last game, if it is known.
    last_game: Option<u32>,
    /// The columns with one value for each game, computed from the games' tags.
    columns: Vec<GameColumn>,
    /// The results of stages (parts of a plan that run before the rest). The key of a result consists of its node in
    /// the plan's graph and a flag that is true if the result is a mask.
    found: HashMap<(Id, bool), SlotColumn>,
    /// The columns that were propagated along games from results of stages (see the module `carry`).
    carried: HashMap<CarryId, SlotColumn>,
    /// The moves and line trees of the block's games.
    games: BlockGames<'a>,
    /// Buffers of an earlier block's word columns. They are reused, which saves allocating new ones for each block.
    spare: Vec<Vec<u64>>,
}

impl<'a> Context<'a> {
    /// Creates a context without columns or results. It reuses `spare`, the buffers of an earlier block.
    pub(super) fn new(block: &'a Block, spare: Vec<Vec<u64>>, request: &BlockRequest<'_>) -> Context<'a> {
        let (columns, found, carried) = (Vec::new(), HashMap::new(), HashMap::new());
        let (interrupt, last_game) = (request.switch(), request.last_game);
        Context { block, last_game, columns, found, carried, games: BlockGames::new(block, interrupt), spare }
    }

    /// Sets the values that queries keep from game to game.
    pub(super) fn with_runs(self, runs: BlockRuns) -> Context<'a> {
        Context { games: self.games.with_runs(runs), ..self }
    }

    /// Returns the values that queries keep from game to game.
    pub(super) fn runs(&self) -> &BlockRuns {
        self.games.runs()
    }

    /// Returns the buffers of the word columns, for reuse by the context of the next block.
    pub(super) fn into_spare(self) -> Vec<Vec<u64>> {
        let carried = self.carried.into_values().filter_map(|column| match column {
            SlotColumn::Bits(_) => None,
            SlotColumn::Words(words) => Some(words),
        });
        self.spare.into_iter().chain(carried).collect()
    }

    /// Returns an empty column for the results of a stage: one bit for each slot (position) if `is_mask`, otherwise one word for
    /// each slot.
    pub(super) fn column(&mut self, is_mask: bool) -> SlotColumn {
        if is_mask {
            SlotColumn::Bits(vec![0; self.block.segments()])
        } else {
            SlotColumn::Words(zeros(&mut self.spare, self.block))
        }
    }

    /// Computes the per-game columns in `columns` that are not computed yet. Plans that share a graph append their columns to
    /// one list, so the missing columns are at the end of `columns`.
    pub(super) fn add_columns(&mut self, columns: &[TagColumn]) {
        let more = columns.iter().skip(self.columns.len());
        self.columns.extend(more.map(|column| game_column(column, self.block, self.last_game)));
    }

    pub(super) fn interrupt(&self) -> &Interrupt {
        self.games.interrupt()
    }

    /// Returns true if the evaluation must end: a query has run into an error in one of the games, or the interrupt was
    /// set.
    pub(super) fn is_stopped(&self) -> bool {
        self.games.is_stopped()
    }

    /// Returns the per-game columns that have been added so far for all plans.
    pub(super) fn columns(&self) -> &[GameColumn] {
        &self.columns
    }

    /// Returns the columns listed in `reads`. They were propagated along games from the results of stages (parts of a
    /// plan that run before the rest).
    ///
    /// # Panics
    ///
    /// Panics if one of these columns has not been computed yet.
    pub(super) fn carried(&self, reads: &[Read]) -> Vec<&SlotColumn> {
        reads.iter().map(|read| &self.carried[&read.id]).collect()
    }

    /// Computes the columns in `carries` whose operands are already available. Returns true if all columns in `carries` are now
    /// computed.
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

    /// Adds `found`, the results of a stage (one column for each word of `stage`), and propagates them along games to
    /// the columns `carries` that depend on them.
    pub(super) fn add_found(&mut self, stage: &[StageFound], carries: &[StageCarry], found: Vec<SlotColumn>) {
        for (word, found) in stage.iter().zip(found) {
            self.found.insert((word.word, word.is_mask), found);
        }
        self.carry_found(carries);
        // Masks are kept, because they are small and other plans may read them. Word columns are large, so their memory
        // is reused.
        for word in stage.iter().filter(|word| !word.is_mask) {
            if let Some(SlotColumn::Words(words)) = self.found.remove(&(word.word, false)) {
                self.spare.push(words);
            }
        }
    }

    /// Computes a propagated column from other columns. Returns `None` if an operand is not available yet. If the evaluation was
    /// interrupted, the result is an empty column.
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

/// Returns a column of zero words. The last buffer in `spare` is reused if it is large enough.
fn zeros(spare: &mut Vec<Vec<u64>>, block: &Block) -> Vec<u64> {
    match spare.pop() {
        Some(mut words) if words.capacity() >= block.slots() => {
            words.clear();
            words.resize(block.slots(), 0);
            words
        }
        _ => vec![0; block.slots()],
    }
}
