//! The interoperability programs of `tests/cases/interop` for a GPU bundle: files by us and files by
//! nvcc in one program, linked in every way there is.
//!
//! - `nvcc`: `nvcc main.cu ours.o`, host code for NVIDIA's runtime library, which is linked in;
//! - `cdpc`: our host code, with objects of `nvcc -dc` in our device link, where our file has `main`;
//! - `cubin`: the cubin alone (`cdpc link`), whose kernels the runner launches (`launches.json`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cdp_toolchain::{SearchOptions, Toolchain};

use crate::Common;
use crate::cargo::{output, root};
use crate::demo::with_cuda_path;
use crate::failure::{Failure, Outcome};

/// One program and where its parts go.
pub struct Program {
    /// `both_ways`
    pub name: String,
    folder: PathBuf,
    /// Files by us and by nvcc.
    ours: Vec<PathBuf>,
    theirs: Vec<PathBuf>,
}

/// What builds them.
pub struct Builder<'a> {
    /// Our compiler.
    pub cdpc: &'a Path,
    /// The runtime as a shared library, for programs with our host code.
    pub runtime: &'a Path,
    /// `sm_90`
    pub arch: &'a str,
    /// Options of all verbs.
    pub common: &'a Common,
    nvcc: PathBuf,
}

/// The programs, by name.
///
/// # Errors
/// When the folder cannot be read.
pub fn programs() -> Outcome<Vec<Program>> {
    let cases = root().join("tests/cases/interop");
    let mut programs = Vec::new();
    for folder in entries(&cases)?.into_iter().filter(|path| path.join("main.out").is_file()) {
        let with_extension = |wanted: &str| -> Outcome<Vec<PathBuf>> {
            let mut files = entries(&folder)?;
            files.retain(|path| path.extension().is_some_and(|extension| extension == wanted));
            Ok(files)
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (ours, theirs) = (with_extension("cdp")?, with_extension("cu")?);
        programs.push(Program { name, folder, ours, theirs });
    }
    Ok(programs)
}

fn entries(dir: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).map_err(|error| Failure::io("read the folder", dir, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

impl Program {
    /// All sources.
    pub fn sources(&self) -> impl Iterator<Item = &PathBuf> {
        self.ours.iter().chain(&self.theirs)
    }

    /// The output wanted.
    pub fn expected(&self) -> PathBuf {
        self.folder.join("main.out")
    }

    /// Whether `main` is in a file of ours, whose host code can then be for our own runtime.
    pub fn is_ours(&self) -> bool {
        self.ours.iter().any(|path| path.ends_with("main.cdp"))
    }

    /// Launches for the cubin, as the manifest has them; none without a `launches.json`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn launches(&self) -> Outcome<Vec<serde_json::Value>> {
        let path = self.folder.join("launches.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Failure::io("read", &path, &error)),
        };
        serde_json::from_str(&text)
            .map_err(|error| Failure::new(format!("{}: {error}", path.display())))
    }
}

impl<'a> Builder<'a> {
    /// Looks for nvcc.
    ///
    /// # Errors
    /// Without one.
    pub fn new(
        cdpc: &'a Path,
        runtime: &'a Path,
        arch: &'a str,
        common: &'a Common,
    ) -> Outcome<Builder<'a>> {
        let mut search = SearchOptions::from_process();
        search.cuda_path.clone_from(&common.cuda_path);
        search.start_dirs.push(root());
        let nvcc = Toolchain::find(&search)?.nvcc().map(Path::to_owned);
        let nvcc =
            nvcc.ok_or_else(|| Failure::new("no nvcc, which the interoperability programs want"))?;
        Ok(Builder { cdpc, runtime, arch, common, nvcc })
    }

    fn cdpc(&self, verb: &str) -> Command {
        let mut command = Command::new(self.cdpc);
        command.args([verb, "--arch", self.arch]).env("CDP_RUNTIME_LIB", self.runtime);
        with_cuda_path(&mut command, self.common);
        command
    }

    fn nvcc(&self) -> Command {
        let mut command = Command::new(&self.nvcc);
        command.arg("-w").arg(format!("-arch={}", self.arch));
        command
    }

    fn object(&self, out: &Path, source: &Path, mut command: Command) -> Outcome<PathBuf> {
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        let object = out.join(format!("{name}.o"));
        output(command.arg("-dc").arg(source).arg("-o").arg(&object))?;
        Ok(object)
    }

    fn our_objects(&self, program: &Program, out: &Path) -> Outcome<Vec<PathBuf>> {
        program.ours.iter().map(|path| self.object(out, path, self.cdpc("build"))).collect()
    }

    fn their_objects(&self, program: &Program, out: &Path) -> Outcome<Vec<PathBuf>> {
        program.theirs.iter().map(|path| self.object(out, path, self.nvcc())).collect()
    }

    /// The program as nvcc links it; `out` gets the objects.
    ///
    /// # Errors
    /// When a compiler or the link fails.
    pub fn link_by_nvcc(&self, program: &Program, out: &Path, to: &Path) -> Outcome<()> {
        let mut command = self.nvcc();
        command.args(&program.theirs).args(self.our_objects(program, out)?);
        command.args(["-rdc=true", "-lcudadevrt"]);
        // The GPU machine may lack these libraries.
        command.args(["-Xcompiler", "-static-libstdc++", "-Xcompiler", "-static-libgcc"]);
        output(command.arg("-o").arg(to).current_dir(out)).map(|_| ())
    }

    /// The program with our host code and nvcc's device objects.
    ///
    /// # Errors
    /// As [`Builder::link_by_nvcc`].
    pub fn link_by_cdpc(&self, program: &Program, out: &Path, to: &Path) -> Outcome<()> {
        let mut command = self.cdpc("build");
        command.args(&program.ours).args(self.their_objects(program, out)?);
        output(command.args(["--emit", "exe", "-o"]).arg(to)).map(|_| ())
    }

    /// The cubin of both compilers' objects.
    ///
    /// # Errors
    /// As [`Builder::link_by_nvcc`].
    pub fn link_cubin(&self, program: &Program, out: &Path, to: &Path) -> Outcome<()> {
        let mut command = self.cdpc("link");
        command.args(self.our_objects(program, out)?).args(self.their_objects(program, out)?);
        output(command.arg("-o").arg(to)).map(|_| ())
    }
}
