//! Capture of streams into graphs.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use super::{call, given, offer, put};
use crate::device::StreamHandle;
use crate::error::{CudaError, Result};
use crate::graph::capture;
use crate::process;

fn checked(stream: *mut c_void) -> Result<StreamHandle> {
    let stream = StreamHandle(stream as u64);
    process::current()?.device.stream_flags(stream)?;
    Ok(stream)
}

/// `cudaStreamBeginCapture`. The mode says which calls of other threads are mistakes; none is made one here.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamBeginCapture(stream: *mut c_void, mode: u32) -> u32 {
    call(|| match mode {
        0..=2 => capture::begin(checked(stream)?, None),
        _ => Err(CudaError::INVALID_VALUE.into()),
    })
}

/// # Safety
/// `nodes` is null or of `count` elements.
unsafe fn listed(nodes: *const *mut c_void, count: usize) -> Result<Vec<u64>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    given(nodes.cast_mut())?;
    // SAFETY: the caller's promise.
    let all = unsafe { std::slice::from_raw_parts(nodes, count) };
    Ok(all.iter().map(|node| *node as u64).collect())
}

/// `cudaStreamBeginCaptureToGraph`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamBeginCaptureToGraph(
    stream: *mut c_void,
    graph: *mut c_void,
    after: *const *mut c_void,
    _edge_data: *const c_void,
    count: usize,
    mode: u32,
) -> u32 {
    call(|| {
        let after = unsafe { listed(after, count)? };
        match mode {
            0..=2 => capture::begin(checked(stream)?, Some((graph as u64, after))),
            _ => Err(CudaError::INVALID_VALUE.into()),
        }
    })
}

/// `cudaStreamEndCapture`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) -> u32 {
    call(|| {
        let stream = checked(stream)?;
        // Who gave a graph need not be told which.
        if graph.is_null() && capture::is_into_given(stream)? {
            return capture::end(stream).map(drop);
        }
        unsafe { put(graph, std::ptr::null_mut())? };
        let made = capture::end(stream)?;
        unsafe { put(graph, made as *mut c_void) }
    })
}

/// `cudaStreamIsCapturing`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamIsCapturing(stream: *mut c_void, status: *mut u32) -> u32 {
    call(|| {
        let (found, ..) = capture::status(checked(stream)?)?;
        unsafe { put(status, found as u32) }
    })
}

/// `cudaStreamGetCaptureInfo`. The nodes are the thread's until it asks again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetCaptureInfo(
    stream: *mut c_void,
    status: *mut u32,
    id: *mut u64,
    graph: *mut *mut c_void,
    nodes: *mut *const *mut c_void,
    edge_data: *mut *const c_void,
    count: *mut usize,
) -> u32 {
    thread_local! {
        static NODES: RefCell<Vec<*mut c_void>> = const { RefCell::new(Vec::new()) };
    }
    call(|| {
        let (found, number, of, last) = capture::status(checked(stream)?)?;
        unsafe { put(status, found as u32)? };
        if found != capture::Status::Active {
            return Ok(());
        }
        let listed: Vec<*mut c_void> = last.iter().map(|node| *node as *mut c_void).collect();
        let first = NODES.with_borrow_mut(|kept| {
            *kept = listed;
            kept.as_ptr()
        });
        // SAFETY: each may be null, by the manual, or is valid.
        unsafe {
            offer(id, number);
            offer(graph, of as *mut c_void);
            offer(nodes, first);
            offer(edge_data, std::ptr::null());
            offer(count, last.len());
        }
        Ok(())
    })
}

/// `cudaStreamUpdateCaptureDependencies`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamUpdateCaptureDependencies(
    stream: *mut c_void,
    nodes: *const *mut c_void,
    _edge_data: *const c_void,
    count: usize,
    flags: u32,
) -> u32 {
    call(|| {
        let nodes = unsafe { listed(nodes, count)? };
        match flags {
            // Add to them, or set them.
            0 | 1 => capture::set_last(checked(stream)?, &nodes, flags == 0),
            _ => Err(CudaError::INVALID_VALUE.into()),
        }
    })
}

thread_local! {
    /// `cudaStreamCaptureMode` of the thread: global at first.
    static CAPTURE_MODE: Cell<u32> = const { Cell::new(0) };
}

/// `cudaThreadExchangeStreamCaptureMode`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaThreadExchangeStreamCaptureMode(mode: *mut u32) -> u32 {
    call(|| {
        given(mode)?;
        // SAFETY: not null, and valid as CUDA demands of the caller.
        let wanted = unsafe { mode.read() };
        if wanted > 2 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        unsafe { put(mode, CAPTURE_MODE.replace(wanted)) }
    })
}
