//! Where the lanes of a warp access memory: one address a lane. Whether these may be accessed is asked elsewhere.

use super::super::checks::Addresses;

/// Computes the addresses of an access.
#[inline(always)]
pub fn addresses(
    regs: *const u32,
    row: u32,
    wide: bool,
    offset: i32,
    mask: u32,
    out: &mut Addresses,
) {
    let added = i64::from(offset) as u64;
    // SAFETY: `row` is a decoded row of this width.
    unsafe {
        let base = regs.add(row as usize);
        if wide {
            let values = base.cast::<[u64; 32]>().read_unaligned();
            for lane in 0..32 {
                out[lane] = values[lane].wrapping_add(added);
            }
        } else {
            let values = base.cast::<[u32; 32]>().read_unaligned();
            for lane in 0..32 {
                out[lane] = u64::from(values[lane].wrapping_add(offset as u32));
            }
        }
    }
    if mask != u32::MAX {
        let first = out[mask.trailing_zeros() as usize];
        for (lane, address) in out.iter_mut().enumerate() {
            if mask >> lane & 1 == 0 {
                *address = first;
            }
        }
    }
}
