//! The device runtime: what the calls of device code do, thread by thread.
//!
//! The table of names is in `services`; the errors and their numbers are those of the CUDA runtime.
//! Behaviour that no document tells is in FACTS.md and named where it is built.

pub mod errors;
mod graphs;
mod info;
mod launch;
mod memory;
mod streams;

pub use info::device_attribute;

use std::sync::Arc;

use crate::code::{Call, Callee, Function, Op};
use crate::exec::calls;
use crate::exec::fault::Fault;
use crate::exec::memory as device_memory;
use crate::exec::{Block, Path, PathState, Step, Warp, path};
use crate::memory::space::{self, Window};
use crate::memory::{AllocKind, FreeError, SiteRef};
use crate::report::ReportKind;
use crate::sched::Core;
use crate::services::{DeviceCall, Service};
use crate::work::{BlockKey, GridKey};

/// A thread that calls the device runtime.
pub(crate) struct Caller<'a> {
    pub block: &'a mut Block,
    /// Its warp, taken out of the block.
    pub warp: &'a mut Warp,
    pub path: Path,
    pub call: &'a Call,
    pub lane: usize,
    pub grid: GridKey,
    pub key: BlockKey,
    /// By its `__cudaCDP2` name.
    pub prefixed: bool,
    /// By its `_ptsz` name.
    pub per_thread: bool,
}

