//! `cdpc run`: compile a program into a temporary executable and run it, or launch one kernel of it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cdp::{
    BuildRequest, CompileOptions, Compiler, DebugInfo, Error, Failure, Goal, Input, LaunchOpt,
};
use cdp::{HostLinkOptions, Job, JobOptions};
use cdp_runtime::cpu;
use cdp_toolchain::{
    Ended, GpuPresence, Leftover, prelinked, prelinked_shared, run_program as run_limited,
};

#[cfg(not(unix))]
use crate::EXIT_TOOL;
use crate::args::{Device, MessageFormat, Run};
use crate::common::{
    Messages, Reader, Usage, cache_dir, compile_options, compiler, host_link, host_words, libraries,
};
use crate::output::{Outputs, write_output};
use crate::progress::Progress;
use crate::run_kernel::cpu_options;

/// The runtime that executables are linked with: `CDP_RUNTIME_LIB`, or `libcdp_runtime.a` beside
/// this executable, one folder up (test binaries), or in `../lib` (an installation).
pub fn runtime_library() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CDP_RUNTIME_LIB") {
        return Some(PathBuf::from(path)).filter(|path| path.is_file());
    }
    let executable = std::env::current_exe().ok()?;
    let folder = executable.parent()?;
    let candidates = [folder.join(""), folder.join(".."), folder.join("../lib")];
    candidates.iter().map(|dir| dir.join("libcdp_runtime.a")).find(|path| path.is_file())
}

/// What executables are linked with: the runtime linked beforehand, or the archive where that cannot be made.
/// A program that brings another CUDA runtime gets the archive, of which the linker takes what it lacks.
pub fn linked_runtime(link: &HostLinkOptions) -> Option<PathBuf> {
    let archive = runtime_library()?;
    let files = link.files.iter().filter_map(|path| path.file_name()?.to_str());
    let mut names = files.chain(link.libraries.iter().map(String::as_str));
    if names.any(|name| name.contains("cudart")) {
        return Some(archive);
    }
    Some(prelinked(&archive, cache_dir().as_deref()).unwrap_or(archive))
}

/// What a program is linked with that runs at once: where nothing is asked of the link, a shared library of the runtime,
/// which takes the linker half the time.
fn runtime_at_hand(link: &HostLinkOptions) -> Option<PathBuf> {
    let linked = linked_runtime(link)?;
    let is_object = linked.extension().is_some_and(|extension| extension == "o");
    if !is_object || !link.extra_args.is_empty() {
        return Some(linked);
    }
    let shared = prelinked_shared(&runtime_library()?, cache_dir().as_deref());
    Some(shared.unwrap_or(linked))
}

pub fn run(args: &Run) -> i32 {
    let messages = Messages::new(&args.source);
    let options = match compile_options(&args.source) {
        // Reports of the CPU device name source lines; the code is the same.
        Ok(options) => options.with(|options| {
            options.debug = DebugInfo::Lines;
            options.stores_apart = follows_accesses(args);
            options.watch_host |= looks_at_memory(args);
            options.launch_opt = launch_opt(args, options.launch_opt);
            options.host_args = host_words(&args.host);
        }),
        Err(usage) => return messages.usage(usage),
    };
    let mut outputs = Outputs::default();
    args.trace.iter().for_each(|path| outputs.add("--trace", path));
    args.report.iter().for_each(|path| outputs.add("--report", path));
    let read = args.inputs.iter().chain(&args.source.include).map(PathBuf::as_path);
    if let Err(usage) = outputs.check(read) {
        return messages.usage(usage);
    }
    let checks = only_with_kernel(args).and_then(|()| on_a_gpu_alone(args));
    if let Err(usage) = checks.and_then(|()| inputs_are_files(args)) {
        return messages.usage(usage);
    }
    let result = if args.kernel.is_some() {
        crate::run_kernel::run_kernel(args, &options, messages)
    } else {
        run_program(args, &options, messages)
    };
    result.unwrap_or_else(|failure| messages.failure(failure))
}

