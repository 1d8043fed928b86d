//! Computes the comments and sort values of a query in the games that another engine has found.

use super::{bulk::each_game, games::GameAnswers};
use crate::{
    Answers, Commentary, EngineError, GameAnswer, GameCommentary, Interrupt, Wants,
    alternatives::Alternatives,
};
use orbit_query::TypedQuery;
use orbit_reel::{Block, GameRow};
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
    /// The search for the alternative (operand of an outermost `or`) that is evaluated at each hit. It is an
    /// alternative of `left` or, if `left` is `None`, of the whole query.
    alternatives: Option<Alternatives>,
    /// True if the query's only output is a mark at each hit.
    marks_alone: bool,
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
        let (at_hits, marks_alone) = (query.writes_at_hits(), query.writes_marks_alone());
        let left = query.written_at_hits().filter(|_| at_hits);
        let left = left.map(|body| TypedQuery { body, ..query.clone() });
        let at_hit = (at_hits && !marks_alone).then(|| left.as_ref().unwrap_or(query));
        let alternatives = at_hit.and_then(Alternatives::new);
        let left = left.as_ref().map(Reference::new).transpose()?;
        let (query, reference) = (query.clone(), Reference::new(query)?);
        Ok(Commentator {
            query,
            reference,
            wanted,
            at_hits,
            left,
            alternatives,
            marks_alone,
            last_game,
            prints,
        })
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
        if has_all && self.marks_alone {
            return Ok((Some(self.marks(block, answers)), Vec::new()));
        }
        let hits = (self.at_hits && has_all).then_some(&answers.hits);
        let reference = match &self.left {
            Some(left) if hits.is_some() => left,
            _ => &self.reference,
        };
        let all = GameAnswers::new(block, &self.query, reference, wanted, self.last_game, interrupt.clone());
        let first = |hits| {
            self.alternatives
                .as_ref()
                .map(|all| all.first(block, hits, (self.last_game, interrupt)))
                .transpose()
        };
        let at_hits = hits.map(|hits| Ok::<_, EngineError>((hits, first(hits)?))).transpose()?;
        let mut all = all.at(at_hits);
        let mut run = RunState::new(&self.query);
        let is_wanted = |index: usize| self.prints || is_found(index);
        each_game(block, is_wanted, |slots, game, spots| all.add(slots, game, spots, &mut run))
            .map_err(|fault| fault.of_query(number, interrupt))?;
        let (mut commentary, games) = all.into_told();
        if let Some(commentary) = &mut commentary {
            commentary.games.retain(|game| is_found(game.index as usize));
        }
        Ok((commentary, games))
    }

    /// Returns the comments of a query that only marks its hits.
    fn marks(&self, block: &Block, answers: &Answers) -> Commentary {
        let mark = self.query.header.mark();
        let marked = |slot: usize, first: usize| Some(((slot - first) as u32, mark?.into()));
        let of_game = |game: GameRow<'_>| GameCommentary {
            index: game.index() as u32,
            matches: answers.hits.count_in(game.slots()) as u32,
            comments: answers
                .hits
                .slots(game.slots())
                .filter_map(|slot| marked(slot, game.first_slot()))
                .collect(),
            ..GameCommentary::default()
        };
        let found = block.games().filter(|game| answers.finds(game));
        Commentary { games: found.map(of_game).collect(), messages: Vec::new() }
    }
}
