//! The macros that nvcc predefines, by compilation pass and architecture.

/// Which of the two passes over a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// For an architecture as in `sm_90`: `arch` is 90; `__CUDA_ARCH__` is ten times that.
    Device {
        arch: u32,
        /// The letter of `sm_90a` or `sm_100f`.
        suffix: Option<char>,
    },
    Host,
}

/// The predefined macros of a pass, for
/// [`PreprocessOptions::predefined`](super::PreprocessOptions::predefined).
///
/// `pointer_bits` is 64 or 32; `cdp2` is false when the device runtime is CDP1.
pub fn predefined(pass: Pass, pointer_bits: u32, cdp2: bool) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: &str| list.push((name.to_owned(), value.to_owned()));
    for (name, value) in COMMON {
        add(name, value);
    }
    for (name, value) in if pointer_bits == 32 { ILP32 } else { LP64 } {
        add(name, value);
    }
    if let Pass::Device { arch, suffix } = pass {
        add("__CUDA_ARCH__", &(arch * 10).to_string());
        add("__CUDA_ARCH_LIST__", &(arch * 10).to_string());
        match suffix {
            Some('a') => {
                add("__CUDA_ARCH_SPECIFIC__", &(arch * 10).to_string());
                add(&format!("__CUDA_ARCH_FEAT_SM{arch}_ALL"), "1");
            }
            Some('f') => add("__CUDA_ARCH_FAMILY_SPECIFIC__", &(arch * 10).to_string()),
            _ => {}
        }
        add("__CUDACC_RDC__", "1");
    } else {
        add("__CUDACC_RDC__", "1");
    }
    if !cdp2 {
        add("CUDA_FORCE_CDP1_IF_SUPPORTED", "1");
    }
    list
}

const COMMON: &[(&str, &str)] = &[
    ("__CDPC__", "1"),
    ("__CUDACC__", "1"),
    ("__NVCC__", "1"),
    ("__CUDACC_VER_MAJOR__", "13"),
    ("__CUDACC_VER_MINOR__", "0"),
    ("__CUDACC_VER_BUILD__", "88"),
    ("__CUDA_API_VER_MAJOR__", "13"),
    ("__CUDA_API_VER_MINOR__", "0"),
    ("CUDART_VERSION", "13000"),
    ("CUDA_VERSION", "13000"),
    ("CUDART_CB", ""),
    ("CUDARTAPI", ""),
    ("CUDARTAPI_CDECL", ""),
    ("CUDA_CB", ""),
    ("__cplusplus", "201703L"),
    ("__STDC__", "1"),
    ("__STDC_HOSTED__", "1"),
    ("__GNUC__", "12"),
    ("__GNUC_MINOR__", "2"),
    ("__GNUC_PATCHLEVEL__", "0"),
    ("__GNUG__", "12"),
    ("_GNU_SOURCE", "1"),
    ("__EXCEPTIONS", "1"),
    ("__linux__", "1"),
    ("__linux", "1"),
    ("linux", "1"),
    ("__gnu_linux__", "1"),
    ("__unix__", "1"),
    ("__unix", "1"),
    ("unix", "1"),
    ("__ELF__", "1"),
    ("__CHAR_BIT__", "8"),
    ("__BYTE_ORDER__", "__ORDER_LITTLE_ENDIAN__"),
    ("__ORDER_LITTLE_ENDIAN__", "1234"),
    ("__ORDER_BIG_ENDIAN__", "4321"),
    ("__ORDER_PDP_ENDIAN__", "3412"),
    ("__SIZEOF_SHORT__", "2"),
    ("__SIZEOF_INT__", "4"),
    ("__SIZEOF_LONG_LONG__", "8"),
    ("__SIZEOF_FLOAT__", "4"),
    ("__SIZEOF_DOUBLE__", "8"),
    ("__SIZEOF_WCHAR_T__", "4"),
    ("__SCHAR_MAX__", "127"),
    ("__SHRT_MAX__", "32767"),
    ("__INT_MAX__", "2147483647"),
    ("__LONG_LONG_MAX__", "9223372036854775807LL"),
    ("__WCHAR_TYPE__", "int"),
    ("__INT8_TYPE__", "signed char"),
    ("__INT16_TYPE__", "short int"),
    ("__INT32_TYPE__", "int"),
    ("__UINT8_TYPE__", "unsigned char"),
    ("__UINT16_TYPE__", "short unsigned int"),
    ("__UINT32_TYPE__", "unsigned int"),
    ("__FLT_EPSILON__", "1.1920928955078125e-7F"),
    ("__FLT_MAX__", "3.40282346638528859811704183484516925e+38F"),
    ("__FLT_MIN__", "1.17549435082228750796873653722224568e-38F"),
    ("__DBL_EPSILON__", "2.22044604925031308084726333618164062e-16"),
    ("__DBL_MAX__", "1.79769313486231570814527423731704357e+308"),
    ("__DBL_MIN__", "2.22507385850720138309023271733240406e-308"),
];

/// 64-bit addresses, as on x86-64 Linux.
const LP64: &[(&str, &str)] = &[
    ("__x86_64__", "1"),
    ("__x86_64", "1"),
    ("__amd64__", "1"),
    ("__amd64", "1"),
    ("__LP64__", "1"),
    ("_LP64", "1"),
    ("__SIZEOF_LONG__", "8"),
    ("__SIZEOF_POINTER__", "8"),
    ("__SIZEOF_SIZE_T__", "8"),
    ("__SIZEOF_PTRDIFF_T__", "8"),
    ("__LONG_MAX__", "9223372036854775807L"),
    ("__SIZE_TYPE__", "long unsigned int"),
    ("__PTRDIFF_TYPE__", "long int"),
    ("__INT64_TYPE__", "long int"),
    ("__UINT64_TYPE__", "long unsigned int"),
    ("__INTPTR_TYPE__", "long int"),
    ("__UINTPTR_TYPE__", "long unsigned int"),
    ("__SIZE_MAX__", "18446744073709551615UL"),
];

/// 32-bit addresses, as on i386 Linux.
const ILP32: &[(&str, &str)] = &[
    ("__i386__", "1"),
    ("__i386", "1"),
    ("__SIZEOF_LONG__", "4"),
    ("__SIZEOF_POINTER__", "4"),
    ("__SIZEOF_SIZE_T__", "4"),
    ("__SIZEOF_PTRDIFF_T__", "4"),
    ("__LONG_MAX__", "2147483647L"),
    ("__SIZE_TYPE__", "unsigned int"),
    ("__PTRDIFF_TYPE__", "int"),
    ("__INT64_TYPE__", "long long int"),
    ("__UINT64_TYPE__", "long long unsigned int"),
    ("__INTPTR_TYPE__", "int"),
    ("__UINTPTR_TYPE__", "unsigned int"),
    ("__SIZE_MAX__", "4294967295U"),
];
