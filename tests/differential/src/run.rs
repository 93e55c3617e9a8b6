//! Compiled programs on a device: the CPU device takes PTX, a GPU a cubin.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cdp_runtime::cpu::{CpuDevice, CpuOptions, Sinks, render_report};
use cdp_runtime::gpu::GpuDevice;
use cdp_runtime::{CopyKind, Device, KernelHandle, LaunchConfig, Limit, ModuleImage, StreamHandle};

use crate::pack::{THREADS, WORDS};

/// What a program wrote.
pub type Words = Vec<u64>;

/// The longest that the programs of a unit may run.
const TIME_LIMIT: Duration = Duration::from_secs(240);

/// A CPU device, and what it reports.
fn reporting() -> Result<(CpuDevice, Arc<Mutex<String>>), String> {
    let options =
        CpuOptions { timeout: Some(TIME_LIMIT), host_threads: 1, ..CpuOptions::default() };
    let reports = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&reports);
    let sinks = Sinks {
        output: Box::new(|_| {}),
        report: Box::new(move |report| {
            if let Ok(mut text) = seen.lock() {
                *text += &render_report(report);
            }
        }),
    };
    let device = CpuDevice::new(options, 90, sinks).map_err(|error| error.to_string())?;
    Ok((device, reports))
}

/// A CPU device for kernels that write what they are given.
///
/// # Errors
/// When there is no memory for it.
pub(crate) fn cpu_device() -> Result<CpuDevice, String> {
    reporting().map(|(device, _)| device)
}

/// Runs the programs of these seeds on a CPU device of their own.
///
/// # Errors
/// What the device reports, when the code does not load or a kernel faults.
pub fn on_cpu(ptx: &str, seeds: &[u64]) -> Result<Vec<Words>, String> {
    let (device, reports) = reporting()?;
    let image = ModuleImage { cubin: &[], ptx: &[("program", ptx.as_bytes())] };
    let outcome = run(&device, &image, seeds);
    let reports = reports.lock().map_or_else(|_| String::new(), |text| text.clone());
    match outcome {
        Ok(words) if reports.is_empty() => Ok(words),
        Ok(_) => Err(reports),
        Err(error) => Err(format!("{error}\n{reports}")),
    }
}

/// Runs the programs of these seeds on the first GPU.
///
/// # Errors
/// What the driver says.
pub fn on_gpu(cubin: &[u8], seeds: &[u64]) -> Result<Vec<Words>, String> {
    let device = GpuDevice::open(0).map_err(|error| error.to_string())?;
    run(&device, &ModuleImage { cubin, ptx: &[] }, seeds)
}

/// The stack of a thread: without optimisation a few calls take more than the device has at first.
const STACK_BYTES: u64 = 16 << 10;

fn run(device: &dyn Device, image: &ModuleImage<'_>, seeds: &[u64]) -> Result<Vec<Words>, String> {
    let say = |doing: &'static str| move |error| format!("{doing}: {error}");
    device.set_limit(Limit::StackBytes, STACK_BYTES).map_err(say("setting the stack"))?;
    let module = device.load_module(image).map_err(say("loading"))?;
    let bytes = (WORDS * 8) as u64;
    let memory = device.allocate(bytes * seeds.len() as u64).map_err(say("allocating"))?;
    // SAFETY: the memory was allocated with this size.
    unsafe { device.fill(memory, 0, bytes * seeds.len() as u64, None) }.map_err(say("filling"))?;
    for (place, seed) in (0..).zip(seeds) {
        let kernel = device.kernel(module, &format!("parent_{seed}")).map_err(say("looking up"))?;
        launch(device, kernel, memory + bytes * place).map_err(say("launching"))?;
    }
    device.synchronize().map_err(say("running"))?;
    let mut words = vec![0u64; WORDS * seeds.len()];
    let target = words.as_mut_ptr() as u64;
    // SAFETY: `words` is as long as what is copied, and the copy is made before the call returns.
    unsafe {
        device.copy(target, memory, bytes * seeds.len() as u64, CopyKind::DeviceToHost, None)
    }
    .map_err(say("copying"))?;
    Ok(words.chunks(WORDS).map(<[u64]>::to_vec).collect())
}

/// A grid of one block in the NULL stream.
pub(crate) fn one_block(threads: usize) -> LaunchConfig<'static> {
    LaunchConfig {
        grid: [1; 3],
        block: [threads as u32, 1, 1],
        shared_bytes: 0,
        stream: StreamHandle::NULL,
        attributes: &[],
    }
}

fn launch(device: &dyn Device, kernel: KernelHandle, out: u64) -> cdp_runtime::Result<()> {
    let config = one_block(THREADS);
    // SAFETY: generated programs write the words that they are given and nothing else; one that does not
    // was compiled wrongly, which the device reports.
    unsafe { device.launch(kernel, &config, &[&out.to_ne_bytes()]) }
}
