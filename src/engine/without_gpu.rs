//! The names of the engine for graphics cards in a build without it (the feature `gpu`): no card can be opened, and the error
//! says what is missing.
//!
//! A device has no value, and neither has what is made with one. Code that handles cards is compiled as it stands, and
//! none of it can run.

#![expect(missing_docs, reason = "the engine itself documents these names")]

use std::{convert::Infallible, fmt, marker::PhantomData, str::FromStr, sync::Arc, time::Duration};

use super::{Answers, Engine, EngineError, EngineInfo, Hits, Request};
use crate::{
    plan::{Plan, Plans},
    reel::Block,
};

/// Why the GPU engine cannot do what it should: it is not there. Code that handles cards knows the other reasons too.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    #[error(
        "this orbit was built without the GPU engine; build it with its default features (`cargo install --path .`), \
         or use --engine cpu"
    )]
    NotBuilt,
    #[error("no GPU adapter found")]
    NoAdapter,
    #[error("the GPU is out of memory ({reason})")]
    OutOfMemory { reason: String },
}

/// # Errors
///
/// There is no GPU engine.
pub fn adapters() -> Result<Vec<AdapterReport>, GpuError> {
    Err(GpuError::NotBuilt)
}

/// # Errors
///
/// There is no GPU engine.
pub fn kernel(_: &Plan, _: Variant) -> Result<Kernel, GpuError> {
    Err(GpuError::NotBuilt)
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AdapterChoice;

impl FromStr for AdapterChoice {
    type Err = Infallible;

    fn from_str(_: &str) -> Result<AdapterChoice, Infallible> {
        Ok(AdapterChoice)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GpuLimits {
    pub binding_bytes: u64,
    pub workgroups: u32,
    pub memory_bytes: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct GpuOptions {
    pub adapter: AdapterChoice,
    pub limits: GpuLimits,
    pub variant: Variant,
    pub poison: bool,
}

/// No kernel is written, so any name will do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Variant {
    pub transposed: bool,
    pub host_carry: bool,
}

impl Variant {
    pub fn all(adapter: &AdapterReport) -> Vec<Variant> {
        match adapter.never {}
    }

    pub fn every() -> Vec<Variant> {
        vec![Variant::default()]
    }

    pub fn unfit(&self, adapter: &AdapterReport) -> Option<String> {
        match adapter.never {}
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("default")
    }
}

impl FromStr for Variant {
    type Err = Infallible;

    fn from_str(_: &str) -> Result<Variant, Infallible> {
        Ok(Variant::default())
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct AdapterReport {
    pub index: usize,
    pub name: String,
    pub backend: String,
    pub kind: &'static str,
    pub driver: String,
    pub pci_bus_id: String,
    pub binding_bytes_max: u64,
    pub buffer_bytes_max: u64,
    pub workgroups_max: u32,
    pub has_timestamps: bool,
    pub unfit: Option<String>,
    never: Infallible,
}

impl AdapterReport {
    pub fn is_software(&self) -> bool {
        match self.never {}
    }
}

#[derive(Debug)]
pub struct GpuDevice(Infallible);

impl GpuDevice {
    /// # Errors
    ///
    /// There is no GPU engine.
    pub fn open(_: GpuOptions) -> Result<GpuDevice, GpuError> {
        Err(GpuError::NotBuilt)
    }

    pub fn report(&self) -> AdapterReport {
        match self.0 {}
    }

    pub fn compile(&self, _: &Kernel) -> Result<(), GpuError> {
        match self.0 {}
    }

    pub fn upload<'a>(&self, _: &[&'a Block]) -> Result<Resident<'a>, GpuError> {
        match self.0 {}
    }

    pub fn upload_as<'a>(&self, _: &[&'a Block], _: Variant) -> Result<Resident<'a>, GpuError> {
        match self.0 {}
    }

    pub fn upload_rates(&self) -> Result<[(&'static str, f64); 3], GpuError> {
        match self.0 {}
    }

    pub fn read_floor(&self, _: u64) -> Result<Floor, GpuError> {
        match self.0 {}
    }

    pub fn copy_floor(&self, _: u64) -> Result<Floor, GpuError> {
        match self.0 {}
    }

    pub fn operations_floor(&self) -> Result<Floor, GpuError> {
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

    fn scan(&self, _: &[&Block], _: &Request<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Times {
    pub upload: Duration,
    pub kernel: Option<Duration>,
    pub run: Duration,
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Floor {
    pub rate: f64,
    pub amount: u64,
    pub is_right: bool,
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

    pub fn work(&self) -> Option<Work> {
        match self.never {}
    }
}

#[derive(Debug)]
pub struct Work(Infallible);

impl Work {
    pub fn operations_per_position(&self) -> f64 {
        match self.0 {}
    }
}
