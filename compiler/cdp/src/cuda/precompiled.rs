//! Precompiled headers: what clang makes of its wrapper of CUDA's headers is kept in the cache folder, and
//! so is what it makes of the headers that a file begins with, from the second time on that they are seen.
//!
//! What a header was made of is its name: clang's program, every option that is there before the source, and
//! the list of includes. That a header's text has not changed since, clang checks itself; one that does not
//! fit any more is thrown away ([`Precompiled::forget`]) and the file read without it. Output is the same
//! with and without.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use cdp_toolchain::{ClangRequest, Job, clang};
use sha2::{Digest, Sha256};

use super::args::Asked;
use crate::analysis::SourceInput;
use crate::options::CompileOptions;

/// Headers that are kept, the last used ones; one takes 10 to 60 MB.
const KEPT: usize = 24;

/// How long a header that could not be made, say because a file that it includes is missing, is not tried
/// again.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A precompiled header that a run of clang begins with.
pub(super) struct Precompiled {
    pub path: PathBuf,
}

impl Precompiled {
    /// The header for a source, made if it is worth it. `None` where nothing is kept.
    pub(super) fn find(
        job: &Job,
        program: &Path,
        asked: &Asked,
        source: &SourceInput,
        options: &CompileOptions,
    ) -> Option<Precompiled> {
        let folder = options.cache_dir.as_ref()?.join("pch");
        // Headers that lie in the job's folder are gone with it.
        if job.is_dry_run() || !asked.headers.starts_with(options.cache_dir.as_ref()?) {
            return None;
        }
        std::fs::create_dir_all(&folder).ok()?;
        let maker = Maker { job, program, asked, folder };
        let leading = match options.forced_includes.is_empty() {
            true => leading_includes(source, options),
            false => Vec::new(),
        };
        if !leading.is_empty() {
            let path = maker.path(&leading);
            let seen = path.with_extension("seen");
            if is_ready(&path) || (seen.exists() && maker.make(&path, &leading)) {
                return Some(Precompiled { path });
            }
            // Most files are compiled once.
            let _ = std::fs::write(seen, "");
        }
        let path = maker.path(&[]);
        (is_ready(&path) || maker.make(&path, &[])).then_some(Precompiled { path })
    }

    /// The words by which clang begins with it.
    pub(super) fn args(&self) -> Vec<OsString> {
        let words = ["-Xclang", "-include-pch", "-Xclang"].map(OsString::from);
        words.into_iter().chain([self.path.clone().into()]).collect()
    }

    /// Whether a run failed because of the header, which is removed then.
    pub(super) fn forget(&self, messages: &str) -> bool {
        let named = messages.contains(&*self.path.to_string_lossy())
            || messages.contains("precompiled file")
            || messages.contains("AST file");
        named && std::fs::remove_file(&self.path).is_ok()
    }
}

/// Whether a header is there; its date says when it was used last.
fn is_ready(path: &Path) -> bool {
    let Ok(file) = std::fs::File::options().append(true).open(path) else { return false };
    let _ = file.set_modified(SystemTime::now());
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
        let mut digest = Sha256::new();
        let mut field = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        // A later clang of the same version number is another file.
        let real = self.program.canonicalize().unwrap_or_else(|_| self.program.to_owned());
        field(real.as_os_str().as_encoded_bytes());
        if let Ok(file) = real.metadata() {
            field(&file.len().to_le_bytes());
            field(format!("{:?}", file.modified().ok()).as_bytes());
        }
        self.asked.common.iter().for_each(|word| field(word.as_encoded_bytes()));
        includes.iter().for_each(|name| field(name.as_bytes()));
        let name: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name).with_extension("pch")
    }

    /// Makes a header, once in this process, and in whole when another makes it too.
    fn make(&self, path: &Path, includes: &[String]) -> bool {
        static MAKING: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>> =
            LazyLock::new(Mutex::default);
        let one = {
            let mut making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(making.entry(path.to_owned()).or_default())
        };
        let _one = one.lock().unwrap_or_else(PoisonError::into_inner);
        if is_ready(path) {
            return true;
        }
        let failed = path.with_extension("failed");
        let age = failed.metadata().and_then(|file| file.modified()).map(|time| time.elapsed());
        if matches!(age, Ok(Ok(age)) if age < PATIENCE) {
            return false;
        }
        let made = self.make_whole(path, includes).is_some();
        if !made {
            let _ = std::fs::write(failed, "");
        }
        made
    }

    fn make_whole(&self, path: &Path, includes: &[String]) -> Option<()> {
        // clang looks at its source again whenever it uses the header.
        let source = path.with_extension("cu");
        if let Ok(mut file) = std::fs::File::create_new(&source) {
            for line in includes {
                writeln!(file, "#include {line}").ok()?;
            }
        }
        let temporary =
            tempfile::Builder::new().prefix(".making-").tempfile_in(&self.folder).ok()?;
        let mut args = self.asked.common.clone();
        args.extend(["-c", "-emit-llvm", "-Xclang", "-emit-pch"].map(OsString::from));
        let request = ClangRequest {
            args,
            source,
            stem: "precompiled".into(),
            extension: "pch",
            output: Some(temporary.path().to_owned()),
        };
        let made = clang(self.job, self.program, &request).ok()?;
        if made.failed {
            return None;
        }
        temporary.persist(path).ok()?;
        self.forget_old();
        Some(())
    }

    fn forget_old(&self) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut headers: Vec<(SystemTime, PathBuf)> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "pch"))
            .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
            .collect();
        headers.sort();
        for (_, path) in headers.iter().rev().skip(KEPT) {
            for extension in ["pch", "cu", "seen", "failed"] {
                let _ = std::fs::remove_file(path.with_extension(extension));
            }
        }
    }
}

/// The includes before everything else of a file, each with its quotes or brackets, as far as they are found
/// in the folders of the system, whatever file includes them.
fn leading_includes(source: &SourceInput, options: &CompileOptions) -> Vec<String> {
    let (text, files) = match (source, source.given_text()) {
        (SourceInput::Memory { files, .. }, Some((_, text))) => (text, files.as_slice()),
        (_, Some((_, text))) => (text, [].as_slice()),
        (_, None) => match std::fs::read(source.name()) {
            Ok(bytes) => (String::from_utf8_lossy(&bytes).into_owned(), [].as_slice()),
            Err(_) => return Vec::new(),
        },
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
