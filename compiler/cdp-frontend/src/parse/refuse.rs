//! What the subset leaves out, where several productions meet it. Each construct is named and passed as
//! a whole; what only one production meets is refused there.

use super::declarations::Declared;
use super::lookahead::Path;
use super::parser::{Fault, Parsed, Parser};
use super::specifiers::{Place, Specifiers};
use super::symbols::Meaning;
use super::words::{Refusal, Word};
use crate::ast::*;
use crate::diagnostics::{Code, Diagnostic};
use crate::lex::TokenKind as T;

impl Parser<'_> {
    /// A word of C++ outside the subset. It is passed where what follows can be read without it;
    /// otherwise the declaration or statement ends.
    pub fn refuse_word(&mut self, refusal: Refusal) -> Parsed<()> {
        let word = self.text_at(self.at).to_owned();
        let (message, help) = match refusal {
            Refusal::COnly(right) => {
                self.report_c_word(right);
                self.at += 1;
                return Ok(());
            }
            Refusal::TypeWord => {
                self.refuse_type_word();
                return Ok(());
            }
            Refusal::Template => return self.refuse_template().map(|_| ()),
            Refusal::Typename => ("templates (`typename`) are outside the `.cdp` subset", ""),
            Refusal::Try => {
                ("exceptions (`try`) are outside the `.cdp` subset", "return an error code instead")
            }
            Refusal::Virtual => (
                "virtual functions are outside the `.cdp` subset",
                "use a function pointer, or a `switch` on a kind",
            ),
            Refusal::Friend => {
                ("`friend` is outside the `.cdp` subset: all members are public", "")
            }
            Refusal::Explicit => ("constructors (`explicit`) are outside the `.cdp` subset", ""),
            Refusal::Export => ("modules (`export`) are outside the `.cdp` subset", ""),
            Refusal::Goto => ("labels of a block (WORD) are outside the `.cdp` subset", ""),
            Refusal::Concept | Refusal::Requires => {
                ("concepts and constraints (WORD) are outside the `.cdp` subset", "")
            }
            Refusal::Access => (
                "access control (WORD) is outside the `.cdp` subset",
                "leave it out: all members are public in a `struct`",
            ),
            Refusal::Consteval => {
                ("WORD is outside the `.cdp` subset", "write `constexpr` for a variable")
            }
            _ => return Err(self.expected("a declaration")),
        };
        let message = message.replace("WORD", &format!("`{word}`"));
        let found = Diagnostic::new(refusal.code(), self.span_at(self.at), message);
        self.report(if help.is_empty() { found } else { found.help(help) });
        match refusal {
            Refusal::Typename | Refusal::Try | Refusal::Consteval | Refusal::Access => {
                self.at += 1;
                if refusal == Refusal::Access {
                    self.eat(T::Colon);
                }
                Ok(())
            }
            _ => Err(Fault::Refused),
        }
    }

    /// A type outside the subset, passed.
    pub fn refuse_type_word(&mut self) {
        let message = format!("the type `{}` is outside the `.cdp` subset", self.text_at(self.at));
        self.error(Refusal::TypeWord.code(), self.span_at(self.at), message);
        self.at += 1;
    }

    /// A keyword of C that C++ does not know; `right` is what C++ has for it. Not passed.
    pub fn report_c_word(&mut self, right: &str) {
        let (word, span) = (self.text_at(self.at), self.span_at(self.at));
        let found = Diagnostic::new(Code::E0239, span, format!("`{word}` is C, not C++"));
        self.report(match right.chars().all(|c| c.is_ascii_alphabetic() || c == '_') {
            true => found.suggest("write", span, right),
            false => found.help(format!("use {right} instead")),
        });
    }

    /// `catch (...) { }`, after a `try` that was refused.
    pub fn skip_catch(&mut self) {
        self.at += 1;
        self.skip_parentheses();
        self.skip_item();
    }

    /// A template declaration, passed as a whole. Its name is remembered, so that uses with `<...>`
    /// are refused by name too.
    pub fn refuse_template(&mut self) -> Parsed<Decl> {
        let start = self.at;
        let message = "templates are outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0220, self.span_at(start), message);
        self.report(found.help("write one function or type for each set of types that you use"));
        self.at += 1;
        if self.is(T::Lt) {
            self.skip_angles();
        }
        let head = self.at;
        self.skip_item();
        if let Some(name) = self.template_name(head, self.at) {
            self.symbols.set(self.symbol_at(name), Meaning::Template);
        }
        Ok(Decl { kind: DeclKind::Error, span: self.since(start) })
    }

    /// Passes `<...>`.
    fn skip_angles(&mut self) {
        let mut depth = 0i32;
        while let Some(kind) = self.kind() {
            match kind {
                T::Lt => depth += 1,
                T::Gt => depth -= 1,
                T::Shr => depth -= 2,
                T::LaunchClose => depth -= 3,
                T::Semi | T::LBrace | T::RBrace => return,
                _ => {}
            }
            self.at = self.group_end(self.at);
            if depth <= 0 {
                return;
            }
        }
    }

    /// The name that the template in `start..end` declares: after `struct`, or before the first
    /// parenthesis, `=` or `;`.
    fn template_name(&self, start: usize, end: usize) -> Option<usize> {
        let mut last_name = None;
        let mut at = start;
        while at < end {
            match (self.kind_at(at)?, self.word_at(at)) {
                (T::Ident, Word::Record) => return self.is_name_at(at + 1).then_some(at + 1),
                // The parentheses of `__launch_bounds__(...)` are not the parameters.
                (T::Ident, Word::AttributeCall | Word::GnuAttribute | Word::Alignas) => {
                    at = self.group_end(at + 1);
                    continue;
                }
                (T::Ident, Word::Name) => last_name = Some(at),
                (T::LParen | T::Eq | T::Semi | T::LBrace, _) => return last_name,
                _ => {}
            }
            at += 1;
        }
        last_name
    }

    /// `[captures](parameters) { }`, passed.
    pub fn refuse_lambda(&mut self) -> Expr {
        let start = self.at;
        let captures = self.group_end(start);
        let span = self.span(start, captures);
        let message = "lambda expressions are outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0221, span, message);
        self.report(
            found.help("write a `__device__` function, and pass what it captures as arguments"),
        );
        self.at = captures;
        while let Some(kind) = self.kind() {
            match kind {
                T::LBrace => {
                    self.at = self.group_end(self.at);
                    break;
                }
                T::Semi | T::RBrace | T::RParen => break,
                _ => self.at = self.group_end(self.at),
            }
        }
        Expr { kind: ExprKind::Error, span, depth: 1 }
    }

    /// `.*`, `->*` and `<=>`, which are read as the operators most like them.
    pub fn refuse_operator(&mut self) {
        let span = self.span_at(self.at);
        match self.kind() {
            Some(T::DotStar | T::ArrowStar) => {
                self.error(Code::E0237, span, "pointers to members are outside the `.cdp` subset");
            }
            Some(T::Spaceship) => {
                let message = "the three-way comparison `<=>` is outside the `.cdp` subset";
                self.error(Code::E0240, span, message);
            }
            _ => {}
        }
    }

    /// `T::*` and `T::~T`; passed up to the `*` or `~`.
    pub fn refuse_odd_scope(&mut self, path: &Path) {
        let span = self.span_at(path.last);
        match self.kind_at(path.end + 1) {
            Some(T::Star) => {
                self.error(Code::E0237, span, "pointers to members are outside the `.cdp` subset");
            }
            Some(T::Tilde) => {
                self.error(Code::E0223, span, "destructors are outside the `.cdp` subset");
            }
            _ => self.error(Code::E0201, span, "expected a name after `::`"),
        }
        self.at = path.end + 1;
    }

    /// `S(` in the record `S`.
    pub fn refuse_constructor(&mut self, path: &Path) -> Parsed<()> {
        let own = self.record == Some(self.symbol_at(path.start));
        if !own || self.kind_at(path.end) != Some(T::LParen) {
            return Ok(());
        }
        let name = self.text_at(path.start);
        let cure = format!(
            "fill the members with an initialiser, `{name} x = {{ ... }};`, or write a function that returns one"
        );
        let message = format!("constructors (of `{name}`) are outside the `.cdp` subset");
        let found = Diagnostic::new(Code::E0223, self.span_at(path.start), message);
        self.report(found.help(cure));
        Err(Fault::Refused)
    }

    /// `= delete;` and `= default;` after parameters.
    pub fn refuse_special_function(&mut self) -> Parsed<()> {
        let next = self.at + 1;
        let word = ["delete", "default"].into_iter().find(|word| self.is_text(next, word));
        let Some(word) = word.filter(|_| self.is(T::Eq)) else { return Ok(()) };
        let message = format!("functions with `= {word}` are outside the `.cdp` subset");
        let cure = match word {
            "delete" => "leave the declaration out: what is not declared cannot be called",
            _ => "leave the declaration out: records are made and copied member by member",
        };
        let span = self.span(self.at, next + 1);
        self.report(Diagnostic::new(Code::E0239, span, message).help(cure));
        Err(Fault::Refused)
    }

    /// `auto [a, b] = ...`, at the bracket or the `&` before it.
    pub fn is_bindings(&self, specs: &Specifiers) -> bool {
        let reference = matches!(self.kind(), Some(T::Amp | T::AndAnd));
        let at = self.at + usize::from(reference);
        specs.auto
            && self.kind_at(at) == Some(T::LBracket)
            && self.kind_at(at + 1) != Some(T::LBracket)
    }

    /// The error of structured bindings; up to their bracket.
    pub fn report_bindings(&mut self) {
        if !self.eat(T::Amp) {
            self.eat(T::AndAnd);
        }
        let message = "structured bindings are outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0232, self.span_at(self.at), message);
        self.report(found.help("give the object a name, and use its members"));
    }

    /// `auto [a, b] = ...;`, passed. The names are declared with an unknown type, so that their uses
    /// raise nothing more.
    pub fn refuse_bindings(&mut self, mut specs: Specifiers) -> Parsed<Declared> {
        self.report_bindings();
        let open = self.at;
        let names: Vec<usize> =
            (open + 1..self.group_end(open)).filter(|&at| self.is_name_at(at)).collect();
        if names.is_empty() || !matches!(specs.place, Place::File | Place::Block) {
            return Err(Fault::Refused);
        }
        let mut declarators = Vec::new();
        for at in names {
            let base = Ident { name: self.symbol_at(at), span: self.span_at(at) };
            let span = base.span;
            let name = QualName { global: false, scopes: Vec::new(), base, operator: None, span };
            let declarator =
                Declarator { name: Some(name), parts: Vec::new(), attrs: Vec::new(), span };
            declarators.push(InitDeclarator { declarator, bit_width: None, init: None, span });
            self.symbols.set(base.name, Meaning::Value);
        }
        self.skip_item();
        specs.specs.ty.kind = TypeSpecKind::Error;
        Ok(Declared::Simple(Box::new(SimpleDecl { specs: specs.specs, declarators })))
    }

    /// A function's body in a block; what was read of it becomes a prototype.
    pub fn refuse_nested_function(&mut self, declarator: &Declarator) {
        let span = match &declarator.name {
            Some(name) => name.base.span,
            None => self.span_at(self.at),
        };
        let message = "functions inside functions are outside the `.cdp` subset";
        let found = Diagnostic::new(Code::E0238, span, message);
        self.report(found.help("define it at file scope, before this function"));
        self.at = self.group_end(self.at);
    }

    /// `using enum E;`, and `using Base::member;` in a record.
    pub fn refuse_using(&mut self, place: Place) -> Parsed<()> {
        let (what, cure) = if self.word() == Word::Enum {
            ("`using enum` is", "write the enumerators with the enumeration's name before `::`")
        } else if place == Place::Member {
            ("using-declarations of members are", "declare the member here")
        } else {
            return Ok(());
        };
        let message = format!("{what} outside the `.cdp` subset");
        let found = Diagnostic::new(Code::E0239, self.span_at(self.at - 1), message);
        self.report(found.help(cure));
        Err(Fault::Refused)
    }
}
