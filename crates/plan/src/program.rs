//! The graph as straight code over registers.
//!
//! A register is a column: one word for each position of a group. Registers are reused as soon as
//! their last reader has run; a step never writes a register that it reads.

use std::collections::HashMap;

use super::{
    carry::{ColumnOperand, operands, stages},
    dag::{CarryId, ColumnId, Dag, Id, LoopId, Made, Op, Reduce, TRUE},
    needed,
};

/// Index of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u32);

/// Index of a scalar: a word that is the same for all positions of a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Scalar(pub u32);

/// One step.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "fields are documented on each variant")]
pub enum Step {
    /// `dst = op`, the operands' ids being register indices.
    Do { dst: Reg, op: Op },
    /// `dst = scalar` everywhere.
    Splat { dst: Reg, scalar: Scalar },
    /// `dst = a & scalar`.
    AndScalar { dst: Reg, a: Reg, scalar: Scalar },
    /// `dst = a | scalar`.
    OrScalar { dst: Reg, a: Reg, scalar: Scalar },
    /// Terms gathered by one operation.
    Chain { dst: Reg, chain: OperationChain<Reg> },
    /// Repeats up to the matching [`Step::End`] for every row of a table: its words go to the
    /// scalars from `first` on. `acc` starts as the neutral word of `reduce`.
    Begin { table: usize, first: Scalar, acc: Reg, reduce: Reduce, end: usize },
    /// `acc = reduce(acc, word)`; begins at step `begin` again while there are rows.
    End { begin: usize, acc: Reg, word: Reg, reduce: Reduce },
    /// The hit mask of one of several queries is complete.
    Answer { query: usize, mask: Reg },
}

/// How the terms of a chain are gathered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChainOp {
    /// Their union.
    Or,
    /// Their intersection.
    And,
    /// Mask: no term is empty (or, where it is negated, has a square).
    Meet,
    /// Number: the squares of all terms. None is negated.
    Sum,
}

/// Several operations at once. `R` names what is read.
#[derive(Clone, Debug)]
pub struct OperationChain<R = Id> {
    /// How terms are gathered.
    pub op: ChainOp,
    /// At least one.
    pub terms: Vec<Term<R>>,
}

/// `(src & keep)` moved up by `by` bits, or down if it is negative, none of which gets lost; then, if `not`,
/// the opposite.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the formula says it")]
pub struct Term<R = Id> {
    pub src: R,
    pub keep: Scalar,
    pub by: i8,
    pub not: bool,
}

/// What is loaded into a register before a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "named as the operations")]
pub enum RegisterInput {
    Plane(u8),
    WhiteToMove,
    Initial,
    Terminal,
    Ply,
    /// One of [`Program::reads`], by its place there.
    Carried(usize),
    GameMask(ColumnId),
    GameNumber(ColumnId),
}

/// Code for one group of positions.
#[derive(Clone, Debug)]
pub struct Program {
    /// What runs over all positions of a block before this; see [`Stage`].
    pub stages: Vec<Stage>,
    /// The steps.
    pub steps: Vec<Step>,
    /// How many registers they use. Registers 0..4 are the planes.
    pub registers: usize,
    /// Registers to load before a run. They are never written.
    pub inputs: Vec<(RegisterInput, Reg)>,
    /// What it reads of what stages carry.
    pub reads: Vec<Read>,
    /// The initial scalars: constants, and room for the parameters of every table.
    pub scalars: Vec<u64>,
    /// The rows of every table.
    pub tables: Vec<Vec<Vec<u64>>>,
    /// Whether it reads something of the positions, not only what stages carry.
    pub positions: bool,
    /// Whether a step looks at the whole position (turn, rights), not only at the planes.
    pub whole_positions: bool,
}

/// Something that a program reads of what stages carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// Which answer this is, among all of the queries that are planned together.
    pub id: CarryId,
    /// Whether it is a mask, not a whole word.
    pub is_mask: bool,
}

