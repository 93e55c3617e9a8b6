//! A whole build: inputs of several kinds compiled as needed and linked together. What `cdpc build`
//! and `cdpc link` are, and what an embedder calls who does not want the stages one by one.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cdp_frontend::ast_print;
use cdp_toolchain::{
    Arch, DeviceObject, FatbinInput, FatbinOptions, HostLinkOptions, ImageKind, Job, JobOptions,
    Linked, ObjectParts, ToolCommand, fatbinary,
};
use serde::Serialize;

use crate::analysis::{Analysis, Pass, Report, SourceInput, analyse};
use crate::compiler::{Compiler, DeviceCode, check_cancelled};
use crate::describe::{KernelDescription, check_against_cubin, describe_linked_kernel};
use crate::error::{Error, Failure, guard, guard_input};
use crate::graph::{LaunchEdge, LaunchGraph};
use crate::mend::mend_extern_kernels;
use crate::message::{Message, messages};
use crate::options::{CompileOptions, DebugInfo, LaunchRemark};

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// `.cdp` text.
    Source,
    /// `.cu` text, which clang reads.
    Cuda,
    /// LLVM IR text or bitcode with `@cdp.launch` or without launches.
    Llvm,
    /// PTX text of any compiler.
    Ptx,
    /// A device object, a cubin, a host object with device code, a library of these, or a fat
    /// binary.
    Object,
}

impl InputKind {
    /// By the file's extension.
    pub fn of(path: &Path) -> Option<InputKind> {
        Some(match path.extension()?.to_str()? {
            "cdp" => InputKind::Source,
            "cu" => InputKind::Cuda,
            "ll" | "bc" => InputKind::Llvm,
            "ptx" => InputKind::Ptx,
            "o" | "cubin" | "a" | "fatbin" => InputKind::Object,
            _ => return None,
        })
    }

    /// By the first bytes, for standard input.
    pub fn sniff(bytes: &[u8]) -> InputKind {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
        let starts = |words: &[&str]| {
            text.lines().any(|line| words.iter().any(|word| line.starts_with(word)))
        };
        if bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(b"\xde\xc0\x17\x0b") {
            InputKind::Llvm
        } else if [&b"\x7fELF"[..], b"!<arch>\n", b"!<thin>\n", b"\x50\xed\x55\xba"]
            .iter()
            .any(|magic| bytes.starts_with(magic))
        {
            InputKind::Object
        } else if starts(&[".version"]) {
            InputKind::Ptx
        } else if starts(&[
            "; ModuleID",
            "target triple",
            "target datalayout",
            "define ",
            "source_filename",
        ]) {
            InputKind::Llvm
        } else {
            InputKind::Source
        }
    }
}

/// One input of a build.
#[derive(Clone, Debug)]
pub enum Input {
    /// A `.cdp` file.
    Source(SourceInput),
    /// A `.cu` file.
    Cuda(SourceInput),
    /// Name and bytes.
    Bytes(InputKind, String, Vec<u8>),
}

impl Input {
    /// A source from memory, without includes of its own.
    pub fn source(name: impl Into<String>, text: impl Into<String>) -> Input {
        Input::Source(SourceInput::text(name, text))
    }

    /// A `.cu` source from memory.
    pub fn cuda(name: impl Into<String>, text: impl Into<String>) -> Input {
        Input::Cuda(SourceInput::text(name, text))
    }

    /// LLVM IR of another compiler, as text or bitcode.
    pub fn llvm(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Input {
        Input::Bytes(InputKind::Llvm, name.into(), bytes.into())
    }

    /// PTX text.
    pub fn ptx(name: impl Into<String>, text: impl Into<String>) -> Input {
        Input::Bytes(InputKind::Ptx, name.into(), text.into().into_bytes())
    }

    /// A device object, a cubin, a host object with device code, a library of these, a fat binary.
    pub fn object(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Input {
        Input::Bytes(InputKind::Object, name.into(), bytes.into())
    }

    /// The name in messages.
    pub fn name(&self) -> String {
        match self {
            Input::Source(source) | Input::Cuda(source) => source.name(),
            Input::Bytes(_, name, _) => name.clone(),
        }
    }

    /// A short name for intermediate files.
    pub(crate) fn stem(&self) -> String {
        let name = self.name();
        let stem = Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| "module".into())
    }
}

/// Where a build ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The syntax tree, for those who work on the compiler.
    Ast,
    /// Our IR as text, likewise.
    Ir,
    /// LLVM IR after optimisation, as text.
    LlvmIr,
    /// PTX text for one architecture.
    Ptx,
    /// A relocatable device object.
    Object,
    /// Linked machine code for one architecture.
    Cubin,
    /// Cubins, and PTX where it is asked for, of all architectures.
    Fatbin,
    /// The host pass alone: an object with registrations and without the device image.
    HostObject,
    /// A host object with relocatable device code inside, for a link by nvcc (`nvcc -dc`).
    CudaObject,
    /// A program, by the system's linker.
    Executable,
}

