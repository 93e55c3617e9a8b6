//! Signatures and types as text.
//!
//! A signature is `result(parameter, ...)`. A parameter is a type, then optionally a name, then
//! optionally `=` and a default, which is an integer or the name of a builtin constant. A last
//! parameter `...` makes the function variadic. A type is an optional `const` or `volatile`, a base,
//! any number of `*`, and at most one `&`. A base is a C type in its usual spelling, the name of a
//! builtin type ([`super::lookup_type`]), `T` (the row's family type), or one of three words for
//! what CUDA's headers declare as templates:
//! - `any`: any type, so that `any*` takes every object or function pointer, and `any**` every
//!   pointer to a pointer; the argument becomes `void*` or `void**`;
//! - `kernel`: a `__global__` function, a pointer to one, or a pointer to `void`; becomes
//!   `const void*`;
//! - `symbol`: an lvalue naming a `__device__`, `__constant__` or `__managed__` variable; its
//!   address is passed as `const void*`.
//!
//! Text, not data, because three thousand rows must stay readable and cost nothing until used.

use crate::ast::Basic;

/// The base of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SigBase {
    Builtin(Basic),
    /// A name for [`super::lookup_type`].
    Named(&'static str),
    Any,
    Kernel,
    Symbol,
}

/// A type in a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SigType {
    pub base: SigBase,
    /// `const` on the base.
    pub is_const: bool,
    /// `volatile` on the base.
    pub is_volatile: bool,
    /// Levels of pointers.
    pub pointers: u8,
    /// `&`.
    pub reference: bool,
    /// `[n]`, in fields of builtin records and in typedefs only.
    pub array: Option<u32>,
}

/// A parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SigParam {
    pub ty: SigType,
    /// Empty when the text has none.
    pub name: &'static str,
    /// The value of an omitted argument, to be converted to the parameter's type.
    pub default: Option<i128>,
}

/// Result and parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    pub ret: SigType,
    pub params: Vec<SigParam>,
    pub variadic: bool,
}

impl Signature {
    /// Parses a row's text; `subst` is what `T` stands for.
    ///
    /// # Panics
    /// On malformed text, which is a mistake in a table; a test parses every row.
    pub fn parse(text: &'static str, subst: Option<&'static str>) -> Signature {
        let (ret, params) = split(text);
        let mut signature =
            Signature { ret: SigType::parse(ret, subst), params: Vec::new(), variadic: false };
        for param in params.split(',').map(str::trim).filter(|param| !param.is_empty()) {
            if param == "..." {
                signature.variadic = true;
                continue;
            }
            let (declared, default) = match param.split_once('=') {
                Some((declared, default)) => (declared.trim(), Some(default_value(default.trim()))),
                None => (param, None),
            };
            let (ty, name) = split_name(declared);
            signature.params.push(SigParam { ty: SigType::parse(ty, subst), name, default });
        }
        signature
    }

    /// The number of arguments that must be written.
    pub fn required_count(&self) -> usize {
        self.params.iter().take_while(|param| param.default.is_none()).count()
    }
}

impl SigType {
    /// Parses a type.
    ///
    /// # Panics
    /// As [`Signature::parse`].
    pub fn parse(text: &'static str, subst: Option<&'static str>) -> SigType {
        let mut text = text.trim();
        let mut ty = SigType {
            base: SigBase::Any,
            is_const: false,
            is_volatile: false,
            pointers: 0,
            reference: false,
            array: None,
        };
        if let Some((rest, count)) = text.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
            ty.array = Some(count.parse().expect("an array length"));
            text = rest.trim_end();
        }
        loop {
            if let Some(rest) = text.strip_prefix("const ") {
                (ty.is_const, text) = (true, rest);
            } else if let Some(rest) = text.strip_prefix("volatile ") {
                (ty.is_volatile, text) = (true, rest);
            } else if let Some(rest) = text.strip_suffix('&') {
                (ty.reference, text) = (true, rest.trim_end());
            } else if let Some(rest) = text.strip_suffix('*') {
                ty.pointers += 1;
                text = rest.trim_end();
            } else {
                break;
            }
        }
        if text == "T" {
            text = subst.expect("a signature with `T` belongs to a family");
        }
        ty.base = base(text);
        ty
    }
}

fn base(text: &'static str) -> SigBase {
    match text {
        "any" => SigBase::Any,
        "kernel" => SigBase::Kernel,
        "symbol" => SigBase::Symbol,
        _ => Basic::of_words(&text.split(' ').collect::<Vec<_>>())
            .map_or(SigBase::Named(text), SigBase::Builtin),
    }
}

