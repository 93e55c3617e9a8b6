//! What a node of a graph does.

use std::ffi::c_void;

use super::Graph;
use super::condition::Conditional;
use super::replay::Lanes;
use crate::array::Copy3D;
use crate::capi;
use crate::device::{
    Copy2D, CopyKind, EventHandle, LaunchAttribute, LaunchConfig, MemoryType, StreamHandle,
};
use crate::error::{CudaError, Result};
use crate::process;

/// A launch with the bytes of its parameters.
#[derive(Clone)]
pub struct Kernel {
    /// The kernel as host code knows it.
    pub handle: usize,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory.
    pub shared_bytes: u64,
    /// What `<<<>>>` cannot say.
    pub attributes: Vec<LaunchAttribute>,
    /// Bytes of each parameter.
    pub params: Vec<Box<[u8]>>,
}

/// `cudaMemsetParams`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Set {
    pub dst: *mut c_void,
    pub pitch: usize,
    pub value: u32,
    pub element_bytes: u32,
    pub width: usize,
    pub height: usize,
}

/// The graph of a node.
#[derive(Clone)]
pub struct Child {
    /// What its nodes do: as of when the whole was made executable, or the node made.
    pub content: Graph,
    /// Where the program changes them, once it has asked.
    pub graph: Option<u64>,
}

/// What a node does.
#[derive(Clone)]
pub enum Op {
    /// Nothing: dependencies meet here.
    Empty,
    /// Launches a kernel.
    Kernel(Kernel),
    /// Copies a box, as host code described it.
    Described(capi::Memcpy3DParms),
    /// Copies a rectangle of memory.
    Rectangle(Copy2D, CopyKind),
    /// Copies a box.
    Box(Copy3D, CopyKind),
    /// Fills.
    Set(Set),
    /// Calls a function of the host.
    Host(Option<capi::HostFunction>, *mut c_void),
    /// Does what another graph does.
    Child(Child),
    /// Does what one of several graphs does, or one again and again.
    Conditional(Conditional),
    /// Records an event.
    Record(EventHandle),
    /// Waits for an event.
    Wait(EventHandle),
    /// Memory that was allocated when the node was made, and stays.
    #[allow(missing_docs)]
    Allocate { address: u64, bytes: u64 },
    /// Such memory is not used any more.
    #[allow(missing_docs)]
    Free { address: u64 },
}

// SAFETY: the pointers are the program's, which says what may be used when.
unsafe impl Send for Op {}

impl Op {
    /// Does what another graph does, as that is now.
    ///
    /// # Errors
    /// `cudaErrorNotSupported` for graphs with conditional nodes.
    pub fn child(graph: Graph) -> Result<Op> {
        if graph.is_conditional() {
            return Err(CudaError::NOT_SUPPORTED.into());
        }
        Ok(Op::Child(Child { content: graph.apart(), graph: None }))
    }

    /// `cudaGraphNodeType`
    pub fn kind(&self) -> u32 {
        match self {
            Op::Kernel(_) => 0,
            Op::Described(_) | Op::Rectangle(..) | Op::Box(..) => 1,
            Op::Set(_) => 2,
            Op::Host(..) => 3,
            Op::Child(_) => 4,
            Op::Empty => 5,
            Op::Wait(_) => 6,
            Op::Record(_) => 7,
            Op::Allocate { .. } => 10,
            Op::Free { .. } => 11,
            Op::Conditional(_) => 13,
        }
    }

