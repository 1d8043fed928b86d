//! The plans of queries that are answered together.
//!
//! All of them are lowered into one graph, each query once: what queries or outputs of one query have in common is
//! one node, and a column of games or an answer that is carried along games has one number in all plans, so that an engine
//! computes it once for each block.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::{
    Apart, CopiesPlan, CopyBit, Plan, Planner, SharedPlan, dag::Dag, dag::Id, dag::PlanOptions, dag::TRUE,
    finish, guard::guard, lower::Lower, lower::LoweredValue, program::Program, screen::Screen,
};
use orbit_core::{diagnostic::Diagnostic, sync::lock};
use orbit_query::Type;

/// The plans of some queries, made when they are first asked for.
pub struct Plans {
    planners: Vec<Arc<Planner>>,
    graph: Mutex<LoweredGraph>,
}

/// What was lowered so far.
struct LoweredGraph {
    lower: Lower,
    /// Of each query, the mask of positions at which it matches.
    hits: Vec<Id>,
    values: Vec<Option<LoweredValue>>,
    /// By [`Apart`], the words that tell things apart, and where in them each of these is found.
    apart: Vec<[Option<WordIndex>; 2]>,
}

/// Words, and where in them each of some things is found.
type WordIndex = (Vec<Id>, Vec<CopyBit>);

impl Plans {
    /// Plans queries together, with the options of the first.
    ///
    /// # Errors
    ///
    /// Why no plan says one of them: see [`Planner::refusal`].
    pub fn new(planners: Vec<Arc<Planner>>) -> Result<Plans, Diagnostic> {
        if let Some(refusal) = planners.iter().find_map(|planner| planner.refusal()) {
            return Err(refusal.clone());
        }
        let options = planners.first().map_or_else(PlanOptions::default, |planner| planner.options);
        let mut lower = Lower::new(options, 0);
        let hits = planners.iter().map(|planner| planner.lower_hits(&mut lower)).collect();
        let (values, apart) = (vec![None; planners.len()], vec![[None, None]; planners.len()]);
        Ok(Plans { planners, graph: Mutex::new(LoweredGraph { lower, hits, values, apart }) })
    }

    /// How many queries there are.
    pub fn len(&self) -> usize {
        self.planners.len()
    }

    /// Whether there is no query.
    pub fn is_empty(&self) -> bool {
        self.planners.is_empty()
    }

    /// Room for something of each query that is made when it is first wanted.
    pub fn unmade<T: Default>(&self) -> Vec<T> {
        self.planners.iter().map(|_| T::default()).collect()
    }

    /// The type of a query's value.
    ///
    /// # Panics
    ///
    /// When there is no such query.
    pub fn ty(&self, query: usize) -> Type {
        self.planners[query].ty()
    }

    /// Whether a query has values beside its hits: a set or a number.
    ///
    /// # Panics
    ///
    /// When there is no such query.
    pub fn has_values(&self, query: usize) -> bool {
        self.planners[query].has_values()
    }

    /// The number of distinct copies of a query's outermost transform, 1 without one.
    ///
    /// # Panics
    ///
    /// When there is no such query.
    pub fn copy_count(&self, query: usize) -> usize {
        self.planners[query].copies()
    }

    /// The same for each query.
    pub fn copy_counts(&self) -> Vec<usize> {
        (0..self.len()).map(|query| self.copy_count(query)).collect()
    }

    /// The hits of some of the queries, as one program.
    ///
    /// # Panics
    ///
    /// When there are no such queries.
    pub fn hits(&self, queries: Range<usize>) -> SharedPlan {
        let graph = lock(&self.graph);
        let (dag, roots) = (&graph.lower.dag, &graph.hits[queries]);
        let program = Program::answering(dag, roots);
        SharedPlan {
            carried: if dag.direct { program.carried_answers(roots.len()) } else { None },
            program,
            always: roots.iter().map(|&root| dag.constant(root) == Some(TRUE)).collect(),
            columns: graph.lower.columns.clone(),
        }
    }

    /// A condition that holds wherever one of some queries matches, and costs far less than they do, as the answer of one query;
    /// none if such a condition is not known.
    ///
    /// # Panics
    ///
    /// When there are no such queries.
    pub fn guard(&self, queries: Range<usize>) -> Option<SharedPlan> {
        let options = self.planners.first()?.options;
        let mut graph = lock(&self.graph);
        let LoweredGraph { lower, hits, .. } = &mut *graph;
        let guard = options.guards.then(|| guard(&mut lower.dag, &hits[queries])).flatten()?;
        let program = Program::answering(&lower.dag, &[guard]);
        Some(SharedPlan { program, always: vec![false], carried: None, columns: lower.columns.clone() })
    }

    /// What tells which segments hold no hit of any of some queries, if something is known of them.
    ///
    /// # Panics
    ///
    /// When there are no such queries.
    pub fn screen(&self, queries: Range<usize>) -> Option<Screen> {
        self.screen_by(Screen::new, queries)
    }

    /// The same for several segments together, from the numbers of their pieces alone.
    ///
    /// # Panics
    ///
    /// When there are no such queries.
    pub fn material_screen(&self, queries: Range<usize>) -> Option<Screen> {
        self.screen_by(Screen::of_material, queries)
    }

    fn screen_by(
        &self,
        screen: fn(&Dag, PlanOptions, &[Id]) -> Option<Screen>,
        queries: Range<usize>,
    ) -> Option<Screen> {
        let options = self.planners.first()?.options;
        let graph = lock(&self.graph);
        options.screens.then(|| screen(&graph.lower.dag, options, &graph.hits[queries])).flatten()
    }

    /// The values of a query at positions where it matches; see [`Planner::values`].
    ///
    /// # Panics
    ///
    /// When there is no such query.
    pub fn values(&self, query: usize) -> Plan {
        let mut graph = lock(&self.graph);
        let LoweredGraph { lower, hits, values, .. } = &mut *graph;
        let planner = &self.planners[query];
        if !planner.has_values() {
            return finish(lower, hits[query], None);
        }
        let value = *values[query].get_or_insert_with(|| planner.lower_value(lower));
        let hit = lower.truth_of(value);
        finish(lower, hit, Some(value))
    }

    /// The copies of a query's outermost transform, or their sides, told apart.
    ///
    /// # Panics
    ///
    /// When there is no such query, or for sides if its copies are of none: see
    /// [`OutermostOrbit::copy_sides`](orbit_transforms::OutermostOrbit::copy_sides).
    pub fn copies(&self, query: usize, apart: Apart) -> CopiesPlan {
        let mut graph = lock(&self.graph);
        let LoweredGraph { lower, apart: all, .. } = &mut *graph;
        let planner = &self.planners[query];
        let told = all[query][apart as usize].get_or_insert_with(|| planner.lower_apart(lower, apart));
        CopiesPlan::new(lower, &told.0, told.1.clone())
    }
}

impl std::fmt::Debug for Plans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plans").field("planners", &self.planners).finish_non_exhaustive()
    }
}
