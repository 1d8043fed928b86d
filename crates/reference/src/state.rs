//! The state of an evaluation. It persists across the filters and positions of a game.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{
    found::Note,
    memory::ChainMemory,
    script_files::ScriptFiles,
    value::{Evaluated, cell_text},
};
use orbit_core::{
    diagnostic::{Diagnostic, Span},
    interrupt::Interrupt,
    regexes::CompiledPattern,
};
use orbit_query::{
    TypedQuery,
    answer::SortValue,
    run::{RunValue, RunValues},
    tree::{
        Cell, Cells, ConditionOp, Dictionary, DictionaryId, Form, GameCondition, GameText, Holds, Life, Ref,
        Sort, SortId, TextOp, Var, VarId,
    },
};

/// The declarations of a query. Each variable, dictionary and `sort` has an entry in the state.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) vars: Vec<Var>,
    pub(super) dictionaries: Vec<Dictionary>,
    pub(super) sorts: Vec<Sort>,
    /// The compiled regular expressions of the query. The key is the text of the expression.
    pub(super) patterns: BTreeMap<String, CompiledPattern>,
    /// The files that the query may use.
    pub(super) files: Option<Arc<ScriptFiles>>,
    /// The maximum number of steps in the evaluation of one game.
    pub(super) steps_max: u64,
}

impl Declared {
    pub(super) fn from_query(query: &TypedQuery) -> Declared {
        let mut patterns = BTreeMap::new();
        query.body.walk(&mut |filter| {
            if let Some(pattern) = pattern_of(filter) {
                patterns.entry(pattern.to_owned()).or_insert_with(|| {
                    CompiledPattern::new(pattern).expect("the parser refuses larger patterns")
                });
            }
        });
        Declared {
            patterns,
            vars: query.vars.clone(),
            dictionaries: query.dictionaries.clone(),
            sorts: query.sorts.clone(),
            files: query.header.files.as_deref().map(|folder| Arc::new(ScriptFiles::new(folder))),
            steps_max: u64::MAX,
        }
    }
}

/// Returns the regular expression of a filter, if it has one.
fn pattern_of<P: Form>(filter: Ref<'_, P>) -> Option<&str> {
    match filter {
        Ref::Text(f) if let TextOp::Game(GameText::Match { pattern, .. }) = f.op() => Some(pattern),
        Ref::Condition(f) if let ConditionOp::Game(GameCondition::WhileMatch { pattern, .. }) = f.op() => {
            Some(pattern)
        }
        _ => None,
    }
}

/// The groups of a regular expression match. A group that takes part in the match has its start and its text.
pub(super) type Groups = Vec<Option<(usize, Vec<u8>)>>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Datum {
    Squares(u64),
    Number(i32),
    Text(Vec<u8>),
    Position(i32),
}

/// The entries of a dictionary, in the order of their keys.
pub(super) type DictionaryEntries = BTreeMap<Datum, Datum>;

/// The best value of one `sort` so far, with the comments written for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorted {
    pub(super) best: Option<SortValue>,
    /// The position of the best value.
    pub(super) at: usize,
    pub(super) notes: Vec<Note>,
}

/// The state of one evaluation: variables, dictionaries, notes and counters.
#[derive(Clone, Debug)]
pub(super) struct VariableState {
    pub(super) cells: Cells<Evaluated>,
    dictionaries: Vec<DictionaryEntries>,
    /// The groups of the last regular expression match, or `None` if the last search failed.
    pub(super) groups: Option<Groups>,
    /// Comments and spans, in the order in which they were added. A filter that does not match removes its own.
    pub(super) notes: Vec<Note>,
    /// True if filters record their spans.
    pub(super) tells_spans: bool,
    sorted: Vec<Sorted>,
    /// True while a `sort` is being evaluated.
    pub(super) sorts: bool,
    /// The tags to set in the written game, by name.
    pub(super) tags: BTreeMap<String, Vec<u8>>,
    /// The positions whose comments are removed when the game is written.
    pub(super) removed: BTreeSet<usize>,
    /// The lines that the query prints immediately.
    pub(super) messages: Vec<Vec<u8>>,
    /// The data that `line` and `path` store during the game.
    pub(super) chains: ChainMemory,
    /// The number of the last game of the database, if it is known.
    pub(super) last_game: Option<u32>,
    /// The number of iterations of `loop` and `while` so far in this game.
    repetitions: u64,
    /// The number of steps left before the evaluation ends with an error.
    steps_left: u64,
    /// The interrupt switch, with which the caller can end the search.
    pub(super) interrupt: Interrupt,
    /// The number of steps since the interrupt switch was last checked. The initial value causes a check at the first step.
    unlooked: u64,
    /// The error that ends the search, if there is one. Once it is set, no filter matches and all loops end.
    pub(super) fault: Option<Diagnostic>,
}

