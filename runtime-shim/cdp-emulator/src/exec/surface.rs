//! Execution of texture fetches, surface accesses and their queries.

use std::borrow::Cow;
use std::cell::RefCell;

use cdp_ptx::{ScalarType, SurfaceClamp};

use super::fault::Fault;
use super::path::Running;
use super::rows::{read_row, write_row};
use super::{Block, Machine, Step, Warp, door};
use crate::code::{Inst, NONE, Order, Owners};
use crate::float::soft;
use crate::lanes::lanes_of;
use crate::report::ReportKind;
use crate::texture::{
    FACES, Levels, TextureDescriptor, TextureFetch, TextureLod, face_in, gradient_on_face, is_cube,
    mixed,
};

/// The object of a handle, whose whole span must still be allocated.
fn object(machine: &Machine, handle: u64, lane: usize) -> Step<&TextureDescriptor> {
    let entry = handle.checked_sub(1).and_then(|n| machine.textures.get(n as usize));
    let Some(Some(object)) = entry else {
        let message = format!("{handle:#x} is not a texture or surface object");
        return Err(Fault::new(ReportKind::InvalidTexture, Some(lane as u32), message)
            .help("create the object on the host and pass its handle to the kernel"));
    };
    if !object.pieces().all(|(address, bytes)| machine.memory.contains(address, bytes)) {
        let message = format!("the memory of texture object {handle:#x} was released");
        return Err(
            Fault::new(ReportKind::UseAfterFree, Some(lane as u32), message).at(object.address)
        );
    }
    Ok(object)
}

/// Reads up to four bytes of a texel that lies in the object's span.
fn read(address: u64, bytes: u32) -> u32 {
    // SAFETY: `object` checked the whole span, and texel addresses lie in it.
    unsafe {
        match bytes {
            1 => u32::from((address as *const u8).read()),
            2 => u32::from((address as *const u16).read_unaligned()),
            _ => (address as *const u32).read_unaligned(),
        }
    }
}

fn coordinates(run: &Running<'_>, rows: &[u32], lane: usize) -> [u32; 3] {
    values(run, rows, lane)
}

/// The first values of rows; zeros where there are fewer.
fn values<const N: usize>(run: &Running<'_>, rows: &[u32], lane: usize) -> [u32; N] {
    let mut out = [0; N];
    for (slot, &row) in out.iter_mut().zip(rows) {
        // SAFETY: decoded row.
        *slot = unsafe { read_row(run.regs, row, false, lane) } as u32;
    }
    out
}

/// A texel passes the door of memory.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn pass(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    (order, writes): (Order, bool),
    address: u64,
    bytes: u32,
    lane: usize,
) {
    let kind = door::Manner::Own;
    let touch =
        door::Touch { owners: Owners::OWN, shared: false, reads: !writes, writes, kind, order };
    let at = [address; 32];
    door::memory(machine, block, warp, &run.path, touch, &at, 1 << lane, u64::from(bytes), None);
}

/// `tex` and `tld4`
pub fn fetch(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    let fetch = &run.function.textures[inst.imm as usize];
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        let handle = unsafe { read_row(run.regs, fetch.texture, true, lane) };
        let texture = object(machine, handle, lane)?;
        let place = place(run, fetch, texture, lane);
        let texels = RefCell::new(Vec::new());
        let read = |address: u64, bytes: u32| {
            if machine.watch.is_some() {
                texels.borrow_mut().push((address, bytes));
            }
            read(address, bytes)
        };
        let offset = coordinates(run, &fetch.offsets, lane).map(|value| fetch.offset(value));
        let one = |texture: &TextureDescriptor| texels_of(fetch, texture, &place, offset, read);
        let mut values = match &texture.mipmap {
            None => one(texture),
            Some(_) => {
                let Levels { first, share } = texture.levels_at(detail(run, fetch, texture, lane));
                let values = one(&texture.level(first));
                match share > 0.0 {
                    true => mixed(values, one(&texture.level(first + 1)), share),
                    false => values,
                }
            }
        };
        if fetch.dst_ty == ScalarType::F16x2 {
            values = in_halves(values);
        }
        for (address, bytes) in texels.into_inner() {
            pass(machine, block, warp, run, (Order::FIXED, false), address, bytes, lane);
        }
        for (&row, value) in fetch.dsts.iter().zip(values) {
            if row != NONE {
                // SAFETY: decoded row.
                unsafe { write_row(run.regs, row, false, lane, u64::from(value)) };
            }
        }
    }
    Ok(())
}

/// Where a lane fetches in each level.
struct FetchPlace {
    layer: Option<u32>,
    /// Bits of the coordinates.
    at: [u32; 3],
    on_cube: bool,
}

fn place(
    run: &Running<'_>,
    fetch: &TextureFetch,
    texture: &TextureDescriptor,
    lane: usize,
) -> FetchPlace {
    let layer = fetch.layer.map(|row| coordinates(run, &[row], lane)[0]);
    let at = coordinates(run, &fetch.coords, lane);
    if !is_cube(fetch.geometry) {
        return FetchPlace { layer, at, on_cube: false };
    }
    let (face, on_it) = face_in(at.map(f32::from_bits));
    let cubes = (texture.layers / FACES).max(1);
    let number = layer.unwrap_or(0).min(cubes - 1) * FACES + face;
    FetchPlace { layer: Some(number), at: on_it.map(f32::to_bits), on_cube: true }
}

