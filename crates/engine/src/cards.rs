//! The types for graphics cards that every build contains, even one without the GPU engine: the choice of a card, the
//! report of its properties, kernel variants, measured times and errors. A *kernel* is the shader that runs a query on
//! a card. The module [`gpu`](super::gpu), which opens cards, exists only in a build with the feature `gpu`.

mod adapter;
mod error;
mod variant;

pub use adapter::{AdapterChoice, AdapterReport};
pub use error::GpuError;
pub use variant::{UnknownVariant, Variant};

use std::path::PathBuf;
use std::time::Duration;

use orbit_core::files::user_caches;

/// Upper limits on the resources of an adapter (a graphics card) that the engine uses. A limit above the adapter's own
/// has no effect. Tests set low limits to make the engine split even small inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GpuLimits {
    /// The maximum size of a buffer that can be bound to a shader, in bytes.
    pub binding_bytes: u64,
    /// The maximum number of workgroups in a dispatch.
    pub workgroups: u32,
    /// The maximum total size of all buffers, in bytes.
    pub memory_bytes: u64,
}

impl Default for GpuLimits {
    fn default() -> GpuLimits {
        GpuLimits { binding_bytes: u64::MAX, workgroups: u32::MAX, memory_bytes: u64::MAX }
    }
}

/// The sizes of the games that are sent to a graphics card or stay on it, in bytes. Columns of tag values and the
/// constant tables of queries are not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CardUse {
    /// The number of bytes that one engine has uploaded so far for its queries.
    pub uploaded: u64,
    /// The size of the databases that stay on the card for later queries, in bytes.
    pub resident: u64,
}

/// The folder in which compiled kernels are cached between runs. It is used only for adapters whose driver can save
/// kernels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelineCache {
    /// The folder, which is created if it does not exist.
    pub folder: PathBuf,
    /// True if the cache also stores kernels compiled for software adapters, not only kernels for hardware.
    pub of_software: bool,
}

impl PipelineCache {
    /// Returns the cache specified by the environment variable `ORBIT_PIPELINE_CACHE`: the folder that it names, or
    /// `None` if it is `off` or empty. If the variable is not set, kernels for hardware (not for software adapters) are
    /// cached in the user's cache folder.
    pub fn from_environment() -> Option<PipelineCache> {
        match std::env::var_os("ORBIT_PIPELINE_CACHE") {
            None => user_caches().map(|folder| PipelineCache { folder, of_software: false }),
            Some(off) if off.is_empty() || off == "off" => None,
            Some(folder) => Some(PipelineCache { folder: folder.into(), of_software: true }),
        }
    }
}

/// A fault that a test injects to check how the engine handles device errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[doc(hidden)]
pub enum InjectedFault {
    /// Each device, including one that replaces a lost device, is destroyed immediately before its `n`-th submission of
    /// work (counted from 0), so this submission and all later ones fail.
    Destroyed(u64),
    /// The first device that is opened is destroyed before its `n`-th submission of work; later devices work.
    DestroyedOnce(u64),
    /// Like `DestroyedOnce`, but the destroyed device does not report its loss: it only rejects requests.
    DestroyedUnreported(u64),
    /// The `n`-th buffer that is read back (counted from 0) is destroyed before its memory is mapped, so mapping fails.
    MapFails(u64),
}

/// The options for opening a device. The defaults are fine for most uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct GpuOptions {
    /// The rule for choosing the adapter (the graphics card).
    pub adapter: AdapterChoice,
    /// Upper limits on the use of the adapter.
    pub limits: GpuLimits,
    /// The maximum size of the databases that stay on the device for later queries, in bytes. The default is four
    /// fifths of [`GpuLimits::memory_bytes`], but at least 64 MiB less than that limit. If that limit is not set, the
    /// default is four fifths of the free memory of a card with its own memory, or a quarter of the free memory of a
    /// card that shares the processor's memory. If the driver does not report free memory, the default is 2 GiB or 512
    /// MiB, respectively. For a software adapter, it is 256 MiB.
    pub resident_bytes_max: Option<u64>,
    /// The folder in which compiled kernels are cached between runs; `None` by default.
    pub pipeline_cache: Option<PipelineCache>,
    /// The default kernel variant for engines and uploads.
    pub variant: Variant,
    /// True if every bit of the output buffers is set before a kernel runs. This lets tests detect words that the
    /// kernel fails to write.
    pub poison: bool,
    /// The maximum time to wait for an answer from the device. After this time, the device is considered failed. The
    /// default is two minutes, or ten minutes for a software adapter.
    pub silence: Option<Duration>,
    #[doc(hidden)]
    pub fault: Option<InjectedFault>,
    /// The maximum number of compiled kernels that the device keeps for later engines. Only tests set it.
    #[doc(hidden)]
    pub pipelines_max: Option<usize>,
}

impl GpuOptions {
    /// Returns the default options for the card that a user names: `auto`, the index of the card, a part of its name,
    /// or its PCI bus id. Returns `None` for the name `none`. Compiled kernels are cached as
    /// [`PipelineCache::from_environment`] specifies.
    pub fn from_name(card: &str) -> Option<GpuOptions> {
        let adapter = match card {
            card if card.eq_ignore_ascii_case("none") => return None,
            card => card.parse().unwrap_or_else(|never: std::convert::Infallible| match never {}),
        };
        Some(GpuOptions {
            adapter,
            pipeline_cache: PipelineCache::from_environment(),
            ..GpuOptions::default()
        })
    }
}

/// The time that a search on a graphics card spends in each phase, for benchmarks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Times {
    /// The time for packing blocks (groups of whole games), writing them to staging buffers and copying them to the
    /// device.
    pub upload: Duration,
    /// The running time of the kernels, measured by the device's own clock; `None` if the device has no clock.
    pub kernel: Option<Duration>,
    /// The time from the submission of the kernels until the last byte of the results has been read back.
    pub run: Duration,
}
