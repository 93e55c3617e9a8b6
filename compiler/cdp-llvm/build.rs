//! Compiles the C++ (`src/*.cpp`) against the LLVM that llvm-sys found.

use std::path::PathBuf;
use std::process::Command;

/// The C++. One compilation sees all, so names outside functions are told apart across files.
const FILES: &[&str] = &[
    "src/apart.cpp",
    "src/arrays.cpp",
    "src/barriers.cpp",
    "src/bitcode.cpp",
    "src/builtins.cpp",
    "src/chain.cpp",
    "src/codegen.cpp",
    "src/divide.cpp",
    "src/scope.cpp",
    "src/exact.cpp",
    "src/guard.cpp",
    "src/halves.cpp",
    "src/ifs.cpp",
    "src/inline.cpp",
    "src/join.cpp",
    "src/large.cpp",
    "src/latch.cpp",
    "src/late.cpp",
    "src/launches/added/added.cpp",
    "src/launches/address.cpp",
    "src/launches/body.cpp",
    "src/launches/inside/inside.cpp",
    "src/launches/meet.cpp",
    "src/launches/stack/in_order.cpp",
    "src/launches/stack/stack.cpp",
    "src/launches/stack/warp.cpp",
    "src/loops.cpp",
    "src/managed.cpp",
    "src/masks.cpp",
    "src/matrices.cpp",
    "src/null.cpp",
    "src/optimizer.cpp",
    "src/pairs.cpp",
    "src/parts.cpp",
    "src/places.cpp",
    "src/pointers.cpp",
    "src/ptxas.cpp",
    "src/raise.cpp",
    "src/ranges.cpp",
    "src/registers.cpp",
    "src/shared.cpp",
    "src/shorts.cpp",
    "src/split.cpp",
    "src/steps.cpp",
    "src/stores.cpp",
    "src/switches.cpp",
    "src/tails.cpp",
    "src/tiles.cpp",
    "src/unroll.cpp",
    "src/watched.cpp",
    "src/wide.cpp",
    "src/widen.cpp",
    "src/words.cpp",
];

fn main() {
    for file in FILES {
        println!("cargo::rerun-if-changed={file}");
    }
    println!("cargo::rerun-if-changed=src/axes.h");
    println!("cargo::rerun-if-changed=src/launches/added/known.h");
    println!("cargo::rerun-if-changed=src/launches/stack/own.h");
    println!("cargo::rerun-if-changed=src/large.h");
    println!("cargo::rerun-if-changed=src/matrices.h");
    println!("cargo::rerun-if-changed=src/places.h");
    println!("cargo::rerun-if-changed=src/registers.h");
    println!("cargo::rerun-if-changed=src/scope.h");
    println!("cargo::rerun-if-changed=src/steps.h");
    println!("cargo::rerun-if-changed=src/unroll.h");
    println!("cargo::rerun-if-changed=src/wide.h");
    println!("cargo::rerun-if-env-changed=DEP_LLVM_22_CONFIG_PATH");
    let config = std::env::var_os("DEP_LLVM_22_CONFIG_PATH").map(PathBuf::from);
    let config = config.unwrap_or_else(|| "llvm-config-22".into());
    let headers = match Command::new(&config).arg("--includedir").output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(error) => {
            println!("cargo::error={} does not run: {error}", config.display());
            return;
        }
    };
    let whole = match whole() {
        Ok(path) => path,
        Err(error) => {
            println!("cargo::error=the list of C++ files cannot be written: {error}");
            return;
        }
    };
    let mut build = cc::Build::new();
    if std::env::var_os("CXX").is_none() && Command::new("c++").arg("--version").output().is_err() {
        // LLVM's packages bring a compiler too.
        build.compiler("clang++-22");
    }
    // LLVM's classes are laid out the same in its debug builds and others, so ours need not know
    // which this is. The base class's type information may be missing, so ours asks for none.
    build
        .cpp(true)
        // With a sanitizer LLVM's headers mean other things than LLVM's library, which was built without. The flag
        // undoes what `CARGO_CFG_SANITIZE` asks of this crate.
        .inherit_rustflags(false)
        .flag_if_supported("-fno-sanitize=all")
        .std("c++17")
        .opt_level(2)
        .debug(false)
        .define("NDEBUG", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        // Said of a struct in a file that is included, though nothing but that file uses it.
        .flag_if_supported("-Wno-subobject-linkage")
        .flag("-isystem")
        .flag(headers)
        .file(whole)
        .compile("cdp_codegen");
}

/// Writes one file that includes all others: most of their time is LLVM's headers, read once then
/// (13 s instead of 45).
fn whole() -> std::io::Result<PathBuf> {
    let sources = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let path = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("all.cpp");
    let lines = FILES.iter().map(|file| format!("#include \"{}\"\n", sources.join(file).display()));
    std::fs::write(&path, lines.collect::<String>())?;
    Ok(path)
}
