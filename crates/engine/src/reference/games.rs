//! Collects the answers that the reference engine gives to a query, game by game, for the games of a block.

use std::sync::Arc;

use crate::{
    Answer, Answers, Commentary, CopyDetail, CopyHits, EngineError, GameAnswer, GameCommentary, HitValues,
    Hits, Interrupt, Rank, Spans, Values, Wants, comments::KnownComments, place,
};
use orbit_query::{Type, TypedQuery, tree::Comments};
use orbit_reel::{Block, GameRow, SEGMENT_SLOTS, replay::Slot};
use orbit_reference::{
    Asked, FoundValue, GameFault, GameFound, Noted, PositionAnswer, Reference, RunState, Spot, WantedFacts,
};

/// A collector of a query's answers on one block. The answers are added game by game.
pub(super) struct GameAnswers<'a> {
    query: &'a TypedQuery,
    reference: &'a Reference,
    wanted: WantedFacts,
    /// The positions at which the query is evaluated; `None` for all positions. If the second field is present, only the
    /// alternative that it names is evaluated at each of these positions.
    only: Option<(&'a Hits, Option<&'a KnownComments<'a>>)>,
    interrupt: Interrupt,
    detail: Option<CopyDetail>,
    hits: Hits,
    /// The slot of each hit, with the copies (transformed patterns) that match there. Empty if copies are not
    /// requested.
    copies: Vec<(usize, Vec<u32>)>,
    games: Vec<GameAnswer>,
    commentary: Option<Commentary>,
    spans: Option<Spans>,
}

/// An error that ended the evaluation of a query, with the game and the place in which it occurred.
pub(super) struct QueryFault {
    fault: GameFault,
    game: u32,
    place: String,
}

impl QueryFault {
    pub(super) fn new(fault: GameFault, game: &GameRow) -> QueryFault {
        let place = place(game, game.first_slot() + fault.at);
        QueryFault { fault, game: game.number(), place }
    }

    pub(super) fn of_query(self, query: usize, interrupt: &Interrupt) -> EngineError {
        if interrupt.is_set() {
            return EngineError::Interrupted;
        }
        let QueryFault { fault, game, place } = self;
        EngineError::Query { query, game, place, diagnostic: Box::new(fault.diagnostic) }
    }
}

