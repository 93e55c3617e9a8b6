//! What the header and the attribute sections of a cubin say, without its symbols: for which
//! architecture it is, how long it claims to be, and the records of a `.nv.info` section.
//!
//! Facts: ELF-64 gABI; the header's flags and the attributes were read in what ptxas 11.8, 12.9 and 13.0
//! write and compared with what `cuobjdump -elf` prints for the same files.

use crate::bytes::{u16_at, u32_at, u64_at};

/// How every ELF file begins.
pub const ELF_MAGIC: [u8; 4] = *b"\x7fELF";
/// ELF machine number of CUDA device code (`EM_CUDA`).
pub const MACHINE: u16 = 190;

/// Whether the bytes are an ELF file of CUDA device code.
pub fn is_cubin(bytes: &[u8]) -> bool {
    bytes.starts_with(&ELF_MAGIC) && u16_at(bytes, 18) == Some(MACHINE)
}

/// The architecture number (90 for sm_90) in the flags of an ELF header: bits 8 to 15 where the ABI
/// version is 8 (ptxas 13), bits 0 to 7 where it is 7.
pub fn arch_number_of_flags(abi_version: u8, flags: u32) -> u32 {
    if abi_version >= 8 { flags >> 8 & 0xff } else { flags & 0xff }
}

/// The architecture number of a 64-bit cubin; `None` if the header is cut off.
pub fn arch_number(cubin: &[u8]) -> Option<u32> {
    Some(arch_number_of_flags(*cubin.get(8)?, u32_at(cubin, 48)?))
}

/// Whether machine code for one architecture runs on another: on the same major version, and no lower
/// minor one (CUDA Programming Guide, "Cubin Compatibility"; nvlink 13.0 links sm_80 objects for sm_86,
/// and says of sm_80 ones that sm_90 is "not found").
pub fn machine_code_runs_on(made_for: u32, arch_number: u32) -> bool {
    made_for / 10 == arch_number / 10 && made_for <= arch_number
}

/// Bytes that the headers of a 64-bit ELF file claim; `None` if they are cut off.
pub fn claimed_bytes(image: &[u8]) -> Option<u64> {
    // Section and program header tables lie within the file; nothing a driver reads lies past the later
    // of them or a section.
    let half = |at| u16_at(image, at).map(u64::from);
    let (sections, segments) = (u64_at(image, 0x28)?, u64_at(image, 0x20)?);
    let segment_end = segments.checked_add(half(0x36)? * half(0x38)?)?;
    let (entry_bytes, count) = (half(0x3A)?, half(0x3C)?);
    let mut end = segment_end.max(sections.checked_add(entry_bytes * count)?).max(64);
    for index in 0..count {
        let header = usize::try_from(sections.checked_add(index * entry_bytes)?).ok()?;
        const SHT_NOBITS: u32 = 8;
        if u32_at(image, header.checked_add(4)?)? != SHT_NOBITS {
            let offset = u64_at(image, header.checked_add(0x18)?)?;
            let size = u64_at(image, header.checked_add(0x20)?)?;
            end = end.max(offset.checked_add(size)?);
        }
    }
    Some(end)
}

/// Numbers of the attributes that are read, with the names of `cuobjdump -elf` (`EIATTR_...`).
pub mod attribute {
    /// `.maxntid`: three 32-bit numbers.
    pub const MAX_THREADS: u8 = 0x05;
    /// Where the parameters begin in constant bank 0.
    pub const PARAM_CBANK: u8 = 0x0a;
    /// `.reqntid`: three 32-bit numbers.
    pub const REQNTID: u8 = 0x10;
    /// Symbol, and the bytes of its own frame.
    pub const FRAME_SIZE: u8 = 0x11;
    /// Symbol, and the stack it needs with its callees, in bytes.
    pub const MIN_STACK_SIZE: u8 = 0x12;
    /// One parameter.
    pub const KPARAM_INFO: u8 = 0x17;
    /// Bytes of the parameter buffer, in the short value.
    pub const CBANK_PARAM_SIZE: u8 = 0x19;
    /// Symbol, and its registers.
    pub const REGCOUNT: u8 = 0x2f;
    /// One parameter, in the form of ptxas 13.
    pub const KPARAM_INFO_V2: u8 = 0x45;
}

/// One record of a `.nv.info` section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// One of [`attribute`], or another.
    pub number: u8,
    /// The 16 bits in the header, which are the value of the short formats.
    pub short: u16,
    /// What follows the header; empty in the short formats.
    pub payload: &'a [u8],
}

/// Why the records of a section end before it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeError {
    /// A format that is not known, so that its length is not.
    UnknownFormat(u8),
    /// A payload that is longer than the section.
    CutOff,
}

impl std::fmt::Display for AttributeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AttributeError::UnknownFormat(format) => {
                write!(f, "unknown attribute format {format} in .nv.info")
            }
            AttributeError::CutOff => f.write_str("an attribute in .nv.info is cut off"),
        }
    }
}

/// Splits a `.nv.info` section. Formats 1 to 3 hold their value in the header, 4 has a payload whose size
/// is in the header.
///
/// # Errors
/// What could not be split.
pub fn attributes(mut bytes: &[u8]) -> Result<Vec<Attribute<'_>>, AttributeError> {
    let mut all = Vec::new();
    while let (Some([format, number, ..]), Some(short)) =
        (bytes.first_chunk::<4>(), u16_at(bytes, 2))
    {
        let payload_bytes = match format {
            1..=3 => 0,
            4 => usize::from(short),
            other => return Err(AttributeError::UnknownFormat(*other)),
        };
        let payload = bytes.get(4..4 + payload_bytes).ok_or(AttributeError::CutOff)?;
        all.push(Attribute { number: *number, short, payload });
        bytes = &bytes[4 + payload_bytes..];
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_read_from_both_forms_of_flags() {
        assert_eq!(arch_number_of_flags(8, 0x0600_5a04), 90);
        assert_eq!(arch_number_of_flags(8, 0x0600_7904), 121);
        assert_eq!(arch_number_of_flags(7, 0x0050_0550), 80);
        assert_eq!(arch_number(b"\x7fELF"), None);
    }

    #[test]
    fn machine_code_runs_on_its_major_version_and_up() {
        for (made_for, arch, runs) in
            [(80, 86, true), (86, 80, false), (80, 90, false), (90, 90, true)]
        {
            assert_eq!(machine_code_runs_on(made_for, arch), runs, "{made_for} on {arch}");
        }
    }

    #[test]
    fn attributes_are_split_or_refused() {
        let bytes = [4, 0x2f, 4, 0, 1, 2, 3, 4, 1, 0x50, 7, 0];
        let found = attributes(&bytes).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].number, found[0].payload), (0x2f, &bytes[4..8]));
        assert_eq!((found[1].number, found[1].short, found[1].payload), (0x50, 7, &[][..]));
        assert_eq!(attributes(&bytes[..6]), Err(AttributeError::CutOff));
        assert_eq!(attributes(&[9, 0, 0, 0]), Err(AttributeError::UnknownFormat(9)));
    }
}
