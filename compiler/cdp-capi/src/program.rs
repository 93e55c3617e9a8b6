//! Running kernels: a loaded program on the CPU device or on a GPU.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cdp_runtime::cpu::{CheckSet, CpuOptions, MessageFormat, Report, Sinks, render_report};
use cdp_runtime::names::{find_kernel, ptx_kernels};
use cdp_runtime::{
    CopyKind, Device, DeviceChoice, DeviceError, DeviceKind, LaunchConfig, ModuleHandle,
    ModuleImage, StreamHandle, gpu_for, open_device,
};

use cdp_library::Goal;

use crate::compiler::cdp_compiler;
use crate::result::cdp_result;
use crate::util::{Failed, bytes, free, object, protected, status, text};
use crate::{CDP_ERROR_DEVICE, cdp_status};

/// Which device runs a program: one of CDP_DEVICE_...
pub type cdp_device = u32;
/// The GPU if there is one that can run the program, else the CPU device.
pub const CDP_DEVICE_AUTO: cdp_device = 0;
/// The CPU device, which runs PTX and needs neither GPU nor CUDA.
pub const CDP_DEVICE_CPU: cdp_device = 1;
/// A GPU, by the CUDA driver, which runs a cubin.
pub const CDP_DEVICE_GPU: cdp_device = 2;

/// What a device has reported.
#[derive(Default)]
struct Reports {
    /// For the next message.
    text: String,
    /// For cdp_program_findings.
    all: Vec<Arc<Report>>,
}

/// A loaded program with the device that it is loaded on.
pub struct cdp_program {
    device: Box<dyn Device>,
    module: ModuleHandle,
    /// Names of the kernels, when there is PTX.
    kernels: Vec<String>,
    /// What the CPU device has to say about a misbehaving program.
    reports: Arc<Mutex<Reports>>,
    /// Most milliseconds that a call may wait for kernels; 0 for no limit.
    timeout_ms: AtomicU64,
}

impl cdp_program {
    /// At the beginning of every call in which kernels may run.
    fn start_clock(&self) -> Result<(), Failed> {
        match self.timeout_ms.load(Ordering::Relaxed) {
            0 => Ok(()),
            timeout_ms => {
                let timeout = Duration::from_millis(timeout_ms);
                self.check(self.device.set_timeout(Some(timeout)))
            }
        }
    }

    fn failed(&self, error: &DeviceError) -> Failed {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        let report = std::mem::take(&mut reports.text);
        let separator = if report.is_empty() { "" } else { "\n" };
        Failed::new(CDP_ERROR_DEVICE, format!("{error}{separator}{}", report.trim_end()))
    }

    fn check<T>(&self, result: Result<T, DeviceError>) -> Result<T, Failed> {
        result.map_err(|error| self.failed(&error))
    }
}

/// Loads what cdp_compile or cdp_build made: PTX, which is linked for a GPU with the compiler's tools,
/// or a cubin, for a GPU only. With CDP_DEVICE_AUTO, PTX runs on the GPU if there is one and the compiler has the
/// tools, else on the CPU device. What kernels print goes to standard output. Close it with
/// cdp_program_close; compiler and result may be freed before.
///
/// Any thread. Returns NULL, with cdp_last_error saying why, when nothing was made, the device cannot
/// be had, or the program cannot be loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_load(
    compiler: *const cdp_compiler,
    made: *const cdp_result,
    device: cdp_device,
) -> *mut cdp_program {
    protected(std::ptr::null_mut(), || {
        // SAFETY: by the interface's contract.
        let (compiler, made) = unsafe { (object(compiler, "compiler")?, object(made, "made")?) };
        let choice = choice(device)?;
        match made.made()? {
            (Goal::Ptx, ptx) => {
                let on_gpu = match choice {
                    DeviceChoice::Auto => gpu_for(&[]).is_some() && compiler.can_link(),
                    other => other == DeviceChoice::Gpu,
                };
                let cubin = if on_gpu { compiler.link(ptx)? } else { Vec::new() };
                let choice = if on_gpu { choice } else { DeviceChoice::Cpu };
                open(choice, ptx, &cubin, CheckSet::default())
            }
            (Goal::Cubin | Goal::Fatbin, _) if choice == DeviceChoice::Cpu => Err(Failed::request(
                "a cubin runs on a GPU only: the CPU device runs PTX (CDP_GOAL_PTX)",
            )),
            (Goal::Cubin | Goal::Fatbin, cubin) => {
                open(DeviceChoice::Gpu, &[], cubin, CheckSet::default())
            }
            _ => Err(Failed::request("only PTX and cubins can be loaded")),
        }
    })
}

