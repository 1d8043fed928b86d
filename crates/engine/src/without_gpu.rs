//! The replacement for the GPU engine in a build without the feature `gpu`. It defines the same names, but opening a
//! card returns an error.
//!
//! The device type, and the types that are created from a device, have no values here. So code that uses cards compiles
//! unchanged, but can never run.

#![expect(missing_docs, reason = "the engine itself documents these names")]

use std::{convert::Infallible, marker::PhantomData, ops::Range, sync::Arc, time::Duration};

pub use super::cards::*;

use super::{Answers, BlockRequest, Engine, EngineError, EngineInfo, Hits};
use orbit_plan::{Plan, Plans};
use orbit_reel::Block;

/// # Errors
///
/// Always fails, because there is no GPU engine.
pub fn adapters() -> Result<Vec<AdapterReport>, GpuError> {
    Err(GpuError::NotBuilt)
}

/// # Errors
///
/// Always fails, because there is no GPU engine.
pub fn kernel(_: &Plan, _: Variant) -> Result<Kernel, GpuError> {
    Err(GpuError::NotBuilt)
}

#[derive(Debug)]
pub struct GpuDevice(Infallible);

impl GpuDevice {
    /// # Errors
    ///
    /// Always fails, because there is no GPU engine.
    pub fn open(_: GpuOptions) -> Result<GpuDevice, GpuError> {
        Err(GpuError::NotBuilt)
    }

    pub fn report(&self) -> AdapterReport {
        match self.0 {}
    }

    #[doc(hidden)]
    pub fn submissions(&self) -> u64 {
        match self.0 {}
    }

    pub fn take_note(&self) -> Option<String> {
        match self.0 {}
    }

    pub fn is_alive(&self) -> bool {
        match self.0 {}
    }

    pub fn resident_bytes(&self) -> u64 {
        match self.0 {}
    }

    pub fn bytes_of(&self, _: &Range<u64>) -> u64 {
        match self.0 {}
    }

    pub fn resident_bytes_max(&self) -> u64 {
        match self.0 {}
    }

    pub fn holds(&self, _: &Range<u64>) -> bool {
        match self.0 {}
    }

    pub fn release(&self, _: &Range<u64>) {
        match self.0 {}
    }

    pub fn give_back(&self, _: Duration) {
        match self.0 {}
    }

    pub fn compile(&self, _: &Kernel) -> Result<(), GpuError> {
        match self.0 {}
    }

    pub fn upload<'a>(&self, _: &[&'a Block]) -> Result<Resident<'a>, GpuError> {
        match self.0 {}
    }

    pub fn upload_rates(&self) -> Result<[(&'static str, f64); 3], GpuError> {
        match self.0 {}
    }
}

#[derive(Debug)]
pub struct Gpu(Infallible);

impl Gpu {
    pub fn new(_: Arc<Plans>, device: Arc<GpuDevice>) -> Gpu {
        match device.0 {}
    }

    pub fn with_variant(_: Arc<Plans>, device: Arc<GpuDevice>, _: Variant) -> Gpu {
        match device.0 {}
    }

    pub fn kernel(&self) -> &Kernel {
        match self.0 {}
    }

    pub fn scan_resident(&self, _: &Resident<'_>) -> Result<(Vec<Vec<Hits>>, Times), GpuError> {
        match self.0 {}
    }
}

impl Engine for Gpu {
    fn info(&self) -> EngineInfo {
        match self.0 {}
    }

    fn scan(&self, _: &[&Block], _: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        match self.0 {}
    }
}

#[derive(Debug)]
pub struct Resident<'a> {
    blocks: PhantomData<&'a Block>,
    never: Infallible,
}

impl Resident<'_> {
    pub fn times(&self) -> Times {
        match self.never {}
    }

    pub fn bytes(&self) -> u64 {
        match self.never {}
    }
}

#[derive(Debug)]
pub struct Kernel {
    pub wgsl: String,
    never: Infallible,
}

impl Kernel {
    pub fn evaluate(&self) -> &str {
        match self.never {}
    }

    pub fn all(&self) -> impl Iterator<Item = &Kernel> {
        std::iter::once(self)
    }
}
