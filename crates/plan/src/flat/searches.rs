//! Compiles `find` with a filter that depends on variables. The program evaluates the filter at one position after the other.
//!
//! A *chain* is the sequence of constituents of a `line` or `path`.

use super::{
    compile::{CompileResult, Compiler, Lead},
    edges::{edge_of, first_operand, piece_of, sides},
    leaves::is_state,
    names::{assigns, used},
};
use crate::{
    Id, Instr, Label, MoveSeek, RegisterWord,
    operations::{GameOp, Leaf},
};
use orbit_core::board::PieceSet;
use orbit_query::tree::{
    Assigned, Cell, Cells, Chain, ConditionOp as C, Control, DictionaryId, Edge, Elsewhere, GameNumber,
    GameSquares, Kind as _, NumberOp as N, PositionOp, Promotion, Ref, SquaresOp as S, VarId,
};
use orbit_transforms::{Expanded, Filter, FilterRef, Number, Squares};

/// A condition that holds at each position that a search can find: the piece in `piece` stands on the square in `set`. The square
/// is known only if all of `vars` are bound.
struct Stand {
    piece: RegisterWord,
    /// The register of a set whose only square is the one on which the piece must stand.
    set: RegisterWord,
    vars: Vec<u16>,
}

impl Compiler<'_> {
    /// Compiles `find F`: the first position at which F matches.
    pub(super) fn find(&mut self, of: &Filter, back: bool, to: RegisterWord) -> CompileResult {
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
            let key = key.map(|var| RegisterWord(this.var(var)));
            this.emit(Instr::Here { to: from })?;
            this.emit(Instr::Last { to: last })?;
            this.emit(Instr::Recall { site, key, last, to: first, done: known })?;
            this.first_found(of, back, first)?;
            this.emit(Instr::Remember { site, key, from, last, found: first })?;
            this.place(known);
            this.emit(Instr::Copy { to, from: first })
        })
    }

    fn first_found(&mut self, of: &Filter, back: bool, first: RegisterWord) -> CompileResult {
        self.no_value(first)?;
        self.each_found(of, back, |this, (node, done)| {
            this.emit(Instr::Copy { to: first, from: node })?;
            this.emit(Instr::Jump(done))
        })
    }

    /// Compiles a loop that evaluates a filter at each position, from the current one to the end or, with `back`, to the start.
    /// `found` compiles code that runs where the filter matches. It receives the register with the number of the position, and the
    /// label after the loop. After the loop, the previous position is current again.
    pub(super) fn each_found(
        &mut self,
        of: &Filter,
        back: bool,
        found: impl FnOnce(&mut Self, (RegisterWord, Label)) -> CompileResult,
    ) -> CompileResult {
        let lead = if back { None } else { self.lead(of.node())? };
        self.scratch(|this| {
            let [here, node, last] = [this.word()?, this.word()?, this.word()?];
            let (next, done) = (this.label(), this.label());
            let seek = if back { None } else { this.move_seek(of.node())? };
            let stand = if back { None } else { this.stand(of.node())? };
            this.emit(Instr::Here { to: here })?;
            this.emit(Instr::Copy { to: node, from: here })?;
            this.emit(Instr::Last { to: last })?;
            if let Some((stand, set)) = &stand {
                this.where_bound(&stand.vars, |this| this.squares(set, stand.set))?;
            }
            let again = this.label_here();
            if let Some((Stand { piece, set, vars }, _)) = stand {
                this.where_bound(&vars, |this| this.emit(Instr::SeekPiece { piece, set, node, last, done }))?;
            }
            if let Some(lead) = lead {
                this.where_bound(&lead.vars, |this| {
                    let mask = this.operand(lead.mask, true)?;
                    this.emit(Instr::Seek { node, last, mask, done })
                })?;
            }
            if let Some(seek) = seek {
                this.emit(Instr::SeekMove { seek, node, last, done })?;
            }
            this.emit(Instr::Go { to: node })?;
            this.untied(|this| this.unless(of.node(), next))?;
            found(this, (node, done))?;
            this.place(next);
            if back {
                // The filter may make other positions current, but restores this one before it ends.
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

    /// Returns the [`Lead`] of a filter: a mask that must be true for the filter to match. Returns `None` if none is found.
    pub(super) fn lead(&mut self, mut filter: FilterRef) -> CompileResult<Option<Lead>> {
        loop {
            if let Some(mask) = self.leaf(filter, |lower| lower.truth(filter))? {
                return Ok(Some(Lead { mask, vars: Vec::new() }));
            }
            match first_operand(filter) {
                Some(first) => filter = first,
                None => return edge_of(filter).map_or(Ok(None), |edge| self.relaxed(edge, None)),
            }
        }
    }

    /// Returns the [`Lead`] of a chain (a `line` or `path`): a mask that must be true where the chain begins. `of` returns the lead
    /// of one constituent.
    pub(super) fn chain_lead<T>(
        &mut self,
        chain: &Chain<T>,
        of: &dyn Fn(&mut Self, &T) -> CompileResult<Option<Lead>>,
    ) -> CompileResult<Option<Lead>> {
        let (lead, may_be_empty) = self.first_lead(chain, of)?;
        Ok(lead.filter(|_| !may_be_empty))
    }

    /// Returns a [`Lead`], a mask that every possible first constituent of a chain (a `line` or `path`) requires. The flag is true
    /// if the chain may be empty.
    fn first_lead<T>(
        &mut self,
        chain: &Chain<T>,
        of: &dyn Fn(&mut Self, &T) -> CompileResult<Option<Lead>>,
    ) -> CompileResult<(Option<Lead>, bool)> {
        match chain {
            Chain::One(step) => Ok((of(self, step)?, false)),
            Chain::Repeat { of: part, min, .. } => {
                let (lead, may_be_empty) = self.first_lead(part, of)?;
                Ok((lead, may_be_empty || *min == 0))
            }
            Chain::Sequence(parts) => {
                let mut any = Some(Lead { mask: self.lower.dag.word(0), vars: Vec::new() });
                for part in parts {
                    let (lead, may_be_empty) = self.first_lead(part, of)?;
                    any = any.zip(lead).map(|(any, lead)| Lead {
                        mask: self.lower.or(any.mask, lead.mask),
                        vars: [any.vars, lead.vars].concat(),
                    });
                    if !may_be_empty {
                        return Ok((any, false));
                    }
                }
                Ok((any, true))
            }
        }
    }

    /// Compiles code that jumps to `no` if the [`Lead`] of a filter (a mask that must be true for the filter to match) is false.
    pub(super) fn unless_led(&mut self, lead: Option<Lead>, no: Label) -> CompileResult {
        let Some(Lead { mask, vars }) = lead else { return Ok(()) };
        self.where_bound(&vars, |this| this.unless_mask(mask, no))
    }

    /// Compiles code that is skipped unless all of `vars` are bound.
    fn where_bound(&mut self, vars: &[u16], code: impl FnOnce(&mut Self) -> CompileResult) -> CompileResult {
        let no = self.label();
        vars.iter().try_for_each(|&var| self.emit(Instr::UnlessBound { var, bound: true, no }))?;
        code(self)?;
        self.place(no);
        Ok(())
    }

    /// Returns those variables that the given filters read and that may be unbound. Returns `None` if the filters store values or
    /// may end the run.
    fn unsure(&self, filters: &[FilterRef]) -> Option<Vec<u16>> {
        let mut vars = Vec::new();
        for filter in filters {
            if filter.any(&mut is_state) {
                return None;
            }
            filter.walk(&mut |filter| used(filter, &mut |var| vars.push(var)));
        }
        vars.retain(|var| !self.sure.contains(var));
        let mut vars: Vec<u16> = vars.into_iter().map(|var| self.var(var)).collect();
        vars.sort_unstable();
        vars.dedup();
        Some(vars)
    }

    /// Returns the index of a move test. If no move from a position passes the test, the filter fails at that position before it
    /// stores anything. Returns `None` if there is no such test.
    fn move_seek(&mut self, filter: FilterRef) -> CompileResult<Option<u16>> {
        let first = std::iter::successors(Some(filter), |&filter| first_operand(filter)).last();
        let Some(edge) = first.and_then(edge_of) else { return Ok(None) };
        if edge.entering || self.selected.is_some() {
            return Ok(None);
        }
        let Some(vars) = self.unsure(&operands(edge)) else { return Ok(None) };
        self.seek_of(MoveSeek { vars, ..MoveSeek::default() }, sides(edge))
    }

    /// Returns the index of a test for the first move of a path. The path begins with the move `edge` and the filters `targets`
    /// after it, and can match only at positions from which some move passes the test. Emits the code that computes the sets of the
    /// test. These sets depend neither on the variables in `changed` nor on dictionaries that change before the test runs.
    pub(super) fn first_moves(
        &mut self,
        edge: &Edge<Expanded>,
        targets: &[Filter],
        changed: &[VarId],
    ) -> CompileResult<Option<u16>> {
        let (None, Some(vars)) = (self.selected, self.unsure(&operands(edge))) else { return Ok(None) };
        let keeps = |set: &Squares| {
            let mut keeps = true;
            set.node().walk(&mut |filter| used(filter, &mut |var| keeps &= !changed.contains(&var)));
            keeps
        };
        let mut seek = MoveSeek { vars, ..MoveSeek::default() };
        let sides = sides(edge).map(|side| side.filter(|side| keeps(side)));
        if let Some((dictionary, key)) = targets.first().and_then(|target| entry_reached(target.node())) {
            let word = self.word()?;
            self.entry(dictionary, &key, word, 0)?;
            seek.to = Some(word);
        }
        self.seek_of(seek, sides)
    }

    /// Returns the indices of move tests for a chain (a `line` or `path`). Each match of the chain contains moves that pass the
    /// tests, in this order. `filters` lists the filters of all constituents. `moves` lists the origin and target squares that the
    /// constituents require, in order.
    pub(super) fn moves_ahead(
        &mut self,
        filters: &[FilterRef],
        moves: Vec<[Option<&Squares>; 2]>,
    ) -> CompileResult<Vec<u16>> {
        let (None, Some(vars)) = (self.selected, self.unsure(filters)) else { return Ok(Vec::new()) };
        // The search itself tests the first constituent, so the move tests are useful only if one of them tests a later move.
        if !moves.iter().skip(1).flatten().any(Option::is_some) {
            return Ok(Vec::new());
        }
        let mut tests = Vec::new();
        for sides in moves {
            let seek = MoveSeek { vars: vars.clone(), ..MoveSeek::default() };
            tests.extend(self.seek_of(seek, sides)?);
        }
        Ok(tests)
    }

    /// Completes a move test with the sets in which the origin and target squares of the move must be, adds it to the program, and
    /// returns its index. Returns `None` if every move passes the test.
    fn seek_of(
        &mut self,
        mut seek: MoveSeek,
        [from, to]: [Option<&Squares>; 2],
    ) -> CompileResult<Option<u16>> {
        if let Some(from) = from {
            seek.piece = piece_of(from).map(|var| RegisterWord(self.var(var)));
            seek.from = self.steady(from)?;
        }
        if let Some(to) = to {
            seek.to = seek.to.or(self.steady(to)?);
        }
        self.pieces |= seek.piece.is_some();
        self.seek(seek)
    }

    /// Adds a move test to the program, and returns its index. Returns `None` if every move passes the test.
    fn seek(&mut self, seek: MoveSeek) -> CompileResult<Option<u16>> {
        if seek.from.or(seek.to).or(seek.piece).is_none() {
            return Ok(None);
        }
        let place = u16::try_from(self.seeks.len()).map_err(|_| "so many searches")?;
        self.seeks.push(seek);
        Ok(Some(place))
    }

    /// If a filter can match only where a piece stands on a certain square, returns the piece, and the set that determines the
    /// square. The set is the value of a variable, or is evaluated at another position. Where the piece stands elsewhere, the
    /// filter fails before it stores anything.
    fn stand<'f>(&mut self, filter: FilterRef<'f>) -> CompileResult<Option<(Stand, &'f Squares)>> {
        let first = std::iter::successors(Some(filter), |&filter| first_operand(filter)).last();
        let Some(Ref::Condition(f)) = first else { return Ok(None) };
        let C::SetEq { equal: true, left, right } = f.op() else { return Ok(None) };
        for (of_piece, set) in [(left, right), (right, left)] {
            let (S::Game(GameSquares::Piece(var)), true) = (of_piece.op(), is_steady(set)) else { continue };
            let sides = [of_piece.node(), set.node()];
            let Some(vars) = self.unsure(&sides) else { continue };
            let mut names = Vec::new();
            sides
                .into_iter()
                .for_each(|side| side.walk(&mut |filter| used(filter, &mut |var| names.push(var))));
            let changes = &mut |filter: FilterRef| {
                let mut own = Vec::new();
                used(filter, &mut |var| own.push(var));
                assigns(filter) && own.iter().any(|var| names.contains(var))
            };
            if self.selected.is_some() || filter.any(changes) {
                continue;
            }
            self.pieces = true;
            return Ok(Some((Stand { piece: RegisterWord(self.var(*var)), set: self.word()?, vars }, set)));
        }
        Ok(None)
    }

    /// Returns the register of a superset of `set`. The superset is the same at all positions until a variable changes. Returns
    /// `None` if no such superset is known.
    fn steady(&mut self, set: &Squares) -> CompileResult<Option<RegisterWord>> {
        match set.op() {
            S::Intersect(a, b) => Ok(self.steady(a)?.or(self.steady(b)?)),
            S::Control(Control::Var(var)) => Ok(Some(RegisterWord(self.var(*var)))),
            _ => {
                let Some(id) = self.leaf(set.node(), |lower| lower.squares(set))? else { return Ok(None) };
                let Some(squares) = self.lower.dag.constant(id) else { return Ok(None) };
                let word = self.word()?;
                self.constant(word, squares)?;
                Ok(Some(word))
            }
        }
    }

    /// Returns the [`Lead`] of a `--` filter: a mask that must be true for the filter to match. The mask is derived from the part
    /// of the filter that does not depend on variables. `mover` is the variable of the piece that makes the move; if it is `None`,
    /// the filter may determine that piece. In place of the square of this piece, the lead uses the origin squares of all next
    /// moves.
    pub(super) fn relaxed(
        &mut self,
        edge: &Edge<Expanded>,
        mover: Option<VarId>,
    ) -> CompileResult<Option<Lead>> {
        if edge.entering || self.selected.is_some() {
            return Ok(None);
        }
        let Some(vars) = self.unsure(&operands(edge)) else { return Ok(None) };
        let promotion = edge.promotion.as_ref().map(|to| match to {
            Promotion::Pieces(pieces) => Promotion::Pieces(*pieces),
            Promotion::Letters(_) => Promotion::Pieces(PieceSet::WHITE.union(PieceSet::BLACK)),
        });
        let mover = mover.or_else(|| edge.from.as_ref().and_then(piece_of));
        let from = edge.from.as_ref().and_then(|from| self.known_part(from, None));
        let to = edge.to.as_ref().and_then(|to| self.known_part(to, mover));
        let relaxed = Edge { from, to, promotion, ..edge.clone() };
        if relaxed.from.is_none() && relaxed.to.is_none() && !edge.capture && edge.promotion.is_none() {
            return Ok(None);
        }
        let leaving = self.leaving();
        let place = self.place_of_mover();
        let mask = self.lower.apart(|lower| {
            lower.cells = Cells::unbound(place.0 as usize + 1);
            lower.cells.bind(place, Cell::Squares(leaving));
            lower.edge_truth(&relaxed, |lower| lower.target(None))
        });
        match self.lower.refused.take() {
            Some(what) => Err(what),
            None => Ok(Some(Lead { mask, vars })),
        }
    }

    /// Returns a superset of a set that depends on no variable but [`Self::place_of_mover`]. Returns `None` if no such superset is
    /// known.
    fn known_part(&self, set: &Squares, mover: Option<VarId>) -> Option<Squares> {
        if self.is_leaf(set.node()) {
            return Some(set.clone());
        }
        let known = |set: &Squares| self.known_part(set, mover);
        let op = match set.op() {
            S::Intersect(a, b) => match (known(a), known(b)) {
                (Some(a), Some(b)) => S::Intersect(a, b),
                (a, b) => return a.or(b),
            },
            S::Union(a, b) => S::Union(known(a)?, known(b)?),
            S::Direction { dirs, lo, hi, of } => {
                S::Direction { dirs: *dirs, lo: *lo, hi: *hi, of: known(of)? }
            }
            S::Game(GameSquares::Piece(var)) if Some(*var) == mover => {
                S::Control(Control::Var(self.place_of_mover()))
            }
            _ => return None,
        };
        Some(Squares::new(op, set.mark))
    }

    /// Returns a variable for the origin squares of the next moves. Its number is not used by any variable of the query.
    fn place_of_mover(&self) -> VarId {
        VarId(self.facts.vars.len() as u32)
    }

    /// Returns the origin squares of the moves that are played from each position.
    pub(super) fn leaving(&mut self) -> Id {
        let from = self.lower.leaf(Leaf::From);
        self.lower.dag.game(GameOp::UnionChildren, vec![from])
    }
}

/// Recognizes the filter `D[pathcount]==to` after the first move of a path: the move must reach the square in an entry of a
/// dictionary. Returns the dictionary and the key, or `None` for other filters.
fn entry_reached(filter: FilterRef<'_>) -> Option<(DictionaryId, Assigned<Expanded>)> {
    let Ref::Condition(f) = std::iter::successors(Some(filter), |&filter| first_operand(filter)).last()?
    else {
        return None;
    };
    let C::SetEq { equal: true, left, right } = f.op() else { return None };
    [(left, right), (right, left)].into_iter().find_map(|(set, to)| match (set.op(), to.op()) {
        (
            S::Game(GameSquares::Entry { dictionary, key: Assigned::Number(key) }),
            S::Game(GameSquares::To),
        ) => {
            let one = || Number::new(N::Int(1), key.mark);
            matches!(key.op(), N::Game(GameNumber::PathCount)).then(|| (*dictionary, Assigned::Number(one())))
        }
        _ => None,
    })
}

/// Returns true if a set is the same at all positions until a variable changes. Such a set is the value of a variable, or the value
/// that a set or piece variable has at a position stored in another variable.
fn is_steady(set: &Squares) -> bool {
    match set.op() {
        S::Control(Control::Var(_)) => true,
        S::Game(GameSquares::Elsewhere(Elsewhere::At { at, of })) => {
            matches!(at.op(), PositionOp::Control(Control::Var(_)))
                && matches!(of.op(), S::Control(Control::Var(_)) | S::Game(GameSquares::Piece(_)))
        }
        _ => false,
    }
}

/// Returns the operands of a `--`.
fn operands(edge: &Edge<Expanded>) -> Vec<FilterRef<'_>> {
    let letters = match &edge.promotion {
        Some(Promotion::Letters(text)) => Some(text.node()),
        _ => None,
    };
    edge.from.iter().chain(&edge.to).map(|side| side.node()).chain(letters).collect()
}
