//! Compiles `line` and `path` filters whose constituents read or assign variables.
//!
//! A *chain* is the sequence of constituents of such a filter. The engine searches for the positions or moves that match it.

use super::{
    compile::{CompileResult, Compiler, Lead},
    dictionaries::reads_dictionary,
    edges::{move_tested, piece_of, pieces, sides},
    names::{assigns, matches_text, reads_group},
};
use crate::{FlatChain, FlatEdge, FlatFocus, FlatOp, FlatStep, Instr, Label, RegisterWord, SearchMemory};
use orbit_query::tree::{
    Chain, Focus, GameNumber, GamePosition, Kind as _, Line, NumberOp as N, Path, PathStep, PositionOp as P,
    Promotion, Ref, VarId,
};
use orbit_transforms::{Expanded, Filter, FilterRef, Number};

/// The maximum number of operations in a chain (a `line` or `path`). Repetitions are unrolled: a constituent that may occur three
/// times counts three times.
const OPS_MAX: usize = 1000;

/// The number of consecutive registers that describe a path. They contain the number of the position at which the path begins, the
/// number of moves so far that are in the path's focus, and the number of other moves so far.
const OF_PATH: usize = 3;

impl Compiler<'_> {
    /// Compiles `line`. The value is the number of positions in the line or, if `end` is true, its last position.
    pub(super) fn line(&mut self, line: &Line<Expanded>, end: bool, to: RegisterWord) -> CompileResult {
        let (mut filters, mut ties) = (Vec::new(), Vec::new());
        line.chain.each(&mut |step| {
            filters.push(step.filter.node());
            ties.push(step.tied && !line.back);
        });
        if line.back && line.nestban {
            return Err("such a `line` that depends on variables");
        }
        if self.selected.is_some() && filters.iter().any(|filter| filter.any(&mut super::names::is_own)) {
            return Err("`from` or `to` in a `line` behind a `--`");
        }
        let chain = FlatChain {
            is_path: false,
            back: line.back,
            single_color: line.single_color,
            sibling: line.sibling,
            first_match: line.first_match,
            nestban: line.nestban,
            end,
            ..FlatChain::default()
        };
        self.or_none(to, |this, none| {
            let chain = this.begin(chain, line.range.as_ref(), none)?;
            let lead = this.line_lead(line)?;
            this.unless_led(lead, none)?;
            let mut moves = Vec::new();
            line.chain.each_needed(&mut |step| moves.push(move_tested(step.filter.node())));
            let ahead = if line.back { Vec::new() } else { this.moves_ahead(&filters, moves)? };
            this.chain(chain, to, |this, chain| {
                chain.ahead = ahead;
                for (filter, tied) in filters.iter().zip(&ties) {
                    let tied = if *tied { Some(this.word()?) } else { None };
                    let outer = std::mem::replace(&mut this.tied, tied);
                    let behind = this.apart_code(|this, no| this.unless(*filter, no));
                    this.tied = outer;
                    chain.steps.push(FlatStep { behind: Some(behind?), tied, ..FlatStep::default() });
                }
                chain.ops = operations(&line.chain)?;
                let outer = this.walk.filter(|_| this.reads_walk);
                this.remember(chain, &filters, outer);
                Ok(())
            })
        })
    }

    /// Compiles `path`. The value is the number of moves in the path or, with `max`, the largest value of `max` at the end of a
    /// path. If `end` is true, the value is the last position of the path.
    pub(super) fn path(&mut self, path: &Path<Expanded>, end: bool, to: RegisterWord) -> CompileResult {
        let chain = FlatChain {
            is_path: true,
            sibling: path.primary.then_some(orbit_query::tree::Sibling::Primary),
            first_match: path.first_match,
            nestban: path.nestban,
            end,
            ..FlatChain::default()
        };
        self.or_none(to, |this, none| {
            this.apart_from_moves(|this| {
                let mut chain = this.begin(chain, path.range.as_ref(), none)?;
                chain.focus = match &path.focus {
                    None => None,
                    Some(Focus::SideToMove) => Some(FlatFocus::SideToMove),
                    Some(Focus::Pieces { capture, of }) => {
                        let set = this.word()?;
                        this.squares(of, set)?;
                        this.pieces = true;
                        Some(FlatFocus::Pieces { set, capture: *capture })
                    }
                };
                let lead = this.path_lead(path)?;
                this.unless_led(lead, none)?;
                let of_path = this.word()?;
                for _ in 1..OF_PATH {
                    this.word()?;
                }
                chain.of_path = of_path;
                let (mut filters, mut moves) = (Vec::new(), Vec::new());
                path.chain.each(&mut |step| each_filter(step, &mut |filter| filters.push(filter)));
                path.chain.each_needed(&mut |step| match step {
                    PathStep::Edge { edge, .. } => moves.push(sides(edge)),
                    PathStep::Filter(_) => {}
                });
                chain.ahead = this.moves_ahead(&filters, moves)?;
                this.chain(chain, to, |this, chain| {
                    let outer = (this.walk.replace(of_path), std::mem::take(&mut this.reads_walk));
                    let filters = this.path_steps(path, chain)?;
                    if this.reads_walk {
                        chain.memory = SearchMemory::OfStart;
                    }
                    (this.walk, this.reads_walk) = outer;
                    chain.ops = operations(&path.chain)?;
                    this.remember(chain, &filters, None);
                    Ok(())
                })
            })
        })
    }

    pub(super) fn line_lead(&mut self, line: &Line<Expanded>) -> CompileResult<Option<Lead>> {
        self.chain_lead(&line.chain, &|this, step| match step.tied && !line.back {
            true => Ok(None),
            false => this.untied(|this| this.lead(step.filter.node())),
        })
    }

    pub(super) fn path_lead(&mut self, path: &Path<Expanded>) -> CompileResult<Option<Lead>> {
        let mover = mover_of(path);
        self.chain_lead(&path.chain, &|this, step| match step {
            PathStep::Filter(filter) => this.lead(filter.node()),
            PathStep::Edge { edge, .. } => this.relaxed(edge, mover),
        })
    }

    /// Compiles filters as if they were neither in the target of a move nor in a constituent of a `line`: `from` and `to` mean the
    /// squares of the previous move, and `move` tests all moves.
    pub(super) fn apart_from_moves<T>(
        &mut self,
        compile: impl FnOnce(&mut Self) -> CompileResult<T>,
    ) -> CompileResult<T> {
        self.selecting(None, |this| this.untied(compile))
    }

    /// Compiles the steps of a path, and returns the filters in these steps.
    fn path_steps<'p>(
        &mut self,
        path: &'p Path<Expanded>,
        chain: &mut FlatChain,
    ) -> CompileResult<Vec<FilterRef<'p>>> {
        let mut steps = Vec::new();
        path.chain.each(&mut |step| steps.push(step));
        let mut filters = Vec::new();
        for step in steps {
            each_filter(step, &mut |filter| filters.push(filter));
            let step = match step {
                PathStep::Filter(filter) => {
                    let behind = self.apart_code(|this, no| this.unless(filter.node(), no))?;
                    FlatStep { behind: Some(behind), ..FlatStep::default() }
                }
                PathStep::Edge { edge, targets } => self.path_edge(edge, targets)?,
            };
            chain.steps.push(step);
        }
        if let Some(max) = &path.max {
            filters.push(max.node());
            let number = self.word()?;
            let code = self.apart_code(|this, _| this.number(max, number))?;
            chain.largest = Some((code, number));
        }
        Ok(filters)
    }

    fn path_edge(
        &mut self,
        edge: &orbit_query::tree::Edge<Expanded>,
        targets: &[Filter],
    ) -> CompileResult<FlatStep> {
        let named = match &edge.promotion {
            Some(Promotion::Letters(text)) => Some((text, self.word()?)),
            _ => None,
        };
        let [from, to] = [&edge.from, &edge.to].map(Option::as_ref);
        let mut words = [None; 2];
        for (word, _) in words.iter_mut().zip([from, to]).filter(|(_, side)| side.is_some()) {
            *word = Some(self.word()?);
        }
        let sides = match (from, to, named) {
            (None, None, None) => None,
            _ => Some(self.apart_code(|this, _| {
                for (side, word) in [from, to].into_iter().zip(words) {
                    if let (Some(side), Some(word)) = (side, word) {
                        this.squares(side, word)?;
                    }
                }
                named.map_or(Ok(()), |(text, word)| this.text(text, word))
            })?),
        };
        let index = u16::try_from(self.edges.len()).map_err(|_| "so many moves")?;
        let letters = named.map(|(_, word)| word);
        let (capture, promotion) = (edge.capture, pieces(edge));
        self.edges.push(FlatEdge { from: words[0], to: words[1], capture, promotion, letters });
        let selected = self.word()?;
        for _ in 0..2 {
            self.word()?;
        }
        let behind = match targets {
            [] => None,
            targets => Some(self.selecting(Some(selected), |this| {
                this.apart_code(|this, no| this.unless_all(targets, no))
            })?),
        };
        Ok(FlatStep { sides, edge: Some(index), selected, behind, tied: None })
    }

    /// Compiles the tests before a search. The code jumps to `none` if `nestban` forbids a `line` or `path` to begin here, or if a
    /// bound of its range has no value.
    fn begin(
        &mut self,
        mut chain: FlatChain,
        range: Option<&[Number; 2]>,
        none: Label,
    ) -> CompileResult<FlatChain> {
        chain.place = u16::try_from(self.chains.len()).map_err(|_| "so many chains")?;
        // The empty entry reserves the index of this chain, because nested chains are given the indices after it.
        self.chains.push(FlatChain::default());
        if chain.nestban {
            self.emit(Instr::UnlessFree { chain: chain.place, no: none })?;
        }
        if let Some(range) = range {
            let words = [self.word()?, self.word()?];
            for (number, word) in range.iter().zip(words) {
                self.number(number, word)?;
                self.emit(Instr::UnlessValue { number: word, no: none })?;
            }
            chain.range = Some(words);
        }
        Ok(chain)
    }

    /// Compiles the search for a chain (a `line` or `path`). `fill` compiles the code of the constituents. The main code jumps over
    /// that code.
    fn chain(
        &mut self,
        mut chain: FlatChain,
        to: RegisterWord,
        fill: impl FnOnce(&mut Self, &mut FlatChain) -> CompileResult,
    ) -> CompileResult {
        let over = self.label();
        self.emit(Instr::Jump(over))?;
        fill(self, &mut chain)?;
        self.place(over);
        chain.may_end = (0..chain.ops.len()).map(|op| reaches(&chain.ops, op, FlatOp::is_end)).collect();
        let takes_filter =
            |op: &FlatOp| matches!(op, FlatOp::One(step) if chain.steps[usize::from(*step)].edge.is_none());
        chain.begins_with_move = chain.is_path && !reaches(&chain.ops, 0, takes_filter);
        let place = chain.place;
        self.chains[usize::from(place)] = chain;
        self.emit(Instr::Chain { to, chain: place })
    }

    /// Compiles code that runs only during the search, and returns its label. On a match, the code ends with the instruction `End`.
    /// On failure, it jumps to the label that `code` receives, and ends with the instruction `Fail`.
    fn apart_code(&mut self, code: impl FnOnce(&mut Self, Label) -> CompileResult) -> CompileResult<Label> {
        let begin = self.label_here();
        let no = self.label();
        code(self, no)?;
        self.emit(Instr::End)?;
        self.place(no);
        self.emit(Instr::Fail)?;
        Ok(begin)
    }

    /// Sets `chain.memory`, which states whether a search for this `line` or `path` may reuse results of earlier searches.
    fn remember(&self, chain: &mut FlatChain, filters: &[FilterRef], outer: Option<RegisterWord>) {
        let is_state =
            |filter: FilterRef| assigns(filter) || bans(filter) || self.reads_groups && matches_text(filter);
        let keeps = |filter: &FilterRef| filter.any(&mut |filter| is_state(filter));
        if filters.iter().any(keeps) {
            chain.memory = SearchMemory::Nothing;
            return;
        }
        // Dictionaries and groups do not change during a search, but they may change before the next search.
        let reads = &mut |filter: FilterRef| reads_dictionary(filter) || reads_group(filter);
        if filters.iter().any(|filter| filter.any(reads)) {
            chain.memory = SearchMemory::OfStart;
        }
        if matches!(chain.memory, SearchMemory::OfStart) {
            return;
        }
        let mut vars = Vec::new();
        for filter in filters {
            filter.walk(&mut |filter| super::names::used(filter, &mut |var| vars.push(self.var(var))));
        }
        vars.sort_unstable();
        vars.dedup();
        let words =
            outer.into_iter().flat_map(|first| (0..OF_PATH as u16).map(move |i| RegisterWord(first.0 + i)));
        chain.memory = SearchMemory::OfWords { vars, words: words.collect() };
    }

    /// Returns true if the query has an `atomic` variable, and a `line` or `path` whose searches cannot reuse earlier results.
    pub(super) fn has_atoms(&self) -> bool {
        self.facts.vars.iter().any(|var| var.atomic)
            && self.chains.iter().any(|chain| matches!(chain.memory, SearchMemory::Nothing))
    }

    /// Compiles code that copies one of the [`OF_PATH`] registers of the enclosing path to `to`. `which` is the index of the
    /// register.
    pub(super) fn of_path(&mut self, which: u16, to: RegisterWord) -> CompileResult {
        let Some(first) = self.walk else { return Err("what the last `path` has left") };
        self.reads_walk = true;
        self.emit(Instr::Copy { to, from: RegisterWord(first.0 + which) })
    }
}

