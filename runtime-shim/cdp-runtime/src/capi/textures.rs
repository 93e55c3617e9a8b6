//! Texture and surface objects, and what they were made of.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::array::read;
use super::{call, given, put};
use crate::array::*;
use crate::error::{CudaError, Result};
use crate::process;

/// The descriptions that texture and surface objects were made of.
#[derive(Clone, Copy)]
pub(super) struct Described {
    pub resource: Resource,
    pub texture: Option<TextureDesc>,
}

static OBJECTS: Mutex<Option<HashMap<u64, Described>>> = Mutex::new(None);

fn objects() -> MutexGuard<'static, Option<HashMap<u64, Described>>> {
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what an object was made of.
fn describe(object: u64, resource: Resource, texture: Option<TextureDesc>) {
    let mut all = objects();
    all.get_or_insert_with(HashMap::new).insert(object, Described { resource, texture });
}

/// Forgets what an object was made of.
fn undescribe(object: u64) {
    if let Some(all) = objects().as_mut() {
        all.remove(&object);
    }
}

/// What an object was made of.
pub(super) fn made_of(object: u64) -> Result<Described> {
    let found = objects().as_ref().and_then(|all| all.get(&object).copied());
    found.ok_or_else(|| CudaError::INVALID_VALUE.into())
}

/// Makes a texture object.
pub(super) fn make_texture(resource: &Resource, texture: &TextureDesc) -> Result<u64> {
    let made = process::current()?.device.create_texture(resource, texture)?;
    describe(made, *resource, Some(*texture));
    Ok(made)
}

/// Makes a surface object, of an array alone.
pub(super) fn make_surface(resource: &Resource) -> Result<u64> {
    let Resource::Array(array) = *resource else {
        return Err(CudaError::INVALID_VALUE.into());
    };
    let made = process::current()?.device.create_surface(array)?;
    describe(made, *resource, None);
    Ok(made)
}

/// `cudaCreateTextureObject`; views of a resource are not supported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaCreateTextureObject(
    object: *mut u64,
    resource: *const ResourceDesc,
    texture: *const TextureDesc,
    view: *const c_void,
) -> u32 {
    call(|| {
        given(object)?;
        if !view.is_null() {
            return Err(CudaError::NOT_SUPPORTED.into());
        }
        let (resource, texture) = unsafe { (read(resource)?, read(texture)?) };
        unsafe { put(object, make_texture(&resource.resource()?, texture)?) }
    })
}

/// `cudaDestroyTextureObject`
#[unsafe(no_mangle)]
pub extern "C" fn cudaDestroyTextureObject(object: u64) -> u32 {
    call(|| {
        process::current()?.device.destroy_texture(object)?;
        undescribe(object);
        Ok(())
    })
}

/// `cudaCreateSurfaceObject`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaCreateSurfaceObject(
    object: *mut u64,
    resource: *const ResourceDesc,
) -> u32 {
    call(|| {
        given(object)?;
        let resource = unsafe { read(resource)? };
        unsafe { put(object, make_surface(&resource.resource()?)?) }
    })
}

/// `cudaDestroySurfaceObject`
#[unsafe(no_mangle)]
pub extern "C" fn cudaDestroySurfaceObject(object: u64) -> u32 {
    call(|| {
        process::current()?.device.destroy_surface(object)?;
        undescribe(object);
        Ok(())
    })
}

/// `cudaGetTextureObjectResourceDesc`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetTextureObjectResourceDesc(
    resource: *mut ResourceDesc,
    object: u64,
) -> u32 {
    call(|| unsafe { put(resource, ResourceDesc::new(&made_of(object)?.resource)) })
}

/// `cudaGetSurfaceObjectResourceDesc`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetSurfaceObjectResourceDesc(
    resource: *mut ResourceDesc,
    object: u64,
) -> u32 {
    call(|| unsafe { put(resource, ResourceDesc::new(&made_of(object)?.resource)) })
}

/// `cudaGetTextureObjectTextureDesc`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGetTextureObjectTextureDesc(
    texture: *mut TextureDesc,
    object: u64,
) -> u32 {
    call(|| {
        let found = made_of(object)?.texture.ok_or(CudaError::INVALID_VALUE)?;
        unsafe { put(texture, found) }
    })
}
