//! Who judges: several ways to compile programs, whose outputs must be the same.
//!
//! Each way makes PTX of a whole pack, which runs on the CPU device, or a program of the host. Where a pack
//! fails as a whole, it is halved until the program is found that does.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Program;
use crate::pack::{self, FIRST_SLOT, WORDS};
use crate::run::{Words, on_cpu};

/// The tools.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The command under test.
    pub cdpc: PathBuf,
    /// nvcc, whose PTX runs on the CPU device.
    pub nvcc: Option<PathBuf>,
    /// clang, likewise.
    pub clang: Option<PathBuf>,
    /// The host's C++ compiler, for programs that need no GPU.
    pub cxx: Option<PathBuf>,
    /// Whether this machine's GPU judges as well.
    pub gpu: bool,
    /// Where files are written; each pack overwrites those of the one before.
    pub work: PathBuf,
}

/// A way to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `cdpc` with these options.
    Cdpc(&'static [&'static str]),
    /// clang's front end with our back end.
    CdpcOfCuda,
    /// nvcc.
    Nvcc,
    /// clang alone.
    Clang,
    /// The host's compiler.
    Host,
    /// `cdpc` with these options and ptxas, on this machine's GPU.
    CdpcOnGpu(&'static [&'static str]),
    /// nvcc and ptxas, on this machine's GPU.
    NvccOnGpu,
}

/// What programs wrote, in their order; a message where one could not be compiled or run.
pub type Outputs = Vec<Result<Words, String>>;

/// Two ways that do not agree about a program.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The program.
    pub program: Program,
    /// The ways.
    pub ways: [Way; 2],
    /// What they say, as text.
    pub said: [String; 2],
}

/// Every pack is compiled in the first two ways, and in one of the others after the other.
const LEVELS: [&[&str]; 17] = [
    &["-O3"],
    &["-O0"],
    &["-O1", "--launch-abi", "cdp2"],
    &["-O2"],
    &["-O3", "--launch-abi", "documented"],
    &["-O2", "--flaunch-opt", "safe"],
    &["-O3", "--launch-abi", "documented-v2"],
    &["-O3", "--flaunch-opt", "fast"],
    &["-O0", "--launch-abi", "documented"],
    &["-O1", "--launch-abi", "cdp2-v2"],
    &["-O1", "-g"],
    &["-O0", "--launch-abi", "cdp2"],
    // Nearly all is recorded, with little room for it.
    &["-O2", "--flaunch-opt", "safe", "--launch-tuning", "threshold=1,sequence=2,turn-blocks=1"],
    &[
        "-O3",
        "--flaunch-opt",
        "fast",
        "--launch-tuning",
        "threshold=1,queue=1,queue-records=2,queue-large=4,stack=1",
    ],
    // Nearly nothing is launched, each child by one lane, and nothing is put off.
    &[
        "-O2",
        "--flaunch-opt",
        "fast",
        "--launch-tuning",
        "threshold=1000,own=1000,late=0,sums=0,ranges=0",
    ],
    &[
        "-O3",
        "--flaunch-opt",
        "safe",
        "--launch-tuning",
        "own=1,dealt=1,dealt-steps=64,gather=32,crowd=1,pace=1",
    ],
    // All warps of a grid run what one of them has.
    &[
        "-O3",
        "--flaunch-opt",
        "fast",
        "--launch-tuning",
        "own=0,dealt-steps=0,large-parents=1,pool=100000,pool-steps=0,pool-part=1",
    ],
];

/// What clang prints when it ends by a mistake of its own: its back end has no conversions between integers of 128
/// bits and floats, which nvcc and cdpc have.
const CLANG_CRASHED: &str = "PLEASE submit a bug report";

/// The longest that one step may take.
const TIME_LIMIT: Duration = Duration::from_secs(600);

impl Way {
    /// Its name in messages.
    pub fn name(self) -> String {
        match self {
            Way::Cdpc(options) => format!("cdpc {}", options.join(" ")),
            Way::CdpcOfCuda => "cdpc, .cu".into(),
            Way::Nvcc => "nvcc".into(),
            Way::Clang => "clang".into(),
            Way::Host => "the host's compiler".into(),
            Way::CdpcOnGpu(options) => format!("cdpc {} on the GPU", options.join(" ")),
            Way::NvccOnGpu => "nvcc on the GPU".into(),
        }
    }

