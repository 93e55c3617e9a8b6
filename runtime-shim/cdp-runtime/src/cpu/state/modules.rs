//! Modules, kernels and launches, inside the lock.

use cdp_emulator::{KernelId, KernelInfo, Launch, ModuleId, Source, StreamId};

use super::super::convert;
use super::{State, Work};
use crate::device::*;
use crate::error::{CudaError, DeviceError, Result};

impl State {
    pub fn load(&mut self, image: &ModuleImage<'_>) -> Result<ModuleHandle> {
        self.alive()?;
        if image.ptx.is_empty() {
            return Err(DeviceError::new(
                CudaError::NO_KERNEL_IMAGE_FOR_DEVICE,
                "the program carries no PTX, which is what the CPU device runs",
            ));
        }
        let mut sources = Vec::with_capacity(image.ptx.len());
        for &(name, bytes) in image.ptx {
            let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
            let text = std::str::from_utf8(bytes).map_err(|error| {
                let detail = format!("{name}: not UTF-8 at byte {}", error.valid_up_to());
                DeviceError::new(CudaError::INVALID_PTX, detail)
            })?;
            sources.push(Source { name, text });
        }
        self.launches_optimised |=
            sources.iter().any(|source| cdp_image::launches::are_optimised(source.text));
        let module = self.emulator.load(&sources).map_err(convert)?;
        let handle = self.handle();
        self.modules.insert(handle, module);
        Ok(ModuleHandle(handle))
    }

    fn module(&self, module: ModuleHandle) -> Result<ModuleId> {
        let known = self.modules.get(&module.0).copied();
        known.ok_or_else(|| CudaError::INVALID_RESOURCE_HANDLE.into())
    }

    pub fn unload(&mut self, module: ModuleHandle) -> Result<()> {
        let id = self.module(module)?;
        self.wait_for(Work::All)?;
        self.modules.remove(&module.0);
        self.kernels.retain(|_, (_, of)| *of != module);
        self.kernels_by_name.retain(|(of, _), _| *of != module);
        self.emulator.unload(id).map_err(convert)
    }

    pub fn kernel(&mut self, module: ModuleHandle, symbol: &str) -> Result<KernelHandle> {
        let key = (module, symbol.to_owned());
        if let Some(&known) = self.kernels_by_name.get(&key) {
            return Ok(known);
        }
        let id = self
            .emulator
            .kernel(self.module(module)?, symbol)
            .map_err(|error| DeviceError::new(CudaError::SYMBOL_NOT_FOUND, error.to_string()))?;
        let handle = KernelHandle(self.handle());
        self.kernels.insert(handle.0, (id, module));
        self.kernels_by_name.insert(key, handle);
        Ok(handle)
    }

    pub fn kernel_names(&self, module: ModuleHandle) -> Result<Vec<String>> {
        let kernels = self.emulator.kernels(self.module(module)?).into_iter();
        let name = |kernel| self.emulator.kernel_info(kernel).map(|info| info.name.clone());
        kernels.map(name).collect::<std::result::Result<_, _>>().map_err(convert)
    }

    pub fn variable(&mut self, module: ModuleHandle, symbol: &str) -> Result<(u64, u64)> {
        let variable = self
            .emulator
            .variable(self.module(module)?, symbol)
            .map_err(|error| DeviceError::new(CudaError::SYMBOL_NOT_FOUND, error.to_string()))?;
        if variable.managed {
            self.shared.insert(variable.address, MemoryType::Managed);
        }
        Ok((variable.address, variable.size_bytes))
    }

    pub fn kernel_info(&self, kernel: KernelHandle) -> Result<&KernelInfo> {
        let (id, _) = self
            .kernels
            .get(&kernel.0)
            .ok_or_else(|| DeviceError::from(CudaError::INVALID_DEVICE_FUNCTION))?;
        self.emulator.kernel_info(*id).map_err(convert)
    }

    /// Most dynamic shared memory that a launch of this kernel may ask for.
    pub fn max_dynamic_shared_bytes(&self, kernel: KernelHandle) -> Result<u64> {
        const SHARED_BYTES_PER_BLOCK: u32 = 8;
        let chosen = self.settings.get(&kernel.0).and_then(|s| s.max_dynamic_shared_bytes);
        let static_bytes = self.kernel_info(kernel)?.shared_bytes;
        let usual = u64::from(self.emulator.device_attribute(SHARED_BYTES_PER_BLOCK).unwrap_or(0));
        Ok(chosen.unwrap_or(usual.saturating_sub(static_bytes)))
    }

    /// Blocks of the kernel that fit on a multiprocessor.
    pub fn occupancy(
        &self,
        kernel: KernelHandle,
        block_threads: u32,
        shared_bytes: u64,
    ) -> Result<i32> {
        self.kernel_info(kernel)?;
        let (id, _) = self.kernels[&kernel.0];
        let blocks = self.emulator.occupancy(id, block_threads, shared_bytes).map_err(convert)?;
        Ok(blocks as i32)
    }

    pub fn carveout(&self, kernel: KernelHandle) -> i32 {
        self.settings.get(&kernel.0).and_then(|settings| settings.carveout).unwrap_or(-1)
    }