/// `cdpc run a.cdp 100`: what is the program's own argument, and no input.
fn inputs_are_files(args: &Run) -> Result<(), Usage> {
    let mut further = args.inputs.iter().skip(1);
    match further.find(|path| path.as_os_str() != "-" && !path.exists()) {
        None => Ok(()),
        Some(path) => Err(Usage(format!(
            "there is no file `{}`\n  help: arguments of the program itself stand after `--`",
            path.display()
        ))),
    }
}

/// Whether two accesses are told apart by their lines.
fn follows_accesses(args: &Run) -> bool {
    let checks = cpu_options(args, cpu::MessageFormat::Human).checks;
    checks.races || checks.siblings
}

/// Whether what host code reads and writes is looked at.
fn looks_at_memory(args: &Run) -> bool {
    cpu_options(args, cpu::MessageFormat::Human).checks.follow_memory()
}

/// The CPU device shows the launches as they are written, unless asked otherwise: they cost nothing there,
/// and its reports, traces and checks are about them.
fn launch_opt(args: &Run, level: LaunchOpt) -> LaunchOpt {
    let off = args.source.launch_opt.is_none() && !wants_cubin(args.device());
    if off { LaunchOpt::Off } else { level }
}

impl Run {
    /// Where to run: on the CPU device too if something is asked for that it alone does.
    pub fn device(&self) -> Device {
        match self.device {
            Device::Auto if self.asks_for_cpu() => Device::Cpu,
            device => device,
        }
    }

    fn asks_for_cpu(&self) -> bool {
        let options = cpu_options(self, cpu::MessageFormat::Human);
        options.ask_for_cpu() || self.schedules.is_some()
    }
}

/// A GPU would pass over what the CPU device alone does, and nothing would be found.
fn on_a_gpu_alone(args: &Run) -> Result<(), Usage> {
    if args.device == Device::Gpu && args.asks_for_cpu() {
        return Err(Usage(
            "checks, schedules, bounds on instructions, traces, reports and counters are the CPU device's, and \
             this runs on a GPU\n  help: leave out --device gpu"
                .into(),
        ));
    }
    Ok(())
}

/// Options that would be ignored.
fn only_with_kernel(args: &Run) -> Result<(), Usage> {
    let given = [
        ("--grid", args.grid.is_some()),
        ("--block", args.block.is_some()),
        ("--shared", args.shared.is_some()),
        ("--stack", args.stack.is_some()),
        ("--arg", !args.args.is_empty()),
    ];
    let given = given.iter().find(|(_, given)| *given);
    match (given, &args.kernel) {
        (Some((option, _)), None) => Err(Usage(format!(
            "{option} counts only with --kernel, and this runs `main`\n  help: name the kernel with \
             --kernel, or give the program's own arguments after `--`"
        ))),
        (_, Some(_)) if !args.program_args.is_empty() => Err(Usage(
            "arguments after `--` are for `main`, and --kernel runs a kernel alone\n  help: give its \
             arguments with --arg"
                .into(),
        )),
        _ => Ok(()),
    }
}

/// Whether the program is to have a cubin inside, for a GPU.
pub fn wants_cubin(device: Device) -> bool {
    match device {
        Device::Gpu => true,
        Device::Cpu => false,
        Device::Auto => GpuPresence::detect(Path::new("/")).is_usable(),
    }
}

/// Reads the inputs of `cdpc run`; with them come the libraries that are the host linker's alone.
pub fn inputs(args: &Run) -> Result<(Vec<Input>, Vec<String>), Failure> {
    let mut reader = Reader::new(&args.source);
    let (of_device, of_host) = libraries(&args.host);
    let given = args.inputs.iter().map(|path| reader.read(path));
    Ok((given.chain(of_device.into_iter().map(Ok)).collect::<Result<_, _>>()?, of_host))
}

/// What a program stopped at its time limit ends with, as with `timeout` of GNU.
const EXIT_TIMEOUT: i32 = 124;
/// How long after the limit a program may go on: the CPU device says itself what it was doing then.
const TIMEOUT_GRACE: Duration = Duration::from_millis(500);

