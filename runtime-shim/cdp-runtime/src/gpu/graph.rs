//! Graphs that are the driver's: those that kernels may launch, and those with conditional nodes.

use std::ffi::{c_uint, c_void};
use std::sync::PoisonError;

use super::driver::{Driver, Handle, check};
use super::{GpuDevice, condition};
use crate::device::{Copy2D, CopyKind, GraphStep, GraphWork, Graphs, StreamHandle};
use crate::driver_copy::Cuboid;
use crate::error::{CudaError, Result};

/// `CUDA_KERNEL_NODE_PARAMS_v2`
#[repr(C)]
pub struct DriverKernelNode {
    function: Handle,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: Handle,
    context: Handle,
}

/// `CUDA_MEMSET_NODE_PARAMS`
#[repr(C)]
pub struct DriverSet {
    dst: u64,
    pitch: usize,
    value: c_uint,
    element_bytes: c_uint,
    width: usize,
    height: usize,
}

/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
const DEVICE_LAUNCH: u64 = 4;

/// A graph of the driver while it is made.
struct Making {
    driver: &'static Driver,
    graph: Handle,
}

impl Drop for Making {
    fn drop(&mut self) {
        // SAFETY: made by `make`, and what was instantiated of it lives on.
        unsafe { (self.driver.cuGraphDestroy)(self.graph) };
    }
}

fn known(device: &GpuDevice, graph: u64) -> Result<Handle> {
    match device.handles().graphs.contains(&graph) {
        true => Ok(graph as Handle),
        false => Err(CudaError::INVALID_RESOURCE_HANDLE.into()),
    }
}

fn make(device: &GpuDevice, steps: &[GraphStep]) -> Result<Making> {
    let driver = device.bind()?;
    let mut graph: Handle = std::ptr::null_mut();
    // SAFETY: the target is valid for the write.
    check(unsafe { (driver.cuGraphCreate)(&mut graph, 0) })?;
    let making = Making { driver, graph };
    fill(device, graph, steps)?;
    Ok(making)
}

/// Where a node is added, and the node.
pub struct NewNode<'a> {
    pub graph: Handle,
    pub after: &'a [Handle],
    pub node: Handle,
}

/// Adds steps to a graph of the driver.
pub fn fill(device: &GpuDevice, graph: Handle, steps: &[GraphStep]) -> Result<()> {
    let mut nodes: Vec<Handle> = Vec::with_capacity(steps.len());
    for step in steps {
        let after: Vec<Handle> = step.after.iter().map(|before| nodes[*before]).collect();
        let mut new = NewNode { graph, after: &after, node: std::ptr::null_mut() };
        add(device, &mut new, &step.work)?;
        nodes.push(new.node);
    }
    Ok(())
}

