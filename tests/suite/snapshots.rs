//! Snapshots of PTX and IR, limited to the functions that a case names.
//!
//! A file of `cases/ptx` is compiled for every launch ABI and address size it names; each PTX text
//! is assembled by the real ptxas for every architecture that the case claims, and linked where
//! there is a device runtime (with `with/<name>.cdp`, when the case leaves something to another file).

use std::path::{Path, PathBuf};

use cdp::{AddressSize, Arch, CompileOptions, Goal, LaunchAbi, RequestedAbi};
use cdp_toolchain::DeviceObject;
use libtest_mimic::{Failed, Trial};

use crate::cases::Directives;
use crate::compile::build;
use crate::ptx_text::items;
use crate::support::{Outcome, cases, compiler, files, job, stem, trial};

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for path in files(&cases("ir"), "cdp") {
        trials.push(trial(format!("ir::{}", stem(&path)), move || ir(&path)));
    }
    for path in files(&cases("ptx"), "cdp") {
        let name = stem(&path);
        let directives = match Directives::of(&path) {
            Ok(directives) => directives,
            Err(failed) => {
                trials.push(trial(format!("ptx::{name}"), move || Err(failed)));
                continue;
            }
        };
        let abis: Vec<Option<LaunchAbi>> = match directives.abis() {
            named if named.is_empty() => vec![None],
            named => named.into_iter().map(Some).collect(),
        };
        for abi in abis {
            for size in directives.address_sizes() {
                let abi_name = abi.map_or("auto", LaunchAbi::name);
                let label = format!("{name}.{abi_name}.{}", size.bits());
                let (path, directives) = (path.clone(), directives.clone());
                trials.push(trial(format!("ptx::{label}"), move || {
                    ptx(&path, &directives, abi, size, &label)
                }));
            }
        }
    }
    trials
}

fn assert(folder: &str, name: &str, text: &str) -> Outcome {
    let path: PathBuf = crate::support::root().join("tests/snapshots").join(folder);
    insta::with_settings!({
        snapshot_path => path,
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!(name, text) });
    Ok(())
}

fn ir(path: &Path) -> Outcome {
    let directives = Directives::of(path)?;
    let options = directives.options(directives.archs()?[0]);
    let text = String::from_utf8(build(path, &options, Goal::Ir)?).map_err(|e| e.to_string())?;
    assert("ir", &stem(path), &text)
}

fn ptx(
    path: &Path,
    directives: &Directives,
    abi: Option<LaunchAbi>,
    size: AddressSize,
    label: &str,
) -> Outcome {
    let mut first = None;
    for arch in archs(directives, size)? {
        let mut options = directives.options(arch);
        options.address_size = size;
        options.launch_abi = abi.map_or(RequestedAbi::Auto, RequestedAbi::Exactly);
        let text = match build(path, &options, Goal::Ptx) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|error| error.to_string())?,
            // The documented names are CDP1 below sm_90: the case cannot be built there.
            Err(_) if !abi_exists(&options, arch) => continue,
            Err(failed) => return Err(failed),
        };
        let object = compiler()?
            .assemble(&job()?, label, &text, arch, &options)
            .map_err(|error| format!("{arch}: {error}"))?;
        let tools = compiler()?.toolchain().link_tools(arch, size);
        if tools.is_ok_and(|tools| tools.cudadevrt.is_some()) {
            let mut objects = vec![object.object];
            objects.extend(companion(path, &options)?);
            compiler()?
                .link(&job()?, label, &objects, arch, &options)
                .map_err(|error| format!("{arch}: {error}"))?;
        }
        first.get_or_insert(text);
    }
    let text = first.ok_or("the case was built for no architecture")?;
    assert("ptx", label, &selected(&text, &directives.words("function"))?)
}

/// The object of the file that a case is linked with, `with/<name>.cdp`, if there is one.
fn companion(path: &Path, options: &CompileOptions) -> Result<Option<DeviceObject>, Failed> {
    let name = path.file_name().unwrap_or_default();
    let other = path.with_file_name("with").join(name);
    if !other.is_file() {
        return Ok(None);
    }
    let bytes = build(&other, options, Goal::Object)?;
    DeviceObject::from_bytes("with", bytes).map(Some).map_err(|error| error.to_string().into())
}

fn archs(directives: &Directives, size: AddressSize) -> Result<Vec<Arch>, Failed> {
    let serves = |arch: &Arch| {
        compiler().is_ok_and(|compiler| compiler.toolchain().ptxas_for(*arch, size).is_ok())
    };
    let archs: Vec<Arch> = directives.archs()?.into_iter().filter(serves).collect();
    if archs.is_empty() {
        Err("no ptxas serves any architecture of the case".into())
    } else {
        Ok(archs)
    }
}

fn abi_exists(options: &CompileOptions, arch: Arch) -> bool {
    let request = cdp_launch::AbiRequest {
        arch_sm: u32::from(arch.number()),
        cdp: options.cdp(),
        address_bits: options.address_size.bits(),
    };
    cdp_launch::choose(options.launch_abi, request).is_ok()
}

/// The header, the `.extern` declarations and the named functions of a PTX text; all of it when none is named.
fn selected(ptx: &str, functions: &[&str]) -> Result<String, Failed> {
    if functions.is_empty() {
        return Ok(ptx.to_string());
    }
    let items = items(ptx)?;
    let header = items.first().map_or(ptx, |item| &ptx[..item.place.start]);
    let shown = items.iter().filter(|item| item.is_extern || functions.contains(&item.name));
    let mut out = String::new();
    for part in std::iter::once(header).chain(shown.map(|item| item.text)) {
        let lines = part.lines().filter(|line| !line.trim_start().starts_with("//"));
        out += lines.collect::<Vec<_>>().join("\n").trim();
        out += "\n\n";
    }
    for name in functions {
        if !out.contains(name) {
            return Err(format!("no function `{name}` in the PTX").into());
        }
    }
    Ok(out)
}
