//! The preprocessor: from a file to the tokens that are left when every directive is carried out
//! and every macro is expanded.
//!
//! Complete C preprocessing, following GCC where the standard leaves a choice: a macro is disabled
//! while its replacement is read, and an occurrence of its name seen meanwhile is never expanded
//! again. Nothing here knows the grammar; keywords are identifiers.
//!
//! Bounds, so that hostile input ends: files nest 200 deep, arguments 256 deep, and expansions make
//! at most four million tokens.

mod condition;
#[doc(hidden)]
pub mod directives;
mod expand;
mod include;
#[doc(hidden)]
pub mod macros;
mod malformed;
pub mod predefined;
mod prelude;
mod substitute;
#[cfg(test)]
mod tests;
pub mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::intern::Symbol;
use crate::lex::{Flags, Spellings, Token, TokenKind};
use crate::session::Session;
use crate::source::{FileId, FileOrigin, Span};
pub use include::{DiskLoader, FileLoader, MemoryLoader, clean};
use include::{FileCache, Folders};
use macros::MacroTable;

/// What the command line says to the preprocessor.
#[derive(Clone, Default, Debug)]
pub struct PreprocessOptions {
    /// `-I`, searched in order for both forms of `#include`; folders of a C library behind the compiler's own headers.
    pub include_dirs: Vec<PathBuf>,
    /// `-D` and `-U`, in order.
    pub macros: Vec<MacroOption>,
    /// `-include`: files read before the main file.
    pub forced_includes: Vec<PathBuf>,
    /// Macros that exist before the command line's, as (name, replacement); see [`predefined`].
    pub predefined: Vec<predefined::Predefined>,
    /// Seconds since 1970 for `__DATE__` and `__TIME__`; without it they are those of the epoch,
    /// so that outputs are reproducible.
    pub source_date_epoch: Option<u64>,
    /// Bytes of memory that the front end may take; a program that needs more is refused before it is
    /// parsed (E0116). `None`: as many as the system gives.
    pub memory_bytes: Option<u64>,
}

/// What the front end takes for a token of the preprocessed program, tree and IR included. Measured:
/// 100 for tables, 140 for code, 250 for declarations.
const BYTES_PER_TOKEN: u64 = 250;

/// `-D` or `-U`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MacroOption {
    /// `NAME`, `NAME=TEXT` or `NAME(x)=TEXT`.
    Define(String),
    /// A name.
    Undefine(String),
}

/// The result of preprocessing.
pub struct Preprocessed {
    /// Empty when the preprocessor had to stop before the end of the program.
    pub tokens: Vec<Token>,
    /// Findings, in the order they were made.
    pub diagnostics: Diagnostics,
    /// Every file that was read, the main file first, headers of the compiler left out.
    pub dependencies: Vec<PathBuf>,
    /// The empty span at the end of the main file.
    pub end: Span,
    /// What stands at the end was taken for a comment or left out by an open conditional, so that nobody knows which
    /// brackets it closes.
    pub cut: bool,
    /// How the session's names spell what has one spelling.
    pub(crate) spellings: Spellings,
}

/// Preprocesses the file at `path`.
///
/// # Errors
/// The file cannot be read (the environment's failure, not the program's). Everything else is among
/// the diagnostics.
pub fn preprocess(
    session: &mut Session,
    path: &Path,
    loader: &dyn FileLoader,
    options: &PreprocessOptions,
) -> std::io::Result<Preprocessed> {
    let bytes = loader.load(path)?.ok_or_else(no_such_file)?;
    let mut preprocessor = prelude::begin(session, loader, options);
    preprocessor.command_line();
    let end = preprocessor.main_file(path, bytes);
    preprocessor.check_memory(end);
    if preprocessor.stopped {
        // Half a program would give errors of its own.
        preprocessor.out.clear();
    }
    Ok(Preprocessed {
        tokens: preprocessor.out,
        diagnostics: preprocessor.diagnostics,
        dependencies: preprocessor.cache.dependencies,
        end,
        cut: preprocessor.cut,
        spellings: preprocessor.spellings,
    })
}

