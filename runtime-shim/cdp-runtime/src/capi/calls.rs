//! Every call of CUDA 13's runtime, and what this library does of it. The lists are compared with CUDA's
//! header and with the symbols of its shared library by a test, and are what the documentation's page and
//! `cdpc run` are made from. Calls that are not done are functions all the same, so that a program that
//! mentions one links and is told when it gets there.

use super::*;
use crate::error::CudaError;

/// What this library does of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All of it, or what its documentation here says.
    Done,
    /// `cudaErrorNotSupported` and a sentence, for good.
    Refused(&'static str),
    /// `cudaErrorNotYetImplemented` and a sentence, for now.
    NotYet,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// As in C.
    pub name: &'static str,
    /// What is done of it.
    pub state: State,
    /// The function.
    pub address: *const (),
}

// SAFETY: the addresses of functions.
unsafe impl Sync for Call {}

fn refuse(name: &str, why: &str) -> u32 {
    call(|| {
        stdio::complain(&format!("{name}: {why} is not supported"));
        Err(CudaError::NOT_SUPPORTED.into())
    })
}

fn not_yet(name: &str) -> u32 {
    call(|| {
        stdio::complain(&format!("{name} is not implemented yet"));
        Err(CudaError::NOT_YET_IMPLEMENTED.into())
    })
}

/// Functions for calls that are not done. They look at no argument, which C's calling convention allows.
macro_rules! refusals {
    ($name:ident, $answer:expr) => {
        #[allow(missing_docs)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> u32 {
            $answer
        }
    };
}

macro_rules! calls {
    (
        done { $($done:ident)* }
        $(refused $why:literal { $($refused:ident)* })*
        not_yet { $($not_yet:ident)* }
    ) => {
        $($(refusals!($refused, refuse(stringify!($refused), $why));)*)*
        $(refusals!($not_yet, not_yet(stringify!($not_yet)));)*

        /// Every call, in the order of this file.
        pub static CALLS: &[Call] = &[
            $(Call {
                name: stringify!($done),
                state: State::Done,
                address: $done as *const (),
            },)*
            $($(Call {
                name: stringify!($refused),
                state: State::Refused($why),
                address: $refused as *const (),
            },)*)*
            $(Call {
                name: stringify!($not_yet),
                state: State::NotYet,
                address: $not_yet as *const (),
            },)*
        ];
    };
}

