//! Plans: the code that an engine runs.
//!
//! A [`Plan`] is straight-line code over 64-bit words, one word for each position, with loops over tables. It contains no part of
//! CQL, and an engine needs nothing but the plan. The number of copies (transformed filters) in each orbit is determined before a
//! plan is built, so simplifications in this crate cannot change it.

#![deny(unsafe_code, missing_docs)]

mod carry;
mod chains;
mod columns;
mod comments;
mod copies;
mod dag;
mod flat;
mod game;
mod guard;
mod listing;
mod lower;
mod numbers;
mod op;
mod operations;
mod orbits;
mod plans;
mod pointwise;
mod program;
mod pure;
mod screen;
mod sets;
mod shifted;
mod sums;
mod texts;
mod tiles;
mod unroll;
mod words;

pub use carry::ColumnOperand;
pub use columns::{TagColumn, TagText, TextTest};
pub use comments::{CommentLists, comment_lists};
pub use copies::CopyBit;
pub use dag::{Carried, CarryId, ColumnId, Id, Made, NO_VALUE, Op, PlanOptions, Reduce, TRUE};
pub use operations::{
    Automaton, AutomatonState, Branch, CastlingPart, EMPTY, EdgeTest, EntryInstr, FlatChain, FlatEdge,
    FlatFocus, FlatMove, FlatOp, FlatProgram, FlatRun, FlatStep, GameOp, Instr, KeyOrder, LITERALS, Label,
    Leaf, LegalValue, MoveInstr, MoveSeek, PairSearch, PairTest, PairWord, RayInstr, RegisterWord,
    SearchMemory, Sees, SliderAt, SquareTest, TextInstr, Walk,
};
use orbit_transforms::OutermostOrbit as _;
pub use plans::Plans;
pub use program::{
    ChainOp, OperationChain, Program, Read, Reg, RegisterInput, Scalar, Stage, StageCarry, StageFound, Step,
    Term,
};
pub use screen::{Bound, BoundRead, Screen};
pub use words::word_of;

/// The types from the tree of a parsed query (the *typed tree*) that also occur in plans. Engines use no other part of this tree.
pub use orbit_query::tree::{
    Arith, Cmp, DictionaryId, GameResult, Holds, MoveValue, PinPart, Sibling, Special, Spelt, VarId,
};

/// The values that queries keep from one game to the next.
pub use orbit_query::run::{RunValue, RunValues};

/// The steps of the eight directions, as (files, ranks). The first is to the right, the others follow counter-clockwise.
pub const DIR_STEPS: [(i8, i8); 8] = orbit_query::tree::Dirs::STEPS;

use dag::Dag;
use lower::{Lower, LoweredValue, finds};
use orbit_core::{board::Color, diagnostic::Diagnostic};
use orbit_query::{
    Type, TypedQuery,
    tree::{Kind as _, NumberOp, Ref, TextOp},
};
use orbit_transforms::{Filter, FilterRef, OrbitRef};
use orbits::{assigns, is_square_loop, nested_loops};

/// The location of a query's value after the plan has run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// The query has no value, only a hit mask.
    Bool,
    /// The value is a set of squares in this register.
    Set(Reg),
    /// The value is a number in this register. The number is valid only at positions where the hit mask is true.
    Num(Reg),
}

/// The number of copies (transformed filters) in one orbit, broken down by evaluation method. The orbit has `copies` copies. Of
/// these, `anchored` copies are evaluated in `anchors` words, one word for each group of shifts, and `gridded` copies in `grids`
/// words, several for each group. `pointwise` of the anchored and gridded copies contain more than designators and logic (`and`,
/// `or`, `not`). `in_tables` copies are rows of `tables` tables, and `unrolled` copies are written out one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(missing_docs, reason = "pairs of group and copy counts")]
pub struct OrbitNote {
    pub copies: usize,
    pub anchors: usize,
    pub anchored: usize,
    pub grids: usize,
    pub gridded: usize,
    pub pointwise: usize,
    pub tables: usize,
    pub in_tables: usize,
    pub unrolled: usize,
}

