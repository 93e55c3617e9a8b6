//! Names, types and declarators in the classifier: what a name is where it stands.

use super::classify::Classifier;
use super::context::{Context, ContextKind, Mode};
use super::scopes::{Meaning, NO_SCOPE};
use super::token::Kind;
use super::words::Word;
use crate::diagnostics::{Code, Diagnostic};
use crate::intern::Symbol;
use crate::lex::{Token, TokenKind};

/// A possibly qualified name in the input.
pub(super) struct Chain {
    /// Index of the last name.
    pub last: usize,
    /// Index after the whole name.
    pub end: usize,
    pub meaning: Option<Meaning>,
    /// It begins with `std::`.
    pub in_std: bool,
    /// It has a `::`.
    pub qualified: bool,
}

impl Classifier<'_> {
    /// The name that begins at `index` (a name, `operator`, or `::`).
    pub fn chain(&self, index: usize) -> Chain {
        let mut at = index;
        let mut scope = None;
        let mut known = true;
        let mut in_std = false;
        let mut qualified = false;
        if self.kind_at(at) == Some(TokenKind::ColonColon) {
            at += 1;
            qualified = true;
        }
        loop {
            let symbol = self.input.get(at).map_or(Symbol::EMPTY, |token| token.symbol);
            let meaning = match scope {
                None if in_std => self.scopes.get(symbol),
                None => self.scopes.get(symbol),
                Some(scope) => self.scopes.lookup(scope, symbol),
            };
            let meaning = meaning.filter(|_| known);
            let name_follows = self.kind_at(at + 2) == Some(TokenKind::Ident)
                && matches!(self.word_at(at + 2), Word::Name | Word::Operator);
            if self.kind_at(at + 1) == Some(TokenKind::ColonColon)
                && name_follows
                && self.is_name_at(at)
            {
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
            return Chain { last: at, end, meaning, in_std, qualified };
        }
    }

    /// The index after `operator+` and the like.
    fn operator_end(&self, index: usize) -> usize {
        match self.kind_at(index + 1) {
            Some(TokenKind::LParen | TokenKind::LBracket) => self.group_end(index + 1),
            Some(TokenKind::Ident)
                if matches!(self.text(self.input[index + 1].symbol), "new" | "delete") =>
            {
                match self.kind_at(index + 2) {
                    Some(TokenKind::LBracket) => self.group_end(index + 2),
                    _ => index + 2,
                }
            }
            Some(TokenKind::Ident) | None => index + 1,
            // `operator""_suffix`
            Some(TokenKind::String) if self.kind_at(index + 2) == Some(TokenKind::Ident) => {
                index + 3
            }
            Some(_) => index + 2,
        }
    }

    /// The index after a type that begins at `index`, if one does.
    pub fn type_end(&self, index: usize) -> Option<usize> {
        let mut at = index;
        let mut typed = false;
        loop {
            match self.word_at(at) {
                Word::Type | Word::Auto => {
                    at += 1;
                    typed = true;
                }
                Word::Qualifier => at += 1,
                Word::Typeof if !typed => {
                    at = self.group_end(at + 1);
                    typed = true;
                }
                Word::Record | Word::Enum if !typed => {
                    at += 1;
                    if self.word_at(at) == Word::Record {
                        at += 1;
                    }
                    at = self.chain(at).end;
                    typed = true;
                }
                _ => {
                    let starts =
                        self.is_name_at(at) || self.kind_at(at) == Some(TokenKind::ColonColon);
                    if typed || !starts {
                        return typed.then_some(at);
                    }
                    let chain = self.chain(at);
                    if !matches!(chain.meaning, Some(Meaning::Type(_))) {
                        return None;
                    }
                    at = chain.end;
                    typed = true;
                }
            }
        }
    }

    /// True if a declaration specifier stands at `index`.
    pub fn starts_decl(&self, index: usize) -> bool {
        matches!(
            self.word_at(index),
            Word::Storage
                | Word::Typedef
                | Word::Qualifier
                | Word::Attribute
                | Word::AttributeCall
                | Word::Alignas
                | Word::GnuAttribute
        ) || self.type_end(index).is_some()
    }

    pub fn member_name(&mut self) {
        let next = self.kind_at(self.at + 1);
        let token = self.input[self.at];
        if next == Some(TokenKind::ColonColon) {
            let message = "qualified member names are outside the `.cdp` subset";
            self.refuse(Code::E0240, token.span, message);
            self.at += 2;
            return;
        }
        self.take(Kind::Identifier);
    }

    /// A builtin type's word.
    pub fn type_word(&mut self, token: Token) {
        let mode = self.top().mode;
        match mode {
            Mode::Expr => self.type_in_expr(self.at, self.at + 1),
            Mode::Start if self.is_statement_context() && self.is_construction(self.at + 1) => {
                self.top().mode = Mode::Expr;
                self.type_in_expr(self.at, self.at + 1);
            }
            _ => {
                self.set_typed();
                if self.text(token.symbol) == "void" {
                    self.top().function_like = true;
                }
                self.take(Kind::TypeWord);
            }
        }
    }

    /// Statements, where `T(x)` may be an expression.
    fn is_statement_context(&mut self) -> bool {
        matches!(self.top().kind, ContextKind::Block | ContextKind::Head)
    }

    /// At the start of a statement, after a type that ends at `index`: `T(x)` as an expression and
    /// not a declaration. What can be a declaration is one.
    fn is_construction(&self, index: usize) -> bool {
        match self.kind_at(index) {
            Some(TokenKind::LBrace) => true,
            Some(TokenKind::LParen) => {
                let first = self.kind_at(index + 1);
                let after = self.kind_at(self.group_end(index));
                let declarator = match first {
                    Some(TokenKind::Star | TokenKind::Amp | TokenKind::AndAnd) => true,
                    Some(TokenKind::Ident) => self.kind_at(index + 2) == Some(TokenKind::RParen),
                    _ => false,
                };
                let goes_on = matches!(
                    after,
                    Some(
                        TokenKind::Semi
                            | TokenKind::Eq
                            | TokenKind::LParen
                            | TokenKind::LBracket
                            | TokenKind::Comma
                    )
                );
                !(declarator && goes_on)
            }
            _ => false,
        }
    }

    /// A type in an expression, tokens `start..end`: a cast's or `sizeof`'s type, or the beginning
    /// of `T(x)` or `T{x}`, which gets a marker in front.
    fn type_in_expr(&mut self, start: usize, end: usize) {
        let continues =
            matches!(self.last_kind(), Some(Kind::TypeWord | Kind::Qualifier | Kind::NewStar));
        let in_new = std::mem::take(&mut self.top().new_type);
        let plain = in_new || continues || self.top().alias.is_some();
        let constructs = match self.kind_at(end) {
            Some(TokenKind::LBrace) => true,
            Some(TokenKind::LParen) => !self.is_abstract_group(end),
            _ => false,
        };
        if constructs && !plain {
            let token = self.input[start];
            self.emit(Kind::Functional, Token { span: token.span.before(), ..token });
        }
        self.emit_name(start, end, Kind::TypeName);
        if in_new || self.last_was_new_type(continues) {
            self.new_type_tail();
        }
    }

    /// True while the words of a `new` expression's type go on (`new unsigned int`).
    fn last_was_new_type(&self, continues: bool) -> bool {
        if !continues {
            return false;
        }
        let mut before = self.out.iter().rev().skip_while(|token| {
            matches!(
                token.kind,
                Kind::TypeWord
                    | Kind::Qualifier
                    | Kind::TypeName
                    | Kind::ScopeName
                    | Kind::ColonColon
            )
        });
        before.next().is_some_and(|token| token.kind == Kind::New)
    }

    /// `*`s after the type of a `new` expression belong to the type.
    fn new_type_tail(&mut self) {
        while self.kind_at(self.at) == Some(TokenKind::Star) {
            self.take(Kind::NewStar);
        }
    }

    /// `(*)`, `(&)`, `(*const)(...)`: an abstract declarator's parentheses.
    fn is_abstract_group(&self, open: usize) -> bool {
        let mut at = open + 1;
        let mut pointers = 0;
        loop {
            match self.kind_at(at) {
                Some(TokenKind::Star | TokenKind::Amp | TokenKind::AndAnd) => pointers += 1,
                Some(TokenKind::Ident) if self.word_at(at) == Word::Qualifier => {}
                Some(TokenKind::RParen) => return pointers > 0,
                Some(TokenKind::LBracket) => return pointers > 0,
                _ => return false,
            }
            at += 1;
        }
    }

    /// Emits the tokens of a name or type word; the last as `last`, the others as scopes.
    pub fn emit_name(&mut self, start: usize, end: usize, last: Kind) {
        for index in start..end {
            let token = self.input[index];
            let kind = match token.kind {
                TokenKind::ColonColon => Kind::ColonColon,
                _ if self.words.get(token.symbol) == Word::Type => Kind::TypeWord,
                _ if index + 1 < end => Kind::ScopeName,
                _ => last,
            };
            self.emit(kind, token);
        }
        self.at = end;
    }

    /// Emits a name whose last part may be `operator+`.
    pub fn emit_identifier(&mut self, start: usize, chain: &Chain) {
        if self.word_at(chain.last) == Word::Operator {
            self.emit_name(start, chain.last, Kind::ScopeName);
            self.emit_operator(chain);
        } else {
            self.emit_name(start, chain.end, Kind::Identifier);
        }
    }

    fn emit_operator(&mut self, chain: &Chain) {
        let first = self.input[chain.last];
        let last = self.input[chain.end - 1];
        let mut text = String::from("operator");
        for index in chain.last + 1..chain.end {
            let token = self.input[index];
            if token.kind == TokenKind::Ident {
                text.push(' ');
            }
            text.push_str(&self.session.names[token.symbol]);
        }
        let span = self.session.sources.join(first.span, last.span);
        if chain.end == chain.last + 1 {
            let message = "conversion functions are outside the `.cdp` subset";
            self.refuse(Code::E0236, first.span, message);
        } else if text.contains('"') {
            let message = "user-defined literals are outside the `.cdp` subset";
            self.refuse(Code::E0233, span, message);
        }
        let symbol = self.session.names.intern(&text);
        self.emit(Kind::Identifier, Token { symbol, span, ..first });
        self.at = chain.end;
    }

    /// A name, qualified or not, that is no keyword.
    pub fn name(&mut self) {
        if self.top().tag.is_some_and(|tag| tag.name.is_none()) && self.top().mode == Mode::Specs {
            return self.tag_name();
        }
        let start = self.at;
        let chain = self.chain(start);
        if self.kind_at(chain.end) == Some(TokenKind::ColonColon) {
            return self.odd_scope(chain);
        }
        if self.refuse_restrict() {
            return;
        }
        let is_type = matches!(chain.meaning, Some(Meaning::Type(_)));
        let top = self.top();
        match top.mode {
            Mode::Specs if top.typed => self.declarator_name(start, &chain),
            Mode::Start if top.kind == ContextKind::Enumerators => {
                self.take(Kind::Identifier);
                let symbol = self.input[start].symbol;
                self.scopes.declare_value(symbol);
                self.top().mode = Mode::Named;
            }
            Mode::Start | Mode::Specs if is_type => self.type_at_start(start, &chain),
            Mode::Start | Mode::Specs => self.value_at_start(start, &chain),
            Mode::Named if is_type => self.emit_name(start, chain.end, Kind::TypeName),
            Mode::Named => self.emit_identifier(start, &chain),
            Mode::Expr if is_type => self.type_in_expr(start, chain.end),
            Mode::Expr => self.value_in_expr(start, &chain),
        }
    }

    /// `T::*` and `T::~T`.
    fn odd_scope(&mut self, chain: Chain) {
        let token = self.input[chain.last];
        match self.kind_at(chain.end + 1) {
            Some(TokenKind::Star) => {
                self.refuse(
                    Code::E0237,
                    token.span,
                    "pointers to members are outside the `.cdp` subset",
                );
            }
            Some(TokenKind::Tilde) => {
                self.refuse(Code::E0223, token.span, "destructors are outside the `.cdp` subset");
            }
            _ => self.error(Code::E0201, token.span, "expected a name after `::`"),
        }
        self.at = chain.end + 1;
    }

    fn type_at_start(&mut self, start: usize, chain: &Chain) {
        if self.top().kind == ContextKind::Record && self.constructor_at(start, chain) {
            return;
        }
        let at_start = self.top().mode == Mode::Start;
        if at_start && self.is_statement_context() && self.is_construction(chain.end) {
            self.top().mode = Mode::Expr;
            return self.type_in_expr(start, chain.end);
        }
        self.set_typed();
        self.emit_name(start, chain.end, Kind::TypeName);
    }

    fn constructor_at(&mut self, start: usize, chain: &Chain) -> bool {
        let symbol = self.input[start].symbol;
        let own = self.top().name == Some(symbol);
        let group = self.kind_at(chain.end) == Some(TokenKind::LParen);
        if !(own && group) {
            return false;
        }
        let name = self.text(symbol).to_owned();
        let found = Diagnostic::new(
            Code::E0223,
            self.input[start].span,
            format!("constructors (of `{name}`) are outside the `.cdp` subset"),
        );
        let cure = format!(
            "fill the members with an initialiser, `{name} x = {{ ... }};`, or write a function that returns one"
        );
        self.diagnostics.push(found.help(cure));
        self.drop_item();
        true
    }

    /// The name a declarator declares. It hides a type of the same name from here on.
    fn declarator_name(&mut self, start: usize, chain: &Chain) {
        let symbol = self.input[chain.last].symbol;
        for index in start..chain.last {
            if self.kind_at(index) == Some(TokenKind::Ident) {
                let token = self.input[index];
                self.emit(Kind::DeclScope, token);
            }
        }
        if chain.qualified {
            self.enter_scope_of(start, chain);
        }
        let last = Chain {
            last: chain.last,
            end: chain.end,
            meaning: None,
            in_std: false,
            qualified: false,
        };
        self.emit_identifier(chain.last, &last);
        let typedef = self.declaring().typedef;
        if !chain.qualified {
            if typedef {
                self.scopes.declare(symbol, Meaning::Type(NO_SCOPE));
            } else {
                self.scopes.declare_value(symbol);
            }
        }
        self.top().mode = Mode::Named;
    }

    /// The parameters and body of `int a::f(T)` see the names of `a`.
    fn enter_scope_of(&mut self, start: usize, chain: &Chain) {
        let mark = self.scopes.mark();
        let mut scope = None;
        for index in start..chain.last {
            if self.kind_at(index) == Some(TokenKind::Ident) {
                let symbol = self.input[index].symbol;
                let meaning = match scope {
                    None => self.scopes.get(symbol),
                    Some(scope) => self.scopes.lookup(scope, symbol),
                };
                let Some(Meaning::Namespace(inner)) = meaning else { return };
                self.scopes.open(inner);
                scope = Some(inner);
            }
        }
        let top = self.top();
        top.pending = top.pending.or(Some(mark));
    }

    /// The context whose specifiers the current declarator belongs to.
    fn declaring(&self) -> &Context {
        let mut index = self.contexts.len() - 1;
        while index > 0 && self.contexts[index].kind == ContextKind::DeclaratorGroup {
            index -= 1;
        }
        &self.contexts[index]
    }

    /// At the beginning of a statement, declaration or parameter: a name that is no type.
    fn value_at_start(&mut self, start: usize, chain: &Chain) {
        let token = self.input[chain.last];
        let top_kind = self.top().kind;
        let at_start = self.top().mode == Mode::Start;
        let next = self.kind_at(chain.end);
        if top_kind == ContextKind::Block
            && at_start
            && next == Some(TokenKind::Colon)
            && !chain.qualified
        {
            self.take(Kind::LabelName);
            self.take(Kind::Colon);
            return;
        }
        if top_kind == ContextKind::Record && self.constructor_at(start, chain) {
            return;
        }
        if next == Some(TokenKind::Lt) {
            if self.is_cuda_template(chain) && matches!(top_kind, ContextKind::Block) {
                self.enter_expr();
                return self.value_in_expr(start, chain);
            }
            if let Some(end) = self.template_arguments(chain) {
                return self.template_use(start, chain, end, true);
            }
        }
        let declares_only =
            !matches!(top_kind, ContextKind::Block | ContextKind::Head) || !at_start;
        let is_operator = self.word_at(chain.last) == Word::Operator;
        if is_operator && top_kind == ContextKind::Record {
            let message = "conversion functions are outside the `.cdp` subset";
            self.refuse(Code::E0236, token.span, message);
            return self.drop_item();
        }
        let ends = matches!(
            next,
            Some(TokenKind::Eq | TokenKind::Semi | TokenKind::Comma | TokenKind::LBracket)
        );
        if !at_start && ends && top_kind != ContextKind::Params {
            return self.untyped_declarator(start, chain);
        }
        let unknown_type = if is_operator {
            false
        } else if top_kind == ContextKind::Params || top_kind == ContextKind::Record {
            true
        } else if declares_only {
            next != Some(TokenKind::LParen)
        } else {
            self.looks_declared(chain.end)
        };
        if unknown_type {
            return self.unknown_type(start, chain);
        }
        if declares_only && next == Some(TokenKind::LParen) && top_kind != ContextKind::Expr {
            return self.untyped_declarator(start, chain);
        }
        self.enter_expr();
        self.top().mode = Mode::Expr;
        self.value_in_expr(start, chain);
    }

    /// In a block, after an unknown name: another name follows, or `*name` and then `=` or `;`.
    fn looks_declared(&self, index: usize) -> bool {
        if self.is_name_at(index) {
            return true;
        }
        if self.word_at(index) == Word::Qualifier {
            return true;
        }
        let mut at = index;
        while matches!(self.kind_at(at), Some(TokenKind::Star | TokenKind::Amp)) {
            at += 1;
        }
        at > index
            && self.is_name_at(at)
            && matches!(self.kind_at(at + 1), Some(TokenKind::Eq | TokenKind::Semi))
    }

    fn unknown_type(&mut self, start: usize, chain: &Chain) {
        let token = self.input[chain.last];
        let first = self.input[start];
        let span = self.session.sources.join(first.span, token.span);
        if self.top().is_file_like() && self.is_text(start, "import") {
            self.refuse(Code::E0235, span, "modules (`import`) are outside the `.cdp` subset");
            return self.drop_item();
        }
        if !self.unknown_types.contains(&token.symbol) {
            self.unknown_types.push(token.symbol);
            let name = self.text(token.symbol).to_owned();
            let mut found = if chain.in_std {
                let message = format!(
                    "`std::{name}` is outside the `.cdp` subset: it is part of the C++ standard library"
                );
                Diagnostic::new(Code::E0243, span, message)
            } else {
                Diagnostic::new(Code::E0204, span, format!("unknown type name `{name}`"))
            };
            if let Some(header) = header_of(&name) {
                found = found.help(format!("`#include <{header}>` declares it"));
            } else if let Some(right) = similar_type(&name) {
                found = found.suggest("did you mean", token.span, right);
            }
            self.diagnostics.push(found);
        }
        self.set_typed();
        self.emit(Kind::ErrorType, Token { span, ..token });
        self.at = chain.end;
    }

    /// A declared name without a type before it, as in C before 1999.
    fn untyped_declarator(&mut self, start: usize, chain: &Chain) {
        let token = self.input[start];
        let name = self.text(self.input[chain.last].symbol).to_owned();
        let function = self.kind_at(chain.end) == Some(TokenKind::LParen);
        let what = if function { "return type" } else { "type" };
        let found = Diagnostic::new(Code::E0204, token.span, format!("`{name}` has no {what}"));
        let found = if name == "main" {
            found.suggest("write the type before it", token.span.before(), "int ")
        } else if function {
            found
                .help("write the type before it, for example `void`")
                .note(format!("if `{name}` is meant to be a macro, no such macro is defined"))
        } else {
            found.help("write the type before it, for example `int` or `auto`")
        };
        self.diagnostics.push(found);
        self.set_typed();
        self.emit(Kind::ErrorType, Token { span: token.span.before(), ..token });
        self.declarator_name(start, chain);
    }

    /// A function template of CUDA's headers that nothing of the program hides.
    fn is_cuda_template(&self, chain: &Chain) -> bool {
        chain.meaning == Some(Meaning::CudaTemplate)
    }

    fn value_in_expr(&mut self, start: usize, chain: &Chain) {
        if self.kind_at(chain.end) == Some(TokenKind::Lt) && self.is_cuda_template(chain) {
            return self.emit_name(start, chain.end, Kind::TemplateName);
        }
        if self.kind_at(chain.end) == Some(TokenKind::Lt)
            && let Some(end) = self.template_arguments(chain)
        {
            return self.template_use(start, chain, end, false);
        }
        if std::mem::take(&mut self.top().new_type) || self.is_cast_type(chain) {
            return self.unknown_type(start, chain);
        }
        self.emit_identifier(start, chain);
    }

    /// A name where only a type makes sense: `(name *)`, `(name)x`, `static_cast<name>`.
    fn is_cast_type(&self, chain: &Chain) -> bool {
        let mut at = chain.end;
        while matches!(self.kind_at(at), Some(TokenKind::Star | TokenKind::Amp)) {
            at += 1;
        }
        let pointers = at > chain.end;
        let mut before = self.out.iter().rev().map(|token| token.kind);
        match (before.next(), self.kind_at(at)) {
            (Some(Kind::LParen), Some(TokenKind::RParen)) => {
                let operand = matches!(
                    self.kind_at(at + 1),
                    Some(TokenKind::Number | TokenKind::Char | TokenKind::String)
                ) || self.is_name_at(at + 1);
                let in_expression = matches!(
                    before.next(),
                    Some(
                        Kind::Assign
                            | Kind::OpAssign
                            | Kind::Binary
                            | Kind::Return
                            | Kind::Comma
                            | Kind::LParen
                            | Kind::Question
                            | Kind::Plus
                            | Kind::Minus
                    )
                );
                pointers || (operand && in_expression)
            }
            (Some(Kind::Lt), Some(TokenKind::Gt)) => {
                matches!(before.next(), Some(Kind::NamedCast | Kind::TemplateName))
            }
            _ => false,
        }
    }

    /// For a name followed by `<`: the index after the `>`, if this is a list of template arguments.
    fn template_arguments(&self, chain: &Chain) -> Option<usize> {
        let known = chain.meaning == Some(Meaning::Template);
        let open = chain.end;
        if !known {
            let end = self.type_end(open + 1)?;
            let next = self.kind_at(end)?;
            let fits = matches!(
                next,
                TokenKind::Gt
                    | TokenKind::Shr
                    | TokenKind::LaunchClose
                    | TokenKind::Comma
                    | TokenKind::Star
                    | TokenKind::Amp
            );
            if !fits {
                return None;
            }
        }
        let mut depth = 0i32;
        let mut at = open;
        for _ in 0..256 {
            match self.kind_at(at)? {
                TokenKind::Lt => depth += 1,
                TokenKind::Gt => depth -= 1,
                TokenKind::Shr => depth -= 2,
                TokenKind::LaunchClose => depth -= 3,
                TokenKind::Semi
                | TokenKind::LBrace
                | TokenKind::RBrace
                | TokenKind::RParen
                | TokenKind::AndAnd
                | TokenKind::OrOr
                | TokenKind::LaunchOpen => return None,
                _ => {}
            }
            at = self.group_end(at);
            if depth <= 0 {
                return Some(at);
            }
        }
        None
    }

    /// Refuses `name<arguments>`, tokens up to `end`.
    fn template_use(&mut self, start: usize, chain: &Chain, end: usize, at_start: bool) {
        let first = self.input[start];
        let name = self.text(self.input[chain.last].symbol).to_owned();
        let span = self.session.sources.join(first.span, self.input[end - 1].span);
        if chain.in_std {
            let message = format!(
                "`std::{name}` is outside the `.cdp` subset: it is part of the C++ standard library"
            );
            self.refuse(Code::E0243, span, message);
        } else {
            self.refuse(
                Code::E0220,
                span,
                format!("templates (`{name}<...>`) are outside the `.cdp` subset"),
            );
        }
        self.at = end;
        let declares = at_start
            && (self.is_name_at(end)
                || matches!(
                    self.kind_at(end),
                    Some(TokenKind::Star | TokenKind::Amp | TokenKind::AndAnd)
                ));
        if declares {
            self.set_typed();
            self.emit(Kind::ErrorType, Token { span, ..first });
        } else {
            self.enter_expr();
            self.emit(Kind::ErrorExpr, Token { span, ..first });
        }
    }
}

