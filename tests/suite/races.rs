//! Cases of the race checker: programs of `cases/races`, each with one planted race that must be found
//! under every one of many schedules, with no line named that is not marked `//~ race`; and programs
//! of `cases/ordered`, in which nothing may be found under any. Those in `.cu` files want clang.
//!
//! Programs of `cases/faults` have one planted fault of another kind, which is found in the same way.
//!
//! Programs of `samples/nested` mark the races that they have and that do no harm: those are found, no others.
//!
//! That the checker finds nothing in the run cases, as compiled by us, nvcc and clang, is seen where
//! those run.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cdp::{DebugInfo, Goal};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::cases::Directives;
use crate::compile::build;
use crate::support::{Outcome, cases, cdpc, files, read, root, run_limited, stem, trial};

const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Schedules of a program with a race.
const PLANTED_SEEDS: u64 = 20;
/// Schedules of a program without one, the plain schedule besides.
const ORDERED_SEEDS: u64 = 5;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for kind in ["cdp", "cu"] {
        let unread = kind == "cu" && !crate::cuda::has_clang();
        for path in files(&cases("races"), kind) {
            let name = format!("races::{}", stem(&path));
            let found = move || planted(&path, "race", "race");
            trials.push(trial(name, found).with_ignored_flag(unread));
        }
        for path in files(&cases("faults"), kind) {
            let name = format!("faults::{}", stem(&path));
            trials.push(trial(name, move || fault(&path)).with_ignored_flag(unread));
        }
        for path in files(&cases("ordered"), kind) {
            let name = format!("ordered::{}", stem(&path));
            trials.push(trial(name, move || ordered(&path)).with_ignored_flag(unread));
        }
    }
    for path in files(&cases("siblings"), "cdp") {
        let name = format!("siblings::{}", stem(&path));
        trials.push(trial(name, move || planted(&path, "siblings", "sibling-conflict")));
    }
    for path in files(&root().join("samples/nested"), "cdp") {
        trials.push(trial(format!("races::nested::{}", stem(&path)), move || harmless(&path)));
    }
    trials.push(trial("races::corpus".into(), corpus));
    trials.push(trial("races::launches_that_are_optimised".into(), optimised));
    trials.push(trial("schedules::outcomes".into(), outcomes));
    trials.push(trial("bounds::fails_when_checked".into(), fails_when_checked));
    let words: [(&str, &[&str]); 3] = [
        (
            "endless_recursion",
            &["other grids of it", "endless_recursion.cdp:", "ends the recursion?"],
        ),
        (
            "endless_tail",
            &["`again`", "endless_tail.cdp:6:5", "times in a row so far", "more launches"],
        ),
        (
            "half_at_barrier",
            &[
                "16 lanes wait: at barrier 1, 16 of 32",
                "16 lanes wait: for another value of variable `flag`",
                ":11:",
            ],
        ),
    ];
    for (name, words) in words {
        let check = move || bounded(&cases("bounds").join(name).with_extension("cdp"), words);
        trials.push(trial(format!("bounds::{name}"), check));
    }
    trials
}

/// A built program in a folder of its own.
struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    fn of(path: &Path) -> Result<Program, Failed> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let program = folder.path().join("program");
        if path.extension().is_some_and(|extension| extension == "cu") {
            let mut command = cdpc();
            let flags = Directives::of(path)?;
            // Launches stay what they are, so that the races of children are seen.
            command
                .arg("build")
                .args(["-flaunch-opt=off", "--watch-host"])
                .args(flags.words("flags"))
                .arg(path);
            command.arg("--lineinfo").arg("-o").arg(&program);
            let output = run_limited(&mut command, TIME_LIMIT)?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return if output.status.success() { Ok(Program { folder }) } else { Err(said.into()) };
        }
        let directives = Directives::of(path)?;
        let options = directives.options(directives.archs()?[0]);
        let options = options.with(|options| {
            options.debug = DebugInfo::Lines;
            options.stores_apart = true;
            options.watch_host = true;
        });
        std::fs::write(&program, build(path, &options, Goal::Executable)?)
            .map_err(|error| error.to_string())?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).map_err(|error| error.to_string())?;
        Ok(Program { folder })
    }

    /// The reports of a run, and whether the program succeeded.
    fn run(&self, check: &str, seed: Option<u64>) -> Result<(Vec<Value>, bool), Failed> {
        self.run_with(&[], check, seed)
    }

    fn run_with(
        &self,
        args: &[&str],
        check: &str,
        seed: Option<u64>,
    ) -> Result<(Vec<Value>, bool), Failed> {
        let mut command = Command::new(self.folder.path().join("program"));
        command.args(args);
        command.env("CDP_DEVICE", "cpu").env("CDP_MESSAGE_FORMAT", "json").env("CDP_CHECK", check);
        if let Some(seed) = seed {
            command.env("CDP_SCHEDULE_SEED", seed.to_string());
        }
        let output = run_limited(&mut command, TIME_LIMIT)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let report = |line: &str| serde_json::from_str(line).map_err(|e| format!("{e}: {line}"));
        let reports = stderr.lines().map(report).collect::<Result<Vec<Value>, String>>()?;
        Ok((reports, output.status.success()))
    }
}