impl Preprocessor<'_> {
    /// Stops before a program that the machine has no memory for.
    fn check_memory(&mut self, end: Span) {
        let tokens = self.out.len() as u64;
        let needed = tokens.saturating_mul(BYTES_PER_TOKEN);
        let Some(there) = self.options.memory_bytes.filter(|&there| there < needed) else { return };
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        let message = format!(
            "checking this program takes about {} MB of memory, and {} MB are there",
            megabytes(needed),
            megabytes(there)
        );
        self.error(Code::E0116, end, message)
            .note(format!("it has {tokens} tokens after preprocessing"))
            .help("cut it into several files, or read large tables when the program runs");
        self.stopped = true;
    }
}

/// What the system says of a file that is not there. (The number is the same on Unix and Windows.)
fn no_such_file() -> std::io::Error {
    std::io::Error::from_raw_os_error(2)
}

/// Files nest at most this deep.
const MAX_INCLUDE_DEPTH: usize = 200;
/// Macro arguments that are macro uses nest at most this deep.
const MAX_ARGUMENT_DEPTH: u32 = 256;
/// Expansions and repeated inclusions make at most this many tokens.
const TOKEN_BUDGET: u64 = 4_000_000;

/// A file on the include stack.
struct OpenFile {
    id: FileId,
    tokens: Arc<Vec<Token>>,
    /// The next token.
    at: usize,
    /// Open `#if`s of this file.
    conditionals: Vec<directives::Conditional>,
    /// Where `#include "..."` looks first; `None` for text that is no file.
    directory: Option<PathBuf>,
    /// Which of the search places the file was found in, for `#include_next`.
    found_in: usize,
}

impl OpenFile {
    /// A file at its first token.
    fn new(
        id: FileId,
        tokens: Arc<Vec<Token>>,
        directory: Option<PathBuf>,
        found_in: usize,
    ) -> Self {
        OpenFile { id, tokens, at: 0, conditionals: Vec::new(), directory, found_in }
    }
}

/// Tokens being read instead of the file: a macro's replacement, or a list to expand by itself.
struct Frame {
    tokens: Vec<Token>,
    at: usize,
    /// The macro to enable again at the end.
    owner: Option<u32>,
}

/// State of one run.
struct Preprocessor<'a> {
    session: &'a mut Session,
    loader: &'a dyn FileLoader,
    options: &'a PreprocessOptions,
    diagnostics: Diagnostics,
    spellings: Spellings,
    words: KnownNames,
    macros: MacroTable,
    cache: FileCache,
    folders: Folders,
    files: Vec<OpenFile>,
    frames: Vec<Frame>,
    /// Frames below this one are not read: set while a list is expanded by itself.
    floor: usize,
    /// False while a list is expanded by itself.
    from_file: bool,
    argument_depth: u32,
    /// Inside the parentheses of a macro use that reads from the file.
    collecting: bool,
    budget: u64,
    counter: u32,
    /// Set when going on makes no sense: reading stops at once.
    stopped: bool,
    /// Something at the end of a file is not read: [`Preprocessed::cut`].
    cut: bool,
    out: Vec<Token>,
}

/// Names the preprocessor compares with.
#[derive(Clone, Copy)]
struct KnownNames {
    va_args: Symbol,
    va_opt: Symbol,
    defined: Symbol,
    has_include: Symbol,
    has_include_next: Symbol,
    true_: Symbol,
    false_: Symbol,
    one: Symbol,
    zero: Symbol,
}

