//! The syntax tree as text, for `--emit ast` and for tests: one external declaration, statement or
//! member a line, indented; types and expressions as parenthesised prefix forms.
//!
//! For reading, not for parsing back.

mod expr;

use std::fmt::Write;

use crate::ast::*;
use crate::intern::Symbol;
use crate::session::Session;

/// The whole unit, what the compiler's own headers declare left out.
pub fn print(unit: &TranslationUnit, session: &Session) -> String {
    let mut printer = Printer { session, out: String::new(), indent: 0 };
    let own = |decl: &&Decl| {
        let site = session.sources.call_site(decl.span);
        session.sources.file_of(site.lo).is_none_or(|file| !session.sources.file(file).system)
    };
    for decl in unit.decls.iter().filter(own) {
        printer.decl(decl);
    }
    printer.out
}

struct Printer<'a> {
    session: &'a Session,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    fn nested(&mut self, work: impl FnOnce(&mut Self)) {
        self.indent += 1;
        work(self);
        self.indent -= 1;
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.session.name(symbol)
    }

    fn qual(&self, name: &QualName) -> String {
        let mut out = String::from(if name.global { "::" } else { "" });
        for scope in &name.scopes {
            let _ = write!(out, "{}::", self.name(scope.name));
        }
        out + self.name(name.base.name)
    }

    // ---- Declarations ----------------------------------------------------------------------------

    fn decl(&mut self, decl: &Decl) {
        match &decl.kind {
            DeclKind::Empty => self.line("empty"),
            DeclKind::Error => self.line("error"),
            DeclKind::Function(function) => {
                let head = self.declared(&function.specs, &function.declarator);
                self.line(format!("function {head}"));
                self.specs_tail(&function.specs);
                self.nested(|p| p.stmts(&function.body.stmts));
            }
            DeclKind::Simple(simple) => self.simple(simple),
            DeclKind::Alias(alias) => {
                let text =
                    format!("using {} = {}", self.name(alias.name.name), self.type_name(&alias.ty));
                self.line(&text);
            }
            DeclKind::UsingName(name) => self.line(format!("using {}", self.qual(name))),
            DeclKind::UsingNamespace(name) => {
                self.line(format!("using namespace {}", self.qual(name)))
            }
            DeclKind::Namespace(namespace) => {
                let names: Vec<&str> =
                    namespace.names.iter().map(|ident| self.name(ident.name)).collect();
                let inline = if namespace.inline { "inline " } else { "" };
                self.line(format!("{inline}namespace {}", names.join("::")).trim_end());
                self.nested(|p| namespace.decls.iter().for_each(|decl| p.decl(decl)));
            }
            DeclKind::NamespaceAlias(alias) => {
                let NamespaceAliasDecl { name, target } = &**alias;
                self.line(format!("namespace {} = {}", self.name(name.name), self.qual(target)));
            }
            DeclKind::Linkage(linkage) => {
                self.line(format!("extern {:?}", linkage.language.to_text()));
                self.nested(|p| linkage.decls.iter().for_each(|decl| p.decl(decl)));
            }
            DeclKind::StaticAssert { condition, message } => {
                let message =
                    message.as_ref().map_or(String::new(), |text| format!(" {:?}", text.to_text()));
                self.line(format!("static_assert {}{message}", self.expr(condition)));
            }
            DeclKind::Pragma(pragma) => {
                self.line(self.pragma(pragma));
            }
        }
    }

    fn simple(&mut self, simple: &SimpleDecl) {
        if simple.declarators.is_empty() {
            let specs = self.specs(&simple.specs);
            self.line(format!("declare {specs}"));
        }
        for item in &simple.declarators {
            let mut text = format!("declare {}", self.declared(&simple.specs, &item.declarator));
            if let Some(width) = &item.bit_width {
                let _ = write!(text, " : {}", self.expr(width));
            }
            if let Some(init) = &item.init {
                let _ = write!(text, " {}", self.initializer(init));
            }
            self.line(&text);
        }
        self.specs_tail(&simple.specs);
    }

    /// The members and enumerators that a specifier list defines.
    fn specs_tail(&mut self, specs: &DeclSpecs) {
        match &specs.ty.kind {
            TypeSpecKind::Record(record) => {
                if let Some(members) = &record.members {
                    self.nested(|p| members.iter().for_each(|member| p.decl(member)));
                }
            }
            TypeSpecKind::Enum(spec) => {
                for enumerator in spec.enumerators.iter().flatten() {
                    let value = enumerator.value.as_ref();
                    let value =
                        value.map_or(String::new(), |value| format!(" = {}", self.expr(value)));
                    self.nested(|p| p.line(format!("{}{value}", p.name(enumerator.name.name))));
                }
            }
            _ => {}
        }
    }

    fn initializer(&self, init: &Initializer) -> String {
        match &init.kind {
            InitializerKind::Assign(value) => format!("= {}", self.expr(value)),
            InitializerKind::Brace(list) => self.init_list(list),
            InitializerKind::Paren(args) => format!("({})", self.exprs(args)),
        }
    }

    /// `name: type` with storage and attributes.
    fn declared(&self, specs: &DeclSpecs, declarator: &Declarator) -> String {
        let name = declarator.name.as_ref().map_or("_".to_owned(), |name| self.qual(name));
        let attrs = self.attrs(&declarator.attrs);
        format!("{name}: {}{attrs}", self.derived(self.specs(specs), declarator))
    }

    fn derived(&self, base: String, declarator: &Declarator) -> String {
        let mut text = base;
        for part in declarator.parts.iter().rev() {
            text = match part {
                DeclaratorPart::Pointer { quals, .. } => {
                    format!("{}ptr({text})", quals_text(quals))
                }
                DeclaratorPart::Reference { rvalue: false, quals, .. } => {
                    format!("{}ref({text})", quals_text(quals))
                }
                DeclaratorPart::Reference { rvalue: true, .. } => format!("rref({text})"),
                DeclaratorPart::Array { size: Some(size), .. } => {
                    format!("array({text}, {})", self.expr(size))
                }
                DeclaratorPart::Array { size: None, .. } => format!("array({text})"),
                DeclaratorPart::Function(part) => self.function_type(&text, part),
            };
        }
        text
    }

    fn function_type(&self, result: &str, part: &FunctionPart) -> String {
        let mut params: Vec<String> = Vec::new();
        for param in &part.params {
            let mut text = self.declared(&param.specs, &param.declarator);
            if let Some(default) = &param.default {
                let _ = write!(text, " = {}", self.expr(default));
            }
            params.push(text);
        }
        if part.variadic.is_some() {
            params.push("...".to_owned());
        }
        let result =
            part.trailing_return.as_ref().map_or(result.to_owned(), |ty| self.type_name(ty));
        let noexcept = if part.noexcept.is_some() { " noexcept" } else { "" };
        format!("fn({}) -> {result}{noexcept}", params.join(", "))
    }

    fn specs(&self, specs: &DeclSpecs) -> String {
        let mut words: Vec<String> =
            specs.storage.iter().map(|s| format!("{:?}", s.kind).to_lowercase()).collect();
        words.extend(specs.attrs.iter().map(|attr| self.attr(attr)));
        let quals = quals_text(&specs.quals);
        if !quals.is_empty() {
            words.push(quals.trim_end().to_owned());
        }
        words.push(self.type_spec(&specs.ty));
        words.join(" ")
    }

    fn type_spec(&self, ty: &TypeSpec) -> String {
        match &ty.kind {
            TypeSpecKind::Error => "<error>".to_owned(),
            TypeSpecKind::Builtin(builtin) => format!("{builtin:?}").to_lowercase(),
            TypeSpecKind::Auto => "auto".to_owned(),
            TypeSpecKind::Named(name) => self.qual(name),
            TypeSpecKind::Record(record) => {
                let tag =
                    record.tag.as_ref().map_or("<anonymous>".to_owned(), |tag| self.qual(tag));
                let attrs = self.attrs(&record.attrs);
                format!("{}{attrs} {tag}", format!("{:?}", record.kind).to_lowercase())
            }
            TypeSpecKind::Enum(spec) => {
                let tag = spec.tag.as_ref().map_or("<anonymous>".to_owned(), |tag| self.qual(tag));
                let scoped = if spec.scoped { " class" } else { "" };
                let base = spec
                    .underlying
                    .as_ref()
                    .map_or(String::new(), |ty| format!(" : {}", self.type_name(ty)));
                format!("enum{scoped} {tag}{base}")
            }
            TypeSpecKind::TypeofExpr(expr) => format!("typeof({})", self.expr(expr)),
            TypeSpecKind::TypeofType(ty) => format!("typeof({})", self.type_name(ty)),
        }
    }

    fn type_name(&self, ty: &TypeName) -> String {
        self.derived(self.specs(&ty.specs), &ty.declarator)
    }

    /// Each with a space before it.
    fn attrs(&self, attrs: &[Attr]) -> String {
        attrs.iter().map(|attr| format!(" {}", self.attr(attr))).collect()
    }

    fn attr(&self, attr: &Attr) -> String {
        let call = |name: &str, args: &[Expr]| format!("{name}({})", self.exprs(args));
        match &attr.kind {
            AttrKind::Global => "__global__".to_owned(),
            AttrKind::Device => "__device__".to_owned(),
            AttrKind::Host => "__host__".to_owned(),
            AttrKind::Constant => "__constant__".to_owned(),
            AttrKind::Shared => "__shared__".to_owned(),
            AttrKind::Managed => "__managed__".to_owned(),
            AttrKind::GridConstant => "__grid_constant__".to_owned(),
            AttrKind::ForceInline => "__forceinline__".to_owned(),
            AttrKind::NoInline => "__noinline__".to_owned(),
            AttrKind::LaunchBounds(args) => call("__launch_bounds__", args),
            AttrKind::MaxNReg(args) => call("__maxnreg__", args),
            AttrKind::BlockSize(args) => call("__block_size__", args),
            AttrKind::ClusterDims(args) => call("__cluster_dims__", args),
            AttrKind::Align(Some(value)) => format!("align({})", self.expr(value)),
            AttrKind::Align(None) => "align()".to_owned(),
            AttrKind::AlignType(ty) => format!("align({})", self.type_name(ty)),
            AttrKind::Gnu { name, args } if args.is_empty() => {
                format!("[{}]", self.name(name.name))
            }
            AttrKind::Gnu { name, args } => {
                format!("[{}({})]", self.name(name.name), self.exprs(args))
            }
            AttrKind::Std { scope: Some(scope), name } => {
                format!("[[{}::{}]]", self.name(scope.name), self.name(name.name))
            }
            AttrKind::Std { scope: None, name } => format!("[[{}]]", self.name(name.name)),
        }
    }

    fn pragma(&self, pragma: &Pragma) -> String {
        match &pragma.kind {
            PragmaKind::Unroll(Some(count)) => format!("#unroll {}", self.expr(count)),
            PragmaKind::Unroll(None) => "#unroll".to_owned(),
            PragmaKind::NoUnroll => "#nounroll".to_owned(),
            PragmaKind::Cdp(text) => format!("#cdp {}", self.name(*text)),
        }
    }

    // ---- Statements ------------------------------------------------------------------------------

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        for label in stmt.labels() {
            let text = match &label.kind {
                LabelKind::Case(value) => format!("case {}", self.expr(value)),
                LabelKind::Named(name) => self.name(name.name).to_owned(),
                LabelKind::Default => "default".to_owned(),
            };
            self.line(&text);
        }
        for pragma in stmt.pragmas() {
            self.line(self.pragma(pragma));
        }
        match &stmt.kind {
            StmtKind::Empty => self.line("empty"),
            StmtKind::Error => self.line("error"),
            StmtKind::Expr(expr) => {
                self.line(self.expr(expr));
            }
            StmtKind::Decl(decl) => self.decl(decl),
            StmtKind::Block(block) => {
                self.line("block");
                self.nested(|p| p.stmts(&block.stmts));
            }
            StmtKind::Break => self.line("break"),
            StmtKind::Goto(name) => self.line(format!("goto {}", self.name(name.name))),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(None) => self.line("return"),
            StmtKind::Return(Some(value)) => {
                self.line(format!("return {}", self.expr(value)));
            }
            StmtKind::Asm(asm) => self.asm(asm),
            _ => self.control(stmt),
        }
    }

    fn control(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If(parts) => {
                let constexpr = if parts.constexpr.is_some() { " constexpr" } else { "" };
                self.head(&format!("if{constexpr}"), parts.init.as_ref(), Some(&parts.condition));
                self.nested(|p| p.stmt(&parts.then));
                if let Some(otherwise) = &parts.otherwise {
                    self.line("else");
                    self.nested(|p| p.stmt(otherwise));
                }
            }
            StmtKind::Switch(parts) => {
                self.head("switch", parts.init.as_ref(), Some(&parts.condition));
                self.nested(|p| p.stmt(&parts.body));
            }
            StmtKind::While { condition, body, .. } => {
                self.head("while", None, Some(condition));
                self.nested(|p| p.stmt(body));
            }
            StmtKind::DoWhile { body, condition, .. } => {
                self.line("do");
                self.nested(|p| p.stmt(body));
                self.line(format!("while {}", self.expr(condition)));
            }
            StmtKind::For(parts) => {
                self.head("for", Some(&parts.init), parts.condition.as_ref());
                if let Some(step) = &parts.step {
                    self.nested(|p| p.line(format!("step {}", p.expr(step))));
                }
                self.nested(|p| p.stmt(&parts.body));
            }
            StmtKind::RangeFor(parts) => {
                self.head("for each", parts.init.as_ref(), None);
                self.nested(|p| p.line(format!("in {}", p.expr(&parts.range))));
                self.nested(|p| p.stmt(&parts.body));
            }
            _ => {}
        }
    }

    fn head(&mut self, word: &str, init: Option<&Stmt>, condition: Option<&Condition>) {
        let text = match condition {
            Some(Condition::Expr(expr)) => format!("{word} {}", self.expr(expr)),
            _ => word.to_owned(),
        };
        self.line(&text);
        self.indent += 1;
        if let Some(init) = init {
            self.line("init");
            self.nested(|p| p.stmt(init));
        }
        if let Some(Condition::Decl(decl)) = condition {
            self.decl(decl);
        }
        self.indent -= 1;
    }

    fn asm(&mut self, asm: &AsmStmt) {
        let volatile = if asm.volatile.is_some() { " volatile" } else { "" };
        self.line(format!("asm{volatile} {:?}", asm.template.to_text()));
        for (word, operands) in [("out", &asm.outputs), ("in", &asm.inputs)] {
            for operand in operands {
                let name = operand
                    .name
                    .map_or(String::new(), |name| format!(" [{}]", self.name(name.name)));
                let text = format!(
                    "{word}{name} {:?} {}",
                    operand.constraint.to_text(),
                    self.expr(&operand.expr)
                );
                self.nested(|p| p.line(&text));
            }
        }
        for clobber in &asm.clobbers {
            self.nested(|p| p.line(format!("clobber {:?}", clobber.to_text())));
        }
    }

    // ---- Expressions -------------------------------------------------------------------------------
}

fn quals_text(quals: &Qualifiers) -> String {
    let mut out = String::new();
    for (set, word) in
        [(quals.const_, "const "), (quals.volatile, "volatile "), (quals.restrict, "restrict ")]
    {
        if set.is_some() {
            out.push_str(word);
        }
    }
    out
}
