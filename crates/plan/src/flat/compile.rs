//! The compiler: registers, labels, operands, and the code that all kinds of filters share.

use std::collections::HashMap;

use super::{
    names::{reads_group, used},
    sizes,
};
use crate::{
    CARRIED_MAX, FlatChain, FlatEdge, FlatMove, FlatProgram, FlatRun, Instr, KeyOrder, Label, MoveSeek,
    PairSearch, RegisterWord,
    dag::{Id, NO_VALUE, Op, TRUE},
    lower::Lower,
    operations::GameOp,
};
use orbit_query::tree::{
    Any, Arith, Control, Dictionary, GamePosition, Kind, NumberOp, PositionOp, Ref, Var, VarId,
};
use orbit_transforms::OutermostOrbit as _;
use orbit_transforms::{Expanded, Filter, FilterRef};

const INSTRUCTIONS_MAX: usize = 100_000;

const OPERANDS_MAX: usize = 2000;

/// If a program has this many operands, designators are split to save operands: only the pieces, on the whole board, become an
/// operand, and the program intersects them with the squares.
const SPLIT_MIN: usize = 64;

/// Facts about a query that the compiler needs in addition to the filters.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) vars: Vec<Var>,
    pub(crate) dictionaries: Vec<Dictionary>,
    pub(crate) variations: bool,
    /// The minimum depth of nesting at which loops over squares become part of the flat program. A plan computes all other loops
    /// before the program runs.
    pub(crate) depth: usize,
}

impl Facts {
    /// Returns the variables that keep their values from game to game.
    pub(super) fn lasting(&self) -> impl Iterator<Item = VarId> {
        self.vars.iter().zip(0..).filter(|(var, _)| var.life.outlives_games()).map(|(_, id)| VarId(id))
    }
}

/// The result of compiling. The error names the construct that cannot be compiled.
pub(crate) type CompileResult<T = ()> = Result<T, &'static str>;

/// Compiles a query to the mask of positions at which it matches. If `value` is true, compiles it to its value, packed into one
/// word.
pub(crate) fn compiled(lower: &mut Lower, facts: &Facts, filter: &Filter, value: bool) -> CompileResult<Id> {
    let mut compiler = Compiler::new(lower, facts, filter);
    let result = compiler.word()?;
    compiler.body(filter, value, result)?;
    compiler.finish(result, !value)
}

/// Compiles the copies (transformed patterns) of the query's outermost transform to words. Each copy that matches sets its bits in
/// one word. `bits` returns the index of a copy's word, and the bits to set in it.
pub(crate) fn compiled_copies(
    lower: &mut Lower,
    facts: &Facts,
    filter: &Filter,
    words: usize,
    bits: impl Fn(usize) -> (usize, u64),
) -> CompileResult<Vec<Id>> {
    let orbit = filter.outermost();
    let copies: Vec<(usize, &Filter)> = match &orbit {
        Some(orbit) => orbit.in_turn().into_iter().map(|(index, copy)| (index, &copy.filter)).collect(),
        None => vec![(0, filter)],
    };
    let word = |word| {
        let mut compiler = Compiler::new(lower, facts, filter);
        let (result, bit) = (compiler.word()?, compiler.word()?);
        compiler.constant(result, 0)?;
        let end = compiler.label();
        // The words are read only where the query matches.
        if let Some(mask) = compiler.lead_of_query(filter)? {
            compiler.unless_mask(mask, end)?;
        }
        for &(index, copy) in &copies {
            let no = compiler.label();
            compiler.unless(copy.node(), no)?;
            let (place, mask) = bits(index);
            if place == word {
                compiler.constant(bit, mask)?;
                compiler.emit(Instr::Or { to: result, a: result, b: bit })?;
            }
            compiler.place(no);
        }
        compiler.place(end);
        compiler.emit(Instr::End)?;
        compiler.finish(result, false)
    };
    (0..words).map(word).collect()
}

/// The *lead* of a filter: a mask that must be true for the filter to match. At positions where the mask is false, the filter
/// fails before it stores anything, provided that `vars` are bound.
pub(super) struct Lead {
    pub(super) mask: Id,
    pub(super) vars: Vec<u16>,
}

