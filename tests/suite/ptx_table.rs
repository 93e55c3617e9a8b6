//! The table of PTX instructions before ptxas: each row's ISA version and architecture are the first that
//! ptxas takes one of its forms for.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::support::{Outcome, compiler, run_limited, trial};

#[allow(dead_code)]
#[path = "../../runtime-shim/cdp-ptx/tests/tables/mod.rs"]
mod tables;

type Version = (u32, u32);

/// Architectures of one ptxas, with the ISA version that came with each.
const ARCHITECTURES: &[(u32, Version)] =
    &[(75, (6, 3)), (80, (7, 0)), (86, (7, 1)), (89, (7, 8)), (90, (7, 8)), (100, (8, 6))];
const VERSIONS: &[Version] = &[
    (6, 3),
    (6, 4),
    (6, 5),
    (7, 0),
    (7, 1),
    (7, 2),
    (7, 3),
    (7, 4),
    (7, 5),
    (7, 6),
    (7, 7),
    (7, 8),
    (8, 0),
    (8, 1),
    (8, 2),
    (8, 3),
    (8, 4),
    (8, 5),
    (8, 6),
    (8, 7),
    (8, 8),
];

pub fn trials() -> Vec<Trial> {
    vec![trial("ptx_table::since".to_owned(), since)]
}

/// Does ptxas take the line in a text of this version and architecture?
fn accepted(line: &str, version: Version, sm: u32) -> Result<bool, Failed> {
    let kit = compiler()?.toolchain().toolkits().first().ok_or("no ptxas")?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    // Some instructions are of one architecture alone: `sm_90a`.
    let target = format!("sm_{sm}{}", if sm >= 90 && version >= (8, 0) { "a" } else { "" });
    let text = tables::frame::module_with(line)
        .replace(".version 8.8", &format!(".version {}.{}", version.0, version.1))
        .replace("sm_100a", &target)
        // Later than most instructions, and named by few.
        .replace(".reg .b128 %q<4>;", "");
    let path = folder.path().join("form.ptx");
    std::fs::write(&path, text).map_err(|error| error.to_string())?;
    let mut command = Command::new(kit.root.join("bin/ptxas"));
    command.arg(format!("-arch={target}")).args(["-c", "form.ptx", "-o", "form.o"]);
    command.current_dir(folder.path());
    Ok(run_limited(&mut command, Duration::from_secs(30))?.status.success())
}

/// The forms that the tests know, by the row that reads them.
fn forms() -> BTreeMap<String, Vec<String>> {
    let mut forms: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let lines = tables::ACCEPTED.iter().flat_map(|(_, table)| table.lines());
    for line in lines.flat_map(tables::frame::expand).filter(|line| line.ends_with(';')) {
        let Ok(module) = cdp_ptx::parse(&tables::frame::module_with(&line)) else { continue };
        let kernel = module.functions.iter().find(|function| function.name == "k");
        let first = kernel.and_then(|kernel| kernel.body.as_ref()?.instructions.first());
        if let Some(instruction) = first {
            let debug = format!("{:?}", instruction.inst);
            let variant = debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            forms.entry(variant.to_owned()).or_default().push(line);
        }
    }
    forms
}

fn since() -> Outcome {
    let forms = forms();
    let mut wrong = Vec::new();
    for row in cdp_ptx::table::ROWS {
        let Some(&(version, sm)) = row.since.first() else { continue };
        // An instruction may have come to an older architecture with a later version.
        let mut first = None;
        'found: for (arch, of_arch) in ARCHITECTURES.iter().filter(|known| known.0 >= sm) {
            for form in forms.get(row.variant).into_iter().flatten() {
                let at = version.max(*of_arch);
                if accepted(form, at, *arch)? {
                    first = Some((form, at, *arch, *of_arch));
                    break 'found;
                }
            }
        }
        let Some((form, at, arch, of_arch)) = first.filter(|first| first.1 == version || sm < 75)
        else {
            wrong.push(format!("{}: no form is taken for {version:?} and sm_{sm}", row.variant));
            continue;
        };
        let before = VERSIONS.iter().rev().find(|known| **known < at && **known >= of_arch);
        if let Some(before) = before
            && accepted(form, *before, arch)?
        {
            wrong.push(format!("{}: `{form}` is taken for {before:?}", row.variant));
        }
        let older = ARCHITECTURES.iter().rev().find(|known| known.0 < sm);
        if let Some((older, _)) = older
            && accepted(form, (8, 8), *older)?
        {
            wrong.push(format!("{}: `{form}` is taken for sm_{older}", row.variant));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
