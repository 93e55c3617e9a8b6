//! Libraries of device code that a program loads while it runs: PTX, cubins and fat binaries.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

use super::{call, given, offer, put};
use crate::abi;
use crate::error::{CudaError, DeviceError, Result};
use crate::registry::{self, Home, ImageRecord, KernelRecord, Ptx};
use cdp_image::cubin::ELF_MAGIC;
use cdp_image::{fatbin, pieces};

use crate::process;

/// What is loaded: the number of a library's image by its handle, and the kernels that were asked for.
#[derive(Default)]
struct Libraries {
    images: HashMap<u64, usize>,
    kernels: HashMap<(u64, String), u64>,
    made: u64,
}

static LIBRARIES: Mutex<Option<Libraries>> = Mutex::new(None);

fn with<T>(work: impl FnOnce(&mut Libraries) -> Result<T>) -> Result<T> {
    let mut all = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    work(all.get_or_insert_with(Libraries::default))
}

fn image_of(library: *mut c_void) -> Result<usize> {
    let found = with(|all| Ok(all.images.get(&(library as u64)).copied()))?;
    found.ok_or_else(|| CudaError::INVALID_RESOURCE_HANDLE.into())
}

/// The bytes of device code that says itself how long it is; they must outlive the library, so that they
/// are copied and kept.
///
/// # Safety
/// `code` points to a whole cubin, a whole fat binary or PTX with a NUL at its end.
pub(super) unsafe fn kept(code: *const u8) -> Result<&'static [u8]> {
    const HEADER_BYTES: usize = 64;
    // SAFETY: the caller's promise, here and below: the first bytes of each form are there.
    let begins =
        |magic: &[u8]| magic.iter().enumerate().all(|(at, byte)| unsafe { *code.add(at) } == *byte);
    let invalid = || DeviceError::from(CudaError::INVALID_KERNEL_IMAGE);
    let code = if begins(&ELF_MAGIC) {
        let header = unsafe { std::slice::from_raw_parts(code, HEADER_BYTES) };
        let short = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let sections = header[0x28..0x30].try_into().map(u64::from_le_bytes).unwrap_or(0);
        // nvlink and ptxas put the table of sections behind them.
        let bytes = sections.checked_add(short(0x3A) * short(0x3C)).ok_or_else(invalid)?;
        let bytes = usize::try_from(bytes).map_err(|_| invalid())?;
        unsafe { std::slice::from_raw_parts(code, bytes) }
    } else if begins(&fatbin::MAGIC.to_le_bytes()) {
        unsafe { abi::container(code) }.ok_or_else(invalid)?
    } else if begins(pieces::MAGIC) {
        unsafe { abi::block(code) }.ok_or_else(invalid)?
    } else {
        unsafe { CStr::from_ptr(code.cast()) }.to_bytes_with_nul()
    };
    Ok(Vec::leak(code.to_vec()))
}

fn record(code: &'static [u8]) -> ImageRecord {
    if code.starts_with(&fatbin::MAGIC.to_le_bytes()) {
        return ImageRecord {
            machine_code: code,
            ptx: Ptx { fatbins: vec![code], ..Ptx::default() },
        };
    }
    if code.starts_with(&ELF_MAGIC) {
        return ImageRecord { machine_code: code, ptx: Ptx::default() };
    }
    let pieces = if code.starts_with(pieces::MAGIC) { pieces::pieces(code) } else { vec![code] };
    let without_nul = |piece: &'static [u8]| match fatbin::is_fatbin(piece) {
        true => piece,
        false => piece.strip_suffix(&[0]).unwrap_or(piece),
    };
    let texts = pieces.into_iter().map(without_nul).collect();
    ImageRecord { machine_code: &[], ptx: Ptx { texts, ..Ptx::default() } }
}

pub(super) fn load(code: &'static [u8]) -> Result<u64> {
    let image = registry::add_image(record(code));
    // What is wrong with the code is said now.
    if let Err(error) = process::current()?.load_image(image) {
        process::unregister_image(image);
        return Err(error);
    }
    with(|all| {
        all.made += 16;
        let handle = 0x2000_0000 + all.made;
        all.images.insert(handle, image);
        Ok(handle)
    })
}

/// `cudaLibraryLoadData`. Options of the just-in-time compiler are not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLibraryLoadData(
    library: *mut *mut c_void,
    code: *const c_void,
    _jit_options: *const u32,
    _jit_values: *const *mut c_void,
    _jit_count: u32,
    _options: *const u32,
    _values: *const *mut c_void,
    _count: u32,
) -> u32 {
    call(|| {
        given(library)?;
        given(code.cast_mut())?;
        let handle = load(unsafe { kept(code.cast())? })?;
        unsafe { put(library, handle as *mut c_void) }
    })
}

