//! The front end for one source, pass and architecture: text to verified IR, and all that can be
//! said about the program on the way.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc as Shared;
use std::time::{Duration, Instant};

use cdp_diagnostics::Diagnostics;
use cdp_diagnostics::render::{Format, render};
use cdp_frontend::Session;
use cdp_frontend::ast::TranslationUnit;
use cdp_frontend::check::builtins::BuiltinFn;
use cdp_frontend::check::{self, CheckOptions, check_here, check_last};
use cdp_frontend::parse::parse;
use cdp_frontend::preprocess::{
    self, DiskLoader, FileLoader, MemoryLoader, PreprocessOptions, predefined,
    preprocess as run_preprocessor,
};
use cdp_ir as ir;
use cdp_ir::{Target, Verified};
use cdp_launch::{AbiError, AbiRequest, LaunchAbi, choose};
use cdp_toolchain::{Arch, ArchSuffix};

use crate::describe::{KernelDescription, describe_kernels};
use crate::error::{Error, guard};
use crate::graph::LaunchGraph;
use crate::options::CompileOptions;
use cdp_llvm::{DebugInfo, OptLevel};

/// Where a source comes from.
#[derive(Clone, Debug)]
pub enum SourceInput {
    /// A file, whose includes are read from the disk.
    File(PathBuf),
    /// Text with a name for messages. Includes are looked up among `files` (name as in the `#include`,
    /// and text), then on the disk if `disk` allows.
    Memory {
        /// Names it in messages, and gives the folder of quoted includes.
        name: String,
        /// The source.
        text: String,
        /// Name and text of each file in memory.
        files: Vec<(String, String)>,
        /// Whether includes may be read from the disk as well.
        disk: bool,
    },
    /// What was read already of a file, or of standard input under some name; its includes are read
    /// from the disk.
    Read {
        /// Names it in messages, and gives the folder of quoted includes.
        path: PathBuf,
        /// The source.
        bytes: Shared<[u8]>,
    },
    /// A file of C or C++ without device code.
    Host(PathBuf),
}

impl SourceInput {
    /// Text without includes of its own.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        SourceInput::Memory { name: name.into(), text: text.into(), files: Vec::new(), disk: false }
    }

    /// Name and text, unless they are a file's.
    pub(crate) fn given_text(&self) -> Option<(String, String)> {
        match self {
            SourceInput::File(_) | SourceInput::Host(_) => None,
            SourceInput::Memory { name, text, .. } => Some((name.clone(), text.clone())),
            SourceInput::Read { bytes, .. } => {
                Some((self.name(), String::from_utf8_lossy(bytes).into_owned()))
            }
        }
    }

    /// The text of a file that messages name, which may be this source; `None` when it cannot be read.
    pub(crate) fn text_of(&self, name: &str) -> Option<String> {
        let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        match self.given_text() {
            Some((known, text)) if known == name => Some(text),
            _ => std::fs::read(name).ok().map(lossy),
        }
    }

    /// Its own text, given or read; `None` when it cannot be read, which whoever compiles it says.
    pub(crate) fn own_text(&self) -> Option<String> {
        self.text_of(&self.name())
    }

    /// The name without folders.
    pub(crate) fn base_name(&self) -> String {
        let name = self.name();
        Path::new(&name).file_name().map_or(name.clone(), |name| name.to_string_lossy().into())
    }

    /// What a compiler calls the language of a file without device code.
    pub(crate) fn host_language(&self) -> Option<&'static str> {
        let SourceInput::Host(path) = self else { return None };
        Some(if path.extension().is_some_and(|extension| extension == "c") { "c" } else { "c++" })
    }

    /// The name in messages and line information.
    pub fn name(&self) -> String {
        match self {
            SourceInput::File(path) | SourceInput::Host(path) | SourceInput::Read { path, .. } => {
                path.display().to_string()
            }
            SourceInput::Memory { name, .. } => name.clone(),
        }
    }
}

/// One of the two passes over a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Device code for one architecture.
    Device(Arch),
    /// Host code.
    Host,
}

/// Diagnostics with what is needed to show them.
#[derive(Clone)]
#[non_exhaustive]
pub struct Report {
    /// Sorted by place, levels applied.
    pub diagnostics: Diagnostics,
    /// The texts and names that the spans of the diagnostics mean.
    pub session: Shared<Session>,
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render_reports(std::slice::from_ref(self), Format::Short))
    }
}

