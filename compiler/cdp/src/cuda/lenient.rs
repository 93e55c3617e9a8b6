//! Calls, casts and declarations of older programs that nvcc takes, with a warning at most, and clang refuses: what is written in
//! their place when clang reads the file again ([`super::again`]).
//!
//! The names that are written, `__cdp_absent` and `__cdp_bytes`, are those of `headers/__cdp_cuda.h`. Not a parser: what does
//! not look as expected in the text is left alone.

use std::ops::Range;

use super::assigned;
use super::spelling::is_word;
use super::unmarked::{Marks, calls_device, of_destructor, of_destructor_around, place_of_marks};

/// Has clang take templates without marks for functions of both sides, as nvcc does in functions of both sides.
pub(super) const TEMPLATES_OF_BOTH: &str = "-foffload-implicit-host-device-templates";

/// clang's words around the name of a function of the host that a function of both sides calls.
const OF_HOST: [&str; 2] =
    ["reference to __host__ function '", "' in __host__ __device__ function"];
/// What stands before and behind the name of such a function in what is written.
const ABSENT: [&str; 2] = ["decltype(__cdp_absent(", "))::__call"];

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lenient {
    /// A function of both sides calls one of the host: device code that comes there stops.
    OfHost,
    /// The same for several functions of a name, which the first writing cannot tell apart.
    OfHostOverloaded,
    /// A step through memory without a type, which GNU's compilers take for bytes.
    Bytes,
    /// A pointer becomes a number that is too small for it.
    Narrow,
    /// `main` without its type.
    Main,
    /// Braces in a launch's configuration.
    Braces,
    /// An array of a length that is computed, with first elements.
    Filled,
    /// A parameter's default value that is meant to be something outside of its name (`size_t n = n`).
    OwnDefault,
    /// A member template of a type that is not known yet is named without `template`.
    TemplateWord,
    /// A function of both sides, or one of device code in a class, is defined without its marks.
    Unmarked(Marks),
    /// So is a destructor.
    UnmarkedDestructor,
    /// The same, where its body is what is refused.
    AroundUnmarked,
    /// Empty braces are assigned to what several classes could be made for.
    EmptyBraces,
    /// A pragma about unrolling without a loop, or that says what another has said or cannot be, which nvcc passes over.
    Unroll,
}

/// How clang's messages about [`Lenient::TemplateWord`] begin: where the words are read, and where a comparison of a
/// function comes of them.
const WITHOUT_TEMPLATE: [&str; 3] = [
    "missing 'template' keyword prior to dependent template name",
    "reference to overloaded function could not be resolved",
    "reference to non-static member function must be called",
];

/// How clang's messages about [`Lenient::Unroll`] begin. Some are of other mistakes too.
const UNROLLS_NOTHING: [&str; 7] = [
    "expected a for, while, or do-while loop to follow '#pragma",
    "expected unqualified-id",
    "expected statement",
    "this pragma cannot appear in ",
    "incompatible directives '#pragma",
    "duplicate directives '#pragma",
    "invalid value '",
];

impl Lenient {
    /// What there is for a message of clang's.
    pub(super) fn of(message: &str) -> Option<Lenient> {
        let starts = |text: &str| message.starts_with(text);
        if of_host(message).is_some_and(|name| !name.contains('<')) {
            Some(Lenient::OfHost)
        } else if starts("no matching function for call to '__cdp_absent'") {
            Some(Lenient::OfHostOverloaded)
        } else if starts("arithmetic on a pointer to void") {
            Some(Lenient::Bytes)
        } else if starts("cast from pointer to smaller type ") {
            Some(Lenient::Narrow)
        } else if starts("a type specifier is required for all declarations") {
            Some(Lenient::Main)
        } else if starts("expected expression") {
            Some(Lenient::Braces)
        } else if starts("variable-sized object may not be initialized") {
            Some(Lenient::Filled)
        } else if starts("default argument references parameter '") {
            Some(Lenient::OwnDefault)
        } else if WITHOUT_TEMPLATE.iter().any(|text| starts(text)) {
            Some(Lenient::TemplateWord)
        } else if assigned::is_of_braces(message) {
            Some(Lenient::EmptyBraces)
        } else if calls_device(message) {
            Some(Lenient::AroundUnmarked)
        } else if let Some(marks) = Marks::of(message) {
            Some(Lenient::Unmarked(marks))
        } else if UNROLLS_NOTHING.iter().any(|text| starts(text)) {
            Some(Lenient::Unroll)
        } else {
            None
        }
    }

