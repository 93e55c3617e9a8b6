//! What the subset leaves out. A construct is refused where something else is wanted and it stands there, found by
//! the tokens around; the statement or declaration is passed as a whole. What could be read otherwise is refused by
//! the production that meets it.

use super::*;

/// Declares constructs. A row: what is wanted, if that matters; the tokens before the place and those that begin
/// there, of which `name` is any and `own` that of the record; the code; what is refused, with its verb; what to
/// write instead, unless it is empty.
macro_rules! constructs {
    ($($wanted:literal $before:literal $here:literal: $code:ident, $what:literal, $cure:literal;)*) => {
        const CONSTRUCTS: &[([&str; 3], Code, &str, &str)] =
            &[$(([$wanted, $before, $here], Code::$code, $what, $cure),)*];
    };
}

constructs! {
    "" "" ".*": E0237, "pointers to members are", "";
    "" "" "->*": E0237, "pointers to members are", "";
    "" "::" "*": E0237, "pointers to members are", "";
    "" "::" "~": E0223, "destructors are", "";
    "" "" "<=>": E0240, "the three-way comparison `<=>` is", "";
    "" ". name" "::": E0240, "qualified member names are", "";
    "" "-> name" "::": E0240, "qualified member names are", "";
    "" "goto" "*": E0228, "a computed `goto` is", "use a `switch` in a loop";
    "" "auto" "[": E0232, "structured bindings are", "give the object a name, and use its members";
    "" "auto &" "[": E0232, "structured bindings are", "give the object a name, and use its members";
    "" "auto &&" "[": E0232, "structured bindings are", "give the object a name, and use its members";
    "" "using" "enum":
        E0239, "`using enum` is", "write the enumerators with the enumeration's name before `::`";
    "a declaration" "" "~": E0223, "destructors are", "";
    "a declaration" "" "operator": E0236, "conversion functions are", "";
    "an expression" "(" "{": E0238, "GNU statement expressions are", "write a function";
    "an expression" "" "&&": E0238, "addresses of labels are", "";
    "an expression" "" "noexcept": E0240, "the operator `noexcept` is", "";
    "an expression" "=" "default": E0239, "functions with `= default` are", "leave the declaration out";
    "an expression" "= delete" ";": E0239, "functions with `= delete` are", "leave the declaration out";
    "`,` or `}`" "name" ":": E0238, "GNU's designators with `:` are", "write `.name =`";
    "" "own (" "": E0223, "constructors are",
        "fill the members with an initialiser, or write a function that returns one";
    "" ")" "const": E0222, "qualified functions are", "";
    "`]`" "" "...": E0238, "ranges of designators (`[a ... b]`) are",
        "write a designator for each element, or assign in a loop";
    "`(`" "" "goto": E0228, "`asm goto` is", "let the assembly set a variable, and branch on it";
}

