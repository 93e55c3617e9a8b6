//! Compiling device code in a Cargo build script.
//!
//! ```no_run
//! // build.rs
//! cdp_build::Build::new().file("src/kernels.cdp").arch("sm_90").compile("kernels");
//! ```
//!
//! ```ignore
//! // src/main.rs
//! mod kernels {
//!     include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
//! }
//! // kernels::PTX, kernels::CUBIN, and a constant with the symbol of each kernel: kernels::SORT
//! ```
//!
//! What is here: cargo's side of it (where outputs go, what makes cargo build again, how errors and
//! warnings are shown). Compiling is crate `cdp`'s.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

use std::fmt;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use cdp::{
    BuildOutput, CompileOptions, Compiler, Failure, Goal, Input, InputKind, KernelDescription,
    SearchOptions,
};

/// Whether to link a cubin, which takes CUDA's ptxas and nvlink. PTX, which the CPU device runs and a
/// driver can load when it launches nothing from the device, is always made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cubin {
    /// When the tools are there; else `CUBIN` is empty and cargo shows a warning.
    #[default]
    IfToolsAreThere,
    /// Always; it is an error when the tools are not there.
    Always,
    /// `CUBIN` is empty.
    Never,
}

/// What a build is made of. Relative paths are relative to the package, where cargo runs build
/// scripts.
#[derive(Clone, Debug, Default)]
pub struct Build {
    files: Vec<PathBuf>,
    options: Vec<(String, String)>,
    cubin: Cubin,
    cuda_path: Option<PathBuf>,
    out_dir: Option<PathBuf>,
}

/// What was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Artifacts {
    /// The module to `include!`.
    pub module: PathBuf,
    /// PTX of each file that has any, in order.
    pub ptx: Vec<PathBuf>,
    /// The linked machine code, where it was made.
    pub cubin: Option<PathBuf>,
    /// Kernels of the sources and of LLVM IR, with their parameter buffers.
    pub kernels: Vec<KernelDescription>,
    /// What cargo has to be told, a line each (`cargo::rerun-if-changed=...`).
    pub directives: Vec<String>,
}

