//! The driver's functions that the CPU device does not have. On a GPU the call goes on to libcuda as it is, whatever
//! its arguments are: a jump, for which nothing needs to be known of them.

use std::ffi::c_void;

use super::super::stdio;
use super::{NOT_SUPPORTED, Route};

/// What a call returns on the CPU device.
extern "C" fn refused() -> u32 {
    NOT_SUPPORTED
}

/// Where a call goes on: the driver's function, or one that refuses.
extern "C" fn resolve(route: &Route) -> *const c_void {
    match route.target() {
        Ok(Some(target)) => target,
        Ok(None) => {
            let name = route.name.to_string_lossy();
            stdio::complain(&format!("{name} is not supported by the CPU device"));
            refused as *const c_void
        }
        Err(_) => refused as *const c_void,
    }
}

/// Goes on with the arguments of the call that came here, whose route is in `r11`. By the System V ABI they are in
/// these registers and on the stack, which is as it was when the call ends here.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn go_on() {
    std::arch::naked_asm!(
        "mov rax, [r11]",
        "test rax, rax",
        "jz 2f",
        "jmp rax",
        "2:",
        "push rbp",
        "mov rbp, rsp",
        "and rsp, -16",
        "sub rsp, 112",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        // Floating-point arguments: no function of the driver has more than these.
        "movups [rsp + 48], xmm0",
        "movups [rsp + 64], xmm1",
        "mov rdi, r11",
        "call {resolve}",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "movups xmm0, [rsp + 48]",
        "movups xmm1, [rsp + 64]",
        "mov rsp, rbp",
        "pop rbp",
        "jmp rax",
        resolve = sym resolve,
    )
}

macro_rules! forwarded {
    ($($name:ident)*) => {
        mod routes {
            #![allow(non_upper_case_globals)]
            use super::Route;
            $(pub static $name: Route = Route::new(concat!(stringify!($name), "\0"));)*
        }

        $(
            #[doc = concat!("`", stringify!($name), "`: the driver's, where there is one.")]
            #[cfg(target_arch = "x86_64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() -> u32 {
                std::arch::naked_asm!(
                    "lea r11, [rip + {route}]",
                    "jmp {go_on}",
                    route = sym routes::$name,
                    go_on = sym go_on,
                )
            }

            #[doc = concat!("`", stringify!($name), "`: refused, since its arguments are not known here.")]
            #[cfg(not(target_arch = "x86_64"))]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() -> u32 {
                let _ = resolve(&routes::$name);
                refused()
            }
        )*

        /// Names and functions of this module.
        pub(super) static FORWARDED: &[(&str, super::Function)] = &[
            $((stringify!($name), super::Function($name as *const ())),)*
        ];
    };
}

