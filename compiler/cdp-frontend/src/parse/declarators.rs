//! Declarators: pointers, names, arrays and parameters.

use std::sync::Arc;

use super::*;

/// Types nest no deeper by one declarator.
const MAX_PARTS: usize = 256;

impl Parser<'_> {
    /// The declarator of a type that has none.
    pub fn no_declarator(&self) -> Declarator {
        let span = self.since(self.at);
        Declarator { name: None, parts: Vec::new(), attrs: Vec::new(), span }
    }

    // declarator = { pointer } direct
    // pointer    = "*" { qualifier | attribute } | "&" qualifiers | "&&"
    /// `inner` is set inside the parentheses of another declarator. What is declared hides a type of the same
    /// name from here on.
    pub fn declarator(&mut self, specs: &Specifiers, inner: bool) -> Parsed<Declarator> {
        let start = self.at;
        let (pointers, attrs) = self.pointers()?;
        let mut declarator = self.direct(specs, inner)?;
        if !pointers.is_empty() {
            declarator.parts.reserve_exact(pointers.len());
            declarator.parts.extend(pointers);
            declarator.attrs.extend(attrs);
        }
        if let Some(excess) = declarator.parts.get(MAX_PARTS) {
            let message =
                format!("a declarator has more than {MAX_PARTS} pointers, arrays and functions");
            self.error(Code::E0205, excess.span(), message);
            declarator.parts.truncate(MAX_PARTS);
        }
        declarator.span = self.since(start);
        if !inner && let Some(name) = declarator.name.as_ref().and_then(QualName::as_plain) {
            self.declare(specs, name);
        }
        Ok(declarator)
    }

    /// `{ pointer }`, the innermost first as the tree has them.
    pub fn pointers(&mut self) -> Parsed<(Vec<DeclaratorPart>, Vec<Attr>)> {
        let (mut parts, mut attrs) = (Vec::new(), Vec::new());
        while let Some(kind @ (T::Star | T::Amp | T::AndAnd)) = self.kind() {
            let (start, mut quals) = (self.at, Qualifiers::default());
            self.at += 1;
            loop {
                if kind != T::AndAnd && self.word() == Word::Qualifier {
                    self.qualifier(&mut quals);
                } else if kind != T::Star || !self.attribute(&mut attrs)? {
                    break;
                }
            }
            let span = self.since(start);
            parts.push(match kind {
                T::Star => DeclaratorPart::Pointer { quals, span },
                _ => DeclaratorPart::Reference { rvalue: kind == T::AndAnd, quals, span },
            });
        }
        parts.reverse();
        Ok((parts, attrs))
    }

    // direct = [ declared-name | "(" declarator ")" ] { "[" [ expression ] "]" | function }
    fn direct(&mut self, specs: &Specifiers, inner: bool) -> Parsed<Declarator> {
        let mut declarator = self.no_declarator();
        let mut named = false;
        let grouped = self.is(T::LParen);
        let must_name = !matches!(specs.context, Context::Parameter | Context::TypeName);
        // Where a name may be missing they can be the parameters of an unnamed function.
        let parameters = |p: &Self, at| {
            matches!(p.kind_at(at), Some(T::RParen | T::Ellipsis)) || p.is_specifier_at(at)
        };
        if grouped && (must_name || !parameters(self, self.at + 1)) {
            declarator = self.group("`)`", |p| p.declarator(specs, true))?;
            named = declarator.name.is_some();
        } else if specs.context != Context::TypeName && self.is_path_at(self.at) {
            declarator.name = Some(self.declared_name()?);
            named = true;
        } else if must_name {
            return Err(self.expected("a name"));
        }
        loop {
            let start = self.at;
            let part = match self.kind() {
                Some(T::LBracket) if self.std_attribute_end().is_none() => {
                    let size = self.group("`]`", |p| p.unless(T::RBracket, Self::expression))?;
                    DeclaratorPart::Array { size, span: self.since(start) }
                }
                Some(T::LParen) => {
                    // Directly after the name they may be an initialiser's.
                    if std::mem::take(&mut named) && !inner {
                        if specs.context == Context::Member && !specs.typedef && !grouped {
                            return Err(self.refuse_member_function(&declarator));
                        }
                        let unknown = self.path(start + 1).meaning != Some(Meaning::Value);
                        let function_like = specs.function_like || (grouped && unknown);
                        if !self.opens_parameters(start, function_like) {
                            return Ok(declarator);
                        }
                    }
                    self.function_part(&mut declarator.attrs)?
                }
                _ => return Ok(declarator),
            };
            named = false;
            if declarator.parts.is_empty() {
                declarator.parts.reserve_exact(1);
            }
            declarator.parts.push(part);
        }
    }

    /// The name that is declared.
    fn declared_name(&mut self) -> Parsed<QualName> {
        let path = self.path(self.at);
        // The parameters and body of `int a::f(T)` see the names of `a`.
        if path.is_qualified()
            && let Some(scope) = path.scope
        {
            self.symbols.open(scope);
        }
        self.qual_name(&path)
    }

    /// Gives a declared name its meaning; members are no names of the scope around their record.
    pub fn declare(&mut self, specs: &Specifiers, name: Symbol) {
        if specs.typedef {
            self.symbols.set(name, Meaning::Type(ScopeId::NONE));
        } else if specs.context != Context::Member {
            self.symbols.set(name, Meaning::Value);
        }
    }

    // function = "(" parameters ")" [ "noexcept" [ "(" ... ")" ] ] [ "->" type-name ]
    /// The names of parameters last as long as the declarator and the body that may follow: the scope
    /// is [`Parser::declaration`]'s. Attributes behind a type after `->` are the function's.
    fn function_part(&mut self, attrs: &mut Vec<Attr>) -> Parsed<DeclaratorPart> {
        let start = self.at;
        let (params, variadic) = self.group("`,` or `)`", Self::parameters)?;
        let span = self.since(start);
        let is_noexcept = matches!(self.word(), Word::Noexcept | Word::Refused(Refusal::Throw));
        let noexcept = is_noexcept.then(|| self.pass());
        if is_noexcept {
            self.skip_parentheses();
        }
        let mut trailing_return = self.after(T::Arrow, Self::type_name)?.map(Box::new);
        if let Some(result) = &mut trailing_return {
            if let TypeSpecKind::TypeofExpr(_) = result.specs.ty.kind {
                // The checker forms a function's type before its parameters have places.
                let (span, what) = (result.span, "a result type by `decltype` after `->` is");
                return Err(self.outside(Code::E0240, span, what, "write the type"));
            }
            attrs.append(&mut result.specs.attrs);
            attrs.append(&mut result.declarator.attrs);
        }
        let part = FunctionPart { params, variadic, noexcept, trailing_return, span };
        Ok(DeclaratorPart::Function(part))
    }

    // parameters = "void" | [ parameter { "," parameter } ] [ [ "," ] "..." ]
    fn parameters(&mut self) -> Parsed<(Vec<Param>, Option<Span>)> {
        let (mut params, mut variadic) = (Vec::new(), None);
        let none = self.is_text(self.at, "void") && self.kind_at(self.at + 1) == Some(T::RParen);
        self.at += usize::from(none);
        let mut more = !self.is(T::RParen);
        while more && variadic.is_none() {
            if self.is(T::Ellipsis) {
                variadic = Some(self.pass());
            } else {
                params.push(self.parameter()?);
                more = self.eat(T::Comma);
            }
        }
        params.shrink_to_fit();
        Ok((params, variadic))
    }

    // parameter = specifiers [ declarator attributes ] [ "=" initialiser-clause ]
    fn parameter(&mut self) -> Parsed<Param> {
        let start = self.at;
        let specs = self.specifiers(Context::Parameter)?;
        let mut declarator = self.declarator(&specs, false)?;
        self.attributes(&mut declarator.attrs)?;
        let default = self.after(T::Eq, Self::initialiser_clause)?.map(Arc::new);
        Ok(Param { specs: specs.specs, declarator, default, span: self.since(start) })
    }

    /// `name(` in a record.
    fn refuse_member_function(&mut self, declarator: &Declarator) -> Fault {
        let Some(name) = &declarator.name else { return self.expected("`;`") };
        let text = self.session.name(name.base.name);
        let owner = self.record.map_or("the record", |tag| self.session.name(tag));
        self.lost.extend(self.record.filter(|_| name.operator.is_some()));
        let (code, kind, cure) = match name.operator {
            Some(_) => (Code::E0236, "operators", "write the operator as a free function".into()),
            None => {
                let free = format!("`{text}({owner} &object, ...)`");
                let cure = format!("write a free function that takes the object: {free}");
                (Code::E0222, "functions", cure)
            }
        };
        self.outside(code, name.base.span, &format!("member {kind} (`{text}`) are"), &cure)
    }
}
