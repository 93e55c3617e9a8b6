//! Leaving out the functions of a program's PTX that no kernel reaches.
//!
//! A device function with external linkage stays in PTX after it was inlined everywhere, because another file may
//! call it. In a link of one input no other file is there and nvlink drops the function; until then ptxas has
//! compiled it, at a cost that may be most of a build's. So it goes before ptxas sees it.
//!
//! What is not here: kernels and variables, which the host finds by name, and what PTX means. A name that stands
//! anywhere outside the functions that go, as a callee, an operand or in an initialiser, keeps its function.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The text without the functions, defined or declared, that nothing reachable mentions; `None` when there are none,
/// or when the text is not what the scanner understands.
pub(crate) fn without_unreachable_functions(ptx: &str) -> Option<String> {
    if !defines_functions(ptx) {
        return None;
    }
    let outline = Outline::read(ptx)?;
    let kept = outline.reachable();
    if outline.functions.iter().all(|function| kept.contains(function.name)) {
        return None;
    }
    let mut out = String::with_capacity(ptx.len());
    let mut at = 0;
    for function in outline.functions.iter().filter(|function| !kept.contains(function.name)) {
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

/// A function's definition or declaration.
struct Function<'t> {
    name: &'t str,
    place: Range<usize>,
    /// What its body mentions.
    mentions: Vec<&'t str>,
}

/// A module as its functions and what stands around them.
#[derive(Default)]
struct Outline<'t> {
    functions: Vec<Function<'t>>,
    /// What is mentioned outside functions.
    roots: Vec<&'t str>,
}

impl<'t> Outline<'t> {
    fn read(ptx: &'t str) -> Option<Outline<'t>> {
        let mut outline = Outline::default();
        let mut words = Words { text: ptx, at: 0 };
        // Where the directives of linkage before `.func` begin.
        let mut start = None;
        while let Some(token) = words.next()? {
            match token {
                Token::Directive(at, "visible" | "weak" | "extern") => start = start.or(Some(at)),
                Token::Directive(at, "func") => {
                    let function = words.function(start.take().unwrap_or(at))?;
                    outline.functions.push(function);
                }
                Token::Name(name) => {
                    outline.roots.push(name);
                    start = None;
                }
                Token::Directive(..) | Token::Symbol(_) => start = None,
            }
        }
        Some(outline)
    }

    /// Names of functions that what stands outside functions leads to.
    fn reachable(&self) -> HashSet<&'t str> {
        let mut bodies: HashMap<&str, Vec<&'t str>> = HashMap::new();
        for function in &self.functions {
            bodies.entry(function.name).or_default().extend(&function.mentions);
        }
        let mut kept = HashSet::new();
        let mut work = self.roots.clone();
        while let Some(name) = work.pop() {
            if let Some(mentions) = bodies.get(name)
                && kept.insert(name)
            {
                work.extend(mentions);
            }
        }
        kept
    }
}

/// What the scanner tells apart.
enum Token<'t> {
    /// `.visible`, a type or a modifier: where its dot is, and the word behind it.
    Directive(usize, &'t str),
    /// A name of the module's or of a function's.
    Name(&'t str),
    /// Any other character.
    Symbol(u8),
}

/// Reads PTX word by word, without comments, strings, registers and numbers.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    /// The next token, `Some(None)` at the end, `None` where a comment or a string does not end.
    #[allow(clippy::option_option)]
    fn next(&mut self) -> Option<Option<Token<'t>>> {
        let bytes = self.text.as_bytes();
        loop {
            let Some(&first) = bytes.get(self.at) else { return Some(None) };
            let rest = &bytes[self.at..];
            match first {
                b'/' if rest.starts_with(b"//") => self.skip(|rest| rest.find('\n'), 2)?,
                b'/' if rest.starts_with(b"/*") => {
                    self.skip(|rest| rest.find("*/").map(|end| end + 2), 2)?;
                }
                b'"' => self.skip(end_of_string, 1)?,
                b'%' | b'0'..=b'9' => {
                    self.at += 1;
                    self.word();
                }
                b'.' => {
                    let dot = self.at;
                    self.at += 1;
                    return Some(Some(Token::Directive(dot, self.word())));
                }
                _ if is_name(first) => return Some(Some(Token::Name(self.word()))),
                _ => {
                    self.at += 1;
                    if !first.is_ascii_whitespace() {
                        return Some(Some(Token::Symbol(first)));
                    }
                }
            }
        }
    }

    /// Goes behind what opens here with `opened` bytes and ends where `end` says; a comment of one line may end
    /// with the text.
    fn skip(&mut self, end: impl Fn(&str) -> Option<usize>, opened: usize) -> Option<()> {
        let body = self.at + opened;
        let rest = &self.text[body..];
        let one_line = self.text[self.at..].starts_with("//");
        self.at = body + end(rest).or(one_line.then_some(rest.len()))?;
        Some(())
    }

    fn word(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|byte| !is_name(byte)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The rest of a function whose `.func` was read, and which began at `start`.
    fn function(&mut self, start: usize) -> Option<Function<'t>> {
        let mut function = Function { name: "", place: start..start, mentions: Vec::new() };
        let (mut parentheses, mut braces) = (0_usize, 0_usize);
        loop {
            match self.next()?? {
                Token::Symbol(b'(') => parentheses += 1,
                Token::Symbol(b')') => parentheses = parentheses.checked_sub(1)?,
                Token::Symbol(b'{') => braces += 1,
                Token::Symbol(b'}') => {
                    braces = braces.checked_sub(1)?;
                    if braces == 0 {
                        break;
                    }
                }
                Token::Symbol(b';') if braces == 0 => break,
                Token::Name(name) if function.name.is_empty() && parentheses == 0 => {
                    function.name = name;
                }
                // The names of parameters are no one's: they say nothing of the function.
                Token::Name(name) if braces > 0 => function.mentions.push(name),
                Token::Name(_) | Token::Directive(..) | Token::Symbol(_) => {}
            }
        }
        function.place.end = self.at;
        (!function.name.is_empty()).then_some(function)
    }
}

/// Behind the quotation mark that ends a string.
fn end_of_string(rest: &str) -> Option<usize> {
    let mut escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some(end + 1)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
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
