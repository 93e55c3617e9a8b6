//! The pages of the preprocessor's and parser's codes: each example raises its code and nothing
//! else, and each cure raises nothing. The checker's pages are tested with the checker.

use super::parse;
use crate::diagnostics::WarningOptions;
use crate::diagnostics::codes::{ALL, Code};

/// The blocks of a page in this language.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn ours(code: Code) -> bool {
    let name = code.info().code;
    // The parser does not know what the range of a `for` is.
    name != "E0229" && ["E01", "E02", "W01"].iter().any(|prefix| name.starts_with(prefix))
}

fn codes_of(text: &str) -> Vec<Code> {
    let (session, output) = parse(text);
    let mut options = WarningOptions::default();
    options.apply("unknown-pragma").expect("the warning exists");
    output.diagnostics.finish(&options, &session.sources).iter().map(|found| found.code).collect()
}

#[test]
fn every_example_raises_its_code_and_every_cure_is_clean() {
    for &code in ALL.iter().filter(|code| ours(**code)) {
        let page = code.page();
        let mut examples = blocks(page, "cdp");
        let cure = examples.pop().unwrap_or_else(|| panic!("{code} has no cure"));
        assert_eq!(codes_of(cure), [], "the cure of {code}");
        match examples.as_slice() {
            // Text that cannot stand in a page: invalid bytes, a file of gigabytes.
            [] => assert_eq!(blocks(page, "text").len(), 1, "{code} has no example"),
            [example] => assert_eq!(codes_of(example), [code], "the example of {code}"),
            _ => panic!("{code} has several examples"),
        }
    }
}
