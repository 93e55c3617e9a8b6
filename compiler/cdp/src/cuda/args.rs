//! What clang is asked for.

use std::ffi::OsString;
use std::path::PathBuf;

use cdp_frontend::preprocess::MacroOption;
use cdp_toolchain::{Arch, Job, ToolVersion};

use super::{Half, headers};
use crate::analysis::SourceInput;
use crate::compiler::Compiler;
use crate::digest::Digest;
use crate::error::Error;
use crate::options::CompileOptions;
use cdp_ir::CdpVersion;
use cdp_llvm::{DebugInfo, OptLevel};
use cdp_toolchain::AddressSize;

/// What headers without a version are taken for.
const OLDEST: ToolVersion = ToolVersion::new(11, 0);

/// What clang's driver includes first by itself, where it is let.
const WRAPPER: &str = "__clang_cuda_runtime_wrapper.h";

/// 64 bits tell the files of a program apart.
const UNIT_ID_DIGITS: usize = 16;

/// The command for a half, without the source and what belongs to it.
pub(super) struct Asked {
    /// What a precompiled header depends on.
    pub common: Vec<OsString>,
    /// What the program wants included before the source, and what is to be made.
    pub rest: Vec<OsString>,
    /// Extension of the output; empty when there is none.
    pub extension: &'static str,
    /// The folder with our headers.
    pub headers: PathBuf,
}

/// Puts the command for a half together.
pub(super) fn request(
    compiler: &Compiler,
    job: &Job,
    half: Half,
    source: &SourceInput,
    options: &CompileOptions,
) -> Result<Asked, Error> {
    if options.address_size == AddressSize::Bits32 {
        return Err(Error::Request {
            message: "`.cu` files have 64-bit device code only: CUDA's headers know no other"
                .into(),
            cure: Some("drop -m32, or name the file `.cdp`".into()),
        });
    }
    if let Some(language) = source.host_language() {
        return of_host(compiler, job, half, language, options);
    }
    let toolkit = compiler.toolchain().headers()?;
    let mut args: Vec<OsString> = Vec::new();
    let mut add = |words: &[&str]| args.extend(words.iter().map(OsString::from));
    // The headers that clang includes first come behind one of ours.
    add(&["-x", "cuda", "-fgpu-rdc", "-D__CUDACC_RDC__", "-nocudainc"]);
    let version = toolkit.version().unwrap_or(OLDEST);
    versions(&mut add, version);
    match half {
        Half::Device(arch)
        | Half::Text(Some(arch))
        | Half::Marked(arch)
        | Half::Check(Some(arch)) => {
            device_target(&mut add, arch, version, options);
            device(&mut add, options);
        }
        Half::Host
        | Half::HostUnoptimised(_)
        | Half::HostBitcode
        | Half::Text(None)
        | Half::Check(None) => {
            host_targets(&mut add, half, options);
            host(&mut add, half, options);
        }
    }
    messages(&mut add, options);
    language(&mut add, options);
    let mut path = |option: &str, path: &std::path::Path| {
        args.push(option.into());
        args.push(path.into());
    };
    let headers = args_of_folders(&mut path, compiler, job, options)?;
    args.push(joined("--cuda-path=", &toolkit.root));
    let mut rest = vec![OsString::from(format!("-cuid={}", unit_id(source, options)))];
    for file in &options.forced_includes {
        rest.extend(["-include".into(), file.into()]);
    }
    let (words, extension) = output(half);
    rest.extend(words.iter().map(OsString::from));
    if is_alone(half) {
        let image = job.work_dir().join(super::relocatable_name(source));
        rest.extend(["-Xclang", "-fcuda-include-gpubinary", "-Xclang"].map(OsString::from));
        rest.push(image.into());
    }
    Ok(Asked { common: args, rest, extension, headers })
}

/// CUDA's version. Sources ask nvcc's name for it; clang has it under the names of the headers only.
fn versions(add: &mut impl FnMut(&[&str]), version: ToolVersion) {
    for name in ["CUDACC", "CUDA_API"] {
        add(&[&format!("-D__{name}_VER_MAJOR__={}", version.major)]);
        add(&[&format!("-D__{name}_VER_MINOR__={}", version.minor)]);
    }
    add(&["-D__CUDACC_VER_BUILD__=0", "-D__NVCC_DIAG_PRAGMA_SUPPORT__=1"]);
    add(&["-DCUDA_DOUBLE_MATH_FUNCTIONS"]);
}

