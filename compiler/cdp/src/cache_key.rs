//! A key for build caches and remote execution: equal for equal outputs on every machine and in every
//! folder, different when anything differs that the output is made of.
//!
//! What goes in: the compiler (a digest of its sources, LLVM's version), what is to be made, every
//! option, the bytes of every input and of every file that it includes, and the versions of CUDA's
//! tools. What stays out: names and places of files, the output's name, dates, the machine. A name
//! counts where the program can see it: with debug information, when `__FILE__` or `assert` is used,
//! and in listings, which show it. The name of a `.cu` file counts without its folders.

use std::path::Path;

use cdp_diagnostics::source::FileOrigin;
use cdp_frontend::Session;
use cdp_toolchain::Arch;

use crate::analysis::{Pass, SourceInput, analyse};
use crate::compiler::Compiler;
use crate::cuda::Half;
use crate::digest::Digest;
use crate::error::Error;
use crate::failure::Failure;
use crate::input::{Input, InputKind};
use crate::options::CompileOptions;
use crate::request::{BuildRequest, Goal};
use cdp_llvm::DebugInfo;

/// Changes when the key is made in another way.
const FORMAT: u64 = 1;

/// Words by which a program sees the name of its file.
const FILE_NAME_WORDS: [&str; 2] = ["__FILE__", "assert"];
/// Words by which a program sees when it is compiled.
const DATE_WORDS: [&str; 3] = ["__DATE__", "__TIME__", "__TIMESTAMP__"];

/// A digest of fields, each with its name.
struct Key(Digest);

impl Key {
    fn new() -> Key {
        Key(Digest::new())
    }

    fn field(&mut self, name: &str, value: impl AsRef<[u8]>) {
        self.0.add(name);
        self.0.add(value);
    }

    fn finish(self) -> String {
        self.0.finish()
    }
}

impl Compiler {
    /// The key of what [`Compiler::build`] would make, as 64 hexadecimal digits. It runs the front end
    /// and no tool; a program with errors has no key.
    ///
    /// # Errors
    /// As [`Compiler::build`] before any code is made, and when a tool that the build needs is
    /// missing.
    pub fn cache_key(&self, request: &BuildRequest) -> Result<String, Failure> {
        let mut key = Key::new();
        key.field("format", FORMAT.to_le_bytes());
        key.field("compiler", env!("CARGO_PKG_VERSION"));
        key.field("sources", env!("CDP_SOURCE_DIGEST"));
        let (major, minor, patch) = cdp_llvm::inkwell::support::get_llvm_version();
        key.field("llvm", format!("{major}.{minor}.{patch}"));
        key.field("goal", format!("{:?}", request.goal));
        add_options(&mut key, request.options);
        self.add_tools(&mut key, request)?;
        add_host_link(&mut key, request)?;
        let (mut reports, mut broken) = (Vec::new(), false);
        for input in request.inputs {
            match input {
                Input::Source(source) => {
                    broken |= add_source(&mut key, source, request, &mut reports)?;
                }
                Input::Cuda(source) => {
                    broken |= self.add_cuda(&mut key, source, request, &mut reports)?;
                }
                Input::Bytes(InputKind::Source, name, bytes) => {
                    let source =
                        SourceInput::Read { path: name.into(), bytes: bytes.as_slice().into() };
                    broken |= add_source(&mut key, &source, request, &mut reports)?;
                }
                Input::Bytes(kind, _, bytes) => key.field(&format!("{kind:?}"), bytes),
            }
        }
        if broken { Err(Failure::Program(reports)) } else { Ok(key.finish()) }
    }

