//! Who judges: several ways to compile and run a program, whose outputs must be the same.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Program;

/// The tools.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The command under test.
    pub cdpc: PathBuf,
    /// Its runtime as a static library, which objects of nvcc are linked with.
    pub runtime: PathBuf,
    /// nvcc, whose PTX runs on the CPU device.
    pub nvcc: Option<PathBuf>,
    /// The host's C++ compiler, for programs that need no GPU.
    pub cxx: Option<PathBuf>,
    /// Where files are written; each program overwrites those of the one before.
    pub work: PathBuf,
}

/// What the judges said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All have the same output.
    Agree,
    /// The names of the first way and of one that differs, with their outputs.
    Disagree { first: (String, String), other: (String, String) },
}

/// Levels and launch ABIs that `cdpc` compiles with.
const LEVELS: [&[&str]; 4] = [
    &["-O", "0"],
    &["-O", "3"],
    &["-O", "3", "--launch-abi", "documented"],
    &["-O", "1", "--launch-abi", "cdp2"],
];

/// The longest that one step may take.
const TIME_LIMIT: Duration = Duration::from_secs(300);

impl Judge {
    /// Compiles and runs a program in every way.
    ///
    /// # Errors
    /// When files cannot be written or a tool cannot be started.
    pub fn judge(&self, program: &Program) -> Result<Verdict, String> {
        let source = self.work.join("program.cdp");
        let cuda = self.work.join("program.cu");
        let text = program.source();
        for path in [&source, &cuda] {
            std::fs::write(path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let mut outputs = Vec::new();
        for level in LEVELS {
            outputs.push((format!("cdpc {}", level.join(" ")), self.by_cdpc(&source, level)?));
        }
        if let Some(nvcc) = &self.nvcc {
            outputs.push(("nvcc".to_owned(), self.by_nvcc(nvcc, &cuda)?));
        }
        if let (Some(cxx), true) = (&self.cxx, program.plain) {
            outputs.push(("the host's compiler".to_owned(), self.by_host(cxx, &cuda)?));
        }
        let first = outputs[0].clone();
        let differing = outputs.into_iter().find(|(_, output)| *output != first.1);
        Ok(match differing {
            None => Verdict::Agree,
            Some(other) => Verdict::Disagree { first, other },
        })
    }

    fn by_cdpc(&self, source: &Path, level: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.cdpc);
        command.args(["run", "--device", "cpu", "-w", "--fmad", "false"]).args(level).arg(source);
        command.env("CDP_RUNTIME_LIB", &self.runtime);
        output(&mut command)
    }

    /// The launch from the device is one from the host there, so that no device link takes the PTX away.
    fn by_nvcc(&self, nvcc: &Path, cuda: &Path) -> Result<String, String> {
        let object = self.work.join("nvcc.o");
        let mut compile = Command::new(nvcc);
        compile.args(["-w", "-fmad=false", "-DHOST_LAUNCH", "-c"]);
        compile.args(["-gencode", "arch=compute_90,code=compute_90"]).arg(cuda);
        compile.arg("-o").arg(&object);
        let compiled = output(&mut compile)?;
        if !compiled.is_empty() {
            return Ok(compiled);
        }
        let program = self.work.join("by-nvcc");
        let mut link = Command::new(self.cxx.as_deref().unwrap_or(Path::new("c++")));
        link.arg(&object).arg(&self.runtime).args(["-lm", "-ldl", "-lpthread", "-o"]).arg(&program);
        self.run(&mut link, &program)
    }

    fn by_host(&self, cxx: &Path, source: &Path) -> Result<String, String> {
        let program = self.work.join("by-host");
        let mut compile = Command::new(cxx);
        compile.args(["-x", "c++", "-w", "-O1", "-ffp-contract=off", "-fwrapv"]);
        compile.arg(source).arg("-o").arg(&program);
        self.run(&mut compile, &program)
    }

    /// Makes a program and runs it; what the making says is the output when it says something.
    fn run(&self, make: &mut Command, program: &Path) -> Result<String, String> {
        let made = output(make)?;
        if !made.is_empty() {
            return Ok(made);
        }
        output(Command::new(program).env("CDP_DEVICE", "cpu"))
    }
}

/// Standard output, and after a failure what was said instead.
fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
    // Programs print little, so that no pipe fills up while nobody reads.
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if begun.elapsed() < TIME_LIMIT => {
                std::thread::sleep(Duration::from_millis(2));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok("out of time\n".to_owned());
            }
        }
    }
    let done = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if done.status.success() {
        return Ok(text(&done.stdout));
    }
    Ok(format!("{}{}({})\n", text(&done.stdout), text(&done.stderr), done.status))
}
