//! Compiles shaders with RADV, Mesa's driver for AMD's cards.

use std::ffi::CStr;

use ash::{khr::pipeline_executable_properties, vk};

/// The path of the driver's manifest on Debian.
pub const DRIVER: &str = "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json";

/// The number of buffers that a shader may use. shaders/replay.wgsl and the shaders that compute hits and outputs declare them.
const BINDINGS: u32 = 9;

/// A device that can only compile.
pub struct Compiler {
    device: ash::Device,
    properties: pipeline_executable_properties::Device,
    layout: vk::PipelineLayout,
    pub version: String,
    // The instance and the entry (the loaded Vulkan library) must outlive the device.
    _instance: ash::Instance,
    _entry: ash::Entry,
}

/// The statistics and the machine code that the driver reports for a pipeline.
pub struct Made {
    /// The statistics, with the driver's names for them.
    pub statistics: Vec<(String, u64)>,
    /// The machine code as text.
    pub assembly: String,
}

impl Made {
    /// Returns the statistic with the given name.
    ///
    /// # Errors
    ///
    /// Fails if the driver reports no such statistic. A check must not treat a missing statistic as 0.
    pub fn number(&self, name: &str) -> Result<u64, String> {
        let found = self.statistics.iter().find(|(known, _)| known == name);
        found.map(|&(_, number)| number).ok_or_else(|| format!("the driver tells no `{name}`"))
    }
}

impl Compiler {
    /// Opens the driver that the environment names.
    pub fn open() -> Result<Compiler, String> {
        // SAFETY: all structures are those that the calls require, and live as long as the calls. The device is never destroyed, so
        // it stays valid until the process ends.
        unsafe { Compiler::open_device() }.map_err(|error| {
            format!("no compiler: {error}; the driver is {DRIVER} of Debian's mesa-vulkan-drivers, with libvulkan1")
        })
    }

    unsafe fn open_device() -> Result<Compiler, Box<dyn std::error::Error>> {
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        // SAFETY: see `open`.
        unsafe {
            let entry = ash::Entry::load()?;
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None)?;
            let physical = *instance.enumerate_physical_devices()?.first().ok_or("it has no device")?;
            let mut driver = vk::PhysicalDeviceDriverProperties::default();
            let mut about = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
            instance.get_physical_device_properties2(physical, &mut about);
            let version = driver.driver_info_as_c_str()?.to_string_lossy().into_owned();
            if driver.driver_id != vk::DriverId::MESA_RADV {
                return Err(format!("the driver is {version}").into());
            }
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let extensions =
                [pipeline_executable_properties::NAME.as_ptr(), ash::ext::robustness2::NAME.as_ptr()];
            let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
                .pipeline_executable_info(true);
            // Requests the same features for checked accesses as wgpu, so that the driver generates the same machine code.
            let mut robust = vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_buffer_access2(true);
            let features =
                vk::PhysicalDeviceFeatures::default().shader_int64(true).robust_buffer_access(true);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .enabled_features(&features)
                .push_next(&mut executables)
                .push_next(&mut robust);
            let device = instance.create_device(physical, &info, None)?;
            let bindings: Vec<_> = (0..BINDINGS)
                .map(|binding| {
                    let kind = if binding == 0 {
                        vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC
                    } else {
                        vk::DescriptorType::STORAGE_BUFFER
                    };
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(binding)
                        .descriptor_count(1)
                        .descriptor_type(kind)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let sets = [device.create_descriptor_set_layout(&info, None)?];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = device.create_pipeline_layout(&info, None)?;
            let properties = pipeline_executable_properties::Device::new(&instance, &device);
            Ok(Compiler { device, properties, layout, version, _instance: instance, _entry: entry })
        }
    }

    /// Compiles a shader whose entry point is `main`.
    pub fn compile(&self, spirv: &[u32]) -> Result<Made, vk::Result> {
        let module = vk::ShaderModuleCreateInfo::default().code(spirv);
        // SAFETY: the shader was validated, and all structures live as long as the calls that use them.
        unsafe {
            let module = self.device.create_shader_module(&module, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo::default()
                .flags(
                    vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
                        | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR,
                )
                .layout(self.layout)
                .stage(stage);
            let made = self.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            let pipeline = made.map_err(|(_, error)| error)?[0];
            let made = self.told(pipeline);
            self.device.destroy_pipeline(pipeline, None);
            self.device.destroy_shader_module(module, None);
            made
        }
    }

    /// Returns the statistics and the machine code that the driver reports for a pipeline.
    ///
    /// # Safety
    ///
    /// The pipeline must belong to this device, and its creation flags must include those that keep statistics and code.
    unsafe fn told(&self, pipeline: vk::Pipeline) -> Result<Made, vk::Result> {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        // SAFETY: the caller guarantees that the pipeline belongs to this device and was created with these flags.
        let told = unsafe { self.properties.get_pipeline_executable_statistics(&info) }?;
        let number = |told: &vk::PipelineExecutableStatisticKHR<'_>| {
            // SAFETY: the driver reports which field of the union is set. All fields have the same size.
            unsafe {
                match told.format {
                    vk::PipelineExecutableStatisticFormatKHR::FLOAT64 => told.value.f64 as u64,
                    _ => told.value.u64,
                }
            }
        };
        let statistics = told.iter().map(|told| (text(told.name_as_c_str()), number(told))).collect();
        let read = self.properties.fp().get_pipeline_executable_internal_representations_khr;
        let mut count = 0;
        // SAFETY: the first call returns the number of strings, the second one their lengths, and the third one fills buffers of
        // these lengths.
        unsafe {
            let device = self.device.handle();
            read(device, &info, &mut count, std::ptr::null_mut()).result()?;
            let mut texts = vec![vk::PipelineExecutableInternalRepresentationKHR::default(); count as usize];
            read(device, &info, &mut count, texts.as_mut_ptr()).result()?;
            let mut room: Vec<Vec<u8>> = texts.iter().map(|text| vec![0; text.data_size]).collect();
            for (text, room) in texts.iter_mut().zip(&mut room) {
                text.p_data = room.as_mut_ptr().cast();
            }
            read(device, &info, &mut count, texts.as_mut_ptr()).result()?;
            let is_code = |of: &vk::PipelineExecutableInternalRepresentationKHR<'_>| {
                text(of.name_as_c_str()).contains("ssembly")
            };
            let assembly = texts.iter().zip(&room).find(|(text, _)| is_code(text));
            let assembly =
                assembly.map_or(String::new(), |(_, room)| String::from_utf8_lossy(room).into_owned());
            Ok(Made { statistics, assembly })
        }
    }
}

fn text(name: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    name.map_or(String::new(), |name| name.to_string_lossy().into_owned())
}
