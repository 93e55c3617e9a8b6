//! Parameter buffers, launches from device code, `cudaDeviceSynchronize`.

use std::sync::Arc;

use super::{Caller, Outcome, errors};
use crate::exec::fault::Fault;
use crate::exec::{OfGraph, Step};
use crate::memory::space;
use crate::report::ReportKind;
use crate::sched::{Action, Core, LaunchRequest, ParameterBuffer};

/// `cudaStreamTailLaunch`
pub const STREAM_TAIL: u64 = 3;
/// `cudaStreamFireAndForget`
pub const STREAM_FIRE_AND_FORGET: u64 = 4;
/// Largest parameter buffer that is given out.
const MAX_PARAMETER_BYTES: u64 = 32_764;
/// Nesting levels of CDP1.
const CDP1_MAX_DEPTH: u32 = 24;

/// A launch as the device calls give it.
struct DeviceLaunch {
    function: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: u64,
    buffer: u64,
}

impl Core {
    /// `GetParameterBuffer(alignment, size)`
    pub(super) fn get_parameter_buffer(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let size = caller.arg(1);
        self.new_buffer(caller, size, None)
    }

    /// `GetParameterBufferV2(function, grid, block, shared)`
    pub(super) fn get_parameter_buffer_v2(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let function = caller.arg(0);
        let config = (function, caller.dim3(1), caller.dim3(2), caller.arg(3) as u32);
        let size = self
            .kernel_at(function)
            .map_or(0, |k| self.program.kernels[k as usize].info.param_bytes);
        self.new_buffer(caller, size, Some(config))
    }

    /// A buffer, which takes a slot of the pending pool; NULL if the pool is used up.
    fn new_buffer(
        &mut self,
        caller: &mut Caller<'_>,
        size_bytes: u64,
        config: Option<(u64, [u32; 3], [u32; 3], u32)>,
    ) -> Outcome {
        if !self.take_slot() {
            *caller.last_error() = errors::LAUNCH_PENDING_COUNT;
            return Outcome::Value(0);
        }
        let size = size_bytes.max(1);
        let params = &self.machine.memory.params;
        let buffer = (size <= MAX_PARAMETER_BYTES)
            .then(|| params.take(&mut self.param_slots, size))
            .flatten();
        self.memory_begins(buffer.unwrap_or(0), size, false);
        let Some(address) = buffer else {
            self.release_slot();
            *caller.last_error() = errors::MEMORY_ALLOCATION;
            return Outcome::Value(0);
        };
        let is_first = self.grid(caller.grid).is_some_and(|grid| grid.buffers.capacity() == 0);
        let spare = if is_first { self.spare_buffers.pop() } else { None };
        if let Some(grid) = self.grid_state(caller.grid) {
            if let Some(spare) = spare {
                grid.buffers = spare;
            }
            grid.buffers.insert(address, ParameterBuffer { size_bytes, config });
        }
        Outcome::Value(address)
    }

    fn take_slot(&mut self) -> bool {
        if self.pending_launches >= self.limits.pending_launches {
            return false;
        }
        self.pending_launches += 1;
        self.pending_peak = self.pending_peak.max(self.pending_launches);
        true
    }

    /// The kernel at a device address.
    pub(super) fn kernel_at(&self, address: u64) -> Option<u32> {
        let number = space::function_number(address)?;
        self.program.kernel_of_function.get(&number).copied()
    }

    /// `LaunchDevice(function, buffer, grid, block, shared, stream)`
    pub(super) fn launch_device(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        let launch = DeviceLaunch {
            function: caller.arg(0),
            buffer: caller.arg(1),
            grid: caller.dim3(2),
            block: caller.dim3(3),
            shared_bytes: caller.arg(4) as u32,
            stream: caller.arg(5),
        };
        if matches!(launch.stream, STREAM_TAIL | STREAM_FIRE_AND_FORGET) {
            // The first version of the calls knows neither stream. The buffer is not found again
            // until the pool is empty (FACTS.md, "Entry points").
            if launch.buffer != 0 {
                if let Some(grid) = self.grid_state(caller.grid)
                    && grid.buffers.remove(&launch.buffer).is_some()
                {
                    self.lost_slots += 1;
                }
                self.release_params(launch.buffer);
            }
            return Ok(Outcome::Error(errors::INVALID_VALUE));
        }
        self.launch_common(caller, launch)
    }

    /// `LaunchDeviceV2(buffer, stream)`
    pub(super) fn launch_device_v2(&mut self, caller: &mut Caller<'_>) -> Step<Outcome> {
        let (buffer, stream) = (caller.arg(0), caller.arg(1));
        let known =
            self.grid_state(caller.grid).and_then(|grid| grid.buffers.get(&buffer).copied());
        let Some((function, grid, block, shared_bytes)) = known.and_then(|b| b.config) else {
            return Ok(Outcome::Error(errors::INVALID_VALUE));
        };
        self.launch_common(
            caller,
            DeviceLaunch { function, grid, block, shared_bytes, stream, buffer },
        )
    }

