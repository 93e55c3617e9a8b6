//! Says how the program is linked.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    // LLVM has 80,000 addresses in its tables. A program at a fixed address does not relocate them
    // at every start, which is a quarter of the time that a small file takes.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    link_statically(&["stdc++", "z", "zstd", "ffi"]);
    order_functions();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CC");
}

/// Names of LLVM's functions in the order in which they are to lie: those first that every compilation calls. Those that a
/// version of LLVM does not have are passed over.
const ORDER: &str = "functions.order";

/// What compiling takes of LLVM lies scattered over 40 MB of code. Side by side, as `functions.order` has it (`cargo xtask
/// order`), it is an eighth of that, and the system maps fewer pages: a small file takes a fifth less time. Only rustc's
/// own linker, LLD, is asked: others have other options for it, and the order changes nothing but speed.
fn order_functions() {
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    let flags = set("CARGO_ENCODED_RUSTFLAGS");
    let other = !set("RUSTC_LINKER").is_empty()
        || ["linker", "fuse-ld"].iter().any(|flag| flags.contains(flag));
    println!("cargo::rerun-if-changed={ORDER}");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let order = format!("{}/{ORDER}", set("CARGO_MANIFEST_DIR"));
    // A comma would end the path.
    if set("TARGET") == LLD_TARGET && links_by_lld() && !other && !order.contains(',') {
        println!("cargo::rustc-link-arg-bins=-Wl,--symbol-ordering-file={order}");
        println!("cargo::rustc-link-arg-bins=-Wl,--no-warn-symbol-ordering");
    }
}

/// Where rustc links by the LLD that it brings along unless told otherwise, since 1.90.
const LLD_TARGET: &str = "x86_64-unknown-linux-gnu";

/// Whether this rustc is one that does. One of a distribution may have no LLD.
fn links_by_lld() -> bool {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let said = |argument: &[&str]| {
        let output = Command::new(&rustc).args(argument).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let version = said(&["--version"]).unwrap_or_default();
    let minor = version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    let lld = format!("lib/rustlib/{LLD_TARGET}/bin/gcc-ld/ld.lld");
    let has_lld =
        said(&["--print", "sysroot"]).is_some_and(|root| PathBuf::from(root).join(lld).exists());
    has_lld && minor.is_some_and(|minor| minor >= 90)
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
