//! A whole build: inputs of several kinds compiled as needed and linked together. What `cdpc build`
//! and `cdpc link` are, and what an embedder calls who does not want the stages one by one.

use std::path::PathBuf;
use std::time::Instant;

use cdp_frontend::ast_print;
use cdp_toolchain::{
    Arch, DeviceObject, FailureKind, FatbinInput, FatbinOptions, ImageKind, Job, JobOptions,
    Linked, ObjectParts, fatbinary,
};

use crate::analysis::{Analysis, Pass, SourceInput, analyse, analyse_with_tree};
use crate::compiler::{Compiler, check_cancelled};
use crate::cut;
use crate::describe::{check_against_cubin, describe_linked_kernel};
use crate::emit::DeviceCode;
use crate::error::{Error, guard, guard_input};
use crate::failure::Failure;
use crate::host_pass::HostPass;
use crate::input::{Input, InputKind};
use crate::mend::mend_extern_kernels;
use crate::options::CompileOptions;
use crate::reachable::without_unreachable_functions;
use crate::recorded;
use crate::request::{BuildOutput, BuildRequest, Goal};
use cdp_llvm::DebugInfo;

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
        let reads_cuda = |input: &Input| {
            matches!(input, Input::Cuda(_) | Input::Bytes(InputKind::Cuda | InputKind::Host, ..))
        };
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
        let mut result = build.run();
        let mut out = build.out;
        if result.as_ref().is_err_and(is_defined_twice) && may_be_their_own(request) {
            let options = CompileOptions { relocatable: Some(false), ..request.options.clone() };
            let again = BuildRequest {
                options: &options,
                runtime_library: request.runtime_library.clone(),
                host_link: request.host_link.clone(),
                ..*request
            };
            let mut build = Build { compiler: self, request: &again, out: BuildOutput::default() };
            if let Ok(bytes) = build.run() {
                (result, out) = (Ok(bytes), build.out);
            }
        }
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

/// Whether a device link found that files define a variable or a function of one name.
fn is_defined_twice(failure: &Failure) -> bool {
    let Failure::Error { error: Error::Tool(error), .. } = failure else { return false };
    error.explanation().is_some_and(|known| known.kind == FailureKind::MultipleDefinition)
}