/// The header a C program would include for a type.
fn header_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "FILE" => "stdio.h",
        "clock_t" | "time_t" | "tm" => "time.h",
        "div_t" | "ldiv_t" => "stdlib.h",
        "ptrdiff_t" | "size_t" | "max_align_t" => "stddef.h",
        _ if name.ends_with("_t") && (name.starts_with("int") || name.starts_with("uint")) => {
            "stdint.h"
        }
        _ => return None,
    })
}

/// The type a misspelled or foreign name probably means.
fn similar_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "boolean" | "BOOL" | "Bool" => "bool",
        "byte" | "BYTE" | "u8" | "uint8" => "unsigned char",
        "u16" | "uint16" | "WORD" => "unsigned short",
        "u32" | "uint32" | "DWORD" => "unsigned int",
        "u64" | "uint64" => "unsigned long long",
        "i8" | "int8" => "signed char",
        "i16" | "int16" => "short",
        "i32" | "int32" => "int",
        "i64" | "int64" => "long long",
        "f32" => "float",
        "f64" => "double",
        "string" => "const char *",
        "__fp16" | "fp16" => "__half",
        _ => {
            const TYPES: [&str; 9] =
                ["void", "int", "char", "float", "double", "unsigned", "short", "long", "bool"];
            return TYPES
                .into_iter()
                .find(|right| name.len() > 2 && crate::preprocess::near(name, right));
        }
    })
}