/// The device half's architecture, and the list of all.
fn device_target(
    add: &mut impl FnMut(&[&str]),
    arch: Arch,
    version: ToolVersion,
    options: &CompileOptions,
) {
    add(&["--cuda-device-only", "-nocudalib"]);
    // Without libdevice clang's driver does not say which CUDA it is.
    add(&["-Xclang", &format!("-target-sdk-version={version}")]);
    add(&[&format!("--cuda-gpu-arch={}", known_to_clang(arch))]);
    if NEEDS_PTX_90.contains(&arch.number()) {
        add(&["--cuda-feature=+ptx90"]);
    }
    if options.archs().len() > 1 {
        let all: Vec<_> =
            options.archs().iter().map(|arch| format!("{}0", arch.number())).collect();
        let list = format!("-D__CUDA_ARCH_LIST__={}", all.join(","));
        add(&[&list, "-Wno-macro-redefined"]);
    }
}

/// The host half's architectures: names of kernels may have them inside, and are to be the device half's.
fn host_targets(add: &mut impl FnMut(&[&str]), half: Half, options: &CompileOptions) {
    // What does not fit an architecture is said of the device half.
    add(&["--cuda-host-only", "-Wno-ignored-attributes"]);
    for arch in options.archs() {
        add(&[&format!("--cuda-gpu-arch={}", known_to_clang(arch))]);
    }
    if is_alone(half) {
        add(&["--no-offload-new-driver"]);
    }
}

/// The command for C or C++ without device code, which finds CUDA's headers as nvcc lets it find them.
fn of_host(
    compiler: &Compiler,
    job: &Job,
    half: Half,
    language: &str,
    options: &CompileOptions,
) -> Result<Asked, Error> {
    let mut args: Vec<OsString> = Vec::new();
    let mut add = |words: &[&str]| args.extend(words.iter().map(OsString::from));
    add(&["-x", language]);
    host(&mut add, half, options);
    messages(&mut add, options);
    if language == "c++" {
        standard(&mut add, options);
    }
    of_both(&mut add, options);
    let mut path = |option: &str, path: &std::path::Path| args.extend([option.into(), path.into()]);
    options.include_dirs.iter().for_each(|folder| path("-I", folder));
    let include = compiler.toolchain().headers()?.root.join("include");
    path("-isystem", &include);
    path("-isystem", &include.join("cccl"));
    let headers = headers::folder(job, options)?;
    path("-idirafter", &headers.join("samples"));
    options.forced_includes.iter().for_each(|file| path("-include", file.as_ref()));
    let (words, extension) = output(half);
    let rest = words.iter().map(OsString::from).collect();
    Ok(Asked { common: args, rest, extension, headers })
}

/// What clang compiles for with a version of PTX that it does not take for them.
const NEEDS_PTX_90: &[u16] = &[88, 110];

/// An architecture as clang is told of it: it reads the code of a family's architecture as that of the plain one.
fn known_to_clang(arch: Arch) -> String {
    arch.to_string().trim_end_matches('f').to_owned()
}

/// What asks for the output of a half, and its extension.
fn output(half: Half) -> (&'static [&'static str], &'static str) {
    match half {
        Half::Device(_) | Half::HostBitcode => (&["-c", "-emit-llvm"], "bc"),
        Half::HostUnoptimised(_) => {
            (&["-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes"], "bc")
        }
        Half::Host => (&["-c"], "o"),
        Half::Text(_) => (&["-E", "-P"], "i"),
        Half::Marked(_) => (&["-E"], "i"),
        Half::Check(_) => (&["-fsyntax-only"], ""),
    }
}

/// Whether the half is to hold the device code and register itself.
fn is_alone(half: Half) -> bool {
    half == Half::HostUnoptimised(true)
}

/// What `static` kernels and variables of device code are told apart by when several files are linked: the
/// same whenever the same file is compiled, and for both halves.
pub(super) fn unit_id(source: &SourceInput, options: &CompileOptions) -> String {
    let mut digest = Digest::new();
    digest.add(source.base_name());
    digest.add(source.own_text().unwrap_or_default());
    digest.add(format!("{:?}", options.macros));
    let mut id = digest.finish();
    id.truncate(UNIT_ID_DIGITS);
    id
}

