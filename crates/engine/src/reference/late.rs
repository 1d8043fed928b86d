//! Finds the spans of hits (matches) that another engine has found. A *span* is the list of positions and moves that
//! make up a hit.
//!
//! A game is evaluated when the span of one of its hits is first requested. If positions can be evaluated
//! independently, only the hits up to the requested one are evaluated, and about as many after it, so that a caller can
//! request one span after the other. At each hit, the copies of a transform are evaluated only up to the first that
//! matches.

use std::sync::{Arc, Mutex, OnceLock};

use super::games::QueryFault;
use crate::{
    Answers, EngineError, FindSpan, Interrupt, MatchSpan,
    spans::{GameSpans, of_hit},
};
use orbit_core::sync::lock;
use orbit_query::TypedQuery;
use orbit_reel::GameRow;
use orbit_reference::{Asked, GameFault, Reference, ReferenceError, RunState, Spot, WantedFacts};

/// A span finder for a query's hits. The query must treat each game independently.
#[derive(Debug)]
pub struct SpanFinder {
    query: TypedQuery,
    reference: Reference,
    judges_apart: bool,
    /// The number of the database's last game, if it is known.
    last_game: Option<u32>,
}

/// A span finder for a query's hits in one block.
#[derive(Debug)]
pub struct LateSpans<'a> {
    finder: &'a SpanFinder,
    /// The number of the query in the search.
    number: usize,
    /// Receives the error if the query runs into one.
    fault: &'a OnceLock<EngineError>,
    interrupt: &'a Interrupt,
    /// The game whose spans were requested last: its index in the block, and the spans of its first hits.
    known: Mutex<Option<(usize, GameSpans)>>,
}

/// A hit: the number of its position in the game and, if it is known, the lowest copy (transformed pattern) that
/// matches.
type LateHit = (u32, Option<usize>);

impl SpanFinder {
    /// Prepares a query by generating its transformed patterns. `last_game` is the number of the database's last game, if it is
    /// known.
    ///
    /// # Errors
    ///
    /// Fails if the patterns cannot be generated; see [`ReferenceError`].
    pub fn new(query: &TypedQuery, last_game: Option<u32>) -> Result<SpanFinder, ReferenceError> {
        let reference = Reference::new(query)?;
        // The number of the last game is available only to an evaluation of a whole game.
        let judges_apart = query.judges_apart() && !query.asks_for_last_game();
        Ok(SpanFinder { query: query.clone(), reference, judges_apart, last_game })
    }

    /// Creates a span finder for one block. `number` is the number of the query in the search. `fault` receives the
    /// error if the query runs into one.
    pub fn late<'a>(
        &'a self,
        number: usize,
        fault: &'a OnceLock<EngineError>,
        interrupt: &'a Interrupt,
    ) -> LateSpans<'a> {
        LateSpans { finder: self, number, fault, interrupt, known: Mutex::new(None) }
    }

    fn spans(
        &self,
        spots: &[Spot],
        hits: &[LateHit],
        interrupt: &Interrupt,
    ) -> Result<Vec<Option<MatchSpan>>, GameFault> {
        if self.judges_apart {
            return self.reference.spans(spots, hits, interrupt);
        }
        let wanted = WantedFacts { spans: true, last_game: self.last_game, ..WantedFacts::default() };
        let mut found = self.reference.game(
            spots,
            &mut RunState::new(&self.query),
            (wanted, |_| Asked::Whole),
            interrupt,
        )?;
        Ok(hits.iter().map(|&(node, _)| found.values[node as usize].span.take()).collect())
    }
}

impl LateSpans<'_> {
    /// Adds the spans of hits up to the node `node`, and of some or all later hits, to those of the first hits of a game.
    fn extend(&self, known: &mut GameSpans, answers: &Answers, game: &GameRow, node: u32) {
        let (hits, copies, first) = (&answers.hits, answers.hit_copies(), game.first_slot());
        let before = copies.map_or(0, |copies| copies.first_in(hits, first));
        let lowest = |hit: usize| copies.and_then(|copies| copies.lowest(hit)).map(|copy| copy as usize);
        let slots = hits.slots(first..game.end_slot()).zip(before..);
        let mut of_hits: Vec<LateHit> =
            slots.skip(known.len()).map(|(slot, hit)| ((slot - first) as u32, lowest(hit))).collect();
        if self.finder.judges_apart {
            let wanted = of_hits.partition_point(|(hit, _)| *hit <= node);
            of_hits.truncate(wanted + known.len());
        }
        match self.finder.spans(&spots(game, hits.main_lines), &of_hits, self.interrupt) {
            Ok(spans) => {
                known.extend(of_hits.iter().zip(spans).map(|(&(node, _), span)| (node, span.map(Arc::new))));
            }
            Err(fault) => {
                // If another error has already been recorded, this one is dropped.
                let _ = self.fault.set(QueryFault::new(fault, game).of_query(self.number, self.interrupt));
            }
        }
    }
}

impl FindSpan for LateSpans<'_> {
    fn span(&self, answers: &Answers, game: &GameRow, node: u32) -> Option<Arc<MatchSpan>> {
        if self.fault.get().is_some() {
            return None;
        }
        let mut known = lock(&self.known);
        if known.as_ref().is_none_or(|(index, _)| *index != game.index()) {
            *known = Some((game.index(), Vec::new()));
        }
        let (_, hits) = known.as_mut()?;
        if hits.last().is_none_or(|(last, _)| *last < node) {
            self.extend(hits, answers, game, node);
        }
        of_hit(hits, node)
    }
}

/// Returns all positions of a game or, if `main_line` is true, those of its main line.
fn spots<'a>(game: &'a GameRow<'a>, main_line: bool) -> Vec<Spot<'a>> {
    let count = if main_line { game.plies() + 1 } else { game.positions() };
    let mut spots: Vec<Spot> = Vec::with_capacity(count);
    for node in 0..count as u32 {
        let (parent, arrival) = (game.parent_of(node).map(|parent| parent as usize), game.move_to(node));
        let mut position = parent.map_or(game.start(), |parent| spots[parent].position);
        if let Some(arrival) = arrival {
            position.play(arrival);
        }
        spots.push(Spot {
            position,
            ply: game.ply_of(node),
            initial: node == 0,
            terminal: game.move_from(node).is_none(),
            parent,
            arrival,
            game,
        });
    }
    spots
}
