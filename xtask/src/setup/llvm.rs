//! LLVM 22: found, or installed with apt-get.

use std::path::PathBuf;
use std::process::Command;

use super::packages;
use crate::cargo::{in_path, output};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// The Debian packages that a statically linked LLVM 22 needs (FACTS: tools),
/// and its clang, a judge of the tests: a few MB more, since llvm-22-dev already asks for its library.
const PACKAGES: [&str; 8] = [
    "llvm-22-dev",
    CLANG,
    OPENMP,
    "libpolly-22-dev",
    "libzstd-dev",
    "zlib1g-dev",
    "libffi-dev",
    "libxml2-dev",
];

const CLANG: &str = "clang-22";
/// For `-Xcompiler -fopenmp` of `.cu` files: under 1 MB.
const OPENMP: &str = "libomp-22-dev";

/// The variable by which LLVM's Rust bindings are told where LLVM 22 is.
const PREFIX_VARIABLE: &str = "LLVM_SYS_221_PREFIX";

/// What has to be installed; `None` when LLVM 22 is there.
///
/// # Errors
/// When `LLVM_SYS_221_PREFIX` names a folder without LLVM 22: whoever sets it does not want another.
pub fn missing() -> Outcome<Option<Vec<String>>> {
    if let Some(prefix) = std::env::var_os(PREFIX_VARIABLE).map(PathBuf::from) {
        let config = prefix.join("bin/llvm-config");
        let version = output(Command::new(&config).arg("--version")).unwrap_or_default();
        if version.starts_with("22.") {
            return Ok(None);
        }
        let found = if version.is_empty() { "nothing that runs".to_owned() } else { version };
        return Err(Failure::new(format!(
            "{PREFIX_VARIABLE} says LLVM 22 is in {}, but {} is {}",
            prefix.display(),
            config.display(),
            found.trim()
        )));
    }
    let all = || PACKAGES.iter().map(|package| (*package).to_owned()).collect();
    let has_llvm = in_path("llvm-config-22").is_some();
    Ok(match packages::missing(&PACKAGES) {
        // LLVM from elsewhere than a package, on a system with packages: the libraries that it is
        // linked with are asked for all the same. Its clang is asked for beside packaged LLVM only.
        Some(missing) if has_llvm => {
            let is_package = !missing.iter().any(|name| name == PACKAGES[0]);
            let clang = is_package && in_path(CLANG).is_none();
            let is_wanted = |name: &str| !name.contains("-22") || name == CLANG && clang;
            let wanted: Vec<String> = missing.into_iter().filter(|name| is_wanted(name)).collect();
            (!wanted.is_empty()).then_some(wanted)
        }
        Some(missing) => Some(if missing.is_empty() { all() } else { missing }),
        None if has_llvm => None,
        None => Some(all()),
    })
}

/// Installs the packages.
///
/// # Errors
/// As [`packages::install`], with the other way to provide LLVM.
pub fn install(ui: &Ui, missing: &[String]) -> Outcome<()> {
    if missing.iter().all(|name| [CLANG, OPENMP].contains(&name.as_str())) {
        // The compiler is built without them; `.cu` files and tests say what they lack.
        if let Err(failure) = packages::install(ui, "clang 22 and its OpenMP library", missing) {
            ui.note(&format!("going on without it: {failure}"));
        }
        return Ok(());
    }
    packages::install(ui, "LLVM 22", missing).map_err(|failure| {
        Failure::new(format!(
            "{failure}\n(or set {PREFIX_VARIABLE} to the folder of an LLVM 22 built with static libraries)"
        ))
    })?;
    if in_path("llvm-config-22").is_none() {
        return Err(Failure::new("the packages are installed, but llvm-config-22 is not in PATH"));
    }
    Ok(())
}
