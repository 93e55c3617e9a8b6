//! `cudaError_t`: the codes, their names, and what `cudaGetErrorString` says of them; and the error
//! type of this crate's devices.
//!
//! Names, numbers and strings are what a program linked with the CUDA 13.0 runtime observes (asked of
//! `cudaGetErrorName` and `cudaGetErrorString` for every number). Nothing here decides which call
//! fails with what.

use std::ffi::CStr;
use std::fmt;

/// A `cudaError_t`. Driver results (`CUresult`) have the same numbers wherever both exist.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CudaError(pub u32);

#[allow(missing_docs)] // The names say it.
impl CudaError {
    pub const SUCCESS: CudaError = CudaError(0);
    pub const INVALID_VALUE: CudaError = CudaError(1);
    pub const MEMORY_ALLOCATION: CudaError = CudaError(2);
    pub const INITIALIZATION_ERROR: CudaError = CudaError(3);
    pub const INVALID_CONFIGURATION: CudaError = CudaError(9);
    pub const INVALID_PITCH_VALUE: CudaError = CudaError(12);
    pub const INVALID_SYMBOL: CudaError = CudaError(13);
    pub const INVALID_DEVICE_POINTER: CudaError = CudaError(17);
    pub const INVALID_CHANNEL_DESCRIPTOR: CudaError = CudaError(20);
    pub const INVALID_MEMCPY_DIRECTION: CudaError = CudaError(21);
    pub const INVALID_FILTER_SETTING: CudaError = CudaError(26);
    pub const INVALID_NORM_SETTING: CudaError = CudaError(27);
    pub const NOT_YET_IMPLEMENTED: CudaError = CudaError(31);
    pub const STUB_LIBRARY: CudaError = CudaError(34);
    pub const INSUFFICIENT_DRIVER: CudaError = CudaError(35);
    pub const DEVICES_UNAVAILABLE: CudaError = CudaError(46);
    pub const MISSING_CONFIGURATION: CudaError = CudaError(52);
    pub const SYNC_DEPTH_EXCEEDED: CudaError = CudaError(68);
    pub const LAUNCH_PENDING_COUNT_EXCEEDED: CudaError = CudaError(69);
    pub const INVALID_DEVICE_FUNCTION: CudaError = CudaError(98);
    pub const NO_DEVICE: CudaError = CudaError(100);
    pub const INVALID_DEVICE: CudaError = CudaError(101);
    pub const INVALID_KERNEL_IMAGE: CudaError = CudaError(200);
    pub const OPERATING_SYSTEM: CudaError = CudaError(304);
    pub const NO_KERNEL_IMAGE_FOR_DEVICE: CudaError = CudaError(209);
    pub const UNSUPPORTED_LIMIT: CudaError = CudaError(215);
    pub const PEER_ACCESS_UNSUPPORTED: CudaError = CudaError(217);
    pub const INVALID_PTX: CudaError = CudaError(218);
    pub const FILE_NOT_FOUND: CudaError = CudaError(301);
    pub const INVALID_RESOURCE_HANDLE: CudaError = CudaError(400);
    pub const ILLEGAL_STATE: CudaError = CudaError(401);
    pub const SYMBOL_NOT_FOUND: CudaError = CudaError(500);
    pub const NOT_READY: CudaError = CudaError(600);
    pub const ILLEGAL_ADDRESS: CudaError = CudaError(700);
    pub const LAUNCH_OUT_OF_RESOURCES: CudaError = CudaError(701);
    pub const LAUNCH_TIMEOUT: CudaError = CudaError(702);
    pub const PEER_ACCESS_NOT_ENABLED: CudaError = CudaError(705);
    pub const ASSERT: CudaError = CudaError(710);
    pub const HOST_MEMORY_ALREADY_REGISTERED: CudaError = CudaError(712);
    pub const HOST_MEMORY_NOT_REGISTERED: CudaError = CudaError(713);
    pub const ILLEGAL_INSTRUCTION: CudaError = CudaError(715);
    pub const MISALIGNED_ADDRESS: CudaError = CudaError(716);
    pub const INVALID_PC: CudaError = CudaError(718);
    pub const LAUNCH_FAILURE: CudaError = CudaError(719);
    pub const COOPERATIVE_LAUNCH_TOO_LARGE: CudaError = CudaError(720);
    pub const NOT_PERMITTED: CudaError = CudaError(800);
    pub const NOT_SUPPORTED: CudaError = CudaError(801);
    pub const SYSTEM_NOT_READY: CudaError = CudaError(802);
    pub const CDP_VERSION_MISMATCH: CudaError = CudaError(812);
    pub const STREAM_CAPTURE_UNSUPPORTED: CudaError = CudaError(900);
    pub const STREAM_CAPTURE_INVALIDATED: CudaError = CudaError(901);
    pub const STREAM_CAPTURE_MERGE: CudaError = CudaError(902);
    pub const STREAM_CAPTURE_UNMATCHED: CudaError = CudaError(903);
    pub const STREAM_CAPTURE_UNJOINED: CudaError = CudaError(904);
    pub const STREAM_CAPTURE_ISOLATION: CudaError = CudaError(905);
    pub const GRAPH_EXEC_UPDATE_FAILURE: CudaError = CudaError(910);
    pub const INVALID_CLUSTER_SIZE: CudaError = CudaError(912);
    pub const UNKNOWN: CudaError = CudaError(999);

