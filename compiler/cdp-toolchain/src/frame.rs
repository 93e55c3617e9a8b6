//! Repairs the unwind tables of relocatable objects that ptxas makes with `-g -c`. Not a reader of
//! DWARF: it knows entry headers and relocations.
//!
//! Each frame description (FDE) in `.debug_frame` names the common entry (CIE) that it builds on, by a
//! relocation. ptxas writes a CIE before every FDE, and counts 64 bytes for an FDE of 56 when it works
//! out where the next ones lie: after each of these, relocations point 8 bytes further past their CIEs
//! (read in objects of ptxas 13.0.88 with `llvm-dwarfdump --debug-frame`; without `-c` it is right).
//! cuda-gdb then finds no frame base: every variable in local memory of
//! those functions prints as zero or as garbage, in programs of nvcc 13.0 too (H200, cuda-gdb 13.0).
//!
//! Entry headers: DWARF 3, section 6.4.1; relocations: ELF-64 gABI.

use std::collections::HashMap;

use cdp_image::bytes::{u32_at, u64_at};
use object::{Object, ObjectSection};

/// A length field of 0xffffffff: a 64-bit length follows (DWARF 3, section 7.4).
const DWARF64: u32 = u32::MAX;
/// In place of a CIE's offset in 64-bit DWARF: the entry is a CIE itself.
const IS_CIE: u64 = u64::MAX;
/// Bytes of the two length fields.
const LENGTH_BYTES: usize = 12;
/// Bytes of `Elf64_Rela`: offset, info, addend.
const RELA_BYTES: usize = 24;

/// Points the relocation of every FDE at the CIE before it. An object without such tables, or with
/// others than are understood here, stays as it is.
pub(crate) fn repair(object: &mut [u8]) {
    let Some((frame, relocations)) = ranges(object) else { return };
    let Some(entries) = entries(&object[frame]) else { return };
    for at in relocations.step_by(RELA_BYTES) {
        let offset = u64_at(object, at).and_then(|offset| usize::try_from(offset).ok());
        let cie = offset.and_then(|offset| entries.get(&offset.checked_sub(LENGTH_BYTES)?));
        let addend = object.get_mut(at + 16..at + RELA_BYTES);
        if let (Some(cie), Some(addend)) = (cie, addend) {
            addend.copy_from_slice(&(*cie as u64).to_le_bytes());
        }
    }
}

/// Where `.debug_frame` and its relocations lie in the file.
fn ranges(object: &[u8]) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let file = object::File::parse(object).ok()?;
    if !file.is_64() {
        return None;
    }
    let range = |name: &str| {
        let (start, bytes) = file.section_by_name(name)?.file_range()?;
        let (start, bytes) = (usize::try_from(start).ok()?, usize::try_from(bytes).ok()?);
        let end = start.checked_add(bytes).filter(|end| *end <= object.len())?;
        Some(start..end)
    };
    Some((range(".debug_frame")?, range(".rela.debug_frame")?))
}

/// Offsets of the FDEs, each with that of the CIE before it.
fn entries(frame: &[u8]) -> Option<HashMap<usize, usize>> {
    let (mut fdes, mut cie, mut start) = (HashMap::new(), None, 0);
    while start < frame.len() {
        let bytes = usize::try_from(u64_at(frame, start + 4)?).ok()?;
        if u32_at(frame, start)? != DWARF64 || bytes < 8 {
            return None;
        }
        if u64_at(frame, start + LENGTH_BYTES)? == IS_CIE {
            cie = Some(start);
        } else {
            fdes.insert(start, cie?);
        }
        start = start.checked_add(LENGTH_BYTES)?.checked_add(bytes)?;
    }
    Some(fdes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(cie: u64, rest: usize) -> Vec<u8> {
        let mut bytes = DWARF64.to_le_bytes().to_vec();
        bytes.extend((8 + rest as u64).to_le_bytes());
        bytes.extend(cie.to_le_bytes());
        bytes.extend(vec![0; rest]);
        bytes
    }

    #[test]
    fn every_fde_has_the_cie_before_it() {
        let frame = [entry(IS_CIE, 4), entry(0, 16), entry(IS_CIE, 4), entry(0, 16)].concat();
        assert_eq!(entries(&frame).unwrap(), HashMap::from([(24, 0), (84, 60)]));
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        assert!(entries(&[0, 0, 0, 16]).is_none());
        assert!(entries(&entry(0, 16)).is_none());
        let mut text = b"not an object".to_vec();
        repair(&mut text);
        assert_eq!(text, b"not an object");
    }
}
