//! The normal form of PTX text, for snapshots that outlive the compiler's version.
//!
//! What does not matter to a machine is made the same: comments and debugging directives are gone, each
//! statement has a line, registers and labels are numbered in the order of their first mention, labels
//! that nothing names are left out, and only the functions asked for are shown, with the declarations
//! that they mention. Instructions, their order and all other names stay.
//!
//! It works on tokens, not on a [`Module`](cdp_ptx::Module), so that instructions no reader
//! knows pass unchanged. The result is PTX still, when no function was left out and the header was kept.

use std::collections::{HashMap, HashSet};
use std::fmt;

use cdp_llvm::outline::{Item, ItemKind, ends, items};
use cdp_ptx::ParseError;
use cdp_ptx::lexer::{Tok, Token};

mod layout;

/// What the normal form shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NormalForm {
    functions: Vec<String>,
    header: bool,
}

impl NormalForm {
    /// Every function, without the header.
    pub fn new() -> NormalForm {
        NormalForm::default()
    }

    /// Shows this function, and no others than those asked for; a symbol (`_Z4saxpyifPfS_`) or the name in
    /// the source (`saxpy`), which stands for all its overloads.
    #[must_use]
    pub fn function(mut self, name: impl Into<String>) -> NormalForm {
        self.functions.push(name.into());
        self
    }

    /// Whether `.version`, `.target` and `.address_size` are shown.
    #[must_use]
    pub fn header(mut self, shown: bool) -> NormalForm {
        self.header = shown;
        self
    }
}

/// Why there is no normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NormalError {
    /// The text is no PTX: where its tokens end.
    Text(ParseError),
    /// A function that was asked for is not there.
    NoFunction {
        /// The name asked for.
        name: String,
        /// The functions that are defined there, by symbol.
        there: Vec<String>,
    },
}

impl fmt::Display for NormalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NormalError::Text(error) => error.fmt(f),
            NormalError::NoFunction { name, there } => {
                write!(f, "no function `{name}` in the PTX, which has {}", there.join(", "))
            }
        }
    }
}

impl std::error::Error for NormalError {}

impl From<ParseError> for NormalError {
    fn from(error: ParseError) -> NormalError {
        NormalError::Text(error)
    }
}

/// Brings PTX text into its normal form.
///
/// # Errors
/// For text whose tokens cannot be read, and for functions that are not there.
pub fn normalize(text: &str, form: &NormalForm) -> Result<String, NormalError> {
    let items = items(text)?;
    let functions: Vec<&Item<'_>> = items.iter().filter(|item| item.is_function()).collect();
    for name in &form.functions {
        if !functions.iter().any(|item| answers_to(item, name)) {
            // Not what others or the launch optimiser put there.
            let own =
                functions.iter().filter(|item| item.has_body && !item.name.starts_with("__cdp_"));
            let there = own.map(|item| format!("`{}`", item.name)).collect();
            return Err(NormalError::NoFunction { name: name.clone(), there });
        }
    }
    let chosen = |item: &Item<'_>| {
        form.functions.is_empty() || form.functions.iter().any(|name| answers_to(item, name))
    };
    let shown_bodies = functions.iter().filter(|item| item.has_body && chosen(item));
    let mentioned: HashSet<&str> = shown_bodies.flat_map(|item| item.names()).collect();
    let mut out = String::new();
    for item in &items {
        let shown = match item.kind {
            ItemKind::Header => form.header,
            ItemKind::Section => false,
            _ => chosen(item) || !item.has_body && mentioned.contains(item.name),
        };
        if shown {
            if !out.is_empty() && item.is_function() {
                out.push('\n');
            }
            out += &layout::lines(&renumbered(item), item.has_body);
        }
    }
    Ok(out)
}

fn answers_to(item: &Item<'_>, name: &str) -> bool {
    item.is_function() && (item.name == name || source_name(item.name) == Some(name))
}

/// The last part of the name in the source that a symbol of the Itanium C++ ABI stands for.
fn source_name(symbol: &str) -> Option<&str> {
    let mut rest = symbol.strip_prefix("_Z")?;
    rest = rest.strip_prefix('N').unwrap_or(rest).trim_start_matches(['K', 'L']);
    let mut last = None;
    while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|&count| count > 0) {
        let length: usize = rest[..digits].parse().ok()?;
        last = Some(rest.get(digits..digits + length)?);
        rest = &rest[digits + length..];
    }
    last
}

