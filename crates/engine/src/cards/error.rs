//! What can go wrong on a graphics card.

use std::time::Duration;

/// Why the GPU engine cannot do what it should.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The engine is not there.
    #[error(
        "this orbit was built without the GPU engine; build it with its default features (`cargo install --path .`), \
         or use --engine cpu"
    )]
    NotBuilt,
    /// The system names no adapter.
    #[error(
        "no GPU adapter found; install a Vulkan driver (on Debian `libvulkan1` and your card's driver, or \
         `mesa-vulkan-drivers` for a slow one in software), or use --engine cpu"
    )]
    NoAdapter,
    /// No adapter has that index, bus id or name.
    #[error("no graphics adapter matches `{wanted}`; there are {}", known.join(", "))]
    NoSuchAdapter {
        /// As asked for.
        wanted: String,
        /// Index and name of each.
        known: Vec<String>,
    },
    /// A name that several adapters have.
    #[error("several graphics adapters match `{wanted}`; choose one by its number: {}", known.join(", "))]
    SeveralAdapters {
        /// As asked for.
        wanted: String,
        /// Index and name of each.
        known: Vec<String>,
    },
    /// The adapter lacks something that the kernels need.
    #[error("{name} cannot run kernels: {reason}; choose another one with --gpu, or use --engine cpu")]
    Unfit {
        /// The adapter.
        name: String,
        /// What it lacks.
        reason: String,
    },
    /// The device cannot be opened.
    #[error(
        "{name} cannot be opened: {reason}; try again, choose another one with --gpu, or use --engine cpu"
    )]
    Open {
        /// The adapter.
        name: String,
        /// The driver's words.
        reason: String,
    },
    /// A limit is too small for even one segment.
    #[error(
        "the GPU's limits are too small: {what} needs {needed} bytes, there are {available}; use --engine cpu"
    )]
    TooSmall {
        /// What does not fit.
        what: &'static str,
        /// Bytes.
        needed: u64,
        /// Bytes.
        available: u64,
    },
    /// A query that a software adapter would answer wrongly.
    #[error(
        "this query loops {turns} times at a position, and {name} ends loops after {most} turns; use --engine cpu"
    )]
    TooLong {
        /// The adapter.
        name: String,
        /// Turns that the query takes.
        turns: u64,
        /// Turns that the adapter takes.
        most: u64,
    },
    /// Blocks that were uploaded for engines of other variants.
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
        /// The driver's words.
        reason: String,
    },
    /// The device went away.
    #[error("the GPU was lost ({reason}); the driver may have reset it: try again, or use --engine cpu")]
    Lost {
        /// What is known.
        reason: String,
    },
    /// The device, or a call of its driver, does not return.
    #[error(
        "the GPU has not answered for {} s, and orbit no longer waits for it; its driver may hang until the machine is \
         restarted: use --engine cpu",
        after.as_secs_f64()
    )]
    Silent {
        /// How long it was waited for.
        after: Duration,
    },
    /// The driver refused a shader, a buffer or a call of this program.
    #[error(
        "the GPU refused {what}: {reason}; this is an error in orbit: please report it, and use --engine cpu"
    )]
    Refused {
        /// What was refused.
        what: &'static str,
        /// The first lines of the driver's words.
        reason: String,
    },
}