/// Loads a program from bytes: PTX for the CPU device, a cubin for a GPU; one of them may be NULL. Both
/// are copied. With CDP_DEVICE_AUTO the GPU runs the cubin if it can, else the CPU device the PTX. What
/// kernels print goes to standard output. Close it with cdp_program_close.
///
/// Any thread. Returns NULL, with cdp_last_error saying why, when the device cannot be had or the
/// program cannot be loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_open(
    device: cdp_device,
    ptx: *const c_void,
    ptx_size: usize,
    cubin: *const c_void,
    cubin_size: usize,
) -> *mut cdp_program {
    protected(std::ptr::null_mut(), || {
        // SAFETY: by the interface's contract.
        let (ptx, cubin) =
            unsafe { (bytes(ptx, ptx_size, "ptx")?, bytes(cubin, cubin_size, "cubin")?) };
        open(choice(device)?, ptx, cubin, CheckSet::default())
    })
}

/// Loads a program from PTX on the CPU device, to be checked as it runs; cdp_program_findings tells what was
/// found. `checks` is a list of names with commas: `race`, `init`, `bounds`, `leak`, `divide`, `sync`, `siblings`, or `all`
/// but the last, as `cdpc run --check` has them. Kernels run several times slower. Findings have source lines
/// if the PTX does (option `debug` is `lines`). Close it with cdp_program_close.
///
/// As cdp_program_open. Returns NULL, with CDP_ERROR_REQUEST, also for a name that is no check.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_open_checked(
    ptx: *const c_void,
    ptx_size: usize,
    checks: *const c_char,
) -> *mut cdp_program {
    protected(std::ptr::null_mut(), || {
        // SAFETY: by the interface's contract.
        let (ptx, checks) = unsafe { (bytes(ptx, ptx_size, "ptx")?, text(checks, "checks")?) };
        let checks = CheckSet::parse(checks).map_err(|name| {
            Failed::request(format!("there is no check `{name}`: {} is expected", CheckSet::NAMES))
        })?;
        open(DeviceChoice::Cpu, ptx, &[], checks)
    })
}

fn choice(device: cdp_device) -> Result<DeviceChoice, Failed> {
    Ok(match device {
        CDP_DEVICE_AUTO => DeviceChoice::Auto,
        CDP_DEVICE_CPU => DeviceChoice::Cpu,
        CDP_DEVICE_GPU => DeviceChoice::Gpu,
        other => return Err(Failed::request(format!("there is no device {other}"))),
    })
}

fn open(
    choice: DeviceChoice,
    ptx: &[u8],
    cubin: &[u8],
    checks: CheckSet,
) -> Result<*mut cdp_program, Failed> {
    let texts: &[(&str, &[u8])] = if ptx.is_empty() { &[] } else { &[("program.ptx", ptx)] };
    let image = ModuleImage { cubin, ptx: texts };
    let reports = Arc::new(Mutex::new(Reports::default()));
    let sinks = Sinks {
        report: Box::new({
            let reports = Arc::clone(&reports);
            move |report| {
                let mut all = reports.lock().unwrap_or_else(PoisonError::into_inner);
                all.text.push_str(&render_report(report));
                all.all.push(Arc::new(report.clone()));
            }
        }),
        ..Sinks::standard(MessageFormat::Human)
    };
    let failed = |error: DeviceError| Failed::new(CDP_ERROR_DEVICE, error.to_string());
    let options = CpuOptions { checks, ..CpuOptions::default() };
    let device = open_device(choice, &image, options, sinks).map_err(failed)?;
    let module = device.load_module(&image).map_err(failed)?;
    let kernels = std::str::from_utf8(ptx).map(ptx_kernels).unwrap_or_default();
    let timeout_ms = AtomicU64::new(0);
    let program = cdp_program { device, module, kernels, reports, timeout_ms };
    Ok(Box::into_raw(Box::new(program)))
}

/// Waits for the program's work, unloads it and gives its device back. NULL is ignored.
///
/// No other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_close(program: *mut cdp_program) {
    let _ = status(|| {
        // SAFETY: by the interface's contract.
        if let Some(program) = unsafe { program.as_ref() } {
            // What goes wrong here has no one left to be told.
            let _ = program.start_clock();
            let _ = program.device.synchronize();
            let _ = program.device.unload_module(program.module);
        }
        Ok(())
    });
    // SAFETY: as above.
    unsafe { free(program) }
}

/// Returns whether the program is on a GPU.
///
/// Any number of threads may use a program at once; the same holds for all functions below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_is_on_gpu(program: *const cdp_program) -> bool {
    // SAFETY: by the interface's contract.
    unsafe { program.as_ref() }.is_some_and(|program| program.device.kind() == DeviceKind::Gpu)
}

