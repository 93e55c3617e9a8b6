//! GPU architectures (`sm_90`, `sm_90a`, ...) and what the CUDA tools can do for each.
//!
//! Facts about launching (parameter buffers, entry points) live in `cdp-launch`, not here.

use std::fmt;
use std::str::FromStr;

/// The number of bits of a device address: 64, or 32 for the `nvptx` target, which ptxas 11.8 is
/// the last to assemble (FACTS.md, "Entry points").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressSize {
    /// 32-bit addresses (`-m32`, `.address_size 32`).
    Bits32,
    /// 64-bit addresses (`-m64`, `.address_size 64`).
    Bits64,
}

impl AddressSize {
    /// 32 or 64.
    pub fn bits(self) -> u32 {
        match self {
            AddressSize::Bits32 => 32,
            AddressSize::Bits64 => 64,
        }
    }
}

impl fmt::Display for AddressSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-bit", self.bits())
    }
}

/// The letter behind an architecture's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArchSuffix {
    /// No letter: code runs on this architecture and, within a major version, on later ones.
    None,
    /// `f`: family-specific features.
    Family,
    /// `a`: architecture-specific features; code runs on exactly this architecture.
    Specific,
}

/// A known real GPU architecture. A value of this type always names an entry of the table, so every
/// fact about it exists.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arch {
    number: u16,
    suffix: ArchSuffix,
}

/// The version of a CUDA tool, for example 13.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolVersion {
    /// 13 in 13.0.
    pub major: u16,
    /// 0 in 13.0.
    pub minor: u16,
}

impl ToolVersion {
    /// The latest that the tables here were made with.
    pub const NEWEST: ToolVersion = ToolVersion::new(13, 0);

    /// A version from its two parts.
    pub const fn new(major: u16, minor: u16) -> Self {
        ToolVersion { major, minor }
    }

    /// The newest PTX ISA version that the ptxas of this CUDA version reads, as (major, minor).
    /// Source: PTX ISA manual, "Release Notes"; what ptxas 11.8, 12.9 and 13.0 say when
    /// they are given a newer one. A version newer than this table is taken to read what 13.0 reads.
    pub fn max_ptx_isa(self) -> (u16, u16) {
        match (self.major, self.minor) {
            (..=10, _) => (6, 3),
            (11, minor @ 0..=8) => (7, minor),
            (11, _) => (7, 8),
            (12, minor @ 0..=5) => (8, minor),
            (12, 6) => (8, 5),
            (12, 7) => (8, 6),
            (12, 8) => (8, 7),
            (12, _) => (8, 8),
            (13.., _) => (9, 0),
        }
    }
}

