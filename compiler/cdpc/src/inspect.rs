//! `cdpc check`, `cdpc graph` and `cdpc layout`: what can be said about a program without making
//! code of it.

use std::path::Path;

use cdp::{
    CompileOptions, CudaAnalysis, Description, Failure, Input, InputKind, LaunchGraph, Pass,
    Report, analyse, describe_ptx, findings, layout_table,
};
use cdp::{Job, JobOptions};

use crate::EXIT_PROGRAM;
use crate::args::{Check, Graph, GraphFormat, Layout, Source};
use crate::common::{Messages, Reader, Usage, compile_options, compiler, exit_code};
use crate::memory;
use crate::output::{Outputs, write_output};

/// All passes over a source: the device pass for every architecture, then the host pass. Of each only what
/// it found is kept, since the rest takes many times the text's size.
fn passes(input: &Input, source: &Source) -> Result<Vec<Report>, Result<Usage, Failure>> {
    let options = compile_options(source).map_err(Ok)?;
    let input = match input {
        Input::Source(input) => input,
        Input::Cuda(input) => {
            let check = || -> Result<Vec<Report>, Failure> {
                let job = Job::new(JobOptions::default())?;
                Ok(compiler(source)?.check_cuda(&job, input, &options)?)
            };
            return check().map_err(Err);
        }
        Input::Bytes(_, name, _) => return Err(Ok(Usage(format!("`{name}` is no source")))),
    };
    let pass = |pass| {
        let report = findings(input, pass, &options).map_err(|error| Err(error.into()));
        memory::give_back();
        report
    };
    let mut reports = Vec::new();
    for arch in options.archs() {
        reports.push(pass(Pass::Device(arch))?);
    }
    if reports.iter().all(|report| !report.has_errors()) {
        reports.push(pass(Pass::Host)?);
    }
    Ok(reports)
}

fn failed(messages: Messages, failure: Result<Usage, Failure>) -> i32 {
    match failure {
        Ok(usage) => messages.usage(usage),
        Err(failure) => messages.failure(failure),
    }
}

pub fn check(args: &Check) -> i32 {
    let messages = Messages::new(&args.source).with_stdout(true);
    let mut code = 0;
    let mut reports = Vec::new();
    let mut reader = Reader::new(&args.source);
    for path in &args.inputs {
        let checked = reader.read(path).map_err(Err).and_then(|input| match input {
            Input::Source(_) | Input::Cuda(_) => passes(&input, &args.source),
            other => check_other(&other, &args.source).map(|()| Vec::new()),
        });
        match checked {
            Ok(more) => reports.extend(more),
            Err(failure) => code = code.max(failed(messages, failure)),
        }
    }
    messages.show(&reports);
    if code == 0 && reports.iter().any(|report| report.has_errors()) {
        code = EXIT_PROGRAM;
    }
    code
}

/// LLVM IR is made PTX for every architecture, which finds what is wrong with its launches; PTX is read.
fn check_other(input: &Input, args: &Source) -> Result<(), Result<Usage, Failure>> {
    let options = compile_options(args).map_err(Ok)?;
    match input {
        Input::Bytes(InputKind::Llvm, name, bytes) => {
            let compiler = compiler(args).map_err(|error| Err(error.into()))?;
            for arch in options.archs() {
                let made = compiler.emit_foreign(name, bytes, arch, &options);
                made.map_err(|error| Err(error.into()))?;
            }
            Ok(())
        }
        other => describe(other, args, &options).map(|_| ()),
    }
}

