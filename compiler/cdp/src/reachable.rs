//! Leaving out the functions of a program's PTX that no kernel reaches.
//!
//! A device function with external linkage stays in PTX after it was inlined everywhere, because another file may
//! call it. In a link of one input no other file is there and nvlink drops the function; until then ptxas has
//! compiled it, at a cost that may be most of a build's. So it goes before ptxas sees it.
//!
//! What is not here: kernels and variables, which the host finds by name, and what PTX means. A name that stands
//! anywhere outside the functions that go, as a callee, an operand or in an initialiser, keeps its function.

use std::collections::{HashMap, HashSet};

use cdp_llvm::outline::{Item, ItemKind, items};

/// The text without the functions, defined or declared, that nothing reachable mentions; `None` when there are none,
/// or when the text is not understood.
pub(crate) fn without_unreachable_functions(ptx: &str) -> Option<String> {
    if !defines_functions(ptx) {
        return None;
    }
    let items = items(ptx).ok()?;
    let is_understood = |item: &Item<'_>| item.is_complete && !item.name.is_empty();
    let (functions, others): (Vec<&Item<'_>>, Vec<&Item<'_>>) =
        items.iter().partition(|item| item.kind == ItemKind::Function);
    if !functions.iter().copied().all(is_understood) {
        return None;
    }
    let kept = reachable(&functions, &others);
    if functions.iter().all(|function| kept.contains(function.name)) {
        return None;
    }
    let mut out = String::with_capacity(ptx.len());
    let mut at = 0;
    for function in functions.iter().filter(|function| !kept.contains(function.name)) {
        out += &ptx[at..function.place.start];
        at = function.place.end;
    }
    Some(out + &ptx[at..])
}

/// Whether there is a function that is not only declared: most programs have none, and are not read further.
fn defines_functions(ptx: &str) -> bool {
    const EXTERN: &str = ".extern ";
    ptx.match_indices(".func").any(|(at, _)| !ptx[..at].ends_with(EXTERN))
}

/// Names of functions that what stands outside functions leads to.
fn reachable<'t>(functions: &[&Item<'t>], others: &[&Item<'t>]) -> HashSet<&'t str> {
    let mut mentions: HashMap<&str, Vec<&'t str>> = HashMap::new();
    for function in functions {
        // The names of a declaration's parameters are no one's.
        let mentioned = function.names().filter(|_| function.has_body);
        mentions.entry(function.name).or_default().extend(mentioned);
    }
    let mut kept = HashSet::new();
    let mut work: Vec<&str> = others.iter().flat_map(|item| item.names()).collect();
    while let Some(name) = work.pop() {
        if let Some(mentioned) = mentions.get(name)
            && kept.insert(name)
        {
            work.extend(mentioned);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without_unreachable_functions;

    const HEAD: &str = ".version 7.8\n.target sm_90\n.address_size 64\n";

    #[test]
    fn what_nothing_reaches_goes_with_its_declaration() {
        let lonely = ".visible .func lonely(\n.param .b32 p\n)\n{\n\t// { not a brace\n\tcall.uni other, ();\n}\n";
        let other = ".func  (.param .b32 r) other()\n{\n\tcall.uni lonely, (p);\n\tret;\n}\n";
        let kernel = ".visible .entry k(\n.param .u64 k_p\n)\n{\n\tret;\n}\n";
        let declared = ".func lonely(.param .b32 p);\n";
        let text = format!("{HEAD}{declared}{lonely}{other}{kernel}");
        let left = without_unreachable_functions(&text).expect("two functions go");
        assert!(left.starts_with(HEAD) && left.ends_with(kernel), "{left}");
        assert!(!left.contains("lonely") && !left.contains("other"), "{left}");
    }

    #[test]
    fn what_is_called_or_whose_address_is_taken_stays() {
        let callee = ".visible .func callee()\n{\n\tcall.uni deeper, ();\n}\n";
        let deeper = ".visible .func deeper()\n{\n\tret;\n}\n";
        let pointed = ".visible .func pointed()\n{\n\tret;\n}\n";
        let table = ".visible .global .align 8 .u64 table[1] = {pointed};\n";
        let kernel = ".visible .entry k()\n{\n\tcall.uni callee, ();\n}\n";
        let text = format!("{HEAD}{deeper}{callee}{pointed}{table}{kernel}");
        assert_eq!(without_unreachable_functions(&text), None);
        // A name that only begins alike, stands in a comment or in a string is another one.
        let none = format!(
            "{HEAD}{pointed}// pointed\n.file 1 \"pointed\"\n.global .u64 g = pointed2;\n{kernel}{callee}{deeper}"
        );
        let left = without_unreachable_functions(&none).expect("one function goes");
        assert!(!left.contains(".func pointed") && left.contains(".func deeper"), "{left}");
    }

    #[test]
    fn a_declaration_that_nobody_calls_any_more_goes_too() {
        let declared =
            ".extern .func  (.param .b32 r) cudaGetParameterBuffer\n(\n\t.param .b64 a\n)\n;\n";
        let uncalled = ".visible .func f()\n{\n\tcall.uni (r), cudaGetParameterBuffer, (a);\n}\n";
        let kernel = ".visible .entry k()\n{\n\tret;\n}\n";
        let left = without_unreachable_functions(&format!("{HEAD}{declared}{uncalled}{kernel}"));
        assert_eq!(left.map(|text| text.contains("cudaGet")), Some(false));
        assert_eq!(without_unreachable_functions(&format!("{HEAD}{declared}{kernel}")), None);
    }

    #[test]
    fn broken_text_is_left_to_ptxas() {
        for broken in
            [".func", ".func f() {", ".func f(", ".func f)", ".func f() { /* }", "\" .func"]
        {
            assert_eq!(without_unreachable_functions(broken), None, "{broken}");
        }
    }
}