impl fmt::Display for ToolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What the tools and the hardware offer on one architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchFacts {
    /// First CUDA version whose ptxas assembles this architecture.
    pub first_tools: ToolVersion,
    /// Last CUDA version whose ptxas assembles it; `None` while it is current.
    pub last_tools: Option<ToolVersion>,
    /// Shared memory that one block may have at most after opting in with
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`, in bytes (CUDA C++ Programming Guide, table
    /// "Technical Specifications per Compute Capability").
    pub shared_opt_in_bytes: u32,
    /// Whether the CDP1 device runtime (`cudaDeviceSynchronize` in device code) exists: below sm_90.
    pub cdp1: bool,
}

/// Limits of a launch configuration that all known architectures share (CUDA C++ Programming
/// Guide, "Technical Specifications per Compute Capability").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchLimits {
    /// Threads in a block, x * y * z.
    pub threads_per_block: u32,
    /// Block dimensions x, y and z.
    pub block_dimensions: [u32; 3],
    /// Grid dimensions x, y and z.
    pub grid_dimensions: [u32; 3],
    /// Shared memory of a block without opting in: all static shared memory counts against it.
    pub shared_static_bytes: u32,
}

/// The limits of every architecture in the table.
pub const LAUNCH_LIMITS: LaunchLimits = LaunchLimits {
    threads_per_block: 1024,
    block_dimensions: [1024, 1024, 64],
    grid_dimensions: [0x7fff_ffff, 65_535, 65_535],
    shared_static_bytes: 48 * 1024,
};

/// One row of the table: an architecture number with the versions of its suffixes.
struct Row {
    number: u16,
    first: ToolVersion,
    last: Option<ToolVersion>,
    /// First tools that know the `a` form.
    specific: Option<ToolVersion>,
    /// First tools that know the `f` form.
    family: Option<ToolVersion>,
    shared_opt_in_kib: u32,
}

const fn v(major: u16, minor: u16) -> ToolVersion {
    ToolVersion::new(major, minor)
}

const fn row(number: u16, first: ToolVersion, shared_opt_in_kib: u32) -> Row {
    Row { number, first, last: None, specific: None, family: None, shared_opt_in_kib }
}

/// Every architecture from sm_50 on. First and last tool versions: `ptxas --help` of 11.8, 12.9 and
/// 13.0, and the CUDA Toolkit release notes for the versions between.
const TABLE: &[Row] = &[
    Row { last: Some(v(12, 9)), ..row(50, v(6, 0), 48) },
    Row { last: Some(v(12, 9)), ..row(52, v(6, 5), 48) },
    Row { last: Some(v(12, 9)), ..row(53, v(7, 0), 48) },
    Row { last: Some(v(12, 9)), ..row(60, v(8, 0), 48) },
    Row { last: Some(v(12, 9)), ..row(61, v(8, 0), 48) },
    Row { last: Some(v(12, 9)), ..row(62, v(8, 0), 48) },
    Row { last: Some(v(12, 9)), ..row(70, v(9, 0), 96) },
    Row { last: Some(v(12, 9)), ..row(72, v(9, 2), 96) },
    row(75, v(10, 0), 64),
    row(80, v(11, 0), 163),
    row(86, v(11, 1), 99),
    row(87, v(11, 5), 163),
    row(88, v(13, 0), 99),
    row(89, v(11, 8), 99),
    Row { specific: Some(v(12, 0)), ..row(90, v(11, 8), 227) },
    Row { specific: Some(v(12, 8)), family: Some(v(12, 9)), ..row(100, v(12, 8), 227) },
    // CUDA 13.0 renamed sm_101 to sm_110.
    Row {
        last: Some(v(12, 9)),
        specific: Some(v(12, 8)),
        family: Some(v(12, 9)),
        ..row(101, v(12, 8), 227)
    },
    Row { specific: Some(v(12, 9)), family: Some(v(12, 9)), ..row(103, v(12, 9), 227) },
    Row { specific: Some(v(13, 0)), family: Some(v(13, 0)), ..row(110, v(13, 0), 227) },
    Row { specific: Some(v(12, 8)), family: Some(v(12, 9)), ..row(120, v(12, 8), 99) },
    Row { specific: Some(v(12, 9)), family: Some(v(12, 9)), ..row(121, v(12, 9), 99) },
];

impl Arch {
    /// Turing, the oldest that CUDA 13 knows.
    pub const SM_75: Arch = Arch { number: 75, suffix: ArchSuffix::None };
    /// Hopper, which this project measures on.
    pub const SM_90: Arch = Arch { number: 90, suffix: ArchSuffix::None };

    /// Reads an architecture as users and tools write it: `sm_90`, `sm_90a`, nvcc's `compute_90`,
    /// or the bare `90`.
    ///
    /// # Errors
    /// [`ArchError`], which lists the known ones, when the table has no such architecture.
    pub fn parse(text: &str) -> Result<Arch, ArchError> {
        let unknown = || ArchError { given: text.to_owned() };
        let bare =
            text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_")).unwrap_or(text);
        let (digits, suffix) = match bare.as_bytes().last() {
            Some(b'a') => (&bare[..bare.len() - 1], ArchSuffix::Specific),
            Some(b'f') => (&bare[..bare.len() - 1], ArchSuffix::Family),
            _ => (bare, ArchSuffix::None),
        };
        if digits.is_empty()
            || digits.starts_with('0')
            || !digits.bytes().all(|b| b.is_ascii_digit())
        {
            return Err(unknown());
        }
        let number = digits.parse().map_err(|_| unknown())?;
        let arch = Arch { number, suffix };
        if Self::all().any(|known| known == arch) { Ok(arch) } else { Err(unknown()) }
    }

    /// The architecture of a device object, from the number in its ELF header; the header does not
    /// tell the suffix.
    pub fn from_number(number: u32) -> Option<Arch> {
        let row = TABLE.iter().find(|row| u32::from(row.number) == number)?;
        Some(Arch { number: row.number, suffix: ArchSuffix::None })
    }

    /// Every known architecture in ascending order, the plain form before `f` before `a`.
    pub fn all() -> impl Iterator<Item = Arch> {
        TABLE.iter().flat_map(|row| {
            let forms = [
                (Some(row.first), ArchSuffix::None),
                (row.family, ArchSuffix::Family),
                (row.specific, ArchSuffix::Specific),
            ];
            forms
                .into_iter()
                .filter_map(|(first, suffix)| first.map(|_| Arch { number: row.number, suffix }))
        })
    }

    /// The architectures that run the same code without suffixes: `sm_50` ... `sm_121`.
    pub fn all_plain() -> impl Iterator<Item = Arch> {
        Self::all().filter(|arch| arch.suffix == ArchSuffix::None)
    }

    /// 90 in `sm_90a`; also the value that `__CUDA_ARCH__` has, divided by 10.
    pub fn number(self) -> u16 {
        self.number
    }

    /// The letter.
    pub fn suffix(self) -> ArchSuffix {
        self.suffix
    }

    /// This architecture without its letter. libcudadevrt has images for these only.
    pub fn plain(self) -> Arch {
        Arch { suffix: ArchSuffix::None, ..self }
    }

    /// The value of the macro `__CUDA_ARCH__`: 900 for sm_90.
    pub fn cuda_arch_macro(self) -> u32 {
        u32::from(self.number) * 10
    }

    /// The virtual architecture of the same number, `compute_90a`.
    pub fn virtual_name(self) -> String {
        format!("compute_{}", self.bare_name())
    }

    /// `90a`.
    pub fn bare_name(self) -> String {
        let letter = match self.suffix {
            ArchSuffix::None => "",
            ArchSuffix::Family => "f",
            ArchSuffix::Specific => "a",
        };
        format!("{}{letter}", self.number)
    }

    fn row(self) -> &'static Row {
        // `Arch` values are made by this module from the table only.
        TABLE.iter().find(|row| row.number == self.number).unwrap_or(&TABLE[0])
    }

    /// What the tools and the hardware offer here.
    pub fn facts(self) -> ArchFacts {
        let row = self.row();
        let first_tools = match self.suffix {
            ArchSuffix::None => row.first,
            ArchSuffix::Family => row.family.unwrap_or(row.first),
            ArchSuffix::Specific => row.specific.unwrap_or(row.first),
        };
        ArchFacts {
            first_tools,
            last_tools: row.last,
            shared_opt_in_bytes: row.shared_opt_in_kib * 1024,
            cdp1: self.number < 90,
        }
    }

    /// Whether the ptxas and nvlink of this CUDA version take this architecture.
    pub fn known_to(self, version: ToolVersion) -> bool {
        let facts = self.facts();
        version >= facts.first_tools && facts.last_tools.is_none_or(|last| version <= last)
    }

    /// Whether the ptxas of this CUDA version assembles this architecture with these addresses.
    /// 32-bit PTX ended with CUDA 12.0 and never existed for sm_90 (message of ptxas 11.8).
    pub fn assembled_by(self, version: ToolVersion, address_size: AddressSize) -> bool {
        match address_size {
            AddressSize::Bits64 => self.known_to(version),
            AddressSize::Bits32 => self.known_to(version) && version.major < 12 && self.number < 90,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.bare_name())
    }
}

impl fmt::Debug for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Arch {
    type Err = ArchError;

    fn from_str(text: &str) -> Result<Arch, ArchError> {
        Arch::parse(text)
    }
}

/// A name that is no known architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchError {
    /// What was asked for.
    pub given: String,
}

impl fmt::Display for ArchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<String> = Arch::all().map(|arch| arch.to_string()).collect();
        write!(f, "unknown architecture `{}`; known are {}", self.given, known.join(", "))
    }
}

impl std::error::Error for ArchError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_every_spelling_and_prints_it_back() {
        for arch in Arch::all() {
            assert_eq!(Arch::parse(&arch.to_string()), Ok(arch));
            assert_eq!(Arch::parse(&arch.virtual_name()), Ok(arch));
            assert_eq!(Arch::parse(&arch.bare_name()), Ok(arch));
        }
        assert_eq!(Arch::parse("sm_120f").unwrap().cuda_arch_macro(), 1200);
    }

    #[test]
    fn refuses_what_is_not_in_the_table() {
        for text in [
            "", "sm_", "sm_91", "sm_50a", "sm_090", "90x", "sm_90A", "sm_-90", "a", "sm_é",
            "99999999", "sm_86f",
        ] {
            let error = Arch::parse(text).unwrap_err();
            assert!(error.to_string().contains("sm_90a"), "{error}");
        }
    }

    #[test]
    fn tool_ranges_follow_the_measured_tools() {
        let arch = |name| Arch::parse(name).unwrap();
        assert!(arch("sm_60").known_to(v(12, 9)) && !arch("sm_60").known_to(v(13, 0)));
        assert!(arch("sm_110").known_to(v(13, 0)) && !arch("sm_110").known_to(v(12, 9)));
        assert!(arch("sm_101a").known_to(v(12, 9)) && !arch("sm_101a").known_to(v(13, 0)));
        assert!(!arch("sm_90a").known_to(v(11, 8)) && arch("sm_90").known_to(v(11, 8)));
        assert!(arch("sm_89").assembled_by(v(11, 8), AddressSize::Bits32));
        assert!(!arch("sm_90").assembled_by(v(11, 8), AddressSize::Bits32));
        assert!(!arch("sm_75").assembled_by(v(12, 9), AddressSize::Bits32));
    }
}
