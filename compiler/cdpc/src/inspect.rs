//! `cdpc check`, `cdpc graph` and `cdpc layout`: what can be said about a program without making
//! code of it.

use std::path::Path;

use cdp::{Analysis, Failure, LaunchGraph, Pass, SourceInput, analyse, layout_table};

use crate::EXIT_PROGRAM;
use crate::args::{Check, Graph, GraphFormat, Layout, Source};
use crate::common::{Messages, Usage, compile_options, exit_code, print_all};
use crate::output::write_output;

/// All passes over a source: the device pass for every architecture, then the host pass.
fn passes(path: &Path, source: &Source) -> Result<Vec<Analysis>, Result<Usage, Failure>> {
    let options = compile_options(source).map_err(Ok)?;
    let input = SourceInput::File(path.to_owned());
    let mut analyses = Vec::new();
    for arch in options.archs() {
        let analysis = analyse(&input, Pass::Device(arch), &options).map_err(|e| Err(e.into()))?;
        analyses.push(analysis);
    }
    if analyses.iter().all(|analysis| !analysis.report.has_errors()) {
        analyses.push(analyse(&input, Pass::Host, &options).map_err(|e| Err(e.into()))?);
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
    let messages = Messages::new(&args.source);
    let mut code = 0;
    let mut reports = Vec::new();
    for path in &args.inputs {
        match passes(path, &args.source) {
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

/// The first device pass; its diagnostics are shown.
fn device_pass(path: &Path, source: &Source, messages: Messages) -> Result<Analysis, i32> {
    let options = compile_options(source).map_err(|usage| messages.usage(usage))?;
    let input = SourceInput::File(path.to_owned());
    let arch = options.archs()[0];
    let analysis = analyse(&input, Pass::Device(arch), &options)
        .map_err(|error| messages.failure(error.into()))?;
    messages.show(std::slice::from_ref(&analysis.report));
    Ok(analysis)
}

pub fn graph(args: &Graph) -> i32 {
    let messages = Messages::new(&args.source);
    let analysis = match device_pass(&args.input, &args.source, messages) {
        Ok(analysis) => analysis,
        Err(code) => return code,
    };
    let extension = args.output.as_deref().and_then(Path::extension).and_then(|ext| ext.to_str());
    let format = args.format.unwrap_or(match extension {
        Some("dot" | "gv") => GraphFormat::Dot,
        Some("svg") => GraphFormat::Svg,
        Some("json") => GraphFormat::Json,
        _ => GraphFormat::Text,
    });
    let text = draw(&analysis.graph, format);
    if let Some(path) = &args.output {
        if let Err(error) = write_output(path, text.as_bytes(), false) {
            messages.error(&error.to_string());
            return exit_code(&error);
        }
    } else {
        print_all(&text);
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
    if args.json {
        let text = serde_json::to_string_pretty(&analysis.kernels).unwrap_or_default();
        print_all(&(text + "\n"));
    } else if analysis.kernels.is_empty() {
        print_all("no kernels\n");
    } else {
        print_all(&layout_table(&analysis.kernels));
    }
    0
}