/// The code of one query: the program that computes its hits and, if requested, its values.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program that computes the hit mask and the value of the query.
    pub program: Program,
    /// The register that contains the hit mask.
    pub hit: Reg,
    /// The location of the query's value.
    pub output: Output,
    /// The columns that the code reads. Each contains one value for each game, such as a number from the game's tags.
    pub columns: Vec<TagColumn>,
    /// A note for each orbit (a filter under a transform). Inner orbits come first.
    pub notes: Vec<OrbitNote>,
}

/// A program that computes the hits of several queries. Subexpressions that the queries share are computed only once.
#[derive(Clone, Debug)]
pub struct SharedPlan {
    /// The code. Its [`Step::Answer`] steps output the hit mask of each query.
    pub program: Program,
    /// For each query, true if its hit mask is known to be true at every position, whatever the game.
    pub always: Vec<bool>,
    /// The index of each query's hit mask in [`Program::reads`], if stages (earlier programs) compute all of these masks. The
    /// program itself then need not run. `None` if it must run.
    pub carried: Option<Vec<usize>>,
    /// The columns that the code reads. Each contains one value for each game, such as a number from the game's tags.
    pub columns: Vec<TagColumn>,
}

/// The property of a hit that a [`CopiesPlan`] shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Apart {
    /// The copies (transformed patterns) of the outermost transform that match.
    Copies,
    /// The sides whose copies match ([`Filter::copy_sides`]): 0 for the copies that describe White's pattern, 1 for those that
    /// describe Black's.
    Sides,
}

/// A plan that shows, for each position, the copies (transformed patterns) of a query's outermost transform that match, or the
/// sides for which a copy matches.
#[derive(Clone, Debug)]
pub struct CopiesPlan {
    /// The program that computes a bit for each copy (transformed pattern).
    pub program: Program,
    /// The registers that contain the bits of the copies (transformed patterns).
    pub words: Vec<Reg>,
    /// The location of each bit. There is one bit for each distinct copy (transformed pattern), in the order of the copies, or one
    /// for each side.
    pub copies: Vec<CopyBit>,
    /// The columns that the code reads. Each contains one value for each game, such as a number from the game's tags.
    pub columns: Vec<TagColumn>,
}

impl CopiesPlan {
    fn new(lower: &Lower, roots: &[Id], copies: Vec<CopyBit>) -> CopiesPlan {
        let (program, words) = Program::new(&lower.dag, roots);
        CopiesPlan { program, words, copies, columns: lower.columns.clone() }
    }

    /// Returns the indices of the copies (transformed patterns) that match at a position, in ascending order. `words` are the
    /// values of [`CopiesPlan::words`] at this position.
    ///
    /// # Panics
    ///
    /// Panics if there are too few words.
    pub fn matching(&self, words: &[u64]) -> impl Iterator<Item = u32> {
        let matches = |copy: &CopyBit| words[copy.word] >> copy.bit & 1 != 0;
        self.copies.iter().zip(0..).filter_map(move |(copy, index)| matches(copy).then_some(index))
    }

    /// Adds 1 to the count of each copy (transformed pattern) that matches at a position. `words` are the values of
    /// [`CopiesPlan::words`] at this position.
    ///
    /// # Panics
    ///
    /// Panics if there are too few words or counts.
    pub fn add_counts(&self, words: &[u64], counts: &mut [u64]) {
        if words.iter().all(|&word| word == 0) {
            return;
        }
        for (copy, count) in self.copies.iter().zip(counts) {
            *count += words[copy.word] >> copy.bit & 1;
        }
    }
}

/// The maximum number of filters in a query. If a plan cannot express a loop as a loop, the filters are counted after the loop is
/// unrolled.
pub const FILTERS_MAX: u64 = 4_000_000;