    /// What is to be written instead of a part of the text; `at` is where clang points.
    pub(super) fn anew(self, text: &str, at: usize) -> Option<(Range<usize>, String)> {
        let rest = text.get(at..)?;
        let marked = |(end, marks): (usize, Marks)| (end..end, marks.written().into());
        match self {
            Lenient::OfHost => {
                let name = name_at(text, at)?;
                // A member has no name alone, and what is not called needs an address.
                let before = text[..name.start].trim_end();
                let is_call = text[name.end..].trim_start().starts_with('(');
                if !is_call || before.ends_with('.') || before.ends_with("->") {
                    return None;
                }
                let new = format!("{}{}{}", ABSENT[0], &text[name.clone()], ABSENT[1]);
                Some((name, new))
            }
            Lenient::OfHostOverloaded => {
                let start = at.checked_sub(ABSENT[0].find("__cdp")?)?;
                let of = text.get(start..)?.strip_prefix(ABSENT[0])?.split_once(ABSENT[1])?.0;
                let end = start + ABSENT[0].len() + of.len() + ABSENT[1].len();
                let new = format!(
                    "([](auto &&...a) -> decltype({of}(static_cast<decltype(a)>(a)...)) {{ __trap(); }})"
                );
                Some((start..end, new))
            }
            Lenient::Bytes => {
                let sign = rest.chars().next().filter(|sign| matches!(sign, '+' | '-'))?;
                match rest[1..].chars().next()? {
                    '=' => Some((at + 2..at + 2, " __cdp_bytes() =".into())),
                    next if next == sign => None,
                    _ => Some((at + 1..at + 1, format!(" __cdp_bytes() {sign}"))),
                }
            }
            Lenient::Narrow => {
                let end = at + rest.starts_with('(').then(|| rest.find(')'))?? + 1;
                Some((end..end, "(__SIZE_TYPE__)".into()))
            }
            Lenient::Main => {
                let name = name_at(text, at)?;
                (&text[name] == "main").then(|| (at..at, "int ".into()))
            }
            Lenient::Filled => filled(text, at),
            Lenient::OwnDefault => own_default(text, at),
            Lenient::EmptyBraces => assigned::anew(text, at),
            Lenient::TemplateWord => {
                let name = member_template(text, at)?;
                Some((name..name, "template ".into()))
            }
            Lenient::Unmarked(marks) => {
                place_of_marks(text, at).map(|end| (end, marks)).map(marked)
            }
            Lenient::UnmarkedDestructor => of_destructor(text, at).map(marked),
            Lenient::AroundUnmarked => of_destructor_around(text, at).map(marked),
            Lenient::Unroll => unrolls(text, at).map(|line| (line, String::new())),
            Lenient::Braces => {
                let types = ["dim3", "dim3", "size_t", "cudaStream_t"];
                let index = rest.starts_with('{').then(|| index_in_launch(text, at))??;
                Some((at..at, (*types.get(index)?).into()))
            }
        }
    }
}

/// The value of that name from before the function, under another name. EDG takes the name of a parameter for known behind
/// its default value only.
fn own_default(text: &str, at: usize) -> Option<(Range<usize>, String)> {
    let name = name_at(text, at)?;
    let start = start_of_declaration(text, at)?;
    let outer = &text[name.clone()];
    let alias = format!("__cdp_{outer}_{at}");
    let declared = format!("static constexpr auto {alias} = {outer}; ");
    let new = format!("{declared}{}{alias}", &text[start..name.start]);
    (name.start == at).then_some((start..name.end, new))
}

