//! What the grammar's actions call to make nodes: spans from token numbers, specifier lists sorted,
//! binary operators folded by precedence, literals evaluated. No meaning is checked here; the
//! diagnostics are those of literals, of type words that do not go together, and of depth.

use std::cell::RefCell;

use super::token::{Kind, Tok};
use crate::ast::*;
use crate::attributes::{Known, REFUSED, known};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::intern::Symbol;
use crate::session::Session;
use crate::source::Span;

/// Shared by all actions of one parse.
pub struct Builder<'b> {
    pub tokens: &'b [Tok],
    pub session: &'b Session,
    pub diagnostics: RefCell<Diagnostics>,
}

/// Types nest no deeper by one declarator.
const MAX_DECLARATOR_PARTS: usize = 256;

/// An item of a specifier list; numbers are tokens.
pub enum SpecItem {
    Storage(usize),
    Qualifier(usize),
    TypeWord(usize),
    Attrs(Vec<Attr>),
    Type(TypeSpec),
}

/// A declarator without the pointers in front of it.
pub struct Direct {
    name: Option<QualName>,
    pub parts: Vec<DeclaratorPart>,
    attrs: Vec<Attr>,
}

impl Direct {
    pub fn named(name: QualName) -> Self {
        Direct { name: Some(name), parts: Vec::new(), attrs: Vec::new() }
    }

    pub fn group(inner: Declarator) -> Self {
        Direct { name: inner.name, parts: inner.parts, attrs: inner.attrs }
    }

    pub fn abstract_part(part: DeclaratorPart) -> Self {
        Direct { name: None, parts: vec![part], attrs: Vec::new() }
    }
}

/// Operands and operators in the order they were written.
pub struct Chain {
    first: Expr,
    /// Operator token and operand.
    rest: Vec<(usize, Expr)>,
}

impl Chain {
    pub fn one(first: Expr) -> Self {
        Chain { first, rest: Vec::new() }
    }

    pub fn push(&mut self, operator: usize, operand: Expr) {
        self.rest.push((operator, operand));
    }

    pub fn into_parts(self) -> (Expr, Vec<(usize, Expr)>) {
        (self.first, self.rest)
    }
}

/// What stands before a statement.
pub enum Prefix {
    Label(Label),
    Pragma(Pragma),
}

impl<'b> Builder<'b> {
    /// A builder over the tokens of one declaration.
    pub fn new(tokens: &'b [Tok], session: &'b Session) -> Self {
        Builder { tokens, session, diagnostics: RefCell::new(Diagnostics::new()) }
    }

    /// The span of tokens `l..r`; the empty span before `l` when there are none.
    pub fn span(&self, l: usize, r: usize) -> Span {
        let Some(first) = self.tokens.get(l) else {
            return self.tokens.last().map_or(Span::NONE, |last| last.span.after());
        };
        if r <= l {
            return first.span.before();
        }
        self.session.sources.join(first.span, self.tokens[r - 1].span)
    }

    /// The span of one token.
    pub fn at(&self, token: usize) -> Span {
        self.tokens.get(token).map_or(Span::NONE, |token| token.span)
    }

