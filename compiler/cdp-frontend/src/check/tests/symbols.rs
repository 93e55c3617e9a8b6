//! Symbol names, compared with those that nvcc 13.0 gives the same declarations.

use super::{accept, accept_with, host};
use crate::case_table::assert_table;

#[test]
fn symbols_are_those_of_nvcc() {
    assert_table(include_str!("symbols.txt"), 4, |text| {
        let (device, host) = (accept(text), accept_with(text, &host()));
        let functions = device.functions.iter().chain(&host.functions);
        let functions = functions.map(|made| format!("{} {}", made.name, made.symbol));
        let globals = device.globals.iter().map(|made| {
            let declared = if made.defined { "" } else { " declared" };
            format!("{}{declared} {}", made.symbol, made.align)
        });
        let mut lines: Vec<String> = Vec::new();
        for line in functions.chain(globals) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.join("\n")
    });
}
