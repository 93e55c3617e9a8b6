//! Graphs that kernels may launch. Other graphs are replayed by [`crate::graph`], which needs no device.

use super::launches::LaunchAttribute;
use super::memory::Copy2D;
use super::modules::KernelHandle;
use super::streams::StreamHandle;
use crate::error::Result;

/// A step of a graph that kernels may launch.
pub struct GraphStep {
    /// What is done.
    pub work: GraphWork,
    /// The steps, by place, that are done before; all of them come earlier.
    pub after: Vec<usize>,
}

/// What a step of such a graph does.
pub enum GraphWork {
    /// Nothing: others meet here.
    Nothing,
    /// Runs a kernel.
    #[allow(missing_docs)]
    Launch {
        kernel: KernelHandle,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u64,
        attributes: Vec<LaunchAttribute>,
        /// The bytes of each parameter.
        params: Vec<Box<[u8]>>,
    },
    /// Copies a rectangle within device memory.
    Copy(Copy2D),
    /// Sets rows of elements of 1, 2 or 4 bytes.
    #[allow(missing_docs)]
    Set {
        dst: u64,
        pitch_bytes: usize,
        value: u32,
        element_bytes: u32,
        /// Elements of a row.
        width: usize,
        height: usize,
    },
}

/// Graphs of a device that its kernels may launch.
pub trait Graphs {
    /// Makes a graph that host code and the kernels of such graphs launch. The handle is what both use.
    fn create_graph(&self, steps: &[GraphStep]) -> Result<u64>;
    /// Changes what later launches of such a graph do.
    fn change_graph(&self, graph: u64, steps: &[GraphStep]) -> Result<()>;
    /// Destroys such a graph.
    fn destroy_graph(&self, graph: u64) -> Result<()>;
    /// Makes it ready for launches by kernels.
    fn upload_graph(&self, graph: u64, stream: StreamHandle) -> Result<()>;
    /// Launches it into a stream.
    fn launch_graph(&self, graph: u64, stream: StreamHandle) -> Result<()>;
}