/// Returns the variable of the piece that makes all moves in a path's focus. Returns `None` if other pieces can also make moves in
/// the focus.
pub(super) fn mover_of(path: &Path<Expanded>) -> Option<VarId> {
    let Some(Focus::Pieces { capture: false, of }) = &path.focus else { return None };
    let piece = piece_of(of)?;
    let mut stays = true;
    path.chain.each(&mut |step| each_filter(step, &mut |filter| stays &= !filter.any(&mut assigns)));
    stays.then_some(piece)
}

/// Calls `visit` with each filter in one constituent of a path.
fn each_filter<'p>(step: &'p PathStep<Expanded>, visit: &mut dyn FnMut(FilterRef<'p>)) {
    match step {
        PathStep::Filter(filter) => visit(filter.node()),
        PathStep::Edge { edge, targets } => {
            edge.from.iter().chain(&edge.to).for_each(|set| visit(set.node()));
            if let Some(Promotion::Letters(text)) = &edge.promotion {
                visit(text.node());
            }
            targets.iter().for_each(|target| visit(target.node()));
        }
    }
}

/// Returns true if a filter reads the progress of a path, or depends on earlier matches because of `nestban`. Its operands are not
/// examined.
pub(super) fn is_of_walk(filter: FilterRef) -> bool {
    bans(filter)
        || match filter {
            Ref::Number(f) => {
                matches!(f.op(), N::Game(GameNumber::PathCount | GameNumber::PathCountUnfocused))
            }
            Ref::Position(f) => matches!(f.op(), P::Game(GamePosition::PathStart)),
            _ => false,
        }
}