/// Where the declaration begins in whose parameters a place is.
fn start_of_declaration(text: &str, at: usize) -> Option<usize> {
    let (mut depth, mut end) = (1u32, at);
    let bytes = text.as_bytes();
    while end > 0 {
        let byte = bytes[end - 1];
        let is_end = match byte {
            b')' => {
                depth += 1;
                false
            }
            b'(' => {
                depth = depth.saturating_sub(1);
                false
            }
            b';' | b'{' | b'}' => true,
            b':' => bytes[end] != b':' && !text[..end - 1].ends_with(':'),
            _ => false,
        };
        if is_end && depth == 0 {
            // Within a comment it is none.
            let before = &text[..end];
            let line = before.rfind('\n').map_or(0, |place| place + 1);
            let note = before[line..].find("//").map(|place| line + place);
            let block = before.rfind("/*").filter(|open| !before[*open..].contains("*/"));
            match note.or(block) {
                Some(open) => end = open,
                None => return Some(behind_comments(text, end)),
            }
            continue;
        }
        end -= 1;
    }
    None
}

/// The first place from one on that is in no blank, comment or directive.
fn behind_comments(text: &str, at: usize) -> usize {
    let rest = text[at..].trim_start();
    let start = text.len() - rest.len();
    let length = match rest {
        _ if rest.starts_with("//") || rest.starts_with('#') => rest.find('\n'),
        _ if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
        _ => None,
    };
    length.map_or(start, |length| behind_comments(text, start + length))
}

/// Where the name of the first member template stands that is called with its arguments in a statement.
fn member_template(text: &str, at: usize) -> Option<usize> {
    let is_member = |place: usize| {
        let before = text[..place].trim_end();
        ["::", ".", "->"].iter().any(|sign| before.ends_with(sign))
    };
    let is_called = |behind: &str| {
        let inner = behind.trim_start().strip_prefix('<');
        let end = inner.and_then(|inner| Some((inner, end_of_arguments(inner)?)));
        end.is_some_and(|(inner, end)| inner[end..].trim_start().starts_with('('))
    };
    let mut place = at;
    while place < text.len() {
        let rest = &text[place..];
        let word = rest.bytes().take_while(|byte| is_word(*byte)).count();
        if word > 0 && is_member(place) && is_called(&rest[word..]) {
            let before = text[..place].trim_end_matches(|c: char| !c.is_alphanumeric());
            return (!before.ends_with("template")).then_some(place);
        }
        let next = rest.chars().next()?;
        if matches!(next, ';' | '{' | '}') {
            return None;
        }
        place += if word > 0 { word } else { next.len_utf8() };
    }
    None
}

/// How long the arguments of a template are behind their `<`, with the `>`.
fn end_of_arguments(text: &str) -> Option<usize> {
    let (mut angles, mut depth) = (1u32, 0u32);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.checked_sub(1)?,
            b'<' if depth == 0 => angles += 1,
            b'>' if depth == 0 => angles -= 1,
            b';' | b'{' | b'}' => return None,
            _ => {}
        }
        if angles == 0 {
            return Some(place + 1);
        }
    }
    None
}

/// The line of the pragma about unrolling that a place is in, or that stands before it with nothing between.
fn unrolls(text: &str, at: usize) -> Option<Range<usize>> {
    let mut end = at + text[at..].find('\n').unwrap_or(text.len() - at);
    let mut is_first = true;
    loop {
        let start = text[..end].rfind('\n').map_or(0, |place| place + 1);
        let line = text[start..end].trim_start();
        let words =
            line.strip_prefix('#').and_then(|line| line.trim_start().strip_prefix("pragma"));
        let words = words.map(|words| words.trim_start().trim_start_matches("GCC").trim_start());
        if words.is_some_and(|words| words.starts_with("unroll") || words.starts_with("nounroll")) {
            return Some(start..end);
        }
        let is_between = line.is_empty() || line.starts_with('#') || line.starts_with("//");
        if !(is_first || is_between) || start == 0 {
            return None;
        }
        (is_first, end) = (false, start - 1);
    }
}

