//! Addresses: of variables of the function and the block, and from one state space to another.

use super::rows::{fill_with, read_row, set_pred};
use super::{Block, Machine, Warp, cluster};
use crate::code::{Inst, StateSpace};
use crate::lanes::lanes_of;
use crate::memory::space;

/// `cvta`: from an address of a space to a generic one.
pub fn to_generic(
    block: &Block,
    warp: &Warp,
    regs: *mut u32,
    inst: &Inst,
    space: StateSpace,
    active: u32,
) {
    let (serial, first) = (block.serial, warp.index * 32);
    // SAFETY: decoded rows.
    unsafe {
        fill_with(regs, inst.d, true, active, |lane| {
            let at = read_row(regs, inst.a, true, lane);
            match space {
                StateSpace::Shared | StateSpace::Local | StateSpace::Frame
                    if at == space::OF_NULL =>
                {
                    0
                }
                StateSpace::Shared => space::shared_base(serial) | space::offset(at),
                StateSpace::Cluster => cluster::to_generic(block, at),
                StateSpace::Local | StateSpace::Frame => {
                    space::local_base(serial, first + lane as u32) | space::offset(at)
                }
                StateSpace::Param => space::PARAM_BASE | space::offset(at),
                StateSpace::Generic | StateSpace::Global | StateSpace::Const => at,
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
    space: StateSpace,
    active: u32,
) {
    let mut bits = 0;
    for lane in lanes_of(active) {
        // SAFETY: decoded row.
        let address = unsafe { read_row(regs, inst.a, true, lane) };
        let is = match (space, space::window(address)) {
            (StateSpace::Shared, space::Window::Shared) => {
                space::owner_serial(address) == space::truncated_serial(block.serial)
            }
            (StateSpace::Cluster, space::Window::Shared) => cluster::holds(block, address),
            (StateSpace::Local | StateSpace::Frame, space::Window::Local)
            | (StateSpace::Param, space::Window::Param) => true,
            (StateSpace::Global, space::Window::Global) => {
                machine.memory.find(address).is_none_or(|extent| extent.writable)
            }
            (StateSpace::Const, space::Window::Global) => {
                machine.memory.find(address).is_some_and(|extent| !extent.writable)
            }
            _ => false,
        };
        bits |= u32::from(is) << lane;
    }
    set_pred(regs, inst.d, bits, active);
}

/// `cvta.to`: from a generic address to one of a space.
pub fn from_generic(block: &Block, regs: *mut u32, inst: &Inst, space: StateSpace, active: u32) {
    // SAFETY: decoded rows.
    unsafe {
        fill_with(regs, inst.d, true, active, |lane| {
            let address = read_row(regs, inst.a, true, lane);
            match space {
                StateSpace::Cluster => cluster::from_generic(block, address),
                // Variables begin at 0: PTX leaves open what becomes of null, and compilers compare with it.
                StateSpace::Shared | StateSpace::Local | StateSpace::Frame if address == 0 => {
                    space::OF_NULL
                }
                StateSpace::Shared | StateSpace::Local | StateSpace::Param | StateSpace::Frame => {
                    space::offset(address)
                }
                StateSpace::Generic | StateSpace::Global | StateSpace::Const => address,
            }
        })
    };
}