pub(super) struct Compiler<'l> {
    pub(super) lower: &'l mut Lower,
    pub(super) facts: &'l Facts,
    /// The number of times that each variable is named in the query.
    pub(super) uses: HashMap<VarId, usize>,
    code: Vec<Instr>,
    /// For each label, the index of the instruction that follows it.
    labels: Vec<u32>,
    operands: Vec<(Id, bool)>,
    constants: Vec<u64>,
    pub(super) edges: Vec<FlatEdge>,
    pub(super) moves: Vec<FlatMove>,
    pub(super) chains: Vec<FlatChain>,
    /// Inside a path, the first of the registers that describe the path: see `OF_PATH` in `walks.rs`. Otherwise `None`.
    pub(super) walk: Option<RegisterWord>,
    /// True if the code compiled so far reads the registers that describe the path.
    pub(super) reads_walk: bool,
    /// The first free register.
    next: usize,
    words: usize,
    /// In the target of a `--`, the first of three registers: the number of the position after the move that passed the test, and
    /// the values of `from` and `to`, which are the squares of this move. If only the king's or the rook's part of a castling move
    /// passed, they are the squares of this part. See [`Instr::Fits`].
    pub(super) selected: Option<RegisterWord>,
    /// In a constituent of a `line` that is evaluated once for each move, the register with the number of the position after the
    /// move.
    pub(super) tied: Option<RegisterWord>,
    pub(super) pieces: bool,
    unbound: Vec<VarId>,
    /// The variables that are bound wherever the code being compiled runs: those of enclosing loops, and those bound by earlier
    /// filters of the same sequence.
    pub(super) sure: Vec<VarId>,
    pub(super) pairs: Vec<PairSearch>,
    pub(super) seeks: Vec<MoveSeek>,
    /// The number of searches in the code whose results are stored, so that later searches can reuse them.
    pub(super) sites: usize,
    pub(super) texts: Vec<String>,
    pub(super) of_games: Vec<crate::TagText>,
    pub(super) patterns: Vec<String>,
    /// True if the query reads groups of regular expressions. A search with a regular expression then has an effect, because it
    /// stores the groups.
    pub(super) reads_groups: bool,
    pub(super) key_loops: usize,
    /// The addresses of the filters that are known to match wherever the code being compiled runs. An address identifies a filter.
    pub(super) known: Vec<usize>,
    /// The number of times that the code being compiled is expected to run at a position.
    pub(super) times: f64,
    /// The expected run time, at one position, of the code that has been compiled so far, in instructions.
    time: f64,
}

