//! Every library crate as a package for others: what `cargo package` puts into it must be enough to build
//! it. The packages are unpacked beside each other, where nothing else of the repository is, and checked.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::support::{Outcome, read, root, run_limited, trial};

const LIMIT: Duration = Duration::from_secs(1200);

pub fn trials() -> Vec<Trial> {
    vec![trial("packages::build_by_themselves".into(), packages)]
}

/// A crate of the workspace that may be published.
struct Crate {
    name: String,
    version: String,
    manifest: serde_json::Value,
}

fn packages() -> Outcome {
    let metadata = metadata()?;
    let crates = crates(&metadata);
    if crates.len() < 12 {
        return Err(format!("only {} crates say `publish = true`", crates.len()).into());
    }
    for package in &crates {
        for field in ["description", "license"] {
            if package.manifest[field].as_str().is_none_or(str::is_empty) {
                return Err(format!("{} has no {field}", package.name).into());
            }
        }
    }
    let target = metadata["target_directory"].as_str().ok_or("no target_directory")?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut command = cargo(&root());
    command.args(["package", "--no-verify", "--allow-dirty", "--target-dir"]).arg(folder.path());
    for package in &crates {
        command.args(["--package", &package.name]);
    }
    succeed(&mut command)?;
    let unpacked = folder.path().join("unpacked");
    std::fs::create_dir(&unpacked).map_err(|error| error.to_string())?;
    for package in &crates {
        let file = format!("{}-{}.crate", package.name, package.version);
        let archive = folder.path().join("package").join(&file);
        // With the time of now: in a package all files have one and the same, by which cargo would take what an
        // earlier run made of other text for what these would make.
        succeed(Command::new("tar").arg("xzmf").arg(archive).arg("-C").arg(&unpacked))?;
        let licences = unpacked.join(file.trim_end_matches(".crate"));
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            if !read(&licences.join(licence))?.contains("Licen") {
                return Err(format!("{}: no text in {licence}", package.name).into());
            }
        }
    }
    check(&unpacked, &crates, Path::new(target))
}

/// Checks the unpacked crates against each other.
fn check(unpacked: &Path, crates: &[Crate], target: &Path) -> Outcome {
    let mut manifest = String::from("[workspace]\nresolver = \"3\"\nmembers = [\"*-*\"]\n");
    manifest += "[patch.crates-io]\n";
    for package in crates {
        let Crate { name, version, .. } = package;
        manifest += &format!("{name} = {{ path = \"{name}-{version}\" }}\n");
    }
    // With the profiles of the repository the crates of others need not be compiled again.
    let own = read(&root().join("Cargo.toml"))?;
    let profiles = own.split("\n[").filter(|part| part.starts_with("profile.dev"));
    let foreign = |part: &&str| !part.starts_with("profile.dev.package");
    manifest.extend(profiles.filter(foreign).map(|part| format!("[{part}\n")));
    let write = |name: &str, text: &str| {
        std::fs::write(unpacked.join(name), text).map_err(|error| error.to_string())
    };
    write("Cargo.toml", &manifest)?;
    write("Cargo.lock", &read(&root().join("Cargo.lock"))?)?;
    let mut command = cargo(unpacked);
    succeed(command.args(["check", "--workspace", "--lib"]).env("CARGO_TARGET_DIR", target))
}

fn cargo(within: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(within).env_remove("CARGO_TARGET_DIR");
    command
}

fn succeed(command: &mut Command) -> Outcome {
    let output = run_limited(command, LIMIT)?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{text}", output.status).into())
}

fn metadata() -> Result<serde_json::Value, Failed> {
    let mut command = cargo(&root());
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    if let Some(target) = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from) {
        command.env("CARGO_TARGET_DIR", target);
    }
    let output = run_limited(&mut command, LIMIT)?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}").into())
}

fn crates(metadata: &serde_json::Value) -> Vec<Crate> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // `publish = false` is an empty list of registries.
    packages
        .filter(|package| !package["publish"].is_array())
        .filter_map(|package| {
            Some(Crate {
                name: package["name"].as_str()?.to_owned(),
                version: package["version"].as_str()?.to_owned(),
                manifest: package.clone(),
            })
        })
        .collect()
}
