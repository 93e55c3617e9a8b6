//! clang, which reads CUDA C++: finding it, and running it for one half of a `.cu` file.
//!
//! What is absent: what the halves are compiled with (crate `cdp`, `cuda`), and what clang's messages
//! mean. A program that clang refuses is no error here, but an output with `failed`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::ToolError;
use crate::job::{Job, probe};
use crate::search::{SearchOptions, is_executable};
use crate::tool::Tool;

/// The version whose bitcode this compiler reads, and whose headers go with CUDA 13.
pub const CLANG_MAJOR: u32 = 22;

/// Where clang may be, in order.
#[derive(Debug, Default)]
pub(crate) struct ClangSearch {
    /// `--clang` or `CDP_CLANG`, which count alone, and what named them.
    named: Option<(PathBuf, &'static str)>,
    candidates: Vec<PathBuf>,
    found: OnceLock<Result<PathBuf, String>>,
}

impl ClangSearch {
    pub(crate) fn new(options: &SearchOptions) -> ClangSearch {
        let variable = options.environment.cdp_clang.as_ref();
        let named = match (&options.clang, variable) {
            (Some(path), _) => Some((path.clone(), "--clang")),
            (None, Some(path)) => Some((PathBuf::from(path), "CDP_CLANG")),
            (None, None) => None,
        };
        let path = options.environment.path.clone().unwrap_or_default();
        let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let in_path =
            |name: String| dirs.iter().map(move |dir| dir.join(&name)).collect::<Vec<_>>();
        let mut candidates = in_path(format!("clang-{CLANG_MAJOR}"));
        if options.system_root.is_some() {
            candidates.push(format!("/usr/lib/llvm-{CLANG_MAJOR}/bin/clang").into());
        }
        candidates.extend(in_path("clang".to_owned()));
        ClangSearch { named, candidates, found: OnceLock::new() }
    }

    fn find(&self) -> Result<PathBuf, String> {
        let cure = format!(
            "install the package `clang-{CLANG_MAJOR}`, run `cargo xtask setup`, or name one with \
             --clang PATH or CDP_CLANG"
        );
        if let Some((path, by)) = &self.named {
            // A name without a folder is looked up as a shell would.
            let path = match path.components().count() {
                1 => self.beside(path).unwrap_or_else(|| path.clone()),
                _ => path.clone(),
            };
            return version_of(&path)
                .map_err(|why| format!("{by} names `{}`, {why}", path.display()));
        }
        let mut others = Vec::new();
        for path in self.candidates.iter().filter(|path| is_executable(path)) {
            // The name says it; asking takes as long as a small compilation.
            if path.to_string_lossy().contains(&format!("-{CLANG_MAJOR}")) {
                return Ok(path.clone());
            }
            match version_of(path) {
                Ok(path) => return Ok(path),
                Err(why) => others.push(format!("`{}`, {why}", path.display())),
            }
        }
        let found = match others.first() {
            Some(other) => format!("there is only {other}"),
            None => "which was not found".to_owned(),
        };
        Err(format!("`.cu` files are read by clang {CLANG_MAJOR}, and {found}: {cure}")
            .replace(", and which", ", which"))
    }

    fn beside(&self, name: &Path) -> Option<PathBuf> {
        let dirs = self.candidates.iter().filter_map(|path| path.parent());
        dirs.map(|dir| dir.join(name)).find(|path| is_executable(path))
    }

