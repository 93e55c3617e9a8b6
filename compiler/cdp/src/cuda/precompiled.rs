//! Precompiled headers: what clang makes of its wrapper of CUDA's headers is kept in the cache folder, and
//! so is what it makes of the headers that a file begins with, from the second time on that they are seen.
//!
//! A header is made while the file that wants it is compiled without it, so that no build waits much longer
//! than it would anyway; where there is no processor for that ([`Wanted::has_time`]) the file is compiled with it after it
//! was made, which takes clang little more than to read the text once. One of a file's includes is made on top of that of
//! the wrapper.
//!
//! What a header was made of is its name: clang's program, every option that is there before the source, and
//! the list of includes. That a header's text has not changed since, clang checks itself; one that does not
//! fit any more is thrown away ([`Precompiled::forget`]) and the file read without it. Output is the same
//! with and without.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use cdp_toolchain::{ClangRequest, Job, clang};

use super::args::Asked;
use crate::analysis::SourceInput;
use crate::digest::Digest;
use crate::options::CompileOptions;

/// Headers that are kept, the last used ones; one takes 10 to 60 MB.
const KEPT: usize = 24;

/// How long a header that could not be made, say because a file that it includes is missing, is not tried
/// again.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A precompiled header that a run of clang begins with.
pub(super) struct Precompiled {
    path: PathBuf,
    /// The header that it continues.
    base: Option<PathBuf>,
}

/// What there is for a source, and what is to be made for the next time.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub header: Option<Precompiled>,
    pub wanted: Option<Wanted<'a>>,
}

/// A header that is worth making.
pub(super) struct Wanted<'a> {
    maker: Maker<'a>,
    path: PathBuf,
    includes: Vec<String>,
    /// The header that it continues.
    base: Option<PathBuf>,
}

impl Precompiled {
    /// The header for a source. Nothing where nothing is kept.
    pub(super) fn find<'a>(
        job: &'a Job,
        program: &'a Path,
        asked: &'a Asked,
        source: &SourceInput,
        options: &CompileOptions,
    ) -> Found<'a> {
        let Some(cache) = options.cache_dir.as_ref() else { return Found::default() };
        let folder = cache.join("pch");
        // Headers that lie in the job's folder are gone with it.
        if job.is_dry_run()
            || !asked.headers.starts_with(cache)
            || std::fs::create_dir_all(&folder).is_err()
        {
            return Found::default();
        }
        let maker = Maker { job, program, asked, folder };
        let general = maker.path(&[]);
        let has_general = is_ready(&general);
        let leading = match options.forced_includes.is_empty() {
            true => leading_includes(source, options),
            false => Vec::new(),
        };
        if leading.is_empty() && !has_general {
            let wanted = Wanted { maker, path: general, includes: Vec::new(), base: None };
            return Found { header: None, wanted: Some(wanted) };
        }
        if leading.is_empty() {
            return Found { header: Some(Precompiled { path: general, base: None }), wanted: None };
        }
        let path = maker.path(&leading);
        // Most files are compiled once.
        let is_new = !stamp(&path).exists();
        if is_ready(&path) {
            let header = Precompiled { path, base: Some(general) };
            return Found { header: Some(header), wanted: None };
        }
        let _ = std::fs::write(stamp(&path), "");
        let wanted = match (has_general, is_new) {
            (false, _) => {
                Some(Wanted { maker, path: general.clone(), includes: Vec::new(), base: None })
            }
            (true, true) => None,
            (true, false) => {
                Some(Wanted { maker, path, includes: leading, base: Some(general.clone()) })
            }
        };
        let general = Precompiled { path: general, base: None };
        Found { header: has_general.then_some(general), wanted }
    }

    /// The words by which clang begins with it.
    pub(super) fn args(&self) -> Vec<OsString> {
        args_of(&self.path)
    }

    /// Whether a file that clang has read is the header, or what it was made of.
    pub(super) fn is_of_cache(&self, file: &Path) -> bool {
        // By the name of 64 digits: clang has made the path absolute.
        let named = |path: &Path| path.file_stem() == file.file_stem();
        named(&self.path) || self.base.as_deref().is_some_and(named)
    }

    /// Whether a run failed because of the header, which is removed then.
    pub(super) fn forget(&self, messages: &str) -> bool {
        let named = messages.contains(&*self.path.to_string_lossy())
            || messages.contains("precompiled file")
            || messages.contains("AST file");
        named && std::fs::remove_file(&self.path).is_ok()
    }
}

