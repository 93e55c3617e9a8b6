//! The papers of the project: what they name is there.

use libtest_mimic::Trial;

use std::path::{Path, PathBuf};

use cdp_ir::RuntimeFn;
use cdp_ir::runtime::{Availability, RUNTIME_TABLE};

use crate::support::{Outcome, read, root, same, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("project::named_files_exist".into(), named_files),
        trial("project::readme_shows_the_sample".into(), first_program),
        trial("project::device_functions_have_one_home".into(), device_functions),
        trial("project::families_are_described".into(), families),
    ]
}

const PAPERS: [&str; 5] =
    ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "compiler/ARCHITECTURE.md"];
const FOLDERS: [&str; 5] = ["compiler/", "runtime-shim/", "samples/", "tests/", "xtask/"];

/// Paths from the root in code marks, and the targets of links.
fn named_files() -> Outcome {
    let mut missing = Vec::new();
    for paper in PAPERS {
        let text = read(&root().join(paper))?;
        let folder = root().join(paper).parent().map(std::path::Path::to_owned).unwrap_or_default();
        let marked = text.split('`').skip(1).step_by(2);
        let is_path = |word: &&str| {
            FOLDERS.iter().any(|folder| word.starts_with(folder))
                && !word.contains([' ', '*', '{', '<'])
                && !word.contains("NAME")
        };
        missing.extend(
            marked
                .filter(is_path)
                .filter(|path| !root().join(path).exists())
                .map(|path| format!("{paper}: {path}")),
        );
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        missing.extend(
            links
                .filter(|link| !link.is_empty() && !link.contains("://"))
                .filter(|link| !folder.join(link).exists())
                .map(|link| format!("{paper}: {link}")),
        );
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("named and not there:\n{}", missing.join("\n")).into())
}

/// The README's first program is the sample, word for word.
/// Each folder of cases is a family of the table in ARCHITECTURE.md.
fn families() -> Outcome {
    let text = read(&root().join("compiler/ARCHITECTURE.md"))?;
    let rows = text.split_once("\n## Tests\n").map_or("", |(_, rest)| rest).lines();
    let first =
        rows.filter_map(|row| row.strip_prefix("| ")?.split(" | ").next()).collect::<Vec<_>>();
    let is_named = |name: &str| first.iter().any(|cell| cell.contains(&format!("`{name}`")));
    let folders =
        std::fs::read_dir(root().join("tests/cases")).map_err(|error| error.to_string())?;
    let names = folders.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let missing: Vec<String> = names.filter(|name| !is_named(name)).collect();
    assert!(missing.is_empty() && first.len() > 10, "{missing:?}");
    Ok(())
}

fn first_program() -> Outcome {
    let readme = read(&root().join("README.md"))?;
    let (_, rest) = readme.split_once("```cuda\n").ok_or("no program in the README")?;
    let (shown, _) = rest.split_once("```").ok_or("the program does not end")?;
    let sample = read(&root().join("samples/hello.cdp"))?;
    let code = sample.find("#include").map_or(sample.as_str(), |at| &sample[at..]);
    same("the README's first program", shown.trim(), code.trim())
}

/// The sources of all crates, their tests apart.
fn sources() -> Vec<PathBuf> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let test =
                path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
            if path.is_dir() && !test {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !test {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    for group in ["compiler", "runtime-shim"] {
        for krate in std::fs::read_dir(root().join(group)).into_iter().flatten().flatten() {
            collect(&krate.path().join("src"), &mut found);
        }
    }
    found
}

/// A function of the device runtime is a row of `cdp_ir`'s table. Beside that, what the CPU device does, and
/// a case, nobody spells its name: four places with the CPU device's own table, which judges ours. Calls of host code with the same name have their own.
fn device_functions() -> Outcome {
    let texts: Vec<(PathBuf, String)> = sources()
        .into_iter()
        .map(|path| {
            let text = read(&path)?;
            let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
            Ok((path, code))
        })
        .collect::<Result<_, libtest_mimic::Failed>>()?;
    if texts.len() < 300 {
        return Err(format!("only {} sources found", texts.len()).into());
    }
    let host = read(&root().join("runtime-shim/cdp-runtime/src/capi/calls.rs"))?;
    let mut wrong = Vec::new();
    for row in RUNTIME_TABLE {
        use RuntimeFn::*;
        // `cdp-launch` has the entry points of launches, which tools explain.
        let entry = matches!(
            row.func,
            GetParameterBuffer | GetParameterBufferV2 | LaunchDevice | LaunchDeviceV2
        );
        if entry || row.availability == Availability::Cdp1 || host.contains(row.name) {
            continue;
        }
        let literal = format!("\"{}\"", row.name);
        let places = texts.iter().filter(|(_, text)| text.contains(&literal));
        wrong.extend(places.map(|(path, _)| format!("{}: {literal}", path.display())));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
