//! Launches of kernels, and what has room at once.

use super::modules::KernelHandle;
use super::streams::StreamHandle;
use crate::error::Result;

/// `cudaLaunchAttribute` and `CUlaunchAttribute`, which are the same.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchAttribute {
    /// `cudaLaunchAttributeID`
    pub id: u32,
    /// Nothing.
    pub pad: u32,
    /// `cudaLaunchAttributeValue`
    pub value: [u64; 8],
}

impl LaunchAttribute {
    /// `cudaLaunchAttributeCooperative`
    pub const COOPERATIVE: u32 = 2;
    /// `cudaLaunchAttributeClusterDimension`
    pub const CLUSTER: u32 = 4;
    /// `cudaLaunchAttributeProgrammaticStreamSerialization`
    pub const PROGRAMMATIC: u32 = 6;

    /// A cooperative launch.
    pub fn cooperative() -> LaunchAttribute {
        LaunchAttribute { id: Self::COOPERATIVE, pad: 0, value: [1, 0, 0, 0, 0, 0, 0, 0] }
    }
}

/// Grid, block, dynamic shared memory, stream and attributes of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig<'a> {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u64,
    /// Stream.
    pub stream: StreamHandle,
    /// What `<<<>>>` cannot say.
    pub attributes: &'a [LaunchAttribute],
}

impl LaunchConfig<'_> {
    fn attribute(&self, id: u32) -> Option<&LaunchAttribute> {
        self.attributes.iter().rev().find(|attribute| attribute.id == id)
    }

    /// All blocks run at once and may wait for each other.
    pub fn is_cooperative(&self) -> bool {
        self.attribute(LaunchAttribute::COOPERATIVE).is_some_and(|found| found.value[0] as u32 != 0)
    }

    /// It may begin before the kernel that it follows in its stream is done.
    pub fn is_programmatic(&self) -> bool {
        self.attribute(LaunchAttribute::PROGRAMMATIC)
            .is_some_and(|found| found.value[0] as u32 != 0)
    }

    /// Blocks of a cluster in x, y, z, if the launch says so.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        let value = self.attribute(LaunchAttribute::CLUSTER)?.value;
        Some([value[0] as u32, (value[0] >> 32) as u32, value[1] as u32])
    }
}

/// Launches on a device.
pub trait Launches {
    /// Blocks of the kernel that fit on a multiprocessor at once.
    fn max_active_blocks(
        &self,
        kernel: KernelHandle,
        block_threads: i32,
        shared_bytes: u64,
        flags: u32,
    ) -> Result<i32>;

    /// Clusters of the kernel that the device runs at once, with a launch's attributes, block and shared memory.
    fn max_active_clusters(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32>;
    /// Most blocks of a cluster with which the kernel can be launched; the clusters of `config` do not matter.
    fn max_cluster_blocks(&self, kernel: KernelHandle, config: &LaunchConfig<'_>) -> Result<i32>;

    /// Launches a kernel. `params[i]` holds the bytes of parameter `i`.
    ///
    /// # Safety
    /// What the kernel does with the memory that its parameters lead to is the caller's affair.
    unsafe fn launch(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig<'_>,
        params: &[&[u8]],
    ) -> Result<()>;
}