    pub fn text(&self, token: usize) -> &'b str {
        self.session.names.resolve(self.tokens[token].symbol)
    }

    fn push(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    // ---- Names ---------------------------------------------------------------------------------

    pub fn ident(&self, l: usize) -> Ident {
        Ident { name: self.tokens[l].symbol, span: self.at(l) }
    }

    /// The qualified name of tokens `l..r`.
    pub fn name(&self, l: usize, r: usize) -> QualName {
        let base = self.ident(r - 1);
        let global = self.tokens[l].kind == Kind::ColonColon;
        let scopes = if r - l == 1 {
            Vec::new()
        } else {
            let is_scope =
                |at: &usize| matches!(self.tokens[*at].kind, Kind::ScopeName | Kind::DeclScope);
            (l..r - 1).filter(is_scope).map(|at| self.ident(at)).collect()
        };
        let text = self.text(r - 1);
        let operator = text.strip_prefix("operator").and_then(OverloadedOp::from_symbol);
        QualName { global, scopes, base, operator, span: self.span(l, r) }
    }

    // ---- Declarations ----------------------------------------------------------------------------

    pub fn decl(&self, kind: DeclKind, l: usize, r: usize) -> Decl {
        Decl { kind, span: self.span(l, r) }
    }

    pub fn function(
        &self,
        specs: DeclSpecs,
        declarator: Declarator,
        body: Block,
        l: usize,
        r: usize,
    ) -> Decl {
        self.decl(DeclKind::Function(Box::new(FunctionDef { specs, declarator, body })), l, r)
    }

    pub fn simple(
        &self,
        specs: DeclSpecs,
        declarators: Vec<InitDeclarator>,
        l: usize,
        r: usize,
    ) -> Decl {
        self.decl(DeclKind::Simple(Box::new(SimpleDecl { specs, declarators })), l, r)
    }

    pub fn alias(&self, name: Ident, attrs: Vec<Attr>, ty: TypeName, l: usize, r: usize) -> Decl {
        self.decl(DeclKind::Alias(Box::new(AliasDecl { name, attrs, ty })), l, r)
    }

    pub fn init_declarator(
        &self,
        declarator: Option<Declarator>,
        bit_width: Option<Expr>,
        init: Option<Initializer>,
        l: usize,
        r: usize,
    ) -> InitDeclarator {
        let declarator = declarator.unwrap_or_else(|| self.declarator(Vec::new(), None, l, l));
        InitDeclarator { declarator, bit_width, init, span: self.span(l, r) }
    }

    pub fn init(&self, kind: InitializerKind, l: usize, r: usize) -> Initializer {
        Initializer { kind, span: self.span(l, r) }
    }

    pub fn init_list(&self, items: Vec<InitItem>, l: usize, r: usize) -> InitList {
        InitList { items, span: self.span(l, r) }
    }

    pub fn brace_expr(&self, list: InitList) -> Expr {
        let span = list.span;
        self.expr_at(ExprKind::InitList(list), span)
    }

    // ---- Specifiers and types ----------------------------------------------------------------------

    /// Sorts a specifier list, and folds type words into one type.
    pub fn specs(&self, items: Vec<SpecItem>, l: usize, r: usize) -> DeclSpecs {
        let mut specs = DeclSpecs {
            storage: Vec::new(),
            quals: Qualifiers::default(),
            ty: TypeSpec { kind: TypeSpecKind::Error, span: self.span(l, r) },
            attrs: Vec::new(),
            span: self.span(l, r),
        };
        let mut words = Vec::new();
        let mut types: Vec<TypeSpec> = Vec::new();
        for item in items {
            match item {
                SpecItem::Storage(at) => {
                    specs
                        .storage
                        .push(Storage { kind: storage_kind(self.text(at)), span: self.at(at) });
                }
                SpecItem::Qualifier(at) => self.qualifier(&mut specs.quals, at),
                SpecItem::TypeWord(at) => words.push(at),
                SpecItem::Attrs(attrs) => specs.attrs.extend(attrs),
                SpecItem::Type(ty) => types.push(ty),
            }
        }
        specs.ty = self.one_type(words, types, l, r);
        specs
    }

    /// Exactly one type from the words and specifiers of a list.
    fn one_type(
        &self,
        words: Vec<usize>,
        mut types: Vec<TypeSpec>,
        l: usize,
        r: usize,
    ) -> TypeSpec {
        if words.is_empty() {
            if types.len() > 1 && !types.iter().any(|ty| matches!(ty.kind, TypeSpecKind::Error)) {
                let message = "two types in one declaration";
                let found = Diagnostic::new(Code::E0206, types[1].span, message)
                    .secondary(types[0].span, "the first type")
                    .help("if the two are separate declarations, put `;` between them");
                self.push(found);
            }
            if types.is_empty() {
                let span = self.span(l, r).after();
                let found = Diagnostic::new(Code::E0204, span, "this declaration names no type")
                    .help("write the type after the specifiers");
                self.push(found);
                return TypeSpec { kind: TypeSpecKind::Error, span };
            }
            return types.swap_remove(0);
        }
        let span = self.span(words[0], words[words.len() - 1] + 1);
        if let Some(other) = types.first() {
            if !matches!(other.kind, TypeSpecKind::Error) {
                let found =
                    Diagnostic::new(Code::E0206, other.span, "two types in one declaration")
                        .secondary(span, "the other type")
                        .help("if the two are separate declarations, put `;` between them");
                self.push(found);
            }
            return types.swap_remove(0);
        }
        let texts: Vec<&str> = words.iter().map(|&at| self.text(at)).collect();
        match builtin_type(&texts) {
            Some(builtin) => TypeSpec { kind: TypeSpecKind::Builtin(builtin), span },
            None => {
                let message = format!("`{}` is not a type", texts.join(" "));
                let found = Diagnostic::new(Code::E0206, span, message)
                    .label("these words do not go together");
                self.push(found);
                TypeSpec { kind: TypeSpecKind::Error, span }
            }
        }
    }

    fn qualifier(&self, quals: &mut Qualifiers, at: usize) {
        let span = Some(self.at(at));
        match self.text(at).trim_matches('_') {
            "const" => quals.const_ = quals.const_.or(span),
            "volatile" => quals.volatile = quals.volatile.or(span),
            _ => quals.restrict = quals.restrict.or(span),
        }
    }

    /// One more qualifier.
    pub fn add_qualifier(&self, quals: &mut Qualifiers, at: usize) {
        self.qualifier(quals, at);
    }

    /// The qualifiers of `count` tokens from `l` on.
    pub fn qualifiers(&self, l: usize, count: usize) -> Qualifiers {
        let mut quals = Qualifiers::default();
        for at in l..l + count {
            self.qualifier(&mut quals, at);
        }
        quals
    }

    pub fn type_spec(&self, kind: TypeSpecKind, l: usize, r: usize) -> TypeSpec {
        TypeSpec { kind, span: self.span(l, r) }
    }

    pub fn record(
        &self,
        attrs: Vec<Attr>,
        tag: Option<QualName>,
        members: Option<Vec<Decl>>,
        l: usize,
        r: usize,
    ) -> TypeSpec {
        let kind = match self.text(l) {
            "union" => RecordKind::Union,
            "class" => RecordKind::Class,
            _ => RecordKind::Struct,
        };
        let record = RecordSpec { kind, keyword_span: self.at(l), attrs, tag, members };
        self.type_spec(TypeSpecKind::Record(Box::new(record)), l, r)
    }

    #[allow(clippy::too_many_arguments)]
    pub fn enumeration(
        &self,
        scoped: bool,
        attrs: Vec<Attr>,
        tag: Option<QualName>,
        underlying: Option<TypeName>,
        enumerators: Option<Vec<Enumerator>>,
        l: usize,
        r: usize,
    ) -> TypeSpec {
        let spec =
            EnumSpec { keyword_span: self.at(l), scoped, attrs, tag, underlying, enumerators };
        self.type_spec(TypeSpecKind::Enum(Box::new(spec)), l, r)
    }

    /// `enum E : int;`
    pub fn opaque_enum(
        &self,
        scoped: bool,
        attrs: Vec<Attr>,
        tag: QualName,
        base: TypeName,
        l: usize,
        r: usize,
    ) -> Decl {
        let ty = self.enumeration(scoped, attrs, Some(tag), Some(base), None, l, r - 1);
        let mut specs = self.specs(vec![SpecItem::Type(ty)], l, r - 1);
        specs.span = self.span(l, r - 1);
        self.simple(specs, Vec::new(), l, r)
    }

    /// A type without a declarator.
    pub fn plain_type(&self, specs: DeclSpecs, l: usize, r: usize) -> TypeName {
        let declarator = self.declarator(Vec::new(), None, r, r);
        TypeName { specs, declarator, span: self.span(l, r) }
    }

    pub fn type_name(
        &self,
        specs: DeclSpecs,
        declarator: Option<Declarator>,
        l: usize,
        m: usize,
        r: usize,
    ) -> TypeName {
        let declarator = declarator.unwrap_or_else(|| self.declarator(Vec::new(), None, m, m));
        TypeName { specs, declarator, span: self.span(l, r) }
    }

    pub fn trailing(
        &self,
        items: Vec<SpecItem>,
        pointers: Vec<(DeclaratorPart, Vec<Attr>)>,
        l: usize,
        m: usize,
        r: usize,
    ) -> TypeName {
        let specs = self.specs(items, l, m);
        let declarator = self.declarator(pointers, None, m, r);
        TypeName { specs, declarator, span: self.span(l, r) }
    }

    pub fn new_type(
        &self,
        items: Vec<SpecItem>,
        stars: Vec<DeclaratorPart>,
        bounds: Vec<DeclaratorPart>,
        l: usize,
        m: usize,
        r: usize,
    ) -> TypeName {
        let specs = self.specs(items, l, m);
        let direct = Direct { name: None, parts: bounds, attrs: Vec::new() };
        let stars = stars.into_iter().map(|star| (star, Vec::new())).collect();
        let declarator = self.declarator(stars, Some(direct), m, r);
        TypeName { specs, declarator, span: self.span(l, r) }
    }

    // ---- Attributes ----------------------------------------------------------------------------------

    pub fn attr(&self, kind: AttrKind, l: usize, r: usize) -> Attr {
        Attr { kind, span: self.span(l, r) }
    }

    pub fn word_attribute(&self, l: usize) -> Attr {
        let kind = match self.text(l) {
            "__global__" => AttrKind::Global,
            "__device__" => AttrKind::Device,
            "__host__" => AttrKind::Host,
            "__constant__" => AttrKind::Constant,
            "__shared__" => AttrKind::Shared,
            "__managed__" => AttrKind::Managed,
            "__grid_constant__" => AttrKind::GridConstant,
            "__forceinline__" => AttrKind::ForceInline,
            _ => AttrKind::NoInline,
        };
        self.attr(kind, l, l + 1)
    }

    pub fn call_attribute(&self, mut args: Vec<Expr>, l: usize, r: usize) -> Attr {
        let kind = match self.text(l) {
            "__launch_bounds__" => AttrKind::LaunchBounds(args),
            "__maxnreg__" => AttrKind::MaxNReg(args),
            "__block_size__" => AttrKind::BlockSize(args),
            "__cluster_dims__" => AttrKind::ClusterDims(args),
            _ => AttrKind::Align(Some(args.swap_remove(0))),
        };
        self.attr(kind, l, r)
    }

    pub fn gnu_attribute(&self, name: Ident, mut args: Vec<Expr>, l: usize, r: usize) -> Attr {
        let text = self.session.names.resolve(name.name);
        let bare = text.strip_prefix("__").and_then(|text| text.strip_suffix("__")).unwrap_or(text);
        self.refuse_attribute(bare, name.span);
        let kind = match known(bare) {
            Some(Known::Aligned) if args.len() <= 1 => AttrKind::Align(args.pop()),
            _ => {
                let symbol = self.session.names.lookup(bare).unwrap_or(name.name);
                AttrKind::Gnu { name: Ident { name: symbol, ..name }, args }
            }
        };
        self.attr(kind, l, r)
    }

    /// An attribute that changes what a program means, and that nothing here carries out.
    fn refuse_attribute(&self, name: &str, span: Span) {
        if REFUSED.contains(&name) {
            let message = format!("the attribute `{name}` is outside the `.cdp` subset");
            let found = Diagnostic::new(Code::E0239, span, message);
            self.diagnostics.borrow_mut().push(found);
        }
    }

    /// The names were joined by the classifier: `nodiscard`, `gnu::unused`.
    pub fn std_attribute(&self, l: usize) -> Attr {
        let text = self.text(l);
        let span = self.at(l);
        let ident = |text: &str| Ident {
            name: self.session.names.lookup(text).unwrap_or(Symbol::EMPTY),
            span,
        };
        let kind = match text.split_once("::") {
            Some((scope, name)) => AttrKind::Std { scope: Some(ident(scope)), name: ident(name) },
            None => AttrKind::Std { scope: None, name: ident(text) },
        };
        if let Some(("gnu", name)) = text.split_once("::") {
            self.refuse_attribute(name, span);
        }
        Attr { kind, span }
    }

    // ---- Declarators -----------------------------------------------------------------------------------

    /// Pointers in front apply after everything behind the name.
    pub fn declarator(
        &self,
        pointers: Vec<(DeclaratorPart, Vec<Attr>)>,
        direct: Option<Direct>,
        l: usize,
        r: usize,
    ) -> Declarator {
        let direct = direct.unwrap_or(Direct { name: None, parts: Vec::new(), attrs: Vec::new() });
        let (mut parts, mut attrs) = (direct.parts, direct.attrs);
        for (part, behind) in pointers.into_iter().rev() {
            parts.push(part);
            attrs.extend(behind);
        }
        if let Some(excess) = parts.get(MAX_DECLARATOR_PARTS) {
            let message = format!(
                "a declarator has more than {MAX_DECLARATOR_PARTS} pointers, arrays and functions"
            );
            self.push(Diagnostic::new(Code::E0205, excess.span(), message));
            parts.truncate(MAX_DECLARATOR_PARTS);
        }
        Declarator { name: direct.name, parts, attrs, span: self.span(l, r) }
    }

    #[allow(clippy::too_many_arguments)]
    pub fn params(
        &self,
        (mut params, variadic): (Vec<Param>, Option<usize>),
        noexcept: Option<usize>,
        trailing: Option<TypeName>,
        l: usize,
        r: usize,
        quals: Qualifiers,
    ) -> DeclaratorPart {
        // Qualifiers here belong to member functions, which the classifier refuses.
        if let Some(span) = quals.const_.or(quals.volatile).or(quals.restrict) {
            self.push(Diagnostic::new(Code::E0222, span, "only member functions are qualified"));
        }
        if let [only] = params.as_slice()
            && only.declarator.name.is_none()
            && only.declarator.parts.is_empty()
            && matches!(only.specs.ty.kind, TypeSpecKind::Builtin(BuiltinType::Void))
        {
            params.clear();
        }
        DeclaratorPart::Function(FunctionPart {
            params,
            variadic: variadic.map(|at| self.at(at)),
            noexcept: noexcept.map(|at| self.at(at)),
            trailing_return: trailing.map(Box::new),
            span: self.span(l, r),
        })
    }

    pub fn param(
        &self,
        specs: DeclSpecs,
        declarator: Option<Declarator>,
        default: Option<Expr>,
        l: usize,
        m: usize,
        r: usize,
    ) -> Param {
        let declarator = declarator.unwrap_or_else(|| self.declarator(Vec::new(), None, m, m));
        Param { specs, declarator, default, span: self.span(l, r) }
    }

    // ---- Statements --------------------------------------------------------------------------------------

    pub fn stmt(&self, kind: StmtKind, l: usize, r: usize) -> Stmt {
        let span = self.span(l, r);
        let depth = 1 + stmt_depth(&kind);
        if depth > MAX_DEPTH {
            let message = format!("statements are nested more than {MAX_DEPTH} deep");
            self.push(Diagnostic::new(Code::E0205, span.before(), message));
            return Stmt {
                labels: Vec::new(),
                pragmas: Vec::new(),
                kind: StmtKind::Error,
                span,
                depth: 1,
            };
        }
        Stmt { labels: Vec::new(), pragmas: Vec::new(), kind, span, depth }
    }

    pub fn block(&self, stmts: Vec<Stmt>, l: usize, r: usize) -> Block {
        Block { stmts, span: self.span(l, r), close_span: self.at(r - 1) }
    }

    pub fn block_stmt(&self, block: Block, l: usize, r: usize) -> Stmt {
        self.stmt(StmtKind::Block(block), l, r)
    }

    pub fn decl_stmt(&self, decl: Decl, l: usize, r: usize) -> Stmt {
        let kind = match decl.kind {
            DeclKind::Empty => StmtKind::Empty,
            _ => StmtKind::Decl(decl),
        };
        self.stmt(kind, l, r)
    }

    pub fn label(&self, kind: LabelKind, l: usize, r: usize) -> Prefix {
        Prefix::Label(Label { kind, span: self.span(l, r) })
    }

    pub fn pragma(&self, kind: PragmaKind, l: usize, r: usize) -> Pragma {
        Pragma { kind, span: self.span(l, r) }
    }

    pub fn cdp_pragma(&self, l: usize, r: usize) -> Pragma {
        self.pragma(PragmaKind::Cdp(self.tokens[l].symbol), l, r)
    }

    pub fn prefixed(&self, prefixes: Vec<Prefix>, mut stmt: Stmt, l: usize, r: usize) -> Stmt {
        for prefix in prefixes {
            match prefix {
                Prefix::Label(label) => stmt.labels.push(label),
                Prefix::Pragma(pragma) => stmt.pragmas.push(pragma),
            }
        }
        stmt.span = self.span(l, r);
        stmt
    }

    pub fn if_stmt(
        &self,
        (constexpr, init, condition): (Option<usize>, Option<Stmt>, Condition),
        then: Stmt,
        otherwise: Option<Stmt>,
        l: usize,
        r: usize,
    ) -> Stmt {
        let constexpr = constexpr.map(|at| self.at(at));
        let parts =
            IfStmt { keyword_span: self.at(l), constexpr, init, condition, then, otherwise };
        self.stmt(StmtKind::If(Box::new(parts)), l, r)
    }

    pub fn while_stmt(&self, condition: Condition, body: Stmt, l: usize, r: usize) -> Stmt {
        let (condition, body) = (Box::new(condition), Box::new(body));
        self.stmt(StmtKind::While { keyword_span: self.at(l), condition, body }, l, r)
    }

    pub fn do_stmt(&self, body: Stmt, condition: Expr, l: usize, r: usize) -> Stmt {
        let (condition, body) = (Box::new(condition), Box::new(body));
        self.stmt(StmtKind::DoWhile { keyword_span: self.at(l), body, condition }, l, r)
    }

    pub fn for_stmt(
        &self,
        (init, condition, step): (Stmt, Option<Condition>, Option<Expr>),
        body: Stmt,
        l: usize,
        r: usize,
    ) -> Stmt {
        let parts = ForStmt { keyword_span: self.at(l), init, condition, step, body };
        self.stmt(StmtKind::For(Box::new(parts)), l, r)
    }

    pub fn range_for(
        &self,
        (init, variable, range): (Option<Stmt>, SimpleDecl, Expr),
        body: Stmt,
        l: usize,
        r: usize,
    ) -> Stmt {
        let parts = RangeForStmt { keyword_span: self.at(l), init, variable, range, body };
        self.stmt(StmtKind::RangeFor(Box::new(parts)), l, r)
    }

    pub fn switch_stmt(
        &self,
        (init, condition): (Option<Stmt>, Condition),
        body: Stmt,
        l: usize,
        r: usize,
    ) -> Stmt {
        let parts = SwitchStmt { keyword_span: self.at(l), init, condition, body };
        self.stmt(StmtKind::Switch(Box::new(parts)), l, r)
    }

    pub fn asm(
        &self,
        _l: usize,
        words: Vec<usize>,
        template: StringLit,
        groups: Vec<Vec<AsmOperand>>,
    ) -> AsmStmt {
        let volatile = words.iter().copied().find(|&at| self.text(at).contains("volatile"));
        let basic = groups.is_empty();
        let mut groups = groups.into_iter();
        let (outputs, inputs, clobbers) = (groups.next(), groups.next(), groups.next());
        if let Some(extra) = groups.next() {
            let span = extra.first().map_or(template.span, |operand| operand.span);
            self.push(Diagnostic::new(
                Code::E0201,
                span,
                "`asm` takes outputs, inputs and clobbers, and nothing after them",
            ));
        }
        for operand in outputs.iter().chain(&inputs).flatten() {
            if matches!(operand.expr.kind, ExprKind::Error) && operand.expr.span == operand.span {
                let found = Diagnostic::new(
                    Code::E0201,
                    operand.span.after(),
                    "expected `(` and the operand after its constraint",
                );
                self.push(found);
            }
        }
        let clobbers =
            clobbers.unwrap_or_default().into_iter().map(|operand| operand.constraint).collect();
        AsmStmt {
            volatile: volatile.map(|at| self.at(at)),
            template,
            outputs: outputs.unwrap_or_default(),
            inputs: inputs.unwrap_or_default(),
            clobbers,
            basic,
        }
    }

    /// Without an expression it is a clobber, which has only a string.
    pub fn asm_operand(
        &self,
        name: Option<Ident>,
        constraint: StringLit,
        expr: Option<Expr>,
        l: usize,
        r: usize,
    ) -> AsmOperand {
        let span = self.span(l, r);
        let expr = expr.unwrap_or_else(|| self.expr_at(ExprKind::Error, span));
        AsmOperand { name, constraint, expr, span }
    }
}