impl Report {
    /// Whether one of the findings is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }
}

/// Renders reports of several passes or files as one list, each finding once.
pub fn render_reports(reports: &[Report], format: Format) -> String {
    let found = reports
        .iter()
        .map(|Report { diagnostics, session }| (diagnostics, &session.sources, &session.names));
    render(found, format)
}

/// What is known about one source after the front end.
#[non_exhaustive]
pub struct Analysis {
    /// Findings of the pass.
    pub report: Report,
    /// The syntax tree, of [`analyse_with_tree`] only: it takes most of the memory, and code is made of the module.
    pub unit: TranslationUnit,
    /// `None` when the program has errors.
    pub module: Option<Verified<ir::Module>>,
    /// The launch ABI that the device code is to use.
    pub launch_abi: LaunchAbi,
    /// Kernels that the source defines; none when there are errors.
    pub kernels: Vec<KernelDescription>,
    /// Who launches whom; there with errors too.
    pub graph: LaunchGraph,
    /// Rows of the builtin tables that this pass's code calls, each once, by name.
    pub builtins: Vec<&'static BuiltinFn>,
    /// Files read, the source first, without the compiler's own headers.
    pub dependencies: Vec<PathBuf>,
    /// Of the front end.
    pub elapsed: Duration,
}

/// Reads and checks a source. Errors in the program are in the report, not in the result.
///
/// # Errors
/// [`Error::Io`] when the source itself cannot be read, [`Error::Abi`] for a launch ABI that the
/// target has not, [`Error::Bug`] when the checker made IR that does not verify.
pub fn analyse(
    source: &SourceInput,
    pass: Pass,
    options: &CompileOptions,
) -> Result<Analysis, Error> {
    analyse_for(source, pass, options, Wanted::Code)
}

/// [`analyse`], with the tree.
///
/// # Errors
/// As [`analyse`].
pub fn analyse_with_tree(
    source: &SourceInput,
    pass: Pass,
    options: &CompileOptions,
) -> Result<Analysis, Error> {
    analyse_for(source, pass, options, Wanted::Tree)
}

/// What an analysis is for beside its findings.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Nothing,
    Code,
    /// The tree, and code.
    Tree,
}

/// What is wrong with a source, as [`analyse`] says it, for a third of the memory: no code is kept of it.
///
/// # Errors
/// As [`analyse`], but for wrong IR.
pub fn findings(
    source: &SourceInput,
    pass: Pass,
    options: &CompileOptions,
) -> Result<Report, Error> {
    let mut report = analyse_for(source, pass, options, Wanted::Nothing)?.report;
    if report.diagnostics.is_empty() {
        // Texts and names are for messages only.
        report.session = Shared::new(Session::new());
    }
    Ok(report)
}

/// A source after preprocessing, as gcc's `-E` gives it.
#[non_exhaustive]
pub struct Preprocessed {
    /// Bytes, since comments and strings of the source may be no UTF-8.
    pub text: Vec<u8>,
    /// What the preprocessor found.
    pub report: Report,
    /// Files read, the source first, without the compiler's own headers.
    pub dependencies: Vec<PathBuf>,
}

/// Preprocesses a source; markers say in the text where each line stood.
///
/// # Errors
/// As [`analyse`]. Errors in the program are in the report.
pub fn preprocess(
    source: &SourceInput,
    pass: Pass,
    options: &CompileOptions,
) -> Result<Preprocessed, Error> {
    guard("preprocess", &source.name(), || {
        let mut session = Session::new();
        let (path, loader) = open(source, options);
        let wanted = preprocess_options(source, pass, options);
        let made = run_preprocessor(&mut session, &path, loader.as_ref(), &wanted)
            .map_err(|source| Error::Io { action: "read".into(), path: path.clone(), source })?;
        let text = preprocess::text::text(&made.tokens, &session);
        let diagnostics = made.diagnostics.finish(&options.warnings, &session.sources);
        let report = Report { diagnostics, session: Shared::new(session) };
        Ok(Preprocessed { text, report, dependencies: made.dependencies })
    })
}

fn analyse_for(
    source: &SourceInput,
    pass: Pass,
    options: &CompileOptions,
    wanted: Wanted,
) -> Result<Analysis, Error> {
    guard("check", &source.name(), || analyse_here(source, pass, options, wanted))
}

