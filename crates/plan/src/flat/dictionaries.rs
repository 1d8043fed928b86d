//! Compiles filters that read or change dictionaries, or loop over their keys.

use super::compile::{CompileResult, Compiler};
use crate::{EntryInstr, Instr, Label, RegisterWord};
use orbit_query::tree::{
    Assigned, ConditionOp as C, DictionaryId, GameCondition, GameNumber, GamePosition, GameSquares, GameText,
    Kind as _, NumberOp as N, PositionOp as P, Ref, SquaresOp as S, TextOp as T, VarId,
};
use orbit_transforms::{Expanded, Filter, FilterRef};

/// Returns true if a filter reads a dictionary. Its operands are not examined.
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
    /// Compiles code that reads the value of a key into the register `to`. If the dictionary does not contain the key, the value
    /// is `none`.
    pub(super) fn entry(
        &mut self,
        dictionary: DictionaryId,
        key: &Assigned<Expanded>,
        to: RegisterWord,
        none: u64,
    ) -> CompileResult {
        self.or_else(to, none, |this, no| this.unless_entry(dictionary, key, to, no))
    }

    /// Compiles code that reads the value of a key into the register `to`. The code jumps to `no` if the dictionary does not
    /// contain the key.
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

    /// Compiles `D[k]=v`, which writes an entry of a dictionary.
    pub(super) fn set_entry(
        &mut self,
        dictionary: DictionaryId,
        [key, value]: [&Assigned<Expanded>; 2],
        no: Label,
    ) -> CompileResult {
        self.scratch(|this| {
            let words = [this.word()?, this.word()?];
            // The code evaluates both the key and the value before it tests if either is missing.
            this.datum(key, words[0])?;
            this.datum(value, words[1])?;
            this.unless_datum(key, words[0], no)?;
            this.unless_datum(value, words[1], no)?;
            let dictionary = place(dictionary);
            this.emit(Instr::Entry(EntryInstr::Put { dictionary, key: words[0], value: words[1] }))
        })
    }

    /// Compiles `unbind D[k]` and `unbind D`, which remove one entry or all entries.
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

    /// Compiles `#D`, the number of keys of a dictionary.
    pub(super) fn size(&mut self, dictionary: DictionaryId, to: RegisterWord) -> CompileResult {
        self.emit(Instr::Entry(EntryInstr::Size { to, dictionary: place(dictionary) }))
    }

    /// Compiles `x∊D F` as a loop over all keys. Such a loop always matches, even if F matches for no key.
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

    /// Compiles a key or a value of a dictionary. The code leaves it in the register `to`.
    fn datum(&mut self, of: &Assigned<Expanded>, to: RegisterWord) -> CompileResult {
        match of {
            Assigned::Squares(f) => self.squares(f, to),
            Assigned::Number(f) => self.number(f, to),
            Assigned::Text(f) => self.text(f, to),
            Assigned::Position(f) => self.position(f, to),
        }
    }

    /// Compiles a jump to `no` for the case that a key or a value is missing. A set is never missing.
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
