//! The errors of the CUDA runtime that device code can meet: numbers, names, texts.
//! Source: the enumeration `cudaError` of the CUDA Runtime API reference.

/// `cudaErrorInvalidValue`
pub const INVALID_VALUE: u32 = 1;
/// `cudaErrorMemoryAllocation`
pub const MEMORY_ALLOCATION: u32 = 2;
/// `cudaErrorInvalidConfiguration`
pub const INVALID_CONFIGURATION: u32 = 9;
/// `cudaErrorInvalidClusterSize`
pub const INVALID_CLUSTER_SIZE: u32 = 912;
/// `cudaErrorLaunchMaxDepthExceeded`
pub const LAUNCH_MAX_DEPTH: u32 = 65;
/// `cudaErrorSyncDepthExceeded`
pub const SYNC_DEPTH: u32 = 68;
/// `cudaErrorLaunchPendingCountExceeded`
pub const LAUNCH_PENDING_COUNT: u32 = 69;
/// `cudaErrorInvalidDeviceFunction`
pub const INVALID_DEVICE_FUNCTION: u32 = 98;
/// `cudaErrorInvalidDevice`
pub const INVALID_DEVICE: u32 = 101;
/// `cudaErrorUnsupportedLimit`
pub const UNSUPPORTED_LIMIT: u32 = 215;

const TABLE: &[(u32, &str, &str)] = &[
    (0, "cudaSuccess", "no error"),
    (1, "cudaErrorInvalidValue", "invalid argument"),
    (2, "cudaErrorMemoryAllocation", "out of memory"),
    (3, "cudaErrorInitializationError", "initialization error"),
    (4, "cudaErrorCudartUnloading", "driver shutting down"),
    (9, "cudaErrorInvalidConfiguration", "invalid configuration argument"),
    (12, "cudaErrorInvalidPitchValue", "invalid pitch argument"),
    (13, "cudaErrorInvalidSymbol", "invalid device symbol"),
    (21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"),
    (
        35,
        "cudaErrorInsufficientDriver",
        "CUDA driver version is insufficient for CUDA runtime version",
    ),
    (65, "cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches"),
    (68, "cudaErrorSyncDepthExceeded", "depth of nested synchronization exceeds the limit"),
    (
        69,
        "cudaErrorLaunchPendingCountExceeded",
        "launch would exceed the limit of pending launches",
    ),
    (98, "cudaErrorInvalidDeviceFunction", "invalid device function"),
    (100, "cudaErrorNoDevice", "no CUDA-capable device is detected"),
    (101, "cudaErrorInvalidDevice", "invalid device ordinal"),
    (200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"),
    (215, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"),
    (218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"),
    (400, "cudaErrorInvalidResourceHandle", "invalid resource handle"),
    (600, "cudaErrorNotReady", "device not ready"),
    (700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    (701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"),
    (702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"),
    (710, "cudaErrorAssert", "device-side assert triggered"),
    (714, "cudaErrorHardwareStackError", "hardware stack error"),
    (715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"),
    (716, "cudaErrorMisalignedAddress", "misaligned address"),
    (717, "cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space"),
    (718, "cudaErrorInvalidPc", "invalid program counter"),
    (719, "cudaErrorLaunchFailure", "unspecified launch failure"),
    (801, "cudaErrorNotSupported", "operation not supported"),
    (812, "cudaErrorCdpVersionMismatch", "CDP version mismatch"),
    (
        912,
        "cudaErrorInvalidClusterSize",
        "a kernel launch error has occurred due to cluster misconfiguration",
    ),
    (999, "cudaErrorUnknown", "unknown error"),
];

/// What `cudaGetErrorName` gives.
pub fn name(code: u32) -> &'static str {
    TABLE.iter().find(|e| e.0 == code).map_or("unrecognized error code", |e| e.1)
}

/// What `cudaGetErrorString` gives.
pub fn text(code: u32) -> &'static str {
    TABLE.iter().find(|e| e.0 == code).map_or("unrecognized error code", |e| e.2)
}
