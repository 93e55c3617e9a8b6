//! The PTX ISA version that device code is written in. It is a function of the target, the address size
//! and the features that the code uses, and of nothing that lies on the machine:
//!
//! - 32-bit addresses: 7.8, the last that has them, and sm_89 is the last architecture;
//! - 64-bit addresses: the version of the first CUDA release that knows the architecture, and at least
//!   7.8, which every toolkit since CUDA 11.8 reads;
//! - more where an instruction needs it that stands in inline assembly, or that an intrinsic of another
//!   compiler's LLVM IR asks for: the rows of [`FEATURES`].
//!
//! `--ptx-version` chooses another one.

use std::fmt;
use std::str::FromStr;

use cdp_toolchain::{AddressSize, Arch};

use crate::error::Error;
use crate::options::CompileOptions;

/// A version of the PTX ISA, such as 7.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// 7 of 7.8.
    pub major: u16,
    /// 8 of 7.8; one digit.
    pub minor: u16,
}

impl PtxVersion {
    /// The oldest that is written.
    pub const OLDEST: PtxVersion = PtxVersion::new(6, 3);
    /// The newest that is written: that of CUDA 13.0.
    pub const NEWEST: PtxVersion = PtxVersion::new(9, 0);
    /// What is written where nothing wants more; the last with 32-bit addresses.
    pub const USUAL: PtxVersion = PtxVersion::new(7, 8);

    /// The version `major.minor`, which need not exist.
    pub const fn new(major: u16, minor: u16) -> PtxVersion {
        PtxVersion { major, minor }
    }

    /// 78 for 7.8, as LLVM counts.
    pub fn times_ten(self) -> u32 {
        u32::from(self.major) * 10 + u32::from(self.minor)
    }

    /// The version that a PTX text says it is in.
    pub fn of_text(ptx: &str) -> Option<PtxVersion> {
        cdp_toolchain::ptx_version(ptx).map(|(major, minor)| PtxVersion::new(major, minor))
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A text that is no version of the PTX ISA that can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PtxVersionError {
    /// What was asked for.
    pub given: String,
}

impl fmt::Display for PtxVersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (oldest, newest) = (PtxVersion::OLDEST, PtxVersion::NEWEST);
        write!(f, "PTX is written in versions {oldest} to {newest}, not in `{}`", self.given)
    }
}

impl std::error::Error for PtxVersionError {}

impl FromStr for PtxVersion {
    type Err = PtxVersionError;

    fn from_str(text: &str) -> Result<PtxVersion, PtxVersionError> {
        let wrong = || PtxVersionError { given: text.to_owned() };
        let (major, minor) = text.split_once('.').ok_or_else(wrong)?;
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<u16>().ok()).flatten().ok_or_else(wrong)
        };
        let version = PtxVersion::new(number(major)?, number(minor)?);
        let known = (PtxVersion::OLDEST..=PtxVersion::NEWEST).contains(&version);
        if known && version.minor < 10 { Ok(version) } else { Err(wrong()) }
    }
}

/// An instruction or special register that came with a version later than [`PtxVersion::USUAL`]: how its name begins, what
/// else is in it, and the version. (PTX ISA manual, "Release Notes" and each instruction's "PTX ISA
/// Notes".)
pub struct Feature {
    /// The beginning of the name.
    pub begins: &'static str,
    /// All of these stand somewhere after it.
    pub contains: &'static [&'static str],
    /// The first version that has it.
    pub version: PtxVersion,
}

const fn since(
    major: u16,
    minor: u16,
    begins: &'static str,
    contains: &'static [&'static str],
) -> Feature {
    Feature { begins, contains, version: PtxVersion::new(major, minor) }
}

