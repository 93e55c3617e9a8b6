//! Mending PTX of other compilers: kernels of other files that are declared as functions.
//!
//! `.extern .func child` assembles, and nvlink then refuses the program ("not declared __global__ in
//! all source files", FACTS.md). A declared function whose address is taken, which is never called
//! and returns nothing, can only be such a kernel.

/// Turns those declarations into `.extern .entry`; the text otherwise stays as it is.
pub fn mend_extern_kernels(ptx: &str) -> String {
    let mut out = ptx.to_string();
    for name in extern_functions(ptx) {
        if !is_called(ptx, name) && is_mentioned_outside_its_declaration(ptx, name) {
            out = declare_as_entry(&out, name);
        }
    }
    out
}

const DECLARATION: &str = ".extern .func";

/// Names declared `.extern .func NAME`, without a return value.
fn extern_functions(ptx: &str) -> Vec<&str> {
    ptx.match_indices(DECLARATION)
        .filter_map(|(at, _)| {
            let rest = ptx[at + DECLARATION.len()..].trim_start();
            let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
            (end > 0).then(|| &rest[..end])
        })
        .collect()
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.')
}

/// Where a name stands as a word.
fn words<'t>(ptx: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    ptx.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let before = ptx[..*at].chars().next_back();
        let after = ptx[at + name.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    })
}

/// The statement around a place: from the last `;` or brace to the next.
fn statement(ptx: &str, at: usize) -> &str {
    let start = ptx[..at].rfind([';', '{', '}']).map_or(0, |found| found + 1);
    let end = ptx[at..].find([';', '{']).map_or(ptx.len(), |found| at + found);
    &ptx[start..end]
}

fn is_called(ptx: &str, name: &str) -> bool {
    // The callee of `call (ret), name, (args);` may follow a parenthesis in braces of its own, so
    // the nearest `call` before it counts.
    words(ptx, name).any(|at| {
        let line_start = ptx[..at].rfind(';').map_or(0, |found| found + 1);
        ptx[line_start..at].split_whitespace().any(|word| word.starts_with("call"))
    })
}

fn is_mentioned_outside_its_declaration(ptx: &str, name: &str) -> bool {
    words(ptx, name).any(|at| !statement(ptx, at).contains(DECLARATION))
}

fn declare_as_entry(ptx: &str, name: &str) -> String {
    for (at, _) in ptx.match_indices(DECLARATION) {
        let rest = &ptx[at + DECLARATION.len()..];
        let trimmed = rest.trim_start();
        let ends = trimmed.strip_prefix(name).is_some_and(|tail| !tail.starts_with(is_name));
        if ends {
            return format!("{}.extern .entry{rest}", &ptx[..at]);
        }
    }
    ptx.to_string()
}

#[cfg(test)]
mod tests {
    use super::mend_extern_kernels;

    #[test]
    fn a_kernel_whose_address_is_taken_becomes_an_entry() {
        let ptx = ".extern .func child\n(\n.param .b64 child_param_0\n)\n;\n.extern .func helper ()\n;\n\
                   .visible .entry parent()\n{\n mov.b64 %rd1, child;\n call.uni helper, ();\n}\n";
        let mended = mend_extern_kernels(ptx);
        assert!(mended.contains(".extern .entry child\n"), "{mended}");
        assert!(mended.contains(".extern .func helper"), "{mended}");
    }

    #[test]
    fn functions_with_results_and_defined_ones_stay() {
        let ptx =
            ".extern .func (.param .b32 r) f ()\n;\n.visible .func g ()\n{\n mov.b64 %rd1, g;\n}\n";
        assert_eq!(mend_extern_kernels(ptx), ptx);
    }
}
