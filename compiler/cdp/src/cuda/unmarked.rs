//! Definitions without the marks (`__host__`, `__device__`) of their declarations, which nvcc gives them: they are written
//! behind the declarator when clang reads the file again ([`super::lenient`]), where they are in nobody's way.

use super::spelling::{is_word, places};

/// The marks that a definition lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// Those of a function of both sides.
    Both,
    /// That of a member, or of a function of a namespace, that device code has alone.
    Device,
}

impl Marks {
    /// Those that a message of clang's is about.
    pub(super) fn of(message: &str) -> Option<Marks> {
        const BOTH: &str = "' cannot overload __host__ __device__ function '";
        if message.starts_with("__host__ function '") && message.contains(BOTH) {
            Some(Marks::Both)
        } else if message.starts_with("out-of-line definition of '")
            && message.contains("' does not match any declaration in ")
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

/// Where the marks of a function go whose name begins at a place: behind its declarator, which is in front of its body, of
/// what a constructor initialises, or of the end of the declaration. In front of its `auto` if its type stands behind it,
/// where marks are the type's.
pub(super) fn place_of_marks(text: &str, at: usize) -> Option<usize> {
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
            '-' if depth == 0 => return in_front_of_auto(text, at),
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

fn in_front_of_auto(text: &str, at: usize) -> Option<usize> {
    let start = start_of_declaration(text, at);
    places(&text[start..at], "auto").last().map(|place| start + place)
}

fn start_of_declaration(text: &str, at: usize) -> usize {
    text[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1)
}

/// Whether an error of clang's is about a destructor that is the host's, because its definition lacks marks: the next note
/// says where it is.
pub(super) fn is_of_destructor(message: &str) -> bool {
    message.starts_with("reference to __host__ function '~")
}

/// Whether an error of clang's is about a function of the host that calls one of the device: a destructor may be that, whose
/// definition lacks marks.
pub(super) fn calls_device(message: &str) -> bool {
    message.starts_with("reference to __device__ function '")
        && message.ends_with("' in __host__ function")
}

/// Where the marks go of the destructor that is defined outside of its class around a place.
pub(super) fn of_destructor_around(text: &str, at: usize) -> Option<(usize, Marks)> {
    let name = text[..at].rfind("::~")? + 2;
    let found = of_destructor(text, name)?;
    let body = text.get(found.0..at)?;
    let mut depth = 0;
    let is_open = body.bytes().all(|byte| {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        depth > 0
    });
    (is_open && !body.is_empty()).then_some(found)
}

/// Where the marks of a destructor go that clang says is declared at a place: of its definition outside of the class. Which
/// they are is read off its declaration.
pub(super) fn of_destructor(text: &str, at: usize) -> Option<(usize, Marks)> {
    let name = text.get(at..)?.strip_prefix('~')?;
    let length = 1 + name.bytes().take_while(|byte| is_word(*byte)).count();
    let name = &text[at..at + length];
    let is_outside = |place: usize| text[..place].trim_end().ends_with("::");
    let named = || {
        let places = text.match_indices(name).map(|found| found.0);
        places.filter(|place| !text.as_bytes().get(place + length).is_some_and(|b| is_word(*b)))
    };
    let definition = if is_outside(at) { at } else { named().find(|place| is_outside(*place))? };
    let declaration = named().find(|place| !is_outside(*place));
    let before = declaration.map_or("", |place| &text[start_of_declaration(text, place)..place]);
    let device_alone = before.contains("__device__") && !before.contains("__host__");
    let marks = if device_alone { Marks::Device } else { Marks::Both };
    Some((place_of_marks(text, definition)?, marks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destructors_have_the_marks_of_their_declarations() {
        let text = "struct A { __host__ __device__ ~A(); };\nA::~A() noexcept {}\nstruct AB { __device__ ~AB(); };\n\
                    AB::~AB()\n{}\n";
        let found =
            |at: usize| of_destructor(text, at).map(|(end, marks)| (&text[end..][..2], marks));
        assert_eq!(found(text.find("~A()").unwrap()), Some(("{}", Marks::Both)));
        assert_eq!(found(text.rfind("~A()").unwrap()), Some(("{}", Marks::Both)));
        assert_eq!(found(text.rfind("~AB()").unwrap()), Some(("{}", Marks::Device)));
        assert_eq!(found(0), None);
        let text =
            "struct A { __device__ ~A(); };\nA::~A() { if (x) { y(); } z(); }\nvoid f() { g(); }";
        let around = |at: &str| of_destructor_around(text, text.find(at).unwrap());
        let place = text.find("{ if").unwrap();
        assert_eq!(around("y()"), Some((place, Marks::Device)));
        assert_eq!(around("z()"), Some((place, Marks::Device)));
        assert_eq!(around("g()"), None);
        assert_eq!(of_destructor("struct A { ~A() {} };", 11), None);
    }

    #[test]
    fn marks_stand_before_the_body() {
        let ends = |text: &str, at: &str| {
            let place = text.find(at).unwrap();
            place_of_marks(text, place).map(|end| text[end..].to_owned())
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
        for text in ["auto f() -> n::T { }", "auto A<int>::f(int a) const -> T\n{}"] {
            assert_eq!(ends(text, "f(").as_deref(), Some(text));
        }
        assert_eq!(ends("int auto_f() -> int;", "auto_f"), None);
        assert_eq!(ends("int f", "f"), None);
        assert_eq!(ends("int f(int", "f"), None);
    }

    #[test]
    fn clang_names_the_marks() {
        let both = "__host__ function 'f<T>' cannot overload __host__ __device__ function 'f<T>'";
        assert_eq!(Marks::of(both), Some(Marks::Both));
        for within in ["'S'", "namespace 'n'", "the global namespace"] {
            let said =
                format!("out-of-line definition of 'f' does not match any declaration in {within}");
            assert_eq!(Marks::of(&said), Some(Marks::Device));
        }
        assert_eq!(
            Marks::of("__device__ function 'f' cannot overload __host__ function 'f'"),
            None
        );
    }
}
