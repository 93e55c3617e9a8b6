//! `cdpc explain`: the page of a diagnostic code, or the list of all codes.

use cdp_diagnostics::codes::{ALL, Code};

use crate::common::{Messages, Usage};

pub fn explain(code: Option<&str>) -> i32 {
    let messages = Messages::plain();
    let Some(text) = code else {
        let list: String = ALL
            .iter()
            .map(|code| {
                let info = code.info();
                let name = info.name.map_or(String::new(), |name| format!("  (-W{name})"));
                format!("{}  {}{name}\n", info.code, info.title)
            })
            .collect();
        return messages.print(&list);
    };
    match Code::parse(text) {
        Some(code) => messages.print(code.page()),
        None => {
            let message =
                format!("there is no code `{text}`\n  help: `cdpc explain` lists all codes");
            messages.usage(Usage(message))
        }
    }
}
