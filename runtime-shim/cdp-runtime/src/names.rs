//! Kernel names: which kernels a PTX text has, and which of them a user means.

/// Symbols of the kernels that a PTX text defines, in its order. Reads `.entry` directives only, so it
/// also works on PTX that this crate's parser would refuse.
pub fn ptx_kernels(text: &str) -> Vec<String> {
    let mut kernels = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or("");
        let Some(at) = line.find(".entry") else { continue };
        if line[..at].contains(".extern") {
            continue;
        }
        let rest = line[at + ".entry".len()..].trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
        let name = &rest[..end.unwrap_or(rest.len())];
        if !name.is_empty() && !kernels.iter().any(|known| known == name) {
            kernels.push(name.to_owned());
        }
    }
    kernels
}

/// The name in the source of an Itanium-mangled function, without parameters and template arguments:
/// `ns::saxpy` for `_ZN2ns5saxpyEf`. The symbol itself if it is not mangled so.
pub fn kernel_base_name(symbol: &str) -> String {
    demangle(symbol).unwrap_or_else(|| symbol.to_owned())
}

/// `_Z <length> <name> ...` and `_ZN <length> <name>... E ...` (Itanium C++ ABI, "Mangled Names").
fn demangle(symbol: &str) -> Option<String> {
    let mut rest = symbol.strip_prefix("_Z")?;
    let nested = rest.strip_prefix('N');
    rest = nested.unwrap_or(rest);
    let mut parts = Vec::new();
    loop {
        // `L`: a name of internal linkage.
        let text = rest.strip_prefix('L').unwrap_or(rest);
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            break;
        }
        let length: usize = text[..digits].parse().ok()?;
        let part = text.get(digits..digits.checked_add(length)?)?;
        // How the unnamed namespace is spelled.
        parts.push(if part.starts_with("_GLOBAL__N_") { "(anonymous namespace)" } else { part });
        rest = &text[digits + length..];
        if nested.is_none() {
            break;
        }
    }
    if parts.is_empty() { None } else { Some(parts.join("::")) }
}

/// The symbol of the kernel that a user calls `wanted`: a symbol, or a name as in the source.
///
/// # Errors
/// A sentence with the kernels there are, if none or several fit.
pub fn find_kernel(symbols: &[String], wanted: &str) -> Result<String, String> {
    if symbols.iter().any(|symbol| symbol == wanted) {
        return Ok(wanted.to_owned());
    }
    let fits = |symbol: &&String| {
        let name = kernel_base_name(symbol);
        name == wanted || name.rsplit("::").next() == Some(wanted)
    };
    let list = |symbols: &[&String]| {
        let described = symbols.iter().map(|symbol| match kernel_base_name(symbol) {
            name if name == **symbol => format!("`{name}`"),
            name => format!("`{name}` ({symbol})"),
        });
        described.collect::<Vec<_>>().join(", ")
    };
    let found: Vec<&String> = symbols.iter().filter(fits).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] if symbols.is_empty() => Err(format!("there is no kernel `{wanted}`: there are none")),
        [] => Err(format!(
            "there is no kernel `{wanted}`; there are {}",
            list(&symbols.iter().collect::<Vec<_>>())
        )),
        several => Err(format!("`{wanted}` may be {}: give the symbol", list(several))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_a_text() {
        let text = ".version 8.0\n// .entry no\n.visible .entry _Z1ai(\n.param .u32 p)\n{\n}\n\
                    .extern .entry far(.param .u64 q);\n.entry b { ret; }\n.weak .entry\tc()\n";
        assert_eq!(ptx_kernels(text), ["_Z1ai", "b", "c"]);
    }

    #[test]
    fn names_of_the_source() {
        assert_eq!(kernel_base_name("_Z5saxpyfPKfPf"), "saxpy");
        assert_eq!(kernel_base_name("_ZN2ns5saxpyEf"), "ns::saxpy");
        assert_eq!(kernel_base_name("_ZN12_GLOBAL__N_11kEv"), "(anonymous namespace)::k");
        assert_eq!(kernel_base_name("_ZL1kv"), "k");
        assert_eq!(kernel_base_name("_Z3fooIiEvT_"), "foo");
        for odd in ["plain", "_Z", "_Z9x", "_Z99999999999999999999x", "_Z3é"] {
            assert_eq!(kernel_base_name(odd), odd);
        }
    }

    #[test]
    fn the_kernel_that_is_meant() {
        let symbols = ["_Z5saxpyf", "_ZN1n1kEi", "_ZN1m1kEi", "c"].map(str::to_owned);
        assert_eq!(find_kernel(&symbols, "saxpy").unwrap(), "_Z5saxpyf");
        assert_eq!(find_kernel(&symbols, "n::k").unwrap(), "_ZN1n1kEi");
        assert_eq!(find_kernel(&symbols, "_ZN1m1kEi").unwrap(), "_ZN1m1kEi");
        assert!(find_kernel(&symbols, "k").unwrap_err().contains("give the symbol"));
        assert!(find_kernel(&symbols, "d").unwrap_err().contains("there are `saxpy` (_Z5saxpyf)"));
    }
}
