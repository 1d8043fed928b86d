//! Writes the graph as straight-line code over registers.
//!
//! A program runs on one group of positions at a time. A register contains one word for each position of the group. It is free
//! again after the last step that reads it. No step writes a register that it reads.
//!
//! A *chain* is a step that combines several operations. The *stages* of a program are programs that run before it.

use std::collections::{BTreeMap, HashMap};

use super::{
    GameOp,
    carry::{ColumnOperand, operands, stages},
    dag::{CarryId, ColumnId, Dag, Id, Loop, LoopId, Made, Op, Reduce, TRUE},
    needed,
};

/// The time that one instruction of a flat program takes at one position, as a multiple of the time of a [`Step`]. A step takes
/// less time per position, because it computes many positions at once.
const INSTRUCTION_STEPS: u64 = 14;

/// The index of a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u32);

/// The index of a scalar of a program. A scalar is a word that is the same for all positions of the group on which the program
/// runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Scalar(pub u32);

/// A step of a program.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "fields are documented on each variant")]
pub enum Step {
    /// `dst = op`. The operand ids in `op` are register indices.
    Do { dst: Reg, op: Op },
    /// `dst = scalar` at every position.
    Splat { dst: Reg, scalar: Scalar },
    /// `dst = a & scalar`.
    AndScalar { dst: Reg, a: Reg, scalar: Scalar },
    /// `dst = a | scalar`.
    OrScalar { dst: Reg, a: Reg, scalar: Scalar },
    /// `dst` = the terms of a chain, combined with its operation.
    Chain { dst: Reg, chain: OperationChain<Reg> },
    /// Begins a loop over the rows of a table. The steps up to the matching [`Step::End`] run once for each row, whose words are in
    /// the scalars from `first` on. The initial value of `acc` is the neutral element of `reduce`.
    Begin { table: usize, first: Scalar, acc: Reg, reduce: Reduce, end: usize },
    /// `acc = reduce(acc, word)`. If there are more rows, jumps back to the step after `begin`.
    End { begin: usize, acc: Reg, word: Reg, reduce: Reduce },
    /// Outputs the hit mask of one of several queries as soon as it is complete.
    Answer { query: usize, mask: Reg },
}

/// The operation that combines the terms of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChainOp {
    /// The union of the terms.
    Or,
    /// The intersection of the terms.
    And,
    /// Mask: every term is non-empty; a negated term must be empty instead.
    Meet,
    /// Number: the sum of the square counts of all terms. No term is negated.
    Sum,
}

/// A chain: several operations that run as one step. `R` is the type of the operands.
#[derive(Clone, Debug)]
pub struct OperationChain<R = Id> {
    /// The operation that combines the terms.
    pub op: ChainOp,
    /// The terms. There is at least one.
    pub terms: Vec<Term<R>>,
}

/// An operand of a chain: `src & keep`, shifted up by `by` bits, or down if `by` is negative. `keep` removes all bits that the
/// shift would lose. If `not` is true, the result is complemented.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the formula says it")]
pub struct Term<R = Id> {
    pub src: R,
    pub keep: Scalar,
    pub by: i8,
    pub not: bool,
}

/// A value that is loaded into a register before a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "named as the operations")]
pub enum RegisterInput {
    Plane(u8),
    WhiteToMove,
    Initial,
    Terminal,
    Ply,
    /// The result of an operation that reads all positions of each game in order, before this program runs. The number is the
    /// result's index in [`Program::reads`].
    Carried(usize),
    GameMask(ColumnId),
    GameNumber(ColumnId),
}

/// Code that runs on one group of positions at a time.
#[derive(Clone, Debug)]
pub struct Program {
    /// The stages: earlier programs, which run over all positions of a block before this one.
    pub stages: Vec<Stage>,
    /// The steps of the program, in the order in which they run.
    pub steps: Vec<Step>,
    /// The number of registers that the steps use. Registers 0..4 contain the bit planes of the board.
    pub registers: usize,
    /// The registers that are loaded before the program runs, each with its input. Steps never write these registers.
    pub inputs: Vec<(RegisterInput, Reg)>,
    /// The results of stages (earlier programs) that the program reads.
    pub reads: Vec<Read>,
    /// The initial values of the scalars: constants, and placeholders for the parameters of every table.
    pub scalars: Vec<u64>,
    /// The rows of each table.
    pub tables: Vec<Vec<Vec<u64>>>,
    /// True if the program reads the positions themselves. False if it reads only results of stages.
    pub positions: bool,
    /// True if a step needs the whole position, including the side to move, castling rights and en passant rights. False if the bit
    /// planes of the board suffice.
    pub whole_positions: bool,
}