/// Result text and parameter text.
fn split(text: &'static str) -> (&'static str, &'static str) {
    let (ret, rest) = text.split_once('(').expect("a signature has parentheses");
    (ret, rest.strip_suffix(')').expect("a signature ends with a parenthesis"))
}

/// Words that belong to a type wherever they stand, so that the last word of `unsigned int` is
/// not taken for a parameter's name.
fn is_type_word(word: &str) -> bool {
    matches!(word, "const" | "volatile") || Basic::of_words(&[word]).is_some()
}

/// The type and the name of a parameter; the name is empty when there is none.
fn split_name(declared: &'static str) -> (&'static str, &'static str) {
    let start = declared
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .map_or(0, |before| before + 1);
    let (ty, word) = declared.split_at(start);
    let bare = ty.trim_end();
    let names_nothing = bare.is_empty()
        || bare.ends_with("const")
        || bare.ends_with("volatile")
        || is_type_word(word)
        || word.is_empty();
    if names_nothing { (declared, "") } else { (bare, word) }
}

fn default_value(text: &str) -> i128 {
    let number = text
        .strip_prefix("0x")
        .map_or_else(|| text.parse::<i128>().ok(), |digits| i128::from_str_radix(digits, 16).ok());
    number
        .or_else(|| super::lookup_constant(text).map(|constant| constant.value))
        .expect("a default is an integer or a builtin constant")
}

/// The text of a function: `result name(parameters) body`, with `T` replaced; a `kernel` or `symbol`
/// parameter is a `const void*`, and `any` is `void`.
pub(super) fn definition(
    name: &str,
    signature: &'static str,
    body: &str,
    subst: Option<&str>,
) -> String {
    let (ret, params) = split(signature);
    let mut text = String::with_capacity(ret.len() + name.len() + params.len() + body.len() + 32);
    substitute(&mut text, ret, subst);
    text.push(' ');
    text.push_str(name);
    text.push('(');
    for (index, param) in params.split(',').enumerate() {
        if index > 0 {
            text.push(',');
        }
        // Defaults are for callers; the definition is called with all arguments.
        let param = param.split('=').next().unwrap_or(param);
        let (ty, name) = split_name(param.trim());
        let (base, stars) = ty.split_at(ty.find(['*', '&']).unwrap_or(ty.len()));
        match base.trim_end() {
            "any" => text.push_str("void"),
            "kernel" | "symbol" => text.push_str("const void*"),
            base => substitute(&mut text, base, subst),
        }
        text.push_str(stars);
        text.push(' ');
        text.push_str(name);
    }
    text.push(')');
    substitute(&mut text, body, subst);
    text
}

/// Whether the word `T` stands in a signature.
#[cfg(test)]
pub(super) fn mentions_family_type(signature: &str) -> bool {
    signature.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| word == "T")
}

/// Appends `text` with the word `T` replaced.
fn substitute(out: &mut String, text: &str, subst: Option<&str>) {
    let Some(subst) = subst else {
        out.push_str(text);
        return;
    };
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, _) in text.match_indices('T') {
        let before = at.checked_sub(1).and_then(|index| bytes.get(index));
        if !is_word(before) && !is_word(bytes.get(at + 1)) {
            out.push_str(&text[copied..at]);
            out.push_str(subst);
            copied = at + 1;
        }
    }
    out.push_str(&text[copied..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_defaults_and_families() {
        let sig = Signature::parse("T(unsigned mask,T,int lane,int=32)", Some("long long"));
        assert_eq!(sig.ret.base, SigBase::Builtin(Basic::LongLong));
        assert_eq!(sig.params[0].name, "mask");
        assert_eq!(sig.params[1].ty, sig.ret);
        assert_eq!(sig.params[3].default, Some(32));
        assert_eq!(sig.required_count(), 3);
        let sig =
            Signature::parse("cudaError_t(const void*,size_t count,any**,unsigned int)", None);
        assert!(sig.params[0].ty.is_const && sig.params[0].ty.pointers == 1);
        assert_eq!(
            (sig.params[1].ty.base, sig.params[1].name),
            (SigBase::Named("size_t"), "count")
        );
        assert_eq!((sig.params[2].ty.base, sig.params[2].ty.pointers), (SigBase::Any, 2));
        assert_eq!(sig.params[3].ty.base, SigBase::Builtin(Basic::UInt));
    }

    #[test]
    fn a_definition_replaces_the_family_type_as_a_word() {
        let text = definition("f", "T(T a,int=1)", "{ return (T)a + Text(T); }", Some("long long"));
        let whole = "long long f(long long a,int ){ return (long long)a + Text(long long); }";
        assert_eq!(text, whole);
        let text = definition("f", "int(any** a,kernel k,const char* s)", ";", None);
        assert_eq!(text, "int f(void** a,const void* k,const char* s);");
    }
}