/// Whether clang refuses a template of the host in a function of both sides.
pub(super) fn needs_templates(messages: &str) -> bool {
    let names = messages.lines().filter_map(|line| of_host(line.split_once("error: ")?.1));
    names.into_iter().any(|name| name.contains('<'))
}

fn of_host(message: &str) -> Option<&str> {
    message.strip_prefix(OF_HOST[0])?.split_once(OF_HOST[1]).map(|(name, _)| name)
}

/// The name of the array that is declared with a length at a place.
fn array_of(text: &str, at: usize) -> Option<Range<usize>> {
    let mut depth = 0u32;
    for (place, letter) in text[..at].char_indices().rev() {
        match letter {
            ']' => depth += 1,
            '[' if depth > 0 => depth -= 1,
            // That of the length, and those of lengths before it.
            '[' => {}
            _ if depth > 0 || text[place..].starts_with("][") => {}
            ';' | '{' | '}' | ',' | '=' => return None,
            letter if text[place + letter.len_utf8()..].starts_with('[') => {
                let length = text[..=place].bytes().rev().take_while(|byte| is_word(*byte)).count();
                return (length > 0).then(|| place + 1 - length..place + 1);
            }
            _ => {}
        }
    }
    None
}

/// The first elements of an array that is declared with a length at a place, put there by another declarator behind it.
fn filled(text: &str, at: usize) -> Option<(Range<usize>, String)> {
    let name = array_of(text, at).or_else(|| name_at(text, at))?;
    let start = at + text[at..].find('=')?;
    if text[at..start].contains([';', ',', '{']) {
        return None;
    }
    let length = end_of_initialiser(&text[start + 1..])?;
    let first = text[start + 1..start + 1 + length].trim();
    let name = &text[name];
    let within: String = first.chars().filter(|c| !"{} \n0".contains(*c)).collect();
    let call = match within.is_empty() {
        true => format!("__cdp_cleared((void *){name}, sizeof {name})"),
        false => format!("__cdp_filled({name}, sizeof {name}, {first})"),
    };
    Some((start..start + 1 + length, format!(", *__cdp_{name} = {call}")))
}

/// How long an initialiser is: up to the next declarator or the end of the declaration.
fn end_of_initialiser(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0u32, None, false);
    for (place, byte) in text.bytes().enumerate() {
        match (quoted, byte) {
            (Some(_), b'\\') => {
                escaped = !escaped;
                continue;
            }
            (Some(quote), _) if quote == byte && !escaped => quoted = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quoted = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth = depth.checked_sub(1)?,
            (None, b',' | b';') if depth == 0 => return Some(place),
            _ => {}
        }
        escaped = false;
    }
    None
}

/// Which argument of a launch's configuration begins at a place.
fn index_in_launch(text: &str, at: usize) -> Option<usize> {
    let (mut depth, mut index) = (0u32, 0);
    let before = &text.as_bytes()[..at];
    for (place, byte) in before.iter().enumerate().rev() {
        match byte {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => index += 1,
            b'<' if depth == 0 && before[..=place].ends_with(b"<<<") => return Some(index),
            b';' => return None,
            _ => {}
        }
    }
    None
}

