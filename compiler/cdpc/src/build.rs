//! `cdpc build`, `cdpc link` and `cdpc lower`.

use std::path::{Path, PathBuf};

use cdp::{
    BuildOutput, BuildRequest, CompileOptions, Compiler, DebugInfo, Error, Failure, Goal, Input,
    InputKind, LaunchPass, Pass,
};
use cdp::{HostLinkOptions, Job, JobOptions};
use cdp::{NormalError, NormalForm, normalize};

use crate::args::{Build, Emit, Lower};
use crate::common::{
    Messages, Reader, Usage, compile_options, compiler, exit_code, host_link, host_words, libraries,
};
use crate::nvcc_lines;
use crate::output::{Outputs, print, write_output};
use crate::progress::{self, Progress};
use crate::run::linked_runtime;
use crate::{EXIT_PROGRAM, EXIT_USAGE};

/// `cdpc build`; with `link_only`, `cdpc link`.
pub fn build(args: &Build, link_only: bool) -> i32 {
    let to_stdout = args.m && args.mf.is_none()
        || args.dry_run
        || args.cache_key
        || args.report.is_some()
        || args.output.as_ref().is_some_and(|path| *path == *"-" || *path == *"/dev/stdout");
    let messages = Messages::new(&args.source).with_stdout(!to_stdout);
    if args.as_nvcc
        && args.verbose
        && let Ok(compiler) = compiler(&args.source)
    {
        eprint!("{}", nvcc_lines::lines(args, &compiler));
    }
    match prepare(args, link_only) {
        Ok(plan) => plan.carry_out(args, messages),
        Err(Ok(usage)) => messages.usage(usage),
        Err(Err(failure)) => messages.failure(failure),
    }
}

/// What the arguments mean.
struct Plan {
    options: CompileOptions,
    inputs: Vec<Input>,
    /// Those that are the host linker's alone.
    libraries: Vec<String>,
    goal: Goal,
    output: Option<PathBuf>,
}

fn prepare(args: &Build, link_only: bool) -> Result<Plan, Result<Usage, Failure>> {
    let mut options = compile_options(&args.source).map_err(Ok)?;
    options.max_registers = args.maxrregcount;
    options.ptxas_args = args.xptxas.clone();
    options.nvlink_args = args.xnvlink.clone();
    options.host_args = host_words(&args.host);
    options.mend_declarations = args.fix;
    options.relocatable = args.source.relocatable_device_code;
    let is_relocatable = options.relocatable == Some(true);
    options.stands_alone = args.compile_only && args.emit.is_none() && !is_relocatable;
    options.print_after = match &args.print_after {
        None => None,
        Some(name) => Some(LaunchPass::from_name(name).ok_or_else(|| {
            let known = LaunchPass::ALL.map(LaunchPass::name).join(", ");
            Ok(Usage(format!("--print-after takes {known}, not `{name}`")))
        })?),
    };
    options.debug = match (args.device_debug, args.lineinfo) {
        (true, _) => DebugInfo::Full,
        (_, true) => DebugInfo::Lines,
        _ => DebugInfo::None,
    };
    let mut reader = Reader::new(&args.source);
    let inputs = args.inputs.iter().map(|path| reader.read(path)).collect::<Result<Vec<_>, _>>();
    let mut inputs = inputs.map_err(Err)?;
    let goal = goal(args, link_only, &inputs).map_err(Ok)?;
    let (of_device, libraries) = libraries(&args.host);
    if goal.links_devices() {
        inputs.extend(of_device);
    }
    if args.preprocess {
        let extra =
            [("-c", args.compile_only), ("--emit", args.emit.is_some()), ("--shared", args.shared)];
        if let Some((name, _)) = extra.iter().find(|(_, given)| *given) {
            return Err(Ok(Usage(format!("-E makes text, and {name} asks for something else"))));
        }
    }
    if args.normalize && goal != Goal::Ptx {
        let message = "--normalize is for PTX\n  help: add --emit ptx";
        return Err(Ok(Usage(message.into())));
    }
    Ok(Plan { options, inputs, libraries, goal, output: args.output.clone() })
}

/// Extensions of outputs, for messages.
const EXTENSIONS: &str = ".ptx, .o, .cubin, .fatbin, .so, .ll, .ir, .ast, and .exe, .out, .x, .bin, .run or none for a program";