/// The maximum number of columns of 64-bit words that a query may compute by operations along games, which read all positions of a
/// game. Each of these columns takes a megabyte per thread.
pub const CARRIED_MAX: usize = 256;

/// The maximum number of all columns that a query may compute by operations along games, of masks and of words together. A column
/// of masks takes only 1/64 of the memory of a column of words.
const MASKS_MAX: usize = 4096;

/// If loops over squares are nested at least this deep, the query becomes a flat program, a list of instructions that runs along
/// each game. A flat program visits only the squares in the sets of the loops. A table would have a row for each combination of
/// squares: 262,144 rows for three nested loops.
const NESTED_MAX: usize = 3;

/// If loops over squares are nested at least this deep, the query becomes a flat program if the program is expected to take less
/// time than the tables of the loops.
const NESTED_MIN: usize = 2;

/// Returns the number of filters in the tree of a filter, including the filter itself. Filters in a loop that assigns variables
/// count 64 times, because the loop is unrolled for each square.
fn written_out(filter: FilterRef) -> u64 {
    let mut sum = 1u64;
    filter.each_child(&mut |child| sum = sum.saturating_add(written_out(child)));
    if is_square_loop(filter) && assigns(filter) { sum.saturating_mul(64) } else { sum }
}

/// Builds the plans of a single query.
#[derive(Clone, Debug)]
pub struct Planner {
    filter: Filter,
    ty: Type,
    vars: usize,
    options: PlanOptions,
    refusal: Option<Diagnostic>,
    /// The values that the query keeps from game to game, as they are before the first game.
    run: RunValues,
    /// The facts with which the query is compiled to a flat program, a list of instructions that runs along each game. `None` if
    /// the query does not become a flat program.
    flat: Option<flat::Facts>,
}

impl Planner {
    /// Expands the orbits of a query, and determines whether a plan can run the query.
    ///
    /// # Errors
    ///
    /// Fails if an orbit cannot be expanded (see [`orbit_transforms::expand`]), if the query would become more than [`FILTERS_MAX`]
    /// filters, or if its operations along games (which read all positions of a game) would need too many columns.
    pub fn new(query: &TypedQuery, options: PlanOptions) -> Result<Planner, Diagnostic> {
        let filter = orbit_transforms::expand(&query.body)?;
        let filters = written_out(filter.node());
        if filters > FILTERS_MAX {
            return Err(Diagnostic::error(
                query.body.span(),
                format!("the query becomes {filters} filters once loops and copies are written out"),
                format!("at most {FILTERS_MAX}; loops that assign variables are repeated for each square"),
            ));
        }
        let refusal = query.keeps_state.clone().or_else(|| game::refusals::refusal(query));
        let (ty, vars) = (query.body.ty(), query.vars.len());
        let run = RunValues::new(query);
        let mut planner = Planner { filter, ty, vars, options, refusal, run, flat: None };
        let depth = nested_loops(planner.filter.node());
        if (planner.refusal.is_some() || depth >= NESTED_MAX) && planner.is_flat(query, NESTED_MAX) {
            planner.refusal = None;
        } else if planner.refusal.is_none() {
            planner.refusal = planner.check_carried(query)?;
        } else {
            planner.refusal = game::refusals::refusal_of_programs(query).or(planner.refusal);
        }
        if depth >= NESTED_MIN && options.programs && planner.refusal.is_none() {
            let mut program = planner.clone();
            if program.is_flat(query, NESTED_MIN)
                && program.hits().program.time() < planner.hits().program.time()
            {
                return Ok(program);
            }
        }
        Ok(planner)
    }

