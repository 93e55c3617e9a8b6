//! What compiled code hands over before `main`: the tables of a translation unit's kernels and
//! variables, and the device code of the program. The layouts are an agreement with the compiler's
//! host-object emission; a change raises the `version` there and here.

use std::ffi::{CStr, c_char, c_void};

use cdp_image::{fatbin, pieces};

use crate::registry::{Home, ImageRecord, KernelRecord, Ptx, VariableRecord};

/// Version of [`Unit`] and what it holds.
pub const VERSION: u32 = 1;
/// Version of [`Image`].
pub const IMAGE_VERSION: u32 = 3;

/// The kernels and variables of one translation unit.
#[repr(C)]
pub struct Unit {
    /// [`VERSION`]
    pub version: u32,
    /// Elements of `kernels`.
    pub kernel_count: u32,
    /// Kernels that host code can launch.
    pub kernels: *const Kernel,
    /// Elements of `variables`.
    pub variable_count: u32,
    /// 0
    pub pad: u32,
    /// Variables that host code can name.
    pub variables: *const Variable,
}

/// A kernel as host code sees it.
#[repr(C)]
pub struct Kernel {
    /// What host code uses as the kernel's address; unique in the process.
    pub handle: *const c_void,
    /// Symbol in the device code.
    pub symbol: *const c_char,
    /// Number of parameters.
    pub param_count: u32,
    /// 0
    pub pad: u32,
    /// Offset of each parameter in the parameter buffer.
    pub param_offsets: *const u32,
    /// Bytes of each parameter.
    pub param_sizes: *const u32,
}

/// The variable is `__constant__`.
pub const VARIABLE_CONSTANT: u32 = 1;
/// The variable is `__managed__`.
pub const VARIABLE_MANAGED: u32 = 2;

/// A device variable as host code sees it.
#[repr(C)]
pub struct Variable {
    /// What host code uses as the variable's address; unique in the process.
    pub host_shadow: *mut c_void,
    /// Symbol in the device code.
    pub symbol: *const c_char,
    /// Size.
    pub bytes: u64,
    /// [`VARIABLE_CONSTANT`], [`VARIABLE_MANAGED`].
    pub flags: u32,
    /// 0
    pub pad: u32,
}

/// The device code of a program.
#[repr(C)]
pub struct Image {
    /// [`IMAGE_VERSION`]
    pub version: u32,
    /// Elements of `linked`.
    pub linked_count: u32,
    /// A block of [`pieces`]: a linked cubin or a fatbin of such, empty if there is none; then the PTX of every
    /// translation unit, for the CPU device, which links them.
    pub code: *const u8,
    /// The wrappers of the units of other compilers that the cubin was linked from as well.
    pub linked: *const *const Wrapper,
}

/// `__fatBinC_Wrapper_t` of CUDA's `fatbinary_section.h`.
#[repr(C)]
pub struct Wrapper {
    /// [`WRAPPER_MAGIC`]
    pub magic: u32,
    /// 1, or 2 with `members`.
    pub version: u32,
    /// A fat binary.
    pub data: *const u8,
    /// Version 2: the fat binaries of the relocatable objects that `data` was linked from, up to a null.
    pub members: *const *const u8,
}

/// What a [`Wrapper`] begins with.
pub const WRAPPER_MAGIC: u32 = 0x4662_43B1;

/// A whole fat binary.
///
/// # Safety
/// `data` is null or points to bytes that live as long as what is made of them here and are as many as their header says.
pub(crate) unsafe fn container(data: *const u8) -> Option<&'static [u8]> {
    // SAFETY: the caller's promise.
    unsafe { whole(data, fatbin::claimed_bytes) }
}

/// A whole block of [`pieces`].
///
/// # Safety
/// As for [`container`].
pub(crate) unsafe fn block(data: *const u8) -> Option<&'static [u8]> {
    // SAFETY: the caller's promise.
    unsafe { whole(data, pieces::claimed_bytes) }
}

/// All bytes of what says itself in its first 16 how many it has.
///
/// # Safety
/// As for [`container`].
unsafe fn whole(data: *const u8, bytes: fn(&[u8]) -> Option<u64>) -> Option<&'static [u8]> {
    const HEADER_BYTES: usize = 16;
    if data.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let header = unsafe { std::slice::from_raw_parts(data, HEADER_BYTES) };
    let bytes = usize::try_from(bytes(header)?).ok()?;
    // SAFETY: the caller's promise.
    Some(unsafe { std::slice::from_raw_parts(data, bytes) })
}

/// `count` elements from `first`; empty if `first` is null.
///
/// # Safety
/// `first` is null or points to `count` elements that live as long as the process.
unsafe fn slice<T>(first: *const T, count: usize) -> &'static [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// # Safety
/// `text` is null or a C string that lives as long as the process.
pub(crate) unsafe fn string(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}

impl Unit {
    /// All kernels with their handles.
    ///
    /// # Safety
    /// The unit is as its layout says and lives as long as the process.
    pub unsafe fn kernels(&self) -> impl Iterator<Item = (usize, KernelRecord)> {
        // SAFETY: the caller's promise, here and below.
        unsafe { slice(self.kernels, self.kernel_count as usize) }.iter().map(|kernel| unsafe {
            let count = kernel.param_count as usize;
            let record = KernelRecord {
                symbol: string(kernel.symbol),
                home: Home::Anywhere,
                param_sizes: Some(slice(kernel.param_sizes, count)),
            };
            (kernel.handle as usize, record)
        })
    }

    /// All variables with their shadows.
    ///
    /// # Safety
    /// As for [`Unit::kernels`].
    pub unsafe fn variables(&self) -> impl Iterator<Item = (usize, VariableRecord)> {
        // SAFETY: the caller's promise, here and below.
        unsafe { slice(self.variables, self.variable_count as usize) }.iter().map(|variable| {
            let record = VariableRecord {
                // SAFETY: as above.
                symbol: unsafe { string(variable.symbol) },
                home: Home::Anywhere,
                managed: variable.flags & VARIABLE_MANAGED != 0,
            };
            (variable.host_shadow as usize, record)
        })
    }
}

impl Image {
    /// The image's parts.
    ///
    /// # Safety
    /// The image is as its layout says and lives as long as the process.
    pub unsafe fn record(&self) -> ImageRecord {
        // SAFETY: the caller's promise.
        unsafe {
            let wrappers = slice(self.linked, self.linked_count as usize);
            let members = wrappers.iter().filter_map(|wrapper| {
                let wrapper = wrapper.as_ref().filter(|wrapper| wrapper.magic == WRAPPER_MAGIC)?;
                container(wrapper.data)
            });
            let code = block(self.code).unwrap_or_default();
            let mut pieces = pieces::pieces(code).into_iter();
            ImageRecord {
                machine_code: pieces.next().unwrap_or_default(),
                ptx: Ptx { texts: pieces.collect(), fatbins: members.collect() },
            }
        }
    }
}