fn add(device: &GpuDevice, new: &mut NewNode<'_>, work: &GraphWork) -> Result<()> {
    let (driver, graph) = (device.bind()?, new.graph);
    let context = *device.context.lock().unwrap_or_else(PoisonError::into_inner) as Handle;
    let (target, first, count) = (&raw mut new.node, new.after.as_ptr(), new.after.len());
    // SAFETY: everything named here is alive during the calls, and the driver copies what it keeps; parameters
    // have as many bytes as the kernel's, which the caller has from the same module. Here and below.
    match work {
        GraphWork::Nothing => {
            check(unsafe { (driver.cuGraphAddEmptyNode)(target, graph, first, count) })?;
        }
        GraphWork::Launch { kernel, grid, block, shared_bytes, attributes, params } => {
            let mut pointers: Vec<*mut c_void> =
                params.iter().map(|param| param.as_ptr().cast_mut().cast()).collect();
            let described = DriverKernelNode {
                function: device.function(*kernel)?,
                grid: *grid,
                block: *block,
                shared_bytes: u32::try_from(*shared_bytes).map_err(|_| CudaError::INVALID_VALUE)?,
                params: pointers.as_mut_ptr(),
                extra: std::ptr::null_mut(),
                kernel: std::ptr::null_mut(),
                context,
            };
            check(unsafe {
                (driver.cuGraphAddKernelNode_v2)(target, graph, first, count, &described)
            })?;
            for attribute in attributes {
                check(unsafe {
                    (driver.cuGraphKernelNodeSetAttribute)(*target, attribute.id, &attribute.value)
                })?;
            }
        }
        GraphWork::Copy(copy) => {
            let described = rectangle(copy, CopyKind::DeviceToDevice);
            check(unsafe {
                (driver.cuGraphAddMemcpyNode)(target, graph, first, count, &described, context)
            })?;
        }
        GraphWork::Set { dst, pitch_bytes, value, element_bytes, width, height } => {
            let described = DriverSet {
                dst: *dst,
                pitch: *pitch_bytes,
                value: *value,
                element_bytes: *element_bytes,
                width: *width,
                height: *height,
            };
            check(unsafe {
                (driver.cuGraphAddMemsetNode)(target, graph, first, count, &described, context)
            })?;
        }
        GraphWork::Transfer(copy, kind) => {
            let described = rectangle(copy, *kind);
            check(unsafe {
                (driver.cuGraphAddMemcpyNode)(target, graph, first, count, &described, context)
            })?;
        }
        GraphWork::Host(function, data) => condition::add_host(device, new, *function, *data)?,
        GraphWork::Conditional { condition: value, choice, bodies } => {
            condition::add(device, new, (*value, *choice), bodies)?;
        }
    }
    Ok(())
}

/// The driver's description of a rectangle.
fn rectangle(copy: &Copy2D, kind: CopyKind) -> Cuboid {
    // The pitch of a single row may be anything to us.
    let pitch = |pitch_bytes: usize| pitch_bytes.max(copy.width_bytes);
    let (dst_pitch_bytes, src_pitch_bytes) =
        (pitch(copy.dst_pitch_bytes), pitch(copy.src_pitch_bytes));
    Cuboid::rectangle(&Copy2D { dst_pitch_bytes, src_pitch_bytes, ..*copy }, kind)
}

impl Graphs for GpuDevice {
    fn create_graph(&self, steps: &[GraphStep]) -> Result<u64> {
        let making = make(self, steps)?;
        let mut made: Handle = std::ptr::null_mut();
        // SAFETY: the target is valid for the write, the graph alive.
        check(unsafe {
            (making.driver.cuGraphInstantiateWithFlags)(&mut made, making.graph, DEVICE_LAUNCH)
        })?;
        self.handles().graphs.insert(made as u64);
        Ok(made as u64)
    }

    fn change_graph(&self, graph: u64, steps: &[GraphStep]) -> Result<()> {
        let graph = known(self, graph)?;
        let making = make(self, steps)?;
        let mut result = [0; 3];
        // SAFETY: both graphs are alive; the result has the size of `CUgraphExecUpdateResultInfo`.
        check(unsafe { (making.driver.cuGraphExecUpdate_v2)(graph, making.graph, &mut result) })
    }

    fn destroy_graph(&self, graph: u64) -> Result<()> {
        let handle = known(self, graph)?;
        self.handles().graphs.remove(&graph);
        let driver = self.bind()?;
        // SAFETY: alive until here, and forgotten.
        check(unsafe { (driver.cuGraphExecDestroy)(handle) })
    }

    fn upload_graph(&self, graph: u64, stream: StreamHandle) -> Result<()> {
        let (graph, stream, driver) = (known(self, graph)?, self.stream(stream)?, self.bind()?);
        // SAFETY: both are alive.
        check(unsafe { (driver.cuGraphUpload)(graph, stream) })
    }

    fn launch_graph(&self, graph: u64, stream: StreamHandle) -> Result<()> {
        let (graph, stream, driver) = (known(self, graph)?, self.stream(stream)?, self.bind()?);
        // SAFETY: both are alive.
        check(unsafe { (driver.cuGraphLaunch)(graph, stream) })
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
        condition::create_graph(self, home, steps)
    }

    fn destroy_home(&self, home: u64) -> Result<()> {
        condition::destroy_home(self, home)
    }
}
