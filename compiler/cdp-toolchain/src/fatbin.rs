//! Which images a `.fatbin`, a host object made by `nvcc -dc` or `libcudadevrt.a` holds, and whether they
//! serve an architecture. Images are listed, not unpacked; the container's layout is cdp-image's.

use std::fmt;

use cdp_image::cubin::machine_code_runs_on;
pub use cdp_image::fatbin::is_fatbin;
use cdp_image::fatbin::{self, EntryKind};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};

use crate::arch::Arch;
use crate::cubin::CubinError;

/// Sections of host objects with relocatable device code and with linked device code.
pub(crate) const RELOCATABLE: &[u8] = b"__nv_relfatbin";
pub(crate) const WHOLE_PROGRAM: &[u8] = b".nv_fatbin";
pub(crate) const ARCHIVE_MAGIC: &[u8] = b"!<arch>\n";

/// Whether this is a library of objects (`ar`).
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(ARCHIVE_MAGIC)
}
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

/// Whether machine code for an architecture of this number runs on `arch`.
pub(crate) fn serves(arch_number: u32, arch: Arch) -> bool {
    machine_code_runs_on(arch_number, arch.number().into())
}

/// Lists the images of a fat binary, which may be several put one behind the other.
///
/// # Errors
/// [`CubinError`] when the bytes are cut off or are no fat binary.
pub fn list_images(bytes: &[u8]) -> Result<Vec<FatbinImage>, CubinError> {
    let entries =
        fatbin::all_entries(bytes).map_err(|damage| CubinError::new(damage.to_string()))?;
    let image = |entry: fatbin::Entry<'_>| FatbinImage {
        kind: match entry.kind {
            EntryKind::Ptx => ImageKind::Ptx,
            EntryKind::MachineCode => ImageKind::Elf,
            EntryKind::Other(number) => ImageKind::Other(number),
        },
        arch_number: entry.architecture,
        stored_bytes: entry.stored().len() as u64,
    };
    Ok(entries.into_iter().map(image).collect())
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