/// The level of detail that a lane asks for.
fn detail(
    run: &Running<'_>,
    fetch: &TextureFetch,
    texture: &TextureDescriptor,
    lane: usize,
) -> f32 {
    match &fetch.lod {
        TextureLod::Base => 0.0,
        TextureLod::Level(row) => {
            let [bits] = values(run, &[*row], lane);
            if fetch.coord_ty == ScalarType::F32 {
                f32::from_bits(bits)
            } else {
                bits as i32 as f32
            }
        }
        TextureLod::Gradient(gradients) => {
            let direction = coordinates(run, &fetch.coords, lane).map(f32::from_bits);
            let gradients = [0, 1].map(|pixel: usize| {
                let gradient = coordinates(run, &gradients[pixel], lane).map(f32::from_bits);
                match is_cube(fetch.geometry) {
                    true => gradient_on_face(face_in(direction).0, direction, gradient),
                    false => gradient,
                }
            });
            texture.detail_of(gradients)
        }
    }
}

/// What a level gives.
fn texels_of(
    fetch: &TextureFetch,
    texture: &TextureDescriptor,
    place: &FetchPlace,
    offset: [i64; 3],
    read: impl Fn(u64, u32) -> u32,
) -> [u32; 4] {
    let mut texture = Cow::Borrowed(texture);
    if let Some(number) = place.layer {
        texture = Cow::Owned(texture.layer(number));
        texture.to_mut().normalized_coords |= place.on_cube;
    }
    let at = place.at;
    match (fetch.gather, fetch.coord_ty) {
        (Some(component), _) => texture.gather(at.map(f32::from_bits), offset, component, read),
        (None, ScalarType::F32) => texture.sample(at.map(f32::from_bits), offset, read),
        (None, _) => {
            let texel = |dim: usize| i64::from(at[dim] as i32) + offset[dim];
            texture.fetch(std::array::from_fn(texel), read)
        }
    }
}

/// Four floats as two pairs of halves.
fn in_halves(values: [u32; 4]) -> [u32; 4] {
    let half =
        |value: u32| soft::convert(soft::F32, soft::F16, soft::Mode::NearestEven, value.into());
    let [a, b, c, d] = values.map(|value| half(value) as u32);
    [a | b << 16, c | d << 16, 0, 0]
}

/// `suld` and `sust`
pub fn access(
    machine: &Machine,
    block: &mut Block,
    warp: &Warp,
    run: &Running<'_>,
    inst: &Inst,
    active: u32,
) -> Step<()> {
    let access = &run.function.surfaces[inst.imm as usize];
    let element = access.ty.bytes();
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        let handle = unsafe { read_row(run.regs, access.surface, true, lane) };
        let mut surface = Cow::Borrowed(object(machine, handle, lane)?);
        let mut at = coordinates(run, &access.coords, lane).map(|v| i64::from(v as i32));
        let mut bytes = element * access.rows.len() as u32;
        if access.formatted {
            bytes = surface.texel_bytes() as u32;
            at[0] *= i64::from(bytes);
        }
        let clamp = access.clamp == SurfaceClamp::Clamp;
        let mut inside = true;
        if let Some(row) = access.layer {
            let layer = coordinates(run, &[row], lane)[0];
            inside = clamp || layer < surface.layers;
            surface = Cow::Owned(surface.layer(layer));
        }
        let address = surface.surface_address(at, bytes, clamp).filter(|_| inside);
        if address.is_none() && access.clamp == SurfaceClamp::Trap {
            let message =
                format!("surface access of {bytes} bytes at {at:?}, outside of the surface");
            return Err(Fault::new(ReportKind::InvalidTexture, Some(lane as u32), message));
        }
        if let Some(address) = address {
            pass(machine, block, warp, run, (Order::WEAK, access.store), address, bytes, lane);
        }
        if access.formatted {
            let texel = surface.formatted(values(run, &access.rows, lane));
            if let Some(address) = address {
                // SAFETY: the address lies in the surface's span, which was checked.
                unsafe {
                    (address as *mut u8).copy_from_nonoverlapping(texel.as_ptr(), bytes as usize);
                }
            }
            continue;
        }
        for (i, &row) in access.rows.iter().enumerate() {
            if row == NONE {
                continue;
            }
            let place = address.map(|base| base + u64::from(element) * i as u64);
            // SAFETY: decoded rows; the address lies in the surface's span, which was checked.
            unsafe {
                if access.store {
                    if let Some(place) = place {
                        let value = read_row(run.regs, row, access.wide, lane).to_le_bytes();
                        let target = place as *mut u8;
                        target.copy_from_nonoverlapping(value.as_ptr(), element as usize);
                    }
                } else {
                    let mut value = [0u8; 8];
                    if let Some(place) = place {
                        value
                            .as_mut_ptr()
                            .copy_from_nonoverlapping(place as *const u8, element as usize);
                    }
                    write_row(run.regs, row, access.wide, lane, u64::from_le_bytes(value));
                }
            }
        }
    }
    Ok(())
}

/// `txq` and `suq`
pub fn query(machine: &Machine, run: &Running<'_>, inst: &Inst, active: u32) -> Step<()> {
    let query = &run.function.queries[inst.imm as usize];
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        let handle = unsafe { read_row(run.regs, query.object, true, lane) };
        let value = object(machine, handle, lane)?.answer(query.query);
        // SAFETY: decoded row.
        unsafe { write_row(run.regs, query.dst, false, lane, u64::from(value)) };
    }
    Ok(())
}
