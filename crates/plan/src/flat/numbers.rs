//! Compiles filters whose value is a number. The code leaves the number in a register.

use super::compile::{CompileResult, Compiler};
use crate::{Instr, Label, RegisterWord, TextInstr, dag::NO_VALUE};
use orbit_query::tree::{
    Cmp, Counted, Elsewhere, GameNumber as G, GameSquares, Kind as _, NumberOp as N, OneOrMore, SquaresOp,
};
use orbit_transforms::{Expanded, Filter, Number, NumberOrbit};

impl Compiler<'_> {
    /// Compiles a filter whose value is a number. The code leaves the number in the register `to`.
    pub(super) fn number(&mut self, f: &Number, to: RegisterWord) -> CompileResult {
        let leaf = self.leaf(f.node(), |lower| {
            let number = lower.number(f);
            lower.packed_number(number)
        });
        if let Some(number) = leaf? {
            return self.load(to, number);
        }
        match f.op() {
            N::Cardinality(of) => self.of_set(of, |this, set| this.emit(Instr::Count { to, set })),
            N::Rank(of) => self.of_set(of, |this, set| this.emit(Instr::Place { to, set, rank: true })),
            N::File(of) => self.of_set(of, |this, set| this.emit(Instr::Place { to, set, rank: false })),
            N::Arith(arith, a, b) => {
                self.two_numbers(a, b, |this, [a, b]| this.emit(Instr::Arith { to, arith: *arith, a, b }))
            }
            N::Neg(of) => self.of_number(of, |this, of| this.emit(Instr::Neg { to, of })),
            N::Abs(of) => self.of_number(of, |this, of| this.emit(Instr::Abs { to, of })),
            N::Sqrt(of) => self.of_number(of, |this, of| this.emit(Instr::Sqrt { to, of })),
            N::Compare(cmp, a, b) => self.two_numbers(a, b, |this, [a, b]| {
                this.or_none(to, |this, no| {
                    this.unless_compare(*cmp, [a, b], no)?;
                    this.emit(Instr::Copy { to, from: a })
                })
            }),
            N::InRange { lo, hi, of } => self.scratch(|this| {
                let (later, latest) = ([hi.node(), of.node()], [of.node()]);
                let lo = this.register(lo.node(), later, |this, word| this.number(lo, word))?;
                let hi = this.register(hi.node(), latest, |this, word| this.number(hi, word))?;
                let number = this.word()?;
                this.or_none(to, |this, no| {
                    this.emit(Instr::UnlessValue { number: lo, no })?;
                    this.emit(Instr::UnlessValue { number: hi, no })?;
                    this.number(of, number)?;
                    this.emit(Instr::UnlessValue { number, no })?;
                    this.emit(Instr::UnlessCompare { cmp: Cmp::Ge, a: number, b: lo, no })?;
                    this.emit(Instr::UnlessCompare { cmp: Cmp::Le, a: number, b: hi, no })?;
                    this.emit(Instr::Copy { to, from: number })
                })
            }),
            N::Max(all) => self.extremum(all, Cmp::Gt, to),
            N::Min(all) => self.extremum(all, Cmp::Lt, to),
            N::Find { back, counted, of, .. } => self.find_count(of, *back, *counted, to),
            N::Control(of) => self.control(of, to, NO_VALUE as u64, |this, f: &Number| this.number(f, to)),
            N::Form(NumberOrbit::Largest(orbit)) => self.scratch(|this| {
                let (best, number) = (this.word()?, this.word()?);
                this.no_value(best)?;
                for (_, copy) in orbit.in_turn() {
                    this.number(&copy.filter, number)?;
                    this.keep_better(Cmp::Gt, number, best)?;
                }
                this.emit(Instr::Copy { to, from: best })
            }),
            N::Form(NumberOrbit::Counted(counted, orbit)) => {
                let counted = *counted;
                self.count_copies(orbit, |this, count| this.counted(count, counted, to))
            }
            N::Game(op) => self.game_number(op, to),
            _ => self.number_of_board(f, to, NO_VALUE as u64),
        }
    }

    /// Emits code that jumps to `no` unless both numbers have values and are in the relation `cmp`.
    pub(super) fn unless_compare(&mut self, cmp: Cmp, [a, b]: [RegisterWord; 2], no: Label) -> CompileResult {
        self.unless_values([a, b], no)?;
        self.emit(Instr::UnlessCompare { cmp, a, b, no })
    }

    /// Emits code that jumps to `no` unless both numbers have values. Numbers in the registers of variables are not tested, since
    /// a variable is bound only to a number with a value.
    pub(super) fn unless_values(&mut self, numbers: [RegisterWord; 2], no: Label) -> CompileResult {
        let vars = self.facts.vars.len();
        let mut numbers = numbers.into_iter().filter(|number| usize::from(number.0) >= vars);
        numbers.try_for_each(|number| self.emit(Instr::UnlessValue { number, no }))
    }

    fn game_number(&mut self, op: &G<Expanded>, to: RegisterWord) -> CompileResult {
        let none = NO_VALUE as u64;
        match op {
            G::Elsewhere(Elsewhere::At { at, of }) => self.value_at(at, to, none, |this| this.number(of, to)),
            G::Elsewhere(Elsewhere::Edge { edge, target }) => {
                self.edge_value(edge, to, none, |this, next| {
                    this.number(target, to)?;
                    this.emit(Instr::UnlessValue { number: to, no: next })
                })
            }
            G::CountMoves { edge, target } => self.scratch(|this| {
                let count = this.counter()?;
                this.each_edge(edge, |this, next| {
                    if let Some(target) = target {
                        this.unless(target.node(), next)?;
                    }
                    this.increment(count)
                })?;
                this.emit(Instr::Copy { to, from: count })
            }),
            G::Distance(a, b) => {
                self.two_positions(a, b, |this, [a, b]| this.emit(Instr::Distance { to, a, b }))
            }
            G::Echo(echo) => self.scratch(|this| {
                let (best, number) = (this.word()?, this.word()?);
                this.no_value(best)?;
                this.each_target(echo, |this, _| {
                    this.number(&echo.body, number)?;
                    this.keep_better(Cmp::Gt, number, best)
                })?;
                this.emit(Instr::Copy { to, from: best })
            }),
            G::Line(line) => self.line(line, false, to),
            G::Path(path) => self.path(path, false, to),
            G::Entry { dictionary, key } => self.entry(*dictionary, key, to, none),
            G::Move(of) => self.count_of_moves(of, to),
            G::ConsecutiveMoves { first, second, range, .. } => {
                self.consecutive_moves([*first, *second], range.as_ref(), to)
            }
            G::Size(dictionary) => self.size(*dictionary, to),
            G::Length(of) => {
                self.of_text(of, |this, of| this.emit(Instr::Text(TextInstr::Length { to, of })))
            }
            G::IndexOf(needle, text) => self.two_texts(needle, text, |this, [needle, text]| {
                this.emit(Instr::Text(TextInstr::IndexOf { to, needle, text }))
            }),
            G::ToNumber(of) => {
                self.of_text(of, |this, of| this.emit(Instr::Text(TextInstr::ToNumber { to, of })))
            }
            G::CodeOf(of) => {
                self.of_text(of, |this, of| this.emit(Instr::Text(TextInstr::CodeOf { to, of })))
            }
            G::GroupStart(group) => self.emit(Instr::Text(TextInstr::GroupStart { to, group: *group })),
            G::PathCount => self.of_path(1, to),
            G::PathCountUnfocused => self.of_path(2, to),
            G::Sort { of, .. } => self.selecting(None, |this| this.number(of, to)),
            G::PieceId(of) => match of.op() {
                SquaresOp::Game(GameSquares::Piece(var)) => self.read(*var, to),
                _ => {
                    self.pieces = true;
                    self.of_set(of, |this, set| this.emit(Instr::PieceOn { to, set }))
                }
            },
            _ => Err("a number of the game language that depends on variables"),
        }
    }

    fn of_set(
        &mut self,
        of: &orbit_transforms::Squares,
        then: impl FnOnce(&mut Self, RegisterWord) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let set = this.word()?;
            this.squares(of, set)?;
            then(this, set)
        })
    }

    /// Compiles a number into a new register. `then` receives the register and compiles the code that follows.
    pub(super) fn of_number(
        &mut self,
        of: &Number,
        then: impl FnOnce(&mut Self, RegisterWord) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let number = this.word()?;
            this.number(of, number)?;
            then(this, number)
        })
    }

    /// Compiles code that copies a number to `best` if the number is better. It is better if `best` has no value yet, or if `number
    /// cmp best` is true. The number must have a value.
    fn keep_better(&mut self, cmp: Cmp, number: RegisterWord, best: RegisterWord) -> CompileResult {
        let (keep, done) = (self.label(), self.label());
        self.emit(Instr::UnlessValue { number, no: done })?;
        self.emit(Instr::UnlessValue { number: best, no: keep })?;
        self.emit(Instr::UnlessCompare { cmp, a: number, b: best, no: done })?;
        self.place(keep);
        self.emit(Instr::Copy { to: best, from: number })?;
        self.place(done);
        Ok(())
    }

    fn extremum(&mut self, all: &OneOrMore<Number>, cmp: Cmp, to: RegisterWord) -> CompileResult {
        self.scratch(|this| {
            let (best, number) = (this.word()?, this.word()?);
            this.no_value(best)?;
            for of in all.iter() {
                this.number(of, number)?;
                this.keep_better(cmp, number, best)?;
            }
            this.emit(Instr::Copy { to, from: best })
        })
    }

    /// Compiles the value of a filter that counts. The value is the count. If the count is outside the filter's range, there is no
    /// value.
    fn counted(&mut self, count: RegisterWord, counted: Counted, to: RegisterWord) -> CompileResult {
        let Counted::Range(lo, hi) = counted else {
            return self.emit(Instr::Copy { to, from: count });
        };
        self.scratch(|this| {
            let bound = this.word()?;
            this.or_none(to, |this, no| {
                for (cmp, end) in [(Cmp::Ge, lo), (Cmp::Le, hi)] {
                    this.constant(bound, i64::from(end) as u64)?;
                    this.emit(Instr::UnlessCompare { cmp, a: count, b: bound, no })?;
                }
                this.emit(Instr::Copy { to, from: count })
            })
        })
    }

    /// Compiles a `find` whose value is the number of positions at which the filter `of` matches.
    fn find_count(&mut self, of: &Filter, back: bool, counted: Counted, to: RegisterWord) -> CompileResult {
        self.scratch(|this| {
            let count = this.counter()?;
            this.each_found(of, back, |this, _| this.increment(count))?;
            this.counted(count, counted, to)
        })
    }
}
