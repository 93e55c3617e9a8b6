//! Finding CUDA: which toolkits this machine has, and which of their tools serves an architecture.
//!
//! Nothing is read from the process's environment unless the caller asks for it with
//! [`SearchOptions::from_process`]. Nothing is started here except `ptxas --version`, once, for a
//! toolkit that does not state its version in a file.

mod serving;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::arch::ToolVersion;
use crate::clang::ClangSearch;
use crate::error::ToolError;
use crate::fatbin::{ImageKind, list_archive_images};
use crate::job::probe;
use crate::origin::{SearchedPlace, ToolkitOrigin};

/// The environment variables that the search uses, as values.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `CUDA_HOME`: root of a toolkit.
    pub cuda_home: Option<OsString>,
    /// `CUDA_PATH`: root of a toolkit.
    pub cuda_path: Option<OsString>,
    /// `PATH`: searched for `ptxas`.
    pub path: Option<OsString>,
    /// `CDP_TOOLCHAIN`: a folder that holds toolkits in folders named `cuda-<version>`.
    pub cdp_toolchain: Option<OsString>,
    /// `CDP_CLANG`: the clang that reads `.cu` files.
    pub cdp_clang: Option<OsString>,
}

impl Environment {
    /// The variables of this process; empty ones count as unset.
    pub fn from_process() -> Environment {
        let var = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
        Environment {
            cuda_home: var("CUDA_HOME"),
            cuda_path: var("CUDA_PATH"),
            path: var("PATH"),
            cdp_toolchain: var("CDP_TOOLCHAIN"),
            cdp_clang: var("CDP_CLANG"),
        }
    }
}

/// Where to look. The default looks nowhere.
#[derive(Clone, Debug, Default)]
pub struct SearchOptions {
    /// `--cuda-path`: the root of the toolkit to use before all others.
    pub cuda_path: Option<PathBuf>,
    /// `--clang`: the clang that reads `.cu` files.
    pub clang: Option<PathBuf>,
    /// Environment variables.
    pub environment: Environment,
    /// The customary place of an installed toolkit, `/usr/local/cuda`.
    pub system_root: Option<PathBuf>,
    /// Folders from which a `.toolchain` folder is looked for, in them and in all above them.
    pub start_dirs: Vec<PathBuf>,
}

impl SearchOptions {
    /// What a command-line tool wants: this process's environment, `/usr/local/cuda`, and
    /// `.toolchain` above the current folder and above the running executable.
    pub fn from_process() -> SearchOptions {
        let executable =
            std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
        SearchOptions {
            cuda_path: None,
            clang: None,
            environment: Environment::from_process(),
            system_root: Some(PathBuf::from("/usr/local/cuda")),
            start_dirs: std::env::current_dir().ok().into_iter().chain(executable).collect(),
        }
    }
}

/// A libcudadevrt.a and the architectures that it has images for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudadevrtLibrary {
    /// The archive.
    pub path: PathBuf,
    /// Architecture numbers (75 for sm_75) of its device images, ascending.
    pub images: Vec<u32>,
}

/// One CUDA toolkit, whole or in part.
#[derive(Debug)]
pub struct Toolkit {
    /// Its root folder.
    pub root: PathBuf,
    /// How it was found.
    pub origin: ToolkitOrigin,
    /// `bin/ptxas`.
    pub ptxas: Option<PathBuf>,
    /// `bin/nvlink`.
    pub nvlink: Option<PathBuf>,
    /// `bin/fatbinary`.
    pub fatbinary: Option<PathBuf>,
    /// `bin/cuobjdump`.
    pub cuobjdump: Option<PathBuf>,
    /// `bin/nvcc`, which only tests and benchmarks want.
    pub nvcc: Option<PathBuf>,
    /// `nvvm/libdevice/libdevice.10.bc`, the math library as LLVM bitcode.
    pub libdevice: Option<PathBuf>,
    /// The folder of the libraries, of `libcudart_static.a` for instance.
    pub lib_dir: Option<PathBuf>,
    cudadevrt_path: Option<PathBuf>,
    version: OnceLock<Option<ToolVersion>>,
    cudadevrt: OnceLock<Option<CudadevrtLibrary>>,
}