/// Limits how long a call of a function below, or of cdp_program_close, runs the program's kernels on the
/// CPU device: past `timeout_ms` milliseconds the program ends, and this call and all later ones fail with
/// CDP_ERROR_DEVICE. 0, the default, is no limit: an endless kernel then never returns. The count begins
/// anew with each call. On a GPU it does nothing.
///
/// CDP_ERROR_REQUEST for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_set_timeout(
    program: *const cdp_program,
    timeout_ms: u64,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let program = unsafe { object(program, "program") }?;
        program.timeout_ms.store(timeout_ms, Ordering::Relaxed);
        match timeout_ms {
            0 => program.check(program.device.set_timeout(None)),
            _ => program.start_clock(),
        }
    })
}

/// Allocates device memory, aligned to 256 bytes, and gives its address; free it with
/// cdp_program_release, or leave it to cdp_program_close.
///
/// Size 0 gives address 0. CDP_ERROR_DEVICE when there is no more; CDP_ERROR_REQUEST for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_allocate(
    program: *const cdp_program,
    size: usize,
    address: *mut u64,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let program = unsafe { object(program, "program") }?;
        if address.is_null() {
            return Err(Failed::request("address is NULL"));
        }
        let allocated = program.check(program.device.allocate(size as u64))?;
        // SAFETY: as above.
        unsafe { *address = allocated };
        Ok(())
    })
}

/// Frees device memory. Address 0 is ignored.
///
/// CDP_ERROR_DEVICE for an address that was not allocated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_release(
    program: *const cdp_program,
    address: u64,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let program = unsafe { object(program, "program") }?;
        program.check(program.device.free(address))
    })
}

/// Gives the address and size of a `__device__`, `__constant__` or `__managed__` variable, by its
/// symbol; either may be NULL.
///
/// CDP_ERROR_DEVICE for a variable that there is not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_variable(
    program: *const cdp_program,
    symbol: *const c_char,
    address: *mut u64,
    size: *mut u64,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let (program, symbol) = unsafe { (object(program, "program")?, text(symbol, "symbol")?) };
        let found = program.check(program.device.variable(program.module, symbol))?;
        for (target, value) in [(address, found.0), (size, found.1)] {
            if !target.is_null() {
                // SAFETY: as above.
                unsafe { *target = value };
            }
        }
        Ok(())
    })
}

/// Copies `size` bytes from host memory to device memory.
///
/// CDP_ERROR_DEVICE when they do not lie in allocated memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_write(
    program: *const cdp_program,
    address: u64,
    data: *const c_void,
    size: usize,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let (program, data) = unsafe { (object(program, "program")?, bytes(data, size, "data")?) };
        let (from, count) = (data.as_ptr() as u64, data.len() as u64);
        if count == 0 {
            return Ok(());
        }
        program.start_clock()?;
        // SAFETY: the source is `count` bytes long, and the copy is made before the call returns.
        program.check(unsafe {
            program.device.copy(address, from, count, CopyKind::HostToDevice, None)
        })
    })
}

/// Waits for the program's work and copies `size` bytes from device memory to host memory.
///
/// CDP_ERROR_DEVICE when they do not lie in allocated memory, or when a kernel failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_read(
    program: *const cdp_program,
    data: *mut c_void,
    address: u64,
    size: usize,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let program = unsafe { object(program, "program") }?;
        if size == 0 {
            return Ok(());
        }
        if data.is_null() {
            return Err(Failed::request(format!("data is NULL and has {size} bytes")));
        }
        program.start_clock()?;
        program.check(program.device.synchronize())?;
        // SAFETY: the target is `size` bytes long, and the copy is made before the call returns.
        program.check(unsafe {
            let to = data as u64;
            program.device.copy(to, address, size as u64, CopyKind::DeviceToHost, None)
        })
    })
}

/// Launches a kernel, by its symbol or, when the program has PTX, by its name in the source. `grid`
/// and `block` point to three dimensions each; `params` to one pointer for each parameter, which leads
/// to its bytes. Returns when the launch is made; cdp_program_synchronize waits for its end.
///
/// CDP_ERROR_REQUEST for a kernel that there is not or another number of parameters; CDP_ERROR_DEVICE
/// for a configuration that the device refuses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_launch(
    program: *const cdp_program,
    kernel: *const c_char,
    grid: *const u32,
    block: *const u32,
    shared_bytes: u64,
    params: *const *const c_void,
    param_count: usize,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let (program, kernel) = unsafe { (object(program, "program")?, text(kernel, "kernel")?) };
        // SAFETY: as above.
        let (grid, block) = unsafe { (dimensions(grid, "grid")?, dimensions(block, "block")?) };
        let symbol = match program.kernels.as_slice() {
            [] => kernel.to_string(),
            kernels => find_kernel(kernels, kernel).map_err(Failed::request)?,
        };
        let device = program.device.as_ref();
        let handle = program.check(device.kernel(program.module, &symbol))?;
        let sizes = program.check(device.kernel_params(handle))?;
        if sizes.len() != param_count {
            let message = format!("`{kernel}` has {} parameters, not {param_count}", sizes.len());
            return Err(Failed::request(message));
        }
        let mut values: Vec<&[u8]> = Vec::with_capacity(sizes.len());
        if !sizes.is_empty() && params.is_null() {
            return Err(Failed::request("params is NULL"));
        }
        for (index, (_, size)) in sizes.iter().enumerate() {
            // SAFETY: `params` has as many pointers as the kernel parameters, each leads to its bytes.
            values.push(unsafe {
                bytes(*params.add(index), *size as usize, &format!("parameter {index}"))?
            });
        }
        program.start_clock()?;
        let config =
            LaunchConfig { grid, block, shared_bytes, stream: StreamHandle::NULL, attributes: &[] };
        // SAFETY: what the kernel does with its memory is the caller's affair.
        program.check(unsafe { device.launch(handle, &config, &values) })
    })
}