/// A result of a stage (an earlier program) that a program reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// The number that identifies the result in the programs of all queries that are planned together.
    pub id: CarryId,
    /// True if the result is a mask, which is true or false at each position. False if it is a 64-bit word.
    pub is_mask: bool,
}

/// A stage: the part of a computation that must be complete before another program can run. It consists of a program that runs over
/// all positions of a block, and of operations on the results of this program.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The program of the stage. It has no stages (earlier programs) itself.
    pub program: Program,
    /// The results that the stage's program computes. If there are none, the program need not run.
    pub found: Vec<StageFound>,
    /// Operations on the results of the stage's program and on results of earlier operations, in the order in which they run.
    pub carried: Vec<StageCarry>,
}

/// A result of a stage, and the register that contains it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StageFound {
    /// The graph node whose value is the result. All queries that are planned together share one graph.
    pub word: Id,
    /// True if the result is a mask, which is true or false at each position. False if it is a 64-bit word.
    pub is_mask: bool,
    /// The register that contains the result.
    pub reg: Reg,
}

/// An operation along games. It reads whole columns, which have an entry for each position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StageCarry {
    /// The number that identifies the result in the programs of all queries that are planned together.
    pub id: CarryId,
    /// The operation that is applied.
    pub what: Made,
    /// The operands of the operation.
    pub operands: Vec<ColumnOperand>,
}

impl Program {
    /// Returns the number of steps that the program runs for one position. A step in a loop counts once for each row of the loop's
    /// table. The steps of stages (earlier programs) are included.
    pub fn cost(&self) -> u64 {
        let stages = self.stages.iter().map(|stage| stage.program.cost());
        stages.fold(self.own_cost(), u64::saturating_add)
    }

    /// Returns the expected run time for one position, in steps. Unlike [`Program::cost`], this includes flat programs.
    pub fn time(&self) -> u64 {
        let carried = self.stages.iter().flat_map(|stage| &stage.carried);
        let flat = carried.map(|carry| match &carry.what {
            Made::Game(GameOp::Flat(program)) => program.time.saturating_mul(INSTRUCTION_STEPS),
            _ => 0,
        });
        flat.fold(self.cost(), u64::saturating_add)
    }

    /// Returns the number of steps that the program runs for one position, without the steps of its stages (earlier programs).
    pub fn own_cost(&self) -> u64 {
        self.own_cost_by(|_| 1)
    }

    /// Like [`Program::own_cost`], but counts each operation as `steps` steps.
    pub fn own_cost_by(&self, steps: impl Fn(&Op) -> u64) -> u64 {
        let (mut cost, mut times) = (0u64, vec![1u64]);
        for step in &self.steps {
            let now = *times.last().expect("a loop that ends has begun");
            match step {
                Step::Begin { table, .. } => times.push(now.saturating_mul(self.tables[*table].len() as u64)),
                Step::End { .. } => drop(times.pop()),
                Step::Chain { chain, .. } => {
                    cost = cost.saturating_add(now.saturating_mul(chain.terms.len() as u64));
                }
                Step::Do { op, .. } => cost = cost.saturating_add(now.saturating_mul(steps(op))),
                _ => cost = cost.saturating_add(now),
            }
        }
        cost
    }

    /// Returns the number of queries that the program answers.
    pub fn answers(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Answer { .. })).count()
    }

    /// For each of `queries` queries, returns the index of its answer in [`Program::reads`]. Returns `None` if the program must
    /// compute one of the answers itself.
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

    /// Returns the number of chains among the steps, and the number of terms in all of these chains.
    pub fn chains(&self) -> (usize, usize) {
        let terms = self.steps.iter().filter_map(|step| match step {
            Step::Chain { chain, .. } => Some(chain.terms.len()),
            _ => None,
        });
        terms.fold((0, 0), |(chains, terms), more| (chains + 1, terms + more))
    }

    /// Writes code that computes the nodes `roots` of a graph. Returns the program, and the registers that contain these nodes.
    pub(super) fn new(dag: &Dag, roots: &[Id]) -> (Program, Vec<Reg>) {
        let (program, regs) = ProgramWriter::ready(dag, roots).assign(roots);
        (Program { stages: Program::stages(dag, roots), ..program }, regs)
    }

    /// Writes code that outputs the hit masks of several queries, each as soon as it is complete. Masks held in registers until the
    /// end would displace other registers from the processor's cache.
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

