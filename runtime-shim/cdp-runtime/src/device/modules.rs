//! Device code: loading it, and what is known of its kernels and variables.

use crate::error::Result;

/// A loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleHandle(pub u64);

/// A kernel of a loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KernelHandle(pub u64);

/// The code that a module is loaded from: a device takes the form it understands.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModuleImage<'a> {
    /// A linked cubin, or a fatbin that holds some. Empty if there is none.
    pub cubin: &'a [u8],
    /// PTX modules with their names (for reports); the CPU device links them together.
    pub ptx: &'a [(&'a str, &'a [u8])],
}

/// The part of `cudaFuncAttributes` that a device knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelAttributes {
    /// Static shared memory of a block.
    pub shared_bytes: u64,
    /// Constant memory declared by the module's author.
    pub constant_bytes: u64,
    /// Local memory of a thread.
    pub local_bytes: u64,
    /// Most threads a block of this kernel may have.
    pub max_block_threads: i32,
    /// Registers of a thread.
    pub registers: i32,
    /// 10 * major + minor of the PTX the kernel was compiled from.
    pub ptx_version: i32,
    /// 10 * major + minor of the machine code.
    pub binary_version: i32,
    /// Loads cached in L1 by option.
    pub cache_mode_ca: i32,
    /// Most dynamic shared memory that a launch may ask for.
    pub max_dynamic_shared_bytes: i32,
    /// Preferred shared memory in per cent, -1 for the driver's choice.
    pub preferred_carveout: i32,
    /// The kernel may only be launched with a cluster.
    pub cluster_must_be_set: i32,
    /// Required cluster in x, y, z; 0 if free.
    pub required_cluster: [i32; 3],
    /// `cudaClusterSchedulingPolicy`
    pub cluster_scheduling_policy: i32,
    /// Clusters over the portable size allowed.
    pub non_portable_cluster: i32,
}

/// Modules of a device.
pub trait Modules {
    /// Loads a module. The error says what is wrong with the code and where.
    fn load_module(&self, image: &ModuleImage<'_>) -> Result<ModuleHandle>;
    /// Unloads a module; its kernels and symbols are gone.
    fn unload_module(&self, module: ModuleHandle) -> Result<()>;
    /// Finds a kernel by symbol name; `cudaErrorSymbolNotFound` if there is none.
    fn kernel(&self, module: ModuleHandle, symbol: &str) -> Result<KernelHandle>;
    /// The symbol names of a module's kernels.
    fn kernel_names(&self, module: ModuleHandle) -> Result<Vec<String>>;
    /// Address and bytes of a module variable; `cudaErrorSymbolNotFound` if there is none.
    fn variable(&self, module: ModuleHandle, symbol: &str) -> Result<(u64, u64)>;
    /// Offset and bytes of each parameter, as the device has them.
    fn kernel_params(&self, kernel: KernelHandle) -> Result<Vec<(u64, u64)>>;
    /// The driver's own handle of a kernel, 0 without a driver.
    fn driver_kernel(&self, _kernel: KernelHandle) -> Result<u64> {
        Ok(0)
    }
    /// `cudaFuncGetAttributes`
    fn kernel_attributes(&self, kernel: KernelHandle) -> Result<KernelAttributes>;
    /// `cudaFuncSetAttribute`; attribute by number.
    fn set_kernel_attribute(&self, kernel: KernelHandle, attribute: u32, value: i32) -> Result<()>;
}