/// Later features; the names of LLVM's intrinsics follow the instructions'.
pub const FEATURES: &[Feature] = &[
    since(8, 0, "%current_graph_exec", &[]),
    since(8, 0, "add", &[".u16x2"]),
    since(8, 0, "add", &[".s16x2"]),
    since(8, 0, "min", &[".u16x2"]),
    since(8, 0, "min", &[".s16x2"]),
    since(8, 0, "max", &[".u16x2"]),
    since(8, 0, "max", &[".s16x2"]),
    since(8, 0, "min", &[".s32", ".relu"]),
    since(8, 0, "max", &[".s32", ".relu"]),
    since(8, 0, "cp.async.bulk", &[]),
    since(8, 0, "cp.reduce.async.bulk", &[]),
    since(8, 0, "elect", &[]),
    since(8, 0, "fence.mbarrier_init", &[]),
    since(8, 0, "fence.proxy.async", &[]),
    since(8, 0, "mbarrier", &["expect_tx"]),
    since(8, 0, "mbarrier", &["complete_tx"]),
    since(8, 0, "mbarrier", &[".acquire"]),
    since(8, 0, "mbarrier", &[".relaxed"]),
    since(8, 0, "mbarrier", &[".release"]),
    since(8, 0, "mbarrier", &[".shared::cluster"]),
    since(8, 0, "prefetch", &["tensormap"]),
    since(8, 0, "barrier.cluster", &[".acquire"]),
    since(8, 0, "barrier.cluster", &[".relaxed"]),
    since(8, 0, "barrier.cluster", &[".release"]),
    since(8, 0, "setmaxnreg", &[]),
    since(8, 0, "wgmma", &[]),
    since(8, 1, "%aggr_smem_size", &[]),
    since(8, 1, "cvt", &[".satfinite.f16.f32"]),
    since(8, 1, "cvt", &[".satfinite.f16x2.f32"]),
    since(8, 1, "cvt", &[".satfinite.bf16.f32"]),
    since(8, 1, "cvt", &[".satfinite.bf16x2.f32"]),
    since(8, 1, "cvt", &[".satfinite.tf32.f32"]),
    since(8, 1, "fma", &[".oob"]),
    since(8, 1, "multimem", &[]),
    since(8, 1, "red.async", &[]),
    since(8, 1, "st.async", &[]),
    since(8, 1, "atom", &[".v2."]),
    since(8, 1, "atom", &[".v4."]),
    since(8, 1, "atom", &[".v8."]),
    since(8, 1, "red.", &[".v2."]),
    since(8, 1, "red.", &[".v4."]),
    since(8, 1, "red.", &[".v8."]),
    since(8, 2, "ld.mmio", &[]),
    since(8, 2, "st.mmio", &[]),
    since(8, 2, "lop3.and", &[]),
    since(8, 2, "lop3.or", &[]),
    since(8, 3, "isspacep.param::", &[]),
    since(8, 3, "ld.param::", &[]),
    since(8, 3, "st.param::", &[]),
    since(8, 3, "atom", &[".b128"]),
    since(8, 3, "fence.proxy.tensormap", &[]),
    since(8, 3, "fence.proxy.acquire", &[]),
    since(8, 3, "fence.proxy.release", &[]),
    since(8, 3, "ld.", &[".b128"]),
    since(8, 3, "mov.b128", &[]),
    since(8, 3, "st.", &[".b128"]),
    since(8, 3, "tensormap", &[]),
    since(8, 4, "atom", &[".sys", ".b128"]),
    since(8, 4, "mma", &[".e4m3"]),
    since(8, 4, "mma", &[".e5m2"]),
    since(8, 4, "wgmma", &[".s8.u8"]),
    since(8, 4, "wgmma", &[".u8.s8"]),
    since(8, 5, "mma.sp", &["ordered"]),
    since(8, 6, "clusterlaunchcontrol", &[]),
    since(8, 6, "cp.async.bulk", &[".shared::cta.global"]),
    since(8, 6, "cp.async.bulk.tensor", &["tile::gather4"]),
    since(8, 6, "cp.async.bulk.tensor", &["tile::scatter4"]),
    since(8, 6, "fence.proxy.async::generic", &[".sync_restrict"]),
    since(8, 6, "mbarrier.arrive", &[".relaxed"]),
    since(8, 6, "tensormap.replace", &["swizzle_atomicity"]),
    since(8, 6, "add.", &[".f32x2"]),
    since(8, 6, "mul.", &[".f32x2"]),
    since(8, 6, "fma.", &[".f32x2"]),
    since(8, 6, "cvt", &["e2m1x2"]),
    since(8, 6, "cvt", &["e2m3x2"]),
    since(8, 6, "cvt", &["e3m2x2"]),
    since(8, 6, "cvt", &["ue8m0x2"]),
    since(8, 6, "fence.acquire.sync_restrict", &[]),
    since(8, 6, "fence.release.sync_restrict", &[]),
    since(8, 6, "ldmatrix", &["m16n16"]),
    since(8, 6, "ldmatrix", &["m8n16"]),
    since(8, 6, "redux.sync", &[".f32"]),
    since(8, 6, "st.bulk", &[]),
    since(8, 6, "tcgen05", &[]),
    since(8, 6, "mbarrier.test_wait", &[".relaxed"]),
    since(8, 6, "mbarrier.try_wait", &[".relaxed"]),
    since(8, 7, "mma", &[".kind::"]),
    since(8, 7, "mma", &[".m16n8k16", ".e4m3"]),
    since(8, 7, "mma", &[".m16n8k16", ".e5m2"]),
    since(8, 7, "mma", &[".f16.e4m3"]),
    since(8, 7, "mma", &[".f16.e5m2"]),
    since(8, 7, "\"enable_smem_spilling\"", &[]),
    since(8, 8, "ld.global", &[".v8."]),
    since(8, 8, "st.global", &[".v8."]),
];