    /// Adds what clang makes of a `.cu` file before it reads it as C++, for each half.
    fn add_cuda(
        &self,
        key: &mut Key,
        source: &SourceInput,
        request: &BuildRequest,
        reports: &mut Vec<crate::analysis::Report>,
    ) -> Result<bool, Failure> {
        let options = request.options;
        let mut halves: Vec<_> = options.archs().into_iter().map(Some).collect();
        if matches!(request.goal, Goal::Executable | Goal::HostObject | Goal::CudaObject) {
            halves.push(None);
        }
        key.field("clang", cdp_toolchain::CLANG_MAJOR.to_le_bytes());
        // Lines and names go into debug information, and what is `static` gets a name with the file's.
        key.field("base name", source.base_name());
        if options.debug != DebugInfo::None {
            key.field("name", source.name());
        }
        let job =
            cdp_toolchain::Job::new(cdp_toolchain::JobOptions::default()).map_err(Error::Tool)?;
        let mut broken = false;
        for arch in halves {
            let read = self.read_cuda(&job, source, Half::Text(arch), options, 1)?;
            key.field("half", format!("{arch:?}"));
            broken |= read.bytes.is_none();
            key.field("text", read.bytes.unwrap_or_default());
            reports.push(read.report);
        }
        Ok(broken)
    }

    /// Versions of what will run, and the bytes of what is linked in.
    fn add_tools(&self, key: &mut Key, request: &BuildRequest) -> Result<(), Failure> {
        let options = request.options;
        let bits = options.address_size;
        key.field("libdevice", self.libdevice().unwrap_or_default());
        for arch in options.archs() {
            let version = crate::ptx_version::of_target(arch, options)?;
            key.field("ptx", version.to_string());
            let assembles = request.goal.needs_tools() && request.goal != Goal::HostObject;
            if assembles && (request.goal != Goal::Executable || request.cubin) {
                let assembler = self.toolchain().assembler(arch, bits).map_err(Error::Tool)?;
                key.field("ptxas", format!("{:?}", assembler.version()));
                self.add_link_tools(key, request, arch)?;
            }
        }
        Ok(())
    }

    fn add_link_tools(
        &self,
        key: &mut Key,
        request: &BuildRequest,
        arch: Arch,
    ) -> Result<(), Failure> {
        if !request.goal.links_devices() {
            return Ok(());
        }
        let bits = request.options.address_size;
        let tools = self.toolchain().link_tools(arch, bits).map_err(Error::Tool)?;
        let version_of = |path: &Path| {
            let kits = self.toolchain().toolkits();
            kits.iter().find(|kit| path.starts_with(&kit.root)).and_then(|kit| kit.version())
        };
        key.field("nvlink", format!("{:?}", version_of(&tools.nvlink)));
        let cudadevrt = tools.cudadevrt.as_deref().map(version_of);
        key.field("cudadevrt", format!("{cudadevrt:?}"));
        Ok(())
    }
}

/// Every option by name; a new one does not compile until it is here.
fn add_options(key: &mut Key, options: &CompileOptions) {
    let CompileOptions {
        // What counts where none is named, as if it were.
        archs: _,
        address_size,
        opt_level,
        host_opt_level,
        cdp,
        launch_abi,
        // In the field of its own, with what the target adds.
        ptx_version: _,
        // The code is the same with any number.
        threads: _,
        launch_opt,
        launch_tuning,
        // What is shown on the way changes nothing.
        print_after: _,
        per_thread_default_stream,
        unit_instructions,
        fast_math,
        // It is in `fast_math`.
        said_of_math: _,
        debug,
        stores_apart,
        watch_host,
        max_registers,
        ptxas_args,
        nvlink_args,
        host_args,
        // What is found there counts, not where it lies.
        include_dirs: _,
        disk_includes: _,
        macros,
        forced_includes: _,
        warnings,
        // Decides whether there is code, not which.
        memory_bytes: _,
        // Counts where a program asks for the date.
        source_date_epoch: _,
        cudadevrt,
        stands_alone,
        relocatable,
        mend_declarations,
        cxx_standard,
        cache_dir: _,
    } = options;
    key.field("archs", format!("{:?}", options.archs()));
    key.field("address-size", format!("{address_size:?}"));
    key.field("opt-level", format!("{opt_level:?} {host_opt_level:?}"));
    key.field("cdp", format!("{cdp:?}"));
    key.field("launch-abi", format!("{launch_abi:?}"));
    key.field("launch-opt", format!("{launch_opt:?} {launch_tuning:?}"));
    key.field("per-thread", format!("{per_thread_default_stream:?}"));
    key.field("unit instructions", unit_instructions.to_string());
    key.field("fast-math", format!("{fast_math:?}"));
    key.field("debug", format!("{debug:?} {stores_apart} {watch_host}"));
    key.field("maxrregcount", format!("{max_registers:?}"));
    key.field("ptxas-args", format!("{ptxas_args:?}"));
    key.field("nvlink-args", format!("{nvlink_args:?}"));
    key.field("host-args", format!("{host_args:?}"));
    key.field("macros", format!("{macros:?}"));
    key.field("warnings", format!("{warnings:?}"));
    key.field("devrt", format!("{cudadevrt:?} {stands_alone} {relocatable:?}"));
    key.field("std", format!("{cxx_standard:?}"));
    key.field("mend", [u8::from(*mend_declarations)]);
}