/// Whether a shared library is made. A device link beside it, as CMake has it, is for one that another command links.
fn links_shared(args: &Build) -> bool {
    args.shared && !args.device_link
}

fn goal(args: &Build, link_only: bool, inputs: &[Input]) -> Result<Goal, Usage> {
    if let Some(emit) = args.emit {
        return Ok(match emit {
            Emit::Ast => Goal::Ast,
            Emit::Ir => Goal::Ir,
            Emit::LlvmIr => Goal::LlvmIr,
            Emit::Ptx => Goal::Ptx,
            Emit::Obj => object_goal(args, inputs),
            Emit::DeviceObj => Goal::Object,
            Emit::Cubin => Goal::Cubin,
            Emit::Fatbin => Goal::Fatbin,
            Emit::HostObj => Goal::HostObject,
            Emit::Exe => Goal::Executable,
        });
    }
    if args.compile_only {
        return Ok(object_goal(args, inputs));
    }
    if links_shared(args) {
        return Ok(Goal::Executable);
    }
    let named = |extension: &str| {
        args.output.as_deref().is_some_and(|o| o.extension() == Some(extension.as_ref()))
    };
    if args.device_link && !named("cubin") && !named("fatbin") {
        return Ok(Goal::LinkedObject);
    }
    let several = args.source.arch.len() > 1 || args.source.arch == ["all"];
    let default = if several { Goal::Fatbin } else { Goal::Cubin };
    let has_host = || has_sources(inputs) || inputs.iter().any(Input::has_host_code);
    let Some(output) = args.output.as_deref() else {
        let is_program = args.as_nvcc && !args.preprocess && !args.device_link && has_host();
        return Ok(if is_program { Goal::Executable } else { default });
    };
    // What is only asked about is not written.
    let device = std::fs::metadata(output).is_ok_and(|about| !about.is_file() && !about.is_dir());
    if output == Path::new("-") || device || args.preprocess {
        return Ok(default);
    }
    let extension = output.extension().map(|extension| extension.to_string_lossy().into_owned());
    let program = || if link_only || !has_host() { default } else { Goal::Executable };
    Ok(match extension.as_deref() {
        Some("ast") => Goal::Ast,
        Some("ir") => Goal::Ir,
        Some("ll") => Goal::LlvmIr,
        Some("ptx") => Goal::Ptx,
        Some("o" | "obj") => object_goal(args, inputs),
        Some("cubin") => Goal::Cubin,
        Some("fatbin") => Goal::Fatbin,
        Some("so" | "exe") => Goal::Executable,
        // As with nvcc, a name without an extension is a program.
        None => program(),
        Some(other) if is_of_programs(other) => program(),
        // What nvcc builds from such a file is a program too, whatever its name.
        Some(_) if inputs.iter().any(|input| matches!(input, Input::Cuda(_))) => program(),
        Some(_) if args.m || args.cache_key || args.dry_run => default,
        Some(other) => {
            return Err(Usage(format!(
                "the extension of `{}` says nothing about what to make\n  help: known are {EXTENSIONS}; \
                 or say it with --emit, whatever the name (`.{other}` too)",
                output.display()
            )));
        }
    })
}

/// Whether programs are named so: `quicksort.out`, `lab.x`, `tree-1.2`.
fn is_of_programs(extension: &str) -> bool {
    const NAMES: &[&str] = &["out", "x", "bin", "run", "elf", "app"];
    NAMES.contains(&extension) || extension.starts_with(|first: char| first.is_ascii_digit())
}

/// The object that holds all of an input: host and device code of a source.
fn object_goal(args: &Build, inputs: &[Input]) -> Goal {
    let sources = inputs.iter().all(is_source);
    if sources && args.source.address_size == 64 { Goal::CudaObject } else { Goal::Object }
}

fn has_sources(inputs: &[Input]) -> bool {
    inputs.iter().any(is_source)
}

/// `.cdp` and `.cu`.
fn is_source(input: &Input) -> bool {
    matches!(input, Input::Source(_) | Input::Cuda(_))
}

