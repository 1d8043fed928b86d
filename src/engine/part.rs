//! Some games of a block as a player sees them, and what is answered of these, put where they stand in the whole block.
//!
//! A query is asked from a player's side. Engines know nothing of that: where he has Black they get the game with the sides
//! in each other's place, so that all of them answer the same. Squares are turned back, all else is as the player sees it.

use std::sync::Arc;

use super::{Answers, CopyHits, FindSpan, GameAnswer, Hits, Span, Wants};
use crate::board::Color;
use crate::query::Type;
use crate::reel::{Block, GameRow};

/// See the module.
#[derive(Debug)]
pub struct Part<'a> {
    whole: &'a Block,
    block: Block,
    /// For each game of the part its place in the whole block, and whether its sides changed places.
    games: Vec<(usize, bool)>,
}

impl<'a> Part<'a> {
    /// The games of which a side is given.
    pub fn new(whole: &'a Block, sides: &[Option<Color>]) -> Part<'a> {
        let games = sides.iter().enumerate();
        let games = games.filter_map(|(index, side)| side.map(|side| (index, side == Color::Black)));
        Part { whole, block: whole.seen_by(sides), games: games.collect() }
    }

    /// The games as engines get them.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// What is answered where no game counts; of a query of type `ty` whose outermost transform has so many copies.
    pub fn nothing(&self, outputs: Wants, ty: Type, copies: usize) -> Answers {
        let mut hits = Hits::new(self.whole);
        hits.make_room(self.whole, outputs, ty);
        let copies = outputs.detail().map(|detail| CopyHits::new(copies, detail, &hits));
        Answers::of(hits, copies)
    }

    /// What was answered of the part, in the whole block. Spans are told by [`Part::spans`].
    pub fn put_back(&self, answers: Answers) -> Answers {
        let places =
            self.games.iter().map(|&(game, is_swapped)| (self.whole.game(game).first_slot(), is_swapped));
        let hits = answers.hits.put_back(&self.block, self.whole, places);
        let copies = answers.copies.map(|copies| copies.at(&hits));
        let games = answers.games.map(|told| {
            let mut all = vec![GameAnswer::default(); self.whole.games_len()];
            told.into_iter().zip(&self.games).for_each(|(told, &(index, _))| all[index] = told);
            all
        });
        let commentary = answers.commentary.map(|mut commentary| {
            commentary
                .games
                .iter_mut()
                .for_each(|game| game.index = self.games[game.index as usize].0 as u32);
            commentary
        });
        Answers { hits, copies, games, commentary, spans: None }
    }

    /// Tells of what hits of the whole block consist by what tells that of the part, whose `answers` these are.
    pub fn spans<'s>(&'s self, inner: Box<dyn FindSpan + 's>, answers: &Answers) -> Box<dyn FindSpan + 's> {
        let copies = answers.copies.clone().filter(CopyHits::tells_copies);
        let hits = answers.hits.clone();
        Box::new(PartSpans { part: self, inner, hits, copies })
    }
}

#[derive(Debug)]
struct PartSpans<'a> {
    part: &'a Part<'a>,
    inner: Box<dyn FindSpan + 'a>,
    hits: Hits,
    copies: Option<CopyHits>,
}

impl FindSpan for PartSpans<'_> {
    fn span(&self, _: (&Hits, Option<&CopyHits>), game: &GameRow, node: u32) -> Option<Arc<Span>> {
        let index = self.part.games.binary_search_by_key(&game.index(), |game| game.0).ok()?;
        self.inner.span((&self.hits, self.copies.as_ref()), &self.part.block.game(index), node)
    }
}
