//! Benchmarks that measure the speed of each way of uploading data to the device.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use wgpu::{BufferUsages, MapMode, util::StagingBelt};

use super::device::{Buffer, Device};
use super::{GpuDevice, GpuError};
use orbit_core::sync::lock;

/// The number of bytes of each measured upload, and the number of uploads.
const BYTES: u64 = 32 << 20;
const TIMES: u32 = 8;
/// The size of a chunk of the staging belt, a reusable pool of staging buffers, in bytes.
const BELT_BYTES: u64 = 8 << 20;

impl GpuDevice {
    /// Returns the speeds of three ways of uploading, in bytes per second: the queue's own staging, a belt of staging
    /// buffers, and staging buffers that are mapped repeatedly. The engine uses the third way.
    ///
    /// # Errors
    ///
    /// Fails if the device fails.
    pub fn upload_rates(&self) -> Result<[(&'static str, f64); 3], GpuError> {
        self.attempt(|open| {
            let device = &open.device;
            Ok([
                ("write_buffer", rate(by_queue(device)?)),
                ("belt", rate(by_belt(device)?)),
                ("mapped", rate(by_map(device)?)),
            ])
        })
    }
}

fn rate(took: Duration) -> f64 {
    (BYTES * u64::from(TIMES)) as f64 / took.as_secs_f64()
}

/// Waits until all submitted commands are done.
fn finish(device: &Device, readback: &mut Buffer, target: &wgpu::Buffer) -> Result<(), GpuError> {
    let readback = readback.with_room(device, 16)?;
    let (from, to) = (target.clone(), readback.clone());
    let submission = device.submit("an upload", None, move |_, _, encoder| {
        encoder.copy_buffer_to_buffer(&from, 0, &to, 0, 16);
    })?;
    device.map(readback, MapMode::Read, 16, Some(submission), wgpu::Buffer::unmap)
}

/// Measures the time for repeated uploads of data to one buffer. An additional first upload, which warms up the device,
/// is not measured.
fn timed(
    device: &Device,
    mut upload: impl FnMut(&wgpu::Buffer) -> Result<(), GpuError>,
) -> Result<Duration, GpuError> {
    let (mut target, mut readback) =
        (Buffer::storage(), Buffer::new(BufferUsages::MAP_READ | BufferUsages::COPY_DST));
    let target = target.with_room(device, BYTES)?;
    upload(target)?;
    finish(device, &mut readback, target)?;
    let begun = Instant::now();
    for _ in 0..TIMES {
        upload(target)?;
    }
    finish(device, &mut readback, target)?;
    Ok(begun.elapsed())
}

fn by_queue(device: &Device) -> Result<Duration, GpuError> {
    let data: Arc<[u8]> = vec![1; BYTES as usize].into();
    timed(device, |target| {
        let (target, data) = (target.clone(), Arc::clone(&data));
        device.guarded("an upload", move |_, queue| {
            queue.write_buffer(&target, 0, &data);
            queue.submit([]);
        })
    })
}

fn by_belt(device: &Device) -> Result<Duration, GpuError> {
    let data: Arc<[u8]> = vec![2; BELT_BYTES as usize].into();
    let belt = device.guarded("a belt", |device, _| StagingBelt::new(device.clone(), BELT_BYTES))?;
    let belt = Arc::new(device.keep(Mutex::new(belt)));
    let size = wgpu::BufferSize::new(BELT_BYTES).expect("it is not zero");
    timed(device, |target| {
        let (target, data, lent) = (target.clone(), Arc::clone(&data), Arc::clone(&belt));
        device.submit("an upload", None, move |_, _, encoder| {
            let mut belt = lock(&lent);
            for offset in (0..BYTES).step_by(BELT_BYTES as usize) {
                belt.write_buffer(encoder, &target, offset, size).copy_from_slice(&data);
            }
            belt.finish();
        })?;
        let lent = Arc::clone(&belt);
        device.guarded("an upload", move |_, _| lock(&lent).recall())
    })
}

fn by_map(device: &Device) -> Result<Duration, GpuError> {
    let data = vec![3u8; BYTES as usize];
    let mut stagings = [(); 3].map(|()| Buffer::new(BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC));
    let mut next = 0;
    timed(device, |target| {
        let staging = stagings[next % 3].with_room(device, BYTES)?;
        next += 1;
        let view = device
            .map(staging, MapMode::Write, BYTES, None, |staging| staging.get_mapped_range_mut(0..BYTES))?;
        let mut view = view.map_err(|error| GpuError::Lost { reason: error.to_string() })?;
        view.copy_from_slice(&data);
        drop(view);
        let (staging, target) = (staging.clone(), target.clone());
        device.submit("an upload", None, move |_, _, encoder| {
            staging.unmap();
            encoder.copy_buffer_to_buffer(&staging, 0, &target, 0, BYTES);
        })?;
        Ok(())
    })
}