    /// # Errors
    /// One sentence that says what to do.
    pub(crate) fn get(&self) -> Result<&Path, ToolError> {
        match self.found.get_or_init(|| self.find()) {
            Ok(path) => Ok(path),
            Err(message) => Err(ToolError::NoClang(message.clone())),
        }
    }
}

/// The path of a clang of the right version, or what it is instead.
fn version_of(path: &Path) -> Result<PathBuf, String> {
    let said =
        probe(path, &["--version"]).map_err(|error| format!("which does not run: {error}"))?;
    match major_of(&said) {
        Some(CLANG_MAJOR) => Ok(path.to_owned()),
        Some(other) => Err(format!("which is clang {other} and not {CLANG_MAJOR}")),
        None => Err("which is no clang".to_owned()),
    }
}

/// `Debian clang version 22.1.8 (...)`.
fn major_of(said: &str) -> Option<u32> {
    let (_, version) = said.split_once("clang version ")?;
    version.split('.').next()?.parse().ok()
}

/// One run of clang.
#[derive(Clone, Debug, Default)]
pub struct ClangRequest {
    /// Everything but the source, the output and the dependency file.
    pub args: Vec<OsString>,
    /// As it is to stand in messages; clang runs in the caller's folder.
    pub source: PathBuf,
    /// For intermediate files.
    pub stem: String,
    /// Of the output: `bc`, `o`, `pch`; empty when there is none.
    pub extension: &'static str,
    /// Where the output goes instead of the job's folder, for what is kept.
    pub output: Option<PathBuf>,
}

/// What clang made and said.
#[derive(Clone, Debug, Default)]
pub struct ClangOutput {
    /// Empty in a dry run, and when the program is wrong.
    pub bytes: Vec<u8>,
    /// What clang printed.
    pub messages: String,
    /// Whether the program is wrong.
    pub failed: bool,
    /// Files read, the source first, without those of the system.
    pub dependencies: Vec<PathBuf>,
}

/// Runs clang on one file.
///
/// # Errors
/// When there is no clang, it does not run, or it fails without a word about the program.
pub fn clang(job: &Job, clang: &Path, request: &ClangRequest) -> Result<ClangOutput, ToolError> {
    let name = job.file_name(&request.stem, request.extension);
    let output = request.output.clone().unwrap_or_else(|| job.work_dir().join(&name));
    let rule_name = job.file_name(&request.stem, "d");
    let rule = job.work_dir().join(&rule_name);
    let mut args = request.args.clone();
    args.extend(["-MMD", "-MT", "output", "-MF"].map(OsString::from));
    args.extend([rule.as_os_str(), OsStr::new("-o"), output.as_os_str()].map(OsString::from));
    args.push(guarded(&request.source));
    let folder = std::env::current_dir()
        .map_err(|error| ToolError::io("find the current folder", ".", error))?;
    let messages = match job.run_in(folder, Tool::Clang, clang, args) {
        Ok(output) => output.stderr,
        Err(ToolError::Failed { output, .. }) if output.contains("error:") => {
            return Ok(ClangOutput { messages: output, failed: true, ..ClangOutput::default() });
        }
        Err(other) => return Err(other),
    };
    let bytes = match &request.output {
        None if !request.extension.is_empty() => job.read(&name)?,
        _ => Vec::new(),
    };
    let rule = String::from_utf8_lossy(&job.read(&rule_name)?).into_owned();
    Ok(ClangOutput { bytes, messages, failed: false, dependencies: dependencies(&rule) })
}

/// Has clang make an object of bitcode, with the options that say how.
///
/// # Errors
/// When clang does not run, or does not take the bitcode.
pub fn clang_object(
    job: &Job,
    clang: &Path,
    stem: &str,
    bitcode: &[u8],
    options: &[OsString],
) -> Result<Vec<u8>, ToolError> {
    let (source, object) = (job.file_name(stem, "bc"), job.file_name(stem, "o"));
    job.write(&source, bitcode)?;
    let mut args: Vec<OsString> = ["-x", "ir", "-c"].map(OsString::from).to_vec();
    args.extend_from_slice(options);
    args.extend(["-o", &object, &source].map(OsString::from));
    job.run(Tool::Clang, clang, args)?;
    job.read(&object)
}

/// A file's name that is no option.
fn guarded(path: &Path) -> OsString {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        return Path::new(".").join(path).into_os_string();
    }
    path.as_os_str().to_owned()
}

/// The files of a rule for make, as clang writes it.
fn dependencies(rule: &str) -> Vec<PathBuf> {
    let (_, files) = rule.split_once(':').unwrap_or_default();
    let (mut out, mut word) = (Vec::new(), String::new());
    let mut chars = files.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => drop(chars.next()),
            ('\\', Some(' ' | '#' | '\\')) | ('$', Some('$')) => word.extend(chars.next()),
            (c, _) if c.is_whitespace() => {
                if !word.is_empty() {
                    out.push(PathBuf::from(std::mem::take(&mut word)));
                }
            }
            (c, _) => word.push(c),
        }
    }
    if !word.is_empty() {
        out.push(PathBuf::from(word));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Environment, Toolchain};

    #[test]
    fn versions_are_read() {
        assert_eq!(major_of("Debian clang version 22.1.8 (++2026)\nTarget: x"), Some(22));
        assert_eq!(major_of("clang version 19.0.0git"), Some(19));
        assert_eq!(major_of("gcc (Debian) 12"), None);
    }

    #[test]
    fn rules_are_read() {
        let rule = "output: a\\ b.cu \\\n  sub/x.h sub/$$y\\#.h\n";
        let files = dependencies(rule);
        assert_eq!(files, ["a b.cu", "sub/x.h", "sub/$y#.h"].map(PathBuf::from));
    }

    /// A clang that is missing, or another, is asked for in one sentence.
    #[cfg(unix)]
    #[test]
    fn the_missing_one_is_asked_for() {
        use std::os::unix::fs::PermissionsExt;
        let message = |options: &SearchOptions| {
            Toolchain::find(options).unwrap().clang().unwrap_err().to_string()
        };
        let nowhere = message(&SearchOptions::default());
        assert!(
            nowhere.starts_with("`.cu` files are read by clang 22, which was not found: install")
        );
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("clang");
        std::fs::write(&other, "#!/bin/sh\necho clang version 19.1.0\n").unwrap();
        std::fs::set_permissions(&other, PermissionsExt::from_mode(0o755)).unwrap();
        let environment =
            Environment { path: Some(folder.path().into()), ..Environment::default() };
        let only = message(&SearchOptions { environment, ..SearchOptions::default() });
        assert!(only.contains("there is only") && only.contains("clang 19 and not 22"), "{only}");
        let named = SearchOptions { clang: Some(other), ..SearchOptions::default() };
        assert!(message(&named).starts_with("--clang names"), "{}", message(&named));
    }
}
