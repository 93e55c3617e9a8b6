//! What objects of nvcc and clang call before `main` and in their launch stubs: registration of fat
//! binaries, kernels and variables, and the configuration of a launch on its way from `<<<>>>` to the stub.
//!
//! The prototypes are those of CUDA 13.0's `crt/host_runtime.h`; objects of CUDA 11 and 12 call a subset.
//! Nothing is loaded here but managed variables, whose address host code asks for.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::kernel::Dim3;
use super::{call, given, put};
use crate::abi::{self, WRAPPER_MAGIC, Wrapper, container, string};
use crate::error::{CudaError, Result};
use crate::registry::{self, Home, ImageRecord, KernelRecord, Ptx, VariableRecord};
use cdp_image::fatbin;

use crate::{process, stdio};

const WITH_MEMBERS: u32 = 2;

/// What a handle points to. It lives as long as the process, because libraries unregister late.
struct Handle {
    image: usize,
}

/// # Safety
/// The wrapper is one that a CUDA compiler made.
unsafe fn image(wrapper: &Wrapper) -> Option<ImageRecord> {
    if wrapper.magic != WRAPPER_MAGIC {
        return None;
    }
    // SAFETY: the caller's promise, here and below.
    let machine_code = unsafe { container(wrapper.data) }?;
    let mut containers = Vec::new();
    if wrapper.version == WITH_MEMBERS && !wrapper.members.is_null() {
        let mut next = wrapper.members;
        while let Some(member) = unsafe { container(*next) } {
            containers.push(member);
            next = unsafe { next.add(1) };
        }
    }
    // A device link that made PTX (for a GPU to come) says more than its members.
    let linked = fatbin::architectures(machine_code, fatbin::EntryKind::Ptx);
    if containers.is_empty() || !linked.is_empty() {
        containers = vec![machine_code];
    }
    Some(ImageRecord { machine_code, ptx: Ptx { fatbins: containers, ..Ptx::default() } })
}

/// Records the device code of a program, a library or (without relocatable device code) a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const Wrapper) -> *mut *mut c_void {
    let work = || {
        // SAFETY: compiled code passes a wrapper of its own.
        let record = unsafe { wrapper.as_ref().and_then(|wrapper| image(wrapper)) };
        let record = record.unwrap_or_else(|| {
            stdio::complain("the program registers device code in a form that is not known");
            ImageRecord { machine_code: &[], ptx: Ptx::default() }
        });
        let handle = Box::leak(Box::new(Handle { image: registry::add_image(record) }));
        std::ptr::from_mut(handle).cast()
    };
    catch_unwind(work).unwrap_or(std::ptr::null_mut())
}

/// Registers a unit of relocatable device code that was linked into an image of our own: its objects'
/// constructor calls this through `__cudaRegisterLinkedBinary<id>`, before or after the image's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cdp_register_linked(
    image: *const abi::Image,
    callback: Option<unsafe extern "C" fn(*mut *mut c_void)>,
) {
    let work = || {
        // SAFETY: compiled code passes an image that lives as long as the process.
        let image = unsafe { super::own_image(image) }?;
        Some(std::ptr::from_mut(Box::leak(Box::new(Handle { image }))).cast())
    };
    if let (Ok(Some(handle)), Some(callback)) = (catch_unwind(work), callback) {
        // SAFETY: the unit's own function, which registers with the handle. Outside of our own unwinding.
        unsafe { callback(handle) };
    }
}

/// All of a fat binary's kernels and variables have been registered.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// Number of the image behind a handle.
///
/// # Safety
/// The handle is null or one of [`__cudaRegisterFatBinary`].
unsafe fn number(handle: *mut *mut c_void) -> Option<usize> {
    // SAFETY: the caller's promise.
    unsafe { handle.cast::<Handle>().as_ref() }.map(|handle| handle.image)
}

/// Where what is registered with a handle is looked for.
///
/// # Safety
/// As for [`number`].
unsafe fn home(handle: *mut *mut c_void) -> Home {
    // SAFETY: the caller's promise.
    unsafe { number(handle) }.map_or(Home::Anywhere, Home::First)
}

/// Forgets the device code of a library that is being unloaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    let _ = catch_unwind(|| {
        // SAFETY: compiled code passes the handle that it was given.
        if let Some(image) = unsafe { number(handle) } {
            process::unregister_image(image);
        }
    });
}

/// Records a kernel: what host code uses as its address, and its symbol.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    host: *const c_char,
    _device: *mut c_char,
    name: *const c_char,
    _thread_limit: i32,
    _thread_index: *mut c_void,
    _block_index: *mut c_void,
    _block: *mut c_void,
    _grid: *mut c_void,
    _warp_size: *mut i32,
) {
    let _ = catch_unwind(|| {
        // SAFETY: compiled code passes its handle and a string of its own.
        let (home, symbol) = unsafe { (home(handle), string(name)) };
        let record = KernelRecord { symbol, home, param_sizes: None };
        registry::add_names([(host as usize, record)].into_iter(), [].into_iter());
    });
}

/// # Safety
/// As for the registering functions.
unsafe fn variable(handle: *mut *mut c_void, shadow: usize, name: *const c_char, managed: bool) {
    let _ = catch_unwind(|| {
        // SAFETY: compiled code passes its handle and a string of its own.
        let (home, symbol) = unsafe { (home(handle), string(name)) };
        let record = VariableRecord { symbol, home, managed };
        registry::add_names([].into_iter(), [(shadow, record)].into_iter());
    });
}

