//! `cargo xtask wheel`: the Python package with the library inside, built and tested in a virtual
//! environment.
//!
//! A wheel is a zip file with a list of digests; Python's own `zipfile` packs it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use sha2::{Digest, Sha256};

use crate::cargo::{build_release, output, root, target_dir};
use crate::failure::Outcome;
use crate::files::{copy, create, entries, read, write};
use crate::install::strip;
use crate::table::bytes;
use crate::ui::Ui;

/// Options of the wheel.
#[derive(Args)]
pub struct WheelOptions {
    /// Where to put it [default: wheel in cargo's target folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Do not test it; without this, NumPy is installed into the environment of the tests
    #[arg(long)]
    no_test: bool,
}

const NAME: &str = "cdp_cuda";
/// The C library of Debian 12, which the release is linked with.
const PLATFORM: &str = "manylinux_2_36_x86_64";

/// Builds and tests the wheel.
///
/// # Errors
/// When something does not build, or a test of the package fails.
pub fn wheel(ui: &Ui, options: &WheelOptions) -> Outcome<ExitCode> {
    let release = build_release(&["cdp-capi"])?;
    let out = match &options.out {
        Some(out) => out.clone(),
        None => target_dir()?.join("wheel"),
    };
    let version = env!("CARGO_PKG_VERSION");
    let tag = format!("py3-none-{PLATFORM}");
    let folder = out.join("content");
    let _ = fs::remove_dir_all(&folder);
    let package = folder.join("cdp");
    create(&package)?;
    for file in files(&root().join("compiler/cdp-python/cdp"), "py")? {
        copy(&file, &package.join(file.file_name().unwrap_or_default()), 0o644)?;
    }
    let library = package.join("libcdp.so");
    copy(&release.join("libcdp.so"), &library, 0o755)?;
    strip(&library)?;
    let info = folder.join(format!("{NAME}-{version}.dist-info"));
    create(&info)?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(licence), &info.join(licence), 0o644)?;
    }
    let readme = read(&root().join("compiler/cdp-python/README.md"))?;
    let readme = String::from_utf8_lossy(&readme);
    write(&info.join("METADATA"), metadata(version, &readme))?;
    write(
        &info.join("WHEEL"),
        format!("Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\nTag: {tag}\n"),
    )?;
    let record = info.join("RECORD");
    write(&record, list(&folder, &record)?)?;
    let wheel = out.join(format!("{NAME}-{version}-{tag}.whl"));
    let _ = fs::remove_file(&wheel);
    let mut zip = Command::new("python3");
    zip.args(["-m", "zipfile", "-c"])
        .arg(&wheel)
        .args(["cdp"])
        .arg(info.file_name().unwrap_or_default());
    output(zip.current_dir(&folder))?;
    if !options.no_test {
        test(ui, &out, &wheel)?;
    }
    let size = fs::metadata(&wheel).map_or(0, |about| about.len());
    ui.line(&format!("{} ({})", wheel.display(), bytes(size)));
    Ok(ExitCode::SUCCESS)
}

/// Installs it with NumPy into an environment of its own and runs the package's tests there.
fn test(ui: &Ui, out: &Path, wheel: &Path) -> Outcome<()> {
    let step = ui.step("testing the wheel");
    let environment = out.join("venv");
    let _ = fs::remove_dir_all(&environment);
    output(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let python = environment.join("bin/python3");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    output(Command::new(&python).args(install).arg(wheel).arg("numpy"))?;
    // Outside the repository's folders, so that the installed package is what is imported.
    let tests = root().join("compiler/cdp-python/tests");
    let mut run = Command::new(&python);
    run.args(["-m", "unittest", "discover", "-s"]).arg(tests).env_remove("LIBCDP");
    output(run.env_remove("PYTHONPATH").current_dir(out))?;
    step.done();
    Ok(())
}

fn metadata(version: &str, readme: &str) -> String {
    format!(
        "Metadata-Version: 2.1\nName: cdp-cuda\nVersion: {version}\n\
         Summary: CUDA kernels that launch kernels, compiled from Python and run on a GPU or without one\n\
         License: MIT OR Apache-2.0\nRequires-Python: >=3.10\n\
         Description-Content-Type: text/markdown\n\n{readme}"
    )
}

/// `RECORD`: each file's path, digest and size; its own line has none.
fn list(folder: &Path, record: &Path) -> Outcome<String> {
    let mut text = String::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for path in entries(&next)? {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let data = read(&path)?;
            let name = path.strip_prefix(folder).unwrap_or(&path).display();
            let _ =
                writeln!(text, "{name},sha256={},{}", base64(&Sha256::digest(&data)), data.len());
        }
    }
    let name = record.strip_prefix(folder).unwrap_or(record).display();
    let _ = writeln!(text, "{name},,");
    Ok(text)
}

/// Base 64 for addresses, without padding, as the format of wheels wants it.
fn base64(data: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in data.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]));
        }
    }
    text
}

fn files(folder: &Path, extension: &str) -> Outcome<Vec<PathBuf>> {
    let mut paths = entries(folder)?;
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_all_remainders() {
        // RFC 4648, section 10, with the alphabet of section 5.
        for (data, text) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")]
        {
            assert_eq!(base64(data.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "-_8");
    }
}
