//! The run-time library linked beforehand. As cargo leaves it, it is an archive of 34 MB in 13,000 sections
//! with the names of all of Rust's functions, and linking a program of a few lines with it takes ten times
//! as long as compiling that. Here it becomes one relocatable object: what no program can call is gone,
//! sections are merged, only the names that programs use are left, and what refers inside a section is
//! settled. It is made when an executable is first
//! linked with an archive and kept beside it, or in a cache folder of the caller's if that cannot be written.
//!
//! A program that runs once and is gone takes a shared library made of the object, which is linked in half the time.
//!
//! What cannot be made is done without: a program links with the archive itself as well.

mod settle;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use object::read::archive::ArchiveFile;

use self::settle::settle;
use crate::error::ToolError;
use crate::job::{Job, JobOptions};
use crate::tool::Tool;

/// What programs, and objects of nvcc and clang, call. Everything else is the library's own affair.
const PREFIXES: [&str; 3] = ["cuda", "__cuda", "__cdp_"];

/// Whether a name is a call of the driver. A program that has no need of these may have such names of its own, which
/// then hide the library's.
fn is_drivers(name: &str) -> bool {
    name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Merges the sections that every function and constant of Rust has of its own, and leaves out what only
/// a compiler reads. Constants lie behind the functions, so that neither's references to the other are a linker's affair.
const SCRIPT: &str = "\
SECTIONS {
  .text : { *(.text .text.*) *(.rodata .rodata.*) }
  .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) }
  .data : { *(.data .data.*) }
  .bss : { *(.bss .bss.* COMMON) }
  .tdata : { *(.tdata .tdata.*) }
  .tbss : { *(.tbss .tbss.*) }
  .gcc_except_table : { *(.gcc_except_table .gcc_except_table.*) }
  .eh_frame : { KEEP(*(.eh_frame)) }
  .init_array : { KEEP(*(.init_array .init_array.*)) }
  /DISCARD/ : { *(.llvmbc .llvmcmd .comment) }
}
";

/// The object that `archive` is linked to, made now if it has not been and kept beside it or in `cache`.
/// `None` if it cannot be made, or if `archive` is none.
pub fn prelinked(archive: &Path, cache: Option<&Path>) -> Option<PathBuf> {
    kept(archive, cache, "o", || link(archive).ok())
}

/// The shared library of that object, made and kept as [`prelinked`] is. What links with it finds it where it lies now.
pub fn prelinked_shared(archive: &Path, cache: Option<&Path>) -> Option<PathBuf> {
    kept(archive, cache, "so", || shared(&prelinked(archive, cache)?).ok())
}

fn kept(
    archive: &Path,
    cache: Option<&Path>,
    extension: &str,
    make: impl FnOnce() -> Option<Vec<u8>>,
) -> Option<PathBuf> {
    let name = format!("{}.{extension}", name(archive)?);
    let folders: Vec<&Path> = [archive.parent(), cache].into_iter().flatten().collect();
    let known = folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
    if known.is_some() {
        return known;
    }
    let bytes = make()?;
    folders.iter().find_map(|folder| keep(folder, &name, &bytes))
}

/// It says which archive a file was made of, so that another one is not mistaken for it.
fn name(archive: &Path) -> Option<String> {
    let stem = archive.file_stem()?.to_str()?;
    let known = fs::metadata(archive).ok()?;
    let changed = known.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let is_archive = archive.extension().is_some_and(|extension| extension == "a");
    is_archive.then(|| format!("{stem}-{:x}-{changed:x}", known.len()))
}

/// Writes a file whole or not at all, and removes those of earlier builds of the archive.
fn keep(folder: &Path, name: &str, bytes: &[u8]) -> Option<PathBuf> {
    fs::create_dir_all(folder).ok()?;
    let file = tempfile::NamedTempFile::new_in(folder).ok()?;
    fs::write(file.path(), bytes).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).ok()?;
    }
    let path = folder.join(name);
    file.persist(&path).ok()?;
    let stem = name.split('-').next().unwrap_or(name);
    let ours = name.rsplit_once('.').map_or(name, |(ours, _)| ours);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let other = entry.file_name();
        let other = other.to_str().unwrap_or_default();
        let is_kin = other.strip_prefix(stem).is_some_and(|rest| {
            let is_named = rest.starts_with('-') && rest.matches('-').count() == 2;
            is_named && (rest.ends_with(".o") || rest.ends_with(".so"))
        });
        if is_kin && !other.starts_with(ours) {
            // Another build may be reading it; then it stays a while.
            let _ = fs::remove_file(entry.path());
        }
    }
    Some(path)
}