/// Records a `__device__` or `__constant__` variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    host: *mut c_char,
    _device: *mut c_char,
    name: *const c_char,
    _external: i32,
    _bytes: usize,
    _constant: i32,
    _global: i32,
) {
    unsafe { variable(handle, host as usize, name, false) }
}

/// Records a variable that host code reads under its own name as well, which no compiler of today makes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterHostVar(
    handle: *mut *mut c_void,
    name: *const c_char,
    host: *mut c_char,
    _bytes: usize,
) {
    unsafe { variable(handle, host as usize, name, false) }
}

/// Records a `__managed__` variable: `host` is the pointer through which host code reaches it, once
/// [`__cudaInitModule`] has set it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    host: *mut *mut c_void,
    _device: *mut c_char,
    name: *const c_char,
    _external: i32,
    _bytes: usize,
    _constant: i32,
    _global: i32,
) {
    unsafe { variable(handle, host as usize, name, true) }
}

/// Texture references are gone since CUDA 12; clang still declares this for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterTexture(
    _handle: *mut *mut c_void,
    _host: *const c_void,
    _device: *const *const c_void,
    name: *const c_char,
    _dimensions: i32,
    _normalized: i32,
    _external: i32,
) {
    refuse_reference("texture", name);
}

/// As [`__cudaRegisterTexture`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterSurface(
    _handle: *mut *mut c_void,
    _host: *const c_void,
    _device: *const *const c_void,
    name: *const c_char,
    _dimensions: i32,
    _external: i32,
) {
    refuse_reference("surface", name);
}

fn refuse_reference(what: &str, name: *const c_char) {
    let name = match name.is_null() {
        true => "",
        // SAFETY: compiled code passes a string of its own.
        false => unsafe { CStr::from_ptr(name) }.to_str().unwrap_or(""),
    };
    stdio::complain(&format!(
        "`{name}` is a {what} reference, which CUDA has not had since version 12: use a {what} object"
    ));
}

/// Gives the managed variables of an image their places, before host code first reads one; without a handle,
/// those that were registered without one. Not 0 if all is well.
///
/// Those of other images too, as far as they can be had: a file may use a variable that another one registers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaInitModule(handle: *mut *mut c_void) -> c_char {
    let work = || -> Result<()> {
        // SAFETY: compiled code passes the handle that it was given.
        let image = unsafe { number(handle) };
        let (own, others): (Vec<_>, Vec<_>) = registry::with(|registry| {
            let managed = registry.variables.iter().filter(|(_, known)| known.managed);
            managed.map(|(at, known)| (*at, known.home.image() == image)).partition(|known| known.1)
        });
        for (pointer, _) in own {
            place_managed(pointer)?;
        }
        for (pointer, _) in others {
            let _ = place_managed(pointer);
        }
        Ok(())
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => 1,
        Ok(Err(error)) => {
            stdio::complain(&format!(
                "the program's __managed__ variables have no memory: {error}"
            ));
            process::set_last_error(error.code);
            0
        }
        Err(_) => 0,
    }
}

/// Sets the pointer through which host code reaches a managed variable.
fn place_managed(pointer: usize) -> Result<()> {
    let (address, _) = process::current()?.variable(pointer)?;
    // SAFETY: the pointer that host code registered for the variable.
    unsafe { (pointer as *mut *mut c_void).write(address as *mut c_void) };
    Ok(())
}

/// The configuration of a launch between `<<<>>>` and the stub.
#[derive(Clone, Copy)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: *mut c_void,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a launch's configuration for the stub that is called next.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: *mut c_void,
) -> u32 {
    call(|| {
        let configuration = Configuration { grid, block, shared_bytes, stream };
        CONFIGURATIONS.with_borrow_mut(|all| all.push(configuration));
        Ok(())
    })
}

/// Hands the kept configuration to the stub.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared_bytes: *mut usize,
    stream: *mut *mut c_void,
) -> u32 {
    call(|| {
        given(grid)?;
        given(block)?;
        given(shared_bytes)?;
        given(stream)?;
        let kept = CONFIGURATIONS.with_borrow_mut(Vec::pop);
        let kept = kept.ok_or(CudaError::MISSING_CONFIGURATION)?;
        // SAFETY: valid targets, as the stub passes them.
        unsafe {
            put(grid, kept.grid)?;
            put(block, kept.block)?;
            put(shared_bytes, kept.shared_bytes)?;
            put(stream, kept.stream)
        }
    })
}

/// The kernel of a host function. A kernel is known by its host function here, so that this cannot fail,
/// and nothing has to be loaded before it is launched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaGetKernel(kernel: *mut *mut c_void, host: *const c_void) -> u32 {
    call(|| unsafe { put(kernel, host.cast_mut()) })
}

/// Launches a kernel that [`__cudaGetKernel`] gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaLaunchKernel(
    kernel: *mut c_void,
    grid: Dim3,
    block: Dim3,
    args: *mut *mut c_void,
    shared_bytes: usize,
    stream: *mut c_void,
) -> u32 {
    unsafe { super::cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream) }
}

/// As [`__cudaLaunchKernel`] in files compiled with a default stream for each thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaLaunchKernel_ptsz(
    kernel: *mut c_void,
    grid: Dim3,
    block: Dim3,
    args: *mut *mut c_void,
    shared_bytes: usize,
    stream: *mut c_void,
) -> u32 {
    let stream = super::per_thread(stream);
    unsafe { super::cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream) }
}
