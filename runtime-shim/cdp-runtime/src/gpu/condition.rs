//! Graphs with conditional nodes, which are the driver's. A home is a graph of the driver: the values that kernels
//! set belong to it from their beginning, and the steps come when the whole is made executable.
//!
//! The functions of conditions came with CUDA 12.3, so that they are asked for by name and not loaded with the others.

use std::ffi::{CStr, c_uint, c_void};
use std::sync::PoisonError;

use super::GpuDevice;
use super::driver::{CUresult, Handle, check};
use super::nodes::{self, Placed};
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

/// Adds a conditional node to a graph, behind others; the node and those of the graphs below it.
pub fn add(
    device: &GpuDevice,
    (graph, after): (Handle, &[Handle]),
    (condition, choice): (u64, Choice),
    bodies: &[Vec<GraphStep>],
) -> Result<(Handle, Vec<Vec<Placed>>)> {
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
    let mut node: Handle = std::ptr::null_mut();
    let (first, count) = (after.as_ptr(), after.len());
    // SAFETY: graph and nodes are alive, the description is whole.
    check(unsafe { add(&mut node, graph, first, std::ptr::null(), count, &mut described) })?;
    let made = bodies.iter().enumerate().map(|(index, steps)| {
        // SAFETY: the driver has written as many graphs as were asked for.
        let graph = unsafe { *described.bodies.add(index) };
        let mut nodes = Vec::new();
        nodes::put(device, graph, &mut nodes, steps)?;
        Ok(nodes)
    });
    Ok((node, made.collect::<Result<_>>()?))
}
