//! Diagnostic cases: `//~ E0412` on the line that must raise it (`//~^` for the line above, one `^`
//! a line), and the examples of every code's page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cdp::Format;
use cdp::{Analysis, Arch, CompileOptions, Pass, Report, SourceInput, analyse};
use cdp_diagnostics::codes::{ALL, Code};
use libtest_mimic::{Failed, Trial};

use crate::cases::Directives;
use crate::support::{Outcome, cases, compiler, files, job, read, root, same, stem, trial};

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = files(&cases("errors"), "cdp")
        .into_iter()
        .map(|path| trial(format!("errors::{}", stem(&path)), move || annotated(&path)))
        .collect();
    let without = !crate::cuda::has_clang();
    trials.extend(files(&cases("errors"), "cu").into_iter().map(|path| {
        let name = format!("errors::{}", stem(&path));
        trial(name, move || annotated(&path)).with_ignored_flag(without)
    }));
    trials.push(trial("errors::the_same_without_a_module".into(), without_module));
    trials.extend(ALL.iter().map(|code| {
        let clang = without && CLANG.contains(&code.info().code);
        trial(format!("codes::{code}"), || page(*code)).with_ignored_flag(clang)
    }));
    trials
}

/// Codes whose examples are `.cu` files.
const CLANG: [&str; 4] = ["E0901", "E0902", "W0901", "W0902"];

/// (line, code) pairs, sorted.
type Findings = BTreeSet<(u32, String)>;

/// All passes of a file; the second only when the first has no errors, as in a build.
fn analyses(source: &SourceInput, options: &CompileOptions) -> Result<Vec<Analysis>, Failed> {
    let mut analyses = Vec::new();
    for pass in [Pass::Device(options.archs()[0]), Pass::Host] {
        let analysis = analyse(source, pass, options).map_err(|error| error.to_string())?;
        let stop = analysis.report.has_errors();
        analyses.push(analysis);
        if stop {
            break;
        }
    }
    Ok(analyses)
}

/// `cdpc check` keeps no code, and says what a build says.
fn without_module() -> Outcome {
    for family in ["errors", "run", "documents", "reports"] {
        for path in files(&cases(family), "cdp") {
            let directives = Directives::of(&path)?;
            let options = directives.options(directives.archs()?[0]);
            let source = SourceInput::File(path.clone());
            for pass in [Pass::Device(options.archs()[0]), Pass::Host] {
                let whole = analyse(&source, pass, &options).map_err(|error| error.to_string())?;
                let report =
                    cdp::findings(&source, pass, &options).map_err(|error| error.to_string())?;
                let shown = |report: &Report| {
                    cdp::render_reports(std::slice::from_ref(report), Format::Human)
                };
                same(&path.display().to_string(), &shown(&report), &shown(&whole.report))?;
            }
        }
    }
    Ok(())
}

fn findings(source: &SourceInput, options: &CompileOptions) -> Result<Findings, Failed> {
    let analyses = analyses(source, options)?;
    let reports: Vec<_> = analyses.into_iter().map(|analysis| analysis.report).collect();
    Ok(findings_in(&reports))
}

/// What clang and the taking over of its launches say of a `.cu` file.
fn findings_of_cuda(source: &SourceInput, options: &CompileOptions) -> Result<Findings, Failed> {
    let reports = compiler()?.check_cuda(&job()?, source, options);
    Ok(findings_in(&reports.map_err(|error| error.to_string())?))
}

fn findings_in(reports: &[Report]) -> Findings {
    let mut found = Findings::new();
    for report in reports {
        let sources = &report.session.sources;
        for diagnostic in report.diagnostics.iter() {
            let span = sources.call_site(diagnostic.primary.span);
            let line = sources.location(span).map_or(0, |at| at.line);
            found.insert((line, diagnostic.code.to_string()));
        }
    }
    found
}

fn annotations(text: &str) -> Findings {
    let mut expected = Findings::new();
    for (index, line) in text.lines().enumerate() {
        for note in line.split("//~").skip(1) {
            let above = note.chars().take_while(|c| *c == '^').count() as u32;
            for code in note.trim_start_matches('^').split_whitespace() {
                expected.insert((index as u32 + 1 - above, code.to_string()));
            }
        }
    }
    expected
}

/// The findings of a file of either kind.
fn findings_of(path: &Path, options: &CompileOptions) -> Result<Findings, Failed> {
    let source = SourceInput::File(path.to_owned());
    match path.extension().is_some_and(|extension| extension == "cu") {
        true => findings_of_cuda(&source, options),
        false => findings(&source, options),
    }
}

