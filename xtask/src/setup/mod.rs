//! Everything a build needs, made present. One function behind all verbs, safe to repeat and to run
//! several times at once, quick when nothing is missing.
//!
//! Writes into `.toolchain` in the repository and, through apt, installs packages; nothing else.

mod cuda;
mod llvm;
mod packages;

use std::fs::File;

use crate::Common;
use crate::cargo::{in_path, root};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Makes everything present that the other verbs need.
///
/// # Errors
/// What could not be installed, with what to install by hand.
pub fn setup(ui: &Ui, common: &Common) -> Outcome<()> {
    if in_path("cc").is_none() {
        return Err(Failure::new(
            "no C compiler `cc` in PATH; install one (Debian: apt-get install build-essential)",
        ));
    }
    let missing_llvm = llvm::missing()?;
    let missing_kits = cuda::missing(common)?;
    if missing_llvm.is_none() && missing_kits.is_empty() {
        return Ok(());
    }
    let _lock = lock(ui)?;
    // Another run may have installed it all while this one waited.
    if let Some(missing) = llvm::missing()? {
        llvm::install(ui, &missing)?;
    }
    cuda::fetch(ui, &cuda::missing(common)?)
}

/// Held by one run of the set-up at a time; freed by the system even if the run is killed.
fn lock(ui: &Ui) -> Outcome<File> {
    let dir = root().join(".toolchain");
    std::fs::create_dir_all(&dir).map_err(|error| Failure::io("make the folder", &dir, &error))?;
    let path = dir.join(".lock");
    let failed = |error: &std::io::Error| Failure::io("lock", &path, error);
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| failed(&error))?;
    if file.try_lock().is_err() {
        let step = ui.step("waiting for another set-up of this folder");
        file.lock().map_err(|error| failed(&error))?;
        step.done();
    }
    Ok(file)
}