/// What sm_90 has in [`PtxVersion::USUAL`], and sm_89 since later.
pub const FEATURES_OF_ADA: &[Feature] =
    &[since(8, 1, "cvt", &["e4m3x2"]), since(8, 1, "cvt", &["e5m2x2"])];
const ADA: &str = "sm_89";

/// The instruction's feature, if it is a later one for the target; the last row wins.
fn feature(instruction: &str, target: &str) -> Option<&'static Feature> {
    let of_target = if target == ADA { FEATURES_OF_ADA } else { &[] };
    of_target.iter().chain(FEATURES).rev().find(|feature| {
        instruction.starts_with(feature.begins)
            && feature.contains.iter().all(|part| instruction.contains(part))
    })
}

/// The latest feature with the instruction that has it.
type Wanted<'t> = Option<(&'t str, PtxVersion)>;

fn later<'t>(all: impl Iterator<Item = &'t str>, target: &str) -> Wanted<'t> {
    all.filter_map(|name| Some((name, feature(name, target)?.version))).max_by_key(|found| found.1)
}

/// What inline assembly in a PTX text wants. What LLVM writes itself is in the version it was told.
fn wanted_by_assembly(ptx: &str) -> Wanted<'_> {
    const BEGIN: &str = "// begin inline asm";
    let pieces = ptx.split(BEGIN).skip(1);
    let instructions = pieces.flat_map(|piece| {
        let end = piece.find("// end inline asm").unwrap_or(piece.len());
        // Guards, labels and operands begin like no row, but for special registers, which have their own.
        piece[..end].split(|c: char| c.is_whitespace() || ";,{}[]()".contains(c))
    });
    let target = ptx.lines().find_map(|line| line.strip_prefix(".target "));
    let target = target.and_then(|names| names.split([',', ' ']).next()).unwrap_or_default();
    later(instructions, target)
}

/// More bytes of parameters than these take [`LARGE_PARAMETERS`] (PTX ISA manual, "Kernel Function Parameters").
const USUAL_PARAMETER_BYTES: u64 = 4352;
const LARGE_PARAMETERS: PtxVersion = PtxVersion::new(8, 1);

/// The name of a kernel that has more parameters than all versions take.
fn with_large_parameters(ptx: &str) -> Option<&str> {
    ptx.split(".entry ").skip(1).find_map(|kernel| {
        let (name, rest) = kernel.split_once('(')?;
        let (parameters, _) = rest.split_once(')')?;
        // Those are large that are arrays of bytes; alignment between them changes nothing much.
        let sizes = parameters.split('[').skip(1);
        let bytes = sizes.filter_map(|size| size.split_once(']')?.0.parse::<u64>().ok());
        (bytes.fold(0, u64::saturating_add) > USUAL_PARAMETER_BYTES).then_some(name)
    })
}

/// What the intrinsics want that LLVM IR names. In bitcode, names stand one after the other.
fn wanted_by_intrinsics(ir: &[u8], arch: Arch) -> Option<(String, PtxVersion)> {
    let target = arch.to_string();
    const PREFIX: &[u8] = b"llvm.nvvm.";
    let mut found: Option<(String, PtxVersion)> = None;
    let mut rest = ir;
    while let Some(at) = position(rest, PREFIX) {
        rest = &rest[at + PREFIX.len()..];
        let letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"._".contains(byte);
        let length = rest.iter().take(128).take_while(|byte| letter(byte)).count();
        let name = String::from_utf8_lossy(&rest[..length]).into_owned();
        if let Some(feature) = feature(&name, &target)
            && found.as_ref().is_none_or(|(_, version)| *version < feature.version)
        {
            found = Some((format!("llvm.nvvm.{}", feature.begins), feature.version));
        }
    }
    found
}

fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// The least version that has a target.
pub fn least(arch: Arch, address_size: AddressSize) -> PtxVersion {
    match address_size {
        AddressSize::Bits32 => PtxVersion::OLDEST,
        AddressSize::Bits64 => {
            let (major, minor) = arch.facts().first_tools.max_ptx_isa();
            PtxVersion::new(major, minor).max(PtxVersion::OLDEST)
        }
    }
}

