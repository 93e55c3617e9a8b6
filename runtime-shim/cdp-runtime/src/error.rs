//! `cudaError_t`: the codes, their names, and what `cudaGetErrorString` says of them; and the error
//! type of this crate's devices.
//!
//! Names and strings are the device runtime's, in `cdp-emulator`. Nothing here decides which call fails with what.

use std::ffi::CStr;
use std::fmt;

use cdp_emulator::cuda_error_row;

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
    pub const ALREADY_MAPPED: CudaError = CudaError(208);
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
        cuda_error_row(self.0).map_or(UNRECOGNIZED, |row| row.1)
    }

    /// What `cudaGetErrorString` returns.
    pub fn text(self) -> &'static CStr {
        cuda_error_row(self.0).map_or(UNRECOGNIZED, |row| row.2)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_found() {
        assert_eq!(
            CudaError::LAUNCH_PENDING_COUNT_EXCEEDED.name(),
            c"cudaErrorLaunchPendingCountExceeded"
        );
        assert_eq!(CudaError(700).text(), c"an illegal memory access was encountered");
        assert_eq!(CudaError(5000).text(), c"unrecognized error code");
        assert_eq!(CudaError(5000).name(), c"unrecognized error code");
    }
}