fn analyse_here(
    source: &SourceInput,
    pass: Pass,
    options: &CompileOptions,
    wanted: Wanted,
) -> Result<Analysis, Error> {
    let started = Instant::now();
    let launch_abi = launch_abi(pass, options)?;
    let mut session = Session::new();
    let preprocess = preprocess_options(source, pass, options);
    let (path, loader) = open(source, options);
    let parsed = parse(&mut session, &path, loader.as_ref(), &preprocess)
        .map_err(|source| Error::Io { action: "read".into(), path: path.clone(), source })?;
    let mut diagnostics = parsed.diagnostics;
    // This is a guarded thread.
    const _: () = assert!(cdp_llvm::STACK_BYTES >= check::STACK_BYTES);
    let module = wanted != Wanted::Nothing;
    let check_options = CheckOptions { module, ..check_options(source, pass, launch_abi, options) };
    let (unit, checked) = if wanted == Wanted::Tree {
        let checked = check_here(&parsed.unit, &session, &check_options);
        (parsed.unit, checked)
    } else {
        let checked = check_last(parsed.unit, &session, &check_options);
        (TranslationUnit::default(), checked)
    };
    let syntax_errors = diagnostics.has_errors();
    diagnostics.extend(checked.diagnostics);
    let graph = LaunchGraph::new(&session, &checked.launches, &checked.calls);
    let diagnostics = diagnostics.finish(&options.warnings, &session.sources);
    let module = match checked.module {
        Some(module) if !syntax_errors && !diagnostics.has_errors() => Some(verified(module)?),
        _ => None,
    };
    Ok(Analysis {
        kernels: module.as_deref().map(describe_kernels).unwrap_or_default(),
        report: Report { diagnostics, session: Shared::new(session) },
        unit,
        module,
        launch_abi,
        graph,
        builtins: checked.builtins,
        dependencies: parsed.dependencies,
        elapsed: started.elapsed(),
    })
}

fn verified(module: ir::Module) -> Result<Verified<ir::Module>, Error> {
    ir::verify(module).map_err(|errors| {
        let first = errors.into_iter().next();
        let (place, message) = first.map(|e| (e.place, e.message)).unwrap_or_default();
        Error::Bug { stage: "check", place, message }
    })
}

fn launch_abi(pass: Pass, options: &CompileOptions) -> Result<LaunchAbi, Error> {
    let Pass::Device(arch) = pass else { return Ok(LaunchAbi::Cdp2V2) };
    crate::ptx_version::of_target(arch, options)?;
    let request = AbiRequest {
        arch_sm: u32::from(arch.number()),
        cdp: options.cdp(),
        address_bits: options.address_size.bits(),
    };
    match choose(options.launch_abi, request) {
        // The checker says it with the place and the cure (E0416).
        Err(AbiError::Cdp1FromSm90 { .. }) => Ok(LaunchAbi::Documented),
        other => Ok(other?),
    }
}

fn open(source: &SourceInput, options: &CompileOptions) -> (PathBuf, Box<dyn FileLoader>) {
    match source {
        SourceInput::File(path) | SourceInput::Host(path) => (path.clone(), Box::new(DiskLoader)),
        SourceInput::Read { path, bytes } => {
            let loader = OneRead { path: path.clone(), bytes: bytes.clone() };
            (path.clone(), Box::new(loader))
        }
        SourceInput::Memory { name, text, files, disk } => {
            let mut memory = MemoryLoader::single(name, text.as_bytes());
            for (name, text) in files {
                memory = memory.with(name, text.as_bytes());
            }
            let disk = *disk && options.disk_includes;
            (PathBuf::from(name), Box::new(MemoryFirst { memory, disk }))
        }
    }
}

/// A file that was read already, and the disk.
struct OneRead {
    path: PathBuf,
    bytes: Shared<[u8]>,
}

impl FileLoader for OneRead {
    fn load(&self, path: &Path) -> std::io::Result<Option<Vec<u8>>> {
        if path == self.path {
            return Ok(Some(self.bytes.to_vec()));
        }
        DiskLoader.load(path)
    }
}

/// The include directory of files in memory, so that `#include` finds them by their names wherever the
/// source claims to be.
const MEMORY_DIR: &str = "<memory>";

/// Files in memory, then those on the disk if allowed.
struct MemoryFirst {
    memory: MemoryLoader,
    disk: bool,
}