    /// Whether it can judge a program.
    fn takes(self, program: &Program) -> bool {
        match self {
            Way::Host => program.plain,
            Way::CdpcOnGpu([_, "--launch-abi", "documented" | "cdp2"]) => {
                program.suits_a_gpu() && program.has_old_streams_only()
            }
            Way::CdpcOnGpu(_) | Way::NvccOnGpu => program.suits_a_gpu(),
            // They use entry points that know no other streams.
            Way::Clang | Way::Cdpc([_, "--launch-abi", "documented" | "cdp2"]) => {
                program.has_old_streams_only()
            }
            _ => true,
        }
    }

    /// The words that it says something about.
    fn part(self, words: &[u64]) -> &[u64] {
        if self == Way::Host { &words[..FIRST_SLOT.min(words.len())] } else { words }
    }
}

impl Judge {
    /// The ways for the pack of this number: all that are here, and one level after the other.
    pub fn ways(&self, number: u64) -> Vec<Way> {
        let further = LEVELS.len() as u64 - 2;
        let turn = LEVELS[2 + (number % further) as usize];
        let mut ways: Vec<Way> = [LEVELS[0], LEVELS[1], turn].map(Way::Cdpc).to_vec();
        if self.cxx.is_some() {
            ways.push(Way::Host);
        }
        if self.nvcc.is_some() {
            ways.push(Way::Nvcc);
        }
        if self.clang.is_some() {
            ways.push(if number.is_multiple_of(2) { Way::Clang } else { Way::CdpcOfCuda });
        }
        if self.gpu {
            ways.extend([LEVELS[0], turn].map(Way::CdpcOnGpu));
            ways.extend(self.nvcc.is_some().then_some(Way::NvccOnGpu));
        }
        ways
    }

    /// Compiles and runs a pack in these ways, and compares with the first.
    ///
    /// # Errors
    /// When files cannot be written or a tool cannot be started.
    pub fn judge(&self, programs: &[Program], ways: &[Way]) -> Result<Vec<Disagreement>, String> {
        let mut found: Vec<Disagreement> = Vec::new();
        let mut first: Option<(Way, Outputs)> = None;
        for way in ways {
            let Some((reference, wanted)) = &first else {
                first = Some((*way, self.outputs(programs, *way)?));
                continue;
            };
            let taken: Vec<usize> =
                (0..programs.len()).filter(|index| way.takes(&programs[*index])).collect();
            let pack: Vec<Program> = taken.iter().map(|index| programs[*index].clone()).collect();
            for (index, output) in taken.into_iter().zip(self.outputs(&pack, *way)?) {
                let known = found.iter().any(|one| one.program.seed == programs[index].seed);
                if known || same(*way, &wanted[index], &output) {
                    continue;
                }
                found.push(Disagreement {
                    program: programs[index].clone(),
                    ways: [*reference, *way],
                    said: said(*way, &wanted[index], &output),
                });
            }
        }
        Ok(found)
    }

    /// Whether two ways still differ about a program.
    pub fn differ(&self, program: &Program, ways: [Way; 2]) -> bool {
        self.judge(std::slice::from_ref(program), &ways).is_ok_and(|found| !found.is_empty())
    }

    /// What a pack writes, compiled in one way.
    fn outputs(&self, programs: &[Program], way: Way) -> Result<Outputs, String> {
        if programs.is_empty() {
            return Ok(Vec::new());
        }
        match self.output(programs, way)? {
            Ok(words) => Ok(words.into_iter().map(Ok).collect()),
            Err(message) if programs.len() == 1 => Ok(vec![Err(message)]),
            Err(_) => {
                let (left, right) = programs.split_at(programs.len() / 2);
                let mut both = self.outputs(left, way)?;
                both.extend(self.outputs(right, way)?);
                Ok(both)
            }
        }
    }