calls! {
    done {
        cudaArrayGetInfo cudaChooseDevice cudaCreateChannelDesc cudaCreateSurfaceObject
        cudaCreateTextureObject cudaCtxResetPersistingL2Cache cudaDestroySurfaceObject
        cudaDestroyTextureObject cudaDeviceCanAccessPeer cudaDeviceDisablePeerAccess
        cudaDeviceEnablePeerAccess cudaDeviceGetAttribute cudaDeviceGetByPCIBusId
        cudaDeviceGetCacheConfig cudaDeviceGetDefaultMemPool cudaDeviceGetLimit
        cudaDeviceGetMemPool cudaDeviceGetP2PAttribute cudaDeviceGetPCIBusId
        cudaDeviceGetSharedMemConfig cudaDeviceGetStreamPriorityRange cudaDeviceReset
        cudaDeviceSetCacheConfig cudaDeviceSetLimit cudaDeviceSetMemPool
        cudaDeviceSetSharedMemConfig cudaDeviceSynchronize cudaDriverGetVersion
        cudaEventCreate cudaEventCreateWithFlags cudaEventDestroy cudaEventElapsedTime
        cudaEventQuery cudaEventRecord cudaEventRecordWithFlags
        cudaEventRecordWithFlags_ptsz cudaEventRecord_ptsz cudaEventSynchronize cudaFree
        cudaFreeArray cudaFreeAsync cudaFreeAsync_ptsz cudaFreeHost cudaFreeMipmappedArray
        cudaFuncGetAttributes
        cudaFuncGetName cudaFuncGetParamInfo cudaFuncSetAttribute cudaFuncSetCacheConfig
        cudaFuncSetSharedMemConfig cudaGetChannelDesc cudaGetDevice cudaGetDeviceCount
        cudaGetDeviceFlags cudaGetDeviceProperties cudaGetDriverEntryPoint
        cudaGetDriverEntryPointByVersion cudaGetDriverEntryPointByVersion_ptsz
        cudaGetDriverEntryPoint_ptsz cudaGetErrorName cudaGetErrorString
        cudaGetFuncBySymbol cudaGetKernel cudaGetLastError cudaGetMipmappedArrayLevel
        cudaGetSurfaceObjectResourceDesc cudaGetSymbolAddress cudaGetSymbolSize
        cudaGetTextureObjectResourceDesc cudaGetTextureObjectTextureDesc
        cudaDeviceGetGraphMemAttribute cudaDeviceGraphMemTrim cudaGraphChildGraphNodeGetGraph
        cudaDeviceSetGraphMemAttribute cudaGraphAddMemAllocNode
        cudaGraphAddMemFreeNode cudaGraphDebugDotPrint
        cudaGraphEventRecordNodeGetEvent cudaGraphEventWaitNodeGetEvent
        cudaGraphExecChildGraphNodeSetParams cudaGraphExecMemcpyNodeSetParamsFromSymbol
        cudaGraphExecMemcpyNodeSetParamsToSymbol cudaGraphHostNodeGetParams
        cudaGraphKernelNodeCopyAttributes cudaGraphKernelNodeGetAttribute
        cudaGraphKernelNodeGetParams cudaGraphKernelNodeSetAttribute
        cudaGraphMemAllocNodeGetParams cudaGraphMemFreeNodeGetParams
        cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParamsFromSymbol
        cudaGraphMemcpyNodeSetParamsToSymbol cudaGraphReleaseUserObject
        cudaGraphRetainUserObject cudaUserObjectCreate
        cudaUserObjectRelease cudaUserObjectRetain
        cudaGraphAddChildGraphNode cudaGraphAddDependencies cudaGraphAddEmptyNode
        cudaGraphAddEventRecordNode cudaGraphAddEventWaitNode cudaGraphAddHostNode
        cudaGraphAddKernelNode cudaGraphAddMemcpyNode cudaGraphAddMemcpyNode1D
        cudaGraphAddMemcpyNodeFromSymbol cudaGraphAddMemcpyNodeToSymbol
        cudaGraphAddMemsetNode cudaGraphAddNode cudaGraphClone
        cudaGraphConditionalHandleCreate cudaGraphCreate cudaGraphDestroy
        cudaGraphDestroyNode cudaGraphEventRecordNodeSetEvent
        cudaGraphEventWaitNodeSetEvent cudaGraphExecDestroy
        cudaGraphExecEventRecordNodeSetEvent cudaGraphExecEventWaitNodeSetEvent
        cudaGraphExecGetFlags cudaGraphExecHostNodeSetParams
        cudaGraphExecKernelNodeSetParams cudaGraphExecMemcpyNodeSetParams
        cudaGraphExecMemcpyNodeSetParams1D cudaGraphExecMemsetNodeSetParams
        cudaGraphExecNodeSetParams
        cudaGraphExecUpdate cudaGraphGetEdges cudaGraphGetNodes cudaGraphGetRootNodes
        cudaGraphHostNodeSetParams cudaGraphInstantiate cudaGraphInstantiateWithFlags
        cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz
        cudaGraphKernelNodeSetParams cudaGraphLaunch cudaGraphLaunch_ptsz
        cudaGraphMemcpyNodeSetParams cudaGraphMemcpyNodeSetParams1D
        cudaGraphMemsetNodeGetParams cudaGraphMemsetNodeSetParams cudaGraphNodeFindInClone
        cudaGraphNodeGetDependencies cudaGraphNodeGetDependentNodes
        cudaGraphNodeGetEnabled cudaGraphNodeGetType cudaGraphNodeSetEnabled
        cudaGraphNodeSetParams
        cudaGraphRemoveDependencies cudaGraphUpload cudaGraphUpload_ptsz cudaHostAlloc
        cudaHostGetDevicePointer cudaHostGetFlags cudaHostRegister cudaHostUnregister cudaInitDevice
        cudaKernelSetAttributeForDevice cudaLaunchCooperativeKernel
        cudaLaunchCooperativeKernel_ptsz cudaLaunchHostFunc cudaLaunchHostFunc_ptsz
        cudaLaunchKernel cudaLaunchKernelExC cudaLaunchKernelExC_ptsz
        cudaLaunchKernel_ptsz cudaLibraryEnumerateKernels cudaLibraryGetGlobal cudaLibraryGetKernel
        cudaLibraryGetKernelCount
        cudaLibraryGetManaged cudaLibraryLoadData cudaLibraryLoadFromFile
        cudaLibraryUnload cudaMalloc cudaMalloc3D cudaMalloc3DArray cudaMallocArray
        cudaMallocAsync cudaMallocAsync_ptsz cudaMallocFromPoolAsync
        cudaMallocFromPoolAsync_ptsz cudaMallocHost cudaMallocManaged
        cudaMallocMipmappedArray cudaMallocPitch
        cudaMemAdvise cudaMemGetDefaultMemPool cudaMemGetInfo cudaMemPoolCreate
        cudaMemPoolDestroy cudaMemPoolGetAccess cudaMemPoolGetAttribute
        cudaMemPoolSetAccess cudaMemPoolSetAttribute cudaMemPoolTrimTo
        cudaMemPrefetchAsync cudaMemPrefetchAsync_ptsz cudaMemRangeGetAttribute
        cudaMemRangeGetAttributes cudaMemcpy cudaMemcpy2D cudaMemcpy2DArrayToArray
        cudaMemcpy2DAsync cudaMemcpy2DAsync_ptsz cudaMemcpy2DFromArray
        cudaMemcpy2DFromArrayAsync cudaMemcpy2DFromArrayAsync_ptsz
        cudaMemcpy2DFromArray_ptds cudaMemcpy2DToArray cudaMemcpy2DToArrayAsync
        cudaMemcpy2DToArrayAsync_ptsz cudaMemcpy2DToArray_ptds cudaMemcpy2D_ptds
        cudaMemcpy3D cudaMemcpy3DAsync cudaMemcpy3DAsync_ptsz cudaMemcpy3DPeer
        cudaMemcpy3DPeerAsync cudaMemcpy3DPeerAsync_ptsz cudaMemcpy3DPeer_ptds
        cudaMemcpy3D_ptds cudaMemcpyAsync cudaMemcpyAsync_ptsz cudaMemcpyBatchAsync
        cudaMemcpyBatchAsync_ptsz cudaMemcpyFromArray cudaMemcpyFromArrayAsync
        cudaMemcpyFromArrayAsync_ptsz cudaMemcpyFromArray_ptds cudaMemcpyFromSymbol
        cudaMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync_ptsz cudaMemcpyFromSymbol_ptds
        cudaMemcpyPeer cudaMemcpyPeerAsync cudaMemcpyToArray cudaMemcpyToArrayAsync
        cudaMemcpyToArrayAsync_ptsz cudaMemcpyToArray_ptds cudaMemcpyToSymbol
        cudaMemcpyToSymbolAsync cudaMemcpyToSymbolAsync_ptsz cudaMemcpyToSymbol_ptds
        cudaMemcpy_ptds cudaMemset cudaMemset2D cudaMemset2DAsync cudaMemset2DAsync_ptsz
        cudaMemset2D_ptds cudaMemset3D cudaMemset3DAsync cudaMemset3DAsync_ptsz
        cudaMemset3D_ptds cudaMemsetAsync cudaMemsetAsync_ptsz cudaMemset_ptds
        cudaOccupancyAvailableDynamicSMemPerBlock
        cudaOccupancyMaxActiveBlocksPerMultiprocessor
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
        cudaOccupancyMaxActiveClusters cudaOccupancyMaxPotentialBlockSize
        cudaOccupancyMaxPotentialBlockSizeWithFlags cudaOccupancyMaxPotentialClusterSize
        cudaPeekAtLastError cudaPointerGetAttributes cudaProfilerStart cudaProfilerStop
        cudaRuntimeGetVersion cudaSetDevice cudaSetDeviceFlags cudaSetValidDevices
        cudaStreamAddCallback cudaStreamAddCallback_ptsz cudaStreamAttachMemAsync
        cudaStreamAttachMemAsync_ptsz cudaStreamBeginCapture cudaStreamBeginCaptureToGraph
        cudaStreamBeginCaptureToGraph_ptsz cudaStreamBeginCapture_ptsz
        cudaStreamCopyAttributes cudaStreamCopyAttributes_ptsz cudaStreamCreate
        cudaStreamCreateWithFlags cudaStreamCreateWithPriority cudaStreamDestroy
        cudaStreamEndCapture cudaStreamEndCapture_ptsz cudaStreamGetAttribute
        cudaStreamGetAttribute_ptsz cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz
        cudaStreamGetDevice cudaStreamGetDevice_ptsz cudaStreamGetFlags
        cudaStreamGetFlags_ptsz cudaStreamGetId cudaStreamGetId_ptsz cudaStreamGetPriority
        cudaStreamGetPriority_ptsz cudaStreamIsCapturing cudaStreamIsCapturing_ptsz
        cudaStreamQuery cudaStreamQuery_ptsz cudaStreamSetAttribute
        cudaStreamSetAttribute_ptsz cudaStreamSynchronize cudaStreamSynchronize_ptsz
        cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_ptsz
        cudaStreamWaitEvent cudaStreamWaitEvent_ptsz cudaThreadExchangeStreamCaptureMode
    }
    refused "interoperation with graphics" {
        cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect
        cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect
        cudaEGLStreamConsumerReleaseFrame cudaEGLStreamProducerConnect
        cudaEGLStreamProducerDisconnect cudaEGLStreamProducerPresentFrame
        cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync cudaGLGetDevices
        cudaGLMapBufferObject cudaGLMapBufferObjectAsync cudaGLRegisterBufferObject
        cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice cudaGLUnmapBufferObject
        cudaGLUnmapBufferObjectAsync cudaGLUnregisterBufferObject
        cudaGraphicsEGLRegisterImage cudaGraphicsGLRegisterBuffer
        cudaGraphicsGLRegisterImage cudaGraphicsMapResources
        cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray
        cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags
        cudaGraphicsSubResourceGetMappedArray cudaGraphicsUnmapResources
        cudaGraphicsUnregisterResource cudaGraphicsVDPAURegisterOutputSurface
        cudaGraphicsVDPAURegisterVideoSurface cudaVDPAUGetDevice cudaVDPAUSetVDPAUDevice
    }
    refused "memory and semaphores of other programming interfaces" {
        cudaDestroyExternalMemory cudaDestroyExternalSemaphore
        cudaDeviceGetNvSciSyncAttributes cudaExternalMemoryGetMappedBuffer
        cudaExternalMemoryGetMappedMipmappedArray cudaGraphAddExternalSemaphoresSignalNode
        cudaGraphAddExternalSemaphoresWaitNode
        cudaGraphExecExternalSemaphoresSignalNodeSetParams
        cudaGraphExecExternalSemaphoresWaitNodeSetParams
        cudaGraphExternalSemaphoresSignalNodeGetParams
        cudaGraphExternalSemaphoresSignalNodeSetParams
        cudaGraphExternalSemaphoresWaitNodeGetParams
        cudaGraphExternalSemaphoresWaitNodeSetParams cudaImportExternalMemory
        cudaImportExternalSemaphore cudaSignalExternalSemaphoresAsync
        cudaSignalExternalSemaphoresAsync_ptsz cudaWaitExternalSemaphoresAsync
        cudaWaitExternalSemaphoresAsync_ptsz
    }
    refused "memory shared between processes" {
        cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcGetMemHandle
        cudaIpcOpenEventHandle cudaIpcOpenMemHandle cudaMemPoolExportPointer
        cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle
        cudaMemPoolImportPointer
    }
    refused "sparse and planar arrays and views of resources" {
        cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaArrayGetSparseProperties
        cudaGetTextureObjectResourceViewDesc
        cudaMipmappedArrayGetMemoryRequirements cudaMipmappedArrayGetSparseProperties
    }
    refused "services of NVIDIA's own driver" {
        cudaDeviceFlushGPUDirectRDMAWrites cudaDeviceRegisterAsyncNotification
        cudaDeviceUnregisterAsyncNotification cudaGetExportTable cudaLogsCurrent
        cudaLogsDumpToFile cudaLogsDumpToMemory cudaLogsRegisterCallback
        cudaLogsUnregisterCallback
    }
    not_yet {
        cudaDeviceGetHostAtomicCapabilities
        cudaDeviceGetP2PAtomicCapabilities cudaDeviceGetTexture1DLinearMaxWidth
        cudaLibraryGetUnifiedFunction cudaMemDiscardAndPrefetchBatchAsync
        cudaMemDiscardAndPrefetchBatchAsync_ptsz cudaMemDiscardBatchAsync
        cudaMemDiscardBatchAsync_ptsz cudaMemGetMemPool cudaMemPrefetchBatchAsync
        cudaMemPrefetchBatchAsync_ptsz cudaMemSetMemPool cudaMemcpy2DArrayToArray_ptds
        cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_ptsz cudaMemcpyArrayToArray
        cudaMemcpyArrayToArray_ptds
    }
}