impl VariableState {
    /// The maximum number of iterations of `loop` and `while` in one game. It stops an endless loop within seconds.
    const REPETITIONS_MAX: u64 = 10_000_000;

    /// The number of steps between two checks of the interrupt switch. A filter usually takes a few microseconds. A filter that
    /// examines all squares takes somewhat longer.
    const STEPS_A_LOOK: u64 = 1024;

    /// The number of string bytes that take as long to process as one filter.
    const BYTES_A_STEP: usize = 1024;

    /// The number of positions that count as one step when a filter visits many positions.
    const NODES_A_STEP: usize = 64;

    pub(super) fn new(declared: &Declared, interrupt: &Interrupt) -> VariableState {
        VariableState {
            cells: Cells::unbound(declared.vars.len()),
            dictionaries: vec![DictionaryEntries::new(); declared.dictionaries.len()],
            groups: None,
            notes: Vec::new(),
            tells_spans: false,
            sorted: vec![Sorted::default(); declared.sorts.len()],
            sorts: false,
            tags: BTreeMap::new(),
            removed: BTreeSet::new(),
            messages: Vec::new(),
            chains: ChainMemory::default(),
            last_game: None,
            repetitions: 0,
            steps_left: declared.steps_max,
            interrupt: interrupt.clone(),
            unlooked: VariableState::STEPS_A_LOOK - 1,
            fault: None,
        }
    }

    pub(super) fn dictionary(&mut self, dictionary: DictionaryId) -> &mut DictionaryEntries {
        &mut self.dictionaries[dictionary.0 as usize]
    }

    pub(super) fn sorted(&mut self, sort: SortId) -> &mut Sorted {
        &mut self.sorted[sort.0 as usize]
    }

    /// Removes the best values of all sorts, and returns them.
    pub(super) fn take_sorted(&mut self) -> Vec<Sorted> {
        std::mem::take(&mut self.sorted)
    }

    /// Records the error that ends the search. An earlier error is kept.
    pub(super) fn fail(&mut self, fault: Diagnostic) {
        self.fault.get_or_insert(fault);
    }

    /// Checks the interrupt switch, and ends the search if it is set.
    pub(super) fn look(&mut self) {
        self.unlooked = 0;
        if self.interrupt.is_set() {
            self.fail(Diagnostic::error(Span::default(), "interrupted", "evaluated last"));
        }
    }

    /// Counts one step: the evaluation of one filter, or other work that takes as long.
    pub(super) fn step(&mut self, span: Span) {
        self.steps(1, span);
    }

    /// Counts the steps (units of work) for reading or copying this many bytes of a string.
    pub(super) fn step_bytes(&mut self, bytes: usize, span: Span) {
        self.steps((bytes / VariableState::BYTES_A_STEP) as u64, span);
    }

    /// Counts the steps (units of work) for visiting this many positions, or as many entries of another list.
    pub(super) fn step_nodes(&mut self, nodes: usize, span: Span) {
        self.steps((nodes / VariableState::NODES_A_STEP) as u64, span);
    }

    /// Counts steps, and checks the interrupt switch at intervals. After an error, nothing is counted.
    pub(super) fn steps(&mut self, count: u64, span: Span) {
        if self.fault.is_some() {
            return;
        }
        self.unlooked = self.unlooked.saturating_add(count);
        if self.unlooked >= VariableState::STEPS_A_LOOK {
            self.look();
        }
        match self.steps_left.checked_sub(count) {
            Some(left) => self.steps_left = left,
            None => self.fail(
                Diagnostic::error(span, "the query takes too many steps in one game", "asked last")
                    .help("ask fewer filters at each position, or allow more steps"),
            ),
        }
    }

    /// Counts an iteration of a loop. Returns false if the loop must end.
    pub(super) fn repeats(&mut self, name: &str, span: Span) -> bool {
        self.repetitions += 1;
        if self.repetitions > VariableState::REPETITIONS_MAX {
            let count = VariableState::REPETITIONS_MAX;
            self.fail(
                Diagnostic::error(span, format!("`{name}` does not end"), "repeated here").help(format!(
                    "loops repeat at most {count} times in one game; let a filter fail at last"
                )),
            );
        }
        self.fault.is_none()
    }
}