fn run_program(args: &Run, options: &CompileOptions, messages: Messages) -> Result<i32, Failure> {
    let compiler = compiler(&args.source)?;
    let (inputs, libraries) = inputs(args)?;
    let make = || tempfile::Builder::new().prefix("cdpc-run-").tempdir();
    let (folder, _gone) = Leftover::make(make, tempfile::TempDir::path).map_err(|source| {
        Error::Io { action: "make a folder in".into(), path: std::env::temp_dir(), source }
    })?;
    let program = folder.path().join("program");
    let line = Progress::start("compiling".into());
    let host_link = host_link(&args.host, &libraries);
    build_program(&compiler, &inputs, host_link, options, args, &program, messages)?;
    drop(line);
    let limit = args.timeout.map(|seconds| Duration::from_secs(seconds) + TIMEOUT_GRACE);
    let prepare = |seed: Option<u64>| {
        let mut command = Command::new(&program);
        command.args(&args.program_args);
        set_environment(&mut command, args);
        if let Some(seed) = seed {
            // Schedules are the CPU device's.
            command.env("CDP_DEVICE", "cpu").env("CDP_SCHEDULE_SEED", seed.to_string());
        }
        command
    };
    if let Some(count) = args.schedules {
        return crate::schedules::run(count, limit, folder.path(), |seed| prepare(Some(seed)));
    }
    let mut command = prepare(None);
    // A GPU asks for no code.
    #[cfg(unix)]
    if args.device() != Device::Gpu
        && let Some(socket) = crate::native::offer(folder.path())
    {
        command.env("CDP_NATIVE_SOCKET", socket);
    }
    match run_limited(&mut command, limit) {
        Ok(Ended::Status(status)) => Ok(status.code().unwrap_or_else(|| died(status, messages))),
        Ok(Ended::TimedOut) => {
            let seconds = args.timeout.unwrap_or_default();
            messages.error(&format!("the program was stopped after {seconds} s (--timeout)"));
            Ok(EXIT_TIMEOUT)
        }
        Err(source) => Err(Error::Io { action: "run".into(), path: program, source }.into()),
    }
}

fn build_program(
    compiler: &Compiler,
    inputs: &[Input],
    host_link: HostLinkOptions,
    options: &CompileOptions,
    args: &Run,
    program: &Path,
    messages: Messages,
) -> Result<(), Failure> {
    let job = Job::new(JobOptions::default())?;
    let request = BuildRequest::new(inputs, Goal::Executable, options, &job).with(|request| {
        request.cubin = wants_cubin(args.device());
        request.runtime_library = runtime_at_hand(&host_link);
        request.host_link = host_link;
    });
    let built = compiler.build(&request)?;
    messages.show(&built.reports);
    Ok(write_output(program, &built.bytes, true)?)
}

/// What the runtime inside the program reads.
fn set_environment(command: &mut Command, args: &Run) {
    match args.device() {
        Device::Auto => {}
        Device::Cpu => drop(command.env("CDP_DEVICE", "cpu")),
        Device::Gpu => drop(command.env("CDP_DEVICE", "gpu")),
    }
    let format = match args.source.message_format {
        MessageFormat::Json => cpu::MessageFormat::Json,
        _ => cpu::MessageFormat::Human,
    };
    command.envs(cpu_options(args, format).to_env());
    let is_source = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("cdp" | "cu") | None)
    };
    if !args.inputs.iter().all(is_source) {
        // What other host code writes nobody tells, so that none of the memory it sees is taken for unwritten.
        command.env("CDP_HOST_CODE_IN_PART", "1");
    }
}

#[cfg(unix)]
fn died(status: std::process::ExitStatus, messages: Messages) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal().unwrap_or(0);
    messages.error(&format!("the program was stopped by signal {signal}"));
    128 + signal
}

#[cfg(not(unix))]
fn died(_status: std::process::ExitStatus, messages: Messages) -> i32 {
    messages.error("the program was stopped");
    EXIT_TOOL
}
