//! Modules, libraries and the linker of device code. On the CPU device a module is a library, and a function a kernel
//! of one.

use std::ffi::{CStr, c_char, c_void};
use std::fs;

use super::super::library;
use super::*;
use cdp_image::{fatbin, pieces};

type Module = *mut c_void;
type Made = *mut *mut c_void;
type Options = *const u32;
type Values = *const *mut c_void;

/// `CU_JIT_ERROR_LOG_BUFFER` and the option for its bytes.
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;

/// Writes why code does not load where the program asked for it.
///
/// # Safety
/// As many options and values as said, and a buffer as long as they say.
unsafe fn log(message: &str, count: u32, options: Options, values: Values) {
    if options.is_null() || values.is_null() {
        return;
    }
    let mut buffer = std::ptr::null_mut::<u8>();
    let mut room = 0;
    for index in 0..count as usize {
        let (option, value) = unsafe { (*options.add(index), *values.add(index)) };
        match option {
            ERROR_LOG => buffer = value.cast(),
            ERROR_LOG_BYTES => room = value as usize,
            _ => {}
        }
    }
    let Some(most) = room.checked_sub(1).filter(|_| !buffer.is_null()) else { return };
    let shown = &message.as_bytes()[..message.len().min(most)];
    unsafe {
        std::ptr::copy_nonoverlapping(shown.as_ptr(), buffer, shown.len());
        buffer.add(shown.len()).write(0);
    }
}

/// # Safety
/// As for [`library::kept`] and [`log`].
unsafe fn load(
    target: Made,
    code: *const c_void,
    (count, options, values): (u32, Options, Values),
) -> Result<()> {
    given(target)?;
    given(code.cast_mut())?;
    match library::load(unsafe { library::kept(code.cast())? }) {
        Ok(handle) => unsafe { put(target, handle as *mut c_void) },
        Err(error) => {
            unsafe { log(&error.to_string(), count, options, values) };
            Err(error)
        }
    }
}

const NO_OPTIONS: (u32, Options, Values) = (0, std::ptr::null(), std::ptr::null());

