//! Evaluates a query at single positions of a game. Each position is evaluated independently of the others.
//!
//! The *copies* of a query are the filters that its outermost transform generates.

use super::{ExplicitForm, GameFault, Outermost, Reference, Spot, eval::Evaluation, top, value::Value};
use orbit_core::interrupt::Interrupt;
use orbit_query::{
    answer::{Answer, MatchSpan},
    tree::Kind,
};

impl Reference {
    /// Calls `visit` for each position of a game, with its number and the value of the query.
    ///
    /// # Errors
    ///
    /// Fails if the query runs into an error at one of the positions, or if the search is interrupted.
    pub fn answers(
        &self,
        game: &[Spot],
        interrupt: &Interrupt,
        mut visit: impl FnMut(usize, Answer),
    ) -> Result<(), GameFault> {
        self.each_position(game, |_| true, interrupt, |at, there| visit(at, self.answer_here(there)))
    }

    /// Calls `visit` for each position of a game for which `is_asked` returns true. The arguments are the position's number, and a
    /// list with one flag for each of the [`Reference::copies`] copies of the query, in numerical order. A flag is true if the copy
    /// matches at the position.
    ///
    /// # Errors
    ///
    /// Fails if the query runs into an error at one of the positions, or if the search is interrupted.
    pub fn matching_copies(
        &self,
        game: &[Spot],
        is_asked: impl Fn(usize) -> bool,
        interrupt: &Interrupt,
        mut visit: impl FnMut(usize, Vec<bool>),
    ) -> Result<(), GameFault> {
        self.each_position(game, is_asked, interrupt, |at, there| visit(at, self.copies_here(there)))
    }

    /// Returns the span of each hit in a game: the positions and moves of which the hit consists. A hit is given by its position
    /// number and by the number of the first copy that matches there. If the copy number is `None`, copies are evaluated in order
    /// up to the first match.
    ///
    /// # Errors
    ///
    /// Fails if the query runs into an error at one of the hits, or if the search is interrupted.
    pub fn spans(
        &self,
        game: &[Spot],
        hits: &[(u32, Option<usize>)],
        interrupt: &Interrupt,
    ) -> Result<Vec<Option<MatchSpan>>, GameFault> {
        let mut evaluation = Evaluation::new(game, 0, &self.declared, interrupt);
        evaluation.state.tells_spans = true;
        // The indices of the copies in `self.body`, in the order of their numbers.
        let mut places: Vec<usize> = (0..self.numbers.len()).collect();
        places.sort_by_key(|&place| self.numbers[place]);
        let span = |&(node, copy): &(u32, Option<usize>)| {
            let at = node as usize;
            let places = copy.and_then(|copy| places.get(copy..=copy)).unwrap_or(&places);
            let span = evaluation.there(at, |there| match top(&self.body) {
                Outermost::Sets(copies) => there.span_of_copies(copies, places),
                Outermost::Numbers(copies) => there.span_of_copies(copies, places),
                Outermost::Filters(copies) => there.span_of_copies(copies, places),
            });
            evaluation.state.notes.clear();
            evaluation.state.fault.take().map_or(Ok(span), |diagnostic| Err(GameFault { at, diagnostic }))
        };
        hits.iter().map(span).collect()
    }

    fn each_position(
        &self,
        game: &[Spot],
        is_asked: impl Fn(usize) -> bool,
        interrupt: &Interrupt,
        mut visit: impl FnMut(usize, &mut Evaluation),
    ) -> Result<(), GameFault> {
        let mut evaluation = Evaluation::new(game, 0, &self.declared, interrupt);
        for at in (0..game.len()).filter(|&at| is_asked(at)) {
            evaluation.there(at, |there| visit(at, there));
            evaluation.state.notes.clear();
            if let Some(diagnostic) = evaluation.state.fault.take() {
                return Err(GameFault { at, diagnostic });
            }
        }
        Ok(())
    }

    fn answer_here(&self, evaluation: &mut Evaluation) -> Answer {
        match evaluation.value(&self.body) {
            Value::Bool(hit) => Answer::Bool(hit),
            Value::Set(squares) => Answer::Set(squares),
            Value::Num(value) => Answer::Num(value),
            Value::Str(value) => Answer::Bool(value.is_some()),
            Value::Position(value) => Answer::Num(value),
        }
    }

    /// Returns one flag for each copy of the query's filter, in numerical order: true if the copy matches at the current position.
    pub(super) fn copies_here(&self, evaluation: &mut Evaluation) -> Vec<bool> {
        let matching: Vec<bool> = match top(&self.body) {
            Outermost::Sets(copies) => copies.iter().map(|copy| evaluation.matches(copy)).collect(),
            Outermost::Numbers(copies) => copies.iter().map(|copy| evaluation.matches(copy)).collect(),
            Outermost::Filters(copies) => copies.iter().map(|copy| evaluation.matches(copy)).collect(),
        };
        let mut by_number = vec![false; matching.len()];
        for (&number, matches) in self.numbers.iter().zip(matching) {
            by_number[number] = matches;
        }
        by_number
    }
}

impl Evaluation<'_> {
    /// Evaluates the copies with the given indices in order, and returns the span of the first match.
    fn span_of_copies<F: Kind<ExplicitForm>>(&mut self, copies: &[F], places: &[usize]) -> Option<MatchSpan> {
        for &place in places {
            let begin = self.notes_begin();
            if self.matches(&copies[place]) {
                return self.take_span(begin);
            }
        }
        None
    }
}
