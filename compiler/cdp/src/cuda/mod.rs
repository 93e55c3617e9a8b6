//! `.cu` files: all of CUDA C++, read by clang.
//!
//! clang makes LLVM bitcode of the device half and an object of the host half; from the bitcode on
//! everything is as for `.cdp`. What is here: what clang is asked for ([`args`]), its messages as ours
//! ([`messages`], [`report`]), the launch graph of what it made ([`graph`]), the headers that it lacks ([`headers`]),
//! those that it need not read twice ([`precompiled`]), the shared variables that it refuses ([`shared`]), older C
//! that it refuses ([`lenient`]), what it silently takes otherwise ([`redeclared`]) and its second reading of what it refused ([`again`]).
//!
//! What is absent: finding and running clang (`cdp-toolchain`), and taking its launches over
//! (`cdp-llvm`).

use std::path::{Path, PathBuf};
use std::time::Instant;

use cdp_llvm::{ClangFacts, LowerError};
use cdp_toolchain::{Arch, ClangOutput, ClangRequest, Job, JobOptions, clang_object};

use crate::analysis::{Preprocessed, Report, SourceInput};
use crate::build::Build;
use crate::compiler::Compiler;
use crate::describe::{KernelDescription, describe_foreign_kernel};
use crate::emit::{DeviceCode, Emitted};
use crate::error::{Error, guard_input};
use crate::failure::Failure;
use crate::foreign::from_foreign;
use crate::graph::LaunchGraph;
use crate::input::Input;
use crate::options::CompileOptions;
use crate::request::Goal;

mod again;
mod args;
mod assembly;
mod assigned;
mod foreseen;
mod functors;
mod graph;
mod headers;
mod lenient;
mod messages;
mod precompiled;
mod redeclared;
mod report;
mod shared;
mod spelling;
mod unmarked;

use precompiled::{Found, Precompiled};

/// What clang makes of a file in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// Bitcode of the device half.
    Device(Arch),
    /// An object of the host half.
    Host,
    /// Bitcode that the object of the host half is made of, not optimised; true for one that holds the device code
    /// ([`relocatable_name`]) and registers itself with NVIDIA's runtime.
    HostUnoptimised(bool),
    /// Bitcode of the host half, not optimised, for looking at.
    HostBitcode,
    /// The text after preprocessing, of the device half or the host half.
    Text(Option<Arch>),
    /// The same of the device half, with markers of where each line stood.
    Marked(Arch),
    /// Nothing but messages.
    Check(Option<Arch>),
}

/// A half that clang has read.
pub(crate) struct Read {
    pub report: Report,
    /// `None` when the program is wrong.
    pub bytes: Option<Vec<u8>>,
    pub dependencies: Vec<PathBuf>,
}

/// What is known of a `.cu` file without making code of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct CudaAnalysis {
    /// Of the device half, and of the host half if it was read.
    pub reports: Vec<Report>,
    /// Kernels that the device half defines.
    pub kernels: Vec<KernelDescription>,
    /// Who launches whom, of both halves.
    pub graph: LaunchGraph,
}

impl CudaAnalysis {
    /// Whether clang or the launches gave an error.
    pub fn has_errors(&self) -> bool {
        self.reports.iter().any(Report::has_errors)
    }
}

/// A source as clang can read it.
struct OnDisk {
    path: PathBuf,
    /// Folders of what it includes.
    folders: Vec<PathBuf>,
}

impl Compiler {
    /// Code of a device half that clang read, with its launches taken over, and what is known of it; or
    /// what the module has that cannot be lowered.
    pub(crate) fn emit_clang(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
        own: Option<String>,
        want_llvm_ir: bool,
    ) -> Result<Result<(DeviceCode, ClangFacts), LowerError>, Error> {
        let mut lower_options = self.foreign_options(bytes, arch, options)?;
        lower_options.module_id = own.unwrap_or_default();
        let address_bits = options.address_size.bits();
        guard_input(name, || {
            let emit = || {
                let (lowered, facts) =
                    cdp_llvm::lower_clang(name, bytes, address_bits, &lower_options)?;
                Ok((Emitted::of(lowered, &lower_options, want_llvm_ir)?, facts))
            };
            let (emitted, facts) = match emit() {
                Ok(emitted) => emitted,
                Err(error) => return Ok(Err(error)),
            };
            let code = emitted.into_code(describe(&facts), graph_of(&facts), options)?;
            Ok(Ok((code, facts)))
        })
    }