driver_functions! {
    Context fn cuModuleLoad(module: Made, path: *const c_char) {
        cudaLibraryLoadFromFile(
            module, path, NO_OPTIONS.1, NO_OPTIONS.2, 0, NO_OPTIONS.1, NO_OPTIONS.2, 0,
        )
    }
    Context fn cuModuleLoadData(module: Made, code: *const c_void) {
        call(|| load(module, code, NO_OPTIONS))
    }
    Context fn cuModuleLoadDataEx(module: Made, code: *const c_void, count: u32, options: Options, values: Values) {
        call(|| load(module, code, (count, options, values)))
    }
    Context fn cuModuleLoadFatBinary(module: Made, code: *const c_void) {
        call(|| load(module, code, NO_OPTIONS))
    }
    Context fn cuModuleUnload(module: Module) { cudaLibraryUnload(module) }
    Start fn cuModuleGetLoadingMode(mode: *mut u32) {
        const LAZY: u32 = 2;
        call(|| put(mode, LAZY))
    }
    Context fn cuModuleGetFunction(function: Made, module: Module, name: *const c_char) {
        cudaLibraryGetKernel(function, module, name)
    }
    Context fn cuModuleGetFunctionCount(count: *mut u32, module: Module) { cudaLibraryGetKernelCount(count, module) }
    Context fn cuModuleEnumerateFunctions(functions: Made, room: u32, module: Module) {
        cudaLibraryEnumerateKernels(functions, room, module)
    }
    Context fn cuFuncGetModule(module: Made, function: *mut c_void) {
        call(|| put(module, library::library_of(function)?))
    }
    Start fn cuLibraryGetKernelCount(count: *mut u32, library: Module) { cudaLibraryGetKernelCount(count, library) }
    Start fn cuLibraryEnumerateKernels(kernels: Made, room: u32, library: Module) {
        cudaLibraryEnumerateKernels(kernels, room, library)
    }
    Start fn cuKernelGetLibrary(library: Made, kernel: *mut c_void) {
        call(|| put(library, library::library_of(kernel)?))
    }
    Context fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: Module, name: *const c_char) {
        cudaLibraryGetGlobal(address.cast(), bytes, module, name)
    }
    Start fn cuLibraryLoadData(
        library: Made, code: *const c_void, options: Options, values: Values, count: u32,
        _library_options: Options, _library_values: Values, _library_count: u32,
    ) {
        call(|| load(library, code, (count, options, values)))
    }
    Start fn cuLibraryLoadFromFile(
        library: Made, path: *const c_char, options: Options, values: Values, count: u32,
        library_options: Options, library_values: Values, library_count: u32,
    ) {
        cudaLibraryLoadFromFile(
            library, path, options, values, count, library_options, library_values, library_count,
        )
    }
    Start fn cuLibraryUnload(library: Module) { cudaLibraryUnload(library) }
    Start fn cuLibraryGetKernel(kernel: Made, library: Module, name: *const c_char) {
        cudaLibraryGetKernel(kernel, library, name)
    }
    Context fn cuLibraryGetModule(module: Made, library: Module) { call(|| put(module, library)) }
    Context fn cuLibraryGetGlobal(address: *mut u64, bytes: *mut usize, library: Module, name: *const c_char) {
        cudaLibraryGetGlobal(address.cast(), bytes, library, name)
    }
    Context fn cuLibraryGetManaged(address: *mut u64, bytes: *mut usize, library: Module, name: *const c_char) {
        cudaLibraryGetManaged(address.cast(), bytes, library, name)
    }
    Context fn cuLinkCreate_v2(_count: u32, _options: Options, _values: Values, state: Made) {
        call(|| {
            let made = Box::new(LinkState { pieces: Vec::new(), whole: Vec::new() });
            given(state)?;
            put(state, Box::into_raw(made).cast())
        })
    }
    Context fn cuLinkAddData_v2(
        state: *mut c_void, kind: u32, data: *mut c_void, bytes: usize, name: *const c_char,
        _count: u32, _options: Options, _values: Values,
    ) {
        call(|| {
            given(data)?;
            let name = if name.is_null() { "a piece" } else { CStr::from_ptr(name).to_str().unwrap_or("a piece") };
            // SAFETY: the caller's promise.
            let data = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) };
            link_state(state)?.add(kind, name, data)
        })
    }
    Context fn cuLinkAddFile_v2(
        state: *mut c_void, kind: u32, path: *const c_char, _count: u32, _options: Options, _values: Values,
    ) {
        call(|| {
            given(path.cast_mut())?;
            let path = CStr::from_ptr(path).to_string_lossy();
            let data = fs::read(&*path).map_err(|error| {
                DeviceError::new(CudaError::FILE_NOT_FOUND, format!("{path}: {error}"))
            })?;
            link_state(state)?.add(kind, &path, &data)
        })
    }
    Context fn cuLinkComplete(state: *mut c_void, code: Made, bytes: *mut usize) {
        call(|| {
            let state = link_state(state)?;
            state.whole = pieces::join(state.pieces.iter().map(Vec::as_slice));
            put(code, state.whole.as_ptr().cast_mut().cast())?;
            if bytes.is_null() { Ok(()) } else { put(bytes, state.whole.len()) }
        })
    }
    Context fn cuLinkDestroy(state: *mut c_void) {
        call(|| {
            given(state)?;
            // SAFETY: made by `cuLinkCreate`, which is the caller's promise.
            drop(unsafe { Box::from_raw(state.cast::<LinkState>()) });
            Ok(())
        })
    }
}

/// What has been given to a linker.
struct LinkState {
    pieces: Vec<Vec<u8>>,
    /// What it has made, for as long as it lives.
    whole: Vec<u8>,
}

/// # Safety
/// Null, or made by `cuLinkCreate` and not destroyed.
unsafe fn link_state<'a>(state: *mut c_void) -> Result<&'a mut LinkState> {
    unsafe { state.cast::<LinkState>().as_mut() }
        .ok_or_else(|| CudaError::INVALID_RESOURCE_HANDLE.into())
}

impl LinkState {
    /// Takes a piece by its `CUjitInputType`.
    fn add(&mut self, kind: u32, name: &str, data: &[u8]) -> Result<()> {
        const PTX: u32 = 1;
        const FAT_BINARY: u32 = 2;
        const LIBRARY: u32 = 4;
        match kind {
            PTX | FAT_BINARY => self.pieces.push(data.to_vec()),
            // The CPU device is the device runtime.
            LIBRARY if name.contains("cudadevrt") => {}
            _ if data.starts_with(&fatbin::MAGIC.to_le_bytes()) => self.pieces.push(data.to_vec()),
            _ => {
                let code = CudaError::NO_KERNEL_IMAGE_FOR_DEVICE;
                stdio::complain(&format!(
                    "{name} is machine code, or a library of it: the CPU device links PTX and fat binaries with PTX"
                ));
                return Err(code.into());
            }
        }
        Ok(())
    }
}
