//! The CUDA driver's functions, loaded from `libcuda` when first asked for.
//!
//! The functions are declared here with plain integers where cudarc's bindings have Rust enums, because
//! a driver newer than the bindings returns results and takes attributes that those enums do not have.
//! The library is opened here too, once: cudarc opens it to see whether it is there, closes it and opens
//! it again, and cuda-gdb, which marks the library as debugged when it first sees it, then debugs a
//! copy that is gone (seen with cuda-gdb 13.0 on an H200: no breakpoint in device code was ever hit).
//! Nothing here interprets a result.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys;

use super::nodes::{DriverHostNode, DriverKernelNode, DriverSet};
use crate::device::{LaunchAttribute, Location};
use crate::driver_array::{ArrayDescriptor, DriverResource, DriverTexture};
use crate::driver_copy::Cuboid;
use crate::error::{CudaError, DeviceError, Result};

/// `CUresult` as a number.
pub type CUresult = u32;
/// `CUdeviceptr`
pub type CUdeviceptr = u64;
/// `CUcontext`, `CUmodule`, `CUfunction`, `CUstream`, `CUevent`.
pub type Handle = *mut c_void;

/// `CUlaunchConfig`
#[repr(C)]
pub struct DriverLaunch {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub stream: Handle,
    pub attributes: *const LaunchAttribute,
    pub attribute_count: c_uint,
}

/// The driver's own name for its library, then the one of a machine set up for building.
const LIBRARY_NAMES: [&CStr; 2] = [c"libcuda.so.1", c"libcuda.so"];

/// libcuda, which stays in the process to its end.
struct Library(*mut c_void);

// SAFETY: what `dlopen` returns is for all threads.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    fn open() -> Option<Library> {
        let open = |name: &CStr| {
            // SAFETY: a NUL-terminated name. Opening libcuda runs its initialisers, which any CUDA
            // program relies on.
            unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) }
        };
        let opened = LIBRARY_NAMES.into_iter().map(open).map(Library);
        // This library may lie in the driver's place, for programs that want one where there is none.
        let is_drivers = |library: &Library| {
            let start = library.symbol(c"cuInit");
            !library.0.is_null() && start != Some(crate::capi::cuInit as *mut c_void)
        };
        opened.into_iter().find(is_drivers)
    }

    fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: an open library and a NUL-terminated name.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }
}

/// A name as C has it; compile-time only.
const fn c_name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name without NUL"),
    }
}

macro_rules! driver_functions {
    ($($name:ident($($ty:ty),*);)*) => {
        /// The loaded functions, named as in the driver.
        #[allow(non_snake_case, missing_docs)]
        pub struct Driver {
            library: Library,
            $(pub $name: unsafe extern "C" fn($($ty),*) -> CUresult,)*
        }

        impl Driver {
            fn load() -> Result<Driver> {
                let Some(library) = Library::open() else {
                    return Err(DeviceError::new(
                        CudaError::INSUFFICIENT_DRIVER,
                        "the CUDA driver (libcuda.so) is not installed or cannot be loaded",
                    ));
                };
                Ok(Driver {
                    $($name: {
                        const NAME: &CStr = c_name(concat!(stringify!($name), "\0"));
                        match library.symbol(NAME) {
                            // SAFETY: the type is that of the driver manual's declaration.
                            Some(function) => unsafe {
                                std::mem::transmute::<
                                    *mut c_void,
                                    unsafe extern "C" fn($($ty),*) -> CUresult,
                                >(function)
                            },
                            None => return Err(DeviceError::new(
                                CudaError::INSUFFICIENT_DRIVER,
                                concat!("the CUDA driver is too old: it has no ", stringify!($name)),
                            )),
                        }
                    },)*
                    library,
                })
            }
        }
    };
}