    /// Returns the planner of a filter that was made from filters of a query. Returns `None` if no plan can run it, or only a flat
    /// program, which evaluates one position at a time.
    fn from_part(query: &TypedQuery, filter: Filter) -> Option<Planner> {
        let is_refused = query.keeps_state.is_some() || game::refusals::refusal(query).is_some();
        if is_refused || written_out(filter.node()) > FILTERS_MAX || nested_loops(filter.node()) >= NESTED_MAX
        {
            return None;
        }
        let (ty, vars, options) = (filter.ty(), query.vars.len(), PlanOptions::default());
        let planner =
            Planner { filter, ty, vars, options, refusal: None, run: RunValues::new(query), flat: None };
        planner.check_carried(query).ok()?.is_none().then_some(planner)
    }

    /// Tries to compile the query to a flat program. Loops over squares become part of the program if they are nested at least
    /// `depth` deep. On success, stores the compiler's input in `self.flat` and returns true.
    fn is_flat(&mut self, query: &TypedQuery, depth: usize) -> bool {
        // A piece exists only in its own game, so a flat program cannot keep it in a variable that outlives games.
        if query.vars.iter().any(|var| var.life.outlives_games() && var.holds == Holds::Piece) {
            return false;
        }
        if query.variations && flat::stores_after_moves(self.filter.node()) {
            return false;
        }
        let facts = flat::Facts {
            vars: query.vars.clone(),
            dictionaries: query.dictionaries.clone(),
            variations: query.variations,
            depth,
        };
        let mut lower = Lower::new(self.options, self.vars);
        let mut compiles = |value| flat::compiled(&mut lower, &facts, &self.filter, value).is_ok();
        let compiled = compiles(false) && (!self.has_values() || compiles(true));
        let compiled = compiled && self.flat_copies(&mut lower, &facts).is_ok();
        let words = lower.dag.carries.iter().filter(|carry| !carry.what.is_mask()).count();
        let fits = compiled && words <= CARRIED_MAX && lower.dag.carries.len() <= MASKS_MAX;
        if fits {
            self.flat = Some(facts);
        }
        fits
    }

    /// Returns the reason why no plan can run the query, so that only the reference engine can. Returns `None` if a plan can run
    /// it.
    pub fn refusal(&self) -> Option<&Diagnostic> {
        self.refusal.as_ref()
    }

    /// Checks if a plan can run a query that depends on other positions. Returns the reason if no plan can run it, and `None`
    /// otherwise.
    ///
    /// # Errors
    ///
    /// Fails if the query would need too many columns for operations along games, and `find` is the only filter that depends on
    /// other positions. The limit then applies to every engine. In all other queries, too many columns are only a reason why no
    /// plan can run the query.
    fn check_carried(&self, query: &TypedQuery) -> Result<Option<Diagnostic>, Diagnostic> {
        if !self.filter.any(finds) {
            return Ok(None);
        }
        let mut lower = Lower::new(self.options, self.vars);
        let value = lower.value(&self.filter);
        let hit = lower.truth_of(value);
        if let Some(what) = lower.refused {
            return Ok(Some(game::refusals::not_planned(query.body.span(), what)));
        }
        let roots: Vec<Id> = [hit].into_iter().chain(value.word()).collect();
        let carried = carry::stages(&lower.dag, &roots).concat();
        let carries = || carried.iter().map(|id| &lower.dag.carries[id.0 as usize]);
        let words = carries().filter(|carry| !carry.what.is_mask()).count();
        if words <= CARRIED_MAX && carried.len() <= MASKS_MAX {
            return Ok(None);
        }
        let (things, count, max) = match words > CARRIED_MAX {
            true => ("numbers and sets", words, CARRIED_MAX),
            false => ("conditions", carried.len(), MASKS_MAX),
        };
        let error = Diagnostic::error(
            query.body.span(),
            format!("the query looks for {count} {things} at other positions of the game"),
            format!("at most {max}"),
        )
        .help("as a condition, `find` under shifts is one thing; numbers (`find all`) are one for each copy");
        let of_games = carries().any(|carry| matches!(carry.what, Made::Game(_)));
        if of_games { Ok(Some(error)) } else { Err(error) }
    }