impl Caller<'_> {
    /// Argument of up to eight bytes.
    pub fn arg(&self, index: usize) -> u64 {
        calls::argument(self.warp, &self.path, self.call, index, self.lane)
    }

    /// A `dim3` argument.
    pub fn dim3(&self, index: usize) -> [u32; 3] {
        [0, 1, 2].map(|word| {
            calls::argument_word(self.warp, &self.path, self.call, index, word, self.lane)
        })
    }

    /// An eight-byte field of a struct argument.
    pub fn field(&self, index: usize, offset_bytes: u32) -> u64 {
        let word = |n| {
            u64::from(calls::argument_word(self.warp, &self.path, self.call, index, n, self.lane))
        };
        word(offset_bytes / 4) | word(offset_bytes / 4 + 1) << 32
    }

    /// Linear index of the thread in its block.
    pub fn thread(&self) -> u32 {
        self.warp.index * 32 + self.lane as u32
    }

    /// Where the thread is.
    pub fn site(&self) -> SiteRef {
        path::site(self.block, self.warp, &self.path, self.lane as u32)
    }

    /// The block's clock.
    pub fn clock(&self) -> u64 {
        self.block.grid.start_clock + self.warp.clock
    }

    /// Stores bytes at a generic address of the thread.
    pub fn store(&mut self, core: &Core, address: u64, bytes: &[u8]) -> Step<()> {
        let Caller { block, warp, path, lane, .. } = self;
        device_memory::write_bytes(&core.machine, block, warp, path, *lane, address, bytes)
    }

    /// Loads eight bytes from a generic address of the thread.
    pub fn load(&mut self, core: &Core, address: u64) -> Step<u64> {
        let mut bytes = [0; 8];
        let Caller { block, warp, path, lane, .. } = self;
        device_memory::read_bytes(&core.machine, block, warp, path, *lane, address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// The thread's call takes bytes that are known to be there.
    pub fn reads(&mut self, core: &Core, address: u64, bytes: u64) {
        let Caller { block, warp, path, lane, .. } = self;
        device_memory::pass(&core.machine, block, warp, path, *lane, (address, bytes), None);
    }

    fn last_error(&mut self) -> &mut u32 {
        let threads = self.block.grid.threads() as usize;
        if self.block.last_errors.len() < threads {
            self.block.last_errors.resize(threads, 0);
        }
        let thread = self.thread() as usize;
        &mut self.block.last_errors[thread]
    }
}

/// What a call gives back.
pub(crate) enum Outcome {
    /// A `cudaError_t`; anything but 0 becomes the thread's last error.
    Error(u32),
    /// Another result.
    Value(u64),
    /// The thread waits for the work that its block launched.
    Wait,
}

impl Core {
    /// Serves the call that a path made, in all its lanes, in the order of lanes.
    pub(crate) fn serve(
        &mut self,
        key: BlockKey,
        grid: GridKey,
        block: &mut Block,
        warp_index: usize,
        path_index: usize,
        lanes: u32,
    ) -> Step<()> {
        let mut warp = block.take_warp(warp_index);
        let path = warp.paths[path_index];
        let number = warp.frame(&path).function;
        let function = self.serving(number);
        let inst = &function.code[path.pc as usize];
        let call = match inst.op {
            Op::Call => &function.calls[inst.imm as usize],
            _ => return Err(Fault::new(ReportKind::DeviceRuntime, None, "a call that is none")),
        };
        let Callee::Service(service) = call.callee else {
            return Err(Fault::new(ReportKind::DeviceRuntime, None, "a call that is none"));
        };
        let (prefixed, per_thread) = match service {
            Service::Device { prefixed, per_thread, .. } => (prefixed, per_thread),
            _ => (false, false),
        };
        let mut wait = false;
        for lane in crate::lanes::lanes_of(lanes) {
            let mut caller = Caller {
                block,
                warp: &mut warp,
                path,
                call,
                lane,
                grid,
                key,
                prefixed,
                per_thread,
            };
            let outcome = self.serve_lane(service, &mut caller).map_err(|mut fault| {
                fault.lane = Some(lane as u32);
                fault.site = Some(caller.site());
                fault
            })?;
            let value = match outcome {
                Outcome::Value(value) => value,
                Outcome::Error(code) => {
                    if code != 0 {
                        *caller.last_error() = code;
                    }
                    u64::from(code)
                }
                Outcome::Wait => {
                    wait = true;
                    0
                }
            };
            calls::set_result(&mut warp, &path, call, lane, value);
        }
        let entry = &mut warp.paths[path_index];
        if wait {
            entry.state = PathState::Runtime;
        } else {
            entry.pc += 1;
        }
        block.put_warp(warp_index, warp);
        self.served = Some((number, function));
        Ok(())
    }

    /// The function whose call is served: mostly the one of the call before, whose count of owners, which all threads
    /// of the device share, then stays as it is.
    fn serving(&mut self, number: u32) -> Arc<Function> {
        match self.served.take() {
            Some((known, function)) if known == number => function,
            _ => self.machine.functions[number as usize].clone(),
        }
    }

    fn serve_lane(&mut self, service: Service, caller: &mut Caller<'_>) -> Step<Outcome> {
        match service {
            // Served by the interpreter itself.
            Service::Printf | Service::AssertFail | Service::Unset(..) => Ok(Outcome::Value(0)),
            Service::Malloc => Ok(Outcome::Value(self.device_malloc(caller, caller.arg(0), 16))),
            Service::AlignedMalloc => {
                let (size_bytes, align_bytes) = (caller.arg(0), caller.arg(1));
                Ok(Outcome::Value(self.device_malloc(caller, size_bytes, align_bytes)))
            }
            Service::Free => {
                let address = caller.arg(0);
                self.device_free(caller, address)?;
                Ok(Outcome::Value(0))
            }
            Service::Device { call, .. } => self.device_call(call, caller),
        }
    }

    fn device_call(&mut self, call: DeviceCall, caller: &mut Caller<'_>) -> Step<Outcome> {
        use DeviceCall as C;
        Ok(match call {
            C::GetParameterBuffer => self.get_parameter_buffer(caller),
            C::GetParameterBufferV2 => self.get_parameter_buffer_v2(caller),
            C::LaunchDevice => self.launch_device(caller)?,
            C::LaunchDeviceV2 => self.launch_device_v2(caller)?,
            C::DeviceSynchronize => self.device_synchronize(caller),
            C::GetLastError => Outcome::Value(u64::from(std::mem::take(caller.last_error()))),
            C::PeekAtLastError => Outcome::Value(u64::from(*caller.last_error())),
            C::GetErrorString => {
                Outcome::Value(self.runtime_text(errors::text(caller.arg(0) as u32)))
            }
            C::GetErrorName => {
                Outcome::Value(self.runtime_text(errors::name(caller.arg(0) as u32)))
            }
            C::GetDeviceCount => self.store_u32(caller, 0, 1)?,
            C::GetDevice => self.store_u32(caller, 0, 0)?,
            C::DeviceGetAttribute => self.device_get_attribute(caller)?,
            C::DeviceGetLimit => self.device_get_limit(caller)?,
            C::DeviceGetCacheConfig => self.store_u32(caller, 0, 0)?,
            C::DeviceGetSharedMemConfig => self.store_u32(caller, 0, info::FOUR_BYTE_BANKS)?,
            C::RuntimeGetVersion => self.store_u32(caller, 0, info::DEVICE_RUNTIME_VERSION)?,
            C::StreamCreateWithFlags => self.stream_create(caller)?,
            C::StreamDestroy => self.stream_destroy(caller),
            C::StreamWaitEvent => self.stream_wait_event(caller),
            C::EventCreateWithFlags => self.event_create(caller)?,
            C::EventRecord | C::EventRecordWithFlags => self.event_record(caller),
            C::EventDestroy => self.event_destroy(caller),
            C::Malloc => {
                if caller.arg(1) == 0 {
                    return Ok(Outcome::Error(errors::INVALID_VALUE));
                }
                let address = self.device_malloc(caller, caller.arg(1), 16);
                if address == 0 {
                    Outcome::Error(errors::MEMORY_ALLOCATION)
                } else {
                    let pointer = caller.arg(0);
                    caller.store(self, pointer, &address.to_le_bytes())?;
                    Outcome::Error(0)
                }
            }
            C::Free => {
                let address = caller.arg(0);
                if space::window(address) == Window::Global {
                    self.device_free(caller, address)?;
                } else {
                    self.passes_over(caller, address);
                }
                Outcome::Error(0)
            }
            C::MemcpyAsync => self.memcpy(caller),
            C::Memcpy2DAsync => self.memcpy_2d(caller),
            C::Memcpy3DAsync => self.memcpy_3d(caller)?,
            C::MemsetAsync => self.memset(caller),
            C::Memset2DAsync => self.memset_2d(caller),
            C::Memset3DAsync => self.memset_3d(caller),
            C::FuncGetAttributes => self.func_get_attributes(caller)?,
            C::GraphLaunch => self.graph_launch(caller),
            C::GraphSetConditional => self.graph_set_conditional(caller)?,
            C::OccupancyMaxActiveBlocks | C::OccupancyMaxActiveBlocksWithFlags => {
                self.occupancy(caller)?
            }
        })
    }

    /// Stores a 32-bit answer through the pointer in an argument.
    fn store_u32(&mut self, caller: &mut Caller<'_>, argument: usize, value: u32) -> Step<Outcome> {
        let pointer = caller.arg(argument);
        if pointer == 0 {
            return Ok(Outcome::Error(errors::INVALID_VALUE));
        }
        caller.store(self, pointer, &value.to_le_bytes())?;
        Ok(Outcome::Error(0))
    }

    /// Device `malloc`: 0 if the heap is used up, nothing is asked for, or the alignment is no power
    /// of two.
    fn device_malloc(&mut self, caller: &Caller<'_>, size_bytes: u64, align_bytes: u64) -> u64 {
        if !align_bytes.is_power_of_two() {
            return 0;
        }
        let most = self.limits.malloc_heap_bytes;
        let heap = &mut self.machine_mut().memory;
        let left = most.saturating_sub(heap.heap_bytes());
        if size_bytes == 0 || size_bytes > left {
            self.heap_refusals += u64::from(size_bytes > 0);
            return 0;
        }
        let align_bytes = align_bytes.max(16);
        let site = Some(caller.site());
        let address = heap.allocate(size_bytes, align_bytes, AllocKind::DeviceHeap, true, site);
        let address = address.unwrap_or(0);
        self.memory_begins(address, size_bytes, true);
        address
    }

    /// `cudaFree` of memory that no allocation can hold: a GPU does nothing, the program should know.
    fn passes_over(&mut self, caller: &mut Caller<'_>, address: u64) {
        let message = format!("cudaFree of {address:#x}, which is no global memory, does nothing");
        let mut fault = Fault::new(ReportKind::InvalidFree, Some(caller.lane as u32), message);
        let wanted = crate::exec::action(&self.machine.checks, ReportKind::InvalidFree);
        if wanted != crate::config::CheckAction::Off {
            fault.site = Some(caller.site());
            caller.block.warnings.push(*fault.at(address));
        }
    }

    fn device_free(&mut self, caller: &mut Caller<'_>, address: u64) -> Step<()> {
        if address == 0 {
            return Ok(());
        }
        let site = caller.site();
        self.thread_releases(caller.block, site, address);
        let result = self
            .machine_mut()
            .memory
            .free(address, Some(site), |kind| *kind == AllocKind::DeviceHeap);
        let (kind, message) = match result {
            Ok(()) => return Ok(()),
            Err(FreeError::AlreadyFree) => (
                ReportKind::DoubleFree,
                format!("free of {address:#x}, which was already released"),
            ),
            Err(FreeError::NotAllocated) => (
                ReportKind::InvalidFree,
                format!("free of {address:#x}, where no allocation begins"),
            ),
            Err(FreeError::WrongKind) => (
                ReportKind::InvalidFree,
                format!("free of {address:#x}, which device code did not allocate"),
            ),
        };
        let fault = Fault::new(kind, Some(caller.lane as u32), message).at(address);
        match crate::exec::action(&self.machine.checks, kind) {
            crate::config::CheckAction::Off => Ok(()),
            crate::config::CheckAction::Warn | crate::config::CheckAction::Tell => {
                let mut fault = fault;
                fault.site = Some(site);
                caller.block.warnings.push(*fault);
                Ok(())
            }
            crate::config::CheckAction::Stop => Err(fault),
        }
    }

    /// The address of a text in device memory; the same text has the same address.
    fn runtime_text(&mut self, text: &str) -> u64 {
        if let Some(&address) = self.runtime_texts.get(text) {
            return address;
        }
        let size = text.len() as u64 + 1;
        let Some(address) =
            self.machine_mut().memory.allocate(size, 16, AllocKind::RuntimeText, false, None)
        else {
            return 0;
        };
        // SAFETY: just allocated with room for the text and its zero.
        unsafe { (address as *mut u8).copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        self.runtime_texts.insert(text.to_string(), address);
        address
    }
}
