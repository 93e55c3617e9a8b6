//! Generates the parser of `#if` lines from its grammar, and the tables of CUDA's functions, types
//! and constants from their declarations.

use std::path::{Path, PathBuf};
use std::{env, fs};

mod declarations;

use declarations::Mistake;

fn main() {
    lalrpop::Configuration::new()
        .emit_rerun_directives(true)
        .use_cargo_dir_conventions()
        .process()
        .expect("the grammar has conflicts: see the report above");
    write_functions();
    write_types();
}

/// `OUT_DIR/functions.rs`: for each file of declarations a constant of its name in capitals.
fn write_functions() {
    let mut tables = String::new();
    for path in files(Path::new("src/check/builtins/functions"), "cuh") {
        let rows = read(&path, declarations::rows);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_uppercase();
        tables.push_str(&format!("const {stem}: &[BuiltinFn] = &[\n{rows}];\n"));
    }
    write("functions.rs", &tables);
}

/// `OUT_DIR/types.rs` and `OUT_DIR/constants.rs`: expressions of the types and constants of all files.
fn write_types() {
    let (mut types, mut constants) = (String::new(), String::new());
    for path in files(Path::new("src/check/builtins/types"), "cuh") {
        let declared = read(&path, declarations::types);
        types.push_str(&declared.types);
        constants.push_str(&declared.constants);
    }
    write("types.rs", &format!("&[\n{types}]\n"));
    write("constants.rs", &format!("&[\n{constants}]\n"));
}

/// The files of a folder with this ending, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    files.sort();
    files.iter().for_each(|path| println!("cargo:rerun-if-changed={}", path.display()));
    files
}

/// What is made of a file.
fn read<T>(path: &Path, make: fn(&str) -> Result<T, Mistake>) -> T {
    let text = fs::read_to_string(path).expect("declarations are UTF-8");
    make(&text)
        .unwrap_or_else(|mistake| panic!("{}:{}: {}", path.display(), mistake.line, mistake.text))
}

fn write(name: &str, text: &str) {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join(name), text).expect("OUT_DIR is writable");
}
