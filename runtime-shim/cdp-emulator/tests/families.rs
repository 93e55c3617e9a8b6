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

const MODULE: &str = ".version 8.8
.target sm_100a
.address_size 64
.global .align 16 .b8 gv[64];
.const .align 16 .b8 cv[64];
.shared .align 16 .b8 sv[64];
.func (.param .b32 rr) fun (.param .b32 aa) { ret; }
.func (.reg .b32 rr) regfun (.reg .b32 aa, .reg .f32 bb) { ret; }
.func plain () { ret; }
.visible .entry k(.param .align 16 .b8 kp[64])
{
  .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .b128 %q<4>;
  .reg .f32 %f<16>; .reg .f64 %d<8>; .reg .v4 .b32 vec;
  .local .align 16 .b8 lv[64];
  .param .b32 a0; .param .b32 r0;
L1:
  targets: .branchtargets L1, L2;
  proto: .callprototype (.param .b32 _) _ (.param .b32 _);
  callees: .calltargets fun;
  LINE
L2:
  ret;
}
";

fn expand(template: &str) -> Vec<String> {
    let group =
        template.find('{').and_then(|open| Some((open, open + template[open..].find('}')?)));
    let Some((open, close)) = group else {
        return vec![template.replace('<', "{").replace('>', "}")];
    };
    let words = template[open + 1..close].split('|');
    words
        .flat_map(|word| expand(&format!("{}{word}{}", &template[..open], &template[close + 1..])))
        .collect()
}

/// The instruction's name: its opcode, with what makes it another instruction.
fn name(line: &str) -> String {
    let word = line.split([' ', ';']).find(|word| !word.starts_with('@')).unwrap_or("");
    let mut parts = word.split('.');
    let opcode = parts.next().unwrap_or("");
    let kin = ["cp", "mbarrier", "wmma", "bar", "barrier", "fence", "mma"];
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
                let text = MODULE.replace("LINE", &form);
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
    let unsupported = tables::REFUSED.iter().find(|(name, _)| *name == "unsupported");
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
