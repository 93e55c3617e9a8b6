//! Symbols of the device runtime: which symbol a call of [`RuntimeFn`] becomes. The table of
//! functions itself is `cdp_ir::runtime::RUNTIME_TABLE`; availability was checked against the symbol
//! tables of libcudadevrt 13.0 (images sm_80 and sm_90).

use std::borrow::Cow;
use std::fmt;

use cdp_ir::runtime::Availability;
use cdp_ir::{CdpVersion, RuntimeFn};

use crate::abi::LaunchAbi;

/// How the names of CDP2 begin.
pub const CDP2_PREFIX: &str = "__cudaCDP2";
/// How the variants for per-thread default streams end.
pub const PER_THREAD_SUFFIX: &str = "_ptsz";

/// Why a function has no symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolError {
    /// CDP2 took it away (`cudaDeviceSynchronize`).
    Cdp1Only(RuntimeFn),
}

impl fmt::Display for SymbolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SymbolError::Cdp1Only(func) => write!(f, "`{}` exists in CDP1 only", func.name()),
        }
    }
}

impl std::error::Error for SymbolError {}

/// The function that implements another in the library: it has no `cudaEventRecordWithFlags`, whose
/// one legal flag value is 0, so that is `cudaEventRecord` once the flags are known to be 0.
pub fn implementing_function(func: RuntimeFn) -> RuntimeFn {
    match func.row().availability {
        Availability::StreamHeader => RuntimeFn::EventRecord,
        _ => func,
    }
}

/// The symbol of a device-runtime function under a launch ABI: the prefixed ABIs call the prefixed
/// names throughout, so that a program never mixes CDP1 and CDP2. `per_thread_stream` asks for the
/// `_ptsz` form where there is one.
pub fn runtime_symbol(
    func: RuntimeFn,
    abi: LaunchAbi,
    cdp: CdpVersion,
    per_thread_stream: bool,
) -> Result<Cow<'static, str>, SymbolError> {
    let func = implementing_function(func);
    let row = func.row();
    let suffix = match row.availability {
        Availability::Stream | Availability::StreamHeader if per_thread_stream => PER_THREAD_SUFFIX,
        _ => "",
    };
    match row.availability {
        Availability::Cdp1 if cdp == CdpVersion::Cdp2 => Err(SymbolError::Cdp1Only(func)),
        Availability::Cdp1 | Availability::Plain => Ok(Cow::Borrowed(row.name)),
        _ if abi.is_prefixed() => {
            let bare = row.name.strip_prefix("cuda").unwrap_or(row.name);
            Ok(Cow::Owned(format!("{CDP2_PREFIX}{bare}{suffix}")))
        }
        _ if suffix.is_empty() => Ok(Cow::Borrowed(row.name)),
        _ => Ok(Cow::Owned(format!("{}{suffix}", row.name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::EntryPoint;

    fn symbol(func: RuntimeFn, abi: LaunchAbi, ptsz: bool) -> String {
        runtime_symbol(func, abi, CdpVersion::Cdp2, ptsz).unwrap().into_owned()
    }

    #[test]
    fn names_follow_the_abi() {
        use LaunchAbi::{Cdp2V2, Documented};
        assert_eq!(symbol(RuntimeFn::GetLastError, Cdp2V2, false), "__cudaCDP2GetLastError");
        assert_eq!(symbol(RuntimeFn::GetLastError, Documented, true), "cudaGetLastError");
        assert_eq!(symbol(RuntimeFn::MemcpyAsync, Cdp2V2, true), "__cudaCDP2MemcpyAsync_ptsz");
        let record = symbol(RuntimeFn::EventRecordWithFlags, Cdp2V2, false);
        assert_eq!(record, "__cudaCDP2EventRecord");
        assert_eq!(symbol(RuntimeFn::CGGetSize, Cdp2V2, false), "cudaCGGetSize");
    }

    #[test]
    fn device_synchronize_is_cdp1s() {
        let func = RuntimeFn::DeviceSynchronize;
        let documented = LaunchAbi::Documented;
        let wrong = runtime_symbol(func, documented, CdpVersion::Cdp2, false);
        assert_eq!(wrong, Err(SymbolError::Cdp1Only(func)));
        assert!(runtime_symbol(func, documented, CdpVersion::Cdp1, false).is_ok());
    }

    #[test]
    fn the_launch_functions_agree_with_the_entry_point_table() {
        let pairs = [
            (RuntimeFn::GetParameterBuffer, RuntimeFn::LaunchDevice),
            (RuntimeFn::GetParameterBufferV2, RuntimeFn::LaunchDeviceV2),
        ];
        for abi in LaunchAbi::ALL {
            let (get, launch) = pairs[usize::from(abi.is_v2())];
            for ptsz in [false, true] {
                let table = |entry| abi.symbol(entry, ptsz);
                assert_eq!(symbol(get, abi, ptsz), table(EntryPoint::GetParameterBuffer));
                assert_eq!(symbol(launch, abi, ptsz), table(EntryPoint::LaunchDevice));
            }
        }
    }
}