impl<'a> Preprocessor<'a> {
    fn new(
        session: &'a mut Session,
        loader: &'a dyn FileLoader,
        options: &'a PreprocessOptions,
    ) -> Self {
        let spellings = Spellings::new(&mut session.names);
        let names = &mut session.names;
        let words = KnownNames {
            va_args: names.intern("__VA_ARGS__"),
            va_opt: names.intern("__VA_OPT__"),
            defined: names.intern("defined"),
            has_include: names.intern("__has_include"),
            has_include_next: names.intern("__has_include_next"),
            true_: names.intern("true"),
            false_: names.intern("false"),
            one: names.intern("1"),
            zero: names.intern("0"),
        };
        let macros = MacroTable::new(names);
        Preprocessor { macros, ..Self::with_words(session, loader, options, spellings, words) }
    }

    /// One that knows no macros.
    fn with_words(
        session: &'a mut Session,
        loader: &'a dyn FileLoader,
        options: &'a PreprocessOptions,
        spellings: Spellings,
        words: KnownNames,
    ) -> Self {
        Preprocessor {
            session,
            loader,
            options,
            diagnostics: Diagnostics::new(),
            spellings,
            words,
            macros: MacroTable::default(),
            cache: FileCache::default(),
            folders: Folders::new(&options.include_dirs, loader),
            files: Vec::new(),
            frames: Vec::new(),
            floor: 0,
            from_file: true,
            argument_depth: 0,
            collecting: false,
            budget: TOKEN_BUDGET,
            counter: 0,
            stopped: false,
            cut: false,
            out: Vec::new(),
        }
    }

    /// Predefined macros and the headers that every program has.
    fn built_in(&mut self) {
        let mut text = String::new();
        for (name, value) in &self.options.predefined {
            text.push_str(&format!("#define {name} {value}\n"));
        }
        // nvcc reads cuda_runtime.h before every file, and with it these.
        if self.options.predefined.iter().any(|(name, _)| name == "__CUDACC__") {
            for header in ["stddef.h", "limits.h", "math.h", "stdlib.h", "string.h"] {
                text.push_str(&format!("#include <{header}>\n"));
            }
        }
        self.synthetic("<built-in>", text);
    }

    /// The command line's macros and forced includes.
    fn command_line(&mut self) {
        let mut text = String::new();
        for option in &self.options.macros {
            match option {
                MacroOption::Define(definition) => {
                    let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
                    text.push_str(&one_line(&format!("#define {name} {value}")));
                }
                MacroOption::Undefine(name) => text.push_str(&one_line(&format!("#undef {name}"))),
            }
        }
        self.synthetic("<command line>", text);
        for file in &self.options.forced_includes {
            self.forced_include(file);
        }
    }

    fn synthetic(&mut self, name: &str, text: String) {
        if text.is_empty() {
            return;
        }
        let id = self.session.sources.add_file(name, text, FileOrigin::Synthetic);
        self.session.sources.set_system(id);
        let tokens = self.lex_file(id);
        self.files.push(OpenFile::new(id, tokens, None, 0));
        self.run();
    }

    /// A vector and no slice, which would be a copy of it.
    fn lex_file(&mut self, id: FileId) -> Arc<Vec<Token>> {
        let file = self.session.sources.file(id);
        let (text, base) = (file.text.clone(), file.base);
        Arc::new(crate::lex::lex(&text, base, &mut self.session.names, &self.spellings))
    }

    /// Reads until no file is open.
    fn run(&mut self) {
        while !self.stopped {
            match self.next_raw() {
                Some(token) => self.output(token),
                None if self.at_directive() => self.directive(),
                None => {
                    if !self.close_file() {
                        return;
                    }
                }
            }
        }
        self.files.clear();
        self.frames.clear();
    }

    fn output(&mut self, token: Token) {
        match token.kind {
            TokenKind::Ident => match self.macros.get(token.symbol) {
                Some(index) if !token.flags.has(Flags::NO_EXPAND) => {
                    if !self.expand(token, index) {
                        self.out.push(token);
                    }
                }
                _ => self.out.push(token),
            },
            TokenKind::BadString
            | TokenKind::BadRawString
            | TokenKind::BadChar
            | TokenKind::BadComment
            | TokenKind::Stray => {
                if let Some(token) = self.malformed(token) {
                    self.out.push(token);
                }
            }
            _ => self.out.push(token),
        }
    }

