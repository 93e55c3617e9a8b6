//! The CUDA driver's calls (`cuInit`, `cuModuleLoadData`, `cuLaunchKernel`, ...), for programs that make them
//! beside the runtime's or alone. On a GPU every one is the real driver's: a call goes on to `libcuda` with the
//! arguments that it came with. On the CPU device those listed as done do their work there, and the others are
//! `CUDA_ERROR_NOT_SUPPORTED`.
//!
//! Which device it is, is decided as for the runtime's calls. Handles of streams, events, arrays, graphs and pools are the
//! runtime's on the CPU device; on a GPU those of graphs and pools are not, and must not be mixed.
//!
//! What is not here: green contexts, texture references, and what the runtime's calls refuse too.

mod arrays;
mod copies;
mod device;
mod execution;
mod forward;
mod graphs;
mod lookup;
mod memory;
mod modules;
mod names;
mod stream_memory;
mod streams;
mod tensor_maps;
mod virtual_memory;

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

pub use self::arrays::*;
pub use self::copies::*;
pub use self::device::*;
pub use self::execution::*;
pub use self::forward::*;
pub use self::graphs::*;
pub use self::memory::*;
pub use self::modules::*;
pub use self::stream_memory::*;
pub use self::streams::*;
pub use self::tensor_maps::*;
pub use self::virtual_memory::*;

use super::*;
use crate::device::DeviceKind;
use crate::driver_state::{context, is_initialised};
use crate::error::{CudaError, DeviceError, Result};
use crate::gpu;

/// `CUDA_ERROR_NOT_SUPPORTED`
const NOT_SUPPORTED: u32 = 801;

/// Where a call goes on a GPU: a function of libcuda by its symbol, looked up once.
#[repr(C)]
pub struct Route {
    /// Null until it is known. First, because assembly reads it.
    target: AtomicPtr<c_void>,
    name: &'static CStr,
}

impl Route {
    const fn new(name: &'static str) -> Route {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Route { target: AtomicPtr::new(std::ptr::null_mut()), name },
            Err(_) => panic!("a name without NUL"),
        }
    }

    /// The driver's function, `None` on the CPU device.
    ///
    /// # Errors
    /// What the call returns where there is no device, or where the driver is too old to have it.
    fn target(&self) -> std::result::Result<Option<*mut c_void>, u32> {
        let known = self.target.load(Ordering::Relaxed);
        if !known.is_null() {
            return Ok(Some(known));
        }
        let kind = process::runtime().map_err(|error| driver_code(error.code.0))?.kind();
        if kind == DeviceKind::Cpu {
            return Ok(None);
        }
        crate::driver_state::mixed();
        let found = gpu::driver_symbol(self.name).map_err(|error| driver_code(error.code.0))?;
        match found {
            Some(found) => {
                self.target.store(found, Ordering::Relaxed);
                Ok(Some(found))
            }
            None => Err(NOT_SUPPORTED),
        }
    }
}

/// What must have been done before a call works.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing.
    Nothing,
    /// `cuInit`
    Start,
    /// A context of the calling thread.
    Context,
}

/// Runs a call on the CPU device. The runtime's last error is the runtime's alone.
fn own(needs: Needs, work: impl FnOnce() -> u32) -> u32 {
    const NOT_INITIALIZED: u32 = 3;
    const INVALID_CONTEXT: u32 = 201;
    if needs != Needs::Nothing && !is_initialised() {
        return NOT_INITIALIZED;
    }
    if needs == Needs::Context && context::current() == 0 {
        return INVALID_CONTEXT;
    }
    let before = process::last_error();
    let code = work();
    process::set_last_error(before);
    driver_code(code)
}

/// `CUresult` for a `cudaError_t`: the same number but for errors that only the runtime has.
fn driver_code(code: u32) -> u32 {
    const INVALID_VALUE: u32 = 1;
    const NOT_FOUND: u32 = 500;
    const INVALID_HANDLE: u32 = 400;
    const NO_DEVICE: u32 = 100;
    match code {
        9 | 12 | 16 | 17 | 18..=28 | 32 => INVALID_VALUE,
        13 => NOT_FOUND,
        31 => NOT_SUPPORTED,
        35 => NO_DEVICE,
        37 | 98 => INVALID_HANDLE,
        code => code,
    }
}

