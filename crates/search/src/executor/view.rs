//! The part of a block (a group of whole games) on which queries are evaluated: the whole block, or a player's games seen from the
//! player's side.
//!
//! A query describes the player as White. If the player has Black in a game, engines evaluate the game with colours swapped and
//! need no special code for players. The answers are then mapped back to slots (indices of positions) in the whole block. Squares
//! are flipped back; everything else stays as the player sees it.

use std::sync::Arc;

use crate::choice::Choice;
use crate::executor::Executor;
use orbit_core::board::Color;
use orbit_engine::{Answers, CopyHits, FindSpan, GameAnswer, Hits, MatchSpan, Wants};
use orbit_reel::{Block, GameRow};

/// A block (a group of whole games) and the part of it that engines evaluate.
#[derive(Debug)]
pub(super) struct BlockView<'a> {
    pub(super) whole: &'a Arc<Block>,
    /// For each game of the block, true if it is selected; `None` if all games are selected.
    pub(super) games: Option<Vec<bool>>,
    /// For each game of the block, the selected player's side, or `None` if the game is not selected. `None` for the block if no
    /// player is selected.
    pub(super) sides: Option<Vec<Option<Color>>>,
    /// The player's games in the block, seen from the player's side, or `None` if no player is selected.
    part: Option<Block>,
    /// For each game in `part`, its index in the whole block and whether its colours were swapped.
    places: Vec<(usize, bool)>,
}

impl<'a> BlockView<'a> {
    pub(super) fn new(whole: &'a Arc<Block>, choice: &Choice) -> BlockView<'a> {
        let sides = choice.sides(whole);
        let games = match &sides {
            Some(sides) => Some(sides.iter().map(Option::is_some).collect()),
            None => choice.games(whole),
        };
        let part = sides.as_deref().map(|sides| whole.seen_by(sides));
        let places = sides.iter().flatten().enumerate();
        let places = places.filter_map(|(index, side)| side.map(|side| (index, side == Color::Black)));
        BlockView { whole, games, places: places.collect(), sides, part }
    }

    /// Returns the block that engines evaluate.
    pub(super) fn block(&self) -> &Block {
        self.part.as_ref().unwrap_or(self.whole)
    }

    /// For each game in [`block`](Self::block), returns true if it is selected. Returns `None` if all games are selected.
    pub(super) fn games_asked(&self) -> Option<&[bool]> {
        self.games.as_deref().filter(|_| self.part.is_none())
    }

    /// Returns whether none of the player's games is in the block.
    pub(super) fn is_empty(&self) -> bool {
        self.part.is_some() && self.places.is_empty()
    }

    /// Returns whether no game in the block is selected.
    pub(super) fn selects_nothing(&self) -> bool {
        self.games.as_ref().is_some_and(|games| !games.contains(&true))
    }

    /// Returns the empty answers of each query for a block without selected games.
    pub(super) fn nothing(&self, scan: &Executor, outputs: &[Wants]) -> Vec<Answers> {
        let nothing = scan.queries().iter().zip(outputs).map(|(prepared, outputs)| {
            let mut hits = Hits::new(self.whole);
            hits.set_kind(*outputs, prepared.query.body.ty());
            let copies =
                outputs.detail().map(|detail| CopyHits::new(prepared.planner.copies(), detail, &hits));
            Answers::new(hits, copies)
        });
        nothing.collect()
    }

    /// Maps the answers of a query from slots in the evaluated part to slots in the whole block. A slot is the index of a position
    /// in its block. `late` finds the spans of hits (the matched moves and positions).
    pub(super) fn put_back<'s>(&'s self, answers: &mut Answers, late: &mut Option<Box<dyn FindSpan + 's>>) {
        let Some(part) = self.part.as_ref().filter(|_| !self.is_empty()) else { return };
        let places =
            self.places.iter().map(|&(game, is_swapped)| (self.whole.game(game).first_slot(), is_swapped));
        let hits = answers.hits.put_back(part, self.whole, places);
        let hits_in_part = std::mem::replace(&mut answers.hits, hits);
        *late = late.take().map(|inner| {
            let answers = Answers::new(hits_in_part, answers.copies.clone());
            Box::new(PartSpans { view: self, inner, answers }) as Box<dyn FindSpan>
        });
        let index = |index: u32| self.places[index as usize].0 as u32;
        answers.copies = answers.copies.take().map(|copies| copies.at(&answers.hits));
        answers.games = answers.games.take().map(|told| {
            let mut all = vec![GameAnswer::default(); self.whole.games_len()];
            told.into_iter().zip(&self.places).for_each(|(told, &(index, _))| all[index] = told);
            all
        });
        let told = answers.commentary.iter_mut().flat_map(|commentary| &mut commentary.games);
        told.for_each(|game| game.index = index(game.index));
        answers.spans.iter_mut().for_each(|spans| spans.put_back(index));
    }
}

#[derive(Debug)]
struct PartSpans<'a> {
    view: &'a BlockView<'a>,
    inner: Box<dyn FindSpan + 'a>,
    /// The answers for the searched part of the block, before they are mapped to the whole block.
    answers: Answers,
}

impl FindSpan for PartSpans<'_> {
    fn span(&self, _: &Answers, game: &GameRow, node: u32) -> Option<Arc<MatchSpan>> {
        let index = self.view.places.binary_search_by_key(&game.index(), |place| place.0).ok()?;
        self.inner.span(&self.answers, &self.view.block().game(index), node)
    }
}
