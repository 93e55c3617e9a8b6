//! The launch ABIs and the choice among them. What is absent: symbols and signatures ([`crate::entry`]).

use std::fmt;
use std::str::FromStr;

use cdp_ir::CdpVersion;

/// A pair of device-runtime functions through which a kernel is launched, and with it the names by
/// which the rest of the device runtime is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaunchAbi {
    /// `cudaGetParameterBuffer` + `cudaLaunchDevice` (guide 4.18.6.1). Below sm_90 these names are
    /// the CDP1 implementation, from sm_90 on CDP2 (FACTS.md, "Entry points").
    Documented,
    /// `cudaGetParameterBufferV2` + `cudaLaunchDeviceV2`: the buffer carries the configuration.
    DocumentedV2,
    /// The prefixed v1 pair, which clang calls. CDP2 on every architecture.
    Cdp2,
    /// The prefixed v2 pair, which nvcc 13.0 calls. CDP2 on every architecture.
    Cdp2V2,
}

impl LaunchAbi {
    /// All ABIs, in the order of the documentation.
    pub const ALL: [LaunchAbi; 4] =
        [LaunchAbi::Documented, LaunchAbi::DocumentedV2, LaunchAbi::Cdp2, LaunchAbi::Cdp2V2];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LaunchAbi::Documented => "documented",
            LaunchAbi::DocumentedV2 => "documented-v2",
            LaunchAbi::Cdp2 => "cdp2",
            LaunchAbi::Cdp2V2 => "cdp2-v2",
        }
    }

    /// Whether the configuration goes with the buffer request (v2) or with the launch (v1).
    pub fn is_v2(self) -> bool {
        matches!(self, LaunchAbi::DocumentedV2 | LaunchAbi::Cdp2V2)
    }

    /// Whether symbols carry the CDP2 prefix.
    pub fn is_prefixed(self) -> bool {
        matches!(self, LaunchAbi::Cdp2 | LaunchAbi::Cdp2V2)
    }
}

impl fmt::Display for LaunchAbi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the user asked for with `--launch-abi`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RequestedAbi {
    /// The best one that works.
    #[default]
    Auto,
    /// This one or an error.
    Exactly(LaunchAbi),
}

impl FromStr for RequestedAbi {
    type Err = AbiError;

    fn from_str(name: &str) -> Result<Self, AbiError> {
        if name == "auto" {
            return Ok(RequestedAbi::Auto);
        }
        let abi = LaunchAbi::ALL.into_iter().find(|abi| abi.name() == name);
        abi.map(RequestedAbi::Exactly).ok_or_else(|| AbiError::UnknownName(name.to_string()))
    }
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbiRequest {
    /// The number of the architecture: 90 for sm_90, sm_90a.
    pub arch_sm: u32,
    /// Which device runtime the program is for.
    pub cdp: CdpVersion,
    /// 32 or 64.
    pub address_bits: u32,
}

/// Why a launch ABI cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbiError {
    /// No ABI of this name.
    UnknownName(String),
    /// CDP1 ends before sm_90 (guide 4.18.5.3).
    Cdp1FromSm90 {
        /// The number of the architecture.
        arch_sm: u32,
    },
    /// The prefixed names are CDP2 only.
    PrefixedIsCdp2 {
        /// What was asked for.
        abi: LaunchAbi,
    },
    /// Below sm_90 the documented names are CDP1's implementation.
    DocumentedIsCdp1 {
        /// What was asked for.
        abi: LaunchAbi,
        /// The number of the architecture.
        arch_sm: u32,
    },
    /// Addresses have 32 or 64 bits.
    AddressBits {
        /// What was asked for.
        bits: u32,
    },
}

impl AbiError {
    /// What the user can do about it.
    pub fn cure(&self) -> &'static str {
        match self {
            AbiError::UnknownName(_) => {
                "use auto, documented, documented-v2, cdp2 or cdp2-v2 for --launch-abi"
            }
            AbiError::Cdp1FromSm90 { .. } => {
                "drop `--cdp 1`, or compile for an architecture below sm_90"
            }
            AbiError::PrefixedIsCdp2 { .. } => "use `--launch-abi documented`, or drop `--cdp 1`",
            AbiError::DocumentedIsCdp1 { .. } => {
                "use `--launch-abi cdp2-v2`, or ask for CDP1 with `--cdp 1`"
            }
            AbiError::AddressBits { .. } => "compile with -m32 or -m64",
        }
    }
}

