//! Evaluates queries that keep values from one game to the next.
//!
//! The engine `cpu` runs such a query as a flat program. Some answers, such as comments, are computed only by the reference engine,
//! which begins each game that the query finds with the values that the program has kept until then.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::{
    Answers, BlockRequest, Engine, EngineError, EngineInfo, Hits, PreparedQuery, Wants, cpu::Cpu,
    reference::Bulk,
};
use orbit_query::{Type, TypedQuery, tree::Holds};
use orbit_reel::Block;

/// An engine for one query that keeps values from one game to the next. The blocks must be passed in order.
pub struct Lasting {
    query: TypedQuery,
    cpu: Cpu,
    reference: Bulk,
    /// True once the reference engine has received the kept values and evaluates the query alone.
    is_left: AtomicBool,
}

/// The maximum number of entries in dictionaries that keep their entries from game to game. The engine `cpu` copies all
/// of these entries for each block. If there are more, the reference engine, which need not copy them, evaluates the
/// remaining games.
const ENTRIES_MAX: usize = 1 << 16;

/// The engines that compute the answers to a query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evaluators {
    /// The engine `cpu` alone.
    Cpu,
    /// The engine `cpu` finds games, and the reference engine evaluates these games.
    Both,
    /// The reference engine alone.
    Reference,
}

impl Lasting {
    /// Creates an engine for a query. The engine `cpu` must be prepared for this query alone.
    ///
    /// # Errors
    ///
    /// Fails if the reference engine does not accept the query.
    pub fn new(prepared: &PreparedQuery, cpu: Cpu) -> Result<Lasting, EngineError> {
        let (query, reference) = (prepared.query.clone(), prepared.reference()?);
        Ok(Lasting { query, cpu, reference, is_left: AtomicBool::new(false) })
    }

    /// Chooses the engines that compute the requested answers.
    fn evaluators(&self, outputs: Wants) -> Evaluators {
        let is_text = self.query.body.ty() == Type::Str;
        let told = outputs.contains(Wants::COMMENTARY)
            || outputs.contains(Wants::SPANS)
            || outputs.contains(Wants::RANKS) && !self.query.sorts.is_empty()
            || outputs.contains(Wants::VALUES) && is_text;
        // The kept values at the beginning of each game are stored only if no dictionary or string is among them, so that they
        // need little memory.
        let has_many_values = self.query.dictionaries.iter().any(|of| of.life.outlives_games())
            || self.query.vars.iter().any(|var| var.life.outlives_games() && var.holds == Holds::Text);
        let finds_without_match = self.query.header.match_count.is_some_and(|(least, _)| least == 0);
        match told {
            false => Evaluators::Cpu,
            true if has_many_values || finds_without_match => Evaluators::Reference,
            true => Evaluators::Both,
        }
    }

    fn block(&self, block: &Block, request: &BlockRequest<'_>) -> Result<Vec<Answers>, EngineError> {
        if self.is_left.load(Ordering::Relaxed) {
            return Ok(self.reference.scan(&[block], request)?.remove(0));
        }
        let answers = self.planned(block, request)?;
        if self.cpu.kept_entries() > ENTRIES_MAX {
            self.reference.set_runs(&self.cpu.runs());
            self.is_left.store(true, Ordering::Relaxed);
            self.cpu.set_runs(Arc::default());
        }
        Ok(answers)
    }

    fn planned(&self, block: &Block, request: &BlockRequest<'_>) -> Result<Vec<Answers>, EngineError> {
        let found = match self.evaluators(request.outputs[0]) {
            Evaluators::Cpu => self.cpu.scan(&[block], request).map(|mut answers| answers.remove(0)),
            Evaluators::Both => self.found_games(block, request),
            Evaluators::Reference => Err(EngineError::Stopped),
        };
        match found {
            // The program was not run, or it ran into an error or a limit. In each case, it has kept no values from
            // this block.
            Err(EngineError::Stopped) => {
                self.reference.set_runs(&self.cpu.runs());
                let answers = self.reference.scan(&[block], request)?.remove(0);
                self.cpu.set_runs(Arc::new(self.reference.runs()));
                Ok(answers)
            }
            other => other,
        }
    }

    /// Finds the games with a match, and returns the answers of the reference engine about them.
    fn found_games(&self, block: &Block, request: &BlockRequest<'_>) -> Result<Vec<Answers>, EngineError> {
        let narrow = BlockRequest { select: None, outputs: &[Wants::HITS], ..*request };
        let (answers, at_games) = self.cpu.scan_by_game(block, &narrow)?;
        let has_hit = |_: usize, _: usize, game: usize| answers[0].finds(&block.game(game));
        let of_found = BlockRequest { games: Some(&has_hit), ..*request };
        self.reference.scan_from(block, &of_found, &at_games)
    }
}

impl Engine for Lasting {
    fn info(&self) -> EngineInfo {
        let persistent = match self.is_left.load(Ordering::Relaxed) {
            true => self.reference.info().persistent,
            false => self.reference.persistent_of(&self.cpu.runs()),
        };
        EngineInfo { in_order: true, persistent, ..self.cpu.info() }
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let answers = |(index, block): (usize, &&Block)| {
            let select = |_: usize, block: &Block, query: usize, hits: &mut Hits| {
                request.select(index, block, query, hits);
            };
            self.block(block, &BlockRequest { select: Some(&select), games: None, ..*request })
        };
        blocks.iter().enumerate().map(answers).collect()
    }
}
