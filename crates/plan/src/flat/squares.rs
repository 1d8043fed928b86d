//! Compiles filters whose value is a set of squares. The code leaves the set in a register.

use super::{
    compile::{CompileResult, Compiler},
    conditions::SquareLoop,
    names::assigns,
};
use crate::{Instr, Label, RegisterWord, TextInstr, dag::TRUE, operations::Leaf};
use orbit_query::tree::{Control, Elsewhere, GameSquares as G, Kind as _, Ref, SquaresOp as S};
use orbit_transforms::{Expanded, FilterRef, Squares};

impl Compiler<'_> {
    /// Compiles a filter whose value is a set of squares. The code leaves the set in the register `to`.
    pub(super) fn squares(&mut self, f: &Squares, to: RegisterWord) -> CompileResult {
        if let Some(set) = self.leaf(f.node(), |lower| lower.squares(f))? {
            return self.load(to, set);
        }
        match f.op() {
            S::Union(a, b) => self.two_sets(a, b, |this, [a, b]| this.emit(Instr::Or { to, a, b })),
            S::Intersect(a, b) => self.two_sets(a, b, |this, [a, b]| this.emit(Instr::And { to, a, b })),
            S::Complement(of) => self.scratch(|this| {
                let (all, set) = (this.word()?, this.word()?);
                this.squares(of, set)?;
                this.constant(all, TRUE)?;
                this.emit(Instr::AndNot { to, a: all, b: set })
            }),
            S::MakeSquare { file, rank } => {
                self.two_numbers(file, rank, |this, [file, rank]| this.emit(Instr::Square { to, file, rank }))
            }
            S::SquareLoop { var, domain, body } => self.scratch(|this| {
                let (set, out) = (this.word()?, this.word()?);
                this.squares(domain, set)?;
                this.constant(out, 0)?;
                let none = this.label();
                this.unless_begins(*var, [domain.node(), body.node()], none)?;
                let of = SquareLoop { var: *var, domain, body: body.node(), set, pieces: false };
                this.loop_into(of, out)?;
                this.place(none);
                this.emit(Instr::Copy { to, from: out })
            }),
            S::Control(of) => self.control(of, to, 0, |this, f: &Squares| this.squares(f, to)),
            S::Game(op) => self.game_squares(op, to),
            S::Form(orbit) => self.scratch(|this| {
                let (all, set) = (this.word()?, this.word()?);
                this.constant(all, 0)?;
                for (_, copy) in orbit.in_turn() {
                    this.squares(&copy.filter, set)?;
                    this.emit(Instr::Or { to: all, a: all, b: set })?;
                }
                this.emit(Instr::Copy { to, from: all })
            }),
            _ if self.rays(f, to)? => Ok(()),
            _ => self.squares_of_board(f, to),
        }
    }

    fn loop_into(&mut self, of: SquareLoop, out: RegisterWord) -> CompileResult {
        self.each_square(of, None, |this, here| {
            let no = this.label();
            this.unless(of.body, no)?;
            this.emit(Instr::Or { to: out, a: out, b: here })?;
            this.place(no);
            Ok(())
        })
    }

    /// Emits code that jumps to `no` if a set filter does not match. A filter whose value is the set of a `--` filter can match
    /// even if the set is empty.
    pub(super) fn unless_squares(&mut self, f: &Squares, no: Label) -> CompileResult {
        match f.op() {
            S::Control(Control::If { condition, then, other }) => {
                let (otherwise, done) = (self.label(), self.label());
                self.unless(condition.node(), otherwise)?;
                self.unless(then.node(), no)?;
                self.emit(Instr::Jump(done))?;
                self.place(otherwise);
                self.unless(other.node(), no)?;
                self.place(done);
                Ok(())
            }
            S::Control(Control::Braces { first, last }) => {
                self.in_order(first, no, |this| this.unless(last.node(), no))
            }
            S::Game(G::Elsewhere(Elsewhere::At { at, of })) => {
                self.at_position(at, no, |this, no| this.unless(of.node(), no))
            }
            S::Game(G::Elsewhere(Elsewhere::Edge { edge, target })) => {
                self.unless_edge(edge, no, |this, no| this.unless(target.node(), no))
            }
            S::Form(orbit) => self.count_copies(orbit, |this, set| this.emit(Instr::UnlessAny { set, no })),
            S::Game(G::Entry { dictionary, key }) => self.scratch(|this| {
                // The filter matches if the dictionary contains the key, even if the value is the empty set.
                let set = this.word()?;
                this.unless_entry(*dictionary, key, set, no)
            }),
            _ => self.scratch(|this| {
                let set = this.word()?;
                this.squares(f, set)?;
                this.emit(Instr::UnlessAny { set, no })
            }),
        }
    }

    fn game_squares(&mut self, op: &G<Expanded>, to: RegisterWord) -> CompileResult {
        match op {
            G::Elsewhere(Elsewhere::At { at, of }) => self.value_at(at, to, 0, |this| this.squares(of, to)),
            G::Elsewhere(Elsewhere::Edge { edge, target }) => {
                self.edge_value(edge, to, 0, |this, _| this.squares(target, to))
            }
            G::Entry { dictionary, key } => self.entry(*dictionary, key, to, 0),
            G::SquareOf(of) => {
                self.of_text(of, |this, of| this.emit(Instr::Text(TextInstr::SquareOf { to, of })))
            }
            G::Move(of) => self.squares_of_moves(of, to),
            G::From | G::To => {
                let reached = matches!(op, G::To);
                match self.selected {
                    Some(selected) => self.emit(Instr::Own { to, selected, reached }),
                    None => {
                        let leaf = if reached { Leaf::To } else { Leaf::From };
                        let word = self.lower.leaf(leaf);
                        self.load(to, word)
                    }
                }
            }
            G::Piece(var) => {
                self.pieces = true;
                self.holds(*var)?;
                self.emit(Instr::PieceSquare { to, piece: RegisterWord(self.var(*var)) })
            }
            G::PieceLoop { var, domain, body } => self.scratch(|this| {
                let (set, out) = (this.word()?, this.word()?);
                this.squares(domain, set)?;
                this.only_movers(*var, [domain.node(), body.node()], set)?;
                this.constant(out, 0)?;
                let none = this.label();
                this.unless_begins(*var, [domain.node(), body.node()], none)?;
                let of = SquareLoop { var: *var, domain, body: body.node(), set, pieces: true };
                this.loop_into(of, out)?;
                this.place(none);
                this.emit(Instr::Copy { to, from: out })
            }),
            G::SameContents(a, b) => self.two_positions(a, b, |this, [a, b]| {
                let planes = this.planes()?;
                this.emit(Instr::Same { to, a, b, planes })
            }),
            _ => Err("a set of the game language that depends on variables"),
        }
    }
}

/// Returns true if the value of a query is the set of a `--` whose target stores values. With side lines, several moves can follow a
/// position: whether the query matches depends on the target after each of them, but the value only on the target after the first. So
/// the programs for hits and for values would store different values.
pub(crate) fn stores_after_moves(filter: FilterRef) -> bool {
    let Ref::Squares(f) = filter else { return false };
    match f.op() {
        S::Control(Control::If { then, other, .. }) => {
            stores_after_moves(then.node()) || stores_after_moves(other.node())
        }
        S::Control(Control::Braces { last, .. }) => stores_after_moves(last.node()),
        S::Game(G::Elsewhere(Elsewhere::Edge { target, .. })) => target.node().any(&mut assigns),
        _ => false,
    }
}
