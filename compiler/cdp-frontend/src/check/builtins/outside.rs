//! Functions that CUDA and the C library have and `.cdp` leaves out: each is refused by its name,
//! with what to use instead. What this is not: functions that only one side of the program has, whose
//! rows say so themselves ([`super::Lower::Refuse`]).

/// Runtime functions of CUDA that `.cdp` leaves out, in order.
#[rustfmt::skip]
static RUNTIME: &[&str] = &[
    "cudaArrayGetMemoryRequirements", "cudaArrayGetPlane", "cudaArrayGetSparseProperties",
    "cudaBindTexture", "cudaBindTexture2D", "cudaChooseDevice", "cudaConfigureCall",
    "cudaCtxResetPersistingL2Cache", "cudaDestroyExternalMemory", "cudaDestroyExternalSemaphore",
    "cudaDeviceCanAccessPeer", "cudaDeviceDisablePeerAccess", "cudaDeviceEnablePeerAccess",
    "cudaDeviceFlushGPUDirectRDMAWrites", "cudaDeviceGetByPCIBusId", "cudaDeviceGetDefaultMemPool",
    "cudaDeviceGetGraphMemAttribute", "cudaDeviceGetHostAtomicCapabilities", "cudaDeviceGetMemPool",
    "cudaDeviceGetNvSciSyncAttributes", "cudaDeviceGetP2PAtomicCapabilities",
    "cudaDeviceGetP2PAttribute", "cudaDeviceGetPCIBusId", "cudaDeviceGetTexture1DLinearMaxWidth",
    "cudaDeviceGraphMemTrim", "cudaDeviceRegisterAsyncNotification",
    "cudaDeviceSetGraphMemAttribute", "cudaDeviceSetMemPool", "cudaDeviceSetSharedMemConfig",
    "cudaDeviceUnregisterAsyncNotification", "cudaExternalMemoryGetMappedBuffer",
    "cudaExternalMemoryGetMappedMipmappedArray", "cudaFreeMipmappedArray", "cudaFuncGetName",
    "cudaFuncGetParamInfo", "cudaFuncSetSharedMemConfig", "cudaGetDeviceFlags",
    "cudaGetDriverEntryPoint", "cudaGetDriverEntryPointByVersion", "cudaGetExportTable",
    "cudaGetFuncBySymbol", "cudaGetKernel", "cudaGetMipmappedArrayLevel",
    "cudaGetSurfaceObjectResourceDesc", "cudaGetTextureObjectResourceDesc",
    "cudaGetTextureObjectResourceViewDesc", "cudaGetTextureObjectTextureDesc",
    "cudaGraphAddChildGraphNode", "cudaGraphAddDependencies", "cudaGraphAddEmptyNode",
    "cudaGraphAddEventRecordNode", "cudaGraphAddEventWaitNode",
    "cudaGraphAddExternalSemaphoresSignalNode", "cudaGraphAddExternalSemaphoresWaitNode",
    "cudaGraphAddHostNode", "cudaGraphAddKernelNode", "cudaGraphAddMemAllocNode",
    "cudaGraphAddMemFreeNode", "cudaGraphAddMemcpyNode", "cudaGraphAddMemcpyNode1D",
    "cudaGraphAddMemcpyNodeFromSymbol", "cudaGraphAddMemcpyNodeToSymbol", "cudaGraphAddMemsetNode",
    "cudaGraphAddNode", "cudaGraphChildGraphNodeGetGraph", "cudaGraphClone",
    "cudaGraphConditionalHandleCreate", "cudaGraphCreate", "cudaGraphDebugDotPrint",
    "cudaGraphDestroy", "cudaGraphDestroyNode", "cudaGraphEventRecordNodeGetEvent",
    "cudaGraphEventRecordNodeSetEvent", "cudaGraphEventWaitNodeGetEvent",
    "cudaGraphEventWaitNodeSetEvent", "cudaGraphExecChildGraphNodeSetParams",
    "cudaGraphExecDestroy", "cudaGraphExecEventRecordNodeSetEvent",
    "cudaGraphExecEventWaitNodeSetEvent", "cudaGraphExecExternalSemaphoresSignalNodeSetParams",
    "cudaGraphExecExternalSemaphoresWaitNodeSetParams", "cudaGraphExecGetFlags",
    "cudaGraphExecHostNodeSetParams", "cudaGraphExecKernelNodeSetParams",
    "cudaGraphExecMemcpyNodeSetParams", "cudaGraphExecMemcpyNodeSetParams1D",
    "cudaGraphExecMemcpyNodeSetParamsFromSymbol", "cudaGraphExecMemcpyNodeSetParamsToSymbol",
    "cudaGraphExecMemsetNodeSetParams", "cudaGraphExecNodeSetParams", "cudaGraphExecUpdate",
    "cudaGraphExternalSemaphoresSignalNodeGetParams",
    "cudaGraphExternalSemaphoresSignalNodeSetParams",
    "cudaGraphExternalSemaphoresWaitNodeGetParams", "cudaGraphExternalSemaphoresWaitNodeSetParams",
    "cudaGraphGetEdges", "cudaGraphGetNodes", "cudaGraphGetRootNodes", "cudaGraphHostNodeGetParams",
    "cudaGraphHostNodeSetParams", "cudaGraphInstantiate", "cudaGraphInstantiateWithFlags",
    "cudaGraphInstantiateWithParams", "cudaGraphKernelNodeCopyAttributes",
    "cudaGraphKernelNodeGetAttribute", "cudaGraphKernelNodeGetParams",
    "cudaGraphKernelNodeSetAttribute", "cudaGraphKernelNodeSetParams",
    "cudaGraphKernelNodeUpdatesApply", "cudaGraphMemAllocNodeGetParams",
    "cudaGraphMemFreeNodeGetParams", "cudaGraphMemcpyNodeGetParams", "cudaGraphMemcpyNodeSetParams",
    "cudaGraphMemcpyNodeSetParams1D", "cudaGraphMemcpyNodeSetParamsFromSymbol",
    "cudaGraphMemcpyNodeSetParamsToSymbol", "cudaGraphMemsetNodeGetParams",
    "cudaGraphMemsetNodeSetParams", "cudaGraphNodeFindInClone", "cudaGraphNodeGetDependencies",
    "cudaGraphNodeGetDependentNodes", "cudaGraphNodeGetEnabled", "cudaGraphNodeGetType",
    "cudaGraphNodeSetEnabled", "cudaGraphNodeSetParams", "cudaGraphReleaseUserObject",
    "cudaGraphRemoveDependencies", "cudaGraphRetainUserObject", "cudaGraphUpload",
    "cudaGraphicsMapResources", "cudaGraphicsResourceGetMappedMipmappedArray",
    "cudaGraphicsResourceGetMappedPointer", "cudaGraphicsResourceSetMapFlags",
    "cudaGraphicsSubResourceGetMappedArray", "cudaGraphicsUnmapResources",
    "cudaGraphicsUnregisterResource", "cudaHostGetFlags", "cudaHostRegister", "cudaHostUnregister",
    "cudaImportExternalMemory", "cudaImportExternalSemaphore", "cudaInitDevice",
    "cudaIpcCloseMemHandle", "cudaIpcGetEventHandle", "cudaIpcGetMemHandle",
    "cudaIpcOpenEventHandle", "cudaIpcOpenMemHandle", "cudaKernelSetAttributeForDevice",
    "cudaLaunch", "cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernelMultiDevice",
    "cudaLaunchHostFunc", "cudaLaunchKernelEx", "cudaLaunchKernelExC",
    "cudaLibraryEnumerateKernels", "cudaLibraryGetGlobal", "cudaLibraryGetKernel",
    "cudaLibraryGetKernelCount", "cudaLibraryGetManaged", "cudaLibraryGetUnifiedFunction",
    "cudaLibraryLoadData", "cudaLibraryLoadFromFile", "cudaLibraryUnload", "cudaLogsCurrent",
    "cudaLogsDumpToFile", "cudaLogsDumpToMemory", "cudaLogsRegisterCallback",
    "cudaLogsUnregisterCallback", "cudaMallocFromPoolAsync", "cudaMallocMipmappedArray",
    "cudaMemAdvise", "cudaMemDiscardAndPrefetchBatchAsync", "cudaMemDiscardBatchAsync",
    "cudaMemGetDefaultMemPool", "cudaMemGetMemPool", "cudaMemPoolCreate", "cudaMemPoolDestroy",
    "cudaMemPoolExportPointer", "cudaMemPoolExportToShareableHandle", "cudaMemPoolGetAccess",
    "cudaMemPoolGetAttribute", "cudaMemPoolImportFromShareableHandle", "cudaMemPoolImportPointer",
    "cudaMemPoolSetAccess", "cudaMemPoolSetAttribute", "cudaMemPoolTrimTo", "cudaMemPrefetchAsync",
    "cudaMemPrefetchBatchAsync", "cudaMemRangeGetAttribute", "cudaMemRangeGetAttributes",
    "cudaMemSetMemPool", "cudaMemcpy2DArrayToArray", "cudaMemcpy3DBatchAsync", "cudaMemcpy3DPeer",
    "cudaMemcpy3DPeerAsync", "cudaMemcpyArrayToArray", "cudaMemcpyBatchAsync",
    "cudaMemcpyFromArrayAsync", "cudaMemcpyPeer", "cudaMemcpyPeerAsync", "cudaMemcpyToArrayAsync",
    "cudaMipmappedArrayGetMemoryRequirements", "cudaMipmappedArrayGetSparseProperties",
    "cudaOccupancyAvailableDynamicSMemPerBlock", "cudaOccupancyMaxActiveClusters",
    "cudaOccupancyMaxPotentialBlockSizeVariableSMem",
    "cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags",
    "cudaOccupancyMaxPotentialClusterSize", "cudaProfilerStart", "cudaProfilerStop",
    "cudaSetDeviceFlags", "cudaSetValidDevices", "cudaSetupArgument",
    "cudaSignalExternalSemaphoresAsync", "cudaStreamAddCallback", "cudaStreamAttachMemAsync",
    "cudaStreamBeginCapture", "cudaStreamBeginCaptureToGraph", "cudaStreamCopyAttributes",
    "cudaStreamEndCapture", "cudaStreamGetAttribute", "cudaStreamGetCaptureInfo",
    "cudaStreamGetDevice", "cudaStreamGetId", "cudaStreamIsCapturing", "cudaStreamSetAttribute",
    "cudaStreamUpdateCaptureDependencies", "cudaThreadExchangeStreamCaptureMode", "cudaThreadExit",
    "cudaThreadSynchronize", "cudaUnbindTexture", "cudaUserObjectCreate", "cudaUserObjectRelease",
    "cudaUserObjectRetain", "cudaWaitExternalSemaphoresAsync",
];

