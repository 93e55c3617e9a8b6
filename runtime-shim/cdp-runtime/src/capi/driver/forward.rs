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
    cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayGetDescriptor cuArrayGetMemoryRequirements
    cuArrayGetPlane cuArrayGetSparseProperties cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId
    cuCheckpointProcessGetState cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock
    cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal
    cuCtxAttach cuCtxCreate cuCtxDestroy cuCtxDetach cuCtxFromGreenCtx cuCtxGetDevResource cuCtxGetExecAffinity
    cuCtxPopCurrent cuCtxPushCurrent cuCtxRecordEvent cuCtxSetFlags cuCtxWaitEvent cuDestroyExternalMemory
    cuDestroyExternalSemaphore cuDevResourceGenerateDesc cuDevSmResourceSplitByCount cuDeviceGetDevResource
    cuDeviceGetExecAffinitySupport cuDeviceGetHostAtomicCapabilities cuDeviceGetLuid cuDeviceGetNvSciSyncAttributes
    cuDeviceGetP2PAtomicCapabilities cuDeviceGetTexture1DLinearMaxWidth cuDevicePrimaryCtxRelease
    cuDevicePrimaryCtxReset cuDevicePrimaryCtxSetFlags cuDeviceRegisterAsyncNotification cuDeviceTotalMem
    cuDeviceUnregisterAsyncNotification cuEventDestroy cuExternalMemoryGetMappedBuffer
    cuExternalMemoryGetMappedMipmappedArray cuFlushGPUDirectRDMAWrites cuFuncSetBlockShape cuFuncSetSharedSize
    cuGetExportTable cuGetProcAddress_v2_ptsz cuGraphAddBatchMemOpNode cuGraphAddExternalSemaphoresSignalNode
    cuGraphAddExternalSemaphoresWaitNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams
    cuGraphExecBatchMemOpNodeSetParams cuGraphExecExternalSemaphoresSignalNodeSetParams
    cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExternalSemaphoresSignalNodeGetParams
    cuGraphExternalSemaphoresSignalNodeSetParams cuGraphExternalSemaphoresWaitNodeGetParams
    cuGraphExternalSemaphoresWaitNodeSetParams cuGraphicsMapResources cuGraphicsMapResources_ptsz
    cuGraphicsResourceGetMappedMipmappedArray cuGraphicsResourceGetMappedPointer
    cuGraphicsResourceGetMappedPointer_v2 cuGraphicsResourceSetMapFlags cuGraphicsResourceSetMapFlags_v2
    cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources cuGraphicsUnmapResources_ptsz
    cuGraphicsUnregisterResource cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource cuGreenCtxGetId
    cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent cuImportExternalMemory
    cuImportExternalSemaphore cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle
    cuIpcOpenMemHandle cuIpcOpenMemHandle_v2 cuLaunch cuLaunchCooperativeKernelMultiDevice cuLaunchGrid
    cuLaunchGridAsync cuLibraryGetUnifiedFunction cuLinkAddData cuLinkAddFile cuLinkCreate cuLogsCurrent
    cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback cuMemAlloc cuMemAllocHost
    cuMemAllocPitch cuMemBatchDecompressAsync cuMemBatchDecompressAsync_ptsz cuMemDiscardAndPrefetchBatchAsync
    cuMemDiscardAndPrefetchBatchAsync_ptsz cuMemDiscardBatchAsync cuMemDiscardBatchAsync_ptsz cuMemFree
    cuMemGetAddressRange cuMemGetHandleForAddressRange cuMemGetInfo cuMemGetMemPool cuMemHostGetDevicePointer
    cuMemHostRegister cuMemMapArrayAsync cuMemMapArrayAsync_ptsz cuMemPoolExportPointer
    cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle cuMemPoolImportPointer
    cuMemPrefetchBatchAsync cuMemPrefetchBatchAsync_ptsz cuMemSetMemPool cuMemcpy2D cuMemcpy2DAsync
    cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_ptsz
    cuMemcpy3DBatchAsync_v2 cuMemcpy3DBatchAsync_v2_ptsz cuMemcpyAtoA cuMemcpyAtoD cuMemcpyAtoH cuMemcpyAtoHAsync
    cuMemcpyBatchAsync cuMemcpyBatchAsync_ptsz cuMemcpyBatchAsync_v2 cuMemcpyBatchAsync_v2_ptsz cuMemcpyDtoA
    cuMemcpyDtoD cuMemcpyDtoDAsync cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoD
    cuMemcpyHtoDAsync cuMemcpyPeerAsync_ptsz cuMemcpyPeer_ptds cuMemsetD16 cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8
    cuMemsetD32 cuMemsetD8 cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties
    cuModuleGetGlobal cuModuleGetSurfRef cuModuleGetTexRef cuMulticastAddDevice cuMulticastBindAddr
    cuMulticastBindMem cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind cuParamSetSize cuParamSetTexRef
    cuParamSetf cuParamSeti cuParamSetv cuProfilerInitialize cuSignalExternalSemaphoresAsync
    cuSignalExternalSemaphoresAsync_ptsz cuStreamBatchMemOp cuStreamBatchMemOp_ptsz cuStreamBeginCapture
    cuStreamBeginCapture_ptsz cuStreamCopyAttributes_ptsz cuStreamDestroy cuStreamGetCtx_v2 cuStreamGetCtx_v2_ptsz
    cuStreamGetGreenCtx cuStreamWaitValue32 cuStreamWaitValue32_ptsz cuStreamWaitValue64 cuStreamWaitValue64_ptsz
    cuStreamWriteValue32 cuStreamWriteValue32_ptsz cuStreamWriteValue64 cuStreamWriteValue64_ptsz cuSurfRefGetArray
    cuSurfRefSetArray cuTensorMapEncodeIm2colWide cuTexObjectGetResourceViewDesc cuTexRefCreate cuTexRefDestroy
    cuTexRefGetAddress cuTexRefGetAddressMode cuTexRefGetAddress_v2 cuTexRefGetArray cuTexRefGetBorderColor
    cuTexRefGetFilterMode cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy cuTexRefGetMipmapFilterMode
    cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray cuTexRefSetAddress
    cuTexRefSetAddress2D cuTexRefSetAddress2D_v2 cuTexRefSetAddress2D_v3 cuTexRefSetAddressMode
    cuTexRefSetAddress_v2 cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode cuTexRefSetFlags
    cuTexRefSetFormat cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias
    cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray cuWaitExternalSemaphoresAsync
    cuWaitExternalSemaphoresAsync_ptsz
}