/// How many threads run beside the one that asks, by Linux's `/proc/loadavg`; none where that is not known.
fn others(load: &str) -> usize {
    let running = load.split_whitespace().nth(3).and_then(|threads| threads.split('/').next());
    running.and_then(|count| count.parse::<usize>().ok()).map_or(0, |count| count.saturating_sub(1))
}

fn args_of(header: &Path) -> Vec<OsString> {
    let words = ["-Xclang", "-include-pch", "-Xclang"].map(OsString::from);
    words.into_iter().chain([header.into()]).collect()
}

/// A file whose date says when a header was used last, and which is there when one was wanted. The header's
/// own date is what clang knows it by.
fn stamp(header: &Path) -> PathBuf {
    header.with_extension("seen")
}

/// Whether a header is there.
fn is_ready(path: &Path) -> bool {
    if !path.exists() {
        return false;
    }
    let stamp = std::fs::File::options().append(true).create(true).open(stamp(path));
    let _ = stamp.and_then(|file| file.set_modified(SystemTime::now()));
    true
}

struct Maker<'a> {
    job: &'a Job,
    program: &'a Path,
    asked: &'a Asked,
    folder: PathBuf,
}

impl Maker<'_> {
    fn path(&self, includes: &[String]) -> PathBuf {
        let mut digest = Digest::new();
        digest.add_tool(&self.program.canonicalize().unwrap_or_else(|_| self.program.to_owned()));
        self.asked.common.iter().for_each(|word| digest.add(word.as_encoded_bytes()));
        includes.iter().for_each(|name| digest.add(name));
        self.folder.join(digest.finish()).with_extension("pch")
    }

    fn forget_old(&self) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut headers: Vec<(SystemTime, PathBuf)> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "pch"))
            .filter_map(|path| Some((stamp(&path).metadata().ok()?.modified().ok()?, path)))
            .collect();
        headers.sort();
        for (_, path) in headers.iter().rev().skip(KEPT) {
            for extension in ["pch", "cu", "seen", "failed"] {
                let _ = std::fs::remove_file(path.with_extension(extension));
            }
        }
    }
}

impl Wanted<'_> {
    /// Whether there are processors that can make it while as many halves of programs are read, and have nothing else to do:
    /// both at once take twice the time of one.
    pub(super) fn has_time(&self, at_once: usize, options: &CompileOptions) -> bool {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        options.threads != 1 && processors >= 2 * at_once + others(&load)
    }

    /// The header, made now; `None` if it cannot be made.
    pub(super) fn header(&self) -> Option<Precompiled> {
        self.make();
        let (path, base) = (self.path.clone(), self.base.clone());
        is_ready(&path).then_some(Precompiled { path, base })
    }

    /// Makes the header, once in this process, and in whole when another makes it too.
    pub(super) fn make(&self) {
        static MAKING: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>> =
            LazyLock::new(Mutex::default);
        let one = {
            let mut making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(making.entry(self.path.clone()).or_default())
        };
        let _one = one.lock().unwrap_or_else(PoisonError::into_inner);
        if is_ready(&self.path) {
            return;
        }
        let failed = self.path.with_extension("failed");
        let age = failed.metadata().and_then(|file| file.modified()).map(|time| time.elapsed());
        if matches!(age, Ok(Ok(age)) if age < PATIENCE) {
            return;
        }
        if self.make_whole().is_none() {
            let _ = std::fs::write(failed, "");
        }
    }

    fn make_whole(&self) -> Option<()> {
        // clang looks at its source again whenever it uses the header.
        let source = self.path.with_extension("cu");
        if let Ok(mut file) = std::fs::File::create_new(&source) {
            for line in &self.includes {
                writeln!(file, "#include {line}").ok()?;
            }
        }
        let Maker { job, program, asked, folder } = &self.maker;
        let temporary = tempfile::Builder::new().prefix(".making-").tempfile_in(folder).ok()?;
        let mut args = asked.common.clone();
        args.extend(self.base.as_deref().map(args_of).unwrap_or_default());
        args.extend(["-c", "-emit-llvm", "-Xclang", "-emit-pch"].map(OsString::from));
        let request = ClangRequest {
            args,
            source,
            stem: "precompiled".into(),
            extension: "pch",
            output: Some(temporary.path().to_owned()),
        };
        let made = clang(job, program, &request).ok()?;
        if made.failed {
            return None;
        }
        temporary.persist(&self.path).ok()?;
        is_ready(&self.path);
        self.maker.forget_old();
        Some(())
    }
}