    /// Returns the values that the query keeps from game to game, as they are before the first game. Returns `None` if the query
    /// treats each game independently.
    pub fn run(&self) -> Option<&RunValues> {
        (self.run != RunValues::default()).then_some(&self.run)
    }

    /// Returns true if a flat program runs the query. A flat program can end with an error while it runs.
    pub fn is_program(&self) -> bool {
        self.flat.is_some()
    }

    /// Returns warnings about the number of copies (transformed patterns); see [`orbit_transforms::warnings`].
    pub fn warnings(&self) -> Vec<Diagnostic> {
        orbit_transforms::warnings(&self.filter)
    }

    /// Returns the query with its transforms expanded.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Returns the type of the query's value.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Returns the number of distinct copies (transformed patterns) of the outermost transform, or 1 if there is no transform.
    pub fn copies(&self) -> usize {
        self.filter.outermost_orbit().map_or(1, OrbitRef::copies)
    }

    /// Returns true if the query's hits or values depend on the tags of games.
    pub fn reads_tags(&self) -> bool {
        self.filter.any(|filter| match filter {
            Ref::Number(f) => matches!(f.op(), NumberOp::Elo(_) | NumberOp::Year),
            Ref::Text(f) => matches!(f.op(), TextOp::Tag(_) | TextOp::Player(_)),
            _ => false,
        })
    }

    /// Returns a plan that computes only the hits of the query.
    pub fn hits(&self) -> Plan {
        let mut lower = Lower::new(self.options, 0);
        let hit = self.lower_hits(&mut lower);
        finish(&lower, hit, None)
    }

    /// Returns a plan that computes the hits of the query and its values at these hits.
    pub fn values(&self) -> Plan {
        if !self.has_values() {
            return self.hits();
        }
        let mut lower = Lower::new(self.options, 0);
        let value = self.lower_value(&mut lower);
        let hit = lower.truth_of(value);
        finish(&lower, hit, Some(value))
    }

    /// Returns a plan that shows which copies (transformed patterns) of the outermost transform match. If there is no transform,
    /// the query itself is the only copy.
    pub fn each_copy(&self) -> CopiesPlan {
        let mut lower = Lower::new(self.options, 0);
        let (roots, copies) = self.lower_apart(&mut lower, Apart::Copies);
        CopiesPlan::new(&lower, &roots, copies)
    }

    fn has_values(&self) -> bool {
        !matches!(self.ty, Type::Bool | Type::Str)
    }

    /// Returns the mask of positions at which the query matches.
    fn lower_hits(&self, lower: &mut Lower) -> Id {
        lower.begin(self.vars);
        if let Some(facts) = &self.flat {
            return self.lower_flat(lower, facts, false);
        }
        lower.truth(self.filter.node())
    }

    fn lower_flat(&self, lower: &mut Lower, facts: &flat::Facts, value: bool) -> Id {
        let compiled = flat::compiled(lower, facts, &self.filter, value);
        compiled.expect("the planner has compiled it before")
    }

    fn lower_value(&self, lower: &mut Lower) -> LoweredValue {
        lower.begin(self.vars);
        if let Some(facts) = &self.flat {
            if !self.has_values() {
                return LoweredValue::Bool(self.lower_flat(lower, facts, false));
            }
            let word = self.lower_flat(lower, facts, true);
            if self.ty == Type::Set {
                return LoweredValue::Set(word);
            }
            let (number, ok) = lower.unpacked_number(word);
            return LoweredValue::Num { number, ok };
        }
        lower.value(&self.filter)
    }

    /// Returns words whose bits show which copies (transformed patterns) or sides match, and the location of the bit of each copy
    /// or side.
    ///
    /// # Panics
    ///
    /// Panics if `apart` is [`Apart::Sides`] and the filter has no [`Filter::copy_sides`].
    fn lower_apart(&self, lower: &mut Lower, apart: Apart) -> (Vec<Id>, Vec<CopyBit>) {
        match apart {
            Apart::Copies => self.lower_copies(lower),
            Apart::Sides => self.lower_sides(lower),
        }
    }

