//! Addresses: of variables of the function and the block, and from one state space to another.

use super::rows::{fill_with, lanes_of, read_row, set_pred};
use super::{Block, Machine, Warp, cluster};
use crate::code::{Inst, Place};
use crate::memory::space;

/// `cvta`: from an address of a space to a generic one.
pub fn to_generic(
    block: &Block,
    warp: &Warp,
    regs: *mut u32,
    inst: &Inst,
    place: Place,
    active: u32,
) {
    let (serial, first) = (block.serial, warp.index * 32);
    // SAFETY: decoded rows.
    unsafe {
        fill_with(regs, inst.d, true, active, |lane| {
            let at = read_row(regs, inst.a, true, lane);
            match place {
                Place::Shared => space::shared_base(serial) | space::offset(at),
                Place::Cluster => cluster::to_generic(block, at),
                Place::Local | Place::Frame => {
                    space::local_base(serial, first + lane as u32) | space::offset(at)
                }
                Place::Param => space::PARAM_BASE | space::offset(at),
                Place::Generic | Place::Global | Place::Const => at,
            }
        })
    };
}

/// `isspacep`
pub fn is_space(
    machine: &Machine,
    block: &Block,
    regs: *mut u32,
    inst: &Inst,
    place: Place,
    active: u32,
) {
    let mut bits = 0;
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        let address = unsafe { read_row(regs, inst.a, true, lane) };
        let is = match (place, space::window(address)) {
            (Place::Shared, space::Window::Shared) => {
                space::owner_serial(address) == space::truncated_serial(block.serial)
            }
            (Place::Cluster, space::Window::Shared) => cluster::holds(block, address),
            (Place::Local | Place::Frame, space::Window::Local)
            | (Place::Param, space::Window::Param) => true,
            (Place::Global, space::Window::Global) => {
                machine.memory.find(address).is_none_or(|extent| extent.writable)
            }
            (Place::Const, space::Window::Global) => {
                machine.memory.find(address).is_some_and(|extent| !extent.writable)
            }
            _ => false,
        };
        bits |= u32::from(is) << lane;
    }
    set_pred(regs, inst.d, bits, active);
}

/// `cvta.to`: from a generic address to one of a space.
pub fn from_generic(block: &Block, regs: *mut u32, inst: &Inst, place: Place, active: u32) {
    // SAFETY: decoded rows.
    unsafe {
        fill_with(regs, inst.d, true, active, |lane| {
            let address = read_row(regs, inst.a, true, lane);
            match place {
                Place::Cluster => cluster::from_generic(block, address),
                Place::Shared | Place::Local | Place::Param | Place::Frame => {
                    space::offset(address)
                }
                Place::Generic | Place::Global | Place::Const => address,
            }
        })
    };
}
