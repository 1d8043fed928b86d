//! Queries in every form that an engine wants.

use std::sync::Arc;

use super::{EngineError, cpu, gpu, reference};
use orbit_core::diagnostic::Diagnostic;
use orbit_plan::{PlanOptions, Planner, Plans};
use orbit_query::TypedQuery;

/// A query in every form that an engine wants.
#[derive(Clone, Debug)]
pub struct PreparedQuery {
    /// The typed tree.
    pub query: TypedQuery,
    /// The maker of its plans.
    pub planner: Arc<Planner>,
}

impl PreparedQuery {
    /// Prepares a query.
    ///
    /// # Errors
    ///
    /// Orbits that cannot be expanded.
    pub fn new(query: TypedQuery, options: PlanOptions) -> Result<PreparedQuery, Diagnostic> {
        let planner = Arc::new(Planner::new(&query, options)?);
        Ok(PreparedQuery { query, planner })
    }

    /// The plans of this query alone.
    ///
    /// # Errors
    ///
    /// The reason why no plan says it.
    pub fn plans(&self) -> Result<Arc<Plans>, Diagnostic> {
        plans([self])
    }

    /// The fast engine for this query alone.
    ///
    /// # Errors
    ///
    /// The reason why no plan says it.
    pub fn cpu(&self) -> Result<cpu::Cpu, Diagnostic> {
        Ok(cpu::Cpu::new(self.plans()?))
    }

    /// The engine for graphics cards, on an open device, for this query alone.
    ///
    /// # Errors
    ///
    /// The reason why no plan says it.
    pub fn gpu(&self, device: &Arc<gpu::GpuDevice>) -> Result<gpu::Gpu, Diagnostic> {
        Ok(gpu::Gpu::new(self.plans()?, Arc::clone(device)))
    }

    /// The same with kernels of a variant.
    ///
    /// # Errors
    ///
    /// The reason why no plan says it.
    pub fn gpu_with(
        &self,
        device: &Arc<gpu::GpuDevice>,
        variant: gpu::Variant,
    ) -> Result<gpu::Gpu, Diagnostic> {
        Ok(gpu::Gpu::with_variant(self.plans()?, Arc::clone(device), variant))
    }

    /// The slow and obvious engine for this query alone.
    ///
    /// # Errors
    ///
    /// A query that this engine refuses.
    pub fn reference(&self) -> Result<reference::Bulk, EngineError> {
        Ok(reference::Bulk::new([&self.query])?)
    }
}

/// The plans of several queries together.
///
/// # Errors
///
/// The reason why no plan says one of them.
pub fn plans<'a>(queries: impl IntoIterator<Item = &'a PreparedQuery>) -> Result<Arc<Plans>, Diagnostic> {
    let planners = queries.into_iter().map(|prepared| Arc::clone(&prepared.planner)).collect();
    Ok(Arc::new(Plans::new(planners)?))
}