    pub(crate) fn output(
        &self,
        programs: &[Program],
        way: Way,
    ) -> Result<Result<Vec<Words>, String>, String> {
        let made = match self.made(programs, way)? {
            Ok(made) => made,
            Err(message) => return Ok(Err(message)),
        };
        let seeds: Vec<u64> = programs.iter().map(|program| program.seed).collect();
        match way {
            Way::Host => {
                let bytes = output(&mut Command::new(&made))?;
                Ok(bytes.map(|bytes| words(&bytes, FIRST_SLOT)))
            }
            Way::CdpcOnGpu(_) | Way::NvccOnGpu => match self.cubin(&made)? {
                Ok(cubin) => self.on_gpu(&cubin, &seeds),
                Err(message) => Ok(Err(message)),
            },
            _ => {
                let ptx = std::fs::read_to_string(&made).map_err(|error| error.to_string())?;
                Ok(on_cpu(&ptx, &seeds))
            }
        }
    }

    /// Runs a cubin in a process of its own: a fault leaves a process without a GPU.
    fn on_gpu(&self, cubin: &Path, seeds: &[u64]) -> Result<Result<Vec<Words>, String>, String> {
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut run = Command::new(this);
        run.arg("words").arg(cubin).args(seeds.iter().map(u64::to_string));
        Ok(output(&mut run)?.map(|bytes| words(&bytes, WORDS)))
    }

    /// The file that a way makes of a pack: PTX, or a program of the host.
    fn made(&self, programs: &[Program], way: Way) -> Result<Result<PathBuf, String>, String> {
        let name = match way {
            Way::Cdpc(_) | Way::CdpcOnGpu(_) => "program.cdp",
            _ => "program.cu",
        };
        let source = self.work.join(name);
        std::fs::write(&source, pack::source(programs))
            .map_err(|error| format!("{}: {error}", source.display()))?;
        let made = self.work.join(if way == Way::Host { "by-host" } else { "program.ptx" });
        let mut compile = self.command(way)?;
        compile.arg(&source).arg("-o").arg(&made);
        Ok(output(&mut compile)?.map(|_| made))
    }

    /// Linked cubins of a pack, by `cdpc` and by nvcc, with the compiler's name.
    ///
    /// # Errors
    /// When one does not compile.
    pub(crate) fn cubins(
        &self,
        programs: &[Program],
    ) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
        let mut all = Vec::new();
        for (name, way) in [("cdpc", Way::Cdpc(&["-O3"])), ("nvcc", Way::Nvcc)] {
            let cubin = self.cubin(&self.made(programs, way)??)??;
            all.push((name, std::fs::read(cubin).map_err(|error| error.to_string())?));
        }
        Ok(all)
    }

    /// The linked cubin of PTX, whoever made it.
    fn cubin(&self, ptx: &Path) -> Result<Result<PathBuf, String>, String> {
        let cubin = self.work.join("program.cubin");
        let mut assemble = Command::new(&self.cdpc);
        assemble.args(["build", "--emit", "cubin", "--arch", "sm_90"]);
        assemble.arg(ptx).arg("-o").arg(&cubin);
        Ok(output(&mut assemble)?.map(|_| cubin))
    }

    /// The command that compiles, but for the names of the files.
    fn command(&self, way: Way) -> Result<Command, String> {
        let there = |tool: &Option<PathBuf>| {
            tool.clone().ok_or_else(|| format!("{} is not here", way.name()))
        };
        let mut command = match way {
            Way::Cdpc(_) | Way::CdpcOfCuda | Way::CdpcOnGpu(_) => {
                let mut command = Command::new(&self.cdpc);
                command
                    .args(["build", "-w", "--emit", "ptx", "--arch", "sm_90", "--fmad", "false"]);
                command
            }
            Way::Nvcc | Way::NvccOnGpu => {
                let mut command = Command::new(there(&self.nvcc)?);
                command.args(["-ptx", "-rdc=true", "-w", "-fmad=false", "-arch=sm_90"]);
                command
            }
            Way::Clang => {
                let nvcc = there(&self.nvcc)?;
                let root = nvcc.parent().and_then(|bin| bin.parent()).unwrap_or(&nvcc);
                let mut command = Command::new(there(&self.clang)?);
                command.args(["-x", "cuda", "--cuda-device-only", "-S", "-O2", "-fgpu-rdc", "-w"]);
                command.arg("-fno-crash-diagnostics");
                command.args(["-ffp-contract=off", "--cuda-gpu-arch=sm_90", "-include", "new"]);
                command.arg(format!("--cuda-path={}", root.display()));
                command.arg("-isystem").arg(root.join("include/cccl"));
                // clang's wrapper includes a header that the compiler's packages lack.
                std::fs::write(self.work.join("curand_mtgp32_kernel.h"), "")
                    .map_err(|error| error.to_string())?;
                command.arg("-I").arg(&self.work);
                command
            }
            Way::Host => {
                let mut command = Command::new(there(&self.cxx)?);
                command.args(["-x", "c++", "-w", "-O1", "-ffp-contract=off", "-fwrapv"]);
                command
            }
        };
        if let Way::Cdpc(options) | Way::CdpcOnGpu(options) = way {
            command.args(options);
        }
        Ok(command)
    }
}