    /// A device does it without the host, but for what graphs below it do.
    pub(super) fn is_of_device_alone(&self) -> Result<bool> {
        let device = &process::current()?.device;
        let is_known = |side: u64| {
            let info = device.pointer_info(side);
            info.is_ok_and(|info| info.memory != MemoryType::Unregistered)
        };
        let is_reached = |copy: &Copy2D, kind: CopyKind| {
            kind != CopyKind::HostToHost && is_known(copy.dst) && is_known(copy.src)
        };
        Ok(match self {
            Op::Empty | Op::Kernel(_) | Op::Set(_) | Op::Child(_) | Op::Conditional(_) => true,
            Op::Rectangle(copy, kind) => is_reached(copy, *kind),
            Op::Described(copy) => {
                let kind = capi::copy_kind(copy.kind)?;
                capi::rectangles(copy)
                    .is_some_and(|mut all| all.all(|copy| is_reached(&copy, kind)))
            }
            // Arrays.
            Op::Box(..) | Op::Host(..) | Op::Record(_) | Op::Wait(_) => false,
            Op::Allocate { .. } | Op::Free { .. } => false,
        })
    }

    /// Does it in a stream; branches of graphs below take lanes.
    pub fn run(&self, stream: StreamHandle, lanes: &mut Lanes) -> Result<()> {
        let device = process::current()?;
        let device = &device.device;
        match self {
            Op::Empty => Ok(()),
            Op::Allocate { address, .. } => device.allocated_in_stream(*address, stream),
            Op::Free { address } => device.unused_in_stream(*address, stream),
            Op::Kernel(kernel) => kernel.run(stream),
            // SAFETY: the host's sides are the program's affair, here and below.
            Op::Described(parameters) => unsafe { capi::copy_3d(parameters, Some(stream)) },
            Op::Rectangle(copy, kind) => unsafe { device.copy_2d(copy, *kind, Some(stream)) },
            Op::Box(copy, kind) => unsafe { device.copy_3d(copy, *kind, Some(stream)) },
            Op::Set(set) => set.run(stream),
            Op::Host(function, data) => unsafe { capi::call_in_order(*function, *data, stream) },
            Op::Child(child) => child.content.replay(stream, lanes),
            Op::Conditional(conditional) => conditional.run(stream, lanes),
            Op::Record(event) => device.record_event(*event, stream, 0),
            Op::Wait(event) => device.stream_wait_event(stream, *event, 0),
        }
    }
}

impl Kernel {
    fn run(&self, stream: StreamHandle) -> Result<()> {
        let mut pointers: Vec<*mut c_void> =
            self.params.iter().map(|param| param.as_ptr().cast_mut().cast()).collect();
        let config = LaunchConfig {
            grid: self.grid,
            block: self.block,
            shared_bytes: self.shared_bytes,
            stream,
            attributes: &self.attributes,
        };
        // SAFETY: as many bytes as the kernel's parameters have.
        unsafe { capi::launch_now(self.handle as *const c_void, config, pointers.as_mut_ptr()) }
    }
}

impl Set {
    /// Fills rows with a value of 1, 2 or 4 bytes.
    pub fn run(&self, stream: StreamHandle) -> Result<()> {
        let device = process::current()?;
        let element = &self.value.to_le_bytes()[..self.element_bytes as usize];
        let width_bytes = self.width * element.len();
        let pitch = if self.height > 1 { self.pitch } else { width_bytes };
        if element.iter().all(|byte| *byte == element[0]) {
            // SAFETY: device memory is the device's to check, managed memory the program's affair.
            return unsafe {
                let (width, height) = (width_bytes as u64, self.height as u64);
                let dst = self.dst as u64;
                device.device.fill_2d(dst, pitch as u64, element[0], width, height, Some(stream))
            };
        }
        // Devices fill with bytes alone: what is wider is copied from a row of it.
        let row = element.repeat(self.width);
        for y in 0..self.height {
            let dst = self.dst as u64 + (y * pitch) as u64;
            let bytes = width_bytes as u64;
            let (src, kind) = (row.as_ptr() as u64, CopyKind::HostToDevice);
            // SAFETY: the row lives until the stream has been waited for.
            unsafe { device.device.copy(dst, src, bytes, kind, Some(stream))? };
        }
        device.device.synchronize_stream(stream)
    }
}
