//! Lists the graphics adapters of the system, and chooses one of them.

use wgpu::{Backends, DeviceType, InstanceDescriptor};

use super::driver::{Driver, SILENCE_MAX};
use super::{AdapterChoice, AdapterReport, GpuError};

impl AdapterReport {
    /// Returns the maximum number of iterations of a loop in a shader. Mesa's software driver (llvmpipe, at least up to
    /// version 25.0) silently ends every loop after 65,535 iterations.
    pub(super) fn turns_max(&self) -> u64 {
        if self.is_software() { 0xffff } else { u64::MAX }
    }

    fn new(index: usize, adapter: &wgpu::Adapter) -> AdapterReport {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        let kind = match info.device_type {
            DeviceType::DiscreteGpu => "discrete",
            DeviceType::IntegratedGpu => "integrated",
            DeviceType::VirtualGpu => "virtual",
            DeviceType::Cpu => "software",
            DeviceType::Other => "other",
        };
        AdapterReport {
            index,
            name: info.name,
            backend: format!("{:?}", info.backend),
            kind,
            driver: [info.driver, info.driver_info].join(" ").trim().to_string(),
            pci_bus_id: info.device_pci_bus_id,
            binding_bytes_max: limits.max_storage_buffer_binding_size,
            buffer_bytes_max: limits.max_buffer_size,
            workgroups_max: limits.max_compute_workgroups_per_dimension,
            workgroup_size_max: limits
                .max_compute_workgroup_size_x
                .min(limits.max_compute_invocations_per_workgroup)
                .min(WORKGROUP_SIZE_MAX),
            has_timestamps: adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
            has_wide_integers: adapter.features().contains(wgpu::Features::SHADER_INT64),
            free_bytes: free_bytes(adapter),
            unfit: unfit(adapter),
        }
    }

    /// Returns the rank of the adapter in the order of preference. The adapter with the lowest rank is chosen.
    fn rank(&self) -> usize {
        ["discrete", "integrated", "virtual", "other"].iter().position(|kind| *kind == self.kind).unwrap_or(4)
    }
}

/// The number of storage buffers that a kernel uses: keys, moves, start positions, per-game columns, loop tables,
/// columns propagated along games, entries (segments with hits) and output words.
pub(super) const STORAGE_BUFFERS: u32 = 8;

/// The name that chooses wgpu's stand-in for a graphics card, in builds with the feature `stand-in`. It copies buffers, but
/// runs no kernels, so its answers are wrong. Benchmarks use it to measure the work of the processor alone.
pub const STAND_IN: &str = "noop";

/// The largest workgroup that is requested from a device, in invocations.
const WORKGROUP_SIZE_MAX: u32 = 256;

/// Returns the size of the adapter's free memory in bytes, as its driver estimates it (`VK_EXT_memory_budget`). If the adapter has
/// several heaps of its own memory, this is the largest amount that one of them has free. Returns `None` if the driver does not
/// report it.
#[cfg(not(target_vendor = "apple"))]
fn free_bytes(adapter: &wgpu::Adapter) -> Option<u64> {
    use ash::{ext, vk};

    // SAFETY: no resource is destroyed through the handle.
    #[expect(unsafe_code, reason = "wgpu does not report free memory")]
    let adapter = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let (instance, capabilities) = (adapter.shared_instance(), adapter.physical_device_capabilities());
    let version = instance.instance_api_version().min(capabilities.properties().api_version);
    if version < vk::API_VERSION_1_1 || !capabilities.supports_extension(ext::memory_budget::NAME) {
        return None;
    }
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut memory = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
    // SAFETY: the adapter belongs to the instance. Both have Vulkan 1.1, which contains this function, and the adapter has the
    // extension to which the second structure belongs.
    #[expect(unsafe_code, reason = "this is a function of Vulkan")]
    unsafe {
        let device = adapter.raw_physical_device();
        instance.raw_instance().get_physical_device_memory_properties2(device, &mut memory);
    }
    let heaps = memory.memory_properties;
    let own = |heap: &usize| heaps.memory_heaps[*heap].flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
    (0..heaps.memory_heap_count as usize)
        .filter(own)
        .map(|heap| budget.heap_budget[heap].saturating_sub(budget.heap_usage[heap]))
        .max()
}

