//! Which of a function's versions a name means. `cuda.h` calls the newest one by the plain name, and programs ask for
//! it by that name and the version of CUDA whose headers they were compiled with.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Versions that came later than CUDA 11: base name, number of the version, CUDA's version since which the name means it.
/// From the names of the function types in CUDA 13.0's `cudaTypedefs.h`.
const LATE: &[(&str, u32, u32)] = &[
    ("cuCtxCreate", 3, 11040),
    ("cuCtxCreate", 4, 12050),
    ("cuCtxGetDevice", 2, 13000),
    ("cuCtxSynchronize", 2, 13000),
    ("cuDeviceGetUuid", 2, 11040),
    ("cuEventElapsedTime", 2, 12080),
    ("cuGetProcAddress", 2, 12000),
    ("cuGraphAddDependencies", 2, 12030),
    ("cuGraphAddKernelNode", 2, 12000),
    ("cuGraphAddNode", 2, 12030),
    ("cuGraphExecKernelNodeSetParams", 2, 12000),
    ("cuGraphExecUpdate", 2, 12000),
    ("cuGraphGetEdges", 2, 12030),
    ("cuGraphKernelNodeGetParams", 2, 12000),
    ("cuGraphKernelNodeSetParams", 2, 12000),
    ("cuGraphNodeGetDependencies", 2, 12030),
    ("cuGraphNodeGetDependentNodes", 2, 12030),
    ("cuGraphRemoveDependencies", 2, 12030),
    ("cuMemAdvise", 2, 12020),
    ("cuMemPrefetchAsync", 2, 12020),
    ("cuMemcpy3DBatchAsync", 2, 13000),
    ("cuMemcpyBatchAsync", 2, 13000),
    ("cuStreamBatchMemOp", 2, 11070),
    ("cuStreamGetCaptureInfo", 2, 11030),
    ("cuStreamGetCaptureInfo", 3, 12030),
    ("cuStreamGetCtx", 2, 12050),
    ("cuStreamUpdateCaptureDependencies", 2, 12030),
    ("cuStreamWaitValue32", 2, 11070),
    ("cuStreamWaitValue64", 2, 11070),
    ("cuStreamWriteValue32", 2, 11070),
    ("cuStreamWriteValue64", 2, 11070),
];

/// The function of a name, if there is one.
pub(super) fn find(name: &str, version: u32, per_thread: bool) -> Option<*const ()> {
    static ALL: OnceLock<HashMap<&'static str, super::Function>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        super::functions().map(|(name, _, address)| (name, super::Function(address))).collect()
    });
    let wanted = |number: u32| {
        let late = LATE.iter().find(|row| row.0 == name && row.1 == number);
        late.is_none_or(|row| row.2 <= version)
    };
    let suffixes = [4, 3, 2].into_iter().filter(|number| wanted(*number));
    let bases = suffixes.map(|number| format!("{name}_v{number}")).chain([name.to_owned()]);
    for base in bases {
        if !all.contains_key(base.as_str()) {
            continue;
        }
        let variants = ["_ptsz", "_ptds", ""].map(|ending| format!("{base}{ending}"));
        let variants = if per_thread { &variants[..] } else { &variants[2..] };
        return variants.iter().find_map(|variant| all.get(variant.as_str())).map(|found| found.0);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::capi::driver::functions;

    fn address(symbol: &str) -> Option<*const ()> {
        functions().find(|known| known.0 == symbol).map(|known| known.2)
    }

    #[test]
    fn a_name_means_the_version_of_the_headers() {
        for (name, version, per_thread, symbol) in [
            ("cuMemAlloc", 13_000, false, "cuMemAlloc_v2"),
            ("cuMemAlloc", 11_000, false, "cuMemAlloc_v2"),
            ("cuCtxCreate", 13_000, false, "cuCtxCreate_v4"),
            ("cuCtxCreate", 12_000, false, "cuCtxCreate_v3"),
            ("cuCtxCreate", 11_000, false, "cuCtxCreate_v2"),
            ("cuLaunchKernel", 13_000, false, "cuLaunchKernel"),
            ("cuLaunchKernel", 13_000, true, "cuLaunchKernel_ptsz"),
            ("cuMemcpyHtoD", 13_000, true, "cuMemcpyHtoD_v2_ptds"),
            ("cuEventElapsedTime", 12_000, false, "cuEventElapsedTime"),
        ] {
            assert!(address(symbol).is_some(), "{symbol}");
            assert_eq!(find(name, version, per_thread), address(symbol), "{name} {version}");
        }
        assert_eq!(find("cuNothing", 13_000, false), None);
    }
}
