//! Generates the parser of `#if` lines from its grammar, the tables of CUDA's functions from their
//! declarations, and a table of the pages that explain the codes.

use std::path::Path;
use std::{env, fs};

mod declarations;

fn main() {
    lalrpop::Configuration::new()
        .emit_rerun_directives(true)
        .use_cargo_dir_conventions()
        .process()
        .expect("the grammar has conflicts: see the report above");
    write_pages();
    write_functions();
}

/// `OUT_DIR/functions.rs`: for each file of declarations a constant of its name in capitals.
fn write_functions() {
    let folder = Path::new("src/check/builtins/functions");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut tables = String::new();
    for entry in fs::read_dir(folder).expect("the folder of declarations is there").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "cuh") {
            continue;
        }
        println!("cargo:rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).expect("declarations are UTF-8");
        let rows = declarations::rows(&text).unwrap_or_else(|mistake| {
            panic!("{}:{}: {}", path.display(), mistake.line, mistake.text)
        });
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_uppercase();
        tables.push_str(&format!("const {stem}: &[BuiltinFn] = &[\n{rows}];\n"));
    }
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("functions.rs"), tables).expect("OUT_DIR is writable");
}

/// `OUT_DIR/pages.rs`: a sorted array of (code, text) from `compiler/docs/codes`, which `codes` is a link
/// to, so that a package of this crate holds the pages.
fn write_pages() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let folder = Path::new(&root).join("codes");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder).expect("the folder of code pages is there").flatten() {
        let path = entry.path();
        if let (Some("md"), Some(code)) = (
            path.extension().and_then(|extension| extension.to_str()),
            path.file_stem().and_then(|stem| stem.to_str()),
        ) {
            println!("cargo:rerun-if-changed={}", path.display());
            pages.push((code.to_owned(), path.display().to_string()));
        }
    }
    pages.sort();
    let rows: String = pages
        .iter()
        .map(|(code, path)| format!("    ({code:?}, include_str!({path:?})),\n"))
        .collect();
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("pages.rs"), format!("&[\n{rows}]\n"))
        .expect("OUT_DIR is writable");
}
