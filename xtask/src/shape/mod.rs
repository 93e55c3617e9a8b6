//! `cargo xtask shape`: lines by crate, the largest files, and circles between the modules of a crate.
//!
//! A module uses another if it names a path to an item there; what a module makes public of another's is
//! the other's. Methods are not followed: they belong to their type. Tests are left out.

mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use self::paths::Names;
use crate::cargo::root;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::table::{Align, table};
use crate::ui::Ui;

/// Lines that a file may have, if it is no table.
const MOST_LINES: usize = 600;
/// Modules that may use each other in a circle.
const MOST_IN_CIRCLE: usize = 4;
/// Files that are one table.
const TABLES: [&str; 1] = ["runtime-shim/cdp-ptx/src/table.rs"];

/// Options of `shape`.
#[derive(Args)]
pub struct ShapeOptions {
    /// Show the modules of this crate with what they use
    #[arg(long, value_name = "CRATE")]
    uses: Option<String>,
}

/// A module that is a file.
#[derive(Debug)]
struct Module {
    /// `check::expr`, empty for the root.
    path: String,
    /// From the repository's root.
    file: PathBuf,
    /// All its lines.
    lines: usize,
    names: Names,
}

/// A crate with its modules.
#[derive(Debug)]
struct Crate {
    name: String,
    modules: BTreeMap<String, Module>,
}

/// Shows the shape of all crates.
///
/// # Errors
/// When a source cannot be read.
pub fn shape(ui: &Ui, options: &ShapeOptions) -> Outcome<ExitCode> {
    let crates = crates()?;
    if let Some(wanted) = &options.uses {
        let Some(one) = crates.iter().find(|one| one.name == *wanted) else {
            return Err(Failure::new(format!("no crate `{wanted}`")));
        };
        for (from, to) in one.uses() {
            let to: Vec<&str> = to.iter().map(|to| shown(to)).collect();
            ui.line(&format!("{} -> {}", shown(&from), to.join(", ")));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = vec![["crate", "lines", "modules", "largest circle"].map(String::from).to_vec()];
    for one in &crates {
        let circle = one.circles().into_iter().map(|circle| circle.len()).max().unwrap_or(0);
        let lines: usize = one.modules.values().map(|module| module.lines).sum();
        rows.push(vec![
            one.name.clone(),
            lines.to_string(),
            one.modules.len().to_string(),
            if circle == 0 { "none".to_owned() } else { circle.to_string() },
        ]);
    }
    for line in table(&[Align::Left, Align::Right, Align::Right, Align::Right], &rows) {
        ui.line(&line);
    }
    let complaints = complaints(&crates);
    for complaint in &complaints {
        ui.line(complaint);
    }
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn shown(module: &str) -> &str {
    if module.is_empty() { "the root" } else { module }
}

/// What is larger than it may be.
fn complaints(crates: &[Crate]) -> Vec<String> {
    let mut found = Vec::new();
    for one in crates {
        for module in one.modules.values() {
            let is_table = TABLES.iter().any(|table| module.file.ends_with(table));
            if module.lines > MOST_LINES && !is_table {
                found.push(format!("{}: {} lines", module.file.display(), module.lines));
            }
        }
        for circle in one.circles().into_iter().filter(|circle| circle.len() > MOST_IN_CIRCLE) {
            let names: Vec<&str> = circle.iter().map(|name| shown(name)).collect();
            found.push(format!("{}: a circle of {}: {}", one.name, names.len(), names.join(", ")));
        }
    }
    found
}

/// All library and program crates of the repository.
fn crates() -> Outcome<Vec<Crate>> {
    let mut found = Vec::new();
    for group in ["compiler", "runtime-shim", "xtask", ""] {
        for folder in files::entries(&root().join(group))? {
            let source = folder.join("src");
            let top = ["lib.rs", "main.rs"].map(|name| source.join(name));
            let Some(top) = top.into_iter().find(|top| top.is_file()) else { continue };
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut one = Crate { name, modules: BTreeMap::new() };
            one.read(&top, &source, "")?;
            found.push(one);
        }
    }
    Ok(found)
}

impl Crate {
    /// Reads a module and those below it, whose files lie in `folder`.
    fn read(&mut self, file: &Path, folder: &Path, path: &str) -> Outcome<()> {
        let text = String::from_utf8_lossy(&files::read(file)?).into_owned();
        let names = paths::read(&text);
        for child in &names.children {
            let own = folder.join(child);
            let beside = folder.join(format!("{child}.rs"));
            let file = if beside.is_file() { beside } else { own.join("mod.rs") };
            // A child may be for tests, or another system's.
            if file.is_file() {
                self.read(&file, &own, &joined(path, child))?;
            }
        }
        let lines = text.lines().count();
        let file = file.strip_prefix(root()).unwrap_or(file).to_owned();
        self.modules.insert(path.to_owned(), Module { path: path.to_owned(), file, lines, names });
        Ok(())
    }

    /// The modules that each module uses.
    fn uses(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut uses = BTreeMap::new();
        for (path, module) in &self.modules {
            let mut to = BTreeSet::new();
            for import in module.names.imports.iter().filter(|import| !import.public) {
                to.extend(self.resolve(module, &import.path, 0));
            }
            to.retain(|to| !is_above(to, path));
            uses.insert(path.clone(), to);
        }
        uses
    }

    /// The module that a path in `from` leads to, if it is one of this crate.
    fn resolve(&self, from: &Module, path: &[String], depth: u32) -> Option<String> {
        let (first, rest) = path.split_first()?;
        let (start, rest) = match first.as_str() {
            "crate" => (self.modules.get("")?, rest),
            "self" => (from, rest),
            "super" => (self.modules.get(parent(&from.path))?, rest),
            name if from.names.children.iter().any(|child| child == name) => (from, path),
            _ => return None,
        };
        self.walk(start, rest, depth)
    }

    /// The module that a path from `at` leads to.
    fn walk(&self, at: &Module, path: &[String], depth: u32) -> Option<String> {
        // Imports may go round.
        if depth > 8 {
            return None;
        }
        let Some((first, rest)) = path.split_first() else { return Some(at.path.clone()) };
        if first == "super" {
            return self.walk(self.modules.get(parent(&at.path))?, rest, depth);
        }
        if let Some(child) = self.modules.get(&joined(&at.path, first)) {
            return self.walk(child, rest, depth);
        }
        if first == "*" || at.names.items.contains(first) {
            return Some(at.path.clone());
        }
        let imports = || at.names.imports.iter().filter(|import| import.name.is_some());
        let named = imports().find(|import| import.name.as_ref() == Some(first));
        if let Some(import) = named {
            let whole: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return self.resolve(at, &whole, depth + 1);
        }
        imports().filter(|import| import.path.last().is_some_and(|last| last == "*")).find_map(
            |import| {
                let (_, path) = import.path.split_last()?;
                let whole: Vec<String> = path.iter().chain([first]).cloned().collect();
                self.resolve(at, &whole, depth + 1)
            },
        )
    }

    /// The modules of each circle: those of which each leads to each.
    fn circles(&self) -> Vec<Vec<String>> {
        let uses = self.uses();
        let reached: BTreeMap<&String, BTreeSet<&String>> =
            uses.keys().map(|from| (from, reached(&uses, from))).collect();
        let mut circles: Vec<Vec<String>> = Vec::new();
        for from in uses.keys() {
            let known = circles.iter().any(|circle| circle.contains(from));
            let back = |to: &&&String| reached[**to].contains(from);
            let circle: Vec<String> =
                reached[from].iter().filter(back).map(|to| (*to).clone()).collect();
            if !known && circle.len() > 1 {
                circles.push(circle);
            }
        }
        circles
    }
}

/// What a module leads to, over one use or more.
fn reached<'u>(
    uses: &'u BTreeMap<String, BTreeSet<String>>,
    from: &String,
) -> BTreeSet<&'u String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&String> = uses[from].iter().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(&uses[next]);
        }
    }
    reached
}