/// What is known of an input that is no source.
fn describe(
    input: &Input,
    args: &Source,
    options: &CompileOptions,
) -> Result<Description, Result<Usage, Failure>> {
    let description = match input {
        Input::Bytes(InputKind::Llvm, name, bytes) => {
            let compiler = compiler(args).map_err(|error| Err(error.into()))?;
            compiler.describe_foreign(name, bytes, options.archs()[0], options)
        }
        Input::Bytes(InputKind::Ptx, name, bytes) => describe_ptx(name, bytes),
        other => {
            let message = format!(
                "`{}` is neither a source nor LLVM IR nor PTX\n  help: of objects and cubins \
                 `cdpc link --report json` tells more",
                other.name()
            );
            return Err(Ok(Usage(message)));
        }
    };
    description.map_err(|error| Err(error.into()))
}

/// What is known of an input, by its first device pass if it is a source, and whether it has errors. Its
/// diagnostics are shown.
fn look(path: &Path, args: &Source, messages: Messages) -> Result<(Description, bool), i32> {
    let options = compile_options(args).map_err(|usage| messages.usage(usage))?;
    let input = Reader::new(args).read(path).map_err(|failure| messages.failure(failure))?;
    let arch = options.archs()[0];
    let source = match input {
        Input::Source(source) => source,
        Input::Cuda(source) => {
            let analyse = || -> Result<CudaAnalysis, Failure> {
                let job = Job::new(JobOptions::default())?;
                Ok(compiler(args)?.analyse_cuda(&job, &source, arch, &options)?)
            };
            let analysis = analyse().map_err(|failure| messages.failure(failure))?;
            messages.show(&analysis.reports);
            let has_errors = analysis.has_errors();
            let CudaAnalysis { kernels, graph, .. } = analysis;
            return Ok((Description { kernels, graph }, has_errors));
        }
        other => {
            let description = describe(&other, args, &options);
            return description
                .map(|description| (description, false))
                .map_err(|failure| failed(messages, failure));
        }
    };
    let analysis = analyse(&source, Pass::Device(arch), &options)
        .map_err(|error| messages.failure(error.into()))?;
    messages.show(std::slice::from_ref(&analysis.report));
    let has_errors = analysis.report.has_errors();
    Ok((Description { kernels: analysis.kernels, graph: analysis.graph }, has_errors))
}

pub fn graph(args: &Graph) -> i32 {
    let messages = Messages::new(&args.source).with_stdout(args.output.is_some());
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    let mut outputs = Outputs::default();
    outputs.add("-o", output);
    if let Err(usage) = outputs.check([args.input.as_path()]) {
        return messages.usage(usage);
    }
    let (description, has_errors) = match look(&args.input, &args.source, messages) {
        Ok(known) => known,
        Err(code) => return code,
    };
    let format = args.format.unwrap_or(match output.extension().and_then(|ext| ext.to_str()) {
        Some("dot" | "gv") => GraphFormat::Dot,
        Some("svg") => GraphFormat::Svg,
        Some("json") => GraphFormat::Json,
        _ => GraphFormat::Text,
    });
    let text = draw(&description.graph, format);
    if let Err(error) = write_output(output, text.as_bytes(), false) {
        messages.error(&error.to_string());
        return exit_code(&error);
    }
    if has_errors { EXIT_PROGRAM } else { 0 }
}

fn draw(graph: &LaunchGraph, format: GraphFormat) -> String {
    match format {
        GraphFormat::Text => graph.to_text(),
        GraphFormat::Dot => graph.to_dot(),
        GraphFormat::Svg => graph.to_svg(),
        GraphFormat::Json => {
            serde_json::to_string_pretty(graph).map(|text| text + "\n").unwrap_or_default()
        }
    }
}

pub fn layout(args: &Layout) -> i32 {
    let messages = Messages::new(&args.source);
    let (description, has_errors) = match look(&args.input, &args.source, messages) {
        Ok(known) => known,
        Err(code) => return code,
    };
    if has_errors {
        return EXIT_PROGRAM;
    }
    messages.print(&if args.json {
        serde_json::to_string_pretty(&description.kernels).unwrap_or_default() + "\n"
    } else if description.kernels.is_empty() {
        "no kernels\n".to_owned()
    } else {
        layout_table(&description.kernels)
    })
}