fn extension(goal: Goal) -> &'static str {
    match goal {
        Goal::Ast => "ast",
        Goal::Ir => "ir",
        Goal::LlvmIr => "ll",
        Goal::Ptx => "ptx",
        Goal::Object | Goal::HostObject | Goal::CudaObject | Goal::LinkedObject => "o",
        Goal::Cubin => "cubin",
        Goal::Fatbin => "fatbin",
        Goal::Executable => "",
    }
}

impl Plan {
    fn carry_out(&self, args: &Build, messages: Messages) -> i32 {
        if args.preprocess {
            return self.preprocess(args, messages);
        }
        let compiler = match compiler(&args.source) {
            Ok(compiler) => compiler,
            Err(error) => return messages.failure(error.into()),
        };
        // One output for each input where an output is made of one input.
        let each = !self.goal.links_devices();
        let groups: Vec<&[Input]> = if each && self.output.is_none() {
            self.inputs.chunks(1).collect()
        } else {
            vec![&self.inputs]
        };
        if let Err(usage) = self.outputs(args, groups.len()) {
            return messages.usage(usage);
        }
        let mut code = 0;
        for (index, inputs) in groups.iter().enumerate() {
            let one = self.carry_out_one(args, &compiler, inputs, index, messages);
            code = code.max(one);
        }
        code
    }

    /// `-E`: the text of every source, one after the other.
    fn preprocess(&self, args: &Build, messages: Messages) -> i32 {
        let mut outputs = Outputs::default();
        args.output.iter().for_each(|output| outputs.add("-o", output));
        if let Err(usage) = outputs.check(args.inputs.iter().map(PathBuf::as_path)) {
            return messages.usage(usage);
        }
        let messages = messages.with_stdout(self.output.is_some());
        let (mut text, mut code) = (Vec::new(), 0);
        let pass = Pass::Device(self.options.archs()[0]);
        for input in &self.inputs {
            let made = match input {
                Input::Source(source) => cdp::preprocess(source, pass, &self.options),
                Input::Cuda(source) => compiler(&args.source)
                    .and_then(|compiler| compiler.preprocess_cuda(source, &self.options)),
                _ => {
                    let message = format!("`{}` is no source, and -E is for sources", input.name());
                    return messages.usage(Usage(message));
                }
            };
            let made = match made {
                Ok(made) => made,
                Err(error) => return messages.failure(error.into()),
            };
            messages.show(std::slice::from_ref(&made.report));
            if made.report.has_errors() {
                code = EXIT_PROGRAM;
            }
            text.extend(made.text);
        }
        let output = self.output.as_deref().unwrap_or(Path::new("-"));
        if code == 0
            && let Err(error) = write_output(output, &text, false)
        {
            return messages.failure(error.into());
        }
        code
    }

    /// What will be written, and that it is nothing that is read and no two are one.
    fn outputs(&self, args: &Build, count: usize) -> Result<(), Usage> {
        let mut outputs = Outputs::default();
        for index in 0..count {
            let output = self.output(args, index);
            let of = match (&self.output, args.inputs.get(index)) {
                (None, Some(input)) => format!("`{}`", input.display()),
                _ => "-o".to_owned(),
            };
            if !(args.m || args.dry_run || args.cache_key) {
                outputs.add(of, &output);
            }
            if args.md || args.mf.is_some() {
                outputs
                    .add(if args.mf.is_some() { "-MF" } else { "-MD" }, &self.rule(args, &output));
            }
        }
        outputs.check(args.inputs.iter().chain(&args.source.include).map(PathBuf::as_path))
    }

    /// That nothing written is a file that was included.
    fn spares(&self, args: &Build, built: &BuildOutput, output: &Path) -> Result<(), Error> {
        let mut outputs = Outputs::default();
        outputs.add("-o", output);
        if args.md || args.mf.is_some() {
            outputs.add("-MF", &self.rule(args, output));
        }
        let read = built.dependencies.iter().map(PathBuf::as_path);
        outputs.check(read).map_err(|Usage(message)| Error::Request { message, cure: None })
    }

    /// The file of the dependency rule.
    fn rule(&self, args: &Build, output: &Path) -> PathBuf {
        args.mf.clone().unwrap_or_else(|| output.with_extension("d"))
    }