fn joined(path: &str, child: &str) -> String {
    if path.is_empty() { child.to_owned() } else { format!("{path}::{child}") }
}

/// The module is the other, or one of the rooms that it stands in.
fn is_above(module: &str, other: &str) -> bool {
    module.is_empty()
        || other.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn parent(path: &str) -> &str {
    path.rsplit_once("::").map_or("", |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(sources: &[(&str, &str)]) -> Crate {
        let modules = sources.iter().map(|(path, source)| {
            let names = paths::read(source);
            let module = Module { path: (*path).to_owned(), file: PathBuf::new(), lines: 1, names };
            ((*path).to_owned(), module)
        });
        Crate { name: "made".to_owned(), modules: modules.collect() }
    }

    #[test]
    fn circles_are_found_through_what_others_make_public() {
        let one = made(&[
            ("", "mod a; mod b; pub use b::B; fn main() { a::f(); }"),
            ("a", "use crate::B; pub fn f() {}"),
            ("b", "mod c; pub struct B; fn g() { c::h() }"),
            ("b::c", "pub fn h() { super::super::a::f() }"),
        ]);
        assert_eq!(one.circles(), [["a", "b", "b::c"]]);
        let uses = one.uses();
        assert_eq!(uses[""].iter().collect::<Vec<_>>(), ["a"], "making public is no use");
        assert!(uses["b::c"].contains("a"));
        let none =
            made(&[("", "mod a; use a::*; pub struct B;"), ("a", "use std::fmt; pub struct C;")]);
        assert!(none.circles().is_empty());
    }

    #[test]
    fn nothing_is_larger_than_it_may_be() {
        let crates = crates().unwrap();
        assert!(crates.len() > 15, "only {} crates found", crates.len());
        let complaints = complaints(&crates);
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}
