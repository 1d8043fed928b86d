//! What an evaluation keeps from filter to filter and from position to position of a game.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{
    found::Note,
    memory::ChainMemory,
    script_files::ScriptFiles,
    value::{Evaluated, cell_text},
};
use crate::{
    Interrupt, SortValue,
    regexes::{CompiledPattern, Groups, pattern_of},
};
use orbit_core::diagnostic::{Diagnostic, Span};
use orbit_query::{
    TypedQuery,
    tree::{Cell, Cells, Dictionary, DictionaryId, Holds, Life, Sort, SortId, Var, VarId},
};

/// What a query declares: the state has a place for each.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) vars: Vec<Var>,
    pub(super) dictionaries: Vec<Dictionary>,
    pub(super) sorts: Vec<Sort>,
    /// The regular expressions of the query, by what is written.
    pub(super) patterns: BTreeMap<String, CompiledPattern>,
    /// The files that it may use.
    pub(super) files: Option<Arc<ScriptFiles>>,
    /// The most steps that the evaluation of one game may take.
    pub(super) steps_max: u64,
}

impl Declared {
    pub(super) fn from_query(query: &TypedQuery) -> Declared {
        let mut patterns = BTreeMap::new();
        query.body.walk(&mut |filter| {
            if let Some(pattern) = pattern_of(filter) {
                patterns.entry(pattern.to_owned()).or_insert_with(|| CompiledPattern::new(pattern));
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

/// A value that a dictionary holds, or by which it is asked.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Datum {
    Squares(u64),
    Number(i32),
    Text(Vec<u8>),
    Position(i32),
}

/// What a dictionary holds, in the order of the keys.
pub(super) type DictionaryEntries = BTreeMap<Datum, Datum>;

/// What one `sort` has found so far, with the comments that led to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorted {
    pub(super) best: Option<SortValue>,
    pub(super) notes: Vec<Note>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct VariableState {
    /// What variables hold.
    pub(super) cells: Cells<Evaluated>,
    /// What dictionaries hold.
    dictionaries: Vec<DictionaryEntries>,
    /// The last match of a regular expression; none where that failed.
    pub(super) groups: Option<Groups>,
    /// Comments and spans in the order in which they were made. A filter that fails takes back its own.
    pub(super) notes: Vec<Note>,
    /// Whether filters note their spans.
    pub(super) tells_spans: bool,
    /// What each `sort` has found.
    sorted: Vec<Sorted>,
    /// Whether a `sort` is being evaluated.
    pub(super) sorts: bool,
    /// Tags that the output gets.
    pub(super) tags: BTreeMap<String, Vec<u8>>,
    /// Positions whose comments the output loses.
    pub(super) removed: BTreeSet<usize>,
    /// What was to be printed at once.
    pub(super) messages: Vec<Vec<u8>>,
    /// What `line` and `path` remember.
    pub(super) chains: ChainMemory,
    /// The number of the last game of the database, where that is known.
    pub(super) last_game: Option<u32>,
    /// How often a `loop` or `while` was repeated.
    repetitions: u64,
    /// The steps that are left.
    steps_left: u64,
    /// The switch that ends the run from outside.
    pub(super) interrupt: Interrupt,
    /// Steps since the switch was looked at; a run looks at its first step.
    unlooked: u64,
    /// Why the run cannot go on, once that is so: then filters fail, and loops end.
    pub(super) fault: Option<Diagnostic>,
}

impl VariableState {
    /// The most repetitions of `loop` and `while` in one game: a loop that does not end is found in seconds.
    const REPETITIONS_MAX: u64 = 10_000_000;

    /// Steps after which the switch is looked at again. A filter takes a few microseconds, on all squares some more.
    const STEPS_A_LOOK: u64 = 1024;

    /// Bytes of strings that are as long work as one filter.
    const BYTES_A_STEP: usize = 1024;

    /// Positions that are counted as one step where a filter runs through those of a game.
    const NODES_A_STEP: usize = 64;

    /// At the start of a game.
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

    /// What all sorts have found.
    pub(super) fn take_sorted(&mut self) -> Vec<Sorted> {
        std::mem::take(&mut self.sorted)
    }

    /// Notes why the run cannot go on; the first reason stays.
    pub(super) fn fail(&mut self, fault: Diagnostic) {
        self.fault.get_or_insert(fault);
    }

    /// Looks whether the run is to end.
    pub(super) fn look(&mut self) {
        self.unlooked = 0;
        if self.interrupt.is_set() {
            self.fail(Diagnostic::error(Span::default(), "interrupted", "evaluated last"));
        }
    }

    /// Counts a filter that is evaluated, or work that takes as long.
    pub(super) fn step(&mut self, span: Span) {
        self.steps(1, span);
    }

    /// Counts work on so many bytes of strings.
    pub(super) fn step_bytes(&mut self, bytes: usize, span: Span) {
        self.steps((bytes / VariableState::BYTES_A_STEP) as u64, span);
    }

    /// Counts a way through so many positions, or other entries of lists.
    pub(super) fn step_nodes(&mut self, nodes: usize, span: Span) {
        self.steps((nodes / VariableState::NODES_A_STEP) as u64, span);
    }

    /// Counts steps, and looks every so often whether the run is to end. Nothing is counted once it is.
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

    /// Counts a repetition of a loop; false where there are too many.
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

/// What variables and dictionaries keep from one game to the next.
#[derive(Clone, Debug)]
pub struct RunState {
    cells: Vec<(VarId, Cell<Evaluated>)>,
    dictionaries: Vec<(DictionaryId, DictionaryEntries)>,
    /// The name, and whether it is printed.
    names: Vec<(String, bool)>,
}

impl RunState {
    /// At the start of a run: variables begin as 0, "" or [], dictionaries are empty.
    pub fn new(query: &TypedQuery) -> RunState {
        let lasting = |life: Life| matches!(life, Life::Run { .. });
        let vars = query.vars.iter().zip(0..).filter(|(var, _)| lasting(var.life));
        let cells = vars.clone().map(|(var, id)| {
            let cell = match var.holds {
                Holds::Squares => Cell::Squares(shakmaty::Bitboard::EMPTY),
                Holds::Number => Cell::Number(0),
                Holds::Text => Cell::Text(Vec::new()),
                Holds::Position | Holds::Piece => Cell::Unbound,
            };
            (VarId(id), cell)
        });
        let dictionaries = query.dictionaries.iter().zip(0..).filter(|(of, _)| lasting(of.life));
        RunState {
            cells: cells.collect(),
            dictionaries: dictionaries.map(|(_, id)| (DictionaryId(id), DictionaryEntries::new())).collect(),
            names: vars.map(|(var, _)| (var.name.clone(), var.life == Life::Run { quiet: false })).collect(),
        }
    }

    /// The names of the variables that are printed at the end of a run, and their values as text.
    pub fn printed(&self) -> Vec<(&str, Vec<u8>)> {
        let named = self.names.iter().zip(&self.cells).filter(|((_, printed), _)| *printed);
        named.map(|((name, _), (_, cell))| (name.as_str(), cell_text(cell))).collect()
    }

    /// Hands over to a game what it may change.
    pub(super) fn lend(&mut self, state: &mut VariableState) {
        for (var, cell) in &mut self.cells {
            state.cells.bind(*var, std::mem::replace(cell, Cell::Unbound));
        }
        for (id, entries) in &mut self.dictionaries {
            std::mem::swap(state.dictionary(*id), entries);
        }
    }

    /// Takes it back.
    pub(super) fn take_back(&mut self, state: &mut VariableState) {
        for (var, cell) in &mut self.cells {
            *cell = state.cells.take(*var);
        }
        for (id, entries) in &mut self.dictionaries {
            std::mem::swap(state.dictionary(*id), entries);
        }
    }
}
