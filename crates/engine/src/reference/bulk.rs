//! Runs the reference engine on whole blocks. Queries about single positions are evaluated position by position, all
//! others game by game.

use std::sync::{Mutex, MutexGuard};

use super::games::{GameAnswers, QueryFault, set};
use crate::{
    Answer, Answers, BlockRequest, CopyDetail, CopyHits, Engine, EngineError, EngineInfo, Hits, Interrupt,
    Wants,
};
use orbit_core::sync::lock;
use orbit_query::{Type, TypedQuery, run::RunValues};
use orbit_reel::{
    Block, GameRow,
    replay::{Slot, for_each_slot_of},
};
use orbit_reference::{Reference, ReferenceError, RunState, Spot};

/// The reference engine for one or more queries.
#[derive(Debug)]
pub struct Bulk {
    queries: Vec<OneQuery>,
}

/// A query and the mode in which it is evaluated.
#[derive(Debug)]
struct OneQuery {
    reference: Reference,
    ty: Type,
    way: BulkWay,
}

/// The mode in which a query is evaluated: position by position or game by game.
#[derive(Debug)]
enum BulkWay {
    /// Each position is evaluated independently.
    Positions,
    /// The query is evaluated game by game. The positions of a game share one state, such as the values of variables.
    Games {
        query: Box<TypedQuery>,
        /// The state that is kept from game to game; `None` if games do not depend on earlier ones.
        run: Option<Mutex<RunState>>,
    },
}

impl Bulk {
    /// Creates an engine for the given queries, which are evaluated in turn.
    ///
    /// # Errors
    ///
    /// Fails if the transformed patterns of a query cannot be generated; see [`ReferenceError`].
    pub fn new<'a>(queries: impl IntoIterator<Item = &'a TypedQuery>) -> Result<Bulk, ReferenceError> {
        Ok(Bulk { queries: queries.into_iter().map(OneQuery::new).collect::<Result<_, _>>()? })
    }

    /// Limits the number of evaluation steps in each game, as [`Reference::with_steps_max`] does.
    #[must_use]
    pub fn with_steps_max(mut self, steps_max: u64) -> Bulk {
        for one in &mut self.queries {
            one.reference = one.reference.clone().with_steps_max(steps_max);
        }
        self
    }

    /// Adds the strings that a query yields at the hits of a block. Does nothing for queries that yield other values.
    ///
    /// # Errors
    ///
    /// Fails if the evaluation of a game ends with an error.
    pub fn add_texts(
        &self,
        query: usize,
        block: &Block,
        hits: &mut Hits,
        request: &BlockRequest<'_>,
    ) -> Result<(), EngineError> {
        let (interrupt, last_game) = (&request.switch(), request.last_game);
        let one = &self.queries[query];
        let (Type::Str, BulkWay::Games { query: whole, .. }) = (one.ty, &one.way) else { return Ok(()) };
        let mut found =
            GameAnswers::new(block, whole, &one.reference, Wants::VALUES, last_game, interrupt.clone());
        let has_hits = |game: usize| hits.any_in(block.game(game).slots());
        let added = each_game(block, has_hits, |slots, game, spots| {
            found.add(slots, game, spots, &mut RunState::new(whole))
        });
        added.map_err(|fault| fault.of_query(query, interrupt))?;
        hits.values = found.finish(|_| ()).hits.values;
        Ok(())
    }
}

impl OneQuery {
    fn new(query: &TypedQuery) -> Result<OneQuery, ReferenceError> {
        // An answer for a single position cannot contain a string, so queries that yield strings are evaluated game by
        // game.
        let way = match asks_of_games(query) || query.body.ty() == Type::Str {
            true => BulkWay::Games {
                query: Box::new(query.clone()),
                run: query.outlives_games().then(|| Mutex::new(RunState::new(query))),
            },
            false => BulkWay::Positions,
        };
        Ok(OneQuery { reference: Reference::new(query)?, ty: query.body.ty(), way })
    }