/// The source lines that a report names as places of accesses.
fn lines(report: &Value) -> impl Iterator<Item = u64> {
    let others = report["related"].as_array().into_iter().flatten().map(|other| &other["site"]);
    let of_device = others.chain([&report["site"]]).map(|site| &site["source"]);
    let others = report["related"].as_array().into_iter().flatten().map(|other| &other["host"]);
    of_device.chain(others).chain([&report["host"]]).filter_map(|line| line["line"].as_u64())
}

/// The check that looks for the kind of fault that a case says it has.
fn fault(path: &Path) -> Outcome {
    let directives = Directives::of(path)?;
    let kind = *directives.words("fault").first().ok_or("no line `// fault: KIND`")?;
    let check = match kind {
        "uninitialized" => "init",
        "out-of-bounds" => "bounds",
        "leak" => "leak",
        "absent-lane" | "undefined-exchange" => "sync",
        // Found in every run.
        _ => "race",
    };
    planted(path, check, kind)
}

fn planted(path: &Path, check: &str, kind: &str) -> Outcome {
    let marked = marked(path)?;
    let program = Program::of(path)?;
    for seed in std::iter::once(None).chain((0..PLANTED_SEEDS).map(Some)) {
        let (reports, succeeded) = program.run(check, seed)?;
        let found = reports.iter().filter(|report| report["kind"] == kind).count();
        let named: BTreeSet<u64> = reports.iter().flat_map(lines).collect();
        if found == 0 || succeeded || !named.is_subset(&marked) {
            let rendered: String =
                reports.iter().filter_map(|report| report["rendered"].as_str()).collect();
            return Err(format!(
                "seed {seed:?}: {found} reports, success {succeeded}, lines {named:?} of \
                 {marked:?}\n{rendered}"
            )
            .into());
        }
    }
    Ok(())
}

/// Lines marked `//~ race` or `//~ fault`.
fn marked(path: &Path) -> Result<BTreeSet<u64>, Failed> {
    let text = read(path)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| {
        (line.contains("//~ race") || line.contains("//~ fault")) && !line.starts_with("//")
    });
    Ok(lines.map(|(number, _)| number).collect())
}

/// The marked lines are what is found in a program's variants, and it works for all that.
fn harmless(path: &Path) -> Outcome {
    let program = Program::of(path)?;
    let (marked, mut named) = (marked(path)?, BTreeSet::new());
    for variant in crate::launches::VARIANTS {
        for seed in std::iter::once(None).chain((0..ORDERED_SEEDS).map(Some)) {
            let (reports, succeeded) = program.run_with(&[variant], "race", seed)?;
            if let Some(other) = reports.iter().find(|report| report["kind"] != "race") {
                return Err(format!("{variant}, seed {seed:?}: {other}").into());
            }
            if succeeded != reports.is_empty() {
                return Err(format!("{variant}, seed {seed:?}: success {succeeded}").into());
            }
            named.extend(reports.iter().flat_map(lines));
        }
    }
    match named == marked {
        true => Ok(()),
        false => Err(format!("found on lines {named:?}, marked are {marked:?}").into()),
    }
}

