//! The errors of graphics cards.

use std::time::Duration;

/// The reason why the GPU engine failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// This build does not contain the GPU engine.
    #[error(
        "this orbit was built without the GPU engine; build it with its default features (`cargo install --path .`), \
         or use --engine cpu"
    )]
    NotBuilt,
    /// The system lists no adapter.
    #[error(
        "no GPU adapter found; install a Vulkan driver (on Debian `libvulkan1` and your card's driver, or \
         `mesa-vulkan-drivers` for a slow one in software), or use --engine cpu"
    )]
    NoAdapter,
    /// No adapter has the index, bus id or name that the user gave.
    #[error("no graphics adapter matches `{wanted}`; there are {}", known.join(", "))]
    NoSuchAdapter {
        /// The index, PCI bus id or name that the user gave.
        wanted: String,
        /// The index and name of each adapter.
        known: Vec<String>,
    },
    /// The given name matches several adapters.
    #[error("several graphics adapters match `{wanted}`; choose one by its number: {}", known.join(", "))]
    SeveralAdapters {
        /// The name that was given.
        wanted: String,
        /// The index and name of each matching adapter.
        known: Vec<String>,
    },
    /// The adapter lacks a feature or a limit that the kernels need.
    #[error("{name} cannot run kernels: {reason}; choose another one with --gpu, or use --engine cpu")]
    Unfit {
        /// The name of the adapter.
        name: String,
        /// The missing feature.
        reason: String,
    },
    /// The device cannot be opened.
    #[error(
        "{name} cannot be opened: {reason}; try again, choose another one with --gpu, or use --engine cpu"
    )]
    Open {
        /// The name of the adapter.
        name: String,
        /// The driver's message.
        reason: String,
    },
    /// The GPU's limits are too small to evaluate even one segment (32 positions).
    #[error(
        "the GPU's limits are too small: {what} needs {needed} bytes, there are {available}; use --engine cpu"
    )]
    TooSmall {
        /// The buffer that does not fit.
        what: &'static str,
        /// The number of bytes needed.
        needed: u64,
        /// The number of bytes available.
        available: u64,
    },
    /// The software adapter terminates long loops too early, so the answer to the query would be wrong.
    #[error(
        "this query loops {turns} times at a position, and {name} ends loops after {most} turns; use --engine cpu"
    )]
    TooLong {
        /// The name of the adapter.
        name: String,
        /// The number of iterations that the query needs.
        turns: u64,
        /// The number of iterations after which the adapter terminates a loop.
        most: u64,
    },
    /// The interrupt of the request was set.
    #[error("interrupted")]
    Interrupted,
    /// The blocks (groups of games) were uploaded in a memory layout that the engine's kernel variant cannot read.
    #[error(
        "the layout of these blocks on the GPU is not that of the kernel variant {variant}; upload them for it"
    )]
    OtherLayout {
        /// The name of the engine's variant.
        variant: String,
    },
    /// An allocation failed.
    #[error("the GPU is out of memory ({reason}); give a smaller --gpu-memory, or use --engine cpu")]
    OutOfMemory {
        /// The driver's message.
        reason: String,
    },
    /// The device was lost, for example because the driver reset it.
    #[error("the GPU was lost ({reason}); the driver may have reset it: try again, or use --engine cpu")]
    Lost {
        /// The reason for the loss, if it is known.
        reason: String,
    },
    /// The device did not answer in time, or a call to its driver did not return in time.
    #[error(
        "the GPU has not answered for {} s, and orbit no longer waits for it; its driver may hang until the machine is \
         restarted: use --engine cpu",
        after.as_secs_f64()
    )]
    Silent {
        /// The time that was spent waiting.
        after: Duration,
    },
    /// The driver rejected a shader, a buffer or an API call of this program.
    #[error(
        "the GPU refused {what}: {reason}; this is an error in orbit: please report it, and use --engine cpu"
    )]
    Refused {
        /// The shader, buffer or call that the driver rejected.
        what: &'static str,
        /// The first lines of the driver's message.
        reason: String,
    },
}
