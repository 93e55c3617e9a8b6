//! Definitions without the marks (`__host__`, `__device__`) of their declarations, which nvcc gives them: they are written
//! behind the declarator when clang reads the file again ([`super::lenient`]), where they are in nobody's way.

/// The marks that a definition lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// Those of a function of both sides.
    Both,
    /// That of a member that device code has alone.
    Device,
}

impl Marks {
    /// Those that a message of clang's is about.
    pub(super) fn of(message: &str) -> Option<Marks> {
        const BOTH: &str = "' cannot overload __host__ __device__ function '";
        if message.starts_with("__host__ function '") && message.contains(BOTH) {
            Some(Marks::Both)
        } else if message.starts_with("out-of-line definition of '")
            && message.contains("' does not match any declaration in '")
        {
            Some(Marks::Device)
        } else {
            None
        }
    }

    /// What is written.
    pub(super) fn written(self) -> &'static str {
        match self {
            Marks::Both => " __attribute__((host, device)) ",
            Marks::Device => " __attribute__((device)) ",
        }
    }
}

/// Where the declarator of a function ends whose name begins at a place: in front of its body, of what a constructor
/// initialises, or of the end of the declaration. `None` if its type stands behind it, where marks are the type's.
pub(super) fn end_of_declarator(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    // The name of `operator()` has parentheses itself.
    let call = rest.strip_prefix("operator").map(str::trim_start);
    let behind = call.and_then(|rest| rest.strip_prefix("()")).unwrap_or(rest);
    let mut place = text.len() - behind.len() + behind.find('(')?;
    let mut depth = 0u32;
    loop {
        let rest = &text[place..];
        place += match rest.chars().next()? {
            '/' if rest.starts_with("//") => rest.find('\n')?,
            '/' if rest.starts_with("/*") => rest.find("*/")? + 2,
            ':' if rest.starts_with("::") => 2,
            '-' if depth == 0 => return None,
            '{' | ':' | ';' | '=' if depth == 0 => return Some(place),
            other => {
                match other {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.checked_sub(1)?,
                    _ => {}
                }
                other.len_utf8()
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarators_end_before_the_body() {
        let ends = |text: &str, at: &str| {
            let place = text.find(at).unwrap();
            end_of_declarator(text, place).map(|end| text[end..].to_owned())
        };
        for (text, at, behind) in [
            ("int f(int a = g(1)) { h(); }", "f(", "{ h(); }"),
            ("A::A(int x) : y(x) {}", "A(", ": y(x) {}"),
            ("A::~A() noexcept(true) {}", "~A", "{}"),
            ("T A::operator()(int i) const // {\n{}", "operator", "{}"),
            ("A::operator int() const /* : */ {}", "operator", "{}"),
            ("A::A() = default;", "A(", "= default;"),
            ("int f(int (&a)[2], const char *b = \"x\");", "f(", ";"),
        ] {
            assert_eq!(ends(text, at).as_deref(), Some(behind), "{text}");
        }
        assert_eq!(ends("auto f() -> n::T { }", "f("), None);
        assert_eq!(ends("int f", "f"), None);
        assert_eq!(ends("int f(int", "f"), None);
    }

    #[test]
    fn clang_names_the_marks() {
        let both = "__host__ function 'f<T>' cannot overload __host__ __device__ function 'f<T>'";
        assert_eq!(Marks::of(both), Some(Marks::Both));
        let member = "out-of-line definition of 'f' does not match any declaration in 'S'";
        assert_eq!(Marks::of(member), Some(Marks::Device));
        assert_eq!(
            Marks::of("__device__ function 'f' cannot overload __host__ function 'f'"),
            None
        );
    }
}
