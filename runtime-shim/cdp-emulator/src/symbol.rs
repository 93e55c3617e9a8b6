//! What the name of a variable in PTX says of it.

/// What `cdpc` sets before the name of a shared variable of a `.cu` file whose type has a constructor: what it
/// writes for clang is the memory of one.
const ROOM: &str = "__cdp_place_";

/// The name in the source of a variable: `tile` for `_ZZ7reversePiE4tile`, the variable of a function
/// (Itanium C++ ABI, "Scope Encoding"); the symbol itself if it is not mangled so.
pub fn source_name(symbol: &str) -> String {
    let name = || {
        let scope = symbol.strip_prefix("_ZZ")?;
        let starts = scope.match_indices('E').map(|(at, _)| &scope[at + 1..]);
        let mut names = starts.filter_map(|rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let length: usize = rest[..digits].parse().ok()?;
            let name = rest.get(digits..digits.checked_add(length)?)?;
            // What may follow tells variables of one name apart.
            let suffix = &rest[digits + length..];
            (length > 0 && (suffix.is_empty() || suffix.starts_with('_'))).then_some(name)
        });
        names.next()
    };
    let name = name().unwrap_or(symbol);
    name.strip_prefix(ROOM).unwrap_or(name).to_string()
}

/// A string literal, by the names that nvcc, clang and `cdpc` give them: nobody may write there.
pub fn is_literal(name: &str) -> bool {
    let rest = name.strip_prefix("$str").or_else(|| name.strip_prefix("_$_str"));
    rest.is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b'$' | b'_' | b'0'..=b'9')))
}

#[cfg(test)]
mod tests {
    use super::{is_literal, source_name};

    #[test]
    fn literals_are_known_by_their_names() {
        assert!(["$str", "$str$1", "$str0", "_$_str", "_$_str_$_1"].into_iter().all(is_literal));
        assert!(!["_$_strong", "$string", "str", "_str"].into_iter().any(is_literal));
    }

    #[test]
    fn names_of_shared_variables() {
        assert_eq!(source_name("_ZZ7reversePiE4tile"), "tile");
        assert_eq!(source_name("_ZZ7reversePiE4tile_0"), "tile");
        assert_eq!(source_name("_ZZN2ns1kEiE1s"), "s");
        assert_eq!(source_name("_ZZ4meetvE15__cdp_place_all"), "all");
        for other in ["buffer", "_ZZ", "_ZZE", "_ZZ1kvE9x", "_ZZ1kvE99999999999999999999x"] {
            assert_eq!(source_name(other), other);
        }
    }
}
