//! Headers that clang's own want and no toolkit has any more, and those of NVIDIA's samples, of our own
//! writing, for programs that include them and have none.

use std::path::{Path, PathBuf};

use cdp_toolchain::Job;

use crate::digest::Digest;
use crate::error::Error;
use crate::options::CompileOptions;

/// Folder, name and text. Those in `lacking` are always found, those in `samples` after all others; `before` has those of
/// [`OF_WRAPPER`] and [`OF_CURAND`].
const FILES: &[(&str, &str)] = &[
    ("lacking/__cdp_atomics.h", include_str!("headers/__cdp_atomics.h")),
    ("lacking/__cdp_builtins.h", include_str!("headers/__cdp_builtins.h")),
    ("lacking/__cdp_cache.h", include_str!("headers/__cdp_cache.h")),
    ("lacking/__cdp_cuda.h", include_str!("headers/__cdp_cuda.h")),
    ("lacking/__cdp_toolkit_12.h", include_str!("headers/__cdp_toolkit_12.h")),
    ("lacking/type_traits", include_str!("headers/type_traits")),
    ("samples/cuda_profiler_api.h", include_str!("headers/cuda_profiler_api.h")),
    ("samples/exception.h", include_str!("headers/exception.h")),
    ("samples/helper_cuda.h", include_str!("headers/helper_cuda.h")),
    ("samples/helper_cuda_drvapi.h", include_str!("headers/helper_cuda_drvapi.h")),
    ("samples/helper_functions.h", include_str!("headers/helper_functions.h")),
    ("samples/helper_image.h", include_str!("headers/helper_image.h")),
    ("samples/helper_math.h", include_str!("headers/helper_math.h")),
    ("samples/helper_string.h", include_str!("headers/helper_string.h")),
    ("samples/helper_timer.h", include_str!("headers/helper_timer.h")),
];

/// Headers of CUDA's that clang's wrapper includes by names that a program may have for files of its own (`cuda.h` above
/// all), which `-I` finds first.
const OF_WRAPPER: &[&str] = &["cuda.h", "driver_types.h", "host_config.h", "host_defines.h"];

/// The part of cuRAND that clang's wrapper includes in every file, and that it cannot take: ours stands in its place until the
/// program begins.
const OF_CURAND: (&str, &str) =
    ("curand_mtgp32_kernel.h", include_str!("headers/curand_mtgp32_kernel.h"));

/// Whether a folder that a program gives by `-I` (a whole toolkit's is one) has a header by such a name: the folder `before`
/// then goes before it.
pub(super) fn hides_cudas(folder: &Path) -> bool {
    OF_WRAPPER.iter().chain([&OF_CURAND.0]).any(|name| folder.join(name).is_file())
}

/// A header by such a name: CUDA's until the program begins, then the program's. No other folder with a folder `crt` in it
/// is likely.
fn before(name: &str) -> (String, String) {
    let text = format!(
        "#ifdef __CDP_BEGUN\n#include_next <{name}>\n#else\n#include <crt/../{name}>\n#endif\n"
    );
    (format!("before/{name}"), text)
}

/// The folder with the headers: in the cache if there is one, else in the job's.
pub(super) fn folder(job: &Job, options: &CompileOptions) -> Result<PathBuf, Error> {
    // Another compiler may have other headers.
    let name = format!("headers-{}", digest());
    if let Some(cache) = &options.cache_dir {
        let folder = cache.join(name);
        if folder.is_dir() || make_whole(cache, &folder).is_ok() {
            return Ok(folder);
        }
    }
    let folder = job.work_dir().join("headers");
    if !job.is_dry_run() && !folder.is_dir() {
        write_all(&folder).map_err(|source| Error::Io {
            action: "write headers into".into(),
            path: folder.clone(),
            source,
        })?;
    }
    Ok(folder)
}

/// What tells these headers from those of another compiler.
pub(super) fn digest() -> String {
    let mut digest = Digest::new();
    all().for_each(|(name, text)| {
        digest.add(name);
        digest.add(text);
    });
    digest.finish()
}