    fn lower_copies(&self, lower: &mut Lower) -> (Vec<Id>, Vec<CopyBit>) {
        lower.begin(self.vars);
        if let Some(facts) = &self.flat {
            let place = |copy: usize| CopyBit { word: copy / 64, bit: (copy % 64) as u32 };
            let words = self.flat_copies(lower, facts).expect("the planner has compiled it before");
            return (words, (0..self.copies()).map(place).collect());
        }
        match self.filter.outermost_orbit() {
            Some(OrbitRef::Any(orbit) | OrbitRef::Counted(_, orbit)) => lower.each_copy(orbit),
            Some(OrbitRef::Union(orbit)) => lower.each_copy(orbit),
            Some(OrbitRef::Largest(orbit)) => lower.each_copy(orbit),
            None => lower.only_copy(&self.filter),
        }
    }

    /// Returns words that contain a bit for each copy (transformed pattern), 64 bits in each word. The bit is set if the copy
    /// matches.
    fn flat_copies(&self, lower: &mut Lower, facts: &flat::Facts) -> flat::CompileResult<Vec<Id>> {
        let words = self.copies().div_ceil(64);
        flat::compiled_copies(lower, facts, &self.filter, words, |copy| (copy / 64, 1 << (copy % 64)))
    }

    fn lower_sides(&self, lower: &mut Lower) -> (Vec<Id>, Vec<CopyBit>) {
        if let Some(facts) = &self.flat {
            let sides = self.filter.copy_sides().expect("copies are of sides");
            let mask = |copy: usize| u64::from(sides[copy].white) | u64::from(sides[copy].black) << 1;
            let words = flat::compiled_copies(lower, facts, &self.filter, 1, |copy| (0, mask(copy)));
            let words = words.expect("the planner has compiled its copies before");
            return (words, (0..2).map(|bit| CopyBit { word: 0, bit }).collect());
        }
        let side = |side| {
            lower.begin(self.vars);
            match self.filter.outermost_orbit() {
                Some(OrbitRef::Any(orbit)) => lower.any_copy(&orbit.for_side(side)),
                Some(OrbitRef::Union(orbit)) => lower.any_copy(&orbit.for_side(side)),
                Some(OrbitRef::Largest(orbit)) => lower.any_copy(&orbit.for_side(side)),
                Some(OrbitRef::Counted(..)) | None => panic!("no copies of sides"),
            }
        };
        let words = [Color::White, Color::Black].map(side).to_vec();
        (words, (0..2).map(|word| CopyBit { word, bit: 0 }).collect())
    }
}

fn finish(lower: &Lower, hit: Id, value: Option<LoweredValue>) -> Plan {
    let word = value.and_then(LoweredValue::word);
    let roots: Vec<Id> = [hit].into_iter().chain(word).collect();
    let (program, regs) = Program::new(&lower.dag, &roots);
    let output = match (value, regs.get(1)) {
        (Some(LoweredValue::Set(_)), Some(&reg)) => Output::Set(reg),
        (Some(LoweredValue::Num { .. }), Some(&reg)) => Output::Num(reg),
        _ => Output::Bool,
    };
    let (columns, notes) = (lower.columns.clone(), lower.notes.clone());
    Plan { program, hit: regs[0], output, columns, notes }
}

/// For each node of a graph, returns true if one of the nodes in `roots` depends on it.
fn needed(dag: &Dag, roots: &[Id]) -> Vec<bool> {
    let mut needed = vec![false; dag.ops.len()];
    let mut stack: Vec<Id> = roots.to_vec();
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut needed[id.0 as usize], true) {
            continue;
        }
        let op = dag.op(id);
        stack.extend(op.args());
        if let Op::Loop(l) = op {
            stack.push(dag.loops[l.0 as usize].body);
        }
    }
    needed
}