/// What is known before the program that needs it: a program that runs over all positions, and what is made of what it
/// finds.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The code; it has no stages of its own.
    pub program: Program,
    /// What it finds; nothing if it need not run.
    pub found: Vec<StageFound>,
    /// What is made of that and of what was made before, in order.
    pub carried: Vec<StageCarry>,
}

/// A register that a stage finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StageFound {
    /// Which word it is, among all of the queries that are planned together.
    pub word: Id,
    /// Whether it is a mask, not a whole word.
    pub is_mask: bool,
    /// The register.
    pub reg: Reg,
}

/// What is made of columns along games.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StageCarry {
    /// Which answer this is, among all of the queries that are planned together.
    pub id: CarryId,
    /// What is made.
    pub what: Made,
    /// Of what.
    pub operands: Vec<ColumnOperand>,
}

impl Program {
    /// Steps that run for one position, those of loops as often as they have rows, those of stages included.
    pub fn cost(&self) -> u64 {
        let stages = self.stages.iter().map(|stage| stage.program.cost());
        let (mut cost, mut times) = (stages.fold(0, u64::saturating_add), vec![1u64]);
        for step in &self.steps {
            let now = *times.last().expect("a loop that ends has begun");
            match step {
                Step::Begin { table, .. } => times.push(now.saturating_mul(self.tables[*table].len() as u64)),
                Step::End { .. } => drop(times.pop()),
                Step::Chain { chain, .. } => {
                    cost = cost.saturating_add(now.saturating_mul(chain.terms.len() as u64));
                }
                _ => cost = cost.saturating_add(now),
            }
        }
        cost
    }

    /// How many queries it answers, of those that are answered together.
    pub fn answers(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Answer { .. })).count()
    }

    /// For each of so many queries, which of [`Program::reads`] its answer is. Nothing where that of one of them is computed.
    pub(super) fn carried_answers(&self, queries: usize) -> Option<Vec<usize>> {
        let mut answers = vec![None; queries];
        for step in &self.steps {
            let Step::Answer { query, mask } = *step else { return None };
            let place = self.inputs.iter().find_map(|&(input, reg)| match input {
                RegisterInput::Carried(place) if reg == mask => Some(place),
                _ => None,
            });
            answers[query] = place.filter(|&place| self.reads[place].is_mask);
        }
        answers.into_iter().collect()
    }

    /// How many steps are chains, and how many terms these have in all.
    pub fn chains(&self) -> (usize, usize) {
        let terms = self.steps.iter().filter_map(|step| match step {
            Step::Chain { chain, .. } => Some(chain.terms.len()),
            _ => None,
        });
        terms.fold((0, 0), |(chains, terms), more| (chains + 1, terms + more))
    }

    /// Turns the part of a graph that the roots need into code; also returns the roots' registers.
    pub(super) fn new(dag: &Dag, roots: &[Id]) -> (Program, Vec<Reg>) {
        let (program, regs) = ProgramWriter::ready(dag, roots).assign(roots);
        (Program { stages: Program::stages(dag, roots), ..program }, regs)
    }

    /// Code that gives the hit masks of several queries, each as soon as it is complete: registers that hold
    /// them until the end would push others out of the processor's nearest memory.
    pub(super) fn answering(dag: &Dag, roots: &[Id]) -> Program {
        let mut writer = ProgramWriter::ready(dag, roots);
        writer.answer(roots);
        Program { stages: Program::stages(dag, roots), ..writer.assign(&[]).0 }
    }

    fn stages(dag: &Dag, roots: &[Id]) -> Vec<Stage> {
        let stage = |ids: Vec<CarryId>| {
            let carried = ids.into_iter().map(|id| {
                let carry = &dag.carries[id.0 as usize];
                StageCarry { id, what: carry.what.clone(), operands: operands(dag, carry) }
            });
            let carried: Vec<StageCarry> = carried.collect();
            let mut found: Vec<(Id, bool)> = Vec::new();
            for operand in carried.iter().flat_map(|carry| &carry.operands) {
                if let ColumnOperand::Found(word, is_mask) = *operand
                    && !found.contains(&(word, is_mask))
                {
                    found.push((word, is_mask));
                }
            }
            let words: Vec<Id> = found.iter().map(|&(word, _)| word).collect();
            let (program, regs) = ProgramWriter::ready(dag, &words).assign(&words);
            let found =
                found.into_iter().zip(regs).map(|((word, is_mask), reg)| StageFound { word, is_mask, reg });
            Stage { program, found: found.collect(), carried }
        };
        stages(dag, roots).into_iter().map(stage).collect()
    }
}

