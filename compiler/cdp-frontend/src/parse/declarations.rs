//! Declarations: files, namespaces, variables and functions, initialisers.

use super::*;

impl<'a> Parser<'a> {
    /// `unit = { any-declaration }`, up to a place.
    pub fn declarations(&mut self, context: Context, close: usize) -> Vec<Decl> {
        let mut decls = Vec::new();
        while self.at < close {
            let start = self.at;
            let decl = self.decl(|p| p.any_declaration(context)).unwrap_or_else(|fault| {
                self.skip_declaration(fault);
                self.lose(start);
                Decl { kind: DeclKind::Error, span: self.since(start) }
            });
            decls.push(decl);
            self.at = self.at.max(start + 1);
        }
        self.at = close;
        decls
    }

    // "{" unit "}"
    pub fn braced_declarations(&mut self, context: Context) -> Vec<Decl> {
        let close = self.group_end(self.at) - 1;
        self.at += 1;
        let decls = self.declarations(context, close);
        self.at += 1;
        decls
    }

    /// What a production gives, and where it stands.
    pub fn decl(&mut self, production: impl Rule<'a, DeclKind>) -> Parsed<Decl> {
        let start = self.at;
        let kind = production(self)?;
        Ok(Decl { kind, span: self.since(start) })
    }

    // any-declaration = ";" | pragma | using | static-assertion | namespace | linkage
    //                 | declaration | function
    /// Of a file, a record or a block, whose pragmas and `asm` belong to statements. Nothing is declared by
    /// words that are refused and passed.
    pub fn any_declaration(&mut self, context: Context) -> Parsed<DeclKind> {
        let (at, file) = (self.at, context == Context::File);
        let is_inline_namespace =
            self.word_at(at + 1) == Word::Namespace && self.text_at(at).contains("inline");
        let is_linkage =
            file && self.is_text(at, "extern") && self.kind_at(at + 1) == Some(T::String);
        match self.word() {
            Word::Using => self.using(context),
            Word::StaticAssert => self.static_assertion(),
            Word::Namespace => self.namespace(context),
            Word::Storage if is_inline_namespace => self.namespace(context),
            Word::Storage if is_linkage => self.linkage(),
            Word::Asm if file => Err(self.refuse(Code::E0241, "file-scope `asm` is", "")),
            Word::Refused(Refusal::Template) => Ok(self.refuse_template()),
            Word::Refused(Refusal::Access) => {
                self.refuse_word(Refusal::Access);
                self.at += 1;
                self.eat(T::Colon);
                Ok(DeclKind::Empty)
            }
            Word::Name if self.eat(T::Semi) => Ok(DeclKind::Empty),
            _ => match self.pragma()? {
                Some(pragma) if file && matches!(pragma.kind, PragmaKind::Cdp(_)) => {
                    Ok(pragma.into())
                }
                Some(_) => Ok(DeclKind::Empty),
                None => self.declaration(context),
            },
        }
    }