impl Toolkit {
    /// Looks at one folder.
    fn inspect(root: &Path, origin: ToolkitOrigin) -> Result<Toolkit, String> {
        if !root.is_dir() {
            return Err("no such folder".to_owned());
        }
        let tool = |name: &str| {
            let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
            [root.join("bin").join(&file), root.join(&file)]
                .into_iter()
                .find(|path| is_executable(path))
        };
        let library = |name: &str| {
            library_dirs(root).into_iter().map(|dir| dir.join(name)).find(|path| path.is_file())
        };
        let cudadevrt_path = library("libcudadevrt.a");
        let lib_dir = library("libcudart_static.a")
            .or(cudadevrt_path.clone())
            .and_then(|path| path.parent().map(Path::to_owned));
        let libdevice = [
            "nvvm/libdevice/libdevice.10.bc",
            "lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc",
            "lib/cuda/nvvm/libdevice/libdevice.10.bc",
        ];
        let toolkit = Toolkit {
            root: root.to_owned(),
            origin,
            ptxas: tool("ptxas"),
            nvlink: tool("nvlink"),
            fatbinary: tool("fatbinary"),
            cuobjdump: tool("cuobjdump"),
            nvcc: tool("nvcc"),
            libdevice: libdevice
                .into_iter()
                .map(|path| root.join(path))
                .find(|path| path.is_file()),
            lib_dir,
            cudadevrt_path,
            version: OnceLock::new(),
            cudadevrt: OnceLock::new(),
        };
        if toolkit.ptxas.is_none() && toolkit.nvlink.is_none() {
            let without_run_bit = root.join("bin/ptxas").is_file();
            return Err(if without_run_bit {
                "bin/ptxas is not executable"
            } else {
                "no bin/ptxas"
            }
            .to_owned());
        }
        Ok(toolkit)
    }

    /// The version, from `version.json` (CUDA 11.1 and later, and toolkits made by
    /// `cargo xtask setup`) or else from `ptxas --version`. `None` when neither tells.
    pub fn version(&self) -> Option<ToolVersion> {
        *self.version.get_or_init(|| {
            let stated = std::fs::read_to_string(self.root.join("version.json")).ok();
            stated.as_deref().and_then(version_in_json).or_else(|| {
                let program = self.ptxas.as_ref().or(self.nvlink.as_ref())?;
                version_in_output(&probe(program, &["--version"]).ok()?)
            })
        })
    }

    /// The device runtime library, with the images that it really holds.
    pub fn cudadevrt(&self) -> Option<&CudadevrtLibrary> {
        let read = || {
            let path = self.cudadevrt_path.clone()?;
            let images = list_archive_images(&std::fs::read(&path).ok()?).ok()?;
            let mut numbers: Vec<u32> = images
                .iter()
                .filter(|image| image.kind == ImageKind::Elf)
                .map(|image| image.arch_number)
                .collect();
            numbers.sort_unstable();
            numbers.dedup();
            Some(CudadevrtLibrary { path, images: numbers })
        };
        self.cudadevrt.get_or_init(read).as_ref()
    }

    /// What there is, for messages: `ptxas, nvlink, libcudadevrt.a`.
    pub fn contents(&self) -> String {
        let parts = [
            ("ptxas", self.ptxas.is_some()),
            ("nvlink", self.nvlink.is_some()),
            ("fatbinary", self.fatbinary.is_some()),
            ("libcudadevrt.a", self.cudadevrt_path.is_some()),
            ("libdevice.10.bc", self.libdevice.is_some()),
        ];
        let present: Vec<&str> = parts.iter().filter(|part| part.1).map(|part| part.0).collect();
        present.join(", ")
    }
}

/// Folders of a toolkit that may hold its libraries: the wheels' `lib`, the runfile's `lib64`, the
/// `targets` folder behind it, and Debian's multiarch folder.
fn library_dirs(root: &Path) -> Vec<PathBuf> {
    let cpu = std::env::consts::ARCH;
    let target = if cpu == "aarch64" { "sbsa-linux".to_owned() } else { format!("{cpu}-linux") };
    vec![
        root.join("lib64"),
        root.join("lib"),
        root.join("targets").join(target).join("lib"),
        root.join("lib").join(format!("{cpu}-linux-gnu")),
    ]
}

