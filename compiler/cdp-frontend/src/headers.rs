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

        /// A header by name: its name and text.
        pub fn find(name: &str) -> Option<(&'static str, &'static str)> {
            match name {
                $($name => Some(($name, include_str!(concat!("headers/", $file)))),)*
                _ => None,
            }
        }
    };
}

headers! {
    "stddef.h" => "stddef.h"
}

/// For a header that a C++ program might ask for and the subset has no place for: what it is.
pub fn outside(name: &str) -> Option<&'static str> {
    const CXX: &[&str] = &[
        "algorithm",
        "any",
        "array",
        "atomic",
        "barrier",
        "bit",
        "bitset",
        "charconv",
        "chrono",
        "codecvt",
        "compare",
        "complex",
        "concepts",
        "condition_variable",
        "coroutine",
        "deque",
        "exception",
        "execution",
        "expected",
        "filesystem",
        "format",
        "forward_list",
        "fstream",
        "functional",
        "future",
        "initializer_list",
        "iomanip",
        "ios",
        "iosfwd",
        "iostream",
        "istream",
        "iterator",
        "latch",
        "list",
        "locale",
        "map",
        "memory",
        "memory_resource",
        "mutex",
        "new",
        "numbers",
        "numeric",
        "optional",
        "ostream",
        "queue",
        "random",
        "ranges",
        "ratio",
        "regex",
        "scoped_allocator",
        "semaphore",
        "set",
        "shared_mutex",
        "source_location",
        "span",
        "sstream",
        "stack",
        "stdexcept",
        "stop_token",
        "streambuf",
        "string",
        "string_view",
        "strstream",
        "syncstream",
        "system_error",
        "thread",
        "tuple",
        "type_traits",
        "typeindex",
        "typeinfo",
        "unordered_map",
        "unordered_set",
        "utility",
        "valarray",
        "variant",
        "vector",
        "version",
    ];
    let cuda_cxx =
        ["cooperative_groups", "cuda/", "thrust/", "cub/", "nv/", "cute/", "cutlass/", "mma.h"];
    if CXX.contains(&name) {
        Some("it is part of the C++ standard library")
    } else if cuda_cxx.iter().any(|prefix| name.starts_with(prefix)) {
        Some("it is a C++ template library")
    } else {
        None
    }
}
