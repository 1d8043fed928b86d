//! The plans of queries that are answered together.
//!
//! All queries are lowered into one graph, each of them once. A subexpression that several queries, or several outputs of one
//! query, share is one node. A column of games or an answer that is carried along games has the same number in all plans, so an
//! engine computes it once for each block.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::{
    Apart, CopiesPlan, CopyBit, Plan, Planner, SharedPlan, dag::Dag, dag::Id, dag::PlanOptions, dag::TRUE,
    finish, guard::guard, lower::Lower, lower::LoweredValue, program::Program, screen::Screen,
};
use orbit_core::{diagnostic::Diagnostic, sync::lock};
use orbit_query::Type;

/// The plans of some queries, made on first use.
pub struct Plans {
    planners: Vec<Arc<Planner>>,
    graph: Mutex<LoweredGraph>,
}

/// The graph of all queries that were lowered so far.
struct LoweredGraph {
    lower: Lower,
    /// For each query, the mask of positions at which it matches.
    hits: Vec<Id>,
    values: Vec<Option<LoweredValue>>,
    /// For each query, by [`Apart`]: the words that tell copies or sides apart, and the place of each one's bit.
    apart: Vec<[Option<WordIndex>; 2]>,
}

/// Words, and the places of bits in them.
type WordIndex = (Vec<Id>, Vec<CopyBit>);

impl Plans {
    /// Plans queries together, with the options of the first one.
    ///
    /// # Errors
    ///
    /// Returns the reason why no plan can run one of them: see [`Planner::refusal`].
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

    /// Returns the number of queries.
    pub fn len(&self) -> usize {
        self.planners.len()
    }

    /// Returns true if there is no query.
    pub fn is_empty(&self) -> bool {
        self.planners.is_empty()
    }

    /// Makes a vector with a default entry for each query.
    pub fn unmade<T: Default>(&self) -> Vec<T> {
        self.planners.iter().map(|_| T::default()).collect()
    }

    /// Returns the type of a query's value.
    ///
    /// # Panics
    ///
    /// Panics if there is no such query.
    pub fn ty(&self, query: usize) -> Type {
        self.planners[query].ty()
    }

    /// Returns true if a query has values besides its hits: sets or numbers.
    ///
    /// # Panics
    ///
    /// Panics if there is no such query.
    pub fn has_values(&self, query: usize) -> bool {
        self.planners[query].has_values()
    }

    /// Returns the number of distinct copies of a query's outermost transform, or 1 without a transform.
    ///
    /// # Panics
    ///
    /// Panics if there is no such query.
    pub fn copy_count(&self, query: usize) -> usize {
        self.planners[query].copies()
    }

    /// Returns the number of copies of each query; see [`Plans::copy_count`].
    pub fn copy_counts(&self) -> Vec<usize> {
        (0..self.len()).map(|query| self.copy_count(query)).collect()
    }

    /// Plans the hits of some of the queries as one program.
    ///
    /// # Panics
    ///
    /// Panics if there are no such queries.
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

    /// Plans a condition that holds wherever one of the queries matches and is much cheaper than they are. Returns `None` if no
    /// such condition is found. The condition is planned as the answer of a single query.
    ///
    /// # Panics
    ///
    /// Panics if there are no such queries.
    pub fn guard(&self, queries: Range<usize>) -> Option<SharedPlan> {
        let options = self.planners.first()?.options;
        let mut graph = lock(&self.graph);
        let LoweredGraph { lower, hits, .. } = &mut *graph;
        let guard = options.guards.then(|| guard(&mut lower.dag, &hits[queries])).flatten()?;
        let program = Program::answering(&lower.dag, &[guard]);
        Some(SharedPlan { program, always: vec![false], carried: None, columns: lower.columns.clone() })
    }

    /// Plans a screen that tells which segments contain no hit of any of the queries. Returns `None` if nothing is known about
    /// them.
    ///
    /// # Panics
    ///
    /// Panics if there are no such queries.
    pub fn screen(&self, queries: Range<usize>) -> Option<Screen> {
        self.screen_by(Screen::new, queries)
    }

    /// Plans a screen of several segments together, which reads only the numbers of their pieces.
    ///
    /// # Panics
    ///
    /// Panics if there are no such queries.
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

    /// Plans the values of a query at positions where it matches; see [`Planner::values`].
    ///
    /// # Panics
    ///
    /// Panics if there is no such query.
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

    /// Makes the plan that tells which copies of a query's outermost transform match, or the copies of which side match.
    ///
    /// # Panics
    ///
    /// Panics if there is no such query, or if sides are wanted and its copies have none: see
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