#[cfg(unix)]
pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// `"cuda_nvcc" : { ..., "version" : "13.0.88" }`, the entry that ptxas belongs to. The file is read
/// by hand because the version is all that this crate ever wants from a JSON file.
fn version_in_json(text: &str) -> Option<ToolVersion> {
    let entry = &text[text.find("\"cuda_nvcc\"")?..];
    let entry = &entry[..entry.find('}')?];
    let value = &entry[entry.find("\"version\"")? + "\"version\"".len()..];
    parse_version(value.trim_start_matches([' ', '\t', '\r', '\n', ':', '"']))
}

/// `Cuda compilation tools, release 13.0, V13.0.88`.
fn version_in_output(text: &str) -> Option<ToolVersion> {
    parse_version(text[text.find("release ")?..].strip_prefix("release ")?)
}

fn parse_version(text: &str) -> Option<ToolVersion> {
    let mut parts = text.split(|c: char| !c.is_ascii_digit());
    Some(ToolVersion::new(parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// nvlink, and the device runtime to go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTools {
    /// The linker.
    pub nvlink: PathBuf,
    /// Its version.
    pub version: Option<ToolVersion>,
    /// The device runtime with an image for the architecture asked for, where there is one.
    pub cudadevrt: Option<PathBuf>,
}

/// All toolkits found, in order of preference, and everything that was looked at.
#[derive(Debug, Default)]
pub struct Toolchain {
    toolkits: Vec<Toolkit>,
    searched: Vec<SearchedPlace>,
    /// The first toolkit that the user named, if it is none.
    broken: Option<SearchedPlace>,
    clang: ClangSearch,
}

impl Toolchain {
    /// Looks for toolkits: `--cuda-path`, `CUDA_HOME`, `CUDA_PATH`, `PATH`, `/usr/local/cuda`, then the
    /// folders `cuda-*` of `CDP_TOOLCHAIN` and of `.toolchain`. Finding nothing is not an error here,
    /// since PTX can be made without CUDA; the stage that lacks a tool says so.
    ///
    /// # Errors
    /// [`ToolError::NotFound`] when `cuda_path` was given and holds no tool: whoever names a toolkit
    /// does not want another one.
    pub fn find(options: &SearchOptions) -> Result<Toolchain, ToolError> {
        let mut found = Toolchain { clang: ClangSearch::new(options), ..Toolchain::default() };
        if let Some(root) = &options.cuda_path {
            found.look_at(root, ToolkitOrigin::Explicit);
            if found.toolkits.is_empty() {
                return Err(found.not_found("CUDA toolkit", "because --cuda-path asks for it"));
            }
        }
        let environment = &options.environment;
        found.look_at_variable(environment.cuda_home.as_ref(), ToolkitOrigin::CudaHome);
        found.look_at_variable(environment.cuda_path.as_ref(), ToolkitOrigin::CudaPath);
        found.look_at_path(environment.path.as_ref());
        if let Some(root) = &options.system_root {
            found.look_at(root, ToolkitOrigin::System);
        }
        found.look_at_toolchains(options);
        Ok(found)
    }

    fn look_at(&mut self, root: &Path, origin: ToolkitOrigin) {
        // `/usr/local/cuda` and `/usr/local/cuda-13.0` are often one folder.
        let canonical = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let known = self
            .toolkits
            .iter()
            .any(|toolkit| toolkit.root.canonicalize().ok().as_ref() == Some(&canonical));
        let result =
            if known { Err("already found".to_owned()) } else { Toolkit::inspect(root, origin) };
        let found = match result {
            Ok(toolkit) => {
                let contents = toolkit.contents();
                self.toolkits.push(toolkit);
                contents
            }
            Err(why) => {
                if origin.is_named() && self.toolkits.is_empty() && self.broken.is_none() {
                    let (path, found) = (root.to_owned(), why.clone());
                    self.broken = Some(SearchedPlace { origin, path, found });
                }
                why
            }
        };
        self.searched.push(SearchedPlace { origin, path: root.to_owned(), found });
    }

    fn look_at_variable(&mut self, value: Option<&OsString>, origin: ToolkitOrigin) {
        match value {
            Some(value) => self.look_at(Path::new(value), origin),
            None => self.note(origin, "not set"),
        }
    }

    fn look_at_path(&mut self, path: Option<&OsString>) {
        let Some(path) = path else { return self.note(ToolkitOrigin::Path, "not set") };
        let file = format!("ptxas{}", std::env::consts::EXE_SUFFIX);
        let hit = std::env::split_paths(path)
            .map(|dir| dir.join(&file))
            .find(|candidate| is_executable(candidate));
        // A link such as /usr/local/bin/ptxas leads to the toolkit.
        let real = hit.and_then(|ptxas| ptxas.canonicalize().ok());
        match real.as_deref().and_then(Path::parent) {
            Some(bin) if bin.ends_with("bin") => {
                self.look_at(bin.parent().unwrap_or(bin), ToolkitOrigin::Path)
            }
            Some(dir) => self.look_at(dir, ToolkitOrigin::Path),
            None => self.note(ToolkitOrigin::Path, "no ptxas in any of its folders"),
        }
    }

    fn look_at_toolchains(&mut self, options: &SearchOptions) {
        let named = options.environment.cdp_toolchain.as_ref().map(PathBuf::from);
        let above = options
            .start_dirs
            .iter()
            .flat_map(|dir| dir.ancestors().map(|dir| dir.join(".toolchain")));
        // A named folder must be reported even if it is missing; the others are guesses.
        let candidates = named.clone().into_iter().chain(above.filter(|dir| dir.is_dir()));
        let mut seen: Vec<PathBuf> = Vec::new();
        for dir in candidates {
            let canonical = dir.canonicalize().unwrap_or_else(|_| dir.clone());
            if seen.contains(&canonical) {
                continue;
            }
            seen.push(canonical);
            let roots = toolkit_folders(&dir);
            if roots.is_empty() {
                let place = SearchedPlace {
                    origin: ToolkitOrigin::Toolchain,
                    path: dir.clone(),
                    found: "no folder named cuda-<version>".to_owned(),
                };
                self.searched.push(place);
            }
            for root in roots {
                self.look_at(&root, ToolkitOrigin::Toolchain);
            }
        }
        if seen.is_empty() {
            let dirs: Vec<String> =
                options.start_dirs.iter().map(|dir| dir.display().to_string()).collect();
            let found = if dirs.is_empty() {
                "not looked for".to_owned()
            } else {
                format!("none above {}", dirs.join(" or "))
            };
            self.note(ToolkitOrigin::Toolchain, &found);
        }
    }

    fn note(&mut self, origin: ToolkitOrigin, found: &str) {
        self.searched.push(SearchedPlace { origin, path: PathBuf::new(), found: found.to_owned() });
    }

    fn not_found(&self, what: &str, purpose: &str) -> ToolError {
        ToolError::NotFound {
            what: what.to_owned(),
            purpose: purpose.to_owned(),
            searched: self.searched.clone(),
        }
    }

    /// The clang that reads `.cu` files.
    ///
    /// # Errors
    /// One sentence that says how to get it.
    pub fn clang(&self) -> Result<&Path, ToolError> {
        self.clang.get()
    }

    /// The toolkit with the headers of CUDA's runtime, which `.cu` files include.
    ///
    /// # Errors
    /// [`ToolError::NotFound`].
    pub fn headers(&self) -> Result<&Toolkit, ToolError> {
        let has = |toolkit: &&Toolkit| toolkit.root.join("include/cuda_runtime.h").is_file();
        let found = self.toolkits.iter().find(has);
        found.ok_or_else(|| self.not_found("CUDA's header cuda_runtime.h", "by `.cu` files"))
    }

    /// The toolkits, best first.
    pub fn toolkits(&self) -> &[Toolkit] {
        &self.toolkits
    }

    /// Everything that was looked at, in order.
    pub fn searched(&self) -> &[SearchedPlace] {
        &self.searched
    }
}

/// The folders `cuda-<version>` of a toolchain folder, newest version first.
fn toolkit_folders(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut versions: Vec<(ToolVersion, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let version = parse_version(name.to_str()?.strip_prefix("cuda-")?)?;
            entry.path().is_dir().then(|| (version, entry.path()))
        })
        .collect();
    versions.sort();
    versions.into_iter().rev().map(|(_, path)| path).collect()
}
