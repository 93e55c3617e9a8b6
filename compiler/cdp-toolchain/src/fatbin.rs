//! Reading NVIDIA's fat binaries: which images a `.fatbin`, a host object made by `nvcc -dc` or
//! `libcudadevrt.a` holds. Images are listed, not unpacked (most are compressed).
//!
//! The layout was worked out from the files of CUDA 12.9 and 13.0: a 16-byte header (magic
//! 0xBA55ED50, u16 version, u16 header size, u64 size of what follows), then images, each a header
//! (u16 kind, u16 version, u32 header size, u64 payload size, u32 compressed size, ..., at 28 the u32
//! architecture number) and its payload.

use std::fmt;

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};

use crate::arch::Arch;
use crate::cubin::CubinError;

const MAGIC: u32 = 0xba55_ed50;
/// Sections of host objects with relocatable device code and with linked device code.
pub(crate) const RELOCATABLE: &[u8] = b"__nv_relfatbin";
pub(crate) const WHOLE_PROGRAM: &[u8] = b".nv_fatbin";
pub(crate) const ARCHIVE_MAGIC: &[u8] = b"!<arch>\n";
/// Bytes of a member's header: the size is its decimal field at 48, of 10 bytes.
const ARCHIVE_HEADER_BYTES: usize = 60;

/// What an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// PTX text.
    Ptx,
    /// A cubin or relocatable device object.
    Elf,
    /// Something else, by its number.
    Other(u16),
}

/// One image of a fat binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FatbinImage {
    /// PTX or ELF.
    pub kind: ImageKind,
    /// 90 for sm_90 or compute_90.
    pub arch_number: u32,
    /// Bytes of the image inside the fat binary, padding included.
    pub stored_bytes: u64,
}

impl FatbinImage {
    /// Whether code for an architecture can be had of it: machine code that runs there, PTX that is
    /// not newer, or something else that the linker may know (LTO-IR).
    pub(crate) fn can_serve(&self, arch: Arch) -> bool {
        match self.kind {
            ImageKind::Elf => serves(self.arch_number, arch),
            ImageKind::Ptx => self.arch_number <= arch.number().into(),
            ImageKind::Other(_) => true,
        }
    }
}

impl fmt::Display for FatbinImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.kind == ImageKind::Ptx { "compute" } else { "sm" };
        write!(f, "{name}_{}", self.arch_number)
    }
}

/// Whether machine code for an architecture of this number runs on `arch`: on the same, and on later
/// ones with the same major number (nvlink 13.0 links sm_80 objects for sm_86, and says of sm_80 ones
/// that sm_90 is "not found").
pub(crate) fn serves(arch_number: u32, arch: Arch) -> bool {
    let wanted = u32::from(arch.number());
    arch_number / 10 == wanted / 10 && arch_number <= wanted
}

/// Whether these bytes begin as a fat binary.
pub fn is_fatbin(bytes: &[u8]) -> bool {
    u32_at(bytes, 0) == Some(MAGIC)
}

/// Lists the images of a fat binary, which may be several put one behind the other.
///
/// # Errors
/// [`CubinError`] when the bytes are cut off or are no fat binary.
pub fn list_images(bytes: &[u8]) -> Result<Vec<FatbinImage>, CubinError> {
    let mut images = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        if !is_fatbin(rest) {
            // The linker pads between the fat binaries of several objects.
            if images.is_empty() || rest.iter().any(|byte| *byte != 0) {
                return Err(CubinError::new("not a fat binary"));
            }
            break;
        }
        let cut_off = || CubinError::new("the fat binary is cut off");
        let header_bytes = usize::from(u16_at(rest, 6).ok_or_else(cut_off)?);
        let body_bytes =
            usize::try_from(u64_at(rest, 8).ok_or_else(cut_off)?).map_err(|_| cut_off())?;
        if header_bytes < 16 {
            return Err(CubinError::new("the fat binary's header is too short"));
        }
        let end = header_bytes.checked_add(body_bytes).ok_or_else(cut_off)?;
        list_body(rest.get(header_bytes..end).ok_or_else(cut_off)?, &mut images)?;
        let next = end.next_multiple_of(8).min(rest.len());
        rest = &rest[next..];
    }
    Ok(images)
}