/// Why nothing was made.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The program's errors, or what the environment did.
    Compile(Failure),
    /// An option that there is not, a file of a kind that there is not.
    Request(String),
    /// A file could not be read or written.
    Io {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Compile(Failure::Program(_)) => f.write_str("the device code has errors"),
            BuildError::Compile(failure) => failure.fmt(f),
            BuildError::Request(message) => f.write_str(message),
            BuildError::Io { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<Failure> for BuildError {
    fn from(failure: Failure) -> Self {
        BuildError::Compile(failure)
    }
}

impl Build {
    /// A build of nothing yet, for sm_90.
    pub fn new() -> Build {
        Build::default()
    }

    /// Adds a file: `.cdp`, `.cu`, `.ll`, `.bc`, `.ptx`, and for the cubin `.o`, `.a`, `.cubin`.
    pub fn file(&mut self, path: impl Into<PathBuf>) -> &mut Build {
        self.files.push(path.into());
        self
    }

    /// Sets an option by its name in [`cdp::OPTIONS`]; a wrong one is an error when compiling.
    pub fn option(&mut self, name: &str, value: &str) -> &mut Build {
        self.options.push((name.into(), value.into()));
        self
    }

    /// The architecture, `sm_90`, or several with commas: `CUBIN` is a fat binary then, which a driver
    /// loads like a cubin, and `PTX` is for the first.
    pub fn arch(&mut self, arch: &str) -> &mut Build {
        self.option("arch", arch)
    }

    /// Adds a folder to the search for `#include`.
    pub fn include_dir(&mut self, path: &str) -> &mut Build {
        self.option("include-dir", path)
    }

    /// Defines a macro, `NAME` or `NAME=TEXT`.
    pub fn define(&mut self, text: &str) -> &mut Build {
        self.option("define", text)
    }

    /// Whether to link a cubin.
    pub fn cubin(&mut self, cubin: Cubin) -> &mut Build {
        self.cubin = cubin;
        self
    }

    /// Uses this CUDA toolkit.
    pub fn cuda_path(&mut self, path: impl Into<PathBuf>) -> &mut Build {
        self.cuda_path = Some(path.into());
        self
    }

    /// Puts outputs here instead of `OUT_DIR`.
    pub fn out_dir(&mut self, path: impl Into<PathBuf>) -> &mut Build {
        self.out_dir = Some(path.into());
        self
    }

    /// Compiles, tells cargo what it has to know, and ends the build script with a message when
    /// something is wrong, as build scripts do. Outputs are named after `stem`.
    pub fn compile(&self, stem: &str) -> Artifacts {
        match self.try_compile(stem) {
            Ok(artifacts) => {
                for directive in &artifacts.directives {
                    println!("{directive}");
                }
                artifacts
            }
            Err(error) => {
                for path in &self.files {
                    println!("cargo::rerun-if-changed={}", path.display());
                }
                if let BuildError::Compile(failure) = &error {
                    for message in failure.messages() {
                        eprintln!("{}", message.rendered);
                    }
                }
                for line in error.to_string().lines() {
                    println!("cargo::error={line}");
                }
                std::process::exit(1);
            }
        }
    }

    /// Compiles and prints nothing.
    ///
    /// # Errors
    /// See [`BuildError`]; nothing was written then, or only part.
    pub fn try_compile(&self, stem: &str) -> Result<Artifacts, BuildError> {
        // Overridden by an option of the build script.
        let epoch = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
        let mut options = CompileOptions::default();
        options.source_date_epoch = epoch;
        for (name, value) in &self.options {
            options.set(name, value).map_err(|error| BuildError::Request(error.to_string()))?;
        }
        let out_dir = self.out_dir.clone().or_else(|| std::env::var_os("OUT_DIR").map(Into::into));
        let out_dir = out_dir.ok_or_else(|| {
            BuildError::Request("OUT_DIR is not set: call this from a build script".into())
        })?;
        let mut search = SearchOptions::from_process();
        search.cuda_path = self.cuda_path.clone();
        let compiler = Compiler::new(&search).map_err(Failure::from)?;
        let inputs = self.files.iter().map(|path| input(path)).collect::<Result<Vec<_>, _>>()?;
        let mut artifacts = Artifacts { directives: self.environment(), ..Artifacts::default() };
        let output = |extension: &str| out_dir.join(format!("{stem}.{extension}"));
        self.make_ptx(&compiler, &inputs, &options, &output, &mut artifacts)?;
        self.make_cubin(&compiler, &inputs, &options, &output, &mut artifacts)?;
        let module = module_text(&artifacts);
        artifacts.module = output("rs");
        write(&artifacts.module, module.as_bytes())?;
        Ok(artifacts)
    }

    fn environment(&self) -> Vec<String> {
        let files = self.files.iter();
        let mut lines: Vec<_> =
            files.map(|path| format!("cargo::rerun-if-changed={}", path.display())).collect();
        for name in ["CUDA_HOME", "CUDA_PATH", "CDP_TOOLCHAIN", "SOURCE_DATE_EPOCH"] {
            lines.push(format!("cargo::rerun-if-env-changed={name}"));
        }
        lines
    }

    fn make_ptx(
        &self,
        compiler: &Compiler,
        inputs: &[Input],
        options: &CompileOptions,
        output: &dyn Fn(&str) -> PathBuf,
        artifacts: &mut Artifacts,
    ) -> Result<(), BuildError> {
        // PTX is for one architecture: the driver makes code for later ones of it.
        let options = &options.clone().with(|options| options.archs.truncate(1));
        for (index, input) in inputs.iter().enumerate() {
            if matches!(input, Input::Bytes(InputKind::Object, ..)) {
                continue;
            }
            let made = compiler.compile(std::slice::from_ref(input), Goal::Ptx, options)?;
            tell(&made, artifacts);
            let extension = if index == 0 { "ptx".into() } else { format!("{index}.ptx") };
            let path = output(&extension);
            write(&path, &made.bytes)?;
            artifacts.kernels.extend(made.kernels);
            artifacts.ptx.push(path);
        }
        Ok(())
    }

    fn make_cubin(
        &self,
        compiler: &Compiler,
        inputs: &[Input],
        options: &CompileOptions,
        output: &dyn Fn(&str) -> PathBuf,
        artifacts: &mut Artifacts,
    ) -> Result<(), BuildError> {
        let toolchain = compiler.toolchain();
        let archs = options.archs();
        let link = |arch: &cdp::Arch| toolchain.link_tools(*arch, options.address_size);
        let missing = match self.cubin {
            Cubin::Never => return Ok(()),
            Cubin::Always => None,
            Cubin::IfToolsAreThere => archs.iter().find_map(|arch| link(arch).err()),
        };
        if let Some(error) = missing {
            let reason = error.to_string();
            let reason = reason.lines().next().unwrap_or_default();
            artifacts.directives.push(format!("cargo::warning=no cubin is made: {reason}"));
            return Ok(());
        }
        let goal = if archs.len() > 1 { Goal::Fatbin } else { Goal::Cubin };
        let made = compiler.compile(inputs, goal, options)?;
        let warnings = made.tool_warnings.iter().map(|line| format!("cargo::warning={line}"));
        artifacts.directives.extend(warnings);
        // What the link learned is in these descriptions.
        artifacts.kernels.clone_from(&made.kernels);
        let path = output(if archs.len() > 1 { "fatbin" } else { "cubin" });
        write(&path, &made.bytes)?;
        artifacts.cubin = Some(path);
        Ok(())
    }
}

fn input(path: &Path) -> Result<Input, BuildError> {
    let kind = InputKind::of(path).ok_or_else(|| {
        BuildError::Request(format!(
            "{}: files are told by their extensions, and this is none of .cdp, .cu, .cpp, .c, .ll, .bc, \
             .ptx, .o, .a, .cubin, .fatbin",
            path.display()
        ))
    })?;
    if let Some(source) = Input::source_file(kind, path) {
        return Ok(source);
    }
    let read = std::fs::read(path);
    let bytes = read.map_err(|source| BuildError::Io { path: path.to_owned(), source })?;
    Ok(Input::Bytes(kind, path.display().to_string(), bytes))
}

/// Dependencies and warnings, for cargo.
fn tell(made: &BuildOutput, artifacts: &mut Artifacts) {
    for path in &made.dependencies {
        let line = format!("cargo::rerun-if-changed={}", path.display());
        if !artifacts.directives.contains(&line) {
            artifacts.directives.push(line);
        }
    }
    for message in made.messages() {
        let place = message.place;
        let text = format!("{}:{}: {}: {}", place.file, place.line, message.code, message.text);
        artifacts.directives.push(format!("cargo::warning={text}"));
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    std::fs::write(path, bytes).map_err(|source| BuildError::Io { path: path.to_owned(), source })
}

/// The Rust module: device code, and the symbol of each kernel.
fn module_text(artifacts: &Artifacts) -> String {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Beside the module, wherever that is included from.
        format!("concat!(env!(\"OUT_DIR\"), \"/{name}\")")
    };
    let mut text = String::from("/// PTX of each source file.\n#[allow(dead_code)]\n");
    let _ = writeln!(text, "pub static PTX: [&str; {}] = [", artifacts.ptx.len());
    for path in &artifacts.ptx {
        let _ = writeln!(text, "    include_str!({}),", name(path));
    }
    text += "];\n/// The linked cubin; empty when none was made.\n#[allow(dead_code)]\n";
    match &artifacts.cubin {
        Some(path) => {
            let _ = writeln!(text, "pub static CUBIN: &[u8] = include_bytes!({});", name(path));
        }
        None => text += "pub static CUBIN: &[u8] = &[];\n",
    }
    let mut taken = vec!["PTX".to_string(), "CUBIN".to_string()];
    for kernel in &artifacts.kernels {
        let mut constant = constant_name(&kernel.name);
        while taken.contains(&constant) {
            constant.push('_');
        }
        let _ = writeln!(text, "/// The symbol of kernel `{}`.\n#[allow(dead_code)]", kernel.name);
        let _ = writeln!(text, "pub const {constant}: &str = {:?};", kernel.symbol);
        taken.push(constant);
    }
    text
}

/// `sortBlocks` and `sort_blocks` become `SORT_BLOCKS`.
fn constant_name(kernel: &str) -> String {
    let mut out = String::new();
    let mut last_is_lower = false;
    for c in kernel.chars() {
        if !c.is_ascii_alphanumeric() {
            if !out.ends_with('_') {
                out.push('_');
            }
            last_is_lower = false;
            continue;
        }
        if c.is_ascii_uppercase() && last_is_lower {
            out.push('_');
        }
        last_is_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(c.to_ascii_uppercase());
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) { format!("_{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_rust_names() {
        for (kernel, constant) in
            [("sortBlocks", "SORT_BLOCKS"), ("a::b2", "A_B2"), ("_Z1kPi", "_Z1K_PI"), ("9", "_9")]
        {
            assert_eq!(constant_name(kernel), constant);
        }
    }

    #[test]
    fn a_file_and_its_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("n.h"), "#define N 5\n").unwrap();
        let source = "#include \"n.h\"\n__global__ void fillAll(int *p) { *p = N; }\n";
        std::fs::write(path("k.cdp"), source).unwrap();
        let mut build = Build::new();
        build.file(path("k.cdp")).out_dir(folder.path()).cubin(Cubin::Never);
        let made = build.try_compile("kernels").unwrap();
        let header = format!("cargo::rerun-if-changed={}", path("n.h").display());
        assert!(made.directives.contains(&header), "{:?}", made.directives);
        assert_eq!(made.kernels[0].params[0].name, "p");
        let module = std::fs::read_to_string(path("kernels.rs")).unwrap();
        assert!(module.contains("pub const FILL_ALL: &str = \"_Z7fillAllPi\";"), "{module}");
        assert!(module.contains("CUBIN: &[u8] = &[]"), "{module}");
        let ptx = std::fs::read_to_string(path("kernels.ptx")).unwrap();
        assert!(ptx.contains(".entry _Z7fillAllPi"));
    }

    /// A `.cu` file with a header beside it.
    #[test]
    fn a_cuda_file_and_its_header() {
        let compiler = Compiler::new(&SearchOptions::from_process()).unwrap();
        if compiler.toolchain().clang().is_err() || compiler.toolchain().headers().is_err() {
            return eprintln!("left out: no clang or no CUDA headers");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("n.h"), "constexpr int N = 5;\n").unwrap();
        let source = "#include \"n.h\"\ntemplate <int I> __global__ void fill(int *p) { *p = I; }\n\
                      __global__ void fillAll(int *p) { fill<N><<<1, 1>>>(p); }\n";
        std::fs::write(path("k.cu"), source).unwrap();
        let mut build = Build::new();
        build.file(path("k.cu")).out_dir(folder.path()).cubin(Cubin::Always);
        let made = build.try_compile("kernels").unwrap();
        let header = format!("cargo::rerun-if-changed={}", path("n.h").display());
        assert!(made.directives.contains(&header), "{:?}", made.directives);
        let module = std::fs::read_to_string(path("kernels.rs")).unwrap();
        assert!(module.contains("pub const FILL_ALL: &str = \"_Z7fillAllPi\";"), "{module}");
        assert!(std::fs::read(made.cubin.unwrap()).unwrap().starts_with(b"\x7fELF"));
    }

    /// Several architectures, and outputs whose names differ after a dot only.
    #[test]
    fn several_architectures_and_outputs() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("k.cdp");
        std::fs::write(&source, "__global__ void k(int *p) { *p = __CUDA_ARCH__; }\n").unwrap();
        let mut build = Build::new();
        build.file(&source).out_dir(folder.path()).arch("sm_80,sm_90").cubin(Cubin::Always);
        let [one, two] = ["k.one", "k.two"].map(|stem| build.try_compile(stem).unwrap());
        assert_ne!(one.module, two.module);
        assert_ne!(one.ptx, two.ptx);
        let ptx = std::fs::read_to_string(&one.ptx[0]).unwrap();
        assert!(ptx.contains(".target sm_80"), "{ptx}");
        let bytes = std::fs::read(one.cubin.unwrap()).unwrap();
        let images = cdp_toolchain::list_images(&bytes).unwrap();
        let archs: Vec<_> = images.iter().map(|image| image.arch_number).collect();
        assert_eq!(archs, [80, 90]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let failed = |build: &mut Build| {
            build.out_dir(folder.path()).try_compile("k").unwrap_err().to_string()
        };
        assert!(failed(Build::new().option("speed", "high")).contains("no option `speed`"));
        assert!(failed(Build::new().file("a.txt")).contains(".cdp"));
        assert!(failed(Build::new().file("nowhere.ll")).contains("nowhere.ll"));
        std::fs::write(folder.path().join("k.cdp"), "int x = ;").unwrap();
        let broken = failed(Build::new().file(folder.path().join("k.cdp")));
        assert_eq!(broken, "the device code has errors");
    }
}
