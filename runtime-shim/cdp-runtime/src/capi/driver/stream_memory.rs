//! Waits for values in memory and writes of them in the order of a stream. On the CPU device each is a kernel of one
//! thread (`stream_memory.ptx`): what it waits for may come from kernels of other streams or from the host.
//! A capture records such a kernel, where an H100 has a node of another kind (`CU_GRAPH_NODE_TYPE_BATCH_MEM_OP`).

use std::ffi::c_void;
use std::sync::Mutex;

use super::super::kernel::launch;
use super::super::library;
use super::*;
use crate::device::{LaunchConfig, MemoryType, StreamHandle};

type Stream = *mut c_void;

/// `CUstreamBatchMemOpParams`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operation {
    kind: u32,
    /// Flags of what has no address.
    bare_flags: u32,
    address: u64,
    value: u64,
    flags: u32,
    rest: [u64; 2],
}

const _: () = assert!(size_of::<Operation>() == 48);

const WAIT_32: u32 = 1;
const WRITE_32: u32 = 2;
const WAIT_64: u32 = 4;
const WRITE_64: u32 = 5;
const BARRIER: u32 = 6;
const FLUSH: u32 = 3;

/// Most operations of a batch, by the manual.
const MOST_OPERATIONS: u32 = 256;

/// The function for a kernel of the module, which is loaded when one is first needed.
fn function(name: &'static CStr) -> Result<*mut c_void> {
    const CODE: &[u8] = concat!(include_str!("stream_memory.ptx"), "\0").as_bytes();
    static LOADED: Mutex<Option<u64>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let module = match *loaded {
        Some(module) => module,
        None => *loaded.insert(library::load(CODE)?),
    };
    library::kernel(module as *mut c_void, name.to_string_lossy().into_owned())
}

impl Operation {
    fn on_memory(kind: u32, address: u64, value: u64, flags: u32) -> Operation {
        Operation { kind, bare_flags: 0, address, value, flags, rest: [0; 2] }
    }

    /// What is wrong with it, before any of its batch is done.
    fn check(&self) -> Result<()> {
        const MOST_CONDITION: u32 = 3;
        const FLUSHED: u32 = 1 << 30;
        let (bytes, most_flags) = match self.kind {
            WAIT_32 => (4, MOST_CONDITION),
            WAIT_64 => (8, MOST_CONDITION),
            WRITE_32 => (4, 1),
            // Of 64 bits none is written without a barrier, as an H100's driver (580) has it.
            WRITE_64 => (8, 0),
            BARRIER if self.bare_flags <= 1 => return Ok(()),
            // As an H100 has it, and the attribute that says so.
            FLUSH => return Err(CudaError::NOT_SUPPORTED.into()),
            _ => return Err(CudaError::INVALID_VALUE.into()),
        };
        let waits = matches!(self.kind, WAIT_32 | WAIT_64);
        if waits && self.flags & FLUSHED != 0 {
            return Err(CudaError::NOT_SUPPORTED.into());
        }
        let device = &process::current()?.device;
        let known = device.pointer_info(self.address)?.memory != MemoryType::Unregistered;
        if !known || !self.address.is_multiple_of(bytes) || self.flags > most_flags {
            return Err(CudaError::INVALID_VALUE.into());
        }
        Ok(())
    }

    fn queue(&self, stream: Stream) -> Result<()> {
        let (name, bytes, flag) = match self.kind {
            BARRIER => return start(c"cuStreamBarrier", stream, &mut []),
            WAIT_32 => (c"cuStreamWaitValue", 4, self.flags),
            WAIT_64 => (c"cuStreamWaitValue", 8, self.flags),
            WRITE_32 => (c"cuStreamWriteValue", 4, u32::from(self.flags == 0)),
            _ => (c"cuStreamWriteValue", 8, u32::from(self.flags == 0)),
        };
        let value = if bytes == 4 { i64::from(self.value as i32) as u64 } else { self.value };
        let (mut numbers, mut words) = ([self.address, value], [bytes, flag]);
        let [address, value] = numbers.each_mut().map(|number| (&raw mut *number).cast());
        let [bytes, flag] = words.each_mut().map(|word| (&raw mut *word).cast());
        start(name, stream, &mut [address, value, bytes, flag])
    }
}

fn start(name: &'static CStr, stream: Stream, params: &mut [*mut c_void]) -> Result<()> {
    let config = LaunchConfig {
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        stream: StreamHandle(stream as u64),
        attributes: &[],
    };
    // SAFETY: the parameters are those of the kernels above.
    unsafe { launch(function(name)?, config, params.as_mut_ptr()) }
}

fn all(stream: Stream, operations: &[Operation]) -> u32 {
    call(|| {
        operations.iter().try_for_each(Operation::check)?;
        operations.iter().try_for_each(|operation| operation.queue(stream))
    })
}

fn one(stream: Stream, kind: u32, address: u64, value: u64, flags: u32) -> u32 {
    all(stream, &[Operation::on_memory(kind, address, value, flags)])
}

driver_functions! {
    Context fn cuStreamWaitValue32_v2(stream: Stream, address: u64, value: u32, flags: u32) {
        one(stream, WAIT_32, address, value.into(), flags)
    }
    Context fn cuStreamWaitValue64_v2(stream: Stream, address: u64, value: u64, flags: u32) {
        one(stream, WAIT_64, address, value, flags)
    }
    Context fn cuStreamWriteValue32_v2(stream: Stream, address: u64, value: u32, flags: u32) {
        one(stream, WRITE_32, address, value.into(), flags)
    }
    Context fn cuStreamWriteValue64_v2(stream: Stream, address: u64, value: u64, flags: u32) {
        one(stream, WRITE_64, address, value, flags)
    }
    Context fn cuStreamBatchMemOp_v2(stream: Stream, count: u32, operations: *const Operation, flags: u32) {
        match count {
            0 => all(stream, &[]),
            1..=MOST_OPERATIONS if !operations.is_null() && flags == 0 => {
                all(stream, std::slice::from_raw_parts(operations, count as usize))
            }
            _ => CudaError::INVALID_VALUE.0,
        }
    }
}

per_thread_variants! {
    cuStreamWaitValue32_v2_ptsz = cuStreamWaitValue32_v2(stream: Stream, address: u64, value: u32, flags: u32) in stream;
    cuStreamWaitValue64_v2_ptsz = cuStreamWaitValue64_v2(stream: Stream, address: u64, value: u64, flags: u32) in stream;
    cuStreamWriteValue32_v2_ptsz = cuStreamWriteValue32_v2(stream: Stream, address: u64, value: u32, flags: u32) in stream;
    cuStreamWriteValue64_v2_ptsz = cuStreamWriteValue64_v2(stream: Stream, address: u64, value: u64, flags: u32) in stream;
    cuStreamBatchMemOp_v2_ptsz = cuStreamBatchMemOp_v2(stream: Stream, count: u32, operations: *const Operation, flags: u32) in stream;
}