    /// Returns the state that is kept from game to game, if the query keeps any.
    fn run(&self) -> Option<MutexGuard<'_, RunState>> {
        match &self.way {
            BulkWay::Games { run: Some(run), .. } => Some(lock(run)),
            _ => None,
        }
    }

    fn hits(&self, block: &Block, outputs: Wants, interrupt: &Interrupt) -> Result<Hits, Box<QueryFault>> {
        let mut hits = Hits::new(block);
        hits.set_kind(outputs, self.ty);
        each_game(
            block,
            |_| true,
            |slots, game, spots| {
                let answer =
                    |at: usize, answer: Answer| set(&mut hits, slots[at].slot, answer, answer.is_hit());
                self.reference
                    .answers(spots, interrupt, answer)
                    .map_err(|fault| Box::new(QueryFault::new(fault, game)))
            },
        )?;
        Ok(hits)
    }

    fn detail(
        &self,
        block: &Block,
        hits: &Hits,
        detail: CopyDetail,
        interrupt: &Interrupt,
    ) -> Result<CopyHits, Box<QueryFault>> {
        let mut found = CopyHits::new(self.reference.copies(), detail, hits);
        each_game(
            block,
            |_| true,
            |slots, game, spots| {
                let is_hit = |at: usize| hits.contains(slots[at].slot);
                let told = |_: usize, matching: Vec<bool>| {
                    let matching = matching.into_iter().zip(0..);
                    found.push(matching.filter_map(|(hit, copy)| hit.then_some(copy)));
                };
                let copies = self.reference.matching_copies(spots, is_hit, interrupt, told);
                copies.map_err(|fault| Box::new(QueryFault::new(fault, game)))
            },
        )?;
        Ok(found)
    }

    /// Returns the answers of a query on a block, including its answers about whole games.
    fn whole_games(
        &self,
        (number, query): (usize, &TypedQuery),
        (run, at_games): (Option<&Mutex<RunState>>, Option<&[RunValues]>),
        (index, block): (usize, &Block),
        request: &BlockRequest<'_>,
    ) -> Result<Answers, EngineError> {
        let (outputs, interrupt) = (request.outputs[number], request.switch());
        let mut found =
            GameAnswers::new(block, query, &self.reference, outputs, request.last_game, interrupt.clone());
        let wanted = |game: usize| request.may_match(index, number, game);
        match run {
            Some(run) => {
                let mut run = lock(run);
                each_game(block, wanted, |slots, game, spots| {
                    if let Some(at_games) = at_games {
                        run.set_values(&at_games[game.index()]);
                    }
                    found.add(slots, game, spots, &mut run)
                })
            }
            None => each_game(block, wanted, |slots, game, spots| {
                found.add(slots, game, spots, &mut RunState::new(query))
            }),
        }
        .map_err(|fault| fault.of_query(number, &interrupt))?;
        Ok(found.finish(|hits| request.select(index, block, number, hits)))
    }
}

/// Returns true if the query must be evaluated game by game: if it yields strings, keeps state, or contains a filter
/// about games, such as one that reads moves or other positions.
fn asks_of_games(query: &TypedQuery) -> bool {
    let is_told_by_games = query.body.ty() == Type::Str || query.keeps_state.is_some();
    is_told_by_games || query.outlives_games() || query.body.any(|filter| filter.is_of_game())
}