/// A step whose registers are not yet assigned. It refers to graph nodes instead.
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
    /// For each node, true if the node is a scalar (the same word for all positions), but some step reads it from a register, which
    /// has a word for each position.
    columns_of_scalars: Vec<bool>,
    /// The nodes of each loop, in ascending order. `None` represents the code outside of loops.
    scopes: HashMap<Option<LoopId>, Vec<Id>>,
    scalars: Vec<u64>,
    scalar_of: HashMap<Id, Scalar>,
    first_param: HashMap<LoopId, Scalar>,
    /// The parameters that the body of each loop reads, in ascending order.
    params: BTreeMap<LoopId, Vec<u32>>,
    pub(super) drafts: Vec<Draft>,
    inputs: Vec<(RegisterInput, Id)>,
    reads: Vec<Read>,
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
            params: BTreeMap::new(),
            drafts: Vec::new(),
            inputs: (0..4).map(|k| (RegisterInput::Plane(k), Id(u32::MAX))).collect(),
            reads: Vec::new(),
            words: HashMap::new(),
        }
    }

    /// Creates the drafts (steps without registers) of the whole program. Only the registers then remain to be assigned.
    fn ready(dag: &'a Dag, roots: &[Id]) -> ProgramWriter<'a> {
        let mut writer = ProgramWriter::new(dag, roots);
        writer.place();
        writer.emit_scope(None);
        if dag.chains {
            writer.chain(roots);
        }
        writer
    }

    /// For each node in `roots`, adds a step that outputs it as an answer. This step directly follows the step that computes the
    /// node. Nodes that are inputs are output at the end.
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

    /// Assigns each node that is needed to the loop in which it is evaluated.
    fn place(&mut self) {
        for (op, _) in self.dag.ops.iter().zip(&self.needed).filter(|(_, needed)| **needed) {
            if let Op::Param(l, k) = *op {
                self.params.entry(l).or_default().push(k);
            }
        }
        self.params.values_mut().for_each(|params| params.sort_unstable());
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
                    let params = &self.params[&l];
                    let place = params.partition_point(|&param| param < k) as u32;
                    let next = Scalar(self.scalars.len() as u32);
                    let first = *self.first_param.entry(l).or_insert(next);
                    if first == next {
                        self.scalars.extend(std::iter::repeat_n(0, params.len()));
                    }
                    self.scalar_of.insert(id, Scalar(first.0 + place));
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

    /// Returns the index of the last draft (step without registers) that reads each node.
    fn last_reads(&self, roots: &[Id]) -> HashMap<Id, usize> {
        let mut last: HashMap<Id, usize> = HashMap::new();
        let mut defined: HashMap<Id, usize> = HashMap::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (at, draft) in self.drafts.iter().enumerate() {
            let mut read = |id: Id, open: &[(usize, usize)], defined: &HashMap<Id, usize>| {
                // If a node is computed before a loop and read inside it, its register is needed until the loop ends.
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

    /// Assigns a register to each node, and returns the complete program.
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
        // For each draft (step without registers), the nodes whose registers become free after it.
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
            // Sorting the nodes makes the register assignment deterministic. This matters because graphics drivers cache kernels by
            // their text.
            let mut dying = dying.remove(&at).unwrap_or_default();
            dying.sort_unstable_by_key(|id| id.0);
            for id in dying {
                free.extend(regs.get(&id));
            }
            // A node that no step reads keeps its register forever. This happens only for the accumulator of a loop whose result
            // is unused.
        }
        let roots = roots.iter().map(|root| regs[root]).collect();
        let read = |of: u32| self.params.get(&LoopId(of)).into_iter().flatten().map(|&param| param as usize);
        let table =
            |(it, of): (&Loop, u32)| it.rows.iter().map(|row| read(of).map(|k| row[k]).collect()).collect();
        let tables = self.dag.loops.iter().zip(0..).map(table).collect();
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

/// Sorts the terms of a chain by kind: terms that are shifted up, terms with a mask, unchanged terms (`keep` is `all`), terms that
/// are shifted down. An engine that processes several adjacent terms at a time then mostly finds terms of one kind. The order does
/// not affect the result.
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

/// Returns the input that an operation reads, if the operation only reads an input. Returns `None` for results of stages, because
/// each program numbers them differently.
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
