//! The macros that nvcc predefines, by compilation pass and architecture.

use std::borrow::Cow;
use std::sync::LazyLock;

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
    let mut list: Vec<Predefined> = fixed(target.pointer_bytes == 4).collect();
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

/// The rows of `predefined.txt`, read once for all passes: a name, and its replacements with addresses of 64 and of 32 bits.
static ROWS: LazyLock<Vec<[&str; 3]>> = LazyLock::new(|| {
    let lines = include_str!("predefined.txt").lines();
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    rows.map(|row| {
        let (name, values) = row.split_once(' ').unwrap_or((row, ""));
        let (wide, short) = values.split_once('|').unwrap_or((values, values));
        [name, wide.trim_end(), short.trim_start()]
    })
    .collect()
});

/// The macros of every pass.
fn fixed(narrow: bool) -> impl Iterator<Item = Predefined> {
    ROWS.iter().filter_map(move |&[name, wide, short]| {
        let value = if narrow { short } else { wide };
        (value != "-").then(|| (name.into(), value.into()))
    })
}
