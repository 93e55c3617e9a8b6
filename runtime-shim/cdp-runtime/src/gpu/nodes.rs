//! Nodes of the driver's graphs: steps are put into a graph, and later ones that are alike into the same nodes, by
//! which an executable that was made of them is known. What is done with graphs is in [`super::graph`].

use std::ffi::{c_uint, c_void};
use std::sync::PoisonError;

use super::driver::{Handle, check};
use super::{GpuDevice, condition};
use crate::device::{Copy2D, CopyKind, GraphStep, GraphWork};
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

/// `CUDA_HOST_NODE_PARAMS`
#[repr(C)]
pub struct DriverHostNode {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

/// A node, and what it was made for.
pub struct Placed {
    /// Driver pointers as numbers, here and below.
    node: u64,
    after: Vec<usize>,
    kind: Kind,
    /// Those of the graphs below it.
    bodies: Vec<Vec<Placed>>,
}

/// What of a node cannot be changed.
#[derive(PartialEq, Eq)]
enum Kind {
    Nothing,
    Kernel { attributes: Vec<(u32, [u64; 8])> },
    Copy,
    Set,
    Host,
    Record,
    Wait,
    Conditional { condition: u64 },
}

impl Kind {
    fn of(work: &GraphWork) -> Kind {
        match work {
            GraphWork::Nothing => Kind::Nothing,
            GraphWork::Launch { attributes, .. } => Kind::Kernel {
                attributes: attributes.iter().map(|known| (known.id, known.value)).collect(),
            },
            GraphWork::Copy(_) | GraphWork::Transfer(..) | GraphWork::Box(..) => Kind::Copy,
            GraphWork::Set { .. } => Kind::Set,
            GraphWork::Host(..) => Kind::Host,
            GraphWork::Record(_) => Kind::Record,
            GraphWork::Wait(_) => Kind::Wait,
            GraphWork::Conditional { condition, .. } => Kind::Conditional { condition: *condition },
        }
    }

    /// The driver leaves out such nodes if it is told to.
    fn can_be_off(&self) -> bool {
        matches!(self, Kind::Kernel { .. } | Kind::Copy | Kind::Set)
    }
}

impl Placed {
    fn fits(&self, step: &GraphStep) -> bool {
        self.after == step.after
            && self.kind == Kind::of(&step.work)
            && self.bodies.len() == bodies(&step.work).len()
            && self.bodies_with(step).all(|(nodes, steps)| fit(nodes, steps))
    }

    /// The graphs below it, and what a step has them do.
    fn bodies_with<'a>(
        &'a self,
        step: &'a GraphStep,
    ) -> impl Iterator<Item = (&'a [Placed], &'a [GraphStep])> {
        let bodies = self.bodies.iter().zip(bodies(&step.work));
        bodies.map(|(body, steps)| (&**body, &**steps))
    }
}

/// What the graphs below a node do.
fn bodies(work: &GraphWork) -> &[Vec<GraphStep>] {
    match work {
        GraphWork::Conditional { bodies, .. } => bodies,
        _ => &[],
    }
}

/// The nodes can do what the steps say.
fn fit(nodes: &[Placed], steps: &[GraphStep]) -> bool {
    nodes.len() == steps.len() && nodes.iter().zip(steps).all(|(node, step)| node.fits(step))
}

/// Has a graph of the driver do steps: by its nodes if they fit, else by new ones.
pub fn put(
    device: &GpuDevice,
    graph: Handle,
    nodes: &mut Vec<Placed>,
    steps: &[GraphStep],
) -> Result<()> {
    if fit(nodes, steps) {
        return change(device, nodes, steps);
    }
    let driver = device.bind()?;
    for placed in nodes.drain(..) {
        // SAFETY: a node of the graph, forgotten with this.
        check(unsafe { (driver.cuGraphDestroyNode)(placed.node as Handle) })?;
    }
    for step in steps {
        let after: Vec<Handle> =
            step.after.iter().map(|before| nodes[*before].node as Handle).collect();
        let new = Target::New { graph, after: &after };
        let (node, bodies) = match &step.work {
            GraphWork::Conditional { condition, choice, bodies } => {
                condition::add(device, (graph, &after), (*condition, *choice), bodies)?
            }
            work => (write(device, new, work)?, Vec::new()),
        };
        let (after, kind) = (step.after.clone(), Kind::of(&step.work));
        nodes.push(Placed { node: node as u64, after, kind, bodies });
    }
    Ok(())
}

/// Has nodes do the steps that they fit.
fn change(device: &GpuDevice, nodes: &[Placed], steps: &[GraphStep]) -> Result<()> {
    for (placed, step) in nodes.iter().zip(steps) {
        write(device, Target::Known(placed.node as Handle), &step.work)?;
        placed.bodies_with(step).try_for_each(|(nodes, steps)| change(device, nodes, steps))?;
    }
    Ok(())
}

