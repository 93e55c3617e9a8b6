//! Graphs that are the driver's: those that kernels may launch or whose kernels may, and those with conditional nodes. What their nodes do
//! is in [`super::nodes`].

use super::driver::{Handle, check};
use super::nodes::Placed;
use super::{GpuDevice, condition, nodes};
use crate::device::{GraphStep, Graphs, StreamHandle};
use crate::error::{CudaError, Result};

/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
const DEVICE_LAUNCH: u64 = 4;

/// What an executable is made of.
#[derive(Clone, Copy)]
pub struct Executable {
    /// The graph of the driver by whose nodes it is known.
    graph: u64,
    /// It is the executable's own, and no home.
    is_own: bool,
}

fn known(device: &GpuDevice, graph: u64) -> Result<Executable> {
    let handles = device.handles();
    handles.graphs.get(&graph).copied().ok_or(CudaError::INVALID_RESOURCE_HANDLE.into())
}

/// Works on the nodes of a graph of the driver.
fn with_nodes<T>(
    device: &GpuDevice,
    graph: u64,
    work: impl FnOnce(&mut Vec<Placed>) -> Result<T>,
) -> Result<T> {
    let mut nodes = device.handles().nodes.remove(&graph).unwrap_or_default();
    let done = work(&mut nodes);
    device.handles().nodes.insert(graph, nodes);
    done
}

/// Has a graph of the driver do steps.
fn put(device: &GpuDevice, graph: u64, steps: &[GraphStep]) -> Result<()> {
    with_nodes(device, graph, |known| nodes::put(device, graph as Handle, known, steps))
}

/// Destroys a graph of the driver.
fn destroy(device: &GpuDevice, graph: u64) -> Result<()> {
    let driver = device.bind()?;
    device.handles().nodes.remove(&graph);
    // SAFETY: made by the driver, and given back once.
    check(unsafe { (driver.cuGraphDestroy)(graph as Handle) })
}

/// Makes a graph of the driver executable.
fn instantiate(device: &GpuDevice, made_of: Executable, flags: u64) -> Result<u64> {
    let driver = device.bind()?;
    let mut made: Handle = std::ptr::null_mut();
    // SAFETY: the target is valid for the write, the graph alive.
    check(unsafe {
        (driver.cuGraphInstantiateWithFlags)(&mut made, made_of.graph as Handle, flags)
    })?;
    device.handles().graphs.insert(made as u64, made_of);
    Ok(made as u64)
}

impl Graphs for GpuDevice {
    fn create_graph(&self, steps: &[GraphStep], by_kernels: bool) -> Result<u64> {
        let driver = self.bind()?;
        let mut graph: Handle = std::ptr::null_mut();
        // SAFETY: the target is valid for the write.
        check(unsafe { (driver.cuGraphCreate)(&mut graph, 0) })?;
        let made_of = Executable { graph: graph as u64, is_own: true };
        let made = put(self, made_of.graph, steps)
            .and_then(|()| instantiate(self, made_of, if by_kernels { DEVICE_LAUNCH } else { 0 }));
        if made.is_err() {
            destroy(self, made_of.graph)?;
        }
        made
    }

    fn change_graph(&self, graph: u64, home: Option<u64>, steps: &[GraphStep]) -> Result<()> {
        let made_of = known(self, graph)?;
        let (by, executable) = (home.unwrap_or(made_of.graph), graph as Handle);
        put(self, by, steps)?;
        let mut result = [0; 3];
        // SAFETY: both graphs are alive; the result has the size of `CUgraphExecUpdateResultInfo`.
        check(unsafe {
            (self.bind()?.cuGraphExecUpdate_v2)(executable, by as Handle, &mut result)
        })?;
        with_nodes(self, made_of.graph, |known| nodes::switch(self, executable, known, steps))
    }

    fn destroy_graph(&self, graph: u64) -> Result<()> {
        let made_of = known(self, graph)?;
        self.handles().graphs.remove(&graph);
        let driver = self.bind()?;
        // SAFETY: alive until here, and forgotten.
        check(unsafe { (driver.cuGraphExecDestroy)(graph as Handle) })?;
        if made_of.is_own { destroy(self, made_of.graph) } else { Ok(()) }
    }

    fn upload_graph(&self, graph: u64, stream: StreamHandle) -> Result<()> {
        known(self, graph)?;
        let (stream, driver) = (self.stream(stream)?, self.bind()?);
        // SAFETY: both are alive.
        check(unsafe { (driver.cuGraphUpload)(graph as Handle, stream) })
    }

    fn launch_graph(&self, graph: u64, stream: StreamHandle) -> Result<()> {
        known(self, graph)?;
        let (stream, driver) = (self.stream(stream)?, self.bind()?);
        // SAFETY: both are alive.
        check(unsafe { (driver.cuGraphLaunch)(graph as Handle, stream) })
    }

    fn create_condition(
        &self,
        home: Option<u64>,
        first: u32,
        flags: u32,
    ) -> Result<(Option<u64>, u64)> {
        condition::create(self, home, first, flags)
    }

    fn create_conditional_graph(&self, home: u64, steps: &[GraphStep]) -> Result<u64> {
        put(self, home, steps)?;
        instantiate(self, Executable { graph: home, is_own: false }, 0)
    }

    fn destroy_home(&self, home: u64) -> Result<()> {
        destroy(self, home)
    }
}
