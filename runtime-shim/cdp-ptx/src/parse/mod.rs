//! PTX text to [`Module`]: the parser's state, tokens, and what stands at module scope.
//!
//! Functions' bodies are in `body`, variables in `variable`, operands in `operand`; instructions are read
//! by the table's rows. The text is read once, front to back, as
//! PTX demands declarations before uses; labels are the exception and are bound when their block
//! ends. Recursion is bounded everywhere, so no text can overflow the stack.

pub(crate) mod body;
pub(crate) mod constant;
mod function;
pub(crate) mod mods;
pub(crate) mod operand;
mod variable;

use std::collections::{HashMap, HashSet};

use crate::error::{ErrorKind, ParseError};
use crate::lexer::{Lexer, Tok, Token};
use crate::module::*;
use crate::types::{ScalarType, Word};
use body::FunctionState;

pub(crate) type Result<T> = std::result::Result<T, ParseError>;

/// Longest text that is looked at, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 31;

/// Parses a whole translation unit; a lenient parse keeps unknown instructions.
pub(crate) fn parse_module(text: &str, lenient: bool) -> Result<Module> {
    if text.len() > MAX_TEXT_BYTES {
        let message =
            format!("the text has {} bytes; at most {MAX_TEXT_BYTES} are read", text.len());
        return Err(ParseError { line: 1, column: 1, kind: ErrorKind::Limit, message });
    }
    let mut parser = Parser::new(text, lenient)?;
    parser.header()?;
    while parser.peek.tok != Tok::Eof {
        parser.module_item()?;
    }
    parser.finish()
}

/// Adds to a table; gives the position.
fn added<T>(table: &mut Vec<T>, item: T) -> u32 {
    table.push(item);
    table.len() as u32 - 1
}

/// Is this the first word of a function or variable?
fn begins_declaration(word: &str) -> bool {
    let linkage = Linkage::of(word).is_some();
    linkage || FunctionKind::of(word).is_some() || is_memory(word)
}

/// Is this the state space of a variable that is no parameter?
fn is_memory(word: &str) -> bool {
    matches!(word, "global" | "const" | "shared" | "local")
}

