//! Records, their members, and enumerations.

use super::*;

impl Parser<'_> {
    // record = ( "struct" | "union" | "class" ) attributes [ tag ] "{" { member } "}"
    //        | ( "struct" | "union" | "class" ) attributes tag
    pub fn record(&mut self) -> Parsed<TypeSpecKind> {
        let keyword_span = self.pass();
        let kind = RecordKind::of(self.text_at(self.at - 1)).unwrap_or(RecordKind::Struct);
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        let (tag, scope) = self.tag()?;
        self.refuse_bases()?;
        let members = self.body(&tag, |p| {
            let first = p.at + 1;
            let public =
                p.is_closer_at(first) || p.word_at(first) == Word::Refused(Refusal::Access);
            if kind == RecordKind::Class && !public {
                let cure = "write `struct`: all members are public there";
                p.outside(Code::E0224, keyword_span, "private members (`class`) are", cure);
            }
            let name = tag.as_ref().map(|tag| tag.base.name);
            let outer = std::mem::replace(&mut p.record, name);
            p.symbols.enter();
            let members = p.braced_declarations(Context::Member);
            p.symbols.leave_into(scope);
            p.record = outer;
            members
        })?;
        Ok(RecordSpec { kind, keyword_span, attrs, tag, members }.into())
    }

    /// The body of a type, which one without a name must have.
    fn body<X>(
        &mut self,
        tag: &Option<QualName>,
        production: impl FnOnce(&mut Self) -> X,
    ) -> Parsed<Option<X>> {
        match self.is(T::LBrace) {
            true => Ok(Some(production(self))),
            false if tag.is_none() => Err(self.expected("a name or `{`")),
            false => Ok(None),
        }
    }

    /// `tag = name [ "final" ]`, declared unless it only mentions what is known.
    fn tag(&mut self) -> Parsed<(Option<QualName>, ScopeId)> {
        if !self.is_path_at(self.at) {
            return Ok((None, ScopeId::NONE));
        }
        let path = self.path(self.at);
        let symbol = self.symbol_at(path.last);
        let name = self.qual_name(&path)?;
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
        if !path.is_qualified()
            && (defines || meaning.is_none())
            && (!known || next != Some(T::Semi))
        {
            scope = self.symbols.add(self.symbols.here(), "");
            self.symbols.set_tag(symbol, scope);
        }
        Ok((Some(name), scope))
    }

    // enumeration = "enum" [ "class" | "struct" ] attributes [ tag ] [ ":" type-name ]
    //               [ "{" [ enumerator { "," enumerator } [ "," ] ] "}" ]
    pub fn enumeration(&mut self) -> Parsed<TypeSpecKind> {
        let keyword_span = self.pass();
        let scoped = self.word() == Word::Record;
        self.at += usize::from(scoped);
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        let (tag, scope) = self.tag()?;
        let mut underlying = None;
        if self.is(T::Colon) && (self.is_specifier_at(self.at + 1) || self.is_path_at(self.at + 1))
        {
            self.at += 1;
            underlying = Some(self.bare_type()?);
        }
        let enumerators = self.body(&tag, |p| {
            p.symbols.enter();
            let (list, _) = p.items("`,` or `}`", Self::enumerator);
            p.symbols.leave_into(scope);
            let outer = if scoped { &[] } else { &list[..] };
            outer.iter().for_each(|each| p.symbols.set(each.name.name, Meaning::Value));
            list
        })?;
        Ok(EnumSpec { keyword_span, scoped, attrs, tag, underlying, enumerators }.into())
    }

    // enumerator = name attributes [ "=" assignment ]
    fn enumerator(&mut self) -> Parsed<Enumerator> {
        let name = self.ident()?;
        self.attributes(&mut Vec::new())?;
        let value = self.after(T::Eq, Self::assignment)?;
        self.symbols.set(name.name, Meaning::Value);
        Ok(Enumerator { name, value })
    }

    /// `: public Base`, before a body.
    fn refuse_bases(&mut self) -> Parsed<()> {
        let end = self.find(self.at, |kind| matches!(kind, T::LBrace | T::Semi));
        match self.is(T::Colon) && self.kind_at(end) == Some(T::LBrace) {
            true => Err(self.refuse(Code::E0225, "inheritance is", "make the base a member")),
            false => Ok(()),
        }
    }
}
