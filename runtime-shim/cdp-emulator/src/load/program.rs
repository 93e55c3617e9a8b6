//! What is loaded: modules, kernels and what launches ask of them.

use std::collections::HashSet;

use rustc_hash::FxHashMap;

use crate::api::{KernelInfo, Variable};
use crate::error::Error;
use crate::hardware::DEFAULT_SHARED_BYTES;

/// A kernel, ready to launch.
#[derive(Debug)]
pub struct Kernel {
    /// What callers may know.
    pub info: KernelInfo,
    /// Number of its function.
    pub function: u32,
    /// Its blocks cannot see each other's progress.
    pub independent: bool,
    /// It launches grids.
    pub launches: bool,
    /// It calls the device runtime, or may: no kernel of a graph that kernels launch.
    pub uses_runtime: bool,
    /// Nor can any grid that it might launch, so that they may run on any host thread.
    pub apart: bool,
    /// The system's part of shared memory, if its code looks at it.
    pub reserved_shared: std::ops::Range<u32>,
    /// Bytes between its shared variables that belong to nobody, for the check of bounds.
    pub shared_gaps: u32,
    /// The first instruction that it could come to and that the device does not run.
    pub refusal: Option<Error>,
    /// Bytes of stack that its calls need, each function counted once on a way down.
    pub stack_need: u64,
    /// `.maxclusterrank`
    pub most_cluster_blocks: Option<u32>,
    /// `cudaFuncAttributeNonPortableClusterSizeAllowed`
    pub large_clusters: bool,
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`, if the host set it.
    pub max_dynamic_bytes: Option<u32>,
}

impl Kernel {
    /// Most bytes of dynamic shared memory that a launch may ask for.
    pub fn most_dynamic_bytes(&self) -> u64 {
        match self.max_dynamic_bytes {
            Some(bytes) => u64::from(bytes),
            None => {
                let reserved = u64::from(self.reserved_shared.end - self.reserved_shared.start);
                DEFAULT_SHARED_BYTES.saturating_sub(self.info.shared_bytes - reserved)
            }
        }
    }
}

/// A loaded module.
#[derive(Debug, Default)]
pub struct Module {
    /// Kernels by number of the device.
    pub kernels: Vec<u32>,
    /// Variables by name.
    pub variables: Vec<(String, Variable)>,
    /// Addresses to release when the module goes.
    pub allocations: Vec<u64>,
    /// Bytes of constant memory.
    pub const_bytes: u64,
}

/// Everything loaded so far.
#[derive(Debug, Default)]
pub struct Program {
    /// Names of the PTX texts.
    pub units: Vec<String>,
    /// Kernels by [`crate::KernelId`].
    pub kernels: Vec<Kernel>,
    /// Some code reads memory that others write while it runs, as [`crate::code::Function::looks`] says.
    pub looks: bool,
    /// Kernel number by function number.
    pub kernel_of_function: FxHashMap<u32, u32>,
    /// Functions whose address some code or variable has.
    pub named: HashSet<u32>,
    /// Modules by [`ModuleId`]; `None` once unloaded.
    pub modules: Vec<Option<Module>>,
}