/// What the system's linker is given. Libraries that it finds by itself count by name.
fn add_host_link(key: &mut Key, request: &BuildRequest) -> Result<(), Failure> {
    if request.goal != Goal::Executable {
        return Ok(());
    }
    key.field("cubin", [u8::from(request.cubin)]);
    let link = &request.host_link;
    key.field("libraries", format!("{:?} {:?}", link.libraries, link.extra_args));
    for path in link.files.iter().chain(&request.runtime_library) {
        let read = std::fs::read(path);
        key.field("file", read.map_err(|source| read_error(path, source))?);
    }
    for (folder, name) in
        link.library_dirs.iter().flat_map(|dir| link.libraries.iter().map(move |name| (dir, name)))
    {
        for file in [format!("lib{name}.so"), format!("lib{name}.a")] {
            if let Ok(bytes) = std::fs::read(folder.join(file)) {
                key.field("library", bytes);
            }
        }
    }
    Ok(())
}

fn read_error(path: &Path, source: std::io::Error) -> Failure {
    Error::Io { action: "read".into(), path: path.to_owned(), source }.into()
}

/// Adds a source and what it includes, for each pass. Whether it has errors.
fn add_source(
    key: &mut Key,
    source: &SourceInput,
    request: &BuildRequest,
    reports: &mut Vec<crate::analysis::Report>,
) -> Result<bool, Failure> {
    let mut passes: Vec<_> = request.options.archs().into_iter().map(Pass::Device).collect();
    if matches!(request.goal, Goal::Executable | Goal::HostObject | Goal::CudaObject) {
        passes.push(Pass::Host);
    }
    let mut broken = false;
    for pass in passes {
        let analysis = analyse(source, pass, request.options)?;
        broken |= analysis.module.is_none();
        key.field("pass", if pass == Pass::Host { "host" } else { "device" });
        add_files(key, &analysis.report.session, request);
        reports.push(analysis.report);
    }
    Ok(broken)
}

fn add_files(key: &mut Key, session: &Session, request: &BuildRequest) {
    let files = || {
        let files = session.sources.files().map(|(_, file)| file);
        files.filter(|file| !file.system && file.origin != FileOrigin::Synthetic)
    };
    let mentions =
        |words: &[&str]| files().any(|file| words.iter().any(|word| file.text.contains(word)));
    let listing = matches!(request.goal, Goal::Ast | Goal::Ir | Goal::LlvmIr);
    let named = listing || request.options.debug != DebugInfo::None || mentions(&FILE_NAME_WORDS);
    for file in files() {
        if named {
            key.field("name", &file.name);
        }
        key.field("text", file.text.as_bytes());
    }
    if mentions(&DATE_WORDS) {
        // Without a date that was asked for, every second makes another program.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let date = request.options.source_date_epoch;
        let date = date.unwrap_or_else(|| now.map_or(0, |now| now.as_secs()));
        key.field("date", date.to_le_bytes());
    }
}