    pub fn set_kernel_attribute(
        &mut self,
        kernel: KernelHandle,
        attribute: u32,
        value: i32,
    ) -> Result<()> {
        const MAX_DYNAMIC_SHARED: u32 = 8;
        const CARVEOUT: u32 = 9;
        const LARGE_CLUSTERS: u32 = 14;
        self.kernel_info(kernel)?;
        let (id, _) = self.kernels[&kernel.0];
        let settings = self.settings.entry(kernel.0).or_default();
        match (attribute, value) {
            (MAX_DYNAMIC_SHARED, 0..) => {
                self.emulator.set_max_dynamic_shared(id, value as u32).map_err(convert)?;
                settings.max_dynamic_shared_bytes = Some(value as u64);
                Ok(())
            }
            (CARVEOUT, -1..=100) => {
                settings.carveout = Some(value);
                Ok(())
            }
            // Programs give the size that they want.
            (LARGE_CLUSTERS, 0..) => {
                self.emulator.allow_large_clusters(id, value != 0).map_err(convert)?;
                settings.large_clusters = value != 0;
                Ok(())
            }
            _ => Err(CudaError::INVALID_VALUE.into()),
        }
    }

    /// The kernel's clusters may be larger than every device can have them.
    pub fn large_clusters(&self, kernel: KernelHandle) -> bool {
        self.settings.get(&kernel.0).is_some_and(|settings| settings.large_clusters)
    }

    pub fn launch(
        &mut self,
        kernel: KernelHandle,
        config: &LaunchConfig<'_>,
        params: &[&[u8]],
    ) -> Result<()> {
        self.alive()?;
        let stream = self.stream(config.stream)?;
        let (kernel, buffer) = self.prepare(kernel, config, params)?;
        let launch = launch_of(kernel, config, stream, &buffer);
        self.emulator.launch(&launch).map_err(|error| self.refused(error))?;
        self.enqueued()
    }

    /// Why the emulator refuses a launch.
    pub(super) fn refused(&self, error: cdp_emulator::Error) -> DeviceError {
        let mut refused = self.or_fault(error);
        // What the CUDA 13 runtime says of a configuration that does not fit (seen on an H200).
        if refused.code == CudaError::INVALID_CONFIGURATION {
            refused.code = CudaError::INVALID_VALUE;
        }
        refused
    }

    /// The emulator's kernel and its parameter buffer, if the launch may be.
    pub(super) fn prepare(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig<'_>,
        params: &[&[u8]],
    ) -> Result<(KernelId, Vec<u8>)> {
        let most_shared_bytes = self.max_dynamic_shared_bytes(kernel)?;
        let info = self.kernel_info(kernel)?;
        if config.shared_bytes > most_shared_bytes {
            return Err(DeviceError::new(
                CudaError::INVALID_VALUE,
                format!(
                    "`{}` is launched with {} bytes of dynamic shared memory; {most_shared_bytes} are \
                     allowed (cudaFuncSetAttribute raises that)",
                    info.name, config.shared_bytes
                ),
            ));
        }
        if config.is_cooperative() {
            self.check_cooperative(kernel, config)?;
        }
        let mut buffer = vec![0u8; info.param_bytes as usize];
        let sizes_agree = info.params.len() == params.len()
            && info.params.iter().zip(params).all(|(p, given)| p.size_bytes == given.len() as u64);
        if !sizes_agree {
            let wanted: Vec<u64> = info.params.iter().map(|param| param.size_bytes).collect();
            let given: Vec<usize> = params.iter().map(|param| param.len()).collect();
            return Err(DeviceError::new(
                CudaError::INVALID_VALUE,
                format!(
                    "`{}` has parameters of {wanted:?} bytes and is given {given:?}",
                    info.name
                ),
            ));
        }
        for (param, bytes) in info.params.iter().zip(params) {
            let at = param.offset_bytes as usize;
            buffer[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Ok((self.kernels[&kernel.0].0, buffer))
    }

    /// The blocks of a cooperative launch must all be resident at once. A kernel that uses the device runtime
    /// is not launched so (facts.md, "Run time").
    fn check_cooperative(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<()> {
        const MULTIPROCESSORS: u32 = 16;
        let info = self.kernel_info(kernel)?;
        if info.calls_runtime {
            let detail =
                format!("`{}` is launched cooperatively and calls the device runtime", info.name);
            return Err(DeviceError::new(CudaError::NOT_PERMITTED, detail));
        }
        let threads = config.block.iter().fold(1u32, |all, n| all.saturating_mul(*n));
        let each = self.occupancy(kernel, threads, config.shared_bytes)? as u64;
        let most = each * u64::from(self.emulator.device_attribute(MULTIPROCESSORS).unwrap_or(1));
        let blocks = config.grid.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
        if blocks > most {
            let detail = format!(
                "`{}` is launched cooperatively with {blocks} blocks; {most} can run at once",
                info.name
            );
            return Err(DeviceError::new(CudaError::COOPERATIVE_LAUNCH_TOO_LARGE, detail));
        }
        Ok(())
    }
}

/// A launch as the emulator has it.
pub(super) fn launch_of<'a>(
    kernel: KernelId,
    config: &LaunchConfig<'_>,
    stream: StreamId,
    params: &'a [u8],
) -> Launch<'a> {
    Launch {
        kernel,
        grid: config.grid,
        block: config.block,
        shared_bytes: config.shared_bytes as u32,
        stream,
        params,
        cooperative: config.is_cooperative(),
        programmatic: config.is_programmatic(),
        cluster: config.cluster(),
    }
}