/// The words of several programs, each as many as it writes.
fn words(bytes: &[u8], each: usize) -> Vec<Words> {
    let words: Words = bytes
        .chunks_exact(8)
        .map(|chunk| u64::from_ne_bytes(chunk.try_into().unwrap_or_default()))
        .collect();
    words.chunks(each).map(<[u64]>::to_vec).collect()
}

fn same(way: Way, wanted: &Result<Words, String>, other: &Result<Words, String>) -> bool {
    match (wanted, other) {
        (Ok(wanted), Ok(other)) => way.part(wanted) == way.part(other),
        (Ok(_), Err(message)) => way == Way::Clang && message.contains(CLANG_CRASHED),
        _ => false,
    }
}

/// The first words that differ, or the messages.
fn said(way: Way, wanted: &Result<Words, String>, other: &Result<Words, String>) -> [String; 2] {
    let (Ok(first), Ok(second)) = (wanted, other) else {
        let message = |output: &Result<Words, String>| match output {
            Ok(_) => "runs".to_owned(),
            Err(message) => message.clone(),
        };
        return [message(wanted), message(other)];
    };
    let differing = (0..way.part(first).len()).find(|at| first.get(*at) != second.get(*at));
    let at = differing.unwrap_or(0);
    [first, second].map(|words| match words.get(at) {
        Some(word) => format!("word {at} is {word:#x}"),
        None => format!("{} words", words.len()),
    })
}

/// Standard output, or after a failure what was said instead.
pub(crate) fn output(command: &mut Command) -> Result<Result<Vec<u8>, String>, String> {
    let name = command.get_program().display().to_string();
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
    let id = child.id();
    let (sender, receiver) = std::sync::mpsc::channel();
    // The pipes must be read while the program runs.
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let begun = Instant::now();
    let done = match receiver.recv_timeout(TIME_LIMIT) {
        Ok(done) => done.map_err(|error| format!("{name}: {error}"))?,
        Err(_) => {
            let _ = Command::new("kill").arg("-9").arg(id.to_string()).status();
            return Ok(Err(format!("{name}: not ready after {:?}", begun.elapsed())));
        }
    };
    if done.status.success() {
        return Ok(Ok(done.stdout));
    }
    Ok(Err(format!("{name}: {}\n{}", done.status, String::from_utf8_lossy(&done.stderr))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_crash_of_clang_says_nothing() {
        let wanted = Ok(vec![1, 2]);
        let crash = Err(format!("clang: signal: 6\n{CLANG_CRASHED} to ..."));
        assert!(same(Way::Clang, &wanted, &crash));
        assert!(!same(Way::Nvcc, &wanted, &crash));
        assert!(!same(Way::Clang, &wanted, &Err("error: no such type".into())));
        assert!(!same(Way::Clang, &wanted, &Ok(vec![1, 3])));
        assert!(!same(Way::Clang, &crash, &wanted));
    }
}
