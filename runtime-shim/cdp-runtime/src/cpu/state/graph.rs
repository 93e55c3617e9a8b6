//! Graphs that kernels may launch, on the CPU device.

use cdp_emulator::{GraphStep as Step, GraphWork as Work, ReplayRun, StreamId};

use super::modules::launch_of;
use super::{State, convert};
use crate::device::{Copy2D, GraphStep, GraphWork, LaunchConfig, StreamHandle};
use crate::error::{CudaError, Result};

impl State {
    pub fn create_graph(&mut self, steps: &[GraphStep]) -> Result<u64> {
        self.alive()?;
        let buffers = self.buffers(steps)?;
        let steps = self.steps(steps, &buffers)?;
        self.emulator.create_graph(&steps).map_err(|error| self.refused(error))
    }

    pub fn change_graph(&mut self, graph: u64, steps: &[GraphStep]) -> Result<()> {
        self.alive()?;
        let buffers = self.buffers(steps)?;
        let steps = self.steps(steps, &buffers)?;
        self.emulator.change_graph(graph, &steps).map_err(|error| self.refused(error))
    }

    pub fn destroy_graph(&mut self, graph: u64) -> Result<()> {
        self.emulator.destroy_graph(graph).map_err(convert)
    }

    pub fn launch_graph(&mut self, graph: u64, stream: StreamHandle) -> Result<()> {
        self.alive()?;
        let stream = self.stream(stream)?;
        self.emulator.launch_graph(graph, stream).map_err(|error| self.or_fault(error))?;
        self.enqueued()
    }

    pub fn end_replay(&mut self, run: ReplayRun, stream: StreamHandle) -> Result<()> {
        let stream = self.stream(stream)?;
        self.emulator.end_replay(run, stream).map_err(convert)?;
        self.enqueued()
    }

    pub fn create_condition(&mut self, first: u32) -> u64 {
        self.emulator.create_condition(first)
    }

    pub fn condition(&self, condition: u64) -> Result<u32> {
        self.emulator.condition(condition).map_err(convert)
    }

    pub fn open_condition(&mut self, condition: u64, first: Option<u32>) -> Result<()> {
        self.emulator.open_condition(condition, first).map_err(convert)
    }

    pub fn close_condition(&mut self, condition: u64) -> Result<()> {
        self.emulator.close_condition(condition).map_err(convert)
    }

    pub fn destroy_condition(&mut self, condition: u64) -> Result<()> {
        self.emulator.destroy_condition(condition).map_err(convert)
    }

    /// The parameter buffer of each step, empty for those that launch nothing.
    fn buffers(&self, steps: &[GraphStep]) -> Result<Vec<Vec<u8>>> {
        let buffer = |step: &GraphStep| match &step.work {
            GraphWork::Launch { kernel, params, .. } => {
                let params: Vec<&[u8]> = params.iter().map(|bytes| &**bytes).collect();
                Ok(self.prepare(*kernel, &config(&step.work), &params)?.1)
            }
            _ => Ok(Vec::new()),
        };
        steps.iter().map(buffer).collect()
    }

    fn steps<'a>(&self, steps: &[GraphStep], buffers: &'a [Vec<u8>]) -> Result<Vec<Step<'a>>> {
        let step = |(step, buffer): (&GraphStep, &'a Vec<u8>)| {
            let work = match &step.work {
                _ if step.is_off => Work::Nothing,
                GraphWork::Nothing => Work::Nothing,
                GraphWork::Launch { kernel, .. } => {
                    let kernel = self.kernels[&kernel.0].0;
                    Work::Launch(launch_of(kernel, &config(&step.work), StreamId::NULL, buffer))
                }
                GraphWork::Copy(copy) => copy_of(copy),
                // Graphs with these are replayed.
                GraphWork::Transfer(..)
                | GraphWork::Box(..)
                | GraphWork::Host(..)
                | GraphWork::Record(_)
                | GraphWork::Wait(_)
                | GraphWork::Conditional { .. } => {
                    return Err(CudaError::NOT_SUPPORTED.into());
                }
                GraphWork::Set { dst, pitch_bytes, value, element_bytes, width, height } => {
                    Work::Set {
                        dst: *dst,
                        pitch_bytes: *pitch_bytes as u64,
                        pattern: value.to_le_bytes(),
                        pattern_bytes: *element_bytes as u8,
                        width_bytes: *width as u64 * u64::from(*element_bytes),
                        rows: *height as u64,
                    }
                }
            };
            Ok(Step { work, after: step.after.clone() })
        };
        steps.iter().zip(buffers).map(step).collect()
    }
}

/// The configuration of a step that launches.
fn config(work: &GraphWork) -> LaunchConfig<'_> {
    let stream = StreamHandle::NULL;
    match work {
        GraphWork::Launch { grid, block, shared_bytes, attributes, .. } => LaunchConfig {
            grid: *grid,
            block: *block,
            shared_bytes: *shared_bytes,
            stream,
            attributes,
        },
        _ => LaunchConfig { grid: [0; 3], block: [0; 3], shared_bytes: 0, stream, attributes: &[] },
    }
}

fn copy_of(copy: &Copy2D) -> Work<'static> {
    Work::Copy {
        dst: copy.dst,
        dst_pitch_bytes: copy.dst_pitch_bytes as u64,
        src: copy.src,
        src_pitch_bytes: copy.src_pitch_bytes as u64,
        width_bytes: copy.width_bytes as u64,
        rows: copy.height as u64,
    }
}