/// Names and texts.
fn all() -> impl Iterator<Item = (String, String)> {
    let known = FILES.iter().map(|&(name, text)| (name.to_owned(), text.to_owned()));
    let (name, text) = OF_CURAND;
    // `lacking` serves where no folder of the program's has cuRAND.
    let curand = ["before", "lacking"].map(|folder| (format!("{folder}/{name}"), text.to_owned()));
    known.chain(OF_WRAPPER.iter().map(|name| before(name))).chain(curand)
}

/// Makes the folder under another name, so that it is whole when it is there.
fn make_whole(cache: &Path, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(cache)?;
    let temporary = tempfile::Builder::new().prefix(".headers-").tempdir_in(cache)?;
    write_all(temporary.path())?;
    match std::fs::rename(temporary.path(), folder) {
        Ok(()) => {
            // It has another name now.
            let _ = temporary.keep();
            Ok(())
        }
        // Another process was faster.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

fn write_all(folder: &Path) -> std::io::Result<()> {
    for (name, text) in all() {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::FILES;

    /// What is read before every program's first line.
    const ALWAYS: [&str; 4] =
        ["__cdp_atomics.h", "__cdp_builtins.h", "__cdp_cache.h", "__cdp_cuda.h"];

    /// Words that the language, the C library and CUDA's headers use themselves, so that a program which `-D`s them does not
    /// compile by nvcc either; names of CUDA's that are declared here; a macro of a library's, defined where nobody has; parameters
    /// of macros.
    const TAKEN: &str = "CUDART_VERSION CUDA_FORCE_CDP1_IF_SUPPORTED CUTLASS_GRID_CONSTANT S T U a add align_val_t alignment alignof and \
        annotate array asm atomicAdd atomicCAS atomicExch attributes b b32 b64 base blockDim blockIdx bool brackets buffer bytes c \
        char compare const count cudaDeviceSynchronize cudaError_t cudaEventRecord cudaEventRecordWithFlags \
        cudaEvent_t cudaExtent cudaFuncAttributes cudaFuncGetAttributes cudaLaunchDevice cudaMalloc \
        cudaMemcpy2DAsync cudaMemcpy3DAsync cudaMemcpy3DParms cudaMemcpyAsync cudaMemcpyKind cudaMemset2DAsync \
        cudaMemset3DAsync cudaMemsetAsync cudaOccupancyMaxActiveBlocksPerMultiprocessor \
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cudaPitchedPtr cudaStreamWaitEvent cudaStream_t \
        cudaTextureObject_t define defined delete device dim3 double else enable_if endif event exch extent extern \
        f32 f64 failure false first flags float float2 float4 for free from functional gridDim h head height if \
        ifdef include index initializer_list inline instruction int is_for kernel kind llmax llmin long malloc math \
        max means memset min name namespace new noexcept nothrow_t nullptr once operator or pitch pow pragma pure \
        reinterpret_cast result return s32 s64 scope section short size_t sizeof static static_assert static_cast \
        std stdlib stream string strncpy struct sub success suffix tail template threadIdx time to true type type32 \
        type64 typedef typename types u32 u64 uint3 ullmax ullmin umax umin undef union unsigned using utility v \
        value void volatile w what width x xor y z";

    /// A build defines macros by its own names (`-DBLOCK=16`, `-DF=1`): names of ours that it could hit are reserved ones.
    #[test]
    fn names_are_reserved() {
        let taken: BTreeSet<&str> = TAKEN.split_whitespace().collect();
        let mut found = 0;
        for (file, text) in
            FILES.iter().filter(|(file, _)| ALWAYS.iter().any(|n| file.ends_with(n)))
        {
            for name in names(text) {
                assert!(
                    name.contains("__") || name.starts_with('_') || taken.contains(name),
                    "{file}: a program may define a macro `{name}`: begin it with `__`"
                );
                found += 1;
            }
        }
        assert!(found > 1000, "{found} names");
    }

    /// The words of a text, without comments and strings.
    fn names(text: &str) -> Vec<&str> {
        let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        let outside = code.flat_map(|line| line.split('"').step_by(2));
        let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
        outside
            .flat_map(move |part| part.split(move |c| !word(c)))
            .filter(|name| name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()))
            .collect()
    }
}