impl Goal {
    /// Whether the result is made by CUDA's tools.
    pub fn needs_tools(self) -> bool {
        !matches!(self, Goal::Ast | Goal::Ir | Goal::LlvmIr | Goal::Ptx)
    }
}

/// What to build.
pub struct BuildRequest<'a> {
    /// At least one.
    pub inputs: &'a [Input],
    /// What is wanted of them.
    pub goal: Goal,
    /// How it is made.
    pub options: &'a CompileOptions,
    /// The temporary folder, `--keep`, `--dry-run`.
    pub job: &'a Job,
    /// For [`Goal::Executable`]: also make a cubin. Without it the program runs on the CPU device
    /// only, and no CUDA tool is needed.
    pub cubin: bool,
    /// `libcdp_runtime.a`, for [`Goal::Executable`].
    pub runtime_library: Option<PathBuf>,
    /// For [`Goal::Executable`]: `-l`, `-L` and other objects.
    pub host_link: HostLinkOptions,
}

impl<'a> BuildRequest<'a> {
    /// A request with nothing special: no host libraries, and for an executable device code for
    /// the CPU device only.
    pub fn new(
        inputs: &'a [Input],
        goal: Goal,
        options: &'a CompileOptions,
        job: &'a Job,
    ) -> BuildRequest<'a> {
        BuildRequest {
            inputs,
            goal,
            options,
            job,
            cubin: false,
            runtime_library: None,
            host_link: HostLinkOptions::default(),
        }
    }
}

/// Seconds by stage.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Timings {
    /// Reading and checking the sources.
    pub frontend: f64,
    /// Lowering, optimisation and emission.
    pub llvm: f64,
    /// All runs, one after another.
    pub ptxas: f64,
    /// All runs, one after another.
    pub nvlink: f64,
    /// From the call to its end, which other work may fill.
    pub total: f64,
}

/// What a build made and learned.
#[derive(Debug, Default)]
pub struct BuildOutput {
    /// Empty in a dry run.
    pub bytes: Vec<u8>,
    /// Kernels for the first architecture: of sources and LLVM IR, and, where a cubin was linked, of PTX and
    /// objects as well, whose parameters have no names.
    pub kernels: Vec<KernelDescription>,
    /// Launch sites of the sources and of LLVM IR.
    pub launches: Vec<LaunchEdge>,
    /// (caller, callee), for functions of the sources from which a launch can be reached.
    pub calls: Vec<(String, String)>,
    /// What the launch optimiser did with each launch site, for the first architecture.
    pub remarks: Vec<LaunchRemark>,
    /// The LLVM IR of each input after [`CompileOptions::print_after`], for the first architecture.
    pub printed: Vec<String>,
    /// Warnings; a program with errors is a [`Failure::Program`].
    pub reports: Vec<Report>,
    /// Warnings of CUDA's tools, a line each.
    pub tool_warnings: Vec<String>,
    /// What ptxas says of each function's registers, stack and memory, a line each.
    pub resource_usage: Vec<String>,
    /// Files read, for build systems; without the compiler's own headers.
    pub dependencies: Vec<PathBuf>,
    /// The tools that ran, or would in a dry run, in order.
    pub commands: Vec<ToolCommand>,
    /// Size of the cubins, all architectures together.
    pub cubin_bytes: u64,
    /// Whether the device runtime is in the cubins, about 200 KB in each.
    pub cudadevrt_linked: bool,
    /// Where the time went.
    pub timings: Timings,
}

impl BuildOutput {
    /// What was made, as text: PTX, LLVM IR, cdp's IR. Bytes that are no UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The warnings as data.
    pub fn messages(&self) -> Vec<Message> {
        messages(&self.reports)
    }

