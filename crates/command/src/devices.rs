//! Implements `orbit devices`, which lists the graphics cards.

use orbit_engine::gpu::{AdapterReport, adapters};
use serde_json::json;

use super::common::{Out, size_text};
use super::failure::{Exit, Failure};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "To search on a card of this list, give its number, a part of its name or its PCI bus id to --gpu:
`orbit scan --engine gpu --gpu 1 ...`.

A software adapter is a program that does the work of a card on the processor. It runs every
query, but is seldom faster than `--engine cpu`; `--engine auto` never uses it.

Examples:
  orbit devices
  orbit devices --json
  orbit scan --engine gpu --gpu 1 'mate' all.reel"
)]
pub(super) struct Args {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let found = adapters().map_err(|error| Failure::Other(error.to_string()))?;
    let mut out = Out::new();
    if args.json {
        out.json(&json!({ "adapters": found.iter().map(as_json).collect::<Vec<_>>() }))?;
    } else if found.is_empty() {
        out.line(
            "no graphics adapter found: queries run on the CPU; to use a card, install its Vulkan driver",
        )?;
    }
    for adapter in found.iter().filter(|_| !args.json) {
        lines(adapter).into_iter().try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

fn lines(adapter: &AdapterReport) -> Vec<String> {
    let AdapterReport { index, name, backend, kind, driver, pci_bus_id, .. } = adapter;
    let bus = if pci_bus_id.is_empty() { String::new() } else { format!(", PCI {pci_bus_id}") };
    let kind = if adapter.is_software() { "software, not a graphics card" } else { kind };
    let can = match &adapter.unfit {
        None => "runs every query".to_string(),
        Some(reason) => format!("cannot run queries: {reason}"),
    };
    vec![
        format!("{index}  {name}"),
        format!("   {kind}; {backend}, driver {driver}{bus}"),
        format!(
            "   buffers up to {}, seen by a shader up to {}, {} workgroups a dispatch{}",
            size_text(adapter.buffer_bytes_max),
            size_text(adapter.binding_bytes_max),
            adapter.workgroups_max,
            if adapter.has_timestamps { ", times itself" } else { "" }
        ),
        match adapter.free_bytes {
            None => "   free memory unknown".to_string(),
            Some(free) => format!("   {} of memory free", size_text(free)),
        },
        format!("   {can}"),
    ]
}

/// Returns the report about a graphics adapter as JSON.
pub fn as_json(adapter: &AdapterReport) -> serde_json::Value {
    json!({
        "index": adapter.index,
        "name": adapter.name,
        "backend": adapter.backend,
        "kind": adapter.kind,
        "software": adapter.is_software(),
        "driver": adapter.driver,
        "pci_bus_id": adapter.pci_bus_id,
        "buffer_bytes_max": adapter.buffer_bytes_max,
        "binding_bytes_max": adapter.binding_bytes_max,
        "workgroups_max": adapter.workgroups_max,
        "timestamps": adapter.has_timestamps,
        "free_bytes": adapter.free_bytes,
        "unfit": adapter.unfit,
    })
}
