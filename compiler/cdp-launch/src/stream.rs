//! The named streams of device code and which ABI takes them. What is absent: streams made by
//! `cudaStreamCreateWithFlags`, which every ABI takes.

use std::fmt;

use cdp_ir::CdpVersion;

use crate::abi::LaunchAbi;

/// A stream handle that is a constant (guide 4.18.4.1; values as in CUDA's headers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamConst {
    /// 0: the implicit NULL stream of the block.
    Null,
    /// `cudaStreamLegacy`.
    Legacy,
    /// `cudaStreamPerThread`.
    PerThread,
    /// `cudaStreamTailLaunch`: runs when the launching grid has finished.
    TailLaunch,
    /// `cudaStreamFireAndForget`: depends on nothing.
    FireAndForget,
}

/// Why a stream constant cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamRefusal {
    /// CDP1 has no such stream.
    NeedsCdp2,
    /// A v1 launch returns `cudaErrorInvalidValue`, and loses the buffer (FACTS.md).
    NeedsV2 {
        /// The ABI that the program has.
        abi: LaunchAbi,
    },
}

impl fmt::Display for StreamRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamRefusal::NeedsCdp2 => f.write_str("CDP1 has no such stream"),
            StreamRefusal::NeedsV2 { abi } => write!(
                f,
                "launch ABI `{abi}` fails with cudaErrorInvalidValue for this stream and leaks \
                 the parameter buffer; only the v2 entry points take it"
            ),
        }
    }
}

impl StreamConst {
    /// Every constant.
    pub const ALL: [StreamConst; 5] = [
        StreamConst::Null,
        StreamConst::Legacy,
        StreamConst::PerThread,
        StreamConst::TailLaunch,
        StreamConst::FireAndForget,
    ];

    /// The handle's value.
    pub fn value(self) -> u64 {
        self as u64
    }

    /// The stream of a handle value, if it is a constant's.
    pub fn from_value(value: u64) -> Option<StreamConst> {
        Self::ALL.into_iter().find(|stream| stream.value() == value)
    }

    /// CUDA's name; `Null` has none and is written `0`.
    pub fn name(self) -> &'static str {
        match self {
            StreamConst::Null => "0",
            StreamConst::Legacy => "cudaStreamLegacy",
            StreamConst::PerThread => "cudaStreamPerThread",
            StreamConst::TailLaunch => "cudaStreamTailLaunch",
            StreamConst::FireAndForget => "cudaStreamFireAndForget",
        }
    }

    /// Whether a launch under `abi` in a program of `cdp` may name this stream.
    pub fn check(self, abi: LaunchAbi, cdp: CdpVersion) -> Result<(), StreamRefusal> {
        if !matches!(self, StreamConst::TailLaunch | StreamConst::FireAndForget) {
            Ok(())
        } else if cdp == CdpVersion::Cdp1 {
            Err(StreamRefusal::NeedsCdp2)
        } else if !abi.is_v2() {
            Err(StreamRefusal::NeedsV2 { abi })
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_and_fire_and_forget_need_v2_and_cdp2() {
        for stream in StreamConst::ALL {
            assert_eq!(StreamConst::from_value(stream.value()), Some(stream));
            let special = stream.value() >= 3;
            assert_eq!(stream.check(LaunchAbi::Cdp2, CdpVersion::Cdp2).is_err(), special);
            assert_eq!(stream.check(LaunchAbi::Documented, CdpVersion::Cdp1).is_err(), special);
            assert_eq!(stream.check(LaunchAbi::Cdp2V2, CdpVersion::Cdp2), Ok(()));
            assert_eq!(stream.check(LaunchAbi::DocumentedV2, CdpVersion::Cdp2), Ok(()));
        }
        assert_eq!(StreamConst::from_value(5), None);
    }
}