/// Functions of the C library that a program may try.
const C_LIBRARY: &[&str] =
    &["alloca", "fork", "longjmp", "pthread_create", "raise", "setjmp", "setlocale", "signal"];

/// Every name listed here, each one known to [`outside`]; the driver API is known by its names' form.
pub fn listed() -> impl Iterator<Item = &'static str> {
    RUNTIME.iter().copied().chain(C_LIBRARY.iter().copied())
}

/// Whether CUDA or the C library has this function and `.cdp` does not: what it belongs to, and
/// what to use instead (empty when there is nothing).
pub fn outside(name: &str) -> Option<(&'static str, String)> {
    if RUNTIME.binary_search(&name).is_ok() {
        return Some(("CUDA's runtime API", runtime_cure(name).to_owned()));
    }
    if C_LIBRARY.contains(&name) {
        return Some(("the C library", String::new()));
    }
    let after = name.strip_prefix("cu")?;
    // `cuInit`, and not `cudaX` or `cubX`.
    if after.starts_with(|c: char| c.is_ascii_uppercase()) {
        let cure = "use the runtime API: functions whose names begin with `cuda`";
        return Some(("CUDA's driver API", cure.to_owned()));
    }
    None
}

/// What to use instead of a runtime function, by the family it belongs to.
fn runtime_cure(name: &str) -> &'static str {
    const FAMILIES: &[(&str, &str)] = &[
        ("cudaBindTexture", "use texture objects: `cudaCreateTextureObject`"),
        ("cudaUnbindTexture", "use texture objects: `cudaDestroyTextureObject`"),
        ("cudaConfigureCall", "launch with `<<<>>>`, or `cudaLaunchKernel`"),
        ("cudaSetupArgument", "launch with `<<<>>>`, or `cudaLaunchKernel`"),
        (
            "cudaLaunchCooperative",
            "launch with `<<<>>>`, and divide the work at grid-wide barriers into kernels",
        ),
        ("cudaLaunchKernelEx", "launch with `<<<>>>`, or `cudaLaunchKernel`"),
        ("cudaLaunch", "launch with `<<<>>>`, or `cudaLaunchKernel`"),
        ("cudaThreadExit", "use `cudaDeviceReset`"),
        ("cudaThreadSynchronize", "use `cudaDeviceSynchronize`"),
        (
            "cudaDeviceGetMemPool",
            "use `cudaMallocAsync` and `cudaFreeAsync`, which use the device's own pool",
        ),
        (
            "cudaMemPool",
            "use `cudaMallocAsync` and `cudaFreeAsync`, which use the device's own pool",
        ),
        ("cudaMallocFromPool", "use `cudaMallocAsync`"),
        ("cudaMallocMipmapped", "use one array a level: `cudaMallocArray`"),
        ("cudaFreeMipmapped", "use one array a level: `cudaFreeArray`"),
        ("cudaGetMipmapped", "use one array a level: `cudaMallocArray`"),
        ("cudaMemcpyBatch", "use `cudaMemcpyAsync` for each copy"),
        ("cudaMemcpy3DBatch", "use `cudaMemcpy3DAsync` for each copy"),
        ("cudaMemcpy3DPeer", "use `cudaMemcpy3D`"),
        ("cudaMemcpyPeer", "use `cudaMemcpy` with `cudaMemcpyDefault`"),
        ("cudaGraphics", "copy through memory of the runtime: graphics resources are not shared"),
        (
            "cudaGraph",
            "launch the kernels from one parent kernel, or into one stream, in the graph's order",
        ),
        ("cudaStreamBeginCapture", "launch the kernels from one parent kernel, or into one stream"),
        ("cudaStreamEndCapture", "launch the kernels from one parent kernel, or into one stream"),
        ("cudaHostRegister", "allocate the memory with `cudaHostAlloc`"),
        ("cudaHostUnregister", "allocate the memory with `cudaHostAlloc`"),
        ("cudaMemPrefetch", "leave the hint out: managed memory is where it is used"),
        ("cudaMemAdvise", "leave the hint out: managed memory is where it is used"),
        ("cudaProfiler", "leave it out, or profile by kernel"),
        ("cudaSetDeviceFlags", "leave it out"),
        ("cudaGetTextureObject", "keep the description that the object was made from"),
        ("cudaGetSurfaceObject", "keep the description that the object was made from"),
        ("cudaMemcpy2DArrayToArray", "use `cudaMemcpy3D`, which copies between arrays"),
        ("cudaMemcpyArrayToArray", "use `cudaMemcpy3D`, which copies between arrays"),
        ("cudaMemcpyToArrayAsync", "use `cudaMemcpy2DToArrayAsync`"),
        ("cudaMemcpyFromArrayAsync", "use `cudaMemcpy2DFromArrayAsync`"),
        ("cudaIpc", "copy through memory that the processes share by other means"),
        ("cudaImportExternal", "copy through memory of the runtime"),
        ("cudaGetDriverEntryPoint", "use the runtime API"),
        ("cudaLibrary", "compile the kernels with the program"),
    ];
    let family = FAMILIES.iter().find(|(prefix, _)| name.starts_with(prefix));
    family.map_or("", |(_, cure)| cure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_holds_no_builtin() {
        assert!(RUNTIME.windows(2).all(|pair| pair[0] < pair[1]));
        for name in RUNTIME {
            assert!(!super::super::is_function_name(name), "{name}");
        }
    }

    #[test]
    fn each_kind_is_known() {
        assert!(outside("cudaGraphCreate").is_some_and(|(_, cure)| cure.contains("parent kernel")));
        assert!(outside("setjmp").is_some_and(|(what, _)| what == "the C library"));
        assert!(outside("cuInit").is_some_and(|(what, _)| what.contains("driver")));
        assert!(outside("cudaMalloc").is_none() && outside("current").is_none());
    }
}
