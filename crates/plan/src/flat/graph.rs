//! Compiles operations on the board, such as directions, whose value is a set or a number and whose operands depend on variables.
//!
//! The filter is lowered to the graph of the plan, with parameters in place of the operands that depend on variables. Each node
//! that depends on a parameter becomes an instruction. All other nodes become operands of the program.

use std::{collections::HashMap, convert::Infallible};

use super::{
    compile::{CompileResult, Compiler},
    names::used,
};
use crate::{
    Instr, Label, LegalValue, MoveInstr, RegisterWord,
    dag::{Id, LoopId, Op},
    lower::Lower,
};
use orbit_query::tree::{Any, Cell, Cells, Control, Kind as _, NumberOp, Rewrite, SquaresOp, VarId, rewrite};
use orbit_transforms::{
    Condition, Expanded, Filter, FilterRef, Number, NumberOrbit, Orbit, Position, Squares, Text,
};

/// Replaces the operands of a filter with new variables.
struct Replace<'c, 'l> {
    compiler: &'c Compiler<'l>,
    /// True while the filter being visited is the one whose operands are replaced.
    outermost: bool,
    replaced: Vec<Filter>,
}

impl Replace<'_, '_> {
    fn outermost(&mut self) -> bool {
        std::mem::replace(&mut self.outermost, false)
    }

    /// Returns the variable that replaces an operand. Returns `None` if the operand is a leaf (a filter that a plan can express)
    /// that names no variables. A leaf that names variables is replaced, too, because the query's own variables do not exist in the
    /// graph.
    fn variable(&mut self, operand: FilterRef) -> Option<VarId> {
        let has_variables = operand.any(&mut |part| {
            let mut names_one = false;
            used(part, &mut |_| names_one = true);
            names_one
        });
        if !has_variables && self.compiler.is_leaf(operand) {
            return None;
        }
        self.replaced.push(operand.cloned());
        Some(VarId(self.replaced.len() as u32 - 1))
    }
}

impl Rewrite<Expanded, Expanded> for Replace<'_, '_> {
    type Stop = &'static str;

    fn mark(&mut self, fixed: &bool) -> bool {
        *fixed
    }

    fn squares(&mut self, f: &Squares) -> CompileResult<Squares> {
        if self.outermost() {
            return rewrite::squares(f, self);
        }
        let op = |var| SquaresOp::Control(Control::Var(var));
        Ok(self.variable(f.node()).map_or_else(|| f.clone(), |var| Squares::new(op(var), f.mark)))
    }

    fn number(&mut self, f: &Number) -> CompileResult<Number> {
        if self.outermost() {
            return rewrite::number(f, self);
        }
        let op = |var| NumberOp::Control(Control::Var(var));
        Ok(self.variable(f.node()).map_or_else(|| f.clone(), |var| Number::new(op(var), f.mark)))
    }

    fn condition(&mut self, _: &Condition) -> CompileResult<Condition> {
        Err("a condition in a filter of the board")
    }

    fn text(&mut self, _: &Text) -> CompileResult<Text> {
        Err("a string in a filter of the board")
    }

    fn position(&mut self, _: &Position) -> CompileResult<Position> {
        Err("a position in a filter of the board")
    }

    fn of_condition(&mut self, _: &Orbit, _: &bool) -> CompileResult<Condition> {
        Err("copies in a filter of the board")
    }

    fn of_squares(&mut self, _: &Orbit<Squares>, _: &bool) -> CompileResult<Squares> {
        Err("copies in a filter of the board")
    }

    fn of_number(&mut self, _: &NumberOrbit, _: &bool) -> CompileResult<Number> {
        Err("copies in a filter of the board")
    }

    fn of_text(&mut self, part: &Infallible, _: &bool) -> CompileResult<Text> {
        match *part {}
    }

    fn of_position(&mut self, part: &Infallible, _: &bool) -> CompileResult<Position> {
        match *part {}
    }
}

