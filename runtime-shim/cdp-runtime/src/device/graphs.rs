//! Graphs that are the device's: those that kernels may launch, and on a GPU those with conditional nodes. Other
//! graphs are replayed by [`crate::graph`], which needs no device.

use std::ffi::c_void;

use super::launches::LaunchAttribute;
use super::memory::{Copy2D, CopyKind};
use super::modules::KernelHandle;
use super::streams::{EventHandle, StreamHandle};
use crate::array::Copy3D;
use crate::error::{CudaError, Result};

/// A step of a graph that is the device's.
pub struct GraphStep {
    /// What is done.
    pub work: GraphWork,
    /// The steps, by place, that are done before; all of them come earlier.
    pub after: Vec<usize>,
    /// It is left out, so that what comes after it does not wait for it alone.
    pub is_off: bool,
}

/// How the value that a conditional node tests chooses among the node's graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first graph unless it is 0, then the second one if there is one.
    If,
    /// The first graph, as long as it is not 0.
    While,
    /// The graph of that number.
    Switch,
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
    /// Copies a rectangle from or to the host's memory. Not in graphs that kernels launch, like what follows.
    Transfer(Copy2D, CopyKind),
    /// Copies a box, which may be in an array.
    Box(Copy3D, CopyKind),
    /// Calls a function of the host.
    Host(unsafe extern "C" fn(*mut c_void), *mut c_void),
    /// Records an event.
    Record(EventHandle),
    /// Waits for an event.
    Wait(EventHandle),
    /// Does what the graph does that a condition chooses.
    #[allow(missing_docs)]
    Conditional { condition: u64, choice: Choice, bodies: Vec<Vec<GraphStep>> },
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

/// Graphs of a device, and the values that conditional nodes test.
pub trait Graphs {
    /// Makes a graph that host code launches, and if `by_kernels` kernels of graphs too. The handle is what both use.
    fn create_graph(&self, steps: &[GraphStep], by_kernels: bool) -> Result<u64>;
    /// Changes what later launches of such a graph do, to steps alike; the conditions that they test are those of a
    /// home, if they test any.
    fn change_graph(&self, graph: u64, home: Option<u64>, steps: &[GraphStep]) -> Result<()>;
    /// Destroys such a graph.
    fn destroy_graph(&self, graph: u64) -> Result<()>;
    /// Makes it ready for launches by kernels.
    fn upload_graph(&self, graph: u64, stream: StreamHandle) -> Result<()>;
    /// Launches it into a stream.
    fn launch_graph(&self, graph: u64, stream: StreamHandle) -> Result<()>;

    /// What this thread launches from now on are the kernels of a graph that it replays, which may launch graphs of
    /// the device. For devices where kernels of replayed graphs can.
    fn begin_replay(&self) {}
    /// Ends that: what comes into the stream next waits for what the kernels launched as well.
    fn end_replay(&self, _stream: StreamHandle) -> Result<()> {
        Ok(())
    }

    /// Makes a value that kernels set with `cudaGraphSetConditional`; its handle. A device that tests it itself
    /// gives a home as well, in which all values of a graph and the graph's steps are.
    fn create_condition(
        &self,
        home: Option<u64>,
        first: u32,
        flags: u32,
    ) -> Result<(Option<u64>, u64)>;
    /// The value, where it is the host that tests it.
    fn condition(&self, _condition: u64) -> Result<u32> {
        Err(CudaError::NOT_SUPPORTED.into())
    }
    /// Kernels may set the value from now on, which is the first one if there is one; where it is the host that
    /// tests it.
    fn open_condition(&self, _condition: u64, _first: Option<u32>) -> Result<()> {
        Err(CudaError::NOT_SUPPORTED.into())
    }
    /// Kernels may not set the value any more, where it is the host that tests it.
    fn close_condition(&self, _condition: u64) -> Result<()> {
        Err(CudaError::NOT_SUPPORTED.into())
    }
    /// Forgets a value; those in a home go with it.
    fn destroy_condition(&self, _condition: u64) -> Result<()> {
        Ok(())
    }
    /// Makes an executable graph of what is in a home and of steps.
    fn create_conditional_graph(&self, _home: u64, _steps: &[GraphStep]) -> Result<u64> {
        Err(CudaError::NOT_SUPPORTED.into())
    }
    /// Destroys a home.
    fn destroy_home(&self, _home: u64) -> Result<()> {
        Ok(())
    }
}
