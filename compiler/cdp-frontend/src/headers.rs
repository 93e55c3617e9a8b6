//! The system headers: C library and CUDA headers that are part of the compiler.
//!
//! A `.cdp` file never reads the machine's own `/usr/include`; what these headers declare is what
//! the checker and the runtime provide. CUDA's own functions and types, and what device code shares
//! with the C library (`printf`, `malloc`, `memcpy`, the mathematical functions), are known to the
//! checker without any header, so no header declares them.

/// Pairs of names and texts.
macro_rules! headers {
    ($($name:literal => $file:literal)*) => {
        /// The names, as written between `<` and `>`.
        pub const NAMES: &[&str] = &[$($name),*];

        /// A header by name: the name of its text, which `<cstdlib>` and `<stdlib.h>` share, and
        /// the text.
        pub fn find(name: &str) -> Option<(&'static str, &'static str)> {
            match name {
                $($name => {
                    // Headers without a text differ by what including them says.
                    let text = if $file == "empty.h" { $name } else { $file };
                    Some((text, include_str!(concat!("headers/", $file))))
                })*
                _ => None,
            }
        }
    };
}

headers! {
    "stddef.h" => "stddef.h"
    "stdint.h" => "stdint.h"
    "limits.h" => "limits.h"
    "float.h" => "float.h"
    "stdbool.h" => "stdbool.h"
    "stdio.h" => "stdio.h"
    "stdlib.h" => "stdlib.h"
    "string.h" => "string.h"
    "math.h" => "math.h"
    "time.h" => "time.h"
    "ctype.h" => "ctype.h"
    "errno.h" => "errno.h"
    "assert.h" => "assert.h"
    "inttypes.h" => "inttypes.h"
    "cstddef" => "stddef.h"
    "cstdint" => "stdint.h"
    "climits" => "limits.h"
    "cfloat" => "float.h"
    "cstdbool" => "stdbool.h"
    "cstdio" => "stdio.h"
    "cstdlib" => "stdlib.h"
    "cstring" => "string.h"
    "cmath" => "math.h"
    "ctime" => "time.h"
    "cctype" => "ctype.h"
    "cerrno" => "errno.h"
    "cassert" => "assert.h"
    "cinttypes" => "inttypes.h"
    "strings.h" => "string.h"
    "malloc.h" => "stdlib.h"
    "memory.h" => "string.h"
    "math_constants.h" => "math_constants.h"
    "cuda_runtime.h" => "empty.h"
    "cuda_runtime_api.h" => "empty.h"
    "cuda_device_runtime_api.h" => "empty.h"
    "cuda.h" => "empty.h"
    "device_launch_parameters.h" => "empty.h"
    "device_functions.h" => "empty.h"
    "device_atomic_functions.h" => "empty.h"
    "device_types.h" => "empty.h"
    "driver_types.h" => "empty.h"
    "builtin_types.h" => "empty.h"
    "channel_descriptor.h" => "empty.h"
    "texture_types.h" => "empty.h"
    "surface_types.h" => "empty.h"
    "texture_fetch_functions.h" => "empty.h"
    "surface_functions.h" => "empty.h"
    "texture_indirect_functions.h" => "empty.h"
    "surface_indirect_functions.h" => "empty.h"
    "vector_types.h" => "empty.h"
    "vector_functions.h" => "empty.h"
    "vector_functions.hpp" => "empty.h"
    "host_defines.h" => "empty.h"
    "host_config.h" => "empty.h"
    "math_functions.h" => "empty.h"
    "device_double_functions.h" => "empty.h"
    "common_functions.h" => "empty.h"
    "crt/device_functions.h" => "empty.h"
    "crt/math_functions.h" => "empty.h"
    "library_types.h" => "empty.h"
    "sm_20_atomic_functions.h" => "empty.h"
    "sm_20_intrinsics.h" => "empty.h"
    "sm_30_intrinsics.h" => "empty.h"
    "sm_32_atomic_functions.h" => "empty.h"
    "sm_32_intrinsics.h" => "empty.h"
    "sm_35_atomic_functions.h" => "empty.h"
    "sm_35_intrinsics.h" => "empty.h"
    "sm_60_atomic_functions.h" => "empty.h"
    "sm_61_intrinsics.h" => "empty.h"
    "sm_70_rt.h" => "empty.h"
    "sm_80_rt.h" => "empty.h"
    "sm_90_rt.h" => "empty.h"
    "cuda_occupancy.h" => "empty.h"
    "cuda_profiler_api.h" => "empty.h"
    "cuda_fp16.h" => "empty.h"
    "cuda_bf16.h" => "empty.h"
    "unistd.h" => "unistd.h"
    "sys/time.h" => "sys_time.h"
    "stdarg.h" => "stdarg.h"
    "cstdarg" => "stdarg.h"
    "stdalign.h" => "empty.h"
    "iso646.h" => "empty.h"
    "ciso646" => "empty.h"
    "cuComplex.h" => "cuComplex.h"
    "cuda_texture_types.h" => "empty.h"
    "cuda_surface_types.h" => "empty.h"
    "crt/host_defines.h" => "empty.h"
    "sys/types.h" => "empty.h"
    "alloca.h" => "empty.h"
}

/// Headers of the C++ standard library.
#[rustfmt::skip]
pub(crate) const CXX: &[&str] = &[
    "algorithm", "any", "array", "atomic", "barrier", "bit", "bitset", "charconv", "chrono",
    "codecvt", "compare", "complex", "concepts", "condition_variable", "coroutine", "deque",
    "exception", "execution", "expected", "filesystem", "format", "forward_list", "fstream",
    "functional", "future", "initializer_list", "iomanip", "ios", "iosfwd", "iostream", "istream",
    "iterator", "latch", "limits", "list", "locale", "map", "memory", "memory_resource", "mutex", "new",
    "numbers", "numeric", "optional", "ostream", "queue", "random", "ranges", "ratio", "regex",
    "scoped_allocator", "semaphore", "set", "shared_mutex", "source_location", "span", "sstream",
    "stack", "stdexcept", "stop_token", "streambuf", "string", "string_view", "strstream",
    "syncstream", "system_error", "thread", "tuple", "type_traits", "typeindex", "typeinfo",
    "unordered_map", "unordered_set", "utility", "valarray", "variant", "vector", "version",
];

/// How the names of CUDA's C++ headers begin.
pub(crate) const CUDA_CXX: &[&str] = &[
    "cooperative_groups",
    "cuda/",
    "thrust/",
    "cub/",
    "nv/",
    "cute/",
    "cutlass/",
    "mma.h",
    "cuda_pipeline",
    "cuda_fp8",
    "cuda_fp4",
    "cuda_fp6",
    "cuda_awbarrier",
];

/// How the names of headers of other CUDA libraries begin.
pub(crate) const LIBRARIES: &[&str] = &[
    "cublas", "cudnn", "cufft", "curand", "cusolver", "cusparse", "npp", "nvml", "nvrtc", "nvtx",
    "nccl",
];

/// For a header that a C++ program might ask for and the subset has no place for: what it is.
pub fn outside(name: &str) -> Option<&'static str> {
    if LIBRARIES.iter().any(|prefix| name.starts_with(prefix)) {
        Some("it belongs to a library beside the CUDA runtime")
    } else if CXX.contains(&name) {
        Some("it is part of the C++ standard library")
    } else if CUDA_CXX.iter().any(|prefix| name.starts_with(prefix)) {
        Some("it is a C++ library of templates and classes")
    } else {
        None
    }
}
