//! Watching programs: how long they may run, and what the CPU device records and finds.

use std::sync::Arc;
use std::time::Duration;

use cdp_emulator::Report;

use crate::error::{CudaError, DeviceError, Result};

fn no_record() -> DeviceError {
    let detail = "only the CPU device records what kernels do; on a GPU use Nsight Systems and Nsight Compute";
    DeviceError::new(CudaError::NOT_SUPPORTED, detail)
}

/// What a device tells of the programs that it runs. What stands here is a GPU's answer.
pub trait Watching {
    /// Ends the program with `cudaErrorLaunchTimeout` when its kernels run longer than this from now on;
    /// `None` for no limit. On the CPU device; a GPU's kernels run as long as the driver lets them.
    fn set_timeout(&self, _timeout: Option<Duration>) -> Result<()> {
        Ok(())
    }
    /// Begins or ends the record of grids that [`Watching::trace_json`] tells; what was recorded stays.
    ///
    /// # Errors
    /// `cudaErrorNotSupported` on a GPU, whose tools are NVIDIA's.
    fn set_trace(&self, _on: bool) -> Result<()> {
        Err(no_record())
    }
    /// Waits for all work, and gives the recorded grids as Chrome trace JSON.
    ///
    /// # Errors
    /// As [`Watching::set_trace`], and faults.
    fn trace_json(&self) -> Result<String> {
        Err(no_record())
    }
    /// Waits for all work, and gives what each kernel did since the device was opened, as JSON.
    ///
    /// # Errors
    /// As [`Watching::trace_json`].
    fn profile_json(&self) -> Result<String> {
        Err(no_record())
    }
    /// Waits for all work, and gives what the checks that were asked for have found since the last call, one
    /// report for each pair of source places; and memory that is allocated now, if leaks are looked for. What
    /// ended the program, if anything did, is told by other calls.
    ///
    /// # Errors
    /// [`CudaError::NOT_SUPPORTED`] on a GPU.
    fn findings(&self) -> Result<Vec<Arc<Report>>> {
        let detail = "only the CPU device checks programs; on a GPU use compute-sanitizer";
        Err(DeviceError::new(CudaError::NOT_SUPPORTED, detail))
    }
}