impl Compiler<'_> {
    /// Compiles an operation on the board whose value is a set and whose operands depend on variables.
    pub(super) fn squares_of_board(&mut self, f: &Squares, to: RegisterWord) -> CompileResult {
        let mut replace = Replace { compiler: self, outermost: true, replaced: Vec::new() };
        let filter = replace.squares(f)?;
        let operands = replace.replaced;
        self.of_board(&operands, to, 0, |lower| lower.squares(&filter))
    }

    /// Compiles an operation on the board whose value is a number and whose operands depend on variables.
    pub(super) fn number_of_board(&mut self, f: &Number, to: RegisterWord, none: u64) -> CompileResult {
        let mut replace = Replace { compiler: self, outermost: true, replaced: Vec::new() };
        let filter = replace.number(f)?;
        let operands = replace.replaced;
        self.of_board(&operands, to, none, |lower| {
            let number = lower.number(&filter);
            lower.packed_number(number)
        })
    }

    /// Compiles code that evaluates the operands and then computes a word from their values. `lower` lowers the computation to the
    /// graph. The result is `none` if a numeric operand has no value.
    fn of_board(
        &mut self,
        operands: &[Filter],
        to: RegisterWord,
        none: u64,
        lower: impl FnOnce(&mut Lower) -> Id,
    ) -> CompileResult {
        self.or_else(to, none, |this, no| {
            let mut words = Vec::new();
            for operand in operands {
                let word = this.word()?;
                match operand {
                    Any::Squares(f) => this.squares(f, word)?,
                    Any::Number(f) => this.number(f, word)?,
                    _ => return Err("such an operand of the board"),
                }
                words.push(word);
            }
            this.some(operands, &words, no)?;
            // The values of the parameters are known only when the program runs, so the table of the loop has no rows.
            let table = this.lower.dag.open_loop(Vec::new());
            let id = this.lower.apart(|of| {
                of.cells = Cells::unbound(operands.len());
                for (place, operand) in (0..).zip(operands) {
                    let param = of.dag.add(Op::Param(table, place));
                    let cell = match operand {
                        Any::Number(_) => Cell::Number(param),
                        _ => Cell::Squares(param),
                    };
                    of.cells.bind(VarId(place), cell);
                }
                lower(of)
            });
            if let Some(what) = this.lower.refused.take() {
                return Err(what);
            }
            let word = this.step(id, table, &words, &mut HashMap::new())?;
            this.emit(Instr::Copy { to, from: word })
        })
    }

    fn some(&mut self, operands: &[Filter], words: &[RegisterWord], no: Label) -> CompileResult {
        let numbers = operands.iter().zip(words).filter(|(operand, _)| matches!(operand, Any::Number(_)));
        for (_, &number) in numbers {
            self.emit(Instr::UnlessValue { number, no })?;
        }
        Ok(())
    }

    /// Emits the instructions that compute a graph node, and returns the register with its value.
    fn step(
        &mut self,
        id: Id,
        table: LoopId,
        params: &[RegisterWord],
        known: &mut HashMap<Id, RegisterWord>,
    ) -> CompileResult<RegisterWord> {
        if let Some(&word) = known.get(&id) {
            return Ok(word);
        }
        let op = self.lower.dag.op(id);
        if let Op::Param(of, place) = op
            && of == table
        {
            return Ok(params[place as usize]);
        }
        let to = self.word()?;
        if !self.lower.dag.within[id.0 as usize].contains(&table) {
            self.load(to, id)?;
        } else {
            if let Op::Legal { from, to: squares, pseudo, only, .. }
            | Op::LegalCount { from, to: squares, pseudo, only } = op
            {
                let [from, squares] =
                    [self.step(from, table, params, known)?, self.step(squares, table, params, known)?];
                let value = match op {
                    Op::Legal { left: true, .. } => LegalValue::Left,
                    Op::Legal { .. } => LegalValue::Reached,
                    _ => LegalValue::Count,
                };
                self.emit(Instr::Move(MoveInstr::Legal { to, from, squares, pseudo, only, value }))?;
                known.insert(id, to);
                return Ok(to);
            }
            if op.takes_whole_positions() || matches!(op, Op::Loop(_)) {
                return Err("moves or pieces of sets that depend on variables");
            }
            if let Op::Content(set) = op {
                let set = self.step(set, table, params, known)?;
                self.emit(Instr::Content { to, set })?;
                known.insert(id, to);
                return Ok(to);
            }
            let mut words = HashMap::new();
            for arg in op.args() {
                words.insert(arg, self.step(arg, table, params, known)?);
            }
            let word = |id: Id| words[&id];
            self.emit(match op {
                Op::And(a, b) => Instr::And { to, a: word(a), b: word(b) },
                Op::Or(a, b) => Instr::Or { to, a: word(a), b: word(b) },
                Op::AndNot(a, b) => Instr::AndNot { to, a: word(a), b: word(b) },
                _ => Instr::Do { to, op: op.map(|id| Id(word(id).0.into())) },
            })?;
        }
        known.insert(id, to);
        Ok(to)
    }
}