    /// The device-side and host-side launches of the sources.
    pub fn graph(&self) -> LaunchGraph {
        LaunchGraph { launches: self.launches.clone(), calls: self.calls.clone() }
    }
}

impl Compiler {
    /// Compiles inputs from memory (or files) to a goal, with a temporary folder of its own where
    /// CUDA's tools are needed: what an embedder wants who needs neither `--keep` nor host libraries.
    /// It may be called on a thread with a small stack.
    ///
    /// # Errors
    /// [`Failure::Program`] with every error of every input, or what the environment did;
    /// [`Error::Cancelled`] after [`Compiler::cancel`].
    pub fn compile(
        &self,
        inputs: &[Input],
        goal: Goal,
        options: &CompileOptions,
    ) -> Result<BuildOutput, Failure> {
        let cancellable = self.cancellable();
        // Without tools there is nothing to put into a folder. clang is one.
        let reads_cuda =
            |input: &Input| matches!(input, Input::Cuda(_) | Input::Bytes(InputKind::Cuda, ..));
        let job = Job::new(JobOptions {
            dry_run: !goal.needs_tools() && !inputs.iter().any(reads_cuda),
            cancelled: cancellable.cancel.flag(),
            ..JobOptions::default()
        })?;
        let build = |request: &BuildRequest<'_>| cancellable.run(|| self.build(request));
        let request =
            BuildRequest { cubin: true, ..BuildRequest::new(inputs, goal, options, &job) };
        // With another compiler's IR among the inputs, that is what LLVM gives up on.
        let is_foreign = |input: &&Input| {
            matches!(input, Input::Bytes(InputKind::Llvm, ..)) || reads_cuda(input)
        };
        if let Some(input) = inputs.iter().find(is_foreign) {
            return guard_input(&input.name(), || build(&request));
        }
        let name = inputs.first().map(Input::name).unwrap_or_default();
        guard("build", &name, || build(&request))
    }

    /// Builds.
    ///
    /// # Errors
    /// [`Failure::Program`] with every error of every input, or what the environment did.
    pub fn build(&self, request: &BuildRequest) -> Result<BuildOutput, Failure> {
        let started = Instant::now();
        let mut build = Build { compiler: self, request, out: BuildOutput::default() };
        let result = build.run();
        let mut out = build.out;
        out.commands = request.job.commands();
        out.timings.total = started.elapsed().as_secs_f64();
        match result {
            Ok(bytes) => Ok(BuildOutput { bytes, ..out }),
            Err(Failure::Program(_)) => Err(Failure::Program(out.reports)),
            Err(Failure::Error { error, .. }) => {
                Err(Failure::Error { error, reports: out.reports })
            }
        }
    }
}

pub(crate) struct Build<'a> {
    pub compiler: &'a Compiler,
    pub request: &'a BuildRequest<'a>,
    pub out: BuildOutput,
}

/// The device code of one architecture.
pub(crate) struct DeviceImage {
    arch: Arch,
    pub cubin: Vec<u8>,
    /// PTX of each input that has any, in order.
    pub ptx: Vec<String>,
}

