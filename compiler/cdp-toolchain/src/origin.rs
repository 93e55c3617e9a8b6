//! Where a CUDA toolkit was looked for, in words.

use std::fmt;
use std::path::PathBuf;

/// How a toolkit came to be considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolkitOrigin {
    /// `--cuda-path`, or the embedder's [`crate::SearchOptions::cuda_path`].
    Explicit,
    /// The environment variable `CUDA_HOME`.
    CudaHome,
    /// The environment variable `CUDA_PATH`.
    CudaPath,
    /// `ptxas` in a folder of `PATH`.
    Path,
    /// [`crate::SearchOptions::system_root`].
    System,
    /// A folder of `CDP_TOOLCHAIN` or of a `.toolchain` folder.
    Toolchain,
}

impl ToolkitOrigin {
    /// Whether the user asked for this very toolkit.
    pub(crate) fn is_named(self) -> bool {
        matches!(self, ToolkitOrigin::Explicit | ToolkitOrigin::CudaHome | ToolkitOrigin::CudaPath)
    }
}

impl fmt::Display for ToolkitOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ToolkitOrigin::Explicit => "--cuda-path",
            ToolkitOrigin::CudaHome => "CUDA_HOME",
            ToolkitOrigin::CudaPath => "CUDA_PATH",
            ToolkitOrigin::Path => "PATH",
            ToolkitOrigin::System => "system",
            ToolkitOrigin::Toolchain => ".toolchain",
        })
    }
}

/// A place that was looked at, for error messages and `cdpc doctor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedPlace {
    /// Why it was looked at.
    pub origin: ToolkitOrigin,
    /// The folder; empty when the origin named none.
    pub path: PathBuf,
    /// What was there, in words.
    pub found: String,
}

impl fmt::Display for SearchedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if !self.path.as_os_str().is_empty() {
            write!(f, " {}", self.path.display())?;
        }
        write!(f, ": {}", self.found)
    }
}
