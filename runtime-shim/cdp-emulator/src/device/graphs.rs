//! Graphs that kernels may launch, and the values that conditional nodes of others test.

use super::Emulator;
use crate::api::{GraphStep, GraphWork, HostView, ReplayRun, StreamId};
use crate::error::Error;
use crate::sched::Action;
use crate::sched::graphs::{PlannedStep, PlannedWork};

impl Emulator {
    /// Makes a graph that host code and the kernels of graphs launch; what they know it by.
    ///
    /// # Errors
    /// Those of [`Emulator::launch`], [`Emulator::copy_in_device`] and [`Emulator::set_memory`] for its steps, and
    /// [`Error::InvalidValue`] for a cooperative launch and for a kernel that calls the device runtime.
    pub fn create_graph(&mut self, steps: &[GraphStep<'_>]) -> Result<u64, Error> {
        let steps = self.steps(steps)?;
        Ok(self.core.graphs.add(steps))
    }

    /// Changes what later launches of a graph do.
    ///
    /// # Errors
    /// As for [`Emulator::create_graph`], and [`Error::InvalidHandle`].
    pub fn change_graph(&mut self, graph: u64, steps: &[GraphStep<'_>]) -> Result<(), Error> {
        let steps = self.steps(steps)?;
        known(self.core.graphs.change(graph, steps))
    }

    /// Forgets a graph; what was launched goes on.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn destroy_graph(&mut self, graph: u64) -> Result<(), Error> {
        known(self.core.graphs.remove(graph))
    }

    /// Queues a graph. Does not wait.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn launch_graph(&mut self, graph: u64, stream: StreamId) -> Result<(), Error> {
        self.refuse_after_fault()?;
        self.core.trace_event("graph", || format!("stream {}", stream.0), 0);
        self.core.enqueue_graph(stream, graph)
    }

    /// What host code knows now, if a check is on that follows order; for [`Emulator::replay_as_of`].
    pub fn host_view(&mut self) -> Option<HostView> {
        let view = self.core.watch_mut().filter(|watch| watch.follows_order())?.host_view();
        Some(HostView(view))
    }

    /// What host code queues from now on are nodes of a graph that it launched when it knew this: they have the
    /// order of their streams and events alone, whatever is waited for meanwhile. `None` ends that.
    pub fn replay_as_of(&mut self, view: Option<&HostView>) {
        if let Some(watch) = self.core.watch_mut() {
            watch.set_replay(view.map(|view| view.0.clone()));
        }
    }

    /// Begins a run of a graph that host code replays, if there are graphs that its kernels may launch.
    pub fn begin_replay(&mut self) -> Option<ReplayRun> {
        self.core.begin_replay().map(ReplayRun)
    }

    /// Kernels that are launched from now on are nodes of such a run. `None` ends that.
    pub fn launch_in(&mut self, run: Option<ReplayRun>) {
        self.replay = run;
    }

    /// Ends a run, all of whose nodes are queued: what comes into the stream next waits for the graphs that its
    /// kernels launch as well.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn end_replay(&mut self, run: ReplayRun, stream: StreamId) -> Result<(), Error> {
        self.core.end_replay(run.0, stream)
    }

    /// Makes a value that kernels set with `cudaGraphSetConditional`; what they know it by.
    pub fn create_condition(&mut self, value: u32) -> u64 {
        self.core.graphs.add_condition(value)
    }

    /// Such a value, as the work that is done has left it.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn condition(&self, handle: u64) -> Result<u32, Error> {
        let found = self.core.graphs.condition(handle);
        found.map(|found| found.value).ok_or(Error::InvalidHandle { what: "condition" })
    }

    /// Its graph begins to run, with this value if one is given: kernels may set it.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn open_condition(&mut self, handle: u64, first: Option<u32>) -> Result<(), Error> {
        let found = self.core.graphs.condition_mut(handle);
        let condition = found.ok_or(Error::InvalidHandle { what: "condition" })?;
        condition.is_open = true;
        condition.value = first.unwrap_or(condition.value);
        Ok(())
    }

    /// Its graph has run: a kernel that sets it now is at fault.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn close_condition(&mut self, handle: u64) -> Result<(), Error> {
        let found = self.core.graphs.condition_mut(handle);
        found.ok_or(Error::InvalidHandle { what: "condition" })?.is_open = false;
        Ok(())
    }

    /// Forgets such a value.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]
    pub fn destroy_condition(&mut self, handle: u64) -> Result<(), Error> {
        match self.core.graphs.remove_condition(handle) {
            true => Ok(()),
            false => Err(Error::InvalidHandle { what: "condition" }),
        }
    }

    fn steps(&self, steps: &[GraphStep<'_>]) -> Result<Vec<PlannedStep>, Error> {
        steps
            .iter()
            .enumerate()
            .map(|(place, step)| {
                if step.after.iter().any(|before| *before >= place) {
                    let message = "a step of a graph after a later one".to_string();
                    return Err(Error::InvalidValue { message });
                }
                Ok(PlannedStep { work: self.step_work(&step.work)?, after: step.after.clone() })
            })
            .collect()
    }

    fn step_work(&self, work: &GraphWork<'_>) -> Result<PlannedWork, Error> {
        Ok(PlannedWork::Other(match *work {
            GraphWork::Launch(launch) if launch.cooperative => {
                let message = "a cooperative launch in a graph that kernels launch".to_string();
                return Err(Error::InvalidValue { message });
            }
            GraphWork::Launch(launch) if self.kernel_entry(launch.kernel)?.uses_runtime => {
                let message =
                    "a kernel that calls the device runtime in a graph that kernels launch";
                return Err(Error::InvalidValue { message: message.to_string() });
            }
            GraphWork::Launch(launch) => return Ok(PlannedWork::Grid(self.request(&launch)?)),
            GraphWork::Nothing => {
                Action::Copy { dst: 0, dst_pitch: 0, src: 0, src_pitch: 0, width: 0, rows: 0 }
            }
            GraphWork::Copy { dst, dst_pitch_bytes, src, src_pitch_bytes, width_bytes, rows } => {
                self.check_rows(dst, dst_pitch_bytes, width_bytes, rows)?;
                self.check_rows(src, src_pitch_bytes, width_bytes, rows)?;
                let (dst_pitch, src_pitch, width) = (dst_pitch_bytes, src_pitch_bytes, width_bytes);
                Action::Copy { dst, dst_pitch, src, src_pitch, width, rows }
            }
            GraphWork::Set { dst, pitch_bytes, pattern, pattern_bytes, width_bytes, rows } => {
                self.check_rows(dst, pitch_bytes, width_bytes, rows)?;
                let (pitch, width) = (pitch_bytes, width_bytes);
                Action::Set { dst, pitch, pattern, pattern_bytes, width, rows }
            }
        }))
    }
}

fn known(found: bool) -> Result<(), Error> {
    if found { Ok(()) } else { Err(Error::InvalidHandle { what: "graph" }) }
}