/// The version for a target, before its features are known.
///
/// # Errors
/// The target does not exist, or the version asked for has it not.
pub fn of_target(arch: Arch, options: &CompileOptions) -> Result<PtxVersion, Error> {
    let bits = options.address_size;
    check_address_size(arch, bits)?;
    let least = least(arch, bits);
    let Some(asked) = options.ptx_version else { return Ok(least.max(PtxVersion::USUAL)) };
    if asked < least {
        return Err(too_old(asked, &arch.to_string(), least));
    }
    if bits == AddressSize::Bits32 && asked > PtxVersion::USUAL {
        return Err(Error::Request {
            message: format!("PTX {asked} has no 32-bit addresses; they ended with 7.8"),
            cure: Some("drop --ptx-version, or use -m64".into()),
        });
    }
    Ok(asked)
}

/// The version that LLVM is told for a module of another compiler.
///
/// # Errors
/// As [`of_target`], and when an intrinsic needs more than was asked for.
pub fn of_foreign(arch: Arch, options: &CompileOptions, ir: &[u8]) -> Result<PtxVersion, Error> {
    let version = of_target(arch, options)?;
    match wanted_by_intrinsics(ir, arch) {
        Some((name, wanted)) if wanted > version => match options.ptx_version {
            Some(asked) => Err(too_old(asked, &format!("`{name}`"), wanted)),
            None => Ok(wanted),
        },
        _ => Ok(version),
    }
}

/// Raises the version of a finished text where its inline assembly needs it.
///
/// # Errors
/// It needs more than was asked for.
pub fn settle(ptx: String, options: &CompileOptions) -> Result<String, Error> {
    let large = with_large_parameters(&ptx).map(|kernel| (kernel, LARGE_PARAMETERS));
    let wanted =
        [wanted_by_assembly(&ptx), large].into_iter().flatten().max_by_key(|found| found.1);
    let Some((instruction, wanted)) = wanted else { return Ok(ptx) };
    let Some(version) = PtxVersion::of_text(&ptx).filter(|version| *version < wanted) else {
        return Ok(ptx);
    };
    if let Some(asked) = options.ptx_version {
        return Err(too_old(asked, &format!("`{instruction}`"), wanted));
    }
    let (old, new) = (format!(".version {version}"), format!(".version {wanted}"));
    Ok(ptx.replacen(&old, &new, 1))
}

/// 32-bit addresses ended with sm_89.
///
/// # Errors
/// A later architecture with them.
pub fn check_address_size(arch: Arch, address_size: AddressSize) -> Result<(), Error> {
    if address_size == AddressSize::Bits64 || arch.number() < 90 {
        return Ok(());
    }
    Err(Error::Request {
        message: format!("32-bit addresses ended with sm_89, and this is for {arch}"),
        cure: Some("use -m64, or an older --arch such as sm_89".into()),
    })
}