/// Whether these may be the files' own, as for nvcc: programs of several `.cu` files are mostly built without `-rdc=true`.
fn may_be_their_own(request: &BuildRequest<'_>) -> bool {
    let files = request.inputs.iter().filter(|input| matches!(input, Input::Cuda(_)));
    request.options.relocatable.is_none() && files.count() > 1
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
            Goal::LinkedObject => self.linked_object(&archs),
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
        self.add_dependencies(analysis.dependencies.clone());
        Ok(analysis.module.is_some().then_some(analysis))
    }

    /// Adds files that were read, each once.
    pub(crate) fn add_dependencies(&mut self, paths: Vec<PathBuf>) {
        for path in paths {
            if !self.out.dependencies.contains(&path) {
                self.out.dependencies.push(path);
            }
        }
    }

    pub fn failed(&self) -> Failure {
        Failure::Program(Vec::new())
    }

    fn text(&mut self, arch: Arch) -> Result<Vec<u8>, Failure> {
        let request = self.request;
        let input = one_input(request.inputs, "this output")?;
        let goal = request.goal;
        if let (Goal::Ast | Goal::Ir, Input::Source(source)) = (goal, input) {
            let analysis = analyse_with_tree(source, Pass::Device(arch), self.request.options)?;
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
                let Some(mut analysis) = self.analysis(source, Pass::Device(arch))? else {
                    return Err(self.failed());
                };
                let started = Instant::now();
                let code =
                    self.compiler.emit_device_last(&mut analysis, arch, options, want_ir, "")?;
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
            Input::Bytes(InputKind::Cuda | InputKind::Host, name, bytes) => {
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
                let code = self.compiler.foreign_code(name, bytes, arch, options, want_ir)?;
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
            return Ok(Part { object, others: Vec::new(), ptx: None, is_whole: false });
        }
        let Some(code) = self.device_code(input, arch)? else {
            return Err(Error::request(format!("{} has no device code", input.name())).into());
        };
        let started = Instant::now();
        let (job, options, stem) = (self.request.job, self.request.options, input.stem());
        let given = matches!(input, Input::Bytes(InputKind::Ptx, ..));
        let apart = match alone && !given {
            true => recorded::apart(job, &code.ptx, options),
            false => None,
        };
        let ptx = apart.as_ref().map_or(&code.ptx, |(program, _)| program);
        let reached = match alone && drops_functions(input, options) {
            true => without_unreachable_functions(ptx),
            false => None,
        };
        let ptx = reached.as_ref().unwrap_or(ptx);
        let is_whole = alone && Compiler::is_whole_program(ptx, options);
        let pieces = match alone && !given && !is_whole && may_be_cut(job, options) {
            true => cut::pieces(ptx),
            false => None,
        };
        let assembled = match (&pieces, is_whole) {
            (Some(pieces), _) => {
                self.compiler.assemble_pieces(job, &stem, pieces, arch, options)?
            }
            (None, true) => vec![self.compiler.assemble_whole(job, &stem, ptx, arch, options)?],
            (None, false) => vec![self.compiler.assemble(job, &stem, ptx, arch, options)?],
        };
        let mut objects = Vec::new();
        for assembled in assembled {
            self.out.tool_warnings.extend(assembled.warnings);
            self.out.resource_usage.extend(assembled.info);
            objects.push(assembled.object);
        }
        if let Some((_, functions)) = &apart {
            objects.push(self.compiler.recorded_launches(job, functions, arch, options)?);
        }
        self.out.timings.ptxas += started.elapsed().as_secs_f64();
        let object = objects.remove(0);
        Ok(Part { object, others: objects, ptx: Some(code.ptx), is_whole })
    }

    /// Compiles and links everything for one architecture.
    fn image(&mut self, arch: Arch) -> Result<DeviceImage, Failure> {
        let request = self.request;
        let first = request.options.archs()[0] == arch;
        let (mut objects, mut ptx, mut broken) = (Vec::new(), Vec::new(), false);
        // What is only for the host's linker has no place in a device link.
        let is_for_host = matches!(request.goal, Goal::Executable | Goal::LinkedObject);
        let linked_in = |input: &&Input| !is_for_host || parts(input).device;
        let alone = request.inputs.iter().filter(linked_in).count() == 1;
        let mut is_whole = false;
        for input in request.inputs.iter().filter(linked_in) {
            match self.object(input, arch, alone) {
                Ok(part) => {
                    is_whole |= part.is_whole;
                    objects.push(part.object);
                    objects.extend(part.others);
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

    /// The host object with the device code of objects, for the units that are not linked yet.
    fn linked_object(&mut self, archs: &[Arch]) -> Result<Vec<u8>, Failure> {
        let inputs = self.request.inputs;
        if !inputs.iter().all(|input| matches!(input, Input::Bytes(InputKind::Object, ..))) {
            return Err(Error::Request {
                message: "a device link for the host's linker takes objects".into(),
                cure: Some("make them of sources with -dc first".into()),
            }
            .into());
        }
        let images = self.images(archs)?;
        let fatbin = self.pack(&images)?;
        let parts = inputs.iter().map(parts).fold(ObjectParts::default(), ObjectParts::and);
        Ok(self.compiler.emit_linked(&fatbin, &parts.open_units())?)
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
        let callable = self.host_code_is_callable();
        let pass = HostPass::run(self.compiler, source, self.request.options, callable)?;
        self.take_host_pass(pass).map(Some)
    }

    /// Whether host code of other compilers may launch our kernels: it is among the inputs, or a host object
    /// is made by itself, for a link with anything.
    pub(crate) fn host_code_is_callable(&self) -> bool {
        let is_other = |input: &Input| matches!(input, Input::Cuda(_)) || parts(input).host;
        self.request.goal == Goal::HostObject || self.request.inputs.iter().any(is_other)
    }
}

/// What an input brings to a device link.
struct Part {
    object: DeviceObject,
    /// Of a program that is linked with nothing else: its other pieces, and the functions of recorded launches.
    others: Vec<DeviceObject>,
    /// Of what is compiled here.
    ptx: Option<String>,
    /// It is a program already and needs no link.
    is_whole: bool,
}

/// Whether functions that no kernel reaches are left out of an input that is linked with nothing else. PTX that was
/// given is ptxas's to judge, a debugger may look for every function, and nvlink may be told of other objects.
fn drops_functions(input: &Input, options: &CompileOptions) -> bool {
    let is_given = matches!(input, Input::Bytes(InputKind::Ptx, ..));
    !is_given && options.debug != DebugInfo::Full && options.nvlink_args.is_empty()
}

/// Whether an input that is linked with nothing else may be assembled in several objects: nothing was asked of the
/// tools that a user would look for in one.
fn may_be_cut(job: &Job, options: &CompileOptions) -> bool {
    options.ptxas_args.is_empty()
        && options.nvlink_args.is_empty()
        && options.debug == DebugInfo::None
        && !job.is_dry_run()
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
