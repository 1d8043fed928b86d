//! Dictionaries.

use super::compile::{CompileResult, Compiler};
use crate::{EntryInstr, Instr, Label, RegisterWord};
use orbit_query::tree::{
    Assigned, ConditionOp as C, DictionaryId, GameCondition, GameNumber, GamePosition, GameSquares, GameText,
    Kind as _, NumberOp as N, PositionOp as P, Ref, SquaresOp as S, TextOp as T, VarId,
};
use orbit_transforms::{Expanded, Filter, FilterRef};

/// Whether a filter itself says what a dictionary holds.
pub(super) fn reads_dictionary(filter: FilterRef) -> bool {
    match filter {
        Ref::Condition(f) => matches!(f.op(), C::Game(GameCondition::KeyLoop { .. })),
        Ref::Squares(f) => matches!(f.op(), S::Game(GameSquares::Entry { .. })),
        Ref::Number(f) => matches!(f.op(), N::Game(GameNumber::Entry { .. } | GameNumber::Size(_))),
        Ref::Text(f) => matches!(f.op(), T::Game(GameText::Entry { .. })),
        Ref::Position(f) => matches!(f.op(), P::Game(GamePosition::Entry { .. })),
    }
}

impl Compiler<'_> {
    /// What stands behind a key; `none` if nothing does.
    pub(super) fn entry(
        &mut self,
        dictionary: DictionaryId,
        key: &Assigned<Expanded>,
        to: RegisterWord,
        none: u64,
    ) -> CompileResult {
        let (no, done) = (self.label(), self.label());
        self.unless_entry(dictionary, key, to, no)?;
        self.emit(Instr::Jump(done))?;
        self.place(no);
        self.constant(to, none)?;
        self.place(done);
        Ok(())
    }

    /// Goes on at `no` if nothing stands behind a key.
    pub(super) fn unless_entry(
        &mut self,
        dictionary: DictionaryId,
        key: &Assigned<Expanded>,
        to: RegisterWord,
        no: Label,
    ) -> CompileResult {
        self.scratch(|this| {
            let word = this.word()?;
            this.datum(key, word)?;
            this.unless_datum(key, word, no)?;
            let dictionary = place(dictionary);
            this.emit(Instr::Entry(EntryInstr::Get { to, dictionary, key: word, no }))
        })
    }

    /// `D[k]=v`.
    pub(super) fn set_entry(
        &mut self,
        dictionary: DictionaryId,
        [key, value]: [&Assigned<Expanded>; 2],
        no: Label,
    ) -> CompileResult {
        self.scratch(|this| {
            let words = [this.word()?, this.word()?];
            // Both are evaluated before it is asked whether they have values.
            this.datum(key, words[0])?;
            this.datum(value, words[1])?;
            this.unless_datum(key, words[0], no)?;
            this.unless_datum(value, words[1], no)?;
            let dictionary = place(dictionary);
            this.emit(Instr::Entry(EntryInstr::Put { dictionary, key: words[0], value: words[1] }))
        })
    }

    /// `unbind D[k]`, `unbind D`.
    pub(super) fn forget(
        &mut self,
        dictionary: DictionaryId,
        key: Option<&Assigned<Expanded>>,
        no: Label,
    ) -> CompileResult {
        let dictionary = place(dictionary);
        let Some(key) = key else { return self.emit(Instr::Entry(EntryInstr::Clear { dictionary })) };
        self.scratch(|this| {
            let word = this.word()?;
            this.datum(key, word)?;
            this.unless_datum(key, word, no)?;
            this.emit(Instr::Entry(EntryInstr::Remove { dictionary, key: word }))
        })
    }

    /// `#D`.
    pub(super) fn size(&mut self, dictionary: DictionaryId, to: RegisterWord) -> CompileResult {
        self.emit(Instr::Entry(EntryInstr::Size { to, dictionary: place(dictionary) }))
    }

    /// `x∊D F`: all keys are visited, and it matches whatever F does.
    pub(super) fn key_loop(&mut self, dictionary: DictionaryId, id: VarId, body: &Filter) -> CompileResult {
        let keys = u16::try_from(self.key_loops).map_err(|_| "so many loops over keys")?;
        self.key_loops += 1;
        self.scratch(|this| {
            let (var, key) = (this.var(id), this.word()?);
            this.emit(Instr::Free { var })?;
            this.emit(Instr::Entry(EntryInstr::Keys { keys, dictionary: place(dictionary) }))?;
            let done = this.label();
            let again = this.label_here();
            this.emit(Instr::Entry(EntryInstr::NextKey { keys, to: key, done }))?;
            this.emit(Instr::Bind { var, from: key })?;
            this.bound(&[id], |this| this.unless(body.node(), again))?;
            this.emit(Instr::Jump(again))?;
            this.place(done);
            this.emit(Instr::Unbind { var })
        })
    }

    /// A key, or what is stored.
    fn datum(&mut self, of: &Assigned<Expanded>, to: RegisterWord) -> CompileResult {
        match of {
            Assigned::Squares(f) => self.squares(f, to),
            Assigned::Number(f) => self.number(f, to),
            Assigned::Text(f) => self.text(f, to),
            Assigned::Position(f) => self.position(f, to),
        }
    }

    /// Goes on at `no` if it has no value; a set always has one.
    fn unless_datum(&mut self, of: &Assigned<Expanded>, word: RegisterWord, no: Label) -> CompileResult {
        match of {
            Assigned::Squares(_) => Ok(()),
            _ => self.emit(Instr::UnlessValue { number: word, no }),
        }
    }
}

fn place(dictionary: DictionaryId) -> u16 {
    dictionary.0 as u16
}