impl<'a> GameAnswers<'a> {
    pub(super) fn new(
        block: &Block,
        query: &'a TypedQuery,
        reference: &'a Reference,
        outputs: Wants,
        last_game: Option<u32>,
        interrupt: Interrupt,
    ) -> GameAnswers<'a> {
        let (mut hits, ty) = (Hits::new(block), query.body.ty());
        hits.set_kind(outputs, ty);
        if ty == Type::Str && outputs.contains(Wants::VALUES) {
            hits.values = Values::Texts(HitValues::default());
        }
        GameAnswers {
            query,
            reference,
            wanted: WantedFacts {
                copies: outputs.detail().is_some(),
                spans: outputs.contains(Wants::SPANS),
                last_game,
            },
            only: None,
            interrupt,
            detail: outputs.detail().map(CopyDetail::by_copies),
            hits,
            copies: Vec::new(),
            games: vec![GameAnswer::default(); block.games_len()],
            commentary: outputs.contains(Wants::COMMENTARY).then(Commentary::default),
            spans: outputs.contains(Wants::SPANS).then(Spans::default),
        }
    }

    /// Evaluates the query on the next game and adds its answers.
    pub(super) fn add(
        &mut self,
        slots: &[Slot],
        game: &GameRow,
        spots: &[Spot],
        run: &mut RunState,
    ) -> Result<(), Box<QueryFault>> {
        let asked = |at: usize| self.asked(slots[at].slot);
        let found = self.reference.game(spots, run, (self.wanted, asked), &self.interrupt);
        let mut found = found.map_err(|fault| Box::new(QueryFault::new(fault, game)))?;
        for (slot, found) in slots.iter().map(|slot| slot.slot).zip(&found.values) {
            set(&mut self.hits, slot, found.answer(), found.hit);
            if !found.hit {
                continue;
            }
            if let (Values::Texts(out), FoundValue::Str(text)) = (&mut self.hits.values, &found.value) {
                out.push(slot, text.clone().map(Vec::into_boxed_slice));
            }
            if self.wanted.copies {
                self.copies.push((slot, found.copies.clone()));
            }
        }
        if let Some(spans) = &mut self.spans {
            let span =
                |(node, found): (u32, &mut PositionAnswer)| Some((node, Some(Arc::new(found.span.take()?))));
            spans.push(game.index(), (0..).zip(&mut found.values).filter_map(span).collect());
        }
        let mut rank = Rank::default();
        for (sort, value) in self.query.sorts.iter().zip(&found.sorts) {
            rank.push(value.as_ref(), sort.smallest);
        }
        self.games[game.index()] = GameAnswer { rank, ..GameAnswer::from_count(found.match_count) };
        self.comment(game, found);
        Ok(())
    }

    /// Returns the part of the query that is evaluated at a slot (position).
    fn asked(&self, slot: usize) -> Asked {
        match &self.only {
            None => Asked::Whole,
            Some((hits, _)) if !hits.contains(slot) => Asked::Nothing,
            Some((_, None)) => Asked::Whole,
            Some((_, Some(known))) => Asked::Alternative(known.alternative(slot)),
        }
    }

    /// Adds the output of the query for a game. If the game has no match, the output is added only if the query's
    /// header accepts games without a match.
    fn comment(&mut self, game: &GameRow, found: GameFound) {
        let Some(commentary) = &mut self.commentary else { return };
        commentary.messages.extend(found.messages);
        let header = &self.query.header;
        if found.match_count == 0 && header.match_count.is_none_or(|(least, _)| least > 0) {
            return;
        }
        let comments = found.notes.into_iter().filter_map(|note| match (note.what, header.comments) {
            (Noted::Matched, _) => header.mark().map(|mark| (note.at as u32, mark.into())),
            (Noted::Asked(text), Comments::All | Comments::Quiet) => Some((note.at as u32, text)),
            (Noted::Automatic(text), Comments::All) => Some((note.at as u32, text)),
            _ => None,
        });
        commentary.games.push(GameCommentary {
            index: game.index() as u32,
            matches: found.match_count,
            comments: comments.collect(),
            sorts: found.sorts,
            sorts_at: found.sorts_at.into_iter().map(|node| node as u32).collect(),
            tags: found.tags,
            removed: found.removed.into_iter().map(|node| node as u32).collect(),
        });
    }

    /// Limits the evaluation to the given positions and, if they are known, to the alternatives that match there.
    #[must_use]
    pub(super) fn at(self, only: Option<(&'a Hits, Option<&'a KnownComments<'a>>)>) -> GameAnswers<'a> {
        GameAnswers { only, ..self }
    }

    /// Returns the query's output, if it was requested, and the answer for each game.
    pub(super) fn into_told(self) -> (Option<Commentary>, Vec<GameAnswer>) {
        (self.commentary, self.games)
    }

    /// Calls `select`, which removes unwanted hits, and then returns all answers.
    pub(super) fn finish(mut self, select: impl FnOnce(&mut Hits)) -> Answers {
        select(&mut self.hits);
        let copies = self.detail.map(|detail| {
            let mut told = CopyHits::new(self.reference.copies(), detail, &self.hits);
            let kept = self.copies.into_iter().filter(|(slot, _)| self.hits.contains(*slot));
            kept.for_each(|(_, copies)| told.push(copies.into_iter()));
            told
        });
        Answers {
            hits: self.hits,
            copies,
            games: Some(self.games),
            commentary: self.commentary,
            spans: self.spans,
        }
    }
}

/// Records the answer of a query at a slot (position): whether it is a hit and, for a hit, its value.
pub(super) fn set(hits: &mut Hits, slot: usize, answer: Answer, is_hit: bool) {
    hits.bits[slot / SEGMENT_SLOTS] |= u32::from(is_hit) << (slot % SEGMENT_SLOTS);
    match (&mut hits.values, answer) {
        _ if !is_hit => {}
        (Values::Sets(out), Answer::Set(squares)) => out.push(slot, squares.0),
        (Values::Numbers(out), Answer::Num(value)) => out.push(slot, value.unwrap_or(0)),
        _ => {}
    }
}
