//! Says how the program is linked.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    // LLVM has 80,000 addresses in its tables. A program at a fixed address does not relocate them
    // at every start, which is a quarter of the time that a small file takes.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    link_statically(&["stdc++", "z", "zstd", "ffi"]);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CC");
}

/// Has libraries that LLVM needs linked into the program. The shared library of C++ would have the dynamic linker
/// write into every page of LLVM's tables, for the type information that they refer to; the others would be mapped
/// and relocated at every start, each for a tenth of a millisecond.
fn link_statically(libraries: &[&str]) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    // A folder with nothing else in it, so that the search finds nothing else.
    let folder = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()).join("static");
    let _ = std::fs::create_dir_all(&folder);
    for library in libraries {
        let name = format!("lib{library}.a");
        let asked = Command::new(&compiler).arg(format!("-print-file-name={name}")).output();
        let printed = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        // A compiler that has none prints the name as it is; then the shared one is used.
        let Some(archive) = printed.ok().map(PathBuf::from).filter(|path| path.is_absolute())
        else {
            continue;
        };
        let link = folder.join(&name);
        let _ = std::fs::remove_file(&link);
        let _ = std::fs::hard_link(&archive, &link)
            .or_else(|_| std::fs::copy(&archive, &link).map(drop));
    }
    println!("cargo::rustc-link-search=native={}", folder.display());
}