fn list_body(mut body: &[u8], images: &mut Vec<FatbinImage>) -> Result<(), CubinError> {
    let cut_off = || CubinError::new("an image of the fat binary is cut off");
    while !body.is_empty() {
        let kind = u16_at(body, 0).ok_or_else(cut_off)?;
        let header_bytes = u64::from(u32_at(body, 4).ok_or_else(cut_off)?);
        let stored_bytes = u64_at(body, 8).ok_or_else(cut_off)?;
        let arch_number = u32_at(body, 28).ok_or_else(cut_off)?;
        if header_bytes < 32 {
            return Err(CubinError::new("an image header of the fat binary is too short"));
        }
        let kind = match kind {
            1 => ImageKind::Ptx,
            2 => ImageKind::Elf,
            other => ImageKind::Other(other),
        };
        images.push(FatbinImage { kind, arch_number, stored_bytes });
        let step = header_bytes
            .checked_add(stored_bytes)
            .and_then(|n| usize::try_from(n).ok())
            .ok_or_else(cut_off)?;
        body = body.get(step..).ok_or_else(cut_off)?;
    }
    Ok(())
}

/// The images inside a host object: relocatable ones (`nvcc -dc`) and linked ones.
///
/// # Errors
/// [`CubinError`] when the bytes are no ELF file or its fat binary is damaged. An object without
/// device code gives an empty list.
pub(crate) fn list_host_object_images(bytes: &[u8]) -> Result<Vec<FatbinImage>, CubinError> {
    let mut images = list_section_images(bytes, RELOCATABLE)?;
    images.extend(list_section_images(bytes, WHOLE_PROGRAM)?);
    Ok(images)
}

/// The images in the sections of this name.
///
/// # Errors
/// As [`list_host_object_images`].
pub(crate) fn list_section_images(
    bytes: &[u8],
    name: &[u8],
) -> Result<Vec<FatbinImage>, CubinError> {
    let file = object::File::parse(bytes)?;
    let mut images = Vec::new();
    for section in file.sections() {
        if section.name_bytes() == Ok(name) {
            images.extend(list_images(section.data()?)?);
        }
    }
    Ok(images)
}

/// That every member of an archive is there in full. A symbol table that is cut off is not missed by
/// readers of archives.
///
/// # Errors
/// When the archive is cut off.
pub(crate) fn check_archive(bytes: &[u8]) -> Result<(), CubinError> {
    let cut_off = || CubinError::new("the library is cut off");
    let mut at = ARCHIVE_MAGIC.len();
    while at < bytes.len() {
        let header = bytes.get(at..at + ARCHIVE_HEADER_BYTES).ok_or_else(cut_off)?;
        let size = std::str::from_utf8(&header[48..58]).ok();
        let size = size.and_then(|size| size.trim().parse::<usize>().ok()).ok_or_else(cut_off)?;
        let end = (at + ARCHIVE_HEADER_BYTES).checked_add(size).ok_or_else(cut_off)?;
        if end > bytes.len() {
            return Err(cut_off());
        }
        at = end.next_multiple_of(2);
    }
    Ok(())
}

/// The images inside all members of a static library of host objects.
///
/// # Errors
/// [`CubinError`] when the archive or a member is damaged.
pub(crate) fn list_archive_images(bytes: &[u8]) -> Result<Vec<FatbinImage>, CubinError> {
    check_archive(bytes)?;
    let archive = ArchiveFile::parse(bytes)?;
    let mut images = Vec::new();
    for member in archive.members() {
        let data = member?.data(bytes)?;
        if data.starts_with(b"\x7fELF") {
            images.extend(list_host_object_images(data)?);
        }
    }
    Ok(images)
}

pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(offset..offset.checked_add(2)?)?.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(offset..offset.checked_add(4)?)?.try_into().ok()?))
}

pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(offset..offset.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(kind: u16, arch: u32, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; 64 + payload];
        bytes[0..2].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&64u32.to_le_bytes());
        bytes[8..16].copy_from_slice(&(payload as u64).to_le_bytes());
        bytes[28..32].copy_from_slice(&arch.to_le_bytes());
        bytes
    }

    fn fatbin(body: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        bytes.extend(1u16.to_le_bytes());
        bytes.extend(16u16.to_le_bytes());
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn lists_images_of_several_fat_binaries() {
        let mut bytes = fatbin(&[image(2, 90, 24), image(1, 121, 8)].concat());
        bytes.extend(fatbin(&image(2, 75, 0)));
        bytes.extend([0; 8]);
        let images = list_images(&bytes).unwrap();
        let short: Vec<_> = images.iter().map(|image| (image.kind, image.arch_number)).collect();
        assert_eq!(short, [(ImageKind::Elf, 90), (ImageKind::Ptx, 121), (ImageKind::Elf, 75)]);
    }

    #[test]
    fn damaged_bytes_are_errors_or_lists_and_never_panics() {
        let whole = fatbin(&[image(2, 90, 24), image(1, 121, 8)].concat());
        for length in 0..whole.len() {
            assert!(list_images(&whole[..length]).is_err() || length == 0);
        }
        for offset in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[offset] = value;
                let _ = list_images(&bytes);
            }
        }
    }
}