/// `cudaLibraryLoadFromFile`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLibraryLoadFromFile(
    library: *mut *mut c_void,
    path: *const c_char,
    _jit_options: *const u32,
    _jit_values: *const *mut c_void,
    _jit_count: u32,
    _options: *const u32,
    _values: *const *mut c_void,
    _count: u32,
) -> u32 {
    call(|| {
        given(library)?;
        given(path.cast_mut())?;
        // SAFETY: a string, as CUDA demands of the caller.
        let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
        let mut code = std::fs::read(&*path).map_err(|error| {
            DeviceError::new(CudaError::FILE_NOT_FOUND, format!("{path}: {error}"))
        })?;
        code.push(0);
        let handle = load(Vec::leak(code))?;
        unsafe { put(library, handle as *mut c_void) }
    })
}

/// `cudaLibraryUnload`
#[unsafe(no_mangle)]
pub extern "C" fn cudaLibraryUnload(library: *mut c_void) -> u32 {
    call(|| {
        let image = image_of(library)?;
        with(|all| {
            all.images.remove(&(library as u64));
            all.kernels.retain(|(of, _), _| *of != library as u64);
            Ok(())
        })?;
        process::unregister_image(image);
        Ok(())
    })
}

unsafe fn name_of(name: *const c_char) -> Result<String> {
    given(name.cast_mut())?;
    // SAFETY: a string, as CUDA demands of the caller.
    Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

/// `cudaLibraryGetKernel`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLibraryGetKernel(
    kernel: *mut *mut c_void,
    library: *mut c_void,
    name: *const c_char,
) -> u32 {
    call(|| {
        given(kernel)?;
        let found = self::kernel(library, unsafe { name_of(name)? })?;
        unsafe { put(kernel, found) }
    })
}

/// The handle of a library's kernel by its name.
pub(super) fn kernel(library: *mut c_void, name: String) -> Result<*mut c_void> {
    let image = image_of(library)?;
    let key = (library as u64, name);
    if let Some(handle) = with(|all| Ok(all.kernels.get(&key).copied()))? {
        return Ok(handle as *mut c_void);
    }
    // An address that no function has.
    let handle = Box::leak(Box::new(0u8)) as *const u8 as u64;
    let symbol: &'static str = String::leak(key.1.clone());
    let record = KernelRecord { symbol, home: Home::Only(image), param_sizes: None };
    registry::add_names([(handle as usize, record)].into_iter(), [].into_iter());
    process::current()?.kernel(handle as usize)?;
    with(|all| {
        all.kernels.insert(key, handle);
        Ok(handle as *mut c_void)
    })
}

fn kernel_names(library: *mut c_void) -> Result<Vec<String>> {
    process::current()?.kernel_names_in(image_of(library)?)
}

/// The library of a kernel's handle.
pub(super) fn library_of(kernel: *mut c_void) -> Result<*mut c_void> {
    let all = |all: &mut Libraries| {
        let found = all.kernels.iter().find(|(_, handle)| **handle == kernel as u64);
        Ok(found.map(|((library, _), _)| *library as *mut c_void))
    };
    with(all)?.ok_or_else(|| CudaError::INVALID_RESOURCE_HANDLE.into())
}

/// `cudaLibraryGetKernelCount`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLibraryGetKernelCount(count: *mut u32, library: *mut c_void) -> u32 {
    call(|| unsafe { put(count, kernel_names(library)?.len() as u32) })
}

/// `cudaLibraryEnumerateKernels`: as many as there is room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLibraryEnumerateKernels(
    kernels: *mut *mut c_void,
    room: u32,
    library: *mut c_void,
) -> u32 {
    call(|| {
        given(kernels)?;
        for (index, name) in kernel_names(library)?.into_iter().take(room as usize).enumerate() {
            let found = kernel(library, name)?;
            // SAFETY: room for as many as the caller says.
            unsafe { kernels.add(index).write(found) };
        }
        Ok(())
    })
}

/// `cudaLibraryGetGlobal`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLibraryGetGlobal(
    address: *mut *mut c_void,
    bytes: *mut usize,
    library: *mut c_void,
    name: *const c_char,
) -> u32 {
    call(|| {
        let image = image_of(library)?;
        let name = unsafe { name_of(name)? };
        let (place, size) = process::current()?.variable_in(image, &name)?;
        // Either may be null, by the manual.
        unsafe {
            offer(address, place as *mut c_void);
            offer(bytes, size as usize);
        }
        Ok(())
    })
}

/// `cudaLibraryGetManaged`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLibraryGetManaged(
    address: *mut *mut c_void,
    bytes: *mut usize,
    library: *mut c_void,
    name: *const c_char,
) -> u32 {
    unsafe { cudaLibraryGetGlobal(address, bytes, library, name) }
}