fn too_old(asked: PtxVersion, what: &str, wanted: PtxVersion) -> Error {
    Error::Request {
        message: format!("{what} needs PTX {wanted}, and --ptx-version asks for {asked}"),
        cure: Some(format!("ask for {wanted}, or for none")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(ptx: Option<&str>, address_size: AddressSize) -> CompileOptions {
        let ptx_version = ptx.map(|text| text.parse().unwrap());
        CompileOptions { ptx_version, address_size, ..CompileOptions::default() }
    }

    fn version(arch: &str, ptx: Option<&str>) -> String {
        let options = options(ptx, AddressSize::Bits64);
        match of_target(Arch::parse(arch).unwrap(), &options) {
            Ok(version) => version.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn targets() {
        for (arch, wanted) in [
            ("sm_50", "7.8"),
            ("sm_90", "7.8"),
            ("sm_90a", "8.0"),
            ("sm_100", "8.7"),
            ("sm_100f", "8.8"),
            ("sm_110", "9.0"),
        ] {
            assert_eq!(version(arch, None), wanted, "{arch}");
        }
        assert_eq!(version("sm_90", Some("9.0")), "9.0");
        assert_eq!(version("sm_70", Some("6.3")), "6.3");
        assert!(version("sm_100", Some("8.0")).contains("sm_100 needs PTX 8.7"));
        for wrong in ["", "9", "9.1", "6.2", "7.10", "x.y", "7.8.1", "+7.8"] {
            assert!(wrong.parse::<PtxVersion>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_of_32_bits() {
        let [sm_89, sm_90] = ["sm_89", "sm_90"].map(|name| Arch::parse(name).unwrap());
        let plain = options(None, AddressSize::Bits32);
        assert_eq!(of_target(sm_89, &plain).unwrap(), PtxVersion::USUAL);
        assert!(of_target(sm_90, &plain).unwrap_err().to_string().contains("sm_89"));
        let new = options(Some("8.0"), AddressSize::Bits32);
        assert!(of_target(sm_89, &new).unwrap_err().to_string().contains("7.8"));
    }

    #[test]
    fn assembly_raises_the_version() {
        let text = |asm: &str| {
            format!(
                ".version 7.8\n.target sm_90\n// begin inline asm\n\t{asm}\n// end inline asm\n\
                cp.async.bulk x;\n"
            )
        };
        let plain = options(None, AddressSize::Bits64);
        let settled = |asm: &str| settle(text(asm), &plain).unwrap();
        assert!(settled("mov.u32 a, b;").starts_with(".version 7.8\n"));
        assert!(settled("{ @!%p1 elect.sync _|p, m; }").starts_with(".version 8.0\n"));
        assert!(settled("elect.sync _|p, m; red.async.x y;").starts_with(".version 8.1\n"));
        assert!(settled("mov.b64 a, %current_graph_exec;").starts_with(".version 8.0\n"));
        assert!(settled("@p min.s16x2 a, b, c;").starts_with(".version 8.0\n"));
        assert!(settled("min.f16x2 a, b, c;").starts_with(".version 7.8\n"));
        assert!(settled("cvt.rn.f16x2.e4m3x2 a, b;").starts_with(".version 7.8\n"));
        assert!(settled("cvt.rn.satfinite.e4m3x2.f32 a, b, c;").starts_with(".version 7.8\n"));
        assert!(settled("cvt.rn.satfinite.bf16x2.f32 a, b, c;").starts_with(".version 8.1\n"));
        assert!(settled("cvt.rna.satfinite.tf32.f32 a, b;").starts_with(".version 8.1\n"));
        assert!(settled("fma.rn.oob.f16 a, b, c, d;").starts_with(".version 8.1\n"));
        assert!(settled("prefetch.param.tensormap [a];").starts_with(".version 8.0\n"));
        assert!(settled("mma.sp.sync.aligned.m16n8k16 a;").starts_with(".version 7.8\n"));
        assert!(settled("mma.sp::ordered_metadata.sync.aligned a;").starts_with(".version 8.5\n"));
        let ada = text("cvt.rn.f16x2.e4m3x2 a, b;").replace("sm_90", "sm_89");
        assert!(settle(ada, &plain).unwrap().starts_with(".version 8.1\n"));
        assert!(settled("ld.mmio.relaxed.sys.u32 a, [b];").starts_with(".version 8.2\n"));
        assert!(settled("max.s32.relu a, b, c;").starts_with(".version 8.0\n"));
        assert!(settled("min.relu.s32 a, b, c;").starts_with(".version 8.0\n"));
        assert!(settled("max.relu.f16 a, b, c;").starts_with(".version 7.8\n"));
        assert!(settled("mbarrier.arrive.release.cta.b64 a, [b];").starts_with(".version 8.0\n"));
        assert!(settled("mbarrier.arrive.relaxed.cta.b64 a, [b];").starts_with(".version 8.6\n"));
        let copies = |to: &str| settled(&format!("cp.async.bulk.{to}.mbarrier [a], [b], 16, [c];"));
        assert!(copies("shared::cluster.global").starts_with(".version 8.0\n"));
        assert!(copies("shared::cta.global").starts_with(".version 8.6\n"));
        assert!(settled("atom.gpu.exch.b128 a, [b], c;").starts_with(".version 8.3\n"));
        assert!(settled("atom.sys.global.exch.b128 a, [b], c;").starts_with(".version 8.4\n"));
        assert!(
            settled("mbarrier.arrive.shared::cluster.b64 _, [b];").starts_with(".version 8.0\n")
        );
        assert!(settled("isspacep.param::entry p, a;").starts_with(".version 8.3\n"));
        assert!(settled("ld.global.v8.b32 x;").starts_with(".version 8.8\n"));
        let old = options(Some("7.8"), AddressSize::Bits64);
        let error = settle(text("elect.sync _|p, m;"), &old).unwrap_err().to_string();
        assert!(error.contains("`elect.sync` needs PTX 8.0"), "{error}");
    }

    #[test]
    fn intrinsics_raise_the_version() {
        let ir = b"declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32)";
        let plain = options(None, AddressSize::Bits64);
        let version = |ir: &[u8]| of_foreign(Arch::SM_90, &plain, ir).unwrap().to_string();
        assert_eq!(version(ir), "8.0");
        assert_eq!(version(b"llvm.nvvm.barrier0llvm.nvvm.tcgen05.wait.ldx"), "8.6");
        assert_eq!(version(b"llvm.nvvm.read.ptx.sreg.tid.x"), "7.8");
    }
}
