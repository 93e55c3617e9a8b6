//! The sections of an ELF file for x86-64, by their headers, for those who change it in place. Not a reader of symbols and
//! not a writer: where something lies is all that is known here.
//!
//! Structures: ELF-64 gABI, "ELF Header" and "Sections".

use cdp_image::bytes::{u16_at, u32_at, u64_at};
use object::elf;

/// Bytes of `Elf64_Shdr`.
pub(crate) const SECTION_BYTES: usize = 64;

/// A section, which lies inside the file.
pub(crate) struct Section {
    /// Where its header lies in the file.
    pub header: usize,
    pub kind: elf::SectionType,
    pub flags: u64,
    pub offset: usize,
    pub bytes: usize,
    /// For symbols the index of the first that is not local, for relocations the section they are for, for
    /// a group its symbol.
    pub info: u32,
}

/// Whether the bytes begin as such a file.
pub(crate) fn is_ours(file: &[u8]) -> bool {
    file.starts_with(b"\x7fELF\x02\x01") && u16_at(file, 18) == Some(elf::EM_X86_64.0)
}

/// Its sections in their order; `None` if they do not all lie inside the file.
pub(crate) fn sections(file: &[u8]) -> Option<Vec<Section>> {
    let is_known = is_ours(file) && usize::from(u16_at(file, 58)?) == SECTION_BYTES;
    is_known.then_some(())?;
    let first = usize::try_from(u64_at(file, 40)?).ok()?;
    let count = usize::from(u16_at(file, 60)?);
    let section = |index: usize| {
        let header = first.checked_add(index.checked_mul(SECTION_BYTES)?)?;
        file.get(header..)?.get(..SECTION_BYTES)?;
        let kind = elf::SectionType(u32_at(file, header + 4)?);
        let offset = usize::try_from(u64_at(file, header + 24)?).ok()?;
        let bytes = usize::try_from(u64_at(file, header + 32)?).ok()?;
        let has_bytes = !matches!(kind, elf::SHT_NOBITS | elf::SHT_NULL);
        if has_bytes && offset.checked_add(bytes)? > file.len() {
            return None;
        }
        let flags = u64_at(file, header + 8)?;
        Some(Section { header, kind, flags, offset, bytes, info: u32_at(file, header + 44)? })
    };
    (0..count).map(section).collect()
}
