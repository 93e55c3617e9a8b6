//! What introduces names in the classifier: tags of records and enums, `using`, namespaces; and the
//! words of `__attribute__`, which mean nothing outside it.

use super::classify::{Classifier, Unit};
use super::context::{Context, ContextKind, Mode, TagState};
use super::scopes::Meaning;
use super::token::{Kind, Tok};
use super::words::Word;
use crate::ast::Ident;
use crate::diagnostics::Code;
use crate::lex::{Token, TokenKind};

impl Classifier<'_> {
    pub fn record_word(&mut self, token: Token) {
        if self.top().mode == Mode::Expr {
            // `(struct S *)p`, `sizeof(struct S)`
            self.take(Kind::Record);
            if self.is_name_at(self.at) {
                let chain = self.chain(self.at);
                self.emit_name(self.at, chain.end, Kind::TypeName);
            }
            return;
        }
        self.set_typed();
        self.top().tag = Some(TagState { is_enum: false, name: None });
        self.emit(Kind::Record, token);
        self.at += 1;
    }

    pub fn tag_name(&mut self) {
        let chain = self.chain(self.at);
        let symbol = self.input[chain.last].symbol;
        let is_enum = self.top().tag.is_some_and(|tag| tag.is_enum);
        let start = self.at;
        self.emit_name(start, chain.end, Kind::TypeName);
        if self.is_text(self.at, "final") {
            self.at += 1;
        }
        let next = self.kind_at(self.at);
        let defines = matches!(next, Some(TokenKind::LBrace | TokenKind::Semi | TokenKind::Colon));
        let meaning = self.scopes.get(symbol);
        let known = matches!(meaning, Some(Meaning::Type(_)));
        // A function or variable of the same name keeps its meaning, unless the tag is new here.
        if !chain.qualified && (defines || meaning.is_none()) {
            // A forward declaration must not hide the scope of an earlier definition.
            if !known || next != Some(TokenKind::Semi) {
                let scope = self.scopes.new_scope();
                self.scopes.declare(symbol, Meaning::Type(scope));
            }
        }
        self.top().tag = Some(TagState { is_enum, name: Some(symbol) });
    }

    /// `using namespace a;`, `using a::b;`, `using T = type;`
    pub fn using_word(&mut self) {
        self.take(Kind::Using);
        self.top().mode = Mode::Expr;
        if self.word_at(self.at) == Word::Namespace {
            self.take(Kind::Namespace);
            let chain = self.chain(self.at);
            if let Some(Meaning::Namespace(scope)) = chain.meaning {
                self.scopes.open(scope);
            }
            if self.is_name_at(chain.last) {
                self.emit_name(self.at, chain.end, Kind::Identifier);
            }
            return;
        }
        if self.is_name_at(self.at) && self.kind_at(self.at + 1) == Some(TokenKind::Eq) {
            let symbol = self.input[self.at].symbol;
            self.take(Kind::Identifier);
            self.top().alias = Some(symbol);
            return;
        }
        if self.refuse_using() {
            return;
        }
        self.used_name();
        // `using a::b, a::c;` is one declaration for each name.
        while self.kind_at(self.at) == Some(TokenKind::Comma) {
            let comma = self.input[self.at];
            let (semi, using) =
                (self.session.names.intern(";"), self.session.names.intern("using"));
            self.emit(Kind::Semi, Token { symbol: semi, ..comma });
            self.next_item();
            self.emit(Kind::Using, Token { symbol: using, ..comma });
            self.top().mode = Mode::Expr;
            self.at += 1;
            self.used_name();
        }
    }

    /// The name of a using-declaration.
    fn used_name(&mut self) {
        let chain = self.chain(self.at);
        if self.is_name_at(chain.last) || self.word_at(chain.last) == Word::Operator {
            let symbol = self.input[chain.last].symbol;
            let start = self.at;
            match chain.meaning {
                Some(meaning @ Meaning::Type(_)) => {
                    self.emit_name(start, chain.end, Kind::TypeName);
                    self.scopes.declare(symbol, meaning);
                }
                _ => self.emit_identifier(start, &chain),
            }
        }
    }

    /// `namespace a::b {`, `namespace {`, `namespace a = b;`; the current token is the keyword.
    pub fn namespace_word(&mut self, inline: bool) {
        let keyword = self.input[self.at];
        let is_alias =
            self.is_name_at(self.at + 1) && self.kind_at(self.at + 2) == Some(TokenKind::Eq);
        if is_alias {
            self.take(Kind::Namespace);
            let name = self.input[self.at].symbol;
            self.take(Kind::Identifier);
            self.take(Kind::Assign);
            self.top().mode = Mode::Expr;
            let chain = self.chain(self.at);
            if let Some(meaning @ Meaning::Namespace(_)) = chain.meaning {
                self.scopes.declare(name, meaning);
            }
            if self.is_name_at(chain.last) {
                self.emit_name(self.at, chain.end, Kind::Identifier);
            }
            return;
        }
        self.at += 1;
        let mut names = Vec::new();
        while self.is_name_at(self.at) {
            let token = self.input[self.at];
            names.push(Ident { name: token.symbol, span: token.span });
            self.at += 1;
            if self.kind_at(self.at) != Some(TokenKind::ColonColon) {
                break;
            }
            self.at += 1;
        }
        if self.kind_at(self.at) != Some(TokenKind::LBrace) {
            self.error(Code::E0201, keyword.span, "expected `{` after the name of the namespace");
            return;
        }
        if !self.top().is_file_like() {
            self.error(
                Code::E0201,
                keyword.span,
                "a namespace can stand only at file scope or in a namespace",
            );
            return;
        }
        self.at += 1;
        self.open_namespace(inline, names, keyword);
    }

    fn open_namespace(&mut self, inline: bool, names: Vec<Ident>, keyword: Token) {
        let mut context = Context::new(ContextKind::Namespace, Mode::Start, self.out.len());
        // The names of anonymous and inline namespaces stay visible after them.
        if !inline {
            for ident in &names {
                let scope = match self.scopes.get(ident.name) {
                    Some(Meaning::Namespace(scope)) => scope,
                    _ => {
                        let scope = self.scopes.new_scope();
                        self.scopes.declare(ident.name, Meaning::Namespace(scope));
                        scope
                    }
                };
                context.outer.push((self.scopes.mark(), scope));
                self.scopes.open(scope);
            }
        }
        self.end_unit();
        self.units.push(Unit::OpenNamespace { inline, names, span: keyword.span });
        self.contexts.push(context);
    }

    /// The token made of the current word and its parentheses, `__attribute__((...))`.
    pub fn gnu_attribute(&mut self) {
        let after = match self.kind_at(self.at + 1) {
            Some(TokenKind::LParen) => self.group_end(self.at + 1),
            _ => self.at + 1,
        };
        // `__attribute__((fallthrough));`
        if self.kind_at(after) == Some(TokenKind::Semi) && self.is_statement_attribute(after) {
            self.at = after;
            return;
        }
        self.enter_specs();
        self.take(Kind::GnuAttribute);
        if self.kind_at(self.at) != Some(TokenKind::LParen) {
            return;
        }
        let end = self.group_end(self.at);
        while self.at < end {
            let token = self.input[self.at];
            let kind = match token.kind {
                TokenKind::Ident => Kind::Identifier,
                TokenKind::Number => Kind::Number,
                TokenKind::Char => Kind::Char,
                TokenKind::String | TokenKind::RawString => Kind::String,
                TokenKind::LParen => Kind::LParen,
                TokenKind::RParen => Kind::RParen,
                TokenKind::LBracket => Kind::LBracket,
                TokenKind::RBracket => Kind::RBracket,
                TokenKind::LBrace => Kind::LBrace,
                TokenKind::RBrace => Kind::RBrace,
                TokenKind::Comma => Kind::Comma,
                TokenKind::Semi => Kind::Semi,
                TokenKind::ColonColon => Kind::ColonColon,
                TokenKind::Question => Kind::Question,
                TokenKind::Colon => Kind::Colon,
                TokenKind::Dot => Kind::Dot,
                other => super::classify::operator_kind(other),
            };
            self.out.push(Tok { kind, line_start: false, symbol: token.symbol, span: token.span });
            self.at += 1;
        }
    }
}