/// What tells a file's variables of device code from those of other files, where they are its own.
pub(super) fn own_names(source: &SourceInput, options: &CompileOptions) -> Option<String> {
    (options.relocatable == Some(false)).then(|| unit_id(source, options))
}

/// What nvcc forgives, in device code at every level: functions with a value that end without `return`, and memory that is
/// read as another type than it was written as.
const FORGIVING: &[&str] = &["-fno-strict-return", "-fno-strict-aliasing"];

/// What host code may do as well, since nvcc asks g++ for no optimisation by itself.
const FORGIVING_UNOPTIMISED: &[&str] =
    &["-fwrapv", "-fno-finite-loops", "-fno-delete-null-pointer-checks"];

/// Optimisation is ours: clang hands over what it read. Below -O2 it would mark every loop as one that must not
/// be unrolled, and for the sake of marks where variables end it would lead every `break` through a `switch`.
///
/// A warp's first lane alone sets a variable that all lanes then give to `__shfl_sync`: what the others give counts for
/// nothing. clang would mark the argument as one that has a value, and LLVM infer that all lanes are the first.
fn device(add: &mut impl FnMut(&[&str]), options: &CompileOptions) {
    add(&["-O2", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names"]);
    // Else a loop whose unsigned counter could go round for ever has a number of turns all the same, and is unrolled where
    // nvcc leaves it: one of a row's few elements in strides of a warp took 1.17 times as long (device-speed.md).
    add(&["-fno-finite-loops"]);
    add(&["-Xclang", "-disable-lifetime-markers", "-Xclang", "-no-enable-noundef-analysis"]);
    // In every file that uses them, as nvcc makes them (`cdp_llvm::lower_clang`).
    add(&["-fforce-emit-vtables"]);
    add(FORGIVING);
    // Places of launches, for messages; dropped again where nobody asked for them.
    add(&[if options.debug == DebugInfo::Full { "-g" } else { "-gline-tables-only" }]);
    let math = &options.fast_math;
    add(&[if math.fmad { "-ffp-contract=fast" } else { "-ffp-contract=off" }]);
    if math.ftz {
        add(&["-fgpu-flush-denormals-to-zero"]);
    }
    if math.fast_functions {
        add(&["-fgpu-approx-transcendentals", "-D__USE_FAST_MATH__"]);
    }
    if !math.prec_div || !math.prec_sqrt {
        add(&["-Xclang", "-fapprox-func"]);
    }
    if options.debug == DebugInfo::Full {
        add(&["-D__CUDACC_DEBUG__"]);
    }
}

fn host(add: &mut impl FnMut(&[&str]), half: Half, options: &CompileOptions) {
    if half == Half::HostBitcode {
        return add(&["-O0", "-gline-tables-only"]);
    }
    add(&[match options.opt_level {
        _ if options.debug == DebugInfo::Full => "-O0",
        OptLevel::O0 => "-O0",
        OptLevel::O1 => "-O1",
        OptLevel::O2 | OptLevel::O3 => "-O2",
    }]);
    add(&["-fPIE", "-ffunction-sections", "-fdata-sections"]);
    add(FORGIVING);
    if options.host_opt_level.is_none() {
        add(FORGIVING_UNOPTIMISED);
    }
    add(&["-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument"]);
    options.host_args.iter().filter(|word| is_of_compiling(word)).for_each(|word| add(&[word]));
    match options.debug {
        DebugInfo::Full => add(&["-g"]),
        DebugInfo::Lines => add(&["-gline-tables-only"]),
        DebugInfo::None => {}
    }
}

/// Whether a word of `-Xcompiler` is about compiling, not about the link alone.
fn is_of_compiling(word: &str) -> bool {
    const STARTS: &[&str] = &["-f", "-m", "-O", "-W", "-std=", "-pthread"];
    STARTS.iter().any(|start| word.starts_with(start)) && !word.starts_with("-Wl,")
}

/// Whether a word of `-Xcompiler` changes what both halves are read as.
fn is_of_reading(word: &str) -> bool {
    ["-D", "-U", "-I"].iter().any(|start| word.starts_with(start))
}

/// How an object is made of the bitcode of a host half.
pub(super) fn host_object(options: &CompileOptions) -> Vec<OsString> {
    let mut args = Vec::new();
    host(&mut |words| args.extend(words.iter().map(OsString::from)), Half::Host, options);
    // Said when the bitcode was made.
    args.push("-w".into());
    args
}

/// Messages in a form that is read again.
fn messages(add: &mut impl FnMut(&[&str]), options: &CompileOptions) {
    add(&[
        "-fno-color-diagnostics",
        "-fno-caret-diagnostics",
        "-fdiagnostics-print-source-range-info",
        "-fdiagnostics-parseable-fixits",
        "-fdiagnostics-show-option",
        "-ferror-limit=100",
        // nvcc and g++ say neither: `(float)rand() / RAND_MAX`, and kernels that are `inline`.
        "-Wno-implicit-const-int-float-conversion",
        "-Wno-cuda-compat",
        // The versions go together as the tests say.
        "-Wno-unknown-cuda-version",
    ]);
    if options.warnings.silent {
        add(&["-w"]);
    }
}

/// C++ 17 with GNU's extensions unless something else is asked for, and what is a warning for nvcc and g++ as a warning:
/// narrow values between braces, `register`, a macro right behind a string (`"%"PRIu64`), and in device code `return;` in a
/// function with a value.
fn standard(add: &mut impl FnMut(&[&str]), options: &CompileOptions) {
    let standard = match options.cxx_standard.as_deref() {
        None => "gnu++17",
        // Headers of today want more.
        Some("c++98" | "c++03" | "gnu++98" | "gnu++03") => "gnu++11",
        Some(standard) => standard,
    };
    add(&[&format!("-std={standard}")]);
    add(&["-Wno-error=c++11-narrowing", "-Wno-error=register", "-Wno-error=return-mismatch"]);
    // And `typeof`, which nvcc has in every standard.
    add(&["-Wno-error=reserved-user-defined-literal", "-fgnu-keywords"]);
    // nvcc says nothing of the space in `operator "" _x`, which was right before C++23.
    add(&["-Wno-deprecated-literal-operator"]);
    // Modules of C++20, which nvcc has not, make clang 22 read member templates that are specialised within their class
    // wrongly from a precompiled header: all get the first one's body, and vectors of textures their first component.
    add(&["-fno-cxx-modules"]);
}

fn language(add: &mut impl FnMut(&[&str]), options: &CompileOptions) {
    standard(add, options);
    if options.cdp() == CdpVersion::Cdp1 {
        let quiet = "-D__CDPRT_SUPPRESS_SYNC_DEPRECATION_WARNING";
        add(&["-DCUDA_FORCE_CDP1_IF_SUPPORTED", "-Wno-macro-redefined", quiet]);
    }
    if options.per_thread_default_stream {
        // Launches too: what the definition below says to headers alone.
        add(&["-Xclang", "-fgpu-default-stream=per-thread"]);
    }
    of_both(add, options);
}

/// What CUDA's and other files are asked for alike.
fn of_both(add: &mut impl FnMut(&[&str]), options: &CompileOptions) {
    // Names of files and folders are the same wherever the compiler runs.
    add(&["-fdebug-compilation-dir=.", "-ffile-compilation-dir=."]);
    if options.per_thread_default_stream {
        add(&["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]);
    }
    options.host_args.iter().filter(|word| is_of_reading(word)).for_each(|word| add(&[word]));
    for option in &options.macros {
        match option {
            MacroOption::Define(text) => add(&[&format!("-D{text}")]),
            MacroOption::Undefine(name) => add(&[&format!("-U{name}")]),
        }
    }
}

/// Yields the folder with our headers.
fn args_of_folders(
    add: &mut impl FnMut(&str, &std::path::Path),
    compiler: &Compiler,
    job: &Job,
    options: &CompileOptions,
) -> Result<PathBuf, Error> {
    let headers = headers::folder(job, options)?;
    if options.include_dirs.iter().any(|dir| headers::hides_cudas(dir)) {
        add("-I", &headers.join("before"));
    }
    for dir in &options.include_dirs {
        add("-I", dir);
    }
    add("-isystem", &headers.join("lacking"));
    let root = &compiler.toolchain().headers()?.root;
    let cccl = root.join("include/cccl");
    if cccl.is_dir() {
        add("-isystem", &cccl);
    }
    // Behind everything of the program's own.
    add("-idirafter", &root.join("include"));
    add("-idirafter", &headers.join("samples"));
    for name in ["__cdp_builtins.h", WRAPPER, "__cdp_cuda.h"] {
        add("-include", std::path::Path::new(name));
    }
    Ok(headers)
}

fn joined(option: &str, path: &std::path::Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}