/// The parser's state at module scope.
pub(crate) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token.
    pub peek: Token<'a>,
    /// No comma comes before the next operand: it is the first, or the comma has been taken.
    pub at_start: bool,
    /// The function whose body is being read.
    pub st: FunctionState<'a>,
    /// Unknown instructions are kept.
    pub lenient: bool,
    /// What has been read so far.
    pub module: Module,
    /// Module-scope names.
    pub symbols: HashMap<&'a str, Symbol>,
    /// Numbers of `.file`.
    files: HashSet<u32>,
    /// Numbers of files that `.loc` has used, where another follows.
    used_files: Vec<(u32, Token<'a>)>,
    /// Strings of `.debug_str`, by label.
    debug_strings: HashMap<&'a str, Vec<u8>>,
    /// Inlined functions named by `.loc`, by function, location: the label and the bytes after it.
    inlined_names: Vec<(FunctionId, LocationId, &'a str, u64)>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, lenient: bool) -> Result<Parser<'a>> {
        let mut lexer = Lexer::new(text);
        let peek = lexer.next_token()?;
        Ok(Parser {
            lexer,
            peek,
            at_start: false,
            st: FunctionState::default(),
            lenient,
            module: Module { address_bits: 32, ..Module::default() },
            symbols: HashMap::new(),
            files: HashSet::new(),
            used_files: Vec::new(),
            debug_strings: HashMap::new(),
            inlined_names: Vec::new(),
        })
    }

    // Tokens and errors.

    /// Takes the next token.
    pub fn next(&mut self) -> Result<Token<'a>> {
        let next = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.peek, next))
    }

    fn eat_if(&mut self, found: bool) -> Result<bool> {
        if found {
            self.next()?;
        }
        Ok(found)
    }

    /// An error at `token`.
    pub fn error_at(&self, token: &Token, kind: ErrorKind, message: String) -> ParseError {
        ParseError::at(self.source(), token, kind, message)
    }

    /// The whole text.
    pub fn source(&self) -> &'a str {
        self.lexer.text()
    }

    /// The type of an address.
    pub fn address_ty(&self) -> ScalarType {
        if self.module.address_bits == 64 { ScalarType::U64 } else { ScalarType::U32 }
    }

    /// The error "expected this, found the next token".
    pub fn expected<T>(&self, what: &str) -> Result<T> {
        fail!(self, self.peek, Syntax, "expected {what}, found {}", self.peek)
    }

    /// Is the next token this character?
    pub fn at(&self, punct: u8) -> bool {
        self.peek.tok == Tok::Punct(punct)
    }

    /// Takes the next token if it is this character.
    pub fn eat(&mut self, punct: u8) -> Result<bool> {
        self.eat_if(self.at(punct))
    }

    /// Takes this character or fails.
    pub fn expect(&mut self, punct: u8) -> Result<()> {
        if self.eat(punct)? {
            return Ok(());
        }
        self.expected(&format!("`{}`", punct as char))
    }

    /// Takes a name or fails.
    pub fn ident(&mut self, what: &str) -> Result<Token<'a>> {
        if self.peek.tok == Tok::Ident { self.next() } else { self.expected(what) }
    }

    /// Is the next token `.word`?
    pub fn at_dot(&self, word: &str) -> bool {
        self.peek.tok == Tok::Dot && self.peek.text == word
    }

    /// Takes `.word` if it is next.
    pub fn eat_dot(&mut self, word: &str) -> Result<bool> {
        self.eat_if(self.at_dot(word))
    }

    /// Is the next token this word?
    pub fn at_word(&self, word: &str) -> bool {
        self.peek.tok == Tok::Ident && self.peek.text == word
    }

    /// Takes this word if it is next.
    pub fn eat_word(&mut self, word: &str) -> Result<bool> {
        self.eat_if(self.at_word(word))
    }

    /// Takes an unsigned number that fits 64 bits.
    pub fn number(&mut self, what: &str) -> Result<u64> {
        if self.peek.tok != Tok::Int {
            return self.expected(what);
        }
        let token = self.next()?;
        self.integer_literal(&token)
    }

    /// Takes an unsigned number that fits 32 bits.
    pub fn number_u32(&mut self, what: &str) -> Result<u32> {
        let token = self.peek;
        let value = self.number(what)?;
        let Ok(value) = u32::try_from(value) else {
            fail!(self, token, Limit, "{what} is {value}, which is more than 32 bits hold");
        };
        Ok(value)
    }

    /// `item {, item}`
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut list = vec![item(self)?];
        while self.eat(b',')? {
            list.push(item(self)?);
        }
        Ok(list)
    }

    /// Takes a string or fails.
    pub fn string(&mut self, what: &str) -> Result<&'a str> {
        if self.peek.tok == Tok::Str { Ok(self.next()?.text) } else { self.expected(what) }
    }

    /// Something between two characters.
    pub fn between<T>(
        &mut self,
        [open, close]: &[u8; 2],
        inside: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.expect(*open)?;
        let value = inside(self)?;
        self.expect(*close)?;
        Ok(value)
    }

    // Module scope.

    /// `.version`, `.target`, `.address_size`.
    fn header(&mut self) -> Result<()> {
        if !self.eat_dot("version")? {
            return self.expected("`.version` at the start of the text");
        }
        let token = self.next()?;
        let version = token.text.split_once('.').and_then(|(major, minor)| {
            Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
        });
        let Some((major, minor)) = version else {
            fail!(self, token, Syntax, "expected a version such as 8.5, found {token}");
        };
        self.module.version = (major, minor);
        if major > 9 {
            let version = format!("PTX ISA version {major}.{minor}");
            fail!(self, token, Unsupported, "{version} is not known (up to 9.x is)");
        }
        if !self.eat_dot("target")? {
            return self.expected("`.target` after `.version`");
        }
        self.list(Self::target).map(|_| ())
    }

    fn target(&mut self) -> Result<()> {
        let token = self.ident("a target such as sm_90")?;
        let target = &mut self.module.target;
        let Some(arch) = token.text.strip_prefix("sm_") else {
            match token.text {
                "debug" => {}
                option @ ("texmode_unified" | "texmode_independent" | "map_f64_to_f32") => {
                    target.options.push(option.to_string());
                }
                _ => fail!(self, token, Unsupported, "unknown target option {token}"),
            }
            return Ok(());
        };
        let digits = arch.trim_end_matches(['a', 'f']);
        let suffix = &arch[digits.len()..];
        match digits.parse() {
            Ok(sm) if (10..1000).contains(&sm) && suffix.len() <= 1 => target.sm = sm,
            _ => fail!(self, token, Unsupported, "unknown target {token}"),
        }
        target.suffix = suffix.chars().next();
        Ok(())
    }

    fn module_item(&mut self) -> Result<()> {
        if self.eat(b';')? {
            return Ok(());
        }
        if self.peek.tok != Tok::Dot {
            return self.expected("a directive");
        }
        match self.peek.text {
            "address_size" => self.address_size(),
            "file" => self.file(),
            "section" => self.section(),
            "pragma" => {
                let text = self.pragma()?;
                self.module.pragmas.push(text);
                Ok(())
            }
            "alias" => self.alias(),
            "loc" => {
                // Outside functions a location says nothing.
                self.next()?;
                self.loc_numbers().map(|_| ())
            }
            word if begins_declaration(word) => self.declaration(),
            "tex" => self.unsupported_item("texture references (use texture objects)"),
            "reg" => self.unsupported_item("registers at module scope"),
            _ => fail!(self, self.peek, Syntax, "unknown directive {}", self.peek),
        }
    }

    /// `.pragma "text";`
    fn pragma(&mut self) -> Result<String> {
        self.next()?;
        let text = self.string("the pragma's string")?.to_string();
        self.expect(b';')?;
        Ok(text)
    }

    fn unsupported_item<T>(&self, what: &str) -> Result<T> {
        fail!(self, self.peek, Unsupported, "{what} are not supported")
    }

    fn address_size(&mut self) -> Result<()> {
        self.next()?;
        let token = self.peek;
        let bits = self.number_u32("the address size")?;
        if !matches!(bits, 32 | 64) {
            fail!(self, token, Limit, "the address size is {bits}, not 32 or 64");
        }
        self.module.address_bits = bits;
        Ok(())
    }

    /// A function or variable with what stands before it.
    fn declaration(&mut self) -> Result<()> {
        let start = self.peek;
        let linkage = Linkage::from_str(start.text).unwrap_or(Linkage::Internal);
        if linkage != Linkage::Internal {
            self.next()?;
        }
        if self.peek.tok != Tok::Dot {
            return self.expected("`.entry`, `.func` or a state space");
        }
        match self.peek.text {
            "entry" | "func" if linkage != Linkage::Common => self.function(linkage, start),
            word if is_memory(word) => self.variables(linkage, Self::add_variable),
            _ => self.expected("`.entry`, `.func` or a state space"),
        }
    }

    /// `.file 1 "path", time, size`
    fn file(&mut self) -> Result<()> {
        self.next()?;
        let index = self.number_u32("the file's number")?;
        let path = self.string("the file's path")?.to_string();
        let mut stamp = None;
        if self.eat(b',')? {
            let time = self.number("the file's time")?;
            self.expect(b',')?;
            stamp = Some((time, self.number("the file's size")?));
        }
        // Line tables may name a file twice; the first entry stands.
        if self.files.insert(index) {
            self.module.files.push(SourceFile { index, path, stamp });
        }
        Ok(())
    }

    /// `.section name { ... }`: read for the strings that `.loc` refers to, else passed over.
    fn section(&mut self) -> Result<()> {
        self.next()?;
        let name = self.next()?;
        if !matches!(name.tok, Tok::Dot | Tok::Ident) {
            fail!(self, name, Syntax, "expected a section's name, found {name}");
        }
        if !self.at(b'{') {
            return self.expected("`{`");
        }
        if name.text == "debug_str" {
            self.next()?;
            return self.debug_str();
        }
        let (open, mut depth) = (self.peek, 0);
        loop {
            match self.next()?.tok {
                Tok::Punct(b'{') => depth += 1,
                Tok::Punct(b'}') if depth == 1 => return Ok(()),
                Tok::Punct(b'}') => depth -= 1,
                Tok::Eof => fail!(self, open, Syntax, "this block has no closing `}}`"),
                _ => {}
            }
        }
    }

    /// The inside of `.debug_str`: labels and bytes.
    fn debug_str(&mut self) -> Result<()> {
        let mut label = "";
        while !self.eat(b'}')? {
            match self.peek.tok {
                Tok::Ident => {
                    label = self.next()?.text;
                    self.expect(b':')?;
                    self.debug_strings.insert(label, Vec::new());
                }
                Tok::Dot if self.peek.text == "b8" => {
                    self.next()?;
                    let bytes = self.list(|parser| Ok(parser.number("a byte")? as u8))?;
                    self.debug_strings.entry(label).or_default().extend(bytes);
                }
                _ => return self.expected("a label or `.b8`"),
            }
        }
        Ok(())
    }

    /// `.alias name, function;`
    fn alias(&mut self) -> Result<()> {
        self.next()?;
        let alias = self.ident("the alias")?;
        self.expect(b',')?;
        let target = self.ident("a function")?;
        self.expect(b';')?;
        let (alias_id, target_id) = (self.function_of(&alias)?, self.function_of(&target)?);
        if self.module.functions[alias_id.index()].body.is_some() {
            fail!(self, alias, Redefinition, "{alias} has a body and cannot be an alias");
        }
        if self.module.functions[target_id.index()].body.is_none() {
            fail!(self, target, UnknownName, "{target} has no body, so nothing can be its alias");
        }
        self.module.functions[alias_id.index()].alias_of = Some(target_id);
        Ok(())
    }

    // Source locations.

    /// The numbers of `.loc`: file, line, column.
    fn loc_numbers(&mut self) -> Result<(u32, u32, u32)> {
        let token = self.peek;
        let file = self.number_u32("the file's number")?;
        if self.used_files.last().is_none_or(|(last, _)| *last != file) {
            self.used_files.push((file, token));
        }
        Ok((file, self.number_u32("the line")?, self.number_u32("the column")?))
    }

    /// `.loc file line column{, function_name label{+n}, inlined_at file line column}`.
    /// The second value is the label and the bytes after it.
    fn loc(&mut self) -> Result<(Location, Option<(&'a str, u64)>)> {
        self.next()?;
        let (file, line, column) = self.loc_numbers()?;
        let mut location = Location { file, line, column, inlined_at: None };
        if !self.eat(b',')? {
            return Ok((location, None));
        }
        self.keyword("function_name")?;
        let label = self.ident("a label in .debug_str")?.text;
        let offset = if self.eat(b'+')? { self.number("an offset")? } else { 0 };
        self.expect(b',')?;
        self.keyword("inlined_at")?;
        let (file, line, column) = self.loc_numbers()?;
        let inlined_at = InlinedAt { function: None, file, line, column, parent: None };
        location.inlined_at = Some(Box::new(inlined_at));
        Ok((location, Some((label, offset))))
    }

    fn keyword(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word)? { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    // The end.

    fn finish(mut self) -> Result<Module> {
        let mut used = self.used_files.iter();
        if let Some((number, token)) = used.find(|(number, _)| !self.files.contains(number)) {
            fail!(self, token, UnknownName, "no `.file` has the number {number}");
        }
        self.name_inlined_functions();
        Ok(self.module)
    }

    fn name_inlined_functions(&mut self) {
        for (function, location, label, offset) in &self.inlined_names {
            let bytes = self.debug_strings.get(label);
            let rest = bytes.and_then(|bytes| bytes.get(usize::try_from(*offset).ok()?..));
            let Some(rest) = rest else { continue };
            let length = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
            let name = String::from_utf8_lossy(&rest[..length]).into_owned();
            let body = self.module.functions[function.index()].body.as_mut();
            let location = body.and_then(|body| body.locations.get_mut(location.index()));
            if let Some(inlined) = location.and_then(|location| location.inlined_at.as_mut()) {
                inlined.function = Some(name).filter(|name| !name.is_empty());
            }
        }
    }
}