forwarded! {
    cuArray3DCreate cuArray3DCreate_v2 cuArray3DGetDescriptor cuArray3DGetDescriptor_v2 cuArrayCreate
    cuArrayCreate_v2 cuArrayDestroy cuArrayGetDescriptor cuArrayGetDescriptor_v2 cuArrayGetMemoryRequirements
    cuArrayGetPlane cuArrayGetSparseProperties cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId
    cuCheckpointProcessGetState cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock
    cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal
    cuCtxAttach cuCtxCreate cuCtxDestroy cuCtxDetach cuCtxDisablePeerAccess cuCtxEnablePeerAccess cuCtxFromGreenCtx
    cuCtxGetDevResource cuCtxGetExecAffinity cuCtxPopCurrent cuCtxPushCurrent cuCtxRecordEvent cuCtxSetFlags
    cuCtxWaitEvent cuDestroyExternalMemory cuDestroyExternalSemaphore cuDevResourceGenerateDesc
    cuDevSmResourceSplitByCount cuDeviceGetDevResource cuDeviceGetExecAffinitySupport cuDeviceGetGraphMemAttribute
    cuDeviceGetHostAtomicCapabilities cuDeviceGetLuid cuDeviceGetNvSciSyncAttributes
    cuDeviceGetP2PAtomicCapabilities cuDeviceGetTexture1DLinearMaxWidth cuDeviceGraphMemTrim
    cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset cuDevicePrimaryCtxSetFlags cuDeviceRegisterAsyncNotification
    cuDeviceSetGraphMemAttribute cuDeviceTotalMem cuDeviceUnregisterAsyncNotification cuEventDestroy
    cuEventRecordWithFlags_ptsz cuExternalMemoryGetMappedBuffer cuExternalMemoryGetMappedMipmappedArray
    cuFlushGPUDirectRDMAWrites cuFuncGetModule cuFuncIsLoaded cuFuncSetBlockShape cuFuncSetSharedSize
    cuGetExportTable cuGetProcAddress_v2_ptsz cuGraphAddBatchMemOpNode cuGraphAddChildGraphNode
    cuGraphAddDependencies cuGraphAddDependencies_v2 cuGraphAddEmptyNode cuGraphAddEventRecordNode
    cuGraphAddEventWaitNode cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode
    cuGraphAddHostNode cuGraphAddKernelNode cuGraphAddKernelNode_v2 cuGraphAddMemAllocNode cuGraphAddMemFreeNode
    cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphAddNode cuGraphAddNode_v2 cuGraphBatchMemOpNodeGetParams
    cuGraphBatchMemOpNodeSetParams cuGraphChildGraphNodeGetGraph cuGraphConditionalHandleCreate cuGraphDestroyNode
    cuGraphEventRecordNodeGetEvent cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent
    cuGraphEventWaitNodeSetEvent cuGraphExecBatchMemOpNodeSetParams cuGraphExecChildGraphNodeSetParams
    cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
    cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams
    cuGraphExecGetFlags cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams
    cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams
    cuGraphExecNodeSetParams cuGraphExecUpdate cuGraphExecUpdate_v2 cuGraphExternalSemaphoresSignalNodeGetParams
    cuGraphExternalSemaphoresSignalNodeSetParams cuGraphExternalSemaphoresWaitNodeGetParams
    cuGraphExternalSemaphoresWaitNodeSetParams cuGraphGetEdges cuGraphGetEdges_v2 cuGraphGetRootNodes
    cuGraphHostNodeGetParams cuGraphHostNodeSetParams cuGraphInstantiate cuGraphInstantiateWithParams
    cuGraphInstantiateWithParams_ptsz cuGraphInstantiate_v2 cuGraphKernelNodeCopyAttributes
    cuGraphKernelNodeGetAttribute cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2
    cuGraphKernelNodeSetAttribute cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2
    cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams
    cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams cuGraphNodeFindInClone cuGraphNodeGetDependencies
    cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes_v2
    cuGraphNodeGetEnabled cuGraphNodeGetType cuGraphNodeSetEnabled cuGraphNodeSetParams cuGraphReleaseUserObject
    cuGraphRemoveDependencies cuGraphRemoveDependencies_v2 cuGraphRetainUserObject cuGraphUpload_ptsz
    cuGraphicsMapResources cuGraphicsMapResources_ptsz cuGraphicsResourceGetMappedMipmappedArray
    cuGraphicsResourceGetMappedPointer cuGraphicsResourceGetMappedPointer_v2 cuGraphicsResourceSetMapFlags
    cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources
    cuGraphicsUnmapResources_ptsz cuGraphicsUnregisterResource cuGreenCtxCreate cuGreenCtxDestroy
    cuGreenCtxGetDevResource cuGreenCtxGetId cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent
    cuImportExternalMemory cuImportExternalSemaphore cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle
    cuIpcOpenEventHandle cuIpcOpenMemHandle cuIpcOpenMemHandle_v2 cuKernelGetLibrary cuLaunch
    cuLaunchCooperativeKernelMultiDevice cuLaunchGrid cuLaunchGridAsync cuLibraryEnumerateKernels
    cuLibraryGetKernelCount cuLibraryGetUnifiedFunction cuLinkAddData cuLinkAddFile cuLinkCreate cuLogsCurrent
    cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback cuMemAddressFree
    cuMemAddressReserve cuMemAlloc cuMemAllocHost cuMemAllocPitch cuMemBatchDecompressAsync
    cuMemBatchDecompressAsync_ptsz cuMemCreate cuMemDiscardAndPrefetchBatchAsync
    cuMemDiscardAndPrefetchBatchAsync_ptsz cuMemDiscardBatchAsync cuMemDiscardBatchAsync_ptsz
    cuMemExportToShareableHandle cuMemFree cuMemGetAccess cuMemGetAddressRange cuMemGetAddressRange_v2
    cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle cuMemGetDefaultMemPool
    cuMemGetHandleForAddressRange cuMemGetInfo cuMemGetMemPool cuMemHostGetDevicePointer cuMemHostRegister
    cuMemImportFromShareableHandle cuMemMap cuMemMapArrayAsync cuMemMapArrayAsync_ptsz cuMemPoolExportPointer
    cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle cuMemPoolImportPointer
    cuMemPrefetchBatchAsync cuMemPrefetchBatchAsync_ptsz cuMemRangeGetAttributes cuMemRelease
    cuMemRetainAllocationHandle cuMemSetAccess cuMemSetMemPool cuMemUnmap cuMemcpy2D cuMemcpy2DAsync
    cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_ptsz
    cuMemcpy3DBatchAsync_v2 cuMemcpy3DBatchAsync_v2_ptsz cuMemcpy3DPeer cuMemcpy3DPeerAsync
    cuMemcpy3DPeerAsync_ptsz cuMemcpy3DPeer_ptds cuMemcpyAtoA cuMemcpyAtoA_v2 cuMemcpyAtoA_v2_ptds cuMemcpyAtoD
    cuMemcpyAtoD_v2 cuMemcpyAtoD_v2_ptds cuMemcpyAtoH cuMemcpyAtoHAsync cuMemcpyAtoHAsync_v2
    cuMemcpyAtoHAsync_v2_ptsz cuMemcpyAtoH_v2 cuMemcpyAtoH_v2_ptds cuMemcpyBatchAsync cuMemcpyBatchAsync_ptsz
    cuMemcpyBatchAsync_v2 cuMemcpyBatchAsync_v2_ptsz cuMemcpyDtoA cuMemcpyDtoA_v2 cuMemcpyDtoA_v2_ptds cuMemcpyDtoD
    cuMemcpyDtoDAsync cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2
    cuMemcpyHtoAAsync_v2_ptsz cuMemcpyHtoA_v2 cuMemcpyHtoA_v2_ptds cuMemcpyHtoD cuMemcpyHtoDAsync
    cuMemcpyPeerAsync_ptsz cuMemcpyPeer_ptds cuMemsetD16 cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8 cuMemsetD32
    cuMemsetD8 cuMipmappedArrayCreate cuMipmappedArrayDestroy cuMipmappedArrayGetLevel
    cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties cuModuleEnumerateFunctions
    cuModuleGetFunctionCount cuModuleGetGlobal cuModuleGetSurfRef cuModuleGetTexRef cuMulticastAddDevice
    cuMulticastBindAddr cuMulticastBindMem cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind
    cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti cuParamSetv cuPointerGetAttributes
    cuPointerSetAttribute cuProfilerInitialize cuSignalExternalSemaphoresAsync cuSignalExternalSemaphoresAsync_ptsz
    cuStreamAttachMemAsync_ptsz cuStreamBatchMemOp cuStreamBatchMemOp_ptsz cuStreamBatchMemOp_v2
    cuStreamBatchMemOp_v2_ptsz cuStreamBeginCapture cuStreamBeginCaptureToGraph cuStreamBeginCaptureToGraph_ptsz
    cuStreamBeginCapture_ptsz cuStreamCopyAttributes_ptsz cuStreamDestroy cuStreamGetAttribute_ptsz
    cuStreamGetCaptureInfo cuStreamGetCaptureInfo_ptsz cuStreamGetCaptureInfo_v2 cuStreamGetCaptureInfo_v2_ptsz
    cuStreamGetCaptureInfo_v3 cuStreamGetCaptureInfo_v3_ptsz cuStreamGetCtx_ptsz cuStreamGetCtx_v2
    cuStreamGetCtx_v2_ptsz cuStreamGetDevice_ptsz cuStreamGetFlags_ptsz cuStreamGetGreenCtx cuStreamGetId_ptsz
    cuStreamGetPriority_ptsz cuStreamIsCapturing_ptsz cuStreamSetAttribute_ptsz cuStreamUpdateCaptureDependencies
    cuStreamUpdateCaptureDependencies_ptsz cuStreamUpdateCaptureDependencies_v2
    cuStreamUpdateCaptureDependencies_v2_ptsz cuStreamWaitValue32 cuStreamWaitValue32_ptsz cuStreamWaitValue32_v2
    cuStreamWaitValue32_v2_ptsz cuStreamWaitValue64 cuStreamWaitValue64_ptsz cuStreamWaitValue64_v2
    cuStreamWaitValue64_v2_ptsz cuStreamWriteValue32 cuStreamWriteValue32_ptsz cuStreamWriteValue32_v2
    cuStreamWriteValue32_v2_ptsz cuStreamWriteValue64 cuStreamWriteValue64_ptsz cuStreamWriteValue64_v2
    cuStreamWriteValue64_v2_ptsz cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
    cuSurfRefGetArray cuSurfRefSetArray cuTensorMapEncodeIm2colWide cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc
    cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc cuTexRefCreate cuTexRefDestroy cuTexRefGetAddress
    cuTexRefGetAddressMode cuTexRefGetAddress_v2 cuTexRefGetArray cuTexRefGetBorderColor cuTexRefGetFilterMode
    cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy cuTexRefGetMipmapFilterMode
    cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray cuTexRefSetAddress
    cuTexRefSetAddress2D cuTexRefSetAddress2D_v2 cuTexRefSetAddress2D_v3 cuTexRefSetAddressMode
    cuTexRefSetAddress_v2 cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode cuTexRefSetFlags
    cuTexRefSetFormat cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias
    cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray cuUserObjectCreate cuUserObjectRelease cuUserObjectRetain
    cuWaitExternalSemaphoresAsync cuWaitExternalSemaphoresAsync_ptsz
}