impl Build<'_> {
    fn run(&mut self) -> Result<Vec<u8>, Failure> {
        let request = self.request;
        if request.inputs.is_empty() {
            return Err(Error::request("nothing to build").into());
        }
        let archs = request.options.archs();
        let one_arch = |what: &str| match archs[..] {
            [arch] => Ok(arch),
            _ => Err(Error::Request {
                message: format!("{what} is for one architecture, and {} were given", archs.len()),
                cure: Some("give one --arch, or make a fat binary with --emit fatbin".into()),
            }),
        };
        match request.goal {
            Goal::Ast | Goal::Ir | Goal::LlvmIr | Goal::Ptx => {
                let arch = one_arch("this output")?;
                self.text(arch)
            }
            Goal::Object => {
                let arch = one_arch("an object")?;
                let input = one_input(request.inputs, "an object")?;
                Ok(self.object(input, arch, false)?.object.bytes)
            }
            Goal::Cubin => {
                let arch = one_arch("a cubin")?;
                Ok(self.image(arch)?.cubin)
            }
            Goal::Fatbin => {
                let images = self.images(&archs)?;
                self.pack(&images)
            }
            Goal::HostObject => {
                let input = one_input(request.inputs, "a host object")?;
                self.host_object(input)?.ok_or_else(|| {
                    Error::request("a host object is made of a source, and this is none").into()
                })
            }
            Goal::CudaObject => match one_input(request.inputs, "an object")? {
                Input::Source(source) => self.cuda_object(source),
                Input::Cuda(source) => self.cuda_object_by_clang(source),
                _ => Err(Error::Request {
                    message: "a host object is made of a source, and this is none".into(),
                    cure: Some("make a device object with --emit device-obj".into()),
                }
                .into()),
            },
            Goal::Executable => self.executable(&archs),
        }
    }

    /// Analyses a source; its errors end the build after all inputs had their turn.
    pub fn analysis(
        &mut self,
        source: &SourceInput,
        pass: Pass,
    ) -> Result<Option<Analysis>, Failure> {
        check_cancelled()?;
        let analysis = analyse(source, pass, self.request.options)?;
        self.out.timings.frontend += analysis.elapsed.as_secs_f64();
        self.out.reports.push(analysis.report.clone());
        for path in &analysis.dependencies {
            if !self.out.dependencies.contains(path) {
                self.out.dependencies.push(path.clone());
            }
        }
        Ok(analysis.module.is_some().then_some(analysis))
    }

    pub fn failed(&self) -> Failure {
        Failure::Program(Vec::new())
    }

    fn text(&mut self, arch: Arch) -> Result<Vec<u8>, Failure> {
        let request = self.request;
        let input = one_input(request.inputs, "this output")?;
        let goal = request.goal;
        if let (Goal::Ast | Goal::Ir, Input::Source(source)) = (goal, input) {
            let analysis = analyse(source, Pass::Device(arch), self.request.options)?;
            self.out.reports.push(analysis.report.clone());
            if goal == Goal::Ast {
                return Ok(ast_print::print(&analysis.unit, &analysis.report.session).into_bytes());
            }
            let module = analysis.module.ok_or_else(|| self.failed())?;
            return Ok(cdp_ir::print::print_module(&module).into_bytes());
        }
        if let (Goal::Ast | Goal::Ir, _) = (goal, input) {
            return Err(Error::request("only sources have a syntax tree and IR").into());
        }
        let code = self
            .device_code(input, arch)?
            .ok_or_else(|| Failure::from(Error::request(format!("{} has no PTX", input.name()))))?;
        Ok(if goal == Goal::LlvmIr { code.llvm_ir } else { code.ptx }.into_bytes())
    }

    /// PTX of an input; `None` for objects.
    fn device_code(&mut self, input: &Input, arch: Arch) -> Result<Option<DeviceCode>, Failure> {
        check_cancelled()?;
        let started = Instant::now();
        let options = self.request.options;
        let want_ir = self.request.goal == Goal::LlvmIr;
        match input {
            Input::Source(source) => {
                let Some(analysis) = self.analysis(source, Pass::Device(arch))? else {
                    return Err(self.failed());
                };
                let started = Instant::now();
                let code = self.compiler.emit_device(&analysis, arch, options, want_ir)?;
                self.out.timings.llvm += started.elapsed().as_secs_f64();
                if arch == options.archs()[0] {
                    self.out.remarks.extend(code.remarks.iter().cloned());
                    self.out.printed.extend(code.printed.iter().cloned());
                    self.out.kernels.extend(analysis.kernels);
                    self.out.launches.extend(analysis.graph.launches);
                    self.out.calls.extend(analysis.graph.calls);
                }
                Ok(Some(code))
            }
            Input::Cuda(source) => Ok(Some(self.cuda_device(source, arch, want_ir)?)),
            Input::Bytes(InputKind::Cuda, name, bytes) => {
                let source =
                    SourceInput::Read { path: name.into(), bytes: bytes.as_slice().into() };
                Ok(Some(self.cuda_device(&source, arch, want_ir)?))
            }
            Input::Bytes(InputKind::Source, name, bytes) => {
                let source =
                    SourceInput::Read { path: name.into(), bytes: bytes.as_slice().into() };
                self.device_code(&Input::Source(source), arch)
            }
            Input::Bytes(InputKind::Llvm, name, bytes) => {
                let code = self.compiler.emit_foreign(name, bytes, arch, options, want_ir)?;
                self.out.timings.llvm += started.elapsed().as_secs_f64();
                if arch == options.archs()[0] {
                    self.out.remarks.extend(code.remarks.iter().cloned());
                    self.out.printed.extend(code.printed.iter().cloned());
                    self.out.kernels.extend(code.kernels.iter().cloned());
                    self.out.launches.extend(code.graph.launches.iter().cloned());
                    self.out.calls.extend(code.graph.calls.iter().cloned());
                }
                Ok(Some(code))
            }
            Input::Bytes(InputKind::Ptx, name, bytes) => {
                let text = String::from_utf8(bytes.clone()).map_err(|error| Error::Input {
                    name: name.clone(),
                    message: format!("PTX is text, and this is not UTF-8: {error}"),
                })?;
                let text = match options.mend_declarations {
                    true => mend_extern_kernels(&text),
                    false => text,
                };
                Ok(Some(DeviceCode { ptx: text, ..DeviceCode::default() }))
            }
            Input::Bytes(InputKind::Object, ..) => Ok(None),
        }
    }

    /// The object of an input, and its PTX; `alone` when nothing else is linked with it.
    fn object(&mut self, input: &Input, arch: Arch, alone: bool) -> Result<Part, Failure> {
        if let Input::Bytes(InputKind::Object, name, bytes) = input {
            let object = DeviceObject::from_bytes(name, bytes.clone())?;
            return Ok(Part { object, ptx: None, is_whole: false });
        }
        let Some(code) = self.device_code(input, arch)? else {
            return Err(Error::request(format!("{} has no device code", input.name())).into());
        };
        let started = Instant::now();
        let (job, options, stem) = (self.request.job, self.request.options, input.stem());
        let is_whole = alone && Compiler::is_whole_program(&code.ptx, options);
        let assembled = match is_whole {
            true => self.compiler.assemble_whole(job, &stem, &code.ptx, arch, options)?,
            false => self.compiler.assemble(job, &stem, &code.ptx, arch, options)?,
        };
        self.out.timings.ptxas += started.elapsed().as_secs_f64();
        self.out.tool_warnings.extend(assembled.warnings);
        self.out.resource_usage.extend(assembled.info);
        Ok(Part { object: assembled.object, ptx: Some(code.ptx), is_whole })
    }

    /// Compiles and links everything for one architecture.
    fn image(&mut self, arch: Arch) -> Result<DeviceImage, Failure> {
        let request = self.request;
        let first = request.options.archs()[0] == arch;
        let (mut objects, mut ptx, mut broken) = (Vec::new(), Vec::new(), false);
        // What is only for the host's linker has no place in a device link.
        let linked_in = |input: &&Input| request.goal != Goal::Executable || parts(input).device;
        let alone = request.inputs.iter().filter(linked_in).count() == 1;
        let mut is_whole = false;
        for input in request.inputs.iter().filter(linked_in) {
            match self.object(input, arch, alone) {
                Ok(part) => {
                    is_whole |= part.is_whole;
                    objects.push(part.object);
                    ptx.extend(part.ptx);
                }
                Err(Failure::Program(_)) => broken = true,
                Err(other) => return Err(other),
            }
        }
        if broken {
            return Err(self.failed());
        }
        let started = Instant::now();
        let stem = request.inputs[0].stem();
        let linked = match objects.pop_if(|_| is_whole) {
            Some(program) => Linked::of_whole_program(program)?,
            None => self.compiler.link(request.job, &stem, &objects, arch, request.options)?,
        };
        self.out.timings.nvlink += started.elapsed().as_secs_f64();
        self.out.tool_warnings.extend(linked.warnings);
        self.out.cudadevrt_linked |= linked.cudadevrt_linked;
        self.out.cubin_bytes += linked.bytes.len() as u64;
        if let (true, Some(cubin)) = (first, &linked.cubin) {
            check_against_cubin(&mut self.out.kernels, cubin).map_err(|mismatch| Error::Bug {
                stage: "the parameter-buffer layout",
                place: mismatch.kernel,
                message: mismatch.message,
            })?;
            let known: Vec<_> = self.out.kernels.iter().map(|k| k.symbol.clone()).collect();
            let others = cubin.kernels.iter().filter(|kernel| {
                // Those of the device runtime, and the one that our own memset launches, are nobody's.
                let internal = kernel.is_local || kernel.name.starts_with("__cdp_");
                !internal && !known.contains(&kernel.name)
            });
            self.out.kernels.extend(others.map(describe_linked_kernel));
        }
        Ok(DeviceImage { arch, cubin: linked.bytes, ptx })
    }

    pub(crate) fn images(&mut self, archs: &[Arch]) -> Result<Vec<DeviceImage>, Failure> {
        archs.iter().map(|arch| self.image(*arch)).collect()
    }

    pub(crate) fn pack(&mut self, images: &[DeviceImage]) -> Result<Vec<u8>, Failure> {
        let inputs: Vec<_> = images
            .iter()
            .map(|image| FatbinInput {
                kind: ImageKind::Elf,
                arch: image.arch,
                bytes: image.cubin.clone(),
            })
            .collect();
        let options = FatbinOptions {
            address_size: self.request.options.address_size,
            // A program that is to be debugged lets the runtime read its machine code.
            compress: self.request.options.debug == DebugInfo::None,
            relocatable: false,
        };
        let toolchain = self.compiler.toolchain();
        let stem = self.request.inputs[0].stem();
        Ok(fatbinary(toolchain, self.request.job, &stem, &inputs, options)?)
    }

    /// PTX of every input, for the CPU device.
    pub(crate) fn ptx_of_all(&mut self, arch: Arch) -> Result<Vec<String>, Failure> {
        let (mut ptx, mut broken) = (Vec::new(), false);
        for input in self.request.inputs {
            match self.device_code(input, arch) {
                Ok(Some(code)) => ptx.push(code.ptx),
                Ok(None) if parts(input).runs_on_cpu() => {}
                Ok(None) => {
                    return Err(Error::Request {
                        message: format!(
                            "{} holds machine code and no PTX, which is what the CPU device runs",
                            input.name()
                        ),
                        cure: Some(
                            "give its source, or compile it with PTX (nvcc -dc -arch=sm_90; clang \
                             --no-offload-new-driver --cuda-include-ptx=all)"
                                .into(),
                        ),
                    }
                    .into());
                }
                Err(Failure::Program(_)) => broken = true,
                Err(other) => return Err(other),
            }
        }
        if broken { Err(self.failed()) } else { Ok(ptx) }
    }

    /// The host pass of a source; `None` for other inputs.
    pub(crate) fn host_object(&mut self, input: &Input) -> Result<Option<Vec<u8>>, Failure> {
        let source = match input {
            Input::Source(source) => source,
            Input::Cuda(source) => return Ok(Some(self.cuda_host(source)?)),
            Input::Bytes(..) => return Ok(None),
        };
        let Some(analysis) = self.analysis(source, Pass::Host)? else {
            return Err(self.failed());
        };
        let started = Instant::now();
        // A host object by itself is for a link with anything.
        let is_alone = self.request.goal == Goal::HostObject;
        let with_others = self
            .request
            .inputs
            .iter()
            .any(|input| matches!(input, Input::Cuda(_)) || parts(input).host);
        let object = match is_alone || with_others {
            true => self.compiler.emit_callable_host(&analysis, self.request.options)?,
            false => self.compiler.emit_host(&analysis, self.request.options)?,
        };
        self.out.timings.llvm += started.elapsed().as_secs_f64();
        Ok(Some(object))
    }
}

/// What an input brings to a device link.
struct Part {
    object: DeviceObject,
    /// Of what is compiled here.
    ptx: Option<String>,
    /// It is a program already and needs no link.
    is_whole: bool,
}

/// What an input has for device and host; sources and the like have device code to be made of them.
pub(crate) fn parts(input: &Input) -> ObjectParts {
    match input {
        Input::Bytes(InputKind::Object, _, bytes) => ObjectParts::of(bytes),
        _ => ObjectParts { device: true, ..ObjectParts::default() },
    }
}

fn one_input<'i>(inputs: &'i [Input], what: &str) -> Result<&'i Input, Error> {
    match inputs {
        [input] => Ok(input),
        _ => Err(Error::request(format!(
            "{what} is made of one input, and {} were given",
            inputs.len()
        ))),
    }
}

/// The graph of a build's sources.
pub fn merged_graph(analyses: &[Analysis]) -> LaunchGraph {
    let mut graph = LaunchGraph::default();
    for analysis in analyses {
        graph.launches.extend(analysis.graph.launches.iter().cloned());
        graph.calls.extend(analysis.graph.calls.iter().cloned());
    }
    graph
}
