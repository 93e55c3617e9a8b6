//! Declaration specifiers, and types by themselves.

use super::*;
use crate::near;

/// Where a declaration stands.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Context {
    /// A file, namespace or linkage block.
    #[default]
    File,
    /// A block, or the head of a statement.
    Block,
    /// A record.
    Member,
    Parameter,
    /// A type by itself.
    TypeName,
}

/// Specifiers, and what the declarators after them need to know.
#[derive(Default)]
pub(super) struct Specifiers {
    pub specs: DeclSpecs,
    pub typedef: bool,
    /// `void`, or an execution space, is among them: a function is declared.
    pub function_like: bool,
    /// They end in the body of a record or enumeration.
    pub body: bool,
    pub context: Context,
    /// Places of type words.
    words: Vec<usize>,
    /// What else is a type.
    ty: Option<TypeSpec>,
    /// The declared name comes next, though there was no type.
    untyped: bool,
}

impl Specifiers {
    fn typed(&self) -> bool {
        !self.words.is_empty() || self.ty.is_some()
    }
}

impl Parser<'_> {
    // specifiers = specifier { specifier }
    // specifier  = storage | qualifier | type-word | attribute | type
    // type       = "auto" | name | record | enumeration
    //            | ( "decltype" | "typeof" ) "(" ( expression | type-name ) ")"
    /// A name is a specifier only while there is no type; after it, it is what is declared.
    pub fn specifiers(&mut self, context: Context) -> Parsed<Specifiers> {
        let start = self.at;
        let mut out = Specifiers { context, ..Specifiers::default() };
        while !out.untyped && self.specifier(&mut out, start)? {}
        if self.at == start && !out.typed() {
            let external = matches!(context, Context::File | Context::Member);
            let before = [2, 1].map(|back| start.checked_sub(back).and_then(|at| self.kind_at(at)));
            if self.is(T::LBrace) && before == [Some(T::RParen), Some(T::Semi)] {
                let semicolon = self.span_at(start - 1);
                self.error(Code::E0201, self.span_at(start), "expected a declaration, found `{`")
                    .suggest("if it begins a function's body, remove the `;`", semicolon, "");
                return Err(Fault::Syntax);
            }
            return Err(self.expected(if external { "a declaration" } else { "a type" }));
        }
        out.specs.span = self.since(start);
        if let (Some(first), Some(last)) = (out.words.first(), out.words.last()) {
            let span = self.span(*first, last + 1);
            let kind = self.type_of_words(&out.words, span);
            if let Some(other) = out.ty.replace(TypeSpec { kind, span }) {
                self.add_type(&mut out, other.kind, other.span);
            }
        }
        out.specs.ty = out.ty.take().unwrap_or_else(|| {
            let span = self.since(start).after();
            self.error(Code::E0204, span, "this declaration names no type")
                .help("write the type after the specifiers");
            TypeSpec { kind: TypeSpecKind::Error, span }
        });
        Ok(out)
    }

    /// One specifier; false if there is none here.
    fn specifier(&mut self, out: &mut Specifiers, start: usize) -> Parsed<bool> {
        let at = self.at;
        let context = out.context;
        if out.body && self.begins_next_declaration() {
            return Ok(false);
        }
        out.body = false;
        match self.word() {
            Word::Storage | Word::Typedef if context != Context::TypeName => {
                out.typedef |= self.word() == Word::Typedef;
                let kind = StorageKind::of(self.text_at(at)).unwrap_or(StorageKind::Inline);
                out.specs.storage.push(Storage { kind, span: self.span_at(at) });
                self.at += 1;
            }
            Word::Qualifier => self.qualifier(&mut out.specs.quals),
            Word::Type => {
                out.function_like |= self.is_text(at, "void");
                out.words.push(at);
                self.at += 1;
            }
            Word::Refused(refusal) if refusal.is_alone() => {
                self.refuse_word(refusal);
                self.at += 1;
                if refusal == Refusal::Type {
                    self.add_type(out, TypeSpecKind::Error, self.since(at));
                }
            }
            Word::Refused(_) if !out.typed() => return Err(self.expected("a type")),
            Word::Attribute | Word::AttributeCall | Word::Alignas | Word::GnuAttribute => {
                let of =
                    ["__global__", "__device__", "__host__", "__forceinline__", "__noinline__"];
                out.function_like |= of.contains(&self.text_at(at));
                self.attribute(&mut out.specs.attrs)?;
            }
            word @ (Word::Auto | Word::Typeof | Word::Record | Word::Enum) => {
                use TypeSpecKind::{Auto, TypeofExpr, TypeofType};
                self.at += usize::from(word == Word::Auto);
                let kind = match word {
                    Word::Record => self.record()?,
                    Word::Enum => self.enumeration()?,
                    Word::Typeof => self.type_or_expression(TypeofType, TypeofExpr)?,
                    _ => Auto,
                };
                self.add_type(out, kind, self.since(at));
            }
            Word::Name if self.is_path_at(at) && !out.typed() => self.named_type(out, start)?,
            _ => return self.attribute(&mut out.specs.attrs),
        }
        Ok(true)
    }

    /// Adds a type to specifiers, which have one; of two the one that is wrong has been reported.
    fn add_type(&mut self, out: &mut Specifiers, kind: TypeSpecKind, span: Span) {
        out.body = match &kind {
            TypeSpecKind::Record(record) => record.members.is_some(),
            TypeSpecKind::Enum(spec) => spec.enumerators.is_some(),
            _ => false,
        };
        let is_known = |kind: &TypeSpecKind| !matches!(kind, TypeSpecKind::Error);
        let is_other = is_known(&kind);
        let other = out.ty.replace(TypeSpec { kind, span });
        if let Some(other) = other.filter(|other| is_other && is_known(&other.kind)) {
            self.error(Code::E0206, span, "two types in one declaration")
                .secondary(other.span, "the other type")
                .help("if the two are separate declarations, put `;` between them");
        }
    }

    /// A name where the type is still to come: the type, or a mistake.
    fn named_type(&mut self, out: &mut Specifiers, start: usize) -> Parsed<()> {
        let path = self.path(self.at);
        let span = self.span(path.start, path.end);
        if matches!(path.meaning, Some(Meaning::Type(_)))
            || self.kind_at(path.end) == Some(T::ColonColon)
        {
            let name = self.qual_name(&path)?;
            self.add_type(out, TypeSpecKind::Named(name), span);
        } else if let Some(end) = self.template_arguments(&path) {
            self.refuse_template_use(&path, end);
            self.add_type(out, TypeSpecKind::Error, span);
        } else if self.is_untyped(&path, out.context, start) {
            let kind = self.report_untyped(&path);
            out.ty = Some(TypeSpec { kind, span: span.before() });
            out.untyped = true;
        } else if out.context == Context::File && self.is_text(self.at, "import") {
            return Err(self.outside(Code::E0235, span, "modules (`import`) are", ""));
        } else if let Some(word) = self.near_space(&path) {
            let message = format!("unknown type name `{}`", self.text_at(path.last));
            self.error(Code::E0204, span, message).suggest("did you mean", span, word);
            self.at = path.end;
            let kind = CudaWord::of(word).map(AttrKind::Cuda);
            out.specs.attrs.extend(kind.map(|kind| Attr { kind, span }));
        } else {
            self.report_unknown_type(&path);
            self.at = path.end;
            self.add_type(out, TypeSpecKind::Error, span);
        }
        Ok(())
    }

    /// Whether an unknown name in specifiers that began at `start` is what is declared, without a type before it.
    fn is_untyped(&self, path: &Path, context: Context, start: usize) -> bool {
        let next = self.kind_at(path.end);
        let ends = matches!(next, Some(T::Eq | T::Semi | T::Comma | T::LBracket));
        let only = path.start == start || !ends;
        match context {
            Context::Parameter | Context::TypeName => false,
            Context::Member => !only,
            _ => !only || next == Some(T::LParen),
        }
    }

    /// A name that stands for a type and is none; reported once.
    pub fn report_unknown_type(&mut self, path: &Path) {
        let symbols = [path.start, path.last].map(|at| self.symbol_at(at));
        if self.lost.contains(&symbols[0]) || !self.lost.insert(symbols[1]) {
            return;
        }
        let (span, last) = (self.span(path.start, path.end), self.span_at(path.last));
        if path.in_std {
            return self.refuse_std(path, span);
        }
        let [first, name] = symbols.map(|symbol| self.session.names.resolve(symbol));
        if let Some(left) = outside(first, path.is_qualified()) {
            if self.unread && left.is_of_c() {
                return;
            }
            self.lost.insert(symbols[0]);
            self.diagnostics.push(left.report(first, span, false));
            return;
        }
        let (header, mut right) = (declaring_type(name), None);
        // A finding that is only counted needs no cure.
        if header.is_none() && !self.diagnostics.is_full() {
            let types = self.symbols.visible().filter(|(_, m)| matches!(m, Some(Meaning::Type(_))));
            let names = types.map(|(symbol, _)| self.session.name(symbol));
            right = near::nearest_type(name, names).map(str::to_owned);
        }
        if self.unread && header.is_none() && right.is_none() {
            return;
        }
        let cure = header.map(|header| format!("`#include <{header}>` declares it"));
        let found = self.error(Code::E0204, span, format!("unknown type name `{name}`"));
        found.help(cure.unwrap_or_default());
        if let Some(right) = right {
            found.suggest("did you mean", last, right);
        }
    }

    /// The word of CUDA that a name before a type was to be: `__globl__ void`, `__device float`.
    fn near_space(&self, path: &Path) -> Option<&'static str> {
        let goes_on = !path.is_qualified()
            && (self.type_end(path.end).is_some() || self.word_at(path.end) == Word::Attribute);
        if goes_on { near::space(self.text_at(path.last)) } else { None }
    }

    /// A declared name without a type before it, as in C before 1999; of `main` nvcc takes that. Gives the type.
    fn report_untyped(&mut self, path: &Path) -> TypeSpecKind {
        let span = self.span_at(path.start);
        let name = self.text_at(path.last).to_owned();
        let function = self.kind_at(path.end) == Some(T::LParen);
        if function && name == "main" && !path.is_qualified() {
            let message = "`main` has no return type: `int` is meant";
            self.error(Code::W0738, span, message).suggest("write it", span.before(), "int ");
            return TypeSpecKind::Builtin(Basic::Int);
        }
        let what = if function { "return type" } else { "type" };
        let example = if function { "`void`" } else { "`int` or `auto`" };
        let note = format!("if `{name}` is meant to be a macro, no such macro is defined");
        self.error(Code::E0204, span, format!("`{name}` has no {what}"))
            .help(format!("write the type before it, for example {example}"))
            .note(if function { &note } else { "" });
        TypeSpecKind::Error
    }

    // word "(" ( type-name | expression ) ")"
    pub fn type_or_expression<X>(
        &mut self,
        of_type: fn(Box<TypeName>) -> X,
        of_expression: fn(Box<Expr>) -> X,
    ) -> Parsed<X> {
        self.at += 1;
        self.parenthesised("`)`", |p| match p.is_type_name_at(p.at) {
            true => p.type_name().map(Box::new).map(of_type),
            false => p.expression().map(Box::new).map(of_expression),
        })
    }

    pub fn qualifier(&mut self, quals: &mut Qualifiers) {
        let span = Some(self.span_at(self.at));
        match self.text_at(self.at).trim_matches('_') {
            "const" => quals.const_ = quals.const_.or(span),
            "volatile" => quals.volatile = quals.volatile.or(span),
            _ => quals.restrict = quals.restrict.or(span),
        }
        self.at += 1;
    }

    /// What several words mean together.
    fn type_of_words(&mut self, words: &[usize], span: Span) -> TypeSpecKind {
        let texts: Vec<&str> = words.iter().map(|&at| self.text_at(at)).collect();
        if let Some(builtin) = Basic::of_words(&texts) {
            return TypeSpecKind::Builtin(builtin);
        }
        if matches!(texts[..], ["long", "double"] | ["double", "long"]) {
            self.error(Code::E0244, span, "`long double` is outside the `.cdp` subset")
                .note("device code has no such format; nvcc computes in `double`")
                .help("write `double`")
                .help(NAME_IT_CU);
        } else {
            let message = format!("`{}` is not a type", texts.join(" "));
            self.error(Code::E0206, span, message).label("these words do not go together");
        }
        TypeSpecKind::Error
    }

    // type-name = specifiers [ declarator without a name ]
    pub fn type_name(&mut self) -> Parsed<TypeName> {
        let start = self.at;
        self.scoped(|p| {
            let specs = p.specifiers(Context::TypeName)?;
            let declarator = p.declarator(&specs, false)?;
            Ok(TypeName { specs: specs.specs, declarator, span: p.since(start) })
        })
    }

    /// Specifiers as a type, without a declarator: `float` in `float(x)`.
    pub fn bare_type(&mut self) -> Parsed<TypeName> {
        let start = self.at;
        let specs = self.specifiers(Context::TypeName)?.specs;
        Ok(TypeName { specs, declarator: self.no_declarator(), span: self.since(start) })
    }

    /// Passes a name, and gives it as the tree has it.
    pub fn qual_name(&mut self, path: &Path) -> Parsed<QualName> {
        let global = self.kind_at(path.start) == Some(T::ColonColon);
        let names = (path.start..path.last).filter(|at| self.kind_at(*at) == Some(T::Ident));
        let scopes = names.map(|at| self.ident_at(at)).collect();
        let (base, span) = (self.ident_at(path.last), self.span(path.start, path.end));
        let operator = Overloadable::of(self.text_at(path.last));
        if self.text_at(path.last).starts_with("operator\"") {
            self.outside(Code::E0233, base.span, "user-defined literals are", "");
        }
        self.at = path.end;
        if self.eat(T::ColonColon) {
            return Err(self.expected("a name"));
        }
        Ok(QualName { global, scopes, base, operator, span })
    }
}
