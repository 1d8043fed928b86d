//! `find`: a filter that depends on variables, at one position after the other.

use super::{
    compile::{Compiled, Compiler},
    edges::pieces,
};
use crate::{
    orbit::{Expanded, Filter, FilterRef},
    plan::{Id, Instr, Label, Word},
    query::tree::{
        ConditionOp as C, Control, Edge, Elsewhere, GameCondition, GameNumber, GameSquares, Kind as _,
        NumberOp as N, Promotion, Ref, SquaresOp as S,
    },
};

impl Compiler<'_> {
    /// `find F`: the first position at which F matches.
    pub(super) fn find(&mut self, of: &Filter, back: bool, to: Word) -> Compiled {
        self.scratch(|this| {
            let first = this.word()?;
            let key = if back { None } else { this.key_of(of.node()) };
            let Some(key) = key else {
                this.first_found(of, back, first)?;
                return this.emit(Instr::Copy { to, from: first });
            };
            let site = u16::try_from(this.sites).map_err(|_| "so many searches")?;
            this.sites += 1;
            let (from, last, known) = (this.word()?, this.word()?, this.label());
            if let Some(var) = key {
                this.holds(var)?;
            }
            let key = key.map(|var| Word(this.var(var)));
            this.emit(Instr::Here { to: from })?;
            this.emit(Instr::Last { to: last })?;
            this.emit(Instr::Recall { site, key, last, to: first, done: known })?;
            this.first_found(of, back, first)?;
            this.emit(Instr::Remember { site, key, from, last, found: first })?;
            this.place(known);
            this.emit(Instr::Copy { to, from: first })
        })
    }

    fn first_found(&mut self, of: &Filter, back: bool, first: Word) -> Compiled {
        self.no_value(first)?;
        self.each_found(of, back, |this, (node, done)| {
            this.emit(Instr::Copy { to: first, from: node })?;
            this.emit(Instr::Jump(done))
        })
    }

    /// Evaluates a filter at each node from here on, or back, and runs `found` where it matches, with the node and
    /// the label behind the loop. There the node is the one from before.
    pub(super) fn each_found(
        &mut self,
        of: &Filter,
        back: bool,
        found: impl FnOnce(&mut Self, (Word, Label)) -> Compiled,
    ) -> Compiled {
        let lead = if back { None } else { self.lead(of.node())? };
        self.scratch(|this| {
            let [here, node, last] = [this.word()?, this.word()?, this.word()?];
            let (next, done) = (this.label(), this.label());
            this.emit(Instr::Here { to: here })?;
            this.emit(Instr::Copy { to: node, from: here })?;
            this.emit(Instr::Last { to: last })?;
            let again = this.label_here();
            if let Some(mask) = lead {
                let mask = this.operand(mask, true)?;
                this.emit(Instr::Seek { node, last, mask, done })?;
            }
            this.emit(Instr::Go { to: node })?;
            this.untied(|this| this.unless(of.node(), next))?;
            found(this, (node, done))?;
            this.place(next);
            if back {
                // A candidate may lead elsewhere, but it comes back.
                this.emit(Instr::Parent { to: node })?;
                this.emit(Instr::UnlessValue { number: node, no: done })?;
            } else {
                this.emit(Instr::Next { node, last, done })?;
            }
            this.emit(Instr::Jump(again))?;
            this.place(done);
            this.emit(Instr::Go { to: here })
        })
    }

    /// A mask without which a filter fails before it has kept anything.
    fn lead(&mut self, filter: FilterRef) -> Compiled<Option<Id>> {
        if let Some(mask) = self.leaf(filter, |lower| lower.truth(filter))? {
            return Ok(Some(mask));
        }
        match filter {
            Ref::Condition(f) => match f.op() {
                C::Braces(all) if let Some(first) = all.first() => self.lead(first.node()),
                C::And(first, _) => self.lead(first.node()),
                C::Game(GameCondition::Edge { edge, .. }) => self.relaxed(edge),
                _ => Ok(None),
            },
            Ref::Squares(f) => match f.op() {
                S::Control(Control::Braces { first, .. }) if let Some(first) = first.first() => {
                    self.lead(first.node())
                }
                S::Game(GameSquares::Elsewhere(Elsewhere::Edge { edge, .. })) => self.relaxed(edge),
                _ => Ok(None),
            },
            Ref::Number(f) => match f.op() {
                N::Control(Control::Braces { first, .. }) if let Some(first) = first.first() => {
                    self.lead(first.node())
                }
                N::Game(GameNumber::Elsewhere(Elsewhere::Edge { edge, .. })) => self.relaxed(edge),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Where a move fits what of a `--` does not depend on variables, if that says anything.
    pub(super) fn relaxed(&mut self, edge: &Edge<Expanded>) -> Compiled<Option<Id>> {
        let sides = || edge.from.iter().chain(&edge.to);
        if edge.entering || self.selected.is_some() || !sides().all(|side| self.is_harmless(side.node())) {
            return Ok(None);
        }
        let kept =
            |side: &Option<crate::orbit::Squares>| side.clone().filter(|side| self.is_leaf(side.node()));
        let promotion = pieces(edge).map(Promotion::Pieces);
        let relaxed = Edge { from: kept(&edge.from), to: kept(&edge.to), promotion, ..edge.clone() };
        if relaxed.from.is_none() && relaxed.to.is_none() && !edge.capture && edge.promotion.is_none() {
            return Ok(None);
        }
        let mask = self.lower.apart(|lower| lower.edge_truth(&relaxed, |lower| lower.target(None)));
        match self.lower.refused.take() {
            Some(what) => Err(what),
            None => Ok(Some(mask)),
        }
    }
}