/// The name that begins at a place, with the namespaces before it.
fn name_at(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = at + bytes.get(at..)?.iter().take_while(|byte| is_word(**byte)).count();
    let mut start = at;
    while text[..start].ends_with("::") {
        start -= 2;
        start -= bytes[..start].iter().rev().take_while(|byte| is_word(**byte)).count();
    }
    (end > at).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cured(message: &str, text: &str, pointed: &str) -> Option<String> {
        let (range, new) = Lenient::of(message)?.anew(text, text.find(pointed)?)?;
        let mut made = text.to_owned();
        made.replace_range(range, &new);
        Some(made)
    }

    #[test]
    fn calls_of_the_host_are_absent_from_device_code() {
        let said = "reference to __host__ function 'exit' in __host__ __device__ function";
        let cured = |text: &str, at: &str| cured(said, text, at);
        let call = cured("if (bad) std::exit(1);", "exit").unwrap();
        assert_eq!(call, "if (bad) decltype(__cdp_absent(std::exit))::__call(1);");
        assert_eq!(cured("file.exit(1)", "exit"), None);
        assert_eq!(cured("f = &exit;", "exit"), None);
        let overloaded = "no matching function for call to '__cdp_absent'";
        let made = super::tests::cured(overloaded, &call, "__cdp").unwrap();
        assert!(made.starts_with("if (bad) ([](auto &&...a) -> decltype(std::exit("), "{made}");
        assert!(made.ends_with(")(1);"), "{made}");
        assert_eq!(super::tests::cured(overloaded, "x = f;", "f"), None);
    }

    #[test]
    fn templates_of_the_host_are_asked_for() {
        let said = |name: &str| {
            format!(
                "a.cu:1:2: error: reference to __host__ function '{name}' in __host__ __device__ function\n"
            )
        };
        assert!(needs_templates(&said("swap<int>")));
        assert!(!needs_templates(&said("exit")));
        assert!(!needs_templates("a.cu:1:2: error: no\n"));
    }

    #[test]
    fn memory_without_a_type_is_bytes() {
        let said = "arithmetic on a pointer to void";
        assert_eq!(cured(said, "p + 4", "+").unwrap(), "p + __cdp_bytes() + 4");
        assert_eq!(cured(said, "p - 4", "-").unwrap(), "p - __cdp_bytes() - 4");
        assert_eq!(cured(said, "p += n ? 1 : 2", "+").unwrap(), "p += __cdp_bytes() = n ? 1 : 2");
        assert_eq!(cured(said, "p++", "+"), None);
        assert_eq!(cured(said, "MACRO(p)", "MACRO"), None);
    }

    #[test]
    fn small_numbers_and_main_get_what_they_lack() {
        let narrow = "cast from pointer to smaller type 'int' loses information";
        assert_eq!(cured(narrow, "x = (int)p;", "(").unwrap(), "x = (int)(__SIZE_TYPE__)p;");
        assert_eq!(cured(narrow, "x = int(p);", "int"), None);
        let main = "a type specifier is required for all declarations";
        assert_eq!(cured(main, "main() {}", "main").unwrap(), "int main() {}");
        assert_eq!(cured(main, "other() {}", "other"), None);
    }

    #[test]
    fn defaults_named_as_their_parameters_are_those_outside() {
        let said = "default argument references parameter 'n'";
        let cured = |text: &str| {
            let made = cured(said, text, "n)")?;
            let digits = |c: char| c.is_ascii_digit();
            Some(
                made.split("__cdp_n_")
                    .map(|part| part.trim_start_matches(digits))
                    .collect::<Vec<_>>()
                    .join("@"),
            )
        };
        assert_eq!(
            cured("struct S { int a; // of; two\n  static void f(A::B<(1)> *x, int n = n) {} };")
                .unwrap(),
            "struct S { int a; // of; two\n  static constexpr auto @ = n; static void f(A::B<(1)> *x, int n = @) {} };"
        );
        assert_eq!(
            cured("public: /* ; */\n template <int K> void f(int n=n);").unwrap(),
            "public: /* ; */\n static constexpr auto @ = n; template <int K> void f(int n=@);"
        );
        assert_eq!(cured("void f(int n = n);"), None);
    }

    #[test]
    fn member_templates_get_their_word() {
        let cured = |at: &str, text: &str| {
            cured("missing 'template' keyword prior to dependent template name 'to'", text, at)
        };
        assert_eq!(cured("to", "Cast<T, U>::to<N>(d);").unwrap(), "Cast<T, U>::template to<N>(d);");
        assert_eq!(
            cured("Cast", "Cast<T, U>::to<2 * (N > 1)>(\n d, a < b);").unwrap(),
            "Cast<T, U>::template to<2 * (N > 1)>(\n d, a < b);"
        );
        assert_eq!(
            cured("b", "b.to<N>(1) + p->to<N>(2)").unwrap(),
            "b.template to<N>(1) + p->to<N>(2)"
        );
        assert_eq!(
            cured("p->", "b.to<N>(1) + p->to<N>(2)").unwrap(),
            "b.to<N>(1) + p->template to<N>(2)"
        );
        assert_eq!(cured("b", "b.value < N > (2)").as_deref(), Some("b.template value < N > (2)"));
        assert_eq!(cured("b", "b.template to<N>(1)"), None);
        assert_eq!(cured("b", "b.to(1); c.to<N>(1);"), None);
    }

    #[test]
    fn arrays_of_computed_length_are_filled_behind_their_declaration() {
        let said = "variable-sized object may not be initialized";
        let cured = |text: &str| cured(said, text, "n]");
        assert_eq!(
            cured("int a[n] = {0}, b;").unwrap(),
            "int a[n] , *__cdp_a = __cdp_cleared((void *)a, sizeof a), b;"
        );
        assert_eq!(
            cured("int a[n] = {f(1, 2), 3};").unwrap(),
            "int a[n] , *__cdp_a = __cdp_filled(a, sizeof a, {f(1, 2), 3});"
        );
        let text = cured("char a[n] = \"x;\\\"y\";").unwrap();
        assert_eq!(text, "char a[n] , *__cdp_a = __cdp_filled(a, sizeof a, \"x;\\\"y\");");
        let text = cured("float a[2 * k[0]][n] = {0};").unwrap();
        assert_eq!(text, "float a[2 * k[0]][n] , *__cdp_a = __cdp_cleared((void *)a, sizeof a);");
        assert_eq!(cured("int a[n];"), None);
        let text = super::tests::cured(said, "x; char s[n] = \"\";", "s[").unwrap();
        assert_eq!(text, "x; char s[n] , *__cdp_s = __cdp_filled(s, sizeof s, \"\");");
    }

    #[test]
    fn pragmas_of_loops_are_left_out_where_there_is_none() {
        let said = "expected a for, while, or do-while loop to follow '#pragma unroll'";
        let made = cured(said, "a;\n#pragma unroll 4\n\n// b\nif (b)\n", "if").unwrap();
        assert_eq!(made, "a;\n\n\n// b\nif (b)\n");
        assert_eq!(cured(said, "#pragma unroll\nint a;\nif (b)\n", "if"), None);
        let outside = "expected unqualified-id";
        assert_eq!(cured(outside, " # pragma GCC unroll 2\nint a;", "#").unwrap(), "\nint a;");
        assert_eq!(cured(outside, "int 3a;", "3"), None);
        let twice = "incompatible directives '#pragma unroll' and '#pragma unroll(4)'";
        let made = cured(twice, "#pragma unroll\n#pragma unroll 4\nfor", "unroll 4").unwrap();
        assert_eq!(made, "#pragma unroll\n\nfor");
    }

    #[test]
    fn braces_of_launches_have_types() {
        let said = "expected expression";
        assert_eq!(cured(said, "k<<<{1}, 2>>>()", "{").unwrap(), "k<<<dim3{1}, 2>>>()");
        let second = cured(said, "k<<<f(1, 2), {4, 1}>>>()", "{").unwrap();
        assert_eq!(second, "k<<<f(1, 2), dim3{4, 1}>>>()");
        assert_eq!(
            cured(said, "k<<<1, 2, 0, {}>>>()", "{").unwrap(),
            "k<<<1, 2, 0, cudaStream_t{}>>>()"
        );
        assert_eq!(cured(said, "f(a << 1, {2})", "{"), None);
    }
}
