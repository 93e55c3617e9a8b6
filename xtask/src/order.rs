//! `cargo xtask order`: which of LLVM's functions are to lie side by side in `cdpc`, as callgrind sees them called.
//!
//! What is absent: the linker's part (`compiler/cdpc/build.rs`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::cargo::{build_cdpc, in_path, output, root, target_dir};
use crate::failure::{Failure, Outcome};
use crate::files::{create, read, write};
use crate::ui::Ui;

/// What is compiled: the functions of the first come first, then those that the next calls beside them.
const PROGRAMS: [(&str, &str); 8] = [
    ("samples/hello.cdp", "ptx"),
    ("samples/bfs.cdp", "ptx"),
    ("samples/hello.cdp", "host-obj"),
    ("samples/nested/spmv.cdp", "ptx"),
    ("samples/nested/spanning.cdp", "host-obj"),
    ("samples/nested/mandelbrot.cdp", "ptx"),
    ("samples/nested/refine.cdp", "ptx"),
    ("samples/quicksort.cdp", "ptx"),
];
const ORDER: &str = "compiler/cdpc/functions.order";
/// Names that are longer are of instances of templates, few and short functions, and would be a quarter of the list.
const LONGEST_NAME: usize = 200;

/// Writes the list anew.
///
/// # Errors
/// Without valgrind, or when a program does not compile.
pub fn order(ui: &Ui) -> Outcome<ExitCode> {
    if in_path("valgrind").is_none() {
        return Err(Failure::new("`valgrind` is not there, which says what is called"));
    }
    let cdpc = build_cdpc()?;
    let places = places(&output(Command::new("nm").arg(&cdpc))?);
    let folder = target_dir()?.join("order");
    create(&folder)?;
    let (mut names, mut known) = (String::new(), BTreeSet::new());
    for (source, kind) in PROGRAMS {
        let step = ui.step(&format!("{source} to {kind}"));
        let seen = called(&cdpc, source, kind, &folder)?;
        let new = seen.into_iter().filter(|name| known.insert(name.clone()));
        let new: BTreeMap<u64, String> =
            new.filter_map(|name| Some((*places.get(&name)?, name))).collect();
        for name in new.values().filter(|name| is_listed(name)) {
            names += name;
            names.push('\n');
        }
        step.done();
    }
    write(&root().join(ORDER), names)?;
    Ok(ExitCode::SUCCESS)
}

/// The functions that compiling a program calls.
fn called(cdpc: &Path, source: &str, kind: &str, folder: &Path) -> Outcome<BTreeSet<String>> {
    let profile = folder.join("profile");
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind", "--demangle=no"]);
    command.arg(format!("--callgrind-out-file={}", profile.display())).arg(cdpc);
    command.arg("build").arg(root().join(source)).args(["--emit", kind, "-o"]);
    output(command.arg(folder.join("product")))?;
    Ok(functions(&String::from_utf8_lossy(&read(&profile)?)))
}

/// The names of functions in callgrind's file, where each stands in full once: `fn=(12) name`.
fn functions(profile: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let line = line.strip_prefix('c').unwrap_or(line).strip_prefix("fn=(")?;
        let (_, name) = line.split_once(") ")?;
        // `name'2` is one that calls itself.
        name.split('\'').next().map(str::to_owned)
    };
    profile.lines().filter_map(name).collect()
}

/// Functions and their addresses, as `nm` prints them.
fn places(symbols: &str) -> HashMap<String, u64> {
    let place = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
        is_code.then_some((words.next()?.to_owned(), address))
    };
    symbols.lines().filter_map(place).collect()
}

/// Whether a name stays what it is from build to build, as those of Rust's functions do not.
fn is_listed(name: &str) -> bool {
    let hash = name.rsplit_once("17h").map(|(_, hash)| hash);
    let is_rust = name.starts_with("_R")
        || name.contains(".llvm.")
        || hash.is_some_and(|hash| hash.len() == 17 && hash.ends_with('E'));
    !is_rust && name.len() <= LONGEST_NAME
}

#[cfg(test)]
mod tests {
    use super::{functions, is_listed, places};

    #[test]
    fn names_are_read_where_they_stand_in_full() {
        let profile =
            "fl=(1) a.c\nfn=(2) one\n16 3\ncfn=(3) two'2\ncalls=1 0\nfn=(2)\nfn=(40) two\n";
        assert_eq!(functions(profile).into_iter().collect::<Vec<_>>(), ["one", "two"]);
        let found = places("0010 T one\n         U free\n0020 d data\n00ff t two\n");
        assert_eq!((found.len(), found["one"], found["two"]), (2, 0x10, 0xff));
    }

    #[test]
    fn names_of_rust_are_left_out() {
        assert!(is_listed("_ZN4llvm4PassD2Ev") && is_listed("main"));
        for name in ["_RNvCs1_4cdpc4main", "_ZN4cdpc4main17h0123456789abcdefE", "_ZN1a1bE.llvm.12"]
        {
            assert!(!is_listed(name), "{name}");
        }
        assert!(!is_listed(&"x".repeat(300)));
    }
}