fn annotated(path: &Path) -> Outcome {
    let text = read(path)?;
    let directives = Directives::of(path)?;
    let mut options = directives.options(directives.archs()?[0]);
    for word in directives.words("flags") {
        if let Some(warning) = word.strip_prefix("-W") {
            options.warnings.apply(warning)?;
        }
    }
    if let Some(abi) = directives.abis().first() {
        options.launch_abi = cdp::RequestedAbi::Exactly(*abi);
    }
    let found = findings_of(path, &options)?;
    let expected = annotations(&text);
    if expected.is_empty() {
        return Err("the file expects nothing".into());
    }
    if found == expected {
        return Ok(());
    }
    let list = |findings: Vec<&(u32, String)>| {
        findings.iter().map(|(line, code)| format!("  line {line}: {code}\n")).collect::<String>()
    };
    let missing = list(expected.difference(&found).collect());
    let surplus = list(found.difference(&expected).collect());
    Err(format!("expected and not raised:\n{missing}raised and not expected:\n{surplus}").into())
}

/// Codes whose example cannot stand in a page: a page is valid UTF-8, and of a readable size. The
/// front end's own tests raise them.
const NO_EXAMPLE: [&str; 2] = ["E0101", "E0116"];

/// The page of a code: of each two examples the first raises exactly that code, the second compiles.
fn page(code: Code) -> Outcome {
    let path: PathBuf = root().join(format!("compiler/docs/codes/{code}.md"));
    let text = read(&path)?;
    if NO_EXAMPLE.contains(&code.info().code) {
        return Ok(());
    }
    let examples = examples(&text);
    if examples.is_empty() || examples.len() % 2 == 1 {
        return Err(format!(
            "{} wants ```cdp examples in pairs: the error, and its cure",
            path.display()
        )
        .into());
    }
    let codes = |example: &Example| -> Result<BTreeSet<String>, Failed> {
        let options = example.options(code)?;
        let found = match example.name {
            "example.cu" => findings_of_cuda(&example.source(), &options)?,
            _ => findings(&example.source(), &options)?,
        };
        Ok(found.into_iter().map(|(_, code)| code).collect())
    };
    for pair in examples.chunks(2) {
        let [bad, cured] = pair else { continue };
        let raised = codes(bad)?;
        if raised != BTreeSet::from([code.to_string()]) {
            return Err(format!("the example raises {raised:?}, not {code}").into());
        }
        let left = codes(cured)?;
        if !left.is_empty() {
            return Err(format!("the cured example raises {left:?}").into());
        }
    }
    Ok(())
}

/// A fenced example. The fence may carry options: ```` ```cdp arch=sm_80 cdp=1 abi=documented ````.
struct Example {
    /// The file that the text is: `.cdp` or `.cu`.
    name: &'static str,
    options: Vec<String>,
    text: String,
}

impl Example {
    fn source(&self) -> SourceInput {
        SourceInput::text(self.name, self.text.clone())
    }

    fn options(&self, code: Code) -> Result<CompileOptions, Failed> {
        let mut options = CompileOptions::default();
        if let Some(name) = code.info().name {
            // A page also shows warnings that must be asked for.
            options.warnings.apply(name)?;
        }
        for option in &self.options {
            match option.split_once('=') {
                Some(("arch", name)) => {
                    options.archs = vec![Arch::parse(name).map_err(|error| error.to_string())?];
                }
                Some(("cdp", "1")) => options.cdp = Some(cdp::CdpVersion::Cdp1),
                Some(("abi", name)) => {
                    options.launch_abi = name.parse().map_err(|_| format!("no ABI {name}"))?;
                }
                _ => return Err(format!("unknown option `{option}` in a fence").into()),
            }
        }
        Ok(options)
    }
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut open: Option<Example> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(fence)) => {
                let mut words = fence.split_whitespace();
                let name = match words.next() {
                    Some("cdp") => "example.cdp",
                    Some("cu") => "example.cu",
                    _ => continue,
                };
                let options = words.map(str::to_string).collect();
                open = Some(Example { name, options, text: String::new() });
            }
            (Some(_), Some(_)) => examples.extend(open.take()),
            (Some(example), None) => {
                example.text += line;
                example.text.push('\n');
            }
            (None, None) => {}
        }
    }
    examples
}
