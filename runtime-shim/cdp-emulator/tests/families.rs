//! The page of instruction families, `compiler/docs/ptx.md`: what of PTX the CPU device runs, only reads,
//! or refuses. Made from the forms of the PTX ISA that `cdp-ptx` is tested with, each loaded here.

mod common;
#[allow(dead_code)]
#[path = "../../cdp-ptx/tests/tables/mod.rs"]
mod tables;

use std::collections::BTreeMap;
use std::fmt::Write;

use cdp_emulator::{Emulator, Error, Source};
use common::config;
use tables::frame::{expand, module_with};

/// The instruction's name: its opcode, with what makes it another instruction.
fn name(line: &str) -> String {
    let word = line.split([' ', ';']).find(|word| !word.starts_with('@')).unwrap_or("");
    let mut parts = word.split('.');
    let opcode = parts.next().unwrap_or("");
    let kin = ["cp", "mbarrier", "wmma", "bar", "barrier", "fence", "mma", "wgmma"];
    match parts.next() {
        Some(next) if kin.contains(&opcode) => format!("{opcode}.{next}"),
        _ => opcode.to_string(),
    }
}

fn page() -> String {
    let mut device = Emulator::new(config()).unwrap();
    let mut out = String::from(
        "# What of PTX the CPU device runs\n\n\
         Made from the forms of the PTX ISA (9.0) that the tests load; a test fails when it differs\n\
         (`CDP_BLESS=1 cargo test -p cdp-emulator --test families` writes it). A kernel that could come to\n\
         a form that is only read is refused at its launch, with the line; the others of its module run.\n\n\
         | family | runs | only read |\n| --- | --- | --- |\n",
    );
    for (family, table) in tables::ACCEPTED {
        let mut runs: BTreeMap<String, u32> = BTreeMap::new();
        let mut read: BTreeMap<String, String> = BTreeMap::new();
        let lines = table.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            for form in expand(line) {
                // Some lines are blocks and lists.
                if !form.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@') {
                    continue;
                }
                let text = module_with(&form);
                match device.load(&[Source { name: "form.ptx", text: &text }]) {
                    Err(Error::Unsupported { message, .. }) => {
                        read.entry(name(&form)).or_insert(message);
                    }
                    Err(Error::Parse { place, message }) => panic!("{form}: {place}: {message}"),
                    Ok(module) => {
                        let _ = device.unload(module);
                        *runs.entry(name(&form)).or_default() += 1;
                    }
                    Err(_) => *runs.entry(name(&form)).or_default() += 1,
                }
            }
        }
        let names: Vec<String> = runs.keys().map(|name| format!("`{name}`")).collect();
        let only: Vec<String> = read
            .iter()
            .map(|(name, why)| {
                let part = if runs.contains_key(name) { "some forms of " } else { "" };
                let why = why.replace('|', "\\|").replace('\n', " ");
                format!("{part}`{name}` ({why})")
            })
            .collect();
        let _ = writeln!(out, "| {family} | {} | {} |", names.join(" "), only.join("; "));
    }
    out += "\nRefused, as instructions that are not known are:\n\n";
    let unsupported = tables::refused::REFUSED.iter().find(|(name, _)| *name == "unsupported");
    for line in unsupported.map_or("", |(_, table)| table).lines().filter(|l| !l.is_empty()) {
        let word = line.split([' ', ';']).next().unwrap_or("");
        if !word.starts_with("nosuch") {
            let _ = writeln!(out, "- `{word}`");
        }
    }
    out
}

#[test]
fn the_page_of_families_is_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../compiler/docs/ptx.md");
    let page = page();
    if std::env::var_os("CDP_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(path, &page).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == page, "{path} is not what the device does; bless it:\n{page}");
}
