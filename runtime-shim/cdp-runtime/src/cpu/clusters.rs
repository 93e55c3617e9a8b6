//! How many clusters the CPU device has room for. A GPU's clusters lie within groups of multiprocessors; here
//! they may lie anywhere, so that a few more have room.

use super::CpuDevice;
use crate::device::{Device, KernelAttributes, KernelHandle, LaunchConfig, Launches, Modules};
use crate::error::{CudaError, Result};

/// Blocks of a cluster that every device with clusters has.
const PORTABLE: i32 = 8;
/// Blocks of a cluster that an H200 has.
const LARGE: i32 = 16;

/// `cudaDevAttrMultiProcessorCount`
const MULTIPROCESSORS: u32 = 16;
/// `cudaDevAttrClusterLaunch`
const CLUSTER_LAUNCH: u32 = 120;

/// Most blocks of a cluster of a kernel.
fn limit(device: &CpuDevice, known: &KernelAttributes) -> Result<i32> {
    Ok(match (device.attribute(CLUSTER_LAUNCH)?, known.non_portable_cluster) {
        (0, _) => 1,
        (_, 0) => PORTABLE,
        _ => LARGE,
    })
}

/// Blocks of the cluster that a kernel asks for itself.
fn required(known: &KernelAttributes) -> Option<i32> {
    let blocks = known.required_cluster.iter().product();
    (blocks > 0).then_some(blocks)
}

/// Blocks that a multiprocessor has room for.
fn blocks(device: &CpuDevice, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32> {
    let threads = config.block.iter().try_fold(1u32, |all, count| all.checked_mul(*count));
    let threads = threads.filter(|threads| (1..=1024).contains(threads));
    let threads = threads.ok_or(CudaError::INVALID_VALUE)?;
    device.max_active_blocks(kernel, threads as i32, config.shared_bytes, 0)
}

/// Clusters that run at once.
pub fn active(device: &CpuDevice, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32> {
    let known = device.kernel_attributes(kernel)?;
    let asked = config.cluster().map(|cluster| {
        cluster.iter().try_fold(1u32, |all, count| all.checked_mul(*count)).unwrap_or(u32::MAX)
    });
    let cluster = match (asked, required(&known)) {
        (Some(asked), Some(own)) if asked != own as u32 => {
            return Err(CudaError::INVALID_CLUSTER_SIZE.into());
        }
        (Some(asked), _) => asked,
        (None, own) => own.unwrap_or(1) as u32,
    };
    if cluster == 0 || cluster > limit(device, &known)? as u32 {
        return Err(CudaError::INVALID_CLUSTER_SIZE.into());
    }
    let all = device.attribute(MULTIPROCESSORS)? * blocks(device, kernel, config)?;
    Ok(all / cluster as i32)
}

/// Most blocks of a cluster that a kernel may have, whatever it asks for itself, as an H200's driver says it.
pub fn most_blocks(
    device: &CpuDevice,
    kernel: KernelHandle,
    config: &LaunchConfig<'_>,
) -> Result<i32> {
    let known = device.kernel_attributes(kernel)?;
    let room = blocks(device, kernel, config)?;
    Ok(if room > 0 { limit(device, &known)? } else { 0 })
}