/// Functions of the driver that the CPU device has too: what must come before, the declaration of CUDA's manual
/// and what is done. The body is not reached on a GPU.
macro_rules! driver_functions {
    ($($needs:ident fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        mod routes {
            #![allow(non_upper_case_globals)]
            use super::super::Route;
            $(pub static $name: Route = Route::new(concat!(stringify!($name), "\0"));)*
        }

        /// Names and functions of this module.
        pub(super) static OWN: &[(&str, super::Function)] = &[
            $((stringify!($name), super::Function($name as *const ())),)*
        ];

        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
                match routes::$name.target() {
                    Err(code) => code,
                    // SAFETY: the driver's function of that name has this type by its manual.
                    Ok(Some(target)) => unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> u32>(
                            target,
                        )($($arg),*)
                    },
                    Ok(None) => super::own(super::Needs::$needs, || {
                        #[allow(unused_unsafe)]
                        unsafe { $body }
                    }),
                }
            }
        )*
    };
}

/// The variants for files compiled with a default stream for each thread: NULL is that thread's own.
macro_rules! per_thread_variants {
    ($($name:ident = $target:ident($($arg:ident: $ty:ty),*) in $stream:ident;)*) => {
        /// Names and functions of this module's variants.
        pub(super) static PER_THREAD: &[(&str, super::Function)] = &[
            $((stringify!($name), super::Function($name as *const ())),)*
        ];

        $(
            #[doc = concat!("`", stringify!($target), "` in the calling thread's stream.")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
                let $stream = per_thread($stream);
                unsafe { $target($($arg),*) }
            }
        )*
    };
}

/// The variants that wait for the calling thread's stream alone: these wait for all.
macro_rules! waiting_variants {
    ($($name:ident = $target:ident($($arg:ident: $ty:ty),*);)*) => {
        /// Names and functions of this module's variants that wait.
        pub(super) static WAITING: &[(&str, super::Function)] = &[
            $((stringify!($name), super::Function($name as *const ())),)*
        ];

        $(
            #[doc = concat!("`", stringify!($target), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
                unsafe { $target($($arg),*) }
            }
        )*
    };
}

use {driver_functions, per_thread_variants, waiting_variants};

/// The address of a function.
#[derive(Clone, Copy)]
pub(super) struct Function(*const ());

// SAFETY: functions are there for all threads.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// Every function of the driver by its symbol, with whether the CPU device has it.
pub fn functions() -> impl Iterator<Item = (&'static str, bool, *const ())> {
    let own = [
        arrays::OWN,
        arrays::PER_THREAD,
        arrays::WAITING,
        copies::OWN,
        copies::PER_THREAD,
        copies::WAITING,
        device::OWN,
        execution::OWN,
        execution::PER_THREAD,
        graphs::OWN,
        graphs::PER_THREAD,
        graphs::WAITING,
        memory::OWN,
        memory::PER_THREAD,
        memory::WAITING,
        modules::OWN,
        stream_memory::OWN,
        stream_memory::PER_THREAD,
        streams::OWN,
        streams::PER_THREAD,
        tensor_maps::OWN,
        virtual_memory::OWN,
    ];
    let own = own.into_iter().flatten().map(|(name, function)| (*name, true, function.0));
    let described = cuLaunchKernelEx_ptsz as *const ();
    own.chain([("cuLaunchKernelEx_ptsz", true, described)])
        .chain(forward::FORWARDED.iter().map(|(name, function)| (*name, false, function.0)))
}

/// The library's own function for a name and version of CUDA, which the CPU device's programs ask for.
pub(super) fn by_name(name: &str, version: u32, per_thread: bool) -> Option<*const ()> {
    lookup::find(name, version, per_thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_the_runtime_alone_become_the_drivers() {
        assert_eq!(driver_code(1), 1);
        assert_eq!(driver_code(9), 1);
        assert_eq!(driver_code(13), 500);
        assert_eq!(driver_code(700), 700);
        for code in 0..1000 {
            let named = names::name_of(code).is_some();
            let runtime_has = CudaError(code).name() != CudaError(5000).name();
            let translated = names::name_of(driver_code(code)).is_some();
            // What only the runtime's own calls can return stays as it is.
            let never = [43, 44, 45, 49, 52, 53, 65, 66, 67, 68, 69, 103, 127];
            assert!(named || !runtime_has || translated || never.contains(&code), "{code}");
        }
    }
}
