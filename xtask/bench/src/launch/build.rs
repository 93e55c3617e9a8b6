//! The folder for the machine with the GPU: executables, what is known of them here, and the script.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::Common;
use xtask::cargo::{nvcc, output, root};
use xtask::demo::with_cuda_path;
use xtask::failure::{Failure, Outcome};

use super::{CONTENDERS, Contender, Row};

/// On the machine with the GPU: rounds over all runs, as many as the time allows, so that whatever slows the
/// machine for a while slows no contender more than the others.
const RUN_SH: &str = "#!/usr/bin/env bash
# Times every program; `run.sh [FILE [SECONDS]]` writes what `cargo xtask bench launch --results FILE` reads.
out=/dev/stdout
[ $# -eq 0 ] || out=$(realpath \"$1\")
cd \"$(dirname \"${BASH_SOURCE[0]}\")\" || exit 1
end=$((SECONDS + ${2:-52}))
export CDP_TIME=1 CDP_DEVICE=gpu LD_LIBRARY_PATH=\"$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"
{
    echo \"machine $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)\"
    cat facts
    for round in 1 2 3 4 5; do
        while read -r row contender arguments <&3; do
            [ \"$SECONDS\" -lt \"$end\" ] || break 2
            echo \"run $row $contender\"
            # shellcheck disable=SC2086
            timeout 10 $arguments 2>&1 || echo \"failed $?\"
        done 3<plan
    done
    echo \"ended in round $round after $SECONDS s\"
} >\"$out\"
";

/// What compiles.
pub struct Builder<'a> {
    common: &'a Common,
    cdpc: PathBuf,
    nvcc: PathBuf,
    runtime: PathBuf,
    out: PathBuf,
}

impl<'a> Builder<'a> {
    /// Finds the tools and makes the folder.
    ///
    /// # Errors
    /// When there is no nvcc, which the benchmark compares with, or a file cannot be written.
    pub fn new(
        common: &'a Common,
        cdpc: PathBuf,
        runtime: PathBuf,
        out: &Path,
    ) -> Outcome<Builder<'a>> {
        let nvcc = nvcc(common)
            .ok_or_else(|| Failure::new("the benchmark compares with nvcc, which is not here"))?;
        for dir in ["bin", "lib"] {
            let dir = out.join(dir);
            fs::create_dir_all(&dir)
                .map_err(|error| Failure::io("make the folder", &dir, &error))?;
        }
        let find =
            |path: PathBuf| path.canonicalize().map_err(|error| Failure::io("find", &path, &error));
        let (cdpc, runtime) = (find(cdpc)?, find(runtime)?);
        let library = out.join("lib/libcdp_runtime.so");
        fs::copy(&runtime, &library).map_err(|error| Failure::io("copy", &runtime, &error))?;
        output(Command::new("strip").arg(&library))?;
        Ok(Builder { common, cdpc, nvcc, runtime, out: out.to_owned() })
    }

    /// Compiles a program, and says what is known of it: `fact PROGRAM CONTENDER NAME NUMBER` a line.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn build(&self, program: &str, contender: &Contender) -> Outcome<String> {
        let source = root().join("samples/nested").join(program).with_extension("cdp");
        let place = self.out.join("bin").join(format!("{program}-{}", contender.name));
        let cubin = place.with_extension("cubin");
        let size = match contender.flags {
            None => self.by_nvcc(&source, &place)?,
            Some(flags) => {
                for (goal, to) in [("cubin", &cubin), ("exe", &place)] {
                    let mut command = Command::new(&self.cdpc);
                    command.arg("build").arg(&source).args(["--arch", "sm_90", "-O3"]).args(flags);
                    command.args(["--emit", goal, "-o"]).arg(to);
                    command.env("CDP_RUNTIME_LIB", &self.runtime);
                    output(with_cuda_path(&mut command, self.common))?;
                }
                fs::metadata(&cubin)
                    .and_then(|meta| fs::remove_file(&cubin).map(|()| meta.len()))
                    .map_err(|error| Failure::io("read", &cubin, &error))?
            }
        };
        let mut facts = format!("fact {program} {} cubin {size}\n", contender.name);
        if contender.flags.is_some() && contender.without.is_none() {
            let (launches, pending) = self.launches(&place)?;
            let name = contender.name;
            let _ = writeln!(facts, "fact {program} {name} launches {launches}");
            let _ = writeln!(facts, "fact {program} {name} pending {pending}");
        }
        Ok(facts)
    }

    /// Launches of the naive variant from the device, and the most that waited at a time, by the launch tree
    /// of the CPU device.
    fn launches(&self, program: &Path) -> Outcome<(usize, i64)> {
        let trace = self.out.join("trace.json");
        let mut command = Command::new(program);
        command.env("CDP_DEVICE", "cpu").env("CDP_TRACE", &trace);
        output(command.env("LD_LIBRARY_PATH", self.out.join("lib")))?;
        let text =
            fs::read_to_string(&trace).map_err(|error| Failure::io("read", &trace, &error))?;
        fs::remove_file(&trace).map_err(|error| Failure::io("remove", &trace, &error))?;
        let trace = serde_json::from_str(&text)
            .map_err(|error| Failure::new(format!("the trace is no JSON: {error}")))?;
        Ok(count_launches(&trace))
    }

    /// Compiles by nvcc, unless it did that already, and gives the size of the linked cubin.
    fn by_nvcc(&self, source: &Path, place: &Path) -> Outcome<u64> {
        let time = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
        let header = source.with_file_name("nested.h");
        if time(place).is_none_or(|made| Some(made) < time(source) || Some(made) < time(&header)) {
            let mut command = Command::new(&self.nvcc);
            command.args(["-O3", "-w", "-std=c++17", "-rdc=true", "-arch=sm_90"]);
            command.args(["-cudart", "static", "-x", "cu"]).arg(source);
            output(command.args(["-lcudadevrt", "-o"]).arg(place))?;
        }
        let folder = self.out.join("cubins");
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::io("make the folder", &folder, &error))?;
        let place = place.canonicalize().map_err(|error| Failure::io("find", place, &error))?;
        let mut extract = Command::new(self.nvcc.with_file_name("cuobjdump"));
        output(extract.args(["-xelf", "all"]).arg(place).current_dir(&folder))?;
        // The others are this one's parts, before the link.
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let sizes = entries.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len());
        let largest = sizes.max();
        fs::remove_dir_all(&folder).map_err(|error| Failure::io("remove", &folder, &error))?;
        largest.ok_or_else(|| Failure::new("cuobjdump found no cubin in nvcc's program"))
    }

    /// Writes the plan of the runs, the facts, the runtime and the script.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn finish(&self, rows: &[Row], facts: &str) -> Outcome<()> {
        let mut plan = String::new();
        for row in rows {
            for contender in &CONTENDERS {
                let variant = if contender.all_variants { "all" } else { "naive" };
                let _ = writeln!(
                    plan,
                    "{} {} bin/{}-{} {variant} {} {}",
                    row.name(),
                    contender.name,
                    row.program,
                    contender.name,
                    row.scale,
                    row.input
                );
            }
        }
        for (name, text) in [("plan", plan.as_str()), ("facts", facts), ("run.sh", RUN_SH)] {
            let path = self.out.join(name);
            fs::write(&path, text).map_err(|error| Failure::io("write", &path, &error))?;
        }
        output(Command::new("chmod").arg("755").arg(self.out.join("run.sh"))).map(|_| ())
    }
}

/// Launches of a trace, each from where it is made (`s`) to where the child starts (`f`).
fn count_launches(trace: &serde_json::Value) -> (usize, i64) {
    let events = trace["traceEvents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut changes: Vec<(f64, i64)> = Vec::new();
    for event in events.iter().filter(|event| event["cat"] == "launch") {
        let change = if event["ph"] == "s" { 1 } else { -1 };
        changes.push((event["ts"].as_f64().unwrap_or(0.0), change));
    }
    changes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut now = 0;
    let most = changes.iter().map(|(_, change)| {
        now += change;
        now
    });
    let most = most.max().unwrap_or(0);
    (changes.len() / 2, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_launches_are_those_that_overlap() {
        let event = |ph: &str, ts: f64| serde_json::json!({"cat": "launch", "ph": ph, "ts": ts});
        let events = [
            event("s", 0.25),
            event("f", 5.5),
            event("s", 3.0),
            event("f", 9.0),
            event("s", 5.75),
            event("f", 6.0),
        ];
        let trace = serde_json::json!({ "traceEvents": events });
        assert_eq!(count_launches(&trace), (3, 2));
    }
}
