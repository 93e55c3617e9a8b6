//! Linking C and C++ objects with the static library that cargo has built beside the tests.

use std::path::PathBuf;
use std::process::Command;

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

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
}
