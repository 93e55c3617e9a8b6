//! What the parser finds out by looking ahead, without passing a token: what a possibly qualified name
//! is, whether a type or a declaration begins here, and the few places where C++ reads the same tokens
//! in two ways. What can be a declaration is one (C++ [stmt.ambig], [dcl.ambig.res]).

use super::parser::Parser;
use super::symbols::Meaning;
use super::words::{Refusal, Word};
use crate::lex::TokenKind as T;
use crate::scopes::ScopeId;

/// `[ "::" ] { name "::" } ( name | "operator" op )`
#[derive(Clone, Copy)]
pub(super) struct Path {
    pub start: usize,
    /// The last name, or the word `operator`.
    pub last: usize,
    /// After the whole name.
    pub end: usize,
    /// The scope before the last name, if one is known.
    pub scope: Option<ScopeId>,
    pub meaning: Option<Meaning>,
    /// It begins with `std::`.
    pub in_std: bool,
    /// It has a `::`.
    pub qualified: bool,
}

impl Parser<'_> {
    /// True if a possibly qualified name begins at a place.
    pub fn is_path_at(&self, at: usize) -> bool {
        self.is_name_at(at) || self.kind_at(at) == Some(T::ColonColon)
    }

    /// The name that begins at a place.
    pub fn path(&self, start: usize) -> Path {
        let mut at = start;
        let mut qualified = self.kind_at(at) == Some(T::ColonColon);
        let mut scope = qualified.then_some(ScopeId::GLOBAL);
        let mut known = true;
        let mut in_std = false;
        at += usize::from(qualified);
        loop {
            let symbol = self.symbol_at(at);
            let meaning = match scope {
                None => self.symbols.get(symbol),
                Some(scope) => self.symbols.get_in(scope, symbol),
            };
            let meaning = meaning.filter(|_| known);
            let goes_on = self.kind_at(at + 1) == Some(T::ColonColon)
                && self.kind_at(at + 2) == Some(T::Ident)
                && matches!(self.word_at(at + 2), Word::Name | Word::Operator);
            if goes_on && self.is_name_at(at) {
                match meaning {
                    Some(Meaning::Namespace(id) | Meaning::Type(id)) => scope = Some(id),
                    _ if symbol == self.std => in_std = true,
                    _ => known = false,
                }
                qualified = true;
                at += 2;
                continue;
            }
            let end = match self.word_at(at) {
                Word::Operator => self.operator_end(at),
                _ => at + 1,
            };
            return Path { start, last: at, end, scope, meaning, in_std, qualified };
        }
    }

    /// The place after `operator+` and the like.
    fn operator_end(&self, at: usize) -> usize {
        match self.kind_at(at + 1) {
            Some(T::LParen | T::LBracket) => self.group_end(at + 1),
            Some(T::Ident) if matches!(self.text_at(at + 1), "new" | "delete") => {
                match self.kind_at(at + 2) {
                    Some(T::LBracket) => self.group_end(at + 2),
                    _ => at + 2,
                }
            }
            Some(T::Ident) | None => at + 1,
            // `operator""_suffix`
            Some(T::String) if self.kind_at(at + 2) == Some(T::Ident) => at + 3,
            Some(_) => at + 2,
        }
    }

    /// The place after the type that begins here, if one does: specifiers without attributes.
    pub fn type_end(&self, start: usize) -> Option<usize> {
        let mut at = start;
        let mut typed = false;
        loop {
            match self.word_at(at) {
                Word::Type | Word::Auto | Word::Refused(Refusal::Type) => {
                    at += 1;
                    typed = true;
                }
                Word::Qualifier => at += 1,
                Word::Record | Word::Enum if !typed => {
                    at += 1;
                    at += usize::from(self.word_at(at) == Word::Record);
                    at = self.path(at).end;
                    typed = true;
                }
                _ if typed => return Some(at),
                _ => {
                    at = self.simple_type_end(at)?;
                    typed = true;
                }
            }
        }
    }

    /// The place after the type at a place that is one word or name, as `T(x)` and `T{x}` have it.
    pub fn simple_type_end(&self, at: usize) -> Option<usize> {
        match self.word_at(at) {
            Word::Type => Some(at + 1),
            Word::Typeof => Some(self.group_end(at + 1)),
            Word::Name if self.is_path_at(at) => {
                let path = self.path(at);
                matches!(path.meaning, Some(Meaning::Type(_))).then_some(path.end)
            }
            _ => None,
        }
    }

    /// True if a declaration specifier stands at a place.
    pub fn is_specifier_at(&self, at: usize) -> bool {
        self.word_at(at).is_specifier() || self.type_end(at).is_some()
    }

    /// On a new line: what looks like the next declaration.
    pub fn begins_declaration(&self, after_function: bool) -> bool {
        match self.word() {
            Word::Type | Word::Auto | Word::Storage | Word::Typedef | Word::Record | Word::Enum => {
                true
            }
            Word::Attribute => !after_function,
            Word::Name => self
                .type_end(self.at)
                .is_some_and(|end| self.is_name_at(end) || self.kind_at(end) == Some(T::Star)),
            _ => false,
        }
    }

    /// After a type that ends at `at`, where a statement began: `T(x)` or `T{x}` as an expression.
    fn is_construction(&self, at: usize) -> bool {
        match self.kind_at(at) {
            Some(T::LBrace) => true,
            Some(T::LParen) => !self.declarator_end(at).is_some_and(|end| {
                let next = self.kind_at(end);
                matches!(next, Some(T::Semi | T::Eq | T::Comma | T::LParen | T::LBrace))
            }),
            _ => false,
        }
    }

    /// The place after the declarator that can stand at a place: `*x`, `(x)`, `x[3]`, `f(int)`.
    fn declarator_end(&self, mut at: usize) -> Option<usize> {
        while matches!(self.kind_at(at), Some(T::Star | T::Amp | T::AndAnd))
            || self.word_at(at) == Word::Qualifier
        {
            at += 1;
        }
        let group_end = self.group_end(at);
        let mut end = match self.kind_at(at)? {
            T::LParen if self.declarator_end(at + 1)? + 1 == group_end => group_end,
            T::Ident if self.is_name_at(at) => at + 1,
            _ => return None,
        };
        while self.kind_at(end) == Some(T::LBracket)
            || (self.kind_at(end) == Some(T::LParen) && self.opens_parameters(end, false))
        {
            end = self.group_end(end);
        }
        Some(end)
    }

    /// Whether a declaration begins here, at the start of a statement or of a statement's head.
    pub fn declares(&self) -> bool {
        let at = self.at;
        match self.word() {
            word if word.is_specifier() => true,
            Word::Auto
            | Word::Record
            | Word::Enum
            | Word::Refused(
                Refusal::Type | Refusal::Consteval | Refusal::Typename | Refusal::Virtual,
            ) => true,
            Word::Type | Word::Typeof => {
                !self.simple_type_end(at).is_some_and(|end| self.is_construction(end))
            }
            Word::Name if self.is_path_at(at) => self.name_declares(),
            _ => self.is(T::LBracket) && self.kind_at(at + 1) == Some(T::LBracket),
        }
    }

    fn name_declares(&self) -> bool {
        let path = self.path(self.at);
        if self.word_at(path.last) == Word::Operator {
            return false;
        }
        if self.kind_at(path.end) == Some(T::ColonColon) {
            return true;
        }
        if matches!(path.meaning, Some(Meaning::Type(_))) {
            return !self.is_construction(path.end);
        }
        if let Some(end) = self.template_arguments(&path) {
            return path.meaning != Some(Meaning::CudaTemplate)
                && (self.is_name_at(end)
                    || matches!(self.kind_at(end), Some(T::Star | T::Amp | T::AndAnd)));
        }
        self.looks_declared(&path)
    }

    /// After an unknown name: another name follows, or `*name` and then `=` or `;`.
    fn looks_declared(&self, path: &Path) -> bool {
        if self.is_name_at(path.end) || self.word_at(path.end) == Word::Qualifier {
            return true;
        }
        let at = self.after_pointers(path.end);
        at > path.end
            && path.meaning != Some(Meaning::Value)
            && self.is_name_at(at)
            && matches!(self.kind_at(at + 1), Some(T::Eq | T::Semi))
    }

    fn after_pointers(&self, at: usize) -> usize {
        (at..).find(|&at| !matches!(self.kind_at(at), Some(T::Star | T::Amp))).unwrap_or(at)
    }

    /// `(*)`, `(&)`, `(*const)(...)`: an abstract declarator's parentheses.
    fn is_abstract_group(&self, open: usize) -> bool {
        let mut at = open + 1;
        let mut pointers = 0;
        loop {
            match self.kind_at(at) {
                Some(T::Star | T::Amp | T::AndAnd) => pointers += 1,
                Some(T::Ident) if self.word_at(at) == Word::Qualifier => {}
                Some(T::RParen | T::LBracket) => return pointers > 0,
                _ => return false,
            }
            at += 1;
        }
    }

    /// Inside an expression, whether a type stands at a place by itself, as in a cast, and not as the
    /// beginning of `T(x)` or `T{x}`.
    pub fn is_type_name_at(&self, at: usize) -> bool {
        // Only one word or name constructs: `unsigned int(3)` is no expression.
        let Some(end) = self.simple_type_end(at) else { return self.is_specifier_at(at) };
        match self.kind_at(end) {
            Some(T::LBrace) => false,
            Some(T::LParen) => self.is_abstract_group(end),
            _ => true,
        }
    }

    /// At a `(` in an expression, which holds a name that is unknown and makes sense only as a type:
    /// `(name *)`, `(name)x`.
    pub fn is_unknown_cast(&self, open: usize) -> bool {
        let path = self.path(open + 1);
        if !self.is_path_at(open + 1) || self.word_at(path.last) == Word::Operator {
            return false;
        }
        let at = self.after_pointers(path.end);
        if self.kind_at(at) != Some(T::RParen) {
            return false;
        }
        let operand = matches!(self.kind_at(at + 1), Some(T::Number | T::Char | T::String))
            || self.is_name_at(at + 1);
        at > path.end || (operand && path.meaning.is_none())
    }

    /// For a name followed by `<`: the place after the `>`, if this is a list of template arguments.
    pub fn template_arguments(&self, path: &Path) -> Option<usize> {
        let open = path.end;
        if self.kind_at(open) != Some(T::Lt) {
            return None;
        }
        if path.meaning != Some(Meaning::Template) {
            let end = self.type_end(open + 1)?;
            let fits = matches!(
                self.kind_at(end)?,
                T::Gt | T::Shr | T::LaunchClose | T::Comma | T::Star | T::Amp
            );
            if !fits {
                return None;
            }
        }
        self.angles_end(open)
    }

    /// The place after the `>` that closes the `<` at a place, if that is near.
    pub fn angles_end(&self, open: usize) -> Option<usize> {
        let mut depth = 0i32;
        let mut at = open;
        for _ in 0..256 {
            match self.kind_at(at)? {
                T::Lt => depth += 1,
                T::Gt => depth -= 1,
                T::Shr => depth -= 2,
                T::LaunchClose => depth -= 3,
                T::Semi
                | T::LBrace
                | T::RBrace
                | T::RParen
                | T::AndAnd
                | T::OrOr
                | T::LaunchOpen => return None,
                _ => {}
            }
            at = self.group_end(at);
            if depth <= 0 {
                return Some(at);
            }
        }
        None
    }

    /// `T x(` at the parenthesis: parameters if they can be, else constructor arguments.
    pub fn opens_parameters(&self, open: usize, function_like: bool) -> bool {
        let close = self.group_end(open) - 1;
        let mut at = open + 1;
        while at < close {
            if self.kind_at(at) == Some(T::Ellipsis) {
                return true;
            }
            if !self.could_be_parameter(at, function_like) {
                return false;
            }
            at = self.find(at, |kind| kind == T::Comma) + 1;
        }
        true
    }

    fn could_be_parameter(&self, at: usize, function_like: bool) -> bool {
        // `[[maybe_unused]] int x`
        if self.kind_at(at) == Some(T::LBracket) {
            return self.kind_at(at + 1) == Some(T::LBracket);
        }
        if !self.is_specifier_at(at) {
            // An unknown type's name, most likely, in what must be a function.
            let two_names = self.is_name_at(at) && self.is_name_at(at + 1);
            return two_names || (function_like && self.is_name_at(at));
        }
        let Some(end) = self.type_end(at) else { return true };
        match self.kind_at(end) {
            Some(T::LBrace) => false,
            Some(T::LParen) => {
                // `int(x)` declares x, unless more of an expression follows.
                let ends = matches!(
                    self.kind_at(self.group_end(end)),
                    Some(T::Comma | T::RParen | T::LParen | T::LBracket | T::Eq)
                );
                ends && match self.kind_at(end + 1) {
                    Some(T::Star | T::Amp | T::AndAnd | T::RParen) => true,
                    Some(T::Ident) => {
                        self.is_specifier_at(end + 1) || self.kind_at(end + 2) == Some(T::RParen)
                    }
                    _ => false,
                }
            }
            _ => true,
        }
    }

    /// Whether the parentheses of a `for` hold `declaration : range`, perhaps after `init;`.
    pub fn is_range_for(&self, open: usize) -> bool {
        let (mut questions, mut semicolons) = (0, 0);
        let colon = self.find(open + 1, |kind| {
            match kind {
                T::Semi => semicolons += 1,
                T::Question => questions += 1,
                T::Colon if questions == 0 => return true,
                T::Colon => questions -= 1,
                _ => {}
            }
            false
        });
        self.kind_at(colon) == Some(T::Colon) && semicolons < 2
    }

    /// `[`, at an operand: the captures of a lambda expression.
    pub fn is_lambda(&self) -> bool {
        let after = self.group_end(self.at);
        matches!(self.kind_at(after), Some(T::LParen | T::LBrace | T::Arrow | T::Lt))
            || self.word_at(after) == Word::Attribute
            || self.is_text(after, "mutable")
    }

    /// An attribute that ends at `end` belongs to a statement (`[[fallthrough]];`, `[[likely]]`),
    /// where none changes what a program does.
    pub fn is_statement_attribute(&self, end: usize) -> bool {
        let another =
            self.kind_at(end) == Some(T::LBracket) && self.kind_at(end + 1) == Some(T::LBracket);
        !another && !self.is_specifier_at(end)
    }

    /// At `[[`: the place after `]]`, if this is an attribute.
    pub fn std_attribute_end(&self) -> Option<usize> {
        let inner = self.at + 1;
        let outer_end = self.group_end(self.at);
        let is_one = self.is(T::LBracket)
            && self.kind_at(inner) == Some(T::LBracket)
            && self.group_end(inner) + 1 == outer_end;
        is_one.then_some(outer_end)
    }
}