fn ordered(path: &Path) -> Outcome {
    let program = Program::of(path)?;
    for seed in std::iter::once(None).chain((0..ORDERED_SEEDS).map(Some)) {
        let (reports, succeeded) = program.run("race,sync", seed)?;
        if !reports.is_empty() || !succeeded {
            let rendered: String =
                reports.iter().filter_map(|report| report["rendered"].as_str()).collect();
            return Err(format!("seed {seed:?}: success {succeeded}\n{rendered}").into());
        }
    }
    Ok(())
}

/// Where the launch optimiser hides a race between a kernel and its child, who looks for races is told so.
fn optimised() -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, program) = (folder.path().join("a.cdp"), folder.path().join("program"));
    let text = "__global__ void child(int *p) { p[0] = 1; }\n__global__ void parent(int *p) { \
                child<<<1, 1>>>(p + threadIdx.x); p[threadIdx.x] = 2; }\nint main() { int *p; \
                cudaMalloc((void **)&p, 256); parent<<<1, 32>>>(p); \
                return cudaDeviceSynchronize() != cudaSuccess; }\n";
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    for (level, hidden) in [("off", false), ("safe", true)] {
        let mut command = cdpc();
        command.arg("build").arg(format!("-flaunch-opt={level}")).arg(&source);
        let built = run_limited(command.arg("-o").arg(&program), TIME_LIMIT)?;
        if !built.status.success() {
            return Err(String::from_utf8_lossy(&built.stderr).into_owned().into());
        }
        for (check, asked) in [("race", true), ("init", false)] {
            let mut command = Command::new(&program);
            command.env("CDP_DEVICE", "cpu").env("CDP_CHECK", check);
            let output = run_limited(&mut command, TIME_LIMIT)?;
            let said = String::from_utf8_lossy(&output.stderr);
            let told = said.contains("Compile with -flaunch-opt=off");
            let found = said.contains("device error: race");
            if told != (hidden && asked) || (asked && found == hidden) {
                return Err(format!("{level}, {check}:\n{said}").into());
            }
        }
    }
    Ok(())
}

/// The corpus stays as large as `docs/checks.md` says: programs with a planted race, and programs in which
/// nothing is found, those that run with the checks as well.
fn corpus() -> Outcome {
    const PLANTED: usize = 240;
    const CLEAN: usize = 120;
    let of = |folder: &str| ["cdp", "cu"].map(|kind| files(&cases(folder), kind).len());
    let planted: usize = of("races").iter().sum();
    let mut clean: usize = of("ordered").iter().sum();
    for path in files(&cases("run"), "cdp") {
        let directives = Directives::of(&path)?;
        let others = ["nvcc", "clang"].into_iter().filter(|name| !directives.skips(name)).count();
        clean += if directives.skips("race") { 0 } else { 1 + others };
    }
    if planted < PLANTED || clean < CLEAN {
        return Err(format!("{planted} of {PLANTED} planted, {clean} of {CLEAN} clean").into());
    }
    Ok(())
}