/// The deepest statement directly inside.
fn stmt_depth(kind: &StmtKind) -> u32 {
    match kind {
        StmtKind::Block(block) => block.stmts.iter().map(|stmt| stmt.depth).max().unwrap_or(0),
        StmtKind::If(parts) => {
            parts.then.depth.max(parts.otherwise.as_ref().map_or(0, |stmt| stmt.depth))
        }
        StmtKind::Switch(parts) => parts.body.depth,
        StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => body.depth,
        StmtKind::For(parts) => parts.body.depth,
        StmtKind::RangeFor(parts) => parts.body.depth,
        _ => 0,
    }
}

fn storage_kind(text: &str) -> StorageKind {
    match text {
        "typedef" => StorageKind::Typedef,
        "extern" => StorageKind::Extern,
        "static" => StorageKind::Static,
        "register" => StorageKind::Register,
        "thread_local" | "_Thread_local" | "__thread" => StorageKind::ThreadLocal,
        "constexpr" => StorageKind::Constexpr,
        "mutable" => StorageKind::Mutable,
        _ => StorageKind::Inline,
    }
}

/// The type that a set of words means, in any order; `None` if they do not go together.
pub(super) fn builtin_type(words: &[&str]) -> Option<BuiltinType> {
    use BuiltinType as B;
    let count = |word: &str| words.iter().filter(|other| other.trim_matches('_') == word).count();
    let (signed, unsigned, long) = (count("signed"), count("unsigned"), count("long"));
    let base: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !matches!(word.trim_matches('_'), "signed" | "unsigned" | "long"))
        .collect();
    if signed + unsigned > 1 || long > 2 {
        return None;
    }
    let pick = |plain: B, unsigned_type: B| Some(if unsigned == 1 { unsigned_type } else { plain });
    let integer_words = |base: &[&str]| matches!(base, [] | ["int"]);
    let ty = match (base.as_slice(), long) {
        (base, 0) if integer_words(base) => return pick(B::Int, B::UInt),
        (base, 1) if integer_words(base) => return pick(B::Long, B::ULong),
        (base, 2) if integer_words(base) => return pick(B::LongLong, B::ULongLong),
        (["char"], 0) => match (signed, unsigned) {
            (1, _) => return Some(B::SChar),
            (_, 1) => return Some(B::UChar),
            _ => B::Char,
        },
        (["short"] | ["short", "int"] | ["int", "short"], 0) => return pick(B::Short, B::UShort),
        (["__int128"], 0) => return pick(B::Int128, B::UInt128),
        (["__int128_t"], 0) => B::Int128,
        (["__uint128_t"], 0) => B::UInt128,
        (["void"], 0) => B::Void,
        (["bool"], 0) => B::Bool,
        (["wchar_t"], 0) => B::WChar,
        (["char8_t"], 0) => B::Char8,
        (["char16_t"], 0) => B::Char16,
        (["char32_t"], 0) => B::Char32,
        (["float"], 0) => B::Float,
        (["double"], 0) => B::Double,
        (["double"], 1) => B::LongDouble,
        _ => return None,
    };
    (signed + unsigned == 0).then_some(ty)
}
