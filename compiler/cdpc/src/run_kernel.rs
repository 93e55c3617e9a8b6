//! `cdpc run --kernel`: one kernel launched without a `main`.

use std::time::Duration;

use cdp::{BuildRequest, CompileOptions, Error, Failure, Goal, Input};
use cdp::{Job, JobOptions};
use cdp_run::{
    Arg, BufferResult, Destination, KernelRun, RunError, parse_dimensions, run_kernel as launch,
    write_npy,
};
use cdp_runtime::cpu::{CpuOptions, MessageFormat, Sinks, WarpScheduling};
use cdp_runtime::{DeviceChoice, Limit, ModuleImage, open_device};

use crate::EXIT_PROGRAM;
use crate::args::{Device, Run};
use crate::common::{Messages, Usage, compiler};
use crate::output::{print, write_output};
use crate::run::{inputs, wants_cubin};

/// What a kernel run needs besides the program.
struct Launch {
    grid: [u32; 3],
    block: [u32; 3],
    args: Vec<Arg>,
}

fn launch_arguments(args: &Run) -> Result<Launch, Usage> {
    let parsed: Result<Vec<Arg>, _> = args.args.iter().map(|text| text.parse()).collect();
    Ok(Launch {
        grid: parse_dimensions(args.grid.as_deref().unwrap_or("1")).map_err(Usage)?,
        block: parse_dimensions(args.block.as_deref().unwrap_or("1")).map_err(Usage)?,
        args: parsed.map_err(|error| Usage(error.to_string()))?,
    })
}

pub fn run_kernel(
    args: &Run,
    options: &CompileOptions,
    messages: Messages,
) -> Result<i32, Failure> {
    let arguments = match launch_arguments(args) {
        Ok(arguments) => arguments,
        Err(usage) => return Ok(messages.usage(usage)),
    };
    let (cubin, ptx) = device_code(args, options, messages)?;
    let texts: Vec<(&str, &[u8])> =
        ptx.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let image = ModuleImage { cubin: &cubin, ptx: &texts };
    let choice = match args.device() {
        Device::Auto => DeviceChoice::Auto,
        Device::Cpu => DeviceChoice::Cpu,
        Device::Gpu => DeviceChoice::Gpu,
    };
    let format = match messages.format {
        cdp::Format::Json => MessageFormat::Json,
        _ => MessageFormat::Human,
    };
    let device = open_device(choice, &image, cpu_options(args, format), Sinks::standard(format))
        .map_err(|error| Error::Request { message: error.to_string(), cure: None })?;
    if let Some(bytes) = args.stack
        && let Err(error) = device.set_limit(Limit::StackBytes, bytes)
    {
        let message = format!("--stack {bytes}: the device refuses this size: {error}");
        return Ok(messages.usage(Usage(message)));
    }
    let run = KernelRun {
        kernel: args.kernel.as_deref().unwrap_or_default(),
        grid: arguments.grid,
        block: arguments.block,
        shared_bytes: args.shared.unwrap_or(0),
        args: &arguments.args,
    };
    let results = launch(device.as_ref(), &image, &run);
    device.finish();
    match results {
        Ok(results) => {
            let code = show(&results)?;
            // What checks found is told; a program with findings is not fine.
            Ok(if cdp_runtime::cpu::has_findings() { EXIT_PROGRAM } else { code })
        }
        Err(error @ (RunError::Kernel(_) | RunError::Args(_))) => {
            Ok(messages.usage(Usage(error.to_string())))
        }
        Err(error) => {
            messages.error(&error.to_string());
            Ok(EXIT_PROGRAM)
        }
    }
}

/// What the arguments say about the CPU device.
pub fn cpu_options(args: &Run, message_format: MessageFormat) -> CpuOptions {
    CpuOptions {
        message_format,
        schedule_seed: args.schedule_seed,
        max_instructions: args.max_instructions,
        timeout: args.timeout.map(Duration::from_secs),
        trace: args.trace.clone(),
        report: args.report.clone(),
        profile: args.profile,
        warps: match (args.lockstep, args.apart) {
            (true, _) => WarpScheduling::Lockstep,
            (false, true) => WarpScheduling::Apart,
            (false, false) => WarpScheduling::Independent,
        },
        checks: args.check.unwrap_or_default(),
        ..CpuOptions::default()
    }
}

/// Device code as a cubin (empty for the CPU device) and PTX texts with names.
type DeviceCode = (Vec<u8>, Vec<(String, String)>);

/// The program's device code: PTX of each input, and a cubin where a GPU is to run it.
fn device_code(
    args: &Run,
    options: &CompileOptions,
    messages: Messages,
) -> Result<DeviceCode, Failure> {
    let compiler = compiler(&args.source)?;
    let (inputs, _) = inputs(args)?;
    let job = Job::new(JobOptions::default())?;
    let build =
        |inputs: &[Input], goal| compiler.build(&BuildRequest::new(inputs, goal, options, &job));
    let mut ptx = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let built = build(std::slice::from_ref(input), Goal::Ptx)?;
        messages.show(&built.reports);
        let text = String::from_utf8_lossy(&built.bytes).into_owned();
        // A line number in a message is one of the PTX, whatever it was made of.
        ptx.push((args.inputs[index].with_extension("ptx").display().to_string(), text));
    }
    let cubin =
        if wants_cubin(args.device()) { build(&inputs, Goal::Cubin)?.bytes } else { Vec::new() };
    Ok((cubin, ptx))
}

/// Prints or writes the buffers, as each argument asked.
fn show(results: &[BufferResult]) -> Result<i32, Failure> {
    for result in results {
        match &result.destination {
            Destination::Nowhere => {}
            Destination::Unsaid if !result.changed => {}
            Destination::Unsaid | Destination::Print => {
                print(format!("argument {}: {}\n", result.arg, values(result)).as_bytes())?;
            }
            Destination::File(path) => {
                let is_npy = path.extension().is_some_and(|extension| extension == "npy");
                let bytes =
                    if is_npy { write_npy(&result.array) } else { result.array.bytes.clone() };
                write_output(path, &bytes, false)?;
            }
        }
    }
    Ok(0)
}

/// The elements as text, the middle of a long buffer left out.
fn values(result: &BufferResult) -> String {
    const SHOWN: usize = 64;
    let array = &result.array;
    let width = array.element.bytes();
    let all: Vec<&[u8]> = array.bytes.chunks_exact(width).collect();
    let text = |bytes: &&[u8]| array.element.format_value(bytes);
    if all.len() <= SHOWN {
        return all.iter().map(text).collect::<Vec<_>>().join(" ");
    }
    let head: Vec<_> = all[..SHOWN / 2].iter().map(text).collect();
    let tail: Vec<_> = all[all.len() - SHOWN / 2..].iter().map(text).collect();
    format!("{} ... {} ({} elements)", head.join(" "), tail.join(" "), all.len())
}
