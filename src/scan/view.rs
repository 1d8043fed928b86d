//! A block as queries are asked of it: whole, or the games of a player from his side.

use crate::board::Color;
use crate::choice::Choice;
use crate::engine::part::Part;
use crate::engine::{Answers, FindSpan, Wants};
use crate::reel::Block;
use crate::scan::Scan;

/// See the module.
pub(super) struct View<'a> {
    pub(super) whole: &'a Block,
    /// Which games count; `None` if all do.
    pub(super) games: Option<Vec<bool>>,
    /// The side of the player in each game that counts; `None` without a player.
    pub(super) sides: Option<Vec<Option<Color>>>,
    part: Option<Part<'a>>,
}

/// What tells of what the hits of each query consist, where that is wanted.
type AllSpans<'a> = Vec<Option<Box<dyn FindSpan + 'a>>>;

impl<'a> View<'a> {
    pub(super) fn new(whole: &'a Block, choice: &Choice) -> View<'a> {
        let sides = choice.sides(whole);
        let games = match &sides {
            Some(sides) => Some(sides.iter().map(Option::is_some).collect()),
            None => choice.games(whole),
        };
        let part = sides.as_deref().map(|sides| Part::new(whole, sides));
        View { whole, games, sides, part }
    }

    /// The block that engines get.
    pub(super) fn block(&self) -> &Block {
        self.part.as_ref().map_or(self.whole, Part::block)
    }

    /// Which of its games count; `None` if all do.
    pub(super) fn games_asked(&self) -> Option<&[bool]> {
        self.games.as_deref().filter(|_| self.part.is_none())
    }

    /// Whether the player has no game in the block.
    pub(super) fn is_empty(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.block().games_len() == 0)
    }

    /// What each query answers of no game.
    pub(super) fn nothing(&self, scan: &Scan, outputs: &[Wants]) -> Vec<Answers> {
        let Some(part) = &self.part else { return Vec::new() };
        let queries = scan.queries().iter().zip(outputs);
        let nothing = queries.map(|(prepared, outputs)| {
            part.nothing(*outputs, prepared.query.body.ty(), prepared.planner.copies())
        });
        nothing.collect()
    }

    /// What was answered of the block that engines got, in the whole block.
    pub(super) fn put_back(&self, answers: Answers) -> Answers {
        match &self.part {
            Some(part) if !self.is_empty() => part.put_back(answers),
            _ => answers,
        }
    }

    /// What tells of what hits of the whole block consist; `answers` are those of the block that engines got.
    pub(super) fn spans<'s>(&'s self, spans: AllSpans<'s>, answers: &[Answers]) -> AllSpans<'s> {
        let Some(part) = &self.part else { return spans };
        let of_query =
            |(spans, answers): (Option<_>, &Answers)| spans.map(|spans| part.spans(spans, answers));
        spans.into_iter().zip(answers).map(of_query).collect()
    }
}