// Declarations: CUDA driver manual 13.0, sections "Device Management" to "Occupancy".
driver_functions! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut i32);
    cuDeviceGetCount(*mut i32);
    cuDeviceGet(*mut i32, i32);
    cuDeviceGetName(*mut c_char, i32, i32);
    cuDeviceGetUuid_v2(*mut [u8; 16], i32);
    cuDeviceGetAttribute(*mut i32, c_uint, i32);
    cuDevicePrimaryCtxRetain(*mut Handle, i32);
    cuDevicePrimaryCtxReset_v2(i32);
    cuCtxSetCurrent(Handle);
    cuCtxGetCurrent(*mut Handle);
    cuCtxGetDevice(*mut i32);
    cuCtxSynchronize();
    cuCtxGetLimit(*mut usize, c_uint);
    cuCtxSetLimit(c_uint, usize);
    cuCtxGetCacheConfig(*mut c_uint);
    cuCtxSetCacheConfig(c_uint);
    cuCtxGetStreamPriorityRange(*mut i32, *mut i32);
    cuModuleLoadDataEx(*mut Handle, *const c_void, c_uint, *mut c_uint, *mut *mut c_void);
    cuModuleUnload(Handle);
    cuModuleGetFunction(*mut Handle, Handle, *const c_char);
    cuModuleGetGlobal_v2(*mut CUdeviceptr, *mut usize, Handle, *const c_char);
    cuFuncGetAttribute(*mut i32, c_uint, Handle);
    cuFuncSetAttribute(Handle, c_uint, i32);
    cuFuncGetParamInfo(Handle, usize, *mut usize, *mut usize);
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(*mut i32, Handle, i32, usize, c_uint);
    cuOccupancyMaxActiveClusters(*mut i32, Handle, *const DriverLaunch);
    cuOccupancyMaxPotentialClusterSize(*mut i32, Handle, *const DriverLaunch);
    cuLaunchKernelEx(*const DriverLaunch, Handle, *mut *mut c_void, *mut *mut c_void);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemAllocPitch_v2(*mut CUdeviceptr, *mut usize, usize, usize, c_uint);
    cuMemAllocManaged(*mut CUdeviceptr, usize, c_uint);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFree_v2(CUdeviceptr);
    cuMemFreeHost(*mut c_void);
    cuMemHostRegister_v2(*mut c_void, usize, c_uint);
    cuMemHostUnregister(*mut c_void);
    cuMemHostGetFlags(*mut c_uint, *mut c_void);
    cuMemAdvise_v2(CUdeviceptr, usize, c_uint, Location);
    cuMemPrefetchAsync_v2(CUdeviceptr, usize, Location, c_uint, Handle);
    cuMemRangeGetAttribute(*mut c_void, usize, c_uint, CUdeviceptr, usize);
    cuGetProcAddress_v2(*const c_char, *mut *mut c_void, i32, u64, *mut c_uint);
    cuPointerGetAttribute(*mut c_void, c_uint, CUdeviceptr);
    cuMemcpy(CUdeviceptr, CUdeviceptr, usize);
    cuMemcpyAsync(CUdeviceptr, CUdeviceptr, usize, Handle);
    cuMemcpyHtoD_v2(CUdeviceptr, *const c_void, usize);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, Handle);
    cuMemcpyDtoH_v2(*mut c_void, CUdeviceptr, usize);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, Handle);
    cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, usize);
    cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, Handle);
    cuMemcpy2DUnaligned_v2(*const sys::CUDA_MEMCPY2D);
    cuMemcpy2DAsync_v2(*const sys::CUDA_MEMCPY2D, Handle);
    cuMemcpy3D_v2(*const Cuboid);
    cuMemcpy3DAsync_v2(*const Cuboid, Handle);
    cuArray3DCreate_v2(*mut Handle, *const ArrayDescriptor);
    cuArray3DGetDescriptor_v2(*mut ArrayDescriptor, Handle);
    cuArrayDestroy(Handle);
    cuMipmappedArrayCreate(*mut Handle, *const ArrayDescriptor, u32);
    cuMipmappedArrayDestroy(Handle);
    cuMipmappedArrayGetLevel(*mut Handle, Handle, u32);
    cuTexObjectCreate(*mut u64, *const DriverResource, *const DriverTexture, *const c_void);
    cuTexObjectDestroy(u64);
    cuSurfObjectCreate(*mut u64, *const DriverResource);
    cuSurfObjectDestroy(u64);
    cuMemsetD8_v2(CUdeviceptr, u8, usize);
    cuMemsetD8Async(CUdeviceptr, u8, usize, Handle);
    cuMemsetD2D8_v2(CUdeviceptr, usize, u8, usize, usize);
    cuMemsetD2D8Async(CUdeviceptr, usize, u8, usize, usize, Handle);
    cuStreamCreateWithPriority(*mut Handle, c_uint, i32);
    cuStreamDestroy_v2(Handle);
    cuStreamSynchronize(Handle);
    cuStreamQuery(Handle);
    cuStreamWaitEvent(Handle, Handle, c_uint);
    cuStreamAddCallback(
        Handle, unsafe extern "C" fn(Handle, CUresult, *mut c_void), *mut c_void, c_uint
    );
    cuStreamGetFlags(Handle, *mut c_uint);
    cuStreamGetPriority(Handle, *mut i32);
    cuGraphCreate(*mut Handle, c_uint);
    cuGraphDestroy(Handle);
    cuGraphAddEmptyNode(*mut Handle, Handle, *const Handle, usize);
    cuGraphAddKernelNode_v2(*mut Handle, Handle, *const Handle, usize, *const DriverKernelNode);
    cuGraphKernelNodeSetAttribute(Handle, c_uint, *const [u64; 8]);
    cuGraphAddMemcpyNode(*mut Handle, Handle, *const Handle, usize, *const Cuboid, Handle);
    cuGraphAddMemsetNode(*mut Handle, Handle, *const Handle, usize, *const DriverSet, Handle);
    cuGraphAddHostNode(*mut Handle, Handle, *const Handle, usize, *const DriverHostNode);
    cuGraphKernelNodeSetParams_v2(Handle, *const DriverKernelNode);
    cuGraphMemcpyNodeSetParams(Handle, *const Cuboid);
    cuGraphMemsetNodeSetParams(Handle, *const DriverSet);
    cuGraphHostNodeSetParams(Handle, *const DriverHostNode);
    cuGraphAddEventRecordNode(*mut Handle, Handle, *const Handle, usize, Handle);
    cuGraphAddEventWaitNode(*mut Handle, Handle, *const Handle, usize, Handle);
    cuGraphEventRecordNodeSetEvent(Handle, Handle);
    cuGraphEventWaitNodeSetEvent(Handle, Handle);
    cuGraphNodeSetEnabled(Handle, Handle, c_uint);
    cuGraphDestroyNode(Handle);
    cuGraphInstantiateWithFlags(*mut Handle, Handle, u64);
    cuGraphExecUpdate_v2(Handle, Handle, *mut [u64; 3]);
    cuGraphExecDestroy(Handle);
    cuGraphUpload(Handle, Handle);
    cuGraphLaunch(Handle, Handle);
    cuEventCreate(*mut Handle, c_uint);
    cuEventDestroy_v2(Handle);
    cuEventRecordWithFlags(Handle, Handle, c_uint);
    cuEventSynchronize(Handle);
    cuEventQuery(Handle);
    cuEventElapsedTime_v2(*mut f32, Handle, Handle);
}

