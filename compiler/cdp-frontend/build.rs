//! Generates the parser of `#if` lines from its grammar, and a table of the pages that explain the codes.

use std::path::Path;
use std::{env, fs};

fn main() {
    lalrpop::Configuration::new()
        .emit_rerun_directives(true)
        .use_cargo_dir_conventions()
        .process()
        .expect("the grammar has conflicts: see the report above");
    write_pages();
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
