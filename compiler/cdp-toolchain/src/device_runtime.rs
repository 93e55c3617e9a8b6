//! Which symbols are the device runtime's (libcudadevrt), and which of its two versions an object
//! that leaves them undefined was made for.
//!
//! The names are those of [`cdp_ir::runtime`]'s table; they are libcudadevrt's of 12.9 and 13.0. A device
//! function of a program may well begin with `cuda` too, so nothing is told by a name's beginning alone.

use cdp_ir::RuntimeFn;
use cdp_ir::runtime::Availability;
use cdp_launch::{CDP2_PREFIX, PER_THREAD_SUFFIX};

/// What nvcc calls for `cudaDeviceSynchronize` when told not to warn of it.
const CDP1_SYNCHRONIZE: &str = "__cudaDeviceSynchronizeDeprecationAvoidance";

/// Which device runtime an object was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CdpFlavor {
    /// The first CUDA dynamic parallelism: documented names below sm_90.
    Cdp1,
    /// The second: `__cudaCDP2...` names everywhere, and documented names from sm_90 on.
    Cdp2,
}

/// The device runtime that an object uses, and a symbol that proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRuntimeUse {
    /// CDP1 or CDP2.
    pub flavor: CdpFlavor,
    /// An undefined symbol of that flavor.
    pub symbol: String,
}

/// Who has the function of this name, if it is one of the device runtime.
fn availability(name: &str) -> Option<Availability> {
    RuntimeFn::by_name(name).map(|function| function.row().availability)
}

/// Whether CDP1 has a function under this name, and CDP2 under one of its own (`__cudaCDP2...`). From sm_90 on
/// these names are CDP2's as well (FACTS.md).
fn is_documented(name: &str) -> bool {
    let bare = name.strip_suffix(PER_THREAD_SUFFIX).unwrap_or(name);
    let one_name = [Availability::Plain, Availability::StreamHeader];
    name == CDP1_SYNCHRONIZE || availability(bare).is_some_and(|who| !one_name.contains(&who))
}

/// Whether a symbol is one that libcudadevrt defines.
pub fn is_device_runtime_symbol(name: &str) -> bool {
    // Cooperative groups' functions have one name in both versions.
    let is_common = availability(name) == Some(Availability::Plain);
    name.starts_with(CDP2_PREFIX) || is_documented(name) || is_common
}

/// The flavors that undefined symbols show, at most one entry for each.
pub fn cdp_flavor<'a>(
    arch_number: u32,
    undefined: impl IntoIterator<Item = &'a str>,
) -> Vec<DeviceRuntimeUse> {
    let mut uses: Vec<DeviceRuntimeUse> = Vec::new();
    for name in undefined {
        let flavor = if name.starts_with(CDP2_PREFIX) {
            CdpFlavor::Cdp2
        } else if !is_documented(name) {
            continue;
        } else if arch_number >= 90 {
            CdpFlavor::Cdp2
        } else {
            CdpFlavor::Cdp1
        };
        if uses.iter().all(|known| known.flavor != flavor) {
            uses.push(DeviceRuntimeUse { flavor, symbol: name.to_owned() });
        }
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_are_not_the_runtimes() {
        for name in ["cudaLaunchDevice", "cudaLaunchDevice_ptsz", "__cudaCDP2GetLastError"] {
            assert!(is_device_runtime_symbol(name), "{name}");
        }
        for name in [
            "cudaHelper",
            "cudaMallocTable",
            "cuda",
            "cudafoo",
            "barracuda",
            "vprintf",
            "malloc",
            "_Z5childPi",
            "cudaCGGetRank_ptsz",
        ] {
            assert!(!is_device_runtime_symbol(name), "{name}");
        }
    }

    #[test]
    fn flavors_below_and_from_sm_90() {
        let flavors = |arch, names: &[&str]| -> Vec<CdpFlavor> {
            cdp_flavor(arch, names.iter().copied()).iter().map(|found| found.flavor).collect()
        };
        assert_eq!(flavors(75, &["cudaHelper", "cudaCGGetSize"]), []);
        assert_eq!(flavors(75, &["cudaHelper", "cudaMemcpyAsync_ptsz"]), [CdpFlavor::Cdp1]);
        assert_eq!(flavors(75, &[CDP1_SYNCHRONIZE]), [CdpFlavor::Cdp1]);
        assert_eq!(flavors(90, &["cudaGetLastError"]), [CdpFlavor::Cdp2]);
        let both = ["__cudaCDP2LaunchDeviceV2", "cudaGetLastError"];
        assert_eq!(flavors(86, &both), [CdpFlavor::Cdp2, CdpFlavor::Cdp1]);
    }
}
