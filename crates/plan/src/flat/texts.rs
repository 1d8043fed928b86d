//! Compiles strings. In a register, a number represents the string: see [`TextInstr`].

use super::compile::{CompileResult, Compiler};
use crate::{
    EMPTY, Instr, LITERALS, Label, RegisterWord, TextInstr,
    dag::NO_VALUE,
    texts::{is_literal, is_name},
};
use orbit_query::tree::{
    Any, Cmp, ConditionOp as C, Control, Elsewhere, GameSquares, GameText as G, Kind as _, NumberOp as N,
    PositionOp as P, SquaresOp as S, TextOp as T, VarId,
};
use orbit_transforms::{Expanded, Filter, FilterRef, Number, Text};

impl Compiler<'_> {
    /// Compiles a filter whose value is a string. The code stores the number of the string in the register `to`.
    pub(super) fn text(&mut self, f: &Text, to: RegisterWord) -> CompileResult {
        match f.op() {
            T::Literal(text) => self.literal(to, text),
            T::ContentName { contents, spelt, of } => self.scratch(|this| {
                let set = this.word()?;
                this.squares(of, set)?;
                let (contents, spelt) = (*contents, *spelt);
                this.emit(Instr::Text(TextInstr::Content { to, set, contents, spelt }))
            }),
            T::Compare(cmp, a, b) => self.compared(a, b, |this, [a, b]| {
                this.or_none(to, |this, no| {
                    this.unless_texts(*cmp, [a, b], no)?;
                    this.emit(Instr::Copy { to, from: a })
                })
            }),
            T::Control(of) => self.control(of, to, NO_VALUE as u64, |this, f: &Text| this.text(f, to)),
            T::Game(op) => self.game_text(op, to),
            T::Tag(name) => self.of_game(crate::TagText::Tag(name.clone()), to),
            T::Player(side) => self.of_game(crate::TagText::Player(*side), to),
            T::Form(never) => match *never {},
        }
    }

    fn game_text(&mut self, op: &G<Expanded>, to: RegisterWord) -> CompileResult {
        let none = NO_VALUE as u64;
        match op {
            G::Elsewhere(Elsewhere::At { at, of }) => self.value_at(at, to, none, |this| this.text(of, to)),
            G::Elsewhere(Elsewhere::Edge { edge, target }) => {
                self.edge_value(edge, to, none, |this, next| {
                    this.text(target, to)?;
                    this.emit(Instr::UnlessValue { number: to, no: next })
                })
            }
            G::Entry { dictionary, key } => self.entry(*dictionary, key, to, none),
            G::Sort { of, .. } => self.selecting(None, |this| this.text(of, to)),
            G::Joined(a, b) => {
                self.two_texts(a, b, |this, [a, b]| this.emit(Instr::Text(TextInstr::Joined { to, a, b })))
            }
            G::Written(of) => self.written(of, to),
            G::Slice { of, from, to: end } => self.scratch(|this| {
                let text = this.word()?;
                this.text(of, text)?;
                let (from, end) = (this.bound_word(from.as_ref())?, this.bound_word(end.as_ref())?);
                this.emit(Instr::Text(TextInstr::Slice { to, of: text, from, end }))
            }),
            G::Letter { of, at } => self.scratch(|this| {
                let (text, place) = (this.word()?, this.word()?);
                this.text(of, text)?;
                this.number(at, place)?;
                this.emit(Instr::Text(TextInstr::Letter { to, of: text, at: place }))
            }),
            G::Case { upper, of } => self
                .of_text(of, |this, of| this.emit(Instr::Text(TextInstr::InCase { to, of, upper: *upper }))),
            G::Fen => self.emit(Instr::Text(TextInstr::Fen { to })),
            G::OfCode(of) => self.scratch(|this| {
                let code = this.word()?;
                this.number(of, code)?;
                this.emit(Instr::Text(TextInstr::OfCode { to, code }))
            }),
            G::Extremum { largest, of } => {
                self.extreme_text(of, if *largest { Cmp::Gt } else { Cmp::Lt }, to)
            }
            // The name of the transform differs between the copies (transformed filters), but all copies share one program, so the
            // program cannot contain it.
            G::CurrentTransform(_) => Err("`currenttransform`"),
            G::Match { text, pattern } => {
                let pattern = place_of(&mut self.patterns, pattern.clone())?;
                self.emit(Instr::Text(TextInstr::ForgetGroups))?;
                self.of_text(text, |this, of| this.emit(Instr::Text(TextInstr::Match { to, of, pattern })))
            }
            G::Group(group) => self.emit(Instr::Text(TextInstr::Group { to, group: *group })),
            G::OriginalComment | G::ReadFile(_) => Err("a string that a program does not make"),
        }
    }

    /// Compiles `while (text ~~ pattern) body`. The code jumps to `no` if the string has no value.
    pub(super) fn each_match(
        &mut self,
        text: &Text,
        pattern: &str,
        body: &Filter,
        no: Label,
    ) -> CompileResult {
        let pattern = place_of(&mut self.patterns, pattern.to_owned())?;
        self.of_text(text, |this, of| {
            this.emit(Instr::UnlessValue { number: of, no })?;
            let from = this.word()?;
            this.constant(from, 0)?;
            let done = this.label();
            let again = this.label_here();
            this.emit(Instr::Text(TextInstr::NextMatch { of, from, pattern, done }))?;
            this.unless(body.node(), again)?;
            this.emit(Instr::Jump(again))?;
            this.place(done);
            this.emit(Instr::Text(TextInstr::ForgetGroups))
        })
    }

    fn of_game(&mut self, text: crate::TagText, to: RegisterWord) -> CompileResult {
        let text = place_of(&mut self.of_games, text)?;
        self.emit(Instr::Text(TextInstr::OfGame { to, text }))
    }

    fn literal(&mut self, to: RegisterWord, text: &str) -> CompileResult {
        let word = match text.as_bytes() {
            [] => EMPTY,
            [byte] => u64::from(*byte),
            _ => {
                let known = self.texts.iter().position(|known| known == text);
                let place = known.unwrap_or_else(|| {
                    self.texts.push(text.to_owned());
                    self.texts.len() - 1
                });
                LITERALS + place as u64
            }
        };
        self.constant(to, word)
    }

    /// Emits code that jumps to `no` unless both strings have values and are in the relation `cmp`.
    fn unless_texts(&mut self, cmp: Cmp, [a, b]: [RegisterWord; 2], no: Label) -> CompileResult {
        self.emit(Instr::UnlessValue { number: a, no })?;
        self.emit(Instr::UnlessValue { number: b, no })?;
        self.emit(Instr::Text(TextInstr::UnlessCompare { cmp, a, b, as_bytes: false, no }))
    }

    /// Compiles `a < b` and the other comparisons as conditions. For `!=`, a string without a value differs from every other
    /// string.
    pub(super) fn compared_texts(&mut self, cmp: Cmp, a: &Text, b: &Text, no: Label) -> CompileResult {
        if cmp == Cmp::Eq && is_letter(a) && is_letter(b) {
            // The number that represents a one-letter string is the code of its letter, so the numbers can be compared.
            return self.compared(a, b, |this, [a, b]| {
                this.emit(Instr::UnlessValue { number: a, no })?;
                this.emit(Instr::UnlessCompare { cmp, a, b, no })
            });
        }
        self.compared(a, b, |this, [a, b]| {
            let done = this.label();
            if cmp == Cmp::Ne {
                // `!=` is also true if one of the strings has no value.
                this.emit(Instr::UnlessValue { number: a, no: done })?;
                this.emit(Instr::UnlessValue { number: b, no: done })?;
                this.unless_texts(cmp, [a, b], no)?;
            } else {
                this.unless_texts(cmp, [a, b], no)?;
            }
            this.place(done);
            Ok(())
        })
    }

    /// Compiles `a in b`.
    pub(super) fn text_in(&mut self, needle: &Text, text: &Text, no: Label) -> CompileResult {
        self.compared(needle, text, |this, [needle, text]| {
            this.emit(Instr::UnlessValue { number: needle, no })?;
            this.emit(Instr::UnlessValue { number: text, no })?;
            this.emit(Instr::Text(TextInstr::UnlessIn { needle, text, no }))
        })
    }

    /// Compiles `equal(F G)` of strings.
    pub(super) fn equal_texts(&mut self, a: &Text, b: &Text, no: Label) -> CompileResult {
        self.two_texts(a, b, |this, [a, b]| {
            let (differ, done) = (this.label(), this.label());
            this.emit(Instr::UnlessCompare { cmp: Cmp::Eq, a, b, no: differ })?;
            this.emit(Instr::Jump(done))?;
            this.place(differ);
            this.unless_texts(Cmp::Eq, [a, b], no)?;
            this.place(done);
            Ok(())
        })
    }

    /// Compiles `x[i:j]="..."`, which replaces a part of a string.
    pub(super) fn set_slice(
        &mut self,
        var: VarId,
        [from, end]: [Option<&Number>; 2],
        value: &Text,
        no: Label,
    ) -> CompileResult {
        self.scratch(|this| {
            let (from, end) = (this.bound_word(from)?, this.bound_word(end)?);
            let (with, of, to) = (this.word()?, this.word()?, this.word()?);
            this.text(value, with)?;
            this.read(var, of)?;
            this.emit(Instr::Text(TextInstr::Spliced { to, of, with, from, end }))?;
            this.emit(Instr::UnlessValue { number: to, no })?;
            this.emit(Instr::Bind { var: this.var(var), from: to })
        })
    }

    /// Compiles a string. `then` receives the register of the string.
    pub(super) fn of_text(
        &mut self,
        of: &Text,
        then: impl FnOnce(&mut Self, RegisterWord) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let text = this.word()?;
            this.text(of, text)?;
            then(this, text)
        })
    }

    /// Compiles two strings that are compared. Returns an error if a literal is compared with a player name: the literal would have
    /// to be normalized like the name, but no instruction does that.
    fn compared(
        &mut self,
        a: &Text,
        b: &Text,
        then: impl FnOnce(&mut Self, [RegisterWord; 2]) -> CompileResult,
    ) -> CompileResult {
        if [a, b].into_iter().any(is_name) && [a, b].into_iter().any(is_literal) {
            return Err("a literal beside the name of a player");
        }
        self.two_texts(a, b, then)
    }

    pub(super) fn two_texts(
        &mut self,
        a: &Text,
        b: &Text,
        then: impl FnOnce(&mut Self, [RegisterWord; 2]) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let words = [this.word()?, this.word()?];
            this.text(a, words[0])?;
            this.text(b, words[1])?;
            then(this, words)
        })
    }

    fn bound_word(&mut self, bound: Option<&Number>) -> CompileResult<Option<RegisterWord>> {
        let Some(bound) = bound else { return Ok(None) };
        let word = self.word()?;
        self.number(bound, word)?;
        Ok(Some(word))
    }

    fn extreme_text(&mut self, all: &[Text], cmp: Cmp, to: RegisterWord) -> CompileResult {
        self.scratch(|this| {
            let (best, text) = (this.word()?, this.word()?);
            this.no_value(best)?;
            for of in all {
                this.text(of, text)?;
                let (keep, done) = (this.label(), this.label());
                this.emit(Instr::UnlessValue { number: text, no: done })?;
                this.emit(Instr::UnlessValue { number: best, no: keep })?;
                this.emit(Instr::Text(TextInstr::UnlessCompare {
                    cmp,
                    a: text,
                    b: best,
                    as_bytes: true,
                    no: done,
                }))?;
                this.place(keep);
                this.emit(Instr::Copy { to: best, from: text })?;
                this.place(done);
            }
            this.emit(Instr::Copy { to, from: best })
        })
    }

    // ---- values as text

    /// Compiles `str(...)`, which joins the values of filters to one string. If there is only one filter and it has no value, the
    /// string has no value.
    fn written(&mut self, of: &[Filter], to: RegisterWord) -> CompileResult {
        if let [one] = of {
            return self.value_text(one, to);
        }
        self.scratch(|this| {
            let (all, one) = (this.word()?, this.word()?);
            this.constant(all, EMPTY)?;
            for filter in of {
                this.value_text(filter, one)?;
                this.or_false(one)?;
                this.emit(Instr::Text(TextInstr::Joined { to: all, a: all, b: one }))?;
            }
            this.emit(Instr::Copy { to, from: all })
        })
    }

    fn value_text(&mut self, filter: &Filter, to: RegisterWord) -> CompileResult {
        let (unbound, done) = (self.label(), self.label());
        let var = variable(filter.node());
        if let Some(var) = var {
            self.emit(Instr::UnlessBound { var: self.var(var), bound: true, no: unbound })?;
        }
        self.value_of_kind(filter, to)?;
        if let Some(var) = var {
            self.emit(Instr::Jump(done))?;
            self.place(unbound);
            let name = self.facts.vars[var.0 as usize].name.clone();
            self.literal(to, &format!("<unbound: {name}>"))?;
        }
        self.place(done);
        Ok(())
    }

    fn value_of_kind(&mut self, filter: &Filter, to: RegisterWord) -> CompileResult {
        match filter {
            Any::Condition(f) => {
                // As a string, a comparison has the value of its left operand, which the code of a condition does not keep.
                if matches!(f.op(), C::TextCompare(..)) {
                    return Err("a comparison of strings as text");
                }
                self.or_none(to, |this, no| {
                    this.unless(filter.node(), no)?;
                    this.literal(to, "<true>")
                })
            }
            Any::Squares(f) => self.scratch(|this| {
                let set = this.word()?;
                this.squares(f, set)?;
                let is_piece = matches!(f.op(), S::Game(GameSquares::Piece(_)));
                let instr = if is_piece { TextInstr::Man { to, set } } else { TextInstr::Names { to, set } };
                this.emit(Instr::Text(instr))
            }),
            Any::Number(f) => self.scratch(|this| {
                let number = this.word()?;
                this.number(f, number)?;
                this.emit(Instr::Text(TextInstr::Digits { to, of: number }))
            }),
            Any::Text(f) => self.text(f, to),
            Any::Position(_) => Err("a position as text"),
        }
    }

    /// Compiles code that replaces a missing string with the text `<false>`.
    fn or_false(&mut self, to: RegisterWord) -> CompileResult {
        let (none, done) = (self.label(), self.label());
        self.emit(Instr::UnlessValue { number: to, no: none })?;
        self.emit(Instr::Jump(done))?;
        self.place(none);
        self.literal(to, "<false>")?;
        self.place(done);
        Ok(())
    }
}

