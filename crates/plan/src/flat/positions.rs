//! Compiles filters whose value is a position of the game, and filters that are evaluated at such a position.

use super::compile::{CompileResult, Compiler};
use crate::{Instr, Label, RegisterWord, dag::NO_VALUE};
use orbit_query::tree::{Elsewhere, GamePosition as G, Kind as _, PositionOp as P, PositionOrder};
use orbit_transforms::{Expanded, Position};

impl Compiler<'_> {
    /// Compiles a filter whose value is a position. The code stores the number of the position in the register `to`.
    pub(super) fn position(&mut self, f: &Position, to: RegisterWord) -> CompileResult {
        if let P::Game(G::Current) = f.op() {
            return self.emit(Instr::Here { to });
        }
        let leaf = self.leaf(f.node(), |lower| {
            let position = lower.position(f);
            lower.packed_number(position)
        });
        if let Some(position) = leaf? {
            return self.load(to, position);
        }
        match f.op() {
            P::Find { back, of, .. } => self.find(of, *back, to),
            P::Control(of) => {
                self.control(of, to, NO_VALUE as u64, |this, f: &Position| this.position(f, to))
            }
            P::Game(op) => self.game_position(op, to),
            P::Form(never) => match *never {},
        }
    }

    fn game_position(&mut self, op: &G<Expanded>, to: RegisterWord) -> CompileResult {
        match op {
            G::Child(number) => self.of_number(number, |this, number| this.emit(Instr::Child { to, number })),
            G::Numbered(number) => {
                self.of_number(number, |this, number| this.emit(Instr::Numbered { to, number }))
            }
            G::LastCommonAncestor(a, b) => {
                self.two_positions(a, b, |this, [a, b]| this.emit(Instr::Fork { to, a, b }))
            }
            G::Compare { by, left, right } => self.two_positions(left, right, |this, [a, b]| {
                this.or_none(to, |this, no| {
                    this.unless_order(*by, a, b, no)?;
                    this.emit(Instr::Copy { to, from: a })
                })
            }),
            G::Elsewhere(Elsewhere::At { at, of }) => {
                self.value_at(at, to, NO_VALUE as u64, |this| this.position(of, to))
            }
            G::Elsewhere(Elsewhere::Edge { edge, target }) => {
                self.edge_value(edge, to, NO_VALUE as u64, |this, next| {
                    this.position(target, to)?;
                    this.emit(Instr::UnlessValue { number: to, no: next })
                })
            }
            G::LineEnd(line) => self.line(line, true, to),
            G::PathEnd(path) => self.path(path, true, to),
            G::Entry { dictionary, key } => self.entry(*dictionary, key, to, NO_VALUE as u64),
            G::PathStart => self.of_path(0, to),
            _ => Err("a position that depends on variables"),
        }
    }

    /// Compiles a comparison of two positions. The code jumps to `no` unless both exist and are in the given order.
    pub(super) fn unless_order(
        &mut self,
        by: PositionOrder,
        a: RegisterWord,
        b: RegisterWord,
        no: Label,
    ) -> CompileResult {
        self.unless_values([a, b], no)?;
        match by {
            PositionOrder::Number(cmp) => self.emit(Instr::UnlessCompare { cmp, a, b, no }),
            PositionOrder::Before => self.emit(Instr::UnlessBefore { a, b, no }),
            PositionOrder::After => self.emit(Instr::UnlessBefore { a: b, b: a, no }),
            PositionOrder::NotAfter | PositionOrder::NotBefore => {
                let (a, b) = if by == PositionOrder::NotAfter { (a, b) } else { (b, a) };
                let (differ, done) = (self.label(), self.label());
                self.emit(Instr::UnlessCompare { cmp: orbit_query::tree::Cmp::Eq, a, b, no: differ })?;
                self.emit(Instr::Jump(done))?;
                self.place(differ);
                self.emit(Instr::UnlessBefore { a, b, no })?;
                self.place(done);
                Ok(())
            }
        }
    }

    /// Compiles `P:F` as a condition. The code jumps to `no` if P has no value or if F fails at P. `there` compiles F.
    pub(super) fn at_position(
        &mut self,
        at: &Position,
        no: Label,
        there: impl FnOnce(&mut Self, Label) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let node = this.word()?;
            this.position(at, node)?;
            this.emit(Instr::UnlessValue { number: node, no })?;
            this.selecting(None, |this| this.at_node(node, no, there))
        })
    }

    /// Compiles `P:F`, where F has a value. `there` compiles F, whose code leaves the value in the register `to`. If P has no
    /// value, the code stores `none` in this register.
    pub(super) fn value_at(
        &mut self,
        at: &Position,
        to: RegisterWord,
        none: u64,
        there: impl FnOnce(&mut Self) -> CompileResult,
    ) -> CompileResult {
        self.or_else(to, none, |this, no| {
            let node = this.word()?;
            this.position(at, node)?;
            this.emit(Instr::UnlessValue { number: node, no })?;
            this.selecting(None, |this| this.value_at_node(node, there))
        })
    }
}