#[cfg(target_vendor = "apple")]
fn free_bytes(_: &wgpu::Adapter) -> Option<u64> {
    None
}

fn unfit(adapter: &wgpu::Adapter) -> Option<String> {
    let limits = adapter.limits();
    let flags = adapter.get_downlevel_capabilities().flags;
    if !flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
        return Some("it has no compute shaders".into());
    }
    let buffers = limits.max_storage_buffers_per_shader_stage;
    (buffers < STORAGE_BUFFERS)
        .then(|| format!("its shaders can use {buffers} storage buffers, and {STORAGE_BUFFERS} are needed"))
}

/// Returns a report for each adapter, in the system's order. The list is empty if no driver or loader is installed.
///
/// # Errors
///
/// Fails if a driver fails or does not answer.
pub fn adapters() -> Result<Vec<AdapterReport>, GpuError> {
    let driver = Driver::new(SILENCE_MAX);
    let reports = |found: Vec<(AdapterReport, _)>| found.into_iter().map(|(report, _)| report).collect();
    let found = driver.call(SILENCE_MAX, move || Ok(reports(enumerate(Backends::PRIMARY))));
    found.map_err(GpuError::while_opening)
}

/// Returns all adapters of some backends with their reports. This must be called on a helper thread, because drivers
/// may hang.
fn enumerate(backends: Backends) -> Vec<(AdapterReport, wgpu::Adapter)> {
    if (wgpu::Instance::enabled_backend_features() & backends).is_empty() {
        return Vec::new();
    }
    let mut descriptor = InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    descriptor.backend_options.noop.enable = backends.contains(Backends::NOOP);
    descriptor.backend_options.noop.device_type = Some(DeviceType::DiscreteGpu);
    // Validation layers and debug names are never used, because they take time and print messages.
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let found = pollster::block_on(instance.enumerate_adapters(backends));
    found
        .into_iter()
        .enumerate()
        .map(|(index, adapter)| (AdapterReport::new(index, &adapter), adapter))
        .collect()
}

/// Returns the adapter that the user chose. This must be called on a helper thread, because drivers may hang.
///
/// # Errors
///
/// Fails if there is no adapter, if none or several match the given name, or if the adapter cannot run kernels.
pub(super) fn choose(choice: &AdapterChoice) -> Result<(AdapterReport, wgpu::Adapter), GpuError> {
    let mut found = enumerate(backends(choice));
    if found.is_empty() {
        return Err(GpuError::NoAdapter);
    }
    let reports: Vec<&AdapterReport> = found.iter().map(|(report, _)| report).collect();
    let index = pick(choice, &reports)?;
    if let Some(reason) = &reports[index].unfit {
        return Err(GpuError::Unfit { name: reports[index].name.clone(), reason: reason.clone() });
    }
    Ok(found.swap_remove(index))
}

/// Returns the backends with the adapters to choose from.
fn backends(choice: &AdapterChoice) -> Backends {
    let is_stand_in = matches!(choice, AdapterChoice::Named(name) if name == STAND_IN);
    let stand_in = wgpu::Instance::enabled_backend_features() & Backends::NOOP;
    if is_stand_in && !stand_in.is_empty() { stand_in } else { Backends::PRIMARY }
}

