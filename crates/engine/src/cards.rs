//! Graphics cards as every build names them: which one is meant, what it says of itself, how its kernels are written and
//! measured, and what can go wrong. [`gpu`](super::gpu) opens them, in a build with that feature.

mod adapter;
mod error;
mod variant;

pub use adapter::{AdapterChoice, AdapterReport};
pub use error::GpuError;
pub use variant::{UnknownVariant, Variant};

use std::path::PathBuf;
use std::time::Duration;

use orbit_core::files::user_caches;

/// Limits beyond those of the adapter. Tests shrink them, so that every way of splitting work is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GpuLimits {
    /// The largest buffer that a shader can see, in bytes.
    pub binding_bytes: u64,
    /// Workgroups in a dispatch.
    pub workgroups: u32,
    /// All buffers together, in bytes.
    pub memory_bytes: u64,
}

impl Default for GpuLimits {
    fn default() -> GpuLimits {
        GpuLimits { binding_bytes: u64::MAX, workgroups: u32::MAX, memory_bytes: u64::MAX }
    }
}

/// Bytes of games on a graphics card. Columns of tags and the tables of queries are not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CardUse {
    /// Bytes that went there for the queries of an engine.
    pub uploaded: u64,
    /// Bytes that stay there for queries to come, of all databases.
    pub resident: u64,
}

/// The place of compiled kernels from run to run, on adapters whose driver can do that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelineCache {
    /// The folder, which is made where it is missing.
    pub folder: PathBuf,
    /// True if those of programs that stand in for a card are kept as well.
    pub of_software: bool,
}

impl PipelineCache {
    /// In the folder that `ORBIT_PIPELINE_CACHE` names, none if that is `off` or empty; where it is not set, those of graphics
    /// cards in the user's folder for what can be made again.
    pub fn of_user() -> Option<PipelineCache> {
        match std::env::var_os("ORBIT_PIPELINE_CACHE") {
            None => user_caches().map(|folder| PipelineCache { folder, of_software: false }),
            Some(off) if off.is_empty() || off == "off" => None,
            Some(folder) => Some(PipelineCache { folder: folder.into(), of_software: true }),
        }
    }
}

/// Something that goes wrong on purpose, in tests of what happens then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[doc(hidden)]
pub enum InjectedFault {
    /// The device is destroyed before its `n`-th submission (from 0) and every later one, on as many
    /// devices as are opened.
    Destroyed(u64),
    /// The same, but only on the first device.
    DestroyedOnce(u64),
    /// The `n`-th readback (from 0) is destroyed before it is mapped.
    MapFails(u64),
}

/// The choices for opening a device. The defaults suit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct GpuOptions {
    /// The adapter.
    pub adapter: AdapterChoice,
    /// Limits beyond the adapter's.
    pub limits: GpuLimits,
    /// Bytes of games of databases that may stay on the device for queries to come. By default four fifths of
    /// [`GpuLimits::memory_bytes`], 64 MiB less than it at least; without such a limit 2 GiB on a graphics card, 512 MiB on one
    /// that shares the processor's memory, and 256 MiB on a program that stands in for a card.
    pub resident_bytes_max: Option<u64>,
    /// The place where compiled kernels are kept from run to run; none by default.
    pub pipeline_cache: Option<PipelineCache>,
    /// The way to write and run kernels where an engine or an upload does not say otherwise.
    pub variant: Variant,
    /// Fill outputs with ones before a kernel runs, so that what it leaves out shows.
    pub poison: bool,
    /// The longest time that the device may take to answer before it counts as failed; by default two minutes, and ten for a
    /// program that stands in for a card.
    pub silence: Option<Duration>,
    #[doc(hidden)]
    pub fault: Option<InjectedFault>,
}

/// The shares of time, for benchmarks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Times {
    /// Packing, staging and copying to the device.
    pub upload: Duration,
    /// Kernels, by the device's own clock; `None` if it has none.
    pub kernel: Option<Duration>,
    /// From the submission of the kernels to the last byte read back.
    pub run: Duration,
}

/// A rate that was measured on a device.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Floor {
    /// Bytes or operations a second.
    pub rate: f64,
    /// Bytes of the buffer, or operations of a dispatch.
    pub amount: u64,
    /// True if the device computed what the processor computes.
    pub is_right: bool,
}