/// A token as it will be written: its text may be another than the source's.
struct Written<'a> {
    token: Token<'a>,
    text: String,
}

/// An item's tokens with registers and labels numbered anew, and without labels that nothing names.
fn renumbered<'a>(item: &Item<'a>) -> Vec<Written<'a>> {
    let tokens: Vec<Token<'a>> = item.tokens().collect();
    let classes = register_classes(&tokens);
    let labels = label_numbers(&tokens);
    let mut numbers = Registers { classes, numbers: HashMap::new(), counts: HashMap::new() };
    let mut words = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if is_label(&tokens, at - 1) && !labels.contains_key(token.text) {
            at += 1;
            continue;
        }
        let text = match (labels.get(token.text), token.tok) {
            (Some(number), Tok::Ident) => format!("$L{number}"),
            (None, Tok::Ident) => numbers.name(token.text),
            (_, Tok::Dot) => format!(".{}", token.text),
            (_, Tok::Str) => format!("\"{}\"", token.text),
            _ => token.text.to_owned(),
        };
        words.push(Written { token: *token, text });
    }
    recount(words, &numbers.counts)
}

/// The registers of a function by class: `%r` of `.reg .b32 %r<13>;`.
struct Registers<'a> {
    classes: HashSet<&'a str>,
    numbers: HashMap<&'a str, u32>,
    counts: HashMap<&'a str, u32>,
}

impl<'a> Registers<'a> {
    fn name(&mut self, text: &'a str) -> String {
        let class = text.trim_end_matches(|c: char| c.is_ascii_digit());
        if class.len() == text.len() || !self.classes.contains(class) {
            return text.to_owned();
        }
        let count = self.counts.entry(class).or_default();
        let number = *self.numbers.entry(text).or_insert_with(|| {
            *count += 1;
            *count
        });
        format!("{class}{number}")
    }
}

fn is_punct(tokens: &[Token<'_>], at: usize, wanted: u8) -> bool {
    tokens.get(at).is_some_and(|token| token.tok == Tok::Punct(wanted))
}

fn register_classes<'a>(tokens: &[Token<'a>]) -> HashSet<&'a str> {
    let mut classes = HashSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.tok == Tok::Ident && is_punct(tokens, at + 1, b'<') {
            classes.insert(token.text);
        }
    }
    classes
}

fn is_label(tokens: &[Token<'_>], at: usize) -> bool {
    tokens[at].tok == Tok::Ident
        && is_punct(tokens, at + 1, b':')
        && at.checked_sub(1).is_some_and(|before| ends(&tokens[before]))
}

/// The labels that something names, numbered in the order in which they stand.
fn label_numbers<'a>(tokens: &[Token<'a>]) -> HashMap<&'a str, usize> {
    let mut labels = Vec::new();
    let mut named = HashSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if is_label(tokens, at) {
            labels.push(token.text);
        } else if token.tok == Tok::Ident {
            named.insert(token.text);
        }
    }
    labels.retain(|label| named.contains(label));
    labels.into_iter().enumerate().map(|(at, label)| (label, at + 1)).collect()
}

/// Declarations of register classes say how many registers there are now; empty classes go.
fn recount<'a>(words: Vec<Written<'a>>, counts: &HashMap<&'a str, u32>) -> Vec<Written<'a>> {
    let mut out: Vec<Written<'a>> = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let declares = word.token.tok == Tok::Ident
            && words.peek().is_some_and(|next| next.token.tok == Tok::Punct(b'<'));
        if !declares {
            out.push(word);
            continue;
        }
        let rest: Vec<Written<'a>> = words.by_ref().take(4).collect(); // `<`, the count, `>`, `;`
        let Some(&count) = counts.get(word.token.text) else {
            let kept = out.iter().rposition(|word| ends(&word.token)).map_or(0, |at| at + 1);
            out.truncate(kept);
            continue;
        };
        out.push(word);
        out.extend(rest.into_iter().map(|mut word| {
            if word.token.tok == Tok::Int {
                word.text = (count + 1).to_string();
            }
            word
        }));
    }
    out
}
