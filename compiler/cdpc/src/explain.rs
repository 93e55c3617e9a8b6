//! `cdpc explain`: the page of a diagnostic code, or the list of all codes.

use cdp::frontend::diagnostics::codes::{ALL, Code};

use crate::EXIT_USAGE;
use crate::common::print_all;

pub fn explain(code: Option<&str>) -> i32 {
    let Some(text) = code else {
        let list: String = ALL
            .iter()
            .map(|code| {
                let info = code.info();
                let name = info.name.map_or(String::new(), |name| format!("  (-W{name})"));
                format!("{}  {}{name}\n", info.code, info.title)
            })
            .collect();
        print_all(&list);
        return 0;
    };
    match Code::parse(text) {
        Some(code) => {
            let info = code.info();
            match code.page() {
                Some(page) => print_all(page),
                None => print_all(&format!("{}: {}\n", info.code, info.title)),
            }
            0
        }
        None => {
            eprintln!("error: there is no code `{text}`\n  help: `cdpc explain` lists all codes");
            EXIT_USAGE
        }
    }
}