    fn output(&self, args: &Build, index: usize) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            let folder = args.output_directory.as_deref().unwrap_or(Path::new(""));
            if self.goal == Goal::LinkedObject {
                // As nvcc calls it: it is made of several.
                return folder.join("a_dlink.o");
            }
            if args.as_nvcc && self.goal == Goal::Executable {
                return folder.join("a.out");
            }
            let input = args.inputs.get(index).filter(|path| path.as_path() != Path::new("-"));
            let stem = input.and_then(|path| path.file_stem()).unwrap_or("out".as_ref());
            // Not `with_extension`: the stem may hold a dot.
            let mut name = stem.to_os_string();
            let extension = if links_shared(args) { "so" } else { extension(self.goal) };
            if !extension.is_empty() {
                name.push(".");
                name.push(extension);
            }
            folder.join(name)
        })
    }

    fn carry_out_one(
        &self,
        args: &Build,
        compiler: &Compiler,
        inputs: &[Input],
        index: usize,
        messages: Messages,
    ) -> i32 {
        let output = self.output(args, index);
        let _line = Progress::start(format!("making {}", output.display()));
        if args.cache_key {
            return self.cache_key(args, compiler, inputs).map_or_else(
                |failure| messages.failure(failure),
                |key| messages.print(&format!("{key}\n")),
            );
        }
        match self.build(args, compiler, inputs) {
            Err(failure) => messages.failure(failure),
            Ok(built) => {
                messages.show(&built.reports);
                if args.remarks {
                    messages.remarks(&built.remarks);
                }
                for text in &built.printed {
                    eprint!("{text}");
                }
                let info = built.resource_usage.iter().filter(|_| args.resource_usage);
                progress::clear();
                for line in built.tool_warnings.iter().chain(info) {
                    eprintln!("{line}");
                }
                self.deliver(args, &built, &output).unwrap_or_else(|error| {
                    messages.error(&error.to_string());
                    exit_code(&error)
                })
            }
        }
    }

    fn cache_key(
        &self,
        args: &Build,
        compiler: &Compiler,
        inputs: &[Input],
    ) -> Result<String, Failure> {
        let job = Job::new(JobOptions { dry_run: true, ..JobOptions::default() })?;
        compiler.cache_key(&self.request(args, inputs, &job))
    }

    fn build(
        &self,
        args: &Build,
        compiler: &Compiler,
        inputs: &[Input],
    ) -> Result<BuildOutput, Failure> {
        let job = Job::new(JobOptions {
            keep: args.keep.clone(),
            dry_run: args.dry_run,
            spared: args.inputs.clone(),
            ..JobOptions::default()
        })?;
        compiler.build(&self.request(args, inputs, &job))
    }

    fn request<'r>(&'r self, args: &Build, inputs: &'r [Input], job: &'r Job) -> BuildRequest<'r> {
        let is_library = |path: &Path| path.extension() == Some("so".as_ref());
        let shared = links_shared(args) || self.output.as_deref().is_some_and(is_library);
        let host_link = HostLinkOptions { shared, ..host_link(&args.host, &self.libraries) };
        let is_program = self.goal == Goal::Executable;
        BuildRequest::new(inputs, self.goal, &self.options, job).with(|request| {
            request.cubin = true;
            request.runtime_library = is_program.then(|| linked_runtime(&host_link)).flatten();
            request.host_link = host_link;
        })
    }

    fn deliver(&self, args: &Build, built: &BuildOutput, output: &Path) -> Result<i32, Error> {
        if args.dry_run || args.verbose {
            let commands: String =
                built.commands.iter().map(|command| format!("{command}\n")).collect();
            if args.dry_run {
                print(commands.as_bytes())?;
                return Ok(0);
            }
            eprint!("{commands}");
        }
        // Where nobody says what is made, the rule alone is of an object, as with other compilers.
        let object = output.with_extension("o");
        let unnamed = args.m && args.output.is_none() && args.emit.is_none();
        let target = args.mt.as_deref().unwrap_or(if unnamed { &object } else { output });
        let rule = || dependency_rule(target, built, args.mp);
        if args.m {
            write_output(args.mf.as_deref().unwrap_or(Path::new("-")), &rule(), false)?;
            return Ok(0);
        }
        self.spares(args, built, output)?;
        let normal = normal_form(args, built)?;
        let bytes = normal.as_ref().map_or(built.bytes.as_slice(), |text| text.as_bytes());
        write_output(output, bytes, self.goal == Goal::Executable)?;
        if args.md || args.mf.is_some() {
            write_output(&self.rule(args, output), &rule(), false)?;
        }
        match args.report {
            None => {}
            // Standard output carries the product alone.
            Some(_) if output == Path::new("-") => eprint!("{}", report(built)),
            Some(_) => print(report(built).as_bytes())?,
        }
        Ok(0)
    }
}

