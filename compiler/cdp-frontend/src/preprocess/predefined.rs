//! The macros that nvcc predefines, by compilation pass and architecture.

use std::borrow::Cow;

/// What a pass is compiled for.
#[derive(Clone, Debug)]
pub struct Target {
    /// `__CUDA_ARCH__` (900 for sm_90); `None` for the host pass.
    pub cuda_arch: Option<u32>,
    /// The letter of `sm_90a` or `sm_100f`.
    pub arch_suffix: Option<char>,
    /// 8 or 4.
    pub pointer_bytes: u64,
    /// The device runtime is CDP1.
    pub cdp1: bool,
    /// Any optimisation level but 0.
    pub optimised: bool,
    /// `-G`
    pub debug: bool,
    /// `-use_fast_math`
    pub fast_math: bool,
}

impl Target {
    /// The device pass for `sm_<arch>`, with the defaults of the command line.
    pub fn device(arch: u32) -> Self {
        Target { cuda_arch: Some(arch * 10), ..Target::host(8) }
    }

    /// The host pass.
    pub fn host(pointer_bytes: u64) -> Self {
        Target {
            cuda_arch: None,
            arch_suffix: None,
            pointer_bytes,
            cdp1: false,
            optimised: true,
            debug: false,
            fast_math: false,
        }
    }
}

/// A name and its replacement.
pub type Predefined = (Cow<'static, str>, Cow<'static, str>);

/// The predefined macros of a pass, for
/// [`PreprocessOptions::predefined`](super::PreprocessOptions::predefined).
pub fn macros(target: &Target) -> Vec<Predefined> {
    let narrow = target.pointer_bytes == 4;
    let machine = MACHINE[usize::from(narrow)].iter().map(|&name| (name, "1"));
    let sizes = SIZES.iter().map(|&(name, wide, short)| (name, if narrow { short } else { wide }));
    let fixed = COMMON.iter().copied().chain(machine).chain(sizes);
    let mut list: Vec<Predefined> =
        fixed.map(|(name, value)| (name.into(), value.into())).collect();
    if let Some(arch) = target.cuda_arch {
        let mut add = |name: Cow<'static, str>, value: &str| {
            list.push((name, value.to_owned().into()));
        };
        let value = arch.to_string();
        add("__CUDA_ARCH__".into(), &value);
        add("__CUDA_ARCH_LIST__".into(), &value);
        match target.arch_suffix {
            Some('a') => {
                add("__CUDA_ARCH_SPECIFIC__".into(), &value);
                add(format!("__CUDA_ARCH_FEAT_SM{}_ALL", arch / 10).into(), "1");
            }
            Some('f') => add("__CUDA_ARCH_FAMILY_SPECIFIC__".into(), &value),
            _ => {}
        }
    }
    let mut add = |name: &'static str, value: &'static str| list.push((name.into(), value.into()));
    if target.cdp1 {
        add("CUDA_FORCE_CDP1_IF_SUPPORTED", "1");
    }
    if target.optimised {
        add("__OPTIMIZE__", "1");
    } else {
        add("__NO_INLINE__", "1");
    }
    if target.debug {
        add("__CUDACC_DEBUG__", "1");
    }
    if target.fast_math {
        add("__USE_FAST_MATH__", "1");
        add("__FAST_MATH__", "1");
    }
    list
}

const COMMON: &[(&str, &str)] = &[
    ("__CDPC__", "1"),
    ("__CUDACC_RDC__", "1"),
    ("__CUDACC__", "1"),
    ("__NVCC__", "1"),
    ("__CUDACC_VER_MAJOR__", "13"),
    ("__CUDACC_VER_MINOR__", "0"),
    ("__CUDACC_VER_BUILD__", "88"),
    ("__CUDA_API_VER_MAJOR__", "13"),
    ("__CUDA_API_VER_MINOR__", "0"),
    ("CUDART_VERSION", "13000"),
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

/// What names the machine with 64-bit addresses, x86-64, and the one with 32-bit addresses, i386.
const MACHINE: [&[&str]; 2] = [
    &["__x86_64__", "__x86_64", "__amd64__", "__amd64", "__LP64__", "_LP64"],
    &["__i386__", "__i386"],
];

/// Sizes and types with 64-bit and with 32-bit addresses, as on Linux.
const SIZES: &[(&str, &str, &str)] = &[
    ("__SIZEOF_LONG__", "8", "4"),
    ("__SIZEOF_POINTER__", "8", "4"),
    ("__SIZEOF_SIZE_T__", "8", "4"),
    ("__SIZEOF_PTRDIFF_T__", "8", "4"),
    ("__LONG_MAX__", "9223372036854775807L", "2147483647L"),
    ("__SIZE_TYPE__", "long unsigned int", "unsigned int"),
    ("__PTRDIFF_TYPE__", "long int", "int"),
    ("__INT64_TYPE__", "long int", "long long int"),
    ("__UINT64_TYPE__", "long unsigned int", "long long unsigned int"),
    ("__INTPTR_TYPE__", "long int", "int"),
    ("__UINTPTR_TYPE__", "long unsigned int", "unsigned int"),
    ("__SIZE_MAX__", "18446744073709551615UL", "4294967295U"),
];
