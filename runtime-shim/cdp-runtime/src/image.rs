//! The forms of machine code that a program carries: cubin (an ELF file) and fatbin. Only what is
//! needed to hand them to a driver safely: how long they say they are.
//!
//! Facts: ELF-64 gABI; the fatbin header (magic 0xBA55ED50, version, header bytes, payload bytes) as
//! read in files that `fatbinary` 13.0 makes.

use crate::error::{CudaError, DeviceError, Result};

const ELF_MAGIC: [u8; 4] = *b"\x7fELF";
const FATBIN_MAGIC: u32 = 0xBA55_ED50;

fn u16_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Bytes that the image's own headers claim; `None` if it is no cubin or fatbin.
fn claimed_bytes(image: &[u8]) -> Option<u64> {
    if image.starts_with(&ELF_MAGIC) {
        // Section and program header tables lie within the file; nothing the driver reads lies past
        // the later of them or a section, and the sections are checked one by one.
        let (sections, segments) = (u64_at(image, 0x28)?, u64_at(image, 0x20)?);
        let segment_end = segments + u16_at(image, 0x36)? * u16_at(image, 0x38)?;
        let (entry_bytes, count) = (u16_at(image, 0x3A)?, u16_at(image, 0x3C)?);
        let mut end = segment_end.max(sections.checked_add(entry_bytes * count)?).max(64);
        for index in 0..count {
            let header = usize::try_from(sections + index * entry_bytes).ok()?;
            const SHT_NOBITS: u32 = 8;
            let kind = u32::from_le_bytes(image.get(header + 4..header + 8)?.try_into().ok()?);
            if kind != SHT_NOBITS {
                let (offset, size) = (u64_at(image, header + 0x18)?, u64_at(image, header + 0x20)?);
                end = end.max(offset.checked_add(size)?);
            }
        }
        return Some(end);
    }
    if image.starts_with(&FATBIN_MAGIC.to_le_bytes()) {
        return u16_at(image, 6)?.checked_add(u64_at(image, 8)?);
    }
    None
}

/// Checks that `image` is a cubin or fatbin and whole.
///
/// # Errors
/// `cudaErrorInvalidKernelImage` with what is wrong.
pub fn check_extent(image: &[u8]) -> Result<()> {
    let fail = |detail: String| Err(DeviceError::new(CudaError::INVALID_KERNEL_IMAGE, detail));
    match claimed_bytes(image) {
        None => fail("the machine code is neither a cubin nor a fatbin, or is cut off".to_owned()),
        Some(claimed) if claimed > image.len() as u64 => fail(format!(
            "the machine code is cut off: its header speaks of {claimed} bytes, there are {}",
            image.len()
        )),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_off_image_is_refused() {
        let mut fatbin = Vec::new();
        fatbin.extend(FATBIN_MAGIC.to_le_bytes());
        fatbin.extend([1, 0, 16, 0]);
        fatbin.extend(8u64.to_le_bytes());
        fatbin.extend([0; 8]);
        assert!(check_extent(&fatbin).is_ok());
        assert_eq!(check_extent(&fatbin[..20]).unwrap_err().code, CudaError::INVALID_KERNEL_IMAGE);
        assert!(check_extent(b"PTX?").is_err());
        assert!(check_extent(b"\x7fELF").is_err());
    }
}