    /// Reads a `.cu` file for `cdpc check`: messages alone, of the device half for every architecture and
    /// of the host half.
    ///
    /// # Errors
    /// Without clang or CUDA's headers.
    pub fn check_cuda(
        &self,
        job: &Job,
        source: &SourceInput,
        options: &CompileOptions,
    ) -> Result<Vec<Report>, Error> {
        let mut reports = Vec::new();
        for arch in options.archs() {
            // Launches are checked when they are taken over.
            let device = self.read_cuda(job, source, Half::Device(arch), options, 1)?;
            let errors = device.report.has_errors();
            reports.push(device.report);
            if let Some(bytes) = device.bytes {
                match self.lower_cuda(source, &bytes, arch, options, false) {
                    Ok(code) => reports.push(code.report),
                    Err(Failure::Program(more)) => reports.extend(more),
                    Err(Failure::Error { error, .. }) => return Err(error),
                }
            }
            if errors {
                return Ok(reports);
            }
        }
        reports.push(self.read_cuda(job, source, Half::Check(None), options, 1)?.report);
        Ok(reports)
    }

    /// The text of a `.cu` file after preprocessing, of the device half for the first architecture, with markers of where
    /// each line stood.
    ///
    /// # Errors
    /// Without clang or CUDA's headers. Errors in the program are in the report.
    pub fn preprocess_cuda(
        &self,
        source: &SourceInput,
        options: &CompileOptions,
    ) -> Result<Preprocessed, Error> {
        let job = Job::new(JobOptions::default()).map_err(Error::Tool)?;
        let read = self.read_cuda(&job, source, Half::Marked(options.archs()[0]), options, 1)?;
        let Read { report, bytes, dependencies, .. } = read;
        Ok(Preprocessed { text: bytes.unwrap_or_default(), report, dependencies })
    }

