//! `cdpc check`, `cdpc graph` and `cdpc layout`: what can be said about a program without making
//! code of it.

use std::path::Path;

use cdp::{Analysis, Failure, Input, LaunchGraph, Pass, SourceInput, analyse, layout_table};

use crate::EXIT_PROGRAM;
use crate::args::{Check, Graph, GraphFormat, Layout, Source};
use crate::common::{Messages, Reader, Usage, compile_options, exit_code};
use crate::output::{Outputs, write_output};

/// All passes over a source: the device pass for every architecture, then the host pass.
fn passes(input: &SourceInput, source: &Source) -> Result<Vec<Analysis>, Result<Usage, Failure>> {
    let options = compile_options(source).map_err(Ok)?;
    let mut analyses = Vec::new();
    for arch in options.archs() {
        let analysis = analyse(input, Pass::Device(arch), &options).map_err(|e| Err(e.into()))?;
        analyses.push(analysis);
    }
    if analyses.iter().all(|analysis| !analysis.report.has_errors()) {
        analyses.push(analyse(input, Pass::Host, &options).map_err(|e| Err(e.into()))?);
    }
    Ok(analyses)
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
    let mut reader = Reader::new(&args.source, None);
    for path in &args.inputs {
        let read = reader.read(path).map_err(Err).and_then(source);
        match read.and_then(|input| passes(&input, &args.source)) {
            Ok(analyses) => reports.extend(analyses.into_iter().map(|analysis| analysis.report)),
            Err(failure) => code = failed(messages, failure),
        }
    }
    messages.show(&reports);
    if code == 0 && reports.iter().any(|report| report.has_errors()) {
        code = EXIT_PROGRAM;
    }
    code
}

/// The source in an input.
fn source(input: Input) -> Result<SourceInput, Result<Usage, Failure>> {
    match input {
        Input::Source(source) => Ok(source),
        Input::Bytes(_, name, _) => Err(Ok(Usage(format!("`{name}` is no source")))),
    }
}

/// The first device pass; its diagnostics are shown.
fn device_pass(path: &Path, args: &Source, messages: Messages) -> Result<Analysis, i32> {
    let options = compile_options(args).map_err(|usage| messages.usage(usage))?;
    let read = Reader::new(args, None).read(path).map_err(Err).and_then(source);
    let input = read.map_err(|failure| failed(messages, failure))?;
    let arch = options.archs()[0];
    let analysis = analyse(&input, Pass::Device(arch), &options)
        .map_err(|error| messages.failure(error.into()))?;
    messages.show(std::slice::from_ref(&analysis.report));
    Ok(analysis)
}

pub fn graph(args: &Graph) -> i32 {
    let messages = Messages::new(&args.source).with_stdout(args.output.is_some());
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    let mut outputs = Outputs::default();
    outputs.add("-o", output);
    if let Err(usage) = outputs.check([args.input.as_path()]) {
        return messages.usage(usage);
    }
    let analysis = match device_pass(&args.input, &args.source, messages) {
        Ok(analysis) => analysis,
        Err(code) => return code,
    };
    let format = args.format.unwrap_or(match output.extension().and_then(|ext| ext.to_str()) {
        Some("dot" | "gv") => GraphFormat::Dot,
        Some("svg") => GraphFormat::Svg,
        Some("json") => GraphFormat::Json,
        _ => GraphFormat::Text,
    });
    let text = draw(&analysis.graph, format);
    if let Err(error) = write_output(output, text.as_bytes(), false) {
        messages.error(&error.to_string());
        return exit_code(&error);
    }
    if analysis.report.has_errors() { EXIT_PROGRAM } else { 0 }
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
    let analysis = match device_pass(&args.input, &args.source, messages) {
        Ok(analysis) => analysis,
        Err(code) => return code,
    };
    if analysis.report.has_errors() {
        return EXIT_PROGRAM;
    }
    messages.print(&if args.json {
        serde_json::to_string_pretty(&analysis.kernels).unwrap_or_default() + "\n"
    } else if analysis.kernels.is_empty() {
        "no kernels\n".to_owned()
    } else {
        layout_table(&analysis.kernels)
    })
}