impl Parser<'_> {
    /// The error of a construct outside the subset: `what` it is, with its verb, and what to write instead,
    /// unless that is empty.
    pub fn outside(&mut self, code: Code, span: Span, what: &str, cure: &str) -> Fault {
        let valid = matches!(code, Code::E0239 | Code::E0240);
        self.error(code, span, format!("{what} outside the `.cdp` subset"))
            .help(cure)
            .help(if valid { NAME_IT_CU } else { "" });
        Fault::Refused
    }

    /// The same of a construct that begins here.
    pub fn refuse(&mut self, code: Code, what: &str, cure: &str) -> Fault {
        self.outside(code, self.span_at(self.at), what, cure)
    }

    /// The error of a refused word that stands here.
    pub fn refuse_word(&mut self, refusal: Refusal) -> Fault {
        let (code, what, cure) = refusal.report();
        let what = what.replace("WORD", &format!("`{}`", self.text_at(self.at)));
        self.refuse(code, &what, cure)
    }

    /// The error of what stands here in place of what is wanted, if the subset leaves it out. Names in brackets
    /// that begin here would have been declared.
    pub fn refuse_here(&mut self, wanted: &str) -> Option<Fault> {
        if let Word::Refused(refusal) = self.word() {
            return Some(self.refuse_word(refusal));
        }
        let at = self.at;
        let is = |at: usize, text: &str| match text {
            "name" => self.is_name_at(at),
            "own" => self.record == Some(self.symbol_at(at)),
            _ => self.is_text(at, text),
        };
        let row = CONSTRUCTS.iter().find(|([in_place_of, before, here], ..)| {
            let mut before = before.split_whitespace().rev().zip(1..);
            let mut here = here.split_whitespace().zip(at..);
            ["", wanted].contains(in_place_of)
                && here.all(|(text, at)| is(at, text))
                && before.all(|(text, back)| at >= back && is(at - back, text))
        });
        let ([_, before, here], code, what, cure) = row?;
        let [before, here] = [before, here].map(|texts| texts.split_whitespace().count());
        let names =
            (at..self.group_end(at)).filter(|at| self.is(T::LBracket) && self.is_name_at(*at));
        self.lost.extend(names.map(|at| self.symbol_at(at)).collect::<Vec<_>>());
        Some(self.outside(*code, self.span(at - before, at + here), what, cure))
    }

    /// A template declaration, passed as a whole. Its name is remembered, so that uses with `<...>`
    /// are refused by name too.
    pub fn refuse_template(&mut self) -> DeclKind {
        self.refuse_word(Refusal::Template);
        self.at += 1;
        if self.is(T::Lt) {
            self.at = self.angles_end(self.at).unwrap_or(self.at + 1);
        }
        let head = self.at;
        self.skip_item();
        if let Some(name) = self.name_declared_in(head, self.at) {
            self.symbols.set(self.symbol_at(name), Meaning::Template);
            self.lost.insert(self.symbol_at(name));
        }
        DeclKind::Error
    }

    /// `name "<" arguments ">"` of a template that is none of CUDA's, passed.
    pub fn refuse_template_use(&mut self, path: &Path, end: usize) {
        let (name, span) = (self.text_at(path.last), self.span(path.start, end));
        if path.in_std {
            self.refuse_std(path, span);
        } else {
            self.outside(Code::E0220, span, &format!("templates (`{name}<...>`) are"), "");
        }
        self.at = end;
    }

    /// A type of the C++ standard library.
    pub fn refuse_std(&mut self, path: &Path, span: Span) {
        let name = self.text_at(path.last);
        let what = format!("`std::{name}` is part of the C++ standard library, which is");
        let cure = declaring_type(name)
            .map(|header| format!("include `<{header}>` and leave out `std::`"));
        self.outside(Code::E0243, span, &what, &cure.unwrap_or_default());
    }

    /// Notes the name of the declaration that began at `start`, has been passed and is not in the tree.
    pub fn lose(&mut self, start: usize) {
        let name = self.name_declared_in(start, self.at);
        self.lost.extend(name.map(|name| self.symbol_at(name)));
    }

    /// The name that the declaration in `start..end` declares: after `struct`, or before the first
    /// parenthesis, `=` or `;`.
    fn name_declared_in(&self, start: usize, end: usize) -> Option<usize> {
        let (mut last_name, mut at) = (None, start);
        while at < end {
            match (self.kind_at(at)?, self.word_at(at)) {
                (T::Ident, Word::Record) => return self.is_name_at(at + 1).then_some(at + 1),
                // The parentheses of `__launch_bounds__(...)` are not the parameters.
                (T::Ident, Word::AttributeCall | Word::GnuAttribute | Word::Alignas) => at += 1,
                (T::Ident, Word::Name) => last_name = Some(at),
                (T::LParen | T::Eq | T::Semi | T::LBrace, _) => return last_name,
                _ => {}
            }
            at = self.group_end(at);
        }
        last_name
    }
}