/// Returns true if a filter is a `line` or `path` with `nestban`.
pub(super) fn bans(filter: FilterRef) -> bool {
    match filter {
        Ref::Number(f) => match f.op() {
            N::Game(GameNumber::Line(line)) => line.nestban,
            N::Game(GameNumber::Path(path)) => path.nestban,
            _ => false,
        },
        Ref::Position(f) => match f.op() {
            P::Game(GamePosition::LineEnd(line)) => line.nestban,
            P::Game(GamePosition::PathEnd(path)) => path.nestban,
            _ => false,
        },
        _ => false,
    }
}

/// Returns the operations of a chain (a `line` or `path`), in which repetitions are unrolled.
fn operations<T>(chain: &Chain<T>) -> CompileResult<Vec<FlatOp>> {
    let mut ops = Vec::new();
    write_out(chain, 0, &mut ops)?;
    ops.push(FlatOp::Accept);
    Ok(ops)
}

/// Appends the operations of a chain (a `line` or `path`) to `ops`. `first` is the index of the chain's first constituent. Returns
/// the index after the last constituent.
fn write_out<T>(chain: &Chain<T>, first: u16, ops: &mut Vec<FlatOp>) -> CompileResult<u16> {
    if ops.len() > OPS_MAX {
        return Err("a chain with so many constituents once repetitions are written out");
    }
    match chain {
        Chain::One(_) => {
            ops.push(FlatOp::One(first));
            Ok(first + 1)
        }
        Chain::Sequence(all) => all.iter().try_fold(first, |first, part| write_out(part, first, ops)),
        Chain::Repeat { of, min, max } => {
            if (*min).max(max.unwrap_or(0)) as usize > OPS_MAX {
                return Err("so many repetitions");
            }
            for _ in 0..*min {
                write_out(of, first, ops)?;
            }
            let mut forks = Vec::new();
            for _ in *min..max.unwrap_or(*min + 1) {
                forks.push(ops.len());
                ops.push(FlatOp::Accept);
                write_out(of, first, ops)?;
            }
            if let (None, [fork]) = (max, &forks[..]) {
                ops.push(FlatOp::Jump(*fork as u16));
            }
            let end = ops.len() as u16;
            for fork in forks {
                ops[fork] = FlatOp::Fork(end, fork as u16 + 1);
            }
            let mut next = first;
            of.each(&mut |_| next += 1);
            Ok(next)
        }
    }
}

/// Returns true if an operation that passes `is_wanted` can be reached from the operation at index `from` without matching a
/// constituent in between.
fn reaches(ops: &[FlatOp], from: usize, is_wanted: impl Fn(&FlatOp) -> bool) -> bool {
    let (mut open, mut seen) = (vec![from], vec![false; ops.len()]);
    while let Some(op) = open.pop() {
        if std::mem::replace(&mut seen[op], true) {
            continue;
        }
        if is_wanted(&ops[op]) {
            return true;
        }
        match ops[op] {
            FlatOp::Jump(to) => open.push(to.into()),
            FlatOp::Fork(a, b) => open.extend([usize::from(a), usize::from(b)]),
            FlatOp::One(_) | FlatOp::Accept => {}
        }
    }
    false
}
