//! The GPU runner: each case in a child process with a time limit, results compared, a table on
//! standard output and a Markdown report. It compiles nothing.

mod case;
mod launches;
mod report;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::bundle::Manifest;
use cdp_runtime::DeviceKind;

pub(crate) use self::case::Outcome;

const USAGE: &str = "\
usage: cdp-gpu-runner [--manifest FILE] [--report FILE] [--filter TEXT] [--device gpu|cpu] [--jobs N]

Runs the cases of a bundle on this machine's GPU, each in a process of its own.
  --manifest FILE   the bundle's manifest [default: manifest.json]
  --report FILE     write a report in Markdown
  --filter TEXT     only cases whose name contains TEXT
  --device gpu|cpu  where to run [default: gpu]
  --jobs N          cases at a time [default: 4]
Exit code: 0 if every case passed, 1 if one failed, 2 for misuse, 3 without a usable GPU.";

/// What was asked for.
pub(crate) struct Options {
    pub manifest: PathBuf,
    pub report: Option<PathBuf>,
    pub filter: String,
    pub device: DeviceKind,
    pub jobs: usize,
}

enum Request {
    Run(Options),
    /// Make launches of one case in this process.
    Child(launches::Child),
    Help,
}

fn parse(args: Vec<OsString>) -> Result<Request, String> {
    let mut options = Options {
        manifest: "manifest.json".into(),
        report: None,
        filter: String::new(),
        device: DeviceKind::Gpu,
        jobs: 4,
    };
    let (mut child, mut first, mut results) = (None, 0, None);
    let mut args = args.into_iter();
    while let Some(flag) = args.next() {
        let flag = flag.to_string_lossy().into_owned();
        if matches!(flag.as_str(), "-h" | "--help") {
            return Ok(Request::Help);
        }
        let known = [
            "--manifest",
            "--report",
            "--filter",
            "--device",
            "--jobs",
            "--child",
            "--first",
            "--results",
        ];
        if !known.contains(&flag.as_str()) {
            return Err(format!("`{flag}` is not an option"));
        }
        let value = args.next().ok_or_else(|| format!("a value is expected after {flag}"))?;
        let text = value.to_string_lossy().into_owned();
        let number =
            || text.parse::<usize>().map_err(|_| format!("{flag} {text}: a number is expected"));
        match flag.as_str() {
            "--manifest" => options.manifest = value.into(),
            "--report" => options.report = Some(value.into()),
            "--filter" => options.filter = text,
            "--jobs" => options.jobs = number()?.max(1),
            "--child" => child = Some(number()?),
            "--first" => first = number()?,
            "--results" => results = Some(PathBuf::from(value)),
            _ => {
                options.device = match text.as_str() {
                    "gpu" => DeviceKind::Gpu,
                    "cpu" => DeviceKind::Cpu,
                    other => return Err(format!("--device {other}: gpu or cpu is expected")),
                }
            }
        }
    }
    Ok(match (child, results) {
        (Some(case), Some(results)) => {
            let (manifest, device) = (options.manifest, options.device);
            Request::Child(launches::Child { manifest, case, first, device, results })
        }
        _ => Request::Run(options),
    })
}

/// The program. `args` are those of the command line without its name.
pub fn main(args: Vec<OsString>) -> ExitCode {
    match parse(args) {
        Ok(Request::Help) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(Request::Run(options)) => run(&options),
        Ok(Request::Child(child)) => child.run(),
        Err(error) => {
            eprintln!("cdp-gpu-runner: {error}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> ExitCode {
    let manifest = match Manifest::read(&options.manifest) {
        Ok(manifest) => manifest,
        Err(error) => {
            eprintln!("cdp-gpu-runner: {error}");
            return ExitCode::from(2);
        }
    };
    let machine = match report::Machine::find(options.device) {
        Ok(machine) => machine,
        Err(error) => {
            eprintln!("cdp-gpu-runner: {error}");
            return ExitCode::from(3);
        }
    };
    println!("{machine}");
    let chosen: Vec<usize> = (0..manifest.cases.len())
        .filter(|&index| manifest.cases[index].name.contains(&options.filter))
        .collect();
    let outcomes = run_cases(options, &manifest, &chosen);
    let rows: Vec<_> =
        chosen.iter().map(|&index| &manifest.cases[index]).zip(outcomes.iter()).collect();
    let failed = outcomes.iter().filter(|outcome| !outcome.passed()).count();
    println!("{} cases, {} passed, {failed} failed", rows.len(), rows.len() - failed);
    if let Some(path) = &options.report {
        let text = report::markdown(&machine, &manifest, &rows);
        if let Err(error) = std::fs::write(path, text) {
            eprintln!("cdp-gpu-runner: {}: {error}", path.display());
            return ExitCode::from(2);
        }
        println!("report: {}", path.display());
    }
    ExitCode::from(u8::from(failed > 0 || rows.is_empty()))
}

/// Runs the chosen cases, several at a time; prints each when it ends. Outcomes are in the order of
/// `chosen`.
fn run_cases(options: &Options, manifest: &Manifest, chosen: &[usize]) -> Vec<Outcome> {
    let width = chosen.iter().map(|&index| manifest.cases[index].name.len()).max().unwrap_or(0);
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Option<Outcome>>> = chosen.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            let (Some(slot), Some(&index)) = (outcomes.get(turn), chosen.get(turn)) else { break };
            let case = &manifest.cases[index];
            let outcome = case::run(options, case, index);
            println!("{}", report::line(case, &outcome, width));
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(outcome);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.min(chosen.len()) {
            scope.spawn(work);
        }
    });
    let lost = || Outcome::failed("the runner lost the case".to_owned());
    outcomes.into_iter().map(|slot| slot.into_inner().ok().flatten().unwrap_or_else(lost)).collect()
}
