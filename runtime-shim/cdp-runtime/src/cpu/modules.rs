//! Modules and launches of the CPU device.

use super::{CpuDevice, clusters};
use crate::device::*;
use crate::error::{CudaError, Result};

impl Modules for CpuDevice {
    fn load_module(&self, image: &ModuleImage<'_>) -> Result<ModuleHandle> {
        self.state().load(image)
    }

    fn unload_module(&self, module: ModuleHandle) -> Result<()> {
        self.state().unload(module)
    }

    fn kernel(&self, module: ModuleHandle, symbol: &str) -> Result<KernelHandle> {
        self.state().kernel(module, symbol)
    }

    fn kernel_names(&self, module: ModuleHandle) -> Result<Vec<String>> {
        self.state().kernel_names(module)
    }

    fn variable(&self, module: ModuleHandle, symbol: &str) -> Result<(u64, u64)> {
        self.state().variable(module, symbol)
    }

    fn kernel_params(&self, kernel: KernelHandle) -> Result<Vec<(u64, u64)>> {
        let state = self.state();
        let info = state.kernel_info(kernel)?;
        Ok(info.params.iter().map(|param| (param.offset_bytes, param.size_bytes)).collect())
    }

    fn kernel_attributes(&self, kernel: KernelHandle) -> Result<KernelAttributes> {
        let state = self.state();
        let info = state.kernel_info(kernel)?;
        Ok(KernelAttributes {
            shared_bytes: info.shared_bytes,
            constant_bytes: info.const_bytes,
            local_bytes: info.local_bytes,
            max_block_threads: info.max_threads as i32,
            // A thread of a GPU has 255 at most; what does not fit would be spilled.
            registers: info.registers.min(255) as i32,
            ptx_version: info.target_sm as i32,
            binary_version: self.capability as i32,
            max_dynamic_shared_bytes: state.max_dynamic_shared_bytes(kernel)? as i32,
            preferred_carveout: state.carveout(kernel),
            cluster_must_be_set: i32::from(info.cluster_must_be_set),
            required_cluster: info.cluster.unwrap_or([0; 3]).map(|blocks| blocks as i32),
            non_portable_cluster: i32::from(state.large_clusters(kernel)),
            ..KernelAttributes::default()
        })
    }

    fn set_kernel_attribute(&self, kernel: KernelHandle, attribute: u32, value: i32) -> Result<()> {
        self.state().set_kernel_attribute(kernel, attribute, value)
    }
}

impl Launches for CpuDevice {
    fn max_active_blocks(
        &self,
        kernel: KernelHandle,
        block_threads: i32,
        shared_bytes: u64,
        flags: u32,
    ) -> Result<i32> {
        let state = self.state();
        if block_threads <= 0 || flags > 1 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        state.occupancy(kernel, block_threads as u32, shared_bytes)
    }

    fn max_active_clusters(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32> {
        clusters::active(self, kernel, config)
    }

    fn max_cluster_blocks(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32> {
        clusters::most_blocks(self, kernel, config)
    }

    unsafe fn launch(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig<'_>,
        params: &[&[u8]],
    ) -> Result<()> {
        self.state().launch(kernel, config, params)
    }
}