    /// Passes the rest of a declaration that was given up. After a syntax error the body of a function
    /// is still read, for the errors in it.
    fn skip_declaration(&mut self, fault: Fault) {
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

    // namespace = [ "inline" ] "namespace" [ name { "::" name } ] "{" unit "}"
    //           | "namespace" name "=" path ";"
    fn namespace(&mut self, context: Context) -> Parsed<DeclKind> {
        let inline = self.word() == Word::Storage;
        let keyword = self.at + usize::from(inline);
        let renames = self.is_name_at(keyword + 1) && self.kind_at(keyword + 2) == Some(T::Eq);
        if renames && context != Context::Member {
            return self.namespace_alias();
        }
        if context != Context::File {
            let message = "a namespace can stand only at file scope or in a namespace";
            self.error(Code::E0201, self.span_at(self.at), message);
            return Err(Fault::Refused);
        }
        self.at = keyword + 1;
        let mut names = Vec::new();
        while self.is_name() {
            names.push(self.ident()?);
            if !self.eat(T::ColonColon) {
                break;
            }
        }
        if !self.is(T::LBrace) {
            return Err(self.expected("`{`"));
        }
        let outer = self.open_namespace(&names, inline);
        let decls = self.braced_declarations(Context::File);
        self.symbols.open(outer);
        Ok(NamespaceDecl { inline, names, decls }.into())
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

    fn namespace_alias(&mut self) -> Parsed<DeclKind> {
        self.at += 1;
        let name = self.ident()?;
        self.at += 1;
        let (target, meaning) = self.path_name("a namespace")?;
        if let Some(meaning @ Meaning::Namespace(_)) = meaning {
            self.symbols.set(name.name, meaning);
        } else if outside(self.session.name(target.base.name), true).is_some() {
            self.lost.insert(name.name);
        }
        self.semicolon("this `namespace`", "`;`")?;
        Ok(NamespaceAliasDecl { name, target }.into())
    }

    // linkage = "extern" string ( "{" unit "}" | any-declaration )
    fn linkage(&mut self) -> Parsed<DeclKind> {
        self.at += 1;
        let language = self.string();
        let braces = self.is(T::LBrace);
        let decls = match braces {
            true => self.braced_declarations(Context::File),
            false => vec![self.decl(|p| p.any_declaration(Context::File))?],
        };
        Ok(LinkageDecl { language, decls, braces }.into())
    }

    // ---- Using and assertions ------------------------------------------------------------------------

    // using = "using" "namespace" path ";" | "using" path { "," path } ";"
    //       | "using" name attributes "=" type-name ";"
    fn using(&mut self, context: Context) -> Parsed<DeclKind> {
        self.at += 1;
        let next = self.at + 1;
        let alias = matches!(self.kind_at(next), Some(T::Eq | T::LBracket))
            || matches!(self.word_at(next), Word::GnuAttribute | Word::Alignas);
        let kind = if self.word() == Word::Namespace {
            self.at += 1;
            let (name, meaning) = self.path_name("a namespace")?;
            if let Some(Meaning::Namespace(scope)) = meaning {
                self.symbols.use_namespace(scope);
            }
            name.into()
        } else if alias && self.is_name() {
            let name = self.ident()?;
            let mut attrs = Vec::new();
            self.attributes(&mut attrs)?;
            self.expect(T::Eq, "`=`")?;
            let ty = self.type_name()?;
            self.symbols.set(name.name, Meaning::Type(ScopeId::NONE));
            AliasDecl { name, attrs, ty }.into()
        } else {
            if context == Context::Member {
                let what = "using-declarations of members are";
                return Err(self.refuse(Code::E0239, what, "declare the member here"));
            }
            let names = self.list(|p| {
                let (name, meaning) = p.path_name("a name")?;
                if let Some(meaning) = meaning {
                    p.symbols.set(name.base.name, meaning);
                }
                Ok(name)
            })?;
            DeclKind::UsingNames(names.into())
        };
        let more = matches!(kind, DeclKind::UsingNames(_));
        self.semicolon("this `using`", if more { "`,` or `;`" } else { "`;`" })?;
        Ok(kind)
    }

    /// A possibly qualified name that must be here, and what it means.
    fn path_name(&mut self, wanted: &str) -> Parsed<(QualName, Option<Meaning>)> {
        if !self.is_path_at(self.at) {
            return Err(self.expected(wanted));
        }
        let path = self.path(self.at);
        Ok((self.qual_name(&path)?, path.meaning))
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

    // static-assertion = "static_assert" "(" assignment [ "," string ] ")" ";"
    fn static_assertion(&mut self) -> Parsed<DeclKind> {
        self.at += 1;
        let (condition, message) = self.parenthesised("`,` or `)`", |p| {
            let condition = Box::new(p.assignment()?);
            Ok((condition, p.after(T::Comma, Self::required_string)?))
        })?;
        self.semicolon("this `static_assert`", "`;`")?;
        Ok(DeclKind::StaticAssert { condition, message: message.map(Box::new) })
    }

    // ---- Variables and functions -----------------------------------------------------------------------

    // declaration = specifiers [ init-declarator { "," init-declarator } ] ";"
    // function    = specifiers declarator block
    pub fn declaration(&mut self, context: Context) -> Parsed<DeclKind> {
        let specs = self.specifiers(context)?;
        let mut declarators = Vec::with_capacity(1);
        let mut more = !self.ends_specifiers(&specs);
        while more {
            let may_define = context == Context::File && declarators.is_empty();
            let (item, body) = self.scoped(|p| {
                let item = p.init_declarator(&specs)?;
                let body = (may_define && p.begins_body(&item)).then(|| p.block());
                Ok((item, body))
            })?;
            // The scope of its parameters has ended.
            if let Some(name) = item.declarator.name.as_ref().and_then(QualName::as_plain) {
                self.declare(&specs, name);
            }
            if let Some(body) = body {
                let (specs, declarator) = (specs.specs, item.declarator);
                return Ok(FunctionDef { specs, declarator, body }.into());
            }
            if self.begins_body(&item) {
                let what = "functions inside functions are";
                let cure = "define it at file scope, before this function";
                return Err(self.outside(Code::E0238, item.span, what, cure));
            }
            declarators.push(item);
            more = self.eat(T::Comma);
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
        Ok(SimpleDecl { specs: specs.specs, declarators }.into())
    }

    fn begins_body(&self, item: &InitDeclarator) -> bool {
        item.init.is_none() && is_function(&item.declarator) && self.is(T::LBrace)
    }

    /// After specifiers: nothing is declared, or what follows cannot be.
    fn ends_specifiers(&self, specs: &Specifiers) -> bool {
        match self.kind() {
            Some(T::LParen | T::Star | T::Amp | T::AndAnd | T::ColonColon) => false,
            Some(T::Colon) => specs.context != Context::Member,
            Some(T::Ident) => !self.is_name() || specs.body && self.begins_next_declaration(),
            _ => true,
        }
    }

    // init-declarator = declarator attributes [ initialiser ]
    //                 | [ declarator attributes ] ":" assignment attributes
    pub fn init_declarator(&mut self, specs: &Specifiers) -> Parsed<InitDeclarator> {
        let start = self.at;
        let mut declarator = match self.is(T::Colon) {
            true => self.no_declarator(),
            false => self.declarator(specs, false)?,
        };
        // `} T` may lack its `;` before `__device__ float f();`.
        if !self.begins_next_declaration() {
            self.attributes(&mut declarator.attrs)?;
        }
        let mut bit_width = None;
        let mut init = None;
        if specs.context == Context::Member && self.eat(T::Colon) {
            bit_width = Some(Box::new(self.assignment()?));
            self.attributes(&mut declarator.attrs)?;
        } else {
            if self.word() == Word::Asm {
                return Err(self.refuse(Code::E0241, "naming a symbol with `asm` is", ""));
            }
            if !(specs.typedef || is_function(&declarator) && self.is(T::LBrace)) {
                init = self.initialiser()?.map(Box::new);
            }
        }
        Ok(InitDeclarator { declarator, bit_width, init, span: self.since(start) })
    }

    // initialiser = "=" initialiser-clause | braces | "(" clauses ")"
    fn initialiser(&mut self) -> Parsed<Option<Initializer>> {
        let start = self.at;
        let kind = match self.kind() {
            Some(T::Eq) => {
                self.at += 1;
                InitializerKind::Assign(self.initialiser_clause()?)
            }
            Some(T::LBrace) => InitializerKind::Brace(self.braces()),
            Some(T::LParen) if self.kind_at(start + 1) != Some(T::RParen) => {
                InitializerKind::Paren(self.arguments())
            }
            _ => return Ok(None),
        };
        Ok(Some(Initializer { kind, span: self.since(start) }))
    }

    // initialiser-clause = assignment | braces
    pub fn initialiser_clause(&mut self) -> Parsed<Expr> {
        if !self.is(T::LBrace) {
            return self.assignment();
        }
        let list = self.braces();
        let span = list.span;
        Ok(self.expr_at(list, span))
    }

    /// `braces = "{" [ item { "," item } [ "," ] ] "}"`; after an error, what could be read.
    pub fn braces(&mut self) -> InitList {
        let start = self.at;
        let (mut items, result) = self.items("`,` or `}`", Self::init_item);
        if result.is_err() {
            items = vec![InitItem { path: None, value: self.error_expr(start) }];
        }
        InitList { items, span: self.since(start) }
    }

    // item       = initialiser-clause | designator { designator } [ "=" ] initialiser-clause
    // designator = "." name | "[" expression "]"
    fn init_item(&mut self) -> Parsed<InitItem> {
        let mut designators = Vec::new();
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
                Some(Designator::Index(self.group("`]`", Self::expression)?))
            }
            _ => None,
        })
    }
}

fn is_function(declarator: &Declarator) -> bool {
    matches!(declarator.parts.first(), Some(DeclaratorPart::Function(_)))
}