/// Begins (`on`) or ends the record of grids that cdp_program_trace gives. A program begins without: a record
/// grows with every launch.
///
/// CDP_ERROR_DEVICE on a GPU, CDP_ERROR_REQUEST for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_set_trace(
    program: *const cdp_program,
    on: bool,
) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let program = unsafe { object(program, "program") }?;
        program.check(program.device.set_trace(on))
    })
}

/// Waits for the program's work and gives the recorded grids, who launched them, where and when, as a file
/// of chrome://tracing and Perfetto: `cdpc run --trace` writes the same. Its text is the result's bytes; free
/// it with cdp_result_free.
///
/// The result's status is CDP_ERROR_DEVICE on a GPU and when a kernel failed. Returns NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_trace(program: *const cdp_program) -> *mut cdp_result {
    // SAFETY: by the interface's contract.
    unsafe { summary(program, |device| device.trace_json()) }
}

/// Waits for the program's work and gives what each kernel has done so far, as one JSON object: launches,
/// blocks, threads, instructions, memory transactions, barriers and so on, as `cdpc run --profile` with
/// `--message-format json`. Its text is the result's bytes; free it with cdp_result_free.
///
/// As for cdp_program_trace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_profile(program: *const cdp_program) -> *mut cdp_result {
    // SAFETY: by the interface's contract.
    unsafe { summary(program, |device| device.profile_json()) }
}

/// # Safety
/// The program is NULL or lives.
unsafe fn summary(
    program: *const cdp_program,
    tell: impl Fn(&dyn Device) -> Result<String, DeviceError>,
) -> *mut cdp_result {
    protected(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let program = unsafe { object(program, "program") }?;
        program.start_clock()?;
        Ok(cdp_result::of_summary(program.check(tell(program.device.as_ref()))))
    })
}

/// Waits for the program's work and gives what the CPU device has to say of it since the last call: what the
/// checks of cdp_program_open_checked found, one finding for each pair of source places, with `leak` memory
/// that is allocated now; and, of any program, what ended it. Findings are the result's messages
/// (cdp_result_message, whose code is the kind: `race`, `out-of-bounds`), and JSON by cdp_result_messages_json,
/// with the launches that led there, the other access of a race and the count, as `cdpc run --check` with
/// `--message-format json` writes them. Free it with cdp_result_free.
///
/// The result's status is CDP_OK whatever was found, CDP_ERROR_DEVICE on a GPU. Returns NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_findings(program: *const cdp_program) -> *mut cdp_result {
    protected(std::ptr::null_mut(), || {
        // SAFETY: by the interface's contract.
        let program = unsafe { object(program, "program") }?;
        program.start_clock()?;
        let found = program.check(program.device.findings());
        let mut reports = program.reports.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = std::mem::take(&mut reports.all);
        Ok(cdp_result::of_findings(found.map(|found| {
            all.extend(found);
            all
        })))
    })
}

/// Waits for all work of the program, and tells whether a kernel failed. On the CPU device the message
/// says which thread did what where.
///
/// CDP_ERROR_DEVICE when a kernel failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdp_program_synchronize(program: *const cdp_program) -> cdp_status {
    status(|| {
        // SAFETY: by the interface's contract.
        let program = unsafe { object(program, "program") }?;
        program.start_clock()?;
        program.check(program.device.synchronize())
    })
}

/// Three dimensions of the caller.
///
/// # Safety
/// `pointer` is NULL or valid for three numbers.
unsafe fn dimensions(pointer: *const u32, what: &str) -> Result<[u32; 3], Failed> {
    if pointer.is_null() {
        return Err(Failed::request(format!("{what} is NULL")));
    }
    // SAFETY: by the contract above.
    Ok(unsafe { std::ptr::read_unaligned(pointer.cast()) })
}