/// With `--normalize`, the PTX as it is written.
fn normal_form(args: &Build, built: &BuildOutput) -> Result<Option<String>, Error> {
    if !args.normalize {
        return Ok(None);
    }
    let form = args
        .function
        .iter()
        .fold(NormalForm::new().header(args.header), |form, name| form.function(name));
    let failed = |error: NormalError| Error::Request { message: error.to_string(), cure: None };
    normalize(&built.text(), &form).map(Some).map_err(failed)
}

/// A rule for make and ninja: a target, and every file that was read; with `phony`, empty rules for those
/// that were included. Names are written as gcc writes them.
fn dependency_rule(target: &Path, built: &BuildOutput, phony: bool) -> Vec<u8> {
    let escape = |path: &Path| {
        let mut out = Vec::new();
        for byte in path.as_os_str().as_encoded_bytes() {
            match byte {
                b'\\' | b' ' | b'#' => out.extend([b'\\', *byte]),
                b'$' => out.extend(b"$$"),
                _ => out.push(*byte),
            }
        }
        out
    };
    let mut rule = escape(target);
    rule.push(b':');
    let stdin = |path: &&PathBuf| path.as_path() == Path::new("<stdin>");
    for path in built.dependencies.iter().filter(|path| !stdin(path)) {
        rule.extend(b" \\\n  ");
        rule.extend(escape(path));
    }
    rule.push(b'\n');
    for path in built.dependencies.iter().skip(1).filter(|_| phony) {
        rule.extend(escape(path));
        rule.extend(b":\n");
    }
    rule
}

/// One JSON object: what was made of what, and how long it took.
fn report(built: &BuildOutput) -> String {
    let report = serde_json::json!({
        "kernels": built.kernels,
        "launches": built.launches,
        "cubin_bytes": built.cubin_bytes,
        "cudadevrt_linked": built.cudadevrt_linked,
        "seconds": built.timings,
    });
    format!("{report}\n")
}

/// `cdpc lower`.
pub fn lower(args: &Lower) -> i32 {
    let messages = Messages::new(&args.source).with_stdout(args.output.is_some());
    let mut outputs = Outputs::default();
    args.output.iter().for_each(|output| outputs.add("-o", output));
    let options =
        outputs.check([args.input.as_path()]).and_then(|()| compile_options(&args.source));
    let options = match options {
        Ok(options) => options,
        Err(usage) => return messages.usage(usage),
    };
    let [arch] = options.archs()[..] else {
        return messages.usage(Usage("launches are lowered for one --arch at a time".into()));
    };
    // As LLVM's own tools: text unless the name says otherwise.
    let bitcode = args.output.as_ref().is_some_and(|path| path.extension() == Some("bc".as_ref()));
    let lowered = (|| -> Result<Vec<u8>, Failure> {
        let compiler = compiler(&args.source)?;
        let Input::Bytes(kind, name, bytes) =
            Reader::new(&args.source).or(InputKind::Llvm).read(&args.input)?
        else {
            return Err(Error::Request { message: "no LLVM IR".into(), cure: None }.into());
        };
        debug_assert_eq!(kind, InputKind::Llvm);
        Ok(match bitcode {
            true => compiler.lower_foreign_to_bitcode(&name, &bytes, arch, &options)?,
            false => compiler.lower_foreign(&name, &bytes, arch, &options)?.into_bytes(),
        })
    })();
    let lowered = match lowered {
        Ok(lowered) => lowered,
        Err(failure) => return messages.failure(failure),
    };
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    match write_output(path, &lowered, false) {
        Ok(()) => 0,
        Err(error) => {
            messages.error(&error.to_string());
            exit_code(&error).max(EXIT_USAGE)
        }
    }
}
