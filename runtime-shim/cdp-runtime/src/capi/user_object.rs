//! Objects of the program that live as long as somebody holds a reference: the program itself, graphs, and
//! executables that were made of them. The last reference given back destroys the object.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use super::host::HostFunction;
use super::{call, given, put};
use crate::error::{CudaError, Result};
use crate::graph;

struct Object {
    data: *mut c_void,
    destroy: HostFunction,
    references: u64,
}

// SAFETY: the pointer is the program's, and only its own function sees it.
unsafe impl Send for Object {}

#[derive(Default)]
struct Objects {
    all: HashMap<u64, Object>,
    made: u64,
}

static OBJECTS: Mutex<Option<Objects>> = Mutex::new(None);

fn with<T>(work: impl FnOnce(&mut Objects) -> Result<T>) -> Result<T> {
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    work(objects.get_or_insert_with(Objects::default))
}

/// More references of an object.
pub(crate) fn retain(object: u64, count: u64) -> Result<()> {
    with(|objects| {
        let known = objects.all.get_mut(&object).ok_or(CudaError::INVALID_VALUE)?;
        known.references += count;
        Ok(())
    })
}

/// Fewer references of an object; without any it is destroyed.
pub(crate) fn release(object: u64, count: u64) -> Result<()> {
    let gone = with(|objects| {
        let known = objects.all.get_mut(&object).ok_or(CudaError::INVALID_VALUE)?;
        known.references = known.references.checked_sub(count).ok_or(CudaError::INVALID_VALUE)?;
        let is_gone = known.references == 0;
        Ok(if is_gone { objects.all.remove(&object) } else { None })
    })?;
    if let Some(gone) = gone {
        // SAFETY: the program's own function, with what it asked for, outside the lock.
        unsafe { (gone.destroy)(gone.data) };
    }
    Ok(())
}

fn counted(count: u32) -> Result<u64> {
    // CUDA's references are an `int`.
    match count {
        0 => Err(CudaError::INVALID_VALUE.into()),
        _ if count > i32::MAX as u32 => Err(CudaError::INVALID_VALUE.into()),
        count => Ok(u64::from(count)),
    }
}

/// `cudaUserObjectCreate`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaUserObjectCreate(
    target: *mut *mut c_void,
    data: *mut c_void,
    destroy: Option<HostFunction>,
    references: u32,
    flags: u32,
) -> u32 {
    const NO_DESTRUCTOR_SYNC: u32 = 1;
    call(|| {
        given(target)?;
        let references = counted(references)?;
        let destroy = destroy.ok_or(CudaError::INVALID_VALUE)?;
        if flags != NO_DESTRUCTOR_SYNC {
            return Err(CudaError::INVALID_VALUE.into());
        }
        let made = with(|objects| {
            objects.made += 16;
            let handle = 0x2000_0000 + objects.made;
            objects.all.insert(handle, Object { data, destroy, references });
            Ok(handle)
        })?;
        unsafe { put(target, made as *mut c_void) }
    })
}

/// `cudaUserObjectRetain`
#[unsafe(no_mangle)]
pub extern "C" fn cudaUserObjectRetain(object: *mut c_void, count: u32) -> u32 {
    call(|| retain(object as u64, counted(count)?))
}

/// `cudaUserObjectRelease`
#[unsafe(no_mangle)]
pub extern "C" fn cudaUserObjectRelease(object: *mut c_void, count: u32) -> u32 {
    call(|| release(object as u64, counted(count)?))
}

/// `cudaGraphRetainUserObject`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphRetainUserObject(
    graph: *mut c_void,
    object: *mut c_void,
    count: u32,
    flags: u32,
) -> u32 {
    const MOVE: u32 = 1;
    call(|| {
        let (object, count) = (object as u64, counted(count)?);
        if flags & !MOVE != 0 {
            return Err(CudaError::INVALID_VALUE.into());
        }
        graph::with(|graphs| graphs.graph(graph as u64).map(drop))?;
        // References that move are the graph's instead of the program's.
        if flags & MOVE == 0 {
            retain(object, count)?;
        } else {
            with(|objects| match objects.all.get(&object) {
                Some(known) if known.references >= count => Ok(()),
                _ => Err(CudaError::INVALID_VALUE.into()),
            })?;
        }
        graph::with(|graphs| {
            *graphs.graph(graph as u64)?.objects.entry(object).or_default() += count;
            Ok(())
        })
    })
}

/// `cudaGraphReleaseUserObject`
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphReleaseUserObject(
    graph: *mut c_void,
    object: *mut c_void,
    count: u32,
) -> u32 {
    call(|| {
        let (object, count) = (object as u64, counted(count)?);
        graph::with(|graphs| {
            let objects = &mut graphs.graph(graph as u64)?.objects;
            let held = objects.get_mut(&object).ok_or(CudaError::INVALID_VALUE)?;
            *held = held.checked_sub(count).ok_or(CudaError::INVALID_VALUE)?;
            if *held == 0 {
                objects.remove(&object);
            }
            Ok(())
        })?;
        release(object, count)
    })
}
