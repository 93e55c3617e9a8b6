//! Lists the pages of `compiler/docs/codes` for `cdpc explain`, and says how the program is linked.

use std::path::Path;

fn main() {
    // LLVM has 80,000 addresses in its tables. A program at a fixed address does not relocate them
    // at every start, which is a quarter of the time that a small file takes.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/codes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages: Vec<_> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    let mut text = String::from("/// (code, page), by code.\nconst PAGES: &[(&str, &str)] = &[\n");
    for path in pages {
        let code = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let path = path.canonicalize().unwrap_or(path);
        text += &format!("    ({code:?}, include_str!({:?})),\n", path.display().to_string());
    }
    text += "];\n";
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    if let Err(error) = std::fs::write(Path::new(&out).join("pages.rs"), text) {
        println!("cargo::error=cannot write the list of pages: {error}");
    }
}