/// Returns the index of an item in a list. Adds the item first if the list does not contain it.
fn place_of<T: PartialEq>(list: &mut Vec<T>, what: T) -> CompileResult<u16> {
    let place = list.iter().position(|known| *known == what).unwrap_or_else(|| {
        list.push(what);
        list.len() - 1
    });
    u16::try_from(place).map_err(|_| "so many strings")
}

/// Returns true for `typename` and `piecename`, at the current or another position. The value of these filters, if any, is a single
/// letter.
fn is_letter(f: &Text) -> bool {
    match f.op() {
        T::ContentName { .. } => true,
        T::Game(G::Elsewhere(Elsewhere::At { of, .. })) => is_letter(of),
        _ => false,
    }
}

fn variable(filter: FilterRef) -> Option<VarId> {
    use orbit_query::tree::Ref;
    match filter {
        Ref::Condition(_) => None,
        Ref::Squares(f) => match f.op() {
            S::Control(Control::Var(var)) | S::Game(GameSquares::Piece(var)) => Some(*var),
            _ => None,
        },
        Ref::Number(f) if let N::Control(Control::Var(var)) = f.op() => Some(*var),
        Ref::Text(f) if let T::Control(Control::Var(var)) = f.op() => Some(*var),
        Ref::Position(f) if let P::Control(Control::Var(var)) = f.op() => Some(*var),
        _ => None,
    }
}
