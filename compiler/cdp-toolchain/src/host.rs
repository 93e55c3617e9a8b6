//! Linking host programs, through the system's C compiler.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::ToolError;
use crate::job::Job;
use crate::tool::Tool;

/// How to link a host program.
#[derive(Clone, Debug, Default)]
pub struct HostLinkOptions {
    /// The compiler to link with; `None` for `cc` in `PATH`.
    pub compiler: Option<PathBuf>,
    /// Libraries and objects that lie in files, in link order.
    pub files: Vec<PathBuf>,
    /// `-L`.
    pub library_dirs: Vec<PathBuf>,
    /// `-l`, without the `-l`.
    pub libraries: Vec<String>,
    /// Make a shared library.
    pub shared: bool,
    /// Further arguments.
    pub extra_args: Vec<String>,
}

/// Links host objects, given as (name, bytes), into an executable or shared library and returns its
/// bytes; empty in a dry run.
///
/// # Errors
/// A missing or failing compiler, see [`ToolError`].
pub fn host_link<Bytes: AsRef<[u8]>>(
    job: &Job,
    stem: &str,
    objects: &[(String, Bytes)],
    options: &HostLinkOptions,
) -> Result<Vec<u8>, ToolError> {
    if objects.is_empty() && options.files.is_empty() {
        return Err(ToolError::BadRequest("a host link needs at least one object".to_owned()));
    }
    let output = job.file_name(stem, if options.shared { "so" } else { "exe" });
    let mut args: Vec<OsString> = Vec::new();
    if options.shared {
        args.push("-shared".into());
    }
    for (name, bytes) in objects {
        let base = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or("object");
        let file = job.file_name(base, "o");
        job.write(&file, bytes.as_ref())?;
        args.push(file.into());
    }
    for path in &options.files {
        // The tool runs in the job's folder.
        args.push(std::path::absolute(path).unwrap_or_else(|_| path.clone()).into());
    }
    for dir in &options.library_dirs {
        args.push("-L".into());
        args.push(std::path::absolute(dir).unwrap_or_else(|_| dir.clone()).into());
    }
    args.extend(options.libraries.iter().map(|name| OsString::from(format!("-l{name}"))));
    args.extend(options.extra_args.iter().map(OsString::from));
    args.extend(["-o".into(), OsString::from(&output)]);
    let compiler = options.compiler.clone().unwrap_or_else(|| PathBuf::from("cc"));
    job.run(Tool::Cc, &compiler, args)?;
    job.read(&output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobOptions;

    #[test]
    fn a_dry_run_shows_the_command() {
        let job = Job::new(JobOptions { dry_run: true, ..JobOptions::default() }).unwrap();
        let options = HostLinkOptions {
            files: vec!["/lib/x y.a".into()],
            libraries: vec!["m".to_owned()],
            ..HostLinkOptions::default()
        };
        host_link(&job, "prog", &[("dir/main.o".to_owned(), [])], &options).unwrap();
        assert_eq!(job.commands()[0].to_string(), "cc main.o '/lib/x y.a' -lm -o prog.exe");
    }
}
