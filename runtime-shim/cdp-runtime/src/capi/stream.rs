//! Streams and events.

use std::ffi::c_void;

use super::{call, given, offer, put, query};
use crate::device::{EventHandle, StreamHandle};
use crate::graph::capture;
use crate::process;

fn stream(handle: *mut c_void) -> StreamHandle {
    StreamHandle(handle as u64)
}

fn event(handle: *mut c_void) -> EventHandle {
    EventHandle(handle as u64)
}

/// `cudaStreamCreate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamCreate(target: *mut *mut c_void) -> u32 {
    unsafe { cudaStreamCreateWithPriority(target, 0, 0) }
}

/// `cudaStreamCreateWithFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamCreateWithFlags(target: *mut *mut c_void, flags: u32) -> u32 {
    unsafe { cudaStreamCreateWithPriority(target, flags, 0) }
}

/// `cudaStreamCreateWithPriority`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamCreateWithPriority(
    target: *mut *mut c_void,
    flags: u32,
    priority: i32,
) -> u32 {
    call(|| {
        given(target)?;
        let created = process::current()?.device.create_stream(flags, priority)?;
        unsafe { put(target, created.0 as *mut c_void) }
    })
}

/// `cudaStreamDestroy`
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamDestroy(handle: *mut c_void) -> u32 {
    call(|| process::current()?.device.destroy_stream(stream(handle)))
}

/// `cudaStreamSynchronize`
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamSynchronize(handle: *mut c_void) -> u32 {
    call(|| {
        capture::refuse(stream(handle))?;
        process::current()?.device.synchronize_stream(stream(handle))
    })
}

/// `cudaStreamQuery`
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamQuery(handle: *mut c_void) -> u32 {
    query(|| {
        capture::refuse(stream(handle))?;
        process::current()?.device.query_stream(stream(handle))
    })
}

/// `cudaStreamWaitEvent`
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamWaitEvent(
    handle: *mut c_void,
    awaited: *mut c_void,
    flags: u32,
) -> u32 {
    call(|| {
        if capture::wait_event(stream(handle), event(awaited))? {
            return Ok(());
        }
        process::current()?.device.stream_wait_event(stream(handle), event(awaited), flags)
    })
}

/// `cudaStreamGetFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetFlags(handle: *mut c_void, flags: *mut u32) -> u32 {
    call(|| unsafe { put(flags, process::current()?.device.stream_flags(stream(handle))?) })
}

/// `cudaStreamGetPriority`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetPriority(handle: *mut c_void, priority: *mut i32) -> u32 {
    call(|| unsafe { put(priority, process::current()?.device.stream_priority(stream(handle))?) })
}

/// `cudaDeviceGetStreamPriorityRange`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetStreamPriorityRange(
    least: *mut i32,
    greatest: *mut i32,
) -> u32 {
    call(|| {
        let range = process::current()?.device.stream_priority_range()?;
        // Either may be null, by the manual.
        for (target, value) in [(least, range.0), (greatest, range.1)] {
            unsafe { offer(target, value) };
        }
        Ok(())
    })
}

/// `cudaEventCreate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaEventCreate(target: *mut *mut c_void) -> u32 {
    unsafe { cudaEventCreateWithFlags(target, 0) }
}

/// `cudaEventCreateWithFlags`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaEventCreateWithFlags(target: *mut *mut c_void, flags: u32) -> u32 {
    call(|| {
        given(target)?;
        let created = process::current()?.device.create_event(flags)?;
        unsafe { put(target, created.0 as *mut c_void) }
    })
}

/// `cudaEventDestroy`
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventDestroy(handle: *mut c_void) -> u32 {
    call(|| process::current()?.device.destroy_event(event(handle)))
}

/// `cudaEventRecord`
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventRecord(handle: *mut c_void, into: *mut c_void) -> u32 {
    cudaEventRecordWithFlags(handle, into, 0)
}

/// `cudaEventRecordWithFlags`
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventRecordWithFlags(
    handle: *mut c_void,
    into: *mut c_void,
    flags: u32,
) -> u32 {
    call(|| {
        if capture::record_event(event(handle), stream(into))? {
            return Ok(());
        }
        process::current()?.device.record_event(event(handle), stream(into), flags)
    })
}

/// `cudaEventSynchronize`
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventSynchronize(handle: *mut c_void) -> u32 {
    call(|| process::current()?.device.synchronize_event(event(handle)))
}

/// `cudaEventQuery`
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventQuery(handle: *mut c_void) -> u32 {
    query(|| process::current()?.device.query_event(event(handle)))
}

/// `cudaEventElapsedTime`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaEventElapsedTime(
    milliseconds: *mut f32,
    start: *mut c_void,
    end: *mut c_void,
) -> u32 {
    query(|| {
        given(milliseconds)?;
        let elapsed_ms = process::current()?.device.elapsed_ms(event(start), event(end))?;
        unsafe { put(milliseconds, elapsed_ms) }
    })
}