impl fmt::Display for AbiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AbiError::UnknownName(name) => write!(f, "there is no launch ABI `{name}`"),
            AbiError::Cdp1FromSm90 { arch_sm } => {
                write!(f, "CDP1 does not exist on sm_{arch_sm}: it ends before sm_90")
            }
            AbiError::PrefixedIsCdp2 { abi } => {
                write!(f, "launch ABI `{abi}` calls CDP2's functions, which a CDP1 program cannot")
            }
            AbiError::DocumentedIsCdp1 { abi, arch_sm } => write!(
                f,
                "launch ABI `{abi}` on sm_{arch_sm} would be CDP1: the documented names are CDP2 \
                 from sm_90 on only"
            ),
            AbiError::AddressBits { bits } => write!(f, "{bits}-bit addresses do not exist"),
        }
    }
}

impl std::error::Error for AbiError {}

/// Picks the launch ABI of a translation unit, or says why the one asked for cannot work.
///
/// `Auto` takes [`LaunchAbi::Cdp2V2`] for 64-bit CDP2 (what nvcc links with, and the only pair that
/// takes tail and fire-and-forget streams) and [`LaunchAbi::Documented`] for CDP1 and for 32-bit
/// addresses, whose toolkits predate CDP2. No 32-bit libcudadevrt can be had, so with 32-bit
/// addresses no architecture speaks against a documented name.
pub fn choose(requested: RequestedAbi, request: AbiRequest) -> Result<LaunchAbi, AbiError> {
    let AbiRequest { arch_sm, cdp, address_bits } = request;
    if !matches!(address_bits, 32 | 64) {
        return Err(AbiError::AddressBits { bits: address_bits });
    }
    if cdp == CdpVersion::Cdp1 && arch_sm >= 90 && address_bits == 64 {
        return Err(AbiError::Cdp1FromSm90 { arch_sm });
    }
    let RequestedAbi::Exactly(abi) = requested else {
        let best = if cdp == CdpVersion::Cdp2 && address_bits == 64 {
            LaunchAbi::Cdp2V2
        } else {
            LaunchAbi::Documented
        };
        return Ok(best);
    };
    if abi.is_prefixed() && cdp == CdpVersion::Cdp1 {
        return Err(AbiError::PrefixedIsCdp2 { abi });
    }
    if !abi.is_prefixed() && cdp == CdpVersion::Cdp2 && arch_sm < 90 && address_bits == 64 {
        return Err(AbiError::DocumentedIsCdp1 { abi, arch_sm });
    }
    Ok(abi)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(name: &str, arch_sm: u32, cdp: CdpVersion, bits: u32) -> Result<LaunchAbi, AbiError> {
        choose(name.parse()?, AbiRequest { arch_sm, cdp, address_bits: bits })
    }

    #[test]
    fn auto_follows_version_and_address_size() {
        use CdpVersion::{Cdp1, Cdp2};
        assert_eq!(ask("auto", 90, Cdp2, 64), Ok(LaunchAbi::Cdp2V2));
        assert_eq!(ask("auto", 75, Cdp2, 64), Ok(LaunchAbi::Cdp2V2));
        assert_eq!(ask("auto", 75, Cdp1, 64), Ok(LaunchAbi::Documented));
        assert_eq!(ask("auto", 60, Cdp2, 32), Ok(LaunchAbi::Documented));
    }

    #[test]
    fn impossible_combinations_say_why() {
        use CdpVersion::{Cdp1, Cdp2};
        assert_eq!(ask("auto", 90, Cdp1, 64), Err(AbiError::Cdp1FromSm90 { arch_sm: 90 }));
        let abi = LaunchAbi::Cdp2;
        assert_eq!(ask("cdp2", 80, Cdp1, 64), Err(AbiError::PrefixedIsCdp2 { abi }));
        let abi = LaunchAbi::DocumentedV2;
        let wrong = AbiError::DocumentedIsCdp1 { abi, arch_sm: 89 };
        assert_eq!(ask("documented-v2", 89, Cdp2, 64), Err(wrong));
        assert_eq!(ask("v3", 90, Cdp2, 64), Err(AbiError::UnknownName("v3".into())));
        assert_eq!(ask("auto", 90, Cdp2, 16), Err(AbiError::AddressBits { bits: 16 }));
    }

    #[test]
    fn every_name_is_read_back() {
        for abi in LaunchAbi::ALL {
            assert_eq!(abi.name().parse(), Ok(RequestedAbi::Exactly(abi)));
            assert_eq!(ask(abi.name(), 90, CdpVersion::Cdp2, 64), Ok(abi));
        }
    }
}
