//! Graphs with conditional nodes, which are the driver's. A home is a graph of the driver: the values that kernels
//! set belong to it from their beginning, and the steps come when the whole is made executable.
//!
//! The functions of conditions came with CUDA 12.3, so that they are asked for by name and not loaded with the others.

use std::ffi::{CStr, c_uint, c_void};
use std::sync::PoisonError;

use super::GpuDevice;
use super::driver::{CUresult, Handle, check};
use super::graph::{self, NewNode};
use crate::device::{Choice, Device, GraphStep};
use crate::error::{CudaError, Result};

/// The version of CUDA whose forms of the functions these are.
const VERSION: i32 = 12030;

type HandleCreate = unsafe extern "C" fn(*mut u64, Handle, Handle, c_uint, c_uint) -> CUresult;
type AddNode = unsafe extern "C" fn(
    *mut Handle,
    Handle,
    *const Handle,
    *const c_void,
    usize,
    *mut ConditionalNode,
) -> CUresult;

/// `CUgraphNodeParams` with `CUDA_CONDITIONAL_NODE_PARAMS` in its union.
#[repr(C)]
struct ConditionalNode {
    kind: c_uint,
    reserved: [c_uint; 3],
    condition: u64,
    choice: c_uint,
    count: c_uint,
    bodies: *mut Handle,
    context: Handle,
    rest: [u64; 25],
    reserved_too: u64,
}

const _: () = assert!(size_of::<ConditionalNode>() == 256);

/// `CUDA_HOST_NODE_PARAMS`
#[repr(C)]
pub struct DriverHostNode {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

/// `CU_GRAPH_NODE_TYPE_CONDITIONAL`
const CONDITIONAL: c_uint = 13;

fn context(device: &GpuDevice) -> Handle {
    *device.context.lock().unwrap_or_else(PoisonError::into_inner) as Handle
}

/// The address of a function of the driver.
fn named(device: &GpuDevice, name: &CStr) -> Result<*const c_void> {
    match device.driver_function(name, VERSION, 0)? {
        0 => Err(CudaError::NOT_SUPPORTED.into()),
        address => Ok(address as *const c_void),
    }
}

pub fn create(
    device: &GpuDevice,
    home: Option<u64>,
    first: u32,
    flags: u32,
) -> Result<(Option<u64>, u64)> {
    let driver = device.bind()?;
    let function = named(device, c"cuGraphConditionalHandleCreate")?;
    // SAFETY: the function of that name and version is of that type.
    let create: HandleCreate = unsafe { std::mem::transmute(function) };
    let mut graph = home.unwrap_or(0) as Handle;
    if graph.is_null() {
        // SAFETY: the target is valid for the write.
        check(unsafe { (driver.cuGraphCreate)(&mut graph, 0) })?;
    }
    let mut made = 0;
    // SAFETY: the graph is alive, the target valid for the write.
    check(unsafe { create(&mut made, graph, context(device), first, flags) })?;
    Ok((Some(graph as u64), made))
}

pub fn create_graph(device: &GpuDevice, home: u64, steps: &[GraphStep]) -> Result<u64> {
    let driver = device.bind()?;
    let home = home as Handle;
    clear(device, home)?;
    graph::fill(device, home, steps)?;
    let mut made: Handle = std::ptr::null_mut();
    // SAFETY: the target is valid for the write, the graph alive.
    check(unsafe { (driver.cuGraphInstantiateWithFlags)(&mut made, home, 0) })?;
    device.handles().graphs.insert(made as u64);
    Ok(made as u64)
}

/// Removes what an earlier executable was made of.
fn clear(device: &GpuDevice, home: Handle) -> Result<()> {
    let driver = device.bind()?;
    let mut count = 0;
    // SAFETY: the graph is alive; without a target the driver tells how many nodes there are.
    check(unsafe { (driver.cuGraphGetNodes)(home, std::ptr::null_mut(), &mut count) })?;
    let mut nodes: Vec<Handle> = vec![std::ptr::null_mut(); count];
    if count > 0 {
        // SAFETY: as many as there is room for.
        check(unsafe { (driver.cuGraphGetNodes)(home, nodes.as_mut_ptr(), &mut count) })?;
    }
    // SAFETY: nodes of the graph, each once.
    nodes.into_iter().try_for_each(|node| check(unsafe { (driver.cuGraphDestroyNode)(node) }))
}

pub fn destroy_home(device: &GpuDevice, home: u64) -> Result<()> {
    let driver = device.bind()?;
    // SAFETY: made by `create`, and given back once.
    check(unsafe { (driver.cuGraphDestroy)(home as Handle) })
}

/// Adds a conditional node and the graphs below it.
pub fn add(
    device: &GpuDevice,
    new: &mut NewNode<'_>,
    (condition, choice): (u64, Choice),
    bodies: &[Vec<GraphStep>],
) -> Result<()> {
    let function = named(device, c"cuGraphAddNode")?;
    // SAFETY: the function of that name and version is of that type.
    let add: AddNode = unsafe { std::mem::transmute(function) };
    let mut described = ConditionalNode {
        kind: CONDITIONAL,
        reserved: [0; 3],
        condition,
        choice: match choice {
            Choice::If => 0,
            Choice::While => 1,
            Choice::Switch => 2,
        },
        count: bodies.len() as c_uint,
        bodies: std::ptr::null_mut(),
        context: context(device),
        rest: [0; 25],
        reserved_too: 0,
    };
    let (first, count) = (new.after.as_ptr(), new.after.len());
    // SAFETY: graph and nodes are alive, the description is whole.
    check(unsafe {
        add(&mut new.node, new.graph, first, std::ptr::null(), count, &mut described)
    })?;
    for (index, steps) in bodies.iter().enumerate() {
        // SAFETY: the driver has written as many graphs as were asked for.
        graph::fill(device, unsafe { *described.bodies.add(index) }, steps)?;
    }
    Ok(())
}

/// Adds a call of a function of the host.
pub fn add_host(
    device: &GpuDevice,
    new: &mut NewNode<'_>,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> Result<()> {
    let driver = device.bind()?;
    let described = DriverHostNode { function, data };
    let (first, count) = (new.after.as_ptr(), new.after.len());
    // SAFETY: graph and nodes are alive, the description is whole.
    check(unsafe {
        (driver.cuGraphAddHostNode)(&mut new.node, new.graph, first, count, &described)
    })
}