    /// Reads a `.cu` file for its kernels and launches.
    ///
    /// # Errors
    /// Without clang or CUDA's headers.
    pub fn analyse_cuda(
        &self,
        job: &Job,
        source: &SourceInput,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<CudaAnalysis, Error> {
        let (device, host) = self.both_halves(job, source, arch, Half::HostBitcode, options);
        let (device, host) = (device?, host?);
        let mut analysis = CudaAnalysis {
            reports: vec![device.report, host.report],
            kernels: Vec::new(),
            graph: LaunchGraph::default(),
        };
        let Some(bytes) = device.bytes else { return Ok(analysis) };
        match self.lower_cuda(source, &bytes, arch, options, false) {
            Ok(code) => {
                analysis.graph = code.code.graph;
                analysis.kernels = code.code.kernels;
                analysis.reports.push(code.report);
            }
            Err(Failure::Program(reports)) => analysis.reports.extend(reports),
            Err(Failure::Error { error, .. }) => return Err(error),
        }
        if let Some(bytes) = host.bytes {
            graph::add_host(&mut analysis.graph, &source.name(), &bytes)?;
        }
        graph::add_texts(&mut analysis.graph, source);
        Ok(analysis)
    }

    /// Has clang read both halves at the same time.
    #[allow(clippy::type_complexity)]
    fn both_halves(
        &self,
        job: &Job,
        source: &SourceInput,
        arch: Arch,
        host: Half,
        options: &CompileOptions,
    ) -> (Result<Read, Error>, Result<Read, Error>) {
        std::thread::scope(|scope| {
            let host = scope.spawn(|| self.read_cuda(job, source, host, options, 2));
            let device = self.read_cuda(job, source, Half::Device(arch), options, 2);
            let failed = || Err(Error::request("a thread that ran clang panicked"));
            (device, host.join().unwrap_or_else(|_| failed()))
        })
    }

    /// Has clang read one half, of so many that are read at once.
    pub(crate) fn read_cuda(
        &self,
        job: &Job,
        source: &SourceInput,
        half: Half,
        options: &CompileOptions,
        at_once: usize,
    ) -> Result<Read, Error> {
        match half {
            Half::Host => {
                let read =
                    self.read_half(job, source, Half::HostUnoptimised(false), options, at_once)?;
                self.host_by_bitcode(job, source, read, options, None)
            }
            _ => self.read_half(job, source, half, options, at_once),
        }
    }

    /// Has clang read the host half of an object, whose constructor registers `alone` where no device link does.
    pub(crate) fn read_host_alone(
        &self,
        job: &Job,
        source: &SourceInput,
        options: &CompileOptions,
        alone: Option<&[u8]>,
    ) -> Result<Read, Error> {
        let read = self.read_half(job, source, Half::HostUnoptimised(true), options, 1)?;
        self.host_by_bitcode(job, source, read, options, alone)
    }

    /// The object of a host half, by way of bitcode in which it is made to do as nvcc's host code does
    /// ([`cdp_llvm::finish_host`]).
    fn host_by_bitcode(
        &self,
        job: &Job,
        source: &SourceInput,
        mut read: Read,
        options: &CompileOptions,
        alone: Option<&[u8]>,
    ) -> Result<Read, Error> {
        if let Some(bitcode) = read.bytes.take() {
            let own = args::own_names(source, options);
            let finished = match job.is_dry_run() {
                true => Vec::new(),
                false => {
                    let (name, watch) = (source.name(), options.watch_host);
                    cdp_llvm::finish_host(&name, &bitcode, own.as_deref(), alone, watch)
                        .map_err(|error| from_foreign(&name, error))?
                }
            };
            let stem = format!("{}-finished", Input::Cuda(source.clone()).stem());
            let (program, how) = (self.toolchain().clang()?, args::host_object(options));
            read.bytes = Some(clang_object(job, program, &stem, &finished, &how)?);
        }
        Ok(read)
    }

    fn read_half(
        &self,
        job: &Job,
        source: &SourceInput,
        half: Half,
        options: &CompileOptions,
        at_once: usize,
    ) -> Result<Read, Error> {
        let program = self.toolchain().clang()?;
        let empty;
        let source = match half {
            Half::Device(_) | Half::Text(Some(_)) | Half::Marked(_) | Half::Check(Some(_))
                if source.host_language().is_some() =>
            {
                empty = SourceInput::text(source.name(), "");
                &empty
            }
            _ => source,
        };
        let file = on_disk(job, source, options)?;
        let asked = args::request(self, job, half, source, options)?;
        let Found { header, wanted } = match half {
            // The text is wanted with that of the headers.
            Half::Text(_) | Half::Marked(_) => Found::default(),
            _ if source.host_language().is_some() => Found::default(),
            _ => Precompiled::find(job, program, &asked, source, options),
        };
        let (wanted, header) = match wanted {
            Some(wanted) if !wanted.has_time(at_once, options) => {
                (None, wanted.header().or(header))
            }
            wanted => (wanted, header),
        };
        let run = |header: Option<&Precompiled>| {
            let mut args = asked.common.clone();
            args.extend(header.map(Precompiled::args).unwrap_or_default());
            args.extend(asked.rest.iter().cloned());
            for folder in &file.folders {
                args.extend(["-I".into(), folder.into()]);
            }
            let (path, stem) = (file.path.clone(), Input::Cuda(source.clone()).stem());
            let request =
                ClangRequest { args, source: path, stem, extension: asked.extension, output: None };
            again::run(job, program, &request, &source.name())
        };
        let mut output = std::thread::scope(|scope| {
            if let Some(wanted) = &wanted {
                scope.spawn(|| wanted.make());
            }
            run(header.as_ref())
        })?;
        if let Some(header) = &header {
            if output.failed && header.forget(&output.messages) {
                output = run(None)?;
            }
            output.dependencies.retain(|path| !header.is_of_cache(path));
        }
        let ClangOutput { bytes, messages, failed, dependencies } = output;
        let report = report::read(&messages, source, &options.warnings);
        // A warning may be an error by request.
        let failed = failed || report.has_errors();
        if failed && !report.has_errors() {
            return Err(Error::Input { name: source.name(), message: messages });
        }
        Ok(Read { report, bytes: (!failed).then_some(bytes), dependencies })
    }

    /// Code of a device half.
    pub(crate) fn lower_cuda(
        &self,
        source: &SourceInput,
        bitcode: &[u8],
        arch: Arch,
        options: &CompileOptions,
        want_llvm_ir: bool,
    ) -> Result<Lowered, Failure> {
        let name = source.name();
        // An object has its variables under the names that it registers them by itself.
        let own = args::own_names(source, options).filter(|_| !options.stands_alone);
        let emitted = self.emit_clang(&name, bitcode, arch, options, own, want_llvm_ir)?;
        match emitted {
            Ok((code, facts)) => {
                let report = report::of_limits(source, &facts.launches, &options.warnings);
                if report.has_errors() {
                    return Err(Failure::Program(vec![report]));
                }
                Ok(Lowered { code, report })
            }
            Err(LowerError::Launches(errors)) => {
                Err(Failure::Program(vec![report::of_launches(source, &errors)]))
            }
            Err(other) => Err(from_foreign(&name, other).into()),
        }
    }
}

/// The file of the job's folder with the device code that the host half of a source is to hold.
pub(crate) fn relocatable_name(source: &SourceInput) -> String {
    format!("{}.relocatable.fatbin", Input::Cuda(source.clone()).stem())
}

/// Device code, and what is known of it.
pub(crate) struct Lowered {
    pub code: DeviceCode,
    /// Warnings about launches.
    pub report: Report,
}

/// The launches of a module of clang's.
pub(crate) fn graph_of(facts: &ClangFacts) -> LaunchGraph {
    graph::of_device(facts)
}

/// The kernels of a module of clang's, with the names that they have in the source.
pub(crate) fn describe(facts: &ClangFacts) -> Vec<KernelDescription> {
    let describe = |kernel| {
        let described = describe_foreign_kernel(kernel);
        KernelDescription { name: cdp_llvm::source_name(&kernel.symbol), ..described }
    };
    facts.kernels.iter().map(describe).collect()
}

/// What nvcc takes and clang does not, in clang's spelling; `None` if there is none.
fn as_clang_takes_it(text: &str) -> Option<String> {
    let steps =
        [spelling::joined, assembly::doubled, foreseen::rewritten, redeclared::marked_alone];
    steps.iter().fold(None, |made, step| {
        let next = step(made.as_deref().unwrap_or(text));
        next.or(made)
    })
}

/// The same for a file of the program's own: one of CUDA's headers may ask for nvcc, and means it.
fn own_as_clang_takes_it(text: &str) -> Option<String> {
    let asks = spelling::for_nvcc(text);
    as_clang_takes_it(asks.as_deref().unwrap_or(text)).or(asks)
}

/// The text of a file that a source, or a file of its folder, includes by a name in quotes, and where it is.
fn included_text(
    source: &SourceInput,
    options: &CompileOptions,
    from: Option<&Path>,
    name: &str,
) -> Option<(PathBuf, String)> {
    if let SourceInput::Memory { files, .. } = source
        && let Some((known, text)) = files.iter().find(|(known, _)| known == name)
    {
        return Some((PathBuf::from(known), text.clone()));
    }
    let of_source = match source {
        SourceInput::Read { path, .. } | SourceInput::File(path) => Some(path.as_path()),
        SourceInput::Memory { name, disk: true, .. } => Some(Path::new(name)),
        SourceInput::Memory { disk: false, .. } | SourceInput::Host(_) => return None,
    };
    let own = from.or(of_source).and_then(Path::parent);
    let folders = own.into_iter().chain(options.include_dirs.iter().map(PathBuf::as_path));
    let path = folders.map(|folder| folder.join(name)).find(|path| path.is_file())?;
    let text = std::fs::read_to_string(&path).ok()?;
    Some((path, text))
}

/// Puts a source from memory, and what it includes, into the job's folder.
fn on_disk(job: &Job, source: &SourceInput, options: &CompileOptions) -> Result<OnDisk, Error> {
    let rewritten = |text: String| {
        let made = own_as_clang_takes_it(&text);
        let find = |from: Option<&Path>, name: &str| included_text(source, options, from, name);
        redeclared::marked(made.as_deref().unwrap_or(&text), &find).or(made)
    };
    let own = source.own_text().filter(|_| source.host_language().is_none()).and_then(rewritten);
    let given = source.given_text().map(|(name, text)| (name, own.clone().unwrap_or(text)));
    let Some((name, text)) = given.or_else(|| own.map(|text| (source.name(), text))) else {
        return Ok(OnDisk { path: PathBuf::from(source.name()), folders: Vec::new() });
    };
    let mut folders = Vec::new();
    if let SourceInput::Read { path, .. } | SourceInput::File(path) = source {
        // What stands beside the file is found beside it.
        folders.extend(path.parent().map(|parent| Path::new(".").join(parent)));
    }
    let files = match source {
        SourceInput::Memory { files, .. } => files.as_slice(),
        _ => &[],
    };
    let folder = job.work_dir().join(job.file_name("sources", "d"));
    let put = |path: &Path, text: &str| -> Result<(), Error> {
        let failed = |source| Error::Io { action: "write".into(), path: path.to_owned(), source };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(path, text).map_err(failed)
    };
    if !job.is_dry_run() {
        for (name, text) in files {
            let inside = |part| matches!(part, std::path::Component::Normal(_));
            if !Path::new(name).components().all(inside) {
                return Err(Error::request(format!(
                    "`{name}` is no name that a file from memory can have beside a `.cu` source"
                )));
            }
            put(&folder.join(name), text)?;
        }
        // Messages and `__FILE__` have the name that was given.
        let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
        put(&folder.join("source.cu"), &format!("#line 1 \"{quoted}\"\n{text}"))?;
    }
    let path = folder.join("source.cu");
    folders.insert(0, folder);
    Ok(OnDisk { path, folders })
}

impl Build<'_> {
    /// The device half of a `.cu` file.
    pub(crate) fn cuda_device(
        &mut self,
        source: &SourceInput,
        arch: Arch,
        want_llvm_ir: bool,
    ) -> Result<DeviceCode, Failure> {
        let (job, options) = (self.request.job, self.request.options);
        // The host half of a program is read beside it.
        let at_once = if self.request.goal == Goal::Executable { 2 } else { 1 };
        let started = Instant::now();
        let read = self.compiler.read_cuda(job, source, Half::Device(arch), options, at_once)?;
        self.out.timings.frontend += started.elapsed().as_secs_f64();
        let bytes = self.take_half(read)?;
        let started = Instant::now();
        let lowered = self.compiler.lower_cuda(source, &bytes, arch, options, want_llvm_ir);
        self.out.timings.llvm += started.elapsed().as_secs_f64();
        let Lowered { code, report } = lowered.map_err(|failure| match failure {
            Failure::Program(reports) => {
                self.out.reports.extend(reports);
                self.failed()
            }
            other => other,
        })?;
        self.out.reports.push(report);
        if arch == options.archs()[0] {
            self.out.remarks.extend(code.remarks.iter().cloned());
            self.out.printed.extend(code.printed.iter().cloned());
            self.out.kernels.extend(code.kernels.iter().cloned());
            let mut found = code.graph.clone();
            graph::add_texts(&mut found, source);
            self.out.launches.extend(found.launches);
            self.out.calls.extend(found.calls);
        }
        Ok(code)
    }

    /// The host half of a `.cu` file as an object.
    pub(crate) fn cuda_host(&mut self, source: &SourceInput) -> Result<Vec<u8>, Failure> {
        let options = self.request.options;
        let started = Instant::now();
        let read = self.compiler.read_cuda(self.request.job, source, Half::Host, options, 1)?;
        self.out.timings.frontend += started.elapsed().as_secs_f64();
        self.take_half(read)
    }

    /// Keeps what clang said; its errors end the build after all inputs had their turn.
    pub(crate) fn take_half(&mut self, read: Read) -> Result<Vec<u8>, Failure> {
        self.out.reports.push(read.report);
        self.add_dependencies(read.dependencies);
        // A dry run has no bytes, and goes on without.
        read.bytes.ok_or_else(|| self.failed())
    }
}
