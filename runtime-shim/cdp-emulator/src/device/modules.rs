//! Modules, kernels and variables.

use super::Emulator;
use crate::api::*;
use crate::error::Error;
use crate::hardware::MAX_SHARED_BYTES;
use crate::load;

impl Emulator {
    /// Parses, links and loads PTX texts as one module.
    ///
    /// # Errors
    /// With file and line: text that does not parse, names undefined or defined twice,
    /// instructions that the device does not run.
    pub fn load(&mut self, sources: &[Source<'_>]) -> Result<ModuleId, Error> {
        let (machine, program) = self.core.loaded_mut();
        load::load(machine, program, sources)
    }

    /// Unloads a module after everything queued is done; its variables are released.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if it is not loaded.
    pub fn unload(&mut self, module: ModuleId) -> Result<(), Error> {
        self.module(module)?;
        self.core.run_all();
        let (machine, program) = self.core.loaded_mut();
        if let Some(gone) = program.modules[module.0 as usize].take() {
            for address in gone.allocations {
                // Symbols are released by nobody else.
                let _ = machine.memory.free(address, None, |_| true);
            }
            for kernel in gone.kernels {
                let function = program.kernels[kernel as usize].function;
                program.kernel_of_function.remove(&function);
            }
        }
        Ok(())
    }

    fn module(&self, module: ModuleId) -> Result<&load::Module, Error> {
        let entry = self.core.program.modules.get(module.0 as usize);
        entry.and_then(Option::as_ref).ok_or(Error::InvalidHandle { what: "module" })
    }

    pub(super) fn kernel_entry(&self, kernel: KernelId) -> Result<&load::Kernel, Error> {
        let entry = self.core.program.kernels.get(kernel.0 as usize);
        let entry = entry.ok_or(Error::InvalidHandle { what: "kernel" })?;
        self.module(entry.info.module).map_err(|_| Error::InvalidHandle { what: "kernel" })?;
        Ok(entry)
    }

    /// The kernel with this (mangled) name.
    ///
    /// # Errors
    /// [`Error::NoSuchKernel`] with the names that there are.
    pub fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelId, Error> {
        let kernels = &self.module(module)?.kernels;
        let name_of = |&k: &u32| self.core.program.kernels[k as usize].info.name.clone();
        match kernels.iter().find(|k| name_of(k) == name) {
            Some(&kernel) => Ok(KernelId(kernel)),
            None => {
                let known = kernels.iter().map(name_of).collect();
                Err(Error::NoSuchKernel { name: name.to_string(), known })
            }
        }
    }

    /// All kernels of a module, in the order of the PTX.
    pub fn kernels(&self, module: ModuleId) -> Vec<KernelId> {
        self.module(module)
            .map_or_else(|_| Vec::new(), |m| m.kernels.iter().map(|&k| KernelId(k)).collect())
    }

    /// What is known about a kernel.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if its module is gone.
    pub fn kernel_info(&self, kernel: KernelId) -> Result<&KernelInfo, Error> {
        Ok(&self.kernel_entry(kernel)?.info)
    }

    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`: lets launches of a kernel, from the host or
    /// the device, have more dynamic shared memory than 48 KB less the static size.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] above what a block can have.
    pub fn set_max_dynamic_shared(&mut self, kernel: KernelId, bytes: u32) -> Result<(), Error> {
        let static_bytes = self.kernel_entry(kernel)?.info.shared_bytes;
        let most = MAX_SHARED_BYTES - static_bytes.min(MAX_SHARED_BYTES);
        if u64::from(bytes) > most {
            let message =
                format!("{bytes} bytes of dynamic shared memory; the kernel can have {most}");
            return Err(Error::InvalidValue { message });
        }
        let (_, program) = self.core.loaded_mut();
        program.kernels[kernel.0 as usize].max_dynamic_bytes = Some(bytes);
        Ok(())
    }

    /// Whether clusters of a kernel may be larger than 8 blocks, which not every device with clusters
    /// can have.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn allow_large_clusters(&mut self, kernel: KernelId, allow: bool) -> Result<(), Error> {
        self.kernel_entry(kernel)?;
        self.core.loaded_mut().1.kernels[kernel.0 as usize].large_clusters = allow;
        Ok(())
    }

    /// Blocks of a kernel that fit on a multiprocessor at once.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if its module is gone.
    pub fn occupancy(
        &self,
        kernel: KernelId,
        threads: u32,
        dynamic_bytes: u64,
    ) -> Result<u32, Error> {
        self.kernel_entry(kernel)?;
        Ok(self.core.occupancy_of(kernel.0, threads, dynamic_bytes))
    }

    /// The value of a `cudaDeviceAttr`, `None` for numbers that are no attribute.
    pub fn device_attribute(&self, attribute: u32) -> Option<u32> {
        crate::runtime::device_attribute(attribute, self.core.config.compute_capability)
    }

    /// The module-scope variable with this (mangled) name.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`]
    pub fn variable(&self, module: ModuleId, name: &str) -> Result<Variable, Error> {
        let found = self.module(module)?.variables.iter().find(|(n, _)| n == name);
        found.map(|(_, v)| *v).ok_or_else(|| Error::NoSuchVariable { name: name.to_string() })
    }

    /// All variables of a module in memory: names and places.
    pub fn variables(&self, module: ModuleId) -> Vec<(String, Variable)> {
        self.module(module).map_or_else(|_| Vec::new(), |m| m.variables.clone())
    }
}
