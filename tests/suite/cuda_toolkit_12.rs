//! A program for CUDA 12 with CUDA 12's headers: calls and structures that CUDA 13 has otherwise. Ignored without that
//! toolkit, of which set-up fetches the part with the headers.

use std::path::PathBuf;

use crate::cuda::{folder, succeed};
use crate::support::{Outcome, cases, read, root, same};

/// The toolkit that set-up fetches.
fn toolkit() -> PathBuf {
    root().join(".toolchain/cuda-12.9")
}

/// Whether it is there.
pub fn is_there() -> bool {
    toolkit().join("include/cuda_runtime_api.h").is_file()
}

/// With the streams of either default, for which the calls have other symbols.
pub fn calls() -> Outcome {
    let folder = folder()?;
    let source = cases("toolkit_12").join("calls.cu").display().to_string();
    let kit = toolkit().display().to_string();
    let plain = ["run", "--device", "cpu", "-Wno-clang", "--cuda-path", &kit, &source];
    let per_thread = [&plain[..], &["--default-stream", "per-thread"]].concat();
    for args in [&plain[..], &per_thread] {
        let printed = succeed(folder.path(), args)?;
        same(&args.join(" "), &printed, &read(&cases("toolkit_12").join("calls.out"))?)?;
    }
    Ok(())
}