fn pick(choice: &AdapterChoice, reports: &[&AdapterReport]) -> Result<usize, GpuError> {
    let known = || reports.iter().map(|it| format!("{} {}", it.index, it.name)).collect();
    let none = || GpuError::NoSuchAdapter { wanted: choice.to_string(), known: known() };
    match choice {
        AdapterChoice::Auto => {
            let fit = reports.iter().filter(|it| it.unfit.is_none());
            let best = fit.min_by_key(|it| it.rank());
            // If no adapter can run kernels, the first one is returned, and its report contains the reason.
            Ok(best.map_or(0, |it| it.index))
        }
        AdapterChoice::Index(index) => reports.get(*index).map(|it| it.index).ok_or_else(none),
        AdapterChoice::Named(name) => {
            let wanted = name.to_lowercase();
            let is_wanted =
                |it: &&&AdapterReport| it.pci_bus_id == *name || it.name.to_lowercase().contains(&wanted);
            // Every name contains the empty string, so an empty string must match no adapter.
            let matching = reports.iter().filter(|_| !wanted.trim().is_empty()).filter(is_wanted);
            let matching: Vec<_> = matching.collect();
            let first =
                matching.iter().find(|it| it.unfit.is_none()).or(matching.first()).ok_or_else(none)?;
            match matching.iter().all(|it| is_same_card(it, first)) {
                true => Ok(first.index),
                false => Err(GpuError::SeveralAdapters { wanted: name.clone(), known: known() }),
            }
        }
    }
}

/// Returns true if two adapters are the same card, which several interfaces (Vulkan and Direct3D 12) or several drivers report.
fn is_same_card(a: &AdapterReport, b: &AdapterReport) -> bool {
    a.index == b.index
        || a.name == b.name && a.backend != b.backend
        || !a.pci_bus_id.is_empty() && a.pci_bus_id == b.pci_bus_id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(index: usize, name: &str, kind: &'static str) -> AdapterReport {
        AdapterReport {
            index,
            name: name.into(),
            backend: "Vulkan".into(),
            kind,
            driver: String::new(),
            pci_bus_id: format!("0000:0{index}:00.0"),
            binding_bytes_max: 1 << 27,
            buffer_bytes_max: 1 << 28,
            workgroups_max: 65535,
            workgroup_size_max: 256,
            has_timestamps: true,
            has_wide_integers: false,
            free_bytes: None,
            unfit: None,
        }
    }

    #[test]
    fn adapters_are_chosen_by_kind_index_name_and_bus() {
        let mut all = [
            report(0, "llvmpipe", "software"),
            report(1, "Apex 3000", "integrated"),
            report(2, "Apex 9000", "discrete"),
        ];
        let pick = |choice: &str, all: &[AdapterReport]| {
            super::pick(&choice.parse().unwrap(), &all.iter().collect::<Vec<_>>())
                .map_err(|error| error.to_string())
        };
        assert_eq!(pick("auto", &all), Ok(2));
        assert_eq!(pick("Auto", &all), Ok(2));
        assert!(pick("", &all).unwrap_err().contains("there are 0 llvmpipe"));
        assert!(pick(" ", &all).unwrap_err().contains("no graphics adapter"));
        assert_eq!(pick("1", &all), Ok(1));
        assert_eq!(pick("apex 30", &all), Ok(1));
        assert_eq!(pick("0000:00:00.0", &all), Ok(0));
        assert!(pick("apex", &all).unwrap_err().contains("several"));
        // On Windows, Vulkan and Direct3D 12 both report each card.
        let both = ["Vulkan", "Dx12"].map(|backend| ["Apex 3000", "Apex 9000"].map(|name| (backend, name)));
        let twice = both.as_flattened().iter().enumerate().map(|(index, &(backend, name))| AdapterReport {
            backend: backend.into(),
            ..report(index, name, "discrete")
        });
        let mut twice: Vec<AdapterReport> = twice.collect();
        assert_eq!(pick("apex 9", &twice), Ok(1));
        assert!(pick("apex", &twice).unwrap_err().contains("several"));
        twice[1].unfit = Some("it is too old".into());
        assert_eq!(pick("apex 9", &twice), Ok(3));
        for report in &mut twice {
            report.name = "Apex 9000".into();
        }
        assert!(pick("apex 9", &twice).unwrap_err().contains("several"), "two equal cards");
        assert!(pick("7", &all).unwrap_err().contains("0 llvmpipe, 1 Apex 3000, 2 Apex 9000"));
        assert!(pick("Voodoo", &all).unwrap_err().contains("Voodoo"));
        all[2].unfit = Some("it is too old".into());
        assert_eq!(pick("auto", &all), Ok(1));
        assert_eq!(pick("auto", &all[..1]), Ok(0));
    }
}
