//! The language of the declarations: what its reader, a part of the build script, makes of them.

#[path = "../../../../build/declarations/mod.rs"]
mod declarations;

use crate::case_table::assert_table;
use declarations::{rows, types};

#[test]
fn functions_are_rows() {
    assert_table(include_str!("declaration_tests.txt"), 17, |text| {
        rows(&text.replace('@', "///"))
            .unwrap_or_else(|mistake| format!("{}: {}", mistake.line, mistake.text))
    });
}

#[test]
fn types_and_constants_are_rows() {
    assert_table(include_str!("type_tests.txt"), 7, |text| match types(text) {
        Ok(made) => made.types + &made.constants,
        Err(mistake) => format!("{}: {}", mistake.line, mistake.text),
    });
}