/// The names of an archive that programs may use.
fn names(archive: &[u8]) -> Vec<String> {
    let symbols = ArchiveFile::parse(archive).ok().and_then(|file| file.symbols().ok().flatten());
    let mut names: Vec<String> = symbols
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|symbol| Some(std::str::from_utf8(symbol.name()).ok()?.to_owned()))
        .filter(|name| is_drivers(name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    names.sort();
    names.dedup();
    names
}

fn link(archive: &Path) -> Result<Vec<u8>, ToolError> {
    let io = |source: std::io::Error| {
        ToolError::BadRequest(format!("{} cannot be read: {source}", archive.display()))
    };
    let archive = std::path::absolute(archive).map_err(io)?;
    let names = names(&fs::read(&archive).map_err(io)?);
    if names.is_empty() {
        let message = format!("{} has no CUDA runtime in it", archive.display());
        return Err(ToolError::BadRequest(message));
    }
    let job = Job::new(JobOptions::default())?;
    job.write("merge.ld", SCRIPT.as_bytes())?;
    job.write("names", (names.join("\n") + "\n").as_bytes())?;
    let weak: String =
        names.iter().filter(|name| is_drivers(name)).map(|name| format!("{name}\n")).collect();
    job.write("weak", weak.as_bytes())?;
    // Every name is a root; in a response file, because they are many.
    let roots: String = names.iter().map(|name| format!("-u {name}\n")).collect();
    job.write("roots", roots.as_bytes())?;
    let mut args: Vec<OsString> =
        ["-r", "--gc-sections", "--strip-debug", "-T", "merge.ld", "@roots"]
            .map(OsString::from)
            .into();
    args.extend([archive.into(), "-o".into(), "whole.o".into()]);
    job.run(Tool::Cc, Path::new("ld"), args)?;
    let args = [
        "--strip-unneeded",
        "--keep-global-symbols=names",
        "--weaken-symbols=weak",
        "whole.o",
        "small.o",
    ];
    job.run(Tool::Cc, Path::new("objcopy"), args.map(OsString::from).into())?;
    let merged = job.read("small.o")?;
    Ok(settle(&merged).unwrap_or(merged))
}

/// The shared library of an object; its own calls stay in it, whatever a program calls its functions.
fn shared(object: &Path) -> Result<Vec<u8>, ToolError> {
    let job = Job::new(JobOptions::default())?;
    let object = std::path::absolute(object).unwrap_or_else(|_| object.to_owned());
    let mut args = vec!["-shared".into(), "-Wl,-Bsymbolic".into(), object.into()];
    args.extend(["-lm", "-ldl", "-lpthread", "-o", "shared.so"].map(OsString::from));
    job.run(Tool::Cc, Path::new("cc"), args)?;
    job.read("shared.so")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_becomes_one_object_with_its_public_names() {
        let folder = tempfile::tempdir().unwrap();
        let job = Job::new(JobOptions::default()).unwrap();
        let sources = [
            (
                "a.s",
                ".section .text.a,\"ax\"\n.globl cudaOne\ncudaOne: .cfi_startproc\ncall helper\nlea table(%rip), %rax\nret\n.cfi_endproc\n.globl cuOne\ncuOne: ret\n.globl cubic\ncubic: ret\n",
            ),
            (
                "b.s",
                ".section .text.b,\"ax\"\n.globl helper\nhelper: ret\n.section .text.c,\"ax\"\n.globl unused\nunused: .cfi_startproc\nret\n.cfi_endproc\n.section .rodata.t,\"a\"\n.globl table\ntable: .long helper - table\n",
            ),
        ];
        for (name, text) in sources {
            job.write(name, text.as_bytes()).unwrap();
            job.run(Tool::Cc, Path::new("cc"), vec!["-c".into(), name.into()]).unwrap();
        }
        let args = ["rc", "libone.a", "a.o", "b.o"].map(OsString::from).into();
        job.run(Tool::Cc, Path::new("ar"), args).unwrap();
        let archive = folder.path().join("libone.a");
        fs::write(&archive, job.read("libone.a").unwrap()).unwrap();
        let path = prelinked(&archive, None).expect("binutils are there");
        assert_eq!(path.parent(), Some(folder.path()));
        assert_eq!(prelinked(&archive, None), Some(path.clone()), "it is kept");
        let bytes = fs::read(&path).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        use object::{Object, ObjectSection, ObjectSymbol};
        let globals: Vec<&str> = file
            .symbols()
            .filter(|symbol| symbol.is_global() && symbol.is_definition())
            .filter_map(|symbol| symbol.name().ok())
            .collect();
        assert_eq!(globals, ["cuOne", "cudaOne"]);
        assert!(file.symbols().any(|symbol| symbol.name() == Ok("cuOne") && symbol.is_weak()));
        let code: Vec<_> = file
            .sections()
            .filter(|s| s.name().is_ok_and(|n| n.starts_with(".text") || n.starts_with(".rodata")))
            .collect();
        assert_eq!(code.len(), 1);
        assert_eq!(code[0].relocations().count(), 0, "code and constants refer to each other");
        // Debuggers and panics find their way through it, by a table of the functions that are left.
        let unwinding = file.section_by_name(".eh_frame").expect("the table of a.s");
        assert_eq!(unwinding.relocations().count(), 1);
        let library = prelinked_shared(&archive, None).unwrap();
        assert_eq!(library, path.with_extension("so"));
        assert_eq!(prelinked_shared(&archive, None), Some(library.clone()), "it is kept");
        let bytes = fs::read(&library).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let mut exports: Vec<&str> = file
            .dynamic_symbols()
            .filter(|symbol| symbol.is_definition())
            .filter_map(|symbol| symbol.name().ok())
            .collect();
        exports.sort_unstable();
        assert_eq!(exports, ["cuOne", "cudaOne"]);
        // Another archive of that name is another object, and the old ones go.
        fs::write(&archive, job.read("libone.a").unwrap()).unwrap();
        let newer = prelinked(&archive, None).unwrap();
        assert_ne!(newer, path);
        assert!(!path.exists() && !library.exists());
    }

    #[test]
    fn what_is_no_archive_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let object = folder.path().join("runtime.o");
        fs::write(&object, b"").unwrap();
        assert_eq!(prelinked(&object, None), None);
        let broken = folder.path().join("libbroken.a");
        fs::write(&broken, b"!<arch>\n").unwrap();
        assert_eq!(prelinked(&broken, None), None);
        assert_eq!(prelinked(&folder.path().join("none.a"), None), None);
    }
}
