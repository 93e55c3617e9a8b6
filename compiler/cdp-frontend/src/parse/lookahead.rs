//! What the parser finds out by looking ahead, without passing a token: what a possibly qualified name
//! is, whether a type or a declaration begins here, and the few places where C++ reads the same tokens
//! in two ways. What can be a declaration is one (C++ [stmt.ambig], [dcl.ambig.res]).

use super::*;

/// A name: `[ "::" ] { name "::" } name`.
#[derive(Clone, Copy)]
pub(super) struct Path {
    pub start: usize,
    /// The last name.
    pub last: usize,
    /// After the whole name.
    pub end: usize,
    /// The scope before the last name, if one is known.
    pub scope: Option<ScopeId>,
    pub meaning: Option<Meaning>,
    /// It begins with `std::`.
    pub in_std: bool,
}

impl Path {
    /// It has a `::`.
    pub fn is_qualified(&self) -> bool {
        self.last > self.start
    }
}

impl Parser<'_> {
    /// True if a possibly qualified name begins at a place.
    pub fn is_path_at(&self, at: usize) -> bool {
        let global = self.kind_at(at) == Some(T::ColonColon);
        self.is_name_at(at) || global && self.kind_at(at + 1) == Some(T::Ident)
    }

    /// The name that begins at a place.
    pub fn path(&self, start: usize) -> Path {
        let global = self.kind_at(start) == Some(T::ColonColon);
        let (mut last, mut scope) =
            (start + usize::from(global), global.then_some(ScopeId::GLOBAL));
        let (mut known, mut in_std) = (true, false);
        loop {
            let symbol = self.symbol_at(last);
            let meaning = match scope {
                _ if !known => None,
                None => self.symbols.get(symbol),
                Some(scope) => self.symbols.lookup_in(scope, symbol, |_| true).first().flatten(),
            };
            let goes_on = self.is_name_at(last)
                && self.kind_at(last + 1) == Some(T::ColonColon)
                && self.is_name_at(last + 2);
            if !goes_on {
                return Path { start, last, end: last + 1, scope, meaning, in_std };
            }
            match meaning {
                Some(Meaning::Namespace(id) | Meaning::Type(id)) => scope = Some(id),
                _ if symbol == self.vocabulary.std => in_std = true,
                _ => known = false,
            }
            last += 2;
        }
    }

    /// The place after the type that begins here, if one does: specifiers without attributes.
    pub fn type_end(&self, start: usize) -> Option<usize> {
        let is_type = |at: usize| {
            matches!(self.word_at(at), Word::Type | Word::Auto | Word::Refused(Refusal::Type))
        };
        let is_word = |at: usize| is_type(at) || self.word_at(at) == Word::Qualifier;
        let after_words = |at: usize| (at..).find(|at| !is_word(*at));
        let at = after_words(start)?;
        if (start..at).any(is_type) {
            return Some(at);
        }
        let scoped = usize::from(self.word_at(at + 1) == Word::Record);
        after_words(match self.word_at(at) {
            Word::Record => self.path(at + 1).end,
            Word::Enum => self.path(at + 1 + scoped).end,
            _ => self.simple_type_end(at)?,
        })
    }

    /// The place after the type at a place that is one word or name, as `T(x)` and `T{x}` have it.
    pub fn simple_type_end(&self, at: usize) -> Option<usize> {
        match self.word_at(at) {
            Word::Type => Some(at + 1),
            Word::Typeof => Some(self.group_end(at + 1)),
            Word::Name if self.is_path_at(at) => {
                let path = self.path(at);
                matches!(path.meaning, Some(Meaning::Type(_))).then_some(path.end)
            }
            _ => None,
        }
    }

    /// True if a declaration specifier stands at a place.
    pub fn is_specifier_at(&self, at: usize) -> bool {
        self.word_at(at).is_specifier() || self.type_end(at).is_some()
    }

    /// Whether a new line begins here with what looks like the next declaration.
    pub fn begins_next_declaration(&self) -> bool {
        use Word::{Attribute, Auto, Enum, Name, Record, Storage, Type, Typedef};
        let declares = |end| self.is_name_at(end) || self.kind_at(end) == Some(T::Star);
        self.starts_line(self.at)
            && match self.word() {
                Type | Auto | Storage | Typedef | Record | Enum | Attribute => true,
                Name => self.type_end(self.at).is_some_and(declares),
                _ => false,
            }
    }

    /// After a type that ends at `at`, where a statement began: `T(x)` or `T{x}` as an expression.
    fn is_construction(&self, at: usize) -> bool {
        match self.kind_at(at) {
            Some(T::LBrace) => true,
            Some(T::LParen) => !self.declarator_end(at).is_some_and(|end| {
                let next = self.kind_at(end);
                matches!(next, Some(T::Semi | T::Eq | T::Comma | T::LParen | T::LBrace))
            }),
            _ => false,
        }
    }

    /// The place after the declarator that can stand at a place: `*x`, `(x)`, `x[3]`, `f(int)`.
    fn declarator_end(&self, mut at: usize) -> Option<usize> {
        at = self.after_pointers(at);
        let group_end = self.group_end(at);
        let mut end = match self.kind_at(at)? {
            T::LParen if self.declarator_end(at + 1)? + 1 == group_end => group_end,
            T::Ident if self.is_name_at(at) => at + 1,
            _ => return None,
        };
        while self.kind_at(end) == Some(T::LBracket)
            || (self.kind_at(end) == Some(T::LParen) && self.opens_parameters(end, false))
        {
            end = self.group_end(end);
        }
        Some(end)
    }

    /// Whether a declaration begins here, at the start of a statement or of a statement's head.
    pub fn declares(&self) -> bool {
        let at = self.at;
        match self.word() {
            word if word.is_specifier() => true,
            Word::Auto | Word::Record | Word::Enum => true,
            Word::Refused(refusal) => refusal.is_alone() || refusal == Refusal::Template,
            Word::Type | Word::Typeof => {
                !self.simple_type_end(at).is_some_and(|end| self.is_construction(end))
            }
            Word::Name if self.is_path_at(at) => self.name_declares(),
            _ => self.is(T::LBracket) && self.kind_at(at + 1) == Some(T::LBracket),
        }
    }

    fn name_declares(&self) -> bool {
        let path = self.path(self.at);
        let next = self.kind_at(path.end);
        if next == Some(T::ColonColon) {
            return true;
        }
        if matches!(path.meaning, Some(Meaning::Type(_))) {
            return !self.is_construction(path.end);
        }
        if let Some(end) = self.template_arguments(&path) {
            return path.meaning != Some(Meaning::CudaTemplate)
                && (self.is_name_at(end)
                    || matches!(self.kind_at(end), Some(T::Star | T::Amp | T::AndAnd)));
        }
        // After an unknown name: another name follows, or `*name` and then `=` or `;`.
        let at = self.after_pointers(path.end);
        let points = matches!(next, Some(T::Star | T::Amp));
        let ends = matches!(self.kind_at(at + 1), Some(T::Eq | T::Semi));
        self.word_at(path.end) == Word::Qualifier
            || self.is_name_at(path.end)
            || points && ends && self.is_name_at(at) && path.meaning != Some(Meaning::Value)
    }

    /// The place after pointers, references and what qualifies them.
    fn after_pointers(&self, at: usize) -> usize {
        let goes_on = |next: usize| match self.kind_at(next) {
            Some(T::Star | T::Amp | T::AndAnd) => true,
            _ => next > at && self.word_at(next) == Word::Qualifier,
        };
        (at..).find(|next| !goes_on(*next)).unwrap_or(at)
    }

    /// `(*)`, `(&)`, `(*const)(...)`: an abstract declarator's parentheses.
    fn is_abstract_group(&self, open: usize) -> bool {
        let end = self.after_pointers(open + 1);
        end > open + 1 && matches!(self.kind_at(end), Some(T::RParen | T::LBracket))
    }

    /// Inside an expression, whether a type stands at a place by itself, as in a cast, and not as the
    /// beginning of `T(x)` or `T{x}`.
    pub fn is_type_name_at(&self, at: usize) -> bool {
        // Only one word or name constructs: `unsigned int(3)` is no expression.
        let Some(end) = self.simple_type_end(at) else { return self.is_specifier_at(at) };
        match self.kind_at(end) {
            Some(T::LBrace) => false,
            Some(T::LParen) => self.is_abstract_group(end),
            _ => true,
        }
    }

    /// At a `(` in an expression, which holds a name that is unknown and makes sense only as a type:
    /// `(name *)`, `(name)x`.
    pub fn is_unknown_cast(&self, open: usize) -> bool {
        let path = self.path(open + 1);
        let at = self.after_pointers(path.end);
        if !self.is_path_at(open + 1) || self.kind_at(at) != Some(T::RParen) {
            return false;
        }
        let operand = matches!(self.kind_at(at + 1), Some(T::Number | T::Char | T::String))
            || self.is_name_at(at + 1);
        at > path.end || (operand && path.meaning.is_none())
    }

    /// For a name followed by `<`: the place after the `>`, if this is a list of template arguments.
    pub fn template_arguments(&self, path: &Path) -> Option<usize> {
        use T::{Amp, Comma, Gt, LaunchClose, Shr, Star};
        let open = path.end;
        let fits =
            |end| matches!(self.kind_at(end), Some(Gt | Shr | LaunchClose | Comma | Star | Amp));
        let is_one = self.kind_at(open) == Some(T::Lt)
            && (path.meaning == Some(Meaning::Template)
                || self.type_end(open + 1).is_some_and(fits));
        if is_one { self.angles_end(open) } else { None }
    }

    /// The place after the `>` that closes the `<` at a place, if that is near.
    pub fn angles_end(&self, open: usize) -> Option<usize> {
        use T::{AndAnd, LBrace, LaunchOpen, OrOr, RBrace, RParen, Semi};
        let (mut depth, mut at) = (0, open);
        for _ in 0..256 {
            depth += match self.kind_at(at)? {
                T::Lt => 1,
                T::Gt => -1,
                T::Shr => -2,
                T::LaunchClose => -3,
                Semi | LBrace | RBrace | RParen | AndAnd | OrOr | LaunchOpen => return None,
                _ => 0,
            };
            at = self.group_end(at);
            if depth <= 0 {
                return Some(at);
            }
        }
        None
    }

    /// `T x(` at the parenthesis: parameters if they can be, else constructor arguments.
    pub fn opens_parameters(&self, open: usize, function_like: bool) -> bool {
        let close = self.group_end(open) - 1;
        let mut at = open + 1;
        while at < close {
            if !self.could_be_parameter(at, function_like) {
                return false;
            }
            at = self.find(at, |kind| kind == T::Comma) + 1;
        }
        true
    }

    fn could_be_parameter(&self, at: usize, function_like: bool) -> bool {
        let Some(end) = self.type_end(at) else {
            // An unknown type's name, most likely, in what must be a function; or `[[maybe_unused]] int x`.
            let next = at + 1;
            let two_names = self.is_name_at(at) && self.is_name_at(next);
            let attribute = [at, next].iter().all(|at| self.kind_at(*at) == Some(T::LBracket));
            let named = two_names || function_like && self.is_name_at(at);
            let other = attribute || self.kind_at(at) == Some(T::Ellipsis);
            return self.word_at(at).is_specifier() || named || other;
        };
        match self.kind_at(end) {
            Some(T::LBrace) => false,
            // `int(x)` declares x, unless more of an expression follows.
            Some(T::LParen) => {
                let (first, close) = (self.after_pointers(end + 1), self.group_end(end) - 1);
                let declares = first > end + 1
                    || first == close
                    || self.is_specifier_at(first)
                    || self.is_name_at(first) && first + 1 == close;
                let next = self.kind_at(close + 1);
                declares
                    && matches!(next, Some(T::Comma | T::RParen | T::LParen | T::LBracket | T::Eq))
            }
            _ => true,
        }
    }

    /// Whether the parentheses of a `for` hold `declaration : range`, perhaps after `init;`.
    pub fn is_range_for(&self, open: usize) -> bool {
        let (mut colon, mut semicolons) = (false, 0);
        self.find(open + 1, |kind| {
            semicolons += usize::from(kind == T::Semi);
            colon |= kind == T::Colon;
            false
        });
        colon && semicolons < 2
    }

    /// `[`, at an operand: the captures of a lambda expression.
    pub fn is_lambda(&self) -> bool {
        let after = self.group_end(self.at);
        matches!(self.kind_at(after), Some(T::LParen | T::LBrace | T::Arrow | T::Lt))
            || self.word_at(after) == Word::Attribute
            || self.is_text(after, "mutable")
    }

    /// At `[[`: the place after `]]`, if this is an attribute.
    pub fn std_attribute_end(&self) -> Option<usize> {
        let inner = self.at + 1;
        let outer_end = self.group_end(self.at);
        let is_one = self.is(T::LBracket)
            && self.kind_at(inner) == Some(T::LBracket)
            && self.group_end(inner) + 1 == outer_end;
        is_one.then_some(outer_end)
    }
}
