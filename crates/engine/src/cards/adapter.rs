//! The adapter that is meant, and its report of itself.

use std::fmt;
use std::str::FromStr;

/// The adapter that is wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum AdapterChoice {
    /// The first that can run kernels: a graphics card before one that shares the processor's memory,
    /// hardware before software.
    #[default]
    Auto,
    /// By its index in the list of adapters.
    Index(usize),
    /// By its PCI bus id, such as `0000:01:00.0`, or a part of its name, whatever the case.
    Named(String),
}

impl FromStr for AdapterChoice {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<AdapterChoice, Self::Err> {
        Ok(match (text, text.parse()) {
            ("auto", _) => AdapterChoice::Auto,
            (_, Ok(index)) => AdapterChoice::Index(index),
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

/// The report of an adapter on itself.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct AdapterReport {
    /// Its index, for [`AdapterChoice::Index`].
    pub index: usize,
    /// Its name.
    pub name: String,
    /// `Vulkan`, `Metal`, `Dx12`.
    pub backend: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// The name and version of its driver, as far as it tells.
    pub driver: String,
    /// Its place on the PCI bus, empty if it has none or does not tell.
    pub pci_bus_id: String,
    /// The largest buffer that a shader can see, in bytes.
    pub binding_bytes_max: u64,
    /// The largest buffer in bytes.
    pub buffer_bytes_max: u64,
    /// Workgroups in one dimension of a dispatch.
    pub workgroups_max: u32,
    /// Invocations in a workgroup.
    pub workgroup_size_max: u32,
    /// True if it can time its own work.
    pub has_timestamps: bool,
    /// True if its kernels have integers of 64 bits.
    pub has_wide_integers: bool,
    /// Why it cannot run kernels, if it cannot.
    pub unfit: Option<String>,
}

impl AdapterReport {
    /// Tells whether it is a program that stands in for a graphics card.
    pub fn is_software(&self) -> bool {
        self.kind == "software"
    }
}
