//! Compiles `consecutivemoves` and `move`, for moves that were played as well as for legal and pseudolegal moves.

use super::compile::{CompileResult, Compiler};
use crate::{FlatMove, Instr, Label, LegalValue, MoveInstr, RegisterWord, dag::TRUE};
use orbit_query::tree::{Cmp, Kind as _, Move, MoveOf, MoveValue, VarId};
use orbit_transforms::{Expanded, Number, Squares};

impl Compiler<'_> {
    /// Compiles `move` as a condition. The code jumps to `no` unless some move satisfies the filter.
    pub(super) fn unless_move(&mut self, of: &Move<Expanded>, no: Label) -> CompileResult {
        self.scratch(|this| {
            let set = this.word()?;
            this.squares_of_moves(of, set)?;
            this.emit(Instr::UnlessAny { set, no })
        })
    }

    /// Compiles a `move` filter to the squares of the moves that satisfy it. If the filter is a condition, the result is a set that
    /// is non-empty if there is such a move.
    pub(super) fn squares_of_moves(&mut self, of: &Move<Expanded>, to: RegisterWord) -> CompileResult {
        match of.of {
            MoveOf::Legal | MoveOf::Pseudolegal => {
                let left = of.value == MoveValue::From;
                self.legal(of, if left { LegalValue::Left } else { LegalValue::Reached }, to)
            }
            MoveOf::Played | MoveOf::Previous => self.played(of, to),
        }
    }

    /// Compiles `move legal count`, the number of legal moves that satisfy the filter.
    pub(super) fn count_of_moves(&mut self, of: &Move<Expanded>, to: RegisterWord) -> CompileResult {
        match of.of {
            MoveOf::Legal | MoveOf::Pseudolegal => self.legal(of, LegalValue::Count, to),
            MoveOf::Played | MoveOf::Previous => Err("`move count` of moves that were played"),
        }
    }

    fn legal(&mut self, of: &Move<Expanded>, value: LegalValue, to: RegisterWord) -> CompileResult {
        let is_plain = of.capture.is_none()
            && of.en_passant_square.is_none()
            && of.promote.is_none()
            && !of.null
            && of.sibling.is_none();
        if !is_plain {
            return Err("`move legal` with more than `from`, `to` and kinds of moves");
        }
        self.scratch(|this| {
            let [from, squares] = [this.word()?, this.word()?];
            for (side, word) in [&of.from, &of.to].into_iter().zip([from, squares]) {
                match side {
                    Some(side) => this.squares(side, word)?,
                    None => this.constant(word, TRUE)?,
                }
            }
            let (pseudo, only) = (of.of == MoveOf::Pseudolegal, of.only);
            this.emit(Instr::Move(MoveInstr::Legal { to, from, squares, pseudo, only, value }))
        })
    }

    fn played(&mut self, of: &Move<Expanded>, to: RegisterWord) -> CompileResult {
        if !of.comment.iter().flatten().all(|said| self.is_harmless(said.node())) {
            return Err("a comment of `move` that depends on variables");
        }
        let previous = of.of == MoveOf::Previous;
        self.scratch(|this| {
            let (here, parent, done) = (this.word()?, this.word()?, this.label());
            if previous {
                this.constant(to, 0)?;
                this.emit(Instr::Here { to: here })?;
                this.emit(Instr::Parent { to: parent })?;
                this.emit(Instr::UnlessValue { number: parent, no: done })?;
                this.emit(Instr::Go { to: parent })?;
            }
            let [from, reached] = [this.set_of(of.from.as_ref())?, this.set_of(of.to.as_ref())?];
            let [capture, passing] =
                [this.set_of(of.capture.as_ref())?, this.set_of(of.en_passant_square.as_ref())?];
            if previous {
                this.emit(Instr::Go { to: here })?;
            }
            let test = FlatMove {
                previous,
                value: of.value,
                from,
                to: reached,
                capture,
                passing,
                promotion: of.promote,
                only: of.only,
                null: of.null,
                sibling: of.sibling,
                tied: this.tied,
            };
            let index = u16::try_from(this.moves.len()).map_err(|_| "so many moves")?;
            this.moves.push(test);
            this.emit(Instr::Move(MoveInstr::Played { to, of: index }))?;
            this.place(done);
            Ok(())
        })
    }

    fn set_of(&mut self, set: Option<&Squares>) -> CompileResult<Option<RegisterWord>> {
        let Some(set) = set else { return Ok(None) };
        let word = self.word()?;
        self.squares(set, word)?;
        Ok(Some(word))
    }

    /// Compiles a filter in which `move` tests all moves, not only the next move of the enclosing `line`.
    pub(super) fn untied<T>(
        &mut self,
        compile: impl FnOnce(&mut Self) -> CompileResult<T>,
    ) -> CompileResult<T> {
        let outer = self.tied.take();
        let out = compile(self);
        self.tied = outer;
        out
    }

    /// Compiles `consecutivemoves`.
    pub(super) fn consecutive_moves(
        &mut self,
        [first, second]: [VarId; 2],
        range: Option<&[Number; 2]>,
        to: RegisterWord,
    ) -> CompileResult {
        self.scratch(|this| {
            let [a, b, run] = [this.word()?, this.word()?, this.word()?];
            this.or_none(to, |this, no| {
                let mut ends = Vec::new();
                for (number, cmp) in range.into_iter().flatten().zip([Cmp::Ge, Cmp::Le]) {
                    let end = this.word()?;
                    this.number(number, end)?;
                    ends.push((end, cmp));
                }
                for &(end, _) in &ends {
                    this.emit(Instr::UnlessValue { number: end, no })?;
                }
                this.read(first, a)?;
                this.read(second, b)?;
                this.emit(Instr::Move(MoveInstr::CommonRun { to: run, a, b }))?;
                this.emit(Instr::UnlessValue { number: run, no })?;
                for (end, cmp) in ends {
                    this.emit(Instr::UnlessCompare { cmp, a: run, b: end, no })?;
                }
                this.emit(Instr::Copy { to, from: run })
            })
        })
    }
}
