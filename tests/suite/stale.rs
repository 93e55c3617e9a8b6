//! Whether the runtime library that tests link programs with is of the sources beside it. `cargo test` builds what the
//! suite itself is made of, which the library is no part of: an old one would be judged in its sources' place. It
//! builds nothing, and says nothing of a library that somebody named and that cargo did not make.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use libtest_mimic::Trial;

use crate::run::runtime_archive;
use crate::support::{Outcome, trial};

const CURE: &str = "`cargo build -p cdp-runtime` makes it, `cargo xtask test` does so by itself";

pub fn trials() -> Vec<Trial> {
    vec![trial("project::old_runtime_library".into(), finds_old_libraries)]
}

/// Ends the suite, with the cure, where programs would be linked with a library that is missing or old.
pub fn require_runtime() {
    let complaint = match runtime_archive() {
        None => Some("libcdp_runtime.a is not beside the tests".to_owned()),
        Some(archive) => newer_source(&archive)
            .map(|source| format!("{} is older than {}", archive.display(), source.display())),
    };
    if let Some(complaint) = complaint {
        eprintln!("error: {complaint}, and tests link programs with it\n  help: {CURE}");
        std::process::exit(2);
    }
}

/// A source that was changed, or went, after the archive was made of it, by what cargo wrote beside the archive: its name, a
/// colon, and all sources with a backslash before each space in them.
fn newer_source(archive: &Path) -> Option<PathBuf> {
    let made = modified(archive)?;
    let rule = std::fs::read_to_string(archive.with_extension("d")).ok()?;
    let (_, sources) = rule.split_once(": ")?;
    let marked = sources.trim_end().replace("\\ ", "\0");
    let mut paths = marked.split(' ').map(|path| PathBuf::from(path.replace('\0', " ")));
    paths.find(|path| modified(path).is_none_or(|changed| changed > made))
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

fn finds_old_libraries() -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let [archive, first, second] =
        ["lib.a", "one.rs", "two words.rs"].map(|name| folder.path().join(name));
    let escaped = second.display().to_string().replace(' ', "\\ ");
    let rule = format!("{}: {} {escaped}\n", archive.display(), first.display());
    let made = SystemTime::now() - Duration::from_secs(1000);
    let write = |path: &Path, text: &str, seconds: u64| -> Result<(), std::io::Error> {
        std::fs::write(path, text)?;
        let file = std::fs::File::options().write(true).open(path)?;
        file.set_modified(made + Duration::from_secs(seconds))
    };
    let expect = |wanted: Option<&Path>| match newer_source(&archive) {
        found if found.as_deref() == wanted => Ok(()),
        found => Err(format!("{wanted:?} was changed, {found:?} is found")),
    };
    write(&archive, "", 10)?;
    write(&first, "", 0)?;
    write(&second, "", 20)?;
    expect(None)?; // Nothing says what it is made of.
    write(&folder.path().join("lib.d"), &rule, 0)?;
    expect(Some(&second))?;
    write(&second, "", 5)?;
    expect(None)?;
    std::fs::remove_file(&first)?;
    expect(Some(&first))?;
    Ok(())
}
