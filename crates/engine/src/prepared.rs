//! A prepared query: the query in all forms that the engines read.

use std::sync::Arc;

use super::{EngineError, cpu, gpu, reference};
use orbit_core::diagnostic::Diagnostic;
use orbit_plan::{PlanOptions, Planner, Plans};
use orbit_query::TypedQuery;

/// A query in all forms that the engines read: the typed tree, and a planner that creates the plans.
#[derive(Clone, Debug)]
pub struct PreparedQuery {
    /// The typed tree of the query, which the reference engine evaluates.
    pub query: TypedQuery,
    /// The planner, which creates the plans that the other engines run.
    pub planner: Arc<Planner>,
}

impl PreparedQuery {
    /// Prepares a query. `options` can disable optimisations of the plans.
    ///
    /// # Errors
    ///
    /// Fails if the copies of a transform (its transformed patterns) cannot be generated.
    pub fn new(query: TypedQuery, options: PlanOptions) -> Result<PreparedQuery, Diagnostic> {
        let planner = Arc::new(Planner::new(&query, options)?);
        Ok(PreparedQuery { query, planner })
    }

    /// Returns the names of the engines that can run the query.
    pub fn engines(&self) -> &'static [&'static str] {
        match self.planner.refusal() {
            Some(_) => &["reference"],
            None if self.lasts() => &["cpu", "reference"],
            None => &["cpu", "gpu", "reference"],
        }
    }

    /// Returns true if the query keeps values from game to game, and a plan can express it. Only the engine `cpu` runs such a plan.
    pub fn lasts(&self) -> bool {
        self.planner.refusal().is_none() && self.planner.run().is_some()
    }

    /// Returns the plans of this query alone.
    ///
    /// # Errors
    ///
    /// Fails if no plan can express the query; the diagnostic gives the reason.
    pub fn plans(&self) -> Result<Arc<Plans>, Diagnostic> {
        plans([self])
    }

    /// Creates the CPU engine for this query alone.
    ///
    /// # Errors
    ///
    /// Fails if no plan can express the query; the diagnostic gives the reason.
    pub fn cpu(&self) -> Result<cpu::Cpu, Diagnostic> {
        Ok(cpu::Cpu::new(self.plans()?))
    }

    /// Creates the GPU engine on an open device, for this query alone.
    ///
    /// # Errors
    ///
    /// Fails if no plan can express the query, or if it keeps values from game to game; the diagnostic gives the reason.
    pub fn gpu(&self, device: &Arc<gpu::GpuDevice>) -> Result<gpu::Gpu, Diagnostic> {
        self.gpu_with(device, gpu::Variant::default())
    }

    /// Creates the GPU engine with kernels of the given variant, for this query alone.
    ///
    /// # Errors
    ///
    /// Fails if no plan can express the query, or if it keeps values from game to game; the diagnostic gives the reason.
    pub fn gpu_with(
        &self,
        device: &Arc<gpu::GpuDevice>,
        variant: gpu::Variant,
    ) -> Result<gpu::Gpu, Diagnostic> {
        if let (true, Some(why)) = (self.lasts(), &self.query.keeps_state) {
            return Err(why.clone());
        }
        Ok(gpu::Gpu::with_variant(self.plans()?, Arc::clone(device), variant))
    }

    /// Creates the reference engine, which is slow and simple, for this query alone.
    ///
    /// # Errors
    ///
    /// Fails if the reference engine does not accept the query.
    pub fn reference(&self) -> Result<reference::Bulk, EngineError> {
        Ok(reference::Bulk::new([&self.query])?)
    }
}

/// Returns the plans of several queries, which share their common parts.
///
/// # Errors
///
/// Fails if no plan can express one of the queries; the diagnostic gives the reason.
pub fn plans<'a>(queries: impl IntoIterator<Item = &'a PreparedQuery>) -> Result<Arc<Plans>, Diagnostic> {
    let planners = queries.into_iter().map(|prepared| Arc::clone(&prepared.planner)).collect();
    Ok(Arc::new(Plans::new(planners)?))
}
