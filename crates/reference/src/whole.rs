//! Evaluates a query on a whole game, position by position. All evaluations share one state, including the variables.

use super::{
    Reference, Spot,
    copies::PlainFilter,
    eval::Evaluation,
    found::{FoundValue, GameFound, Noted, PositionAnswer},
    state::RunState,
    value::Value,
};
use orbit_core::{diagnostic::Diagnostic, interrupt::Interrupt};
use orbit_query::tree::Any;

/// Selects the data to compute about a game, besides the values at its positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WantedFacts {
    /// True to compute the matching copies of the outermost transform.
    pub copies: bool,
    /// True to compute the span of each hit: the positions and moves of which it consists.
    pub spans: bool,
    /// The number of the last game of the database, if it is known.
    pub last_game: Option<u32>,
}

/// The part of a query that is evaluated at a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// The whole query.
    Whole,
    /// Only the alternative with this number, which is the first one that matches; see [`Any::alternatives`].
    Alternative(usize),
}

/// The error that ended the evaluation of a game, and the position at which it occurred.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameFault {
    /// The node at which the error was detected.
    pub at: usize,
    /// The error.
    pub diagnostic: Diagnostic,
}

impl Reference {
    /// Evaluates the query on a game. At each position, in numerical order, the part that `asked` returns is evaluated.
    ///
    /// # Errors
    ///
    /// Fails if the search must end because a variable is read before it has a value, an assertion fails, a loop does not end, or
    /// the caller interrupts the search.
    pub fn game(
        &self,
        nodes: &[Spot],
        run: &mut RunState,
        (wanted, asked): (WantedFacts, impl Fn(usize) -> Asked),
        interrupt: &Interrupt,
    ) -> Result<GameFound, GameFault> {
        let mut evaluation = Evaluation::new(nodes, 0, &self.declared, interrupt);
        run.lend(&mut evaluation.state);
        evaluation.state.tells_spans = wanted.spans;
        evaluation.state.last_game = wanted.last_game;
        let alternatives = self.body.alternatives();
        let mut values = Vec::with_capacity(nodes.len());
        for at in 0..nodes.len() {
            let body = match asked(at) {
                Asked::Nothing => {
                    values.push(PositionAnswer::NONE);
                    continue;
                }
                Asked::Whole => &self.body,
                Asked::Alternative(number) => alternatives[number],
            };
            evaluation.state.look();
            let before = wanted.copies.then(|| evaluation.state.clone());
            let mut found = evaluation.there(at, |there| there.found_here(body));
            if let Some(diagnostic) = evaluation.state.fault.take() {
                return Err(GameFault { at, diagnostic });
            }
            if let Some(before) = before.filter(|_| found.hit) {
                // The copies are evaluated again, from the state before the first evaluation, to find the matching ones.
                let after = std::mem::replace(&mut evaluation.state, before);
                let matching = evaluation.there(at, |there| self.copies_here(there));
                if let Some(diagnostic) = evaluation.state.fault.take() {
                    return Err(GameFault { at, diagnostic });
                }
                found.copies =
                    matching.into_iter().zip(0..).filter_map(|(hit, copy)| hit.then_some(copy)).collect();
                evaluation.state = after;
            }
            values.push(found);
        }
        let mut state = evaluation.state;
        run.take_back(&mut state);
        let mut notes = std::mem::take(&mut state.notes);
        notes.extend(state.chains.notes());
        let (mut sorts, mut sorts_at) = (Vec::new(), Vec::new());
        for sorted in state.take_sorted() {
            notes.extend(sorted.notes);
            sorts.push(sorted.best);
            sorts_at.push(sorted.at);
        }
        Ok(GameFound {
            match_count: values.iter().filter(|found| found.hit).count() as u32,
            values,
            sorts,
            sorts_at,
            notes,
            removed: state.removed.into_iter().collect(),
            tags: state.tags.into_iter().collect(),
            messages: state.messages,
        })
    }
}

impl Evaluation<'_> {
    fn found_here(&mut self, body: &PlainFilter) -> PositionAnswer {
        let before = self.state.notes.len();
        let (value, hit) = match body {
            Any::Squares(f) => {
                let (squares, hit) = self.squares_and_match(f);
                (Value::Set(squares), hit && self.state.fault.is_none())
            }
            _ => {
                let value = self.value(body);
                let hit = value.matches();
                (value, hit)
            }
        };
        if hit {
            self.note(self.here.at, Noted::Matched);
        } else {
            self.state.notes.truncate(before);
        }
        let span = self.take_span(before);
        let value = match value {
            Value::Bool(value) => FoundValue::Bool(value),
            Value::Set(value) => FoundValue::Set(value),
            Value::Num(value) => FoundValue::Num(value),
            Value::Str(value) => FoundValue::Str(value),
            Value::Position(value) => FoundValue::Position(value),
        };
        PositionAnswer { hit, value, copies: Vec::new(), span }
    }
}