    fn launch_common(&mut self, caller: &mut Caller<'_>, launch: DeviceLaunch) -> Step<Outcome> {
        // The buffer and its slot are used up whatever happens from here on.
        let params = self.take_buffer(caller, &launch);
        let (params, holds_slot) = match params {
            Ok(taken) => taken,
            Err(code) => return Ok(Outcome::Error(code)),
        };
        let refuse = |core: &mut Core, code: u32| {
            if holds_slot {
                core.release_slot();
            }
            Ok(Outcome::Error(code))
        };
        let Some(kernel) = self.kernel_at(launch.function) else {
            return refuse(self, errors::INVALID_DEVICE_FUNCTION);
        };
        let request = LaunchRequest {
            kernel,
            grid: launch.grid,
            block: launch.block,
            shared_bytes: launch.shared_bytes,
            params,
            barrier: 0,
            cluster: None,
            of_graph: OfGraph::default(),
        };
        if let Some(refusal) = &self.program.kernels[kernel as usize].refusal {
            // Not the program's error, so the program is not asked to handle it.
            let message = format!("launch of a kernel that the CPU device does not run: {refusal}");
            return Err(Fault::new(ReportKind::InvalidInstruction, None, message));
        }
        if self.check_configuration(&request).is_err() {
            return refuse(self, errors::INVALID_CONFIGURATION);
        }
        // The kernel's own clusters are made, as on an H200; a launch cannot choose others.
        if self.check_cluster(&request).is_err() {
            return refuse(self, errors::INVALID_CLUSTER_SIZE);
        }
        let depth = self.grid(caller.grid).map_or(0, |grid| grid.depth);
        if self.is_cdp1(caller) && depth + 1 >= CDP1_MAX_DEPTH {
            return refuse(self, errors::LAUNCH_MAX_DEPTH);
        }
        if !self.stream_is_valid(caller, launch.stream) {
            return refuse(self, errors::INVALID_VALUE);
        }
        let site = Some(caller.site());
        let key = self.add_grid(request, Some(caller.grid), site, caller.clock(), holds_slot);
        caller.block.runtime.children += 1;
        self.number_blocks(key, caller.block.serial, caller.block.runtime.children);
        self.trace_stream(key, || super::streams::name(caller, launch.stream).to_string());
        self.enqueue_device(caller, launch.stream, Action::Grid(key));
        self.count_child(caller.block.grid.kernel);
        let first = is_first_lane(caller);
        let apart = launch.stream == STREAM_FIRE_AND_FORGET
            && self.grid(caller.grid).is_some_and(|grid| grid.apart);
        let runtime = &mut caller.block.runtime;
        if apart {
            runtime.launched_apart += 1;
        } else {
            runtime.launches += u32::from(first);
        }
        Ok(Outcome::Error(0))
    }

    /// Takes the parameter bytes out of a buffer and releases it. Without a buffer, takes a slot
    /// and no bytes. The flag says whether a slot is held.
    fn take_buffer(
        &mut self,
        caller: &mut Caller<'_>,
        launch: &DeviceLaunch,
    ) -> Result<(Arc<[u8]>, bool), u32> {
        if launch.buffer == 0 {
            let needs = self
                .kernel_at(launch.function)
                .is_some_and(|k| self.program.kernels[k as usize].info.param_bytes > 0);
            if needs {
                return Err(errors::INVALID_VALUE);
            }
            return if self.take_slot() {
                Ok((Arc::default(), true))
            } else {
                Err(errors::LAUNCH_PENDING_COUNT)
            };
        }
        let entry =
            self.grid_state(caller.grid).and_then(|grid| grid.buffers.remove(&launch.buffer));
        let entry = entry.ok_or(errors::INVALID_VALUE)?;
        let wanted = self
            .kernel_at(launch.function)
            .map_or(0, |k| self.program.kernels[k as usize].info.param_bytes as usize);
        let given = (entry.size_bytes as usize).min(wanted);
        caller.reads(self, launch.buffer, given as u64);
        // SAFETY: the buffer has at least this size and is still in use, since only this function
        // releases buffers that are in the table.
        let bytes = unsafe { std::slice::from_raw_parts(launch.buffer as *const u8, given) };
        let params: Arc<[u8]> = if given == wanted {
            bytes.into()
        } else {
            bytes.iter().copied().chain(std::iter::repeat(0)).take(wanted).collect()
        };
        self.release_params(launch.buffer);
        Ok((params, true))
    }

    /// Gives a parameter buffer back.
    pub(crate) fn release_params(&mut self, buffer: u64) {
        self.machine.memory.params.release(&mut self.param_slots, buffer);
    }

    /// Documented names below sm_90 are the first version of dynamic parallelism.
    pub(super) fn is_cdp1(&self, caller: &Caller<'_>) -> bool {
        let kernel = &self.program.kernels[caller.block.grid.kernel as usize];
        !caller.prefixed && kernel.info.target_sm < 90
    }

    /// `cudaDeviceSynchronize()`: waits for all work that the calling block launched.
    pub(super) fn device_synchronize(&mut self, caller: &mut Caller<'_>) -> Outcome {
        let depth = self.grid(caller.grid).map_or(0, |grid| grid.depth);
        if depth >= self.limits.sync_depth {
            return Outcome::Error(errors::SYNC_DEPTH);
        }
        if self.block_outstanding(caller.key) == 0 {
            let thread = caller.thread();
            self.edge_children_done(caller.key, caller.block, thread);
            return Outcome::Error(0);
        }
        Outcome::Wait
    }
}

/// True for the first lane of the call, so that a launch by a warp counts once.
fn is_first_lane(caller: &Caller<'_>) -> bool {
    caller.path.mask.trailing_zeros() as usize == caller.lane
}
