//! Computes the comments and sort values of a query in the games that another engine has found.

use super::{bulk::each_game, games::GameAnswers};
use crate::{
    Answers, Commentary, EngineError, GameAnswer, GameCommentary, Interrupt, Wants,
    comments::{CommentSearch, KnownComments},
};
use orbit_query::TypedQuery;
use orbit_reel::Block;
use orbit_reference::{Reference, ReferenceError, RunState};

/// An evaluator of one query in the games that another engine has found. It computes the comments and sort values that
/// the other engine cannot compute. The query must treat each game independently.
#[derive(Debug)]
pub struct Commentator {
    query: TypedQuery,
    reference: Reference,
    wanted: Wants,
    /// True if the query only needs to be evaluated at its hits.
    at_hits: bool,
    /// The part of the query that must be evaluated at hits; `None` if that is the whole query.
    left: Option<Reference>,
    /// The search for the comments that are known without an evaluation, and for the alternatives (operands of an
    /// outermost `or`) that are evaluated for the other comments. They are alternatives of `left` or, if `left` is `None`, of
    /// the whole query.
    comments: Option<CommentSearch>,
    /// The number of the database's last game, if it is known.
    last_game: Option<u32>,
    /// True if the query prints messages and they are requested. The query must then be evaluated on all games.
    prints: bool,
}

impl Commentator {
    /// Prepares a query for which [`Wants::COMMENTARY`] or [`Wants::RANKS`] is requested. `last_game` is the number of the
    /// database's last game, if it is known.
    ///
    /// # Errors
    ///
    /// Fails if the query's transformed patterns cannot be generated; see [`ReferenceError`].
    pub fn new(
        query: &TypedQuery,
        wanted: Wants,
        last_game: Option<u32>,
    ) -> Result<Commentator, ReferenceError> {
        let prints = wanted.contains(Wants::COMMENTARY) && query.prints_messages();
        let at_hits = query.writes_at_hits();
        let left = query.written_at_hits().filter(|_| at_hits);
        let left = left.map(|body| TypedQuery { body, ..query.clone() });
        let at_hit = at_hits.then(|| left.as_ref().unwrap_or(query));
        let comments = at_hit.and_then(CommentSearch::new);
        let left = left.as_ref().map(Reference::new).transpose()?;
        let (query, reference) = (query.clone(), Reference::new(query)?);
        Ok(Commentator { query, reference, wanted, at_hits, left, comments, last_game, prints })
    }

    /// Returns true if ranks are requested and the query has a `sort` filter.
    pub fn sorts(&self) -> bool {
        self.wanted.contains(Wants::RANKS) && !self.query.sorts.is_empty()
    }

    /// Returns two results for the games of a block that the query finds: the query's output, if it is requested, and
    /// the query's answers. `number` is the number of the query in the search. `has_all` is true if `answers` contains
    /// all hits of these games.
    ///
    /// # Errors
    ///
    /// Fails if the query runs into an error in a game.
    pub fn write(
        &self,
        block: &Block,
        number: usize,
        (answers, has_all): (&Answers, bool),
        interrupt: &Interrupt,
    ) -> Result<(Option<Commentary>, Vec<GameAnswer>), EngineError> {
        let wanted = Wants::COMMENTARY.when(self.wanted.contains(Wants::COMMENTARY));
        let is_found = |index: usize| answers.finds(&block.game(index));
        let hits = (self.at_hits && has_all).then_some(&answers.hits);
        let reference = match &self.left {
            Some(left) if hits.is_some() => left,
            _ => &self.reference,
        };
        let known = hits.zip(self.comments.as_ref());
        let known = known.map(|(hits, comments)| comments.at(block, hits, (self.last_game, interrupt)));
        let known = known.transpose()?;
        // An evaluated filter may write at the position of another hit, so a game is evaluated as a whole or not at all.
        let is_known = |index: usize| {
            let mut slots = answers.hits.slots(block.game(index).slots());
            known.as_ref().is_some_and(|known| slots.all(|slot| known.is_known(slot)))
        };
        let all = GameAnswers::new(block, &self.query, reference, wanted, self.last_game, interrupt.clone());
        let mut all = all.at(hits.map(|hits| (hits, known.as_ref())));
        let mut run = RunState::new(&self.query);
        let is_wanted = |index: usize| self.prints || is_found(index) && !is_known(index);
        each_game(block, is_wanted, |slots, game, spots| all.add(slots, game, spots, &mut run))
            .map_err(|fault| fault.of_query(number, interrupt))?;
        let (mut commentary, games) = all.into_told();
        if let Some(commentary) = &mut commentary {
            commentary.games.retain(|game| is_found(game.index as usize));
            if let Some(known) = &known {
                self.add_known(block, answers, known, commentary);
            }
        }
        Ok((commentary, games))
    }

    /// Adds the output for the found games whose comments are all known.
    fn add_known(
        &self,
        block: &Block,
        answers: &Answers,
        known: &KnownComments<'_>,
        commentary: &mut Commentary,
    ) {
        let mark = self.query.header.mark();
        let mut evaluated = std::mem::take(&mut commentary.games).into_iter().peekable();
        for game in block.games().filter(|game| answers.finds(game)) {
            let index = game.index() as u32;
            if let Some(told) = evaluated.next_if(|told| told.index == index) {
                commentary.games.push(told);
                continue;
            }
            let matches = answers.hits.count_in(game.slots()) as u32;
            let mut told = GameCommentary { index, matches, ..GameCommentary::default() };
            for slot in answers.hits.slots(game.slots()) {
                let node = (slot - game.first_slot()) as u32;
                known.write(slot, &mut |text| told.comments.push((node, text.to_vec())));
                told.comments.extend(mark.map(|mark| (node, mark.into())));
            }
            commentary.games.push(told);
        }
    }
}