    /// The enumerator, `cudaErrorInvalidValue`; for an unknown number what CUDA says.
    pub fn name(self) -> &'static CStr {
        lookup(self.0).map_or(UNRECOGNIZED, |row| row.1)
    }

    /// What `cudaGetErrorString` returns.
    pub fn text(self) -> &'static CStr {
        lookup(self.0).map_or(UNRECOGNIZED, |row| row.2)
    }

    /// Once a device call has returned this, the device (its context) is unusable until it is reset:
    /// every later call returns the same code (CUDA guide, "Error checking"; driver manual,
    /// `CUDA_ERROR_ILLEGAL_ADDRESS` and its neighbours).
    pub fn is_sticky(self) -> bool {
        matches!(self.0, 214 | 220 | 226 | 700 | 702 | 710 | 714..=719 | 721)
    }
}

impl fmt::Debug for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name().to_string_lossy(), self.0)
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}: {})",
            self.name().to_string_lossy(),
            self.0,
            self.text().to_string_lossy()
        )
    }
}

/// Why a device did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceError {
    /// What CUDA's API returns.
    pub code: CudaError,
    /// What the code alone does not say: the place in the PTX, the driver's log, what was looked for.
    pub detail: Option<String>,
}

impl DeviceError {
    /// An error with words beyond its code.
    pub fn new(code: CudaError, detail: impl Into<String>) -> DeviceError {
        DeviceError { code, detail: Some(detail.into()) }
    }
}

impl From<CudaError> for DeviceError {
    fn from(code: CudaError) -> DeviceError {
        DeviceError { code, detail: None }
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => write!(f, "{detail} [{}]", self.code.name().to_string_lossy()),
            None => write!(f, "{}", self.code),
        }
    }
}

impl std::error::Error for DeviceError {}

/// Result of a device operation.
pub type Result<T> = std::result::Result<T, DeviceError>;

const UNRECOGNIZED: &CStr = c"unrecognized error code";

fn lookup(code: u32) -> Option<&'static (u32, &'static CStr, &'static CStr)> {
    let index = TABLE.binary_search_by_key(&code, |row| row.0).ok()?;
    Some(&TABLE[index])
}

