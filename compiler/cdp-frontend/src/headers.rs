//! The system headers: C library and CUDA headers that are part of the compiler.
//!
//! A `.cdp` file never reads the machine's own `/usr/include`; what these headers declare is what
//! the checker and the runtime provide. CUDA's own functions and types, and what device code shares
//! with the C library (`printf`, `malloc`, `memcpy`, the mathematical functions), are known to the
//! checker without any header, so no header declares them.

/// Texts, each with the names that it is included by. Headers of the text `empty.h` differ by what including
/// them says.
macro_rules! headers {
    ($($file:literal: $($name:literal)*;)*) => {
        /// The names, as written between `<` and `>`.
        pub const NAMES: &[&str] = &[$($($name),*),*];

        /// A header by name: the name of its text, which `<cstdlib>` and `<stdlib.h>` share, and
        /// the text.
        pub fn find(name: &str) -> Option<(&'static str, &'static str)> {
            let (name, file, text) = match name {
                $($($name => ($name, $file, include_str!(concat!("headers/", $file))),)*)*
                _ => return None,
            };
            Some((if file == "empty.h" { name } else { file }, text))
        }
    };
}

headers! {
    "stddef.h": "stddef.h" "cstddef";
    "stdint.h": "stdint.h" "cstdint";
    "limits.h": "limits.h" "climits";
    "float.h": "float.h" "cfloat";
    "stdbool.h": "stdbool.h" "cstdbool";
    "stdarg.h": "stdarg.h" "cstdarg";
    "stdio.h": "stdio.h" "cstdio";
    "stdlib.h": "stdlib.h" "cstdlib" "malloc.h";
    "string.h": "string.h" "cstring" "strings.h" "memory.h";
    "math.h": "math.h" "cmath";
    "time.h": "time.h" "ctime";
    "ctype.h": "ctype.h" "cctype";
    "errno.h": "errno.h" "cerrno";
    "assert.h": "assert.h" "cassert";
    "inttypes.h": "inttypes.h" "cinttypes";
    "math_constants.h": "math_constants.h";
    "empty.h": "cuda_runtime.h" "cuda_runtime_api.h" "cuda_device_runtime_api.h" "cuda.h"
        "device_launch_parameters.h" "device_functions.h" "device_atomic_functions.h"
        "device_types.h" "driver_types.h" "builtin_types.h" "channel_descriptor.h"
        "texture_types.h" "surface_types.h" "texture_fetch_functions.h" "surface_functions.h"
        "texture_indirect_functions.h" "surface_indirect_functions.h" "vector_types.h"
        "vector_functions.h" "vector_functions.hpp" "host_defines.h" "host_config.h"
        "math_functions.h" "device_double_functions.h" "common_functions.h"
        "crt/device_functions.h" "crt/math_functions.h" "library_types.h"
        "sm_20_atomic_functions.h" "sm_20_intrinsics.h" "sm_30_intrinsics.h"
        "sm_32_atomic_functions.h" "sm_32_intrinsics.h" "sm_35_atomic_functions.h"
        "sm_35_intrinsics.h" "sm_60_atomic_functions.h" "sm_61_intrinsics.h" "sm_70_rt.h"
        "sm_80_rt.h" "sm_90_rt.h" "cuda_occupancy.h" "cuda_profiler_api.h" "cuda_fp16.h"
        "cuda_bf16.h" "stdalign.h" "iso646.h" "ciso646" "cuda_texture_types.h"
        "cuda_surface_types.h" "crt/host_defines.h" "sys/types.h" "alloca.h";
    "unistd.h": "unistd.h";
    "sys_time.h": "sys/time.h";
    "cuComplex.h": "cuComplex.h";
}

/// The header of the C library that declares a function or variable, or defines a macro, of this name.
pub fn declaring(name: &str) -> Option<&'static str> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    NAMES.iter().copied().filter(|header| header.ends_with(".h")).find(|header| {
        let text = find(header).map_or("", |(_, text)| text);
        text.match_indices(name).any(|(at, _)| {
            let line = text[..at].rsplit('\n').next().unwrap_or_default();
            // What stands in brackets is a parameter, a member or in a body, and bodies are indented.
            let is_outside = |[open, close]: [char; 2]| {
                line.matches(open).count() == line.matches(close).count()
            };
            !line.ends_with(part)
                && text[at + name.len()..].starts_with(['(', ';', ' '])
                && !line.contains("//")
                && !line.contains("/*")
                && !line.starts_with([' ', '\t'])
                && is_outside(['(', ')'])
                && is_outside(['{', '}'])
        })
    })
}

/// The header of the C library that declares a type of this name.
pub fn declaring_type(name: &str) -> Option<&'static str> {
    let declares = |line: &str| match line.strip_prefix("typedef ") {
        Some(rest) => rest.trim_end_matches(';').rsplit([' ', '*']).next() == Some(name),
        None => line.strip_prefix("struct ").and_then(|rest| rest.strip_suffix(" {")) == Some(name),
    };
    let mut headers = NAMES.iter().copied().filter(|header| header.ends_with(".h"));
    headers.find(|header| find(header).is_some_and(|(_, text)| text.lines().any(declares)))
}

/// Headers that a program might ask for and the subset has no place for, in paragraphs: what they are, and below
/// it their names, or with `*` how these begin.
pub fn all_outside() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("headers/outside.txt").split("\n\n").filter_map(|text| text.split_once('\n'))
}

/// For such a header: what it is.
pub fn outside(name: &str) -> Option<&'static str> {
    let is = |known: &str| match known.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == known,
    };
    all_outside().find(|(_, names)| names.split_whitespace().any(is)).map(|(what, _)| what)
}

#[cfg(test)]
mod tests {
    use super::declaring_type;

    #[test]
    fn types_are_found_where_they_are_declared() {
        for (name, header) in [
            ("size_t", Some("stddef.h")),
            ("uint_fast8_t", Some("stdint.h")),
            ("va_list", Some("stdarg.h")),
            ("FILE", Some("stdio.h")),
            ("ldiv_t", Some("stdlib.h")),
            ("tm", Some("time.h")),
            ("timeval", Some("sys/time.h")),
            ("ssize_t", Some("unistd.h")),
            // What merely looks like one, and functions.
            ("integer_t", None),
            ("max_align_t", None),
            ("abs", None),
            ("", None),
        ] {
            assert_eq!(declaring_type(name), header, "{name}");
        }
    }
}
