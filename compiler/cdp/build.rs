//! A digest of the compiler's own sources, for cache keys: two compilers of the same version number
//! may make different code.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The crates that decide what is made, beside this one.
const CRATES: [&str; 8] = [
    "cdp",
    "cdp-diagnostics",
    "cdp-frontend",
    "cdp-ir",
    "cdp-launch",
    "cdp-lint",
    "cdp-llvm",
    "cdp-toolchain",
];

fn main() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let compiler = here.parent().unwrap_or(&here).to_owned();
    let mut files = Vec::new();
    for name in CRATES {
        let folder = compiler.join(name);
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
        collect(&folder.join("src"), &mut files);
        files.extend(["Cargo.toml", "build.rs"].map(|file| folder.join(file)));
    }
    // The versions of all dependencies.
    let lock = compiler.join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    files.push(lock);
    files.sort();
    let mut digest = Sha256::new();
    for path in files {
        let Ok(bytes) = fs::read(&path) else { continue };
        let name = path.strip_prefix(&compiler).unwrap_or(&path).display().to_string();
        for part in [name.as_bytes(), &bytes] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    let text: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=CDP_SOURCE_DIGEST={text}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
