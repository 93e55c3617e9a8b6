//! Kernels that the launch optimiser has limited to few registers, so that blocks of any size have room, and that call
//! functions which take more.
//!
//! In relocatable code ptxas gives each function the registers that it likes, and refuses a kernel whose limit is lower.
//! Without that limit such a kernel has as many as the function, as it had before it got its children's code: blocks that
//! have no room then had none before. Which functions take how many, ptxas alone knows.

use std::collections::BTreeMap;

use cdp_launch::limits::REGISTERS_OF_LARGEST_BLOCK;

/// PTX of the optimiser in which kernels that ptxas has refused for what they call are limited to what that takes; `None` if
/// what it said is of something else, or of limits that the program asks for.
pub(crate) fn raised(ptx: &str, said: &str) -> Option<String> {
    if !cdp_image::launches::are_optimised(ptx) {
        return None;
    }
    let mut wanted: BTreeMap<&str, u32> = BTreeMap::new();
    for (kernel, registers) in said.lines().filter_map(refusal) {
        let most = wanted.entry(kernel).or_default();
        *most = registers.max(*most);
    }
    let mut text = ptx.to_owned();
    for (kernel, registers) in &wanted {
        raise(&mut text, kernel, *registers)?;
    }
    (!wanted.is_empty()).then_some(text)
}

/// `Entry function 'K' with max regcount of 64 calls function 'F' with regcount of 102`: the kernel and the last number.
fn refusal(line: &str) -> Option<(&str, u32)> {
    let (_, rest) = line.split_once("Entry function '")?;
    let (kernel, rest) = rest.split_once("' with max regcount of ")?;
    let (_, registers) = rest.rsplit_once(" with regcount of ")?;
    Some((kernel, registers.trim().parse().ok()?))
}

fn raise(text: &mut String, kernel: &str, registers: u32) -> Option<()> {
    let name = format!(".entry {kernel}(");
    let limit = format!(".maxnreg {REGISTERS_OF_LARGEST_BLOCK}");
    let at = text.match_indices(&name).find_map(|(from, _)| {
        // What ends before a body begins is a declaration.
        let header = text[from..].split(['{', ';']).next()?;
        Some(from + header.find(&limit)?)
    })?;
    text.replace_range(at..at + limit.len(), &format!(".maxnreg {registers}"));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "ptxas error   : Entry function 'a' with max regcount of 64 calls function 'f' with regcount of 102\n\
        ptxas error   : Entry function 'ab' with max regcount of 64 calls function 'f' with regcount of 102\n\
        ptxas error   : Entry function 'a' with max regcount of 64 calls function 'g' with regcount of 254\n";

    fn program(of_b: u32) -> String {
        cdp_image::launches::mark_optimised(&format!(
            ".visible .entry a()\n;\n.visible .entry ab(\n\t.param .u64 p\n)\n.maxnreg {of_b}\n{{ ret; }}\n.visible .entry a()\n\
             .maxnreg 64\n{{ ret; }}\n.entry c()\n.maxnreg 64\n{{ ret; }}\n"
        ))
    }

    #[test]
    fn kernels_have_what_their_functions_take() {
        let text = raised(&program(64), SAID).unwrap();
        let limits: Vec<&str> = text.lines().filter(|line| line.starts_with(".maxnreg")).collect();
        assert_eq!(limits, [".maxnreg 102", ".maxnreg 254", ".maxnreg 64"]);
    }

    #[test]
    fn what_the_program_asks_for_stays() {
        assert_eq!(raised(&program(32), SAID), None);
        let program = program(64);
        assert_eq!(raised(program.trim_start_matches("// Some"), SAID), None);
        assert_eq!(raised(&program, "ptxas fatal   : Memory allocation failure\n"), None);
    }
}