/// The variables and dictionaries that keep their values from one game to the next.
#[derive(Clone, Debug)]
pub struct RunState {
    cells: Vec<(VarId, Cell<Evaluated>)>,
    dictionaries: Vec<(DictionaryId, DictionaryEntries)>,
    /// The name of each variable, with a flag that is true if the variable is printed at the end of the search.
    names: Vec<(String, bool)>,
}

impl RunState {
    /// Creates the state for the start of a search: each variable is 0, "" or [], depending on its type, and all dictionaries are
    /// empty.
    pub fn new(query: &TypedQuery) -> RunState {
        let vars = query.vars.iter().zip(0..).filter(|(var, _)| var.life.outlives_games());
        let cells = vars.clone().map(|(var, id)| {
            let cell = match var.holds {
                Holds::Squares => Cell::Squares(shakmaty::Bitboard::EMPTY),
                Holds::Number => Cell::Number(0),
                Holds::Text => Cell::Text(Vec::new()),
                Holds::Position | Holds::Piece => Cell::Unbound,
            };
            (VarId(id), cell)
        });
        let dictionaries = query.dictionaries.iter().zip(0..).filter(|(of, _)| of.life.outlives_games());
        RunState {
            cells: cells.collect(),
            dictionaries: dictionaries.map(|(_, id)| (DictionaryId(id), DictionaryEntries::new())).collect(),
            names: vars.map(|(var, _)| (var.name.clone(), var.life == Life::Run { quiet: false })).collect(),
        }
    }

    /// Returns the names and values (as text) of the variables that are printed at the end of a search.
    pub fn printed(&self) -> Vec<(&str, Vec<u8>)> {
        let named = self.names.iter().zip(&self.cells).filter(|((_, printed), _)| *printed);
        named.map(|((name, _), (_, cell))| (name.as_str(), cell_text(cell))).collect()
    }

    /// Returns the values of all persistent variables and dictionaries.
    pub fn values(&self) -> RunValues {
        let value = |cell: &Cell<Evaluated>| match cell {
            Cell::Unbound | Cell::Position(_) => None,
            Cell::Squares(squares) => Some(RunValue::Squares(squares.0)),
            Cell::Number(number) => Some(RunValue::Number(*number)),
            Cell::Text(text) => Some(RunValue::Text(text.as_slice().into())),
        };
        let entries = |entries: &DictionaryEntries| {
            let value = |datum: &Datum| match datum {
                Datum::Squares(squares) => RunValue::Squares(*squares),
                Datum::Number(number) | Datum::Position(number) => RunValue::Number(*number),
                Datum::Text(text) => RunValue::Text(text.as_slice().into()),
            };
            entries.iter().map(|(key, of)| (value(key), value(of))).collect()
        };
        RunValues {
            vars: self.cells.iter().map(|(var, cell)| (*var, value(cell))).collect(),
            dictionaries: self.dictionaries.iter().map(|(id, of)| (*id, entries(of))).collect(),
        }
    }

    /// Replaces the values of all persistent variables and dictionaries.
    pub fn set_values(&mut self, values: &RunValues) {
        let cell = |value: &RunValue| match value {
            RunValue::Squares(squares) => Cell::Squares(shakmaty::Bitboard(*squares)),
            RunValue::Number(number) => Cell::Number(*number),
            RunValue::Text(text) => Cell::Text(text.to_vec()),
        };
        let datum = |value: &RunValue| match value {
            RunValue::Squares(squares) => Datum::Squares(*squares),
            RunValue::Number(number) => Datum::Number(*number),
            RunValue::Text(text) => Datum::Text(text.to_vec()),
        };
        for (var, to) in &mut self.cells {
            *to = values.vars.get(var).and_then(Option::as_ref).map_or(Cell::Unbound, cell);
        }
        for (id, to) in &mut self.dictionaries {
            let entries = values.dictionaries.get(id).into_iter().flatten();
            *to = entries.map(|(key, of)| (datum(key), datum(of))).collect();
        }
    }

    /// Moves the values of the persistent variables and dictionaries into the state of a game, whose evaluation can change them.
    pub(super) fn lend(&mut self, state: &mut VariableState) {
        for (var, cell) in &mut self.cells {
            state.cells.bind(*var, std::mem::replace(cell, Cell::Unbound));
        }
        for (id, entries) in &mut self.dictionaries {
            std::mem::swap(state.dictionary(*id), entries);
        }
    }

    /// Moves the values of the persistent variables and dictionaries back from the state of a game, for the next game.
    pub(super) fn take_back(&mut self, state: &mut VariableState) {
        for (var, cell) in &mut self.cells {
            *cell = state.cells.take(*var);
        }
        for (id, entries) in &mut self.dictionaries {
            std::mem::swap(state.dictionary(*id), entries);
        }
    }
}