/// `cdpc run --schedules` shows that a counter without atomics has many outcomes and one with them
/// has one, and each seed repeats its own.
fn outcomes() -> Outcome {
    let program = |update: &str| {
        format!(
            "#include <stdio.h>\n__device__ int counter;\n\
             __global__ void bump() {{ {update}; }}\n__global__ void show() {{ printf(\"%d\\n\", \
             counter); }}\nint main() {{ bump<<<64, 64>>>(); show<<<1, 1>>>(); \
             return cudaDeviceSynchronize() != cudaSuccess; }}\n"
        )
    };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("counter.cdp");
    let run = |text: &str, args: &[&str]| -> Result<(String, bool), Failed> {
        std::fs::write(&path, text).map_err(|error| error.to_string())?;
        let mut command = cdpc();
        if let Some(library) = crate::run::runtime_archive() {
            command.env("CDP_RUNTIME_LIB", library);
        }
        command.args(["run", "--device", "cpu"]).args(args).arg(&path);
        let output = run_limited(&mut command, TIME_LIMIT)?;
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success()))
    };
    let (text, fine) = run(&program("atomicAdd(&counter, 1)"), &["--schedules", "6"])?;
    if !fine || !text.starts_with("6 schedules, 1 outcome\n") || !text.contains("4096") {
        return Err(format!("with atomics:\n{text}").into());
    }
    let plain = program("counter = counter + 1");
    let (text, fine) = run(&plain, &["--schedules", "6"])?;
    let count = text.split_whitespace().nth(2).and_then(|word| word.parse::<u32>().ok());
    if fine || count.is_none_or(|count| count < 4) {
        return Err(format!("without:\n{text}").into());
    }
    // Blocks of a grid, and warps of a block, come to their one access in any order.
    for shape in ["3, 1", "1, 96"] {
        let orders = format!(
            "#include <stdio.h>\n__device__ int order[3], count;\n__global__ void come() {{ if (threadIdx.x % 32 == 0) \
             order[atomicAdd(&count, 1)] = blockIdx.x + threadIdx.x / 32; }}\n__global__ void show() {{ \
             printf(\"%d%d%d\\n\", order[0], order[1], order[2]); }}\nint main() {{ come<<<{shape}>>>(); \
             show<<<1, 1>>>(); return cudaDeviceSynchronize() != cudaSuccess; }}\n"
        );
        let (text, _) = run(&orders, &["--schedules", "60"])?;
        if !text.starts_with("60 schedules, 6 outcomes\n") {
            return Err(format!("orders of <<<{shape}>>>:\n{text}").into());
        }
    }
    let seeded = || run(&plain, &["--schedule-seed", "3"]);
    let (once, again) = (seeded()?.0, seeded()?.0);
    if once != again || !text.contains(once.trim()) {
        return Err(format!("seed 3 gives {once} and {again}, not as in\n{text}").into());
    }
    Ok(())
}

/// A program that asks for no error: of the kernel that fails its exit code tells where checks are asked for.
fn fails_when_checked() -> Outcome {
    let text = "__global__ void k(int *p) { if (threadIdx.x < 40) __syncthreads(); p[threadIdx.x] = 0; }\n\
                int main() { int *p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); return 0; }\n";
    let unwritten = "__global__ void k(int *p) { __shared__ int s[64]; int t = threadIdx.x; if (t != 7) s[t] = t; \
                     __syncthreads(); p[t] = s[(t + 1) % 64]; }\n\
                     int main() { int *p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); return 0; }\n";
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("half.cdp");
    for (kernel, args, code) in [
        (text.to_owned(), &[][..], 0),
        (text.to_owned(), &["--check", "race"], 1),
        (text.replace("p[threadIdx.x]", "p[threadIdx.x * 1000]"), &["--check", "divide"], 1),
        (text.replace("threadIdx.x < 40", "true"), &["--check", "all"], 0),
        (unwritten.to_owned(), &["--check", "race"], 0),
        (unwritten.to_owned(), &["--check", "init"], 1),
        (unwritten.to_owned(), &["--check", "all"], 1),
    ] {
        // What is never released is a finding of its own.
        std::fs::write(&path, kernel.replace("return", "cudaFree(p); return"))
            .map_err(|error| error.to_string())?;
        let mut command = cdpc();
        if let Some(library) = crate::run::runtime_archive() {
            command.env("CDP_RUNTIME_LIB", library);
        }
        command.args(["run", "--device", "cpu"]).args(args).arg(&path);
        let output = run_limited(&mut command, TIME_LIMIT)?;
        if output.status.code() != Some(code) {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{args:?}: {}, not {code}\n{said}", output.status).into());
        }
    }
    Ok(())
}

/// What is said of a program that its bound stops. The numbers in it are the code generator's.
fn bounded(path: &Path, words: &[&str]) -> Outcome {
    let mut command = cdpc();
    if let Some(library) = crate::run::runtime_archive() {
        command.env("CDP_RUNTIME_LIB", library);
    }
    command.args(["run", "--device", "cpu"]).args(Directives::of(path)?.words("flags")).arg(path);
    let output = run_limited(&mut command, TIME_LIMIT)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    match words.iter().find(|word| !stderr.contains(**word)) {
        None => Ok(()),
        Some(word) => Err(format!("`{word}` is not said in\n{stderr}").into()),
    }
}