/// The includes before everything else of a file, each with its quotes or brackets, as far as they are found
/// in the folders of the system, whatever file includes them.
fn leading_includes(source: &SourceInput, options: &CompileOptions) -> Vec<String> {
    let text = source.own_text().unwrap_or_default();
    let files = match source {
        SourceInput::Memory { files, .. } => files.as_slice(),
        _ => &[],
    };
    let name = source.name();
    let beside = Path::new(&name).parent().unwrap_or(Path::new(""));
    let is_users = |name: &str, quoted: bool| {
        let in_folders = options.include_dirs.iter().any(|folder| folder.join(name).exists());
        in_folders
            || files.iter().any(|(file, _)| file == name)
            || (quoted && beside.join(name).exists())
    };
    let includes = includes_of(&text);
    let of_system = includes
        .take_while(|line| !is_users(line.trim_matches(['<', '>', '"']), line.starts_with('"')));
    of_system.map(|line| line.replace('"', " ").trim().to_owned()).map(bracketed).collect()
}

/// A header that lies beside no source is found by brackets as well.
fn bracketed(name: String) -> String {
    if name.starts_with('<') { name } else { format!("<{name}>") }
}

/// `<name>` or `"name"` of the includes before anything but comments.
fn includes_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            if let Some(comment) = rest.strip_prefix("/*") {
                rest = comment.split_once("*/")?.1;
                continue;
            }
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if line.trim_end().ends_with('\\') {
                return None;
            }
            if line.starts_with("//") {
                rest = after;
                continue;
            }
            let include = line.strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
            let close = match include.as_bytes().first()? {
                b'<' => '>',
                b'"' => '"',
                _ => return None,
            };
            let end = 1 + include[1..].find(close)?;
            let (name, behind) = include.split_at(end + 1);
            let behind = behind.trim();
            if !behind.is_empty() && !behind.starts_with("//") {
                return None;
            }
            rest = after;
            return Some(name);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_beside_are_counted() {
        assert_eq!(others("1.20 0.66 0.50 1/321 4711\n"), 0);
        assert_eq!(others("9.87 8.00 7.51 12/321 4711\n"), 11);
        assert_eq!((others(""), others("0.1 0.2 0.3 ?/9")), (0, 0));
    }

    #[test]
    fn leading_includes_end_at_the_first_other_word() {
        let text = "// a\n/* b\n * c */\n#include <cstdio> // d\n\n# include \"cuda_runtime.h\"\n\
                    #include \\\n<vector>\n#include <map>\n";
        assert_eq!(includes_of(text).collect::<Vec<_>>(), ["<cstdio>", "\"cuda_runtime.h\""]);
        let other = "#include <a> /* b */\n#include <c>\n";
        assert_eq!(includes_of(other).count(), 0);
        assert_eq!(includes_of("#define X\n#include <a>\n").count(), 0);
        assert_eq!(includes_of("#include <a>").count(), 1);
        assert_eq!(includes_of("#include MACRO\n").count(), 0);
    }

    /// A header of the program's own may be looked for by the same name.
    #[test]
    fn headers_of_the_program_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("own.h"), "").unwrap();
        let source = folder.path().join("a.cu");
        std::fs::write(&source, "#include \"system.h\"\n#include \"own.h\"\n#include <b.h>\n")
            .unwrap();
        let input = SourceInput::File(source.clone());
        let mut options = CompileOptions::default();
        assert_eq!(leading_includes(&input, &options), ["<system.h>"]);
        std::fs::write(&source, "#include <own.h>\n#include <b.h>\n").unwrap();
        assert_eq!(leading_includes(&input, &options), ["<own.h>", "<b.h>"]);
        options.include_dirs.push(folder.path().to_owned());
        assert!(leading_includes(&input, &options).is_empty());
    }
}