impl FileLoader for MemoryFirst {
    fn load(&self, path: &Path) -> std::io::Result<Option<Vec<u8>>> {
        match self.memory.load(path.strip_prefix(MEMORY_DIR).unwrap_or(path))? {
            None if self.disk => match std::fs::metadata(path) {
                // A text from memory may be a stranger's: devices and pipes need not end.
                Ok(about) if !about.is_file() && !about.is_dir() => Err(std::io::Error::new(
                    std::io::ErrorKind::InvalidInput,
                    "it is no regular file",
                )),
                _ => DiskLoader.load(path),
            },
            found => Ok(found),
        }
    }
}

fn preprocess_options(
    source: &SourceInput,
    pass: Pass,
    options: &CompileOptions,
) -> PreprocessOptions {
    let mut include_dirs = options.include_dirs.clone();
    if let SourceInput::Memory { files, .. } = source
        && !files.is_empty()
    {
        include_dirs.insert(0, MEMORY_DIR.into());
    }
    let target = match pass {
        Pass::Device(arch) => predefined::Target {
            cuda_arch: Some(arch.cuda_arch_macro()),
            arch_suffix: match arch.suffix() {
                ArchSuffix::None => None,
                ArchSuffix::Family => Some('f'),
                ArchSuffix::Specific => Some('a'),
            },
            pointer_bytes: options.pointer_bytes(),
            cdp1: options.cdp() == ir::CdpVersion::Cdp1,
            optimised: options.opt_level != OptLevel::O0 && options.debug != DebugInfo::Full,
            debug: options.debug == DebugInfo::Full,
            fast_math: options.fast_math.fast_functions,
        },
        Pass::Host => predefined::Target::host(8),
    };
    PreprocessOptions {
        include_dirs,
        macros: options.macros.clone(),
        forced_includes: options.forced_includes.clone(),
        predefined: predefined::macros(&target),
        source_date_epoch: options.source_date_epoch,
        memory_bytes: options.memory_bytes,
    }
}

fn check_options(
    source: &SourceInput,
    pass: Pass,
    launch_abi: LaunchAbi,
    options: &CompileOptions,
) -> CheckOptions {
    let (target, arch) = match pass {
        Pass::Device(arch) => (Target::Device { cdp: options.cdp() }, u32::from(arch.number())),
        Pass::Host => (Target::Host, 90),
    };
    CheckOptions {
        module_name: source.name(),
        target,
        pointer_bytes: if pass == Pass::Host { 8 } else { options.pointer_bytes() },
        arch,
        v1_launch_abi: !launch_abi.is_v2(),
        fast_math: options.fast_math,
        module: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(name: &str, text: &str, disk: bool) -> String {
        let files = vec![
            ("n.h".to_string(), "#include \"deep/m.h\"".to_string()),
            ("deep/m.h".to_string(), "#include \"k.h\"".to_string()),
            ("deep/k.h".to_string(), "enum { N = 5 };".to_string()),
        ];
        let source = SourceInput::Memory { name: name.into(), text: text.into(), files, disk };
        let analysis = analyse(&source, Pass::Host, &CompileOptions::default()).unwrap();
        format!("{:?}", analysis.report)
    }

    /// What a stranger's text may include.
    #[test]
    fn devices_are_not_read_and_the_disk_can_be_shut_off() {
        let zero = errors("a.cdp", "#include \"/dev/zero\"", true);
        assert!(zero.contains("E0106") && zero.contains("no regular file"), "{zero}");
        let source = SourceInput::Memory {
            name: "a.cdp".into(),
            text: format!("#include \"{}/src/lib.rs\"", env!("CARGO_MANIFEST_DIR")),
            files: Vec::new(),
            disk: true,
        };
        let found = |disk_includes| {
            let options = CompileOptions { disk_includes, ..CompileOptions::default() };
            !format!("{:?}", analyse(&source, Pass::Host, &options).unwrap().report)
                .contains("E0106")
        };
        assert!(found(true) && !found(false));
    }

    /// By name, wherever the source claims to be; relative to the file that includes; and nothing
    /// else from memory or disk.
    #[test]
    fn files_in_memory_are_found() {
        for disk in [false, true] {
            for name in ["a.cdp", "some/where/a.cdp"] {
                for include in ["#include \"n.h\"", "#include <n.h>"] {
                    let text = format!("{include}\nint x = N;");
                    assert_eq!(errors(name, &text, disk), "");
                }
            }
            let missing = errors("a.cdp", "#include \"k.h\"", disk);
            assert!(missing.contains("E0106"), "{missing}");
        }
    }
}