/// Number, enumerator, string; by number.
#[rustfmt::skip]
static TABLE: &[(u32, &CStr, &CStr)] = &[
    (0, c"cudaSuccess", c"no error"),
    (1, c"cudaErrorInvalidValue", c"invalid argument"),
    (2, c"cudaErrorMemoryAllocation", c"out of memory"),
    (3, c"cudaErrorInitializationError", c"initialization error"),
    (4, c"cudaErrorCudartUnloading", c"driver shutting down"),
    (5, c"cudaErrorProfilerDisabled", c"profiler disabled while using external profiling tool"),
    (6, c"cudaErrorProfilerNotInitialized", c"profiler not initialized: call cudaProfilerInitialize()"),
    (7, c"cudaErrorProfilerAlreadyStarted", c"profiler already started"),
    (8, c"cudaErrorProfilerAlreadyStopped", c"profiler already stopped"),
    (9, c"cudaErrorInvalidConfiguration", c"invalid configuration argument"),
    (12, c"cudaErrorInvalidPitchValue", c"invalid pitch argument"),
    (13, c"cudaErrorInvalidSymbol", c"invalid device symbol"),
    (16, c"cudaErrorInvalidHostPointer", c"invalid host pointer"),
    (17, c"cudaErrorInvalidDevicePointer", c"invalid device pointer"),
    (18, c"cudaErrorInvalidTexture", c"invalid texture reference"),
    (19, c"cudaErrorInvalidTextureBinding", c"texture is not bound to a pointer"),
    (20, c"cudaErrorInvalidChannelDescriptor", c"invalid channel descriptor"),
    (21, c"cudaErrorInvalidMemcpyDirection", c"invalid copy direction for memcpy"),
    (22, c"cudaErrorAddressOfConstant", c"invalid address of constant"),
    (23, c"cudaErrorTextureFetchFailed", c"fetch from texture failed"),
    (24, c"cudaErrorTextureNotBound", c"cannot fetch from a texture that is not bound"),
    (25, c"cudaErrorSynchronizationError", c"incorrect use of __syncthreads()"),
    (26, c"cudaErrorInvalidFilterSetting", c"linear filtering not supported for non-float type"),
    (27, c"cudaErrorInvalidNormSetting", c"read as normalized float not supported for data type"),
    (28, c"cudaErrorMixedDeviceExecution", c"device emulation mode and device execution mode cannot be mixed"),
    (31, c"cudaErrorNotYetImplemented", c"feature not yet implemented"),
    (32, c"cudaErrorMemoryValueTooLarge", c"memory size or pointer value too large to fit in 32 bit"),
    (34, c"cudaErrorStubLibrary", c"CUDA driver is a stub library"),
    (35, c"cudaErrorInsufficientDriver", c"CUDA driver version is insufficient for CUDA runtime version"),
    (36, c"cudaErrorCallRequiresNewerDriver", c"API call is not supported in the installed CUDA driver"),
    (37, c"cudaErrorInvalidSurface", c"invalid surface reference"),
    (43, c"cudaErrorDuplicateVariableName", c"duplicate global variable looked up by string name"),
    (44, c"cudaErrorDuplicateTextureName", c"duplicate texture looked up by string name"),
    (45, c"cudaErrorDuplicateSurfaceName", c"duplicate surface looked up by string name"),
    (46, c"cudaErrorDevicesUnavailable", c"CUDA-capable device(s) is/are busy or unavailable"),
    (49, c"cudaErrorIncompatibleDriverContext", c"incompatible driver context"),
    (52, c"cudaErrorMissingConfiguration", c"__global__ function call is not configured"),
    (53, c"cudaErrorPriorLaunchFailure", c"unspecified launch failure in prior launch"),
    (65, c"cudaErrorLaunchMaxDepthExceeded", c"launch would exceed maximum depth of nested launches"),
    (66, c"cudaErrorLaunchFileScopedTex", c"launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)"),
    (67, c"cudaErrorLaunchFileScopedSurf", c"launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)"),
    (68, c"cudaErrorSyncDepthExceeded", c"cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth"),
    (69, c"cudaErrorLaunchPendingCountExceeded", c"launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    (98, c"cudaErrorInvalidDeviceFunction", c"invalid device function"),
    (100, c"cudaErrorNoDevice", c"no CUDA-capable device is detected"),
    (101, c"cudaErrorInvalidDevice", c"invalid device ordinal"),
    (102, c"cudaErrorDeviceNotLicensed", c"device doesn't have valid Grid license"),
    (103, c"cudaErrorSoftwareValidityNotEstablished", c"integrity checks failed"),
    (127, c"cudaErrorStartupFailure", c"startup failure in cuda runtime"),
    (200, c"cudaErrorInvalidKernelImage", c"device kernel image is invalid"),
    (201, c"cudaErrorDeviceUninitialized", c"invalid device context"),
    (205, c"cudaErrorMapBufferObjectFailed", c"mapping of buffer object failed"),
    (206, c"cudaErrorUnmapBufferObjectFailed", c"unmapping of buffer object failed"),
    (207, c"cudaErrorArrayIsMapped", c"array is mapped"),
    (208, c"cudaErrorAlreadyMapped", c"resource already mapped"),
    (209, c"cudaErrorNoKernelImageForDevice", c"no kernel image is available for execution on the device"),
    (210, c"cudaErrorAlreadyAcquired", c"resource already acquired"),
    (211, c"cudaErrorNotMapped", c"resource not mapped"),
    (212, c"cudaErrorNotMappedAsArray", c"resource not mapped as array"),
    (213, c"cudaErrorNotMappedAsPointer", c"resource not mapped as pointer"),
    (214, c"cudaErrorECCUncorrectable", c"uncorrectable ECC error encountered"),
    (215, c"cudaErrorUnsupportedLimit", c"limit is not supported on this architecture"),
    (216, c"cudaErrorDeviceAlreadyInUse", c"exclusive-thread device already in use by a different thread"),
    (217, c"cudaErrorPeerAccessUnsupported", c"peer access is not supported between these two devices"),
    (218, c"cudaErrorInvalidPtx", c"a PTX JIT compilation failed"),
    (219, c"cudaErrorInvalidGraphicsContext", c"invalid OpenGL or DirectX context"),
    (220, c"cudaErrorNvlinkUncorrectable", c"uncorrectable NVLink error detected during the execution"),
    (221, c"cudaErrorJitCompilerNotFound", c"PTX JIT compiler library not found"),
    (222, c"cudaErrorUnsupportedPtxVersion", c"the provided PTX was compiled with an unsupported toolchain."),
    (223, c"cudaErrorJitCompilationDisabled", c"PTX JIT compilation was disabled"),
    (224, c"cudaErrorUnsupportedExecAffinity", c"the provided execution affinity is not supported"),
    (225, c"cudaErrorUnsupportedDevSideSync", c"the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    (226, c"cudaErrorContained", c"Invalid access of peer GPU memory over nvlink or a hardware error"),
    (300, c"cudaErrorInvalidSource", c"device kernel image is invalid"),
    (301, c"cudaErrorFileNotFound", c"file not found"),
    (302, c"cudaErrorSharedObjectSymbolNotFound", c"shared object symbol not found"),
    (303, c"cudaErrorSharedObjectInitFailed", c"shared object initialization failed"),
    (304, c"cudaErrorOperatingSystem", c"OS call failed or operation not supported on this OS"),
    (400, c"cudaErrorInvalidResourceHandle", c"invalid resource handle"),
    (401, c"cudaErrorIllegalState", c"the operation cannot be performed in the present state"),
    (402, c"cudaErrorLossyQuery", c"attempted introspection would be semantically lossy"),
    (500, c"cudaErrorSymbolNotFound", c"named symbol not found"),
    (600, c"cudaErrorNotReady", c"device not ready"),
    (700, c"cudaErrorIllegalAddress", c"an illegal memory access was encountered"),
    (701, c"cudaErrorLaunchOutOfResources", c"too many resources requested for launch"),
    (702, c"cudaErrorLaunchTimeout", c"the launch timed out and was terminated"),
    (703, c"cudaErrorLaunchIncompatibleTexturing", c"launch uses incompatible texturing mode"),
    (704, c"cudaErrorPeerAccessAlreadyEnabled", c"peer access is already enabled"),
    (705, c"cudaErrorPeerAccessNotEnabled", c"peer access has not been enabled"),
    (708, c"cudaErrorSetOnActiveProcess", c"cannot set while device is active in this process"),
    (709, c"cudaErrorContextIsDestroyed", c"context is destroyed"),
    (710, c"cudaErrorAssert", c"device-side assert triggered"),
    (711, c"cudaErrorTooManyPeers", c"peer mapping resources exhausted"),
    (712, c"cudaErrorHostMemoryAlreadyRegistered", c"part or all of the requested memory range is already mapped"),
    (713, c"cudaErrorHostMemoryNotRegistered", c"pointer does not correspond to a registered memory region"),
    (714, c"cudaErrorHardwareStackError", c"hardware stack error"),
    (715, c"cudaErrorIllegalInstruction", c"an illegal instruction was encountered"),
    (716, c"cudaErrorMisalignedAddress", c"misaligned address"),
    (717, c"cudaErrorInvalidAddressSpace", c"operation not supported on global/shared address space"),
    (718, c"cudaErrorInvalidPc", c"invalid program counter"),
    (719, c"cudaErrorLaunchFailure", c"unspecified launch failure"),
    (720, c"cudaErrorCooperativeLaunchTooLarge", c"too many blocks in cooperative launch"),
    (721, c"cudaErrorTensorMemoryLeak", c"tensor memory not completely freed"),
    (800, c"cudaErrorNotPermitted", c"operation not permitted"),
    (801, c"cudaErrorNotSupported", c"operation not supported"),
    (802, c"cudaErrorSystemNotReady", c"system not yet initialized"),
    (803, c"cudaErrorSystemDriverMismatch", c"system has unsupported display driver / cuda driver combination"),
    (804, c"cudaErrorCompatNotSupportedOnDevice", c"forward compatibility was attempted on non supported HW"),
    (805, c"cudaErrorMpsConnectionFailed", c"MPS client failed to connect to the MPS control daemon or the MPS server"),
    (806, c"cudaErrorMpsRpcFailure", c"the remote procedural call between the MPS server and the MPS client failed"),
    (807, c"cudaErrorMpsServerNotReady", c"MPS server is not ready to accept new MPS client requests"),
    (808, c"cudaErrorMpsMaxClientsReached", c"the hardware resources required to create MPS client have been exhausted"),
    (809, c"cudaErrorMpsMaxConnectionsReached", c"the hardware resources required to support device connections have been exhausted"),
    (810, c"cudaErrorMpsClientTerminated", c"the MPS client has been terminated by the server"),
    (811, c"cudaErrorCdpNotSupported", c"is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it"),
    (812, c"cudaErrorCdpVersionMismatch", c"unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    (900, c"cudaErrorStreamCaptureUnsupported", c"operation not permitted when stream is capturing"),
    (901, c"cudaErrorStreamCaptureInvalidated", c"operation failed due to a previous error during capture"),
    (902, c"cudaErrorStreamCaptureMerge", c"operation would result in a merge of separate capture sequences"),
    (903, c"cudaErrorStreamCaptureUnmatched", c"capture was not ended in the same stream as it began"),
    (904, c"cudaErrorStreamCaptureUnjoined", c"capturing stream has unjoined work"),
    (905, c"cudaErrorStreamCaptureIsolation", c"dependency created on uncaptured work in another stream"),
    (906, c"cudaErrorStreamCaptureImplicit", c"operation would make the legacy stream depend on a capturing blocking stream"),
    (907, c"cudaErrorCapturedEvent", c"operation not permitted on an event last recorded in a capturing stream"),
    (908, c"cudaErrorStreamCaptureWrongThread", c"attempt to terminate a thread-local capture sequence from another thread"),
    (909, c"cudaErrorTimeout", c"wait operation timed out"),
    (910, c"cudaErrorGraphExecUpdateFailure", c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"),
    (911, c"cudaErrorExternalDevice", c"an async error has occured in external entity outside of CUDA"),
    (912, c"cudaErrorInvalidClusterSize", c"a kernel launch error has occurred due to cluster misconfiguration"),
    (913, c"cudaErrorFunctionNotLoaded", c"the function handle is not loaded when calling an API that requires a loaded function"),
    (914, c"cudaErrorInvalidResourceType", c"one or more resources passed in are not valid resource types for the operation"),
    (915, c"cudaErrorInvalidResourceConfiguration", c"one or more resources are insufficient or non-applicable for the operation"),
    (999, c"cudaErrorUnknown", c"unknown error"),
    (10000, c"cudaErrorApiFailureBase", c"api failure base"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_ordered_and_found() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(
            CudaError::LAUNCH_PENDING_COUNT_EXCEEDED.name(),
            c"cudaErrorLaunchPendingCountExceeded"
        );
        assert_eq!(CudaError(700).text(), c"an illegal memory access was encountered");
        assert_eq!(CudaError(5000).text(), c"unrecognized error code");
        assert_eq!(CudaError(5000).name(), c"unrecognized error code");
    }
}
