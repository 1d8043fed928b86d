//! The plans of queries that run together.
//!
//! All queries are lowered into one graph, each of them once. If several queries, or several outputs of one query, share a
//! subexpression, the graph has a single node for it. All plans use the same numbers for tag columns and for results of operations
//! that read all positions of a game. An engine therefore computes each column and each result only once for a block (a group of
//! whole games).
//!
//! The *copies* of a query are the distinct filters that its outermost transform generates.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::{
    Apart, CopiesPlan, CopyBit, Plan, Planner, SharedPlan, dag::Dag, dag::Id, dag::PlanOptions, dag::TRUE,
    finish, guard::guard, lower::Lower, lower::LoweredValue, program::Program, screen::Screen,
};
use orbit_core::{diagnostic::Diagnostic, sync::lock};
use orbit_query::{Type, run::RunValues};

/// The plans of several queries. Each plan is built when it is first used.
pub struct Plans {
    planners: Vec<Arc<Planner>>,
    graph: Mutex<LoweredGraph>,
}

/// The graph of all queries, and the nodes that have been built so far.
struct LoweredGraph {
    lower: Lower,
    /// For each query, the mask of positions at which it matches.
    hits: Vec<Id>,
    values: Vec<Option<LoweredValue>>,
    /// For each query and each kind of [`Apart`], the words whose bits show which copies or sides match, and the location of each
    /// bit.
    apart: Vec<[Option<WordIndex>; 2]>,
}

/// Words whose bits show which copies (transformed patterns) or sides match, and the locations of these bits.
type WordIndex = (Vec<Id>, Vec<CopyBit>);

impl Plans {
    /// Plans queries together. All of them use the options of the first query.
    ///
    /// # Errors
    ///
    /// Returns the reason why no plan can run one of the queries; see [`Planner::refusal`].
    pub fn new(planners: Vec<Arc<Planner>>) -> Result<Plans, Diagnostic> {
        if let Some(refusal) = planners.iter().find_map(|planner| planner.refusal()) {
            return Err(refusal.clone());
        }
        let options = planners.first().map_or_else(PlanOptions::default, |planner| planner.options);
        let mut lower = Lower::new(options, 0);
        let hits = |(query, planner): (usize, &Arc<Planner>)| {
            lower.query = query;
            planner.lower_hits(&mut lower)
        };
        let hits = planners.iter().enumerate().map(hits).collect();
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

    /// Returns a vector with a default value for each query, in which the caller can store something for each query.
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

    /// Returns the values that each query keeps from game to game, as they are before the first game. Returns an empty vector if no
    /// query keeps values.
    pub fn runs(&self) -> Vec<RunValues> {
        match self.planners.iter().any(|planner| planner.run().is_some()) {
            true => self.planners.iter().map(|planner| planner.run.clone()).collect(),
            false => Vec::new(),
        }
    }

    /// Returns true if a query has a set or a number as its value, in addition to its hits.
    ///
    /// # Panics
    ///
    /// Panics if there is no such query.
    pub fn has_values(&self, query: usize) -> bool {
        self.planners[query].has_values()
    }

    /// Returns the number of distinct copies of a query's outermost transform, or 1 if there is no transform.
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

    /// Returns one program that computes the hits of these queries.
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

    /// Returns a program for the guard of these queries. The guard is a much cheaper condition that is true wherever one of the
    /// queries matches. The program outputs it as the answer to query 0. Returns `None` if no guard is found.
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

    /// Plans a screen, a program that finds segments (short runs of positions) in which none of these queries has a hit. Returns
    /// `None` if the queries have no screen.
    ///
    /// # Panics
    ///
    /// Panics if there are no such queries.
    pub fn screen(&self, queries: Range<usize>) -> Option<Screen> {
        self.screen_by(Screen::new, queries)
    }

    /// Plans a screen (a program that finds segments without a hit) that examines several segments together and reads only their
    /// piece counts. Returns `None` if the queries have no such screen.
    ///
    /// # Panics
    ///
    /// Panics if there are no such queries.
    pub fn material_screen(&self, queries: Range<usize>) -> Option<Screen> {
        self.screen_by(Screen::from_material, queries)
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

    /// Returns the plan for the values of a query. The values are valid only where the query matches; see [`Planner::values`].
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
        lower.query = query;
        let value = *values[query].get_or_insert_with(|| planner.lower_value(lower));
        let hit = lower.truth_of(value);
        finish(lower, hit, Some(value))
    }

    /// Returns the plan that shows which copies of a query's outermost transform match, or for which side such a copy matches.
    ///
    /// # Panics
    ///
    /// Panics if there is no such query, or if `apart` is [`Apart::Sides`] and the copies belong to no side; see
    /// [`OutermostOrbit::copy_sides`](orbit_transforms::OutermostOrbit::copy_sides).
    pub fn copies(&self, query: usize, apart: Apart) -> CopiesPlan {
        let mut graph = lock(&self.graph);
        let LoweredGraph { lower, apart: all, .. } = &mut *graph;
        let planner = &self.planners[query];
        lower.query = query;
        let told = all[query][apart as usize].get_or_insert_with(|| planner.lower_apart(lower, apart));
        CopiesPlan::new(lower, &told.0, told.1.clone())
    }
}

impl std::fmt::Debug for Plans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plans").field("planners", &self.planners).finish_non_exhaustive()
    }
}
