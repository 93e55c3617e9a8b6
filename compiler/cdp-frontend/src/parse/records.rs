//! Records, their members, and enumerations.

use super::parser::{Parsed, Parser};
use super::specifiers::Context;
use super::symbols::Meaning;
use super::words::{Refusal, Word};
use crate::ast::*;
use crate::diagnostics::Code;
use crate::intern::Symbol;
use crate::lex::TokenKind as T;
use crate::scopes::ScopeId;
use crate::source::Span;

impl Parser<'_> {
    /// ```text
    /// record = ( "struct" | "union" | "class" ) attributes [ tag ] "{" { member } "}"
    ///        | ( "struct" | "union" | "class" ) attributes tag
    /// ```
    /// The flag says whether there was a body.
    pub fn record(&mut self) -> Parsed<(TypeSpecKind, bool)> {
        let start = self.at;
        let kind = match self.text_at(start) {
            "union" => RecordKind::Union,
            "class" => RecordKind::Class,
            _ => RecordKind::Struct,
        };
        self.at += 1;
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        let (tag, scope) = self.tag()?;
        self.refuse_bases();
        let members = match self.is(T::LBrace) {
            true => {
                let private = (kind == RecordKind::Class).then(|| self.span_at(start));
                Some(self.members(tag.as_ref().map(|tag| tag.base.name), scope, private))
            }
            false if tag.is_none() => return Err(self.expected("a name or `{`")),
            false => None,
        };
        let body = members.is_some();
        let keyword_span = self.span_at(start);
        let record = RecordSpec { kind, keyword_span, attrs, tag, members };
        Ok((TypeSpecKind::Record(Box::new(record)), body))
    }

    /// `tag = name [ "final" ]`, declared unless it only mentions what is known.
    fn tag(&mut self) -> Parsed<(Option<QualName>, ScopeId)> {
        if !self.is_path_at(self.at) {
            return Ok((None, ScopeId::NONE));
        }
        let path = self.path(self.at);
        let symbol = self.symbol_at(path.last);
        let name = self.qual_name(&path);
        if self.is_text(self.at, "final") {
            self.at += 1;
        }
        let next = self.kind();
        let defines = matches!(next, Some(T::LBrace | T::Semi | T::Colon));
        let meaning = self.symbols.get(symbol);
        let known = matches!(meaning, Some(Meaning::Type(_)));
        let mut scope = ScopeId::NONE;
        // A function or variable of the same name keeps its meaning, unless the tag is new here; a
        // forward declaration does not hide the scope of an earlier definition.
        if !path.qualified && (defines || meaning.is_none()) && (!known || next != Some(T::Semi)) {
            scope = self.symbols.add(self.symbols.here(), "");
            self.symbols.set_tag(symbol, scope);
        }
        Ok((Some(name), scope))
    }

    /// `"{" { member } "}"`; `private` is the word `class`, which makes the first members private.
    fn members(
        &mut self,
        tag: Option<Symbol>,
        scope: ScopeId,
        mut private: Option<Span>,
    ) -> Vec<Decl> {
        let close = self.group_end(self.at) - 1;
        let outer = std::mem::replace(&mut self.record, tag);
        self.symbols.enter();
        self.at += 1;
        let mut members = Vec::new();
        while self.at < close {
            let start = self.at;
            self.skip_pragmas();
            if self.at >= close {
                break;
            }
            if self.word() == Word::Refused(Refusal::Access) {
                // The word is passed, and what follows it is read.
                private = None;
                let _ = self.refuse_word(Refusal::Access);
                continue;
            }
            if let Some(class) = private.take() {
                let cure = "write `struct`: all members are public there";
                self.outside(Code::E0224, class, "private members (`class`) are", cure);
            }
            let member = self.member().unwrap_or_else(|_| {
                self.skip_item();
                self.lose(start);
                Decl { kind: DeclKind::Error, span: self.since(start) }
            });
            members.push(member);
            self.at = self.at.max(start + 1);
        }
        self.at = close + 1;
        self.symbols.leave_into(scope);
        self.record = outer;
        members
    }

    /// `member = ";" | alias | static-assertion | declaration`
    fn member(&mut self) -> Parsed<Decl> {
        if self.word() == Word::Using {
            return Ok(self.using(Context::Member)?.swap_remove(0));
        }
        self.decl(|p| match p.word() {
            _ if p.eat(T::Semi) => Ok(DeclKind::Empty),
            _ if p.is(T::Tilde) => Err(p.refuse(Code::E0223, "destructors are", "")),
            Word::StaticAssert => p.static_assertion(),
            Word::Refused(Refusal::Template) => Ok(p.refuse_template()),
            _ => p.declaration(Context::Member),
        })
    }

    /// ```text
    /// enumeration = "enum" [ "class" | "struct" ] attributes [ tag ] [ ":" type-name ]
    ///               [ "{" [ enumerator { "," enumerator } [ "," ] ] "}" ]
    /// ```
    pub fn enumeration(&mut self) -> Parsed<(TypeSpecKind, bool)> {
        let start = self.at;
        self.at += 1;
        let scoped = self.word() == Word::Record;
        self.at += usize::from(scoped);
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        let (tag, scope) = self.tag()?;
        let has_base = self.is(T::Colon)
            && (self.is_specifier_at(self.at + 1) || self.is_path_at(self.at + 1));
        let underlying = match has_base {
            true => {
                self.at += 1;
                let start = self.at;
                let specs = self.specifiers(Context::TypeName)?.specs;
                let declarator = self.no_declarator();
                Some(TypeName { specs, declarator, span: self.since(start) })
            }
            false => None,
        };
        let enumerators = match self.is(T::LBrace) {
            true => Some(self.enumerators(scoped, scope)),
            false if tag.is_none() => return Err(self.expected("a name or `{`")),
            false => None,
        };
        let body = enumerators.is_some();
        let keyword_span = self.span_at(start);
        let spec = EnumSpec { keyword_span, scoped, attrs, tag, underlying, enumerators };
        Ok((TypeSpecKind::Enum(Box::new(spec)), body))
    }

    fn enumerators(&mut self, scoped: bool, scope: ScopeId) -> Vec<Enumerator> {
        self.symbols.enter();
        let (list, _) = self.items("`,` or `}`", Self::enumerator);
        self.symbols.leave_into(scope);
        if !scoped {
            for enumerator in &list {
                self.symbols.set(enumerator.name.name, Meaning::Value);
            }
        }
        list
    }

    /// `enumerator = name attributes [ "=" assignment ]`
    fn enumerator(&mut self) -> Parsed<Enumerator> {
        let name = self.ident()?;
        self.attributes(&mut Vec::new())?;
        let value = self.after(T::Eq, Self::assignment)?;
        self.symbols.set(name.name, Meaning::Value);
        Ok(Enumerator { name, value })
    }

    /// `: public Base`, passed up to the body.
    fn refuse_bases(&mut self) {
        if !self.is(T::Colon) {
            return;
        }
        let at = self.find(self.at, |kind| matches!(kind, T::LBrace | T::Semi));
        if self.kind_at(at) == Some(T::LBrace) {
            let span = self.span_at(self.at);
            self.outside(Code::E0225, span, "inheritance is", "make the base a member");
            let tag = self.symbol_at(self.at - 1);
            self.lost.insert(tag);
            self.at = at;
        }
    }
}