/// Calls `visit` with the slots and positions of each game of a block for which `wanted` returns true. Stops at the
/// first error that `visit` returns.
pub(super) fn each_game<E>(
    block: &Block,
    wanted: impl Fn(usize) -> bool,
    mut visit: impl FnMut(&[Slot], &GameRow, &[Spot]) -> Result<(), E>,
) -> Result<(), E> {
    let (mut slots, mut outcome) = (Vec::new(), Ok(()));
    for_each_slot_of(block, wanted, |slot| {
        let ends = slot.last;
        if outcome.is_ok() {
            slots.push(slot);
        }
        if ends && outcome.is_ok() {
            let game = block.game(slots[0].game);
            let spot = |(slot, node): (&Slot, u32)| {
                let Slot { position, ply, initial, terminal, .. } = *slot;
                let parent = game.parent_of(node).map(|parent| parent as usize);
                Spot { position, ply, initial, terminal, parent, arrival: game.move_to(node), game: &game }
            };
            let nodes: Vec<Spot> = slots.iter().zip(0..).map(spot).collect();
            outcome = visit(&slots, &game, &nodes);
            slots.clear();
        }
    });
    outcome
}

impl Bulk {
    /// Returns the values that each query keeps from game to game.
    pub(crate) fn runs(&self) -> Vec<RunValues> {
        self.queries.iter().map(|one| one.run().map(|run| run.values()).unwrap_or_default()).collect()
    }

    /// Sets the values that each query keeps from game to game.
    pub(crate) fn set_runs(&self, runs: &[RunValues]) {
        for (one, values) in self.queries.iter().zip(runs) {
            if let Some(mut run) = one.run() {
                run.set_values(values);
            }
        }
    }

    /// Returns the answers of the first query on a block. `at_games` contains, for each game, the values that earlier games have
    /// kept.
    pub(crate) fn scan_from(
        &self,
        block: &Block,
        request: &BlockRequest<'_>,
        at_games: &[RunValues],
    ) -> Result<Vec<Answers>, EngineError> {
        let one = &self.queries[0];
        let BulkWay::Games { query, run } = &one.way else { unreachable!("the query keeps values") };
        Ok(vec![one.whole_games((0, query), (run.as_ref(), Some(at_games)), (0, block), request)?])
    }

    /// Returns the persistent variables and their values, which are printed at the end of a search.
    fn persistent(&self) -> Vec<(String, Vec<u8>)> {
        self.queries.iter().filter_map(OneQuery::run).flat_map(|run| named(&run)).collect()
    }

    /// Returns the persistent variables, with the values that are printed if the queries keep the values in `runs`.
    pub(crate) fn persistent_of(&self, runs: &[RunValues]) -> Vec<(String, Vec<u8>)> {
        let all = self.queries.iter().zip(runs).filter_map(|(one, values)| {
            let mut run = one.run()?.clone();
            run.set_values(values);
            Some(named(&run))
        });
        all.flatten().collect()
    }
}

/// Returns the variables that are printed at the end of a search, with their values.
fn named(run: &RunState) -> Vec<(String, Vec<u8>)> {
    run.printed().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Engine for Bulk {
    fn info(&self) -> EngineInfo {
        let copies = self.queries.iter().map(|one| one.reference.copies()).collect();
        let in_order = self.queries.iter().any(|one| matches!(one.way, BulkWay::Games { run: Some(_), .. }));
        EngineInfo { in_order, persistent: self.persistent(), ..EngineInfo::plain("reference", copies) }
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let answers = |(index, block): (usize, &&Block)| {
            let answer = |(number, (one, &outputs)): (usize, (&OneQuery, &Wants))| {
                if let BulkWay::Games { query, run } = &one.way {
                    return one.whole_games((number, query), (run.as_ref(), None), (index, block), request);
                }
                let interrupt = request.switch();
                let told = |fault: Box<QueryFault>| fault.of_query(number, &interrupt);
                let mut hits = one.hits(block, outputs, &interrupt).map_err(told)?;
                request.select(index, block, number, &mut hits);
                let copies = outputs.detail().map(CopyDetail::by_copies);
                let copies = copies.map(|detail| one.detail(block, &hits, detail, &interrupt));
                Ok(Answers::new(hits, copies.transpose().map_err(told)?))
            };
            self.queries.iter().zip(request.outputs).enumerate().map(answer).collect()
        };
        blocks.iter().enumerate().map(answers).collect()
    }
}
