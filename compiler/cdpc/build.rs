//! Lists the pages of `compiler/docs/codes` for `cdpc explain`, and says how the program is linked.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    // LLVM has 80,000 addresses in its tables. A program at a fixed address does not relocate them
    // at every start, which is a quarter of the time that a small file takes.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    link_static_cxx();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/codes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages: Vec<_> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    let mut text = String::from("/// (code, page), by code.\nconst PAGES: &[(&str, &str)] = &[\n");
    for path in pages {
        let code = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let path = path.canonicalize().unwrap_or(path);
        text += &format!("    ({code:?}, include_str!({:?})),\n", path.display().to_string());
    }
    text += "];\n";
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    if let Err(error) = std::fs::write(Path::new(&out).join("pages.rs"), text) {
        println!("cargo::error=cannot write the list of pages: {error}");
    }
}

/// Has LLVM's C++ library linked into the program. As a shared library it would have the dynamic linker
/// write into every page of LLVM's tables, for the type information that they refer to.
fn link_static_cxx() {
    let name = "libstdc++.a";
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let asked = Command::new(compiler).arg(format!("-print-file-name={name}")).output();
    let printed = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    // A compiler that has none prints the name as it is.
    let Some(archive) = printed.ok().map(PathBuf::from).filter(|path| path.is_absolute()) else {
        return;
    };
    // A folder with nothing else in it, so that the search finds nothing else.
    let folder = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()).join("static-cxx");
    let link = folder.join(name);
    let _ = std::fs::create_dir_all(&folder);
    let _ = std::fs::remove_file(&link);
    if std::fs::hard_link(&archive, &link).is_ok() || std::fs::copy(&archive, &link).is_ok() {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}
