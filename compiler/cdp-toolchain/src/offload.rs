//! Reading what clang's offloading driver puts into host objects: section `.llvm.offloading`, which
//! NVIDIA's tools do not know.
//!
//! The layout is LLVM's "offload binary", version 1: a header (magic, u32 version, u64 size, u64
//! offset and u64 size of the entry), the entry (u16 image kind, u16 offload kind, u32 flags, u64
//! offset and u64 number of string pairs, u64 offset and u64 size of the image), and string pairs, each
//! two u64 offsets of texts with a NUL. Several stand one behind the other, aligned to 8 bytes.
//! Worked out from objects of clang 22.

use cdp_image::bytes::{u16_at, u32_at, u64_at};
use object::{Object, ObjectSection};

use crate::cubin::CubinError;

const MAGIC: [u8; 4] = [0x10, 0xff, 0x10, 0xad];
const SECTION: &[u8] = b".llvm.offloading";

/// Device code that clang put into a host object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffloadImage<'data> {
    /// LLVM's number of what it is: 1 an object, 2 bitcode, 3 a cubin, 4 a fat binary, 5 PTX.
    pub kind: u16,
    /// `sm_90`
    pub arch: &'data str,
    /// `nvptx64-nvidia-cuda`
    pub triple: &'data str,
    pub bytes: &'data [u8],
}

/// The images of a host object; none in one that clang's driver did not make.
///
/// # Errors
/// When the bytes are no object, or the section is damaged.
pub(crate) fn images_of_object(bytes: &[u8]) -> Result<Vec<OffloadImage<'_>>, CubinError> {
    let file = object::File::parse(bytes)?;
    let mut images = Vec::new();
    for section in file.sections() {
        if section.name_bytes() == Ok(SECTION) {
            read_binaries(section.data()?, &mut images)?;
        }
    }
    Ok(images)
}

fn read_binaries<'data>(
    mut bytes: &'data [u8],
    images: &mut Vec<OffloadImage<'data>>,
) -> Result<(), CubinError> {
    let damaged = || CubinError::new("the device code that clang put in is damaged");
    while bytes.iter().any(|byte| *byte != 0) {
        if !bytes.starts_with(&MAGIC) {
            return Err(damaged());
        }
        let size = u64_at(bytes, 8).and_then(|size| usize::try_from(size).ok());
        let size = size.filter(|size| *size > 0).ok_or_else(damaged)?;
        let binary = bytes.get(..size).ok_or_else(damaged)?;
        images.push(read_binary(binary).ok_or_else(damaged)?);
        bytes = bytes.get(size.next_multiple_of(8)..).unwrap_or_default();
    }
    Ok(())
}

fn read_binary(binary: &[u8]) -> Option<OffloadImage<'_>> {
    let offset_at = |at: usize| usize::try_from(u64_at(binary, at)?).ok();
    let entry = offset_at(16)?;
    let field = |at: usize| offset_at(entry.checked_add(at)?);
    let (strings, count) = (field(8)?, field(16)?);
    let (image, size) = (field(24)?, field(32)?);
    u32_at(binary, 4)?;
    let text = |at: usize| {
        let rest = binary.get(offset_at(at)?..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    };
    let (mut arch, mut triple) = ("", "");
    // A pair has 16 bytes, so a count that is no lie is small.
    for index in 0..count.min(binary.len() / 16) {
        let pair = strings.checked_add(index * 16)?;
        match text(pair)? {
            "arch" => arch = text(pair + 8)?,
            "triple" => triple = text(pair + 8)?,
            _ => {}
        }
    }
    let bytes = binary.get(image..image.checked_add(size)?)?;
    Some(OffloadImage { kind: u16_at(binary, entry)?, arch, triple, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One binary with two strings and an image of four bytes.
    fn binary() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(1u32.to_le_bytes());
        for number in [152u64, 32, 40] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([3, 0, 2, 0, 0, 0, 0, 0]);
        for number in [72u64, 2, 144, 4, 104, 109, 115, 122] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"arch\0sm_90\0triple\0nvptx64-nvidia-cuda\0");
        bytes.resize(144, 0);
        bytes.extend(b"code");
        bytes.resize(152, 0);
        bytes
    }

    #[test]
    fn reads_several() {
        let mut images = Vec::new();
        let twice = [binary(), binary()].concat();
        read_binaries(&twice, &mut images).unwrap();
        assert_eq!(images.len(), 2);
        let image = images[1];
        assert_eq!((image.kind, image.arch, image.bytes), (3, "sm_90", &b"code"[..]));
        assert_eq!(image.triple, "nvptx64-nvidia-cuda");
    }

    #[test]
    fn damaged_ones_are_errors_or_harmless() {
        let whole = binary();
        for length in 1..whole.len() {
            assert!(read_binaries(&whole[..length], &mut Vec::new()).is_err(), "{length}");
        }
        for offset in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[offset] = value;
                let _ = read_binaries(&bytes, &mut Vec::new());
            }
        }
    }
}
