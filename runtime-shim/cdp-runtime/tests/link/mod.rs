//! Linking C and C++ objects with the static library that cargo has built beside the tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `tests/c`
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c")
}

/// The static library of this build.
pub fn static_library() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let deps = test.parent().expect("a file is in a folder");
    let built = std::fs::read_dir(deps).expect("cargo's folder").filter_map(|entry| {
        let path = entry.ok()?.path();
        let name = path.file_name()?.to_str()?;
        let is_library = name.starts_with("libcdp_runtime-") && name.ends_with(".a");
        let time = path.metadata().and_then(|meta| meta.modified()).ok()?;
        is_library.then_some((time, path))
    });
    built.max().expect("cargo builds the static library with the crate").1
}

/// Assembly in `folder` that holds a PTX text as the program's device code.
pub fn device_code(ptx: &Path, folder: &Path) -> PathBuf {
    let path = folder.join("device.s");
    let text = format!(
        ".section .rodata\n\
         .globl cdp_ptx_begin\n.globl cdp_ptx_end\n.globl cdp_cubin_begin\n.globl cdp_cubin_end\n\
         cdp_ptx_begin: .incbin \"{}\"\ncdp_ptx_end:\ncdp_cubin_begin:\ncdp_cubin_end:\n\
         .section .note.GNU-stack,\"\",@progbits\n",
        ptx.display()
    );
    std::fs::write(&path, text).expect("a scratch file");
    path
}

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
}