    /// The next token before macro expansion; `None` at a directive, at the end of the file, and at
    /// the end of a list expanded by itself.
    fn next_raw(&mut self) -> Option<Token> {
        while self.frames.len() > self.floor {
            let frame = self.frames.last_mut().expect("more frames than the floor");
            if let Some(&token) = frame.tokens.get(frame.at) {
                frame.at += 1;
                return Some(self.mark_disabled(token));
            }
            if let Some(owner) = frame.owner {
                self.macros.set_active(owner, false);
            }
            self.frames.pop();
        }
        if !self.from_file {
            return None;
        }
        let file = self.files.last_mut()?;
        let token = *file.tokens.get(file.at)?;
        if token.kind == TokenKind::Hash && token.flags.has(Flags::LINE_START) {
            return None;
        }
        file.at += 1;
        Some(token)
    }

    /// An occurrence of a macro's name inside its own replacement is never expanded.
    fn mark_disabled(&self, mut token: Token) -> Token {
        if token.kind == TokenKind::Ident && self.macros.is_active(token.symbol) {
            token.flags = token.flags.set(Flags::NO_EXPAND, true);
        }
        token
    }

    fn at_directive(&self) -> bool {
        self.files.last().is_some_and(|file| file.at < file.tokens.len())
    }

    /// Leaves the innermost file; false if it was the last.
    fn close_file(&mut self) -> bool {
        if let Some(file) = self.files.pop() {
            for open in file.conditionals {
                self.cut = true;
                self.error(Code::E0109, open.span, "this conditional has no `#endif`")
                    .label("opened here")
                    .help("add `#endif`");
            }
        }
        !self.files.is_empty()
    }

    /// Expands a list by itself, as macro arguments and directive lines are.
    fn expand_list(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let has_macro = |token: &Token| {
            token.kind == TokenKind::Ident && self.macros.get(token.symbol).is_some()
        };
        if !tokens.iter().any(has_macro) {
            return tokens;
        }
        let saved = (self.floor, self.from_file, std::mem::take(&mut self.out), self.collecting);
        self.floor = self.frames.len();
        self.from_file = false;
        self.frames.push(Frame { tokens, at: 0, owner: None });
        while !self.stopped {
            let Some(token) = self.next_raw() else { break };
            match token.kind {
                // Malformed tokens are reported where they end up, not in every list they pass.
                TokenKind::Ident => self.output(token),
                _ => self.out.push(token),
            }
        }
        self.frames.truncate(self.floor);
        let expanded = std::mem::replace(&mut self.out, saved.2);
        self.floor = saved.0;
        self.from_file = saved.1;
        self.collecting = saved.3;
        expanded
    }

    /// Takes `count` from the budget; false, once with a report, when it is used up.
    fn spend(&mut self, count: usize, span: Span) -> bool {
        self.budget = self.budget.saturating_sub(count as u64 + 1);
        if self.budget == 0 && !self.stopped {
            self.stopped = true;
            self.error(Code::E0115, span, "macro expansion grows without bound")
                .label(format!("more than {TOKEN_BUDGET} tokens when this is expanded"))
                .help("make the macros smaller; the rest of the file was not read");
        }
        !self.stopped
    }

    /// An error or warning, of which more can be said.
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.diagnostics.add(code, span, message)
    }

    fn text(&self, token: &Token) -> &str {
        &self.session.names[token.symbol]
    }
}

/// A command-line definition as one line of text.
fn one_line(text: &str) -> String {
    let mut line = text.replace(['\n', '\r'], " ");
    line.push('\n');
    line
}