impl<'l> Compiler<'l> {
    fn new(lower: &'l mut Lower, facts: &'l Facts, filter: &Filter) -> Compiler<'l> {
        let (mut uses, mut unbound) = (HashMap::new(), Vec::new());
        filter.node().walk(&mut |filter| {
            used(filter, &mut |var| *uses.entry(var).or_default() += 1);
            super::names::unbound(filter, &mut |var| unbound.push(var));
        });
        // A variable that outlives games is also read after the game, which counts as one more use.
        for var in facts.lasting() {
            *uses.entry(var).or_default() += 1;
        }
        Compiler {
            lower,
            facts,
            uses,
            code: Vec::new(),
            labels: Vec::new(),
            operands: Vec::new(),
            constants: Vec::new(),
            edges: Vec::new(),
            moves: Vec::new(),
            chains: Vec::new(),
            walk: None,
            reads_walk: false,
            next: facts.vars.len(),
            words: facts.vars.len(),
            selected: None,
            tied: None,
            pieces: false,
            unbound,
            sure: Vec::new(),
            pairs: Vec::new(),
            seeks: Vec::new(),
            sites: 0,
            texts: Vec::new(),
            of_games: Vec::new(),
            patterns: Vec::new(),
            reads_groups: filter.node().any(&mut reads_group),
            key_loops: 0,
            known: Vec::new(),
            times: 1.0,
            time: 0.0,
        }
    }

    fn body(&mut self, filter: &Filter, value: bool, result: RegisterWord) -> CompileResult {
        let is_set = matches!(filter, Any::Squares(_));
        let no = self.label();
        self.constant(result, if value && !is_set { NO_VALUE as u64 } else { 0 })?;
        if let Some(mask) = self.lead_of_query(filter)? {
            self.unless_mask(mask, no)?;
        }
        if !value {
            self.unless(filter.node(), no)?;
            self.constant(result, TRUE)?;
        } else {
            match filter {
                Any::Squares(f) => self.squares(f, result)?,
                Any::Number(f) => self.number(f, result)?,
                Any::Position(f) => self.position(f, result)?,
                Any::Condition(_) | Any::Text(_) => return Err("a value of this kind"),
            }
        }
        self.place(no);
        self.emit(Instr::End)
    }

    fn finish(mut self, result: RegisterWord, is_mask: bool) -> CompileResult<Id> {
        if self.has_atoms() {
            return Err("an `atomic` variable");
        }
        let places: Vec<u32> = self.labels.iter().map(|&place| self.landing(place)).collect();
        let in_code = self.code.iter_mut().filter_map(Instr::label);
        for label in in_code.chain(self.chains.iter_mut().flat_map(FlatChain::labels)) {
            label.0 = places[label.0 as usize];
        }
        let (operands, masks) = std::mem::take(&mut self.operands).into_iter().unzip();
        let program = FlatProgram {
            code: self.code,
            constants: self.constants,
            edges: self.edges,
            moves: self.moves,
            chains: self.chains,
            masks,
            vars: self.facts.vars.len(),
            words: self.words,
            result,
            is_mask,
            pieces: self.pieces,
            pairs: self.pairs,
            seeks: self.seeks,
            sites: self.sites,
            texts: self.texts,
            of_games: self.of_games,
            patterns: self.patterns,
            dictionaries: self.facts.dictionaries.iter().map(KeyOrder::from_dictionary).collect(),
            key_loops: self.key_loops,
            run: FlatRun::from_query(self.lower.query, &self.facts.vars, &self.facts.dictionaries),
            time: self.time as u64,
        };
        Ok(self.lower.dag.game(GameOp::Flat(program.into()), operands))
    }

    /// Returns the index of the instruction that runs after a jump to `place`. If the target is itself a jump, follows it.
    fn landing(&self, mut place: u32) -> u32 {
        // Jumps may form an endless loop, so only a limited number of jumps is followed.
        for _ in 0..self.code.len() {
            match self.code.get(place as usize) {
                Some(Instr::Jump(to)) => place = self.labels[to.0 as usize],
                _ => break,
            }
        }
        place
    }

    // ---- code

    pub(super) fn emit(&mut self, instr: Instr) -> CompileResult {
        self.time += self.times * sizes::time(instr);
        self.code.push(instr);
        if self.code.len() > INSTRUCTIONS_MAX { Err("so long a program") } else { Ok(()) }
    }

    /// Creates a label whose position in the code is not yet known.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(0);
        Label(self.labels.len() as u32 - 1)
    }

    /// Places a label before the next instruction.
    pub(super) fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.code.len() as u32;
    }

    /// Creates a label before the next instruction.
    pub(super) fn label_here(&mut self) -> Label {
        let label = self.label();
        self.place(label);
        label
    }

    /// Compiles a test that jumps to `no` if it fails. The code of `after`, which undoes the setup of the test, runs in either
    /// case.
    pub(super) fn either_way(
        &mut self,
        no: Label,
        test: impl FnOnce(&mut Self, Label) -> CompileResult,
        after: impl Fn(&mut Self) -> CompileResult,
    ) -> CompileResult {
        let (fails, done) = (self.label(), self.label());
        test(self, fails)?;
        after(self)?;
        self.emit(Instr::Jump(done))?;
        self.place(fails);
        after(self)?;
        self.emit(Instr::Jump(no))?;
        self.place(done);
        Ok(())
    }

    // ---- registers

    /// Reserves a register. The enclosing [`Compiler::scratch`] frees it again.
    pub(super) fn word(&mut self) -> CompileResult<RegisterWord> {
        let word = u16::try_from(self.next).map_err(|_| "so many values at once")?;
        self.next += 1;
        self.words = self.words.max(self.next);
        Ok(RegisterWord(word))
    }

    /// Runs `compile`, and then frees the registers that it has reserved.
    pub(super) fn scratch<T>(
        &mut self,
        compile: impl FnOnce(&mut Self) -> CompileResult<T>,
    ) -> CompileResult<T> {
        let next = self.next;
        let out = compile(self);
        self.next = next;
        out
    }

    pub(super) fn constant(&mut self, to: RegisterWord, word: u64) -> CompileResult {
        let known = self.constants.iter().position(|&known| known == word);
        let constant = known.unwrap_or_else(|| {
            self.constants.push(word);
            self.constants.len() - 1
        });
        let constant = u16::try_from(constant).map_err(|_| "so many constants")?;
        self.emit(Instr::Const { to, constant })
    }

    pub(super) fn no_value(&mut self, to: RegisterWord) -> CompileResult {
        self.constant(to, NO_VALUE as u64)
    }

    /// Compiles code that leaves a value in the register `to`. `value` compiles the code for the value. If there is none, that code
    /// jumps to the label that `value` receives, and the register gets the word `none`. Frees the registers that `value` reserves.
    pub(super) fn or_else(
        &mut self,
        to: RegisterWord,
        none: u64,
        value: impl FnOnce(&mut Self, Label) -> CompileResult,
    ) -> CompileResult {
        let (no, done) = (self.label(), self.label());
        self.scratch(|this| value(this, no))?;
        self.emit(Instr::Jump(done))?;
        self.place(no);
        self.constant(to, none)?;
        self.place(done);
        Ok(())
    }

    /// Like [`or_else`](Self::or_else), for a number, a position or a string.
    pub(super) fn or_none(
        &mut self,
        to: RegisterWord,
        value: impl FnOnce(&mut Self, Label) -> CompileResult,
    ) -> CompileResult {
        self.or_else(to, NO_VALUE as u64, value)
    }

    /// Returns a new register, and compiles code that sets it to 0.
    pub(super) fn counter(&mut self) -> CompileResult<RegisterWord> {
        let count = self.word()?;
        self.constant(count, 0)?;
        Ok(count)
    }

    /// Compiles code that adds 1 to a register.
    pub(super) fn increment(&mut self, count: RegisterWord) -> CompileResult {
        self.scratch(|this| {
            let one = this.word()?;
            this.constant(one, 1)?;
            this.emit(Instr::Arith { to: count, arith: Arith::Add, a: count, b: one })
        })
    }

    // ---- operands

    pub(super) fn operand(&mut self, word: Id, mask: bool) -> CompileResult<u16> {
        let known = self.operands.iter().position(|known| *known == (word, mask));
        let operand = known.unwrap_or_else(|| {
            self.operands.push((word, mask));
            self.operands.len() - 1
        });
        let words = self.operands.iter().filter(|(_, mask)| !mask).count();
        if operand >= OPERANDS_MAX || words > CARRIED_MAX {
            return Err("so many operands");
        }
        Ok(operand as u16)
    }

    /// If a filter is a leaf (a filter that a plan can express), returns its node in the graph.
    pub(super) fn leaf(
        &mut self,
        filter: FilterRef,
        lower: impl FnOnce(&mut Lower) -> Id,
    ) -> CompileResult<Option<Id>> {
        if !self.is_leaf(filter) {
            return Ok(None);
        }
        let word = self.lower.apart(lower);
        match self.lower.refused.take() {
            Some(what) => Err(what),
            None => Ok(Some(word)),
        }
    }

    pub(super) fn load(&mut self, to: RegisterWord, word: Id) -> CompileResult {
        if let Some(word) = self.lower.dag.constant(word) {
            return self.constant(to, word);
        }
        if let Some((set, squares)) = self.split(word) {
            return self.scratch(|this| {
                let within = this.word()?;
                this.load(to, set)?;
                this.constant(within, squares)?;
                this.emit(Instr::And { to, a: to, b: within })
            });
        }
        let operand = self.operand(word, false)?;
        self.emit(Instr::Load { to, operand })
    }

    /// If the program already has `SPLIT_MIN` operands, splits a word that is the intersection of a set and constant squares. The
    /// copies (transformed patterns) of a filter differ in their squares but not in their pieces, so they can share the set as an
    /// operand.
    fn split(&self, word: Id) -> Option<(Id, u64)> {
        let Op::And(a, b) = self.lower.dag.op(word) else { return None };
        if self.operands.len() < SPLIT_MIN || self.operands.contains(&(word, false)) {
            return None;
        }
        let constant = |id| self.lower.dag.constant(id);
        constant(b).map(|squares| (a, squares)).or_else(|| constant(a).map(|squares| (b, squares)))
    }

    pub(super) fn unless_mask(&mut self, mask: Id, no: Label) -> CompileResult {
        match self.lower.dag.constant(mask) {
            Some(TRUE) => Ok(()),
            Some(0) => self.emit(Instr::Jump(no)),
            _ => {
                let mask = self.operand(mask, true)?;
                self.emit(Instr::Unless { mask, no })
            }
        }
    }

    // ---- filters

    /// Compiles a filter. The code jumps to `no` if the filter fails.
    pub(super) fn unless(&mut self, filter: FilterRef, no: Label) -> CompileResult {
        if self.known.contains(&address(filter)) {
            return Ok(());
        }
        if let Some(mask) = self.leaf(filter, |lower| lower.truth(filter))? {
            return self.unless_mask(mask, no);
        }
        match filter {
            Ref::Condition(f) => self.condition(f, no),
            Ref::Squares(f) => self.unless_squares(f, no),
            Ref::Number(f) if let NumberOp::Compare(cmp, a, b) = f.op() => {
                self.two_numbers(a, b, |this, [a, b]| this.unless_compare(*cmp, [a, b], no))
            }
            Ref::Number(f) => self.scratch(|this| {
                let number = this.word()?;
                this.number(f, number)?;
                this.emit(Instr::UnlessValue { number, no })
            }),
            Ref::Position(f) if let PositionOp::Game(GamePosition::Compare { by, left, right }) = f.op() => {
                self.two_positions(left, right, |this, [a, b]| this.unless_order(*by, a, b, no))
            }
            Ref::Position(f) => self.scratch(|this| {
                let number = this.word()?;
                this.position(f, number)?;
                this.emit(Instr::UnlessValue { number, no })
            }),
            Ref::Text(f) => self.scratch(|this| {
                let number = this.word()?;
                this.text(f, number)?;
                this.emit(Instr::UnlessValue { number, no })
            }),
        }
    }

    /// Compiles filters in order. The code jumps to `no` as soon as one fails.
    pub(super) fn unless_all<'a>(
        &mut self,
        filters: impl IntoIterator<Item = &'a Filter>,
        no: Label,
    ) -> CompileResult {
        self.in_order(filters, no, |_| Ok(()))
    }

    /// Does the same as [`Self::unless_all`], and then compiles code that runs if all filters match. If a filter binds a variable,
    /// the variable is bound in the filters after it and in this code.
    pub(super) fn in_order<'a>(
        &mut self,
        filters: impl IntoIterator<Item = &'a Filter>,
        no: Label,
        then: impl FnOnce(&mut Self) -> CompileResult,
    ) -> CompileResult {
        let (before, times) = (self.sure.len(), self.times);
        for filter in filters {
            self.unless(filter.node(), no)?;
            self.times *= sizes::MATCHES;
            let bound = super::names::bound_by(filter.node());
            self.sure.extend(bound.filter(|var| !self.unbound.contains(var)));
        }
        let out = then(self);
        self.sure.truncate(before);
        self.times = times;
        out
    }

    /// Compiles a filter, such as braces or `if`, whose value is the value of an inner filter. The code leaves the value in a
    /// register. `read` compiles the inner filter, and `none` represents a missing value.
    pub(super) fn control<F: Kind<Expanded>>(
        &mut self,
        of: &Control<Expanded, F>,
        to: RegisterWord,
        none: u64,
        read: impl Fn(&mut Self, &F) -> CompileResult,
    ) -> CompileResult {
        match of {
            Control::Var(var) => self.read(*var, to),
            Control::If { condition, then, other } => {
                let (otherwise, done) = (self.label(), self.label());
                self.unless(condition.node(), otherwise)?;
                read(self, then)?;
                self.emit(Instr::Jump(done))?;
                self.place(otherwise);
                read(self, other)?;
                self.place(done);
                Ok(())
            }
            Control::Braces { first, last } => {
                self.or_else(to, none, |this, no| this.in_order(first, no, |this| read(this, last)))
            }
        }
    }

    /// Compiles code that copies the value of a variable to `to`. If the variable has no value when the code runs, the evaluation
    /// of the game ends with an error.
    pub(super) fn read(&mut self, var: VarId, to: RegisterWord) -> CompileResult {
        self.holds(var)?;
        self.emit(Instr::Copy { to, from: RegisterWord(self.var(var)) })
    }

    /// Compiles code that ends the evaluation of the game with an error if a variable has no value.
    pub(super) fn holds(&mut self, var: VarId) -> CompileResult {
        if self.sure.contains(&var) {
            return Ok(());
        }
        self.emit(Instr::Holds { var: self.var(var) })
    }

    /// Compiles the body of a loop that binds `vars`.
    pub(super) fn bound<T>(
        &mut self,
        vars: &[VarId],
        compile: impl FnOnce(&mut Self) -> CompileResult<T>,
    ) -> CompileResult<T> {
        let before = self.sure.len();
        self.sure.extend(vars.iter().filter(|var| !self.unbound.contains(var)));
        let out = compile(self);
        self.sure.truncate(before);
        out
    }

    pub(super) fn var(&self, var: VarId) -> u16 {
        var.0 as u16
    }

    /// Compiles code for another position, whose number is in the register `node`. `there` compiles the filter that is evaluated at
    /// this position. Afterwards, whether or not the filter matches, the previous position is current again.
    pub(super) fn at_node(
        &mut self,
        node: RegisterWord,
        no: Label,
        there: impl FnOnce(&mut Self, Label) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let here = this.word()?;
            this.emit(Instr::Here { to: here })?;
            this.emit(Instr::Go { to: node })?;
            let there = |this: &mut Self, no| this.untied(|this| there(this, no));
            this.either_way(no, there, |this| this.emit(Instr::Go { to: here }))
        })
    }

    /// Does the same as [`Self::at_node`] for code that leaves a value in a register and cannot fail.
    pub(super) fn value_at_node(
        &mut self,
        node: RegisterWord,
        there: impl FnOnce(&mut Self) -> CompileResult,
    ) -> CompileResult {
        self.scratch(|this| {
            let here = this.word()?;
            this.emit(Instr::Here { to: here })?;
            this.emit(Instr::Go { to: node })?;
            this.untied(there)?;
            this.emit(Instr::Go { to: here })
        })
    }

    /// Compiles code in which `from` and `to` mean the squares of the move in `selected`.
    pub(super) fn selecting<T>(
        &mut self,
        selected: Option<RegisterWord>,
        compile: impl FnOnce(&mut Self) -> CompileResult<T>,
    ) -> CompileResult<T> {
        let outer = std::mem::replace(&mut self.selected, selected);
        let out = compile(self);
        self.selected = outer;
        out
    }
}

/// Returns the address of a filter. The address identifies the filter within the query.
pub(super) fn address(filter: FilterRef) -> usize {
    match filter {
        Ref::Condition(f) => std::ptr::from_ref(f).addr(),
        Ref::Squares(f) => std::ptr::from_ref(f).addr(),
        Ref::Number(f) => std::ptr::from_ref(f).addr(),
        Ref::Text(f) => std::ptr::from_ref(f).addr(),
        Ref::Position(f) => std::ptr::from_ref(f).addr(),
    }
}