/// Has an executable leave out nodes that it was made of, and do the others.
///
/// # Errors
/// `cudaErrorNotSupported` if a step is off that the nodes do not have.
pub fn switch(
    device: &GpuDevice,
    executable: Handle,
    nodes: &[Placed],
    steps: &[GraphStep],
) -> Result<()> {
    let driver = device.bind()?;
    if nodes.len() != steps.len() {
        let all_on = steps.iter().all(|step| !step.is_off);
        return if all_on { Ok(()) } else { Err(CudaError::NOT_SUPPORTED.into()) };
    }
    for (placed, step) in nodes.iter().zip(steps) {
        if placed.kind.can_be_off() {
            let on = c_uint::from(!step.is_off);
            // SAFETY: both are alive.
            check(unsafe {
                (driver.cuGraphNodeSetEnabled)(executable, placed.node as Handle, on)
            })?;
        }
        placed
            .bodies_with(step)
            .try_for_each(|(nodes, steps)| switch(device, executable, nodes, steps))?;
    }
    Ok(())
}

/// Where a description goes.
enum Target<'a> {
    /// Into a new node of a graph, behind others.
    New { graph: Handle, after: &'a [Handle] },
    /// Into a node of the kind.
    Known(Handle),
}

/// Describes what a node does; the node. Conditional nodes have no description that can be changed.
fn write(device: &GpuDevice, target: Target<'_>, work: &GraphWork) -> Result<Handle> {
    let driver = device.bind()?;
    let context = *device.context.lock().unwrap_or_else(PoisonError::into_inner) as Handle;
    let mut node: Handle = match target {
        Target::New { .. } => std::ptr::null_mut(),
        Target::Known(node) => node,
    };
    /// Calls the function that adds such a node, or the one that changes it.
    macro_rules! describe {
        ($add:ident, $set:ident, $described:expr $(, $context:expr)?) => {
            // SAFETY: everything named here is alive during the calls, and the driver copies what it keeps; parameters
            // have as many bytes as the kernel's, which the caller has from the same module.
            check(unsafe {
                match target {
                    Target::New { graph, after } => {
                        let (first, count) = (after.as_ptr(), after.len());
                        (driver.$add)(&mut node, graph, first, count, $described $(, $context)?)
                    }
                    Target::Known(node) => (driver.$set)(node, $described),
                }
            })
        };
    }
    match work {
        GraphWork::Nothing => {
            if let Target::New { graph, after } = target {
                let (first, count) = (after.as_ptr(), after.len());
                // SAFETY: all of them are alive.
                check(unsafe { (driver.cuGraphAddEmptyNode)(&mut node, graph, first, count) })?;
            }
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
            describe!(cuGraphAddKernelNode_v2, cuGraphKernelNodeSetParams_v2, &described)?;
            for attribute in attributes {
                // SAFETY: as above.
                check(unsafe {
                    (driver.cuGraphKernelNodeSetAttribute)(node, attribute.id, &attribute.value)
                })?;
            }
        }
        GraphWork::Copy(copy) => {
            let described = rectangle(copy, CopyKind::DeviceToDevice);
            describe!(cuGraphAddMemcpyNode, cuGraphMemcpyNodeSetParams, &described, context)?;
        }
        GraphWork::Transfer(copy, kind) => {
            let described = rectangle(copy, *kind);
            describe!(cuGraphAddMemcpyNode, cuGraphMemcpyNodeSetParams, &described, context)?;
        }
        GraphWork::Box(copy, kind) => {
            let described = Cuboid::new(copy, *kind);
            describe!(cuGraphAddMemcpyNode, cuGraphMemcpyNodeSetParams, &described, context)?;
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
            describe!(cuGraphAddMemsetNode, cuGraphMemsetNodeSetParams, &described, context)?;
        }
        GraphWork::Host(function, data) => {
            let described = DriverHostNode { function: *function, data: *data };
            describe!(cuGraphAddHostNode, cuGraphHostNodeSetParams, &described)?;
        }
        GraphWork::Record(event) => {
            let event = device.event(*event)?;
            describe!(cuGraphAddEventRecordNode, cuGraphEventRecordNodeSetEvent, event)?;
        }
        GraphWork::Wait(event) => {
            let event = device.event(*event)?;
            describe!(cuGraphAddEventWaitNode, cuGraphEventWaitNodeSetEvent, event)?;
        }
        GraphWork::Conditional { .. } => {}
    }
    Ok(node)
}

/// The driver's description of a rectangle.
fn rectangle(copy: &Copy2D, kind: CopyKind) -> Cuboid {
    // The pitch of a single row may be anything to us.
    let pitch = |pitch_bytes: usize| pitch_bytes.max(copy.width_bytes);
    let (dst_pitch_bytes, src_pitch_bytes) =
        (pitch(copy.dst_pitch_bytes), pitch(copy.src_pitch_bytes));
    Cuboid::rectangle(&Copy2D { dst_pitch_bytes, src_pitch_bytes, ..*copy }, kind)
}
