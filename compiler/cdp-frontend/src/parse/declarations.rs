//! Declarations: files, namespaces, variables and functions, initialisers.

use super::declarators::Naming;
use super::parser::{Fault, Parsed, Parser};
use super::specifiers::{Context, Specifiers, storage_kind};
use super::symbols::Meaning;
use super::words::{Refusal, Word};
use crate::ast::*;
use crate::diagnostics::Code;
use crate::lex::TokenKind as T;
use crate::scopes::ScopeId;

impl Parser<'_> {
    /// `unit = { external-declaration }`, up to a `}` or the end.
    pub fn external_declarations(&mut self) -> Vec<Decl> {
        let mut decls = Vec::new();
        while self.kind().is_some_and(|kind| kind != T::RBrace) {
            let start = self.at;
            if let Err(fault) = self.external_declaration(&mut decls) {
                self.skip_external(fault);
                self.lose(start);
                decls.push(Decl { kind: DeclKind::Error, span: self.since(start) });
            }
            self.at = self.at.max(start + 1);
        }
        decls
    }

    /// `"{" unit "}"`
    fn braced_declarations(&mut self) -> Vec<Decl> {
        let end = self.group_end(self.at);
        self.at += 1;
        let decls = self.external_declarations();
        self.at = end;
        decls
    }

    /// ```text
    /// external-declaration = ";" | pragma | using | namespace | linkage | static-assertion
    ///                      | declaration | function
    /// ```
    pub fn external_declaration(&mut self, decls: &mut Vec<Decl>) -> Parsed<()> {
        let start = self.at;
        let kind = match self.kind() {
            Some(T::Semi) => {
                self.at += 1;
                DeclKind::Empty
            }
            Some(T::PragmaCdp) => match self.pragma()? {
                Some(pragma) => DeclKind::Pragma(Box::new(pragma)),
                None => DeclKind::Empty,
            },
            Some(T::PragmaUnroll | T::PragmaNoUnroll | T::PragmaEnd) => {
                self.skip_pragmas();
                return Ok(());
            }
            _ => match self.word() {
                Word::Using => {
                    decls.extend(self.using(Context::File)?);
                    return Ok(());
                }
                Word::Namespace => self.namespace(false)?,
                Word::Storage
                    if self.word_at(start + 1) == Word::Namespace
                        && storage_kind(self.text_at(start)) == StorageKind::Inline =>
                {
                    self.at += 1;
                    self.namespace(true)?
                }
                Word::Storage
                    if self.is_text(start, "extern")
                        && self.kind_at(start + 1) == Some(T::String) =>
                {
                    self.linkage()?
                }
                Word::StaticAssert => self.static_assertion()?,
                Word::Asm => {
                    return Err(self.refuse(Code::E0241, "file-scope `asm` is", ""));
                }
                Word::Refused(Refusal::Catch) => {
                    self.skip_catch();
                    return Ok(());
                }
                Word::Refused(Refusal::Template) => self.refuse_template(),
                Word::Refused(Refusal::Access) => return self.refuse_word(Refusal::Access),
                _ => self.declaration(Context::File)?,
            },
        };
        decls.push(Decl { kind, span: self.since(start) });
        Ok(())
    }

    /// What a production gives, and where it stands.
    pub fn decl(&mut self, production: impl FnOnce(&mut Self) -> Parsed<DeclKind>) -> Parsed<Decl> {
        let start = self.at;
        let kind = production(self)?;
        Ok(Decl { kind, span: self.since(start) })
    }

    /// Passes the rest of a declaration that was given up. After a syntax error the body of a function
    /// is still read, for the errors in it.
    fn skip_external(&mut self, fault: Fault) {
        if fault == Fault::Syntax {
            self.at = self.find(self.at, |kind| matches!(kind, T::Semi | T::LBrace));
            let before = self.at.checked_sub(1).and_then(|before| self.kind_at(before));
            if self.is(T::LBrace) && before == Some(T::RParen) {
                self.block();
                return;
            }
        }
        self.skip_item();
    }

    // ---- Namespaces and linkage --------------------------------------------------------------------

    /// ```text
    /// namespace = [ "inline" ] "namespace" [ name { "::" name } ] "{" unit "}"
    ///           | "namespace" name "=" path ";"
    /// ```
    /// The current token is the keyword.
    fn namespace(&mut self, inline: bool) -> Parsed<DeclKind> {
        let start = self.at;
        if self.is_name_at(start + 1) && self.kind_at(start + 2) == Some(T::Eq) {
            return self.namespace_alias();
        }
        self.at += 1;
        let mut names = Vec::new();
        while self.is_name() {
            names.push(self.ident()?);
            if !self.eat(T::ColonColon) {
                break;
            }
        }
        if !self.is(T::LBrace) {
            let message = "expected `{` after the name of the namespace";
            self.error(Code::E0201, self.span_at(start), message);
            return Err(Fault::Syntax);
        }
        let outer = self.open_namespace(&names, inline);
        let decls = self.braced_declarations();
        self.symbols.open(outer);
        Ok(DeclKind::Namespace(Box::new(NamespaceDecl { inline, names, decls })))
    }

    /// Opens a namespace, and returns the one that was open.
    fn open_namespace(&mut self, names: &[Ident], inline: bool) -> ScopeId {
        let outer = self.symbols.here();
        if names.is_empty() {
            let (scope, _) = self.symbols.anonymous_in(outer);
            return self.symbols.open(scope);
        }
        for (index, ident) in names.iter().enumerate() {
            let parent = self.symbols.here();
            let scope = match self.symbols.member(parent, ident.name) {
                Some(Some(Meaning::Namespace(scope))) => *scope,
                _ => {
                    let scope = self.symbols.add(parent, "");
                    self.symbols.set(ident.name, Meaning::Namespace(scope));
                    scope
                }
            };
            if inline && index + 1 == names.len() {
                self.symbols.show(parent, scope);
            }
            self.symbols.open(scope);
        }
        outer
    }

    pub fn namespace_alias(&mut self) -> Parsed<DeclKind> {
        self.at += 1;
        let name = self.ident()?;
        self.at += 1;
        let path = self.path(self.at);
        let target = self.path_name("a namespace")?;
        if let Some(meaning @ Meaning::Namespace(_)) = path.meaning {
            self.symbols.set(name.name, meaning);
        }
        self.semicolon("this `namespace`", "`;`")?;
        Ok(DeclKind::NamespaceAlias(Box::new(NamespaceAliasDecl { name, target })))
    }

    /// `linkage = "extern" string ( "{" unit "}" | external-declaration )`
    fn linkage(&mut self) -> Parsed<DeclKind> {
        self.at += 1;
        let language = self.string();
        let braces = self.is(T::LBrace);
        let mut decls = Vec::new();
        if braces {
            decls = self.braced_declarations();
        } else {
            self.external_declaration(&mut decls)?;
        }
        Ok(DeclKind::Linkage(Box::new(LinkageDecl { language, decls, braces })))
    }

    // ---- Using and assertions ------------------------------------------------------------------------

    /// ```text
    /// using = "using" "namespace" path ";" | "using" path { "," path } ";"
    ///       | "using" name attributes "=" type-name ";"
    /// ```
    /// `using a::b, a::c;` is one declaration for each name; there is always one.
    pub fn using(&mut self, context: Context) -> Parsed<Vec<Decl>> {
        let start = self.at;
        self.at += 1;
        if self.word() == Word::Namespace {
            self.at += 1;
            let path = self.path(self.at);
            let name = self.path_name("a namespace")?;
            if let Some(Meaning::Namespace(scope)) = path.meaning {
                self.symbols.use_namespace(scope);
            }
            self.semicolon("this `using`", "`;`")?;
            let kind = DeclKind::UsingNamespace(Box::new(name));
            return Ok(vec![Decl { kind, span: self.since(start) }]);
        }
        let named = self.is_name() && {
            let next = self.at + 1;
            matches!(self.kind_at(next), Some(T::Eq | T::LBracket))
                || matches!(self.word_at(next), Word::GnuAttribute | Word::Alignas)
        };
        if named {
            return Ok(vec![self.alias(start)?]);
        }
        self.refuse_using(context)?;
        let mut decls = Vec::new();
        loop {
            let path = self.path(self.at);
            let name = self.path_name("a name")?;
            if let Some(meaning) = path.meaning {
                self.symbols.set(self.symbol_at(path.last), meaning);
            }
            let comma = self.eat(T::Comma);
            if !comma {
                self.semicolon("this `using`", "`,` or `;`")?;
            }
            decls.push(Decl { kind: DeclKind::UsingName(Box::new(name)), span: self.since(start) });
            if !comma {
                return Ok(decls);
            }
        }
    }

    fn alias(&mut self, start: usize) -> Parsed<Decl> {
        let name = self.ident()?;
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        self.expect(T::Eq, "`=`")?;
        let ty = self.type_name()?;
        self.semicolon("this `using`", "`;`")?;
        self.symbols.set(name.name, Meaning::Type(ScopeId::NONE));
        let kind = DeclKind::Alias(Box::new(AliasDecl { name, attrs, ty }));
        Ok(Decl { kind, span: self.since(start) })
    }

    /// A possibly qualified name that must be here.
    fn path_name(&mut self, wanted: &str) -> Parsed<QualName> {
        if !self.is_path_at(self.at) && self.word() != Word::Operator {
            return Err(self.expected(wanted));
        }
        let path = self.path(self.at);
        Ok(self.qual_name(&path))
    }

    pub fn ident(&mut self) -> Parsed<Ident> {
        if !self.is_name() {
            return Err(self.expected("a name"));
        }
        self.at += 1;
        Ok(self.ident_at(self.at - 1))
    }

    pub fn ident_at(&self, at: usize) -> Ident {
        Ident { name: self.symbol_at(at), span: self.span_at(at) }
    }

    /// `static-assertion = "static_assert" "(" assignment [ "," string ] ")" ";"`
    pub fn static_assertion(&mut self) -> Parsed<DeclKind> {
        self.at += 1;
        let (condition, message) = self.parenthesised("`,` or `)`", |p| {
            let condition = Box::new(p.assignment()?);
            Ok((condition, p.after(T::Comma, Self::required_string)?))
        })?;
        self.semicolon("this `static_assert`", "`;`")?;
        Ok(DeclKind::StaticAssert { condition, message: message.map(Box::new) })
    }

    // ---- Variables and functions -----------------------------------------------------------------------

    /// ```text
    /// declaration = specifiers [ init-declarator { "," init-declarator } ] ";"
    /// function    = specifiers declarator block
    /// ```
    pub fn declaration(&mut self, context: Context) -> Parsed<DeclKind> {
        let specs = self.specifiers(context)?;
        if self.is_bindings(&specs) {
            return self.refuse_bindings(specs);
        }
        let mut declarators = Vec::with_capacity(1);
        if !self.ends_specifiers(&specs) {
            loop {
                self.symbols.enter();
                let item = self.init_declarator(&specs).inspect_err(|_| self.symbols.leave())?;
                let function = is_function(&item.declarator);
                if function && item.init.is_none() && self.is(T::LBrace) {
                    if context == Context::File && declarators.is_empty() {
                        let body = self.block();
                        self.leave_declarator(&specs, &item.declarator);
                        let (specs, declarator) = (specs.specs, item.declarator);
                        let function = FunctionDef { specs, declarator, body };
                        return Ok(DeclKind::Function(Box::new(function)));
                    }
                    self.refuse_nested_function(&item.declarator);
                    self.leave_declarator(&specs, &item.declarator);
                    declarators.push(item);
                    return Ok(simple(specs, declarators));
                }
                self.leave_declarator(&specs, &item.declarator);
                declarators.push(item);
                if !self.eat(T::Comma) {
                    break;
                }
            }
        }
        let unknown = matches!(specs.specs.ty.kind, TypeSpecKind::Error);
        if unknown && !self.is(T::Semi) && !self.semicolon_belongs_here() {
            // Nobody knows what this was to be, and that has been said.
            return Err(Fault::Syntax);
        }
        let what = match declarators.last().and_then(|item| item.declarator.name.as_ref()) {
            Some(name) => format!("the declaration of `{}`", self.session.name(name.base.name)),
            None if specs.body => "the definition of the type".to_owned(),
            None => "this declaration".to_owned(),
        };
        self.semicolon(&what, if declarators.is_empty() { "`;`" } else { "`;` or `,`" })?;
        Ok(simple(specs, declarators))
    }

    /// Closes the scope of a declarator's parameters; the declared name stays.
    fn leave_declarator(&mut self, specs: &Specifiers, declarator: &Declarator) {
        self.symbols.leave();
        if let Some(name) = declarator.name.as_ref().and_then(QualName::as_plain) {
            self.declare(specs, name);
        }
    }

    /// After specifiers: nothing is declared, or what follows cannot be.
    fn ends_specifiers(&self, specs: &Specifiers) -> bool {
        match self.kind() {
            Some(T::LParen | T::Star | T::Amp | T::AndAnd | T::ColonColon) => false,
            Some(T::Colon) => specs.context != Context::Member,
            Some(T::Ident) => {
                let declares = self.is_name() || self.word() == Word::Operator;
                !declares
                    || (specs.body && self.starts_line(self.at) && self.begins_declaration(false))
            }
            _ => true,
        }
    }

    /// ```text
    /// init-declarator = declarator attributes [ initialiser ]
    ///                 | [ declarator attributes ] ":" assignment attributes
    /// ```
    pub fn init_declarator(&mut self, specs: &Specifiers) -> Parsed<InitDeclarator> {
        let start = self.at;
        if self.is_bindings(specs) {
            self.report_bindings();
            return Err(Fault::Refused);
        }
        let mut declarator = match self.is(T::Colon) {
            true => self.no_declarator(),
            false => self.declarator(specs, Naming::Named, false)?,
        };
        self.declarator_attributes(&mut declarator.attrs)?;
        let mut bit_width = None;
        let mut init = None;
        if specs.context == Context::Member && self.eat(T::Colon) {
            bit_width = Some(Box::new(self.assignment()?));
            self.attributes(&mut declarator.attrs)?;
        } else {
            if is_function(&declarator) {
                self.refuse_special_function()?;
            }
            let begins_body = is_function(&declarator) && self.is(T::LBrace);
            if !(specs.typedef || begins_body) {
                init = self.initialiser()?.map(Box::new);
            }
        }
        Ok(InitDeclarator { declarator, bit_width, init, span: self.since(start) })
    }

    /// Attributes, and the refused `asm("symbol")`, after a declarator.
    fn declarator_attributes(&mut self, attrs: &mut Vec<Attr>) -> Parsed<()> {
        if self.starts_line(self.at) {
            // `} T` without its `;` before `__device__ float f();`
            let words = (self.at..).take_while(|at| self.word_at(*at) == Word::Attribute).count();
            if words > 0 && self.type_end(self.at + words).is_some() {
                return Ok(());
            }
        }
        loop {
            self.attributes(attrs)?;
            match self.word() {
                Word::Asm => {
                    self.refuse(Code::E0241, "naming a symbol with `asm` is", "");
                    self.at += 1;
                    self.skip_parentheses();
                }
                Word::Refused(Refusal::Try) => self.refuse_word(Refusal::Try)?,
                Word::Refused(refusal @ Refusal::Constraint) => self.refuse_word(refusal)?,
                _ => return Ok(()),
            }
        }
    }

    /// `initialiser = "=" initialiser-clause | braces | "(" clauses ")"`
    fn initialiser(&mut self) -> Parsed<Option<Initializer>> {
        let start = self.at;
        let kind = match self.kind() {
            Some(T::Eq) => {
                self.at += 1;
                InitializerKind::Assign(self.initialiser_clause()?)
            }
            Some(T::LBrace) => InitializerKind::Brace(self.braces()?),
            Some(T::LParen) => InitializerKind::Paren(self.arguments_or_error(true)),
            _ => return Ok(None),
        };
        Ok(Some(Initializer { kind, span: self.since(start) }))
    }

    /// `initialiser-clause = assignment | braces`
    pub fn initialiser_clause(&mut self) -> Parsed<Expr> {
        if !self.is(T::LBrace) {
            return self.assignment();
        }
        let list = self.braces()?;
        Ok(self.brace_expr(list))
    }

    pub fn brace_expr(&mut self, list: InitList) -> Expr {
        let span = list.span;
        self.expr_at(ExprKind::InitList(Box::new(list)), span)
    }

    /// `braces = "{" [ item { "," item } [ "," ] ] "}"`; after an error, what could be read.
    pub fn braces(&mut self) -> Parsed<InitList> {
        let start = self.at;
        if !self.is(T::LBrace) {
            return Err(self.expected("`{`"));
        }
        let (mut items, result) = self.items("`,` or `}`", Self::init_item);
        if result.is_err() {
            items = vec![InitItem { path: None, value: self.error_expr(start) }];
        }
        Ok(InitList { items, span: self.since(start) })
    }

    /// ```text
    /// item       = initialiser-clause | designator { designator } [ "=" ] initialiser-clause
    /// designator = "." name | "[" expression "]"
    /// ```
    fn init_item(&mut self) -> Parsed<InitItem> {
        let mut designators = Vec::new();
        if self.is_name() && self.kind_at(self.at + 1) == Some(T::Colon) {
            // `{ a: 1 }`, read as `{ .a = 1 }`.
            let name = self.ident()?;
            let text = self.session.name(name.name);
            let (what, cure) =
                (format!("GNU's designator `{text}:` is"), format!("write `.{text} =`"));
            self.outside(Code::E0238, name.span, &what, &cure);
            self.at += 1;
            let value = self.initialiser_clause()?;
            let designators = vec![Designator::Field(name)];
            return Ok(InitItem { path: Some(Box::new(Designation { designators })), value });
        }
        while let Some(designator) = self.designator()? {
            designators.push(designator);
        }
        if !designators.is_empty() && !self.is(T::LBrace) {
            self.expect(T::Eq, "`=`")?;
        }
        let path = (!designators.is_empty()).then(|| Box::new(Designation { designators }));
        Ok(InitItem { path, value: self.initialiser_clause()? })
    }

    pub fn designator(&mut self) -> Parsed<Option<Designator>> {
        Ok(match self.kind() {
            Some(T::Dot) => {
                self.at += 1;
                Some(Designator::Field(self.member_name()?))
            }
            Some(T::LBracket) if !self.is_lambda() => {
                Some(Designator::Index(self.group("`]`", Self::index)?))
            }
            _ => None,
        })
    }

    /// The index of a designator; a range is refused.
    fn index(&mut self) -> Parsed<Expr> {
        let first = self.expression()?;
        let cure = "write a designator for each element, or assign in a loop";
        self.refuse_range("ranges of designators (`[a ... b]`) are", cure)?;
        Ok(first)
    }

    /// GNU's `... expression` behind an expression, passed.
    pub fn refuse_range(&mut self, what: &str, cure: &str) -> Parsed<()> {
        if self.is(T::Ellipsis) {
            self.refuse(Code::E0238, what, cure);
            self.at += 1;
            self.expression()?;
        }
        Ok(())
    }
}

pub(super) fn simple(specs: Specifiers, declarators: Vec<InitDeclarator>) -> DeclKind {
    DeclKind::Simple(Box::new(SimpleDecl { specs: specs.specs, declarators }))
}

fn is_function(declarator: &Declarator) -> bool {
    matches!(declarator.parts.first(), Some(DeclaratorPart::Function(_)))
}
