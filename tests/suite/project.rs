//! The papers of the project: what they name is there.

use libtest_mimic::Trial;

use crate::support::{Outcome, read, root, same, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("project::named_files_exist".into(), named_files),
        trial("project::readme_shows_the_sample".into(), first_program),
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
fn first_program() -> Outcome {
    let readme = read(&root().join("README.md"))?;
    let (_, rest) = readme.split_once("```cuda\n").ok_or("no program in the README")?;
    let (shown, _) = rest.split_once("```").ok_or("the program does not end")?;
    let sample = read(&root().join("samples/hello.cdp"))?;
    let code = sample.find("#include").map_or(sample.as_str(), |at| &sample[at..]);
    same("the README's first program", shown.trim(), code.trim())
}
