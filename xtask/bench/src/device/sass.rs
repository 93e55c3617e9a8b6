//! What a cubin tells of its kernels: machine instructions, registers, stack.

use std::collections::BTreeMap;
use std::path::Path;

use xtask::cargo::output;
use xtask::failure::Outcome;

use crate::tools::Tools;

/// The size of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Machine instructions, without those that fill up its end.
    pub instructions: u32,
    pub registers: u32,
    /// Local arrays and what did not fit into registers, in bytes.
    pub stack_bytes: u32,
}

/// The sizes of a cubin's kernels.
///
/// # Errors
/// When nvdisasm or cuobjdump is missing or does not read the file.
pub fn sizes(tools: &Tools, cubin: &Path) -> Outcome<BTreeMap<String, Size>> {
    let mut sizes = BTreeMap::new();
    let listing = output(tools.beside("nvdisasm").arg("-c").arg(cubin))?;
    count(&listing, &mut sizes);
    let usage = output(tools.beside("cuobjdump").arg("--dump-resource-usage").arg(cubin))?;
    resources(&usage, &mut sizes);
    // Helpers of the frame have mangled names; kernels have not.
    sizes.retain(|name, _| !name.starts_with('_') && !name.starts_with('$'));
    Ok(sizes)
}

/// Counts the instructions of each `.text.` section.
fn count(listing: &str, sizes: &mut BTreeMap<String, Size>) {
    let mut kernel: Option<String> = None;
    for line in listing.lines().map(str::trim_start) {
        if let Some(section) = line.strip_prefix(".section") {
            let name = section.trim_start().strip_prefix(".text.");
            kernel = name.and_then(|name| name.split(',').next()).map(str::to_owned);
        }
        let Some(name) = &kernel else { continue };
        let Some((_, instruction)) = line.strip_prefix("/*").and_then(|at| at.split_once("*/"))
        else {
            continue;
        };
        let instruction = instruction.trim_start();
        if instruction.starts_with(|first: char| first.is_ascii_uppercase() || first == '@')
            && !instruction.starts_with("NOP")
        {
            sizes.entry(name.clone()).or_default().instructions += 1;
        }
    }
}

/// Reads ` Function NAME:` and the line `  REG:12 STACK:0 ...` after it.
fn resources(usage: &str, sizes: &mut BTreeMap<String, Size>) {
    let mut kernel = None;
    for line in usage.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("Function ") {
            kernel = Some(name.trim_end_matches(':').to_owned());
        }
        let Some(size) = kernel.as_ref().and_then(|name| sizes.get_mut(name)) else { continue };
        for word in line.split_whitespace() {
            match word.split_once(':') {
                Some(("REG", number)) => size.registers = number.parse().unwrap_or(0),
                Some(("STACK", number)) => size.stack_bytes = number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_and_resources_are_read() {
        let listing = "\t.section\t.text.triad,\"ax\",@progbits\ntriad:\n\
            \t/*0000*/                   LDC R1, c[0x0][0x28] ;\n\
            \t/*0010*/              @!P0 EXIT ;\n\
            \t/*0020*/                   NOP;\n\
            \t.section\t.nv.info\n\t/*0000*/ .byte 0x04\n";
        let usage =
            "Resource usage:\n Common:\n  GLOBAL:0\n Function triad:\n  REG:12 STACK:8 SHARED:0\n";
        let mut sizes = BTreeMap::new();
        count(listing, &mut sizes);
        resources(usage, &mut sizes);
        let wanted = Size { instructions: 2, registers: 12, stack_bytes: 8 };
        assert_eq!(sizes, BTreeMap::from([("triad".to_owned(), wanted)]));
    }
}
