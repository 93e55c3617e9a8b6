//! CUDA's headers in a form that clang reads faster, kept in the cache.

use std::ffi::OsString;
use std::path::Path;

use cdp_toolchain::{ClangRequest, Job};

use super::Half;
use crate::error::Error;
use crate::options::CompileOptions;

/// What to add to a command so that the kept form is used; nothing without a cache.
pub(super) fn find(
    _job: &Job,
    _clang: &Path,
    _half: Half,
    _options: &CompileOptions,
    _request: &ClangRequest,
) -> Result<Vec<OsString>, Error> {
    Ok(Vec::new())
}
