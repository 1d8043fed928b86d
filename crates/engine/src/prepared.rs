//! Queries in every form that an engine reads.

use std::sync::Arc;

use super::{EngineError, cpu, gpu, reference};
use orbit_core::diagnostic::Diagnostic;
use orbit_plan::{PlanOptions, Planner, Plans};
use orbit_query::TypedQuery;

/// A query in every form that an engine reads.
#[derive(Clone, Debug)]
pub struct PreparedQuery {
    /// The typed tree.
    pub query: TypedQuery,
    /// The planner of the query.
    pub planner: Arc<Planner>,
}

impl PreparedQuery {
    /// Prepares a query.
    ///
    /// # Errors
    ///
    /// If an orbit cannot be expanded.
    pub fn new(query: TypedQuery, options: PlanOptions) -> Result<PreparedQuery, Diagnostic> {
        let planner = Arc::new(Planner::new(&query, options)?);
        Ok(PreparedQuery { query, planner })
    }

    /// Returns the plans of this query alone.
    ///
    /// # Errors
    ///
    /// If no plan can express the query; the diagnostic gives the reason.
    pub fn plans(&self) -> Result<Arc<Plans>, Diagnostic> {
        plans([self])
    }

    /// Creates the fast engine for this query alone.
    ///
    /// # Errors
    ///
    /// If no plan can express the query; the diagnostic gives the reason.
    pub fn cpu(&self) -> Result<cpu::Cpu, Diagnostic> {
        Ok(cpu::Cpu::new(self.plans()?))
    }

    /// Creates the engine for graphics cards, on an open device, for this query alone.
    ///
    /// # Errors
    ///
    /// If no plan can express the query; the diagnostic gives the reason.
    pub fn gpu(&self, device: &Arc<gpu::GpuDevice>) -> Result<gpu::Gpu, Diagnostic> {
        Ok(gpu::Gpu::new(self.plans()?, Arc::clone(device)))
    }

    /// Creates the engine for graphics cards with kernels of a variant.
    ///
    /// # Errors
    ///
    /// If no plan can express the query; the diagnostic gives the reason.
    pub fn gpu_with(
        &self,
        device: &Arc<gpu::GpuDevice>,
        variant: gpu::Variant,
    ) -> Result<gpu::Gpu, Diagnostic> {
        Ok(gpu::Gpu::with_variant(self.plans()?, Arc::clone(device), variant))
    }

    /// Creates the slow and obvious engine for this query alone.
    ///
    /// # Errors
    ///
    /// If the reference engine refuses the query.
    pub fn reference(&self) -> Result<reference::Bulk, EngineError> {
        Ok(reference::Bulk::new([&self.query])?)
    }
}

/// Returns the plans of several queries together.
///
/// # Errors
///
/// If no plan can express one of the queries; the diagnostic gives the reason.
pub fn plans<'a>(queries: impl IntoIterator<Item = &'a PreparedQuery>) -> Result<Arc<Plans>, Diagnostic> {
    let planners = queries.into_iter().map(|prepared| Arc::clone(&prepared.planner)).collect();
    Ok(Arc::new(Plans::new(planners)?))
}
