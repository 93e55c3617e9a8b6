//! Makes the registry of codes of the pages that explain them.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// `OUT_DIR/codes.rs`: each code with its title and the place of its page, from `compiler/docs/codes`, which
/// `codes` is a link to, so that a package of this crate holds the pages.
fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let mut rows = String::new();
    for path in pages(&Path::new(&root).join("codes")) {
        let text = fs::read_to_string(&path).expect("pages are UTF-8");
        let heading =
            text.lines().next().and_then(|line| line.strip_prefix("# ")?.split_once(": "));
        let (code, title) = heading.expect("a page begins with `# E0412: title`");
        assert!(
            path.file_stem().is_some_and(|stem| stem == code),
            "{} is of {code}",
            path.display()
        );
        rows.push_str(&format!("    {code} {title:?} {:?};\n", path.display().to_string()));
    }
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let text = format!("codes! {{\n{rows}}}\n");
    fs::write(Path::new(&out).join("codes.rs"), text).expect("OUT_DIR is writable");
}

/// The pages in the order of their codes.
fn pages(folder: &Path) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut pages: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages.iter().for_each(|path| println!("cargo:rerun-if-changed={}", path.display()));
    pages
}
