//! The rules for choosing a graphics adapter, and the report of an adapter's properties.

use std::fmt;
use std::str::FromStr;

/// The choice of an adapter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum AdapterChoice {
    /// The best adapter that can run kernels: a graphics card with its own memory, otherwise one that shares the
    /// processor's memory, otherwise a software adapter.
    #[default]
    Auto,
    /// The adapter with this index in the list of adapters.
    Index(usize),
    /// The adapter with this PCI bus id, such as `0000:01:00.0`, or the adapter whose name contains this string,
    /// regardless of case.
    Named(String),
}

impl FromStr for AdapterChoice {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<AdapterChoice, Self::Err> {
        Ok(match text.parse() {
            _ if text.eq_ignore_ascii_case("auto") => AdapterChoice::Auto,
            Ok(index) => AdapterChoice::Index(index),
            _ => AdapterChoice::Named(text.into()),
        })
    }
}

impl fmt::Display for AdapterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdapterChoice::Auto => f.write_str("auto"),
            AdapterChoice::Index(index) => index.fmt(f),
            AdapterChoice::Named(name) => f.write_str(name),
        }
    }
}

/// The properties of an adapter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct AdapterReport {
    /// The index of the adapter, for [`AdapterChoice::Index`].
    pub index: usize,
    /// The name of the adapter.
    pub name: String,
    /// The graphics API: `Vulkan`, `Metal`, `Dx12`.
    pub backend: String,
    /// The kind of adapter: `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// The name and version of the driver, as far as the driver reports them.
    pub driver: String,
    /// The address of the adapter on the PCI bus; empty if it has none or it is unknown.
    pub pci_bus_id: String,
    /// The maximum size of a buffer that can be bound to a shader, in bytes.
    pub binding_bytes_max: u64,
    /// The maximum size of a buffer, in bytes.
    pub buffer_bytes_max: u64,
    /// The maximum number of workgroups in one dimension of a dispatch.
    pub workgroups_max: u32,
    /// The maximum number of invocations in a workgroup.
    pub workgroup_size_max: u32,
    /// True if the adapter has a clock that can time its kernels.
    pub has_timestamps: bool,
    /// True if kernels can use 64-bit integers on this adapter.
    pub has_wide_integers: bool,
    /// The estimated size of the adapter's free memory when the report was made, in bytes; `None` if the driver does not report it.
    pub free_bytes: Option<u64>,
    /// The reason why the adapter cannot run kernels; `None` if it can.
    pub unfit: Option<String>,
}

impl AdapterReport {
    /// Returns true if the adapter is software that emulates a graphics card.
    pub fn is_software(&self) -> bool {
        self.kind == "software"
    }
}