/// A step on virtual registers: one for each node.
pub(super) enum Draft {
    Node(Id),
    Chain(Id, OperationChain),
    Splat(Id, Scalar),
    AndScalar(Id, Id, Scalar),
    OrScalar(Id, Id, Scalar),
    Begin(Id, LoopId, usize),
    End(Id, LoopId, usize),
    Answer(Id, usize),
}

pub(super) struct ProgramWriter<'a> {
    pub(super) dag: &'a Dag,
    needed: Vec<bool>,
    /// Nodes that some reader wants as a column although they are scalars.
    columns_of_scalars: Vec<bool>,
    /// The nodes of each scope, ascending.
    scopes: HashMap<Option<LoopId>, Vec<Id>>,
    scalars: Vec<u64>,
    scalar_of: HashMap<Id, Scalar>,
    first_param: HashMap<LoopId, Scalar>,
    pub(super) drafts: Vec<Draft>,
    inputs: Vec<(RegisterInput, Id)>,
    reads: Vec<Read>,
    /// Constants that chains read.
    words: HashMap<u64, Scalar>,
}

impl<'a> ProgramWriter<'a> {
    fn new(dag: &'a Dag, roots: &[Id]) -> ProgramWriter<'a> {
        let needed = needed(dag, roots);
        let mut columns_of_scalars = vec![false; dag.ops.len()];
        for root in roots {
            columns_of_scalars[root.0 as usize] = true;
        }
        ProgramWriter {
            dag,
            needed,
            columns_of_scalars,
            scopes: HashMap::new(),
            scalars: Vec::new(),
            scalar_of: HashMap::new(),
            first_param: HashMap::new(),
            drafts: Vec::new(),
            inputs: (0..4).map(|k| (RegisterInput::Plane(k), Id(u32::MAX))).collect(),
            reads: Vec::new(),
            words: HashMap::new(),
        }
    }

    /// Everything but registers.
    fn ready(dag: &'a Dag, roots: &[Id]) -> ProgramWriter<'a> {
        let mut writer = ProgramWriter::new(dag, roots);
        writer.place();
        writer.emit_scope(None);
        if dag.chains {
            writer.chain(roots);
        }
        writer
    }

    /// Takes the roots as answers, each right after it was computed; those that are inputs at the end.
    fn answer(&mut self, roots: &[Id]) {
        let mut waiting: HashMap<Id, Vec<usize>> = HashMap::new();
        for (query, &root) in roots.iter().enumerate() {
            waiting.entry(root).or_default().push(query);
        }
        let (mut out, mut places) = (Vec::with_capacity(self.drafts.len() + roots.len()), Vec::new());
        for draft in std::mem::take(&mut self.drafts) {
            let done = match draft {
                Draft::Begin(..) | Draft::Answer(..) => None,
                Draft::Node(id)
                | Draft::Chain(id, _)
                | Draft::Splat(id, _)
                | Draft::AndScalar(id, ..)
                | Draft::OrScalar(id, ..)
                | Draft::End(id, ..) => waiting.remove(&id).map(|queries| (id, queries)),
            };
            places.push(out.len());
            out.push(draft);
            if let Some((id, queries)) = done {
                out.extend(queries.into_iter().map(|query| Draft::Answer(id, query)));
            }
        }
        for draft in &mut out {
            if let Draft::Begin(_, _, at) | Draft::End(_, _, at) = draft {
                *at = places[*at];
            }
        }
        let inputs =
            waiting.into_iter().flat_map(|(id, queries)| queries.into_iter().map(move |query| (query, id)));
        let mut inputs: Vec<(usize, Id)> = inputs.collect();
        inputs.sort_unstable();
        out.extend(inputs.into_iter().map(|(query, id)| Draft::Answer(id, query)));
        self.drafts = out;
    }

    /// The scalar that holds a constant.
    pub(super) fn scalar(&mut self, word: u64) -> Scalar {
        let next = Scalar(self.scalars.len() as u32);
        *self.words.entry(word).or_insert_with(|| {
            self.scalars.push(word);
            next
        })
    }

    fn is_scalar(&self, id: Id) -> bool {
        matches!(self.dag.op(id), Op::Const(_) | Op::Param(..))
    }

    /// Sorts the needed nodes into the loops in which they are evaluated.
    fn place(&mut self) {
        for index in 0..self.dag.ops.len() {
            if !self.needed[index] {
                continue;
            }
            let id = Id(index as u32);
            let op = self.dag.op(id);
            let scalar_form = matches!(op, Op::And(a, b) | Op::Or(a, b)
                if self.is_scalar(b) && !self.is_scalar(a));
            for (k, arg) in op.args().enumerate() {
                if !(scalar_form && k == 1) {
                    self.columns_of_scalars[arg.0 as usize] = true;
                }
            }
            if let Op::Loop(l) = op {
                let body = self.dag.loops[l.0 as usize].body;
                self.columns_of_scalars[body.0 as usize] = true;
            }
            let scope = self.dag.within[index].last().copied();
            self.scopes.entry(scope).or_default().push(id);
            match op {
                Op::Const(word) => {
                    self.scalar_of.insert(id, Scalar(self.scalars.len() as u32));
                    self.scalars.push(word);
                }
                Op::Param(l, k) => {
                    let width = self.dag.loops[l.0 as usize].rows[0].len();
                    let next = Scalar(self.scalars.len() as u32);
                    let first = *self.first_param.entry(l).or_insert(next);
                    if first == next {
                        self.scalars.extend(std::iter::repeat_n(0, width));
                    }
                    self.scalar_of.insert(id, Scalar(first.0 + k));
                }
                _ => {}
            }
        }
    }

    fn emit_scope(&mut self, scope: Option<LoopId>) {
        for id in self.scopes.remove(&scope).unwrap_or_default() {
            match self.dag.op(id) {
                Op::Const(_) | Op::Param(..) => {
                    if self.columns_of_scalars[id.0 as usize] {
                        self.drafts.push(Draft::Splat(id, self.scalar_of[&id]));
                    }
                }
                Op::And(a, b) if self.is_scalar(b) && !self.is_scalar(a) => {
                    self.drafts.push(Draft::AndScalar(id, a, self.scalar_of[&b]));
                }
                Op::Or(a, b) if self.is_scalar(b) && !self.is_scalar(a) => {
                    self.drafts.push(Draft::OrScalar(id, a, self.scalar_of[&b]));
                }
                Op::Loop(l) => {
                    let begin = self.drafts.len();
                    self.drafts.push(Draft::Begin(id, l, 0));
                    self.emit_scope(Some(l));
                    let end = self.drafts.len();
                    self.drafts.push(Draft::End(id, l, begin));
                    self.drafts[begin] = Draft::Begin(id, l, end);
                }
                Op::Carried(carry) => {
                    self.inputs.push((RegisterInput::Carried(self.reads.len()), id));
                    let is_mask = self.dag.carries[carry.0 as usize].what.is_mask();
                    self.reads.push(Read { id: carry, is_mask });
                }
                op => match input(op) {
                    Some(RegisterInput::Plane(k)) => self.inputs[k as usize].1 = id,
                    Some(input) => self.inputs.push((input, id)),
                    None => self.drafts.push(Draft::Node(id)),
                },
            }
        }
    }

    /// For each node, the last draft that reads it.
    fn last_reads(&self, roots: &[Id]) -> HashMap<Id, usize> {
        let mut last: HashMap<Id, usize> = HashMap::new();
        let mut defined: HashMap<Id, usize> = HashMap::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (at, draft) in self.drafts.iter().enumerate() {
            let mut read = |id: Id, open: &[(usize, usize)], defined: &HashMap<Id, usize>| {
                // Read inside a loop that it was made before: it must live until the loop ends.
                let made = defined.get(&id).copied();
                let outermost =
                    open.iter().find(|(begin, _)| made.is_none_or(|made| made < *begin)).map(|(_, end)| *end);
                let until = outermost.unwrap_or(at);
                let entry = last.entry(id).or_insert(until);
                *entry = (*entry).max(until);
            };
            match draft {
                Draft::Node(id) => {
                    self.dag.op(*id).args().for_each(|arg| read(arg, &open, &defined));
                    defined.insert(*id, at);
                }
                Draft::Chain(id, chain) => {
                    chain.terms.iter().for_each(|term| read(term.src, &open, &defined));
                    defined.insert(*id, at);
                }
                Draft::Splat(id, _) => {
                    defined.insert(*id, at);
                }
                Draft::Answer(id, _) => read(*id, &open, &defined),
                Draft::AndScalar(id, a, _) | Draft::OrScalar(id, a, _) => {
                    read(*a, &open, &defined);
                    defined.insert(*id, at);
                }
                Draft::Begin(id, _, end) => {
                    defined.insert(*id, at);
                    open.push((at, *end));
                }
                Draft::End(id, l, _) => {
                    read(self.dag.loops[l.0 as usize].body, &open, &defined);
                    open.pop();
                    read(*id, &open, &defined);
                }
            }
        }
        for root in roots {
            last.insert(*root, usize::MAX);
        }
        last
    }

    /// Gives every node a register.
    fn assign(self, roots: &[Id]) -> (Program, Vec<Reg>) {
        let last = self.last_reads(roots);
        let mut regs: HashMap<Id, Reg> = HashMap::new();
        let mut inputs = Vec::new();
        let mut registers = 0u32;
        for (input, id) in &self.inputs {
            regs.insert(*id, Reg(registers));
            inputs.push((*input, Reg(registers)));
            registers += 1;
        }
        let mut free: Vec<Reg> = Vec::new();
        // Nodes to free after each draft.
        let mut dying: HashMap<usize, Vec<Id>> = HashMap::new();
        for (id, at) in &last {
            let op = self.dag.op(*id);
            if input(op).is_none() && !matches!(op, Op::Carried(_)) {
                dying.entry(*at).or_default().push(*id);
            }
        }
        let mut steps = Vec::with_capacity(self.drafts.len());
        let mut whole_positions = false;
        let is_of_position =
            |op: Op| input(op).is_some() || op.takes_whole_positions() || matches!(op, Op::Content(_));
        let mut needed = self.dag.ops.iter().zip(&self.needed).filter(|(_, needed)| **needed);
        let positions = !self.dag.direct || needed.any(|(op, _)| is_of_position(*op));
        let all = self.words.get(&TRUE).copied();
        for (at, draft) in self.drafts.iter().enumerate() {
            let mut new = |id: Id, regs: &mut HashMap<Id, Reg>, free: &mut Vec<Reg>| {
                let reg = free.pop().unwrap_or_else(|| {
                    registers += 1;
                    Reg(registers - 1)
                });
                regs.insert(id, reg);
                reg
            };
            steps.push(match draft {
                Draft::Node(id) => {
                    let dst = new(*id, &mut regs, &mut free);
                    let op = self.dag.op(*id).map(|arg| Id(regs[&arg].0));
                    whole_positions |= op.takes_whole_positions();
                    Step::Do { dst, op }
                }
                Draft::Chain(id, OperationChain { op, terms }) => {
                    let dst = new(*id, &mut regs, &mut free);
                    let terms = terms.iter().map(|&Term { src, keep, by, not }| Term {
                        src: regs[&src],
                        keep,
                        by,
                        not,
                    });
                    let mut terms: Vec<Term<Reg>> = terms.collect();
                    sort_by_kind(&mut terms, all);
                    Step::Chain { dst, chain: OperationChain { op: *op, terms } }
                }
                Draft::Splat(id, scalar) => {
                    Step::Splat { dst: new(*id, &mut regs, &mut free), scalar: *scalar }
                }
                Draft::AndScalar(id, a, scalar) => {
                    Step::AndScalar { dst: new(*id, &mut regs, &mut free), a: regs[a], scalar: *scalar }
                }
                Draft::OrScalar(id, a, scalar) => {
                    Step::OrScalar { dst: new(*id, &mut regs, &mut free), a: regs[a], scalar: *scalar }
                }
                Draft::Begin(id, l, end) => Step::Begin {
                    table: l.0 as usize,
                    first: self.first_param.get(l).copied().unwrap_or(Scalar(0)),
                    acc: new(*id, &mut regs, &mut free),
                    reduce: self.dag.loops[l.0 as usize].reduce,
                    end: *end,
                },
                Draft::Answer(id, query) => Step::Answer { query: *query, mask: regs[id] },
                Draft::End(id, l, begin) => {
                    let it = &self.dag.loops[l.0 as usize];
                    Step::End { begin: *begin, acc: regs[id], word: regs[&it.body], reduce: it.reduce }
                }
            });
            // The same plan has the same registers each time: a card knows kernels by their text.
            let mut dying = dying.remove(&at).unwrap_or_default();
            dying.sort_unstable_by_key(|id| id.0);
            for id in dying {
                free.extend(regs.get(&id));
            }
            // Written but never read: only the accumulator of a loop whose result is unused.
        }
        let roots = roots.iter().map(|root| regs[root]).collect();
        let mut tables: Vec<_> = self.dag.loops.iter().map(|it| it.rows.clone()).collect();
        for (k, table) in tables.iter_mut().enumerate() {
            if !self.first_param.contains_key(&LoopId(k as u32)) {
                table.iter_mut().for_each(Vec::clear);
            }
        }
        let program = Program {
            stages: Vec::new(),
            steps,
            registers: registers as usize,
            inputs,
            reads: self.reads,
            scalars: self.scalars,
            tables,
            positions,
            whole_positions,
        };
        (program, roots)
    }
}

/// Puts terms in the order of what they cost, which changes nothing of a chain: those moved up, those cut with a mask,
/// those taken as they are (with `all`, which keeps everything), those moved down. An engine that takes a few neighbours
/// at a time then finds most of them of one kind.
fn sort_by_kind(terms: &mut [Term<Reg>], all: Option<Scalar>) {
    terms.sort_by_key(|term| {
        let place = match term.by {
            1.. => 0,
            0 if Some(term.keep) != all => 1,
            0 => 2,
            _ => 3,
        };
        (place, term.not)
    });
}

/// The input that an operation is, but for what is carried, which each program numbers by itself.
fn input(op: Op) -> Option<RegisterInput> {
    Some(match op {
        Op::Plane(k) => RegisterInput::Plane(k),
        Op::WhiteToMove => RegisterInput::WhiteToMove,
        Op::Initial => RegisterInput::Initial,
        Op::Terminal => RegisterInput::Terminal,
        Op::Ply => RegisterInput::Ply,
        Op::GameMask(c) => RegisterInput::GameMask(c),
        Op::GameNumber(c) => RegisterInput::GameNumber(c),
        _ => return None,
    })
}
