//! Graphs that kernels launch, and the values of conditional nodes.

use super::launch::STREAM_FIRE_AND_FORGET;
use super::{Caller, Outcome, errors};
use crate::exec::Step;
use crate::exec::fault::Fault;
use crate::report::ReportKind;
use crate::sched::Core;
use crate::sched::graphs::GraphStream;

/// `cudaStreamGraphTailLaunch` of device code
const GRAPH_TAIL: u64 = 0x0100_0000_0000_0000;
/// `cudaStreamGraphFireAndForget`
const GRAPH_FIRE_AND_FORGET: u64 = 0x0200_0000_0000_0000;
/// `cudaStreamGraphFireAndForgetAsSibling`
const GRAPH_SIBLING: u64 = 0x0300_0000_0000_0000;

impl Core {
    /// `cudaGraphLaunch(graph, stream)`, which kernels of graphs may call.
    pub(super) fn graph_launch(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let stream = match caller.arg(1) {
            GRAPH_TAIL => GraphStream::Tail,
            GRAPH_FIRE_AND_FORGET => GraphStream::FireAndForget,
            GRAPH_SIBLING => GraphStream::Sibling,
            _ => return Outcome::Error(errors::INVALID_VALUE),
        };
        if stream != GraphStream::Tail {
            self.note_actor(caller, STREAM_FIRE_AND_FORGET);
        }
        let (run, site) = (caller.block.grid.of_graph.run, caller.site());
        let launched = self.launch_graph(run, caller.arg(0), stream, site);
        self.actor = None;
        Outcome::Error(if launched { 0 } else { errors::INVALID_VALUE })
    }

    /// `cudaGraphSetConditional(handle, value)`: of lanes that call it together the last one's value stays. The
    /// handle's graph has to run: on an H200 a kernel that sets it at another time ends with error 700.
    pub(super) fn graph_set_conditional(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        let (handle, value) = (caller.arg(0), caller.arg(1) as u32);
        let (what, cure) = match self.graphs.condition_mut(handle) {
            Some(condition) if condition.is_open => {
                condition.value = value;
                return Ok(Outcome::Value(0));
            }
            Some(_) => (
                "whose graph does not run",
                "set it in a kernel of the graph that it was made for, or give it a first value with \
                 cudaGraphCondAssignDefault",
            ),
            None => (
                "which is no conditional handle",
                "cudaGraphConditionalHandleCreate makes one, which lives as long as its graph",
            ),
        };
        let message = format!("cudaGraphSetConditional of 0x{handle:x}, {what}");
        Err(Fault::new(ReportKind::DeviceRuntime, None, message).help(cure))
    }
}