/// The driver, initialised; the reason if there is none. Found out once in a process.
pub fn driver() -> Result<&'static Driver> {
    static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();
    let loaded = DRIVER.get_or_init(|| {
        let driver = Driver::load()?;
        // SAFETY: no arguments to get wrong.
        let status = unsafe { (driver.cuInit)(0) };
        match status {
            0 => Ok(driver),
            100 => Err(DeviceError::new(CudaError::NO_DEVICE, "the CUDA driver finds no GPU")),
            status => Err(DeviceError::new(
                runtime_error(status),
                format!("the CUDA driver does not start: cuInit returned {status}"),
            )),
        }
    });
    loaded.as_ref().map_err(Clone::clone)
}

/// A function of the driver by its symbol, `None` if it has none of that name.
///
/// # Errors
/// Why there is no driver.
pub fn driver_symbol(name: &CStr) -> Result<Option<*mut c_void>> {
    Ok(driver()?.library.symbol(name))
}

/// The runtime's code for a driver result. They agree but for a few (runtime manual, `cudaError_t`).
pub fn runtime_error(status: CUresult) -> CudaError {
    match status {
        // CUDA_ERROR_INVALID_CONTEXT is cudaErrorDeviceUninitialized, same number; NOT_FOUND is
        // cudaErrorSymbolNotFound, same number. 101 and the rest agree too.
        known if CudaError(known).name() != CudaError(u32::MAX).name() => CudaError(known),
        _ => CudaError::UNKNOWN,
    }
}

/// Turns a driver result into a [`Result`].
pub fn check(status: CUresult) -> Result<()> {
    match status {
        0 => Ok(()),
        status => Err(runtime_error(status).into()),
    }
}
