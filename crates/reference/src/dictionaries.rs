//! Evaluates the filters that read or change dictionaries.

use shakmaty::Bitboard;

use super::{
    copies::{ExplicitForm, PlainFilter},
    eval::Evaluation,
    state::Datum,
};
use orbit_core::diagnostic::Span;
use orbit_query::tree::{Assigned, Cell, DictionaryId, VarId};

impl Evaluation<'_> {
    /// Returns the value of a filter that is used as a key or stored in a dictionary.
    fn datum(&mut self, of: &Assigned<ExplicitForm>) -> Option<Datum> {
        match of {
            Assigned::Squares(f) => Some(Datum::Squares(self.squares(f).0)),
            Assigned::Number(f) => self.number(f).map(Datum::Number),
            Assigned::Text(f) => self.text(f).map(Datum::Text),
            Assigned::Position(f) => self.position(f).map(Datum::Position),
        }
        .filter(|_| self.state.fault.is_none())
    }

    /// Returns the value that a dictionary contains for a key.
    pub(super) fn entry(&mut self, dictionary: DictionaryId, key: &Assigned<ExplicitForm>) -> Option<Datum> {
        let key = self.datum(key)?;
        self.state.dictionary(dictionary).get(&key).cloned()
    }

    pub(super) fn entry_squares(
        &mut self,
        dictionary: DictionaryId,
        key: &Assigned<ExplicitForm>,
    ) -> Bitboard {
        match self.entry(dictionary, key) {
            Some(Datum::Squares(squares)) => Bitboard(squares),
            _ => Bitboard::EMPTY,
        }
    }

    pub(super) fn entry_number(
        &mut self,
        dictionary: DictionaryId,
        key: &Assigned<ExplicitForm>,
    ) -> Option<i32> {
        match self.entry(dictionary, key)? {
            Datum::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn entry_text(
        &mut self,
        dictionary: DictionaryId,
        key: &Assigned<ExplicitForm>,
    ) -> Option<Vec<u8>> {
        match self.entry(dictionary, key)? {
            Datum::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn entry_position(
        &mut self,
        dictionary: DictionaryId,
        key: &Assigned<ExplicitForm>,
    ) -> Option<i32> {
        match self.entry(dictionary, key)? {
            Datum::Position(position) => Some(position),
            _ => None,
        }
    }

    pub(super) fn set_entry(
        &mut self,
        dictionary: DictionaryId,
        key: &Assigned<ExplicitForm>,
        value: &Assigned<ExplicitForm>,
    ) -> bool {
        let (key, value) = (self.datum(key), self.datum(value));
        let (Some(key), Some(value)) = (key, value) else { return false };
        self.state.dictionary(dictionary).insert(key, value);
        true
    }

    /// Removes one key (`unbind D[k]`) or all keys (`unbind D`).
    pub(super) fn forget(&mut self, dictionary: DictionaryId, key: Option<&Assigned<ExplicitForm>>) -> bool {
        match key {
            None => self.state.dictionary(dictionary).clear(),
            Some(key) => {
                let Some(key) = self.datum(key) else { return false };
                self.state.dictionary(dictionary).remove(&key);
            }
        }
        true
    }

    pub(super) fn size(&mut self, dictionary: DictionaryId) -> i32 {
        self.state.dictionary(dictionary).len() as i32
    }

    /// Evaluates a filter for each key that the dictionary contains when the loop begins. The loop matches even if the filter never
    /// does.
    pub(super) fn key_loop(
        &mut self,
        dictionary: DictionaryId,
        var: VarId,
        body: &PlainFilter,
        span: Span,
    ) -> bool {
        if !self.may_loop(var, span) {
            return false;
        }
        let keys: Vec<Datum> = self.state.dictionary(dictionary).keys().cloned().collect();
        for key in keys {
            self.state.cells.bind(
                var,
                match key {
                    Datum::Squares(squares) => Cell::Squares(Bitboard(squares)),
                    Datum::Number(number) => Cell::Number(number),
                    Datum::Text(text) => Cell::Text(text),
                    Datum::Position(position) => Cell::Position(position),
                },
            );
            self.matches(body);
        }
        self.state.cells.bind(var, Cell::Unbound);
        true
    }
}
